//! The server over SQLite in a temporary folder, or over Postgres where `MOHS_TEST_POSTGRES` names
//! one: whole sessions, and what must be refused.
#![expect(clippy::unwrap_used, reason = "tests")]

mod admin;
mod allocation;
mod chain;
mod design;
mod erase;
mod export;
mod folder;
mod journal;
mod proof;
mod refusal;
mod server;
mod session;
mod store;
mod tls;
