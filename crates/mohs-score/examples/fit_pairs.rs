//! Fits Bradley and Terry's model to a table of comparisons, to show how and to measure how fast.
//!
//! ```text
//! fit_pairs COMPARISONS N_FITS         fits N times
//! fit_pairs COMPARISONS N_FITS DRAWS   then scores once, with so many bootstrap draws
//! ```
//!
//! Prints seconds, gradient and difficulties (by id) as JSON. A fit begins with the list of single
//! judgements: counting and joining them is part of it. `tools/bench_pairs.py` runs it.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use mohs_data::{Checks, Comparison, Harder, Seed, StimulusId, check};
use mohs_score::human::bradley_terry::network::{Pair, Tally};
use mohs_score::human::bradley_terry::{Input, Options, Prior, Ties, fit, score};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: fit_pairs COMPARISONS N_FITS [DRAWS]";
    let (file, n_fits) = (words.first().ok_or(usage)?, words.get(1).ok_or(usage)?);
    let comparisons = check::read_comparisons(Path::new(file), &Checks::default())?;
    let mut places: BTreeMap<&StimulusId, usize> =
        comparisons.iter().flat_map(|row| [(&row.left, 0), (&row.right, 0)]).collect();
    for (idx, place) in places.values_mut().enumerate() {
        *place = idx;
    }
    let judgements: Vec<(usize, usize)> =
        comparisons.iter().map(|row| harder_first(row, &places)).collect();
    let mut seconds = Vec::new();
    let mut fitted = None;
    for _ in 0..n_fits.parse::<usize>()?.max(1) {
        let start = Instant::now();
        let pairs = counted(&judgements);
        fitted = Some(fit(places.len(), &pairs, Ties::Davidson, Prior::default())?);
        seconds.push(start.elapsed().as_secs_f64());
    }
    let fitted = fitted.ok_or(usage)?;
    let scored = match words.get(2) {
        None => None,
        Some(draws) => {
            let options = Options { n_resamples: draws.parse()?, ..Options::default() };
            let start = Instant::now();
            score(&Input {
                comparisons: &comparisons,
                stimuli: &[],
                options: &options,
                seed: Seed(1),
            })?;
            Some(start.elapsed().as_secs_f64())
        }
    };
    let json = serde_json::json!({
        "seconds": seconds,
        "n_rounds": fitted.n_rounds,
        "gradient": fitted.gradient,
        "difficulties": fitted.difficulty,
        "score_seconds": scored,
    });
    println!("{json}");
    Ok(())
}

fn harder_first(row: &Comparison, places: &BTreeMap<&StimulusId, usize>) -> (usize, usize) {
    let (left, right) = (places[&row.left], places[&row.right]);
    if row.harder == Harder::Right { (right, left) } else { (left, right) }
}

/// Counts judgements by pair.
fn counted(judgements: &[(usize, usize)]) -> Vec<Pair> {
    let mut sorted: Vec<(usize, usize, bool)> = judgements
        .iter()
        .map(|(harder, easier)| (*harder.min(easier), *harder.max(easier), harder < easier))
        .collect();
    sorted.sort_unstable();
    let same_pair = |a: &(usize, usize, bool), b: &(usize, usize, bool)| (a.0, a.1) == (b.0, b.1);
    sorted
        .chunk_by(same_pair)
        .map(|same| {
            let mut tally = Tally::default();
            for (_, _, is_first) in same {
                *if *is_first { &mut tally.first } else { &mut tally.second } += 1.0;
            }
            Pair { first: same[0].0, second: same[0].1, is_sided: false, tally }
        })
        .collect()
}
