//! What measures read: trials, a study, stimuli, difficulties.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mohs_data::format::table::Record;
use mohs_data::format::{ReadOptions, read_all, read_stimuli};
use mohs_data::{Checks, Difficulty, Stimulus, Study, Task, Trial, check};
use mohs_score::model::Cluster;

use crate::error::CliError;
use crate::ui::Ui;

/// Where trials come from.
#[derive(Debug, clap::Args)]
pub(super) struct TrialsArgs {
    /// Trials as CSV or Parquet, or a study folder with study.toml and trials.csv
    pub(super) trials: PathBuf,
    /// The study: exclusion rules, labels and scoring options
    #[arg(long, value_name = "study.toml")]
    study: Option<PathBuf>,
    /// What was shown: a table, an image folder, a COCO file or a list; brings labels and groups
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// Read our column from one of yours, e.g. participant=subj (can be repeated)
    #[arg(long, value_name = "OURS=YOURS", value_parser = parse_mapping)]
    map: Vec<(String, String)>,
}

impl TrialsArgs {
    /// Returns whether columns are renamed, as only those of trials can be.
    pub(super) fn has_mapping(&self) -> bool {
        !self.map.is_empty()
    }
}

/// Understands `OURS=YOURS`.
pub(crate) fn parse_mapping(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((ours, theirs)) if !ours.is_empty() && !theirs.is_empty() => {
            Ok((ours.to_owned(), theirs.to_owned()))
        }
        _ => Err("expected OURS=YOURS, e.g. participant=subj".into()),
    }
}

/// What was typed, read and made sense of.
pub(super) struct Read {
    pub(super) study: Study,
    pub(super) has_study: bool,
    pub(super) stimuli: Vec<Stimulus>,
    pub(super) trials: Vec<Trial>,
    /// The file the trials came from.
    pub(super) path: PathBuf,
    /// How it was read.
    pub(super) options: ReadOptions,
}

/// Reads a study.
pub(super) fn study_at(path: &Path) -> Result<Study, CliError> {
    Study::read(path).map_err(|error| CliError::from(error).while_doing("cannot read the study"))
}

/// Reads trials and what belongs to them; without a study, one of the given task is assumed.
pub(super) fn read(args: &TrialsArgs, task: Task, ui: &Ui) -> Result<Read, CliError> {
    let is_folder = args.trials.is_dir();
    let in_folder = |name: &str| Some(args.trials.join(name)).filter(|path| path.is_file());
    let trials_path = if is_folder {
        in_folder("trials.csv").or_else(|| in_folder("trials.parquet")).ok_or_else(|| {
            CliError::input(format!("no trials in the folder `{}`", args.trials.display()))
                .hint("it should hold trials.csv or trials.parquet; or name the file itself")
        })?
    } else {
        args.trials.clone()
    };
    let study_path = args.study.clone().or_else(|| in_folder("study.toml").filter(|_| is_folder));
    let study = match &study_path {
        Some(path) => study_at(path)?,
        None => Study::new(&title_of(&trials_path), task),
    };
    let stimuli_path = args.stimuli.clone().or_else(|| {
        let beside = study_path.as_ref()?.parent()?.join(&study.stimuli);
        beside.exists().then_some(beside)
    });
    let stimuli = stimuli_at(stimuli_path.as_deref())?;
    let checks = Checks {
        options: ReadOptions {
            column_map: args.map.iter().cloned().collect::<BTreeMap<_, _>>(),
            require: vec![],
        },
        stimuli: stimuli_path.as_ref().map(|_| &stimuli[..]),
        stimuli_name: stimuli_path.as_deref().map(display).unwrap_or_default(),
        labels: (!study.labels.is_empty()).then_some(&study.labels[..]),
        labels_name: study_path
            .as_deref()
            .map(|path| format!("the labels of {}", display(path)))
            .unwrap_or_default(),
    };
    let trials = check::read_trials(&trials_path, &checks)
        .map_err(|error| CliError::from(error).while_doing("cannot read the trials"))?;
    ui.say(&format!("{} read from {}", n_trials(trials.len()), args.trials.display()));
    let options = checks.options;
    let has_study = study_path.is_some();
    Ok(Read { study, has_study, stimuli, trials, path: trials_path, options })
}

fn n_trials(n: usize) -> String {
    if n == 1 { "1 trial".into() } else { format!("{n} trials") }
}

pub(super) fn display(path: &Path) -> String {
    path.display().to_string()
}

/// Reads the stimuli, where some were named.
pub(super) fn stimuli_at(path: Option<&Path>) -> Result<Vec<Stimulus>, CliError> {
    path.map_or(Ok(Vec::new()), |path| {
        read_stimuli(path, &ReadOptions::default())
            .map_err(|error| CliError::from(error).while_doing("cannot read the stimuli"))
    })
}

/// Reads the difficulties, where some were named.
pub(super) fn difficulty_at(path: Option<&Path>) -> Result<Vec<Difficulty>, CliError> {
    match path {
        Some(path) if !path.exists() => {
            Err(CliError::input(format!("no difficulties at `{}`", path.display()))
                .hint("check the path"))
        }
        path => rows_at(path, "cannot read the difficulties"),
    }
}

/// Reads a table, where one was named.
pub(super) fn rows_at<R: Record>(path: Option<&Path>, doing: &str) -> Result<Vec<R>, CliError> {
    path.map_or(Ok(Vec::new()), |path| {
        read_all(path, &ReadOptions::default())
            .map_err(|error| CliError::from(error).while_doing(doing))
    })
}

/// What the bootstrap of model measures draws, and how often.
#[derive(Debug, clap::Args)]
pub(super) struct DrawArgs {
    /// What the bootstrap draws [default: label, or stimulus where there are no labels]
    #[arg(long, value_enum, value_name = "WHAT")]
    cluster: Option<ClusterArg>,
    /// Bootstrap draws
    #[arg(long, default_value_t = 1000, value_name = "N",
          value_parser = clap::value_parser!(u32).range(100..))]
    resamples: u32,
}

impl DrawArgs {
    /// Returns what is drawn, if that was said.
    pub(super) fn cluster(&self) -> Option<Cluster> {
        self.cluster.map(ClusterArg::cluster)
    }

    /// Returns how often it is drawn.
    pub(super) fn n(&self) -> usize {
        self.resamples as usize
    }

    /// Says how often it is drawn.
    pub(super) fn announce(&self, ui: &Ui) {
        ui.say(&format!("scoring with {} draws", self.resamples));
    }
}

/// What the bootstrap draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ClusterArg {
    /// Classes with all their stimuli
    Label,
    /// Classes, then stimuli within them
    LabelThenStimulus,
    /// Stimuli on their own
    Stimulus,
}

impl ClusterArg {
    /// Returns the choice as scoring takes it.
    pub(super) fn cluster(self) -> Cluster {
        match self {
            Self::Label => Cluster::Label,
            Self::LabelThenStimulus => Cluster::LabelThenStimulus,
            Self::Stimulus => Cluster::Stimulus,
        }
    }
}

/// Names findings after the file they come from.
pub(super) fn title_of(trials: &Path) -> String {
    trials.file_stem().map_or_else(|| "trials".into(), |stem| stem.to_string_lossy().into_owned())
}
