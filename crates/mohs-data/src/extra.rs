//! Columns that mean nothing to `mohs` but something to the person who sent them: kept, in order.

use std::sync::Arc;

use compact_str::CompactString;

/// The extra cells of one row.
///
/// The names are shared by all rows of a file. Invariant: as many values as names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extra {
    names: Option<Arc<[CompactString]>>,
    values: Vec<CompactString>,
}

impl Extra {
    /// Pairs names with values; `None` if their numbers differ.
    pub fn new(names: Arc<[CompactString]>, values: Vec<CompactString>) -> Option<Self> {
        if names.len() != values.len() {
            return None;
        }
        let names = (!names.is_empty()).then_some(names);
        Some(Self { names, values })
    }

    /// Builds the cells from pairs, for code that makes a few rows.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let (names, values): (Vec<CompactString>, Vec<CompactString>) =
            pairs.into_iter().map(|(name, value)| (name.into(), value.into())).unzip();
        let names = (!names.is_empty()).then(|| names.into());
        Self { names, values }
    }

    /// Returns the names, in file order.
    pub fn names(&self) -> &[CompactString] {
        self.names.as_deref().unwrap_or_default()
    }

    /// Returns the cell named `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        let idx = self.names().iter().position(|n| n == name)?;
        Some(&self.values[idx])
    }

    /// Returns name and cell, in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names().iter().zip(&self.values).map(|(n, v)| (n.as_str(), v.as_str()))
    }

    /// Returns whether there is no extra cell.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_found_by_its_name() {
        let extra = Extra::from_pairs([("lab", "B12".to_owned()), ("eye", "left".to_owned())]);
        assert_eq!(extra.get("eye"), Some("left"));
        assert_eq!(extra.get("ear"), None);
        assert_eq!(extra.iter().collect::<Vec<_>>(), [("lab", "B12"), ("eye", "left")]);
    }

    #[test]
    fn names_and_values_must_pair_up() {
        assert!(Extra::new(Arc::from(["a".into()]), vec![]).is_none());
    }
}
