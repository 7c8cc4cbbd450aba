//! How much a run may write, and read.

use toolcell_capabilities::WriteMode;
use toolcell_tool::{FilesGrant, FolderName};

use crate::place::{Place, code_of, grant, open, refused};

const THREADS: usize = 8;

/// How many calls went well of those that threads made at once; the others were refused for the quota.
fn went_well(call: impl Fn(usize) -> Result<(), &'static str> + Sync, calls: usize) -> usize {
    std::thread::scope(|scope| {
        let call = &call;
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    let done: Vec<_> = (0..calls).map(|_| call(thread)).collect();
                    assert!(done.iter().all(|done| matches!(done, Ok(()) | Err("files-quota"))), "{done:?}");
                    done.into_iter().flatten().count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

fn code<T>(done: Result<T, toolcell_capabilities::OperationError>) -> Result<(), &'static str> {
    done.map(|_| ()).map_err(|failure| code_of(&failure))
}

#[test]
fn threads_never_write_more_together_than_there_is() {
    let place = Place::new();
    for mode in [WriteMode::Append, WriteMode::Replace] {
        let files = place.within(1_000, 0);
        let write = |thread: usize| code(files.write(&format!("data/{mode:?}-{thread}"), b"7 bytes", mode));
        assert_eq!(went_well(write, 40), 1_000 / 7, "{mode:?}");
    }
    let appended = (0..THREADS).filter_map(|thread| std::fs::metadata(place.path(&format!("Append-{thread}"))).ok());
    assert_eq!(appended.map(|metadata| metadata.len()).sum::<u64>(), 994);
    assert!(place.names().iter().all(|name| !name.starts_with('.')), "{:?}", place.names());
}

#[test]
fn threads_never_read_more_together_than_there_is() {
    let place = Place::new();
    place.has("f", "7 bytes");
    let files = place.within(0, 1_000);
    assert_eq!(went_well(|_| code(files.read("data/f")), 60), 1_000 / 7);
}

#[test]
fn what_is_larger_than_what_is_left_is_refused_and_the_rest_is_still_there() {
    let place = Place::new();
    place.has("five", "12345");
    place.has("six", "123456");
    let files = place.within(10, 10);
    let failure = files.write("data/f", &[0; 11], WriteMode::Replace).unwrap_err();
    assert_eq!((&*failure.code, &*failure.name), ("files-too-large", "QuotaExceededError"));
    files.write("data/f", b"1234", WriteMode::Replace).unwrap();
    let failure = files.write("data/f", b"1234567", WriteMode::Replace).unwrap_err();
    assert_eq!((&*failure.code, &*failure.name), ("files-quota", "QuotaExceededError"));
    assert_eq!(
        failure.message,
        "`data/f` would take 7 bytes, but only 6 of 10 are left; `bytes` in the grant of `data` limits the bytes per \
         run"
    );
    files.write("data/f", b"123456", WriteMode::Append).unwrap();
    files.write("data/empty", b"", WriteMode::Create).unwrap();
    assert_eq!(refused(files.write("data/f", b"1", WriteMode::Append)), "files-quota");
    assert_eq!(place.content("f"), "1234123456");

    files.read("data/five").unwrap();
    assert_eq!(refused(files.read("data/six")), "files-quota");
    files.read("data/five").unwrap();
    assert_eq!(refused(files.read("data/five")), "files-quota");
    assert_eq!(files.read("data/empty").unwrap(), b"");
    assert_eq!(place.within(0, 4).read("data/five").unwrap_err().code, "files-too-large");
}

#[test]
fn what_was_refused_before_it_began_takes_nothing() {
    let place = Place::new();
    place.has("f", "12345");
    let files = place.within(5, 5);
    for _ in 0..3 {
        assert_eq!(refused(files.write("data/f", b"12345", WriteMode::Create)), "files-exists");
        assert_eq!(refused(files.write("data/missing/f", b"12345", WriteMode::Create)), "files-missing");
        assert_eq!(refused(files.write("data/sub", b"12345", WriteMode::Replace)), "files-kind");
        assert_eq!(refused(files.read("data/missing")), "files-missing");
        assert_eq!(refused(files.read("data/sub")), "files-kind");
    }
    files.write("data/f", b"54321", WriteMode::Replace).unwrap();
    assert_eq!(files.read("data/f").unwrap(), b"54321");
}

#[test]
fn each_folder_and_each_run_has_its_own_quota() {
    let place = Place::new();
    let two = FilesGrant { name: FolderName::parse("two").unwrap(), bytes: 3, ..place.grant() };
    let grants = [FilesGrant { bytes: 5, ..place.grant() }, two];
    for _ in 0..2 {
        let files = open(&grants).unwrap();
        files.write("data/f", b"12345", WriteMode::Replace).unwrap();
        files.write("two/f", b"123", WriteMode::Replace).unwrap();
        assert_eq!(refused(files.write("data/f", b"1", WriteMode::Replace)), "files-quota");
        assert_eq!(refused(files.write("two/f", b"1", WriteMode::Replace)), "files-quota");
    }
}

#[test]
fn what_has_more_in_it_than_it_said_is_counted_on() {
    // Such files say that they are empty, and are not.
    let folder = |read_bytes| open(&[FilesGrant { read_bytes, ..grant("/proc/self".as_ref()) }]).unwrap();
    let files = folder(1 << 20);
    assert_eq!(files.stat("data/status").unwrap().unwrap().size, 0);
    assert!(files.read("data/status").unwrap().starts_with(b"Name:"));
    assert_eq!(refused(folder(10).read("data/status")), "files-too-large");
    // A name of at most 15 bytes, and a line feed.
    let files = folder(40);
    let read = (0..100).map_while(|_| files.read("data/comm").ok()).map(|content| content.len()).sum::<usize>();
    assert!(read > 0 && read <= 40, "{read}");
    assert_eq!(refused(files.read("data/comm")), "files-quota");
}

#[test]
fn a_file_that_grows_under_its_reader_is_read_within_the_quota() {
    use std::io::Write as _;
    let place = Place::new();
    place.has("log", "");
    let mut log = std::fs::OpenOptions::new().append(true).open(place.path("log")).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) && log.metadata().unwrap().len() < 64 << 20 {
                log.write_all(&[b'x'; 4096]).unwrap();
            }
        });
        let files = place.within(0, 4 << 20);
        let (mut read, mut refusals) = (0, 0);
        while refusals < 100 {
            match files.read("data/log") {
                Ok(content) => read += content.len(),
                Err(failure) => {
                    assert!(["files-quota", "files-too-large"].contains(&&*failure.code), "{failure}");
                    refusals += 1;
                }
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(read <= 4 << 20, "{read}");
    });
}
