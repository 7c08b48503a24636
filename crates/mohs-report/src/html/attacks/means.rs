//! Mean ε by attack and band, in the form of the paper's table: attacks down, bands across.

use mohs_data::Goal;
use mohs_score::model::robustness::{AttackFinding, AttackFindings, AttackTable};

use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::cell;
use crate::escape::esc;
use crate::headline::attacks as headline;
use crate::number::Unit;

pub(super) fn section(found: &AttackFindings) -> Section {
    let tables: Vec<&AttackTable> =
        found.tables.iter().filter(|table| headline::is_main(table)).collect();
    let body = match tables.is_empty() {
        true => {
            "<p class=\"lede\">No attack on a grid of ε was meant to fool a model.</p>\n".into()
        }
        false => format!(
            "<p class=\"lede\">Mean of the smallest ε that fools the model, over the stimuli that it \
             fools: as the paper has it. Stimuli that the model gets wrong without an attack are left \
             out. Survivors are left out of this mean too, so where there are many, read the areas \
             in the next section instead.</p>\n{}",
            tables.iter().map(|table| by_model(found, table)).collect::<String>()
        ),
    };
    Section {
        id: "attacks-means",
        nav: "Mean ε",
        title: "How large a change fools the model?".into(),
        body,
    }
}

/// Returns one table for each model.
pub(super) fn by_model(found: &AttackFindings, table: &AttackTable) -> String {
    let models = found.models.iter().map(|model| {
        let attacks: Vec<&AttackFinding> =
            table.attacks.iter().filter(|attack| attack.model == model.model).collect();
        match attacks.is_empty() {
            true => String::new(),
            false => format!(
                "<h3>{}: {}</h3>\n<div class=\"stack deep short-table\">{}</div>\n",
                esc(model.model.as_str()),
                headline::about(table),
                sheet(found, table, &attacks)
                    .table(&format!("Mean ε by attack and band, {}", model.model))
            ),
        }
    });
    models.collect::<String>() + &step_lengths(table)
}

/// Says which attacks call the length of a step ε, where others stand beside them.
fn step_lengths(table: &AttackTable) -> String {
    let names: Vec<String> = table.step_lengths().into_iter().map(esc).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(
            "<p>ε is the length of a step for {}, and the whole change may be several times as \
             large: not to be held against the others.</p>\n",
            names.join(", ")
        ),
    }
}

fn sheet(found: &AttackFindings, table: &AttackTable, attacks: &[&AttackFinding]) -> Sheet {
    let mut columns = vec![
        Column::text("Attack", "attack"),
        Column::estimate("All stimuli", "mean_fooled", Unit::Epsilon),
    ];
    columns.extend(found.bands.iter().map(|band| Column::named(&band.name, Unit::Epsilon)));
    let reached = if table.goal == Goal::Correct { "Corrected" } else { "Fooled" };
    columns.push(Column { title: reached.into(), ..Column::count("", "n_fooled") });
    columns.push(Column::count("Survived", "n_survived"));
    columns.push(Column::count("Not attacked", "n_not_attacked"));
    let why = "fewer than 2 fooled";
    let mut sheet = Sheet::new(columns);
    for attack in attacks {
        let mut cells =
            vec![Cell::Text(attack.attack.clone()), cell(attack.overall.mean_fooled.as_ref(), why)];
        cells.extend(attack.bands.iter().map(|band| cell(band.mean_fooled.as_ref(), why)));
        cells.resize(2 + found.bands.len(), Cell::Missing("no such band"));
        cells.extend([
            Cell::Count(attack.overall.n_fooled),
            Cell::Count(attack.overall.n_survived),
            Cell::Count(attack.overall.n_not_attacked),
        ]);
        sheet.push(cells);
    }
    sheet
}
