//! Validity of the levels: do people find the harder levels harder?
//!
//! Difficulty comes from paired judgements (`bradley_terry`), which say nothing across components:
//! pairs of stimuli count only where a chain of comparisons joins them. The share of pairs in order
//! is the concordance of level and difficulty, Kendall's τ-b the same on a scale from -1 to 1 with a
//! correction for ties. Intervals draw people anew. Stimuli that people judged and no model was shown
//! count, too, by their tag.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{Caveat, Caveats, Comparison, Seed, Stimulus, StimulusId};

use super::ladder::Ladder;
use super::{ComponentValidity, LadderError, LevelValidity, Options};
use crate::human::bradley_terry::{self, ComponentFinding};
use crate::model::table::Table;

/// Returns what comparisons say about the levels; `None` without comparisons, or when no component
/// has two levels.
pub(super) fn of_levels(
    comparisons: &[Comparison],
    table: &Table<'_>,
    ladder: &Ladder<'_>,
    stimuli: &[Stimulus],
    options: &Options,
    seed: Seed,
    caveats: &mut Caveats,
) -> Result<Option<LevelValidity>, LadderError> {
    if comparisons.is_empty() {
        return Ok(None);
    }
    let level_by_id: BTreeMap<&StimulusId, &String> = ladder
        .rungs
        .iter()
        .map(|rung| (table.stimuli[rung.stimulus_idx].id, &ladder.levels[rung.level_idx]))
        .collect();
    let level = |stimulus: &Stimulus| {
        let shown = level_by_id.get(&stimulus.id).map(|level| (*level).clone());
        shown.or_else(|| Some(ladder.levels[ladder.level_of(stimulus)?].clone()))
    };
    let judged: BTreeSet<&StimulusId> =
        comparisons.iter().flat_map(|row| [&row.left, &row.right]).collect();
    let levelled: Vec<Stimulus> = stimuli
        .iter()
        .filter(|stimulus| judged.contains(&stimulus.id))
        .map(|stimulus| Stimulus { level: level(stimulus), ..stimulus.clone() })
        .collect();
    let scored = bradley_terry::score(&bradley_terry::Input {
        comparisons,
        stimuli: &levelled,
        options: &bradley_terry::Options {
            levels: ladder.levels.clone(),
            confidence: options.confidence,
            n_resamples: options.n_resamples,
            ..bradley_terry::Options::default()
        },
        seed,
    })?;
    for caveat in scored.caveats.iter() {
        caveats.add(caveat.clone());
    }
    let Some(levels) = scored.levels.filter(|levels| levels.in_order.is_some()) else {
        caveats.add(Caveat::LevelsNotJudged);
        return Ok(None);
    };
    let component = |found: ComponentFinding| ComponentValidity {
        name: found.name.unwrap_or_else(|| format!("group {}", found.number)),
        n_stimuli: found.n_stimuli,
        kendall: found.kendall,
    };
    Ok(Some(LevelValidity {
        n_judgements: scored.n_judgements,
        n_participants: scored.n_participants,
        n_stimuli: levelled.iter().filter(|stimulus| stimulus.level.is_some()).count(),
        n_components: scored.components.len(),
        levels: levels.levels,
        in_order: levels.in_order,
        pairs: levels.pairs,
        within: levels.within,
        overall: levels.overall,
        components: scored.components.into_iter().map(component).collect(),
    }))
}
