//! `mohs prepare`: pictures become what participants are shown.
//!
//! Everything that is there and unchanged stays: pictures are found by the content of their file and
//! the options, through the [`journal`]. `mohs serve` calls [`prepare_if_needed`], too, and
//! `mohs check` asks with [`check`] whether all is up to date.

mod journal;

use std::path::{Path, PathBuf};

use mohs_data::format::{
    ReadOptions, atomic, folder_of_stimuli, read_all, read_stimuli, write_all,
};
use mohs_data::{Extra, FileError, Prepared, Stimulus, StimulusId, Study, Task};
use mohs_vision::stimulus::flash_lint::{MOST_FLASHES, Schedule, flashes};
use mohs_vision::stimulus::{Condition, Made, PngFile, StimulusError, StimulusPlan, sha256};
use rayon::prelude::*;

use crate::error::CliError;
use crate::folder;
use crate::ui::Ui;
use journal::{Entry, Journal};

/// The table, in the study's folder.
const TABLE: &str = "prepared.csv";
/// The folder of pictures beside it.
const PICTURES: &str = "prepared";
/// The journal in that folder.
const JOURNAL: &str = "journal.txt";

/// Make what participants are shown: crops, conditions and masks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mohs prepare my-study              pictures in my-study/prepared, their table in prepared.csv
  mohs prepare my-study/study.toml   the same

What is there and unchanged is not made again, and a stopped run goes on where it stopped.
`mohs serve` prepares what is missing by itself. Options: [prepare] in study.toml.")]
pub(crate) struct PrepareArgs {
    /// A study's folder or its study.toml
    #[arg(value_name = "STUDY")]
    study: PathBuf,
}

pub(crate) fn run(args: &PrepareArgs, ui: &Ui) -> Result<(), CliError> {
    let prepared = prepare_if_needed(&args.study, ui)?;
    ui.say(&prepared.summary());
    prepared.fit_to_show()
}

/// A study whose pictures are ready.
#[derive(Debug)]
pub(crate) struct PreparedStudy {
    /// The study.
    pub(crate) study: Study,
    /// Its stimuli in all conditions, in the order of the table of stimuli.
    pub(crate) rows: Vec<Prepared>,
    /// The folder of the pictures, each `HASH.png`.
    pub(crate) pictures: PathBuf,
    /// The table of the rows.
    pub(crate) table: PathBuf,
    /// Stimuli of which nothing can be shown, and why; no row names them.
    pub(crate) failed: Vec<(StimulusId, CliError)>,
    /// How many pictures and masks were made, and not found.
    pub(crate) n_made: usize,
}

/// Makes what is missing or out of date, and writes the table.
///
/// `study` is a study's folder or its `study.toml`. What cannot be shown is in `failed`; whoever
/// shows the study asks [`PreparedStudy::fit_to_show`] first.
pub(crate) fn prepare_if_needed(study: &Path, ui: &Ui) -> Result<PreparedStudy, CliError> {
    let workshop = Workshop::open(study)?;
    folder::make(&workshop.pictures)?;
    let bar = ui.progress(workshop.stimuli.len(), "preparing pictures");
    let made = workshop
        .stimuli
        .par_iter()
        .map(|stimulus| {
            let made = workshop.prepare(stimulus)?;
            bar.inc(1);
            Ok((stimulus, made))
        })
        .collect::<Result<Vec<_>, CliError>>()?;
    bar.finish_and_clear();
    let (mut rows, mut failed, mut n_made) = (Vec::new(), Vec::new(), 0);
    for (stimulus, made) in made {
        match made {
            Ok(made) => {
                n_made += made.n_made;
                rows.extend(made.rows);
            }
            Err(error) => failed.push((stimulus.id.clone(), error)),
        }
    }
    let Workshop { study, table, pictures, .. } = workshop;
    if rows.is_empty() {
        let (_, first) = failed.swap_remove(0);
        return Err(first.hint("no picture can be shown, so nothing was written"));
    }
    let is_written = table.is_file()
        && read_all::<Prepared>(&table, &ReadOptions::default()).is_ok_and(|old| old == rows);
    if !is_written {
        write_all(&table, &rows)?;
    }
    Ok(PreparedStudy { study, rows, pictures, table, failed, n_made })
}

/// Says what is wrong with the table of prepared stimuli, or how many rows are right; `None` if
/// there is no table yet. Nothing is changed.
pub(crate) fn check(study: &Path) -> Result<Option<(PathBuf, String)>, CliError> {
    let workshop = Workshop::open(study)?;
    let table = &workshop.table;
    if !table.is_file() {
        return Ok(None);
    }
    let rows: Vec<Prepared> = read_all(table, &ReadOptions::default())?;
    let known: Vec<Option<Vec<Prepared>>> = workshop
        .stimuli
        .par_iter()
        .map(|stimulus| {
            let file = std::fs::read(workshop.sources.join(&stimulus.file)).ok()?;
            workshop.known(stimulus, &sha256(&file))
        })
        .collect();
    let stale = |what: String| {
        CliError::input(format!("{} is out of date: {what}", table.display()))
            .hint(format!("run `mohs prepare {}`", study.display()))
    };
    if let Some(idx) = known.iter().position(Option::is_none) {
        let id = &workshop.stimuli[idx].id;
        return Err(stale(format!("the pictures of `{id}` should be made again")));
    }
    let expected: Vec<Prepared> = known.into_iter().flatten().flatten().collect();
    if expected != rows {
        let stale = stale(difference(&expected, &rows));
        // It would be refused after that, too.
        return Err(match refuse_flashes(&workshop.study, &expected) {
            Ok(()) => stale,
            Err(flashes) => {
                let hints = flashes.hints().to_vec();
                let stale = stale.cause(flashes.message());
                hints.into_iter().fold(stale, CliError::hint)
            }
        });
    }
    refuse_flashes(&workshop.study, &rows)?;
    Ok(Some((table.clone(), account(&rows))))
}

/// Says what of a table is not as it should be. The two must differ.
fn difference(expected: &[Prepared], found: &[Prepared]) -> String {
    if expected.len() != found.len() {
        return format!("{} rows should stand in it, found {}", expected.len(), found.len());
    }
    let n_all = found.len();
    let differing: Vec<_> = expected.iter().zip(found).filter(|(a, b)| a != b).collect();
    let Some((expected, found)) = differing.first() else { return "its rows differ".into() };
    let id = &expected.stimulus;
    let text = |value: Option<&str>| value.unwrap_or("none").to_owned();
    let number = |value: Option<f64>| value.map_or("none".into(), |value| value.to_string());
    let columns = [
        ("stimulus", id.to_string(), found.stimulus.to_string()),
        ("label", expected.label.to_string(), found.label.to_string()),
        ("condition", text(expected.condition.as_deref()), text(found.condition.as_deref())),
        ("image", expected.image.clone(), found.image.clone()),
        ("mask", text(expected.mask.as_deref()), text(found.mask.as_deref())),
        ("source", expected.source.clone(), found.source.clone()),
        ("attribute", text(expected.attribute.as_deref()), text(found.attribute.as_deref())),
        ("level", text(expected.level.as_deref()), text(found.level.as_deref())),
        ("side_px", expected.side_px.to_string(), found.side_px.to_string()),
        ("flashes", number(expected.flashes), number(found.flashes)),
    ];
    let first = columns.iter().find(|(_, expected, found)| expected != found);
    let what = first.map_or("other columns differ".into(), |(column, expected, found)| {
        format!("its `{column}` should be {expected}, found {found}")
    });
    match differing.len() {
        1 => format!("the row of `{id}` differs: {what}"),
        n => format!("{n} of {n_all} rows differ; of `{id}`, {what}"),
    }
}

impl PreparedStudy {
    /// Says in a few lines what there is.
    pub(crate) fn summary(&self) -> String {
        let names = self.rows.iter().flat_map(|row| std::iter::once(&row.image).chain(&row.mask));
        let mut names: Vec<&String> = names.collect();
        names.sort_unstable();
        names.dedup();
        let n_bytes: u64 = names
            .iter()
            .filter_map(|name| std::fs::metadata(picture_path(&self.pictures, name)).ok())
            .map(|metadata| metadata.len())
            .sum();
        #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
        let mb = n_bytes as f64 / 1e6;
        let made = match self.n_made {
            0 => "nothing to make".to_owned(),
            n => format!("{n} pictures made"),
        };
        let (table, account) = (self.table.display(), account(&self.rows));
        let mut text = format!("{table}: {account}, {mb:.1} MB; {made}");
        if let Some(reason) = &self.study.safety.flash_override
            && MOST_FLASHES < worst_flashes(&self.rows)
        {
            text.push_str(&format!("\nmore than {MOST_FLASHES} are allowed because: {reason}"));
        }
        text
    }

    /// Refuses to show a study of which some pictures are broken, or that flashes too often.
    pub(crate) fn fit_to_show(&self) -> Result<(), CliError> {
        const SHOWN: usize = 5;
        if !self.failed.is_empty() {
            let (n, n_all) = (self.failed.len(), self.n_stimuli() + self.failed.len());
            let table = self.table.display();
            let mut error = CliError::partly(format!(
                "{n} of {n_all} stimuli cannot be shown and are left out of {table}"
            ));
            for (id, why) in self.failed.iter().take(SHOWN) {
                let why: Vec<&str> = std::iter::once(why.message())
                    .chain(why.causes().iter().map(String::as_str))
                    .collect();
                error = error.cause(format!("`{id}`: {}", why.join(": ")));
            }
            if SHOWN < n {
                error = error.cause(format!("and {} more", n - SHOWN));
            }
            return Err(error.hint("mend the pictures or take them out of the table of stimuli"));
        }
        refuse_flashes(&self.study, &self.rows)
    }

    fn n_stimuli(&self) -> usize {
        n_stimuli(&self.rows)
    }
}

/// Refuses a study that flashes more often than is safe, unless it says why.
fn refuse_flashes(study: &Study, rows: &[Prepared]) -> Result<(), CliError> {
    let worst = worst_flashes(rows);
    if worst <= MOST_FLASHES || study.safety.flash_override.is_some() {
        return Ok(());
    }
    let n_bad = rows.iter().filter(|row| MOST_FLASHES < n_flashes(row)).count();
    let n_all = rows.len();
    Err(CliError::partly(format!(
        "the study should flash at most {MOST_FLASHES} times in any second (WCAG 2.3.1), found \
         {worst} times, and more than {MOST_FLASHES} with {n_bad} of {n_all} pictures"
    ))
    .hint(
        "lengthen gap_ms, fixation_ms or mask_ms in [flash]; docs/methods/flash-safety.md says how \
         flashes are counted",
    )
    .hint("an ethics approval can be named: flash_override = \"…\" in [safety]"))
}

/// Says what a table holds.
fn account(rows: &[Prepared]) -> String {
    let n_stimuli = n_stimuli(rows);
    let mut conditions: Vec<&str> =
        rows.iter().filter_map(|row| row.condition.as_deref()).collect();
    conditions.sort_unstable();
    conditions.dedup();
    let mut text = format!("{n_stimuli} stimuli");
    if !conditions.is_empty() {
        text.push_str(&format!(" in {} conditions", conditions.len()));
    }
    if rows.iter().any(|row| row.mask.is_some()) {
        text.push_str(" with masks");
    }
    if let Some(side) = rows.iter().map(|row| row.side_px).max() {
        text.push_str(&format!(", {side} × {side} pixels"));
    }
    if rows.iter().any(|row| row.flashes.is_some()) {
        let worst = worst_flashes(rows);
        let noun = if worst == 1 { "flash" } else { "flashes" };
        text.push_str(&format!(", at most {worst} {noun} in a second"));
    }
    text
}

fn n_stimuli(rows: &[Prepared]) -> usize {
    rows.chunk_by(|a, b| a.stimulus == b.stimulus).count()
}

fn worst_flashes(rows: &[Prepared]) -> u32 {
    rows.iter().map(n_flashes).max().unwrap_or(0)
}

fn n_flashes(row: &Prepared) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count, and a cast from float saturates"
    )]
    let n = row.flashes.unwrap_or(0.0).ceil() as u32;
    n
}

fn picture_path(pictures: &Path, name: &str) -> PathBuf {
    pictures.join(format!("{name}.png"))
}

/// All that pictures are made with.
struct Workshop {
    study: Study,
    stimuli: Vec<Stimulus>,
    /// Where the files of stimuli are.
    sources: PathBuf,
    table: PathBuf,
    pictures: PathBuf,
    plan: StimulusPlan,
    /// None for tasks that flash nothing.
    schedule: Option<Schedule>,
    journal: Journal,
}

/// What was made of one stimulus.
struct MadeRows {
    rows: Vec<Prepared>,
    n_made: usize,
}

impl Workshop {
    /// Reads a study, its stimuli and what was made already.
    fn open(path: &Path) -> Result<Workshop, CliError> {
        let file = if path.is_dir() { path.join("study.toml") } else { path.to_owned() };
        let study = Study::read(&file)?;
        let folder = folder_of_stimuli(&file);
        let stimuli_path = folder.join(&study.stimuli);
        let stimuli = read_stimuli(&stimuli_path, &ReadOptions::default())?;
        let plan = StimulusPlan::new(&study.prepare, study.task).map_err(|error| {
            CliError::input(format!("{}: {error}", file.display()))
                .hint("docs/formats/study.md has the conditions of [prepare]")
        })?;
        let schedule = (study.task == Task::Flash)
            .then(|| Schedule::new(&study.flash, &study.screen, plan.has_masks()));
        let pictures = folder.join(PICTURES);
        let journal = Journal::read(&pictures.join(JOURNAL))?;
        let (table, sources) = (folder.join(TABLE), folder_of_stimuli(&stimuli_path));
        Ok(Workshop { study, stimuli, sources, table, pictures, plan, schedule, journal })
    }

    /// Returns the rows of a stimulus, and makes what is missing; the inner error is about this
    /// picture alone.
    fn prepare(&self, stimulus: &Stimulus) -> Result<Result<MadeRows, CliError>, CliError> {
        let path = self.sources.join(&stimulus.file);
        let file = match std::fs::read(&path) {
            Ok(file) => file,
            Err(cause) => return Ok(Err(FileError::cannot_read(&path, cause).into())),
        };
        let source = sha256(&file);
        let mut square = None;
        let mut made = MadeRows { rows: Vec::new(), n_made: 0 };
        for condition in self.plan.conditions() {
            let key = self.plan.key(&source, &stimulus.boxes, condition);
            if let Some(entry) = self.sound(&key) {
                made.rows.push(self.row(stimulus, condition, &source, entry));
                continue;
            }
            let square = match &square {
                Some(square) => square,
                None => match self.plan.square(&path, &file, &stimulus.boxes) {
                    Ok(made) => square.insert(made),
                    Err(error) => return Ok(Err(told(&path, error))),
                },
            };
            let fresh = self.plan.make(square, &source, condition);
            made.n_made += self.store(&fresh)?;
            let entry = Entry::from(&fresh);
            self.journal.add(&key, &entry)?;
            made.rows.push(self.row(stimulus, condition, &source, &entry));
        }
        Ok(Ok(made))
    }

    /// Returns the rows of a stimulus if all of its pictures are there.
    fn known(&self, stimulus: &Stimulus, source: &str) -> Option<Vec<Prepared>> {
        let conditions = self.plan.conditions().iter();
        conditions
            .map(|condition| {
                let entry = self.sound(&self.plan.key(source, &stimulus.boxes, condition))?;
                Some(self.row(stimulus, condition, source, entry))
            })
            .collect()
    }

    /// Returns what was made under this key, if its files are still what they were.
    fn sound(&self, key: &str) -> Option<&Entry> {
        let entry = self.journal.find(key)?;
        let mut names = std::iter::once(&entry.image).chain(&entry.mask);
        let is_sound = names.all(|name| {
            std::fs::read(picture_path(&self.pictures, name))
                .is_ok_and(|bytes| sha256(&bytes) == *name)
        });
        is_sound.then_some(entry)
    }

    fn store(&self, made: &Made) -> Result<usize, CliError> {
        let files: Vec<&PngFile> = std::iter::once(&made.image).chain(&made.mask).collect();
        for file in &files {
            atomic::write_file(&picture_path(&self.pictures, &file.sha256), &file.bytes)?;
        }
        Ok(files.len())
    }

    fn row(
        &self,
        stimulus: &Stimulus,
        condition: &Condition,
        source: &str,
        entry: &Entry,
    ) -> Prepared {
        let schedule = self.schedule.as_ref();
        Prepared {
            stimulus: stimulus.id.clone(),
            label: stimulus.label.clone(),
            condition: condition.name.clone(),
            image: entry.image.clone(),
            mask: entry.mask.clone(),
            source: source.to_owned(),
            attribute: stimulus.attribute.clone(),
            level: stimulus.level.clone(),
            side_px: u64::from(self.plan.side()),
            flashes: schedule.map(|schedule| f64::from(flashes(&entry.tones, schedule))),
            extra: Extra::default(),
        }
    }
}

/// Says why nothing can be shown of a file.
fn told(path: &Path, error: StimulusError) -> CliError {
    match error {
        StimulusError::Pixels(error) => error.into(),
        StimulusError::Crop(error) => CliError::input(format!("{}: {error}", path.display()))
            .hint("boxes are in pixels of the upright picture: x y width height"),
    }
}
