//! Writing a file so that nobody ever sees half of it.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{FileError, Problem};

/// A file that appears under its name only when [`AtomicFile::commit`] succeeds.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    inner: BufWriter<NamedTempFile>,
}

impl AtomicFile {
    /// Opens a temporary file beside `path`. The folder must exist.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let temporary = tempfile::Builder::new()
            .prefix(".mohs-")
            .suffix(".part")
            .tempfile_in(folder)
            .map_err(|cause| FileError::cannot_write(path, cause))?;
        Ok(Self { path: path.to_owned(), inner: BufWriter::with_capacity(1 << 16, temporary) })
    }

    /// Returns the name the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, replacing what stood there.
    pub fn commit(self) -> Result<(), FileError> {
        let Self { path, inner } = self;
        let failed = |cause| FileError::cannot_write(&path, cause);
        let temporary = inner.into_inner().map_err(|error| failed(error.into_error()))?;
        make_readable(temporary.as_file()).map_err(failed)?;
        temporary
            .persist(&path)
            .map(|_| ())
            .map_err(|error| FileError::new(&path, Problem::CannotWrite(error.error)))
    }
}

/// Gives the file the rights an ordinary new file has; temporary files start private.
#[cfg(unix)]
fn make_readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_file: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

/// Writes a whole file atomically.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|cause| FileError::cannot_write(path, cause))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_file_never_appears() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half of the n").unwrap();
        drop(file);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_committed_file_replaces_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ä b.csv");
        std::fs::write(&path, "old").unwrap();
        write_file(&path, b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    }
}
