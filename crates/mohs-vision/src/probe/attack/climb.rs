//! What attacks that follow a gradient have in common: start somewhere, then step by step in the
//! direction of the slope, and back to within ε after each step.
//!
//! ```text
//! z₀ = start(x)        zₜ₊₁ = Π(zₜ + α · sign(gₜ))        gₜ = slope(zₜ) / mean |slope(zₜ)| + μ gₜ₋₁
//! ```
//!
//! `Π` brings back to within ε of `x` and into [0, 1]; without momentum (`μ`), `g` is the slope
//! itself. As long as ε holds nothing back, the steps are the same for every larger ε: their slopes
//! are kept in [`Memory`] and not asked for again.

use std::sync::Arc;

use super::difgsm::{Diversity, Shrunk};
use super::luck::{START, STEPS};
use super::tifgsm::Kernel;
use super::{Case, End, Loss, Luck, Memory, Move, Reply, Run, Slope, norm};

/// How an attack climbs.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) from: Origin,
    pub(super) alpha: f32,
    pub(super) steps: usize,
    /// How much of the last direction is kept; `None` for the bare slope.
    pub(super) decay: Option<f32>,
    pub(super) smoothing: Option<Kernel>,
    pub(super) diversity: Option<Diversity>,
    pub(super) what: What,
    /// How many slopes are put together at each step.
    pub(super) passes: usize,
    pub(super) ball: Ball,
    /// Whether the length of a step depends on ε, so that only the first slope is the same for all.
    pub(super) steps_by_epsilon: bool,
}

/// Where it starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Origin {
    /// At the picture.
    Picture,
    /// Anywhere within ε, evenly.
    Within,
    /// This far from the picture, up or down by chance, whatever ε is.
    Corner(f32),
    /// At the picture with normal noise of this spread, whatever ε is.
    Noise(f32),
}

/// What it climbs.
#[derive(Debug, Clone)]
pub(super) enum What {
    /// A loss of the answer alone.
    Plain(Loss),
    /// The jittered distance, with noise of this spread drawn at each step.
    Jitter { scale: f32, sd: f32 },
}

/// How a step goes, and how it is brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ball {
    /// By the sign, to within ε in every number.
    Linf,
    /// By the sign, to within ε of the picture by comparing with its bounds.
    LinfByBounds,
    /// Along the slope, to within ε as a whole.
    L2,
}

/// A climb under way.
#[derive(Debug)]
pub(super) struct Climb {
    case: Case,
    recipe: Recipe,
    epsilon: f32,
    luck: Luck,
    /// Where it is; empty while the model is being asked.
    z: Vec<f32>,
    momentum: Vec<f32>,
    step: usize,
    n_passes: usize,
    sum: Vec<f32>,
    is_free: bool,
    n_free: usize,
    n_reused: usize,
    least_margin: f32,
    shrunk: Option<Shrunk>,
}

impl Climb {
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    pub(super) fn boxed(case: &Case, recipe: Recipe, epsilon: f64, luck: Luck) -> Box<dyn Run> {
        Box::new(Climb {
            case: case.clone(),
            recipe,
            epsilon: epsilon as f32,
            luck,
            z: Vec::new(),
            momentum: Vec::new(),
            step: 0,
            n_passes: 0,
            sum: Vec::new(),
            is_free: false,
            n_free: 0,
            n_reused: 0,
            least_margin: f32::INFINITY,
            shrunk: None,
        })
    }

    fn begin(&mut self, memory: &mut Memory) {
        let x = &self.case.pixels;
        let mut stream = self.luck.stream(START);
        let mut noise = |draw: fn(&mut super::luck::Stream, usize) -> Vec<f32>| {
            memory.noise.get_or_insert_with(|| draw(&mut stream, x.len())).clone()
        };
        let moved = |noise: Vec<f32>, size: f32| -> Vec<f32> {
            let moved = x.iter().zip(noise).map(|(x, noise)| (x + size * noise).clamp(0.0, 1.0));
            moved.collect()
        };
        self.z = match (self.recipe.from, self.recipe.ball) {
            (Origin::Picture, _) => x.to_vec(),
            (Origin::Within, Ball::L2) => {
                let mut noise = noise(|stream, n| {
                    let mut noise = stream.normals(n);
                    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
                    let share = stream.uniform() as f32;
                    let size = norm::l2(&noise).max(f32::MIN_POSITIVE);
                    noise.iter_mut().for_each(|number| *number *= share / size);
                    noise
                });
                noise.iter_mut().for_each(|number| *number *= self.epsilon);
                moved(noise, 1.0)
            }
            (Origin::Within, _) => moved(noise(|stream, n| stream.even(n)), self.epsilon),
            (Origin::Corner(size), _) => {
                let corner =
                    noise(|stream, n| stream.normals(n).into_iter().map(norm::sign).collect());
                moved(corner, size)
            }
            (Origin::Noise(sd), _) => moved(noise(|stream, n| stream.normals(n)), sd),
        };
        // A start that ε scales is another one for every ε.
        self.is_free = self.recipe.from != Origin::Within && !self.case.is_model_random;
        if self.recipe.decay.is_some() {
            self.momentum = vec![0.0; x.len()];
        }
    }

    /// What the model is asked at this step.
    fn ask(&mut self) -> Move {
        let z = std::mem::take(&mut self.z);
        let mut stream = self.luck.stream(STEPS + u32::try_from(self.step).unwrap_or(u32::MAX - 1));
        let loss = match &self.recipe.what {
            What::Plain(loss) => loss.clone(),
            What::Jitter { scale, sd } => {
                let mut noise = vec![0.0; self.case.clean.len()];
                if 0.0 < *sd {
                    noise = stream.normals(noise.len());
                    noise.iter_mut().for_each(|number| *number *= sd);
                }
                Loss::Jitter { noise, scale: *scale }
            }
        };
        let (width, height) = (self.case.width, self.case.height);
        self.shrunk = self
            .recipe
            .diversity
            .as_ref()
            .and_then(|diversity| diversity.draw(&mut stream, width, height));
        match &self.shrunk {
            Some(shrunk) => {
                let shown = shrunk.apply(&z);
                self.z = z;
                Move::Gradient(shown, loss)
            }
            None => Move::Gradient(z, loss),
        }
    }

    /// The slope at the place where it is, from what the model said.
    fn slope(&mut self, reply: Reply) -> Slope {
        let Reply { pixels, logits, loss, mut gradient } = reply;
        // What is said of a shrunk picture is not said of the picture.
        let mut margin = f32::INFINITY;
        match self.shrunk.take() {
            Some(shrunk) => gradient = shrunk.spread_back(&gradient),
            None => {
                margin = self.case.margin(&logits);
                self.z = pixels;
            }
        }
        if let What::Jitter { .. } = self.recipe.what
            && self.case.is_wrong(&logits)
        {
            super::jitter::per_change(&self.case.pixels, &self.z, loss, &mut gradient);
        }
        Slope { numbers: gradient, margin }
    }

    /// Takes a step along a slope.
    fn advance(&mut self, slope: Slope) {
        self.least_margin = self.least_margin.min(slope.margin);
        let mut slope = slope.numbers;
        if let Some(kernel) = &self.recipe.smoothing {
            slope = kernel.smooth(&slope, self.case.width, self.case.height);
        }
        if let Some(decay) = self.recipe.decay {
            #[expect(clippy::cast_precision_loss, reason = "pictures have fewer than 2^24 numbers")]
            let mean = norm::l1(&slope) / slope.len() as f32;
            // A slope of zero has no direction; dividing by it would make nothing a number.
            let factor = if 0.0 < mean { 1.0 / mean } else { 0.0 };
            for (momentum, slope) in self.momentum.iter_mut().zip(&slope) {
                *momentum = slope * factor + *momentum * decay;
            }
            slope.copy_from_slice(&self.momentum);
        }
        let (x, alpha, epsilon) = (&self.case.pixels, self.recipe.alpha, self.epsilon);
        let is_held = match self.recipe.ball {
            Ball::Linf => {
                let mut is_held = false;
                for ((z, &x), &slope) in self.z.iter_mut().zip(x.iter()).zip(&slope) {
                    let (inside, held) = norm::bounded(x, *z + alpha * norm::sign(slope), epsilon);
                    *z = inside;
                    is_held |= held;
                }
                is_held
            }
            Ball::LinfByBounds => {
                let mut is_held = false;
                for ((z, &x), &slope) in self.z.iter_mut().zip(x.iter()).zip(&slope) {
                    let moved = *z + alpha * norm::sign(slope);
                    let (low, high) = ((x - epsilon).max(0.0), x + epsilon);
                    is_held |= moved < x - epsilon || high < moved;
                    *z = moved.max(low).min(high).min(1.0);
                }
                is_held
            }
            Ball::L2 => {
                let size = norm::l2(&slope) + 1e-10;
                for (z, &slope) in self.z.iter_mut().zip(&slope) {
                    *z += alpha * (slope / size);
                }
                norm::bound_l2(x, &mut self.z, epsilon)
            }
        };
        self.step += 1;
        self.is_free &= !is_held && !self.recipe.steps_by_epsilon;
    }
}

impl Run for Climb {
    fn step(&mut self, reply: Option<Reply>, memory: &mut Memory) -> Move {
        match reply {
            None => self.begin(memory),
            Some(reply) => {
                // The margin is climbed up to a mistake and not beyond.
                if matches!(self.recipe.what, What::Plain(Loss::Margin))
                    && self.case.is_reached(&reply.logits)
                {
                    return Move::End(End::Answered(reply.pixels, reply.logits));
                }
                let mut slope = self.slope(reply);
                self.n_passes += 1;
                if 1 < self.recipe.passes {
                    let numbers = std::mem::take(&mut slope.numbers);
                    if self.sum.is_empty() {
                        self.sum = numbers;
                    } else {
                        self.sum.iter_mut().zip(&numbers).for_each(|(sum, slope)| *sum += slope);
                    }
                    if self.n_passes < self.recipe.passes {
                        return self.ask();
                    }
                    slope.numbers = std::mem::take(&mut self.sum);
                }
                self.n_passes = 0;
                if self.is_free && memory.slopes.len() == self.step {
                    memory.slopes.push(slope.clone());
                }
                self.advance(slope);
            }
        }
        loop {
            if self.step == self.recipe.steps {
                return Move::End(End::At(std::mem::take(&mut self.z)));
            }
            if self.is_free {
                self.n_free = self.step + 1;
            }
            match memory.slopes.get(self.step) {
                Some(known) if self.is_free => {
                    self.n_reused += 1;
                    self.advance(known.clone());
                }
                _ => return self.ask(),
            }
        }
    }

    fn n_free(&self) -> usize {
        self.n_free
    }

    fn least_margin(&self) -> f32 {
        self.least_margin
    }

    fn n_reused(&self) -> usize {
        self.n_reused
    }
}

/// The loss of a name.
pub(super) fn loss_of(name: super::LossName) -> Loss {
    match name {
        super::LossName::CrossEntropy => Loss::CrossEntropy,
        super::LossName::Margin => Loss::Margin,
        super::LossName::LogitsRatio => Loss::LogitsRatio,
    }
}

/// Probabilities of an answer.
#[expect(clippy::cast_possible_truncation, reason = "models compute with 32 bits")]
pub(super) fn softmax(logits: &[f32]) -> Arc<Vec<f32>> {
    let highest = logits.iter().fold(f32::NEG_INFINITY, |most, logit| most.max(*logit));
    let powers: Vec<f64> = logits.iter().map(|logit| f64::from(logit - highest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    Arc::new(powers.iter().map(|power| (power / sum) as f32).collect())
}
