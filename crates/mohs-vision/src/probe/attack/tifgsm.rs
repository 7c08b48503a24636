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
        let mut across = vec![0.0; slope.len()];
        for (row, smooth) in slope.chunks(width).zip(across.chunks_mut(width)) {
            self.add_moved(row, smooth, 1);
        }
        let mut smooth = vec![0.0; slope.len()];
        for (plane, smooth) in across.chunks(n).zip(smooth.chunks_mut(n)) {
            self.add_moved(plane, smooth, width);
        }
        smooth
    }

    /// Adds up the numbers moved by as many steps as each weight is off the middle, times the
    /// weight. Whole runs of neighbours are added at once, which takes a fraction of the time that
    /// pixel by pixel takes.
    fn add_moved(&self, numbers: &[f32], sums: &mut [f32], step: usize) {
        let (half, n) = (self.0.len() / 2, numbers.len());
        for (idx, weight) in self.0.iter().enumerate() {
            let (back, ahead) = (half.saturating_sub(idx) * step, idx.saturating_sub(half) * step);
            if n <= back || n <= ahead {
                continue;
            }
            let moved = sums[back..n - ahead].iter_mut().zip(&numbers[ahead..n - back]);
            moved.for_each(|(sum, number)| *sum += number * weight);
        }
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
