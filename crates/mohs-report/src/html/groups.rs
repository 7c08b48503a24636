//! Results by group: data sets, classes, and attributes with their levels.

use mohs_score::human::viewing_time::{Group, ViewingTime};

use super::caveats::{self, Part};
use super::figure::Figure;
use super::section::Section;
use super::sheet::{Cell, Column, Sheet};
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::lines::{self, Line};
use crate::chart::strip::{self, Strip};
use crate::chart::{Canvas, paint};
use crate::number::{Unit, count, counted};

use super::exposure::{levels as reference_levels, line};

/// Rows of a chart of groups; of more, the hardest and the easiest are drawn.
const MOST_ROWS: usize = 40;

/// Lines in one chart; more cannot be told apart.
const MOST_LINES: usize = 8;

/// Results by data set; `None` when there is only one, whose results are those of the whole.
pub(super) fn datasets(found: &ViewingTime) -> Option<Section> {
    if found.by_dataset.len() < 2 {
        return None;
    }
    let body = format!(
        "{}{}{}{}",
        caveats::notes(found, Part::Groups),
        dot_figure(
            found,
            "by-dataset",
            "Difficulty and threshold by data set",
            Column::text("Data set", "dataset"),
            &found.by_dataset,
            Order::AsGiven
        ),
        strips(found),
        curves(
            found,
            "accuracy-by-dataset",
            "Right answers by exposure and data set",
            &found.by_dataset
        )
    );
    Some(Section { id: "datasets", nav: "Data sets", title: "By data set".into(), body })
}

/// Results by class; `None` without labels.
pub(super) fn labels(found: &ViewingTime) -> Option<Section> {
    if found.by_label.is_empty() {
        return None;
    }
    let chart = dot_figure(
        found,
        "by-class",
        "Difficulty and threshold by class",
        Column::text("Class", "label"),
        &found.by_label,
        Order::HardestFirst,
    );
    let body = format!("{}{chart}", caveats::notes(found, Part::Groups));
    Some(Section { id: "classes", nav: "Classes", title: "By class".into(), body })
}

/// Results by attribute and level; `None` when stimuli have none.
pub(super) fn levels(found: &ViewingTime) -> Option<Section> {
    if found.by_level.is_empty() {
        return None;
    }
    let chart = dot_figure(
        found,
        "by-level",
        "Difficulty and threshold by attribute and level",
        Column::text("Attribute and level", "attribute_level"),
        &found.by_level,
        Order::AsGiven,
    );
    let curves = match found.by_level.len() {
        n if n <= MOST_LINES => curves(
            found,
            "accuracy-by-level",
            "Right answers by exposure and level",
            &found.by_level,
        ),
        _ => String::new(),
    };
    let body = format!("{}{chart}{curves}", caveats::notes(found, Part::Groups));
    Some(Section { id: "attributes", nav: "Attributes", title: "By attribute".into(), body })
}

/// In which order groups are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    AsGiven,
    HardestFirst,
}

fn dot_figure(
    found: &ViewingTime,
    id: &'static str,
    title: &str,
    noun: Column,
    groups: &[Group],
    order: Order,
) -> String {
    let mut sorted: Vec<&Group> = groups.iter().collect();
    if order == Order::HardestFirst {
        sorted.sort_by(|a, b| {
            let by_difficulty = b.difficulty.value.total_cmp(&a.difficulty.value);
            by_difficulty.then_with(|| a.name.cmp(&b.name))
        });
    }
    let mut sheet = Sheet::new(vec![
        noun,
        Column::count("Stimuli", "n_stimuli"),
        Column::count("Trials", "n_trials"),
        Column::estimate("Wrong answers", "difficulty", Unit::Share),
        Column::estimate("Threshold", "threshold", Unit::Time),
    ]);
    for group in &sorted {
        sheet.push(vec![
            Cell::Text(group.name.clone()),
            Cell::Count(group.n_stimuli),
            Cell::Count(group.n_trials),
            Cell::Estimate(group.difficulty),
            Cell::Estimate(group.threshold_ms),
        ]);
    }

    let (rows, cut) = rows(&sorted);
    let panels = [
        DotPanel { title: "Wrong answers".into(), unit: Unit::Share, paint: paint::ACCENT.into() },
        DotPanel {
            title: "Threshold in ms (log)".into(),
            unit: Unit::Time,
            paint: "var(--accent-2)".into(),
        },
    ];
    let figure = Figure {
        id,
        title,
        caption: format!(
            "Mean share of wrong answers over a group’s stimuli, and the geometric mean of their \
             thresholds: the exposure a typical participant needs. Lines are {}; the number on the \
             right is n&#160;=&#160;stimuli.{cut}",
            super::intervals(found)
        ),
        sheet,
    };
    figure.html(|canvas| match canvas {
        Canvas::Wide => dots::rows(canvas, &rows, &panels, None, title),
        Canvas::Narrow => (0..panels.len())
            .map(|idx| dots::rows(canvas, &rows, &panels, Some(idx), title))
            .collect(),
    })
}

/// Returns the rows to draw, and a sentence on those left out.
fn rows(sorted: &[&Group]) -> (Vec<DotRow>, String) {
    let n_left_out = sorted.len().saturating_sub(MOST_ROWS);
    let from = MOST_ROWS / 2;
    let mut previous: Option<&str> = None;
    let mut rows = Vec::new();
    for (idx, group) in sorted.iter().enumerate() {
        if 0 < n_left_out && (from..from + n_left_out).contains(&idx) {
            continue;
        }
        let attribute = group.name.split_once(" · ").map(|(attribute, _)| attribute);
        let is_another = idx != 0 && attribute != previous;
        let is_after_cut = 0 < n_left_out && idx == from + n_left_out;
        previous = attribute;
        rows.push(row(group, is_another || is_after_cut));
    }
    let cut = match n_left_out {
        0 => String::new(),
        _ => format!(
            " Drawn are the first {from} and the last {from} of {}; all are under <i>Numbers</i>.",
            count(sorted.len())
        ),
    };
    (rows, cut)
}

fn row(group: &Group, is_apart: bool) -> DotRow {
    let tip = |what: &str, text: String, n: usize| {
        format!("{}\n{what} {text}\nn = {}", group.name, counted(n, "stimulus", "stimuli"))
    };
    let (difficulty, threshold) = (group.difficulty, group.threshold_ms);
    DotRow {
        name: group.name.clone(),
        note: count(group.n_stimuli),
        is_apart,
        dots: vec![
            Dot {
                estimate: difficulty,
                tip: tip("wrong answers", Unit::Share.estimate(&difficulty), difficulty.n),
            },
            Dot {
                estimate: threshold,
                tip: tip("threshold", Unit::Time.estimate(&threshold), threshold.n),
            },
        ],
    }
}

fn strips(found: &ViewingTime) -> String {
    let bands: Vec<String> = found.bands.iter().map(|finding| finding.band.name()).collect();
    let strips: Vec<Strip> = found
        .by_dataset
        .iter()
        .map(|group| Strip { name: group.name.clone(), n_by_band: group.n_by_band.clone() })
        .collect();
    let mut sheet = Sheet::new(vec![
        Column::text("Data set", "dataset"),
        Column::text("Minimum viewing time", "band"),
        Column::count("Stimuli", "n_stimuli"),
    ]);
    for group in &found.by_dataset {
        for (idx, (n, name)) in group.n_by_band.iter().zip(&bands).enumerate() {
            sheet.push(vec![
                Cell::Text(group.name.clone()),
                Cell::Ranked(name.clone(), idx),
                Cell::Count(*n),
            ]);
        }
    }
    let figure = Figure {
        id: "bands-by-dataset",
        title: "Minimum viewing time by data set",
        caption: "Stimuli per band by the counting rule, each data set at full width. These are \
                  counts and have no interval."
            .into(),
        sheet,
    };
    figure.html(|canvas| strip::strips(canvas, &strips, &bands, figure.title))
}

fn curves(found: &ViewingTime, id: &'static str, title: &str, groups: &[Group]) -> String {
    let lines: Vec<Line> = groups
        .iter()
        .take(MOST_LINES)
        .enumerate()
        .map(|(idx, group)| line(&group.name, &paint::set(idx), &group.accuracy_by_exposure))
        .collect();
    let mut sheet = Sheet::new(vec![
        Column::text("Group", "group"),
        Column::text("Exposure", "exposure_ms"),
        Column::estimate("Right answers", "accuracy", Unit::Share),
    ]);
    for group in groups {
        for point in &group.accuracy_by_exposure {
            sheet.push(vec![
                Cell::Text(group.name.clone()),
                Cell::Ordered(point.exposure.to_string(), point.exposure.value()),
                Cell::Estimate(point.accuracy),
            ]);
        }
    }
    let cut = match groups.len() {
        n if n <= MOST_LINES => String::new(),
        n => format!(" Drawn are the first {MOST_LINES} of {n}; all are under <i>Numbers</i>."),
    };
    let figure = Figure {
        id,
        title,
        caption: format!(
            "Share of right answers; shaded bands join {}; n&#160;=&#160;trials.{}",
            super::intervals(found),
            cut
        ),
        sheet,
    };
    let levels = reference_levels(found);
    figure.html(|canvas| lines::over_exposure(canvas, &lines, &levels, title))
}
