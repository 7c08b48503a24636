//! People as `mohs-score` simulates them, at the keyboard of a bot.

use std::collections::BTreeMap;

use mohs_data::{Millis, Seed};
use mohs_score::draw::Draw;
use mohs_score::simulate::truth::{TrueParticipant, TrueStimulus, Truth};

use super::{Answer, Answers, Deed};
use crate::hosted::Hosted;
use crate::wire::{Block, PlannedTrial};

/// A world of stimuli whose difficulty is known, and the people in it.
#[derive(Debug, Clone)]
pub struct Crowd {
    truth: Truth,
    seed: Seed,
    /// Label and truth of each picture, by its hash.
    pictures: BTreeMap<String, (String, TrueStimulus, f64)>,
    /// Trials of a participant, practice apart.
    n_trials: usize,
    /// Share of participants who leave on the way.
    drop_out: f64,
    /// Share of trials whose screen drops a frame.
    void_share: f64,
}

impl Crowd {
    /// Makes up a truth for each stimulus of a study.
    pub fn new(hosted: &Hosted, seed: Seed) -> Self {
        let truth = Truth::typical();
        let pictures = hosted
            .prepared
            .iter()
            .enumerate()
            .map(|(idx, row)| {
                let mut draw = Draw::new(seed, &[2, idx as u64]);
                let stimulus = truth.stimulus(seed, idx);
                (row.image.clone(), (row.label.as_str().to_owned(), stimulus, draw.normal()))
            })
            .collect();
        let n_trials = hosted.trials_per_participant().max(1);
        Self { truth, seed, pictures, n_trials, drop_out: 0.0, void_share: 0.0 }
    }

    /// Lets a share of them leave on the way, and a share of trials lose a frame.
    pub fn troubled(self, drop_out: f64, void_share: f64) -> Self {
        Self { drop_out, void_share, ..self }
    }

    /// Returns one of them.
    pub fn person(&self, idx: usize) -> Person<'_> {
        let mut draw = Draw::new(self.seed, &[1, idx as u64]);
        let leaves = draw.chance(self.drop_out);
        // Leavers go before any of their trials.
        let patience = if leaves { draw.below(self.n_trials) } else { usize::MAX };
        let participant = self.truth.participant(self.seed, idx);
        Person { crowd: self, participant, draw, patience }
    }
}

/// One simulated participant.
#[derive(Debug)]
pub struct Person<'a> {
    crowd: &'a Crowd,
    participant: TrueParticipant,
    draw: Draw,
    patience: usize,
}

impl Answers for Person<'_> {
    fn deed(&mut self, block: &Block, trial: &PlannedTrial) -> Deed {
        if self.patience == 0 {
            return if self.draw.chance(0.5) { Deed::Leave } else { Deed::Close };
        }
        self.patience -= 1;
        let is_void = trial.frames.is_some() && self.draw.chance(self.crowd.void_share);
        let extra_frames = u32::from(is_void);
        Deed::Answer { answer: self.answer(block, trial), extra_frames }
    }
}

impl Person<'_> {
    fn answer(&mut self, block: &Block, trial: &PlannedTrial) -> Answer {
        let crowd = self.crowd;
        let rt_ms = match block.beep_ms {
            Some(beep_ms) => beep_ms + 60.0 * self.draw.normal(),
            None => 400.0 + 500.0 * (0.5 * self.draw.normal()).exp(),
        };
        let rt_ms = rt_ms.max(150.0);
        let difficulty = |hash: &str| crowd.pictures.get(hash).map_or(0.0, |(_, _, hard)| *hard);
        if let Some(right) = &trial.right {
            let gap = difficulty(&trial.image) - difficulty(right);
            let is_left = self.draw.chance(1.0 / (1.0 + (-1.5 * gap).exp()));
            let response = if is_left { "left" } else { "right" };
            return Answer::new(Some(response.into()), rt_ms);
        }
        #[expect(clippy::cast_precision_loss, reason = "options are few")]
        let guess_rate = 1.0 / trial.options.len().max(1) as f64;
        let exposure = Millis::new(trial.exposure_ms.unwrap_or(rt_ms));
        let known = crowd.pictures.get(&trial.image).zip(exposure);
        let p_right = known.map_or(guess_rate, |((_, stimulus, _), exposure)| {
            crowd.truth.p_right(stimulus, &self.participant, exposure, guess_rate)
        });
        let label = known.map(|((label, _, _), _)| label.clone());
        let is_right = self.draw.chance(p_right);
        let others: Vec<&String> =
            trial.options.iter().filter(|option| Some(*option) != label.as_ref()).collect();
        let response = match label {
            Some(label) if is_right || others.is_empty() => Some(label),
            _ if others.is_empty() => None,
            _ => Some(others[self.draw.below(others.len())].clone()),
        };
        Answer { beep_ms: block.beep_ms, ..Answer::new(response, rt_ms) }
    }
}
