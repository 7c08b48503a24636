//! Pixels and the built-in world: everything in mohs that touches a picture before a model sees it.
//!
//! [`pixels`] reads, shrinks and writes pictures; [`world`] draws them from a seed, so that a study
//! can run without a download. Nothing here talks to a terminal, a network or a clock.
//! Read [`world`] next.

pub mod masks;
pub mod pixels;
pub mod world;
