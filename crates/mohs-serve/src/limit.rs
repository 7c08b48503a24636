//! How often one address may ask: buckets of tokens, in memory only.
//!
//! Addresses are kept as hashes under a salt that is new at every start, and are never stored. Buckets
//! are sound per server; a reverse proxy in front of several has limits of its own.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use crate::token::{random, sha256};

/// Requests of one address.
#[derive(Debug)]
pub struct Limits {
    salt: String,
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<u64, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at_ms: i64,
}

/// Buckets before full ones are thrown away.
const MOST_BUCKETS: usize = 100_000;

impl Limits {
    /// Allows `per_second` requests of one address, and `burst` at once.
    pub fn new(per_second: f64, burst: f64) -> Self {
        let salt = crate::token::hex(&random::<16>());
        Self { salt, per_second, burst, buckets: Mutex::default() }
    }

    /// Says whether an address may ask now, for `cost` requests' worth.
    ///
    /// The machine itself always may: a proxy or a test stands there, not a person.
    pub fn allows(&self, address: IpAddr, cost: f64, now_ms: i64) -> bool {
        if address.is_loopback() {
            return true;
        }
        let digits = sha256(&[&self.salt, &address.to_string()]);
        let key = u64::from_str_radix(&digits[..16], 16).unwrap_or_default();
        let Ok(mut buckets) = self.buckets.lock() else { return true };
        if MOST_BUCKETS < buckets.len() {
            buckets.retain(|_, bucket| self.filled(*bucket, now_ms) < self.burst);
        }
        let fresh = Bucket { tokens: self.burst, at_ms: now_ms };
        let bucket = buckets.entry(key).or_insert(fresh);
        let tokens = self.filled(*bucket, now_ms);
        let is_allowed = cost <= tokens;
        let left = if is_allowed { tokens - cost } else { tokens };
        *bucket = Bucket { tokens: left, at_ms: now_ms };
        is_allowed
    }

    fn filled(&self, bucket: Bucket, now_ms: i64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a span of time")]
        let seconds = (now_ms - bucket.at_ms).max(0) as f64 / 1_000.0;
        (bucket.tokens + seconds * self.per_second).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_waits_when_its_bucket_is_empty_and_others_do_not() {
        let limits = Limits::new(10.0, 2.0);
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let asked: Vec<bool> =
            [0, 0, 0, 100, 100].into_iter().map(|now_ms| limits.allows(one, 1.0, now_ms)).collect();
        assert_eq!(asked, [true, true, false, true, false]);
        assert!(limits.allows(other, 1.0, 100));
    }

    #[test]
    fn the_machine_itself_never_waits() {
        let limits = Limits::new(0.0, 0.0);
        assert!(limits.allows(IpAddr::from([127, 0, 0, 1]), 1.0, 0));
    }
}
