//! The content of a line, the file it goes to, and the effects of failures.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::super::StatusChange;
use super::*;
use toolcell_error::ErrorCode;
use toolcell_tool::Status;

#[test]
fn a_line_has_its_fields_in_a_fixed_order() {
    let world = LogFixture::new();
    let head = world.audit.record(&attempt(0)).unwrap();
    let expect = format!(
        concat!(
            r#"{{"seq":1,"timestamp":"2026-01-01T00:00:00.000Z","action":"run_dynamic_tool","toolId":"{}","#,
            r#""toolName":"tool_0","success":true,"details":{{"parameters":{{"blake3":"{}","bytes":7}},"fuel":0}},"#,
            r#""previous":"{}"}}"#
        ),
        tool(0),
        blake3::hash(b"{\"x\":1}").to_hex(),
        "0".repeat(64),
    );
    assert_eq!(world.text(), format!("{expect}\n"));
    assert_eq!(head.to_string(), format!("1:{}", blake3::hash(expect.as_bytes()).to_hex()));
    world.audit.record(&attempt(2)).unwrap();
    let second = &world.lines()[1];
    assert_eq!(second["seq"], 2);
    assert_eq!(second["success"], false);
    assert_eq!(second["error"], "timeout");
    assert_eq!(second["previous"], head.hash().to_hex().as_str());
    assert_eq!(second["timestamp"], "2026-01-01T00:00:00.002Z");
}

#[test]
fn details_have_names_in_camel_case() {
    let details = Details {
        parameters: None,
        fuel: Some(1),
        duration_ms: Some(2),
        outcome: Some("returned"),
        decided_by: Some("operator".to_owned()),
        caller: Some("agent".to_owned()),
        count: Some(3),
        status: Some(StatusChange { from: Status::Unverified, to: Status::Passed }),
        replaced: Some(tool(1)),
        successor: Some(tool(2)),
        run: Some("r_1".to_owned()),
    };
    let world = LogFixture::new();
    world.audit.record(&AuditEvent { details, ..AuditEvent::new(Action::Status, at(0)) }).unwrap();
    let expect = serde_json::json!({
        "fuel": 1, "durationMs": 2, "outcome": "returned", "decidedBy": "operator", "caller": "agent",
        "count": 3,
        "status": { "from": "unverified", "to": "passed" }, "replaced": tool(1), "successor": tool(2), "run": "r_1",
    });
    assert_eq!(world.lines()[0]["details"], expect);
}

#[test]
fn parameters_and_messages_are_recorded_only_where_the_host_says_so() {
    let secret = AuditEvent {
        result: Err(EventFailure { code: ErrorCode::ToolFailed, message: Some("sesame".to_owned()) }),
        details: Details { parameters: Some(Digest::new(b"\"sesame\"")), ..Details::default() },
        ..AuditEvent::new(Action::RunDynamicTool, at(0))
    };
    let world = LogFixture::new();
    world.audit.record(&secret).unwrap();
    assert!(!world.text().contains("sesame"));
    let world = LogFixture::with(AuditConfig { contents: AuditContents::Verbatim, ..CONFIG });
    world.audit.record(&secret).unwrap();
    let details = &world.lines()[0]["details"];
    assert_eq!((&details["parameters"]["text"], &details["message"]), (&"\"sesame\"".into(), &"sesame".into()));
}

#[test]
fn a_full_file_gets_a_number_and_the_chain_goes_on() {
    let world = LogFixture::with(AuditConfig { file_limit: 1000, ..CONFIG });
    world.run(7);
    let verdict = world.verify();
    assert_eq!((verdict.lines, verdict.files, verdict.is_clean()), (7, 4, true), "{:?}", verdict.problems);
    assert!(std::fs::read(world.path("dynamic-tools-audit.000001.jsonl")).unwrap().len() <= 1000);
    assert_eq!(world.lines()[0]["seq"], 7);
}

#[test]
fn a_file_is_never_replaced_by_another() {
    let world = LogFixture::with(AuditConfig { file_limit: 1, ..CONFIG });
    world.run(2);
    let last = LogFile::Numbered(999_999).name();
    std::fs::rename(world.path(&LogFile::Numbered(1).name()), world.path(&last)).unwrap();
    world.run(2);
    assert!(world.path(&last).exists() && world.path("dynamic-tools-audit.1000001.jsonl").exists());
    let verdict = world.verify();
    assert_eq!((verdict.lines, verdict.files, verdict.is_clean()), (4, 4, true), "{:?}", verdict.problems);
}

#[test]
fn a_file_that_was_put_aside_before_the_next_was_begun_is_gone_on_from() {
    let world = LogFixture::with_lines(3);
    std::fs::rename(world.path(CURRENT), world.path(&LogFile::Numbered(1).name())).unwrap();
    std::fs::remove_file(world.path(HEAD)).unwrap();
    world.run(1);
    assert_eq!(world.lines()[0]["seq"], 4);
    assert_eq!(world.problem_texts(), [""; 0]);
}

#[test]
fn a_torn_line_is_cut_off_and_the_next_one_says_so() {
    let world = LogFixture::with_lines(2);
    let (head, kept) = (std::fs::read(world.path(HEAD)).unwrap(), world.text());
    world.run(1);
    let whole = world.text();
    // A process died at any point of the last line, before it wrote the head file.
    for end in kept.len() + 1..whole.len() {
        std::fs::write(world.path(HEAD), &head).unwrap();
        world.write(&whole[..end]);
        let bytes = end - kept.len();
        let torn = format!("{CURRENT}:3: is truncated after {bytes} bytes and was never acknowledged");
        assert_eq!(world.problem_texts(), [torn]);
        let audit = if end % 2 == 0 { &world.audit } else { &world.reopen() };
        audit.record(&attempt(2)).unwrap();
        assert_eq!(world.problem_texts(), [""; 0]);
        let last = &world.lines()[2];
        assert_eq!((&last["seq"], &last["details"]["repaired"]["cut"]), (&3.into(), &bytes.into()));
    }
}

#[test]
fn a_line_that_was_acknowledged_is_not_cut_off() {
    let world = LogFixture::with_lines(3);
    world.write(world.text().trim_end());
    assert_eq!(world.problem_texts(), [format!("{CURRENT}:3: the log ends here; entries 3 to 3 are missing")]);
    world.run(1);
    // Only the newline was missing.
    assert_eq!(world.problem_texts(), [""; 0]);
    assert!(world.lines()[3]["details"]["repaired"]["closed"].as_u64().unwrap() > 300);
    let text = world.text();
    world.write(&text[..text.len() - 10]);
    world.run(1);
    assert_eq!(world.problem_texts(), [format!("{CURRENT}:4: entry 4 cannot be read")]);
}

#[test]
fn a_lost_end_stays_a_gap() {
    let world = LogFixture::with_lines(5);
    let text = world.text();
    let kept: usize = text.split_inclusive('\n').take(3).map(str::len).sum();
    world.write(&text[..kept]);
    assert_eq!(world.problem_texts(), [format!("{CURRENT}:4: the log ends here; entries 4 to 5 are missing")]);
    world.run(1);
    assert_eq!(world.problem_texts(), [format!("{CURRENT}:4: entries 4 to 5 are missing")]);
}

#[test]
fn a_head_that_is_behind_is_fine() {
    let world = LogFixture::with_lines(2);
    for lost in [std::fs::read(world.path(HEAD)).unwrap(), Vec::new()] {
        world.run(1);
        std::fs::write(world.path(HEAD), &lost).unwrap();
        let said = if lost.is_empty() { vec![format!("{HEAD}:1: the head file is missing")] } else { Vec::new() };
        assert_eq!(world.problem_texts(), said);
        world.reopen().record(&attempt(9)).unwrap();
        assert_eq!(world.problem_texts(), [""; 0]);
    }
    let world = LogFixture::with_lines(1);
    std::fs::remove_file(world.path(HEAD)).unwrap();
    assert_eq!(world.problem_texts(), [""; 0]);
}

#[test]
fn lines_of_programs_without_a_chain_stay_and_are_counted() {
    let world = LogFixture::new();
    let old =
        "{\"timestamp\":\"2025-01-01T00:00:00.000Z\",\"action\":\"create_tool\",\"toolId\":\"t\",\"success\":true}\n";
    world.write(old.repeat(3));
    let verdict = world.verify();
    assert_eq!((verdict.unchained, verdict.head, verdict.is_clean()), (3, None, true));
    world.run(2);
    let verdict = world.verify();
    assert_eq!((verdict.lines, verdict.unchained, verdict.head.map(|head| head.seq())), (5, 3, Some(2)));
    assert!(verdict.is_clean());
    let oldest =
        world.audit.query(AuditFilter { limit: Some(1), ..AuditFilter::default() }, AuditOrder::OldestFirst).unwrap();
    let oldest: Vec<_> = oldest.map(Result::unwrap).collect();
    assert_eq!((oldest[0].seq, oldest[0].tool, oldest[0].action()), (None, None, Some(Action::CreateTool)));
    world.write(world.text() + old);
    assert_eq!(world.problem_texts(), [format!("{CURRENT}:6: is not part of the hash chain")]);
    world.run(1);
    assert_eq!(world.verify().head.map(|head| head.seq()), Some(3));
}

#[test]
fn synced_lines_are_the_same_lines() {
    let world = LogFixture::with(AuditConfig { durability: Durability::Synced, file_limit: 1000, ..CONFIG });
    world.run(5);
    assert_eq!((world.verify().lines, world.problem_texts().len()), (5, 0));
}

#[test]
fn a_store_that_cannot_be_written_is_read() {
    let world = LogFixture::with_lines(2);
    let audit = Audit { read_only: Some("somewhere".to_owned()), ..world.reopen() };
    assert_eq!(audit.record(&attempt(0)).unwrap_err().code(), "store-read-only");
    assert_eq!(audit.verify(None).unwrap().lines, 2);
}

#[test]
fn nothing_but_files_is_read_or_written() {
    for name in [CURRENT, HEAD, "dynamic-tools-audit.000007.jsonl"] {
        let world = LogFixture::new();
        let target = world.folder.path().join("target");
        std::fs::write(&target, "").unwrap();
        symlink(&target, world.path(name)).unwrap();
        refused(&world, name);
        assert_eq!(std::fs::read(&target).unwrap(), b"");
        std::fs::remove_file(world.path(name)).unwrap();
        let fifo = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, world.path(name), rustix::fs::FileType::Fifo, fifo, 0).unwrap();
        refused(&world, name);
    }
}

fn refused(world: &LogFixture, name: &str) {
    let error = world.audit.verify(None).unwrap_err();
    assert!(error.to_string().starts_with(&format!("logs/{name}: ")), "{error}");
    assert_eq!(world.audit.record(&attempt(0)).unwrap_err().code(), "disk-failed");
}

#[test]
fn only_the_owner_reads_the_log() {
    let world = LogFixture::with_lines(1);
    for name in [CURRENT, HEAD] {
        assert_eq!(std::fs::metadata(world.path(name)).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

/// Runs itself in a child process in which files cannot grow beyond a few KiB, as on a full disk.
#[test]
fn a_line_that_does_not_fit_on_the_disk_is_no_line() {
    const FOLDER: &str = "TOOLCELL_TEST_FULL";
    const NAME: &str = "audit::tests::appending::a_line_that_does_not_fit_on_the_disk_is_no_line";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let audit = open(folder.as_ref(), CONFIG);
        let failed = (0..100).find_map(|number| audit.record(&attempt(number)).err());
        assert_eq!(failed.unwrap().code(), "disk-full");
        assert_eq!(audit.record(&attempt(0)).unwrap_err().code(), "disk-full");
        return;
    }
    let world = LogFixture::new();
    let limited = format!("trap '' XFSZ; ulimit -f 16; exec \"$0\" --exact {NAME}");
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(limited).arg(std::env::current_exe().unwrap()).env(FOLDER, world.folder.path());
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let before = world.verify();
    assert!(before.lines > 10 && before.is_clean() && world.text().ends_with('\n'), "{before:?}");
    world.run(1);
    assert_eq!((world.verify().lines, world.problem_texts().len()), (before.lines + 1, 0));
}
