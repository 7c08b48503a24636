//! SQLite: one file, nothing to install. Every commit is on disk before it is answered.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::StoreError;
use super::connection::{Connection, EachRow, Param, Row};

/// An open SQLite file.
pub(super) struct Sqlite(rusqlite::Connection);

impl Sqlite {
    /// Opens a file, made when needed. WAL lets readers read while one writer writes;
    /// `synchronous = full` makes a commit wait for the disk. The log is moved into the file beside
    /// the writer ([`super::writer`]); a commit does so itself only when that has fallen far behind.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = rusqlite::Connection::open(path)?;
        connection.set_prepared_statement_cache_capacity(256);
        // A statement keeps its plan, whatever is bound to it: every one here has its index.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.execute_batch(
            "pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 10000; \
             pragma wal_autocheckpoint = 100000; pragma cache_size = -32000; \
             pragma foreign_keys = on;",
        )?;
        Ok(Self(connection))
    }
}

/// Numbers parameters by their names: SQLite counts `$2` by where it stands, not by what it says.
fn bind(
    statement: &mut rusqlite::CachedStatement<'_>,
    params: &[Param<'_>],
) -> Result<(), StoreError> {
    for position in 1..=statement.parameter_count() {
        let number: Option<usize> =
            statement.parameter_name(position).and_then(|name| name.get(1..)?.parse().ok());
        let param = number.and_then(|number| params.get(number.checked_sub(1)?));
        let param = param.ok_or(StoreError::Statement)?;
        statement.raw_bind_parameter(position, param)?;
    }
    Ok(())
}

impl rusqlite::ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
        }))
    }
}

impl Connection for Sqlite {
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        let mut statement = self.0.prepare_cached(sql)?;
        bind(&mut statement, params)?;
        Ok(statement.raw_execute()? as u64)
    }

    fn each(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: EachRow<'_>,
    ) -> Result<(), StoreError> {
        let mut statement = self.0.prepare_cached(sql)?;
        bind(&mut statement, params)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            each(&SqliteRow(row))?;
        }
        Ok(())
    }

    fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(self.0.execute_batch(sql)?)
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        Ok(self.0.prepare_cached("begin immediate")?.raw_execute().map(|_| ())?)
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn dialect(&self) -> &'static str {
        "sqlite"
    }
}

struct SqliteRow<'a>(&'a rusqlite::Row<'a>);

impl Row for SqliteRow<'_> {
    fn int(&self, column: usize) -> Option<i64> {
        self.0.get_ref(column).ok()?.as_i64_or_null().ok()?
    }

    fn real(&self, column: usize) -> Option<f64> {
        match self.0.get_ref(column).ok()? {
            ValueRef::Real(value) => Some(value),
            // SQLite keeps whole numbers of a real column as such when it saves space.
            #[expect(clippy::cast_precision_loss, reason = "it was a double when it was stored")]
            ValueRef::Integer(value) => Some(value as f64),
            _ => None,
        }
    }

    fn text(&self, column: usize) -> Option<&str> {
        self.0.get_ref(column).ok()?.as_str_or_null().ok()?
    }
}
