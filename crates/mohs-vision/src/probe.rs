//! Probes: what is done to pictures before models see them.
//!
//! A probe works on a fitted picture, after resizing and cutting and before the mean is taken away,
//! so that "sd 0.1" means the same for every model. It is checked once, when it is made, and cannot
//! fail afterwards. Random numbers depend on the seed, the kind of probe and the stimulus alone:
//! batches, threads and the order of work change nothing. `kind.rs` is the list of kinds, and each
//! is a file in `probe/`. Changes that look at what a model says are attacks ([`attack`]).

pub mod attack;
mod blur;
mod colour;
mod kind;
mod noise;
mod parameter;
mod pass;
pub(crate) mod random;
mod rotation;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use mohs_data::{Prediction, ProbeEntry, Seed, StimulusId};

pub use crate::pixels::Clamped;
use crate::pixels::Pixels;
pub use kind::{KINDS, Kind};
pub use parameter::{Allowed, ParameterInfo};

use parameter::Values;
use random::Random;

/// Something done to pictures, with all its parameters.
#[derive(Debug, Clone)]
pub struct Probe {
    name: String,
    kind: &'static Kind,
    values: Values,
}

/// What the random numbers of a probe depend on.
#[derive(Debug, Clone, Copy)]
pub struct ProbeKey<'a> {
    /// The seed of the evaluation.
    pub seed: Seed,
    /// The stimulus that is changed.
    pub stimulus: &'a StimulusId,
}

/// Why a probe is not understood.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProbeError {
    /// There is no such kind.
    #[error("`kind` of the probe `{probe}` should be one of {known}, found `{found}`")]
    UnknownKind {
        /// The probe's name.
        probe: String,
        /// All kinds.
        known: String,
        /// What was asked for.
        found: String,
    },
    /// The kind has no such parameter.
    #[error("the probe `{probe}` ({kind}) should have the parameters {known}, found `{found}`")]
    UnknownParameter {
        /// The probe's name.
        probe: String,
        /// Its kind.
        kind: &'static str,
        /// All parameters of the kind.
        known: String,
        /// What was given.
        found: String,
    },
    /// A parameter without a default was not given.
    #[error(
        "the probe `{probe}` ({kind}) should have the parameter `{parameter}` ({expected}), \
         found none"
    )]
    MissingParameter {
        /// The probe's name.
        probe: String,
        /// Its kind.
        kind: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it may be.
        expected: String,
    },
    /// A parameter has a value that it cannot have.
    #[error("`{parameter}` of the probe `{probe}` ({kind}) should be {expected}, found `{found}`")]
    BadParameter {
        /// The probe's name.
        probe: String,
        /// Its kind.
        kind: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it may be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The probe cannot be applied to pictures of this size.
    #[error(
        "the probe `{probe}` should meet {expected}, found pictures of {width} × {height} pixels"
    )]
    DoesNotFit {
        /// The probe's name.
        probe: String,
        /// What it can be applied to.
        expected: String,
        /// Width of the pictures.
        width: u32,
        /// Height of the pictures.
        height: u32,
    },
}

impl Probe {
    /// Returns the probe that does nothing.
    pub fn none() -> Probe {
        let kind = kind::find("none").expect("because the list has it");
        Probe { name: Prediction::NO_PROBE.to_owned(), kind, values: Values::default() }
    }

    /// Checks kind and parameters, and fills in the defaults.
    pub fn parse(entry: &ProbeEntry) -> Result<Probe, ProbeError> {
        let Some(kind) = kind::find(&entry.kind) else {
            return Err(ProbeError::UnknownKind {
                probe: entry.name.clone(),
                known: quoted(KINDS.iter().map(|kind| kind.name)),
                found: entry.kind.clone(),
            });
        };
        let values = Values::parse(entry, kind)?;
        Ok(Probe { name: entry.name.clone(), kind, values })
    }

    /// Returns its name in predictions and reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what is done.
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// Says whether pictures stay as they are.
    pub fn is_none(&self) -> bool {
        self.kind.name == "none"
    }

    /// Says whether the probe can be applied to pictures of this size.
    pub fn check(&self, width: u32, height: u32) -> Result<(), ProbeError> {
        match (self.kind.fits)(&self.values, width, height) {
            Ok(()) => Ok(()),
            Err(expected) => {
                let probe = self.name.clone();
                Err(ProbeError::DoesNotFit { probe, expected, width, height })
            }
        }
    }

    /// Returns the changed picture.
    pub fn apply(&self, pixels: &Pixels, key: &ProbeKey) -> Pixels {
        self.apply_counted(pixels, key).pixels
    }

    /// Returns the changed picture, and how much of it had to be brought back into [0, 1].
    pub fn apply_counted(&self, pixels: &Pixels, key: &ProbeKey) -> Clamped {
        let mut random = Random::new(key, self.kind.name, self.values.draw());
        (self.kind.apply)(pixels, &self.values, &mut random)
    }

    /// Returns the kind and all parameters, defaults included, as one line: the same text, the same
    /// changes.
    pub fn signature(&self) -> String {
        let mut text = self.kind.name.to_owned();
        for (name, value) in self.values.iter() {
            write!(text, " {name}={value}").expect("because writing to a string does not fail");
        }
        text
    }
}

/// Two probes are equal if they do the same, whatever their names.
impl PartialEq for Probe {
    fn eq(&self, other: &Probe) -> bool {
        self.kind.name == other.kind.name && self.values == other.values
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none at all".to_owned() } else { names.join(", ") }
}
