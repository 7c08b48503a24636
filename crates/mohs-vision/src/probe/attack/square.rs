//! Square (Andriushchenko et al. 2020): a random search with squares of colour that asks only for
//! answers, no slopes. It starts from vertical stripes; a square is kept if the model comes nearer
//! to a mistake. It ends with the first mistake.
//!
//! A square that changes nothing needs no answer: the loss would be the same, and it is not kept.
//! Every picture draws its own squares, so that results do not depend on what else is in the batch.

use mohs_data::Norm;

use super::climb::softmax;
use super::luck::{START, STEPS, Stream};
use super::{Aim, Attack, Case, End, Kind, LossName, Memory, Move, Reply, Run, Settings, Start};

/// In L∞.
pub(super) const ATTACK: Attack = Attack {
    name: "square",
    also_called: &["square-linf", "linfsquare"],
    norm: Norm::Linf,
    about: "random squares of colour; asks for answers only",
    kind: Kind::BlackBox,
    is_targetable: true,
    is_random: true,
    comes_and_goes: false,
    settings: &["n_queries", "p_init", "loss", "restarts"],
    start: |start| Box::new(Squares::new(&start)),
};

#[derive(Debug)]
struct Squares {
    case: Case,
    epsilon: f32,
    search: Search,
    best: Vec<f32>,
    stream: Stream,
}

impl Squares {
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    fn new(start: &Start<'_>) -> Squares {
        Squares {
            case: start.case.clone(),
            epsilon: start.epsilon as f32,
            search: Search::new(start.settings),
            best: stripes(start),
            stream: start.luck.stream(STEPS),
        }
    }

    /// The next candidate; `None` if it is the picture that is best already.
    fn propose(&mut self) -> Option<Vec<f32>> {
        let (width, height) = (self.case.width, self.case.height);
        let n = width * height;
        let side = self.search.side(n, 1).min(width).min(height);
        let row = self.stream.below(height - side);
        let column = self.stream.below(width - side);
        let n_channels = self.case.pixels.len() / n;
        let signs: Vec<f32> = (0..n_channels).map(|_| self.stream.sign()).collect();
        let epsilon = self.epsilon;
        let mut is_changed = false;
        let visit = |change: &mut dyn FnMut(usize, f32)| {
            for (channel, sign) in signs.iter().enumerate() {
                for line in row..row + side {
                    let from = channel * n + line * width + column;
                    for idx in from..from + side {
                        let x = self.case.pixels[idx];
                        let moved = self.best[idx] + sign * 2.0 * epsilon;
                        change(idx, moved.max(x - epsilon).min(x + epsilon).clamp(0.0, 1.0));
                    }
                }
            }
        };
        #[expect(clippy::float_cmp, reason = "an equal pixel is no change")]
        visit(&mut |idx, value| is_changed |= value != self.best[idx]);
        if !is_changed {
            return None;
        }
        let mut candidate = self.best.clone();
        visit(&mut |idx, value| candidate[idx] = value);
        Some(candidate)
    }
}

/// The picture with vertical stripes of ε.
#[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
fn stripes(start: &Start<'_>) -> Vec<f32> {
    let (case, epsilon) = (start.case, start.epsilon as f32);
    let mut stream = start.luck.stream(START);
    let mut striped = Vec::with_capacity(case.pixels.len());
    for plane in case.pixels.chunks(case.width * case.height) {
        let signs: Vec<f32> = (0..case.width).map(|_| stream.sign()).collect();
        for line in plane.chunks(case.width) {
            let moved = line.iter().zip(&signs).map(|(x, sign)| x + epsilon * sign);
            striped.extend(moved.map(|z| z.clamp(0.0, 1.0)));
        }
    }
    striped
}

impl Run for Squares {
    fn step(&mut self, reply: Option<Reply>, _: &mut Memory) -> Move {
        let Some(reply) = reply else {
            return Move::Answer(self.best.clone());
        };
        if let Some(end) = self.search.judge(&self.case, reply, &mut self.best) {
            return Move::End(end);
        }
        while self.search.goes_on() {
            if let Some(candidate) = self.propose() {
                return Move::Answer(candidate);
            }
        }
        Move::End(self.search.end_in_vain())
    }
}

/// What both forms of the search share: the schedule and what is kept.
#[derive(Debug)]
pub(super) struct Search {
    n_queries: usize,
    p_init: f64,
    loss: LossName,
    is_begun: bool,
    n_asked: usize,
    least_loss: f32,
    least_margin: f32,
}

impl Search {
    pub(super) fn new(settings: &Settings) -> Search {
        Search {
            n_queries: settings.n_queries,
            p_init: settings.p_init,
            loss: settings.loss,
            is_begun: false,
            n_asked: 0,
            least_loss: f32::INFINITY,
            least_margin: f32::INFINITY,
        }
    }

    /// Whether one more square may be tried; counts it.
    pub(super) fn goes_on(&mut self) -> bool {
        self.n_asked += 1;
        self.n_asked <= self.n_queries
    }

    /// The side of the next square for pictures of this many pixels: the share of pixels is halved
    /// as the search goes on.
    pub(super) fn side(&self, n_pixels: usize, least: usize) -> usize {
        let share = self.p_init / share_of(self.n_asked.saturating_sub(1), self.n_queries);
        #[expect(clippy::cast_precision_loss, reason = "pictures have fewer than 2^53 pixels")]
        let side = (share * n_pixels as f64).sqrt();
        // Rounds half to even, as Python does.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let side = side.round_ties_even() as usize;
        side.max(least)
    }

    /// Keeps a candidate if it is nearer to a mistake; returns the end if it is one.
    pub(super) fn judge(&mut self, case: &Case, reply: Reply, best: &mut Vec<f32>) -> Option<End> {
        let Reply { pixels, logits, .. } = reply;
        let margin = case.margin(&logits);
        if case.is_reached(&logits) {
            return Some(End::Answered(pixels, logits));
        }
        let loss = match self.loss {
            LossName::CrossEntropy => -cross_entropy(case, &logits),
            _ => margin,
        };
        if !self.is_begun || loss < self.least_loss {
            self.is_begun = true;
            self.least_loss = loss;
            self.least_margin = self.least_margin.min(margin);
            *best = pixels;
        }
        None
    }

    pub(super) fn end_in_vain(&self) -> End {
        End::Unchanged { margin: self.least_margin }
    }
}

/// The cross entropy, larger nearer to the aim.
fn cross_entropy(case: &Case, logits: &[f32]) -> f32 {
    let surprise = |class: usize| {
        let shares = softmax(logits);
        -shares.get(class).copied().unwrap_or(0.0).max(f32::MIN_POSITIVE).ln()
    };
    match case.aim {
        Aim::Leave(class) => surprise(class),
        Aim::Reach(class) => -surprise(class),
    }
}

/// What the first share of pixels is divided by at question `asked` of `n`.
fn share_of(asked: usize, n: usize) -> f64 {
    let at = asked * 10_000 / n.max(1);
    let later = [10, 50, 200, 500, 1_000, 2_000, 4_000, 6_000, 8_000];
    later.iter().filter(|&&from| from < at).fold(1.0, |divisor, _| divisor * 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::attack::Preset;

    #[test]
    fn squares_of_a_large_picture_have_the_published_sides() {
        let mut search = Search::new(&Settings::of(&ATTACK, Preset::Paper));
        let mut side_at = |asked: usize| {
            search.n_asked = asked + 1;
            search.side(224 * 224, 1)
        };
        assert_eq!([0, 5, 6, 25, 26].map(&mut side_at), [200, 200, 142, 142, 100]);
        assert_eq!([101, 251, 4_999].map(&mut side_at), [71, 50, 9]);
    }
}
