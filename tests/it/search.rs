//! The search index of the store; the caller provides the terms.

use toolcell::Status;
use toolcell::store::{Entry, GcMode, OnConflict, SearchHit, SearchTerms};

use crate::fixtures::store::{StoreFixture, returns, sample_tool};
use crate::fsck::delete;

/// The version label of the term extraction in these tests.
const WAY: &str = "blanks";

fn terms(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Indexes all tools without terms, by the words of their names and descriptions.
fn index(shelf: &StoreFixture) -> usize {
    let made = |entry: Entry| {
        let name = entry.name.as_str().split('_').map(str::to_owned).collect();
        let made = SearchTerms {
            name,
            tags: entry.tags.clone(),
            description: terms(&entry.description),
            ..SearchTerms::default()
        };
        (entry, made)
    };
    let tools: Vec<(Entry, SearchTerms)> =
        shelf.store().unindexed(WAY, usize::MAX).unwrap().into_iter().map(made).collect();
    shelf.store().index_terms(WAY, &tools).unwrap();
    tools.len()
}

/// Searches with one form per word.
fn found(shelf: &StoreFixture, text: &str) -> Vec<SearchHit> {
    let words: Vec<Vec<String>> = terms(text).into_iter().map(|term| vec![term]).collect();
    shelf.store().search(&words, 10).unwrap()
}

#[track_caller]
fn check(shelf: &StoreFixture, text: &str, expect: &[&str]) {
    let found = found(shelf, text);
    assert_eq!(found.iter().map(|found| found.entry.name.as_str()).collect::<Vec<_>>(), expect, "{text}");
}

fn shelf(tools: &[(&str, &str)]) -> StoreFixture {
    let shelf = StoreFixture::new();
    for (name, about) in tools {
        shelf.insert(&sample_tool(name, &returns(1)).described(about), OnConflict::Refuse).unwrap();
    }
    assert_eq!(index(&shelf), tools.len());
    shelf
}

#[test]
fn a_word_in_the_name_counts_more_than_one_in_a_tag_and_that_more_than_one_in_the_description() {
    let shelf = shelf(&[("mean", "averages numbers"), ("other", "turns text around"), ("third", "nothing")]);
    shelf.insert(&sample_tool("average", &returns(2)).described("takes a mean"), OnConflict::Refuse).unwrap();
    shelf.insert(&sample_tool("sum", &returns(3)).described("adds up").tags(&["mean"]), OnConflict::Refuse).unwrap();
    index(&shelf);
    check(&shelf, "mean", &["mean", "sum", "average"]);
    check(&shelf, "around text", &["other"]);
    check(&shelf, "nowhere", &[]);
    check(&shelf, "", &[]);
    let both = found(&shelf, "mean nowhere");
    assert!(both[0].coverage > 0.1 && both[0].coverage < 0.5, "{}", both[0].coverage);
    assert!((found(&shelf, "mean")[2].coverage - 1.0).abs() < 1e-9);
}

#[test]
fn any_form_of_a_word_will_do() {
    let shelf = shelf(&[("kana", "変換 ~convert"), ("case", "converts ~convert"), ("sum", "adds")]);
    let words = [vec!["変換".to_owned(), "~convert".to_owned()], vec!["adds".to_owned()]];
    let found = shelf.store().search(&words, 10).unwrap();
    let shown: Vec<(&str, bool)> = found.iter().map(|one| (one.entry.name.as_str(), one.coverage > 0.3)).collect();
    assert_eq!((shown.len(), shown[1..].contains(&("case", true))), (3, true), "{shown:?}");
    // One matching form covers as much as both.
    let covered = |tool: &str| found.iter().find(|one| one.entry.name.as_str() == tool).unwrap().coverage;
    assert!((covered("kana") - covered("case")).abs() < 1e-9);
}

#[test]
fn a_term_is_compared_whole_whatever_is_in_it() {
    let odd = [
        "a\"b",
        "\"",
        "a*",
        "NEAR(a",
        "-x",
        "^x",
        "x:y",
        "name:x",
        "OR",
        "(",
        "~convert",
        "c++",
        "変換する",
        "แปลงไฟล์",
        "é",
        "e\u{301}",
        "👩‍👩‍👧",
        "{a b}",
        "a\0b",
        "'; DROP TABLE terms; --",
    ];
    let plain = shelf(&[("plain", "a b x y near or convert c name e drop")]);
    for odd in odd {
        assert_eq!(plain.store().search(&[vec![odd.to_owned()]], 10).unwrap(), [], "{odd}");
    }
    for odd in odd.into_iter().filter(|odd| !odd.contains(['\0', ' '])) {
        plain.insert(&sample_tool("odd", &returns(2)).described(odd), OnConflict::Replace).unwrap();
        index(&plain);
        check(&plain, odd, &["odd"]);
    }
}

#[test]
fn what_is_said_anew_is_found_anew() {
    let shelf = shelf(&[("one", "first words"), ("two", "other")]);
    shelf.insert(&sample_tool("one", &returns(1)).described("second thoughts"), OnConflict::Replace).unwrap();
    // A replaced tool is not found by its old description, even before it is indexed again.
    check(&shelf, "first", &[]);
    assert_eq!(index(&shelf), 1);
    check(&shelf, "second", &["one"]);
    shelf
        .insert(&sample_tool("one", &returns(1)).described("second thoughts").tags(&["numbers"]), OnConflict::Replace)
        .unwrap();
    assert_eq!(index(&shelf), 1);
    check(&shelf, "numbers", &["one"]);
    // Terms extracted from an outdated description are discarded.
    let old = shelf.find("one").unwrap();
    shelf.insert(&sample_tool("one", &returns(1)).described("third"), OnConflict::Replace).unwrap();
    shelf
        .store()
        .index_terms(WAY, &[(old, SearchTerms { description: terms("second"), ..SearchTerms::default() })])
        .unwrap();
    check(&shelf, "second", &[]);
    assert_eq!(index(&shelf), 1);
    // Another version label makes all tools unindexed.
    assert_eq!(shelf.store().unindexed("syllables", 10).unwrap().len(), 2);
    assert_eq!(shelf.store().unindexed("a", 1).unwrap().len(), 1);
    assert_eq!(shelf.store().unindexed(WAY, 10).unwrap(), []);
}

#[test]
fn only_what_a_name_leads_to_and_may_run_is_found() {
    let shelf = shelf(&[("gone", "needle"), ("changed", "needle"), ("bad", "needle"), ("good", "needle")]);
    shelf.delete("gone").unwrap();
    shelf.replace("changed", &returns(2));
    shelf.store().set_status(shelf.find("bad").unwrap().id, Status::Quarantined).unwrap();
    index(&shelf);
    check(&shelf, "needle", &["good"]);
    shelf.undelete("gone").unwrap();
    shelf.roll_back("changed", 1).unwrap();
    assert_eq!(index(&shelf), 2);
    check(&shelf, "needle", &["good", "changed", "gone"]);
}

#[test]
fn who_comes_after_a_tool_that_was_collected_is_not_found_by_its_words() {
    let shelf = shelf(&[("one", "first"), ("gone", "needle")]);
    shelf.delete("gone").unwrap();
    let now = shelf.set_clock(5_000).now();
    assert_eq!(shelf.store().collect(now, now, GcMode::Execute).unwrap().names.len(), 1);
    shelf.insert(&sample_tool("new", &returns(9)).described("thread"), OnConflict::Refuse).unwrap();
    check(&shelf, "needle", &[]);
    index(&shelf);
    check(&shelf, "needle", &[]);
    check(&shelf, "thread", &["new"]);
}

#[test]
fn an_index_that_is_made_anew_is_filled_anew() {
    let mut shelf = shelf(&[("one", "first"), ("two", "second")]);
    shelf.close();
    assert!(shelf.check().problems.is_empty(), "{:#?}", shelf.check().problems);
    delete(&shelf.path().join("index.sqlite"));
    assert!(shelf.repair().is_healthy());
    shelf.reopen();
    check(&shelf, "first", &[]);
    assert_eq!(index(&shelf), 2);
    check(&shelf, "first", &["one"]);
    shelf.close();
    assert!(shelf.check().problems.is_empty());
}

#[test]
fn a_word_that_all_tools_have_hides_no_rare_one() {
    let shelf = StoreFixture::new();
    for number in 0..40 {
        let about = if number == 3 { "common rare".to_owned() } else { format!("common n{number}") };
        shelf
            .insert(&sample_tool(&format!("t{number}"), &returns(number)).described(&about), OnConflict::Refuse)
            .unwrap();
    }
    index(&shelf);
    let found = found(&shelf, "common rare");
    assert_eq!((found[0].entry.name.as_str(), found.len()), ("t3", 10));
    assert!((found[0].coverage - 1.0).abs() < 1e-9 && found[1].coverage < 0.15, "{}", found[1].coverage);
}
