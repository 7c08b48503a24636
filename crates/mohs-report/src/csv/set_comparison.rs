//! Two sets compared, as CSV: one row per number.

use mohs_data::Estimate;
use mohs_score::human::set_comparison::SetComparison;

use crate::escape::csv_line;
use crate::number::raw;

/// Returns one row per number, with its interval and n, or its p-value.
pub(super) fn rows(found: &SetComparison) -> String {
    let headers = ["quantity", "group", "value", "low", "high", "n", "p_value"];
    let mut csv = csv_line(headers.map(str::to_owned));
    let mut push = |quantity: &str, group: &str, estimate: &Estimate| {
        let [value, low, high] = [estimate.value, estimate.low, estimate.high].map(raw);
        let n = estimate.n.to_string();
        csv += &csv_line([quantity.into(), group.into(), value, low, high, n, String::new()]);
    };
    for set in [&found.a, &found.b] {
        push("mean", &set.name, &set.mean);
        push("median", &set.name, &set.median);
    }
    push("difference_of_means", "", &found.difference_of_means);
    push("difference_of_medians", "", &found.difference_of_medians);
    push("p_a_harder", "", &found.p_a_harder);
    if let Some(difference) = found.paired.as_ref().and_then(|paired| paired.difference.as_ref()) {
        push("paired_difference", "", difference);
    }
    for shares in &found.bands {
        push("band_share_a", &shares.band, &shares.a);
        push("band_share_b", &shares.band, &shares.b);
        push("band_share_difference", &shares.band, &shares.difference);
    }
    for (name, test) in
        [("kolmogorov_smirnov", &found.kolmogorov_smirnov), ("mann_whitney", &found.mann_whitney)]
    {
        let n = (test.n_a + test.n_b).to_string();
        let empty = String::new;
        let (statistic, p) = (raw(test.statistic), raw(test.p_value));
        csv += &csv_line([name.into(), empty(), statistic, empty(), empty(), n, p]);
    }
    csv
}
