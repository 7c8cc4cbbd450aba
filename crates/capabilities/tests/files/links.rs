//! Links that lead out of a folder, and links that come and go while a tool is at work.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use toolcell_capabilities::{FileKind, Files, WriteMode};

use crate::place::{Place, refused};

/// How often each thread tries.
const TRIES: usize = 1_500;

fn link(place: &Place, name: &str, to: impl AsRef<Path>) {
    symlink(to, place.path(name)).unwrap();
}

#[test]
fn no_link_is_followed_out_of_a_folder() {
    let place = Place::new();
    link(&place, "etc", "/etc");
    link(&place, "passwd", "/etc/passwd");
    link(&place, "up", "..");
    link(&place, "secret", "../secret.txt");
    link(&place, "sub/far", "../../outside/f");
    link(&place, "absolute", place.around("data"));
    link(&place, "proc", "/proc/self");
    link(&place, "magic", "/proc/self/root");
    link(&place, "loop", "loop");
    link(&place, "one", "two");
    link(&place, "two", "one");
    link(&place, "chain", "sub/far");
    let files = place.files();
    for path in [
        "etc/passwd",
        "passwd",
        "up/secret.txt",
        "up/data/sub/far",
        "secret",
        "sub/far",
        "absolute/sub",
        "proc/environ",
        "proc/root/etc/passwd",
        "magic/etc/passwd",
        "loop",
        "loop/f",
        "one",
        "chain",
    ] {
        let path = format!("data/{path}");
        assert_eq!(refused(files.read(&path)), "files-denied", "{path}");
        assert_eq!(refused(files.stat(&path)), "files-denied", "{path}");
        assert_eq!(refused(files.list(&path)), "files-denied", "{path}");
        for mode in [WriteMode::Replace, WriteMode::Append] {
            assert_eq!(refused(files.write(&path, b"overwritten", mode)), "files-denied", "{path}");
        }
        assert_eq!(refused(files.remove(&path)), "files-denied", "{path}");
        assert_eq!(refused(files.make_folder(&path)), "files-denied", "{path}");
    }
    for link in ["etc", "up", "proc"] {
        assert_eq!(refused(files.list(&format!("data/{link}"))), "files-denied", "{link}");
    }
    assert_eq!(refused(files.write("data/secret", b"", WriteMode::Create)), "files-exists");
    place.is_untouched_outside();
}

#[test]
fn a_link_that_stays_in_the_folder_is_read_through_and_not_written_through() {
    let place = Place::new();
    place.has("sub/f", "inside");
    link(&place, "near", "sub");
    link(&place, "f", "sub/f");
    link(&place, "back", "sub/../sub/f");
    link(&place, "nowhere", "missing");
    let files = place.files();
    for path in ["data/f", "data/near/f", "data/back"] {
        assert_eq!(files.read(path).unwrap(), b"inside");
        assert_eq!(files.stat(path).unwrap().unwrap().kind, FileKind::File);
        for mode in [WriteMode::Replace, WriteMode::Append] {
            assert_eq!(refused(files.write(path, b"x", mode)), "files-denied", "{path}");
        }
        assert_eq!(refused(files.remove(path)), "files-denied", "{path}");
    }
    assert_eq!(files.list("data/near").unwrap().len(), 1);
    assert_eq!(files.stat("data/nowhere").unwrap(), None);
    assert_eq!(refused(files.write("data/nowhere", b"x", WriteMode::Append)), "files-denied");
    assert_eq!(refused(files.write("data/near/g", b"x", WriteMode::Create)), "files-denied");
    assert_eq!(refused(files.make_folder("data/near/g")), "files-denied");
    assert_eq!(refused(files.make_folder("data/nowhere")), "files-denied");
    // A link is none of what a tool makes, so it is listed as something else.
    let listed = files.list("data").unwrap();
    let links: Vec<&str> =
        listed.iter().filter(|listed| listed.kind == FileKind::Other).map(|listed| listed.name.as_str()).collect();
    assert_eq!(links, ["back", "f", "near", "nowhere"]);
    assert_eq!((place.content("sub/f").as_str(), place.names().len()), ("inside", 6));
}

/// Exchanges two names again and again, while `work` is done on several threads.
fn while_exchanged(one: &Path, two: &Path, work: impl Fn(usize) + Sync) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, one, CWD, two, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let workers: Vec<_> = (0..3)
            .map(|worker| {
                scope.spawn({
                    let work = &work;
                    move || work(worker)
                })
            })
            .collect();
        let ended: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        for ended in ended {
            ended.unwrap();
        }
    });
}

/// All that a tool can do in a folder that is now one of its own and now a link to one outside.
fn work(files: &Files, worker: usize) {
    let (mut read, mut denied) = (0, 0);
    // Where others keep the machine busy, it may take long until both were there.
    for tried in 0..100 * TRIES {
        if tried >= TRIES && read > 0 && denied > 0 {
            break;
        }
        match files.read("data/sub/f") {
            Ok(content) => {
                assert_eq!(content, b"inside");
                read += 1;
            }
            Err(failure) => {
                assert_eq!(&*failure.code, "files-denied", "{failure}");
                denied += 1;
            }
        }
        let own = format!("data/sub/{worker}");
        for done in [
            files.write(&own, b"made", WriteMode::Replace),
            files.write(&own, b"more", WriteMode::Append),
            files.remove(&own),
            files.write(&own, b"new", WriteMode::Create),
            files.make_folder(&format!("data/sub/folder-{worker}")),
            files.remove(&format!("data/sub/folder-{worker}")),
        ] {
            if let Err(failure) = done {
                assert!(["files-denied", "files-exists", "files-missing"].contains(&&*failure.code), "{failure}");
            }
        }
        if let Ok(listed) = files.list("data/sub") {
            assert!(listed.iter().all(|listed| listed.name != "outside"), "{listed:?}");
        }
    }
    // Both were there while it was at work, or nothing was shown.
    assert!(read > 0 && denied > 0, "{read} {denied}");
}

#[test]
fn a_folder_that_becomes_a_link_under_a_tool_leads_nowhere() {
    let place = Place::new();
    place.has("sub/f", "inside");
    symlink("../outside", place.path("link")).unwrap();
    let files = place.within(1 << 40, 1 << 40);
    while_exchanged(&place.path("sub"), &place.path("link"), |worker| work(&files, worker));
    place.is_untouched_outside();
}

#[test]
fn a_file_that_becomes_a_link_under_a_tool_leads_nowhere() {
    let place = Place::new();
    place.has("f", "inside");
    symlink("../outside/f", place.path("link")).unwrap();
    let files = place.within(1 << 40, 1 << 40);
    while_exchanged(&place.path("f"), &place.path("link"), |_| {
        for _ in 0..TRIES {
            match files.read("data/f") {
                Ok(content) => assert!(content.starts_with(b"inside"), "{}", content.escape_ascii()),
                Err(failure) => assert_eq!(&*failure.code, "files-denied", "{failure}"),
            }
            if let Err(failure) = files.write("data/f", b".", WriteMode::Append) {
                assert_eq!(&*failure.code, "files-denied", "{failure}");
            }
        }
    });
    place.is_untouched_outside();
}
