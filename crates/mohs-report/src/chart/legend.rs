//! Legends: what the colours and shapes of a chart mean, in rows that wrap.
//!
//! They are part of the SVG, so that a downloaded chart explains itself.

use super::svg::{Anchor, Rect, Svg};
use crate::width;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Swatch {
    /// A filled box.
    Box,
    /// A box with a pale inside.
    PaleBox,
    /// A line with a point.
    Line,
    /// A line, broken.
    Dashes,
}

/// One series and its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) swatch: Swatch,
    pub(crate) paint: String,
    pub(crate) name: String,
}

const ROW: f64 = 20.0;
const SWATCH: f64 = 12.0;
const GAP: f64 = 18.0;
const LONGEST_NAME: usize = 40;

/// Returns the height a legend takes, 0 when it has no entry.
pub(crate) fn height(entries: &[Entry], max_width: f64) -> f64 {
    places(entries, max_width).last().map_or(0.0, |(_, y)| y + ROW + 6.0)
}

/// Draws a legend with its upper left corner at `(x, y)`.
pub(crate) fn draw(svg: &mut Svg, entries: &[Entry], x: f64, y: f64, max_width: f64) {
    for (entry, (dx, dy)) in entries.iter().zip(places(entries, max_width)) {
        let (x, y) = (x + dx, y + dy);
        let swatch = Rect { x, y: y + 2.0, width: SWATCH, height: SWATCH };
        match entry.swatch {
            Swatch::Box => svg.rect("fill", &entry.paint, swatch),
            Swatch::PaleBox => svg.rect("fill pale", &entry.paint, swatch),
            Swatch::Dashes => {
                let middle = y + 2.0 + SWATCH / 2.0;
                let ends = [(x - 2.0, middle), (x + SWATCH + 2.0, middle)];
                svg.polyline("stroke dashed", &entry.paint, &ends);
            }
            Swatch::Line => {
                let middle = y + 2.0 + SWATCH / 2.0;
                let ends = [(x - 2.0, middle), (x + SWATCH + 2.0, middle)];
                svg.polyline("stroke", &entry.paint, &ends);
                svg.circle("fill", &entry.paint, (x + SWATCH / 2.0, middle), 3.5);
            }
        }
        let name = width::shorten(&entry.name, LONGEST_NAME);
        svg.text("legend", Anchor::Start, (x + SWATCH + 7.0, y + 12.0), &name);
    }
}

fn places(entries: &[Entry], max_width: f64) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut places = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = width::shorten(&entry.name, LONGEST_NAME);
        let taken = SWATCH + 7.0 + width::pixels(&name, 13.0);
        if 0.0 < x && max_width < x + taken {
            (x, y) = (0.0, y + ROW);
        }
        places.push((x, y));
        x += taken + GAP;
    }
    places
}
