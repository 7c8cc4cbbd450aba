//! The jail: calls have the same results inside as outside, nothing escapes from it, and it
//! recovers from failures.

mod processes;
mod same;

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::json;
use toolcell::{CancelToken, Outcome, Stop};
use toolcell_host::{ImageKind, PartialResultSink, SandboxOptions};
use toolcell_jail::{Jail, Program};

use self::processes::{status, threads};
use crate::fixtures::sandbox::{SandboxFixture, returned};
use crate::mcp::server::binary;
use crate::operations::{ToolboxFixture, returned_value};

fn jail_of(images: &[ImageKind], slots: usize) -> Jail {
    Jail::new(&SandboxOptions { images: images.to_vec(), slots }, Program::Other(binary())).unwrap()
}

/// Creates a jail with one worker.
fn jail() -> Jail {
    jail_of(&ImageKind::ALL, 1)
}

/// Returns a jail with only this image, which all tests share.
fn jail_with(kind: ImageKind) -> &'static Jail {
    static JAILS: [OnceLock<Jail>; ImageKind::ALL.len()] = [const { OnceLock::new() }; ImageKind::ALL.len()];
    let index = ImageKind::ALL.iter().position(|other| *other == kind).unwrap();
    JAILS[index].get_or_init(|| jail_of(&[kind], 2))
}

fn sum() -> SandboxFixture<'static> {
    SandboxFixture::new().script("const execute = ({ a, b }) => a + b")
}

const SUM: (&str, &str) = (r#"{"a":40,"b":2}"#, "42");

#[track_caller]
fn works(jail: &Jail) {
    assert_eq!(returned(&sum().run_in(jail, SUM.0)), SUM.1);
}

/// Returns the process of the only worker, which is idle.
#[track_caller]
fn worker(jail: &Jail) -> u32 {
    let workers = jail.idle_workers();
    assert_eq!(workers.len(), 1);
    workers[0]
}

/// A tool that reports progress and then never returns.
const BEGINS: &str = "export default () => ({ name: 'begins', description: 'd', parameters: {}, \
    execute(id, params, onUpdate) { console.log('a'); onUpdate('began'); for (;;) ; } })";

/// Runs such a tool, acts on it when it reports progress, and returns the outcome.
fn run_begins(jail: &Jail, timeout: u64, then: impl Fn() + Send + Sync + 'static, cancel: &CancelToken) -> Outcome {
    let sink: PartialResultSink = std::sync::Arc::new(move |json: &str| {
        assert_eq!(json, "\"began\"");
        then();
    });
    let mut fixture =
        SandboxFixture::new().script(BEGINS).fuel(1_000_000_000_000_000).timeout(timeout).cancelled_by(cancel);
    fixture.run.partial_sink = Some(&sink);
    fixture.run_in(jail, "{}").outcome
}

fn kill(process: u32, signal: nix::sys::signal::Signal) {
    let process = nix::unistd::Pid::from_raw(i32::try_from(process).unwrap());
    nix::sys::signal::kill(process, signal).unwrap();
}

/// Prints what a test skips, and why.
#[expect(clippy::print_stderr, reason = "a test that looks at nothing says so")]
fn note_skipped(what: &str, why: &str) {
    eprintln!("left out: {what}, because {why}");
}

/// The reason for skipping the inspection of a worker.
const CLOSED: &str = "the system does not let this user look into the process of a worker (root may)";

#[test]
fn a_worker_has_nothing_but_the_pipe() {
    let jail = jail();
    let worker = worker(&jail);
    let status = status(worker);
    assert_eq!((&*status["Seccomp"], &*status["NoNewPrivs"], &*status["Threads"]), ("2", "1", "1"));
    let proc = format!("/proc/{worker}");
    // The worker leads its own process group, so an interrupt of the host does not reach it. The
    // host itself ends its calls.
    let stat = std::fs::read_to_string(format!("{proc}/stat")).unwrap();
    assert_eq!(stat.rsplit_once(") ").unwrap().1.split(' ').nth(2), Some(&*worker.to_string()), "{stat}");
    let limits = std::fs::read_to_string(format!("{proc}/limits")).unwrap();
    for limit in ["Max open files", "Max core file size", "Max file size", "Max processes"] {
        let line = limits.lines().find(|line| line.starts_with(limit)).unwrap();
        assert_eq!(line[limit.len()..].split_whitespace().next(), Some("0"), "{line}");
    }
    // No capabilities, and none that could be regained.
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(u64::from_str_radix(&status[set], 16), Ok(0), "{set}");
    }
    if nix::unistd::geteuid().is_root() {
        assert_eq!(u64::from_str_radix(&status["CapBnd"], 16), Ok(0), "CapBnd");
    } else {
        note_skipped("the bounding set of a worker", "only root can empty it");
    }
    let most = limits.lines().find(|line| line.starts_with("Max address space")).unwrap();
    let most: u64 = most["Max address space".len()..].split_whitespace().next().unwrap().parse().unwrap();
    // Room for a pool of one instance and for a call at its memory limit of 1 GiB.
    assert!((2 << 30..100 << 30).contains(&most), "{most}");
    match std::fs::read_dir(format!("{proc}/fd")) {
        Ok(entries) => {
            for entry in entries {
                let leads = std::fs::read_link(entry.unwrap().path()).unwrap().to_string_lossy().into_owned();
                let own = ["socket:", "/dev/null", "/memfd:", &format!("{proc}/pagemap")];
                assert!(own.iter().any(|own| leads.starts_with(own)), "{leads}");
            }
            assert_eq!(std::fs::read(format!("{proc}/environ")).unwrap(), b"");
            assert_eq!(std::fs::read_link(format!("{proc}/cwd")).unwrap(), Path::new("/"));
        }
        // Only a privileged user can inspect a worker.
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
            note_skipped("the descriptors, the environment and the current directory of a worker", CLOSED);
        }
    }
}

#[test]
fn no_memory_of_a_worker_can_be_written_and_run() {
    let jail = jail_with(ImageKind::Roomy);
    works(jail);
    let worker = jail.idle_workers()[0];
    // An unprivileged user cannot read the mappings. The seccomp filter has tests of its own.
    let maps = std::fs::read_to_string(format!("/proc/{worker}/maps")).unwrap_or_default();
    if maps.is_empty() {
        return note_skipped("the mappings of a worker", CLOSED);
    }
    let both: Vec<&str> = maps.lines().filter(|line| line.contains("rwx")).collect();
    assert_eq!(both, Vec::<&str>::new());
}

#[test]
fn the_code_of_a_worker_cannot_be_written_through_its_file() {
    let jail = jail_with(ImageKind::Roomy);
    works(jail);
    let worker = jail.idle_workers()[0];
    // Only a privileged user can inspect a worker. The seals of memory files have host tests of
    // their own.
    let Ok(open) = std::fs::read_dir(format!("/proc/{worker}/fd")) else {
        return note_skipped("the files of the images of a worker", CLOSED);
    };
    let images = open
        .map(|entry| entry.unwrap().path())
        .filter(|path| std::fs::read_link(path).unwrap().to_string_lossy().starts_with("/memfd:guest"));
    let mut found = 0;
    for image in images {
        found += 1;
        let written = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&image)
            .and_then(|file| std::os::unix::fs::FileExt::write_at(&file, b"a", 0));
        assert_eq!(written.err().and_then(|error| error.raw_os_error()), Some(nix::libc::EPERM));
        let file = std::fs::OpenOptions::new().read(true).open(&image).unwrap();
        let seals = nix::fcntl::fcntl(&file, nix::fcntl::FcntlArg::F_GET_SEALS).unwrap();
        let all = nix::libc::F_SEAL_WRITE | nix::libc::F_SEAL_GROW | nix::libc::F_SEAL_SHRINK | nix::libc::F_SEAL_SEAL;
        assert_eq!(seals & all, all);
    }
    assert_eq!(found, 1);
    works(jail);
}

#[test]
fn a_call_at_the_limit_of_memory_fits_into_the_address_space_of_a_worker() {
    let source = "const execute = ({ n }) => { const all = []; for (let i = 0; i < n; i++) all.push(new Uint8Array(1 << 20).fill(1)); \
        return all.length }";
    // On the bounds-checked image, memory moves as it grows and is copied each time.
    for (kind, mebibytes) in [(ImageKind::Roomy, 900), (ImageKind::Bounded, 150)] {
        let mut fixture = SandboxFixture::new().script(source);
        fixture.budget.memory = 1 << 30;
        let report = fixture.run_in(jail_with(kind), &format!("{{\"n\":{mebibytes}}}"));
        assert_eq!(returned(&report), mebibytes.to_string(), "{kind:?}");
    }
}

#[test]
fn a_worker_that_is_killed_in_a_call_is_replaced() {
    let jail = jail();
    let first = worker(&jail);
    let outcome = run_begins(&jail, 30_000, move || kill(first, nix::sys::signal::SIGKILL), &CancelToken::new());
    let Outcome::Stopped(Stop::WorkerDied { detail }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(detail, "it was killed by signal 9 (SIGKILL)");
    works(&jail);
    assert_ne!(worker(&jail), first);
}

#[test]
fn a_worker_that_died_while_it_had_nothing_to_do_is_not_missed() {
    let jail = jail();
    let first = worker(&jail);
    kill(first, nix::sys::signal::SIGKILL);
    processes::wait_for_its_end(first);
    works(&jail);
    assert_ne!(worker(&jail), first);
}

#[test]
fn a_worker_that_does_not_answer_is_ended() {
    let jail = jail();
    let first = worker(&jail);
    let outcome = run_begins(&jail, 100, move || kill(first, nix::sys::signal::SIGSTOP), &CancelToken::new());
    assert_eq!(outcome, Outcome::Stopped(Stop::Deadline { limit: Duration::from_millis(100) }));
    works(&jail);
    assert_ne!(worker(&jail), first);
}

#[test]
fn a_call_that_is_over_ends_by_itself_and_its_worker_has_the_next() {
    let jail = jail();
    let first = worker(&jail);
    let cancel = CancelToken::new();
    let cancelling = cancel.clone();
    assert_eq!(run_begins(&jail, 30_000, move || cancelling.cancel(), &cancel), Outcome::Stopped(Stop::Cancelled));
    works(&jail);
    let deadline = Stop::Deadline { limit: Duration::from_millis(50) };
    assert_eq!(run_begins(&jail, 50, || (), &CancelToken::new()), Outcome::Stopped(deadline));
    works(&jail);
    assert_eq!(worker(&jail), first);
}

#[test]
fn a_call_that_reports_without_end_is_cancelled() {
    let jail = jail();
    let first = worker(&jail);
    let cancel = CancelToken::new();
    let cancelling = cancel.clone();
    let sink: PartialResultSink = std::sync::Arc::new(move |_: &str| cancelling.cancel());
    let source = BEGINS.replace("for (;;) ;", "for (;;) onUpdate('again');");
    let mut fixture =
        SandboxFixture::new().script(&source).fuel(1_000_000_000_000_000).timeout(600_000).cancelled_by(&cancel);
    fixture.run.partial_sink = Some(&sink);
    // The host is never without a message of the worker: that must not keep it from cancelling.
    assert_eq!(fixture.run_in(&jail, "{}").outcome, Outcome::Stopped(Stop::Cancelled));
    works(&jail);
    assert_eq!(worker(&jail), first);
}

#[test]
fn what_is_kept_in_one_worker_is_evaluated_in_another() {
    let jail = jail();
    for source in
        ["const at = 1; const execute = () => [at, 1]", "const at = Date.now(); const execute = () => [at, 1]"]
    {
        let fixture = SandboxFixture::new().script(source);
        let toolcell_host::PrepareResult::Ready(prepared) = fixture.prepare_in(&jail) else { panic!("it loads") };
        let call = || {
            let params = toolcell_host::Params::default();
            jail.call(&prepared, &params, &fixture.budget, &fixture.run).unwrap()
        };
        let first = call();
        let worker = worker(&jail);
        kill(worker, nix::sys::signal::SIGKILL);
        processes::wait_for_its_end(worker);
        let second = call();
        assert_eq!(same::facts(first), same::facts(second), "{source}");
    }
}

#[test]
fn a_hundred_calls_leave_nothing_behind() {
    let jail = jail();
    works(&jail);
    let before = (jail.idle_workers(), processes::descriptors(worker(&jail)));
    for _ in 0..100 {
        works(&jail);
    }
    assert_eq!((jail.idle_workers(), processes::descriptors(worker(&jail))), before);
    assert_eq!(threads(worker(&jail)), 1);
}

#[test]
fn a_program_that_does_not_serve_is_no_worker() {
    let new = |program: &str| {
        let config = SandboxOptions { slots: 1, ..SandboxOptions::default() };
        Jail::new(&config, Program::Other(program.into())).err().unwrap()
    };
    let ends = new("/bin/true");
    assert_eq!(ends.code(), "no-worker");
    assert!(ends.to_string().ends_with("does not act as a worker: it exited with status 0"), "{ends}");
    assert!(ends.hint().contains("serve_if_worker"), "{}", ends.hint());
    let missing = new("/nothing/there");
    assert!(missing.code() == "no-worker" && missing.to_string().contains("No such file"), "{missing}");
    let config = SandboxOptions { slots: 0, ..SandboxOptions::default() };
    assert_eq!(Jail::new(&config, Program::Other(binary())).err().unwrap().code(), "limit-invalid");
}

#[test]
fn a_wait_ends_at_the_deadline_that_the_host_measures() {
    let jail = jail_with(ImageKind::Roomy);
    // A worker that must first read so many parameters starts its clock later than the host.
    let params = json!({ "text": "a".repeat(4 << 20) }).to_string();
    let waits = "const execute = () => new Promise((done) => setTimeout(done, 1e6))";
    let fixture = SandboxFixture::new().script(waits).operations(&toolcell_host::Timers).timeout(100);
    for _ in 0..5 {
        assert_eq!(
            fixture.run_in(jail, &params).outcome,
            Outcome::Stopped(Stop::Deadline { limit: Duration::from_millis(100) })
        );
    }
}

#[test]
fn a_program_that_says_what_no_worker_says_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    // The worker's standard input is the channel; its other streams are `/dev/null`.
    for (says, expect) in [
        (r"\377\377\377\377", "it announced a frame of 4294967295 bytes, the limit is 65536"),
        (r"\001\000\000\000\143", "it sent an invalid frame"),
        (r"\001\000\000\000\003", "has another version"),
    ] {
        let program = folder.path().join("worker");
        std::fs::write(&program, format!("#!/bin/sh\nprintf '{says}' >&0\nexec sleep 60\n")).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let config = SandboxOptions { slots: 1, ..SandboxOptions::default() };
        let error = Jail::new(&config, Program::Other(program)).err().unwrap();
        assert!(error.code() == "no-worker" && error.to_string().ends_with(expect), "{error}");
    }
}

#[test]
fn a_toolbox_in_a_jail_says_what_is_around_it() {
    let host = ToolboxFixture::with_policy("[approval]\nmode = \"auto\"").in_jail();
    assert!(host.toolbox().confinement().is_some());
    host.create(&json!({ "name": "sum", "description": "a tool", "code": "const execute = ({ a, b }) => a + b" }))
        .unwrap();
    assert_eq!(returned_value(&host.run("sum", &json!({ "a": 1, "b": 2 })).unwrap()), json!(3));
}

#[test]
fn the_command_line_has_it_as_one_switch() {
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("sum.js");
    std::fs::write(&tool, "const execute = ({ a, b }) => a + b").unwrap();
    let exec = |words: &[&str], jail: Option<&str>| {
        let mut command = Command::new(binary());
        command
            .arg("--dir")
            .arg(folder.path())
            .arg("exec")
            .arg(&tool)
            .arg(SUM.0)
            .args(words)
            .env_remove("TOOLCELL_JAIL");
        command.envs(jail.map(|value| ("TOOLCELL_JAIL", value)));
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        serde_json::from_slice::<serde_json::Value>(&done.stdout).unwrap()
    };
    let plain = exec(&["--json"], None);
    for (words, jail) in [(&["--json", "--jail"][..], None), (&["--json"][..], Some("1"))] {
        let jailed = exec(words, jail);
        assert_eq!((&jailed["value"], &jailed["fuel"]), (&plain["value"], &plain["fuel"]));
    }
    // A profile is the same there.
    let profile = |name: &str, value: &str| {
        let mut command = Command::new(binary());
        command.arg("--dir").arg(folder.path()).arg("profile").arg(&tool).args([SUM.0, "--json"]);
        command.env_remove("TOOLCELL_JAIL").env(name, value).output().unwrap()
    };
    let (jailed, plain) = (profile("TOOLCELL_JAIL", "1"), profile("TOOLCELL_JAIL", "0"));
    assert!(jailed.status.success() && jailed.stdout == plain.stdout && !plain.stdout.is_empty(), "{jailed:?}");
    // A worker has one thread, which shows where a call runs.
    let is_jailed = |value: &str| {
        let mut command = Command::new(binary());
        let said = command.args(["doctor", "--json"]).env("TOOLCELL_JAIL", value).output().unwrap();
        String::from_utf8_lossy(&said.stdout).contains(r#""interruption":"fuel-slices""#)
    };
    for (values, expect) in [(&["1", "true", "YES", "on"][..], true), (&["0", "false", "No", "off", ""], false)] {
        for value in values {
            assert_eq!(is_jailed(value), expect, "{value}");
        }
    }
    // A value that is not understood runs nothing: neither with the jail nor without it.
    for (name, value) in [("TOOLCELL_JAIL", "maybe"), ("TOOLCELL_JAIL", "2"), ("TOOLCELL_LANG", "klingon")] {
        let refused = profile(name, value);
        let error: serde_json::Value = serde_json::from_slice(&refused.stdout).unwrap();
        assert_eq!((refused.status.code(), &error["error"]["code"]), (Some(2), &json!("usage")), "{error}");
        assert!(error["error"]["message"].as_str().unwrap().contains(&format!("{name} is `{value}`")), "{error}");
    }
    // Commands without the option may run tools too: to find out whether two are equivalent.
    for words in [&["retire", "--dry-run"][..], &["import", "none.bundle"], &["doctor"]] {
        std::fs::write(folder.path().join("none.bundle"), "").unwrap();
        let mut command = Command::new(binary());
        command.current_dir(folder.path()).arg("--dir").arg(folder.path().join("store")).args(words);
        let refused = command.env("TOOLCELL_JAIL", "maybe").output().unwrap();
        let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && errors.contains("TOOLCELL_JAIL is `maybe`"), "{words:?}: {errors}");
    }
    let doctor = Command::new(binary()).arg("--dir").arg(folder.path()).args(["doctor", "--json"]).output().unwrap();
    let doctor: serde_json::Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert_eq!(doctor["jail"]["works"], json!(true), "{doctor}");
}

#[test]
fn every_command_refuses_a_switch_that_is_neither_on_nor_off_and_repeats_little_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str], value: &str| {
        let mut command = Command::new(binary());
        command.current_dir(folder.path()).arg("--dir").arg(folder.path().join("store")).args(words);
        command.env("TOOLCELL_LANG", "en").env("TOOLCELL_JAIL", value).output().unwrap()
    };
    let message = |words: &[&str], value: &str| {
        let refused = run(words, value);
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {refused:?}");
        String::from_utf8(refused.stderr).unwrap()
    };
    for words in
        [&["list"][..], &["suspended"], &["fsck"], &["check", "none.ts"], &["test", "none"], &["config", "schema"]]
    {
        assert!(message(words, "maybe").contains("TOOLCELL_JAIL is `maybe`"), "{words:?}");
    }
    // These describe the program, whatever the environment says.
    for words in [&["--help"][..], &["--version"], &["list", "--help"], &["completions", "bash"], &["man"]] {
        assert!(run(words, "maybe").status.success(), "{words:?}");
    }
    let long = message(&["list"], &format!("\u{1b}[2J{}", "x".repeat(120_000)));
    assert!(long.contains("TOOLCELL_JAIL is `\\u{1b}[2Jxxx") && long.contains("xxx…`"), "{long}");
    assert!(long.len() < 400, "{} bytes", long.len());
}
