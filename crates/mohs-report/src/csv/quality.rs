//! Data quality as CSV: one row per participant.

use mohs_data::Estimate;
use mohs_score::human::quality::{DataQuality, ParticipantQuality};

use crate::escape::csv_line;
use crate::headline::quality::timing_ok;
use crate::number::raw;

/// Shares with their intervals and n, by name.
type Share = (&'static str, fn(&ParticipantQuality) -> Option<Estimate>);

const SHARES: [Share; 9] = [
    ("accuracy", |p| p.facts.accuracy),
    ("catch_accuracy", |p| p.facts.catch_accuracy),
    ("accuracy_at_longest", |p| p.facts.accuracy_at_longest),
    ("timeouts", |p| p.facts.timeouts),
    ("too_fast", |p| p.facts.rt.as_ref().map(|rt| rt.too_fast)),
    ("too_slow", |p| p.facts.rt.as_ref().map(|rt| rt.too_slow)),
    ("rt_outliers", |p| p.facts.rt.as_ref().and_then(|rt| rt.outliers)),
    ("response_entropy", |p| p.facts.response_entropy),
    ("timing_ok", timing_ok),
];

/// Returns one row per participant; what was not recorded is empty.
pub(super) fn rows(found: &DataQuality) -> String {
    let fixed = ["participant", "flags", "n_sessions", "n_trials"];
    let times = ["rt_p05_ms", "rt_p25_ms", "rt_median_ms", "rt_p75_ms", "rt_p95_ms"];
    let streak = ["streak_response", "streak_length", "streak_p", "n_repeated", "n_duplicates"];
    let shares = SHARES
        .iter()
        .flat_map(|(name, _)| ["", "_low", "_high", "_n"].map(|part| format!("{name}{part}")));
    let headers = fixed
        .iter()
        .map(|name| (*name).to_owned())
        .chain(shares)
        .chain(times.iter().chain(&streak).map(|name| (*name).to_owned()));
    let mut csv = csv_line(headers.collect::<Vec<_>>());
    for participant in &found.participants {
        csv += &csv_line(row(participant));
    }
    csv
}

fn row(participant: &ParticipantQuality) -> Vec<String> {
    let facts = &participant.facts;
    let flags: Vec<&str> = participant.flags.iter().map(|flag| flag.rule.as_str()).collect();
    let mut cells = vec![
        participant.participant.to_string(),
        flags.join(";"),
        participant.n_sessions.to_string(),
        facts.n_trials.to_string(),
    ];
    for (_, share) in SHARES {
        cells.extend(share(participant).map_or_else(Default::default, |e| {
            [raw(e.value), raw(e.low), raw(e.high), e.n.to_string()]
        }));
    }
    cells.extend(facts.rt.as_ref().map_or_else(Default::default, |rt| {
        [rt.p05, rt.p25, rt.median, rt.p75, rt.p95].map(|time| raw(time.value()))
    }));
    cells.extend(participant.streak.as_ref().map_or_else(Default::default, |streak| {
        [streak.response.to_string(), streak.length.to_string(), raw(streak.p_value)]
    }));
    cells.push(facts.n_repeated.to_string());
    cells.push(facts.n_duplicates.to_string());
    cells
}
