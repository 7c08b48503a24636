//! The fast gradient sign method with diverse inputs (Xie et al. 2019): at some steps the model is
//! shown a shrunk picture on black, at a random place, and the slope is carried back.
//!
//! Each picture draws its own size and place, so that results do not depend on what else is in the
//! batch.

use super::climb::{Ball, Climb, Recipe};
use super::luck::Stream;
use super::{Attack, Settings, Start, pgd};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "difgsm",
    also_called: &["di-fgsm", "di2fgsm", "di2-fgsm"],
    about: "step by step with randomly shrunk pictures",
    settings: &["alpha", "steps", "random_start", "decay", "resize_rate", "diversity", "restarts"],
    start: |start| {
        let recipe = recipe(&start);
        Climb::boxed(start.case, recipe, start.epsilon, start.luck)
    },
    ..pgd::ATTACK
};

/// How it climbs.
pub(super) fn recipe(start: &Start<'_>) -> Recipe {
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    let decay = Some(start.settings.decay as f32);
    let diversity = Some(Diversity::new(start.settings));
    Recipe { decay, diversity, ..pgd::recipe(start, Ball::Linf, 1) }
}

/// How pictures are shrunk.
#[derive(Debug)]
pub(super) struct Diversity {
    least: f64,
    probability: f64,
}

impl Diversity {
    fn new(settings: &Settings) -> Diversity {
        Diversity { least: settings.resize_rate, probability: settings.diversity }
    }

    /// Draws size, place and whether the shrunk picture is shown at all; always four numbers.
    pub(super) fn draw(&self, stream: &mut Stream, width: usize, height: usize) -> Option<Shrunk> {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "sides of pictures are small"
        )]
        let least = ((width as f64 * self.least) as usize).max(1);
        let small_width = least + stream.below(width.saturating_sub(least));
        let small_height = (height * small_width / width.max(1)).max(1);
        let top = stream.below(height.saturating_sub(small_height));
        let left = stream.below(width.saturating_sub(small_width));
        let is_shown = stream.uniform() < self.probability;
        is_shown.then(|| Shrunk {
            columns: taps(width, small_width),
            rows: taps(height, small_height),
            left,
            top,
            width,
            height,
        })
    }
}

/// One way to shrink pictures: each pixel is a mean of up to four.
#[derive(Debug)]
pub(super) struct Shrunk {
    columns: Vec<Tap>,
    rows: Vec<Tap>,
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

/// Two neighbours and the weight of the second.
#[derive(Debug, Clone, Copy)]
struct Tap {
    first: usize,
    second: usize,
    weight: f32,
}

/// Where each of `to` pixels lies among `from`, by the middle of pixels.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sides of pictures are small"
)]
fn taps(from: usize, to: usize) -> Vec<Tap> {
    let scale = from as f32 / to as f32;
    let tap = |idx: usize| {
        let place = ((idx as f32 + 0.5) * scale - 0.5).max(0.0);
        let first = (place as usize).min(from.saturating_sub(1));
        Tap { first, second: (first + 1).min(from.saturating_sub(1)), weight: place - first as f32 }
    };
    (0..to).map(tap).collect()
}

impl Shrunk {
    /// Visits every pixel of the shrunk picture with the four it is made of.
    fn each(&self, mut visit: impl FnMut(usize, [(usize, f32); 4])) {
        for (row, down) in self.rows.iter().enumerate() {
            for (column, across) in self.columns.iter().enumerate() {
                let place = (self.top + row) * self.width + self.left + column;
                let (above, below) = (1.0 - down.weight, down.weight);
                let (before, behind) = (1.0 - across.weight, across.weight);
                visit(
                    place,
                    [
                        (down.first * self.width + across.first, above * before),
                        (down.first * self.width + across.second, above * behind),
                        (down.second * self.width + across.first, below * before),
                        (down.second * self.width + across.second, below * behind),
                    ],
                );
            }
        }
    }

    /// The shrunk picture on black.
    pub(super) fn apply(&self, pixels: &[f32]) -> Vec<f32> {
        let n = self.width * self.height;
        let mut shown = vec![0.0; pixels.len()];
        for (plane, shown) in pixels.chunks(n).zip(shown.chunks_mut(n)) {
            self.each(|place, parts| {
                shown[place] = parts.iter().map(|&(idx, weight)| plane[idx] * weight).sum();
            });
        }
        shown
    }

    /// Carries a slope on the shrunk picture back to the picture: the transpose of
    /// [`apply`](Shrunk::apply).
    pub(super) fn spread_back(&self, slope: &[f32]) -> Vec<f32> {
        let n = self.width * self.height;
        let mut spread = vec![0.0; slope.len()];
        for (slope, spread) in slope.chunks(n).zip(spread.chunks_mut(n)) {
            self.each(|place, parts| {
                for (idx, weight) in parts {
                    spread[idx] += slope[place] * weight;
                }
            });
        }
        spread
    }
}
