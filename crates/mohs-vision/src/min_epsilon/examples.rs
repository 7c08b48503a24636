//! Changed pictures, kept on request: as pictures to look at and as exact numbers.
//!
//! `<name>.png` is the changed picture in 8 bits, which may differ from the exact one by half a
//! level; `<name>.npy` has its exact numbers, `<name>.clean.png` the picture as the model sees it.
//! `examples.csv` says what they are.

use std::path::{Path, PathBuf};

use mohs_data::format::{atomic, write_all};
use mohs_data::{AttackExample, Extra, FileError, Goal, Label, ModelName, Norm, StimulusId};

use crate::pixels::{self, Pixels, Rgb8};

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
    /// Says what a file of it holds.
    pub fn row(&self, model: &ModelName, stimulus: &StimulusId, file: PathBuf) -> AttackExample {
        AttackExample {
            model: model.clone(),
            stimulus: stimulus.clone(),
            attack: self.attack.into(),
            norm: self.norm,
            goal: self.goal,
            epsilon: self.epsilon,
            label: self.label.clone(),
            clean: Some(self.clean.clone()),
            answer: Some(self.answer.clone()),
            file,
            band: None,
            extra: Extra::default(),
        }
    }
}

/// Writes examples into a folder.
#[derive(Debug)]
pub struct ExampleWriter {
    folder: PathBuf,
    table: Vec<AttackExample>,
}

impl ExampleWriter {
    /// Writes into this folder, which must be there.
    pub fn new(folder: &Path) -> ExampleWriter {
        ExampleWriter { folder: folder.to_owned(), table: Vec::new() }
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
        let (before, after) = (&example.before, &example.after);
        atomic::write_file(&path("clean.png"), &Rgb8::from(before).to_png())?;
        atomic::write_file(&path("png"), &Rgb8::from(after).to_png())?;
        let shape = [3, after.height(), after.width()];
        atomic::write_file(&path("npy"), &pixels::npy(shape, after.planes()))?;
        self.table.push(example.row(model, stimulus, format!("{stem}.png").into()));
        Ok(())
    }

    /// Writes the table of examples.
    pub fn finish(self) -> Result<(), FileError> {
        write_all(&self.folder.join(AttackExample::FILE), &self.table)
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
