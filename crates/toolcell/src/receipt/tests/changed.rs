//! A modified receipt is refused, and the error names the modified part.

use super::*;
use crate::receipt::format::TracedResult;

/// A small receipt with every kind of content.
fn small() -> Receipt {
    let source = "async function execute({ n }) { const at = Date.now(); const v = await kv.get('k'); console.log('x'); return [n, at, v, NaN] }";
    let clock = ticking();
    let run = CallContext { seed: 5, wall_clock: Some(&clock), host_calls: &Shuffled(3), ..CallContext::default() };
    let receipt = receipt(&runtime(), source, &run);
    with(&receipt, |run| {
        let HostCallTrace::Waits(waits) = &mut run.journal else { panic!("it has a journal") };
        let TracedResult::Value { bytes, .. } = &mut waits[0].ended[0].result else { panic!("it has an answer") };
        *bytes = Some(b"some bytes\n".to_vec());
    })
}

/// Returns the error of a text.
fn said(text: &str) -> (&'static str, String) {
    let error = Receipt::parse(text).unwrap_err();
    (error.code().as_str(), error.to_string())
}

#[test]
fn a_receipt_is_read_as_it_was_written() {
    let receipt = small();
    let text = receipt.to_text();
    assert_eq!(Receipt::parse(&text), Ok(receipt.clone()));
    assert_eq!(receipt.signer().to_string(), receipt.signer().to_hex()[..16]);
    assert!(text.starts_with("{\n  \"version\": 1,\n  \"run\": {\n    \"tool\": {\n      \"id\": \"dt_"), "{text}");
    assert!(text.ends_with("\"\n  }\n}\n"), "{text}");
}

#[test]
fn whichever_byte_is_changed_the_receipt_is_refused_and_the_place_is_named() {
    let text = small().to_text();
    for at in 0..text.len() {
        for flip in [0x01, 0x20, 0x0a] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= flip;
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            let error = Receipt::parse(&changed).expect_err(&format!("byte {at} ^ {flip}: {changed}"));
            let said = error.to_string();
            let named = match &error {
                ReceiptError::Invalid(_) => said.contains(" at line "),
                ReceiptError::Version { version } => said.contains(&version.to_string()),
                ReceiptError::Changed { places } => places.len() == 1,
                ReceiptError::Rewritten { byte, .. } => byte.abs_diff(at + 1) < 8,
                ReceiptError::OtherTool { .. } => false,
            };
            assert!(named, "byte {at} ^ {flip}: {said}");
        }
    }
}

#[test]
fn what_was_changed_is_called_by_its_name() {
    let text = small().to_text();
    let digest = |name: &str| {
        let after = text.split_once(&format!("    \"{name}\": \"")).unwrap().1;
        after[..64].to_owned()
    };
    let flipped = |digest: &str| {
        if digest.starts_with('0') { digest.replacen('0', "1", 1) } else { format!("0{}", &digest[1..]) }
    };
    let (fuel, journal) = (digest("fuel"), digest("journal 1"));
    let (other_fuel, other_journal) = (flipped(&fuel), flipped(&journal));
    let image = format!("\"image\": \"{}\"", runtime().image().name());
    let (key, signature) = (digest_of(&text, "key"), digest_of(&text, "ed25519"));
    for (from, to, place) in [
        (r#""parameters": "{\"n\": 3}""#, r#""parameters": "{\"n\": 4}""#, "the parameters"),
        ("kv.get('k')", "kv.get('j')", "the tool"),
        (r#""seed": "0000000000000005""#, r#""seed": "0000000000000006""#, "the seed"),
        (r#""callId": "call_1""#, r#""callId": "call_2""#, "the call ID"),
        (&*image, "\"image\": \"none\"", "the image"),
        (r#""kind": "kv.get""#, r#""kind": "kv.got""#, "entry 1 of the journal"),
        ("c29tZSBieXRlcwo=", "c29tZSBieXRlcwk=", "entry 1 of the journal"),
        (r#""text": "x""#, r#""text": "y""#, "the logs"),
        ("NaN became null", "NaN became nuII", "the warnings"),
        ("\"timeoutMs\": 30000", "\"timeoutMs\": 30001", "the limits"),
        ("\"kv\"", "\"net\"", "the grants"),
        ("\"ms\": 1700000000000", "\"ms\": 1700000000001", "the clock readings"),
        (&*fuel, &*other_fuel, "the digest of the fuel"),
        (&*journal, &*other_journal, "the digest of entry 1 of the journal"),
        (&*key, &*flipped(&key), "the signature key"),
        (&*signature, &*flipped(&signature), "the signature"),
        ("\"fuel\": \"", "\"fuol\": \"", "the list of its parts"),
    ] {
        assert_eq!(text.matches(from).count(), 1, "{from}: {text}");
        let expect = format!("the receipt was changed after it was signed: {place}");
        assert_eq!(said(&text.replace(from, to)), ("receipt-changed", expect), "{from}");
    }
}

/// Returns the start of the text that follows a name.
fn digest_of(text: &str, name: &str) -> String {
    let after = text.rsplit_once(&format!("    \"{name}\": \"")).unwrap().1;
    after.split('"').next().unwrap().to_owned()
}

#[test]
fn a_text_that_means_the_same_is_not_the_same() {
    let text = small().to_text();
    let rewritten = |text: String, byte: usize, line: usize, column: usize| {
        let expect =
            format!("the receipt is not in canonical form: byte {byte} (line {line}, column {column}) differs");
        assert_eq!(said(&text), ("receipt-changed", expect));
    };
    rewritten(format!("{text}\n"), text.len() + 1, text.lines().count() + 1, 1);
    rewritten(text.replacen("  \"run\"", "\t \"run\"", 1), 19, 3, 1);
    rewritten(text.replacen("version", "\\u0076ersion", 1), 6, 2, 4);
    rewritten(text.trim_end().to_owned(), text.len(), text.lines().count(), 2);
}

#[test]
fn what_is_no_receipt_says_so() {
    for (text, code, message) in [
        ("", "receipt-invalid", "not a receipt: EOF while parsing a value at line 1 column 0"),
        ("{}", "receipt-invalid", "not a receipt: missing field `version` at line 1 column 2"),
        (r#"{"version": 2}"#, "receipt-version", "the receipt has version 2, this toolcell reads version 1"),
        (r#"{"version": 1}"#, "receipt-invalid", "not a receipt: missing field `run` at line 1 column 14"),
    ] {
        assert_eq!(said(text), (code, message.to_owned()));
    }
    let text = small().to_text();
    let more = text.replacen("\"seed\"", "\"speed\": 1,\n    \"seed\"", 1);
    assert!(said(&more).1.starts_with("not a receipt: unknown field `speed`"), "{}", said(&more).1);
}

#[test]
fn two_changes_are_both_named() {
    let text = small().to_text();
    let changed = text.replace("\"text\": \"x\"", "\"text\": \"y\"").replace("NaN became", "NaN becomes");
    assert_eq!(said(&changed).1, "the receipt was changed after it was signed: the logs, the warnings");
}
