//! Measures of what people did.

pub mod exclusion;
pub mod psychometric;
pub mod recognition;
pub mod threshold;
pub mod viewing_time;
