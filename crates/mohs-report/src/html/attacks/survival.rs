//! Shares that survive as ε grows, on easy and on hard stimuli, and the areas under them.

use mohs_score::model::robustness::{
    AttackFinding, AttackFindings, AttackTable, AttackedModel, SurvivalCurve,
};

use super::super::figure::Figure;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{cell, tip_line};
use crate::chart::paint;
use crate::chart::survival::{self, StepLine};
use crate::escape::esc;
use crate::headline::attacks as headline;
use crate::number::{Unit, counted};

/// Models in the chart; more cannot be told apart.
const MOST_MODELS: usize = 3;
/// Points of a line that say what they are.
const N_TIPS: usize = 10;

/// Returns the section, or `None` where nothing was attacked on a grid.
pub(super) fn section(found: &AttackFindings) -> Option<Section> {
    let main = headline::main_table(found).filter(|table| headline::is_main(table))?;
    let first = headline::shown_attack(main)?;
    let tables = || found.tables.iter().filter(|table| headline::is_main(table));
    let mut others = String::new();
    let mut n_others = 0;
    for table in tables() {
        for attack in attacks_of(table) {
            if std::ptr::eq(table, main) && attack == first {
                continue;
            }
            n_others += 1;
            let id = format!("attacks-survival-curves-{}", n_others + 1);
            others += &chart(found, table, attack, &id);
        }
    }
    if 0 < n_others {
        others = format!(
            "<details class=\"numbers\"><summary>The curves of {}</summary>\n{others}</details>\n",
            counted(n_others, "other attack", "other attacks")
        );
    }
    let areas: String = tables().map(|table| areas(found, table)).collect();
    Some(Section {
        id: "attacks-survival",
        nav: "Survival",
        title: "How many stimuli survive as the change grows?".into(),
        body: chart(found, main, first, "attacks-survival-curves") + &others + &areas,
    })
}

/// Returns the attacks of a table that fooled or could not fool something, each once, in order.
fn attacks_of(table: &AttackTable) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for finding in table.attacks.iter().filter(|finding| !finding.curves.is_empty()) {
        if !names.contains(&finding.attack.as_str()) {
            names.push(&finding.attack);
        }
    }
    names
}

fn chart(found: &AttackFindings, table: &AttackTable, attack: &str, id: &str) -> String {
    let shown: Vec<&AttackFinding> =
        table.attacks.iter().filter(|finding| finding.attack == attack).collect();
    let many = MOST_MODELS < shown.len();
    let shown = &shown[..shown.len().min(MOST_MODELS)];
    let curves: Vec<(usize, &AttackFinding, usize, &SurvivalCurve)> = shown
        .iter()
        .enumerate()
        .flat_map(|(model_idx, finding)| {
            let curves = finding.curves.iter().enumerate();
            curves.map(move |(idx, curve)| (model_idx, *finding, idx, curve))
        })
        .collect();
    let end = curves.iter().map(|(.., curve)| last(curve)).fold(0.0, f64::max);
    let lines: Vec<StepLine> = curves
        .iter()
        .map(|(model_idx, finding, idx, curve)| line(finding, curve, *model_idx, *idx, end))
        .collect();
    let mut sheet = Sheet::new(vec![
        Column::text("Model", "model"),
        Column::text("Band", "band"),
        Column::number("ε", "epsilon"),
        Column::count("Fooled", "n_fooled"),
        Column::estimate("Share not fooled", "survival", Unit::Share),
    ]);
    for (_, finding, _, curve) in &curves {
        for step in &curve.steps {
            sheet.push(vec![
                Cell::Text(finding.model.to_string()),
                Cell::Text(curve.band.clone().unwrap_or_else(|| "all".into())),
                Cell::Ordered(Unit::Epsilon.value(step.epsilon), step.epsilon),
                Cell::Count(step.n_fooled),
                Cell::Estimate(step.survival),
            ]);
        }
    }
    let bands = match found.bands.len() {
        0 | 1 => "",
        _ => " Full lines are the easiest band, broken ones the hardest.",
    };
    let models = if many { " Only the first three models are drawn." } else { "" };
    let figure = Figure {
        id,
        title: &format!("Share not fooled by {attack} ({})", headline::about(table)),
        caption: format!(
            "Kaplan and Meier’s curve: the share of stimuli that no change up to ε fools.{bands} \
             Shades are {} at each ε, as if stimuli were independent; <i>n</i> is how many had \
             survived every smaller ε.{models}",
            headline::intervals(found)
        ),
        sheet,
    };
    let axis = format!("ε ({})", esc(&headline::about(table)));
    figure.html(|canvas| survival::over_epsilon(canvas, &lines, &axis, figure.title))
}

/// Returns how far a curve says something: to where it is known, or to where nothing is left.
fn last(curve: &SurvivalCurve) -> f64 {
    let end = curve.steps.last().map_or(0.0, |step| step.epsilon);
    curve.known_to.unwrap_or(end)
}

fn line(
    finding: &AttackFinding,
    curve: &SurvivalCurve,
    model_idx: usize,
    idx: usize,
    end: f64,
) -> StepLine {
    let name = match &curve.band {
        Some(band) => format!("{}, {band}", finding.model),
        None => finding.model.to_string(),
    };
    let n = curve.steps.len();
    // A few at even distances in ε; steps themselves crowd where the curve is steep.
    let mut tips: Vec<(f64, f64, String)> = Vec::new();
    let width = end / as_real(N_TIPS);
    let mut next = 0.0;
    for (place, step) in curve.steps.iter().enumerate() {
        if next <= step.epsilon || place + 1 == n {
            let at = format!("{name}\nnot fooled up to ε {}", Unit::Epsilon.value(step.epsilon));
            tips.push((
                step.epsilon,
                step.survival.value,
                tip_line(&at, Unit::Share, &step.survival),
            ));
            next = step.epsilon + width;
        }
    }
    StepLine {
        name,
        paint: paint::set(model_idx),
        is_dashed: 0 < idx,
        falls: curve.steps.iter().map(|step| (step.epsilon, step.survival)).collect(),
        to: last(curve).min(end),
        tips,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a handful")]
fn as_real(n: usize) -> f64 {
    n as f64
}

/// The areas under the curves, attack by attack, one table for each model.
fn areas(found: &AttackFindings, table: &AttackTable) -> String {
    let horizon = Unit::Epsilon.value(table.horizon);
    let tables: String = found.models.iter().map(|model| areas_of(found, table, model)).collect();
    format!(
        "<h3>Area under the curve, up to ε {horizon}: {}</h3>\n\
         <p class=\"lede\">The same as the mean of the smallest ε when survivors count with ε \
         {horizon}: a bound from below where some survive. It needs no further call of the model. \
         <i>Of the whole</i> is the area for all stimuli divided by that ε: 100 % where nothing is \
         ever fooled.</p>\n{tables}",
        headline::about(table),
    )
}

fn areas_of(found: &AttackFindings, table: &AttackTable, model: &AttackedModel) -> String {
    let mut columns = vec![
        Column::text("Attack", "attack"),
        Column::estimate("All stimuli", "restricted_mean", Unit::Epsilon),
    ];
    columns.extend(found.bands.iter().map(|band| Column::named(&band.name, Unit::Epsilon)));
    columns.push(Column::estimate("Of the whole", "share_of_horizon", Unit::Share));
    let mut sheet = Sheet::new(columns);
    for attack in table.attacks.iter().filter(|attack| attack.model == model.model) {
        let why = "none attacked";
        let mut cells = vec![
            Cell::Text(attack.attack.clone()),
            cell(attack.overall.restricted_mean.as_ref(), why),
        ];
        cells.extend(attack.bands.iter().map(|band| cell(band.restricted_mean.as_ref(), why)));
        cells.resize(sheet.columns.len() - 1, Cell::Missing(why));
        cells.push(match attack.overall.restricted_mean {
            Some(mean) if 0.0 < table.horizon => Cell::Estimate(mean.scaled(1.0 / table.horizon)),
            _ => Cell::Missing(why),
        });
        sheet.push(cells);
    }
    if sheet.rows.is_empty() {
        return String::new();
    }
    format!(
        "<h3>{}</h3>\n<div class=\"stack deep short-table\">{}</div>\n",
        esc(model.model.as_str()),
        sheet.table(&format!("Areas under the curves of survivors, {}", model.model))
    )
}
