//! Units of a ladder: nine pictures that are made together or not at all.
//!
//! A unit has a key made of everything that changes its pictures. When all of its pictures are on
//! disk, its rows are written under the key; a run that finds them makes nothing again. Whatever
//! was cut off in between is made anew, and so is a unit whose pictures another run has written over.
//!
//! Before a picture is replaced by another one, what somebody decided about it is taken back
//! ([`Verdicts`]): a run that ends in between leaves no decision about a picture nobody has seen.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mohs_data::format::{ReadOptions, atomic, read_stimuli, write_all};
use mohs_data::review::{Review, ReviewLog, Verdict};
use mohs_data::{Extra, Stimulus, StimulusId};
use mohs_vision::stimulus::sha256;

use crate::error::CliError;

/// Where rows of finished units are.
pub(super) const FOLDER: &str = ".ladder";

/// One picture of a unit.
pub(super) struct Made {
    pub(super) stimulus: Stimulus,
    pub(super) picture_png: Vec<u8>,
    pub(super) mask_png: Vec<u8>,
}

/// A unit as it stands on disk.
#[derive(Default)]
pub(super) struct Unit {
    pub(super) stimuli: Vec<Stimulus>,
    /// Pictures that were made now.
    pub(super) n_made: usize,
}

/// Returns a unit, made now where it has to be; nothing is kept of a unit without pictures.
pub(super) fn rows(
    output: &Path,
    everything: &str,
    verdicts: &Verdicts,
    make: impl FnOnce() -> Result<Vec<Made>, CliError>,
) -> Result<Unit, CliError> {
    let key = &sha256(everything.as_bytes())[..32];
    let path = output.join(FOLDER).join(format!("{key}.csv"));
    if path.is_file() {
        let stimuli = read_stimuli(&path, &ReadOptions::default())?;
        // Rows are written after their pictures: a picture that is younger is another unit's.
        let written = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        let rows_written = written(&path);
        let is_there = |stimulus: &Stimulus| {
            let mut files = std::iter::once(&stimulus.file).chain(&stimulus.mask);
            files.all(|file| {
                let written = written(&output.join(file));
                written.is_some() && written <= rows_written
            })
        };
        if stimuli.iter().all(is_there) {
            return Ok(Unit { stimuli, n_made: 0 });
        }
    }
    let made = make()?;
    if made.is_empty() {
        return Ok(Unit::default());
    }
    for one in &made {
        let file = output.join(&one.stimulus.file);
        verdicts.before_replacing(&file, &one.stimulus.id, &one.picture_png)?;
        atomic::write_file(&file, &one.picture_png)?;
        if let Some(mask) = &one.stimulus.mask {
            atomic::write_file(&output.join(mask), &one.mask_png)?;
        }
    }
    let stimuli: Vec<Stimulus> = made.into_iter().map(|one| one.stimulus).collect();
    write_all(&path, &stimuli)?;
    let n_made = stimuli.len();
    Ok(Unit { stimuli, n_made })
}

/// What somebody decided about the pictures of a ladder.
pub(super) struct Verdicts {
    path: PathBuf,
    /// The table, once one of them is taken back, and how many were.
    taken_back: Mutex<(Option<ReviewLog>, usize)>,
}

impl Verdicts {
    /// Those in a table, which need not be there.
    pub(super) fn new(path: PathBuf) -> Verdicts {
        Verdicts { path, taken_back: Mutex::new((None, 0)) }
    }

    /// Takes back what was decided about a picture, unless the file already holds what it will hold.
    pub(super) fn before_replacing(
        &self,
        file: &Path,
        stimulus: &StimulusId,
        picture: &[u8],
    ) -> Result<(), CliError> {
        let is_another = || std::fs::read(file).is_ok_and(|before| before != picture);
        if !self.path.is_file() || !is_another() {
            return Ok(());
        }
        let mut taken_back = self.taken_back.lock().unwrap_or_else(PoisonError::into_inner);
        let (log, n) = &mut *taken_back;
        let log = match log {
            Some(log) => log,
            None => log.insert(ReviewLog::open(&self.path)?),
        };
        if log.find(stimulus).is_some_and(|review| review.verdict != Verdict::Undecided) {
            log.append(Review {
                stimulus: stimulus.clone(),
                verdict: Verdict::Undecided,
                reason: "the picture was drawn anew".to_owned(),
                reviewed_at_ms: None,
                extra: Extra::default(),
            })?;
            *n += 1;
        }
        Ok(())
    }

    /// Lets go of the table; returns how many were taken back.
    pub(super) fn n_taken_back(self) -> usize {
        self.taken_back.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }
}
