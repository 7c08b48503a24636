//! The server's clock, which tests can turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time in milliseconds since 1970.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The system's.
    System,
    /// One that stands until it is turned.
    Standing(Arc<AtomicI64>),
}

impl Clock {
    /// Returns a clock that stands at a time.
    pub fn standing(now_ms: i64) -> Self {
        Self::Standing(Arc::new(AtomicI64::new(now_ms)))
    }

    /// Returns the time.
    pub fn now_ms(&self) -> i64 {
        match self {
            Self::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
            }
            Self::Standing(now) => now.load(Ordering::SeqCst),
        }
    }

    /// Turns a standing clock; the system's goes on as it was.
    pub fn turn(&self, by_ms: i64) {
        if let Self::Standing(now) = self {
            now.fetch_add(by_ms, Ordering::SeqCst);
        }
    }
}
