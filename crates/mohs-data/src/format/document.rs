//! Documents read whole: TOML and JSON, with the place of a mistake.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic;
use crate::{FileError, Problem};

/// Reads a text file; `expected` says what should be in it.
pub(crate) fn read_text(path: &Path, expected: &'static str) -> Result<String, FileError> {
    text_of(
        path,
        std::fs::read(path).map_err(|cause| FileError::cannot_read(path, cause))?,
        expected,
    )
}

/// Bytes of a text that people read, at most.
const MOST_PROSE: u64 = 1_000_000;

/// Reads a text that people are shown: a file of at most 1 MB, in UTF-8 with or without a mark at its
/// beginning. It may be empty.
pub fn read_prose(path: &Path) -> Result<String, FileError> {
    let cannot_read = |cause| FileError::cannot_read(path, cause);
    let wrong = |found: String| {
        let expected = "a text file of at most 1 MB".into();
        Err(FileError::new(path, Problem::WrongKind { expected, found }))
    };
    // Looked at before it is opened, because a pipe would be waited for.
    let metadata = std::fs::metadata(path).map_err(cannot_read)?;
    if !metadata.is_file() && !metadata.is_dir() {
        return wrong("a device or a pipe".into());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(cannot_read)?;
    std::io::Read::read_to_end(&mut std::io::Read::take(file, MOST_PROSE + 1), &mut bytes)
        .map_err(cannot_read)?;
    if MOST_PROSE < bytes.len() as u64 {
        return wrong(format!("{} bytes", metadata.len()));
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    match text.iter().all(u8::is_ascii_whitespace) {
        true => Ok(String::new()),
        false => text_of(path, text.to_vec(), "a text"),
    }
}

/// Makes a text of bytes in memory; `expected` says what should be in it.
pub(crate) fn text_of(
    path: &Path,
    bytes: Vec<u8>,
    expected: &'static str,
) -> Result<String, FileError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(FileError::new(path, Problem::Empty { expected }));
    }
    if let Some(looks_like) = super::csv_rows::not_text(&bytes) {
        return Err(FileError::new(path, Problem::NotText { looks_like }));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count() as u64;
        let looks_like = "bytes that are not UTF-8".into();
        FileError::new(path, Problem::NotText { looks_like }).at_line(line)
    })
}

/// Refuses a document of a newer version before its unknown keys are complained about.
pub(crate) fn check_toml_version(
    path: &Path,
    text: &str,
    noun: &'static str,
    newest: u64,
) -> Result<(), FileError> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        version: Option<u64>,
    }
    // Syntax errors are left to the full parse, which knows the place.
    let Ok(Versioned { version: Some(found) }) = toml::from_str(text) else { return Ok(()) };
    check_version(path, noun, found, newest).map_err(|error| at_key(error, text))
}

/// Adds the line of the key an error is about, where the text has it.
pub(crate) fn at_key(error: FileError, text: &str) -> FileError {
    let key = error.column.as_deref().and_then(|column| column.rsplit('.').next());
    let is_there = |line: &str| {
        key.is_some_and(|key| {
            let rest = line.trim_start().strip_prefix(key);
            rest.is_some_and(|rest| rest.trim_start().starts_with('='))
        })
    };
    let mut places = text.lines().enumerate().filter(|(_, line)| is_there(line));
    match (places.next(), places.next()) {
        // A key that stands in several tables has no one place.
        (Some((idx, _)), None) => error.at_line(idx as u64 + 1),
        _ => error,
    }
}

/// Parses TOML into a type.
pub(crate) fn parse_toml<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, FileError> {
    toml::from_str(text).map_err(|error| {
        let message = in_words(error.message());
        let located = FileError::new(path, Problem::Syntax { message });
        match error.span() {
            Some(span) => located.at_line(line_of(text, span.start)),
            None => located,
        }
    })
}

/// Says of a number what it may be, where serde names one of our types.
fn in_words(message: &str) -> String {
    let Some((found, kind)) = message.rsplit_once(", expected ") else { return message.into() };
    let expected = match kind.trim_end() {
        "u32" if is_too_large(found) => "a whole number, 4294967295 or less",
        "usize" | "u64" | "u32" | "u16" | "u8" => "a whole number, 0 or more",
        "i64" | "i32" => "a whole number",
        "f64" => "a number",
        _ => return message.into(),
    };
    format!("{found}, expected {expected}")
}

fn is_too_large(found: &str) -> bool {
    let digits =
        found.strip_prefix("invalid value: integer `").and_then(|rest| rest.strip_suffix('`'));
    digits
        .and_then(|digits| digits.parse().ok())
        .is_some_and(|found: i64| i64::from(u32::MAX) < found)
}

/// Refuses a JSON document of a newer version before its unknown keys are complained about.
pub(crate) fn check_json_version(
    path: &Path,
    text: &str,
    noun: &'static str,
    newest: u64,
) -> Result<(), FileError> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        version: Option<u64>,
    }
    // Syntax errors are left to the full parse, which knows the place.
    let Ok(Versioned { version: Some(found) }) = serde_json::from_str(text) else { return Ok(()) };
    check_version(path, noun, found, newest)
}

fn check_version(
    path: &Path,
    noun: &'static str,
    found: u64,
    newest: u64,
) -> Result<(), FileError> {
    if newest < found {
        let problem = Problem::NewerVersion { noun, found, newest };
        return Err(FileError::new(path, problem).in_column("version"));
    }
    Ok(())
}

/// Parses JSON into a type.
pub(crate) fn parse_json<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, FileError> {
    // A byte-order mark is no JSON, but some editors leave one.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).map_err(|error| {
        let full = error.to_string();
        // The place goes in front, like every other place.
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = full.strip_suffix(&place).unwrap_or(&full).to_owned();
        let located = FileError::new(path, Problem::Syntax { message });
        if error.line() == 0 { located } else { located.at_line(error.line() as u64) }
    })
}

/// Writes a type as TOML, atomically.
pub(crate) fn write_toml<T: Serialize>(path: &Path, value: &T) -> Result<(), FileError> {
    let text = toml::to_string(value)
        .map_err(|error| FileError::cannot_write(path, std::io::Error::other(error)))?;
    atomic::write_file(path, text.as_bytes())
}

fn line_of(text: &str, offset: usize) -> u64 {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|b| **b == b'\n').count() as u64
}
