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

#[test]
fn a_part_of_a_world_draws_nothing_anew() {
    let place = Place::new();
    let build = |more: &[&str]| {
        let args = ["ladder", "build", "world", "rungs", "--size", "48"];
        place.run(&[&args[..], more].concat()).ok().stderr()
    };
    let said = build(&["--classes", "bird,mug", "--attributes", "style,size", "--scenes", "2"]);
    assert!(said.contains("72 pictures, 72 of them new"), "{said}");
    let picture = place.bytes("rungs/stimuli/mug-size-01-1.png");
    let said = build(&["--classes", "mug", "--attributes", "colour,size", "--scenes", "1"]);
    assert!(said.contains("18 pictures, 9 of them new"), "{said}");
    assert_eq!(place.bytes("rungs/stimuli/mug-size-01-1.png"), picture);
}

#[test]
fn pictures_that_are_others_now_are_drawn_again_and_asked_about_again() {
    let place = Place::new();
    let build = |seed: &str| {
        let args = ["ladder", "build", "world", "rungs", "--scenes", "1", "--size", "48"];
        let which = ["--classes", "mug", "--attributes", "size,size", "--seed", seed];
        place.run(&[&args[..], &which[..]].concat()).ok().stderr()
    };
    let said = build("1");
    assert!(said.contains("9 pictures, 9 of them new"), "an attribute counts once: {said}");
    let table = place.read("rungs/stimuli.csv");
    let first = place.bytes("rungs/stimuli/mug-size-01-5.png");
    place.write(
        "rungs/review.csv",
        "stimulus,verdict,reason,reviewed_at_ms,reviews_version\nmug-size-01-5,rejected,,7,1\n",
    );
    let said = build("1");
    assert!(said.contains("8 pictures, 0 of them new, 1 more are rejected"), "{said}");
    // Taken back before the picture is replaced, whatever ends the run.
    let args = ["ladder", "build", "world", "rungs", "--scenes", "1", "--size", "48"];
    let which = ["--classes", "mug", "--attributes", "size", "--seed", "3"];
    std::fs::remove_file(place.path("rungs/contact/size.png")).unwrap();
    std::fs::create_dir_all(place.path("rungs/contact/size.png/in the way")).unwrap();
    assert_ne!(place.run(&[&args[..], &which[..]].concat()).code(), 0);
    assert_ne!(place.bytes("rungs/stimuli/mug-size-01-5.png"), first);
    assert!(place.read("rungs/review.csv").contains("mug-size-01-5,undecided,"));
    std::fs::remove_dir_all(place.path("rungs/contact/size.png")).unwrap();
    place.write(
        "rungs/review.csv",
        "stimulus,verdict,reason,reviewed_at_ms,reviews_version\nmug-size-01-5,rejected,,7,1\n",
    );
    let said = build("2");
    assert!(said.contains("looked at and are others now: 1;"), "{said}");
    assert!(said.contains("9 pictures, 9 of them new"), "{said}");
    assert_ne!(place.bytes("rungs/stimuli/mug-size-01-5.png"), first);
    // The first seed's rows are still there, but its pictures are not.
    let said = build("1");
    assert!(said.contains("9 pictures, 9 of them new"), "{said}");
    assert!(!said.contains("others now"), "nothing is decided any more: {said}");
    assert_eq!(place.bytes("rungs/stimuli/mug-size-01-5.png"), first);
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

#[test]
fn attributes_that_photos_do_not_have_are_refused_with_a_list() {
    let place = Place::new();
    photos(&place);
    let args = [&PHOTOS[..], &["--attributes", "size,texture"]].concat();
    let ran = place.run(&args);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("photos are not changed in `texture`"), "{}", ran.all());
    assert!(ran.stderr().contains("position, viewpoint, quality"), "{}", ran.all());
    assert!(!place.path("rungs").exists());
}

#[test]
fn a_narrower_run_takes_away_what_it_no_longer_lists() {
    let place = Place::new();
    photos(&place);
    place.run(&[&PHOTOS[..], &["--attributes", "quality,lighting"]].concat()).ok();
    place.write("rungs/stimuli/own.png", "somebody's own file");
    let ran = place.run(&[&PHOTOS[..], &["--attributes", "lighting"]].concat()).ok();
    assert!(ran.stderr().contains("27 pictures of an earlier run"), "{}", ran.all());
    assert!(!ran.stderr().contains("left out"), "{}", ran.all());
    let names = |folder: &str| {
        let entries = std::fs::read_dir(place.path(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<String>>()
    };
    let is_other = |name: &&String| !name.contains("lighting");
    assert_eq!(names("rungs/stimuli").iter().filter(is_other).count(), 1);
    assert_eq!(names("rungs/stimuli").len(), 28);
    assert_eq!(names("rungs/masks").len(), 27);
    assert_eq!(names("rungs/contact"), ["lighting.png"]);
    let again = place.run(&[&PHOTOS[..], &["--attributes", "lighting"]].concat()).ok();
    assert!(again.stderr().contains("27 pictures, 0 of them new"), "{}", again.all());
    assert!(!again.stderr().contains("of an earlier run"), "{}", again.all());
}

#[test]
fn no_picture_is_taken_away_before_the_tables_are_without_it() {
    let place = Place::new();
    let build = |classes: &str| {
        let args = ["ladder", "build", "world", "rungs", "--scenes", "1", "--size", "48"];
        place.run(&[&args[..], &["--attributes", "size", "--classes", classes]].concat())
    };
    build("mug,bird").ok();
    // A table that cannot be written.
    std::fs::remove_file(place.path("rungs/stimuli.csv")).unwrap();
    std::fs::create_dir_all(place.path("rungs/stimuli.csv/in the way")).unwrap();
    assert_ne!(build("mug").code(), 0);
    assert!(place.path("rungs/stimuli/bird-size-01-1.png").exists());
}

#[test]
fn a_ladder_goes_on_without_the_folder_of_what_was_finished() {
    let place = Place::new();
    photos(&place);
    let world = ["ladder", "build", "world", "rungs", "--classes", "mug", "--size", "48"];
    let world = [&world[..], &["--scenes", "1", "--attributes", "size"]].concat();
    place.run(&world).ok();
    let table = place.read("rungs/stimuli.csv");
    std::fs::remove_dir_all(place.path("rungs/.ladder")).unwrap();
    let ran = place.run(&PHOTOS);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("`rungs` holds a ladder of the built-in world"), "{}", ran.all());
    place.run(&world).ok();
    assert_eq!(place.read("rungs/stimuli.csv"), table);
}

#[test]
fn a_mask_that_is_the_wrong_way_round_is_asked_about() {
    let place = Place::new();
    photos(&place);
    let ran = place.run(&[&PHOTOS[..], &["--attributes", "lighting"]].concat()).ok();
    assert!(!ran.stderr().contains("wrong way round"), "{}", ran.all());
    let mask = |side: std::ops::Range<u32>| {
        let inside = |at: u32| side.contains(&(at % 96)) && side.contains(&(at / 96));
        let bytes = (0..96 * 96).flat_map(|at| [if inside(at) { 0 } else { 255 }; 3]);
        pixels::Rgb8::new(96, 96, bytes.collect()).expect("because the sides fit").to_png()
    };
    let made = place.bytes("rungs/stimuli/wall-lighting-1.png");
    for (side, code, said) in [
        (20..76, 0, "the mask of `photo 0` reaches all four sides"),
        (30..60, 1, "there is no background to fill its place with: the mask reaches all four"),
    ] {
        place.write("0-mask.png", mask(side));
        let ran = place.run(&[&PHOTOS[..], &["--attributes", "lighting"]].concat());
        assert_eq!(ran.code(), code, "{}", ran.all());
        assert!(ran.stderr().contains(said), "{}", ran.all());
        // Pictures of a photo that cannot be used today are not taken away.
        assert!(!ran.stderr().contains("of an earlier run"), "{}", ran.all());
    }
    assert_eq!(place.bytes("rungs/stimuli/wall-lighting-1.png"), made);
}

#[test]
fn a_folder_holds_one_kind_of_ladder() {
    let place = Place::new();
    photos(&place);
    place.run(&[&PHOTOS[..], &["--attributes", "lighting"]].concat()).ok();
    let world = ["ladder", "build", "world", "rungs", "--classes", "mug", "--size", "48"];
    let world = [&world[..], &["--scenes", "1", "--attributes", "size"]].concat();
    // Whether the list of what was left out is there or not.
    for _ in 0..2 {
        let ran = place.run(&world);
        assert_eq!(ran.code(), 2, "{}", ran.all());
        assert!(ran.stderr().contains("`rungs` holds a ladder of photos"), "{}", ran.all());
        assert!(ran.stderr().contains("name another folder"), "{}", ran.all());
        let _ = std::fs::remove_file(place.path("rungs/left-out.csv"));
    }
    assert!(place.path("rungs/stimuli/wall-lighting-1.png").exists());
    std::fs::remove_dir_all(place.path("rungs")).unwrap();
    place.run(&world).ok();
    let ran = place.run(&PHOTOS);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("`rungs` holds a ladder of the built-in world"), "{}", ran.all());
}

#[test]
fn a_build_that_makes_nothing_says_so_and_fails() {
    let place = Place::new();
    photos(&place);
    let table = place.read("photos.csv");
    let wall = table.lines().filter(|line| !line.starts_with("photo ")).collect::<Vec<_>>();
    place.write("photos.csv", wall.join("\n") + "\n");
    let ran = place.run(&[&PHOTOS[..], &["--attributes", "size,size"]].concat());
    assert_eq!(ran.code(), 1, "{}", ran.all());
    for absent in ["Look at", "contact", "stimuli.csv"] {
        assert!(!ran.stderr().contains(absent), "{absent}: {}", ran.all());
    }
    assert!(ran.stderr().contains("every series was left out"), "{}", ran.all());
    assert_eq!(place.read("rungs/left-out.csv").lines().count(), 2, "an attribute counts once");
}

#[test]
fn a_mask_that_holds_classes_is_told_from_one_the_wrong_way_round() {
    let place = Place::new();
    photos(&place);
    let value = |at: u32| u8::try_from(1 + at % 96 / 32).expect("because it is 1, 2 or 3");
    let bytes = (0..96 * 96).flat_map(|at| [value(at); 3]).collect();
    let trimap = pixels::Rgb8::new(96, 96, bytes).expect("because the sides fit");
    place.write("0-mask.png", trimap.to_png());
    let ran = place.run(&[&PHOTOS[..], &["--attributes", "lighting"]].concat());
    assert_eq!(ran.code(), 1, "{}", ran.all());
    assert!(ran.stderr().contains("holds the values 1, 2, 3: are these classes"), "{}", ran.all());
    assert!(!ran.stderr().contains("wrong way round"), "{}", ran.all());
}
