//! Whether people find the levels as hard as they were meant.

use mohs_score::model::hierarchy::{LadderFindings, LevelValidity};

use super::super::figure::Figure;
use super::super::long_table;
use super::super::section::Section;
use super::super::sheet::{Cell, Column, Sheet};
use super::{STIMULI, cell, headline, tip_line};
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::paint;
use crate::number::{Unit, count, counted};

/// Returns the section, or `None` without comparisons.
pub(super) fn section(found: &LadderFindings) -> Option<Section> {
    let validity = found.validity.as_ref()?;
    Some(Section {
        id: "ladder-validity",
        nav: "Levels for people",
        title: "Do people find harder levels harder?".into(),
        body: figure(found, validity) + &in_order(validity) + &components(validity),
    })
}

fn figure(found: &LadderFindings, validity: &LevelValidity) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Level", "level"),
        Column::estimate("Mean difficulty", "difficulty", Unit::Plain),
    ]);
    let mut rows = Vec::new();
    for (place, group) in validity.levels.iter().enumerate() {
        sheet.push(vec![
            Cell::Ranked(group.level.clone(), place),
            cell(group.difficulty.as_ref(), "cannot be told"),
        ]);
        rows.extend(group.difficulty.map(|estimate| DotRow {
            name: group.level.clone(),
            note: count(estimate.n),
            dots: vec![Dot { estimate, tip: tip_line(&group.level, Unit::Plain, &estimate) }],
            is_apart: false,
        }));
    }
    let panel = DotPanel {
        title: "Difficulty in log-odds".into(),
        unit: Unit::Plain,
        paint: paint::ACCENT.into(),
    };
    let figure = Figure {
        id: "ladder-level-difficulty",
        title: "Difficulty for people by the level that was meant",
        caption: format!(
            "From {} of {} about {} in {}: mean difficulty by Bradley and Terry, against the mean of \
             the group. Groups that no comparison joins are never compared. Lines are {} that draw \
             people; the number on the right is n&#160;=&#160;stimuli.",
            counted(validity.n_judgements, "judgement", "judgements"),
            counted(validity.n_participants, "participant", "participants"),
            counted(validity.n_stimuli, STIMULI.0, STIMULI.1),
            counted(validity.n_components, "group", "groups"),
            headline::intervals(found)
        ),
        sheet,
    };
    figure
        .html(|canvas| dots::rows(canvas, &rows, std::slice::from_ref(&panel), None, figure.title))
}

fn in_order(validity: &LevelValidity) -> String {
    let mut sheet = Sheet::new(vec![
        Column::text("Levels", "levels"),
        Column::estimate("Pairs in order", "in_order", Unit::Share),
    ]);
    let row = |name: String, share: Option<&mohs_data::Estimate>| {
        vec![Cell::Text(name), cell(share, "no such pair")]
    };
    sheet.push(row("all".into(), validity.in_order.as_ref()));
    for pair in &validity.pairs {
        let name = format!("{} before {}", pair.easier, pair.harder);
        sheet.push(row(name, pair.in_order.as_ref()));
    }
    format!(
        "<h3>Pairs in the order that was meant</h3>\n<p class=\"lede\">Of all pairs of stimuli of one \
         group and of different levels, those whose difficulty for people is in the order of the \
         levels; by chance half are. <i>n</i> is the number of pairs. Kendall’s τ-b of level and \
         difficulty, mean over groups: {}.</p>\n{}",
        validity.within.kendall.as_ref().map_or_else(
            || "cannot be told".into(),
            |tau| format!(
                "{}, n&#160;=&#160;{}",
                Unit::Plain.estimate(tau),
                counted(tau.n, "group", "groups")
            )
        ),
        sheet.table("Pairs in the order that was meant")
    )
}

fn components(validity: &LevelValidity) -> String {
    if validity.components.len() < 2 {
        return String::new();
    }
    let mut sheet = Sheet::new(vec![
        Column::text("Group", "group"),
        Column::count("Stimuli", "n_stimuli"),
        Column::estimate("Kendall’s τ-b", "kendall", Unit::Plain),
    ]);
    sheet.has_n = false;
    for component in &validity.components {
        sheet.push(vec![
            Cell::Text(component.name.clone()),
            Cell::Count(component.n_stimuli),
            cell(component.kendall.as_ref(), "one level only"),
        ]);
    }
    let table = long_table::table(&sheet, "ladder-groups-table", "Level and difficulty by group");
    long_table::folded("Level and difficulty, group by group", &table)
}
