//! The costs, savings and successors of tools, as the store records them.

use std::time::Duration;

use toolcell::store::audit::{AuditFilter as Lines, AuditOrder as Oldest};
use toolcell::store::{Entry, Filter, OnConflict, ToolCosts, UsageEvent};
use toolcell::{Status, ToolId};

use crate::fixtures::store::{StoreFixture, returns, sample_tool};
use crate::fsck::delete;

fn run(fixture: &StoreFixture, tool: ToolId, failure: Option<&str>, micros: u64, tokens_saved: Option<u64>) {
    let (failure, duration) = (failure.map(str::to_owned), Duration::from_micros(micros));
    let event = UsageEvent { tool, at: fixture.now(), failure, fuel: 1, duration, tokens_saved, time_saved: None };
    fixture.store().runs().record_usage(event).unwrap();
}

fn account(fixture: &StoreFixture, tool: &str) -> ToolCosts {
    let all = fixture.store().runs().tool_costs().unwrap();
    all.into_iter().find(|account| account.entry.name.as_str() == tool).unwrap()
}

fn passed(fixture: &StoreFixture, id: ToolId) {
    for step in [Status::Pending, Status::Passed] {
        fixture.store().catalog().set_status(id, step).unwrap();
    }
}

/// Returns the status changes in the audit log.
fn changes(fixture: &StoreFixture) -> Vec<(String, String)> {
    let lines = fixture.store().audit().query(Lines::default(), Oldest::OldestFirst).unwrap();
    let changed = lines.map(Result::unwrap).filter(|line| line.action == "status");
    changed.map(|line| (line.name.unwrap(), line.details["status"].to_string())).collect()
}

#[test]
fn times_and_tokens_are_summed_up_and_never_begin_again() {
    let mut fixture = StoreFixture::new();
    let (sum, other) = (fixture.tool("sum", &returns(1)), fixture.tool("other", &returns(2)));
    run(&fixture, sum, None, 1_500, Some(100));
    run(&fixture, sum, None, 500, None);
    // A failed run saves no tokens, but its time counts.
    run(&fixture, sum, Some("tool-failed"), 1_000, Some(5_000));
    let known = account(&fixture, "sum");
    assert_eq!((known.time, known.tokens_saved), (Duration::from_millis(3), Some(100)));
    assert_eq!((account(&fixture, "other").time, account(&fixture, "other").tokens_saved), (Duration::ZERO, None));
    run(&fixture, sum, None, u64::MAX, Some(u64::MAX));
    run(&fixture, sum, None, 1, Some(1));
    run(&fixture, other, None, 1, Some(0));
    fixture.close();
    delete(&fixture.path().join("index.sqlite-shm"));
    fixture.repair();
    fixture.reopen();
    let most = i64::MAX.unsigned_abs();
    let known = account(&fixture, "sum");
    assert_eq!((known.time, known.tokens_saved), (Duration::from_micros(most), Some(most)));
    assert_eq!(account(&fixture, "other").tokens_saved, Some(0));
}

#[test]
fn a_tool_that_passed_falls_back_after_three_failures_of_its_own_in_a_row() {
    let fixture = StoreFixture::new();
    let id = fixture.tool("sum", &returns(1));
    let fails = |codes: &[Option<&str>]| codes.iter().for_each(|code| run(&fixture, id, *code, 1, None));
    let status = || fixture.find("sum").unwrap().status;
    let bad = Some("tool-failed");
    // Failures before verification passed do not count.
    fails(&[bad, bad, bad, bad]);
    passed(&fixture, id);
    fails(&[bad, Some("timeout")]);
    assert_eq!(status(), Status::Passed);
    // A success resets the count, and errors that are not the tool's fault do not count.
    fails(&[None, bad, bad, Some("cancelled"), Some("permission-denied"), Some("crashed")]);
    assert_eq!((status(), changes(&fixture)), (Status::Passed, vec![]));
    fails(&[Some("out-of-fuel")]);
    assert_eq!(status(), Status::Unverified);
    let change = ("sum".to_owned(), r#"{"from":"passed","to":"unverified"}"#.to_owned());
    assert_eq!(changes(&fixture), std::slice::from_ref(&change));
    // The tool is demoted once. After it passes again, earlier failures do not count.
    fails(&[bad, bad]);
    passed(&fixture, id);
    fails(&[bad, bad]);
    assert_eq!((status(), changes(&fixture).len()), (Status::Passed, 1));
    fails(&[bad]);
    assert_eq!((status(), changes(&fixture)), (Status::Unverified, vec![change.clone(), change]));
}

#[test]
fn what_nobody_used_for_a_while_is_found() {
    let fixture = StoreFixture::new();
    let (old, used, late) = (fixture.tool("old", &returns(1)), fixture.tool("used", &returns(2)), "late");
    fixture.run(old, None, 1, 1);
    fixture.set_clock(5_000).run(used, None, 1, 1);
    fixture.tool(late, &returns(3));
    fixture.set_clock(1_000).tool("never", &returns(4));
    let unused = |seconds: i64| {
        let unused_since = Some(jiff::Timestamp::from_second(seconds).unwrap());
        let page = fixture.store().catalog().list(&Filter { unused_since, ..Filter::default() }).unwrap();
        page.entries.iter().map(|entry| entry.name.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(unused(2_000), "never old");
    assert_eq!(unused(5_000), "never old");
    assert_eq!(unused(5_001), "never used old");
    assert_eq!(unused(9_000), "never late used old");
    assert_eq!(unused(0), "");
}

/// Creates a store with these tools, each returning a different number.
fn fixture(tools: &[&str]) -> (StoreFixture, Vec<ToolId>) {
    let fixture = StoreFixture::new();
    let ids = (1..).zip(tools).map(|(number, tool)| fixture.tool(tool, &returns(number))).collect();
    (fixture, ids)
}

/// Returns the replacement of a deprecated tool.
fn instead(fixture: &StoreFixture, tool: &str) -> Option<String> {
    let entry = fixture.find(tool).unwrap();
    fixture.store().catalog().replacement_for(&entry).unwrap().map(|entry| entry.name.to_string())
}

#[test]
fn a_deprecated_tool_names_what_takes_its_place() {
    let (mut fixture, ids) = fixture(&["a", "b", "c", "d"]);
    let [a, b, c, d] = ids[..] else { panic!("there are four") };
    assert_eq!(fixture.store().catalog().deprecate(a, Some(b)).unwrap(), Status::Unverified);
    let entry = fixture.find("a").unwrap();
    assert_eq!((entry.status, entry.successor), (Status::Deprecated, Some(b)));
    assert_eq!(instead(&fixture, "a").as_deref(), Some("b"));
    assert_eq!(instead(&fixture, "c"), None);
    // The replacement is the successor's successor, and then the current tool of that name.
    fixture.store().catalog().deprecate(b, Some(c)).unwrap();
    assert_eq!(instead(&fixture, "a").as_deref(), Some("c"));
    let new = fixture.replace("c", &returns(9));
    assert_eq!(fixture.store().catalog().replacement_for(&fixture.find("a").unwrap()).unwrap().unwrap().id, new);
    fixture.delete("c").unwrap();
    assert_eq!(instead(&fixture, "a"), None);
    fixture.undelete("c").unwrap();
    // Another successor, and no successor.
    assert_eq!(fixture.store().catalog().deprecate(a, Some(d)).unwrap(), Status::Deprecated);
    assert_eq!(instead(&fixture, "a").as_deref(), Some("d"));
    fixture.store().catalog().deprecate(b, None).unwrap();
    assert_eq!((instead(&fixture, "b"), fixture.find("b").unwrap().successor), (None, None));
    // The successor survives a repair of the index from the readable objects.
    fixture.close();
    delete(&fixture.version_object("d", "created"));
    fixture.repair();
    fixture.reopen();
    assert_eq!(fixture.find("a").unwrap().successor, Some(d));
    // A tool that is no longer deprecated has no successor, and has none if it is deprecated again.
    for step in [Status::Unverified, Status::Deprecated] {
        fixture.store().catalog().set_status(a, step).unwrap();
        assert_eq!(fixture.find("a").unwrap().successor, None);
    }
    assert_ne!(c, new);
}

#[test]
fn what_cannot_take_the_place_of_a_tool_is_refused() {
    let (fixture, ids) = fixture(&["a", "b", "c", "bad", "gone"]);
    let [a, b, c, bad, gone] = ids[..] else { panic!("there are five") };
    fixture.store().catalog().deprecate(a, Some(b)).unwrap();
    fixture.store().catalog().set_status(bad, Status::Quarantined).unwrap();
    fixture.delete("gone").unwrap();
    let unknown = sample_tool("other", &returns(7)).id();
    let refused = |tool, successor| {
        let error = fixture.store().catalog().deprecate(tool, successor).unwrap_err();
        (error.code().as_str(), error.to_string())
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
    let of = |tool: &str| -> Entry { fixture.find(tool).unwrap() };
    assert!([of("b"), of("c")].iter().all(|entry| entry.status == Status::Unverified && entry.successor.is_none()));
}

#[test]
fn circles_that_came_about_otherwise_end() {
    let (fixture, ids) = fixture(&["a", "b"]);
    fixture.store().catalog().deprecate(ids[0], Some(ids[1])).unwrap();
    // The name of the successor refers to the tool itself by now.
    fixture.delete("b").unwrap();
    assert_eq!(instead(&fixture, "a"), None);
    fixture.insert(&sample_tool("b", &returns(5)), OnConflict::Refuse).unwrap();
    let new = fixture.find("b").unwrap().id;
    fixture.store().catalog().deprecate(new, None).unwrap();
    assert_eq!(instead(&fixture, "a").as_deref(), Some("b"));
}
