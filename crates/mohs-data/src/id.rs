//! Identities: short texts that name a participant, a stimulus, a trial, a model or a class.
//!
//! Each is its own type so that a participant can never be joined on a stimulus column. They are
//! compact (24 bytes, no allocation for short texts) because ten million trials carry four each.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(CompactString);

        impl $name {
            /// Wraps a text as it stands: no trimming, no case folding.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(CompactString::new(text))
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
    };
}

identity! {
    /// Names a person who takes part.
    ParticipantId
}
identity! {
    /// Names one sitting of a participant.
    SessionId
}
identity! {
    /// Names the thing shown.
    StimulusId
}
identity! {
    /// Names one showing with its response.
    TrialId
}
identity! {
    /// Names a class a stimulus can belong to and a participant can answer.
    Label
}
identity! {
    /// Names a model in predictions and reports.
    ModelName
}
