//! Findings of `mohs` as one HTML file, as text for a terminal, as JSON and as CSV.
//!
//! A [`Summary`] goes in, a `String` comes out. Pure: no files, no clock, no environment, no
//! randomness; the same summary and pictures give the same bytes. The HTML file loads nothing: its
//! style, script, charts and pictures are inside it.
//!
//! This crate measures nothing. It shows the estimates it is given, each with its interval and n,
//! and prints caveats beside the numbers they weaken. Read `summary.rs` first, then `html.rs`,
//! which lists the sections of a report in order; charts are in `chart/`, one kind per file.

mod chart;
mod csv;
mod escape;
mod headline;
mod html;
mod number;
mod outlined;
mod picture;
mod standing;
mod summary;
mod table;
mod text;
mod width;

pub use csv::{
    ATTACK_TABLES, AskedRow, LADDER_TABLES, MODEL_TABLES, annotators_csv, asked_csv, attack_tables,
    designs_csv, ladder_tables, model_tables, objects_csv, render_csv, render_stimulus_effects,
};
pub use html::{render_html, stimuli_for_gallery};
pub use picture::{AttackedPicture, Pictures, Thumbnail};
pub use summary::{Summary, SummaryError};
pub use table::TextTable;
pub use text::{designs_text, render_text};
