//! The stimuli of a ladder: their classes, attributes and levels, and the strata they fall into.
//!
//! Levels are ordered: numbers by size, `easy`, `medium`, `hard`, or an order that is given. It
//! refuses stimuli without a level, because a ladder without rungs is none.

use std::collections::{BTreeMap, BTreeSet};

use super::test::Width;
use crate::human::bradley_terry::level_values;
use crate::proportion::real;

/// What is known of one stimulus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tags {
    /// What it shows.
    pub class: String,
    /// What varies in it; stimuli without one share an attribute without a name.
    pub attribute: Option<String>,
    /// How strongly it varies.
    pub level: Option<String>,
}

/// Where a stimulus stands: positions in the lists of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its attribute.
    pub attribute_idx: usize,
    /// Its class.
    pub class_idx: usize,
    /// Its level.
    pub level_idx: usize,
}

/// By what stimuli are put together before some of each are drawn.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum StrataBy {
    /// Class, attribute and level.
    ClassAttributeLevel,
    /// Attribute and level.
    AttributeLevel,
    /// Level alone.
    Level,
}

impl StrataBy {
    /// From the finest to the coarsest.
    pub const ALL: [Self; 3] = [Self::ClassAttributeLevel, Self::AttributeLevel, Self::Level];

    /// Returns the words for it.
    pub fn words(self) -> &'static str {
        match self {
            Self::ClassAttributeLevel => "class, attribute and level",
            Self::AttributeLevel => "attribute and level",
            Self::Level => "level",
        }
    }

    /// The coarsest key that stimuli of one stratum share.
    fn key(self, place: Place) -> Place {
        match self {
            Self::ClassAttributeLevel => place,
            Self::AttributeLevel => Place { class_idx: 0, ..place },
            Self::Level => Place { class_idx: 0, attribute_idx: 0, ..place },
        }
    }
}

/// Stimuli that some are drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stratum {
    /// What its stimuli share; positions they do not share are 0.
    pub place: Place,
    /// Positions of its stimuli, ascending. Not empty.
    pub stimuli: Vec<usize>,
}

/// A ladder that cannot be climbed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LadderError {
    /// There is nothing to ask.
    #[error("there are no stimuli")]
    NoStimuli,
    /// Stimuli without a level.
    #[error("{n} of {n_stimuli} stimuli have no level, the first is number {}", first + 1)]
    NoLevel {
        /// How many.
        n: usize,
        /// Of how many.
        n_stimuli: usize,
        /// Position of the first.
        first: usize,
    },
    /// Levels nobody knows the order of.
    #[error("nobody knows the order of the levels {}", found.join(", "))]
    NoOrder {
        /// The levels.
        found: Vec<String>,
    },
    /// More groups of levels than levels.
    #[error("{n_levels} levels cannot be put into {found} groups")]
    TooManyGroups {
        /// How many groups were asked for.
        found: usize,
        /// How many levels there are.
        n_levels: usize,
    },
    /// A weight for each level is needed.
    #[error("there should be {expected} weights, one per level and none negative, found {found}")]
    Weights {
        /// How many levels there are.
        expected: usize,
        /// What was given.
        found: String,
    },
    /// A budget that is no share.
    #[error("the budget should be a share above 0 and at most 1, found {found}")]
    Budget {
        /// What was given.
        found: f64,
    },
    /// A budget that buys nothing.
    #[error(
        "a budget of {n_asked} of {n_stimuli} stimuli is too small; at least {at_least} are needed"
    )]
    TooFew {
        /// How many may be asked.
        n_asked: usize,
        /// How many there are.
        n_stimuli: usize,
        /// How many are needed.
        at_least: usize,
    },
    /// A width nobody can want.
    #[error("the width should be between 0 and 1, found {found}")]
    Width {
        /// What was given.
        found: f64,
    },
    /// Widths of attributes without strata of attributes.
    #[error("stimuli are drawn by level alone, so that no attribute's interval can be watched")]
    WidthOfNoAttribute,
    /// Fewer stimuli than the design asks.
    #[error("{what} has {found} stimuli, but the design may ask {expected}")]
    FewerThanAsked {
        /// The class, attribute and level.
        what: String,
        /// How many may be asked.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The paper's design needs three levels.
    #[error("the design `gre` needs {expected} levels, found {found}")]
    OtherLevels {
        /// How many its table has.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// The paper's design looks at classes one by one.
    #[error("the design `gre` needs strata of class, attribute and level")]
    CoarseStrata,
    /// A number in the table of the paper's design is a slip.
    #[error("`{field}` of the table of the design `gre` should be {expected}, found {found}")]
    BadRouting {
        /// Where it stands.
        field: String,
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The table of the paper's design leaves a score out.
    #[error("the table of the design `gre` has no row for a score of {score}")]
    NoRow {
        /// The score.
        score: usize,
    },
    /// The estimator needs what the design does not give.
    #[error("the estimator `{estimator}` does not fit the design `{design}`")]
    Misfit {
        /// The estimator.
        estimator: &'static str,
        /// The design.
        design: String,
    },
}

/// The share of right answers, or the weighted score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every stimulus counts alike.
    Accuracy,
    /// Levels count by their weights, e.g. 1, 2 and 4; right answers to all give 1.
    Score,
}

/// Some strata, and how much each counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What is estimated of it.
    pub kind: Kind,
    /// Strata with their weights, ascending; weights sum to 1.
    pub strata: Vec<(usize, f64)>,
}

/// Stimuli with classes, attributes and levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    classes: Vec<String>,
    attributes: Vec<Option<String>>,
    levels: Vec<String>,
    weights: Vec<f64>,
    places: Vec<Place>,
    strata_by: StrataBy,
    strata: Vec<Stratum>,
}

impl Ladder {
    /// Puts stimuli into strata of class, attribute and level.
    ///
    /// `order` names the levels from easy to hard where they are neither numbers nor `easy`,
    /// `medium`, `hard`. Weights are 1, 2, 4 … at first.
    pub fn new(tags: &[Tags], order: &[String]) -> Result<Self, LadderError> {
        if tags.is_empty() {
            return Err(LadderError::NoStimuli);
        }
        let without = || tags.iter().enumerate().filter(|(_, tags)| tags.level.is_none());
        if let Some((first, _)) = without().next() {
            let n = without().count();
            return Err(LadderError::NoLevel { n, n_stimuli: tags.len(), first });
        }
        let names: BTreeSet<&str> = tags.iter().filter_map(|tags| tags.level.as_deref()).collect();
        let values = level_values(names.iter().copied(), order).ok_or_else(|| {
            LadderError::NoOrder { found: names.iter().map(|name| (*name).to_owned()).collect() }
        })?;
        let mut levels: Vec<&str> = names.into_iter().collect();
        levels.sort_by(|a, b| values[a].total_cmp(&values[b]).then(a.cmp(b)));
        let place_of = |names: &[&str]| -> BTreeMap<String, usize> {
            names.iter().enumerate().map(|(idx, name)| ((*name).to_owned(), idx)).collect()
        };
        let level_idx = place_of(&levels);
        let classes: BTreeSet<&str> = tags.iter().map(|tags| tags.class.as_str()).collect();
        let classes: Vec<&str> = classes.into_iter().collect();
        let class_idx = place_of(&classes);
        let attributes: BTreeSet<&Option<String>> =
            tags.iter().map(|tags| &tags.attribute).collect();
        let attributes: Vec<Option<String>> = attributes.into_iter().cloned().collect();
        let places: Vec<Place> = tags
            .iter()
            .map(|tags| Place {
                attribute_idx: attributes.binary_search(&tags.attribute).unwrap_or(0),
                class_idx: class_idx[&tags.class],
                level_idx: tags.level.as_ref().map_or(0, |level| level_idx[level]),
            })
            .collect();
        let levels: Vec<String> = levels.into_iter().map(str::to_owned).collect();
        let mut ladder = Self {
            classes: classes.into_iter().map(str::to_owned).collect(),
            attributes,
            weights: doubling(levels.len()),
            levels,
            places,
            strata_by: StrataBy::ClassAttributeLevel,
            strata: Vec::new(),
        };
        ladder.stratify(StrataBy::ClassAttributeLevel);
        Ok(ladder)
    }

    /// Puts neighbouring levels together until there are `n_groups`, as nearly equal in the
    /// number of levels as can be, the larger ones at the ends; weights start again at 1, 2, 4 …
    pub fn with_level_groups(mut self, n_groups: usize) -> Result<Self, LadderError> {
        let n_levels = self.levels.len();
        if n_groups == 0 || n_levels < n_groups {
            return Err(LadderError::TooManyGroups { found: n_groups, n_levels });
        }
        // Rounding to the nearest puts 8 levels into 3, 2 and 3.
        let end = |group: usize| (2 * group * n_levels + n_groups) / (2 * n_groups);
        let group_of = |level: usize| (1..=n_groups).take_while(|g| end(*g) <= level).count();
        for place in &mut self.places {
            place.level_idx = group_of(place.level_idx);
        }
        self.levels = (0..n_groups)
            .map(|group| {
                let names = &self.levels[end(group)..end(group + 1)];
                match names {
                    [only] => only.clone(),
                    [first, .., last] => format!("{first} to {last}"),
                    [] => String::new(),
                }
            })
            .collect();
        self.weights = doubling(n_groups);
        self.stratify(self.strata_by);
        Ok(self)
    }

    /// Weighs the levels for the score, from easy to hard.
    pub fn with_weights(mut self, weights: &[f64]) -> Result<Self, LadderError> {
        let sum: f64 = weights.iter().sum();
        let are_sound = weights.iter().all(|weight| 0.0 <= *weight) && sum.is_finite() && 0.0 < sum;
        if weights.len() != self.levels.len() || !are_sound {
            let found = weights.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
            return Err(LadderError::Weights { expected: self.levels.len(), found });
        }
        self.weights = weights.iter().map(|weight| weight / sum).collect();
        Ok(self)
    }

    /// Puts stimuli into other strata.
    #[must_use]
    pub fn with_strata(mut self, strata_by: StrataBy) -> Self {
        self.stratify(strata_by);
        self
    }

    /// Puts stimuli into the finest strata of which `n_asked` questions can ask `least` each.
    pub fn with_finest_strata(self, n_asked: usize, least: usize) -> Result<Self, LadderError> {
        let mut ladder = self;
        for strata_by in StrataBy::ALL {
            ladder = ladder.with_strata(strata_by);
            if ladder.n_at_least(least) <= n_asked {
                return Ok(ladder);
            }
        }
        let (at_least, n_stimuli) = (ladder.n_at_least(least), ladder.n_stimuli());
        Err(LadderError::TooFew { n_asked, n_stimuli, at_least })
    }

    /// The same for a budget of a test, which asks two of each. A wide interval needs few questions,
    /// and strata so fine that they alone ask for more would waste the rest.
    pub fn with_strata_for(self, budget: f64, width: Option<Width>) -> Result<Self, LadderError> {
        let n_asked = super::test::n_asked(&self, budget)?;
        let (n_attributes, n_stimuli) = (self.attributes().len(), self.n_stimuli());
        let mut n_needed = width.map_or(n_asked, |width| width.n_plain(n_attributes, n_stimuli));
        if width.is_some_and(|width| width.by_attribute) {
            let by_attribute = self.clone().with_strata(StrataBy::AttributeLevel);
            n_needed = n_needed.max(by_attribute.n_at_least(super::test::LEAST));
        }
        let coarse = self.clone().with_finest_strata(n_needed.min(n_asked), super::test::LEAST);
        coarse.or_else(|_| self.with_finest_strata(n_asked, super::test::LEAST))
    }

    /// Returns how many questions ask `least` stimuli of every stratum, or all it has.
    pub(super) fn n_at_least(&self, least: usize) -> usize {
        self.strata.iter().map(|stratum| least.min(stratum.stimuli.len())).sum()
    }

    fn stratify(&mut self, strata_by: StrataBy) {
        let mut by_place: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
        for (idx, place) in self.places.iter().enumerate() {
            by_place.entry(strata_by.key(*place)).or_default().push(idx);
        }
        self.strata_by = strata_by;
        self.strata =
            by_place.into_iter().map(|(place, stimuli)| Stratum { place, stimuli }).collect();
    }

    /// Names of the classes, sorted.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Names of the attributes, sorted.
    pub fn attributes(&self) -> &[Option<String>] {
        &self.attributes
    }

    /// Names of the levels, from easy to hard.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// Weights of the levels in the score; they sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Where each stimulus stands.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// By what the strata are made.
    pub fn strata_by(&self) -> StrataBy {
        self.strata_by
    }

    /// The strata, sorted by attribute, class and level.
    pub fn strata(&self) -> &[Stratum] {
        &self.strata
    }

    /// How many stimuli there are.
    pub fn n_stimuli(&self) -> usize {
        self.places.len()
    }

    /// Returns the strata that are chosen as a group; `None` if there are none.
    pub fn group(&self, kind: Kind, is_in: impl Fn(&Place) -> bool) -> Option<Group> {
        let members: Vec<usize> =
            (0..self.strata.len()).filter(|idx| is_in(&self.strata[*idx].place)).collect();
        let mut n_by_level = vec![0; self.levels.len()];
        for idx in &members {
            let stratum = &self.strata[*idx];
            n_by_level[stratum.place.level_idx] += stratum.stimuli.len();
        }
        let n: usize = n_by_level.iter().sum();
        let is_there = |level: &usize| 0 < n_by_level[*level];
        let weight_there: f64 =
            (0..self.levels.len()).filter(is_there).map(|level| self.weights[level]).sum();
        if n == 0 || (kind == Kind::Score && weight_there <= 0.0) {
            return None;
        }
        let weight = |idx: usize| {
            let stratum = &self.strata[idx];
            let level = stratum.place.level_idx;
            let n_here = real(stratum.stimuli.len());
            match kind {
                Kind::Accuracy => n_here / real(n),
                Kind::Score => {
                    self.weights[level] / weight_there * n_here / real(n_by_level[level])
                }
            }
        };
        let strata = members.into_iter().map(|idx| (idx, weight(idx))).collect();
        Some(Group { kind, strata })
    }

    /// Returns what a stratum is called, for messages.
    pub(super) fn name_of(&self, place: Place) -> String {
        let class = (self.strata_by == StrataBy::ClassAttributeLevel)
            .then(|| format!("class `{}`", self.classes[place.class_idx]));
        let attribute = (self.strata_by != StrataBy::Level)
            .then(|| self.attributes[place.attribute_idx].as_ref())
            .flatten()
            .map(|name| format!("attribute `{name}`"));
        let level = Some(format!("level `{}`", self.levels[place.level_idx]));
        [class, attribute, level].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// 1, 2, 4 … divided by their sum.
fn doubling(n: usize) -> Vec<f64> {
    let weights: Vec<f64> =
        std::iter::successors(Some(1.0), |last| Some(last * 2.0)).take(n).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(class: &str, attribute: &str, level: &str) -> Tags {
        Tags {
            class: class.into(),
            attribute: Some(attribute.into()),
            level: (!level.is_empty()).then(|| level.into()),
        }
    }

    fn small() -> Ladder {
        let all = [
            tags("mug", "size", "hard"),
            tags("mug", "size", "easy"),
            tags("dog", "size", "easy"),
            tags("dog", "size", "easy"),
            tags("dog", "size", "medium"),
        ];
        Ladder::new(&all, &[]).unwrap()
    }

    #[test]
    fn levels_are_ordered_and_weigh_one_two_four() {
        let ladder = small();
        assert_eq!(ladder.levels(), ["easy", "medium", "hard"]);
        assert_eq!(ladder.weights(), [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0]);
        let sizes: Vec<usize> = ladder.strata().iter().map(|s| s.stimuli.len()).collect();
        assert_eq!(sizes, [2, 1, 1, 1]);
    }

    #[test]
    fn accuracy_weighs_stimuli_and_score_weighs_levels() {
        let ladder = small();
        let weights = |kind| -> Vec<f64> {
            ladder.group(kind, |_| true).unwrap().strata.iter().map(|(_, w)| *w).collect()
        };
        assert_eq!(weights(Kind::Accuracy), [0.4, 0.2, 0.2, 0.2]);
        let expected = [2.0 / 21.0, 2.0 / 7.0, 1.0 / 21.0, 4.0 / 7.0];
        for (found, expected) in weights(Kind::Score).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn a_score_without_a_level_weighs_the_others() {
        let ladder = small();
        let dog = ladder.group(Kind::Score, |place| place.class_idx == 0).unwrap();
        let sum: f64 = dog.strata.iter().map(|(_, weight)| weight).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert!((dog.strata[1].1 - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn eight_levels_become_three_groups() {
        let noise = ["0", "0.03", "0.05", "0.1", "0.2", "0.35", "0.6", "0.9"];
        let all: Vec<Tags> = noise.iter().map(|level| tags("dog", "noise", level)).collect();
        let ladder = Ladder::new(&all, &[]).unwrap().with_level_groups(3).unwrap();
        assert_eq!(ladder.levels(), ["0 to 0.05", "0.1 to 0.2", "0.35 to 0.9"]);
        assert_eq!(ladder.strata().len(), 3);
        let error = ladder.with_level_groups(9).unwrap_err();
        assert_eq!(error.to_string(), "3 levels cannot be put into 9 groups");
    }

    #[test]
    fn levels_must_be_there_and_in_an_order() {
        let error = |levels: &[&str]| {
            let all: Vec<Tags> = levels.iter().map(|level| tags("dog", "size", level)).collect();
            Ladder::new(&all, &[]).unwrap_err().to_string()
        };
        assert_eq!(error(&[]), "there are no stimuli");
        assert_eq!(error(&["easy", ""]), "1 of 2 stimuli have no level, the first is number 2");
        assert_eq!(error(&["red", "blue"]), "nobody knows the order of the levels blue, red");
    }

    #[test]
    fn weights_are_one_per_level() {
        let error = small().with_weights(&[1.0, -1.0, 2.0]).unwrap_err().to_string();
        assert!(error.ends_with("found 1, -1, 2"), "{error}");
        assert!(small().with_weights(&[1.0]).is_err());
    }
}
