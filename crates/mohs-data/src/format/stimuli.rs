//! Stimuli from whatever people have: a table, a folder, a COCO file or a list.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::table::Record;
use super::{ReadOptions, TableReader, coco, file_list, image_folder};
use crate::{FileError, Problem, Stimulus, StimulusId};

/// Tables looked for in a folder, first one first.
const TABLES: [&str; 4] = ["stimuli.csv", "stimuli.parquet", "metadata.csv", "metadata.parquet"];

/// Reads stimuli; at least one, each id once.
///
/// What is read depends on what `path` is: a folder with a table (`stimuli.csv`, or `metadata.csv`
/// as Hugging Face writes it) or with one folder per class; a `.json` file in COCO format; a `.txt`
/// list of files and labels; a CSV or Parquet table. A `.csv` without header is a list.
pub fn read_stimuli(path: &Path, options: &ReadOptions) -> Result<Vec<Stimulus>, FileError> {
    if path.is_dir() {
        return match TABLES.iter().map(|name| path.join(name)).find(|table| table.is_file()) {
            Some(table) => read_table(&table, options),
            None => image_folder::read(path),
        };
    }
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if ending == "json" {
        let lined = |stimulus| (None, stimulus);
        return unique(path, coco::read(path)?.stimuli.into_iter().map(lined));
    }
    if ending == "txt" || ending == "lst" || (ending == "csv" && is_list(path)) {
        let lined = |(line, stimulus)| (Some(line), stimulus);
        return unique(path, file_list::read(path)?.into_iter().map(lined));
    }
    read_table(path, options)
}

/// Returns the folder that the files of stimuli are relative to.
pub fn folder_of_stimuli(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.to_owned();
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn read_table(path: &Path, options: &ReadOptions) -> Result<Vec<Stimulus>, FileError> {
    let mut options = options.clone();
    let is_metadata = path.file_stem().is_some_and(|stem| stem == "metadata");
    if is_metadata && !options.column_map.contains_key("file") {
        options.column_map.insert("file".into(), "file_name".into());
    }
    let mut reader = TableReader::<Stimulus>::open(path, &options)?;
    let mut stimuli = Vec::new();
    while let Some(stimulus) = reader.next() {
        stimuli.push((Some(reader.line()), stimulus?));
    }
    unique(path, stimuli)
}

/// Makes sure that there is a stimulus, and that no id stands twice.
fn unique(
    path: &Path,
    lined: impl IntoIterator<Item = (Option<u64>, Stimulus)>,
) -> Result<Vec<Stimulus>, FileError> {
    let mut line_by_id: HashMap<StimulusId, Option<u64>> = HashMap::new();
    let mut stimuli = Vec::new();
    for (line, stimulus) in lined {
        if let Some(first) = line_by_id.insert(stimulus.id.clone(), line) {
            let what = Stimulus::SCHEMA.row_noun;
            let problem =
                Problem::Duplicate { what, id: stimulus.id.to_string(), first_line: first };
            let error = FileError::new(path, problem);
            return Err(match line {
                Some(line) => error.at_line(line),
                None => error,
            });
        }
        stimuli.push(stimulus);
    }
    if stimuli.is_empty() {
        return Err(FileError::new(path, Problem::NoRows { noun: Stimulus::SCHEMA.row_noun }));
    }
    Ok(stimuli)
}

/// Returns whether a file starts like a list; what cannot be read is left to the real reader.
fn is_list(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    let mut first_line = Vec::new();
    let is_read = BufReader::new(file).take(8_192).read_until(b'\n', &mut first_line).is_ok();
    is_read && std::str::from_utf8(&first_line).is_ok_and(file_list::looks_like_list)
}
