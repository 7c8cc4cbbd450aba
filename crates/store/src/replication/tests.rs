//! An engine in memory with faults, and tests of what needs no store.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde_json::json;
use toolcell_tool::{Status, ToolId};

use super::change::{ApprovalChange, Change, NewVersion, SharedDefinition, SharedHash, SharedWrite};
use super::entry::{Entry, EntryAudit, Position};
use super::*;

/// What goes wrong with an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AppendFault {
    /// Nothing is appended, and the caller is told so.
    Unreachable,
    /// The entry is appended, and the caller is not told so.
    UnknownAppended,
    /// Nothing is appended, and the caller is not told so.
    UnknownLost,
    /// The engine says that another node appended first.
    Taken,
    /// The entry is appended, and the process of the caller dies.
    Died,
}

/// An engine in memory.
#[derive(Default)]
pub(crate) struct Engine {
    state: Mutex<EngineState>,
}

#[derive(Default)]
struct EngineState {
    histories: BTreeMap<String, Vec<Vec<u8>>>,
    blobs: HashMap<Hash, Vec<u8>>,
    append_faults: VecDeque<AppendFault>,
    /// The number of appends before them that go well.
    sound_appends: usize,
    /// The number of reads that fail.
    failing_reads: usize,
    put_faults: VecDeque<SharedError>,
    is_down: bool,
    before_append: Option<Box<dyn FnOnce() + Send>>,
}

pub(crate) fn unreachable_error() -> SharedError {
    SharedError::Unreachable { reason: Message::verbatim("refused".to_owned()) }
}

pub(crate) fn unknown_error() -> SharedError {
    SharedError::Unknown { reason: Message::verbatim("closed".to_owned()) }
}

impl Engine {
    pub(crate) fn replication(self: &Arc<Self>, library: &str) -> Replication {
        Replication {
            histories: Arc::clone(self) as Arc<dyn Histories>,
            blobs: Arc::clone(self) as Arc<dyn Blobs>,
            library: HistoryKey::parse(library).unwrap(),
            secret: [7; LIBRARY_SECRET_BYTES],
            offline_limit: None,
        }
    }

    /// The next appends go wrong in these ways.
    pub(crate) fn fail_appends(&self, faults: &[AppendFault]) {
        self.lock().append_faults.extend(faults);
    }

    /// The append after this many goes wrong.
    pub(crate) fn fail_append_after(&self, count: usize, fault: AppendFault) {
        self.lock().sound_appends = count;
        self.fail_appends(&[fault]);
    }

    pub(crate) fn fail_reads(&self, count: usize) {
        self.lock().failing_reads = count;
    }

    pub(crate) fn fail_puts(&self, faults: &[SharedError]) {
        self.lock().put_faults.extend(faults.iter().cloned());
    }

    /// Ends all faults.
    pub(crate) fn mend(&self) {
        let mut state = self.lock();
        state.append_faults.clear();
        state.put_faults.clear();
        (state.failing_reads, state.is_down) = (0, false);
    }

    pub(crate) fn set_down(&self, is_down: bool) {
        self.lock().is_down = is_down;
    }

    /// Runs `work` before the next append, after the caller has read the history.
    pub(crate) fn before_append(&self, work: impl FnOnce() + Send + 'static) {
        self.lock().before_append = Some(Box::new(work));
    }

    pub(crate) fn entries(&self, library: &str) -> Vec<Vec<u8>> {
        self.lock().histories.get(library).cloned().unwrap_or_default()
    }

    pub(crate) fn set_entries(&self, library: &str, entries: Vec<Vec<u8>>) {
        self.lock().histories.insert(library.to_owned(), entries);
    }

    pub(crate) fn blobs(&self) -> HashMap<Hash, Vec<u8>> {
        self.lock().blobs.clone()
    }

    pub(crate) fn set_blobs(&self, blobs: HashMap<Hash, Vec<u8>>) {
        self.lock().blobs = blobs;
    }

    fn lock(&self) -> MutexGuard<'_, EngineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Histories for Engine {
    fn append(&self, key: &HistoryKey, after: u64, entry: &[u8]) -> Result<Appended, SharedError> {
        // Faults are those of libraries.
        let is_library = key.as_str() != SECRET_KEY;
        let work = self.lock().before_append.take_if(|_| is_library);
        if let Some(work) = work {
            work();
        }
        let mut state = self.lock();
        let fault = if !is_library {
            None
        } else if state.sound_appends > 0 {
            state.sound_appends -= 1;
            None
        } else {
            state.append_faults.pop_front()
        };
        match fault {
            _ if state.is_down => return Err(unreachable_error()),
            Some(AppendFault::Unreachable) => return Err(unreachable_error()),
            Some(AppendFault::UnknownLost) => return Err(unknown_error()),
            Some(AppendFault::Taken) => return Ok(Appended::Taken),
            _ => {}
        }
        let history = state.histories.entry(key.as_str().to_owned()).or_default();
        if history.len() as u64 != after {
            return Ok(Appended::Taken);
        }
        history.push(entry.to_vec());
        drop(state);
        match fault {
            Some(AppendFault::UnknownAppended) => Err(unknown_error()),
            // Without a message of the panic hook.
            Some(AppendFault::Died) => std::panic::resume_unwind(Box::new("the process died")),
            _ => Ok(Appended::Done),
        }
    }

    fn read(&self, key: &HistoryKey, after: u64, limit: usize) -> Result<Vec<Vec<u8>>, SharedError> {
        let mut state = self.lock();
        if state.is_down || state.failing_reads > 0 && key.as_str() != SECRET_KEY {
            state.failing_reads = state.failing_reads.saturating_sub(1);
            return Err(unreachable_error());
        }
        let history = state.histories.get(key.as_str()).map_or(&[][..], |history| history);
        let after = usize::try_from(after).unwrap();
        Ok(history.iter().skip(after).take(limit).cloned().collect())
    }

    fn lengths(&self, keys: &[HistoryKey]) -> Result<Vec<u64>, SharedError> {
        let state = self.lock();
        if state.is_down {
            return Err(unreachable_error());
        }
        let length = |key: &HistoryKey| state.histories.get(key.as_str()).map_or(0, |history| history.len() as u64);
        Ok(keys.iter().map(length).collect())
    }
}

impl Blobs for Engine {
    fn put(&self, hash: Hash, bytes: &[u8]) -> Result<(), SharedError> {
        let mut state = self.lock();
        if state.is_down {
            return Err(unreachable_error());
        }
        if let Some(error) = state.put_faults.pop_front() {
            return Err(error);
        }
        state.blobs.insert(hash, bytes.to_vec());
        Ok(())
    }

    fn get(&self, hash: Hash) -> Result<Option<Vec<u8>>, SharedError> {
        let state = self.lock();
        if state.is_down { Err(unreachable_error()) } else { Ok(state.blobs.get(&hash).cloned()) }
    }
}

fn tool() -> ToolId {
    ToolId::from_bytes([3; 32])
}

fn hash(byte: u8) -> SharedHash {
    SharedHash(Hash::from_bytes([byte; 32]))
}

/// One change of each kind.
fn changes() -> Vec<Change> {
    let (at, text) = (Timestamp::new(1_700_000_000, 123_456_789).unwrap(), |text: &str| text.to_owned());
    let version = NewVersion { folded: text("a"), number: 1, version: hash(1), source: hash(2), demotes: false };
    let decide = |decision| Change::Decide { tool: tool(), grants: json!({ "n": 1 }), decision, by: text("me"), at };
    let definition = SharedDefinition { tool: text("read"), digest: hash(3), form: text("{}") };
    let put = SharedWrite { key: text("k"), value: Some(text("\"v\"")), expires_at: Some(at) };
    let delete = SharedWrite { key: text("k"), value: None, expires_at: None };
    vec![
        Change::Versions { versions: vec![version.clone(), NewVersion { number: 2, demotes: true, ..version }] },
        decide(ApprovalChange::Approved),
        decide(ApprovalChange::ApprovedOnce),
        decide(ApprovalChange::Refused),
        decide(ApprovalChange::Requested),
        Change::Revoke { tool: tool() },
        Change::TakeApproval { tool: tool(), grants: json!({}) },
        Change::SetStatus { tool: tool(), status: Status::Passed },
        Change::Deprecate { tool: tool(), successor: None },
        Change::Deprecate { tool: tool(), successor: Some(tool()) },
        Change::Trust { server: text("mail"), tools: vec![definition], by: text("me"), at },
        Change::Suspend {
            run: text("r"),
            tool: tool(),
            caller: text("me"),
            at,
            binding: text("{}"),
            state: text("AAAA"),
        },
        Change::TakeSuspended { run: text("r") },
        Change::Spend { token: hash(4), until: at, now: at },
        Change::Write { space: text("notes"), writes: vec![put, delete], now: at },
        Change::ClearSpace { space: text("notes") },
        Change::Label { holders: vec![text("kv:notes")], sources: vec![text("server:mail")] },
        Change::ClearLabel { holder: text("kv:notes") },
        Change::Collect { names: vec![text("a")], suspended_before: at, now: at },
        Change::End { node: text("n"), at },
    ]
}

fn entry(change: Change) -> Entry {
    let audit = EntryAudit { id: "c_1".to_owned(), after: 3, line: "{}".to_owned() };
    Entry { node: "n".to_owned(), audit: Some(audit), change }
}

#[test]
fn a_key_has_letters_digits_and_a_few_marks() {
    let check = |text: &str, expect: bool| assert_eq!(HistoryKey::parse(text).is_ok(), expect, "{text:?}");
    check("a", true);
    check("library/Alice-1_2.x", true);
    check(&"a".repeat(KEY_LIMIT), true);
    check(&"a".repeat(KEY_LIMIT + 1), false);
    for text in ["", " ", "a b", "ä", "a\0", "a\n", "a:b", "'"] {
        check(text, false);
    }
    assert_eq!(HistoryKey::parse("\n").unwrap_err().code(), "shared-invalid");
}

#[test]
fn each_change_is_read_as_it_was_written() {
    let engine = Arc::new(Engine::default());
    let replication = engine.replication("library");
    let mut at = Position::start();
    for change in changes() {
        let entry = entry(change);
        let bytes = replication.seal(&entry, at).unwrap();
        assert_eq!(replication.open(&bytes, at).unwrap().0, entry);
        at = at.after(&bytes);
    }
    let silent = Entry { node: "n".to_owned(), audit: None, change: Change::Revoke { tool: tool() } };
    let bytes = replication.seal(&silent, at).unwrap();
    assert_eq!(replication.open(&bytes, at).unwrap().0, silent);
    assert!(engine.blobs().is_empty());
}

#[test]
fn a_number_of_a_grant_is_read_as_it_was_written() {
    let engine = Arc::new(Engine::default());
    let replication = engine.replication("library");
    let mut bits = 1_u64;
    for _ in 0..20_000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = f64::from_bits(bits);
        if !number.is_finite() {
            continue;
        }
        let grants = json!({ "n": number });
        let (decision, by, at) = (ApprovalChange::Approved, "me".to_owned(), Timestamp::UNIX_EPOCH);
        let entry = entry(Change::Decide { tool: tool(), grants, decision, by, at });
        let bytes = replication.seal(&entry, Position::start()).unwrap();
        assert_eq!(replication.open(&bytes, Position::start()).unwrap().0, entry, "{number:e}");
    }
}

#[test]
fn an_entry_is_right_at_one_place_of_one_history() {
    let engine = Arc::new(Engine::default());
    let replication = engine.replication("library");
    let start = Position::start();
    let bytes = replication.seal(&entry(Change::Revoke { tool: tool() }), start).unwrap();
    let refused = |replication: &Replication, bytes: &[u8], at: Position| {
        let error = replication.open(bytes, at).unwrap_err();
        assert_eq!(error.code(), "shared-invalid", "{error}");
    };
    assert!(replication.open(&bytes, start).is_ok());
    refused(&replication, &bytes, Position { count: 1, ..start });
    refused(&replication, &bytes, Position { last: Hash::from_bytes([1; 32]), ..start });
    refused(&engine.replication("librarx"), &bytes, start);
    refused(&Replication { secret: [8; 32], ..replication.clone() }, &bytes, start);
    for at in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[at] ^= 1;
        refused(&replication, &altered, start);
        refused(&replication, &bytes[..at], start);
    }
    refused(&replication, &[&bytes[..], b" "].concat(), start);
}

#[test]
fn a_change_that_this_version_does_not_know_is_refused() {
    let engine = Arc::new(Engine::default());
    let replication = engine.replication("library");
    let start = Position::start();
    let refused = |body: &[u8], expect: &str| {
        let bytes = [&replication.tag(start, body).as_bytes()[..], body].concat();
        let error = replication.open(&bytes, start).unwrap_err();
        assert_eq!((error.code().as_str(), error.to_string().contains(expect)), ("shared-invalid", true), "{error}");
    };
    refused(b"\0{\"node\":\"n\",\"change\":{\"do\":\"explode\"}}", "explode");
    refused(b"\0{\"node\":\"n\",\"change\":{\"do\":\"revoke\",\"tool\":1}}", "entry 1");
    refused(b"\0{\"node\":\"n\",\"change\":{\"do\":\"clear-space\",\"space\":\"a\",\"twice\":1}}", "twice");
    refused(b"\0{\"node\":\"n\",\"more\":1,\"change\":{\"do\":\"clear-space\",\"space\":\"a\"}}", "more");
    refused(b"\0{", "entry 1");
    refused(b"\x02{}", "form");
    refused(b"", "form");
    refused(b"\x01short", "entry 1");
}

#[test]
fn a_large_entry_is_a_blob() {
    let engine = Arc::new(Engine::default());
    let replication = engine.replication("library");
    let start = Position::start();
    let large = |len: usize| entry(Change::ClearSpace { space: "s".repeat(len) });
    let small = serde_json::to_vec(&large(0)).unwrap().len();
    let fits = large((64 << 10) - small);
    assert_eq!(replication.open(&replication.seal(&fits, start).unwrap(), start).unwrap().0, fits);
    assert!(engine.blobs().is_empty());

    let larger = large((64 << 10) - small + 1);
    let bytes = replication.seal(&larger, start).unwrap();
    assert_eq!((bytes.len(), engine.blobs().len()), (65, 1));
    assert_eq!(replication.open(&bytes, start).unwrap().0, larger);
    let blobs = engine.blobs();
    engine.set_blobs(blobs.keys().map(|hash| (*hash, b"{}".to_vec())).collect());
    let error = replication.open(&bytes, start).unwrap_err();
    assert!(error.to_string().contains("was altered"), "{error}");
    engine.set_blobs(HashMap::new());
    let error = replication.open(&bytes, start).unwrap_err();
    assert!(error.to_string().contains("is lost"), "{error}");
    engine.set_down(true);
    assert_eq!(replication.open(&bytes, start).unwrap_err().code(), "shared-unreachable");
    assert_eq!(replication.seal(&larger, start).unwrap_err().code(), "shared-unreachable");
}

#[test]
fn a_blob_that_may_be_stored_changes_nothing() {
    let engine = Arc::new(Engine::default());
    let replication = engine.replication("library");
    engine.fail_puts(&[unknown_error()]);
    let large = entry(Change::ClearSpace { space: "s".repeat(64 << 10) });
    assert_eq!(replication.seal(&large, Position::start()).unwrap_err().code(), "shared-unreachable");
}

#[test]
fn keys_differ_by_secret_library_and_purpose() {
    let engine = Arc::new(Engine::default());
    let replication = engine.replication("library");
    let key = replication.derive_key("context", "purpose");
    assert_eq!(Arc::new(Engine::default()).replication("library").derive_key("context", "purpose"), key);
    let others = [
        replication.derive_key("context", "other"),
        replication.derive_key("other", "purpose"),
        engine.replication("librarypurpose").derive_key("context", ""),
        engine.replication("librar").derive_key("context", "ypurpose"),
        Replication { secret: [8; 32], ..replication.clone() }.derive_key("context", "purpose"),
    ];
    assert!(!others.contains(&key));
    assert!(!format!("{replication:?}").contains('7'));
}
