//! Where predictions go, and what must not be overwritten.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mohs_data::Manifest;
use mohs_vision::evaluate::Part;

use crate::commands::import::{check_output, check_overwrites_none};
use crate::error::CliError;

/// The output with a part's name in it: `predictions.1-of-4.csv`. What is only a part never takes
/// the place of the whole.
pub(super) fn output(output: &Path, part: Part, models: Option<&[String]>) -> PathBuf {
    let mut parts = Vec::new();
    if let Some(models) = models {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let plain = |name: &String| -> String {
            name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
        };
        parts.push(models.iter().map(plain).collect::<Vec<_>>().join("+"));
    }
    match part {
        Part::All => {}
        Part::First(n) => parts.push(format!("first-{n}")),
        Part::Block { number, n } => parts.push(format!("{number}-of-{n}")),
    }
    if parts.is_empty() {
        return output.to_owned();
    }
    let mut name: OsString = output.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{}", parts.join(".")));
    if let Some(ending) = output.extension() {
        name.push(".");
        name.push(ending);
    }
    output.with_file_name(name)
}

/// Refuses an output that cannot be written or is one of the files read.
pub(super) fn check(
    output: &Path,
    manifest_path: &Path,
    stimuli: &Path,
    manifest: &Manifest,
    folder: &Path,
) -> Result<(), CliError> {
    check_output(output)?;
    let mut inputs = vec![manifest_path.to_owned(), stimuli.to_owned()];
    inputs.extend(manifest.difficulty.iter().map(|path| folder.join(path)));
    let files = manifest.models.iter().filter(|model| model.endpoint.is_none());
    inputs.extend(files.map(|model| folder.join(&model.file)));
    check_overwrites_none(output, &inputs)?;
    for side in super::side_files(manifest, folder) {
        check_overwrites_none(&side, &inputs)?;
    }
    let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.is_dir() => Err(CliError::input(format!(
            "the folder of the output is not there: {}",
            parent.display()
        ))
        .hint("make it first")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_number_in_its_name() {
        let named = |part, models: Option<&[String]>| {
            let path = output(Path::new("a/predictions.csv"), part, models);
            path.to_string_lossy().into_owned()
        };
        assert_eq!(named(Part::All, None), "a/predictions.csv");
        let block = Part::Block { number: 1, n: 2 };
        assert_eq!(named(block, None), "a/predictions.1-of-2.csv");
        let models = ["x/y".to_owned(), "z".to_owned()];
        assert_eq!(named(Part::First(5), Some(&models)), "a/predictions.x_y+z.first-5.csv");
    }
}
