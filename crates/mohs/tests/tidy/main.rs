//! Tidy: the rules of the house that a machine can check, run with all other tests.
//!
//! Each rule is one test named as a sentence (here) and one pure function from texts to complaints
//! (`checks.rs`), so that `can_fail.rs` can show every rule a text that breaks it. A complaint
//! names the file and, where it helps, the line. What a compiler or Clippy already refuses is not
//! repeated here. The rules themselves are explained in `STYLE.md` and `ARCHITECTURE.md`.

#[cfg(test)]
mod can_fail;
mod checks;
mod repository;
mod source;

use std::process::Command;

use mohs_score::measures::MEASURES;

use checks::{
    banned_words, broken_links, empty_name, forgotten_tests, impurities, lost_pages, machine_paths,
    markers, missing_header, missing_lints, missing_unreleased, speech, too_long,
    trailing_white_space, wrong_arrows, wrong_commands, wrong_method_pages,
};
use repository::{TextFile, root, text_of, texts};

#[test]
fn arrows_between_crates_only_point_down() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("because tests are run by cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice(&output.stdout).expect("because cargo writes JSON");
    complain("a crate uses one it may not know (ARCHITECTURE.md)", wrong_arrows(&metadata));
}

#[test]
fn pure_crates_touch_no_file_clock_environment_or_hidden_randomness() {
    complain("a pure crate reaches outside; pass the value in", each(impurities));
}

#[test]
fn only_the_command_line_prints_exits_and_reads_the_environment() {
    complain("return it, and let `mohs` say it", each(speech));
}

#[test]
fn every_rust_file_starts_by_saying_what_it_is() {
    complain("the first line should be a `//!` header", each(missing_header));
}

#[test]
fn no_file_has_an_empty_name() {
    complain("name the file by what is inside", each(empty_name));
}

#[test]
fn one_word_is_used_for_one_thing() {
    complain("the glossary has another word (docs/glossary.md)", each(banned_words));
}

#[test]
fn no_line_ends_in_white_space() {
    complain("remove the white space at the end", each(trailing_white_space));
}

#[test]
fn no_note_to_self_is_left() {
    complain("do it, or open an issue and name it", each(markers));
}

#[test]
fn no_file_names_the_machine_it_was_written_on() {
    complain("a path of one machine means nothing on another", each(machine_paths));
}

#[test]
fn no_source_file_is_longer_than_one_idea() {
    complain("split it along its ideas", each(too_long));
}

#[test]
fn every_crate_inherits_the_lints_of_the_workspace() {
    complain("add `[lints]` with `workspace = true`", each(missing_lints));
}

#[test]
fn no_test_file_is_forgotten() {
    complain("name the file with `mod` in its `main.rs`", forgotten_tests(&texts()));
}

#[test]
fn every_measure_has_a_page_that_says_what_it_must() {
    let names: Vec<&str> = MEASURES.iter().map(|measure| measure.name).collect();
    complain("a measure and its page go together", wrong_method_pages(&texts(), &names));
}

#[test]
fn every_page_of_the_docs_can_be_reached_from_the_readme() {
    complain("link the page from the README.md of its folder", lost_pages(&texts()));
}

#[test]
fn every_relative_link_leads_somewhere() {
    let exists = |path: &str| root().join(path).exists();
    complain("the link leads nowhere", broken_links(&texts(), exists));
}

#[test]
fn the_readme_starts_with_two_commands() {
    let readme = text_of(&texts(), "README.md");
    complain("the README starts with exactly two commands", wrong_commands(&readme));
}

#[test]
fn the_changelog_has_a_place_for_what_comes_next() {
    let changelog = text_of(&texts(), "CHANGELOG.md");
    complain("keep a standing section", missing_unreleased(&changelog));
}

#[cfg(unix)]
#[test]
fn scripts_can_be_run() {
    use std::os::unix::fs::PermissionsExt;
    let not_runnable = ["tools/test", ".ci/run"].into_iter().filter(|script| {
        let metadata = std::fs::metadata(root().join(script));
        !metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
    });
    complain("chmod +x", not_runnable.map(ToOwned::to_owned).collect());
}

fn each(check: impl Fn(&TextFile) -> Vec<String>) -> Vec<String> {
    texts().iter().flat_map(check).collect()
}

#[track_caller]
fn complain(advice: &str, complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{advice}:\n  {}\n", complaints.join("\n  "));
}
