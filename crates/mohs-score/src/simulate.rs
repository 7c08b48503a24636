//! Simulated people: observers whose truth is known.
//!
//! Used three ways: tests check that measures recover the truth, `mohs demo` needs people without
//! asking any, and `mohs simulate` answers "how many participants do I need?" before money is
//! spent. One file per task; `design.rs` compares designs.

pub mod beep;
pub mod design;
pub mod flash;
pub mod masks;
pub mod pairs;
pub mod truth;
