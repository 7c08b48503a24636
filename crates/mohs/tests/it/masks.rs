//! `mohs score masks`: votes and tables on disk, other tools' files, and what is refused.

use serde_json::Value;

use crate::mohs::Place;
use crate::real_data::real_data;

/// An annotation of a 4 × 4 picture with the object in columns `from..to`.
fn columns(stimulus: &str, participant: &str, from: usize, to: usize, more: &str) -> String {
    let by = match participant {
        "" => String::new(),
        name => format!("\"participant\": \"{name}\", "),
    };
    let (before, inside) = (4 * from, 4 * (to - from));
    let after = 16 - before - inside;
    format!(
        "{{\"stimulus\": \"{stimulus}\", {by}\"label\": \"mug\"{more}, \"segmentation\": \
         {{\"size\": [4, 4], \"counts\": [{before}, {inside}, {after}]}}}}"
    )
}

fn file(annotations: &[String]) -> String {
    format!("{{\"version\": 1, \"annotations\": [\n{}\n]}}\n", annotations.join(",\n"))
}

fn three_people() -> Vec<String> {
    ["a", "b/c"]
        .iter()
        .flat_map(|stimulus| {
            [("ann", 0, 2), ("bo", 1, 3), ("cy", 1, 2)]
                .map(|(by, from, to)| columns(stimulus, by, from, to, ""))
        })
        .collect()
}

#[test]
fn votes_and_tables_are_written() {
    let place = Place::new();
    place.write("drawn.json", file(&three_people()));
    let args = ["score", "masks", "drawn.json", "--output", "out", "--format", "json", "--quiet"];
    let ran = place.run(&args).ok();
    let summary: Value = serde_json::from_str(&ran.stdout()).unwrap();
    let masks = &summary["masks"];
    // ann and bo share one of three columns, each shares one of two with cy.
    let agreement = masks["objects"][0]["agreement"]["value"].as_f64().unwrap();
    assert!((agreement - (1.0 / 3.0 + 0.5 + 0.5) / 3.0).abs() < 1e-12);
    assert_eq!(masks["objects"][0]["place"]["size"]["value"], 0.25);
    let votes = place.read("out/votes/annotations.json");
    assert_eq!(votes.matches("\"n_annotators\":3").count(), 2);
    assert!(place.bytes("out/votes/b/c.png").starts_with(b"\x89PNG"));
    assert!(place.read("out/object-masks.csv").starts_with("stimulus,label,height,width,"));
    assert_eq!(place.read("out/annotators.csv").lines().count(), 4);
    // The votes are a file of annotations like any other.
    let again = place.run(&["score", "masks", "out/votes/annotations.json", "--quiet"]).ok();
    assert!(again.stdout().contains("2 drawings that came with a data set"), "{}", again.all());
    // So are the pictures.
    let args = ["score", "masks", "out/votes", "--from", "masks", "--quiet"];
    assert!(place.run(&args).ok().stdout().contains("2 drawings"));
    place.run(&["report", "out", "--quiet"]).ok();
    let page = place.read("out/report.html");
    assert!(page.contains("Who draws how well") && page.contains("class=\"voted\""));
}

#[test]
fn own_masks_stay_and_old_votes_go() {
    let place = Place::new();
    let args = ["score", "masks", "drawn.json", "--output", "out", "--quiet"];
    place.write("drawn.json", file(&three_people()));
    std::fs::create_dir_all(place.path("out/masks")).unwrap();
    place.write("out/masks/a.png", "mine");
    place.run(&args).ok();
    assert!(place.bytes("out/votes/b/c.png").starts_with(b"\x89PNG"));
    // Without `b/c` in the drawings its vote goes.
    place.write("drawn.json", file(&three_people()[..3]));
    place.run(&args).ok();
    assert!(!place.path("out/votes/b").exists());
    assert!(place.bytes("out/votes/a.png").starts_with(b"\x89PNG"));
    assert_eq!(place.read("out/masks/a.png"), "mine");
    // A folder that is not ours is left alone.
    place.write("out/votes/annotations.json", "{}");
    let ran = place.run(&args);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.stderr().contains("something else than votes"), "{}", ran.all());
}

#[test]
fn permuting_annotations_changes_no_byte() {
    let place = Place::new();
    let mut annotations = three_people();
    let scored = |annotations: &[String]| {
        place.write("drawn.json", file(annotations));
        let args = ["score", "masks", "drawn.json", "--output", "out", "--quiet"];
        (place.run(&args).ok().stdout(), place.bytes("out/summary.json"))
    };
    let before = scored(&annotations);
    annotations.reverse();
    annotations.rotate_left(2);
    assert_eq!(before, scored(&annotations));
}

#[test]
fn the_exam_decides_who_counts() {
    let place = Place::new();
    let mut annotations = three_people();
    let exam = ", \"role\": \"exam\"";
    annotations.push(columns("known", "", 0, 2, ""));
    annotations.push(columns("known", "ann", 0, 2, exam));
    annotations.push(columns("known", "bo", 0, 1, exam));
    place.write("drawn.json", file(&annotations));
    let args = ["score", "masks", "drawn.json", "--require-exam", "--format", "json", "--quiet"];
    let summary: Value = serde_json::from_str(&place.run(&args).ok().stdout()).unwrap();
    let aside = &summary["masks"]["set_aside"];
    let rules: Vec<&str> =
        aside.as_array().unwrap().iter().map(|aside| aside["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["failed-exam", "no-exam"]);
    assert_eq!(summary["masks"]["pass_share"]["value"], 0.5);
}

#[test]
fn what_is_no_mask_is_refused_with_place_and_hint() {
    let place = Place::new();
    let mut said = String::new();
    let good = columns("a", "ann", 0, 2, "");
    let bad = [
        ("runs that miss a pixel", good.replace("[0, 8, 8]", "[0, 8, 7]")),
        ("a run that overflows", good.replace("[0, 8, 8]", "[0, 99999999999]")),
        ("a wrong size", good.replace("[4, 4]", "[2, 8]").replace("ann", "bo")),
        ("an empty mask", good.replace("[0, 8, 8]", "[16]")),
        ("a role that is none", good.replace("\"label\"", "\"role\": \"exm\", \"label\"")),
        ("an exam without reference", good.replace("\"label\"", "\"role\": \"exam\", \"label\"")),
    ];
    for (what, annotation) in bad {
        place.write("drawn.json", file(&[good.clone(), annotation]));
        let ran = place.run(&["score", "masks", "drawn.json", "--output", "out"]);
        said += &format!("{what}: exit {}\n{}\n", ran.code(), ran.stderr());
    }
    assert_eq!(place.names(), ["drawn.json"]);
    insta::assert_snapshot!(said);
}

#[test]
fn trimaps_of_pets_are_masks() {
    let Some(folder) = real_data("pets") else { return };
    let place = Place::new();
    let trimaps = folder.join("trimaps");
    let size_of = |values: &str| {
        let trimaps = trimaps.to_string_lossy();
        let mut args = vec!["score", "masks", &trimaps, "--from", "masks", "--object-values"];
        args.extend([values, "--format", "json", "--quiet", "--label", "pet"]);
        let summary: Value = serde_json::from_str(&place.run(&args).ok().stdout()).unwrap();
        let masks = &summary["masks"];
        assert_eq!(masks["n_stimuli"], 100);
        masks["size"]["mean"]["value"].as_f64().unwrap()
    };
    let (inner, with_border) = (size_of("1"), size_of("1,3"));
    // numpy 2.4.6: mean over files of (trimap == 1).mean(), and of (trimap != 2).mean().
    assert!((inner - 0.274_367_904_663).abs() < 1e-9, "{inner}");
    assert!((with_border - 0.388_705_482_483).abs() < 1e-9, "{with_border}");
}
