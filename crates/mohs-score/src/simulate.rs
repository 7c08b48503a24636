//! Simulated people: observers whose truth is known.
//!
//! Used three ways: tests check that measures recover the truth, `mohs demo` needs people without
//! asking any, and `mohs simulate` answers "how many participants do I need?" before money is
//! spent. One file per task; `design.rs` compares designs. `ladder.rs` has models instead of people.

pub mod beep;
pub mod design;
pub mod flash;
pub mod ladder;
pub mod masks;
pub mod pairs;
pub mod truth;
