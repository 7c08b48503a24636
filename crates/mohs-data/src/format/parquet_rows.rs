//! Parquet underneath a table, by the column reader and writer of the `parquet` crate.
//!
//! The Arrow layer is left out on purpose: it doubles the build time of the whole project and we
//! need rows, not record batches. Rows are decoded in batches of [`N_PER_BATCH`], so memory does
//! not grow with the file.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use compact_str::{CompactString, ToCompactString};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

use super::atomic::AtomicFile;
use super::table::{self, Cell, CellKind, RowSink, RowSource};
use crate::{FileError, Problem};

/// Rows decoded at a time.
const N_PER_BATCH: usize = 4_096;
/// Rows per row group written: large enough to compress, small enough to hold.
const N_PER_GROUP: usize = 100_000;

const NOT_UTF8: &str = "bytes that are not UTF-8";

/// Decoded values of one column for one batch; `None` is an empty cell.
enum Batch {
    Text(Vec<Option<CompactString>>),
    Real(Vec<Option<f64>>),
    Whole(Vec<Option<i64>>),
    Flag(Vec<Option<bool>>),
}

/// Rows of a Parquet file.
pub(super) struct ParquetRows {
    path: PathBuf,
    file: Box<dyn FileReader>,
    names: Vec<CompactString>,
    group_idx: usize,
    columns: Vec<ColumnReader>,
    n_left_in_group: usize,
    batch: Vec<Batch>,
    n_in_batch: usize,
    row_idx: usize,
    line: u64,
}

impl ParquetRows {
    /// Opens the file and reads its footer.
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        let cannot_read = |cause| FileError::cannot_read(path, cause);
        let file = File::open(path).map_err(cannot_read)?;
        let metadata = file.metadata().map_err(cannot_read)?;
        if metadata.is_dir() {
            return Err(cannot_read(std::io::ErrorKind::IsADirectory.into()));
        }
        if metadata.len() == 0 {
            return Err(FileError::new(path, Problem::Empty { expected: "a Parquet table" }));
        }
        Self::from_chunks(path, file)
    }

    /// Reads the footer of a file in memory.
    pub(super) fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, FileError> {
        if bytes.is_empty() {
            return Err(FileError::new(path, Problem::Empty { expected: "a Parquet table" }));
        }
        Self::from_chunks(path, Bytes::from(bytes))
    }

    fn from_chunks(path: &Path, file: impl ChunkReader + 'static) -> Result<Self, FileError> {
        check_magic(path, &file)?;
        let n_bytes = file.len();
        let file = guarded(path, || SerializedFileReader::new(file))?;
        let file: Box<dyn FileReader> = Box::new(file);
        check_claims(path, file.metadata(), n_bytes)?;
        let schema = file.metadata().file_metadata().schema_descr();
        let mut names = Vec::with_capacity(schema.num_columns());
        for column in schema.columns() {
            let name = column.path().string();
            let is_plain = column.max_rep_level() == 0
                && column.path().parts().len() == 1
                && !matches!(
                    column.physical_type(),
                    Physical::INT96 | Physical::FIXED_LEN_BYTE_ARRAY
                );
            if !is_plain {
                let found = format!("a nested or special column ({})", column.physical_type());
                return Err(FileError::new(
                    path,
                    Problem::BadValue {
                        expected: "a plain column of text, numbers or yes/no".into(),
                        found,
                        hint: Some("flatten or drop this column before writing the file".into()),
                    },
                )
                .in_column(&name));
            }
            names.push(name.into());
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            names,
            group_idx: 0,
            columns: Vec::new(),
            n_left_in_group: 0,
            batch: Vec::new(),
            n_in_batch: 0,
            row_idx: 0,
            line: 0,
        })
    }

    /// Decodes the next batch; `false` at the end of the file.
    fn fill(&mut self) -> Result<bool, FileError> {
        while self.n_left_in_group == 0 {
            if self.group_idx == self.file.num_row_groups() {
                return Ok(false);
            }
            let n_rows = self.file.metadata().row_group(self.group_idx).num_rows();
            self.n_left_in_group = usize::try_from(n_rows).map_err(|_| {
                let detail = format!("row group {} claims {n_rows} rows", self.group_idx);
                FileError::new(&self.path, Problem::Damaged { detail })
            })?;
            self.columns = guarded(&self.path, || {
                let group = self.file.get_row_group(self.group_idx)?;
                (0..self.names.len()).map(|idx| group.get_column_reader(idx)).collect()
            })?;
            self.group_idx += 1;
        }
        let n_wanted = self.n_left_in_group.min(N_PER_BATCH);
        self.batch.clear();
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            let batch =
                guarded(&self.path, || decode(column, n_wanted)).map_err(|e| e.in_column(name))?;
            if batch.len() != n_wanted {
                let detail = format!("a column ends {} rows early", n_wanted - batch.len());
                return Err(FileError::new(&self.path, Problem::Damaged { detail }));
            }
            self.batch.push(batch);
        }
        self.n_left_in_group -= n_wanted;
        self.n_in_batch = n_wanted;
        self.row_idx = 0;
        Ok(true)
    }
}

fn check_magic(path: &Path, file: &impl ChunkReader) -> Result<(), FileError> {
    let mut magic = Vec::with_capacity(4);
    let start = file.get_read(0).map_err(|error| damaged(path, &error))?;
    start.take(4).read_to_end(&mut magic).map_err(|cause| FileError::cannot_read(path, cause))?;
    if magic == b"PAR1" {
        return Ok(());
    }
    let found = super::csv_rows::not_text(&magic).unwrap_or_else(|| "other data".into());
    Err(FileError::new(path, Problem::WrongKind { expected: "a Parquet file".into(), found }))
}

/// Runs a step of the decoder, which panics on some damaged files where it should fail.
///
/// A file is input, and input never ends the process. What the step leaves behind is not used
/// again: the reader stops at its first error.
fn guarded<T>(path: &Path, step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, FileError> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(step)) {
        Ok(done) => done.map_err(|error| damaged(path, &error)),
        Err(_) => {
            let detail = "its parts contradict each other".into();
            Err(FileError::new(path, Problem::Damaged { detail }))
        }
    }
}

/// Holds what the footer claims against the bytes there are, before anything is allocated by it.
fn check_claims(path: &Path, claims: &ParquetMetaData, n_bytes: u64) -> Result<(), FileError> {
    let damaged = |detail: String| Err(FileError::new(path, Problem::Damaged { detail }));
    let n_columns = claims.file_metadata().schema_descr().num_columns();
    for (idx, group) in claims.row_groups().iter().enumerate() {
        if group.num_columns() != n_columns {
            return damaged(format!("row group {idx} has {} columns", group.num_columns()));
        }
        for column in group.columns() {
            if column.num_values() != group.num_rows() {
                let (n_values, n_rows) = (column.num_values(), group.num_rows());
                return damaged(format!("a column has {n_values} values for {n_rows} rows"));
            }
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            let is_inside = 0 <= start
                && 0 <= column.compressed_size()
                && end.and_then(|end| u64::try_from(end).ok()).is_some_and(|end| end <= n_bytes);
            if !is_inside {
                return damaged(format!("a column of row group {idx} lies outside the file"));
            }
        }
    }
    Ok(())
}

fn damaged(path: &Path, error: &ParquetError) -> FileError {
    if matches!(error, ParquetError::General(detail) if detail == NOT_UTF8) {
        return FileError::new(path, Problem::NotText { looks_like: NOT_UTF8.into() });
    }
    if error.to_string().contains("Disabled feature") {
        let expected = "compressed with snappy, gzip, lz4, zstd or not at all".into();
        let found = "another compression".into();
        return FileError::new(path, Problem::WrongKind { expected, found });
    }
    FileError::new(path, Problem::Damaged { detail: error.to_string() })
}

impl Batch {
    fn len(&self) -> usize {
        match self {
            Batch::Text(cells) => cells.len(),
            Batch::Real(cells) => cells.len(),
            Batch::Whole(cells) => cells.len(),
            Batch::Flag(cells) => cells.len(),
        }
    }
}

fn decode(column: &mut ColumnReader, n_rows: usize) -> Result<Batch, ParquetError> {
    // One macro, because each arm is the same read over another physical type.
    macro_rules! read {
        ($reader:expr, $batch:ident, $convert:expr) => {{
            let mut levels = Vec::with_capacity(n_rows);
            let mut values = Vec::with_capacity(n_rows);
            let mut n_read = 0;
            // A page may end before the batch does.
            while n_read < n_rows {
                let (n, _, _) =
                    $reader.read_records(n_rows - n_read, Some(&mut levels), None, &mut values)?;
                if n == 0 {
                    break;
                }
                n_read += n;
            }
            let mut values = values.into_iter().map($convert);
            if levels.is_empty() {
                // A required column stores no levels: every cell is there.
                Batch::$batch(values.map(Some).collect())
            } else {
                let cell = |level: i16| if level == 0 { None } else { values.next() };
                Batch::$batch(levels.into_iter().map(cell).collect())
            }
        }};
    }
    Ok(match column {
        ColumnReader::BoolColumnReader(reader) => read!(reader, Flag, |value| value),
        ColumnReader::Int32ColumnReader(reader) => read!(reader, Whole, i64::from),
        ColumnReader::Int64ColumnReader(reader) => read!(reader, Whole, |value| value),
        ColumnReader::FloatColumnReader(reader) => read!(reader, Real, f64::from),
        ColumnReader::DoubleColumnReader(reader) => read!(reader, Real, |value| value),
        ColumnReader::ByteArrayColumnReader(reader) => {
            let mut is_text = true;
            let batch = read!(reader, Text, |value: ByteArray| {
                CompactString::from_utf8(value.data()).unwrap_or_else(|_| {
                    is_text = false;
                    CompactString::default()
                })
            });
            if !is_text {
                return Err(ParquetError::General(NOT_UTF8.into()));
            }
            batch
        }
        ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
            return Err(ParquetError::NYI("a special column type".into()));
        }
    })
}

impl RowSource for ParquetRows {
    fn advance(&mut self) -> Result<bool, FileError> {
        self.row_idx += 1;
        if self.n_in_batch <= self.row_idx && !self.fill()? {
            return Ok(false);
        }
        self.line += 1;
        Ok(true)
    }

    fn text(&self, column: usize) -> Option<Cow<'_, str>> {
        match &self.batch[column] {
            Batch::Text(cells) => {
                let text = cells[self.row_idx].as_deref()?;
                (!text.is_empty()).then_some(Cow::Borrowed(text))
            }
            Batch::Real(cells) => cells[self.row_idx].map(|value| value.to_string().into()),
            Batch::Whole(cells) => cells[self.row_idx].map(|value| value.to_string().into()),
            Batch::Flag(cells) => {
                cells[self.row_idx].map(|value| Cow::Borrowed(if value { "1" } else { "0" }))
            }
        }
    }

    fn number(&self, column: usize) -> Option<f64> {
        match &self.batch[column] {
            Batch::Real(cells) => cells[self.row_idx],
            _ => None,
        }
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn names(&self) -> Vec<CompactString> {
        self.names.clone()
    }
}

/// Cells of one column waiting to be written; one level per row, 1 where there is a value.
struct Waiting {
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    /// Texts laid end to end, with their ends.
    Text {
        bytes: Vec<u8>,
        ends: Vec<usize>,
    },
    Real(Vec<f64>),
    Whole(Vec<i64>),
    Flag(Vec<bool>),
}

/// Writes rows of Parquet.
pub(super) struct ParquetSink {
    path: PathBuf,
    writer: SerializedFileWriter<AtomicFile>,
    waiting: Vec<Waiting>,
    n_waiting: usize,
}

impl ParquetSink {
    pub(super) fn create(
        file: AtomicFile,
        table: &table::Schema,
        columns: &[(CompactString, CellKind)],
    ) -> Result<Self, FileError> {
        let path = file.path().to_owned();
        let failed = |error: ParquetError| write_error(&path, error);
        let fields = columns
            .iter()
            .map(|(name, kind)| field(name, *kind).map(Arc::new))
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed)?;
        let schema =
            Type::group_type_builder("table").with_fields(fields).build().map_err(failed)?;
        let noun = KeyValue::new("mohs.noun".into(), table.noun.to_owned());
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by("mohs".into())
            .set_key_value_metadata(Some(vec![noun]));
        for (name, kind) in columns {
            // Ids and times hardly repeat: a dictionary of them is work for nothing.
            if name == table.row_noun || *kind == CellKind::Real {
                let column = ColumnPath::from(vec![name.to_string()]);
                properties = properties.set_column_dictionary_enabled(column, false);
            }
        }
        let properties = properties.build();
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
            .map_err(failed)?;
        let waiting = columns.iter().map(|(_, kind)| Waiting::new(*kind)).collect();
        Ok(Self { path, writer, waiting, n_waiting: 0 })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for waiting in &mut self.waiting {
            let mut column =
                group.next_column()?.expect("because the schema has one field per column");
            let levels = std::mem::take(&mut waiting.levels);
            let levels = Some(&levels[..]);
            match (column.untyped(), &mut waiting.values) {
                (ColumnWriter::ByteArrayColumnWriter(writer), Values::Text { bytes, ends }) => {
                    let bytes = Bytes::from(std::mem::take(bytes));
                    let mut start = 0;
                    let texts: Vec<ByteArray> = std::mem::take(ends)
                        .into_iter()
                        .map(|end| {
                            let text = bytes.slice(start..end);
                            start = end;
                            ByteArray::from(text)
                        })
                        .collect();
                    writer.write_batch(&texts, levels, None)?;
                }
                (ColumnWriter::DoubleColumnWriter(writer), Values::Real(values)) => {
                    writer.write_batch(&std::mem::take(values), levels, None)?;
                }
                (ColumnWriter::Int64ColumnWriter(writer), Values::Whole(values)) => {
                    writer.write_batch(&std::mem::take(values), levels, None)?;
                }
                (ColumnWriter::BoolColumnWriter(writer), Values::Flag(values)) => {
                    writer.write_batch(&std::mem::take(values), levels, None)?;
                }
                _ => unreachable!("because `field` and `Waiting::new` agree on the type"),
            }
            column.close()?;
        }
        group.close()?;
        self.n_waiting = 0;
        Ok(())
    }
}

fn field(name: &CompactString, kind: CellKind) -> Result<Type, ParquetError> {
    let (physical, logical) = match kind {
        CellKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        CellKind::Real => (Physical::DOUBLE, None),
        CellKind::Whole => (Physical::INT64, None),
        CellKind::Flag => (Physical::BOOLEAN, None),
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

fn write_error(path: &Path, error: ParquetError) -> FileError {
    FileError::cannot_write(path, std::io::Error::other(error))
}

impl Waiting {
    fn new(kind: CellKind) -> Self {
        let values = match kind {
            CellKind::Text => Values::Text { bytes: Vec::new(), ends: Vec::new() },
            CellKind::Real => Values::Real(Vec::new()),
            CellKind::Whole => Values::Whole(Vec::new()),
            CellKind::Flag => Values::Flag(Vec::new()),
        };
        Self { levels: Vec::new(), values }
    }

    fn push(&mut self, cell: &Cell<'_>) {
        let is_there = match (&mut self.values, cell) {
            (_, Cell::Empty) => false,
            (Values::Text { bytes, ends }, cell) => {
                let text: Cow<'_, str> = match cell {
                    Cell::Text(text) => Cow::Borrowed(text),
                    Cell::Real(value) => value.to_compact_string().into_string().into(),
                    Cell::Whole(value) => value.to_compact_string().into_string().into(),
                    Cell::Flag(value) => Cow::Borrowed(if *value { "1" } else { "0" }),
                    Cell::Empty => Cow::Borrowed(""),
                };
                if !text.is_empty() {
                    bytes.extend_from_slice(text.as_bytes());
                    ends.push(bytes.len());
                }
                !text.is_empty()
            }
            (Values::Real(values), Cell::Real(value)) => {
                values.push(*value);
                true
            }
            (Values::Whole(values), Cell::Whole(value)) => {
                values.push(i64::try_from(*value).unwrap_or(i64::MAX));
                true
            }
            (Values::Flag(values), Cell::Flag(value)) => {
                values.push(*value);
                true
            }
            _ => unreachable!("because a record's cells have the kinds its schema says"),
        };
        self.levels.push(i16::from(is_there));
    }
}

impl RowSink for ParquetSink {
    fn push(&mut self, cells: &[Cell<'_>]) -> Result<(), FileError> {
        for (waiting, cell) in self.waiting.iter_mut().zip(cells) {
            waiting.push(cell);
        }
        self.n_waiting += 1;
        if self.n_waiting == N_PER_GROUP {
            self.write_group().map_err(|error| write_error(&self.path, error))?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), FileError> {
        if 0 < self.n_waiting {
            self.write_group().map_err(|error| write_error(&self.path, error))?;
        }
        let Self { path, writer, .. } = *self;
        let file = writer.into_inner().map_err(|error| write_error(&path, error))?;
        file.commit()
    }
}
