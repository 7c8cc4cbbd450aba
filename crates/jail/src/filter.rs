//! The system calls that a worker may make once it is locked in. Any other ends its process.
//!
//! The list is what Wasmtime, the allocator and the pipe need while tools run: see `seccomp(2)`.
//!
//! Invariant: nothing in the list opens a file, a socket or a process, none makes memory executable, and none maps memory that
//! anything else shares, such as the machine code of the guest.

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
    /// It maps memory that is private and not executable.
    MapsPrivately,
}

/// A system call, when it may be made, and why.
type Line = (c_long, When, &'static str);

/// `PROT_EXEC`, as an argument.
const EXECUTABLE: u64 = libc::PROT_EXEC.cast_unsigned() as u64;

/// `MAP_TYPE` and `MAP_PRIVATE`, as arguments: a mapping is of one type, and `MAP_SHARED` and `MAP_SHARED_VALIDATE` are the others.
const TYPE: u64 = libc::MAP_TYPE.cast_unsigned() as u64;
const PRIVATE: u64 = libc::MAP_PRIVATE.cast_unsigned() as u64;

/// `F_GETFD`, as an argument.
const FLAGS: u64 = libc::F_GETFD.cast_unsigned() as u64;

const LINES: &[Line] = &[
    (libc::SYS_recvfrom, When::ThroughPipe, "what the host says"),
    (libc::SYS_sendto, When::ThroughPipe, "what the host is told"),
    (
        libc::SYS_mmap,
        When::MapsPrivately,
        "memory: of the allocator, and of instances, copied on write from the guest's image",
    ),
    (libc::SYS_mprotect, When::Without(2, EXECUTABLE), "memory of an instance that grows"),
    (libc::SYS_munmap, When::Always, "memory that is given back"),
    (libc::SYS_mremap, When::Always, "memory of the allocator that grows; it keeps what may be done with it"),
    (
        libc::SYS_madvise,
        When::Always,
        "the pages of an instance: large ones where it has much memory, and back where it ended",
    ),
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
    let conditions: &[_] = match when {
        When::Always => return Ok(Vec::new()),
        When::ThroughPipe => &[(0, SeccompCmpOp::Eq, u64::from(pipe.cast_unsigned()))],
        When::Is(argument, value) => &[(argument, SeccompCmpOp::Eq, value)],
        When::Without(argument, bits) => &[(argument, SeccompCmpOp::MaskedEq(bits), 0)],
        When::MapsPrivately => {
            &[(2, SeccompCmpOp::MaskedEq(EXECUTABLE), 0), (3, SeccompCmpOp::MaskedEq(TYPE), PRIVATE)]
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

    /// What the filter does with a call, by the numbers that the kernel gives it (`seccomp_data` of `linux/seccomp.h`): a machine for
    /// those instructions of `bpf(4)` that a filter of comparisons has.
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
        let filter = program(0, SeccompAction::KillProcess).unwrap();
        let allows = |call, protection: i32, flags: i32, descriptor: u64| {
            let [protection, flags] = [protection, flags].map(|bits| u64::from(bits.cast_unsigned()));
            verdict(&filter, call, [0, 4096, protection, flags, descriptor, 0]) == libc::SECCOMP_RET_ALLOW
        };
        let maps = |protection, flags| allows(libc::SYS_mmap, protection, flags, 5);
        let (read, write, exec) = (libc::PROT_READ, libc::PROT_WRITE, libc::PROT_EXEC);
        // The allocator, and an instance's memory over the image of the guest.
        assert!(maps(read | write, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE));
        assert!(maps(read | write, libc::MAP_PRIVATE | libc::MAP_FIXED));
        // Whatever else is asked for, and whatever it is read from.
        for others in [0, libc::MAP_ANONYMOUS, libc::MAP_FIXED, libc::MAP_NORESERVE, libc::MAP_POPULATE] {
            for shared in [0, libc::MAP_SHARED, libc::MAP_SHARED_VALIDATE, libc::MAP_TYPE] {
                for protection in [0, read, write, read | write] {
                    assert!(!maps(protection, shared | others), "{protection} {shared} {others}");
                }
            }
            assert!(!maps(read | exec, libc::MAP_PRIVATE | others));
        }
        assert!(allows(libc::SYS_mprotect, read | write, 0, 0) && !allows(libc::SYS_mprotect, read | exec, 0, 0));
        // What could make a shared mapping of one that is there, or write to a file.
        for call in
            [libc::SYS_remap_file_pages, libc::SYS_shmat, libc::SYS_pwrite64, libc::SYS_ftruncate, libc::SYS_fallocate]
        {
            assert!(!allows(call, read | write, 0, 0), "{call}");
        }
    }

    #[test]
    fn each_call_stands_once_and_has_a_reason() {
        let calls: BTreeSet<c_long> = LINES.iter().map(|(call, _, _)| *call).collect();
        assert_eq!(calls.len(), LINES.len());
        assert!(LINES.iter().all(|(_, _, reason)| !reason.is_empty()));
    }
}
