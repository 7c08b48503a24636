//! `mohs init`: start a study folder.
//!
//! Pictures come from `--from` or from the built-in world; `init/template.rs` writes the study file.

mod template;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use mohs_data::format::{ReadOptions, atomic, coco, folder_of_stimuli, read_stimuli, write_all};
use mohs_data::{Annotation, Stimulus, Study, Task};
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
    /// Start a viewing-time study: pictures flashed for 17 ms to 10 s
    Flash(StudyArgs),
    /// Start a speed–accuracy study: answers at a beep
    Beep(StudyArgs),
    /// Start a study of paired judgements: which of two pictures is harder?
    Pairs(StudyArgs),
    /// Start a study without time pressure: what does the picture show?
    Rate(StudyArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples (`flash` stands for any task):
  mohs init flash my-study --from photos/            one folder per class
  mohs init flash my-study --from annotations.json --images val2017
                                                     a COCO file; boxes and outlines come along
  mohs init flash my-study --from val.txt            lines of `file label`
  mohs init flash my-study                           the built-in world

Pictures are not copied; stimuli.csv points to where they are.")]
pub(crate) struct StudyArgs {
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
    let (task, args) = match &args.task {
        InitTask::Flash(args) => (Task::Flash, args),
        InitTask::Beep(args) => (Task::Beep, args),
        InitTask::Pairs(args) => (Task::Pairs, args),
        InitTask::Rate(args) => (Task::Rate, args),
    };
    start(task, args, ui)
}

fn start(task: Task, args: &StudyArgs, ui: &Ui) -> Result<(), CliError> {
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
    atomic::write_file(&study, template::study(task, &name_of(output), &stimuli).as_bytes())?;
    Study::read(&study)?;
    let shown = folder::quoted(output);
    let simulate = match task {
        Task::Flash => {
            format!("\n  mohs simulate {shown}/study.toml       how many participants do you need?")
        }
        _ => String::new(),
    };
    ui.say(&format!(
        "made {shown}: study.toml and stimuli.csv with {} stimuli\n\n\
         Try next:\n  \
         mohs check {shown}                     reads everything, changes nothing{simulate}\n  \
         mohs prepare {shown}                   makes what participants are shown\n  \
         mohs serve {shown}                     runs it in a browser",
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
