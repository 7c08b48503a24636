//! Random choices for a trial, all from one seed: sizes, settings, and numbers away from kinks.

use std::sync::Arc;

use mohs_graph::{Data, Tensor};

/// A stream of choices (splitmix64).
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn size(&mut self, low: usize, high: usize) -> usize {
        let n = u64::try_from(high - low + 1).expect("because sizes are small");
        low + usize::try_from(self.next() % n).expect("because sizes are small")
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn whole(&mut self, low: i64, high: i64) -> i64 {
        let n = usize::try_from(high - low).expect("because high is not below low");
        low + self.size(0, n) as i64
    }

    /// Yes or no.
    pub(crate) fn chance(&mut self) -> bool {
        self.size(0, 1) == 1
    }

    /// A number from 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number between two others.
    pub(crate) fn number(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// One of several.
    pub(crate) fn one_of<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.size(0, options.len() - 1)]
    }

    /// The numbers below `n` in some order.
    pub(crate) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for idx in (1..n).rev() {
            order.swap(idx, self.size(0, idx));
        }
        order
    }

    /// A shape with at least `low` and at most `high` dimensions of size 1 to 3.
    pub(crate) fn shape(&mut self, low: usize, high: usize) -> Vec<usize> {
        let rank = self.size(low, high);
        (0..rank).map(|_| self.size(1, 3)).collect()
    }

    /// A shape that can be repeated to this one: leading dimensions gone, others of size one.
    pub(crate) fn narrowed(&mut self, shape: &[usize]) -> Vec<usize> {
        let n_gone = self.size(0, shape.len());
        shape[n_gone..].iter().map(|&size| if self.size(0, 3) == 0 { 1 } else { size }).collect()
    }

    /// Some of the dimensions, at least one, counted from the front or the back.
    pub(crate) fn axes(&mut self, rank: usize) -> Vec<i64> {
        let n = self.size(1, rank);
        let order = self.order(rank);
        order[..n].iter().map(|&axis| self.either_end(axis, rank)).collect()
    }

    /// A dimension, counted from the front or the back.
    pub(crate) fn axis(&mut self, rank: usize) -> (usize, i64) {
        let axis = self.size(0, rank - 1);
        (axis, self.either_end(axis, rank))
    }

    /// The same dimension or place, counted from the front or the back.
    pub(crate) fn either_end(&mut self, axis: usize, rank: usize) -> i64 {
        if self.chance() { axis as i64 } else { axis as i64 - rank as i64 }
    }

    /// Numbers between `low` and `high`, no two of them close, none close to zero.
    pub(crate) fn numbers(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        let step = (high - low) / (n as f64 + 1.0);
        let order = self.order(n);
        order
            .into_iter()
            .map(|place| {
                let number = low + (place as f64 + 1.0 + self.number(-0.2, 0.2)) * step;
                // Pushed sideways by less than the gap to its neighbours.
                if number.abs() < 0.1 * step { number + 0.2 * step } else { number }
            })
            .collect()
    }

    /// A tensor of such numbers.
    pub(crate) fn floats(&mut self, shape: &[usize], low: f64, high: f64) -> Tensor {
        let numbers = self.numbers(shape.iter().product(), low, high);
        tensor(shape, numbers)
    }

    /// Several tensors whose numbers are not close to each other either.
    pub(crate) fn apart(&mut self, shapes: &[Vec<usize>], low: f64, high: f64) -> Vec<Tensor> {
        let n: usize = shapes.iter().map(|shape| shape.iter().product::<usize>()).sum();
        let mut numbers = self.numbers(n, low, high);
        let take = |shape: &Vec<usize>| {
            let rest = numbers.split_off(shape.iter().product());
            tensor(shape, std::mem::replace(&mut numbers, rest))
        };
        shapes.iter().map(take).collect()
    }

    /// A tensor of numbers none of which is close to one of these points.
    pub(crate) fn floats_off(
        &mut self,
        shape: &[usize],
        low: f64,
        high: f64,
        points: &[f64],
    ) -> Tensor {
        let mut numbers = self.numbers(shape.iter().product(), low, high);
        for number in &mut numbers {
            if points.iter().any(|point| (*number - point).abs() < 1e-3) {
                *number += 3e-3;
            }
        }
        tensor(shape, numbers)
    }

    /// A tensor of truth values.
    pub(crate) fn bools(&mut self, shape: &[usize]) -> Tensor {
        let items = (0..shape.iter().product()).map(|_| self.chance()).collect();
        Tensor::new(shape.to_vec(), Data::Bool(Arc::new(items))).expect("because the length fits")
    }

    /// A tensor of places below `n`, counted from either end.
    pub(crate) fn places(&mut self, shape: &[usize], n: usize) -> Tensor {
        let n_places: usize = shape.iter().product();
        let items = (0..n_places)
            .map(|_| {
                let place = self.size(0, n - 1);
                self.either_end(place, n)
            })
            .collect();
        Tensor::i64(shape.to_vec(), items).expect("because the length fits")
    }
}

/// A tensor of 64-bit floats.
pub(crate) fn tensor(shape: &[usize], numbers: Vec<f64>) -> Tensor {
    Tensor::f64(shape.to_vec(), numbers).expect("because the length fits")
}

/// Sizes as whole numbers.
pub(crate) fn wholes(sizes: &[usize]) -> Vec<i64> {
    sizes.iter().map(|&size| size as i64).collect()
}
