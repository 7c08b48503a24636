//! Changed pictures, kept on request: as pictures to look at and as exact numbers.
//!
//! `<name>.png` is the changed picture in 8 bits, which may differ from the exact one by half a
//! level; `<name>.npy` has its exact numbers, `<name>.clean.png` the picture as the model sees it.
//! `examples.csv` says what they are, and is written last. Until then `examples.unfinished` names
//! every picture before it is written, so that a folder of a run that was killed is known again, and
//! no picture is left that nothing lists. What no list of ours names is never removed.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, atomic, read_all, write_all};
use mohs_data::{AttackExample, Extra, FileError, Goal, Label, ModelName, Norm, StimulusId};

use crate::pixels::{self, Pixels, Rgb8};
use crate::probe::attack::Attack;

/// A changed picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The attack that made it.
    pub attack: &'static str,
    /// How its size is measured.
    pub norm: Norm,
    /// What the attack was after.
    pub goal: Goal,
    /// The ε it was made with.
    pub epsilon: f64,
    /// The right answer.
    pub label: Label,
    /// What the model says of the picture as it is.
    pub clean: Label,
    /// What the model says of the changed picture.
    pub answer: Label,
    /// The picture.
    pub before: Pixels,
    /// The changed picture.
    pub after: Pixels,
}

impl Example {
    /// Returns the size of the change by its norm, which is larger than ε where ε is the length of a
    /// step.
    pub fn change(&self) -> f64 {
        let (before, after) = (self.before.planes(), self.after.planes());
        let changes = || before.iter().zip(after).map(|(x, z)| f64::from(*z) - f64::from(*x));
        match self.norm {
            Norm::Linf => changes().map(f64::abs).fold(0.0, f64::max),
            Norm::L2 => changes().map(|change| change * change).sum::<f64>().sqrt(),
        }
    }

    /// Says what a file of it holds.
    pub fn row(&self, model: &ModelName, stimulus: &StimulusId, file: PathBuf) -> AttackExample {
        AttackExample {
            model: model.clone(),
            stimulus: stimulus.clone(),
            attack: self.attack.into(),
            norm: self.norm,
            goal: self.goal,
            epsilon: self.epsilon,
            change: Some(self.change()),
            label: self.label.clone(),
            clean: Some(self.clean.clone()),
            answer: Some(self.answer.clone()),
            file,
            band: None,
            extra: Extra::default(),
        }
    }
}

/// The names of pictures of a run that has not ended, beside them.
const UNFINISHED: &str = "examples.unfinished";
/// Endings of the files of one example.
const ENDINGS: [&str; 3] = ["clean.png", "png", "npy"];

/// Returns whether a folder may be filled with examples: it is not there, is empty, or holds those of
/// an earlier run, finished or not.
///
/// Runs of versions that kept no list of unfinished pictures are known by the names of their files,
/// where nothing else is in the folder.
pub fn is_for_examples(folder: &Path) -> bool {
    if folder.join(AttackExample::FILE).exists() {
        return earlier_table(folder).is_some();
    }
    if folder.join(UNFINISHED).is_file() {
        return true;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return !folder.exists() };
    entries.filter_map(Result::ok).all(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_half_written = name.starts_with(".mohs-") && name.ends_with(".part");
        is_half_written || stem_of_file(&name).is_some()
    })
}

/// Writes examples into a folder.
#[derive(Debug)]
pub struct ExampleWriter {
    folder: PathBuf,
    table: Vec<AttackExample>,
    /// Names without endings of pictures that earlier runs wrote.
    earlier: BTreeSet<String>,
    unfinished: File,
}

impl ExampleWriter {
    /// Begins to write into this folder, which must be there and [be for examples](is_for_examples).
    ///
    /// The table of an earlier run goes at once, because it does not say what the pictures are from
    /// now on; its pictures go at the end, unless they were written again.
    pub fn begin(folder: &Path) -> Result<ExampleWriter, FileError> {
        let table = earlier_table(folder).unwrap_or_default();
        let name = |row: &AttackExample| Some(stem_of_file(row.file.to_str()?)?.to_owned());
        let mut earlier: BTreeSet<String> = table.iter().filter_map(name).collect();
        let path = folder.join(UNFINISHED);
        let names = std::fs::read_to_string(&path).unwrap_or_default();
        let is_ours = |stem: &&str| stem_of_file(&format!("{stem}.png")) == Some(stem);
        earlier.extend(names.lines().filter(is_ours).map(str::to_owned));
        let names: String = earlier.iter().map(|stem| format!("{stem}\n")).collect();
        atomic::write_file(&path, names.as_bytes())?;
        remove(&folder.join(AttackExample::FILE))?;
        let unfinished = OpenOptions::new().append(true).open(&path);
        let unfinished = unfinished.map_err(|cause| FileError::cannot_write(&path, cause))?;
        Ok(ExampleWriter { folder: folder.to_owned(), table: Vec::new(), earlier, unfinished })
    }

    /// How many examples were written.
    pub fn n_written(&self) -> usize {
        self.table.len()
    }

    /// Writes one example.
    pub fn push(
        &mut self,
        model: &ModelName,
        stimulus: &StimulusId,
        example: &Example,
    ) -> Result<(), FileError> {
        let stem = stem_of(model, stimulus, example.attack);
        let path = |ending: &str| self.folder.join(format!("{stem}.{ending}"));
        writeln!(self.unfinished, "{stem}")
            .map_err(|cause| FileError::cannot_write(&self.folder.join(UNFINISHED), cause))?;
        let (before, after) = (&example.before, &example.after);
        atomic::write_file(&path("clean.png"), &Rgb8::from(before).to_png())?;
        atomic::write_file(&path("png"), &Rgb8::from(after).to_png())?;
        let shape = [3, after.height(), after.width()];
        atomic::write_file(&path("npy"), &pixels::npy(shape, after.planes()))?;
        self.table.push(example.row(model, stimulus, format!("{stem}.png").into()));
        Ok(())
    }

    /// Removes what earlier runs listed and this one did not write, and writes the table.
    pub fn finish(self) -> Result<(), FileError> {
        let written: BTreeSet<&str> =
            self.table.iter().filter_map(|row| stem_of_file(row.file.to_str()?)).collect();
        for stem in self.earlier.iter().filter(|stem| !written.contains(stem.as_str())) {
            for ending in ENDINGS {
                remove(&self.folder.join(format!("{stem}.{ending}")))?;
            }
        }
        write_all(&self.folder.join(AttackExample::FILE), &self.table)?;
        remove(&self.folder.join(UNFINISHED))
    }
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), FileError> {
    match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::cannot_write(path, cause))
        }
        _ => Ok(()),
    }
}

/// Returns the table of an earlier run; `None` where there is none that can be read, or one of
/// somebody else, whose files have names that were not given here.
fn earlier_table(folder: &Path) -> Option<Vec<AttackExample>> {
    let path = folder.join(AttackExample::FILE);
    let table: Vec<AttackExample> = read_all(&path, &ReadOptions::default()).ok()?;
    let is_ours = |row: &AttackExample| row.file.to_str().and_then(stem_of_file).is_some();
    table.iter().all(is_ours).then_some(table)
}

/// Returns the name without its ending of a file that [`stem_of`] named: text, the attack and eight
/// letters of a hash, with dots between; `None` of any other file.
fn stem_of_file(name: &str) -> Option<&str> {
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'))?;
    let is_plain = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let is_hash = |part: &str| part.len() == 8 && part.chars().all(|c| c.is_ascii_hexdigit());
    match stem.split('.').collect::<Vec<_>>().as_slice() {
        [text, attack, hash] => (is_plain(text)
            && Attack::find(attack).is_some_and(|found| found.name == *attack)
            && is_hash(hash))
        .then_some(stem),
        _ => None,
    }
}

/// A name for files that no two examples share: what is readable, and a few letters of a hash.
fn stem_of(model: &ModelName, stimulus: &StimulusId, attack: &str) -> String {
    let whole = format!("{model}\n{stimulus}\n{attack}");
    let plain = |text: &str| -> String {
        let kept = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
        kept.take(40).collect()
    };
    let hash = blake3::hash(whole.as_bytes()).to_hex();
    format!("{}.{attack}.{}", plain(stimulus.as_str()), &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(attack: &'static str) -> Example {
        let grey = || Pixels::new(1, 1, vec![0.5; 3]).unwrap();
        Example {
            attack,
            norm: Norm::Linf,
            goal: Goal::Fool,
            epsilon: 0.01,
            label: "mug".into(),
            clean: "mug".into(),
            answer: "cup".into(),
            before: grey(),
            after: grey(),
        }
    }

    fn run(folder: &Path, attacks: &[&'static str], is_finished: bool) {
        let mut writer = ExampleWriter::begin(folder).unwrap();
        for attack in attacks {
            writer.push(&"m".into(), &"s".into(), &example(attack)).unwrap();
        }
        if is_finished {
            writer.finish().unwrap();
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_that_a_run_left_in_the_middle_ends_as_if_nothing_had_happened() {
        let [whole, broken] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        run(whole.path(), &["pgd", "fgsm"], true);
        run(broken.path(), &["pgd", "square"], false);
        assert!(is_for_examples(broken.path()));
        run(broken.path(), &["pgd", "fgsm"], true);
        assert_eq!(names(whole.path()), names(broken.path()));
        assert_eq!(names(whole.path()).len(), 7);
    }

    #[test]
    fn pictures_of_an_earlier_run_go_and_files_of_somebody_else_stay() {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), &["pgd", "square"], true);
        std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();
        run(folder.path(), &["fgsm"], true);
        let names = names(folder.path());
        assert_eq!(names.len(), 5, "{names:?}");
        assert!(names.contains(&"notes.txt".to_owned()));
    }

    #[test]
    fn pictures_without_any_list_are_known_by_their_names_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(is_for_examples(&path("nowhere")) && is_for_examples(folder.path()));
        for name in ["s.pgd.0123abcd.png", "s.pgd.0123abcd.clean.png", ".mohs-x1.part"] {
            std::fs::write(path(name), "").unwrap();
        }
        assert!(is_for_examples(folder.path()));
        std::fs::write(path("holiday.png"), "").unwrap();
        assert!(!is_for_examples(folder.path()));
    }

    #[test]
    fn a_table_of_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("examples.csv");
        std::fs::write(&table, "a,b\n1,2\n").unwrap();
        assert!(!is_for_examples(folder.path()));
        std::fs::remove_file(&table).unwrap();
        // Also where it can be read: the pictures have names that were not given here.
        run(folder.path(), &["pgd"], true);
        assert!(is_for_examples(folder.path()));
        let mut own = earlier_table(folder.path()).unwrap();
        own[0].file = "cat-attacked.png".into();
        write_all(&table, &own).unwrap();
        for name in ["examples.csv", "examples.unfinished"] {
            std::fs::write(folder.path().join(name), std::fs::read(&table).unwrap()).unwrap();
            assert!(!is_for_examples(folder.path()), "{name}");
        }
    }

    #[test]
    fn the_size_of_a_change_is_measured_and_not_taken_from_epsilon() {
        let after = Pixels::new(1, 1, vec![0.75, 0.5, 0.25]).unwrap();
        let mut changed = Example { after, ..example("fgsm") };
        assert!((changed.change() - 0.25).abs() < 1e-12);
        changed.norm = Norm::L2;
        assert!((changed.change() - 0.125_f64.sqrt()).abs() < 1e-12);
    }
}
