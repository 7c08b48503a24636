//! The mean of each stratum, weighted by what the stratum counts.
//!
//! Unbiased whenever strata are chosen without looking at their own answers.

use super::super::record::Record;
use super::by_stratum::ByStratum;

pub(super) fn by_stratum(record: &Record<'_>) -> ByStratum {
    ByStratum::new(record, |_| 0.0)
}
