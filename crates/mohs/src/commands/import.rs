//! `mohs import`: other tools' data as trials, comparisons, annotations or predictions.

mod annotations;
mod predictions;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mohs_data::format::import::{
    Account, ImportOptions, Imported, Mapping, Unit, comparisons, jspsych, labjs, model_vs_human,
    mvt_toolkit, own_columns, psychopy,
};
use mohs_data::format::table::{Cell, Record};
use mohs_data::format::write_all;
use mohs_data::{Comparison, Harder, Millis, Trial};
use mohs_report::TextTable;

use self::predictions::{PredictionArgs, PredictionFormat};
use super::annotations::{AnnotationArgs, AnnotationFormat};
use crate::error::CliError;
use crate::ui::Ui;

/// Turn other tools' data into trials, comparisons, annotations or predictions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs import model-vs-human raw-data/ --output trials.parquet
  mohs import jatos jatos_results.txt --dry-run
  mohs import jspsych data/ --where trial_type=image-keyboard-response --output trials.csv
  mohs import csv theirs.csv --map participant=who --map rt_ms=time --unit rt_ms=s -o trials.csv
  mohs import comparisons pairs.csv --output comparisons.csv
  mohs import masks drawn/ --folders participants --output annotations.json
  mohs import imagenet-x resnet50.csv --stimuli stimuli.csv --output predictions.csv
  mohs import predictions theirs.jsonl --map predicted=said --output predictions.parquet
  mohs import answers-table wide.csv --map condition_value=noise --output predictions.csv

Folders are searched for files with the right ending. Columns that mean nothing to mohs are kept.
--dry-run shows what was understood and writes nothing. docs/formats/import.md explains each
format, column by column.")]
pub(crate) struct ImportArgs {
    /// What wrote the files
    #[arg(value_enum)]
    format: ImportFormat,
    /// Files, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where to write: .csv or .parquet; .json for annotations
    #[arg(long, short, value_name = "FILE", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Say what was understood and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Take our column from one of theirs; `OURS=` means that there is none (can be repeated)
    #[arg(long, value_name = "OURS=THEIRS", value_parser = parse_pair)]
    map: Vec<(String, String)>,
    /// The unit of a time in their file: ms, s, us or frames@60, e.g. rt_ms=s (can be repeated)
    #[arg(long, value_name = "OURS=UNIT", value_parser = parse_unit)]
    unit: Vec<(String, Unit)>,
    /// Only rows with this value are trials; more values of one column are alternatives (can be repeated)
    #[arg(long = "where", value_name = "THEIRS=VALUE", value_parser = parse_pair)]
    only: Vec<(String, String)>,
    /// Copy the first value of this column in a session to all of its trials (can be repeated)
    #[arg(long, value_name = "THEIRS")]
    carry: Vec<String>,
    /// Columns, units, constants and rows to keep, in a file; options go before it
    #[arg(long, value_name = "mapping.toml")]
    mapping: Option<PathBuf>,
    /// Keep the warm-up trials of SATBench, marked in the column `warm_up`
    #[arg(long)]
    keep_warm_up: bool,
    #[command(flatten)]
    outlines: AnnotationArgs,
    #[command(flatten)]
    predictions: PredictionArgs,
}

/// What wrote the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ImportFormat {
    /// The viewing-time toolkit: its notebook's CSV, or the fields of its store
    MvtToolkit,
    /// lab.js: JSON, CSV, or JATOS text; knows the screens of SATBench and its predecessor
    Labjs,
    /// JATOS text exports of lab.js studies, the same as labjs
    Jatos,
    /// jsPsych: JSON or CSV
    Jspsych,
    /// model-vs-human: CSV files of people and models
    ModelVsHuman,
    /// PsychoPy: wide CSV
    Psychopy,
    /// CSV of your own, with --map or --mapping
    Csv,
    /// Paired judgements as CSV
    Comparisons,
    /// COCO instances: outlines in one JSON file
    Coco,
    /// LabelMe: outlines, one JSON file per picture
    Labelme,
    /// Outlines as a folder of PNG masks
    Masks,
    /// Predictions of ImageNet-X: one CSV file per model
    ImagenetX,
    /// Predictions, one answer per row: CSV, Parquet or JSON lines, with --map where needed
    Predictions,
    /// Predictions, one row per stimulus and one column per model; also 1 and 0 for right and wrong
    AnswersTable,
    /// Right and wrong answers, one row per model and one column per stimulus; or py-irt's JSON lines
    ResponseMatrix,
    /// model-vs-human: CSV files of models, as predictions
    ModelVsHumanModels,
}

impl ImportFormat {
    /// Returns whether the files hold what models answered.
    fn is_predictions(self) -> bool {
        matches!(
            self,
            Self::ImagenetX
                | Self::Predictions
                | Self::AnswersTable
                | Self::ResponseMatrix
                | Self::ModelVsHumanModels
        )
    }
}

pub(crate) fn run(args: &ImportArgs, ui: &Ui) -> Result<(), CliError> {
    use ImportFormat::{Coco, Labelme, Masks};
    if let Some(output) = &args.output {
        if !matches!(args.format, Coco | Labelme | Masks) {
            check_output(output)?;
        }
        check_overwrites_none(output, args.files.iter().chain(&args.mapping))?;
    }
    let outlines = |format: AnnotationFormat| {
        let output = args.output.as_deref();
        annotations::run(format, &args.files, output, args.dry_run, &args.outlines, ui)
    };
    let options = options(args)?;
    let answers = |format: PredictionFormat| predictions::run(format, args, &options, ui);
    if !args.format.is_predictions() {
        args.predictions.check_unused()?;
    }
    let files = &args.files;
    let trials = match args.format {
        ImportFormat::Comparisons => {
            let imported = comparisons::read(files, &options)?;
            return finish(args, &imported, of_comparisons, ui);
        }
        ImportFormat::MvtToolkit => mvt_toolkit::read(files, &options)?,
        ImportFormat::Labjs | ImportFormat::Jatos => labjs::read(files, &options)?,
        ImportFormat::Jspsych => jspsych::read(files, &options)?,
        ImportFormat::ModelVsHuman => model_vs_human::read(files, &options)?,
        ImportFormat::Psychopy => psychopy::read(files, &options)?,
        ImportFormat::Csv => own_columns::read(files, &options)?,
        Coco => return outlines(AnnotationFormat::Coco),
        Labelme => return outlines(AnnotationFormat::Labelme),
        Masks => return outlines(AnnotationFormat::Masks),
        ImportFormat::ImagenetX => return answers(PredictionFormat::ImagenetX),
        ImportFormat::Predictions => return answers(PredictionFormat::Predictions),
        ImportFormat::AnswersTable => return answers(PredictionFormat::AnswersTable),
        ImportFormat::ResponseMatrix => return answers(PredictionFormat::ResponseMatrix),
        ImportFormat::ModelVsHumanModels => return answers(PredictionFormat::ModelVsHumanModels),
    };
    finish(args, &trials, of_trials, ui)
}

fn options(args: &ImportArgs) -> Result<ImportOptions, CliError> {
    let mut mapping = match &args.mapping {
        Some(path) => Mapping::read(path)?,
        None => Mapping::default(),
    };
    for (ours, theirs) in &args.map {
        mapping.constants.remove(ours);
        mapping.columns.insert(ours.clone(), theirs.clone());
    }
    mapping.units.extend(args.unit.iter().cloned());
    if !args.only.is_empty() {
        mapping.only.clone_from(&args.only);
    }
    mapping.carry.extend(args.carry.iter().cloned());
    Ok(ImportOptions { mapping, keep_warm_up: args.keep_warm_up })
}

/// Refuses an ending that says neither CSV nor Parquet, before anything is read.
pub(super) fn check_output(output: &Path) -> Result<(), CliError> {
    let ending = output.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if ["csv", "parquet", "pq"].contains(&ending.as_str()) {
        return Ok(());
    }
    let found = if ending.is_empty() { "no ending".into() } else { format!("`.{ending}`") };
    Err(CliError::input(format!(
        "`{}` should end in .csv or .parquet, found {found}",
        output.display()
    ))
    .hint("the ending of a file says how it is written"))
}

/// Refuses an output that is one of the files read: the source would be lost.
pub(super) fn check_overwrites_none<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), CliError> {
    let Ok(target) = output.canonicalize() else { return Ok(()) };
    let is_same = |input: &&PathBuf| input.canonicalize().is_ok_and(|input| input == target);
    match inputs.into_iter().find(is_same) {
        None => Ok(()),
        Some(_) => Err(CliError::input(format!(
            "`{}` should be a new file, found one of the files to read",
            output.display()
        ))
        .hint("name another --output; your source stays as it is")),
    }
}

/// Says what was understood, and writes it unless this is a dry run.
fn finish<R: Record>(
    args: &ImportArgs,
    imported: &Imported<R>,
    counts: impl Fn(&[R]) -> Vec<(&'static str, String)>,
    ui: &Ui,
) -> Result<(), CliError> {
    let mut text = overview(&imported.account, &counts(&imported.rows));
    if args.dry_run {
        text.push_str(&first_rows(&imported.rows));
        text.push_str("\nNothing was written.\n");
        return ui.data(text.as_bytes());
    }
    let Some(output) = &args.output else {
        return Err(CliError::input("--output is missing").hint("--output trials.csv"));
    };
    check_overwrites_none(output, &imported.account.files)?;
    write_all(output, &imported.rows)?;
    ui.say(text.trim_end());
    ui.say(&format!("\nwritten: {}", output.display()));
    Ok(())
}

fn of_trials(trials: &[Trial]) -> Vec<(&'static str, String)> {
    let distinct = |text: &dyn Fn(&Trial) -> Option<String>| -> BTreeMap<String, usize> {
        let mut n_by_text = BTreeMap::new();
        for text in trials.iter().filter_map(text) {
            *n_by_text.entry(text).or_default() += 1;
        }
        n_by_text
    };
    let times = |time: &dyn Fn(&Trial) -> Option<Millis>| {
        let mut n_by_time: BTreeMap<Millis, usize> = BTreeMap::new();
        for time in trials.iter().filter_map(time) {
            *n_by_time.entry(time).or_default() += 1;
        }
        let listed = n_by_time.into_iter().map(|(ms, n)| (format!("{} ms", ms.value()), n));
        some_of(listed.collect())
    };
    let n_right = trials.iter().filter(|trial| trial.is_correct() == Some(true)).count();
    let n_judged = trials.iter().filter(|trial| trial.is_correct().is_some()).count();
    let n_silent = if trials.iter().any(|t| t.response.is_some() || t.marked_correct.is_none()) {
        let is_silent = |t: &&Trial| t.response.is_none() && t.marked_correct != Some(true);
        trials.iter().filter(is_silent).count().to_string()
    } else {
        "unknown: no answers, only whether they were right".into()
    };
    let n_timed = trials.iter().filter(|trial| trial.rt().is_some()).count();
    vec![
        ("trials", trials.len().to_string()),
        ("participants", distinct(&|t| Some(t.participant.to_string())).len().to_string()),
        ("sessions", distinct(&|t| Some(t.session.to_string())).len().to_string()),
        ("stimuli", distinct(&|t| Some(t.stimulus.to_string())).len().to_string()),
        ("labels", distinct(&|t| t.label.as_ref().map(ToString::to_string)).len().to_string()),
        ("tasks", some_of(distinct(&|t| Some(t.task.as_str().into())).into_iter().collect())),
        ("blocks", some_of(distinct(&|t| t.block.clone()).into_iter().collect())),
        ("conditions", some_of(distinct(&|t| t.condition.clone()).into_iter().collect())),
        ("exposures", times(&|t| t.exposure)),
        ("beeps", times(&|t| t.beep)),
        ("right answers", format!("{n_right} of {n_judged} judged")),
        ("without answer", n_silent),
        ("with rt", n_timed.to_string()),
    ]
}

fn of_comparisons(rows: &[Comparison]) -> Vec<(&'static str, String)> {
    let participants: BTreeSet<_> = rows.iter().map(|row| &row.participant).collect();
    let stimuli: BTreeSet<_> = rows.iter().flat_map(|row| [&row.left, &row.right]).collect();
    let n = |harder| rows.iter().filter(|row| row.harder == harder).count();
    vec![
        ("comparisons", rows.len().to_string()),
        ("participants", participants.len().to_string()),
        ("stimuli", stimuli.len().to_string()),
        ("left is harder", n(Harder::Left).to_string()),
        ("right is harder", n(Harder::Right).to_string()),
        ("ties", n(Harder::Tie).to_string()),
    ]
}

/// How many different values are listed before the rest is only counted.
const N_LISTED: usize = 12;

/// Lists values with their counts, or says how many there are.
fn some_of(n_by_value: Vec<(String, usize)>) -> String {
    if n_by_value.is_empty() {
        return "none".into();
    }
    let n_values = n_by_value.len();
    let listed = n_by_value.into_iter().take(N_LISTED).map(|(value, n)| format!("{value} ({n})"));
    let mut text = listed.collect::<Vec<_>>().join(", ");
    if N_LISTED < n_values {
        text.push_str(&format!(", and {} more", n_values - N_LISTED));
    }
    text
}

fn overview(account: &Account, counts: &[(&'static str, String)]) -> String {
    let mut table = TextTable::default();
    let taken_for: Vec<&str> = account.taken_for.iter().map(String::as_str).collect();
    table.push(["taken for", &taken_for.join("; ")]);
    table.push(["files", &format!("{}, {} rows", account.files.len(), account.n_records)]);
    for (name, value) in counts {
        table.push([*name, value.as_str()]);
    }
    for (why, n) in &account.set_aside {
        let rows = if *n == 1 { "row" } else { "rows" };
        table.push(["set aside", &format!("{n} {rows} {why}")]);
    }
    let mut text = table.render();
    let mut columns = TextTable::new(["our column", "comes from"]);
    for (ours, theirs) in &account.sources {
        let theirs: Vec<&str> = theirs.iter().take(4).map(String::as_str).collect();
        columns.push([ours.as_str(), &theirs.join(", or ")]);
    }
    text.push('\n');
    text.push_str(&columns.render());
    if !account.kept.is_empty() {
        let kept: Vec<&str> = account.kept.iter().map(String::as_str).collect();
        text.push_str(&format!("\nkept as they are: {}\n", kept.join(", ")));
    }
    for notice in account.notices.iter().take(N_LISTED) {
        text.push_str(&format!("\nnote: {notice}"));
    }
    if N_LISTED < account.notices.len() {
        text.push_str(&format!("\nnote: and {} more like these", account.notices.len() - N_LISTED));
    }
    if !account.notices.is_empty() {
        text.push('\n');
    }
    text
}

/// Rows shown in a dry run.
const N_ROWS: usize = 5;
/// Longest cell shown.
const N_CHARS: usize = 24;

/// Shows the first rows in our columns, those left out that are empty in all of them.
fn first_rows<R: Record>(rows: &[R]) -> String {
    let names: Vec<&str> =
        R::SCHEMA.columns.iter().filter(|column| column.written).map(|c| c.name).collect();
    let shown: Vec<Vec<String>> = rows
        .iter()
        .take(N_ROWS)
        .map(|row| {
            let mut cells = Vec::new();
            row.cells(&mut cells);
            cells.iter().map(text_of).collect()
        })
        .collect();
    let filled: Vec<usize> =
        (0..names.len()).filter(|idx| shown.iter().any(|row| !row[*idx].is_empty())).collect();
    let mut table = TextTable::new(filled.iter().map(|idx| names[*idx]));
    for row in &shown {
        table.push(filled.iter().map(|idx| row[*idx].clone()));
    }
    format!("\n{}", table.render())
}

fn text_of(cell: &Cell<'_>) -> String {
    let text = match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => text.to_string(),
        Cell::Real(value) => format!("{}", (value * 1_000.0).round() / 1_000.0),
        Cell::Whole(value) => value.to_string(),
        Cell::Flag(value) => u8::from(*value).to_string(),
    };
    if text.chars().count() <= N_CHARS {
        return text;
    }
    text.chars().take(N_CHARS - 1).chain(['…']).collect()
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((left, right)) if !left.is_empty() => Ok((left.into(), right.into())),
        _ => Err("expected NAME=VALUE".into()),
    }
}

fn parse_unit(text: &str) -> Result<(String, Unit), String> {
    let (ours, unit) = parse_pair(text)?;
    match Unit::parse(&unit) {
        Some(unit) => Ok((ours, unit)),
        None => Err("expected OURS=UNIT with the unit ms, s, us or frames@60".into()),
    }
}
