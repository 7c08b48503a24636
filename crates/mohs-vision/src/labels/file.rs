//! Files that name classes: a text with one per line, a CSV table or JSON.
//!
//! They are read whole and strictly; an order that is not written down is never guessed.

use std::collections::BTreeMap;
use std::path::Path;

use mohs_data::Label;

use super::LabelError;

/// Names a CSV column may have that says where a class stands among the outputs.
const PLACE: [&str; 5] = ["index", "output", "position", "idx", "place"];
/// Names a CSV column of classes may have, the first found counts.
const CLASS: [&str; 4] = ["class", "label", "name", "classes"];

/// A class and the label it becomes.
pub(super) struct Pair {
    pub(super) line: usize,
    pub(super) class: Label,
    pub(super) label: Label,
}

/// Reads classes in the order of outputs; what the file is, is said by its ending.
pub(super) fn classes(path: &Path) -> Result<Vec<Label>, LabelError> {
    let text = read(path)?;
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match ending.as_str() {
        "json" => from_json(path, &text),
        "csv" => from_csv(path, &text),
        _ => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            Ok(lines.map(Label::new).collect())
        }
    }
}

/// Reads a table with the columns `class` and `label`.
pub(super) fn pairs(path: &Path) -> Result<Vec<Pair>, LabelError> {
    let text = read(path)?;
    let (header, rows) = table(path, &text)?;
    let column = |name: &str| {
        header.iter().position(|cell| cell == name).ok_or_else(|| {
            not_understood(path, Some(1), "have the columns class and label", &header.join(", "))
        })
    };
    let (class, label) = (column("class")?, column("label")?);
    let pair = |(line, cells): (usize, Vec<String>)| -> Result<Pair, LabelError> {
        let cell = |idx: usize| match cells[idx].trim() {
            "" => Err(not_understood(path, Some(line), "have a class and a label", "nothing")),
            text => Ok(Label::new(text)),
        };
        Ok(Pair { line, class: cell(class)?, label: cell(label)? })
    };
    let pairs: Vec<Pair> = rows.into_iter().map(pair).collect::<Result<_, _>>()?;
    if pairs.is_empty() {
        return Err(not_understood(path, None, "have a row for each class", "a header only"));
    }
    Ok(pairs)
}

fn read(path: &Path) -> Result<String, LabelError> {
    let unreadable = |source| LabelError::Unreadable { path: path.to_owned(), source };
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| not_understood(path, None, "be text in UTF-8", "other bytes"))?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

fn not_understood(path: &Path, line: Option<usize>, expected: &str, found: &str) -> LabelError {
    LabelError::NotUnderstood {
        path: path.to_owned(),
        line,
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

fn from_csv(path: &Path, text: &str) -> Result<Vec<Label>, LabelError> {
    let (header, rows) = table(path, text)?;
    let find =
        |names: &[&str]| names.iter().find_map(|name| header.iter().position(|cell| cell == name));
    let Some(class) = find(&CLASS) else {
        let expected = "have a column class (and index, where rows are not in order)";
        return Err(not_understood(path, Some(1), expected, &header.join(", ")));
    };
    let Some(place) = find(&PLACE) else {
        return Ok(rows.iter().map(|(_, cells)| Label::new(cells[class].trim())).collect());
    };
    let mut placed = BTreeMap::new();
    for (line, cells) in &rows {
        let Ok(idx) = cells[place].trim().parse::<usize>() else {
            let found = format!("`{}`", cells[place]);
            return Err(not_understood(path, Some(*line), "have a whole number there", &found));
        };
        placed.insert(idx, Label::new(cells[class].trim()));
    }
    in_order(path, placed, rows.len())
}

/// Puts classes in order and makes sure that no place is empty or taken twice.
fn in_order(
    path: &Path,
    placed: BTreeMap<usize, Label>,
    n_rows: usize,
) -> Result<Vec<Label>, LabelError> {
    if placed.len() != n_rows {
        let found = format!("{} different ones", placed.len());
        return Err(not_understood(path, None, &format!("have {n_rows} places"), &found));
    }
    if let Some((expected, (found, _))) =
        placed.iter().enumerate().find(|(expected, (found, _))| expected != *found)
    {
        let expected = format!("have a class at place {expected}");
        return Err(not_understood(path, None, &expected, &format!("the next at {found}")));
    }
    Ok(placed.into_values().collect())
}

/// A list of names, or an object from places to names (a list of them has the name last).
fn from_json(path: &Path, text: &str) -> Result<Vec<Label>, LabelError> {
    use serde_json::Value;
    const EXPECTED: &str = "be a list of classes, or an object from places to classes";
    let wrong = |found: &str| not_understood(path, None, EXPECTED, found);
    let value: Value =
        serde_json::from_str(text).map_err(|error| wrong(&format!("no JSON: {error}")))?;
    let value = match value {
        // As configurations of Hugging Face and timm have it.
        Value::Object(mut object) => {
            let inner = ["id2label", "label_names"].iter().find_map(|key| object.remove(*key));
            inner.unwrap_or(Value::Object(object))
        }
        other => other,
    };
    let name = |value: &Value| match value {
        Value::String(name) => Ok(Label::new(name)),
        Value::Array(names) => match names.last() {
            Some(Value::String(name)) => Ok(Label::new(name)),
            _ => Err(wrong("a list without names")),
        },
        other => Err(wrong(&other.to_string().chars().take(40).collect::<String>())),
    };
    match value {
        Value::Array(names) => names.iter().map(name).collect(),
        Value::Object(by_place) => {
            let mut placed = BTreeMap::new();
            for (place, value) in &by_place {
                let idx = place.parse::<usize>().map_err(|_| wrong(&format!("`{place}`")))?;
                placed.insert(idx, name(value)?);
            }
            in_order(path, placed, by_place.len())
        }
        _ => Err(wrong("something else")),
    }
}

type Rows = Vec<(usize, Vec<String>)>;

/// The header in lower case, and the rows with their lines.
fn table(path: &Path, text: &str) -> Result<(Vec<String>, Rows), LabelError> {
    let mut rows = Vec::new();
    for (line, cells) in cells(text) {
        if cells.iter().any(|cell| !cell.trim().is_empty()) {
            rows.push((line, cells));
        }
    }
    if rows.is_empty() {
        return Err(not_understood(path, None, "have a header and rows", "nothing"));
    }
    let (_, header) = rows.remove(0);
    let header: Vec<String> = header.iter().map(|cell| cell.trim().to_ascii_lowercase()).collect();
    if let Some((line, row)) = rows.iter().find(|(_, row)| row.len() != header.len()) {
        let expected = format!("have {} cells", header.len());
        return Err(not_understood(path, Some(*line), &expected, &row.len().to_string()));
    }
    Ok((header, rows))
}

/// Splits CSV into rows of cells: commas between them, quotes around cells that hold commas, quotes
/// or line ends.
fn cells(text: &str) -> Rows {
    let mut rows = Vec::new();
    let (mut row, mut cell) = (Vec::new(), String::new());
    let (mut line, mut start, mut is_quoted) = (1, 1, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\n' {
            line += 1;
        }
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if cell.is_empty() => is_quoted = true,
            ',' if !is_quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !is_quoted && letters.peek() == Some(&'\n') => {}
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push((start, std::mem::take(&mut row)));
                start = line;
            }
            other => cell.push(other),
        }
    }
    if !cell.is_empty() || !row.is_empty() {
        row.push(cell);
        rows.push((start, row));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_classes(name: &str, text: &str) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        match classes(&path) {
            Ok(classes) => Ok(classes.iter().map(ToString::to_string).collect()),
            Err(error) => Err(error.to_string().rsplit_once('/').unwrap().1.to_owned()),
        }
    }

    #[test]
    fn classes_come_from_text_tables_and_json() {
        let expected = Ok(vec!["tench".to_owned(), "a, \"b\"".to_owned()]);
        assert_eq!(read_classes("c.txt", "\u{feff}tench\r\n\na, \"b\"\n"), expected);
        assert_eq!(read_classes("c.csv", "class\ntench\n\"a, \"\"b\"\"\"\n"), expected);
        let table = "Index,label\n1,\"a, \"\"b\"\"\"\n0,tench";
        assert_eq!(read_classes("c.csv", table), expected);
        assert_eq!(read_classes("c.json", r#"["tench", "a, \"b\""]"#), expected);
        let nested = r#"{"id2label": {"1": ["n1", "a, \"b\""], "0": "tench"}, "x": 3}"#;
        assert_eq!(read_classes("c.json", nested), expected);
    }

    #[test]
    fn a_place_that_is_missing_or_taken_twice_is_named() {
        assert_eq!(
            read_classes("c.csv", "index,class\n0,a\n2,b\n").unwrap_err(),
            "c.csv should have a class at place 1, found the next at 2"
        );
        assert_eq!(
            read_classes("c.csv", "index,class\n0,a\n0,b\n").unwrap_err(),
            "c.csv should have 2 places, found 1 different ones"
        );
        assert_eq!(
            read_classes("c.csv", "index,class\nx,a\n").unwrap_err(),
            "c.csv:2 should have a whole number there, found `x`"
        );
        assert!(read_classes("c.json", "{\"a\": 1}").is_err());
    }
}
