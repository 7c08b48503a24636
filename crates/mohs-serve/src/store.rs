//! Where data are kept: the only SQL of the house.
//!
//! One writer per server takes requests from a queue, runs as many as are waiting in one
//! transaction, commits, and answers them all: an answer means that it is on disk. There is no
//! update of an event and no deletion but a participant's withdrawal. Statements are in the files
//! below, one per table; arithmetic is elsewhere.

pub mod cell;
pub mod connection;
pub mod design;
pub mod event;
pub mod journal;
pub mod live;
pub mod memory;
mod migration;
mod postgres;
pub mod result;
pub mod seen;
pub mod session;
mod sqlite;
pub mod study;
pub mod trial;
mod writer;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;

use self::connection::Connection;
use self::writer::Writer;

/// Which database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A file.
    Sqlite(PathBuf),
    /// A `postgres://` URL.
    Postgres(String),
}

/// An address that names no database.
#[derive(Debug, thiserror::Error)]
#[error("a database is `sqlite:PATH` or `postgres://…`, found `{0}`")]
pub struct BadPlace(String);

impl Place {
    /// Parses `sqlite:PATH` or `postgres://…`.
    pub fn parse(text: &str) -> Result<Self, BadPlace> {
        if let Some(path) = text.strip_prefix("sqlite:").filter(|path| !path.is_empty()) {
            return Ok(Self::Sqlite(path.into()));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.into()));
        }
        Err(BadPlace(text.into()))
    }

    /// Opens a connection for the writer.
    fn open_to_write(&self) -> Result<Box<dyn Connection>, StoreError> {
        Ok(match self {
            Self::Sqlite(path) => {
                let mut connection = memory::Remembering::new(sqlite::Sqlite::open(path)?);
                // What a crash left in the journal goes to its tables.
                connection.begin()?;
                connection.batch("commit")?;
                Box::new(connection)
            }
            Self::Postgres(_) => self.open()?,
        })
    }

    fn open(&self) -> Result<Box<dyn Connection>, StoreError> {
        Ok(match self {
            Self::Sqlite(path) => Box::new(sqlite::Sqlite::open(path)?),
            Self::Postgres(url) => Box::new(postgres::Postgres::open(url)?),
        })
    }
}

/// Why the store could not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite failed.
    #[error("the database file failed")]
    Sqlite(#[source] rusqlite::Error),
    /// The file, or its folder, cannot be written.
    #[error("it cannot be written")]
    ReadOnly(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A file of an older version cannot be written anew.
    #[error("there is no room to write it anew, which is done once, as an older version made it")]
    NoRoom(#[source] Box<StoreError>),
    /// A file of an older version cannot be written anew now.
    #[error("another program works with it while it is to be written anew, which is done once")]
    InUse(#[source] Box<StoreError>),
    /// Another program made the database.
    #[error("it holds tables of another program")]
    Foreign,
    /// Postgres failed.
    #[error("the database server failed")]
    Postgres(#[from] ::postgres::Error),
    /// A statement and its parameters do not fit.
    #[error("a statement asks for a parameter that was not given")]
    Statement,
    /// A newer program made the database.
    #[error("the database is of a newer version: {found}, this program knows {newest}")]
    Newer {
        /// Its newest change.
        found: i64,
        /// The newest change known here.
        newest: i64,
    },
    /// A stored text is not what was stored.
    #[error("the database holds {what} that cannot be read")]
    Damaged {
        /// What.
        what: &'static str,
    },
    /// Rows could not be handed on.
    #[error("rows could not be handed on")]
    Sink(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A bug.
    #[error("the program failed while it was writing")]
    Panicked,
    /// The server is shutting down.
    #[error("the store is closed")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    /// Keeps statements out of messages: they are long, and nothing that people can mend.
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
        let error = match error {
            rusqlite::Error::SqlInputError { error, msg, .. } => {
                rusqlite::Error::SqliteFailure(error, Some(msg))
            }
            error => error,
        };
        match error.sqlite_error_code() {
            Some(CannotOpen | PermissionDenied | ReadOnly) => Self::ReadOnly(Box::new(error)),
            _ => Self::Sqlite(error),
        }
    }
}

impl StoreError {
    /// Returns whether a file was named that holds something else than a database.
    pub fn is_no_database(&self) -> bool {
        self.sqlite_code() == Some(rusqlite::ErrorCode::NotADatabase)
    }

    /// Returns what SQLite calls it.
    fn sqlite_code(&self) -> Option<rusqlite::ErrorCode> {
        match self {
            Self::Sqlite(cause) => cause.sqlite_error_code(),
            _ => None,
        }
    }
}

/// The store; cheap to clone.
#[derive(Clone)]
pub struct Store {
    place: Arc<Place>,
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    n_readers: Arc<Semaphore>,
}

/// Connections that read and are idle now.
#[derive(Default)]
struct Readers(Mutex<Vec<Box<dyn Connection>>>);

impl Drop for Readers {
    /// A connection to Postgres waits while it closes, which a thread of the runtime may not.
    fn drop(&mut self) {
        let idle = self.0.lock().map(|mut idle| std::mem::take(&mut *idle)).unwrap_or_default();
        if !idle.is_empty() {
            let _ = std::thread::spawn(move || drop(idle)).join();
        }
    }
}

/// Connections that read at the same time.
const MOST_READERS: usize = 4;

impl Store {
    /// Opens a database, brings it up to date and starts its writer. Blocks.
    pub fn open(place: &Place) -> Result<Self, StoreError> {
        if let Place::Sqlite(path) = place {
            sqlite::prepare(path)?;
        }
        migration::run(place.open()?.as_mut())?;
        Ok(Self {
            place: Arc::new(place.clone()),
            writer: Arc::new(Writer::start(place.clone(), place.open_to_write()?)),
            readers: Arc::default(),
            n_readers: Arc::new(Semaphore::new(MOST_READERS)),
        })
    }

    /// Runs `job` in a transaction with others, and returns when it is on disk.
    ///
    /// A job may run twice: when a neighbour fails, the transaction is undone and each runs alone.
    pub async fn write<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut dyn Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.writer.run(job).await
    }

    /// Runs `job` on a connection of its own, beside the writer. Everything that was answered before
    /// is in its tables.
    pub async fn read<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Connection) -> Result<T, StoreError> + Send + 'static,
    {
        if let Place::Sqlite(_) = &*self.place {
            self.writer.run(memory::settle_all).await?;
        }
        self.peek(job).await
    }

    /// Runs `job` on a connection of its own; what was answered in the last seconds may be in the
    /// journal only. For what submissions do not change.
    pub async fn peek<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut dyn Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let permit = Arc::clone(&self.n_readers).acquire_owned().await;
        let permit = permit.map_err(|_| StoreError::Closed)?;
        let store = self.clone();
        let outcome = tokio::task::spawn_blocking(move || {
            let outcome = store.read_here(job);
            drop(permit);
            outcome
        });
        outcome.await.map_err(|_| StoreError::Closed)?
    }

    /// Runs `job` on this thread.
    pub fn read_here<T>(
        &self,
        job: impl FnOnce(&mut dyn Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.readers.0.lock().ok().and_then(|mut idle| idle.pop());
        let mut connection = match idle.filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => self.place.open()?,
        };
        let outcome = job(connection.as_mut());
        if outcome.is_ok()
            && let Ok(mut idle) = self.readers.0.lock()
        {
            idle.push(connection);
        }
        outcome
    }

    /// Makes sure that the store answers and, where a write failed, that it can be written again.
    pub async fn check(&self) -> Result<(), StoreError> {
        if self.writer.has_failed() {
            self.write(study::try_out).await?;
            self.writer.note_success();
        }
        self.peek(|tx| study::all(tx).map(|_| ())).await
    }

    /// Returns how many transactions and jobs were committed since the start.
    pub fn counts(&self) -> (u64, u64) {
        self.writer.counts()
    }
}
