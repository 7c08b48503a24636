//! Attacks on small models.
