//! Do easier stimuli need larger changes? Differences, tests and correlations.

use mohs_score::model::robustness::{AttackFinding, AttackFindings, AttackTable};

use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::cell;
use crate::escape::esc;
use crate::headline::attacks as headline;
use crate::number::{Unit, fixed};

/// Returns the section, or `None` where nothing says how hard stimuli are.
pub(super) fn section(found: &AttackFindings) -> Option<Section> {
    let tables: Vec<&AttackTable> = found
        .tables
        .iter()
        .filter(|table| headline::is_main(table))
        .filter(|table| {
            table.attacks.iter().any(|a| a.easy_minus_hard.is_some() || a.correlation.is_some())
        })
        .collect();
    if tables.is_empty() {
        return None;
    }
    let body = format!(
        "<p class=\"lede\"><i>Easy − hard</i> is the area of the easiest band minus that of the \
         hardest: above 0, easier stimuli need larger ε. The log-rank test asks whether the two are \
         fooled at different ε, and the trend test whether all bands are fooled the sooner the harder \
         they are (<i>z</i> above 0); both take stimuli for independent. A negative τ says that what \
         people find hard is fooled at smaller ε; it counts survivors as larger than what is fooled \
         before them. C is the share of pairs in which the harder stimulus is fooled first.</p>\n{}",
        tables.iter().map(|table| by_model(found, table)).collect::<String>()
    );
    Some(Section {
        id: "attacks-difficulty",
        nav: "Easy and hard",
        title: "Do easier stimuli need larger changes?".into(),
        body,
    })
}

fn by_model(found: &AttackFindings, table: &AttackTable) -> String {
    let models = found.models.iter().map(|model| {
        let attacks: Vec<&AttackFinding> =
            table.attacks.iter().filter(|attack| attack.model == model.model).collect();
        match attacks.is_empty() {
            true => String::new(),
            false => format!(
                "<h3>{}: {}</h3>\n<div class=\"stack deep short-table\">{}</div>\n",
                esc(model.model.as_str()),
                headline::about(table),
                sheet(&attacks).table(&format!("Easy against hard, {}", model.model))
            ),
        }
    });
    models.collect()
}

/// Why an attack has no difference between easy and hard, where it has none.
fn why_no_difference(attack: &AttackFinding) -> &'static str {
    if attack.bands.len() < 2 { "too few bands" } else { "too few stimuli in a band" }
}

fn sheet(attacks: &[&AttackFinding]) -> Sheet {
    let correlations = attacks.iter().filter_map(|attack| attack.correlation.as_ref());
    let has_spearman = correlations.into_iter().any(|found| found.spearman.is_some());
    let mut columns = vec![
        Column::text("Attack", "attack"),
        Column::estimate("Easy − hard", "easy_minus_hard", Unit::Epsilon),
        Column::number("Log-rank p (Holm)", "log_rank_p_holm"),
        Column::number("Trend z", "trend_z"),
        Column::number("Trend p", "trend_p"),
        Column::estimate("τ with difficulty", "tau_b", Unit::Plain),
        Column::estimate("C", "concordance", Unit::Plain),
    ];
    if has_spearman {
        columns.push(Column::estimate("ρ, where all are fooled", "spearman", Unit::Plain));
    }
    let mut sheet = Sheet::new(columns);
    for attack in attacks {
        let correlation = attack.correlation.as_ref();
        let z = |z: f64| Cell::Ordered(fixed(z, 2), z);
        let mut cells = vec![
            Cell::Text(attack.attack.clone()),
            cell(attack.easy_minus_hard.as_ref(), why_no_difference(attack)),
            attack.log_rank.as_ref().map_or(Cell::Missing("–"), |test| Cell::PValue(test.p_holm)),
            attack.trend.as_ref().map_or(Cell::Missing("–"), |test| z(test.z)),
            attack.trend.as_ref().map_or(Cell::Missing("–"), |test| Cell::PValue(test.p)),
            cell(correlation.map(|found| &found.tau_b), "no difficulty"),
            cell(correlation.map(|found| &found.concordance), "no difficulty"),
        ];
        if has_spearman {
            let rho = correlation.and_then(|found| found.spearman.as_ref());
            cells.push(cell(rho, "some survive"));
        }
        sheet.push(cells);
    }
    sheet
}
