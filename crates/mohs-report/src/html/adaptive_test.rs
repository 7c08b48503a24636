//! Adaptive tests: what a model knows by a part of the questions, what was asked, what was spared.

use mohs_score::adaptive::ladder::{AdaptiveTestFinding, GroupFinding};
use mohs_score::simulate::ladder::{DesignComparison, Errors};

use super::caveats;
use super::chapter::Chapter;
use super::figure::Figure;
use super::overview::{fact, fact_list};
use super::section::Section;
use super::sheet::{self, Cell, Column, Sheet};
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::paint;
use crate::escape::esc;
use crate::headline::adaptive_test as headline;
use crate::number::{Unit, count, fixed};

const ANSWERS: (&str, &str) = ("answer", "answers");

pub(super) fn chapter(found: &AdaptiveTestFinding) -> Chapter {
    let front = format!(
        "<p class=\"lede\">{} Brackets are {} % intervals for what a full run would say.</p>\n{}{}{}",
        esc(&headline::how(found)),
        fixed(found.confidence * 100.0, 0),
        caveats::list(&found.caveats),
        facts(found),
        by_group(found),
    );
    let sections = [
        Some(asked(found)),
        levels(found),
        cells(found),
        found.designs.as_ref().map(designs),
        Some(methods(found)),
    ];
    Chapter {
        id: "adaptive-test",
        name: "Adaptive test",
        answer: headline::answer(found),
        front,
        sections: sections.into_iter().flatten().collect(),
    }
}

fn facts(found: &AdaptiveTestFinding) -> String {
    let estimate =
        |estimate: &mohs_data::Estimate| sheet::estimate_of(Unit::Share, estimate, ANSWERS);
    let full = |value: Option<f64>| {
        value
            .map_or_else(String::new, |full| format!("a full run says {}", Unit::Share.value(full)))
    };
    let mut facts = vec![fact(
        "Accuracy",
        &estimate(&found.overall.accuracy),
        &full(found.overall.full_accuracy),
    )];
    if let Some(score) = &found.overall.score {
        facts.push(fact("Score by level", &estimate(score), &full(found.overall.full_score)));
    }
    let asked = format!("<b>{}</b>", Unit::Share.value(headline::share_asked(found)));
    let note = format!("{} of {} stimuli", count(found.n_asked), count(found.n_stimuli));
    facts.push(fact("Asked", &asked, &note));
    fact_list(&facts)
}

/// Accuracy and score over all and by attribute.
fn by_group(found: &AdaptiveTestFinding) -> String {
    let groups: Vec<&GroupFinding> =
        std::iter::once(&found.overall).chain(&found.attributes).collect();
    let figure = Figure {
        id: "adaptive-groups",
        title: "What the model knows",
        caption: "Share of right answers and score by level, over all stimuli and by attribute, \
                  estimated from the stimuli that were asked. n&#160;=&#160;answers."
            .into(),
        sheet: groups_sheet(&groups),
    };
    let rows: Vec<DotRow> = groups
        .iter()
        .enumerate()
        .map(|(idx, group)| {
            let name = headline::name(group);
            let dot = |what: &str, estimate: mohs_data::Estimate| Dot {
                estimate,
                tip: format!(
                    "{name}\n{what} {}\nn = {}",
                    Unit::Share.estimate(&estimate),
                    estimate.n
                ),
            };
            let mut dots = vec![dot("accuracy", group.accuracy)];
            dots.extend(group.score.map(|score| dot("score", score)));
            DotRow {
                note: format!("{} of {}", count(group.accuracy.n), count(group.n_stimuli)),
                dots,
                is_apart: idx == 1,
                name,
            }
        })
        .collect();
    let panel = |title: &str, idx: usize| DotPanel {
        title: title.into(),
        unit: Unit::Share,
        paint: paint::set(idx),
    };
    let mut panels = vec![panel("Accuracy", 0)];
    panels.extend(found.overall.score.map(|_| panel("Score by level", 1)));
    figure.html(|canvas| match canvas {
        crate::chart::Canvas::Wide => dots::rows(canvas, &rows, &panels, None, figure.title),
        crate::chart::Canvas::Narrow => (0..panels.len())
            .map(|idx| dots::rows(canvas, &rows, &panels, Some(idx), figure.title))
            .collect(),
    })
}

fn groups_sheet(groups: &[&GroupFinding]) -> Sheet {
    let has_full = groups.iter().any(|group| group.full_accuracy.is_some());
    let mut columns = vec![
        Column::text("Stimuli", "group"),
        Column::estimate("Accuracy", "accuracy", Unit::Share),
        Column::estimate("Score by level", "score", Unit::Share),
        Column::count("Stimuli there are", "n_stimuli"),
    ];
    if has_full {
        columns.push(Column::text("Accuracy of a full run", "full_accuracy"));
        columns.push(Column::text("Interval holds it", "holds"));
    }
    let mut sheet = Sheet::new(columns);
    for (idx, group) in groups.iter().enumerate() {
        let mut cells = vec![
            Cell::Ranked(headline::name(group), idx),
            Cell::Estimate(group.accuracy),
            group.score.map_or(Cell::Missing("one level"), Cell::Estimate),
            Cell::Count(group.n_stimuli),
        ];
        if has_full {
            cells.push(group.full_accuracy.map_or(Cell::Missing("not known"), |full| {
                Cell::Ordered(Unit::Share.value(full), full)
            }));
            cells.push(match headline::holds(group) {
                Some(true) => Cell::Text("yes".into()),
                Some(false) => Cell::Text("no".into()),
                None => Cell::Missing("not known"),
            });
        }
        sheet.push(cells);
    }
    sheet
}

fn asked(found: &AdaptiveTestFinding) -> Section {
    let mut columns = vec![Column::count("Round", "round"), Column::count("Asked", "n_asked")];
    for (level, _) in &found.levels {
        columns.push(Column {
            title: level.clone().into(),
            key: format!("n_{level}").into(),
            ..Column::count("", "")
        });
    }
    columns.push(Column::count("Right", "n_right"));
    let mut sheet = Sheet::new(columns);
    for (idx, round) in found.rounds.iter().enumerate() {
        let mut cells = vec![Cell::Count(idx + 1), Cell::Count(round.n_by_level.iter().sum())];
        cells.extend(round.n_by_level.iter().map(|n| Cell::Count(*n)));
        cells.resize(2 + found.levels.len(), Cell::Count(0));
        cells.push(Cell::Count(round.n_right));
        sheet.push(cells);
    }
    let references = match found.references.as_slice() {
        [] => "No reference models were used.".to_owned(),
        names => format!("Reference models: {}.", names.join(", ")),
    };
    let body = format!(
        "<p class=\"lede\">{} {} The file <code>asked.csv</code> lists every question with its \
         reason.</p>\n{}",
        esc(&headline::saved(found)),
        esc(&references),
        sheet.table("Questions by round and level")
    );
    Section { id: "adaptive-asked", nav: "Asked", title: "What was asked".into(), body }
}

fn levels(found: &AdaptiveTestFinding) -> Option<Section> {
    let groups: Vec<&GroupFinding> =
        found.by_level.iter().chain(&found.by_attribute_and_level).collect();
    if groups.is_empty() {
        return None;
    }
    let body = groups_sheet(&groups).table("By level, and by attribute and level");
    Some(Section { id: "adaptive-levels", nav: "Levels", title: "By level".into(), body })
}

/// Cells beyond this stand in `summary.json` alone.
const MOST_CELLS: usize = 200;

fn cells(found: &AdaptiveTestFinding) -> Option<Section> {
    if found.cells.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new(vec![
        Column::text("Class", "class"),
        Column::text("Attribute", "attribute"),
        Column::estimate("Accuracy", "accuracy", Unit::Share),
        Column::count("Stimuli there are", "n_stimuli"),
    ]);
    let mut weakest: Vec<_> = found.cells.iter().collect();
    weakest.sort_by(|a, b| a.accuracy.value.total_cmp(&b.accuracy.value));
    for cell in weakest.iter().take(MOST_CELLS) {
        sheet.push(vec![
            Cell::Text(cell.class.clone()),
            Cell::Text(cell.attribute.clone().unwrap_or_default()),
            Cell::Estimate(cell.accuracy),
            Cell::Count(cell.n_stimuli),
        ]);
    }
    let body = format!(
        "<p class=\"lede\">Weakest first{}. A few answers each, pulled towards what the rest say \
         (empirical Bayes), with credible intervals. Their mean is not the accuracy above: pulling is \
         a bias that does not cancel.</p>\n<div class=\"stack deep short-table\">{}</div>\n",
        if MOST_CELLS < found.cells.len() { ", the first 200" } else { "" },
        sheet.table("Accuracy by class and attribute")
    );
    Some(Section {
        id: "adaptive-cells",
        nav: "Classes",
        title: "By class and attribute".into(),
        body,
    })
}

fn designs(found: &DesignComparison) -> Section {
    let mut sheet = Sheet::new(vec![
        Column::text("Design and estimator", "arm"),
        Column::number("Bias, accuracy", "accuracy_bias"),
        Column::number("MSE", "accuracy_mse"),
        Column::number("Over the first", "accuracy_ratio"),
        Column::estimate("Intervals held", "accuracy_coverage", Unit::Share),
        Column::number("Bias, score", "score_bias"),
        Column::number("MSE", "score_mse"),
        Column::number("Over the first", "score_ratio"),
        Column::number("RMSE of cells", "cell_rmse"),
        Column::number("Over the first", "cell_ratio"),
    ]);
    sheet.has_n = false;
    let number = |value: f64, digits| Cell::Ordered(fixed(value, digits), value);
    for arm in &found.arms {
        let held = |errors: &Errors| errors.coverage.map_or(Cell::Missing("none"), Cell::Estimate);
        sheet.push(vec![
            Cell::Text(headline::arm(arm)),
            number(arm.accuracy.bias, 2),
            number(arm.accuracy.mse, 2),
            number(arm.accuracy.ratio, 2),
            held(&arm.accuracy),
            number(arm.score.bias, 2),
            number(arm.score.mse, 2),
            number(arm.score.ratio, 2),
            number(arm.cells.mse.sqrt(), 2),
            number(arm.cells.ratio.sqrt(), 2),
        ]);
    }
    let body = format!(
        "<p class=\"lede\">{} models{} whose every answer is known, each under test in turn with the \
         others as references: {} stimuli, {} resamples, seed {}. Bias in points, mean squared error \
         in points², over attributes.</p>\n<div class=\"stack deep short-table\">{}</div>\n",
        count(found.n_models),
        if found.is_simulated { ", simulated after the paper’s tables," } else { "" },
        count(found.n_stimuli),
        count(found.n_resamples),
        found.seed,
        sheet.table("Designs compared")
    );
    Section { id: "adaptive-designs", nav: "Designs", title: "Designs compared".into(), body }
}

fn methods(found: &AdaptiveTestFinding) -> Section {
    let weights: Vec<String> = found
        .levels
        .iter()
        .map(|(level, weight)| format!("{} {}", esc(level), fixed(*weight, 3)))
        .collect();
    let body = format!(
        "<div class=\"prose\"><p>Stimuli are drawn at random within strata of {}. With the designs \
         <code>static</code> and <code>neyman</code>, strata come in random order, and what is asked \
         in one depends on earlier rounds and on reference models alone, never on its own answers: \
         estimates are unbiased, and their variances add up. With <code>control-variate</code>, what \
         was forecast for a stimulus before its stratum was asked is subtracted as far as earlier \
         rounds bore it out. Intervals are Wilson’s with the number of answers that would have the \
         same variance. The score weighs levels: {}. The seed is {}.</p></div>\n",
        found.strata_by.words(),
        weights.join(", "),
        found.seed
    );
    Section { id: "adaptive-methods", nav: "Method", title: "How it was computed".into(), body }
}
