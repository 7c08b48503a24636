//! Small networks written in Rust: a plain stack of convolutions, a residual network and a vision
//! transformer, with random weights to start with.
//!
//! They are made for pictures of some ten to a hundred pixels a side. Input and output are
//! `pictures` (`[batch, 3, height, width]`) and `logits` (`[batch, classes]`); the batch is free.
//! Training them is not done here.

mod demo;

use mohs_data::Seed;
use mohs_data::training::Architecture;
use mohs_graph::build::{BuildError, Builder, Value};
use mohs_graph::layers::{Convolution, Layers};
use mohs_graph::{Dim, ElementType, Graph};

use crate::fit::chance::{Chance, Purpose};

pub use demo::{DemoNetwork, demo_networks};

/// The name of the input.
pub const PICTURES: &str = "pictures";
/// The name of the output.
pub const LOGITS: &str = "logits";

/// What a network is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blueprint {
    /// The architecture.
    pub architecture: Architecture,
    /// Channels of the first layers, or features of a transformer.
    pub width: usize,
    /// Convolutions or blocks per stage, or blocks of a transformer.
    pub depth: usize,
    /// Side of a transformer's patches in pixels.
    pub patch: usize,
    /// Side of the pictures in pixels.
    pub size: usize,
    /// How many classes there are.
    pub n_classes: usize,
}

/// A network that cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BlueprintError {
    /// The picture vanishes on its way through the stages.
    #[error("pictures should have at least {needed} pixels a side for this network, found {found}")]
    TooSmall {
        /// The least side.
        needed: usize,
        /// The side asked for.
        found: usize,
    },
    /// Patches do not tile the picture.
    #[error("the side of the pictures should be a multiple of the patch, found {size} and {patch}")]
    Patches {
        /// The side of the pictures.
        size: usize,
        /// The side of the patches.
        patch: usize,
    },
    /// The heads do not share the features evenly.
    #[error("the width of a transformer should be a multiple of {HEAD_WIDTH}, found {found}")]
    Heads {
        /// The width asked for.
        found: usize,
    },
    /// One class needs no telling apart.
    #[error("there should be at least 2 classes, found {found}")]
    TooFewClasses {
        /// How many there are.
        found: usize,
    },
    /// The layers do not fit together.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Stages of the networks of convolutions; each halves the picture and doubles the channels.
const N_STAGES: usize = 3;
/// Features per head of attention.
const HEAD_WIDTH: usize = 12;

impl Blueprint {
    /// A network of the usual size for small pictures.
    pub fn new(architecture: Architecture, size: usize, n_classes: usize) -> Blueprint {
        let (width, depth) = match architecture {
            Architecture::Plain => (16, 1),
            Architecture::Residual => (16, 1),
            Architecture::Transformer => (48, 4),
        };
        // The largest usual patch that tiles the picture into 64 pieces or more.
        let tiles = |patch: &usize| size.is_multiple_of(*patch) && 8 <= size / patch;
        let patch = [16, 8, 6, 4, 3, 2].into_iter().find(tiles).unwrap_or(1);
        Blueprint { architecture, width, depth, patch, size, n_classes }
    }

    /// Makes the network with random weights.
    pub fn build(&self, seed: Seed) -> Result<Graph, BlueprintError> {
        if self.n_classes < 2 {
            return Err(BlueprintError::TooFewClasses { found: self.n_classes });
        }
        let mut chance = Chance::new(seed, Purpose::Weights, &[]);
        let mut normals = |n: usize| chance.normals(n);
        let mut builder = Builder::new(match self.architecture {
            Architecture::Plain => "plain",
            Architecture::Residual => "residual",
            Architecture::Transformer => "transformer",
        });
        let side = || Dim::from_size(self.size);
        let shape = vec![Dim::symbol("batch"), Dim::known(3), side(), side()];
        let pictures = builder.input(PICTURES, ElementType::F32, shape);
        let mut layers = Layers::new(&mut builder, &mut normals);
        let features = match self.architecture {
            Architecture::Plain => self.plain(&mut layers, &pictures)?,
            Architecture::Residual => self.residual(&mut layers, &pictures)?,
            Architecture::Transformer => self.transformer(&mut layers, &pictures)?,
        };
        let scores = layers.linear("head", &features, self.n_classes)?;
        layers.builder.output_as(&scores, LOGITS)?;
        Ok(builder.finish())
    }

    /// Convolution, normalisation, rectifier; pooling after each stage.
    fn plain(&self, layers: &mut Layers<'_>, pictures: &Value) -> Result<Value, BlueprintError> {
        self.check_side(1 << (N_STAGES + 1))?;
        let mut x = pictures.clone();
        for stage in 0..N_STAGES {
            let n_channels = self.width << stage;
            for layer in 0..self.depth {
                let name = format!("stage{}.{}", stage + 1, layer + 1);
                // The first layer halves the picture, which makes all that follows cheaper.
                let stride = if stage == 0 && layer == 0 { 2 } else { 1 };
                let how = Convolution::new(n_channels, 3).stride(stride);
                x = layers.convolution(&format!("{name}.conv"), &x, how)?;
                x = layers.batch_norm(&format!("{name}.norm"), &x)?;
                x = layers.relu(&x)?;
            }
            if stage + 1 < N_STAGES {
                x = layers.max_pool(&x, 2, 2, 0)?;
            }
        }
        Ok(layers.mean_over_pixels(&x)?)
    }

    /// A stem and stages of residual blocks.
    fn residual(&self, layers: &mut Layers<'_>, pictures: &Value) -> Result<Value, BlueprintError> {
        self.check_side(1 << (N_STAGES + 1))?;
        let how = Convolution::new(self.width, 3).stride(2);
        let x = layers.convolution("stem.conv", pictures, how)?;
        let x = layers.batch_norm("stem.norm", &x)?;
        let mut x = layers.relu(&x)?;
        for stage in 0..N_STAGES {
            for block in 0..self.depth {
                let name = format!("stage{}.{}", stage + 1, block + 1);
                let stride = if 0 < stage && block == 0 { 2 } else { 1 };
                x = layers.residual_block(&name, &x, self.width << stage, stride)?;
            }
        }
        Ok(layers.mean_over_pixels(&x)?)
    }

    /// Patches, blocks of attention, the mean over places.
    fn transformer(
        &self,
        layers: &mut Layers<'_>,
        pictures: &Value,
    ) -> Result<Value, BlueprintError> {
        if self.patch == 0 || !self.size.is_multiple_of(self.patch) {
            return Err(BlueprintError::Patches { size: self.size, patch: self.patch });
        }
        if self.width == 0 || !self.width.is_multiple_of(HEAD_WIDTH) {
            return Err(BlueprintError::Heads { found: self.width });
        }
        let mut x = layers.patches("patches", pictures, self.patch, self.width)?;
        for block in 0..self.depth {
            let name = format!("block{}", block + 1);
            x = layers.transformer_block(&name, &x, self.width / HEAD_WIDTH)?;
        }
        let x = layers.layer_norm("norm", &x)?;
        Ok(layers.builder.reduce("ReduceMean", &x, &[1], false)?)
    }

    fn check_side(&self, needed: usize) -> Result<(), BlueprintError> {
        if self.size < needed {
            return Err(BlueprintError::TooSmall { needed, found: self.size });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mohs_graph::{Tensor, eval};

    use super::*;

    const ALL: [Architecture; 3] =
        [Architecture::Plain, Architecture::Residual, Architecture::Transformer];

    #[test]
    fn every_architecture_answers_with_one_row_per_picture() {
        for architecture in ALL {
            let graph = Blueprint::new(architecture, 24, 5).build(Seed(1)).unwrap();
            let numbers = (0..2 * 3 * 24 * 24).map(|n| (n % 7) as f32 / 7.0).collect();
            let pictures = Tensor::f32(vec![2, 3, 24, 24], numbers).unwrap();
            let inputs = BTreeMap::from([(PICTURES.to_owned(), pictures)]);
            let logits = &eval::run(&graph, &inputs).unwrap()[LOGITS];
            assert_eq!(logits.shape(), [2, 5], "{architecture:?}");
            assert!(logits.to_f64().unwrap().iter().all(|x| x.is_finite()));
        }
    }

    #[test]
    fn weights_depend_on_the_seed_alone() {
        for architecture in ALL {
            let build = |seed| Blueprint::new(architecture, 24, 5).build(Seed(seed)).unwrap();
            assert_eq!(build(1), build(1));
            assert_ne!(build(1), build(2));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let usual = Blueprint::new(Architecture::Transformer, 48, 5);
        let error = |blueprint: Blueprint| blueprint.build(Seed(1)).unwrap_err().to_string();
        assert!(error(Blueprint { patch: 7, ..usual }).contains("found 48 and 7"));
        assert!(error(Blueprint { width: 20, ..usual }).contains("multiple of 12, found 20"));
        assert!(error(Blueprint { n_classes: 1, ..usual }).contains("at least 2 classes"));
        let small = Blueprint::new(Architecture::Plain, 8, 5);
        assert!(error(small).contains("at least 16 pixels"));
    }

    #[test]
    fn the_usual_patch_tiles_the_picture() {
        for (size, patch) in [(48, 6), (64, 8), (32, 4), (224, 16), (37, 1)] {
            assert_eq!(Blueprint::new(Architecture::Transformer, size, 2).patch, patch);
        }
    }
}
