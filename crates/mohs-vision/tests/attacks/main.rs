//! Attacks, step by step against what torchattacks did, by their laws, and by how they are aimed.

mod drive;
mod laws;
mod parity;
