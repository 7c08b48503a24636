//! `mohs init`: start a study folder.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use mohs_data::format::{ReadOptions, atomic, coco, folder_of_stimuli, read_stimuli, write_all};
use mohs_data::{Annotation, Stimulus, Study};
use mohs_vision::world::{LARGEST_SIDE, SMALLEST_SIDE, WorldPlan};

use super::check;
use crate::built_in;
use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

/// Start a study folder
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    #[command(subcommand)]
    task: InitTask,
}

#[derive(Debug, Subcommand)]
enum InitTask {
    Flash(FlashArgs),
}

/// Start a viewing-time study: pictures flashed for 17 ms to 10 s
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs init flash my-study --from photos/            one folder per class
  mohs init flash my-study --from annotations.json --images val2017
                                                     a COCO file; outlines come along
  mohs init flash my-study --from val.txt            lines of `file label`
  mohs init flash my-study                           the built-in world

Pictures are not copied; stimuli.csv points to where they are.")]
pub(crate) struct FlashArgs {
    /// Folder to make
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Your pictures: an image folder, a COCO file, a list or a table
    #[arg(long, value_name = "PATH", conflicts_with = "world")]
    from: Option<PathBuf>,
    /// Folder that the files named in a COCO file, list or table are in [default: beside it]
    #[arg(long, value_name = "DIR", requires = "from")]
    images: Option<PathBuf>,
    /// Draw this many pictures of the built-in world
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20_000))]
    world: Option<u32>,
    /// Side of drawn pictures in pixels
    #[arg(long, default_value_t = 224, value_name = "PX",
          value_parser = clap::value_parser!(u32).range(i64::from(SMALLEST_SIDE)..=i64::from(LARGEST_SIDE)))]
    size: u32,
    /// Seed of drawn pictures
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

pub(crate) fn run(args: &InitArgs, ui: &Ui) -> Result<(), CliError> {
    match &args.task {
        InitTask::Flash(args) => flash(args, ui),
    }
}

fn flash(args: &FlashArgs, ui: &Ui) -> Result<(), CliError> {
    let output = &args.folder;
    if !folder::is_empty(output) {
        return Err(CliError::input(format!("`{}` is not empty", output.display()))
            .hint("name a new folder; nothing was written"));
    }
    let stimuli = match &args.from {
        Some(from) => {
            let stimuli = read_stimuli(from, &ReadOptions::default())
                .map_err(|error| CliError::from(error).while_doing("cannot read your pictures"))?;
            let source = args.images.clone().unwrap_or_else(|| folder_of_stimuli(from));
            // Looked at before anything is written: a broken picture leaves no half-made study.
            check::pictures(from, &stimuli, &source, ui)?;
            folder::make(output)?;
            let stimuli = moved(stimuli, &source, output);
            write_all(&output.join("stimuli.csv"), &stimuli)?;
            bring_outlines(from, output, ui)?;
            stimuli
        }
        None => {
            folder::make(output)?;
            let n_pictures = args.world.unwrap_or(96) as usize;
            let plan = WorldPlan::new(args.seed, args.size, n_pictures);
            built_in::draw_into(&plan, output, ui)?.1
        }
    };
    let study = output.join("study.toml");
    atomic::write_file(&study, template(&name_of(output), &stimuli).as_bytes())?;
    Study::read(&study)?;
    let shown = output.display();
    ui.say(&format!(
        "made {shown}: study.toml and stimuli.csv with {} stimuli\n\n\
         Try next:\n  \
         mohs check {shown}                     reads everything, changes nothing\n  \
         mohs simulate {shown}/study.toml       how many participants do you need?",
        stimuli.len()
    ));
    Ok(())
}

/// Writes the outlines of a COCO file beside the stimuli, and tells of pictures it says nothing of.
fn bring_outlines(from: &Path, output: &Path, ui: &Ui) -> Result<(), CliError> {
    if !from.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        return Ok(());
    }
    let coco = coco::read(from)?;
    if !coco.annotations.is_empty() {
        Annotation::write_all(&output.join("annotations.json"), &coco.annotations)?;
        ui.say(&format!("{} outlines written to annotations.json", coco.annotations.len()));
    }
    if !coco.without_label.is_empty() {
        let n = coco.without_label.len();
        ui.say(&format!("{n} pictures have no annotation, so no label, and are left out"));
    }
    Ok(())
}

/// Rewrites paths so that they start at the study's folder.
fn moved(stimuli: Vec<Stimulus>, source: &Path, output: &Path) -> Vec<Stimulus> {
    stimuli
        .into_iter()
        .map(|stimulus| Stimulus {
            file: folder::relative(&source.join(&stimulus.file), output),
            mask: stimulus.mask.as_ref().map(|mask| folder::relative(&source.join(mask), output)),
            ..stimulus
        })
        .collect()
}

fn name_of(output: &Path) -> String {
    let name = output.canonicalize().ok();
    let name = name.as_deref().and_then(Path::file_name);
    name.map_or_else(|| "study".into(), |name| name.to_string_lossy().into_owned())
}

/// Returns a study file with a word on each choice.
fn template(name: &str, stimuli: &[Stimulus]) -> String {
    let mut labels: Vec<&str> = stimuli.iter().map(|stimulus| stimulus.label.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    let quoted: Vec<String> = labels.iter().map(|label| quoted(label)).collect();
    format!(
        "# A viewing-time study. Every choice that changes a result stands here.
# All keys: docs/formats/study.md. Check it with `mohs check`.
version = 1
name = {name}
task = \"flash\"
stimuli = \"stimuli.csv\"
# What participants choose from; the guess rate is one over their number.
labels = [{labels}]

[flash]
# Exposures that 60 Hz screens can show: 1, 3, 6, 9, 15 and 600 frames.
exposures_ms = [17, 50, 100, 150, 250, 10000]
# People who see each stimulus at each exposure: 7 x 6 exposures = 42 trials per stimulus.
participants_per_cell = 7
trials_per_participant = 50
fixation_ms = 500
mask_ms = 500

[exclusions]
# Participants below this accuracy at the longest exposure are set aside, and counted.
min_accuracy_at_longest = 0.6
# Trials answered sooner than anybody can see, in milliseconds after onset.
min_rt_ms = 150
# Only the first time a participant sees a stimulus counts.
repeated_stimuli = true
# Trials that the screen did not show as planned.
timing = [\"long\", \"short\", \"dropped\"]

[score]
# Recognised means: at least this share of answers is right.
criterion = 0.5
# `stays`: recognised there and at every longer exposure. `first`: recognised there.
rule = \"stays\"
confidence = 0.95
n_resamples = 1000

[simulate]
# Share of stimuli whose band should come out right.
goal = 0.7
drop_out = 0.05
seconds_per_trial = 6
pay_per_hour = 12
recruiter_fee = 0.33
",
        name = quoted_name(name),
        labels = quoted.join(", "),
    )
}

/// Writes a text as a TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn quoted_name(name: &str) -> String {
    quoted(if name.is_empty() { "study" } else { name })
}
