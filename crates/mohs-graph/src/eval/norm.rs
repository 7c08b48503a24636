//! Normalisations: of a batch, a layer, an instance, a group of channels, and softmax.

use super::args::{Args, Operator, Outcome, floats_of, size_of};
use super::array::{Array, Problem, checked_len};
use super::elementwise::larger;

/// Finds an operator of this family.
pub(super) fn operator(op: &str) -> Option<Operator> {
    let operator: Operator = match op {
        "BatchNormalization" => batch,
        "LayerNormalization" => layer,
        "InstanceNormalization" => instance,
        "GroupNormalization" => group,
        "LRN" => local_response,
        "LpNormalization" => length,
        "Softmax" => |args| along(args, shares),
        "LogSoftmax" => |args| along(args, log_shares),
        "Hardmax" => |args| along(args, first_largest),
        _ => return None,
    };
    Some(operator)
}

/// The mean and the variance (of the whole, not of a sample) of some numbers.
fn moments(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    (mean, numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n)
}

/// Samples, channels and pixels per channel of an array.
fn layout(array: &Array) -> Result<(usize, usize, usize), Problem> {
    match array.shape.as_slice() {
        [n, channels, spatial @ ..] => Ok((*n, *channels, checked_len(spatial)?)),
        _ => Err(format!("the input should have channels, found shape {:?}", array.shape)),
    }
}

/// Batch normalisation; in training form with the statistics of the batch and new running ones.
fn batch(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let (n, channels, n_pixels) = layout(x)?;
    let items = args.floats(0)?;
    let (scale, bias) = (args.per_channel(1, channels)?, args.per_channel(2, channels)?);
    let (running_mean, running_var) =
        (args.per_channel(3, channels)?, args.per_channel(4, channels)?);
    let epsilon = args.float_or("epsilon", 1e-5);
    let momentum = args.float_or("momentum", 0.9);
    let is_training = args.flag_or("training_mode", false);
    let (mut means, mut vars) = (running_mean.to_vec(), running_var.to_vec());
    let (mut new_means, mut new_vars) = (Vec::new(), Vec::new());
    if is_training {
        for channel in 0..channels {
            let of_channel: Vec<f64> = (0..n)
                .flat_map(|n| {
                    let first = (n * channels + channel) * n_pixels;
                    items[first..first + n_pixels].iter().copied()
                })
                .collect();
            (means[channel], vars[channel]) = moments(&of_channel);
            new_means.push(running_mean[channel] * momentum + means[channel] * (1.0 - momentum));
            new_vars.push(running_var[channel] * momentum + vars[channel] * (1.0 - momentum));
        }
    }
    let normalised = items.iter().enumerate().map(|(idx, x)| {
        let channel = idx / n_pixels % channels;
        (x - means[channel]) / (vars[channel] + epsilon).sqrt() * scale[channel] + bias[channel]
    });
    let mut outputs = vec![Array::floats(x.shape.clone(), normalised.collect())?];
    if is_training {
        outputs.push(Array::floats(vec![channels], new_means)?);
        outputs.push(Array::floats(vec![channels], new_vars)?);
    }
    Ok(outputs)
}

/// Layer normalisation over the dimensions from `axis` on, with its means and inverse deviations.
fn layer(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let axis = args.axis_or("axis", -1, x.rank())?;
    let epsilon = args.float_or("epsilon", 1e-5);
    let inner = x.shape.get(axis..).unwrap_or_default();
    let n_inner = checked_len(inner)?;
    let scale = args.input(1)?.broadcast(inner)?;
    let scale = floats_of(&scale)?;
    let bias = match args.optional(2) {
        Some(bias) => bias.broadcast(inner)?,
        None => Array::floats(inner.to_vec(), vec![0.0; n_inner])?,
    };
    let bias = floats_of(&bias)?;
    let (mut items, mut means, mut inverses) = (Vec::new(), Vec::new(), Vec::new());
    for row in args.floats(0)?.chunks(n_inner.max(1)) {
        let (mean, var) = moments(row);
        let inverse = (var + epsilon).sqrt().recip();
        let places = row.iter().zip(scale.iter().zip(bias));
        items.extend(places.map(|(x, (scale, bias))| (x - mean) * inverse * scale + bias));
        means.push(mean);
        inverses.push(inverse);
    }
    let mut outer = x.shape[..axis].to_vec();
    outer.resize(x.rank(), 1);
    if n_inner == 0 {
        means.resize(checked_len(&outer)?, 0.0);
        inverses.resize(checked_len(&outer)?, 0.0);
    }
    Ok(vec![
        Array::floats(x.shape.clone(), items)?,
        Array::floats(outer.clone(), means)?,
        Array::floats(outer, inverses)?,
    ])
}

/// Normalises runs of numbers of this length by their own mean and variance.
fn in_runs(items: &[f64], run: usize, epsilon: f64) -> Vec<f64> {
    let mut normalised = Vec::with_capacity(items.len());
    for run in items.chunks(run.max(1)) {
        let (mean, var) = moments(run);
        normalised.extend(run.iter().map(|x| (x - mean) / (var + epsilon).sqrt()));
    }
    normalised
}

/// Instance normalisation: each channel of each sample by itself.
fn instance(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let (_, channels, n_pixels) = layout(x)?;
    let (scale, bias) = (args.per_channel(1, channels)?, args.per_channel(2, channels)?);
    let mut items = in_runs(args.floats(0)?, n_pixels, args.float_or("epsilon", 1e-5));
    for (idx, item) in items.iter_mut().enumerate() {
        let channel = idx / n_pixels % channels;
        *item = *item * scale[channel] + bias[channel];
    }
    Ok(vec![Array::floats(x.shape.clone(), items)?])
}

/// Group normalisation; scale and bias are per channel or, as before version 21, per group.
fn group(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let (_, channels, n_pixels) = layout(x)?;
    let n_groups = size_of(args.int_or("num_groups", 0), 1, "num_groups")?;
    if channels == 0 || !channels.is_multiple_of(n_groups) {
        return Err(format!("{n_groups} groups should divide {channels} channels"));
    }
    let per_group = channels / n_groups;
    let n_scales = args.floats(1)?.len();
    if n_scales != channels && n_scales != n_groups {
        return Err(format!(
            "input 1 should have {channels} or {n_groups} numbers, found {n_scales}"
        ));
    }
    let (scale, bias) = (args.per_channel(1, n_scales)?, args.per_channel(2, n_scales)?);
    let run = per_group.checked_mul(n_pixels).ok_or("a group should not be huge")?;
    let mut items = in_runs(args.floats(0)?, run, args.float_or("epsilon", 1e-5));
    for (idx, item) in items.iter_mut().enumerate() {
        let channel = idx / n_pixels % channels;
        let place = if n_scales == channels { channel } else { channel / per_group };
        *item = *item * scale[place] + bias[place];
    }
    Ok(vec![Array::floats(x.shape.clone(), items)?])
}

/// Local response normalisation: by the squares of neighbouring channels.
fn local_response(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let (_, channels, n_pixels) = layout(x)?;
    let items = args.floats(0)?;
    let size = size_of(args.int_or("size", 0), 1, "size")?;
    let (alpha, beta) = (args.float_or("alpha", 1e-4), args.float_or("beta", 0.75));
    let bias = args.float_or("bias", 1.0);
    let (before, after) = ((size - 1) / 2, size / 2);
    let normalised = items.iter().enumerate().map(|(idx, x)| {
        let (channel, pixel) = (idx / n_pixels % channels, idx % n_pixels);
        let first = idx - pixel - channel * n_pixels;
        let neighbours = channel.saturating_sub(before)..channels.min(channel + after + 1);
        let squares: f64 =
            neighbours.map(|channel| items[first + channel * n_pixels + pixel].powi(2)).sum();
        x / (bias + alpha / size as f64 * squares).powf(beta)
    });
    let normalised = normalised.collect();
    Ok(vec![Array::floats(x.shape.clone(), normalised)?])
}

/// Scales rows to length one.
fn length(args: &Args<'_>) -> Outcome {
    let p = args.int_or("p", 2);
    if p != 1 && p != 2 {
        return Err(format!("`p` should be 1 or 2, found {p}"));
    }
    along(args, |row| {
        let length = if p == 1 {
            row.iter().map(|x| x.abs()).sum::<f64>()
        } else {
            row.iter().map(|x| x * x).sum::<f64>().sqrt()
        };
        row.iter().map(|x| if length == 0.0 { 0.0 } else { x / length }).collect()
    })
}

/// Applies a function to every row along the dimension `axis`.
fn along(args: &Args<'_>, function: impl Fn(&[f64]) -> Vec<f64>) -> Outcome {
    let x = args.input(0)?;
    let axis = args.axis_or("axis", -1, x.rank())?;
    let items = args.floats(0)?;
    let mut made = vec![0.0; items.len()];
    let (size, step) = (x.shape[axis], checked_len(&x.shape[axis + 1..])?);
    if !items.is_empty() {
        for outer in 0..items.len() / (size * step) {
            for inner in 0..step {
                let first = outer * size * step + inner;
                let row: Vec<f64> = (0..size).map(|idx| items[first + idx * step]).collect();
                for (idx, value) in function(&row).into_iter().enumerate() {
                    made[first + idx * step] = value;
                }
            }
        }
    }
    Ok(vec![Array::floats(x.shape.clone(), made)?])
}

/// Softmax of a row.
fn shares(row: &[f64]) -> Vec<f64> {
    log_shares(row).into_iter().map(f64::exp).collect()
}

/// The logarithm of the softmax of a row.
fn log_shares(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, larger);
    let total: f64 = row.iter().map(|x| (x - largest).exp()).sum();
    row.iter().map(|x| x - largest - total.ln()).collect()
}

/// One where the first largest number is, else zero.
fn first_largest(row: &[f64]) -> Vec<f64> {
    let mut best = 0;
    for (idx, x) in row.iter().enumerate() {
        if row[best] < *x {
            best = idx;
        }
    }
    (0..row.len()).map(|idx| if idx == best { 1.0 } else { 0.0 }).collect()
}
