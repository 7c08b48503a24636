//! CSV underneath a table: delimiter and encoding found, rows in, rows out.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use compact_str::CompactString;

use super::atomic::AtomicFile;
use super::table::{Cell, CellKind, RowSink, RowSource};
use crate::{FileError, Problem};

/// Bytes looked at to tell text from other things.
const N_SNIFFED: usize = 8_192;

/// What is cut off at both ends of a cell; a line of nothing else is blank.
const BLANKS: [char; 2] = [' ', '\t'];

/// Rows of a CSV file.
pub(super) struct CsvRows {
    path: PathBuf,
    reader: csv::Reader<Box<dyn Read>>,
    names: Vec<CompactString>,
    record: csv::StringRecord,
    line: u64,
    ends_with_crlf: bool,
}

impl CsvRows {
    /// Opens the file and reads its header.
    ///
    /// Comma, semicolon and tab are told apart by the header; a byte-order mark is skipped.
    pub(super) fn open(path: &Path, noun: &'static str) -> Result<Self, FileError> {
        let file = File::open(path).map_err(|cause| FileError::cannot_read(path, cause))?;
        Self::from_reader(path, file, noun)
    }

    /// Reads the header of a file that is open or in memory.
    pub(super) fn from_reader(
        path: &Path,
        mut file: impl Read + 'static,
        noun: &'static str,
    ) -> Result<Self, FileError> {
        let cannot_read = |cause| FileError::cannot_read(path, cause);
        let mut head = Vec::with_capacity(N_SNIFFED);
        (&mut file).take(N_SNIFFED as u64).read_to_end(&mut head).map_err(cannot_read)?;
        if head.iter().all(u8::is_ascii_whitespace) {
            let expected = match noun {
                "trials" => "a table of trials",
                "stimuli" => "a table of stimuli",
                "predictions" => "a table of predictions",
                _ => "a table with a header",
            };
            return Err(FileError::new(path, Problem::Empty { expected }));
        }
        if let Some(looks_like) = not_text(&head) {
            return Err(FileError::new(path, Problem::NotText { looks_like }));
        }
        let start = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let delimiter = delimiter_of(&head[start..]);
        let rest = std::io::Cursor::new(head[start..].to_vec()).chain(file);
        let reader: Box<dyn Read> = Box::new(rest);
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            .buffer_capacity(1 << 18)
            .from_reader(reader);
        let header = reader.headers().map_err(|error| from_csv_error(path, &error))?;
        let names = header.iter().map(|name| CompactString::new(name.trim())).collect();
        let first_end = head.iter().position(|byte| *byte == b'\n').unwrap_or(0);
        let ends_with_crlf = 0 < first_end && head[first_end - 1] == b'\r';
        let record = csv::StringRecord::new();
        Ok(Self { path: path.to_owned(), reader, names, record, line: 1, ends_with_crlf })
    }
}

impl CsvRows {
    /// Returns the line in which the record just read starts; `before` is where reading began.
    ///
    /// The reader's own count is that of line feeds consumed: it leaves the one of a `\r\n` for
    /// the next record, and counts blank lines to the record after them.
    fn first_line(&self, before: u64) -> u64 {
        let after = self.reader.position().line();
        let is_left_over = u64::from(self.ends_with_crlf);
        if after <= before + 1 {
            return before + is_left_over;
        }
        let n_inside =
            self.record.iter().flat_map(str::bytes).filter(|byte| *byte == b'\n').count();
        (after + is_left_over).saturating_sub(n_inside as u64 + 1).max(before)
    }
}

impl RowSource for CsvRows {
    fn advance(&mut self) -> Result<bool, FileError> {
        loop {
            let before = self.reader.position().line();
            match self.reader.read_record(&mut self.record) {
                Ok(false) => return Ok(false),
                // Files whose lines end in two ways mislead the count; no row starts where one did.
                Ok(true) => self.line = self.first_line(before).max(self.line + 1),
                Err(error) => {
                    let error_here = from_csv_error(&self.path, &error);
                    return Err(match error_here.line {
                        Some(_) => error_here.at_line(self.first_line(before)),
                        None => error_here,
                    });
                }
            }
            let is_blank = |cell: &str| !cell.is_empty() && cell.trim_matches(BLANKS).is_empty();
            if self.record.len() == 1 && is_blank(&self.record[0]) {
                continue;
            }
            let (expected, found) = (self.names.len() as u64, self.record.len() as u64);
            if expected == found {
                return Ok(true);
            }
            let problem = Problem::RowLength { expected, found };
            return Err(FileError::new(&self.path, problem).at_line(self.line));
        }
    }

    fn text(&self, column: usize) -> Option<Cow<'_, str>> {
        let cell = self.record.get(column)?.trim_matches(BLANKS);
        (!cell.is_empty()).then_some(Cow::Borrowed(cell))
    }

    fn number(&self, _column: usize) -> Option<f64> {
        None
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn names(&self) -> Vec<CompactString> {
        self.names.clone()
    }
}

/// Names what a file is when it is not text.
pub(super) fn not_text(head: &[u8]) -> Option<String> {
    let known: [(&[u8], &str); 9] = [
        (b"PAR1", "a Parquet file"),
        (b"\x89PNG", "a PNG picture"),
        (b"\xff\xd8\xff", "a JPEG picture"),
        (b"PK\x03\x04", "a ZIP archive or spreadsheet"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"%PDF", "a PDF document"),
        (b"SQLite format 3", "an SQLite database"),
        (b"\xff\xfe", "UTF-16 text, not UTF-8"),
        (b"\xfe\xff", "UTF-16 text, not UTF-8"),
    ];
    if let Some((_, name)) = known.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some((*name).to_owned());
    }
    head.contains(&0).then(|| "binary data".to_owned())
}

/// Returns the delimiter that splits the first line into most cells.
fn delimiter_of(head: &[u8]) -> u8 {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    // On a tie the comma wins, because it comes first and only more counts.
    let mut best = b',';
    for delimiter in [b';', b'\t'] {
        if count(best) < count(delimiter) {
            best = delimiter;
        }
    }
    best
}

fn from_csv_error(path: &Path, error: &csv::Error) -> FileError {
    let line = error.position().map(csv::Position::line);
    let problem = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => {
            Problem::NotText { looks_like: "bytes that are not UTF-8".into() }
        }
        csv::ErrorKind::Io(cause) => {
            Problem::CannotRead(std::io::Error::new(cause.kind(), cause.to_string()))
        }
        _ => Problem::Damaged { detail: error.to_string() },
    };
    FileError { path: path.to_owned(), line, column: None, problem }
}

/// Bytes gathered before they are written.
const N_BUFFERED: usize = 1 << 18;

/// Writes rows of CSV: commas, `\n`, quotes only where needed.
pub(super) struct CsvSink {
    path: PathBuf,
    file: AtomicFile,
    buffer: Vec<u8>,
}

impl CsvSink {
    pub(super) fn create(
        file: AtomicFile,
        columns: &[(CompactString, CellKind)],
    ) -> Result<Self, FileError> {
        let mut buffer = Vec::with_capacity(N_BUFFERED + (N_BUFFERED >> 2));
        for (name, _) in columns {
            push_text(&mut buffer, name);
            buffer.push(b',');
        }
        end_row(&mut buffer);
        Ok(Self { path: file.path().to_owned(), file, buffer })
    }

    fn write_buffer(&mut self) -> Result<(), FileError> {
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|cause| FileError::cannot_write(&self.path, cause))
    }
}

impl RowSink for CsvSink {
    fn push(&mut self, cells: &[Cell<'_>]) -> Result<(), FileError> {
        for cell in cells {
            match cell {
                Cell::Empty => {}
                Cell::Text(text) => push_text(&mut self.buffer, text),
                Cell::Real(value) => push_real(&mut self.buffer, *value),
                Cell::Whole(value) => push_whole(&mut self.buffer, *value),
                Cell::Flag(value) => self.buffer.push(b'0' + u8::from(*value)),
            }
            self.buffer.push(b',');
        }
        end_row(&mut self.buffer);
        if N_BUFFERED <= self.buffer.len() { self.write_buffer() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), FileError> {
        self.write_buffer()?;
        self.file.flush().map_err(|cause| FileError::cannot_write(&self.path, cause))
    }

    fn finish(mut self: Box<Self>) -> Result<(), FileError> {
        self.write_buffer()?;
        let Self { path, mut file, .. } = *self;
        file.flush().map_err(|cause| FileError::cannot_write(&path, cause))?;
        file.commit()
    }
}

/// Turns the comma after the last cell into the end of the line.
fn end_row(buffer: &mut [u8]) {
    if let Some(last) = buffer.last_mut() {
        *last = b'\n';
    }
}

fn push_text(buffer: &mut Vec<u8>, text: &str) {
    let needs_quotes = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    if !text.as_bytes().iter().any(needs_quotes) {
        buffer.extend_from_slice(text.as_bytes());
        return;
    }
    buffer.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            buffer.push(b'"');
        }
        buffer.push(byte);
    }
    buffer.push(b'"');
}

/// Writes the shortest text that reads back as the same number, whole numbers without a point.
fn push_real(buffer: &mut Vec<u8>, value: f64) {
    // Up to here every whole number is exact, and most times are whole.
    const LARGEST_EXACT: f64 = 9e15;
    let is_whole = value.fract().abs() <= 0.0 && value.abs() < LARGEST_EXACT;
    let is_minus_zero = value.to_bits() == (-0.0_f64).to_bits();
    if is_whole && !is_minus_zero {
        if value < 0.0 {
            buffer.push(b'-');
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and small enough, as checked above"
        )]
        push_whole(buffer, value.abs() as u64);
    } else {
        buffer.extend_from_slice(zmij::Buffer::new().format(value).as_bytes());
    }
}

fn push_whole(buffer: &mut Vec<u8>, value: u64) {
    buffer.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}
