//! Gradients of pooling.
//!
//! # Method
//!
//! Pools treat channels apart, so `[batch, channels, …]` is seen as `[batch × channels, 1, …]`. A
//! convolution with kernels of a single one then lays the contents of every window out along the
//! channels, and its transpose puts gradients back where they came from, adding up where windows
//! overlap.
//!
//! ```text
//! maximum:  dx = back( dy where the window's place is the first that holds the maximum, else 0 )
//! average:  dx = back( dy / number of pixels counted in the window )
//! ```
//!
//! The indices that `MaxPool` can give are not used: not every engine has them.

use super::operator::{Gradients, of_first};
use super::{GradError, Tape, uncovered};
use crate::build::{BuildError, Value};
use crate::dim::{self, Dim, whole};
use crate::graph::{Attribute, Node};
use crate::tensor::Tensor;

/// The settings of a pool over a picture of known size.
struct Pool {
    kernel: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// Padding before each dimension, as the node says.
    before: Vec<i64>,
    /// Padding after each dimension, as the node says.
    after: Vec<i64>,
    /// Padding after each dimension so that every window is complete.
    reached: Vec<i64>,
    /// Sizes of the picture.
    sizes: Vec<i64>,
    /// Sizes of the result.
    places: Vec<i64>,
}

impl Pool {
    fn of(tape: &Tape<'_>, node: &Node, x: &Value, y: &Value) -> Result<Pool, GradError> {
        if !matches!(node.text("auto_pad"), None | Some("NOTSET" | "")) {
            return Err(uncovered(node, "automatic padding of a picture whose size is not known"));
        }
        let Some(kernel) = node.ints("kernel_shape") else {
            return Err(uncovered(node, "a pool without `kernel_shape`"));
        };
        let n = kernel.len();
        let setting = |name: &str, n: usize, default: i64| match node.ints(name) {
            Some(values) if values.len() == n => Ok(values.to_vec()),
            Some(_) => Err(uncovered(node, &format!("a `{name}` that does not fit the picture"))),
            None => Ok(vec![default; n]),
        };
        let (strides, dilations) = (setting("strides", n, 1)?, setting("dilations", n, 1)?);
        let pads = setting("pads", 2 * n, 0)?;
        let (mut sizes, mut places, mut reached) = (vec![], vec![], vec![]);
        for axis in 0..n {
            let size = whole(tape.builder.size(x, axis + 2)?);
            let n_places = whole(tape.builder.size(y, axis + 2)?);
            let reach = (n_places - 1) * strides[axis] + dilations[axis] * (kernel[axis] - 1) + 1;
            reached.push((reach - size - pads[axis]).max(0));
            sizes.push(size);
            places.push(n_places);
        }
        let (before, after) = (pads[..n].to_vec(), pads[n..].to_vec());
        Ok(Pool {
            kernel: kernel.to_vec(),
            strides,
            dilations,
            before,
            after,
            reached,
            sizes,
            places,
        })
    }

    fn n_offsets(&self) -> i64 {
        self.kernel.iter().product()
    }

    fn settings(&self) -> Vec<(&'static str, Attribute)> {
        vec![
            ("kernel_shape", Attribute::Ints(self.kernel.clone())),
            ("strides", Attribute::Ints(self.strides.clone())),
            ("dilations", Attribute::Ints(self.dilations.clone())),
        ]
    }

    /// `[n_offsets, 1, kernel…]`, where kernel `k` has a single one, at place `k`.
    fn picking_kernels(&self) -> Tensor {
        let n_offsets = usize::try_from(self.n_offsets()).unwrap_or(0);
        let mut numbers = vec![0.0; n_offsets * n_offsets];
        numbers.iter_mut().step_by(n_offsets + 1).for_each(|number| *number = 1.0);
        self.kernels(n_offsets, numbers)
    }

    /// `[1, 1, kernel…]`, all ones.
    fn summing_kernel(&self) -> Tensor {
        let n_offsets = usize::try_from(self.n_offsets()).unwrap_or(0);
        self.kernels(1, vec![1.0; n_offsets])
    }

    fn kernels(&self, n_kernels: usize, numbers: Vec<f32>) -> Tensor {
        let mut shape = vec![n_kernels, 1];
        shape.extend(self.kernel.iter().map(|&size| usize::try_from(size).unwrap_or(0)));
        Tensor::f32(shape, numbers).expect("because there are as many numbers as places")
    }

    /// `[channel pictures, channels, sizes…]`
    fn shape(&self, first: &Dim, channels: i64, sizes: &[i64]) -> Vec<Dim> {
        let mut shape = vec![first.clone(), Dim::known(channels)];
        shape.extend(sizes.iter().copied().map(Dim::known));
        shape
    }
}

/// `y = MaxPool(x)`: the gradient goes to the first maximum of each window.
pub(super) fn max_pool(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    if node.int("storage_order").is_some_and(|order| order != 0) {
        return Err(uncovered(node, "indices in column order"));
    }
    let (x, y) = (tape.input(node, 0)?, tape.output(node, 0)?);
    let pool = Pool::of(tape, node, &x, &y)?;
    let first = pictures_of_one_channel(tape, &x)?;

    let pictures = tape.builder.reshape(&x, &pool.shape(&first, 1, &pool.sizes))?;
    let pictures = finite(tape, &pictures)?;
    let padded = padded_with_lowest(tape, &pictures, &pool)?;
    let picking = tape.builder.constant(pool.picking_kernels());
    let contents = tape.builder.op("Conv", &[&padded, &picking], pool.settings())?;
    let arg_max = [("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(1))];
    let winner = tape.builder.op("ArgMax", &[&contents], arg_max.to_vec())?;
    let mut numbers_shape = vec![1, usize::try_from(pool.n_offsets()).unwrap_or(0)];
    numbers_shape.extend(pool.kernel.iter().map(|_| 1));
    let numbers = Tensor::i64(numbers_shape, (0..pool.n_offsets()).collect())
        .expect("because there are as many numbers as places");
    let numbers = tape.builder.constant(numbers);
    let is_winner = tape.builder.compare("Equal", &winner, &numbers)?;
    let dy = tape.builder.reshape(&dy, &pool.shape(&first, 1, &pool.places))?;
    let element_type = tape.builder.element_type(&dy);
    let is_winner = tape.builder.cast(&is_winner, element_type)?;
    let shares = tape.builder.mul(&is_winner, &dy)?;
    let dx = put_back(tape, &shares, &picking, &pool)?;
    Ok(vec![Some(tape.builder.reshape_like(&dx, &x)?)])
}

/// `y = AveragePool(x)`: the gradient is shared by the pixels that were counted.
pub(super) fn average_pool(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, y) = (tape.input(node, 0)?, tape.output(node, 0)?);
    let pool = Pool::of(tape, node, &x, &y)?;
    let first = pictures_of_one_channel(tape, &x)?;

    let dy = tape.builder.reshape(&dy, &pool.shape(&first, 1, &pool.places))?;
    let counts_padding = node.int("count_include_pad").unwrap_or(0) != 0;
    let shares = tape.builder.constant(shares(&pool, counts_padding));
    let shared = tape.builder.mul(&dy, &shares)?;
    let summing = tape.builder.constant(pool.summing_kernel());
    let dx = put_back(tape, &shared, &summing, &pool)?;
    Ok(vec![Some(tape.builder.reshape_like(&dx, &x)?)])
}

/// `y = GlobalAveragePool(x)`
pub(super) fn global_average_pool(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, y) = (tape.input(node, 0)?, tape.output(node, 0)?);
    let n_pixels = tape.ratio_of_sizes(&x, &y)?;
    let share = tape.builder.div(&dy, &n_pixels)?;
    Ok(vec![Some(tape.builder.expand_like(&share, &x)?)])
}

/// `y = GlobalMaxPool(x)`: pixels that tie share the gradient.
pub(super) fn global_max_pool(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, y) = (tape.input(node, 0)?, tape.output(node, 0)?);
    let is_maximum = tape.builder.compare("Equal", &x, &y)?;
    let element_type = tape.builder.element_type(&x);
    let is_maximum = tape.builder.cast(&is_maximum, element_type)?;
    let axes: Vec<i64> = (2..).take(tape.builder.rank(&x)?.saturating_sub(2)).collect();
    let n_tied = tape.builder.reduce_sum(&is_maximum, &axes, true)?;
    let share = tape.builder.div(&dy, &n_tied)?;
    Ok(vec![Some(tape.builder.mul(&is_maximum, &share)?)])
}

/// `batch × channels`
fn pictures_of_one_channel(tape: &Tape<'_>, x: &Value) -> Result<Dim, BuildError> {
    let shape = tape.builder.shape(x)?;
    dim::product(shape.iter().take(2)).ok_or_else(|| BuildError::ShapeUnknown(x.name().to_owned()))
}

/// The picture with infinite numbers at the ends of what is finite: the convolution multiplies by
/// zero, and some networks pad with minus infinity.
fn finite(tape: &mut Tape<'_>, pictures: &Value) -> Result<Value, BuildError> {
    let ends = [f32::MIN, f32::MAX].map(|end| tape.builder.scalar(end));
    let [lowest, highest] = &ends;
    tape.builder.op("Clip", &[pictures, lowest, highest], vec![])
}

/// The picture with a border that never wins.
fn padded_with_lowest(
    tape: &mut Tape<'_>,
    pictures: &Value,
    pool: &Pool,
) -> Result<Value, BuildError> {
    if pool.before.iter().chain(&pool.reached).all(|&pad| pad == 0) {
        return Ok(pictures.clone());
    }
    let mut pads = vec![0, 0];
    pads.extend(&pool.before);
    pads.extend([0, 0]);
    pads.extend(&pool.reached);
    let pads = tape.builder.list(&pads);
    // Not minus infinity: the convolution multiplies it by zero.
    let lowest = tape.builder.scalar(f32::MIN);
    tape.builder.op("Pad", &[pictures, &pads, &lowest], vec![])
}

/// The transposed convolution, cut to the picture.
fn put_back(
    tape: &mut Tape<'_>,
    shares: &Value,
    kernels: &Value,
    pool: &Pool,
) -> Result<Value, BuildError> {
    let n = pool.kernel.len();
    let (mut pads, mut output_padding) = (pool.before.clone(), Vec::with_capacity(n));
    for axis in 0..n {
        let reach = (pool.places[axis] - 1) * pool.strides[axis]
            + pool.dilations[axis] * (pool.kernel[axis] - 1)
            + 1
            - pool.before[axis];
        // Windows reach beyond the picture, or pixels at the end are in no window.
        pads.push((reach - pool.sizes[axis]).max(0));
        output_padding.push((pool.sizes[axis] - reach).max(0));
    }
    let mut settings = pool.settings();
    settings.push(("pads", Attribute::Ints(pads)));
    if output_padding.iter().any(|&n| n != 0) {
        settings.push(("output_padding", Attribute::Ints(output_padding)));
    }
    tape.builder.op("ConvTranspose", &[shares, kernels], settings)
}

/// One over the number of pixels that each window counts, as `[1, 1, places…]`.
fn shares(pool: &Pool, counts_padding: bool) -> Tensor {
    let n_counted_along = |axis: usize| -> Vec<i64> {
        let (low, high) = if counts_padding {
            (-pool.before[axis], pool.sizes[axis] + pool.after[axis])
        } else {
            (0, pool.sizes[axis])
        };
        let counted = |place: i64| {
            let start = place * pool.strides[axis] - pool.before[axis];
            let at = |offset: i64| start + offset * pool.dilations[axis];
            let inside = (0..pool.kernel[axis]).filter(|&offset| (low..high).contains(&at(offset)));
            whole(inside.count())
        };
        (0..pool.places[axis]).map(counted).collect()
    };
    let mut counts = vec![1];
    for axis in 0..pool.kernel.len() {
        let along = n_counted_along(axis);
        counts = counts.iter().flat_map(|&so_far| along.iter().map(move |&n| so_far * n)).collect();
    }
    #[expect(clippy::cast_precision_loss, reason = "a window has far fewer than 2^24 pixels")]
    let numbers = counts.iter().map(|&n: &i64| 1.0 / n.max(1) as f32).collect();
    let mut shape = vec![1, 1];
    shape.extend(pool.places.iter().map(|&n| usize::try_from(n).unwrap_or(0)));
    Tensor::f32(shape, numbers).expect("because there is one number per place")
}
