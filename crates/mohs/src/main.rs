//! The command line of `mohs`: the only crate that prints, exits and reads the environment.
//!
//! A run is: read the arguments, do what the verb says, turn the outcome into an exit code.
//! Verbs live in `commands/`, one file each; words for people in `ui.rs`; how errors read in
//! `error.rs`.

mod args;
mod built_in;
mod commands;
mod endpoint_key;
mod engine_args;
mod error;
mod folder;
mod ui;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Args;
use crate::ui::Ui;

fn main() -> ExitCode {
    keep_decoder_panics_quiet();
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

/// The Parquet decoder panics on some damaged files, and the engine rten on some damaged models.
/// Their callers catch that and return an error with its place; the message of the panic would only
/// stand in its way.
fn keep_decoder_panics_quiet() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_decoder = panic.location().is_some_and(|place| {
            ["parquet-", "rten-"].iter().any(|name| place.file().contains(name))
        });
        if !is_decoder {
            tell(panic);
        }
    }));
}
