//! Operators on pictures: convolutions, pools and resizing.
//!
//! The size of a picture after a window has passed over it is computed where the size before is
//! known; where it depends on symbols, only windows that keep or multiply the size can be followed.

use super::elementwise::whole;
use super::scope::{Found, Scope};
use super::{Fact, InferError};
use crate::dim::{self, Dim};
use crate::graph::Node;
use crate::tensor::ElementType;

/// What this family says about a node; `None` if the operator is of another family.
pub(super) fn infer(scope: &Scope<'_>) -> Option<Found> {
    Some(match scope.node.op.as_str() {
        "Conv" => conv(scope),
        "ConvTranspose" => conv_transpose(scope),
        "MaxPool" | "AveragePool" | "LpPool" => pool(scope),
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => global_pool(scope),
        "Resize" | "Upsample" => resize(scope),
        _ => return None,
    })
}

/// The window of a convolution or pool, one entry per dimension of the picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Window {
    /// The size of the window.
    pub(crate) kernel: Vec<i64>,
    /// How far it moves.
    pub(crate) strides: Vec<i64>,
    /// How far its elements are apart.
    pub(crate) dilations: Vec<i64>,
    /// Pixels added before and after.
    pub(crate) pads: Vec<(i64, i64)>,
}

impl Window {
    /// Reads the window from the settings of a node; says what is wrong with it.
    pub(crate) fn of_node(node: &Node, kernel: Vec<i64>) -> Result<Window, String> {
        let n_axes = kernel.len();
        let list = |name: &str| match node.ints(name) {
            None => Ok(vec![1; n_axes]),
            Some(values) if values.len() == n_axes => Ok(values.to_vec()),
            Some(values) => Err(format!("`{name}` should have {n_axes} numbers, found {values:?}")),
        };
        let (strides, dilations) = (list("strides")?, list("dilations")?);
        for (what, numbers) in
            [("kernel", &kernel), ("strides", &strides), ("dilations", &dilations)]
        {
            if let Some(number) =
                numbers.iter().find(|&&number| !(1..=MAX_WINDOW).contains(&number))
            {
                return Err(format!("{what} should be from 1 to {MAX_WINDOW}, found {number}"));
            }
        }
        let pads = match node.ints("pads") {
            None => vec![(0, 0); n_axes],
            Some(pads) if pads.len() == 2 * n_axes => {
                let (before, after) = pads.split_at(n_axes);
                before.iter().copied().zip(after.iter().copied()).collect()
            }
            Some(pads) => {
                return Err(format!("`pads` should have {} numbers, found {pads:?}", 2 * n_axes));
            }
        };
        let is_small = |pad: i64| (-MAX_WINDOW..=MAX_WINDOW).contains(&pad);
        if let Some(pad) =
            pads.iter().find(|(before, after)| !is_small(*before) || !is_small(*after))
        {
            return Err(format!("pads should be at most {MAX_WINDOW}, found {pad:?}"));
        }
        Ok(Window { kernel, strides, dilations, pads })
    }

    /// How many pixels the window spans along an axis.
    pub(crate) fn span(&self, axis: usize) -> i64 {
        self.dilations[axis] * (self.kernel[axis] - 1) + 1
    }
}

/// Windows, strides and pads up to this size are believed; it keeps sums far from overflow.
const MAX_WINDOW: i64 = 1 << 24;

/// The pads that `auto_pad` stands for, if the sizes of the picture are known.
pub(crate) fn automatic_pads(
    node: &Node,
    window: &Window,
    picture: &[Dim],
) -> Option<Vec<(i64, i64)>> {
    let rule = node.text("auto_pad").unwrap_or("NOTSET");
    match rule {
        "VALID" => return Some(vec![(0, 0); window.kernel.len()]),
        "SAME_UPPER" | "SAME_LOWER" => {}
        _ => return Some(window.pads.clone()),
    }
    let mut pads = Vec::with_capacity(picture.len());
    for (axis, dim) in picture.iter().enumerate() {
        let (stride, span) = (*window.strides.get(axis)?, window.span(axis));
        // With a step of one the pads do not depend on the size.
        let total = match dim.as_known() {
            _ if stride == 1 => span - 1,
            Some(size) => {
                let n_steps = size.checked_add(stride - 1)? / stride;
                ((n_steps - 1).checked_mul(stride)?.checked_add(span)? - size).max(0)
            }
            None => return None,
        };
        let (less, more) = (total / 2, total - total / 2);
        pads.push(if rule == "SAME_UPPER" { (less, more) } else { (more, less) });
    }
    Some(pads)
}

fn bad(scope: &Scope<'_>) -> impl Fn(String) -> InferError {
    |problem| scope.contradiction(problem)
}

/// Splits a shape into batch, channels and picture, and refuses the wrong number of dimensions.
fn picture<'a>(
    scope: &Scope<'_>,
    shape: &'a [Dim],
    n_axes: usize,
) -> Result<(&'a Dim, &'a Dim, &'a [Dim]), InferError> {
    match shape {
        [n, channels, rest @ ..] if rest.len() == n_axes => Ok((n, channels, rest)),
        _ => Err(scope.contradiction(format!(
            "the input should have {} dimensions (batch, channels, picture), found {}",
            n_axes + 2,
            dim::describe(shape)
        ))),
    }
}

/// The size of the picture after a window has passed over it.
fn swept(
    scope: &Scope<'_>,
    window: &Window,
    picture: &[Dim],
    output_idx: usize,
) -> Result<Vec<Dim>, InferError> {
    let is_ceil = scope.node.int("ceil_mode").unwrap_or(0) != 0;
    let rule = scope.node.text("auto_pad").unwrap_or("NOTSET");
    let is_same = matches!(rule, "SAME_UPPER" | "SAME_LOWER");
    let mut found = Vec::with_capacity(picture.len());
    for (axis, dim) in picture.iter().enumerate() {
        let (stride, span) = (window.strides[axis], window.span(axis));
        let (before, after) = if rule == "VALID" { (0, 0) } else { window.pads[axis] };
        let keeps = stride == 1 && (is_same || before + after == span - 1);
        let Some(size) = dim.as_known() else {
            found.push(if keeps { dim.clone() } else { scope.fresh(output_idx, axis + 2) });
            continue;
        };
        let padded = size.checked_add(before + after);
        let padded = padded.ok_or_else(|| scope.contradiction("the picture is too large"))?;
        if is_same {
            found.push(Dim::known(size.saturating_add(stride - 1) / stride));
            continue;
        }
        if padded < span || size < 0 {
            return Err(scope.contradiction(format!(
                "a window of {span} should fit into dimension {} of size {size} with pads {before} and {after}",
                axis + 2
            )));
        }
        let steps = padded - span;
        let mut n_places = steps / stride + 1;
        if is_ceil && steps % stride != 0 {
            // A window that would start in the padding at the end is left out.
            if n_places.saturating_mul(stride) < size.saturating_add(before) {
                n_places += 1;
            }
        }
        found.push(Dim::known(n_places));
    }
    Ok(found)
}

fn conv(scope: &Scope<'_>) -> Found {
    let (x, weights) = (scope.required(0)?, scope.required(1)?);
    let Some(of_weights) = &weights.shape else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let [n_out, n_in, kernel @ ..] = of_weights.as_slice() else {
        return Err(scope.contradiction(format!(
            "the weights should have at least 3 dimensions, found {}",
            dim::describe(of_weights)
        )));
    };
    let n_groups = scope.node.int("group").unwrap_or(1);
    if n_groups < 1 || n_out.as_known().is_some_and(|n_out| n_out % n_groups != 0) {
        return Err(scope.contradiction(format!("{n_out} channels cannot form {n_groups} groups")));
    }
    let Some(shape) = &x.shape else {
        let mut shape = scope.fresh_shape(0, of_weights.len());
        shape[1].clone_from(n_out);
        return Ok(vec![Fact::new(x.element_type, shape)]);
    };
    let (n, channels, sizes) = picture(scope, shape, kernel.len())?;
    if let Some(expected) = n_in.times(&Dim::known(n_groups)) {
        scope.check_equal("the number of channels", &expected, channels)?;
    }
    check_bias(scope, n_out)?;
    let Some(kernel) = kernel.iter().map(Dim::as_known).collect::<Option<Vec<i64>>>() else {
        let mut shape = scope.fresh_shape(0, of_weights.len());
        shape[0].clone_from(n);
        shape[1].clone_from(n_out);
        return Ok(vec![Fact::new(x.element_type, shape)]);
    };
    let window = Window::of_node(scope.node, kernel).map_err(bad(scope))?;
    let sizes = swept(scope, &window, sizes, 0)?;
    let shape = [&[n.clone(), n_out.clone()], sizes.as_slice()].concat();
    Ok(vec![Fact::new(x.element_type, shape)])
}

fn check_bias(scope: &Scope<'_>, n_out: &Dim) -> Result<(), InferError> {
    match scope.shape(2) {
        None => Ok(()),
        Some([n_bias]) => scope.check_equal("the length of the bias", n_out, n_bias),
        Some(other) => Err(scope.contradiction(format!(
            "the bias should have 1 dimension, found {}",
            dim::describe(other)
        ))),
    }
}

fn conv_transpose(scope: &Scope<'_>) -> Found {
    let (x, weights) = (scope.required(0)?, scope.required(1)?);
    let (Some(shape), Some(of_weights)) = (&x.shape, &weights.shape) else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let [n_in, n_out, kernel @ ..] = of_weights.as_slice() else {
        return Err(scope.contradiction(format!(
            "the weights should have at least 3 dimensions, found {}",
            dim::describe(of_weights)
        )));
    };
    let n_groups = scope.node.int("group").unwrap_or(1);
    let n_out = n_out.times(&Dim::known(n_groups)).filter(|_| 1 <= n_groups);
    let n_out = n_out.ok_or_else(|| {
        scope.contradiction(format!("`group` should be at least 1, found {n_groups}"))
    })?;
    let (n, channels, sizes) = picture(scope, shape, kernel.len())?;
    scope.check_equal("the number of channels", n_in, channels)?;
    check_bias(scope, &n_out)?;
    let Some(kernel) = kernel.iter().map(Dim::as_known).collect::<Option<Vec<i64>>>() else {
        let mut found = scope.fresh_shape(0, shape.len());
        found[0].clone_from(n);
        found[1] = n_out;
        return Ok(vec![Fact::new(x.element_type, found)]);
    };
    let window = Window::of_node(scope.node, kernel).map_err(bad(scope))?;
    let mut found = vec![n.clone(), n_out];
    for (axis, dim) in sizes.iter().enumerate() {
        found.push(spread(scope, &window, dim, axis, sizes.len())?);
    }
    Ok(vec![Fact::new(x.element_type, found)])
}

/// The size of one dimension of the picture after a transposed convolution.
fn spread(
    scope: &Scope<'_>,
    window: &Window,
    size: &Dim,
    axis: usize,
    n_axes: usize,
) -> Result<Dim, InferError> {
    let list =
        |name: &str| match scope.node.ints(name) {
            Some(values) if values.len() == n_axes => Ok(Some(values[axis])),
            Some(values) => Err(scope
                .contradiction(format!("`{name}` should have {n_axes} numbers, found {values:?}"))),
            None => Ok(None),
        };
    if let Some(wanted) = list("output_shape")? {
        return Ok(Dim::known(wanted.max(0)));
    }
    let stride = window.strides[axis];
    let times_stride = || size.times(&Dim::known(stride));
    let rule = scope.node.text("auto_pad").unwrap_or("NOTSET");
    if matches!(rule, "SAME_UPPER" | "SAME_LOWER") {
        return Ok(times_stride().unwrap_or_else(|| scope.fresh(0, axis + 2)));
    }
    let (before, after) = if rule == "VALID" { (0, 0) } else { window.pads[axis] };
    let extra = list("output_padding")?.unwrap_or(0);
    if !(0..=MAX_WINDOW).contains(&extra) {
        return Err(scope.contradiction(format!(
            "`output_padding` should not be negative or huge, found {extra}"
        )));
    }
    // stride·(size − 1) + span + extra − pads = stride·size + rest
    let rest = window.span(axis) + extra - before - after - stride;
    let found = times_stride().and_then(|dim| super::scope::sum(&dim, &Dim::known(rest)));
    match found {
        Some(dim) if dim.as_known().is_some_and(|size| size < 0) => Err(scope.contradiction(
            format!("the pads {before} and {after} take away more than dimension {} has", axis + 2),
        )),
        Some(dim) => Ok(dim),
        None => Ok(scope.fresh(0, axis + 2)),
    }
}

fn pool(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let kernel = scope.node.ints("kernel_shape").map(<[i64]>::to_vec);
    let kernel =
        kernel.ok_or_else(|| scope.contradiction("the setting `kernel_shape` is missing"))?;
    let window = Window::of_node(scope.node, kernel).map_err(bad(scope))?;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(x.element_type), Fact::of_type(ElementType::I64)]);
    };
    let (n, channels, sizes) = picture(scope, shape, window.kernel.len())?;
    let sizes = swept(scope, &window, sizes, 0)?;
    let shape = [&[n.clone(), channels.clone()], sizes.as_slice()].concat();
    Ok(vec![Fact::new(x.element_type, shape.clone()), Fact::new(ElementType::I64, shape)])
}

fn global_pool(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let (n, channels, sizes) = picture(scope, shape, shape.len().saturating_sub(2))?;
    let mut found = vec![n.clone(), channels.clone()];
    found.resize(sizes.len() + 2, Dim::known(1));
    Ok(vec![Fact::new(x.element_type, found)])
}

fn resize(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let Some(shape) = &x.shape else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let rank = shape.len();
    let axes: Vec<i64> = match scope.node.ints("axes") {
        Some(axes) => axes.to_vec(),
        None => (0..).take(rank).collect(),
    };
    let axes = scope.axes(&axes, rank)?;
    let is_stretched =
        scope.node.text("keep_aspect_ratio_policy").is_none_or(|policy| policy == "stretch");
    let mut found = shape.clone();
    let open = |found: &mut Vec<Dim>| {
        for &axis in &axes {
            found[axis] = scope.fresh(0, axis);
        }
    };
    let n_wanted = |n_found: usize| {
        if n_found == axes.len() {
            Ok(())
        } else {
            Err(scope.contradiction(format!(
                "there should be {} sizes or scales, one per dimension, found {n_found}",
                axes.len()
            )))
        }
    };
    // The operator before opset 11 has the scales in the second place.
    let (of_scales, of_sizes) = if scope.node.op == "Upsample" { (1, 9) } else { (2, 3) };
    let is_given = |idx: usize| {
        scope
            .optional(idx)
            .is_some_and(|fact| fact.shape.as_deref().is_none_or(|shape| shape != [Dim::known(0)]))
    };
    if is_given(of_sizes) {
        match scope.value(of_sizes) {
            Some(sizes) if is_stretched => {
                n_wanted(sizes.len())?;
                for (&axis, size) in axes.iter().zip(sizes) {
                    found[axis].clone_from(size);
                }
            }
            _ => open(&mut found),
        }
    } else if is_given(of_scales) {
        match scope.optional(of_scales).and_then(|fact| fact.floats.as_deref()) {
            Some(scales) => {
                n_wanted(scales.len())?;
                for (&axis, &scale) in axes.iter().zip(scales) {
                    let scaled = scaled(&found[axis], scale);
                    found[axis] = scaled.unwrap_or_else(|| scope.fresh(0, axis));
                }
            }
            None => open(&mut found),
        }
    } else {
        open(&mut found);
    }
    if let Some(size) = found.iter().filter_map(Dim::as_known).find(|&size| size < 0) {
        return Err(scope.contradiction(format!("a dimension should be a size, found {size}")));
    }
    Ok(vec![Fact::new(x.element_type, found)])
}

/// A dimension times a factor, cut off to a whole number.
fn scaled(dim: &Dim, scale: f64) -> Option<Dim> {
    if let Some(size) = dim.as_known() {
        #[expect(clippy::cast_precision_loss, reason = "sizes of pictures are below 2^53")]
        return whole((size as f64 * scale).floor()).map(Dim::known);
    }
    let factor = whole(scale)?;
    #[expect(clippy::cast_precision_loss, reason = "`whole` keeps to small numbers")]
    let is_whole = (scale - factor as f64).abs() < f64::EPSILON;
    if is_whole { dim.times(&Dim::known(factor)) } else { None }
}
