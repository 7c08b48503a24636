//! Operators that move elements and compute nothing: reshaping, transposing, joining, cutting.
//!
//! Contents of whole-number tensors are followed through all of them but `Pad` and `Tile`.

use super::scope::{Found, Scope, positions, resolve_axis, stretched, sum};
use super::{Fact, InferError, MAX_TRACKED};
use crate::dim::{self, Dim};

/// What this family says about a node; `None` if the operator is of another family.
pub(super) fn infer(scope: &Scope<'_>) -> Option<Found> {
    Some(match scope.node.op.as_str() {
        "Reshape" => reshape(scope),
        "Flatten" => flatten(scope),
        "Transpose" => transpose(scope),
        "Squeeze" => squeeze(scope),
        "Unsqueeze" => unsqueeze(scope),
        "Expand" => expand(scope),
        "Concat" => concat(scope),
        "Split" => split(scope),
        "Slice" => slice(scope),
        "Tile" => tile(scope),
        "Pad" => pad(scope),
        "DepthToSpace" | "SpaceToDepth" => blocks(scope),
        _ => return None,
    })
}

fn reshape(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let target = scope.required(1)?;
    let Some(wanted) = &target.value else {
        let rank = target.shape.as_deref().and_then(|shape| shape.first()?.as_size());
        let shape = rank.filter(|&rank| rank <= 64).map(|rank| scope.fresh_shape(0, rank));
        return Ok(vec![Fact { shape, ..Fact::of_type(x.element_type) }]);
    };
    let is_zero_kept = scope.node.int("allowzero").unwrap_or(0) != 0;
    let mut shape = Vec::with_capacity(wanted.len());
    let mut open = None;
    for (axis, dim) in wanted.iter().enumerate() {
        let dim = match dim.as_known() {
            Some(0) if !is_zero_kept => match &x.shape {
                None => scope.fresh(0, axis),
                Some(from) => from.get(axis).cloned().ok_or_else(|| {
                    scope.contradiction(format!(
                        "the shape {} copies dimension {axis} of a value that has {}",
                        dim::describe(wanted),
                        from.len()
                    ))
                })?,
            },
            Some(-1) => {
                if open.replace(axis).is_some() {
                    return Err(scope.contradiction(format!(
                        "the shape {} should leave at most one dimension open",
                        dim::describe(wanted)
                    )));
                }
                Dim::known(1)
            }
            Some(number) if number < -1 => {
                return Err(scope.contradiction(format!(
                    "a dimension should be -1, 0 or a size, found {number}"
                )));
            }
            _ => dim.clone(),
        };
        shape.push(dim);
    }
    // A made-up symbol is as open as -1: the other dimensions say what it is.
    let is_marked = open.is_some();
    if open.is_none() {
        let mut unknown = shape.iter().enumerate().filter(|(_, dim)| super::is_open(dim));
        if let (Some((axis, dim)), None) = (unknown.next(), unknown.next())
            && dim.symbols().len() == 1
            && dim.factor() == 1
        {
            open = Some(axis);
        }
    }
    solve_open(scope, x, &mut shape, open, is_marked)?;
    Ok(vec![Fact::new(x.element_type, shape).with_value(x.value.clone())])
}

/// Finds the open dimension of a shape by division, or checks that the numbers of elements fit.
fn solve_open(
    scope: &Scope<'_>,
    x: &Fact,
    shape: &mut [Dim],
    open: Option<usize>,
    is_marked: bool,
) -> Result<(), InferError> {
    let total = x.shape.as_deref().and_then(dim::product);
    let mismatch = |shape: &[Dim]| {
        scope.contradiction(format!(
            "a value of shape {} cannot take the shape {}",
            x.shape.as_deref().map_or_else(String::new, dim::describe),
            dim::describe(shape)
        ))
    };
    let Some(axis) = open else {
        let wanted = dim::product(&*shape);
        return match (total.and_then(|dim| dim.as_known()), wanted.and_then(|dim| dim.as_known())) {
            (Some(total), Some(wanted)) if total != wanted => Err(mismatch(shape)),
            _ => Ok(()),
        };
    };
    let others = shape.iter().enumerate().filter(|(idx, _)| *idx != axis).map(|(_, dim)| dim);
    let rest = dim::product(others);
    let solved = total.as_ref().zip(rest.as_ref()).and_then(|(total, rest)| total.divided_by(rest));
    match solved {
        Some(solved) => shape[axis] = solved,
        None if is_marked => {
            let known = |dim: Option<Dim>| dim.and_then(|dim| dim.as_known());
            if let (Some(_), Some(rest)) = (known(total), known(rest))
                && rest != 0
            {
                shape[axis] = Dim::known(-1);
                return Err(mismatch(shape));
            }
            shape[axis] = scope.fresh(0, axis);
        }
        None => {}
    }
    Ok(())
}

fn flatten(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::new(x.element_type, scope.fresh_shape(0, 2))]);
    };
    let axis = scope.node.int("axis").unwrap_or(1);
    let rank = i64::try_from(shape.len()).unwrap_or(i64::MAX);
    let at_the_end = (axis == rank).then_some(shape.len());
    let axis = at_the_end.or_else(|| resolve_axis(axis, shape.len()));
    let axis = axis.ok_or_else(|| {
        scope.contradiction(format!("cannot flatten {} dimensions at the given axis", shape.len()))
    })?;
    let (before, after) = shape.split_at(axis);
    let before = dim::product(before).unwrap_or_else(|| scope.fresh(0, 0));
    let after = dim::product(after).unwrap_or_else(|| scope.fresh(0, 1));
    Ok(vec![Fact::new(x.element_type, vec![before, after]).with_value(x.value.clone())])
}

fn transpose(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let order = scope.node.ints("perm");
    let Some(shape) = &x.shape else {
        let shape = order.map(|order| scope.fresh_shape(0, order.len().min(64)));
        return Ok(vec![Fact { shape, ..Fact::of_type(x.element_type) }]);
    };
    let order = match order {
        None => (0..shape.len()).rev().collect(),
        Some(order) if order.len() == shape.len() => scope.axes(order, shape.len())?,
        Some(order) => {
            return Err(scope.contradiction(format!(
                "the order {order:?} should name each of {} dimensions",
                shape.len()
            )));
        }
    };
    let turned: Vec<Dim> = order.iter().map(|&axis| shape[axis].clone()).collect();
    let value = moved(x, &turned, |position, place| {
        for (&axis, &idx) in order.iter().zip(position) {
            place[axis] = idx;
        }
    });
    Ok(vec![Fact::new(x.element_type, turned).with_value(value)])
}

/// The contents of a result whose every element is an element of `x`.
///
/// `f` gets a position in the result and writes the position in `x`, which starts as zeros.
pub(super) fn moved(
    x: &Fact,
    shape: &[Dim],
    f: impl Fn(&[usize], &mut [usize]),
) -> Option<Vec<Dim>> {
    let value = x.value.as_deref()?;
    let from = dim::as_sizes(x.shape.as_deref()?)?;
    let sizes = dim::as_sizes(shape)?;
    if MAX_TRACKED < crate::tensor::n_elements(&sizes)? {
        return None;
    }
    let mut found = Vec::new();
    let mut place = vec![0; from.len()];
    for position in positions(&sizes) {
        place.fill(0);
        f(&position, &mut place);
        found.push(value.get(stretched(&place, &from))?.clone());
    }
    Some(found)
}

fn squeeze(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let axes = scope.list(1, "axes");
    let (Some(shape), Ok(axes)) = (&x.shape, axes) else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let gone = match axes {
        None => (0..shape.len()).filter(|&axis| shape[axis].is_one()).collect(),
        Some(axes) => scope.axes(&axes, shape.len())?,
    };
    for &axis in &gone {
        scope.check_equal(&format!("dimension {axis}"), &Dim::known(1), &shape[axis])?;
    }
    let kept = shape.iter().enumerate().filter(|(axis, _)| !gone.contains(axis));
    let shape = kept.map(|(_, dim)| dim.clone()).collect();
    let fact = Fact::new(x.element_type, shape).with_value(x.value.clone());
    Ok(vec![Fact { floats: x.floats.clone(), ..fact }])
}

fn unsqueeze(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let (Some(shape), Ok(Some(axes))) = (&x.shape, scope.list(1, "axes")) else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let rank = shape.len() + axes.len();
    let new = scope.axes(&axes, rank)?;
    let mut old = shape.iter();
    let mut found = Vec::with_capacity(rank);
    for axis in 0..rank {
        let dim = if new.contains(&axis) { None } else { old.next() };
        found.push(dim.cloned().unwrap_or_else(|| Dim::known(1)));
    }
    let fact = Fact::new(x.element_type, found).with_value(x.value.clone());
    Ok(vec![Fact { floats: x.floats.clone(), ..fact }])
}

fn expand(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let target = scope.required(1)?;
    let Some(wanted) = &target.value else {
        let n_wanted = target.shape.as_deref().and_then(|shape| shape.first()?.as_size());
        let shape = x
            .shape
            .as_deref()
            .zip(n_wanted)
            .map(|(shape, n_wanted)| scope.fresh_shape(0, shape.len().max(n_wanted.min(64))));
        return Ok(vec![Fact { shape, ..Fact::of_type(x.element_type) }]);
    };
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    if let Some(number) = wanted.iter().filter_map(Dim::as_known).find(|&number| number < 0) {
        return Err(scope.contradiction(format!("a dimension should be a size, found {number}")));
    }
    let found = scope.broadcast(shape, wanted)?;
    let n_new = found.len() - shape.len();
    let value = moved(x, &found, |position, place| place.copy_from_slice(&position[n_new..]));
    Ok(vec![Fact::new(x.element_type, found).with_value(value)])
}

fn concat(scope: &Scope<'_>) -> Found {
    let element_type = scope.required(0)?.element_type;
    let parts: Option<Vec<&[Dim]>> =
        scope.inputs().iter().flatten().map(|fact| fact.shape.as_deref()).collect();
    let Some(parts) = parts else {
        return Ok(vec![Fact::of_type(element_type)]);
    };
    let Some((first, rest)) = parts.split_first() else {
        return Ok(vec![Fact::of_type(element_type)]);
    };
    let axis = scope.axis(scope.node.int("axis").unwrap_or(0), first.len())?;
    let mut shape = first.to_vec();
    for part in rest {
        if part.len() != shape.len() {
            return Err(scope.contradiction(format!(
                "all parts should have {} dimensions, found {}",
                shape.len(),
                dim::describe(part)
            )));
        }
        for (idx, (dim, of_part)) in shape.iter_mut().zip(*part).enumerate() {
            if idx == axis {
                *dim = sum(dim, of_part).unwrap_or_else(|| scope.fresh(0, axis));
            } else {
                scope.check_equal(&format!("dimension {idx} of every part"), dim, of_part)?;
                if dim.as_known().is_none() && (of_part.as_known().is_some() || super::is_open(dim))
                {
                    dim.clone_from(of_part);
                }
            }
        }
    }
    let value = if first.len() == 1 { joined(scope) } else { None };
    Ok(vec![Fact::new(element_type, shape).with_value(value)])
}

/// The contents of lists one after the other.
///
/// A single number that is not known becomes a symbol, so that the rest of a shape stays known.
fn joined(scope: &Scope<'_>) -> Option<Vec<Dim>> {
    let mut value = Vec::new();
    for fact in scope.inputs().iter().flatten() {
        let n_places = fact.shape.as_deref()?.first()?.as_size()?;
        match &fact.value {
            Some(part) => value.extend_from_slice(part),
            None if fact.element_type.is_float() || 64 < n_places => return None,
            None => {
                let n_before = value.len();
                value.extend((n_before..n_before + n_places).map(|idx| scope.fresh_number(idx)));
            }
        }
        if MAX_TRACKED < value.len() {
            return None;
        }
    }
    Some(value)
}

fn split(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let n_outputs = scope.node.outputs.len();
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(x.element_type); n_outputs]);
    };
    let axis = scope.axis(scope.node.int("axis").unwrap_or(0), shape.len())?;
    let sizes: Option<Vec<Dim>> = match scope.list(1, "split") {
        Err(()) => scope.value(1).map(<[Dim]>::to_vec),
        Ok(Some(sizes)) => {
            if sizes.len() != n_outputs {
                return Err(scope.contradiction(format!(
                    "there should be {n_outputs} sizes, one per part, found {}",
                    sizes.len()
                )));
            }
            let total = sizes.iter().try_fold(0_i64, |total, &size| total.checked_add(size));
            if sizes.iter().any(|&size| size < 0)
                || shape[axis].as_known().is_some_and(|whole| total != Some(whole))
            {
                return Err(scope.contradiction(format!(
                    "the sizes {sizes:?} should add up to {}",
                    shape[axis]
                )));
            }
            Some(sizes.into_iter().map(Dim::known).collect())
        }
        Ok(None) => equal_parts(&shape[axis], n_outputs),
    };
    let part = |idx: usize| {
        let mut shape = shape.clone();
        let size = sizes.as_ref().and_then(|sizes| sizes.get(idx).cloned());
        shape[axis] = size.unwrap_or_else(|| scope.fresh(idx, axis));
        shape
    };
    let mut found = Vec::with_capacity(n_outputs);
    let mut start = Some(0_usize);
    for idx in 0..n_outputs {
        let shape = part(idx);
        let value = start.and_then(|start| {
            moved(x, &shape, |position, place| {
                place.copy_from_slice(position);
                place[axis] += start;
            })
        });
        start = start.zip(shape[axis].as_size()).and_then(|(start, size)| start.checked_add(size));
        found.push(Fact::new(x.element_type, shape).with_value(value));
    }
    Ok(found)
}

/// The sizes of parts that are equal but for a smaller last one.
fn equal_parts(whole: &Dim, n_parts: usize) -> Option<Vec<Dim>> {
    let n_parts_dim = Dim::from_size(n_parts);
    if let Some(part) = whole.divided_by(&n_parts_dim) {
        return Some(vec![part; n_parts]);
    }
    let (whole, n) = (whole.as_known()?, n_parts_dim.as_known()?);
    let size = whole.checked_add(n - 1)?.checked_div(n)?;
    let mut sizes = vec![Dim::known(size); n_parts];
    let last = whole.checked_sub(size.checked_mul(n - 1)?)?;
    *sizes.last_mut()? = Dim::known(last.max(0));
    Some(sizes)
}

fn slice(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let n_cuts = scope.shape(1).and_then(|shape| shape.first()?.as_size());
    let axes = match scope.optional(3) {
        Some(_) => scope.numbers(3),
        None => n_cuts.map(|n_cuts| (0..).take(n_cuts.min(shape.len())).collect()),
    };
    let Some(axes) = axes else {
        return Ok(vec![Fact::new(x.element_type, scope.fresh_shape(0, shape.len()))]);
    };
    let axes = scope.axes(&axes, shape.len())?;
    let mut found = shape.clone();
    // Per axis the first index and the step, while they are known.
    let mut walk = vec![Some((0_i64, 1_i64)); shape.len()];
    for (idx, &axis) in axes.iter().enumerate() {
        let start = scope.value(1).and_then(|value| value.get(idx));
        let end = scope.value(2).and_then(|value| value.get(idx));
        let step = match scope.optional(4) {
            Some(_) => scope.value(4).and_then(|value| value.get(idx)?.as_known()),
            None => Some(1),
        };
        if step == Some(0) {
            return Err(scope.contradiction("a step should not be 0"));
        }
        let cut = start
            .zip(end)
            .zip(step)
            .and_then(|((start, end), step)| cut_known(&shape[axis], start, end, step));
        let symbolic = || {
            let size = start
                .zip(end)
                .zip(step)
                .and_then(|((start, end), step)| cut_symbolic(&shape[axis], start, end, step));
            (size.unwrap_or_else(|| scope.fresh(0, axis)), None)
        };
        (found[axis], walk[axis]) = match cut {
            Some((size, first, step)) => (size, Some((first, step))),
            None => symbolic(),
        };
    }
    let walk: Option<Vec<(i64, i64)>> = walk.into_iter().collect();
    let value = walk.and_then(|walk| {
        moved(x, &found, |position, place| {
            for ((&idx, place), &(first, step)) in position.iter().zip(place).zip(&walk) {
                let idx = i64::try_from(idx).unwrap_or(0);
                *place = usize::try_from(first + idx * step).unwrap_or(0);
            }
        })
    });
    Ok(vec![Fact::new(x.element_type, found).with_value(value)])
}

/// The size of a cut through a dimension of known size, its first index and its step.
fn cut_known(size: &Dim, start: &Dim, end: &Dim, step: i64) -> Option<(Dim, i64, i64)> {
    let (size, start, end) = (size.as_known()?, start.as_known()?, end.as_known()?);
    let from_front = |idx: i64| if idx < 0 { idx.saturating_add(size) } else { idx };
    let (start, end) = (from_front(start), from_front(end));
    let (start, n_steps) = if 0 < step {
        let (start, end) = (start.clamp(0, size), end.clamp(0, size));
        (start, end.checked_sub(start)?.checked_add(step - 1)? / step)
    } else {
        let (start, end) = (start.clamp(0, (size - 1).max(0)), end.clamp(-1, size - 1));
        (start, start.checked_sub(end)?.checked_sub(step)?.checked_sub(1)? / step.checked_neg()?)
    };
    Some((Dim::known(n_steps.max(0)), start, step))
}

/// The size of a cut through a dimension of unknown size, where it can be said.
fn cut_symbolic(size: &Dim, start: &Dim, end: &Dim, step: i64) -> Option<Dim> {
    const FAR: i64 = i32::MAX as i64 - 1;
    let is_from_start = start.as_known() == Some(0);
    let is_to_end = end == size || end.as_known().is_some_and(|end| FAR <= end);
    match step {
        1 if is_from_start && is_to_end => Some(size.clone()),
        -1 if start.as_known() == Some(-1) && end.as_known().is_some_and(|end| end <= -FAR) => {
            Some(size.clone())
        }
        1 => match (start.as_known(), end.as_known()) {
            // The first or last element of a dimension that has at least one.
            (Some(0), Some(1)) => Some(Dim::known(1)),
            (Some(-1), _) if is_to_end => Some(Dim::known(1)),
            // A cut within what every value of the symbols reaches.
            (Some(start), Some(end)) if 0 <= start && start <= end && end <= size.factor() => {
                Some(Dim::known(end - start))
            }
            (None, None) => sum(end, &super::scope::negated(start)?),
            (Some(0), None) => Some(end.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn tile(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let Some(repeats) = scope.value(1) else {
        return Ok(vec![Fact::new(x.element_type, scope.fresh_shape(0, shape.len()))]);
    };
    if repeats.len() != shape.len() {
        return Err(scope.contradiction(format!(
            "there should be {} repeats, one per dimension, found {}",
            shape.len(),
            repeats.len()
        )));
    }
    let tiled = shape.iter().zip(repeats).enumerate();
    let tiled = tiled.map(|(axis, (dim, n))| dim.times(n).unwrap_or_else(|| scope.fresh(0, axis)));
    Ok(vec![Fact::new(x.element_type, tiled.collect())])
}

fn pad(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let rank = shape.len();
    let axes = match scope.optional(3) {
        Some(_) => scope.numbers(3),
        None => Some((0..).take(rank).collect()),
    };
    let (Ok(Some(pads)), Some(axes)) = (scope.list(1, "pads"), axes) else {
        return Ok(vec![Fact::new(x.element_type, scope.fresh_shape(0, rank))]);
    };
    let axes = scope.axes(&axes, rank)?;
    if pads.len() != 2 * axes.len() {
        return Err(scope.contradiction(format!(
            "there should be {} pads, two per dimension, found {}",
            2 * axes.len(),
            pads.len()
        )));
    }
    let mut found = shape.clone();
    for (idx, &axis) in axes.iter().enumerate() {
        let total = pads[idx].checked_add(pads[idx + axes.len()]);
        let total = total.ok_or_else(|| scope.contradiction("the pads are too large"))?;
        let padded = sum(&found[axis], &Dim::known(total));
        if padded.as_ref().and_then(Dim::as_known).is_some_and(|size| size < 0) {
            return Err(scope.contradiction(format!(
                "dimension {axis} of size {} cannot lose {}",
                found[axis],
                total.unsigned_abs()
            )));
        }
        found[axis] = padded.unwrap_or_else(|| scope.fresh(0, axis));
    }
    Ok(vec![Fact::new(x.element_type, found)])
}

/// `DepthToSpace` and `SpaceToDepth`: channels become blocks of pixels, or the other way round.
fn blocks(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::new(x.element_type, scope.fresh_shape(0, 4))]);
    };
    let [n, channels, height, width] = shape.as_slice() else {
        return Err(scope.contradiction(format!(
            "the value should have 4 dimensions, found {}",
            dim::describe(shape)
        )));
    };
    let size = scope.node.int("blocksize").filter(|&size| 0 < size && size < 1 << 20);
    let size =
        size.ok_or_else(|| scope.contradiction("`blocksize` should be a small number above 0"))?;
    let (side, area) = (Dim::known(size), Dim::known(size * size));
    let is_to_space = scope.node.op == "DepthToSpace";
    let grown =
        |dim: &Dim, by: &Dim, axis: usize| dim.times(by).unwrap_or_else(|| scope.fresh(0, axis));
    let shrunk = |dim: &Dim, by: &Dim, axis: usize| match dim.divided_by(by) {
        Some(dim) => Ok(dim),
        None if dim.as_known().is_none() => Ok(scope.fresh(0, axis)),
        None => Err(scope
            .contradiction(format!("dimension {axis} should be a multiple of {by}, found {dim}"))),
    };
    let shape = if is_to_space {
        vec![
            n.clone(),
            shrunk(channels, &area, 1)?,
            grown(height, &side, 2),
            grown(width, &side, 3),
        ]
    } else {
        vec![
            n.clone(),
            grown(channels, &area, 1),
            shrunk(height, &side, 2)?,
            shrunk(width, &side, 3)?,
        ]
    };
    Ok(vec![Fact::new(x.element_type, shape)])
}
