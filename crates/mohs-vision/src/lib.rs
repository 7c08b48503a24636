//! Pixels, the built-in world and the engines that run models.
//!
//! [`pixels`] reads, shrinks and writes pictures; [`world`] draws them from a seed, so that a study
//! can run without a download. [`input`] turns pictures into what a model takes, [`probe`] changes
//! them on the way, [`network`] is a model file ready to run, [`engine`] is what runs it, and
//! [`run`] keeps the engine fed. [`labels`] turns outputs into labels, and [`evaluate`] puts all of
//! it together; [`min_epsilon`] attacks. [`networks`] makes small networks and [`fit`] trains any.
//! [`stimulus`] makes what people are shown. [`endpoint`] asks models over the internet, and is the
//! only part that does; [`commission`] has a ladder described and drawn through it. Nothing here
//! talks to a terminal. Read [`world`] or [`engine`] next.

pub mod commission;
pub mod endpoint;
pub mod engine;
pub mod evaluate;
pub mod fit;
pub mod input;
pub mod labels;
pub mod masks;
pub mod min_epsilon;
pub mod network;
pub mod networks;
pub mod pixels;
pub mod probe;
pub mod run;
pub mod stimulus;
pub mod world;
