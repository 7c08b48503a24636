//! Ladders keep their promises: steps grow, masks go along, and what is not honest is left out.

use super::*;
use crate::world::canvas::whole;
use crate::world::{draw, draw_all};

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
            // Leaves are laid one by one.
            Attribute::Occlusion => pair[0] <= pair[1] + 0.02,
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
        for (rung, outside) in ladder(&photo, attribute).iter().zip(position::OUTSIDE) {
            let seen = rung.mask.area() as f64 / whole;
            let hidden = match attribute {
                Attribute::Position => f64::from(outside),
                _ => rung.amount,
            };
            assert!((1.0 - seen - hidden).abs() < 0.06, "{attribute}: {hidden} {seen}");
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
fn a_smaller_object_keeps_its_foot_and_one_cut_off_at_the_top_is_left_out() {
    // The lowest row of the object, and whether it still touches the left side.
    let foot = |rung: &Rung| {
        let bits = rung.mask.to_bitmap();
        let lowest = bits.iter().rposition(|bit| *bit).unwrap() / 128;
        (lowest, bits.chunks(128).any(|row| row[0] || row[1]))
    };
    for (centre, is_at_side) in [((70.0, 60.0), false), ((64.0, 112.0), false), ((8.0, 70.0), true)]
    {
        let photo = photo(centre, 28.0);
        let first = whole(photo.bounds.bottom) - 1;
        for rung in ladder(&photo, Attribute::Size) {
            let (lowest, touches) = foot(&rung);
            assert!(lowest.abs_diff(first) <= 1, "{centre:?}: row {lowest}, was {first}");
            assert_eq!(touches, is_at_side, "{centre:?} {}", rung.amount);
        }
    }
    for centre in [(64.0, 20.0), (8.0, 20.0), (120.0, 20.0)] {
        let found = rung(&photo(centre, 28.0), Attribute::Size, Step(1), 3, "disc");
        assert_eq!(found.map(|rung| rung.amount).unwrap_err(), Unfit::CutAbove, "{centre:?}");
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

#[test]
fn a_scene_of_the_world_is_the_same_whatever_else_is_drawn() {
    let all = world_recipes(&WorldPlan::new(4, 48, 0), 3);
    let mut plan = WorldPlan::new(4, 48, 0);
    plan.classes = vec![Class::Mug];
    plan.attributes = vec![Attribute::Colour, Attribute::Size];
    for part in world_recipes(&plan, 2) {
        assert!(all.contains(&part), "{}", part.0.id);
    }
    let seeds: std::collections::BTreeSet<u64> = all.iter().map(|(part, _)| part.seed).collect();
    assert_eq!(seeds.len() * Step::N, all.len());
    plan.seed = 5;
    let other = world_recipes(&plan, 1);
    assert!(all.iter().all(|(part, _)| part.seed != other[0].0.seed));
}

#[test]
fn no_two_steps_of_a_series_of_the_world_are_the_same_picture() {
    let mut plan = WorldPlan::new(4, 64, 0);
    plan.classes = vec![Class::Key, Class::Bird];
    let ladder = world_recipes(&plan, 1);
    let recipes: Vec<Recipe> = ladder.into_iter().map(|(recipe, _)| recipe).collect();
    let pictures = draw_all(&recipes);
    for (recipes, pictures) in recipes.chunks(Step::N).zip(pictures.chunks(Step::N)) {
        for (idx, picture) in pictures.iter().enumerate() {
            let same = pictures[..idx].iter().position(|other| other.pixels == picture.pixels);
            assert_eq!(same, None, "{}", recipes[idx].id);
        }
    }
}

/// The share of pixels away from the object, and away from its shadow, that differ between the first
/// and the ninth step.
fn share_that_differs(series: &[(Recipe, Step)]) -> f64 {
    let (first, last) = (draw(&series[0].0), draw(&series[8].0));
    let (width, height) = (first.mask.width(), first.mask.height());
    let is_near = |x: u32, y: u32| {
        const SHADOW: u32 = 10;
        let (left, right) = (x.saturating_sub(SHADOW), (x + SHADOW).min(width - 1));
        let (top, bottom) = (y.saturating_sub(SHADOW), (y + SHADOW).min(height - 1));
        let masks = [&first.whole_mask, &last.whole_mask];
        (top..=bottom).any(|y| (left..=right).any(|x| masks.iter().any(|mask| mask.is_set(x, y))))
    };
    let (mut n_away, mut n_other) = (0, 0);
    for at in (0..width * height).filter(|at| !is_near(at % width, at / width)) {
        let pixel = |picture: &Rgb8| picture.bytes()[at as usize * 3..][..3].to_vec();
        n_away += 1;
        n_other += usize::from(pixel(&first.pixels) != pixel(&last.pixels));
    }
    f64::from(u32::try_from(n_other).unwrap()) / f64::from(n_away.max(1))
}

#[test]
fn nothing_but_the_object_changes_over_a_series_of_the_world() {
    let mut plan = WorldPlan::new(4, 64, 0);
    plan.classes = vec![Class::Mug, Class::Key, Class::Chair];
    plan.attributes =
        vec![Attribute::Size, Attribute::Position, Attribute::Rotation, Attribute::Viewpoint];
    for series in world_recipes(&plan, 3).chunks(Step::N) {
        let share = share_that_differs(series);
        assert!(share <= 0.0, "{}: {share}", series[0].0.id);
    }
}

/// A disc of one colour, with a little shading, on a floor of another.
fn painted(object: [u8; 3], floor: [u8; 3]) -> Photo {
    const SIDE: u32 = 96;
    let (mut bytes, mut bits) = (Vec::new(), Vec::new());
    for y in 0..SIDE {
        for x in 0..SIDE {
            let is_object = (x as f32 - 48.0).hypot(y as f32 - 48.0) < 26.0;
            let shade = u8::try_from((x + y) % 12).unwrap();
            let colour = if is_object { object } else { floor };
            bytes.extend(colour.map(|channel| channel.saturating_add(shade)));
            bits.push(is_object);
        }
    }
    let mask = Mask::from_bitmap(SIDE, SIDE, &bits).unwrap();
    Photo::take_apart(&Rgb8::new(SIDE, SIDE, bytes).unwrap(), &mask, 512).unwrap()
}

#[test]
fn colours_depart_further_at_every_step_whatever_they_were() {
    let floors = [[128, 128, 128], [200, 190, 170], [20, 90, 30]];
    let objects = [[0, 0, 0], [12, 10, 14], [240, 240, 240], [128, 128, 128], [200, 60, 30]];
    for (object, floor) in objects.iter().flat_map(|o| floors.iter().map(move |f| (*o, *f))) {
        let photo = painted(object, floor);
        let before = photo.original();
        let change = |rung: &Rung| {
            let bits = rung.mask.to_bitmap();
            let pairs = rung.pixels.bytes().iter().zip(before.bytes()).enumerate();
            let own = pairs.filter(|(i, _)| bits[i / 3]);
            let steps = own.map(|(_, (a, b))| f64::from(a.abs_diff(*b)));
            steps.sum::<f64>() / (3.0 * rung.mask.area() as f64)
        };
        let rungs = ladder(&photo, Attribute::Colour);
        let changes: Vec<f64> = rungs.iter().map(change).collect();
        let grows = |values: &[f64]| values.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(grows(&changes), "{object:?} on {floor:?}: {changes:?}");
        assert!(2.0 < changes[0] && 15.0 < changes[5], "{object:?} on {floor:?}: {changes:?}");
        let amounts: Vec<f64> = rungs.iter().map(|rung| rung.amount).collect();
        assert!(grows(&amounts), "{object:?}: {amounts:?}");
    }
}

#[test]
fn things_go_sideways_or_down_but_not_up() {
    let photo = photo((64.0, 64.0), 28.0);
    let top = |rung: &Rung| rung.mask.to_bitmap().iter().position(|bit| *bit).unwrap() / 128;
    let first = top(&rung(&photo, Attribute::Lighting, Step(1), 0, "disc").unwrap());
    let mut n_sideways = 0;
    for seed in 0..12 {
        let moved = top(&rung(&photo, Attribute::Position, Step(3), seed, "disc").unwrap());
        assert!(first <= moved + 1, "seed {seed}: from row {first} to {moved}");
        n_sideways += usize::from(moved <= first + 1);
    }
    assert!(6 <= n_sideways, "{n_sideways}");
}

#[test]
fn a_thin_object_is_not_shrunk_to_a_line() {
    let (width, height) = (240_usize, 240_usize);
    let is_object =
        |at: usize| (115..125).contains(&(at % width)) && (40..200).contains(&(at / width));
    let bits: Vec<bool> = (0..width * height).map(is_object).collect();
    let bytes = bits.iter().flat_map(|bit| if *bit { [200, 30, 30] } else { [90, 120, 200] });
    let picture = Rgb8::new(240, 240, bytes.collect()).unwrap();
    let mask = Mask::from_bitmap(240, 240, &bits).unwrap();
    let photo = Photo::take_apart(&picture, &mask, 512).unwrap();
    let found = rung(&photo, Attribute::Size, Step(1), 3, "pole").map(|rung| rung.amount);
    assert_eq!(found.unwrap_err(), Unfit::Tiny(2, 28));
}

#[test]
fn what_hides_most_of_the_frame_is_not_taken_away() {
    let photo = photo((64.0, 64.0), 60.0);
    for attribute in PHOTO_ATTRIBUTES {
        let found = rung(&photo, attribute, Step(5), 3, "disc").map(|rung| rung.amount);
        let is_left_out = matches!(found, Err(Unfit::MostlyHole(_)));
        assert_eq!(is_left_out, shows_background(attribute), "{attribute}: {found:?}");
    }
}

#[test]
fn steps_that_come_out_as_one_picture_take_the_series_with_them() {
    let (mut n_made, mut n_same) = (0, 0);
    for seed in 0..12 {
        // So small that one leaf more or less is all there is.
        let photo = photo((64.0, 64.0), 5.0);
        match rungs(&photo, Attribute::Occlusion, seed, "dot") {
            Ok(rungs) => {
                n_made += 1;
                for pair in rungs.windows(2) {
                    assert_ne!(pair[0].1.pixels, pair[1].1.pixels, "seed {seed}");
                }
            }
            Err(Unfit::SameSteps(first, second)) => {
                n_same += 1;
                assert!(first < second, "seed {seed}");
            }
            Err(Unfit::Gone) => {}
            Err(other) => panic!("seed {seed}: {other}"),
        }
    }
    assert!(0 < n_same, "{n_made} made");
}

#[test]
fn the_amount_of_a_position_grows_inside_the_frame_too() {
    let rungs = ladder(&photo((64.0, 64.0), 20.0), Attribute::Position);
    let amounts: Vec<f64> = rungs.iter().map(|rung| rung.amount).collect();
    assert!(0.0 < amounts[0], "{amounts:?}");
    assert!(amounts.windows(2).all(|pair| pair[0] < pair[1]), "{amounts:?}");
}
