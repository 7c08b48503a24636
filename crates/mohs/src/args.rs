//! What can be typed. Doc comments here are the help texts.

use clap::builder::Styles;
use clap::builder::styling::{AnsiColor, Effects};
use clap::{Parser, Subcommand, ValueEnum};

use crate::commands::{
    adapt, attack, check, completions, demo, engines, eval, export, fit, import, init, ladder,
    merge, network, prepare, report, score, serve, simulate,
};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Cyan.on_default().effects(Effects::BOLD))
    .usage(AnsiColor::Cyan.on_default().effects(Effects::BOLD))
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Yellow.on_default());

/// Measure how hard images are for people, and how models hold up as images get harder
#[derive(Debug, Parser)]
#[command(
    name = "mohs",
    version,
    styles = STYLES,
    propagate_version = true,
    max_term_width = 100,
    after_help = "\
Start here:
  mohs demo                                  the whole story on built-in data
  mohs init flash my-study --from photos/    a study of your own pictures
  mohs score viewing-time trials.csv         difficulty from trials

Exit codes: 0 done · 1 done, but a check failed · 2 your input is wrong · 3 the surroundings failed"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) talk: Talk,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How much is said, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Talk {
    /// Say nothing but errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// When to use colour; `NO_COLOR` turns it off as well
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables for people
    Text,
    /// Everything, for programs
    Json,
    /// One row per stimulus or design
    Csv,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::DemoArgs),
    Init(init::InitArgs),
    Check(check::CheckArgs),
    Prepare(prepare::PrepareArgs),
    Import(import::ImportArgs),
    Simulate(simulate::SimulateArgs),
    Score(score::ScoreArgs),
    Report(report::ReportArgs),
    Export(export::ExportArgs),
    Serve(serve::ServeArgs),
    Eval(eval::EvalArgs),
    Adapt(Box<adapt::AdaptArgs>),
    Attack(Box<attack::AttackArgs>),
    Ladder(ladder::LadderArgs),
    Merge(merge::MergeArgs),
    Fit(fit::FitArgs),
    Network(network::NetworkArgs),
    Engines(engines::EnginesArgs),
    Completions(completions::CompletionsArgs),
}
