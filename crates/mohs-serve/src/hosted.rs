//! A study as it is hosted: its file, its prepared stimuli, and what the page is told of it.
//!
//! Read once when a server starts and never changed. Everything that changes is in the store.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use mohs_data::format::{ReadOptions, read_all, read_prose};
use mohs_data::{FileError, Gate, Prepared, Study, Task};
use mohs_score::adaptive::exposure::Prior;
use mohs_score::human::psychometric::Curve;

use crate::allocate::frames_for;
use crate::design::Change;
use crate::plan::pairs::{self, PairDesign};
use crate::token::sha256;
use crate::wire::{BeepInfo, StudyInfo};

/// A study ready to be hosted.
#[derive(Debug)]
pub struct Hosted {
    /// Its name in addresses.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What `study.toml` says.
    pub study: Study,
    /// What is shown.
    pub prepared: Vec<Prepared>,
    /// The answers, in alphabetical order.
    pub labels: Vec<String>,
    /// Pairs: which two are judged.
    pub pairs: PairDesign,
    /// Adaptive flashes: what is known before anything is shown.
    pub prior: Option<Prior>,
    /// What the page is told.
    pub info: StudyInfo,
    media: BTreeMap<String, PathBuf>,
    /// Positions in `prepared`, in order; one for each condition.
    by_stimulus: HashMap<String, Vec<usize>>,
    n_sources: usize,
}

/// Why a study cannot be hosted.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// A file is wrong or missing.
    #[error(transparent)]
    File(#[from] FileError),
    /// Nothing is prepared.
    #[error("`{}` has no prepared stimuli", folder.display())]
    NotPrepared {
        /// The study's folder.
        folder: PathBuf,
    },
    /// A picture is missing.
    #[error("`{}` names a picture that is not there: {file}", folder.display())]
    NoPicture {
        /// The study's folder.
        folder: PathBuf,
        /// The file.
        file: String,
    },
    /// It flashes more often than is safe.
    #[error("`{stimulus}` flashes {flashes} times in a second; more than 3 may cause seizures")]
    Flashes {
        /// The stimulus.
        stimulus: String,
        /// How often.
        flashes: f64,
    },
    /// No page can do the task.
    #[error("a study with task `{task}` cannot be hosted")]
    NoPage {
        /// The task.
        task: &'static str,
    },
    /// Fewer than two answers.
    #[error("`{}` has too few labels to choose from: at least 2 are needed, found {n}", folder.display())]
    FewLabels {
        /// The study's folder.
        folder: PathBuf,
        /// How many.
        n: usize,
    },
    /// Pairs fall apart into groups that nobody compares.
    #[error("the pairs fall apart into {n_components} groups that nobody compares with each other")]
    Disconnected {
        /// How many.
        n_components: usize,
    },
    /// A right answer that nobody can give.
    #[error(
        "`{label}`, the label of {}, is not among the `labels` of the study{}",
        counted(*n, "stimulus", "stimuli"),
        others(*n_others)
    )]
    NotOnOffer {
        /// The first such label.
        label: String,
        /// How many stimuli have it.
        n: usize,
        /// How many other labels are missing.
        n_others: usize,
    },
    /// Most people could be shown nothing.
    #[error("a screen of 60 Hz can show none of the exposures {exposures} within {percent} %")]
    NoExposure {
        /// Those of the study, in words.
        exposures: String,
        /// How far they may be off.
        percent: f64,
        /// The nearest that such a screen can show, in words.
        nearest: String,
    },
    /// The database has trials of another task under this name.
    #[error(
        "the database has the study `{name}` with task `{stored}`, but its task is `{found}` now"
    )]
    OtherTask {
        /// The study's name.
        name: String,
        /// The task in the database.
        stored: String,
        /// The task in study.toml.
        found: &'static str,
    },
    /// The database has data of another design under this name.
    #[error("the database has data of the study `{name}` that were collected with another design")]
    OtherDesign {
        /// The study's name.
        name: String,
        /// What is another now.
        changes: Vec<Change>,
    },
    /// The study's own database has data, but none under its name.
    #[error(
        "the study's database has data of `{}`, and none of `{name}`, as the study is called in addresses now",
        others.join("` and `")
    )]
    OtherName {
        /// The study's name.
        name: String,
        /// Those with data.
        others: Vec<String>,
    },
    /// Two studies have the same name.
    #[error("two studies are called `{name}` in addresses")]
    SameName {
        /// The name.
        name: String,
    },
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn others(n: usize) -> String {
    match n {
        0 => String::new(),
        n => format!(", and neither are {}", counted(n, "other label", "other labels")),
    }
}

impl LaunchError {
    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::File(error) => return error.hint(),
            Self::NotPrepared { folder } | Self::NoPicture { folder, .. } => {
                format!("run `mohs prepare {}`", folder.join("study.toml").display())
            }
            Self::Flashes { .. } => "leave the stimulus out, show it for longer or with a mask of \
                like brightness; or say why it is allowed in study.toml: [safety] flash_override"
                .into(),
            Self::NoPage { .. } => "tasks with a page: flash, beep, pairs, rate".into(),
            Self::FewLabels { .. } => {
                "add stimuli of another label, or `labels` to study.toml".into()
            }
            Self::Disconnected { .. } => {
                "raise links_per_group or pairs_per_stimulus under [pairs] \
                in study.toml, so that all stimuli can be put on one scale"
                    .into()
            }
            Self::NotOnOffer { .. } => {
                "add the label to `labels` in study.toml, or leave `labels` \
                away to offer those of the stimuli"
                    .into()
            }
            Self::NoExposure { nearest, .. } => format!(
                "most people have such screens; the nearest they can show are {nearest}: take \
                 these under [flash] exposures_ms, or raise [screen] tolerance"
            ),
            Self::OtherTask { .. } => {
                "give the study another `id` in study.toml, or another database with --db".into()
            }
            Self::OtherDesign { .. } => "set it back, or host it as another study: with another \
                `id` in study.toml, or another database with --db; data of two designs are not one \
                study"
                .into(),
            Self::OtherName { name, others } => format!(
                "write `id = \"{}\"` into study.toml to go on with it: then `name` is free to change; \
                 for a new study beside it, write `id = \"{name}\"`, or name another database with --db",
                others.join("\"` or `id = \"")
            ),
            Self::SameName { .. } => "give one of them an `id` of its own in study.toml".into(),
        })
    }
}

impl Hosted {
    /// Reads a study's folder and makes sure that it can be hosted.
    pub fn read(folder: &Path) -> Result<Self, LaunchError> {
        let (folder, file) = if folder.is_file() {
            (folder.parent().unwrap_or(Path::new(".")), folder.to_owned())
        } else {
            (folder, folder.join("study.toml"))
        };
        let study = Study::read(&file)?;
        if study.task == Task::Masks {
            return Err(LaunchError::NoPage { task: study.task.as_str() });
        }
        let table = [folder.join("prepared.csv"), folder.join("prepared/prepared.csv")];
        let table = table.iter().find(|path| path.is_file());
        let table = table.ok_or_else(|| LaunchError::NotPrepared { folder: folder.into() })?;
        let prepared: Vec<Prepared> = read_all(table, &ReadOptions::default())?;
        if prepared.is_empty() {
            return Err(LaunchError::NotPrepared { folder: folder.into() });
        }
        check_flashes(&study, &prepared)?;
        let media = find_media(folder, table, &prepared)?;
        Self::new(folder, study, prepared, media)
    }

    /// Puts a study together from its parts.
    pub fn new(
        folder: &Path,
        study: Study,
        prepared: Vec<Prepared>,
        media: BTreeMap<String, PathBuf>,
    ) -> Result<Self, LaunchError> {
        let Hostable { labels, pairs, info } = check(folder, &study, &prepared)?;
        let name = info.study.clone();
        #[expect(clippy::cast_precision_loss, reason = "labels are few")]
        let guess_rate = study.score.guess_rate.unwrap_or(1.0 / labels.len().max(1) as f64);
        let curve = Curve::new(guess_rate, 0.02, study.score.criterion);
        let prior = curve.and_then(|curve| Prior::weak(&study.flash.exposures_ms, &curve));
        let mut by_stimulus: HashMap<String, Vec<usize>> = HashMap::new();
        for (idx, row) in prepared.iter().enumerate() {
            by_stimulus.entry(row.stimulus.as_str().to_owned()).or_default().push(idx);
        }
        let n_sources = prepared.iter().map(|row| &row.source).collect::<HashSet<_>>().len();
        Ok(Self {
            name,
            folder: folder.to_owned(),
            study,
            prepared,
            labels,
            pairs,
            prior,
            info,
            media,
            by_stimulus,
            n_sources,
        })
    }

    /// Returns the file of a picture of this study.
    pub fn picture(&self, hash: &str) -> Option<&Path> {
        self.media.get(hash).map(PathBuf::as_path)
    }

    /// Returns a prepared stimulus.
    pub fn find(&self, stimulus: &str, condition: Option<&str>) -> Option<&Prepared> {
        let mut found = self.by_stimulus.get(stimulus)?.iter().map(|idx| &self.prepared[*idx]);
        // Should a condition be there twice, the last one counts.
        found.rfind(|row| row.condition.as_deref() == condition)
    }

    /// Returns a stimulus in its first condition.
    pub fn pair_partner(&self, stimulus: &str) -> Option<&Prepared> {
        let first = self.by_stimulus.get(stimulus)?.first()?;
        Some(&self.prepared[*first])
    }

    /// Returns how many trials a participant does, practice apart.
    pub fn trials_per_participant(&self) -> usize {
        match self.study.task {
            Task::Beep => {
                let beep = &self.study.beep;
                beep.beeps_ms.len() * beep.trials_per_block.min(self.n_stimuli())
            }
            Task::Pairs => self.study.pairs.trials_per_participant.min(self.pairs.pairs.len()),
            Task::Rate => self.study.rate.trials_per_participant.min(self.n_sources()),
            Task::Flash | Task::Masks => {
                self.study.flash.trials_per_participant.min(self.n_sources())
            }
        }
    }

    /// Returns how many stimuli there are, whatever their conditions.
    pub fn n_stimuli(&self) -> usize {
        self.by_stimulus.len()
    }

    /// Returns how many different pictures there are.
    pub fn n_sources(&self) -> usize {
        self.n_sources
    }

    /// Returns the time a lease lasts.
    pub fn lease_ms(&self) -> i64 {
        i64::from(self.study.page.lease_minutes) * 60_000
    }
}

/// What can be said of a study before its pictures are there.
#[derive(Debug)]
pub struct Hostable {
    /// The answers, in alphabetical order.
    pub labels: Vec<String>,
    /// Pairs: which two are judged.
    pub pairs: PairDesign,
    /// What the page is told.
    pub info: StudyInfo,
}

/// Says whether a study can be hosted, as far as its file, its texts and its stimuli tell. Pictures are
/// not looked at; `mohs check` asks for it before they are prepared.
pub fn check(folder: &Path, study: &Study, prepared: &[Prepared]) -> Result<Hostable, LaunchError> {
    if study.task == Task::Masks {
        return Err(LaunchError::NoPage { task: study.task.as_str() });
    }
    let labels = labels(study, prepared);
    if study.task != Task::Pairs && labels.len() < 2 {
        return Err(LaunchError::FewLabels { folder: folder.into(), n: labels.len() });
    }
    check_on_offer(study, prepared, &labels)?;
    check_exposures(study)?;
    let pairs = match study.task {
        Task::Pairs => pairs::design(prepared, &study.pairs, study.prepare.seed)?,
        _ => PairDesign::default(),
    };
    let name = id_of(study);
    let n_sources = prepared.iter().map(|row| &row.source).collect::<BTreeSet<_>>().len();
    let info = info(&name, folder, study, &labels, (pairs.pairs.len(), n_sources))?;
    Ok(Hostable { labels, pairs, info })
}

/// An exposure that most screens cannot show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unshowable {
    /// The exposure that is meant.
    pub exposure_ms: f64,
    /// The nearest that a screen of 60 Hz can show, below and above; none below one frame.
    pub nearest_ms: (Option<f64>, f64),
}

/// Time between two frames of the screens that most people have.
const USUAL_PERIOD_MS: f64 = 1_000.0 / 60.0;

/// Returns the exposures of a study that no screen of 60 Hz can show within its tolerance.
pub fn unshowable(study: &Study) -> Vec<Unshowable> {
    if study.task != Task::Flash {
        return Vec::new();
    }
    let exposures = study.flash.exposures_ms.iter().map(|ms| ms.value());
    exposures
        .filter(|ms| frames_for(*ms, USUAL_PERIOD_MS, study.screen.tolerance).is_none())
        .map(|exposure_ms| {
            let below = (exposure_ms / USUAL_PERIOD_MS).floor();
            let nearest = (0.0 < below).then_some(below * USUAL_PERIOD_MS);
            let nearest_ms = (nearest, (below + 1.0) * USUAL_PERIOD_MS);
            Unshowable { exposure_ms, nearest_ms }
        })
        .collect()
}

/// Exposures that are the same on the screens that most people have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Same {
    /// The shorter one.
    pub shorter_ms: f64,
    /// The next longer one.
    pub longer_ms: f64,
    /// The frames that both last.
    pub frames: u32,
}

/// Returns the neighbouring exposures of a study that a screen of 60 Hz shows for as many frames.
pub fn same_exposures(study: &Study) -> Vec<Same> {
    if study.task != Task::Flash {
        return Vec::new();
    }
    let frames = |ms: f64| frames_for(ms, USUAL_PERIOD_MS, study.screen.tolerance);
    let pairs = study.flash.exposures_ms.windows(2).map(|pair| (pair[0].value(), pair[1].value()));
    pairs
        .filter_map(|(shorter_ms, longer_ms)| {
            let frames = frames(shorter_ms).filter(|n| frames(longer_ms) == Some(*n))?;
            Some(Same { shorter_ms, longer_ms, frames })
        })
        .collect()
}

/// Most people have a screen of 60 Hz: a study that can show them nothing is a mistake.
fn check_exposures(study: &Study) -> Result<(), LaunchError> {
    let unshowable = unshowable(study);
    if unshowable.is_empty() || unshowable.len() < study.flash.exposures_ms.len() {
        return Ok(());
    }
    let exposures = unshowable.iter().map(|one| one.exposure_ms.to_string());
    let nearest =
        unshowable.iter().flat_map(|one| one.nearest_ms.0.into_iter().chain([one.nearest_ms.1]));
    let mut nearest: Vec<String> = nearest.map(|ms| format!("{ms:.1} ms")).collect();
    nearest.dedup();
    Err(LaunchError::NoExposure {
        exposures: format!("{} ms", exposures.collect::<Vec<_>>().join(", ")),
        percent: 100.0 * study.screen.tolerance,
        nearest: nearest.join(", "),
    })
}

/// Where people choose among labels, the right one must be there.
fn check_on_offer(
    study: &Study,
    prepared: &[Prepared],
    labels: &[String],
) -> Result<(), LaunchError> {
    let is_missing = |row: &&Prepared| {
        labels.binary_search_by(|label| label.as_str().cmp(row.label.as_str())).is_err()
    };
    let missing: Vec<&Prepared> = prepared.iter().filter(is_missing).collect();
    match missing.first() {
        Some(first) if study.task != Task::Pairs => {
            let of_first = missing.iter().filter(|row| row.label == first.label);
            let labels: BTreeSet<&str> = missing.iter().map(|row| row.label.as_str()).collect();
            Err(LaunchError::NotOnOffer {
                label: first.label.as_str().into(),
                n: of_first.map(|row| &row.stimulus).collect::<BTreeSet<_>>().len(),
                n_others: labels.len() - 1,
            })
        }
        _ => Ok(()),
    }
}

fn check_flashes(study: &Study, prepared: &[Prepared]) -> Result<(), LaunchError> {
    if study.safety.flash_override.is_some() {
        return Ok(());
    }
    let flashing = prepared.iter().find(|row| row.flashes.is_some_and(|flashes| 3.0 < flashes));
    flashing.map_or(Ok(()), |row| {
        Err(LaunchError::Flashes {
            stimulus: row.stimulus.as_str().into(),
            flashes: row.flashes.unwrap_or_default(),
        })
    })
}

/// Finds each picture in `prepared/`, or beside the table.
fn find_media(
    folder: &Path,
    table: &Path,
    prepared: &[Prepared],
) -> Result<BTreeMap<String, PathBuf>, LaunchError> {
    let places = [folder.join("prepared"), table.parent().unwrap_or(folder).to_owned()];
    let mut media = BTreeMap::new();
    let hashes = prepared.iter().flat_map(|row| std::iter::once(&row.image).chain(&row.mask));
    for hash in hashes {
        if media.contains_key(hash) {
            continue;
        }
        let file = format!("{hash}.png");
        let found = places.iter().map(|place| place.join(&file)).find(|path| path.is_file());
        let found = found.ok_or(LaunchError::NoPicture { folder: folder.into(), file })?;
        media.insert(hash.clone(), found);
    }
    Ok(media)
}

fn labels(study: &Study, prepared: &[Prepared]) -> Vec<String> {
    let mut labels: Vec<String> = if study.labels.is_empty() {
        prepared.iter().map(|row| row.label.as_str().to_owned()).collect()
    } else {
        study.labels.clone()
    };
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// Returns what addresses and the database call a study.
pub fn id_of(study: &Study) -> String {
    study.id.clone().unwrap_or_else(|| address_name(&study.name))
}

/// Returns a name that can stand in an address: lower case, letters, digits and hyphens.
///
/// Letters of other alphabets have no place there. A name that has some ends with a hash of it, so
/// that two such names stay two.
pub fn address_name(name: &str) -> String {
    let mut address = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            address.push(c.to_ascii_lowercase());
        } else if !address.ends_with('-') && !address.is_empty() {
            address.push('-');
        }
    }
    let address = match address.trim_end_matches('-') {
        "" => "study",
        address => address,
    };
    let has_others = name.chars().any(|c| c.is_alphanumeric() && !c.is_ascii());
    match sha256(&[name]).get(..6).filter(|_| has_others) {
        Some(hash) => format!("{address}-{hash}"),
        None => address.into(),
    }
}

fn info(
    name: &str,
    folder: &Path,
    study: &Study,
    labels: &[String],
    (n_pairs, n_sources): (usize, usize),
) -> Result<StudyInfo, LaunchError> {
    let page = &study.page;
    let (flash, beep) = (&study.flash, &study.beep);
    let is_flash = study.task == Task::Flash;
    let paragraphs = |file: &Option<PathBuf>| -> Result<Vec<String>, LaunchError> {
        let Some(file) = file else { return Ok(Vec::new()) };
        let text = read_prose(&folder.join(file))?;
        let text = text.replace("\r\n", "\n");
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.trim().replace('\n', " "));
        Ok(paragraphs.filter(|paragraph| !paragraph.is_empty()).collect())
    };
    let seconds = match study.task {
        Task::Beep => {
            let mean: f64 = beep.beeps_ms.iter().map(|ms| ms.value()).sum::<f64>();
            (beep.practice_trials * 3) as f64
                + beep.trials_per_block as f64 * (mean / 1_000.0 + 1.2 * beep.beeps_ms.len() as f64)
        }
        Task::Pairs => study.pairs.trials_per_participant.min(n_pairs) as f64 * 4.0,
        Task::Rate => study.rate.trials_per_participant.min(n_sources) as f64 * 5.0,
        Task::Flash | Task::Masks => flash.trials_per_participant.min(n_sources) as f64 * 6.0,
    };
    Ok(StudyInfo {
        study: name.into(),
        title: page.title.clone().unwrap_or_else(|| study.name.clone()),
        task: study.task.as_str().into(),
        language: page.language.clone(),
        labels: if study.task == Task::Pairs { Vec::new() } else { labels.to_vec() },
        contact: page.contact.clone(),
        minutes: page.minutes.unwrap_or_else(|| minutes(seconds)),
        pay: page.pay.clone(),
        min_age: page.min_age,
        consent: paragraphs(&page.consent)?,
        debrief: paragraphs(&page.debrief)?,
        trials_between_breaks: u32::try_from(page.trials_between_breaks).unwrap_or(u32::MAX),
        calibrate: study.screen.calibrate,
        fullscreen: study.screen.fullscreen,
        size_deg: study.screen.size_deg,
        size_px: study.screen.size_px,
        tolerance: study.screen.tolerance,
        exposures_ms: if is_flash {
            flash.exposures_ms.iter().map(|ms| ms.value()).collect()
        } else {
            Vec::new()
        },
        fixation_ms: flash.fixation_ms.value(),
        mask_ms: flash.mask_ms.value(),
        gap_ms: flash.gap_ms.value(),
        beep: (study.task == Task::Beep).then(|| BeepInfo {
            tolerance_ms: beep.tolerance_ms.value(),
            window_ms: beep.window_ms.value(),
            cue: match beep.cue {
                mohs_data::Cue::Sound => "sound",
                mohs_data::Cue::Visual => "visual",
                mohs_data::Cue::Choice => "choice",
            }
            .into(),
            gate_trials: u32::try_from(beep.gate_trials).unwrap_or(u32::MAX),
            gate_share: beep.gate_share,
            gate: if beep.gate == Gate::Stop { "stop" } else { "warn" }.into(),
        }),
        ties: study.pairs.ties,
        preview: false,
    })
}

/// Returns whole minutes with a few for reading, at least 5.
fn minutes(seconds: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let minutes = (seconds / 60.0 + 4.0).ceil().clamp(5.0, 600.0) as u32;
    minutes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_an_address_has_letters_digits_and_hyphens_only() {
        for (name, address) in
            [("My Study", "my-study"), ("../../etc", "etc"), ("<script>", "script"), ("…", "study")]
        {
            assert_eq!(address_name(name), address);
        }
    }

    #[test]
    fn names_in_other_alphabets_stay_apart() {
        let names = ["Исследование", "研究", "実験", "Größe", "Gräße"].map(address_name);
        for name in &names {
            let (start, hash) = name.rsplit_once('-').unwrap();
            assert!(["study", "gr-e"].contains(&start) && hash.len() == 6, "{name}");
        }
        assert_eq!(BTreeSet::from(names).len(), 5);
    }

    #[test]
    fn exposures_between_the_frames_of_usual_screens_are_named() {
        let mut study = Study::new("x", Task::Flash);
        assert!(unshowable(&study).is_empty());
        study.flash.exposures_ms =
            [5.0, 17.0, 25.0, 40.0].map(|ms| mohs_data::Millis::new(ms).unwrap()).to_vec();
        let found = unshowable(&study);
        let exposures: Vec<f64> = found.iter().map(|one| one.exposure_ms).collect();
        assert_eq!(exposures, [5.0, 25.0, 40.0]);
        assert_eq!(found[0].nearest_ms, (None, USUAL_PERIOD_MS));
        assert_eq!(found[1].nearest_ms, (Some(USUAL_PERIOD_MS), 2.0 * USUAL_PERIOD_MS));
        study.task = Task::Rate;
        assert!(unshowable(&study).is_empty());
    }

    #[test]
    fn exposures_of_as_many_frames_on_usual_screens_are_named() {
        let mut study = Study::new("x", Task::Flash);
        assert!(same_exposures(&study).is_empty());
        study.flash.exposures_ms =
            [17.0, 50.0, 51.0, 100.0].map(|ms| mohs_data::Millis::new(ms).unwrap()).to_vec();
        let expected = Same { shorter_ms: 50.0, longer_ms: 51.0, frames: 3 };
        assert_eq!(same_exposures(&study), [expected]);
    }
}
