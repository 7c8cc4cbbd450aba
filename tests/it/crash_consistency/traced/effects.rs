//! Host calls on files and key-value spaces, failing at each system call in turn: the effects in
//! the error match what is found afterwards.
//!
//! `none` is the state before, `committed` is the state after, and `started` may be either, or
//! partial.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::store::{Settings, Store, ToolRef};
use toolcell::{Effects, RunRecord};
use toolcell_tool::SpaceName;

use super::calls::{CallKind, InjectedFault, InterceptedCall};
use super::tracer::{ProcessEnd, TracedOutput, run_traced};
use crate::crash_consistency::start::copy;
use crate::crash_consistency::torture;
use crate::mcp::server::binary;
use crate::operations::{AUTO, ToolboxFixture};

/// A store with a tool, and the folder granted to it.
struct EffectFixture {
    host: ToolboxFixture,
    around: TempDir,
}

/// The content of a folder: names with the content of files.
type Tree = BTreeMap<String, Option<String>>;

impl EffectFixture {
    /// Creates a fixture whose tool evaluates `what` and returns its error.
    fn new(what: &str) -> Self {
        let around = tempfile::tempdir().unwrap();
        let data = around.path().join("data");
        let data = data.to_str().unwrap();
        let files = format!("[[grants.default.files]]\nname = \"data\"\npath = \"{data}\"\naccess = \"write\"");
        let policy = format!("{AUTO}\n[grants.default.kv]\nspace = \"notes\"\n{files}\n");
        std::fs::create_dir(data).unwrap();
        let host = ToolboxFixture::with_policy(&policy);
        let code = format!(
            "const execute = async () => {{ try {{ await {what}; return 'done' }} catch (error) {{ return [error.code, error.effects] }} }}"
        );
        let asks = json!(["kv", "files"]);
        host.create(&json!({ "name": "act", "description": "a tool", "code": code, "capabilities": asks })).unwrap();
        host.create(&json!({ "name": "old", "description": "a tool", "code": "const execute = () => kv.set('k', 'old')", "capabilities": asks }))
            .unwrap();
        host.run("old", &json!({})).unwrap().value().unwrap();
        std::fs::write(around.path().join("rules.toml"), policy).unwrap();
        Self { host, around }
    }

    fn data(&self) -> PathBuf {
        self.around.path().join("data")
    }

    fn store(&self) -> PathBuf {
        self.around.path().join("store")
    }

    /// Restores the initial state.
    fn reset(&self) {
        for folder in [self.data(), self.store()] {
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir(&folder).unwrap();
        }
        copy(self.host.path(), &self.store());
        std::fs::write(self.data().join("old"), "old").unwrap();
        std::fs::create_dir(self.data().join("sub")).unwrap();
    }

    /// Runs the tool with a fault injected into one of the matching calls.
    fn act(&self, fault: InjectedFault, point: usize, about: &dyn Fn(&InterceptedCall) -> bool) -> ActResult {
        self.reset();
        let (rules, store) = (self.around.path().join("rules.toml"), self.store());
        let words = [
            "--json",
            "--no-project",
            "--config",
            rules.to_str().unwrap(),
            "--dir",
            store.to_str().unwrap(),
            "run",
            "act",
        ];
        let ran = run_traced(&binary(), &words, fault, point, about);
        let answer: Value = serde_json::from_str(&ran.output[0]).unwrap_or_else(|_| panic!("{ran:?}"));
        let reported = match &answer["value"] {
            Value::String(_) => Some(Effects::Committed),
            Value::Array(failed) => Some(serde_json::from_value(failed[1].clone()).unwrap()),
            // The run was refused or not recorded, so the error of the run has the effects. There
            // are none if the store did not open.
            _ => serde_json::from_value(answer["error"]["effects"].clone()).ok(),
        };
        ActResult { ran, reported, seen: answer["value"].is_array() }
    }

    /// Returns the effects in the record of the last run, if there is one.
    fn recorded(&self) -> Option<Effects> {
        let store = Store::open(&self.store(), &Settings::default()).unwrap();
        let entry = store.catalog().find(&ToolRef::parse("act").unwrap()).unwrap();
        let hash = store.runs().records(entry.id, 1).unwrap().pop()?;
        let record: RunRecord = serde_json::from_slice(&store.runs().record(hash).unwrap().unwrap().body).unwrap();
        Some(record.done?.effects.last().unwrap().effects)
    }

    /// Returns the value of the key.
    fn value(&self) -> String {
        let store = Store::open(&self.store(), &Settings::default()).unwrap();
        let space = SpaceName::parse("notes").unwrap();
        store.kv(&space).get("k", crate::operations::now()).unwrap().unwrap().value
    }
}

/// The result of a run.
struct ActResult {
    ran: TracedOutput,
    /// The reported effects.
    reported: Option<Effects>,
    /// Whether the tool saw an error.
    seen: bool,
}

fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // Tools never see unfinished writes.
        if name.starts_with(".toolcell-unfinished-") {
            continue;
        }
        if path.is_dir() {
            tree.extend(self::tree(&path).into_iter().map(|(below, content)| (format!("{name}/{below}"), content)));
            tree.insert(name, None);
        } else {
            tree.insert(name, Some(std::fs::read_to_string(&path).unwrap()));
        }
    }
    tree
}

/// Whether partial states may be found after `started`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartialStates {
    /// Only the state before or after.
    Forbidden,
    /// Partial states too.
    Allowed,
}

/// Injects faults at each point of what a tool does, and counts the effects in its errors.
/// `is_half` tells whether a state is partial.
fn at_each_point<T: PartialEq + std::fmt::Debug>(
    what: &str,
    faults: &[InjectedFault],
    about: &dyn Fn(&EffectFixture, &InterceptedCall) -> bool,
    found: impl Fn(&EffectFixture) -> T,
    is_half: impl Fn(&T, &T, &T) -> bool,
) -> BTreeMap<Effects, usize> {
    let bench = EffectFixture::new(what);
    bench.reset();
    let before = found(&bench);
    assert_eq!(bench.act(InjectedFault::Short, usize::MAX, &|_| false).reported, Some(Effects::Committed), "{what}");
    let after = found(&bench);
    let mut reported = BTreeMap::new();
    for fault in faults {
        for point in 0.. {
            let ActResult { ran, reported: effects, seen } = bench.act(*fault, point, &|call| about(&bench, call));
            let Some(hit) = &ran.hit else {
                assert!(
                    point > 0 || !matches!(fault, InjectedFault::Fail(Errno::EIO)),
                    "{what}: {fault:?} happens to nothing"
                );
                break;
            };
            let now = found(&bench);
            let context = format!("{what}, {fault:?} at {point}, {hit:?}: {:?}, and there is {now:?}", ran.output);
            assert!(matches!(ran.end, ProcessEnd::Exited(0..=6)), "{context}: {:?}", ran.end);
            match effects {
                Some(Effects::None) => assert_eq!(now, before, "{context}"),
                Some(Effects::Committed) => assert_eq!(now, after, "{context}"),
                Some(Effects::Started) | None => {
                    assert!(now == before || now == after || is_half(&before, &after, &now), "{context}");
                }
            }
            if seen {
                *reported.entry(effects.unwrap()).or_default() += 1;
                // If nothing can be written any more, the record stays in the run's journal.
                let recorded = bench.recorded();
                assert!(
                    recorded == effects || recorded.is_none() && *fault == InjectedFault::Broken,
                    "{context}: {recorded:?}"
                );
            }
        }
    }
    reported
}

/// Whether a state has only the old files and parts of the new ones.
fn is_part(before: &Tree, after: &Tree, now: &Tree) -> bool {
    let as_before = before.keys().all(|name| now.contains_key(name));
    let begun = |name: &String, content: &Option<String>| match (after.get(name), content) {
        (Some(Some(whole)), Some(part)) => whole.starts_with(part.as_str()),
        (whole, part) => whole == Some(part),
    };
    as_before && now.iter().all(|(name, content)| begun(name, content))
}

/// Tests host calls on files, with faults in each call on one of them.
fn with_files(what: &str, halves: PartialStates, expect: &[Effects]) {
    // A file system without `RENAME_NOREPLACE` returns `EINVAL`.
    let all = [Errno::EIO, Errno::ENOSPC, Errno::EINTR, Errno::EINVAL].map(InjectedFault::Fail);
    let (faults, all) = (&all[..1], [&all[..], &[InjectedFault::Short, InjectedFault::Broken]].concat());
    let faults = if torture() { &all[..] } else { faults };
    let about = |bench: &EffectFixture, call: &InterceptedCall| call.file.starts_with(bench.data());
    let is_half =
        |before: &Tree, after: &Tree, now: &Tree| halves == PartialStates::Allowed && is_part(before, after, now);
    let reported = at_each_point(what, faults, &about, |bench| tree(&bench.data()), is_half);
    assert_eq!(reported.keys().copied().collect::<Vec<_>>(), expect, "{what}: {reported:?}");
}

#[test]
fn what_an_error_says_of_a_file_that_is_written_is_true() {
    with_files("files.write('data/old', 'new')", PartialStates::Forbidden, &[Effects::None, Effects::Committed]);
    with_files("files.create('data/new', 'new')", PartialStates::Forbidden, &[Effects::None, Effects::Committed]);
}

#[test]
fn what_an_error_says_of_a_file_that_grows_is_true() {
    with_files("files.append('data/old', ' and more')", PartialStates::Allowed, &[Effects::None, Effects::Started]);
    with_files("files.append('data/new', 'more')", PartialStates::Allowed, &[Effects::None, Effects::Started]);
}

#[test]
fn what_an_error_says_of_something_that_is_removed_is_true() {
    with_files("files.remove('data/old')", PartialStates::Forbidden, &[Effects::None, Effects::Committed]);
    with_files("files.remove('data/sub')", PartialStates::Forbidden, &[Effects::None, Effects::Committed]);
}

#[test]
fn what_an_error_says_of_a_folder_that_is_made_is_true() {
    with_files("files.mkdir('data/a/b')", PartialStates::Allowed, &[Effects::None, Effects::Started]);
}

#[test]
fn who_cannot_read_has_changed_nothing() {
    for what in ["files.readText('data/old')", "files.list('data')", "files.stat('data/old')"] {
        with_files(what, PartialStates::Forbidden, &[Effects::None]);
    }
}

#[test]
fn what_an_error_says_of_a_pair_that_is_written_is_true() {
    let about = |_: &EffectFixture, call: &InterceptedCall| {
        let name = call.file.file_name().unwrap_or_default().to_string_lossy();
        let looks =
            if torture() { call.kind != CallKind::Lock } else { !matches!(call.kind, CallKind::Look | CallKind::Lock) };
        // The writers' queue lock is released once everything is written. A process that cannot
        // release one of SQLite's locks would wait for itself.
        name.starts_with("index.sqlite") && looks || name == "writer"
    };
    let faults = [Errno::EIO, Errno::ENOSPC].map(InjectedFault::Fail);
    let faults = if torture() { &faults[..] } else { &faults[..1] };
    let reported = at_each_point("kv.set('k', 'new')", faults, &about, EffectFixture::value, |_, _, _| false);
    for effects in [Effects::None, Effects::Started, Effects::Committed] {
        assert!(reported.contains_key(&effects), "{effects:?} was never said: {reported:?}");
    }
}

#[test]
fn a_pair_whose_commit_failed_may_be_found_all_the_same() {
    let about = |_: &EffectFixture, call: &InterceptedCall| {
        call.file.ends_with("index.sqlite-wal") && matches!(call.kind, CallKind::Write(_) | CallKind::Sync)
    };
    let found = Cell::new(0);
    let value = |bench: &EffectFixture| {
        let value = bench.value();
        found.set(found.get() + usize::from(value == "\"new\""));
        value
    };
    // Nothing is written after the failed call, so the log keeps what it has.
    let reported = at_each_point("kv.set('k', 'new')", &[InjectedFault::Broken], &about, value, |_, _, _| false);
    assert!(reported.contains_key(&Effects::Started), "{reported:?}");
    // One state was found without a fault.
    assert!(found.get() > 1, "the log of a commit that failed was never found");
}
