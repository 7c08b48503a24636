//! GELU as exporters write it, five nodes for one function: `½ x (1 + erf(x / √2))`.
//!
//! Taken node by node, its gradient would keep three values of the size of `x` until it is needed,
//! and engines could no longer run the five nodes as one. Taken as a whole, it needs `x` alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::build::{Builder, Value};
use crate::graph::Node;

/// Constants in files are rounded, some of them to half precision.
const TOLERANCE: f64 = 1e-3;

/// For each node that ends a GELU, what it is the GELU of.
///
/// Nothing is found where a value inside is itself asked for, because then its own gradient counts.
pub(super) fn ends(
    nodes: &[Node],
    builder: &Builder,
    asked: &BTreeSet<&str>,
) -> BTreeMap<usize, Value> {
    let mut maker: BTreeMap<&str, usize> = BTreeMap::new();
    for (idx, node) in nodes.iter().enumerate() {
        maker.extend(node.outputs.iter().map(|name| (name.as_str(), idx)));
    }
    let pattern = Pattern { nodes, builder, maker, asked };
    let ends = nodes.iter().enumerate().filter(|(_, node)| node.op == "Mul");
    ends.filter_map(|(idx, node)| Some((idx, pattern.input_of(node)?))).collect()
}

struct Pattern<'a> {
    nodes: &'a [Node],
    builder: &'a Builder,
    maker: BTreeMap<&'a str, usize>,
    asked: &'a BTreeSet<&'a str>,
}

impl<'a> Pattern<'a> {
    /// The node of this operator that makes a value inside the pattern.
    fn made_by(&self, name: &str, op: &str) -> Option<&'a Node> {
        let node = self.nodes.get(*self.maker.get(name)?)?;
        (node.op == op && !self.asked.contains(name)).then_some(node)
    }

    /// The number that a constant of one element holds.
    fn number(&self, name: &str) -> Option<f64> {
        let value = self.builder.value(name).ok()?;
        let numbers =
            self.builder.constant_of(&value).filter(|tensor| tensor.len() == 1)?.to_f64()?;
        numbers.first().copied()
    }

    /// The other input of a node of two, and the number that this one is.
    fn with_number(&self, node: &'a Node) -> Option<(&'a str, f64)> {
        let (a, b) = (node.input(0)?, node.input(1)?);
        match (self.number(a), self.number(b)) {
            (None, Some(number)) => Some((a, number)),
            (Some(number), None) => Some((b, number)),
            _ => None,
        }
    }

    /// The `x` of a product that is `½ x (1 + erf(x / √2))`.
    fn input_of(&self, end: &'a Node) -> Option<Value> {
        // A product of three factors, in any order and bracketed in any way.
        let mut factors = Vec::new();
        for name in [end.input(0)?, end.input(1)?] {
            match self.made_by(name, "Mul") {
                Some(inner) if factors.len() < 2 => {
                    factors.extend([inner.input(0)?, inner.input(1)?])
                }
                _ => factors.push(name),
            }
        }
        let [_, _, _] = factors.as_slice() else { return None };
        let half =
            factors.iter().position(|name| self.number(name).is_some_and(|n| is_near(n, 0.5)))?;
        factors.remove(half);
        let raised = factors.iter().position(|name| self.argument_of_raised(name).is_some())?;
        let argument = self.argument_of_raised(factors.remove(raised))?;
        let x = *factors.first()?;
        (argument == x).then(|| self.builder.value(x).ok()).flatten()
    }

    /// The `x` of `1 + erf(x / √2)`.
    fn argument_of_raised(&self, name: &str) -> Option<&'a str> {
        let (erf, one) = self.with_number(self.made_by(name, "Add")?)?;
        let scaled = self.made_by(erf, "Erf")?.input(0)?;
        if !is_near(one, 1.0) {
            return None;
        }
        if let Some(division) = self.made_by(scaled, "Div") {
            let (x, root) = (division.input(0)?, self.number(division.input(1)?)?);
            return is_near(root, std::f64::consts::SQRT_2).then_some(x);
        }
        let (x, factor) = self.with_number(self.made_by(scaled, "Mul")?)?;
        is_near(factor, std::f64::consts::FRAC_1_SQRT_2).then_some(x)
    }
}

fn is_near(number: f64, wanted: f64) -> bool {
    (number - wanted).abs() < TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::Dim;
    use crate::tensor::ElementType;

    /// Writes a GELU with this root and returns how many were found.
    fn n_found(root: f32, is_half_first: bool, ask_inside: bool) -> usize {
        let mut builder = Builder::new("gelu");
        let x = builder.input("x", ElementType::F32, vec![Dim::symbol("batch"), Dim::known(3)]);
        let (root, one, half) = (builder.scalar(root), builder.scalar(1.0), builder.scalar(0.5));
        let scaled = builder.div(&x, &root).unwrap();
        let erf = builder.unary("Erf", &scaled).unwrap();
        let raised = builder.add(&one, &erf).unwrap();
        let y = if is_half_first {
            let half_x = builder.mul(&x, &half).unwrap();
            builder.mul(&half_x, &raised).unwrap()
        } else {
            let product = builder.mul(&x, &raised).unwrap();
            builder.mul(&half, &product).unwrap()
        };
        builder.output(&y);
        let asked = if ask_inside { BTreeSet::from([erf.name()]) } else { BTreeSet::new() };
        ends(&builder.graph().nodes, &builder, &asked).len()
    }

    #[test]
    fn a_gelu_is_found_in_either_order_and_nothing_else_is() {
        assert_eq!(n_found(std::f32::consts::SQRT_2, false, false), 1);
        assert_eq!(n_found(std::f32::consts::SQRT_2, true, false), 1);
        assert_eq!(n_found(1.7, false, false), 0);
        assert_eq!(n_found(std::f32::consts::SQRT_2, false, true), 0);
    }
}
