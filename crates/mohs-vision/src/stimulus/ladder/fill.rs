//! Filling a hole in a picture from what surrounds it, so that nobody sees where the object was.
//!
//! Coarse to fine. The smallest picture is filled from the rim inwards, each pixel from the patches
//! that go on best there. Then, at each size, patches over the hole look for the most similar patch
//! that is wholly known ([`patches`]), and each pixel of the hole becomes the mean of what the
//! patches over it say (Wexler, Shechtman and Irani 2007), with a membrane over it that takes out
//! the step in tone at the rim ([`membrane`]). Means have no grain: at last every pixel is copied
//! from one place, neighbours from the same place where they can be ([`quilt`]), and only the
//! gradients are kept, so that neither the rim nor the seams between two places are steps in tone.
//!
//! Chance comes from a fixed stream: the same picture is filled the same way. What stood around the
//! object is all there is to fill it with; [`seam`] says how well it hides.

mod membrane;
mod patches;
mod quilt;
mod seam;
mod strange;

use self::membrane::Membrane;
use self::patches::{Find, Ground, Sources, TONE, Texel, Trust, around, moved};
use self::strange::Rim;
use crate::world::canvas::Canvas;
use crate::world::colour::luma;
use crate::world::dice::{Aspect, Dice};

pub(super) use seam::ratio as seam;

/// Pictures are halved until a side is below twice this: patches see a seventh of the coarsest.
const COARSEST: usize = 28;
/// What lying at the other end of the picture costs a patch, in variances of what is known: layers
/// count as much as they differ, and on an even ground not at all.
const LAYERED: f32 = 1.3;
/// What a difference in grain counts beside one in colour.
const GRAIN: f32 = 2.5;
/// Rounds of search and vote at the coarsest size, and at finer ones.
const ROUNDS: [usize; 2] = [10, 4];
/// Passes of the search in a round.
const PASSES: usize = 2;
/// Patches whose mean squared differences are this close go on equally well.
const UNTOLD: f32 = 2e-4;
/// How fast a step in tone at the rim fades inside; see [`membrane`].
const FADE: f32 = 0.02;

/// Returns the picture with the hole filled; a hole without surroundings stays as it is.
pub(super) fn filled(picture: &Canvas, hole: &[bool]) -> Canvas {
    if !hole.contains(&true) || !hole.contains(&false) {
        return picture.clone();
    }
    let (finest, rim) = Level::finest(picture, hole);
    let mut levels = vec![finest];
    while let Some(level) = levels.last()
        && COARSEST * 2 <= level.width.min(level.height)
    {
        let half = level.halved(&rim);
        levels.push(half);
    }
    let mut dice = Dice::new(0, 0, Aspect::Background);
    let mut coarser: Option<Filling> = None;
    for level in levels.into_iter().rev() {
        let n_rounds = ROUNDS[usize::from(coarser.is_some())];
        let mut filling = match &coarser {
            Some(coarser) => level.started_from(coarser, &mut dice),
            None => level.peeled(&mut dice),
        };
        level.refine(&mut filling, n_rounds, &mut dice);
        coarser = Some(filling);
    }
    match coarser {
        Some(filling) => quilt::sewn(picture, hole, &filling),
        None => picture.clone(),
    }
}

/// A picture at one size.
struct Level {
    width: usize,
    height: usize,
    texels: Vec<Texel>,
    hole: Vec<bool>,
    trust: Trust,
    layered: f32,
    strange: Vec<f32>,
}

/// What a hole is filled with so far.
struct Filling {
    width: usize,
    texels: Vec<Texel>,
    /// The best patch for each place whose patch holds some of the hole.
    finds: Vec<Option<Find>>,
}

impl Filling {
    fn colour(&self, at: usize) -> [f32; 3] {
        let [r, g, b, _] = self.texels[at];
        [r, g, b]
    }
}

impl Level {
    fn finest(picture: &Canvas, hole: &[bool]) -> (Level, Rim) {
        let grain = grain(picture, hole);
        let texels = picture.pixels.iter().zip(grain);
        let texels: Vec<Texel> = texels.map(|([r, g, b], grain)| [*r, *g, *b, grain]).collect();
        let rim = Rim::new(&texels, hole, picture.width, picture.height);
        (Level::new(picture.width, picture.height, texels, hole.to_vec(), &rim), rim)
    }

    fn new(width: usize, height: usize, texels: Vec<Texel>, hole: Vec<bool>, rim: &Rim) -> Level {
        let known = || texels.iter().zip(&hole).filter(|(_, is_hole)| !**is_hole);
        let n = (known().count() as f32).max(1.0);
        let variance = |c: usize| {
            let mean = known().map(|(texel, _)| texel[c]).sum::<f32>() / n;
            known().map(|(texel, _)| (texel[c] - mean) * (texel[c] - mean)).sum::<f32>() / n
        };
        let layered = LAYERED * (0..3).map(variance).sum::<f32>();
        let trust = Trust::new(&depth(&hole, width, height), width, height);
        let strange = rim.strange(&texels, width, height);
        Level { width, height, texels, hole, trust, layered, strange }
    }

    /// Half the size; only what is known is averaged.
    fn halved(&self, rim: &Rim) -> Level {
        let (wide, tall) = (self.width / 2, self.height / 2);
        let mut texels = vec![[0.0; 4]; wide * tall];
        let mut n_known = vec![0_u8; wide * tall];
        for (at, texel) in texels.iter_mut().enumerate() {
            let from = at / wide * 2 * self.width + at % wide * 2;
            for there in [from, from + 1, from + self.width, from + self.width + 1] {
                if !self.hole[there] {
                    *texel = [0, 1, 2, 3].map(|c| texel[c] + self.texels[there][c]);
                    n_known[at] += 1;
                }
            }
            *texel = texel.map(|sum| sum / f32::from(n_known[at].max(1)));
        }
        let mut hole: Vec<bool> = n_known.iter().map(|n| *n < 3).collect();
        if !hole.contains(&false) {
            // Nothing would be known; what is half known has to do.
            hole = n_known.iter().map(|n| *n < 1).collect();
        }
        Level::new(wide, tall, texels, hole, rim)
    }

    fn ground<'a>(&'a self, texels: &'a [Texel]) -> Ground<'a> {
        let (width, height, layered) = (self.width, self.height, self.layered);
        Ground { width, height, texels, layered, strange: &self.strange, trust: &self.trust }
    }

    /// The finds of the coarser picture, moved to this one, and what they say.
    fn started_from(&self, coarser: &Filling, dice: &mut Dice) -> Filling {
        let sources = Sources::new(&self.hole, self.width, self.height);
        let mut texels = self.texels.clone();
        let height = coarser.texels.len() / coarser.width;
        let above = |at: usize| {
            let (x, y) = (at % self.width, at / self.width);
            (y / 2).min(height - 1) * coarser.width + (x / 2).min(coarser.width - 1)
        };
        for (at, texel) in texels.iter_mut().enumerate().filter(|(at, _)| self.hole[*at]) {
            *texel = coarser.texels[above(at)];
        }
        let mut finds = vec![None; texels.len()];
        for at in self.targets().into_iter().filter(|_| !sources.list.is_empty()) {
            let known = coarser.finds[above(at)].and_then(|find| {
                let (dx, dy) = offset(above(at), find.place, coarser.width);
                moved(at, 2 * dx, 2 * dy, self.width, self.height)
            });
            let place = sources.or_any(known, dice);
            finds[at] = Some(Find { place, distance: f32::MAX });
        }
        Filling { width: self.width, texels, finds }
    }

    /// Filled from the rim inwards, each pixel with the middle of the patches that go on best.
    fn peeled(&self, dice: &mut Dice) -> Filling {
        let sources = Sources::new(&self.hole, self.width, self.height);
        let mut filling = Filling {
            width: self.width,
            texels: self.texels.clone(),
            finds: vec![None; self.texels.len()],
        };
        let mut known: Vec<bool> = self.hole.iter().map(|is_hole| !is_hole).collect();
        if sources.list.is_empty() {
            self.span(&mut filling.texels);
            return filling;
        }
        while known.contains(&false) {
            let ring: Vec<usize> = (0..known.len())
                .filter(|at| !known[*at] && neighbours(*at, self.width, self.height, &known) != 0)
                .collect();
            let ground = self.ground(&filling.texels);
            let next: Vec<(Texel, Find)> =
                ring.iter().map(|at| goes_on(&ground, *at, &known, &sources.list)).collect();
            for (at, (texel, find)) in ring.into_iter().zip(next) {
                filling.texels[at] = texel;
                filling.finds[at] = Some(find);
                known[at] = true;
            }
        }
        for at in self.targets() {
            let place = filling.finds[at].map(|find| find.place);
            let place = sources.or_any(place, dice);
            filling.finds[at] = Some(Find { place, distance: f32::MAX });
        }
        filling
    }

    /// Colours go on smoothly from the rim: for holes that leave no whole patch.
    fn span(&self, texels: &mut [Texel]) {
        let membrane = Membrane::new(&self.hole, self.width);
        let mut values: Vec<[f32; 3]> = texels.iter().map(|[r, g, b, _]| [*r, *g, *b]).collect();
        let rhs = vec![[0.0; 3]; membrane.n_places()];
        membrane.solve(&mut values, &rhs, 0.0);
        for (texel, [r, g, b]) in texels.iter_mut().zip(values) {
            *texel = [r, g, b, texel[3]];
        }
    }

    fn refine(&self, filling: &mut Filling, n_rounds: usize, dice: &mut Dice) {
        let targets = self.targets();
        let sources = Sources::new(&self.hole, self.width, self.height);
        if targets.is_empty() || sources.list.is_empty() {
            return;
        }
        let membrane = Membrane::new(&self.hole, self.width);
        let mut correction = vec![[0.0; 3]; self.hole.len()];
        for _ in 0..n_rounds {
            let ground = self.ground(&filling.texels);
            for &at in &targets {
                if let Some(find) = &mut filling.finds[at] {
                    find.distance = ground.distance(at, find.place, f32::MAX);
                }
            }
            for pass in 0..PASSES {
                ground.search(&mut filling.finds, &targets, &sources, pass % 2 == 1, dice);
            }
            self.vote(filling, &targets, &membrane, &mut correction);
        }
    }

    /// Each pixel of the hole becomes the mean of what the patches over it say, the better ones
    /// more, and what they say of the rim and is not so is taken out.
    fn vote(
        &self,
        filling: &mut Filling,
        targets: &[usize],
        membrane: &Membrane,
        correction: &mut [[f32; 3]],
    ) {
        let ground = self.ground(&filling.texels);
        let mut distances: Vec<f32> =
            targets.iter().filter_map(|at| filling.finds[*at]).map(|find| find.distance).collect();
        let middle = distances.len() / 2;
        let usual = *distances.select_nth_unstable_by(middle, f32::total_cmp).1;
        let usual = usual.max(1e-5);
        let mut sums = vec![[0.0_f32; 5]; self.hole.len()];
        for &at in targets {
            let Some(find) = filling.finds[at] else { continue };
            let tone = ground.tone(at, find.place);
            // Never quite nothing: somebody has to decide.
            let likeness = (-find.distance / usual).exp().max(1e-6);
            let weight = likeness * self.trust.at(at);
            for there in around(at, self.width, self.height) {
                let from = filling.texels[find.place + there - at];
                let sum = &mut sums[there];
                for c in 0..3 {
                    sum[c] += (from[c] + tone[c]) * weight;
                }
                sum[3] += from[3] * weight;
                sum[4] += weight;
            }
        }
        // The rim: what was said, and what is.
        for at in 0..self.hole.len() {
            if self.hole[at] || neighbours(at, self.width, self.height, &self.hole) == 0 {
                continue;
            }
            let sum = sums[at];
            let off = |c: usize| self.texels[at][c] - sum[c] / sum[4].max(1e-30);
            correction[at] = [0, 1, 2].map(|c| off(c).clamp(-TONE * 0.5, TONE * 0.5));
        }
        let rhs = vec![[0.0; 3]; membrane.n_places()];
        membrane.solve(correction, &rhs, FADE);
        for (at, sum) in sums.iter().enumerate().filter(|(at, _)| self.hole[*at]) {
            let said = |c: usize| sum[c] / sum[4].max(1e-30);
            let [r, g, b] = [0, 1, 2].map(|c| (said(c) + correction[at][c]).clamp(0.0, 1.0));
            filling.texels[at] = [r, g, b, said(3)];
        }
    }

    /// Places whose patch holds some of the hole.
    fn targets(&self) -> Vec<usize> {
        let touches = |at: &usize| around(*at, self.width, self.height).any(|i| self.hole[i]);
        (0..self.hole.len()).filter(touches).collect()
    }
}

/// The middle of the patches that go on best at a place of which only some is known.
fn goes_on(ground: &Ground<'_>, at: usize, known: &[bool], sources: &[usize]) -> (Texel, Find) {
    let mut best = Vec::new();
    let mut least = f32::MAX;
    for &place in sources {
        let (distance, tone) = ground.distance_to_known(at, place, known);
        least = least.min(distance);
        if distance <= least * 1.4 + 4.0 * UNTOLD {
            best.push((place, distance, tone));
        }
    }
    let spread = 0.1 * least + UNTOLD;
    let (mut sum, mut all) = ([0.0_f32; 4], 0.0_f32);
    let mut find = Find { place: sources[0], distance: f32::MAX };
    for (place, distance, tone) in best {
        let weight = (-(distance - least) / spread).exp();
        let lifted = [tone[0], tone[1], tone[2], 0.0];
        sum = [0, 1, 2, 3].map(|c| sum[c] + (ground.texels[place][c] + lifted[c]) * weight);
        all += weight;
        if distance < find.distance {
            find = Find { place, distance };
        }
    }
    (sum.map(|total| total / all.max(1e-30)), find)
}

/// How many of the four neighbours are set.
fn neighbours(at: usize, width: usize, height: usize, is_set: &[bool]) -> usize {
    let four = [(-1, 0), (1, 0), (0, -1), (0, 1)];
    let there = four.iter().filter_map(|(dx, dy)| moved(at, *dx, *dy, width, height));
    there.filter(|there| is_set[*there]).count()
}

/// From one place to another, in columns and rows.
fn offset(from: usize, to: usize, width: usize) -> (isize, isize) {
    let apart = |a: usize, b: usize| b.cast_signed() - a.cast_signed();
    (apart(from % width, to % width), apart(from / width, to / width))
}

/// How many steps along rows and columns each place lies inside the hole; frames are no rim.
fn depth(hole: &[bool], width: usize, height: usize) -> Vec<u16> {
    let mut depth: Vec<u16> =
        hole.iter().map(|is_hole| if *is_hole { u16::MAX } else { 0 }).collect();
    let forwards = 0..hole.len();
    let relax = |depth: &mut Vec<u16>, at: usize, (dx, dy): (isize, isize)| {
        if let Some(there) = moved(at, dx, dy, width, height) {
            depth[at] = depth[at].min(depth[there].saturating_add(1));
        }
    };
    for at in forwards.clone() {
        relax(&mut depth, at, (-1, 0));
        relax(&mut depth, at, (0, -1));
    }
    for at in forwards.rev() {
        relax(&mut depth, at, (1, 0));
        relax(&mut depth, at, (0, 1));
    }
    depth
}

/// How fine-grained the picture is around each pixel: mean steps between known neighbours.
fn grain(picture: &Canvas, hole: &[bool]) -> Vec<f32> {
    const NEAR: usize = 2;
    let (width, height) = (picture.width, picture.height);
    let steps: Vec<Option<f32>> = (0..hole.len())
        .map(|at| {
            let next = [(1, 0), (0, 1)].map(|(dx, dy)| moved(at, dx, dy, width, height));
            let [Some(right), Some(below)] = next else { return None };
            if hole[at] || hole[right] || hole[below] {
                return None;
            }
            let light = |at: usize| luma(picture.pixels[at]);
            Some((light(at) - light(right)).abs() + (light(at) - light(below)).abs())
        })
        .collect();
    (0..hole.len())
        .map(|at| {
            let (x, y) = (at % width, at / width);
            let (mut sum, mut n) = (0.0, 0.0_f32);
            for y in y.saturating_sub(NEAR)..(y + NEAR + 1).min(height) {
                for step in steps[y * width..][x.saturating_sub(NEAR)..(x + NEAR + 1).min(width)]
                    .iter()
                    .flatten()
                {
                    sum += step;
                    n += 1.0;
                }
            }
            GRAIN * sum / n.max(1.0)
        })
        .collect()
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

    /// A slope of grey with a grain that a disc was taken out of.
    fn grained(side: usize) -> (Canvas, Vec<bool>) {
        let mut picture = Canvas::filled(side, side, [0.0; 3]);
        let mut dice = Dice::new(5, 0, Aspect::Grain);
        for (at, pixel) in picture.pixels.iter_mut().enumerate() {
            let slope = 0.25 + 0.4 * (at % side + at / side) as f32 / side as f32 / 2.0;
            *pixel = [slope + 0.03 * dice.normal(); 3];
        }
        let middle = side as f32 / 2.0;
        let is_hole = |at: usize| {
            let (x, y) = ((at % side) as f32, (at / side) as f32);
            (x - middle).hypot(y - middle) < side as f32 * 0.25
        };
        (picture, (0..side * side).map(is_hole).collect())
    }

    #[test]
    fn a_smooth_ground_goes_on_without_an_outline_and_keeps_its_grain() {
        let (picture, hole) = grained(128);
        let mut broken = picture.clone();
        for (pixel, _) in broken.pixels.iter_mut().zip(&hole).filter(|(_, is_hole)| **is_hole) {
            *pixel = [0.9, 0.1, 0.1];
        }
        let mended = filled(&broken, &hole);
        assert!(seam(&mended, &hole) < 1.3, "{}", seam(&mended, &hole));
        let steps = |is_wanted: bool| {
            let own = (0..hole.len() - 1)
                .filter(|at| hole[*at] == is_wanted && hole[at + 1] == is_wanted);
            let steps: Vec<f32> =
                own.map(|at| (mended.pixels[at][0] - mended.pixels[at + 1][0]).abs()).collect();
            steps.iter().sum::<f32>() / steps.len() as f32
        };
        assert!(0.8 * steps(false) < steps(true), "{} beside {}", steps(true), steps(false));
    }

    #[test]
    fn a_second_coin_is_not_put_where_one_was_taken_away() {
        let side = 96;
        let is_coin = |at: usize, left: usize| {
            let (x, y) = ((at % side) as f32 - left as f32, (at / side) as f32 - 48.0);
            x.hypot(y) < 14.0
        };
        let (mut picture, _) = grained(side);
        for (at, pixel) in picture.pixels.iter_mut().enumerate() {
            *pixel = pixel.map(|channel| 0.2 + 0.2 * channel);
            if is_coin(at, 24) || is_coin(at, 72) {
                *pixel = [0.85 + 0.1 * ((at % 3) as f32 - 1.0); 3];
            }
        }
        let hole: Vec<bool> = (0..side * side)
            .map(|at| (54..90).contains(&(at % side)) && (30..66).contains(&(at / side)))
            .collect();
        let mended = filled(&picture, &hole);
        let n_bright =
            (0..hole.len()).filter(|at| hole[*at] && 0.5 < mended.pixels[*at][0]).count();
        assert_eq!(n_bright, 0);
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
