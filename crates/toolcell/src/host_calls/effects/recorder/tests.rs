//! Tests of the recorder with many, hostile and abandoned host calls.

use std::collections::BTreeMap;

use toolcell_host::{Effects, HostCall};

use super::{BodyChunk, EffectRecorder, MAX_COUNTED_KINDS, MAX_LISTED_EFFECTS, MAX_LISTED_TIMERS};
use crate::host_calls::error::error_without_effects;
use crate::host_calls::{BodyEnd, EffectLog};

const PHASES: [Effects; 3] = [Effects::None, Effects::Started, Effects::Committed];

fn request(ledger: &EffectRecorder, id: u32, kind: &str, payload: &str) {
    let call = HostCall { id, kind: kind.to_owned(), payload: payload.to_owned(), bytes: None };
    ledger.record_requested(&call.into());
}

/// Runs a host call up to these effects.
fn run_to(ledger: &EffectRecorder, id: u32, kind: &str, effects: Effects) {
    request(ledger, id, kind, r#"{"key":"k"}"#);
    ledger.record_started(id);
    match effects {
        Effects::None => ledger.record_failed(id, &error_without_effects("Error", "no", "")),
        Effects::Started => {}
        Effects::Committed => ledger.record_succeeded(id),
    }
}

/// Counts the host calls by kind and effects, both listed and counted ones.
fn tally(done: &EffectLog) -> BTreeMap<(String, Effects), u64> {
    let mut tally = BTreeMap::new();
    for effect in &done.effects {
        *tally.entry((effect.kind.clone(), effect.effects)).or_default() += 1;
    }
    for (kind, phases) in &done.rest {
        for (effects, count) in phases {
            *tally.entry((kind.clone(), *effects)).or_default() += count;
        }
    }
    tally
}

#[test]
fn none_of_many_is_missing() {
    let ledger = EffectRecorder::default();
    let kinds = ["kv.get", "kv.commit", "fetch"];
    let mut expect = BTreeMap::new();
    for id in 0..3_000_u32 {
        let (kind, effects) = (kinds[(id % 3) as usize], PHASES[(id / 3 % 3) as usize]);
        run_to(&ledger, id, kind, effects);
        *expect.entry((kind.to_owned(), effects)).or_default() += 1;
    }
    let done = ledger.take_log().unwrap();
    assert_eq!(tally(&done), expect);
    let counted: u64 = done.rest.values().flat_map(BTreeMap::values).sum();
    assert_eq!(
        (done.effects.len(), done.more, counted),
        (MAX_LISTED_EFFECTS, 3_000 - MAX_LISTED_EFFECTS as u64, done.more)
    );
    assert_eq!(serde_json::from_str::<EffectLog>(&serde_json::to_string(&done).unwrap()).unwrap(), done);
    assert_eq!(ledger.take_log(), None);
}

#[test]
fn timers_leave_room_for_what_is_done_between_them() {
    let ledger = EffectRecorder::default();
    for id in 0..1_000 {
        request(&ledger, 2 * id, "timer", r#"{"ms":250}"#);
        ledger.record_started(2 * id);
        if id % 2 == 0 {
            ledger.record_succeeded(2 * id);
        } else {
            ledger.record_abandoned(2 * id);
        }
        run_to(&ledger, 2 * id + 1, "kv.get", Effects::Committed);
    }
    let done = ledger.take_log().unwrap();
    let timers = done.effects.iter().filter(|effect| effect.kind == "timer" && effect.about == "250 ms").count();
    assert_eq!((timers, done.effects.len()), (MAX_LISTED_TIMERS, MAX_LISTED_EFFECTS));
    let all = tally(&done);
    let of = |kind: &str, effects| all[&(kind.to_owned(), effects)];
    assert_eq!((of("timer", Effects::Committed), of("timer", Effects::None)), (500, 500));
    assert_eq!(of("kv.get", Effects::Committed), 1_000);
}

#[test]
fn what_is_left_got_as_far_as_is_known() {
    let ledger = EffectRecorder::default();
    for (id, kind) in [(0, "timer"), (1, "fetch"), (2, "files.write")] {
        request(&ledger, id, kind, "{}");
    }
    ledger.record_started(0);
    ledger.record_started(1);
    assert_eq!(ledger.max_effects(), Effects::Started);
    let done = ledger.take_log().unwrap();
    let phases: Vec<Effects> = done.effects.iter().map(|effect| effect.effects).collect();
    // It is known that the timer was not due and that the write did not start, but not what became
    // of the request.
    assert_eq!(phases, [Effects::None, Effects::Started, Effects::None]);
}

#[test]
fn who_only_looks_changes_nothing() {
    for (kind, effects, changed) in [
        ("timer", Effects::Committed, Effects::None),
        ("kv.get", Effects::Committed, Effects::None),
        ("files.list", Effects::Started, Effects::None),
        ("kv.commit", Effects::Committed, Effects::Committed),
        ("files.write", Effects::Started, Effects::Started),
        ("fetch", Effects::None, Effects::None),
    ] {
        let ledger = EffectRecorder::default();
        run_to(&ledger, 0, kind, effects);
        assert_eq!(ledger.max_effects(), changed, "{kind} {effects:?}");
    }
    let ledger = EffectRecorder::default();
    request(&ledger, 0, "tools.call", "{}");
    ledger.record_finished(0, Effects::Committed, Effects::None);
    assert_eq!(
        (ledger.max_effects(), ledger.take_log().unwrap().effects[0].effects),
        (Effects::None, Effects::Committed)
    );
}

#[test]
fn a_body_belongs_to_its_request() {
    let ledger = EffectRecorder::default();
    let piece = |bytes, last| BodyChunk { fetch: 1, bytes, is_last: last };
    request(&ledger, 1, "fetch", r#"{"url":"https://a.example/?q=1","method":"GET"}"#);
    ledger.record_body_chunk(&piece(10, false));
    ledger.record_succeeded(1);
    let so_far = |ledger: &EffectRecorder| ledger.lock().listed_effect(1).unwrap().received.clone().unwrap();
    assert_eq!(so_far(&ledger).end, BodyEnd::Cancelled);
    ledger.record_body_chunk(&piece(0, false));
    ledger.record_body_chunk(&piece(5, true));
    let received = so_far(&ledger);
    assert_eq!((received.pieces, received.bytes, received.end), (2, 15, BodyEnd::Whole));
    ledger.record_body_failure(1, &error_without_effects("Error", "net-broken", ""));
    let done = ledger.take_log().unwrap();
    assert_eq!(done.effects[0].about, "GET https://a.example/");
    let received = done.effects[0].received.clone().unwrap();
    assert_eq!((received.end, received.code.as_deref(), received.bytes), (BodyEnd::Failed, Some("net-broken"), 15));
}

#[test]
fn a_record_stays_small_whatever_is_asked_for() {
    let ledger = EffectRecorder::default();
    // Each character takes six bytes in JSON.
    let long = "\u{1}".repeat(5_000);
    for id in 0..20_000 {
        let kind = format!("{}{long}", char::from_u32(0x4e00 + id).unwrap());
        request(&ledger, id, &kind, &serde_json::json!({ "path": long }).to_string());
        ledger.record_failed(id, &error_without_effects("Error", "operation-not-granted", ""));
    }
    assert!(ledger.lock().open.is_empty());
    let done = ledger.take_log().unwrap();
    assert_eq!((done.rest.len(), done.more), (MAX_COUNTED_KINDS + 1, 20_000 - MAX_LISTED_EFFECTS as u64));
    let bytes = serde_json::to_vec(&done).unwrap().len();
    assert!(bytes < 400 << 10, "{bytes}");
}
