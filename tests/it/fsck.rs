//! Damaged objects: each is found, mended as far as it can be, and costs nobody else anything.

use std::fs;
use std::path::Path;

use toolcell::Status;
use toolcell::store::{Health, History, Import, Settings, WhenTaken};

use crate::shelf::{Shelf, files_below, made, overwrite, returns};

pub(crate) const NAMES: [&str; 4] = ["hit", "other", "gone", "shared"];

/// A store that nobody has open, in which `hit` is what the damage is done to. Its name has a history, and so has that
/// of `other`; `gone` was deleted, and `shared` has the source of `other`.
pub(crate) fn shelf() -> Shelf {
    let mut shelf = Shelf::new();
    shelf.tool("hit", &returns(1));
    shelf.tool("other", &returns(2));
    shelf.tool("gone", &returns(3));
    shelf.tool("shared", &returns(4));
    shelf.delete("gone").unwrap();
    shelf.delete("hit").unwrap();
    shelf.undelete("hit").unwrap();
    shelf.replace("other", &returns(4));
    let hit = shelf.replace("hit", &returns(5));
    shelf.run(hit, None, 10, 10);
    shelf.close();
    shelf
}

/// What is known of all names but `hit`.
fn others(shelf: &Shelf) -> Vec<String> {
    shelf.state(NAMES.into_iter().skip(1))
}

fn told(health: &Health) -> String {
    let problems = health.problems.iter().map(|problem| format!("{}: {}", problem.what, problem.wrong));
    problems.collect::<Vec<_>>().join("\n")
}

/// The names and the bytes of all files, but for the log.
fn contents(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    files_below(folder).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Does damage, and expects it to be told with these words, mended, and to be no more. What is left of `hit` is for the
/// test to say.
#[track_caller]
pub(crate) fn mended(damage: impl FnOnce(&Shelf), words: &str) -> Shelf {
    let mut shelf = shelf();
    shelf.reopen();
    let before = others(&shelf);
    shelf.close();
    damage(&shelf);
    let files = contents(&shelf.path().join("objects"));
    let health = shelf.look();
    assert!(!health.is_good() && told(&health).contains(words), "{}", told(&health));
    assert_eq!(contents(&shelf.path().join("objects")), files, "looking changed something");
    let health = shelf.repair();
    assert!(health.is_good() && told(&health).contains(words), "{:#?}", health.problems);
    let health = shelf.look();
    assert!(health.problems.is_empty(), "{:#?}", health.problems);
    shelf.reopen();
    assert_eq!(others(&shelf), before);
    shelf
}

/// Changes one bit in the middle.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    overwrite(path, &bytes);
}

/// Leaves the first half.
pub(crate) fn cut(path: &Path) {
    let bytes = fs::read(path).unwrap();
    overwrite(path, &bytes[..bytes.len() / 2]);
}

pub(crate) fn empty(path: &Path) {
    overwrite(path, b"");
}

pub(crate) fn delete(path: &Path) {
    fs::remove_file(path).unwrap();
}

const DAMAGES: [fn(&Path); 4] = [flip, cut, empty, delete];

#[test]
fn a_store_that_is_whole_is_good() {
    let shelf = shelf();
    let health = shelf.look();
    assert!(health.is_good());
    // Four sources that are different, and a version for each of nine steps.
    assert_eq!((health.tools, health.objects, health.unreferenced, health.quarantined), (3, 14, 0, 0));
    assert_eq!(shelf.repair(), health);
}

#[test]
fn a_tool_whose_source_is_damaged_is_quarantined_until_it_is_created_again() {
    for damage in DAMAGES {
        let shelf = mended(|shelf| damage(&shelf.source_object(&returns(5))), "its source is lost");
        let entry = shelf.find("hit").unwrap();
        assert_eq!((entry.status, entry.runs), (Status::Quarantined, 1));
        assert!(shelf.source("hit").starts_with("integrity: "), "{}", shelf.source("hit"));
        assert!(shelf.quarantined().len() == 1 || !shelf.source_object(&returns(5)).exists());
        // The rest goes elsewhere without it.
        assert_eq!(Import::read(&shelf.export(History::Last)).unwrap().newcomers().len(), 2);
        shelf.put(&made("hit", &returns(5)), WhenTaken::Refuse).unwrap();
        assert_eq!(shelf.source("hit"), returns(5));
        assert_eq!(shelf.find("hit").unwrap().status, Status::Unverified);
    }
}

#[test]
fn a_tool_whose_source_is_damaged_comes_back_with_an_import() {
    let mut shelf = shelf();
    shelf.reopen();
    let bundle = shelf.export(History::Last);
    shelf.close();
    delete(&shelf.source_object(&returns(5)));
    shelf.repair();
    shelf.reopen();
    let imported = shelf.import(&bundle).unwrap();
    assert_eq!((imported.added.len(), imported.replaced.len(), imported.unchanged), (0, 1, 2));
    assert_eq!((shelf.source("hit"), shelf.find("hit").unwrap().status), (returns(5), Status::Unverified));
}

#[test]
fn a_name_whose_last_version_is_damaged_is_free_until_it_is_created_again() {
    for damage in DAMAGES {
        let shelf = mended(|shelf| damage(&shelf.version_object("hit", "replaced")), "what is known of it is lost");
        assert_eq!(shelf.source("hit"), "tool-not-found");
        shelf.put(&made("hit", &returns(5)), WhenTaken::Refuse).unwrap();
        assert_eq!(shelf.source("hit"), returns(5));
        let entry = shelf.find("hit").unwrap();
        assert_eq!((entry.status, entry.runs), (Status::Unverified, 1));
        assert!(shelf.look().problems.is_empty());
    }
}

#[test]
fn a_step_that_is_lost_from_a_history_is_told_and_the_others_stay() {
    for damage in DAMAGES {
        let mut shelf =
            mended(|shelf| damage(&shelf.version_object("hit", "deleted")), "a step of its history is lost");
        assert_eq!((shelf.source("hit"), shelf.find("hit").unwrap().status), (returns(5), Status::Unverified));
        shelf.roll_back("hit", 1).unwrap();
        shelf.roll_back("hit", 4).unwrap();
        let before = others(&shelf);
        shelf.close();
        delete(&shelf.path().join("index.sqlite"));
        assert!(shelf.repair().is_good());
        assert!(shelf.look().problems.is_empty());
        shelf.reopen();
        assert_eq!((shelf.source("hit"), others(&shelf)), (returns(5), before));
    }
}

#[test]
fn what_the_index_keeps_until_the_next_sync_is_made_again() {
    for damage in DAMAGES {
        let mut shelf = Shelf::kept(Settings::default());
        shelf.tool("hit", &returns(1));
        shelf.close();
        let version = shelf.version_object("hit", "created");
        damage(&shelf.source_object(&returns(1)));
        damage(&version);
        shelf.repair();
        assert!(shelf.look().problems.is_empty());
        shelf.reopen();
        assert_eq!((shelf.source("hit"), shelf.find("hit").unwrap().status), (returns(1), Status::Unverified));
        shelf.close();
        // Reading alone does it as well.
        delete(&shelf.source_object(&returns(1)));
        shelf.reopen();
        assert_eq!(shelf.source("hit"), returns(1));
        assert!(shelf.source_object(&returns(1)).exists());
    }
}

#[test]
fn what_does_not_belong_there_is_put_aside() {
    let strangers = ["x", "ab/x", "zz/y", "AB/cd", "ab/0123", "objects/ab/cd"];
    for stranger in strangers {
        let plant = |shelf: &Shelf| {
            let path = shelf.path().join("objects").join(stranger);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "mine").unwrap();
        };
        let shelf = mended(plant, "does not belong there");
        let kept: Vec<Vec<u8>> = shelf.quarantined().iter().map(|path| fs::read(path).unwrap()).collect();
        assert_eq!(kept, [b"mine"], "{stranger}");
        assert_eq!(shelf.source("hit"), returns(5));
    }
}

#[test]
fn nothing_that_was_put_aside_is_put_aside_over() {
    let mut shelf = shelf();
    let source = shelf.source_object(&returns(5));
    for damaged in ["first", "second"] {
        overwrite(&source, damaged.as_bytes());
        shelf.repair();
    }
    shelf.reopen();
    let mut kept: Vec<String> = shelf.quarantined().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    kept.sort();
    assert_eq!(kept, ["first", "second"]);
}

#[test]
fn what_nobody_finished_writing_harms_nobody() {
    let mut shelf = shelf();
    for name in ["1.0", "index.sqlite", "index.sqlite-journal", "toolcell-store.7"] {
        fs::write(shelf.path().join("tmp").join(name), "half").unwrap();
    }
    assert!(shelf.look().is_good());
    delete(&shelf.path().join("index.sqlite"));
    assert!(shelf.repair().is_good());
    shelf.reopen();
    assert_eq!((shelf.source("hit"), shelf.tool("new", &returns(9))), (returns(5), made("new", &returns(9)).id()));
}
