//! Bringing a database up to date when a server starts.

use super::StoreError;
use super::connection::Connection;

/// A numbered change. Only `both`, or one text for each database.
struct Migration {
    number: i64,
    both: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        both: include_str!("../../migrations/0001_tables.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        number: 2,
        both: "",
        sqlite: include_str!("../../migrations/0002_append_only.sqlite.sql"),
        postgres: include_str!("../../migrations/0002_append_only.postgres.sql"),
    },
    Migration {
        number: 3,
        both: include_str!("../../migrations/0003_fewer_indexes.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        number: 4,
        both: include_str!("../../migrations/0004_design.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        number: 5,
        both: include_str!("../../migrations/0005_seen_from_trials.sql"),
        sqlite: include_str!("../../migrations/0005_journal.sqlite.sql"),
        postgres: "",
    },
    Migration {
        number: 6,
        both: include_str!("../../migrations/0006_root.sql"),
        sqlite: "",
        postgres: "",
    },
    Migration {
        number: 7,
        both: include_str!("../../migrations/0007_handed.sql"),
        sqlite: "",
        postgres: "",
    },
];

/// The first version that overwrites what is deleted.
const OVERWRITES: i64 = 6;

/// Runs what has not run yet; a database of a newer `mohs` is refused.
pub(super) fn run(connection: &mut dyn Connection) -> Result<(), StoreError> {
    if connection.dialect() == "sqlite" && holds_deleted(connection)? {
        // What was deleted by older versions may still be read in the file.
        connection.batch("vacuum").map_err(not_rewritten)?;
    }
    connection.begin()?;
    let outcome = run_missing(connection);
    connection.batch(if outcome.is_ok() { "commit" } else { "rollback" })?;
    outcome
}

/// Says why a file could not be written anew, where people can do something about it.
fn not_rewritten(error: StoreError) -> StoreError {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, DiskFull};
    match error.sqlite_code() {
        Some(DiskFull) => StoreError::NoRoom(Box::new(error)),
        Some(DatabaseBusy | DatabaseLocked) => StoreError::InUse(Box::new(error)),
        _ => error,
    }
}

/// Returns whether an older version worked with the database, which left what it deleted.
fn holds_deleted(connection: &mut dyn Connection) -> Result<bool, StoreError> {
    let sql = "select name from sqlite_master where type = 'table' and name = 'migration'";
    if connection.first(sql, &[], |_| ())?.is_none() {
        return Ok(false);
    }
    let newest = connection.first("select max(number) from migration", &[], |row| row.whole(0))?;
    Ok(newest.is_some_and(|newest| newest < OVERWRITES))
}

fn run_missing(connection: &mut dyn Connection) -> Result<(), StoreError> {
    connection.batch("create table if not exists migration (number bigint primary key)")?;
    let done = connection.rows("select number from migration", &[], |row| row.whole(0))?;
    let newest = MIGRATIONS.last().map_or(0, |migration| migration.number);
    if let Some(found) = done.iter().find(|number| newest < **number) {
        return Err(StoreError::Newer { found: *found, newest });
    }
    for migration in MIGRATIONS.iter().filter(|migration| !done.contains(&migration.number)) {
        let own = match connection.dialect() {
            "postgres" => migration.postgres,
            _ => migration.sqlite,
        };
        for text in [migration.both, own] {
            if !text.is_empty() {
                connection.batch(text)?;
            }
        }
        connection
            .execute("insert into migration (number) values ($1)", &[migration.number.into()])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_anew_is_told_from_one_that_failed() {
        let failed = |code| {
            let cause = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            not_rewritten(cause.into())
        };
        assert!(matches!(failed(ffi::SQLITE_FULL), StoreError::NoRoom(_)));
        assert!(matches!(failed(ffi::SQLITE_BUSY), StoreError::InUse(_)));
        assert!(matches!(failed(ffi::SQLITE_LOCKED), StoreError::InUse(_)));
        assert!(matches!(failed(ffi::SQLITE_CORRUPT), StoreError::Sqlite(_)));
    }
}
