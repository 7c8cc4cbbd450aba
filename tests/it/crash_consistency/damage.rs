//! Bit flips and truncated files: a read returns the right data or an error, and never another
//! tool.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use store_worker::{SampleTool, StoreAction, StoreOrder, StoreWorker, SyncMode};
use toolcell_store::{Store, ToolRef};
use toolcell_tool::{IdPrefix, ToolName, ToolSpec};

use super::start::StoreSnapshot;
use super::{scripts, torture};

/// Tools under four names, two of which resolved to other tools before.
fn script() -> Vec<StoreOrder> {
    let name = |name: &str| name.to_owned();
    scripts::orders([
        StoreAction::Put(SampleTool::new("sum", 1)),
        StoreAction::Put(SampleTool::long("mean", 1)),
        StoreAction::Replace(SampleTool::new("sum", 2)),
        StoreAction::Put(SampleTool::new("max", 1)),
        StoreAction::Use(name("max"), Some(name("timeout"))),
        StoreAction::Put(SampleTool::new("min", 1)),
        StoreAction::Replace(SampleTool::new("min", 2)),
    ])
}

/// The tools of [`script`], by identifier.
fn specs() -> BTreeMap<String, ToolSpec> {
    let samples = script().into_iter().filter_map(|order| match order.verb {
        StoreAction::Put(sample) | StoreAction::Replace(sample) => Some(sample.spec()),
        _ => None,
    });
    samples.map(|spec| (spec.id().to_string(), spec)).collect()
}

/// Replaces a file. All copies of a store share objects as hard links, so the file must not be
/// changed in place.
fn overwrite(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Reads everything and returns the codes of the errors. Every tool that is read must be the right
/// one.
fn read_all(folder: &Path, context: &str) -> Vec<&'static str> {
    let mut worker = StoreWorker::new(folder, SyncMode::Unsynced);
    let store = match worker.store() {
        Ok(store) => store,
        Err(error) => return vec![error.code().as_str()],
    };
    let mut codes = Vec::new();
    for (id, spec) in specs() {
        match store.catalog().find_any(&IdPrefix::parse(&id).unwrap()) {
            Ok(entry) => {
                assert_eq!(entry.id.to_string(), id, "{context}");
                codes.extend(read(store, &entry, &spec, context));
            }
            Err(error) => codes.push(error.code().as_str()),
        }
    }
    for name in ["sum", "mean", "max", "min"].map(|name| ToolName::parse(name).unwrap()) {
        match store.catalog().find(&ToolRef::Name(name.clone())) {
            Ok(entry) => match specs().get(&entry.id.to_string()) {
                Some(spec) => {
                    assert_eq!(*spec.name(), name, "{context}: {name} leads to {}", spec.name());
                    codes.extend(read(store, &entry, spec, context));
                }
                // Running the tool reports the damage.
                None => match store.catalog().spec(&entry) {
                    Ok(spec) => panic!("{context}: {name} leads to {}", spec.id()),
                    Err(fault) => codes.push(fault.code().as_str()),
                },
            },
            Err(error) => codes.push(error.code().as_str()),
        }
    }
    codes
}

fn read(store: &Store, entry: &toolcell_store::Entry, expect: &ToolSpec, context: &str) -> Option<&'static str> {
    match store.catalog().spec(entry) {
        Ok(spec) => {
            assert_eq!(spec, *expect, "{context}");
            None
        }
        Err(fault) => Some(fault.code().as_str()),
    }
}

fn objects(folder: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(folder.join("objects")).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

/// Returns damaged versions of some bytes: a flipped bit at some hundred positions, and truncated
/// or extended content.
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

/// Damages each object in each way, and passes the error codes of each to `judge`.
fn with_damaged_objects(keeping: SyncMode, mut judge: impl FnMut(&[&str], &str)) {
    let start = StoreSnapshot::after_orders(keeping, &script());
    for object in objects(start.path()) {
        let bytes = std::fs::read(&object).unwrap();
        let step = if torture() { 1 } else { bytes.len() / 20 };
        for (what, damaged) in damages(&bytes, step) {
            let folder = start.copy_to_temp();
            let path = folder.path().join(object.strip_prefix(start.path()).unwrap());
            overwrite(&path, &damaged);
            let context = format!("{what} in {}", object.display());
            judge(&read_all(folder.path(), &context), &context);
        }
    }
}

#[test]
fn a_damaged_object_is_never_taken_for_what_it_was() {
    let mut noticed = 0;
    with_damaged_objects(SyncMode::Unsynced, |codes, context| {
        assert!(codes.iter().all(|code| *code == "integrity"), "{context}: {codes:?}");
        noticed += usize::from(!codes.is_empty());
    });
    // Reading a tool does not read earlier versions of its name.
    assert!(noticed > 100, "{noticed}");
}

#[test]
fn an_object_that_is_not_yet_safe_on_the_disk_is_made_again() {
    with_damaged_objects(SyncMode::Synced, |codes, context| assert!(codes.is_empty(), "{context}: {codes:?}"));
}

#[test]
fn a_damaged_index_leads_to_no_other_tool() {
    let start = StoreSnapshot::after_orders(SyncMode::Unsynced, &script());
    let bytes = std::fs::read(start.path().join("index.sqlite")).unwrap();
    let mut noticed = 0;
    for (what, damaged) in damages(&bytes, if torture() { 1 } else { 29 }) {
        let folder = start.copy_to_temp();
        overwrite(&folder.path().join("index.sqlite"), &damaged);
        let codes = read_all(folder.path(), &what);
        // A tool that the index has lost is not found, though its objects exist. SQLite reports no
        // corruption afterwards for some damage that it ran into; that is reported as a failed
        // read.
        let known = ["integrity", "tool-not-found", "store-newer", "disk-failed"];
        assert!(codes.iter().all(|code| known.contains(code)), "{what}: {codes:?}");
        noticed += usize::from(!codes.is_empty());
    }
    assert!(noticed > 10, "{noticed}");
}
