//! Database files: which are taken, and who may read them.

use mohs_serve::store::{Place, Store, StoreError};
use tempfile::TempDir;

fn with_tables(path: &std::path::Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_file_of_another_program_is_left_as_it_is() {
    let folder = TempDir::new().unwrap();
    for sql in [
        "create table mail (subject text)",
        "create table study (name text)",
        "create table migration (number bigint primary key); create table user (name text)",
    ] {
        let path = folder.path().join("other.db");
        with_tables(&path, sql);
        let before = std::fs::read(&path).unwrap();
        let error = Store::open(&Place::Sqlite(path.clone())).err().unwrap();
        assert!(matches!(error, StoreError::Foreign), "{error:?}");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{sql}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn what_is_said_of_a_failure_holds_no_statement() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("ours.db");
    let store = Store::open(&Place::Sqlite(path.clone())).unwrap();
    let failed = store.read_here(|tx| tx.batch("create table study (secret_column text)"));
    let error = failed.unwrap_err();
    let mut text = error.to_string();
    let mut next = std::error::Error::source(&error);
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    assert!(text.contains("already exists") && !text.contains("secret_column"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_new_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("new.db");
    let store = Store::open(&Place::Sqlite(path.clone())).unwrap();
    store.read_here(|tx| tx.batch("select 1")).unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.path());
    }
}
