//! Batch normalisation with fixed statistics is a scale and a shift per channel, which the layer
//! before it can do.
//!
//! ```text
//! y = scale · (x − mean) / √(variance + ε) + bias  =  factor · x + shift
//! ```
//!
//! The layer's weights are multiplied by `factor` and its bias becomes `factor · bias + shift`,
//! computed in 64-bit floats. A layer whose result or weights are used elsewhere stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use super::remove_dead;
use crate::graph::{Graph, Node};
use crate::infer::{self, Facts, InferError};
use crate::rewrite::{Rewriter, uses};
use crate::tensor::{ElementType, Tensor};

/// A batch normalisation as a factor and a shift per channel.
struct Affine {
    factor: Vec<f64>,
    shift: Vec<f64>,
}

impl Affine {
    /// Reads the statistics of a node; `None` if it is not in inference form or they are not fixed.
    fn of_node(
        node: &Node,
        weights: &BTreeMap<String, Tensor>,
        keep: &BTreeSet<String>,
    ) -> Option<Affine> {
        let is_plain = node.op == "BatchNormalization"
            && node.domain.is_empty()
            && node.int("training_mode").unwrap_or(0) == 0
            && node.outputs.iter().skip(1).all(String::is_empty);
        if !is_plain {
            return None;
        }
        let numbers = |idx: usize| {
            let name = node.input(idx)?;
            if keep.contains(name) { None } else { weights.get(name)?.to_f64() }
        };
        let (scale, bias, mean, variance) = (numbers(1)?, numbers(2)?, numbers(3)?, numbers(4)?);
        let n = scale.len();
        if bias.len() != n || mean.len() != n || variance.len() != n {
            return None;
        }
        let epsilon = f64::from(node.float("epsilon").unwrap_or(1e-5));
        let factor: Vec<f64> = scale
            .iter()
            .zip(&variance)
            .map(|(scale, variance)| scale / (variance + epsilon).sqrt())
            .collect();
        let shift: Vec<f64> = bias
            .iter()
            .zip(mean.iter().zip(&factor))
            .map(|(bias, (mean, factor))| bias - mean * factor)
            .collect();
        let is_finite = factor.iter().chain(&shift).all(|number| number.is_finite());
        is_finite.then_some(Affine { factor, shift })
    }
}

/// Folds each batch normalisation into the convolution or matrix product before it.
pub fn fold_batch_norms(graph: Graph, keep: &BTreeSet<String>) -> Result<Graph, InferError> {
    let facts = infer::facts(&graph)?;
    let mut work = Work::new(graph);
    for idx in 0..work.graph.nodes.len() {
        let node = &work.graph.nodes[idx];
        if let Some(affine) = Affine::of_node(node, &work.graph.weights, keep) {
            work.fold(idx, &affine, keep, &facts);
        }
    }
    let Work { mut graph, gone, .. } = work;
    let mut idx = 0;
    graph.nodes.retain(|_| {
        idx += 1;
        !gone.contains(&(idx - 1))
    });
    Ok(remove_dead(graph))
}

/// A graph in which layers take over the normalisations behind them.
struct Work {
    graph: Graph,
    /// How often each value is used, outputs included.
    n_uses: BTreeMap<String, usize>,
    maker: BTreeMap<String, usize>,
    names: BTreeSet<String>,
    gone: BTreeSet<usize>,
}

impl Work {
    fn new(graph: Graph) -> Work {
        let mut n_uses: BTreeMap<String, usize> = BTreeMap::new();
        for node in &graph.nodes {
            let inner =
                uses(node).into_iter().filter(|name| !node.inputs.iter().any(|n| n == name));
            for name in node.inputs.iter().map(String::as_str).chain(inner) {
                *n_uses.entry(name.to_owned()).or_insert(0) += 1;
            }
        }
        for port in &graph.outputs {
            *n_uses.entry(port.name.clone()).or_insert(0) += 1;
        }
        let maker = graph.makers().into_iter().map(|(name, idx)| (name.to_owned(), idx)).collect();
        let names = graph.value_names().into_iter().map(str::to_owned).collect();
        Work { graph, n_uses, maker, names, gone: BTreeSet::new() }
    }

    /// Whether a value is used in one place only.
    fn is_used_once(&self, name: &str) -> bool {
        self.n_uses.get(name) == Some(&1)
    }

    /// Lets the layer before a normalisation do its work, where that is possible.
    fn fold(
        &mut self,
        idx: usize,
        affine: &Affine,
        keep: &BTreeSet<String>,
        facts: &Facts,
    ) -> Option<()> {
        let node = &self.graph.nodes[idx];
        let (x, y) = (node.input(0)?.to_owned(), node.output(0)?.to_owned());
        let before = *self.maker.get(&x)?;
        if !self.is_used_once(&x) || self.gone.contains(&before) {
            return None;
        }
        let layer = self.graph.nodes[before].clone();
        if !layer.domain.is_empty() {
            return None;
        }
        let rank = facts.get(&x)?.shape.as_ref()?.len();
        match layer.op.as_str() {
            "Conv" | "ConvTranspose" => self.fold_conv(before, &layer, affine, keep)?,
            "Gemm" => self.fold_gemm(before, &layer, affine, keep)?,
            // Channels are the last dimension only where there are two.
            "Add" if rank == 2 => self.fold_matmul_add(before, &layer, affine, keep)?,
            _ => return None,
        }
        self.graph.nodes[before].outputs = vec![y.clone()];
        self.maker.insert(y, before);
        self.gone.insert(idx);
        Some(())
    }

    /// A weight that is constant, used only here and free to be changed.
    fn own_weight(&self, name: &str, keep: &BTreeSet<String>) -> Option<&Tensor> {
        if keep.contains(name) || !self.is_used_once(name) {
            None
        } else {
            self.graph.weights.get(name)
        }
    }

    fn fold_conv(
        &mut self,
        idx: usize,
        layer: &Node,
        affine: &Affine,
        keep: &BTreeSet<String>,
    ) -> Option<()> {
        let name = layer.input(1)?;
        let weights = self.own_weight(name, keep)?;
        let n_groups = usize::try_from(layer.int("group").unwrap_or(1)).ok().filter(|&n| 0 < n)?;
        let &[n_rows, n_columns, ..] = weights.shape() else {
            return None;
        };
        let n_channels = affine.factor.len();
        let is_turned = layer.op == "ConvTranspose";
        let n_made = if is_turned { n_columns.checked_mul(n_groups)? } else { n_rows };
        if n_made != n_channels {
            return None;
        }
        let n_rows_per_group = (n_rows / n_groups).max(1);
        let bias = self.bias(layer, n_channels, 1.0, keep)?;
        let scaled = scaled(weights, |row, column| {
            let channel = if is_turned { row / n_rows_per_group * n_columns + column } else { row };
            affine.factor.get(channel).copied()
        })?;
        self.store(idx, layer, scaled, &shifted(&bias, affine));
        Some(())
    }

    fn fold_gemm(
        &mut self,
        idx: usize,
        layer: &Node,
        affine: &Affine,
        keep: &BTreeSet<String>,
    ) -> Option<()> {
        let weights = self.own_weight(layer.input(1)?, keep)?;
        let &[n_rows, n_columns] = weights.shape() else {
            return None;
        };
        let is_turned = layer.int("transB").unwrap_or(0) != 0;
        let n_channels = affine.factor.len();
        if n_channels != if is_turned { n_rows } else { n_columns } {
            return None;
        }
        let beta = f64::from(layer.float("beta").unwrap_or(1.0));
        let bias = self.bias(layer, n_channels, beta, keep)?;
        let scaled = scaled(weights, |row, column| {
            affine.factor.get(if is_turned { row } else { column }).copied()
        })?;
        self.store(idx, layer, scaled, &shifted(&bias, affine));
        self.graph.nodes[idx].attributes.remove("beta");
        Some(())
    }

    fn fold_matmul_add(
        &mut self,
        idx: usize,
        add: &Node,
        affine: &Affine,
        keep: &BTreeSet<String>,
    ) -> Option<()> {
        let (left, right) = (add.input(0)?, add.input(1)?);
        let (product, bias) =
            if self.graph.weights.contains_key(right) { (left, right) } else { (right, left) };
        let before = *self.maker.get(product)?;
        let layer = self.graph.nodes[before].clone();
        if layer.op != "MatMul" || !layer.domain.is_empty() || !self.is_used_once(product) {
            return None;
        }
        let n_channels = affine.factor.len();
        let of_bias = self.own_weight(bias, keep)?;
        let is_row = matches!(of_bias.shape(), [n] | [1, n] if *n == n_channels);
        let bias_type = of_bias.element_type();
        let bias_numbers = if is_row { of_bias.to_f64()? } else { return None };
        let name = layer.input(1)?;
        let weights = self.own_weight(name, keep)?;
        if !matches!(weights.shape(), [_, n] if *n == n_channels) {
            return None;
        }
        let scaled = scaled(weights, |_, column| affine.factor.get(column).copied())?;
        let shifted = typed(vec![n_channels], shifted(&bias_numbers, affine), bias_type)?;
        self.graph.weights.insert(name.to_owned(), scaled);
        self.graph.weights.insert(bias.to_owned(), shifted);
        self.graph.nodes[idx] = add.clone();
        Some(())
    }

    /// The bias of a layer times a factor, zeros if it has none; `None` if it cannot be changed.
    fn bias(
        &self,
        layer: &Node,
        n_channels: usize,
        factor: f64,
        keep: &BTreeSet<String>,
    ) -> Option<Vec<f64>> {
        let Some(name) = layer.input(2) else {
            return Some(vec![0.0; n_channels]);
        };
        if keep.contains(name) {
            return None;
        }
        let numbers = self.graph.weights.get(name)?.to_f64()?;
        let numbers = match numbers.as_slice() {
            [one] => vec![*one; n_channels],
            many if many.len() == n_channels => numbers,
            _ => return None,
        };
        Some(numbers.into_iter().map(|number| number * factor).collect())
    }

    /// Gives a layer its new weights and bias.
    fn store(&mut self, idx: usize, layer: &Node, weights: Tensor, bias: &[f64]) {
        let Some(name) = layer.input(1) else {
            return;
        };
        let bias = typed(vec![bias.len()], bias.to_vec(), weights.element_type());
        let own = layer.input(2).filter(|bias| self.is_used_once(bias)).map(str::to_owned);
        let bias_name = own.unwrap_or_else(|| {
            let mut candidate = format!("{name}.bias");
            while !self.names.insert(candidate.clone()) {
                candidate.push('_');
            }
            self.n_uses.insert(candidate.clone(), 1);
            candidate
        });
        self.graph.weights.insert(name.to_owned(), weights);
        if let Some(bias) = bias {
            self.graph.weights.insert(bias_name.clone(), bias);
            let inputs = &mut self.graph.nodes[idx].inputs;
            inputs.resize(3, String::new());
            inputs[2] = bias_name;
        }
    }
}

/// A bias after a factor and a shift.
fn shifted(bias: &[f64], affine: &Affine) -> Vec<f64> {
    let both = affine.factor.iter().zip(&affine.shift);
    bias.iter().zip(both).map(|(bias, (factor, shift))| bias * factor + shift).collect()
}

/// A tensor whose first two dimensions are rows and columns, each element times a factor.
fn scaled(tensor: &Tensor, factor: impl Fn(usize, usize) -> Option<f64>) -> Option<Tensor> {
    let &[_, n_columns, ref rest @ ..] = tensor.shape() else {
        return None;
    };
    let n_inner = crate::tensor::n_elements(rest)?.max(1);
    let mut numbers = tensor.to_f64()?;
    for (idx, block) in numbers.chunks_mut(n_inner).enumerate() {
        let factor = factor(idx / n_columns.max(1), idx % n_columns.max(1))?;
        for number in block {
            *number *= factor;
        }
    }
    typed(tensor.shape().to_vec(), numbers, tensor.element_type())
}

/// Numbers as a tensor of a floating-point type.
fn typed(shape: Vec<usize>, numbers: Vec<f64>, element_type: ElementType) -> Option<Tensor> {
    super::as_type(Tensor::f64(shape, numbers).ok()?, element_type)
}

/// Writes each batch normalisation that is left as a product and a sum per channel.
pub fn fold_lonely_batch_norms(graph: Graph) -> Result<Graph, InferError> {
    let nothing = BTreeSet::new();
    let (mut out, nodes) = Rewriter::new(graph);
    for node in nodes {
        let affine = Affine::of_node(&node, &out.graph.weights, &nothing);
        let x = node.input(0).map(str::to_owned);
        let rank = x.as_deref().and_then(|x| out.shape(x)).map(<[_]>::len);
        let (Some(affine), Some(x), Some(rank), Some(y)) = (affine, x, rank, node.output(0)) else {
            out.push(node)?;
            continue;
        };
        let element_type = out.facts.get(&x).map_or(ElementType::F32, |fact| fact.element_type);
        let mut shape = vec![affine.factor.len()];
        shape.resize(rank.saturating_sub(1).max(1), 1);
        let parts = typed(shape.clone(), affine.factor, element_type).zip(typed(
            shape,
            affine.shift,
            element_type,
        ));
        let Some((factor, shift)) = parts else {
            out.push(node)?;
            continue;
        };
        let factor = out.weight(&format!("{}.factor", node.label()), factor);
        let shift = out.weight(&format!("{}.shift", node.label()), shift);
        let product = out.op(&format!("{y}.scaled"), "Mul", &[&x, &factor], vec![])?;
        out.push(Node { name: node.name.clone(), ..Node::new("Add", &[&product, &shift], &[y]) })?;
    }
    Ok(remove_dead(out.finish()))
}
