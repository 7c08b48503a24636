//! The experiment server and its page: the only async code and the only SQL of the house.
//!
//! A request comes in through `routes/`, is checked, and becomes one step of `conduct/` inside one
//! transaction of `store/`; `plan/` decides what is shown. `wire.rs` is what page and server say to
//! each other: read its header first. The server keeps nothing of an experiment in memory alone: it may
//! be killed at any time, and several may share one database.

mod admin;
pub mod allocate;
pub mod app;
pub mod bots;
mod clock;
pub mod conduct;
pub mod design;
pub mod error;
pub mod export;
pub mod hosted;
pub mod limit;
pub mod listen;
pub mod plan;
pub mod report;
pub mod review;
pub mod router;
mod routes;
pub mod store;
pub mod token;
pub mod wire;
#[cfg(test)]
mod wire_ts;

pub use admin::trial_run::{TrialRun, trial_run};
pub use clock::Clock;
