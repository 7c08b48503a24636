//! The headline of models: who is best, is it certain, and what hard stimuli do to them.

use mohs_data::Estimate;
use mohs_score::model::{ModelFinding, ModelFindings};

use crate::number::{Unit, count, counted, fixed, p_value};
use crate::standing::{accuracy, ranked, seen_from};
use crate::width::shorten;

/// Columns of a model's name in a sentence.
const LONGEST_NAME: usize = 48;

/// Returns the answer in two sentences; intervals stand beside the numbers below it.
pub(crate) fn answer(found: &ModelFindings) -> String {
    let ranked = ranked(found);
    let best = ranked.first().map(|idx| &found.models[*idx]);
    let Some((best, best_accuracy)) = best.and_then(|model| Some((model, accuracy(model)?))) else {
        return match found.n_answered {
            0 => "No model gave an answer.".into(),
            _ => "Nothing says what the right answers are, so accuracy is not known.".into(),
        };
    };
    let fall = fall(found, best);
    format!("{} {fall}", lead(found, best, best_accuracy, &ranked)).trim_end().to_owned()
}

/// Returns what else is worth knowing at once: all models from easy to hard, and where they part
/// from people; empty when there is nothing.
pub(crate) fn more(found: &ModelFindings) -> String {
    format!("{} {}", falls(found), parting(found)).trim().to_owned()
}

fn name(model: &ModelFinding) -> String {
    shorten(model.model.as_str(), LONGEST_NAME)
}

/// Returns who is right most often, and whether the next can be told from it.
fn lead(
    found: &ModelFindings,
    best: &ModelFinding,
    best_accuracy: &Estimate,
    ranked: &[usize],
) -> String {
    let share = Unit::Share.value(best_accuracy.value);
    let of = counted(best_accuracy.n, "stimulus", "stimuli");
    let judged = |idx: &&usize| accuracy(&found.models[**idx]).is_some();
    let Some(second) = ranked.iter().skip(1).find(judged).map(|idx| &found.models[*idx]) else {
        return format!("{} is right on {share} of {of}.", name(best));
    };
    let start = format!("{} is right most often, on {share} of {of}", name(best));
    let Some(seen) = seen_from(found, &best.model, &second.model) else {
        let next = accuracy(second).map(|e| Unit::Share.value(e.value)).unwrap_or_default();
        return format!("{start}; next is {} with {next}.", name(second));
    };
    if !seen.is_apart {
        let equals = ranked.iter().skip(1).filter(|idx| {
            let other = &found.models[**idx];
            seen_from(found, &best.model, &other.model).is_some_and(|seen| !seen.is_apart)
        });
        let more = match equals.count().saturating_sub(1) {
            0 => String::new(),
            n => format!(" and {}", counted(n, "other model", "other models")),
        };
        return format!("{start}, but cannot be told from {}{more}.", name(second));
    }
    format!(
        "{start}, {} points ahead of {} ({}).",
        fixed(seen.difference.value * 100.0, 1),
        name(second),
        p_value(seen.p_holm)
    )
}

/// Returns what happens to the best model from easy to hard.
fn fall(found: &ModelFindings, best: &ModelFinding) -> String {
    let (Some(drop), [easiest, .., hardest]) = (&best.drop, found.bands.as_slice()) else {
        return String::new();
    };
    let at = |band: Option<&Option<_>>| -> Option<String> {
        let band: &mohs_score::model::BandAccuracy = band?.as_ref()?;
        Some(Unit::Share.value(band.clustered.value))
    };
    let (Some(from), Some(to)) = (at(best.bands.first()), at(best.bands.last())) else {
        return String::new();
    };
    let verb = match drop {
        drop if 0.0 < drop.low => "falls",
        drop if drop.high < 0.0 => "rises",
        _ => "goes",
    };
    let unclear = if verb == "goes" { ", which is no clear change" } else { "" };
    format!(
        "From the easiest band ({}) to the hardest ({}) its accuracy {verb} from {from} to \
         {to}{unclear}.",
        easiest.name, hardest.name
    )
}

/// Returns how much all models lose from easy to hard.
fn falls(found: &ModelFindings) -> String {
    let drops: Vec<f64> =
        found.models.iter().filter_map(|model| model.drop.map(|drop| drop.value)).collect();
    if drops.len() < 2 {
        return String::new();
    }
    let least = drops.iter().copied().fold(f64::INFINITY, f64::min);
    let most = drops.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!(
        "From easy to hard, {} models lose between {} and {} points.",
        count(drops.len()),
        fixed(least * 100.0, 1),
        fixed(most * 100.0, 1)
    )
}

/// Returns where models and people part.
fn parting(found: &ModelFindings) -> String {
    let Some(surprises) = &found.surprises else { return String::new() };
    if found.models.len() < 2 {
        return String::new();
    }
    let fails = match surprises.n_easy_failed_by_all {
        0 => None,
        n => Some(format!(
            "all models fail on {} of the easiest for people",
            counted(n, "stimulus", "stimuli")
        )),
    };
    let solves = match surprises.n_hard_solved_by_all {
        0 => None,
        n => Some(format!("all solve {} of the hardest", counted(n, "stimulus", "stimuli"))),
    };
    let parts: Vec<String> = fails.into_iter().chain(solves).collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("Models and people part: {}.", parts.join("; ")),
    }
}

/// Returns what the findings rest on.
pub(crate) fn basis(found: &ModelFindings) -> String {
    let view = &found.view;
    let probe = match view.probe.as_deref() {
        None | Some("none") => String::new(),
        Some(probe) => format!(", probe “{probe}”"),
    };
    let condition = match &view.condition {
        None => String::new(),
        Some((name, value)) => format!(", {name} {}", crate::number::round_number(*value)),
    };
    format!(
        "{} of {} on {}{probe}{condition}",
        counted(view.n_predictions, "prediction", "predictions"),
        counted(ranked(found).len(), "model", "models"),
        counted(found.n_stimuli, "stimulus", "stimuli")
    )
}

/// Returns what a band's name says beyond itself: where bands come from.
pub(crate) fn bands_from(found: &ModelFindings) -> String {
    use mohs_score::model::BandOrigin;
    let measure = found.method.difficulty.as_deref().unwrap_or("difficulty");
    match found.method.band_origin {
        Some(BandOrigin::Named) => format!("bands of the measure “{measure}”"),
        Some(BandOrigin::Quantiles) => {
            format!("parts with equally many stimuli by the measure “{measure}”")
        }
        Some(BandOrigin::Levels) => "levels of the stimuli".into(),
        None => "bands".into(),
    }
}
