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
//! - T. C. Hesterberg (2015), "What teachers should know about the bootstrap".

use mohs_data::{Estimate, Seed};
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::erf;

use crate::draw::Draw;
use crate::human::threshold::Answer;
use crate::proportion::{real, wilson};

/// What answers about a group of stimuli say; `None` where there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupShares {
    /// Share of right answers over all exposures; n = trials.
    pub overall: Option<Estimate>,
    /// Share of right answers at each exposure; n = trials.
    pub by_exposure: Vec<Option<Estimate>>,
    /// Mean share of *wrong* answers over the stimuli, each stimulus counting the same; n =
    /// stimuli.
    pub difficulty: Option<Estimate>,
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
    /// Returns what each group says, from one pass of draws over all of them. Groups are positions
    /// of stimuli and may overlap.
    pub fn groups(&self, groups: &[Vec<usize>]) -> Vec<GroupShares> {
        let draws = self.draw(|redrawn| {
            groups.iter().flat_map(|members| self.numbers(redrawn, members)).collect()
        });
        let as_they_are =
            ByPlace::new(self).redrawn(&vec![1; self.n_participants], &vec![1; self.n_stimuli]);
        let n_numbers = self.n_exposures + 2;
        let of_draws = |idx: usize| draws.iter().filter_map(|draw| draw[idx]).collect();
        groups
            .iter()
            .enumerate()
            .map(|(group_idx, members)| {
                let first = group_idx * n_numbers;
                let values = self.numbers(&as_they_are, members);
                let places = |exposure_idx: Option<usize>| {
                    let exposures = exposure_idx.map_or(0..self.n_exposures, |idx| idx..idx + 1);
                    let stimuli = members.iter().flat_map(move |idx| {
                        exposures.clone().map(move |exposure| idx * self.n_exposures + exposure)
                    });
                    stimuli.fold((0.0, 0.0), |(n, n_right), place| {
                        (n + as_they_are.n[place], n_right + as_they_are.n_right[place])
                    })
                };
                let share = |exposure_idx: Option<usize>, number_idx: usize| {
                    let (n, n_right) = places(exposure_idx);
                    let plain = wilson(whole(n_right), whole(n), self.confidence)?;
                    Some(widened(plain, of_draws(first + number_idx)))
                };
                let difficulty = values[self.n_exposures + 1].and_then(|value| {
                    let (n, n_right) = places(None);
                    let pooled = wilson(whole(n - n_right), whole(n), self.confidence)?;
                    let (low, high) = (pooled.low.min(value), pooled.high.max(value));
                    let plain = Estimate::new(value, low, high, self.confidence, members.len())?;
                    Some(widened(plain, of_draws(first + self.n_exposures + 1)))
                });
                GroupShares {
                    overall: share(None, self.n_exposures),
                    by_exposure: (0..self.n_exposures).map(|idx| share(Some(idx), idx)).collect(),
                    difficulty,
                }
            })
            .collect()
    }

    /// Returns a group's share of right answers at each exposure, over all exposures, and its mean
    /// share of wrong answers.
    fn numbers(&self, redrawn: &Redrawn, members: &[usize]) -> Vec<Option<f64>> {
        let mut by_exposure = vec![(0.0, 0.0); self.n_exposures];
        let (mut difficulties, mut weights) = (0.0, 0.0);
        for stimulus_idx in members {
            let weight = redrawn.stimulus_weight[*stimulus_idx];
            let places = stimulus_idx * self.n_exposures..(stimulus_idx + 1) * self.n_exposures;
            let (mut n_of_all, mut n_right_of_all) = (0.0, 0.0);
            let counts = redrawn.n[places.clone()].iter().zip(&redrawn.n_right[places]);
            for ((n_total, n_right_total), (n, n_right)) in by_exposure.iter_mut().zip(counts) {
                *n_total += weight * n;
                *n_right_total += weight * n_right;
                n_of_all += n;
                n_right_of_all += n_right;
            }
            if 0.0 < n_of_all {
                difficulties += weight * (1.0 - n_right_of_all / n_of_all);
                weights += weight;
            }
        }
        let overall =
            by_exposure.iter().fold((0.0, 0.0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
        let share = |(n, n_right): (f64, f64)| (0.0 < n).then(|| n_right / n);
        let mut numbers: Vec<Option<f64>> = by_exposure.into_iter().map(share).collect();
        numbers.push(share(overall));
        numbers.push((0.0 < weights).then(|| difficulties / weights));
        numbers
    }

    /// Redraws the data and computes numbers from each draw, in parallel, in order.
    fn draw(
        &self,
        statistics: impl Fn(&Redrawn) -> Vec<Option<f64>> + Sync,
    ) -> Vec<Vec<Option<f64>>> {
        let by_place = ByPlace::new(self);
        (0..self.n_resamples)
            .into_par_iter()
            .map(|draw_idx| {
                let weights = |stream, n| {
                    let mut draw = Draw::new(self.seed, &[stream, draw_idx as u64]);
                    let mut weights = vec![0_u32; n];
                    for _ in 0..n {
                        weights[draw.below(n)] += 1;
                    }
                    weights
                };
                let participant_weight = weights(PEOPLE, self.n_participants);
                let stimulus_weight = weights(THINGS, self.n_stimuli);
                statistics(&by_place.redrawn(&participant_weight, &stimulus_weight))
            })
            .collect()
    }
}

/// Who answered at each place (stimulus and exposure), those who were wrong first. Laid out so that
/// a redraw reads it from front to back.
struct ByPlace {
    participants: Vec<usize>,
    /// Where each place ends among the participants, and where its right answers begin.
    ends: Vec<(usize, usize)>,
}

impl ByPlace {
    fn new(data: &Pigeonhole<'_>) -> Self {
        let place = |answer: &Answer| answer.stimulus_idx * data.n_exposures + answer.exposure_idx;
        let mut sorted: Vec<&Answer> = data.answers.iter().collect();
        sorted.sort_unstable_by_key(|answer| (place(answer), answer.is_right));
        let mut ends = vec![(0, 0); data.n_stimuli * data.n_exposures];
        for answer in data.answers {
            let (n_wrong, n) = &mut ends[place(answer)];
            *n += 1;
            *n_wrong += usize::from(!answer.is_right);
        }
        let mut start = 0;
        for (first_right, end) in &mut ends {
            (*first_right, *end) = (start + *first_right, start + *end);
            start = *end;
        }
        Self { participants: sorted.iter().map(|answer| answer.participant_idx).collect(), ends }
    }

    /// Returns the data when participants and stimuli count as often as they were drawn.
    fn redrawn(&self, participant_weight: &[u32], stimulus_weight: &[u32]) -> Redrawn {
        let sum = |from: usize, to: usize| -> u32 {
            self.participants[from..to].iter().map(|idx| participant_weight[*idx]).sum()
        };
        let mut start = 0;
        let (n, n_right) = self
            .ends
            .iter()
            .map(|(first_right, end)| {
                let (wrong, right) = (sum(start, *first_right), sum(*first_right, *end));
                start = *end;
                (f64::from(wrong + right), f64::from(right))
            })
            .unzip();
        let stimulus_weight = stimulus_weight.iter().map(|n| f64::from(*n)).collect();
        Redrawn { stimulus_weight, n, n_right }
    }
}

/// Turns a sum of counts back into a count.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of counts")]
fn whole(n: f64) -> usize {
    n as usize
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

/// Returns a number with the percentile interval of its bootstrap draws, which always holds the
/// number itself; `None` without a finite number or without draws. Draws that are not finite (a
/// redrawn data set may have no answer) do not count.
pub fn percentile(value: f64, draws: &[f64], confidence: f64, n: usize) -> Option<Estimate> {
    let mut sorted: Vec<f64> = draws.iter().copied().filter(|draw| draw.is_finite()).collect();
    if sorted.is_empty() {
        return None;
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let low = sorted_quantile(&sorted, tail).min(value);
    let high = sorted_quantile(&sorted, 1.0 - tail).max(value);
    Estimate::new(value, low, high, confidence, n)
}

/// Returns a number with the expanded percentile interval (Hesterberg 2015) of draws over
/// `n_people`: percentiles as far out as Student's quantiles for so few people and the bootstrap's
/// lack of spread, `√((n - 1) / n)`, ask for. Plain percentiles of a dozen people's draws hold the
/// truth too rarely.
pub fn percentile_of_few(
    value: f64,
    draws: &[f64],
    confidence: f64,
    n_people: usize,
    n: usize,
) -> Option<Estimate> {
    let expanded = expanded_confidence(confidence, n_people);
    let estimate = percentile(value, draws, expanded, n)?;
    Some(Estimate { confidence, ..estimate })
}

/// Returns the confidence whose percentiles make up for a sample of only `n` people.
fn expanded_confidence(confidence: f64, n: usize) -> f64 {
    let Some(student) = (2 <= n).then(|| StudentsT::new(0.0, 1.0, real(n - 1)).ok()).flatten()
    else {
        return confidence;
    };
    let z = (real(n) / real(n - 1)).sqrt() * student.inverse_cdf(0.5 + confidence / 2.0);
    // Below one, so that it stays a confidence with two people too.
    erf(z / std::f64::consts::SQRT_2).clamp(confidence, 1.0 - 1e-9)
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

    fn everything(answers: &[Answer]) -> Estimate {
        pigeonhole(answers).groups(&[(0..20).collect()])[0].overall.unwrap()
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
    fn a_percentile_interval_holds_its_number_and_leaves_out_draws_without_answer() {
        let estimate = percentile(9.0, &[1.0, f64::NAN, 2.0, 4.0, 8.0], 0.8, 7).unwrap();
        assert_eq!((estimate.value, estimate.high, estimate.n), (9.0, 9.0, 7));
        assert!((estimate.low - 1.3).abs() < 1e-12);
        assert!(percentile(1.0, &[f64::NAN], 0.95, 1).is_none());
        assert!(percentile(f64::NAN, &[1.0], 0.95, 1).is_none());
    }

    /// Golden: scipy 1.17.1, `2 * norm.cdf(sqrt(n / (n - 1)) * t.ppf(0.975, n - 1)) - 1`.
    #[test]
    fn the_fewer_the_people_the_further_out_the_percentiles() {
        for (n, expected) in [
            (5, 0.998_091_798_896),
            (8, 0.988_524_958_966),
            (12, 0.978_486_770_167),
            (45, 0.958_464_147_343),
        ] {
            assert!((expanded_confidence(0.95, n) - expected).abs() < 1e-7, "{n}");
        }
        assert!((expanded_confidence(0.95, 1) - 0.95).abs() < 1e-12);
        assert!((expanded_confidence(0.95, 100_000) - 0.95).abs() < 1e-5);
    }

    #[test]
    fn the_share_is_the_plain_share_and_the_interval_holds_it() {
        let answers = answers(15, 20);
        let n_right = answers.iter().filter(|answer| answer.is_right).count();
        let share = everything(&answers);
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
        let share = everything(&answers);
        assert!(share.low < 0.995 && (share.high - 1.0).abs() < 1e-12, "{share:?}");
    }

    #[test]
    fn a_group_without_answers_has_no_share() {
        let answers = answers(15, 20);
        let nothing = &pigeonhole(&answers).groups(&[vec![]])[0];
        assert_eq!((nothing.overall, nothing.difficulty), (None, None));
        assert_eq!(nothing.by_exposure, [None, None]);
    }

    #[test]
    fn one_thread_and_two_draw_the_same() {
        let answers = answers(15, 20);
        let run = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| everything(&answers))
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
        let share = everything(&answers);
        let plain = wilson(200, 300, 0.95).unwrap();
        assert!(2.0 * plain.half_width() < share.half_width(), "{share:?} {plain:?}");
    }
}
