//! The seccomp filters: the system calls that a confined worker may make. Any other call kills the
//! process.
//!
//! Invariant: no entry opens a file, a socket or a process, or makes memory executable.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// The condition on the arguments of a system call under which it is allowed.
#[derive(Debug, Clone, Copy)]
enum Condition {
    Always,
    /// The first argument is this process.
    OnItself,
    /// The argument with this index has this value.
    ArgEquals(u8, u64),
    /// The argument with this index has none of these bits set.
    ArgWithoutBits(u8, u64),
    /// The call maps private memory that is not executable.
    PrivateNonExecMapping,
}

/// A system call, the condition under which it is allowed, and the reason.
type AllowedCall = (c_long, Condition, &'static str);

/// `PROT_EXEC` as an argument.
const PROT_EXEC: u64 = libc::PROT_EXEC.cast_unsigned() as u64;
/// `MAP_TYPE` and `MAP_PRIVATE` as arguments.
const MAP_TYPE: u64 = libc::MAP_TYPE.cast_unsigned() as u64;
const MAP_PRIVATE: u64 = libc::MAP_PRIVATE.cast_unsigned() as u64;
/// `F_GETFD` as an argument.
const F_GETFD: u64 = libc::F_GETFD.cast_unsigned() as u64;

const ALLOWED_CALLS: &[AllowedCall] = &[
    (libc::SYS_read, Condition::ArgEquals(0, 0), "requests"),
    (libc::SYS_write, Condition::ArgEquals(0, 1), "replies"),
    (libc::SYS_write, Condition::ArgEquals(0, 2), "the message of a panic"),
    (libc::SYS_mmap, Condition::PrivateNonExecMapping, "memory of the allocator, and stacks that grow"),
    (libc::SYS_mprotect, Condition::ArgWithoutBits(2, PROT_EXEC), "the guard pages of stacks that grow"),
    (libc::SYS_munmap, Condition::Always, "freed memory"),
    (libc::SYS_mremap, Condition::Always, "growing memory of the allocator; its protection stays the same"),
    (libc::SYS_madvise, Condition::Always, "freed memory"),
    (libc::SYS_brk, Condition::Always, "memory of the allocator"),
    (libc::SYS_futex, Condition::Always, "locks"),
    (libc::SYS_clock_gettime, Condition::Always, "times, if the kernel provides no vDSO clock"),
    (libc::SYS_getrandom, Condition::Always, "the seeds of hash maps"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_alarm, Condition::Always, "the time of a check"),
    (libc::SYS_setitimer, Condition::Always, "the time of a check, elsewhere"),
    (libc::SYS_rt_sigreturn, Condition::Always, "the end of a signal"),
    (libc::SYS_rt_sigaction, Condition::Always, "a process that aborts"),
    (libc::SYS_rt_sigprocmask, Condition::Always, "a process that aborts"),
    (libc::SYS_sigaltstack, Condition::Always, "a thread that ends"),
    (libc::SYS_sched_yield, Condition::Always, "contended locks"),
    (libc::SYS_restart_syscall, Condition::Always, "a system call that continues after a stop"),
    (libc::SYS_fcntl, Condition::ArgEquals(1, F_GETFD), "checked by debug builds before a descriptor is closed"),
    (libc::SYS_close, Condition::Always, "descriptors of a process that exits"),
    (libc::SYS_tgkill, Condition::OnItself, "a process that aborts"),
    (libc::SYS_getpid, Condition::Always, "a process that aborts"),
    (libc::SYS_gettid, Condition::Always, "a process that aborts"),
    (libc::SYS_exit, Condition::Always, "exit"),
    (libc::SYS_exit_group, Condition::Always, "exit"),
];

/// System calls that fail, and the reason why they do not kill: the allocator of glibc opens
/// `/proc/sys/vm/overcommit_memory` when it first returns memory of a thread, and does without.
const REFUSED_CALLS: &[c_long] = &[libc::SYS_openat];

/// Builds the filters, which all hold. They apply `otherwise` to calls that are in neither list.
pub(crate) fn build_filters(otherwise: SeccompAction) -> Result<[BpfProgram; 2], BackendError> {
    let mut allowed = BTreeMap::<_, Vec<_>>::new();
    for (call, when, _) in ALLOWED_CALLS {
        allowed.entry(*call).or_default().extend(seccomp_rule(*when)?);
    }
    let refused: BTreeMap<_, _> = REFUSED_CALLS.iter().map(|call| (*call, Vec::new())).collect();
    allowed.extend(refused.clone());
    let machine = std::env::consts::ARCH.try_into()?;
    let refusal = SeccompAction::Errno(libc::EACCES.cast_unsigned());
    Ok([
        SeccompFilter::new(refused, SeccompAction::Allow, refusal, machine)?.try_into()?,
        SeccompFilter::new(allowed, otherwise, SeccompAction::Allow, machine)?.try_into()?,
    ])
}

/// Returns the rule for a condition, or nothing if the call is always allowed.
fn seccomp_rule(when: Condition) -> Result<Option<SeccompRule>, BackendError> {
    let conditions: &[_] = match when {
        Condition::Always => return Ok(None),
        Condition::OnItself => &[(0, SeccompCmpOp::Eq, u64::from(std::process::id()))],
        Condition::ArgEquals(argument, value) => &[(argument, SeccompCmpOp::Eq, value)],
        Condition::ArgWithoutBits(argument, bits) => &[(argument, SeccompCmpOp::MaskedEq(bits), 0)],
        Condition::PrivateNonExecMapping => {
            &[(2, SeccompCmpOp::MaskedEq(PROT_EXEC), 0), (3, SeccompCmpOp::MaskedEq(MAP_TYPE), MAP_PRIVATE)]
        }
    };
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
    });
    Ok(Some(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?))
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "what is refused has to be tried")]
mod tests {
    use std::fs::File;
    use std::net::TcpListener;
    use std::process::Command;

    use super::*;

    /// An error that no allowed call returns here.
    const KILLED: i32 = libc::EXFULL;

    /// Returns the error of an action of a thread under the filters. Where a worker would be killed,
    /// it is [`KILLED`].
    fn error_of<T>(does: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> Option<i32> {
        let thread = std::thread::spawn(move || {
            for filter in build_filters(SeccompAction::Errno(KILLED.cast_unsigned())).unwrap() {
                seccompiler::apply_filter(&filter).unwrap();
            }
            does().err().and_then(|error| error.raw_os_error())
        });
        thread.join().unwrap()
    }

    #[test]
    fn what_leads_out_ends_the_worker() {
        assert_eq!(error_of(|| std::fs::create_dir("/tmp/toolcell-not-made")), Some(KILLED));
        assert_eq!(error_of(|| TcpListener::bind("127.0.0.1:0")), Some(KILLED));
        assert_eq!(error_of(std::os::unix::net::UnixStream::pair), Some(KILLED));
        assert_eq!(error_of(|| Command::new("/bin/true").spawn()), Some(KILLED));
        assert_eq!(error_of(|| std::thread::Builder::new().spawn(|| ())), Some(KILLED));
        assert_eq!(
            error_of(|| rustix::process::test_kill_process(rustix::process::Pid::INIT).map_err(Into::into)),
            Some(KILLED)
        );
    }

    #[test]
    fn no_file_is_opened() {
        assert_eq!(error_of(|| File::open("/dev/null")), Some(libc::EACCES));
    }

    #[test]
    fn memory_can_be_had() {
        let takes_memory = || {
            assert_eq!(vec![1_u8; 64 << 20].last(), Some(&1));
            Ok(())
        };
        assert_eq!(error_of(takes_memory), None);
    }
}
