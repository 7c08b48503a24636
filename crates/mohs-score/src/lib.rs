//! The arithmetic of `mohs`: measures, statistics, adaptive tests and simulated people.
//!
//! Pure: no files, no clock, no environment, no randomness but the seed given. The same input and
//! seed give the same output, on any number of threads.

pub mod adaptive;
pub mod correlation;
pub mod draw;
pub mod human;
pub mod measures;
pub mod model;
pub mod multiplicity;
pub mod proportion;
pub mod resample;
pub mod simulate;
