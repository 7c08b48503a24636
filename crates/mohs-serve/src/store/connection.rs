//! A connection to a database, SQLite or Postgres, with one SQL text for both.
//!
//! Three kinds of values, `$1` for parameters, rows one at a time. Nothing else of a database is
//! used outside `store/`.

use super::StoreError;
use super::memory::Memory;

/// A value on its way into a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Param<'a> {
    /// Nothing.
    Null,
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(&'a str),
}

impl From<i64> for Param<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u32> for Param<'_> {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl From<bool> for Param<'_> {
    fn from(value: bool) -> Self {
        Self::Int(value.into())
    }
}

impl From<f64> for Param<'_> {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(value)
    }
}

impl<'a, T: Into<Param<'a>>> From<Option<T>> for Param<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One row that a query returned; columns by position.
pub trait Row {
    /// Returns a whole number; none where there is nothing.
    fn int(&self, column: usize) -> Option<i64>;
    /// Returns a number; none where there is nothing.
    fn real(&self, column: usize) -> Option<f64>;
    /// Returns a text; none where there is nothing.
    fn text(&self, column: usize) -> Option<&str>;

    /// Returns a whole number that the schema says is there.
    fn whole(&self, column: usize) -> i64 {
        self.int(column).unwrap_or_default()
    }

    /// Returns whether a flag is set.
    fn flag(&self, column: usize) -> bool {
        self.int(column).unwrap_or_default() != 0
    }

    /// Returns a text as its own.
    fn owned(&self, column: usize) -> Option<String> {
        self.text(column).map(Into::into)
    }

    /// Returns a text that the schema says is there.
    fn word(&self, column: usize) -> String {
        self.text(column).unwrap_or_default().into()
    }

    /// Returns a small count that the schema says is there.
    fn count(&self, column: usize) -> u32 {
        u32::try_from(self.whole(column)).unwrap_or_default()
    }
}

/// What is done with each row.
pub type EachRow<'a> = &'a mut dyn FnMut(&dyn Row) -> Result<(), StoreError>;

/// An open connection.
pub trait Connection: Send {
    /// Runs a statement and returns how many rows it touched.
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError>;

    /// Runs a query and hands on its rows as they come.
    fn each(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: EachRow<'_>,
    ) -> Result<(), StoreError>;

    /// Runs several statements without parameters.
    fn batch(&mut self, sql: &str) -> Result<(), StoreError>;

    /// Starts a transaction that writes; no other writer is in one at the same time.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Undoes a transaction that cannot be committed.
    fn undo(&mut self) {
        // Fails when the connection is lost, and then there is nothing to undo.
        let _ = self.batch("rollback");
    }

    /// What this connection remembers of sessions, where nobody else writes without being noticed.
    fn memory(&mut self) -> Option<&mut Memory> {
        None
    }

    /// Whether the connection is lost.
    fn is_closed(&self) -> bool;

    /// The ending of files that only this database understands.
    fn dialect(&self) -> &'static str;
}

impl dyn Connection + '_ {
    /// Returns all rows, each made into something.
    pub fn rows<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        make: impl Fn(&dyn Row) -> T,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        self.each(sql, params, &mut |row| {
            rows.push(make(row));
            Ok(())
        })?;
        Ok(rows)
    }

    /// Returns the first row, made into something; none when there is none.
    pub fn first<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        make: impl Fn(&dyn Row) -> T,
    ) -> Result<Option<T>, StoreError> {
        let mut first = None;
        self.each(sql, params, &mut |row| {
            if first.is_none() {
                first = Some(make(row));
            }
            Ok(())
        })?;
        Ok(first)
    }
}
