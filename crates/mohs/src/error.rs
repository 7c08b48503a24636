//! Errors as people meet them: what went wrong, why, what to do, and which exit code follows.

use std::error::Error;

use mohs_data::FileError;
use mohs_report::SummaryError;
use mohs_score::human::{threshold, viewing_time};
use mohs_vision::pixels::PixelsError;

/// What an error means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The input or the arguments are wrong.
    Input,
    /// Disk, rights, network.
    Surroundings,
    /// Nobody reads our output any more.
    BrokenPipe,
}

/// An error on its way to the terminal.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl CliError {
    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// The input or the arguments are wrong.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(Kind::Input, message)
    }

    /// Disk, rights or the like failed.
    pub(crate) fn surroundings(message: impl Into<String>) -> Self {
        Self::new(Kind::Surroundings, message)
    }

    /// Nobody reads our output any more.
    pub(crate) fn broken_pipe() -> Self {
        Self::new(Kind::BrokenPipe, "nobody reads the output")
    }

    /// Adds a cause, and the causes behind it.
    pub(crate) fn because(mut self, cause: impl Error) -> Self {
        self.causes.push(cause.to_string());
        let mut next = cause.source();
        while let Some(cause) = next {
            self.causes.push(cause.to_string());
            next = cause.source();
        }
        self
    }

    /// Adds what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says what was being done, and makes the old message its cause.
    pub(crate) fn while_doing(mut self, what: impl Into<String>) -> Self {
        let message = std::mem::replace(&mut self.message, what.into());
        self.causes.insert(0, message);
        self
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn causes(&self) -> &[String] {
        &self.causes
    }

    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.kind == Kind::BrokenPipe
    }

    /// Returns the exit code; documented in the help text and in ARCHITECTURE.md.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::BrokenPipe => 0,
            Kind::Input => 2,
            Kind::Surroundings => 3,
        }
    }
}

impl From<FileError> for CliError {
    fn from(error: FileError) -> Self {
        let kind = if error.is_environment() { Kind::Surroundings } else { Kind::Input };
        let mut cli = Self::new(kind, error.to_string());
        let mut next = error.source();
        while let Some(cause) = next {
            cli.causes.push(cause.to_string());
            next = cause.source();
        }
        cli.hints.extend(error.hint());
        cli
    }
}

impl From<PixelsError> for CliError {
    fn from(error: PixelsError) -> Self {
        let message = error.to_string();
        let cli = match &error {
            PixelsError::Unreadable { .. } => {
                Self::input(message).hint("check the path and the file's permissions")
            }
            PixelsError::NotAnImage { .. } => {
                Self::input(message).hint("PNG, JPEG, WebP, GIF, BMP and TIFF are understood")
            }
            PixelsError::Unsupported { .. } => {
                Self::input(message).hint("convert it to 8-bit PNG or JPEG")
            }
            PixelsError::Broken { .. } => {
                Self::input(message).hint("copy or export the picture again")
            }
        };
        match error.source() {
            Some(cause) => Self { causes: vec![cause.to_string()], ..cli },
            None => cli,
        }
    }
}

impl From<viewing_time::Error> for CliError {
    fn from(error: viewing_time::Error) -> Self {
        let cli = Self::input(error.to_string());
        match error {
            viewing_time::Error::NoFlashTrials { .. } => {
                cli.hint("viewing time needs a column `exposure_ms`; see docs/formats/trials.md")
            }
            viewing_time::Error::NothingLeft { .. } => cli
                .hint("loosen [exclusions] in study.toml; `mohs check` shows what each rule takes"),
            viewing_time::Error::NotJudged { .. } => {
                cli.hint("add a column `label` or `correct`, or give --stimuli")
            }
            viewing_time::Error::Threshold(threshold::Error::NoThreshold { .. }) => {
                cli.hint("raise --criterion, or give the real --guess-rate (1 / number of choices)")
            }
            viewing_time::Error::Threshold(threshold::Error::NoExposure) => {
                cli.hint("exposures are in milliseconds, above 0")
            }
        }
    }
}

impl From<SummaryError> for CliError {
    fn from(error: SummaryError) -> Self {
        let hint = match error {
            SummaryError::Newer { .. } => "update mohs to read this file",
            _ => "name the summary.json that `mohs score --output DIR` wrote",
        };
        Self::input("cannot read the summary").because(error).hint(hint)
    }
}
