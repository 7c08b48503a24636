//! Designs by name.

use mohs_data::nearest;
use serde::{Deserialize, Serialize};

use super::gre::Routing;

/// How stimuli are chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Design {
    /// The same from every stratum, whatever is answered.
    Static {
        /// Stimuli from each stratum; the budget's share of each where this is not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_stratum: Option<usize>,
    },
    /// The paper's two rounds.
    Gre {
        /// Which questions follow which points.
        routing: Routing,
    },
    /// More where answers vary more, by earlier rounds.
    Neyman,
}

/// A design nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no design `{found}`")]
pub struct UnknownDesign {
    /// What was asked for.
    pub found: String,
    /// The name it resembles most, if any.
    pub nearest: Option<String>,
}

impl Design {
    /// Names that [`Design::parse`] knows, besides `static-` with any number.
    pub const NAMES: [&str; 6] =
        ["neyman", "static", "static-3", "gre", "gre-appendix", "gre-steep"];

    /// Parses a name.
    pub fn parse(name: &str) -> Result<Self, UnknownDesign> {
        let per_stratum = name.strip_prefix("static-").and_then(|k| k.parse::<usize>().ok());
        match name {
            "neyman" => Ok(Self::Neyman),
            "static" => Ok(Self::Static { per_stratum: None }),
            "gre" => Ok(Self::Gre { routing: Routing::paper() }),
            "gre-appendix" => Ok(Self::Gre { routing: Routing::appendix() }),
            "gre-steep" => Ok(Self::Gre { routing: Routing::steep() }),
            _ if per_stratum.is_some_and(|k| 0 < k) => Ok(Self::Static { per_stratum }),
            _ => Err(UnknownDesign { found: name.to_owned(), nearest: nearest(name, Self::NAMES) }),
        }
    }

    /// Returns the name; a table of its own makes the paper's design `gre`.
    pub fn name(&self) -> String {
        match self {
            Self::Static { per_stratum: None } => "static".into(),
            Self::Static { per_stratum: Some(k) } => format!("static-{k}"),
            Self::Gre { routing } if *routing == Routing::appendix() => "gre-appendix".into(),
            Self::Gre { routing } if *routing == Routing::steep() => "gre-steep".into(),
            Self::Gre { .. } => "gre".into(),
            Self::Neyman => "neyman".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_designs_go_both_ways() {
        for name in Design::NAMES {
            assert_eq!(Design::parse(name).unwrap().name(), name);
        }
        assert_eq!(Design::parse("static-5").unwrap(), Design::Static { per_stratum: Some(5) });
    }

    #[test]
    fn a_slip_of_the_hand_is_understood() {
        let error = Design::parse("neymann").unwrap_err();
        assert_eq!(error.to_string(), "there is no design `neymann`");
        assert_eq!(error.nearest.as_deref(), Some("neyman"));
        assert!(Design::parse("static-0").is_err());
    }
}
