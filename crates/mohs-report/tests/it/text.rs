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

#[test]
fn the_headline_reads_well_for_few_stimuli() {
    let check = |n_by_band: [usize; 3], expected: &str| {
        let mut summary = fixture::summary(Shape { exposures: &[17.0, 10_000.0], ..TINY });
        let found = summary.viewing_time.as_mut().unwrap();
        for (finding, n) in found.bands.iter_mut().zip(n_by_band) {
            finding.n_stimuli = n;
        }
        let text = render_text(&summary);
        assert_eq!(text.split("\n\n").nth(1).unwrap().replace('\n', " "), expected);
    };
    check(
        [1, 0, 0],
        "People recognise the one stimulus even at the shortest exposure tested, 17 ms.",
    );
    check([0, 1, 0], "People need no more than 10 s to recognise the one stimulus.");
    check([0, 0, 1], "The one stimulus was not recognised reliably, not even after 10 s.");
    check([0, 3, 0], "People need no more than 10 s to recognise all 3 stimuli.");
    check([0, 0, 3], "None of the 3 stimuli was recognised reliably, not even after 10 s.");
    check(
        [1, 0, 4],
        "Only 1 of 5 stimuli was recognised reliably at some exposure; 4 were not, not even after \
         10 s.",
    );
    check(
        [4, 1, 0],
        "People recognise 4 of 5 stimuli even at the shortest exposure tested, 17 ms. All are \
         recognised by 10 s.",
    );
    check(
        [4, 0, 1],
        "People recognise 4 of 5 stimuli even at the shortest exposure tested, 17 ms. 1 was never \
         recognised reliably, not even after 10 s.",
    );
}
