//! Bands of difficulty: stimuli sorted from easy to hard into a few named groups.
//!
//! # Rule
//!
//! 1. If the difficulty file names bands, these, ordered by the median difficulty of their stimuli.
//! 2. Else, if there are difficulties, parts with equally many stimuli. A stimulus of mid-rank `r`
//!    among `n` goes into part `⌊k (r - ½) / n⌋`, so that equal difficulties stay together and a
//!    part may vanish.
//! 3. Else, if the table of stimuli has levels, these: easy, medium, hard; by number; as people
//!    would sort them.
//!
//! It does not guess an order between measures: one file, one measure.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::BandOrigin;
use super::table::Shown;
use crate::correlation::ranks;
use crate::human::agreement::by_number;
use crate::proportion::real;
use crate::resample::sorted_quantile;

/// The bands of some stimuli.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bands {
    /// From easy to hard.
    pub(super) names: Vec<String>,
    /// Where they come from.
    pub(super) origin: BandOrigin,
}

/// Gives each stimulus its band and returns the bands; `None` when nothing says how hard stimuli
/// are.
pub(super) fn assign(stimuli: &mut [Shown<'_>], n_bands: usize) -> Option<Bands> {
    let has_named =
        stimuli.iter().any(|shown| shown.difficulty.is_some_and(|row| row.band.is_some()));
    if has_named {
        return Some(named(stimuli));
    }
    if stimuli.iter().any(|shown| shown.difficulty.is_some()) {
        return Some(quantiles(stimuli, n_bands));
    }
    levels(stimuli)
}

fn named(stimuli: &mut [Shown<'_>]) -> Bands {
    let band = |shown: &Shown<'_>| {
        let row = shown.difficulty?;
        Some((row.band.clone()?, row.estimate.value))
    };
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (name, value) in stimuli.iter().filter_map(band) {
        values.entry(name).or_default().push(value);
    }
    let mut medians: Vec<(String, f64)> = values
        .into_iter()
        .map(|(name, mut values)| {
            values.sort_unstable_by(f64::total_cmp);
            let median = sorted_quantile(&values, 0.5);
            (name, median)
        })
        .collect();
    medians.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| by_number(&a.0, &b.0)));
    let names: Vec<String> = medians.into_iter().map(|(name, _)| name).collect();
    for shown in stimuli {
        let name = band(shown).map(|(name, _)| name);
        shown.band_idx = name.and_then(|name| names.iter().position(|other| *other == name));
    }
    Bands { names, origin: BandOrigin::Named }
}

fn quantiles(stimuli: &mut [Shown<'_>], n_bands: usize) -> Bands {
    let places: Vec<usize> =
        (0..stimuli.len()).filter(|idx| stimuli[*idx].difficulty.is_some()).collect();
    let value = |idx: &usize| stimuli[*idx].difficulty.map_or(0.0, |row| row.estimate.value);
    let values: Vec<f64> = places.iter().map(value).collect();
    let (names, parts) = cut(&values, n_bands);
    for (place, part) in places.iter().zip(&parts) {
        stimuli[*place].band_idx = Some(*part);
    }
    Bands { names, origin: BandOrigin::Quantiles }
}

/// Cuts numbers into parts with equally many of them; returns the names of the parts and the part of
/// each number. Equal numbers stay together, and a part may vanish.
pub(super) fn cut(values: &[f64], n_parts: usize) -> (Vec<String>, Vec<usize>) {
    let n = real(values.len());
    let part = |rank: &f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the number of parts"
        )]
        let part = (real(n_parts) * (rank - 0.5) / n).floor() as usize;
        part.min(n_parts.saturating_sub(1))
    };
    let parts: Vec<usize> = ranks(values).iter().map(part).collect();
    let mut range_by_part: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (part, value) in parts.iter().zip(values) {
        let range = range_by_part.entry(*part).or_insert((*value, *value));
        *range = (range.0.min(*value), range.1.max(*value));
    }
    let names = range_by_part
        .values()
        .enumerate()
        .map(|(idx, (low, high))| {
            let word = word(idx, range_by_part.len());
            format!("{word} ({} to {})", short(*low), short(*high))
        })
        .collect();
    let place_by_part: BTreeMap<usize, usize> =
        range_by_part.keys().enumerate().map(|(idx, part)| (*part, idx)).collect();
    (names, parts.iter().map(|part| place_by_part[part]).collect())
}

fn word(idx: usize, n: usize) -> String {
    match (n, idx) {
        (1, _) => "all".into(),
        (2 | 3, 0) => "easy".into(),
        (3, 1) => "medium".into(),
        (2 | 3, _) => "hard".into(),
        _ => format!("{} of {n}", idx + 1),
    }
}

/// Writes a number with three digits that matter.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs().log10().floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 0..=12"
    )]
    let n_digits = (2.0 - size).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.n_digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

const WORDS: [&str; 3] = ["easy", "medium", "hard"];

fn levels(stimuli: &mut [Shown<'_>]) -> Option<Bands> {
    let level = |shown: &Shown<'_>| shown.stimulus.and_then(|stimulus| stimulus.level.clone());
    let mut names: Vec<String> = stimuli.iter().filter_map(level).collect();
    names.sort_by(|a, b| by_level(a, b));
    names.dedup();
    if names.is_empty() {
        return None;
    }
    for shown in stimuli {
        let own = level(shown);
        shown.band_idx = own.and_then(|own| names.iter().position(|name| *name == own));
    }
    Some(Bands { names, origin: BandOrigin::Levels })
}

/// Compares levels: easy, medium and hard first, then numbers, then names as people sort them.
pub(super) fn by_level(a: &str, b: &str) -> Ordering {
    let word = |name: &str| {
        WORDS.iter().position(|word| name.eq_ignore_ascii_case(word)).unwrap_or(WORDS.len())
    };
    let number = |name: &str| name.parse::<f64>().ok().filter(|number| number.is_finite());
    let by_value = match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    word(a).cmp(&word(b)).then(by_value).then_with(|| by_number(a, b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use mohs_data::{Difficulty, Estimate, Extra, StimulusId};

    use super::*;

    fn rows(values: &[(f64, Option<&str>)]) -> Vec<Difficulty> {
        values
            .iter()
            .enumerate()
            .map(|(idx, (value, band))| Difficulty {
                stimulus: StimulusId::new(format!("s{idx:03}")),
                measure: "x".into(),
                estimate: Estimate::new(*value, *value, *value, 0.95, 1).unwrap(),
                band: band.map(ToOwned::to_owned),
                caveats: Vec::new(),
                extra: Extra::default(),
            })
            .collect()
    }

    fn check(values: &[(f64, Option<&str>)], n: usize, names: &[&str], expected: &[usize]) {
        let rows = rows(values);
        let mut stimuli: Vec<Shown<'_>> = rows
            .iter()
            .map(|row| Shown {
                id: &row.stimulus,
                label: None,
                stimulus: None,
                difficulty: Some(row),
                class_idx: 0,
                band_idx: None,
            })
            .collect();
        let bands = assign(&mut stimuli, n).unwrap();
        assert_eq!(bands.names, names);
        let found: Vec<usize> = stimuli.iter().map(|shown| shown.band_idx.unwrap()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn bands_of_the_file_are_ordered_by_their_median_difficulty() {
        let values = [(9.0, Some("a")), (1.0, Some("z")), (0.0, Some("a")), (8.0, Some("a"))];
        check(&values, 3, &["z", "a"], &[1, 0, 1, 1]);
    }

    #[test]
    fn thirds_have_equally_many_stimuli_and_their_range_in_the_name() {
        let values: Vec<(f64, Option<&str>)> =
            (0..6).map(|idx| (f64::from(idx) / 10.0, None)).collect();
        let names = ["easy (0 to 0.1)", "medium (0.2 to 0.3)", "hard (0.4 to 0.5)"];
        check(&values, 3, &names, &[0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn equal_difficulties_stay_together_and_a_part_may_vanish() {
        let values = [(0.0, None), (0.0, None), (0.0, None), (1234.5, None)];
        check(&values, 3, &["easy (0 to 0)", "hard (1234 to 1234)"], &[0, 0, 0, 1]);
        check(&[(2.0, None); 5], 3, &["all (2 to 2)"], &[0; 5]);
    }

    #[test]
    fn levels_sort_as_people_would() {
        let mut names = ["hard", "10", "Easy", "9", "medium", "c10", "c9"];
        names.sort_by(|a, b| by_level(a, b));
        assert_eq!(names, ["Easy", "medium", "hard", "9", "10", "c9", "c10"]);
    }
}
