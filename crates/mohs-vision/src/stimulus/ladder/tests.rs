//! Ladders keep their promises: steps grow, masks go along, and what is not honest is left out.

use super::*;
use crate::world::draw;

/// A red disc on a green and blue floor, with its mask.
fn disc(centre: (f32, f32), radius: f32) -> (Rgb8, Mask) {
    const SIDE: u32 = 128;
    let (mut bytes, mut bits) = (Vec::new(), Vec::new());
    for y in 0..SIDE {
        for x in 0..SIDE {
            let is_object = (x as f32 - centre.0).hypot(y as f32 - centre.1) < radius;
            let floor = if (x / 8 + y / 8) % 2 == 0 { [40, 140, 60] } else { [50, 90, 150] };
            bytes.extend(if is_object { [210, 40, 30] } else { floor });
            bits.push(is_object);
        }
    }
    let mask = Mask::from_bitmap(SIDE, SIDE, &bits).unwrap();
    (Rgb8::new(SIDE, SIDE, bytes).unwrap(), mask)
}

fn photo(centre: (f32, f32), radius: f32) -> Photo {
    let (picture, mask) = disc(centre, radius);
    Photo::take_apart(&picture, &mask, 512).unwrap()
}

fn ladder(photo: &Photo, attribute: Attribute) -> Vec<Rung> {
    Step::all().map(|step| rung(photo, attribute, step, 3, "disc").unwrap()).collect()
}

#[test]
fn nine_steps_are_three_levels_and_grow() {
    let levels: Vec<&str> = Step::all().map(|step| step.level().name()).collect();
    assert_eq!(levels[..4], ["easy", "easy", "easy", "medium"]);
    assert_eq!(levels[8], "hard");
    let strengths: Vec<f64> = Step::all().map(Step::strength).collect();
    assert!(strengths.windows(2).all(|pair| pair[0] < pair[1]));
    assert!((strengths[0] - 0.12).abs() < 1e-12 && (strengths[8] - 1.0).abs() < 1e-12);
}

#[test]
fn every_attribute_grows_from_step_to_step_and_changes_the_picture() {
    let photo = photo((64.0, 64.0), 28.0);
    for attribute in PHOTO_ATTRIBUTES {
        let rungs = ladder(&photo, attribute);
        let amounts: Vec<f64> = rungs.iter().map(|rung| rung.amount).collect();
        let grows = |pair: &[f64]| match attribute {
            Attribute::Size => pair[1] < pair[0],
            // Leaves are laid one by one, and easy steps stay inside the frame.
            Attribute::Occlusion | Attribute::Position => pair[0] <= pair[1] + 0.02,
            _ => pair[0] < pair[1],
        };
        assert!(amounts.windows(2).all(grows), "{attribute}: {amounts:?}");
        assert!(rungs.windows(2).all(|pair| pair[0].pixels != pair[1].pixels), "{attribute}");
        assert!(rungs.iter().all(|rung| 0 < rung.mask.area()), "{attribute}");
    }
}

#[test]
fn masks_go_where_the_object_goes() {
    let photo = photo((64.0, 64.0), 28.0);
    let is_red = |rung: &Rung, at: usize| {
        let pixel = &rung.pixels.bytes()[at * 3..at * 3 + 3];
        120 < pixel[0] && pixel[1] < 90 && pixel[2] < 90
    };
    for attribute in
        [Attribute::Position, Attribute::Size, Attribute::Rotation, Attribute::Viewpoint]
    {
        for rung in ladder(&photo, attribute) {
            let bits = rung.mask.to_bitmap();
            let n_red = (0..bits.len()).filter(|at| is_red(&rung, *at)).count();
            let n_both = (0..bits.len()).filter(|at| bits[*at] && is_red(&rung, *at)).count();
            let n_mask = bits.iter().filter(|bit| **bit).count();
            let overlap = n_both as f64 / (n_red + n_mask - n_both) as f64;
            assert!(0.75 < overlap, "{attribute} {}: {overlap}", rung.amount);
        }
    }
}

#[test]
fn shares_are_what_they_say() {
    let photo = photo((64.0, 64.0), 28.0);
    let whole = photo.cover.values.iter().filter(|cover| 0.5 <= **cover).count() as f64;
    for attribute in [Attribute::Position, Attribute::Occlusion] {
        for rung in ladder(&photo, attribute) {
            let seen = rung.mask.area() as f64 / whole;
            assert!((1.0 - seen - rung.amount).abs() < 0.06, "{attribute}: {} {seen}", rung.amount);
        }
    }
}

#[test]
fn the_place_of_the_object_is_filled_with_background() {
    let photo = photo((64.0, 64.0), 28.0);
    let background = photo.background();
    let n_red = background.bytes().chunks_exact(3).filter(|p| 120 < p[0] && p[1] < 90).count();
    assert_eq!(n_red, 0);
}

#[test]
fn an_object_that_the_frame_cuts_off_is_not_turned_and_only_moves_further_out() {
    let photo = photo((10.0, 64.0), 28.0);
    let of = |attribute| rung(&photo, attribute, Step(9), 3, "disc").map(|rung| rung.mask);
    assert_eq!(of(Attribute::Rotation).unwrap_err(), Unfit::CutOff);
    assert_eq!(of(Attribute::Viewpoint).unwrap_err(), Unfit::CutOff);
    assert_eq!(of(Attribute::Texture).unwrap_err(), Unfit::NotForPhotos);
    // What is left of it still touches the side that cut it off.
    for attribute in [Attribute::Position, Attribute::Size] {
        let mask = of(attribute).unwrap();
        let bits = mask.to_bitmap();
        assert!(bits.chunks(128).any(|row| row[0] || row[1]), "{attribute}");
    }
}

#[test]
fn a_small_object_is_not_shrunk_and_hardly_any_or_nothing_else_is_refused() {
    let small = photo((64.0, 64.0), 12.0);
    let found = rung(&small, Attribute::Size, Step(1), 3, "disc").map(|rung| rung.amount);
    assert!(matches!(found, Err(Unfit::Small(_))), "{found:?}");
    let refused = |radius: f32| {
        let (picture, mask) = disc((64.0, 64.0), radius);
        Photo::take_apart(&picture, &mask, 512).err()
    };
    assert!(matches!(refused(2.0), Some(PhotoError::TooSmall(_))));
    assert!(matches!(refused(200.0), Some(PhotoError::TooLarge(100))));
    let (picture, _) = disc((64.0, 64.0), 20.0);
    let other = Mask::from_bitmap(2, 2, &[true; 4]).unwrap();
    let error = Photo::take_apart(&picture, &other, 512).err();
    assert!(matches!(error, Some(PhotoError::OtherSize { .. })));
}

#[test]
fn the_same_seed_gives_the_same_picture_and_another_name_another() {
    let photo = photo((64.0, 64.0), 28.0);
    let made = |name: &str| rung(&photo, Attribute::Lighting, Step(8), 3, name).unwrap().pixels;
    assert_eq!(made("a"), made("a"));
    let names = ["a", "b", "c", "d", "e", "f"];
    assert!(names.iter().any(|name| made(name) != made("a")));
}

#[test]
fn a_scene_of_the_world_varies_in_nothing_but_its_step() {
    let mut plan = WorldPlan::new(4, 48, 0);
    plan.classes = vec![Class::Mug, Class::Bird];
    plan.attributes = vec![Attribute::Size, Attribute::Occlusion];
    let ladder = world_recipes(&plan, 2);
    assert_eq!(ladder.len(), 2 * 2 * 2 * Step::N);
    let sizes: Vec<f64> =
        ladder[..9].iter().map(|(recipe, _)| draw(recipe).share_of_frame).collect();
    assert!(sizes.windows(2).all(|pair| pair[1] < pair[0]), "{sizes:?}");
    assert!(ladder[..9].iter().all(|(recipe, _)| recipe.background == ladder[0].0.background));
    assert_eq!(ladder[0].0.id, "mug-size-01-1");
    let ids: std::collections::BTreeSet<&str> =
        ladder.iter().map(|(recipe, _)| recipe.id.as_str()).collect();
    assert_eq!(ids.len(), ladder.len());
}
