//! Accuracy by exposure: over all stimuli, and within each band of minimum viewing time.

use mohs_score::human::viewing_time::{BandFinding, ExposurePoint, ViewingTime};

use super::caveats::{self, Part};
use super::figure::Figure;
use super::section::Section;
use super::sheet::{Cell, Column, Sheet};
use crate::chart::bars::{self, Bar, BarGroup};
use crate::chart::legend::{Entry, Swatch};
use crate::chart::lines::{self, Level, Line, LinePoint};
use crate::chart::paint;
use crate::number::{Unit, axis_time, counted, fixed};

/// Accuracy over all stimuli.
pub(super) fn section(found: &ViewingTime) -> Section {
    let lines = [line("all stimuli", paint::ACCENT, &found.accuracy_by_exposure)];
    let mut sheet = Sheet::new(vec![
        Column::text("Exposure", "exposure_ms"),
        Column::estimate("Right answers", "accuracy", Unit::Share),
    ]);
    for point in &found.accuracy_by_exposure {
        sheet.push(vec![
            Cell::Ordered(point.exposure.to_string(), point.exposure.value()),
            Cell::Estimate(point.accuracy),
        ]);
    }
    let figure = Figure {
        id: "accuracy-by-exposure",
        title: "Right answers by exposure",
        caption: format!(
            "Share of right answers when a stimulus is shown for a given time and then masked. The \
             shaded band joins {}, made by drawing participants and stimuli anew; n&#160;=&#160;trials.",
            super::intervals(found)
        ),
        sheet,
    };
    let levels = levels(found);
    let chart = figure.html(|canvas| lines::over_exposure(canvas, &lines, &levels, figure.title));
    Section {
        id: "exposure",
        nav: "Exposure",
        title: "Accuracy by exposure".into(),
        body: format!("{}{chart}", caveats::notes(found, Part::Exposure)),
    }
}

/// Returns a line through the accuracy at each exposure.
pub(super) fn line(name: &str, paint: &str, points: &[ExposurePoint]) -> Line {
    let point = |point: &ExposurePoint| LinePoint {
        exposure: point.exposure,
        estimate: point.accuracy,
        tip: format!(
            "{} · {name}\n{}\nn = {}",
            point.exposure,
            Unit::Share.estimate(&point.accuracy),
            counted(point.accuracy.n, "trial", "trials")
        ),
    };
    Line { name: name.into(), paint: paint.into(), points: points.iter().map(point).collect() }
}

/// Returns the levels worth a line: the criterion and the chance of a right guess.
pub(super) fn levels(found: &ViewingTime) -> Vec<Level> {
    let percent = |share: f64| fixed(share * 100.0, if share < 0.1 { 1 } else { 0 });
    let method = &found.method;
    vec![
        Level { at: method.criterion, name: format!("criterion {} %", percent(method.criterion)) },
        Level { at: method.guess_rate, name: format!("guessing {} %", percent(method.guess_rate)) },
    ]
}

/// Accuracy within each band; `None` when there are no bands.
pub(super) fn bands_section(found: &ViewingTime) -> Option<Section> {
    if found.bands.is_empty() {
        return None;
    }
    let groups: Vec<BarGroup> = found.bands.iter().map(band_group).collect();
    let middle = paint::band(found.bands.len() / 2);
    let entries = [
        Entry {
            swatch: Swatch::PaleBox,
            paint: middle.clone(),
            name: "shorter than the band’s viewing time".into(),
        },
        Entry { swatch: Swatch::Box, paint: middle, name: "long enough".into() },
    ];
    let mut sheet = Sheet::new(vec![
        Column::text("Minimum viewing time", "band"),
        Column::text("Exposure", "exposure_ms"),
        Column::estimate("Right answers", "accuracy", Unit::Share),
    ]);
    for finding in &found.bands {
        for point in &finding.accuracy_by_exposure {
            sheet.push(vec![
                Cell::Ranked(finding.band.name(), finding.band.idx),
                Cell::Ordered(point.exposure.to_string(), point.exposure.value()),
                Cell::Estimate(point.accuracy),
            ]);
        }
    }
    let figure = Figure {
        id: "accuracy-within-bands",
        title: "Right answers by exposure, within each band",
        caption: format!(
            "One panel per minimum viewing time, easiest first; one bar per exposure in ms. The \
             dashed line is the criterion of {} %. Lines are {}; n&#160;=&#160;trials.",
            fixed(found.method.criterion * 100.0, 0),
            super::intervals(found)
        ),
        sheet,
    };
    let criterion = Some(found.method.criterion);
    let chart =
        figure.html(|canvas| bars::panels(canvas, &groups, &entries, criterion, figure.title));
    let body = format!("{}{chart}", caveats::notes(found, Part::Bands));
    let title = "Accuracy within bands of viewing time".into();
    Some(Section { id: "bands", nav: "Bands", title, body })
}

fn band_group(finding: &BandFinding) -> BarGroup {
    let name = match finding.band.mvt {
        Some(mvt) => format!("needs {mvt}"),
        None => "never recognised".into(),
    };
    let bar = |point: &ExposurePoint| Bar {
        label: axis_time(point.exposure),
        estimate: point.accuracy,
        paint: paint::band(finding.band.idx),
        is_pale: finding.band.mvt.is_none_or(|mvt| point.exposure < mvt),
        tip: format!(
            "{name}, shown {}\n{}\nn = {}",
            point.exposure,
            Unit::Share.estimate(&point.accuracy),
            counted(point.accuracy.n, "trial", "trials")
        ),
    };
    let bars = finding.accuracy_by_exposure.iter().map(bar).collect();
    let note = counted(finding.n_stimuli, "stimulus", "stimuli");
    BarGroup { label: name.clone(), note, bars }
}
