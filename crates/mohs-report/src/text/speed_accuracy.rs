//! Speed and accuracy as text: curves, fits, differences, categories, ceilings, exclusions.

use mohs_data::Estimate;
use mohs_score::human::speed_accuracy::steepness::Scaling;
use mohs_score::human::speed_accuracy::{Curve, SpeedAccuracy};

use super::{bar, caveats, exclusions, one_line, paragraph, section};
use crate::TextTable;
use crate::headline::speed_accuracy as headline;
use crate::number::{Unit, axis_time, count, fixed};
use crate::width::shorten;

/// Longest name of a condition or category in a table.
const LONGEST_NAME: usize = 16;
/// Rows of categories before the rest is only counted.
const MOST_CATEGORIES: usize = 20;

pub(super) fn chapter(found: &SpeedAccuracy) -> String {
    let mut text = paragraph(&headline::answer(found));
    text += &paragraph(&format!(
        "{}; {}. Brackets are {} % intervals.",
        headline::basis(found),
        found.method.window.meaning(),
        fixed(found.method.confidence * 100.0, 0)
    ));
    text += &points("Right answers over time", &found.average);
    for curve in &found.conditions {
        text += &points(&format!("Condition {}", name(&curve.condition)), curve);
    }
    text += &fits(found);
    text += &differences(found);
    text += &categories(found);
    text += &ceilings(found);
    text += &exclusions(&found.exclusions, found.n_participants, found.n_trials);
    text += &caveats(&found.caveats);
    text
}

fn name(condition: &str) -> String {
    let words = if condition.is_empty() { "all" } else { condition };
    shorten(&one_line(words), LONGEST_NAME)
}

fn or_dash(unit: Unit, estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| "–".into(), |estimate| unit.estimate(estimate))
}

fn points(title: &str, curve: &Curve) -> String {
    let mut table = TextTable::new(["beep", "mean time", "right answers", ""]).indented(2);
    for point in &curve.points {
        table.push([
            point.beep.to_string(),
            or_dash(Unit::Time, point.rt_ms.as_ref()),
            Unit::Share.estimate(&point.accuracy),
            bar(point.accuracy.value, 20),
        ]);
    }
    section(title, &table)
}

fn curves(found: &SpeedAccuracy) -> impl Iterator<Item = &Curve> {
    std::iter::once(&found.average).chain(&found.conditions)
}

fn fits(found: &SpeedAccuracy) -> String {
    let mut table = TextTable::new(["curve", "scale", "shape", "asymptote"]).indented(2);
    for curve in curves(found) {
        let fit = curve.fit.as_ref();
        table.push([
            name(&curve.condition),
            or_dash(Unit::Time, fit.map(|fit| &fit.scale_ms)),
            or_dash(Unit::Plain, fit.map(|fit| &fit.shape)),
            or_dash(Unit::Share, fit.and_then(|fit| fit.asymptote.as_ref())),
        ]);
    }
    let (title, factor) = match found.method.scaling {
        Scaling::Normalised => ("steepness", 1.0),
        Scaling::Paper => ("steepness, 10⁻⁶/ms", 1e6),
    };
    let mut bends = TextTable::new(["curve", title]).indented(2);
    for curve in curves(found) {
        let steepness = curve.steepness.map(|steepness| steepness.scaled(factor));
        bends.push([name(&curve.condition), or_dash(Unit::Plain, steepness.as_ref())]);
    }
    section("Fitted curves", &table) + &section("Mean curvature of the fits", &bends)
}

fn differences(found: &SpeedAccuracy) -> String {
    if found.differences.is_empty() {
        return String::new();
    }
    let headers = ["one", "the other", "distance (RMSE)", "first less second"];
    let mut table = TextTable::new(headers).indented(2);
    for difference in &found.differences {
        table.push([
            name(&difference.a),
            name(&difference.b),
            Unit::Share.estimate(&difference.rmse),
            Unit::Share.estimate(&difference.mean_difference),
        ]);
    }
    section("How far apart the conditions lie", &table)
}

/// Percent right alone: with intervals a row would be wider than a terminal, and `--format json`
/// has them.
fn categories(found: &SpeedAccuracy) -> String {
    if found.categories.len() < 2 {
        return String::new();
    }
    let beeps = found.beeps.iter().map(|beep| axis_time(*beep));
    let headers: Vec<String> = std::iter::once("category".to_owned()).chain(beeps).collect();
    let mut table = TextTable::new(headers).indented(2);
    for category in found.categories.iter().take(MOST_CATEGORIES) {
        let shares = category.accuracy.iter().map(|accuracy| {
            accuracy.map_or_else(|| "–".into(), |estimate| fixed(estimate.value * 100.0, 0))
        });
        let label = name(category.label.as_str());
        table.push(std::iter::once(label).chain(shares).collect::<Vec<_>>());
    }
    match found.categories.len().saturating_sub(MOST_CATEGORIES) {
        0 => {}
        n => table.push([format!("… {} more", count(n))]),
    }
    section("Percent right by category and beep (intervals: --format json)", &table)
}

fn ceilings(found: &SpeedAccuracy) -> String {
    let mut rmse = TextTable::new(["condition", "RMSE to all", "RMSE to the others"]).indented(2);
    let mut rho = TextTable::new(["condition", "ρ with all", "ρ with the others"]).indented(2);
    for ceiling in &found.ceilings {
        let condition = name(&ceiling.condition);
        rmse.push([
            condition.clone(),
            or_dash(Unit::Share, ceiling.rmse_average.as_ref()),
            or_dash(Unit::Share, ceiling.rmse_left_out.as_ref()),
        ]);
        rho.push([
            condition,
            or_dash(Unit::Plain, ceiling.spearman_average.as_ref()),
            or_dash(Unit::Plain, ceiling.spearman_left_out.as_ref()),
        ]);
    }
    section("One participant against the average: curves", &rmse)
        + &section("One participant against the average: categories", &rho)
}
