//! Operators that move elements or ask for shapes: nothing here computes with floats.

use super::args::{Args, Operator, Outcome, size_of};
use super::array::{
    Array, Items, Problem, axes_of, axis_of, broadcast_shape, checked_len, for_each_index, offset,
    strides, to_int,
};
use crate::graph::Attribute;

/// Finds an operator of this family.
pub(super) fn operator(op: &str) -> Option<Operator> {
    let operator: Operator = match op {
        "Reshape" => reshape,
        "Flatten" => flatten,
        "Transpose" => transpose,
        "Squeeze" => squeeze,
        "Unsqueeze" => unsqueeze,
        "Expand" => expand,
        "Concat" => concat,
        "Split" => split,
        "Slice" => slice,
        "Pad" => pad,
        "Tile" => tile,
        "Shape" => shape,
        "Size" => |args| Ok(vec![Array::ints(vec![], vec![args.input(0)?.len() as i64])?]),
        "ConstantOfShape" => constant_of_shape,
        "Constant" => constant,
        "Range" => range,
        "DepthToSpace" => depth_to_space,
        "SpaceToDepth" => space_to_depth,
        _ => return None,
    };
    Some(operator)
}

/// Sizes from an input.
fn sizes(args: &Args<'_>, idx: usize) -> Result<Vec<usize>, Problem> {
    args.ints(idx)?.iter().map(|&size| size_of(size, 0, "a size")).collect()
}

/// The axes that an input, or in old files a setting, gives.
fn given_axes<'a>(args: &Args<'a>, idx: usize) -> Result<Option<&'a [i64]>, Problem> {
    Ok(args.optional_ints(idx)?.or(args.node.ints("axes")))
}

/// The same elements in another shape; 0 copies a size and −1 is worked out.
fn reshape(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let zero_is_zero = args.flag_or("allowzero", false);
    let wanted = args.ints(1)?;
    let mut open = None;
    let mut shape = Vec::with_capacity(wanted.len());
    for (axis, &size) in wanted.iter().enumerate() {
        shape.push(match size {
            -1 if open.is_none() => {
                open = Some(axis);
                1
            }
            0 if !zero_is_zero => *x
                .shape
                .get(axis)
                .ok_or_else(|| format!("shape {:?} has no dimension {axis} to copy", x.shape))?,
            size => size_of(size, 0, "a size")?,
        });
    }
    if let Some(axis) = open {
        let rest = checked_len(&shape)?;
        if rest == 0 || !x.len().is_multiple_of(rest) {
            return Err(format!("shape {:?} does not fit into {wanted:?}", x.shape));
        }
        shape[axis] = x.len() / rest;
    }
    Ok(vec![x.reshaped(shape)?])
}

/// A matrix: dimensions before `axis` by those from there on.
fn flatten(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let axis = args.int_or("axis", 1);
    // Counted from the front, it may stand behind the last dimension.
    let axis = axis_of(axis, if axis < 0 { x.rank() } else { x.rank() + 1 })?;
    let shape = vec![checked_len(&x.shape[..axis])?, checked_len(&x.shape[axis..])?];
    Ok(vec![x.reshaped(shape)?])
}

/// The array with its dimensions in another order.
fn transposed(x: &Array, order: &[usize]) -> Result<Array, Problem> {
    let own = strides(&x.shape);
    let shape: Vec<usize> = order.iter().map(|&axis| x.shape[axis]).collect();
    let steps: Vec<usize> = order.iter().map(|&axis| own[axis]).collect();
    let mut sources = Vec::with_capacity(x.len());
    for_each_index(&shape, |index| sources.push(offset(index, &steps)));
    x.pick(shape, &sources)
}

/// Dimensions in another order.
fn transpose(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let order: Vec<usize> = match args.node.ints("perm") {
        None => (0..x.rank()).rev().collect(),
        Some(order) => {
            // Checks that each dimension is named once.
            if axes_of(order, x.rank())?.len() != x.rank() {
                return Err(format!(
                    "`perm` should order {} dimensions, found {order:?}",
                    x.rank()
                ));
            }
            order.iter().map(|&axis| axis_of(axis, x.rank())).collect::<Result<_, _>>()?
        }
    };
    Ok(vec![transposed(x, &order)?])
}

/// Takes away dimensions of size one.
fn squeeze(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let axes = match given_axes(args, 1)? {
        Some(axes) => axes_of(axes, x.rank())?,
        None => (0..x.rank()).filter(|&axis| x.shape[axis] == 1).collect(),
    };
    if let Some(&axis) = axes.iter().find(|&&axis| x.shape[axis] != 1) {
        return Err(format!("dimension {axis} of {:?} should have size 1", x.shape));
    }
    let kept = (0..x.rank()).filter(|axis| !axes.contains(axis));
    let shape = kept.map(|axis| x.shape[axis]).collect();
    Ok(vec![x.reshaped(shape)?])
}

/// Puts in dimensions of size one.
fn unsqueeze(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let axes = given_axes(args, 1)?.ok_or("the axes are missing")?;
    let axes = axes_of(axes, x.rank() + axes.len())?;
    let mut shape = x.shape.clone();
    for axis in axes {
        shape.insert(axis, 1);
    }
    Ok(vec![x.reshaped(shape)?])
}

/// Repeats along dimensions of size one, on either side.
fn expand(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let shape = broadcast_shape(&[&x.shape, &sizes(args, 1)?])?;
    Ok(vec![x.broadcast(&shape)?])
}

/// Joins arrays along a dimension.
fn concat(args: &Args<'_>) -> Outcome {
    let inputs = args.all_inputs()?;
    let first = inputs[0];
    if !args.has("axis") {
        return Err("the setting `axis` is missing".to_owned());
    }
    let axis = args.axis_or("axis", 0, first.rank())?;
    let mut shape = first.shape.clone();
    shape[axis] = 0;
    for input in &inputs {
        let fits = input.rank() == first.rank()
            && (0..first.rank()).all(|dim| dim == axis || input.shape[dim] == first.shape[dim]);
        if !fits {
            return Err(format!(
                "shapes {:?} and {:?} cannot be joined along dimension {axis}",
                first.shape, input.shape
            ));
        }
        shape[axis] += input.shape[axis];
    }
    checked_len(&shape)?;
    let n_outer = checked_len(&shape[..axis])?;
    let n_inner = checked_len(&shape[axis + 1..])?;
    let items = match &first.items {
        Items::Floats(_) => {
            Items::Floats(joined(&inputs, n_outer, n_inner, axis, |items| match items {
                Items::Floats(items) => Some(items),
                _ => None,
            })?)
        }
        Items::Ints(_) => {
            Items::Ints(joined(&inputs, n_outer, n_inner, axis, |items| match items {
                Items::Ints(items) => Some(items),
                _ => None,
            })?)
        }
        Items::Bools(_) => {
            Items::Bools(joined(&inputs, n_outer, n_inner, axis, |items| match items {
                Items::Bools(items) => Some(items),
                _ => None,
            })?)
        }
    };
    Ok(vec![Array::new(shape, items)?])
}

/// The elements of joined arrays.
fn joined<T: Copy>(
    inputs: &[&Array],
    n_outer: usize,
    n_inner: usize,
    axis: usize,
    items_of: fn(&Items) -> Option<&Vec<T>>,
) -> Result<Vec<T>, Problem> {
    let mut made = Vec::new();
    for outer in 0..n_outer {
        for input in inputs {
            let items = items_of(&input.items).ok_or("all inputs should be of one kind")?;
            let run = input.shape[axis] * n_inner;
            made.extend_from_slice(&items[outer * run..(outer + 1) * run]);
        }
    }
    Ok(made)
}

/// The part of an array along one dimension: places `start`, `start + step`, ….
fn part(x: &Array, axis: usize, start: usize, step: i64, n: usize) -> Result<Array, Problem> {
    let mut shape = x.shape.clone();
    shape[axis] = n;
    let own = strides(&x.shape);
    let mut sources = Vec::with_capacity(checked_len(&shape)?);
    for_each_index(&shape, |index| {
        let place = start as i64 + index[axis] as i64 * step;
        let place = usize::try_from(place).expect("because callers stay within the dimension");
        sources.push(offset(index, &own) - index[axis] * own[axis] + place * own[axis]);
    });
    x.pick(shape, &sources)
}

/// Cuts an array into pieces along a dimension.
fn split(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let axis = args.axis_or("axis", 0, x.rank())?;
    let size = x.shape[axis];
    let given = args.optional_ints(1)?.or(args.node.ints("split"));
    let sizes: Vec<usize> = match given {
        Some(sizes) => {
            sizes.iter().map(|&size| size_of(size, 0, "a piece")).collect::<Result<_, _>>()?
        }
        None => {
            let n = args.int_or("num_outputs", args.node.outputs.len() as i64);
            let n = size_of(n, 1, "num_outputs")?;
            if size < n {
                return Err(format!("{size} places cannot be cut into {n} pieces"));
            }
            // The last piece is smaller if the pieces cannot be equal.
            let piece = size.div_ceil(n);
            (0..n).map(|idx| piece.min(size.saturating_sub(idx * piece))).collect()
        }
    };
    let total = sizes.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size));
    if total != Some(size) {
        return Err(format!("pieces {sizes:?} should add up to {size}"));
    }
    let mut start = 0;
    let mut pieces = Vec::with_capacity(sizes.len());
    for n in sizes {
        pieces.push(part(x, axis, start, 1, n)?);
        start += n;
    }
    Ok(pieces)
}

/// Parts of an array, forwards or backwards along each dimension.
fn slice(args: &Args<'_>) -> Outcome {
    let mut x = args.input(0)?.clone();
    let (starts, ends) = (args.ints(1)?, args.ints(2)?);
    let all: Vec<i64> = (0..starts.len() as i64).collect();
    let axes = args.optional_ints(3)?.unwrap_or(&all);
    let ones = vec![1; starts.len()];
    let steps = args.optional_ints(4)?.unwrap_or(&ones);
    if ends.len() != starts.len() || axes.len() != starts.len() || steps.len() != starts.len() {
        return Err("starts, ends, axes and steps should be of one length".to_owned());
    }
    axes_of(axes, x.rank())?;
    for (idx, &axis) in axes.iter().enumerate() {
        let axis = axis_of(axis, x.rank())?;
        let size = x.shape[axis] as i64;
        let step = steps[idx];
        let from_front = |place: i64| if place < 0 { place.saturating_add(size) } else { place };
        let (start, end) = (from_front(starts[idx]), from_front(ends[idx]));
        let (start, n) = match step {
            0 => return Err("a step should not be zero".to_owned()),
            1.. => {
                let (start, end) = (start.clamp(0, size), end.clamp(0, size));
                (start, if start < end { (end - start - 1) / step + 1 } else { 0 })
            }
            _ => {
                let (start, end) = (start.clamp(-1, size - 1), end.clamp(-1, size - 1));
                let back = i64::try_from(step.unsigned_abs()).unwrap_or(i64::MAX);
                (start, if end < start { (start - end - 1) / back + 1 } else { 0 })
            }
        };
        let (start, n) = (start.max(0), usize::try_from(n).unwrap_or(0));
        // With at most one element the step does not matter, and could be huge.
        let step = if n <= 1 { 1 } else { step };
        x = part(&x, axis, usize::try_from(start).unwrap_or(0), step, n)?;
    }
    Ok(vec![x])
}

/// Adds or takes away places around an array.
fn pad(args: &Args<'_>) -> Outcome {
    let mut x = args.input(0)?.clone();
    let mode = args.text_or("mode", "constant");
    if !["constant", "reflect", "edge", "wrap"].contains(&mode) {
        return Err(format!("`mode` should be a known one, found `{mode}`"));
    }
    let axes: Vec<usize> = match args.optional_ints(3)? {
        Some(axes) => axes.iter().map(|&axis| axis_of(axis, x.rank())).collect::<Result<_, _>>()?,
        None => (0..x.rank()).collect(),
    };
    let pads = args.ints(1)?;
    if pads.len() != 2 * axes.len() {
        return Err(format!("there should be {} pads, found {}", 2 * axes.len(), pads.len()));
    }
    let filler = match args.optional(2) {
        Some(filler) if filler.len() == 1 => filler.reshaped(vec![1])?,
        Some(filler) => {
            return Err(format!("the filler should be one value, found shape {:?}", filler.shape));
        }
        None => match &x.items {
            Items::Floats(_) => Array::floats(vec![1], vec![0.0])?,
            Items::Ints(_) => Array::ints(vec![1], vec![0])?,
            Items::Bools(_) => Array::bools(vec![1], vec![false])?,
        },
    };
    for (idx, &axis) in axes.iter().enumerate() {
        let (before, after) = (pads[idx], pads[idx + axes.len()]);
        // What is taken away is gone before anything is added.
        let (cut_before, cut_after) = (before.min(0).unsigned_abs(), after.min(0).unsigned_abs());
        let size = x.shape[axis] as u64;
        let kept = size.checked_sub(cut_before).and_then(|kept| kept.checked_sub(cut_after));
        let kept = kept.and_then(|kept| usize::try_from(kept).ok()).ok_or_else(|| {
            format!("pads {before} and {after} take away more than {size} places")
        })?;
        x = part(&x, axis, usize::try_from(cut_before).unwrap_or(0), 1, kept)?;
        let (before, after) =
            (size_of(before.max(0), 0, "a pad")?, size_of(after.max(0), 0, "a pad")?);
        x = padded(&x, axis, before, after, mode, &filler)?;
    }
    Ok(vec![x])
}

/// Adds places along one dimension.
fn padded(
    x: &Array,
    axis: usize,
    before: usize,
    after: usize,
    mode: &str,
    filler: &Array,
) -> Result<Array, Problem> {
    if before == 0 && after == 0 {
        return Ok(x.clone());
    }
    let size = x.shape[axis];
    if size == 0 && mode != "constant" {
        return Err(format!("an empty dimension cannot be padded by {mode}"));
    }
    let mut shape = x.shape.clone();
    shape[axis] = before + size + after;
    checked_len(&shape)?;
    let source_of = |place: usize| -> Option<usize> {
        let (place, size) = (place as i64 - before as i64, size as i64);
        let source = match mode {
            "edge" => place.clamp(0, size - 1),
            "wrap" => place.rem_euclid(size),
            "reflect" if size == 1 => 0,
            "reflect" => {
                let back_and_forth = place.rem_euclid(2 * (size - 1));
                back_and_forth.min(2 * (size - 1) - back_and_forth)
            }
            _ => place,
        };
        usize::try_from(source).ok().filter(|&source| (source as i64) < size)
    };
    // The filler stands behind the last element.
    let with_filler = match (&x.items, &filler.items) {
        (Items::Floats(x), Items::Floats(filler)) => Items::Floats([&x[..], &filler[..]].concat()),
        (Items::Ints(x), Items::Ints(filler)) => Items::Ints([&x[..], &filler[..]].concat()),
        (Items::Bools(x), Items::Bools(filler)) => Items::Bools([&x[..], &filler[..]].concat()),
        (x, filler) => return Err(format!("{} cannot be padded with {}", x.kind(), filler.kind())),
    };
    let filler_at = x.len();
    let x = Array { shape: vec![filler_at + 1], items: with_filler };
    let mut narrow = shape.clone();
    narrow[axis] = size;
    let own = strides(&narrow);
    let mut sources = Vec::with_capacity(checked_len(&shape)?);
    for_each_index(&shape, |index| {
        sources.push(match source_of(index[axis]) {
            Some(source) => {
                let outside: usize = (0..index.len())
                    .filter(|&dim| dim != axis)
                    .map(|dim| index[dim] * own[dim])
                    .sum();
                outside + source * own[axis]
            }
            None => filler_at,
        });
    });
    x.pick(shape, &sources)
}

/// Repeats an array.
fn tile(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let repeats = sizes(args, 1)?;
    if repeats.len() != x.rank() {
        return Err(format!("there should be {} repeats, found {}", x.rank(), repeats.len()));
    }
    let shape: Option<Vec<usize>> =
        x.shape.iter().zip(&repeats).map(|(size, n)| size.checked_mul(*n)).collect();
    let shape = shape.ok_or("the result should not be huge")?;
    let own = strides(&x.shape);
    let mut sources = Vec::with_capacity(checked_len(&shape)?);
    for_each_index(&shape, |index| {
        let places = index.iter().zip(&x.shape).zip(&own);
        sources.push(places.map(|((place, size), step)| place % size * step).sum());
    });
    Ok(vec![x.pick(shape, &sources)?])
}

/// The shape, or a part of it.
fn shape(args: &Args<'_>) -> Outcome {
    let shape: Vec<i64> = args.input(0)?.shape.iter().map(|&size| size as i64).collect();
    let rank = shape.len() as i64;
    let place = |axis: i64| {
        let axis = if axis < 0 { axis.saturating_add(rank) } else { axis };
        usize::try_from(axis.clamp(0, rank)).unwrap_or(0)
    };
    let (start, end) = (place(args.int_or("start", 0)), place(args.int_or("end", rank)));
    let part = shape.get(start..end).unwrap_or_default().to_vec();
    Ok(vec![Array::ints(vec![part.len()], part)?])
}

/// One value everywhere.
fn constant_of_shape(args: &Args<'_>) -> Outcome {
    let shape = sizes(args, 0)?;
    let len = checked_len(&shape)?;
    let value = match args.node.tensor("value") {
        Some(tensor) => Array::of_tensor(tensor).ok_or("`value` should be a number")?,
        None => Array::floats(vec![1], vec![0.0])?,
    };
    if value.len() != 1 {
        return Err(format!("`value` should be one number, found shape {:?}", value.shape));
    }
    Ok(vec![value.pick(shape, &vec![0; len])?])
}

/// A constant, in any of the forms that a file may give.
fn constant(args: &Args<'_>) -> Outcome {
    let found = ["value", "value_float", "value_floats", "value_int", "value_ints"]
        .iter()
        .find_map(|name| args.attribute(name));
    let constant = match found {
        Some(Attribute::Tensor(tensor)) => {
            Array::of_tensor(tensor).ok_or("the value should be numbers")?
        }
        Some(Attribute::Float(value)) => Array::floats(vec![], vec![f64::from(*value)])?,
        Some(Attribute::Floats(values)) => Array::floats(
            vec![values.len()],
            values.iter().map(|&value| f64::from(value)).collect(),
        )?,
        Some(Attribute::Int(value)) => Array::ints(vec![], vec![*value])?,
        Some(Attribute::Ints(values)) => Array::ints(vec![values.len()], values.clone())?,
        _ => return Err("the value should be numbers".to_owned()),
    };
    Ok(vec![constant])
}

/// Numbers from a start, in steps, to before a limit.
fn range(args: &Args<'_>) -> Outcome {
    let too_long = || format!("a range should have at most {} numbers", super::array::MAX_ELEMENTS);
    if let Items::Ints(_) = args.input(0)?.items {
        let (start, limit, step) = (args.one_int(0)?, args.one_int(1)?, args.one_int(2)?);
        if step == 0 {
            return Err("the step should not be zero".to_owned());
        }
        let distance = i128::from(limit) - i128::from(start);
        let n = if distance == 0 || (distance < 0) != (step < 0) {
            0
        } else {
            // A last shorter step counts.
            (distance.unsigned_abs() - 1) / u128::from(step.unsigned_abs()) + 1
        };
        let n = usize::try_from(n).map_err(|_| too_long())?;
        checked_len(&[n]).map_err(|_| too_long())?;
        let items = (0..n as i64).map(|idx| start.wrapping_add(idx.wrapping_mul(step))).collect();
        return Ok(vec![Array::ints(vec![n], items)?]);
    }
    let number = |idx: usize| match args.floats(idx)? {
        [number] => Ok(*number),
        other => Err(format!("input {idx} should be one number, found {}", other.len())),
    };
    let (start, limit, step) = (number(0)?, number(1)?, number(2)?);
    let n = ((limit - start) / step).ceil();
    if n.is_nan() || 1e9 < n {
        return Err(too_long());
    }
    let n = usize::try_from(to_int(n.max(0.0))).map_err(|_| too_long())?;
    checked_len(&[n]).map_err(|_| too_long())?;
    let items = (0..n).map(|idx| start + idx as f64 * step).collect();
    Ok(vec![Array::floats(vec![n], items)?])
}

/// The block size of a rearrangement and the shape it works on.
fn blocks(args: &Args<'_>) -> Result<(usize, [usize; 4]), Problem> {
    let x = args.input(0)?;
    let block = size_of(args.int_or("blocksize", 0), 1, "blocksize")?;
    let &[n, channels, rows, columns] = &x.shape[..] else {
        return Err(format!("the input should be pictures, found shape {:?}", x.shape));
    };
    Ok((block, [n, channels, rows, columns]))
}

/// Channels become blocks of pixels.
fn depth_to_space(args: &Args<'_>) -> Outcome {
    let (block, [n, channels, rows, columns]) = blocks(args)?;
    let squared = block.checked_mul(block).filter(|&squared| channels.is_multiple_of(squared));
    let squared =
        squared.ok_or_else(|| format!("{channels} channels do not fill blocks of {block}"))?;
    let depth = channels / squared;
    let x = args.input(0)?;
    let turned = match args.text_or("mode", "DCR") {
        "DCR" => {
            let cut = x.reshaped(vec![n, block, block, depth, rows, columns])?;
            transposed(&cut, &[0, 3, 4, 1, 5, 2])?
        }
        "CRD" => {
            let cut = x.reshaped(vec![n, depth, block, block, rows, columns])?;
            transposed(&cut, &[0, 1, 4, 2, 5, 3])?
        }
        other => return Err(format!("`mode` should be DCR or CRD, found `{other}`")),
    };
    Ok(vec![turned.reshaped(vec![n, depth, rows * block, columns * block])?])
}

/// Blocks of pixels become channels.
fn space_to_depth(args: &Args<'_>) -> Outcome {
    let (block, [n, channels, rows, columns]) = blocks(args)?;
    if !rows.is_multiple_of(block) || !columns.is_multiple_of(block) {
        return Err(format!("{rows} × {columns} pixels are not blocks of {block}"));
    }
    let (rows, columns) = (rows / block, columns / block);
    let cut = args.input(0)?.reshaped(vec![n, channels, rows, block, columns, block])?;
    let turned = transposed(&cut, &[0, 3, 5, 1, 2, 4])?;
    Ok(vec![turned.reshaped(vec![n, channels * block * block, rows, columns])?])
}
