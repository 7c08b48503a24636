//! The rules that flag participants, one row each. A rule judges only where there is evidence.

use mohs_data::{Estimate, TimingVerdict};

use super::{Flag, Limits, ParticipantQuality, RuleCount};

/// What a rule says about a participant.
enum Verdict {
    /// Not enough evidence.
    NotJudged,
    /// Nothing wrong.
    Passed,
    /// Flagged, with the evidence.
    Flagged(String),
}

struct Rule<'a> {
    name: &'static str,
    meaning: String,
    judge: Box<dyn Fn(&ParticipantQuality) -> Verdict + 'a>,
}

/// Flags participants and counts by rule.
pub(super) fn apply(
    participants: &mut [ParticipantQuality],
    limits: &Limits,
    chance: Option<f64>,
) -> Vec<RuleCount> {
    let rules = rules(limits, chance);
    let mut counts: Vec<RuleCount> = rules
        .iter()
        .map(|rule| RuleCount {
            rule: rule.name.to_owned(),
            meaning: rule.meaning.clone(),
            n_participants: 0,
            n_judged: 0,
        })
        .collect();
    for participant in participants {
        let mut flags = Vec::new();
        for (rule, count) in rules.iter().zip(&mut counts) {
            match (rule.judge)(participant) {
                Verdict::NotJudged => continue,
                Verdict::Passed => {}
                Verdict::Flagged(evidence) => {
                    count.n_participants += 1;
                    flags.push(Flag { rule: rule.name.to_owned(), evidence });
                }
            }
            count.n_judged += 1;
        }
        participant.flags = flags;
    }
    counts
}

fn rules<'a>(limits: &'a Limits, chance: Option<f64>) -> Vec<Rule<'a>> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let enough = |estimate: Option<Estimate>| estimate.filter(|e| limits.min_trials <= e.n);
    // A share of trials that is too large.
    let too_many = move |share: Option<Estimate>, max: f64, what: &str| match enough(share) {
        None => Verdict::NotJudged,
        Some(share) if share.value <= max => Verdict::Passed,
        Some(share) => Verdict::Flagged(format!("{:.1} % {what}", share.value * 100.0)),
    };
    // Accuracy that is too low, and not by bad luck.
    let too_low = move |accuracy: Option<Estimate>| match accuracy {
        None => Verdict::NotJudged,
        Some(accuracy) if limits.min_accuracy <= accuracy.high => Verdict::Passed,
        Some(accuracy) => Verdict::Flagged(format!(
            "{:.0} % right of {}, at best {:.0} %",
            accuracy.value * 100.0,
            accuracy.n,
            accuracy.high * 100.0
        )),
    };
    let needed = percent(limits.min_accuracy);
    let bad = percent(limits.max_bad_share);
    vec![
        Rule {
            name: "catch-failed",
            meaning: format!("accuracy on catch trials certainly below {needed}"),
            judge: Box::new(move |p| too_low(p.facts.catch_accuracy)),
        },
        Rule {
            name: "near-chance",
            meaning: "accuracy that guessing explains".into(),
            judge: Box::new(move |p| match (enough(p.facts.accuracy), chance) {
                (Some(accuracy), Some(chance)) if accuracy.low <= chance => {
                    Verdict::Flagged(format!(
                        "{:.0} % right, guessing {:.0} %",
                        accuracy.value * 100.0,
                        chance * 100.0
                    ))
                }
                (Some(_), Some(_)) => Verdict::Passed,
                _ => Verdict::NotJudged,
            }),
        },
        Rule {
            name: "low-at-longest",
            meaning: format!("accuracy at the longest exposure certainly below {needed}"),
            judge: Box::new(move |p| too_low(p.facts.accuracy_at_longest)),
        },
        Rule {
            name: "too-fast",
            meaning: format!("more than {bad} of the answers sooner than {}", limits.min_rt),
            judge: Box::new(move |p| {
                let share = p.facts.rt.as_ref().map(|rt| rt.too_fast);
                too_many(share, limits.max_bad_share, "too fast")
            }),
        },
        Rule {
            name: "too-slow",
            meaning: format!("more than {bad} of the answers later than {}", limits.max_rt),
            judge: Box::new(move |p| {
                let share = p.facts.rt.as_ref().map(|rt| rt.too_slow);
                too_many(share, limits.max_bad_share, "too slow")
            }),
        },
        Rule {
            name: "rt-unlike-others",
            meaning: format!("median rt more than {} robust sd from the others'", limits.max_rt_z),
            judge: Box::new(move |p| match p.rt_z {
                None => Verdict::NotJudged,
                Some(z) if z.abs() <= limits.max_rt_z => Verdict::Passed,
                Some(z) => Verdict::Flagged(format!(
                    "{:.1} sd {}",
                    z.abs(),
                    if z < 0.0 { "faster" } else { "slower" }
                )),
            }),
        },
        Rule {
            name: "streak",
            meaning: format!(
                "a streak of one answer with a chance below {}, longer than any of the right answer",
                limits.min_streak_p
            ),
            judge: Box::new(move |p| match &p.streak {
                None => Verdict::NotJudged,
                Some(streak) => {
                    let is_honest = streak.longest_of_labels.is_some_and(|l| streak.length <= l);
                    if is_honest || limits.min_streak_p <= streak.p_value {
                        Verdict::Passed
                    } else {
                        Verdict::Flagged(format!("`{}` {} times", streak.response, streak.length))
                    }
                }
            }),
        },
        Rule {
            name: "one-key",
            meaning: "always the same answer".into(),
            judge: Box::new(move |p| match enough(p.facts.response_entropy) {
                None => Verdict::NotJudged,
                Some(entropy) if 0.0 < entropy.value => Verdict::Passed,
                Some(entropy) => Verdict::Flagged(format!("one answer {} times", entropy.n)),
            }),
        },
        Rule {
            name: "many-timeouts",
            meaning: format!(
                "no answer in more than {} of the trials",
                percent(limits.max_timeouts)
            ),
            judge: Box::new(move |p| {
                too_many(p.facts.timeouts, limits.max_timeouts, "without answer")
            }),
        },
        Rule {
            name: "bad-timing",
            meaning: format!(
                "more than {bad} of the trials shown too long, too short or not at all"
            ),
            judge: Box::new(move |p| {
                let is_bad = |verdict| {
                    matches!(
                        verdict,
                        TimingVerdict::Long | TimingVerdict::Short | TimingVerdict::Dropped
                    )
                };
                let Some(first) = p.facts.timing.first() else { return Verdict::NotJudged };
                let bad = p.facts.timing.iter().filter(|timing| is_bad(timing.verdict));
                let value = bad.map(|timing| timing.share.value).sum();
                let share = Estimate { value, ..first.share };
                too_many(Some(share), limits.max_bad_share, "not shown as planned")
            }),
        },
        Rule {
            name: "duplicates",
            meaning: "trials that are copies of another".into(),
            judge: Box::new(move |p| match p.facts.n_duplicates {
                0 => Verdict::Passed,
                n => Verdict::Flagged(format!("{n} copies")),
            }),
        },
    ]
}
