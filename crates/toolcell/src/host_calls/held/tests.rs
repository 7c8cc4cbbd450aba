use serde_json::json;

use super::*;

fn tool(byte: u8) -> ToolId {
    ToolId::from_bytes([byte; 32])
}

fn post(to: &str, body: &[u8]) -> HostCall {
    let payload = json!({ "url": to, "method": "POST", "headers": [], "redirect": "follow" }).to_string();
    HostCall { id: 1, kind: "fetch".to_owned(), payload, bytes: Some(body.to_vec()) }
}

/// Returns the digests of operations that are held together in this plan.
fn digests(chain: &PlanChain, operations: &[HostCall]) -> Vec<String> {
    let places = chain.extend(tool(1), &operations.iter().collect::<Vec<_>>());
    let held = places
        .iter()
        .zip(operations)
        .map(|(place, operation)| HeldEffect::new(*place, (tool(1), "t"), operation).digest);
    held.collect()
}

#[test]
fn a_digest_has_256_bits_and_is_of_one_place_in_one_plan() {
    let begin = || PlanChain::new(tool(1), "{}");
    let line = |chain: &PlanChain| digests(chain, &[post("https://a.example/", b"x")]).remove(0);
    let first = line(&begin());
    assert_eq!((first.len(), line(&begin())), (64, first.clone()));
    // The same operation a second time in a run has another digest.
    let chain = begin();
    let all: std::collections::BTreeSet<String> = (0..5).map(|_| line(&chain)).collect();
    assert_eq!(all.len(), 5);
    // So has the same operation beside or after another one, with other parameters, or of another
    // tool.
    let both = [post("https://a.example/", b"x"), post("https://a.example/", b"y")];
    assert!(!digests(&begin(), &both).contains(&first));
    let chain = begin();
    digests(&chain, &both[1..]);
    assert_ne!(line(&chain), first);
    assert_ne!(line(&PlanChain::new(tool(1), r#"{"n":1}"#)), first);
    assert_ne!(line(&PlanChain::new(tool(2), "{}")), first);
    let of_another = begin().extend(tool(2), &[&both[0]]);
    assert_ne!(HeldEffect::new(of_another[0], (tool(2), "t"), &both[0]).digest, first);
}

#[test]
fn a_digest_is_of_all_that_an_operation_is() {
    let one = post("https://a.example/", b"x");
    let digest = |operation: &HostCall| PlanChain::new(tool(1), "{}").extend(tool(1), &[operation])[0].digest;
    let (payload, last) = one.payload.split_at(one.payload.len() - 1);
    let others = [
        post("https://a.example/", b"y"),
        post("https://b.example/", b"x"),
        HostCall { bytes: None, ..one.clone() },
        HostCall { kind: "files.write".to_owned(), ..one.clone() },
        // The same bytes in the same order, with other boundaries between kind, payload and body.
        HostCall { kind: "fetc".to_owned(), payload: format!("h{}", one.payload), ..one.clone() },
        HostCall { payload: payload.to_owned(), bytes: Some(format!("{last}x").into_bytes()), ..one.clone() },
    ];
    let all: std::collections::BTreeSet<[u8; 32]> = others.iter().chain([&one]).map(digest).collect();
    assert_eq!(all.len(), 7);
    // The number of a host call is not part of what is approved.
    assert_eq!(digest(&HostCall { id: 2, ..one.clone() }), digest(&one));
}

#[test]
fn the_order_in_which_operations_of_one_moment_come_does_not_matter() {
    let operations =
        [post("https://a.example/1", b"x"), post("https://a.example/2", b"x"), post("https://a.example/3", b"")];
    let turned: Vec<HostCall> = operations.iter().rev().cloned().collect();
    let begin = || PlanChain::new(tool(1), "{}");
    let (one, other) = (digests(&begin(), &operations), digests(&begin(), &turned));
    assert_eq!(one, other.into_iter().rev().collect::<Vec<_>>());
}

#[test]
fn what_is_held_is_shown_whole_or_with_a_mark() {
    let held = |url: &str, body: &[u8]| {
        let operation = post(url, body);
        HeldEffect::new(PlanChain::new(tool(1), "").extend(tool(1), &[&operation])[0], (tool(1), "t"), &operation)
    };
    let pays = held("https://a.example/transfer?to=mallory#x", b"\xff\x00");
    assert_eq!(pays.about, "POST https://a.example/transfer?to=mallory#x");
    assert_eq!((pays.bytes, pays.body), (2, Some(HeldBody::Base64("/wA=".to_owned()))));
    assert_eq!(held("https://a.example/", "né".as_bytes()).body, Some(HeldBody::Text("né".to_owned())));
    let long = held(&format!("https://a.example/{}", "x".repeat(1_000)), b"");
    assert!(long.about.ends_with("x… (400 of 1023 characters shown)"), "{}", long.about);
}

#[test]
fn a_deletion_is_told_from_a_write_whatever_the_keys_are() {
    let about = |writes: serde_json::Value| {
        let payload = json!({ "checks": [], "writes": writes }).to_string();
        describe_for_approval(&HostCall { id: 1, kind: "kv.commit".to_owned(), payload, bytes: None })
    };
    assert_eq!(about(json!([{ "key": "note", "value": 1 }])), "note");
    assert_eq!(
        about(json!([{ "key": "note", "delete": true }, { "key": "año/1", "value": 1 }])),
        r#"delete note, "a\u{f1}o/1""#
    );
    // Keys that look like more than one.
    assert_eq!(about(json!([{ "key": "delete note", "value": 1 }])), "\"delete note\"");
    assert_eq!(about(json!([{ "key": "a, b", "delete": true }, { "key": "", "value": 1 }])), "delete \"a, b\", \"\"");
    for (key, shown) in [
        ("a\"b\\", r#""a\"b\\""#),
        ("\u{3164}\u{202e}\u{2028}", r#""\u{3164}\u{202e}\u{2028}""#),
        ("\u{5d0}", r#""\u{5d0}""#),
        ("a  b\u{a0}", r#""a \u{20}b\u{a0}""#),
        ("\u{1100}\u{1161}", r#""\u{1100}\u{1161}""#),
    ] {
        assert_eq!(about(json!([{ "key": key, "delete": true }])), format!("delete {shown}"));
    }
}
