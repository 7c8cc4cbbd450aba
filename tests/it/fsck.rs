//! Damaged objects: each is reported and repaired as far as possible, without affecting other
//! tools.

use std::fs;
use std::path::Path;

use toolcell::Status;
use toolcell::store::{FsckReport, HistoryScope, Import, OnConflict, Settings};

use crate::fixtures::store::{StoreFixture, files_below, overwrite, returns, sample_tool};

pub(crate) const NAMES: [&str; 4] = ["hit", "other", "gone", "shared"];

/// Creates a closed store. The damage is done to `hit`. `hit` and `other` have histories, `gone`
/// was deleted, and `shared` has the same source as `other`.
pub(crate) fn shelf() -> StoreFixture {
    let mut shelf = StoreFixture::new();
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

/// Returns the state of all names but `hit`.
fn others(shelf: &StoreFixture) -> Vec<String> {
    shelf.state(NAMES.into_iter().skip(1))
}

fn told(health: &FsckReport) -> String {
    let problems = health.problems.iter().map(|problem| format!("{}: {}", problem.what, problem.wrong));
    problems.collect::<Vec<_>>().join("\n")
}

/// Returns the names and bytes of all files, except for the log.
fn contents(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    files_below(folder).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Damages the store, and asserts that the problem is reported with these words, repaired, and gone
/// afterwards. The test checks the state of `hit`.
#[track_caller]
pub(crate) fn mended(damage: impl FnOnce(&StoreFixture), words: &str) -> StoreFixture {
    let mut shelf = shelf();
    shelf.reopen();
    let before = others(&shelf);
    shelf.close();
    damage(&shelf);
    let files = contents(&shelf.path().join("objects"));
    let health = shelf.check();
    assert!(!health.is_healthy() && told(&health).contains(words), "{}", told(&health));
    assert_eq!(contents(&shelf.path().join("objects")), files, "looking changed something");
    let health = shelf.repair();
    assert!(health.is_healthy() && told(&health).contains(words), "{:#?}", health.problems);
    let health = shelf.check();
    assert!(health.problems.is_empty(), "{:#?}", health.problems);
    shelf.reopen();
    assert_eq!(others(&shelf), before);
    shelf
}

/// Flips one bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    overwrite(path, &bytes);
}

/// Truncates a file to its first half.
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
    let health = shelf.check();
    assert!(health.is_healthy());
    // Five distinct sources, and a version for each of nine steps.
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
        // An export contains the other tools without it.
        assert_eq!(Import::read(&shelf.export(HistoryScope::Latest)).unwrap().tools().len(), 2);
        shelf.insert(&sample_tool("hit", &returns(5)), OnConflict::Refuse).unwrap();
        assert_eq!(shelf.source("hit"), returns(5));
        assert_eq!(shelf.find("hit").unwrap().status, Status::Unverified);
    }
}

#[test]
fn a_tool_whose_source_is_damaged_comes_back_with_an_import() {
    let mut shelf = shelf();
    shelf.reopen();
    let bundle = shelf.export(HistoryScope::Latest);
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
        let shelf = mended(|shelf| damage(&shelf.version_object("hit", "replaced")), "its metadata is lost");
        assert_eq!(shelf.source("hit"), "tool-not-found");
        shelf.insert(&sample_tool("hit", &returns(5)), OnConflict::Refuse).unwrap();
        assert_eq!(shelf.source("hit"), returns(5));
        let entry = shelf.find("hit").unwrap();
        assert_eq!((entry.status, entry.runs), (Status::Unverified, 1));
        assert!(shelf.check().problems.is_empty());
    }
}

#[test]
fn a_step_that_is_lost_from_a_history_is_told_and_the_others_stay() {
    for damage in DAMAGES {
        let mut shelf = mended(|shelf| damage(&shelf.version_object("hit", "deleted")), "this history step is lost");
        assert_eq!((shelf.source("hit"), shelf.find("hit").unwrap().status), (returns(5), Status::Unverified));
        shelf.roll_back("hit", 1).unwrap();
        shelf.roll_back("hit", 4).unwrap();
        let before = others(&shelf);
        shelf.close();
        delete(&shelf.path().join("index.sqlite"));
        assert!(shelf.repair().is_healthy());
        assert!(shelf.check().problems.is_empty());
        shelf.reopen();
        assert_eq!((shelf.source("hit"), others(&shelf)), (returns(5), before));
    }
}

#[test]
fn what_the_index_keeps_until_the_next_sync_is_made_again() {
    for damage in DAMAGES {
        let mut shelf = StoreFixture::with_settings(Settings::default());
        shelf.tool("hit", &returns(1));
        shelf.close();
        let version = shelf.version_object("hit", "created");
        damage(&shelf.source_object(&returns(1)));
        damage(&version);
        shelf.repair();
        assert!(shelf.check().problems.is_empty());
        shelf.reopen();
        assert_eq!((shelf.source("hit"), shelf.find("hit").unwrap().status), (returns(1), Status::Unverified));
        shelf.close();
        // Reading the tool restores the object too.
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
        let plant = |shelf: &StoreFixture| {
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
    assert!(shelf.check().is_healthy());
    delete(&shelf.path().join("index.sqlite"));
    assert!(shelf.repair().is_healthy());
    shelf.reopen();
    assert_eq!(
        (shelf.source("hit"), shelf.tool("new", &returns(9))),
        (returns(5), sample_tool("new", &returns(9)).id())
    );
}
