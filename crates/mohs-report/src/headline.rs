//! The headline: how hard is this set of stimuli, in plain sentences.
//!
//! Shared by the HTML and the text report. It counts stimuli by the counting rule and repeats
//! estimates with their intervals; it passes no judgement that the numbers do not carry.

pub(crate) mod adaptive_test;
pub(crate) mod agreement;
pub(crate) mod attacks;
pub(crate) mod item_response;
pub(crate) mod label_disagreement;
pub(crate) mod ladder;
pub(crate) mod models;
pub(crate) mod pairs;
pub(crate) mod quality;
pub(crate) mod set_comparison;
pub(crate) mod speed_accuracy;

use mohs_score::human::viewing_time::ViewingTime;

use crate::number::{Unit, count, counted};

/// Returns the answer to "how hard is this set?", one or two sentences.
pub(crate) fn answer(found: &ViewingTime) -> String {
    // A summary is read from a file, which may claim anything.
    let total = found.bands.iter().fold(0_usize, |sum, band| sum.saturating_add(band.n_stimuli));
    if total == 0 {
        return "No stimulus has a trial that counts, so its difficulty is not known.".into();
    }
    let n_never = found
        .bands
        .iter()
        .filter(|finding| finding.band.mvt.is_none())
        .fold(0_usize, |sum, finding| sum.saturating_add(finding.n_stimuli));
    match half(found, total) {
        Some((sentence, n_within)) if n_within == total => sentence,
        Some((sentence, _)) => format!("{sentence} {}", rest(found, n_never)),
        None => hardly_any(found, total, n_never),
    }
}

/// Returns the sentence on the exposure that is enough for half of the stimuli, and for how many
/// it is; `None` when no exposure is.
fn half(found: &ViewingTime, total: usize) -> Option<(String, usize)> {
    let mut n_within = 0;
    for finding in &found.bands {
        n_within += finding.n_stimuli;
        let mvt = finding.band.mvt?;
        if total <= 2 * n_within {
            let which = match (n_within, total) {
                (_, 1) => "the one stimulus".into(),
                (n, total) if n == total => format!("all {} stimuli", count(total)),
                (n, total) => format!("{} of {} stimuli", count(n), count(total)),
            };
            let sentence = if finding.band.idx == 0 {
                format!("People recognise {which} even at the shortest exposure tested, {mvt}.")
            } else {
                format!("People need no more than {mvt} to recognise {which}.")
            };
            return Some((sentence, n_within));
        }
    }
    None
}

/// Returns the sentence on those that need longer than most.
fn rest(found: &ViewingTime, n_never: usize) -> String {
    match n_never {
        0 => format!("All are recognised{}.", longest(found, " by")),
        n => format!(
            "{} {} never recognised reliably{}.",
            count(n),
            was(n),
            longest(found, ", not even after")
        ),
    }
}

/// Returns the sentence for a set of which most were not recognised.
fn hardly_any(found: &ViewingTime, total: usize, n_never: usize) -> String {
    let even = longest(found, ", not even after");
    match (total.saturating_sub(n_never), total) {
        (0, 1) => format!("The one stimulus was not recognised reliably{even}."),
        (0, total) => {
            format!("None of the {} stimuli was recognised reliably{even}.", count(total))
        }
        (n, total) => format!(
            "Only {} of {} stimuli {} recognised reliably at some exposure; {} {} not{even}.",
            count(n),
            count(total),
            was(n),
            count(n_never),
            was(n_never)
        ),
    }
}

fn longest(found: &ViewingTime, before: &str) -> String {
    found.exposures.last().map(|longest| format!("{before} {longest}")).unwrap_or_default()
}

fn was(n: usize) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

/// Returns the sentence on right answers, from the shortest to the longest exposure.
pub(crate) fn right_answers(found: &ViewingTime) -> String {
    let overall = format!(
        "Over all exposures {} of {} {} right",
        Unit::Share.estimate(&found.accuracy),
        counted(found.accuracy.n, "answer", "answers"),
        was(found.accuracy.n)
    );
    match found.accuracy_by_exposure.as_slice() {
        [first, .., last] => format!(
            "{overall}: {} at {} and {} at {}.",
            Unit::Share.estimate(&first.accuracy),
            first.exposure,
            Unit::Share.estimate(&last.accuracy),
            last.exposure
        ),
        _ => format!("{overall}."),
    }
}

/// Returns what stands behind the numbers: `6400 trials of 32 participants on 160 stimuli`.
pub(crate) fn basis(found: &ViewingTime) -> String {
    format!(
        "{} of {} on {}",
        counted(found.n_trials, "trial", "trials"),
        counted(found.n_participants, "participant", "participants"),
        counted(found.n_stimuli, "stimulus", "stimuli")
    )
}
