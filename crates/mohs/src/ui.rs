//! How `mohs` speaks: data to stdout, talk to stderr, progress on a terminal only.
//!
//! Everything must be understandable without colour.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};

use crate::args::{Color, Talk};
use crate::error::CliError;

/// How to speak, decided once.
#[derive(Debug, Clone)]
pub(crate) struct Ui {
    is_quiet: bool,
    is_coloured: bool,
    shows_progress: bool,
    /// What is drawn on the terminal now, and has to make room for words.
    shown: Shown,
}

/// The progress bar that was shown last.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<WeakProgressBar>>);

impl Shown {
    fn bar(&self) -> Option<ProgressBar> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    fn set(&self, bar: &ProgressBar) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = bar.downgrade();
    }
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shown")
    }
}

impl Ui {
    /// Looks at the arguments, the terminal and `NO_COLOR`.
    pub(crate) fn new(talk: &Talk) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_coloured = match talk.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !forbidden,
        };
        Self {
            is_quiet: talk.quiet,
            is_coloured,
            shows_progress: is_terminal && !talk.quiet,
            shown: Shown::default(),
        }
    }

    /// The same without talk, for work inside other work.
    #[must_use]
    pub(crate) fn quiet(&self) -> Self {
        Self { is_quiet: true, shows_progress: false, ..self.clone() }
    }

    /// Tells people something; a progress bar makes room by itself.
    #[expect(clippy::print_stderr, reason = "this is where mohs speaks")]
    pub(crate) fn say(&self, text: &str) {
        if self.is_quiet {
            return;
        }
        match self.shown.bar() {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    /// Returns what tells people something from any thread.
    pub(crate) fn teller(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let ui = self.clone();
        move |text| ui.say(text)
    }

    /// Tells people what went wrong, quiet or not.
    #[expect(clippy::print_stderr, reason = "this is where mohs speaks")]
    pub(crate) fn complain(&self, error: &CliError) {
        let (error_word, hint_word) = if self.is_coloured {
            ("\u{1b}[1;31merror\u{1b}[0m", "\u{1b}[1;36mhint\u{1b}[0m")
        } else {
            ("error", "hint")
        };
        eprintln!("{error_word}: {}", error.message());
        for cause in error.causes() {
            eprintln!("  caused by: {cause}");
        }
        for hint in error.hints() {
            eprintln!("\n{hint_word}: {hint}");
        }
    }

    /// Writes results to stdout.
    pub(crate) fn data(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(|cause| {
            if cause.kind() == ErrorKind::BrokenPipe {
                CliError::broken_pipe()
            } else {
                CliError::surroundings("cannot write to standard output").because(cause)
            }
        })
    }

    /// Shows how far a long step has come; it vanishes when dropped or finished.
    pub(crate) fn progress(&self, n_steps: usize, what: &str) -> ProgressBar {
        self.bar(n_steps, what, "{msg:32} [{bar:30}] {pos}/{len} {eta}")
    }

    /// Shows how far a model has come, with pictures per second.
    pub(crate) fn progress_of_images(&self, n_steps: usize, what: &str) -> ProgressBar {
        self.bar(n_steps, what, "{msg:32} [{bar:30}] {pos}/{len} {per_sec:>12} {eta}")
    }

    fn bar(&self, n_steps: usize, what: &str, template: &str) -> ProgressBar {
        let target = if self.shows_progress {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(n_steps as u64), target);
        let style = ProgressStyle::with_template(template)
            .expect("because the templates are literals that the tests draw")
            .progress_chars("=> ");
        bar.set_style(style);
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        self.shown.set(&bar);
        bar
    }
}
