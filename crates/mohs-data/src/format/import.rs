//! Other tools' files as trials, comparisons and predictions.
//!
//! One format is one file in `import/`. A reader takes paths (files, or folders searched for the
//! right endings), turns what it finds into a table of someone else's columns (`foreign.rs`),
//! says which of them are ours (`mapping.rs`), and leaves the checking of every cell to the noun
//! itself. It returns the rows with an [`Account`]: what was understood, what was kept without
//! being understood, and what was set aside by which rule. Nothing is guessed silently.

pub mod comparisons;
mod foreign;
mod json_rows;
pub mod jspsych;
pub mod labjs;
mod mapping;
pub mod model_vs_human;
pub mod mvt_toolkit;
pub mod own_columns;
mod paths;
pub mod predictions;
pub mod psychopy;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use mapping::{Mapping, Unit};

use crate::{FileError, Problem, Trial, TrialId};

/// What came out of other tools' files.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported<R> {
    /// Trials, comparisons or predictions, in the order of the files, ids unique over all of them.
    pub rows: Vec<R>,
    /// How they were understood.
    pub account: Account,
}

/// How files were understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// What the files were taken for, e.g. `SATBench's sequence of screens`.
    pub taken_for: BTreeSet<String>,
    /// The files read, in order.
    pub files: Vec<PathBuf>,
    /// Rows of the files, trials or not.
    pub n_records: usize,
    /// Our column and where it comes from, e.g. `rt` in seconds.
    pub sources: BTreeMap<String, BTreeSet<String>>,
    /// Columns kept without being understood, as they are called in the output.
    pub kept: BTreeSet<String>,
    /// Rows that did not become trials: why, and how many.
    pub set_aside: BTreeMap<String, usize>,
    /// What a reader of the data should know.
    pub notices: Vec<String>,
}

impl Account {
    /// Counts rows that did not become trials.
    fn set_aside(&mut self, why: impl Into<String>, n_rows: usize) {
        if 0 < n_rows {
            *self.set_aside.entry(why.into()).or_default() += n_rows;
        }
    }

    /// Notes where one of our columns comes from.
    fn source(&mut self, ours: &str, theirs: impl Into<String>) {
        self.sources.entry(ours.to_owned()).or_default().insert(theirs.into());
    }
}

/// How a reader is steered from outside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportOptions {
    /// What the user says about columns; it goes before what a reader would do by itself.
    pub mapping: Mapping,
    /// Keep trials a reader knows to be warm-up, marked in the column `warm_up`.
    pub keep_warm_up: bool,
}

/// Reads one file in memory: path, bytes, tag, options, account.
type Parse<R> = fn(&Path, Vec<u8>, &str, &ImportOptions, &mut Account) -> Result<Vec<R>, FileError>;

/// Reads files, or folders of them, one after the other.
fn each_file<R>(
    paths: &[PathBuf],
    endings: &[&str],
    options: &ImportOptions,
    parse: Parse<R>,
    id: impl Fn(&R) -> &TrialId,
) -> Result<Imported<R>, FileError> {
    let files = paths::files_of(paths, endings)?;
    let mut account = Account::default();
    let mut rows = Vec::new();
    for (file, tag) in files.iter().zip(tags_of(&files)) {
        rows.extend(parse(file, paths::bytes_of(file)?, &tag, options, &mut account)?);
    }
    account.files = files;
    finished(paths, rows, account, id)
}

/// Makes sure that there is something, and that no id stands twice.
fn finished<R>(
    paths: &[PathBuf],
    rows: Vec<R>,
    account: Account,
    id: impl Fn(&R) -> &TrialId,
) -> Result<Imported<R>, FileError> {
    let first = paths.first().map_or(Path::new(""), PathBuf::as_path);
    if rows.is_empty() {
        let aside: Vec<String> =
            account.set_aside.iter().map(|(why, n)| format!("{n} {why}")).collect();
        let found = match (account.n_records, aside.is_empty()) {
            (0, _) => "no rows".to_owned(),
            (n, true) => format!("{n} rows, none of them a trial"),
            (n, false) => format!("{n} rows, none of them a trial: {}", aside.join("; ")),
        };
        let problem = Problem::BadValue {
            expected: "at least one trial".into(),
            found,
            hint: Some("is this the right format? --dry-run shows what was understood".into()),
        };
        return Err(FileError::new(first, problem));
    }
    let mut seen = BTreeSet::new();
    for row in &rows {
        if !seen.insert(id(row)) {
            let problem = Problem::BadValue {
                expected: "trial ids that stand once over all files".into(),
                found: id(row).to_string(),
                hint: Some(
                    "was a file named twice? `--map trial=` makes ids from the place in the file"
                        .into(),
                ),
            };
            return Err(FileError::new(first, problem));
        }
    }
    Ok(Imported { rows, account })
}

/// Numbers trials within their session in file order, where the file gives no numbers.
fn number_within_sessions(trials: &mut [Trial]) {
    let mut n_by_session: BTreeMap<crate::SessionId, u64> = BTreeMap::new();
    for trial in trials {
        let n = n_by_session.entry(trial.session.clone()).or_default();
        trial.idx.get_or_insert(*n);
        *n += 1;
    }
}

/// Returns a short name for each file, told apart by its folders where file names repeat.
fn tags_of(files: &[PathBuf]) -> Vec<String> {
    let stem = |path: &PathBuf| {
        path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    };
    let stems: Vec<String> = files.iter().map(stem).collect();
    let is_unique = stems.iter().collect::<BTreeSet<_>>().len() == stems.len();
    if is_unique {
        return stems;
    }
    files.iter().map(|path| path.with_extension("").to_string_lossy().replace('\\', "/")).collect()
}
