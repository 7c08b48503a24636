//! The gap between two data sets: is it smaller on stimuli people find easy?
//!
//! # Formula
//!
//! ```text
//! gap = accuracy on the first data set - accuracy on the second
//! ```
//!
//! on all stimuli, on the easy bands and on the hard ones. Without being told, the first third of
//! the bands is easy and the last third hard, at least one each. The first data set is the one on
//! which models are better on average, unless two were named.
//!
//! # Interval
//!
//! Newcombe's for two independent shares, widened to the bootstrap's (`redraw.rs`), which draws
//! the classes of both data sets together: where they share classes, a hard class is hard in both.
//!
//! # References
//!
//! - R. G. Newcombe (1998), "Interval estimation for the difference between independent
//!   proportions: comparison of eleven methods", method 10.
//! - D. Mayo et al. (2023), "How hard are computer vision datasets? Calibrating dataset difficulty
//!   to viewing time", figure 7.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Caveat, Caveats, Estimate, ModelName};

use super::redraw::{Redraw, masks, ratio, weighted, widened};
use super::table::Table;
use super::{AccuracyGap, BandGap, Family, Options, ScoreError};
use crate::proportion::{newcombe, real, wilson};

/// Parts of a data set that gaps are taken on: all, easy, hard.
const N_PARTS: usize = 3;

/// Returns the gap; `None` when stimuli do not come from two data sets.
pub(super) fn of_models(
    table: &Table<'_>,
    redraw: &Redraw,
    options: &Options,
    families: &BTreeMap<ModelName, Family>,
    caveats: &mut Caveats,
) -> Result<Option<AccuracyGap>, ScoreError> {
    let dataset = |idx: usize| table.stimuli[idx].stimulus.and_then(|row| row.dataset.as_deref());
    let known: BTreeSet<&str> = (0..table.stimuli.len()).filter_map(dataset).collect();
    let Some(names) = names(table, &known, options, caveats)? else { return Ok(None) };
    let n_third = (table.n_bands() / 3).max(1);
    let n_easy = options.n_easy_bands.unwrap_or(n_third).min(table.n_bands());
    let n_hard = options.n_hard_bands.unwrap_or(n_third).min(table.n_bands());
    let is_easy = |band_idx: usize| band_idx < n_easy;
    let is_hard = |band_idx: usize| table.n_bands() <= band_idx + n_hard;
    let side = |idx: usize| names.iter().position(|name| dataset(idx) == Some(name));
    let sides: Vec<Option<usize>> = (0..table.stimuli.len()).map(side).collect();
    // By model and data set: where there is an answer, and where it is right.
    let marks: Vec<[[Vec<u32>; 2]; 2]> = table
        .answers
        .iter()
        .map(|answers| {
            [0, 1].map(|side| {
                [&answers.judged, &answers.right].map(|marks| {
                    let own =
                        |(mark, at): (&u8, &Option<usize>)| mark * u8::from(*at == Some(side));
                    masks(&marks.iter().zip(&sides).map(own).collect::<Vec<u8>>())
                })
            })
        })
        .collect();
    let mut ranges: Vec<std::ops::Range<usize>> =
        (0..table.n_bands()).map(|band_idx| table.band(band_idx)).collect();
    ranges.push(ranges.last().map_or(0, |last| last.end)..table.stimuli.len());
    let sums = |model_idx: usize, weights: &[u32]| -> [[(f64, f64); N_PARTS]; 2] {
        [0, 1].map(|side| {
            let mut parts = [(0.0, 0.0); N_PARTS];
            for (band_idx, range) in ranges.iter().enumerate() {
                let [n, right] = [0, 1].map(|of| {
                    let masks = &marks[model_idx][side][of];
                    weighted(&weights[range.clone()], &masks[range.clone()])
                });
                let is_band = band_idx < table.n_bands();
                let belongs = [true, is_band && is_easy(band_idx), is_band && is_hard(band_idx)];
                for (part, _) in parts.iter_mut().zip(belongs).filter(|(_, belongs)| *belongs) {
                    part.0 += n;
                    part.1 += right;
                }
            }
            parts
        })
    };
    let draws = redraw.draws(|weights| {
        (0..table.models.len())
            .flat_map(|model_idx| {
                let [first, second] = sums(model_idx, weights);
                let share = |(n, right): (f64, f64)| ratio(right, n);
                [0, 1, 2].map(|part| share(first[part]) - share(second[part]))
            })
            .collect()
    });
    let ones = vec![1; table.stimuli.len()];
    let models = (0..table.models.len())
        .map(|model_idx| {
            let [first, second] = sums(model_idx, &ones);
            let gap = |part: usize| -> Option<Estimate> {
                let share =
                    |(n, right): (f64, f64)| wilson(whole(right), whole(n), redraw.confidence);
                let plain = newcombe(&share(first[part])?, &share(second[part])?)?;
                let column = model_idx * N_PARTS + part;
                let drawn = redraw.estimate(plain.value, &draws, column, plain.n);
                Some(drawn.map_or(plain, |drawn| widened(drawn, Some(plain))))
            };
            let by_band = |side: usize| {
                let share = |range: &std::ops::Range<usize>| {
                    let [n, n_right] = [0, 1].map(|of| {
                        let masks = &marks[model_idx][side][of][range.clone()];
                        masks.iter().filter(|mask| 0 < **mask).count()
                    });
                    wilson(n_right, n, redraw.confidence)
                };
                ranges[..table.n_bands()].iter().map(share).collect()
            };
            let has_bands = 0 < table.n_bands();
            BandGap {
                model: table.models[model_idx].clone(),
                family: families.get(table.models[model_idx]).cloned(),
                first: by_band(0),
                second: by_band(1),
                overall: gap(0),
                easy: gap(1).filter(|_| has_bands),
                hard: gap(2).filter(|_| has_bands),
            }
        })
        .collect();
    let band_names = table.bands.as_ref().map_or(&[][..], |bands| bands.names.as_slice());
    let [first, second] = names;
    Ok(Some(AccuracyGap {
        first,
        second,
        easy: band_names[..n_easy].to_vec(),
        hard: band_names[table.n_bands() - n_hard..].to_vec(),
        models,
    }))
}

/// Returns the two data sets, the one that models find easier first.
fn names(
    table: &Table<'_>,
    known: &BTreeSet<&str>,
    options: &Options,
    caveats: &mut Caveats,
) -> Result<Option<[String; 2]>, ScoreError> {
    if let Some((first, second)) = &options.datasets {
        for wanted in [first, second] {
            if !known.contains(wanted.as_str()) {
                return Err(ScoreError::UnknownDataset {
                    wanted: wanted.clone(),
                    known: known.iter().map(|name| (*name).to_owned()).collect(),
                });
            }
        }
        return Ok(Some([first.clone(), second.clone()]));
    }
    if 2 < known.len() {
        let datasets = known.iter().map(|name| (*name).to_owned()).collect();
        caveats.add(Caveat::SeveralDatasets { datasets });
    }
    let mut names: Vec<&str> = known.iter().copied().collect();
    let &mut [a, b] = &mut names[..] else { return Ok(None) };
    let mean = |name: &str| {
        let (mut n, mut n_right) = (0, 0);
        for (idx, shown) in table.stimuli.iter().enumerate() {
            if shown.stimulus.and_then(|row| row.dataset.as_deref()) == Some(name) {
                for answers in &table.answers {
                    n += usize::from(answers.judged[idx]);
                    n_right += usize::from(answers.right[idx]);
                }
            }
        }
        real(n_right) / real(n.max(1))
    };
    let (first, second) = if mean(a) < mean(b) { (b, a) } else { (a, b) };
    Ok(Some([first.to_owned(), second.to_owned()]))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of ones")]
fn whole(n: f64) -> usize {
    n as usize
}
