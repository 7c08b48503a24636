//! Labels in file names: letters and digits only, one for each id.

use std::collections::{BTreeMap, BTreeSet};

/// Makes a label for each id, told apart by a number where two would be the same.
///
/// Labels follow the sorted ids, so that the order of rows changes nothing.
pub(super) fn labels<'a>(ids: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let ids: BTreeSet<&str> = ids.into_iter().collect();
    let mut used = BTreeSet::new();
    let mut labels = BTreeMap::new();
    for id in ids {
        let plain = plain(id);
        let mut label = plain.clone();
        let mut n = 1;
        // Names of files are not told apart by case everywhere.
        while !used.insert(label.to_lowercase()) {
            n += 1;
            label = format!("{plain}x{n}");
        }
        labels.insert(id, label);
    }
    labels
}

/// Keeps letters and digits of ASCII; something that has none is called `x`.
pub(super) fn plain(id: &str) -> String {
    let label: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
    if label.is_empty() { "x".into() } else { label }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_differ_only_in_signs_get_labels_of_their_own() {
        let labels = labels(["p-1", "p1", "P_1", "größe", "測試", "p-1"]);
        let values: Vec<&str> = labels.values().map(String::as_str).collect();
        assert_eq!(values, ["P1", "gre", "p1x2", "p1x3", "x"]);
    }
}
