//! Changes of the store, failing or killed at each system call: their reported result is true, no
//! repair carries out a failed change, and the audit log has their lines exactly once.

use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::Timestamp;
use nix::errno::Errno;
use serde_json::Value;
use tempfile::TempDir;
use toolcell::ToolId;
use toolcell::store::{Settings, Store, SuspendedRow, ToolRef};

use super::calls::{CallKind, InjectedFault, InterceptedCall};
use super::tracer::{ProcessEnd, TracedOutput, run_traced};
use crate::crash_consistency::start::{copy, lose_index, repair};
use crate::crash_consistency::{scratch, torture};
use crate::mcp::server::binary;

/// The source of `a`.
const ONE: &str = "const execute = () => 1";
/// The source of `keeps` and of `asks`.
const WAITS: &str = "const execute = () => new Promise((done) => setTimeout(() => done('kept'), 1))";

/// A store with five tools: `a` has two versions, which return 3 and 1; `keeps` is approved; `asks`
/// waits for an approval; `gone` and `old` are deleted, `old` after an export.
struct ChangeFixture {
    start: TempDir,
    folder: TempDir,
}

/// The result of a command.
#[derive(Debug)]
#[expect(dead_code, reason = "what it wrote to standard error is shown where a test fails")]
struct CommandResult {
    status: i32,
    out: String,
    errors: String,
}

impl ChangeFixture {
    fn new() -> Self {
        let bench = Self { start: scratch(), folder: scratch() };
        let write = |name: &str, text: &str| std::fs::write(bench.start.path().join(name), text).unwrap();
        write("policy.toml", "");
        write("one.ts", ONE);
        write("two.ts", "const execute = () => 2");
        write("three.ts", "const execute = () => 3");
        write("waits.ts", WAITS);
        bench.reset();
        bench.run_ok(&["create", &bench.file("three.ts"), "--name", "a", "--description", "a tool"]);
        bench.run_ok(&["create", &bench.file("one.ts"), "--name", "a", "--description", "a tool", "--replace"]);
        for (file, name) in [("waits", "keeps"), ("waits", "asks"), ("one", "gone"), ("two", "old")] {
            bench.run_ok(&["create", &bench.file(&format!("{file}.ts")), "--name", name, "--description", "a tool"]);
        }
        bench.run_ok(&["approvals", "grant", "keeps", "--yes"]);
        bench.run_ok(&["delete", "gone", "--confirm"]);
        bench.run_ok(&["export", "old", "-o", &bench.file("old.bundle")]);
        bench.run_ok(&["delete", "old", "--confirm"]);
        let made = bench.folder.path();
        for entry in std::fs::read_dir(bench.start.path()).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        copy(made, bench.start.path());
        bench
    }

    /// Restores the initial state.
    fn reset(&self) {
        for entry in std::fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
        }
        copy(self.start.path(), self.folder.path());
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn file(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn words<'a>(&self, words: &[&'a str], own: &'a mut [String; 2]) -> Vec<String> {
        *own = [self.file("policy.toml"), self.file("store")];
        let all = ["--no-project", "--config", own[0].as_str(), "--dir", own[1].as_str()];
        all.into_iter().chain(words.iter().copied()).map(str::to_owned).collect()
    }

    fn run_command(&self, words: &[&str]) -> CommandResult {
        let words = self.words(words, &mut Default::default());
        let output = Command::new(binary()).args(words).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        CommandResult { status: output.status.code().unwrap(), out: text(output.stdout), errors: text(output.stderr) }
    }

    /// Runs a command that must succeed, and returns its standard output.
    #[track_caller]
    fn run_ok(&self, words: &[&str]) -> String {
        let command_output = self.run_command(words);
        assert_eq!(command_output.status, 0, "{words:?}: {command_output:?}");
        command_output.out
    }

    /// Runs a command with an injected fault.
    fn run_with_fault(
        &self,
        fault: InjectedFault,
        point: usize,
        about: &dyn Fn(&InterceptedCall) -> bool,
        words: &[&str],
    ) -> TracedOutput {
        let words = self.words(words, &mut Default::default());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run_traced(&binary(), &words, fault, point, about)
    }

    /// Returns what running each tool shows: the versions and decisions in effect.
    fn state(&self) -> Vec<String> {
        ["a", "keeps", "asks", "gone", "old"].map(|name| self.run_tool(name)).to_vec()
    }

    /// Runs a tool, and returns its result as text.
    fn run_tool(&self, name: &str) -> String {
        let command_output = self.run_command(&["run", name]);
        format!("{name}: {} {}", command_output.status, command_output.out.trim())
    }

    /// Returns the sources of `a` and `gone`, or error codes, from a copy of the store whose index
    /// was damaged and repaired.
    fn sources_after_repair(&self, damage: fn(&Path)) -> [String; 2] {
        let copied = scratch();
        copy(&self.path("store"), copied.path());
        damage(copied.path());
        let health = repair(copied.path());
        assert!(health.is_healthy(), "{health:?}");
        let store = Store::open_existing(copied.path(), &Settings::default()).unwrap();
        ["a", "gone"].map(|name| match store.catalog().find(&ToolRef::parse(name).unwrap()) {
            Ok(entry) => store.catalog().spec(&entry).unwrap().source().to_owned(),
            Err(error) => error.code().to_string(),
        })
    }

    /// Counts the audit lines of an action that succeeded.
    fn lines(&self, action: &str) -> usize {
        let lines = self.run_ok(&["--json", "audit", "--action", action]);
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["success"] == true).count()
    }
}

/// Returns the commands that change the store, each with its audit action.
fn changes(bench: &ChangeFixture) -> Vec<(&'static str, Vec<String>)> {
    let (two, bundle) = (bench.file("two.ts"), bench.file("old.bundle"));
    let all: [(&str, &[&str]); 10] = [
        ("create_tool", &["create", &two, "--name", "b", "--description", "a tool"]),
        ("create_tool", &["create", &two, "--name", "a", "--description", "a tool", "--replace"]),
        ("delete_dynamic_tool", &["delete", "a", "--confirm"]),
        ("undelete", &["undelete", "gone"]),
        ("status", &["deprecate", "a"]),
        ("approve", &["approvals", "grant", "asks", "--yes"]),
        ("revoke", &["approvals", "revoke", "keeps"]),
        ("import", &["import", &bundle]),
        ("gc", &["gc", "--older-than", "0s"]),
        ("rollback", &["rollback", "a", "1"]),
    ];
    all.iter().map(|(action, words)| (*action, words.iter().map(|word| (*word).to_owned()).collect())).collect()
}

fn has_file_name(call: &InterceptedCall, name: &str) -> bool {
    call.file.file_name().is_some_and(|file| file == Path::new(name).as_os_str())
}

/// Whether a call writes to the audit log.
fn writes_log(call: &InterceptedCall) -> bool {
    has_file_name(call, "dynamic-tools-audit.jsonl") && matches!(call.kind, CallKind::Write(_))
}

fn overwrite_page(store: &Path) {
    let index = store.join("index.sqlite");
    let mut bytes = std::fs::read(&index).unwrap();
    bytes[4_096..8_192].fill(0x37);
    std::fs::write(&index, bytes).unwrap();
}

/// Whether a call changes a file of the store.
fn changes_store(bench: &ChangeFixture, call: &InterceptedCall) -> bool {
    call.file.starts_with(bench.path("store"))
        && !matches!(call.kind, CallKind::Look | CallKind::Lock | CallKind::Answer)
}

/// Injects a fault into a command at each point in turn.
fn at_each_point(
    bench: &ChangeFixture,
    fault: InjectedFault,
    every: usize,
    about: &dyn Fn(&InterceptedCall) -> bool,
    words: &[String],
    mut then: impl FnMut(&TracedOutput, &str),
) -> usize {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for point in (0..).step_by(if torture() { 1 } else { every }) {
        bench.reset();
        let ran = bench.run_with_fault(fault, point, about, &words);
        if ran.hit.is_none() {
            return point;
        }
        let context = format!("{words:?}, {fault:?} at {point}, {:?}: {:?} {:?}", ran.hit, ran.end, ran.output);
        then(&ran, &context);
    }
    0
}

#[test]
fn a_step_that_failed_is_not_carried_out_by_a_repair() {
    let bench = ChangeFixture::new();
    let before = bench.state();
    let about = |call: &InterceptedCall| {
        has_file_name(call, "index.sqlite-wal") && matches!(call.kind, CallKind::Write(_) | CallKind::Sync)
    };
    let damages: [fn(&Path); 2] = [lose_index, overwrite_page];
    let mut failed = 0;
    for (_, words) in &changes(&bench)[1..3] {
        for errno in [Errno::ENOSPC, Errno::EIO] {
            at_each_point(&bench, InjectedFault::Fail(errno), 1, &about, words, |ran, context| {
                let has_failed = ran.end != ProcessEnd::Exited(0);
                if has_failed {
                    failed += 1;
                    // A repair for another reason does not carry the change out either.
                    for damage in damages {
                        assert_eq!(bench.sources_after_repair(damage), [ONE, "tool-not-found"], "{context}");
                    }
                }
                let now = bench.state();
                assert!(!has_failed || now == before, "{context}: {now:?}");
                let repaired = bench.run_ok(&["fsck", "--repair"]);
                assert_eq!(bench.state(), now, "{context}, and then {repaired}");
            });
        }
    }
    assert!(failed > 4, "{failed}");
}

#[test]
fn a_step_whose_process_was_killed_is_taken_or_not_and_no_repair_changes_that() {
    let bench = ChangeFixture::new();
    for (_, words) in &changes(&bench)[1..3] {
        let points =
            at_each_point(&bench, InjectedFault::Kill, 3, &|call| changes_store(&bench, call), words, |_, context| {
                let now = bench.state();
                let repaired = bench.run_ok(&["fsck", "--repair"]);
                assert_eq!(bench.state(), now, "{context}, and then {repaired}");
            });
        assert!(points > 10, "{points}");
    }
}

#[test]
fn a_change_whose_line_cannot_be_appended_gets_it_later() {
    let bench = ChangeFixture::new();
    for (action, words) in changes(&bench) {
        bench.reset();
        let (before, words) = (bench.lines(action), words.iter().map(String::as_str).collect::<Vec<_>>());
        bench.reset();
        let ran = bench.run_with_fault(InjectedFault::Broken, 0, &writes_log, &words);
        assert!(ran.hit.is_some(), "{words:?}");
        assert_eq!(ran.end, ProcessEnd::Exited(0), "what is done is not told as failed: {words:?}: {ran:?}");
        assert!(ran.output[1].contains("warning: the line of `"), "{words:?}: {ran:?}");
        assert_eq!(bench.lines(action), before + 1, "{words:?}");
        assert!(bench.run_ok(&["audit", "verify"]).contains("intact"), "{words:?}");
    }
}

#[test]
fn a_run_whose_line_cannot_be_appended_gives_its_result_and_gets_the_line_later() {
    let bench = ChangeFixture::new();
    for policy in ["", "[audit]\nrequired = false\n"] {
        bench.reset();
        std::fs::write(bench.path("policy.toml"), policy).unwrap();
        let ran = bench.run_with_fault(InjectedFault::Broken, 0, &writes_log, &["run", "a"]);
        assert!(ran.hit.is_some(), "{policy:?}");
        assert_eq!((ran.end, ran.output[0].as_str()), (ProcessEnd::Exited(0), "1\n"), "{policy:?}: {ran:?}");
        assert!(ran.output[1].contains("warning: the line of `run_dynamic_tool`"), "{policy:?}: {ran:?}");
        // The next command that opens the store appends the line.
        bench.run_ok(&["list"]);
        assert_eq!(bench.lines("run_dynamic_tool"), 1, "{policy:?}");
        assert!(bench.run_ok(&["audit", "verify"]).contains("intact"), "{policy:?}");
    }
}

#[test]
fn a_run_that_cannot_be_closed_stops_no_other_command() {
    let bench = ChangeFixture::new();
    // Index all tools now, so that a later search writes nothing.
    bench.run_ok(&["search", "tool"]);
    let writes_journal = |call: &InterceptedCall| {
        call.file.parent().is_some_and(|parent| parent.ends_with("running")) && matches!(call.kind, CallKind::Write(_))
    };
    let journals = || std::fs::read_dir(bench.path("store/running")).unwrap().count();
    // The first write starts the run in the journal, and the second finishes it.
    let killed = bench.run_with_fault(InjectedFault::Kill, 1, &writes_journal, &["run", "a"]);
    assert!(matches!(killed.end, ProcessEnd::Killed(_)) && journals() == 1, "{killed:?}");
    let about = |call: &InterceptedCall| {
        writes_log(call) || has_file_name(call, "index.sqlite-wal") && matches!(call.kind, CallKind::Write(_))
    };
    for words in [["list"].as_slice(), &["show", "a"], &["search", "tool"]] {
        let ran = bench.run_with_fault(InjectedFault::Broken, 0, &about, words);
        assert!(ran.hit.is_some() && ran.end == ProcessEnd::Exited(0), "{words:?}: {ran:?}");
        assert!(ran.output[0].contains("a tool"), "{words:?}: {ran:?}");
        assert!(ran.output[1].contains("warning: interrupted runs are not recorded"), "{words:?}: {ran:?}");
    }
    assert_eq!(journals(), 1);
    bench.run_ok(&["list"]);
    assert_eq!(journals(), 0);
    let lines = bench.run_ok(&["audit", "--action", "run_dynamic_tool"]);
    assert!(lines.lines().count() == 1 && lines.contains("interrupted"), "{lines}");
    assert!(bench.run_ok(&["audit", "verify"]).contains("intact"));
}

#[test]
fn a_change_that_is_killed_at_any_point_has_one_line_if_it_happened_and_none_if_not() {
    let bench = ChangeFixture::new();
    // Each with the tool whose runs show the change: `create --replace`, `delete` and `approvals
    // grant`.
    for (change, tool, every) in [(1, "a", 8), (2, "a", 8), (5, "asks", 2)] {
        let (action, words) = changes(&bench).swap_remove(change);
        bench.reset();
        let (before, at_first) = (bench.lines(action), bench.run_tool(tool));
        let (mut done, mut left) = (0, 0);
        at_each_point(&bench, InjectedFault::Kill, every, &|call| changes_store(&bench, call), &words, |_, context| {
            let lines = bench.lines(action) - before;
            let happened = bench.run_tool(tool) != at_first;
            assert_eq!(lines, usize::from(happened), "{context}");
            if happened { done += 1 } else { left += 1 }
        });
        assert!(done > 0 && left > 0, "{words:?}: {done} {left}");
    }
}

#[test]
fn an_object_that_cannot_be_read_is_put_aside_and_stops_no_repair() {
    let bench = ChangeFixture::new();
    let before = bench.state();
    bench.reset();
    let hash = blake3::hash(WAITS.as_bytes()).to_hex();
    let object = bench.path("store/objects").join(&hash[..2]).join(&hash[2..]);
    let about = |call: &InterceptedCall| call.file == object && call.kind == CallKind::Look;
    let under = |words: &[&str], status: i32| {
        let ran = bench.run_with_fault(InjectedFault::Broken, 0, &about, words);
        assert!(ran.hit.is_some(), "{words:?}: {ran:?}");
        assert_eq!(ran.end, ProcessEnd::Exited(status), "{words:?}: {ran:?}");
        ran.output
    };
    let quarantined = || bench.path("store/quarantine").join(hash.as_str()).exists();
    let bundle = bench.file("all.bundle");

    // An export never omits tools silently.
    let [_, errors] = under(&["export", "-o", &bundle], 2);
    assert!(errors.contains(&format!("the object {hash} cannot be read")), "{errors}");
    assert!(errors.contains("`toolcell fsck --repair`") && !Path::new(&bundle).exists(), "{errors}");
    let wrong = format!("object {hash}: cannot be read");
    let [out, _] = under(&["fsck"], 6);
    assert!(out.contains(&format!("problem: {wrong}")) && !quarantined(), "{out}");
    // The index still has the object's bytes.
    let [out, _] = under(&["fsck", "--repair"], 0);
    assert!(out.contains(&format!("repaired: {wrong}")) && out.contains("restored; ") && quarantined(), "{out}");
    assert_eq!(bench.state(), before);
    assert!(bench.run_ok(&["export", "-o", &bundle]).starts_with("3 tools"));

    bench.reset();
    lose_index(&bench.path("store"));
    let [out, _] = under(&["fsck", "--repair"], 0);
    assert!(out.contains(&format!("repaired: {wrong}")) && quarantined(), "{out}");
    let listed = bench.run_ok(&["list"]);
    assert!(listed.contains("keeps") && listed.contains("quarantined"), "{listed}");
    assert_eq!(bench.run_ok(&["run", "a"]), "1\n");
    assert!(bench.run_ok(&["export", "-o", &bundle]).starts_with("1 tool "));
}

#[test]
fn what_is_not_recorded_is_not_collected() {
    let bench = ChangeFixture::new();
    let gc = changes(&bench).swap_remove(8);
    // Files that cannot be removed are reported and left for the next collection.
    let objects = |bench: &ChangeFixture| bench.run_command(&["--json", "fsck"]).out;
    let before = objects(&bench);
    let about = |call: &InterceptedCall| changes_store(&bench, call);
    at_each_point(&bench, InjectedFault::Kill, 2, &about, &gc.1, |_, context| {
        let now = objects(&bench);
        let lines = bench.lines("gc");
        assert!(lines == 1 || now == before, "{context}: {now}");
    });
}

#[test]
fn a_failing_read_of_the_index_is_told_as_one_and_costs_no_approval() {
    let bench = ChangeFixture::new();
    let suspended_run = start_with_a_log(&bench);
    bench.reset();
    // Data that only the index has, and the secret, which is lost with a damaged index.
    let found = || {
        let store = Store::open_existing(&bench.path("store"), &Settings::default()).unwrap();
        let suspended_run = store.suspended().all().unwrap();
        drop(store);
        let secret = std::fs::read(bench.path("store/secret")).unwrap();
        (["keeps", "asks"].map(|name| bench.run_tool(name)), suspended_run, secret)
    };
    let before = found();
    assert_eq!(before.1, [suspended_run]);
    let about = |call: &InterceptedCall| {
        (has_file_name(call, "index.sqlite") || has_file_name(call, "index.sqlite-wal")) && call.kind == CallKind::Look
    };
    let commands: [&[&str]; 3] = [&["list"], &["run", "keeps"], &["fsck", "--repair"]];
    let mut failed = [0; 3];
    for (words, count) in commands.into_iter().zip(&mut failed) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        at_each_point(&bench, InjectedFault::Fail(Errno::EIO), 5, &about, &words, |ran, context| {
            *count += usize::from(ran.end != ProcessEnd::Exited(0));
            assert!(ran.end != ProcessEnd::Exited(6) && !ran.output[1].contains("damaged"), "{context}");
            assert_eq!(found(), before, "{context}");
        });
    }
    assert!(failed.iter().all(|count| *count > 2), "{failed:?}");
}

/// Sets up a store with a suspended run, a secret, and a write-ahead log that a killed process
/// left.
fn start_with_a_log(bench: &ChangeFixture) -> SuspendedRow {
    let suspended_run = SuspendedRow {
        run: "r_00c0ffee00c0ffee-1f".parse().unwrap(),
        tool: ToolId::from_bytes([1; 32]),
        caller: "cli".to_owned(),
        suspended_at: Timestamp::UNIX_EPOCH,
        binding: "{}".to_owned(),
        blob: b"sealed".to_vec(),
    };
    let store = Store::open_existing(&bench.path("store"), &Settings::default()).unwrap();
    store.derive_key("a purpose").unwrap();
    store.suspended().save(&suspended_run).unwrap();
    // Copied while the store is open.
    let start = bench.start.path().join("store");
    std::fs::remove_dir_all(&start).unwrap();
    std::fs::create_dir(&start).unwrap();
    copy(&bench.path("store"), &start);
    assert!(start.join("index.sqlite-wal").metadata().unwrap().len() > 0);
    suspended_run
}

#[test]
fn a_repair_that_is_killed_at_any_point_keeps_what_people_said() {
    let bench = ChangeFixture::new();
    let before = bench.state();
    std::fs::write(bench.start.path().join("store/rebuilding"), "").unwrap();
    let repair = ["fsck", "--repair"].map(str::to_owned);
    let about = |call: &InterceptedCall| {
        changes_store(&bench, call)
            && matches!(call.kind, CallKind::Rename | CallKind::Remove | CallKind::Sync | CallKind::Create)
    };
    let points = at_each_point(&bench, InjectedFault::Kill, 1, &about, &repair, |_, context| {
        bench.run_command(&["fsck", "--repair"]);
        assert_eq!(bench.state(), before, "{context}");
    });
    assert!(points > 4, "{points}");
}

#[test]
fn a_lock_that_cannot_be_given_back_keeps_no_run_for_long() {
    let bench = ChangeFixture::new();
    let about = |call: &InterceptedCall| has_file_name(call, "index.sqlite-shm") && call.kind == CallKind::Lock;
    let words = ["run", "a"].map(str::to_owned);
    let points = at_each_point(&bench, InjectedFault::Fail(Errno::ENOLCK), 1, &about, &words, |ran, context| {
        // A deadlock with itself would get the process killed by the watchdog.
        assert!(matches!(ran.end, ProcessEnd::Exited(_)), "{context}");
        assert_eq!(bench.run_ok(&["run", "a"]), "1\n", "{context}");
    });
    assert!(points > 4, "{points}");
}
