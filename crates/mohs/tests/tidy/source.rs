//! Reading Rust, just well enough: comments and strings told from code, names and paths found.

/// A line number and a piece of code: a word, `::` or a sign.
pub(crate) type Token = (usize, String);

/// Replaces comments and the insides of strings and characters by spaces; lines stay.
pub(crate) fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = comment_end(&chars, at).or_else(|| literal_end(&chars, at));
        let Some(end) = end else {
            code.push(chars[at]);
            at += 1;
            continue;
        };
        code.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    code
}

fn comment_end(chars: &[char], at: usize) -> Option<usize> {
    let pair = |at: usize, first, second| chars.get(at..at + 2) == Some(&[first, second]);
    if pair(at, '/', '/') {
        let length = chars[at..].iter().position(|c| *c == '\n');
        return Some(length.map_or(chars.len(), |length| at + length));
    }
    if !pair(at, '/', '*') {
        return None;
    }
    let (mut end, mut depth) = (at, 0);
    while end < chars.len() {
        if pair(end, '/', '*') {
            depth += 1;
            end += 2;
        } else if pair(end, '*', '/') {
            depth -= 1;
            end += 2;
        } else {
            end += 1;
        }
        if depth == 0 {
            break;
        }
    }
    Some(end.min(chars.len()))
}

/// Returns where a string or character that starts here ends.
fn literal_end(chars: &[char], at: usize) -> Option<usize> {
    let is_word = |c: &char| c.is_alphanumeric() || *c == '_';
    let starts_word = at == 0 || !is_word(&chars[at - 1]);
    match chars[at] {
        '"' => Some(quoted_end(chars, at, '"')),
        '\'' => {
            let is_char = chars.get(at + 1) == Some(&'\\') || chars.get(at + 2) == Some(&'\'');
            is_char.then(|| quoted_end(chars, at, '\''))
        }
        'r' | 'b' | 'c' if starts_word => {
            let mut open = at;
            while matches!(chars.get(open), Some('r' | 'b' | 'c')) && open < at + 2 {
                open += 1;
            }
            let is_raw = chars[at..open].contains(&'r');
            let n_hashes = chars[open..].iter().take_while(|c| **c == '#').count();
            if chars.get(open + n_hashes) != Some(&'"') || (0 < n_hashes && !is_raw) {
                return None;
            }
            if !is_raw {
                return Some(quoted_end(chars, open, '"'));
            }
            let mut close = vec!['"'];
            close.extend(std::iter::repeat_n('#', n_hashes));
            let inside = open + n_hashes + 1;
            let length = chars[inside..].windows(close.len()).position(|end| end == close);
            Some(length.map_or(chars.len(), |length| inside + length + close.len()))
        }
        _ => None,
    }
}

fn quoted_end(chars: &[char], open: usize, quote: char) -> usize {
    let mut at = open + 1;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

pub(crate) fn tokens(code: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for (idx, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push((idx + 1, rest[..length].to_owned()));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

pub(crate) fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns every path in the code, with the groups of `use a::{b, c}` written out.
pub(crate) fn paths(tokens: &[Token]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut groups: Vec<String> = Vec::new();
    let mut path = String::new();
    let mut before = "";
    for (line, token) in tokens {
        let group = groups.last().cloned().unwrap_or_default();
        if is_name(token) {
            if before != "::" || path.is_empty() {
                path = group;
            } else {
                path += "::";
            }
            path += token;
            found.push((*line, path.clone()));
        } else if token == "{" {
            groups.push(if before == "::" { format!("{path}::") } else { String::new() });
            path.clear();
        } else if token != "::" {
            path.clear();
            if token == "}" {
                groups.pop();
            }
        }
        before = token;
    }
    found
}

pub(crate) fn starts_with_path(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Returns the names that are not a step of a path, a method or field of something, or imported.
pub(crate) fn coined_names(tokens: &[Token]) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    let mut is_import = false;
    let mut before = "";
    for (line, token) in tokens {
        is_import = (is_import || token == "use") && token != ";";
        if !is_import && is_name(token) && before != "::" && before != "." {
            names.push((*line, token.clone()));
        }
        before = token;
    }
    names
}

/// Splits `snake_case` and `CamelCase` into lower-case words.
pub(crate) fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if c == '_' || c == '-' || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c != '_' && c != '-') {
            word.extend(c.to_lowercase());
        }
    }
    words.into_iter()
}
