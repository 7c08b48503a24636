//! Scales: from numbers to pixels, linear or logarithmic, and the round numbers on their axes.

/// How numbers are spread over pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spread {
    Linear,
    Log,
}

/// A map from numbers to pixels.
///
/// Numbers outside the domain are drawn at its end, so that no mark leaves its chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    spread: Spread,
    domain: (f64, f64),
    range: (f64, f64),
}

/// Smallest number a logarithmic scale shows; times below a hundredth of a frame are no times.
const SMALLEST: f64 = 0.1;

impl Scale {
    pub(crate) fn linear(domain: (f64, f64), range: (f64, f64)) -> Self {
        Self { spread: Spread::Linear, domain, range }
    }

    pub(crate) fn log(domain: (f64, f64), range: (f64, f64)) -> Self {
        let domain = (domain.0.max(SMALLEST), domain.1.max(SMALLEST));
        Self { spread: Spread::Log, domain, range }
    }

    /// Returns the pixel of a number; the middle when the domain is a single number.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let (from, to) = (self.warp(self.domain.0), self.warp(self.domain.1));
        let span = to - from;
        let share = if span.abs() < 1e-12 || !value.is_finite() {
            0.5
        } else {
            ((self.warp(value) - from) / span).clamp(0.0, 1.0)
        };
        self.range.0 + share * (self.range.1 - self.range.0)
    }

    /// Returns round numbers inside the domain, about `n_wanted` of them.
    pub(crate) fn ticks(&self, n_wanted: usize) -> Vec<f64> {
        match self.spread {
            Spread::Linear => linear_ticks(self.domain, n_wanted),
            Spread::Log => log_ticks(self.domain, n_wanted),
        }
    }

    fn warp(&self, value: f64) -> f64 {
        match self.spread {
            Spread::Linear => value,
            Spread::Log => value.max(SMALLEST).log10(),
        }
    }
}

/// Returns the smallest of 1, 2, 5 times a power of ten that makes at most `n_wanted` steps.
#[expect(clippy::cast_precision_loss, reason = "an axis has a handful of ticks")]
fn round_step(span: f64, n_wanted: usize) -> f64 {
    let rough = span / n_wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let lead = rough / power;
    let round = [1.0, 2.0, 5.0].into_iter().find(|round| lead <= round * 1.000_001);
    round.unwrap_or(10.0) * power
}

fn linear_ticks((from, to): (f64, f64), n_wanted: usize) -> Vec<f64> {
    let span = to - from;
    if !span.is_finite() || span <= 0.0 {
        return vec![from];
    }
    let step = round_step(span, n_wanted);
    let first = (from / step).ceil();
    let tick = |idx: u32| (first + f64::from(idx)) * step;
    (0..100).map(tick).take_while(|tick| *tick <= to + step * 1e-6).collect()
}

fn log_ticks((from, to): (f64, f64), n_wanted: usize) -> Vec<f64> {
    let ladders: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let ticks_of = |leads: &[f64]| -> Vec<f64> {
        let decades = (-2..8).map(|power| 10f64.powi(power));
        let ticks = decades.flat_map(|decade| leads.iter().map(move |lead| lead * decade));
        ticks.filter(|tick| from * 0.999 <= *tick && *tick <= to * 1.001).collect()
    };
    let fitting = ladders.iter().map(|leads| ticks_of(leads)).find(|t| t.len() <= n_wanted);
    fitting.unwrap_or_else(|| ticks_of(&[1.0]))
}

/// Returns the narrowest range of 1, 2, 5 times powers of ten that holds two positive numbers, so
/// that an axis of times has a round number at each end.
pub(crate) fn round_log_range((low, high): (f64, f64)) -> (f64, f64) {
    let (low, high) = (low.max(SMALLEST), high.max(SMALLEST));
    if !low.is_finite() || !high.is_finite() {
        return (1.0, 10_000.0);
    }
    let decades = || (-1..8).map(|power| 10f64.powi(power));
    let rounds = || decades().flat_map(|decade| [1.0, 2.0, 5.0].map(|lead| lead * decade));
    let from = rounds().take_while(|round| *round <= low * 1.000_001).last();
    let to = rounds().find(|round| high <= round * 1.000_001);
    (from.unwrap_or(low), to.unwrap_or(high))
}

/// Returns the end of an axis from 0 that holds `max` and ends on a round number.
pub(crate) fn round_end(max: f64, n_wanted: usize) -> f64 {
    if !max.is_finite() || max <= 0.0 {
        return 1.0;
    }
    let step = round_step(max, n_wanted);
    (max / step - 1e-9).ceil() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_scale_gives_each_doubling_the_same_length() {
        let scale = Scale::log((10.0, 1_000.0), (0.0, 100.0));
        let step = scale.at(40.0) - scale.at(20.0);
        assert!((scale.at(400.0) - scale.at(200.0) - step).abs() < 1e-9);
    }

    #[test]
    fn what_lies_outside_is_drawn_at_the_end() {
        let scale = Scale::linear((0.0, 1.0), (100.0, 0.0));
        assert!((scale.at(2.0) - 0.0).abs() < 1e-9);
        assert!((scale.at(-2.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_single_number_stands_in_the_middle() {
        let scale = Scale::log((17.0, 17.0), (0.0, 100.0));
        assert!((scale.at(17.0) - 50.0).abs() < 1e-9);
        assert!((scale.at(f64::NAN) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_round() {
        let linear = Scale::linear((0.0, 0.43), (0.0, 1.0)).ticks(5);
        let shown: Vec<String> = linear.iter().map(|tick| format!("{tick:.1}")).collect();
        assert_eq!(shown, ["0.0", "0.1", "0.2", "0.3", "0.4"]);
        let log = Scale::log((8.0, 12_000.0), (0.0, 1.0)).ticks(7);
        let shown: Vec<String> = log.iter().map(|tick| format!("{tick:.0}")).collect();
        assert_eq!(shown, ["10", "30", "100", "300", "1000", "3000", "10000"]);
    }

    #[test]
    fn an_axis_of_times_has_round_ends() {
        let (from, to) = round_log_range((136.0, 247.0));
        assert!((from - 100.0).abs() < 1e-9 && (to - 500.0).abs() < 1e-9);
        let (from, to) = round_log_range((0.0, f64::NAN));
        assert!(from.is_finite() && to.is_finite());
    }

    #[test]
    fn an_axis_ends_on_a_round_number() {
        assert!((round_end(0.43, 5) - 0.5).abs() < 1e-9);
        assert!((round_end(37.0, 5) - 40.0).abs() < 1e-9);
        assert!((round_end(0.0, 5) - 1.0).abs() < 1e-9);
    }
}
