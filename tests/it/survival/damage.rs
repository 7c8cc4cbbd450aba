//! Bits that flip and files that are cut off: what is read is right, or it is an error that says so. It is never another
//! tool.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clerk::{Clerk, Keeping, Order, Sample, Verb};
use toolcell_store::{Store, ToolRef};
use toolcell_tool::{IdPrefix, ToolName, ToolSpec};

use super::start::Start;
use super::{scripts, torture};

/// Tools of four names, two of which led elsewhere before.
fn script() -> Vec<Order> {
    let name = |name: &str| name.to_owned();
    scripts::orders([
        Verb::Put(Sample::new("sum", 1)),
        Verb::Put(Sample::long("mean", 1)),
        Verb::Replace(Sample::new("sum", 2)),
        Verb::Put(Sample::new("max", 1)),
        Verb::Use(name("max"), Some(name("timeout"))),
        Verb::Put(Sample::new("min", 1)),
        Verb::Replace(Sample::new("min", 2)),
    ])
}

/// The tools of [`script`], by identifier.
fn specs() -> BTreeMap<String, ToolSpec> {
    let samples = script().into_iter().filter_map(|order| match order.verb {
        Verb::Put(sample) | Verb::Replace(sample) => Some(sample.spec()),
        _ => None,
    });
    samples.map(|spec| (spec.id().to_string(), spec)).collect()
}

/// A file with something else in it. Objects are shared by all copies of a store, so it is another file.
fn overwrite(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Asks for everything, and gives the codes of what was refused. Every tool that is read must be the right one.
fn asked(folder: &Path, context: &str) -> Vec<&'static str> {
    let mut clerk = Clerk::new(folder, Keeping::Unsynced);
    let store = match clerk.store() {
        Ok(store) => store,
        Err(error) => return vec![error.code()],
    };
    let mut codes = Vec::new();
    for (id, spec) in specs() {
        match store.find_any(&IdPrefix::parse(&id).unwrap()) {
            Ok(entry) => {
                assert_eq!(entry.id.to_string(), id, "{context}");
                codes.extend(read(store, &entry, &spec, context));
            }
            Err(error) => codes.push(error.code()),
        }
    }
    for name in ["sum", "mean", "max", "min"].map(|name| ToolName::parse(name).unwrap()) {
        match store.find(&ToolRef::Name(name.clone())) {
            Ok(entry) => match specs().get(&entry.id.to_string()) {
                Some(spec) => {
                    assert_eq!(*spec.name(), name, "{context}: {name} leads to {}", spec.name());
                    codes.extend(read(store, &entry, spec, context));
                }
                // Whoever wants to run it is told.
                None => match store.spec(&entry) {
                    Ok(spec) => panic!("{context}: {name} leads to {}", spec.id()),
                    Err(fault) => codes.push(fault.code()),
                },
            },
            Err(error) => codes.push(error.code()),
        }
    }
    codes
}

fn read(store: &Store, entry: &toolcell_store::Entry, expect: &ToolSpec, context: &str) -> Option<&'static str> {
    match store.spec(entry) {
        Ok(spec) => {
            assert_eq!(spec, *expect, "{context}");
            None
        }
        Err(fault) => Some(fault.code()),
    }
}

fn objects(folder: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(folder.join("objects")).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

/// What may become of some bytes: one of some hundred bits flips, or they end too early, or too late.
fn damages(bytes: &[u8], step: usize) -> impl Iterator<Item = (String, Vec<u8>)> {
    let flipped = (0..bytes.len()).step_by(step).map(move |at| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1 << (at / step % 8);
        (format!("bit {} of byte {at} flipped", at / step % 8), bytes)
    });
    let lengths = [0, 1, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1];
    let cut = lengths.map(|len| (format!("cut off after {len} bytes"), bytes[..len].to_vec()));
    let longer = [(format!("longer than {} bytes", bytes.len()), [bytes, b"\n"].concat())];
    flipped.chain(cut).chain(longer)
}

/// Damages each object in each way, and gives the codes that each way led to.
fn with_damaged_objects(keeping: Keeping, mut judge: impl FnMut(&[&str], &str)) {
    let start = Start::with(keeping, &script());
    for object in objects(start.path()) {
        let bytes = std::fs::read(&object).unwrap();
        let step = if torture() { 1 } else { bytes.len() / 20 };
        for (what, damaged) in damages(&bytes, step) {
            let folder = start.again();
            let path = folder.path().join(object.strip_prefix(start.path()).unwrap());
            overwrite(&path, &damaged);
            let context = format!("{what} in {}", object.display());
            judge(&asked(folder.path(), &context), &context);
        }
    }
}

#[test]
fn a_damaged_object_is_never_taken_for_what_it_was() {
    let mut noticed = 0;
    with_damaged_objects(Keeping::Unsynced, |codes, context| {
        assert!(codes.iter().all(|code| *code == "integrity"), "{context}: {codes:?}");
        noticed += usize::from(!codes.is_empty());
    });
    // Who asks for a tool does not read the versions of its name before.
    assert!(noticed > 100, "{noticed}");
}

#[test]
fn an_object_that_is_not_yet_safe_on_the_disk_is_made_again() {
    with_damaged_objects(Keeping::Synced, |codes, context| assert!(codes.is_empty(), "{context}: {codes:?}"));
}

#[test]
fn a_damaged_index_leads_to_no_other_tool() {
    let start = Start::with(Keeping::Unsynced, &script());
    let bytes = std::fs::read(start.path().join("index.sqlite")).unwrap();
    let mut noticed = 0;
    for (what, damaged) in damages(&bytes, if torture() { 1 } else { 29 }) {
        let folder = start.again();
        overwrite(&folder.path().join("index.sqlite"), &damaged);
        let codes = asked(folder.path(), &what);
        // What the index does not lead to any more is not found; the objects still have it.
        // SQLite finds nothing wrong afterwards with some of what it stumbled over; that is told as a read that failed.
        let known = ["integrity", "tool-not-found", "store-newer", "disk-failed"];
        assert!(codes.iter().all(|code| known.contains(code)), "{what}: {codes:?}");
        noticed += usize::from(!codes.is_empty());
    }
    assert!(noticed > 10, "{noticed}");
}
