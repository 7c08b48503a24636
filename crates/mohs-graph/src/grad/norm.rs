//! Gradients of normalisations.
//!
//! In the formulas `μ` and `σ²` are mean and variance, `ρ = 1/√(σ² + ε)`, `n = (x − μ) ρ`,
//! `y = γ n + β`, and `dy` is the gradient of `y`. Means, variances and `n` are computed again from
//! `x` in plain operators: no engine is asked for outputs that another lacks.

use super::elementwise::signed;
use super::operator::{Gradients, of_first};
use super::{Tape, uncovered};
use crate::build::{BuildError, Builder, Value};
use crate::dim::Dim;
use crate::graph::Node;

/// The usual `ε` of the standard.
const EPSILON: f32 = 1e-5;

/// The setting `ε` of a node.
fn epsilon(node: &Node) -> f64 {
    f64::from(node.float("epsilon").unwrap_or(EPSILON))
}

/// `x` around its mean over some dimensions, and how to scale that to variance one.
///
/// Mean, variance and `ρ` have dimensions of size one where they were computed over.
pub(crate) struct Centred {
    /// `μ`
    pub(crate) mean: Value,
    /// `σ²`
    pub(crate) variance: Value,
    /// `x − μ`
    pub(crate) around_mean: Value,
    /// `ρ`
    pub(crate) inverse_deviation: Value,
}

/// Computes mean and deviation from `x`.
pub(crate) fn centred(
    builder: &mut Builder,
    x: &Value,
    axes: &[i64],
    epsilon: f64,
) -> Result<Centred, BuildError> {
    let mean = builder.reduce("ReduceMean", x, axes, true)?;
    let around_mean = builder.sub(x, &mean)?;
    // The sum of squares is one pass that writes nothing of the size of x.
    let squares = builder.reduce("ReduceSumSquare", &around_mean, axes, true)?;
    let n = builder.ratio_of_sizes(x, &squares)?;
    let variance = builder.div(&squares, &n)?;
    let inverse_deviation = inverse_root(builder, &variance, epsilon)?;
    Ok(Centred { mean, variance, around_mean, inverse_deviation })
}

/// `1 / √(variance + ε)`
fn inverse_root(
    builder: &mut Builder,
    variance: &Value,
    epsilon: f64,
) -> Result<Value, BuildError> {
    let epsilon = builder.number(epsilon, variance);
    let sum = builder.add(variance, &epsilon)?;
    let deviation = builder.unary("Sqrt", &sum)?;
    builder.unary("Reciprocal", &deviation)
}

impl Centred {
    /// `n`
    fn normal(&self, tape: &mut Tape<'_>) -> Result<Value, BuildError> {
        tape.builder.mul(&self.around_mean, &self.inverse_deviation)
    }

    /// The gradient of `x` from the gradient `dn` of `n`:
    /// `ρ · (dn − mean(dn) − (x − μ) ρ² mean(dn · (x − μ)))`.
    fn gradient(&self, tape: &mut Tape<'_>, dn: &Value, axes: &[i64]) -> Result<Value, BuildError> {
        let (around_mean, rho) = (&self.around_mean, &self.inverse_deviation);
        let level = tape.builder.reduce("ReduceMean", dn, axes, true)?;
        let product = tape.builder.mul(dn, around_mean)?;
        let tilt = tape.builder.reduce("ReduceMean", &product, axes, true)?;
        let square = tape.builder.mul(rho, rho)?;
        let tilt = tape.builder.mul(&tilt, &square)?;
        let tilted = tape.builder.mul(around_mean, &tilt)?;
        let dx = tape.builder.sub(dn, &level)?;
        let dx = tape.builder.sub(&dx, &tilted)?;
        tape.builder.mul(&dx, rho)
    }
}

/// All dimensions of `x` but some.
fn axes_but(tape: &Tape<'_>, x: &Value, kept: &[i64]) -> Result<Vec<i64>, BuildError> {
    let rank = tape.builder.rank(x)?;
    Ok((0..).take(rank).filter(|axis| !kept.contains(axis)).collect())
}

/// A number per channel in the shape that broadcasts along dimension 1 of `x`.
fn per_channel(tape: &mut Tape<'_>, list: &Value, x: &Value) -> Result<Value, BuildError> {
    let n_after = tape.builder.rank(x)?.saturating_sub(2);
    let mut shape = tape.builder.shape(list)?;
    shape.extend(std::iter::repeat_n(Dim::known(1), n_after));
    tape.builder.reshape(list, &shape)
}

/// Stored statistics: `dx = dy γ ρ`, `dγ = Σ dy n`, `dβ = Σ dy`, `dμ = −γ ρ Σ dy`,
/// `dσ² = −½ γ ρ³ Σ dy (x − μ)`; sums run over all dimensions but the channels.
///
/// With `training_mode` 1 mean and variance are those of the batch, and `dx` goes through them.
pub(super) fn batch(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let x = tape.input(node, 0)?;
    if tape.builder.rank(&x)? < 2 {
        return Err(uncovered(node, "an input without channels; expected at least 2 dimensions"));
    }
    if node.int("training_mode").unwrap_or(0) != 0 {
        let axes = axes_but(tape, &x, &[1])?;
        return live(tape, node, &dy, &x, &axes);
    }
    let (scale, mean, variance) =
        (tape.input(node, 1)?, tape.input(node, 3)?, tape.input(node, 4)?);
    let axes = axes_but(tape, &x, &[1])?;
    let rho = inverse_root(tape.builder, &variance, epsilon(node))?;
    let factor = tape.builder.mul(&scale, &rho)?;

    let mut found = vec![None; 5];
    if tape.wants(node, 0) {
        let factor = per_channel(tape, &factor, &x)?;
        found[0] = Some(tape.builder.mul(&dy, &factor)?);
    }
    if tape.wants(node, 1) || tape.wants(node, 4) {
        let mean = per_channel(tape, &mean, &x)?;
        let around_mean = tape.builder.sub(&x, &mean)?;
        let product = tape.builder.mul(&dy, &around_mean)?;
        let sum = tape.builder.reduce_sum(&product, &axes, false)?;
        if tape.wants(node, 1) {
            found[1] = Some(tape.builder.mul(&sum, &rho)?);
        }
        if tape.wants(node, 4) {
            let minus_half = tape.number(-0.5, &sum);
            let square = tape.builder.mul(&rho, &rho)?;
            let slope = tape.builder.mul(&factor, &square)?;
            let slope = tape.builder.mul(&slope, &minus_half)?;
            found[4] = Some(tape.builder.mul(&sum, &slope)?);
        }
    }
    if tape.wants(node, 2) || tape.wants(node, 3) {
        let sum = tape.builder.reduce_sum(&dy, &axes, false)?;
        if tape.wants(node, 3) {
            let moved = tape.builder.mul(&sum, &factor)?;
            found[3] = Some(tape.builder.unary("Neg", &moved)?);
        }
        found[2] = Some(sum);
    }
    Ok(found)
}

/// Mean and variance per example and channel; scale and bias per channel.
pub(super) fn instance(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let x = tape.input(node, 0)?;
    let axes = axes_but(tape, &x, &[0, 1])?;
    if axes.is_empty() {
        return Err(uncovered(node, "an input without pixels; expected at least 3 dimensions"));
    }
    live(tape, node, &dy, &x, &axes)
}

/// Mean and variance of `x` itself over these dimensions; scale and bias per channel.
fn live(tape: &mut Tape<'_>, node: &Node, dy: &Value, x: &Value, axes: &[i64]) -> Gradients {
    let scale = tape.input(node, 1)?;
    let others = axes_but(tape, x, &[1])?;
    let mut found = vec![None; 3];
    if tape.wants(node, 0) || tape.wants(node, 1) {
        let centred = centred(tape.builder, x, axes, epsilon(node))?;
        if tape.wants(node, 0) {
            let scale = per_channel(tape, &scale, x)?;
            let dn = tape.builder.mul(dy, &scale)?;
            found[0] = Some(centred.gradient(tape, &dn, axes)?);
        }
        if tape.wants(node, 1) {
            let normal = centred.normal(tape)?;
            let product = tape.builder.mul(dy, &normal)?;
            found[1] = Some(tape.builder.reduce_sum(&product, &others, false)?);
        }
    }
    if tape.wants(node, 2) {
        found[2] = Some(tape.builder.reduce_sum(dy, &others, false)?);
    }
    Ok(found)
}

/// Mean and variance over the dimensions from `axis` on; scale and bias broadcast.
pub(super) fn layer(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, scale) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let rank = i64::try_from(tape.builder.rank(&x)?).map_err(|_| uncovered(node, "its rank"))?;
    let axis = node.int("axis").unwrap_or(-1);
    let first = if axis < 0 { axis.saturating_add(rank) } else { axis };
    if first < 0 || rank <= first {
        return Err(uncovered(node, &format!("axis {axis} of {rank} dimensions")));
    }
    let axes: Vec<i64> = (first..rank).collect();
    let mut found = vec![None; 3];
    if tape.wants(node, 0) || tape.wants(node, 1) {
        let centred = centred(tape.builder, &x, &axes, epsilon(node))?;
        if tape.wants(node, 0) {
            let dn = tape.builder.mul(&dy, &scale)?;
            found[0] = Some(centred.gradient(tape, &dn, &axes)?);
        }
        if tape.wants(node, 1) {
            let normal = centred.normal(tape)?;
            let product = tape.builder.mul(&dy, &normal)?;
            found[1] = Some(tape.sum_to_shape_of(&product, &scale)?);
        }
    }
    if tape.wants(node, 2) {
        let bias = tape.input(node, 2)?;
        found[2] = Some(tape.sum_to_shape_of(&dy, &bias)?);
    }
    Ok(found)
}

/// Mean and variance per example and group of channels; scale and bias per channel.
pub(super) fn group(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, scale) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let Some(n_groups) = node.int("num_groups").filter(|&n_groups| 0 < n_groups) else {
        return Err(uncovered(node, "a missing number of groups"));
    };
    let channels = tape.builder.shape(&x)?.get(1).cloned();
    let of_scale = tape.builder.shape(&scale)?.first().cloned();
    if channels.is_none() || channels != of_scale {
        return Err(uncovered(node, "a scale per group; needed: a scale per channel"));
    }
    let mut found = vec![None; 3];
    if tape.wants(node, 0) || tape.wants(node, 1) {
        let grouped = groups(tape, &x, n_groups)?;
        let centred = centred(tape.builder, &grouped, &[2], epsilon(node))?;
        if tape.wants(node, 0) {
            let scale = per_channel(tape, &scale, &x)?;
            let dn = tape.builder.mul(&dy, &scale)?;
            let dn = groups(tape, &dn, n_groups)?;
            let dx = centred.gradient(tape, &dn, &[2])?;
            found[0] = Some(tape.builder.reshape_like(&dx, &x)?);
        }
        if tape.wants(node, 1) {
            let normal = centred.normal(tape)?;
            let normal = tape.builder.reshape_like(&normal, &x)?;
            let product = tape.builder.mul(&dy, &normal)?;
            let axes = axes_but(tape, &x, &[1])?;
            found[1] = Some(tape.builder.reduce_sum(&product, &axes, false)?);
        }
    }
    if tape.wants(node, 2) {
        let axes = axes_but(tape, &x, &[1])?;
        found[2] = Some(tape.builder.reduce_sum(&dy, &axes, false)?);
    }
    Ok(found)
}

/// `x` as examples, groups, and everything in a group.
fn groups(tape: &mut Tape<'_>, x: &Value, n_groups: i64) -> Result<Value, BuildError> {
    // A zero keeps the first dimension, so that the last may be open too.
    let shape = tape.builder.list(&[0, n_groups, -1]);
    tape.builder.op("Reshape", &[x, &shape], vec![])
}

/// `y = x / ‖x‖`: `dx = (dy − s Σ dy y) / ‖x‖`, where `s` is `y` for `p` = 2 and the sign of `x` for
/// `p` = 1; 0 where the norm is 0.
pub(super) fn lp(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, y) = (tape.input(node, 0)?, tape.output(node, 0)?);
    let axis = node.int("axis").unwrap_or(-1);
    let p = node.int("p").unwrap_or(2);
    let reduce = match p {
        1 => "ReduceL1",
        2 => "ReduceL2",
        _ => return Err(uncovered(node, &format!("p = {p}; expected 1 or 2"))),
    };
    let norm = tape.builder.reduce(reduce, &x, &[axis], true)?;
    let product = tape.builder.mul(&dy, &y)?;
    let tilt = tape.builder.reduce_sum(&product, &[axis], true)?;
    let tilted = if p == 1 { signed(tape, &tilt, &x)? } else { tape.builder.mul(&y, &tilt)? };
    let dx = tape.builder.sub(&dy, &tilted)?;
    let zero = tape.number(0.0, &norm);
    let is_zero = tape.builder.compare("Equal", &norm, &zero)?;
    let inverse = tape.builder.unary("Reciprocal", &norm)?;
    let inverse = tape.builder.choose(&is_zero, &zero, &inverse)?;
    Ok(vec![Some(tape.builder.mul(&dx, &inverse)?)])
}
