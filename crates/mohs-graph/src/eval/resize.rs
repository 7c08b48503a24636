//! Resizing: nearest, linear and cubic, along each dimension in turn.
//!
//! The result along a dimension is a weighted sum of source places; the weights of all dimensions
//! multiply. Cropping while resizing (`tf_crop_and_resize`) is refused.

use super::args::{Args, Operator, Outcome, size_of};
use super::array::{Array, Problem, axis_of, checked_len, to_int};

/// Finds an operator of this family.
pub(super) fn operator(op: &str) -> Option<Operator> {
    (op == "Resize").then_some(resize as Operator)
}

/// One dimension: its old and new size, and the scale between them.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: usize,
    to: usize,
    scale: f64,
}

/// How places between pixels are read.
struct Reading<'a> {
    mode: &'a str,
    coordinates: &'a str,
    nearest: &'a str,
    cubic_a: f64,
    is_antialiased: bool,
    excludes_outside: bool,
}

/// Resizes.
fn resize(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let stretches = stretches(args, &x.shape)?;
    let reading = Reading {
        mode: args.text_or("mode", "nearest"),
        coordinates: args.text_or("coordinate_transformation_mode", "half_pixel"),
        nearest: args.text_or("nearest_mode", "round_prefer_floor"),
        cubic_a: args.float_or("cubic_coeff_a", -0.75),
        is_antialiased: args.flag_or("antialias", false),
        excludes_outside: args.flag_or("exclude_outside", false),
    };
    let shape: Vec<usize> = stretches.iter().map(|stretch| stretch.to).collect();
    checked_len(&shape)?;
    let mut made = x.clone();
    for (axis, stretch) in stretches.iter().enumerate() {
        // A dimension that stays as it is has each place read from itself.
        #[expect(clippy::float_cmp, reason = "a scale of exactly one is written as 1")]
        if stretch.from == stretch.to && stretch.scale == 1.0 {
            continue;
        }
        let taps: Vec<Vec<(usize, f64)>> = (0..stretch.to)
            .map(|place| taps(&reading, stretch, place))
            .collect::<Result<_, _>>()?;
        made = stretched(&made, axis, &taps)?;
    }
    Ok(vec![made])
}

/// The new size of each dimension, from scales or sizes.
fn stretches(args: &Args<'_>, shape: &[usize]) -> Result<Vec<Stretch>, Problem> {
    let mut stretches: Vec<Stretch> =
        shape.iter().map(|&size| Stretch { from: size, to: size, scale: 1.0 }).collect();
    let axes: Vec<usize> = match args.node.ints("axes") {
        Some(axes) => {
            axes.iter().map(|&axis| axis_of(axis, shape.len())).collect::<Result<_, _>>()?
        }
        None => (0..shape.len()).collect(),
    };
    let scales = args.optional(2).filter(|scales| 0 < scales.len());
    let sizes = args.optional(3).filter(|sizes| 0 < sizes.len());
    let n_given = scales.or(sizes).map_or(0, Array::len);
    if n_given != axes.len() {
        return Err(format!("there should be {} scales or sizes, found {n_given}", axes.len()));
    }
    if let Some(empty) = axes.iter().find(|&&axis| shape[axis] == 0) {
        return Err(format!("dimension {empty} should not be empty"));
    }
    if scales.is_some() {
        for (&axis, &scale) in axes.iter().zip(args.floats(2)?) {
            let to = (shape[axis] as f64 * scale).floor();
            if !(scale.is_finite() && 0.0 < scale && to < 1e9) {
                return Err(format!("a scale should be positive and not huge, found {scale}"));
            }
            let to = usize::try_from(to_int(to)).unwrap_or(0);
            stretches[axis] = Stretch { from: shape[axis], to, scale };
        }
        return Ok(stretches);
    }
    let sizes: Vec<usize> =
        args.ints(3)?.iter().map(|&size| size_of(size, 1, "a size")).collect::<Result<_, _>>()?;
    let ratios = axes.iter().zip(&sizes).map(|(&axis, &size)| size as f64 / shape[axis] as f64);
    let shared = match args.text_or("keep_aspect_ratio_policy", "stretch") {
        "stretch" => None,
        "not_larger" => Some(ratios.fold(f64::INFINITY, f64::min)),
        "not_smaller" => Some(ratios.fold(0.0, f64::max)),
        other => {
            return Err(format!(
                "`keep_aspect_ratio_policy` should be a known one, found `{other}`"
            ));
        }
    };
    for (&axis, &size) in axes.iter().zip(&sizes) {
        let from = shape[axis];
        stretches[axis] = match shared {
            None => Stretch { from, to: size, scale: size as f64 / from as f64 },
            Some(scale) => {
                let to = (scale * from as f64 + 0.5).floor();
                Stretch { from, to: usize::try_from(to_int(to)).unwrap_or(0), scale }
            }
        };
    }
    Ok(stretches)
}

/// The place in the source that a place in the result stands for.
fn source_place(reading: &Reading<'_>, stretch: &Stretch, place: usize) -> Result<f64, Problem> {
    let (from, to) = (stretch.from as f64, stretch.to as f64);
    let place = place as f64;
    let half_pixel = (place + 0.5) / stretch.scale - 0.5;
    Ok(match reading.coordinates {
        "half_pixel" => half_pixel,
        // Written from the middle, which keeps whole places whole.
        "half_pixel_symmetric" => from / 2.0 + (place + 0.5 - to / 2.0) / stretch.scale - 0.5,
        "pytorch_half_pixel" => {
            if 1.0 < to {
                half_pixel
            } else {
                0.0
            }
        }
        "align_corners" => {
            if 1.0 < to {
                place * (from - 1.0) / (to - 1.0)
            } else {
                0.0
            }
        }
        "asymmetric" => place / stretch.scale,
        "tf_half_pixel_for_nn" => (place + 0.5) / stretch.scale,
        other => {
            return Err(format!("the coordinate transformation `{other}` is not known here"));
        }
    })
}

/// The weight of a pixel at some distance in cubic reading.
fn cubic(a: f64, distance: f64) -> f64 {
    let x = distance.abs();
    if x <= 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    } else {
        0.0
    }
}

/// The source places that make a place of the result, with their weights.
fn taps(
    reading: &Reading<'_>,
    stretch: &Stretch,
    place: usize,
) -> Result<Vec<(usize, f64)>, Problem> {
    let at = source_place(reading, stretch, place)?;
    let last = stretch.from as i64 - 1;
    let clamped = |place: i64| usize::try_from(place.clamp(0, last)).unwrap_or(0);
    if reading.mode == "nearest" {
        let nearest = match reading.nearest {
            "round_prefer_floor" => (at - 0.5).ceil(),
            "round_prefer_ceil" => (at + 0.5).floor(),
            "floor" => at.floor(),
            "ceil" => at.ceil(),
            other => return Err(format!("`nearest_mode` should be a known one, found `{other}`")),
        };
        return Ok(vec![(clamped(to_int(nearest)), 1.0)]);
    }
    // When shrinking without aliasing, a pixel reaches further.
    let scale = if reading.is_antialiased { stretch.scale.min(1.0) } else { 1.0 };
    let (reach, weight): (f64, &dyn Fn(f64) -> f64) = match reading.mode {
        "linear" => (1.0, &|distance: f64| (1.0 - distance.abs()).max(0.0)),
        "cubic" => (2.0, &|distance: f64| cubic(reading.cubic_a, distance)),
        other => return Err(format!("`mode` should be nearest, linear or cubic, found `{other}`")),
    };
    let (first, end) = ((at - reach / scale).floor(), (at + reach / scale).ceil());
    if 1e7 < end - first {
        return Err(format!("a scale of {scale} reads too many places"));
    }
    let mut taps: Vec<(i64, f64)> = (to_int(first)..=to_int(end))
        .map(|source| (source, weight((source as f64 - at) * scale)))
        .filter(|&(_, weight)| weight != 0.0)
        .collect();
    if reading.excludes_outside {
        taps.retain(|(source, _)| (0..=last).contains(source));
    }
    let total: f64 = taps.iter().map(|(_, weight)| weight).sum();
    Ok(taps.into_iter().map(|(source, weight)| (clamped(source), weight / total)).collect())
}

/// Applies the weights along one dimension. One place with weight one is a plain copy.
fn stretched(x: &Array, axis: usize, taps: &[Vec<(usize, f64)>]) -> Result<Array, Problem> {
    let mut shape = x.shape.clone();
    shape[axis] = taps.len();
    let n_inner = checked_len(&shape[axis + 1..])?;
    let n_outer = checked_len(&shape[..axis])?;
    let from = x.shape[axis];
    let len = checked_len(&shape)?;
    let is_copy = taps.iter().all(|taps| taps.len() == 1);
    if is_copy {
        let mut sources = Vec::with_capacity(len);
        for outer in 0..n_outer {
            for taps in taps {
                let first = (outer * from + taps[0].0) * n_inner;
                sources.extend(first..first + n_inner);
            }
        }
        return x.pick(shape, &sources);
    }
    let items = super::args::floats_of(x)?;
    let mut made = Vec::with_capacity(len);
    for outer in 0..n_outer {
        for taps in taps {
            for inner in 0..n_inner {
                let read = |&(source, weight): &(usize, f64)| {
                    weight * items[(outer * from + source) * n_inner + inner]
                };
                made.push(taps.iter().map(read).sum());
            }
        }
    }
    Array::floats(shape, made)
}
