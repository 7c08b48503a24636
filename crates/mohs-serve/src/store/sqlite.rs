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
    /// What is deleted is overwritten, on every connection: of a row that once stood elsewhere, and of
    /// the journal, a copy would be left.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = rusqlite::Connection::open(path)?;
        connection.set_prepared_statement_cache_capacity(256);
        // A statement keeps its plan, whatever is bound to it: every one here has its index.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.execute_batch(
            "pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 10000; \
             pragma wal_autocheckpoint = 100000; pragma cache_size = -32000; \
             pragma foreign_keys = on; pragma secure_delete = on;",
        )?;
        Ok(Self(connection))
    }
}

/// Makes the file, for its owner alone because it holds the secret; or makes sure that one which is
/// there is ours, before anything in it is changed.
pub(super) fn prepare(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(|cause| StoreError::ReadOnly(Box::new(cause)))?;
    // The log that stands beside the file needs a place, too; an empty file is a new database.
    let is_new = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
    drop(file);
    if is_new {
        return Ok(());
    }
    let connection = rusqlite::Connection::open(path)?;
    connection.execute_batch("pragma busy_timeout = 10000")?;
    let mut statement =
        connection.prepare("select name from sqlite_master where type = 'table' order by name")?;
    let names = statement.query_map((), |row| row.get::<_, String>(0))?;
    let names: Vec<String> = names.collect::<Result<_, _>>()?;
    let is_ours = OURS.iter().all(|ours| names.iter().any(|name| name == ours));
    if names.is_empty() || is_ours { Ok(()) } else { Err(StoreError::Foreign) }
}

/// Tables that every version of ours has had.
const OURS: [&str; 4] = ["cell", "epoch", "migration", "setting"];

/// Writes parameters so that SQLite numbers them by what they say, `?2`; `$2` is a name to it.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

fn bind(
    statement: &mut rusqlite::CachedStatement<'_>,
    params: &[Param<'_>],
) -> Result<(), StoreError> {
    if statement.parameter_count() != params.len() {
        return Err(StoreError::Statement);
    }
    for (param, position) in params.iter().zip(1..) {
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
        let mut statement = self.0.prepare_cached(&numbered(sql))?;
        bind(&mut statement, params)?;
        Ok(statement.raw_execute()? as u64)
    }

    fn each(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: EachRow<'_>,
    ) -> Result<(), StoreError> {
        let mut statement = self.0.prepare_cached(&numbered(sql))?;
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
