//! `mohs ladder build`: from the world and from photos with masks; stopped runs go on.

use mohs_vision::masks::{self, ObjectPixels};
use mohs_vision::pixels;
use mohs_vision::world::{Variation, WorldPlan, draw, recipes};

use crate::mohs::Place;

#[test]
fn a_ladder_of_the_world_has_nine_steps_and_is_drawn_once() {
    let place = Place::new();
    let args = [
        "ladder",
        "build",
        "world",
        "rungs",
        "--scenes",
        "2",
        "--size",
        "48",
        "--classes",
        "mug,bird",
        "--attributes",
        "size,style",
    ];
    let ran = place.run(&args).ok();
    assert!(ran.stderr().contains("72 pictures, 72 of them new"), "{}", ran.all());
    let table = place.read("rungs/stimuli.csv");
    assert_eq!(table.lines().count(), 73);
    let header = table.lines().next().unwrap_or_default();
    assert!(header.contains("attribute,level") && header.contains("step,series"), "{header}");
    for (level, n) in [("easy", 24), ("medium", 24), ("hard", 24)] {
        assert_eq!(table.matches(&format!(",{level},")).count(), n);
    }
    for sheet in ["size", "style"] {
        assert!(
            100 < pixels::read(&place.path(&format!("rungs/contact/{sheet}.png"))).unwrap().width()
        );
    }
    let picture = place.bytes("rungs/stimuli/mug-size-01-5.png");
    std::fs::remove_file(place.path("rungs/stimuli/mug-size-01-5.png")).unwrap();
    std::fs::remove_file(place.path("rungs/stimuli.csv")).unwrap();
    let again = place.run(&args).ok();
    assert!(again.stderr().contains("72 pictures, 9 of them new"), "{}", again.all());
    assert_eq!(place.bytes("rungs/stimuli/mug-size-01-5.png"), picture);
    assert_eq!(place.read("rungs/stimuli.csv"), table);
}

/// Pictures of the world with their masks, as somebody's photos.
fn photos(place: &Place) {
    let plan = WorldPlan { variation: Variation::Plain, ..WorldPlan::new(3, 96, 2) };
    let mut table = "stimulus,file,label,mask\n".to_owned();
    for (n, recipe) in recipes(&plan).iter().enumerate() {
        let picture = draw(recipe);
        place.write(&format!("{n}.png"), picture.pixels.to_png());
        place.write(&format!("{n}-mask.png"), picture.mask.to_rgb().to_png());
        table.push_str(&format!("photo {n},{n}.png,{},{n}-mask.png\n", recipe.class));
    }
    // An object that the frame cuts off.
    let grey = |object: u8, other: u8| {
        let bytes = (0..96 * 96).flat_map(|at| [if at % 96 < 40 { object } else { other }; 3]);
        pixels::Rgb8::new(96, 96, bytes.collect()).expect("because the sides fit").to_png()
    };
    place.write("wall.png", grey(200, 60));
    place.write("wall-mask.png", grey(255, 0));
    table.push_str("wall,wall.png,wall,wall-mask.png\n");
    place.write("photos.csv", table);
}

const PHOTOS: [&str; 6] = ["ladder", "build", "photos", "--stimuli", "photos.csv", "rungs"];

#[test]
fn a_ladder_of_photos_carries_masks_along_and_says_what_it_leaves_out() {
    let place = Place::new();
    photos(&place);
    let ran = place.run(&PHOTOS).ok();
    let left_out = place.read("rungs/left-out.csv");
    assert!(left_out.contains("wall,rotation,\"the frame cuts the object off"), "{left_out}");
    assert!(left_out.contains("wall,size,the object reaches from one side"), "{left_out}");
    let n_series = 3 * 8 - (left_out.lines().count() - 1);
    let table = place.read("rungs/stimuli.csv");
    assert_eq!(table.lines().count(), 1 + 9 * n_series, "{}", ran.all());
    let picture = pixels::read(&place.path("rungs/stimuli/photo_0-quality-9-")).is_err();
    assert!(picture, "names with a blank get digits");
    for line in table.lines().skip(1).step_by(7) {
        let cells: Vec<&str> = line.split(',').collect();
        let picture = pixels::read(&place.path(&format!("rungs/{}", cells[1]))).unwrap();
        let mask = masks::read(&place.path(&format!("rungs/{}", cells[5])), &ObjectPixels::NotZero)
            .unwrap();
        assert_eq!((picture.width(), picture.height()), (mask.width(), mask.height()));
        assert!(0 < mask.area(), "{line}");
    }
    let again = place.run(&PHOTOS).ok();
    assert!(again.stderr().contains(", 0 of them new"), "{}", again.all());
    assert_eq!(place.read("rungs/stimuli.csv"), table);
    assert_eq!(place.read("rungs/left-out.csv"), left_out);
}

#[test]
fn photos_without_masks_with_other_sizes_and_full_folders_are_refused() {
    let place = Place::new();
    photos(&place);
    place.write("bare.csv", "file,label\n0.png,mug\n");
    let ran = place.run(&["ladder", "build", "photos", "--stimuli", "bare.csv", "rungs"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("`0.png` has no mask"), "{}", ran.all());
    let small = pixels::Rgb8::new(4, 4, vec![255; 48]).unwrap().to_png();
    place.write("small.png", small);
    place.write("odd.csv", "file,label,mask\n0.png,mug,small.png\n");
    let ran = place.run(&["ladder", "build", "photos", "--stimuli", "odd.csv", "rungs"]);
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(ran.stderr().contains("should be as large as its picture, 96 × 96"), "{}", ran.all());
    let ran = place.run(&["ladder", "build", "world", "."]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr().contains("is not empty and no ladder"), "{}", ran.all());
}
