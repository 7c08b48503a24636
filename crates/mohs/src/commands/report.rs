//! `mohs report`: one HTML file.

pub(crate) mod attacked;

use std::path::{Path, PathBuf};

use mohs_data::Stimulus;
use mohs_data::format::{ReadOptions, atomic, folder_of_stimuli, read_stimuli};
use mohs_report::{Pictures, Summary, Thumbnail, render_html, stimuli_for_gallery};
use mohs_vision::pixels::{self, thumbnail};
use rayon::prelude::*;

use crate::error::CliError;
use crate::ui::Ui;

/// Longest side of a thumbnail, in pixels: sharp on a phone's dense screen.
const THUMBNAIL_SIDE: u32 = 160;
/// Quality of thumbnails, 1 to 100.
const THUMBNAIL_QUALITY: u8 = 82;

/// Write the report as one HTML file that opens offline
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs report results/summary.json --stimuli stimuli.csv
  mohs report my-study --output my-study/report.html")]
pub(crate) struct ReportArgs {
    /// The summary.json of `mohs score`, or a folder that holds it
    summary: PathBuf,
    /// What was shown, for thumbnails [default: stimuli.csv beside the summary]
    #[arg(long, value_name = "PATH")]
    stimuli: Option<PathBuf>,
    /// Attacked pictures to show, as `mohs attack --examples` writes them [default:
    /// attack-examples beside the summary]
    #[arg(long, value_name = "DIR")]
    examples: Option<PathBuf>,
    /// Where to write [default: report.html beside the summary]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ReportArgs, ui: &Ui) -> Result<(), CliError> {
    let path = if args.summary.is_dir() {
        args.summary.join("summary.json")
    } else {
        args.summary.clone()
    };
    let json = std::fs::read_to_string(&path).map_err(|cause| {
        CliError::input(format!("cannot read the summary `{}`", path.display()))
            .because(cause)
            .hint("make one with `mohs score MEASURE FILE --output DIR`")
    })?;
    let summary = Summary::from_json(&json)?;
    let beside = folder_of_stimuli(&path).join("stimuli.csv");
    let stimuli_path = args.stimuli.clone().or_else(|| beside.is_file().then_some(beside));
    let mut pictures = match &stimuli_path {
        Some(stimuli_path) => {
            let stimuli = read_stimuli(stimuli_path, &ReadOptions::default())
                .map_err(|error| CliError::from(error).while_doing("cannot read the stimuli"))?;
            pictures(&summary, &stimuli, &folder_of_stimuli(stimuli_path), ui)
        }
        None => {
            if !stimuli_for_gallery(&summary).is_empty() {
                ui.say("no stimuli given: the gallery shows names (--stimuli PATH adds pictures)");
            }
            Pictures::new()
        }
    };
    if summary.attacks.is_some() {
        let beside = path.with_file_name(attacked::FOLDER);
        let folder = args.examples.clone().or_else(|| beside.is_dir().then_some(beside));
        if let Some(folder) = folder {
            attacked::read_into(&mut pictures, &folder, ui)?;
        }
    }
    let output = args.output.clone().unwrap_or_else(|| path.with_file_name("report.html"));
    atomic::write_file(&output, render_html(&summary, &pictures).as_bytes())?;
    ui.say(&format!("written: {}", output.display()));
    Ok(())
}

/// Makes thumbnails for the gallery. A picture that cannot be read is shown by its name and told
/// of, because one bad file must not cost a report.
pub(crate) fn pictures(
    summary: &Summary,
    stimuli: &[Stimulus],
    folder: &Path,
    ui: &Ui,
) -> Pictures {
    let wanted = stimuli_for_gallery(summary);
    let bar = ui.progress(wanted.len(), "making thumbnails");
    let made: Vec<_> = wanted
        .par_iter()
        .filter_map(|id| {
            let stimulus = stimuli.iter().find(|stimulus| stimulus.id == *id)?;
            let read = pixels::read(&folder.join(&stimulus.file));
            bar.inc(1);
            Some(read.map(|pixels| {
                let small = thumbnail(&pixels, THUMBNAIL_SIDE);
                let picture = Thumbnail {
                    mime: "image/jpeg",
                    width: small.width(),
                    height: small.height(),
                    bytes: small.to_jpeg(THUMBNAIL_QUALITY),
                };
                (id.clone(), picture)
            }))
        })
        .collect();
    bar.finish_and_clear();
    let mut pictures = Pictures::new();
    for picture in made {
        match picture {
            Ok((id, thumbnail)) => pictures.insert(id, thumbnail),
            Err(error) => ui.say(&format!("no thumbnail: {error}")),
        }
    }
    pictures
}
