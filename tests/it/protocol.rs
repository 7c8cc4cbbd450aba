//! Golden frames: the encoding of this protocol version, byte for byte.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use toolcell_protocol::{
    ABI_VERSION, Call, CompletionRef, Effects, Grant, HostCall, LimitExceeded, Load, OperationErrorRef,
    OperationOutputRef, Reply, Resume, Thrown, Warning, decode, encode,
};

use crate::fixtures::sandbox::read;

/// Appends a frame, after asserting that it decodes to the same value.
fn frame<'a, T: Serialize + Deserialize<'a> + PartialEq + std::fmt::Debug>(text: &mut String, name: &str, value: &T) {
    let bytes: &'static [u8] = encode(value).unwrap().leak();
    assert_eq!(&decode::<T>(bytes).unwrap(), value, "{name}");
    let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    writeln!(text, "{name} {hex}").unwrap();
}

/// Returns one grant of each kind.
fn grants() -> Vec<Grant> {
    let secrets = Grant::Secrets { names: vec!["TOKEN".to_owned()] };
    let servers = Grant::Servers { names: vec!["github".to_owned()] };
    vec![Grant::Timers, Grant::Net, Grant::Kv, Grant::Files, secrets, Grant::Tools, servers]
}

/// Returns every frame as its name and its bytes in hexadecimal.
fn golden() -> String {
    let mut text = format!("# Frames of version {ABI_VERSION} of the protocol: name, bytes in hexadecimal.\n");
    let text_of = &mut text;
    frame(text_of, "load", &Load { name: "t.js", source: "const execute = () => 1", grants: grants() });
    frame(
        text_of,
        "call",
        &Call { tool: Some("a"), call_id: "7", params: r#"{"日":1}"#, result_bytes: 1 << 20, operations: 64 },
    );
    let failure = OperationErrorRef { name: "TypeError", message: "no", code: "net-broken", effects: Effects::Started };
    let piece = OperationOutputRef { json: r#"{"done":false}"#, bytes: Some(b"\0\xff") };
    let settled = vec![
        CompletionRef { id: 1, result: Ok(OperationOutputRef { json: "null", bytes: None }) },
        CompletionRef { id: 2, result: Ok(piece) },
        CompletionRef { id: 300, result: Err(failure) },
    ];
    frame(text_of, "resume", &Resume { settled });
    let warning = Warning { path: "/a".into(), message: "NaN became null".into() };
    frame(text_of, "reply-done", &Reply::Done { value: Some("[1]".into()), warnings: vec![warning] });
    frame(text_of, "reply-done-undefined", &Reply::Done { value: None, warnings: vec![] });
    let thrown =
        Thrown { name: "E".into(), message: "m".into(), line: Some(3), column: None, stack: "    at f\n".into() };
    frame(text_of, "reply-threw", &Reply::Threw(thrown));
    let timer = HostCall { id: 1, kind: "timer".into(), payload: r#"{"ms":5}"#.into(), bytes: None };
    let write = HostCall { id: 3, kind: "files.write".into(), payload: "{}".into(), bytes: Some(vec![0, 0xff]) };
    frame(text_of, "reply-pending", &Reply::Pending { started: vec![timer, write], cancelled: vec![2] });
    frame(text_of, "reply-exceeded-result", &Reply::Exceeded(LimitExceeded::ResultBytes));
    frame(text_of, "reply-exceeded-operations", &Reply::Exceeded(LimitExceeded::Operations));
    text
}

#[test]
fn the_frames_are_those_of_this_version() {
    // Different bytes under the same version would break the protocol between guest and host:
    // increment ABI_VERSION and add golden frames for the new version.
    assert_eq!(read(format!("fixtures/protocol/version-{ABI_VERSION}.txt")), golden());
}

#[test]
fn bytes_that_are_no_frame_are_an_error_and_never_a_panic() {
    let reply = encode(&Reply::Done { value: Some("x".repeat(300)), warnings: vec![] }).unwrap();
    for end in 0..reply.len() {
        assert!(decode::<Reply>(&reply[..end]).is_err());
    }
    let mut trailing = reply.clone();
    trailing.push(0);
    assert!(decode::<Reply>(&trailing).is_err());
    // Every byte replaced by every value decodes to an error or to some frame, without a panic or a
    // huge allocation.
    for at in 0..reply.len().min(16) {
        for byte in 0..=255 {
            let mut forged = reply.clone();
            forged[at] = byte;
            let _ = decode::<Reply>(&forged);
        }
    }
    assert!(decode::<Reply>(&[0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f]).is_err());
}
