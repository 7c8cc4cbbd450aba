//! Changes of the store fail or are killed at each of their calls to the kernel: what is said of them is true, a repair carries
//! nothing out that was not done, and the log has their lines once.

use std::path::{Path, PathBuf};
use std::process::Command;

use nix::errno::Errno;
use serde_json::Value;
use tempfile::TempDir;

use super::calls::{Call, Fault, Kind};
use super::tracer::{End, Ran, run};
use crate::mcp::home::binary;
use crate::survival::start::copy;
use crate::survival::{scratch, torture};

/// A store with `a`, which answers 1, `keeps`, which somebody approved, `asks`, which nobody did, and `gone`, which was deleted.
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
        write("one.ts", "const execute = () => 1");
        write("two.ts", "const execute = () => 2");
        write("waits.ts", "const execute = () => new Promise((done) => setTimeout(() => done('kept'), 1))");
        bench.again();
        for (file, name) in [("one", "a"), ("waits", "keeps"), ("waits", "asks"), ("one", "gone"), ("two", "old")] {
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
        let ran = |name: &str| {
            let said = self.say(&["run", name]);
            format!("{name}: {} {}", said.status, said.out.trim())
        };
        ["a", "keeps", "asks", "gone", "old"].map(ran).to_vec()
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
    let all: [(&str, &[&str]); 9] = [
        ("create_tool", &["create", &two, "--name", "b", "--description", "a tool"]),
        ("create_tool", &["create", &two, "--name", "a", "--description", "a tool", "--replace"]),
        ("delete_dynamic_tool", &["delete", "a", "--confirm"]),
        ("undelete", &["undelete", "gone"]),
        ("status", &["deprecate", "a"]),
        ("approve", &["approvals", "grant", "asks", "--yes"]),
        ("revoke", &["approvals", "revoke", "keeps"]),
        ("import", &["import", &bundle]),
        ("gc", &["gc", "--older-than", "0s"]),
    ];
    all.iter().map(|(action, words)| (*action, words.iter().map(|word| (*word).to_owned()).collect())).collect()
}

fn is_of(call: &Call, name: &str) -> bool {
    call.file.file_name().is_some_and(|file| file == Path::new(name).as_os_str())
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
    let mut failed = 0;
    for (_, words) in &changes(&bench)[1..3] {
        for errno in [Errno::ENOSPC, Errno::EIO] {
            at_each_point(&bench, Fault::Fail(errno), 1, &about, words, |ran, context| {
                let now = bench.state();
                if ran.end != End::Exited(0) {
                    failed += 1;
                    assert_eq!(now, before, "{context}");
                }
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
    let about = |call: &Call| is_of(call, "dynamic-tools-audit.jsonl") && matches!(call.kind, Kind::Write(_));
    for (action, words) in changes(&bench) {
        bench.again();
        let (before, words) = (bench.lines(action), words.iter().map(String::as_str).collect::<Vec<_>>());
        bench.again();
        let ran = bench.under(Fault::Broken, 0, &about, &words);
        assert!(ran.hit.is_some(), "{words:?}");
        assert_eq!(ran.end, End::Exited(0), "what is done is not told as failed: {words:?}: {ran:?}");
        assert!(ran.said[1].contains("warning: the line of `"), "{words:?}: {ran:?}");
        assert_eq!(bench.lines(action), before + 1, "{words:?}");
        assert!(bench.done(&["audit", "verify"]).contains("as they were written"), "{words:?}");
    }
}

#[test]
fn a_change_that_is_killed_at_any_point_has_one_line_if_it_happened_and_none_if_not() {
    let bench = Bench::new();
    let grant = changes(&bench).swap_remove(5);
    let (before, at_first) = (bench.lines("approve"), bench.state());
    let (mut done, mut left) = (0, 0);
    at_each_point(&bench, Fault::Kill, 2, &|call| changes_store(&bench, call), &grant.1, |_, context| {
        let lines = bench.lines("approve") - before;
        let happened = bench.state() != at_first;
        assert_eq!(lines, usize::from(happened), "{context}");
        if happened { done += 1 } else { left += 1 }
    });
    assert!(done > 0 && left > 0, "{done} {left}");
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
    let before = bench.state();
    let about = |call: &Call| is_of(call, "index.sqlite") && call.kind == Kind::Look;
    let (mut listed, mut repaired) = (0, 0);
    for (words, count) in [(["list"].as_slice(), &mut listed), (["fsck", "--repair"].as_slice(), &mut repaired)] {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        at_each_point(&bench, Fault::Fail(Errno::EIO), 5, &about, &words, |ran, context| {
            *count += usize::from(ran.end != End::Exited(0));
            assert!(ran.end != End::Exited(6) && !ran.said[1].contains("damaged"), "{context}");
            assert_eq!(bench.state(), before, "{context}");
        });
    }
    assert!(listed > 2 && repaired > 2, "{listed} {repaired}");
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
