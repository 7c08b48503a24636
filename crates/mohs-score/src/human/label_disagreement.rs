//! Label disagreement: what share of people calls a stimulus something else than its label?
//!
//! # Formulas
//!
//! ```text
//! disagreement_i = (n_i - k_i) / n_i              with Wilson's interval
//! entropy_i      = - sum_l  p_il log2 p_il,       p_il = n_il / n_i
//! mean           = sum_i disagreement_i / m       with a bootstrap over stimuli
//! ```
//!
//! | symbol  | meaning                                         |
//! |---------|-------------------------------------------------|
//! | `n_i`   | people who gave stimulus `i` a label            |
//! | `k_i`   | those who gave it the label it has              |
//! | `n_il`  | those who gave it label `l`                     |
//! | `m`     | stimuli with at least one answer                |
//!
//! Bands are classes of agreement, `k_i / n_i`.
//!
//! # When there is no answer
//!
//! Counts have no participants, so nothing is said about who errs, and no interval generalises over
//! people. A stimulus nobody labelled is counted, not scored. A label that is none of the columns
//! is an [`Error`]: a misspelled name would make everybody wrong.
//!
//! # References
//!
//! - J. C. Peterson, R. M. Battleday, T. L. Griffiths and O. Russakovsky (2019), "Human uncertainty
//!   makes classification more robust".
//! - E. B. Wilson (1927), "Probable inference, the law of succession, and statistical inference".

mod findings;

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::format::label_counts::LabelCount;
use mohs_data::{Caveats, Difficulty, Extra, Label, Seed, StimulusId};
use rayon::prelude::*;

pub use self::findings::{AgreementBand, LabelDisagreement, LabelFinding, Method, StimulusFinding};
use crate::correlation::mean;
use crate::draw::Draw;
use crate::proportion::{real, wilson};
use crate::resample::percentile;

/// Name of the measure in `difficulty.csv`.
pub const MEASURE: &str = "label-disagreement";
/// Key of the bootstrap's random stream.
const STREAM: u64 = 70;

/// How to score.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Confidence of all intervals.
    pub confidence: f64,
    /// Least agreement of each band but the last, from much to little, e.g. 1, 0.95, 0.8.
    pub bands: Vec<f64>,
    /// Bootstrap draws over stimuli.
    pub n_resamples: usize,
    /// Seed of the bootstrap.
    pub seed: Seed,
}

/// Bands when nothing else is asked for: everybody agrees, or up to one in twenty or one in five
/// say something else. Published sets have so few stimuli below a half (13 of 1000 in one) that a
/// band of their own would say nothing.
pub const BANDS: [f64; 3] = [1.0, 0.95, 0.8];

/// Why counts cannot be scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Nothing says what is right.
    #[error("stimulus `{stimulus}` should have a label, found none")]
    NoLabel {
        /// The stimulus.
        stimulus: StimulusId,
    },
    /// The label is not among those people could give.
    #[error("stimulus `{stimulus}` has the label `{label}`, which is none of {}", known.join(", "))]
    UnknownLabel {
        /// The stimulus.
        stimulus: StimulusId,
        /// Its label.
        label: Label,
        /// Labels there are counts for.
        known: Vec<String>,
    },
    /// Nobody gave a label to anything.
    #[error(
        "all {n_stimuli} stimuli should have been labelled by somebody, found no count above 0"
    )]
    NoAnswers {
        /// Stimuli in the table.
        n_stimuli: usize,
    },
    /// Bands that do not descend within (0, 1].
    #[error("bands should be shares from above 0 to 1 that descend, found {}", list(found))]
    BadBands {
        /// What was asked for.
        found: Vec<f64>,
    },
}

fn list(numbers: &[f64]) -> String {
    if numbers.is_empty() {
        return "none".into();
    }
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Scores label counts. `label_by_stimulus` goes before the labels in the counts.
pub fn score(
    counts: &[LabelCount],
    label_by_stimulus: &BTreeMap<&StimulusId, &Label>,
    options: &Options,
) -> Result<LabelDisagreement, Error> {
    check_bands(&options.bands)?;
    let mut stimuli = Vec::new();
    let mut unlabelled = Vec::new();
    for row in counts {
        let n_people: usize = row.counts.iter().map(|(_, n)| n).sum();
        let label = label_by_stimulus.get(&row.stimulus).copied().or(row.label.as_ref());
        let label = label.ok_or_else(|| Error::NoLabel { stimulus: row.stimulus.clone() })?;
        let Some((_, n_label)) = row.counts.iter().find(|(given, _)| given == label) else {
            return Err(Error::UnknownLabel {
                stimulus: row.stimulus.clone(),
                label: label.clone(),
                known: row.counts.iter().map(|(label, _)| label.to_string()).collect(),
            });
        };
        match stimulus_finding(row, label, (*n_label, n_people), options) {
            Some(finding) => stimuli.push(finding),
            None => unlabelled.push(row.stimulus.clone()),
        }
    }
    stimuli.sort_by(|a, b| {
        let by_number = a.disagreement.value.total_cmp(&b.disagreement.value);
        by_number.then_with(|| a.stimulus.cmp(&b.stimulus))
    });
    let values: Vec<f64> = stimuli.iter().map(|stimulus| stimulus.disagreement.value).collect();
    let Some(disagreement) = mean_over_stimuli(&values, 0, options) else {
        return Err(Error::NoAnswers { n_stimuli: counts.len() });
    };
    Ok(LabelDisagreement {
        method: Method {
            confidence: options.confidence,
            bands: options.bands.clone(),
            n_resamples: options.n_resamples,
        },
        n_stimuli: stimuli.len(),
        n_answers: stimuli.iter().map(|stimulus| stimulus.n_people).sum(),
        least_people: stimuli.iter().map(|stimulus| stimulus.n_people).min().unwrap_or(0),
        most_people: stimuli.iter().map(|stimulus| stimulus.n_people).max().unwrap_or(0),
        disagreement,
        n_majority_differs: stimuli.iter().filter(|s| s.usual != s.label).count(),
        bands: bands(&stimuli, options),
        labels: labels(&stimuli, options),
        stimuli,
        unlabelled,
        caveats: Caveats::default(),
    })
}

fn check_bands(bands: &[f64]) -> Result<(), Error> {
    let is_share = |share: &f64| 0.0 < *share && *share <= 1.0;
    let descends = bands.windows(2).all(|pair| pair[1] < pair[0]);
    if bands.iter().all(is_share) && descends && !bands.is_empty() {
        return Ok(());
    }
    Err(Error::BadBands { found: bands.to_vec() })
}

fn stimulus_finding(
    row: &LabelCount,
    label: &Label,
    (n_label, n_people): (usize, usize),
    options: &Options,
) -> Option<StimulusFinding> {
    let disagreement = wilson(n_people - n_label, n_people, options.confidence)?;
    // Of equally frequent labels the stimulus' own comes first, then the earlier column.
    let most = row.counts.iter().map(|(_, n)| *n).max()?;
    let usual = if n_label == most {
        label
    } else {
        row.counts.iter().find(|(_, n)| *n == most).map(|(given, _)| given)?
    };
    let entropy: f64 = row
        .counts
        .iter()
        .filter(|(_, n)| 0 < *n)
        .map(|(_, n)| real(*n) / real(n_people))
        .map(|p| -p * p.log2())
        .sum();
    Some(StimulusFinding {
        stimulus: row.stimulus.clone(),
        label: label.clone(),
        n_people,
        n_label,
        disagreement,
        entropy_bits: entropy.max(0.0),
        usual: usual.clone(),
        n_usual: most,
        band: band_name(real(n_label) / real(n_people), &options.bands),
    })
}

/// Returns the name of the band that an agreement falls into.
fn band_name(agreement: f64, bands: &[f64]) -> String {
    match bands.iter().position(|least| *least <= agreement) {
        Some(idx) => name_of_band(Some(bands[idx])),
        None => format!("below {}", per_cent(bands[bands.len() - 1])),
    }
}

fn name_of_band(least: Option<f64>) -> String {
    match least {
        Some(least) if 1.0 <= least => "all agree".into(),
        Some(least) => format!("from {}", per_cent(least)),
        None => String::new(),
    }
}

/// Writes a share in per cent with as many decimals as it has, up to two.
fn per_cent(share: f64) -> String {
    let rounded = (share * 10_000.0).round() / 100.0;
    format!("{rounded} %")
}

fn bands(stimuli: &[StimulusFinding], options: &Options) -> Vec<AgreementBand> {
    let named = options.bands.iter().map(|least| (*least, name_of_band(Some(*least))));
    let last = options.bands.last().map(|least| (0.0, format!("below {}", per_cent(*least))));
    named
        .chain(last)
        .map(|(least_agreement, name)| {
            let n_stimuli = stimuli.iter().filter(|stimulus| stimulus.band == name).count();
            let share = wilson(n_stimuli, stimuli.len(), options.confidence);
            AgreementBand { name, least_agreement, n_stimuli, share }
        })
        .collect()
}

fn labels(stimuli: &[StimulusFinding], options: &Options) -> Vec<LabelFinding> {
    let names: BTreeSet<&Label> = stimuli.iter().map(|stimulus| &stimulus.label).collect();
    let finding = |(idx, label): (usize, &Label)| {
        let mut values = Vec::new();
        let mut n_by_mistake: BTreeMap<&Label, usize> = BTreeMap::new();
        for stimulus in stimuli.iter().filter(|stimulus| stimulus.label == *label) {
            values.push(stimulus.disagreement.value);
            if stimulus.usual != *label {
                *n_by_mistake.entry(&stimulus.usual).or_default() += 1;
            }
        }
        let usual = n_by_mistake.into_iter().max_by_key(|(name, n)| (*n, std::cmp::Reverse(*name)));
        Some(LabelFinding {
            label: label.clone(),
            n_stimuli: values.len(),
            disagreement: mean_over_stimuli(&values, idx as u64 + 1, options)?,
            usual_mistake: usual.map(|(label, n)| (label.clone(), n)),
        })
    };
    let mut found: Vec<LabelFinding> = names.into_iter().enumerate().filter_map(finding).collect();
    found.sort_by(|a, b| a.disagreement.value.total_cmp(&b.disagreement.value));
    found
}

/// Returns the mean with its bootstrap interval over stimuli; `None` without stimuli.
fn mean_over_stimuli(values: &[f64], group: u64, options: &Options) -> Option<mohs_data::Estimate> {
    if values.is_empty() {
        return None;
    }
    let redrawn = |draw_idx: usize| {
        let mut draw = Draw::new(options.seed, &[STREAM, group, draw_idx as u64]);
        let drawn: Vec<f64> = values.iter().map(|_| values[draw.below(values.len())]).collect();
        mean(&drawn)
    };
    let draws: Vec<f64> = (0..options.n_resamples).into_par_iter().map(redrawn).collect();
    percentile(mean(values), &draws, options.confidence, values.len())
}

impl LabelDisagreement {
    /// Returns the rows of `difficulty.csv`, from easiest to hardest.
    pub fn difficulties(&self) -> Vec<Difficulty> {
        let row = |stimulus: &StimulusFinding| Difficulty {
            stimulus: stimulus.stimulus.clone(),
            measure: MEASURE.into(),
            estimate: stimulus.disagreement,
            band: Some(stimulus.band.clone()),
            caveats: Vec::new(),
            extra: Extra::from_pairs([
                ("label", stimulus.label.to_string()),
                ("n_label", stimulus.n_label.to_string()),
                ("entropy_bits", rounded(stimulus.entropy_bits)),
                ("usual_label", stimulus.usual.to_string()),
                ("n_usual", stimulus.n_usual.to_string()),
            ]),
        };
        self.stimuli.iter().map(row).collect()
    }
}

fn rounded(number: f64) -> String {
    ((number * 1e6).round() / 1e6).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn options() -> Options {
        Options { confidence: 0.95, bands: BANDS.to_vec(), n_resamples: 200, seed: Seed(1) }
    }

    fn row(stimulus: &str, counts: &[(&str, usize)]) -> LabelCount {
        let counts = counts.iter().map(|(label, n)| (Label::new(label), *n)).collect();
        LabelCount { stimulus: stimulus.into(), label: Some("cat".into()), counts }
    }

    fn scored(rows: &[LabelCount]) -> Result<LabelDisagreement, Error> {
        score(rows, &BTreeMap::new(), &options())
    }

    #[test]
    fn a_stimulus_is_as_hard_as_people_who_call_it_something_else() {
        let found = scored(&[
            row("a", &[("cat", 45), ("dog", 4), ("cow", 1)]),
            row("b", &[("cat", 50), ("dog", 0), ("cow", 0)]),
            row("c", &[("cat", 10), ("dog", 40), ("cow", 0)]),
        ])
        .unwrap();
        let order: Vec<&str> = found.stimuli.iter().map(|s| s.stimulus.as_str()).collect();
        assert_eq!(order, ["b", "a", "c"]);
        let a = &found.stimuli[1];
        // scipy 1.17.1: binomtest(5, 50).proportion_ci(0.95, "wilson"); entropy([45, 4, 1], base=2).
        assert!((a.disagreement.value - 0.1).abs() < 1e-12);
        assert!((a.disagreement.low - 0.043_475_765).abs() < 1e-8, "{a:?}");
        assert!((a.disagreement.high - 0.213_602_314).abs() < 1e-8, "{a:?}");
        assert!((a.entropy_bits - 0.541_188_4).abs() < 1e-6, "{a:?}");
        assert_eq!(a.band, "from 80 %");
        assert_eq!(found.stimuli[0].band, "all agree");
        assert!(found.stimuli[0].entropy_bits.abs() < 1e-12);
        assert_eq!(found.stimuli[2].usual.as_str(), "dog");
        assert_eq!(found.n_majority_differs, 1);
        assert!((found.disagreement.value - 0.3).abs() < 1e-12);
        let n: Vec<usize> = found.bands.iter().map(|band| band.n_stimuli).collect();
        assert_eq!(n, [1, 0, 1, 1]);
        let rows = found.difficulties();
        assert_eq!(rows[2].measure, MEASURE);
        assert_eq!(rows[2].band.as_deref(), Some("below 80 %"));
        assert_eq!(rows[2].extra.get("usual_label"), Some("dog"));
    }

    #[test]
    fn labels_of_the_stimuli_go_before_those_of_the_counts() {
        let rows = [row("a", &[("cat", 1), ("dog", 9)])];
        let (id, dog) = (StimulusId::new("a"), Label::new("dog"));
        let found = score(&rows, &BTreeMap::from([(&id, &dog)]), &options()).unwrap();
        assert!((found.stimuli[0].disagreement.value - 0.1).abs() < 1e-12);
    }

    #[test]
    fn what_nobody_labelled_is_counted_and_not_scored() {
        let found =
            scored(&[row("a", &[("cat", 0), ("dog", 0)]), row("b", &[("cat", 1)])]).unwrap();
        assert_eq!((found.n_stimuli, found.unlabelled.len()), (1, 1));
        let error = scored(&[row("a", &[("cat", 0), ("dog", 0)])]).unwrap_err();
        assert_eq!(error, Error::NoAnswers { n_stimuli: 1 });
    }

    #[test]
    fn a_label_that_is_no_column_is_refused() {
        let error = scored(&[row("a", &[("Cat", 1), ("dog", 0)])]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "stimulus `a` has the label `cat`, which is none of Cat, dog"
        );
        let none = LabelCount { label: None, ..row("a", &[("cat", 1)]) };
        assert!(matches!(scored(&[none]), Err(Error::NoLabel { .. })));
    }

    #[test]
    fn bands_must_descend() {
        for bands in [vec![], vec![0.5, 0.9], vec![0.0], vec![1.5], vec![f64::NAN]] {
            let options = Options { bands, ..options() };
            let error = score(&[row("a", &[("cat", 1)])], &BTreeMap::new(), &options);
            assert!(matches!(error, Err(Error::BadBands { .. })), "{:?}", options.bands);
        }
    }

    proptest! {
        #[test]
        fn numbers_stay_in_their_bounds_and_order_changes_nothing(
            counts in prop::collection::vec(prop::collection::vec(0_usize..60, 3), 1..20)
        ) {
            let names = ["cat", "dog", "cow"];
            let mut rows: Vec<LabelCount> = counts.iter().enumerate().map(|(idx, counts)| {
                let counts: Vec<_> = names.iter().copied().zip(counts.iter().copied()).collect();
                row(&format!("s{idx:02}"), &counts)
            }).collect();
            let found = scored(&rows);
            rows.reverse();
            prop_assert_eq!(&found, &scored(&rows));
            if let Ok(found) = found {
                for stimulus in &found.stimuli {
                    let share = stimulus.disagreement;
                    prop_assert!((0.0..=1.0).contains(&share.value));
                    prop_assert!(share.low <= share.value && share.value <= share.high);
                    prop_assert!((0.0..=3.0_f64.log2() + 1e-9).contains(&stimulus.entropy_bits));
                }
                let n: usize = found.bands.iter().map(|band| band.n_stimuli).sum();
                prop_assert_eq!(n, found.n_stimuli);
            }
        }
    }
}
