//! Curves of single participants: what one person's answers say, with the doubt of so few.

use mohs_data::{Estimate, Millis};
use rayon::prelude::*;
use statrs::function::factorial::ln_binomial;

use super::numbers::{self, Average, FittedCurve};
use super::table::Block;
use super::weibull::{Model, Weibull};
use super::{Curve, CurvePoint, ParticipantCurves, Study, count, fit_finding};
use crate::draw::Draw;
use crate::proportion::{normal_quantile, real, wilson_of_share};
use crate::resample::percentile;

const PERSON: u64 = 53;

/// Returns the curves of each participant, in order.
pub(super) fn participants(study: &Study<'_>) -> Vec<ParticipantCurves> {
    (0..study.table.n_participants).into_par_iter().map(|p| participant(study, p)).collect()
}

fn participant(study: &Study<'_>, p: usize) -> ParticipantCurves {
    let n_groups = study.table.n_groups;
    let people: Vec<Person<'_>> = (0..n_groups).map(|g| Person::new(study, p, g)).collect();
    let mut curves: Vec<Curve> = people.iter().map(Person::curve).collect();
    ParticipantCurves {
        participant: study.counted.participants[p].clone(),
        rmse_to_others: rmse_to_others(study, &people),
        all: curves.remove(0),
        conditions: curves.into_iter().filter(|curve| !curve.points.is_empty()).collect(),
    }
}

/// One participant's trials in one group, and what they might have been.
struct Person<'a> {
    study: &'a Study<'a>,
    p: usize,
    group: usize,
    blocks: &'a [Block],
    model: Model,
    /// Shares by block, one row for each draw.
    draws: Vec<Vec<Option<f64>>>,
}

impl<'a> Person<'a> {
    fn new(study: &'a Study<'a>, p: usize, group: usize) -> Self {
        let blocks = study.table.blocks(p, group);
        let counts: Vec<Option<Vec<f64>>> =
            blocks.iter().map(|block| Some(cumulative(count(block.n), block.share()?))).collect();
        let draws = (0..study.options.n_resamples)
            .map(|draw_idx| {
                let key = [PERSON, p as u64, group as u64, draw_idx as u64];
                let mut draw = Draw::new(study.seed, &key);
                counts
                    .iter()
                    .map(|counts| {
                        let (counts, at) = (counts.as_ref()?, draw.uniform());
                        let n = counts.len() - 1;
                        let n_right = counts.partition_point(|below| *below <= at).min(n);
                        Some(real(n_right) / real(n))
                    })
                    .collect()
            })
            .collect();
        let model = study.model(group, p..p + 1);
        Self { study, p, group, blocks, model, draws }
    }

    fn shares(&self) -> Vec<Option<f64>> {
        self.blocks.iter().map(Block::share).collect()
    }

    fn fitted(&self, shares: &[Option<f64>], known: Option<&FittedCurve>) -> FittedCurve {
        let times: Vec<Option<f64>> = self.blocks.iter().map(Block::mean_time).collect();
        let n: Vec<f64> = self.blocks.iter().map(|block| block.n).collect();
        let points = numbers::observed(shares, &times, &n, &self.study.beeps);
        FittedCurve::new(points, &self.model, self.study.options.scaling, known)
    }

    fn curve(&self) -> Curve {
        let options = self.study.options;
        let points: Vec<CurvePoint> =
            (0..self.blocks.len()).filter_map(|b| self.point(b)).collect();
        let n_trials = points.iter().map(|point| point.n_trials).sum();
        let known = self.fitted(&self.shares(), None);
        let drawn: Vec<FittedCurve> = if known.fitted.is_some() {
            self.draws.iter().map(|shares| self.fitted(shares, Some(&known))).collect()
        } else {
            Vec::new()
        };
        let estimate = |of: &dyn Fn(&FittedCurve) -> Option<f64>| -> Option<Estimate> {
            let draws: Vec<f64> = drawn.iter().filter_map(of).collect();
            percentile(of(&known)?, &draws, options.confidence, n_trials)
        };
        let weibull = |read: fn(&Weibull) -> f64| estimate(&|curve| curve.weibull().map(read));
        Curve {
            condition: self.study.counted.groups[self.group].clone(),
            n_participants: usize::from(!points.is_empty()),
            n_trials,
            fit: fit_finding(&known, options, weibull),
            steepness: estimate(&|curve| curve.steepness),
            points,
            band: Vec::new(),
        }
    }

    fn point(&self, b: usize) -> Option<CurvePoint> {
        let (block, confidence) = (&self.blocks[b], self.study.options.confidence);
        let (share, n_trials) = (block.share()?, count(block.n));
        let beep = self.study.counted.beeps[b];
        let rt_se_ms = self.study.counted.time_se(self.p, self.group, b);
        let half = normal_quantile(0.5 + confidence / 2.0) * rt_se_ms.unwrap_or_default();
        let rt = block.mean_time();
        let n_times = block.n_times();
        let rt_ms = rt
            .filter(|_| rt_se_ms.is_some())
            .and_then(|rt| Estimate::new(rt, rt - half, rt + half, confidence, n_times));
        let accuracy_se = (2 <= n_trials).then(|| (share * (1.0 - share) / (block.n - 1.0)).sqrt());
        Some(CurvePoint {
            beep,
            time: rt.and_then(Millis::new).unwrap_or(beep),
            accuracy: wilson_of_share(share, n_trials, confidence)?,
            accuracy_se,
            rt_ms,
            rt_se_ms,
            n_trials,
            n_time_outs: block.n_time_outs,
        })
    }
}

/// Returns the chance of at most 0, 1, … right answers of `n`, each right with chance `p`.
fn cumulative(n: usize, p: f64) -> Vec<f64> {
    let n_whole = n as u64;
    let mut total = 0.0;
    (0..=n)
        .map(|k| {
            // Zero times the logarithm of zero is none at all.
            let part = |n: usize, p: f64| if n == 0 { 0.0 } else { real(n) * p.ln() };
            let ln_chance = ln_binomial(n_whole, k as u64) + part(k, p) + part(n - k, 1.0 - p);
            total += ln_chance.exp();
            total
        })
        .collect()
}

/// Returns the distance from the average of the others: the mean over conditions.
fn rmse_to_others(study: &Study<'_>, people: &[Person<'_>]) -> Option<Estimate> {
    let others: Vec<Vec<Option<f64>>> = people
        .iter()
        .map(|person| {
            Average::new(&study.table, person.group).blocks_without(&person.shares(), true)
        })
        .collect();
    let conditions = if people.len() == 1 { 0..1 } else { 1..people.len() };
    let rmse = |of: &dyn Fn(&Person<'_>) -> Vec<Option<f64>>| {
        let each: Vec<f64> = conditions
            .clone()
            .filter_map(|g| numbers::apart(&of(&people[g]), &others[g]))
            .map(|apart| apart.rmse)
            .collect();
        (!each.is_empty()).then(|| crate::correlation::mean(&each))
    };
    let value = rmse(&|person| person.shares())?;
    let n_draws = people[0].draws.len();
    let draws: Vec<f64> =
        (0..n_draws).filter_map(|idx| rmse(&|person| person.draws[idx].clone())).collect();
    let n_trials = people[0].blocks.iter().map(|block| block.n).sum();
    percentile(value, &draws, study.options.confidence, count(n_trials))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_to_one() {
        // Of three coins: 1/8, 3/8, 3/8, 1/8.
        for (found, expected) in cumulative(3, 0.5).iter().zip([0.125, 0.5, 0.875, 1.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
        for p in [0.0, 0.3, 1.0] {
            let counts = cumulative(2_000, p);
            assert!((counts[2_000] - 1.0).abs() < 1e-9 && counts.iter().all(|c| c.is_finite()));
        }
        assert!(cumulative(4, 1.0)[3].abs() < 1e-12 && (cumulative(4, 0.0)[0] - 1.0).abs() < 1e-12);
    }
}
