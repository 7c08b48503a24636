//! Predictions held against stimuli and against each other.
//!
//! A row finds its stimulus by id, by file, by the file's name or by that name without its ending,
//! whichever names one stimulus first; the order of rows never matters.

use std::collections::{BTreeMap, BTreeSet};

use super::{Gathered, PredictionOptions, RIGHT, WRONG, key_of};
use crate::format::import::Account;
use crate::{FileError, Label, Prediction, Problem, Stimulus};

/// Gives every row the id and the label of its stimulus; rows of other stimuli are set aside.
pub(super) fn join(
    gathered: Gathered,
    stimuli: &[Stimulus],
    stimuli_name: &str,
    account: &mut Account,
) -> Result<Gathered, FileError> {
    let index = Index::new(stimuli);
    let mut kept = Gathered { files: gathered.files.clone(), ..Gathered::default() };
    let mut n_by_way: BTreeMap<&str, usize> = BTreeMap::new();
    for (idx, row) in gathered.rows.iter().enumerate() {
        let Some((stimulus, way)) = index.find(row.stimulus.as_str()) else { continue };
        *n_by_way.entry(way).or_default() += 1;
        if let Some(label) = row.label.as_ref().filter(|label| **label != stimulus.label) {
            let problem = Problem::Contradiction {
                detail: format!(
                    "stimulus `{}` has the label `{label}` here and `{}` in {stimuli_name}",
                    row.stimulus, stimulus.label
                ),
                hint:
                    "make the labels agree, or leave theirs out with `--map label=`; `--classes` \
                       names numbered classes"
                        .into(),
            };
            return Err(gathered.error(idx, problem));
        }
        let label = Some(stimulus.label.clone());
        kept.rows.push(Prediction { stimulus: stimulus.id.clone(), label, ..row.clone() });
        kept.places.push(gathered.places[idx]);
    }
    let n_lost = gathered.rows.len() - kept.rows.len();
    if kept.rows.is_empty() && 0 < n_lost {
        let found = gathered.rows[0].stimulus.as_str();
        let problem = Problem::Unknown {
            what: "stimulus",
            id: found.to_owned(),
            known_in: format!("{stimuli_name}, and none of the other {} is", n_lost - 1),
            nearest: crate::error::nearest(found, stimuli.iter().map(|s| s.id.as_str())),
        };
        return Err(gathered.error(0, problem));
    }
    account.set_aside(format!("about stimuli that are not in {stimuli_name}"), n_lost);
    for (way, n) in n_by_way.iter().filter(|(way, _)| **way != BY_ID) {
        account.notices.push(format!("{n} rows found their stimulus by {way}"));
    }
    let answered: BTreeSet<&str> = kept.rows.iter().map(|row| row.stimulus.as_str()).collect();
    let n_silent = stimuli.iter().filter(|s| !answered.contains(s.id.as_str())).count();
    if 0 < n_silent {
        let all = stimuli.len();
        account.notices.push(format!("{n_silent} of {all} stimuli have no prediction"));
    }
    Ok(kept)
}

const BY_ID: &str = "its id";

/// Stimuli by what other tools may call them.
struct Index<'a> {
    ways: [(&'static str, BTreeMap<String, Option<&'a Stimulus>>); 4],
}

impl<'a> Index<'a> {
    fn new(stimuli: &'a [Stimulus]) -> Self {
        let by = |name: &dyn Fn(&Stimulus) -> Option<String>| {
            let mut by_name: BTreeMap<String, Option<&'a Stimulus>> = BTreeMap::new();
            for stimulus in stimuli {
                let Some(name) = name(stimulus) else { continue };
                // A name of two stimuli names neither.
                let entry = by_name.entry(name);
                entry.and_modify(|known| *known = None).or_insert(Some(stimulus));
            }
            by_name
        };
        let text = |part: Option<&std::ffi::OsStr>| part.map(|p| p.to_string_lossy().into_owned());
        Self {
            ways: [
                (BY_ID, by(&|s| Some(s.id.to_string()))),
                ("the path of its file", by(&|s| Some(s.file.to_string_lossy().into_owned()))),
                ("the name of its file", by(&|s| text(s.file.file_name()))),
                ("the name of its file without the ending", by(&|s| text(s.file.file_stem()))),
            ],
        }
    }

    fn find(&self, name: &str) -> Option<(&'a Stimulus, &'static str)> {
        let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
        let names = [name, name, last, stem];
        let mut found = self.ways.iter().zip(names);
        found.find_map(|((way, by_name), name)| Some(((*by_name.get(name)?)?, *way)))
    }
}

/// Makes sure that no model answers twice about one stimulus under one probe and condition.
pub(super) fn check_unique(gathered: &Gathered) -> Result<(), FileError> {
    let mut first_by_key = BTreeMap::new();
    for (idx, row) in gathered.rows.iter().enumerate() {
        let key = key_of(row);
        let Some(first) = first_by_key.insert(key.clone(), idx) else { continue };
        let problem = Problem::Contradiction {
            detail: format!("prediction `{key}` stands twice; first in {}", gathered.place(first)),
            hint: "was a file named twice, or are probes and conditions missing? Map them with \
                   --map probe=YOUR_COLUMN or --map condition_value=YOUR_COLUMN; two models need \
                   two names"
                .into(),
        };
        return Err(gathered.error(idx, problem));
    }
    Ok(())
}

/// Says what a reader of these predictions should know.
pub(super) fn doubts(rows: &[Prediction], options: &PredictionOptions<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let answers = || rows.iter().filter_map(|row| Some((row, row.answer()?)));
    let n_unjudged = answers().filter(|(row, _)| row.is_correct().is_none()).count();
    if 0 < n_unjudged {
        let how = if options.stimuli.is_some() { "" } else { "; --stimuli joins labels" };
        notes.push(format!("nothing says what is right for {n_unjudged} answers{how}"));
    }
    let only_right = |label: &Label| [RIGHT, WRONG].contains(&label.as_str());
    let n_unknown = answers().filter(|(_, answer)| only_right(&answer.predicted)).count();
    if 0 < n_unknown {
        notes.push(format!(
            "{n_unknown} answers are known only as `{RIGHT}` or `{WRONG}`, not by what was said"
        ));
    }
    let labels: BTreeSet<&Label> = rows.iter().filter_map(|row| row.label.as_ref()).collect();
    let compared =
        || answers().filter(|(row, answer)| row.label.is_some() && answer.correct.is_none());
    let is_known = |label: &Label| labels.contains(label);
    if compared().next().is_some() && !compared().any(|(_, answer)| is_known(&answer.predicted)) {
        let said = compared().next().map_or("", |(_, answer)| answer.predicted.as_str());
        let truth = labels.first().map_or("", |label| label.as_str());
        notes.push(format!(
            "no answer is one of the labels (answers are like `{said}`, labels like `{truth}`), so \
             all count as wrong; --classes names numbered classes"
        ));
    }
    notes
}
