//! Faults of the host: locks that are never released, full and read-only disks, clocks, and foreign
//! files in the store. Commands work or report the obstacle, and none waits forever.
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
use toolcell::store::audit::{Action, AuditEvent, AuditFilter, AuditOrder};
use toolcell::store::{OnConflict, RepairMode, Settings, Store, fsck};

use super::process::{Watchdog, pid};
use crate::fixtures::store::{StoreFixture, returns, sample_tool};
use crate::mcp::server::binary;

/// A policy that grants a key-value space without an approval.
const WITH_NOTES: &str = "[approval]\nmode = \"auto\"\n[grants.default.kv]\nspace = \"notes\"\n";

/// A folder with a store, and the commands on it.
struct MaintenanceFixture {
    folder: tempfile::TempDir,
    policy: String,
}

#[derive(Debug)]
struct CommandResult {
    status: i32,
    out: String,
    errors: String,
}

impl MaintenanceFixture {
    fn new() -> Self {
        Self::with_policy("")
    }

    fn with_policy(policy: &str) -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap(), policy: policy.to_owned() };
        fs::write(bench.path("policy.toml"), policy).unwrap();
        fs::write(bench.path("one.ts"), returns(1)).unwrap();
        fs::write(bench.path("two.ts"), returns(2)).unwrap();
        bench
    }

    /// Creates a fixture whose store has one tool.
    fn with_a() -> Self {
        let bench = Self::new();
        bench.run_ok(&["create", &bench.file("one.ts"), "--name", "a", "--description", "a tool"]);
        bench
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn file(&self, below: &str) -> String {
        self.path(below).display().to_string()
    }

    fn set_policy(&mut self, policy: &str) {
        policy.clone_into(&mut self.policy);
        fs::write(self.path("policy.toml"), policy).unwrap();
    }

    fn run_command(&self, words: &[&str]) -> CommandResult {
        self.run_command_in(&self.path("store"), words)
    }

    /// Runs a command. The test fails if it does not exit.
    fn run_command_in(&self, store: &Path, words: &[&str]) -> CommandResult {
        let mut command = Command::new(binary());
        command.args(["--lang", "en", "--no-project", "--config"]).arg(self.path("policy.toml"));
        command.arg("--dir").arg(store).args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        let watchdog = Watchdog::start(pid(&child));
        let output = child.wait_with_output().unwrap();
        watchdog.disarm();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let status = output.status.code().unwrap();
        CommandResult { status, out: text(output.stdout), errors: text(output.stderr) }
    }

    #[track_caller]
    fn run_ok(&self, words: &[&str]) -> String {
        let done = self.run_command(words);
        assert_eq!(done.status, 0, "{words:?}: {done:?}");
        done.out
    }
}

#[test]
fn who_runs_a_tool_while_the_index_is_locked_has_the_result_and_is_told() {
    let bench = MaintenanceFixture::with_a();
    let lock = File::open(bench.path("store/writer")).unwrap();
    lock.lock().unwrap();
    let started = Instant::now();
    let done = bench.run_command(&["run", "a"]);
    assert_eq!((done.status, done.out.as_str()), (0, "1\n"), "{done:?}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert!(done.errors.contains("warning: finished runs are in the journal"), "{done:?}");
    drop(lock);
    // The next process to open the store takes it over.
    assert!(bench.run_ok(&["--json", "list"]).contains("\"usageCount\":1"));
}

#[test]
fn a_log_that_somebody_has_locked_holds_up_nobody_for_long_and_is_no_damage() {
    let bench = MaintenanceFixture::with_a();
    let lock = File::open(bench.path("store/logs/dynamic-tools-audit.head")).unwrap();
    lock.lock().unwrap();
    let done = bench.run_command(&["run", "a"]);
    assert_eq!((done.status, done.out.as_str()), (0, "1\n"), "{done:?}");
    assert!(done.errors.contains("another process holds the lock on the audit log"), "{done:?}");
    let done = bench.run_command(&["delete", "a", "--confirm"]);
    assert_eq!(done.status, 0, "{done:?}");
    let done = bench.run_command(&["doctor"]);
    assert_eq!(done.status, 5, "{done:?}");
    assert!(done.out.contains("another process holds the lock on the audit log"), "{done:?}");
    drop(lock);
    // The next process to open the store appends the pending lines.
    bench.run_ok(&["list"]);
    assert_eq!(bench.run_ok(&["audit", "--action", "run_dynamic_tool"]).lines().count(), 1);
    assert_eq!(bench.run_ok(&["audit", "--action", "delete_dynamic_tool"]).lines().count(), 1);
    bench.run_ok(&["audit", "verify"]);
}

#[test]
fn a_run_that_cannot_be_recorded_runs_where_the_policy_says_so_and_says_it() {
    let mut bench = MaintenanceFixture::with_a();
    bench.set_policy(WITH_NOTES);
    let counts =
        "const execute = async () => { const n = ((await kv.get('k')) ?? 0) + 1; await kv.set('k', n); return n }";
    fs::write(bench.path("counts.ts"), counts).unwrap();
    let file = bench.file("counts.ts");
    bench.run_ok(&["create", &file, "--name", "counts", "--description", "a tool", "--capabilities", "kv"]);
    assert_eq!(bench.run_ok(&["run", "counts"]), "1\n");
    // No journal can be created, because the folder is a file.
    let _ = fs::remove_dir_all(bench.path("store/running"));
    fs::write(bench.path("store/running"), "").unwrap();
    for name in ["a", "counts"] {
        let done = bench.run_command(&["run", name]);
        assert!(done.status != 0 && done.out.is_empty(), "{done:?}");
    }
    bench.set_policy(&format!("{WITH_NOTES}[audit]\nrequired = false\n"));
    assert_eq!(bench.run_ok(&["run", "counts"]), "2\n", "what was refused wrote nothing");
    let done = bench.run_command(&["run", "a"]);
    assert_eq!((done.status, done.out.as_str()), (0, "1\n"), "{done:?}");
    assert!(done.errors.contains("warning: this run was not fully recorded"), "{done:?}");
    let json: Value = serde_json::from_str(&bench.run_ok(&["--json", "run", "a"])).unwrap();
    assert!(json["unrecorded"].is_string() && json["record"].is_null(), "{json}");
}

#[cfg(target_os = "linux")]
mod mounted {
    use nix::errno::Errno;
    use nix::mount::{MntFlags, MsFlags, mount, umount2};

    use super::*;

    /// A file system that is mounted during a test.
    struct Mount(PathBuf);

    impl Mount {
        /// Mounts it; `None` without the privilege to mount.
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
        let bench = MaintenanceFixture::new();
        let disk = bench.path("disk");
        fs::create_dir(&disk).unwrap();
        let (kind, options) = (Some("tmpfs"), Some("size=2m,mode=700"));
        let Some(_disk) = Mount::new(Path::new("none"), &disk, kind, MsFlags::empty(), options) else { return };
        let store = disk.join("store");
        let say = |words: &[&str]| bench.run_command_in(&store, words);
        for name in ["a", "b"] {
            let done = say(&["create", &bench.file("one.ts"), "--name", name, "--description", "a tool"]);
            assert_eq!(done.status, 0, "{done:?}");
        }
        // Fill the last bytes too: the last page of a log file has room.
        let filled = fs::write(disk.join("ballast"), vec![1; 4 << 20]);
        assert_eq!(filled.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
        for _ in 0..40 {
            let done = say(&["list"]);
            assert_eq!(done.status, 0, "{done:?}");
        }
        let done = say(&["list"]);
        assert!(done.out.contains("a tool") && done.errors.contains("warning: "), "{done:?}");
        for words in [["show", "a"].as_slice(), &["search", "tool"], &["fsck"]] {
            let done = say(words);
            assert_eq!(done.status, 0, "{words:?}: {done:?}");
        }
        assert_eq!(say(&["run", "a"]).status, 5, "a run that cannot be recorded does not start");
        let done = say(&["delete", "a", "--confirm"]);
        assert_eq!(done.status, 0, "{done:?}");
        assert!(!say(&["list"]).out.contains("a  "), "it is gone");
        let done = say(&["gc", "--older-than", "0s"]);
        assert_eq!(done.status, 0, "{done:?}");
        fs::remove_file(disk.join("ballast")).unwrap();
        assert_eq!(say(&["run", "b"]).out, "1\n");
        assert_eq!(say(&["audit", "--action", "delete_dynamic_tool"]).out.lines().count(), 1);
        let verified = say(&["audit", "verify"]);
        assert_eq!(verified.status, 0, "{verified:?}");
        assert_eq!(say(&["fsck"]).status, 0);
    }

    #[test]
    fn a_read_only_store_names_the_way_out_and_an_unrecorded_run_says_that_it_is_one() {
        let mut bench = MaintenanceFixture::with_a();
        let store = bench.path("store");
        let at = bench.path("ro");
        fs::create_dir(&at).unwrap();
        let Some(_bound) = Mount::new(&store, &at, None, MsFlags::MS_BIND, None) else { return };
        let read_only = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
        mount(None::<&Path>, &at, None::<&str>, read_only, None::<&str>).unwrap();
        let done = bench.run_command_in(&at, &["run", "a"]);
        assert!(done.status == 2 && done.errors.contains("`audit.required = false`"), "{done:?}");
        let doctor = bench.run_command_in(&at, &["doctor"]);
        assert!(doctor.out.contains("`audit.required = false`"), "{doctor:?}");
        bench.set_policy("[audit]\nrequired = false\n");
        let done = bench.run_command_in(&at, &["run", "a"]);
        assert_eq!((done.status, done.out.as_str()), (0, "1\n"), "{done:?}");
        assert!(done.errors.contains("warning: this run was not fully recorded"), "{done:?}");
    }
}

#[test]
fn an_import_obeys_the_policy() {
    let from = MaintenanceFixture::new();
    for (name, number) in [("b", 3), ("c", 4), ("d", 5)] {
        fs::write(from.path("t.ts"), returns(number)).unwrap();
        from.run_ok(&["create", &from.file("t.ts"), "--name", name, "--description", "a tool"]);
    }
    from.run_ok(&["export", "-o", &from.file("all.bundle")]);
    let bundle = from.file("all.bundle");
    let check = |policy: &str, code: &str| {
        let bench = MaintenanceFixture::with_policy(policy);
        let done = bench.run_command(&["--json", "import", &bundle]);
        let json: Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!(json["error"]["code"], code, "{done:?}");
        let listed: Value = serde_json::from_str(&bench.run_ok(&["--json", "list"])).unwrap();
        assert_eq!(listed["total"], 0, "nothing is taken in");
        assert_eq!(bench.run_ok(&["audit", "--action", "import"]).lines().count(), 1);
    };
    check("[store]\ntools = 2\n", "tool-limit-reached");
    check("[names]\nreserved = [\"c\"]\n", "name-reserved");
    let same = MaintenanceFixture::with_policy("[store]\nduplicates = \"refuse\"\n");
    fs::write(same.path("t.ts"), returns(4)).unwrap();
    same.run_ok(&["create", &same.file("t.ts"), "--name", "mine", "--description", "a tool"]);
    let done = same.run_command(&["--json", "import", &bundle]);
    assert!(done.out.contains("tool-duplicate") && done.out.contains("mine"), "{done:?}");
}

#[test]
fn a_pipe_in_the_place_of_a_file_holds_up_nobody() {
    for name in ["index.sqlite", "index.sqlite-wal", "toolcell-store", "lock", "writer", "secret", "rebuilding"] {
        let bench = MaintenanceFixture::with_a();
        let path = bench.path("store").join(name);
        let _ = fs::remove_file(&path);
        nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
        for words in [["list"].as_slice(), &["fsck"], &["fsck", "--repair"]] {
            // The command exits, with whatever result.
            bench.run_command(words);
        }
        if name == "index.sqlite" {
            assert_eq!(bench.run_ok(&["run", "a"]), "1\n");
        }
    }
}

#[test]
fn the_index_is_read_by_nobody_else_also_in_a_folder_that_was_there_before() {
    let bench = MaintenanceFixture::new();
    fs::create_dir(bench.path("store")).unwrap();
    fs::set_permissions(bench.path("store"), fs::Permissions::from_mode(0o755)).unwrap();
    let store = Store::open(&bench.path("store"), &Settings::default()).unwrap();
    let is_private = |name: &str| {
        let mode = bench.path("store").join(name).metadata().unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    };
    ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"].into_iter().for_each(is_private);
    drop(store);
    // An index of an older version is migrated when it is opened.
    let index = bench.path("store/index.sqlite");
    fs::set_permissions(&index, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Store::open(&bench.path("store"), &Settings::default()).unwrap());
    is_private("index.sqlite");
}

#[test]
fn gc_passes_over_what_is_none_of_its_own_and_says_what_it_collected() {
    let bench = MaintenanceFixture::with_a();
    bench.run_ok(&["delete", "a", "--confirm"]);
    let folder = bench.path("store/tmp/folder");
    fs::create_dir(&folder).unwrap();
    let old = SystemTime::now() - Duration::from_secs(100_000);
    File::open(&folder).unwrap().set_modified(old).unwrap();
    let out = bench.run_ok(&["gc", "--older-than", "0s"]);
    assert!(out.contains("collected a (") && folder.exists(), "{out}");
}

#[test]
fn a_name_that_is_no_text_among_the_objects_is_put_aside() {
    let bench = MaintenanceFixture::with_a();
    let odd = OsStr::from_bytes(b"\xff\xfe");
    fs::write(bench.path("store/objects").join(odd), "x").unwrap();
    let folder =
        fs::read_dir(bench.path("store/objects")).unwrap().find(|entry| entry.as_ref().unwrap().path().is_dir());
    fs::write(folder.unwrap().unwrap().path().join(odd), "x").unwrap();
    assert_eq!(bench.run_command(&["fsck"]).status, 6);
    assert_eq!(bench.run_command(&["fsck", "--repair"]).status, 0);
    assert!(bench.run_ok(&["fsck"]).contains("no problems"));
    assert_eq!(bench.run_ok(&["run", "a"]), "1\n");
}

#[test]
fn a_folder_that_is_called_as_a_piece_of_the_log_stops_no_audit() {
    let bench = MaintenanceFixture::with_a();
    fs::create_dir(bench.path("store/logs/dynamic-tools-audit.000900.jsonl")).unwrap();
    assert_eq!(bench.run_ok(&["audit"]).lines().count(), 1);
    bench.run_ok(&["audit", "verify"]);
}

#[test]
fn format_0_is_told_as_no_format_and_not_as_a_newer_one() {
    let bench = MaintenanceFixture::with_a();
    fs::write(bench.path("store/toolcell-store"), "toolcell store, format 0\n").unwrap();
    let done = bench.run_command(&["list"]);
    assert!(done.errors.contains("names format 0, which no version writes"), "{done:?}");
}

#[test]
fn the_index_knows_how_far_the_log_went_and_a_verification_tells_what_was_lost() {
    let mut fixture = StoreFixture::with_settings(Settings::default());
    fixture.tool("a", &returns(1));
    let at = fixture.now();
    for _ in 0..3 {
        fixture.store().log(&AuditEvent::new(Action::ListDynamicTools, at)).unwrap();
    }
    fixture.tool("b", &returns(2));
    fixture.close();
    let log = fixture.path().join("logs");
    for entry in fs::read_dir(&log).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    fixture.reopen();
    let verdict = fixture.store().audit().verify(None).unwrap();
    assert_eq!(verdict.problems.iter().map(|problem| problem.kind.code()).collect::<Vec<_>>(), ["lost-end"]);
    // Appending a line does not hide the loss.
    fixture.store().log(&AuditEvent::new(Action::ListDynamicTools, at)).unwrap();
    let verdict = fixture.store().audit().verify(None).unwrap();
    assert!(!verdict.is_clean() && verdict.head.unwrap().seq() == 4, "{verdict:?}");
}

#[test]
fn lines_of_changes_that_a_loss_of_power_took_from_the_log_are_appended_again_once() {
    let fixture = StoreFixture::with_settings(Settings::default());
    let at = fixture.now();
    let made = sample_tool("a", &returns(1));
    let registration = toolcell::store::NewTool { spec: &made.spec, metadata: &made.notes, scores: made.scores, at };
    fixture
        .store()
        .with_audit(AuditEvent::new(Action::CreateTool, at))
        .insert(&registration, OnConflict::Refuse)
        .unwrap();
    // The disk after a power failure: the index was synced, and the log was not.
    let copy = tempfile::tempdir().unwrap();
    super::start::copy(fixture.path(), copy.path());
    for entry in fs::read_dir(copy.path().join("logs")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for _ in 0..2 {
        let store = Store::open_existing(copy.path(), &Settings::default()).unwrap();
        let lines: Vec<_> = store.audit().query(AuditFilter::default(), AuditOrder::OldestFirst).unwrap().collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(store.audit().verify(None).unwrap().is_clean());
    }
}

#[test]
fn a_tool_whose_object_is_gone_or_was_refused_is_listed_as_quarantined() {
    let statuses = |bench: &MaintenanceFixture| bench.run_ok(&["--json", "list"]).matches("quarantined").count();
    let bench = MaintenanceFixture::with_a();
    // Until its objects are synced, the index can restore them.
    let connection_of_another = bench.run_ok(&["fsck", "--repair"]);
    assert!(connection_of_another.contains("no problems"));
    let mut fixture = StoreFixture::new();
    fixture.tool("a", &returns(1));
    let object = fixture.source_object(&returns(1));
    let dir = fixture.dir().to_owned();
    fixture.close();
    fs::remove_file(&object).unwrap();
    let listed = bench.run_command_in(Path::new(&dir), &["--json", "list"]);
    assert!(listed.out.contains("quarantined"), "{listed:?}");
    fs::write(&object, returns(2)).unwrap();
    assert!(!bench.run_command_in(Path::new(&dir), &["--json", "list"]).out.contains("quarantined"));
    assert_eq!(bench.run_command_in(Path::new(&dir), &["run", "a"]).status, 6);
    assert!(bench.run_command_in(Path::new(&dir), &["--json", "list"]).out.contains("quarantined"));
    fs::remove_file(&object).unwrap();
    fs::write(&object, returns(1)).unwrap();
    assert!(!bench.run_command_in(Path::new(&dir), &["--json", "list"]).out.contains("quarantined"));
    assert_eq!(statuses(&bench), 0);
}

#[test]
fn the_last_second_of_the_calendar_is_stored_and_read() {
    let mut fixture = StoreFixture::with_settings(Settings::default());
    let at = jiff::Timestamp::MAX;
    let made = sample_tool("a", &returns(1));
    let registration = toolcell::store::NewTool { spec: &made.spec, metadata: &made.notes, scores: made.scores, at };
    fixture.store().catalog().insert(&registration, OnConflict::Refuse).unwrap();
    fixture.reopen();
    assert_eq!(fixture.store().catalog().list(&toolcell::store::Filter::default()).unwrap().total, 1);
    assert!(toolcell::now() <= at);
    fixture.close();
    assert!(fsck(fixture.path(), RepairMode::Check).unwrap().is_healthy());
}
