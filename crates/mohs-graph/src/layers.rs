//! Layers: writing networks in Rust.
//!
//! Each method appends a layer to a graph under construction and makes its weights, named as
//! PyTorch names them (`stem.weight`, `stem.bias`, `norm.running_mean`). Random starting weights
//! are drawn from a source that the caller gives; this crate owns no randomness.

use crate::build::{BuildError, Builder, Value};
use crate::dim::{Dim, whole};
use crate::graph::Attribute;
use crate::tensor::Tensor;

/// Makes layers.
pub struct Layers<'a> {
    /// Where nodes and weights go.
    pub builder: &'a mut Builder,
    normals: &'a mut dyn FnMut(usize) -> Vec<f32>,
}

/// How a convolution is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Convolution {
    /// How many channels come out.
    pub n_channels: usize,
    /// Width and height of the kernel.
    pub kernel: usize,
    /// How far apart windows are.
    pub stride: usize,
    /// Zeros around the picture.
    pub padding: usize,
    /// Into how many groups channels are split.
    pub groups: usize,
    /// Whether a number per channel is added.
    pub has_bias: bool,
}

impl Convolution {
    /// A square convolution that keeps the size of the picture at stride 1.
    pub fn new(n_channels: usize, kernel: usize) -> Convolution {
        Convolution {
            n_channels,
            kernel,
            stride: 1,
            padding: kernel / 2,
            groups: 1,
            has_bias: false,
        }
    }

    /// The same with another stride.
    #[must_use]
    pub fn stride(self, stride: usize) -> Convolution {
        Convolution { stride, ..self }
    }
}

impl<'a> Layers<'a> {
    /// Starts making layers. `normals(n)` gives `n` numbers of a standard normal distribution.
    pub fn new(
        builder: &'a mut Builder,
        normals: &'a mut dyn FnMut(usize) -> Vec<f32>,
    ) -> Layers<'a> {
        Layers { builder, normals }
    }

    /// A weight of normal numbers with this standard deviation.
    pub fn normal(&mut self, name: &str, shape: &[usize], deviation: f32) -> Value {
        let n = shape.iter().product();
        let mut numbers = (self.normals)(n);
        numbers.resize(n, 0.0);
        numbers.iter_mut().for_each(|number| *number *= deviation);
        let tensor = Tensor::f32(shape.to_vec(), numbers)
            .expect("because the list was brought to its length");
        self.builder.weight(name, tensor)
    }

    /// A weight of one number all over.
    pub fn filled(&mut self, name: &str, shape: &[usize], number: f32) -> Value {
        let numbers = vec![number; shape.iter().product()];
        let tensor = Tensor::f32(shape.to_vec(), numbers)
            .expect("because the list has the length of its shape");
        self.builder.weight(name, tensor)
    }

    /// A convolution, started as He and others (2015) advise for rectifiers.
    pub fn convolution(
        &mut self,
        name: &str,
        x: &Value,
        how: Convolution,
    ) -> Result<Value, BuildError> {
        let n_in = self.builder.size(x, 1)? / how.groups.max(1);
        let shape = [how.n_channels, n_in, how.kernel, how.kernel];
        let fan_out = how.n_channels * how.kernel * how.kernel / how.groups.max(1);
        let weight = self.normal(&format!("{name}.weight"), &shape, deviation(2.0, fan_out));
        let bias =
            how.has_bias.then(|| self.filled(&format!("{name}.bias"), &[how.n_channels], 0.0));
        let pair = |n: usize| Attribute::Ints(vec![whole(n); 2]);
        let settings = vec![
            ("kernel_shape", pair(how.kernel)),
            ("strides", pair(how.stride)),
            ("pads", Attribute::Ints(vec![whole(how.padding); 4])),
            ("group", Attribute::Int(whole(how.groups))),
        ];
        let inputs: Vec<&Value> = [x, &weight].into_iter().chain(bias.as_ref()).collect();
        self.builder.named_op(name, "Conv", &inputs, settings)
    }

    /// Batch normalisation with statistics of a standard normal distribution to start with.
    pub fn batch_norm(&mut self, name: &str, x: &Value) -> Result<Value, BuildError> {
        let n = self.builder.size(x, 1)?;
        let parts = [("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)];
        let parts =
            parts.map(|(part, number)| self.filled(&format!("{name}.{part}"), &[n], number));
        let [weight, bias, mean, variance] = &parts;
        self.builder.named_op(
            name,
            "BatchNormalization",
            &[x, weight, bias, mean, variance],
            vec![],
        )
    }

    /// Layer normalisation over the last dimension.
    pub fn layer_norm(&mut self, name: &str, x: &Value) -> Result<Value, BuildError> {
        let last = self.builder.rank(x)?.saturating_sub(1);
        let n = self.builder.size(x, last)?;
        let weight = self.filled(&format!("{name}.weight"), &[n], 1.0);
        let bias = self.filled(&format!("{name}.bias"), &[n], 0.0);
        self.builder.named_op(
            name,
            "LayerNormalization",
            &[x, &weight, &bias],
            vec![("axis", Attribute::Int(-1))],
        )
    }

    /// `x W + b` over the last dimension.
    pub fn linear(&mut self, name: &str, x: &Value, n_out: usize) -> Result<Value, BuildError> {
        let last = self.builder.rank(x)?.saturating_sub(1);
        let n_in = self.builder.size(x, last)?;
        let weight = self.normal(&format!("{name}.weight"), &[n_in, n_out], deviation(1.0, n_in));
        let bias = self.filled(&format!("{name}.bias"), &[n_out], 0.0);
        let product = self.builder.matmul(x, &weight)?;
        self.builder.named_op(name, "Add", &[&product, &bias], vec![])
    }

    /// `max(x, 0)`
    pub fn relu(&mut self, x: &Value) -> Result<Value, BuildError> {
        self.builder.unary("Relu", x)
    }

    /// `x · Φ(x)`, with the exact normal distribution function.
    pub fn gelu(&mut self, x: &Value) -> Result<Value, BuildError> {
        let scaled = self.builder.scale(x, std::f32::consts::FRAC_1_SQRT_2)?;
        let erf = self.builder.unary("Erf", &scaled)?;
        let one = self.builder.scalar(1.0);
        let sum = self.builder.add(&erf, &one)?;
        let product = self.builder.mul(x, &sum)?;
        self.builder.scale(&product, 0.5)
    }

    /// `x · sigmoid(x)`
    pub fn silu(&mut self, x: &Value) -> Result<Value, BuildError> {
        let gate = self.builder.unary("Sigmoid", x)?;
        self.builder.mul(x, &gate)
    }

    /// The largest number in square windows.
    pub fn max_pool(
        &mut self,
        x: &Value,
        kernel: usize,
        stride: usize,
        padding: usize,
    ) -> Result<Value, BuildError> {
        let settings = vec![
            ("kernel_shape", Attribute::Ints(vec![whole(kernel); 2])),
            ("strides", Attribute::Ints(vec![whole(stride); 2])),
            ("pads", Attribute::Ints(vec![whole(padding); 4])),
        ];
        self.builder.op("MaxPool", &[x], settings)
    }

    /// The mean over all pixels: `[batch, channels, …]` becomes `[batch, channels]`.
    pub fn mean_over_pixels(&mut self, x: &Value) -> Result<Value, BuildError> {
        let axes: Vec<i64> = (2..).take(self.builder.rank(x)?.saturating_sub(2)).collect();
        self.builder.reduce("ReduceMean", x, &axes, false)
    }

    /// A picture `[batch, channels, height, width]` as a list of patches `[batch, patches, width of
    /// the embedding]`, with a learned vector per place.
    pub fn patches(
        &mut self,
        name: &str,
        x: &Value,
        patch: usize,
        n_features: usize,
    ) -> Result<Value, BuildError> {
        let how = Convolution {
            stride: patch,
            padding: 0,
            has_bias: true,
            ..Convolution::new(n_features, patch)
        };
        let grid = self.convolution(name, x, how)?;
        let batch = self.builder.shape(&grid)?.first().cloned().unwrap_or_else(|| Dim::known(1));
        let n_patches = self.builder.size(&grid, 2)? * self.builder.size(&grid, 3)?;
        let list = [batch, Dim::from_size(n_features), Dim::from_size(n_patches)];
        let list = self.builder.reshape(&grid, &list)?;
        let list = self.builder.transpose(&list, &[0, 2, 1])?;
        let places = self.normal(&format!("{name}.position"), &[1, n_patches, n_features], 0.02);
        self.builder.add(&list, &places)
    }

    /// Attention of a list `[batch, places, features]` to itself, with several heads.
    pub fn attention(
        &mut self,
        name: &str,
        x: &Value,
        n_heads: usize,
    ) -> Result<Value, BuildError> {
        let shape = self.builder.shape(x)?;
        let (n_places, n_features) = (self.builder.size(x, 1)?, self.builder.size(x, 2)?);
        let n_each = n_features / n_heads.max(1);
        let batch = shape.first().cloned().unwrap_or_else(|| Dim::known(1));
        let mut heads = Vec::with_capacity(3);
        for (part, order) in
            [("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])]
        {
            let all = self.linear(&format!("{name}.{part}"), x, n_features)?;
            let split = [n_places, n_heads, n_each].map(Dim::from_size);
            let split: Vec<Dim> = std::iter::once(batch.clone()).chain(split).collect();
            let split = self.builder.reshape(&all, &split)?;
            heads.push(self.builder.transpose(&split, &order)?);
        }
        let [query, key, value] = heads.as_slice() else { unreachable!("three parts were made") };
        let query = self.builder.scale(query, deviation(1.0, n_each))?;
        let scores = self.builder.matmul(&query, key)?;
        let shares = self.builder.op("Softmax", &[&scores], vec![("axis", Attribute::Int(-1))])?;
        let mixed = self.builder.matmul(&shares, value)?;
        let mixed = self.builder.transpose(&mixed, &[0, 2, 1, 3])?;
        let mixed = self
            .builder
            .reshape(&mixed, &[batch, Dim::from_size(n_places), Dim::from_size(n_features)])?;
        self.linear(&format!("{name}.out"), &mixed, n_features)
    }

    /// A block of a transformer: attention and two linear layers, each around a shortcut.
    pub fn transformer_block(
        &mut self,
        name: &str,
        x: &Value,
        n_heads: usize,
    ) -> Result<Value, BuildError> {
        let n_features = self.builder.size(x, 2)?;
        let calm = self.layer_norm(&format!("{name}.norm1"), x)?;
        let seen = self.attention(&format!("{name}.attention"), &calm, n_heads)?;
        let x = self.builder.add(x, &seen)?;
        let calm = self.layer_norm(&format!("{name}.norm2"), &x)?;
        let wide = self.linear(&format!("{name}.wide"), &calm, 4 * n_features)?;
        let wide = self.gelu(&wide)?;
        let thought = self.linear(&format!("{name}.narrow"), &wide, n_features)?;
        self.builder.add(&x, &thought)
    }

    /// A block of a residual network: two 3×3 convolutions around a shortcut.
    pub fn residual_block(
        &mut self,
        name: &str,
        x: &Value,
        n_channels: usize,
        stride: usize,
    ) -> Result<Value, BuildError> {
        let first = Convolution::new(n_channels, 3).stride(stride);
        let y = self.convolution(&format!("{name}.conv1"), x, first)?;
        let y = self.batch_norm(&format!("{name}.norm1"), &y)?;
        let y = self.relu(&y)?;
        let y = self.convolution(&format!("{name}.conv2"), &y, Convolution::new(n_channels, 3))?;
        let y = self.batch_norm(&format!("{name}.norm2"), &y)?;
        let shortcut = if stride == 1 && self.builder.size(x, 1)? == n_channels {
            x.clone()
        } else {
            let how = Convolution::new(n_channels, 1).stride(stride);
            let narrow = self.convolution(&format!("{name}.shortcut"), x, how)?;
            self.batch_norm(&format!("{name}.shortcut_norm"), &narrow)?
        };
        let sum = self.builder.add(&y, &shortcut)?;
        self.relu(&sum)
    }
}

/// `√(gain / n)`
fn deviation(gain: f32, n: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "layers have far fewer than 2^24 inputs")]
    let n = n.max(1) as f32;
    (gain / n).sqrt()
}
