//! Sorts annotations into what is known, what tests people and what they drew as work.
//!
//! Every mask is checked here: none is empty, and all of a stimulus have one size.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Annotation, Label, Mask, ParticipantId, Role, StimulusId};

use super::runs::union;
use super::{Error, Input, List};

/// An object: a label on a stimulus.
pub(super) type Key<'a> = (&'a StimulusId, &'a Label);

/// What one person drew of one object; `None` where nobody is named.
pub(super) type Drawings<'a> = BTreeMap<Option<&'a ParticipantId>, Cow<'a, Mask>>;

/// Annotations, sorted into their roles. The order of the file is gone.
#[derive(Debug)]
pub(super) struct Collected<'a> {
    pub(super) references: BTreeMap<Key<'a>, Cow<'a, Mask>>,
    pub(super) exam: BTreeMap<Key<'a>, Drawings<'a>>,
    pub(super) checks: BTreeMap<Key<'a>, Drawings<'a>>,
    pub(super) work: BTreeMap<Key<'a>, Drawings<'a>>,
    pub(super) participants: BTreeSet<&'a ParticipantId>,
}

type Gathered<'a> = BTreeMap<(Role, Key<'a>, Option<&'a ParticipantId>), Vec<&'a Mask>>;

/// Sorts annotations. Those without a participant are references where others have one.
pub(super) fn collect<'a>(input: &Input<'a>) -> Result<Collected<'a>, Error> {
    if input.annotations.is_empty() {
        return Err(Error::NoAnnotations);
    }
    let participants: BTreeSet<&ParticipantId> =
        input.annotations.iter().filter_map(|annotation| annotation.participant.as_ref()).collect();
    let mut size_by_stimulus: BTreeMap<&StimulusId, (u32, u32)> = BTreeMap::new();
    let mut known: BTreeMap<Key<'a>, Vec<&'a Mask>> = BTreeMap::new();
    let mut drawn: Gathered<'a> = BTreeMap::new();
    let from_reference = input.references.iter().enumerate().map(|at| (List::Reference, at));
    let from_annotations = input.annotations.iter().enumerate().map(|at| (List::Annotations, at));
    for (list, (idx, annotation)) in from_reference.chain(from_annotations) {
        check(annotation, list, idx, &mut size_by_stimulus)?;
        let key = (&annotation.stimulus, &annotation.label);
        let is_known = annotation.participant.is_none() && !participants.is_empty();
        if list == List::Reference || is_known {
            known.entry(key).or_default().push(&annotation.mask);
            continue;
        }
        let role = annotation.role().map_err(|found| Error::BadRole { list, idx, found })?;
        // A drawing by nobody in particular cannot test anybody.
        let role = if participants.is_empty() { Role::Work } else { role };
        let by = annotation.participant.as_ref();
        drawn.entry((role, key, by)).or_default().push(&annotation.mask);
    }
    let mut collected = Collected {
        references: known.into_iter().map(|(key, masks)| (key, together(&masks))).collect(),
        exam: BTreeMap::new(),
        checks: BTreeMap::new(),
        work: BTreeMap::new(),
        participants,
    };
    for ((role, key, by), masks) in drawn {
        let objects = match role {
            Role::Exam => &mut collected.exam,
            Role::Check => &mut collected.checks,
            Role::Work => &mut collected.work,
        };
        if role != Role::Work && !collected.references.contains_key(&key) {
            return Err(Error::NoReference { role, stimulus: key.0.clone(), label: key.1.clone() });
        }
        objects.entry(key).or_default().insert(by, together(&masks));
    }
    Ok(collected)
}

fn check<'a>(
    annotation: &'a Annotation,
    list: List,
    idx: usize,
    size_by_stimulus: &mut BTreeMap<&'a StimulusId, (u32, u32)>,
) -> Result<(), Error> {
    let stimulus = annotation.stimulus.clone();
    if annotation.mask.area() == 0 {
        return Err(Error::EmptyMask { list, idx, stimulus });
    }
    let found = (annotation.mask.height(), annotation.mask.width());
    let expected = *size_by_stimulus.entry(&annotation.stimulus).or_insert(found);
    if found != expected {
        return Err(Error::WrongSize { list, idx, stimulus, expected, found });
    }
    Ok(())
}

/// Takes several outlines of one object by one person together.
fn together<'a>(masks: &[&'a Mask]) -> Cow<'a, Mask> {
    match masks {
        [one] => Cow::Borrowed(one),
        several => Cow::Owned(union(several)),
    }
}
