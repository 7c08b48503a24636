//! `mohs import coco|labelme|masks`: other tools' outlines as annotations.json.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mohs_data::Annotation;
use mohs_report::TextTable;

use crate::commands::annotations::{self, AnnotationArgs, AnnotationFormat};
use crate::error::CliError;
use crate::ui::Ui;

/// Says what was understood, and writes it unless this is a dry run.
pub(crate) fn run(
    format: AnnotationFormat,
    files: &[PathBuf],
    output: Option<&Path>,
    dry_run: bool,
    args: &AnnotationArgs,
    ui: &Ui,
) -> Result<(), CliError> {
    if let Some(output) = output.filter(|path| path.extension().is_none_or(|end| end != "json")) {
        return Err(CliError::input(format!("`{}` should end in .json", output.display()))
            .hint("annotations are written as JSON; see docs/formats/annotations.md"));
    }
    let foreign = annotations::read(format, files, args)?;
    let text = overview(&foreign.annotations).render();
    for note in &foreign.notes {
        ui.say(note);
    }
    if dry_run {
        return ui.data(format!("{text}\nNothing was written.\n").as_bytes());
    }
    let Some(output) = output else {
        return Err(CliError::input("--output is missing").hint("--output annotations.json"));
    };
    Annotation::write_all(output, &foreign.annotations)?;
    ui.say(text.trim_end());
    ui.say(&format!("\nwritten: {}", output.display()));
    Ok(())
}

fn overview(annotations: &[Annotation]) -> TextTable {
    let distinct = |of: &dyn Fn(&Annotation) -> Option<String>| {
        annotations.iter().filter_map(of).collect::<BTreeSet<_>>().len().to_string()
    };
    let sizes = distinct(&|a| Some(format!("{} × {}", a.mask.height(), a.mask.width())));
    TextTable::default()
        .row(["annotations", &annotations.len().to_string()])
        .row(["stimuli", &distinct(&|a| Some(a.stimulus.to_string()))])
        .row(["participants", &distinct(&|a| a.participant.as_ref().map(ToString::to_string))])
        .row(["labels", &distinct(&|a| Some(a.label.to_string()))])
        .row(["sizes", &sizes])
}
