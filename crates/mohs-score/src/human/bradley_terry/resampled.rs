//! Redrawing people: what difficulties would be if other participants of the same kind had come.
//!
//! Each draw takes participants with replacement, with all their judgements, and fits anew by the
//! same rules, starting from the fit of the data. Where only one participant is named, judgements
//! are drawn instead (Poisson weights). A stimulus that a draw leaves without judgements has no
//! difficulty there.

use mohs_data::Seed;
use rayon::prelude::*;

use super::collected::{Collected, Counted};
use super::findings::Resampled;
use super::fit::Fit;
use super::model::Rules;
use crate::draw::Draw;
use crate::proportion::real;

const PEOPLE: u64 = 60;
/// Mean from which a Poisson number is drawn as a rounded normal one.
const MANY: f64 = 30.0;

/// Draws, in order.
pub(super) struct Draws {
    /// Difficulty of each stimulus in each draw; not a number where there is no answer.
    pub(super) difficulties: Vec<Vec<f64>>,
    /// Weight of each participant in each draw; empty when judgements are drawn.
    pub(super) participant_weights: Vec<Vec<f64>>,
    /// Draws in which some component was separated that is not so in the data.
    pub(super) n_separated: usize,
}

/// Returns what can be drawn anew.
pub(super) fn unit(data: &Collected<'_>) -> Resampled {
    if data.participants.len() < 2 { Resampled::Judgements } else { Resampled::Participants }
}

/// Draws anew and fits, in parallel, in order.
pub(super) fn draw(
    data: &Collected<'_>,
    counted: &Counted,
    rules: &Rules,
    start: &Fit,
    was_separated: &[bool],
    n_resamples: usize,
    seed: Seed,
) -> Draws {
    let unit = unit(data);
    let drawn: Vec<(Vec<f64>, Vec<f64>, bool)> = (0..n_resamples)
        .into_par_iter()
        .map(|draw_idx| {
            let mut draw = Draw::new(seed, &[PEOPLE, draw_idx as u64]);
            let (participant_weights, tallies) = match unit {
                Resampled::Participants => {
                    let n = data.participants.len();
                    let mut weights = vec![0.0; n];
                    for _ in 0..n {
                        weights[draw.below(n)] += 1.0;
                    }
                    let tallies = counted.tallies(data, |_, j| weights[j.participant]);
                    (weights, tallies)
                }
                Resampled::Judgements => {
                    let weights: Vec<f64> = data
                        .judgements
                        .iter()
                        .map(|judgement| {
                            let count = real(judgement.count);
                            poisson(&mut draw, count) / count
                        })
                        .collect();
                    (Vec::new(), counted.tallies(data, |idx, _| weights[idx]))
                }
            };
            let mut ready = rules.apply(&counted.network, tallies);
            let is_separated =
                ready.is_separated.iter().zip(was_separated).any(|(now, was)| *now && !*was);
            let has_answer = ready.has_answer(&counted.network);
            let difficulty = match ready.fit(&counted.network, Some(start)) {
                Ok(fit) => fit
                    .difficulty
                    .iter()
                    .zip(has_answer)
                    .map(|(d, has)| if has { *d } else { f64::NAN })
                    .collect(),
                Err(_) => vec![f64::NAN; data.stimuli.len()],
            };
            (difficulty, participant_weights, is_separated)
        })
        .collect();
    let n_separated = drawn.iter().filter(|(_, _, is_separated)| *is_separated).count();
    let (difficulties, participant_weights) =
        drawn.into_iter().map(|(difficulty, weights, _)| (difficulty, weights)).unzip();
    Draws { difficulties, participant_weights, n_separated }
}

/// Draws a Poisson number (Knuth 1969; a rounded normal number where the mean is large).
fn poisson(draw: &mut Draw, mean: f64) -> f64 {
    if MANY <= mean {
        return (mean + mean.sqrt() * draw.normal()).round().max(0.0);
    }
    let floor = (-mean).exp();
    let (mut product, mut n) = (draw.uniform(), 0.0);
    while floor < product {
        product *= draw.uniform();
        n += 1.0;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_numbers_have_their_mean_as_mean_and_variance() {
        for mean in [1.0, 4.0, 200.0] {
            let mut draw = Draw::new(Seed(5), &[1]);
            let sample: Vec<f64> = (0..20_000).map(|_| poisson(&mut draw, mean)).collect();
            let average = sample.iter().sum::<f64>() / 20_000.0;
            let variance = sample.iter().map(|x| (x - average).powi(2)).sum::<f64>() / 20_000.0;
            assert!((average / mean - 1.0).abs() < 0.03, "{average}");
            assert!((variance / mean - 1.0).abs() < 0.05, "{variance}");
        }
    }
}
