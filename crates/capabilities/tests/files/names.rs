//! Names that are hard to get right.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use toolcell_capabilities::{DirEntry, FileKind, WriteMode};

use crate::place::Place;

fn names() -> Vec<String> {
    let plain = [
        "with spaces",
        " before",
        "after ",
        "tab\there",
        "line\nfeed",
        "\r",
        "quote'\"`",
        "ünïcödé",
        "u\u{308}",
        "\u{fc}",
        "日本語のファイル.txt",
        "中文",
        "👩‍👩‍👧‍👦",
        "\u{202e}gpj.exe",
        "\u{feff}",
        ".hidden",
        "..two",
        "...",
        "-n",
        "--",
        "~",
        "a:b",
        "a|b<c>d?e*",
        "con",
        "aux.txt",
        "%00",
        "%2f",
        "\u{7f}",
        "\u{1}",
    ];
    let long = ["x".repeat(255), "語".repeat(85), format!("{}y", "é".repeat(127))];
    plain.into_iter().map(str::to_owned).chain(long).collect()
}

#[test]
fn a_name_is_what_its_bytes_are() {
    let place = Place::new();
    let files = place.files();
    let names = names();
    assert_eq!(names.iter().map(String::len).max(), Some(255));
    for name in &names {
        files.write(&format!("data/sub/{name}"), name.as_bytes(), WriteMode::Create).unwrap();
    }
    let mut sorted = names.clone();
    sorted.sort();
    let listed = files.list("data/sub").unwrap();
    assert_eq!(listed.iter().map(|listed| listed.name.clone()).collect::<Vec<_>>(), sorted);
    for name in &names {
        let path = format!("data/sub/{name}");
        assert_eq!(files.stat(&path).unwrap().unwrap().size, name.len() as u64, "{name:?}");
        files.write(&path, b"+", WriteMode::Append).unwrap();
        assert_eq!(files.read(&path).unwrap(), [name.as_bytes(), b"+"].concat(), "{name:?}");
        files.write(&path, b"new", WriteMode::Replace).unwrap();
        assert_eq!(place.content(&format!("sub/{name}")), "new", "{name:?}");
        files.remove(&path).unwrap();
    }
    for name in &names {
        let path = format!("data/sub/{name}/{name}");
        files.make_folder(&path).unwrap();
        assert_eq!(files.stat(&path).unwrap().unwrap().kind, FileKind::Folder, "{name:?}");
    }
}

#[test]
fn a_name_that_no_path_can_say_is_shown_and_is_nothing_to_open() {
    let place = Place::new();
    let name = OsStr::from_bytes(b"no\xfftext");
    std::fs::write(place.path("sub").join(name), "inside").unwrap();
    place.has("sub/back\\slash", "inside");
    let files = place.files();
    let listed = files.list("data/sub").unwrap();
    let other = ["back\\slash", "no\u{fffd}text"].map(|name| DirEntry { name: name.to_owned(), kind: FileKind::Other });
    assert_eq!(listed, other);
    assert_eq!(files.stat("data/sub/no\u{fffd}text").unwrap(), None);
}
