//! Secrets and what is signed with them: tokens of sessions, links, participants' keys.
//!
//! Everything is an HMAC-SHA-256 under the one secret of the database, with a word in front that says
//! what it is for, so that a signature made for one thing is worth nothing for another.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The secret of a database, ready to sign.
#[derive(Clone)]
pub struct Secret(Hmac<Sha256>);

/// Who may look at a study, and who may change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// May do everything.
    Owner,
    /// May look.
    Viewer,
}

impl Role {
    /// Returns the word in tokens.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Viewer => "viewer",
        }
    }
}

impl Secret {
    /// Takes a secret from its hexadecimal text; none if it is too short to be one.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: Option<Vec<u8>> = (0..text.len() / 2)
            .map(|idx| u8::from_str_radix(text.get(2 * idx..2 * idx + 2)?, 16).ok())
            .collect();
        let bytes = bytes.filter(|bytes| 32 <= bytes.len())?;
        Some(Self(Hmac::new_from_slice(&bytes).ok()?))
    }

    /// Signs `text` for one purpose; hexadecimal.
    pub fn sign(&self, purpose: &str, text: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(purpose.as_bytes());
        mac.update(b"\0");
        mac.update(text.as_bytes());
        hex(&mac.finalize().into_bytes())
    }

    /// Says whether a signature is ours, in a time that does not depend on how much of it is right.
    pub fn is_signed(&self, purpose: &str, text: &str, signature: &str) -> bool {
        let ours = self.sign(purpose, text);
        let differing = ours.bytes().zip(signature.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        ours.len() == signature.len() && differing == 0
    }

    /// Returns the token of an epoch.
    pub fn epoch_token(&self, session: &str, epoch: u32) -> String {
        let text = format!("{session}.{epoch}");
        let signature = self.sign("epoch", &text);
        format!("{text}.{signature}")
    }

    /// Returns the session and epoch of a token of ours.
    pub fn read_epoch_token(&self, token: &str) -> Option<(String, u32)> {
        let (text, signature) = token.rsplit_once('.')?;
        let (session, epoch) = text.split_once('.')?;
        let epoch = epoch.parse().ok()?;
        self.is_signed("epoch", text, signature).then(|| (session.to_owned(), epoch))
    }

    /// Returns the token of a link that shows a study without counting.
    pub fn preview_token(&self, study: &str, until_ms: i64) -> String {
        format!("{until_ms}.{}", self.sign("preview", &format!("{study}.{until_ms}")))
    }

    /// Says whether a preview link is ours and still good.
    pub fn is_preview(&self, study: &str, token: &str, now_ms: i64) -> bool {
        let Some((until, signature)) = token.split_once('.') else { return false };
        let is_good = until.parse::<i64>().is_ok_and(|until| now_ms < until);
        is_good && self.is_signed("preview", &format!("{study}.{until}"), signature)
    }

    /// Returns the token that opens the admin pages.
    pub fn admin_token(&self, role: Role) -> String {
        format!("{}.{}", role.as_str(), &self.sign("admin", role.as_str())[..40])
    }

    /// Returns what an admin token allows.
    pub fn role(&self, token: &str) -> Option<Role> {
        [Role::Owner, Role::Viewer].into_iter().find(|role| {
            let ours = self.admin_token(*role);
            // Compared by their signatures, so that time tells nothing.
            self.is_signed("compare", &ours, &self.sign("compare", token))
        })
    }

    /// Returns the key under which a participant is kept: a hash that cannot be turned back.
    pub fn participant(&self, recruiter: &str, id: &str) -> String {
        self.sign("participant", &format!("{recruiter}\0{id}"))[..32].to_owned()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// Returns bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn digit(half: u8) -> char {
    char::from(b"0123456789abcdef"[usize::from(half)])
}

/// Returns the hexadecimal SHA-256 of some texts, one after the other.
pub fn sha256(parts: &[&str]) -> String {
    hex(&digest(parts))
}

/// Says whether that is their hexadecimal SHA-256.
pub fn is_sha256(parts: &[&str], hash: &str) -> bool {
    let digits = digest(parts).into_iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.eq(hash.chars())
}

fn digest(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

/// Returns random bytes from the system.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("because every system we run on has random numbers");
    bytes
}

/// Returns a new id that nobody can guess.
pub fn fresh_id() -> String {
    hex(&random::<16>())
}

/// Returns a new seed, small enough for any database.
pub fn fresh_seed() -> u64 {
    u64::from_le_bytes(random()) >> 1
}

/// Returns a completion code: ten letters and digits that are not mistaken for each other.
pub fn fresh_code() -> String {
    const SIGNS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    random::<10>().iter().map(|byte| char::from(SIGNS[usize::from(byte & 31)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> Secret {
        Secret::parse(&"a7".repeat(32)).unwrap()
    }

    #[test]
    fn a_token_is_good_for_its_session_and_epoch_only() {
        let token = secret().epoch_token("s1", 2);
        assert_eq!(secret().read_epoch_token(&token), Some(("s1".into(), 2)));
        assert_eq!(secret().read_epoch_token(&token.replace("s1.2", "s1.3")), None);
        assert_eq!(secret().read_epoch_token(&token.replace("s1.2", "s2.2")), None);
        assert_eq!(secret().read_epoch_token("s1.2."), None);
    }

    #[test]
    fn a_signature_for_one_thing_is_worth_nothing_for_another() {
        let signature = secret().sign("epoch", "s1.1");
        assert!(!secret().is_signed("preview", "s1.1", &signature));
        assert!(!secret().is_signed("epoch", "s1.1", ""));
    }

    #[test]
    fn a_preview_link_ends() {
        let token = secret().preview_token("cats", 1_000);
        assert!(secret().is_preview("cats", &token, 999));
        assert!(!secret().is_preview("cats", &token, 1_000));
        assert!(!secret().is_preview("dogs", &token, 999));
    }

    #[test]
    fn a_role_follows_from_its_token() {
        let owner = secret().admin_token(Role::Owner);
        assert_eq!(secret().role(&owner), Some(Role::Owner));
        assert_eq!(secret().role(&owner.replace("owner", "viewer")), None);
        assert_eq!(secret().role(""), None);
    }

    #[test]
    fn a_short_secret_is_none() {
        assert!(Secret::parse("a7").is_none());
    }
}
