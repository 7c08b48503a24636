//! How far trials can be trusted, in plain sentences.

use mohs_score::human::quality::{DataQuality, ParticipantQuality};

use crate::number::{Unit, counted};

/// Returns the answer to "can these data be trusted?", one or two sentences.
pub(crate) fn answer(found: &DataQuality) -> String {
    let people = counted(found.n_participants, "participant", "participants");
    let judged = found.rules.iter().filter(|rule| 0 < rule.n_judged).count();
    if judged == 0 {
        return format!("Nothing was recorded by which {people} could be judged.");
    }
    let checked = counted(judged, "rule", "rules");
    match found.n_flagged {
        0 => format!("None of {people} is flagged by any of {checked} that could be applied."),
        n => {
            let most = found.rules.iter().max_by_key(|rule| rule.n_participants);
            let most = most.map_or(String::new(), |rule| {
                format!(" Most often by {} ({}).", rule.rule, rule.n_participants)
            });
            format!(
                "{n} of {people} {} flagged by at least one of {checked} that could be applied.{most}",
                if n == 1 { "is" } else { "are" }
            )
        }
    }
}

/// Returns what the findings rest on.
pub(crate) fn basis(found: &DataQuality) -> String {
    format!(
        "{} of {} with {}",
        counted(found.n_trials, "trial", "trials"),
        counted(found.n_participants, "participant", "participants"),
        counted(found.n_stimuli, "stimulus", "stimuli")
    )
}

/// Returns a participant's flags with the evidence: `too-fast (12.0 % too fast)`.
pub(crate) fn flags(participant: &ParticipantQuality) -> String {
    let flags: Vec<String> = participant
        .flags
        .iter()
        .map(|flag| format!("{} ({})", flag.rule, flag.evidence.replace('`', "'")))
        .collect();
    flags.join("; ")
}

/// Returns a participant's longest streak: `“left” 7 times, p = 0.210`.
pub(crate) fn streak(participant: &ParticipantQuality) -> Option<String> {
    let streak = participant.streak.as_ref()?;
    Some(format!(
        "“{}” {}×, {}",
        streak.response,
        streak.length,
        crate::number::p_value(streak.p_value)
    ))
}

/// Returns the share of trials with the verdict `ok`; `None` without a presentation log.
pub(crate) fn timing_ok(participant: &ParticipantQuality) -> Option<mohs_data::Estimate> {
    let ok = |share: &&mohs_score::human::quality::TimingShare| {
        share.verdict == mohs_data::TimingVerdict::Ok
    };
    participant.facts.timing.iter().find(ok).map(|share| share.share)
}

/// Returns the median rt over all trials, in words.
pub(crate) fn median_rt(found: &DataQuality) -> String {
    match &found.everything.rt {
        Some(rt) => Unit::Time.value(rt.median.value()),
        None => "not recorded".into(),
    }
}
