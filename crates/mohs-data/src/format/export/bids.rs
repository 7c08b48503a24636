//! BIDS: one `_events.tsv` per participant, session and task, with sidecars.
//!
//! ```text
//! dataset_description.json   README.md   participants.tsv   participants.json
//! task-beep_events.json                       what every column means, for all files of the task
//! sub-01/[ses-1/]beh/sub-01_[ses-1_]task-beep_events.tsv
//! sub-01/sub-01_sessions.tsv (and .json)      where there are several sessions
//! ```
//!
//! Times are seconds. `onset` is the raw clock; where a source only gives durations its clock
//! starts anew with every trial, and the onset is `n/a`. `duration` is the time on screen as
//! measured, else as meant. Labels have letters and digits only; the ids they stand for are in
//! `participants.tsv` and `_sessions.tsv`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Description, glossary, label, make, make_folder, write_json};
use crate::format::atomic;
use crate::{FileError, Label, Millis, ParticipantId, SessionId, Task, Trial};

/// The version of the standard that is followed.
const BIDS_VERSION: &str = "1.10.0";
/// Nothing, in a table of BIDS.
const NOTHING: &str = "n/a";

/// Columns of an events table that are ours, with what they mean and their unit.
const COLUMNS: [(&str, &str, Option<&str>); 15] = [
    ("onset", "Clock of the participant's machine when the stimulus appeared", Some("s")),
    ("duration", "Time the stimulus was on screen: measured, else meant", Some("s")),
    ("trial_type", "What was done to the stimulus; the task where nothing was", None),
    ("response_time", "Time from onset to answer", Some("s")),
    ("trial", "Id of the trial, unique within the data set", None),
    ("idx", "Position of the trial within the session, from 0", None),
    ("block", "Run of trials within the session", None),
    ("stimulus", "Id of what was shown", None),
    ("label", "The right answer", None),
    ("response", "The answer; n/a when there was none", None),
    ("correct", "Whether the answer was right: 1 or 0; no answer is a wrong answer", None),
    ("exposure", "Time the stimulus was meant to be on screen", Some("s")),
    ("beep", "Time after onset at which a beep asked for the answer", Some("s")),
    ("condition", "What was done to the stimulus", None),
    ("timing", "What the presentation log says about the exposure", None),
];

/// Writes the folder.
pub fn write(folder: &Path, trials: &[Trial], about: &Description) -> Result<(), FileError> {
    let places = Places::new(trials);
    make_folder(folder, |folder| {
        write_json(&folder.join("dataset_description.json"), &dataset_description(about))?;
        let readme = format!(
            "# {}\n\n{}\n\nEach `_events.tsv` has one trial per row; the file `task-…_events.json` \
             beside this one says what its columns mean.\n`participants.tsv` has the ids of \
             participants in the source.\nTimes are in seconds, by the clock of the participant's \
             machine.\n",
            about.name, about.description
        );
        atomic::write_file(&folder.join("README.md"), readme.as_bytes())?;
        write_participants(folder, &places)?;
        let mut extras_by_task: BTreeMap<Task, BTreeSet<&str>> = BTreeMap::new();
        for ((participant, session, task), trials) in files(trials) {
            let extras = extra_names(&trials);
            extras_by_task.entry(task).or_default().extend(extras.iter().copied());
            let place = folder.join(places.folder(participant, session)).join("beh");
            make(&place)?;
            let name =
                format!("{}_task-{}_events.tsv", places.stem(participant, session), task.as_str());
            atomic::write_file(&place.join(name), events(&trials, &extras).as_bytes())?;
        }
        for (task, extras) in extras_by_task {
            let name = format!("task-{}_events.json", task.as_str());
            write_json(&folder.join(name), &sidecar(task, &extras))?;
        }
        Ok(())
    })
}

fn dataset_description(about: &Description) -> Value {
    let mut description = json!({
        "Name": about.name,
        "BIDSVersion": BIDS_VERSION,
        "DatasetType": "raw",
        "GeneratedBy": [{"Name": "mohs", "Version": about.written_by}],
    });
    if !about.authors.is_empty() {
        description["Authors"] = json!(about.authors);
    }
    description
}

/// Who goes where.
struct Places<'a> {
    participants: BTreeMap<&'a str, String>,
    /// Labels of sessions by participant and session; empty when everybody has one session.
    sessions: BTreeMap<&'a ParticipantId, BTreeMap<&'a str, String>>,
}

impl<'a> Places<'a> {
    fn new(trials: &'a [Trial]) -> Self {
        let participants = label::labels(trials.iter().map(|trial| trial.participant.as_str()));
        let mut ids: BTreeMap<&ParticipantId, BTreeSet<&str>> = BTreeMap::new();
        for trial in trials {
            ids.entry(&trial.participant).or_default().insert(trial.session.as_str());
        }
        let has_several = ids.values().any(|sessions| 1 < sessions.len());
        let sessions = if has_several {
            ids.into_iter().map(|(who, sessions)| (who, label::labels(sessions))).collect()
        } else {
            BTreeMap::new()
        };
        Self { participants, sessions }
    }

    fn session(&self, participant: &ParticipantId, session: &SessionId) -> Option<&str> {
        Some(self.sessions.get(participant)?.get(session.as_str())?)
    }

    fn folder(&self, participant: &ParticipantId, session: &SessionId) -> String {
        let who = &self.participants[participant.as_str()];
        match self.session(participant, session) {
            Some(session) => format!("sub-{who}/ses-{session}"),
            None => format!("sub-{who}"),
        }
    }

    fn stem(&self, participant: &ParticipantId, session: &SessionId) -> String {
        self.folder(participant, session).replace('/', "_")
    }
}

fn write_participants(folder: &Path, places: &Places<'_>) -> Result<(), FileError> {
    let mut table = String::from("participant_id\tsource_id\n");
    for (id, label) in &places.participants {
        table.push_str(&format!("sub-{label}\t{}\n", cell(id)));
    }
    atomic::write_file(&folder.join("participants.tsv"), table.as_bytes())?;
    let meaning = json!({"source_id": {"Description": "Id of the participant in the source"}});
    write_json(&folder.join("participants.json"), &meaning)?;
    for (participant, sessions) in &places.sessions {
        let who = &places.participants[participant.as_str()];
        let mut table = String::from("session_id\tsource_id\n");
        for (id, label) in sessions {
            table.push_str(&format!("ses-{label}\t{}\n", cell(id)));
        }
        let place = folder.join(format!("sub-{who}"));
        make(&place)?;
        atomic::write_file(&place.join(format!("sub-{who}_sessions.tsv")), table.as_bytes())?;
        let meaning = json!({"source_id": {"Description": "Id of the session in the source"}});
        write_json(&place.join(format!("sub-{who}_sessions.json")), &meaning)?;
    }
    Ok(())
}

type FileKey<'a> = (&'a ParticipantId, &'a SessionId, Task);

/// Groups trials into files, each in the order given.
fn files(trials: &[Trial]) -> BTreeMap<FileKey<'_>, Vec<&Trial>> {
    let mut files: BTreeMap<FileKey<'_>, Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        let key = (&trial.participant, &trial.session, trial.task);
        files.entry(key).or_default().push(trial);
    }
    files
}

/// Returns the names of extra columns, in the order first seen.
fn extra_names<'a>(trials: &[&'a Trial]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in trials.iter().flat_map(|trial| trial.extra.names()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// Returns an extra column's name beside ours: a name of ours gets `source_` in front.
fn extra_column(name: &str) -> String {
    let is_ours = COLUMNS.iter().any(|(ours, ..)| *ours == name);
    let name = cell(name);
    if is_ours { format!("source_{name}") } else { name }
}

fn events(trials: &[&Trial], extras: &[&str]) -> String {
    // A clock that starts anew with every trial says nothing about when the trial was.
    let n_at_zero =
        trials.iter().filter(|t| t.onset.is_some_and(|onset| onset.value().abs() <= 0.0)).count();
    let has_clock = n_at_zero <= 1;
    let names = COLUMNS.iter().map(|(name, ..)| (*name).to_owned());
    let names: Vec<String> = names.chain(extras.iter().map(|name| extra_column(name))).collect();
    let mut table = names.join("\t") + "\n";
    for trial in trials {
        let onset = trial.onset.filter(|_| has_clock);
        let duration = trial.shown().or(trial.exposure);
        let text = |text: Option<&str>| cell(text.unwrap_or_default());
        let correct = trial.is_correct().map_or(NOTHING, |right| if right { "1" } else { "0" });
        let ours = [
            seconds(onset),
            seconds(duration),
            cell(trial.condition.as_deref().unwrap_or(trial.task.as_str())),
            seconds(trial.rt()),
            cell(trial.id.as_str()),
            trial.idx.map_or_else(|| NOTHING.to_owned(), |idx| idx.to_string()),
            text(trial.block.as_deref()),
            cell(trial.stimulus.as_str()),
            text(trial.label.as_ref().map(Label::as_str)),
            text(trial.response.as_ref().map(Label::as_str)),
            correct.to_owned(),
            seconds(trial.exposure),
            seconds(trial.beep),
            text(trial.condition.as_deref()),
            text(trial.timing.map(crate::TimingVerdict::as_str)),
        ];
        let kept = extras.iter().map(|name| cell(trial.extra.get(name).unwrap_or_default()));
        let cells: Vec<String> = ours.into_iter().chain(kept).collect();
        table.push_str(&cells.join("\t"));
        table.push('\n');
    }
    table
}

fn sidecar(task: Task, extras: &BTreeSet<&str>) -> Value {
    let mut columns = Map::new();
    columns.insert("TaskName".into(), task.as_str().into());
    let what = match task {
        Task::Flash => "Name what was flashed for a short time",
        Task::Beep => "Name what is shown, answering at a beep",
        Task::Pairs => "Say which of two stimuli is harder",
        Task::Masks => "Draw the outline of the object",
        Task::Rate => "Name what is shown, without time pressure",
    };
    columns.insert("TaskDescription".into(), what.into());
    for (name, meaning, unit) in COLUMNS {
        let mut entry = json!({"Description": meaning});
        if let Some(unit) = unit {
            entry["Units"] = unit.into();
        }
        columns.insert(name.into(), entry);
    }
    for name in extras {
        let meaning = glossary::meaning(name)
            .map_or("Column of the source, kept as it was", |(meaning, _)| meaning);
        columns.insert(extra_column(name), json!({"Description": meaning}));
    }
    Value::Object(columns)
}

/// Writes a time in seconds.
fn seconds(time: Option<Millis>) -> String {
    time.map_or_else(|| NOTHING.to_owned(), |ms| (ms.value() / 1_000.0).to_string())
}

/// Writes a text without the signs that a table is made of.
fn cell(text: &str) -> String {
    if text.is_empty() {
        return NOTHING.to_owned();
    }
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
