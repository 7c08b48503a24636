//! Shows every rule a text that breaks it and one that does not.

use crate::checks::*;
use crate::repository::{TextFile, ignore_patterns, is_ignored};
use crate::source::{code_only, is_name, tokens};

fn file(path: &str, text: &str) -> TextFile {
    TextFile { path: path.to_owned(), text: text.to_owned() }
}

#[track_caller]
fn check(rule: impl Fn(&TextFile) -> Vec<String>, path: &str, bad: &str, good: &str) {
    assert!(!rule(&file(path, bad)).is_empty(), "not refused: {bad}");
    assert_eq!(rule(&file(path, good)), Vec::<String>::new());
}

#[test]
fn an_arrow_up_sideways_or_from_nowhere_is_refused() {
    let house = |from: &str, to: &str| {
        serde_json::json!({ "packages": [
            { "name": from, "dependencies": [{ "name": to }, { "name": "serde" }] },
            { "name": to, "dependencies": [] },
        ] })
    };
    assert_eq!(wrong_arrows(&house("mohs-score", "mohs-data")), Vec::<String>::new());
    assert_eq!(wrong_arrows(&house("mohs-data", "mohs-score")), ["mohs-data -> mohs-score"]);
    assert_eq!(wrong_arrows(&house("mohs-vision", "mohs-score")).len(), 1);
    assert_eq!(wrong_arrows(&house("mohs", "mohs-attic")).len(), 2);
}

#[test]
fn reaching_outside_is_refused_however_it_is_spelled() {
    let source = "crates/mohs-score/src/a.rs";
    let check = |bad, good| check(impurities, source, bad, good);
    check("let x = std::fs::read(p);", "let x = \"std::fs::read\"; // std::fs");
    check("use std::{cmp, env::{self, args}};", "use std::{cmp, fmt};");
    check("use std::time::Instant;", "use std::time::Duration;");
    check("let t = time::SystemTime::now();", "/* SystemTime */");
    check("let r = rand::rng();", "let r = Draw::new(seed, key);");
    check("println!(\"hi\")", "writeln!(out, \"println!\")");
    assert!(impurities(&file("crates/mohs-data/src/a.rs", "use std::fs;")).is_empty());
}

#[test]
fn speaking_below_the_command_line_is_refused() {
    let check = |bad, good| check(speech, "crates/mohs-data/src/a.rs", bad, good);
    check("eprintln!(\"hi\")", "let print = 1;");
    check("std::process::exit(1)", "std::process::Command::new(name)");
    check("std::env::var(name)", "env!(\"CARGO_PKG_VERSION\")");
    for exempt in ["crates/mohs/src/a.rs", "crates/mohs-data/examples/a.rs"] {
        assert!(speech(&file(exempt, "println!()")).is_empty());
    }
}

#[test]
fn a_file_without_header_is_refused() {
    check(missing_header, "fuzz/a.rs", "#![no_main]\n//! Late.", "//! Early.\n#![no_main]");
}

#[test]
fn an_empty_name_is_refused() {
    for path in ["a/utils.rs", "crates/mohs-core/src/lib.rs", "a/misc/x.py", "a/mod.rs"] {
        assert_eq!(empty_name(&file(path, "")), [path]);
    }
    assert!(empty_name(&file("crates/mohs-score/src/model.rs", "")).is_empty());
}

#[test]
fn a_banned_word_is_refused_where_we_coin_a_name() {
    let check = |bad, good| check(banned_words, "crates/mohs-data/src/a.rs", bad, good);
    check("struct WorkerId;", "struct ParticipantId; // worker");
    check("fn f(subject_idx: usize) {}", "use foreign::{Worker, Subject as Person};");
    check("enum A { Backend }", "foreign::Backend::new().worker()");
    check("Column::new(\"latency_ms\", Text, &[])", "Column::new(\"rt_ms\", Text, &[\"latency\"])");
    assert_eq!(banned_words(&file("crates/mohs/src/hardness.rs", "")).len(), 1);
}

#[test]
fn untidy_lines_are_refused() {
    check(trailing_white_space, "a.md", "a \nb", "a\nb");
    check(markers, "a.rs", concat!("// TO", "DO: later"), "// Mastodons do not count.");
    check(markers, "a.rs", concat!("to", "do!()"), "let mastodon = 1;");
    check(machine_paths, "a.md", concat!("see /ho", "me/ann"), "see docs/");
    check(too_long, "a.rs", &"\n".repeat(MOST_LINES + 1), &"\n".repeat(MOST_LINES));
}

#[test]
fn a_crate_with_lints_of_its_own_is_refused() {
    let bad = "[dependencies]\nworkspace = true\n[lints]\nrust = {}";
    check(missing_lints, "crates/a/Cargo.toml", bad, "[lints]\nworkspace = true");
}

#[test]
fn a_forgotten_test_file_is_noticed() {
    let main = |text| file("crates/a/tests/it/main.rs", text);
    let files = |text| [main(text), file("crates/a/tests/it/score.rs", "")];
    assert!(forgotten_tests(&files("mod score;")).is_empty());
    assert_eq!(forgotten_tests(&files("// mod score;\nmod scores;")).len(), 1);
}

#[test]
fn a_measure_without_page_section_or_link_is_noticed() {
    let index = file("docs/methods/README.md", "[a](a.md)");
    let page = |sections: &[&str]| file("docs/methods/a.md", &sections.join("\n"));
    let files = [index, page(METHOD_SECTIONS)];
    assert!(wrong_method_pages(&files, &["a"]).is_empty());
    assert_eq!(wrong_method_pages(&files, &["b"]).len(), 2);
    let files = [file("docs/methods/README.md", "[a](a.md)"), page(&METHOD_SECTIONS[1..])];
    assert_eq!(wrong_method_pages(&files, &["a"]).len(), 1);
}

#[test]
fn a_lost_page_and_a_broken_link_are_noticed() {
    let files = [
        file("README.md", "[docs](docs/README.md) [web](https://example.org/a.md)"),
        file("docs/README.md", "[up](../README.md) [a](./a.md#part) `[code](no.md)`"),
        file("docs/a.md", "```\n[code](no.md)\n```\n![picture](a.png)"),
        file("docs/b.md", ""),
    ];
    assert_eq!(lost_pages(&files), ["docs/b.md"]);
    let exists = |path: &str| files.iter().any(|file| file.path == path);
    assert_eq!(broken_links(&files, exists), ["docs/a.md -> docs/a.png"]);
}

#[test]
fn a_readme_with_more_or_fewer_commands_is_refused() {
    let fence = |command: &str| format!("```sh\n{command}\n```\n");
    let both = README_COMMANDS.iter().map(|command| fence(command)).collect::<String>();
    assert!(wrong_commands(&format!("# mohs\n{both}## More\n{}", fence("ls"))).is_empty());
    assert_eq!(wrong_commands(&fence(README_COMMANDS[0])).len(), 1);
    assert_eq!(wrong_commands(&format!("{both}{}", fence("ls"))).len(), 1);
}

#[test]
fn a_changelog_without_a_next_version_is_refused() {
    assert_eq!(missing_unreleased("# Changelog\n## 0.1.0\n").len(), 1);
    assert!(missing_unreleased("# Changelog\n## Unreleased\n").is_empty());
}

#[test]
fn strings_and_comments_are_not_code() {
    let text = r###"a("b \" c", 'd', '\'', r#"e " f"#, b"g"); // h
        /* i /* j */ k */ l::<'m>()"###;
    let words: Vec<String> =
        tokens(&code_only(text)).into_iter().map(|(_, t)| t).filter(|t| is_name(t)).collect();
    assert_eq!(words, ["a", "l", "m"]);
}

#[test]
fn what_git_ignores_is_not_read() {
    let ignored = ignore_patterns("# built\n/target\nout/\n*.new\n.*.snap\n", "/fuzz");
    for path in ["/fuzz/target", "/fuzz/a/out", "/a.new", "/.a.snap"] {
        assert!(is_ignored(path, &ignored), "{path}");
    }
    for path in ["/target", "/fuzz/a/target", "/outer", "/a.news"] {
        assert!(!is_ignored(path, &ignored), "{path}");
    }
}
