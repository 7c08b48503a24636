//! Stimuli on which models and people part, as pictures.

use mohs_data::StimulusId;
use mohs_score::model::{ModelFindings, Surprise, Surprises};

use super::super::section::Section;
use super::super::sheet;
use crate::Pictures;
use crate::escape::esc;
use crate::number::{Unit, count, counted};

/// Cards of each kind.
const MOST_CARDS: usize = 12;

/// Returns the stimuli the gallery shows.
pub(crate) fn stimuli_shown(found: &ModelFindings) -> Vec<&StimulusId> {
    let of = |surprises: &'_ [Surprise]| surprises.len().min(MOST_CARDS);
    let Some(surprises) = &found.surprises else { return Vec::new() };
    let (failed, solved) = (&surprises.easy_but_failed, &surprises.hard_but_solved);
    let shown = failed[..of(failed)].iter().chain(&solved[..of(solved)]);
    shown.map(|surprise| &surprise.stimulus).collect()
}

/// Returns the gallery, or `None` without surprises.
pub(super) fn section(found: &ModelFindings, pictures: &Pictures) -> Option<Section> {
    let surprises = found.surprises.as_ref()?;
    let Surprises { easy_but_failed, hard_but_solved, .. } = surprises;
    if easy_but_failed.is_empty() && hard_but_solved.is_empty() {
        return None;
    }
    let n_easy = surprises.n_easy_failed_by_all;
    let n_hard = surprises.n_hard_solved_by_all;
    let all = if found.models.len() == 1 { "the model" } else { "all models" };
    let notes = [
        format!("{all} fail on {} of the easiest band", counted(n_easy, "stimulus", "stimuli")),
        format!("{all} solve {} of the hardest band", counted(n_hard, "stimulus", "stimuli")),
    ];
    let notes = match found.models.len() {
        1 => [notes[0].replace(" fail ", " fails "), notes[1].replace(" solve ", " solves ")],
        _ => notes,
    };
    let groups = [
        group("Easy for people, failed by models", &notes[0], easy_but_failed, pictures),
        group("Hard for people, solved by models", &notes[1], hard_but_solved, pictures),
    ];
    let body = format!(
        "<p class=\"lede\">The most surprising first. <i>Difficulty</i> is people’s, by the measure \
         {}; <i>usually</i> is the wrong answer given most often, and by how many models. A label \
         may also be wrong: look before you conclude.</p>\n{}",
        esc(found.method.difficulty.as_deref().unwrap_or("given")),
        groups.concat()
    );
    let title = "Where models and people part".into();
    Some(Section { id: "models-surprises", nav: "Surprises", title, body })
}

fn group(title: &str, note: &str, surprises: &[Surprise], pictures: &Pictures) -> String {
    if surprises.is_empty() {
        return String::new();
    }
    let cards: String =
        surprises.iter().take(MOST_CARDS).map(|surprise| card(surprise, pictures)).collect();
    format!(
        "<div class=\"band\" style=\"--paint:var(--accent)\"><h3>{title} <small>{}</small></h3>\
         <ul class=\"cards\">{cards}</ul></div>\n",
        esc(note)
    )
}

fn card(surprise: &Surprise, pictures: &Pictures) -> String {
    let id = esc(surprise.stimulus.as_str());
    let name = esc(surprise.label.as_ref().map_or("no label", |label| label.as_str()));
    let picture = match pictures.of(&surprise.stimulus) {
        Some(thumbnail) => format!(
            "<img src=\"{}\" width=\"{}\" height=\"{}\" alt=\"{name}, stimulus {id}\" \
             decoding=\"async\">",
            esc(&thumbnail.data_uri()),
            thumbnail.width,
            thumbnail.height
        ),
        None => "<span class=\"no-picture\">no picture</span>".into(),
    };
    let mistake = surprise.usual_mistake.as_ref().map_or_else(String::new, |(label, n)| {
        format!("<span><i>usually</i> {} ({})</span>", esc(label.as_str()), count(*n))
    });
    format!(
        "<li><span class=\"picture\">{picture}</span><b title=\"{name}\">{name}</b>\
         <code title=\"{id}\"><bdi>{id}</bdi></code>\
         <span><i>right</i> {} of {}</span>{mistake}\
         <span><i>difficulty</i> {}</span></li>\n",
        count(surprise.n_right),
        counted(surprise.n_models, "model", "models"),
        sheet::value_and_interval(Unit::Plain, &surprise.difficulty),
    )
}
