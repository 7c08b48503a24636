//! The translation-invariant fast gradient sign method (Dong et al. 2019):
//! [`difgsm`](super::difgsm) with slopes that are smoothed over neighbouring pixels.

use super::climb::{Climb, Recipe};
use super::setting::KernelName;
use super::{Attack, Settings, difgsm};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "tifgsm",
    also_called: &["ti-fgsm"],
    about: "step by step with randomly shrunk pictures and smoothed slopes",
    settings: &[
        "alpha",
        "steps",
        "random_start",
        "decay",
        "resize_rate",
        "diversity",
        "kernel",
        "kernel_size",
        "kernel_sds",
        "restarts",
    ],
    start: |start| {
        let smoothing = Some(Kernel::new(start.settings));
        let recipe = Recipe { smoothing, ..difgsm::recipe(&start) };
        Climb::boxed(start.case, recipe, start.epsilon, start.luck)
    },
    ..difgsm::ATTACK
};

/// Weights of neighbours along one side, which add up to one; both sides have the same.
#[derive(Debug)]
pub(super) struct Kernel(Vec<f32>);

impl Kernel {
    #[expect(clippy::cast_precision_loss, reason = "kernels have few pixels")]
    fn new(settings: &Settings) -> Kernel {
        let n = settings.kernel_size;
        let middle = (n as f64 - 1.0) / 2.0;
        let weight = |idx: usize| {
            let away = idx as f64 - middle;
            match settings.kernel {
                KernelName::Gaussian => {
                    let sds = if 1 < n { away / middle * settings.kernel_sds } else { 0.0 };
                    (-sds * sds / 2.0).exp()
                }
                KernelName::Linear => 1.0 - away.abs() / (n as f64 + 1.0) * 2.0,
                KernelName::Uniform => 1.0,
            }
        };
        let weights: Vec<f64> = (0..n).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
        let weights = weights.iter().map(|weight| (weight / sum) as f32).collect();
        Kernel(weights)
    }

    /// Smooths each channel, with nothing beyond its border.
    pub(super) fn smooth(&self, slope: &[f32], width: usize, height: usize) -> Vec<f32> {
        let n = width * height;
        let mut smooth = Vec::with_capacity(slope.len());
        for plane in slope.chunks(n) {
            let across = self.along(plane, width, height, (1, width));
            smooth.extend(self.along(&across, height, width, (width, 1)));
        }
        smooth
    }

    /// Smooths `n_lines` lines of `length` pixels, the pixels and the lines this far apart.
    fn along(
        &self,
        plane: &[f32],
        length: usize,
        n_lines: usize,
        (next, next_line): (usize, usize),
    ) -> Vec<f32> {
        let half = self.0.len() / 2;
        let mut smooth = vec![0.0; plane.len()];
        for line in 0..n_lines {
            for idx in 0..length {
                let (from, to) = (idx.saturating_sub(half), (idx + half + 1).min(length));
                let weights = &self.0[from + half - idx..];
                let pixels = (from..to).zip(weights);
                smooth[line * next_line + idx * next] =
                    pixels.map(|(idx, weight)| plane[line * next_line + idx * next] * weight).sum();
            }
        }
        smooth
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::attack::Preset;

    #[test]
    fn the_usual_kernel_has_the_published_weights() {
        let kernel = Kernel::new(&Settings::of(&ATTACK, Preset::Paper));
        let published = [
            0.001_901_65,
            0.006_275_15,
            0.017_232_57,
            0.039_382_91,
            0.074_902_63,
            0.118_554_49,
            0.156_160_27,
            0.171_180_68,
        ];
        assert_eq!(kernel.0.len(), 15);
        for (idx, expected) in published.iter().enumerate() {
            assert!((kernel.0[idx] - expected).abs() < 1e-7, "{idx}");
            assert!((kernel.0[14 - idx] - expected).abs() < 1e-7, "{idx}");
        }
        assert!((kernel.0[7] * kernel.0[7] - 0.029_302_825).abs() < 1e-8);
    }
}
