//! Models as text: a compact table of accuracy by band, pairs, calibration, gaps, failures.

use std::collections::BTreeMap;

use mohs_data::{Estimate, ModelName};
use mohs_score::model::{Cell, ModelFinding, ModelFindings};

use super::{WIDTH, caveats, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::models as headline;
use crate::number::{Unit, bare_p_value, count, counted, fixed};
use crate::standing;
use crate::width::{columns, distinct, shorten, shorten_middle};

/// Rows listed before the rest is left to other formats.
const MOST_LISTED: usize = 24;
/// Columns of a model's name.
const NAME: usize = 20;

pub(super) fn chapter(found: &ModelFindings) -> String {
    let mut text = paragraph(&headline::answer(found));
    text += &paragraph(&format!(
        "{} {}. Brackets are {} % intervals.",
        headline::more(found),
        headline::basis(found),
        fixed(found.method.confidence * 100.0, 0)
    ));
    text += &by_band(found);
    text += &ties(found);
    text += &comparisons(found);
    text += &gap(found);
    text += &calibration(found);
    text += &axes(found);
    text += &people(found);
    text += &learning(found);
    text += &failures(found);
    text += &caveats(&found.caveats);
    text
}

/// Short names that tell the models apart.
struct Names<'a>(BTreeMap<&'a ModelName, String>);

impl<'a> Names<'a> {
    fn of(found: &'a ModelFindings, max: usize) -> Self {
        let models: Vec<&ModelName> = found.models.iter().map(|model| &model.model).collect();
        let whole: Vec<String> = models.iter().map(|model| one_line(model.as_str())).collect();
        Self(models.into_iter().zip(distinct(&whole, max)).collect())
    }

    fn name(&self, model: &ModelName) -> String {
        self.0.get(model).cloned().unwrap_or_else(|| shorten(&one_line(model.as_str()), NAME))
    }
}

fn cell(unit: Unit, estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "–".into(), |estimate| unit.estimate(estimate))
}

/// A share without its sign, for columns that have it in their title.
fn bare(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "–".into(), |estimate| fixed(estimate.value * 100.0, 1))
}

fn ranked(found: &ModelFindings) -> Vec<&ModelFinding> {
    standing::ranked(found).into_iter().map(|idx| &found.models[idx]).collect()
}

fn rest(n: usize) -> String {
    match n.saturating_sub(MOST_LISTED) {
        0 => String::new(),
        n => paragraph(&format!("  {} more with --format csv or json.", count(n))),
    }
}

/// The table of the paper: models down, bands across, best model first. Bands that do not fit are
/// left to CSV.
fn by_band(found: &ModelFindings) -> String {
    let models = ranked(found);
    let longest = models.iter().take(MOST_LISTED).map(|model| columns(model.model.as_str())).max();
    // Indent, the overall column with its gaps, then the bands, no name shorter than twelve.
    let band_width = |band: &Cell| columns(&one_line(&band.name)).clamp(4, 6) + 2;
    let room = WIDTH.saturating_sub(2 + 2 + 13);
    let mut n_bands = found.bands.len();
    let width_of =
        |shown: &[usize]| shown.iter().map(|i| band_width(&found.bands[*i])).sum::<usize>();
    let mut shown = evenly(found.bands.len(), n_bands);
    while room < width_of(&shown) + 12 {
        n_bands -= 1;
        shown = evenly(found.bands.len(), n_bands);
    }
    let left = room - width_of(&shown);
    let has_drop = 1 < found.bands.len() && 24 <= left;
    let name_width = (left - if has_drop { 6 } else { 0 }).min(longest.unwrap_or(5)).clamp(5, 30);
    let names = Names::of(found, name_width);
    let mut headers = vec!["model".to_owned(), "right %".to_owned()];
    headers.extend(shown.iter().map(|idx| shorten(&one_line(&found.bands[*idx].name), 6)));
    if has_drop {
        headers.push("drop".into());
    }
    let mut table = TextTable::new(headers).indented(2);
    for model in models.iter().take(MOST_LISTED) {
        let overall = standing::accuracy(model).map_or_else(
            || "–".into(),
            |e| {
                let end = |share: f64| fixed(share * 100.0, 0);
                format!("{} [{}, {}]", fixed(e.value * 100.0, 1), end(e.low), end(e.high))
            },
        );
        let mut cells = vec![names.name(&model.model), overall];
        for idx in &shown {
            let band = model.bands.get(*idx).and_then(Option::as_ref);
            cells.push(bare(band.map(|band| &band.clustered)));
        }
        if has_drop {
            cells.push(bare(model.drop.as_ref()));
        }
        table.push(cells);
    }
    if 0 < n_bands {
        let mut cells = vec!["stimuli".to_owned(), count(found.n_stimuli)];
        cells.extend(shown.iter().map(|idx| count(found.bands[*idx].n_stimuli)));
        table.push(cells);
    }
    let title = match found.bands.len() {
        0 => "Right answers by model".into(),
        n if n_bands < n => format!("Right answers by band ({n_bands} of {n} bands)"),
        _ => "Right answers by band, easy to hard".into(),
    };
    section(&title, &table) + &rest(models.len())
}

/// Returns `n` positions of `len` at even steps, both ends included.
pub(super) fn evenly(len: usize, n: usize) -> Vec<usize> {
    match n {
        n if len <= n => (0..len).collect(),
        0 => Vec::new(),
        1 => vec![0],
        n => (0..n).map(|idx| idx * (len - 1) / (n - 1)).collect(),
    }
}

fn ties(found: &ModelFindings) -> String {
    const MOST_GROUPS: usize = 6;
    let groups: Vec<&Vec<_>> = found.ties.iter().filter(|group| 1 < group.len()).collect();
    if groups.is_empty() {
        return String::new();
    }
    let names = Names::of(found, NAME);
    let mut text = "Cannot be told apart\n\n".to_owned();
    for group in groups.iter().take(MOST_GROUPS) {
        let members: Vec<String> = group.iter().map(|model| names.name(model)).collect();
        text += &super::wrapped(&members.join(", "), "  - ", "    ");
    }
    match groups.len().saturating_sub(MOST_GROUPS) {
        0 => {}
        n => text += &format!("  - and {}\n", counted(n, "further group", "further groups")),
    }
    text + "\n"
}

fn comparisons(found: &ModelFindings) -> String {
    if found.comparisons.is_empty() {
        return String::new();
    }
    let names = Names::of(found, 15);
    let mut pairs: Vec<_> = found.comparisons.iter().collect();
    // The closest calls first: what is far apart can be seen in the table above.
    pairs.sort_by(|a, b| a.difference.value.abs().total_cmp(&b.difference.value.abs()));
    let mut table =
        TextTable::new(["first", "second", "points", "p Holm", "n", "shows"]).indented(2);
    for pair in pairs.iter().take(12) {
        table.push([
            names.name(&pair.first),
            names.name(&pair.second),
            Unit::Points.estimate(&pair.difference),
            bare_p_value(pair.p_holm),
            count(pair.n_stimuli),
            fixed(pair.minimum_detectable * 100.0, 1),
        ]);
    }
    let all = found.comparisons.len();
    let title = match all {
        n if n <= 12 => "Pairs of models".into(),
        n => format!("Pairs of models: the 12 closest of {}", count(n)),
    };
    section(&title, &table)
        + &paragraph("  shows: the least difference that so many stimuli would show.")
}

fn gap(found: &ModelFindings) -> String {
    let Some(gap) = &found.gap else { return String::new() };
    let names = Names::of(found, NAME);
    let mut table = TextTable::new(["model", "on easy stimuli", "on hard stimuli"]).indented(2);
    for model in gap.models.iter().take(MOST_LISTED) {
        table.push([
            names.name(&model.model),
            cell(Unit::Points, model.easy.as_ref()),
            cell(Unit::Points, model.hard.as_ref()),
        ]);
    }
    let title = format!(
        "Gap in points: {} minus {}",
        shorten(&one_line(&gap.first), 24),
        shorten(&one_line(&gap.second), 24)
    );
    section(&title, &table) + &rest(gap.models.len())
}

fn calibration(found: &ModelFindings) -> String {
    let mut table =
        TextTable::new(["model", "too sure by", "ECE %", "debiased %", "Brier"]).indented(2);
    let models = ranked(found);
    let seen: Vec<_> =
        models.iter().filter_map(|model| Some((model, model.calibration.as_ref()?))).collect();
    if seen.is_empty() {
        return String::new();
    }
    let names = Names::of(found, 18);
    let share = |e: &Estimate| format!("{} {}", fixed(e.value * 100.0, 1), Unit::Share.interval(e));
    for (model, seen) in seen.iter().take(MOST_LISTED) {
        table.push([
            names.name(&model.model),
            Unit::Points.value(seen.overconfidence.value),
            share(&seen.ece),
            share(&seen.debiased),
            fixed(seen.brier.value, 3),
        ]);
    }
    section("Can confidence be believed?", &table) + &rest(seen.len())
}

fn axes(found: &ModelFindings) -> String {
    let mut text = String::new();
    for axis in &found.axes {
        let n = axis.values.len();
        let shown = evenly(n, 7);
        let mut headers = vec!["model".to_owned()];
        headers.extend(shown.iter().map(|idx| shorten(&one_line(&axis.values[*idx].name), 6)));
        let mut table = TextTable::new(headers).indented(2);
        let ranked = standing::on_axis(found, axis);
        let names = Names::of(found, NAME);
        for idx in ranked.iter().take(MOST_LISTED) {
            let mut cells = vec![names.name(&found.models[*idx].model)];
            for step in &shown {
                let at = axis.values[*step].models.get(*idx).and_then(Option::as_ref);
                cells.push(bare(at));
            }
            table.push(cells);
        }
        let part =
            if shown.len() < n { format!(" ({} of {n})", shown.len()) } else { String::new() };
        let title = format!("Right answers in % by {}{part}", shorten(&one_line(&axis.name), 30));
        text += &section(&title, &table);
        text += &rest(ranked.len());
    }
    text
}

fn people(found: &ModelFindings) -> String {
    if found.with_people.is_empty() {
        return String::new();
    }
    let names = Names::of(found, NAME);
    let mut table =
        TextTable::new(["model", "error consistency", "at most", "people with people"]).indented(2);
    for model in found.with_people.iter().take(MOST_LISTED) {
        let ceiling = model.ceiling.as_ref().map(|ceiling| &ceiling.error_consistency);
        table.push([
            names.name(&model.model),
            Unit::Plain.estimate(&model.consistency.error_consistency),
            Unit::Plain.value(model.consistency.attainable_maximum.value),
            cell(Unit::Plain, ceiling),
        ]);
    }
    section("Do models err like people?", &table) + &rest(found.with_people.len())
}

fn learning(found: &ModelFindings) -> String {
    if found.learning.is_empty() {
        return String::new();
    }
    let names = Names::of(found, NAME);
    let mut table =
        TextTable::new(["model", "epochs", "share of epochs right", "ρ with difficulty"])
            .indented(2);
    for model in found.learning.iter().take(MOST_LISTED) {
        table.push([
            names.name(&model.model),
            count(model.n_epochs),
            Unit::Share.estimate(&model.mean),
            cell(Unit::Plain, model.difficulty_correlation.as_ref()),
        ]);
    }
    section("How early stimuli are learned", &table) + &rest(found.learning.len())
}

fn failures(found: &ModelFindings) -> String {
    if found.failures.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new(["rows", "reason", "for example"]).indented(2);
    for failure in found.failures.iter().take(8) {
        table.push([
            count(failure.n),
            shorten(&one_line(&failure.reason), 40),
            shorten_middle(&one_line(failure.example.as_str()), 24),
        ]);
    }
    let title = format!("{} without an answer", counted(found.n_failed, "row", "rows"));
    section(&title, &table)
}
