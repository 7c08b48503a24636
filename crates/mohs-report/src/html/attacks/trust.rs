//! How far the attacks can be believed: signs of masked gradients, the audit of the fast search,
//! and what was asked of the models.

use mohs_score::model::robustness::AttackFindings;

use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::cell;
use crate::headline::attacks as headline;
use crate::number::{Unit, counted};

pub(super) fn section(found: &AttackFindings) -> Section {
    Section {
        id: "attacks-trust",
        nav: "Trust",
        title: "How far can the attacks be believed?".into(),
        body: masking(found) + &audit(found) + &calls(found),
    }
}

fn masking(found: &AttackFindings) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::text("Doubt", "is_suspect"),
        Column::estimate("Zero gradients", "zero_gradients", Unit::Share),
        Column::estimate("Random answers", "random_answers", Unit::Share),
        Column::count("Rows with probabilities", "n_probabilities"),
        Column::estimate("Square comes first", "black_box_first", Unit::Share),
    ]);
    for model in &found.models {
        let masking = &model.masking;
        sheet.push(vec![
            Cell::Text(model.model.to_string()),
            Cell::Text(if masking.is_suspect { "yes" } else { "no sign" }.into()),
            cell(masking.zero_gradients.as_ref(), "no gradients taken"),
            cell(masking.random_answers.as_ref(), "no rows"),
            Cell::Count(masking.n_probabilities),
            cell(masking.black_box_first.as_ref(), "no Square beside others"),
        ]);
    }
    format!(
        "<h3>Signs of masked gradients</h3>\n<p class=\"lede\">Attacks follow gradients. Where these \
         are zero, random or those of probabilities, or where Square, which asks for none, fools a \
         stimulus at a smaller ε than every other attack, they may not tell how robust a model is. \
         Square wins now and then by luck: it counts as a sign when the whole interval lies above \
         5 %.</p>\n<div class=\"stack deep short-table\">{}</div>\n",
        sheet.table("Signs of masked gradients")
    )
}

fn audit(found: &AttackFindings) -> String {
    let attacks = || found.tables.iter().flat_map(|table| &table.attacks);
    if attacks().all(|attack| attack.audit.is_none()) {
        return match attacks().map(|attack| attack.n_fast).sum::<usize>() {
            0 => "<h3>Search</h3>\n<p>Every ε comes from an exact search: each smaller one of the \
                  grid was tried, or proven to change nothing.</p>\n"
                .into(),
            n => format!(
                "<h3>Search</h3>\n<p>{} from the fast search, and none was audited.</p>\n",
                counted(n, "row comes", "rows come")
            ),
        };
    }
    let mut sheet = Sheet::new(vec![
        Column::text("Attack", "attack"),
        Column::text("Model", "model"),
        Column::estimate("Disagrees", "disagreement", Unit::Share),
        Column::count("Too large", "n_too_large"),
        Column::count("Too small", "n_too_small"),
        Column::count("Rows on trust", "n_fast"),
    ]);
    for attack in attacks() {
        let Some(audit) = &attack.audit else { continue };
        sheet.push(vec![
            Cell::Text(attack.attack.clone()),
            Cell::Text(attack.model.to_string()),
            Cell::Estimate(audit.disagreement),
            Cell::Count(audit.n_too_large),
            Cell::Count(audit.n_too_small),
            Cell::Count(attack.n_fast),
        ]);
    }
    format!(
        "<h3>The fast search, audited</h3>\n<p class=\"lede\">Some rows were searched both ways; \
         <i>n</i> says how many. <i>Too large</i>: the fast search missed a smaller ε, or any. The \
         exact answer counts on these; <i>rows on trust</i> have the fast one alone.</p>\n\
         <div class=\"stack deep short-table\">{}</div>\n",
        sheet.table("The fast search, audited")
    )
}

fn calls(found: &AttackFindings) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Attack", "attack"),
        Column::text("Model", "model"),
        Column::text("Settings", "settings"),
        Column::count("Answers", "n_forward"),
        Column::count("With gradient", "n_gradient"),
    ]);
    for attack in found.tables.iter().flat_map(|table| &table.attacks) {
        sheet.push(vec![
            Cell::Text(attack.attack.clone()),
            Cell::Text(attack.model.to_string()),
            Cell::Text(attack.settings.clone()),
            Cell::Count(headline::whole(attack.n_forward)),
            Cell::Count(headline::whole(attack.n_gradient)),
        ]);
    }
    format!(
        "<details class=\"numbers\"><summary>How often models were asked</summary>\n{}</details>\n",
        sheet.table("Calls of models by attack")
    )
}
