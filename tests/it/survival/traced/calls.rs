//! The calls to the kernel that change a disk, and what can happen to them.
//!
//! Invariant: a call that could leave something behind has a [`Kind`]; one that only looks has one where it is asked for. Answers of a clerk go
//! to its standard output and are told apart from what it writes to files.

use std::path::PathBuf;

use nix::errno::Errno;
use nix::libc::{self, c_long, user_regs_struct};
use nix::sys::ptrace;
use nix::unistd::Pid;

/// A call that changes something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) kind: Kind,
    /// The file it is about.
    pub(crate) file: PathBuf,
}

/// What a call changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An answer is given.
    Answer,
    /// So many bytes are written to a file.
    Write(u64),
    /// A file or a folder is made to outlast a loss of power.
    Sync,
    /// All files are.
    SyncAll,
    /// A file is made that must not be there yet.
    Create,
    /// A file is opened, and made where it is not there.
    Open,
    /// A folder is made.
    Folder,
    /// A name leads elsewhere.
    Rename,
    /// A name is taken away.
    Remove,
    /// A file gets another length, owner or mode.
    Alter,
    /// Something is opened, read or looked at.
    Look,
    /// Something is locked, or given free.
    Lock,
}

/// What a thread asks of the kernel: the number of the call, and its first arguments (`syscall(2)`).
pub(crate) struct Syscall {
    number: i64,
    arguments: [u64; 3],
}

/// What happens to a call in place of what it asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process is killed before it.
    Kill,
    /// It fails, and nothing changes.
    Fail(Errno),
    /// It fails for lack of space, and so does every later one that takes space.
    Full,
    /// It fails, and so does every later one.
    Broken,
    /// Half of the bytes are written, and it says so.
    Short,
}

impl From<&user_regs_struct> for Syscall {
    fn from(regs: &user_regs_struct) -> Self {
        Self { number: regs.orig_rax.cast_signed(), arguments: [regs.rdi, regs.rsi, regs.rdx] }
    }
}

impl Syscall {
    /// A call that asks for everything that this one can be asked for.
    fn any(number: i64) -> Self {
        Self { number, arguments: [u64::MAX; 3] }
    }
}

impl Fault {
    /// Whether it can happen to a call.
    pub(crate) fn hits(self, kind: Kind) -> bool {
        match self {
            Self::Kill => true,
            Self::Fail(Errno::EINTR) => matches!(kind, Kind::Write(_)),
            Self::Fail(_) | Self::Broken => kind != Kind::Answer,
            Self::Full => matches!(kind, Kind::Write(_) | Kind::Create | Kind::Folder),
            Self::Short => matches!(kind, Kind::Write(2..)),
        }
    }
}

impl Kind {
    /// Whether a call with this number can change something.
    pub(crate) fn changes(number: i64) -> bool {
        // No thread has this number: what it would open is not known.
        Self::of(Pid::from_raw(0), &Syscall::any(number)).is_some()
    }

    /// Whether a call with this number looks at something, or locks it.
    pub(crate) fn looks(number: i64) -> bool {
        Self::of_look(&Syscall::any(number)).is_some()
    }

    /// What a thread that stands before a call is about to change.
    pub(crate) fn of(thread: Pid, syscall: &Syscall) -> Option<Self> {
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
            libc::SYS_openat2 => opened(word(thread, syscall.arguments[2]).map_or(u64::MAX, c_long::cast_unsigned)),
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

impl Kind {
    /// What a thread that stands before a call is about to look at, or to lock.
    pub(crate) fn of_look(syscall: &Syscall) -> Option<Self> {
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

impl Call {
    /// The call that a thread stands before, with the file that it is about.
    pub(crate) fn new(kind: Kind, thread: Pid, syscall: &Syscall) -> Self {
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
            | libc::SYS_chmod => text(thread, syscall.arguments[0]).into(),
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
            | libc::SYS_readlinkat => opened(syscall.arguments[0]).join(text(thread, syscall.arguments[1])),
            _ => opened(syscall.arguments[0]),
        };
        Self { kind, file }
    }
}

/// A word of the memory of a thread.
fn word(thread: Pid, address: u64) -> Option<c_long> {
    let address = usize::try_from(address).ok()?;
    ptrace::read(thread, std::ptr::with_exposed_provenance_mut(address)).ok()
}

/// A text in the memory of a thread, up to its NUL.
fn text(thread: Pid, address: u64) -> String {
    let words = (0..512).map_while(|index| word(thread, address + 8 * index));
    let bytes: Vec<u8> = words.flat_map(c_long::to_ne_bytes).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
