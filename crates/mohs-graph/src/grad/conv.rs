//! Gradients of convolutions.
//!
//! # Formulas
//!
//! For `y = Conv(x, w)` with stride `s`, dilation `d` and padding `p`, all per spatial dimension:
//!
//! ```text
//! dx          = ConvTranspose(dy, w), with the same strides, dilations, pads and groups,
//!             = Conv(dy, flipped w) where the stride is 1
//! dw[o, c, k] = sum over n, q of dy[n, o, q] · padded_x[n, c, s·q + d·k]
//! db[o]       = sum over n, q of dy[n, o, q]
//! ```
//!
//! The sum over `n, q` is one matrix product per place `k` of the kernel, of the gradient with a
//! slice of the picture: as fast as matrix products are, and without unrolled pictures in memory.
//! `ConvTranspose` is the same with `x` and `dy` in each other's roles.

use super::operator::{Gradients, of_first};
use super::{GradError, Tape, uncovered};
use crate::build::{BuildError, Value};
use crate::dim::{self, Dim, whole};
use crate::graph::{Attribute, Node};
use crate::tensor::Tensor;

/// Kernels with more places than this get their gradient from one convolution instead of one
/// matrix product per place.
const MAX_PLACES: usize = 64;

/// Pictures with so few channels are convolved with the gradient instead: there the products would
/// be too narrow.
const FEW_CHANNELS: usize = 4;

/// The settings of a convolution, with defaults filled in.
struct Window {
    kernel: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// Before each dimension, then after each.
    pads: Vec<i64>,
    groups: i64,
}

impl Window {
    fn of(tape: &Tape<'_>, node: &Node, weights: &Value) -> Result<Window, GradError> {
        if !matches!(node.text("auto_pad"), None | Some("NOTSET" | "")) {
            return Err(uncovered(node, "automatic padding of a picture whose size is not known"));
        }
        let n_spatial = tape.builder.rank(weights)?.saturating_sub(2);
        let mut kernel = Vec::with_capacity(n_spatial);
        for axis in 0..n_spatial {
            kernel.push(whole(tape.builder.size(weights, axis + 2)?));
        }
        let setting = |name: &str, n: usize, default: i64| -> Result<Vec<i64>, GradError> {
            match node.ints(name) {
                Some(values) if values.len() == n => Ok(values.to_vec()),
                Some(_) => {
                    Err(uncovered(node, &format!("a `{name}` that does not fit the picture")))
                }
                None => Ok(vec![default; n]),
            }
        };
        Ok(Window {
            kernel,
            strides: setting("strides", n_spatial, 1)?,
            dilations: setting("dilations", n_spatial, 1)?,
            pads: setting("pads", 2 * n_spatial, 0)?,
            groups: node.int("group").unwrap_or(1),
        })
    }

    fn n_spatial(&self) -> usize {
        self.kernel.len()
    }

    fn settings(&self) -> Vec<(&'static str, Attribute)> {
        vec![
            ("kernel_shape", Attribute::Ints(self.kernel.clone())),
            ("strides", Attribute::Ints(self.strides.clone())),
            ("dilations", Attribute::Ints(self.dilations.clone())),
            ("pads", Attribute::Ints(self.pads.clone())),
            ("group", Attribute::Int(self.groups)),
        ]
    }

    /// How far a kernel reaches along a dimension.
    fn reach(&self, axis: usize) -> i64 {
        self.dilations[axis] * (self.kernel[axis] - 1) + 1
    }

    fn is_one_by_one(&self) -> bool {
        self.kernel.iter().all(|&size| size == 1) && self.pads.iter().all(|&pad| pad == 0)
    }

    /// Whether windows tile the picture: each pixel is in exactly one.
    fn is_tiling(&self) -> bool {
        self.kernel == self.strides
            && self.pads.iter().all(|&pad| pad == 0)
            && self.dilations.iter().all(|&dilation| dilation == 1)
    }
}

/// `y = Conv(x, w, b)`
pub(super) fn conv(tape: &mut Tape<'_>, node: &Node, of_outputs: &[Option<Value>]) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    let (x, w) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let window = Window::of(tape, node, &w)?;
    let dx =
        if tape.wants(node, 0) { Some(input_gradient(tape, &x, &w, &dy, &window)?) } else { None };
    let dw =
        if tape.wants(node, 1) { Some(kernel_gradient(tape, &dy, &x, &w, &window)?) } else { None };
    let db = if tape.wants(node, 2) { Some(bias_gradient(tape, &dy)?) } else { None };
    Ok(vec![dx, dw, db])
}

/// `y = ConvTranspose(x, w, b)`, whose input gradient is `Conv(dy, w)`.
pub(super) fn conv_transpose(
    tape: &mut Tape<'_>,
    node: &Node,
    of_outputs: &[Option<Value>],
) -> Gradients {
    let dy = of_first(node, of_outputs)?;
    if node.attributes.contains_key("output_shape") {
        return Err(uncovered(node, "a given `output_shape`; needed: pads instead"));
    }
    let (x, w) = (tape.input(node, 0)?, tape.input(node, 1)?);
    let window = Window::of(tape, node, &w)?;
    let dx = if tape.wants(node, 0) {
        let wide = tape.builder.op("Conv", &[&dy, &w], window.settings())?;
        // Output padding makes rows that no input reached; windows over them are no gradients.
        Some(crop_like(tape, &wide, &x)?)
    } else {
        None
    };
    let dw =
        if tape.wants(node, 1) { Some(kernel_gradient(tape, &x, &dy, &w, &window)?) } else { None };
    let db = if tape.wants(node, 2) { Some(bias_gradient(tape, &dy)?) } else { None };
    Ok(vec![dx, dw, db])
}

fn input_gradient(
    tape: &mut Tape<'_>,
    x: &Value,
    w: &Value,
    dy: &Value,
    window: &Window,
) -> Result<Value, GradError> {
    if let Some(flipped) = flipped_kernel(tape, w, window) {
        let flipped = tape.builder.constant(flipped);
        let n = window.n_spatial();
        let pads = (0..2 * n).map(|idx| window.reach(idx % n) - 1 - window.pads[idx]).collect();
        let strides = vec![1; n];
        let window = Window {
            pads,
            strides,
            kernel: window.kernel.clone(),
            dilations: window.dilations.clone(),
            ..*window
        };
        return Ok(tape.builder.op("Conv", &[dy, &flipped], window.settings())?);
    }
    if window.is_one_by_one()
        && window.groups == 1
        && window.strides.iter().all(|&stride| stride == 1)
    {
        return Ok(one_by_one_gradient(tape, x, w, dy)?);
    }
    let mut output_padding = Vec::with_capacity(window.n_spatial());
    for axis in 0..window.n_spatial() {
        let (wanted, found) = (tape.builder.size(x, axis + 2)?, tape.builder.size(dy, axis + 2)?);
        let reached = (whole(found) - 1) * window.strides[axis] + window.reach(axis)
            - window.pads[axis]
            - window.pads[axis + window.n_spatial()];
        output_padding.push(whole(wanted) - reached);
    }
    let mut settings = window.settings();
    if output_padding.iter().any(|&n| n != 0) {
        settings.push(("output_padding", Attribute::Ints(output_padding)));
    }
    Ok(tape.builder.op("ConvTranspose", &[dy, w], settings)?)
}

/// `transpose(w) dy` at every pixel, for kernels of one pixel that come at run time.
fn one_by_one_gradient(
    tape: &mut Tape<'_>,
    x: &Value,
    w: &Value,
    dy: &Value,
) -> Result<Value, BuildError> {
    let kernel = tape.builder.shape(w)?.into_iter().take(2).collect::<Vec<_>>();
    let kernel = tape.builder.reshape(w, &kernel)?;
    let kernel = tape.builder.transpose(&kernel, &[1, 0])?;
    let pixels = places_joined(tape, dy, 3)?;
    let product = tape.builder.matmul(&kernel, &pixels)?;
    tape.builder.reshape_like(&product, x)
}

/// The kernel turned by half a turn, with rows and columns in each other's place, for convolutions
/// of stride 1 with constant kernels: there the input gradient is itself a convolution.
///
/// Engines run it in half the time of a transposed convolution, for the price of a second copy of
/// the kernel.
fn flipped_kernel(tape: &Tape<'_>, w: &Value, window: &Window) -> Option<Tensor> {
    let n = window.n_spatial();
    let is_plain = window.strides.iter().all(|&stride| stride == 1)
        && (0..2 * n).all(|idx| window.pads[idx] < window.reach(idx % n));
    if !is_plain {
        return None;
    }
    let tensor = tape.builder.constant_of(w)?;
    let numbers = tensor.as_f32()?;
    let [n_rows, n_columns, ref kernel @ ..] = *tensor.shape() else { return None };
    let groups = usize::try_from(window.groups).ok().filter(|&groups| groups != 0)?;
    let rows_each = n_rows / groups;
    let n_places: usize = kernel.iter().product();

    let mut flipped = Vec::with_capacity(numbers.len());
    for group in 0..groups {
        for column in 0..n_columns {
            for row in group * rows_each..(group + 1) * rows_each {
                let start = (row * n_columns + column) * n_places;
                flipped.extend(numbers.get(start..start + n_places)?.iter().rev());
            }
        }
    }
    let mut shape = vec![groups * n_columns, rows_each];
    shape.extend(kernel);
    Tensor::f32(shape, flipped).ok()
}

/// `db = sum of dy` over examples and places.
fn bias_gradient(tape: &mut Tape<'_>, dy: &Value) -> Result<Value, GradError> {
    let rank = tape.builder.rank(dy)?;
    let axes: Vec<i64> = (0..).take(rank).filter(|&axis| axis != 1).collect();
    Ok(tape.builder.reduce_sum(dy, &axes, false)?)
}

/// `dw[o, c, k] = sum over n, q of small[n, o, q] · padded(large)[n, c, s·q + d·k]`
///
/// For a convolution `small` is `dy` and `large` is `x`; for a transposed one the reverse. Channels
/// go to the front, so that one product sums over examples and places at once.
fn kernel_gradient(
    tape: &mut Tape<'_>,
    small: &Value,
    large: &Value,
    w: &Value,
    window: &Window,
) -> Result<Value, GradError> {
    let n = window.n_spatial();
    let mut places = Vec::with_capacity(n);
    for axis in 0..n {
        places.push(whole(tape.builder.size(small, axis + 2)?));
    }
    let padded = padded(tape, large, &places, window)?;
    // Not known where a gradient is differentiated again: there examples stand for channels.
    let n_channels = tape.builder.size(large, 1).ok();
    let is_plain =
        window.groups == 1 && n_channels.is_some() && tape.builder.size(small, 1).is_ok();
    if window.is_tiling() && is_plain && n == 2 && !window.is_one_by_one() {
        return tiling_gradient(tape, small, &padded, w, window, &places);
    }
    let n_offsets: i64 = window.kernel.iter().product();
    let is_first_layer =
        window.groups == 1 && n_channels.is_some_and(|n| n <= FEW_CHANNELS) && 1 < n_offsets;
    if is_first_layer || MAX_PLACES < usize::try_from(n_offsets).unwrap_or(usize::MAX) {
        return gradient_by_convolution(tape, small, &padded, w, window);
    }

    let first = usize::from(window.groups != 1) + 2;
    let rows = channels_in_front(tape, small, window)?;
    let rows = places_joined(tape, &rows, first)?;
    let picture = channels_in_front(tape, &padded, window)?;
    let mut parts = Vec::new();
    for offset in offsets(&window.kernel) {
        let part = slice_at(tape, &picture, &offset, first, &places, window)?;
        parts.push(places_joined(tape, &part, first)?);
    }
    let stack = |tape: &mut Tape<'_>, parts: &[Value], axis: i64| -> Result<Value, BuildError> {
        if let [only] = parts {
            return Ok(only.clone());
        }
        let open: Result<Vec<Value>, BuildError> =
            parts.iter().map(|part| tape.builder.unsqueeze(part, &[axis])).collect();
        let open = open?;
        tape.builder.concat(&open.iter().collect::<Vec<_>>(), axis)
    };
    let product = |tape: &mut Tape<'_>, columns: &Value| -> Result<Value, BuildError> {
        let swap: &[i64] = if window.groups == 1 { &[1, 0] } else { &[0, 2, 1] };
        let columns = tape.builder.transpose(columns, swap)?;
        tape.builder.matmul(&rows, &columns)
    };

    // [(group,) rows, columns × places of the kernel] is the order that the kernel has. Either the
    // slices are laid side by side before one product, or the products after; what is smaller.
    let n_rows = tape.builder.size(small, 1).map_or(0, whole);
    let found = if let Some(n_channels) = n_channels
        && window.groups == 1
        && places.iter().product::<i64>() <= n_rows
    {
        let columns = stack(tape, &parts, 1)?;
        let joined = [Dim::known(whole(n_channels) * n_offsets), last_dim(tape, &rows)?];
        let columns = tape.builder.reshape(&columns, &joined)?;
        product(tape, &columns)?
    } else {
        let products: Result<Vec<Value>, BuildError> =
            parts.iter().map(|part| product(tape, part)).collect();
        stack(tape, &products?, whole(first))?
    };
    Ok(tape.builder.reshape_like(&found, w)?)
}

/// `[batch, channels, …]` as `[channels, batch, …]`, or as `[group, channels of the group, batch, …]`.
fn channels_in_front(tape: &mut Tape<'_>, x: &Value, window: &Window) -> Result<Value, BuildError> {
    let n = window.n_spatial();
    if window.groups == 1 {
        let order: Vec<i64> = [1, 0].into_iter().chain((2..).take(n)).collect();
        return tape.builder.transpose(x, &order);
    }
    let mut shape = tape.builder.shape(x)?;
    let each = whole(tape.builder.size(x, 1)?) / window.groups.max(1);
    shape.splice(1..2, [Dim::known(window.groups), Dim::known(each)]);
    let split = tape.builder.reshape(x, &shape)?;
    let order: Vec<i64> = [1, 2, 0].into_iter().chain((3..).take(n)).collect();
    tape.builder.transpose(&split, &order)
}

/// Examples and places, which are all dimensions from `first − 1` on, as one.
fn places_joined(tape: &mut Tape<'_>, x: &Value, first: usize) -> Result<Value, BuildError> {
    let shape = tape.builder.shape(x)?;
    let unknown = || BuildError::ShapeUnknown(x.name().to_owned());
    let (front, behind) = shape.split_at_checked(first - 1).ok_or_else(unknown)?;
    let mut joined = front.to_vec();
    joined.push(dim::product(behind).ok_or_else(unknown)?);
    tape.builder.reshape(x, &joined)
}

fn last_dim(tape: &Tape<'_>, x: &Value) -> Result<Dim, BuildError> {
    let shape = tape.builder.shape(x)?;
    shape.last().cloned().ok_or_else(|| BuildError::ShapeUnknown(x.name().to_owned()))
}

/// The gradient of a kernel whose windows tile the picture, as patch embeddings do: one product.
fn tiling_gradient(
    tape: &mut Tape<'_>,
    small: &Value,
    large: &Value,
    w: &Value,
    window: &Window,
    places: &[i64],
) -> Result<Value, GradError> {
    let batch = tape.builder.shape(small)?.first().cloned().unwrap_or_else(|| Dim::known(1));
    let n_rows = Dim::from_size(tape.builder.size(small, 1)?);
    let n_columns = tape.builder.size(large, 1)?;
    let (kernel, n_places) = (&window.kernel, places.iter().product::<i64>());
    let known = |number: i64| Dim::known(number);
    let mut split = vec![batch.clone(), Dim::from_size(n_columns)];
    for axis in 0..2 {
        split.extend([known(places[axis]), known(kernel[axis])]);
    }
    let mut tiles = large.clone();
    for axis in 0..2 {
        let n_covered = places[axis] * kernel[axis];
        if n_covered < whole(tape.builder.size(&tiles, axis + 2)?) {
            tiles = tape.builder.slice(&tiles, whole(axis + 2), 0, n_covered)?;
        }
    }
    let tiles = tape.builder.reshape(&tiles, &split)?;
    let tiles = tape.builder.transpose(&tiles, &[0, 2, 4, 1, 3, 5])?;
    let n_inside = whole(n_columns) * kernel[0] * kernel[1];
    let tiles = tape.builder.reshape(&tiles, &[batch.clone(), known(n_places), known(n_inside)])?;
    let rows = tape.builder.reshape(small, &[batch, n_rows, known(n_places)])?;
    let product = tape.builder.matmul(&rows, &tiles)?;
    let sum = tape.builder.reduce_sum(&product, &[0], false)?;
    Ok(tape.builder.reshape_like(&sum, w)?)
}

/// The gradient of a large kernel: a convolution in which examples and channels change places.
fn gradient_by_convolution(
    tape: &mut Tape<'_>,
    small: &Value,
    padded: &Value,
    w: &Value,
    window: &Window,
) -> Result<Value, GradError> {
    let n = window.n_spatial();
    let order: Vec<i64> = [1, 0].into_iter().chain((2..).take(n)).collect();
    // The picture as [columns of a group, group × batch, …] and the gradient as kernels
    // [group × rows of a group, batch, …]; what comes out is [columns of a group, group × rows, …].
    let picture = if window.groups == 1 {
        tape.builder.transpose(padded, &order)?
    } else {
        let front = channels_in_front(tape, padded, window)?;
        let turned: Vec<i64> = [1, 0, 2].into_iter().chain((3..).take(n)).collect();
        let turned = tape.builder.transpose(&front, &turned)?;
        let mut shape = tape.builder.shape(&turned)?;
        let joined = dim::product(shape.iter().skip(1).take(2));
        let joined = joined.ok_or_else(|| BuildError::ShapeUnknown(turned.name().to_owned()))?;
        shape.splice(1..3, [joined]);
        tape.builder.reshape(&turned, &shape)?
    };
    let kernels = tape.builder.transpose(small, &order)?;
    let settings = vec![
        ("strides", Attribute::Ints(window.dilations.clone())),
        ("dilations", Attribute::Ints(window.strides.clone())),
        ("group", Attribute::Int(window.groups.max(1))),
    ];
    let mut found = tape.builder.op("Conv", &[&picture, &kernels], settings)?;
    // Rows of the picture that no window reached give places beyond the kernel.
    for axis in 0..n {
        if whole(tape.builder.size(&found, axis + 2)?) != window.kernel[axis] {
            found = tape.builder.slice(&found, whole(axis + 2), 0, window.kernel[axis])?;
        }
    }
    let found = tape.builder.transpose(&found, &order)?;
    Ok(tape.builder.reshape_like(&found, w)?)
}

/// The picture with its padding, and with what windows reach beyond it.
fn padded(
    tape: &mut Tape<'_>,
    large: &Value,
    places: &[i64],
    window: &Window,
) -> Result<Value, GradError> {
    let n = window.n_spatial();
    let mut pads = vec![0; 2 * (n + 2)];
    for axis in 0..n {
        let size = whole(tape.builder.size(large, axis + 2)?);
        let before = window.pads[axis];
        let needed = (places[axis] - 1) * window.strides[axis] + window.reach(axis) - size - before;
        pads[axis + 2] = before;
        pads[axis + n + 4] = needed.max(0);
    }
    if pads.iter().all(|&pad| pad == 0) {
        return Ok(large.clone());
    }
    let pads = tape.builder.list(&pads);
    Ok(tape.builder.op("Pad", &[large, &pads], vec![])?)
}

/// What all windows see at one place of the kernel; pixels are the dimensions from `first` on.
fn slice_at(
    tape: &mut Tape<'_>,
    padded: &Value,
    offset: &[i64],
    first: usize,
    places: &[i64],
    window: &Window,
) -> Result<Value, GradError> {
    let (mut starts, mut ends, mut axes, mut steps) = (vec![], vec![], vec![], vec![]);
    for (axis, &at) in offset.iter().enumerate() {
        let start = at * window.dilations[axis];
        let end = start + (places[axis] - 1) * window.strides[axis] + 1;
        let is_whole = start == 0
            && window.strides[axis] == 1
            && end == whole(tape.builder.size(padded, axis + first)?);
        if !is_whole {
            starts.push(start);
            ends.push(end);
            axes.push(whole(axis + first));
            steps.push(window.strides[axis]);
        }
    }
    if axes.is_empty() {
        return Ok(padded.clone());
    }
    let lists = [starts, ends, axes, steps].map(|numbers| tape.builder.list(&numbers));
    let [starts, ends, axes, steps] = &lists;
    Ok(tape.builder.op("Slice", &[padded, starts, ends, axes, steps], vec![])?)
}

/// All places of a kernel, the last dimension moving fastest.
fn offsets(kernel: &[i64]) -> Vec<Vec<i64>> {
    kernel.iter().fold(vec![vec![]], |found, &size| {
        found
            .iter()
            .flat_map(|start| (0..size).map(move |at| start.iter().copied().chain([at]).collect()))
            .collect()
    })
}

/// Cuts spatial dimensions to the sizes that `like` has.
fn crop_like(tape: &mut Tape<'_>, x: &Value, like: &Value) -> Result<Value, GradError> {
    let mut cropped = x.clone();
    for axis in 2..tape.builder.rank(like)? {
        let (wanted, found) = (tape.builder.size(like, axis)?, tape.builder.size(&cropped, axis)?);
        if wanted < found {
            cropped = tape.builder.slice(&cropped, whole(axis), 0, whole(wanted))?;
        }
    }
    Ok(cropped)
}
