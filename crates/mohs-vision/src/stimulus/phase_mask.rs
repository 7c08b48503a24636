//! Masks: what is shown after a picture to end its processing, made of the picture itself.
//!
//! A mask has the picture's strength at every spatial frequency (its amplitudes), and random places
//! for them (its phases): as bright, coarse and contrasted as the picture, but showing nothing.
//! There are two forms, because the viewing-time paper says one thing and its published code does
//! another. `docs/methods/phase-masks.md` shows both.
//!
//! # `paper`: noise is added to the phase
//!
//! ```text
//! F_c     =  Fourier transform of channel c,   c = red, green, blue
//! M_c(k)  =  F_c(k) · exp(2π i η(k)),   η(k) uniform in [0, 1),   η(−k) = −η(k)
//! mask_c  =  inverse transform of M_c, cut to [0, 1], rounded to 8 bits
//! ```
//!
//! | left open by the paper | here |
//! |---|---|
//! | the unit of [0, 1] | a full turn: in radians the object stays in plain view (see the page) |
//! | how the mask becomes real | noise of opposite frequencies is opposite; those that are their own opposite, the mean among them, get none |
//! | one noise, or one per channel | one, so colours stay together and a grey picture has a grey mask |
//! | numbers outside [0, 1] | cut off: rescaling would change brightness and contrast |
//!
//! # `published-code`: the phase is that of white noise
//!
//! ```text
//! S_c     =  inverse transform of |F_c| · N_c / |N_c|,   N_c = transform of standard normal noise
//! mask_c  =  (S_c − min S_c) / (max S_c − min S_c), rounded down to 8 bits
//! ```
//!
//! Noise is drawn anew for each channel, so masks are colourful even of grey pictures, and each
//! channel is stretched from black to white. A channel of one level, which is 0 / 0 there, stays.
//!
//! Numbers are of 64 bits: processors may round the last one differently, and 8-bit levels follow
//! suit less than once in a million pictures.

use std::sync::Arc;

use mohs_data::{MaskForm, Seed, StimulusId};
use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlanner};

use crate::pixels::Rgb8;
use crate::probe::ProbeKey;
use crate::probe::random::Random;

/// A channel whose largest and smallest number are nearer than this has one level.
const FLAT: f64 = 1e-9;

/// Makes masks of one form and size.
#[derive(Clone)]
pub struct MaskMaker {
    form: MaskForm,
    plane: Plane,
}

impl std::fmt::Debug for MaskMaker {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "MaskMaker({:?}, {})", self.form, self.plane.side)
    }
}

impl MaskMaker {
    /// Returns a maker of masks for pictures of this side; `None` if the form is none.
    pub fn new(form: MaskForm, side: u32) -> Option<MaskMaker> {
        (form != MaskForm::None).then(|| MaskMaker { form, plane: Plane::new(side as usize) })
    }

    /// Returns the mask of a square picture of the maker's side.
    ///
    /// Random numbers depend on the seed, the form and `source`, the hash of the file the picture
    /// was made from, and on nothing else.
    pub fn mask(&self, picture: &Rgb8, seed: Seed, source: &str) -> Rgb8 {
        let source = StimulusId::new(source);
        let key = ProbeKey { seed, stimulus: &source };
        match self.form {
            MaskForm::None | MaskForm::Paper => {
                let noise = self.turns(&mut Random::new(&key, "phase-mask paper", 0));
                self.turned(picture, &noise)
            }
            MaskForm::PublishedCode => {
                let mut random = Random::new(&key, "phase-mask published-code", 0);
                let n_numbers = 3 * self.plane.side * self.plane.side;
                let noise: Vec<f64> = (0..n_numbers).map(|_| random.normal()).collect();
                self.replaced(picture, &noise)
            }
        }
    }

    /// Draws a turn for each frequency, opposite for opposite ones: row by row, the first of each
    /// pair.
    fn turns(&self, random: &mut Random) -> Vec<f64> {
        let mut turns = vec![0.0; self.plane.side * self.plane.side];
        for at in 0..turns.len() {
            let opposite = self.plane.opposite(at);
            if at < opposite {
                turns[at] = random.uniform();
                turns[opposite] = -turns[at];
            }
        }
        turns
    }

    /// Returns the `paper` form for these turns, one per frequency, row by row.
    ///
    /// `turns` must have `side²` entries, opposite for opposite frequencies.
    pub fn turned(&self, picture: &Rgb8, turns: &[f64]) -> Rgb8 {
        let planes = self.turned_planes(picture, turns);
        self.picture(&planes, |number| number.clamp(0.0, 1.0) * 255.0 + 0.5)
    }

    fn turned_planes(&self, picture: &Rgb8, turns: &[f64]) -> [Vec<f64>; 3] {
        // Each turn is a real filter, so two channels go through as one complex plane.
        let factors = self.plane.factors(turns);
        let [red, green, blue] = channels(picture);
        let mut room = self.plane.room();
        let mut turned = |first: &[f64], second: Option<&[f64]>| {
            self.plane.forth(first, second, &mut room);
            room.spectrum.iter_mut().zip(&factors).for_each(|(number, factor)| *number *= factor);
            self.plane.back(&mut room)
        };
        let (red, green) = turned(&red, Some(&green));
        let (blue, _) = turned(&blue, None);
        [red, green, blue]
    }

    /// Returns the `published-code` form for this noise, channel by channel, row by row.
    ///
    /// `noise` must have `3 side²` entries.
    pub fn replaced(&self, picture: &Rgb8, noise: &[f64]) -> Rgb8 {
        let mut planes = self.replaced_planes(picture, noise);
        for (plane, channel) in planes.iter_mut().zip(channels(picture)) {
            let least = plane.iter().copied().fold(f64::MAX, f64::min);
            let most = plane.iter().copied().fold(f64::MIN, f64::max);
            if most - least < FLAT {
                // Half a level more, because what follows rounds down.
                *plane = channel.iter().map(|number| number + 0.5 / 255.0).collect();
            } else {
                plane.iter_mut().for_each(|number| *number = (*number - least) / (most - least));
            }
        }
        self.picture(&planes, |number| number * 255.0)
    }

    fn replaced_planes(&self, picture: &Rgb8, noise: &[f64]) -> [Vec<f64>; 3] {
        let [red, green, blue] = channels(picture);
        let n = red.len();
        let (mut room, mut noise_room) = (self.plane.room(), self.plane.room());
        let mut replaced = |first: [&[f64]; 2], second: Option<[&[f64]; 2]>| {
            self.plane.forth(first[0], second.map(|second| second[0]), &mut room);
            self.plane.forth(first[1], second.map(|second| second[1]), &mut noise_room);
            for at in 0..n {
                let opposite = self.plane.opposite(at);
                if opposite < at {
                    continue;
                }
                let [a, b] = parted(room.spectrum[at], room.spectrum[opposite]);
                let noises = parted(noise_room.spectrum[at], noise_room.spectrum[opposite]);
                let [phase_a, phase_b] = noises.map(unit);
                let (a, b) = (phase_a * a.norm(), phase_b * b.norm());
                room.spectrum[at] = a + Complex64::i() * b;
                room.spectrum[opposite] = a.conj() + Complex64::i() * b.conj();
            }
            self.plane.back(&mut room)
        };
        let (red, green) = replaced([&red, &noise[..n]], Some([&green, &noise[n..2 * n]]));
        let (blue, _) = replaced([&blue, &noise[2 * n..]], None);
        [red, green, blue]
    }

    /// Returns a picture whose levels are these numbers, rounded down.
    fn picture(&self, planes: &[Vec<f64>; 3], level: impl Fn(f64) -> f64) -> Rgb8 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast rounds down, and cuts what is outside 0 to 255"
        )]
        let byte = |number: f64| level(number) as u8;
        let bytes = (0..planes[0].len())
            .flat_map(|at| [planes[0][at], planes[1][at], planes[2][at]].map(&byte))
            .collect();
        let side = u32::try_from(self.plane.side).expect("because it was given as 32 bits");
        Rgb8::new(side, side, bytes).expect("because each pixel has three channels")
    }
}

/// Returns the three channels as numbers between 0 and 1.
fn channels(picture: &Rgb8) -> [Vec<f64>; 3] {
    [0, 1, 2].map(|channel| {
        let bytes = picture.bytes().iter().skip(channel).step_by(3);
        bytes.map(|&byte| f64::from(byte) / 255.0).collect()
    })
}

/// Parts the spectra of two real planes that were transformed as one complex plane.
fn parted(at: Complex64, opposite: Complex64) -> [Complex64; 2] {
    let mirrored = opposite.conj();
    [(at + mirrored) * 0.5, (at - mirrored) * Complex64::new(0.0, -0.5)]
}

/// Returns the number of the same direction and of size 1; 1 where there is no direction.
fn unit(number: Complex64) -> Complex64 {
    let size = number.norm();
    if size == 0.0 { Complex64::new(1.0, 0.0) } else { number / size }
}

/// A square plane of numbers and its Fourier transform.
#[derive(Clone)]
struct Plane {
    side: usize,
    forth: Arc<dyn Fft<f64>>,
    back: Arc<dyn Fft<f64>>,
}

impl Plane {
    fn new(side: usize) -> Plane {
        let mut planner = FftPlanner::new();
        Plane { side, forth: planner.plan_fft_forward(side), back: planner.plan_fft_inverse(side) }
    }

    /// Returns where the opposite of a frequency stands.
    fn opposite(&self, at: usize) -> usize {
        let mirrored = |at: usize| (self.side - at) % self.side;
        mirrored(at / self.side) * self.side + mirrored(at % self.side)
    }

    /// Returns `exp(2π i turn)` of each turn, in the order of a spectrum.
    fn factors(&self, turns: &[f64]) -> Vec<Complex64> {
        let mut factors = vec![Complex64::new(1.0, 0.0); turns.len()];
        for (at, turn) in turns.iter().enumerate() {
            // Opposite frequencies have opposite turns.
            let opposite = self.plane_order(self.opposite(at));
            let at = self.plane_order(at);
            if at <= opposite {
                factors[at] = Complex64::cis(std::f64::consts::TAU * turn);
                factors[opposite] = factors[at].conj();
            }
        }
        factors
    }

    /// Returns where a frequency of a plane, row by row, stands in a spectrum, column by column.
    fn plane_order(&self, at: usize) -> usize {
        at % self.side * self.side + at / self.side
    }

    /// Returns room for one transform at a time.
    fn room(&self) -> Room {
        let numbers = vec![Complex64::default(); self.side * self.side];
        let n_scratch =
            self.forth.get_inplace_scratch_len().max(self.back.get_inplace_scratch_len());
        Room { spectrum: numbers.clone(), numbers, scratch: vec![Complex64::default(); n_scratch] }
    }

    /// Transforms `first + i second`.
    fn forth(&self, first: &[f64], second: Option<&[f64]>, room: &mut Room) {
        let Room { numbers, spectrum, scratch } = room;
        match second {
            Some(second) => {
                let pairs = first.iter().zip(second).map(|(&re, &im)| Complex64::new(re, im));
                numbers.iter_mut().zip(pairs).for_each(|(number, pair)| *number = pair);
            }
            None => numbers.iter_mut().zip(first).for_each(|(number, &re)| *number = re.into()),
        }
        self.forth.process_with_scratch(numbers, scratch);
        transpose(numbers, spectrum, self.side);
        self.forth.process_with_scratch(spectrum, scratch);
    }

    /// Transforms the spectrum back and returns the real and the imaginary plane.
    fn back(&self, room: &mut Room) -> (Vec<f64>, Vec<f64>) {
        let Room { numbers, spectrum, scratch } = room;
        self.back.process_with_scratch(spectrum, scratch);
        transpose(spectrum, numbers, self.side);
        self.back.process_with_scratch(numbers, scratch);
        #[expect(clippy::cast_precision_loss, reason = "sides are a few thousand")]
        let scale = 1.0 / (self.side * self.side) as f64;
        numbers.iter().map(|number| (number.re * scale, number.im * scale)).unzip()
    }
}

/// Room for one transform: a plane, row by row, and its spectrum, column by column.
struct Room {
    numbers: Vec<Complex64>,
    spectrum: Vec<Complex64>,
    scratch: Vec<Complex64>,
}

/// Writes rows as columns.
fn transpose(from: &[Complex64], to: &mut [Complex64], side: usize) {
    /// Numbers in a few cache lines: 16 × 16 of them stay in the fastest cache.
    const TILE: usize = 16;
    for top in (0..side).step_by(TILE) {
        for left in (0..side).step_by(TILE) {
            for row in top..(top + TILE).min(side) {
                for column in left..(left + TILE).min(side) {
                    to[column * side + row] = from[row * side + column];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn picture(side: u32, bytes: Vec<u8>) -> Rgb8 {
        Rgb8::new(side, side, bytes).unwrap()
    }

    fn maker(form: MaskForm, side: u32) -> MaskMaker {
        MaskMaker::new(form, side).unwrap()
    }

    /// Something with edges: a bright square on a dark slope.
    fn scene(side: u32) -> Rgb8 {
        let level = |x: u32, y: u32| {
            let is_inside = (side / 3..side / 2).contains(&x) && (side / 4..side / 2).contains(&y);
            u8::try_from(if is_inside { 220 } else { 40 + 80 * x / side }).unwrap()
        };
        let bytes = (0..side * side).flat_map(|at| {
            let level = level(at % side, at / side);
            [level, level / 2, 255 - level]
        });
        picture(side, bytes.collect())
    }

    fn grey(picture: &Rgb8) -> Vec<f64> {
        picture.bytes().chunks(3).map(|pixel| pixel.iter().map(|&b| f64::from(b)).sum()).collect()
    }

    fn correlation(a: &[f64], b: &[f64]) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
        let (mean_a, mean_b) = (mean(a), mean(b));
        let product = |a: &[f64], b: &[f64], mean_a: f64, mean_b: f64| -> f64 {
            a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum()
        };
        product(a, b, mean_a, mean_b)
            / (product(a, a, mean_a, mean_a) * product(b, b, mean_b, mean_b)).sqrt()
    }

    #[test]
    fn half_a_turn_makes_a_negative_and_none_changes_nothing() {
        // Three pixels a side: every frequency but the mean has an opposite other than itself.
        let bytes: Vec<u8> = (0..27).map(|n| n * 9).collect();
        let picture = picture(3, bytes);
        let maker = maker(MaskForm::Paper, 3);
        assert_eq!(maker.turned(&picture, &[0.0; 9]), picture);
        let mut turns = [0.5; 9];
        turns[0] = 0.0;
        let negative = maker.turned(&picture, &turns);
        // Around the channels' means of 108, 117 and 126.
        assert_eq!(negative.pixel(0, 0), [216, 225, 234]);
        assert_eq!(negative.pixel(1, 1), picture.pixel(1, 1));
    }

    #[test]
    fn a_flat_picture_is_its_own_mask() {
        let flat = picture(6, [7, 100, 255].repeat(36));
        for form in [MaskForm::Paper, MaskForm::PublishedCode] {
            assert_eq!(maker(form, 6).mask(&flat, Seed(3), "a"), flat, "{form:?}");
        }
    }

    #[test]
    fn a_mask_shows_nothing_of_its_picture() {
        let picture = scene(48);
        for form in [MaskForm::Paper, MaskForm::PublishedCode] {
            let alike: Vec<f64> = (0..20)
                .map(|n| maker(form, 48).mask(&picture, Seed(n), "a"))
                .map(|mask| correlation(&grey(&picture), &grey(&mask)).abs())
                .collect();
            let mean = alike.iter().sum::<f64>() / 20.0;
            assert!(mean < 0.35, "{form:?}: {alike:?}");
        }
    }

    #[test]
    fn a_turn_of_a_radian_at_most_would_leave_the_picture_in_view() {
        let (picture, maker) = (scene(48), maker(MaskForm::Paper, 48));
        let id = StimulusId::new("a");
        let key = ProbeKey { seed: Seed(1), stimulus: &id };
        let mut turns = maker.turns(&mut Random::new(&key, "test", 0));
        turns.iter_mut().for_each(|turn| *turn /= std::f64::consts::TAU);
        let alike = correlation(&grey(&picture), &grey(&maker.turned(&picture, &turns)));
        assert!(0.7 < alike, "{alike}");
    }

    #[test]
    fn masks_depend_on_seed_source_and_form_alone() {
        let picture = scene(16);
        let mask = |form, seed, source| maker(form, 16).mask(&picture, Seed(seed), source);
        for form in [MaskForm::Paper, MaskForm::PublishedCode] {
            assert_eq!(mask(form, 1, "a"), mask(form, 1, "a"));
            assert_ne!(mask(form, 1, "a"), mask(form, 2, "a"));
            assert_ne!(mask(form, 1, "a"), mask(form, 1, "b"));
        }
        assert_ne!(mask(MaskForm::Paper, 1, "a"), mask(MaskForm::PublishedCode, 1, "a"));
    }

    #[test]
    fn a_grey_picture_has_a_grey_mask_in_the_papers_form_only() {
        let bytes = (0..256_u32).flat_map(|n| [u8::try_from(n * 37 % 256).unwrap(); 3]).collect();
        let picture = picture(16, bytes);
        let is_grey = |form| {
            let mask = maker(form, 16).mask(&picture, Seed(1), "a");
            mask.bytes().chunks(3).all(|pixel| pixel[0] == pixel[1] && pixel[1] == pixel[2])
        };
        assert!(is_grey(MaskForm::Paper) && !is_grey(MaskForm::PublishedCode));
    }

    fn amplitudes(plane: &Plane, numbers: &[f64]) -> Vec<f64> {
        let mut room = plane.room();
        plane.forth(numbers, None, &mut room);
        room.spectrum.iter().map(|number| number.norm()).collect()
    }

    proptest! {
        #[test]
        fn amplitudes_are_kept_before_numbers_are_cut_off(
            side in 2_u32..24, seed in 0_u64..1000, factor in 1_u32..200,
        ) {
            let bytes = (0..side * side * 3)
                .map(|n| u8::try_from((n * factor + n * n / 7) % 256).unwrap())
                .collect();
            let picture = picture(side, bytes);
            let id = StimulusId::new("a");
            let mut random = Random::new(&ProbeKey { seed: Seed(seed), stimulus: &id }, "test", 0);
            let maker = maker(MaskForm::Paper, side);
            let noise: Vec<f64> = (0..3 * side * side).map(|_| random.normal()).collect();
            let made = [
                maker.turned_planes(&picture, &maker.turns(&mut random)),
                maker.replaced_planes(&picture, &noise),
            ];
            for planes in made {
                for (plane, channel) in planes.iter().zip(channels(&picture)) {
                    let (ours, theirs) =
                        (amplitudes(&maker.plane, plane), amplitudes(&maker.plane, &channel));
                    for (ours, theirs) in ours.iter().zip(&theirs) {
                        prop_assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}");
                    }
                }
            }
        }
    }
}
