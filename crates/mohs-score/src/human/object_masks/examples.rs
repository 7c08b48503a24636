//! Which objects to look at: those drawn most and least alike, with masks small enough to show.

use mohs_data::Mask;

use super::collect::{Drawings, Key};
use super::findings::Example;
use super::object::Found;

/// Objects shown from each end.
const N_FROM_EACH_END: usize = 6;
/// Longest side of a small mask, in pixels.
const LONGEST: u32 = 160;

/// Returns the objects that people agree on least and most, from least to most.
pub(super) fn choose(objects: &[(Key<'_>, &Drawings<'_>)], found: &[Found]) -> Vec<Example> {
    let mut ranked: Vec<(f64, usize)> = found
        .iter()
        .enumerate()
        .filter_map(|(idx, found)| Some((found.finding.agreement?.value, idx)))
        .collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let n = ranked.len();
    let is_shown = |rank: usize| rank < N_FROM_EACH_END || n - N_FROM_EACH_END.min(n) <= rank;
    let shown = ranked.iter().enumerate().filter(|(rank, _)| is_shown(*rank));
    shown
        .filter_map(|(_, (_, idx))| {
            let ((stimulus, label), drawings) = &objects[*idx];
            Some(Example {
                stimulus: (*stimulus).clone(),
                label: (*label).clone(),
                agreement: found[*idx].finding.agreement?,
                vote: small(&found[*idx].overlaps.vote),
                drawings: drawings.values().map(|mask| small(mask)).collect(),
            })
        })
        .collect()
}

/// Returns the mask at a size to look at: each small pixel is the one at its centre.
fn small(mask: &Mask) -> Mask {
    let longest = mask.height().max(mask.width());
    if longest <= LONGEST {
        return mask.clone();
    }
    let shrunk = |side: u32| (side * LONGEST / longest).max(1);
    let (height, width) = (shrunk(mask.height()), shrunk(mask.width()));
    let bits = mask.to_bitmap();
    let from = |at: u32, to: u32, side: u32| ((2 * at + 1) * side / (2 * to)) as usize;
    let pixel = |idx: u32| {
        let (y, x) = (idx / width, idx % width);
        bits[from(y, height, mask.height()) * mask.width() as usize + from(x, width, mask.width())]
    };
    let small: Vec<bool> = (0..height * width).map(pixel).collect();
    Mask::from_bitmap(height, width, &small).expect("because there is a bit for each pixel")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_copy_keeps_shape_and_place() {
        let mask =
            Mask::from_polygons(300, 400, &[vec![100.0, 60.0, 300.0, 60.0, 200.0, 240.0]]).unwrap();
        let small = small(&mask);
        assert_eq!((small.height(), small.width()), (120, 160));
        let share = |mask: &Mask| {
            f64::from(u32::try_from(mask.area()).unwrap()) / f64::from(mask.height() * mask.width())
        };
        assert!((share(&small) - share(&mask)).abs() < 0.005);
    }
}
