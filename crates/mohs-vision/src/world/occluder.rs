//! Things that stand before the object: leaves, bars, a board.
//!
//! Each kind is fitted so that it hides a wanted share of the object, measured on its real pixels.

use super::canvas::{Field, Patch, lattice, whole};
use super::colour::{jitter, mix, rgb, scale, vivid_paint};
use super::dice::Dice;
use super::pen::{Finish, Outline, Part, Pen};
use std::f32::consts::TAU;
use tiny_skia::FillRule;

/// Returns parts, in canvas pixels, that hide about `share` of the covered pixels.
pub(crate) fn hide(object: &Field, share: f32, dice: &mut Dice) -> Vec<Part> {
    let Some(extent) = Extent::of(object) else { return Vec::new() };
    match dice.below(3) {
        0 => leaves(object, &extent, share, dice),
        1 => bars(object, &extent, share, dice),
        _ => board(object, &extent, share, dice),
    }
}

/// The box of the covered pixels, and how much of the object lies in each column and row.
struct Extent {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
    columns: Vec<f32>,
    rows: Vec<f32>,
    total: f32,
}

impl Extent {
    fn of(object: &Field) -> Option<Self> {
        let mut columns = vec![0.0; object.width];
        let mut rows = vec![0.0; object.height];
        for (y, row) in object.values.chunks_exact(object.width).enumerate() {
            for (x, cover) in row.iter().enumerate() {
                columns[x] += cover;
                rows[y] += cover;
            }
        }
        let first = |sums: &[f32]| sums.iter().position(|sum| *sum > 0.5);
        let last = |sums: &[f32]| sums.iter().rposition(|sum| *sum > 0.5).map(|i| i + 1);
        Some(Self {
            left: first(&columns)? as f32,
            top: first(&rows)? as f32,
            right: last(&columns)? as f32,
            bottom: last(&rows)? as f32,
            total: rows.iter().sum(),
            columns,
            rows,
        })
    }

    fn length(&self) -> f32 {
        (self.right - self.left).max(self.bottom - self.top)
    }
}

fn leaves(object: &Field, extent: &Extent, share: f32, dice: &mut Dice) -> Vec<Part> {
    let mut pen = Pen::default();
    let green = jitter(
        dice.pick(&[rgb(70, 118, 52), rgb(104, 140, 58), rgb(150, 94, 44), rgb(48, 96, 66)]),
        dice,
    );
    let inside: Vec<usize> = (0..object.values.len()).filter(|i| object.values[*i] > 0.5).collect();
    if inside.is_empty() {
        return Vec::new();
    }
    let mut hidden = Field::filled(object.width, object.height, 0.0);
    let mut n_hidden = 0.0;
    for _ in 0..600 {
        if n_hidden >= share * extent.total {
            break;
        }
        let place = dice.pick(&inside);
        if hidden.values[place] > 0.5 {
            continue;
        }
        let (x, y) = ((place % object.width) as f32, (place / object.width) as f32);
        let long = extent.length() * dice.between(0.1, 0.16);
        let broad = long * dice.between(0.36, 0.5);
        let (sin, cos) = dice.between(0.0, TAU).sin_cos();
        let at = |a: f32, b: f32| (x + cos * a - sin * b, y + sin * a + cos * b);
        let shape = [
            at(-long, 0.0),
            at(-long * 0.35, broad),
            at(long * 0.35, broad * 0.8),
            at(long, 0.0),
            at(long * 0.35, -broad * 0.8),
            at(-long * 0.35, -broad),
        ];
        let colour = scale(jitter(green, dice), dice.between(0.75, 1.15));
        pen.fill(Outline::empty().blob(&shape), colour)
            .fade(scale(colour, 0.85))
            .bevel(broad * 0.7)
            .finish(Finish::Satin);
        let blade = pen.parts.last().map(|part| part.outline.clone());
        let (a, b) = (at(-long * 1.2, 0.0), at(long * 0.9, 0.0));
        pen.line(Outline::from(a.0, a.1).line(b.0, b.1), long * 0.06, mix(colour, [1.0; 3], 0.3))
            .decal();
        let patch = blade
            .and_then(|path| Patch::of(&path, FillRule::Winding, object.width, object.height, 0.0));
        if let Some(patch) = patch {
            patch.each(object.width, object.height, |pixel, cover| {
                let more = cover.max(hidden.values[pixel]) - hidden.values[pixel];
                hidden.values[pixel] += more;
                n_hidden += more * object.values[pixel];
            });
        }
    }
    pen.parts
}

fn bars(object: &Field, extent: &Extent, share: f32, dice: &mut Dice) -> Vec<Part> {
    let upright = dice.chance(0.6);
    let (sums, from, to, side) = if upright {
        (&extent.columns, extent.left, extent.right, object.height as f32)
    } else {
        (&extent.rows, extent.top, extent.bottom, object.width as f32)
    };
    let n_bars = 4 + dice.below(3);
    let step = (to - from) / n_bars as f32;
    let shift = dice.between(0.0, 1.0);
    // Share of the object behind bars that take this part of each step.
    let hidden = |duty: f32| {
        let mut sum = 0.0;
        for (i, weight) in sums.iter().enumerate() {
            let phase = ((i as f32 + 0.5 - from) / step + shift).rem_euclid(1.0);
            if phase < duty {
                sum += weight;
            }
        }
        sum / extent.total
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..14 {
        let middle = (low + high) * 0.5;
        if hidden(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    let duty = (low + high) * 0.5;
    let colour = if dice.chance(0.5) { rgb(150, 112, 74) } else { vivid_paint(dice) };
    let mut pen = Pen::default();
    let n_before = whole((from / step).ceil()) + 2;
    let n_all = n_before + n_bars + whole((sums.len() as f32 - to) / step) + 3;
    for i in 0..n_all {
        let start = from + (i as f32 - n_before as f32 - shift) * step;
        let end = start + duty * step;
        let plank = if upright {
            Outline::empty().rect(start, -9.0, end, side + 9.0)
        } else {
            Outline::empty().rect(-9.0, start, side + 9.0, end)
        };
        if end > 0.0 && start < sums.len() as f32 {
            let tone = scale(colour, dice.between(0.88, 1.1));
            pen.fill(plank, tone).bevel(step * duty * 0.25).mottle(0.18);
        }
    }
    pen.parts
}

fn board(object: &Field, extent: &Extent, share: f32, dice: &mut Dice) -> Vec<Part> {
    let colour = jitter(
        dice.pick(&[rgb(176, 136, 92), rgb(120, 132, 142), rgb(158, 66, 60), rgb(58, 92, 116)]),
        dice,
    );
    let edge = dice.below(4);
    let sums = if edge < 2 { &extent.rows } else { &extent.columns };
    // Walk in from the far or the near edge until enough of the object is passed.
    let from_end = edge == 0 || edge == 2;
    let mut passed = 0.0;
    let mut cut = 0;
    for i in 0..sums.len() {
        let place = if from_end { sums.len() - 1 - i } else { i };
        passed += sums[place];
        cut = place;
        if passed >= share * extent.total {
            break;
        }
    }
    let cut = cut as f32 + if from_end { 0.0 } else { 1.0 };
    let margin = extent.length() * dice.between(0.04, 0.1);
    let (w, h) = (object.width as f32, object.height as f32);
    let (left, right) = ((extent.left - margin).max(-4.0), (extent.right + margin).min(w + 4.0));
    let (top, bottom) = ((extent.top - margin).max(-4.0), (extent.bottom + margin).min(h + 4.0));
    let (left, top, right, bottom) = match edge {
        0 => (left, cut, right, bottom),
        1 => (left, top, right, cut),
        2 => (cut, top, right, bottom),
        _ => (left, top, cut, bottom),
    };
    let mut pen = Pen::default();
    let round = (extent.length() * 0.015).min((right - left).min(bottom - top) * 0.3).max(0.5);
    pen.fill(Outline::empty().rounded(left, top, right, bottom, round), colour)
        .fade(scale(colour, 0.84))
        .bevel(round * 1.2)
        .mottle(0.1);
    // Tape and a label, as on a parcel.
    let (mx, my) = ((left + right) * 0.5, (top + bottom) * 0.5);
    let tape = extent.length() * 0.05;
    let strip = if lattice(right - left) >= lattice(bottom - top) {
        Outline::empty().rect(left, my - tape, right, my + tape)
    } else {
        Outline::empty().rect(mx - tape, top, mx + tape, bottom)
    };
    pen.fill(strip, mix(colour, rgb(230, 206, 160), 0.5)).decal().finish(Finish::Gloss);
    let label = extent.length() * 0.09;
    if right - left > label * 3.0 && bottom - top > label * 2.0 {
        let (x, y) = (left + (right - left) * 0.68, top + (bottom - top) * 0.3);
        pen.fill(
            Outline::empty().rect(x - label, y - label * 0.6, x + label, y + label * 0.6),
            rgb(240, 236, 226),
        )
        .decal();
        let lines = Outline::from(x - label * 0.7, y - label * 0.2)
            .line(x + label * 0.7, y - label * 0.2)
            .jump(x - label * 0.7, y + label * 0.15)
            .line(x + label * 0.3, y + label * 0.15);
        pen.bar(lines, label * 0.12, rgb(70, 70, 76)).decal();
    }
    pen.parts
}
