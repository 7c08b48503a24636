//! The binary as people meet it: exit code, stdout and stderr of every verb.

mod bad_input;
mod demo;
mod mohs;
mod real_data;
mod reference;
mod study;
mod viewing_time;
