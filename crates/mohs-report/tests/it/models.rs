//! The chapter about models.

use std::collections::BTreeSet;

use mohs_data::{Label, ModelName};
use mohs_report::{Pictures, Summary, model_tables, render_csv, render_html, render_text};
use mohs_report::{Thumbnail, stimuli_for_gallery};
use mohs_score::model::ModelFindings;

use crate::models_fixture::{MANY, Models, findings, summary};
use crate::page::{HOSTILE, assert_balanced, markup, pictures, section};

const ONE: Models = Models { n_models: 1, ..MANY };
const THREE: Models = Models { n_models: 3, ..MANY };
/// Three models about whose stimuli nothing is known but the right answers.
const BARE: Models = Models { n_models: 3, n_labels: 4, is_complete: false };

fn page(shape: Models) -> String {
    let summary = summary(shape);
    render_html(&summary, &pictures(&summary))
}

fn with(change: impl Fn(&mut ModelFindings)) -> Summary {
    let mut summary = summary(THREE);
    change(summary.models.as_mut().expect("because the fixture has models"));
    summary
}

#[test]
fn pages_of_any_size_are_sound() {
    for shape in [ONE, THREE, MANY, BARE, Models { n_models: 60, ..MANY }] {
        let html = page(shape);
        assert_balanced(&html);
        for word in markup(&html).split(|c: char| !c.is_alphanumeric()) {
            assert!(!["NaN", "inf", "infinity", "undefined", "null"].contains(&word), "{word}");
        }
    }
}

#[test]
fn every_id_is_there_once_and_every_link_leads_somewhere() {
    let html = page(MANY);
    let markup = markup(&html);
    let ids: Vec<&str> =
        markup.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let different: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(different.len(), ids.len());
    for target in markup.split(" href=\"#").skip(1) {
        let target = target.split('"').next().unwrap();
        assert!(different.contains(target), "{target}");
    }
}

#[test]
fn hostile_names_stay_names() {
    let hostile = with(|found| {
        for (idx, model) in found.models.iter_mut().enumerate() {
            let name = ModelName::new(HOSTILE[idx % HOSTILE.len()]);
            for pair in &mut found.comparisons {
                for side in [&mut pair.first, &mut pair.second] {
                    if *side == model.model {
                        *side = name.clone();
                    }
                }
            }
            if let Some(family) = &mut model.family {
                family.name = HOSTILE[1].into();
            }
            model.model = name;
        }
        found.bands[0].name = HOSTILE[0].into();
        found.axes[0].name = HOSTILE[1].into();
        found.axes[0].values[0].name = HOSTILE[2].into();
        found.labels[0].name = HOSTILE[3].into();
        found.ties = vec![vec![ModelName::new(HOSTILE[1]), ModelName::new(HOSTILE[0])]];
        found.failures[0].reason = HOSTILE[1].into();
        found.method.difficulty = Some(HOSTILE[0].into());
        let gap = found.gap.as_mut().unwrap();
        (gap.first, gap.second) = (HOSTILE[0].into(), HOSTILE[1].into());
        let surprise = &mut found.surprises.as_mut().unwrap().easy_but_failed[0];
        surprise.label = Some(Label::new(HOSTILE[1]));
        surprise.usual_mistake = Some((Label::new(HOSTILE[0]), 3));
    });
    let html = render_html(&hostile, &pictures(&hostile));
    assert_balanced(&html);
    let honest = render_html(&with(|_| {}), &pictures(&with(|_| {})));
    assert_eq!(html.matches("<script").count(), honest.matches("<script").count());
    assert_eq!(html.matches("<img").count(), honest.matches("<img").count());
    let markup = markup(&html);
    assert!(!markup.contains("<img src=x") && !markup.contains("\" onmouseover="));
    assert!(!render_text(&hostile).contains('\u{0}'));
}

#[test]
fn names_with_commas_survive_csv() {
    let summary = with(|found| found.models[0].model = ModelName::new("a \"big\", 椅子 model"));
    let csv = render_csv(&summary);
    assert!(csv.contains("\"a \"\"big\"\", 椅子 model\",ResNet,,1200,"), "{csv}");
}

#[test]
fn the_text_report_reads_well() {
    insta::assert_snapshot!(render_text(&summary(THREE)));
}

#[test]
fn the_text_report_without_difficulty_reads_well() {
    insta::assert_snapshot!(render_text(&summary(BARE)));
}

#[test]
fn no_line_of_text_is_wider_than_a_terminal() {
    let long = with(|found| {
        found.models[0].model = ModelName::new("convnext_xxlarge.clip_laion2b_soup_ft_in12k_in1k");
        for band in &mut found.bands {
            band.name = "a band with a long name".into();
        }
        found.axes[0].name = "a condition with a very long name that goes on and on and on".into();
    });
    for summary in [long, summary(MANY), summary(ONE), summary(BARE)] {
        for line in render_text(&summary).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn a_chapter_has_these_headings() {
    let html = page(MANY);
    let headings: Vec<&str> = html
        .split("<h")
        .filter(|part| part.starts_with(['2', '3']))
        .map(|part| part.split("</h").next().unwrap())
        .collect();
    insta::assert_snapshot!(headings.join("\n"));
}

#[test]
fn the_answer_says_who_is_ahead_and_whether_it_is_certain() {
    let answer = |summary: &Summary| {
        let html = render_html(summary, &Pictures::new());
        let start = html.find("<p class=\"answer\">").unwrap();
        html[start + 18..].split("</p>").next().unwrap().to_owned()
    };
    insta::assert_snapshot!(answer(&summary(THREE)));
    let clear = with(|found| {
        for pair in &mut found.comparisons {
            pair.p_holm = 0.0004;
        }
    });
    insta::assert_snapshot!(answer(&clear));
    let tie = with(|found| {
        for pair in &mut found.comparisons {
            pair.p_holm = 0.7;
        }
    });
    insta::assert_snapshot!(answer(&tie));
    let unjudged = with(|found| {
        for model in &mut found.models {
            model.accuracy = None;
        }
    });
    assert_eq!(
        answer(&unjudged),
        "Nothing says what the right answers are, so accuracy is not known."
    );
    let silent = with(|found| {
        found.models.clear();
        found.n_answered = 0;
    });
    assert_eq!(answer(&silent), "No model gave an answer.");
}

#[test]
fn a_band_without_answers_is_missing_and_not_zero() {
    let summary = with(|found| found.models[0].bands[2] = None);
    let html = render_html(&summary, &Pictures::new());
    assert!(section(&html, "models-bands").contains("no answers"));
    let line = |csv: &str| {
        csv.lines().find(|line| line.starts_with("ResNet-18,ResNet,100 ms")).unwrap().to_owned()
    };
    assert_eq!(line(&render_csv(&summary)), "ResNet-18,ResNet,100 ms,,,,,,,,,,,,,,,,");
}

#[test]
fn pictures_of_surprises_are_asked_for_and_shown() {
    let summary = summary(MANY);
    let wanted = stimuli_for_gallery(&summary);
    let surprises = summary.models.as_ref().unwrap().surprises.as_ref().unwrap();
    for surprise in surprises.easy_but_failed.iter().chain(&surprises.hard_but_solved) {
        assert!(wanted.contains(&surprise.stimulus), "{}", surprise.stimulus);
    }
    let thumbnail = Thumbnail { mime: "image/png", bytes: b"png".to_vec(), width: 8, height: 8 };
    let pictures: Pictures = wanted.iter().map(|id| (id.clone(), thumbnail.clone())).collect();
    let html = render_html(&summary, &pictures);
    assert_eq!(section(&html, "models-surprises").matches("<img").count(), wanted.len());
    let bare = render_html(&summary, &Pictures::new());
    assert!(section(&bare, "models-surprises").contains("no picture"));
}

#[test]
fn hundreds_of_pairs_stay_small() {
    let html = page(Models { n_models: 60, n_labels: 1_000, ..MANY });
    assert!(html.len() < 3_500_000, "{} bytes", html.len());
    assert!(section(&html, "models-pairs").contains("25 of 1770 rows"));
}

#[test]
fn every_table_has_rows_of_one_width() {
    let tables = model_tables(&findings(MANY));
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    insta::assert_snapshot!(names.join("\n"));
    for (name, csv) in &tables {
        // No name in the fixture has a comma.
        let widths: BTreeSet<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(widths.len(), 1, "{name}: {widths:?}");
    }
    let bare: Vec<&str> = model_tables(&findings(BARE)).iter().map(|(name, _)| *name).collect();
    assert!(!bare.contains(&"gap.csv") && bare.contains(&"accuracy.csv"), "{bare:?}");
}

#[test]
fn a_summary_with_models_comes_back_as_it_went() {
    let summary = summary(MANY);
    assert_eq!(Summary::from_json(&summary.to_json()).unwrap(), summary);
}
