//! The design that asks where answers vary: Neyman's allocation, from earlier rounds alone.
//!
//! # Formula
//!
//! ```text
//! n_h = k √(Σ_t q_t W_th² / V_t) S_h,    at least 2 and at most N_h
//! ```
//!
//! | symbol | meaning                                                                      |
//! |--------|------------------------------------------------------------------------------|
//! | `S_h²` | mean of `p (1 - p)` over the stratum, `p` the forecasts before the round: what a control variate leaves of the variance |
//! | `W_th` | what the stratum counts in target `t`: accuracy or score of its attribute       |
//! | `V_t`  | the target's variance under equal shares, so that neither target drowns the other |
//! | `q_t`  | how much the target counts: as much as the other, unless that would make one worse than equal shares do |
//! | `k`    | such that the budget is spent, or a requested width is reached                |
//!
//! # A requested width
//!
//! Each round asks of its strata what they take if all strata together are to give the width, by what
//! is known then of how answers vary; where the budget cannot give that, the budget is shared out.
//! Where the rounds end and the interval is wider than requested, because answers varied more than
//! was forecast, more is asked ([`super::top_up`]). Nobody looks at the estimate before the end, only at
//! how wide its interval is, so there is no stopping on a favourable look.

use super::allocation::{Want, round, smallest, spread};
use super::population::{Kind, Ladder, StrataBy};
use super::test::Width;
use super::top_up;
use crate::draw::Draw;
use crate::proportion::{normal_quantile, real};

/// Strata are never taken for more certain than this.
pub(super) const LEAST_SPREAD: f64 = 0.1;
/// What a target's variance may be of that under equal shares: a little less, because spreads are
/// forecasts.
const MOST_OF_EQUAL: f64 = 0.98;
/// Aimed at below the requested width, because the last rounds bring surprises, too.
const MARGIN: f64 = 0.98;

/// Returns the expected standard deviation of answers within each stratum, given forecasts.
pub(super) fn spreads(ladder: &Ladder, forecasts: &[f64]) -> Vec<f64> {
    let of = |stimuli: &[usize]| {
        let sum: f64 = stimuli.iter().map(|idx| forecasts[*idx] * (1.0 - forecasts[*idx])).sum();
        (sum / real(stimuli.len())).sqrt().max(LEAST_SPREAD)
    };
    ladder.strata().iter().map(|stratum| of(&stratum.stimuli)).collect()
}

/// What a round is planned from.
pub(super) struct Remaining<'a> {
    pub(super) ladder: &'a Ladder,
    /// Strata of this round.
    pub(super) now: &'a [usize],
    /// Strata of later rounds.
    pub(super) later: &'a [usize],
    /// Expected standard deviation within each stratum.
    pub(super) spreads: &'a [f64],
    /// Questions left in the budget.
    pub(super) n_left: usize,
    /// Each stratum gets at least this, or all its stimuli.
    pub(super) least: usize,
}

/// What is known of strata that were asked.
pub(super) struct Done<'a> {
    /// Questions each stratum has had.
    pub(super) n_drawn: &'a [usize],
    /// How much more answers varied within strata than was forecast, on average.
    pub(super) excess: f64,
}

impl Remaining<'_> {
    fn want(&self, idx: usize, importance: &[f64]) -> Want {
        let high = self.ladder.strata()[idx].stimuli.len();
        Want { weight: importance[idx] * self.spreads[idx], low: self.least.min(high), high }
    }

    fn least_later(&self) -> usize {
        let least = |idx: &usize| self.least.min(self.ladder.strata()[*idx].stimuli.len());
        self.later.iter().map(least).sum()
    }

    /// Spends this round's share of the budget.
    pub(super) fn by_budget(&self, draw: &mut Draw) -> Vec<usize> {
        let importance = self.balanced();
        let now: Vec<Want> = self.now.iter().map(|idx| self.want(*idx, &importance)).collect();
        let later: Vec<Want> = self.later.iter().map(|idx| self.want(*idx, &importance)).collect();
        let all: Vec<Want> = now.iter().chain(&later).copied().collect();
        let k = self.scale(&all);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count, positive and small"
        )]
        let total = if later.is_empty() { self.n_left } else { sum_at(&now, k).round() as usize };
        spread(&now, total.min(self.n_left - self.least_later().min(self.n_left)), draw)
    }

    /// `k` that spends what is left.
    fn scale(&self, wants: &[Want]) -> f64 {
        smallest(|k| real(self.n_left) <= sum_at(wants, k)).unwrap_or(1e18)
    }

    /// What one more question is worth in each stratum, but for how answers vary there: for both
    /// targets alike, unless one of them would be known less well than by equal shares.
    fn balanced(&self) -> Vec<f64> {
        let targets = Targets::new(self.ladder, self.spreads);
        let all: Vec<usize> = self.now.iter().chain(self.later).copied().collect();
        let expected = |wants: &[Want]| {
            let k = self.scale(wants);
            targets.squares.each_ref().map(|squares| {
                let of = |(idx, want): (&usize, &Want)| {
                    let spread = squares[*idx] * self.spreads[*idx] * self.spreads[*idx];
                    spread * (1.0 / want.at(k) - 1.0 / real(want.high))
                };
                all.iter().zip(wants).map(of).sum::<f64>()
            })
        };
        let equal: Vec<Want> = all
            .iter()
            .map(|idx| {
                let high = self.ladder.strata()[*idx].stimuli.len();
                Want { weight: real(high), low: self.least.min(high), high }
            })
            .collect();
        let equal = expected(&equal);
        let tried = |share: f64| {
            let importance = targets.importance(share);
            let wants: Vec<Want> = all.iter().map(|idx| self.want(*idx, &importance)).collect();
            let found = expected(&wants);
            (importance, [0, 1].map(|target| MOST_OF_EQUAL * equal[target] < found[target]))
        };
        let (mut importance, is_worse) = tried(0.5);
        let step = match is_worse {
            [true, false] => 0.1,
            [false, true] => -0.1,
            // Both or neither: no other share would mend it.
            _ => return importance,
        };
        for nth in 1..=5 {
            let is_worse;
            (importance, is_worse) = tried(0.5 + step * f64::from(nth));
            if !is_worse[usize::from(step < 0.0)] {
                break;
            }
        }
        importance
    }

    /// Asks what this round's strata take if all strata, also those that were asked before, get as
    /// little as promises the width, or what the budget gives them where that is too little. What those
    /// of earlier rounds lack then is asked after the last round.
    pub(super) fn by_width(&self, width: &Width, done: &Done, draw: &mut Draw) -> Vec<usize> {
        let z = normal_quantile(0.5 + width.confidence / 2.0);
        let wanted = (MARGIN * width.value / 2.0 / z).powi(2);
        let mut wants = vec![None; self.ladder.strata().len()];
        let mut counts = vec![0.0; self.ladder.strata().len()];
        for group in top_up::groups(self.ladder, width) {
            let member = |(idx, weight): &(usize, f64)| {
                let high = self.ladder.strata()[*idx].stimuli.len();
                let low = self.least.max(done.n_drawn[*idx]).min(high);
                let spread = (self.spreads[*idx].powi(2) + done.excess).sqrt();
                (*idx, *weight, spread, Want { weight: weight * spread, low, high })
            };
            let members: Vec<(usize, f64, f64, Want)> = group.strata.iter().map(member).collect();
            let expected = |k: f64| -> f64 {
                let of = |(_, weight, spread, want): &(usize, f64, f64, Want)| {
                    (weight * spread).powi(2) * (1.0 / want.at(k) - 1.0 / real(want.high))
                };
                members.iter().map(of).sum()
            };
            let k = smallest(|k| expected(k) <= wanted).unwrap_or(1e18);
            for (idx, _, _, want) in members {
                counts[idx] = want.at(k);
                wants[idx] = Some(want);
            }
        }
        let all: Vec<Want> = wants.iter().copied().flatten().collect();
        let n_drawn: usize = done.n_drawn.iter().sum();
        let n_all = real(n_drawn + self.n_left);
        if n_all < counts.iter().sum::<f64>() {
            let k = smallest(|k| n_all <= sum_at(&all, k)).unwrap_or(1e18);
            for (count, want) in counts.iter_mut().zip(&wants) {
                *count = want.map_or(0.0, |want| want.at(k));
            }
        }
        let now: Vec<Want> = self.now.iter().filter_map(|idx| wants[*idx]).collect();
        let exact: Vec<f64> = self.now.iter().map(|idx| counts[*idx]).collect();
        let found = round(&exact, &now, draw);
        let most = self.n_left - self.least_later().min(self.n_left);
        if found.iter().sum::<usize>() <= most { found } else { spread(&now, most, draw) }
    }
}

fn sum_at(wants: &[Want], k: f64) -> f64 {
    wants.iter().map(|want| want.at(k)).sum()
}

/// Accuracy and score of each attribute: what strata count in them.
struct Targets {
    /// `W²` by stratum, of accuracy and of score.
    squares: [Vec<f64>; 2],
    /// `V`.
    variances: [f64; 2],
}

impl Targets {
    fn new(ladder: &Ladder, spreads: &[f64]) -> Self {
        let n_groups =
            if ladder.strata_by() == StrataBy::Level { 1 } else { ladder.attributes().len() };
        let squares = [Kind::Accuracy, Kind::Score].map(|kind| {
            let mut squares = vec![0.0; ladder.strata().len()];
            let groups = (0..n_groups)
                .filter_map(|idx| ladder.group(kind, |place| place.attribute_idx == idx))
                .flat_map(|group| group.strata);
            for (idx, weight) in groups {
                squares[idx] = weight * weight;
            }
            squares
        });
        let variances = squares.each_ref().map(|squares| {
            let of = |(idx, square): (usize, &f64)| {
                square * spreads[idx] * spreads[idx] / real(ladder.strata()[idx].stimuli.len())
            };
            squares.iter().enumerate().map(of).sum()
        });
        Self { squares, variances }
    }

    /// Returns what one more question is worth in each stratum, but for how answers vary there, when
    /// accuracy counts for so much of the whole.
    fn importance(&self, share: f64) -> Vec<f64> {
        let [accuracy, score] = &self.squares;
        let [of_accuracy, of_score] = self.variances;
        // Levels may count nothing in the score.
        let part = |square: f64, of: f64| if 0.0 < of { square / of } else { 0.0 };
        let of = |(a, s): (&f64, &f64)| {
            (share * part(*a, of_accuracy) + (1.0 - share) * part(*s, of_score)).sqrt()
        };
        accuracy.iter().zip(score).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use mohs_data::Seed;

    use super::super::EstimatorKind;
    use super::super::population::Tags;
    use super::*;

    fn ladder() -> Ladder {
        let mut tags = Vec::new();
        for level in ["easy", "medium", "hard"] {
            let tag = Tags { class: "dog".into(), attribute: None, level: Some(level.into()) };
            tags.extend(vec![tag; 100]);
        }
        Ladder::new(&tags, &[]).unwrap()
    }

    /// By hand: weights 1/3 each and (1, 2, 4)/7, spreads 0.1, 0.5, 0.5. V of accuracy is
    /// (0.01 + 0.25 + 0.25)/9, of the score (0.01 + 4·0.25 + 16·0.25)/49, both over 100.
    #[test]
    fn questions_go_where_answers_vary_and_weights_are_large() {
        let ladder = ladder();
        let spreads = [0.1, 0.5, 0.5];
        let (accuracy, score) = (0.51 / 9.0, 5.01 / 49.0);
        let want = |weight: f64, spread: f64| {
            (1.0 / 9.0 / accuracy + weight * weight / 49.0 / score).sqrt() * spread
        };
        let wants = [want(1.0, 0.1), want(2.0, 0.5), want(4.0, 0.5)];
        let sum: f64 = wants.iter().sum();
        let remaining = Remaining {
            ladder: &ladder,
            now: &[0, 1, 2],
            later: &[],
            spreads: &spreads,
            n_left: 75,
            least: 2,
        };
        let found = remaining.by_budget(&mut Draw::new(Seed(1), &[]));
        assert_eq!(found.iter().sum::<usize>(), 75);
        for (found, want) in found.iter().zip(wants) {
            assert!((real(*found) - 75.0 * want / sum).abs() < 1.0, "{found} {want}");
        }
    }

    /// Each of three strata would need all of its 100 stimuli; there are 90 questions for all.
    #[test]
    fn a_width_out_of_reach_spends_the_budget_evenly() {
        let ladder = ladder();
        let remaining = Remaining {
            ladder: &ladder,
            now: &[0],
            later: &[1, 2],
            spreads: &[0.5; 3],
            n_left: 90,
            least: 2,
        };
        let done = Done { n_drawn: &[0; 3], excess: 0.0 };
        let width = Width {
            value: 0.01,
            confidence: 0.95,
            by_attribute: false,
            estimator: EstimatorKind::ControlVariate,
        };
        assert_eq!(remaining.by_width(&width, &done, &mut Draw::new(Seed(1), &[])), [30]);
    }

    #[test]
    fn a_width_asks_as_little_as_promises_it() {
        let ladder = ladder();
        let asked = |spreads: &[f64; 3], n_drawn: &[usize; 3], excess| {
            let now = &[0, 1, 2][n_drawn.iter().filter(|n| 0 < **n).count()..];
            let later = &[];
            let remaining =
                Remaining { ladder: &ladder, now, later, spreads, n_left: 300, least: 2 };
            let done = Done { n_drawn, excess };
            let width = Width {
                value: 0.2,
                confidence: 0.95,
                by_attribute: false,
                estimator: EstimatorKind::ControlVariate,
            };
            remaining.by_width(&width, &done, &mut Draw::new(Seed(1), &[]))
        };
        // (0.98 · 0.1 / 1.96)² = 0.25 (1/n - 1/300) gives n = 75.
        let found: usize = asked(&[0.5; 3], &[0; 3], 0.0).iter().sum();
        assert!((74..=76).contains(&found), "{found}");
        // The same if answers vary more than was forecast, and if the first stratum had too few: that
        // is made good later.
        let found: usize = asked(&[0.1; 3], &[0; 3], 0.24).iter().sum();
        assert!((74..=76).contains(&found), "{found}");
        let found: usize = asked(&[0.5; 3], &[5, 0, 0], 0.0).iter().sum();
        assert!((49..=51).contains(&found), "{found}");
    }
}
