//! Trust in a tool: its status, its confidence from runs, approvals, and proofs.

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcell::store::{
    Approval, Decision, DecisionOutcome, Entry, OnConflict, PendingApproval, RUN_KIND, Record, Usage,
};
use toolcell::{Status, ToolId};

use crate::fixtures::store::{StoreFixture, returns, sample_tool};

fn usage(shelf: &StoreFixture, tool: &str) -> (Entry, Usage) {
    let entry = shelf.find(tool).unwrap();
    let usage = shelf.store().usage(&entry).unwrap();
    (entry, usage)
}

#[test]
fn a_status_goes_its_ways_and_no_other() {
    for from in Status::ALL {
        for to in Status::ALL {
            let shelf = StoreFixture::new();
            let id = shelf.tool("sum", &returns(1));
            let way = match from {
                Status::Unverified => &[][..],
                Status::Passed | Status::Failed => &[Status::Pending, from],
                other => &[other],
            };
            for step in way {
                shelf.store().set_status(id, *step).unwrap();
            }
            let done = shelf.store().set_status(id, to);
            let status = shelf.find("sum").unwrap().status;
            if from.can_transition_to(to) {
                assert_eq!((done.unwrap(), status), (from, to));
            } else {
                let error = done.unwrap_err();
                let message = format!("a tool cannot change from {from} to {to}");
                assert_eq!((error.code(), error.to_string(), status), ("status-illegal", message, from));
            }
        }
    }
    let shelf = StoreFixture::new();
    let unknown = sample_tool("sum", &returns(1)).id();
    assert_eq!(shelf.store().set_status(unknown, Status::Pending).unwrap_err().code(), "tool-not-found");
}

#[test]
fn a_changed_tool_is_another_one_and_nothing_is_known_of_it() {
    let shelf = StoreFixture::new();
    let old = shelf.tool("sum", &returns(1));
    shelf.store().set_status(old, Status::Pending).unwrap();
    shelf.store().set_status(old, Status::Passed).unwrap();
    shelf.run(old, None, 1, 1);
    shelf.replace("sum", &returns(2));
    let entry = shelf.find("sum").unwrap();
    assert_eq!((entry.status, entry.runs, entry.last_used_at), (Status::Unverified, 0, None));
    shelf.roll_back("sum", 1).unwrap();
    let entry = shelf.find("sum").unwrap();
    assert_eq!((entry.status, entry.runs), (Status::Passed, 1));
}

#[test]
fn confidence_follows_the_runs_within_its_bounds() {
    let shelf = StoreFixture::new();
    let confidence = |tool: &str| shelf.find(tool).unwrap().confidence.to_string();
    let id = shelf.insert(&sample_tool("sum", &returns(1)).scores(0.5, 0.9), OnConflict::Refuse).unwrap().id;
    assert_eq!(confidence("sum"), "0.5");
    (0..10).for_each(|_| shelf.run(id, None, 1, 1));
    (0..2).for_each(|_| shelf.run(id, Some("timeout"), 1, 1));
    assert_eq!(confidence("sum"), "0.6");
    (0..30).for_each(|_| shelf.run(id, None, 1, 1));
    assert_eq!(confidence("sum"), "1");
    (0..30).for_each(|_| shelf.run(id, Some("timeout"), 1, 1));
    assert_eq!(confidence("sum"), "0.1");
    shelf.insert(&sample_tool("low", &returns(1)).scores(0.0, 1.0), OnConflict::Refuse).unwrap();
    assert_eq!(confidence("low"), "0.1");
}

#[test]
fn usage_says_how_often_how_it_ended_and_what_it_cost() {
    let mut shelf = StoreFixture::new();
    let id = shelf.tool("sum", &returns(1));
    assert_eq!(usage(&shelf, "sum").1, Usage::default());
    // Visits each of 1 to 1000 once, in mixed order.
    for number in 0..1000_u64 {
        let value = number * 7919 % 1000 + 1;
        let failure = match value {
            1..=20 => Some("timeout"),
            21..=25 => Some("out-of-fuel"),
            _ => None,
        };
        shelf.run(id, failure, value * 1_000_000, value);
    }
    shelf.reopen();
    let (entry, usage) = usage(&shelf, "sum");
    assert_eq!((entry.runs, entry.successes, usage.runs, usage.successes), (1000, 975, 1000, 975));
    assert_eq!(
        usage.failures.into_iter().collect::<Vec<_>>(),
        [("out-of-fuel".to_owned(), 5), ("timeout".to_owned(), 20)]
    );
    assert_eq!(usage.last_used_at, Some(Timestamp::from_second(2000).unwrap()));
    for (percentiles, unit) in [(usage.fuel, 1_000_000), (usage.micros, 1)] {
        for (actual, exact) in [(percentiles.p50, 500), (percentiles.p90, 900), (percentiles.p99, 990)] {
            assert!(actual.abs_diff(exact * unit) <= exact * unit / 100, "{actual} and not {exact} of {unit}");
        }
    }
}

#[test]
fn extremes_are_kept_as_they_are() {
    let shelf = StoreFixture::new();
    let id = shelf.tool("sum", &returns(1));
    shelf.run(id, Some(&"x".repeat(1 << 20)), 0, 0);
    assert_eq!(usage(&shelf, "sum").1.fuel.p99, 0);
    shelf.run(id, None, u64::MAX, u64::MAX);
    let usage = usage(&shelf, "sum").1;
    assert!(usage.fuel.p99.abs_diff(u64::MAX) <= u64::MAX / 100, "{}", usage.fuel.p99);
    assert_eq!((usage.fuel.p50, usage.failures), (0, [("x".repeat(64), 1)].into()));
    // The last use is the latest one, in whatever order runs are recorded.
    shelf.set_clock(5).run(id, None, 1, 1);
    assert_eq!(shelf.find("sum").unwrap().last_used_at, Some(Timestamp::from_second(1002).unwrap()));
    // Usage of an unknown tool is ignored.
    shelf.run(sample_tool("other", &returns(1)).id(), None, 1, 1);
    assert_eq!(shelf.find("sum").unwrap().runs, 3);
}

fn approval(tool: ToolId, grants: &Value, decision: Decision, seconds: i64) -> Approval {
    let at = Timestamp::from_second(seconds).unwrap();
    Approval { tool, grants: grants.clone(), decision, by: "me".to_owned(), at }
}

#[test]
fn an_approval_is_of_one_tool_with_one_set_of_grants() {
    let mut shelf = StoreFixture::new();
    let (sum, other) = (shelf.tool("sum", &returns(1)), shelf.tool("other", &returns(1)));
    let grants: Value = serde_json::from_str(r#"{"net": ["a.org"], "fuel": 1.0}"#).unwrap();
    let same: Value = serde_json::from_str(r#"{"fuel": 1, "net": ["a.org"]}"#).unwrap();
    shelf.store().set_decision(&approval(sum, &grants, Decision::Approved, 1)).unwrap();
    let asked = |shelf: &StoreFixture, tool, grants: &Value| shelf.store().decision(tool, grants).unwrap();
    assert_eq!(asked(&shelf, sum, &same), Some(Decision::Approved));
    for question in [
        json!({"net": ["a.org"], "fuel": 1, "kv": true}),
        json!({"net": ["a.org", "b.org"], "fuel": 1}),
        json!({"net": ["a.org"]}),
        json!({}),
        json!(null),
    ] {
        assert_eq!(asked(&shelf, sum, &question), None, "{question}");
    }
    assert_eq!(asked(&shelf, other, &grants), None);
    let changed = shelf.replace("sum", &returns(2));
    assert_eq!((asked(&shelf, changed, &grants), asked(&shelf, sum, &grants)), (None, Some(Decision::Approved)));

    // The latest decision counts; there is one per tool and grants.
    shelf.roll_back("sum", 1).unwrap();
    shelf.store().set_decision(&approval(sum, &json!([]), Decision::Approved, 2)).unwrap();
    shelf.store().set_decision(&approval(sum, &same, Decision::Approved, 3)).unwrap();
    shelf.reopen();
    let said = shelf.store().approvals(sum).unwrap();
    let again = approval(sum, &same, Decision::Approved, 3);
    assert_eq!(said, [approval(sum, &json!([]), Decision::Approved, 2), again]);
    assert_eq!(shelf.store().revoke(sum).unwrap(), 2);
    assert_eq!((asked(&shelf, sum, &same), shelf.store().approvals(sum).unwrap()), (None, Vec::new()));
}

#[test]
fn a_refusal_is_of_the_tool_whatever_it_is_granted_until_a_person_takes_it_back() {
    let mut shelf = StoreFixture::new();
    let sum = shelf.tool("sum", &returns(1));
    let (net, kv) = (json!({"net": ["a.org"]}), json!({"kv": true}));
    let asked = |shelf: &StoreFixture, grants: &Value| shelf.store().decision(sum, grants).unwrap();
    shelf.store().set_decision(&approval(sum, &kv, Decision::Approved, 1)).unwrap();
    shelf.store().request_approval(sum, &json!({}), "agent", Timestamp::UNIX_EPOCH).unwrap();
    shelf.store().set_decision(&approval(sum, &net, Decision::Refused, 2)).unwrap();
    shelf.reopen();
    for grants in [&net, &kv, &json!({})] {
        assert_eq!(asked(&shelf, grants), Some(Decision::Refused), "{grants}");
    }
    // Other grants of a refused tool are not even asked about.
    shelf.store().request_approval(sum, &json!({"kv": false}), "agent", Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(shelf.store().pending_approvals(10).unwrap(), []);
    // Deleting, collecting or recreating the tool does not revoke the refusal.
    shelf.delete("sum").unwrap();
    let later = shelf.now() + jiff::ToSpan::hours(1);
    shelf.store().collect(later, later, toolcell::store::GcMode::Execute).unwrap();
    assert_eq!(shelf.tool("sum", &returns(1)), sum);
    assert_eq!(asked(&shelf, &kv), Some(Decision::Refused));
    // An approval does, but only for the approved grants; earlier approvals do not return.
    shelf.store().set_decision(&approval(sum, &net, Decision::Approved, 3)).unwrap();
    assert_eq!((asked(&shelf, &net), asked(&shelf, &kv)), (Some(Decision::Approved), None));
    // A revocation does too.
    shelf.store().set_decision(&approval(sum, &net, Decision::Refused, 4)).unwrap();
    assert_eq!(shelf.store().revoke(sum).unwrap(), 1);
    assert_eq!((asked(&shelf, &net), asked(&shelf, &kv)), (None, None));
}

#[test]
fn a_tool_that_is_deleted_has_to_be_approved_again() {
    let grants = json!({"net": ["a.org"]});
    #[expect(clippy::type_complexity, reason = "three ways back, one a line")]
    let back: [(&str, fn(&mut StoreFixture)); 3] = [
        ("made", |shelf| {
            shelf.tool("sum", &returns(1));
        }),
        ("undeleted", |shelf| drop(shelf.undelete("sum").unwrap())),
        ("rolled back", |shelf| drop(shelf.roll_back("sum", 1).unwrap())),
    ];
    for (how, comes_back) in back {
        let mut shelf = StoreFixture::new();
        let sum = shelf.tool("sum", &returns(1));
        shelf.store().set_decision(&approval(sum, &grants, Decision::Approved, 1)).unwrap();
        // A new version leaves the approval of this one unchanged.
        shelf.replace("sum", &returns(2));
        shelf.roll_back("sum", 1).unwrap();
        assert_eq!(shelf.store().decision(sum, &grants).unwrap(), Some(Decision::Approved));
        shelf.replace("sum", &returns(2));
        shelf.delete("sum").unwrap();
        // An approval of a tool that is gone is not stored.
        let late = shelf.store().set_decision(&approval(sum, &grants, Decision::Approved, 2)).unwrap();
        assert_eq!(late, DecisionOutcome::ToolGone);
        comes_back(&mut shelf);
        assert_eq!(shelf.store().decision(sum, &grants).unwrap(), None, "{how}");
    }
}

#[test]
fn a_question_waits_for_an_answer_and_permits_nothing() {
    let mut shelf = StoreFixture::new();
    let (sum, other) = (shelf.tool("sum", &returns(1)), shelf.tool("other", &returns(1)));
    let (net, kv) = (json!({"net": ["a.org"]}), json!({"kv": true}));
    let at = |seconds| Timestamp::from_second(seconds).unwrap();
    let ask = |shelf: &StoreFixture, tool, grants: &Value, seconds| {
        shelf.store().request_approval(tool, grants, "agent", at(seconds)).unwrap();
    };
    let question = |tool, grants: &Value, seconds| PendingApproval {
        tool,
        grants: grants.clone(),
        by: "agent".to_owned(),
        at: at(seconds),
    };
    ask(&shelf, sum, &net, 1);
    ask(&shelf, other, &net, 2);
    ask(&shelf, sum, &kv, 3);
    // A repeated question keeps its place.
    ask(&shelf, sum, &net, 9);
    shelf.reopen();
    let pending = |shelf: &StoreFixture| shelf.store().pending_approvals(10).unwrap();
    assert_eq!(pending(&shelf), [question(sum, &kv, 3), question(other, &net, 2), question(sum, &net, 1)]);
    assert_eq!(shelf.store().pending_approvals(1).unwrap(), [question(sum, &kv, 3)]);
    assert_eq!(shelf.store().decision(sum, &net).unwrap(), None);
    assert_eq!(shelf.store().approvals(sum).unwrap(), []);

    // A decision ends the question, and it is not asked again.
    let approved = approval(sum, &net, Decision::Approved, 4);
    shelf.store().set_decision(&approved).unwrap();
    ask(&shelf, sum, &net, 5);
    assert_eq!(pending(&shelf), [question(sum, &kv, 3), question(other, &net, 2)]);
    assert_eq!(shelf.store().approvals(sum).unwrap(), [approved]);
    assert_eq!(shelf.store().revoke(sum).unwrap(), 1);
    assert_eq!(pending(&shelf), [question(sum, &kv, 3), question(other, &net, 2)]);

    // A changed tool needs a new approval; a tool that no name resolves to needs none.
    shelf.replace("sum", &returns(2));
    shelf.delete("other").unwrap();
    assert_eq!(pending(&shelf), []);
    shelf.undelete("other").unwrap();
    assert_eq!(pending(&shelf), [question(other, &net, 2)]);
}

#[test]
fn records_are_read_by_their_kind() {
    let shelf = StoreFixture::new();
    let sum = shelf.tool("sum", &returns(1));
    let keep = |kind: &str, tool, body: &str| {
        let record = Record { kind: kind.to_owned(), tool, at: shelf.now(), body: body.as_bytes().to_vec() };
        shelf.store().insert_record(&record).unwrap();
        record
    };
    let (first, _) = (keep(RUN_KIND, Some(sum), "a"), keep("receipt", Some(sum), "b"));
    let (last, nobodys) = (keep(RUN_KIND, Some(sum), "c"), keep(RUN_KIND, None, "d"));
    let found = |limit| shelf.store().records_of_kind(sum, RUN_KIND, limit).unwrap();
    let hash = |record: &Record| blake3::hash(&record.body);
    assert_eq!(found(10), [(hash(&last), last.clone()), (hash(&first), first)]);
    assert_eq!(found(1), [(hash(&last), last)]);
    // Attempts on unknown tools have a record too.
    assert_eq!(shelf.store().record(hash(&nobodys)).unwrap(), Some(nobodys));
}

#[test]
fn a_record_is_found_by_its_hash() {
    let mut shelf = StoreFixture::new();
    let (sum, other) = (shelf.tool("sum", &returns(1)), shelf.tool("other", &returns(1)));
    let record = |tool, body: &str, seconds| {
        let at = Timestamp::from_second(seconds).unwrap();
        Record { kind: "receipt".to_owned(), tool: Some(tool), at, body: body.as_bytes().to_vec() }
    };
    let kept: Vec<_> = [(sum, "a", 3), (other, "b", 2), (sum, "c", 1)]
        .map(|(tool, body, at)| shelf.store().insert_record(&record(tool, body, at)).unwrap())
        .into();
    assert_eq!(kept[0], blake3::hash(b"a"));
    // An equal record is the same object.
    assert_eq!(shelf.store().insert_record(&record(sum, "a", 9)).unwrap(), kept[0]);
    shelf.reopen();
    assert_eq!(shelf.store().record(kept[0]).unwrap(), Some(record(sum, "a", 3)));
    assert_eq!(shelf.store().record(blake3::hash(b"d")).unwrap(), None);
    assert_eq!(shelf.store().records(sum, 10).unwrap(), [kept[2], kept[0]]);
    assert_eq!(shelf.store().records(sum, 1).unwrap(), [kept[2]]);
    // Records of a deleted tool are kept.
    shelf.delete("other").unwrap();
    let (now, mode) = (shelf.now(), toolcell::store::GcMode::Execute);
    shelf.store().collect(now, now, mode).unwrap();
    assert_eq!(shelf.store().record(kept[1]).unwrap(), Some(record(other, "b", 2)));
}
