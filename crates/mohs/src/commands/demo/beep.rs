//! The demo's beep study: simulated people who answer at a beep, with clear, noisy and blurred
//! pictures.

use mohs_data::{ExclusionRules, Label, Millis, Seed, Stimulus, Trial};
use mohs_score::human::speed_accuracy::{self, Options, SpeedAccuracy};
use mohs_score::simulate::beep::{self, Condition, Setting};

use crate::error::CliError;

/// How accuracy rises: name, accuracy with all time, time scale in ms, shape.
const CONDITIONS: [(&str, f64, f64, f64); 3] =
    [("clear", 0.94, 980.0, 5.0), ("noise", 0.70, 1_060.0, 4.5), ("blur", 0.55, 1_120.0, 4.0)];
/// When the beep asks for the answer, in ms.
const BEEPS: [f64; 5] = [500.0, 900.0, 1_100.0, 1_300.0, 1_500.0];

pub(super) fn trials(stimuli: &[Stimulus], labels: &[Label], seed: Seed) -> Vec<Trial> {
    let ms = |value| Millis::new(value).expect("because the times above are finite");
    let conditions = CONDITIONS.map(|(name, asymptote, scale, shape)| Condition {
        name: name.into(),
        asymptote,
        scale: ms(scale),
        shape,
    });
    let setting = Setting {
        conditions: &conditions,
        beeps: &BEEPS.map(ms),
        trials_per_block: 90,
        labels,
        n_participants: 20,
        lag: ms(60.0),
        spread: ms(80.0),
        window: ms(200.0),
        seed,
    };
    let shown: Vec<_> = stimuli.iter().map(|s| (s.id.clone(), s.label.clone())).collect();
    beep::trials(&shown, &setting)
}

pub(super) fn score(
    trials: &[Trial],
    labels: &[Label],
    seed: Seed,
) -> Result<SpeedAccuracy, CliError> {
    let (findings, _) = speed_accuracy::score(&speed_accuracy::Input {
        trials,
        n_labels: Some(labels.len()),
        rules: &ExclusionRules::default(),
        options: &Options::default(),
        seed,
    })?;
    Ok(findings)
}
