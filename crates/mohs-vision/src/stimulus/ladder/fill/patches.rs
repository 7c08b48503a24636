//! The search for similar patches (PatchMatch, Barnes et al. 2009).
//!
//! Two patches are alike when they differ little in colour, apart from a small step in tone, which
//! is taken out when one is copied onto the other: a sky that gets lighter is one sky. They should
//! also be of equally fine grain, and lie at about the same height: scenes lie in layers, and a
//! dog's feet leave a hole in the grass, not in the wood behind.

use crate::world::canvas::lattice;
use crate::world::dice::Dice;

/// Half the side of a patch: 7 × 7 pixels hold enough texture to be told apart.
pub(super) const REACH: usize = 3;
/// The largest step in tone that is taken out of a channel.
pub(super) const TONE: f32 = 0.06;
/// What a place one pixel further from the rim counts: what is known reaches inwards.
const INWARDS: f32 = 0.8;
/// Further in, places are trusted equally.
const DEEP: i32 = 20;
/// What a step in tone costs that is taken out, beside one that is not.
const TONE_COST: f32 = 0.25;

/// Three colours and the grain around a pixel.
pub(super) type Texel = [f32; 4];

/// A picture to search in.
pub(super) struct Ground<'a> {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) texels: &'a [Texel],
    /// What a patch from the other end of the picture costs.
    pub(super) layered: f32,
    /// What a patch costs wherever it is copied to.
    pub(super) strange: &'a [f32],
    pub(super) trust: &'a Trust,
}

/// How much places are trusted when patches are compared: what is known most, and what was filled
/// the less, the further it lies inside.
pub(super) struct Trust {
    of_place: Vec<f32>,
    /// The sum over a patch.
    of_patch: Vec<f32>,
}

impl Trust {
    pub(super) fn new(depth: &[u16], width: usize, height: usize) -> Trust {
        let trust = |depth: &u16| INWARDS.powi(i32::from(*depth).min(DEEP));
        let of_place: Vec<f32> = depth.iter().map(trust).collect();
        let sum = |at: usize| around(at, width, height).map(|there| of_place[there]).sum();
        let of_patch = (0..of_place.len()).map(sum).collect();
        Trust { of_place, of_patch }
    }

    /// The trust in what a patch around a place says.
    pub(super) fn at(&self, place: usize) -> f32 {
        self.of_place[place]
    }
}

/// Where the best patch for a place was found, and how much it differs.
#[derive(Clone, Copy)]
pub(super) struct Find {
    pub(super) place: usize,
    pub(super) distance: f32,
}

/// Colour differences of two patches, added up.
#[derive(Clone, Copy, Default)]
struct Sums {
    plain: Texel,
    squared: Texel,
    /// The weights of the pixels.
    n: f32,
}

impl Sums {
    fn add(&mut self, one: &Texel, other: &Texel, weight: f32) {
        for c in 0..4 {
            let difference = one[c] - other[c];
            self.plain[c] += weight * difference;
            self.squared[c] += weight * difference * difference;
        }
        self.n += weight;
    }

    /// What is left when steps in tone are taken out; grows with every pixel that is added.
    fn scatter(&self) -> f32 {
        (0..3).map(|c| self.squared[c] - self.plain[c] * self.plain[c] / self.n).sum::<f32>()
            + self.squared[3]
    }

    fn distance(&self) -> f32 {
        let tone = self.plain.iter().take(3).map(|sum| {
            let step = sum / self.n;
            let taken_out = step.clamp(-TONE, TONE);
            let left = step - taken_out;
            TONE_COST * taken_out * taken_out + left * left
        });
        self.scatter().max(0.0) / self.n + tone.sum::<f32>()
    }

    fn tone(&self) -> [f32; 3] {
        [0, 1, 2].map(|c| (self.plain[c] / self.n.max(1.0)).clamp(-TONE, TONE))
    }
}

impl Ground<'_> {
    /// Compares the patch at `one` with the one at `other`; `None` when they differ by more than
    /// `enough`.
    fn sums(&self, one: usize, other: usize, enough: f32) -> Option<Sums> {
        let (x, y) = (one % self.width, one / self.width);
        let (left, right) = (x.min(REACH), (self.width - 1 - x).min(REACH));
        let (up, down) = (y.min(REACH), (self.height - 1 - y).min(REACH));
        let (n_columns, n_rows) = (left + right + 1, up + down + 1);
        let stop = enough * self.trust.of_patch[one];
        let mut sums = Sums::default();
        for row in 0..n_rows {
            let from = one + row * self.width - up * self.width - left;
            let to = other + row * self.width - up * self.width - left;
            let own = self.texels[from..].iter().zip(&self.trust.of_place[from..]);
            for ((a, trust), b) in own.zip(&self.texels[to..to + n_columns]) {
                sums.add(a, b, *trust);
            }
            if stop < sums.scatter() {
                return None;
            }
        }
        Some(sums)
    }

    /// How much the patch at `other` differs from that at `one`; `other` must be a whole patch.
    /// `f32::MAX` stands for anything beyond `enough`.
    pub(super) fn distance(&self, one: usize, other: usize, enough: f32) -> f32 {
        let apart = self.apart(one, other);
        self.sums(one, other, enough - apart).map_or(f32::MAX, |sums| sums.distance() + apart)
    }

    /// The step in tone that makes the patch at `other` as light as that at `one`.
    pub(super) fn tone(&self, one: usize, other: usize) -> [f32; 3] {
        self.sums(one, other, f32::INFINITY).map_or([0.0; 3], |sums| sums.tone())
    }

    /// Distance and tone where only some of the patch at `one` is known.
    pub(super) fn distance_to_known(
        &self,
        one: usize,
        other: usize,
        known: &[bool],
    ) -> (f32, [f32; 3]) {
        let mut sums = Sums::default();
        for (own, there) in self.pairs(one, other).filter(|(own, _)| known[*own]) {
            sums.add(&self.texels[own], &self.texels[there], 1.0);
        }
        let distance = if 0.0 < sums.n { sums.distance() } else { 0.0 };
        (distance + self.apart(one, other), sums.tone())
    }

    /// Places of the patch at `one` beside those of the patch at `other`, inside the frame.
    fn pairs(&self, one: usize, other: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        around(one, self.width, self.height).map(move |own| (own, other + own - one))
    }

    /// What a patch costs that has nothing to do with its colours here.
    fn apart(&self, one: usize, other: usize) -> f32 {
        let rows = (one / self.width).abs_diff(other / self.width) as f32;
        let climb = rows / self.height as f32;
        self.layered * climb * climb + self.strange[other]
    }

    /// One pass: neighbours' finds moved along, then chance ever nearer by.
    pub(super) fn search(
        &self,
        finds: &mut [Option<Find>],
        targets: &[usize],
        sources: &Sources,
        is_backwards: bool,
        dice: &mut Dice,
    ) {
        for idx in 0..targets.len() {
            let at = targets[if is_backwards { targets.len() - 1 - idx } else { idx }];
            let Some(mut own) = finds[at] else { continue };
            let try_place = |place: Option<usize>, own: &mut Find| {
                let Some(place) = place.filter(|place| sources.is_source[*place]) else { return };
                if place != own.place {
                    let distance = self.distance(at, place, own.distance);
                    if distance < own.distance {
                        *own = Find { place, distance };
                    }
                }
            };
            let step = if is_backwards { 1 } else { -1 };
            for (dx, dy) in [(step, 0), (0, step)] {
                let neighbour = self.moved(at, dx, dy).and_then(|there| finds[there]);
                let place = neighbour.and_then(|find| self.moved(find.place, -dx, -dy));
                try_place(place, &mut own);
            }
            try_place(Some(sources.any(dice)), &mut own);
            let mut radius = self.width.max(self.height) as f32 * 0.5;
            while 1.0 <= radius {
                let mut shift = || lattice(dice.between(-radius, radius) + 0.5);
                let (dx, dy) = (shift(), shift());
                try_place(self.moved(own.place, dx, dy), &mut own);
                radius *= 0.5;
            }
            finds[at] = Some(own);
        }
    }

    fn moved(&self, at: usize, dx: isize, dy: isize) -> Option<usize> {
        moved(at, dx, dy, self.width, self.height)
    }
}

/// Places that a patch may be copied from.
pub(super) struct Sources {
    pub(super) list: Vec<usize>,
    is_source: Vec<bool>,
}

impl Sources {
    /// Places whose patch is inside the picture and wholly known.
    pub(super) fn new(hole: &[bool], width: usize, height: usize) -> Self {
        let is_source: Vec<bool> = (0..hole.len())
            .map(|at| {
                let (x, y) = (at % width, at / width);
                let is_inside = |place: usize, side: usize| REACH <= place && place + REACH < side;
                is_inside(x, width)
                    && is_inside(y, height)
                    && around(at, width, height).all(|there| !hole[there])
            })
            .collect();
        let list = (0..hole.len()).filter(|at| is_source[*at]).collect();
        Self { list, is_source }
    }

    pub(super) fn any(&self, dice: &mut Dice) -> usize {
        self.list[dice.below(self.list.len())]
    }

    /// The place if it is one, or any.
    pub(super) fn or_any(&self, place: Option<usize>, dice: &mut Dice) -> usize {
        place.filter(|place| self.is_source[*place]).unwrap_or_else(|| self.any(dice))
    }
}

/// The places of a patch, as far as they are inside the frame.
pub(super) fn around(at: usize, width: usize, height: usize) -> impl Iterator<Item = usize> {
    let (x, y) = (at % width, at / width);
    let rows = y.saturating_sub(REACH)..=(y + REACH).min(height - 1);
    let columns = x.saturating_sub(REACH)..=(x + REACH).min(width - 1);
    rows.flat_map(move |y| columns.clone().map(move |x| y * width + x))
}

/// A place beside another, if it is inside the frame.
pub(super) fn moved(at: usize, dx: isize, dy: isize, width: usize, height: usize) -> Option<usize> {
    let x = (at % width).checked_add_signed(dx).filter(|x| *x < width)?;
    let y = (at / width).checked_add_signed(dy).filter(|y| *y < height)?;
    Some(y * width + x)
}
