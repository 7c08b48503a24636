//! What drawing returns: the pixels, and the truth about what is in them.

use crate::pixels::Rgb8;

/// Side of the smallest picture that is drawn.
pub const SMALLEST_SIDE: u32 = 32;

/// Side of the largest picture that is drawn.
pub const LARGEST_SIDE: u32 = 1024;

/// A drawn picture and the truth about its object.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What is shown.
    pub pixels: Rgb8,
    /// The pixels where the object is seen; never empty.
    pub mask: Mask,
    /// The pixels the object would take if nothing stood before it.
    pub whole_mask: Mask,
    /// The smallest box around `mask`.
    pub bounding_box: BoundingBox,
    /// Share of the object inside the frame that is hidden by other things.
    pub share_occluded: f64,
    /// Share of the object that lies outside the frame.
    pub share_out_of_frame: f64,
    /// Share of the frame that the object takes, hidden parts included.
    pub share_of_frame: f64,
}

/// One bit per pixel, row by row.
///
/// Invariant: `bits` has `width × height` entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    width: u32,
    height: u32,
    bits: Vec<bool>,
}

impl Mask {
    /// Returns a mask; `None` if the number of bits is not `width × height`.
    pub fn new(width: u32, height: u32, bits: Vec<bool>) -> Option<Self> {
        (bits.len() == width as usize * height as usize).then_some(Self { width, height, bits })
    }

    /// Returns the width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns all bits, row by row.
    pub fn bits(&self) -> &[bool] {
        &self.bits
    }

    /// Returns whether a pixel is set; outside the mask nothing is.
    pub fn is_set(&self, x: u32, y: u32) -> bool {
        x < self.width
            && y < self.height
            && self.bits[y as usize * self.width as usize + x as usize]
    }

    /// Returns how many pixels are set.
    pub fn n_set(&self) -> usize {
        self.bits.iter().filter(|bit| **bit).count()
    }

    /// Returns the smallest box around the set pixels; `None` if none is set.
    pub fn bounding_box(&self) -> Option<BoundingBox> {
        let (mut left, mut top, mut right, mut bottom) = (u32::MAX, u32::MAX, 0, 0);
        for y in 0..self.height {
            for x in 0..self.width {
                if self.is_set(x, y) {
                    left = left.min(x);
                    top = top.min(y);
                    right = right.max(x + 1);
                    bottom = bottom.max(y + 1);
                }
            }
        }
        (left < right).then(|| BoundingBox { left, top, width: right - left, height: bottom - top })
    }

    /// Returns the mask as a picture: white where set, black elsewhere.
    pub fn to_rgb(&self) -> Rgb8 {
        let bytes = self.bits.iter().flat_map(|&bit| [if bit { 255 } else { 0 }; 3]).collect();
        Rgb8::new(self.width, self.height, bytes)
            .expect("because a mask has one bit for each of its pixels")
    }
}

/// A box of whole pixels: it holds `left..left + width` by `top..top + height`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundingBox {
    /// First column.
    pub left: u32,
    /// First row.
    pub top: u32,
    /// Number of columns.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pixel_has_a_box_of_its_size() {
        let mask = Mask::new(3, 2, vec![false, false, false, false, true, false]).unwrap();
        let found = mask.bounding_box();
        assert_eq!(found, Some(BoundingBox { left: 1, top: 1, width: 1, height: 1 }));
    }

    #[test]
    fn an_empty_mask_has_no_box() {
        assert_eq!(Mask::new(1, 1, vec![false]).unwrap().bounding_box(), None);
    }

    #[test]
    fn a_mask_needs_a_bit_for_each_pixel() {
        assert_eq!(Mask::new(2, 2, vec![true; 3]), None);
    }
}
