//! Caveats: each beside the numbers it weakens, and all of them in a list with their evidence.

use mohs_data::{Caveat, Caveats};
use mohs_score::human::viewing_time::ViewingTime;

use super::section::Section;
use crate::escape::esc;
use crate::number::counted;

/// A part of the report whose numbers a caveat can weaken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Answer,
    Distribution,
    Exposure,
    Bands,
    Groups,
    Stimuli,
    Participants,
    Exclusions,
}

/// Stimuli named in the list before the rest is only counted.
const MOST_NAMED: usize = 60;

/// Returns the parts a caveat weakens. One that this version does not know weakens the answer.
fn parts(caveat: &Caveat) -> &'static [Part] {
    match caveat {
        Caveat::TooFewTrials { .. } | Caveat::NonMonotone { .. } => {
            &[Part::Distribution, Part::Stimuli]
        }
        Caveat::UnbalancedExposures { .. } => &[Part::Distribution, Part::Groups, Part::Stimuli],
        Caveat::FewParticipants { .. } => &[Part::Answer, Part::Exposure, Part::Participants],
        Caveat::ManyExclusions { .. } => &[Part::Answer, Part::Exclusions],
        Caveat::BandsFromSameTrials => &[Part::Bands],
        Caveat::GuessRateAssumed { .. } => &[Part::Distribution, Part::Exposure],
        Caveat::FitNotConverged { .. } => &[Part::Distribution, Part::Groups],
        Caveat::ExposuresNotMeasured { .. } | Caveat::UnevenFrames { .. } => {
            &[Part::Answer, Part::Exposure]
        }
        Caveat::NotIdentified { .. } => &[Part::Answer, Part::Participants],
        Caveat::StimuliWithoutTrials { .. } => &[Part::Stimuli],
        Caveat::LongestExposureShort { .. } => &[Part::Distribution],
        // Said by the banner on top, beside the answer itself.
        Caveat::Simulated => &[],
        _ => &[Part::Answer],
    }
}

/// Returns the caveats that weaken a part, as notes; empty when there is none.
pub(super) fn notes(found: &ViewingTime, part: Part) -> String {
    let concerned = found.caveats.iter().filter(|caveat| parts(caveat).contains(&part));
    let items: String = concerned
        .map(|caveat| {
            let code = caveat.code();
            format!("<li>{} <a href=\"#caveat-{code}\">more</a></li>", message(caveat))
        })
        .collect();
    match items.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"caveats\" aria-label=\"Caveats\">{items}</ul>\n"),
    }
}

/// Returns the caveats of a chapter as notes; empty when there is none.
pub(super) fn list(caveats: &Caveats) -> String {
    let said = caveats.iter().filter(|caveat| **caveat != Caveat::Simulated);
    let items: String = said.map(|caveat| format!("<li>{}</li>", message(caveat))).collect();
    match items.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"caveats\" aria-label=\"Caveats\">{items}</ul>\n"),
    }
}

/// Returns the list of all caveats, or `None` when there is none.
pub(super) fn section(found: &ViewingTime) -> Option<Section> {
    if found.caveats.is_empty() {
        return None;
    }
    let items: String = found.caveats.iter().map(item).collect();
    let body = format!(
        "<p class=\"lede\">Reasons to trust some numbers less. Each also stands beside the numbers \
         it weakens.</p>\n<dl class=\"caveat-list\">{items}</dl>\n"
    );
    Some(Section { id: "caveats", nav: "Caveats", title: "Caveats".into(), body })
}

fn item(caveat: &Caveat) -> String {
    let code = caveat.code();
    let stimuli = caveat.stimuli();
    let named: Vec<String> = stimuli
        .iter()
        .take(MOST_NAMED)
        .map(|stimulus| format!("<code>{}</code>", esc(stimulus.as_str())))
        .collect();
    let rest = stimuli.len().saturating_sub(MOST_NAMED);
    let rest = match rest {
        0 => String::new(),
        n => format!(" and {} more", counted(n, "stimulus", "stimuli")),
    };
    let evidence = match stimuli.is_empty() {
        true => String::new(),
        false => format!(
            "<details><summary>{}</summary><p class=\"ids\">{}{rest}</p></details>\
             <button type=\"button\" class=\"link\" data-show-caveat=\"{code}\" hidden>Show them \
             in the table</button>",
            counted(stimuli.len(), "stimulus", "stimuli"),
            named.join(" ")
        ),
    };
    format!(
        "<div id=\"caveat-{code}\"><dt><code>{code}</code></dt><dd>{}{evidence}</dd></div>\n",
        message(caveat)
    )
}

/// Returns what a caveat says, words in backticks as code.
fn message(caveat: &Caveat) -> String {
    let message = esc(&caveat.message());
    let parts: Vec<&str> = message.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return message;
    }
    let part = |(idx, part): (usize, &&str)| match idx % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(part).collect()
}
