//! What more time buys, in plain sentences.

use mohs_score::human::speed_accuracy::{Curve, SpeedAccuracy};

use crate::number::{Unit, counted};

/// Returns what accuracy does with time and, where there are several, by condition.
pub(crate) fn answer(found: &SpeedAccuracy) -> String {
    let points = &found.average.points;
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return "No block has a trial that counts.".into();
    };
    let share = |value: f64| Unit::Share.value(value);
    if points.len() == 1 {
        return format!(
            "At a beep of {} people are right {} of the time; one block says nothing about speed.",
            first.beep,
            share(first.accuracy.value)
        );
    }
    let (from, to) = (first.accuracy, last.accuracy);
    // Overlapping intervals do not carry a verdict.
    let verb = if from.high < to.low {
        "More time helps: right answers rise"
    } else if to.high < from.low {
        "More time does not help: right answers fall"
    } else {
        "Right answers go"
    };
    format!(
        "{verb} from {} at a beep of {} to {} at {}.{}",
        share(from.value),
        first.beep,
        share(to.value),
        last.beep,
        range_of_conditions(found)
    )
}

/// Returns the best and the worst condition at the longest beep.
fn range_of_conditions(found: &SpeedAccuracy) -> String {
    let at_last = |curve: &Curve| {
        let point = curve.points.iter().find(|point| Some(&point.beep) == found.beeps.last())?;
        Some((point.accuracy.value, curve.condition.clone()))
    };
    let mut ends: Vec<(f64, String)> = found.conditions.iter().filter_map(at_last).collect();
    ends.sort_by(|a, b| b.0.total_cmp(&a.0));
    let [best, .., worst] = ends.as_slice() else { return String::new() };
    format!(
        " There, condition “{}” reaches {} and “{}” {}.",
        best.1,
        Unit::Share.value(best.0),
        worst.1,
        Unit::Share.value(worst.0)
    )
}

/// Returns what the findings rest on.
pub(crate) fn basis(found: &SpeedAccuracy) -> String {
    format!(
        "{} of {} in {}",
        counted(found.n_trials, "trial", "trials"),
        counted(found.n_participants, "participant", "participants"),
        counted(found.beeps.len(), "block", "blocks"),
    )
}
