//! Units of a ladder: nine pictures that are made together or not at all.
//!
//! A unit has a key made of everything that changes its pictures. When all of its pictures are on
//! disk, its rows are written under the key; a run that finds them makes nothing again. Whatever
//! was cut off in between is made anew, and so is a unit whose pictures another run has written over.

use std::path::Path;

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
    /// Stimuli whose picture is another one than before under the same name.
    pub(super) redrawn: Vec<StimulusId>,
}

/// Returns a unit, made now where it has to be; nothing is kept of a unit without pictures.
pub(super) fn rows(
    output: &Path,
    everything: &str,
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
            return Ok(Unit { stimuli, ..Unit::default() });
        }
    }
    let made = make()?;
    if made.is_empty() {
        return Ok(Unit::default());
    }
    let mut redrawn = Vec::new();
    for one in &made {
        let before = std::fs::read(output.join(&one.stimulus.file));
        if before.is_ok_and(|before| before != one.picture_png) {
            redrawn.push(one.stimulus.id.clone());
        }
        atomic::write_file(&output.join(&one.stimulus.file), &one.picture_png)?;
        if let Some(mask) = &one.stimulus.mask {
            atomic::write_file(&output.join(mask), &one.mask_png)?;
        }
    }
    let stimuli: Vec<Stimulus> = made.into_iter().map(|one| one.stimulus).collect();
    write_all(&path, &stimuli)?;
    let n_made = stimuli.len();
    Ok(Unit { stimuli, n_made, redrawn })
}

/// Takes back what somebody decided about pictures that are others now.
pub(super) fn forget_verdicts(review: &Path, redrawn: &[StimulusId]) -> Result<usize, CliError> {
    if redrawn.is_empty() || !review.is_file() {
        return Ok(0);
    }
    let mut log = ReviewLog::open(review)?;
    let mut n_forgotten = 0;
    for id in redrawn {
        let is_decided = |verdict| verdict != Verdict::Undecided;
        if !log.find(id).is_some_and(|review| is_decided(review.verdict)) {
            continue;
        }
        log.append(Review {
            stimulus: id.clone(),
            verdict: Verdict::Undecided,
            reason: "the picture was drawn anew".to_owned(),
            reviewed_at_ms: None,
            extra: Extra::default(),
        })?;
        n_forgotten += 1;
    }
    Ok(n_forgotten)
}
