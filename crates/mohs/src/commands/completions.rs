//! `mohs completions`: completions for a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;
use crate::error::CliError;
use crate::ui::Ui;

/// Print completions for your shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs completions bash > ~/.local/share/bash-completion/completions/mohs
  mohs completions zsh > ~/.zfunc/_mohs
  mohs completions fish > ~/.config/fish/completions/mohs.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, ui: &Ui) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "mohs", &mut script);
    ui.data(&script)
}
