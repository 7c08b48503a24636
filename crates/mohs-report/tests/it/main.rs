//! Whole reports: what they hold, what they refuse to load, and what cannot break them.

mod attacks;
mod attacks_fixture;
mod fixture;
mod ladder;
mod models;
mod models_fixture;
mod page;
mod pairs;
mod speed_accuracy;
mod summary;
mod text;
