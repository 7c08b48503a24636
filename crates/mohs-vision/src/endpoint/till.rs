//! The till: what answers cost, and whether there is money for one more.
//!
//! Before a request is sent, what it may cost is set aside; when its answer is there, what it did
//! cost takes that place. So many requests at once cannot spend more together than one by one. What
//! earlier runs paid for answers that are used again counts, each once: a cap is about the whole
//! work, however often it was stopped. So does what may have been paid for answers that never came.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::EndpointEntry;

use super::ledger::AskKey;

/// What one answer took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens that were sent.
    pub n_input: u64,
    /// Tokens that came back.
    pub n_output: u64,
    /// Pictures that were drawn.
    pub n_pictures: u64,
}

impl Usage {
    /// All tokens.
    pub fn n_tokens(&self) -> u64 {
        self.n_input + self.n_output
    }

    fn add(&mut self, other: &Usage) {
        self.n_input += other.n_input;
        self.n_output += other.n_output;
        self.n_pictures += other.n_pictures;
    }
}

/// What was asked and paid.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Requests that were sent, whatever came of them.
    pub n_sent: usize,
    /// Answers that came in this run: the calls that were paid.
    pub n_paid: usize,
    /// Answers that were known from earlier.
    pub n_known: usize,
    /// How often a question had to be asked again.
    pub n_repeated: usize,
    /// What the answers of this run took.
    pub usage: Usage,
    /// What the answers of this run cost, in the unit of the prices.
    pub cost: f64,
    /// What all answers took that were used, those of earlier runs included.
    pub usage_in_all: Usage,
    /// What all answers cost that were used, those of earlier runs included.
    pub cost_in_all: f64,
    /// Requests, those of earlier runs included, that may have been paid although no answer came.
    pub n_doubtful: usize,
    /// What they may have cost.
    pub doubtful_cost: f64,
}

#[derive(Debug)]
pub(super) struct Till {
    prices: [f64; 3],
    cap: Option<f64>,
    reserved: f64,
    /// The dearest answer so far: what the next one may cost.
    dearest: f64,
    counted: BTreeSet<AskKey>,
    /// Requests that may have been paid for nothing, and what one of them may have cost.
    doubtful: BTreeMap<AskKey, (usize, f64)>,
    tally: Tally,
}

impl Till {
    pub(super) fn new(entry: &EndpointEntry) -> Till {
        Till {
            prices: [entry.price_input / 1e6, entry.price_output / 1e6, entry.price_picture],
            cap: entry.cost_cap,
            reserved: 0.0,
            dearest: 0.0,
            counted: BTreeSet::new(),
            doubtful: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    pub(super) fn set_cap(&mut self, cap: f64) {
        self.cap = Some(cap);
    }

    pub(super) fn tally(&self) -> Tally {
        let n_doubtful = self.doubtful.values().map(|(n, _)| n).sum();
        Tally { n_doubtful, doubtful_cost: self.doubtful_cost(), ..self.tally }
    }

    #[expect(clippy::cast_precision_loss, reason = "requests are few")]
    fn doubtful_cost(&self) -> f64 {
        self.doubtful.values().map(|(n, each)| *n as f64 * each).sum()
    }

    /// What something costs.
    pub(super) fn cost(&self, usage: &Usage) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
        let counts = [usage.n_input, usage.n_output, usage.n_pictures].map(|n| n as f64);
        counts.iter().zip(self.prices).map(|(count, price)| count * price).sum()
    }

    /// Sets money aside for a request; `false` if there is not enough.
    pub(super) fn reserve(&mut self, expected: &Usage) -> bool {
        let set_aside = self.cost(expected);
        let may_cost = set_aside.max(self.dearest);
        let spent = self.tally.cost_in_all + self.doubtful_cost();
        let is_enough = self.cap.is_none_or(|cap| spent + self.reserved + may_cost <= cap);
        if is_enough {
            self.reserved += set_aside;
        }
        is_enough
    }

    /// Gives back what was set aside.
    pub(super) fn release(&mut self, expected: &Usage) {
        self.reserved = (self.reserved - self.cost(expected)).max(0.0);
    }

    pub(super) fn sent(&mut self) {
        self.tally.n_sent += 1;
    }

    pub(super) fn repeated(&mut self) {
        self.tally.n_repeated += 1;
    }

    /// Counts an answer that came now.
    pub(super) fn paid(&mut self, key: &AskKey, usage: &Usage) {
        let cost = self.cost(usage);
        self.tally.n_paid += 1;
        self.tally.usage.add(usage);
        self.tally.cost += cost;
        self.count(key, usage, cost);
    }

    /// Counts requests for a question that may have been paid although no answer came.
    pub(super) fn doubtful(&mut self, key: &AskKey, n: usize, expected: &Usage) {
        let cost = self.cost(expected);
        if 0 < n {
            self.doubtful.insert(*key, (n, cost));
        } else {
            self.doubtful.remove(key);
        }
    }

    /// Counts an answer that was known.
    pub(super) fn known(&mut self, key: &AskKey, usage: &Usage) {
        self.tally.n_known += 1;
        let cost = self.cost(usage);
        self.count(key, usage, cost);
    }

    /// Counts an answer of an earlier run, whether it is used now or not.
    pub(super) fn paid_before(&mut self, key: &AskKey, usage: &Usage) {
        let cost = self.cost(usage);
        self.count(key, usage, cost);
    }

    fn count(&mut self, key: &AskKey, usage: &Usage, cost: f64) {
        self.dearest = self.dearest.max(cost);
        if self.counted.insert(*key) {
            self.tally.usage_in_all.add(usage);
            self.tally.cost_in_all += cost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn till(cap: f64) -> Till {
        let entry = EndpointEntry {
            price_input: 1_000_000.0,
            price_output: 2_000_000.0,
            cost_cap: Some(cap),
            ..EndpointEntry::new("http://localhost", "m")
        };
        Till::new(&entry)
    }

    fn usage(n_input: u64, n_output: u64) -> Usage {
        Usage { n_input, n_output, n_pictures: 0 }
    }

    #[test]
    fn requests_under_way_cannot_spend_the_same_money() {
        let mut till = till(10.0);
        assert!(till.reserve(&usage(2, 1)));
        assert!(till.reserve(&usage(2, 1)));
        // 4 + 4 are set aside, and 4 more would be 12.
        assert!(!till.reserve(&usage(2, 1)));
        till.release(&usage(2, 1));
        till.paid(&AskKey::new("a"), &usage(1, 0));
        assert!(till.reserve(&usage(2, 1)));
    }

    #[test]
    fn what_was_dearer_than_thought_is_expected_again() {
        let mut till = till(10.0);
        till.paid(&AskKey::new("a"), &usage(6, 0));
        assert!(!till.reserve(&usage(1, 0)));
    }

    #[test]
    fn an_answer_that_is_used_twice_is_paid_once() {
        let mut till = till(100.0);
        till.known(&AskKey::new("a"), &usage(5, 0));
        till.known(&AskKey::new("a"), &usage(5, 0));
        let tally = till.tally();
        assert_eq!((tally.n_known, tally.n_paid), (2, 0));
        assert!((tally.cost_in_all - 5.0).abs() < 1e-12 && tally.cost.abs() < 1e-12);
    }

    #[test]
    fn what_may_have_been_paid_counts_against_the_cap() {
        let mut till = till(10.0);
        till.doubtful(&AskKey::new("a"), 2, &usage(4, 0));
        assert_eq!(till.tally().n_doubtful, 2);
        assert!(!till.reserve(&usage(3, 0)));
        till.doubtful(&AskKey::new("a"), 0, &usage(4, 0));
        assert!(till.reserve(&usage(3, 0)));
        assert!(till.tally().doubtful_cost.abs() < 1e-12);
    }
}
