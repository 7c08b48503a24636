//! The measures from outside: values worked by hand, other programs' numbers, simulated truth, laws.

mod adaptive_ladder;
mod adaptive_width;
mod agreement;
mod attacks;
mod bradley_terry;
mod item_response;
mod ladder;
mod models;
mod object_masks;
mod quality;
mod recovery;
mod set_comparison;
mod speed_accuracy;
mod viewing_time;
