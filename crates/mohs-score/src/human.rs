//! Measures of what people did.

pub mod agreement;
pub mod bradley_terry;
pub mod exclusion;
pub mod item_response;
pub mod label_disagreement;
pub mod object_masks;
pub mod psychometric;
pub mod quality;
pub mod recognition;
pub mod set_comparison;
pub mod speed_accuracy;
pub mod threshold;
pub mod viewing_time;
