//! Which pictures are audited: those with the lowest luck, as many as the share says.
//!
//! A share that does not come out even is rounded by luck, attack by attack: 2 % of 30 pictures is
//! one picture for some attacks and none for others. Drawing each picture by itself would take two or
//! three for some, and an audit costs as much as the exact search.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Seed, StimulusId};

use super::search::Mode;
use super::{Job, Planned};
use crate::probe::attack::Luck;

/// The audited pictures of every attack.
#[derive(Debug, Default)]
pub(super) struct Audit<'a>(BTreeMap<&'static str, BTreeSet<&'a StimulusId>>);

impl<'a> Audit<'a> {
    /// Draws for all attacks of a job.
    pub(super) fn draw(job: &Job<'a>) -> Audit<'a> {
        let Mode::Fast { audited } = job.mode else { return Audit::default() };
        let stimuli: Vec<&StimulusId> = job.stimuli.iter().map(|stimulus| &stimulus.id).collect();
        let planned = job.attacks.iter().chain(job.corrections);
        let names = planned.map(|Planned { attack, .. }| attack.name);
        Audit(names.map(|name| (name, drawn(audited, &stimuli, job.seed, name))).collect())
    }

    /// Whether an attack on a picture is audited.
    pub(super) fn holds(&self, attack: &str, stimulus: &StimulusId) -> bool {
        self.0.get(attack).is_some_and(|drawn| drawn.contains(stimulus))
    }
}

fn drawn<'a>(
    share: f64,
    stimuli: &[&'a StimulusId],
    seed: Seed,
    attack: &str,
) -> BTreeSet<&'a StimulusId> {
    let kind = format!("{attack} audit");
    let luck = |stimulus: &StimulusId| Luck::new(seed, stimulus, &kind, 0).share();
    let mut by_luck: Vec<(f64, &StimulusId)> =
        stimuli.iter().map(|&stimulus| (luck(stimulus), stimulus)).collect();
    by_luck.sort_by(|one, other| one.0.total_cmp(&other.0));
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "there are fewer than 2^53 pictures"
    )]
    let n = (share * stimuli.len() as f64 + luck(&"".into())).floor() as usize;
    by_luck.into_iter().take(n).map(|(_, stimulus)| stimulus).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(n: usize) -> Vec<StimulusId> {
        (0..n).map(|idx| StimulusId::new(format!("s{idx}"))).collect()
    }

    fn numbers(share: f64, n: usize) -> BTreeSet<usize> {
        let ids = ids(n);
        let stimuli: Vec<&StimulusId> = ids.iter().collect();
        let attacks = (0..40).map(|idx| format!("a{idx}"));
        attacks.map(|attack| drawn(share, &stimuli, Seed(1), &attack).len()).collect()
    }

    #[test]
    fn as_many_are_drawn_as_the_share_says_rounded_by_luck() {
        assert_eq!(numbers(0.02, 100), [2].into());
        assert_eq!(numbers(0.02, 30), [0, 1].into());
        assert_eq!(numbers(0.05, 30), [1, 2].into());
        assert_eq!((numbers(0.0, 30), numbers(1.0, 30)), ([0].into(), [30].into()));
    }

    #[test]
    fn attacks_draw_other_pictures_and_the_same_ones_again() {
        let ids = ids(100);
        let stimuli: Vec<&StimulusId> = ids.iter().collect();
        let draw = |attack| drawn(0.1, &stimuli, Seed(1), attack);
        assert_eq!(draw("pgd"), draw("pgd"));
        assert_ne!(draw("pgd"), draw("fgsm"));
    }
}
