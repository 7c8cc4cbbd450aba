//! The seccomp filter: the system calls that a confined worker may make. Any other call kills the
//! process.
//!
//! The list contains what Wasmtime, the allocator and the channel need while tools run: see
//! `seccomp(2)`.
//!
//! Invariant: no entry opens a file, a socket or a process, makes memory executable, or maps memory
//! that is shared with others, such as the machine code of the guest.

use std::os::fd::RawFd;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// `PAGEMAP_SCAN` of `linux/fs.h`: `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: u64 = 0xc060_6610;

/// A condition on the arguments of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    Always,
    /// The first argument is the descriptor of the channel.
    OnChannel,
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

/// `MAP_TYPE` and `MAP_PRIVATE` as arguments. A mapping has exactly one type; the others are
/// `MAP_SHARED` and `MAP_SHARED_VALIDATE`.
const MAP_TYPE: u64 = libc::MAP_TYPE.cast_unsigned() as u64;
const MAP_PRIVATE: u64 = libc::MAP_PRIVATE.cast_unsigned() as u64;

/// `F_GETFD` as an argument.
const F_GETFD: u64 = libc::F_GETFD.cast_unsigned() as u64;

const ALLOWED_CALLS: &[AllowedCall] = &[
    (libc::SYS_recvfrom, Condition::OnChannel, "messages from the host"),
    (libc::SYS_sendto, Condition::OnChannel, "messages to the host"),
    (
        libc::SYS_mmap,
        Condition::PrivateNonExecMapping,
        "memory: of the allocator, and of instances, copied on write from the guest's image",
    ),
    (libc::SYS_mprotect, Condition::ArgWithoutBits(2, PROT_EXEC), "memory of an instance that grows"),
    (libc::SYS_munmap, Condition::Always, "freed memory"),
    (libc::SYS_mremap, Condition::Always, "growing memory of the allocator; its protection stays the same"),
    (
        libc::SYS_madvise,
        Condition::Always,
        "the pages of an instance: huge pages for much memory, and reclaimed when it ends",
    ),
    (libc::SYS_brk, Condition::Always, "memory of the allocator"),
    (libc::SYS_ioctl, Condition::ArgEquals(1, PAGEMAP_SCAN), "which pages of an instance were written to"),
    (libc::SYS_pread64, Condition::Always, "the same without that ioctl; no other file is open"),
    (libc::SYS_futex, Condition::Always, "locks"),
    (libc::SYS_clock_gettime, Condition::Always, "deadlines, if the kernel provides no vDSO clock"),
    (libc::SYS_getrandom, Condition::Always, "the seeds of hash maps"),
    (libc::SYS_rt_sigreturn, Condition::Always, "the end of a trap of the guest, which is a signal"),
    (libc::SYS_rt_sigprocmask, Condition::Always, "signals while the process ends"),
    (libc::SYS_sigaltstack, Condition::Always, "the stack that traps are handled on"),
    (libc::SYS_sched_yield, Condition::Always, "contended locks"),
    (libc::SYS_restart_syscall, Condition::Always, "a system call that continues after a stop"),
    (libc::SYS_write, Condition::ArgEquals(0, 2), "the message of a panic, which is discarded"),
    (libc::SYS_fcntl, Condition::ArgEquals(1, F_GETFD), "checked by debug builds before a descriptor is closed"),
    (libc::SYS_close, Condition::Always, "descriptors of a process that exits"),
    (libc::SYS_getpid, Condition::Always, "a process that aborts"),
    (libc::SYS_gettid, Condition::Always, "a process that aborts"),
    (libc::SYS_exit, Condition::Always, "exit"),
    (libc::SYS_exit_group, Condition::Always, "exit"),
];

/// Builds the filter. It applies `otherwise` to calls that are not in the list.
pub(crate) fn build_filter(pipe: RawFd, otherwise: SeccompAction) -> Result<BpfProgram, BackendError> {
    let rules = ALLOWED_CALLS.iter().map(|(call, when, _)| Ok((*call, seccomp_rules(*when, pipe)?)));
    let rules = rules.collect::<Result<_, BackendError>>()?;
    let machine = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, otherwise, SeccompAction::Allow, machine)?.try_into()
}

fn seccomp_rules(when: Condition, pipe: RawFd) -> Result<Vec<SeccompRule>, BackendError> {
    let conditions: &[_] = match when {
        Condition::Always => return Ok(Vec::new()),
        Condition::OnChannel => &[(0, SeccompCmpOp::Eq, u64::from(pipe.cast_unsigned()))],
        Condition::ArgEquals(argument, value) => &[(argument, SeccompCmpOp::Eq, value)],
        Condition::ArgWithoutBits(argument, bits) => &[(argument, SeccompCmpOp::MaskedEq(bits), 0)],
        Condition::PrivateNonExecMapping => {
            &[(2, SeccompCmpOp::MaskedEq(PROT_EXEC), 0), (3, SeccompCmpOp::MaskedEq(MAP_TYPE), MAP_PRIVATE)]
        }
    };
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
    });
    Ok(vec![SeccompRule::new(conditions.collect::<Result<_, _>>()?)?])
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

    /// Returns whether the filter refuses an action of a thread. Here, refusing returns an error;
    /// in a worker it kills the process.
    fn is_refused<T>(does: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> bool {
        let thread = std::thread::spawn(move || {
            seccompiler::apply_filter(&build_filter(0, SeccompAction::Errno(REFUSED.cast_unsigned())).unwrap())
                .unwrap();
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

    /// Interprets the filter for a call, given as the kernel's numbers (`seccomp_data` of
    /// `linux/seccomp.h`). Supports the instructions of `bpf(4)` that a filter of comparisons uses.
    fn verdict(filter: &BpfProgram, call: c_long, arguments: [u64; 6]) -> u32 {
        const LOAD: u16 = 0x20;
        const AND: u16 = 0x54;
        const JUMP: u16 = 0x05;
        const EQUAL: u16 = 0x15;
        const GREATER: u16 = 0x25;
        const GREATER_OR_EQUAL: u16 = 0x35;
        const RETURN: u16 = 0x06;
        let machine: u32 = if cfg!(target_arch = "aarch64") { 0xc000_00b7 } else { 0xc000_003e };
        let mut data = Vec::new();
        data.extend_from_slice(&u32::try_from(call).unwrap().to_le_bytes());
        data.extend_from_slice(&machine.to_le_bytes());
        data.extend_from_slice(&[0; 8]);
        data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        let (mut at, mut value) = (0_usize, 0_u32);
        loop {
            let step = &filter[at];
            at += 1;
            let mut branch = |taken: bool| at += usize::from(if taken { step.jt } else { step.jf });
            match step.code {
                LOAD => value = u32::from_le_bytes(*data[step.k as usize..].first_chunk().unwrap()),
                AND => value &= step.k,
                JUMP => at += step.k as usize,
                EQUAL => branch(value == step.k),
                GREATER => branch(value > step.k),
                GREATER_OR_EQUAL => branch(value >= step.k),
                RETURN => return step.k,
                other => panic!("{other:#x}"),
            }
        }
    }

    #[test]
    fn memory_is_mapped_privately_and_never_executable() {
        let filter = build_filter(0, SeccompAction::KillProcess).unwrap();
        let allows = |call, protection: i32, flags: i32, descriptor: u64| {
            let [protection, flags] = [protection, flags].map(|bits| u64::from(bits.cast_unsigned()));
            verdict(&filter, call, [0, 4096, protection, flags, descriptor, 0]) == libc::SECCOMP_RET_ALLOW
        };
        let maps = |protection, flags| allows(libc::SYS_mmap, protection, flags, 5);
        let (read, write, exec) = (libc::PROT_READ, libc::PROT_WRITE, libc::PROT_EXEC);
        // The allocator, and an instance's memory over the image of the guest.
        assert!(maps(read | write, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE));
        assert!(maps(read | write, libc::MAP_PRIVATE | libc::MAP_FIXED));
        // All other types and flags are refused.
        for others in [0, libc::MAP_ANONYMOUS, libc::MAP_FIXED, libc::MAP_NORESERVE, libc::MAP_POPULATE] {
            for shared in [0, libc::MAP_SHARED, libc::MAP_SHARED_VALIDATE, libc::MAP_TYPE] {
                for protection in [0, read, write, read | write] {
                    assert!(!maps(protection, shared | others), "{protection} {shared} {others}");
                }
            }
            assert!(!maps(read | exec, libc::MAP_PRIVATE | others));
        }
        assert!(allows(libc::SYS_mprotect, read | write, 0, 0) && !allows(libc::SYS_mprotect, read | exec, 0, 0));
        // Calls that could make an existing mapping shared, or write to a file.
        for call in
            [libc::SYS_remap_file_pages, libc::SYS_shmat, libc::SYS_pwrite64, libc::SYS_ftruncate, libc::SYS_fallocate]
        {
            assert!(!allows(call, read | write, 0, 0), "{call}");
        }
    }

    #[test]
    fn each_call_stands_once_and_has_a_reason() {
        let calls: BTreeSet<c_long> = ALLOWED_CALLS.iter().map(|(call, _, _)| *call).collect();
        assert_eq!(calls.len(), ALLOWED_CALLS.len());
        assert!(ALLOWED_CALLS.iter().all(|(_, _, reason)| !reason.is_empty()));
    }
}
