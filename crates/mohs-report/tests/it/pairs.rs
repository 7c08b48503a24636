//! The chapter on paired judgements, from simulated people through scoring to the page.

use mohs_data::{Extra, Label, Seed, Stimulus, StimulusId};
use mohs_report::{Pictures, Summary, render_csv, render_html, render_text};
use mohs_score::human::bradley_terry::{Input, Options, score};
use mohs_score::simulate::pairs::{Setting, comparisons};

/// Simulated people judge groups of six stimuli, two per level.
fn summary(n_groups: usize, n_participants: usize) -> Summary {
    let (mut truth, mut pairs, mut stimuli) = (Vec::new(), Vec::new(), Vec::new());
    for group in 0..n_groups {
        for (idx, level) in ["easy", "easy", "medium", "medium", "hard", "hard"].iter().enumerate()
        {
            let id = format!("g{group}-{level}-{idx}");
            let difficulty = [-1.2, -0.8, -0.1, 0.1, 0.9, 1.1][idx];
            truth.push((StimulusId::new(&id), difficulty));
            pairs.extend((0..idx).map(|other| (group * 6 + idx, group * 6 + other)));
            stimuli.push(Stimulus {
                id: StimulusId::new(&id),
                file: id.as_str().into(),
                label: Label::new(["mug", "key", "cup"][group % 3]),
                dataset: None,
                boxes: vec![],
                mask: None,
                attribute: Some("size".into()),
                level: Some((*level).into()),
                extra: Extra::default(),
            });
        }
    }
    let setting = Setting { n_participants, left_bias: 0.3, lapse_rate: 0.05, seed: Seed(4) };
    let rows = comparisons(&truth, &pairs, &setting);
    let options = Options { n_resamples: 100, ..Options::default() };
    let input = Input { comparisons: &rows, stimuli: &stimuli, options: &options, seed: Seed(1) };
    let findings = score(&input).expect("because simulated people can be scored");
    Summary { pairs: Some(findings), ..Summary::new("pairs of mugs", "0.1.0", 1, false) }
}

#[test]
fn the_text_reads_well() {
    let text = render_text(&summary(2, 12));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn the_page_has_every_part_and_no_number_that_is_none() {
    for (n_groups, n_participants) in [(1, 12), (9, 2)] {
        let summary = summary(n_groups, n_participants);
        let page = render_html(&summary, &Pictures::default());
        for part in ["pairs-by-level", "pairs-difficulty", "Kendall’s τ-b", "Agrees with the rest"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert_eq!(page.contains("id=\"pairs-groups\""), 1 < n_groups);
        assert!(!page.contains("NaN") && !page.contains("inf]"));
        let back = Summary::from_json(&summary.to_json()).expect("because it was just written");
        assert_eq!(back, summary);
    }
}

#[test]
fn the_table_has_a_row_per_stimulus() {
    assert_eq!(render_csv(&summary(2, 3)).lines().count(), 13);
}
