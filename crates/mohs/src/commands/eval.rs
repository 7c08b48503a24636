//! `mohs eval`: every model of a manifest answers every stimulus under every probe.
//!
//! The work is done by `mohs_vision::evaluate`; this file asks for it, shows how far it is and says
//! what came out.

mod account;
mod place;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use mohs_data::format::{ReadOptions, TableWriter, folder_of_stimuli, read_stimuli};
use mohs_data::{Manifest, Prediction, Stimulus};
use mohs_vision::engine::Engine;
use mohs_vision::evaluate::side_table::{self, SideTable};
use mohs_vision::evaluate::{
    self, Candidate, Contender, EvaluateError, Job, Part, Plan, Remote, Row, Tally,
};

use crate::args::Format;
use crate::endpoint_key;
use crate::engine_args::EngineArgs;
use crate::error::CliError;
use crate::ui::Ui;

use account::{Account, ModelAccount};

pub(super) use account::quoted;

/// Run models on stimuli under probes, and write what they said
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs eval eval.toml                   all models, all stimuli, all probes
  mohs eval eval.toml --dry-run         what would run, and what is known already
  mohs eval eval.toml --limit 20        the first 20 stimuli, to see whether all fits
  mohs eval eval.toml --shard 1/4       a quarter of the stimuli; `mohs merge` joins the parts

Answers are kept in .mohs-cache beside the manifest as they come: a run that was stopped goes on
where it stopped, and a second run asks no model. Another model file, picture, probe, preparation,
batch or engine is another answer; labels and top_k are not.
A picture that cannot be read is a failed row; the exit code is then 1.")]
pub(crate) struct EvalArgs {
    /// The manifest; see docs/formats/manifest.md
    #[arg(value_name = "EVAL.toml")]
    manifest: PathBuf,
    /// Where to write the predictions: .csv or .parquet [default: what the manifest says]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run only these models
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    models: Option<Vec<String>>,
    /// Run only one part of the stimuli, e.g. 1/4; the output gets the part's number
    #[arg(long, value_name = "I/N", value_parser = parse_shard, conflicts_with = "limit")]
    shard: Option<Shard>,
    /// Run only the first stimuli; the output gets another name
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Say what would run, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Pictures at once [default: what the manifest says, or 8]
    #[arg(long, value_name = "N", value_parser = parse_batch)]
    batch: Option<NonZeroUsize>,
    /// Where answers are kept [default: .mohs-cache beside the manifest]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,
    /// Keep no answers and look for none
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// How to print what came out
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Which part of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shard {
    number: usize,
    n: usize,
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(number, n)| {
        Some(Shard { number: number.trim().parse().ok()?, n: n.trim().parse().ok()? })
    });
    match parts {
        Some(shard) if 1 <= shard.number && shard.number <= shard.n => Ok(shard),
        _ => Err(format!("expected a part of how many, such as 1/4, found `{text}`")),
    }
}

pub(super) fn parse_batch(text: &str) -> Result<NonZeroUsize, String> {
    let batch = text.parse::<NonZeroUsize>().ok();
    let batch = batch.filter(|batch| batch.get() <= Manifest::MAX_BATCH);
    batch.ok_or_else(|| {
        format!("expected a number from 1 to {}, found `{text}`", Manifest::MAX_BATCH)
    })
}

/// The folder for answers, beside the manifest.
pub(super) const CACHE: &str = ".mohs-cache";

pub(crate) fn run(args: &EvalArgs, ui: &Ui) -> Result<(), CliError> {
    let mut manifest = Manifest::read(&args.manifest)?;
    let folder = folder_of_stimuli(&args.manifest);
    let stimuli_path = folder.join(&manifest.stimuli);
    let stimuli = stimuli_of(&manifest, &stimuli_path)?;
    let part = match (args.shard, args.limit) {
        (Some(Shard { number, n }), _) => Part::Block { number, n },
        (None, Some(n)) => Part::First(n.get()),
        (None, None) => Part::All,
    };
    // Files of outputs are one per model already; a part must not take the place of the whole.
    for side in [&mut manifest.logits, &mut manifest.features].into_iter().flatten() {
        *side = place::output(side, part, None);
    }
    let output = match &args.output {
        Some(output) => output.clone(),
        None => place::output(&folder.join(&manifest.output), part, args.models.as_deref()),
    };
    place::check(&output, &args.manifest, &stimuli_path, &manifest, &folder)?;
    let cache = match (&args.cache, args.no_cache) {
        (_, true) => None,
        (Some(cache), _) => Some(cache.clone()),
        (None, false) => Some(folder.join(CACHE)),
    };
    let engine = args.engine.choose(ui)?;
    let batch = args.batch.or(NonZeroUsize::new(manifest.batch)).unwrap_or(NonZeroUsize::MIN);
    let job = Job {
        manifest: &manifest,
        folder: &folder,
        stimuli: &stimuli,
        stimuli_folder: &folder_of_stimuli(&stimuli_path),
        models: args.models.as_deref(),
        batch,
        decoders: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        cache: cache.as_deref(),
    };
    let plan = evaluate::plan(job, part, &engine)?;
    let on = running(&plan, &engine)
        .map(|engine| format!(", on {} {}", engine.name(), engine.version()));
    ui.say(&format!(
        "models: {}, stimuli: {}, probes: {}{}",
        plan.contenders().len(),
        plan.stimuli().len(),
        plan.probes().len(),
        on.unwrap_or_default()
    ));
    for contender in plan.contenders() {
        match contender {
            Contender::Network(candidate) => introduce(candidate, ui),
            Contender::Endpoint(remote) => introduce_remote(remote, ui),
        }
    }
    if args.dry_run {
        return dry_run(&plan, &output, args.format, ui);
    }
    if plan.contenders().iter().any(|one| matches!(one, Contender::Endpoint(_))) {
        warn_unless_kept(cache.is_some(), ui);
    }
    let account = run_all(&plan, &manifest, &folder, &output, &engine, ui)?;
    ui.say(&format!("written: {}", output.display()));
    let text = match args.format {
        Format::Text => account.text(),
        Format::Json => account.json(),
        Format::Csv => account.csv(),
    };
    ui.data(text.as_bytes())?;
    account.complaint(cache.is_some()).map_or(Ok(()), Err)
}

/// The engine, unless all models are behind endpoints.
fn running<'e>(plan: &Plan<'_>, engine: &'e Engine) -> Option<&'e Engine> {
    let is_here = |contender: &Contender<'_>| matches!(contender, Contender::Network(_));
    plan.contenders().iter().any(is_here).then_some(engine)
}

/// The stimuli of a manifest.
pub(super) fn stimuli_of(manifest: &Manifest, path: &Path) -> Result<Vec<Stimulus>, CliError> {
    let options = ReadOptions { column_map: manifest.map.clone(), ..ReadOptions::default() };
    Ok(read_stimuli(path, &options)?)
}

/// Says what was decided for a model without being told.
fn introduce(candidate: &Candidate, ui: &Ui) {
    let name = candidate.name();
    let spec = candidate.spec();
    ui.say(&format!(
        "{name}: {} outputs, pictures of {} × {} prepared as {} says",
        candidate.n_outputs(),
        spec.width,
        spec.height,
        candidate.prepared_by()
    ));
    if let Some(note) = candidate.labels().note() {
        ui.say(&format!("{name}: {note}"));
    }
    if let Some((layer, n)) = candidate.features() {
        ui.say(&format!("{name}: features are the {n} numbers of `{layer}`"));
    }
    if 0 < candidate.n_other_outputs() {
        ui.say(&format!(
            "{name}: the file has {} more outputs, which are left out",
            candidate.n_other_outputs()
        ));
    }
}

/// Says where a model is asked and what its answers may be.
pub(super) fn introduce_remote(remote: &Remote, ui: &Ui) {
    let entry = remote.endpoint();
    let cap = match entry.cost_cap {
        Some(cap) => format!("at most {cap}"),
        None => "no cap on cost".to_owned(),
    };
    ui.say(&format!(
        "{}: `{}` at {}, {} classes, pictures of at most {} pixels a side, {cap}",
        remote.name(),
        entry.model,
        entry.url,
        remote.classes().len(),
        remote.chat().max_side
    ));
}

/// Says that what is paid for will be forgotten, where it will be.
pub(super) fn warn_unless_kept(is_kept: bool, ui: &Ui) {
    if !is_kept {
        ui.say(
            "--no-cache: no answer is kept, and another run asks and pays for all of them again",
        );
    }
}

fn dry_run(plan: &Plan<'_>, output: &Path, format: Format, ui: &Ui) -> Result<(), CliError> {
    let mut rows = Vec::new();
    for contender in plan.contenders() {
        let (n_known, n_unreadable) = match contender {
            Contender::Network(candidate) => plan.count_known(candidate)?,
            Contender::Endpoint(remote) => {
                plan.count_answered(remote, &plan.connect(remote, None)?)?
            }
        };
        let n_unreadable = n_unreadable * plan.probes().len();
        rows.push((contender.name().clone(), plan.n_rows(), n_known, n_unreadable));
    }
    ui.data(account::dry_run(&rows, output, format).as_bytes())
}

/// How often readers of an unfinished file see more of it.
const FLUSH_EVERY: Duration = Duration::from_secs(2);

fn run_all(
    plan: &Plan<'_>,
    manifest: &Manifest,
    folder: &Path,
    output: &Path,
    engine: &Engine,
    ui: &Ui,
) -> Result<Account, CliError> {
    let started = Instant::now();
    let mut writer = TableWriter::<Prediction>::create_in_view(output, Vec::new().into())?;
    let mut account = Account::new(plan, manifest, output, running(plan, engine));
    let mut flushed = Instant::now();
    for (idx, contender) in plan.contenders().into_iter().enumerate() {
        let started = Instant::now();
        let bar = bar(ui, plan, idx);
        let mut model = ModelAccount::new(contender.name().clone(), plan.probes().len());
        let mut write = |row: &Row<'_>| -> Result<(), CliError> {
            writer.push(row.prediction)?;
            model.add(row);
            bar.inc(1);
            if FLUSH_EVERY <= flushed.elapsed() {
                writer.flush()?;
                flushed = Instant::now();
            }
            Ok(())
        };
        let (tally, spent) = match contender {
            Contender::Network(candidate) => {
                (run_here(plan, manifest, folder, candidate, engine, &mut write, ui)?, None)
            }
            Contender::Endpoint(remote) => {
                let key = endpoint_key::read(remote.endpoint(), remote.name().as_str())?;
                let mut endpoint = plan.connect(remote, key)?;
                endpoint.tell_waits(ui.teller());
                let asked = plan.ask(remote, &endpoint, write).inspect_err(|_| {
                    ui.say(account::paid(remote.name(), &endpoint.tally()).trim_end());
                });
                (asked?, Some(endpoint.tally()))
            }
        };
        bar.finish_and_clear();
        model.end(tally, spent, started.elapsed());
        account.push(model);
    }
    writer.finish()?;
    account.end(started.elapsed());
    Ok(account)
}

/// Runs a model in an engine, and writes its outputs beside its rows where that is wanted.
fn run_here(
    plan: &Plan<'_>,
    manifest: &Manifest,
    folder: &Path,
    candidate: &Candidate,
    engine: &Engine,
    write: &mut impl FnMut(&Row<'_>) -> Result<(), CliError>,
    ui: &Ui,
) -> Result<Tally, CliError> {
    let mut logits = side(manifest.logits.as_deref(), folder, candidate, candidate.n_outputs())?;
    let n_features = candidate.features().map_or(0, |(_, n)| n);
    let mut features = side(manifest.features.as_deref(), folder, candidate, n_features)?;
    let deliver = |row: &Row<'_>| -> Result<(), CliError> {
        if !row.logits.is_empty() {
            logits.as_mut().map_or(Ok(()), |side| side.push(row.prediction, row.logits))?;
            let features = features.as_mut().filter(|_| !row.features.is_empty());
            features.map_or(Ok(()), |side| side.push(row.prediction, row.features))?;
        }
        write(row)
    };
    let tally = plan.run(candidate, engine, deliver)?;
    for side in [logits, features].into_iter().flatten() {
        let path = side.finish()?;
        ui.say(&format!("written: {}", path.display()));
    }
    Ok(tally)
}

fn bar(ui: &Ui, plan: &Plan<'_>, idx: usize) -> ProgressBar {
    let contenders = plan.contenders();
    let (name, n) = (contenders[idx].name(), contenders.len());
    let what = if n == 1 { name.to_string() } else { format!("{name} ({} of {n})", idx + 1) };
    ui.progress_of_images(plan.n_rows(), &what)
}

fn side(
    path: Option<&Path>,
    folder: &Path,
    candidate: &Candidate,
    n_columns: usize,
) -> Result<Option<SideTable>, CliError> {
    match path {
        Some(path) => Ok(Some(SideTable::create(&folder.join(path), candidate.name(), n_columns)?)),
        None => Ok(None),
    }
}

/// Files that side tables of these models would have.
pub(super) fn side_files(manifest: &Manifest, folder: &Path) -> Vec<PathBuf> {
    let folders = manifest.logits.iter().chain(&manifest.features);
    folders
        .flat_map(|side| {
            let paths =
                |model: &mohs_data::ModelEntry| side_table::paths(&folder.join(side), &model.name);
            manifest.models.iter().flat_map(paths).collect::<Vec<_>>()
        })
        .collect()
}

impl From<EvaluateError> for CliError {
    fn from(error: EvaluateError) -> Self {
        use evaluate::ModelProblem;
        match error {
            EvaluateError::Model { model, source } => {
                let problem = match *source {
                    ModelProblem::Network(error) => CliError::from(error),
                    ModelProblem::Labels(error) => CliError::from(error),
                    ModelProblem::Preparation(error) => CliError::from(error),
                    ModelProblem::Probe(error) => CliError::from(error),
                    ModelProblem::Features(error) => CliError::input(error.to_string())
                        .hint("`mohs network show --values` lists the values; set `layer` to one"),
                    ModelProblem::OtherLength { .. } => CliError::input(source.to_string()),
                };
                problem.while_doing(format!("the model `{model}` cannot be evaluated"))
            }
            EvaluateError::Endpoint { model, source } => {
                CliError::from(*source).while_doing(format!("the model `{model}` cannot be asked"))
            }
            EvaluateError::Probe(error) => error.into(),
            EvaluateError::UnknownModel { .. } => {
                CliError::input(error.to_string()).hint("--models takes names with commas between")
            }
            EvaluateError::AllMissing { .. } => CliError::input(error.to_string())
                .hint("files of stimuli are relative to the table that lists them"),
            EvaluateError::NoStimuli { .. } => {
                CliError::input(error.to_string()).hint("make fewer shards")
            }
            EvaluateError::Journal(error) => CliError::surroundings(error.to_string())
                .because(error.source)
                .hint("name another folder with --cache DIR, or keep nothing with --no-cache"),
            EvaluateError::File(error) => error.into(),
        }
    }
}
