//! The power is cut the moment after something was acknowledged: it is there when the machine is back.
//!
//! What a disk keeps then is worked out from the calls of a clerk: of each file what it held when it was last synced, and
//! nothing where it never was. Names may be kept or lost as well, until their folder is synced.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clerk::{Answer, Clerk, Keeping, Order, State, Verb};

use super::calls::{Call, Kind};
use super::tracer::{End, Session};
use crate::survival::model::{after_all, which};
use crate::survival::start::Start;
use crate::survival::{scratch, scripts};

/// What outlasts a loss of power.
#[derive(Default)]
struct Kept {
    /// What was in each file when it was last synced, by its inode, because names change.
    contents: BTreeMap<u64, Vec<u8>>,
    /// The names that were in the folders when they were last synced.
    names: BTreeSet<PathBuf>,
}

/// What happens to names that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Kept,
    Lost,
}

impl Kept {
    /// Takes note of what a call makes last.
    fn note(&mut self, folder: &Path, call: &Call) {
        match call.kind {
            Kind::Sync => self.sync(&call.file),
            Kind::SyncAll => each(folder, &mut |path| self.sync(path)),
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

    /// The store as it is found when the power is back.
    fn image(&self, folder: &Path, names: Names) -> tempfile::TempDir {
        let image = scratch();
        each(folder, &mut |path| {
            let copy = image.path().join(path.strip_prefix(folder).unwrap());
            let lost = names == Names::Lost && !self.names.contains(path);
            // SQLite makes its shared memory anew, whatever is in it.
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

/// Everything below a folder, and the folder itself; each folder before what is in it.
fn each(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    visit(folder);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { each(&path, visit) } else { visit(&path) }
    }
}

/// Whether an order outlasts a loss of power by itself, and not with the next one that does.
fn is_synced(order: &Order) -> bool {
    !matches!(order.verb, Verb::Use(..) | Verb::Record(..))
}

/// Cuts the power before each answer of a clerk in turn.
fn cut_at_every_answer(names: Names, start: &Start, script: &[Order]) {
    let again = start.again();
    let folder = again.path();
    let (mut kept, mut answered) = (Kept::default(), 0);
    kept.names.insert(folder.to_owned());
    // The index was synced before; whether the objects were, nobody knows.
    for file in ["toolcell-store", "index.sqlite", "index.sqlite-wal"].map(|name| folder.join(name)) {
        if file.exists() {
            kept.sync(&file);
        }
    }
    let mut watch = |call: &Call| {
        kept.note(folder, call);
        if call.kind != Kind::Answer {
            return;
        }
        answered += 1;
        let image = kept.image(folder, names);
        let context = format!("{names:?} names, power cut after {:?}", script[answered - 1]);
        let mut clerk = Clerk::new(image.path(), Keeping::Unsynced);
        let store = clerk.store().unwrap_or_else(|error| panic!("{context}: {error}"));
        let found = State::of(store, &start.names(script));
        let found = found.unwrap_or_else(|wrong| panic!("{context}: {wrong:?}"));
        let synced = script[..answered].iter().rposition(is_synced).map_or(0, |last| last + 1);
        let possible: Vec<State> = (synced..=answered).map(|end| after_all(&start.state, &script[..end])).collect();
        which(&possible, &found).unwrap_or_else(|wrong| panic!("{context}: {wrong}"));
    };
    let run = Session::new(folder, Keeping::Synced, script).watched(&mut watch).run();
    assert_eq!((run.end, run.answers), (End::Exited(0), vec![Answer::Done; script.len()]));
    assert_eq!(answered, script.len());
}

#[test]
fn what_is_acknowledged_outlasts_a_loss_of_power() {
    for names in [Names::Kept, Names::Lost] {
        cut_at_every_answer(names, &Start::nothing(), &scripts::life());
    }
}

#[test]
fn what_is_acknowledged_outlasts_a_loss_of_power_while_hundreds_of_objects_are_synced() {
    cut_at_every_answer(Names::Kept, &Start::about_to_sync(), &scripts::more());
}

#[test]
fn what_is_acknowledged_outlasts_a_loss_of_power_while_the_log_is_written_into_the_index() {
    cut_at_every_answer(Names::Kept, &Start::about_to_checkpoint(), &scripts::more());
}
