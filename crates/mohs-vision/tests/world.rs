//! The promises of the built-in world, checked on drawn pictures.

use mohs_vision::world::{
    Attribute, Class, Level, Picture, Recipe, Strengths, Variation, WorldPlan, draw, draw_all,
    recipes,
};

fn plain(size: u32, n_pictures: usize) -> Vec<Recipe> {
    let plan = WorldPlan { variation: Variation::Plain, ..WorldPlan::new(5, size, n_pictures) };
    recipes(&plan)
}

fn at_level(recipe: &Recipe, attribute: Attribute, level: Level) -> Picture {
    let (low, high) = level.strengths();
    let strengths = Strengths::only(attribute, (low + high) / 2.0);
    draw(&Recipe { strengths, ..recipe.clone() })
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let recipes = recipes(&WorldPlan::new(9, 64, 20));
    assert_eq!(draw_all(&recipes), draw_all(&recipes));
    let first = draw(&recipes[3]);
    assert_eq!(first.pixels.to_png(), draw(&recipes[3]).pixels.to_png());
}

#[test]
fn another_seed_gives_another_picture() {
    let one = recipes(&WorldPlan::new(1, 48, 1));
    let two = recipes(&WorldPlan::new(2, 48, 1));
    assert_ne!(draw(&one[0]).pixels, draw(&two[0]).pixels);
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let recipes = recipes(&WorldPlan::new(4, 48, 24));
    let drawn_on = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| draw_all(&recipes))
    };
    assert_eq!(drawn_on(1), drawn_on(3));
}

#[test]
fn a_picture_does_not_depend_on_how_many_there_are() {
    let few = recipes(&WorldPlan::new(4, 48, 3));
    let many = recipes(&WorldPlan::new(4, 48, 300));
    assert_eq!(few, many[..3]);
}

#[test]
fn the_box_is_the_smallest_around_the_mask() {
    for picture in draw_all(&recipes(&WorldPlan::new(6, 40, 60))) {
        let b = picture.bounding_box;
        let inside = |x: u32, y: u32| {
            (b.left..b.left + b.width).contains(&x) && (b.top..b.top + b.height).contains(&y)
        };
        let mut touched = [false; 4];
        for y in 0..picture.mask.height() {
            for x in 0..picture.mask.width() {
                if picture.mask.is_set(x, y) {
                    assert!(inside(x, y), "a set pixel at {x}, {y} outside {b:?}");
                    touched[0] |= x == b.left;
                    touched[1] |= y == b.top;
                    touched[2] |= x + 1 == b.left + b.width;
                    touched[3] |= y + 1 == b.top + b.height;
                }
            }
        }
        assert_eq!(touched, [true; 4], "{b:?}");
    }
}

#[test]
fn every_class_attribute_and_level_shows_some_of_its_object() {
    for (size, least) in [(32, 1), (64, 8)] {
        let n_pictures = if size == 32 { 480 } else { 48 };
        let recipes = recipes(&WorldPlan::new(8, size, n_pictures));
        for (recipe, picture) in recipes.iter().zip(draw_all(&recipes)) {
            assert!(picture.mask.n_set() >= least, "{} at {size}", recipe.id);
            assert!(picture.whole_mask.n_set() >= picture.mask.n_set(), "{} at {size}", recipe.id);
        }
    }
}

#[test]
fn harder_occlusion_hides_more() {
    for recipe in plain(48, 24) {
        let hidden =
            Level::ALL.map(|level| at_level(&recipe, Attribute::Occlusion, level).share_occluded);
        for (share, wanted) in hidden.into_iter().zip([0.2, 0.45, 0.73]) {
            assert!((share - wanted).abs() < 0.1, "{}: {hidden:?}", recipe.id);
        }
        assert!(draw(&recipe).share_occluded < 1e-9);
    }
}

#[test]
fn harder_size_is_smaller() {
    for recipe in plain(64, 16) {
        let side = |picture: &Picture| picture.bounding_box.width.max(picture.bounding_box.height);
        let sides = Level::ALL.map(|level| side(&at_level(&recipe, Attribute::Size, level)));
        assert!(side(&draw(&recipe)) > sides[0], "{}: {sides:?}", recipe.id);
        assert!(sides[0] > sides[1] && sides[1] > sides[2], "{}: {sides:?}", recipe.id);
    }
}

#[test]
fn harder_position_cuts_more_off() {
    for recipe in plain(40, 16) {
        let out = Level::ALL
            .map(|level| at_level(&recipe, Attribute::Position, level).share_out_of_frame);
        assert!(out[0] < 0.12 && out[0] < out[1] && out[1] < out[2], "{}: {out:?}", recipe.id);
        assert!(out[2] < 0.85, "{}: {out:?}", recipe.id);
    }
}

#[test]
fn a_harder_viewpoint_narrows_the_object() {
    for recipe in plain(40, 16) {
        let [easy, _, hard] =
            Level::ALL.map(|level| at_level(&recipe, Attribute::Viewpoint, level).share_of_frame);
        assert!(hard < 0.95 * easy, "{}: {easy} to {hard}", recipe.id);
    }
}

#[test]
fn all_common_sizes_can_be_drawn() {
    for size in [32, 64, 128, 224, 513] {
        for recipe in plain(size, 2) {
            let picture = draw(&recipe);
            assert_eq!((picture.pixels.width(), picture.pixels.height()), (size, size));
            assert_eq!((picture.mask.width(), picture.mask.height()), (size, size));
        }
    }
}

#[test]
fn a_size_out_of_range_is_brought_into_it() {
    assert_eq!(plain(3, 1)[0].size, 32);
    assert_eq!(plain(9_999, 1)[0].size, 1024);
}

#[test]
fn the_mask_says_where_the_object_is() {
    // A new coat of paint may change only pixels the mask holds, or neighbours of such pixels.
    for recipe in plain(64, 16) {
        let before = draw(&recipe);
        let after = draw(&Recipe { coat: 77, ..recipe.clone() });
        assert_eq!(before.mask, after.mask, "{}", recipe.id);
        let mut n_changed_inside = 0;
        for y in 0..64_u32 {
            for x in 0..64_u32 {
                if before.pixels.pixel(x, y) == after.pixels.pixel(x, y) {
                    continue;
                }
                let is_near = (y.saturating_sub(2)..=y + 2)
                    .any(|ny| (x.saturating_sub(2)..=x + 2).any(|nx| before.mask.is_set(nx, ny)));
                assert!(is_near, "{}: {x}, {y} changed far from the mask", recipe.id);
                n_changed_inside += usize::from(before.mask.is_set(x, y));
            }
        }
        // Tyres and chrome are the same under every coat.
        assert!(n_changed_inside * 20 > before.mask.n_set(), "{}", recipe.id);
    }
}

#[test]
fn no_two_pictures_of_a_class_are_alike() {
    let plan = WorldPlan {
        variation: Variation::Plain,
        classes: vec![Class::Mug],
        cue_rate: 1.0,
        ..WorldPlan::new(5, 48, 12)
    };
    let pictures = draw_all(&recipes(&plan));
    for (i, one) in pictures.iter().enumerate() {
        assert!(pictures[i + 1..].iter().all(|other| other.mask != one.mask));
    }
}
