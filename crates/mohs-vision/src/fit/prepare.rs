//! What a network in training takes: the size of its pictures, and mean and spread of each channel.

use crate::input::{self, InputSpec};
use crate::pixels::Rgb8;

/// What a network takes: red, green and blue with white as 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prepare {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// What is taken away from each channel.
    pub mean: [f32; 3],
    /// What each channel is then divided by.
    pub sd: [f32; 3],
}

impl Prepare {
    /// The mean and spread of ImageNet.
    pub const USUAL: ([f32; 3], [f32; 3]) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);

    /// Returns what the network takes as evaluations describe it.
    pub fn spec(&self) -> InputSpec {
        let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let spec = InputSpec::imagenet(side(self.width), side(self.height));
        InputSpec { mean: self.mean, sd: self.sd, ..spec }
    }

    /// How many bytes a fitted picture takes.
    pub fn n_bytes(&self) -> usize {
        self.width * self.height * 3
    }

    /// Fits a picture to the size of the network: its middle, just covering; red, green, blue, row
    /// by row.
    pub(crate) fn fitted(&self, pixels: &Rgb8) -> Vec<u8> {
        input::fit(pixels, &self.spec()).bytes().to_vec()
    }
}
