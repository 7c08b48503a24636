//! `mohs simulate`: how many participants do I need? And `mohs simulate ladder`, which is about models.

mod ladder;

use std::fmt::Write as _;
use std::path::PathBuf;

use mohs_data::format::{ReadOptions, folder_of_stimuli, read_stimuli};
use mohs_data::{Caveats, Seed, Study, Task};
use mohs_report::TextTable;
use mohs_score::human::viewing_time::model_criterion;
use mohs_score::simulate::design::{Design, Outcome, Setting, run_all};
use mohs_score::simulate::truth::Truth;

use crate::args::Format;
use crate::error::CliError;
use crate::ui::Ui;

/// Answer "how many participants do I need?" with simulated people
///
/// Compares designs on simulated stimuli whose true minimum viewing time is known: every exposure
/// equally often with the counting rule or the model, and exposures chosen for each trial. Shows
/// how often each design puts a stimulus into the right band, and what it costs in people, minutes
/// and money.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  mohs simulate                              the viewing-time paper's design
  mohs simulate my-study/study.toml --goal 0.75
  mohs simulate --truth all --stimuli 1500   all worlds, as in docs/methods/designs.md

Worlds: typical, steep, shallow, lapsing, two-kinds, weibull, or all."
)]
pub(crate) struct SimulateArgs {
    #[command(subcommand)]
    other: Option<Other>,
    /// The study to plan [default: the viewing-time paper's]
    #[arg(value_name = "study.toml")]
    study: Option<PathBuf>,
    /// The simulated world, or `all`
    #[arg(long, default_value = "typical", value_name = "NAME")]
    truth: String,
    /// Stimuli to simulate [default: the study's number, or 500]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=100_000))]
    stimuli: Option<u32>,
    /// Share of stimuli whose band should come out right [default: the study's, or 0.7]
    #[arg(long, value_name = "SHARE")]
    goal: Option<f64>,
    /// Seed of the people
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What else can be simulated.
#[derive(Debug, clap::Subcommand)]
enum Other {
    Ladder(Box<ladder::LadderArgs>),
}

/// Numbers of people per exposure that the curve of fixed designs is drawn through.
const PER_CELL: [usize; 6] = [1, 2, 3, 5, 10, 15];
/// Trials per stimulus that the curves of adaptive designs are drawn through.
const ADAPTIVE: [usize; 6] = [6, 8, 10, 12, 16, 24];

pub(crate) fn run(args: &SimulateArgs, ui: &Ui) -> Result<(), CliError> {
    if let Some(Other::Ladder(args)) = &args.other {
        return ladder::run(args, ui);
    }
    let plan = plan(args)?;
    let truths = truths(&args.truth)?;
    let bar = ui.progress(truths.len(), "simulating people");
    let mut outcomes = Vec::new();
    let criterion = criterion(&plan, ui);
    for truth in &truths {
        ui.say(&format!("simulating the world `{}`: {}", truth.name, truth.meaning));
        let setting = Setting {
            truth,
            flash: &plan.study.flash,
            n_stimuli: plan.n_stimuli,
            n_labels: plan.n_labels,
            criterion,
            costs: &plan.study.simulate,
            seed: Seed(args.seed),
        };
        outcomes.extend(run_all(&designs(&plan.study), &setting));
        bar.inc(1);
    }
    bar.finish_and_clear();
    if outcomes.is_empty() {
        return Err(CliError::input("the criterion cannot tell recognition from guessing")
            .hint("raise score.criterion in study.toml, or give more labels"));
    }
    let text = match args.format {
        Format::Text => text(&outcomes, &truths, &plan, args.seed),
        Format::Csv => csv(&outcomes),
        Format::Json => {
            let json = serde_json::json!({
                "version": 1,
                "seed": args.seed,
                "n_stimuli": plan.n_stimuli,
                "n_labels": plan.n_labels,
                "goal": plan.goal,
                "outcomes": outcomes,
            });
            format!("{json:#}\n")
        }
    };
    ui.data(text.as_bytes())
}

/// Returns the study's criterion, or one that can be told from guessing.
fn criterion(plan: &Plan, ui: &Ui) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a number of labels")]
    let guess_rate = 1.0 / plan.n_labels.max(2) as f64;
    let mut caveats = Caveats::default();
    let criterion = model_criterion(plan.study.score.criterion, guess_rate, &mut caveats);
    for caveat in caveats.iter() {
        ui.say(&caveat.message());
    }
    criterion
}

/// What is simulated.
struct Plan {
    study: Study,
    n_stimuli: usize,
    n_labels: usize,
    goal: f64,
}

fn plan(args: &SimulateArgs) -> Result<Plan, CliError> {
    let mut n_known = None;
    let mut n_labels = 50;
    let study = match &args.study {
        Some(path) => {
            let study = Study::read(path)?;
            let table = folder_of_stimuli(path).join(&study.stimuli);
            if table.exists() {
                let stimuli = read_stimuli(&table, &ReadOptions::default())?;
                let mut labels: Vec<_> = stimuli.iter().map(|stimulus| &stimulus.label).collect();
                labels.sort_unstable();
                labels.dedup();
                n_known = Some(stimuli.len());
                n_labels = labels.len();
            }
            if !study.labels.is_empty() {
                n_labels = study.labels.len();
            }
            study
        }
        None => Study::new("the viewing-time paper's design", Task::Flash),
    };
    if study.task != Task::Flash {
        return Err(CliError::input(format!(
            "only flash studies can be simulated so far, this one is `{}`",
            study.task.as_str()
        )));
    }
    let goal = args.goal.unwrap_or(study.simulate.goal);
    if !(0.0 < goal && goal < 1.0) {
        return Err(CliError::input(format!("--goal should be between 0 and 1, found {goal}"))
            .hint("write a share, e.g. 0.7, not a percentage"));
    }
    let asked = args.stimuli.map(|n| n as usize).or(study.simulate.n_stimuli);
    let n_stimuli = asked.or(n_known).unwrap_or(500).max(10);
    Ok(Plan { study, n_stimuli, n_labels, goal })
}

fn truths(name: &str) -> Result<Vec<Truth>, CliError> {
    if name == "all" {
        return Ok(Truth::plausible());
    }
    let names: Vec<&str> = Truth::plausible().iter().map(|truth| truth.name).collect();
    Truth::named(name).map(|truth| vec![truth]).ok_or_else(|| {
        CliError::input(format!("there is no simulated world `{name}`"))
            .hint(format!("choose one of {}, or all", names.join(", ")))
    })
}

fn designs(study: &Study) -> Vec<Design> {
    let planned = study.flash.participants_per_cell;
    let mut per_cell = PER_CELL.to_vec();
    per_cell.push(planned);
    per_cell.sort_unstable();
    per_cell.dedup();
    let counted = per_cell.iter().copied().filter(|per_cell| planned <= *per_cell);
    let counted: Vec<usize> = counted.collect();
    let mut designs: Vec<Design> =
        counted.into_iter().map(|per_cell| Design::Counting { per_cell }).collect();
    designs.extend(per_cell.into_iter().map(|per_cell| Design::Model { per_cell }));
    designs.extend(ADAPTIVE.map(|n_trials| Design::Adaptive { n_trials }));
    designs.extend(ADAPTIVE.map(|mean_trials| Design::AdaptiveSpread { mean_trials }));
    designs.push(Design::AdaptiveStopping { max_trials: 24, certainty: 0.8 });
    designs
}

fn text(outcomes: &[Outcome], truths: &[Truth], plan: &Plan, seed: u64) -> String {
    let mut text = format!(
        "How many participants for {} stimuli, {} labels, exposures {}?\n\
         `right` is the share of stimuli put into the right band of minimum viewing time.\n",
        plan.n_stimuli,
        plan.n_labels,
        super::score::exposures_in_words(&plan.study.flash.exposures_ms)
    );
    for truth in truths {
        let mine: Vec<&Outcome> = outcomes.iter().filter(|o| o.truth == truth.name).collect();
        let mut table = TextTable::new([
            "design",
            "trials",
            "right %",
            "95 % interval",
            "people",
            "min each",
            "cost",
        ]);
        for outcome in &mine {
            let right = outcome.share_right.scaled(100.0);
            table.push([
                outcome.design.name(),
                format!("{:.1}", outcome.trials_per_stimulus),
                format!("{:.1}", right.value),
                format!("{:.1} to {:.1}", right.low, right.high),
                outcome.n_participants.to_string(),
                format!("{:.0}", outcome.minutes_per_participant),
                format!("{:.0}", outcome.cost),
            ]);
        }
        let _ = write!(text, "\nWorld `{}`: {}\n\n{}", truth.name, truth.meaning, table.render());
        text.push_str(&curve(&mine, plan.goal));
        text.push_str(&answer(&mine, plan.goal));
    }
    let _ = write!(text, "\nseed {seed}; costs in your currency, from [simulate] in study.toml\n");
    text
}

/// Draws share right against trials per stimulus, one line per design.
fn curve(outcomes: &[&Outcome], goal: f64) -> String {
    const WIDTH: usize = 50;
    let column = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of the width"
        )]
        let column = (share.clamp(0.0, 1.0) * WIDTH as f64).round() as usize;
        column
    };
    let mut text = String::from("\nshare right, by trials per stimulus (| is the goal)\n");
    let mut sorted = outcomes.to_vec();
    sorted.sort_by(|a, b| a.trials_per_stimulus.total_cmp(&b.trials_per_stimulus));
    for outcome in sorted {
        let kind = match outcome.design {
            Design::Counting { .. } => "counting",
            Design::Model { .. } => "model",
            Design::Adaptive { .. } => "adaptive",
            Design::AdaptiveSpread { .. } => "adaptive, spread",
            Design::AdaptiveStopping { .. } => "adaptive, stopping",
        };
        let filled = column(outcome.share_right.value);
        let bar: String = (0..WIDTH)
            .map(|idx| match idx {
                idx if idx == column(goal) => '|',
                idx if idx < filled => '=',
                _ => ' ',
            })
            .collect();
        let _ = writeln!(text, "{:6.1}  {kind:18} {}", outcome.trials_per_stimulus, bar.trim_end());
    }
    text
}

/// Says which designs reach the goal, cheapest first.
fn answer(outcomes: &[&Outcome], goal: f64) -> String {
    let cheapest = |is: &dyn Fn(&Design) -> bool| {
        outcomes
            .iter()
            .filter(|outcome| is(&outcome.design) && goal <= outcome.share_right.value)
            .min_by(|a, b| a.cost.total_cmp(&b.cost))
    };
    let mut text = format!("\nTo put {:.0} % into the right band:\n", goal * 100.0);
    let family = |design: &Design| match design {
        Design::Counting { .. } => "counting rule",
        Design::Model { .. } => "model, fixed exposures",
        _ => "model, adaptive exposures",
    };
    for kind in ["counting rule", "model, fixed exposures", "model, adaptive exposures"] {
        let line = match cheapest(&|design| family(design) == kind) {
            Some(outcome) => format!(
                "{} participants, {:.0} minutes each, cost {:.0} ({})",
                outcome.n_participants,
                outcome.minutes_per_participant,
                outcome.cost,
                outcome.design.name()
            ),
            None => "no design tried here gets there".into(),
        };
        let _ = writeln!(text, "  {kind:26} {line}");
    }
    text
}

fn csv(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "truth,design,trials_per_stimulus,share_right,share_right_low,share_right_high,\
         share_near,coverage,n_participants,minutes_per_participant,cost\n",
    );
    for outcome in outcomes {
        let coverage =
            outcome.coverage.map_or(String::new(), |share| format!("{:.4}", share.value));
        let _ = writeln!(
            text,
            "{},\"{}\",{:.3},{:.4},{:.4},{:.4},{:.4},{coverage},{},{:.2},{:.2}",
            outcome.truth,
            outcome.design.name(),
            outcome.trials_per_stimulus,
            outcome.share_right.value,
            outcome.share_right.low,
            outcome.share_right.high,
            outcome.share_near.value,
            outcome.n_participants,
            outcome.minutes_per_participant,
            outcome.cost,
        );
    }
    text
}
