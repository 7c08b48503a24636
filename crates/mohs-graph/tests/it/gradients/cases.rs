//! The list of cases: one generator of trials for every operator with a gradient.

use super::draw::Draw;
use super::trial::Trial;
use super::{elementwise, moves, pictures, sums};

/// How trials of one operator are drawn.
pub(crate) struct Case {
    pub(crate) op: &'static str,
    pub(crate) draw: fn(&mut Draw) -> Trial,
}

impl Case {
    pub(crate) fn new(op: &'static str, draw: fn(&mut Draw) -> Trial) -> Case {
        Case { op, draw }
    }
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    [elementwise::cases(), sums::cases(), pictures::cases(), moves::cases()]
        .into_iter()
        .flatten()
        .collect()
}
