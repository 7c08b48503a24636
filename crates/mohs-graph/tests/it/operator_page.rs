//! The page about operators is generated from the list of rules and cannot drift.

use std::fmt::Write as _;
use std::path::Path;

use mohs_graph::grad::operator;

#[test]
fn the_page_about_operators_is_what_the_list_says() {
    let mut page = String::from(
        "# Operators\n\nGenerated from the list of rules by `just gen`.\nDo not edit by hand.\n\n\
         What is known about each operator when a network is differentiated.\n\
         *Gradient*: it has a rule. *Flat*: its derivative is zero wherever there is one, so nothing flows through it.\n\
         An operator that is not listed can still be run, if the engine knows it; on the way from a scalar to what it is \
         differentiated by, it is an error that names the node.\n\n\
         | operator | state | note |\n|---|---|---|\n",
    );
    for row in operator::all() {
        let _ = writeln!(page, "| `{}` | {} | {} |", row.op, row.state(), row.note);
    }
    page.push_str(
        "\nBefore anything is differentiated, networks are rewritten to the house dialect, which takes care of older forms of \
         these operators, of `Constant`, `Upsample`, of branches whose condition is known, and of functions that a file defines itself.\n",
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/networks/operators.md");
    if std::env::var_os("MOHS_GENERATE").is_some() {
        std::fs::write(&path, &page).expect("because docs/ is part of the project");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/networks/operators.md is out of date: run `just gen`");
}

#[test]
fn the_list_is_sorted_and_has_every_operator_once() {
    let names: Vec<&str> = operator::all().iter().map(|row| row.op).collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
}
