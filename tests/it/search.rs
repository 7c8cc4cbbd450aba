//! What words lead to, as the store keeps it: terms that somebody else made.

use toolcell::Status;
use toolcell::store::{Entry, Found, Mode, Terms, WhenTaken};

use crate::fsck::delete;
use crate::shelf::{Shelf, made, returns};

/// How terms are made here.
const WAY: &str = "blanks";

fn terms(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Makes the terms of all tools that have none: words of the name, and of what is said about it.
fn index(shelf: &Shelf) -> usize {
    let made = |entry: Entry| {
        let name = entry.name.as_str().split('_').map(str::to_owned).collect();
        let made = Terms { name, tags: entry.tags.clone(), about: terms(&entry.description), ..Terms::default() };
        (entry, made)
    };
    let tools: Vec<(Entry, Terms)> = shelf.store().unindexed(WAY, usize::MAX).unwrap().into_iter().map(made).collect();
    shelf.store().index_terms(WAY, &tools).unwrap();
    tools.len()
}

/// Each word of a text has one form.
fn found(shelf: &Shelf, text: &str) -> Vec<Found> {
    let words: Vec<Vec<String>> = terms(text).into_iter().map(|term| vec![term]).collect();
    shelf.store().search(&words, 10).unwrap()
}

#[track_caller]
fn check(shelf: &Shelf, text: &str, expect: &[&str]) {
    let found = found(shelf, text);
    assert_eq!(found.iter().map(|found| found.entry.name.as_str()).collect::<Vec<_>>(), expect, "{text}");
}

fn shelf(tools: &[(&str, &str)]) -> Shelf {
    let shelf = Shelf::new();
    for (name, about) in tools {
        shelf.put(&made(name, &returns(1)).described(about), WhenTaken::Refuse).unwrap();
    }
    assert_eq!(index(&shelf), tools.len());
    shelf
}

#[test]
fn a_word_in_the_name_counts_more_than_one_in_a_tag_and_that_more_than_one_in_the_description() {
    let shelf = shelf(&[("mean", "averages numbers"), ("other", "turns text around"), ("third", "nothing")]);
    shelf.put(&made("average", &returns(2)).described("takes a mean"), WhenTaken::Refuse).unwrap();
    shelf.put(&made("sum", &returns(3)).described("adds up").tags(&["mean"]), WhenTaken::Refuse).unwrap();
    index(&shelf);
    check(&shelf, "mean", &["mean", "sum", "average"]);
    check(&shelf, "around text", &["other"]);
    check(&shelf, "nowhere", &[]);
    check(&shelf, "", &[]);
    let both = found(&shelf, "mean nowhere");
    assert!(both[0].covered > 0.1 && both[0].covered < 0.5, "{}", both[0].covered);
    assert!((found(&shelf, "mean")[2].covered - 1.0).abs() < 1e-9);
}

#[test]
fn any_form_of_a_word_will_do() {
    let shelf = shelf(&[("kana", "変換 ~convert"), ("case", "converts ~convert"), ("sum", "adds")]);
    let words = [vec!["変換".to_owned(), "~convert".to_owned()], vec!["adds".to_owned()]];
    let found = shelf.store().search(&words, 10).unwrap();
    let shown: Vec<(&str, bool)> = found.iter().map(|one| (one.entry.name.as_str(), one.covered > 0.3)).collect();
    assert_eq!((shown.len(), shown[1..].contains(&("case", true))), (3, true), "{shown:?}");
    // As much is covered by one form as by both.
    let covered = |tool: &str| found.iter().find(|one| one.entry.name.as_str() == tool).unwrap().covered;
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
        plain.put(&made("odd", &returns(2)).described(odd), WhenTaken::Replace).unwrap();
        index(&plain);
        check(&plain, odd, &["odd"]);
    }
}

#[test]
fn what_is_said_anew_is_found_anew() {
    let shelf = shelf(&[("one", "first words"), ("two", "other")]);
    shelf.put(&made("one", &returns(1)).described("second thoughts"), WhenTaken::Replace).unwrap();
    // Until its terms are made it is not found by what is no longer said.
    check(&shelf, "first", &[]);
    assert_eq!(index(&shelf), 1);
    check(&shelf, "second", &["one"]);
    shelf.put(&made("one", &returns(1)).described("second thoughts").tags(&["numbers"]), WhenTaken::Replace).unwrap();
    assert_eq!(index(&shelf), 1);
    check(&shelf, "numbers", &["one"]);
    // Who made terms of what is no longer said keeps nothing.
    let old = shelf.find("one").unwrap();
    shelf.put(&made("one", &returns(1)).described("third"), WhenTaken::Replace).unwrap();
    shelf.store().index_terms(WAY, &[(old, Terms { about: terms("second"), ..Terms::default() })]).unwrap();
    check(&shelf, "second", &[]);
    assert_eq!(index(&shelf), 1);
    // Another way of making terms makes those of all tools anew.
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
    let now = shelf.at(5_000).now();
    assert_eq!(shelf.store().collect(now, now, Mode::Do).unwrap().names.len(), 1);
    shelf.put(&made("new", &returns(9)).described("thread"), WhenTaken::Refuse).unwrap();
    check(&shelf, "needle", &[]);
    index(&shelf);
    check(&shelf, "needle", &[]);
    check(&shelf, "thread", &["new"]);
}

#[test]
fn an_index_that_is_made_anew_is_filled_anew() {
    let mut shelf = shelf(&[("one", "first"), ("two", "second")]);
    shelf.close();
    assert!(shelf.look().problems.is_empty(), "{:#?}", shelf.look().problems);
    delete(&shelf.path().join("index.sqlite"));
    assert!(shelf.repair().is_good());
    shelf.reopen();
    check(&shelf, "first", &[]);
    assert_eq!(index(&shelf), 2);
    check(&shelf, "first", &["one"]);
    shelf.close();
    assert!(shelf.look().problems.is_empty());
}

#[test]
fn a_word_that_all_tools_have_hides_no_rare_one() {
    let shelf = Shelf::new();
    for number in 0..40 {
        let about = if number == 3 { "common rare".to_owned() } else { format!("common n{number}") };
        shelf.put(&made(&format!("t{number}"), &returns(number)).described(&about), WhenTaken::Refuse).unwrap();
    }
    index(&shelf);
    let found = found(&shelf, "common rare");
    assert_eq!((found[0].entry.name.as_str(), found.len()), ("t3", 10));
    assert!((found[0].covered - 1.0).abs() < 1e-9 && found[1].covered < 0.15, "{}", found[1].covered);
}
