//! The files: how nouns are read and written.
//!
//! Tables (trials, predictions, stimuli …) share one core, [`table`]: a noun says which columns it
//! has and how a row becomes a value, the core does CSV and Parquet, versions, extra columns and
//! places in error messages. Documents (`study.toml`, `eval.toml`, annotations) are read whole.
//! Every writer writes to a temporary name in the same folder and renames, so that a killed run
//! leaves the old file or the new one, never half of one.

pub mod atomic;
pub mod coco;
mod csv_rows;
pub(crate) mod document;
pub mod export;
pub mod file_list;
pub mod image_folder;
pub mod import;
pub mod label_counts;
pub mod labelme;
mod noun;
mod parquet_rows;
pub mod response_matrix;
mod stimuli;
pub mod table;

pub use document::read_prose;
pub use noun::noun_of;
pub use stimuli::{folder_of_stimuli, read_stimuli};
pub use table::{ReadOptions, TableReader, TableWriter, read_all, write_all};
