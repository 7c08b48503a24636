//! From what a model said in words to one of the classes it was given, or to none.
//!
//! Nothing is guessed: an answer that names no class, or several, or says what it is not, is
//! unmatched, and whoever asked lists it. Case, spaces and punctuation do not count.

use mohs_data::Label;

use crate::endpoint::EndpointError;

/// How classes were listed in the question; a place in the list is an answer only then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Listed {
    pub(super) by_number: bool,
    pub(super) by_letter: bool,
}

/// Why an answer is none of the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoMatch {
    /// It names no class.
    None,
    /// It names several.
    Several,
    /// It says what it is not.
    Negated,
}

impl NoMatch {
    /// The reason in a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            NoMatch::None => "no class",
            NoMatch::Several => "several classes",
            NoMatch::Negated => "a class that it is not",
        }
    }
}

/// The classes, ready to be looked for.
#[derive(Debug)]
pub(super) struct Matcher {
    labels: Vec<Label>,
    words: Vec<Vec<String>>,
    listed: Listed,
}

/// Words that turn what follows into its opposite.
const NEGATIONS: [&str; 8] = ["not", "no", "neither", "nor", "never", "cannot", "isn", "without"];
/// So many words before a class can turn it.
const REACH: usize = 3;

impl Matcher {
    pub(super) fn new(labels: &[Label], listed: Listed) -> Result<Matcher, EndpointError> {
        let words: Vec<Vec<String>> = labels.iter().map(|label| words(label.as_str())).collect();
        for (idx, own) in words.iter().enumerate() {
            let earlier = words[..idx].iter().position(|other| other == own);
            if let Some(earlier) = earlier {
                return Err(EndpointError::SameName {
                    first: labels[earlier].to_string(),
                    second: labels[idx].to_string(),
                });
            }
        }
        Ok(Matcher { labels: labels.to_vec(), words, listed })
    }

    /// Returns the class that an answer names.
    pub(super) fn find(&self, answer: &str) -> Result<&Label, NoMatch> {
        let said = words(answer);
        if let Some(idx) = self.words.iter().position(|own| !own.is_empty() && *own == said) {
            return Ok(&self.labels[idx]);
        }
        let by_place = said.first().and_then(|first| self.place(first));
        if let Some(idx) = by_place {
            match said.len() {
                1 => return Ok(&self.labels[idx]),
                _ if self.words[idx] == said[1..] => return Ok(&self.labels[idx]),
                _ => {}
            }
        }
        let named = self.named(&said);
        match named[..] {
            [] => Err(NoMatch::None),
            [(idx, start)] => {
                let before = &said[start.saturating_sub(REACH)..start];
                match before.iter().any(|word| NEGATIONS.contains(&word.as_str())) {
                    true => Err(NoMatch::Negated),
                    false => Ok(&self.labels[idx]),
                }
            }
            _ => Err(NoMatch::Several),
        }
    }

    /// The class at a place of the list, as `3` or `c`.
    fn place(&self, word: &str) -> Option<usize> {
        let number = || word.parse::<usize>().ok()?.checked_sub(1);
        let letter = || (0..self.labels.len()).find(|idx| letter(*idx).eq_ignore_ascii_case(word));
        let idx = match self.listed {
            Listed { by_number: true, .. } => number(),
            Listed { by_letter: true, .. } => letter(),
            _ => None,
        };
        idx.filter(|idx| *idx < self.labels.len())
    }

    /// The classes whose words are said in a row, each with its first place; one inside the words
    /// of a longer one (`dog` in `hot dog`) is not meant.
    fn named(&self, said: &[String]) -> Vec<(usize, usize)> {
        let mut spans: Vec<(usize, usize, usize)> = Vec::new();
        for (idx, own) in self.words.iter().enumerate().filter(|(_, own)| !own.is_empty()) {
            let starts = said.windows(own.len()).enumerate().filter(|(_, window)| window == own);
            spans.extend(starts.map(|(start, _)| (idx, start, start + own.len())));
        }
        let is_inside = |span: &(usize, usize, usize)| {
            spans.iter().any(|other| {
                other.1 <= span.1 && span.2 <= other.2 && other.2 - other.1 > span.2 - span.1
            })
        };
        let mut named: Vec<(usize, usize)> = Vec::new();
        for span in spans.iter().filter(|span| !is_inside(span)) {
            if named.iter().all(|(idx, _)| *idx != span.0) {
                named.push((span.0, span.1));
            }
        }
        named
    }
}

/// The letter of a place: a to z, then aa, ab …
pub(super) fn letter(idx: usize) -> String {
    let mut rest = idx;
    let mut letters = Vec::new();
    loop {
        let at = u8::try_from(rest % 26).expect("because it is below 26");
        letters.insert(0, char::from(b'A' + at));
        if rest < 26 {
            return letters.into_iter().collect();
        }
        rest = rest / 26 - 1;
    }
}

/// Words in lower case, without punctuation.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NUMBERED: Listed = Listed { by_number: true, by_letter: false };
    const LETTERED: Listed = Listed { by_number: false, by_letter: true };

    fn matcher(listed: Listed) -> Matcher {
        let labels = ["cat", "dog", "hot dog", "Golden Retriever", "7"].map(Label::new);
        Matcher::new(&labels, listed).unwrap()
    }

    #[track_caller]
    fn check(listed: Listed, answer: &str, expected: Result<&str, NoMatch>) {
        let matcher = matcher(listed);
        assert_eq!(matcher.find(answer).map(Label::as_str), expected, "{answer}");
    }

    #[test]
    fn case_spaces_and_punctuation_do_not_count() {
        for answer in ["cat", " CAT. ", "**Cat**", "\"cat\"\n"] {
            check(Listed::default(), answer, Ok("cat"));
        }
        for answer in ["golden retriever", "golden_retriever", "GOLDEN-RETRIEVER!"] {
            check(Listed::default(), answer, Ok("Golden Retriever"));
        }
    }

    #[test]
    fn a_class_in_a_sentence_is_found_and_the_longer_one_meant() {
        check(NUMBERED, "The picture shows a cat on a mat.", Ok("cat"));
        check(NUMBERED, "It is a hot dog.", Ok("hot dog"));
        check(NUMBERED, "a cat, surely a cat", Ok("cat"));
        check(NUMBERED, "a category error", Err(NoMatch::None));
    }

    #[test]
    fn several_classes_or_none_are_unmatched() {
        check(NUMBERED, "a cat or a dog", Err(NoMatch::Several));
        check(NUMBERED, "a dog beside a hot dog", Err(NoMatch::Several));
        check(NUMBERED, "a horse", Err(NoMatch::None));
        check(NUMBERED, "", Err(NoMatch::None));
        check(NUMBERED, "I'm sorry, I can't help with that.", Err(NoMatch::None));
    }

    #[test]
    fn what_it_is_not_is_no_answer() {
        check(NUMBERED, "This is not a cat.", Err(NoMatch::Negated));
        check(NUMBERED, "It isn't a dog", Err(NoMatch::Negated));
    }

    #[test]
    fn places_count_only_where_they_were_listed() {
        check(NUMBERED, "2", Ok("dog"));
        check(NUMBERED, "(2)", Ok("dog"));
        check(NUMBERED, "2. dog", Ok("dog"));
        check(NUMBERED, "4) golden retriever", Ok("Golden Retriever"));
        check(NUMBERED, "2. cat", Ok("cat"));
        check(NUMBERED, "6", Err(NoMatch::None));
        check(Listed::default(), "2", Err(NoMatch::None));
        check(LETTERED, "b", Ok("dog"));
        check(LETTERED, "D)", Ok("Golden Retriever"));
        check(LETTERED, "z", Err(NoMatch::None));
        // A class that is called like a number is itself first.
        check(NUMBERED, "7", Ok("7"));
    }

    #[test]
    fn classes_that_only_differ_in_case_are_refused() {
        let labels = ["Turkey", "turkey"].map(Label::new);
        assert!(Matcher::new(&labels, NUMBERED).is_err());
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(letter).join(" "), "A Z AA AZ BA ZZ AAA");
    }

    proptest! {
        #[test]
        fn every_class_finds_itself_however_it_is_dressed(
            idx in 0_usize..5, before in "[ .*\"(]{0,4}", after in "[ .!*\")]{0,4}",
            is_upper in any::<bool>(),
        ) {
            let matcher = matcher(NUMBERED);
            let name = matcher.labels[idx].as_str();
            let name = if is_upper { name.to_uppercase() } else { name.to_owned() };
            let answer = format!("{before}{name}{after}");
            prop_assert_eq!(matcher.find(&answer), Ok(&matcher.labels[idx]));
        }

        #[test]
        fn no_text_breaks_it(answer in ".{0,80}") {
            let _ = matcher(NUMBERED).find(&answer);
        }
    }
}
