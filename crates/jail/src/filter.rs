//! The system calls that a worker may make once it is locked in. Any other ends its process.
//!
//! The list is what Wasmtime, the allocator and the pipe need while tools run: see `seccomp(2)`.
//!
//! Invariant: nothing in the list opens a file, a socket or a process, and none makes memory executable.

use std::os::fd::RawFd;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// `PAGEMAP_SCAN` of `linux/fs.h`: `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: u64 = 0xc060_6610;

/// When a system call may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// The first argument is the pipe.
    ThroughPipe,
    /// This argument has this value.
    Is(u8, u64),
    /// This argument has none of these bits.
    Without(u8, u64),
}

/// A system call, when it may be made, and why.
type Line = (c_long, When, &'static str);

/// `PROT_EXEC`, as an argument.
const EXECUTABLE: u64 = libc::PROT_EXEC.cast_unsigned() as u64;

/// `F_GETFD`, as an argument.
const FLAGS: u64 = libc::F_GETFD.cast_unsigned() as u64;

const LINES: &[Line] = &[
    (libc::SYS_recvfrom, When::ThroughPipe, "what the host says"),
    (libc::SYS_sendto, When::ThroughPipe, "what the host is told"),
    (
        libc::SYS_mmap,
        When::Without(2, EXECUTABLE),
        "memory: of the allocator, and of instances that are made one by one",
    ),
    (libc::SYS_mprotect, When::Without(2, EXECUTABLE), "memory of an instance that grows"),
    (libc::SYS_munmap, When::Always, "memory that is given back"),
    (libc::SYS_mremap, When::Always, "memory of the allocator that grows; it keeps what may be done with it"),
    (libc::SYS_madvise, When::Always, "the pages of an instance that ended"),
    (libc::SYS_brk, When::Always, "memory of the allocator"),
    (libc::SYS_ioctl, When::Is(1, PAGEMAP_SCAN), "which pages of an instance were written to"),
    (libc::SYS_pread64, When::Always, "the same where the kernel has no such call; no other file is open"),
    (libc::SYS_futex, When::Always, "locks"),
    (libc::SYS_clock_gettime, When::Always, "deadlines, where the kernel maps no clock into the process"),
    (libc::SYS_getrandom, When::Always, "the seeds of hash maps"),
    (libc::SYS_rt_sigreturn, When::Always, "the end of a trap of the guest, which is a signal"),
    (libc::SYS_rt_sigprocmask, When::Always, "signals while the process ends"),
    (libc::SYS_sigaltstack, When::Always, "the stack that traps are handled on"),
    (libc::SYS_sched_yield, When::Always, "locks that are waited for"),
    (libc::SYS_restart_syscall, When::Always, "a call that a stopped process goes on with"),
    (libc::SYS_write, When::Is(0, 2), "the message of a panic, which goes nowhere"),
    (libc::SYS_fcntl, When::Is(1, FLAGS), "what a build with assertions looks at before it closes something"),
    (libc::SYS_close, When::Always, "what a process that ends had open"),
    (libc::SYS_getpid, When::Always, "a process that ends itself"),
    (libc::SYS_gettid, When::Always, "a process that ends itself"),
    (libc::SYS_exit, When::Always, "the end"),
    (libc::SYS_exit_group, When::Always, "the end"),
];

/// The filter, which does `otherwise` with what is not in the list.
pub(crate) fn program(pipe: RawFd, otherwise: SeccompAction) -> Result<BpfProgram, BackendError> {
    let rules = LINES.iter().map(|(call, when, _)| Ok((*call, rules(*when, pipe)?)));
    let rules = rules.collect::<Result<_, BackendError>>()?;
    let machine = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, otherwise, SeccompAction::Allow, machine)?.try_into()
}

fn rules(when: When, pipe: RawFd) -> Result<Vec<SeccompRule>, BackendError> {
    let (argument, operator, value) = match when {
        When::Always => return Ok(Vec::new()),
        When::ThroughPipe => (0, SeccompCmpOp::Eq, u64::from(pipe.cast_unsigned())),
        When::Is(argument, value) => (argument, SeccompCmpOp::Eq, value),
        When::Without(argument, bits) => (argument, SeccompCmpOp::MaskedEq(bits), 0),
    };
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
    Ok(vec![SeccompRule::new(vec![condition])?])
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "what is refused has to be tried")]
mod tests {
    use std::collections::BTreeSet;
    use std::fs::File;
    use std::net::TcpListener;
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    use super::*;

    const REFUSED: i32 = libc::EPERM;

    /// Whether what a thread does is refused that may make the calls of the list only. Here, refusing is an error that can be
    /// looked at; in a worker it is the end.
    fn is_refused<T>(does: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> bool {
        let thread = std::thread::spawn(move || {
            seccompiler::apply_filter(&program(0, SeccompAction::Errno(REFUSED.cast_unsigned())).unwrap()).unwrap();
            does().err().and_then(|error| error.raw_os_error())
        });
        thread.join().unwrap() == Some(REFUSED)
    }

    #[test]
    fn what_leads_out_is_refused() {
        assert!(is_refused(|| File::open("/dev/null")));
        assert!(is_refused(|| std::fs::create_dir("/tmp/toolcell-not-made")));
        assert!(is_refused(|| TcpListener::bind("127.0.0.1:0")));
        assert!(is_refused(UnixStream::pair));
        assert!(is_refused(|| Command::new("/bin/true").spawn()));
        assert!(is_refused(|| std::thread::Builder::new().spawn(|| ())));
        assert!(is_refused(
            || rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable).map_err(Into::into)
        ));
        assert!(is_refused(|| rustix::process::test_kill_process(rustix::process::Pid::INIT).map_err(Into::into)));
    }

    #[test]
    fn only_the_pipe_is_spoken_through() {
        let (here, _there) = UnixStream::pair().unwrap();
        assert!(is_refused(
            move || rustix::net::send(&here, b"a", rustix::net::SendFlags::DONTWAIT).map_err(Into::into)
        ));
    }

    #[test]
    fn memory_and_locks_can_be_had() {
        assert!(!is_refused(|| {
            let large = vec![1_u8; 64 << 20];
            let seeded = std::collections::HashMap::from([(1, large.len())]);
            let lock = std::sync::Mutex::new(seeded);
            assert_eq!(lock.lock().unwrap().get(&1), Some(&(64 << 20)));
            Ok(())
        }));
    }

    #[test]
    fn each_call_stands_once_and_has_a_reason() {
        let calls: BTreeSet<c_long> = LINES.iter().map(|(call, _, _)| *call).collect();
        assert_eq!(calls.len(), LINES.len());
        assert!(LINES.iter().all(|(_, _, reason)| !reason.is_empty()));
    }
}
