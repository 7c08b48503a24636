//! Speed and accuracy as CSV: one row per curve and block, of averages and of each participant.

use mohs_score::human::speed_accuracy::{Curve, CurvePoint, SpeedAccuracy};

use crate::escape::csv_line;
use crate::number::raw;

const HEADERS: [&str; 17] = [
    "participant",
    "condition",
    "beep_ms",
    "time_ms",
    "accuracy",
    "accuracy_low",
    "accuracy_high",
    "accuracy_se",
    "accuracy_n",
    "confidence",
    "rt_ms",
    "rt_low_ms",
    "rt_high_ms",
    "rt_se_ms",
    "n_trials",
    "n_time_outs",
    "fitted",
];

/// Returns the points of all curves: the average (no participant) over all conditions (no name) and
/// by condition, then the same for each participant.
pub(super) fn rows(found: &SpeedAccuracy) -> String {
    let mut csv = csv_line(HEADERS.map(str::to_owned));
    let averages = std::iter::once(&found.average).chain(&found.conditions);
    for curve in averages {
        push(&mut csv, "", curve);
    }
    for person in &found.participants {
        for curve in std::iter::once(&person.all).chain(&person.conditions) {
            push(&mut csv, person.participant.as_str(), curve);
        }
    }
    csv
}

fn push(csv: &mut String, participant: &str, curve: &Curve) {
    for point in &curve.points {
        *csv += &csv_line(row(participant, curve, point));
    }
}

fn row(participant: &str, curve: &Curve, point: &CurvePoint) -> Vec<String> {
    let number = |number: Option<f64>| number.map(raw).unwrap_or_default();
    let (accuracy, rt) = (&point.accuracy, point.rt_ms);
    vec![
        participant.to_owned(),
        curve.condition.clone(),
        raw(point.beep.value()),
        raw(point.time.value()),
        raw(accuracy.value),
        raw(accuracy.low),
        raw(accuracy.high),
        number(point.accuracy_se),
        accuracy.n.to_string(),
        raw(accuracy.confidence),
        number(rt.map(|rt| rt.value)),
        number(rt.map(|rt| rt.low)),
        number(rt.map(|rt| rt.high)),
        number(point.rt_se_ms),
        point.n_trials.to_string(),
        point.n_time_outs.to_string(),
        number(curve.fit.as_ref().map(|fit| fit.at(point.time))),
    ]
}
