//! Membranes: values inside a hole that go on smoothly from those around it.
//!
//! # Formula
//!
//! Inside the hole, for every pixel `p` with neighbours `q` (Pérez, Gangnet and Blake 2003, with a
//! screen as in Bhat et al. 2008):
//!
//! ```text
//! sum_q (u_p − u_q)  +  λ · u_p  =  rhs_p,      u is given outside the hole
//! ```
//!
//! `λ` is `screen`: what the outline says fades over about `1/√λ` pixels. Solved by successive
//! over-relaxation, always in the same order.

use crate::world::canvas::whole;

/// No neighbour: the frame ends there.
const NONE: usize = usize::MAX;
/// Errors are made this many times smaller.
const CLOSE: f32 = 1e6;

/// The unknown places of a hole and their neighbours.
pub(super) struct Membrane {
    places: Vec<usize>,
    neighbours: Vec<[usize; 4]>,
    /// The longest side of the hole, in pixels.
    length: usize,
}

impl Membrane {
    pub(super) fn new(hole: &[bool], width: usize) -> Self {
        let places: Vec<usize> = (0..hole.len()).filter(|at| hole[*at]).collect();
        let around = |at: &usize| {
            let x = at % width;
            let when = |is_inside: bool, there: usize| if is_inside { there } else { NONE };
            [
                when(0 < x, at.wrapping_sub(1)),
                when(x + 1 < width, at + 1),
                when(width <= *at, at.wrapping_sub(width)),
                when(at + width < hole.len(), at + width),
            ]
        };
        let neighbours = places.iter().map(around).collect();
        let extent = |of: &dyn Fn(usize) -> usize| {
            let all = || places.iter().map(|at| of(*at));
            all().max().unwrap_or(0) - all().min().unwrap_or(0) + 2
        };
        let length = extent(&|at| at % width).max(extent(&|at| at / width));
        Self { places, neighbours, length }
    }

    pub(super) fn n_places(&self) -> usize {
        self.places.len()
    }

    /// The unknown places in their order, each with its neighbours inside the frame.
    pub(super) fn each(&self) -> impl Iterator<Item = (usize, impl Iterator<Item = usize>)> {
        let inside = |four: &[usize; 4]| IntoIterator::into_iter(*four).filter(|at| *at != NONE);
        self.places.iter().zip(&self.neighbours).map(move |(at, four)| (*at, inside(four)))
    }

    /// Solves for `values` inside the hole, beginning with what is there; `rhs` has one entry for
    /// each unknown place.
    pub(super) fn solve(&self, values: &mut [[f32; 3]], rhs: &[[f32; 3]], screen: f32) {
        let jacobi = (std::f32::consts::PI / self.length as f32).cos() * 4.0 / (4.0 + screen);
        let omega = 2.0 / (1.0 + (1.0 - jacobi * jacobi).sqrt());
        let n_rounds = whole((CLOSE.ln() / -(omega - 1.0).max(0.1).ln()).ceil()).clamp(8, 1_000);
        for _ in 0..n_rounds {
            for ((&at, four), own) in self.places.iter().zip(&self.neighbours).zip(rhs) {
                let (mut sum, mut n) = (*own, screen);
                for &there in four {
                    if there != NONE {
                        let value = values[there];
                        sum = [sum[0] + value[0], sum[1] + value[1], sum[2] + value[2]];
                        n += 1.0;
                    }
                }
                let value = &mut values[at];
                for c in 0..3 {
                    value[c] += omega * (sum[c] / n - value[c]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spanned(screen: f32) -> Vec<[f32; 3]> {
        // 0 on the left of a strip, 1 on its right, unknown between; above and below is the frame.
        let width = 21;
        let hole: Vec<bool> = (0..3 * width).map(|at| 0 < at % width && at % width < 20).collect();
        let mut values: Vec<[f32; 3]> =
            (0..3 * width).map(|at| if at % width == 20 { [1.0; 3] } else { [0.0; 3] }).collect();
        let membrane = Membrane::new(&hole, width);
        membrane.solve(&mut values, &vec![[0.0; 3]; membrane.n_places()], screen);
        values
    }

    #[test]
    fn between_two_sides_a_membrane_is_straight() {
        for (at, value) in spanned(0.0).iter().enumerate() {
            assert!((value[0] - (at % 21) as f32 / 20.0).abs() < 0.015, "{at}: {value:?}");
        }
    }

    #[test]
    fn a_screen_makes_it_fade() {
        let values = spanned(0.25);
        // About 1/√λ = 2 pixels to a third.
        assert!((0.3..0.45).contains(&values[18][0]), "{:?}", values[18]);
        assert!(values[8][0] < 0.01);
    }
}
