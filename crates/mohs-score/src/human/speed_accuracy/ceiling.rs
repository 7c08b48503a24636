//! Ceilings: how well an average speaks for one participant.
//!
//! # Formulas
//!
//! ```text
//! rmse       e_i = mean over conditions of √(mean over t of (y[t] - y_i[t])²)
//! category   ρ_i = Spearman's over categories × blocks of (y, y_i)
//! ceiling    mean of e_i, of ρ_i over participants
//! ```
//!
//! `y` is the average of all participants (the paper's) or of all but participant `i`. The first
//! holds the participant too and so comes out closer than a stranger could.
//!
//! # Intervals
//!
//! Draws redraw the participants' `e_i` and `ρ_i`, with the averages as they are. Redrawing the
//! averages too would bias both: a participant drawn twice has a larger part in the average of all,
//! and fewer distinct people make up the average of the others.

use mohs_data::Estimate;

use super::Study;
use super::findings::Ceiling;
use super::numbers::{self, Average};
use crate::correlation::{mean, spearman};
use crate::resample::percentile_of_few;

/// Returns the ceilings over all conditions, then by condition.
pub(super) fn ceilings(study: &Study<'_>) -> Vec<Ceiling> {
    let n_groups = study.table.n_groups;
    let n = study.table.n_participants;
    let averages: Vec<Average> = (0..n_groups).map(|g| Average::new(&study.table, g)).collect();
    let conditions: Vec<usize> = if n_groups == 1 { vec![0] } else { (1..n_groups).collect() };
    let weights: Vec<Vec<f64>> = (0..study.options.n_resamples).map(|i| study.weights(i)).collect();
    (0..n_groups)
        .map(|g| {
            let of_rmse = if g == 0 { &conditions[..] } else { &[g] };
            let estimate = |of: &dyn Fn(usize) -> Option<f64>| {
                let values: Vec<Option<f64>> = (0..n).map(of).collect();
                redrawn(&values, &weights, study.options.confidence)
            };
            Ceiling {
                condition: study.counted.groups[g].clone(),
                rmse_average: estimate(&|p| rmse(study, &averages, of_rmse, p, false)),
                rmse_left_out: estimate(&|p| rmse(study, &averages, of_rmse, p, true)),
                spearman_average: estimate(&|p| correlation(study, &averages[g], g, p, false)),
                spearman_left_out: estimate(&|p| correlation(study, &averages[g], g, p, true)),
            }
        })
        .collect()
}

/// Returns the mean of what participants have, with the interval of redrawn participants.
fn redrawn(values: &[Option<f64>], weights: &[Vec<f64>], confidence: f64) -> Option<Estimate> {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    if known.is_empty() {
        return None;
    }
    let draw = |weights: &Vec<f64>| {
        let (mut total, mut n) = (0.0, 0.0);
        for (value, weight) in values.iter().zip(weights) {
            if let Some(value) = value {
                total += weight * value;
                n += weight;
            }
        }
        (0.0 < n).then(|| total / n)
    };
    let draws: Vec<f64> = weights.iter().filter_map(draw).collect();
    percentile_of_few(mean(&known), &draws, confidence, known.len(), known.len())
}

/// Returns the distance of one participant's curves from the average, or from that of the others.
fn rmse(
    study: &Study<'_>,
    averages: &[Average],
    groups: &[usize],
    p: usize,
    leaves_out: bool,
) -> Option<f64> {
    let each: Vec<f64> = groups
        .iter()
        .filter_map(|g| {
            let own: Vec<Option<f64>> =
                study.table.blocks(p, *g).iter().map(|block| block.share()).collect();
            numbers::apart(&own, &averages[*g].blocks_without(&own, leaves_out))
        })
        .map(|apart| apart.rmse)
        .collect();
    (!each.is_empty()).then(|| mean(&each))
}

fn correlation(
    study: &Study<'_>,
    average: &Average,
    g: usize,
    p: usize,
    leaves_out: bool,
) -> Option<f64> {
    let own = study.table.categories(p, g);
    let average = average.categories_without(own, leaves_out);
    let pairs = own.iter().zip(average).filter_map(|(own, average)| Some(((*own)?, average?)));
    let (own, average): (Vec<f64>, Vec<f64>) = pairs.unzip();
    spearman(&own, &average)
}
