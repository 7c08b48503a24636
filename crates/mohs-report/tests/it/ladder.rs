//! The chapter about a ladder, from made-up answers through scoring to the page.

use std::collections::BTreeSet;

use mohs_data::{Answer, Extra, Label, Outcome, Prediction, Seed, Stimulus, StimulusId};
use mohs_report::{
    LADDER_TABLES, Pictures, Summary, ladder_tables, render_csv, render_html, render_text,
};
use mohs_score::draw::Draw;
use mohs_score::model::hierarchy::{Input, Options, score};
use mohs_score::simulate::pairs::{Setting, comparisons};

use crate::page::{HOSTILE, assert_balanced, markup, section};

/// What is climbed.
#[derive(Debug, Clone, Copy)]
struct Shape {
    n_models: usize,
    n_levels: usize,
    has_attributes: bool,
    has_people: bool,
    has_confidence: bool,
}

const WHOLE: Shape = Shape {
    n_models: 3,
    n_levels: 3,
    has_attributes: true,
    has_people: true,
    has_confidence: true,
};
const BARE: Shape = Shape {
    n_models: 1,
    n_levels: 2,
    has_attributes: false,
    has_people: false,
    has_confidence: false,
};
const MANY: Shape = Shape { n_models: 22, n_levels: 8, ..BARE };

fn level(idx: usize, n: usize) -> String {
    if n == 3 { ["easy", "medium", "hard"][idx].into() } else { (idx + 1).to_string() }
}

fn summary(shape: Shape) -> Summary {
    summary_named(shape, |name| name.to_owned())
}

/// Twelve labels, two attributes, two stimuli per level; harder levels are right less often.
#[expect(clippy::cast_precision_loss, reason = "small whole numbers")]
fn summary_named(shape: Shape, name: impl Fn(&str) -> String) -> Summary {
    let (mut stimuli, mut predictions) = (Vec::new(), Vec::new());
    let (mut truth, mut pairs) = (Vec::new(), Vec::new());
    for label in 0..12 {
        for attribute in if shape.has_attributes { &["occlusion", "size"][..] } else { &["-"] } {
            for level_idx in 0..shape.n_levels {
                for nth in 0..2 {
                    let id = name(&format!("{label:02}-{attribute}-{level_idx}-{nth}"));
                    let attribute = shape.has_attributes.then(|| name(attribute));
                    truth.push((StimulusId::new(&id), level_idx as f64));
                    stimuli.push(Stimulus {
                        id: StimulusId::new(&id),
                        file: format!("{}.png", stimuli.len()).into(),
                        label: Label::new(name(&format!("label {label:02}"))),
                        dataset: None,
                        boxes: vec![],
                        mask: None,
                        attribute,
                        level: Some(level(level_idx, shape.n_levels)),
                        extra: Extra::default(),
                    });
                }
            }
        }
    }
    for model in 0..shape.n_models {
        for (idx, stimulus) in stimuli.iter().enumerate() {
            let level_idx = idx / 2 % shape.n_levels;
            let mut draw = Draw::new(Seed(9), &[model as u64, idx as u64]);
            let chance = 0.95 - 0.08 * model as f64 / 3.0 - 0.6 * level_idx as f64 / 3.0;
            let is_right = draw.chance(chance.max(0.1));
            predictions.push(Prediction {
                model: name(&format!("network {model}")).as_str().into(),
                stimulus: stimulus.id.clone(),
                probe: Prediction::NO_PROBE.into(),
                condition: None,
                label: None,
                outcome: Outcome::Answered(Answer {
                    predicted: if is_right { stimulus.label.clone() } else { Label::new("?") },
                    confidence: shape.has_confidence.then(|| 0.3 + 0.6 * draw.uniform()),
                    top_k: Vec::new(),
                    correct: None,
                }),
                extra: Extra::default(),
            });
        }
    }
    let per_cell = 2 * shape.n_levels;
    for first in (0..stimuli.len()).step_by(per_cell).take(4) {
        pairs.extend((0..per_cell).flat_map(|a| (0..a).map(move |b| (first + b, first + a))));
    }
    let setting = Setting { n_participants: 6, left_bias: 0.0, lapse_rate: 0.05, seed: Seed(4) };
    let rows = if shape.has_people { comparisons(&truth, &pairs, &setting) } else { Vec::new() };
    let options = Options { n_resamples: 100, ..Options::default() };
    let findings = score(&Input {
        predictions: &predictions,
        stimuli: &stimuli,
        difficulties: &[],
        comparisons: &rows,
        options: &options,
        seed: Seed(1),
    });
    let findings = findings.expect("because the ladder can be scored");
    Summary { ladder: Some(findings), ..Summary::new("A ladder of mugs", "0.1.0", 1, false) }
}

fn page(shape: Shape) -> String {
    render_html(&summary(shape), &Pictures::new())
}

#[test]
fn pages_of_any_shape_are_sound() {
    let with_people = Shape { has_people: true, ..BARE };
    for shape in [WHOLE, BARE, MANY, with_people, Shape { n_levels: 5, ..WHOLE }] {
        let html = page(shape);
        assert_balanced(&html);
        let markup = markup(&html);
        for word in markup.split(|c: char| !c.is_alphanumeric()) {
            assert!(!["NaN", "inf", "infinity", "undefined", "null"].contains(&word), "{word}");
        }
        let ids: Vec<&str> =
            markup.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let different: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(different.len(), ids.len(), "{shape:?}");
        for target in markup.split(" href=\"#").skip(1) {
            assert!(different.contains(target.split('"').next().unwrap()), "{target}");
        }
    }
}

#[test]
fn every_question_has_its_section_and_what_is_not_known_has_none() {
    let html = page(WHOLE);
    for id in [
        "ladder-patterns",
        "ladder-score",
        "ladder-accuracy",
        "ladder-levels",
        "ladder-attributes",
        "ladder-confidence",
        "ladder-validity",
        "ladder-labels",
        "ladder-methods",
    ] {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    let bare = page(BARE);
    for id in ["ladder-accuracy", "ladder-attributes", "ladder-confidence", "ladder-validity"] {
        assert!(!bare.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    // Eight patterns of three models, in two widths.
    let patterns = section(&html, "ladder-patterns");
    assert_eq!(patterns.matches("<circle").count(), 2 * 3 * 8 * 3);
}

#[test]
fn a_hostile_name_stays_a_text() {
    for hostile in HOSTILE {
        let html =
            render_html(&summary_named(WHOLE, |name| format!("{hostile}{name}")), &Pictures::new());
        assert_balanced(&html);
    }
}

#[test]
fn text_fits_a_terminal() {
    for shape in [WHOLE, BARE, MANY] {
        let text = render_text(&summary(shape));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains("NaN"));
    }
}

#[test]
fn the_text_reads_well() {
    insta::assert_snapshot!(render_text(&summary(WHOLE)));
}

#[test]
fn tables_have_equally_many_cells_in_every_row() {
    let whole = summary(WHOLE);
    let found = whole.ladder.as_ref().expect("because the fixture has a ladder");
    let tables = ladder_tables(found);
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, LADDER_TABLES);
    for (name, csv) in &tables {
        let counts: BTreeSet<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(counts.len(), 1, "{name}");
    }
    assert_eq!(render_csv(&whole), tables[0].1);
    // Three models over all stimuli and two attributes.
    assert_eq!(tables[0].1.lines().count(), 1 + 3 * 3);
}

#[test]
fn a_summary_with_a_ladder_survives_its_file() {
    let whole = summary(WHOLE);
    assert_eq!(Summary::from_json(&whole.to_json()).expect("because it was written so"), whole);
}
