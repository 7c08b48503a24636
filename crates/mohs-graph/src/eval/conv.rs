//! Convolution and its transpose, over lists of places and over pictures.

use super::args::{Args, Operator, Outcome, floats_of, size_of};
use super::array::{Array, Problem, checked_len};
use super::window::{Picture, Window, looked_at, pads, pair, place};

/// Finds an operator of this family.
pub(super) fn operator(op: &str) -> Option<Operator> {
    match op {
        "Conv" => Some(conv),
        "ConvTranspose" => Some(conv_transpose),
        _ => None,
    }
}

/// The kernel, checked against the picture: its first two sizes and its window.
fn kernel_of(
    args: &Args<'_>,
    picture: &Picture,
    weight: &Array,
) -> Result<([usize; 2], Window), Problem> {
    let kernel = Picture::of(weight).map_err(|problem| format!("weights: {problem}"))?;
    if kernel.n_spatial != picture.n_spatial {
        return Err(format!("weights of shape {:?} do not fit the input", weight.shape));
    }
    let size = pair(args, "kernel_shape", picture.n_spatial, 1, 1)?;
    if args.has("kernel_shape") && size != kernel.size {
        return Err(format!("`kernel_shape` should be {:?}, found {size:?}", kernel.size));
    }
    let window = Window::of(args, kernel.size, picture.n_spatial)?;
    Ok(([kernel.n, kernel.channels], window))
}

/// The number of groups, which has to divide both numbers of channels.
fn groups_of(args: &Args<'_>) -> Result<usize, Problem> {
    size_of(args.int_or("group", 1), 1, "group")
}

/// Convolution.
fn conv(args: &Args<'_>) -> Outcome {
    let picture = Picture::of(args.input(0)?)?;
    let weight = args.input(1)?;
    let ([n_filters, depth], window) = kernel_of(args, &picture, weight)?;
    let groups = groups_of(args)?;
    if !n_filters.is_multiple_of(groups) || Some(picture.channels) != depth.checked_mul(groups) {
        return Err(format!(
            "weights of shape {:?} in {groups} groups do not fit {} channels",
            weight.shape, picture.channels
        ));
    }
    let (x, w) = (args.floats(0)?, floats_of(weight)?);
    let bias = args.optional(2).map(|_| args.per_channel(2, n_filters)).transpose()?;
    let placement = place(args, &picture, &window, false)?;
    let shape = picture.shape_with(n_filters, placement.n);
    let mut items = Vec::with_capacity(checked_len(&shape)?);
    let [n_rows, n_columns] = window.kernel;
    for n in 0..picture.n {
        for filter in 0..n_filters {
            let first_channel = filter / (n_filters / groups) * depth;
            for out_row in 0..placement.n[0] {
                for out_column in 0..placement.n[1] {
                    let mut sum = bias.map_or(0.0, |bias| bias[filter]);
                    for channel in 0..depth {
                        for row in 0..n_rows {
                            let from_row = looked_at(
                                &window,
                                0,
                                out_row,
                                row,
                                placement.before[0],
                                picture.size[0],
                            );
                            let Some(from_row) = from_row else { continue };
                            for column in 0..n_columns {
                                let from_column = looked_at(
                                    &window,
                                    1,
                                    out_column,
                                    column,
                                    placement.before[1],
                                    picture.size[1],
                                );
                                let Some(from_column) = from_column else { continue };
                                let from = picture.offset(
                                    n,
                                    first_channel + channel,
                                    from_row,
                                    from_column,
                                );
                                let by = ((filter * depth + channel) * n_rows + row) * n_columns
                                    + column;
                                sum += x[from] * w[by];
                            }
                        }
                    }
                    items.push(sum);
                }
            }
        }
    }
    Ok(vec![Array::floats(shape, items)?])
}

/// The size of a transposed convolution's result and the padding in front of it.
fn transposed_size(
    args: &Args<'_>,
    picture: &Picture,
    window: &Window,
) -> Result<([usize; 2], [usize; 2]), Problem> {
    let extra = pair(args, "output_padding", picture.n_spatial, 0, 0)?;
    let auto = args.text_or("auto_pad", "NOTSET");
    let (mut before, after) = match auto {
        "NOTSET" | "" => pads(args, picture.n_spatial)?,
        _ => ([0; 2], [0; 2]),
    };
    // A list of places may give its shape with samples and channels in front.
    let asked: Option<Vec<i64>> = args
        .node
        .ints("output_shape")
        .map(|sizes| sizes[sizes.len().saturating_sub(picture.n_spatial)..].to_vec());
    let mut size = [1; 2];
    for axis in 2 - picture.n_spatial..2 {
        let steps = picture.size[axis].saturating_sub(1).checked_mul(window.strides[axis]);
        let full = steps.map(|steps| steps + extra[axis]);
        let full = full.zip(Some(window.extent(axis)?)).and_then(|(a, b)| a.checked_add(b));
        let full = full.ok_or("the result should not be huge")?;
        let wanted = match (&asked, auto) {
            (Some(sizes), _) => {
                let found = sizes.get(axis + picture.n_spatial - 2).copied().unwrap_or(-1);
                Some(size_of(found, 1, "output_shape")?)
            }
            (None, "SAME_UPPER" | "SAME_LOWER") => {
                picture.size[axis].checked_mul(window.strides[axis])
            }
            (None, "NOTSET" | "" | "VALID") => None,
            (None, other) => {
                return Err(format!("`auto_pad` should be a known one, found `{other}`"));
            }
        };
        size[axis] = match wanted {
            Some(wanted) => {
                let total = full.saturating_sub(wanted);
                before[axis] = if auto == "SAME_UPPER" { total / 2 } else { total.div_ceil(2) };
                wanted
            }
            None => full.checked_sub(before[axis] + after[axis]).filter(|&size| 0 < size).ok_or_else(
                || format!("padding should leave something of {full} places, found {before:?} and {after:?}"),
            )?,
        };
    }
    Ok((size, before))
}

/// Transposed convolution: every input pixel adds a weighted window to the result.
fn conv_transpose(args: &Args<'_>) -> Outcome {
    let picture = Picture::of(args.input(0)?)?;
    let weight = args.input(1)?;
    let ([n_channels, n_per_group], window) = kernel_of(args, &picture, weight)?;
    let groups = groups_of(args)?;
    if n_channels != picture.channels || !n_channels.is_multiple_of(groups) {
        return Err(format!(
            "weights of shape {:?} in {groups} groups do not fit {} channels",
            weight.shape, picture.channels
        ));
    }
    let n_filters = n_per_group.checked_mul(groups).ok_or("`group` should not be huge")?;
    let (x, w) = (args.floats(0)?, floats_of(weight)?);
    let bias = args.optional(2).map(|_| args.per_channel(2, n_filters)).transpose()?;
    let (size, before) = transposed_size(args, &picture, &window)?;
    let shape = picture.shape_with(n_filters, size);
    let mut items = vec![0.0; checked_len(&shape)?];
    let result = Picture { channels: n_filters, size, ..picture };
    let target = |axis: usize, from: usize, within: usize| {
        let place = from * window.strides[axis] + within * window.dilations[axis];
        place.checked_sub(before[axis]).filter(|&place| place < size[axis])
    };
    let [n_rows, n_columns] = window.kernel;
    for n in 0..picture.n {
        for channel in 0..n_channels {
            let group = channel / (n_channels / groups);
            for from_row in 0..picture.size[0] {
                for from_column in 0..picture.size[1] {
                    let value = x[picture.offset(n, channel, from_row, from_column)];
                    for filter in 0..n_per_group {
                        for row in 0..n_rows {
                            let Some(to_row) = target(0, from_row, row) else { continue };
                            for column in 0..n_columns {
                                let Some(to_column) = target(1, from_column, column) else {
                                    continue;
                                };
                                let by = ((channel * n_per_group + filter) * n_rows + row)
                                    * n_columns
                                    + column;
                                let to = group * n_per_group + filter;
                                items[result.offset(n, to, to_row, to_column)] += value * w[by];
                            }
                        }
                    }
                }
            }
        }
    }
    if let Some(bias) = bias {
        let n_pixels = size[0] * size[1];
        for (idx, item) in items.iter_mut().enumerate() {
            *item += bias[idx / n_pixels % n_filters];
        }
    }
    Ok(vec![Array::floats(shape, items)?])
}
