//! System calls that change the disk, and faults to inject into them.
//!
//! Invariant: every call that may change something has a [`CallKind`]; calls that only read have
//! one on request. A worker's replies go to standard output and are distinct from its writes to
//! files.

use std::path::PathBuf;

use nix::errno::Errno;
use nix::libc::{self, c_long, user_regs_struct};
use nix::sys::ptrace;
use nix::unistd::Pid;

/// An intercepted system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InterceptedCall {
    pub(crate) kind: CallKind,
    /// The file that it is about.
    pub(crate) file: PathBuf,
}

/// The effect of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Sends a reply.
    Answer,
    /// Writes this many bytes to a file.
    Write(u64),
    /// Syncs a file or a folder.
    Sync,
    /// Syncs all files.
    SyncAll,
    /// Creates a file that must not exist.
    Create,
    /// Opens a file, creating it if missing.
    Open,
    /// Creates a folder.
    Folder,
    /// Renames a file.
    Rename,
    /// Removes a name.
    Remove,
    /// Changes the length, owner or mode of a file.
    Alter,
    /// Opens, reads or examines something.
    Look,
    /// Acquires or releases a lock.
    Lock,
}

/// The number of a system call and its first arguments (`syscall(2)`).
pub(crate) struct Syscall {
    number: i64,
    arguments: [u64; 3],
}

/// A fault to inject into a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InjectedFault {
    /// Kills the process before the call.
    Kill,
    /// The call fails without an effect.
    Fail(Errno),
    /// The call fails with ENOSPC, as do all later ones that need space.
    Full,
    /// The call fails with EIO, as do all later ones.
    Broken,
    /// Half of the bytes are written, and the call returns that number.
    Short,
}

impl From<&user_regs_struct> for Syscall {
    fn from(regs: &user_regs_struct) -> Self {
        Self { number: regs.orig_rax.cast_signed(), arguments: [regs.rdi, regs.rsi, regs.rdx] }
    }
}

impl Syscall {
    /// Creates a call with every argument bit set.
    fn any(number: i64) -> Self {
        Self { number, arguments: [u64::MAX; 3] }
    }
}

impl InjectedFault {
    /// Whether the fault applies to a call of this kind.
    pub(crate) fn applies_to(self, kind: CallKind) -> bool {
        match self {
            Self::Kill => true,
            Self::Fail(Errno::EINTR) => matches!(kind, CallKind::Write(_)),
            Self::Fail(_) | Self::Broken => kind != CallKind::Answer,
            Self::Full => matches!(kind, CallKind::Write(_) | CallKind::Create | CallKind::Folder),
            Self::Short => matches!(kind, CallKind::Write(2..)),
        }
    }
}

impl CallKind {
    /// Whether calls with this number may change something.
    pub(crate) fn is_mutating(number: i64) -> bool {
        // No thread has this identifier, so the flags of `openat2` are unknown and count as set.
        Self::mutation(Pid::from_raw(0), &Syscall::any(number)).is_some()
    }

    /// Whether calls with this number read something, or lock it.
    pub(crate) fn is_observing(number: i64) -> bool {
        Self::observation(&Syscall::any(number)).is_some()
    }

    /// Returns what the call that a thread is about to make changes.
    pub(crate) fn mutation(thread: Pid, syscall: &Syscall) -> Option<Self> {
        let opened = |flags: u64| {
            let has = |flag: i32| flags & u64::from(flag.cast_unsigned()) != 0;
            let made = has(libc::O_CREAT).then_some(if has(libc::O_EXCL) { Self::Create } else { Self::Open });
            made.or_else(|| has(libc::O_TRUNC).then_some(Self::Alter))
        };
        match syscall.number {
            libc::SYS_write | libc::SYS_writev => match syscall.arguments[0] {
                0 | 2 => None,
                1 => Some(Self::Answer),
                _ => Some(Self::Write(syscall.arguments[2])),
            },
            libc::SYS_pwrite64 => Some(Self::Write(syscall.arguments[2])),
            libc::SYS_pwritev
            | libc::SYS_pwritev2
            | libc::SYS_copy_file_range
            | libc::SYS_sendfile
            | libc::SYS_fallocate => Some(Self::Write(1)),
            libc::SYS_fsync | libc::SYS_fdatasync => Some(Self::Sync),
            libc::SYS_syncfs | libc::SYS_sync => Some(Self::SyncAll),
            libc::SYS_open => opened(syscall.arguments[1]),
            libc::SYS_openat => opened(syscall.arguments[2]),
            libc::SYS_openat2 => {
                opened(read_word(thread, syscall.arguments[2]).map_or(u64::MAX, c_long::cast_unsigned))
            }
            libc::SYS_creat => Some(Self::Open),
            libc::SYS_mkdir | libc::SYS_mkdirat => Some(Self::Folder),
            libc::SYS_rename | libc::SYS_renameat | libc::SYS_renameat2 => Some(Self::Rename),
            libc::SYS_link | libc::SYS_linkat | libc::SYS_symlink | libc::SYS_symlinkat => Some(Self::Create),
            libc::SYS_unlink | libc::SYS_unlinkat | libc::SYS_rmdir => Some(Self::Remove),
            libc::SYS_truncate
            | libc::SYS_ftruncate
            | libc::SYS_chmod
            | libc::SYS_fchmod
            | libc::SYS_fchmodat
            | libc::SYS_fchown
            | libc::SYS_fchownat
            | libc::SYS_utimensat => Some(Self::Alter),
            _ => None,
        }
    }
}

impl CallKind {
    /// Returns what the call that a thread is about to make reads or locks.
    pub(crate) fn observation(syscall: &Syscall) -> Option<Self> {
        match syscall.number {
            libc::SYS_open
            | libc::SYS_openat
            | libc::SYS_openat2
            | libc::SYS_read
            | libc::SYS_pread64
            | libc::SYS_getdents64
            | libc::SYS_stat
            | libc::SYS_fstat
            | libc::SYS_lstat
            | libc::SYS_newfstatat
            | libc::SYS_statx
            | libc::SYS_readlinkat => Some(Self::Look),
            libc::SYS_fcntl | libc::SYS_flock => Some(Self::Lock),
            _ => None,
        }
    }
}

impl InterceptedCall {
    /// Creates the description of the call that a thread is about to make.
    pub(crate) fn new(kind: CallKind, thread: Pid, syscall: &Syscall) -> Self {
        let opened = |number: u64| std::fs::read_link(format!("/proc/{thread}/fd/{number}")).unwrap_or_default();
        let file = match syscall.number {
            libc::SYS_open
            | libc::SYS_creat
            | libc::SYS_mkdir
            | libc::SYS_unlink
            | libc::SYS_rmdir
            | libc::SYS_rename
            | libc::SYS_truncate
            | libc::SYS_stat
            | libc::SYS_lstat
            | libc::SYS_chmod => read_string(thread, syscall.arguments[0]).into(),
            libc::SYS_openat
            | libc::SYS_openat2
            | libc::SYS_mkdirat
            | libc::SYS_unlinkat
            | libc::SYS_renameat
            | libc::SYS_renameat2
            | libc::SYS_fchmodat
            | libc::SYS_fchownat
            | libc::SYS_newfstatat
            | libc::SYS_statx
            | libc::SYS_readlinkat => opened(syscall.arguments[0]).join(read_string(thread, syscall.arguments[1])),
            _ => opened(syscall.arguments[0]),
        };
        Self { kind, file }
    }
}

/// Reads a word from a thread's memory.
fn read_word(thread: Pid, address: u64) -> Option<c_long> {
    let address = usize::try_from(address).ok()?;
    ptrace::read(thread, std::ptr::with_exposed_provenance_mut(address)).ok()
}

/// Reads a NUL-terminated string from a thread's memory.
fn read_string(thread: Pid, address: u64) -> String {
    let words = (0..512).map_while(|index| read_word(thread, address + 8 * index));
    let bytes: Vec<u8> = words.flat_map(c_long::to_ne_bytes).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
