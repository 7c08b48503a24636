//! `mohs score masks`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mohs_data::{Annotation, Caveat, Problem, Seed, StimulusId};
use mohs_report::{Summary, annotators_csv, objects_csv};
use mohs_score::human::object_masks::{
    Connectivity, Crop, Error, Input, List, N_ANNOTATORS, Options, Scored, score,
};
use mohs_vision::masks::to_png;
use serde_json::Value;

use super::input::title_of;
use super::output::{self, Files, OutputArgs};
use super::{SIMULATED, SOURCE};
use crate::commands::annotations::{self, AnnotationArgs, AnnotationFormat};
use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;

/// The folder the votes are written into.
const VOTES: &str = "votes";

/// Score object masks: agreement, annotators, majority vote, size and place
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs score masks annotations.json
  mohs score masks annotations.json --reference known.json --require-exam --output results
  mohs score masks drawn/ --from masks --folders participants
  mohs score masks trimaps/ --from masks --object-values 1,3

Drawings of the exam and attention checks are marked with \"role\": \"exam\" or \"check\"; their
references come from --reference, or from annotations without participant. With --output, the
folder votes/ gets the votes as PNG and as annotations.json; votes of an earlier run go. See docs/formats/annotations.md.")]
pub(crate) struct MasksArgs {
    /// The drawings: annotations.json, or with --from what another tool wrote
    annotations: PathBuf,
    /// Objects whose mask is known, in the same format
    #[arg(long, value_name = "PATH")]
    reference: Option<PathBuf>,
    /// What wrote the files [default: mohs]
    #[arg(long, value_enum, value_name = "FORMAT")]
    from: Option<AnnotationFormat>,
    #[command(flatten)]
    foreign: AnnotationArgs,
    /// Mean IoU from which the exam is passed
    #[arg(long, value_name = "IOU", default_value_t = 0.65)]
    exam_iou: f64,
    /// IoU from which an attention check is passed
    #[arg(long, value_name = "IOU", default_value_t = 0.5)]
    check_iou: f64,
    /// Set aside people who failed the exam or did not take it
    #[arg(long)]
    require_exam: bool,
    /// Set aside people whose mean IoU on attention checks is lower
    #[arg(long, value_name = "IOU")]
    min_check_iou: Option<f64>,
    /// Which pixels touch: those that share a side (4), or a side or a corner (8)
    #[arg(long, value_enum, default_value_t = Touching::Four)]
    connectivity: Touching,
    /// Share of the largest piece below which a piece is a speck
    #[arg(long, value_name = "SHARE", default_value_t = 0.01)]
    speck_share: f64,
    /// Pixels of the shorter side after resizing
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    resize: u32,
    /// Pixels of each side of the crop
    #[arg(long, value_name = "N", default_value_t = 224, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    crop: u32,
    /// Squeeze pictures square when resizing, as Hard ImageNet's published code does
    #[arg(long)]
    squeeze: bool,
    /// Bootstrap draws
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(100..))]
    resamples: u32,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Touching {
    #[value(name = "4")]
    Four,
    #[value(name = "8")]
    Eight,
}

pub(super) fn run(args: &MasksArgs, ui: &Ui) -> Result<(), CliError> {
    let options = options(args)?;
    let annotations = read(&args.annotations, args, ui)?;
    let references = match &args.reference {
        Some(path) => read(path, args, ui)?,
        None => Vec::new(),
    };
    ui.say(&format!("{} annotations read", annotations.len() + references.len()));
    let seed = Seed(args.output.seed);
    let input =
        Input { annotations: &annotations, references: &references, options: &options, seed };
    let mut scored = score(&input).map_err(|error| explained(&error, args))?;
    let simulated = annotations.iter().any(is_simulated);
    if simulated {
        scored.findings.caveats.add(Caveat::Simulated);
    }
    let replaced = args.output.folder().map(earlier_votes).transpose()?.flatten();
    let files = files(&scored, replaced)?;
    let title = title_of(&args.annotations);
    let summary = Summary {
        masks: Some(scored.findings),
        ..Summary::new(title, env!("CARGO_PKG_VERSION"), seed.0, simulated)
    };
    output::finish(summary, &files, &args.output, ui)
}

fn options(args: &MasksArgs) -> Result<Options, CliError> {
    let share = |name: &str, value: f64| {
        if (0.0..=1.0).contains(&value) {
            return Ok(value);
        }
        Err(CliError::input(format!("{name} should be from 0 to 1, found {value}"))
            .hint("write a share, e.g. 0.65, not a percentage"))
    };
    Ok(Options {
        exam_iou: share("--exam-iou", args.exam_iou)?,
        check_iou: share("--check-iou", args.check_iou)?,
        require_exam: args.require_exam,
        min_check_iou: args.min_check_iou.map(|iou| share("--min-check-iou", iou)).transpose()?,
        connectivity: match args.connectivity {
            Touching::Four => Connectivity::Four,
            Touching::Eight => Connectivity::Eight,
        },
        speck_share: share("--speck-share", args.speck_share)?,
        crop: Crop { resize: args.resize, crop: args.crop, keeps_aspect: !args.squeeze },
        n_resamples: args.resamples as usize,
        ..Options::default()
    })
}

fn read(path: &Path, args: &MasksArgs, ui: &Ui) -> Result<Vec<Annotation>, CliError> {
    let cannot = |error: CliError| error.while_doing("cannot read the annotations");
    let Some(format) = args.from else {
        return Annotation::read_all(path).map_err(|error| {
            // What does not parse at all may be another tool's file.
            let is_foreign = matches!(error.problem, Problem::Syntax { .. });
            let cli = cannot(error.into());
            let hint = "files of other tools need --from coco, labelme or masks";
            if is_foreign { cli.hint(hint) } else { cli }
        });
    };
    let foreign = annotations::read(format, &[path.to_owned()], &args.foreign).map_err(cannot)?;
    for note in &foreign.notes {
        ui.say(note);
    }
    Ok(foreign.annotations)
}

/// Puts the file in front of what is wrong with an annotation.
fn explained(error: &Error, args: &MasksArgs) -> CliError {
    let path = match error.place() {
        Some((List::Reference, _)) => args.reference.as_ref().unwrap_or(&args.annotations),
        _ => &args.annotations,
    };
    CliError::input(format!("{}: {error}", path.display())).hint(error.hint())
}

fn is_simulated(annotation: &Annotation) -> bool {
    annotation.extra.get(SOURCE).and_then(Value::as_str) == Some(SIMULATED)
}

/// Returns the votes as PNG and as annotations, and tables of objects and people.
fn files(scored: &Scored, replaced: Option<PathBuf>) -> Result<Files, CliError> {
    let mut n_by_stimulus: BTreeMap<&StimulusId, usize> = BTreeMap::new();
    for vote in &scored.votes {
        *n_by_stimulus.entry(&vote.stimulus).or_default() += 1;
    }
    let mut others = vec![
        ("object-masks.csv".to_owned(), objects_csv(&scored.findings).into_bytes()),
        ("annotators.csv".to_owned(), annotators_csv(&scored.findings).into_bytes()),
        (format!("{VOTES}/annotations.json"), Annotation::to_json(&scored.votes).into_bytes()),
    ];
    let mut first_by_name: BTreeMap<String, &StimulusId> = BTreeMap::new();
    for vote in &scored.votes {
        let mut name = file_name(vote.stimulus.as_str());
        if 1 < n_by_stimulus[&vote.stimulus] {
            name = format!("{name}--{}", file_name(vote.label.as_str()).replace('/', "_"));
        }
        if let Some(first) = first_by_name.insert(name.clone(), &vote.stimulus) {
            return Err(CliError::input(format!(
                "the masks of `{first}` and `{}` would both be called {name}.png",
                vote.stimulus
            ))
            .hint("give the stimuli ids that differ in letters, digits, `-` or `_`"));
        }
        others.push((format!("{VOTES}/{name}.png"), to_png(&vote.mask)));
    }
    Ok(Files { others, replaced: replaced.into_iter().collect(), ..Files::default() })
}

/// Returns the folder of an earlier run's votes in the output folder, if there is one. Whatever
/// else is there is somebody's own.
fn earlier_votes(output: &Path) -> Result<Option<PathBuf>, CliError> {
    let folder = output.join(VOTES);
    if folder::is_empty(&folder) {
        return Ok(None);
    }
    let is_vote =
        |vote: &Annotation| vote.participant.is_none() && vote.extra.contains_key(N_ANNOTATORS);
    match Annotation::read_all(&folder.join("annotations.json")) {
        Ok(votes) if votes.iter().all(is_vote) => Ok(Some(folder)),
        _ => Err(CliError::input(format!(
            "`{}` holds something else than votes of an earlier run",
            folder.display()
        ))
        .hint("write into another folder; nothing was written")),
    }
}

/// Returns an id as a path that stays inside its folder and that every system can write.
fn file_name(id: &str) -> String {
    let part = |part: &str| -> String {
        let safe =
            part.chars().map(|c| if c.is_control() || "\\:*?\"<>|".contains(c) { '_' } else { c });
        let safe: String = safe.collect();
        if safe.chars().all(|c| c == '.') { "_".into() } else { safe }
    };
    id.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_never_leaves_its_folder() {
        assert_eq!(file_name("mug/a b.png"), "mug/a b.png");
        assert_eq!(file_name("../../etc/x"), "_/_/etc/x");
        assert_eq!(file_name("/x"), "_/x");
        assert_eq!(file_name("a:b\\c\n"), "a_b_c_");
    }
}
