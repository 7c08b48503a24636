//! Resampling participants and stimuli: intervals for shares that hold for other people and
//! other stimuli, not just for these.
//!
//! # Method
//!
//! The pigeonhole bootstrap (Owen 2007): draw participants with replacement and, independently,
//! stimuli with replacement; a trial counts as often as its participant times its stimulus was
//! drawn. Both are random effects, so both must vary. A share's interval is the percentile
//! interval of its draws, widened where Wilson's is wider: when everybody is right the draws
//! cannot vary, and certainty would be a lie.
//!
//! # References
//!
//! - A. B. Owen (2007), "The pigeonhole bootstrap".

use mohs_data::{Estimate, Seed};
use rayon::prelude::*;

use crate::draw::Draw;
use crate::human::threshold::Answer;
use crate::proportion::{real, wilson};

/// A set of answers a share is taken of, as groups of stimuli × exposures.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Whether each stimulus belongs to it.
    pub stimuli: Vec<bool>,
    /// The exposure it is limited to.
    pub exposure_idx: Option<usize>,
}

/// The answers and how often to redraw them.
#[derive(Debug)]
pub struct Pigeonhole<'a> {
    /// The answers.
    pub answers: &'a [Answer],
    /// Number of stimuli.
    pub n_stimuli: usize,
    /// Number of participants.
    pub n_participants: usize,
    /// Number of exposures.
    pub n_exposures: usize,
    /// Draws.
    pub n_resamples: usize,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Seed of the draws.
    pub seed: Seed,
}

const PEOPLE: u64 = 30;
const THINGS: u64 = 31;

/// One redrawn data set: weighted trials and right answers by stimulus and exposure.
struct Redrawn {
    stimulus_weight: Vec<f64>,
    n: Vec<f64>,
    n_right: Vec<f64>,
}

impl Pigeonhole<'_> {
    /// Returns the share of right answers in each cell; `None` where there is no answer.
    pub fn shares(&self, cells: &[Cell]) -> Vec<Option<Estimate>> {
        let members: Vec<Vec<usize>> = cells
            .iter()
            .map(|cell| (0..self.n_stimuli).filter(|idx| cell.stimuli[*idx]).collect())
            .collect();
        let draws = self.draw(|redrawn| {
            cells
                .iter()
                .zip(&members)
                .map(|(cell, members)| {
                    let (mut n, mut n_right) = (0.0, 0.0);
                    self.each_place(cell, members, |stimulus_idx, place| {
                        let weight = redrawn.stimulus_weight[stimulus_idx];
                        n += weight * redrawn.n[place];
                        n_right += weight * redrawn.n_right[place];
                    });
                    (0.0 < n).then(|| n_right / n)
                })
                .collect()
        });
        let (n, n_right) = self.counts();
        cells
            .iter()
            .zip(&members)
            .enumerate()
            .map(|(idx, (cell, members))| {
                let (mut n_trials, mut n_correct) = (0, 0);
                self.each_place(cell, members, |_, place| {
                    n_trials += n[place];
                    n_correct += n_right[place];
                });
                let plain = wilson(n_correct, n_trials, self.confidence)?;
                Some(widened(plain, draws.iter().filter_map(|draw| draw[idx]).collect()))
            })
            .collect()
    }

    /// Returns the mean share of *wrong* answers over the stimuli of each group, each stimulus
    /// counting the same; `None` for a group without answers. Widened, where Wilson's interval of
    /// all the group's answers is wider.
    pub fn mean_difficulties(&self, groups: &[Vec<bool>]) -> Vec<Option<Estimate>> {
        let members: Vec<Vec<usize>> = groups
            .iter()
            .map(|group| (0..self.n_stimuli).filter(|idx| group[*idx]).collect())
            .collect();
        let mean = |members: &[usize], of: &dyn Fn(usize) -> Option<(f64, f64)>| {
            let (mut total, mut weights) = (0.0, 0.0);
            for stimulus_idx in members {
                if let Some((weight, difficulty)) = of(*stimulus_idx) {
                    total += weight * difficulty;
                    weights += weight;
                }
            }
            (0.0 < weights).then(|| total / weights)
        };
        let draws = self.draw(|redrawn| {
            let of = |stimulus_idx: usize| {
                let places = self.places(stimulus_idx);
                let n: f64 = redrawn.n[places.clone()].iter().sum();
                let n_right: f64 = redrawn.n_right[places].iter().sum();
                (0.0 < n).then(|| (redrawn.stimulus_weight[stimulus_idx], 1.0 - n_right / n))
            };
            members.iter().map(|members| mean(members, &of)).collect()
        });
        let (n, n_right) = self.counts();
        members
            .iter()
            .enumerate()
            .map(|(idx, members)| {
                let of = |stimulus_idx: usize| {
                    let n: usize = n[self.places(stimulus_idx)].iter().sum();
                    let n_right: usize = n_right[self.places(stimulus_idx)].iter().sum();
                    (0 < n).then(|| (1.0, 1.0 - real(n_right) / real(n)))
                };
                let value = mean(members, &of)?;
                let of_group = |counts: &[usize]| -> usize {
                    members.iter().flat_map(|idx| &counts[self.places(*idx)]).sum()
                };
                let n_trials = of_group(&n);
                let pooled = wilson(n_trials - of_group(&n_right), n_trials, self.confidence)?;
                let (low, high) = (pooled.low.min(value), pooled.high.max(value));
                let plain = Estimate::new(value, low, high, self.confidence, members.len())?;
                Some(widened(plain, draws.iter().filter_map(|draw| draw[idx]).collect()))
            })
            .collect()
    }

    fn places(&self, stimulus_idx: usize) -> std::ops::Range<usize> {
        stimulus_idx * self.n_exposures..(stimulus_idx + 1) * self.n_exposures
    }

    fn each_place(&self, cell: &Cell, members: &[usize], mut visit: impl FnMut(usize, usize)) {
        for stimulus_idx in members {
            match cell.exposure_idx {
                Some(exposure_idx) => {
                    visit(*stimulus_idx, stimulus_idx * self.n_exposures + exposure_idx);
                }
                None => self.places(*stimulus_idx).for_each(|place| visit(*stimulus_idx, place)),
            }
        }
    }

    fn counts(&self) -> (Vec<usize>, Vec<usize>) {
        let mut n = vec![0; self.n_stimuli * self.n_exposures];
        let mut n_right = n.clone();
        for answer in self.answers {
            let place = answer.stimulus_idx * self.n_exposures + answer.exposure_idx;
            n[place] += 1;
            n_right[place] += usize::from(answer.is_right);
        }
        (n, n_right)
    }

    /// Redraws the data and computes numbers from each draw, in parallel, in order.
    fn draw(
        &self,
        statistics: impl Fn(&Redrawn) -> Vec<Option<f64>> + Sync,
    ) -> Vec<Vec<Option<f64>>> {
        (0..self.n_resamples)
            .into_par_iter()
            .map(|draw_idx| {
                let weights = |stream, n| {
                    let mut draw = Draw::new(self.seed, &[stream, draw_idx as u64]);
                    let mut weights = vec![0.0; n];
                    for _ in 0..n {
                        weights[draw.below(n)] += 1.0;
                    }
                    weights
                };
                let participant_weight = weights(PEOPLE, self.n_participants);
                let stimulus_weight = weights(THINGS, self.n_stimuli);
                let mut n = vec![0.0; self.n_stimuli * self.n_exposures];
                let mut n_right = n.clone();
                for answer in self.answers {
                    let place = answer.stimulus_idx * self.n_exposures + answer.exposure_idx;
                    let weight = participant_weight[answer.participant_idx];
                    n[place] += weight;
                    n_right[place] += if answer.is_right { weight } else { 0.0 };
                }
                statistics(&Redrawn { stimulus_weight, n, n_right })
            })
            .collect()
    }
}

/// Widens an interval to hold the middle of the draws.
fn widened(plain: Estimate, mut draws: Vec<f64>) -> Estimate {
    if draws.is_empty() {
        return plain;
    }
    draws.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - plain.confidence) / 2.0;
    let low = plain.low.min(sorted_quantile(&draws, tail));
    let high = plain.high.max(sorted_quantile(&draws, 1.0 - tail));
    Estimate { low, high, ..plain }
}

/// Returns the point of sorted numbers below which `p` of them lie, between neighbours linearly
/// (type 7 of Hyndman and Fan 1996). `sorted` must not be empty.
pub(crate) fn sorted_quantile(sorted: &[f64], p: f64) -> f64 {
    let place = p.clamp(0.0, 1.0) * real(sorted.len() - 1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the length"
    )]
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - real(below)) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(n_participants: usize, n_stimuli: usize) -> Vec<Answer> {
        let mut draw = Draw::new(Seed(3), &[9]);
        (0..n_participants * n_stimuli)
            .map(|idx| Answer {
                stimulus_idx: idx % n_stimuli,
                exposure_idx: idx % 2,
                participant_idx: idx / n_stimuli,
                is_right: draw.chance(0.7),
            })
            .collect()
    }

    fn pigeonhole(answers: &[Answer]) -> Pigeonhole<'_> {
        Pigeonhole {
            answers,
            n_stimuli: 20,
            n_participants: 15,
            n_exposures: 2,
            n_resamples: 400,
            confidence: 0.95,
            seed: Seed(1),
        }
    }

    fn everything() -> Vec<Cell> {
        vec![Cell { stimuli: vec![true; 20], exposure_idx: None }]
    }

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy 2.3: np.quantile([1, 2, 4, 8], [0.1, 0.5, 0.975])
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (p, value) in [(0.1, 1.3), (0.5, 3.0), (0.975, 7.7)] {
            assert!((sorted_quantile(&sorted, p) - value).abs() < 1e-12);
        }
    }

    #[test]
    fn the_share_is_the_plain_share_and_the_interval_holds_it() {
        let answers = answers(15, 20);
        let n_right = answers.iter().filter(|answer| answer.is_right).count();
        let share = pigeonhole(&answers).shares(&everything())[0].unwrap();
        assert!((share.value - real(n_right) / 300.0).abs() < 1e-12);
        assert!(share.low < share.value && share.value < share.high);
        assert_eq!(share.n, 300);
    }

    #[test]
    fn certainty_is_never_claimed() {
        let mut answers = answers(15, 20);
        for answer in &mut answers {
            answer.is_right = true;
        }
        let share = pigeonhole(&answers).shares(&everything())[0].unwrap();
        assert!(share.low < 0.995 && (share.high - 1.0).abs() < 1e-12, "{share:?}");
    }

    #[test]
    fn a_cell_without_answers_has_no_share() {
        let answers = answers(15, 20);
        let nobody = Cell { stimuli: vec![false; 20], exposure_idx: None };
        assert!(pigeonhole(&answers).shares(&[nobody])[0].is_none());
    }

    #[test]
    fn one_thread_and_two_draw_the_same() {
        let answers = answers(15, 20);
        let run = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| pigeonhole(&answers).shares(&everything()))
        };
        assert_eq!(run(1), run(2));
    }

    /// Participants who differ must widen the interval beyond Wilson's, which takes answers for
    /// independent.
    #[test]
    fn people_who_differ_widen_the_interval() {
        let mut answers = answers(15, 20);
        for answer in &mut answers {
            answer.is_right = answer.participant_idx % 3 != 0;
        }
        let share = pigeonhole(&answers).shares(&everything())[0].unwrap();
        let plain = wilson(200, 300, 0.95).unwrap();
        assert!(2.0 * plain.half_width() < share.half_width(), "{share:?} {plain:?}");
    }
}
