//! Random numbers of one attack on one picture.
//!
//! A generator that counts (ChaCha) is keyed by seed, stimulus, attack and restart; streams keep
//! the start and each step apart, so that what one step draws does not depend on what another drew.
//! Tests can write the numbers down instead.

use std::collections::BTreeMap;
use std::sync::Arc;

use mohs_data::{Seed, StimulusId};

use crate::probe::ProbeKey;
use crate::probe::random::Random;

/// Where the random numbers of a run come from.
#[derive(Debug, Clone)]
pub struct Luck(Source);

#[derive(Debug, Clone)]
enum Source {
    Drawn { seed: Seed, stimulus: StimulusId, kind: String, restart: u32 },
    Written(Arc<BTreeMap<u32, Vec<f64>>>),
}

/// The stream of the start of a run.
pub(super) const START: u32 = 0;
/// The stream of the first step; each further step has the next one.
pub(super) const STEPS: u32 = 1;

impl Luck {
    /// Draws numbers for one attack on one stimulus.
    pub fn new(seed: Seed, stimulus: &StimulusId, attack: &str, restart: u32) -> Luck {
        let kind = format!("attack {attack}");
        Luck(Source::Drawn { seed, stimulus: stimulus.clone(), kind, restart })
    }

    /// Takes numbers that are written down, stream by stream, in the order they are asked for.
    pub fn written(streams: BTreeMap<u32, Vec<f64>>) -> Luck {
        Luck(Source::Written(Arc::new(streams)))
    }

    /// One number in [0, 1): for choosing a share of pictures.
    pub(crate) fn share(&self) -> f64 {
        self.stream(START).uniform()
    }

    /// Opens a stream.
    pub(super) fn stream(&self, number: u32) -> Stream {
        Stream(match &self.0 {
            Source::Drawn { seed, stimulus, kind, restart } => {
                let key = ProbeKey { seed: *seed, stimulus };
                let draw = u64::from(*restart) << 32 | u64::from(number);
                Numbers::Drawn(Box::new(Random::new(&key, kind, draw)))
            }
            Source::Written(streams) => {
                Numbers::Written(streams.get(&number).cloned().unwrap_or_default(), 0)
            }
        })
    }
}

/// Numbers one after the other.
pub(super) struct Stream(Numbers);

enum Numbers {
    Drawn(Box<Random>),
    Written(Vec<f64>, usize),
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stream")
    }
}

impl Stream {
    /// A number in [0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        match &mut self.0 {
            Numbers::Drawn(random) => random.uniform(),
            Numbers::Written(numbers, next) => written(numbers, next),
        }
    }

    /// A standard normal number.
    pub(super) fn normal(&mut self) -> f64 {
        match &mut self.0 {
            Numbers::Drawn(random) => random.normal(),
            Numbers::Written(numbers, next) => written(numbers, next),
        }
    }

    /// A whole number from 0 to before `n`; 0 if there is none.
    pub(super) fn below(&mut self, n: usize) -> usize {
        #[expect(clippy::cast_precision_loss, reason = "sides of pictures are small")]
        let scaled = self.uniform() * n as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
        let floor = scaled as usize;
        floor.min(n.saturating_sub(1))
    }

    /// One or minus one.
    pub(super) fn sign(&mut self) -> f32 {
        sign_of(2.0 * self.uniform() - 1.0)
    }

    /// This many numbers, evenly between −1 and 1.
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    pub(super) fn even(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| (2.0 * self.uniform() - 1.0) as f32).collect()
    }

    /// This many standard normal numbers.
    #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
    pub(super) fn normals(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.normal() as f32).collect()
    }
}

fn sign_of(number: f64) -> f32 {
    if number < 0.0 { -1.0 } else { 1.0 }
}

fn written(numbers: &[f64], next: &mut usize) -> f64 {
    *next += 1;
    *numbers.get(*next - 1).expect("because whoever writes numbers down writes enough of them")
}
