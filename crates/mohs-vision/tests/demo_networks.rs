//! The three networks that come with the program load in rten, and are about as good as their page
//! says: clearly better than guessing, and worse the harder the pictures are.

use mohs_data::Label;
use mohs_graph::Tensor;
use mohs_vision::engine::{Engine, EngineChoice, OpenOptions};
use mohs_vision::input;
use mohs_vision::networks::{DemoNetwork, demo_networks};
use mohs_vision::world::{Level, Picture, Recipe, WorldPlan, draw_all, recipes};

/// Held out from training and from the figures on the page.
const SEED: u64 = 3003;

/// How many of these pictures a network names rightly.
fn n_right(network: &DemoNetwork, engine: &Engine, pictures: &[(&Recipe, &Picture)]) -> usize {
    let mut numbers = Vec::new();
    for (_, picture) in pictures {
        numbers.extend(input::prepare(&picture.pixels, &network.spec));
    }
    let (width, height) = (network.spec.width as usize, network.spec.height as usize);
    let shape = vec![pictures.len(), 3, height, width];
    let batch = Tensor::f32(shape, numbers).expect("because pictures fit the network");
    let mut answers = network.network.open(engine).expect("because rten takes it");
    let logits = answers.answer(&batch).expect("because it runs");
    let rows = logits.as_f32().expect("because logits are f32").chunks(network.classes.len());
    let named = rows.map(|row| {
        let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
        &network.classes[best.expect("because there are classes")]
    });
    let is_right = |(label, (recipe, _)): (&Label, &(&Recipe, &Picture))| {
        label.as_str() == recipe.class.name()
    };
    named.zip(pictures).map(is_right).filter(|is_right| *is_right).count()
}

#[test]
fn the_networks_are_better_than_guessing_and_worse_on_hard_pictures() {
    let plan =
        WorldPlan { levels: vec![Level::Easy, Level::Hard], ..WorldPlan::new(SEED, 128, 160) };
    let recipes = recipes(&plan);
    let drawn = draw_all(&recipes);
    let options = OpenOptions { choice: EngineChoice::Rten, ..OpenOptions::default() };
    let engine = Engine::choose(&options).expect("because rten is always there");
    let at = |level: Level| -> Vec<(&Recipe, &Picture)> {
        recipes.iter().zip(&drawn).filter(|(recipe, _)| recipe.level == Some(level)).collect()
    };
    let (easy, hard) = (at(Level::Easy), at(Level::Hard));
    assert_eq!((easy.len(), hard.len()), (80, 80));
    for network in demo_networks() {
        let (n_easy, n_hard) =
            (n_right(&network, &engine, &easy), n_right(&network, &engine, &hard));
        // Guessing gives 5 of 80.
        assert!(20 < n_easy && n_hard < n_easy, "{}: {n_easy} and {n_hard} of 80", network.name);
    }
}

#[test]
fn the_networks_are_small_and_name_the_classes_of_the_world() {
    let networks = demo_networks();
    let names: Vec<&str> = networks.iter().map(|network| network.name).collect();
    assert_eq!(names, ["plain", "residual", "transformer"]);
    assert!(networks.iter().map(|network| network.bytes.len()).sum::<usize>() <= 1 << 20);
    for network in &networks {
        assert_eq!(network.classes.len(), 16);
        assert!(network.classes.is_sorted());
    }
}
