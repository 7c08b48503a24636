//! `mohs ladder review`: somebody looks at the pictures of a ladder and rejects the bad ones.
//!
//! The page and its addresses are in `mohs-serve`. Every decision is in `review.csv` before the
//! page goes on; `stimuli.csv` is written without the rejected pictures when the review ends, or
//! by `--apply`.

use std::net::SocketAddr;
use std::path::PathBuf;

use mohs_data::Stimulus;
use mohs_data::format::{ReadOptions, read_stimuli};
use mohs_serve::listen;
use mohs_serve::review::{Review, ReviewError};
use tokio::net::TcpListener;

use super::{MADE, REVIEW, write_tables};
use crate::commands::serve::until_stopped;
use crate::error::CliError;
use crate::ui::Ui;

/// Look at the pictures of a ladder in a browser, and reject the bad ones
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs ladder review ladder             open the link that is printed; stop with Ctrl-C
  mohs ladder review ladder --apply     leave out what was rejected, without a page

Keys: a accept, r reject, u undo, n next, arrows move, ? help. Every decision is in review.csv
before the page goes on. `mohs ladder build generate` draws rejected pictures anew.")]
pub(crate) struct ReviewArgs {
    /// Folder of a ladder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Address and port to listen on; port 0 is any that is free
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    bind: SocketAddr,
    /// Only write stimuli.csv without the rejected pictures
    #[arg(long)]
    apply: bool,
}

pub(super) fn run(args: &ReviewArgs, ui: &Ui) -> Result<(), CliError> {
    let made = made(args)?;
    if args.apply {
        return apply(args, &made, ui);
    }
    let review = Review::open(&args.folder, &made, &args.folder.join(REVIEW));
    let review = review.map_err(|error| match error {
        ReviewError::File(error) => CliError::from(error),
        error @ ReviewError::Missing { .. } => {
            CliError::input(error.to_string()).hint("build the ladder again: it makes what is gone")
        }
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|cause| {
        CliError::surroundings("cannot start the server's threads").because(cause)
    })?;
    runtime.block_on(async {
        let listener = TcpListener::bind(args.bind).await.map_err(|cause| {
            CliError::surroundings(format!("cannot listen on {}", args.bind))
                .because(cause)
                .hint("choose another port with --bind, e.g. --bind 127.0.0.1:8081")
        })?;
        let address = listener.local_addr().map_or(args.bind, |address| address);
        if !address.ip().is_loopback() {
            ui.say("Others on the network can reach this page if they have the link.");
        }
        let link = format!("http://{address}/login?token={}", review.token());
        ui.say(&format!(
            "{} pictures, {} decided; open this link and stop with Ctrl-C:\n{link}",
            made.len(),
            review.n_decided()
        ));
        listen::serve(listener, None, review.router(), until_stopped()).await;
        Ok::<(), CliError>(())
    })?;
    apply(args, &made, ui)
}

/// Reads everything that was made; a ladder of an older version has only what is used.
fn made(args: &ReviewArgs) -> Result<Vec<Stimulus>, CliError> {
    let paths = [args.folder.join(MADE), args.folder.join("stimuli.csv")];
    let Some(path) = paths.iter().find(|path| path.is_file()) else {
        let shown = args.folder.display();
        return Err(CliError::input(format!(
            "`{shown}` holds no ladder: stimuli.csv is not there"
        ))
        .hint("name a folder that `mohs ladder build` made"));
    };
    Ok(read_stimuli(path, &ReadOptions::default())?)
}

fn apply(args: &ReviewArgs, made: &[Stimulus], ui: &Ui) -> Result<(), CliError> {
    let n_used = write_tables(&args.folder, made)?;
    let shown = args.folder.display();
    let n_rejected = made.len() - n_used;
    ui.say(&format!("{shown}/stimuli.csv: {n_used} pictures, {n_rejected} rejected ones left out"));
    Ok(())
}
