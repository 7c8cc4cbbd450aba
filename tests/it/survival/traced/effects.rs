//! What tools do with files and with a space of keys and values fails at each call to the kernel in turn: what the error says of its
//! effects is what is found afterwards.
//!
//! `none` is what was there before, `committed` is what was to be there, and `started` may be either, or half of it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolcell::store::{Settings, Store, ToolRef};
use toolcell::{Effects, RunRecord};
use toolcell_tool::SpaceName;

use super::calls::{Call, Fault, Kind};
use super::tracer::{End, Ran, run};
use crate::mcp::home::binary;
use crate::operations::{AUTO, Host};
use crate::survival::start::copy;
use crate::survival::torture;

/// A store with a tool in it, and the folder that the tool is granted.
struct Bench {
    host: Host,
    around: TempDir,
}

/// What is in a folder: names, and the content of files.
type Tree = BTreeMap<String, Option<String>>;

impl Bench {
    /// One whose tool does this, and says what it failed with.
    fn new(what: &str) -> Self {
        let around = tempfile::tempdir().unwrap();
        let data = around.path().join("data");
        let data = data.to_str().unwrap();
        let files = format!("[[grants.default.files]]\nname = \"data\"\npath = \"{data}\"\naccess = \"write\"");
        let policy = format!("{AUTO}\n[grants.default.kv]\nspace = \"notes\"\n{files}\n");
        std::fs::create_dir(data).unwrap();
        let host = Host::under(&policy);
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

    /// Everything is as it was.
    fn again(&self) {
        for folder in [self.data(), self.store()] {
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir(&folder).unwrap();
        }
        copy(self.host.path(), &self.store());
        std::fs::write(self.data().join("old"), "old").unwrap();
        std::fs::create_dir(self.data().join("sub")).unwrap();
    }

    /// Lets the tool run while something happens to one of the calls that this is true of.
    fn act(&self, fault: Fault, point: usize, about: &dyn Fn(&Call) -> bool) -> Acted {
        self.again();
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
        let ran = run(&binary(), &words, fault, point, about);
        let answer: Value = serde_json::from_str(&ran.said[0]).unwrap_or_else(|_| panic!("{ran:?}"));
        let said = match &answer["value"] {
            Value::String(_) => Some(Effects::Committed),
            Value::Array(failed) => Some(serde_json::from_value(failed[1].clone()).unwrap()),
            // The run was refused, or is not recorded, which is said of the run. Of a store that does not open nothing is said.
            _ => serde_json::from_value(answer["error"]["effects"].clone()).ok(),
        };
        Acted { ran, said, seen: answer["value"].is_array() }
    }

    /// How far the record of the last run says that it got, where there is one.
    fn recorded(&self) -> Option<Effects> {
        let store = Store::open(&self.store(), &Settings::default()).unwrap();
        let entry = store.find(&ToolRef::parse("act").unwrap()).unwrap();
        let hash = store.records(entry.id, 1).unwrap().pop()?;
        let record: RunRecord = serde_json::from_slice(&store.record(hash).unwrap().unwrap().body).unwrap();
        Some(record.done?.effects.last().unwrap().effects)
    }

    /// What a key of the space leads to.
    fn value(&self) -> String {
        let store = Store::open(&self.store(), &Settings::default()).unwrap();
        let space = SpaceName::parse("notes").unwrap();
        store.space_get(&space, "k", crate::operations::now()).unwrap().unwrap().value
    }
}

/// What came of it.
struct Acted {
    ran: Ran,
    /// What is said of the effects.
    said: Option<Effects>,
    /// Whether the tool saw an error.
    seen: bool,
}

fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // No tool is shown what nobody finished writing.
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

/// What may be found where it is not known what happened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Halves {
    /// One or the other.
    None,
    /// A part of what was to be there as well.
    Some,
}

/// Lets something happen at each point of what a tool does, and gives how often each effect was said with an error. `is_half` says of
/// what is found whether it is a part of what was to be there.
fn at_each_point<T: PartialEq + std::fmt::Debug>(
    what: &str,
    faults: &[Fault],
    about: &dyn Fn(&Bench, &Call) -> bool,
    found: impl Fn(&Bench) -> T,
    is_half: impl Fn(&T, &T, &T) -> bool,
) -> BTreeMap<Effects, usize> {
    let bench = Bench::new(what);
    bench.again();
    let before = found(&bench);
    assert_eq!(bench.act(Fault::Short, usize::MAX, &|_| false).said, Some(Effects::Committed), "{what}");
    let after = found(&bench);
    let mut said = BTreeMap::new();
    for fault in faults {
        for point in 0.. {
            let Acted { ran, said: effects, seen } = bench.act(*fault, point, &|call| about(&bench, call));
            let Some(hit) = &ran.hit else {
                assert!(point > 0 || !matches!(fault, Fault::Fail(Errno::EIO)), "{what}: {fault:?} happens to nothing");
                break;
            };
            let now = found(&bench);
            let context = format!("{what}, {fault:?} at {point}, {hit:?}: {:?}, and there is {now:?}", ran.said);
            assert!(matches!(ran.end, End::Exited(0..=6)), "{context}: {:?}", ran.end);
            match effects {
                Some(Effects::None) => assert_eq!(now, before, "{context}"),
                Some(Effects::Committed) => assert_eq!(now, after, "{context}"),
                Some(Effects::Started) | None => {
                    assert!(now == before || now == after || is_half(&before, &after, &now), "{context}");
                }
            }
            if seen {
                *said.entry(effects.unwrap()).or_default() += 1;
                // Where nothing can be written any more the record waits in the journal of the run.
                let recorded = bench.recorded();
                assert!(
                    recorded == effects || recorded.is_none() && *fault == Fault::Broken,
                    "{context}: {recorded:?}"
                );
            }
        }
    }
    said
}

/// Whether there is nothing but what was there before and parts of what was to be there.
fn is_part(before: &Tree, after: &Tree, now: &Tree) -> bool {
    let as_before = before.keys().all(|name| now.contains_key(name));
    let begun = |name: &String, content: &Option<String>| match (after.get(name), content) {
        (Some(Some(whole)), Some(part)) => whole.starts_with(part.as_str()),
        (whole, part) => whole == Some(part),
    };
    as_before && now.iter().all(|(name, content)| begun(name, content))
}

/// What a tool does with files, at each call that is about one of them.
fn with_files(what: &str, halves: Halves, expect: &[Effects]) {
    // A file system that cannot rename without replacing says `EINVAL`.
    let all = [Errno::EIO, Errno::ENOSPC, Errno::EINTR, Errno::EINVAL].map(Fault::Fail);
    let (faults, all) = (&all[..1], [&all[..], &[Fault::Short, Fault::Broken]].concat());
    let faults = if torture() { &all[..] } else { faults };
    let about = |bench: &Bench, call: &Call| call.file.starts_with(bench.data());
    let is_half = |before: &Tree, after: &Tree, now: &Tree| halves == Halves::Some && is_part(before, after, now);
    let said = at_each_point(what, faults, &about, |bench| tree(&bench.data()), is_half);
    assert_eq!(said.keys().copied().collect::<Vec<_>>(), expect, "{what}: {said:?}");
}

#[test]
fn what_an_error_says_of_a_file_that_is_written_is_true() {
    with_files("files.write('data/old', 'new')", Halves::None, &[Effects::None, Effects::Committed]);
    with_files("files.create('data/new', 'new')", Halves::None, &[Effects::None, Effects::Committed]);
}

#[test]
fn what_an_error_says_of_a_file_that_grows_is_true() {
    with_files("files.append('data/old', ' and more')", Halves::Some, &[Effects::None, Effects::Started]);
    with_files("files.append('data/new', 'more')", Halves::Some, &[Effects::None, Effects::Started]);
}

#[test]
fn what_an_error_says_of_something_that_is_removed_is_true() {
    with_files("files.remove('data/old')", Halves::None, &[Effects::None, Effects::Committed]);
    with_files("files.remove('data/sub')", Halves::None, &[Effects::None, Effects::Committed]);
}

#[test]
fn what_an_error_says_of_a_folder_that_is_made_is_true() {
    with_files("files.mkdir('data/a/b')", Halves::Some, &[Effects::None, Effects::Started]);
}

#[test]
fn who_cannot_read_has_changed_nothing() {
    for what in ["files.readText('data/old')", "files.list('data')", "files.stat('data/old')"] {
        with_files(what, Halves::None, &[Effects::None]);
    }
}

#[test]
fn what_an_error_says_of_a_pair_that_is_written_is_true() {
    let about = |_: &Bench, call: &Call| {
        let name = call.file.file_name().unwrap_or_default().to_string_lossy();
        let looks = if torture() { call.kind != Kind::Lock } else { !matches!(call.kind, Kind::Look | Kind::Lock) };
        // The lock at which writers queue is given up once all is written. Who cannot give up one of SQLite's waits for himself.
        name.starts_with("index.sqlite") && looks || name == "writer"
    };
    let faults = [Errno::EIO, Errno::ENOSPC].map(Fault::Fail);
    let faults = if torture() { &faults[..] } else { &faults[..1] };
    let said = at_each_point("kv.set('k', 'new')", faults, &about, Bench::value, |_, _, _| false);
    for effects in [Effects::None, Effects::Started, Effects::Committed] {
        assert!(said.contains_key(&effects), "{effects:?} was never said: {said:?}");
    }
}

#[test]
fn a_pair_whose_commit_failed_may_be_found_all_the_same() {
    let about = |_: &Bench, call: &Call| {
        call.file.ends_with("index.sqlite-wal") && matches!(call.kind, Kind::Write(_) | Kind::Sync)
    };
    let found = Cell::new(0);
    let value = |bench: &Bench| {
        let value = bench.value();
        found.set(found.get() + usize::from(value == "\"new\""));
        value
    };
    // Nothing is written any more after what failed, so what is in the log stays there.
    let said = at_each_point("kv.set('k', 'new')", &[Fault::Broken], &about, value, |_, _, _| false);
    assert!(said.contains_key(&Effects::Started), "{said:?}");
    // Once it was found where nothing failed.
    assert!(found.get() > 1, "the log of a commit that failed was never found");
}
