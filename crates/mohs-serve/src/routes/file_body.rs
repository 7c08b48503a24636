//! A file as the body of an answer, sent piece by piece.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tempfile::TempDir;

/// A file in a temporary folder that goes away with it.
pub(crate) struct FileBody {
    _folder: TempDir,
    file: File,
    left: u64,
}

impl FileBody {
    pub(crate) fn open(folder: TempDir, path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let left = file.metadata()?.len();
        Ok(Self { _folder: folder, file, left })
    }
}

impl Body for FileBody {
    type Data = Bytes;
    type Error = io::Error;

    // Just written, the file is in the system's memory: reading a piece of it does not wait.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let mut piece = vec![0; 64 * 1024];
        match self.file.read(&mut piece) {
            Ok(0) => Poll::Ready(None),
            Ok(n) => {
                piece.truncate(n);
                self.left = self.left.saturating_sub(n as u64);
                Poll::Ready(Some(Ok(Frame::data(piece.into()))))
            }
            Err(error) => Poll::Ready(Some(Err(error))),
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
