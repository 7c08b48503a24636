//! Networks as values, from outside: operators, gradients, whole families of networks, hostile files.

mod families;
mod gradients;
mod gradients_by_difference;
mod gradients_by_hand;
mod hostile;
mod hostile_nodes;
mod networks;
mod operator_page;
mod operators;
mod scalars;
