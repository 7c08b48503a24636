//! Adaptive tests: choosing what to show next from what has been answered.

pub mod exposure;
pub mod ladder;
