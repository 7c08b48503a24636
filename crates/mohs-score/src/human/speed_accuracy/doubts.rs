//! Reasons for less trust in speed–accuracy findings.

use mohs_data::{Caveat, Caveats, Trial};

use super::window::{self, Reading, TimeOuts};
use super::{Curve, Options, SpeedAccuracy};
use crate::proportion::real;

/// Participants below which intervals over them are called rough.
const N_PARTICIPANTS_WANTED: usize = 10;
/// Share of trials without an answer from which it is said.
const MANY_TIME_OUTS: f64 = 0.05;
/// Share of answers without a time from which it is said.
const MANY_UNTIMED: f64 = 0.01;
/// Share of trials set aside, practice apart, from which it is said.
const MANY_EXCLUDED: f64 = 0.2;
/// Share of the rise that should be done at the last block.
const NEARLY_DONE: f64 = 0.9;

/// Adds what weakens the findings; `timed` are the trials that asked for an answer at a time.
pub(super) fn add(
    findings: &mut SpeedAccuracy,
    timed: &[&Trial],
    kept: &[&Trial],
    reading: Reading,
    options: &Options,
) {
    let mut caveats = std::mem::take(&mut findings.caveats);
    of_people(findings, timed, reading, options, &mut caveats);
    of_times(findings, kept, reading, &mut caveats);
    of_fits(findings, &mut caveats);
    findings.caveats = caveats;
}

fn of_people(
    findings: &SpeedAccuracy,
    timed: &[&Trial],
    reading: Reading,
    options: &Options,
    caveats: &mut Caveats,
) {
    let n_participants = findings.n_participants;
    if n_participants < N_PARTICIPANTS_WANTED {
        caveats.add(Caveat::FewParticipants { n_participants });
    }
    let n_far = window::far_from_beep(timed, reading).len();
    if 0 < n_far {
        let is_set_aside = options.window.judges_observers();
        caveats.add(Caveat::FarFromBeep {
            n_participants: n_far,
            n_all: n_participants + if is_set_aside { n_far } else { 0 },
            is_set_aside,
        });
    }
    let n_aside = timed.len() - findings.n_trials;
    let share = real(n_aside) / real(timed.len().max(1));
    if MANY_EXCLUDED <= share {
        caveats.add(Caveat::ManyExclusions { share });
    }
}

fn of_times(findings: &SpeedAccuracy, kept: &[&Trial], reading: Reading, caveats: &mut Caveats) {
    // Of the trials that count, or would if none without an answer were set aside.
    let n_aside: usize =
        findings.exclusions.iter().filter(|of| of.rule == "time-out").map(|of| of.n_trials).sum();
    let n_time_outs = kept.iter().filter(|trial| reading.is_time_out(trial)).count() + n_aside;
    let share = real(n_time_outs) / real((kept.len() + n_aside).max(1));
    let are_errors = findings.method.time_outs == TimeOuts::Errors;
    if MANY_TIME_OUTS <= share {
        caveats.add(Caveat::TimeOuts { share, are_errors });
    }
    let guess_rate = findings.method.guess_rate;
    let below = |curve: &Curve| {
        let points = curve.points.iter().filter(|point| point.accuracy.high < guess_rate);
        points.map(|point| point.beep).collect::<Vec<_>>()
    };
    let beeps = below(&findings.average);
    if !beeps.is_empty() {
        caveats.add(Caveat::BelowGuessing { beeps, guess_rate });
    }
    let answered = kept.iter().filter(|trial| !reading.is_time_out(trial));
    let untimed = real(answered.clone().filter(|trial| trial.rt().is_none()).count());
    let share = untimed / real(answered.count().max(1));
    if MANY_UNTIMED <= share {
        caveats.add(Caveat::ResponseTimesMissing { share });
    }
}

fn of_fits(findings: &SpeedAccuracy, caveats: &mut Caveats) {
    let name = |curve: &Curve| {
        if curve.condition.is_empty() { "all conditions".into() } else { curve.condition.clone() }
    };
    let curves = || std::iter::once(&findings.average).chain(&findings.conditions);
    if curves().any(|curve| curve.fit.is_none()) {
        let n_wanted = 2 + usize::from(findings.method.free_asymptote);
        caveats.add(Caveat::NotIdentified {
            what: format!(
                "how accuracy grows with time: a fit needs at least {n_wanted} blocks with \
                 different times"
            ),
        });
    }
    let at_bound: Vec<String> = curves()
        .filter(|curve| curve.fit.as_ref().is_some_and(|f| f.is_at_bound))
        .map(name)
        .collect();
    if !at_bound.is_empty() {
        caveats.add(Caveat::CurveAtBound { curves: at_bound });
    }
    let rising: Vec<String> = curves().filter(|curve| still_rises(curve)).map(name).collect();
    if !rising.is_empty() {
        caveats.add(Caveat::AsymptoteNotReached { curves: rising });
    }
}

/// Returns whether much of the fitted rise lies beyond the last block.
fn still_rises(curve: &Curve) -> bool {
    let (Some(fit), Some(last)) = (&curve.fit, curve.band.last()) else { return false };
    let Some(asymptote) = &fit.asymptote else { return false };
    last.accuracy.value - fit.floor < NEARLY_DONE * (asymptote.value - fit.floor)
}
