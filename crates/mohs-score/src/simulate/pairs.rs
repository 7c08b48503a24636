//! Simulated paired judgements: "which of these two is harder?"
//!
//! # Model
//!
//! ```text
//! P(left is called harder) = s(d_left - d_right + b),   s(z) = 1 / (1 + e^-z)
//! ```
//!
//! `d` is the true difficulty in log-odds (the Bradley–Terry scale) and `b` a bias for the left.
//! A lapse is a coin flip. Sides are balanced at random.

use mohs_data::{Comparison, Extra, Harder, ParticipantId, Seed, Sides, StimulusId, TrialId};

use crate::draw::Draw;
use crate::human::psychometric::logistic;

/// People and circumstances of a simulated comparison study.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Participants; each judges every pair once.
    pub n_participants: usize,
    /// Bias for calling the left one harder, in log-odds.
    pub left_bias: f64,
    /// Chance that a judgement is a coin flip.
    pub lapse_rate: f64,
    /// Seed of everything.
    pub seed: Seed,
}

const PAIR: u64 = 50;

/// Simulates judgements of pairs, given by position in `stimuli` with their true difficulty.
pub fn comparisons(
    stimuli: &[(StimulusId, f64)],
    pairs: &[(usize, usize)],
    setting: &Setting,
) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for participant_idx in 0..setting.n_participants {
        let mut draw = Draw::new(setting.seed, &[PAIR, participant_idx as u64]);
        let mut order = pairs.to_vec();
        draw.shuffle(&mut order);
        let participant = format!("p{:03}", participant_idx + 1);
        for (idx, (a, b)) in order.into_iter().enumerate() {
            let (left, right) = if draw.chance(0.5) { (a, b) } else { (b, a) };
            let p_left = if draw.chance(setting.lapse_rate) {
                0.5
            } else {
                logistic(stimuli[left].1 - stimuli[right].1 + setting.left_bias)
            };
            let harder = if draw.chance(p_left) { Harder::Left } else { Harder::Right };
            comparisons.push(Comparison {
                id: TrialId::new(format!("{participant}-{idx:04}")),
                participant: ParticipantId::new(&participant),
                left: stimuli[left].0.clone(),
                right: stimuli[right].0.clone(),
                harder,
                question: None,
                onset: None,
                responded: None,
                count: 1,
                sides: Sides::Shown,
                extra: Extra::default(),
            });
        }
    }
    comparisons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proportion::real;

    fn simulated(left_bias: f64) -> Vec<Comparison> {
        let stimuli = [(StimulusId::new("easy"), 0.0), (StimulusId::new("hard"), 2.0)];
        let setting = Setting { n_participants: 4_000, left_bias, lapse_rate: 0.0, seed: Seed(8) };
        comparisons(&stimuli, &[(0, 1)], &setting)
    }

    fn share(comparisons: &[Comparison], is: impl Fn(&Comparison) -> bool) -> f64 {
        real(comparisons.iter().filter(|c| is(c)).count()) / real(comparisons.len())
    }

    #[test]
    fn the_harder_stimulus_wins_as_often_as_the_model_says() {
        let called_hard = |c: &Comparison| match c.harder {
            Harder::Left => c.left.as_str() == "hard",
            _ => c.right.as_str() == "hard",
        };
        let expected = logistic(2.0);
        assert!((share(&simulated(0.0), called_hard) - expected).abs() < 0.015);
    }

    #[test]
    fn a_bias_for_the_left_shows_on_the_left() {
        let left = |c: &Comparison| c.harder == Harder::Left;
        assert!((share(&simulated(0.0), left) - 0.5).abs() < 0.03);
        assert!(0.55 < share(&simulated(1.0), left));
    }
}
