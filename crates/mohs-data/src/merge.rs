//! Joining files of predictions: the shards of one evaluation, or what different models said.
//!
//! Shards are put into the order of one run and must be complete; other files are put one behind
//! the other. Nothing is averaged and nothing is chosen: a row that stands twice is an error, and
//! so is one that is missing. Files are streamed, so memory does not grow with them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use compact_str::CompactString;

use crate::format::{ReadOptions, TableReader, TableWriter};
use crate::{FileError, ModelName, Outcome, Prediction, StimulusId};

/// Files that cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A row is in no file.
    #[error("no file has the row of {row}")]
    Missing {
        /// Model, stimulus and probe.
        row: String,
    },
    /// A row is there twice.
    #[error("{}:{line}: the row of {row} stands twice", path.display())]
    Twice {
        /// Where it stands the second time.
        path: PathBuf,
        /// In which line.
        line: u64,
        /// Model, stimulus and probe.
        row: String,
    },
    /// A row belongs to nothing that was asked.
    #[error("{}:{line}: the row of {row} is no part of this evaluation", path.display())]
    Stranger {
        /// Where it stands.
        path: PathBuf,
        /// In which line.
        line: u64,
        /// Model, stimulus and probe.
        row: String,
    },
}

/// What a whole evaluation consists of, in the order of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The models.
    pub models: Vec<ModelName>,
    /// The stimuli.
    pub stimuli: Vec<StimulusId>,
    /// The probes by name.
    pub probes: Vec<CompactString>,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Rows in all.
    pub n_rows: usize,
    /// Rows without an answer.
    pub n_failed: usize,
}

impl Merged {
    fn add(&mut self, prediction: &Prediction) {
        self.n_rows += 1;
        self.n_failed += usize::from(matches!(prediction.outcome, Outcome::Failed(_)));
    }
}

/// A file with its next row.
struct Shard {
    path: PathBuf,
    reader: TableReader<Prediction>,
    next: Option<Prediction>,
}

impl Shard {
    fn open(path: &Path) -> Result<Shard, FileError> {
        let mut reader = TableReader::open(path, &ReadOptions::default())?;
        let next = reader.next().transpose()?;
        Ok(Shard { path: path.to_owned(), reader, next })
    }

    fn take(&mut self) -> Result<Option<Prediction>, FileError> {
        let next = self.reader.next().transpose()?;
        Ok(std::mem::replace(&mut self.next, next))
    }
}

/// Joins the shards of an evaluation into what one run would have written.
pub fn shards(whole: &Whole, files: &[PathBuf], output: &Path) -> Result<Merged, MergeError> {
    let mut shards = files.iter().map(|path| Shard::open(path)).collect::<Result<Vec<_>, _>>()?;
    let mut writer = TableWriter::create(output, Vec::new().into())?;
    let mut merged = Merged::default();
    let mut current = 0;
    for model in &whole.models {
        for stimulus in &whole.stimuli {
            for probe in &whole.probes {
                let is_it = |shard: &Shard| {
                    shard.next.as_ref().is_some_and(|row| {
                        row.model == *model && row.stimulus == *stimulus && row.probe == *probe
                    })
                };
                let holder = match shards.get(current) {
                    Some(shard) if is_it(shard) => Some(current),
                    _ => shards.iter().position(is_it),
                };
                let Some(idx) = holder else {
                    return Err(complaint(whole, &shards, model, stimulus, probe));
                };
                current = idx;
                if let Some(row) = shards[idx].take()? {
                    merged.add(&row);
                    writer.push(&row)?;
                }
            }
        }
    }
    for shard in &mut shards {
        if let Some(row) = shard.next.take() {
            return Err(left_over(whole, shard, &row));
        }
    }
    writer.finish()?;
    Ok(merged)
}

/// Says why a row was not found: it is missing, or another stands in front of it.
fn complaint(
    whole: &Whole,
    shards: &[Shard],
    model: &ModelName,
    stimulus: &StimulusId,
    probe: &str,
) -> MergeError {
    let place = |row: &Prediction| {
        let models = whole.models.iter().position(|model| *model == row.model);
        let stimuli = whole.stimuli.iter().position(|stimulus| *stimulus == row.stimulus);
        let probes = whole.probes.iter().position(|probe| *probe == row.probe);
        models.zip(stimuli).zip(probes)
    };
    let wanted = Prediction {
        model: model.clone(),
        stimulus: stimulus.clone(),
        probe: probe.into(),
        condition: None,
        label: None,
        outcome: Outcome::Failed(crate::FailureReason::new("")),
        extra: crate::Extra::default(),
    };
    for shard in shards {
        if let Some(row) = &shard.next
            && place(row) < place(&wanted)
        {
            return left_over(whole, shard, row);
        }
    }
    MergeError::Missing { row: describe(&wanted) }
}

/// A row that is left when all rows were found: a second one of its kind, or a stranger.
fn left_over(whole: &Whole, shard: &Shard, row: &Prediction) -> MergeError {
    let is_known = whole.models.contains(&row.model)
        && whole.stimuli.contains(&row.stimulus)
        && whole.probes.contains(&row.probe);
    // The reader is one row ahead of the row that waits.
    let (path, line) = (shard.path.clone(), shard.reader.line());
    let row = describe(row);
    if is_known {
        MergeError::Twice { path, line, row }
    } else {
        MergeError::Stranger { path, line, row }
    }
}

fn describe(row: &Prediction) -> String {
    let condition = match &row.condition {
        Some(condition) => format!(", {} {}", condition.name, condition.value),
        None => String::new(),
    };
    format!("model `{}`, stimulus `{}`, probe `{}`{condition}", row.model, row.stimulus, row.probe)
}

/// Puts files one behind the other; a row may stand only once.
pub fn any(files: &[PathBuf], output: &Path) -> Result<Merged, MergeError> {
    let options = ReadOptions::default();
    let mut extra_names: Vec<CompactString> = Vec::new();
    for path in files {
        let reader = TableReader::<Prediction>::open(path, &options)?;
        for name in reader.extra_names().iter() {
            if !extra_names.contains(name) {
                extra_names.push(name.clone());
            }
        }
    }
    let mut writer = TableWriter::create(output, extra_names.into())?;
    let mut seen: HashSet<String> = HashSet::new();
    let mut merged = Merged::default();
    for path in files {
        let mut reader = TableReader::<Prediction>::open(path, &options)?;
        while let Some(row) = reader.next() {
            let row = row?;
            let text = describe(&row);
            if seen.contains(&text) {
                return Err(MergeError::Twice {
                    path: path.clone(),
                    line: reader.line(),
                    row: text,
                });
            }
            seen.insert(text);
            merged.add(&row);
            writer.push(&row)?;
        }
    }
    writer.finish()?;
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "model,stimulus,probe,condition,condition_value,label,outcome,predicted,\
                          confidence,correct,top_k,reason,predictions_version\n";

    fn row(model: &str, stimulus: &str, probe: &str) -> String {
        format!("{model},{stimulus},{probe},,,cat,answered,cat,0.125,1,cat:0.125|dog:0.1,,1\n")
    }

    fn file(folder: &Path, name: &str, rows: &[String]) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, format!("{HEADER}{}", rows.concat())).unwrap();
        path
    }

    fn whole() -> Whole {
        Whole {
            models: vec!["a".into(), "b".into()],
            stimuli: vec!["1".into(), "2".into(), "3".into()],
            probes: vec!["none".into(), "grey".into()],
        }
    }

    /// Rows of one run over these stimuli.
    fn rows_of(stimuli: &[&str]) -> Vec<String> {
        let mut rows = Vec::new();
        for model in ["a", "b"] {
            for stimulus in stimuli {
                rows.extend(["none", "grey"].map(|probe| row(model, stimulus, probe)));
            }
        }
        rows
    }

    fn merge_shards(files: &[Vec<String>]) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = files
            .iter()
            .enumerate()
            .map(|(idx, rows)| file(folder.path(), &format!("{idx}.csv"), rows))
            .collect();
        let output = folder.path().join("all.csv");
        match shards(&whole(), &paths, &output) {
            Ok(_) => Ok(std::fs::read_to_string(&output).unwrap()),
            Err(error) => {
                assert!(!output.exists());
                let text = error.to_string();
                Err(text.rsplit_once('/').map_or(text.clone(), |(_, rest)| rest.to_owned()))
            }
        }
    }

    #[test]
    fn shards_become_one_run_byte_by_byte_whatever_their_order() {
        let expected = format!("{HEADER}{}", rows_of(&["1", "2", "3"]).concat());
        let [one, two, three] = [rows_of(&["1"]), rows_of(&["2"]), rows_of(&["3"])];
        assert_eq!(merge_shards(&[one, two, three]), Ok(expected.clone()));
        assert_eq!(merge_shards(&[rows_of(&["2", "3"]), rows_of(&["1"])]), Ok(expected));
    }

    #[test]
    fn a_row_that_is_missing_stands_twice_or_is_strange_is_named() {
        let one = rows_of(&["1", "2"]);
        assert_eq!(
            merge_shards(std::slice::from_ref(&one)).unwrap_err(),
            "no file has the row of model `a`, stimulus `3`, probe `none`"
        );
        let twice = merge_shards(&[one.clone(), rows_of(&["2", "3"])]).unwrap_err();
        assert!(twice.contains("model `a`, stimulus `2`, probe `none` stands twice"), "{twice}");
        let mut strange = rows_of(&["3"]);
        strange.push(row("c", "9", "none"));
        let strange = merge_shards(&[one, strange]).unwrap_err();
        assert!(strange.contains("`c`, stimulus `9`, probe `none` is no part"), "{strange}");
    }

    #[test]
    fn files_of_different_models_are_joined_and_no_row_stands_twice() {
        let folder = tempfile::tempdir().unwrap();
        let one = file(folder.path(), "1.csv", &[row("a", "1", "none")]);
        let two = file(folder.path(), "2.csv", &[row("b", "1", "none"), row("a", "1", "grey")]);
        let output = folder.path().join("all.csv");
        let merged = any(&[one.clone(), two.clone()], &output).unwrap();
        assert_eq!(merged, Merged { n_rows: 3, n_failed: 0 });
        let error = any(&[one.clone(), two, one], &output).unwrap_err().to_string();
        assert!(
            error.ends_with(":2: the row of model `a`, stimulus `1`, probe `none` stands twice")
        );
    }
}
