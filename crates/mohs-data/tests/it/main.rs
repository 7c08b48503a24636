//! Files as people have them: what comes back, what is refused and in which words.
#![expect(clippy::unwrap_used, clippy::float_cmp, reason = "a test fails loudly and exactly")]

mod export;
mod fixtures;
mod foreign;
mod import;
mod mistakes;
mod round_trip;
mod whole_files;
