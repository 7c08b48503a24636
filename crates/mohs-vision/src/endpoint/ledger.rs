//! The ledger: every answer that was paid for, under what was asked.
//!
//! One line per answer: JSON, a tab and a checksum. A line is on disk before its answer is used. A
//! line that a kill cut off is as good as none, and is cut off by the next process that writes
//! there. The file has one writer at a time, because two would pay for the same answers. Neither
//! key nor picture is in it.
//!
//! Beside it, a list of what was sent: a line is on disk before its request leaves, and another one
//! takes it back when the endpoint said that it did not answer. What was sent, neither taken back nor
//! answered, may have been paid: the process died, or the answer was lost on its way. An answer of
//! which nothing can be used stands in that list with what it took and what was wrong with it, and is
//! paid, too.
//!
//! Both say at which prices: what was paid stays what it was when prices or models change.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::till::{Prices, Usage};

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
    /// What it was paid at; `None` where nobody wrote that down.
    pub(super) prices: Option<Prices>,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    records: BTreeMap<AskKey, Record>,
    /// Requests that were sent and not taken back.
    n_sent: BTreeMap<AskKey, Sent>,
    useless: BTreeMap<AskKey, Useless>,
    /// What answers took of which nothing could be used.
    took: Vec<Usage>,
    own: Option<Own>,
}

/// Requests for one answer.
#[derive(Debug, Clone, Copy, Default)]
struct Sent {
    n: usize,
    /// What one of them was thought to take, or what the dearest of them took where that is more;
    /// nothing where that was not written down.
    expected: Usage,
    /// The prices of the last one.
    prices: Option<Prices>,
}

/// Answers to one question of which nothing could be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Useless {
    pub(super) n: usize,
    /// What was wrong with the last one.
    pub(super) why: String,
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
const USELESS: &str = "useless";
const TOOK: &str = "took";
/// In front of the prices of what is sent; one word, which older versions skip.
const AT: &str = "prices=";

impl Ledger {
    /// A ledger that is forgotten with the process.
    pub(super) fn none() -> Ledger {
        Ledger::default()
    }

    /// Reads what is known of an endpoint and opens files to append to.
    pub(super) fn open(folder: &Path, endpoint: &str, slot: &str) -> Result<Ledger, LedgerError> {
        std::fs::create_dir_all(folder).map_err(disk("make", folder))?;
        let name = name_of(endpoint);
        // The lock on the answers is the one that counts.
        let answers = Appended::open(folder.join(format!("{name}.{slot}.{ANSWERS}")))?;
        let sent = Appended::open(folder.join(format!("{name}.{slot}.{SENT}")))?;
        let mut ledger = Ledger::read(folder, endpoint)?;
        ledger.own = Some(Own { answers, sent, folder: folder.to_owned() });
        Ok(ledger)
    }

    /// Reads what is known of an endpoint and leaves the folder as it is.
    pub(super) fn read(folder: &Path, endpoint: &str) -> Result<Ledger, LedgerError> {
        let name = name_of(endpoint);
        let mut ledger = Ledger::none();
        for file in files(folder)?.iter().filter(|file| file.name == name) {
            ledger.take_in(file)?;
        }
        ledger.forget_lost_pictures(folder);
        Ok(ledger)
    }

    /// Reads all ledgers of a folder, whatever was asked and of whom; each with its slot.
    pub(super) fn read_all(folder: &Path) -> Result<Vec<(String, Ledger)>, LedgerError> {
        let mut ledgers: BTreeMap<(String, String), Ledger> = BTreeMap::new();
        for file in files(folder)? {
            let key = (file.name.clone(), file.slot.clone());
            ledgers.entry(key).or_default().take_in(&file)?;
        }
        let all = ledgers.into_iter().map(|((_, slot), mut ledger)| {
            ledger.forget_lost_pictures(folder);
            (slot, ledger)
        });
        Ok(all.collect())
    }

    fn take_in(&mut self, file: &Kept) -> Result<(), LedgerError> {
        let bytes = std::fs::read(&file.path).map_err(disk("read", &file.path))?;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if file.is_sent {
                self.count(line);
            } else if let Some(record) = parse(line) {
                self.records.insert(record.key, record);
            }
        }
        Ok(())
    }

    /// A picture that is named but gone has to be drawn again.
    fn forget_lost_pictures(&mut self, folder: &Path) {
        self.records.retain(|_, record| match &record.said {
            Said::Picture(name) => folder.join(name).is_file(),
            _ => true,
        });
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

    /// Says that a request is about to be sent, and what it may take; that is on disk when this
    /// returns.
    pub(super) fn sends(
        &mut self,
        key: &AskKey,
        expected: &Usage,
        prices: Option<Prices>,
    ) -> Result<(), LedgerError> {
        let Usage { n_input, n_output, n_pictures } = expected;
        let at = prices.map_or(String::new(), |Prices { input, output, picture }| {
            format!(" {AT}{input},{output},{picture}")
        });
        self.note(&format!("{LEAVES} {} {n_input} {n_output} {n_pictures}{at}", key.hex()))
    }

    /// Says that the last request was not answered, by the word of the endpoint.
    pub(super) fn takes_back(&mut self, key: &AskKey) -> Result<(), LedgerError> {
        self.note(&format!("{TAKEN_BACK} {}", key.hex()))
    }

    /// Says that the last request was answered with something of which nothing can be used.
    pub(super) fn finds_useless(&mut self, key: &AskKey, why: &str) -> Result<(), LedgerError> {
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        self.note(&format!("{USELESS} {} {why}", key.hex()))
    }

    /// Says what the last request took by the word of an answer of which nothing can be used.
    pub(super) fn took_in_vain(&mut self, key: &AskKey, usage: &Usage) -> Result<(), LedgerError> {
        let Usage { n_input, n_output, n_pictures } = usage;
        self.note(&format!("{TOOK} {} {n_input} {n_output} {n_pictures}", key.hex()))
    }

    /// What answers took of which nothing could be used, as far as they said it.
    pub(super) fn took(&self) -> impl Iterator<Item = &Usage> {
        self.took.iter()
    }

    /// Returns what a request for an answer may have taken.
    pub(super) fn expected(&self, key: &AskKey) -> Usage {
        self.n_sent.get(key).map(|sent| sent.expected).unwrap_or_default()
    }

    /// Returns the answers of which nothing could be used; `None` if there was none.
    pub(super) fn useless(&self, key: &AskKey) -> Option<&Useless> {
        self.useless.get(key)
    }

    /// Returns how many requests may have been paid without an answer that is kept.
    pub(super) fn n_doubtful(&self, key: &AskKey) -> usize {
        let n_sent = self.n_sent.get(key).map_or(0, |sent| sent.n);
        n_sent.saturating_sub(usize::from(self.records.contains_key(key)))
    }

    /// Returns the prices of the last request for an answer; `None` where nobody wrote them down.
    pub(super) fn prices_sent(&self, key: &AskKey) -> Option<Prices> {
        self.n_sent.get(key).and_then(|sent| sent.prices)
    }

    /// All questions with such requests: how many, and what one of them may have taken, at which
    /// prices.
    pub(super) fn doubtful(
        &self,
    ) -> impl Iterator<Item = (&AskKey, usize, &Usage, Option<Prices>)> {
        let all = self.n_sent.iter();
        let all = all.map(|(key, sent)| (key, self.n_doubtful(key), &sent.expected, sent.prices));
        all.filter(|(_, n, _, _)| 0 < *n)
    }

    fn note(&mut self, text: &str) -> Result<(), LedgerError> {
        let line = checked(text);
        if let Some(own) = &mut self.own {
            own.sent.append(&line)?;
        }
        self.count(line.as_bytes());
        Ok(())
    }

    /// Counts a line of what was sent; a line that is not whole counts nothing.
    fn count(&mut self, line: &[u8]) {
        let text = unchecked(line).unwrap_or_default();
        let mut words = text.split(' ');
        let (Some(word), Some(hex)) = (words.next(), words.next()) else { return };
        let Ok(hash) = blake3::Hash::from_hex(hex) else { return };
        let key = AskKey(*hash.as_bytes());
        match word {
            LEAVES => {
                let sent = self.n_sent.entry(key).or_default();
                sent.n += 1;
                // Lines of older versions have no counts.
                let words: Vec<&str> = words.collect();
                sent.prices = words.iter().find_map(|word| prices_of(word.strip_prefix(AT)?));
                let counts = words.iter().copied().filter(|word| !word.starts_with(AT));
                sent.expected = sent.expected.most(&usage_of(counts).unwrap_or_default());
            }
            TOOK => {
                let Some(usage) = usage_of(words) else { return };
                let sent = self.n_sent.entry(key).or_default();
                sent.expected = sent.expected.most(&usage);
                self.took.push(usage);
            }
            TAKEN_BACK => {
                let sent = self.n_sent.entry(key).or_default();
                sent.n = sent.n.saturating_sub(1);
            }
            USELESS => {
                let useless = self.useless.entry(key).or_default();
                useless.n += 1;
                useless.why = words.collect::<Vec<_>>().join(" ");
            }
            _ => {}
        }
    }
}

/// What the files of an endpoint and model are called.
fn name_of(endpoint: &str) -> String {
    AskKey::new(endpoint).name()[..20].to_owned()
}

/// A file of a folder of ledgers.
struct Kept {
    path: PathBuf,
    /// Which endpoint and model.
    name: String,
    slot: String,
    is_sent: bool,
}

/// The files of all ledgers in a folder, in a fixed order; none where there is no folder.
fn files(folder: &Path) -> Result<Vec<Kept>, LedgerError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(folder).map_err(disk("read", folder))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    let kept = |path: PathBuf| {
        let file_name = path.file_name()?.to_str()?;
        let (name, rest) = file_name.split_once('.')?;
        let (slot, ending) = rest.rsplit_once('.')?;
        let is_sent = ending == SENT;
        let (name, slot) = (name.to_owned(), slot.to_owned());
        (is_sent || ending == ANSWERS).then_some(Kept { path, name, slot, is_sent })
    };
    Ok(paths.into_iter().filter_map(kept).collect())
}

/// Removes the ledgers of a folder where they hold no answer and no request that may have been paid;
/// leaves them all where somebody writes there.
pub fn remove_empty(folder: &Path) -> Result<(), LedgerError> {
    let files = files(folder)?;
    let mut held = Vec::new();
    for file in &files {
        match Appended::open(file.path.clone()) {
            // Held until all of them are gone, so that nobody begins to write in between.
            Ok(own) => held.push(own),
            Err(LedgerError::Busy { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
        let mut ledger = Ledger::none();
        ledger.take_in(file)?;
        if !ledger.records.is_empty() || ledger.doubtful().next().is_some() {
            return Ok(());
        }
    }
    for file in &files {
        std::fs::remove_file(&file.path).map_err(disk("remove", &file.path))?;
    }
    drop(held);
    Ok(())
}

/// Counts of tokens and pictures as they stand in the list of what was sent.
fn usage_of<'a>(words: impl Iterator<Item = &'a str>) -> Option<Usage> {
    let counts: Vec<u64> = words.filter_map(|count| count.parse().ok()).collect();
    match counts[..] {
        [n_input, n_output, n_pictures] => Some(Usage { n_input, n_output, n_pictures }),
        _ => None,
    }
}

/// Prices as they stand in the list of what was sent.
fn prices_of(text: &str) -> Option<Prices> {
    let numbers: Vec<f64> = text.split(',').filter_map(|number| number.parse().ok()).collect();
    prices(&numbers)
}

/// Prices in their order; `None` if that is no list of prices.
fn prices(numbers: &[f64]) -> Option<Prices> {
    let is_price = |number: &f64| number.is_finite() && 0.0 <= *number;
    match *numbers {
        [input, output, picture] if numbers.iter().all(is_price) => {
            Some(Prices { input, output, picture })
        }
        _ => None,
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
    let mut json = json!({
        "key": record.key.hex(),
        kind: text,
        "input": usage.n_input,
        "output": usage.n_output,
        "pictures": usage.n_pictures,
    });
    if let Some(Prices { input, output, picture }) = record.prices {
        json["prices"] = json!([input, output, picture]);
    }
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
    let at = json["prices"].as_array();
    let at: Option<Vec<f64>> = at.map(|list| list.iter().filter_map(Value::as_f64).collect());
    let prices = at.and_then(|numbers| prices(&numbers));
    Some(Record { key: AskKey(*key.as_bytes()), said, usage, prices })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: Prices = Prices { input: 10.0, output: 0.5, picture: 0.04 };

    fn record(name: &str, said: Said) -> Record {
        let usage = Usage { n_input: 3, n_output: 2, n_pictures: 1 };
        Record { key: AskKey::new(name), said, usage, prices: None }
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
    fn lines_of_older_versions_say_how_often_was_sent_and_not_what_it_took() {
        let mut ledger = Ledger::none();
        let key = AskKey::new("a");
        ledger.count(checked(&format!("sent {}", key.hex())).as_bytes());
        assert_eq!(ledger.doubtful().collect::<Vec<_>>(), [(&key, 1, &Usage::default(), None)]);
    }

    #[test]
    fn what_a_useless_answer_took_counts_for_every_request_and_in_later_runs() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Ledger::open(folder.path(), "e", "all").unwrap();
        let usage = |n_output| Usage { n_output, ..Usage::default() };
        let key = AskKey::new("a");
        let mut ledger = open();
        ledger.sends(&key, &usage(50), None).unwrap();
        ledger.took_in_vain(&key, &usage(4_000)).unwrap();
        ledger.sends(&key, &usage(50), None).unwrap();
        drop(ledger);
        let ledger = open();
        assert_eq!(ledger.doubtful().collect::<Vec<_>>(), [(&key, 2, &usage(4_000), None)]);
        assert_eq!(ledger.took().collect::<Vec<_>>(), [&usage(4_000)]);
    }

    #[test]
    fn answers_that_were_useless_are_remembered_with_the_last_reason() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Ledger::open(folder.path(), "e", "all").unwrap();
        let key = AskKey::new("a");
        let mut ledger = open();
        for why in ["no base 64", "no picture,\nand\ttwo lines"] {
            ledger.sends(&key, &Usage::default(), None).unwrap();
            ledger.finds_useless(&key, why).unwrap();
        }
        drop(ledger);
        let why = "no picture, and two lines".to_owned();
        assert_eq!(open().useless(&key), Some(&Useless { n: 2, why }));
        assert_eq!(open().useless(&AskKey::new("b")), None);
        // They may have been paid.
        assert_eq!(open().n_doubtful(&key), 2);
    }

    #[test]
    fn what_was_sent_and_neither_answered_nor_taken_back_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Ledger::open(folder.path(), "e", "all").unwrap();
        let [a, b, c] = ["a", "b", "c"].map(AskKey::new);
        let mut ledger = open();
        let expected = Usage { n_input: 5, n_output: 6, n_pictures: 7 };
        for key in [&a, &b, &b, &c] {
            ledger.sends(key, &expected, Some(PRICES)).unwrap();
        }
        ledger.takes_back(&c).unwrap();
        ledger.append(record("a", Said::Text("cat".to_owned()))).unwrap();
        let path = ledger.own.as_ref().unwrap().sent.path.clone();
        drop(ledger);
        let found = |ledger: &Ledger| [&a, &b, &c].map(|key| ledger.n_doubtful(key));
        assert_eq!(found(&open()), [0, 2, 0]);
        assert_eq!(open().doubtful().collect::<Vec<_>>(), [(&b, 2, &expected, Some(PRICES))]);
        // Without its last line, which a kill cut in two, a request counts as sent.
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        assert_eq!(found(&open()), [0, 2, 1]);
        let mut ledger = open();
        ledger.sends(&b, &expected, Some(PRICES)).unwrap();
        ledger.append(record("b", Said::Text("dog".to_owned()))).unwrap();
        drop(ledger);
        assert_eq!(found(&open()), [0, 2, 1]);
    }

    #[test]
    fn every_ledger_of_a_folder_is_read_with_the_prices_of_its_time() {
        let folder = tempfile::tempdir().unwrap();
        for (endpoint, slot, prices) in
            [("old", "painter", Some(PRICES)), ("new", "painter", None), ("old", "writer", None)]
        {
            let mut ledger = Ledger::open(folder.path(), endpoint, slot).unwrap();
            let name = format!("{endpoint} {slot}");
            ledger.append(Record { prices, ..record(&name, Said::Text(String::new())) }).unwrap();
            ledger.sends(&AskKey::new("lost"), &Usage::default(), prices).unwrap();
        }
        let mut found: Vec<_> = Ledger::read_all(folder.path())
            .unwrap()
            .iter()
            .map(|(slot, ledger)| {
                let prices = ledger.records().map(|record| record.prices).collect::<Vec<_>>();
                let sent = ledger.doubtful().map(|(_, n, _, at)| (n, at)).collect::<Vec<_>>();
                (slot.clone(), prices, sent)
            })
            .collect();
        found.sort_by_key(|(slot, prices, _)| (slot.clone(), prices[0].is_none()));
        let expected = [("painter", Some(PRICES)), ("painter", None), ("writer", None)];
        let expected = expected.map(|(slot, at)| (slot.to_owned(), vec![at], vec![(1, at)]));
        assert_eq!(found, expected);
        assert!(Ledger::read_all(&folder.path().join("none")).unwrap().is_empty());
    }

    #[test]
    fn ledgers_that_hold_nothing_are_removed_unless_somebody_writes_there() {
        let folder = tempfile::tempdir().unwrap();
        let n_files = || std::fs::read_dir(folder.path()).unwrap().count();
        let key = AskKey::new("a");
        let mut ledger = Ledger::open(folder.path(), "e", "all").unwrap();
        ledger.sends(&key, &Usage::default(), None).unwrap();
        ledger.takes_back(&key).unwrap();
        remove_empty(folder.path()).unwrap();
        assert_eq!(n_files(), 2);
        drop(ledger);
        remove_empty(folder.path()).unwrap();
        assert_eq!(n_files(), 0);
        let mut ledger = Ledger::open(folder.path(), "e", "all").unwrap();
        ledger.sends(&key, &Usage::default(), None).unwrap();
        drop(ledger);
        remove_empty(folder.path()).unwrap();
        assert_eq!(n_files(), 2);
    }
}
