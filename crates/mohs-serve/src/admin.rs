//! Admin pages: how a study goes, for those who have a link with a token.
//!
//! Rendered here, without scripts. Everything that comes from a study or a participant is escaped.
//! `overview.rs` counts, `html.rs` writes; handlers are in `routes/admin.rs`.

pub(crate) mod html;
pub(crate) mod overview;
pub(crate) mod trial_run;
