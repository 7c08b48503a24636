//! Error consistency by data set, and between pairs of people.

use mohs_score::human::agreement::{Agreement, Consistency, DatasetAgreement, PairFinding};

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::intervals;
use crate::chart::bounded_dots::{self, BoundedRow};
use crate::chart::matrix::{self, MatrixCell};
use crate::escape::esc;
use crate::number::{Unit, count, counted};

/// People in a matrix; more cannot be read.
const MOST_IN_MATRIX: usize = 16;
/// Rows of the chart; more are under the numbers.
const MOST_ROWS: usize = 60;

pub(super) fn section(found: &Agreement) -> Section {
    Section {
        id: "agreement-consistency",
        nav: "Consistency",
        title: "Do they err on the same stimuli?".into(),
        body: by_dataset(found) + &matrix(found),
    }
}

/// One line of the table and the chart: who is compared, in which data set.
struct Line<'a> {
    dataset: &'a str,
    who: String,
    n_pairs: usize,
    consistency: &'a Consistency,
    is_model: bool,
}

fn lines(found: &Agreement) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for set in &found.datasets {
        let line = |who: &str, n_pairs, consistency, is_model| Line {
            dataset: &set.name,
            who: who.to_owned(),
            n_pairs,
            consistency,
            is_model,
        };
        lines.extend(set.people.iter().map(|people| line("people", set.n_pairs, people, false)));
        for model in &set.models {
            let with_people = model.with_people.iter();
            lines.extend(
                with_people.map(|found| line(model.model.as_str(), model.n_pairs, found, true)),
            );
        }
    }
    lines
}

fn by_dataset(found: &Agreement) -> String {
    let lines = lines(found);
    let has_models = lines.iter().any(|line| line.is_model);
    let mut sheet = Sheet::new(vec![
        Column::text("Data set", "dataset"),
        Column::text("Observers", "observers"),
        Column::estimate("Error consistency", "error_consistency", Unit::Plain),
        Column::estimate("Attainable maximum", "attainable_maximum", Unit::Plain),
        Column::estimate("Attainable minimum", "attainable_minimum", Unit::Plain),
        Column::estimate("Observed consistency", "observed_consistency", Unit::Share),
        Column::estimate("Expected consistency", "expected_consistency", Unit::Share),
        Column::estimate("Accuracy difference, squared", "accuracy_difference", Unit::Plain),
    ]);
    for line in &lines {
        let found = line.consistency;
        sheet.push(vec![
            Cell::Text(line.dataset.to_owned()),
            Cell::Text(line.who.clone()),
            Cell::Estimate(found.error_consistency),
            Cell::Estimate(found.attainable_maximum),
            Cell::Estimate(found.attainable_minimum),
            Cell::Estimate(found.observed_consistency),
            Cell::Estimate(found.expected_consistency),
            Cell::Estimate(found.accuracy_difference),
        ]);
    }
    let mut previous = None;
    let rows: Vec<BoundedRow> = lines
        .iter()
        .take(MOST_ROWS)
        .map(|line| {
            let is_apart = has_models && previous.is_some_and(|name| name != line.dataset);
            previous = Some(line.dataset);
            row(line, is_apart)
        })
        .collect();
    let series: &[&str] =
        if has_models { &["people with people", "a model with people"] } else { &["people"] };
    let cut = match lines.len().saturating_sub(MOST_ROWS) {
        0 => String::new(),
        n => format!(" {} more are under <i>Numbers</i>.", count(n)),
    };
    let figure = Figure {
        id: "agreement-by-dataset",
        title: "Error consistency by data set",
        caption: format!(
            "0: two observers share errors only as often as their accuracies explain; 1: they err \
             on the very same stimuli. The grey tick is the most that observers with these \
             accuracies can reach. Lines are {} over people and stimuli; the number on the right is \
             n&#160;=&#160;pairs.{cut}",
            intervals(found)
        ),
        sheet,
    };
    figure.html(|canvas| {
        bounded_dots::rows(canvas, &rows, series, "most that is attainable", figure.title)
    })
}

fn row(line: &Line<'_>, is_apart: bool) -> BoundedRow {
    let found = line.consistency;
    let name = if line.is_model { format!("  {}", line.who) } else { line.dataset.to_owned() };
    BoundedRow {
        note: count(line.n_pairs),
        estimate: found.error_consistency,
        most: found.attainable_maximum.value,
        series_idx: usize::from(line.is_model),
        tip: format!(
            "{} · {}\nerror consistency {}\nattainable {}\nboth right or both wrong {}\nn = {}",
            line.dataset,
            line.who,
            Unit::Plain.estimate(&found.error_consistency),
            Unit::Plain.value(found.attainable_maximum.value),
            Unit::Share.value(found.observed_consistency.value),
            counted(line.n_pairs, "pair", "pairs")
        ),
        name,
        is_apart,
    }
}

/// Returns the matrix of the data set with most pairs that can be drawn; the numbers of all.
fn matrix(found: &Agreement) -> String {
    let can_be_drawn = |set: &&DatasetAgreement| {
        2 < set.n_participants && set.n_participants <= MOST_IN_MATRIX && !set.pairs.is_empty()
    };
    let mut drawn: Option<&DatasetAgreement> = None;
    for set in found.datasets.iter().filter(can_be_drawn) {
        if drawn.is_none_or(|best| best.pairs.len() < set.pairs.len()) {
            drawn = Some(set);
        }
    }
    let Some(drawn) = drawn else { return String::new() };
    let mut sheet = Sheet::new(vec![
        Column::text("Data set", "dataset"),
        Column::text("Participant", "a"),
        Column::text("Participant", "b"),
        Column::estimate("Error consistency", "error_consistency", Unit::Plain),
        Column::estimate("Attainable maximum", "attainable_maximum", Unit::Plain),
        Column::estimate("Observed consistency", "observed_consistency", Unit::Share),
        Column::estimate("κ of answers", "answer_kappa", Unit::Plain),
    ]);
    for set in &found.datasets {
        for pair in &set.pairs {
            sheet.push(pair_cells(set, pair));
        }
    }
    let names: Vec<String> =
        drawn.participants.iter().map(|person| person.participant.to_string()).collect();
    let place = |id: &str| names.iter().position(|name| name == id);
    let cells: Vec<MatrixCell> = drawn
        .pairs
        .iter()
        .filter_map(|pair| {
            let (a, b) = (place(pair.a.as_str())?, place(pair.b.as_str())?);
            let kappa = pair.consistency.error_consistency;
            Some(MatrixCell {
                row: a.max(b),
                column: a.min(b),
                value: kappa.value,
                tip: format!(
                    "{} and {}\nerror consistency {}\nn = {}",
                    pair.a,
                    pair.b,
                    Unit::Plain.estimate(&kappa),
                    counted(kappa.n, "stimulus", "stimuli")
                ),
            })
        })
        .collect();
    let several = 1 < found.datasets.iter().filter(|set| !set.pairs.is_empty()).count();
    let figure = Figure {
        id: "agreement-pairs",
        title: "Error consistency between pairs of people",
        caption: format!(
            "Data set <i>{}</i>{}. Darker is more alike. Intervals, over stimuli, are in the tips \
             and under <i>Numbers</i>; n&#160;=&#160;stimuli both saw.",
            esc(&drawn.name),
            if several {
                ", the one with most pairs; all others are under <i>Numbers</i>"
            } else {
                ""
            }
        ),
        sheet,
    };
    figure.html(|canvas| matrix::lower_half(canvas, &names, &cells, figure.title))
}

fn pair_cells(set: &DatasetAgreement, pair: &PairFinding) -> Vec<Cell> {
    let found = &pair.consistency;
    vec![
        Cell::Text(set.name.clone()),
        Cell::Text(pair.a.to_string()),
        Cell::Text(pair.b.to_string()),
        Cell::Estimate(found.error_consistency),
        Cell::Estimate(found.attainable_maximum),
        Cell::Estimate(found.observed_consistency),
        pair.answer_kappa.map_or(Cell::Missing("answers unknown"), Cell::Estimate),
    ]
}
