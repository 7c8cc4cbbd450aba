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
fn index(fixture: &StoreFixture) -> usize {
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
        fixture.store().catalog().unindexed(WAY, usize::MAX).unwrap().into_iter().map(made).collect();
    fixture.store().catalog().index_terms(WAY, &tools).unwrap();
    tools.len()
}

/// Searches with one form per word.
fn found(fixture: &StoreFixture, text: &str) -> Vec<SearchHit> {
    let words: Vec<Vec<String>> = terms(text).into_iter().map(|term| vec![term]).collect();
    fixture.store().catalog().search(&words, 10).unwrap()
}

#[track_caller]
fn check(fixture: &StoreFixture, text: &str, expect: &[&str]) {
    let found = found(fixture, text);
    assert_eq!(found.iter().map(|found| found.entry.name.as_str()).collect::<Vec<_>>(), expect, "{text}");
}

fn fixture(tools: &[(&str, &str)]) -> StoreFixture {
    let fixture = StoreFixture::new();
    for (name, about) in tools {
        fixture.insert(&sample_tool(name, &returns(1)).described(about), OnConflict::Refuse).unwrap();
    }
    assert_eq!(index(&fixture), tools.len());
    fixture
}

#[test]
fn a_word_in_the_name_counts_more_than_one_in_a_tag_and_that_more_than_one_in_the_description() {
    let fixture = fixture(&[("mean", "averages numbers"), ("other", "turns text around"), ("third", "nothing")]);
    fixture.insert(&sample_tool("average", &returns(2)).described("takes a mean"), OnConflict::Refuse).unwrap();
    fixture.insert(&sample_tool("sum", &returns(3)).described("adds up").tags(&["mean"]), OnConflict::Refuse).unwrap();
    index(&fixture);
    check(&fixture, "mean", &["mean", "sum", "average"]);
    check(&fixture, "around text", &["other"]);
    check(&fixture, "nowhere", &[]);
    check(&fixture, "", &[]);
    let both = found(&fixture, "mean nowhere");
    assert!(both[0].coverage > 0.1 && both[0].coverage < 0.5, "{}", both[0].coverage);
    assert!((found(&fixture, "mean")[2].coverage - 1.0).abs() < 1e-9);
}

#[test]
fn any_form_of_a_word_will_do() {
    let fixture = fixture(&[("kana", "変換 ~convert"), ("case", "converts ~convert"), ("sum", "adds")]);
    let words = [vec!["変換".to_owned(), "~convert".to_owned()], vec!["adds".to_owned()]];
    let found = fixture.store().catalog().search(&words, 10).unwrap();
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
    let plain = fixture(&[("plain", "a b x y near or convert c name e drop")]);
    for odd in odd {
        assert_eq!(plain.store().catalog().search(&[vec![odd.to_owned()]], 10).unwrap(), [], "{odd}");
    }
    for odd in odd.into_iter().filter(|odd| !odd.contains(['\0', ' '])) {
        plain.insert(&sample_tool("odd", &returns(2)).described(odd), OnConflict::Replace).unwrap();
        index(&plain);
        check(&plain, odd, &["odd"]);
    }
}

#[test]
fn what_is_said_anew_is_found_anew() {
    let fixture = fixture(&[("one", "first words"), ("two", "other")]);
    fixture.insert(&sample_tool("one", &returns(1)).described("second thoughts"), OnConflict::Replace).unwrap();
    // A replaced tool is not found by its old description, even before it is indexed again.
    check(&fixture, "first", &[]);
    assert_eq!(index(&fixture), 1);
    check(&fixture, "second", &["one"]);
    fixture
        .insert(&sample_tool("one", &returns(1)).described("second thoughts").tags(&["numbers"]), OnConflict::Replace)
        .unwrap();
    assert_eq!(index(&fixture), 1);
    check(&fixture, "numbers", &["one"]);
    // Terms extracted from an outdated description are discarded.
    let old = fixture.find("one").unwrap();
    fixture.insert(&sample_tool("one", &returns(1)).described("third"), OnConflict::Replace).unwrap();
    fixture
        .store()
        .catalog()
        .index_terms(WAY, &[(old, SearchTerms { description: terms("second"), ..SearchTerms::default() })])
        .unwrap();
    check(&fixture, "second", &[]);
    assert_eq!(index(&fixture), 1);
    // Another version label makes all tools unindexed.
    assert_eq!(fixture.store().catalog().unindexed("syllables", 10).unwrap().len(), 2);
    assert_eq!(fixture.store().catalog().unindexed("a", 1).unwrap().len(), 1);
    assert_eq!(fixture.store().catalog().unindexed(WAY, 10).unwrap(), []);
}

#[test]
fn only_what_a_name_leads_to_and_may_run_is_found() {
    let fixture = fixture(&[("gone", "needle"), ("changed", "needle"), ("bad", "needle"), ("good", "needle")]);
    fixture.delete("gone").unwrap();
    fixture.replace("changed", &returns(2));
    fixture.store().catalog().set_status(fixture.find("bad").unwrap().id, Status::Quarantined).unwrap();
    index(&fixture);
    check(&fixture, "needle", &["good"]);
    fixture.undelete("gone").unwrap();
    fixture.roll_back("changed", 1).unwrap();
    assert_eq!(index(&fixture), 2);
    check(&fixture, "needle", &["good", "changed", "gone"]);
}

#[test]
fn who_comes_after_a_tool_that_was_collected_is_not_found_by_its_words() {
    let fixture = fixture(&[("one", "first"), ("gone", "needle")]);
    fixture.delete("gone").unwrap();
    let now = fixture.set_clock(5_000).now();
    assert_eq!(fixture.store().maintenance().collect(now, now, GcMode::Execute).unwrap().names.len(), 1);
    fixture.insert(&sample_tool("new", &returns(9)).described("thread"), OnConflict::Refuse).unwrap();
    check(&fixture, "needle", &[]);
    index(&fixture);
    check(&fixture, "needle", &[]);
    check(&fixture, "thread", &["new"]);
}

#[test]
fn an_index_that_is_made_anew_is_filled_anew() {
    let mut fixture = fixture(&[("one", "first"), ("two", "second")]);
    fixture.close();
    assert!(fixture.check().problems.is_empty(), "{:#?}", fixture.check().problems);
    delete(&fixture.path().join("index.sqlite"));
    assert!(fixture.repair().is_healthy());
    fixture.reopen();
    check(&fixture, "first", &[]);
    assert_eq!(index(&fixture), 2);
    check(&fixture, "first", &["one"]);
    fixture.close();
    assert!(fixture.check().problems.is_empty());
}

#[test]
fn a_word_that_all_tools_have_hides_no_rare_one() {
    let fixture = StoreFixture::new();
    for number in 0..40 {
        let about = if number == 3 { "common rare".to_owned() } else { format!("common n{number}") };
        fixture
            .insert(&sample_tool(&format!("t{number}"), &returns(number)).described(&about), OnConflict::Refuse)
            .unwrap();
    }
    index(&fixture);
    let found = found(&fixture, "common rare");
    assert_eq!((found[0].entry.name.as_str(), found.len()), ("t3", 10));
    assert!((found[0].coverage - 1.0).abs() < 1e-9 && found[1].coverage < 0.15, "{}", found[1].coverage);
}
