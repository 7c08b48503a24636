//! Writing a file so that nobody ever sees half of it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{FileError, Problem};

/// A file that appears under its name only when [`AtomicFile::commit`] succeeds.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    inner: BufWriter<Unfinished>,
}

/// The file before it has its name.
#[derive(Debug)]
enum Unfinished {
    /// Under a name of its own; it vanishes when given up.
    Hidden(NamedTempFile),
    /// Under the final name with `.part` behind it.
    InView(InView),
}

#[derive(Debug)]
struct InView {
    file: File,
    part: PathBuf,
    is_named: bool,
}

impl Drop for InView {
    fn drop(&mut self) {
        if !self.is_named {
            // What is left behind does no harm: the next writer starts it again.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

impl Unfinished {
    fn file(&mut self) -> &mut File {
        match self {
            Unfinished::Hidden(temporary) => temporary.as_file_mut(),
            Unfinished::InView(in_view) => &mut in_view.file,
        }
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
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
        Ok(Self::over(path, Unfinished::Hidden(temporary)))
    }

    /// Opens `path` with `.part` behind it, for long work that people want to look into; what an
    /// earlier run left there is started again. Only one process at a time may write it.
    pub fn create_in_view(path: &Path) -> Result<Self, FileError> {
        let mut name = path.file_name().map_or(OsString::new(), ToOwned::to_owned);
        name.push(".part");
        let part = path.with_file_name(name);
        let failed = |cause| FileError::cannot_write(&part, cause);
        loop {
            let file = OpenOptions::new().create(true).write(true).truncate(false).open(&part);
            let file = file.map_err(failed)?;
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                return Err(failed(io::Error::other("another mohs is writing it")));
            }
            // Whoever wrote it before may have given it its name since it was opened.
            if !part.exists() {
                continue;
            }
            file.set_len(0).map_err(failed)?;
            let in_view = InView { file, part: part.clone(), is_named: false };
            return Ok(Self::over(path, Unfinished::InView(in_view)));
        }
    }

    fn over(path: &Path, unfinished: Unfinished) -> Self {
        Self { path: path.to_owned(), inner: BufWriter::with_capacity(1 << 16, unfinished) }
    }

    /// Returns the name the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the first bytes, for headers that count what follows them.
    pub fn write_at_start(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let replaced = self.inner.flush().and_then(|()| {
            let file = self.inner.get_mut().file();
            file.seek(SeekFrom::Start(0))?;
            file.write_all(bytes)?;
            file.seek(SeekFrom::End(0)).map(|_| ())
        });
        replaced.map_err(|cause| FileError::cannot_write(&self.path, cause))
    }

    /// Gives the file its name, replacing what stood there.
    pub fn commit(self) -> Result<(), FileError> {
        let Self { path, inner } = self;
        let failed = |cause| FileError::cannot_write(&path, cause);
        let unfinished = inner.into_inner().map_err(|error| failed(error.into_error()))?;
        match unfinished {
            Unfinished::Hidden(temporary) => {
                make_readable(temporary.as_file()).map_err(failed)?;
                temporary
                    .persist(&path)
                    .map(|_| ())
                    .map_err(|error| FileError::new(&path, Problem::CannotWrite(error.error)))
            }
            Unfinished::InView(mut in_view) => {
                std::fs::rename(&in_view.part, &path).map_err(failed)?;
                in_view.is_named = true;
                Ok(())
            }
        }
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
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
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
    fn a_file_in_view_has_one_writer_and_goes_or_gets_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let part = folder.path().join("a.csv.part");
        std::fs::write(&part, "left behind by a run that was killed").unwrap();
        let mut file = AtomicFile::create_in_view(&path).unwrap();
        file.write_all(b"0 rows").unwrap();
        file.flush().unwrap();
        assert_eq!(std::fs::read_to_string(&part).unwrap(), "0 rows");
        assert!(AtomicFile::create_in_view(&path).is_err());
        file.write_at_start(b"9").unwrap();
        file.write_all(b".").unwrap();
        file.commit().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "9 rows.");
        assert!(!part.exists());
        drop(AtomicFile::create_in_view(&path).unwrap());
        assert!(!part.exists());
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
