//! The last step of a filling: every pixel copied from one place, and no steps in tone between.
//!
//! Each pixel follows the best patch over it. Neighbours are then asked whether they would rather
//! come from the same place (iterated conditional modes, Besag 1986), so that few seams are left
//! and lie where they cost little. Of what is copied only the gradients are kept: a screened Poisson
//! equation joins them to each other and to the rim ([`super::membrane`]).

use super::membrane::Membrane;
use super::patches::{around, moved};
use super::{Filling, offset};
use crate::world::canvas::Canvas;

/// What a colour away from the vote costs, beside a seam.
const TRUE_TO_VOTE: f32 = 0.3;
/// What a step in tone costs at a seam, beside one in the gradient; most of it is taken out.
const TONE: f32 = 0.3;
/// Rounds in which neighbours are asked.
const ROUNDS: usize = 8;
/// How fast steps in tone fade; a small part of the vote is kept, so that no tone runs away.
const SCREEN: f32 = 0.003;
/// The largest step at the rim that is one of tone.
const STEP: f32 = 0.06;
/// Larger ones fade within about two pixels.
const SCREEN_OF_BLEND: f32 = 0.3;

/// How far away the pixel is that is copied, in columns and rows.
type Shift = (isize, isize);

pub(super) fn sewn(picture: &Canvas, hole: &[bool], filling: &Filling) -> Canvas {
    let cloth = Cloth { picture, hole, filling };
    let mut shifts = cloth.best_patches();
    let membrane = Membrane::new(hole, picture.width);
    for round in 0..ROUNDS {
        if cloth.ask_neighbours(&mut shifts, round % 2 == 1) == 0 {
            break;
        }
    }
    let mut canvas = picture.clone();
    // What is larger than a step in tone is another thing: it ends at the rim, blended a little.
    let mut blend = vec![[0.0; 3]; hole.len()];
    let (mut rhs, mut rhs_of_blend) = (Vec::new(), Vec::new());
    for (at, four) in membrane.each() {
        let vote = filling.colour(at);
        let mut own = vote.map(|value| SCREEN * value);
        canvas.pixels[at] = vote;
        let mut beyond = [0.0; 3];
        for there in four {
            let step = cloth.gradient(&shifts, at, there);
            own = [0, 1, 2].map(|c| own[c] + step[c]);
            if !hole[there] {
                let off = cloth.off(shifts[at], there);
                let left = off.map(|off| off - off.clamp(-STEP, STEP));
                own = [0, 1, 2].map(|c| own[c] - left[c]);
                beyond = [0, 1, 2].map(|c| beyond[c] + left[c]);
            }
        }
        rhs.push(own);
        rhs_of_blend.push(beyond);
    }
    membrane.solve(&mut canvas.pixels, &rhs, SCREEN);
    membrane.solve(&mut blend, &rhs_of_blend, SCREEN_OF_BLEND);
    for (pixel, blend) in canvas.pixels.iter_mut().zip(&blend) {
        *pixel = [0, 1, 2].map(|c| pixel[c] + blend[c]);
    }
    for (pixel, _) in canvas.pixels.iter_mut().zip(hole).filter(|(_, is_hole)| **is_hole) {
        *pixel = pixel.map(|channel| channel.clamp(0.0, 1.0));
    }
    canvas
}

struct Cloth<'a> {
    picture: &'a Canvas,
    hole: &'a [bool],
    filling: &'a Filling,
}

impl Cloth<'_> {
    /// The known colour that a shift brings to a place.
    fn copied(&self, at: usize, (dx, dy): Shift) -> Option<[f32; 3]> {
        let there = moved(at, dx, dy, self.picture.width, self.picture.height)?;
        (!self.hole[there]).then(|| self.picture.pixels[there])
    }

    fn best_patches(&self) -> Vec<Option<Shift>> {
        let (width, height) = (self.picture.width, self.picture.height);
        let best = |at: usize| {
            if !self.hole[at] {
                return None;
            }
            let finds = around(at, width, height).filter_map(|centre| {
                let find = self.filling.finds[centre]?;
                Some((find.distance, offset(centre, find.place, width)))
            });
            let best = finds.min_by(|a, b| a.0.total_cmp(&b.0));
            best.map(|(_, shift)| shift).filter(|shift| self.copied(at, *shift).is_some())
        };
        (0..self.hole.len()).map(best).collect()
    }

    /// What it costs that two neighbours are copied from different places.
    fn seam(&self, (at, own): (usize, Shift), (there, other): (usize, Option<Shift>)) -> f32 {
        const DEAR: f32 = 1.0;
        if other == Some(own) {
            return 0.0;
        }
        let (Some(a), Some(b)) = (self.copied(at, own), self.copied(there, own)) else {
            return DEAR;
        };
        if !self.hole[there] {
            // At the rim there is no other copy: only the step in tone is known.
            let known = self.picture.pixels[there];
            return TONE * (0..3).map(|c| (b[c] - known[c]) * (b[c] - known[c])).sum::<f32>();
        }
        let Some(other) = other else { return DEAR };
        let (Some(u), Some(v)) = (self.copied(at, other), self.copied(there, other)) else {
            return DEAR;
        };
        let squared = |c: usize| {
            let bend = (b[c] - a[c]) - (v[c] - u[c]);
            let tone = (a[c] - u[c]) * (a[c] - u[c]) + (b[c] - v[c]) * (b[c] - v[c]);
            bend * bend + TONE * tone
        };
        (0..3).map(squared).sum()
    }

    fn cost(&self, shifts: &[Option<Shift>], at: usize, own: Shift) -> f32 {
        let Some(colour) = self.copied(at, own) else { return f32::MAX };
        let vote = self.filling.colour(at);
        let apart = (0..3).map(|c| (colour[c] - vote[c]) * (colour[c] - vote[c])).sum::<f32>();
        let seams = self.beside(at).map(|there| self.seam((at, own), (there, shifts[there])));
        TRUE_TO_VOTE * apart + seams.sum::<f32>()
    }

    fn beside(&self, at: usize) -> impl Iterator<Item = usize> {
        let (width, height) = (self.picture.width, self.picture.height);
        [(-1, 0), (1, 0), (0, -1), (0, 1)]
            .into_iter()
            .filter_map(move |(dx, dy)| moved(at, dx, dy, width, height))
    }

    /// One round; returns how many changed their mind.
    fn ask_neighbours(&self, shifts: &mut [Option<Shift>], is_backwards: bool) -> usize {
        let n = shifts.len();
        let mut n_changed = 0;
        for idx in 0..n {
            let at = if is_backwards { n - 1 - idx } else { idx };
            if !self.hole[at] {
                continue;
            }
            let mut best = shifts[at];
            let mut least = best.map_or(f32::MAX, |own| self.cost(shifts, at, own));
            for there in self.beside(at) {
                let Some(shift) = shifts[there].filter(|shift| best != Some(*shift)) else {
                    continue;
                };
                let cost = self.cost(shifts, at, shift);
                if cost < least {
                    (best, least) = (Some(shift), cost);
                }
            }
            if best != shifts[at] {
                shifts[at] = best;
                n_changed += 1;
            }
        }
        n_changed
    }

    /// How much lighter a known pixel is than what a shift brings to its place.
    fn off(&self, shift: Option<Shift>, there: usize) -> [f32; 3] {
        let copied = shift.and_then(|shift| self.copied(there, shift));
        let known = self.picture.pixels[there];
        copied.map_or([0.0; 3], |copied| [0, 1, 2].map(|c| known[c] - copied[c]))
    }

    /// How much lighter a pixel should be than its neighbour.
    fn gradient(&self, shifts: &[Option<Shift>], at: usize, there: usize) -> [f32; 3] {
        let by = |shift: Option<Shift>| {
            let shift = shift?;
            let (own, other) = (self.copied(at, shift)?, self.copied(there, shift)?);
            Some([0, 1, 2].map(|c| own[c] - other[c]))
        };
        match (by(shifts[at]), by(shifts[there])) {
            (Some(a), Some(b)) => [0, 1, 2].map(|c| 0.5 * (a[c] + b[c])),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => {
                let (own, other) = (self.filling.colour(at), self.filling.colour(there));
                [0, 1, 2].map(|c| own[c] - other[c])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_goes_on_though_its_copies_are_of_another_tone() {
        // Copied from the left, where it is darker: only gradients are kept.
        let (width, height) = (40, 16);
        let mut picture = Canvas::filled(width, height, [0.0; 3]);
        for (at, pixel) in picture.pixels.iter_mut().enumerate() {
            *pixel = [0.2 + 0.01 * (at % width) as f32; 3];
        }
        let is_hole =
            |at: usize| (22..30).contains(&(at % width)) && (4..12).contains(&(at / width));
        let hole: Vec<bool> = (0..width * height).map(is_hole).collect();
        let find = |at: usize| super::super::Find { place: at - 8, distance: 0.0 };
        let texel = |pixel: &[f32; 3]| [pixel[0], pixel[1], pixel[2], 0.0];
        let filling = Filling {
            width,
            texels: picture.pixels.iter().map(texel).collect(),
            finds: (0..hole.len()).map(|at| hole[at].then(|| find(at))).collect(),
        };
        let sewn = sewn(&picture, &hole, &filling);
        for (at, pixel) in sewn.pixels.iter().enumerate() {
            let off = (pixel[0] - picture.pixels[at][0]).abs();
            assert!(off < 0.012, "{} {}: {off}", at % width, at / width);
        }
    }
}
