//! Cases of operators that sum: reductions, products of matrices, normalisations, softmax.

use super::cases::Case;
use super::draw::{Draw, tensor, wholes};
use super::trial::Trial;

fn reduce(draw: &mut Draw, op: &'static str, low: f64, high: f64) -> Trial {
    let shape = draw.shape(1, 3);
    let trial = Trial::new(op).moving(draw.floats(&shape, low, high));
    let trial = match draw.size(0, 4) {
        0 => trial,
        // Only where all agree what it means to reduce nothing.
        1 if matches!(op, "ReduceSum" | "ReduceMean" | "ReduceMax" | "ReduceMin") => {
            trial.list(&[]).flag("noop_with_empty_axes", draw.chance())
        }
        1 => trial.list(&[]),
        _ => trial.list(&draw.axes(shape.len())),
    };
    let trial = if draw.chance() { trial } else { trial.flag("keepdims", draw.chance()) };
    trial.free_batch(draw, &[0])
}

fn product(draw: &mut Draw) -> Trial {
    let mut trial = reduce(draw, "ReduceProd", -2.0, 2.0);
    // Zeros among the factors are no kinks.
    if let (true, Some(super::trial::Input::Moving(x))) = (draw.chance(), trial.inputs.first_mut())
    {
        let mut numbers = x.to_f64().expect("because the input is floats");
        for _ in 0..2 {
            let place = draw.size(0, numbers.len() - 1);
            numbers[place] = 0.0;
        }
        *x = tensor(x.shape(), numbers);
    }
    trial
}

fn running_sum(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let (_, axis) = draw.axis(shape.len());
    let trial = Trial::new("CumSum")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .fixed(mohs_graph::Tensor::i64(vec![], vec![axis]).expect("because one number fits"));
    let (exclusive, reverse) = (draw.chance(), draw.chance());
    trial.flag("exclusive", exclusive).flag("reverse", reverse).free_batch(draw, &[0])
}

fn top(draw: &mut Draw) -> Trial {
    let shape = draw.shape(1, 3);
    let (axis, named) = draw.axis(shape.len());
    let k = draw.whole(1, shape[axis] as i64);
    let trial = Trial::new("TopK").moving(draw.floats(&shape, -2.0, 2.0)).list(&[k]);
    let trial = trial.int("axis", named).flag("largest", draw.chance()).outputs(2, &[0]);
    if axis == 0 { trial } else { trial.free_batch(draw, &[0]) }
}

fn along(draw: &mut Draw, op: &'static str) -> Trial {
    let shape = draw.shape(1, 3);
    let (_, axis) = draw.axis(shape.len());
    Trial::new(op).moving(draw.floats(&shape, -2.0, 2.0)).int("axis", axis).free_batch(draw, &[0])
}

fn length(draw: &mut Draw) -> Trial {
    let p = draw.whole(1, 2);
    along(draw, "LpNormalization").int("p", p)
}

fn matmul(draw: &mut Draw) -> Trial {
    let (rows, inner, columns) = (draw.size(1, 3), draw.size(1, 3), draw.size(1, 3));
    let stack = draw.shape(0, 2);
    let (left, right) = match draw.size(0, 5) {
        0 => (vec![inner], vec![inner]),
        1 => (vec![inner], [&stack[..], &[inner, columns]].concat()),
        2 => ([&stack[..], &[rows, inner]].concat(), vec![inner]),
        3 => {
            let narrow = draw.narrowed(&stack);
            ([&narrow[..], &[rows, inner]].concat(), [&stack[..], &[inner, columns]].concat())
        }
        4 => {
            let narrow = draw.narrowed(&stack);
            ([&stack[..], &[rows, inner]].concat(), [&narrow[..], &[inner, columns]].concat())
        }
        _ => {
            // The usual layer: many rows, one matrix.
            let left = [&[2, 3][..], &[inner]].concat();
            let trial = Trial::new("MatMul").moving(draw.floats(&left, -2.0, 2.0));
            return trial.moving(draw.floats(&[inner, columns], -2.0, 2.0)).free_batch(draw, &[0]);
        }
    };
    Trial::new("MatMul")
        .moving(draw.floats(&left, -2.0, 2.0))
        .moving(draw.floats(&right, -2.0, 2.0))
}

fn gemm(draw: &mut Draw) -> Trial {
    let (rows, inner, columns) = (draw.size(1, 3), draw.size(1, 3), draw.size(1, 3));
    let (turns_a, turns_b) = (draw.chance(), draw.chance());
    let a = if turns_a { [inner, rows] } else { [rows, inner] };
    let b = if turns_b { [columns, inner] } else { [inner, columns] };
    let mut trial = Trial::new("Gemm")
        .moving(draw.floats(&a, -2.0, 2.0))
        .moving(draw.floats(&b, -2.0, 2.0))
        .flag("transA", turns_a)
        .flag("transB", turns_b);
    let mut repeats_rows = true;
    if draw.chance() {
        let shape = draw.narrowed(&[rows, columns]);
        repeats_rows = shape.len() < 2;
        trial = trial.moving(draw.floats(&shape, -2.0, 2.0));
    }
    if draw.chance() {
        trial = trial.float("alpha", 0.5).float("beta", -1.5);
    }
    if turns_a || !repeats_rows { trial } else { trial.free_batch(draw, &[0]) }
}

fn einsum(draw: &mut Draw) -> Trial {
    let equation = draw.one_of(&[
        "ij,jk->ik",
        "ij,jk",
        "bij,bjk->bik",
        "bhid,bhjd->bhij",
        "bnd,de->bne",
        "bhwc,hkc->bhwk",
        "ij->ji",
        "ij->i",
        "i,j->ij",
        "ij,ij->",
        "ij,ij->j",
        "ab,b,c->ac",
        " b i , i c -> c b ",
    ]);
    let mut sizes = std::collections::BTreeMap::new();
    let mut trial = Trial::new("Einsum").text("equation", equation);
    let left = equation.split("->").next().expect("because an equation has a left side");
    for term in left.split(',') {
        let letters = term.chars().filter(char::is_ascii_alphabetic);
        let shape: Vec<usize> =
            letters.map(|letter| *sizes.entry(letter).or_insert_with(|| draw.size(2, 3))).collect();
        trial = trial.moving(draw.floats(&shape, -2.0, 2.0));
    }
    trial
}

fn batch_norm(draw: &mut Draw) -> Trial {
    let is_training = draw.chance();
    let mut shape = draw.shape(2, 4);
    if is_training {
        shape[0] = 3;
    }
    let channels = [shape[1]];
    let trial = Trial::new("BatchNormalization")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .moving(draw.floats(&channels, -2.0, 2.0))
        .moving(draw.floats(&channels, -2.0, 2.0))
        .float("epsilon", 0.015625);
    if is_training {
        let n_outputs = draw.one_of(&[1, 3]);
        return trial
            .fixed(draw.floats(&channels, -2.0, 2.0))
            .fixed(draw.floats(&channels, 0.5, 2.0))
            .int("training_mode", 1)
            .outputs(n_outputs, &[0])
            .free_batch(draw, &[0]);
    }
    let (mean, var) = (draw.floats(&channels, -2.0, 2.0), draw.floats(&channels, 0.5, 2.0));
    let trial =
        if draw.chance() { trial.fixed(mean).fixed(var) } else { trial.moving(mean).moving(var) };
    trial.free_batch(draw, &[0])
}

fn layer_norm(draw: &mut Draw) -> Trial {
    let mut shape = draw.shape(1, 3);
    let (axis, named) = draw.axis(shape.len());
    let last = shape.len() - 1;
    shape[last] = 3;
    let inner = shape[axis..].to_vec();
    let mut trial = Trial::new("LayerNormalization")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .moving(draw.floats(&inner, -2.0, 2.0))
        .float("epsilon", 0.015625)
        .int("axis", named);
    if draw.chance() {
        trial = trial.moving(draw.floats(&inner, -2.0, 2.0));
    }
    if draw.chance() {
        trial = trial.outputs(3, &[0]);
    }
    if axis == 0 { trial } else { trial.free_batch(draw, &[0]) }
}

fn instance_norm(draw: &mut Draw) -> Trial {
    let mut shape = draw.shape(3, 4);
    shape[2] = 3;
    let channels = [shape[1]];
    Trial::new("InstanceNormalization")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .moving(draw.floats(&channels, -2.0, 2.0))
        .moving(draw.floats(&channels, -2.0, 2.0))
        .float("epsilon", 0.015625)
        .free_batch(draw, &[0])
}

fn group_norm(draw: &mut Draw) -> Trial {
    let (n_groups, per_group) = (draw.size(1, 3), draw.size(1, 2));
    let channels = n_groups * per_group;
    let mut shape = vec![draw.size(1, 2), channels];
    shape.extend(draw.shape(1, 2));
    shape[2] = 3;
    Trial::new("GroupNormalization")
        .moving(draw.floats(&shape, -2.0, 2.0))
        .moving(draw.floats(&[channels], -2.0, 2.0))
        .moving(draw.floats(&[channels], -2.0, 2.0))
        .int("num_groups", wholes(&[n_groups])[0])
        .float("epsilon", 0.015625)
        .free_batch(draw, &[0])
}

/// The cases of this family.
pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case::new("BatchNormalization", batch_norm),
        Case::new("CumSum", running_sum),
        Case::new("Einsum", einsum),
        Case::new("Gemm", gemm),
        Case::new("GroupNormalization", group_norm),
        Case::new("InstanceNormalization", instance_norm),
        Case::new("LayerNormalization", layer_norm),
        Case::new("LogSoftmax", |draw| along(draw, "LogSoftmax")),
        Case::new("LpNormalization", length),
        Case::new("MatMul", matmul),
        Case::new("ReduceL1", |draw| reduce(draw, "ReduceL1", -2.0, 2.0)),
        Case::new("ReduceL2", |draw| reduce(draw, "ReduceL2", -2.0, 2.0)),
        Case::new("ReduceLogSum", |draw| reduce(draw, "ReduceLogSum", 0.5, 2.0)),
        Case::new("ReduceLogSumExp", |draw| reduce(draw, "ReduceLogSumExp", -2.0, 2.0)),
        Case::new("ReduceMax", |draw| reduce(draw, "ReduceMax", -2.0, 2.0)),
        Case::new("ReduceMean", |draw| reduce(draw, "ReduceMean", -2.0, 2.0)),
        Case::new("ReduceMin", |draw| reduce(draw, "ReduceMin", -2.0, 2.0)),
        Case::new("ReduceProd", product),
        Case::new("ReduceSum", |draw| reduce(draw, "ReduceSum", -2.0, 2.0)),
        Case::new("ReduceSumSquare", |draw| reduce(draw, "ReduceSumSquare", -2.0, 2.0)),
        Case::new("Softmax", |draw| along(draw, "Softmax")),
        Case::new("TopK", top),
    ]
}
