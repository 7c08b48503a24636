//! The overview: the answer in a sentence, a strip of bands, and the few numbers that matter most.

use mohs_score::human::viewing_time::{Group, ViewingTime};

use super::caveats::{self, Part};
use super::chapter::Chapter;
use super::figure::Figure;
use super::section::Section;
use super::sheet::{self, Cell, Column, Sheet};
use crate::Summary;
use crate::chart::strip::{self, Strip};
use crate::escape::esc;
use crate::headline;
use crate::number::{Unit, count, counted};

const TRIALS: (&str, &str) = ("trial", "trials");
const STIMULI: (&str, &str) = ("stimulus", "stimuli");

/// Data sets shown as numbers of their own on top.
const MOST_SETS: usize = 3;

/// Returns the top of the report: the only chapter's answer, or the answers of all.
pub(super) fn section(summary: &Summary, chapters: &[Chapter]) -> Section {
    let answers = match chapters {
        [] => "<p class=\"answer\">There are no findings yet.</p>\n\
               <p>Nothing was scored. Score some data with <code>mohs score</code> and write this \
               report again.</p>\n"
            .into(),
        [only] => only.opening(),
        many => format!(
            "<ul class=\"answers\">\n{}</ul>\n",
            many.iter().map(Chapter::answer_item).collect::<String>()
        ),
    };
    let question = match chapters {
        [only] if only.id != "viewing-time" => only.name,
        _ => "How hard is this image set?",
    };
    let body = heading(summary, question) + &answers;
    Section { id: "answer", nav: "Answer", title: String::new(), body }
}

/// Returns what stands below the answer of viewing time.
pub(super) fn viewing_time(found: &ViewingTime) -> String {
    format!(
        "<p class=\"lede\">{right} Based on {basis}; brackets are {intervals}, <i>n</i> says how many \
         observations stand behind a number.</p>\n\
         {notes}{strip}{facts}",
        right = esc(&headline::right_answers(found)),
        basis = esc(&headline::basis(found)),
        intervals = super::intervals(found),
        notes = caveats::notes(found, Part::Answer),
        strip = band_strip(found),
        facts = facts(found),
    )
}

fn heading(summary: &Summary, question: &str) -> String {
    let simulated = match summary.simulated {
        true => {
            "<p class=\"simulated\"><b>Simulated.</b> These answers come from simulated people. \
             They show what a study could find, not what people see.</p>\n"
        }
        false => "",
    };
    format!(
        "<p class=\"kicker\">{question}</p>\n\
         <h1 id=\"answer-title\">{}</h1>\n{simulated}",
        esc(&summary.title)
    )
}

fn band_strip(found: &ViewingTime) -> String {
    let bands: Vec<String> = found.bands.iter().map(|finding| finding.band.name()).collect();
    let strips = [Strip {
        name: String::new(),
        n_by_band: found.bands.iter().map(|finding| finding.n_stimuli).collect(),
    }];
    let mut sheet = Sheet::new(vec![
        Column::text("Minimum viewing time", "band"),
        Column::count("Stimuli", "n_stimuli"),
        Column::estimate("Share of stimuli", "share", Unit::Share),
    ]);
    for finding in &found.bands {
        sheet.push(vec![
            Cell::Ranked(finding.band.name(), finding.band.idx),
            Cell::Count(finding.n_stimuli),
            Cell::Estimate(finding.share),
        ]);
    }
    let figure = Figure {
        id: "stimuli-by-viewing-time",
        title: "Stimuli by the time people need to recognise them",
        caption:
            "Numbers of stimuli per minimum viewing time, easy on the left, hard on the right. \
                  These are counts; shares with their intervals are under <i>Numbers</i>."
                .into(),
        sheet,
    };
    figure.html(|canvas| strip::strips(canvas, &strips, &bands, figure.title))
}

fn facts(found: &ViewingTime) -> String {
    let mut facts = vec![fact(
        "Right answers, all exposures",
        &sheet::estimate_of(Unit::Share, &found.accuracy, TRIALS),
        "over all stimuli",
    )];
    if let Some(finding) = found.bands.first().filter(|finding| finding.band.mvt.is_some()) {
        let title = format!("Recognised at {}", finding.band.name());
        let share = sheet::estimate_of(Unit::Share, &finding.share, STIMULI);
        facts.push(fact(&title, &share, "by the counting rule"));
    }
    if let Some(finding) = found.bands.last().filter(|finding| finding.band.mvt.is_none()) {
        let share = sheet::estimate_of(Unit::Share, &finding.share, STIMULI);
        facts.push(fact("Never recognised", &share, "by the counting rule"));
    }
    for group in found.by_dataset.iter().take(MOST_SETS) {
        facts.push(typical_threshold(found, group));
    }
    facts.push(trials_counted(found.n_trials, found.n_trials_read, "exclusions"));
    fact_list(&facts)
}

/// Returns a few numbers that matter most, each made by [`fact`].
pub(super) fn fact_list(facts: &[String]) -> String {
    let n_columns = match facts.len() {
        n if n <= 5 => n,
        n => n.div_ceil(2),
    };
    format!("<dl class=\"facts\" style=\"--columns:{n_columns}\">{}</dl>\n", facts.concat())
}

/// Returns the mean threshold of a group; thresholds beyond the longest exposure are extrapolated
/// and weigh on it, so it says how many there are.
fn typical_threshold(found: &ViewingTime, group: &Group) -> String {
    let is_only = found.by_dataset.len() == 1;
    let members = found
        .stimuli
        .iter()
        .filter(|finding| is_only || finding.dataset.as_deref().unwrap_or_default() == group.name);
    let longest = found.exposures.last();
    let is_beyond = |threshold_ms: f64| longest.is_some_and(|ms| ms.value() < threshold_ms);
    let n_beyond = members.filter(|finding| is_beyond(finding.threshold_ms.value)).count();
    let of_set = if is_only { String::new() } else { format!(", {}", group.name) };
    let html = sheet::estimate_of(Unit::Time, &group.threshold_ms, STIMULI);
    match longest.filter(|_| 0 < n_beyond) {
        None => fact(&format!("Typical threshold{of_set}"), &html, "by the model"),
        Some(longest) => {
            let note = format!(
                "by the model; {} beyond {longest} {} extrapolated",
                counted(n_beyond, "stimulus", "stimuli"),
                if n_beyond == 1 { "is" } else { "are" }
            );
            fact(&format!("Typical threshold (geometric mean){of_set}"), &html, &note)
        }
    }
}

/// Returns how many trials counted, with a link to the section that says why not all.
pub(super) fn trials_counted(n_trials: usize, n_read: usize, section_id: &str) -> String {
    fact(
        "Trials counted",
        &format!("<span class=\"est\"><b>{}</b></span>", count(n_trials)),
        &format!(
            "of {} read; <a href=\"#{section_id}\">{} set aside</a>",
            counted(n_read, "trial", "trials"),
            count(n_read.saturating_sub(n_trials))
        ),
    )
}

/// Returns one number with its name above and a note below; `html` and `note` are HTML.
pub(super) fn fact(title: &str, html: &str, note: &str) -> String {
    format!("<div><dt>{}</dt><dd>{html}<small>{note}</small></dd></div>", esc(title))
}
