//! Facts about some trials: accuracy, response times, time-outs, timing, repeats.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Estimate, Label, Millis, TimingVerdict, Trial};

use super::streak::{entropy, longest_run, p_of_run};
use super::{Facts, Limits, Recorded, RtFacts, Streak, TimingShare, centre_and_spread};
use crate::human::exclusion;
use crate::proportion::{normal_quantile, real, wilson};
use crate::resample::sorted_quantile;

/// Robust standard deviations of log rt beyond which a time is an outlier.
const OUTLIER_SDS: f64 = 3.0;

/// What holds for all participants alike.
pub(super) struct Scope<'a> {
    pub(super) limits: &'a Limits,
    pub(super) confidence: f64,
    /// The longest exposure of all trials.
    pub(super) longest: Option<Millis>,
    /// Whether answers were recorded at all; a file may have `correct` only.
    pub(super) has_responses: bool,
}

/// Returns whether a trial is there to catch inattention.
pub(super) fn is_catch(trial: &Trial) -> bool {
    let says_so = |text: &str| matches!(text.to_ascii_lowercase().as_str(), "true" | "1" | "yes");
    trial.extra.get("catch").is_some_and(says_so) || trial.block.as_deref() == Some("catch")
}

/// Returns the facts about some trials.
pub(super) fn of(trials: &[&Trial], scope: &Scope<'_>) -> Facts {
    let share = |is: &dyn Fn(&Trial) -> Option<bool>| {
        let verdicts: Vec<bool> = trials.iter().filter_map(|trial| is(trial)).collect();
        let n_yes = verdicts.iter().filter(|yes| **yes).count();
        wilson(n_yes, verdicts.len(), scope.confidence)
    };
    let right_if = |is: bool, trial: &Trial| if is { trial.is_correct() } else { None };
    let verdicts: Vec<TimingVerdict> = trials.iter().filter_map(|trial| trial.timing).collect();
    let timing = TimingVerdict::WORDS
        .iter()
        .filter_map(|(_, verdict)| {
            let n = verdicts.iter().filter(|found| *found == verdict).count();
            let share = wilson(n, verdicts.len(), scope.confidence)?;
            Some(TimingShare { verdict: *verdict, share })
        })
        .collect();
    let at_longest = |trial: &Trial| scope.longest.is_some() && trial.exposure == scope.longest;
    Facts {
        n_trials: trials.len(),
        accuracy: share(&Trial::is_correct),
        catch_accuracy: share(&|trial| right_if(is_catch(trial), trial)),
        accuracy_at_longest: share(&|trial| right_if(at_longest(trial), trial)),
        rt: rt_facts(trials, scope),
        timeouts: share(&|trial| scope.has_responses.then_some(trial.response.is_none())),
        timing,
        response_entropy: response_entropy(trials, scope.confidence),
        n_repeated: exclusion::n_repeated(trials),
        n_duplicates: n_duplicates(trials),
    }
}

fn rt_facts(trials: &[&Trial], scope: &Scope<'_>) -> Option<RtFacts> {
    let mut times: Vec<f64> = trials.iter().filter_map(|trial| Some(trial.rt()?.value())).collect();
    times.sort_unstable_by(f64::total_cmp);
    let n = times.len();
    let share = |is: &dyn Fn(f64) -> bool| {
        wilson(times.iter().filter(|time| is(**time)).count(), n, scope.confidence)
    };
    let (min, max) = (scope.limits.min_rt.value(), scope.limits.max_rt.value());
    let too_fast = share(&|time| time < min)?;
    let too_slow = share(&|time| max < time)?;
    let mut logs: Vec<f64> = times.iter().filter(|time| 0.0 < **time).map(|t| t.ln()).collect();
    let outliers = (!logs.is_empty())
        .then(|| centre_and_spread(&mut logs))
        .filter(|(_, spread)| 0.0 < *spread)
        .and_then(|(centre, spread)| {
            let is_far = |log: &&f64| OUTLIER_SDS * spread < (**log - centre).abs();
            wilson(logs.iter().filter(is_far).count(), logs.len(), scope.confidence)
        });
    let at = |p| Millis::new(sorted_quantile(&times, p));
    Some(RtFacts {
        n,
        p05: at(0.05)?,
        p25: at(0.25)?,
        median: at(0.5)?,
        p75: at(0.75)?,
        p95: at(0.95)?,
        too_fast,
        too_slow,
        outliers,
    })
}

fn response_entropy(trials: &[&Trial], confidence: f64) -> Option<Estimate> {
    let counts = response_counts(trials);
    let counts: Vec<usize> = counts.values().copied().collect();
    let (bits, error) = entropy(&counts)?;
    let reach = normal_quantile(0.5 + confidence / 2.0) * error;
    let n = counts.iter().sum();
    Estimate::new(bits, (bits - reach).max(0.0), bits + reach, confidence, n)
}

fn response_counts<'a>(trials: &[&'a Trial]) -> BTreeMap<&'a Label, usize> {
    let mut counts = BTreeMap::new();
    for response in trials.iter().filter_map(|trial| trial.response.as_ref()) {
        *counts.entry(response).or_default() += 1;
    }
    counts
}

/// Returns the longest run of one answer; trials must be in the order they were shown.
pub(super) fn streak(trials: &[&Trial], scope: &Scope<'_>) -> Option<Streak> {
    if !scope.has_responses {
        return None;
    }
    let responses: Vec<Option<&Label>> =
        trials.iter().map(|trial| trial.response.as_ref()).collect();
    let (response, length) = longest_run(&responses)?;
    let n = trials.len();
    let rates: Vec<f64> =
        response_counts(trials).values().map(|count| real(*count) / real(n)).collect();
    let labels: Vec<Option<&Label>> = trials.iter().map(|trial| trial.label.as_ref()).collect();
    Some(Streak {
        response: response.clone(),
        length,
        p_value: p_of_run(&rates, n, length),
        longest_of_labels: longest_run(&labels).map(|(_, length)| length),
    })
}

/// Counts trials that say the same as another, when and where included. Trials that do not say when
/// they were may be honest repeats and do not count.
fn n_duplicates(trials: &[&Trial]) -> usize {
    let mut seen = BTreeSet::new();
    trials
        .iter()
        .filter(|trial| trial.idx.is_some() || trial.responded.is_some())
        .filter(|trial| {
            let what = (
                exclusion::person(trial),
                &trial.session,
                &trial.stimulus,
                &trial.block,
                &trial.condition,
                &trial.response,
            );
            let when = (trial.idx, trial.exposure, trial.beep, trial.onset, trial.responded);
            !seen.insert((what, when))
        })
        .count()
}

/// Returns which evidence is there.
pub(super) fn recorded(trials: &[&Trial]) -> Vec<Recorded> {
    type Has = fn(&Trial) -> bool;
    let kinds: [(&str, Has); 6] = [
        ("whether answers are right", |trial| trial.is_correct().is_some()),
        ("answers", |trial| trial.response.is_some()),
        ("response times", |trial| trial.rt().is_some()),
        ("catch trials", is_catch),
        ("exposures", |trial| trial.exposure.is_some()),
        ("timing verdicts", |trial| trial.timing.is_some()),
    ];
    kinds
        .iter()
        .map(|(what, has)| Recorded {
            what: (*what).to_owned(),
            n_trials: trials.iter().filter(|trial| has(trial)).count(),
        })
        .collect()
}
