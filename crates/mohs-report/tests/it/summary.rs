//! The summary as a file, and the table of stimuli.

use mohs_report::{Summary, render_csv};

use crate::fixture::{self, TINY, USUAL};

#[test]
fn a_summary_comes_back_as_it_went() {
    for shape in [USUAL, TINY] {
        let summary = fixture::summary(shape);
        let json = summary.to_json();
        let back = Summary::from_json(&json).unwrap();
        assert_eq!(back, summary);
        assert_eq!(back.to_json(), json);
    }
}

#[test]
fn a_summary_without_findings_has_no_empty_chapter() {
    let summary = Summary { viewing_time: None, ..fixture::summary(TINY) };
    insta::assert_snapshot!(summary.to_json());
    assert_eq!(Summary::from_json(&summary.to_json()).unwrap(), summary);
}

#[test]
fn the_table_of_stimuli_has_one_row_each() {
    let csv = render_csv(&fixture::summary(USUAL));
    assert_eq!(csv.lines().count(), 1 + USUAL.n_stimuli);
    let n_cells = |line: &str| line.split(',').count();
    assert!(csv.lines().all(|line| n_cells(line) == 20 + 2 * USUAL.exposures.len()));
    insta::assert_snapshot!(render_csv(&fixture::summary(TINY)));
}
