//! Annotations of other tools: COCO files, LabelMe files, folders of PNG masks.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use mohs_data::format::{coco, labelme};
use mohs_data::{Annotation, Label};
use mohs_vision::masks::{self, FolderOptions, Layout, ObjectPixels};

use crate::error::CliError;

/// What wrote the annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotationFormat {
    /// COCO instances: one JSON file
    Coco,
    /// LabelMe: one JSON file per picture
    Labelme,
    /// A folder of PNG masks
    Masks,
}

/// What annotations of other tools leave unsaid.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct AnnotationArgs {
    /// What folders say about masks and LabelMe files
    #[arg(long, value_enum, default_value_t = FolderNames::None)]
    folders: FolderNames,
    /// Which values of PNG masks are object: grey values or palette indices [default: all but 0]
    #[arg(long, value_name = "N,N", value_delimiter = ',', conflicts_with = "object_from")]
    object_values: Vec<u16>,
    /// The least value of PNG masks that is object
    #[arg(long, value_name = "N")]
    object_from: Option<u16>,
    /// What is outlined on PNG masks, where no folder says so
    #[arg(long, value_name = "LABEL", default_value = "object")]
    label: String,
}

/// What the names of folders say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum FolderNames {
    /// Nothing
    #[default]
    None,
    /// PARTICIPANT/file
    Participants,
    /// CLASS/file
    Classes,
    /// PARTICIPANT/CLASS/file
    ParticipantsAndClasses,
}

/// Annotations, and what people should know about how they were read.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) notes: Vec<String>,
}

/// Reads annotations of another tool.
pub(crate) fn read(
    format: AnnotationFormat,
    paths: &[PathBuf],
    args: &AnnotationArgs,
) -> Result<Foreign, CliError> {
    let mut foreign = Foreign { annotations: Vec::new(), notes: Vec::new() };
    match format {
        AnnotationFormat::Coco => {
            for path in paths {
                read_coco(path, &mut foreign)?;
            }
        }
        AnnotationFormat::Labelme => {
            let drawn = match args.folders {
                FolderNames::Participants => labelme::Drawn::ByFolder,
                FolderNames::None => labelme::Drawn::BySomebody,
                _ => {
                    return Err(CliError::input("LabelMe files carry their own labels")
                        .hint("use --folders participants, or none"));
                }
            };
            let read = labelme::read(paths, drawn, &masks::decode_base64)?;
            foreign.annotations = read.annotations;
            if 0 < read.n_left_out {
                let one = "point or line outlines nothing and is left out";
                let many = "points and lines outline nothing and are left out";
                foreign.notes.push(counted(read.n_left_out, one, many));
            }
        }
        AnnotationFormat::Masks => {
            for path in paths {
                foreign.annotations.extend(masks::read_folder(path, &folder_options(args))?);
            }
        }
    }
    Ok(foreign)
}

fn read_coco(path: &Path, foreign: &mut Foreign) -> Result<(), CliError> {
    let read = coco::read(path)?;
    if !read.without_label.is_empty() {
        let n = read.without_label.len();
        foreign.notes.push(counted(n, "picture has no annotation", "pictures have no annotation"));
    }
    if 0 < read.n_crowds {
        let (one, many) = ("crowd (`iscrowd`) is left out", "crowds (`iscrowd`) are left out");
        foreign.notes.push(counted(read.n_crowds, one, many));
    }
    if 0 < read.n_outside {
        let one = "outline reaches beyond its picture; what sticks out is cut off";
        let many = "outlines reach beyond their pictures; what sticks out is cut off";
        foreign.notes.push(counted(read.n_outside, one, many));
    }
    if read.annotations.is_empty() {
        let message = format!("`{}` should have outlines, found none", path.display());
        return Err(CliError::input(message)
            .hint("boxes alone are no masks; name a file with `segmentation`"));
    }
    foreign.annotations.extend(read.annotations);
    Ok(())
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn folder_options(args: &AnnotationArgs) -> FolderOptions {
    let object = match (args.object_values.as_slice(), args.object_from) {
        ([], None) => ObjectPixels::NotZero,
        ([], Some(least)) => ObjectPixels::AtLeast(least),
        (values, _) => ObjectPixels::Values(values.to_vec()),
    };
    let layout = match args.folders {
        FolderNames::None => Layout::Flat,
        FolderNames::Participants => Layout::ByParticipant,
        FolderNames::Classes => Layout::ByClass,
        FolderNames::ParticipantsAndClasses => Layout::ByParticipantAndClass,
    };
    FolderOptions { layout, object, label: Label::new(&args.label) }
}
