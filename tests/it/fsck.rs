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
pub(crate) fn fixture() -> StoreFixture {
    let mut fixture = StoreFixture::new();
    fixture.tool("hit", &returns(1));
    fixture.tool("other", &returns(2));
    fixture.tool("gone", &returns(3));
    fixture.tool("shared", &returns(4));
    fixture.delete("gone").unwrap();
    fixture.delete("hit").unwrap();
    fixture.undelete("hit").unwrap();
    fixture.replace("other", &returns(4));
    let hit = fixture.replace("hit", &returns(5));
    fixture.run(hit, None, 10, 10);
    fixture.close();
    fixture
}

/// Returns the state of all names but `hit`.
fn others(fixture: &StoreFixture) -> Vec<String> {
    fixture.state(NAMES.into_iter().skip(1))
}

fn describe(health: &FsckReport) -> String {
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
    let mut fixture = fixture();
    fixture.reopen();
    let before = others(&fixture);
    fixture.close();
    damage(&fixture);
    let files = contents(&fixture.path().join("objects"));
    let health = fixture.check();
    assert!(!health.is_healthy() && describe(&health).contains(words), "{}", describe(&health));
    assert_eq!(contents(&fixture.path().join("objects")), files, "looking changed something");
    let health = fixture.repair();
    assert!(health.is_healthy() && describe(&health).contains(words), "{:#?}", health.problems);
    let health = fixture.check();
    assert!(health.problems.is_empty(), "{:#?}", health.problems);
    fixture.reopen();
    assert_eq!(others(&fixture), before);
    fixture
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
    let fixture = fixture();
    let health = fixture.check();
    assert!(health.is_healthy());
    // Five distinct sources, and a version for each of nine steps.
    assert_eq!((health.tools, health.objects, health.unreferenced, health.quarantined), (3, 14, 0, 0));
    assert_eq!(fixture.repair(), health);
}

#[test]
fn a_tool_whose_source_is_damaged_is_quarantined_until_it_is_created_again() {
    for damage in DAMAGES {
        let fixture = mended(|fixture| damage(&fixture.source_object(&returns(5))), "its source is lost");
        let entry = fixture.find("hit").unwrap();
        assert_eq!((entry.status, entry.runs), (Status::Quarantined, 1));
        assert!(fixture.source("hit").starts_with("integrity: "), "{}", fixture.source("hit"));
        assert!(fixture.quarantined().len() == 1 || !fixture.source_object(&returns(5)).exists());
        // An export contains the other tools without it.
        assert_eq!(Import::read(&fixture.export(HistoryScope::Latest)).unwrap().tools().len(), 2);
        fixture.insert(&sample_tool("hit", &returns(5)), OnConflict::Refuse).unwrap();
        assert_eq!(fixture.source("hit"), returns(5));
        assert_eq!(fixture.find("hit").unwrap().status, Status::Unverified);
    }
}

#[test]
fn a_tool_whose_source_is_damaged_comes_back_with_an_import() {
    let mut fixture = fixture();
    fixture.reopen();
    let bundle = fixture.export(HistoryScope::Latest);
    fixture.close();
    delete(&fixture.source_object(&returns(5)));
    fixture.repair();
    fixture.reopen();
    let imported = fixture.import(&bundle).unwrap();
    assert_eq!((imported.added.len(), imported.replaced.len(), imported.unchanged), (0, 1, 2));
    assert_eq!((fixture.source("hit"), fixture.find("hit").unwrap().status), (returns(5), Status::Unverified));
}

#[test]
fn a_name_whose_last_version_is_damaged_is_free_until_it_is_created_again() {
    for damage in DAMAGES {
        let fixture = mended(|fixture| damage(&fixture.version_object("hit", "replaced")), "its metadata is lost");
        assert_eq!(fixture.source("hit"), "tool-not-found");
        fixture.insert(&sample_tool("hit", &returns(5)), OnConflict::Refuse).unwrap();
        assert_eq!(fixture.source("hit"), returns(5));
        let entry = fixture.find("hit").unwrap();
        assert_eq!((entry.status, entry.runs), (Status::Unverified, 1));
        assert!(fixture.check().problems.is_empty());
    }
}

#[test]
fn a_step_that_is_lost_from_a_history_is_told_and_the_others_stay() {
    for damage in DAMAGES {
        let mut fixture =
            mended(|fixture| damage(&fixture.version_object("hit", "deleted")), "this history step is lost");
        assert_eq!((fixture.source("hit"), fixture.find("hit").unwrap().status), (returns(5), Status::Unverified));
        fixture.roll_back("hit", 1).unwrap();
        fixture.roll_back("hit", 4).unwrap();
        let before = others(&fixture);
        fixture.close();
        delete(&fixture.path().join("index.sqlite"));
        assert!(fixture.repair().is_healthy());
        assert!(fixture.check().problems.is_empty());
        fixture.reopen();
        assert_eq!((fixture.source("hit"), others(&fixture)), (returns(5), before));
    }
}

#[test]
fn what_the_index_keeps_until_the_next_sync_is_made_again() {
    for damage in DAMAGES {
        let mut fixture = StoreFixture::with_settings(Settings::default());
        fixture.tool("hit", &returns(1));
        fixture.close();
        let version = fixture.version_object("hit", "created");
        damage(&fixture.source_object(&returns(1)));
        damage(&version);
        fixture.repair();
        assert!(fixture.check().problems.is_empty());
        fixture.reopen();
        assert_eq!((fixture.source("hit"), fixture.find("hit").unwrap().status), (returns(1), Status::Unverified));
        fixture.close();
        // Reading the tool restores the object too.
        delete(&fixture.source_object(&returns(1)));
        fixture.reopen();
        assert_eq!(fixture.source("hit"), returns(1));
        assert!(fixture.source_object(&returns(1)).exists());
    }
}

#[test]
fn what_does_not_belong_there_is_put_aside() {
    let strangers = ["x", "ab/x", "zz/y", "AB/cd", "ab/0123", "objects/ab/cd"];
    for stranger in strangers {
        let plant = |fixture: &StoreFixture| {
            let path = fixture.path().join("objects").join(stranger);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "mine").unwrap();
        };
        let fixture = mended(plant, "does not belong there");
        let kept: Vec<Vec<u8>> = fixture.quarantined().iter().map(|path| fs::read(path).unwrap()).collect();
        assert_eq!(kept, [b"mine"], "{stranger}");
        assert_eq!(fixture.source("hit"), returns(5));
    }
}

#[test]
fn nothing_that_was_put_aside_is_put_aside_over() {
    let mut fixture = fixture();
    let source = fixture.source_object(&returns(5));
    for damaged in ["first", "second"] {
        overwrite(&source, damaged.as_bytes());
        fixture.repair();
    }
    fixture.reopen();
    let mut kept: Vec<String> = fixture.quarantined().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    kept.sort();
    assert_eq!(kept, ["first", "second"]);
}

#[test]
fn what_nobody_finished_writing_harms_nobody() {
    let mut fixture = fixture();
    for name in ["1.0", "index.sqlite", "index.sqlite-journal", "toolcell-store.7"] {
        fs::write(fixture.path().join("tmp").join(name), "half").unwrap();
    }
    assert!(fixture.check().is_healthy());
    delete(&fixture.path().join("index.sqlite"));
    assert!(fixture.repair().is_healthy());
    fixture.reopen();
    assert_eq!(
        (fixture.source("hit"), fixture.tool("new", &returns(9))),
        (returns(5), sample_tool("new", &returns(9)).id())
    );
}
