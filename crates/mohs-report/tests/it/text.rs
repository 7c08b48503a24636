//! The report for a terminal.

use mohs_report::{Summary, render_text};

use crate::fixture::{self, Shape, TINY, USUAL};

#[test]
fn the_text_report_reads_well() {
    insta::assert_snapshot!(render_text(&fixture::summary(USUAL)));
}

#[test]
fn no_line_is_wider_than_a_terminal() {
    let long = Shape {
        labels: &["a very long name of a class that goes on and on", "b\nbroken\u{1b}[31m"],
        datasets: &["one data set with a long name, version 2", "another one with a long name"],
        ..USUAL
    };
    for shape in [USUAL, TINY, long] {
        let text = render_text(&fixture::summary(shape));
        assert!(!text.contains('\u{1b}'));
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn a_study_without_findings_says_so() {
    let summary = Summary { viewing_time: None, simulated: true, ..fixture::summary(TINY) };
    insta::assert_snapshot!(render_text(&summary));
}
