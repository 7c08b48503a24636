//! One dimension of a shape: a number, or a number times symbols such as the batch size.
//!
//! A dimension is a monomial, `factor × symbol × symbol …`. That is all that exported classifiers
//! need: windows of a picture fold into the batch as `64 × batch`, and unfold by exact division.
//! Sums of symbols are not represented; whoever meets one asks for a fresh symbol instead.

use std::fmt;

/// A dimension, or any whole number that may depend on symbols: `64 × batch`, `3`, `-1`.
///
/// Invariant: symbols are sorted; a factor of zero has no symbols.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dim {
    factor: i64,
    symbols: Vec<String>,
}

impl Dim {
    /// A number that is known.
    pub fn known(number: i64) -> Dim {
        Dim { factor: number, symbols: Vec::new() }
    }

    /// A number that is known, from a size in memory.
    pub fn from_size(size: usize) -> Dim {
        Dim::known(whole(size))
    }

    /// A number that is known only when the network runs.
    pub fn symbol(name: impl Into<String>) -> Dim {
        Dim { factor: 1, symbols: vec![name.into()] }
    }

    /// The number, if it does not depend on a symbol.
    pub fn as_known(&self) -> Option<i64> {
        self.symbols.is_empty().then_some(self.factor)
    }

    /// The number as a size, if it is known and not negative.
    pub fn as_size(&self) -> Option<usize> {
        self.as_known().and_then(|number| usize::try_from(number).ok())
    }

    /// Whether this is the number one.
    pub fn is_one(&self) -> bool {
        self.as_known() == Some(1)
    }

    /// The factor in front of the symbols.
    pub fn factor(&self) -> i64 {
        self.factor
    }

    /// The symbols, sorted; one that counts twice is there twice.
    pub fn symbols(&self) -> &[String] {
        &self.symbols
    }

    /// The product of two numbers, if it fits in 63 bits.
    pub fn times(&self, other: &Dim) -> Option<Dim> {
        let factor = self.factor.checked_mul(other.factor)?;
        if factor == 0 {
            return Some(Dim::known(0));
        }
        let mut symbols = [self.symbols.as_slice(), other.symbols.as_slice()].concat();
        symbols.sort_unstable();
        Some(Dim { factor, symbols })
    }

    /// The quotient, if the division leaves no rest for any value of the symbols.
    pub fn divided_by(&self, other: &Dim) -> Option<Dim> {
        if other.factor == 0 || self.factor.checked_rem(other.factor)? != 0 {
            return None;
        }
        let mut symbols = self.symbols.clone();
        for symbol in &other.symbols {
            let idx = symbols.iter().position(|mine| mine == symbol)?;
            symbols.remove(idx);
        }
        Some(Dim { factor: self.factor / other.factor, symbols })
    }

    /// The same dimension with a symbol replaced by a number.
    pub fn with_symbol(&self, name: &str, number: i64) -> Option<Dim> {
        let mut dim = Dim::known(self.factor);
        for symbol in &self.symbols {
            let part = if symbol == name { Dim::known(number) } else { Dim::symbol(symbol) };
            dim = dim.times(&part)?;
        }
        Some(dim)
    }
}

/// A size in memory as the whole number that nodes and lists use.
pub fn whole(size: usize) -> i64 {
    i64::try_from(size).expect("because no memory holds 2^63 things")
}

/// The product of dimensions, `1` for none; `None` if it does not fit in 63 bits.
pub fn product<'a>(dims: impl IntoIterator<Item = &'a Dim>) -> Option<Dim> {
    dims.into_iter().try_fold(Dim::known(1), |product, dim| product.times(dim))
}

/// All dimensions as sizes, or `None` if one of them depends on a symbol.
pub fn as_sizes(dims: &[Dim]) -> Option<Vec<usize>> {
    dims.iter().map(Dim::as_size).collect()
}

/// Writes a shape as `[batch, 3, 224, 224]`.
pub fn describe(dims: &[Dim]) -> String {
    let dims: Vec<String> = dims.iter().map(Dim::to_string).collect();
    format!("[{}]", dims.join(", "))
}

impl fmt::Display for Dim {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.symbols.is_empty() || self.factor != 1 {
            write!(out, "{}", self.factor)?;
        }
        for (idx, symbol) in self.symbols.iter().enumerate() {
            let sign = if idx == 0 && self.factor == 1 { "" } else { "×" };
            write!(out, "{sign}{symbol}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_fold_into_the_batch_and_unfold_again() {
        let batch = Dim::symbol("batch");
        let folded = batch.times(&Dim::known(64)).unwrap();
        assert_eq!(folded.to_string(), "64×batch");
        assert_eq!(folded.divided_by(&Dim::known(64)), Some(batch.clone()));
        assert_eq!(folded.divided_by(&batch), Some(Dim::known(64)));
        assert_eq!(folded.divided_by(&Dim::known(48)), None);
    }

    #[test]
    fn nothing_times_a_symbol_is_nothing() {
        assert_eq!(Dim::known(0).times(&Dim::symbol("batch")), Some(Dim::known(0)));
        assert_eq!(Dim::known(1).divided_by(&Dim::known(0)), None);
    }

    #[test]
    fn a_product_that_does_not_fit_has_no_value() {
        assert_eq!(Dim::known(i64::MAX).times(&Dim::known(2)), None);
        assert_eq!(Dim::known(i64::MIN).divided_by(&Dim::known(-1)), None);
    }

    #[test]
    fn a_symbol_can_be_given_its_number() {
        let dim = Dim::symbol("batch").times(&Dim::known(3)).unwrap();
        assert_eq!(dim.with_symbol("batch", 8), Some(Dim::known(24)));
        assert_eq!(dim.with_symbol("height", 8), Some(dim));
    }
}
