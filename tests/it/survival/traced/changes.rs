//! Changes of the store fail or are killed at each of their calls to the kernel: what is said of them is true, a repair carries
//! nothing out that was not done, and the log has their lines once.

use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::Timestamp;
use nix::errno::Errno;
use serde_json::Value;
use tempfile::TempDir;
use toolcell::ToolId;
use toolcell::store::{Settings, Sleeping, Store, ToolRef};

use super::calls::{Call, Fault, Kind};
use super::tracer::{End, Ran, run};
use crate::mcp::home::binary;
use crate::survival::start::{copy, lose_index, repaired};
use crate::survival::{scratch, torture};

/// The source of `a`.
const ONE: &str = "const execute = () => 1";
/// The source of `keeps` and of `asks`.
const WAITS: &str = "const execute = () => new Promise((done) => setTimeout(() => done('kept'), 1))";

/// A store with five tools: `a` has two versions, of which the first returns 3 and the second 1; `keeps` is approved; `asks` waits for
/// an approval; `gone` and `old` are deleted, the second after it was exported.
struct Bench {
    start: TempDir,
    folder: TempDir,
}

/// What a command said.
#[derive(Debug)]
#[expect(dead_code, reason = "what it wrote to standard error is shown where a test fails")]
struct Said {
    status: i32,
    out: String,
    errors: String,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { start: scratch(), folder: scratch() };
        let write = |name: &str, text: &str| std::fs::write(bench.start.path().join(name), text).unwrap();
        write("policy.toml", "");
        write("one.ts", ONE);
        write("two.ts", "const execute = () => 2");
        write("three.ts", "const execute = () => 3");
        write("waits.ts", WAITS);
        bench.again();
        bench.done(&["create", &bench.file("three.ts"), "--name", "a", "--description", "a tool"]);
        bench.done(&["create", &bench.file("one.ts"), "--name", "a", "--description", "a tool", "--replace"]);
        for (file, name) in [("waits", "keeps"), ("waits", "asks"), ("one", "gone"), ("two", "old")] {
            bench.done(&["create", &bench.file(&format!("{file}.ts")), "--name", name, "--description", "a tool"]);
        }
        bench.done(&["approvals", "grant", "keeps", "--yes"]);
        bench.done(&["delete", "gone", "--confirm"]);
        bench.done(&["export", "old", "-o", &bench.file("old.bundle")]);
        bench.done(&["delete", "old", "--confirm"]);
        let made = bench.folder.path();
        for entry in std::fs::read_dir(bench.start.path()).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        copy(made, bench.start.path());
        bench
    }

    /// Everything is as it was.
    fn again(&self) {
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

    fn say(&self, words: &[&str]) -> Said {
        let words = self.words(words, &mut Default::default());
        let output = Command::new(binary()).args(words).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { status: output.status.code().unwrap(), out: text(output.stdout), errors: text(output.stderr) }
    }

    /// What a command prints that must work.
    #[track_caller]
    fn done(&self, words: &[&str]) -> String {
        let said = self.say(words);
        assert_eq!(said.status, 0, "{words:?}: {said:?}");
        said.out
    }

    /// Lets a command work while something happens to it.
    fn under(&self, fault: Fault, point: usize, about: &dyn Fn(&Call) -> bool, words: &[&str]) -> Ran {
        let words = self.words(words, &mut Default::default());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run(&binary(), &words, fault, point, about)
    }

    /// What names lead to and what people said, as far as somebody sees it who runs tools.
    fn state(&self) -> Vec<String> {
        ["a", "keeps", "asks", "gone", "old"].map(|name| self.ran(name)).to_vec()
    }

    /// What comes of running a tool.
    fn ran(&self, name: &str) -> String {
        let said = self.say(&["run", name]);
        format!("{name}: {} {}", said.status, said.out.trim())
    }

    /// The sources that `a` and `gone` lead to, or why to none, in a copy of the store whose index was damaged and repaired.
    fn sources_after_repair(&self, damage: fn(&Path)) -> [String; 2] {
        let copied = scratch();
        copy(&self.path("store"), copied.path());
        damage(copied.path());
        let health = repaired(copied.path());
        assert!(health.is_good(), "{health:?}");
        let store = Store::open_existing(copied.path(), &Settings::default()).unwrap();
        ["a", "gone"].map(|name| match store.find(&ToolRef::parse(name).unwrap()) {
            Ok(entry) => store.spec(&entry).unwrap().source().to_owned(),
            Err(error) => error.code().to_owned(),
        })
    }

    /// How often the log has lines of an action that was done.
    fn lines(&self, action: &str) -> usize {
        let lines = self.done(&["--json", "audit", "--action", action]);
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["success"] == true).count()
    }
}

/// What changes a store, and what the log calls it.
fn changes(bench: &Bench) -> Vec<(&'static str, Vec<String>)> {
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

fn is_of(call: &Call, name: &str) -> bool {
    call.file.file_name().is_some_and(|file| file == Path::new(name).as_os_str())
}

/// Whether a call writes to the audit log.
fn writes_log(call: &Call) -> bool {
    is_of(call, "dynamic-tools-audit.jsonl") && matches!(call.kind, Kind::Write(_))
}

fn overwrite_page(store: &Path) {
    let index = store.join("index.sqlite");
    let mut bytes = std::fs::read(&index).unwrap();
    bytes[4_096..8_192].fill(0x37);
    std::fs::write(&index, bytes).unwrap();
}

/// Whether a call is about a file of the store.
fn changes_store(bench: &Bench, call: &Call) -> bool {
    call.file.starts_with(bench.path("store")) && !matches!(call.kind, Kind::Look | Kind::Lock | Kind::Answer)
}

/// Lets something happen to a change at each point in turn.
fn at_each_point(
    bench: &Bench,
    fault: Fault,
    every: usize,
    about: &dyn Fn(&Call) -> bool,
    words: &[String],
    mut then: impl FnMut(&Ran, &str),
) -> usize {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for point in (0..).step_by(if torture() { 1 } else { every }) {
        bench.again();
        let ran = bench.under(fault, point, about, &words);
        if ran.hit.is_none() {
            return point;
        }
        let context = format!("{words:?}, {fault:?} at {point}, {:?}: {:?} {:?}", ran.hit, ran.end, ran.said);
        then(&ran, &context);
    }
    0
}

#[test]
fn a_step_that_failed_is_not_carried_out_by_a_repair() {
    let bench = Bench::new();
    let before = bench.state();
    let about = |call: &Call| is_of(call, "index.sqlite-wal") && matches!(call.kind, Kind::Write(_) | Kind::Sync);
    let damages: [fn(&Path); 2] = [lose_index, overwrite_page];
    let mut failed = 0;
    for (_, words) in &changes(&bench)[1..3] {
        for errno in [Errno::ENOSPC, Errno::EIO] {
            at_each_point(&bench, Fault::Fail(errno), 1, &about, words, |ran, context| {
                let has_failed = ran.end != End::Exited(0);
                if has_failed {
                    failed += 1;
                    // A repair that has another reason does not carry it out either.
                    for damage in damages {
                        assert_eq!(bench.sources_after_repair(damage), [ONE, "tool-not-found"], "{context}");
                    }
                }
                let now = bench.state();
                assert!(!has_failed || now == before, "{context}: {now:?}");
                let repaired = bench.done(&["fsck", "--repair"]);
                assert_eq!(bench.state(), now, "{context}, and then {repaired}");
            });
        }
    }
    assert!(failed > 4, "{failed}");
}

#[test]
fn a_step_whose_process_was_killed_is_taken_or_not_and_no_repair_changes_that() {
    let bench = Bench::new();
    for (_, words) in &changes(&bench)[1..3] {
        let points = at_each_point(&bench, Fault::Kill, 3, &|call| changes_store(&bench, call), words, |_, context| {
            let now = bench.state();
            let repaired = bench.done(&["fsck", "--repair"]);
            assert_eq!(bench.state(), now, "{context}, and then {repaired}");
        });
        assert!(points > 10, "{points}");
    }
}

#[test]
fn a_change_whose_line_cannot_be_appended_gets_it_later() {
    let bench = Bench::new();
    for (action, words) in changes(&bench) {
        bench.again();
        let (before, words) = (bench.lines(action), words.iter().map(String::as_str).collect::<Vec<_>>());
        bench.again();
        let ran = bench.under(Fault::Broken, 0, &writes_log, &words);
        assert!(ran.hit.is_some(), "{words:?}");
        assert_eq!(ran.end, End::Exited(0), "what is done is not told as failed: {words:?}: {ran:?}");
        assert!(ran.said[1].contains("warning: the line of `"), "{words:?}: {ran:?}");
        assert_eq!(bench.lines(action), before + 1, "{words:?}");
        assert!(bench.done(&["audit", "verify"]).contains("as they were written"), "{words:?}");
    }
}

#[test]
fn a_run_whose_line_cannot_be_appended_gives_its_result_and_gets_the_line_later() {
    let bench = Bench::new();
    for policy in ["", "[audit]\nrequired = false\n"] {
        bench.again();
        std::fs::write(bench.path("policy.toml"), policy).unwrap();
        let ran = bench.under(Fault::Broken, 0, &writes_log, &["run", "a"]);
        assert!(ran.hit.is_some(), "{policy:?}");
        assert_eq!((ran.end, ran.said[0].as_str()), (End::Exited(0), "1\n"), "{policy:?}: {ran:?}");
        assert!(ran.said[1].contains("warning: the line of `run_dynamic_tool`"), "{policy:?}: {ran:?}");
        // The next command that opens the store appends it.
        bench.done(&["list"]);
        assert_eq!(bench.lines("run_dynamic_tool"), 1, "{policy:?}");
        assert!(bench.done(&["audit", "verify"]).contains("as they were written"), "{policy:?}");
    }
}

#[test]
fn a_run_that_cannot_be_closed_stops_no_other_command() {
    let bench = Bench::new();
    // Tools are indexed for searches, so that a search has nothing to write of its own.
    bench.done(&["search", "tool"]);
    let writes_journal = |call: &Call| {
        call.file.parent().is_some_and(|parent| parent.ends_with("running")) && matches!(call.kind, Kind::Write(_))
    };
    let journals = || std::fs::read_dir(bench.path("store/running")).unwrap().count();
    // The first write begins the run, and the second ends it.
    let killed = bench.under(Fault::Kill, 1, &writes_journal, &["run", "a"]);
    assert!(matches!(killed.end, End::Killed(_)) && journals() == 1, "{killed:?}");
    let about =
        |call: &Call| writes_log(call) || is_of(call, "index.sqlite-wal") && matches!(call.kind, Kind::Write(_));
    for words in [["list"].as_slice(), &["show", "a"], &["search", "tool"]] {
        let ran = bench.under(Fault::Broken, 0, &about, words);
        assert!(ran.hit.is_some() && ran.end == End::Exited(0), "{words:?}: {ran:?}");
        assert!(ran.said[0].contains("a tool"), "{words:?}: {ran:?}");
        assert!(ran.said[1].contains("warning: runs that were interrupted are not recorded"), "{words:?}: {ran:?}");
    }
    assert_eq!(journals(), 1);
    bench.done(&["list"]);
    assert_eq!(journals(), 0);
    let lines = bench.done(&["audit", "--action", "run_dynamic_tool"]);
    assert!(lines.lines().count() == 1 && lines.contains("interrupted"), "{lines}");
    assert!(bench.done(&["audit", "verify"]).contains("as they were written"));
}

#[test]
fn a_change_that_is_killed_at_any_point_has_one_line_if_it_happened_and_none_if_not() {
    let bench = Bench::new();
    // With the tool whose runs show whether it happened: `create --replace`, `delete` and `approvals grant`.
    for (change, tool, every) in [(1, "a", 8), (2, "a", 8), (5, "asks", 2)] {
        let (action, words) = changes(&bench).swap_remove(change);
        bench.again();
        let (before, at_first) = (bench.lines(action), bench.ran(tool));
        let (mut done, mut left) = (0, 0);
        at_each_point(&bench, Fault::Kill, every, &|call| changes_store(&bench, call), &words, |_, context| {
            let lines = bench.lines(action) - before;
            let happened = bench.ran(tool) != at_first;
            assert_eq!(lines, usize::from(happened), "{context}");
            if happened { done += 1 } else { left += 1 }
        });
        assert!(done > 0 && left > 0, "{words:?}: {done} {left}");
    }
}

#[test]
fn an_object_that_cannot_be_read_is_put_aside_and_stops_no_repair() {
    let bench = Bench::new();
    let before = bench.state();
    bench.again();
    let hash = blake3::hash(WAITS.as_bytes()).to_hex();
    let object = bench.path("store/objects").join(&hash[..2]).join(&hash[2..]);
    let about = |call: &Call| call.file == object && call.kind == Kind::Look;
    let under = |words: &[&str], status: i32| {
        let ran = bench.under(Fault::Broken, 0, &about, words);
        assert!(ran.hit.is_some(), "{words:?}: {ran:?}");
        assert_eq!(ran.end, End::Exited(status), "{words:?}: {ran:?}");
        ran.said
    };
    let quarantined = || bench.path("store/quarantine").join(hash.as_str()).exists();
    let bundle = bench.file("all.bundle");

    // A bundle does not silently lack tools.
    let [_, errors] = under(&["export", "-o", &bundle], 2);
    assert!(errors.contains(&format!("the object {hash} cannot be read")), "{errors}");
    assert!(errors.contains("`toolcell fsck --repair`") && !Path::new(&bundle).exists(), "{errors}");
    let wrong = format!("object {hash}: cannot be read");
    let [out, _] = under(&["fsck"], 6);
    assert!(out.contains(&format!("wrong: {wrong}")) && !quarantined(), "{out}");
    // The index still has its bytes.
    let [out, _] = under(&["fsck", "--repair"], 0);
    assert!(out.contains(&format!("mended: {wrong}")) && out.contains("made again") && quarantined(), "{out}");
    assert_eq!(bench.state(), before);
    assert!(bench.done(&["export", "-o", &bundle]).starts_with("3 tools"));

    bench.again();
    lose_index(&bench.path("store"));
    let [out, _] = under(&["fsck", "--repair"], 0);
    assert!(out.contains(&format!("mended: {wrong}")) && quarantined(), "{out}");
    let listed = bench.done(&["list"]);
    assert!(listed.contains("keeps") && listed.contains("quarantined"), "{listed}");
    assert_eq!(bench.done(&["run", "a"]), "1\n");
    assert!(bench.done(&["export", "-o", &bundle]).starts_with("1 tools"));
}

#[test]
fn what_is_not_recorded_is_not_collected() {
    let bench = Bench::new();
    let gc = changes(&bench).swap_remove(8);
    // Files that the index forgot are left for the next time, and told.
    let objects = |bench: &Bench| bench.say(&["--json", "fsck"]).out;
    let before = objects(&bench);
    let about = |call: &Call| changes_store(&bench, call);
    at_each_point(&bench, Fault::Kill, 2, &about, &gc.1, |_, context| {
        let now = objects(&bench);
        let lines = bench.lines("gc");
        assert!(lines == 1 || now == before, "{context}: {now}");
    });
}

#[test]
fn a_failing_read_of_the_index_is_told_as_one_and_costs_no_approval() {
    let bench = Bench::new();
    let asleep = start_with_a_log(&bench);
    bench.again();
    // What only the index keeps, and the secret, which goes with an index that is damaged.
    let found = || {
        let store = Store::open_existing(&bench.path("store"), &Settings::default()).unwrap();
        let asleep = store.all_sleeping().unwrap();
        drop(store);
        let secret = std::fs::read(bench.path("store/secret")).unwrap();
        (["keeps", "asks"].map(|name| bench.ran(name)), asleep, secret)
    };
    let before = found();
    assert_eq!(before.1, [asleep]);
    let about =
        |call: &Call| (is_of(call, "index.sqlite") || is_of(call, "index.sqlite-wal")) && call.kind == Kind::Look;
    let commands: [&[&str]; 3] = [&["list"], &["run", "keeps"], &["fsck", "--repair"]];
    let mut failed = [0; 3];
    for (words, count) in commands.into_iter().zip(&mut failed) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        at_each_point(&bench, Fault::Fail(Errno::EIO), 5, &about, &words, |ran, context| {
            *count += usize::from(ran.end != End::Exited(0));
            assert!(ran.end != End::Exited(6) && !ran.said[1].contains("damaged"), "{context}");
            assert_eq!(found(), before, "{context}");
        });
    }
    assert!(failed.iter().all(|count| *count > 2), "{failed:?}");
}

/// Lets a bench start with a run that is asleep, a secret, and a log of the index that a killed process left.
fn start_with_a_log(bench: &Bench) -> Sleeping {
    let asleep = Sleeping {
        run: "r_00c0ffee00c0ffee-1f".parse().unwrap(),
        tool: ToolId::from_bytes([1; 32]),
        caller: "cli".to_owned(),
        at: Timestamp::UNIX_EPOCH,
        bound: "{}".to_owned(),
        blob: b"sealed".to_vec(),
    };
    let store = Store::open_existing(&bench.path("store"), &Settings::default()).unwrap();
    store.secret("a purpose").unwrap();
    store.put_to_sleep(&asleep).unwrap();
    // While the store is open.
    let start = bench.start.path().join("store");
    std::fs::remove_dir_all(&start).unwrap();
    std::fs::create_dir(&start).unwrap();
    copy(&bench.path("store"), &start);
    assert!(start.join("index.sqlite-wal").metadata().unwrap().len() > 0);
    asleep
}

#[test]
fn a_repair_that_is_killed_at_any_point_keeps_what_people_said() {
    let bench = Bench::new();
    let before = bench.state();
    std::fs::write(bench.start.path().join("store/rebuilding"), "").unwrap();
    let repair = ["fsck", "--repair"].map(str::to_owned);
    let about = |call: &Call| {
        changes_store(&bench, call) && matches!(call.kind, Kind::Rename | Kind::Remove | Kind::Sync | Kind::Create)
    };
    let points = at_each_point(&bench, Fault::Kill, 1, &about, &repair, |_, context| {
        bench.say(&["fsck", "--repair"]);
        assert_eq!(bench.state(), before, "{context}");
    });
    assert!(points > 4, "{points}");
}

#[test]
fn a_lock_that_cannot_be_given_back_keeps_no_run_for_long() {
    let bench = Bench::new();
    let about = |call: &Call| is_of(call, "index.sqlite-shm") && call.kind == Kind::Lock;
    let words = ["run", "a"].map(str::to_owned);
    let points = at_each_point(&bench, Fault::Fail(Errno::ENOLCK), 1, &about, &words, |ran, context| {
        // Whoever waits for himself would be killed as one that does not answer.
        assert!(matches!(ran.end, End::Exited(_)), "{context}");
        assert_eq!(bench.done(&["run", "a"]), "1\n", "{context}");
    });
    assert!(points > 4, "{points}");
}
