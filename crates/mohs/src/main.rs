//! The command line of `mohs`: the only crate that prints, exits and reads the environment.
//!
//! A run is: read the arguments, do what the verb says, turn the outcome into an exit code.
//! Verbs live in `commands/`, one file each; words for people in `ui.rs`; how errors read in
//! `error.rs`.

mod args;
mod built_in;
mod commands;
mod error;
mod folder;
mod ui;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Args;
use crate::ui::Ui;

fn main() -> ExitCode {
    let args = Args::parse();
    let ui = Ui::new(&args.talk);
    match commands::run(args.command, &ui) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            ui.complain(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
