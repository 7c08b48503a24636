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
    /// Neither: it describes.
    Neither,
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
    Measure {
        name: "bradley-terry",
        question: "which of two stimuli is harder, and by how much, from judgements of pairs?",
        unit: "log-odds",
        larger_is: LargerIs::Harder,
        reference: "Bradley and Terry 1952; Davidson 1970",
    },
    Measure {
        name: "object-masks",
        question: "how far do people agree on where an object is, and how does it lie?",
        unit: "share",
        larger_is: LargerIs::Better,
        reference: "Moayeri et al. 2022; Owen 2007",
    },
    Measure {
        name: "speed-accuracy",
        question: "how does the share of right answers grow with the time people are given?",
        unit: "share",
        larger_is: LargerIs::Better,
        reference: "Subramanian et al. 2022; McElree and Carrasco 1999; Hesterberg 2015",
    },
    Measure {
        name: "steepness",
        question: "how sharply does a curve of accuracy over time bend?",
        unit: "curvature",
        larger_is: LargerIs::Neither,
        reference: "Subramanian et al. 2022",
    },
    Measure {
        name: "item-response",
        question: "how hard is a stimulus when participants saw different stimuli and differ in \
                   ability?",
        unit: "ability",
        larger_is: LargerIs::Harder,
        reference: "Birnbaum 1968; Bock and Aitkin 1981",
    },
    Measure {
        name: "label-disagreement",
        question: "what share of people calls a stimulus something else than its label?",
        unit: "share",
        larger_is: LargerIs::Harder,
        reference: "Peterson et al. 2019; Wilson 1927",
    },
    Measure {
        name: "set-comparison",
        question: "is one set of stimuli harder than another?",
        unit: "as compared",
        larger_is: LargerIs::Harder,
        reference: "Newcombe 1998; Mann and Whitney 1947; Hodges 1958",
    },
    Measure {
        name: "error-consistency",
        question: "do two observers err on the same stimuli, beyond what their accuracies explain?",
        unit: "κ",
        larger_is: LargerIs::Better,
        reference: "Geirhos, Meding and Wichmann 2020",
    },
    Measure {
        name: "shape-bias",
        question: "when shape and texture differ, which do people name?",
        unit: "share",
        larger_is: LargerIs::Neither,
        reference: "Geirhos et al. 2019",
    },
    Measure {
        name: "reliability",
        question: "if other people had answered, would the same stimuli have been hard?",
        unit: "correlation",
        larger_is: LargerIs::Better,
        reference: "Spearman 1910; Brown 1910; Nili et al. 2014",
    },
    Measure {
        name: "participant-and-stimulus-effects",
        question: "how much do participants differ, and how much do stimuli?",
        unit: "log-odds",
        larger_is: LargerIs::Neither,
        reference: "Breslow and Clayton 1993",
    },
    Measure {
        name: "accuracy-by-difficulty",
        question: "how does a model's share of right answers fall as stimuli get harder for people?",
        unit: "share",
        larger_is: LargerIs::Better,
        reference: "Mayo et al. 2023; Wilson 1927; Davison and Hinkley 1997",
    },
    Measure {
        name: "paired-comparison",
        question: "is one model better than another, on the stimuli both answered?",
        unit: "share",
        larger_is: LargerIs::Better,
        reference: "McNemar 1947; Bonett and Price 2012; Holm 1979",
    },
    Measure {
        name: "calibration",
        question: "how far can a model's confidence be believed?",
        unit: "share",
        larger_is: LargerIs::Neither,
        reference: "Kumar, Liang and Ma 2019; Murphy 1973",
    },
    Measure {
        name: "accuracy-gap",
        question: "is a model's loss from one data set to another smaller on stimuli people find easy?",
        unit: "share",
        larger_is: LargerIs::Neither,
        reference: "Mayo et al. 2023; Newcombe 1998",
    },
    Measure {
        name: "learning-speed",
        question: "how early in training was a stimulus learned?",
        unit: "share",
        larger_is: LargerIs::Harder,
        reference: "Jiang et al. 2021",
    },
    Measure {
        name: "surprises",
        question: "which stimuli do people find easy and models fail, and the reverse?",
        unit: "rank",
        larger_is: LargerIs::Neither,
        reference: "this project",
    },
    Measure {
        name: "minimum-epsilon",
        question: "how large a change does an attack need to fool a model, on average?",
        unit: "ε",
        larger_is: LargerIs::Better,
        reference: "Mayo et al. 2022; Royston and Parmar 2013",
    },
    Measure {
        name: "attack-survival",
        question: "what share of stimuli survives an attack as the change grows?",
        unit: "share",
        larger_is: LargerIs::Better,
        reference: "Kaplan and Meier 1958; Greenwood 1926",
    },
    Measure {
        name: "robustness-by-difficulty",
        question: "do stimuli that people find easy need larger changes?",
        unit: "ε",
        larger_is: LargerIs::Neither,
        reference: "Mayo et al. 2022; Mantel 1966; Brown, Hollander and Korwar 1974",
    },
    Measure {
        name: "robustness-comparison",
        question: "what does a defence gain, on easy and on hard stimuli, and what does it cost?",
        unit: "ε",
        larger_is: LargerIs::Better,
        reference: "Mayo et al. 2022; Bonett and Price 2012",
    },
    Measure {
        name: "gradient-masking",
        question: "can attacks that follow gradients be believed, and a search that skips some ε?",
        unit: "share",
        larger_is: LargerIs::Neither,
        reference: "Croce and Hein 2020; Athalye, Carlini and Wagner 2018; Wilson 1927",
    },
    Measure {
        name: "hierarchical-score",
        question: "does a model that solves hard stimuli solve easy ones, too?",
        unit: "share",
        larger_is: LargerIs::Better,
        reference: "the paper on models and increasing difficulty; closed form and baseline: this \
                    project",
    },
    Measure {
        name: "weighted-score",
        question: "how well does a model do when harder stimuli count more?",
        unit: "share",
        larger_is: LargerIs::Better,
        reference: "the paper on models and increasing difficulty; Zou and Donner 2008",
    },
    Measure {
        name: "level-validity",
        question: "do people find the harder levels of a ladder harder?",
        unit: "share",
        larger_is: LargerIs::Better,
        reference: "Bradley and Terry 1952; Kendall 1945",
    },
    Measure {
        name: "adaptive-ladder",
        question: "what would a model score on a whole ladder, if it may be asked only a part of it?",
        unit: "share",
        larger_is: LargerIs::Better,
        reference: "this project; Neyman 1934; Angelopoulos, Duchi and Zrnic 2023",
    },
];
