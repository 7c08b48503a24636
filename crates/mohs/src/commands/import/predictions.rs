//! `mohs import imagenet-x|predictions|answers-table|response-matrix|model-vs-human-models`: other
//! tools' predictions as predictions.csv.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mohs_data::format::import::predictions::{
    self, ClassNames, PredictionOptions, answers_table, imagenet_x, response_matrix,
};
use mohs_data::format::import::{ImportOptions, model_vs_human};
use mohs_data::format::{ReadOptions, read_stimuli, write_all};
use mohs_data::{Extra, Label, Prediction, Stimulus, StimulusId};

use super::{ImportArgs, check_output, check_overwrites_none, finish, some_of};
use crate::error::CliError;
use crate::ui::Ui;

/// What predictions of other tools leave unsaid.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct PredictionArgs {
    /// Predictions only: the stimuli, to join ids and labels by id or file
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// Predictions only: names of numbered classes, one per line, or CSV or JSON from index to name
    #[arg(long, value_name = "FILE")]
    classes: Option<PathBuf>,
    /// Columns of an answers table that are models [default: all that are nothing else]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
    models: Vec<String>,
    /// Predictions only: also write their stimuli, with label, and the condition as level
    #[arg(long, value_name = "FILE", conflicts_with = "stimuli")]
    stimuli_output: Option<PathBuf>,
}

impl PredictionArgs {
    /// Refuses what was said about predictions when something else is imported.
    pub(super) fn check_unused(&self) -> Result<(), CliError> {
        let used = [
            ("--stimuli", self.stimuli.is_some()),
            ("--classes", self.classes.is_some()),
            ("--models", !self.models.is_empty()),
            ("--stimuli-output", self.stimuli_output.is_some()),
        ];
        match used.iter().find(|(_, is_used)| *is_used) {
            None => Ok(()),
            Some((option, _)) => Err(CliError::input(format!(
                "{option} is for predictions, found a format of something else"
            ))
            .hint(
                "predictions are imagenet-x, predictions, answers-table, response-matrix and \
                 model-vs-human-models",
            )),
        }
    }
}

/// What wrote the predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PredictionFormat {
    ImagenetX,
    Predictions,
    AnswersTable,
    ResponseMatrix,
    ModelVsHumanModels,
}

/// Reads predictions, says what was understood, and writes them unless this is a dry run.
pub(super) fn run(
    format: PredictionFormat,
    args: &ImportArgs,
    options: &ImportOptions,
    ui: &Ui,
) -> Result<(), CliError> {
    let own = &args.predictions;
    if format != PredictionFormat::AnswersTable && !own.models.is_empty() {
        return Err(CliError::input("--models is for answers-table, found another format")
            .hint("to keep some models of a long table: --where model=NAME"));
    }
    if let Some(output) = &own.stimuli_output {
        check_output(output)?;
        let inputs = args.files.iter().chain(&args.mapping).chain(&own.classes);
        check_overwrites_none(output, inputs)?;
        if args.output.as_ref() == Some(output) {
            return Err(CliError::input("--output and --stimuli-output should be two files")
                .hint("e.g. --output predictions.csv --stimuli-output stimuli.csv"));
        }
    }
    if let Some(output) = &args.output {
        check_overwrites_none(output, own.stimuli.iter().chain(&own.classes))?;
    }
    let stimuli = own.stimuli.as_deref().map(stimuli_at).transpose()?;
    let classes = own.classes.as_deref().map(ClassNames::read).transpose()?;
    let options = PredictionOptions {
        import: options.clone(),
        stimuli: stimuli.as_deref(),
        stimuli_name: own.stimuli.as_deref().map(|p| p.display().to_string()).unwrap_or_default(),
        classes: classes.as_ref(),
        models: own.models.clone(),
    };
    let read = match format {
        PredictionFormat::ImagenetX => imagenet_x::read,
        PredictionFormat::Predictions => predictions::read,
        PredictionFormat::AnswersTable => answers_table::read,
        PredictionFormat::ResponseMatrix => response_matrix::read,
        PredictionFormat::ModelVsHumanModels => model_vs_human::models::read,
    };
    let imported = read(&args.files, &options)?;
    let stimuli = match &own.stimuli_output {
        Some(output) => {
            check_overwrites_none(output, &imported.account.files)?;
            Some((output, stimuli_of(&imported.rows)?))
        }
        None => None,
    };
    finish(args, &imported, of_predictions, ui)?;
    if let Some((output, stimuli)) = stimuli.filter(|_| !args.dry_run) {
        write_all(output, &stimuli)?;
        ui.say(&format!("written: {} with {} stimuli", output.display(), stimuli.len()));
    }
    Ok(())
}

fn stimuli_at(path: &Path) -> Result<Vec<Stimulus>, CliError> {
    read_stimuli(path, &ReadOptions::default())
        .map_err(|error| CliError::from(error).while_doing("cannot read the stimuli"))
}

fn of_predictions(rows: &[Prediction]) -> Vec<(&'static str, String)> {
    let distinct = |text: &dyn Fn(&Prediction) -> Option<String>| -> BTreeMap<String, usize> {
        let mut n_by_text = BTreeMap::new();
        for text in rows.iter().filter_map(text) {
            *n_by_text.entry(text).or_default() += 1;
        }
        n_by_text
    };
    let n_right = rows.iter().filter(|row| row.is_correct() == Some(true)).count();
    let n_judged = rows.iter().filter(|row| row.is_correct().is_some()).count();
    let n_failed = rows.iter().filter(|row| row.answer().is_none()).count();
    let n_sure = rows.iter().filter_map(Prediction::answer).filter(|a| a.confidence.is_some());
    let mut n_by_value: BTreeMap<(String, OrderedValue), usize> = BTreeMap::new();
    for condition in rows.iter().filter_map(|row| row.condition.as_ref()) {
        let key = (condition.name.to_string(), OrderedValue(condition.value));
        *n_by_value.entry(key).or_default() += 1;
    }
    let conditions = n_by_value.into_iter().map(|((name, v), n)| (format!("{name} {}", v.0), n));
    vec![
        ("predictions", rows.len().to_string()),
        ("models", some_of(distinct(&|row| Some(row.model.to_string())).into_iter().collect())),
        ("stimuli", distinct(&|row| Some(row.stimulus.to_string())).len().to_string()),
        ("labels", distinct(&|row| row.label.as_ref().map(Label::to_string)).len().to_string()),
        ("probes", some_of(distinct(&|row| Some(row.probe.to_string())).into_iter().collect())),
        ("conditions", some_of(conditions.collect())),
        ("right answers", format!("{n_right} of {n_judged} judged")),
        ("without answer", n_failed.to_string()),
        ("with confidence", n_sure.count().to_string()),
    ]
}

/// A value of a condition, in the order of numbers.
#[derive(Clone, Copy)]
struct OrderedValue(f64);

impl PartialEq for OrderedValue {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for OrderedValue {}

impl PartialOrd for OrderedValue {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedValue {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Makes the table of stimuli that predictions speak of, in the order they first come.
///
/// A condition becomes attribute and level where each stimulus has one value of it.
fn stimuli_of(rows: &[Prediction]) -> Result<Vec<Stimulus>, CliError> {
    let mut order: Vec<&StimulusId> = Vec::new();
    let mut rows_by_stimulus: BTreeMap<&StimulusId, Vec<&Prediction>> = BTreeMap::new();
    for row in rows {
        let of_stimulus = rows_by_stimulus.entry(&row.stimulus).or_default();
        if of_stimulus.is_empty() {
            order.push(&row.stimulus);
        }
        of_stimulus.push(row);
    }
    let settings_of = |id: &StimulusId| -> BTreeSet<Option<(String, String)>> {
        let set = |row: &&Prediction| {
            row.condition.as_ref().map(|set| (set.name.to_string(), set.value.to_string()))
        };
        rows_by_stimulus[id].iter().map(set).collect()
    };
    let has_levels = order.iter().all(|id| settings_of(id).len() == 1);
    let mut stimuli = Vec::new();
    for id in order {
        let labels: BTreeSet<&Label> =
            rows_by_stimulus[id].iter().filter_map(|row| row.label.as_ref()).collect();
        let mut labels = labels.into_iter();
        let (Some(label), None) = (labels.next(), labels.next()) else {
            return Err(CliError::input(format!(
                "--stimuli-output: stimulus `{id}` should have one label in all predictions"
            ))
            .hint("map the column of right answers: --map label=YOUR_COLUMN"));
        };
        let setting = settings_of(id).into_iter().next().flatten().filter(|_| has_levels);
        let (attribute, level) = setting.unzip();
        let dataset = rows_by_stimulus[id][0].extra.get("dataset").filter(|name| !name.is_empty());
        stimuli.push(Stimulus {
            id: id.clone(),
            file: PathBuf::from(id.as_str()),
            label: label.clone(),
            dataset: dataset.map(ToOwned::to_owned),
            boxes: Vec::new(),
            mask: None,
            attribute,
            level,
            extra: Extra::default(),
        });
    }
    Ok(stimuli)
}
