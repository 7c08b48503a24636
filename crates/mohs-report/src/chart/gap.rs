//! Two gaps against each other: that on easy stimuli to the right, that on hard ones upwards, with
//! models of a family joined by arrows from small to large.

use mohs_data::Estimate;

use super::Canvas;
use super::axis::{self, Tick};
use super::legend::{self, Entry, Swatch};
use super::scale::Scale;
use super::svg::{Anchor, Rect, Svg};
use crate::number::round_number;
use crate::width;

/// One family, from small to large; a model without family is a family of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FamilyPath {
    /// Its name in the legend; empty for models without family.
    pub(crate) name: String,
    pub(crate) paint: String,
    pub(crate) points: Vec<GapPoint>,
}

/// One model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GapPoint {
    pub(crate) name: String,
    pub(crate) easy: Estimate,
    pub(crate) hard: Estimate,
    pub(crate) tip: String,
}

/// What the chart says in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GapTexts {
    pub(crate) easy: String,
    pub(crate) hard: String,
    /// What stands at no gap, where there is something.
    pub(crate) origin: Option<(String, String)>,
}

/// Models up to which all have names and intervals; more would cover each other.
pub(super) const MOST_NAMED: usize = 14;
pub(super) const RADIUS: f64 = 5.0;

/// Draws the families; a line from corner to corner says where both gaps are the same.
pub(crate) fn families(
    canvas: Canvas,
    families: &[FamilyPath],
    texts: &GapTexts,
    label: &str,
) -> String {
    let width = canvas.width();
    let named = families.iter().filter(|family| !family.name.is_empty());
    let entries: Vec<Entry> = named
        .map(|family| Entry {
            swatch: Swatch::Line,
            paint: family.paint.clone(),
            name: family.name.clone(),
        })
        .collect();
    let top = legend::height(&entries, width) + 28.0;
    let height = if canvas == Canvas::Wide { 420.0 } else { 280.0 };
    let plot = Rect { x: 40.0, y: top, width: width - 52.0, height };
    let mut svg = Svg::new(width, plot.bottom() + 46.0);
    legend::draw(&mut svg, &entries, 2.0, 0.0, width);

    let n_points = families.iter().map(|family| family.points.len()).sum::<usize>();
    let has_intervals = n_points <= MOST_NAMED;
    let (low, high) = domain(families, has_intervals);
    let x = Scale::linear((low, high), (plot.x, plot.right()));
    let y = Scale::linear((low, high), (plot.bottom(), plot.y));
    draw_axes(&mut svg, plot, (&x, &y), texts);
    svg.line("reference", (x.at(low), y.at(low)), (x.at(high), y.at(high)));

    let mut taken = Vec::new();
    if let Some((name, tip)) = &texts.origin {
        let at = (x.at(0.0), y.at(0.0));
        svg.mark(tip, |svg| {
            svg.circle("hit", "", at, 12.0);
            svg.circle("fill ringed", "var(--ink)", at, 6.0);
        });
        taken.push(around(at));
        // Off the axes, which cross here.
        write_name(&mut svg, name, (at.0, at.1 - 11.0), plot, &mut taken);
    }
    let place = |point: &GapPoint| (x.at(point.easy.value), y.at(point.hard.value));
    for family in families {
        taken.extend(family.points.iter().map(|point| around(place(point))));
    }
    for family in families {
        if has_intervals {
            for point in &family.points {
                let (cx, cy) = place(point);
                let across = [(x.at(point.easy.low), cy), (x.at(point.easy.high), cy)];
                let upright = [(cx, y.at(point.hard.low)), (cx, y.at(point.hard.high))];
                svg.polyline("thin", &family.paint, &across);
                svg.polyline("thin", &family.paint, &upright);
            }
        }
        for pair in family.points.windows(2) {
            arrow(&mut svg, &family.paint, place(&pair[0]), place(&pair[1]));
        }
        for point in &family.points {
            svg.mark(&point.tip, |svg| {
                svg.circle("hit", "", place(point), 10.0);
                svg.circle("fill ringed", &family.paint, place(point), RADIUS);
            });
        }
    }
    for family in families {
        let last = family.points.len().saturating_sub(1);
        for (idx, point) in family.points.iter().enumerate() {
            if has_intervals || idx == last {
                write_name(&mut svg, &point.name, place(point), plot, &mut taken);
            }
        }
    }
    svg.finish(label)
}

/// Returns a range that holds zero and everything drawn, with a little room.
fn domain(families: &[FamilyPath], has_intervals: bool) -> (f64, f64) {
    let mut range = (0.0_f64, 0.0_f64);
    for point in families.iter().flat_map(|family| &family.points) {
        for e in [&point.easy, &point.hard] {
            let ends = if has_intervals { [e.low, e.high] } else { [e.value, e.value] };
            range = (range.0.min(ends[0]), range.1.max(ends[1]));
        }
    }
    let room = ((range.1 - range.0) * 0.06).max(0.01);
    (range.0 - room, range.1 + room)
}

fn draw_axes(svg: &mut Svg, plot: Rect, (x, y): (&Scale, &Scale), texts: &GapTexts) {
    let tick =
        |scale: &Scale, value: f64| Tick { at: scale.at(value), text: round_number(value * 100.0) };
    let ticks: Vec<Tick> = y.ticks(6).into_iter().map(|value| tick(y, value)).collect();
    axis::y_axis(svg, plot, &ticks, &texts.hard);
    let ticks: Vec<Tick> = x.ticks(6).into_iter().map(|value| tick(x, value)).collect();
    for tick in &ticks {
        svg.line("grid", (tick.at, plot.y), (tick.at, plot.bottom()));
    }
    axis::x_axis(svg, plot, &ticks, &texts.easy);
    svg.line("axis", (x.at(0.0), plot.y), (x.at(0.0), plot.bottom()));
    svg.line("axis", (plot.x, y.at(0.0)), (plot.right(), y.at(0.0)));
}

/// Draws an arrow that ends before the marks of its ends.
fn arrow(svg: &mut Svg, paint: &str, from: (f64, f64), to: (f64, f64)) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length < 3.0 * RADIUS {
        return;
    }
    let (ux, uy) = (dx / length, dy / length);
    let start = (from.0 + ux * RADIUS, from.1 + uy * RADIUS);
    let tip = (to.0 - ux * (RADIUS + 2.0), to.1 - uy * (RADIUS + 2.0));
    let back = (tip.0 - ux * 9.0, tip.1 - uy * 9.0);
    let wings = [(back.0 - uy * 4.0, back.1 + ux * 4.0), (back.0 + uy * 4.0, back.1 - ux * 4.0)];
    svg.polyline("stroke", paint, &[start, back]);
    svg.polygon("fill", paint, &[tip, wings[0], wings[1]]);
}

/// The place of a mark, which names keep clear of.
pub(super) fn around((x, y): (f64, f64)) -> Rect {
    Rect { x: x - RADIUS, y: y - RADIUS, width: 2.0 * RADIUS, height: 2.0 * RADIUS }
}

/// Writes a name beside its mark where nothing else stands; leaves it to the tip otherwise.
pub(super) fn write_name(
    svg: &mut Svg,
    name: &str,
    at: (f64, f64),
    plot: Rect,
    taken: &mut Vec<Rect>,
) {
    const SIZE: f64 = 12.0;
    let name = width::shorten_middle(name, 24);
    let wide = width::pixels(&name, SIZE);
    let (x, y) = at;
    let spots = [
        (Anchor::Start, x + 9.0, y + 4.0, x + 9.0),
        (Anchor::End, x - 9.0, y + 4.0, x - 9.0 - wide),
        (Anchor::Middle, x, y - 10.0, x - wide / 2.0),
        (Anchor::Middle, x, y + 19.0, x - wide / 2.0),
    ];
    for (anchor, text_x, text_y, left) in spots {
        let place = Rect { x: left, y: text_y - SIZE, width: wide, height: SIZE + 3.0 };
        let is_inside = plot.x <= place.x
            && place.right() <= plot.right()
            && plot.y <= place.y
            && place.bottom() <= plot.bottom();
        if is_inside && taken.iter().all(|other| !overlap(&place, other)) {
            svg.text("name", anchor, (text_x, text_y), &name);
            taken.push(place);
            return;
        }
    }
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, easy: f64, hard: f64) -> GapPoint {
        let estimate = |value: f64| Estimate {
            value,
            low: value - 0.05,
            high: value + 0.05,
            confidence: 0.95,
            n: 40,
        };
        GapPoint { name: name.into(), easy: estimate(easy), hard: estimate(hard), tip: name.into() }
    }

    fn texts() -> GapTexts {
        let origin = Some(("people".into(), "no gap by construction".into()));
        GapTexts { easy: "Gap on easy".into(), hard: "Gap on hard".into(), origin }
    }

    #[test]
    fn a_family_is_joined_by_arrows_from_small_to_large() {
        let family = FamilyPath {
            name: "resnet".into(),
            paint: "var(--set-0)".into(),
            points: vec![point("18", 0.3, 0.4), point("50", 0.2, 0.35), point("152", 0.1, 0.3)],
        };
        let svg = families(Canvas::Wide, &[family], &texts(), "Gaps");
        assert_eq!(svg.matches("class=\"fill\" style=\"--paint:var(--set-0)\" d=").count(), 2);
        for name in [">18<", ">50<", ">152<", ">people<"] {
            assert!(svg.contains(name), "{name}");
        }
    }

    #[test]
    fn names_that_would_collide_are_left_to_the_tips() {
        let at_one_place = |idx: usize| FamilyPath {
            name: String::new(),
            paint: "var(--quiet)".into(),
            points: vec![point(&format!("a rather long name {idx}"), 0.2, 0.2)],
        };
        let all: Vec<FamilyPath> = (0..9).map(at_one_place).collect();
        let svg = families(Canvas::Narrow, &all, &texts(), "Gaps");
        assert!(svg.matches("a rather long name").count() < 9 + 9);
        assert_eq!(svg.matches("class=\"mark\"").count(), 10);
    }
}
