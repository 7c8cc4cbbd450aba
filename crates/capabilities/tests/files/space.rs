//! A disk that is full, or takes no larger files, or none at all.

use std::path::{Path, PathBuf};
use std::process::Command;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use toolcell_capabilities::{Effects, WriteMode};

use crate::place::{Place, grant, open};

/// More than there is room for.
static MUCH: [u8; 1 << 20] = [b'x'; 1 << 20];
/// Says to a process of its own which folder it is to fill.
const FOLDER: &str = "TOOLCELL_TEST_FOLDER";

/// A disk of 64 KiB.
struct Disk(tempfile::TempDir);

impl Disk {
    /// None where this process must not mount: then the limit on the size of files says the same.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = mount(Some("none"), folder.path(), Some("tmpfs"), MsFlags::empty(), Some("size=64k,mode=700"));
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

/// Writes more than there is room for in each way; what was there is there, and nothing else.
fn what_was_there_stays(folder: &Path) {
    let files = open(&[grant(folder)]).unwrap();
    files.write("data/f", b"old", WriteMode::Create).unwrap();
    for (path, mode) in [("data/f", WriteMode::Replace), ("data/new", WriteMode::Create)] {
        let failure = files.write(path, &MUCH, mode).unwrap_err();
        assert_eq!(
            (&*failure.code, &*failure.name, failure.effects),
            ("files-disk", "Error", Effects::None),
            "{failure}"
        );
        assert!(failure.message.starts_with(&format!("no space is left for `{path}`")), "{failure}");
    }
    assert_eq!(files.read("data/f").unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1, "nothing unfinished is left");
    let failure = files.write("data/f", &MUCH, WriteMode::Append).unwrap_err();
    assert_eq!((&*failure.code, failure.effects), ("files-disk", Effects::Started), "{failure}");
    let grown = files.stat("data/f").unwrap().unwrap().size;
    assert!(grown > 3 && grown < MUCH.len() as u64, "{grown}");
    files.remove("data/f").unwrap();
    files.write("data/f", b"again", WriteMode::Create).unwrap();
    assert_eq!(files.read("data/f").unwrap(), b"again");
}

#[test]
fn a_full_disk_keeps_what_was_there() {
    if let Some(disk) = Disk::new() {
        what_was_there_stays(disk.path());
    }
}

#[test]
fn a_limit_on_the_size_of_files_keeps_what_was_there() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return what_was_there_stays(&PathBuf::from(folder));
    }
    let folder = tempfile::tempdir().unwrap();
    // The limit is one of a process, and the other tests would share it.
    let done = Command::new("sh")
        .args(["-c", "trap '' XFSZ && ulimit -f 64 && exec \"$0\" --exact \"$1\""])
        .arg(std::env::current_exe().unwrap())
        .arg("space::a_limit_on_the_size_of_files_keeps_what_was_there")
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(std::fs::read(folder.path().join("f")).unwrap(), b"again");
}

#[test]
fn a_disk_that_takes_nothing_is_read() {
    let Some(disk) = Disk::new() else { return };
    std::fs::write(disk.path().join("f"), "inside").unwrap();
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    mount(Some("none"), disk.path(), None::<&str>, flags, None::<&str>).unwrap();
    let files = open(&[grant(disk.path())]).unwrap();
    assert_eq!(files.read("data/f").unwrap(), b"inside");
    for done in [
        files.write("data/f", b"x", WriteMode::Replace),
        files.write("data/f", b"x", WriteMode::Append),
        files.write("data/g", b"x", WriteMode::Create),
        files.remove("data/f"),
        files.make_folder("data/sub"),
    ] {
        let failure = done.unwrap_err();
        assert_eq!((&*failure.code, failure.effects), ("files-denied", Effects::None), "{failure}");
    }
}

#[test]
fn a_folder_in_use_is_not_moved_under_a_run() {
    // The folder was opened once: what has its path by now is another one.
    let place = Place::new();
    let files = place.files();
    std::fs::rename(place.around("data"), place.around("moved")).unwrap();
    std::os::unix::fs::symlink("outside", place.around("data")).unwrap();
    files.write("data/f", b"inside", WriteMode::Replace).unwrap();
    assert_eq!(std::fs::read(place.around("moved/f")).unwrap(), b"inside");
    assert_eq!(std::fs::read_to_string(place.around("outside/f")).unwrap(), crate::place::OUTSIDE);
}
