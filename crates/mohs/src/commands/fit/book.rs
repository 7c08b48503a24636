//! The folder of a training: what is written when, so that it can be killed at any moment.
//!
//! After each epoch its answers go into a file of their own, then the checkpoint that says so
//! replaces the one before. At the end the files of the epochs are joined, the model is written, and
//! the checkpoint says that all is done. Whatever is missing after a kill is made again from the
//! checkpoint, with the same bytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, TableWriter, atomic, read_all, write_all};
use mohs_data::{Label, Prediction, TrainingPlan};
use mohs_score::proportion;
use mohs_vision::fit::{Epoch, Fit, Prepare};
use serde_json::json;

use super::classes_text;
use crate::error::CliError;
use crate::folder;

const CHECKPOINT: &str = "checkpoint";
const PARTS: &str = "epochs";
const MODEL: &str = "model.onnx";
const LOG: &str = "log.csv";
const PREDICTIONS: &str = "predictions.csv";
const CLASSES: &str = "classes.txt";
const CONFIG: &str = "config.json";
const HEADER: &str = "epoch,learning_rate,train_loss,validation_loss,accuracy,accuracy_low,\
                      accuracy_high,n,is_best,seconds\n";

/// The folder of a training, and its log so far.
pub(super) struct Book {
    folder: PathBuf,
    log: String,
}

impl Book {
    /// Opens a folder: a new one, or one that a training was begun in.
    pub(super) fn open(output: &Path, restarts: bool) -> Result<Book, CliError> {
        let has_checkpoint = output.join(CHECKPOINT).is_file();
        let foreign = [MODEL, LOG, PREDICTIONS, CLASSES, CONFIG, PARTS]
            .into_iter()
            .find(|name| output.join(name).exists());
        if let (false, Some(name)) = (has_checkpoint, foreign) {
            return Err(CliError::input(format!(
                "`{}` holds `{name}`, which no training wrote",
                output.display()
            ))
            .hint("name another folder with --output; nothing was written"));
        }
        folder::make(output)?;
        if restarts && has_checkpoint {
            // The checkpoint goes last: without it, what is left would look like somebody else's.
            for name in [MODEL, LOG, PREDICTIONS, CLASSES, CONFIG] {
                remove_file(&output.join(name))?;
            }
            remove_parts(output)?;
            remove_file(&output.join(CHECKPOINT))?;
        }
        Ok(Book { folder: output.to_owned(), log: HEADER.to_owned() })
    }

    /// The checkpoint of an earlier run, if there is one.
    pub(super) fn checkpoint(&self) -> Result<Option<Vec<u8>>, CliError> {
        let path = self.folder.join(CHECKPOINT);
        if !path.is_file() {
            return Ok(None);
        }
        std::fs::read(&path).map(Some).map_err(|cause| {
            CliError::surroundings(format!("cannot read {}", path.display())).because(cause)
        })
    }

    /// Takes up the log that a checkpoint holds.
    pub(super) fn take_up(&mut self, note: &str) -> Result<(), CliError> {
        note.clone_into(&mut self.log);
        Ok(atomic::write_file(&self.folder.join(LOG), self.log.as_bytes())?)
    }

    /// Writes the answers of an epoch, and returns what to say about it.
    pub(super) fn add(
        &mut self,
        epoch: &Epoch,
        n_epochs: u32,
        seconds: f64,
    ) -> Result<String, CliError> {
        if !epoch.predictions.is_empty() {
            folder::make(&self.folder.join(PARTS))?;
            write_all(&self.part(epoch.number), &epoch.predictions)?;
        }
        let accuracy = proportion::wilson(epoch.n_right, epoch.n_answered, 0.95);
        let cell = |number: Option<f64>| number.map(|n| n.to_string()).unwrap_or_default();
        self.log.push_str(&format!(
            "{},{},{},{},{},{},{},{},{},{seconds:.3}\n",
            epoch.number,
            epoch.learning_rate,
            epoch.train_loss,
            cell(epoch.validation_loss),
            cell(accuracy.as_ref().map(|accuracy| accuracy.value)),
            cell(accuracy.as_ref().map(|accuracy| accuracy.low)),
            cell(accuracy.as_ref().map(|accuracy| accuracy.high)),
            epoch.n_answered,
            epoch.is_best,
        ));
        let tested = match &accuracy {
            Some(accuracy) => format!(
                "  accuracy {:.3} ({:.3} to {:.3})",
                accuracy.value, accuracy.low, accuracy.high
            ),
            None => String::new(),
        };
        Ok(format!(
            "epoch {:>3}/{n_epochs}  loss {:.4}{tested}  {seconds:.1} s",
            epoch.number, epoch.train_loss
        ))
    }

    /// Writes the checkpoint of the epoch that was added last, then the log.
    pub(super) fn save(&self, fit: &Fit<'_>) -> Result<(), CliError> {
        atomic::write_file(&self.folder.join(CHECKPOINT), &fit.checkpoint(&self.log)?)?;
        Ok(atomic::write_file(&self.folder.join(LOG), self.log.as_bytes())?)
    }

    fn part(&self, epoch: u32) -> PathBuf {
        self.folder.join(PARTS).join(format!("{epoch:06}.csv"))
    }

    /// What is said at the end: accuracy on the validation set, by level where there are levels.
    pub(super) fn text(&self, kept: u32, n_epochs: u32) -> Result<String, CliError> {
        let mut text = format!("epochs    {n_epochs}, the model is that of epoch {kept}\n");
        let rows = self.rows_of(kept)?;
        let mut by_level: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.extra.get("set") == Some("validation")) {
            let Some(is_right) = row.is_correct() else { continue };
            let level = row.extra.get("level").unwrap_or_default();
            for name in ["", level].iter().take(if level.is_empty() { 1 } else { 2 }) {
                let (n_right, n) = by_level.entry(name).or_default();
                *n_right += usize::from(is_right);
                *n += 1;
            }
        }
        // From easy to hard, as far as words say so; others in their order.
        let place = |level: &str| ["", "easy", "medium", "hard"].iter().position(|l| *l == level);
        let mut levels: Vec<_> = by_level.into_iter().collect();
        levels.sort_by_key(|(level, _)| place(level).unwrap_or(usize::MAX));
        for (level, (n_right, n)) in levels {
            if let Some(share) = proportion::wilson(n_right, n, 0.95) {
                let name = if level.is_empty() { "accuracy" } else { level };
                text.push_str(&format!(
                    "{name:<8}  {:.3} (95 % {:.3} to {:.3}): {n_right} of {n} right\n",
                    share.value, share.low, share.high
                ));
            }
        }
        Ok(text)
    }

    /// The answers of an epoch, from its own file or from the joined one.
    fn rows_of(&self, epoch: u32) -> Result<Vec<Prediction>, CliError> {
        let options = ReadOptions::default();
        let part = self.part(epoch);
        if part.is_file() {
            return Ok(read_all(&part, &options)?);
        }
        let joined = self.folder.join(PREDICTIONS);
        if !joined.is_file() {
            return Ok(Vec::new());
        }
        let is_it = |row: &Prediction| {
            let value = row.condition.as_ref().map(|condition| condition.value);
            value.is_some_and(|value| (value - f64::from(epoch)).abs() < 0.5)
        };
        Ok(read_all::<Prediction>(&joined, &options)?.into_iter().filter(is_it).collect())
    }

    /// Writes what a training is for, and returns the names of the files.
    pub(super) fn finish(
        &self,
        model: &[u8],
        classes: &[Label],
        prepare: &Prepare,
        plan: &TrainingPlan,
        fit: &Fit<'_>,
    ) -> Result<String, CliError> {
        let mut written = vec![MODEL, CLASSES, CONFIG, LOG];
        if self.folder.join(PARTS).is_dir() {
            self.join_parts(fit.n_epochs())?;
        }
        if self.folder.join(PREDICTIONS).is_file() {
            written.push(PREDICTIONS);
        }
        let write = |name: &str, bytes: &[u8]| atomic::write_file(&self.folder.join(name), bytes);
        write(CLASSES, classes_text(classes).as_bytes())?;
        write(CONFIG, config(classes, prepare, plan).as_bytes())?;
        write(LOG, self.log.as_bytes())?;
        write(MODEL, model)?;
        remove_parts(&self.folder)?;
        Ok(written.join(", "))
    }

    /// Joins the answers of all epochs, if there are any that were not joined yet.
    fn join_parts(&self, n_epochs: u32) -> Result<(), CliError> {
        let parts: Vec<PathBuf> = (1..=n_epochs).map(|epoch| self.part(epoch)).collect();
        if let Some(missing) = parts.iter().find(|part| !part.is_file()) {
            // Parts are removed only after the whole was written.
            if self.folder.join(PREDICTIONS).is_file() {
                return Ok(());
            }
            let missing = missing.display();
            return Err(CliError::input(format!("`{missing}` was there, and is not any more"))
                .hint("start anew with --restart"));
        }
        let mut writer: Option<TableWriter<Prediction>> = None;
        for part in parts {
            for row in read_all::<Prediction>(&part, &ReadOptions::default())? {
                let writer = match &mut writer {
                    Some(writer) => writer,
                    none => {
                        let names = row.extra.names().to_vec().into();
                        none.insert(TableWriter::create(&self.folder.join(PREDICTIONS), names)?)
                    }
                };
                writer.push(&row)?;
            }
        }
        Ok(writer.map_or(Ok(()), TableWriter::finish)?)
    }
}

/// How pictures are prepared, in the form that timm writes and `mohs eval` reads.
fn config(classes: &[Label], prepare: &Prepare, plan: &TrainingPlan) -> String {
    let labels: Vec<&str> = classes.iter().map(Label::as_str).collect();
    // Through their shortest decimal form, so that 0.485 is not 0.48500001430511475.
    let three = |numbers: [f32; 3]| numbers.map(|n| n.to_string().parse::<f64>().unwrap_or(0.0));
    let value = json!({
        "architecture": plan.name,
        "num_classes": classes.len(),
        "label_names": labels,
        "pretrained_cfg": {
            "input_size": [3, prepare.height, prepare.width],
            "fixed_input_size": true,
            "interpolation": "bilinear",
            "crop_pct": 1.0,
            "crop_mode": "center",
            "mean": three(prepare.mean),
            "std": three(prepare.sd),
        },
    });
    format!("{value:#}\n")
}

fn remove_file(path: &Path) -> Result<(), CliError> {
    if !path.is_file() {
        return Ok(());
    }
    std::fs::remove_file(path).map_err(|cause| {
        CliError::surroundings(format!("cannot remove {}", path.display())).because(cause)
    })
}

fn remove_parts(output: &Path) -> Result<(), CliError> {
    let parts = output.join(PARTS);
    if parts.is_dir() { folder::remove(&parts) } else { Ok(()) }
}
