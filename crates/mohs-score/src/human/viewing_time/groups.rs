//! Groups of stimuli (bands, data sets, labels, levels) and what is computed of each.

use std::collections::BTreeMap;

use mohs_data::{Estimate, Millis};

use super::{Band, BandFinding, Collected, ExposurePoint, Group, Known, StimulusFinding};
use crate::human::threshold::{self, Fit};
use crate::proportion::{normal_quantile, real, wilson, wilson_of_share};
use crate::resample::{GroupShares, Pigeonhole};

/// What stimuli are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    Dataset,
    Label,
    Level,
}

impl Naming {
    const ALL: [Self; 3] = [Self::Dataset, Self::Label, Self::Level];

    /// Returns the group a stimulus belongs to; `None` when it belongs to none.
    fn name(self, known: &Known<'_>) -> Option<String> {
        match self {
            Self::Dataset => Some(known.dataset.clone().unwrap_or_default()),
            Self::Label => known.label.map(ToString::to_string),
            Self::Level => {
                Some(format!("{} · {}", known.attribute.as_ref()?, known.level.as_ref()?))
            }
        }
    }
}

/// A group with the stimuli in it, by position.
struct Named {
    naming: Naming,
    name: String,
    members: Vec<usize>,
}

/// Groups of stimuli and what is computed of each. All are redrawn together, in one pass.
pub(super) struct Groups<'a> {
    data: &'a Collected<'a>,
    findings: &'a [StimulusFinding],
    fit: &'a Fit,
    confidence: f64,
    everything: GroupShares,
    bands: Vec<(Vec<usize>, GroupShares)>,
    named: Vec<(Named, GroupShares)>,
}

impl<'a> Groups<'a> {
    pub(super) fn new(
        data: &'a Collected<'a>,
        findings: &'a [StimulusFinding],
        pigeonhole: &Pigeonhole<'_>,
        fit: &'a Fit,
    ) -> Self {
        let which = |is_in: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..findings.len()).filter(|idx| is_in(*idx)).collect()
        };
        let n_bands = data.answers.exposures.len() + 1;
        let bands = (0..n_bands).map(|band| which(&|idx| findings[idx].band.idx == band));
        let named: Vec<Named> =
            Naming::ALL.into_iter().flat_map(|naming| named(data, naming)).collect();
        let members: Vec<Vec<usize>> = std::iter::once(which(&|_| true))
            .chain(bands)
            .chain(named.iter().map(|named| named.members.clone()))
            .collect();
        let mut shares = pigeonhole.groups(&members).into_iter();
        let everything = shares.next().expect("because the first group is everything");
        let bands = members.into_iter().skip(1).zip(shares.by_ref().take(n_bands)).collect();
        let confidence = pigeonhole.confidence;
        let named = named.into_iter().zip(shares).collect();
        Self { data, findings, fit, confidence, everything, bands, named }
    }

    /// Returns overall accuracy and accuracy by exposure.
    pub(super) fn everything(&self) -> (Estimate, Vec<ExposurePoint>) {
        let overall = self.everything.overall.expect("because there are trials");
        (overall, self.curve(&self.everything))
    }

    /// Returns accuracy by exposure; exposures without trials are left out.
    fn curve(&self, shares: &GroupShares) -> Vec<ExposurePoint> {
        let point = |(exposure, share): (&Millis, &Option<Estimate>)| {
            Some(ExposurePoint { exposure: *exposure, accuracy: (*share)? })
        };
        self.data.answers.exposures.iter().zip(&shares.by_exposure).filter_map(point).collect()
    }

    pub(super) fn bands(&self) -> Vec<BandFinding> {
        let exposures = &self.data.answers.exposures;
        let p_bands: Vec<Vec<f64>> =
            self.fit.thresholds.iter().map(threshold::Threshold::p_band).collect();
        self.bands
            .iter()
            .enumerate()
            .map(|(idx, (members, shares))| {
                let p: Vec<f64> = p_bands.iter().map(|p| p[idx]).collect();
                BandFinding {
                    band: Band { idx, mvt: exposures.get(idx).copied() },
                    n_stimuli: members.len(),
                    share: wilson(members.len(), self.findings.len(), self.confidence)
                        .expect("because there are stimuli"),
                    model_share: mean_of_probabilities(&p, self.confidence),
                    accuracy_by_exposure: self.curve(shares),
                }
            })
            .collect()
    }

    /// Returns the groups of a naming, by name.
    pub(super) fn by(&self, naming: Naming) -> Vec<Group> {
        self.named
            .iter()
            .filter(|(named, _)| named.naming == naming)
            .filter_map(|(Named { name, members, .. }, shares)| {
                let inside = || members.iter().map(|idx| &self.findings[*idx]);
                let mut n_by_band = vec![0; self.data.answers.exposures.len() + 1];
                for finding in inside() {
                    n_by_band[finding.band.idx] += 1;
                }
                Some(Group {
                    name: name.clone(),
                    n_stimuli: members.len(),
                    n_trials: inside().map(|finding| finding.difficulty.n).sum(),
                    difficulty: shares.difficulty?,
                    threshold_ms: self.mean_threshold(members)?,
                    n_by_band,
                    accuracy_by_exposure: self.curve(shares),
                })
            })
            .collect()
    }

    /// Returns the geometric mean of thresholds, with the spread of thresholds over stimuli as
    /// the source of doubt: another draw of stimuli would have another mean.
    fn mean_threshold(&self, members: &[usize]) -> Option<Estimate> {
        let inside: Vec<&threshold::Threshold> =
            members.iter().map(|idx| &self.fit.thresholds[*idx]).collect();
        let n = real(inside.len());
        let mean = inside.iter().map(|threshold| threshold.ln_mean).sum::<f64>() / n;
        let variance = inside
            .iter()
            .map(|threshold| (threshold.ln_mean - mean).powi(2) + threshold.ln_variance)
            .sum::<f64>()
            / n;
        let half = normal_quantile(0.5 + self.confidence / 2.0) * (variance / n).sqrt();
        Estimate::new(
            mean.exp(),
            (mean - half).exp(),
            (mean + half).exp(),
            self.confidence,
            inside.len(),
        )
    }
}

/// Returns the groups of a naming, sorted by name.
fn named(data: &Collected<'_>, naming: Naming) -> Vec<Named> {
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (idx, known) in data.stimuli.iter().enumerate() {
        if let Some(name) = naming.name(known) {
            members.entry(name).or_default().push(idx);
        }
    }
    members.into_iter().map(|(name, members)| Named { naming, name, members }).collect()
}

/// Returns the expected share of stimuli in a band. It varies as a share of stimuli does, whether or
/// not each stimulus is known for sure.
fn mean_of_probabilities(p: &[f64], confidence: f64) -> Estimate {
    let mean = (p.iter().sum::<f64>() / real(p.len())).clamp(0.0, 1.0);
    wilson_of_share(mean, p.len(), confidence).expect("because there are stimuli")
}
