//! The ledger: every answer that was paid for, under what was asked.
//!
//! One line per answer: JSON, a tab and a checksum. A line is on disk before its answer is used. A
//! line that a kill cut off is as good as none, and is cut off by the next process that writes
//! there. The file has one writer at a time, because two would pay for the same answers. Neither
//! key nor picture is in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::till::Usage;

/// A ledger that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The disk does not want it.
    #[error("cannot {what} the ledger of answers {}", path.display())]
    Disk {
        /// What was tried.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else writes there.
    #[error("another mohs is asking this model and keeps its answers in {}", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// What an answer is kept under: all that was asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct AskKey([u8; 32]);

impl AskKey {
    /// Makes the key from a text that says everything.
    pub(super) fn new(everything: &str) -> AskKey {
        AskKey(*blake3::hash(everything.as_bytes()).as_bytes())
    }

    /// A name for files.
    pub(super) fn name(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex()[..40].to_owned()
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// What an endpoint said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A text.
    Text(String),
    /// That it does not want to answer, and why.
    Refused(String),
    /// A picture, as the name of a file beside the ledger.
    Picture(String),
    /// A picture that is kept nowhere.
    Drawn(Vec<u8>),
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    pub(super) key: AskKey,
    pub(super) said: Said,
    pub(super) usage: Usage,
}

#[derive(Debug)]
pub(super) struct Ledger {
    records: BTreeMap<AskKey, Record>,
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    file: File,
    path: PathBuf,
    folder: PathBuf,
}

const N_CHECK: usize = 16;
const ENDING: &str = "answers";

impl Ledger {
    /// A ledger that is forgotten with the process.
    pub(super) fn none() -> Ledger {
        Ledger { records: BTreeMap::new(), own: None }
    }

    /// Reads what is known of an endpoint and opens a file to append to.
    pub(super) fn open(folder: &Path, endpoint: &str, slot: &str) -> Result<Ledger, LedgerError> {
        let disk = |what, path: &Path| {
            let path = path.to_owned();
            move |source| LedgerError::Disk { what, path, source }
        };
        std::fs::create_dir_all(folder).map_err(disk("make", folder))?;
        let name = AskKey::new(endpoint).name()[..20].to_owned();
        let path = folder.join(format!("{name}.{slot}.{ENDING}"));
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .map_err(disk("open", &path))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(LedgerError::Busy { path });
        }
        let mut records = BTreeMap::new();
        let entries = std::fs::read_dir(folder).map_err(disk("read", folder))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort_unstable();
        for other in paths {
            let file_name = other.file_name().unwrap_or_default().to_string_lossy();
            if file_name.starts_with(&format!("{name}.")) && file_name.ends_with(ENDING) {
                let bytes = std::fs::read(&other).map_err(disk("read", &other))?;
                let lines = bytes.split_inclusive(|byte| *byte == b'\n');
                records.extend(lines.filter_map(parse).map(|record| (record.key, record)));
            }
        }
        let bytes = std::fs::read(&path).map_err(disk("read", &path))?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(end as u64)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(disk("mend", &path))?;
        // A picture that is named but gone has to be drawn again.
        records.retain(|_, record| match &record.said {
            Said::Picture(name) => folder.join(name).is_file(),
            _ => true,
        });
        Ok(Ledger { records, own: Some(Own { file, path, folder: folder.to_owned() }) })
    }

    /// Where it is; `None` for one that is forgotten.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.own.as_ref().map(|own| own.folder.as_path())
    }

    pub(super) fn find(&self, key: &AskKey) -> Option<&Record> {
        self.records.get(key)
    }

    /// Everything that is kept.
    pub(super) fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values()
    }

    /// Keeps an answer; it is on disk when this returns.
    pub(super) fn append(&mut self, record: Record) -> Result<(), LedgerError> {
        if let Some(Own { file, path, .. }) = &mut self.own {
            let written = file.write_all(line(&record).as_bytes()).and_then(|()| file.sync_data());
            written.map_err(|source| LedgerError::Disk {
                what: "write",
                path: path.clone(),
                source,
            })?;
        }
        self.records.insert(record.key, record);
        Ok(())
    }
}

fn line(record: &Record) -> String {
    let (kind, text) = match &record.said {
        Said::Text(text) => ("text", text.as_str()),
        Said::Refused(text) => ("refused", text.as_str()),
        Said::Picture(name) => ("picture", name.as_str()),
        Said::Drawn(_) => ("nothing", ""),
    };
    let mut key = String::new();
    for byte in record.key.0 {
        let _ = write!(key, "{byte:02x}");
    }
    let usage = &record.usage;
    let json = json!({
        "key": key,
        kind: text,
        "input": usage.n_input,
        "output": usage.n_output,
        "pictures": usage.n_pictures,
    });
    let text = json.to_string();
    format!("{text}\t{}\n", check(&text))
}

fn check(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..N_CHECK].to_owned()
}

fn parse(line: &[u8]) -> Option<Record> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (text, sum) = line.rsplit_once('\t')?;
    if check(text) != sum {
        return None;
    }
    let json: Value = serde_json::from_str(text).ok()?;
    let key = blake3::Hash::from_hex(json["key"].as_str()?).ok()?;
    let owned = |name: &str| json[name].as_str().map(ToOwned::to_owned);
    let said = owned("text")
        .map(Said::Text)
        .or_else(|| owned("refused").map(Said::Refused))
        .or_else(|| owned("picture").map(Said::Picture))?;
    let count = |name: &str| json[name].as_u64().unwrap_or(0);
    let usage =
        Usage { n_input: count("input"), n_output: count("output"), n_pictures: count("pictures") };
    Some(Record { key: AskKey(*key.as_bytes()), said, usage })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, said: Said) -> Record {
        let usage = Usage { n_input: 3, n_output: 2, n_pictures: 1 };
        Record { key: AskKey::new(name), said, usage }
    }

    #[test]
    fn answers_come_back_wherever_the_file_is_torn() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Ledger::open(folder.path(), "e", "all").unwrap();
        let odd = Said::Text("tab\t, line\n, \"quote\" and ünïcode".to_owned());
        let mut ledger = open();
        ledger.append(record("a", odd.clone())).unwrap();
        ledger.append(record("b", Said::Refused("no".to_owned()))).unwrap();
        let path = ledger.own.as_ref().unwrap().path.clone();
        drop(ledger);
        assert_eq!(open().find(&AskKey::new("a")).unwrap().said, odd);
        let whole = std::fs::read(&path).unwrap();
        let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for n_bytes in 0..whole.len() {
            std::fs::write(&path, &whole[..n_bytes]).unwrap();
            let mut ledger = open();
            assert_eq!(ledger.records.len(), usize::from(first <= n_bytes), "{n_bytes}");
            ledger.append(record("c", Said::Text("c".to_owned()))).unwrap();
            drop(ledger);
            assert!(open().find(&AskKey::new("c")).is_some(), "{n_bytes}");
        }
    }

    #[test]
    fn a_changed_line_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(folder.path(), "e", "all").unwrap();
        ledger.append(record("a", Said::Text("cat".to_owned()))).unwrap();
        let path = ledger.own.as_ref().unwrap().path.clone();
        drop(ledger);
        let text = std::fs::read_to_string(&path).unwrap().replace("cat", "dog");
        std::fs::write(&path, text).unwrap();
        assert!(Ledger::open(folder.path(), "e", "all").unwrap().records.is_empty());
    }

    #[test]
    fn a_file_has_one_writer_and_slots_read_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = Ledger::open(folder.path(), "e", "1-of-2").unwrap();
        one.append(record("a", Said::Text("cat".to_owned()))).unwrap();
        let busy = Ledger::open(folder.path(), "e", "1-of-2").unwrap_err();
        assert!(matches!(busy, LedgerError::Busy { .. }));
        let two = Ledger::open(folder.path(), "e", "2-of-2").unwrap();
        assert!(two.find(&AskKey::new("a")).is_some());
        let other = Ledger::open(folder.path(), "another", "all").unwrap();
        assert!(other.find(&AskKey::new("a")).is_none());
    }

    #[test]
    fn a_picture_that_is_gone_is_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(folder.path(), "e", "all").unwrap();
        ledger.append(record("a", Said::Picture("a.png".to_owned()))).unwrap();
        drop(ledger);
        assert!(Ledger::open(folder.path(), "e", "all").unwrap().records.is_empty());
        std::fs::write(folder.path().join("a.png"), "x").unwrap();
        assert_eq!(Ledger::open(folder.path(), "e", "all").unwrap().records.len(), 1);
    }
}
