//! `mohs attack`: the smallest ε that changes a model's answer, per picture and attack.
//!
//! The work is done by `mohs_vision::min_epsilon`; this file asks for it, shows how far it is and
//! says what came out.

mod account;
mod request;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use mohs_data::format::{TableWriter, atomic, folder_of_stimuli};
use mohs_data::{Label, Manifest, MinEpsilon, Seed, Stimulus, nearest};
use mohs_vision::engine::Engine;
use mohs_vision::evaluate::side_table::cell;
use mohs_vision::evaluate::{self, Candidate, EvaluateError, ModelProblem, Part};
use mohs_vision::labels::LabelError;
use mohs_vision::min_epsilon::{
    self, AttemptRow, Delivered, ExampleWriter, MinEpsilonError, Mode, Noise, is_for_examples,
};
use mohs_vision::network::NetworkError;
use mohs_vision::probe::attack::white_box::WhiteBoxError;
use mohs_vision::probe::attack::{Preset, SettingError};

use super::adapt::known::some;
use super::eval::stimuli_of;
use super::import::{check_output, check_overwrites_none};
use super::score::parse_mapping;
use crate::args::Format;
use crate::engine_args::EngineArgs;
use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

use account::Account;
use request::Request;

/// Find the smallest ε that fools a model, per picture and attack
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs attack model.onnx --stimuli stimuli.csv
  mohs attack model.onnx --stimuli stimuli.csv --attacks pgd,fgsm,square --mode fast
  mohs attack eval.toml --models standard,defended --attacks pgd --output min_epsilon.parquet
  mohs attack model.onnx --stimuli photos/ --attacks pgd --set pgd.steps=20 --grid 1/255,2/255,4/255
  mohs attack --list                    attacks, their settings and presets

An attack succeeds at an ε if the picture it ends with changes the model's answer; changes are
measured on pixels from 0 to 1, before the model's own preparation. Success need not grow with ε:
`exact` is the answer of trying the whole grid, `fast` follows the margin, tries smaller ε that are in
doubt and audits a share of pictures. A picture that no ε changes is a row that says so, and so is one
that the model gets wrong to begin with.

Attempts are kept in .mohs-cache beside the model as they come: a run that was stopped goes on where
it stopped. Rows do not depend on --batch, --threads or the order of work.
`mohs score attacks` holds the rows against how hard people find the pictures.")]
pub(crate) struct AttackArgs {
    /// The model, or an evaluation whose models are attacked one after the other
    #[arg(value_name = "MODEL.onnx|EVAL.toml", required_unless_present = "list")]
    model: Option<PathBuf>,
    /// The pictures with their labels: a table, a folder, a COCO file or a list
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// Attacks, comma-separated; `all` are the fourteen of the paper, `l2` and `minimal` are groups
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_value = "all")]
    attacks: Vec<String>,
    /// Where settings come from: paper or torchattacks-3.5.1
    #[arg(long, default_value_t = Preset::Paper, value_name = "NAME")]
    preset: Preset,
    /// A setting of an attack, e.g. pgd.steps=20 (can be repeated)
    #[arg(long, value_name = "ATTACK.NAME=VALUE", value_parser = request::parse_setting)]
    set: Vec<(String, String, String)>,
    /// Strengths: paper (140 values up to 0.0495; ×100 in L2), mvt, values or start:stop:step
    #[arg(long, default_value = "paper", value_name = "GRID", allow_hyphen_values = true)]
    grid: String,
    /// How the smallest ε is looked for
    #[arg(long, value_enum, default_value_t = ModeArg::Exact)]
    mode: ModeArg,
    /// The share of pictures that `fast` audits by an exact search
    #[arg(long, default_value_t = 0.02, value_name = "SHARE", value_parser = parse_share)]
    audit: f64,
    /// Aim at this answer instead of any wrong one
    #[arg(long, value_name = "LABEL")]
    target: Option<String>,
    /// Where to write the rows: .csv or .parquet
    #[arg(long, short, default_value = "min_epsilon.csv", value_name = "FILE")]
    output: PathBuf,
    /// Also look for the smallest ε that puts wrong answers right, and write it here
    #[arg(long, value_name = "FILE")]
    correct: Option<PathBuf>,
    /// Attacks that put answers right; fgsm takes two steps here
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_value = "fgsm")]
    correct_attacks: Vec<String>,
    /// Strengths of those attacks
    #[arg(long, default_value = "mvt-correct", value_name = "GRID", allow_hyphen_values = true)]
    correct_grid: String,
    /// A folder for changed pictures: as PNG and as exact numbers
    #[arg(long, value_name = "DIR")]
    examples: Option<PathBuf>,
    /// Write every attempt with its calls: stimulus, attack, epsilon, reached, calls
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,
    /// How pictures are prepared: a preset (torchvision, timm, clip, tensorflow) or a table as in
    /// eval.toml, e.g. '{ mean = [0, 0, 0], sd = [1, 1, 1] }' [default: what the model says]
    #[arg(long, value_name = "HOW")]
    preprocess: Option<String>,
    /// The model's classes in the order of its outputs: a file, or imagenet-1k
    #[arg(long, value_name = "FILE")]
    classes: Option<String>,
    /// How classes become labels: as-is, subset or imagenet-16
    #[arg(long, value_name = "HOW")]
    answer: Option<String>,
    /// Read our column of the stimuli from one of yours, e.g. label=class (can be repeated)
    #[arg(long, value_name = "OURS=YOURS", value_parser = parse_mapping)]
    map: Vec<(String, String)>,
    /// The model's name in the rows [default: its file's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Attack only these models of the evaluation
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    models: Option<Vec<String>>,
    /// Attack only the first pictures
    #[arg(long, value_name = "N", value_parser = parse_count)]
    limit: Option<NonZeroUsize>,
    /// Seed of random starts, noise and the audit
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Whether every ε draws its own random numbers, as looping over torchattacks does
    #[arg(long, value_enum, default_value_t = NoiseArg::Common)]
    noise: NoiseArg,
    /// Pictures at work at the same time: memory, not results
    #[arg(long, default_value = "16", value_name = "N", value_parser = parse_count)]
    batch: NonZeroUsize,
    /// Pictures that the engine gets at once; more are quicker on a GPU, but rows may then depend
    /// on --batch and --threads
    #[arg(long, default_value = "1", value_name = "N", value_parser = parse_count)]
    engine_batch: NonZeroUsize,
    /// Where attempts are kept [default: .mohs-cache beside the model]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,
    /// Keep no attempts and look for none
    #[arg(long)]
    no_cache: bool,
    /// List attacks with their settings, and do nothing
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// How to print what came out
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How the smallest ε is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ModeArg {
    /// From below until the first success: the answer of the whole grid
    Exact,
    /// Along the margin, with checks and an audit
    Fast,
    /// Every ε from scratch: slow, to check the others
    Sweep,
}

/// Where the random numbers of one ε come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum NoiseArg {
    /// A larger ε scales the same noise: steadier
    Common,
    /// Every ε draws its own: what published sweeps did; `fast` finds less of it
    Fresh,
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("expected a share from 0 to 1, found `{text}`"))
}

fn parse_count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| format!("expected a whole number from 1 on, found `{text}`"))
}

const CACHE: &str = ".mohs-cache";

pub(crate) fn run(args: &AttackArgs, ui: &Ui) -> Result<(), CliError> {
    if args.list {
        return ui.data(account::list(args.format)?.as_bytes());
    }
    let request = Request::new(args)?;
    let manifest = request.manifest();
    let stimuli_path = request.folder().join(&manifest.stimuli);
    let mut stimuli = stimuli_of(manifest, &stimuli_path)?;
    check_files(args, &request, &stimuli_path)?;
    let engine = args.engine.choose(ui)?;
    let job = evaluate::Job {
        manifest,
        folder: request.folder(),
        stimuli: &stimuli,
        stimuli_folder: &folder_of_stimuli(&stimuli_path),
        models: args.models.as_deref(),
        batch: NonZeroUsize::MIN,
        decoders: NonZeroUsize::MIN,
        cache: None,
    };
    let checked = evaluate::plan(job, Part::All, &engine)
        .map_err(|error| refused(error, &stimuli, &stimuli_path))?;
    if let Some(remote) = checked.remotes().first() {
        let message = format!("the model `{}` is behind an endpoint", remote.name());
        return Err(CliError::input(message)
            .hint("attacks need a model's own numbers; name the models in files with --models"));
    }
    let decoding = job.decoding();
    let candidates = checked.into_candidates();
    if let Some(limit) = args.limit {
        stimuli.truncate(limit.get());
    }
    let cache = match (&args.cache, args.no_cache) {
        (_, true) => None,
        (Some(cache), _) => Some(cache.clone()),
        (None, false) => Some(request.folder().join(CACHE)),
    };
    ui.say(&format!(
        "models: {}, pictures: {}, attacks: {}, seed {}, on {} {}",
        candidates.len(),
        stimuli.len(),
        request.attacks().len(),
        args.seed,
        engine.name(),
        engine.version(),
    ));
    let jobs = Jobs {
        args,
        request: &request,
        stimuli: &stimuli,
        stimuli_folder: folder_of_stimuli(&stimuli_path),
        decoding,
        cache,
    };
    let account = attack_all(&jobs, &candidates, &engine, ui)?;
    ui.data(account.shown(args.format)?.as_bytes())?;
    account.complaint().map_or(Ok(()), Err)
}

/// Says which stimulus a model cannot be asked about, and what to type.
fn refused(error: EvaluateError, stimuli: &[Stimulus], path: &Path) -> CliError {
    let unknown = match &error {
        EvaluateError::Model { source, .. } => match source.as_ref() {
            ModelProblem::Labels(LabelError::UnknownLabel { label, .. }) => Some(label.clone()),
            _ => None,
        },
        _ => None,
    };
    let cli = CliError::from(error);
    let place = unknown.and_then(|label| stimuli.iter().position(|one| one.label == label));
    match place {
        None => cli,
        Some(idx) => cli
            .cause(format!(
                "the first stimulus with it is `{}`, row {} of {}",
                stimuli[idx].id,
                idx + 1,
                path.display()
            ))
            .hint(
                "here: --classes FILE names the model's classes, --answer says how they become \
                 labels, and --map label=COLUMN takes another column of the stimuli",
            ),
    }
}

/// Where a file will be, however its path is spelled.
fn place_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
    path.file_name().map_or(parent.clone(), |name| parent.join(name))
}

/// Refuses outputs that cannot be written or are among the files read.
fn check_files(args: &AttackArgs, request: &Request, stimuli: &Path) -> Result<(), CliError> {
    let mut inputs = vec![stimuli.to_owned()];
    inputs.extend(args.model.clone());
    inputs.extend(request.manifest().models.iter().map(|model| request.folder().join(&model.file)));
    for output in [Some(&args.output), args.correct.as_ref()].into_iter().flatten() {
        check_output(output)?;
    }
    let outputs = [Some(&args.output), args.correct.as_ref(), args.trace.as_ref()];
    let outputs: Vec<&PathBuf> = outputs.into_iter().flatten().collect();
    for (idx, output) in outputs.iter().enumerate() {
        check_overwrites_none(output, &inputs)?;
        if output.is_dir() {
            return Err(CliError::input(format!("`{}` is a folder, not a file", output.display()))
                .hint("name another file"));
        }
        if outputs[..idx].iter().any(|other| place_of(other) == place_of(output)) {
            return Err(CliError::input(format!("`{}` is asked for twice", output.display()))
                .hint("--output, --correct and --trace are different files"));
        }
        let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
            return Err(CliError::input(format!("there is no folder `{}`", parent.display()))
                .hint("make it first, or name another file"));
        }
    }
    if let Some(trace) = &args.trace
        && trace.extension().is_some_and(|ending| ending == "parquet")
    {
        return Err(CliError::input(format!(
            "--trace is written as CSV, and `{}` says Parquet",
            trace.display()
        ))
        .hint("end its name in .csv"));
    }
    if let Some(examples) = &args.examples {
        if examples.is_dir() && !is_for_examples(examples) {
            return Err(CliError::input(format!(
                "the folder `{}` holds something else than examples",
                examples.display()
            ))
            .hint("name a new or empty folder with --examples"));
        }
        folder::make(examples)?;
    }
    Ok(())
}

/// What all models have in common.
struct Jobs<'a> {
    args: &'a AttackArgs,
    request: &'a Request,
    stimuli: &'a [mohs_data::Stimulus],
    stimuli_folder: PathBuf,
    decoding: mohs_vision::pixels::DecodeOptions,
    cache: Option<PathBuf>,
}

fn attack_all(
    jobs: &Jobs<'_>,
    candidates: &[Candidate],
    engine: &Engine,
    ui: &Ui,
) -> Result<Account, CliError> {
    let args = jobs.args;
    let started = Instant::now();
    let target = args.target.as_ref().map(Label::new);
    let mut plans = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let job = min_epsilon::Job {
            candidate,
            stimuli: jobs.stimuli,
            folder: &jobs.stimuli_folder,
            decoding: &jobs.decoding,
            attacks: jobs.request.attacks(),
            corrections: jobs.request.corrections(),
            target: target.as_ref(),
            mode: match args.mode {
                ModeArg::Exact => Mode::Exact,
                ModeArg::Fast => Mode::Fast { audited: args.audit },
                ModeArg::Sweep => Mode::Sweep,
            },
            seed: Seed(args.seed),
            noise: match args.noise {
                NoiseArg::Common => Noise::Common,
                NoiseArg::Fresh => Noise::Fresh,
            },
            n_at_once: args.batch,
            engine_batch: args.engine_batch,
            cache: jobs.cache.as_deref(),
            keeps_examples: args.examples.is_some(),
            keeps_attempts: args.trace.is_some(),
        };
        let plan = min_epsilon::plan(job, engine).map_err(|error| {
            let what = format!("the model `{}` cannot be attacked as asked", candidate.name());
            CliError::from(error).while_doing(what)
        })?;
        if let Some(note) = candidate.labels().note() {
            ui.say(&format!("{}: {note}", candidate.name()));
        }
        if plan.is_model_random() {
            ui.say(&format!(
                "{}: the model draws random numbers; rows will differ from run to run",
                candidate.name()
            ));
        }
        plans.push((candidate, plan));
    }
    let mut writer = TableWriter::<MinEpsilon>::create(&args.output, Vec::new().into())?;
    let mut corrected = match &args.correct {
        Some(path) => Some(TableWriter::<MinEpsilon>::create(path, Vec::new().into())?),
        None => None,
    };
    let mut examples = args.examples.as_deref().map(ExampleWriter::begin).transpose()?;
    let mut trace =
        "model,stimulus,attack,goal,epsilon,reached,margin,least,n_forward,n_gradient\n".to_owned();
    let mut account = Account::new(jobs.request, args, engine);
    for (candidate, plan) in &plans {
        let bar = ui.progress(jobs.stimuli.len(), &format!("attacking {}", candidate.name()));
        let tally = plan.run(engine, |stimulus, delivered: Delivered| -> Result<(), CliError> {
            for row in &delivered.rows {
                writer.push(row)?;
                account.add(row);
            }
            for row in &delivered.corrected {
                corrected.as_mut().map_or(Ok(()), |writer| writer.push(row))?;
                account.add_corrected(row);
            }
            for example in &delivered.examples {
                if let Some(examples) = &mut examples {
                    examples.push(candidate.name(), &stimulus.id, example)?;
                }
            }
            for attempt in &delivered.attempts {
                push_attempt(&mut trace, candidate, stimulus, attempt);
            }
            bar.inc(1);
            Ok(())
        })?;
        bar.finish_and_clear();
        account.count(tally);
    }
    writer.finish()?;
    ui.say(&format!("written: {}", args.output.display()));
    if let (Some(writer), Some(path)) = (corrected, &args.correct) {
        writer.finish()?;
        ui.say(&format!("written: {}", path.display()));
    }
    if let (Some(writer), Some(path)) = (examples, &args.examples) {
        ui.say(&format!("written: {} examples in {}", writer.n_written(), path.display()));
        writer.finish()?;
    }
    if let Some(path) = &args.trace {
        atomic::write_file(path, trace.as_bytes())?;
        ui.say(&format!("written: {}", path.display()));
    }
    account.end(started.elapsed());
    Ok(account)
}

fn push_attempt(
    trace: &mut String,
    candidate: &Candidate,
    stimulus: &mohs_data::Stimulus,
    attempt: &AttemptRow,
) {
    let cells = [
        cell(candidate.name().as_str()),
        cell(stimulus.id.as_str()),
        attempt.attack.to_owned(),
        attempt.goal.as_str().to_owned(),
        attempt.epsilon.to_string(),
        u8::from(attempt.is_reached).to_string(),
        attempt.margin.to_string(),
        attempt.least.to_string(),
        attempt.n_forward.to_string(),
        attempt.n_gradient.to_string(),
    ];
    trace.push_str(&cells.join(","));
    trace.push('\n');
}

impl From<SettingError> for CliError {
    fn from(error: SettingError) -> Self {
        Self::input(error.to_string()).hint("`mohs attack --list` shows attacks and their settings")
    }
}

impl From<MinEpsilonError> for CliError {
    fn from(error: MinEpsilonError) -> Self {
        match error {
            MinEpsilonError::Model(error) => of_white_box(error),
            MinEpsilonError::NoGradient { attack, source } => of_white_box(source)
                .while_doing(format!("the attack `{attack}` needs gradients of this model"))
                .hint("`square` asks for answers only: --attacks square"),
            MinEpsilonError::NotTargetable { .. } => Self::input(error.to_string())
                .hint("leave it out of --attacks, or leave --target away"),
            MinEpsilonError::UnknownTarget { ref found, ref known } => {
                let names: Vec<&str> = known.iter().map(Label::as_str).collect();
                Self::input(error.to_string()).hint(match nearest(found.as_str(), names.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("its labels are: {}", some(&names)),
                })
            }
            MinEpsilonError::TooFewLabels { .. } => Self::input(error.to_string())
                .hint("a model with one output, such as a sigmoid, needs a second one: 1 − p"),
            MinEpsilonError::TooFewForRatio { attack, .. } => Self::input(error.to_string())
                .hint(format!("--set {attack}.loss=ce or --set {attack}.loss=margin")),
            MinEpsilonError::NoTruth => {
                Self::input(error.to_string()).hint("name the classes with --classes FILE")
            }
            MinEpsilonError::Journal(error) => Self::surroundings(error.to_string())
                .because(error.source)
                .hint("name another folder with --cache DIR, or keep nothing with --no-cache"),
        }
    }
}

fn of_white_box(error: WhiteBoxError) -> CliError {
    match error {
        WhiteBoxError::Network(error) => CliError::from(error),
        WhiteBoxError::Build(error) => CliError::from(NetworkError::Derive(error.into())),
        WhiteBoxError::Cut(error) => CliError::input(error.to_string()),
        error @ WhiteBoxError::LargestOfSeveral => {
            CliError::input(error.to_string()).hint("set `aggregate` to mean or sum in eval.toml")
        }
        error @ (WhiteBoxError::OtherLength { .. } | WhiteBoxError::Flat { .. }) => {
            CliError::input(error.to_string())
        }
    }
}

/// The parts of an evaluation that a model file alone does not say.
fn manifest_of(args: &AttackArgs, model: &Path) -> Result<Manifest, CliError> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let stem = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = args.name.as_deref().unwrap_or(&stem);
    let mut text = format!(
        "version = 1\nname = {0}\n[[model]]\nname = {0}\nfile = {1}\n",
        quoted(name),
        quoted(&model.to_string_lossy())
    );
    if let Some(how) = &args.preprocess {
        let is_table = how.trim_start().starts_with('{');
        let value = if is_table { how.clone() } else { quoted(how) };
        text.push_str(&format!("preprocess = {value}\n"));
    }
    if let Some(classes) = &args.classes {
        text.push_str(&format!("classes = {}\n", quoted(classes)));
    }
    if let Some(answer) = &args.answer {
        text.push_str(&format!("answer = {}\n", quoted(answer)));
    }
    Manifest::parse(Path::new("the flags of mohs attack"), &text).map_err(|error| {
        CliError::from(error).hint("--preprocess, --classes and --answer are as in eval.toml")
    })
}
