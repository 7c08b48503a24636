//! Pairs of models on the same stimuli: a grid of differences, and every pair in a table.

use mohs_score::model::{ModelFindings, PairedComparison};

use super::super::figure::Plot;
use super::super::long_table;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::intervals;
use crate::chart::grid::{self, Grid, GridCell, Tint};
use crate::escape::esc;
use crate::number::{Unit, bare_p_value, count, counted, fixed};
use crate::standing;

/// Models in the grid; more cannot be read.
const MOST_IN_GRID: usize = 30;
/// Groups of models that cannot be told apart, before the rest is only counted.
const MOST_GROUPS: usize = 8;

/// Returns the section, or `None` without pairs.
pub(super) fn section(found: &ModelFindings) -> Option<Section> {
    if found.comparisons.is_empty() {
        return None;
    }
    Some(Section {
        id: "models-pairs",
        nav: "Pairs",
        title: "Which models can be told apart?".into(),
        body: ties(found) + &differences(found) + &table(found),
    })
}

fn ties(found: &ModelFindings) -> String {
    let groups: Vec<&Vec<_>> = found.ties.iter().filter(|group| 1 < group.len()).collect();
    let all = counted(found.comparisons.len(), "pair", "pairs");
    if groups.is_empty() {
        return format!(
            "<p class=\"lede\">Each of {all} differs more than chance explains, after Holm’s \
             correction.</p>\n"
        );
    }
    let item = |group: &&Vec<mohs_data::ModelName>| {
        let names: Vec<String> = group.iter().map(|model| esc(model.as_str())).collect();
        format!("<li>{}</li>\n", names.join(" · "))
    };
    let items: String = groups.iter().take(MOST_GROUPS).map(item).collect();
    let rest = match groups.len().saturating_sub(MOST_GROUPS) {
        0 => String::new(),
        _ => {
            let rest: String = groups.iter().skip(MOST_GROUPS).map(item).collect();
            let n = groups.len() - MOST_GROUPS;
            format!(
                "<details><summary>{}</summary><ul class=\"ties\">{rest}</ul></details>\n",
                counted(n, "further group", "further groups")
            )
        }
    };
    format!(
        "<p class=\"lede\">Models in one line cannot be told apart by these stimuli, best first; a \
         model may stand in several lines. That is no proof that they are equal: the table says \
         how small a difference would have shown.</p>\n<ul class=\"ties\">{items}</ul>\n{rest}"
    )
}

fn differences(found: &ModelFindings) -> String {
    let n = standing::ranked(found).len();
    if n < 3 {
        return String::new();
    }
    let shown: Vec<usize> = standing::ranked(found).into_iter().take(MOST_IN_GRID).collect();
    let place = |name: &mohs_data::ModelName| {
        shown.iter().position(|idx| found.models[*idx].model == *name)
    };
    let mut cells = Vec::new();
    let mut widest = 0.0_f64;
    for pair in &found.comparisons {
        let (Some(one), Some(other)) = (place(&pair.first), place(&pair.second)) else { continue };
        let is_turned = other < one;
        let difference =
            if is_turned { standing::turned(&pair.difference) } else { pair.difference };
        widest = widest.max(difference.value.abs());
        let (better, worse) =
            if is_turned { (&pair.second, &pair.first) } else { (&pair.first, &pair.second) };
        cells.push(GridCell {
            row: one.max(other) - 1,
            column: one.min(other),
            value: difference.value,
            text: Unit::Points.value(difference.value),
            tip: format!(
                "{better} minus {worse}\n{} points\np = {} after Holm, n = {}",
                Unit::Points.estimate(&difference),
                bare_p_value(pair.p_holm),
                count(pair.n_stimuli)
            ),
            is_marked: standing::is_separated(found, pair),
        });
    }
    let name = |idx: &usize| found.models[*idx].model.to_string();
    let grid = Grid {
        rows: shown.iter().skip(1).map(name).collect(),
        columns: shown.iter().take(shown.len().saturating_sub(1)).map(name).collect(),
        cells,
        tint: Tint::TwoSided(widest),
        n_letters: 5,
    };
    let cut = match n.saturating_sub(MOST_IN_GRID) {
        0 => String::new(),
        rest => format!(" Shown are the {MOST_IN_GRID} best models; {rest} more are in the table."),
    };
    let plot = Plot {
        id: "models-differences",
        title: "How far apart models are",
        caption: format!(
            "Accuracy of the model on top minus that of the model on the left, in points, on the \
             stimuli both answered. A dot says that the difference stands after Holm’s correction \
             for {}, and with other classes drawn. {} are in the tips and in the table.{cut}",
            counted(found.comparisons.len(), "pair", "pairs"),
            esc(&intervals(found)),
        ),
    };
    plot.html(|canvas| grid::cells(canvas, &grid, plot.title))
}

fn table(found: &ModelFindings) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("First", "first"),
        Column::text("Second", "second"),
        Column::estimate("Difference, points", "difference", Unit::Points),
        Column::estimate("Drawing classes", "clustered", Unit::Points),
        Column::count("Only first", "n_only_first"),
        Column::count("Only second", "n_only_second"),
        Column::count("n", "n_stimuli"),
        Column::number("p, Holm", "p_holm"),
        Column::number("p, BH", "p_bh"),
        Column::number("Would show", "minimum_detectable"),
    ]);
    sheet.has_n = false;
    let mut pairs: Vec<&PairedComparison> = found.comparisons.iter().collect();
    // The closest calls first: they are the ones that need a table.
    pairs.sort_by(|a, b| a.difference.value.abs().total_cmp(&b.difference.value.abs()));
    for pair in pairs {
        let shows = pair.minimum_detectable;
        sheet.push(vec![
            Cell::Text(pair.first.to_string()),
            Cell::Text(pair.second.to_string()),
            Cell::Estimate(pair.difference),
            Cell::Estimate(pair.clustered),
            Cell::Count(pair.n_only_first),
            Cell::Count(pair.n_only_second),
            Cell::Count(pair.n_stimuli),
            Cell::PValue(pair.p_holm),
            Cell::PValue(pair.p_bh),
            Cell::Ordered(fixed(shows * 100.0, 1), shows),
        ]);
    }
    format!(
        "<h3>All pairs</h3>\n<p class=\"lede\">The closest first. <i>Only first</i> counts stimuli that only the first \
         model got right. <i>p</i> is McNemar’s, corrected \
         over {}: Holm’s for claims about any of them, Benjamini and Hochberg’s (BH) for a list of \
         which a few may be wrong. <i>Would show</i> is the smallest true difference, in points, \
         that as many stimuli would show {} % of the time.</p>\n<div class=\"stack\">{}</div>\n",
        counted(found.comparisons.len(), "pair", "pairs"),
        fixed(found.method.power * 100.0, 0),
        long_table::table(&sheet, "models-all-pairs", "Pairs of models")
    )
}
