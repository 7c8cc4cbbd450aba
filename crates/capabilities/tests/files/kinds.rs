//! Special files: opening one never blocks, and nothing is read from it.

use std::os::unix::net::UnixListener;
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use toolcell_capabilities::{DirEntry, FILE_LIMIT, FileKind, LIST_LIMIT, Stat, WriteMode};
use toolcell_tool::{Access, FilesGrant};

use crate::place::{Place, grant, open, refused};

/// How long a call may take that must not wait.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn nobody_waits_at_a_pipe() {
    let place = Place::new();
    mknodat(CWD, place.path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _listener = UnixListener::bind(place.path("socket")).unwrap();
    let (done, ended) = channel();
    let files = place.files();
    std::thread::spawn(move || {
        for path in ["data/pipe", "data/socket"] {
            assert_eq!(refused(files.read(path)), "files-kind");
            for mode in [WriteMode::Replace, WriteMode::Append] {
                assert_eq!(refused(files.write(path, b"x", mode)), "files-kind");
            }
            assert_eq!(refused(files.write(path, b"x", WriteMode::Create)), "files-exists");
            assert_eq!(refused(files.remove(path)), "files-kind");
            assert_eq!(refused(files.list(path)), "files-kind");
            assert_eq!(refused(files.make_folder(path)), "files-kind");
            let stat = files.stat(path).unwrap().unwrap();
            assert_eq!((stat.kind, stat.size), (FileKind::Other, 0));
        }
        done.send(()).unwrap();
    });
    ended.recv_timeout(PATIENCE).unwrap();
    assert_eq!(place.names(), ["pipe", "socket", "sub"]);
}

#[test]
fn devices_are_not_read() {
    let files = open(&[grant("/dev".as_ref())]).unwrap();
    for path in ["data/zero", "data/null"] {
        assert_eq!(files.stat(path).unwrap().unwrap().kind, FileKind::Other);
        assert_eq!(refused(files.read(path)), "files-kind");
        assert_eq!(refused(files.write(path, b"x", WriteMode::Append)), "files-kind");
    }
}

#[test]
fn folders_are_listed_and_files_are_read() {
    let place = Place::new();
    place.has("f", "inside");
    let files = place.files();
    let modified = std::time::SystemTime::UNIX_EPOCH + Duration::from_millis(1_234_567);
    std::fs::OpenOptions::new().write(true).open(place.path("f")).unwrap().set_modified(modified).unwrap();
    let stat = Stat { kind: FileKind::File, size: 6, modified_ms: 1_234_567 };
    assert_eq!(files.stat("data/f").unwrap(), Some(stat));
    for path in ["data", "data/sub"] {
        let stat = files.stat(path).unwrap().unwrap();
        assert_eq!((stat.kind, stat.size), (FileKind::Folder, 0));
        assert_eq!(refused(files.read(path)), "files-kind");
        for mode in [WriteMode::Replace, WriteMode::Append] {
            assert_eq!(refused(files.write(path, b"x", mode)), "files-kind");
        }
    }
    assert_eq!(files.stat("data/f/below").unwrap(), None);
    assert_eq!(refused(files.read("data/f/below")), "files-kind");
    assert_eq!(refused(files.write("data/f/below", b"x", WriteMode::Create)), "files-kind");
    assert_eq!(refused(files.make_folder("data/f")), "files-kind");
    assert_eq!(refused(files.make_folder("data/f/below")), "files-kind");
    assert_eq!(refused(files.list("data/f")), "files-kind");
    assert_eq!(refused(files.remove("data")), "files-kind");
    files.make_folder("data").unwrap();
    let listed = [("f", FileKind::File), ("sub", FileKind::Folder)];
    assert_eq!(files.list("data").unwrap(), listed.map(|(name, kind)| DirEntry { name: name.to_owned(), kind }));
    assert_eq!(serde_json::to_string(&stat).unwrap(), r#"{"kind":"file","size":6,"modified_ms":1234567}"#);
}

#[test]
fn files_and_empty_folders_are_removed() {
    let place = Place::new();
    place.has("sub/f", "inside");
    let files = place.files();
    assert_eq!(refused(files.remove("data/sub")), "files-kind");
    files.remove("data/sub/f").unwrap();
    files.remove("data/sub").unwrap();
    assert_eq!(refused(files.remove("data/sub")), "files-missing");
    assert_eq!(refused(files.remove("data/sub/f")), "files-missing");
    files.make_folder("data/a/b/c").unwrap();
    files.make_folder("data/a/b").unwrap();
    assert_eq!(place.names(), ["a", "a/b", "a/b/c"]);
}

#[test]
fn what_nobody_finished_writing_holds_up_nobody() {
    let place = Place::new();
    let files = place.files();
    let unfinished = "sub/.toolcell-unfinished-0123456789abcdef";
    place.has(unfinished, "half of it");
    assert_eq!(files.list("data/sub").unwrap(), []);
    let writer = std::fs::OpenOptions::new().read(true).open(place.path(unfinished)).unwrap();
    writer.lock().unwrap();
    assert_eq!(refused(files.remove("data/sub")), "files-kind");
    assert_eq!(place.content(unfinished), "half of it");
    drop(writer);
    files.remove("data/sub").unwrap();
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn a_folder_for_reading_is_not_changed() {
    let place = Place::new();
    place.has("f", "inside");
    let files = open(&[FilesGrant { access: Access::Read, ..place.grant() }]).unwrap();
    assert_eq!(files.read("data/f").unwrap(), b"inside");
    for mode in [WriteMode::Replace, WriteMode::Create, WriteMode::Append] {
        assert_eq!(refused(files.write("data/f", b"x", mode)), "files-not-granted");
    }
    assert_eq!(refused(files.remove("data/f")), "files-not-granted");
    assert_eq!(refused(files.make_folder("data/sub")), "files-not-granted");
    let failure = files.write("data/f", b"x", WriteMode::Replace).unwrap_err();
    assert_eq!(failure.name, "NotAllowedError");
    assert!(failure.message.contains("`access = \"write\"`"), "{failure}");
    assert_eq!((place.content("f").as_str(), place.names().len()), ("inside", 2));
}

#[test]
fn what_is_too_large_is_not_taken_into_memory() {
    let place = Place::new();
    let sparse = std::fs::OpenOptions::new().write(true).create_new(true).open(place.path("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    assert_eq!(refused(place.files().read("data/sparse")), "files-too-large");
    let files = place.within(0, 1 << 40);
    assert_eq!(refused(files.read("data/sparse")), "files-too-large");
    sparse.set_len(FILE_LIMIT + 1).unwrap();
    let failure = files.read("data/sparse").unwrap_err();
    assert_eq!((&*failure.code, &*failure.name), ("files-too-large", "QuotaExceededError"));
    assert!(failure.message.contains(&FILE_LIMIT.to_string()), "{failure}");
}

#[test]
fn a_folder_with_too_much_in_it_is_not_listed() {
    let place = Place::new();
    let files = place.files();
    for number in 0..LIST_LIMIT {
        std::fs::write(place.path(&format!("sub/{number:05}")), "").unwrap();
    }
    let listed = files.list("data/sub").unwrap();
    assert_eq!((listed.len(), listed[7].name.as_str()), (LIST_LIMIT, "00007"));
    place.has("sub/one more", "");
    assert_eq!(refused(files.list("data/sub")), "files-too-large");
}
