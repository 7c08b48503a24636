//! Paired judgements: the chapter. Difficulties by group, levels, people, groups, methods.

mod methods;
mod people;

use mohs_data::Estimate;
use mohs_score::human::bradley_terry::{Correlations, PairedJudgements, StimulusFinding};

use super::caveats;
use super::chapter::Chapter;
use super::figure::Figure;
use super::section::Section;
use super::sheet::{Cell, Column, Sheet};
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::paint;
use crate::escape::esc;
use crate::headline::pairs as headline;
use crate::number::{Unit, count, counted};

/// Rows of the chart of stimuli.
const MOST_ROWS: usize = 40;

pub(super) fn chapter(found: &PairedJudgements) -> Chapter {
    let sections = [
        levels(found),
        Some(stimuli(found)),
        groups(found),
        people::section(found),
        Some(methods::section(found)),
    ];
    Chapter {
        id: "pairs",
        name: "Paired judgements",
        answer: headline::answer(found),
        front: format!(
            "<p>{}.</p>\n{}",
            esc(&headline::basis(found)),
            caveats::list(&found.caveats)
        ),
        sections: sections.into_iter().flatten().collect(),
    }
}

fn tip(name: &str, estimate: &Estimate, (one, many): (&str, &str)) -> String {
    let n = counted(estimate.n, one, many);
    format!("{name}\n{} log-odds\nn = {n}", Unit::Plain.estimate(estimate))
}

fn panel(title: &str) -> DotPanel {
    DotPanel { title: title.into(), unit: Unit::Plain, paint: paint::ACCENT.into() }
}

/// Difficulty against the levels that were meant; `None` without.
fn levels(found: &PairedJudgements) -> Option<Section> {
    let levels = found.levels.as_ref()?;
    let mut sheet = Sheet::new(vec![
        Column::text("Level", "level"),
        Column::estimate("Mean difficulty", "difficulty", Unit::Plain),
    ]);
    let mut rows = Vec::new();
    for group in &levels.levels {
        sheet.push(vec![
            Cell::Ordered(group.level.clone(), group.value),
            group.difficulty.map_or(Cell::Missing("cannot be told"), Cell::Estimate),
        ]);
        rows.extend(group.difficulty.map(|estimate| DotRow {
            name: group.level.clone(),
            note: count(estimate.n),
            dots: vec![Dot {
                estimate,
                tip: tip(&group.level, &estimate, ("stimulus", "stimuli")),
            }],
            is_apart: false,
        }));
    }
    let figure = Figure {
        id: "pairs-by-level",
        title: "Difficulty by the level that was meant",
        caption: format!(
            "Mean difficulty of the stimuli of a level, in log-odds against the mean of their group. \
             Lines are {}, made by drawing participants anew; the number on the right is \
             n&#160;=&#160;stimuli.",
            headline::intervals(found)
        ),
        sheet,
    };
    let chart = figure.html(|canvas| {
        dots::rows(canvas, &rows, &[panel("Difficulty in log-odds")], None, figure.title)
    });
    let has_groups = 1 < found.components.len();
    let note = match has_groups {
        true => {
            "<p class=\"note\">Groups have no common zero, so over all stimuli both difficulty and \
             level are taken from the mean of the group (n&#160;=&#160;stimuli); inside groups the \
             mean over groups is given (n&#160;=&#160;groups).</p>\n"
        }
        false => "",
    };
    let body = format!(
        "{chart}<h3>Correlation of difficulty and level</h3>\n{}{note}",
        correlations(&levels.overall, &levels.within, has_groups)
    );
    Some(Section { id: "pairs-levels", nav: "Levels", title: "Levels".into(), body })
}

/// Returns the table; the column inside groups says nothing new where there is only one.
fn correlations(overall: &Correlations, within: &Correlations, has_groups: bool) -> String {
    let mut columns = vec![
        Column::text("Coefficient", "coefficient"),
        Column::estimate("All stimuli", "overall", Unit::Plain),
    ];
    if has_groups {
        columns.push(Column::estimate("Inside groups", "within", Unit::Plain));
    }
    let mut sheet = Sheet::new(columns);
    for (name, overall, within) in [
        ("Pearson’s r", overall.pearson, within.pearson),
        ("Spearman’s ρ", overall.spearman, within.spearman),
        ("Kendall’s τ-b", overall.kendall, within.kendall),
    ] {
        let cell = |r: Option<Estimate>| r.map_or(Cell::Missing("cannot be told"), Cell::Estimate);
        sheet.push(vec![Cell::Text(name.into()), cell(overall), cell(within)]);
    }
    sheet.table("Correlation of difficulty and level")
}

/// Each stimulus: a chart of some, the numbers of all.
fn stimuli(found: &PairedJudgements) -> Section {
    let mut sheet = Sheet::new(vec![
        Column::text("Stimulus", "stimulus"),
        Column::text("Group", "component"),
        Column::text("Level", "level"),
        Column::count("Rank", "rank"),
        Column::estimate("Difficulty", "difficulty", Unit::Plain),
        Column::estimate("Over people", "difficulty_by_people", Unit::Plain),
        Column::count("Called harder", "n_harder"),
        Column::count("Ties", "n_ties"),
    ]);
    let hardest_first = hardest_first(found);
    for finding in &hardest_first {
        let level = finding.level.clone();
        sheet.push(vec![
            Cell::Text(finding.stimulus.to_string()),
            Cell::Ranked(finding.component.to_string(), finding.component),
            level.map_or(Cell::Missing("not given"), Cell::Text),
            Cell::Count(finding.rank),
            Cell::Estimate(finding.difficulty),
            finding.difficulty_by_people.map_or(Cell::Missing("no draw"), Cell::Estimate),
            Cell::Count(finding.n_harder),
            Cell::Count(finding.n_ties),
        ]);
    }
    let (rows, cut) = rows(found, &hardest_first);
    let figure = Figure {
        id: "pairs-difficulty",
        title: "Difficulty of stimuli",
        caption: format!(
            "In log-odds against the mean of the group: a stimulus one unit above another is called \
             harder 73&#160;% of the time. Lines are {} by Fisher information; the number on the right \
             is n&#160;=&#160;judgements.{cut}",
            headline::intervals(found)
        ),
        sheet,
    };
    let chart = figure.html(|canvas| {
        dots::rows(canvas, &rows, &[panel("Difficulty in log-odds")], None, figure.title)
    });
    Section { id: "pairs-stimuli", nav: "Stimuli", title: "Stimuli".into(), body: chart }
}

/// Returns the stimuli by group and, in it, from hardest to easiest.
fn hardest_first(found: &PairedJudgements) -> Vec<&StimulusFinding> {
    let mut sorted: Vec<&StimulusFinding> = found.stimuli.iter().collect();
    sorted.sort_by_key(|finding| (finding.component, finding.rank));
    sorted
}

/// Returns the rows to draw, and a sentence on those left out: of one group its two ends, of
/// several the first whole groups.
fn rows(found: &PairedJudgements, sorted: &[&StimulusFinding]) -> (Vec<DotRow>, String) {
    let row = |finding: &StimulusFinding, is_apart: bool| DotRow {
        name: finding.stimulus.to_string(),
        note: count(finding.difficulty.n),
        dots: vec![Dot {
            estimate: finding.difficulty,
            tip: tip(finding.stimulus.as_str(), &finding.difficulty, ("judgement", "judgements")),
        }],
        is_apart,
    };
    let n_left_out = sorted.len().saturating_sub(MOST_ROWS);
    let half = MOST_ROWS / 2;
    if n_left_out == 0 || found.components.len() < 2 {
        let is_drawn = |idx: &usize| !(half..half + n_left_out).contains(idx);
        let drawn = (0..sorted.len()).filter(is_drawn);
        let rows = drawn
            .map(|idx| {
                let is_another = 0 < idx && sorted[idx - 1].component != sorted[idx].component;
                row(sorted[idx], is_another || (0 < n_left_out && idx == half + n_left_out))
            })
            .collect();
        let cut = match n_left_out {
            0 => String::new(),
            _ => format!(
                " Drawn are the hardest {half} and the easiest {half} of {}; all are under \
                 <i>Numbers</i>.",
                count(sorted.len())
            ),
        };
        return (rows, cut);
    }
    let mut rows: Vec<DotRow> = Vec::new();
    let mut n_groups = 0;
    for group in sorted.chunk_by(|a, b| a.component == b.component) {
        if 0 < n_groups && MOST_ROWS < rows.len() + group.len() {
            break;
        }
        let drawn = group.iter().take(MOST_ROWS).enumerate();
        rows.extend(drawn.map(|(idx, finding)| row(finding, idx == 0 && 0 < n_groups)));
        n_groups += 1;
    }
    let cut = format!(
        " Drawn {} of {}, with a line between groups, which have no common zero; all are under \
         <i>Numbers</i>.",
        match n_groups {
            1 => "is the first group".to_owned(),
            n => format!("are the first {} groups", count(n)),
        },
        count(found.components.len())
    );
    (rows, cut)
}

/// The groups, where there are several.
fn groups(found: &PairedJudgements) -> Option<Section> {
    if found.components.len() < 2 {
        return None;
    }
    let mut sheet = Sheet::new(vec![
        Column::text("Group", "component"),
        Column::count("Stimuli", "n_stimuli"),
        Column::count("Pairs", "n_pairs"),
        Column::count("Judgements", "n_judgements"),
        Column::count("Participants", "n_participants"),
        Column::text("Prior", "prior_sd"),
        Column::estimate("τ-b with level", "kendall", Unit::Plain),
    ]);
    for component in &found.components {
        sheet.push(vec![
            Cell::Ranked(
                headline::group_name(component.number, component.name.as_deref()),
                component.number,
            ),
            Cell::Count(component.n_stimuli),
            Cell::Count(component.n_pairs),
            Cell::Count(component.n_judgements),
            Cell::Count(component.n_participants),
            match component.prior_sd {
                Some(sd) if component.is_separated => {
                    Cell::Ordered(format!("{} (separated)", Unit::Plain.value(sd)), sd)
                }
                Some(sd) => Cell::Ordered(Unit::Plain.value(sd), sd),
                None => Cell::Text("none".into()),
            },
            component.kendall.map_or(Cell::Missing("cannot be told"), Cell::Estimate),
        ]);
    }
    let body = format!(
        "<p class=\"lede\">Stimuli that chains of comparisons join form a group. {} here. Difficulty is \
         counted from the mean of the group, and nothing can be said about differences between \
         groups. A group is <i>separated</i> when some of its stimuli only won or only lost against \
         the others; a prior, whose standard deviation in log-odds is given, then keeps numbers \
         finite.</p>\n<div class=\"tall stack first-rows\">{}</div>\n",
        counted(found.components.len(), "group stands", "groups stand"),
        sheet.table("Groups of stimuli")
    );
    Some(Section { id: "pairs-groups", nav: "Groups", title: "Groups".into(), body })
}
