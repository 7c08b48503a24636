//! What happens in a session, each step one function over a transaction.
//!
//! Steps check everything first and write afterwards: a refusal leaves nothing behind, except that
//! both of two conflicting events are kept. Nothing is remembered outside the store.

pub mod block;
pub mod end;
pub mod join;
pub mod launch;
pub mod lease;
pub mod proof;
pub mod receive;
pub mod recover;
pub mod withdraw;

use crate::error::ApiError;
use crate::store::StoreError;

/// What a step returns: the store's failure outside, a refusal inside.
pub type Step<T> = Result<Result<T, ApiError>, StoreError>;
