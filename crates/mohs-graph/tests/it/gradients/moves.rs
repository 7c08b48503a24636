//! Cases of operators that move elements: shapes, slices, joins, gathering and scattering.

use mohs_graph::Tensor;

use super::cases::Case;
use super::draw::{Draw, wholes};
use super::trial::Trial;

fn reshape(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let n: usize = shape.iter().product();
    let x = draw.floats(&shape, -2.0, 2.0);
    let trial = Trial::new("Reshape").moving(x);
    match draw.size(0, 3) {
        0 => trial.list(&[-1]),
        1 => trial.list(&[0, -1]).free_batch(draw, &[0]),
        2 => trial.list(&[1, n as i64, 1]),
        _ => trial.list(&[-1, wholes(&shape)[shape.len() - 1]]).free_batch(draw, &[0]),
    }
}

fn flatten(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 4);
    let axis = draw.whole(-(shape.len() as i64), shape.len() as i64);
    Trial::new("Flatten")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .int("axis", axis)
        .free_batch(draw, &[0])
}

fn transpose(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 4);
    let trial = Trial::new("Transpose").moving(draw.floats(&shape, -2.0, 2.0));
    let order = draw.order(shape.len());
    let trial = if draw.chance() { trial.ints("perm", &wholes(&order)) } else { trial };
    trial.free_batch(draw, &[0])
}

fn squeeze(draw: &mut Draw) -> Trial {
    let rest = draw.shape(1, 2);
    let place = draw.size(1, rest.len());
    let mut shape = rest.clone();
    shape.insert(place, 1);
    let axis = draw.either_end(place, shape.len());
    let trial = Trial::new("Squeeze").moving(draw.floats(&shape, -2.0, 2.0)).list(&[axis]);
    trial.free_batch(draw, &[0])
}

fn unsqueeze(draw: &mut Draw) -> Trial {
    let shape = draw.shape(0, 3);
    let n_new = draw.size(1, 2);
    let order = draw.order(shape.len() + n_new);
    let axes: Vec<i64> =
        order[..n_new].iter().map(|&axis| draw.either_end(axis, shape.len() + n_new)).collect();
    let trial = Trial::new("Unsqueeze").moving(draw.floats(&shape, -2.0, 2.0)).list(&axes);
    if shape.is_empty() { trial } else { trial.free_batch(draw, &[0]) }
}

fn expand(draw: &mut Draw) -> Trial {
    let wide = draw.shape(1, 3);
    let narrow = draw.narrowed(&wide);
    // The wanted shape may have ones too, where the input does not.
    let wanted: Vec<usize> =
        wide.iter().map(|&size| if draw.size(0, 3) == 0 { 1 } else { size }).collect();
    Trial::new("Expand").moving(draw.floats(&narrow, -2.0, 2.0)).list(&wholes(&wanted))
}

fn concat(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let (axis, named) = draw.axis(shape.len());
    let n = draw.size(1, 3);
    let mut trial = Trial::new("Concat").int("axis", named);
    for _ in 0..n {
        let mut shape = shape.clone();
        shape[axis] = draw.size(1, 3);
        trial = trial.moving(draw.floats(&shape, -2.0, 2.0));
    }
    let all: Vec<usize> = (0..n).collect();
    if axis == 0 { trial } else { trial.free_batch(draw, &all) }
}

fn split(draw: &mut Draw) -> Trial {
    let mut shape = draw.shape(1, 3);
    let (axis, named) = draw.axis(shape.len());
    let n = draw.size(1, 3);
    let trial = Trial::new("Split").int("axis", named);
    let pieces: Vec<usize> = (0..n).map(|_| draw.size(1, 2)).collect();
    let trial = if draw.chance() {
        shape[axis] = pieces.iter().sum();
        trial.moving(draw.floats(&shape, -2.0, 2.0)).list(&wholes(&pieces))
    } else {
        shape[axis] = n * draw.size(1, 2);
        trial.moving(draw.floats(&shape, -2.0, 2.0)).int("num_outputs", n as i64)
    };
    let n_used = draw.size(1, n);
    let used = draw.order(n)[..n_used].to_vec();
    let trial = trial.outputs(n, &used);
    if axis == 0 { trial } else { trial.free_batch(draw, &[0]) }
}

fn slice(draw: &mut Draw) -> Trial {
    let shape: Vec<usize> = (0..draw.size(1, 3)).map(|_| draw.size(2, 5)).collect();
    let axes = draw.axes(shape.len());
    let (mut starts, mut ends, mut steps) = (vec![], vec![], vec![]);
    let mut cuts_batch = false;
    for &axis in &axes {
        let rank = shape.len() as i64;
        let axis = usize::try_from(axis.rem_euclid(rank)).expect("because it is not negative");
        cuts_batch |= axis == 0;
        let size = shape[axis];
        let step = draw.one_of(&[1, 1, 2, 3, -1, -2]);
        let (start, end) = if step < 0 {
            let start = draw.size(1, size - 1);
            let end = draw.one_of(&[i64::MIN, -(size as i64) - 1, 0]);
            (if draw.chance() { i64::MAX } else { start as i64 }, end)
        } else {
            let start = draw.size(0, size - 1);
            let end = draw.whole(start as i64 + 1, size as i64);
            let end = if draw.chance() { i64::MAX } else { end };
            (draw.either_end(start, size), end)
        };
        starts.push(start);
        ends.push(end);
        steps.push(step);
    }
    let trial = Trial::new("Slice")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .list(&starts)
        .list(&ends)
        .list(&axes)
        .list(&steps);
    if cuts_batch { trial } else { trial.free_batch(draw, &[0]) }
}

fn tile(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let repeats: Vec<usize> = shape.iter().map(|_| draw.size(1, 3)).collect();
    let trial = Trial::new("Tile").moving(draw.floats(&shape, -2.0, 2.0)).list(&wholes(&repeats));
    trial.free_batch(draw, &[0])
}

fn trilu(draw: &mut Draw) -> Trial {
    let shape = draw.shape(2, 3);
    let k = Tensor::i64(vec![], vec![draw.whole(-2, 2)]).expect("because one number fits");
    let trial = Trial::new("Trilu").moving(draw.floats(&shape, -2.0, 2.0));
    let trial = if draw.chance() { trial.fixed(k) } else { trial };
    trial.flag("upper", draw.chance())
}

/// Indices that are part of the network, or come when it runs.
fn indexed(trial: Trial, draw: &mut Draw, indices: Tensor) -> Trial {
    if draw.chance() { trial.fixed(indices) } else { trial.given(indices) }
}

fn gather(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let (axis, named) = draw.axis(shape.len());
    let wanted = draw.shape(0, 2);
    let indices = draw.places(&wanted, shape[axis]);
    let trial = Trial::new("Gather").moving(draw.floats(&shape, -2.0, 2.0)).int("axis", named);
    let trial = indexed(trial, draw, indices);
    if axis == 0 { trial } else { trial.free_batch(draw, &[0]) }
}

fn gather_elements(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let (axis, named) = draw.axis(shape.len());
    let mut wanted: Vec<usize> = shape.iter().map(|&size| draw.size(1, size)).collect();
    wanted[axis] = draw.size(1, 4);
    let indices = draw.places(&wanted, shape[axis]);
    let trial =
        Trial::new("GatherElements").moving(draw.floats(&shape, -2.0, 2.0)).int("axis", named);
    indexed(trial, draw, indices)
}

fn gather_nd(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let n_named = draw.size(1, shape.len());
    let n_wanted = draw.size(1, 3);
    let mut items = Vec::new();
    for _ in 0..n_wanted {
        for &size in &shape[..n_named] {
            let place = draw.size(0, size - 1);
            items.push(draw.either_end(place, size));
        }
    }
    let indices = Tensor::i64(vec![n_wanted, n_named], items).expect("because the length fits");
    let trial = Trial::new("GatherND").moving(draw.floats(&shape, -2.0, 2.0));
    indexed(trial, draw, indices)
}

fn scatter_elements(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let (axis, named) = draw.axis(shape.len());
    let adds = draw.chance();
    let mut wanted: Vec<usize> = shape.iter().map(|&size| draw.size(1, size)).collect();
    let indices = if adds {
        wanted[axis] = draw.size(1, 4);
        draw.places(&wanted, shape[axis])
    } else {
        // No place is written twice: the same order of places in each row.
        let order = draw.order(shape[axis]);
        let n_inner: usize = wanted[axis + 1..].iter().product();
        let n: usize = wanted.iter().product();
        let place = |idx: usize| order[idx / n_inner % wanted[axis]] as i64;
        Tensor::i64(wanted.clone(), (0..n).map(place).collect()).expect("because the length fits")
    };
    let trial =
        Trial::new("ScatterElements").moving(draw.floats(&shape, -2.0, 2.0)).int("axis", named);
    let trial = indexed(trial, draw, indices).moving(draw.floats(&wanted, -2.0, 2.0));
    if adds { trial.text("reduction", "add") } else { trial }
}

fn scatter_nd(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let n_named = draw.size(1, shape.len());
    let adds = draw.chance();
    let n_slices: usize = shape[..n_named].iter().product();
    let n_wanted = if adds { draw.size(1, 4) } else { draw.size(1, n_slices) };
    let slices: Vec<usize> = if adds {
        (0..n_wanted).map(|_| draw.size(0, n_slices - 1)).collect()
    } else {
        draw.order(n_slices)[..n_wanted].to_vec()
    };
    let mut items = Vec::new();
    for mut slice in slices {
        let mut index = vec![0; n_named];
        for axis in (0..n_named).rev() {
            index[axis] = draw.either_end(slice % shape[axis], shape[axis]);
            slice /= shape[axis];
        }
        items.extend(index);
    }
    let indices = Tensor::i64(vec![n_wanted, n_named], items).expect("because the length fits");
    let updates = [&[n_wanted], &shape[n_named..]].concat();
    let trial = Trial::new("ScatterND").moving(draw.floats(&shape, -2.0, 2.0));
    let trial = indexed(trial, draw, indices).moving(draw.floats(&updates, -2.0, 2.0));
    if adds { trial.text("reduction", "add") } else { trial }
}

/// The cases of this family.
pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("Concat", concat),
        Case::new("Expand", expand),
        Case::new("Flatten", flatten),
        Case::new("Gather", gather),
        Case::new("GatherElements", gather_elements),
        Case::new("GatherND", gather_nd),
        Case::new("Reshape", reshape),
        Case::new("ScatterElements", scatter_elements),
        Case::new("ScatterND", scatter_nd),
        Case::new("Slice", slice),
        Case::new("Split", split),
        Case::new("Squeeze", squeeze),
        Case::new("Tile", tile),
        Case::new("Transpose", transpose),
        Case::new("Trilu", trilu),
        Case::new("Unsqueeze", unsqueeze),
    ]
}
