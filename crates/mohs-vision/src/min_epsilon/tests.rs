//! The smallest ε on small models.
