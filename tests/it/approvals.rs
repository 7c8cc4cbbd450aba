//! Trust in a tool: its status, its confidence from runs, approvals, and proofs.

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcell::store::{
    Approval, Decision, DecisionOutcome, Entry, OnConflict, PendingApproval, RUN_KIND, Record, ToolUsage,
};
use toolcell::{Status, ToolId};

use crate::fixtures::store::{StoreFixture, returns, sample_tool};

fn usage(fixture: &StoreFixture, tool: &str) -> (Entry, ToolUsage) {
    let entry = fixture.find(tool).unwrap();
    let usage = fixture.store().runs().usage(&entry).unwrap();
    (entry, usage)
}

#[test]
fn a_status_goes_its_ways_and_no_other() {
    for from in Status::ALL {
        for to in Status::ALL {
            let fixture = StoreFixture::new();
            let id = fixture.tool("sum", &returns(1));
            let way = match from {
                Status::Unverified => &[][..],
                Status::Passed | Status::Failed => &[Status::Pending, from],
                other => &[other],
            };
            for step in way {
                fixture.store().catalog().set_status(id, *step).unwrap();
            }
            let done = fixture.store().catalog().set_status(id, to);
            let status = fixture.find("sum").unwrap().status;
            if from.can_transition_to(to) {
                assert_eq!((done.unwrap(), status), (from, to));
            } else {
                let error = done.unwrap_err();
                let message = format!("a tool cannot change from {from} to {to}");
                assert_eq!((error.code().as_str(), error.to_string(), status), ("status-illegal", message, from));
            }
        }
    }
    let fixture = StoreFixture::new();
    let unknown = sample_tool("sum", &returns(1)).id();
    assert_eq!(fixture.store().catalog().set_status(unknown, Status::Pending).unwrap_err().code(), "tool-not-found");
}

#[test]
fn a_changed_tool_is_another_one_and_nothing_is_known_of_it() {
    let fixture = StoreFixture::new();
    let old = fixture.tool("sum", &returns(1));
    fixture.store().catalog().set_status(old, Status::Pending).unwrap();
    fixture.store().catalog().set_status(old, Status::Passed).unwrap();
    fixture.run(old, None, 1, 1);
    fixture.replace("sum", &returns(2));
    let entry = fixture.find("sum").unwrap();
    assert_eq!((entry.status, entry.runs, entry.last_used_at), (Status::Unverified, 0, None));
    fixture.roll_back("sum", 1).unwrap();
    let entry = fixture.find("sum").unwrap();
    assert_eq!((entry.status, entry.runs), (Status::Passed, 1));
}

#[test]
fn confidence_follows_the_runs_within_its_bounds() {
    let fixture = StoreFixture::new();
    let confidence = |tool: &str| fixture.find(tool).unwrap().confidence.to_string();
    let id = fixture.insert(&sample_tool("sum", &returns(1)).scores(0.5, 0.9), OnConflict::Refuse).unwrap().id;
    assert_eq!(confidence("sum"), "0.5");
    (0..10).for_each(|_| fixture.run(id, None, 1, 1));
    (0..2).for_each(|_| fixture.run(id, Some("timeout"), 1, 1));
    assert_eq!(confidence("sum"), "0.6");
    (0..30).for_each(|_| fixture.run(id, None, 1, 1));
    assert_eq!(confidence("sum"), "1");
    (0..30).for_each(|_| fixture.run(id, Some("timeout"), 1, 1));
    assert_eq!(confidence("sum"), "0.1");
    fixture.insert(&sample_tool("low", &returns(1)).scores(0.0, 1.0), OnConflict::Refuse).unwrap();
    assert_eq!(confidence("low"), "0.1");
}

#[test]
fn usage_says_how_often_how_it_ended_and_what_it_cost() {
    let mut fixture = StoreFixture::new();
    let id = fixture.tool("sum", &returns(1));
    assert_eq!(usage(&fixture, "sum").1, ToolUsage::default());
    // Visits each of 1 to 1000 once, in mixed order.
    for number in 0..1000_u64 {
        let value = number * 7919 % 1000 + 1;
        let failure = match value {
            1..=20 => Some("timeout"),
            21..=25 => Some("out-of-fuel"),
            _ => None,
        };
        fixture.run(id, failure, value * 1_000_000, value);
    }
    fixture.reopen();
    let (entry, usage) = usage(&fixture, "sum");
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
    let fixture = StoreFixture::new();
    let id = fixture.tool("sum", &returns(1));
    fixture.run(id, Some(&"x".repeat(1 << 20)), 0, 0);
    assert_eq!(usage(&fixture, "sum").1.fuel.p99, 0);
    fixture.run(id, None, u64::MAX, u64::MAX);
    let usage = usage(&fixture, "sum").1;
    assert!(usage.fuel.p99.abs_diff(u64::MAX) <= u64::MAX / 100, "{}", usage.fuel.p99);
    assert_eq!((usage.fuel.p50, usage.failures), (0, [("x".repeat(64), 1)].into()));
    // The last use is the latest one, in whatever order runs are recorded.
    fixture.set_clock(5).run(id, None, 1, 1);
    assert_eq!(fixture.find("sum").unwrap().last_used_at, Some(Timestamp::from_second(1002).unwrap()));
    // Usage of an unknown tool is ignored.
    fixture.run(sample_tool("other", &returns(1)).id(), None, 1, 1);
    assert_eq!(fixture.find("sum").unwrap().runs, 3);
}

fn approval(tool: ToolId, grants: &Value, decision: Decision, seconds: i64) -> Approval {
    let at = Timestamp::from_second(seconds).unwrap();
    Approval { tool, grants: grants.clone(), decision, by: "me".to_owned(), at }
}

#[test]
fn an_approval_is_of_one_tool_with_one_set_of_grants() {
    let mut fixture = StoreFixture::new();
    let (sum, other) = (fixture.tool("sum", &returns(1)), fixture.tool("other", &returns(1)));
    let grants: Value = serde_json::from_str(r#"{"net": ["a.org"], "fuel": 1.0}"#).unwrap();
    let same: Value = serde_json::from_str(r#"{"fuel": 1, "net": ["a.org"]}"#).unwrap();
    fixture.store().approvals().set_decision(&approval(sum, &grants, Decision::Approved, 1)).unwrap();
    let asked =
        |fixture: &StoreFixture, tool, grants: &Value| fixture.store().approvals().decision(tool, grants).unwrap();
    assert_eq!(asked(&fixture, sum, &same), Some(Decision::Approved));
    for question in [
        json!({"net": ["a.org"], "fuel": 1, "kv": true}),
        json!({"net": ["a.org", "b.org"], "fuel": 1}),
        json!({"net": ["a.org"]}),
        json!({}),
        json!(null),
    ] {
        assert_eq!(asked(&fixture, sum, &question), None, "{question}");
    }
    assert_eq!(asked(&fixture, other, &grants), None);
    let changed = fixture.replace("sum", &returns(2));
    assert_eq!((asked(&fixture, changed, &grants), asked(&fixture, sum, &grants)), (None, Some(Decision::Approved)));

    // The latest decision counts; there is one per tool and grants.
    fixture.roll_back("sum", 1).unwrap();
    fixture.store().approvals().set_decision(&approval(sum, &json!([]), Decision::Approved, 2)).unwrap();
    fixture.store().approvals().set_decision(&approval(sum, &same, Decision::Approved, 3)).unwrap();
    fixture.reopen();
    let decisions = fixture.store().approvals().for_tool(sum).unwrap();
    let again = approval(sum, &same, Decision::Approved, 3);
    assert_eq!(decisions, [approval(sum, &json!([]), Decision::Approved, 2), again]);
    assert_eq!(fixture.store().approvals().revoke(sum).unwrap(), 2);
    assert_eq!((asked(&fixture, sum, &same), fixture.store().approvals().for_tool(sum).unwrap()), (None, Vec::new()));
}

#[test]
fn a_refusal_is_of_the_tool_whatever_it_is_granted_until_a_person_takes_it_back() {
    let mut fixture = StoreFixture::new();
    let sum = fixture.tool("sum", &returns(1));
    let (net, kv) = (json!({"net": ["a.org"]}), json!({"kv": true}));
    let asked = |fixture: &StoreFixture, grants: &Value| fixture.store().approvals().decision(sum, grants).unwrap();
    fixture.store().approvals().set_decision(&approval(sum, &kv, Decision::Approved, 1)).unwrap();
    fixture.store().approvals().request(sum, &json!({}), "agent", Timestamp::UNIX_EPOCH).unwrap();
    fixture.store().approvals().set_decision(&approval(sum, &net, Decision::Refused, 2)).unwrap();
    fixture.reopen();
    for grants in [&net, &kv, &json!({})] {
        assert_eq!(asked(&fixture, grants), Some(Decision::Refused), "{grants}");
    }
    // Other grants of a refused tool are not even asked about.
    fixture.store().approvals().request(sum, &json!({"kv": false}), "agent", Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(fixture.store().approvals().pending(10).unwrap(), []);
    // Deleting, collecting or recreating the tool does not revoke the refusal.
    fixture.delete("sum").unwrap();
    let later = fixture.now() + jiff::ToSpan::hours(1);
    fixture.store().maintenance().collect(later, later, toolcell::store::GcMode::Execute).unwrap();
    assert_eq!(fixture.tool("sum", &returns(1)), sum);
    assert_eq!(asked(&fixture, &kv), Some(Decision::Refused));
    // An approval does, but only for the approved grants; earlier approvals do not return.
    fixture.store().approvals().set_decision(&approval(sum, &net, Decision::Approved, 3)).unwrap();
    assert_eq!((asked(&fixture, &net), asked(&fixture, &kv)), (Some(Decision::Approved), None));
    // A revocation does too.
    fixture.store().approvals().set_decision(&approval(sum, &net, Decision::Refused, 4)).unwrap();
    assert_eq!(fixture.store().approvals().revoke(sum).unwrap(), 1);
    assert_eq!((asked(&fixture, &net), asked(&fixture, &kv)), (None, None));
}

#[test]
fn an_approval_of_one_run_is_taken_once_and_lapses_after_a_day() {
    let mut fixture = StoreFixture::new();
    let sum = fixture.tool("sum", &returns(1));
    let (net, kv) = (json!({"net": ["a.org"]}), json!({"kv": true}));
    let at = |seconds| Timestamp::from_second(seconds).unwrap();
    let decide = |fixture: &StoreFixture, grants: &Value, decision, seconds| {
        fixture.store().approvals().set_decision(&approval(sum, grants, decision, seconds)).unwrap();
    };
    let is_there = |fixture: &StoreFixture, grants: &Value, seconds| {
        fixture.store().approvals().single(sum, grants, at(seconds)).unwrap().is_some()
    };
    fixture.store().approvals().request(sum, &net, "agent", at(1)).unwrap();
    decide(&fixture, &net, Decision::ApprovedOnce, 2);
    fixture.reopen();
    let once = approval(sum, &net, Decision::ApprovedOnce, 2);
    assert_eq!(fixture.store().approvals().for_tool(sum).unwrap(), std::slice::from_ref(&once));
    assert_eq!(fixture.store().approvals().pending(10).unwrap(), []);
    // It is not an approval of all runs, or of other grants.
    assert_eq!(fixture.store().approvals().decision(sum, &net).unwrap(), None);
    assert_eq!(fixture.store().approvals().take_single(sum, &kv, at(3)).unwrap(), None);
    // Of many runs one takes it.
    let store = fixture.store();
    let taken = std::thread::scope(|scope| {
        let take = || store.approvals().take_single(sum, &net, at(3)).unwrap();
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
        runs.into_iter().filter_map(|run| run.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(taken, [once]);
    assert_eq!(fixture.store().approvals().for_tool(sum).unwrap(), []);

    let day = 24 * 60 * 60;
    decide(&fixture, &net, Decision::ApprovedOnce, 10);
    assert!(is_there(&fixture, &net, 9 + day) && !is_there(&fixture, &net, 10 + day));
    assert_eq!(fixture.store().approvals().take_single(sum, &net, at(10 + day)).unwrap(), None);
    // The next decision deletes what lapsed.
    decide(&fixture, &kv, Decision::ApprovedOnce, 10 + day);
    assert_eq!(fixture.store().approvals().for_tool(sum).unwrap().len(), 1);
    // A refusal ends it, and it ends a refusal.
    decide(&fixture, &net, Decision::Refused, 11 + day);
    assert!(!is_there(&fixture, &kv, 11 + day));
    decide(&fixture, &kv, Decision::ApprovedOnce, 12 + day);
    assert_eq!(fixture.store().approvals().decision(sum, &net).unwrap(), None);
    assert!(is_there(&fixture, &kv, 12 + day));
    // An approval of all runs replaces it, and a revocation ends it.
    decide(&fixture, &kv, Decision::Approved, 13 + day);
    assert!(!is_there(&fixture, &kv, 13 + day));
    decide(&fixture, &net, Decision::ApprovedOnce, 14 + day);
    assert_eq!(fixture.store().approvals().revoke(sum).unwrap(), 2);
    assert!(!is_there(&fixture, &net, 14 + day));
    // So does the deletion of the name.
    decide(&fixture, &net, Decision::ApprovedOnce, 15 + day);
    fixture.delete("sum").unwrap();
    fixture.undelete("sum").unwrap();
    assert!(!is_there(&fixture, &net, 15 + day));
}

#[test]
fn a_tool_that_is_deleted_has_to_be_approved_again() {
    let grants = json!({"net": ["a.org"]});
    #[expect(clippy::type_complexity, reason = "three ways back, one a line")]
    let back: [(&str, fn(&mut StoreFixture)); 3] = [
        ("made", |fixture| {
            fixture.tool("sum", &returns(1));
        }),
        ("undeleted", |fixture| drop(fixture.undelete("sum").unwrap())),
        ("rolled back", |fixture| drop(fixture.roll_back("sum", 1).unwrap())),
    ];
    for (how, comes_back) in back {
        let mut fixture = StoreFixture::new();
        let sum = fixture.tool("sum", &returns(1));
        fixture.store().approvals().set_decision(&approval(sum, &grants, Decision::Approved, 1)).unwrap();
        // A new version leaves the approval of this one unchanged.
        fixture.replace("sum", &returns(2));
        fixture.roll_back("sum", 1).unwrap();
        assert_eq!(fixture.store().approvals().decision(sum, &grants).unwrap(), Some(Decision::Approved));
        fixture.replace("sum", &returns(2));
        fixture.delete("sum").unwrap();
        // An approval of a tool that is gone is not stored.
        let late = fixture.store().approvals().set_decision(&approval(sum, &grants, Decision::Approved, 2)).unwrap();
        assert_eq!(late, DecisionOutcome::ToolGone);
        comes_back(&mut fixture);
        assert_eq!(fixture.store().approvals().decision(sum, &grants).unwrap(), None, "{how}");
    }
}

#[test]
fn a_question_waits_for_an_answer_and_permits_nothing() {
    let mut fixture = StoreFixture::new();
    let (sum, other) = (fixture.tool("sum", &returns(1)), fixture.tool("other", &returns(1)));
    let (net, kv) = (json!({"net": ["a.org"]}), json!({"kv": true}));
    let at = |seconds| Timestamp::from_second(seconds).unwrap();
    let ask = |fixture: &StoreFixture, tool, grants: &Value, seconds| {
        fixture.store().approvals().request(tool, grants, "agent", at(seconds)).unwrap();
    };
    let question = |tool, grants: &Value, seconds| PendingApproval {
        tool,
        grants: grants.clone(),
        by: "agent".to_owned(),
        at: at(seconds),
    };
    ask(&fixture, sum, &net, 1);
    ask(&fixture, other, &net, 2);
    ask(&fixture, sum, &kv, 3);
    // A repeated question keeps its place.
    ask(&fixture, sum, &net, 9);
    fixture.reopen();
    let pending = |fixture: &StoreFixture| fixture.store().approvals().pending(10).unwrap();
    assert_eq!(pending(&fixture), [question(sum, &kv, 3), question(other, &net, 2), question(sum, &net, 1)]);
    assert_eq!(fixture.store().approvals().pending(1).unwrap(), [question(sum, &kv, 3)]);
    assert_eq!(fixture.store().approvals().decision(sum, &net).unwrap(), None);
    assert_eq!(fixture.store().approvals().for_tool(sum).unwrap(), []);

    // A decision ends the question, and it is not asked again.
    let approved = approval(sum, &net, Decision::Approved, 4);
    fixture.store().approvals().set_decision(&approved).unwrap();
    ask(&fixture, sum, &net, 5);
    assert_eq!(pending(&fixture), [question(sum, &kv, 3), question(other, &net, 2)]);
    assert_eq!(fixture.store().approvals().for_tool(sum).unwrap(), [approved]);
    assert_eq!(fixture.store().approvals().revoke(sum).unwrap(), 1);
    assert_eq!(pending(&fixture), [question(sum, &kv, 3), question(other, &net, 2)]);

    // A changed tool needs a new approval; a tool that no name resolves to needs none.
    fixture.replace("sum", &returns(2));
    fixture.delete("other").unwrap();
    assert_eq!(pending(&fixture), []);
    fixture.undelete("other").unwrap();
    assert_eq!(pending(&fixture), [question(other, &net, 2)]);
}

#[test]
fn records_are_read_by_their_kind() {
    let fixture = StoreFixture::new();
    let sum = fixture.tool("sum", &returns(1));
    let keep = |kind: &str, tool, body: &str| {
        let record = Record { kind: kind.to_owned(), tool, at: fixture.now(), body: body.as_bytes().to_vec() };
        fixture.store().runs().insert_record(&record).unwrap();
        record
    };
    let (first, _) = (keep(RUN_KIND, Some(sum), "a"), keep("receipt", Some(sum), "b"));
    let (last, nobodys) = (keep(RUN_KIND, Some(sum), "c"), keep(RUN_KIND, None, "d"));
    let found = |limit| fixture.store().runs().records_of_kind(sum, RUN_KIND, limit).unwrap();
    let hash = |record: &Record| blake3::hash(&record.body);
    assert_eq!(found(10), [(hash(&last), last.clone()), (hash(&first), first)]);
    assert_eq!(found(1), [(hash(&last), last)]);
    // Attempts on unknown tools have a record too.
    assert_eq!(fixture.store().runs().record(hash(&nobodys)).unwrap(), Some(nobodys));
}

#[test]
fn a_record_is_found_by_its_hash() {
    let mut fixture = StoreFixture::new();
    let (sum, other) = (fixture.tool("sum", &returns(1)), fixture.tool("other", &returns(1)));
    let record = |tool, body: &str, seconds| {
        let at = Timestamp::from_second(seconds).unwrap();
        Record { kind: "receipt".to_owned(), tool: Some(tool), at, body: body.as_bytes().to_vec() }
    };
    let kept: Vec<_> = [(sum, "a", 3), (other, "b", 2), (sum, "c", 1)]
        .map(|(tool, body, at)| fixture.store().runs().insert_record(&record(tool, body, at)).unwrap())
        .into();
    assert_eq!(kept[0], blake3::hash(b"a"));
    // An equal record is the same object.
    assert_eq!(fixture.store().runs().insert_record(&record(sum, "a", 9)).unwrap(), kept[0]);
    fixture.reopen();
    assert_eq!(fixture.store().runs().record(kept[0]).unwrap(), Some(record(sum, "a", 3)));
    assert_eq!(fixture.store().runs().record(blake3::hash(b"d")).unwrap(), None);
    assert_eq!(fixture.store().runs().records(sum, 10).unwrap(), [kept[2], kept[0]]);
    assert_eq!(fixture.store().runs().records(sum, 1).unwrap(), [kept[2]]);
    // Records of a deleted tool are kept.
    fixture.delete("other").unwrap();
    let (now, mode) = (fixture.now(), toolcell::store::GcMode::Execute);
    fixture.store().maintenance().collect(now, now, mode).unwrap();
    assert_eq!(fixture.store().runs().record(kept[1]).unwrap(), Some(record(other, "b", 2)));
}
