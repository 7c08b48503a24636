//! What does a model know, if it may be asked only a part of a ladder?
//!
//! A [`Ladder`] is a set of stimuli, each with a class, an attribute and a level. An
//! [`AdaptiveTest`] asks for some of them in rounds, chosen by a [`Design`]; what came back is a
//! [`Record`], and an [`EstimatorKind`] turns it into accuracies and scores of the whole ladder,
//! with intervals. `test.rs` is the loop; one design is one file (`static_k.rs`, `neyman.rs`,
//! `gre.rs`) and one estimator is one file in `estimator/`; `logit.rs` forecasts answers, `cells.rs`
//! looks at single classes and attributes, `findings.rs` is the chapter of `summary.json`.
//!
//! # Why the default is unbiased
//!
//! ```text
//! accuracy = Σ_h W_h T_h,      E[T_h | rounds before] = the mean of stratum h
//! ```
//!
//! Strata come in random order, in rounds. How many stimuli of a stratum are asked, what is
//! forecast for them and how far the forecast is believed depends on earlier rounds and on
//! reference models alone, never on the answers of the stratum itself. So every stratum's error has
//! mean zero given the past, errors of strata are not correlated, and variances add up. The paper's
//! design chooses by the stratum's own answers, which is why plain means of it are biased.
//!
//! # References
//!
//! - J. Neyman (1934), "On the two different aspects of the representative method".
//! - A. N. Angelopoulos, J. C. Duchi, T. Zrnic (2023), "PPI++: efficient prediction-powered
//!   inference".
//! - T. Zrnic, E. J. Candès (2024), "Active statistical inference".

mod allocation;
mod cells;
mod design;
pub mod estimator;
mod findings;
mod gre;
mod interval;
mod logit;
mod neyman;
mod population;
mod record;
mod reference_models;
mod static_k;
mod test;
mod top_up;

pub use self::cells::cells;
pub use self::design::{Design, UnknownDesign};
pub use self::estimator::{Estimator, EstimatorKind, Moments, UnknownEstimator};
pub use self::findings::{
    AdaptiveTestFinding, CellFinding, GroupFinding, NoClass, Request, RoundFinding, Spent,
    SpentAtEndpoint, findings,
};
pub use self::gre::{Routing, RoutingRow};
pub use self::interval::interval;
pub use self::population::{Group, Kind, Ladder, LadderError, Place, StrataBy, Stratum, Tags};
pub use self::record::{Asked, Question, Record, Why};
pub use self::reference_models::{Hints, ReferenceModels, Unanswered};
pub use self::test::{AdaptiveTest, Width};
