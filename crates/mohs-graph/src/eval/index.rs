//! Gathering elements by index, and scattering them.

use super::args::{Args, Operator, Outcome, size_of};
use super::array::{Array, Items, Problem, checked_len, for_each_index, offset, place_of, strides};
use super::elementwise::{larger, smaller};

/// Finds an operator of this family.
pub(super) fn operator(op: &str) -> Option<Operator> {
    let operator: Operator = match op {
        "Gather" => gather,
        "GatherElements" => gather_elements,
        "GatherND" => gather_nd,
        "ScatterElements" | "Scatter" => scatter_elements,
        "ScatterND" => scatter_nd,
        "OneHot" => one_hot,
        "NonZero" => non_zero,
        _ => return None,
    };
    Some(operator)
}

/// Whole slices along a dimension, in the order of the indices.
fn gather(args: &Args<'_>) -> Outcome {
    let (x, indices) = (args.input(0)?, args.input(1)?);
    let axis = args.axis_or("axis", 0, x.rank())?;
    let places: Vec<usize> = args
        .ints(1)?
        .iter()
        .map(|&index| place_of(index, x.shape[axis]))
        .collect::<Result<_, _>>()?;
    let shape = [&x.shape[..axis], &indices.shape[..], &x.shape[axis + 1..]].concat();
    let mut sources = Vec::with_capacity(checked_len(&shape)?);
    let n_inner = checked_len(&x.shape[axis + 1..])?;
    for outer in 0..checked_len(&x.shape[..axis])? {
        for place in &places {
            let first = (outer * x.shape[axis] + place) * n_inner;
            sources.extend(first..first + n_inner);
        }
    }
    Ok(vec![x.pick(shape, &sources)?])
}

/// Where each element that is named by `indices` lies in an array of this shape.
fn element_places(
    shape: &[usize],
    indices: &Array,
    numbers: &[i64],
    axis: usize,
) -> Result<Vec<usize>, Problem> {
    let fits = indices.rank() == shape.len()
        && (0..shape.len()).all(|dim| dim == axis || indices.shape[dim] <= shape[dim]);
    if !fits {
        return Err(format!("indices of shape {:?} do not fit shape {shape:?}", indices.shape));
    }
    let own = strides(shape);
    let mut places = Vec::with_capacity(numbers.len());
    let mut problem = None;
    let mut numbers = numbers.iter();
    for_each_index(&indices.shape, |index| {
        let Some(&number) = numbers.next() else { return };
        match place_of(number, shape[axis]) {
            Ok(place) => {
                places.push(offset(index, &own) - index[axis] * own[axis] + place * own[axis])
            }
            Err(found) => problem = Some(found),
        }
    });
    problem.map_or(Ok(places), Err)
}

/// Single elements along a dimension.
fn gather_elements(args: &Args<'_>) -> Outcome {
    let (x, indices) = (args.input(0)?, args.input(1)?);
    let axis = args.axis_or("axis", 0, x.rank())?;
    let sources = element_places(&x.shape, indices, args.ints(1)?, axis)?;
    Ok(vec![x.pick(indices.shape.clone(), &sources)?])
}

/// The first element of each slice that is named by a whole index, and the size of the slices.
fn slice_places(
    shape: &[usize],
    indices: &Array,
    numbers: &[i64],
    n_batch: usize,
) -> Result<(Vec<usize>, usize), Problem> {
    let wrong = || format!("indices of shape {:?} do not fit shape {shape:?}", indices.shape);
    let [outer @ .., n_named] = indices.shape.as_slice() else {
        return Err(wrong());
    };
    let fits = n_named.checked_add(n_batch).is_some_and(|n| n <= shape.len())
        && n_batch <= outer.len()
        && outer.get(..n_batch) == shape.get(..n_batch);
    if !fits {
        return Err(wrong());
    }
    let own = strides(shape);
    let n_inner = checked_len(&shape[n_batch + n_named..])?;
    let mut places = Vec::with_capacity(checked_len(outer)?);
    let mut problem = None;
    let mut row = 0;
    for_each_index(outer, |index| {
        let mut first = offset(&index[..n_batch], &own[..n_batch]);
        for named in 0..*n_named {
            let axis = n_batch + named;
            match place_of(numbers[row * n_named + named], shape[axis]) {
                Ok(place) => first += place * own[axis],
                Err(found) => problem = Some(found),
            }
        }
        places.push(first);
        row += 1;
    });
    problem.map_or(Ok((places, n_inner)), Err)
}

/// Slices that are named by whole indices.
fn gather_nd(args: &Args<'_>) -> Outcome {
    let (x, indices) = (args.input(0)?, args.input(1)?);
    let n_batch = size_of(args.int_or("batch_dims", 0), 0, "batch_dims")?;
    let (firsts, n_inner) = slice_places(&x.shape, indices, args.ints(1)?, n_batch)?;
    let n_named = indices.shape.last().copied().unwrap_or(0);
    let outer = &indices.shape[..indices.rank() - 1];
    let shape = [outer, &x.shape[n_batch + n_named..]].concat();
    checked_len(&shape)?;
    let sources: Vec<usize> = firsts.iter().flat_map(|&first| first..first + n_inner).collect();
    Ok(vec![x.pick(shape, &sources)?])
}

/// Puts updates into places of an array, or joins them with what is there.
fn scatter(args: &Args<'_>, x: &Array, updates: &Array, targets: &[usize]) -> Outcome {
    if targets.len() != updates.len() {
        return Err(format!(
            "updates of shape {:?} should fill {} places",
            updates.shape,
            targets.len()
        ));
    }
    let mut made = x.clone();
    let reduction = args.text_or("reduction", "none");
    match (&mut made.items, &updates.items) {
        (Items::Floats(x), Items::Floats(updates)) => {
            let join: fn(f64, f64) -> f64 = match reduction {
                "none" => |_, new| new,
                "add" => |old, new| old + new,
                "mul" => |old, new| old * new,
                "min" => smaller,
                "max" => larger,
                other => return Err(format!("`reduction` should be a known one, found `{other}`")),
            };
            put(x, updates, targets, join)?;
        }
        (Items::Ints(x), Items::Ints(updates)) => {
            let join: fn(i64, i64) -> i64 = match reduction {
                "none" => |_, new| new,
                "add" => i64::wrapping_add,
                "mul" => i64::wrapping_mul,
                "min" => i64::min,
                "max" => i64::max,
                other => return Err(format!("`reduction` should be a known one, found `{other}`")),
            };
            put(x, updates, targets, join)?;
        }
        (Items::Bools(x), Items::Bools(updates)) if reduction == "none" => {
            put(x, updates, targets, |_, new| new)?;
        }
        (x, updates) => {
            return Err(format!("{} cannot be put into {}", updates.kind(), x.kind()));
        }
    }
    Ok(vec![made])
}

/// Joins each update with what is in its place.
fn put<T: Copy>(
    x: &mut [T],
    updates: &[T],
    targets: &[usize],
    join: fn(T, T) -> T,
) -> Result<(), Problem> {
    let len = x.len();
    for (&target, &update) in targets.iter().zip(updates) {
        let place =
            x.get_mut(target).ok_or_else(|| format!("place {target} is outside of {len}"))?;
        *place = join(*place, update);
    }
    Ok(())
}

/// Single elements put along a dimension.
fn scatter_elements(args: &Args<'_>) -> Outcome {
    let (x, indices, updates) = (args.input(0)?, args.input(1)?, args.input(2)?);
    let axis = args.axis_or("axis", 0, x.rank())?;
    if indices.shape != updates.shape {
        return Err(format!(
            "indices and updates should have one shape, found {:?} and {:?}",
            indices.shape, updates.shape
        ));
    }
    let targets = element_places(&x.shape, indices, args.ints(1)?, axis)?;
    scatter(args, x, updates, &targets)
}

/// Slices put where whole indices say.
fn scatter_nd(args: &Args<'_>) -> Outcome {
    let (x, indices, updates) = (args.input(0)?, args.input(1)?, args.input(2)?);
    let (firsts, n_inner) = slice_places(&x.shape, indices, args.ints(1)?, 0)?;
    // Checked before the list of places is made: updates are in memory already.
    if firsts.len().checked_mul(n_inner) != Some(updates.len()) {
        return Err(format!(
            "updates of shape {:?} should be {} slices of {n_inner}",
            updates.shape,
            firsts.len()
        ));
    }
    let targets: Vec<usize> = firsts.iter().flat_map(|&first| first..first + n_inner).collect();
    scatter(args, x, updates, &targets)
}

/// One value where the index says, another elsewhere, along a new dimension.
fn one_hot(args: &Args<'_>) -> Outcome {
    let indices = args.input(0)?;
    let numbers: Vec<i64> = match &indices.items {
        Items::Ints(items) => items.clone(),
        Items::Floats(items) => items.iter().map(|&x| super::array::to_int(x)).collect(),
        Items::Bools(_) => return Err("indices should be numbers, found truth values".to_owned()),
    };
    let depth = match &args.input(1)?.items {
        Items::Ints(depth) if depth.len() == 1 => depth[0],
        Items::Floats(depth) if depth.len() == 1 => super::array::to_int(depth[0]),
        _ => return Err("the depth should be one number".to_owned()),
    };
    let depth = size_of(depth, 0, "the depth")?;
    let values = args.input(2)?;
    if values.shape != [2] {
        return Err(format!("the values should be two, found shape {:?}", values.shape));
    }
    let axis = args.axis_or("axis", -1, indices.rank() + 1)?;
    let mut shape = indices.shape.clone();
    shape.insert(axis, depth);
    let mut sources = Vec::with_capacity(checked_len(&shape)?);
    let own = strides(&indices.shape);
    for_each_index(&shape, |index| {
        let before = offset(&index[..axis], &own[..axis]);
        let number = numbers[before + offset(&index[axis + 1..], &own[axis..])];
        // An index out of range marks nothing.
        let marked = if number < 0 { number.checked_add(depth as i64) } else { Some(number) };
        sources.push(usize::from(marked == Some(index[axis] as i64)));
    });
    Ok(vec![values.pick(shape, &sources)?])
}

/// The indices of everything that is not zero, one column each.
fn non_zero(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let is_set: Vec<bool> = match &x.items {
        Items::Floats(items) => items.iter().map(|&item| item != 0.0).collect(),
        Items::Ints(items) => items.iter().map(|&item| item != 0).collect(),
        Items::Bools(items) => items.clone(),
    };
    let mut rows = vec![Vec::new(); x.rank()];
    let mut is_set = is_set.into_iter();
    for_each_index(&x.shape, |index| {
        if is_set.next() == Some(true) {
            rows.iter_mut().zip(index).for_each(|(row, &place)| row.push(place as i64));
        }
    });
    let n_found = rows.first().map_or(0, Vec::len);
    Ok(vec![Array::ints(vec![x.rank(), n_found], rows.concat())?])
}
