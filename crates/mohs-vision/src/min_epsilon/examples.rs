//! Changed pictures, kept on request: as pictures to look at and as exact numbers.
//!
//! `<name>.png` is the changed picture in 8 bits, which may differ from the exact one by half a
//! level; `<name>.npy` has its exact numbers, `<name>.clean.png` the picture as the model sees it.
//! `examples.csv` says what they are.

use std::path::{Path, PathBuf};

use mohs_data::format::atomic;
use mohs_data::{FileError, Label, ModelName, Norm, StimulusId};

use crate::evaluate::side_table::cell;
use crate::pixels::{self, Pixels, Rgb8};

/// A changed picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The attack that made it.
    pub attack: &'static str,
    /// How its size is measured.
    pub norm: Norm,
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

/// Writes examples into a folder.
#[derive(Debug)]
pub struct ExampleWriter {
    folder: PathBuf,
    table: String,
    n_written: usize,
}

const HEADER: &str = "model,stimulus,attack,norm,epsilon,label,clean,answer,file\n";

impl ExampleWriter {
    /// Writes into this folder, which must be there.
    pub fn new(folder: &Path) -> ExampleWriter {
        ExampleWriter { folder: folder.to_owned(), table: HEADER.to_owned(), n_written: 0 }
    }

    /// How many examples were written.
    pub fn n_written(&self) -> usize {
        self.n_written
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
        let cells = [
            model.as_str(),
            stimulus.as_str(),
            example.attack,
            example.norm.as_str(),
            &example.epsilon.to_string(),
            example.label.as_str(),
            example.clean.as_str(),
            example.answer.as_str(),
            &format!("{stem}.png"),
        ];
        self.table.push_str(&cells.map(cell).join(","));
        self.table.push('\n');
        self.n_written += 1;
        Ok(())
    }

    /// Writes the table of examples.
    pub fn finish(self) -> Result<(), FileError> {
        atomic::write_file(&self.folder.join("examples.csv"), self.table.as_bytes())
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
