//! Filling a hole in a picture from what surrounds it, so that nobody sees where the object was.
//!
//! Coarse to fine: at each size, patches around the hole look for the most similar patch that is
//! wholly known, and each pixel of the hole becomes the mean of what the patches over it say
//! (Wexler, Shechtman and Irani 2007; the search is PatchMatch, Barnes et al. 2009). The coarsest
//! picture starts with the colours of the rim, those to the left and right before those above and
//! below, and patches from the same height are preferred: scenes lie in layers, and a dog's feet
//! leave a hole in the grass, not in the wood behind. Chance comes from a fixed stream: the same
//! picture is filled the same way.

use crate::world::canvas::Canvas;
use crate::world::dice::{Aspect, Dice};

/// Half the side of a patch: 7 × 7 pixels hold enough texture to be told apart.
const REACH: isize = 3;
/// Pictures are halved until a side is below twice this: patches see a seventh of the coarsest.
const COARSEST: usize = 32;
/// How much a patch from another height counts as different: a fourth of the picture away, as much
/// as colours that are 0.08 off.
const LAYERED: f32 = 0.35;
/// What the rim above and below counts at the start, beside that to the left and right.
const UPRIGHT: f32 = 0.15;
/// In the last vote the best patches decide almost alone, so that texture stays sharp.
const SHARP: f32 = 0.15;
/// Rounds of search and vote at each size.
const ROUNDS: usize = 4;
/// Passes of the search in a round.
const PASSES: usize = 2;

/// Returns the picture with the hole filled; a hole without surroundings stays as it is.
pub(super) fn filled(picture: &Canvas, hole: &[bool]) -> Canvas {
    if !hole.contains(&true) || !hole.contains(&false) {
        return picture.clone();
    }
    let mut levels = vec![Level { picture: picture.clone(), hole: hole.to_vec() }];
    while let Some(level) = levels.last()
        && COARSEST * 2 <= level.picture.width.min(level.picture.height)
    {
        let half = level.halved();
        levels.push(half);
    }
    let mut dice = Dice::new(0, 0, Aspect::Background);
    let mut coarser: Option<Canvas> = None;
    for level in levels.into_iter().rev() {
        let mut canvas = match &coarser {
            Some(coarser) => level.started_from(coarser),
            None => level.flowed_in(),
        };
        level.refine(&mut canvas, &mut dice);
        coarser = Some(canvas);
    }
    coarser.unwrap_or_else(|| picture.clone())
}

struct Level {
    picture: Canvas,
    hole: Vec<bool>,
}

impl Level {
    /// Half the size; only what is known is averaged.
    fn halved(&self) -> Level {
        let (wide, tall) = (self.picture.width / 2, self.picture.height / 2);
        let mut half = Canvas::filled(wide, tall, [0.0; 3]);
        let mut hole = vec![false; wide * tall];
        for y in 0..tall {
            for x in 0..wide {
                let (mut sum, mut n) = ([0.0_f32; 3], 0.0_f32);
                for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    let at = (2 * y + dy) * self.picture.width + 2 * x + dx;
                    if !self.hole[at] {
                        sum = [0, 1, 2].map(|c| sum[c] + self.picture.pixels[at][c]);
                        n += 1.0;
                    }
                }
                hole[y * wide + x] = n < 2.5;
                half.pixels[y * wide + x] = sum.map(|total| total / n.max(1.0));
            }
        }
        if !hole.contains(&false) {
            // Nothing would be known; what is half known has to do.
            for (at, is_hole) in hole.iter_mut().enumerate() {
                *is_hole = half.pixels[at].iter().all(|channel| *channel <= 0.0);
            }
        }
        Level { picture: half, hole }
    }

    /// The hole as the coarser picture has it.
    fn started_from(&self, coarser: &Canvas) -> Canvas {
        let mut canvas = self.picture.clone();
        for (at, _) in self.hole.iter().enumerate().filter(|(_, is_hole)| **is_hole) {
            let (x, y) = (at % canvas.width / 2, at / canvas.width / 2);
            canvas.pixels[at] = coarser.at(x.cast_signed(), y.cast_signed());
        }
        canvas
    }

    /// The known colours in the four directions, nearer ones more.
    fn colour_of_rim(&self, at: usize) -> Option<[f32; 3]> {
        let width = self.picture.width.cast_signed();
        let (x, y) = (at.cast_signed() % width, at.cast_signed() / width);
        let (mut sum, mut all) = ([0.0_f32; 3], 0.0_f32);
        for (dx, dy, share) in [(-1, 0, 1.0), (1, 0, 1.0), (0, -1, UPRIGHT), (0, 1, UPRIGHT)] {
            let ahead = (1..).map(|n| inside(&self.picture, x + dx * n, y + dy * n));
            let seen = ahead.take_while(Option::is_some).flatten();
            let found = seen.enumerate().find(|(_, there)| !self.hole[*there]);
            if let Some((n_between, there)) = found {
                let far = n_between as f32 + 1.0;
                let weight = share / (far * far);
                sum = [0, 1, 2].map(|c| sum[c] + self.picture.pixels[there][c] * weight);
                all += weight;
            }
        }
        (0.0 < all).then(|| sum.map(|total| total / all))
    }

    /// Colours flow in from the rim: straight, and ring by ring where nothing is seen straight on.
    fn flowed_in(&self) -> Canvas {
        let mut canvas = self.picture.clone();
        let mut open = self.hole.clone();
        let width = canvas.width.cast_signed();
        for (at, is_open) in open.iter_mut().enumerate().filter(|(_, is_open)| **is_open) {
            if let Some(colour) = self.colour_of_rim(at) {
                canvas.pixels[at] = colour;
                *is_open = false;
            }
        }
        while open.contains(&true) {
            let mut ring = Vec::new();
            for (at, _) in open.iter().enumerate().filter(|(_, is_open)| **is_open) {
                let (x, y) = (at.cast_signed() % width, at.cast_signed() / width);
                let (mut sum, mut n) = ([0.0_f32; 3], 0.0_f32);
                for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
                    let Some(there) = inside(&canvas, x + dx, y + dy) else { continue };
                    if !open[there] {
                        sum = [0, 1, 2].map(|c| sum[c] + canvas.pixels[there][c]);
                        n += 1.0;
                    }
                }
                if 0.0 < n {
                    ring.push((at, sum.map(|total| total / n)));
                }
            }
            if ring.is_empty() {
                break;
            }
            for (at, colour) in ring {
                canvas.pixels[at] = colour;
                open[at] = false;
            }
        }
        canvas
    }

    fn refine(&self, canvas: &mut Canvas, dice: &mut Dice) {
        let targets = self.targets();
        let sources = self.sources();
        if targets.is_empty() || sources.is_empty() {
            return;
        }
        let is_source = {
            let mut is_source = vec![false; self.hole.len()];
            for at in &sources {
                is_source[*at] = true;
            }
            is_source
        };
        let mut best: Vec<(usize, f32)> = vec![(0, f32::MAX); self.hole.len()];
        for &at in &targets {
            best[at] = (sources[dice.below(sources.len())], f32::MAX);
        }
        for round in 1..=ROUNDS {
            for &at in &targets {
                best[at].1 = distance(canvas, at, best[at].0, f32::MAX);
            }
            for pass in 0..PASSES {
                self.search(canvas, &targets, &is_source, &sources, &mut best, pass % 2 == 1, dice);
            }
            self.vote(canvas, &best, &targets, if round == ROUNDS { SHARP } else { 1.0 });
        }
    }

    /// One pass of PatchMatch: neighbours' finds moved along, then chance ever nearer by.
    #[expect(clippy::too_many_arguments, reason = "the state of one search, used nowhere else")]
    fn search(
        &self,
        canvas: &Canvas,
        targets: &[usize],
        is_source: &[bool],
        sources: &[usize],
        best: &mut [(usize, f32)],
        backwards: bool,
        dice: &mut Dice,
    ) {
        let width = canvas.width.cast_signed();
        let step: isize = if backwards { 1 } else { -1 };
        let ordered: Box<dyn Iterator<Item = &usize>> =
            if backwards { Box::new(targets.iter().rev()) } else { Box::new(targets.iter()) };
        for &at in ordered {
            let (x, y) = (at.cast_signed() % width, at.cast_signed() / width);
            let mut own = best[at];
            let try_place = |place: Option<usize>, own: &mut (usize, f32)| {
                if let Some(place) = place.filter(|place| is_source[*place]) {
                    let found = distance(canvas, at, place, own.1);
                    if found < own.1 {
                        *own = (place, found);
                    }
                }
            };
            for (dx, dy) in [(step, 0), (0, step)] {
                let Some(neighbour) = inside(canvas, x + dx, y + dy) else { continue };
                if best[neighbour].1 < f32::MAX {
                    let from = best[neighbour].0.cast_signed();
                    let place = inside(canvas, from % width - dx, from / width - dy);
                    try_place(place, &mut own);
                }
            }
            try_place(Some(sources[dice.below(sources.len())]), &mut own);
            let mut radius = canvas.width.max(canvas.height) as f32 * 0.5;
            while 1.0 <= radius {
                let from = own.0.cast_signed();
                let shift = |dice: &mut Dice| {
                    crate::world::canvas::lattice(dice.between(-radius, radius) + 0.5)
                };
                let (dx, dy) = (shift(dice), shift(dice));
                try_place(inside(canvas, from % width + dx, from / width + dy), &mut own);
                radius *= 0.5;
            }
            best[at] = own;
        }
    }

    /// Each pixel of the hole becomes the mean of what the patches over it say, the better ones
    /// more.
    fn vote(&self, canvas: &mut Canvas, best: &[(usize, f32)], targets: &[usize], sharp: f32) {
        let mut distances: Vec<f32> = targets.iter().map(|at| best[*at].1).collect();
        distances.sort_by(f32::total_cmp);
        let usual = distances[distances.len() * 3 / 4].max(1e-4) * sharp;
        let width = canvas.width.cast_signed();
        let before = canvas.clone();
        for (at, _) in self.hole.iter().enumerate().filter(|(_, is_hole)| **is_hole) {
            let (x, y) = (at.cast_signed() % width, at.cast_signed() / width);
            let (mut sum, mut all) = ([0.0_f32; 3], 0.0_f32);
            for dy in -REACH..=REACH {
                for dx in -REACH..=REACH {
                    let Some(centre) = inside(canvas, x + dx, y + dy) else { continue };
                    let (from, found) = best[centre];
                    if f32::MAX <= found {
                        continue;
                    }
                    let from = from.cast_signed();
                    let Some(place) = inside(canvas, from % width - dx, from / width - dy) else {
                        continue;
                    };
                    // Never quite nothing: somebody has to decide.
                    let weight = (-found / usual).exp().max(1e-9);
                    sum = [0, 1, 2].map(|c| sum[c] + before.pixels[place][c] * weight);
                    all += weight;
                }
            }
            if 1e-12 < all {
                canvas.pixels[at] = sum.map(|total| total / all);
            }
        }
    }

    /// Places whose patch holds some of the hole.
    fn targets(&self) -> Vec<usize> {
        (0..self.hole.len()).filter(|at| self.patch(*at).any(|there| self.hole[there])).collect()
    }

    /// Places whose patch is inside the picture and wholly known.
    fn sources(&self) -> Vec<usize> {
        let (width, height) = (self.picture.width, self.picture.height);
        let reach = REACH.unsigned_abs();
        (0..self.hole.len())
            .filter(|at| {
                let (x, y) = (at % width, at / width);
                let is_inside = reach <= x && x + reach < width && reach <= y && y + reach < height;
                is_inside && self.patch(*at).all(|there| !self.hole[there])
            })
            .collect()
    }

    fn patch(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let width = self.picture.width.cast_signed();
        let (x, y) = (at.cast_signed() % width, at.cast_signed() / width);
        (-REACH..=REACH).flat_map(move |dy| {
            (-REACH..=REACH).filter_map(move |dx| inside(&self.picture, x + dx, y + dy))
        })
    }
}

fn inside(canvas: &Canvas, x: isize, y: isize) -> Option<usize> {
    let (width, height) = (canvas.width.cast_signed(), canvas.height.cast_signed());
    ((0..width).contains(&x) && (0..height).contains(&y)).then(|| (y * width + x).unsigned_abs())
}

/// The mean squared difference of two patches, and what their heights differ; more than `enough`
/// may be returned early.
fn distance(canvas: &Canvas, one: usize, other: usize, enough: f32) -> f32 {
    let width = canvas.width.cast_signed();
    let (x, y) = (one.cast_signed() % width, one.cast_signed() / width);
    let (u, v) = (other.cast_signed() % width, other.cast_signed() / width);
    let n_pixels = ((2 * REACH + 1) * (2 * REACH + 1)) as f32;
    let climb = (v - y) as f32 / canvas.height as f32;
    let apart = LAYERED * climb * climb;
    let stop = (enough - apart) * n_pixels;
    let mut sum = 0.0;
    let mut n = 0.0_f32;
    for dy in -REACH..=REACH {
        for dx in -REACH..=REACH {
            // A patch at the frame compares only what is inside.
            let Some(a) = inside(canvas, x + dx, y + dy) else { continue };
            let Some(b) = inside(canvas, u + dx, v + dy) else { continue };
            let (a, b) = (canvas.pixels[a], canvas.pixels[b]);
            sum += (0..3).map(|c| (a[c] - b[c]) * (a[c] - b[c])).sum::<f32>();
            n += 1.0;
        }
        if stop < sum {
            return f32::MAX;
        }
    }
    sum / n.max(1.0) + apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripes(side: usize) -> Canvas {
        let mut canvas = Canvas::filled(side, side, [0.0; 3]);
        for (at, pixel) in canvas.pixels.iter_mut().enumerate() {
            *pixel =
                if (at % side / 4).is_multiple_of(2) { [0.9, 0.8, 0.2] } else { [0.1, 0.2, 0.5] };
        }
        canvas
    }

    fn square_hole(side: usize, from: usize, to: usize) -> Vec<bool> {
        (0..side * side)
            .map(|at| (from..to).contains(&(at % side)) && (from..to).contains(&(at / side)))
            .collect()
    }

    #[test]
    fn stripes_go_on_through_the_hole() {
        let picture = stripes(96);
        let hole = square_hole(96, 36, 60);
        let mut broken = picture.clone();
        for (pixel, _) in broken.pixels.iter_mut().zip(&hole).filter(|(_, is_hole)| **is_hole) {
            *pixel = [1.0, 0.0, 0.0];
        }
        let mended = filled(&broken, &hole);
        let error = |canvas: &Canvas| {
            let pairs = canvas.pixels.iter().zip(&picture.pixels).zip(&hole);
            let inside = pairs.filter(|(_, is_hole)| **is_hole);
            let sum: f32 =
                inside.map(|((a, b), _)| (0..3).map(|c| (a[c] - b[c]).abs()).sum::<f32>()).sum();
            sum / (24.0 * 24.0 * 3.0)
        };
        // One flat colour would be about 0.33 off.
        assert!(error(&mended) < 0.16, "{}", error(&mended));
        assert!(mended.pixels.iter().flatten().all(|channel| channel.is_finite()));
        let bits = |pixel: [f32; 3]| pixel.map(f32::to_bits);
        let same = |at: usize| hole[at] || bits(mended.pixels[at]) == bits(picture.pixels[at]);
        assert!((0..hole.len()).all(same), "what is known stays");
    }

    #[test]
    fn layers_go_on_behind_what_stood_before_them() {
        // Dark above and bright below, with a grain; somebody with two legs stood before both.
        let side = 96;
        let mut picture = Canvas::filled(side, side, [0.0; 3]);
        for (at, pixel) in picture.pixels.iter_mut().enumerate() {
            let is_grain = (at * 7 + at / side * 3).is_multiple_of(5);
            let grain = if is_grain { 0.05 } else { 0.0 };
            let layer = if at / side < 60 { 0.1 } else { 0.7 };
            *pixel = [layer + grain; 3];
        }
        let stood = |x: usize, y: usize| {
            let is_body = (24..72).contains(&x) && y < 56;
            let is_leg = (28..38).contains(&x) || (58..68).contains(&x);
            is_body || (is_leg && y < 88)
        };
        let hole: Vec<bool> = (0..side * side).map(|at| stood(at % side, at / side)).collect();
        let mended = filled(&picture, &hole);
        let n_wrong = (0..hole.len())
            .filter(|at| hole[*at] && 0.3 < (mended.pixels[*at][0] - picture.pixels[*at][0]).abs())
            .count();
        // Where the layers meet, a row or two may be off.
        assert!(n_wrong <= 2 * 20, "{n_wrong}");
    }

    #[test]
    fn the_same_picture_is_filled_the_same_way() {
        let (picture, hole) = (stripes(64), square_hole(64, 20, 40));
        assert_eq!(filled(&picture, &hole).pixels, filled(&picture, &hole).pixels);
    }

    #[test]
    fn no_hole_and_nothing_but_hole_change_nothing() {
        let picture = stripes(32);
        for hole in [vec![false; 32 * 32], vec![true; 32 * 32]] {
            assert_eq!(filled(&picture, &hole).pixels, picture.pixels);
        }
    }

    #[test]
    fn a_hole_that_leaves_no_whole_patch_is_filled_with_what_flows_in() {
        let picture = Canvas::filled(40, 40, [0.3, 0.6, 0.9]);
        let hole: Vec<bool> = (0..1600).map(|at| at % 40 % 5 != 0).collect();
        let mended = filled(&picture, &hole);
        assert!(mended.pixels.iter().all(|pixel| (pixel[1] - 0.6).abs() < 1e-4));
    }
}
