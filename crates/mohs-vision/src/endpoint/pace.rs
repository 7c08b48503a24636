//! How fast questions may follow each other: requests and tokens per minute, and pauses that an
//! endpoint asks for.
//!
//! Each question takes the next free place in time. Nothing is saved up: after a quiet minute the
//! pace is the same, so that no endpoint sees a burst.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Pace {
    per_request: Duration,
    seconds_per_token: f64,
    next: Mutex<Next>,
}

#[derive(Debug)]
struct Next {
    request: Instant,
    tokens: Instant,
    paused_until: Instant,
}

impl Pace {
    pub(super) fn new(requests_per_minute: Option<f64>, tokens_per_minute: Option<f64>) -> Pace {
        let now = Instant::now();
        Pace {
            per_request: Duration::from_secs_f64(requests_per_minute.map_or(0.0, |n| 60.0 / n)),
            seconds_per_token: tokens_per_minute.map_or(0.0, |n| 60.0 / n),
            next: Mutex::new(Next { request: now, tokens: now, paused_until: now }),
        }
    }

    /// Waits until a request of about so many tokens may start.
    pub(super) fn wait_for_turn(&self, n_tokens: u64) {
        loop {
            let now = Instant::now();
            let start = self.take(now, n_tokens);
            std::thread::sleep(start.saturating_duration_since(now));
            // A pause may have been asked for while this request waited.
            let paused = self.next.lock().unwrap_or_else(PoisonError::into_inner).paused_until;
            if paused <= Instant::now() {
                return;
            }
        }
    }

    /// Takes the next free place at or after `now`.
    fn take(&self, now: Instant, n_tokens: u64) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let start = now.max(next.request).max(next.tokens).max(next.paused_until);
        next.request = start + self.per_request;
        next.tokens = start + self.duration_of(n_tokens);
        start
    }

    /// Makes up for a request that took more or fewer tokens than was thought.
    pub(super) fn correct(&self, thought: u64, taken: u64) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if thought < taken {
            next.tokens += self.duration_of(taken - thought);
        } else {
            let early = self.duration_of(thought - taken);
            next.tokens = next.tokens.checked_sub(early).unwrap_or(next.tokens);
        }
    }

    /// Lets nobody start for a while.
    pub(super) fn pause(&self, wait: Duration) {
        let until = Instant::now() + wait;
        {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            next.paused_until = next.paused_until.max(until);
        }
        std::thread::sleep(wait);
    }

    fn duration_of(&self, n_tokens: u64) -> Duration {
        #[expect(clippy::cast_precision_loss, reason = "tokens of one request are few")]
        let seconds = n_tokens as f64 * self.seconds_per_token;
        Duration::from_secs_f64(seconds.min(3_600.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_keep_their_distance_and_nothing_is_saved_up() {
        let pace = Pace::new(Some(60.0), None);
        let start = Instant::now() + Duration::from_secs(100);
        let second = |n| start + Duration::from_secs(n);
        assert_eq!(pace.take(start, 0), start);
        assert_eq!(pace.take(start, 0), second(1));
        assert_eq!(pace.take(second(50), 0), second(50));
        assert_eq!(pace.take(second(50), 0), second(51));
    }

    #[test]
    fn tokens_keep_theirs_and_are_corrected_afterwards() {
        let pace = Pace::new(None, Some(600.0));
        let start = Instant::now() + Duration::from_secs(100);
        let second = |n| start + Duration::from_secs(n);
        assert_eq!(pace.take(start, 30), start);
        assert_eq!(pace.take(start, 10), second(3));
        pace.correct(10, 20);
        assert_eq!(pace.take(start, 10), second(5));
        pace.correct(10, 0);
        assert_eq!(pace.take(start, 10), second(5));
    }

    #[test]
    fn without_limits_nobody_waits() {
        let pace = Pace::new(None, None);
        let start = Instant::now() + Duration::from_secs(1);
        assert_eq!(pace.take(start, 1 << 40), start);
        assert_eq!(pace.take(start, 1 << 40), start);
    }
}
