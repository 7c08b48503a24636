//! Simulated beep trials: people who answer at a beep, sooner with less to go by.
//!
//! # Model
//!
//! ```text
//! P(right | rt) = g + (A - g) (1 - exp(-(rt / l)^k))       never below chance, rising to A
//! rt            = beep + lag + spread * z                  z standard normal
//! ```
//!
//! `A` is the asymptote of the condition, `l` its time scale and `k` its shape. An answer later
//! than the window after the beep is a time-out: no response.

use mohs_data::{
    Extra, Label, Millis, ParticipantId, Seed, SessionId, StimulusId, Task, Trial, TrialId,
};

use crate::draw::Draw;
use crate::proportion::real;

/// How accuracy grows with time in one condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Its name, e.g. `noise 0.04`.
    pub name: String,
    /// Accuracy with all the time in the world.
    pub asymptote: f64,
    /// Time scale of the rise.
    pub scale: Millis,
    /// Shape of the rise; larger is steeper.
    pub shape: f64,
}

impl Condition {
    /// Returns the probability of a right answer given at `rt`.
    pub fn p_right(&self, rt: Millis, guess_rate: f64) -> f64 {
        let time = (rt.value() / self.scale.value()).max(0.0);
        let rise = 1.0 - (-time.powf(self.shape)).exp();
        guess_rate + (self.asymptote - guess_rate).max(0.0) * rise
    }
}

/// People and circumstances of a simulated beep study.
#[derive(Debug, Clone)]
pub struct Setting<'a> {
    /// Conditions; each trial has one at random.
    pub conditions: &'a [Condition],
    /// Beep times, one block each.
    pub beeps: &'a [Millis],
    /// Trials per block.
    pub trials_per_block: usize,
    /// The answers to choose from.
    pub labels: &'a [Label],
    /// Participants.
    pub n_participants: usize,
    /// How far after the beep people answer, on average.
    pub lag: Millis,
    /// Spread of answers around that.
    pub spread: Millis,
    /// Time after the beep at which the trial is over.
    pub window: Millis,
    /// Seed of everything.
    pub seed: Seed,
}

const BEEP: u64 = 40;

/// Simulates all sessions; odd participants meet the blocks from slow to fast.
///
/// `stimuli` are shown in random order, each at most once per block; none when there are none.
pub fn trials(stimuli: &[(StimulusId, Label)], setting: &Setting<'_>) -> Vec<Trial> {
    if stimuli.is_empty() || setting.conditions.is_empty() {
        return Vec::new();
    }
    let mut trials = Vec::new();
    for participant_idx in 0..setting.n_participants {
        let mut draw = Draw::new(setting.seed, &[BEEP, participant_idx as u64]);
        let participant = format!("p{:03}", participant_idx + 1);
        let mut beeps = setting.beeps.to_vec();
        if participant_idx % 2 == 1 {
            beeps.reverse();
        }
        let mut idx = 0;
        for beep in beeps {
            let mut order: Vec<usize> = (0..stimuli.len()).collect();
            draw.shuffle(&mut order);
            for stimulus_idx in order.into_iter().take(setting.trials_per_block) {
                let (stimulus, label) = &stimuli[stimulus_idx];
                let shown = Shown { participant: &participant, idx, beep, stimulus, label };
                trials.push(trial(&shown, setting, &mut draw));
                idx += 1;
            }
        }
    }
    trials
}

struct Shown<'a> {
    participant: &'a str,
    idx: u64,
    beep: Millis,
    stimulus: &'a StimulusId,
    label: &'a Label,
}

fn trial(shown: &Shown<'_>, setting: &Setting<'_>, draw: &mut Draw) -> Trial {
    let condition = &setting.conditions[draw.below(setting.conditions.len())];
    let guess_rate = 1.0 / real(setting.labels.len().max(2));
    let rt = shown.beep.value() + setting.lag.value() + setting.spread.value() * draw.normal();
    let rt = Millis::new((rt.max(120.0) * 10.0).round() / 10.0);
    let last = shown.beep.value() + setting.window.value();
    let in_time = rt.filter(|rt| rt.value() <= last);
    let response = in_time.map(|rt| {
        let others: Vec<&Label> = setting.labels.iter().filter(|l| *l != shown.label).collect();
        if draw.chance(condition.p_right(rt, guess_rate)) || others.is_empty() {
            shown.label.clone()
        } else {
            others[draw.below(others.len())].clone()
        }
    });
    Trial {
        id: TrialId::new(format!("{}-{:04}", shown.participant, shown.idx)),
        session: SessionId::new(format!("{}-1", shown.participant)),
        participant: ParticipantId::new(shown.participant),
        idx: Some(shown.idx),
        block: Some(format!("beep-{}", shown.beep.value())),
        task: Task::Beep,
        stimulus: shown.stimulus.clone(),
        label: Some(shown.label.clone()),
        exposure: None,
        beep: Some(shown.beep),
        condition: Some(condition.name.clone()),
        response,
        marked_correct: None,
        onset: Millis::new(0.0),
        offset: None,
        responded: in_time,
        timing: None,
        extra: Extra::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(value: f64) -> Millis {
        Millis::new(value).unwrap()
    }

    fn simulated() -> Vec<Trial> {
        let labels: Vec<Label> = ["cat", "dog", "car", "key"].map(Label::from).to_vec();
        let stimuli: Vec<_> = (0..200)
            .map(|idx| (StimulusId::new(format!("s{idx}")), labels[idx % 4].clone()))
            .collect();
        let condition = |name: &str, asymptote| Condition {
            name: name.into(),
            asymptote,
            scale: ms(900.0),
            shape: 3.0,
        };
        let setting = Setting {
            conditions: &[condition("clear", 0.95), condition("noise", 0.5)],
            beeps: &[500.0, 900.0, 1_500.0].map(ms),
            trials_per_block: 200,
            labels: &labels,
            n_participants: 20,
            lag: ms(60.0),
            spread: ms(90.0),
            window: ms(200.0),
            seed: Seed(4),
        };
        trials(&stimuli, &setting)
    }

    fn accuracy(trials: &[Trial], beep: f64, condition: &str) -> f64 {
        let inside: Vec<&Trial> = trials
            .iter()
            .filter(|t| t.beep == Some(ms(beep)) && t.condition.as_deref() == Some(condition))
            .filter(|t| t.response.is_some())
            .collect();
        let n_right = inside.iter().filter(|t| t.is_correct() == Some(true)).count();
        real(n_right) / real(inside.len())
    }

    #[test]
    fn accuracy_rises_with_time_and_falls_with_noise() {
        let trials = simulated();
        assert_eq!(trials.len(), 20 * 3 * 200);
        let clear = [500.0, 900.0, 1_500.0].map(|beep| accuracy(&trials, beep, "clear"));
        assert!(clear[0] + 0.1 < clear[1] && clear[1] + 0.1 < clear[2], "{clear:?}");
        assert!(accuracy(&trials, 1_500.0, "noise") + 0.2 < clear[2]);
    }

    #[test]
    fn the_truth_is_recovered_where_it_is_sampled() {
        let trials = simulated();
        let expected =
            Condition { name: "clear".into(), asymptote: 0.95, scale: ms(900.0), shape: 3.0 }
                .p_right(ms(1_560.0), 0.25);
        assert!((accuracy(&trials, 1_500.0, "clear") - expected).abs() < 0.03);
    }

    #[test]
    fn late_answers_are_time_outs() {
        let trials = simulated();
        let n_late = trials.iter().filter(|trial| trial.response.is_none()).count();
        // One in about seventeen normal numbers lies beyond 1.56 spreads.
        assert!((0.04..0.08).contains(&(real(n_late) / real(trials.len()))), "{n_late}");
        assert!(trials.iter().all(|t| t.rt().is_none_or(|rt| rt <= ms(1_700.0))));
    }
}
