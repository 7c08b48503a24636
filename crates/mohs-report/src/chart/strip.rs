//! Strips: one bar per group, cut into bands from easy to hard, always the full width.

use super::Canvas;
use super::legend::{self, Entry, Swatch};
use super::paint;
use super::svg::{Anchor, Rect, Svg};
use crate::number::{count, counted};
use crate::width;

/// One strip.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Strip {
    /// Name on the left; no room is left for names when all are empty.
    pub(crate) name: String,
    /// Stimuli per band, easiest first.
    pub(crate) n_by_band: Vec<usize>,
}

/// Draws strips under a legend of band names.
pub(crate) fn strips(canvas: Canvas, strips: &[Strip], bands: &[String], label: &str) -> String {
    const HEIGHT: f64 = 34.0;
    const PITCH: f64 = 46.0;
    let width = canvas.width();
    let entry = |(idx, name): (usize, &String)| Entry {
        swatch: Swatch::Box,
        paint: paint::band(idx),
        name: name.clone(),
    };
    let entries: Vec<Entry> = bands.iter().enumerate().map(entry).collect();
    let legend_height = legend::height(&entries, width);
    let n_strips = u32::try_from(strips.len()).unwrap_or(0);
    let mut svg = Svg::new(width, legend_height + PITCH * f64::from(n_strips));
    legend::draw(&mut svg, &entries, 2.0, 0.0, width);

    let max_columns = if canvas == Canvas::Wide { 22 } else { 11 };
    let longest = strips.iter().map(|strip| width::columns(&strip.name)).max().unwrap_or(0);
    let left = match longest {
        0 => 0.0,
        n => width::pixels(&"n".repeat(n.min(max_columns)), 13.0) + 12.0,
    };
    for (row, strip) in (0u32..).zip(strips) {
        let top = legend_height + PITCH * f64::from(row) + 4.0;
        let name = width::shorten(&strip.name, max_columns);
        svg.text("row", Anchor::Start, (0.0, top + HEIGHT / 2.0 + 4.5), &name);
        let plot = Rect { x: left, y: top, width: width - left, height: HEIGHT };
        draw_strip(&mut svg, strip, bands, plot);
    }
    svg.finish(label)
}

#[expect(clippy::cast_precision_loss, reason = "charts count far fewer than 2^52 stimuli")]
fn draw_strip(svg: &mut Svg, strip: &Strip, bands: &[String], plot: Rect) {
    let total: usize = strip.n_by_band.iter().sum();
    if total == 0 {
        svg.text("row-note", Anchor::Start, (plot.x, plot.y + 21.0), "no stimuli");
        return;
    }
    let mut left = plot.x;
    for (idx, n) in strip.n_by_band.iter().enumerate() {
        let width = plot.width * *n as f64 / total as f64;
        if *n == 0 {
            continue;
        }
        let band = bands.get(idx).map_or("", String::as_str);
        let who = if strip.name.is_empty() { String::new() } else { format!("{} · ", strip.name) };
        let n_here = counted(*n, "stimulus", "stimuli");
        let tip = format!("{who}{band}\n{n_here} of {}", count(total));
        let body = Rect { x: left, y: plot.y, width, height: plot.height };
        svg.mark(&tip, |svg| {
            svg.rect("fill cut", &paint::band(idx), body);
            let text = n.to_string();
            if width::pixels(&text, 13.0) + 8.0 < width {
                let middle = (left + width / 2.0, plot.y + plot.height / 2.0 + 4.5);
                svg.text_on_band(idx, middle, &text);
            }
        });
        left += width;
    }
}
