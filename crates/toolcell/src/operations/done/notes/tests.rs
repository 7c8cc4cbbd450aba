//! What is noted of operations that many, hostile, or left are.

use std::collections::BTreeMap;

use toolcell_host::{Effects, Operation};

use super::{KEPT, KINDS, Ledger, Piece, TIMERS};
use crate::operations::failure::nothing_done;
use crate::operations::{BodyEnd, Done};

const PHASES: [Effects; 3] = [Effects::None, Effects::Started, Effects::Committed];

fn asked(ledger: &Ledger, id: u32, kind: &str, payload: &str) {
    ledger.asked(&Operation { id, kind: kind.to_owned(), payload: payload.to_owned(), bytes: None });
}

/// Brings an operation so far.
fn brought(ledger: &Ledger, id: u32, kind: &str, effects: Effects) {
    asked(ledger, id, kind, r#"{"key":"k"}"#);
    ledger.begun(id);
    match effects {
        Effects::None => ledger.failed(id, &nothing_done("Error", "no", "")),
        Effects::Started => {}
        Effects::Committed => ledger.succeeded(id),
    }
}

/// How many operations there are of each kind and phase, kept and counted.
fn tally(done: &Done) -> BTreeMap<(String, Effects), u64> {
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
    let ledger = Ledger::default();
    let kinds = ["kv.get", "kv.commit", "fetch"];
    let mut expect = BTreeMap::new();
    for id in 0..3_000_u32 {
        let (kind, effects) = (kinds[(id % 3) as usize], PHASES[(id / 3 % 3) as usize]);
        brought(&ledger, id, kind, effects);
        *expect.entry((kind.to_owned(), effects)).or_default() += 1;
    }
    let done = ledger.taken().unwrap();
    assert_eq!(tally(&done), expect);
    let counted: u64 = done.rest.values().flat_map(BTreeMap::values).sum();
    assert_eq!((done.effects.len(), done.more, counted), (KEPT, 3_000 - KEPT as u64, done.more));
    assert_eq!(serde_json::from_str::<Done>(&serde_json::to_string(&done).unwrap()).unwrap(), done);
    assert_eq!(ledger.taken(), None);
}

#[test]
fn timers_leave_room_for_what_is_done_between_them() {
    let ledger = Ledger::default();
    for id in 0..1_000 {
        asked(&ledger, 2 * id, "timer", r#"{"ms":250}"#);
        ledger.begun(2 * id);
        if id % 2 == 0 {
            ledger.succeeded(2 * id);
        } else {
            ledger.given_up(2 * id);
        }
        brought(&ledger, 2 * id + 1, "kv.get", Effects::Committed);
    }
    let done = ledger.taken().unwrap();
    let timers = done.effects.iter().filter(|effect| effect.kind == "timer" && effect.about == "250 ms").count();
    assert_eq!((timers, done.effects.len()), (TIMERS, KEPT));
    let all = tally(&done);
    let of = |kind: &str, effects| all[&(kind.to_owned(), effects)];
    assert_eq!((of("timer", Effects::Committed), of("timer", Effects::None)), (500, 500));
    assert_eq!(of("kv.get", Effects::Committed), 1_000);
}

#[test]
fn what_is_left_got_as_far_as_is_known() {
    let ledger = Ledger::default();
    for (id, kind) in [(0, "timer"), (1, "fetch"), (2, "files.write")] {
        asked(&ledger, id, kind, "{}");
    }
    ledger.begun(0);
    ledger.begun(1);
    assert_eq!(ledger.farthest(), Effects::Started);
    let done = ledger.taken().unwrap();
    let phases: Vec<Effects> = done.effects.iter().map(|effect| effect.effects).collect();
    // That a timer was not due is known, and that nobody began to write; of the request nobody knows.
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
        let ledger = Ledger::default();
        brought(&ledger, 0, kind, effects);
        assert_eq!(ledger.farthest(), changed, "{kind} {effects:?}");
    }
    let ledger = Ledger::default();
    asked(&ledger, 0, "tools.call", "{}");
    ledger.came_to(0, Effects::Committed, Effects::None);
    assert_eq!((ledger.farthest(), ledger.taken().unwrap().effects[0].effects), (Effects::None, Effects::Committed));
}

#[test]
fn a_body_belongs_to_its_request() {
    let ledger = Ledger::default();
    let piece = |bytes, last| Piece { fetch: 1, bytes, last };
    asked(&ledger, 1, "fetch", r#"{"url":"https://a.example/?q=1","method":"GET"}"#);
    ledger.received(&piece(10, false));
    ledger.succeeded(1);
    let so_far = |ledger: &Ledger| ledger.lock().kept(1).unwrap().received.clone().unwrap();
    assert_eq!(so_far(&ledger).end, BodyEnd::Cancelled);
    ledger.received(&piece(0, false));
    ledger.received(&piece(5, true));
    let received = so_far(&ledger);
    assert_eq!((received.pieces, received.bytes, received.end), (2, 15, BodyEnd::Whole));
    ledger.broke_off(1, &nothing_done("Error", "net-broken", ""));
    let done = ledger.taken().unwrap();
    assert_eq!(done.effects[0].about, "GET https://a.example/");
    let received = done.effects[0].received.clone().unwrap();
    assert_eq!((received.end, received.code.as_deref(), received.bytes), (BodyEnd::Failed, Some("net-broken"), 15));
}

#[test]
fn a_record_stays_small_whatever_is_asked_for() {
    let ledger = Ledger::default();
    // Each character takes six bytes in JSON.
    let long = "\u{1}".repeat(5_000);
    for id in 0..20_000 {
        let kind = format!("{}{long}", char::from_u32(0x4e00 + id).unwrap());
        asked(&ledger, id, &kind, &serde_json::json!({ "path": long }).to_string());
        ledger.failed(id, &nothing_done("Error", "operation-not-granted", ""));
    }
    assert!(ledger.lock().open.is_empty());
    let done = ledger.taken().unwrap();
    assert_eq!((done.rest.len(), done.more), (KINDS + 1, 20_000 - KEPT as u64));
    let bytes = serde_json::to_vec(&done).unwrap().len();
    assert!(bytes < 400 << 10, "{bytes}");
}
