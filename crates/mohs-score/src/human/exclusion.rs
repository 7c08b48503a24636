//! Exclusion rules: which trials do not count, each by name, each counted.
//!
//! Rules are applied in a fixed order, cheapest evidence first: `by-hand`, `bad-timing`,
//! `duplicate`, `too-fast`, `too-slow`, `low-accuracy`. Each sees what the earlier ones left, so
//! that a trial is set aside once. Raw trials are never edited: this returns which to keep.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{
    Excluded, Exclusion, ExclusionRules, Extra, Millis, ParticipantId, StimulusId, Trial,
};

use super::viewing_time::ExclusionCount;
use crate::proportion::real;

/// What the rules left and what they took.
#[derive(Debug)]
pub struct Applied<'a> {
    /// Trials that count, in the order given.
    pub kept: Vec<&'a Trial>,
    /// Everything set aside, by rule and id.
    pub exclusions: Vec<Exclusion>,
    /// How much each rule took; rules that were asked for and took nothing are listed too.
    pub counts: Vec<ExclusionCount>,
}

/// Applies the rules.
pub fn apply<'a>(trials: &'a [Trial], rules: &ExclusionRules) -> Applied<'a> {
    let mut applied =
        Applied { kept: trials.iter().collect(), exclusions: Vec::new(), counts: Vec::new() };
    if !rules.participants.is_empty() {
        by_hand(&mut applied, &rules.participants);
    }
    if !rules.timing.is_empty() {
        let words: Vec<&str> = rules.timing.iter().map(|verdict| verdict.as_str()).collect();
        let meaning = format!("presentation log says {}", words.join(" or "));
        drop_trials(&mut applied, "bad-timing", meaning, |trial| {
            let verdict = trial.timing.filter(|verdict| rules.timing.contains(verdict))?;
            Some(format!("timing {}", verdict.as_str()))
        });
    }
    if rules.repeated_stimuli {
        duplicates(&mut applied);
    }
    if let Some(min) = rules.min_rt_ms {
        let meaning = format!("answered sooner than {min} after onset");
        drop_trials(&mut applied, "too-fast", meaning, |trial| {
            let rt = trial.rt().filter(|rt| *rt < min)?;
            Some(format!("rt {rt} < {min}"))
        });
    }
    if let Some(max) = rules.max_rt_ms {
        let meaning = format!("answered later than {max} after onset");
        drop_trials(&mut applied, "too-slow", meaning, |trial| {
            let rt = trial.rt().filter(|rt| max < *rt)?;
            Some(format!("rt {rt} > {max}"))
        });
    }
    if let Some(min) = rules.min_accuracy_at_longest {
        low_accuracy(&mut applied, min);
    }
    applied
}

/// Who answered: a name is one person within a data set (the trials' column `dataset`).
pub(crate) type Person<'a> = (&'a ParticipantId, Option<&'a str>);

/// Returns who answered a trial.
pub(crate) fn person(trial: &Trial) -> Person<'_> {
    (&trial.participant, trial.extra.get("dataset").filter(|name| !name.is_empty()))
}

/// The rule for trials that were only practice, and what it says.
pub(crate) const PRACTICE: (&str, &str) = ("practice", "practice and tutorial trials");

/// Returns why a trial was only practice: its block, or the column `phase`, says so.
pub(crate) fn practice(trial: &Trial) -> Option<String> {
    let is_practice =
        |word: &&str| ["tutorial", "practice"].contains(&word.to_lowercase().as_str());
    let of_block = trial.block.as_deref().filter(is_practice);
    let word = of_block.or_else(|| trial.extra.get("phase").filter(is_practice))?;
    Some(format!("in `{word}`"))
}

fn by_hand(applied: &mut Applied<'_>, participants: &[String]) {
    let listed: BTreeSet<&str> = participants.iter().map(String::as_str).collect();
    let out: BTreeMap<ParticipantId, String> = applied
        .kept
        .iter()
        .filter(|trial| listed.contains(trial.participant.as_str()))
        .map(|trial| (trial.participant.clone(), "listed in the study".to_owned()))
        .collect();
    drop_participants(applied, "by-hand", "participants listed in the study".into(), &out);
}

/// Sets aside all but a participant's first trial with a stimulus.
fn duplicates(applied: &mut Applied<'_>) {
    type Key<'a> = (Person<'a>, &'a StimulusId);
    let mut showings: BTreeMap<Key<'_>, Vec<&Trial>> = BTreeMap::new();
    for trial in &applied.kept {
        showings.entry((person(trial), &trial.stimulus)).or_default().push(trial);
    }
    let firsts: BTreeSet<*const Trial> =
        showings.values().filter_map(|showings| first(showings)).map(std::ptr::from_ref).collect();
    let meaning = "the participant had seen the stimulus before".to_owned();
    drop_trials(applied, "duplicate", meaning, |trial| {
        (!firsts.contains(&std::ptr::from_ref(trial)))
            .then(|| format!("{} saw {} before", trial.participant, trial.stimulus))
    });
}

/// Returns the showing that came first.
fn first<'a>(showings: &[&'a Trial]) -> Option<&'a Trial> {
    let in_time = in_time(showings);
    showings.iter().min_by(|a, b| in_time(a, b)).copied()
}

/// Puts trials in the order they were shown.
pub(crate) fn sort_in_time(trials: &mut [&Trial]) {
    let in_time = in_time(trials);
    trials.sort_by(|a, b| in_time(a, b));
}

/// Tells which of two trials came first, by the best evidence that all of them have: session names,
/// then positions, then onsets, then ids. Ids made from lines carry the file's own order.
fn in_time(trials: &[&Trial]) -> impl Fn(&Trial, &Trial) -> Ordering + use<> {
    let all_have_idx = trials.iter().all(|trial| trial.idx.is_some());
    let all_have_onset = trials.iter().all(|trial| trial.onset.is_some());
    let evidence = |is_used: bool, order: Ordering| if is_used { order } else { Ordering::Equal };
    move |a, b| {
        let by_session = if a.session == b.session {
            Ordering::Equal
        } else {
            natural(a.session.as_str(), b.session.as_str())
        };
        by_session
            .then(evidence(all_have_idx, a.idx.cmp(&b.idx)))
            .then(evidence(all_have_onset, a.onset.cmp(&b.onset)))
            .then_with(|| natural(a.id.as_str(), b.id.as_str()))
    }
}

/// Compares texts so that `t2` comes before `t10`: runs of digits count as numbers.
pub(crate) fn natural(a: &str, b: &str) -> Ordering {
    let (mut a_rest, mut b_rest) = (a, b);
    loop {
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
        let (n_a, n_b) = (digits(a_rest), digits(b_rest));
        if 0 < n_a && 0 < n_b {
            let number = |text: &str, n: usize| text[..n].trim_start_matches('0').to_owned();
            let (a_number, b_number) = (number(a_rest, n_a), number(b_rest, n_b));
            let by_number =
                a_number.len().cmp(&b_number.len()).then_with(|| a_number.cmp(&b_number));
            if by_number != Ordering::Equal {
                return by_number;
            }
            (a_rest, b_rest) = (&a_rest[n_a..], &b_rest[n_b..]);
            continue;
        }
        let (mut a_chars, mut b_chars) = (a_rest.chars(), b_rest.chars());
        match (a_chars.next(), b_chars.next()) {
            (None, None) => return a.cmp(b),
            (a_char, b_char) if a_char != b_char => return a_char.cmp(&b_char),
            _ => (a_rest, b_rest) = (a_chars.as_str(), b_chars.as_str()),
        }
    }
}

/// Counts trials that were not a participant's first with their stimulus.
pub(crate) fn n_repeated(trials: &[&Trial]) -> usize {
    let pairs: BTreeSet<(Person<'_>, &StimulusId)> =
        trials.iter().map(|trial| (person(trial), &trial.stimulus)).collect();
    trials.len() - pairs.len()
}

fn low_accuracy(applied: &mut Applied<'_>, min: f64) {
    let Some(longest) = applied.kept.iter().filter_map(|trial| trial.exposure).max() else {
        return;
    };
    let mut counts: BTreeMap<&ParticipantId, (usize, usize)> = BTreeMap::new();
    for trial in applied.kept.iter().filter(|trial| trial.exposure == Some(longest)) {
        let (n, n_correct) = counts.entry(&trial.participant).or_default();
        *n += 1;
        *n_correct += usize::from(trial.is_correct() == Some(true));
    }
    let out: BTreeMap<ParticipantId, String> = counts
        .into_iter()
        .filter(|(_, (n, n_correct))| real(*n_correct) / real(*n) < min)
        .map(|(participant, (n, n_correct))| {
            (participant.clone(), format!("{n_correct} of {n} right at {longest}"))
        })
        .collect();
    let meaning = format!("accuracy at {longest} below {:.0} %", min * 100.0);
    drop_participants(applied, "low-accuracy", meaning, &out);
}

/// Sets aside the trials for which there is a reason, under a rule's name.
pub(crate) fn drop_trials(
    applied: &mut Applied<'_>,
    rule: &str,
    meaning: String,
    reason: impl Fn(&Trial) -> Option<String>,
) {
    let mut n_trials = 0;
    let exclusions = &mut applied.exclusions;
    applied.kept.retain(|trial| {
        let Some(detail) = reason(trial) else { return true };
        n_trials += 1;
        exclusions.push(Exclusion {
            rule: rule.to_owned(),
            excluded: Excluded::Trial(trial.id.clone()),
            detail,
            extra: Extra::default(),
        });
        false
    });
    applied.counts.push(ExclusionCount {
        rule: rule.to_owned(),
        meaning,
        n_participants: 0,
        n_trials,
    });
}

/// Sets aside participants, each with the evidence, under a rule's name.
pub(crate) fn drop_participants(
    applied: &mut Applied<'_>,
    rule: &str,
    meaning: String,
    out: &BTreeMap<ParticipantId, String>,
) {
    let n_before = applied.kept.len();
    applied.kept.retain(|trial| !out.contains_key(&trial.participant));
    applied.exclusions.extend(out.iter().map(|(participant, detail)| Exclusion {
        rule: rule.to_owned(),
        excluded: Excluded::Participant(participant.clone()),
        detail: detail.clone(),
        extra: Extra::default(),
    }));
    applied.counts.push(ExclusionCount {
        rule: rule.to_owned(),
        meaning,
        n_participants: out.len(),
        n_trials: n_before - applied.kept.len(),
    });
}

/// Returns the middle of some times; `None` of none.
pub(crate) fn median(mut times: Vec<Millis>) -> Option<Millis> {
    times.sort_unstable();
    let middle = times.len() / 2;
    match times.len() {
        0 => None,
        n if n % 2 == 1 => Some(times[middle]),
        _ => Millis::new(f64::midpoint(times[middle - 1].value(), times[middle].value())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_within_names_count_as_numbers() {
        let mut names = ["t10", "t2", "t", "line-9", "line-10", "session-2b", "t02"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["line-9", "line-10", "session-2b", "t", "t02", "t2", "t10"]);
        assert_eq!(natural("é1", "é1"), Ordering::Equal);
    }

    #[test]
    fn the_median_is_the_middle() {
        let ms = |value| Millis::new(value).unwrap();
        assert_eq!(median(vec![ms(3.0), ms(1.0), ms(2.0)]), Some(ms(2.0)));
        assert_eq!(median(vec![ms(3.0), ms(1.0)]), Some(ms(2.0)));
        assert_eq!(median(vec![]), None);
    }
}
