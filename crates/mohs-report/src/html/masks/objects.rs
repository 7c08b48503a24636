//! Where objects lie, how large they are, what a standard crop leaves of them; by label too.

use mohs_data::Estimate;
use mohs_score::human::object_masks::{LabelFinding, ObjectMasks};

use super::{Drawn, cell, histogram, intervals};
use crate::chart::dots::{self, Dot, DotPanel, DotRow};
use crate::chart::{Canvas, coverage, paint};
use crate::html::figure::Figure;
use crate::html::section::Section;
use crate::html::sheet::{Cell, Column, Sheet};
use crate::number::{Unit, counted};
use crate::outlined;

/// Labels in the chart; more are left to the table.
const MOST_CHARTED: usize = 40;

const OBJECTS: (&str, &str, &str) = ("object", "objects", "Objects");

/// Returns the section, or `None` without objects that have a place.
pub(super) fn section(found: &ObjectMasks) -> Option<Section> {
    let size = found.size.as_ref()?;
    let crop = outlined::crop(found);
    let lost_caption = format!(
        "Share of each object outside the crop that models are tested on ({crop}), computed on the \
         mask itself."
    );
    let mut body = histogram(
        size,
        found.method.confidence,
        &Drawn {
            id: "masks-size",
            title: "Size",
            caption: "Share of the picture that the voted object fills.",
            x_title: "Share of the picture",
            things: OBJECTS,
        },
    );
    let others = [
        (
            &found.offset,
            Drawn {
                id: "masks-offset",
                title: "Distance from the centre",
                caption: "From the middle of the picture to the middle of the object: 0 % is the \
                          centre, 100 % a corner.",
                x_title: "Distance, as share of half the diagonal",
                things: OBJECTS,
            },
        ),
        (
            &found.lost_share,
            Drawn {
                id: "masks-lost",
                title: "Lost by the standard crop",
                caption: &lost_caption,
                x_title: "Share of the object lost",
                things: OBJECTS,
            },
        ),
    ];
    for (of, drawn) in others {
        body += &of
            .as_ref()
            .map(|of| histogram(of, found.method.confidence, &drawn))
            .unwrap_or_default();
    }
    body += &coverage(found);
    Some(Section { id: "masks-objects", nav: "Objects", title: "How objects lie".into(), body })
}

fn coverage(found: &ObjectMasks) -> String {
    let n = (1..=64_usize).find(|n| n * n == found.coverage.len());
    let Some(n) = n else { return String::new() };
    let mut sheet = Sheet::new(vec![
        Column::count("Row", "row"),
        Column::count("Column", "column"),
        Column::text("Mean share covered", "covered"),
    ]);
    for (idx, share) in found.coverage.iter().enumerate() {
        sheet.push(vec![
            Cell::Count(idx / n + 1),
            Cell::Count(idx % n + 1),
            Cell::Ordered(Unit::Share.value(*share), *share),
        ]);
    }
    let figure = Figure {
        id: "masks-coverage",
        title: "Where objects are, after the crop",
        caption: format!(
            "All voted objects laid over each other in the crop ({}); the stronger a cell’s colour, the larger \
             the share of it that objects cover on average. A description of these {}, without \
             intervals.",
            outlined::crop(found),
            counted(found.objects.len(), "object", "objects")
        ),
        sheet,
    };
    figure.html(|canvas| coverage::square(canvas, &found.coverage, figure.title))
}

/// Returns results by label; `None` for a single label.
pub(super) fn labels(found: &ObjectMasks) -> Option<Section> {
    if found.by_label.len() < 2 {
        return None;
    }
    let confidence = found.method.confidence;
    let mut sheet = Sheet::new(vec![
        Column::text("Label", "label"),
        Column::count("Objects", "n_objects"),
        Column::estimate("Overlap of two people", "agreement", Unit::Share),
        Column::estimate("Size", "size", Unit::Share),
        Column::estimate("Distance from the centre", "offset", Unit::Share),
        Column::estimate("Lost by the crop", "lost_share", Unit::Share),
    ]);
    for group in &found.by_label {
        sheet.push(vec![
            Cell::Text(group.label.to_string()),
            Cell::Count(group.n_objects),
            cell(group.agreement, confidence, "one drawing each"),
            cell(group.size, confidence, "no voted object"),
            cell(group.offset, confidence, "no voted object"),
            cell(group.lost_share, confidence, "no voted object"),
        ]);
    }
    let rows = rows(found);
    let figure = Figure {
        id: "masks-by-label",
        title: "Size and distance from the centre by label",
        caption: format!(
            "Means over a label’s objects, smallest objects first. Labels with a single object have \
             no interval and stand under <i>Numbers</i>. Lines are {} over objects.",
            intervals(found)
        ),
        sheet,
    };
    let panel = |title: &str, paint: &str| DotPanel {
        title: title.into(),
        unit: Unit::Share,
        paint: paint.into(),
    };
    let panels = [
        panel("Size, share of the picture", paint::ACCENT),
        panel("Distance from the centre", "var(--accent-2)"),
    ];
    let body = figure.html(|canvas| match canvas {
        Canvas::Wide => dots::rows(canvas, &rows, &panels, None, figure.title),
        Canvas::Narrow => (0..panels.len())
            .map(|idx| dots::rows(canvas, &rows, &panels, Some(idx), &panels[idx].title))
            .collect(),
    });
    Some(Section { id: "masks-labels", nav: "Labels", title: "By label".into(), body })
}

/// Labels that have both numbers with intervals, smallest objects first.
fn rows(found: &ObjectMasks) -> Vec<DotRow> {
    let confidence = found.method.confidence;
    let both = |group: &LabelFinding| -> Option<[Estimate; 2]> {
        Some([group.size?.estimate(confidence)?, group.offset?.estimate(confidence)?])
    };
    let mut groups: Vec<(&LabelFinding, [Estimate; 2])> =
        found.by_label.iter().filter_map(|group| Some((group, both(group)?))).collect();
    groups.sort_by(|a, b| {
        a.1[0].value.total_cmp(&b.1[0].value).then_with(|| a.0.label.cmp(&b.0.label))
    });
    let row = |(group, numbers): &(&LabelFinding, [Estimate; 2])| DotRow {
        name: group.label.to_string(),
        note: counted(group.n_objects, "object", "objects"),
        dots: numbers
            .iter()
            .map(|estimate| Dot {
                estimate: *estimate,
                tip: format!(
                    "{}\n{}\nn = {}",
                    group.label,
                    Unit::Share.estimate(estimate),
                    counted(estimate.n, "object", "objects")
                ),
            })
            .collect(),
        is_apart: false,
    };
    groups.iter().take(MOST_CHARTED).map(row).collect()
}
