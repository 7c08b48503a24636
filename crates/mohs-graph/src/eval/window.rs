//! Windows that slide over a picture: what convolution and pooling share.
//!
//! Lists of places, one dimension, are pictures of one row. More than two dimensions are refused.

use super::args::{Args, size_of};
use super::array::{Array, Problem};

/// A picture batch: samples, channels, rows, columns.
#[derive(Clone, Copy)]
pub(super) struct Picture {
    pub(super) n: usize,
    pub(super) channels: usize,
    pub(super) size: [usize; 2],
    /// How many dimensions it really has besides samples and channels: one or two.
    pub(super) n_spatial: usize,
}

impl Picture {
    /// Reads the shape of an array.
    pub(super) fn of(array: &Array) -> Result<Picture, Problem> {
        match array.shape[..] {
            [n, channels, columns] => Ok(Picture { n, channels, size: [1, columns], n_spatial: 1 }),
            [n, channels, rows, columns] => {
                Ok(Picture { n, channels, size: [rows, columns], n_spatial: 2 })
            }
            _ => Err(format!(
                "the input should have 3 or 4 dimensions here, found shape {:?}",
                array.shape
            )),
        }
    }

    /// The shape of a result with other channels and sizes.
    pub(super) fn shape_with(&self, channels: usize, size: [usize; 2]) -> Vec<usize> {
        match self.n_spatial {
            1 => vec![self.n, channels, size[1]],
            _ => vec![self.n, channels, size[0], size[1]],
        }
    }

    /// The position of a pixel.
    pub(super) fn offset(&self, n: usize, channel: usize, row: usize, column: usize) -> usize {
        ((n * self.channels + channel) * self.size[0] + row) * self.size[1] + column
    }
}

/// A window, by rows and columns.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) kernel: [usize; 2],
    pub(super) strides: [usize; 2],
    pub(super) dilations: [usize; 2],
}

impl Window {
    /// Reads strides and dilations.
    pub(super) fn of(
        args: &Args<'_>,
        kernel: [usize; 2],
        n_spatial: usize,
    ) -> Result<Window, Problem> {
        Ok(Window {
            kernel,
            strides: pair(args, "strides", n_spatial, 1, 1)?,
            dilations: pair(args, "dilations", n_spatial, 1, 1)?,
        })
    }

    /// How many places the window spans along one dimension.
    pub(super) fn extent(&self, axis: usize) -> Result<usize, Problem> {
        let span =
            self.kernel[axis].checked_sub(1).and_then(|n| n.checked_mul(self.dilations[axis]));
        let extent = span.and_then(|span| span.checked_add(1));
        extent.ok_or_else(|| format!("the window {:?} should not be empty or huge", self.kernel))
    }
}

/// One number per dimension from a setting; the first is `default` for lists of places.
pub(super) fn pair(
    args: &Args<'_>,
    name: &str,
    n_spatial: usize,
    default: usize,
    least: usize,
) -> Result<[usize; 2], Problem> {
    match (args.node.ints(name), n_spatial) {
        (None, _) => Ok([default; 2]),
        (Some(&[columns]), 1) => Ok([default, size_of(columns, least, name)?]),
        (Some(&[rows, columns]), 2) => {
            Ok([size_of(rows, least, name)?, size_of(columns, least, name)?])
        }
        (Some(other), _) => {
            Err(format!("`{name}` should have {n_spatial} numbers, found {other:?}"))
        }
    }
}

/// The `pads` setting: before rows and columns, after rows and columns.
pub(super) fn pads(args: &Args<'_>, n_spatial: usize) -> Result<([usize; 2], [usize; 2]), Problem> {
    let size = |number: i64| size_of(number, 0, "pads");
    match (args.node.ints("pads"), n_spatial) {
        (None, _) => Ok(([0; 2], [0; 2])),
        (Some(&[left, right]), 1) => Ok(([0, size(left)?], [0, size(right)?])),
        (Some(&[top, left, bottom, right]), 2) => {
            Ok(([size(top)?, size(left)?], [size(bottom)?, size(right)?]))
        }
        (Some(other), _) => {
            Err(format!("`pads` should have {} numbers, found {other:?}", 2 * n_spatial))
        }
    }
}

/// Where a window stands over a picture: padding before and after, and how many places it takes.
pub(super) struct Placement {
    pub(super) before: [usize; 2],
    pub(super) after: [usize; 2],
    pub(super) n: [usize; 2],
}

/// Places a window by `auto_pad` and `pads`; `rounds_up` counts a last window that sticks out.
pub(super) fn place(
    args: &Args<'_>,
    picture: &Picture,
    window: &Window,
    rounds_up: bool,
) -> Result<Placement, Problem> {
    let auto = args.text_or("auto_pad", "NOTSET");
    let (mut before, mut after) = match auto {
        "NOTSET" | "" => pads(args, picture.n_spatial)?,
        "VALID" | "SAME_UPPER" | "SAME_LOWER" => ([0; 2], [0; 2]),
        other => return Err(format!("`auto_pad` should be a known one, found `{other}`")),
    };
    let mut n = [0; 2];
    for axis in 0..2 {
        let (size, stride) = (picture.size[axis], window.strides[axis]);
        let extent = window.extent(axis)?;
        if auto.starts_with("SAME") {
            n[axis] = size.div_ceil(stride);
            let needed = n[axis].saturating_sub(1).saturating_mul(stride).saturating_add(extent);
            let total = needed.saturating_sub(size);
            before[axis] = if auto == "SAME_UPPER" { total / 2 } else { total.div_ceil(2) };
            after[axis] = total - before[axis];
            continue;
        }
        let padded = size + before[axis] + after[axis];
        let room = padded.checked_sub(extent).ok_or_else(|| {
            format!("a window of {extent} should fit into {padded} places with padding")
        })?;
        n[axis] = if rounds_up { room.div_ceil(stride) + 1 } else { room / stride + 1 };
        // A window that would start behind the picture has nothing to look at.
        if rounds_up && size + before[axis] <= (n[axis] - 1) * stride {
            n[axis] -= 1;
        }
    }
    Ok(Placement { before, after, n })
}

/// The place in a picture that a window looks at, unless it is padding.
pub(super) fn looked_at(
    window: &Window,
    axis: usize,
    out: usize,
    within: usize,
    before: usize,
    size: usize,
) -> Option<usize> {
    let place = out * window.strides[axis] + within * window.dilations[axis];
    place.checked_sub(before).filter(|&place| place < size)
}
