//! The ledger: every answer that was paid for, under what was asked.
//!
//! One line per answer: JSON, a tab and a checksum. A line is on disk before its answer is used. A
//! line that a kill cut off is as good as none, and is cut off by the next process that writes
//! there. The file has one writer at a time, because two would pay for the same answers. Neither
//! key nor picture is in it.
//!
//! Beside it, a list of what was sent: a line is on disk before its request leaves, and another one
//! takes it back when the endpoint said that it did not answer. What was sent, neither taken back nor
//! answered, may have been paid: the process died, or the answer was lost on its way.

use std::collections::BTreeMap;
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

    fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
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
    /// Requests that were sent and not taken back.
    n_sent: BTreeMap<AskKey, usize>,
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    answers: Appended,
    sent: Appended,
    folder: PathBuf,
}

/// A file that lines are appended to.
#[derive(Debug)]
struct Appended {
    file: File,
    path: PathBuf,
}

const N_CHECK: usize = 16;
const ANSWERS: &str = "answers";
const SENT: &str = "sent";
/// Words in front of a key in the list of what was sent.
const LEAVES: &str = "sent";
const TAKEN_BACK: &str = "back";

impl Ledger {
    /// A ledger that is forgotten with the process.
    pub(super) fn none() -> Ledger {
        Ledger { records: BTreeMap::new(), n_sent: BTreeMap::new(), own: None }
    }

    /// Reads what is known of an endpoint and opens files to append to.
    pub(super) fn open(folder: &Path, endpoint: &str, slot: &str) -> Result<Ledger, LedgerError> {
        std::fs::create_dir_all(folder).map_err(disk("make", folder))?;
        let name = AskKey::new(endpoint).name()[..20].to_owned();
        // The lock on the answers is the one that counts.
        let answers = Appended::open(folder.join(format!("{name}.{slot}.{ANSWERS}")))?;
        let sent = Appended::open(folder.join(format!("{name}.{slot}.{SENT}")))?;
        let mut ledger = Ledger::none();
        let entries = std::fs::read_dir(folder).map_err(disk("read", folder))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort_unstable();
        for other in paths {
            let file_name = other.file_name().unwrap_or_default().to_string_lossy();
            let Some(rest) = file_name.strip_prefix(&format!("{name}.")) else { continue };
            let (is_answers, is_sent) = (rest.ends_with(ANSWERS), rest.ends_with(SENT));
            if !is_answers && !is_sent {
                continue;
            }
            let bytes = std::fs::read(&other).map_err(disk("read", &other))?;
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                if is_sent {
                    ledger.count(line);
                } else if let Some(record) = parse(line) {
                    ledger.records.insert(record.key, record);
                }
            }
        }
        // A picture that is named but gone has to be drawn again.
        ledger.records.retain(|_, record| match &record.said {
            Said::Picture(name) => folder.join(name).is_file(),
            _ => true,
        });
        ledger.own = Some(Own { answers, sent, folder: folder.to_owned() });
        Ok(ledger)
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
        if let Some(own) = &mut self.own {
            own.answers.append(&line(&record))?;
        }
        self.records.insert(record.key, record);
        Ok(())
    }

    /// Says that a request is about to be sent; that is on disk when this returns.
    pub(super) fn sends(&mut self, key: &AskKey) -> Result<(), LedgerError> {
        self.note(LEAVES, key)
    }

    /// Says that the last request was not answered, by the word of the endpoint.
    pub(super) fn takes_back(&mut self, key: &AskKey) -> Result<(), LedgerError> {
        self.note(TAKEN_BACK, key)
    }

    /// Returns how many requests may have been paid without an answer that is kept.
    pub(super) fn n_doubtful(&self, key: &AskKey) -> usize {
        let n_sent = self.n_sent.get(key).copied().unwrap_or(0);
        n_sent.saturating_sub(usize::from(self.records.contains_key(key)))
    }

    fn note(&mut self, word: &str, key: &AskKey) -> Result<(), LedgerError> {
        let line = checked(&format!("{word} {}", key.hex()));
        if let Some(own) = &mut self.own {
            own.sent.append(&line)?;
        }
        self.count(line.as_bytes());
        Ok(())
    }

    /// Counts a line of what was sent; a line that is not whole counts nothing.
    fn count(&mut self, line: &[u8]) {
        let text = unchecked(line);
        let Some((word, hex)) = text.as_deref().and_then(|text| text.split_once(' ')) else {
            return;
        };
        let Ok(hash) = blake3::Hash::from_hex(hex) else { return };
        let n_sent = self.n_sent.entry(AskKey(*hash.as_bytes())).or_insert(0);
        match word {
            LEAVES => *n_sent += 1,
            TAKEN_BACK => *n_sent = n_sent.saturating_sub(1),
            _ => {}
        }
    }
}

impl Appended {
    /// Opens a file for one writer, and cuts off a line that was not finished.
    fn open(path: PathBuf) -> Result<Appended, LedgerError> {
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
        let bytes = std::fs::read(&path).map_err(disk("read", &path))?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(end as u64)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(disk("mend", &path))?;
        Ok(Appended { file, path })
    }

    fn append(&mut self, line: &str) -> Result<(), LedgerError> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(disk("write", &self.path))
    }
}

fn disk(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LedgerError {
    let path = path.to_owned();
    move |source| LedgerError::Disk { what, path, source }
}

fn line(record: &Record) -> String {
    let (kind, text) = match &record.said {
        Said::Text(text) => ("text", text.as_str()),
        Said::Refused(text) => ("refused", text.as_str()),
        Said::Picture(name) => ("picture", name.as_str()),
        Said::Drawn(_) => ("nothing", ""),
    };
    let usage = &record.usage;
    let json = json!({
        "key": record.key.hex(),
        kind: text,
        "input": usage.n_input,
        "output": usage.n_output,
        "pictures": usage.n_pictures,
    });
    checked(&json.to_string())
}

/// A line with its checksum.
fn checked(text: &str) -> String {
    format!("{text}\t{}\n", check(text))
}

/// A line without its checksum; `None` if that is not right.
fn unchecked(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (text, sum) = line.rsplit_once('\t')?;
    (check(text) == sum).then(|| text.to_owned())
}

fn check(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..N_CHECK].to_owned()
}

fn parse(line: &[u8]) -> Option<Record> {
    let json: Value = serde_json::from_str(&unchecked(line)?).ok()?;
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
        let path = ledger.own.as_ref().unwrap().answers.path.clone();
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
        let path = ledger.own.as_ref().unwrap().answers.path.clone();
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

    #[test]
    fn what_was_sent_and_neither_answered_nor_taken_back_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Ledger::open(folder.path(), "e", "all").unwrap();
        let [a, b, c] = ["a", "b", "c"].map(AskKey::new);
        let mut ledger = open();
        for key in [&a, &b, &b, &c] {
            ledger.sends(key).unwrap();
        }
        ledger.takes_back(&c).unwrap();
        ledger.append(record("a", Said::Text("cat".to_owned()))).unwrap();
        let path = ledger.own.as_ref().unwrap().sent.path.clone();
        drop(ledger);
        let found = |ledger: &Ledger| [&a, &b, &c].map(|key| ledger.n_doubtful(key));
        assert_eq!(found(&open()), [0, 2, 0]);
        // Without its last line, which a kill cut in two, a request counts as sent.
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        assert_eq!(found(&open()), [0, 2, 1]);
        let mut ledger = open();
        ledger.sends(&b).unwrap();
        ledger.append(record("b", Said::Text("dog".to_owned()))).unwrap();
        drop(ledger);
        assert_eq!(found(&open()), [0, 2, 1]);
    }
}
