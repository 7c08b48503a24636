//! Groups of stimuli (bands, data sets, labels, levels) and what is computed of each.

use std::collections::BTreeSet;

use mohs_data::Estimate;

use super::{Band, BandFinding, Collected, ExposurePoint, Group, Known, StimulusFinding};
use crate::human::threshold::{self, Fit};
use crate::proportion::{normal_quantile, real, wilson, wilson_of_share};
use crate::resample::{Cell, Pigeonhole};

/// Groups of stimuli and what is computed of each.
pub(super) struct Groups<'a> {
    data: &'a Collected<'a>,
    findings: &'a [StimulusFinding],
    pigeonhole: &'a Pigeonhole<'a>,
    fit: &'a Fit,
    confidence: f64,
}

impl<'a> Groups<'a> {
    pub(super) fn new(
        data: &'a Collected<'a>,
        findings: &'a [StimulusFinding],
        pigeonhole: &'a Pigeonhole<'a>,
        fit: &'a Fit,
        confidence: f64,
    ) -> Self {
        Self { data, findings, pigeonhole, fit, confidence }
    }

    /// Returns overall accuracy and accuracy by exposure.
    pub(super) fn everything(&self) -> (Estimate, Vec<ExposurePoint>) {
        let all = vec![true; self.findings.len()];
        let cell = Cell { stimuli: all.clone(), exposure_idx: None };
        let overall = self.pigeonhole.shares(&[cell])[0].expect("because there are trials");
        (overall, self.curves(&[all]).remove(0))
    }

    /// Returns accuracy by exposure for several groups; exposures without trials are left out.
    fn curves(&self, groups: &[Vec<bool>]) -> Vec<Vec<ExposurePoint>> {
        let exposures = &self.data.answers.exposures;
        let cells: Vec<Cell> = groups
            .iter()
            .flat_map(|stimuli| {
                (0..exposures.len())
                    .map(|idx| Cell { stimuli: stimuli.clone(), exposure_idx: Some(idx) })
            })
            .collect();
        let shares = self.pigeonhole.shares(&cells);
        shares
            .chunks(exposures.len())
            .map(|shares| {
                exposures
                    .iter()
                    .zip(shares)
                    .filter_map(|(exposure, share)| {
                        Some(ExposurePoint { exposure: *exposure, accuracy: (*share)? })
                    })
                    .collect()
            })
            .collect()
    }

    pub(super) fn bands(&self, confidence: f64) -> Vec<BandFinding> {
        let exposures = &self.data.answers.exposures;
        let n_bands = exposures.len() + 1;
        let members: Vec<Vec<bool>> = (0..n_bands)
            .map(|idx| self.findings.iter().map(|finding| finding.band.idx == idx).collect())
            .collect();
        let curves = self.curves(&members);
        let p_bands: Vec<Vec<f64>> =
            self.fit.thresholds.iter().map(threshold::Threshold::p_band).collect();
        (0..n_bands)
            .zip(members)
            .zip(curves)
            .map(|((idx, members), accuracy_by_exposure)| {
                let n_stimuli = members.iter().filter(|is_in| **is_in).count();
                let p: Vec<f64> = p_bands.iter().map(|p| p[idx]).collect();
                BandFinding {
                    band: Band { idx, mvt: exposures.get(idx).copied() },
                    n_stimuli,
                    share: wilson(n_stimuli, members.len(), confidence)
                        .expect("because there are stimuli"),
                    model_share: mean_of_probabilities(&p, confidence),
                    accuracy_by_exposure,
                }
            })
            .collect()
    }

    /// Groups stimuli by a name; stimuli without one belong to none. Groups sort by name.
    pub(super) fn by(&self, name: impl Fn(&Known<'_>) -> Option<String>) -> Vec<Group> {
        let names: Vec<Option<String>> = self.data.stimuli.iter().map(name).collect();
        let unique: BTreeSet<&String> = names.iter().flatten().collect();
        let members: Vec<Vec<bool>> = unique
            .iter()
            .map(|unique| names.iter().map(|name| name.as_ref() == Some(*unique)).collect())
            .collect();
        let difficulties = self.pigeonhole.mean_difficulties(&members);
        let curves = self.curves(&members);
        unique
            .into_iter()
            .zip(&members)
            .zip(difficulties)
            .zip(curves)
            .filter_map(|(((name, members), difficulty), accuracy_by_exposure)| {
                let inside = || {
                    self.findings.iter().zip(members).filter(|(_, is_in)| **is_in).map(|(f, _)| f)
                };
                let mut n_by_band = vec![0; self.data.answers.exposures.len() + 1];
                for finding in inside() {
                    n_by_band[finding.band.idx] += 1;
                }
                Some(Group {
                    name: name.clone(),
                    n_stimuli: inside().count(),
                    n_trials: inside().map(|finding| finding.difficulty.n).sum(),
                    difficulty: difficulty?,
                    threshold_ms: self.mean_threshold(members)?,
                    n_by_band,
                    accuracy_by_exposure,
                })
            })
            .collect()
    }

    /// Returns the geometric mean of thresholds, with the spread of thresholds over stimuli as
    /// the source of doubt: another draw of stimuli would have another mean.
    fn mean_threshold(&self, members: &[bool]) -> Option<Estimate> {
        let inside: Vec<&threshold::Threshold> = self
            .fit
            .thresholds
            .iter()
            .zip(members)
            .filter(|(_, is_in)| **is_in)
            .map(|(threshold, _)| threshold)
            .collect();
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

/// Returns the expected share of stimuli in a band. It varies as a share of stimuli does, whether or
/// not each stimulus is known for sure.
fn mean_of_probabilities(p: &[f64], confidence: f64) -> Estimate {
    let mean = (p.iter().sum::<f64>() / real(p.len())).clamp(0.0, 1.0);
    wilson_of_share(mean, p.len(), confidence).expect("because there are stimuli")
}
