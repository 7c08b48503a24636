//! Which attacked pictures go into the output folder: some from each end of difficulty, over
//! attacks and models in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mohs_data::{AttackExample, Caveat, MinEpsilon, StimulusId};
use mohs_score::model::robustness::Standing;

use super::super::output::OutputArgs;
pub(super) use crate::commands::report::attacked::FOLDER;
use crate::commands::report::attacked::{MOST, table};
use crate::error::CliError;

/// What is copied.
pub(super) struct Shown {
    /// The rows, with files as they are called in the output folder.
    pub(super) table: Vec<AttackExample>,
    /// The pictures.
    pub(super) pictures: Vec<(String, Vec<u8>)>,
    /// That some examples are of something else, if some are.
    pub(super) doubt: Option<Caveat>,
}

/// Returns the folder of an earlier run's examples, if there is one.
pub(super) fn earlier(output: &OutputArgs) -> Result<Option<PathBuf>, CliError> {
    let mut names = vec![AttackExample::FILE.to_owned()];
    for place in 0..MOST {
        names.extend(["png", "clean.png", "npy"].map(|ending| file_name(place, ending)));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    output.earlier(FOLDER, &names)
}

pub(crate) fn file_name(place: usize, ending: &str) -> String {
    format!("{:02}.{ending}", place + 1)
}

/// Reads a folder of examples and takes up to twelve of those that the rows are about, from easy to
/// hard.
pub(super) fn choose(
    folder: &Path,
    rows: &[MinEpsilon],
    standings: &[Standing],
) -> Result<Shown, CliError> {
    let found = table(folder)?;
    let n_all = found.len();
    let all = fitting(found, rows).map_err(|foreign| {
        CliError::input(format!(
            "none of the {n_all} examples in `{}` is of a model, stimulus and attack among the rows; \
             found for example model `{}`, stimulus `{}`, attack `{}`",
            folder.display(),
            foreign.model,
            foreign.stimulus,
            foreign.attack
        ))
        .hint("give the folder that the same `mohs attack` wrote beside the rows")
    })?;
    let n_examples = n_all - all.len();
    let doubt = (0 < n_examples).then_some(Caveat::ForeignExamples { n_examples, n_all });
    let mut shown = Shown { table: Vec::new(), pictures: Vec::new(), doubt };
    for (place, idx) in chosen(&all, standings).into_iter().enumerate() {
        let example = &all[idx];
        let read = |file: &Path| {
            let path = folder.join(file);
            std::fs::read(&path).map_err(|cause| {
                CliError::input(format!("cannot read the example `{}`", path.display()))
                    .because(cause)
                    .hint("give the whole folder that `mohs attack --examples DIR` wrote")
            })
        };
        let standing = standings.iter().find(|standing| standing.stimulus == example.stimulus);
        let name = file_name(place, "png");
        shown.pictures.push((format!("{FOLDER}/{name}"), read(&example.file)?));
        let before = format!("{FOLDER}/{}", file_name(place, "clean.png"));
        shown.pictures.push((before, read(&example.clean_file())?));
        // Exact numbers may be missing; changes are then seen as far as eight bits show them.
        if let Ok(numbers) = read(&example.file.with_extension("npy")) {
            shown.pictures.push((format!("{FOLDER}/{}", file_name(place, "npy")), numbers));
        }
        shown.table.push(AttackExample {
            file: name.into(),
            band: standing.and_then(|standing| Some(standing.band.as_ref()?.1.clone())),
            ..example.clone()
        });
    }
    Ok(shown)
}

/// Returns the examples that some row is about, or one of the others where there is none.
fn fitting(
    all: Vec<AttackExample>,
    rows: &[MinEpsilon],
) -> Result<Vec<AttackExample>, Box<AttackExample>> {
    let known: BTreeSet<_> =
        rows.iter().map(|row| (&row.model, &row.stimulus, row.attack.as_str())).collect();
    let is_ours =
        |one: &AttackExample| known.contains(&(&one.model, &one.stimulus, one.attack.as_str()));
    let (ours, foreign): (Vec<_>, Vec<_>) = all.into_iter().partition(is_ours);
    match foreign.into_iter().next() {
        Some(first) if ours.is_empty() => Err(Box::new(first)),
        _ => Ok(ours),
    }
}

/// Returns which examples to show, from easy to hard: half from the easiest stimuli, half from the
/// hardest, models and attacks in turn, and each stimulus once as long as there are others.
pub(crate) fn chosen(all: &[AttackExample], standings: &[Standing]) -> Vec<usize> {
    let place: BTreeMap<&StimulusId, usize> =
        standings.iter().enumerate().map(|(idx, standing)| (&standing.stimulus, idx)).collect();
    let rank = |idx: usize| place.get(&all[idx].stimulus).copied().unwrap_or(standings.len());
    let band = |idx: usize| {
        let standing = standings.get(rank(idx))?;
        standing.band.as_ref().map(|band| band.0)
    };
    let bands: Vec<usize> = (0..all.len()).filter_map(band).collect();
    let (easiest, hardest) = (bands.iter().min().copied(), bands.iter().max().copied());
    let mut taken: Vec<usize> = Vec::new();
    for (end, is_hard) in [(easiest, false), (hardest, true)] {
        let n_before = taken.len();
        let half = if is_hard { MOST - n_before } else { MOST / 2 };
        while taken.len() < n_before + half {
            let used = |same: &dyn Fn(usize) -> bool| taken.iter().filter(|t| same(**t)).count();
            let cost = |idx: usize| {
                let of_attack = used(&|t| {
                    (&all[t].model, &all[t].attack) == (&all[idx].model, &all[idx].attack)
                });
                let of_stimulus = used(&|t| all[t].stimulus == all[idx].stimulus);
                let far = if is_hard { standings.len() - rank(idx) } else { rank(idx) };
                (of_stimulus, of_attack, far, idx)
            };
            // Without bands there is one end only, and it takes what there is.
            let is_at_end = |idx: usize| end.is_none() || band(idx) == end;
            let next = (0..all.len())
                .filter(|idx| !taken.contains(idx) && is_at_end(*idx))
                .min_by_key(|idx| cost(*idx));
            let Some(next) = next else { break };
            taken.push(next);
        }
    }
    taken.sort_by_key(|idx| (rank(*idx), *idx));
    taken
}

#[cfg(test)]
mod tests {
    use mohs_data::{Extra, Goal, Norm};

    use super::*;

    fn example(stimulus: &str, attack: &str) -> AttackExample {
        AttackExample {
            model: "m".into(),
            stimulus: stimulus.into(),
            attack: attack.into(),
            norm: Norm::Linf,
            goal: Goal::Fool,
            change: None,
            epsilon: 0.01,
            label: "mug".into(),
            clean: None,
            answer: None,
            file: "a.png".into(),
            band: None,
            extra: Extra::default(),
        }
    }

    fn standing(stimulus: String, band: usize) -> Standing {
        let band = Some((band, ["easy", "medium", "hard"][band].to_owned()));
        Standing { stimulus: stimulus.as_str().into(), band, difficulty: Some(0.5) }
    }

    #[test]
    fn both_ends_are_shown_and_attacks_take_turns() {
        let standings: Vec<Standing> =
            (0..60).map(|idx| standing(format!("s{idx:02}"), idx / 20)).collect();
        let all: Vec<AttackExample> = (0..60)
            .flat_map(|idx| ["pgd", "fgsm"].map(|attack| example(&format!("s{idx:02}"), attack)))
            .collect();
        let found = chosen(&all, &standings);
        assert_eq!(found.len(), MOST);
        let of = |idx: usize| (all[found[idx]].stimulus.as_str(), all[found[idx]].attack.as_str());
        assert_eq!([of(0), of(1)], [("s00", "pgd"), ("s01", "fgsm")]);
        assert_eq!(of(11).0, "s59");
        let n_pgd = found.iter().filter(|idx| all[**idx].attack == "pgd").count();
        assert_eq!(n_pgd, MOST / 2);
    }

    #[test]
    fn without_bands_the_first_ones_are_shown() {
        let all: Vec<AttackExample> =
            (0..20).map(|idx| example(&format!("s{idx:02}"), "pgd")).collect();
        assert_eq!(chosen(&all, &[]).len(), MOST);
        assert!(chosen(&[], &[]).is_empty());
    }
}
