//! How wide a text is: in columns of a terminal and, roughly, in pixels of a chart.
//!
//! Good enough for alignment and for leaving room; not a text layout engine. Combining marks take
//! no column, East Asian wide characters and emoji take two.

/// Returns the columns a text takes in a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

/// Returns `text`, or its beginning and `…` when it is wider than `max` columns.
pub(crate) fn shorten(text: &str, max: usize) -> String {
    if columns(text) <= max {
        return text.into();
    }
    let mut short = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += char_columns(c);
        if max < used {
            break;
        }
        short.push(c);
    }
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// Returns `text`, or its beginning, `…` and its end when it is wider than `max` columns: names of
/// stimuli often differ at the end.
pub(crate) fn shorten_middle(text: &str, max: usize) -> String {
    if columns(text) <= max {
        return text.into();
    }
    let tail_columns = max.saturating_sub(1) / 2;
    let mut tail = Vec::new();
    let mut used = 0;
    for c in text.chars().rev() {
        used += char_columns(c);
        if tail_columns < used {
            break;
        }
        tail.push(c);
    }
    shorten(text, max - tail_columns) + &tail.iter().rev().collect::<String>()
}

/// Returns names of at most `max` columns that still tell each other apart: shortened in the
/// middle, at the end or at the start, whichever does, and numbered when none does.
pub(crate) fn distinct<S: AsRef<str>>(names: &[S], max: usize) -> Vec<String> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let n_different = |names: &[String]| {
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        different.len()
    };
    let whole: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let wanted = n_different(&whole);
    let from_end = |name: &str| {
        let turned: String = name.chars().rev().collect();
        shorten(&turned, max).chars().rev().collect::<String>()
    };
    let ways: [&dyn Fn(&str) -> String; 3] =
        [&|name| shorten_middle(name, max), &|name| shorten(name, max), &from_end];
    for way in ways {
        let short: Vec<String> = names.iter().map(|name| way(name)).collect();
        if n_different(&short) == wanted {
            return short;
        }
    }
    let numbered = |(idx, name): (usize, &&str)| {
        let number = format!(" {}", idx + 1);
        shorten(name, max.saturating_sub(columns(&number))) + &number
    };
    names.iter().enumerate().map(numbered).collect()
}

/// Returns about how wide a text is in a proportional font of `size` pixels.
#[expect(clippy::cast_precision_loss, reason = "a text has far fewer than 2^52 columns")]
pub(crate) fn pixels(text: &str, size: f64) -> f64 {
    // Mean advance of digits and lower-case letters in common sans-serif fonts, rounded up.
    const EM_PER_COLUMN: f64 = 0.56;
    columns(text) as f64 * size * EM_PER_COLUMN
}

fn char_columns(c: char) -> usize {
    match u32::from(c) {
        0..=0x1f | 0x7f..=0x9f => 0,
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f => 0,
        0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f => 0,
        0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2064 | 0xfe00..=0xfe0f | 0xfeff => 0,
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 => 2,
        0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 => 2,
        0x1f300..=0x1f64f | 0x1f680..=0x1f6ff | 0x1f900..=0x1f9ff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_combining_characters_take_their_columns() {
        assert_eq!(columns("naïve"), 5);
        assert_eq!(columns("nai\u{308}ve"), 5);
        assert_eq!(columns("椅子"), 4);
        assert_eq!(columns("🐈"), 2);
    }

    #[test]
    fn short_names_still_tell_each_other_apart() {
        let check = |names: &[&str], expected: &[&str]| assert_eq!(distinct(names, 9), expected);
        check(&["resnet50", "vit"], &["resnet50", "vit"]);
        check(&["network-of-18", "network-of-50"], &["netw…f-18", "netw…f-50"]);
        check(&["net18--200epochs", "net50--200epochs"], &["net1…ochs", "net5…ochs"]);
        check(&["a-long-name-1-b", "a-long-name-2-b"], &["a-lo…-1-b", "a-lo…-2-b"]);
        check(&["start-x-end-of-it", "start-y-end-of-it"], &["start-x-…", "start-y-…"]);
        check(&["a-long-1-name-ends", "a-long-2-name-ends"], &["a-long-1…", "a-long-2…"]);
        check(&["the-same-1-but-for-one", "the-same-2-but-for-one"], &["the-sa… 1", "the-sa… 2"]);
    }

    #[test]
    fn a_long_text_is_shortened_to_its_columns() {
        assert_eq!(shorten("banana", 6), "banana");
        assert_eq!(shorten("banana split", 8), "banana…");
        assert_eq!(shorten("椅子の写真", 6), "椅子…");
        assert_eq!(shorten("ab", 1), "…");
    }
}
