//! Errors as people meet them: what went wrong, why, what to do, and which exit code follows.

use std::error::Error;

use mohs_data::FileError;
use mohs_graph::build::BuildError;
use mohs_graph::derive::DeriveError;
use mohs_report::SummaryError;
use mohs_score::human::{
    agreement, bradley_terry, item_response, label_disagreement, quality, set_comparison,
    threshold, viewing_time,
};
use mohs_vision::endpoint::{EndpointError, LedgerError};
use mohs_vision::engine::EngineError;
use mohs_vision::evaluate::PreparationError;
use mohs_vision::labels::LabelError;
use mohs_vision::network::NetworkError;
use mohs_vision::pixels::PixelsError;
use mohs_vision::probe::ProbeError;

/// What an error means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The work is done, but some of it failed.
    Partly,
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

    /// The work is done, but some of it failed.
    pub(crate) fn partly(message: impl Into<String>) -> Self {
        Self::new(Kind::Partly, message)
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

    /// Adds a cause in words.
    pub(crate) fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
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
            Kind::Partly => 1,
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
            PixelsError::TooLarge { .. } => Self::input(message).hint("shrink it first"),
        };
        match error.source() {
            Some(cause) => Self { causes: vec![cause.to_string()], ..cli },
            None => cli,
        }
    }
}

impl From<EndpointError> for CliError {
    fn from(error: EndpointError) -> Self {
        let message = error.to_string();
        match error {
            EndpointError::Settings { .. } => {
                Self::input(message).hint("docs/formats/endpoints.md shows what may be said")
            }
            EndpointError::Refuses { status: 401..=403, .. } => Self::input(message)
                .hint("check the key in the variable that `key_env` names, and what it may do"),
            EndpointError::Refuses { .. } => {
                Self::input(message).hint("check `url` and `model`; the address ends before /chat")
            }
            EndpointError::Gone { .. } => Self::surroundings(message)
                .hint("run again later: every answer so far is kept, and none is paid twice"),
            EndpointError::Unusable { .. } => Self::surroundings(message).hint(
                "`url`, `model` and `parameters` decide what is sent; answers so far are kept",
            ),
            EndpointError::Key { .. } => Self::input(message).hint(
                "set it again, as the endpoint's owner shows it: on one line, without quotes",
            ),
            EndpointError::SameName { .. } => {
                Self::input(message).hint("rename one of them; case and punctuation do not count")
            }
            EndpointError::Ledger(LedgerError::Busy { .. }) => {
                Self::surroundings(message).hint("wait for it: two would pay for the same answers")
            }
            EndpointError::Ledger(LedgerError::Disk { source, .. }) => {
                Self::surroundings(message).because(source)
            }
            EndpointError::File(error) => error.into(),
        }
    }
}

impl From<EngineError> for CliError {
    fn from(error: EngineError) -> Self {
        let mut cli = Self::input(error.to_string());
        if let EngineError::NotFound { looked_in } = &error {
            const SHOWN: usize = 8;
            let places: Vec<String> =
                looked_in.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
            let more = looked_in.len().saturating_sub(SHOWN);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            cli.causes.push(format!("looked in {}{more}", places.join(", ")));
        }
        cli.hints.extend(error.remedy());
        cli
    }
}

impl From<NetworkError> for CliError {
    fn from(error: NetworkError) -> Self {
        let hint = match &error {
            NetworkError::Engine(_) => None,
            NetworkError::Unreadable { .. } => Some("check the path and the file's permissions"),
            NetworkError::NotANetwork { .. } => {
                Some("export the model again, e.g. with torch.onnx.export; keep files beside it")
            }
            NetworkError::Foreign { .. } | NetworkError::Rewrite(_) => {
                Some("export the model again with another opset, e.g. opset_version=18")
            }
            NetworkError::NoPictures { .. } => {
                Some("`mohs network show` lists what the model takes")
            }
            NetworkError::NotPerExample { .. } => {
                Some("export the model with an open batch (dynamic axes)")
            }
            NetworkError::Derive(DeriveError::Build(BuildError::NoSuchValue(_))) => {
                Some("`mohs network show --values` lists the values between the nodes")
            }
            NetworkError::Derive(_) => {
                Some("`mohs network show` says which operators have a gradient")
            }
        };
        if let NetworkError::Engine(error) = error {
            return error.into();
        }
        let cli = Self::input(error.to_string());
        let cli = match error.source() {
            Some(cause) => Self { causes: vec![cause.to_string()], ..cli },
            None => cli,
        };
        match hint {
            Some(hint) => cli.hint(hint),
            None => cli,
        }
    }
}

impl From<LabelError> for CliError {
    fn from(error: LabelError) -> Self {
        let hint = match &error {
            LabelError::Unreadable { .. } => "check the path and the file's permissions",
            LabelError::NotUnderstood { .. } => "docs/formats/manifest.md shows what is read",
            LabelError::WrongCount { .. } | LabelError::Twice { .. } => {
                "classes are listed in the order of the model's outputs, each once"
            }
            LabelError::UnknownLabel { .. } => {
                "labels of stimuli are written as the model's classes; `answer` in the manifest \
                 maps classes to other labels, and `map = { label = \"COLUMN\" }` takes another \
                 column"
            }
            LabelError::Ambiguous { .. } => "write the WordNet id or the place instead",
            LabelError::SameClass { .. } => "give all stimuli of a class one label",
            LabelError::NoClasses { .. } => {
                "say so: classes = \"imagenet-1k\", a list or a file with one class per line"
            }
        };
        let cli = Self::input(error.to_string()).hint(hint);
        match error.source() {
            Some(cause) => Self { causes: vec![cause.to_string()], ..cli },
            None => cli,
        }
    }
}

impl From<ProbeError> for CliError {
    fn from(error: ProbeError) -> Self {
        Self::input(error.to_string()).hint("docs/formats/probes.md lists all probes")
    }
}

impl From<PreparationError> for CliError {
    fn from(error: PreparationError) -> Self {
        let hint = match &error {
            PreparationError::NotSaid { .. } => {
                "preprocess = \"torchvision\", \"timm\", \"clip\", \"tensorflow\" or a table such as \
                 { mean = [0.5, 0.5, 0.5], sd = [0.5, 0.5, 0.5] }; on the command line --preprocess HOW"
            }
            PreparationError::SideFile { .. } | PreparationError::Unreadable { .. } => {
                "say it in the manifest instead: preprocess = …"
            }
            PreparationError::NoSize => "add size = 224, or what the model was trained with",
            PreparationError::UnknownWord { .. }
            | PreparationError::OtherSize { .. }
            | PreparationError::TooLarge(..) => "docs/formats/manifest.md shows what may be said",
        };
        let cli = Self::input(error.to_string()).hint(hint);
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

impl From<bradley_terry::Error> for CliError {
    fn from(error: bradley_terry::Error) -> Self {
        let cli = Self::input(error.to_string());
        match error {
            bradley_terry::Error::NoJudgements { .. } => {
                cli.hint("a row counts when its `count` is at least 1, or when it has none")
            }
            bradley_terry::Error::UnknownQuestion { .. } => {
                cli.hint("give one of these with --question, or leave it out to count all")
            }
            bradley_terry::Error::UnknownLevels { .. } => {
                cli.hint("name every level with --levels, from easiest to hardest")
            }
            bradley_terry::Error::Separated { .. } => cli.hint(
                "leave --prior out to use a weak prior there, or collect judgements that go both \
                 ways",
            ),
            bradley_terry::Error::BadPrior { .. } => cli.hint("write a number, such as 2.5"),
            bradley_terry::Error::NotSettled(_) => cli.hint(
                "leave --account-for-position out, or steady the fit with a prior: --prior 2.5",
            ),
        }
    }
}

impl From<item_response::Error> for CliError {
    fn from(error: item_response::Error) -> Self {
        let cli = Self::input(error.to_string());
        match error {
            item_response::Error::TooFewParticipants { .. }
            | item_response::Error::TooFewStimuli { .. } => {
                cli.hint("abilities and difficulties are told apart by comparing; add data")
            }
            item_response::Error::NotJudged { .. } => {
                cli.hint("add a column `label` or `correct`, or give --stimuli")
            }
            item_response::Error::RepeatedRow { .. } => {
                cli.hint("rename one of them, or give one trial per row instead of a matrix")
            }
        }
    }
}

impl From<label_disagreement::Error> for CliError {
    fn from(error: label_disagreement::Error) -> Self {
        let cli = Self::input(error.to_string());
        match error {
            label_disagreement::Error::NoLabel { .. } => {
                cli.hint("give the labels: --stimuli stimuli.csv, or a column `label`")
            }
            label_disagreement::Error::UnknownLabel { .. } => cli.hint(
                "labels are compared letter by letter; rename the columns, or the labels of the \
                 stimuli",
            ),
            label_disagreement::Error::NoAnswers { .. } => {
                cli.hint("cells should say how many people gave the label of the column")
            }
            label_disagreement::Error::BadBands { .. } => cli.hint("e.g. --bands 1,0.95,0.8"),
        }
    }
}

impl From<quality::Error> for CliError {
    fn from(error: quality::Error) -> Self {
        Self::input(error.to_string()).hint("check that the file holds more than its header")
    }
}

impl From<set_comparison::Error> for CliError {
    fn from(error: set_comparison::Error) -> Self {
        let cli = Self::input(error.to_string());
        match error {
            set_comparison::Error::TooFewStimuli { .. } => {
                cli.hint("name a difficulty.csv with more rows")
            }
            set_comparison::Error::MixedMeasures { .. } => {
                cli.hint("choose one with --measure NAME")
            }
            set_comparison::Error::DifferentMeasures { .. } => cli.hint(
                "numbers of different measures have different units; score both sets with the same \
                 measure, or choose a common one with --measure NAME",
            ),
            set_comparison::Error::RepeatedStimulus { .. } => {
                cli.hint("was a file appended twice? Every stimulus needs one row")
            }
        }
    }
}

impl From<agreement::Error> for CliError {
    fn from(error: agreement::Error) -> Self {
        let cli = Self::input(error.to_string());
        match error {
            agreement::Error::NothingLeft { .. } => {
                cli.hint("--all-conditions counts trials whose `benchmark` is `out`, too")
            }
            agreement::Error::NoPeople { .. } => {
                cli.hint("add trials of people; `observer` is `model` in every trial, is that so?")
            }
            agreement::Error::NobodyToCompare { .. } => cli.hint(
                "two participants must share all stimuli of a condition, or at least ten of them; \
                 is the right column read as `participant`? See --map",
            ),
            agreement::Error::NotJudged { .. } => {
                cli.hint("add a column `label` or `correct`, or give --stimuli")
            }
            agreement::Error::BothHumanAndModel { .. } => {
                cli.hint("give models names of their own, or mend the column `observer`")
            }
            agreement::Error::BadOption { .. } => cli,
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
