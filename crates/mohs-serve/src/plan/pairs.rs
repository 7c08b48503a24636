//! Paired judgements: which two stimuli are compared, and whose turn it is.
//!
//! The design is made from the study's seed. Within each group every stimulus gets its pairs; link
//! pairs join groups, so that all stimuli can be put on one scale. A design that falls apart is
//! refused before anybody is asked. Of a stimulus with several conditions, the first is compared.
//! There is no practice; pictures come back within a session, pairs do not.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::{PairsDesign, PairsWithin, Prepared, Seed};
use mohs_score::draw::Draw;
use mohs_score::human::bradley_terry::network::{Pair, Tally};
use mohs_score::human::bradley_terry::{self, PRIOR_SD, Prior, Ties};

use super::{Asked, Plan, Shown};
use crate::hosted::{Hosted, LaunchError};
use crate::store::cell::{self, CellRow};
use crate::store::connection::Connection;
use crate::store::{StoreError, result};

/// Which two are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairDesign {
    /// Positions of prepared stimuli, the smaller first.
    pub pairs: Vec<(usize, usize)>,
}

const PAIRS: u64 = 4;

/// Makes the design; refuses one whose stimuli are not all joined by chains of pairs.
pub fn design(
    prepared: &[Prepared],
    design: &PairsDesign,
    seed: u64,
) -> Result<PairDesign, LaunchError> {
    let mut items: BTreeMap<&str, usize> = BTreeMap::new();
    for (idx, row) in prepared.iter().enumerate() {
        items.entry(row.stimulus.as_str()).or_insert(idx);
    }
    let items: Vec<usize> = items.into_values().collect();
    let mut groups: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for idx in &items {
        let row = &prepared[*idx];
        let key = match design.within {
            PairsWithin::All => ("", ""),
            PairsWithin::Label => (row.label.as_str(), ""),
            PairsWithin::Attribute => {
                (row.label.as_str(), row.attribute.as_deref().unwrap_or_default())
            }
        };
        groups.entry(key).or_default().push(*idx);
    }
    let mut draw = Draw::new(Seed(seed), &[PAIRS]);
    let mut pairs = BTreeSet::new();
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    for group in &mut groups {
        draw.shuffle(group);
        let levels = |a: usize, b: usize| {
            design.within != PairsWithin::Attribute
                || prepared[a].level.is_none()
                || prepared[a].level != prepared[b].level
        };
        pair_within(group, design.pairs_per_stimulus, levels, &mut pairs);
    }
    draw.shuffle(&mut groups);
    link(&groups, design.links_per_group, &mut draw, &mut pairs);
    let n_components = n_components(&items, &pairs);
    if 1 < n_components {
        return Err(LaunchError::Disconnected { n_components });
    }
    Ok(PairDesign { pairs: pairs.into_iter().collect() })
}

fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

/// Pairs each of a group with its next neighbours on a ring, further out where a pair is not
/// allowed. A ring of allowed neighbours is connected.
fn pair_within(
    group: &[usize],
    n_each: usize,
    is_allowed: impl Fn(usize, usize) -> bool,
    pairs: &mut BTreeSet<(usize, usize)>,
) {
    let n = group.len();
    let mut n_of = vec![0_usize; n];
    for step in 1..=n / 2 {
        for at in 0..n {
            let other = (at + step) % n;
            let wants = n_of[at] < n_each || n_of[other] < n_each;
            let pair = ordered(group[at], group[other]);
            if at != other && wants && is_allowed(group[at], group[other]) && pairs.insert(pair) {
                n_of[at] += 1;
                n_of[other] += 1;
            }
        }
    }
}

/// Joins each group to the next ones on a ring of groups.
fn link(
    groups: &[Vec<usize>],
    n_each: usize,
    draw: &mut Draw,
    pairs: &mut BTreeSet<(usize, usize)>,
) {
    if groups.len() < 2 {
        return;
    }
    for (at, group) in groups.iter().enumerate() {
        for link in 0..n_each {
            let step = 1 + link % (groups.len() - 1);
            let other = &groups[(at + step) % groups.len()];
            let pair = ordered(group[draw.below(group.len())], other[draw.below(other.len())]);
            pairs.insert(pair);
        }
    }
}

/// Returns into how many parts the stimuli fall that no pair joins.
pub fn n_components(items: &[usize], pairs: &BTreeSet<(usize, usize)>) -> usize {
    let mut parent: BTreeMap<usize, usize> = items.iter().map(|item| (*item, *item)).collect();
    fn root(parent: &mut BTreeMap<usize, usize>, mut item: usize) -> usize {
        while parent[&item] != item {
            let above = parent[&parent[&item]];
            parent.insert(item, above);
            item = above;
        }
        item
    }
    let mut n_components = items.len();
    for (a, b) in pairs {
        let (a, b) = (root(&mut parent, *a), root(&mut parent, *b));
        if a != b {
            parent.insert(a, b);
            n_components -= 1;
        }
    }
    n_components
}

pub(super) fn next_block<'a>(
    tx: &mut dyn Connection,
    asked: &Asked<'a>,
) -> Result<Plan<'a>, StoreError> {
    let hosted = asked.hosted;
    let n = hosted.study.page.trials_between_breaks.min(asked.n_wanted());
    let judged: BTreeSet<i64> = asked.given.iter().filter_map(|given| given.cell).collect();
    let rows = if hosted.study.pairs.adaptive {
        most_telling(tx, hosted)?
    } else {
        cell::least_filled(tx, &hosted.name, 0, 4 * n + judged.len() + asked.seen_elsewhere.len())?
    };
    let mut shown: Vec<Shown<'a>> = rows
        .iter()
        .filter(|row| !judged.contains(&row.cell))
        .filter_map(|row| shown(hosted, row))
        .filter(|shown| {
            let right = shown.right.map(|right| &right.source);
            let is_seen = |source: &String| asked.seen_elsewhere.contains(source);
            !is_seen(&shown.stimulus.source) && !right.is_some_and(is_seen)
        })
        .take(n)
        .collect();
    asked.draw().shuffle(&mut shown);
    Ok(Plan { shown, ..Plan::default() })
}

/// Puts a pair on its sides, which take turns.
fn shown<'a>(hosted: &'a Hosted, row: &CellRow) -> Option<Shown<'a>> {
    let first = hosted.find(&row.stimulus, row.condition.as_deref())?;
    let second = hosted.pair_partner(row.right_stimulus.as_deref()?)?;
    let is_flipped = (row.fill() + row.tie) % 2 == 1;
    let (left, right) = if is_flipped { (second, first) } else { (first, second) };
    Some(Shown { cell: Some(row.cell), stimulus: left, right: Some(right), exposure: None })
}

/// Returns pairs with room, those first whose outcome is least certain and least known.
fn most_telling(tx: &mut dyn Connection, hosted: &Hosted) -> Result<Vec<CellRow>, StoreError> {
    let rows = cell::all(tx, &hosted.name)?;
    let mut position: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        for id in std::iter::once(row.stimulus.as_str()).chain(row.right_stimulus.as_deref()) {
            let next = position.len();
            position.entry(id).or_insert(next);
        }
    }
    let mut tallies: BTreeMap<(usize, usize), Tally> = BTreeMap::new();
    for (left, right, answer) in result::judgements(tx, &hosted.name)? {
        let ids = (position.get(left.as_str()), position.get(right.as_str()));
        let (Some(left), Some(right)) = ids else { continue };
        let tally = tallies.entry(ordered(*left, *right)).or_default();
        match answer.as_str() {
            "tie" => tally.tied += 1.0,
            "left" if left < right => tally.first += 1.0,
            "right" if right < left => tally.first += 1.0,
            _ => tally.second += 1.0,
        }
    }
    let pairs: Vec<Pair> = tallies
        .into_iter()
        .map(|((first, second), tally)| Pair { first, second, is_sided: false, tally })
        .collect();
    let fit =
        bradley_terry::fit(position.len(), &pairs, Ties::Half, Prior::Always { sd: PRIOR_SD });
    let difficulty = fit.map_or_else(|_| vec![0.0; position.len()], |fit| fit.difficulty);
    let telling = |row: &CellRow| {
        let of = |id: &str| position.get(id).map_or(0.0, |at| difficulty[*at]);
        let gap = of(&row.stimulus) - of(row.right_stimulus.as_deref().unwrap_or_default());
        let p = 1.0 / (1.0 + (-gap).exp());
        #[expect(clippy::cast_precision_loss, reason = "judgements are few")]
        let fill = row.fill() as f64;
        p * (1.0 - p) / (1.0 + fill)
    };
    let mut ranked: Vec<(f64, i64, &CellRow)> =
        rows.iter().filter(|row| row.is_open()).map(|row| (telling(row), row.tie, row)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(ranked.into_iter().map(|(_, _, row)| row.clone()).collect())
}

#[cfg(test)]
mod tests {
    use mohs_data::{Extra, Label, StimulusId};

    use super::*;

    fn prepared(n: usize, n_labels: usize) -> Vec<Prepared> {
        (0..n)
            .map(|idx| Prepared {
                stimulus: StimulusId::new(format!("s{idx:03}")),
                label: Label::new(format!("label-{}", idx % n_labels)),
                condition: None,
                image: String::new(),
                mask: None,
                source: idx.to_string(),
                attribute: Some(["size", "light"][idx / n_labels % 2].into()),
                level: Some(["easy", "hard"][idx / n_labels / 2 % 2].into()),
                side_px: 8,
                flashes: None,
                extra: Extra::default(),
            })
            .collect()
    }

    #[test]
    fn every_stimulus_gets_its_pairs_and_all_are_joined() {
        for within in [PairsWithin::All, PairsWithin::Label, PairsWithin::Attribute] {
            let rows = prepared(96, 8);
            let wanted = PairsDesign { within, pairs_per_stimulus: 4, ..PairsDesign::default() };
            let design = design(&rows, &wanted, 1).unwrap();
            let mut n_of = vec![0; rows.len()];
            for (a, b) in &design.pairs {
                n_of[*a] += 1;
                n_of[*b] += 1;
            }
            let least = n_of.iter().min().unwrap();
            assert!(3 <= *least, "{within:?} {least}");
        }
    }

    #[test]
    fn groups_without_links_are_refused_with_their_number() {
        let wanted = PairsDesign { links_per_group: 0, ..PairsDesign::default() };
        let error = design(&prepared(96, 8), &wanted, 1).unwrap_err();
        assert!(matches!(error, LaunchError::Disconnected { n_components: 8 }));
    }

    #[test]
    fn levels_of_an_attribute_are_compared_with_each_other_only() {
        let rows = prepared(96, 8);
        let within = PairsWithin::Attribute;
        let wanted = PairsDesign { within, links_per_group: 3, ..PairsDesign::default() };
        let design = design(&rows, &wanted, 1).unwrap();
        let same = |a: &Prepared, b: &Prepared| a.label == b.label && a.attribute == b.attribute;
        let inside = design.pairs.iter().map(|(a, b)| (&rows[*a], &rows[*b]));
        assert!(inside.filter(|(a, b)| same(a, b)).all(|(a, b)| a.level != b.level));
    }
}
