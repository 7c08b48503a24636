//! The experiment server and its page: the only async code and the only SQL of the house.

pub mod wire;
