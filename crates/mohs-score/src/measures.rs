//! The list of measures: one row each. The CLI's list, the docs index and report captions come
//! from here, and the tidy test wants a page in `docs/methods/` for every row.

/// One named way to compute something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Its name, as on the command line and in `docs/methods/<name>.md`.
    pub name: &'static str,
    /// What it answers, in a few words.
    pub question: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Whether larger numbers mean harder, better or neither.
    pub larger_is: LargerIs,
    /// Where it comes from.
    pub reference: &'static str,
}

/// What a larger number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LargerIs {
    /// Harder for people.
    Harder,
    /// Better performance.
    Better,
}

/// All measures, in the order of the reports.
pub const MEASURES: &[Measure] = &[
    Measure {
        name: "minimum-viewing-time",
        question: "from which exposure on do at least half of the people recognise a stimulus?",
        unit: "ms",
        larger_is: LargerIs::Harder,
        reference: "Mayo et al. 2023",
    },
    Measure {
        name: "difficulty-score",
        question: "what share of answers about a stimulus is wrong, over all exposures?",
        unit: "share",
        larger_is: LargerIs::Harder,
        reference: "Mayo et al. 2023",
    },
    Measure {
        name: "viewing-threshold",
        question: "how long must a typical participant see a stimulus, and how sure are we?",
        unit: "ms",
        larger_is: LargerIs::Harder,
        reference: "this project; empirical Bayes after Efron 2014",
    },
    Measure {
        name: "accuracy-by-exposure",
        question: "how does the share of right answers grow with exposure?",
        unit: "share",
        larger_is: LargerIs::Better,
        reference: "Mayo et al. 2023; Wilson 1927; Owen 2007",
    },
];
