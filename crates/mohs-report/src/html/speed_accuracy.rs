//! Speed and accuracy: the chapter. Its tables are in `tables.rs`, its methods in `methods.rs`.

mod methods;
mod tables;

use mohs_score::human::speed_accuracy::{Category, Curve, CurvePoint, SpeedAccuracy};

use super::chapter::Chapter;
use super::figure::Figure;
use super::overview::{fact, fact_list, trials_counted};
use super::section::Section;
use super::sheet::{self, Cell, Column, Sheet};
use super::{caveats, exclusions};
use crate::chart::curves::{self, BandAt, CrossPoint, FittedCurve, ThinLine};
use crate::chart::heat::{self, HeatCell, HeatRow};
use crate::chart::lines::Level;
use crate::chart::paint;
use crate::escape::esc;
use crate::headline::speed_accuracy as headline;
use crate::number::{Unit, count, counted, fixed};

pub(super) fn chapter(found: &SpeedAccuracy) -> Chapter {
    let sections: [Option<Section>; 7] = [
        conditions(found),
        Some(tables::fits(found)),
        categories(found),
        Some(tables::ceilings(found)),
        Some(tables::participants(found)),
        Some(set_aside(found)),
        Some(methods::section(found)),
    ];
    Chapter {
        id: "speed-accuracy",
        name: "Speed and accuracy",
        answer: headline::answer(found),
        front: front(found),
        sections: sections.into_iter().flatten().collect(),
    }
}

fn front(found: &SpeedAccuracy) -> String {
    format!(
        "<p class=\"lede\">Based on {}; brackets are {}, <i>n</i> says how many observations stand \
         behind a number.</p>\n{}{}{}",
        esc(&headline::basis(found)),
        intervals(found),
        caveats::list(&found.caveats),
        facts(found),
        average(found),
    )
}

fn intervals(found: &SpeedAccuracy) -> String {
    format!("{} % intervals", fixed(found.method.confidence * 100.0, 0))
}

fn facts(found: &SpeedAccuracy) -> String {
    const PEOPLE: (&str, &str) = ("participant", "participants");
    let mut facts = Vec::new();
    let ends = [found.average.points.first(), found.average.points.last()];
    for point in ends.into_iter().flatten() {
        facts.push(fact(
            &format!("Right answers, beep at {}", point.beep),
            &sheet::estimate_of(Unit::Share, &point.accuracy, PEOPLE),
            "mean of participants",
        ));
    }
    if let Some(fit) = &found.average.fit {
        let scale = sheet::estimate_of(Unit::Time, &fit.scale_ms, PEOPLE);
        facts.push(fact("63 % of the rise done after", &scale, "time scale of the fitted curve"));
        if let Some(asymptote) = &fit.asymptote {
            let html = sheet::estimate_of(Unit::Share, asymptote, PEOPLE);
            facts.push(fact("With all the time", &html, "asymptote of the fitted curve"));
        }
    }
    let exclusions = "speed-accuracy-exclusions";
    facts.push(trials_counted(found.n_trials, found.n_trials_read, exclusions));
    fact_list(&facts)
}

/// The average over all conditions, before every participant's own line.
fn average(found: &SpeedAccuracy) -> String {
    let thin: Vec<ThinLine> = found
        .participants
        .iter()
        .map(|person| ThinLine {
            points: places(&person.all),
            paint: "var(--ink)".into(),
            tip: format!(
                "{}\n{}",
                person.participant,
                counted(person.all.n_trials, "trial", "trials")
            ),
        })
        .collect();
    let curves = [drawn(&found.average, "average", paint::ACCENT)];
    let figure = Figure {
        id: "accuracy-over-time",
        title: "Right answers over time",
        caption: format!(
            "Dots are the average participant in each block, at the mean time of the answers; bars \
             are one standard error over participants on either axis. The curve is the fit, its \
             band joins {}. Thin lines are single participants.",
            intervals(found)
        ),
        sheet: points_sheet(std::iter::once(&found.average)),
    };
    figure.html(|canvas| curves::over_time(canvas, &curves, &thin, &levels(found), figure.title))
}

fn conditions(found: &SpeedAccuracy) -> Option<Section> {
    if found.conditions.is_empty() {
        return None;
    }
    let curves: Vec<FittedCurve> = found
        .conditions
        .iter()
        .enumerate()
        .map(|(idx, curve)| drawn(curve, &tables::name(curve), &paint::set(idx)))
        .collect();
    let figure = Figure {
        id: "accuracy-over-time-by-condition",
        title: "Right answers over time, by condition",
        caption: format!(
            "The average participant in each condition, drawn as above: bars are one standard \
             error on either axis, curves are fits with {}.",
            intervals(found)
        ),
        sheet: points_sheet(found.conditions.iter()),
    };
    let chart =
        figure.html(|canvas| curves::over_time(canvas, &curves, &[], &levels(found), figure.title));
    Some(Section {
        id: "speed-accuracy-conditions",
        nav: "Conditions",
        title: "Conditions".into(),
        body: chart + &tables::differences(found),
    })
}

fn levels(found: &SpeedAccuracy) -> Vec<Level> {
    let at = found.method.guess_rate;
    vec![Level { at, name: format!("guessing {} %", fixed(at * 100.0, 1)) }]
}

fn places(curve: &Curve) -> Vec<(f64, f64)> {
    curve.points.iter().map(|point| (point.time.value(), point.accuracy.value)).collect()
}

fn drawn(curve: &Curve, name: &str, paint: &str) -> FittedCurve {
    let cross = |point: &CurvePoint| CrossPoint {
        time_ms: point.time.value(),
        share: point.accuracy.value,
        time_error_ms: point.rt_se_ms.unwrap_or_default(),
        share_error: point.accuracy_se.unwrap_or_default(),
        tip: format!(
            "{name} · beep at {}\n{}\nmean time {}\nn = {}",
            point.beep,
            Unit::Share.estimate(&point.accuracy),
            point.rt_ms.map_or_else(|| "not recorded".into(), |rt| Unit::Time.estimate(&rt)),
            counted(point.accuracy.n, "participant", "participants"),
        ),
    };
    let fit = curve.band.iter().map(|point| BandAt {
        time_ms: point.time.value(),
        value: point.accuracy.value,
        low: point.accuracy.low,
        high: point.accuracy.high,
    });
    FittedCurve {
        name: name.into(),
        paint: paint.into(),
        points: curve.points.iter().map(cross).collect(),
        fit: fit.collect(),
    }
}

fn points_sheet<'a>(curves: impl Iterator<Item = &'a Curve>) -> Sheet {
    let mut sheet = Sheet::new(vec![
        Column::text("Condition", "condition"),
        Column::text("Beep", "beep_ms"),
        Column::estimate("Right answers", "accuracy", Unit::Share),
        Column::text("Standard error", "accuracy_se"),
        Column::estimate("Mean time", "rt", Unit::Time),
        Column::text("Standard error", "rt_se_ms"),
        Column::count("Trials", "n_trials"),
        Column::count("Time-outs", "n_time_outs"),
    ]);
    let error = |error: Option<f64>, unit: Unit| {
        error.map_or(Cell::Missing("one participant"), |se| Cell::Ordered(unit.value(se), se))
    };
    for curve in curves {
        for point in &curve.points {
            sheet.push(vec![
                Cell::Text(tables::name(curve)),
                Cell::Ordered(point.beep.to_string(), point.beep.value()),
                Cell::Estimate(point.accuracy),
                error(point.accuracy_se, Unit::Share),
                point.rt_ms.map_or(Cell::Missing("not recorded"), Cell::Estimate),
                error(point.rt_se_ms, Unit::Time),
                Cell::Count(point.n_trials),
                Cell::Count(point.n_time_outs),
            ]);
        }
    }
    sheet
}

fn categories(found: &SpeedAccuracy) -> Option<Section> {
    if found.categories.len() < 2 {
        return None;
    }
    let last = |category: &Category| {
        category.accuracy.iter().rev().flatten().next().map_or(0.0, |estimate| estimate.value)
    };
    let mut sorted: Vec<&Category> = found.categories.iter().collect();
    sorted.sort_by(|a, b| last(b).total_cmp(&last(a)).then_with(|| a.label.cmp(&b.label)));
    let mut sheet = Sheet::new(vec![
        Column::text("Category", "label"),
        Column::text("Beep", "beep_ms"),
        Column::estimate("Right answers", "accuracy", Unit::Share),
    ]);
    let mut rows = Vec::new();
    for category in sorted {
        let mut cells = Vec::new();
        for (beep, accuracy) in found.beeps.iter().zip(&category.accuracy) {
            sheet.push(vec![
                Cell::Text(category.label.to_string()),
                Cell::Ordered(beep.to_string(), beep.value()),
                accuracy.map_or(Cell::Missing("no trials"), Cell::Estimate),
            ]);
            cells.push(accuracy.map(|accuracy| HeatCell {
                share: accuracy.value,
                tip: format!(
                    "{} · beep at {beep}\n{}\nn = {}",
                    category.label,
                    Unit::Share.estimate(&accuracy),
                    counted(accuracy.n, "participant", "participants")
                ),
            }));
        }
        rows.push(HeatRow { name: category.label.to_string(), cells });
    }
    let columns: Vec<String> = found.beeps.iter().map(|beep| fixed(beep.value(), 0)).collect();
    let figure = Figure {
        id: "accuracy-by-category",
        title: "Right answers by category and beep",
        caption: format!(
            "Percent right, mean of participants, all conditions together; easiest at the longest \
             beep first, deeper is better. {} are under <i>Numbers</i>; n&#160;=&#160;participants.",
            intervals(found)
        ),
        sheet,
    };
    let body =
        figure.html(|canvas| heat::cells(canvas, &rows, &columns, "Beep in ms", figure.title));
    Some(Section {
        id: "speed-accuracy-categories",
        nav: "Categories",
        title: "Categories".into(),
        body,
    })
}

fn set_aside(found: &SpeedAccuracy) -> Section {
    Section {
        id: "speed-accuracy-exclusions",
        nav: "Exclusions",
        title: "What was set aside".into(),
        body: format!(
            "<p class=\"lede\">{} read, {} counted, {} of them without an answer. Rules are applied \
             in this order; a trial is set aside once, by the first rule that says so.</p>\n{}",
            counted(found.n_trials_read, "beep trial", "beep trials"),
            count(found.n_trials),
            count(found.n_time_outs),
            exclusions::table(&found.exclusions),
        ),
    }
}
