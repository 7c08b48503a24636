//! Simulated models on a ladder like the paper's: whose answers agree as much as models' do.
//!
//! # Model
//!
//! ```text
//! right  if  √v_class C + √v_cell B + √v_rest E  <  Φ⁻¹(accuracy of model, attribute, level)
//! each of C, B, E = √ρ (shared by all models) + √φ (by the family) + √(1 - ρ - φ) (the model's own),
//!                   all standard normal
//! ```
//!
//! Accuracies are those of the paper's Tables 5 to 7. `v_class = v_cell = 0.15` gives hierarchical
//! scores between 84 and 90 %, the range the paper reports; `ρ = 0.6` gives pairs of models a Cohen's
//! κ near 0.5. Two families can be told apart, models trained with texts (CLIP) and the others; in the
//! standard world `φ = 0` and they are not. The paper gives no answers to single pictures, so how answers depend on each other is
//! an assumption; the replay of real predictions has none.

use mohs_data::Seed;

use crate::adaptive::ladder::{Ladder, LadderError, Tags};
use crate::draw::Draw;
use crate::proportion::normal_quantile;

/// The paper's models, in the order of its Tables 5 to 7.
pub const MODELS: [&str; 6] = [
    "clip-resnet101",
    "resnet101",
    "clip-vit-b16",
    "vit-b16",
    "clip-convnext-base",
    "convnext-base",
];

/// The paper's levels.
pub const LEVELS: [&str; 3] = ["easy", "medium", "hard"];

/// Accuracy in per cent by attribute, level and model: the paper's Tables 5 to 7.
pub const ACCURACIES: [(&str, [[f64; 6]; 3]); 10] = [
    (
        "colour",
        [
            [58.89, 70.74, 83.33, 75.56, 84.07, 83.70],
            [50.37, 51.48, 78.89, 66.29, 69.63, 81.85],
            [29.26, 28.52, 48.52, 31.48, 37.04, 47.04],
        ],
    ),
    (
        "lighting",
        [
            [67.04, 67.04, 91.11, 77.41, 87.41, 82.59],
            [48.52, 47.78, 84.44, 55.93, 75.19, 80.37],
            [17.41, 13.70, 38.15, 22.22, 30.74, 45.19],
        ],
    ),
    (
        "occlusion",
        [
            [65.93, 76.67, 84.81, 80.00, 88.52, 86.67],
            [47.41, 57.78, 72.59, 62.96, 71.48, 80.00],
            [18.15, 22.22, 24.07, 30.00, 26.67, 44.07],
        ],
    ),
    (
        "position",
        [
            [97.78, 96.67, 100.00, 97.04, 99.26, 97.04],
            [67.41, 38.89, 93.70, 54.44, 91.11, 94.81],
            [50.74, 38.89, 77.41, 34.07, 68.15, 80.37],
        ],
    ),
    (
        "quality",
        [
            [69.26, 78.52, 89.26, 80.74, 87.41, 87.41],
            [43.70, 60.74, 78.89, 67.78, 75.19, 77.04],
            [24.81, 32.22, 55.93, 45.56, 43.33, 52.59],
        ],
    ),
    (
        "rotate",
        [
            [99.26, 96.67, 100.00, 97.78, 100.00, 99.26],
            [56.67, 44.44, 94.07, 69.63, 75.19, 96.30],
            [16.30, 14.44, 32.59, 24.81, 19.63, 62.59],
        ],
    ),
    (
        "size",
        [
            [98.52, 97.04, 100.00, 98.15, 100.00, 99.26],
            [62.22, 54.07, 81.85, 70.74, 85.19, 85.19],
            [4.81, 1.85, 3.70, 3.70, 1.85, 4.44],
        ],
    ),
    (
        "style",
        [
            [71.48, 68.89, 82.96, 78.52, 85.56, 82.22],
            [49.26, 35.19, 84.44, 56.67, 78.52, 66.29],
            [10.37, 6.67, 30.37, 11.85, 20.37, 21.48],
        ],
    ),
    (
        "texture",
        [
            [42.96, 56.67, 77.78, 67.04, 75.19, 75.19],
            [40.37, 49.26, 78.89, 57.41, 69.26, 68.52],
            [10.00, 14.44, 29.26, 20.74, 18.52, 22.22],
        ],
    ),
    (
        "viewpoint",
        [
            [63.70, 77.41, 86.67, 84.81, 84.44, 89.63],
            [44.07, 56.29, 80.74, 65.56, 67.78, 82.96],
            [16.67, 14.07, 29.63, 18.89, 28.51, 28.15],
        ],
    ),
];

/// How large the simulated ladder is and how models agree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct World {
    /// Classes; the paper has 100.
    pub n_classes: usize,
    /// Stimuli of each class, attribute and level; the paper has 12.
    pub n_per_stratum: usize,
    /// Share of the latent variance that all models share.
    pub shared: f64,
    /// Share of the latent variance that models of one family share beyond that.
    pub kinship: f64,
    /// Share of the latent variance that lies between classes.
    pub between_classes: f64,
    /// Share of the latent variance that lies between attributes of a class.
    pub between_cells: f64,
}

impl World {
    /// The paper's size, with models that agree as the paper's range of scores suggests.
    pub const PAPER: Self = Self {
        n_classes: 100,
        n_per_stratum: 12,
        shared: 0.6,
        kinship: 0.0,
        between_classes: 0.15,
        between_cells: 0.15,
    };

    /// Returns the stimuli: by attribute, class and level.
    pub fn ladder(&self) -> Result<Ladder, LadderError> {
        let mut tags = Vec::new();
        for (attribute, _) in &ACCURACIES {
            for class in 0..self.n_classes {
                for level in LEVELS {
                    let tag = Tags {
                        class: format!("{class:03}"),
                        attribute: Some((*attribute).to_owned()),
                        level: Some(level.to_owned()),
                    };
                    tags.extend(std::iter::repeat_n(tag, self.n_per_stratum));
                }
            }
        }
        Ladder::new(&tags, &[])
    }

    /// Draws which stimuli of [`World::ladder`] each model answers rightly.
    pub fn answers(&self, seed: Seed) -> Vec<Vec<bool>> {
        let own = |model: u64| Latent::draw(self, &mut Draw::new(seed, &[OWN, model]));
        let common = Latent::draw(self, &mut Draw::new(seed, &[SHARED]));
        // Models alternate between the two families.
        let families =
            [0, 1].map(|family| Latent::draw(self, &mut Draw::new(seed, &[FAMILY, family])));
        let of = |model: usize| {
            self.answers_of(model, [&common, &families[model % 2], &own(model as u64)])
        };
        (0..MODELS.len()).map(of).collect()
    }

    fn answers_of(&self, model: usize, [common, family, own]: [&Latent; 3]) -> Vec<bool> {
        let alone = (1.0 - self.shared - self.kinship).max(0.0);
        let parts = [self.shared, self.kinship, alone].map(f64::sqrt);
        let mix = |numbers: [f64; 3]| {
            parts.iter().zip(numbers).map(|(part, number)| part * number).sum::<f64>()
        };
        let rest = 1.0 - self.between_classes - self.between_cells;
        let mut answers = Vec::with_capacity(common.stimuli.len());
        for (attribute, (_, by_level)) in ACCURACIES.iter().enumerate() {
            let thresholds = by_level.map(|row| threshold(row[model] / 100.0));
            for class in 0..self.n_classes {
                let cell = attribute * self.n_classes + class;
                let easy = self.between_classes.sqrt()
                    * mix([common, family, own].map(|latent| latent.classes[class]))
                    + self.between_cells.sqrt()
                        * mix([common, family, own].map(|latent| latent.cells[cell]));
                for threshold in thresholds {
                    for _ in 0..self.n_per_stratum {
                        let idx = answers.len();
                        let single = rest.sqrt()
                            * mix([common, family, own].map(|latent| latent.stimuli[idx]));
                        answers.push(easy + single < threshold);
                    }
                }
            }
        }
        answers
    }
}

/// Accuracies of exactly 1 have no threshold; the paper's have 270 pictures behind them.
fn threshold(accuracy: f64) -> f64 {
    normal_quantile(accuracy.clamp(0.001, 0.998))
}

const SHARED: u64 = 50;
const OWN: u64 = 51;
const FAMILY: u64 = 52;

struct Latent {
    classes: Vec<f64>,
    cells: Vec<f64>,
    stimuli: Vec<f64>,
}

impl Latent {
    fn draw(world: &World, draw: &mut Draw) -> Self {
        let n_cells = ACCURACIES.len() * world.n_classes;
        let mut normals = |n: usize| (0..n).map(|_| draw.normal()).collect::<Vec<f64>>();
        Self {
            classes: normals(world.n_classes),
            cells: normals(n_cells),
            stimuli: normals(n_cells * LEVELS.len() * world.n_per_stratum),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proportion::real;

    fn share(answers: &[bool]) -> f64 {
        real(answers.iter().filter(|is_right| **is_right).count()) / real(answers.len())
    }

    /// Each entry of the paper's tables is a share of 270, so a slip of the hand would show; the
    /// means it prints below them differ from the entries by up to 2.5 points and are no help.
    #[test]
    fn every_entry_is_a_share_of_270() {
        let mut n_entries = 0;
        for (name, rows) in &ACCURACIES {
            for entry in rows.iter().flatten() {
                let right = entry * 2.7;
                // Two decimals, one of them cut off instead of rounded.
                assert!((right - right.round()).abs() < 0.025, "{name} {entry}");
                n_entries += 1;
            }
        }
        assert_eq!(n_entries, 180);
        let mean: f64 =
            ACCURACIES.iter().flat_map(|(_, rows)| rows.iter().flatten()).sum::<f64>() / 180.0;
        assert!((mean - 59.8).abs() < 0.1, "{mean}");
    }

    #[test]
    fn simulated_models_are_as_good_as_the_papers() {
        let answers = World::PAPER.answers(Seed(1));
        for (model, answers) in answers.iter().enumerate() {
            let per_attribute = answers.len() / ACCURACIES.len();
            for (attribute, (name, rows)) in ACCURACIES.iter().enumerate() {
                let here = &answers[attribute * per_attribute..(attribute + 1) * per_attribute];
                let expected = rows.iter().map(|row| row[model]).sum::<f64>() / 300.0;
                let found = share(here);
                // Classes differ, so a set of 100 classes has a standard deviation of 2 points.
                assert!((found - expected).abs() < 0.08, "{name} {model} {found} {expected}");
            }
        }
    }

    /// Hierarchical scores in closed form, and Cohen's κ between models.
    #[test]
    fn scores_and_agreement_lie_where_the_papers_do() {
        let answers = World::PAPER.answers(Seed(2));
        let n = World::PAPER.n_per_stratum;
        for answers in &answers {
            let cells: Vec<f64> = answers
                .chunks(3 * n)
                .map(|cell| {
                    let (e, m, h) =
                        (share(&cell[..n]), share(&cell[n..2 * n]), share(&cell[2 * n..]));
                    e * m + e * (1.0 - m) * (1.0 - h) + (1.0 - e) * (1.0 - m) * (1.0 - h)
                })
                .collect();
            let score = cells.iter().sum::<f64>() / real(cells.len());
            assert!((0.83..0.91).contains(&score), "{score}");
        }
        let (a, b) = (&answers[3], &answers[5]);
        let same = real(a.iter().zip(b).filter(|(a, b)| a == b).count()) / real(a.len());
        let chance = share(a) * share(b) + (1.0 - share(a)) * (1.0 - share(b));
        let kappa = (same - chance) / (1.0 - chance);
        assert!((0.4..0.6).contains(&kappa), "{kappa}");
    }
}
