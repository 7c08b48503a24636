//! Numbers as people read them: shares in percent, times in ms or s, counts with thin spaces.
//!
//! Every estimate is shown as value, interval and n: `62.1 % [58.0, 66.0]`, `68 ms [60, 77]`.

use mohs_data::{Estimate, Millis};

/// What an estimate measures, which decides how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A share from 0 to 1, shown in percent.
    Share,
    /// A time in milliseconds.
    Time,
    /// A plain number, shown with two decimals.
    Plain,
    /// A difference of two shares, shown in points of percent with its sign.
    Points,
    /// The size of a change of a picture, or a difference of two: from 0.0001 up.
    Epsilon,
}

impl Unit {
    /// Returns the suffix of column names outside Rust.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Share | Self::Plain | Self::Points | Self::Epsilon => "",
            Self::Time => "_ms",
        }
    }

    /// Returns a number of this unit without its interval: `62.1 %`, `68 ms`, `0.42`.
    pub(crate) fn value(self, value: f64) -> String {
        if !value.is_finite() {
            return "–".into();
        }
        match self {
            Self::Share => format!("{} %", fixed(value * 100.0, 1)),
            Self::Time => {
                let (divisor, unit, digits) = time_scale(value);
                format!("{} {unit}", fixed(value / divisor, digits))
            }
            Self::Plain => fixed(value, 2),
            Self::Points => signed_points(value),
            Self::Epsilon => fixed(value, epsilon_digits(value)),
        }
    }

    /// Returns the interval alone, in the unit of the value: `[58.0, 66.0]`.
    pub(crate) fn interval(self, estimate: &Estimate) -> String {
        let &Estimate { value, low, high, .. } = estimate;
        if !low.is_finite() || !high.is_finite() {
            return "[no interval]".into();
        }
        let (factor, digits) = match self {
            Self::Share | Self::Points => (100.0, 1),
            Self::Time => {
                let (divisor, _, digits) = time_scale(value);
                (1.0 / divisor, digits)
            }
            Self::Plain => (1.0, 2),
            Self::Epsilon => (1.0, epsilon_digits(value)),
        };
        format!("[{}, {}]", fixed(low * factor, digits), fixed(high * factor, digits))
    }

    /// Returns value and interval: `62.1 % [58.0, 66.0]`.
    pub(crate) fn estimate(self, estimate: &Estimate) -> String {
        format!("{} {}", self.value(estimate.value), self.interval(estimate))
    }
}

/// Returns the divisor, unit and decimals a time is shown with, decided by its value.
fn time_scale(value: f64) -> (f64, &'static str, usize) {
    match value.abs() {
        ms if ms < 9.95 => (1.0, "ms", 1),
        ms if ms < 999.5 => (1.0, "ms", 0),
        ms if ms < 9_950.0 => (1_000.0, "s", 2),
        _ => (1_000.0, "s", 1),
    }
}

/// Returns how many decimals the size of a change is shown with: three digits that matter, and
/// never more than the finest grid has.
fn epsilon_digits(value: f64) -> usize {
    match value.abs() {
        size if size < 0.00995 => 5,
        size if size < 0.0995 => 4,
        size if size < 0.995 => 3,
        _ => 2,
    }
}

/// Returns `value` with `digits` decimals, a true minus sign and groups of three digits; never
/// `-0.0`.
pub(crate) fn fixed(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let text = format!("{:.digits$}", value.abs());
    let (whole, decimals) =
        text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    let decimals = decimals.map(|rest| format!(".{rest}")).unwrap_or_default();
    format!("{sign}{}{decimals}", grouped(whole))
}

/// Returns a p-value: `p = 0.016`, or `p < 0.001`, below which digits say nothing.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".into() } else { format!("p = {}", fixed(p, 3)) }
}

/// Returns a p-value for a column that is named so: `0.016`, or `< 0.001`.
pub(crate) fn bare_p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { fixed(p, 3) }
}

/// Returns a difference of shares in points: `+3.2`.
fn signed_points(share: f64) -> String {
    let text = fixed(share * 100.0, 1);
    let is_above = text.starts_with(|c: char| c.is_ascii_digit()) && 0.0 < share;
    if is_above && text != "0.0" { format!("+{text}") } else { text }
}

/// Returns a count with thin spaces between groups of three digits: `12 480`.
pub(crate) fn count(n: usize) -> String {
    grouped(&n.to_string())
}

/// Returns a count with its noun: `1 stimulus`, `12 trials`.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Four digits stay together, as in `5000`, because that is easier to read than `5 000`.
fn grouped(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.into();
    }
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if 0 < idx && (digits.len() - idx).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Returns a time without its unit as on an axis of exposures: `17`, `1.5 s`.
pub(crate) fn axis_time(time: Millis) -> String {
    let text = time.to_string();
    text.strip_suffix(" ms").map(str::to_owned).unwrap_or(text)
}

/// Returns a raw number for CSV: enough digits to be exact, an empty text when there is none.
pub(crate) fn raw(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

/// Returns a round number as an axis shows it: `−0.5`, `2`.
pub(crate) fn round_number(value: f64) -> String {
    let text = fixed(value, 6);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low, high, confidence: 0.95, n: 9 }
    }

    #[test]
    fn a_share_is_shown_in_percent_with_its_interval() {
        assert_eq!(Unit::Share.estimate(&estimate(0.621, 0.58, 0.66)), "62.1 % [58.0, 66.0]");
    }

    #[test]
    fn a_time_is_shown_in_the_unit_of_its_value() {
        assert_eq!(Unit::Time.estimate(&estimate(68.2, 60.0, 77.4)), "68 ms [60, 77]");
        assert_eq!(
            Unit::Time.estimate(&estimate(680.0, 400.0, 12_500.0)),
            "680 ms [400, 12\u{202f}500]"
        );
        assert_eq!(Unit::Time.estimate(&estimate(1_250.0, 900.0, 1_600.0)), "1.25 s [0.90, 1.60]");
        assert_eq!(Unit::Time.estimate(&estimate(4.0, 3.0, 5.0)), "4.0 ms [3.0, 5.0]");
    }

    #[test]
    fn the_size_of_a_change_has_three_digits_that_matter() {
        assert_eq!(
            Unit::Epsilon.estimate(&estimate(0.002_586, 0.002_4, 0.002_81)),
            "0.00259 [0.00240, 0.00281]"
        );
        assert_eq!(Unit::Epsilon.value(0.049_5), "0.0495");
        assert_eq!(Unit::Epsilon.value(1.234), "1.23");
        assert_eq!(Unit::Epsilon.value(0.0), "0.00000");
    }

    #[test]
    fn a_number_that_is_none_is_a_dash() {
        assert_eq!(Unit::Share.value(f64::NAN), "–");
        assert_eq!(Unit::Time.interval(&estimate(1.0, f64::NEG_INFINITY, 2.0)), "[no interval]");
        assert_eq!(fixed(f64::INFINITY, 1), "–");
        assert_eq!(raw(f64::NAN), "");
    }

    #[test]
    fn a_rounded_zero_has_no_sign() {
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(fixed(-1.5, 1), "−1.5");
    }

    #[test]
    fn a_difference_of_shares_has_its_sign() {
        assert_eq!(Unit::Points.estimate(&estimate(0.032, -0.004, 0.068)), "+3.2 [−0.4, 6.8]");
        assert_eq!(Unit::Points.value(-0.5), "−50.0");
        assert_eq!(Unit::Points.value(0.0001), "0.0");
    }

    #[test]
    fn a_small_p_value_is_below_a_thousandth() {
        assert_eq!(bare_p_value(0.000_2), "< 0.001");
        assert_eq!(bare_p_value(0.0164), "0.016");
    }

    #[test]
    fn counts_are_grouped_from_five_digits() {
        assert_eq!(count(5_000), "5000");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(counted(1, "stimulus", "stimuli"), "1 stimulus");
    }
}
