//! Models behind endpoints, against a stand-in server that makes every kind of trouble.

mod asking;
mod drawing;
mod stand_in;
