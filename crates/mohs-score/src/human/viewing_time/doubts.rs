//! Reasons for less trust in viewing-time findings.

use mohs_data::{Caveat, Caveats, StimulusId, TimingVerdict, Trial};

use super::{Collected, ExposureCount, Input, StimulusFinding};
use crate::human::threshold::Fit;
use crate::human::{exclusion, recognition};
use crate::proportion::real;

/// Trials per exposure below which the counting rule is called a coin flip.
const N_PER_EXPOSURE_WANTED: usize = 5;
/// Participants below which intervals over them are called rough.
const N_PARTICIPANTS_WANTED: usize = 10;
/// Share of trials set aside from which it is said.
const MANY_EXCLUDED: f64 = 0.2;
/// Longest exposure below which "never" may just mean "not yet".
const LONG_ENOUGH_MS: f64 = 1_000.0;

/// Returns the codes of what weakens one stimulus' numbers.
pub(super) fn of_stimulus(counts: &[ExposureCount], criterion: f64) -> Vec<String> {
    let tested: Vec<&ExposureCount> = counts.iter().filter(|count| 0 < count.n_trials).collect();
    let fewest = counts.iter().map(|count| count.n_trials).min().unwrap_or(0);
    let most = counts.iter().map(|count| count.n_trials).max().unwrap_or(0);
    let recognised: Vec<bool> =
        tested.iter().map(|count| recognition::is_recognised(count, criterion)).collect();
    let mut codes = Vec::new();
    if tested.iter().any(|count| count.n_trials < N_PER_EXPOSURE_WANTED) {
        codes.push("too-few-trials".to_owned());
    }
    if recognised.windows(2).any(|pair| pair[0] && !pair[1]) {
        codes.push("non-monotone".to_owned());
    }
    // One trial more or less is how counterbalancing ends; two is a lack of balance.
    if fewest + 1 < most {
        codes.push("unbalanced-exposures".to_owned());
    }
    codes
}

/// Adds what weakens the findings as a whole.
pub(super) fn of_everything(
    data: &Collected<'_>,
    kept: &[&Trial],
    n_read: usize,
    fit: &Fit,
    stimuli: &[StimulusFinding],
    input: &Input<'_>,
    caveats: &mut Caveats,
) {
    let with = |code: &str| -> Vec<StimulusId> {
        let has = |finding: &&StimulusFinding| finding.caveats.iter().any(|c| c == code);
        stimuli.iter().filter(has).map(|finding| finding.stimulus.clone()).collect()
    };
    let n_wanted = N_PER_EXPOSURE_WANTED;
    for caveat in [
        Caveat::TooFewTrials { stimuli: with("too-few-trials"), n_wanted },
        Caveat::NonMonotone { stimuli: with("non-monotone") },
        Caveat::UnbalancedExposures { stimuli: with("unbalanced-exposures") },
    ] {
        if !caveat.stimuli().is_empty() {
            caveats.add(caveat);
        }
    }
    if data.participants.len() < N_PARTICIPANTS_WANTED {
        caveats.add(Caveat::FewParticipants { n_participants: data.participants.len() });
    }
    let n_repeated = exclusion::n_repeated(kept);
    if 0 < n_repeated {
        caveats.add(Caveat::RepeatedStimuli { n_trials: n_repeated });
    }
    let share_excluded = 1.0 - real(kept.len()) / real(n_read);
    if MANY_EXCLUDED <= share_excluded {
        caveats.add(Caveat::ManyExclusions { share: share_excluded });
    }
    let share_of = |is: &dyn Fn(Option<TimingVerdict>) -> bool| {
        real(kept.iter().filter(|trial| is(trial.timing)).count()) / real(kept.len())
    };
    let unknown = share_of(&|timing| matches!(timing, None | Some(TimingVerdict::Unknown)));
    if 0.0 < unknown {
        caveats.add(Caveat::ExposuresNotMeasured { share: unknown });
    }
    let uneven = share_of(&|timing| {
        matches!(timing, Some(TimingVerdict::Long | TimingVerdict::Short | TimingVerdict::Dropped))
    });
    if 0.0 < uneven {
        caveats.add(Caveat::UnevenFrames { share: uneven });
    }
    if let Some(longest) = data.answers.exposures.last()
        && longest.value() < LONG_ENOUGH_MS
    {
        caveats.add(Caveat::LongestExposureShort { longest: *longest });
    }
    if data.answers.exposures.len() == 1 {
        let what = "how recognition grows with exposure: there is only one".to_owned();
        caveats.add(Caveat::NotIdentified { what });
    }
    let n_silent = input
        .stimuli
        .iter()
        .filter(|stimulus| {
            data.stimuli.binary_search_by(|known| known.id.cmp(&stimulus.id)).is_err()
        })
        .count();
    if 0 < n_silent {
        caveats.add(Caveat::StimuliWithoutTrials { n_stimuli: n_silent });
    }
    if !fit.is_settled {
        caveats.add(Caveat::FitNotConverged { n_rounds: fit.n_rounds });
    }
    caveats.add(Caveat::BandsFromSameTrials);
}
