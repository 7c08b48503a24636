//! The verbs, one file each.

pub(crate) mod adapt;
pub(crate) mod annotations;
pub(crate) mod attack;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod engines;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod ladder;
pub(crate) mod merge;
pub(crate) mod network;
pub(crate) mod prepare;
pub(crate) mod report;
pub(crate) mod score;
pub(crate) mod serve;
pub(crate) mod simulate;

use crate::args::Command;
use crate::error::CliError;
use crate::ui::Ui;

/// Does what the verb says.
pub(crate) fn run(command: Command, ui: &Ui) -> Result<(), CliError> {
    match command {
        Command::Demo(args) => demo::run(&args, ui),
        Command::Init(args) => init::run(&args, ui),
        Command::Check(args) => check::run(&args, ui),
        Command::Prepare(args) => prepare::run(&args, ui),
        Command::Import(args) => import::run(&args, ui),
        Command::Simulate(args) => simulate::run(&args, ui),
        Command::Score(args) => score::run(&args, ui),
        Command::Report(args) => report::run(&args, ui),
        Command::Export(args) => export::run(&args, ui),
        Command::Serve(args) => serve::run(&args, ui),
        Command::Eval(args) => eval::run(&args, ui),
        Command::Adapt(args) => adapt::run(&args, ui),
        Command::Attack(args) => attack::run(&args, ui),
        Command::Ladder(args) => ladder::run(&args, ui),
        Command::Merge(args) => merge::run(&args, ui),
        Command::Fit(args) => fit::run(&args, ui),
        Command::Network(args) => network::run(&args, ui),
        Command::Engines(args) => engines::run(&args, ui),
        Command::Completions(args) => completions::run(&args, ui),
    }
}
