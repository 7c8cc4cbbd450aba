//! Faults of the host around a store: locks that nobody gives up, full and read-only disks, clocks, and files that do not belong
//! there. What is asked for works or says what is in its way, and nobody waits for ever.
#![expect(clippy::disallowed_types, reason = "locks are held and files are planted")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use nix::sys::stat::Mode;
use serde_json::Value;
use toolcell::store::audit::{Action, Attempt, Filter, Order};
use toolcell::store::{Mending, Settings, Store, WhenTaken, fsck};

use super::process::{Watchdog, pid};
use crate::mcp::home::binary;
use crate::shelf::{Shelf, made, returns};

/// A policy that grants a space of keys and values without an approval.
const WITH_NOTES: &str = "[approval]\nmode = \"auto\"\n[grants.default.kv]\nspace = \"notes\"\n";

/// A folder with a store in it, and the commands that work on that.
struct Bench {
    folder: tempfile::TempDir,
    policy: String,
}

#[derive(Debug)]
struct Said {
    status: i32,
    out: String,
    errors: String,
}

impl Bench {
    fn new() -> Self {
        Self::under("")
    }

    fn under(policy: &str) -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap(), policy: policy.to_owned() };
        fs::write(bench.path("policy.toml"), policy).unwrap();
        fs::write(bench.path("one.ts"), returns(1)).unwrap();
        fs::write(bench.path("two.ts"), returns(2)).unwrap();
        bench
    }

    /// One with a tool in its store.
    fn with_a() -> Self {
        let bench = Self::new();
        bench.done(&["create", &bench.file("one.ts"), "--name", "a", "--description", "a tool"]);
        bench
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn file(&self, below: &str) -> String {
        self.path(below).display().to_string()
    }

    fn rule(&mut self, policy: &str) {
        policy.clone_into(&mut self.policy);
        fs::write(self.path("policy.toml"), policy).unwrap();
    }

    fn say(&self, words: &[&str]) -> Said {
        self.say_in(&self.path("store"), words)
    }

    /// Runs a command. Where it does not end, the test fails.
    fn say_in(&self, store: &Path, words: &[&str]) -> Said {
        let mut command = Command::new(binary());
        command.args(["--lang", "en", "--no-project", "--config"]).arg(self.path("policy.toml"));
        command.arg("--dir").arg(store).args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        let watchdog = Watchdog::of(pid(&child));
        let output = child.wait_with_output().unwrap();
        watchdog.call_off();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let status = output.status.code().unwrap();
        Said { status, out: text(output.stdout), errors: text(output.stderr) }
    }

    #[track_caller]
    fn done(&self, words: &[&str]) -> String {
        let said = self.say(words);
        assert_eq!(said.status, 0, "{words:?}: {said:?}");
        said.out
    }
}

#[test]
fn who_runs_a_tool_while_the_index_is_locked_has_the_result_and_is_told() {
    let bench = Bench::with_a();
    let lock = File::open(bench.path("store/writer")).unwrap();
    lock.lock().unwrap();
    let started = Instant::now();
    let said = bench.say(&["run", "a"]);
    assert_eq!((said.status, said.out.as_str()), (0, "1\n"), "{said:?}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert!(said.errors.contains("warning: runs are in their journal"), "{said:?}");
    drop(lock);
    // The next who opens the store takes it over.
    assert!(bench.done(&["--json", "list"]).contains("\"usageCount\":1"));
}

#[test]
fn a_log_that_somebody_has_locked_holds_up_nobody_for_long_and_is_no_damage() {
    let bench = Bench::with_a();
    let lock = File::open(bench.path("store/logs/dynamic-tools-audit.head")).unwrap();
    lock.lock().unwrap();
    let said = bench.say(&["run", "a"]);
    assert_eq!((said.status, said.out.as_str()), (0, "1\n"), "{said:?}");
    assert!(said.errors.contains("another process has locked the audit log"), "{said:?}");
    let said = bench.say(&["delete", "a", "--confirm"]);
    assert_eq!(said.status, 0, "{said:?}");
    let said = bench.say(&["doctor"]);
    assert_eq!(said.status, 5, "{said:?}");
    assert!(said.out.contains("not looked at: another process has locked the audit log"), "{said:?}");
    drop(lock);
    // The next who opens the store appends what waits.
    bench.done(&["list"]);
    assert_eq!(bench.done(&["audit", "--action", "run_dynamic_tool"]).lines().count(), 1);
    assert_eq!(bench.done(&["audit", "--action", "delete_dynamic_tool"]).lines().count(), 1);
    bench.done(&["audit", "verify"]);
}

#[test]
fn a_run_that_cannot_be_recorded_runs_where_the_policy_says_so_and_says_it() {
    let mut bench = Bench::with_a();
    bench.rule(WITH_NOTES);
    let counts =
        "const execute = async () => { const n = ((await kv.get('k')) ?? 0) + 1; await kv.set('k', n); return n }";
    fs::write(bench.path("counts.ts"), counts).unwrap();
    let file = bench.file("counts.ts");
    bench.done(&["create", &file, "--name", "counts", "--description", "a tool", "--capabilities", "kv"]);
    assert_eq!(bench.done(&["run", "counts"]), "1\n");
    // No journal can be made: the folder is a file.
    let _ = fs::remove_dir_all(bench.path("store/running"));
    fs::write(bench.path("store/running"), "").unwrap();
    for name in ["a", "counts"] {
        let said = bench.say(&["run", name]);
        assert!(said.status != 0 && said.out.is_empty(), "{said:?}");
    }
    bench.rule(&format!("{WITH_NOTES}[audit]\nrequired = false\n"));
    assert_eq!(bench.done(&["run", "counts"]), "2\n", "what was refused wrote nothing");
    let said = bench.say(&["run", "a"]);
    assert_eq!((said.status, said.out.as_str()), (0, "1\n"), "{said:?}");
    assert!(said.errors.contains("warning: this run is not recorded"), "{said:?}");
    let json: Value = serde_json::from_str(&bench.done(&["--json", "run", "a"])).unwrap();
    assert!(json["unrecorded"].is_string() && json["record"].is_null(), "{json}");
}

#[cfg(target_os = "linux")]
mod mounted {
    use nix::errno::Errno;
    use nix::mount::{MntFlags, MsFlags, mount, umount2};

    use super::*;

    /// Something that is mounted while a test works.
    struct Mount(PathBuf);

    impl Mount {
        /// None where this process must not mount.
        fn new(from: &Path, at: &Path, kind: Option<&str>, flags: MsFlags, options: Option<&str>) -> Option<Self> {
            match mount(Some(from), at, kind, flags, options) {
                Ok(()) => Some(Self(at.to_owned())),
                Err(error) => {
                    assert!(matches!(error, Errno::EPERM | Errno::EACCES), "{error}");
                    None
                }
            }
        }
    }

    impl Drop for Mount {
        fn drop(&mut self) {
            let _ = umount2(&self.0, MntFlags::MNT_DETACH);
        }
    }

    #[test]
    fn on_a_full_disk_tools_are_listed_shown_deleted_and_collected() {
        let bench = Bench::new();
        let disk = bench.path("disk");
        fs::create_dir(&disk).unwrap();
        let (kind, options) = (Some("tmpfs"), Some("size=2m,mode=700"));
        let Some(_disk) = Mount::new(Path::new("none"), &disk, kind, MsFlags::empty(), options) else { return };
        let store = disk.join("store");
        let say = |words: &[&str]| bench.say_in(&store, words);
        for name in ["a", "b"] {
            let said = say(&["create", &bench.file("one.ts"), "--name", name, "--description", "a tool"]);
            assert_eq!(said.status, 0, "{said:?}");
        }
        // The last bytes as well: a file of the log has room in its last page.
        let filled = fs::write(disk.join("ballast"), vec![1; 4 << 20]);
        assert_eq!(filled.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
        for _ in 0..40 {
            let said = say(&["list"]);
            assert_eq!(said.status, 0, "{said:?}");
        }
        let said = say(&["list"]);
        assert!(said.out.contains("a tool") && said.errors.contains("warning: "), "{said:?}");
        for words in [["show", "a"].as_slice(), &["search", "tool"], &["fsck"]] {
            let said = say(words);
            assert_eq!(said.status, 0, "{words:?}: {said:?}");
        }
        assert_eq!(say(&["run", "a"]).status, 5, "a run that cannot be recorded does not start");
        let said = say(&["delete", "a", "--confirm"]);
        assert_eq!(said.status, 0, "{said:?}");
        assert!(!say(&["list"]).out.contains("a  "), "it is gone");
        let said = say(&["gc", "--older-than", "0s"]);
        assert_eq!(said.status, 0, "{said:?}");
        fs::remove_file(disk.join("ballast")).unwrap();
        assert_eq!(say(&["run", "b"]).out, "1\n");
        assert_eq!(say(&["audit", "--action", "delete_dynamic_tool"]).out.lines().count(), 1);
        let verified = say(&["audit", "verify"]);
        assert_eq!(verified.status, 0, "{verified:?}");
        assert_eq!(say(&["fsck"]).status, 0);
    }

    #[test]
    fn a_read_only_store_names_the_way_out_and_an_unrecorded_run_says_that_it_is_one() {
        let mut bench = Bench::with_a();
        let store = bench.path("store");
        let at = bench.path("ro");
        fs::create_dir(&at).unwrap();
        let Some(_bound) = Mount::new(&store, &at, None, MsFlags::MS_BIND, None) else { return };
        let read_only = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
        mount(None::<&Path>, &at, None::<&str>, read_only, None::<&str>).unwrap();
        let said = bench.say_in(&at, &["run", "a"]);
        assert!(said.status == 2 && said.errors.contains("`audit.required = false`"), "{said:?}");
        let doctor = bench.say_in(&at, &["doctor"]);
        assert!(doctor.out.contains("`audit.required = false`"), "{doctor:?}");
        bench.rule("[audit]\nrequired = false\n");
        let said = bench.say_in(&at, &["run", "a"]);
        assert_eq!((said.status, said.out.as_str()), (0, "1\n"), "{said:?}");
        assert!(said.errors.contains("warning: this run is not recorded"), "{said:?}");
    }
}

#[test]
fn an_import_obeys_the_policy() {
    let from = Bench::new();
    for (name, number) in [("b", 3), ("c", 4), ("d", 5)] {
        fs::write(from.path("t.ts"), returns(number)).unwrap();
        from.done(&["create", &from.file("t.ts"), "--name", name, "--description", "a tool"]);
    }
    from.done(&["export", "-o", &from.file("all.bundle")]);
    let bundle = from.file("all.bundle");
    let check = |policy: &str, code: &str| {
        let bench = Bench::under(policy);
        let said = bench.say(&["--json", "import", &bundle]);
        let json: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(json["error"]["code"], code, "{said:?}");
        let listed: Value = serde_json::from_str(&bench.done(&["--json", "list"])).unwrap();
        assert_eq!(listed["total"], 0, "nothing is taken in");
        assert_eq!(bench.done(&["audit", "--action", "import"]).lines().count(), 1);
    };
    check("[store]\ntools = 2\n", "tool-limit-reached");
    check("[names]\nreserved = [\"c\"]\n", "name-reserved");
    let same = Bench::under("[store]\nduplicates = \"refuse\"\n");
    fs::write(same.path("t.ts"), returns(4)).unwrap();
    same.done(&["create", &same.file("t.ts"), "--name", "mine", "--description", "a tool"]);
    let said = same.say(&["--json", "import", &bundle]);
    assert!(said.out.contains("tool-duplicate") && said.out.contains("mine"), "{said:?}");
}

#[test]
fn a_pipe_in_the_place_of_a_file_holds_up_nobody() {
    for name in ["index.sqlite", "index.sqlite-wal", "toolcell-store", "lock", "writer", "secret", "rebuilding"] {
        let bench = Bench::with_a();
        let path = bench.path("store").join(name);
        let _ = fs::remove_file(&path);
        nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
        for words in [["list"].as_slice(), &["fsck"], &["fsck", "--repair"]] {
            // It ends, whatever it says.
            bench.say(words);
        }
        if name == "index.sqlite" {
            assert_eq!(bench.done(&["run", "a"]), "1\n");
        }
    }
}

#[test]
fn the_index_is_read_by_nobody_else_also_in_a_folder_that_was_there_before() {
    let bench = Bench::new();
    fs::create_dir(bench.path("store")).unwrap();
    fs::set_permissions(bench.path("store"), fs::Permissions::from_mode(0o755)).unwrap();
    let store = Store::open(&bench.path("store"), &Settings::default()).unwrap();
    let is_private = |name: &str| {
        let mode = bench.path("store").join(name).metadata().unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    };
    ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"].into_iter().for_each(is_private);
    drop(store);
    // That of an older version is seen to when it is opened.
    let index = bench.path("store/index.sqlite");
    fs::set_permissions(&index, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Store::open(&bench.path("store"), &Settings::default()).unwrap());
    is_private("index.sqlite");
}

#[test]
fn gc_passes_over_what_is_none_of_its_own_and_says_what_it_collected() {
    let bench = Bench::with_a();
    bench.done(&["delete", "a", "--confirm"]);
    let folder = bench.path("store/tmp/folder");
    fs::create_dir(&folder).unwrap();
    let old = SystemTime::now() - Duration::from_secs(100_000);
    File::open(&folder).unwrap().set_modified(old).unwrap();
    let out = bench.done(&["gc", "--older-than", "0s"]);
    assert!(out.contains("collected a (") && folder.exists(), "{out}");
}

#[test]
fn a_name_that_is_no_text_among_the_objects_is_put_aside() {
    let bench = Bench::with_a();
    let odd = OsStr::from_bytes(b"\xff\xfe");
    fs::write(bench.path("store/objects").join(odd), "x").unwrap();
    let folder =
        fs::read_dir(bench.path("store/objects")).unwrap().find(|entry| entry.as_ref().unwrap().path().is_dir());
    fs::write(folder.unwrap().unwrap().path().join(odd), "x").unwrap();
    assert_eq!(bench.say(&["fsck"]).status, 6);
    assert_eq!(bench.say(&["fsck", "--repair"]).status, 0);
    assert!(bench.done(&["fsck"]).contains("all is well"));
    assert_eq!(bench.done(&["run", "a"]), "1\n");
}

#[test]
fn a_folder_that_is_called_as_a_piece_of_the_log_stops_no_audit() {
    let bench = Bench::with_a();
    fs::create_dir(bench.path("store/logs/dynamic-tools-audit.000900.jsonl")).unwrap();
    assert_eq!(bench.done(&["audit"]).lines().count(), 1);
    bench.done(&["audit", "verify"]);
}

#[test]
fn format_0_is_told_as_no_format_and_not_as_a_newer_one() {
    let bench = Bench::with_a();
    fs::write(bench.path("store/toolcell-store"), "toolcell store, format 0\n").unwrap();
    let said = bench.say(&["list"]);
    assert!(said.errors.contains("says format 0, which no version wrote"), "{said:?}");
}

#[test]
fn the_index_knows_how_far_the_log_went_and_a_verification_tells_what_was_lost() {
    let mut shelf = Shelf::kept(Settings::default());
    shelf.tool("a", &returns(1));
    let at = shelf.now();
    for _ in 0..3 {
        shelf.store().log(&Attempt::new(Action::ListDynamicTools, at)).unwrap();
    }
    shelf.tool("b", &returns(2));
    shelf.close();
    let log = shelf.path().join("logs");
    for entry in fs::read_dir(&log).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    shelf.reopen();
    let verdict = shelf.store().audit().verify(None).unwrap();
    assert_eq!(verdict.problems.iter().map(|problem| problem.what.code()).collect::<Vec<_>>(), ["lost-end"]);
    // What is appended next does not cover it up.
    shelf.store().log(&Attempt::new(Action::ListDynamicTools, at)).unwrap();
    let verdict = shelf.store().audit().verify(None).unwrap();
    assert!(!verdict.is_clean() && verdict.head.unwrap().seq() == 4, "{verdict:?}");
}

#[test]
fn lines_of_changes_that_a_loss_of_power_took_from_the_log_are_appended_again_once() {
    let shelf = Shelf::kept(Settings::default());
    let at = shelf.now();
    let made = made("a", &returns(1));
    let registration = toolcell::store::Registration { spec: &made.spec, notes: &made.notes, scores: made.scores, at };
    shelf.store().change(Attempt::new(Action::CreateTool, at)).put(&registration, WhenTaken::Refuse).unwrap();
    // As the disk may be after a loss of power: the index was synced, and the log was not.
    let copy = tempfile::tempdir().unwrap();
    super::start::copy(shelf.path(), copy.path());
    for entry in fs::read_dir(copy.path().join("logs")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for _ in 0..2 {
        let store = Store::open_existing(copy.path(), &Settings::default()).unwrap();
        let lines: Vec<_> = store.audit().query(Filter::default(), Order::OldestFirst).unwrap().collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(store.audit().verify(None).unwrap().is_clean());
    }
}

#[test]
fn a_tool_whose_object_is_gone_or_was_refused_is_listed_as_quarantined() {
    let statuses = |bench: &Bench| bench.done(&["--json", "list"]).matches("quarantined").count();
    let bench = Bench::with_a();
    // Until its objects are synced, the index can make them again.
    let connection_of_another = bench.done(&["fsck", "--repair"]);
    assert!(connection_of_another.contains("all is well"));
    let mut shelf = Shelf::new();
    shelf.tool("a", &returns(1));
    let object = shelf.source_object(&returns(1));
    let dir = shelf.dir().to_owned();
    shelf.close();
    fs::remove_file(&object).unwrap();
    let listed = bench.say_in(Path::new(&dir), &["--json", "list"]);
    assert!(listed.out.contains("quarantined"), "{listed:?}");
    fs::write(&object, returns(2)).unwrap();
    assert!(!bench.say_in(Path::new(&dir), &["--json", "list"]).out.contains("quarantined"));
    assert_eq!(bench.say_in(Path::new(&dir), &["run", "a"]).status, 6);
    assert!(bench.say_in(Path::new(&dir), &["--json", "list"]).out.contains("quarantined"));
    fs::remove_file(&object).unwrap();
    fs::write(&object, returns(1)).unwrap();
    assert!(!bench.say_in(Path::new(&dir), &["--json", "list"]).out.contains("quarantined"));
    assert_eq!(statuses(&bench), 0);
}

#[test]
fn the_last_second_of_the_calendar_is_stored_and_read() {
    let mut shelf = Shelf::kept(Settings::default());
    let at = jiff::Timestamp::MAX;
    let made = made("a", &returns(1));
    let registration = toolcell::store::Registration { spec: &made.spec, notes: &made.notes, scores: made.scores, at };
    shelf.store().put(&registration, WhenTaken::Refuse).unwrap();
    shelf.reopen();
    assert_eq!(shelf.store().list(&toolcell::store::Filter::default()).unwrap().total, 1);
    assert!(toolcell::now() <= at);
    shelf.close();
    assert!(fsck(shelf.path(), Mending::Look).unwrap().is_good());
}
