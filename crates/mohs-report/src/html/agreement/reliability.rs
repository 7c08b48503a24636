//! Reliability, noise ceilings and agreement in answers, by data set.

use mohs_data::Estimate;
use mohs_score::human::agreement::{Agreement, DatasetAgreement, Reliability};

use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use crate::number::Unit;

pub(super) fn section(found: &Agreement) -> Section {
    let mut sheet = Sheet::new(vec![
        Column::text("Data set", "dataset"),
        Column::text("Over", "over"),
        Column::estimate("Split-half r", "split_half", Unit::Plain),
        Column::estimate("Spearman–Brown", "spearman_brown", Unit::Plain),
        Column::estimate("Ceiling for a predictor", "ceiling", Unit::Plain),
        Column::estimate("One person with the others", "ceiling_low", Unit::Plain),
        Column::estimate("… with everybody", "ceiling_high", Unit::Plain),
        Column::estimate("Fleiss’ κ of answers", "fleiss_kappa", Unit::Plain),
    ]);
    for set in &found.datasets {
        if let Some(reliability) = &set.reliability {
            sheet.push(row(set, "all stimuli", reliability));
        }
        if let Some(reliability) = &set.reliability_within_conditions {
            sheet.push(row(set, "within conditions", reliability));
        }
    }
    let body = format!(
        "<p class=\"lede\">If other people had answered, would the same stimuli have been hard? \
         Split-half r correlates the share of right answers in two random halves of the people; \
         Spearman–Brown says what that means for all of them together. Its root is the ceiling: no \
         predictor of difficulty can be expected to correlate better with these people’s mean. The \
         two person columns bracket how well one person’s answers can be predicted. Over all \
         stimuli, conditions of different difficulty help; within conditions they do not. \
         n&#160;=&#160;stimuli.</p>\n<div class=\"tall\">{}</div>",
        sheet.table("Reliability and ceilings by data set")
    );
    Section {
        id: "agreement-reliability",
        nav: "Reliability",
        title: "How well does difficulty repeat?".into(),
        body,
    }
}

fn row(set: &DatasetAgreement, over: &str, found: &Reliability) -> Vec<Cell> {
    let cell = |estimate: Option<Estimate>| {
        estimate.map_or(Cell::Missing("answers do not vary enough"), Cell::Estimate)
    };
    let kappa = set.answers.as_ref().and_then(|answers| answers.fleiss_kappa);
    vec![
        Cell::Text(set.name.clone()),
        Cell::Text(over.into()),
        cell(found.split_half),
        cell(found.spearman_brown),
        cell(found.ceiling),
        cell(found.ceiling_low),
        cell(found.ceiling_high),
        kappa.map_or(Cell::Missing("answers unknown"), Cell::Estimate),
    ]
}
