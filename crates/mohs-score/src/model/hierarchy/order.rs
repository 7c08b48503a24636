//! The order of levels: from words or numbers on stimuli to levels from easy to hard.
//!
//! # Rule
//!
//! 1. An order that was given counts, and must name every level there is. Levels joined by `|` in
//!    it stand on one step.
//! 2. Else `easy`, `medium`, `hard`, in any case of letters, are known.
//! 3. Else numbers ascend; numbers that are the same, such as `1` and `1.0`, are one level.
//! 4. Else there is an error: the alphabet knows nothing about difficulty.
//!
//! Numbers of more than [`MOST_NUMBERS`] different values are no levels but a scale, and are cut
//! into parts with equally many stimuli (`bands.rs`).

use std::collections::BTreeMap;

use super::LadderError;
use crate::model::bands;

/// Different numbers that are still levels: the nine steps that levels are usually made of.
const MOST_NUMBERS: usize = 9;
/// Words whose order everybody knows.
const KNOWN: [&str; 3] = ["easy", "medium", "hard"];
/// What joins levels of one step in an order that is given.
const JOINT: char = '|';

/// Levels from easy to hard, and where stimuli stand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ordered {
    /// Their names, from easy to hard; only levels that some stimulus has.
    pub(super) names: Vec<String>,
    /// The level of each stimulus; `None` without a tag.
    pub(super) level_of: Vec<Option<usize>>,
    /// Levels of the given order that no stimulus has.
    pub(super) empty: Vec<String>,
    /// Levels that stand for several tags.
    pub(super) tied: Vec<String>,
}

/// Orders the tags of stimuli.
pub(super) fn order(
    tags: &[Option<&str>],
    given: &[String],
    n_parts: usize,
) -> Result<Ordered, LadderError> {
    let mut spellings: Vec<&str> = tags.iter().flatten().map(|tag| tag.trim()).collect();
    spellings.sort_unstable();
    spellings.dedup();
    if !given.is_empty() {
        return by_order(tags, &spellings, given);
    }
    let as_given: Vec<String> = KNOWN.iter().map(|word| (*word).to_owned()).collect();
    if spellings.iter().all(|tag| KNOWN.iter().any(|word| word.eq_ignore_ascii_case(tag))) {
        // Words that nobody gave are not missed where no stimulus has them.
        let found = by_order(tags, &spellings, &as_given)?;
        return Ok(Ordered { empty: Vec::new(), ..found });
    }
    let Some(numbers) = spellings.iter().map(|tag| number(tag)).collect::<Option<Vec<f64>>>()
    else {
        let levels = spellings.into_iter().map(str::to_owned).collect();
        return Err(LadderError::OrderUnknown { levels });
    };
    Ok(by_number(tags, &spellings, &numbers, n_parts))
}

/// Returns whether tags are so many different numbers that they are a scale.
pub(super) fn is_scale(tags: &[Option<&str>]) -> bool {
    let numbers: Option<Vec<f64>> = tags.iter().flatten().map(|tag| number(tag)).collect();
    let Some(mut numbers) = numbers else { return false };
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.dedup_by(|a, b| a.total_cmp(b).is_eq());
    MOST_NUMBERS < numbers.len()
}

/// Returns the place of a tag among levels by name: the same word, one of several on a step, or the
/// same number.
pub(super) fn place(names: &[String], tag: &str) -> Option<usize> {
    let is_it = |name: &str| {
        let is_number =
            || number(name).zip(number(tag)).is_some_and(|(a, b)| a.total_cmp(&b).is_eq());
        name.trim().eq_ignore_ascii_case(tag.trim()) || is_number()
    };
    names.iter().position(|name| name.split(JOINT).any(is_it))
}

fn number(tag: &str) -> Option<f64> {
    // Adding zero makes -0 the number it is.
    tag.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number + 0.0)
}

fn by_order(
    tags: &[Option<&str>],
    spellings: &[&str],
    given: &[String],
) -> Result<Ordered, LadderError> {
    let steps: Vec<Vec<&str>> =
        given.iter().map(|step| step.split(JOINT).map(str::trim).collect()).collect();
    let place = |tag: &str| {
        steps.iter().position(|step| step.iter().any(|name| name.eq_ignore_ascii_case(tag)))
    };
    let names: Vec<&str> = steps.iter().flatten().copied().collect();
    for (idx, name) in names.iter().enumerate() {
        let is_again = names[..idx].iter().any(|before| before.eq_ignore_ascii_case(name));
        if name.is_empty() || is_again {
            return Err(LadderError::RepeatedLevel { level: (*name).to_owned() });
        }
    }
    let unknown: Vec<String> =
        spellings.iter().filter(|tag| place(tag).is_none()).map(|tag| (*tag).to_owned()).collect();
    if !unknown.is_empty() {
        return Err(LadderError::UnknownLevels { unknown, given: given.to_vec() });
    }
    let first: Vec<Option<usize>> = tags.iter().map(|tag| place(tag.as_ref()?.trim())).collect();
    let is_there: Vec<bool> = (0..steps.len()).map(|idx| first.contains(&Some(idx))).collect();
    let name = |step: &[&str]| step.join(" | ");
    let of = |keep: &dyn Fn(usize) -> bool| -> Vec<String> {
        (0..steps.len()).filter(|idx| keep(*idx)).map(|idx| name(&steps[idx])).collect()
    };
    let new_place: Vec<usize> =
        (0..steps.len()).map(|idx| is_there[..idx].iter().filter(|is| **is).count()).collect();
    Ok(Ordered {
        names: of(&|idx| is_there[idx]),
        level_of: first.iter().map(|level| level.map(|idx| new_place[idx])).collect(),
        empty: of(&|idx| !is_there[idx]),
        tied: of(&|idx| is_there[idx] && 1 < steps[idx].len()),
    })
}

fn by_number(
    tags: &[Option<&str>],
    spellings: &[&str],
    numbers: &[f64],
    n_parts: usize,
) -> Ordered {
    let mut values: Vec<f64> = numbers.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup_by(|a, b| a.total_cmp(b).is_eq());
    let tagged: Vec<Option<f64>> = tags.iter().map(|tag| number(tag.as_ref()?)).collect();
    if MOST_NUMBERS < values.len() {
        let known: Vec<f64> = tagged.iter().copied().flatten().collect();
        let (names, parts) = bands::cut(&known, n_parts);
        let mut parts = parts.into_iter();
        let level_of = tagged.iter().map(|value| value.and_then(|_| parts.next())).collect();
        return Ordered { names, level_of, empty: Vec::new(), tied: Vec::new() };
    }
    let place = |value: f64| values.iter().position(|other| other.total_cmp(&value).is_eq());
    let mut spelled: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (tag, value) in spellings.iter().zip(numbers) {
        spelled.entry(place(*value).unwrap_or(0)).or_default().push(tag);
    }
    let shortest = |tags: &Vec<&str>| {
        let first = tags.iter().min_by_key(|tag| (tag.len(), **tag));
        first.map(|tag| (*tag).to_owned()).unwrap_or_default()
    };
    Ordered {
        names: spelled.values().map(shortest).collect(),
        level_of: tagged.iter().map(|value| value.and_then(place)).collect(),
        empty: Vec::new(),
        tied: spelled.values().filter(|tags| 1 < tags.len()).map(shortest).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(tags: &[&str], given: &[&str]) -> Result<Ordered, LadderError> {
        let tags: Vec<Option<&str>> =
            tags.iter().map(|tag| Some(*tag).filter(|tag| !tag.is_empty())).collect();
        let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
        order(&tags, &given, 3)
    }

    fn check(tags: &[&str], given: &[&str], names: &[&str], level_of: &[Option<usize>]) {
        let found = ordered(tags, given).unwrap();
        assert_eq!(found.names, names);
        assert_eq!(found.level_of, level_of);
    }

    #[test]
    fn known_words_and_numbers_have_their_order() {
        check(
            &["hard", "Easy", "", "medium"],
            &[],
            &["easy", "medium", "hard"],
            &[Some(2), Some(0), None, Some(1)],
        );
        check(&["10", "9", "0.5"], &[], &["0.5", "9", "10"], &[Some(2), Some(1), Some(0)]);
        check(&["hard", "easy"], &[], &["easy", "hard"], &[Some(1), Some(0)]);
    }

    #[test]
    fn words_of_unknown_order_are_refused_and_not_sorted_by_the_alphabet() {
        let found = ordered(&["strong", "weak"], &[]);
        assert!(matches!(found, Err(LadderError::OrderUnknown { levels }) if levels.len() == 2));
        // A word beside numbers is as unknown.
        assert!(ordered(&["1", "2", "many"], &[]).is_err());
        check(&["strong", "weak"], &["weak", "strong"], &["weak", "strong"], &[Some(1), Some(0)]);
    }

    #[test]
    fn an_order_that_lacks_a_level_or_names_one_twice_is_refused() {
        let found = ordered(&["a", "b", "c"], &["a", "c"]);
        let lacks = |unknown: &[String]| unknown == ["b"];
        assert!(
            matches!(found, Err(LadderError::UnknownLevels { unknown, .. }) if lacks(&unknown))
        );
        let twice = |given: &[&str]| {
            matches!(ordered(&["a"], given), Err(LadderError::RepeatedLevel { .. }))
        };
        assert!(twice(&["a", "A"]) && twice(&["a", ""]) && twice(&["a|b", "b"]));
    }

    #[test]
    fn a_level_without_stimuli_is_left_out_and_named() {
        let found = ordered(&["easy", "hard"], &["easy", "medium", "hard"]).unwrap();
        assert_eq!((found.names.len(), found.empty), (2, vec!["medium".to_owned()]));
        assert_eq!(found.level_of, [Some(0), Some(1)]);
    }

    #[test]
    fn levels_that_tie_are_one_level() {
        let found = ordered(&["a", "b", "c"], &["a", "b | c"]).unwrap();
        assert_eq!(found.names, ["a", "b | c"]);
        assert_eq!((found.level_of, found.tied.len()), (vec![Some(0), Some(1), Some(1)], 1));
        let found = ordered(&["1", "1.0", "2", "-0", "0"], &[]).unwrap();
        assert_eq!(found.names, ["0", "1", "2"]);
        assert_eq!((found.level_of[0], found.level_of[1], found.tied.len()), (Some(1), Some(1), 2));
    }

    #[test]
    fn a_tag_is_found_by_its_word_its_step_or_its_number() {
        let names = ["easy", "medium | hard", "3"].map(str::to_owned);
        let found = [" EASY", "hard", "3.0", "none"].map(|tag| place(&names, tag));
        assert_eq!(found, [Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn a_scale_of_many_numbers_is_cut_into_parts() {
        let tags: Vec<String> = (0..30).map(|idx| format!("{}", f64::from(idx) / 10.0)).collect();
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        let found = ordered(&tags, &[]).unwrap();
        assert_eq!(found.names, ["easy (0 to 0.9)", "medium (1 to 1.9)", "hard (2 to 2.9)"]);
        assert_eq!((found.level_of[9], found.level_of[10]), (Some(0), Some(1)));
    }
}
