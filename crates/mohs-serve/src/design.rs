//! What gives the data of a study their meaning: a database keeps it, and a server that would go on
//! with something else is refused.
//!
//! Compared are the keys of `study.toml` that change what a participant sees, is asked or can answer,
//! and of each stimulus the right answer, the picture and the mask. Free are texts, consent, language,
//! breaks, pay and how much of everything is wanted; stimuli and conditions may be added and taken
//! away. As long as nobody was given a trial that counts, everything is free.

use std::collections::BTreeMap;
use std::fmt;

use mohs_data::{Allocation, DegradationKind, MaskForm, Millis, Study, Task};
use serde::Serialize;

use crate::hosted::Hosted;
use crate::store::StoreError;
use crate::store::connection::Connection;
use crate::store::design::{self, Shown, StimulusRow};
use crate::store::study;

/// Something that is another now than when data were collected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which key of `study.toml`, or what of which stimulus.
    pub key: String,
    /// What it was.
    pub before: String,
    /// What it is.
    pub after: String,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was {} and is {} now", self.key, self.before, self.after)
    }
}

/// Keys under which conditions stand; those that only one side has are not compared.
const CONDITION: &str = "prepare.condition ";

/// Keeps a study's design, or returns what has changed since data were collected and changes nothing.
pub fn keep(tx: &mut dyn Connection, hosted: &Hosted) -> Result<Vec<Change>, StoreError> {
    let study = hosted.name.as_str();
    let (stored, wanted) = (design::keys(tx, study)?, keys(&hosted.study, &hosted.labels));
    let known = design::stimuli(tx, study)?;
    let shown = stimuli(hosted);
    let mut changes: Vec<Change> = compare(&stored, &wanted);
    let differs =
        |(of, now): &(&Shown, &StimulusRow)| known.get(*of).is_some_and(|before| before != *now);
    let other: Vec<(&Shown, &StimulusRow)> = shown.iter().filter(differs).collect();
    if !changes.is_empty() || !other.is_empty() {
        if design::has_data(tx, study)? {
            let with_data =
                if other.is_empty() { None } else { Some(design::with_data(tx, study)?) };
            let is_seen = |of: &Shown| {
                let any = (of.0.clone(), String::new());
                with_data.as_ref().is_some_and(|seen| seen.contains(of) || seen.contains(&any))
            };
            let seen = other.iter().filter(|(of, _)| is_seen(of));
            changes.extend(seen.flat_map(|(of, now)| changes_of(of, &known[*of], now)));
        } else {
            changes.clear();
        }
    }
    if !changes.is_empty() {
        return Ok(changes);
    }
    if stored != wanted {
        // Conditions that are gone may come back, and must then be what they were.
        let gone = stored.into_iter().filter(|(key, _)| key.starts_with(CONDITION));
        let kept = gone.chain(wanted).collect();
        design::set_keys(tx, study, &kept)?;
    }
    for (of, now) in shown.iter().filter(|(of, now)| known.get(*of) != Some(*now)) {
        design::set_stimulus(tx, study, of, now)?;
    }
    Ok(Vec::new())
}

/// Returns the other studies of a database that have data, where this one has none.
pub fn others_instead(tx: &mut dyn Connection, study: &str) -> Result<Vec<String>, StoreError> {
    let mut others = Vec::new();
    for (name, _) in study::all(tx)? {
        if design::has_data(tx, &name)? {
            if name == study {
                return Ok(Vec::new());
            }
            others.push(name);
        }
    }
    Ok(others)
}

/// A database without keys is of a time before they were kept, and is taken as it is.
fn compare(stored: &BTreeMap<String, String>, wanted: &BTreeMap<String, String>) -> Vec<Change> {
    if stored.is_empty() {
        return Vec::new();
    }
    let mut changes = Vec::new();
    let all: std::collections::BTreeSet<&String> = stored.keys().chain(wanted.keys()).collect();
    for key in all {
        let (before, after) = (stored.get(key), wanted.get(key));
        let is_free = key.starts_with(CONDITION) && (before.is_none() || after.is_none());
        if before != after && !is_free {
            let word = |value: Option<&String>| value.map_or("nothing".into(), Clone::clone);
            let key = format!("`{key}`");
            changes.push(Change { key, before: word(before), after: word(after) });
        }
    }
    changes
}

fn changes_of(
    (stimulus, condition): &Shown,
    before: &StimulusRow,
    now: &StimulusRow,
) -> Vec<Change> {
    let of = match condition.as_str() {
        "" => format!("stimulus `{stimulus}`"),
        condition => format!("stimulus `{stimulus}` in condition `{condition}`"),
    };
    let hash = |hash: &str| match hash.get(..12) {
        Some(start) => format!("{start}…"),
        None => "none".into(),
    };
    let parts = [
        ("label", format!("`{}`", before.label), format!("`{}`", now.label)),
        ("picture", hash(&before.image), hash(&now.image)),
        ("mask", hash(&before.mask), hash(&now.mask)),
    ];
    parts
        .into_iter()
        .filter(|(_, before, after)| before != after)
        .map(|(what, before, after)| Change { key: format!("the {what} of {of}"), before, after })
        .collect()
}

fn stimuli(hosted: &Hosted) -> BTreeMap<Shown, StimulusRow> {
    let is_flash = hosted.study.task == Task::Flash;
    let row = |row: &mohs_data::Prepared| {
        let condition = row.condition.clone().unwrap_or_default();
        let stimulus = StimulusRow {
            label: row.label.as_str().into(),
            image: row.image.clone(),
            mask: row.mask.clone().filter(|_| is_flash).unwrap_or_default(),
        };
        ((row.stimulus.as_str().to_owned(), condition), stimulus)
    };
    hosted.prepared.iter().map(row).collect()
}

/// Returns the keys that give data their meaning, each with its value as it stands in `study.toml`.
fn keys(study: &Study, labels: &[String]) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let mut set = |key: &str, value: String| keys.insert(key.to_owned(), value);
    let prepare = &study.prepare;
    if study.task != Task::Pairs {
        set("labels", json(&labels));
    }
    set("prepare.crop", json(&prepare.crop));
    set("prepare.side_px", json(&prepare.side_px));
    let has_noise = prepare.conditions.iter().any(|one| one.kind == DegradationKind::Noise);
    let has_masks = study.task == Task::Flash && prepare.masks != MaskForm::None;
    if has_noise || has_masks || study.task == Task::Beep {
        set("prepare.seed", json(&prepare.seed));
    }
    for condition in &prepare.conditions {
        let amount = condition.amount.map_or(String::new(), |amount| format!(" {amount}"));
        let value = format!("{}{amount}", json(&condition.kind).trim_matches('"'));
        set(&format!("{CONDITION}{}", condition.name), value);
    }
    let screen = &study.screen;
    set("screen.calibrate", json(&screen.calibrate));
    set("screen.fullscreen", json(&screen.fullscreen));
    set("screen.size_deg", json(&screen.size_deg));
    set("screen.size_px", json(&screen.size_px));
    match study.task {
        Task::Flash => {
            let flash = &study.flash;
            set("prepare.masks", json(&prepare.masks));
            set("screen.short_exposures_in", json(&screen.short_exposures_in));
            set("screen.tolerance", json(&screen.tolerance));
            set("flash.design", json(&flash.design));
            set("flash.exposures_ms", times(&flash.exposures_ms));
            set("flash.fixation_ms", time(flash.fixation_ms));
            set("flash.gap_ms", time(flash.gap_ms));
            set("flash.mask_ms", time(flash.mask_ms));
            if flash.design == Allocation::Adaptive {
                set("flash.certainty", json(&flash.certainty));
            }
        }
        Task::Beep => {
            let beep = &study.beep;
            set("beep.beeps_ms", times(&beep.beeps_ms));
            set("beep.cue", json(&beep.cue));
            set("beep.gate", json(&beep.gate));
            set("beep.gate_share", json(&beep.gate_share));
            set("beep.gate_trials", json(&beep.gate_trials));
            set("beep.order", json(&beep.order));
            set("beep.practice_trials", json(&beep.practice_trials));
            set("beep.tolerance_ms", time(beep.tolerance_ms));
            // Which stimuli come with which beep follows from it.
            set("beep.trials_per_block", json(&beep.trials_per_block));
            set("beep.window_ms", time(beep.window_ms));
        }
        Task::Pairs => {
            set("pairs.adaptive", json(&study.pairs.adaptive));
            set("pairs.ties", json(&study.pairs.ties));
            set("pairs.within", json(&study.pairs.within));
        }
        Task::Rate | Task::Masks => {}
    }
    keys
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn time(time: Millis) -> String {
    time.value().to_string()
}

fn times(times: &[Millis]) -> String {
    let times: Vec<String> = times.iter().map(|ms| time(*ms)).collect();
    format!("[{}]", times.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Vec<String> {
        ["cat", "dog"].map(String::from).to_vec()
    }

    /// What `change` does to a study of `task`, by the keys that are refused.
    fn check(task: Task, change: impl Fn(&mut Study), expected: &[&str]) {
        let before = Study::new("x", task);
        let mut after = before.clone();
        change(&mut after);
        let changes = compare(&keys(&before, &labels()), &keys(&after, &labels()));
        let found: Vec<&str> = changes.iter().map(|one| one.key.trim_matches('`')).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_changes_the_meaning_of_data_is_named() {
        let ms = |value: f64| Millis::new(value).unwrap();
        let flash = |change: &dyn Fn(&mut Study), expected: &[&str]| {
            check(Task::Flash, change, expected);
        };
        flash(&|study| study.flash.exposures_ms = vec![ms(50.0)], &["flash.exposures_ms"]);
        flash(&|study| study.flash.mask_ms = ms(100.0), &["flash.mask_ms"]);
        flash(&|study| study.prepare.masks = MaskForm::None, &["prepare.masks", "prepare.seed"]);
        flash(&|study| study.prepare.side_px = 96, &["prepare.side_px"]);
        flash(&|study| study.screen.size_deg = 4.0, &["screen.size_deg"]);
        flash(
            &|study| study.flash.design = Allocation::Adaptive,
            &["flash.certainty", "flash.design"],
        );
        check(Task::Beep, |study| study.beep.window_ms = ms(300.0), &["beep.window_ms"]);
        check(Task::Pairs, |study| study.pairs.ties = true, &["pairs.ties"]);
    }

    #[test]
    fn what_changes_nothing_about_the_data_is_free() {
        check(
            Task::Flash,
            |study| {
                study.flash.participants_per_cell = 20;
                study.flash.trials_per_participant = 9;
                study.page.title = Some("Another title".into());
                study.page.consent = Some("consent.txt".into());
                study.page.pay = "5 €".into();
                study.page.language = "de".into();
                study.page.trials_between_breaks = 5;
                study.exclusions.min_rt_ms = None;
                study.score.criterion = 0.6;
                // Of other tasks.
                study.beep.practice_trials = 1;
                study.pairs.ties = true;
            },
            &[],
        );
        check(Task::Pairs, |study| study.pairs.pairs_per_stimulus = 2, &[]);
        check(Task::Rate, |study| study.rate.participants_per_stimulus = 9, &[]);
    }

    #[test]
    fn conditions_may_come_and_go_but_not_change() {
        let degraded = |amount: f64| mohs_data::Degradation {
            name: "dim".into(),
            kind: DegradationKind::Contrast,
            amount: Some(amount),
        };
        let keys_of = |conditions: Vec<mohs_data::Degradation>| {
            let mut study = Study::new("x", Task::Rate);
            study.prepare.conditions = conditions;
            keys(&study, &labels())
        };
        let (none, dim) = (keys_of(Vec::new()), keys_of(vec![degraded(0.2)]));
        assert!(compare(&none, &dim).is_empty() && compare(&dim, &none).is_empty());
        let changes = compare(&dim, &keys_of(vec![degraded(0.3)]));
        let expected = "`prepare.condition dim` was contrast 0.2 and is contrast 0.3 now";
        assert_eq!(changes[0].to_string(), expected);
    }

    #[test]
    fn another_answer_on_offer_is_a_change() {
        let study = Study::new("x", Task::Flash);
        let more = ["cat", "dog", "owl"].map(String::from);
        let changes = compare(&keys(&study, &labels()), &keys(&study, &more));
        let expected = "`labels` was [\"cat\",\"dog\"] and is [\"cat\",\"dog\",\"owl\"] now";
        assert_eq!(changes[0].to_string(), expected);
        assert!(compare(&BTreeMap::new(), &keys(&study, &more)).is_empty());
    }
}
