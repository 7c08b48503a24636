//! Products of matrices, Einstein sums and triangles.

use std::collections::{BTreeMap, BTreeSet};

use super::args::{Args, Operator, Outcome, floats_of};
use super::array::{
    Array, Items, MAX_ELEMENTS, Problem, broadcast_shape, checked_len, for_each_index, offset,
    strides,
};

/// Finds an operator of this family.
pub(super) fn operator(op: &str) -> Option<Operator> {
    let operator: Operator = match op {
        "MatMul" => matmul,
        "Gemm" => gemm,
        "Einsum" => einsum,
        "Trilu" => triangle,
        "EyeLike" => eye_like,
        _ => return None,
    };
    Some(operator)
}

/// The matrix product of stacks of matrices; lists are rows on the left and columns on the right.
fn matmul(args: &Args<'_>) -> Outcome {
    let (x, y) = (args.input(0)?, args.input(1)?);
    let wrong = || format!("shapes {:?} and {:?} have no matrix product", x.shape, y.shape);
    let (x_shape, y_shape) = match (x.rank(), y.rank()) {
        (0, _) | (_, 0) => return Err(wrong()),
        (1, 1) => (vec![1, x.shape[0]], vec![y.shape[0], 1]),
        (1, _) => (vec![1, x.shape[0]], y.shape.clone()),
        (_, 1) => (x.shape.clone(), vec![y.shape[0], 1]),
        _ => (x.shape.clone(), y.shape.clone()),
    };
    let ([x_stack @ .., n_rows, n_inner], [y_stack @ .., n_found, n_columns]) =
        (x_shape.as_slice(), y_shape.as_slice())
    else {
        return Err(wrong());
    };
    if n_inner != n_found {
        return Err(wrong());
    }
    let stack = broadcast_shape(&[x_stack, y_stack]).map_err(|_| wrong())?;
    let x_wide = [&stack[..], &[*n_rows, *n_inner]].concat();
    let y_wide = [&stack[..], &[*n_inner, *n_columns]].concat();
    let x_wide = Array { shape: x_shape.clone(), items: x.items.clone() }.broadcast(&x_wide)?;
    let y_wide = Array { shape: y_shape.clone(), items: y.items.clone() }.broadcast(&y_wide)?;
    let (x_items, y_items) = (floats_of(&x_wide)?, floats_of(&y_wide)?);
    let mut shape = [&stack[..], &[*n_rows, *n_columns]].concat();
    let mut items = Vec::with_capacity(checked_len(&shape)?);
    for matrix in 0..checked_len(&stack)? {
        for row in 0..*n_rows {
            for column in 0..*n_columns {
                let mut sum = 0.0;
                for inner in 0..*n_inner {
                    sum += x_items[(matrix * n_rows + row) * n_inner + inner]
                        * y_items[(matrix * n_inner + inner) * n_columns + column];
                }
                items.push(sum);
            }
        }
    }
    if y.rank() == 1 {
        shape.pop();
    }
    if x.rank() == 1 {
        shape.remove(stack.len());
    }
    Ok(vec![Array::floats(shape, items)?])
}

/// `alpha · A · B + beta · C`, with either matrix transposed.
fn gemm(args: &Args<'_>) -> Outcome {
    let (a, b) = (args.input(0)?, args.input(1)?);
    let (&[a_rows, a_columns], &[b_rows, b_columns]) = (&a.shape[..], &b.shape[..]) else {
        return Err(format!("both should be matrices, found {:?} and {:?}", a.shape, b.shape));
    };
    let (turns_a, turns_b) = (args.flag_or("transA", false), args.flag_or("transB", false));
    let (n_rows, n_inner) = if turns_a { (a_columns, a_rows) } else { (a_rows, a_columns) };
    let (n_found, n_columns) = if turns_b { (b_columns, b_rows) } else { (b_rows, b_columns) };
    if n_inner != n_found {
        return Err(format!("shapes {:?} and {:?} have no matrix product", a.shape, b.shape));
    }
    let (alpha, beta) = (args.float_or("alpha", 1.0), args.float_or("beta", 1.0));
    let (x, y) = (args.floats(0)?, args.floats(1)?);
    let shape = vec![n_rows, n_columns];
    let mut items = Vec::with_capacity(checked_len(&shape)?);
    for row in 0..n_rows {
        for column in 0..n_columns {
            let mut sum = 0.0;
            for inner in 0..n_inner {
                let from_a =
                    if turns_a { inner * a_columns + row } else { row * a_columns + inner };
                let from_b =
                    if turns_b { column * b_columns + inner } else { inner * b_columns + column };
                sum += x[from_a] * y[from_b];
            }
            items.push(alpha * sum);
        }
    }
    if let Some(c) = args.optional(2) {
        let c = c.broadcast(&shape)?;
        items.iter_mut().zip(floats_of(&c)?).for_each(|(item, c)| *item += beta * c);
    }
    Ok(vec![Array::floats(shape, items)?])
}

/// A dimension of an Einstein sum: a letter, or one that an ellipsis stands for, from the back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Rest(usize),
    Letter(char),
}

/// One side of an equation as labels; `n_rest` is how many an ellipsis stands for.
fn labels(term: &str, n_rest: usize) -> Result<Vec<Label>, Problem> {
    let mut labels = Vec::new();
    let mut rest = term;
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            if labels.iter().any(|label| matches!(label, Label::Rest(_))) {
                return Err(format!("`{term}` should have one ellipsis"));
            }
            labels.extend((0..n_rest).rev().map(Label::Rest));
            rest = after;
        } else if letter.is_ascii_alphabetic() {
            labels.push(Label::Letter(letter));
            rest = &rest[1..];
        } else {
            return Err(format!("`{term}` should have letters and an ellipsis, found `{letter}`"));
        }
    }
    Ok(labels)
}

/// An Einstein sum: for every output place, the sum of products over all other labels.
fn einsum(args: &Args<'_>) -> Outcome {
    let equation: String =
        args.text_or("equation", "").chars().filter(|letter| !letter.is_whitespace()).collect();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation.as_str(), None),
    };
    let inputs = args.all_inputs()?;
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != inputs.len() {
        return Err(format!("`{equation}` should have {} terms", inputs.len()));
    }
    let mut sizes: BTreeMap<Label, usize> = BTreeMap::new();
    let mut uses: BTreeMap<Label, usize> = BTreeMap::new();
    let mut operands = Vec::new();
    let mut n_rest_in_all = 0;
    for (&term, input) in terms.iter().zip(&inputs) {
        let n_letters = term.chars().filter(char::is_ascii_alphabetic).count();
        let has_rest = term.contains("...");
        let fits = if has_rest { n_letters <= input.rank() } else { n_letters == input.rank() };
        if !fits {
            return Err(format!("`{term}` does not fit shape {:?}", input.shape));
        }
        let n_rest = if has_rest { input.rank() - n_letters } else { 0 };
        n_rest_in_all = n_rest_in_all.max(n_rest);
        let labels = labels(term, n_rest)?;
        for (&label, &size) in labels.iter().zip(&input.shape) {
            *uses.entry(label).or_insert(0) += 1;
            let known = sizes.entry(label).or_insert(size);
            if *known == 1 {
                *known = size;
            } else if size != 1 && size != *known {
                return Err(format!(
                    "sizes in `{equation}` should agree, found {known} and {size}"
                ));
            }
        }
        operands.push((labels, floats_of(input)?, input.shape.as_slice()));
    }
    let out = match right {
        Some(right) => labels(right, n_rest_in_all)?,
        None => {
            let rest = (0..n_rest_in_all).rev().map(Label::Rest);
            let once =
                uses.iter().filter(|&(label, &n)| n == 1 && matches!(label, Label::Letter(_)));
            rest.chain(once.map(|(&label, _)| label)).collect()
        }
    };
    let distinct: BTreeSet<Label> = out.iter().copied().collect();
    if distinct.len() != out.len() || distinct.iter().any(|label| !sizes.contains_key(label)) {
        return Err(format!(
            "the result of `{equation}` should name each input label at most once"
        ));
    }
    let summed: Vec<Label> =
        sizes.keys().copied().filter(|label| !distinct.contains(label)).collect();
    let order: Vec<Label> = out.iter().chain(&summed).copied().collect();
    let size =
        |labels: &[Label]| -> Vec<usize> { labels.iter().map(|label| sizes[label]).collect() };
    let (shape, walk) = (size(&out), size(&order));
    if checked_len(&walk).is_err() {
        return Err(format!("`{equation}` should take at most {MAX_ELEMENTS} products"));
    }
    // How far each operand moves when a label goes up by one.
    let steps: Vec<Vec<usize>> = operands
        .iter()
        .map(|(labels, _, shape)| {
            let own = strides(shape);
            let of_label = |wanted: &Label| {
                let places = labels.iter().zip(own.iter().zip(*shape));
                places
                    .filter(|(label, (_, size))| *label == wanted && **size != 1)
                    .map(|(_, (step, _))| step)
                    .sum()
            };
            order.iter().map(of_label).collect()
        })
        .collect();
    let to = strides(&shape);
    let mut items = vec![0.0; checked_len(&shape)?];
    for_each_index(&walk, |index| {
        let factors = operands.iter().zip(&steps);
        let product: f64 =
            factors.map(|((_, items, _), steps)| items[offset(index, steps)]).product();
        items[offset(&index[..shape.len()], &to)] += product;
    });
    Ok(vec![Array::floats(shape, items)?])
}

/// Keeps one side of the diagonal and puts zero on the other.
fn triangle(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let [.., n_rows, n_columns] = x.shape[..] else {
        return Err(format!("the input should be matrices, found shape {:?}", x.shape));
    };
    let keeps_upper = args.flag_or("upper", true);
    let k = args.optional(1).map(|_| args.one_int(1)).transpose()?.unwrap_or(0);
    let is_kept = |idx: usize| {
        let (row, column) = ((idx / n_columns % n_rows) as i64, (idx % n_columns) as i64);
        let diagonal = column - row;
        if keeps_upper { k <= diagonal } else { diagonal <= k }
    };
    fn kept<T: Copy>(items: &[T], zero: T, is_kept: impl Fn(usize) -> bool) -> Vec<T> {
        let places = items.iter().enumerate();
        places.map(|(idx, &item)| if is_kept(idx) { item } else { zero }).collect()
    }
    let items = match &x.items {
        Items::Floats(items) => Items::Floats(kept(items, 0.0, is_kept)),
        Items::Ints(items) => Items::Ints(kept(items, 0, is_kept)),
        Items::Bools(items) => Items::Bools(kept(items, false, is_kept)),
    };
    Ok(vec![Array::new(x.shape.clone(), items)?])
}

/// Ones on a diagonal, in the shape of the input.
fn eye_like(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let [n_rows, n_columns] = x.shape[..] else {
        return Err(format!("the input should be a matrix, found shape {:?}", x.shape));
    };
    let k = args.int_or("k", 0);
    let mut is_one = Vec::with_capacity(x.len());
    for row in 0..n_rows {
        is_one.extend((0..n_columns).map(|column| column as i64 - row as i64 == k));
    }
    let is_float = match args.node.int("dtype") {
        Some(code) => matches!(code, 1 | 10 | 11 | 16),
        None => matches!(x.items, Items::Floats(_)),
    };
    let items = if is_float {
        Items::Floats(is_one.iter().map(|&one| f64::from(u8::from(one))).collect())
    } else if args.node.int("dtype") == Some(9) {
        Items::Bools(is_one)
    } else {
        Items::Ints(is_one.iter().map(|&one| i64::from(one)).collect())
    };
    Ok(vec![Array::new(x.shape.clone(), items)?])
}
