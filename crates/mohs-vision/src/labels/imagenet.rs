//! The thousand classes of ImageNet (ILSVRC 2012) in the order in which models answer, and the
//! sixteen categories that people were asked about.
//!
//! The table holds facts: the place of a class, its WordNet id and its names there. Names that
//! several classes share are never decided silently.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use mohs_data::Label;

/// One class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Synset {
    /// Its WordNet id, e.g. `n01440764`.
    pub wnid: &'static str,
    /// Its names, the usual one first.
    pub names: Vec<&'static str>,
}

/// The classes in the order of a model's outputs.
pub static CLASSES: LazyLock<Vec<Synset>> = LazyLock::new(|| {
    let rows = include_str!("imagenet_1k.csv").lines().skip(1);
    rows.filter_map(|row| {
        let mut cells = row.splitn(3, ',').skip(1);
        let (wnid, names) = (cells.next()?, cells.next()?);
        Some(Synset { wnid, names: names.split("; ").collect() })
    })
    .collect()
});

/// How many classes there are.
pub const N_CLASSES: usize = 1000;

/// What labels of stimuli say about the classes of ImageNet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    /// Places from 0 to 999.
    Index,
    /// WordNet ids.
    Wnid,
    /// Names.
    Name,
}

impl Notation {
    /// Says it in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Notation::Index => "places from 0 to 999",
            Notation::Wnid => "WordNet ids",
            Notation::Name => "names",
        }
    }

    /// Returns the notation that fits a label; names are what is left.
    pub fn of(label: &str) -> Notation {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if digits(label) {
            return Notation::Index;
        }
        match label.strip_prefix('n') {
            Some(rest) if rest.len() == 8 && digits(rest) => Notation::Wnid,
            _ => Notation::Name,
        }
    }
}

/// Where a label leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// To this class.
    One(usize),
    /// To any of these.
    Several(Vec<usize>),
    /// To no class.
    None,
}

/// Looks a label up.
///
/// Names are compared without regard to case, with `_` for a space. A name that is the usual one of
/// exactly one class means that class; a name that several classes have means none of them.
pub fn find(label: &str) -> Found {
    match Notation::of(label) {
        Notation::Index => match label.parse::<usize>() {
            Ok(idx) if idx < N_CLASSES => Found::One(idx),
            _ => Found::None,
        },
        Notation::Wnid => match CLASSES.iter().position(|class| class.wnid == label) {
            Some(idx) => Found::One(idx),
            None => Found::None,
        },
        Notation::Name => find_name(label),
    }
}

fn find_name(label: &str) -> Found {
    let plain = plain(label);
    let (Some(usual), Some(any)) = (NAMES.0.get(&plain), NAMES.1.get(&plain)) else {
        return match NAMES.1.get(&plain).map(Vec::as_slice) {
            Some([idx]) => Found::One(*idx),
            Some(several) => Found::Several(several.to_vec()),
            None => Found::None,
        };
    };
    match usual.as_slice() {
        [idx] => Found::One(*idx),
        _ => Found::Several(any.clone()),
    }
}

/// Returns a name that no other class has: the usual one, with the WordNet id where it is shared.
pub fn name(idx: usize) -> Label {
    let class = &CLASSES[idx];
    let usual = class.names[0];
    match NAMES.0.get(&plain(usual)).map(Vec::len) {
        Some(1) => Label::new(usual),
        _ => Label::new(format!("{usual} ({})", class.wnid)),
    }
}

/// Classes by name.
type ByName = BTreeMap<String, Vec<usize>>;

/// Classes by their usual names, and by all their names.
static NAMES: LazyLock<(ByName, ByName)> = LazyLock::new(|| {
    let (mut usual, mut any): (ByName, ByName) = Default::default();
    for (idx, class) in CLASSES.iter().enumerate() {
        for (place, name) in class.names.iter().enumerate() {
            let name = plain(name);
            if place == 0 {
                usual.entry(name.clone()).or_default().push(idx);
            }
            any.entry(name).or_default().push(idx);
        }
        let full = plain(&format!("{} ({})", class.names[0], class.wnid));
        any.entry(full).or_default().push(idx);
    }
    // torchvision tells these two apart from classes of the same name by a second word.
    for (idx, name) in [(134, "crane bird"), (639, "maillot tank suit")] {
        any.entry(name.to_owned()).or_default().push(idx);
    }
    (usual, any)
});

fn plain(name: &str) -> String {
    name.trim().replace('_', " ").to_lowercase()
}

/// The sixteen categories of Geirhos and others (2018) in alphabetical order, with the classes of
/// ImageNet that belong to them.
pub fn sixteen() -> Vec<(Label, Vec<usize>)> {
    SIXTEEN
        .iter()
        .map(|(name, spans)| {
            let classes = spans.iter().flat_map(|&(first, last)| first..=last).collect();
            (Label::new(*name), classes)
        })
        .collect()
}

/// First and last classes.
type Spans = &'static [(usize, usize)];

/// Source: the decision mapping of the published benchmark `model-vs-human`.
const SIXTEEN: [(&str, Spans); 16] = [
    ("airplane", &[(404, 404)]),
    ("bear", &[(294, 297)]),
    ("bicycle", &[(444, 444), (671, 671)]),
    (
        "bird",
        &[
            (8, 8),
            (10, 16),
            (18, 20),
            (22, 24),
            (80, 83),
            (87, 96),
            (98, 100),
            (127, 133),
            (135, 145),
        ],
    ),
    ("boat", &[(472, 472), (554, 554), (625, 625), (814, 814), (914, 914)]),
    ("bottle", &[(440, 440), (720, 720), (737, 737), (898, 899), (901, 901), (907, 907)]),
    ("car", &[(436, 436), (511, 511), (817, 817)]),
    ("cat", &[(281, 286)]),
    ("chair", &[(423, 423), (559, 559), (765, 765), (857, 857)]),
    ("clock", &[(409, 409), (530, 530), (892, 892)]),
    (
        "dog",
        &[
            (152, 191),
            (193, 203),
            (205, 226),
            (228, 241),
            (243, 250),
            (252, 257),
            (259, 259),
            (261, 263),
            (265, 268),
        ],
    ),
    ("elephant", &[(385, 386)]),
    ("keyboard", &[(508, 508), (878, 878)]),
    ("knife", &[(499, 499)]),
    ("oven", &[(766, 766)]),
    (
        "truck",
        &[
            (555, 555),
            (569, 569),
            (656, 656),
            (675, 675),
            (717, 717),
            (734, 734),
            (864, 864),
            (867, 867),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_a_thousand_classes_and_each_name_is_found_again() {
        assert_eq!(CLASSES.len(), N_CLASSES);
        for idx in 0..N_CLASSES {
            assert_eq!(find(name(idx).as_str()), Found::One(idx));
            assert_eq!(find(CLASSES[idx].wnid), Found::One(idx));
            assert_eq!(find(&idx.to_string()), Found::One(idx));
        }
        assert_eq!(CLASSES[0].names[0], "tench");
        assert_eq!(CLASSES[285].names[0], "Egyptian cat");
        assert_eq!(CLASSES[999].wnid, "n15075141");
    }

    #[test]
    fn a_name_that_two_classes_share_is_not_decided() {
        assert_eq!(find("crane"), Found::Several(vec![134, 517]));
        assert_eq!(find("maillot"), Found::Several(vec![638, 639]));
        assert_eq!(find("panther"), Found::Several(vec![286, 290]));
        assert_eq!(find("crane bird"), Found::One(134));
        assert_eq!(name(517).as_str(), "crane (n03126707)");
        // A harmonica is called a harp, too, but a harp is a harp.
        assert_eq!(find("harp"), Found::One(594));
    }

    #[test]
    fn spelling_does_not_matter_and_strangers_are_not_found() {
        assert_eq!(find("Great_White_Shark"), Found::One(2));
        assert_eq!(find("1000"), Found::None);
        assert_eq!(find("n00000000"), Found::None);
        assert_eq!(find("teapott"), Found::None);
    }

    #[test]
    fn sixteen_categories_share_no_class() {
        let sixteen = sixteen();
        assert!(sixteen.is_sorted_by(|(a, _), (b, _)| a < b));
        let mut classes: Vec<usize> = sixteen.into_iter().flat_map(|(_, all)| all).collect();
        assert_eq!(classes.len(), 207);
        classes.sort_unstable();
        classes.dedup();
        assert_eq!(classes.len(), 207);
    }
}
