//! Keys of endpoints: read from the environment, here and nowhere else, and never shown.

use std::env::VarError;

use mohs_data::EndpointEntry;
use mohs_vision::endpoint::Secret;

use crate::error::CliError;

/// Returns the key in the variable that an endpoint names; `None` for an endpoint without one.
pub(crate) fn read(entry: &EndpointEntry, whose: &str) -> Result<Option<Secret>, CliError> {
    let Some(name) = &entry.key_env else { return Ok(None) };
    let key = match std::env::var(name) {
        Err(VarError::NotUnicode(_)) => {
            return Err(CliError::input(format!("the key in ${name} is no text"))
                .hint("set it again, as the endpoint's owner shows it"));
        }
        found => found.map(|key| Secret::new(&key)).ok(),
    };
    match key.filter(|key| !key.is_empty()) {
        Some(key) => Ok(Some(key)),
        None => Err(CliError::input(format!("`{whose}` needs a key, and ${name} is not set"))
            .hint(format!("set it for this one run: {name}=… mohs …"))),
    }
}
