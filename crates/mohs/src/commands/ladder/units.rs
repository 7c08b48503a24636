//! Units of a ladder: nine pictures that are made together or not at all.
//!
//! A unit has a key made of everything that changes its pictures. When all of its pictures are on
//! disk, its rows are written under the key; a run that finds them makes nothing again. Whatever
//! was cut off in between is made anew.

use std::path::Path;

use mohs_data::Stimulus;
use mohs_data::format::{ReadOptions, atomic, read_stimuli, write_all};
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

/// Returns the rows of a unit and how many pictures were made for it now; nothing is kept of a unit
/// without pictures.
pub(super) fn rows(
    output: &Path,
    everything: &str,
    make: impl FnOnce() -> Result<Vec<Made>, CliError>,
) -> Result<(Vec<Stimulus>, usize), CliError> {
    let key = &sha256(everything.as_bytes())[..32];
    let path = output.join(FOLDER).join(format!("{key}.csv"));
    if path.is_file() {
        let stimuli = read_stimuli(&path, &ReadOptions::default())?;
        let is_there = |stimulus: &Stimulus| {
            let mut files = std::iter::once(&stimulus.file).chain(&stimulus.mask);
            files.all(|file| output.join(file).is_file())
        };
        if stimuli.iter().all(is_there) {
            return Ok((stimuli, 0));
        }
    }
    let made = make()?;
    if made.is_empty() {
        return Ok((Vec::new(), 0));
    }
    for one in &made {
        atomic::write_file(&output.join(&one.stimulus.file), &one.picture_png)?;
        if let Some(mask) = &one.stimulus.mask {
            atomic::write_file(&output.join(mask), &one.mask_png)?;
        }
    }
    let stimuli: Vec<Stimulus> = made.into_iter().map(|one| one.stimulus).collect();
    write_all(&path, &stimuli)?;
    let n_made = stimuli.len();
    Ok((stimuli, n_made))
}
