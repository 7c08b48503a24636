//! `page/src/wire.ts`, made from `wire.rs`: `MOHS_GENERATE=1 cargo test -p mohs-serve wire` writes
//! it, and without the variable the test compares.

use ts_rs::{Config, TS};

use crate::wire::*;

const HEADER: &str = "\
// What page and server say to each other. Mirrors crates/mohs-serve/src/wire.rs, in the form ts-rs
// prints; change that file, not this one.
";

fn text() -> String {
    let config = Config::default();
    let types = [
        JoinRequest::decl(&config),
        Welcome::decl(&config),
        Joined::decl(&config),
        SessionState::decl(&config),
        Ending::decl(&config),
        StudyInfo::decl(&config),
        BeepInfo::decl(&config),
        BlockRequest::decl(&config),
        Screen::decl(&config),
        Calibration::decl(&config),
        BlockAnswer::decl(&config),
        Block::decl(&config),
        PlannedTrial::decl(&config),
        EventBatch::decl(&config),
        Event::decl(&config),
        EventBody::decl(&config),
        TrialReport::decl(&config),
        FlashEvidence::decl(&config),
        BeepReport::decl(&config),
        Ack::decl(&config),
        EndRequest::decl(&config),
        EndAnswer::decl(&config),
        WithdrawRequest::decl(&config),
        Withdrawn::decl(&config),
        Failure::decl(&config),
        FailureDetail::decl(&config),
    ];
    let types: Vec<String> =
        types.iter().map(|text| format!("\nexport {}\n", without_comments(text))).collect();
    HEADER.to_owned() + &types.concat()
}

/// Returns a declaration on one line; what fields mean stands in `wire.rs`.
fn without_comments(text: &str) -> String {
    let parts = text.split("/**").map(|part| part.split_once("*/").map_or(part, |(_, rest)| rest));
    let line = parts.collect::<String>().replace('\n', " ");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn wire_ts_says_what_wire_rs_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/page/src/wire.ts");
    let text = text();
    // Read when the test is built; cargo builds it again when the variable changes.
    if option_env!("MOHS_GENERATE").is_some() {
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/page/src")).unwrap();
        std::fs::write(path, text).unwrap();
        return;
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == text, "run MOHS_GENERATE=1 cargo test -p mohs-serve wire");
}
