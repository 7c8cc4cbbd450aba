//! Paths that lead elsewhere, or look as if they did.

use toolcell_capabilities::{Files, PATH_LIMIT, WriteMode};
use toolcell_tool::{FilesGrant, FolderName};

use crate::place::{Place, open, refused};

/// What no path may be, wherever it leads.
const NO_PATHS: &[&str] = &[
    "",
    "/",
    "//",
    "///",
    ".",
    "..",
    "./data/f",
    "../secret.txt",
    "../data/f",
    "/data",
    "/data/f",
    "/../data/f",
    "//data/f",
    "/etc/passwd",
    "/proc/self/root/etc/passwd",
    "/dev/null",
    "data/",
    "data//",
    "data///",
    "data//f",
    "data/f/",
    "data/.",
    "data/..",
    "data/./f",
    "data/../secret.txt",
    "data/../data/f",
    "data/../../etc/passwd",
    "data/sub/.",
    "data/sub/..",
    "data/sub/./f",
    "data/sub/../f",
    "data/sub/../../secret.txt",
    "data/sub//../../secret.txt",
    "data/f/..",
    "data/f/../../secret.txt",
    "data/missing/../f",
    "data/missing/../../secret.txt",
    "file:///etc/passwd",
    "https://example.com/f",
    "data\\f",
    "data\\..\\secret.txt",
    "data/..\\secret.txt",
    "data/sub\\..\\..\\secret.txt",
    "\\\\server\\share",
    "\\\\?\\C:\\f",
    "C:\\f",
    "\\",
    "\0",
    "data\0",
    "data/\0",
    "data/f\0",
    "data/f\0.txt",
    "data/f\0/../../secret.txt",
    "data\0/../secret.txt",
    "data/.toolcell-unfinished-0",
    "data/.toolcell-unfinished-0/f",
];

/// What is not the name of the folder.
const OTHER_FOLDERS: &[&str] = &[
    "Data/f",
    "DATA/f",
    "dat/f",
    "data2/f",
    " data/f",
    "data /f",
    "data\n/f",
    "data\u{200b}/f",
    "d\u{430}ta/f",
    "ｄａｔａ/f",
    "data\u{ff0f}f",
    "data\u{2215}f",
    "data%2ff",
    "%64ata/f",
    "..data/f",
    ".../f",
    "~/f",
    "~root/f",
    "$HOME/f",
    "etc/passwd",
    "proc/self/environ",
    "C:/f",
    "file:data/f",
    "secret.txt",
    "outside/f",
    "-/f",
    "*",
    "data;/f",
    "{{secret:TOKEN}}/f",
    "\u{1b}[31m/f",
];

/// Plain names, whatever they look like, and nothing has them.
const PLAIN_NAMES: &[&str] = &[
    "data/%2e%2e/secret.txt",
    "data/%2e%2e%2fsecret.txt",
    "data/%252e%252e%252fsecret.txt",
    "data/..%2fsecret.txt",
    "data/..%5csecret.txt",
    "data/..;/secret.txt",
    "data/.../secret.txt",
    "data/..../secret.txt",
    "data/.. /secret.txt",
    "data/ ../secret.txt",
    "data/..\n/secret.txt",
    "data/..\u{200b}/secret.txt",
    "data/\u{ff0e}\u{ff0e}/secret.txt",
    "data/\u{2024}\u{2024}/secret.txt",
    "data/\u{2025}/secret.txt",
    "data/..\u{ff0f}secret.txt",
    "data/..\u{2215}secret.txt",
    "data/..\u{c0}\u{af}secret.txt",
    "data/~/secret.txt",
    "data/$HOME/secret.txt",
    "data/`id`",
    "data/$(id)",
    "data/*",
    "data/secret.???",
    "data/{f,g}",
    "data/-rf",
    "data/CON",
    "data/NUL",
    "data/f::$DATA",
    "data/f ",
    "data/f.",
    "data/\u{202e}txt.f",
    "data/\u{feff}f",
    "data/\u{fffd}",
    "data/data/f",
];

/// Asks everything of a path that no content is of.
fn check(files: &Files, path: &str, code: &str) {
    assert_eq!(refused(files.read(path)), code, "{path:?}");
    assert_eq!(refused(files.list(path)), code, "{path:?}");
    if code == "files-missing" {
        assert_eq!(files.stat(path).unwrap(), None, "{path:?}");
        assert_eq!(refused(files.remove(path)), code, "{path:?}");
        return;
    }
    assert_eq!(refused(files.stat(path)), code, "{path:?}");
    for mode in [WriteMode::Replace, WriteMode::Create, WriteMode::Append] {
        assert_eq!(refused(files.write(path, b"overwritten", mode)), code, "{path:?}");
    }
    assert_eq!(refused(files.remove(path)), code, "{path:?}");
    assert_eq!(refused(files.make_folder(path)), code, "{path:?}");
}

#[test]
fn no_path_leads_out_of_its_folder() {
    let place = Place::new();
    place.has("f", "inside");
    let files = place.files();
    assert!(NO_PATHS.len() + OTHER_FOLDERS.len() + PLAIN_NAMES.len() >= 120);
    for (paths, code) in
        [(NO_PATHS, "files-path"), (OTHER_FOLDERS, "files-not-granted"), (PLAIN_NAMES, "files-missing")]
    {
        for path in paths {
            check(&files, path, code);
        }
    }
    assert_eq!(place.names(), ["f", "sub"]);
    place.is_untouched_outside();
}

#[test]
fn what_looks_like_a_way_out_is_a_name_like_others() {
    let place = Place::new();
    let files = place.files();
    for path in PLAIN_NAMES {
        if let Some((folder, _)) = path.rsplit_once('/') {
            files.make_folder(folder).unwrap();
        }
        files.write(path, path.as_bytes(), WriteMode::Create).unwrap();
    }
    for path in PLAIN_NAMES {
        assert_eq!(files.read(path).unwrap(), path.as_bytes(), "{path:?}");
    }
    place.is_untouched_outside();
}

#[test]
fn a_path_that_is_too_long_is_none() {
    let place = Place::new();
    let files = place.files();
    let deep = format!("data{}", "/f".repeat((PATH_LIMIT - 4) / 2 + 1));
    check(&files, &deep, "files-path");
    assert_eq!(refused(files.read(&deep[..deep.len() - 2])), "files-missing");
    let name = format!("data/{}", "x".repeat(256));
    assert_eq!(refused(files.read(&name)), "files-path");
    assert_eq!(refused(files.write(&name, b"", WriteMode::Create)), "files-path");
    assert_eq!(refused(files.make_folder(&name)), "files-path");
}

#[test]
fn a_message_says_what_to_write_instead() {
    let place = Place::new();
    let other = FilesGrant { name: FolderName::parse("other").unwrap(), ..place.grant() };
    let files = open(&[place.grant(), other]).unwrap();
    let check = |path: &str, name: &str, expect: &str| {
        let failure = files.read(path).unwrap_err();
        assert_eq!((&*failure.name, failure.message.as_str()), (name, expect));
    };
    check(
        "data/../\u{1b}[2J",
        "TypeError",
        "`data/../\\u{1b}[2J` is not a valid path: it contains `.` or `..`; write the path from the folder down",
    );
    check(
        "in/f",
        "NotAllowedError",
        "no folder `in` is granted (granted: `data`, `other`); grant it in the policy: \
         `[[grants.tools.TOOL.files]] name = \"in\", path = \"…\"`",
    );
    check("data/f", "NotFoundError", "`data/f` does not exist; list its parent");
    let failure = open(&[]).unwrap().read("data/f").unwrap_err();
    assert!(failure.message.starts_with("no folder `data` is granted (granted: none); "), "{failure}");
    let long = format!("data/{}/..", "x".repeat(1_000));
    assert!(files.read(&long).unwrap_err().message.len() < 400);
}

#[test]
fn a_folder_that_cannot_be_opened_is_named() {
    let place = Place::new();
    place.has("f", "");
    let check = |path: &str, code: &str| {
        let grant = FilesGrant { path: place.around(path), ..place.grant() };
        let error = open(&[place.grant(), grant]).err().unwrap();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains("`data`") && error.to_string().contains(path), "{error}");
        assert!(error.hint().contains("`path` in the policy"));
    };
    check("missing", "files-missing");
    check("data/f", "files-missing");
    check("data/f/below", "files-missing");
    std::os::unix::fs::symlink("loop", place.around("loop")).unwrap();
    check("loop", "files-denied");
}
