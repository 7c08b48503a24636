//! How often a question is asked, and how long is waited in between.
//!
//! Waits double from try to try, and each is shortened by a share drawn from the question itself, so
//! that many questions that failed together do not come back together, and so that the same run
//! waits the same way. What an endpoint asks for is waited, within reason, and long waits are told.

use std::time::{Duration, Instant};

use mohs_data::EndpointEntry;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::ledger::AskKey;

/// An endpoint that asks for a longer wait than this is not waited for, unless longer waits are in
/// its settings.
const LONGEST_ASKED: f64 = 600.0;

/// Waits of at least this are told.
const TOLD: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    tries: u32,
    first: f64,
    longest: f64,
}

impl Patience {
    pub(super) fn new(entry: &EndpointEntry) -> Patience {
        Patience { tries: entry.tries, first: entry.wait_s, longest: entry.longest_wait_s }
    }

    pub(super) fn tries(&self) -> u32 {
        self.tries
    }

    /// Returns the longest wait an endpoint may ask for, where it asked for more.
    pub(super) fn exceeded(&self, asked: Option<Duration>) -> Option<Duration> {
        let most = Duration::from_secs_f64(self.longest.max(LONGEST_ASKED));
        asked.filter(|asked| most < *asked).map(|_| most)
    }

    /// Returns how long to wait after a try, counted from 0; what the endpoint asks for goes first.
    pub(super) fn wait(&self, key: &AskKey, attempt: u32, asked: Option<Duration>) -> Duration {
        let doubled = self.first * 2.0_f64.powi(i32::try_from(attempt).unwrap_or(i32::MAX).min(60));
        let mut seed = [0; 32];
        seed.copy_from_slice(key.bytes());
        let mut random = ChaCha8Rng::from_seed(seed);
        random.set_stream(u64::from(attempt));
        let share = f64::from(random.next_u32()) / f64::from(u32::MAX);
        let own = Duration::from_secs_f64(doubled.min(self.longest) * (0.5 + 0.5 * share));
        // A little more than asked for, and not the same for all.
        asked.map_or(own, |asked| asked + own.min(asked).mul_f64(0.1))
    }
}

/// Which waits were told already.
#[derive(Debug, Default)]
pub(super) struct Told {
    until: Option<Instant>,
}

impl Told {
    /// Returns whether a wait that begins now is news: long, and not over with one that was told.
    pub(super) fn is_due(&mut self, now: Instant, wait: Duration) -> bool {
        let end = now + wait;
        let is_due = TOLD <= wait && self.until.is_none_or(|until| until + TOLD < end);
        if is_due {
            self.until = Some(end);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patience() -> Patience {
        Patience { tries: 6, first: 1.0, longest: 10.0 }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_keep_half() {
        let key = AskKey::new("a");
        for (attempt, most) in [(0, 1.0), (1, 2.0), (2, 4.0), (3, 8.0), (4, 10.0), (60, 10.0)] {
            let wait = patience().wait(&key, attempt, None).as_secs_f64();
            assert!(most * 0.5 <= wait && wait <= most, "{attempt}: {wait}");
        }
    }

    #[test]
    fn questions_wait_differently_and_each_the_same_again() {
        let wait = |name: &str| patience().wait(&AskKey::new(name), 0, None);
        assert_eq!(wait("a"), wait("a"));
        assert_ne!(wait("a"), wait("b"));
    }

    #[test]
    fn an_endpoint_that_says_how_long_is_believed_within_reason() {
        let asked =
            |seconds| patience().wait(&AskKey::new("a"), 0, Some(Duration::from_secs(seconds)));
        assert!(Duration::from_secs(7) <= asked(7) && asked(7) < Duration::from_secs(8));
        assert!(asked(7) < asked(600));
    }

    #[test]
    fn a_wait_beyond_all_reason_is_not_waited_unless_the_settings_allow_it() {
        let exceeded = |longest, seconds| {
            let patience = Patience { longest, ..patience() };
            patience.exceeded(Some(Duration::from_secs(seconds))).map(|most| most.as_secs())
        };
        assert_eq!(exceeded(10.0, 600), None);
        assert_eq!(exceeded(10.0, 601), Some(600));
        assert_eq!(exceeded(3_600.0, 3_600), None);
        assert_eq!(exceeded(3_600.0, 100_000), Some(3_600));
        assert_eq!(patience().exceeded(None), None);
    }

    #[test]
    fn long_waits_are_told_once_for_all_that_wait_together() {
        let now = Instant::now();
        let second = Duration::from_secs;
        let mut told = Told::default();
        assert!(!told.is_due(now, second(1)));
        assert!(told.is_due(now, second(60)));
        assert!(!told.is_due(now + second(2), second(61)));
        assert!(told.is_due(now + second(2), second(90)));
        assert!(told.is_due(now + second(100), second(60)));
    }
}
