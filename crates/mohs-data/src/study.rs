//! A study: what is shown to whom, which data count and how they are scored (`study.toml`).
//!
//! The file is the configuration: everything that changes a result stands in it, with defaults
//! that follow the viewing-time paper.

mod hosting;
mod ranges;
mod task_design;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::format::document;
use crate::{FileError, Millis, Problem, TimingVerdict};

pub use hosting::{
    Crop, Degradation, DegradationKind, MaskForm, PageOptions, PrepareOptions, SafetyOptions,
    ScreenRules, is_web_address,
};
pub use task_design::{
    Allocation, BeepDesign, BlockOrder, Cue, FlashDesign, Gate, PairsDesign, PairsWithin,
    RateDesign,
};

/// What participants do, which data count, and how they are scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Version of the file's format.
    pub version: u64,
    /// A short name, used in reports.
    pub name: String,
    /// What addresses and the database call the study; made from the name when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What participants do.
    pub task: Task,
    /// The table of stimuli, relative to the study's folder.
    #[serde(default = "default_stimuli")]
    pub stimuli: PathBuf,
    /// The answers participants choose from; empty means the labels of the stimuli.
    #[serde(default)]
    pub labels: Vec<String>,
    /// How flashes are shown.
    #[serde(default)]
    pub flash: FlashDesign,
    /// How answers at a beep are asked for.
    #[serde(default)]
    pub beep: BeepDesign,
    /// Which pairs are judged.
    #[serde(default)]
    pub pairs: PairsDesign,
    /// How stimuli are named without time pressure.
    #[serde(default)]
    pub rate: RateDesign,
    /// How pictures become what is shown.
    #[serde(default)]
    pub prepare: PrepareOptions,
    /// What a participant's screen must be able to do.
    #[serde(default)]
    pub screen: ScreenRules,
    /// What participants read, and where they go at the end.
    #[serde(default)]
    pub page: PageOptions,
    /// What may endanger participants.
    #[serde(default)]
    pub safety: SafetyOptions,
    /// Which data are set aside.
    #[serde(default)]
    pub exclusions: ExclusionRules,
    /// How trials become difficulty.
    #[serde(default)]
    pub score: ScoreOptions,
    /// What `mohs simulate` assumes.
    #[serde(default)]
    pub simulate: SimulateOptions,
}

/// What a participant has to do in a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Name what was flashed for a short time (viewing time).
    Flash,
    /// Answer at a beep (speed–accuracy).
    Beep,
    /// Say which of two stimuli is harder.
    Pairs,
    /// Draw the outline of the object.
    Masks,
    /// Name what is shown, without time pressure.
    Rate,
}

impl Task {
    /// The tasks and their words in files.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("flash", Self::Flash),
        ("beep", Self::Beep),
        ("pairs", Self::Pairs),
        ("masks", Self::Masks),
        ("rate", Self::Rate),
    ];

    /// Returns the word in files.
    pub fn as_str(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// Which data are set aside. A rule that is not given is not applied.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExclusionRules {
    /// `low-accuracy`: participants whose accuracy at the longest exposure is below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_accuracy_at_longest: Option<f64>,
    /// `too-fast`: trials answered sooner than this after onset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rt_ms: Option<Millis>,
    /// `too-slow`: trials answered later than this after onset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rt_ms: Option<Millis>,
    /// `duplicate`: when a participant saw a stimulus more than once, all but the first trial.
    pub repeated_stimuli: bool,
    /// `bad-timing`: trials whose presentation log has one of these verdicts.
    pub timing: Vec<TimingVerdict>,
    /// `by-hand`: participants to set aside.
    pub participants: Vec<String>,
}

/// How trials become difficulty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScoreOptions {
    /// Share of correct answers from which a stimulus counts as recognised.
    pub criterion: f64,
    /// What counts as the minimum viewing time when recognition is not monotone.
    pub rule: MvtRule,
    /// Chance of a right guess; one over the number of labels when not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guess_rate: Option<f64>,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Draws of each bootstrap.
    pub n_resamples: usize,
}

impl Default for ScoreOptions {
    fn default() -> Self {
        Self {
            criterion: 0.5,
            rule: MvtRule::Stays,
            guess_rate: None,
            confidence: 0.95,
            n_resamples: 1_000,
        }
    }
}

/// What counts as the minimum viewing time when recognition is not monotone in exposure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MvtRule {
    /// The shortest exposure from which the stimulus stays recognised at every longer one.
    Stays,
    /// The shortest exposure at which the stimulus is recognised at all.
    First,
}

impl MvtRule {
    /// Returns the word in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stays => "stays",
            Self::First => "first",
        }
    }
}

/// What `mohs simulate` assumes about people and costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SimulateOptions {
    /// Stimuli to simulate; the study's own number when its table is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_stimuli: Option<usize>,
    /// Share of stimuli whose band should come out right.
    pub goal: f64,
    /// Share of participants who stop half-way.
    pub drop_out: f64,
    /// Seconds a trial takes apart from the exposure.
    pub seconds_per_trial: f64,
    /// Pay for an hour, in your currency.
    pub pay_per_hour: f64,
    /// Share the recruiter takes on top of the pay.
    pub recruiter_fee: f64,
}

impl Default for SimulateOptions {
    fn default() -> Self {
        Self {
            n_stimuli: None,
            goal: 0.7,
            drop_out: 0.05,
            seconds_per_trial: 6.0,
            pay_per_hour: 12.0,
            recruiter_fee: 0.33,
        }
    }
}

fn ms(value: f64) -> Millis {
    Millis::new(value).expect("because the defaults are finite")
}

fn default_stimuli() -> PathBuf {
    "stimuli.csv".into()
}

impl Study {
    /// The version this code writes, and the newest it reads.
    pub const VERSION: u64 = 1;

    /// Starts a study with the defaults of the viewing-time paper.
    pub fn new(name: &str, task: Task) -> Self {
        Self {
            version: Self::VERSION,
            name: name.to_owned(),
            id: None,
            task,
            stimuli: default_stimuli(),
            labels: Vec::new(),
            flash: FlashDesign::default(),
            beep: BeepDesign::default(),
            pairs: PairsDesign::default(),
            rate: RateDesign::default(),
            prepare: PrepareOptions::default(),
            screen: ScreenRules::default(),
            page: PageOptions::default(),
            safety: SafetyOptions::default(),
            exclusions: ExclusionRules::default(),
            score: ScoreOptions::default(),
            simulate: SimulateOptions::default(),
        }
    }

    /// Reads and checks `study.toml`.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::parse(path, &document::read_text(path, "a study in TOML")?)
    }

    /// Parses and checks the text of `study.toml`; `path` is only for errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        document::check_toml_version(path, text, "study", Self::VERSION)?;
        let study: Self = document::parse_toml(path, text)?;
        study.check(path).map_err(|error| document::at_key(error, text))?;
        Ok(study)
    }

    /// Writes `study.toml`.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        document::write_toml(path, self)
    }

    fn check(&self, path: &Path) -> Result<(), FileError> {
        let bad = |key: &str, expected: &str, found: String| {
            let hint = Some("docs/formats/study.md has every key with its range".into());
            let problem = Problem::BadValue { expected: expected.into(), found, hint };
            Err(FileError::new(path, problem).in_column(key))
        };
        if self.name.trim().is_empty() {
            return bad("name", "a name that is not empty", format!("{:?}", self.name));
        }
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if let Some(id) = &self.id
            && (id.is_empty() || 60 < id.len() || !id.chars().all(is_plain))
        {
            return bad("id", "1 to 60 lower-case letters, digits and hyphens", id.clone());
        }
        self.check_ranges(&bad)?;
        let shares = [
            ("score.criterion", Some(self.score.criterion)),
            ("score.guess_rate", self.score.guess_rate),
            ("score.confidence", Some(self.score.confidence)),
            ("simulate.goal", Some(self.simulate.goal)),
            ("flash.certainty", Some(self.flash.certainty)),
            ("beep.gate_share", Some(self.beep.gate_share)),
            ("screen.tolerance", Some(self.screen.tolerance)),
        ];
        for (key, share) in shares {
            if let Some(share) = share
                && !(0.0 < share && share < 1.0)
            {
                return bad(key, "a share between 0 and 1", share.to_string());
            }
        }
        let accuracy = self.exclusions.min_accuracy_at_longest;
        if let Some(accuracy) = accuracy
            && !(0.0..=1.0).contains(&accuracy)
        {
            let key = "exclusions.min_accuracy_at_longest";
            return bad(key, "a share from 0 to 1", accuracy.to_string());
        }
        if self.score.n_resamples < 100 {
            let found = self.score.n_resamples.to_string();
            return bad("score.n_resamples", "100 or more", found);
        }
        if !(0.0..1.0).contains(&self.simulate.drop_out) {
            let found = self.simulate.drop_out.to_string();
            return bad("simulate.drop_out", "a share from 0 up to 1", found);
        }
        let costs = [
            ("simulate.seconds_per_trial", self.simulate.seconds_per_trial),
            ("simulate.pay_per_hour", self.simulate.pay_per_hour),
            ("simulate.recruiter_fee", self.simulate.recruiter_fee),
        ];
        for (key, cost) in costs {
            if !cost.is_finite() || cost < 0.0 {
                return bad(key, "a number, 0 or more", cost.to_string());
            }
        }
        if !(16..=2_048).contains(&self.prepare.side_px) {
            let found = self.prepare.side_px.to_string();
            return bad("prepare.side_px", "a side of 16 to 2048 pixels", found);
        }
        if !["en", "de"].contains(&self.page.language.as_str()) {
            return bad("page.language", "`en` or `de`", self.page.language.clone());
        }
        self.screen.check(&bad)?;
        if let Some(problem) = self.screen.unknown_browser() {
            return Err(FileError::new(path, problem).in_column("screen.short_exposures_in"));
        }
        self.page.check(&bad)?;
        self.safety.check(&bad)?;
        self.check_conditions(&bad)?;
        for (idx, label) in self.labels.iter().enumerate() {
            if label.trim().is_empty() {
                return bad("labels", "labels that are not empty", format!("{label:?}"));
            }
            let is_like = |other: &&String| other.split_whitespace().eq(label.split_whitespace());
            if let Some(other) = self.labels[..idx].iter().find(is_like) {
                if other == label {
                    return bad("labels", "labels without repetition", label.clone());
                }
                let expected = "labels that differ in more than blanks";
                return bad("labels", expected, format!("{other:?} and {label:?}"));
            }
        }
        Ok(())
    }

    fn check_conditions(
        &self,
        bad: &impl Fn(&str, &str, String) -> Result<(), FileError>,
    ) -> Result<(), FileError> {
        let conditions = &self.prepare.conditions;
        for (idx, condition) in conditions.iter().enumerate() {
            let name = &condition.name;
            if name.is_empty() || conditions[..idx].iter().any(|other| other.name == *name) {
                let expected = "a name for each condition, without repetition";
                return bad("prepare.condition.name", expected, name.clone());
            }
            let (range, expected) = match condition.kind {
                DegradationKind::Colour | DegradationKind::Gray => continue,
                DegradationKind::Contrast => (0.0..=1.0, "the contrast kept, from 0 to 1"),
                DegradationKind::Noise => (0.0..=1.0, "a standard deviation from 0 to 1"),
                DegradationKind::Blur => (0.0..=100.0, "a standard deviation of 0 to 100 pixels"),
            };
            if !condition.amount.is_some_and(|amount| range.contains(&amount)) {
                let found = condition.amount.map_or("nothing".into(), |amount| amount.to_string());
                return bad("prepare.condition.amount", expected, found);
            }
        }
        Ok(())
    }
}
