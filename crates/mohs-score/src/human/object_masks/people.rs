//! Who may draw: the exam, the attention checks and the rules that set people aside.

use std::collections::BTreeMap;

use mohs_data::{Caveat, Caveats, ParticipantId};

use super::collect::{Collected, Drawings, Key};
use super::findings::{Measured, SetAside};
use super::runs::iou;
use super::spread::{Observation, Redraw};
use super::{Error, Options};
use crate::proportion::real;

/// Streams of the draws behind people's means.
const EXAM: u64 = 1;
const CHECKS: u64 = 2;

/// Drawings of known objects, compared with the references.
#[derive(Debug)]
pub(super) struct Tested<'a> {
    /// Every comparison.
    pub(super) observations: Vec<Observation>,
    /// Each person's IoUs, by object.
    pub(super) by_participant: BTreeMap<&'a ParticipantId, Vec<f64>>,
    /// Objects tested.
    pub(super) n_objects: usize,
}

/// The tests and what follows from them.
#[derive(Debug)]
pub(super) struct People<'a> {
    pub(super) exam: Tested<'a>,
    pub(super) checks: Tested<'a>,
    pub(super) set_aside: BTreeMap<&'a ParticipantId, SetAside>,
}

/// Compares tests with references and applies the rules.
pub(super) fn people<'a>(
    collected: &Collected<'a>,
    options: &Options,
    caveats: &mut Caveats,
) -> Result<People<'a>, Error> {
    let exam = tested(collected, &collected.exam);
    let checks = tested(collected, &collected.checks);
    if options.require_exam && exam.by_participant.is_empty() {
        return Err(Error::NoExam);
    }
    if options.min_check_iou.is_some() && checks.by_participant.is_empty() {
        return Err(Error::NoChecks);
    }
    let n_partial = exam.by_participant.values().filter(|ious| ious.len() < exam.n_objects).count();
    if 0 < n_partial {
        caveats.add(Caveat::ExamsDiffer { n_participants: n_partial });
    }
    let mut set_aside = BTreeMap::new();
    for id in &collected.participants {
        if let Some((rule, detail)) = rule_against(id, &exam, &checks, options) {
            let is_theirs = |drawings: &&Drawings<'_>| drawings.contains_key(&Some(*id));
            let n_drawings = collected.work.values().filter(is_theirs).count();
            let (participant, rule) = ((*id).clone(), rule.to_owned());
            set_aside.insert(*id, SetAside { participant, rule, detail, n_drawings });
        }
    }
    Ok(People { exam, checks, set_aside })
}

/// Returns the rule somebody fails, with the evidence.
fn rule_against(
    participant: &ParticipantId,
    exam: &Tested<'_>,
    checks: &Tested<'_>,
    options: &Options,
) -> Option<(&'static str, String)> {
    if options.require_exam {
        match exam.mean_of(participant) {
            None => return Some(("no-exam", "drew no object of the exam".into())),
            Some(mean) if mean < options.exam_iou => {
                let detail = format!("mean IoU {mean:.3} < {} on the exam", options.exam_iou);
                return Some(("failed-exam", detail));
            }
            Some(_) => {}
        }
    }
    let (least, mean) = options.min_check_iou.zip(checks.mean_of(participant))?;
    (mean < least)
        .then(|| ("failed-checks", format!("mean IoU {mean:.3} < {least} on attention checks")))
}

/// Compares the drawings of known objects with their references.
fn tested<'a>(collected: &Collected<'a>, objects: &BTreeMap<Key<'a>, Drawings<'a>>) -> Tested<'a> {
    let mut tested = Tested {
        observations: Vec::new(),
        by_participant: BTreeMap::new(),
        n_objects: objects.len(),
    };
    for (stimulus_idx, (key, drawings)) in objects.iter().enumerate() {
        let reference = &collected.references[key];
        for (by, mask) in drawings {
            let Some(participant) = *by else { continue };
            let value = iou(mask, reference).expect("because both have one size and are not empty");
            let annotator_idx =
                collected.participants.iter().take_while(|other| **other < participant).count();
            let annotators = [Some(annotator_idx), None];
            tested.observations.push(Observation { value, stimulus_idx, annotators });
            tested.by_participant.entry(participant).or_default().push(value);
        }
    }
    tested
}

impl Tested<'_> {
    /// Returns somebody's mean IoU; `None` for somebody who was not tested.
    pub(super) fn mean_of(&self, participant: &ParticipantId) -> Option<f64> {
        let ious = self.by_participant.get(participant)?;
        Some(ious.iter().sum::<f64>() / real(ious.len()))
    }
}

impl People<'_> {
    /// Returns somebody's mean IoU on the exam, with its interval over objects.
    pub(super) fn exam_of(
        &self,
        participant: &ParticipantId,
        idx: u64,
        redraw: &Redraw,
    ) -> Option<Measured> {
        redraw.mean(&[EXAM, idx], self.exam.by_participant.get(participant)?)
    }

    /// Returns somebody's mean IoU on attention checks, with its interval over objects.
    pub(super) fn checks_of(
        &self,
        participant: &ParticipantId,
        idx: u64,
        redraw: &Redraw,
    ) -> Option<Measured> {
        redraw.mean(&[CHECKS, idx], self.checks.by_participant.get(participant)?)
    }
}
