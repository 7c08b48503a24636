//! Charts as SVG texts: one kind per file, each a function from numbers to an `<svg>` element.
//!
//! Colours are CSS variables, so that charts follow the theme of the page they stand in; see
//! `paint.rs`. Every mark carries a `<title>` with its number, interval and n. Each chart is drawn
//! for a [`Canvas`], wide or narrow, instead of being shrunk until nobody can read it. A chart
//! draws what it is given and computes nothing but positions.

pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod bounded_dots;
pub(crate) mod coverage;
pub(crate) mod curves;
pub(crate) mod dots;
pub(crate) mod gap;
pub(crate) mod grid;
pub(crate) mod heat;
pub(crate) mod histogram;
pub(crate) mod item_curves;
pub(crate) mod legend;
pub(crate) mod lines;
pub(crate) mod matrix;
pub(crate) mod mirrored;
pub(crate) mod outline;
pub(crate) mod paint;
pub(crate) mod patterns;
pub(crate) mod reliability;
pub(crate) mod scale;
pub(crate) mod scatter;
pub(crate) mod spans;
pub(crate) mod steps;
pub(crate) mod strip;
pub(crate) mod survival;
pub(crate) mod svg;

/// Where a chart will be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Canvas {
    /// A column of text on a desk, or a sheet of paper.
    Wide,
    /// A phone held upright.
    Narrow,
}

impl Canvas {
    /// Returns the width in CSS pixels.
    pub(crate) fn width(self) -> f64 {
        match self {
            Self::Wide => 760.0,
            Self::Narrow => 344.0,
        }
    }
}
