//! The headline: how hard is this set of stimuli, in plain sentences.
//!
//! Shared by the HTML and the text report. It counts stimuli by the counting rule and repeats
//! estimates with their intervals; it passes no judgement that the numbers do not carry.

use mohs_score::human::viewing_time::ViewingTime;

use crate::number::{Unit, count, counted};

/// Returns the answer to "how hard is this set?", one or two sentences.
pub(crate) fn answer(found: &ViewingTime) -> String {
    let total: usize = found.bands.iter().map(|band| band.n_stimuli).sum();
    if total == 0 {
        return "No stimulus has a trial that counts, so its difficulty is not known.".into();
    }
    let sentences = [half(found, total), never(found, total)];
    sentences.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(" ")
}

/// Returns the sentence on the exposure that is enough for half of the stimuli.
fn half(found: &ViewingTime, total: usize) -> String {
    let mut n_within = 0;
    for finding in &found.bands {
        n_within += finding.n_stimuli;
        let Some(mvt) = finding.band.mvt else { break };
        if total <= 2 * n_within {
            let (n, total) = (count(n_within), counted(total, "stimulus", "stimuli"));
            return if finding.band.idx == 0 {
                format!(
                    "People recognise {n} of {total} even at the shortest exposure tested, {mvt}."
                )
            } else {
                format!("People need no more than {mvt} to recognise {n} of {total}.")
            };
        }
    }
    "Fewer than half of the stimuli were recognised at any exposure.".into()
}

fn never(found: &ViewingTime, total: usize) -> String {
    let n_never: usize = found
        .bands
        .iter()
        .filter(|finding| finding.band.mvt.is_none())
        .map(|finding| finding.n_stimuli)
        .sum();
    let n_first = found.bands.first().map_or(0, |finding| finding.n_stimuli);
    match (n_never, found.exposures.last()) {
        // The first sentence has said it already.
        (0, _) if n_first == total => String::new(),
        (0, Some(longest)) => format!("All are recognised by {longest}."),
        (0, None) => "All are recognised.".into(),
        (n, Some(longest)) if n == total => {
            format!("None was recognised reliably, not even after {longest}.")
        }
        (n, Some(longest)) => {
            let were = if n == 1 { "was" } else { "were" };
            format!("{} {were} never recognised reliably, not even after {longest}.", count(n))
        }
        (n, None) => format!("{} of {} were never recognised.", count(n), count(total)),
    }
}

/// Returns the sentence on right answers, from the shortest to the longest exposure.
pub(crate) fn right_answers(found: &ViewingTime) -> String {
    let overall = format!(
        "Over all exposures {} of {} were right",
        Unit::Share.estimate(&found.accuracy),
        counted(found.accuracy.n, "answer", "answers")
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
