//! Names and messages that try to forge lines.

use toolcell_error::ErrorCode;

use super::super::reader::LINE_LIMIT;
use super::*;

const TRICKS: [&str; 8] = [
    "a\n{\"seq\":2,\"success\":true}",
    "a\r\nb",
    "\",\"success\":true,\"x\":\"",
    "a\u{2028}b\u{2029}c\u{85}d",
    "\u{1b}[2J\u{9b}31m\u{7f}",
    "\u{202e}gnp.exe\u{200b}",
    "平均 🦀",
    "\0\u{8}\\",
];

#[test]
fn no_name_forges_a_line() {
    let world = LogFixture::new();
    for name in TRICKS {
        world.audit.record(&AuditEvent { name: Some(name.to_owned()), ..attempt(0) }).unwrap();
    }
    let text = world.text();
    assert!(text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')), "{text}");
    let names: Vec<_> = world.lines().iter().map(|line| line["toolName"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, TRICKS);
    assert_eq!((world.verify().lines, world.problem_texts().len()), (8, 0));
}

#[test]
fn a_long_name_is_cut_and_marked_so() {
    let world = LogFixture::new();
    for name in ["x".repeat(1 << 20), "🦀".repeat(65), "x".repeat(64)] {
        world.audit.record(&AuditEvent { name: Some(name), ..attempt(0) }).unwrap();
    }
    let lines = world.lines();
    assert_eq!(lines[0]["toolName"], "x".repeat(64));
    assert_eq!(lines[0]["details"]["cut"], serde_json::json!(["toolName"]));
    assert_eq!(lines[1]["toolName"], "🦀".repeat(64));
    assert_eq!((&lines[2]["toolName"], lines[2]["details"].get("cut")), (&"x".repeat(64).into(), None));
}

#[test]
fn a_line_has_an_upper_bound_and_tells_what_was_cut() {
    let world = LogFixture::with(AuditConfig { contents: AuditContents::Verbatim, ..CONFIG });
    for text in ["\0", "\"", "x", "é", "平", "🦀", "\u{202e}"].map(|text| text.repeat(1 << 20)) {
        let details = Details {
            parameters: Some(Digest::new(text.as_bytes())),
            decided_by: Some(text.clone()),
            ..Details::default()
        };
        let result = Err(EventFailure { code: ErrorCode::ToolFailed, message: Some(text.clone()) });
        world.audit.record(&AuditEvent { name: Some(text.clone()), result, details, ..attempt(0) }).unwrap();
        let (all, lines) = (world.text(), world.lines());
        let (line, length) = (lines.last().unwrap(), all.lines().last().unwrap().len());
        assert!((40_000..LINE_LIMIT).contains(&length), "{length}");
        assert_eq!(line["details"]["cut"], serde_json::json!(["toolName", "parameters", "decidedBy", "message"]));
        assert_eq!(line["details"]["parameters"]["bytes"], text.len());
        assert!(text.starts_with(line["details"]["parameters"]["text"].as_str().unwrap()));
    }
    assert_eq!(world.problem_texts(), [""; 0]);
}

#[test]
fn parameters_that_are_no_text_are_recorded() {
    let world = LogFixture::with(AuditConfig { contents: AuditContents::Verbatim, ..CONFIG });
    let details = Details { parameters: Some(Digest::new(b"a\xff\nb")), ..Details::default() };
    world.audit.record(&AuditEvent { details, ..attempt(0) }).unwrap();
    assert_eq!(world.lines()[0]["details"]["parameters"]["text"], "a\u{fffd}\nb");
}
