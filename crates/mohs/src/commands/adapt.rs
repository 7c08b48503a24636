//! `mohs adapt`: what does a model know, if it is asked only a part of a ladder?
//!
//! The arithmetic is `mohs_score::adaptive::ladder`; this file brings together what is asked, who
//! answers (`adapt/respondent.rs`) and what came out.

mod endpoint;
pub(crate) mod known;
mod network;
mod replay;
mod respondent;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mohs_data::format::{ReadOptions, folder_of_stimuli, read_stimuli, write_all};
use mohs_data::{
    AdaptEntry, Manifest, ModelEntry, ModelName, Prediction, RoutingEntry, Seed, Stimulus,
};
use mohs_report::{AskedRow, Summary, asked_csv};
use mohs_score::adaptive::ladder::{
    AdaptiveTest, AdaptiveTestFinding, Asked, Design, EstimatorKind, Ladder, LadderError, NoClass,
    ReferenceModels, Request, Routing, RoutingRow, StrataBy, Tags, Unanswered, Width, findings,
};
use mohs_vision::evaluate::{self, Contender, Job, Lack, Part, Tally};

use super::score::{Files, OutputArgs, finish};
use crate::endpoint_key;
use crate::engine_args::EngineArgs;
use crate::error::CliError;
use crate::ui::Ui;

use endpoint::AskedEndpoint;
use known::Known;
use network::AskedNetwork;
use replay::Replay;
use respondent::{MOST_SHOWN, Reply, Respondent, check_reached};

/// Estimate a model's accuracy and score from a part of the stimuli
///
/// Asks a share of a ladder (stimuli with levels), in rounds: more where answers vary more, by what
/// earlier rounds and reference models say. Estimates what a full run would say, without bias and
/// with intervals.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs adapt eval.toml --model resnet50 --budget 0.25
  mohs adapt eval.toml --model resnet50 --references predictions.csv --output results
  mohs adapt resnet50.onnx --stimuli stimuli.csv --width 0.03
  mohs adapt predictions.csv --model vit --stimuli stimuli.csv --references predictions.csv

Designs: neyman (more where answers vary more), static and static-K (the same everywhere), gre,
gre-appendix and gre-steep (two rounds, as in the paper). Estimators: control-variate, stratified,
aipw, hierarchical-logit; for gre also tier-pooled, sitting-means, raw.
Answers are kept in .mohs-cache as `mohs eval` keeps them: a test that was stopped goes on where it
stopped. With --output, asked.csv lists what was asked and why, asked-predictions.csv what was said.
A model behind an endpoint is a model of eval.toml like any other. When it cannot be reached, or the
cap on its cost is reached, the test ends with exit code 1, and the same command goes on with it.")]
pub(crate) struct AdaptArgs {
    /// The model under test: an eval.toml, an ONNX file, or predictions to replay
    #[arg(value_name = "EVAL.toml|MODEL.onnx|PREDICTIONS")]
    tested: PathBuf,
    /// Which model is under test, where there are several
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The ladder: stimuli with `level`, and with `attribute` if they have one
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// Share of the stimuli that may be asked [default: 0.25]
    #[arg(long, value_name = "SHARE", value_parser = parse_number, allow_hyphen_values = true)]
    budget: Option<f64>,
    /// How stimuli are chosen [default: neyman]
    #[arg(long, value_name = "NAME")]
    design: Option<String>,
    /// How answers become estimates [default: control-variate; for gre: hierarchical-logit]
    #[arg(long, value_name = "NAME")]
    estimator: Option<String>,
    /// Predictions of models that answered everything (can be repeated)
    #[arg(long, value_name = "FILE")]
    references: Vec<PathBuf>,
    /// Ask no more once the interval of the accuracy is this wide, from end to end
    #[arg(long, value_name = "WIDTH", value_parser = parse_number, allow_hyphen_values = true)]
    width: Option<f64>,
    /// --width holds for every attribute
    #[arg(long, requires = "width")]
    per_attribute: bool,
    /// Levels from easy to hard, where they are words of your own
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    levels: Vec<String>,
    /// Put neighbouring levels into so many groups
    #[arg(long, value_name = "N")]
    level_groups: Option<usize>,
    /// What levels count in the score, from easy to hard [default: 1, 2, 4 …]
    #[arg(long, value_name = "W,W,W", value_delimiter = ',', value_parser = parse_number,
          allow_hyphen_values = true)]
    weights: Vec<f64>,
    /// By what stimuli are put together [default: as finely as the budget, or the questions that a
    /// --width takes, allow]
    #[arg(long, value_enum, value_name = "WHAT")]
    strata: Option<StrataArg>,
    /// What refusals and answers that name no class count as [default: wrong]
    #[arg(long, value_enum, value_name = "WHAT")]
    without_class: Option<WithoutClass>,
    /// Pictures at once [default: what the manifest says, or 8]
    #[arg(long, value_name = "N", value_parser = super::eval::parse_batch)]
    batch: Option<NonZeroUsize>,
    /// Where answers are kept [default: .mohs-cache beside the manifest or the model]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,
    /// Keep no answers and look for none
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Takes any number: what it may be is for the ladder to say, as it does of a number in eval.toml.
fn parse_number(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("expected a number, found `{text}`"))
}

/// By what stimuli are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StrataArg {
    /// Class, attribute and level
    ClassAttributeLevel,
    /// Attribute and level
    AttributeLevel,
    /// Level alone
    Level,
}

impl StrataArg {
    fn strata_by(self) -> StrataBy {
        match self {
            Self::ClassAttributeLevel => StrataBy::ClassAttributeLevel,
            Self::AttributeLevel => StrataBy::AttributeLevel,
            Self::Level => StrataBy::Level,
        }
    }
}

/// What a refusal, or an answer that names no class, counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum WithoutClass {
    /// A wrong answer
    #[default]
    Wrong,
    /// No answer: the stimulus is left out
    LeftOut,
}

/// What was asked and why, in the output folder.
const ASKED: &str = "asked.csv";
/// What was said, in the output folder.
const ASKED_PREDICTIONS: &str = "asked-predictions.csv";

/// How often intervals should hold the truth.
const CONFIDENCE: f64 = 0.95;

/// How the test is done, whoever said so.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) budget: f64,
    /// Whether somebody said so: no design may ask more.
    pub(crate) is_budget_given: bool,
    pub(crate) design: Design,
    pub(crate) estimator: EstimatorKind,
    pub(crate) width: Option<Width>,
    pub(crate) levels: Vec<String>,
    pub(crate) level_groups: Option<usize>,
    pub(crate) weights: Vec<f64>,
    pub(crate) strata: Option<StrataBy>,
    pub(crate) without_class: WithoutClass,
    pub(crate) seed: Seed,
}

impl Rules {
    /// The default design with a budget.
    pub(crate) fn new(budget: f64, seed: Seed) -> Self {
        Self {
            budget,
            is_budget_given: false,
            design: Design::Neyman,
            estimator: EstimatorKind::ControlVariate,
            width: None,
            levels: Vec::new(),
            level_groups: None,
            weights: Vec::new(),
            strata: None,
            without_class: WithoutClass::default(),
            seed,
        }
    }
}

/// What came out of a test.
pub(crate) struct Tested {
    pub(crate) finding: AdaptiveTestFinding,
    pub(crate) asked: Vec<AskedRow>,
    pub(crate) predictions: Vec<Prediction>,
}

pub(crate) fn run(args: &AdaptArgs, ui: &Ui) -> Result<(), CliError> {
    if known::is_evaluation(&args.tested) {
        let manifest = Manifest::read(&args.tested)
            .map_err(|error| CliError::from(error).while_doing("cannot read the evaluation"))?;
        return run_asked(args, manifest, &folder_of_stimuli(&args.tested), ui);
    }
    if !args.tested.exists() {
        return Err(CliError::input(format!("there is no file `{}`", args.tested.display()))
            .hint("name an eval.toml, an ONNX file, or predictions to replay"));
    }
    let stimuli = args.stimuli.as_deref().ok_or_else(|| {
        CliError::input("nothing says what the model is asked about")
            .hint("--stimuli PATH: a table of stimuli with the column `level`")
    })?;
    if known::is_model(&args.tested) {
        // The cache lies beside the model; its own paths are seen from there.
        let folder = args.tested.parent().unwrap_or(Path::new("")).to_owned();
        let file = PathBuf::from(args.tested.file_name().unwrap_or_default());
        let stem = args.tested.file_stem().unwrap_or_default().to_string_lossy();
        let name = args.model.clone().unwrap_or_else(|| stem.into_owned());
        let mut manifest = Manifest::new(&name);
        manifest.models = vec![ModelEntry::new(ModelName::new(name), file)];
        manifest.stimuli = absolute(stimuli)?;
        return run_asked(args, manifest, &folder, ui);
    }
    let stimuli = stimuli_at(stimuli, &ReadOptions::default())?;
    let known = Known::read(std::slice::from_ref(&args.tested), &stimuli, ui)?;
    let model = known.model_named(args.model.as_deref())?;
    let rules = rules(args, &AdaptEntry::default())?;
    let mut respondent = Replay::new(&known, &model, &stimuli, rules.without_class)?;
    let references = references(&args.references, &model, &stimuli, &rules, ui)?;
    let output = Some(&args.output);
    let tested = test(&mut respondent, &stimuli, references.as_ref(), &rules, output, ui)?;
    report(args, tested, model, ui)
}

/// A model in a file or behind an endpoint, under the evaluation that says how it is asked.
fn run_asked(
    args: &AdaptArgs,
    mut manifest: Manifest,
    folder: &Path,
    ui: &Ui,
) -> Result<(), CliError> {
    if let Some(stimuli) = &args.stimuli {
        manifest.stimuli = absolute(stimuli)?;
    }
    // A test is about stimuli as they are.
    manifest.probes.clear();
    manifest.logits = None;
    manifest.features = None;
    let names: Vec<&str> = manifest.models.iter().map(|model| model.name.as_str()).collect();
    let file = args.tested.display().to_string();
    let model = match (args.model.as_deref(), names.as_slice()) {
        (Some(name), _) if names.contains(&name) => name.to_owned(),
        (None, [only]) => (*only).to_owned(),
        (Some(name), _) => return Err(known::unknown_model(&file, name, &names)),
        (None, _) => {
            return Err(CliError::input(format!("{file} has {} models", names.len()))
                .hint(format!("say which is under test with --model, e.g. {}", names[0])));
        }
    };
    let entry = manifest.adapt.clone().unwrap_or_default();
    let rules = rules(args, &entry)?;
    let stimuli_path = folder.join(&manifest.stimuli);
    let options = ReadOptions { column_map: manifest.map.clone(), ..ReadOptions::default() };
    let stimuli = stimuli_at(&stimuli_path, &options)?;
    let paths = match args.references.as_slice() {
        [] => entry.references.iter().map(|path| folder.join(path)).collect(),
        given => given.to_vec(),
    };
    let references = references(&paths, &model, &stimuli, &rules, ui)?;
    let cache = match (&args.cache, args.no_cache) {
        (_, true) => None,
        (Some(cache), _) => Some(cache.clone()),
        (None, false) => Some(folder.join(super::eval::CACHE)),
    };
    let engine = args.engine.choose(ui)?;
    let only = [model.clone()];
    let job = Job {
        manifest: &manifest,
        folder,
        stimuli: &stimuli,
        stimuli_folder: &folder_of_stimuli(&stimuli_path),
        models: Some(&only),
        batch: args.batch.or(NonZeroUsize::new(manifest.batch)).unwrap_or(NonZeroUsize::MIN),
        decoders: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        cache: cache.as_deref(),
    };
    let plan = evaluate::plan(job, Part::All, &engine)?;
    let mut respondent: Box<dyn Respondent> = match plan.contenders()[0] {
        Contender::Network(candidate) => Box::new(AskedNetwork {
            name: &model,
            stimuli: &stimuli,
            inquiry: plan.inquire(candidate, &engine)?,
            tally: Tally::default(),
        }),
        Contender::Endpoint(remote) => {
            super::eval::introduce_remote(remote, ui);
            super::eval::warn_unless_kept(cache.is_some(), ui);
            let key = endpoint_key::read(remote.endpoint(), remote.name().as_str())?;
            let mut endpoint = plan.connect(remote, key)?;
            endpoint.tell_waits(ui.teller());
            Box::new(AskedEndpoint {
                plan: &plan,
                remote,
                endpoint,
                stimuli: &stimuli,
                n_told: 0,
                n_unmatched: 0,
                n_refused: 0,
            })
        }
    };
    let output = Some(&args.output);
    let tested = test(&mut *respondent, &stimuli, references.as_ref(), &rules, output, ui)?;
    report(args, tested, manifest.name.clone(), ui)
}

/// Asks in rounds until the design is done, and evaluates what came back.
fn test(
    respondent: &mut dyn Respondent,
    stimuli: &[Stimulus],
    references: Option<&ReferenceModels>,
    rules: &Rules,
    output: Option<&OutputArgs>,
    ui: &Ui,
) -> Result<Tested, CliError> {
    rules.estimator.check(&rules.design)?;
    let ladder = ladder(stimuli, rules)?;
    let hints = references.map(|references| references.hints(&ladder));
    let mut test = AdaptiveTest::new(
        &ladder,
        hints.as_ref(),
        &rules.design,
        rules.budget,
        rules.width,
        rules.seed,
    )?;
    check_budget(&test, rules, &ladder, ui)?;
    // What cannot be written must not be paid for.
    output.map_or(Ok(()), |output| {
        output.prepare(&[ASKED, ASKED_PREDICTIONS], |found| found.adaptive_test = None)
    })?;
    let mut replies: Vec<Reply> = Vec::new();
    for round in 1.. {
        let questions = test.next_round()?;
        if questions.is_empty() {
            break;
        }
        ui.say(&format!("round {round}: {} stimuli", questions.len()));
        let positions: Vec<usize> = questions.iter().map(|question| question.stimulus).collect();
        let is_kept = respondent.keeps_answers();
        let said = respondent
            .ask(&positions)
            .and_then(|said| check_reached(round, &said, is_kept).map(|()| said))
            .inspect_err(|_| respondent.remarks().iter().for_each(|remark| ui.say(remark)))?;
        let is_right = |(reply, idx): (&Reply, &usize)| {
            known::is_right(&reply.prediction, &stimuli[*idx], rules.without_class)
        };
        test.answer(&said.iter().zip(&positions).map(is_right).collect::<Vec<_>>());
        replies.extend(said);
    }
    let record = test.into_record();
    let n_known = respondent.n_from_cache();
    if 0 < n_known {
        ui.say(&format!("{n_known} answers were known from an earlier run"));
    }
    respondent.remarks().iter().for_each(|remark| ui.say(remark));
    list_without_class(&replies, rules.without_class, ui);
    let n_of = |lack| replies.iter().filter(|reply| reply.lack == Some(lack)).count();
    let request = Request {
        model: respondent.name(),
        design: &rules.design,
        estimator: rules.estimator,
        budget: rules.budget,
        width: rules.width,
        references: references.map_or(&[], ReferenceModels::names),
        are_strata_chosen: rules.strata.is_some(),
        confidence: CONFIDENCE,
        seed: rules.seed,
        spent: respondent.spent(),
        no_class: NoClass {
            n_unmatched: n_of(Lack::Unmatched),
            n_refused: n_of(Lack::Refused),
            are_wrong: rules.without_class == WithoutClass::Wrong,
        },
        full: respondent.full(),
    };
    let finding = findings(&record, &request)?;
    let row = |(asked, reply): (&Asked, &Reply)| {
        let place = ladder.places()[asked.question.stimulus];
        let stimulus = &stimuli[asked.question.stimulus];
        AskedRow {
            round: asked.question.round + 1,
            stimulus: stimulus.id.to_string(),
            label: stimulus.label.to_string(),
            attribute: stimulus.attribute.clone(),
            level: ladder.levels()[place.level_idx].clone(),
            predicted: reply.prediction.answer().map(|answer| answer.predicted.to_string()),
            is_right: asked.is_right,
            why: asked.question.why.words(),
        }
    };
    let asked = record.asked().iter().zip(&replies).map(row).collect();
    let predictions = replies.into_iter().map(|reply| reply.prediction).collect();
    Ok(Tested { finding, asked, predictions })
}

/// Refuses a design that asks more than somebody said it may, and says how many it will ask.
fn check_budget(
    test: &AdaptiveTest<'_>,
    rules: &Rules,
    ladder: &Ladder,
    ui: &Ui,
) -> Result<(), CliError> {
    let (n_planned, n_allowed, n_stimuli) =
        (test.n_planned(), test.n_allowed(), ladder.n_stimuli());
    #[expect(clippy::cast_precision_loss, reason = "counts of stimuli are far below 2^52")]
    let share = n_planned as f64 / n_stimuli as f64;
    let name = rules.design.name();
    let what = format!("{n_planned} of {n_stimuli} stimuli ({:.1} %)", 100.0 * share);
    if rules.is_budget_given && n_allowed < n_planned {
        return Err(CliError::input(format!(
            "the design `{name}` asks {what}, and the budget of {} allows {n_allowed}",
            rules.budget
        ))
        .hint(format!(
            "give it what it asks (--budget {:.3}), or take --design neyman, which asks what the \
             budget allows",
            (share * 1000.0).ceil() / 1000.0
        )));
    }
    let most = if rules.width.is_some() { "at most " } else { "" };
    ui.say(&format!("the design `{name}` asks {most}{what}"));
    Ok(())
}

/// Says which answers name no class, the first few of them word for word.
fn list_without_class(replies: &[Reply], rule: WithoutClass, ui: &Ui) {
    let all: Vec<&Reply> = replies.iter().filter(|reply| reply.is_without_class()).collect();
    if all.is_empty() {
        return;
    }
    let what = match rule {
        WithoutClass::Wrong => "count as wrong",
        WithoutClass::LeftOut => "are left out",
    };
    ui.say(&format!("{} answers name no class and {what}:", all.len()));
    for reply in all.iter().take(MOST_SHOWN) {
        ui.say(&format!("  {}: {}", reply.prediction.stimulus, reply.reason()));
    }
    if MOST_SHOWN < all.len() {
        ui.say(&format!("  and {} more; {ASKED_PREDICTIONS} has all", all.len() - MOST_SHOWN));
    }
}

/// Replays a model's predictions with the others as references, for the demo.
pub(crate) fn replayed(
    known: &Known,
    model: &str,
    stimuli: &[Stimulus],
    rules: &Rules,
    ui: &Ui,
) -> Result<Tested, CliError> {
    let others = known.answers(stimuli, &BTreeSet::from([model]), rules.without_class);
    let references = ReferenceModels::new(others)?;
    let mut respondent = Replay::new(known, model, stimuli, rules.without_class)?;
    test(&mut respondent, stimuli, Some(&references), rules, None, ui)
}

/// Makes the ladder, in strata as fine as the budget allows unless they are given.
pub(crate) fn ladder(stimuli: &[Stimulus], rules: &Rules) -> Result<Ladder, CliError> {
    let tags: Vec<Tags> = stimuli
        .iter()
        .map(|stimulus| Tags {
            class: stimulus.label.to_string(),
            attribute: stimulus.attribute.clone(),
            level: stimulus.level.clone(),
        })
        .collect();
    let mut ladder = Ladder::new(&tags, &rules.levels)?;
    if let Some(n) = rules.level_groups {
        ladder = ladder.with_level_groups(n)?;
    }
    if !rules.weights.is_empty() {
        ladder = ladder.with_weights(&rules.weights)?;
    }
    let is_free = matches!(rules.design, Design::Neyman | Design::Static { per_stratum: None });
    Ok(match rules.strata {
        Some(strata_by) => ladder.with_strata(strata_by),
        None if is_free => ladder.with_strata_for(rules.budget, rules.width)?,
        None => ladder,
    })
}

fn references(
    paths: &[PathBuf],
    model: &str,
    stimuli: &[Stimulus],
    rules: &Rules,
    ui: &Ui,
) -> Result<Option<ReferenceModels>, CliError> {
    if paths.is_empty() {
        return Ok(None);
    }
    let known = Known::read(paths, stimuli, ui)?;
    let others = known.answers(stimuli, &BTreeSet::from([model]), rules.without_class);
    if others.is_empty() {
        return Err(CliError::input("the references hold no model but the one under test")
            .hint("give predictions of other models with --references"));
    }
    ui.say(&format!("reference models: {}", others.len()));
    Ok(Some(ReferenceModels::new(others)?))
}

/// What the flags say, and where they say nothing, the manifest.
fn rules(args: &AdaptArgs, entry: &AdaptEntry) -> Result<Rules, CliError> {
    let name = args.design.as_deref().or(entry.design.as_deref()).unwrap_or("neyman");
    let design = match (Design::parse(name)?, &entry.gre) {
        (Design::Gre { .. }, Some(table)) if name == "gre" => {
            Design::Gre { routing: routing(table) }
        }
        (design, _) => design,
    };
    let by_default = match design {
        Design::Gre { .. } => EstimatorKind::HierarchicalLogit,
        Design::Static { .. } | Design::Neyman => EstimatorKind::ControlVariate,
    };
    let estimator = match args.estimator.as_deref().or(entry.estimator.as_deref()) {
        Some(name) => EstimatorKind::parse(name)?,
        None => by_default,
    };
    let width = args.width.or(entry.width).map(|value| Width {
        value,
        confidence: CONFIDENCE,
        by_attribute: args.per_attribute,
        estimator,
    });
    if width.is_some() && design != Design::Neyman {
        return Err(CliError::input(format!("a width does not go with the design `{name}`"))
            .hint("only `neyman` plans its rounds; leave --width or --design away"));
    }
    let list = |given: &[String], otherwise: &[String]| {
        if given.is_empty() { otherwise.to_vec() } else { given.to_vec() }
    };
    let budget = args.budget.or(entry.budget);
    Ok(Rules {
        budget: budget.unwrap_or(0.25),
        is_budget_given: budget.is_some(),
        design,
        estimator,
        width,
        levels: list(&args.levels, &entry.levels),
        level_groups: args.level_groups.or(entry.level_groups),
        weights: if args.weights.is_empty() { entry.weights.clone() } else { args.weights.clone() },
        strata: args.strata.map(StrataArg::strata_by),
        without_class: args.without_class.unwrap_or_default(),
        seed: Seed(args.output.seed),
    })
}

fn routing(entry: &RoutingEntry) -> Routing {
    let row = |row: &mohs_data::RoutingRowEntry| RoutingRow {
        from: row.from,
        second: row.second.clone(),
    };
    Routing { first: entry.first.clone(), rows: entry.rows.iter().map(row).collect() }
}

fn report(args: &AdaptArgs, tested: Tested, title: String, ui: &Ui) -> Result<(), CliError> {
    let n_failed = tested.asked.iter().filter(|row| row.is_right.is_none()).count();
    if let Some(folder) = args.output.folder() {
        crate::folder::make(folder)?;
        write_all(&folder.join(ASKED_PREDICTIONS), &tested.predictions)?;
    }
    let files = Files {
        others: vec![(ASKED.to_owned(), asked_csv(&tested.asked).into_bytes())],
        ..Files::default()
    };
    let summary = Summary {
        adaptive_test: Some(tested.finding),
        ..Summary::new(title, env!("CARGO_PKG_VERSION"), args.output.seed, false)
    };
    finish(summary, &files, &args.output, ui)?;
    if 0 < n_failed {
        return Err(CliError::partly(format!("{n_failed} stimuli have no answer"))
            .hint(format!("{ASKED_PREDICTIONS} says why")));
    }
    Ok(())
}

fn stimuli_at(path: &Path, options: &ReadOptions) -> Result<Vec<Stimulus>, CliError> {
    read_stimuli(path, options)
        .map_err(|error| CliError::from(error).while_doing("cannot read the stimuli"))
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    std::path::absolute(path).map_err(|error| {
        CliError::surroundings(format!("cannot find `{}`", path.display())).because(error)
    })
}

impl From<LadderError> for CliError {
    fn from(error: LadderError) -> Self {
        let cli = Self::input(error.to_string());
        match error {
            LadderError::NoStimuli => cli.hint("the table has a header but no rows"),
            LadderError::NoLevel { .. } => cli.hint(
                "the column `level` of the stimuli says how hard each is meant to be: a number, or \
                 easy, medium, hard",
            ),
            LadderError::NoOrder { .. } => {
                cli.hint("name them from easy to hard with --levels A,B,C")
            }
            LadderError::TooManyGroups { .. } => {
                cli.hint("--level-groups is a number from 1 to that of the levels")
            }
            LadderError::Weights { .. } => cli.hint("e.g. --weights 1,2,4"),
            LadderError::Budget { .. } => cli.hint("write a share, e.g. 0.25, not a percentage"),
            LadderError::TooFew { .. } => {
                cli.hint("raise --budget, or draw from coarser strata with --strata level")
            }
            LadderError::Width { .. } => cli.hint("write a share, e.g. 0.03 for 3 points"),
            LadderError::WidthOfNoAttribute => cli.hint(
                "raise --budget, or leave --per-attribute or --strata level away",
            ),
            LadderError::FewerThanAsked { .. } => cli.hint(
                "give a smaller budget, another design (`neyman` takes what there is), or more stimuli",
            ),
            LadderError::OtherLevels { .. } => {
                cli.hint("put levels together with --level-groups 3, or give [adapt.gre] in eval.toml")
            }
            LadderError::CoarseStrata => cli.hint("leave --strata away"),
            LadderError::BadRouting { .. } => {
                cli.hint("the table is [adapt.gre] in eval.toml; rows ascend by their points")
            }
            LadderError::NoRow { .. } => {
                cli.hint("the first row of [adapt.gre] should have from = 0")
            }
            LadderError::Misfit { .. } => cli.hint(
                "gre goes with tier-pooled, sitting-means, raw and hierarchical-logit; the others \
                 with all but sitting-means",
            ),
        }
    }
}

impl From<mohs_score::adaptive::ladder::UnknownDesign> for CliError {
    fn from(error: mohs_score::adaptive::ladder::UnknownDesign) -> Self {
        let cli = Self::input(error.to_string());
        match error.nearest {
            Some(near) => cli.hint(format!("did you mean `{near}`?")),
            None => cli.hint(format!("choose one of {}", Design::NAMES.join(", "))),
        }
    }
}

impl From<mohs_score::adaptive::ladder::UnknownEstimator> for CliError {
    fn from(error: mohs_score::adaptive::ladder::UnknownEstimator) -> Self {
        let cli = Self::input(error.to_string());
        let names = EstimatorKind::ALL.map(EstimatorKind::name);
        match error.nearest {
            Some(near) => cli.hint(format!("did you mean `{near}`?")),
            None => cli.hint(format!("choose one of {}", names.join(", "))),
        }
    }
}

impl From<Unanswered> for CliError {
    fn from(error: Unanswered) -> Self {
        Self::input(error.to_string()).hint(
            "references answer every stimulus; leave the model out of the file, or run it on all \
             stimuli with `mohs eval`",
        )
    }
}
