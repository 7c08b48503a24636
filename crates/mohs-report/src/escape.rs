//! Escaping: users' texts in HTML, in JSON inside a script element, and in CSV.
//!
//! Every text that did not come from this crate's own source passes through here once, at the
//! place where it enters the output. A label such as `<img onerror=…>` is then a label.

use serde::Serialize;

/// Returns `text` for use between tags and inside double-quoted attributes, of HTML and of SVG.
///
/// Control characters that XML forbids become U+FFFD, so that a downloaded SVG is a valid file.
pub(crate) fn esc(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\r' | '\t' => escaped.push(c),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns `value` as JSON that may stand in a `<script>` element: no character in it can end the
/// element, open a comment or a tag, or be a line break to JavaScript only.
pub(crate) fn json_in_script(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value)
        .expect("what is embedded is made of vectors, texts and numbers, which JSON can hold");
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns one CSV line, with a line break, of `cells`.
pub(crate) fn csv_line<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|cell| csv_cell(cell.as_ref())).collect();
    cells.join(",") + "\n"
}

fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_in_a_label_is_text() {
        assert_eq!(
            esc("<img src=\"x\" onerror='alert(1)'>&"),
            "&lt;img src=&quot;x&quot; onerror=&#39;alert(1)&#39;&gt;&amp;"
        );
    }

    #[test]
    fn a_control_character_does_not_spoil_a_downloaded_svg() {
        assert_eq!(esc("a\u{0}b\u{1b}c"), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn json_cannot_end_its_script() {
        let json = json_in_script(&["</script><!--", "\u{2028}", "\"\\"]);
        assert_eq!(json, r#"["\u003c/script\u003e\u003c!--","\u2028","\"\\"]"#);
        let back: Vec<String> = serde_json::from_str(&json).unwrap();
        assert_eq!(back, ["</script><!--", "\u{2028}", "\"\\"]);
    }

    #[test]
    fn a_csv_cell_is_quoted_only_when_it_must() {
        assert_eq!(csv_line(["a b", "c,d", "e\"f"]), "a b,\"c,d\",\"e\"\"f\"\n");
    }
}
