//! Whether something happened all the same, where a call failed.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::Command;

use toolcell_capabilities::{Effects, OperationError, WriteMode};

use crate::place::{Place, code_of, grant, open};

/// Says to a process of its own which folder it is to work in.
const FOLDER: &str = "TOOLCELL_TEST_FOLDER";

#[test]
fn folders_that_were_made_on_the_way_are_told() {
    let place = Place::new();
    let files = place.files();
    let long = "x".repeat(256);
    let failure = files.make_folder(&format!("data/a/b/{long}")).unwrap_err();
    assert_eq!((&*failure.code, failure.effects), ("files-path", Effects::Started));
    assert_eq!(place.names(), ["a", "a/b", "sub"]);
    let failure = files.make_folder(&format!("data/a/b/{long}")).unwrap_err();
    assert_eq!((&*failure.code, failure.effects), ("files-path", Effects::None));
}

#[test]
fn a_folder_that_is_gone_takes_nothing() {
    let place = Place::new();
    let files = place.files();
    std::fs::remove_dir_all(place.around("data")).unwrap();
    for mode in [WriteMode::Replace, WriteMode::Create, WriteMode::Append] {
        let failure = files.write("data/f", b"x", mode).unwrap_err();
        assert_eq!((&*failure.code, failure.effects), ("files-missing", Effects::None), "{failure}");
    }
    assert_eq!(files.read("data/f").unwrap_err().code, "files-missing");
    assert_eq!(files.make_folder("data/a").unwrap_err().effects, Effects::None);
}

/// What comes of a call where so many more files may be open.
fn with_room_for(files: usize, call: impl Fn() -> Result<(), OperationError>) -> Result<(), (&'static str, Effects)> {
    let open = || OpenOptions::new().read(true).open("/dev/null");
    let mut all: Vec<_> = std::iter::from_fn(|| open().ok()).collect();
    all.truncate(all.len() - files);
    let done = call();
    drop(all);
    done.map_err(|failure| (code_of(&failure), failure.effects))
}

/// A folder is opened to do something in it, then a file that is written, and last, once all is done, the folder to sync it.
fn effects_are_what_happened(folder: &Path) {
    let files = open(&[grant(folder)]).unwrap();
    let is_there = |name: &str| folder.join(name).exists();
    for (mode, path) in [(WriteMode::Create, "data/f"), (WriteMode::Replace, "data/f"), (WriteMode::Append, "data/f")] {
        for room in [0, 1] {
            let done = with_room_for(room, || files.write(path, b"x", mode));
            assert_eq!(done, Err(("files-disk", Effects::None)), "{mode:?} {room}");
            assert!(!is_there("f"));
        }
    }
    // To append is to hold the file until it is known that its name outlasts a loss of power.
    let done = with_room_for(2, || files.write("data/appended", b"x", WriteMode::Append));
    assert_eq!((done, is_there("appended")), (Err(("files-disk", Effects::Started)), true));
    assert_eq!(with_room_for(2, || files.write("data/f", b"x", WriteMode::Create)), Ok(()));

    let done = with_room_for(1, || files.make_folder("data/folder"));
    assert_eq!((done, is_there("folder")), (Err(("files-disk", Effects::None)), false));
    assert_eq!(with_room_for(0, || files.remove("data/f")), Err(("files-disk", Effects::None)));
    assert!(is_there("f"));
    let done = with_room_for(1, || files.remove("data/f"));
    assert_eq!((done, is_there("f")), (Err(("files-disk", Effects::Committed)), false));
}

#[test]
fn a_failure_in_the_middle_says_what_happened() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return effects_are_what_happened(folder.as_ref());
    }
    let folder = tempfile::tempdir().unwrap();
    // The limit is one of a process, and the other tests would share it.
    let done = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" --exact \"$1\""])
        .arg(std::env::current_exe().unwrap())
        .arg("effects::a_failure_in_the_middle_says_what_happened")
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert!(folder.path().join("appended").exists());
}
