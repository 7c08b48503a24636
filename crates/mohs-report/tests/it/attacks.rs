//! The chapter about attacks.

use std::collections::BTreeSet;

use mohs_data::ModelName;
use mohs_report::{
    AttackedPicture, Pictures, Summary, Thumbnail, attack_tables, render_csv, render_html,
    render_text,
};
use mohs_score::model::robustness::AttackFindings;

use crate::attacks_fixture::{Attacks, WHOLE, findings, summary};
use crate::page::{HOSTILE, assert_balanced, markup, section};

const ONE: Attacks = Attacks { n_models: 1, ..WHOLE };
const PLAIN: Attacks = Attacks { n_models: 2, has_difficulty: true, is_complete: false };
/// One model about whose stimuli nothing is known.
const BARE: Attacks = Attacks { n_models: 1, has_difficulty: false, is_complete: false };

fn with(change: impl Fn(&mut AttackFindings)) -> Summary {
    let mut summary = summary(WHOLE);
    change(summary.attacks.as_mut().expect("because the fixture has attacks"));
    summary
}

fn page(shape: Attacks) -> String {
    render_html(&summary(shape), &pictures("cup"))
}

fn pictures(answer: &str) -> Pictures {
    let thumbnail = || Thumbnail { mime: "image/png", bytes: b"png".to_vec(), width: 8, height: 8 };
    let mut pictures = Pictures::new();
    for factor in [31.0, 0.0] {
        pictures.push_attacked(AttackedPicture {
            model: "resnet50".into(),
            stimulus: "s01".into(),
            attack: "pgd".into(),
            norm: "linf".into(),
            epsilon: 0.004,
            label: "mug".into(),
            clean: "mug".into(),
            answer: answer.into(),
            band: Some("easy".into()),
            factor,
            before: thumbnail(),
            change: thumbnail(),
            after: thumbnail(),
        });
    }
    pictures
}

#[test]
fn pages_of_any_shape_are_sound() {
    for shape in [ONE, WHOLE, PLAIN, BARE, Attacks { n_models: 5, ..WHOLE }] {
        let html = page(shape);
        assert_balanced(&html);
        for word in markup(&html).split(|c: char| !c.is_alphanumeric()) {
            assert!(!["NaN", "inf", "infinity", "undefined", "null"].contains(&word), "{word}");
        }
        let markup = markup(&html);
        let ids: Vec<&str> =
            markup.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let different: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(different.len(), ids.len());
        for target in markup.split(" href=\"#").skip(1) {
            assert!(different.contains(target.split('"').next().unwrap()), "{target}");
        }
    }
}

#[test]
fn hostile_names_stay_names() {
    let hostile = with(|found| {
        for (idx, model) in found.models.iter_mut().enumerate() {
            let name = ModelName::new(HOSTILE[idx % HOSTILE.len()]);
            for attack in found.tables.iter_mut().flat_map(|table| &mut table.attacks) {
                if attack.model == model.model {
                    attack.model = name.clone();
                    attack.settings = HOSTILE[1].into();
                }
            }
            model.model = name;
        }
        found.bands[0].name = HOSTILE[0].into();
        found.tables[0].attacks[1].attack = HOSTILE[1].into();
        found.tables[0].comparisons[0].attack = HOSTILE[2].into();
        found.failures[0].reason = HOSTILE[1].into();
        found.method.difficulty = Some(HOSTILE[0].into());
    });
    let html = render_html(&hostile, &pictures(HOSTILE[1]));
    assert_balanced(&html);
    let honest = page(WHOLE);
    assert_eq!(html.matches("<script").count(), honest.matches("<script").count());
    assert_eq!(html.matches("<img").count(), honest.matches("<img").count());
    let markup = markup(&html);
    assert!(!markup.contains("<img src=x") && !markup.contains("\" onmouseover="));
    assert!(!render_text(&hostile).contains('\u{0}'));
}

#[test]
fn the_text_report_reads_well() {
    insta::assert_snapshot!(render_text(&summary(WHOLE)));
}

#[test]
fn the_text_report_without_difficulty_reads_well() {
    insta::assert_snapshot!(render_text(&summary(BARE)));
}

#[test]
fn a_band_of_one_stimulus_is_said_to_have_no_interval() {
    let few = with(|found| found.tables[0].attacks[0].easy_minus_hard = None);
    let text = render_text(&few).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("No difference between easy and hard for 1 attack: fewer than two"));
    assert!(markup(&render_html(&few, &pictures("cup"))).contains("too few stimuli in a band"));
}

#[test]
fn no_line_of_text_is_wider_than_a_terminal() {
    let long = with(|found| {
        let name = ModelName::new("convnext_xxlarge.clip_laion2b_soup_ft_in12k_in1k");
        for attack in found.tables.iter_mut().flat_map(|table| &mut table.attacks) {
            attack.model = name.clone();
            attack.attack += " (alpha=2/255 steps=10 restarts=5)";
        }
        for model in &mut found.models {
            model.model = name.clone();
        }
        for band in &mut found.bands {
            band.name = "a band with a long name".into();
        }
    });
    for summary in [long, summary(WHOLE), summary(ONE), summary(BARE)] {
        for line in render_text(&summary).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn a_chapter_has_these_headings() {
    let html = page(WHOLE);
    let headings: Vec<&str> = html
        .split("<h")
        .filter(|part| part.starts_with(['2', '3']))
        .map(|part| part.split("</h").next().unwrap())
        .collect();
    insta::assert_snapshot!(headings.join("\n"));
}

#[test]
fn the_answer_says_whether_easier_stimuli_need_more() {
    let answer = |summary: &Summary| {
        let html = render_html(summary, &Pictures::new());
        let start = html.find("<p class=\"answer\">").unwrap();
        html[start + 18..].split("</p>").next().unwrap().to_owned()
    };
    insta::assert_snapshot!(answer(&summary(WHOLE)));
    let unclear = with(|found| {
        for attack in &mut found.tables[0].attacks {
            let difference = attack.easy_minus_hard.as_mut().unwrap();
            (difference.low, difference.high) = (-0.01, 0.01);
        }
    });
    insta::assert_snapshot!(answer(&unclear));
    insta::assert_snapshot!(answer(&summary(BARE)));
    assert_eq!(answer(&with(|found| found.tables.clear())), "Nothing was attacked.");
}

#[test]
fn attacked_pictures_are_shown_with_their_factor() {
    let html = page(WHOLE);
    let gallery = section(&html, "attacks-gallery");
    assert_eq!(gallery.matches("<img").count(), 6);
    assert!(gallery.contains("change × 31") && gallery.contains("too small for 8 bits"));
    assert!(!summary(WHOLE).to_json().contains("base64"));
    assert!(!render_html(&summary(WHOLE), &Pictures::new()).contains("attacks-gallery"));
}

#[test]
fn survivors_and_bounds_are_not_mixed_in() {
    let html = page(WHOLE);
    assert!(!section(&html, "attacks-means").contains("ddn"));
    assert!(section(&html, "attacks-bounds").contains("ddn"));
    assert!(section(&html, "attacks-corrected").contains("Corrected"));
    assert!(section(&html, "attacks-means").contains("Survived"));
}

#[test]
fn every_table_has_rows_of_one_width() {
    let tables = attack_tables(&findings(WHOLE));
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    insta::assert_snapshot!(names.join("\n"));
    for (name, csv) in &tables {
        // No name in the fixture has a comma.
        let widths: BTreeSet<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(widths.len(), 1, "{name}: {widths:?}");
    }
    assert_eq!(render_csv(&summary(WHOLE)), tables[0].1);
    let bare: Vec<&str> = attack_tables(&findings(BARE)).iter().map(|(name, _)| *name).collect();
    assert!(!bare.contains(&"trend.csv") && !bare.contains(&"gains.csv"), "{bare:?}");
}

#[test]
fn a_summary_with_attacks_comes_back_as_it_went_and_keeps_other_chapters() {
    let ours = summary(WHOLE);
    assert_eq!(Summary::from_json(&ours.to_json()).unwrap(), ours);
    let later = Summary::new("later", "0.1.0", 7, false).with_chapters_of(ours.clone());
    assert_eq!(later.attacks, ours.attacks);
}
