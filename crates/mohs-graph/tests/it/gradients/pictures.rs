//! Cases of operators on pictures: convolution, pooling, padding, resizing, rearranging.

use mohs_graph::Tensor;

use super::cases::Case;
use super::draw::{Draw, wholes};
use super::trial::Trial;

/// A window over one or two dimensions, and a picture that it fits into.
struct Window {
    kernel: Vec<usize>,
    strides: Vec<usize>,
    dilations: Vec<usize>,
    /// Padding before each dimension, then after each.
    pads: Vec<usize>,
    sizes: Vec<usize>,
}

fn window(draw: &mut Draw, n_spatial: usize) -> Window {
    let mut window =
        Window { kernel: vec![], strides: vec![], dilations: vec![], pads: vec![], sizes: vec![] };
    for _ in 0..n_spatial {
        let (kernel, dilation) = (draw.size(1, 3), draw.size(1, 2));
        let extent = (kernel - 1) * dilation + 1;
        window.kernel.push(kernel);
        window.dilations.push(dilation);
        window.strides.push(draw.size(1, 3));
        window.sizes.push(draw.size(extent, extent + 2));
    }
    for _ in 0..2 {
        for axis in 0..n_spatial {
            // Less than the window, so that none sees padding only.
            let reach = (window.kernel[axis] - 1) * window.dilations[axis];
            window.pads.push(draw.size(0, reach.min(2)));
        }
    }
    window
}

fn placed(trial: Trial, draw: &mut Draw, window: &Window, may_be_automatic: bool) -> Trial {
    let trial = trial
        .ints("strides", &wholes(&window.strides))
        .ints("dilations", &wholes(&window.dilations));
    if may_be_automatic && draw.size(0, 3) == 0 {
        return trial.text("auto_pad", draw.one_of(&["SAME_UPPER", "SAME_LOWER", "VALID"]));
    }
    trial.ints("pads", &wholes(&window.pads))
}

fn conv(draw: &mut Draw) -> Trial {
    let n_spatial = draw.one_of(&[1, 2, 2]);
    let window = window(draw, n_spatial);
    let groups = draw.size(1, 2);
    let (depth, per_group) = (draw.size(1, 2), draw.size(1, 2));
    let shape = [&[draw.size(1, 2), depth * groups], &window.sizes[..]].concat();
    let filters = [&[per_group * groups, depth], &window.kernel[..]].concat();
    let mut trial = Trial::new("Conv")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .moving(draw.floats(&filters, -2.0, 2.0));
    if draw.chance() {
        trial = trial.moving(draw.floats(&[per_group * groups], -2.0, 2.0));
    }
    if draw.chance() {
        trial = trial.ints("kernel_shape", &wholes(&window.kernel));
    }
    placed(trial, draw, &window, true).int("group", groups as i64).free_batch(draw, &[0])
}

fn conv_transpose(draw: &mut Draw) -> Trial {
    let n_spatial = draw.one_of(&[1, 2, 2]);
    let mut window = window(draw, n_spatial);
    window.sizes = (0..n_spatial).map(|_| draw.size(1, 3)).collect();
    for axis in 0..n_spatial {
        // Padding takes away; something has to stay.
        let full = (window.sizes[axis] - 1) * window.strides[axis]
            + (window.kernel[axis] - 1) * window.dilations[axis]
            + 1;
        while full <= window.pads[axis] + window.pads[axis + n_spatial] {
            window.pads[axis] = window.pads[axis].saturating_sub(1);
            window.pads[axis + n_spatial] = window.pads[axis + n_spatial].saturating_sub(1);
        }
    }
    let groups = draw.size(1, 2);
    let (depth, per_group) = (draw.size(1, 2), draw.size(1, 2));
    let shape = [&[draw.size(1, 2), depth * groups], &window.sizes[..]].concat();
    let filters = [&[depth * groups, per_group], &window.kernel[..]].concat();
    let mut trial = Trial::new("ConvTranspose")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .moving(draw.floats(&filters, -2.0, 2.0));
    if draw.chance() {
        trial = trial.moving(draw.floats(&[per_group * groups], -2.0, 2.0));
    }
    if draw.chance() {
        let extra = window.strides.iter().zip(&window.dilations);
        let extra: Vec<usize> = extra.map(|(a, b)| draw.size(0, *a.max(b) - 1)).collect();
        trial = trial.ints("output_padding", &wholes(&extra));
    }
    placed(trial, draw, &window, false).int("group", groups as i64).free_batch(draw, &[0])
}

fn pool(draw: &mut Draw, op: &'static str) -> Trial {
    let n_spatial = draw.one_of(&[1, 2, 2]);
    let window = window(draw, n_spatial);
    let shape = [&[draw.size(1, 2), draw.size(1, 2)], &window.sizes[..]].concat();
    let trial = Trial::new(op)
        .moving(draw.floats(&shape, -2.0, 2.0))
        .ints("kernel_shape", &wholes(&window.kernel))
        .flag("ceil_mode", draw.chance());
    placed(trial, draw, &window, true).free_batch(draw, &[0])
}

fn max_pool(draw: &mut Draw) -> Trial {
    let trial = pool(draw, "MaxPool");
    if draw.chance() { trial.outputs(2, &[0]) } else { trial }
}

fn average_pool(draw: &mut Draw) -> Trial {
    let counts = draw.chance();
    pool(draw, "AveragePool").flag("count_include_pad", counts)
}

fn global(draw: &mut Draw, op: &'static str) -> Trial {
    let shape = draw.shape(3, 4);
    Trial::new(op).moving(draw.floats(&shape, -2.0, 2.0)).free_batch(draw, &[0])
}

fn pad(draw: &mut Draw) -> Trial {
    let shape: Vec<usize> = (0..draw.size(1, 3)).map(|_| draw.size(2, 4)).collect();
    let mode = draw.one_of(&["constant", "reflect", "edge", "wrap"]);
    let mut pads = Vec::new();
    for _ in 0..2 {
        for &size in &shape {
            let most = if mode == "reflect" { size as i64 - 1 } else { 2 };
            let least = if mode == "constant" { -1 } else { 0 };
            pads.push(draw.whole(least, most.min(2)));
        }
    }
    for axis in 0..shape.len() {
        // Something has to stay.
        if shape[axis] == 2 && pads[axis] + pads[axis + shape.len()] == -2 {
            pads[axis] = 0;
        }
    }
    let frees_batch = pads[0] == 0 && pads[shape.len()] == 0;
    let trial =
        Trial::new("Pad").moving(draw.floats(&shape, -2.0, 2.0)).list(&pads).text("mode", mode);
    let trial =
        if draw.chance() && mode == "constant" { trial.fixed(Tensor::scalar(0.5)) } else { trial };
    if frees_batch { trial.free_batch(draw, &[0]) } else { trial }
}

fn resize(draw: &mut Draw) -> Trial {
    let shape = [draw.size(1, 2), draw.size(1, 2), draw.size(2, 4), draw.size(2, 4)];
    let mode = draw.one_of(&["nearest", "linear", "cubic"]);
    let mut trial = Trial::new("Resize")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .absent()
        .text("mode", mode)
        .text(
            "coordinate_transformation_mode",
            draw.one_of(&[
                "half_pixel",
                "align_corners",
                "asymmetric",
                "pytorch_half_pixel",
                "half_pixel_symmetric",
            ]),
        )
        .text(
            "nearest_mode",
            draw.one_of(&["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]),
        );
    if mode == "cubic" && draw.chance() {
        trial = trial.float("cubic_coeff_a", -0.5).flag("exclude_outside", draw.chance());
    }
    if mode != "nearest" && draw.size(0, 2) == 0 {
        trial = trial.int("antialias", 1);
    }
    if draw.chance() {
        let scales = [1.0, 1.0, draw.one_of(&[0.5, 1.5, 2.0]), draw.one_of(&[0.75, 1.0, 2.5])];
        return trial.fixed(super::draw::tensor(&[4], scales.to_vec())).free_batch(draw, &[0]);
    }
    let sizes = [draw.whole(1, 5), draw.whole(1, 5)];
    if draw.chance() {
        return trial.absent().list(&sizes).ints("axes", &[2, 3]).free_batch(draw, &[0]);
    }
    let whole = wholes(&shape);
    trial.absent().list(&[whole[0], whole[1], sizes[0], sizes[1]])
}

fn depth_to_space(draw: &mut Draw) -> Trial {
    let shape = [draw.size(1, 2), 4 * draw.size(1, 2), draw.size(1, 3), draw.size(1, 3)];
    Trial::new("DepthToSpace")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .int("blocksize", 2)
        .text("mode", draw.one_of(&["DCR", "CRD"]))
        .free_batch(draw, &[0])
}

fn space_to_depth(draw: &mut Draw) -> Trial {
    let shape = [draw.size(1, 2), draw.size(1, 2), 2 * draw.size(1, 2), 2 * draw.size(1, 2)];
    Trial::new("SpaceToDepth")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .int("blocksize", 2)
        .free_batch(draw, &[0])
}

/// The cases of this family.
pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("AveragePool", average_pool),
        Case::new("Conv", conv),
        Case::new("ConvTranspose", conv_transpose),
        Case::new("DepthToSpace", depth_to_space),
        Case::new("GlobalAveragePool", |draw| global(draw, "GlobalAveragePool")),
        Case::new("GlobalMaxPool", |draw| global(draw, "GlobalMaxPool")),
        Case::new("MaxPool", max_pool),
        Case::new("Pad", pad),
        Case::new("Resize", resize),
        Case::new("SpaceToDepth", space_to_depth),
    ]
}
