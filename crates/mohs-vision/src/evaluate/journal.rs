//! The journal: what models answered, kept under what they were asked, so that nothing is asked
//! twice and a run that was killed goes on where it stopped.
//!
//! A journal belongs to one model as it is run: its bytes, its input, its engine. It is a set of
//! files that only grow, one per process that writes: rows are appended as they come, each with its
//! length and a checksum. A row that was cut off by a kill or a full disk is dropped, and cut off
//! by the next process that writes there. Nothing is ever changed or decided here: rows are the
//! numbers that the engine gave. Labels, top-k and the like are made of them anew each time.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use blake3::Hasher;

/// A journal that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} the cache {}", path.display())]
pub struct JournalError {
    /// What was tried.
    pub what: &'static str,
    /// The file or the folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// What a row is kept under.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RowKey([u8; 32]);

impl RowKey {
    /// The content of a stimulus and what was done to it.
    pub fn new(content: &blake3::Hash, probe: &str) -> RowKey {
        let mut hasher = Hasher::new();
        hasher.update(content.as_bytes());
        hasher.update(probe.as_bytes());
        RowKey(*hasher.finalize().as_bytes())
    }
}

/// What a whole journal is kept under: everything that changes the answers of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModelKey([u8; 32]);

impl ModelKey {
    /// Makes the key from a text that says everything.
    pub fn new(everything: &str) -> ModelKey {
        ModelKey(*blake3::hash(everything.as_bytes()).as_bytes())
    }

    fn name(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex()[..20].to_owned()
    }
}

const MAGIC: &[u8; 12] = b"mohs rows 1\n";
const HEADER: u64 = 12 + 32;
/// Length and key before the numbers, checksum behind them.
const FRAME: usize = 4 + 32 + 8;
/// Rows longer than this are no rows; features of 10 × 10 × 2048 fit a hundred times.
const MAX_NUMBERS: u32 = 1 << 25;

/// Rows of one model.
#[derive(Debug)]
pub struct Journal {
    rows: HashMap<RowKey, Place>,
    files: Vec<Mutex<File>>,
    n_repeated: usize,
    own: Option<Mutex<Own>>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    file: usize,
    offset: u64,
    n_numbers: u32,
}

/// The file that this process appends to.
#[derive(Debug)]
struct Own {
    file: File,
    path: PathBuf,
    written: HashSet<RowKey>,
}

impl Journal {
    /// A journal that remembers nothing.
    pub fn none() -> Journal {
        Journal { rows: HashMap::new(), files: Vec::new(), n_repeated: 0, own: None }
    }

    /// Reads what is known of a model, and changes nothing; a folder that is not there knows
    /// nothing.
    pub fn read(folder: &Path, key: &ModelKey) -> Result<Journal, JournalError> {
        let mut journal = Journal::none();
        for path in files_of(folder, key)? {
            journal.add(&path, key)?;
        }
        Ok(journal)
    }

    /// Reads what is known of a model and opens a file to append to.
    ///
    /// `slot` keeps processes apart that run at the same time on machines whose locks do not know
    /// each other, such as the shards of a cluster.
    pub fn open(folder: &Path, key: &ModelKey, slot: &str) -> Result<Journal, JournalError> {
        let failed = |what, path: &Path| {
            let path = path.to_owned();
            move |source| JournalError { what, path, source }
        };
        std::fs::create_dir_all(folder).map_err(failed("make", folder))?;
        keep_out_of_git(folder);
        let own = Own::open(folder, key, slot)?;
        let mut journal = Journal::read(folder, key)?;
        journal.own = Some(Mutex::new(own));
        Ok(journal)
    }

    /// How many rows are known.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// How many rows were kept a second time, by processes that did not see each other's.
    pub fn n_repeated(&self) -> usize {
        self.n_repeated
    }

    /// Whether a row is known.
    pub fn has(&self, key: &RowKey) -> bool {
        self.rows.contains_key(key)
    }

    /// Returns a row that was known when the journal was opened.
    ///
    /// A row that can no longer be read is not known.
    pub fn find(&self, key: &RowKey) -> Option<Vec<f32>> {
        let place = self.rows.get(key)?;
        let mut bytes = vec![0; place.n_numbers as usize * 4];
        let mut file = self.files.get(place.file)?.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(place.offset)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        Some(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    /// Keeps rows, all of them at once; rows that were kept before are left out.
    pub fn append(&self, rows: &[(RowKey, &[f32])]) -> Result<(), JournalError> {
        let Some(own) = &self.own else { return Ok(()) };
        let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        for (key, numbers) in rows {
            if self.rows.contains_key(key) || !own.written.insert(*key) {
                continue;
            }
            push_record(&mut bytes, key, numbers);
        }
        let Own { file, path, .. } = &mut *own;
        let write = file.write_all(&bytes);
        write.map_err(|source| JournalError { what: "write", path: path.clone(), source })
    }

    fn add(&mut self, path: &Path, key: &ModelKey) -> Result<(), JournalError> {
        let failed = |source| JournalError { what: "read", path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let idx = self.files.len();
        let mut repeated = 0;
        let mut keep = |key: RowKey, offset: u64, n_numbers: u32| {
            let place = Place { file: idx, offset, n_numbers };
            repeated += usize::from(self.rows.insert(key, place).is_some());
        };
        scan(&file, key, &mut keep).map_err(failed)?;
        self.n_repeated += repeated;
        self.files.push(Mutex::new(file));
        Ok(())
    }
}

impl Own {
    /// Takes the first file of its kind that nobody else writes, and cuts a torn end off.
    fn open(folder: &Path, key: &ModelKey, slot: &str) -> Result<Own, JournalError> {
        for number in 1.. {
            let path = folder.join(format!("{}.{slot}.{number}.rows", key.name()));
            let failed = |source| JournalError { what: "write", path: path.clone(), source };
            let file = OpenOptions::new()
                .create(true)
                .read(true)
                .write(true)
                .truncate(false)
                .open(&path)
                .map_err(failed)?;
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                continue;
            }
            let end = scan(&file, key, &mut |_, _, _| {}).map_err(failed)?;
            let mut file = file;
            file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
            if end < HEADER {
                file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
                let header = [&MAGIC[..], &key.0].concat();
                file.write_all(&header).map_err(failed)?;
            }
            return Ok(Own { file, path, written: HashSet::new() });
        }
        unreachable!("because there are more numbers than processes")
    }
}

/// The files of a model's journal, in a fixed order.
fn files_of(folder: &Path, key: &ModelKey) -> Result<Vec<PathBuf>, JournalError> {
    let failed = |source| JournalError { what: "read", path: folder.to_owned(), source };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let prefix = format!("{}.", key.name());
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(".rows") {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// A cache is no part of anybody's work; where this cannot be written nothing is lost.
fn keep_out_of_git(folder: &Path) {
    let path = folder.join(".gitignore");
    if !path.exists() {
        let _ = std::fs::write(path, "*\n");
    }
}

fn push_record(bytes: &mut Vec<u8>, key: &RowKey, numbers: &[f32]) {
    let start = bytes.len();
    let n_numbers = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&n_numbers.to_le_bytes());
    bytes.extend_from_slice(&key.0);
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    let check = blake3::hash(&bytes[start..]);
    bytes.extend_from_slice(&check.as_bytes()[..8]);
}

/// Walks over the sound rows from the start of a file; returns where they end, or 0 if the file is
/// no journal of this model.
fn scan(file: &File, key: &ModelKey, keep: &mut impl FnMut(RowKey, u64, u32)) -> io::Result<u64> {
    let n_bytes = file.metadata()?.len();
    let mut reader = BufReader::with_capacity(1 << 16, file);
    reader.rewind()?;
    let mut header = [0; 44];
    if n_bytes < HEADER {
        return Ok(0);
    }
    reader.read_exact(&mut header)?;
    if header[..12] != MAGIC[..] || header[12..] != key.0 {
        return Ok(0);
    }
    let mut at = HEADER;
    let mut record = Vec::new();
    loop {
        let mut length = [0; 4];
        if n_bytes < at + FRAME as u64 {
            return Ok(at);
        }
        reader.read_exact(&mut length)?;
        let n_numbers = u32::from_le_bytes(length);
        let n_record = FRAME + n_numbers as usize * 4;
        if MAX_NUMBERS < n_numbers || n_bytes < at + n_record as u64 {
            return Ok(at);
        }
        record.clear();
        record.extend_from_slice(&length);
        record.resize(n_record, 0);
        reader.read_exact(&mut record[4..])?;
        let (content, check) = record.split_at(n_record - 8);
        if blake3::hash(content).as_bytes()[..8] != *check {
            return Ok(at);
        }
        let mut row_key = [0; 32];
        row_key.copy_from_slice(&content[4..36]);
        keep(RowKey(row_key), at + 36, n_numbers);
        at += n_record as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> RowKey {
        RowKey::new(&blake3::hash(&[n]), "none")
    }

    fn model() -> ModelKey {
        ModelKey::new("a model")
    }

    fn only_file(folder: &Path) -> PathBuf {
        let files = files_of(folder, &model()).unwrap();
        assert_eq!(files.len(), 1);
        files[0].clone()
    }

    #[test]
    fn rows_come_back_as_they_were_kept() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), &model(), "all").unwrap();
        let odd = [f32::NAN, -0.0, f32::INFINITY, f32::MIN_POSITIVE];
        journal.append(&[(key(1), &[1.5, 2.5]), (key(2), &odd)]).unwrap();
        // What was just kept is not kept again.
        journal.append(&[(key(1), &[9.0])]).unwrap();
        drop(journal);
        let journal = Journal::open(folder.path(), &model(), "all").unwrap();
        assert_eq!((journal.n_rows(), journal.n_repeated()), (2, 0));
        assert_eq!(journal.find(&key(1)).unwrap(), [1.5, 2.5]);
        let bits = |row: &[f32]| row.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&journal.find(&key(2)).unwrap()), bits(&odd));
        assert!(journal.find(&key(3)).is_none());
        // Another model knows nothing of it.
        let other = Journal::read(folder.path(), &ModelKey::new("another")).unwrap();
        assert_eq!(other.n_rows(), 0);
    }

    #[test]
    fn a_torn_end_is_dropped_wherever_it_is_torn_and_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), &model(), "all").unwrap();
        journal.append(&[(key(1), &[1.0; 5]), (key(2), &[2.0; 5])]).unwrap();
        drop(journal);
        let path = only_file(folder.path());
        let whole = std::fs::read(&path).unwrap();
        let first_end = whole.len() - (FRAME + 20);
        for n_bytes in 0..whole.len() {
            std::fs::write(&path, &whole[..n_bytes]).unwrap();
            let journal = Journal::open(folder.path(), &model(), "all").unwrap();
            assert_eq!(journal.n_rows(), usize::from(first_end <= n_bytes), "{n_bytes}");
            journal.append(&[(key(2), &[2.0; 5]), (key(1), &[1.0; 5])]).unwrap();
            drop(journal);
            let journal = Journal::read(folder.path(), &model()).unwrap();
            assert_eq!((journal.n_rows(), journal.n_repeated()), (2, 0), "{n_bytes}");
            assert_eq!(journal.find(&key(2)).unwrap(), [2.0; 5]);
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), &model(), "all").unwrap();
        journal.append(&[(key(1), &[1.0; 3]), (key(2), &[2.0; 3])]).unwrap();
        drop(journal);
        let path = only_file(folder.path());
        let whole = std::fs::read(&path).unwrap();
        for at in usize::try_from(HEADER).unwrap()..whole.len() {
            let mut bent = whole.clone();
            bent[at] ^= 1;
            std::fs::write(&path, bent).unwrap();
            let journal = Journal::read(folder.path(), &model()).unwrap();
            assert!(journal.n_rows() < 2, "{at}");
        }
    }

    #[test]
    fn two_writers_have_a_file_each_and_both_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let one = Journal::open(folder.path(), &model(), "all").unwrap();
        let two = Journal::open(folder.path(), &model(), "all").unwrap();
        one.append(&[(key(1), &[1.0])]).unwrap();
        two.append(&[(key(1), &[1.0]), (key(2), &[2.0])]).unwrap();
        let both = Journal::read(folder.path(), &model()).unwrap();
        assert_eq!((both.n_rows(), both.n_repeated()), (2, 1));
        drop((one, two));
        // The files are used again; there are not more of them with every run.
        let _third = Journal::open(folder.path(), &model(), "all").unwrap();
        assert_eq!(files_of(folder.path(), &model()).unwrap().len(), 2);
    }
}
