//! A small writer of SVG elements: escaped texts, short numbers, one `<g>` per mark.

use crate::escape::esc;

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// An upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// An SVG drawing in the making.
///
/// `class` is always a literal of this crate; texts and colours are escaped.
#[derive(Debug, Clone)]
pub(crate) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.body += &format!(
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            px(from.0),
            px(from.1),
            px(to.0),
            px(to.1)
        );
    }

    pub(crate) fn rect(&mut self, class: &str, paint: &str, rect: Rect) {
        self.body += &format!(
            "<rect class=\"{class}\"{} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            style(paint),
            px(rect.x),
            px(rect.y),
            px(rect.width.max(0.0)),
            px(rect.height.max(0.0))
        );
    }

    pub(crate) fn circle(&mut self, class: &str, paint: &str, center: (f64, f64), radius: f64) {
        self.body += &format!(
            "<circle class=\"{class}\"{} cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            style(paint),
            px(center.0),
            px(center.1),
            px(radius)
        );
    }

    /// Draws straight lines through points; nothing when there are fewer than two.
    pub(crate) fn polyline(&mut self, class: &str, paint: &str, points: &[(f64, f64)]) {
        if 1 < points.len() {
            self.body +=
                &format!("<path class=\"{class}\"{} d=\"{}\"/>", style(paint), path(points));
        }
    }

    /// Fills the outline through points; nothing when there are fewer than three.
    pub(crate) fn polygon(&mut self, class: &str, paint: &str, points: &[(f64, f64)]) {
        if 2 < points.len() {
            self.body +=
                &format!("<path class=\"{class}\"{} d=\"{}Z\"/>", style(paint), path(points));
        }
    }

    pub(crate) fn text(&mut self, class: &str, anchor: Anchor, at: (f64, f64), text: &str) {
        self.body += &format!(
            "<text class=\"{class}\" text-anchor=\"{}\" x=\"{}\" y=\"{}\">{}</text>",
            anchor.as_str(),
            px(at.0),
            px(at.1),
            esc(text)
        );
    }

    /// Writes a text that runs upwards from its point.
    pub(crate) fn text_upwards(&mut self, class: &str, at: (f64, f64), text: &str) {
        let (x, y) = (px(at.0), px(at.1));
        self.body += &format!(
            "<text class=\"{class}\" text-anchor=\"start\" transform=\"translate({x} {y}) rotate(-90)\">{}</text>",
            esc(text)
        );
    }

    /// Writes a text on a box of a band's colour, in the ink that can be read there.
    pub(crate) fn text_on_band(&mut self, band_idx: usize, at: (f64, f64), text: &str) {
        self.body += &format!(
            "<text class=\"on-band\" style=\"--paint:var(--on-band-{band_idx})\" \
             text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
            px(at.0),
            px(at.1),
            esc(text)
        );
    }

    /// Draws one thing that has a number: `draw` makes it, `tip` says what it is; without a tip it
    /// cannot be pointed at.
    pub(crate) fn mark(&mut self, tip: &str, draw: impl FnOnce(&mut Self)) {
        match tip {
            "" => self.body += "<g>",
            tip => self.body += &format!("<g class=\"mark\"><title>{}</title>", esc(tip)),
        }
        draw(self);
        self.body += "</g>";
    }

    /// Returns the `<svg>` element; `label` is read out in its place.
    pub(crate) fn finish(self, label: &str) -> String {
        let (width, height) = (px(self.width), px(self.height));
        format!(
            "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{}\">{}</svg>",
            esc(label),
            self.body
        )
    }
}

fn style(paint: &str) -> String {
    if paint.is_empty() { String::new() } else { format!(" style=\"--paint:{}\"", esc(paint)) }
}

fn path(points: &[(f64, f64)]) -> String {
    let steps = points
        .iter()
        .enumerate()
        .map(|(idx, (x, y))| format!("{}{} {}", if idx == 0 { "M" } else { "L" }, px(*x), px(*y)));
    steps.collect()
}

/// Returns a length with at most one decimal; a length that is no number becomes 0 rather than a
/// word that breaks the drawing.
pub(crate) fn px(length: f64) -> String {
    let tenths = (length * 10.0).round();
    if !tenths.is_finite() {
        return "0".into();
    }
    // Adding zero turns -0.0 into 0.0.
    format!("{}", tenths / 10.0 + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short_and_always_numbers() {
        assert_eq!(px(1.0 / 3.0), "0.3");
        assert_eq!(px(-0.01), "0");
        assert_eq!(px(12.0), "12");
        assert_eq!(px(f64::NAN), "0");
    }

    #[test]
    fn a_hostile_text_stays_a_text() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.mark("</title><script>", |svg| {
            svg.text("tick", Anchor::Middle, (1.0, 2.0), "<b>");
        });
        insta::assert_snapshot!(svg.finish("a \"chart\""));
    }
}
