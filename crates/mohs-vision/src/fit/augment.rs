//! Augmentation: training pictures varied at random, the same way for the same key.
//!
//! Turning, shifting, cutting out and mirroring are one map from places in the new picture to
//! places in the old one, read with bilinear interpolation; outside is black. Then come brightness,
//! contrast and colour in this order, each clamped to what pixels can be; then the mean and spread
//! of the network, and last the blanked square, which is the mean.
//!
//! Nothing here reads pictures or knows about epochs: the caller brings a stream.

use mohs_data::training::Augmentation;

use super::chance::Chance;
use super::prepare::Prepare;

/// Weights of red, green and blue in grey (ITU-R BT.601), as Pillow and torchvision use them.
const GREY: [f32; 3] = [0.299, 0.587, 0.114];

/// What is done to one picture, drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    is_mirrored: bool,
    /// Where the picture is moved to, in pixels.
    shift: (f64, f64),
    /// Left, top, width and height of what is cut out, in pixels.
    window: Option<[f64; 4]>,
    /// The turn in radians.
    turn: f64,
    brightness: f32,
    contrast: f32,
    colour: f32,
    /// Left, top, right and bottom of the blanked square, in pixels.
    blank: Option<[usize; 4]>,
}

impl Change {
    /// A picture as it is.
    pub(crate) fn none() -> Change {
        Change {
            is_mirrored: false,
            shift: (0.0, 0.0),
            window: None,
            turn: 0.0,
            brightness: 1.0,
            contrast: 1.0,
            colour: 1.0,
            blank: None,
        }
    }

    /// Draws what is done to a picture of this size.
    pub(crate) fn draw(
        how: &Augmentation,
        width: usize,
        height: usize,
        chance: &mut Chance,
    ) -> Change {
        // Every number is drawn whether used or not, so that one setting does not move another.
        let mirror = chance.unit();
        let places = [chance.unit(), chance.unit()];
        let (area, aspect, left, top) =
            (chance.unit(), chance.unit(), chance.unit(), chance.unit());
        let turn = chance.between(-how.rotation, how.rotation).to_radians();
        let mut factor = |spread: f64| {
            #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
            let factor = chance.between((1.0 - spread).max(0.0), 1.0 + spread) as f32;
            factor
        };
        let (brightness, contrast, colour) =
            (factor(how.brightness), factor(how.contrast), factor(how.colour));
        let (blank_x, blank_y) = (chance.below(width.max(1)), chance.below(height.max(1)));
        let (wide, high) = (real(width), real(height));

        let padding = f64::from(how.crop_padding);
        let places = places.map(|place| (place * (2.0 * padding + 1.0)).floor() - padding);
        let window = how.resized_crop.map(|[low, high_share]| {
            let share = low + (high_share - low) * area;
            // Between 3 : 4 and 4 : 3, evenly on the logarithmic scale, as torchvision does it.
            let ratio = ((4.0_f64 / 3.0).ln() * (2.0 * aspect - 1.0)).exp();
            let w = (share * ratio).sqrt().min(1.0) * wide;
            let h = (share / ratio).sqrt().min(1.0) * high;
            [left * (wide - w), top * (high - h), w, h]
        });
        let half = how.cutout as usize / 2;
        let blank = (0 < how.cutout).then(|| {
            let end = |at: usize, most: usize| (at + how.cutout as usize - half).min(most);
            let (left, top) = (blank_x.saturating_sub(half), blank_y.saturating_sub(half));
            [left, top, end(blank_x, width), end(blank_y, height)]
        });
        Change {
            is_mirrored: how.flip && mirror < 0.5,
            shift: (places[0], places[1]),
            window,
            turn,
            brightness,
            contrast,
            colour,
            blank,
        }
    }

    /// Whether pixels stay in their places.
    fn stays(&self) -> bool {
        let moves = self.is_mirrored || self.window.is_some();
        !moves && self.shift == (0.0, 0.0) && self.turn == 0.0
    }
}

/// Makes the numbers of a picture (red, green, blue, row by row) with this change, channel by channel.
pub(crate) fn numbers(bytes: &[u8], prepare: &Prepare, change: &Change) -> Vec<f32> {
    let mut planes = moved(bytes, prepare, change);
    recolour(&mut planes, change);
    let n_pixels = prepare.width * prepare.height;
    for (channel, plane) in planes.chunks_exact_mut(n_pixels.max(1)).enumerate() {
        let (mean, sd) = (prepare.mean[channel], prepare.sd[channel]);
        plane.iter_mut().for_each(|x| *x = (*x - mean) / sd);
        if let Some([left, top, right, bottom]) = change.blank {
            for row in plane.chunks_exact_mut(prepare.width).take(bottom).skip(top) {
                row[left..right].fill(0.0);
            }
        }
    }
    planes
}

/// The picture as three planes from 0 to 1, with pixels moved.
fn moved(bytes: &[u8], prepare: &Prepare, change: &Change) -> Vec<f32> {
    let (width, height) = (prepare.width, prepare.height);
    let mut planes = Vec::with_capacity(width * height * 3);
    if change.stays() {
        for channel in 0..3 {
            planes.extend(bytes.iter().skip(channel).step_by(3).map(|&b| f32::from(b) / 255.0));
        }
        return planes;
    }
    planes.resize(width * height * 3, 0.0);
    let (wide, high) = (real(width), real(height));
    let [left, top, window_width, window_height] = change.window.unwrap_or([0.0, 0.0, wide, high]);
    let (sin, cos) = change.turn.sin_cos();
    for y in 0..height {
        for x in 0..width {
            // Centres of pixels lie at halves; the middle of the picture stays when it is turned.
            let x_from = if change.is_mirrored { width - 1 - x } else { x };
            let (u, v) = (real(x_from) + 0.5 - wide / 2.0, real(y) + 0.5 - high / 2.0);
            let (u, v) = (cos * u + sin * v, cos * v - sin * u);
            let u = left + (u / wide + 0.5) * window_width - change.shift.0 - 0.5;
            let v = top + (v / high + 0.5) * window_height - change.shift.1 - 0.5;
            let pixel = at(bytes, width, height, u, v);
            for (channel, value) in pixel.into_iter().enumerate() {
                planes[(channel * height + y) * width + x] = value;
            }
        }
    }
    planes
}

/// The picture at a place between pixels; black outside.
fn at(bytes: &[u8], width: usize, height: usize, x: f64, y: f64) -> [f32; 3] {
    let (x_floor, y_floor) = (x.floor(), y.floor());
    #[expect(clippy::cast_possible_truncation, reason = "shares and places in small pictures")]
    let (x_share, y_share, x_low, y_low) =
        ((x - x_floor) as f32, (y - y_floor) as f32, x_floor as i64, y_floor as i64);
    let mut mixed = [0.0; 3];
    let rows = [(y_low, 1.0 - y_share), (y_low + 1, y_share)];
    let columns = [(x_low, 1.0 - x_share), (x_low + 1, x_share)];
    for (row, of_row) in rows {
        for (column, of_column) in columns {
            let share = of_row * of_column;
            let place = usize::try_from(row).ok().zip(usize::try_from(column).ok());
            if let Some((row, column)) = place
                && share != 0.0
                && row < height
                && column < width
            {
                let start = (row * width + column) * 3;
                for (sum, &byte) in mixed.iter_mut().zip(&bytes[start..start + 3]) {
                    *sum += share * f32::from(byte) / 255.0;
                }
            }
        }
    }
    mixed
}

/// Brightness, contrast and colour, as blends: with black, with the mean grey, with each pixel's grey.
fn recolour(planes: &mut [f32], change: &Change) {
    let blend =
        |x: f32, with: f32, factor: f32| (factor * x + (1.0 - factor) * with).clamp(0.0, 1.0);
    let is_changed = |factor: f32| factor.to_bits() != 1.0_f32.to_bits();
    let n_pixels = planes.len() / 3;
    let grey = |planes: &[f32], pixel: usize| {
        (0..3).map(|channel| GREY[channel] * planes[channel * n_pixels + pixel]).sum::<f32>()
    };
    if is_changed(change.brightness) {
        planes.iter_mut().for_each(|x| *x = blend(*x, 0.0, change.brightness));
    }
    if is_changed(change.contrast) {
        let sum: f64 = (0..n_pixels).map(|pixel| f64::from(grey(planes, pixel))).sum();
        #[expect(clippy::cast_possible_truncation, reason = "pixels have 32 bits")]
        let mean = (sum / real(n_pixels.max(1))) as f32;
        planes.iter_mut().for_each(|x| *x = blend(*x, mean, change.contrast));
    }
    if is_changed(change.colour) {
        for pixel in 0..n_pixels {
            let grey = grey(planes, pixel);
            for channel in 0..3 {
                let x = &mut planes[channel * n_pixels + pixel];
                *x = blend(*x, grey, change.colour);
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "sides of pictures are far below 2^53")]
fn real(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use mohs_data::Seed;
    use proptest::prelude::*;

    use super::super::chance::Purpose;
    use super::*;

    const WIDTH: usize = 6;
    const HEIGHT: usize = 4;

    fn plain() -> Prepare {
        Prepare { width: WIDTH, height: HEIGHT, mean: [0.0; 3], sd: [1.0; 3] }
    }

    fn picture() -> Vec<u8> {
        (0..WIDTH * HEIGHT * 3).map(|n| u8::try_from(n * 37 % 256).unwrap()).collect()
    }

    /// Red of a pixel.
    fn red(numbers: &[f32], x: usize, y: usize) -> f32 {
        numbers[y * WIDTH + x]
    }

    fn changed(change: &Change) -> (Vec<f32>, Vec<f32>) {
        let original = numbers(&picture(), &plain(), &Change::none());
        (original, numbers(&picture(), &plain(), change))
    }

    fn close(a: f32, b: f32) -> bool {
        (a - b).abs() < 1e-5
    }

    #[test]
    fn a_mirrored_picture_has_left_for_right_and_twice_is_none() {
        let (original, found) = changed(&Change { is_mirrored: true, ..Change::none() });
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                assert!(close(red(&found, x, y), red(&original, WIDTH - 1 - x, y)));
            }
        }
    }

    #[test]
    fn a_shift_moves_whole_pixels_and_lets_black_in() {
        let (original, found) = changed(&Change { shift: (2.0, -1.0), ..Change::none() });
        assert!(close(red(&found, 2, 0), red(&original, 0, 1)));
        assert!(close(red(&found, 5, 2), red(&original, 3, 3)));
        assert!(close(red(&found, 0, 0), 0.0) && close(red(&found, 3, 3), 0.0));
    }

    #[test]
    fn half_a_turn_is_upside_down() {
        let (original, found) = changed(&Change { turn: std::f64::consts::PI, ..Change::none() });
        assert!(close(red(&found, 1, 1), red(&original, WIDTH - 2, HEIGHT - 2)));
    }

    #[test]
    fn a_window_of_the_whole_picture_changes_nothing() {
        let window = Some([0.0, 0.0, 6.0, 4.0]);
        let (original, found) = changed(&Change { window, ..Change::none() });
        assert!(original.iter().zip(&found).all(|(a, b)| close(*a, *b)));
        let half = Some([0.0, 0.0, 3.0, 2.0]);
        let (original, found) = changed(&Change { window: half, ..Change::none() });
        // Pixel 1 of the new picture lies at (1.5 / 2) − 0.5 = a quarter after pixel 0.
        let between = 0.75 * red(&original, 0, 0) + 0.25 * red(&original, 1, 0);
        let below = 0.75 * red(&original, 0, 1) + 0.25 * red(&original, 1, 1);
        assert!(close(red(&found, 1, 1), 0.75 * between + 0.25 * below));
    }

    #[test]
    fn no_colour_is_grey_and_no_contrast_is_one_grey() {
        let (_, grey) = changed(&Change { colour: 0.0, ..Change::none() });
        let n = WIDTH * HEIGHT;
        assert!((0..n).all(|i| close(grey[i], grey[n + i]) && close(grey[i], grey[2 * n + i])));
        let (_, flat) = changed(&Change { contrast: 0.0, ..Change::none() });
        assert!(flat.iter().all(|x| close(*x, flat[0])));
        let (_, dark) = changed(&Change { brightness: 0.0, ..Change::none() });
        assert!(dark.iter().all(|x| close(*x, 0.0)));
    }

    #[test]
    fn the_blanked_square_is_the_mean_and_nothing_else_changes() {
        let prepare = Prepare { mean: [0.4; 3], sd: [0.2; 3], ..plain() };
        let blank = Some([1, 1, 3, 4]);
        let found = numbers(&picture(), &prepare, &Change { blank, ..Change::none() });
        let original = numbers(&picture(), &prepare, &Change::none());
        for y in 0..HEIGHT {
            for x in 0..WIDTH {
                let is_blank = (1..3).contains(&x) && 1 <= y;
                let expected = if is_blank { 0.0 } else { red(&original, x, y) };
                assert!(close(red(&found, x, y), expected), "{x} {y}");
            }
        }
    }

    #[test]
    fn nothing_asked_for_is_nothing_changed() {
        let mut chance = Chance::new(Seed(1), Purpose::Augmentation, &[1]);
        let change = Change::draw(&Augmentation::default(), WIDTH, HEIGHT, &mut chance);
        assert_eq!(change, Change::none());
    }

    #[test]
    fn one_setting_does_not_move_another() {
        let draw = |how: &Augmentation| {
            let mut chance = Chance::new(Seed(1), Purpose::Augmentation, &[9]);
            Change::draw(how, 48, 48, &mut chance)
        };
        let only = Augmentation { brightness: 0.5, ..Augmentation::default() };
        let more = Augmentation { flip: true, crop_padding: 4, rotation: 20.0, ..only.clone() };
        assert_eq!(draw(&only).brightness.to_bits(), draw(&more).brightness.to_bits());
    }

    #[test]
    fn half_of_the_pictures_are_mirrored_and_shifts_reach_both_ends() {
        let how = Augmentation { flip: true, crop_padding: 2, ..Augmentation::default() };
        let changes: Vec<Change> = (0..500)
            .map(|n| {
                Change::draw(&how, 48, 48, &mut Chance::new(Seed(1), Purpose::Augmentation, &[n]))
            })
            .collect();
        let n_mirrored = changes.iter().filter(|change| change.is_mirrored).count();
        assert!((200..300).contains(&n_mirrored), "{n_mirrored}");
        for end in [-2.0, 2.0] {
            assert!(changes.iter().any(|change| (change.shift.0 - end).abs() < 1e-9));
        }
        assert!(changes.iter().all(|change| change.shift.0.abs() <= 2.0));
    }

    proptest! {
        #[test]
        fn pixels_stay_in_their_range(seed in 0_u64..1000, strength in 0.0_f64..1.0) {
            let how = Augmentation {
                flip: true,
                crop_padding: 3,
                resized_crop: Some([0.2, 1.0]),
                rotation: 180.0 * strength,
                brightness: strength,
                contrast: strength,
                colour: strength,
                cutout: 2,
            };
            let mut chance = Chance::new(Seed(seed), Purpose::Augmentation, &[]);
            let change = Change::draw(&how, WIDTH, HEIGHT, &mut chance);
            let found = numbers(&picture(), &plain(), &change);
            prop_assert_eq!(found.len(), WIDTH * HEIGHT * 3);
            prop_assert!(found.iter().all(|x| (0.0..=1.0).contains(x)));
        }
    }
}
