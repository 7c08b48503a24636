//! Operators about shapes and indices: `Shape`, `Gather`, `Scatter*`, `Range`, `OneHot` and kin, and
//! those that make numbers of a given shape, by rule or by chance.
//!
//! Contents are followed where they are whole numbers, as in the arithmetic on shapes that
//! exporters write.

use super::elementwise::whole;
use super::layout::moved;
use super::scope::{Found, Scope};
use super::{Fact, MAX_TRACKED};
use crate::dim::{self, Dim};
use crate::tensor::ElementType;

/// What this family says about a node; `None` if the operator is of another family.
pub(super) fn infer(scope: &Scope<'_>) -> Option<Found> {
    Some(match scope.node.op.as_str() {
        "Shape" => shape(scope),
        "Size" => size(scope),
        "Gather" => gather(scope),
        "GatherElements" => gather_elements(scope),
        "GatherND" => gather_nd(scope),
        "ScatterElements" | "ScatterND" | "Scatter" => scatter(scope),
        "ConstantOfShape" => constant_of_shape(scope),
        "Constant" => constant(scope),
        "Range" => range(scope),
        "OneHot" => one_hot(scope),
        "EyeLike" | "RandomNormalLike" | "RandomUniformLike" | "Bernoulli" => same_shape(scope),
        "RandomNormal" | "RandomUniform" => drawn(scope),
        "Multinomial" => multinomial(scope),
        "NonZero" => non_zero(scope),
        _ => return None,
    })
}

fn shape(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let Some(dims) = &x.shape else {
        return Ok(vec![Fact::new(ElementType::I64, vec![scope.fresh(0, 0)])]);
    };
    let rank = i64::try_from(dims.len()).unwrap_or(i64::MAX);
    let place = |setting: &str, default: i64| {
        let idx = scope.node.int(setting).unwrap_or(default);
        let idx = if idx < 0 { idx.saturating_add(rank) } else { idx };
        usize::try_from(idx.clamp(0, rank)).unwrap_or(0)
    };
    let (start, end) = (place("start", 0), place("end", rank));
    let dims = dims.get(start..end.max(start)).unwrap_or(&[]).to_vec();
    let fact = Fact::new(ElementType::I64, vec![Dim::from_size(dims.len())]);
    Ok(vec![fact.with_value(Some(dims))])
}

fn size(scope: &Scope<'_>) -> Found {
    let total = scope.required(0)?.shape.as_deref().and_then(dim::product);
    let fact = Fact::new(ElementType::I64, vec![]);
    Ok(vec![fact.with_value(total.map(|total| vec![total]))])
}

fn gather(scope: &Scope<'_>) -> Found {
    let (x, indices) = (scope.required(0)?, scope.required(1)?);
    let (Some(from), Some(of_indices)) = (&x.shape, &indices.shape) else {
        return Ok(vec![Fact::of_type(x.element_type)]);
    };
    let axis = scope.axis(scope.node.int("axis").unwrap_or(0), from.len())?;
    let found = [&from[..axis], of_indices, &from[axis + 1..]].concat();
    let n_indexed = of_indices.len();
    let places = scope.numbers(1);
    if let (Some(size), Some(places)) = (from[axis].as_known(), &places)
        && let Some(place) = places.iter().find(|&&place| !(-size..size).contains(&place))
    {
        return Err(scope.contradiction(format!(
            "the index {place} should lie within dimension {axis} of size {size}"
        )));
    }
    let value = places.zip(from[axis].as_known()).zip(dim::as_sizes(of_indices)).and_then(
        |((places, size), index_sizes)| {
            moved(x, &found, |position, place| {
                let indexed = &position[axis..axis + n_indexed];
                let chosen = places.get(super::scope::stretched(indexed, &index_sizes));
                let chosen = chosen.copied().unwrap_or(0);
                let chosen = if chosen < 0 { chosen + size } else { chosen };
                place[..axis].copy_from_slice(&position[..axis]);
                place[axis] = usize::try_from(chosen).unwrap_or(0);
                place[axis + 1..].copy_from_slice(&position[axis + n_indexed..]);
            })
        },
    );
    Ok(vec![Fact::new(x.element_type, found).with_value(value)])
}

fn gather_elements(scope: &Scope<'_>) -> Found {
    let (x, indices) = (scope.required(0)?, scope.required(1)?);
    Ok(vec![Fact { shape: indices.shape.clone(), ..Fact::of_type(x.element_type) }])
}

fn gather_nd(scope: &Scope<'_>) -> Found {
    let (x, indices) = (scope.required(0)?, scope.required(1)?);
    let n_batch = usize::try_from(scope.node.int("batch_dims").unwrap_or(0)).unwrap_or(usize::MAX);
    let shape = x.shape.as_deref().zip(indices.shape.as_deref()).and_then(|(from, of_indices)| {
        let (n_named, lead) = of_indices.split_last()?;
        let rest = from.get(n_batch.checked_add(n_named.as_size()?)?..)?;
        Some([lead, rest].concat())
    });
    Ok(vec![Fact { shape, ..Fact::of_type(x.element_type) }])
}

fn scatter(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    scope.required(2)?;
    Ok(vec![Fact { shape: x.shape.clone(), ..Fact::of_type(x.element_type) }])
}

fn constant_of_shape(scope: &Scope<'_>) -> Found {
    let wanted = scope.required(0)?;
    let filler = scope.node.tensor("value");
    let element_type = filler.map_or(ElementType::F32, |tensor| tensor.element_type());
    let Some(dims) = &wanted.value else {
        let rank = wanted.shape.as_deref().and_then(|shape| shape.first()?.as_size());
        let shape = rank.filter(|&rank| rank <= 64).map(|rank| scope.fresh_shape(0, rank));
        return Ok(vec![Fact { shape, ..Fact::of_type(element_type) }]);
    };
    if let Some(number) = dims.iter().filter_map(Dim::as_known).find(|&number| number < 0) {
        return Err(scope.contradiction(format!("a dimension should be a size, found {number}")));
    }
    let number = filler.and_then(|tensor| tensor.to_i64()?.first().copied());
    let n_places = dim::product(dims).and_then(|total| total.as_size());
    let value = number.zip(n_places).filter(|&(_, n_places)| n_places <= MAX_TRACKED);
    let value = value.map(|(number, n_places)| vec![Dim::known(number); n_places]);
    Ok(vec![Fact::new(element_type, dims.clone()).with_value(value)])
}

fn constant(scope: &Scope<'_>) -> Found {
    let node = scope.node;
    let list = |element_type, len| Fact::new(element_type, vec![Dim::from_size(len)]);
    if let Some(tensor) = node.tensor("value") {
        return Ok(vec![Fact::of_tensor(tensor)]);
    }
    if let Some(number) = node.int("value_int") {
        let fact = Fact::new(ElementType::I64, vec![]);
        return Ok(vec![fact.with_value(Some(vec![Dim::known(number)]))]);
    }
    if let Some(numbers) = node.ints("value_ints") {
        let value = numbers.iter().copied().map(Dim::known).collect();
        return Ok(vec![list(ElementType::I64, numbers.len()).with_value(Some(value))]);
    }
    if node.float("value_float").is_some() {
        return Ok(vec![Fact::new(ElementType::F32, vec![])]);
    }
    if let Some(crate::Attribute::Floats(numbers)) = node.attributes.get("value_floats") {
        return Ok(vec![list(ElementType::F32, numbers.len())]);
    }
    Ok(vec![Fact::of_type(ElementType::F32)])
}

fn range(scope: &Scope<'_>) -> Found {
    let element_type = scope.required(0)?.element_type;
    let open = || Ok(vec![Fact::new(element_type, vec![scope.fresh(0, 0)])]);
    if element_type.is_float() {
        let bound = |idx: usize| match scope.optional(idx)?.floats.as_deref()? {
            [number] => Some(*number),
            _ => None,
        };
        let n_steps = bound(0)
            .zip(bound(1))
            .zip(bound(2))
            .and_then(|((start, limit), delta)| whole(((limit - start) / delta).ceil().max(0.0)));
        return match n_steps {
            Some(n_steps) => Ok(vec![Fact::new(element_type, vec![Dim::known(n_steps)])]),
            None => open(),
        };
    }
    if let (Some(start), Some(limit), Some(delta)) =
        (scope.number(0), scope.number(1), scope.number(2))
    {
        if delta == 0 {
            return Err(scope.contradiction("the step should not be 0"));
        }
        let (start, limit, delta) = (i128::from(start), i128::from(limit), i128::from(delta));
        let gap = limit - start;
        let n_steps =
            if (0 < gap) == (0 < delta) { (gap + delta - delta.signum()) / delta } else { 0 };
        let Ok(n_steps) = i64::try_from(n_steps.max(0)) else {
            return Err(scope.contradiction("the range is too long"));
        };
        let is_short = usize::try_from(n_steps).is_ok_and(|n_steps| n_steps <= MAX_TRACKED);
        let value = is_short.then(|| {
            let numbers = (0..i128::from(n_steps)).map(|idx| start + idx * delta);
            numbers.map(|number| i64::try_from(number).ok().map(Dim::known)).collect()
        });
        let fact = Fact::new(element_type, vec![Dim::known(n_steps)]);
        return Ok(vec![fact.with_value(value.flatten())]);
    }
    match scope.value(1) {
        Some([limit]) if scope.number(0) == Some(0) && scope.number(2) == Some(1) => {
            Ok(vec![Fact::new(element_type, vec![limit.clone()])])
        }
        _ => open(),
    }
}

fn one_hot(scope: &Scope<'_>) -> Found {
    let (indices, values) = (scope.required(0)?, scope.required(2)?);
    scope.required(1)?;
    let Some(from) = &indices.shape else {
        return Ok(vec![Fact::of_type(values.element_type)]);
    };
    let axis = scope.axis(scope.node.int("axis").unwrap_or(-1), from.len() + 1)?;
    let of_floats = || match scope.optional(1)?.floats.as_deref()? {
        [number] => whole(*number).map(Dim::known),
        _ => None,
    };
    let depth = scope.value(1).and_then(|value| value.first().cloned()).or_else(of_floats);
    let depth = depth.unwrap_or_else(|| scope.fresh(0, axis));
    let mut shape = from.clone();
    shape.insert(axis, depth);
    Ok(vec![Fact::new(values.element_type, shape)])
}

fn same_shape(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let element_type = wanted_type(scope).unwrap_or(x.element_type);
    Ok(vec![Fact { shape: x.shape.clone(), ..Fact::of_type(element_type) }])
}

/// The type that a node is told to make.
fn wanted_type(scope: &Scope<'_>) -> Option<ElementType> {
    let code = scope.node.int("dtype")?;
    i32::try_from(code).ok().map(ElementType::from_onnx)
}

fn drawn(scope: &Scope<'_>) -> Found {
    let element_type = wanted_type(scope).unwrap_or(ElementType::F32);
    let Some(sizes) = scope.node.ints("shape") else {
        return Ok(vec![Fact::of_type(element_type)]);
    };
    if let Some(size) = sizes.iter().find(|size| **size < 0) {
        return Err(scope.contradiction(format!("a size should be 0 or more, found {size}")));
    }
    Ok(vec![Fact::new(element_type, sizes.iter().copied().map(Dim::known).collect())])
}

fn multinomial(scope: &Scope<'_>) -> Found {
    let element_type = wanted_type(scope).unwrap_or(ElementType::I32);
    let rows = scope.required(0)?.shape.as_ref().and_then(|shape| shape.first().cloned());
    let rows = rows.unwrap_or_else(|| scope.fresh(0, 0));
    let n_drawn = scope.node.int("sample_size").unwrap_or(1).max(0);
    Ok(vec![Fact::new(element_type, vec![rows, Dim::known(n_drawn)])])
}

fn non_zero(scope: &Scope<'_>) -> Found {
    let x = scope.required(0)?;
    let rank = x.shape.as_ref().map(|shape| Dim::from_size(shape.len()));
    let rank = rank.unwrap_or_else(|| scope.fresh(0, 0));
    Ok(vec![Fact::new(ElementType::I64, vec![rank, scope.fresh(0, 1)])])
}
