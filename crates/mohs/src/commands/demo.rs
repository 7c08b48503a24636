//! `mohs demo`: the whole story on built-in data. Flash trials are made here, the other studies in
//! `demo/`.

mod adapt;
mod attacks;
mod beep;
mod ladder;
mod masks;
mod models;
mod pairs;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use mohs_data::format::{atomic, write_all};
use mohs_data::{
    Annotation, ExclusionRules, Extra, Label, Millis, ParticipantId, Seed, Stimulus, Study, Task,
    TimingVerdict, Trial,
};
use mohs_report::{Summary, render_html, render_text};
use mohs_score::draw::Draw;
use mohs_score::simulate::flash::{self, Setting, Shown};
use mohs_score::simulate::truth::Truth;
use mohs_vision::world::{LARGEST_SIDE, Recipe, SMALLEST_SIDE, WorldPlan};

use super::{report, score};
use crate::built_in;
use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

/// Run the whole story on built-in data and write a report
///
/// Draws pictures and lets simulated people recognise them at flashes of 17 ms to 10 s, name them
/// at a beep, say which of two is harder, and outline objects. Three small networks answer the same
/// pictures, as they are, grey, pale, noisy and blurred, and climb a ladder of pictures from easy to
/// hard; a fourth learns while you wait; two of them are attacked with changes too small to see. Scores it all and writes report.html. Needs no data, no model and no connection.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs demo
  mohs demo out --stimuli 480 --size 224
  mohs demo out --seed 7")]
pub(crate) struct DemoArgs {
    /// Folder to write into
    #[arg(default_value = "mohs-demo", value_name = "DIR")]
    folder: PathBuf,
    /// Seed of the pictures and the people
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Pictures to draw
    #[arg(long, default_value_t = 240, value_name = "N",
          value_parser = clap::value_parser!(u32).range(16..=20_000))]
    stimuli: u32,
    /// Side of the pictures in pixels
    #[arg(long, default_value_t = 128, value_name = "PX",
          value_parser = clap::value_parser!(u32).range(i64::from(SMALLEST_SIDE)..=i64::from(LARGEST_SIDE)))]
    size: u32,
}

/// Names the study, and tells a folder that a demo may write over.
const NAME: &str = "demo: the built-in world";
/// Keys of the demo's own random draws.
const MIDDLE: u64 = 100;

pub(crate) fn run(args: &DemoArgs, ui: &Ui) -> Result<(), CliError> {
    let started = Instant::now();
    let output = &args.folder;
    check_folder(output)?;
    folder::make(output)?;
    let seed = Seed(args.seed);

    ui.say(&format!("1/6 drawing {} pictures of 16 kinds of things", args.stimuli));
    let plan = WorldPlan::new(args.seed, args.size, args.stimuli as usize);
    let (recipes, stimuli) = built_in::draw_into(&plan, output, ui)?;

    let study = study(&stimuli);
    study.write(&output.join("study.toml"))?;
    let labels: Vec<Label> = study.labels.iter().map(Label::new).collect();
    let trials = simulated(simulate(&study, &recipes, &stimuli, seed));
    let beep_trials = simulated(beep::trials(&stimuli, &labels, seed));
    let comparisons = pairs::comparisons(&recipes, &stimuli, seed);
    let (drawings, outlines) = masks::annotations(&recipes, &stimuli, seed);
    ui.say(&format!(
        "2/6 simulated people: {} saw them for {}, {} answered at a beep, {} said which of two is \
         harder, {} outlined objects",
        n_people(trials.iter().map(|trial| Some(&trial.participant))),
        score::exposures_in_words(&study.flash.exposures_ms),
        n_people(beep_trials.iter().map(|trial| Some(&trial.participant))),
        n_people(comparisons.iter().map(|row| Some(&row.participant))),
        n_people(drawings.iter().map(|drawing| drawing.participant.as_ref())),
    ));
    write_all(&output.join("trials.csv"), &trials)?;
    write_all(&output.join("beep-trials.csv"), &beep_trials)?;
    write_all(&output.join("comparisons.csv"), &comparisons)?;
    Annotation::write_all(&output.join("annotations.json"), &drawings)?;
    Annotation::write_all(&output.join("outlines.json"), &outlines)?;

    ui.say(
        "3/6 running three small networks, also up a ladder of difficulty, and training a fourth",
    );
    let answers = models::answers(&stimuli, output, seed, ui)?;
    let climbed = ladder::climb(stimuli.len(), output, seed, ui)?;

    ui.say("4/6 attacking two of them: how small a change fools them?");
    let attacked = attacks::attack(&stimuli, output, seed, ui)?;

    ui.say(&format!(
        "5/6 scoring {} trials, {} comparisons, {} drawings, {} predictions and {} attacks",
        trials.len() + beep_trials.len(),
        comparisons.len(),
        drawings.len(),
        answers.evaluated.len() + answers.learned.len() + climbed.predictions.len(),
        attacked.rows.len()
    ));
    let (summary, mut files) = score::score(&study, &stimuli, &trials, seed)?;
    let judged = pairs::score(&comparisons, &stimuli, seed)?;
    files.difficulties.get_or_insert_default().extend(judged.difficulties());
    let difficulties = files.difficulties.clone().unwrap_or_default();
    let models = models::score(&answers, &stimuli, &difficulties, &trials, seed)?;
    let adaptive_test = adapt::test(&answers.evaluated, &stimuli, seed, ui)?;
    let robustness = attacks::scored(&attacked, &stimuli, &difficulties, output, seed)?;
    let summary = Summary {
        attacks: Some(robustness),
        adaptive_test,
        speed_accuracy: Some(beep::score(&beep_trials, &labels, seed)?),
        pairs: Some(judged),
        masks: Some(masks::score(&drawings, &outlines, seed)?),
        models: Some(models),
        ladder: Some(ladder::scored(&climbed, &comparisons, &stimuli, seed)?),
        ..summary
    };
    score::write(summary.clone(), &files, output)?;

    ui.say("6/6 writing the report");
    let mut pictures = report::pictures(&summary, &stimuli, output, ui);
    report::attacked::read_into(&mut pictures, &output.join(report::attacked::FOLDER), ui)?;
    let html = render_html(&summary, &pictures);
    atomic::write_file(&output.join("report.html"), html.as_bytes())?;

    ui.data(render_text(&summary).as_bytes())?;
    say_goodbye(output, started, ui);
    Ok(())
}

fn n_people<'a>(who: impl Iterator<Item = Option<&'a ParticipantId>>) -> usize {
    who.flatten().collect::<BTreeSet<_>>().len()
}

/// Marks trials as simulated, for everybody who ever reads the file.
fn simulated(mut trials: Vec<Trial>) -> Vec<Trial> {
    for trial in &mut trials {
        trial.extra = Extra::from_pairs([(score::SOURCE, score::SIMULATED.to_owned())]);
    }
    trials
}

/// Refuses a folder that holds something other than an earlier demo.
fn check_folder(output: &Path) -> Result<(), CliError> {
    let study = output.join("study.toml");
    let is_ours = Study::read(&study).is_ok_and(|study| study.name == NAME);
    // A demo that was stopped half-way left only its pictures.
    let is_half_made = folder::holds_only(output, &["stimuli", "masks", "stimuli.csv"]);
    if folder::is_empty(output) || is_ours || is_half_made {
        return Ok(());
    }
    Err(CliError::input(format!("`{}` holds other files", output.display()))
        .hint("name a new folder, e.g. `mohs demo my-demo`; nothing was written"))
}

fn study(stimuli: &[Stimulus]) -> Study {
    let mut labels: Vec<String> = stimuli.iter().map(|s| s.label.to_string()).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut study = Study::new(NAME, Task::Flash);
    study.labels = labels;
    study.exclusions = ExclusionRules {
        min_accuracy_at_longest: Some(0.5),
        min_rt_ms: Millis::new(150.0),
        repeated_stimuli: true,
        timing: vec![TimingVerdict::Long, TimingVerdict::Short, TimingVerdict::Dropped],
        ..ExclusionRules::default()
    };
    study
}

/// Lets simulated people do the study. How long a picture must be seen follows from how it was
/// drawn, and from a part that the drawing does not explain.
fn simulate(study: &Study, recipes: &[Recipe], stimuli: &[Stimulus], seed: Seed) -> Vec<Trial> {
    let truth = Truth { careless_share: 0.03, ..Truth::typical() };
    let labels: Vec<Label> = study.labels.iter().map(Label::new).collect();
    let shown: Vec<Shown> = recipes
        .iter()
        .zip(stimuli)
        .enumerate()
        .map(|(idx, (recipe, stimulus))| {
            let mut draw = Draw::new(seed, &[MIDDLE, idx as u64]);
            let strength = recipe.strength();
            let ln_middle = 13.0_f64.ln() + 4.4 * strength + 0.7 * draw.normal();
            let is_hopeless = draw.chance(0.3 * strength.powi(4));
            let middle = Millis::new(ln_middle.exp()).filter(|_| !is_hopeless);
            Shown {
                stimulus: stimulus.id.clone(),
                label: stimulus.label.clone(),
                truth: truth.stimulus_at(middle, seed, idx),
            }
        })
        .collect();
    let setting = Setting {
        truth: &truth,
        design: &study.flash,
        labels: &labels,
        drop_out: 0.05,
        bad_timing: 0.01,
        seed,
    };
    flash::trials(&shown, &setting)
}

fn say_goodbye(output: &Path, started: Instant, ui: &Ui) {
    let folder = folder::quoted(output);
    ui.say(&format!(
        "\ndone in {:.0} s. Open {folder}/report.html in a browser.\n\n\
         Try next:\n  \
         mohs score viewing-time {folder} --rule first      another rule, the same trials\n  \
         mohs score quality {folder}                        who answered with care?\n  \
         mohs eval {folder}/eval.toml                       the models again, from their manifest\n  \
         mohs attack {folder}/eval.toml --mode fast         all attacks on all of them\n  \
         mohs score ladder --stimuli {folder}/ladder/stimuli.csv --predictions {folder}/ladder/predictions.csv\n  \
         mohs adapt {folder}/eval.toml --model plain        a model by a quarter of the pictures\n  \
         mohs simulate {folder}/study.toml                  how many participants would you need?\n  \
         mohs import --help                                 data you collected with other tools\n  \
         mohs init flash my-study --from YOUR_PHOTOS        a study of your own pictures",
        started.elapsed().as_secs_f64()
    ));
}
