//! What is true of simulated stimuli and people in flash trials.
//!
//! A [`Truth`] names a world: how thresholds and slopes are spread over stimuli, how people
//! differ, how often they lapse, hit the wrong key or leave. [`Truth::plausible`] lists worlds
//! that a method should survive, among them ones whose shape no estimator here assumes.

use mohs_data::{Millis, Seed};

use crate::draw::Draw;
use crate::human::psychometric::logistic;

/// How recognition grows with log exposure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Logistic in log exposure: what the model-based threshold assumes.
    Logistic,
    /// Weibull in exposure: steeper towards certainty than the model assumes.
    Weibull,
}

/// One part of a mixture of thresholds: log-normal around a median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Share of stimuli.
    pub share: f64,
    /// Median exposure at which half of the recognisable is recognised.
    pub median: Millis,
    /// Spread in log units.
    pub ln_sd: f64,
}

/// A simulated world.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// A word for tables.
    pub name: &'static str,
    /// One line for people.
    pub meaning: &'static str,
    /// Thresholds over stimuli; shares sum to at most one.
    pub thresholds: Vec<Part>,
    /// Share of stimuli that cannot be recognised at any exposure: whatever the parts leave.
    pub shape: Shape,
    /// Median growth of log-odds per e-fold of exposure.
    pub slope: f64,
    /// Spread of slopes in log units.
    pub ln_slope_sd: f64,
    /// Spread of abilities in log-odds.
    pub ability_sd: f64,
    /// Mean chance that a participant did not look and guesses.
    pub lapse_rate: f64,
    /// Chance that a participant knows the answer and hits another key.
    pub key_error_rate: f64,
    /// Share of participants who guess throughout.
    pub careless_share: f64,
}

/// A stimulus with its truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrueStimulus {
    /// Log exposure at the middle of the curve; infinite when it cannot be recognised.
    ln_middle: f64,
    slope: f64,
    shape: Shape,
}

/// A participant with the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrueParticipant {
    /// Advantage in log-odds.
    pub ability: f64,
    /// Chance of not looking.
    pub lapse_rate: f64,
    /// Guesses throughout.
    pub is_careless: bool,
}

const STIMULUS: u64 = 1;
const PARTICIPANT: u64 = 2;

impl Truth {
    /// Thresholds like those of photographs of everyday things: mostly easy, a long tail.
    pub fn typical() -> Self {
        Self {
            name: "typical",
            meaning: "mostly easy stimuli with a long tail, people who differ and lapse a little",
            thresholds: vec![part(0.55, 28.0, 0.7), part(0.30, 110.0, 0.6), part(0.11, 900.0, 1.3)],
            shape: Shape::Logistic,
            slope: 2.2,
            ln_slope_sd: 0.35,
            ability_sd: 0.6,
            lapse_rate: 0.03,
            key_error_rate: 0.01,
            careless_share: 0.0,
        }
    }

    /// The worlds in which designs are compared.
    pub fn plausible() -> Vec<Self> {
        let typical = Self::typical();
        vec![
            typical.clone(),
            Self {
                name: "steep",
                meaning: "recognition comes all at once",
                slope: 4.5,
                ln_slope_sd: 0.2,
                ..typical.clone()
            },
            Self {
                name: "shallow",
                meaning: "recognition grows slowly and people differ a lot",
                slope: 1.2,
                ability_sd: 0.9,
                ..typical.clone()
            },
            Self {
                name: "lapsing",
                meaning: "one answer in ten is a guess or a slip",
                lapse_rate: 0.08,
                key_error_rate: 0.02,
                ..typical.clone()
            },
            Self {
                name: "two-kinds",
                meaning: "stimuli are very easy or very hard: a wrong prior for the adaptive choice",
                thresholds: vec![part(0.5, 22.0, 0.25), part(0.4, 1_500.0, 0.5)],
                ..typical.clone()
            },
            Self {
                name: "weibull",
                meaning: "curves of another shape than the model assumes",
                shape: Shape::Weibull,
                slope: 1.6,
                ..typical
            },
        ]
    }

    /// Finds a plausible world by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::plausible().into_iter().find(|truth| truth.name == name)
    }

    /// Draws a stimulus.
    pub fn stimulus(&self, seed: Seed, stimulus_idx: usize) -> TrueStimulus {
        let mut draw = Draw::new(seed, &[STIMULUS, stimulus_idx as u64]);
        let (which, deviation, slope_z) = (draw.uniform(), draw.normal(), draw.normal());
        let mut below = 0.0;
        let mut ln_middle = f64::INFINITY;
        for part in &self.thresholds {
            if which < below + part.share {
                ln_middle = part.median.value().ln() + part.ln_sd * deviation;
                break;
            }
            below += part.share;
        }
        let slope = self.slope * (self.ln_slope_sd * slope_z).exp();
        TrueStimulus { ln_middle, slope, shape: self.shape }
    }

    /// Makes a stimulus whose middle is known, e.g. from how it was drawn.
    pub fn stimulus_at(&self, middle: Option<Millis>, seed: Seed, idx: usize) -> TrueStimulus {
        let ln_middle = middle.map_or(f64::INFINITY, |middle| middle.value().ln());
        TrueStimulus { ln_middle, ..self.stimulus(seed, idx) }
    }

    /// Draws a participant.
    pub fn participant(&self, seed: Seed, participant_idx: usize) -> TrueParticipant {
        let mut draw = Draw::new(seed, &[PARTICIPANT, participant_idx as u64]);
        let ability = self.ability_sd * draw.normal();
        // Exponential lapses: most people lapse less than the mean, a few much more.
        let lapse_rate = (-self.lapse_rate * (1.0 - draw.uniform()).ln()).min(0.5);
        TrueParticipant { ability, lapse_rate, is_careless: draw.chance(self.careless_share) }
    }

    /// Returns the probability of a right answer among `n_labels`.
    pub fn p_right(
        &self,
        stimulus: &TrueStimulus,
        participant: &TrueParticipant,
        exposure: Millis,
        guess_rate: f64,
    ) -> f64 {
        if participant.is_careless {
            return guess_rate;
        }
        let recognised = stimulus.p_recognised(exposure, participant.ability);
        let looked = guess_rate + (1.0 - guess_rate) * recognised;
        let answered =
            (1.0 - participant.lapse_rate) * looked + participant.lapse_rate * guess_rate;
        answered * (1.0 - self.key_error_rate)
    }

    /// Returns the exposure at which a typical participant reaches the criterion; `None` when
    /// the stimulus never gets there.
    pub fn threshold(
        &self,
        stimulus: &TrueStimulus,
        criterion: f64,
        guess_rate: f64,
    ) -> Option<Millis> {
        let typical =
            TrueParticipant { ability: 0.0, lapse_rate: self.lapse_rate, is_careless: false };
        let p_at = |ln_t: f64| {
            let exposure = Millis::new(ln_t.exp()).expect("because the search range is finite");
            self.p_right(stimulus, &typical, exposure, guess_rate)
        };
        let (mut low, mut high) = (-7.0, 25.0);
        if p_at(high) < criterion || criterion <= p_at(low) {
            return None;
        }
        for _ in 0..80 {
            let middle = f64::midpoint(low, high);
            if p_at(middle) < criterion {
                low = middle;
            } else {
                high = middle;
            }
        }
        Millis::new(high.exp())
    }

    /// Returns the true band: the first exposure at or above the threshold, or one past the last.
    pub fn band_idx(
        &self,
        stimulus: &TrueStimulus,
        exposures: &[Millis],
        criterion: f64,
        guess_rate: f64,
    ) -> usize {
        match self.threshold(stimulus, criterion, guess_rate) {
            Some(threshold) => exposures.iter().take_while(|ms| **ms < threshold).count(),
            None => exposures.len(),
        }
    }
}

impl TrueStimulus {
    /// Returns the probability that a participant recognises it.
    fn p_recognised(&self, exposure: Millis, ability: f64) -> f64 {
        if self.ln_middle.is_infinite() {
            return 0.0;
        }
        let distance = self.slope * (exposure.value().ln() - self.ln_middle);
        match self.shape {
            Shape::Logistic => logistic(distance + ability),
            // At the middle half is recognised; ability acts on the log of time.
            Shape::Weibull => {
                1.0 - (-std::f64::consts::LN_2 * (distance + ability / 2.0).exp()).exp()
            }
        }
    }
}

fn part(share: f64, median_ms: f64, ln_sd: f64) -> Part {
    Part { share, median: Millis::new(median_ms).expect("because it is a literal"), ln_sd }
}
