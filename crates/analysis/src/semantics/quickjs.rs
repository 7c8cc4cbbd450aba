//! The QuickJS modules `std` and `os`, which are globals as well if the engine is started with
//! them.
//!
//! Names and meanings are those of the QuickJS documentation, "Standard library". Node has a module
//! `os` too, whose members have other names.

use crate::semantics::value::{AccessPath, Key, Root};

/// The kind of access that a member of these modules gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Read,
    Write,
    Delete,
    /// Starts another program.
    Process,
    Environment,
    Network,
    /// Runs text as code.
    Code,
    /// Blocks the thread for some time.
    Sleep,
}

/// Returns the module that an access path belongs to, and the keys below it.
fn module_path(thing: &AccessPath) -> Option<(&str, &[Key])> {
    match &thing.root {
        Root::Module(name) => {
            let name = name.strip_prefix("qjs:").unwrap_or(name);
            matches!(name, "std" | "os").then_some((name, thing.keys.as_slice()))
        }
        Root::Global => match thing.keys.as_slice() {
            [Key::Name(name), path @ ..] if matches!(&**name, "std" | "os") => Some((name, path)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the kind of access of an access path.
pub(crate) fn reach_of(thing: &AccessPath) -> Option<Reach> {
    let (module, path) = module_path(thing)?;
    let (first, last) = (path.first().and_then(Key::name)?, path.last().and_then(Key::name)?);
    Some(match (module, first) {
        // Writes to an opened file.
        ("std", "open" | "fdopen" | "tmpfile") if matches!(last, "puts" | "printf" | "write" | "putByte") => {
            Reach::Write
        }
        ("std", "tmpfile") | ("os", "write" | "rename" | "mkdir" | "symlink" | "utimes" | "setWriteHandler") => {
            Reach::Write
        }
        ("std", "loadFile" | "open" | "fdopen" | "in")
        | ("os", "open" | "read" | "readdir" | "stat" | "lstat" | "realpath" | "readlink" | "setReadHandler") => {
            Reach::Read
        }
        ("os", "remove") => Reach::Delete,
        ("std", "popen") | ("os", "exec" | "kill" | "waitpid" | "signal" | "Worker") => Reach::Process,
        ("std", "getenv" | "setenv" | "unsetenv" | "getenviron" | "exit") | ("os", "getcwd" | "chdir") => {
            Reach::Environment
        }
        ("std", "urlGet") => Reach::Network,
        ("std", "evalScript" | "loadScript") => Reach::Code,
        ("os", "sleep") => Reach::Sleep,
        _ => return None,
    })
}

/// Returns whether this is a whole module, which escapes with all of its members.
pub(crate) fn is_whole_module(thing: &AccessPath) -> bool {
    match (&thing.root, module_path(thing)) {
        (Root::Global, Some((_, path))) => path.is_empty(),
        (Root::Module(name), Some((module, path))) => path.is_empty() && (module == "std" || name.starts_with("qjs:")),
        _ => false,
    }
}
