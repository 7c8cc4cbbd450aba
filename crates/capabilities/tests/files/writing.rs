//! Atomic writes: a reader never sees a partial file.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use toolcell_capabilities::WriteMode;

use crate::place::{Place, refused};

#[test]
fn each_mode_does_what_it_says() {
    let place = Place::new();
    let files = place.files();
    assert_eq!(refused(files.write("data/a/f", b"x", WriteMode::Replace)), "files-missing");
    files.write("data/new", b"one", WriteMode::Create).unwrap();
    assert_eq!(refused(files.write("data/new", b"two", WriteMode::Create)), "files-exists");
    files.write("data/new", b" two", WriteMode::Append).unwrap();
    files.write("data/log", b"made", WriteMode::Append).unwrap();
    files.write("data/first", b"made", WriteMode::Replace).unwrap();
    files.write("data/first", b"m", WriteMode::Replace).unwrap();
    let contents = ["first", "log", "new"].map(|name| place.content(name));
    assert_eq!(contents, ["m", "made", "one two"]);
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(100_000).collect();
    files.write("data/bytes", &bytes, WriteMode::Create).unwrap();
    assert!(files.read("data/bytes").unwrap() == bytes);
    let modes = serde_json::from_str::<[WriteMode; 3]>(r#"["replace", "create", "append"]"#).unwrap();
    assert_eq!(modes, [WriteMode::Replace, WriteMode::Create, WriteMode::Append]);
}

#[test]
fn a_reader_sees_the_old_or_the_new_and_nothing_between() {
    let place = Place::new();
    let files = place.within(1 << 40, 1 << 40);
    let content = |letter: u8| vec![letter; 50_000 + usize::from(letter)];
    files.write("data/f", &content(b'a'), WriteMode::Create).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = std::collections::BTreeSet::new();
                    while !done.load(Ordering::Relaxed) || seen.is_empty() {
                        let read = files.read("data/f").unwrap();
                        assert!(read == content(read[0]), "{} bytes that begin with {}", read.len(), read[0]);
                        let listed = files.list("data").unwrap();
                        assert_eq!(listed.iter().map(|listed| listed.name.as_str()).collect::<Vec<_>>(), ["f", "sub"]);
                        seen.insert(read[0]);
                    }
                    seen.len()
                })
            })
            .collect();
        for letter in (b'a'..=b'z').cycle().take(300) {
            files.write("data/f", &content(letter), WriteMode::Replace).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        let seen: usize = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
        assert!(seen > 2, "{seen}");
    });
    assert_eq!(place.names(), ["f", "sub"]);
}

#[test]
fn of_many_that_make_a_file_at_once_one_does() {
    let place = Place::new();
    let files = place.files();
    for round in 0..25 {
        let path = format!("data/{round}");
        let attempt = |number: u8| files.write(&path, &[number; 9], WriteMode::Create).map(|()| number);
        let made: Vec<u8> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || attempt(number))).collect();
            let done = threads.into_iter().map(|thread| thread.join().unwrap());
            done.filter_map(|done| done.map_err(|failure| assert_eq!(&*failure.code, "files-exists")).ok()).collect()
        });
        assert_eq!(made.len(), 1);
        assert_eq!(files.read(&path).unwrap(), [made[0]; 9]);
    }
    assert_eq!(place.names().len(), 26);
}

#[test]
fn what_many_append_at_once_is_all_there() {
    let place = Place::new();
    let files = place.files();
    std::thread::scope(|scope| {
        for number in b'0'..b'8' {
            let files = &files;
            scope.spawn(move || {
                (0..50).for_each(|_| files.write("data/log", &[number; 16], WriteMode::Append).unwrap());
            });
        }
    });
    let log = files.read("data/log").unwrap();
    let mut pieces: Vec<&[u8]> = log.chunks(16).collect();
    assert!(pieces.iter().all(|piece| piece.iter().all(|byte| *byte == piece[0])));
    pieces.sort_unstable();
    let counts: Vec<usize> = pieces.chunk_by(|one, two| one == two).map(<[_]>::len).collect();
    assert_eq!(counts, [50; 8]);
}

#[test]
fn a_file_that_is_replaced_keeps_who_may_read_it() {
    let place = Place::new();
    place.has("f", "old");
    let files = place.files();
    for mode in [0o600, 0o640, 0o755, 0o444] {
        std::fs::set_permissions(place.path("f"), std::fs::Permissions::from_mode(mode)).unwrap();
        files.write("data/f", b"new", WriteMode::Replace).unwrap();
        let now = std::fs::metadata(place.path("f")).unwrap().permissions().mode() & 0o7777;
        assert_eq!(now, mode, "{now:o}");
    }
    // A new file has no set-user-ID bit.
    std::fs::set_permissions(place.path("f"), std::fs::Permissions::from_mode(0o4755)).unwrap();
    files.write("data/f", b"new", WriteMode::Replace).unwrap();
    assert_eq!(std::fs::metadata(place.path("f")).unwrap().permissions().mode() & 0o7777, 0o755);
}
