//! Power failure directly after an acknowledgement: acknowledged data is there afterwards.
//!
//! The content of the disk is derived from the worker's system calls: each file has the content of
//! its last sync, or none. Names may be kept or lost until their folder is synced.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use store_worker::{StoreAction, StoreOrder, StoreReply, StoreState, StoreWorker, SyncMode};

use super::calls::{CallKind, InterceptedCall};
use super::tracer::{ProcessEnd, TracedSession};
use crate::crash_consistency::model::{apply_all, matching_state};
use crate::crash_consistency::start::StoreSnapshot;
use crate::crash_consistency::{scratch, scripts};

/// What survives a power failure.
#[derive(Default)]
struct SyncedState {
    /// The content of each file at its last sync, by inode, because names change.
    contents: BTreeMap<u64, Vec<u8>>,
    /// The names in the folders at their last sync.
    names: BTreeSet<PathBuf>,
}

/// What happens to names that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnsyncedNames {
    Kept,
    Lost,
}

impl SyncedState {
    /// Records what a call makes durable.
    fn observe(&mut self, folder: &Path, call: &InterceptedCall) {
        match call.kind {
            CallKind::Sync => self.sync(&call.file),
            CallKind::SyncAll => walk(folder, &mut |path| self.sync(path)),
            _ => {}
        }
    }

    fn sync(&mut self, path: &Path) {
        if path.is_dir() {
            self.names.retain(|name| name.parent() != Some(path));
            self.names.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            self.contents.insert(inode(path), std::fs::read(path).unwrap());
        }
    }

    /// Creates the store as it is found after the power failure.
    fn image(&self, folder: &Path, names: UnsyncedNames) -> tempfile::TempDir {
        let image = scratch();
        walk(folder, &mut |path| {
            let copy = image.path().join(path.strip_prefix(folder).unwrap());
            let lost = names == UnsyncedNames::Lost && !self.names.contains(path);
            // SQLite recreates its shared memory, whatever it contains.
            if lost || copy.ends_with("index.sqlite-shm") || !copy.parent().unwrap().exists() {
                return;
            }
            if path.is_dir() {
                std::fs::create_dir_all(copy).unwrap();
            } else {
                let content = self.contents.get(&inode(path)).map_or(&[][..], Vec::as_slice);
                std::fs::write(copy, content).unwrap();
            }
        });
        image
    }
}

fn inode(path: &Path) -> u64 {
    path.metadata().unwrap().ino()
}

/// Visits a folder and everything below it, each folder before its content.
fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    visit(folder);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, visit) } else { visit(&path) }
    }
}

/// Whether an order is durable by itself, and not only with the next one that is.
fn is_synced(order: &StoreOrder) -> bool {
    !matches!(order.verb, StoreAction::Use(..) | StoreAction::Record(..))
}

/// Cuts the power before each reply of a worker in turn.
fn cut_at_every_answer(names: UnsyncedNames, start: &StoreSnapshot, script: &[StoreOrder]) {
    let again = start.copy_to_temp();
    let folder = again.path();
    let (mut kept, mut answered) = (SyncedState::default(), 0);
    kept.names.insert(folder.to_owned());
    // The index was synced before; whether the objects were is unknown.
    for file in ["toolcell-store", "index.sqlite", "index.sqlite-wal"].map(|name| folder.join(name)) {
        if file.exists() {
            kept.sync(&file);
        }
    }
    let mut watch = |call: &InterceptedCall| {
        kept.observe(folder, call);
        if call.kind != CallKind::Answer {
            return;
        }
        answered += 1;
        let image = kept.image(folder, names);
        let context = format!("{names:?} names, power cut after {:?}", script[answered - 1]);
        let mut worker = StoreWorker::new(image.path(), SyncMode::Unsynced);
        let store = worker.store().unwrap_or_else(|error| panic!("{context}: {error}"));
        let found = StoreState::read(store, &start.names(script));
        let found = found.unwrap_or_else(|wrong| panic!("{context}: {wrong:?}"));
        let synced = script[..answered].iter().rposition(is_synced).map_or(0, |last| last + 1);
        let possible: Vec<StoreState> =
            (synced..=answered).map(|end| apply_all(&start.state, &script[..end])).collect();
        matching_state(&possible, &found).unwrap_or_else(|wrong| panic!("{context}: {wrong}"));
    };
    let run = TracedSession::new(folder, SyncMode::Synced, script).with_watch(&mut watch).run();
    assert_eq!((run.end, run.answers), (ProcessEnd::Exited(0), vec![StoreReply::Done; script.len()]));
    assert_eq!(answered, script.len());
}

#[test]
fn what_is_acknowledged_outlasts_a_loss_of_power() {
    for names in [UnsyncedNames::Kept, UnsyncedNames::Lost] {
        cut_at_every_answer(names, &StoreSnapshot::empty(), &scripts::full_script());
    }
}

#[test]
fn what_is_acknowledged_outlasts_a_loss_of_power_while_hundreds_of_objects_are_synced() {
    cut_at_every_answer(UnsyncedNames::Kept, &StoreSnapshot::about_to_sync(), &scripts::late_script());
}

#[test]
fn what_is_acknowledged_outlasts_a_loss_of_power_while_the_log_is_written_into_the_index() {
    cut_at_every_answer(UnsyncedNames::Kept, &StoreSnapshot::about_to_checkpoint(), &scripts::late_script());
}
