//! One handler per address: read, check, one step or one question to the store, answer.

pub(crate) mod admin;
mod file_body;
pub(crate) mod health;
pub(crate) mod media;
pub(crate) mod openapi;
pub(crate) mod page;
pub(crate) mod session;
