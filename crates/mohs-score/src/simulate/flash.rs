//! Simulated flash trials: who sees what for how long, and what they answer.

use mohs_data::{
    Extra, FlashDesign, Label, Millis, ParticipantId, Seed, SessionId, StimulusId, Task,
    TimingVerdict, Trial, TrialId,
};

use super::truth::{TrueParticipant, TrueStimulus, Truth};
use crate::draw::Draw;

/// A stimulus as simulated people meet it.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Its id.
    pub stimulus: StimulusId,
    /// The right answer.
    pub label: Label,
    /// Its truth.
    pub truth: TrueStimulus,
}

/// People and circumstances of a simulated study.
#[derive(Debug, Clone)]
pub struct Setting<'a> {
    /// The world.
    pub truth: &'a Truth,
    /// Who sees what for how long.
    pub design: &'a FlashDesign,
    /// The answers to choose from.
    pub labels: &'a [Label],
    /// Share of participants who leave half-way.
    pub drop_out: f64,
    /// Share of trials whose exposure went wrong on screen.
    pub bad_timing: f64,
    /// Seed of everything.
    pub seed: Seed,
}

/// One planned showing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) stimulus_idx: usize,
    pub(crate) exposure_idx: usize,
}

const PLAN: u64 = 10;
const SESSION: u64 = 11;

/// Deals showings to participants: each stimulus at each exposure as often as the design says,
/// nobody sees a stimulus twice, exposures are mixed evenly within a participant.
pub(crate) fn deal(n_stimuli: usize, design: &FlashDesign, seed: Seed) -> Vec<Vec<Planned>> {
    let n_exposures = design.exposures_ms.len();
    let mut hands = Vec::new();
    for replicate in 0..design.participants_per_cell {
        let mut draw = Draw::new(seed, &[PLAN, replicate as u64]);
        // One order per replicate: its participants, one per shift, see the same stimuli at
        // shifted exposures, so that every cell is filled exactly once.
        let mut order: Vec<usize> = (0..n_stimuli).collect();
        draw.shuffle(&mut order);
        for chunk in order.chunks(design.trials_per_participant) {
            let mut offsets: Vec<usize> = (0..chunk.len()).collect();
            draw.shuffle(&mut offsets);
            for shift in 0..n_exposures {
                let mut hand: Vec<Planned> = chunk
                    .iter()
                    .zip(&offsets)
                    .map(|(stimulus_idx, offset)| Planned {
                        stimulus_idx: *stimulus_idx,
                        exposure_idx: (offset + shift) % n_exposures,
                    })
                    .collect();
                draw.shuffle(&mut hand);
                hands.push(hand);
            }
        }
    }
    hands
}

/// Simulates the trials of a whole study, participant by participant.
pub fn trials(shown: &[Shown], setting: &Setting<'_>) -> Vec<Trial> {
    let hands = deal(shown.len(), setting.design, setting.seed);
    let mut trials = Vec::new();
    for (participant_idx, hand) in hands.iter().enumerate() {
        let participant = setting.truth.participant(setting.seed, participant_idx);
        let mut draw = Draw::new(setting.seed, &[SESSION, participant_idx as u64]);
        let n_done =
            if draw.chance(setting.drop_out) { draw.below(hand.len()) + 1 } else { hand.len() };
        let mut clock = 4_000.0 + 3_000.0 * draw.uniform();
        for (idx, planned) in hand.iter().take(n_done).enumerate() {
            let place = Place { participant_idx, idx };
            let shown = &shown[planned.stimulus_idx];
            let exposure = setting.design.exposures_ms[planned.exposure_idx];
            let trial =
                trial(shown, exposure, &participant, setting, &place, &mut clock, &mut draw);
            trials.push(trial);
        }
    }
    trials
}

/// Where in the study a trial is.
struct Place {
    participant_idx: usize,
    idx: usize,
}

fn trial(
    shown: &Shown,
    exposure: Millis,
    participant: &TrueParticipant,
    setting: &Setting<'_>,
    place: &Place,
    clock: &mut f64,
    draw: &mut Draw,
) -> Trial {
    let n_labels = setting.labels.len().max(2);
    let guess_rate = 1.0 / crate::proportion::real(n_labels);
    let frame = 1_000.0 / 60.0;
    let timing =
        if draw.chance(setting.bad_timing) { TimingVerdict::Long } else { TimingVerdict::Ok };
    let late = if timing == TimingVerdict::Long { frame } else { 0.0 };
    let shown_ms = (exposure.value() / frame).round().max(1.0) * frame + late;
    let p_right = setting.truth.p_right(&shown.truth, participant, exposure, guess_rate);
    let is_right = draw.chance(p_right);
    let response = if is_right { shown.label.clone() } else { wrong_label(shown, setting, draw) };
    // People answer sooner when sure; a log-normal with a floor is the usual shape.
    let ln_median = if is_right { 7.3 } else { 7.7 };
    let thinking = 250.0 + (ln_median + 0.45 * draw.normal()).exp();
    let thinking = if participant.is_careless { thinking / 6.0 } else { thinking };
    let onset = *clock + setting.design.fixation_ms.value();
    let offset = onset + shown_ms;
    let responded = offset + setting.design.mask_ms.value() + thinking;
    *clock = responded + 400.0;
    let tenths = |ms: f64| Millis::new((ms * 10.0).round() / 10.0);
    let participant_id = format!("p{:04}", place.participant_idx + 1);
    Trial {
        id: TrialId::new(format!("{participant_id}-{:03}", place.idx)),
        session: SessionId::new(format!("{participant_id}-1")),
        participant: ParticipantId::new(participant_id),
        idx: Some(place.idx as u64),
        block: None,
        task: Task::Flash,
        stimulus: shown.stimulus.clone(),
        label: Some(shown.label.clone()),
        exposure: Some(exposure),
        beep: None,
        condition: None,
        response: Some(response),
        marked_correct: None,
        onset: tenths(onset),
        offset: tenths(offset),
        responded: tenths(responded),
        timing: Some(timing),
        extra: Extra::default(),
    }
}

fn wrong_label(shown: &Shown, setting: &Setting<'_>, draw: &mut Draw) -> Label {
    let others: Vec<&Label> = setting.labels.iter().filter(|l| **l != shown.label).collect();
    match others.len() {
        0 => Label::new("none of these"),
        n => others[draw.below(n)].clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_cell_is_filled_as_often_as_the_design_says_and_nobody_sees_a_stimulus_twice() {
        let design = FlashDesign { participants_per_cell: 3, ..FlashDesign::default() };
        let hands = deal(73, &design, Seed(5));
        let mut cells: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for hand in &hands {
            let mut seen: Vec<usize> = hand.iter().map(|planned| planned.stimulus_idx).collect();
            for planned in hand {
                *cells.entry((planned.stimulus_idx, planned.exposure_idx)).or_default() += 1;
            }
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), hand.len());
        }
        assert_eq!(cells.len(), 73 * 6);
        assert!(cells.values().all(|n| *n == 3));
    }

    #[test]
    fn exposures_are_mixed_within_a_participant() {
        for hand in deal(100, &FlashDesign::default(), Seed(5)) {
            let mut n_by_exposure = [0_usize; 6];
            for planned in &hand {
                n_by_exposure[planned.exposure_idx] += 1;
            }
            assert!(n_by_exposure.iter().all(|n| (8..=9).contains(n)), "{n_by_exposure:?}");
        }
    }
}
