//! Augmented inverse-probability weighting: forecasts for all, corrected by those asked.
//!
//! # Formula
//!
//! ```text
//! θ = Σ_i w_i (f_i + (y_i - f_i) ξ_i / π_i),    π_i = n_h / N_h
//! ```
//!
//! `ξ` is 1 for stimuli that were asked. Within a stratum every stimulus has the same chance `π`, so
//! this is the stratum's mean with forecasts believed fully: `λ = 1`. Where a forecast is worse than
//! none that costs precision; `control_variate.rs` learns how far to believe.

use super::super::record::Record;
use super::by_stratum::ByStratum;

pub(super) fn by_stratum(record: &Record<'_>) -> ByStratum {
    ByStratum::new(record, |_| 1.0)
}
