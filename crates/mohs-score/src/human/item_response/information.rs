//! How sure the parameters are: the inverse of the observed information.
//!
//! # Formula
//!
//! ```text
//! I = B - Σ_p w_p Var_p(s_p)                       (Louis 1982)
//! ```
//!
//! `B` is the information complete data would have, `s_p` the score of participant `p`'s answers
//! as a function of the ability, and `Var_p` its variance over their posterior: what is lost
//! because abilities are unknown. A variance is the sum of squared projections on polynomials that
//! are orthonormal under the posterior; scores are so smooth that a few suffice. So `I = B - U Uᵀ`
//! with few columns per participant, and it is inverted in whichever space is smaller: that of the
//! parameters, or that of the columns (Woodbury's identity).
//!
//! Pooled discriminations add their prior's curvature to `B`. The prior knows ratios only, so one
//! more column takes away what `B` would then claim to know about the scale.
//!
//! # References
//!
//! - T. A. Louis (1982), "Finding the observed information matrix when using the EM algorithm".

use nalgebra::DMatrix;
use rayon::prelude::*;

use super::fit::{Fit, Information, Prior};
use super::likelihood;
use super::responses::Responses;
use crate::proportion::real;

/// Multiplications for a matrix product beyond which each stimulus is looked at alone.
const MOST: f64 = 1e11;
/// Participants whose columns are multiplied at once.
const CHUNK: usize = 64;
/// Posterior standard deviation above which scores bend enough to need more polynomials.
const WIDE: f64 = 0.25;
/// Polynomials for wide posteriors: standard errors to four digits on five stimuli.
const N_WIDE: usize = 10;
/// Polynomials for narrow ones, over which scores are all but straight.
const N_NARROW: usize = 2;

/// Variances and covariance of one stimulus' parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Covariance {
    pub(super) aa: f64,
    pub(super) ad: f64,
    pub(super) dd: f64,
}

/// Returns the covariances of each stimulus' parameters, and whether they account for what the
/// stimuli do not know about each other; `None` where the information is not positive.
pub(super) fn covariances(
    responses: &Responses,
    fit: &Fit,
    information: &Information,
) -> (Vec<Option<Covariance>>, bool) {
    let widest = fit.evaluated.posteriors.iter().fold(0.0_f64, |sd, p| sd.max(p.sd));
    let degree = if WIDE < widest { N_WIDE } else { N_NARROW };
    let n_columns = responses.participants.len() * degree;
    let n_parameters = information.n_parameters();
    let smaller = n_columns.min(n_parameters);
    let jointly = if MOST < real(n_columns) * real(n_parameters) * real(smaller) {
        None
    } else if n_parameters <= n_columns {
        by_parameters(responses, fit, information, degree)
    } else {
        by_columns(responses, fit, information, degree)
    };
    match jointly {
        Some(covariances) => (covariances, true),
        None => (alone(responses, fit, information, degree), false),
    }
}

/// One participant's columns: for each answer the place of `a`, of `d`, and their projections.
fn columns_of(
    responses: &Responses,
    fit: &Fit,
    participant_idx: usize,
    degree: usize,
    mut visit: impl FnMut(usize, usize, f64, f64),
) {
    let window = fit.lattice.windows[participant_idx].clone();
    let nodes = &fit.lattice.nodes[window];
    let posterior = &fit.evaluated.posteriors[participant_idx];
    let root_weight = responses.weight(participant_idx).sqrt();
    let polynomials = orthonormal(nodes, &posterior.weights, degree);
    let answered = responses.by_participant.answered(participant_idx);
    let mut right = responses.by_participant.right(participant_idx).iter().peekable();
    let mut curve = vec![0.0; nodes.len()];
    for stimulus in answered {
        let stimulus_idx = *stimulus as usize;
        // A repeated stimulus lists its wrong answers and its right ones alike: which answer of
        // several is which does not matter to the sum.
        let is_right = right.next_if(|next| *next == stimulus).is_some();
        let y = f64::from(u8::from(is_right));
        likelihood::fill_run(&fit.items, fit.lattice.step, stimulus_idx, nodes, &mut curve);
        for (column, polynomial) in polynomials.iter().enumerate() {
            let (mut along_a, mut along_d) = (0.0, 0.0);
            for (((p, node), share), value) in
                curve.iter().zip(nodes).zip(&posterior.weights).zip(polynomial)
            {
                let rest = share * value * (y - p);
                along_d += rest;
                along_a += rest * node;
            }
            visit(stimulus_idx, column, root_weight * along_a, root_weight * along_d);
        }
    }
}

/// Returns polynomials of degree 1 and up that are orthonormal under some weights.
fn orthonormal(nodes: &[f64], weights: &[f64], degree: usize) -> Vec<Vec<f64>> {
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).zip(weights).map(|((a, b), weight)| a * b * weight).sum()
    };
    let mut basis = vec![vec![1.0; nodes.len()]];
    for _ in 0..degree {
        let last = &basis[basis.len() - 1];
        let mut next: Vec<f64> = last.iter().zip(nodes).map(|(last, node)| last * node).collect();
        // Twice is enough to be orthogonal to rounding (Kahan).
        for _ in 0..2 {
            for earlier in &basis {
                let share = product(&next, earlier);
                next.iter_mut().zip(earlier).for_each(|(next, earlier)| *next -= share * earlier);
            }
        }
        let norm = product(&next, &next).sqrt();
        if norm < 1e-9 {
            break;
        }
        next.iter_mut().for_each(|next| *next /= norm);
        basis.push(next);
    }
    basis.split_off(1)
}

/// Returns the direction in which all discriminations grow alike, as far as the prior weighs it.
fn scale_column(fit: &Fit, information: &Information) -> Option<Vec<f64>> {
    let a = &fit.items.discrimination;
    if !fit.prior.is_pooled {
        return None;
    }
    let length = a.iter().map(|a| a * a).sum::<f64>().sqrt();
    let precision = Prior { is_centred: false, ..fit.prior }.precision(a);
    let mut column = vec![0.0; information.n_parameters()];
    for (column, a) in column.iter_mut().zip(a) {
        *column = precision.sqrt() * a / length;
    }
    Some(column)
}

/// Inverts in the space of the parameters.
fn by_parameters(
    responses: &Responses,
    fit: &Fit,
    information: &Information,
    degree: usize,
) -> Option<Vec<Option<Covariance>>> {
    let n = information.n_parameters();
    let mut matrix = DMatrix::<f64>::zeros(n, n);
    let scale = scale_column(fit, information);
    for stimulus_idx in 0..responses.n_stimuli() {
        let (aa, ad, dd) = information.own(stimulus_idx);
        let (a, d) = (information.place_a(stimulus_idx), information.place_d(stimulus_idx));
        matrix[(a, a)] = aa;
        matrix[(d, d)] = dd;
        matrix[(a, d)] = ad;
        matrix[(d, a)] = ad;
    }
    let participants: Vec<usize> = (0..responses.participants.len()).collect();
    let chunks: Vec<&[usize]> = participants.chunks(CHUNK).collect();
    // A few parts at a time bound the memory; parts are subtracted in order.
    for batch in chunks.chunks(4) {
        let parts: Vec<DMatrix<f64>> = batch
            .par_iter()
            .map(|chunk| {
                let mut columns = DMatrix::<f64>::zeros(n, chunk.len() * degree);
                for (at, participant_idx) in chunk.iter().enumerate() {
                    columns_of(responses, fit, *participant_idx, degree, |stimulus, k, a, d| {
                        let column = at * degree + k;
                        columns[(information.place_a(stimulus), column)] += a;
                        columns[(information.place_d(stimulus), column)] += d;
                    });
                }
                &columns * columns.transpose()
            })
            .collect();
        for part in parts {
            matrix -= part;
        }
    }
    if let Some(scale) = scale {
        let column = nalgebra::DVector::from_vec(scale);
        matrix.ger(-1.0, &column, &column, 1.0);
    }
    let inverse = matrix.cholesky()?.inverse();
    let own = |stimulus_idx: usize| {
        let (a, d) = (information.place_a(stimulus_idx), information.place_d(stimulus_idx));
        checked(Covariance { aa: inverse[(a, a)], ad: inverse[(a, d)], dd: inverse[(d, d)] })
    };
    Some((0..responses.n_stimuli()).map(own).collect())
}

/// Inverts in the space of the columns: `I⁻¹ = B⁻¹ + B⁻¹U (1 - Uᵀ B⁻¹ U)⁻¹ Uᵀ B⁻¹`.
fn by_columns(
    responses: &Responses,
    fit: &Fit,
    information: &Information,
    degree: usize,
) -> Option<Vec<Option<Covariance>>> {
    let n = information.n_parameters();
    let mut columns: Vec<Vec<f64>> = (0..responses.participants.len())
        .into_par_iter()
        .flat_map_iter(|participant_idx| {
            let mut columns = vec![vec![0.0; n]; degree];
            columns_of(responses, fit, participant_idx, degree, |stimulus, k, a, d| {
                columns[k][information.place_a(stimulus)] += a;
                columns[k][information.place_d(stimulus)] += d;
            });
            columns
        })
        .collect();
    columns.extend(scale_column(fit, information));
    let solved: Vec<Vec<f64>> = columns.par_iter().map(|row| information.solved(row)).collect();
    let rows: Vec<Vec<f64>> = columns
        .par_iter()
        .map(|column| {
            let product = |other: &Vec<f64>| column.iter().zip(other).map(|(a, b)| a * b).sum();
            solved.iter().map(product).collect()
        })
        .collect();
    let small = DMatrix::from_fn(rows.len(), rows.len(), |row, column| {
        // Rounding must not make it lopsided.
        let both = f64::midpoint(rows[row][column], rows[column][row]);
        f64::from(u8::from(row == column)) - both
    });
    let inverse = small.cholesky()?.inverse();
    let covariances = (0..responses.n_stimuli())
        .into_par_iter()
        .map(|stimulus_idx| {
            let (a, d) = (information.place_a(stimulus_idx), information.place_d(stimulus_idx));
            let (mut aa, mut ad, mut dd) = information.inverse_own(stimulus_idx);
            for (row, left) in solved.iter().enumerate() {
                for (column, right) in solved.iter().enumerate() {
                    let weight = inverse[(row, column)];
                    aa += left[a] * weight * right[a];
                    ad += left[a] * weight * right[d];
                    dd += left[d] * weight * right[d];
                }
            }
            checked(Covariance { aa, ad, dd })
        })
        .collect();
    Some(covariances)
}

/// Inverts the observed information of each stimulus as if the others were known.
fn alone(
    responses: &Responses,
    fit: &Fit,
    information: &Information,
    degree: usize,
) -> Vec<Option<Covariance>> {
    let mut lost = vec![(0.0, 0.0, 0.0); responses.n_stimuli()];
    for participant_idx in 0..responses.participants.len() {
        columns_of(responses, fit, participant_idx, degree, |stimulus, _, a, d| {
            lost[stimulus].0 += a * a;
            lost[stimulus].1 += a * d;
            lost[stimulus].2 += d * d;
        });
    }
    lost.iter()
        .enumerate()
        .map(|(stimulus_idx, lost)| {
            let (aa, ad, dd) = information.own(stimulus_idx);
            let (aa, ad, dd) = (aa - lost.0, ad - lost.1, dd - lost.2);
            let determinant = aa * dd - ad * ad;
            checked(Covariance {
                aa: dd / determinant,
                ad: -ad / determinant,
                dd: aa / determinant,
            })
        })
        .collect()
}

fn checked(covariance: Covariance) -> Option<Covariance> {
    let Covariance { aa, ad, dd } = covariance;
    let is_sound = [aa, ad, dd].iter().all(|x| x.is_finite()) && 0.0 < aa && 0.0 < dd;
    is_sound.then_some(covariance)
}
