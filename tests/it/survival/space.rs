//! A full disk, mounted for the purpose: all that was acknowledged is read from it, and with a little space work goes on.

use std::path::Path;

use clerk::{Answer, Clerk, Keeping, Order, Sample, State, Verb};
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};

use super::process::{clerk, tell};
use super::{model, scripts};

/// A disk of a MiB.
struct Disk(tempfile::TempDir);

impl Disk {
    /// None where this process must not mount: then there is the seam, which says the same at every write.
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

impl Drop for Disk {
    fn drop(&mut self) {
        // The folder is removed next, and says so where it cannot be.
        let _ = umount2(self.path(), MntFlags::MNT_DETACH);
    }
}

/// A clerk in a process of its own, who looks at everything.
fn seen(store: &Path, script: &[Order]) -> Answer {
    let look = Order { at: 1, verb: Verb::Look(scripts::names(script)) };
    tell(clerk(store, Keeping::Synced), &[look]).remove(0)
}

#[test]
fn a_full_disk_keeps_what_was_acknowledged_and_says_so_to_anybody() {
    let Some(disk) = Disk::new() else { return };
    let (store, ballast) = (disk.path().join("store"), disk.path().join("ballast"));
    std::fs::write(&ballast, vec![0; 200 << 10]).unwrap();
    let script = scripts::puts((0..1_000).map(|n| format!("tool-{n}")));
    let names = scripts::names(&script);

    let mut first = Clerk::new(&store, Keeping::Synced);
    let (mut put, mut refused) = (Vec::new(), 0);
    let mut orders = script.iter();
    // Something small may find room after something larger did not.
    while refused < 10 {
        let order = orders.next().unwrap();
        match first.perform(order) {
            Answer::Done => put.push(order.clone()),
            answer => {
                assert_eq!(answer.code(), Some("disk-full"), "{answer:?}");
                refused += 1;
            }
        }
    }
    assert!(put.len() > 10, "{put:?}");
    let expect = model::after_all(&State::default(), &put);
    assert_eq!(State::of(first.store().unwrap(), &names).unwrap(), expect, "who filled it still reads it");
    for holder in ["is still at it", "has gone"] {
        match seen(&store, &script) {
            Answer::Seen { state, .. } => assert_eq!(state, expect, "who filled it {holder}"),
            other => panic!("who filled it {holder}: {other:?}"),
        }
        drop(std::mem::replace(&mut first, Clerk::new(&store, Keeping::Synced)));
    }

    std::fs::remove_file(ballast).unwrap();
    let late = Order { at: 10_000_000, verb: Verb::Put(Sample::new("late", 1)) };
    assert_eq!(tell(clerk(&store, Keeping::Synced), std::slice::from_ref(&late)), [Answer::Done]);
    let expect = model::after(&expect, &late).unwrap();
    assert_eq!(State::of(first.store().unwrap(), &names).unwrap().listed, expect.listed);
}

#[test]
fn a_store_is_read_from_a_disk_that_others_have_filled() {
    let Some(disk) = Disk::new() else { return };
    let store = disk.path().join("store");
    let script = scripts::puts((0..5).map(|n| format!("tool-{n}")));
    assert_eq!(tell(clerk(&store, Keeping::Synced), &script), vec![Answer::Done; script.len()]);

    let filled = std::fs::write(disk.path().join("ballast"), vec![0; 2 << 20]);
    assert_eq!(filled.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    let late = Order { at: 10_000_000, verb: Verb::Put(Sample::new("late", 1)) };
    assert_eq!(tell(clerk(&store, Keeping::Synced), std::slice::from_ref(&late))[0].code(), Some("disk-full"));
    match seen(&store, &script) {
        Answer::Seen { state, .. } => assert_eq!(state, model::after_all(&State::default(), &script)),
        other => panic!("{other:?}"),
    }
}
