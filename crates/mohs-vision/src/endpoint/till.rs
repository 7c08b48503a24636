//! The till: what answers cost, and whether there is money for one more.
//!
//! Before a request is sent, what it may cost is set aside; when its answer is there, what it did
//! cost takes that place. So many requests at once cannot spend more together than one by one. What
//! earlier runs paid counts from the beginning, whether this run uses their answers or not: a cap is
//! about everything that a ledger holds, however often and by whichever command it was asked for. So
//! does what may have been paid for answers that never came. What the answers cost that are used is
//! counted apart, each once. An answer costs what it cost when it came: prices may have changed since.

use std::collections::{BTreeMap, BTreeSet};

use mohs_data::EndpointEntry;

use super::ledger::{AskKey, Ledger};

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

    /// The larger of both in everything.
    pub(super) fn most(&self, other: &Usage) -> Usage {
        Usage {
            n_input: self.n_input.max(other.n_input),
            n_output: self.n_output.max(other.n_output),
            n_pictures: self.n_pictures.max(other.n_pictures),
        }
    }

    fn add(&mut self, other: &Usage) {
        self.n_input += other.n_input;
        self.n_output += other.n_output;
        self.n_pictures += other.n_pictures;
    }
}

/// What things cost at an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Prices {
    /// A million tokens that are sent.
    pub(super) input: f64,
    /// A million tokens that come back.
    pub(super) output: f64,
    /// A picture that is drawn.
    pub(super) picture: f64,
}

impl Prices {
    pub(super) fn of(entry: &EndpointEntry) -> Prices {
        Prices {
            input: entry.price_input,
            output: entry.price_output,
            picture: entry.price_picture,
        }
    }

    /// What something costs.
    pub(super) fn cost(&self, usage: &Usage) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
        let counts = [usage.n_input, usage.n_output, usage.n_pictures].map(|n| n as f64);
        let each = [self.input / 1e6, self.output / 1e6, self.picture];
        counts.iter().zip(each).map(|(count, price)| count * price).sum()
    }
}

/// What was bought, by its prices.
///
/// Sums of whole numbers: the order in which answers came changes nothing.
#[derive(Debug, Default)]
struct Bought(BTreeMap<[u64; 3], Usage>);

impl Bought {
    fn add(&mut self, usage: &Usage, prices: &Prices) {
        let Prices { input, output, picture } = *prices;
        self.0.entry([input, output, picture].map(f64::to_bits)).or_default().add(usage);
    }

    fn cost(&self) -> f64 {
        self.0.iter().fold(0.0, |sum, (bits, usage)| {
            let [input, output, picture] = bits.map(f64::from_bits);
            sum + Prices { input, output, picture }.cost(usage)
        })
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
    /// What the answers took that this run used, whoever asked for them.
    pub usage_used: Usage,
    /// What they cost.
    pub cost_used: f64,
    /// What everything in the ledger cost, used or not.
    pub cost_in_all: f64,
    /// Requests, those of earlier runs included, that may have been paid although no answer came.
    pub n_doubtful: usize,
    /// What they may have cost.
    pub doubtful_cost: f64,
}

#[derive(Debug)]
pub(super) struct Till {
    prices: Prices,
    cap: Option<f64>,
    /// What each question under way is thought to cost.
    set_aside: BTreeMap<AskKey, f64>,
    /// The dearest answer so far: what any other may cost.
    dearest: f64,
    used: BTreeSet<AskKey>,
    /// What every answer took, those of earlier runs included.
    in_all: Bought,
    /// The answers that this run used.
    bought_used: Bought,
    /// Requests that may have been paid for nothing, and what one of them may have cost.
    doubtful: BTreeMap<AskKey, (usize, f64)>,
    tally: Tally,
}

impl Till {
    pub(super) fn new(entry: &EndpointEntry) -> Till {
        Till { cap: entry.cost_cap, ..Till::at(Prices::of(entry)) }
    }

    /// A till without a cap.
    pub(super) fn at(prices: Prices) -> Till {
        Till {
            prices,
            cap: None,
            set_aside: BTreeMap::new(),
            dearest: 0.0,
            used: BTreeSet::new(),
            in_all: Bought::default(),
            bought_used: Bought::default(),
            doubtful: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    /// Counts everything that a ledger holds.
    pub(super) fn take_in(&mut self, ledger: &Ledger) {
        ledger.records().for_each(|record| self.paid_before(&record.usage, record.prices));
        ledger.took().for_each(|usage| self.may_take(usage));
        ledger.doubtful().for_each(|(key, n, expected, prices)| {
            self.doubtful(key, n, expected, prices);
        });
    }

    pub(super) fn set_cap(&mut self, cap: f64) {
        self.cap = Some(cap);
    }

    pub(super) fn tally(&self) -> Tally {
        Tally {
            cost: self.prices.cost(&self.tally.usage),
            cost_used: self.bought_used.cost(),
            cost_in_all: self.in_all.cost(),
            n_doubtful: self.doubtful.values().map(|(n, _)| n).sum(),
            doubtful_cost: self.doubtful_cost(),
            ..self.tally
        }
    }

    /// What was paid, and what may have been.
    pub(super) fn spent(&self) -> f64 {
        self.in_all.cost() + self.doubtful_cost()
    }

    #[expect(clippy::cast_precision_loss, reason = "requests are few")]
    fn doubtful_cost(&self) -> f64 {
        // A sum of nothing is -0, which is shown as that.
        self.doubtful.values().fold(0.0, |sum, (n, each)| sum + *n as f64 * each)
    }

    /// What answers cost now.
    pub(super) fn prices(&self) -> Prices {
        self.prices
    }

    /// Sets money aside for a question; `false` if there is not enough.
    pub(super) fn reserve(&mut self, key: &AskKey, expected: &Usage) -> bool {
        self.set_aside.insert(*key, self.prices.cost(expected));
        let is_enough = self.is_enough();
        if !is_enough {
            self.release(key);
        }
        is_enough
    }

    /// Whether there is enough for all that money was set aside for: answers may be dearer than was
    /// thought, and tries that may have been paid use some of it.
    pub(super) fn is_enough(&self) -> bool {
        let may_cost: f64 = self.set_aside.values().map(|each| each.max(self.dearest)).sum();
        // What others spent of the same money was taken off: the last digit is not theirs to keep.
        self.cap.is_none_or(|cap| self.spent() + may_cost <= cap * (1.0 + 1e-12))
    }

    /// Gives back what was set aside.
    pub(super) fn release(&mut self, key: &AskKey) {
        self.set_aside.remove(key);
    }

    pub(super) fn sent(&mut self) {
        self.tally.n_sent += 1;
    }

    pub(super) fn repeated(&mut self) {
        self.tally.n_repeated += 1;
    }

    /// Counts an answer that came now.
    pub(super) fn paid(&mut self, key: &AskKey, usage: &Usage) {
        self.tally.n_paid += 1;
        self.tally.usage.add(usage);
        self.paid_before(usage, None);
        self.uses(key, usage, None);
    }

    /// Counts requests for a question that may have been paid although no answer came; at the
    /// present prices, unless those of their time are known.
    pub(super) fn doubtful(
        &mut self,
        key: &AskKey,
        n: usize,
        expected: &Usage,
        prices: Option<Prices>,
    ) {
        let cost = prices.unwrap_or(self.prices).cost(expected);
        if 0 < n {
            self.doubtful.insert(*key, (n, cost));
        } else {
            self.doubtful.remove(key);
        }
    }

    /// Counts an answer that was known.
    pub(super) fn known(&mut self, key: &AskKey, usage: &Usage, prices: Option<Prices>) {
        self.tally.n_known += 1;
        self.uses(key, usage, prices);
    }

    /// Counts an answer of an earlier run, whether it will be used now or not.
    pub(super) fn paid_before(&mut self, usage: &Usage, prices: Option<Prices>) {
        self.in_all.add(usage, &prices.unwrap_or(self.prices));
        self.may_take(usage);
    }

    /// Remembers what an answer took, used or not: the next may take it, too, at the present prices.
    pub(super) fn may_take(&mut self, usage: &Usage) {
        self.dearest = self.dearest.max(self.prices.cost(usage));
    }

    fn uses(&mut self, key: &AskKey, usage: &Usage, prices: Option<Prices>) {
        if self.used.insert(*key) {
            self.tally.usage_used.add(usage);
            self.bought_used.add(usage, &prices.unwrap_or(self.prices));
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
        let [a, b, c] = ["a", "b", "c"].map(AskKey::new);
        assert!(till.reserve(&a, &usage(2, 1)));
        assert!(till.reserve(&b, &usage(2, 1)));
        // 4 + 4 are set aside, and 4 more would be 12.
        assert!(!till.reserve(&c, &usage(2, 1)));
        till.release(&a);
        till.paid(&a, &usage(1, 0));
        assert!(till.reserve(&c, &usage(2, 1)));
    }

    #[test]
    fn what_was_dearer_than_thought_is_expected_again() {
        let mut till = till(10.0);
        till.paid(&AskKey::new("a"), &usage(6, 0));
        assert!(!till.reserve(&AskKey::new("b"), &usage(1, 0)));
    }

    #[test]
    fn what_turns_out_dearer_is_expected_of_questions_under_way_too() {
        let mut till = till(10.0);
        let [a, b, c] = ["a", "b", "c"].map(AskKey::new);
        assert!(till.reserve(&a, &usage(1, 0)) && till.reserve(&b, &usage(1, 0)));
        till.release(&a);
        till.paid(&a, &usage(4, 0));
        // 4 are paid, and the one under way may be 4 as well.
        assert!(!till.reserve(&c, &usage(1, 0)));
    }

    #[test]
    fn what_earlier_runs_paid_counts_from_the_beginning_and_once() {
        let mut till = till(10.0);
        till.paid_before(&usage(4, 0), None);
        till.paid_before(&usage(4, 0), None);
        assert!(!till.reserve(&AskKey::new("c"), &usage(4, 0)));
        till.known(&AskKey::new("a"), &usage(4, 0), None);
        let tally = till.tally();
        assert!((tally.cost_in_all - 8.0).abs() < 1e-12 && (tally.cost_used - 4.0).abs() < 1e-12);
    }

    #[test]
    fn an_answer_that_is_used_twice_is_paid_once() {
        let mut till = till(100.0);
        till.paid(&AskKey::new("a"), &usage(5, 0));
        till.known(&AskKey::new("a"), &usage(5, 0), None);
        let tally = till.tally();
        assert_eq!((tally.n_known, tally.n_paid), (1, 1));
        for cost in [tally.cost_in_all, tally.cost_used, tally.cost] {
            assert!((cost - 5.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_try_that_may_have_been_paid_takes_money_from_the_next() {
        let mut till = till(10.0);
        assert!(till.reserve(&AskKey::new("a"), &usage(4, 0)));
        assert!(till.is_enough());
        for (n, is_enough) in [(1, true), (2, false)] {
            till.doubtful(&AskKey::new("a"), n, &usage(4, 0), None);
            assert_eq!(till.is_enough(), is_enough);
        }
    }

    #[test]
    fn what_may_have_been_paid_counts_against_the_cap() {
        let mut till = till(10.0);
        till.doubtful(&AskKey::new("a"), 2, &usage(4, 0), None);
        assert_eq!(till.tally().n_doubtful, 2);
        assert!(!till.reserve(&AskKey::new("b"), &usage(3, 0)));
        till.doubtful(&AskKey::new("a"), 0, &usage(4, 0), None);
        assert!(till.reserve(&AskKey::new("b"), &usage(3, 0)));
        assert!(till.tally().doubtful_cost.abs() < 1e-12);
    }

    #[test]
    fn an_answer_costs_what_it_cost_when_it_came() {
        let mut till = till(10.0);
        let dear = Prices { input: 3_000_000.0, ..Prices::default() };
        till.paid_before(&usage(2, 0), Some(dear));
        till.paid_before(&usage(2, 0), None);
        till.known(&AskKey::new("a"), &usage(2, 0), Some(dear));
        till.doubtful(&AskKey::new("b"), 1, &usage(1, 0), Some(dear));
        let tally = till.tally();
        for (cost, expected) in
            [(tally.cost_in_all, 8.0), (tally.cost_used, 6.0), (tally.doubtful_cost, 3.0)]
        {
            assert!((cost - expected).abs() < 1e-12, "{cost} {expected}");
        }
    }
}
