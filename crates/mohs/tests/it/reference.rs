//! The command-line reference is generated from the help texts and cannot drift.

use std::fmt::Write as _;
use std::path::Path;

use crate::mohs::Place;

const VERBS: &[&[&str]] = &[
    &[],
    &["demo"],
    &["init"],
    &["init", "flash"],
    &["init", "beep"],
    &["init", "pairs"],
    &["init", "rate"],
    &["check"],
    &["prepare"],
    &["import"],
    &["simulate"],
    &["simulate", "ladder"],
    &["score"],
    &["score", "viewing-time"],
    &["score", "speed-accuracy"],
    &["score", "pairs"],
    &["score", "item-response"],
    &["score", "agreement"],
    &["score", "masks"],
    &["score", "quality"],
    &["score", "compare"],
    &["score", "label-counts"],
    &["score", "models"],
    &["score", "attacks"],
    &["score", "ladder"],
    &["score", "learning-speed"],
    &["adapt"],
    &["eval"],
    &["attack"],
    &["merge"],
    &["ladder"],
    &["ladder", "build"],
    &["ladder", "build", "world"],
    &["ladder", "build", "photos"],
    &["ladder", "build", "generate"],
    &["ladder", "review"],
    &["fit"],
    &["report"],
    &["export"],
    &["serve"],
    &["network"],
    &["network", "show"],
    &["network", "run"],
    &["network", "input"],
    &["network", "derive"],
    &["network", "cut"],
    &["network", "bench"],
    &["engines"],
    &["completions"],
];

#[test]
fn the_reference_is_what_help_says() {
    let place = Place::new();
    let mut page = String::from(
        "# Command-line reference\n\nGenerated from the help texts by `just gen`.\nDo not edit by hand.\n",
    );
    for verb in VERBS {
        let mut args = verb.to_vec();
        args.push("--help");
        let help = place.run(&args).ok().stdout();
        let name =
            std::iter::once("mohs").chain(verb.iter().copied()).collect::<Vec<_>>().join(" ");
        let trimmed: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", trimmed.join("\n").trim_end());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference.md");
    if std::env::var_os("MOHS_GENERATE").is_some() {
        std::fs::write(&path, &page).expect("because docs/ is part of the project");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/reference.md is out of date: run `just gen`");
}
