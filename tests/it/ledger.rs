//! The costs, savings and successors of tools, as the store records them.

use std::time::Duration;

use toolcell::store::audit::{AuditFilter as Lines, AuditOrder as Oldest};
use toolcell::store::{Entry, Filter, OnConflict, ToolCosts, UsageEvent};
use toolcell::{Status, ToolId};

use crate::fixtures::store::{StoreFixture, returns, sample_tool};
use crate::fsck::delete;

fn run(shelf: &StoreFixture, tool: ToolId, failure: Option<&str>, micros: u64, tokens_saved: Option<u64>) {
    let (failure, duration) = (failure.map(str::to_owned), Duration::from_micros(micros));
    let event = UsageEvent { tool, at: shelf.now(), failure, fuel: 1, duration, tokens_saved };
    shelf.store().record_usage(event).unwrap();
}

fn account(shelf: &StoreFixture, tool: &str) -> ToolCosts {
    let all = shelf.store().tool_costs().unwrap();
    all.into_iter().find(|account| account.entry.name.as_str() == tool).unwrap()
}

fn passed(shelf: &StoreFixture, id: ToolId) {
    for step in [Status::Pending, Status::Passed] {
        shelf.store().set_status(id, step).unwrap();
    }
}

/// Returns the status changes in the audit log.
fn changes(shelf: &StoreFixture) -> Vec<(String, String)> {
    let lines = shelf.store().audit().query(Lines::default(), Oldest::OldestFirst).unwrap();
    let changed = lines.map(Result::unwrap).filter(|line| line.action == "status");
    changed.map(|line| (line.name.unwrap(), line.details["status"].to_string())).collect()
}

#[test]
fn times_and_tokens_are_summed_up_and_never_begin_again() {
    let mut shelf = StoreFixture::new();
    let (sum, other) = (shelf.tool("sum", &returns(1)), shelf.tool("other", &returns(2)));
    run(&shelf, sum, None, 1_500, Some(100));
    run(&shelf, sum, None, 500, None);
    // A failed run saves no tokens, but its time counts.
    run(&shelf, sum, Some("tool-failed"), 1_000, Some(5_000));
    let known = account(&shelf, "sum");
    assert_eq!((known.time, known.tokens_saved), (Duration::from_millis(3), Some(100)));
    assert_eq!((account(&shelf, "other").time, account(&shelf, "other").tokens_saved), (Duration::ZERO, None));
    run(&shelf, sum, None, u64::MAX, Some(u64::MAX));
    run(&shelf, sum, None, 1, Some(1));
    run(&shelf, other, None, 1, Some(0));
    shelf.close();
    delete(&shelf.path().join("index.sqlite-shm"));
    shelf.repair();
    shelf.reopen();
    let most = i64::MAX.unsigned_abs();
    let known = account(&shelf, "sum");
    assert_eq!((known.time, known.tokens_saved), (Duration::from_micros(most), Some(most)));
    assert_eq!(account(&shelf, "other").tokens_saved, Some(0));
}

#[test]
fn a_tool_that_passed_falls_back_after_three_failures_of_its_own_in_a_row() {
    let shelf = StoreFixture::new();
    let id = shelf.tool("sum", &returns(1));
    let fails = |codes: &[Option<&str>]| codes.iter().for_each(|code| run(&shelf, id, *code, 1, None));
    let status = || shelf.find("sum").unwrap().status;
    let bad = Some("tool-failed");
    // Failures before verification passed do not count.
    fails(&[bad, bad, bad, bad]);
    passed(&shelf, id);
    fails(&[bad, Some("timeout")]);
    assert_eq!(status(), Status::Passed);
    // A success resets the count, and errors that are not the tool's fault do not count.
    fails(&[None, bad, bad, Some("cancelled"), Some("permission-denied"), Some("crashed")]);
    assert_eq!((status(), changes(&shelf)), (Status::Passed, vec![]));
    fails(&[Some("out-of-fuel")]);
    assert_eq!(status(), Status::Unverified);
    let change = ("sum".to_owned(), r#"{"from":"passed","to":"unverified"}"#.to_owned());
    assert_eq!(changes(&shelf), std::slice::from_ref(&change));
    // The tool is demoted once. After it passes again, earlier failures do not count.
    fails(&[bad, bad]);
    passed(&shelf, id);
    fails(&[bad, bad]);
    assert_eq!((status(), changes(&shelf).len()), (Status::Passed, 1));
    fails(&[bad]);
    assert_eq!((status(), changes(&shelf)), (Status::Unverified, vec![change.clone(), change]));
}

#[test]
fn what_nobody_used_for_a_while_is_found() {
    let shelf = StoreFixture::new();
    let (old, used, late) = (shelf.tool("old", &returns(1)), shelf.tool("used", &returns(2)), "late");
    shelf.run(old, None, 1, 1);
    shelf.set_clock(5_000).run(used, None, 1, 1);
    shelf.tool(late, &returns(3));
    shelf.set_clock(1_000).tool("never", &returns(4));
    let unused = |seconds: i64| {
        let unused_since = Some(jiff::Timestamp::from_second(seconds).unwrap());
        let page = shelf.store().list(&Filter { unused_since, ..Filter::default() }).unwrap();
        page.entries.iter().map(|entry| entry.name.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(unused(2_000), "never old");
    assert_eq!(unused(5_000), "never old");
    assert_eq!(unused(5_001), "never used old");
    assert_eq!(unused(9_000), "never late used old");
    assert_eq!(unused(0), "");
}

/// Creates a store with these tools, each returning a different number.
fn shelf(tools: &[&str]) -> (StoreFixture, Vec<ToolId>) {
    let shelf = StoreFixture::new();
    let ids = (1..).zip(tools).map(|(number, tool)| shelf.tool(tool, &returns(number))).collect();
    (shelf, ids)
}

/// Returns the replacement of a deprecated tool.
fn instead(shelf: &StoreFixture, tool: &str) -> Option<String> {
    let entry = shelf.find(tool).unwrap();
    shelf.store().replacement_for(&entry).unwrap().map(|entry| entry.name.to_string())
}

#[test]
fn a_deprecated_tool_names_what_takes_its_place() {
    let (mut shelf, ids) = shelf(&["a", "b", "c", "d"]);
    let [a, b, c, d] = ids[..] else { panic!("there are four") };
    assert_eq!(shelf.store().deprecate(a, Some(b)).unwrap(), Status::Unverified);
    let entry = shelf.find("a").unwrap();
    assert_eq!((entry.status, entry.successor), (Status::Deprecated, Some(b)));
    assert_eq!(instead(&shelf, "a").as_deref(), Some("b"));
    assert_eq!(instead(&shelf, "c"), None);
    // The replacement is the successor's successor, and then the current tool of that name.
    shelf.store().deprecate(b, Some(c)).unwrap();
    assert_eq!(instead(&shelf, "a").as_deref(), Some("c"));
    let new = shelf.replace("c", &returns(9));
    assert_eq!(shelf.store().replacement_for(&shelf.find("a").unwrap()).unwrap().unwrap().id, new);
    shelf.delete("c").unwrap();
    assert_eq!(instead(&shelf, "a"), None);
    shelf.undelete("c").unwrap();
    // Another successor, and no successor.
    assert_eq!(shelf.store().deprecate(a, Some(d)).unwrap(), Status::Deprecated);
    assert_eq!(instead(&shelf, "a").as_deref(), Some("d"));
    shelf.store().deprecate(b, None).unwrap();
    assert_eq!((instead(&shelf, "b"), shelf.find("b").unwrap().successor), (None, None));
    // The successor survives a repair of the index from the readable objects.
    shelf.close();
    delete(&shelf.version_object("d", "created"));
    shelf.repair();
    shelf.reopen();
    assert_eq!(shelf.find("a").unwrap().successor, Some(d));
    // A tool that is no longer deprecated has no successor, and has none if it is deprecated again.
    for step in [Status::Unverified, Status::Deprecated] {
        shelf.store().set_status(a, step).unwrap();
        assert_eq!(shelf.find("a").unwrap().successor, None);
    }
    assert_ne!(c, new);
}

#[test]
fn what_cannot_take_the_place_of_a_tool_is_refused() {
    let (shelf, ids) = shelf(&["a", "b", "c", "bad", "gone"]);
    let [a, b, c, bad, gone] = ids[..] else { panic!("there are five") };
    shelf.store().deprecate(a, Some(b)).unwrap();
    shelf.store().set_status(bad, Status::Quarantined).unwrap();
    shelf.delete("gone").unwrap();
    let unknown = sample_tool("other", &returns(7)).id();
    let refused = |tool, successor| {
        let error = shelf.store().deprecate(tool, successor).unwrap_err();
        (error.code(), error.to_string())
    };
    let message = |text: &str| ("successor-invalid", text.to_owned());
    assert_eq!(refused(b, Some(b)), message("`b` cannot be its own successor"));
    assert_eq!(refused(b, Some(a)), message("`a` is deprecated in favour of `b` and cannot be its successor"));
    assert_eq!(refused(c, Some(a)), message("`a` is deprecated and cannot be a successor"));
    assert_eq!(refused(c, Some(bad)), message("`bad` is quarantined and cannot be a successor"));
    assert_eq!(refused(c, Some(gone)).0, "tool-not-found");
    assert_eq!(refused(c, Some(unknown)).0, "tool-not-found");
    assert_eq!(refused(unknown, None).0, "tool-not-found");
    assert_eq!(refused(bad, Some(c)).0, "status-illegal");
    let of = |tool: &str| -> Entry { shelf.find(tool).unwrap() };
    assert!([of("b"), of("c")].iter().all(|entry| entry.status == Status::Unverified && entry.successor.is_none()));
}

#[test]
fn circles_that_came_about_otherwise_end() {
    let (shelf, ids) = shelf(&["a", "b"]);
    shelf.store().deprecate(ids[0], Some(ids[1])).unwrap();
    // The name of the successor refers to the tool itself by now.
    shelf.delete("b").unwrap();
    assert_eq!(instead(&shelf, "a"), None);
    shelf.insert(&sample_tool("b", &returns(5)), OnConflict::Refuse).unwrap();
    let new = shelf.find("b").unwrap().id;
    shelf.store().deprecate(new, None).unwrap();
    assert_eq!(instead(&shelf, "a").as_deref(), Some("b"));
}
