//! Reductions: many numbers become one, along chosen dimensions; also running sums and the top few.

use super::args::{Args, Operator, Outcome, size_of};
use super::array::{
    Array, Items, Problem, axes_of, axis_of, checked_len, for_each_index, offset, strides,
};
use super::elementwise::{larger, smaller};

/// Finds an operator of this family.
pub(super) fn operator(op: &str) -> Option<Operator> {
    let operator: Operator = match op {
        "ReduceSum" => |args| number(args, sum, |x| x.iter().copied().fold(0, i64::wrapping_add)),
        "ReduceProd" => |args| {
            number(args, |x| x.iter().product(), |x| x.iter().copied().fold(1, i64::wrapping_mul))
        },
        "ReduceMax" => |args| {
            number(
                args,
                |x| x.iter().copied().fold(f64::NEG_INFINITY, larger),
                |x| x.iter().copied().max().unwrap_or(i64::MIN),
            )
        },
        "ReduceMin" => |args| {
            number(
                args,
                |x| x.iter().copied().fold(f64::INFINITY, smaller),
                |x| x.iter().copied().min().unwrap_or(i64::MAX),
            )
        },
        "ReduceMean" => |args| float(args, |x| sum(x) / x.len() as f64),
        "ReduceL1" => |args| float(args, |x| x.iter().map(|x| x.abs()).sum()),
        "ReduceL2" => |args| float(args, |x| squares(x).sqrt()),
        "ReduceSumSquare" => |args| float(args, squares),
        "ReduceLogSum" => |args| float(args, |x| sum(x).ln()),
        "ReduceLogSumExp" => |args| float(args, log_sum_exp),
        "ArgMax" => |args| extreme(args, |x, best| best < x),
        "ArgMin" => |args| extreme(args, |x, best| x < best),
        "CumSum" => running_sum,
        "TopK" => top,
        _ => return None,
    };
    Some(operator)
}

/// The sum.
fn sum(x: &[f64]) -> f64 {
    x.iter().sum()
}

/// The sum of squares.
fn squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// The logarithm of the sum of exponentials, without overflow.
fn log_sum_exp(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, larger);
    let shift = if largest.is_finite() { largest } else { 0.0 };
    shift + x.iter().map(|x| (x - shift).exp()).sum::<f64>().ln()
}

/// Which elements go into each element of a reduction, and the shape of the result.
struct Groups {
    members: Vec<Vec<usize>>,
    shape: Vec<usize>,
}

/// Groups the elements of the first input along these dimensions.
fn groups(args: &Args<'_>, axes: &[usize], keeps: bool) -> Result<Groups, Problem> {
    let x = args.input(0)?;
    let kept: Vec<usize> =
        (0..x.rank()).map(|axis| if axes.contains(&axis) { 1 } else { x.shape[axis] }).collect();
    let to = strides(&kept);
    let mut members = vec![Vec::new(); checked_len(&kept)?];
    let mut source = 0;
    for_each_index(&x.shape, |index| {
        let places = index.iter().zip(&to).enumerate();
        let target: usize = places
            .map(|(axis, (place, step))| if axes.contains(&axis) { 0 } else { place * step })
            .sum();
        members[target].push(source);
        source += 1;
    });
    let shape = if keeps {
        kept
    } else {
        (0..x.rank()).filter(|axis| !axes.contains(axis)).map(|axis| x.shape[axis]).collect()
    };
    Ok(Groups { members, shape })
}

/// The groups of a `Reduce` operator; `None` if it leaves everything as it is.
fn reduced(args: &Args<'_>) -> Result<Option<Groups>, Problem> {
    let rank = args.input(0)?.rank();
    let axes = match args.optional_ints(1)? {
        Some(axes) => Some(axes),
        None => args.node.ints("axes"),
    };
    let axes = match axes {
        None | Some([]) if args.flag_or("noop_with_empty_axes", false) => return Ok(None),
        None | Some([]) => (0..rank).collect(),
        Some(axes) => axes_of(axes, rank)?,
    };
    groups(args, &axes, args.flag_or("keepdims", true)).map(Some)
}

/// A reduction of floats.
fn float(args: &Args<'_>, function: fn(&[f64]) -> f64) -> Outcome {
    let x = args.floats(0)?;
    let shape = args.input(0)?.shape.clone();
    let Some(groups) = reduced(args)? else {
        // Without dimensions every number is its own group.
        let items = x.iter().map(|&x| function(&[x])).collect();
        return Ok(vec![Array::floats(shape, items)?]);
    };
    let of_group = |members: &Vec<usize>| {
        let numbers: Vec<f64> = members.iter().map(|&idx| x[idx]).collect();
        function(&numbers)
    };
    let items = groups.members.iter().map(of_group).collect();
    Ok(vec![Array::floats(groups.shape, items)?])
}

/// A reduction of numbers of either kind.
fn number(args: &Args<'_>, of_floats: fn(&[f64]) -> f64, of_ints: fn(&[i64]) -> i64) -> Outcome {
    let Items::Ints(x) = &args.input(0)?.items else {
        return float(args, of_floats);
    };
    let Some(groups) = reduced(args)? else {
        return Ok(vec![args.input(0)?.clone()]);
    };
    let of_group = |members: &Vec<usize>| {
        let numbers: Vec<i64> = members.iter().map(|&idx| x[idx]).collect();
        of_ints(&numbers)
    };
    let items = groups.members.iter().map(of_group).collect();
    Ok(vec![Array::ints(groups.shape, items)?])
}

/// The numbers of an input of either kind as floats, to be compared.
fn comparable(array: &Array) -> Result<Vec<f64>, Problem> {
    match &array.items {
        Items::Floats(items) => Ok(items.clone()),
        Items::Ints(items) => Ok(items.iter().map(|&x| x as f64).collect()),
        Items::Bools(_) => Err("the input should be numbers, found truth values".to_owned()),
    }
}

/// The place of the largest or smallest number along a dimension.
fn extreme(args: &Args<'_>, is_better: fn(f64, f64) -> bool) -> Outcome {
    let x = args.input(0)?;
    let numbers = comparable(x)?;
    let axis = args.axis_or("axis", 0, x.rank())?;
    let takes_last = args.flag_or("select_last_index", false);
    let groups = groups(args, &[axis], args.flag_or("keepdims", true))?;
    let mut items = Vec::with_capacity(groups.members.len());
    for members in &groups.members {
        let mut best: Option<(usize, f64)> = None;
        for (place, &idx) in members.iter().enumerate() {
            let better = best.is_none_or(|(_, so_far)| {
                is_better(numbers[idx], so_far) || (takes_last && !is_better(so_far, numbers[idx]))
            });
            if better {
                best = Some((place, numbers[idx]));
            }
        }
        let (place, _) = best.ok_or_else(|| format!("dimension {axis} should not be empty"))?;
        items.push(place as i64);
    }
    Ok(vec![Array::ints(groups.shape, items)?])
}

/// Sums of everything up to here.
fn running_sum(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let axis = axis_of(args.one_int(1)?, x.rank())?;
    let (is_exclusive, is_reverse) =
        (args.flag_or("exclusive", false), args.flag_or("reverse", false));
    let mut groups = groups(args, &[axis], true)?;
    if is_reverse {
        groups.members.iter_mut().for_each(|members| members.reverse());
    }
    let items = match &x.items {
        Items::Floats(x) => Items::Floats(sums(x, &groups, is_exclusive, 0.0, |a, b| a + b)),
        Items::Ints(x) => Items::Ints(sums(x, &groups, is_exclusive, 0, i64::wrapping_add)),
        Items::Bools(_) => return Err("the input should be numbers, found truth values".to_owned()),
    };
    Ok(vec![Array::new(x.shape.clone(), items)?])
}

/// Running sums of each group, in its order.
fn sums<T: Copy>(
    x: &[T],
    groups: &Groups,
    is_exclusive: bool,
    zero: T,
    add: fn(T, T) -> T,
) -> Vec<T> {
    let mut made = x.to_vec();
    for members in &groups.members {
        let mut sum = zero;
        for &idx in members {
            let with_this = add(sum, x[idx]);
            made[idx] = if is_exclusive { sum } else { with_this };
            sum = with_this;
        }
    }
    made
}

/// The largest or smallest few along a dimension, with their places; the first of equals wins.
fn top(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let numbers = comparable(x)?;
    let k = size_of(args.one_int(1)?, 0, "k")?;
    let axis = args.axis_or("axis", -1, x.rank())?;
    if x.shape[axis] < k {
        return Err(format!("k should be at most {}, found {k}", x.shape[axis]));
    }
    let wants_largest = args.flag_or("largest", true);
    let groups = groups(args, &[axis], true)?;
    let mut shape = x.shape.clone();
    shape[axis] = k;
    let to = strides(&shape);
    let len = checked_len(&shape)?;
    let (mut sources, mut places) = (vec![0; len], vec![0; len]);
    let mut outer_shape = x.shape.clone();
    outer_shape[axis] = 1;
    let mut group = groups.members.iter();
    for_each_index(&outer_shape, |index| {
        let Some(members) = group.next() else { return };
        let mut order: Vec<usize> = (0..members.len()).collect();
        // A stable sort keeps the first of equals in front.
        order.sort_by(|&a, &b| {
            let (a, b) = (numbers[members[a]], numbers[members[b]]);
            if wants_largest { b.total_cmp(&a) } else { a.total_cmp(&b) }
        });
        for (rank, &place) in order.iter().take(k).enumerate() {
            let target = offset(index, &to) + rank * to[axis];
            sources[target] = members[place];
            places[target] = place as i64;
        }
    });
    Ok(vec![x.pick(shape.clone(), &sources)?, Array::ints(shape, places)?])
}
