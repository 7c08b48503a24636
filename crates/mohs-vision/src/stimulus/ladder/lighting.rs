//! Lighting: the whole photo in the dark, in glare, lit from a side, from behind, in fog or through
//! blinds, as in the built-in world.
//!
//! Shade is laid by the object, not by the frame: from a side, more of the object lies in the dark
//! at every step, wherever it stands; blinds have some bars across it, and wider ones at every step.
//! Neither makes anything brighter, so that no part of the object comes out at a harder step.

use std::f32::consts::TAU;

use super::{Photo, Scene, Step};
use crate::world::canvas::{smooth_step, whole};
use crate::world::colour::luma;
use crate::world::dice::Dice;
use crate::world::lighting::{ACROSS_BLINDS, BLINDS_TAKE, DARKEST, Lighting, Mood};

/// The share of the object that lies in the dark at the end; a rim of light shows what it is.
const SHARE_IN_SHADE: f32 = 0.85;
/// How much light the shade takes at the end, as in the built-in world.
const SHADE_TAKES: f32 = 0.94;
/// Half the width of the twilight, in lengths of the object.
const TWILIGHT: f32 = 0.15;
/// What the dark leaves at most, at the end, of photos that are dark already.
const LEFT_OF_DARK: f32 = 0.5;
/// The sine above which a place lies behind a bar, without light: bars take half, and at the end
/// three quarters.
const BAR_FROM: (f32, f32) = (0.0, -0.7);
/// Half the width of the edge of a bar, as a difference of sines.
const BAR_EDGE: f32 = 0.2;
/// Pixels of the shortest period of blinds.
const LEAST_PERIOD: f32 = 6.0;

pub(super) fn scene(photo: &Photo, step: Step, dice: &mut Dice) -> Scene {
    let light = Lighting::new(step.narrow(), dice);
    let mut canvas = photo.whole.clone();
    let left_at: Box<dyn Fn(f32, f32) -> f32> = match light.mood {
        Mood::Side => Box::new(side(photo, &light)),
        Mood::Blinds => Box::new(blinds(photo, &light)),
        _ => Box::new(|_, _| 1.0),
    };
    light.lay(&mut canvas, &photo.cover, left_by_dark(photo), left_at);
    Scene { canvas, object: photo.cover.clone(), amount: step.strength() }
}

/// What light from a side leaves at a place.
fn side(photo: &Photo, light: &Lighting) -> impl Fn(f32, f32) -> f32 + use<> {
    let (sin, cos) = light.angle.sin_cos();
    let s = light.strength;
    let extent = Extent::of(photo, (cos, sin));
    let edge = extent.below(SHARE_IN_SHADE * s);
    let soft = TWILIGHT * extent.length();
    move |u, v| {
        let shade = 1.0 - smooth_step(edge - soft, edge + soft, u * cos + v * sin);
        1.0 - s * SHADE_TAKES * shade
    }
}

/// What blinds leave at a place.
fn blinds(photo: &Photo, light: &Lighting) -> impl Fn(f32, f32) -> f32 + use<> {
    let s = light.strength;
    let extent = Extent::of(photo, ACROSS_BLINDS);
    let frequency = light.frequency / extent.length();
    let frequency = frequency.min(photo.whole.width as f32 / LEAST_PERIOD);
    let from = BAR_FROM.0 + (BAR_FROM.1 - BAR_FROM.0) * s;
    let (start, angle) = (extent.below(0.0), light.angle);
    move |u, v| {
        let along = (u * ACROSS_BLINDS.0 + v * ACROSS_BLINDS.1 - start) * frequency + angle;
        let bar = smooth_step(from - BAR_EDGE, from + BAR_EDGE, (along * TAU).sin());
        1.0 - s * BLINDS_TAKE * bar
    }
}

/// What the dark leaves of all light at the end: of the object as of the whole no more than the
/// darkest picture has.
fn left_by_dark(photo: &Photo) -> f32 {
    let (mut own, mut all) = (0.0, 1e-6);
    for (pixel, cover) in photo.whole.pixels.iter().zip(&photo.cover.values) {
        own += luma(*pixel) * cover;
        all += cover;
    }
    let brighter = (own / all).max(luma(photo.whole.mean())).max(0.01);
    (DARKEST / brighter).min(LEFT_OF_DARK)
}

/// How far the object reaches in a direction.
struct Extent {
    /// Where its pixels lie along the direction, in widths of the photo from the middle, ascending.
    places: Vec<f32>,
}

impl Extent {
    fn of(photo: &Photo, (dx, dy): (f32, f32)) -> Extent {
        let width = photo.whole.width;
        let own = photo.cover.values.iter().enumerate().filter(|(_, cover)| 0.5 <= **cover);
        let along = |at: usize, offset: usize| at as f32 / offset as f32 - 0.5;
        let mut places: Vec<f32> =
            own.map(|(i, _)| along(i % width, width) * dx + along(i / width, width) * dy).collect();
        places.sort_by(f32::total_cmp);
        Extent { places }
    }

    /// The place below which this share of the object lies.
    fn below(&self, share: f32) -> f32 {
        let last = self.places.len().saturating_sub(1);
        self.places.get(whole(share * last as f32).min(last)).copied().unwrap_or(0.0)
    }

    /// Its length without the thin ends, such as a tail.
    fn length(&self) -> f32 {
        (self.below(0.95) - self.below(0.05)).max(1e-3)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use mohs_data::Mask;

    use super::*;
    use crate::pixels::Rgb8;
    use crate::world::dice::Aspect;

    /// A disc, with light and dark places, at a place of a photo that is not square.
    fn photo(centre: (f32, f32), radius: f32, tone: impl Fn(u32, u32) -> u8) -> Photo {
        const SIZE: (u32, u32) = (120, 90);
        let (mut bytes, mut bits) = (Vec::new(), Vec::new());
        for (x, y) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y))) {
            let is_object = (x as f32 - centre.0).hypot(y as f32 - centre.1) < radius;
            let floor = if (x / 8 + y / 8) % 2 == 0 { 90 } else { 130 };
            bytes.extend([if is_object { tone(x, y) } else { floor }; 3]);
            bits.push(is_object);
        }
        let mask = Mask::from_bitmap(SIZE.1, SIZE.0, &bits).unwrap();
        Photo::take_apart(&Rgb8::new(SIZE.0, SIZE.1, bytes).unwrap(), &mask, 512).unwrap()
    }

    fn photos() -> Vec<Photo> {
        let places = [(60.0, 45.0, 30.0), (12.0, 20.0, 18.0), (105.0, 70.0, 22.0)];
        let further = [(60.0, 84.0, 14.0), (20.0, 60.0, 8.0), (64.0, 40.0, 44.0)];
        let tones: [fn(u32, u32) -> u8; 4] = [
            |x, _| 60 + u8::try_from(x).unwrap(),
            |x, _| 220 - u8::try_from(x).unwrap(),
            |_, y| if y % 6 < 3 { 40 } else { 200 },
            |x, y| if (x / 5 + y / 5) % 2 == 0 { 30 } else { 70 },
        ];
        let places = places.into_iter().chain(further);
        let with_tones = places.zip(tones.into_iter().cycle());
        with_tones.map(|((x, y, radius), tone)| photo((x, y), radius, tone)).collect()
    }

    /// Mean and deviation of the brightness of the object.
    fn brightness(photo: &Photo, scene: &Scene) -> (f32, f32) {
        let pixels = scene.canvas.pixels.iter().zip(&photo.cover.values);
        let own: Vec<f32> =
            pixels.filter(|(_, cover)| 0.5 <= **cover).map(|(pixel, _)| luma(*pixel)).collect();
        let n = own.len() as f32;
        let mean = own.iter().sum::<f32>() / n;
        (mean, (own.iter().map(|one| (one - mean) * (one - mean)).sum::<f32>() / n).sqrt())
    }

    #[test]
    fn the_object_is_harder_to_see_at_every_step_of_every_light_wherever_it_stands() {
        let mut moods = BTreeSet::new();
        for (photo, seed) in photos().iter().flat_map(|photo| (0..24).map(move |s| (photo, s))) {
            let dice = || Dice::new(seed, 7, Aspect::Pose);
            let mood = Lighting::new(1.0, &mut dice()).mood;
            let steps = Step::all().map(|step| scene(photo, step, &mut dice()));
            let seen = steps.map(|scene| brightness(photo, &scene));
            // Glare and fog are bright; what they take is the difference between light and dark.
            let is_bright = matches!(mood, Mood::Glare | Mood::Fog);
            let seen: Vec<f32> =
                seen.map(|(mean, deviation)| if is_bright { deviation } else { mean }).collect();
            let most_left = match mood {
                Mood::Glare => 0.85,
                Mood::Fog => 0.3,
                Mood::Dark | Mood::Blinds => 0.6,
                Mood::Side | Mood::Behind => 0.45,
            };
            let place = format!("{mood:?} {:?} {seen:?}", photo.bounds);
            // Glare may leave nothing of a bright object; less than that there is not.
            let falls = |pair: &[f32]| pair[1] < pair[0] || seen[8] <= 0.0 && pair[1] <= 0.0;
            assert!(seen.windows(2).all(falls), "{place}");
            assert!(seen[8] < most_left * seen[0], "{place}");
            moods.insert(mood);
        }
        assert_eq!(moods.len(), 6);
    }

    #[test]
    fn light_from_a_side_leaves_most_of_the_object_in_the_dark_wherever_it_stands() {
        for photo in photos() {
            for angle in [0.3, TAU * 0.5 - 0.2] {
                let mut light = Lighting::new(1.0, &mut Dice::new(1, 7, Aspect::Pose));
                (light.mood, light.angle) = (Mood::Side, angle);
                let left_at = side(&photo, &light);
                let width = photo.whole.width;
                let own = photo.cover.values.iter().enumerate().filter(|(_, own)| 0.5 <= **own);
                let left: Vec<f32> = own
                    .map(|(i, _)| {
                        let place = |at: usize| at as f32 / width as f32 - 0.5;
                        left_at(place(i % width), place(i / width))
                    })
                    .collect();
                let n_dark = left.iter().filter(|left| **left < 0.5).count();
                let share = n_dark as f64 / left.len() as f64;
                assert!((0.75..0.95).contains(&share), "{:?} {angle}: {share}", photo.bounds);
            }
        }
    }
}
