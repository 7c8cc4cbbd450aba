//! Restricted machines: the report of `doctor`, and the profile of system calls that Toolcell
//! needs.
//!
//! Restrictions that only root can apply are tested by `.ci/lockdown`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::fixtures::cli::toolcell;
use crate::fixtures::sandbox::root;

/// The system calls that running tools needs, in alphabetical order.
const CALLS: &str = "access arch_prctl brk clock_getres clock_gettime clock_nanosleep clone clone3 close copy_file_range dup dup2 dup3 \
    epoll_create1 epoll_ctl epoll_pwait epoll_wait eventfd2 execve exit exit_group faccessat faccessat2 fadvise64 fallocate fchmod fchmodat \
    fchown fcntl fdatasync flock fstat fstatfs fsync ftruncate futex getcwd getdents64 getegid geteuid getgid getpid getrandom gettid \
    gettimeofday getuid ioctl link linkat lseek lstat madvise membarrier memfd_create mkdir mkdirat mmap mprotect mremap munmap nanosleep \
    newfstatat open openat openat2 pipe2 poll ppoll prctl pread64 preadv prlimit64 pwrite64 pwritev read readlink readlinkat readv recvfrom \
    rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigprocmask rt_sigreturn sched_getaffinity sched_yield sendto \
    set_robust_list set_tid_address sigaltstack socketpair stat statfs statx sysinfo tgkill time uname unlink unlinkat utimensat write writev";

fn profile(allow: &[&str]) -> Value {
    let words: Vec<&str> = ["doctor", "--seccomp"].iter().chain(allow).copied().collect();
    toolcell(&words).json()
}

fn names(profile: &Value) -> BTreeSet<&str> {
    let rules = profile["syscalls"].as_array().unwrap();
    rules.iter().flat_map(|rule| rule["names"].as_array().unwrap()).map(|name| name.as_str().unwrap()).collect()
}

/// Runs a command in a process of its own, with restrictions of the launcher.
fn locked(taken: &[&str], words: &[&str], input: &str) -> Output {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_store_worker")).parent().unwrap();
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_lockdown"));
    launcher.args(taken).arg("--").arg(folder.join("toolcell")).args(["--no-project", "--config", "/dev/null"]);
    launcher.args(words).env("TOOLCELL_LANG", "en").current_dir(root());
    let mut child = launcher.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn describe_output(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned()
}

#[test]
fn the_profile_is_these_calls_each_with_its_reason_and_refuses_the_rest() {
    let strict = profile(&[]);
    assert_eq!(strict["defaultAction"], "SCMP_ACT_ERRNO");
    assert_eq!(names(&strict).into_iter().collect::<Vec<_>>().join(" "), CALLS);
    let open = profile(&["--allow", "network,processes"]);
    for rule in open["syscalls"].as_array().unwrap() {
        assert!(rule["comment"].as_str().unwrap().ends_with('.'), "{rule}");
        assert!(["SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"].contains(&rule["action"].as_str().unwrap()), "{rule}");
    }
    for never in "add_key bpf chroot delete_module init_module io_uring_enter io_uring_setup kexec_load keyctl memfd_secret mount \
        move_mount name_to_handle_at open_by_handle_at perf_event_open personality pivot_root process_vm_readv process_vm_writev ptrace reboot \
        request_key setgid setns setuid swapon unshare userfaultfd"
        .split_whitespace()
    {
        assert!(!names(&open).contains(never), "{never}");
    }
    assert!(!names(&strict).contains("socket") && names(&profile(&["--allow", "network"])).contains("socket"));
    assert!(!names(&strict).contains("wait4") && names(&profile(&["--allow", "processes"])).contains("wait4"));
    assert_eq!(toolcell(&["doctor", "--allow", "network"]).status, 2);
}

#[test]
fn under_the_profile_tools_run_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seccomp.json");
    fs::write(&file, toolcell(&["doctor", "--seccomp"]).out).unwrap();
    let strict = ["--seccomp", file.to_str().unwrap()];
    let store = folder.path().join("store").to_string_lossy().into_owned();
    let create = ["--dir", &store, "create", "fixtures/tools/string_reverse.js", "--description", "Reverses"];
    assert!(describe_output(&locked(&strict, &create, "")).starts_with("Created the tool"));
    assert_eq!(describe_output(&locked(&strict, &["--dir", &store, "run", "string_reverse", "text=abc"], "")), "cba\n");
    let doctor = describe_output(&locked(&strict, &["--dir", &store, "doctor", "--json"], ""));
    let doctor: Value = serde_json::from_str(&doctor).unwrap();
    assert_eq!(
        [&doctor["works"], &doctor["seccomp"], &doctor["noNewPrivileges"], &doctor["network"]],
        [&json!(true), &json!("filter"), &json!(true), &json!(false)]
    );

    // The real interpreter: `python3` may be a wrapper script.
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let python = describe_output(&python).trim().to_owned();
    // Other programs cannot start processes, open sockets, or access the memory of other processes.
    let foreign = |call: &str| {
        format!("import ctypes; c = ctypes.CDLL(None, use_errno=True); assert c.{call} >= 0, ctypes.get_errno()")
    };
    for (program, refused) in [
        ("import os; os.fork()".to_owned(), "PermissionError"),
        ("import socket; socket.socket()".to_owned(), "PermissionError"),
        ("import os; os.setuid(0)".to_owned(), "PermissionError"),
        ("import os; os.chroot('/')".to_owned(), "PermissionError"),
        (foreign("ptrace(0, 0, 0, 0)"), "AssertionError: 1"),
        (foreign("unshare(0x10000000)"), "AssertionError: 1"),
        // io_uring_setup, which has no wrapper in the C library.
        (foreign("syscall(425, 8, 0)"), "AssertionError: 1"),
        (foreign("process_vm_readv(1, 0, 0, 0, 0, 0)"), "AssertionError: 1"),
        (foreign("mount(0, 0, 0, 0, 0)"), "AssertionError: 1"),
    ] {
        let mut launcher = Command::new(env!("CARGO_BIN_EXE_lockdown"));
        let done = launcher.args(strict).args(["--", &python, "-I", "-S", "-c", &program]).output().unwrap();
        let description = describe_output(&done);
        assert!(!done.status.success() && description.contains(refused), "{program}: {description}");
    }
}

#[test]
fn hooks_that_are_commands_need_processes() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("toolcell.toml");
    let hook = "[[hooks]]\nname = \"asks\"\ncommand = [\"sh\", \"-c\", \"cat >/dev/null; echo '{\\\"permissionDecision\\\": \\\"allow\\\"}'\"]\n";
    fs::write(&policy, hook).unwrap();
    for (allow, status) in [(&[][..], 3), (&["--allow", "processes"], 0)] {
        let file = folder.path().join("seccomp.json");
        fs::write(&file, profile(allow).to_string()).unwrap();
        let mut launcher = Command::new(env!("CARGO_BIN_EXE_lockdown"));
        let binaries = std::path::Path::new(env!("CARGO_BIN_EXE_store_worker")).parent().unwrap();
        launcher.arg("--seccomp").arg(&file).arg("--").arg(binaries.join("toolcell"));
        launcher.args(["--no-project", "--config"]).arg(&policy).args(["exec", "fixtures/tools/string_reverse.js"]);
        let done = launcher.arg(r#"{"text": "abc"}"#).current_dir(root()).output().unwrap();
        assert_eq!(done.status.code(), Some(status), "{allow:?}: {}", describe_output(&done));
    }
}

#[test]
fn without_executable_pages_the_same_comes_out_and_doctor_says_what_that_costs() {
    let request = r#"{"id": 1, "op": "run", "source": "const execute = ({ n }) => [n * 2]", "params": {"n": 21}}"#;
    let facts = |taken: &[&str]| {
        let answer: Value = serde_json::from_slice(&locked(taken, &["batch"], request).stdout).unwrap();
        [answer["valueJson"].clone(), answer["fuel"].clone(), answer["loadFuel"].clone()]
    };
    assert_eq!(facts(&[])[0], "[42]");
    assert_eq!(facts(&[]), facts(&["--no-executable-pages"]));
    let done = locked(&["--no-executable-pages"], &["--dir", "none", "doctor", "--json"], "");
    let doctor: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&doctor["image"], &doctor["works"]), (&json!("interpreted"), &json!(true)));
    assert_eq!(doctor["passedOver"].as_array().unwrap().len(), 2);
    let first = &doctor["missing"][0];
    assert!(first["what"] == "executable-pages" && first["cost"].as_str().unwrap().contains("30 times"), "{first}");
}

#[test]
fn without_threads_deadlines_are_looked_at_after_slices_of_fuel_and_doctor_says_so() {
    let findings = |taken: &[&str]| {
        let done = locked(taken, &["--dir", "none", "doctor", "--json"], "");
        let doctor: Value =
            serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{}", describe_output(&done)));
        let missing = doctor["missing"].as_array().unwrap().iter().any(|missing| missing["what"] == "threads");
        (doctor["interruption"].clone(), missing)
    };
    assert_eq!(findings(&[]), (json!("epochs"), false));
    assert_eq!(findings(&["--no-threads"]), (json!("fuel-slices"), true));
    let text = describe_output(&locked(&["--no-threads"], &["--dir", "none", "doctor"], ""));
    assert!(text.contains("deadlines      slices of fuel: no thread can be started"), "{text}");
}

#[test]
fn a_call_that_the_machine_has_no_room_for_is_the_machines_fault() {
    let toolcell = std::path::Path::new(env!("CARGO_BIN_EXE_store_worker")).parent().unwrap().join("toolcell");
    let mut ends = BTreeSet::new();
    // With less, the program itself can hardly start: that of the tests has 90 MB of code.
    for kibibytes in (110_000..=300_000).step_by(10_000) {
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(format!("ulimit -v {kibibytes}; exec \"$0\" --lang en exec -")).arg(&toolcell);
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"export const execute = () => 42;").unwrap();
        let done = child.wait_with_output().unwrap();
        let text = describe_output(&done);
        let end = match done.status.code() {
            Some(0) if text == "42\n" => "works",
            Some(_) if text.contains("no image of the guest works") && text.contains("`ulimit -v`") => "no image",
            Some(_)
                if text.contains("its stack cannot be allocated") && text.contains("more memory or address space") =>
            {
                "no stack"
            }
            _ => panic!("{kibibytes}: {:?}: {text}", done.status),
        };
        ends.insert(end);
    }
    assert_eq!(ends, BTreeSet::from(["no image", "no stack", "works"]));
}

#[test]
fn doctor_says_what_is_missing_whatever_is_missing() {
    let toolcell = std::path::Path::new(env!("CARGO_BIN_EXE_store_worker")).parent().unwrap().join("toolcell");
    for (limits, status, said_so) in [
        ("ulimit -v 262144", 0, "missing        address-space: "),
        ("ulimit -n 63", 0, "missing        open-files: "),
        ("unset HOME", 0, "missing        store-writable: "),
        ("ulimit -v 150000", 5, "\ndoes not work\n"),
    ] {
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(format!("{limits}; exec \"$0\" --lang en doctor")).arg(&toolcell);
        let done = shell.env("TOOLCELL_DIR", "/dev/null/none").output().unwrap();
        assert_eq!(done.status.code(), Some(status), "{limits}: {}", describe_output(&done));
        let text = describe_output(&done);
        assert!(text.contains(said_so) && text.contains("\nkernel         "), "{limits}: {text}");
        let works = text.contains("\nworks\n");
        assert_eq!(works, status == 0, "{limits}: {text}");
    }
}
