//! Decides what each picture of a set shows, before anything is drawn.
//!
//! A plan is turned into one recipe per picture. Classes differ in count by at most one; with
//! `classes × attributes × levels` pictures every combination comes up exactly once.

use super::attribute::{Attribute, Level, Strengths};
use super::background::Background;
use super::class::Class;
use super::dice::{Aspect, Dice};
use super::picture::{LARGEST_SIDE, SMALLEST_SIDE};

/// Which kind of variation the pictures of a set have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    /// None: benign pictures.
    Plain,
    /// Exactly one attribute, at one level.
    OneAttribute,
    /// Two to four attributes at random strengths.
    Free,
}

/// A set of pictures to be drawn.
#[derive(Clone, Debug)]
pub struct WorldPlan {
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// Side of the square pictures in pixels, 32 to 1024.
    pub size: u32,
    /// How many pictures.
    pub n_pictures: usize,
    /// Probability that a picture has the typical background of its class; otherwise it has one of
    /// the fifteen others.
    pub cue_rate: f64,
    /// Which kind of variation.
    pub variation: Variation,
    /// Which classes; must not be empty.
    pub classes: Vec<Class>,
    /// Which attributes are varied; must not be empty.
    pub attributes: Vec<Attribute>,
    /// Which levels; must not be empty.
    pub levels: Vec<Level>,
}

impl WorldPlan {
    /// Returns a plan over all classes, attributes and levels, with a cue that holds 7 times in 10.
    pub fn new(seed: u64, size: u32, n_pictures: usize) -> Self {
        Self {
            seed,
            size,
            n_pictures,
            cue_rate: 0.7,
            variation: Variation::OneAttribute,
            classes: Class::ALL.to_vec(),
            attributes: Attribute::ALL.to_vec(),
            levels: Level::ALL.to_vec(),
        }
    }
}

/// Everything needed to draw one picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Names the picture, as in `mug-occlusion-hard-0003`.
    pub id: String,
    /// Seed of the world.
    pub seed: u64,
    /// Number of the picture in its set; with the seed it fixes everything left to chance.
    pub picture_idx: u64,
    /// Side of the picture in pixels.
    pub size: u32,
    /// What is shown.
    pub class: Class,
    /// Where it is shown.
    pub background: Background,
    /// The varied attribute; `None` for plain and free pictures.
    pub attribute: Option<Attribute>,
    /// The level of the varied attribute; `None` for plain and free pictures.
    pub level: Option<Level>,
    /// How strongly each attribute is varied.
    pub strengths: Strengths,
    /// Which coat of paint the object wears. Another coat changes its colours and nothing else.
    pub coat: u64,
    /// At which other strengths the object has to be clear of the small things that lie about,
    /// so that these stay where they are over a series. Empty for a picture of its own.
    pub clear_at: Vec<Strengths>,
}

impl Recipe {
    /// Returns whether the background is the one the class is usually found on.
    pub fn is_typical(&self) -> bool {
        self.background == self.class.typical_background()
    }

    /// Returns a guess in `[0, 1]` of how hard the picture is for people.
    ///
    /// It is the joint strength of the attributes; an untypical background adds a little.
    pub fn strength(&self) -> f64 {
        const UNTYPICAL: f64 = 0.04;
        let untypical = if self.is_typical() { 0.0 } else { UNTYPICAL };
        1.0 - (1.0 - self.strengths.together()) * (1.0 - untypical)
    }
}

/// Returns one recipe per picture of a plan, in order.
///
/// The number of pictures per class differs by at most one, and so does the number per combination
/// of attribute and level.
pub fn recipes(plan: &WorldPlan) -> Vec<Recipe> {
    if plan.classes.is_empty() || plan.attributes.is_empty() || plan.levels.is_empty() {
        return Vec::new();
    }
    (0..plan.n_pictures).map(|picture_idx| recipe(plan, picture_idx)).collect()
}

fn recipe(plan: &WorldPlan, picture_idx: usize) -> Recipe {
    let n_classes = plan.classes.len();
    let n_combinations = plan.attributes.len() * plan.levels.len();
    let class = plan.classes[picture_idx % n_classes];
    // Walking both lists at once meets only some pairs when their lengths share a factor; the shift
    // after each full walk meets the others.
    let walk = least_common_multiple(n_classes, n_combinations);
    let combination = (picture_idx + picture_idx / walk) % n_combinations;
    let attribute = plan.attributes[combination / plan.levels.len()];
    let level = plan.levels[combination % plan.levels.len()];

    let mut dice = Dice::new(plan.seed, picture_idx as u64, Aspect::Plan);
    let is_typical = f64::from(dice.unit()) < plan.cue_rate;
    let others: Vec<Background> = Background::ALL
        .into_iter()
        .filter(|background| *background != class.typical_background())
        .collect();
    let other = dice.pick(&others);
    let background = if is_typical { class.typical_background() } else { other };
    let share = f64::from(dice.unit());
    let (attribute, level, strengths, kind) = match plan.variation {
        Variation::Plain => (None, None, Strengths::default(), "plain".to_owned()),
        Variation::Free => (None, None, Strengths::free(&mut dice), "free".to_owned()),
        Variation::OneAttribute => {
            let (low, high) = level.strengths();
            let strengths = Strengths::only(attribute, low + (high - low) * share);
            (Some(attribute), Some(level), strengths, format!("{attribute}-{level}"))
        }
    };
    Recipe {
        id: format!("{class}-{kind}-{picture_idx:04}"),
        seed: plan.seed,
        picture_idx: picture_idx as u64,
        size: plan.size.clamp(SMALLEST_SIDE, LARGEST_SIDE),
        class,
        background,
        attribute,
        level,
        strengths,
        coat: 0,
        clear_at: Vec::new(),
    }
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn counts<K: Ord>(keys: impl Iterator<Item = K>) -> (usize, usize, usize) {
        let mut n_by_key: BTreeMap<K, usize> = BTreeMap::new();
        for key in keys {
            *n_by_key.entry(key).or_default() += 1;
        }
        let fewest = n_by_key.values().min().copied().unwrap_or(0);
        let most = n_by_key.values().max().copied().unwrap_or(0);
        (n_by_key.len(), fewest, most)
    }

    #[test]
    fn a_full_set_has_every_combination_once() {
        let recipes = recipes(&WorldPlan::new(1, 64, 480));
        assert_eq!(counts(recipes.iter().map(|r| (r.class, r.attribute, r.level))), (480, 1, 1));
    }

    #[test]
    fn half_a_set_is_balanced_in_each_direction() {
        let recipes = recipes(&WorldPlan::new(1, 64, 240));
        assert_eq!(counts(recipes.iter().map(|r| r.class)), (16, 15, 15));
        assert_eq!(counts(recipes.iter().map(|r| r.attribute)), (10, 24, 24));
        assert_eq!(counts(recipes.iter().map(|r| r.level)), (3, 80, 80));
        assert_eq!(counts(recipes.iter().map(|r| (r.class, r.attribute))).0, 160);
    }

    #[test]
    fn a_part_of_the_world_is_balanced_too() {
        let mut plan = WorldPlan::new(1, 64, 4 * 2 * 3);
        plan.classes.truncate(4);
        plan.attributes.truncate(2);
        let recipes = recipes(&plan);
        assert_eq!(counts(recipes.iter().map(|r| (r.class, r.attribute, r.level))), (24, 1, 1));
    }

    #[test]
    fn a_cue_that_always_holds_gives_typical_backgrounds_only() {
        let plan = WorldPlan { cue_rate: 1.0, ..WorldPlan::new(3, 64, 200) };
        assert!(recipes(&plan).iter().all(Recipe::is_typical));
    }

    #[test]
    fn a_cue_that_never_holds_gives_no_typical_background() {
        let plan = WorldPlan { cue_rate: 0.0, ..WorldPlan::new(3, 64, 200) };
        assert!(!recipes(&plan).iter().any(Recipe::is_typical));
    }

    #[test]
    fn a_cue_of_one_half_holds_about_half_the_time() {
        let plan = WorldPlan { cue_rate: 0.5, ..WorldPlan::new(3, 64, 1_000) };
        let n_typical = recipes(&plan).iter().filter(|recipe| recipe.is_typical()).count();
        assert!((440..560).contains(&n_typical), "{n_typical} of 1000");
    }

    #[test]
    fn ids_are_unique_and_say_what_is_shown() {
        let recipes = recipes(&WorldPlan::new(1, 64, 960));
        assert_eq!(counts(recipes.iter().map(|r| &r.id)), (960, 1, 1));
        assert_eq!(recipes[0].id, "bicycle-position-easy-0000");
    }

    #[test]
    fn a_plain_recipe_varies_nothing() {
        let plan = WorldPlan { variation: Variation::Plain, ..WorldPlan::new(1, 64, 16) };
        for recipe in recipes(&plan) {
            assert_eq!(recipe.strengths, Strengths::default());
            assert!(recipe.strength() < 0.05);
        }
    }

    #[test]
    fn a_free_recipe_varies_several_attributes() {
        let plan = WorldPlan { variation: Variation::Free, ..WorldPlan::new(1, 64, 64) };
        let n_varied = |recipe: &Recipe| recipe.strengths.each().filter(|(_, s)| *s > 0.0).count();
        assert!(recipes(&plan).iter().all(|recipe| (1..=4).contains(&n_varied(recipe))));
        assert!(recipes(&plan).iter().any(|recipe| n_varied(recipe) >= 3));
    }
}
