//! Turning by quarters. No pixel is computed anew.

use super::parameter::Values;
use super::random::Random;
use crate::pixels::{Clamped, Pixels};

/// Turns counter-clockwise. By 90 or 270 degrees, width and height change places.
pub(super) fn turn(pixels: &Pixels, values: &Values, _: &mut Random) -> Clamped {
    let degrees = values.whole("degrees");
    let (width, height) = (pixels.width() as usize, pixels.height() as usize);
    let is_quarter = degrees != 180;
    let (new_width, new_height) = if is_quarter { (height, width) } else { (width, height) };
    let mut planes = Vec::with_capacity(pixels.planes().len());
    for plane in pixels.channels() {
        for y in 0..new_height {
            planes.extend((0..new_width).map(|x| {
                let (x, y) = if degrees == 90 {
                    (width - 1 - y, x)
                } else if is_quarter {
                    (y, height - 1 - x)
                } else {
                    (width - 1 - x, height - 1 - y)
                };
                plane[y * width + x]
            }));
        }
    }
    let (width, height) = (pixels.width(), pixels.height());
    let (width, height) = if is_quarter { (height, width) } else { (width, height) };
    let pixels = Pixels::new(width, height, planes).expect("because every pixel was moved once");
    Clamped { pixels, share: 0.0 }
}

/// A quarter turn of a picture that is not square would not fit the model.
pub(super) fn fits(values: &Values, width: u32, height: u32) -> Result<(), String> {
    if values.whole("degrees") != 180 && width != height {
        return Err("square pictures, or turn by 180 degrees".to_owned());
    }
    Ok(())
}
