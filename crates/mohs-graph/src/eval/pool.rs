//! Pooling: the largest or the mean value under a window or over a whole picture.

use super::args::{Args, Operator, Outcome};
use super::array::{Array, Problem, checked_len};
use super::elementwise::larger;
use super::window::{Picture, Window, looked_at, pair, place};

/// Finds an operator of this family.
pub(super) fn operator(op: &str) -> Option<Operator> {
    let operator: Operator = match op {
        "MaxPool" => max_pool,
        "AveragePool" => average_pool,
        "GlobalAveragePool" => {
            |args| global(args, |pixels| pixels.iter().sum::<f64>() / pixels.len() as f64)
        }
        "GlobalMaxPool" => {
            |args| global(args, |pixels| pixels.iter().copied().fold(f64::NEG_INFINITY, larger))
        }
        _ => return None,
    };
    Some(operator)
}

/// The window of a pool.
fn window_of(args: &Args<'_>, picture: &Picture) -> Result<Window, Problem> {
    if !args.has("kernel_shape") {
        return Err("the setting `kernel_shape` is missing".to_owned());
    }
    let kernel = pair(args, "kernel_shape", picture.n_spatial, 1, 1)?;
    Window::of(args, kernel, picture.n_spatial)
}

/// The largest value under each window, and where it was.
fn max_pool(args: &Args<'_>) -> Outcome {
    let picture = Picture::of(args.input(0)?)?;
    let x = args.floats(0)?;
    let window = window_of(args, &picture)?;
    let placement = place(args, &picture, &window, args.flag_or("ceil_mode", false))?;
    let by_columns = args.flag_or("storage_order", false);
    let shape = picture.shape_with(picture.channels, placement.n);
    let len = checked_len(&shape)?;
    let (mut items, mut places) = (Vec::with_capacity(len), Vec::with_capacity(len));
    for n in 0..picture.n {
        for channel in 0..picture.channels {
            for out_row in 0..placement.n[0] {
                for out_column in 0..placement.n[1] {
                    // Padding is never the largest; a window of nothing else has no place.
                    let (mut largest, mut at) = (f64::NEG_INFINITY, None);
                    for row in 0..window.kernel[0] {
                        let row = looked_at(
                            &window,
                            0,
                            out_row,
                            row,
                            placement.before[0],
                            picture.size[0],
                        );
                        let Some(row) = row else { continue };
                        for column in 0..window.kernel[1] {
                            let column = looked_at(
                                &window,
                                1,
                                out_column,
                                column,
                                placement.before[1],
                                picture.size[1],
                            );
                            let Some(column) = column else { continue };
                            let value = x[picture.offset(n, channel, row, column)];
                            if at.is_none() || largest < value || value.is_nan() {
                                (largest, at) = (value, Some((row, column)));
                            }
                        }
                    }
                    items.push(largest);
                    places.push(at.map_or(-1, |(row, column)| {
                        let first = picture.offset(n, channel, 0, 0);
                        let within = if by_columns {
                            column * picture.size[0] + row
                        } else {
                            row * picture.size[1] + column
                        };
                        (first + within) as i64
                    }));
                }
            }
        }
    }
    Ok(vec![Array::floats(shape.clone(), items)?, Array::ints(shape, places)?])
}

/// The mean under each window; padding counts if the node says so.
fn average_pool(args: &Args<'_>) -> Outcome {
    let picture = Picture::of(args.input(0)?)?;
    let x = args.floats(0)?;
    let window = window_of(args, &picture)?;
    let placement = place(args, &picture, &window, args.flag_or("ceil_mode", false))?;
    let counts_padding = args.flag_or("count_include_pad", false);
    let shape = picture.shape_with(picture.channels, placement.n);
    let mut items = Vec::with_capacity(checked_len(&shape)?);
    // A window may stick out even beyond the padding when sizes round up; that part never counts.
    let is_padded = |axis: usize, out: usize, within: usize| {
        let place = out * window.strides[axis] + within * window.dilations[axis];
        place < placement.before[axis] + picture.size[axis] + placement.after[axis]
    };
    for n in 0..picture.n {
        for channel in 0..picture.channels {
            for out_row in 0..placement.n[0] {
                for out_column in 0..placement.n[1] {
                    let (mut sum, mut count) = (0.0, 0_usize);
                    for row in 0..window.kernel[0] {
                        for column in 0..window.kernel[1] {
                            let from_row = looked_at(
                                &window,
                                0,
                                out_row,
                                row,
                                placement.before[0],
                                picture.size[0],
                            );
                            let from_column = looked_at(
                                &window,
                                1,
                                out_column,
                                column,
                                placement.before[1],
                                picture.size[1],
                            );
                            if let Some((row, column)) = from_row.zip(from_column) {
                                sum += x[picture.offset(n, channel, row, column)];
                                count += 1;
                            } else if counts_padding
                                && is_padded(0, out_row, row)
                                && is_padded(1, out_column, column)
                            {
                                count += 1;
                            }
                        }
                    }
                    items.push(if count == 0 { 0.0 } else { sum / count as f64 });
                }
            }
        }
    }
    Ok(vec![Array::floats(shape, items)?])
}

/// One number for each channel of each sample.
fn global(args: &Args<'_>, function: fn(&[f64]) -> f64) -> Outcome {
    let x = args.input(0)?;
    let [n, channels, spatial @ ..] = x.shape.as_slice() else {
        return Err(format!("the input should have samples and channels, found {:?}", x.shape));
    };
    let n_pixels = checked_len(spatial)?;
    if n_pixels == 0 {
        return Err(format!("the picture should not be empty, found shape {:?}", x.shape));
    }
    let items = args.floats(0)?.chunks(n_pixels).map(function).collect();
    let mut shape = vec![*n, *channels];
    shape.resize(x.rank(), 1);
    Ok(vec![Array::floats(shape, items)?])
}
