//! Outputs and features beside the predictions: for each model a `.npy` file with one row per
//! answer, and a `.csv` file that says which stimulus and probe each row belongs to.
//!
//! Failed predictions have no row, so that no file holds numbers that nobody computed.

use std::io::Write;
use std::path::{Path, PathBuf};

use mohs_data::format::atomic::AtomicFile;
use mohs_data::{FileError, ModelName, Prediction};

/// Numbers of one model on their way into a pair of files.
#[derive(Debug)]
pub struct SideTable {
    numbers: AtomicFile,
    index: AtomicFile,
    n_rows: usize,
    n_columns: usize,
}

/// The length of the header: room for any number of rows, and numbers start at a multiple of 64.
const N_HEADER: usize = 128;

impl SideTable {
    /// Starts the files of a model in a folder, which is made if it is not there.
    pub fn create(
        folder: &Path,
        model: &ModelName,
        n_columns: usize,
    ) -> Result<SideTable, FileError> {
        std::fs::create_dir_all(folder).map_err(|cause| FileError::cannot_write(folder, cause))?;
        let [numbers, index] = paths(folder, model);
        let mut numbers = AtomicFile::create(&numbers)?;
        let mut index = AtomicFile::create(&index)?;
        write(&mut numbers, &[b' '; N_HEADER])?;
        write(&mut index, b"row,stimulus,probe\n")?;
        Ok(SideTable { numbers, index, n_rows: 0, n_columns })
    }

    /// Adds the numbers that belong to a prediction; they must be as many as there are columns.
    pub fn push(&mut self, prediction: &Prediction, row: &[f32]) -> Result<(), FileError> {
        debug_assert_eq!(row.len(), self.n_columns);
        let bytes: Vec<u8> = row.iter().flat_map(|number| number.to_le_bytes()).collect();
        write(&mut self.numbers, &bytes)?;
        let (stimulus, probe) = (cell(prediction.stimulus.as_str()), cell(&prediction.probe));
        write(&mut self.index, format!("{},{stimulus},{probe}\n", self.n_rows).as_bytes())?;
        self.n_rows += 1;
        Ok(())
    }

    /// Ends the files and gives them their names.
    pub fn finish(mut self) -> Result<PathBuf, FileError> {
        let path = self.numbers.path().to_owned();
        self.numbers.write_at_start(&header(self.n_rows, self.n_columns))?;
        self.numbers.commit()?;
        self.index.commit()?;
        Ok(path)
    }
}

fn write(file: &mut AtomicFile, bytes: &[u8]) -> Result<(), FileError> {
    let written = file.write_all(bytes);
    written.map_err(|cause| FileError::cannot_write(file.path(), cause))
}

/// Where the numbers and the index of a model lie.
pub fn paths(folder: &Path, model: &ModelName) -> [PathBuf; 2] {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    let mut name: String =
        model.as_str().chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    if name != model.as_str() || name.starts_with('.') {
        // Two names may become one; what they were made of keeps them apart.
        let hash = blake3::hash(model.as_str().as_bytes()).to_hex();
        name = format!("{}-{}", name.trim_start_matches('.'), &hash[..8]);
    }
    [folder.join(format!("{name}.npy")), folder.join(format!("{name}.csv"))]
}

fn header(n_rows: usize, n_columns: usize) -> Vec<u8> {
    let text =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}");
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    let n_text = N_HEADER - 10;
    header.extend_from_slice(&u16::try_from(n_text).unwrap_or(u16::MAX).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header.resize(N_HEADER - 1, b' ');
    header.push(b'\n');
    header
}

/// Returns a cell of CSV, in quotes where it needs them.
pub fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_what_numpy_reads() {
        let header = header(980, 1000);
        assert_eq!(header.len(), N_HEADER);
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let text = String::from_utf8_lossy(&header[10..]).into_owned();
        let start = "{'descr': '<f4', 'fortran_order': False, 'shape': (980, 1000), }";
        assert!(text.starts_with(start) && text.ends_with(" \n"));
    }

    #[test]
    fn names_of_models_become_names_of_files_and_stay_apart() {
        let name = |model: &str| {
            let [path, _] = paths(Path::new(""), &ModelName::new(model));
            path.to_string_lossy().into_owned()
        };
        assert_eq!(name("resnet50.a1_in1k"), "resnet50.a1_in1k.npy");
        assert_ne!(name("a/b"), name("a b"));
        assert!(!name("../x").contains('/'));
    }
}
