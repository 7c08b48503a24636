//! A picture as numbers between 0 and 1, the form that probes work on.
//!
//! Nothing here leaves that range: whoever computes a picture says how many of its numbers had to
//! be brought back into it.

use super::Rgb8;

/// A picture of red, green and blue numbers between 0 and 1, channel by channel, each row by row.
///
/// Invariant: neither side is zero, there are `width × height × 3` numbers, each is finite and in
/// [0, 1].
#[derive(Clone, PartialEq)]
pub struct Pixels {
    width: u32,
    height: u32,
    planes: Vec<f32>,
}

/// A picture that was brought back into [0, 1], and how much of it had to be.
#[derive(Clone, PartialEq, Debug)]
pub struct Clamped {
    /// The picture.
    pub pixels: Pixels,
    /// How many of its numbers lay outside, as a share of all.
    pub share: f64,
}

impl std::fmt::Debug for Pixels {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Pixels({} × {})", self.width, self.height)
    }
}

impl Pixels {
    /// Returns a picture; `None` if a side is zero, the number of numbers is wrong, or one of them
    /// is not finite or outside [0, 1].
    pub fn new(width: u32, height: u32, planes: Vec<f32>) -> Option<Pixels> {
        let n_numbers = width as usize * height as usize * 3;
        let is_sound = 0 < n_numbers
            && planes.len() == n_numbers
            && planes.iter().all(|number| (0.0..=1.0).contains(number));
        is_sound.then_some(Pixels { width, height, planes })
    }

    /// Returns a picture of the same size with other numbers, each brought into [0, 1].
    ///
    /// `planes` must be as many numbers as this picture has; one that is not a number becomes 0.
    pub(crate) fn clamped(&self, mut planes: Vec<f32>) -> Clamped {
        debug_assert_eq!(planes.len(), self.planes.len());
        let mut n_outside = 0_usize;
        for number in &mut planes {
            if !(0.0..=1.0).contains(number) {
                n_outside += 1;
                *number = if 1.0 < *number { 1.0 } else { 0.0 };
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "pictures have fewer than 2^53 numbers")]
        let share = n_outside as f64 / planes.len() as f64;
        Clamped { pixels: Pixels { planes, ..*self }, share }
    }

    /// Returns a picture of this size whose three channels are one plane.
    pub(crate) fn grey(&self, plane: &[f32]) -> Clamped {
        self.clamped(plane.repeat(3))
    }

    /// Returns the width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns all numbers: the red plane, the green, the blue.
    pub fn planes(&self) -> &[f32] {
        &self.planes
    }

    /// Returns the three planes.
    pub fn channels(&self) -> [&[f32]; 3] {
        let n = self.planes.len() / 3;
        [&self.planes[..n], &self.planes[n..2 * n], &self.planes[2 * n..]]
    }

    /// Returns how many pixels there are.
    pub fn n_pixels(&self) -> usize {
        self.planes.len() / 3
    }
}

impl From<&Rgb8> for Pixels {
    /// Divides each byte by 255.
    fn from(picture: &Rgb8) -> Pixels {
        let bytes = picture.bytes();
        let mut planes = Vec::with_capacity(bytes.len());
        for channel in 0..3 {
            let plane = bytes.iter().skip(channel).step_by(3);
            planes.extend(plane.map(|&byte| f32::from(byte) / 255.0));
        }
        Pixels { width: picture.width(), height: picture.height(), planes }
    }
}

impl From<&Pixels> for Rgb8 {
    /// Rounds to the nearest of 256 levels.
    fn from(pixels: &Pixels) -> Rgb8 {
        let [red, green, blue] = pixels.channels();
        let bytes = red
            .iter()
            .zip(green)
            .zip(blue)
            .flat_map(|((&red, &green), &blue)| [red, green, blue].map(to_byte))
            .collect();
        Rgb8::new(pixels.width, pixels.height, bytes)
            .expect("because the numbers of a picture fit its size")
    }
}

/// Returns the nearest of 256 levels.
pub(crate) fn to_byte(number: f32) -> u8 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number in [0, 1] becomes 0 to 255, and a cast from float saturates"
    )]
    let byte = (number * 255.0).round() as u8;
    byte
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_planes_and_bytes_again() {
        let picture = Rgb8::new(2, 1, vec![255, 0, 51, 0, 255, 102]).unwrap();
        let pixels = Pixels::from(&picture);
        assert_eq!(pixels.planes(), [1.0, 0.0, 0.0, 1.0, 0.2, 0.4]);
        assert_eq!(Rgb8::from(&pixels), picture);
    }

    #[test]
    fn all_256_levels_survive() {
        let bytes: Vec<u8> = (0..=255).flat_map(|level| [level, 255 - level, level / 2]).collect();
        let picture = Rgb8::new(16, 16, bytes).unwrap();
        assert_eq!(Rgb8::from(&Pixels::from(&picture)), picture);
    }

    #[test]
    fn numbers_outside_are_refused_or_counted() {
        assert_eq!(Pixels::new(1, 1, vec![0.0, 0.5, 1.1]), None);
        assert_eq!(Pixels::new(1, 1, vec![0.0, 0.5, f32::NAN]), None);
        assert_eq!(Pixels::new(1, 1, vec![0.0, 0.5]), None);
        let black = Pixels::new(1, 1, vec![0.0; 3]).unwrap();
        let clamped = black.clamped(vec![-0.1, 0.5, f32::NAN]);
        assert_eq!(clamped.pixels.planes(), [0.0, 0.5, 0.0]);
        assert!((clamped.share - 2.0 / 3.0).abs() < 1e-12);
    }
}
