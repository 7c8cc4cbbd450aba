//! A full disk: all acknowledged data can be read, and work continues once there is space.

use std::path::Path;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use store_worker::{SampleTool, StoreAction, StoreOrder, StoreReply, StoreState, StoreWorker, SyncMode};

use super::process::{run_orders, worker_command};
use super::{model, scripts};

/// A file system of one MiB.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts it; `None` without the privilege to mount. Fault injection then covers a full disk at
    /// every write.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = mount(Some("none"), folder.path(), Some("tmpfs"), MsFlags::empty(), Some("size=1m,mode=700"));
        match mounted {
            Ok(()) => Some(Self(folder)),
            Err(error) => {
                assert!(matches!(error, Errno::EPERM | Errno::EACCES), "{error}");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // If this fails, removing the folder reports it.
        let _ = umount2(self.path(), MntFlags::MNT_DETACH);
    }
}

/// Reads the state of the store in a separate process.
fn read_state(store: &Path, script: &[StoreOrder]) -> StoreReply {
    let look = StoreOrder { at: 1, verb: StoreAction::Look(scripts::names(script)) };
    run_orders(worker_command(store, SyncMode::Synced), &[look]).remove(0)
}

#[test]
fn a_full_disk_keeps_what_was_acknowledged_and_says_so_to_anybody() {
    let Some(disk) = SmallDisk::new() else { return };
    let (store, ballast) = (disk.path().join("store"), disk.path().join("ballast"));
    std::fs::write(&ballast, vec![0; 180 << 10]).unwrap();
    let script = scripts::puts((0..1_000).map(|n| format!("tool-{n}")));
    let names = scripts::names(&script);

    let mut first = StoreWorker::new(&store, SyncMode::Synced);
    let (mut put, mut refused) = (Vec::new(), 0);
    let mut orders = script.iter();
    // A smaller tool may fit after a larger one did not.
    while refused < 10 {
        let order = orders.next().unwrap();
        match first.perform(order) {
            StoreReply::Done => put.push(order.clone()),
            answer => {
                assert_eq!(answer.code(), Some("disk-full"), "{answer:?}");
                refused += 1;
            }
        }
    }
    assert!(put.len() > 10, "{put:?}");
    let expect = model::apply_all(&StoreState::default(), &put);
    assert_eq!(StoreState::read(first.store().unwrap(), &names).unwrap(), expect, "who filled it still reads it");
    for holder in ["is still at it", "has gone"] {
        match read_state(&store, &script) {
            StoreReply::Seen { state, .. } => assert_eq!(state, expect, "who filled it {holder}"),
            other => panic!("who filled it {holder}: {other:?}"),
        }
        drop(std::mem::replace(&mut first, StoreWorker::new(&store, SyncMode::Synced)));
    }

    std::fs::remove_file(ballast).unwrap();
    let late = StoreOrder { at: 10_000_000, verb: StoreAction::Put(SampleTool::new("late", 1)) };
    assert_eq!(run_orders(worker_command(&store, SyncMode::Synced), std::slice::from_ref(&late)), [StoreReply::Done]);
    let expect = model::apply(&expect, &late).unwrap();
    assert_eq!(StoreState::read(first.store().unwrap(), &names).unwrap().listed, expect.listed);
}

#[test]
fn a_store_is_read_from_a_disk_that_others_have_filled() {
    let Some(disk) = SmallDisk::new() else { return };
    let store = disk.path().join("store");
    let script = scripts::puts((0..5).map(|n| format!("tool-{n}")));
    assert_eq!(run_orders(worker_command(&store, SyncMode::Synced), &script), vec![StoreReply::Done; script.len()]);

    let filled = std::fs::write(disk.path().join("ballast"), vec![0; 2 << 20]);
    assert_eq!(filled.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    let late = StoreOrder { at: 10_000_000, verb: StoreAction::Put(SampleTool::new("late", 1)) };
    assert_eq!(
        run_orders(worker_command(&store, SyncMode::Synced), std::slice::from_ref(&late))[0].code(),
        Some("disk-full")
    );
    match read_state(&store, &script) {
        StoreReply::Seen { state, .. } => assert_eq!(state, model::apply_all(&StoreState::default(), &script)),
        other => panic!("{other:?}"),
    }
}
