//! The modules `std` and `os` of QuickJS, which are globals as well where the engine is started with them.
//!
//! Names and meanings as in the QuickJS documentation, "Standard library". `os` is a module of Node too, whose members have
//! other names.

use crate::value::{Key, Root, Thing};

/// What a member of these modules reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Read,
    Write,
    Delete,
    /// Another program.
    Process,
    Environment,
    Network,
    /// Text that becomes code.
    Code,
    /// Nothing, for some time, in which nothing else runs.
    Sleep,
}

/// Whether this is one of the modules, or something in it, and the path below the module.
fn path(thing: &Thing) -> Option<(&str, &[Key])> {
    match &thing.root {
        Root::Module(name) => {
            let name = name.strip_prefix("qjs:").unwrap_or(name);
            matches!(name, "std" | "os").then_some((name, thing.path.as_slice()))
        }
        Root::Global => match thing.path.as_slice() {
            [Key::Name(name), path @ ..] if matches!(&**name, "std" | "os") => Some((name, path)),
            _ => None,
        },
        _ => None,
    }
}

/// What a thing of these modules reaches.
pub(super) fn reach(thing: &Thing) -> Option<Reach> {
    let (module, path) = path(thing)?;
    let (first, last) = (path.first().and_then(Key::name)?, path.last().and_then(Key::name)?);
    Some(match (module, first) {
        // What is done with a file that was opened.
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

/// Whether this is one of the globals as a whole, so that all of it is handed on.
pub(super) fn is_whole(thing: &Thing) -> bool {
    match (&thing.root, path(thing)) {
        (Root::Global, Some((_, path))) => path.is_empty(),
        (Root::Module(name), Some((module, path))) => path.is_empty() && (module == "std" || name.starts_with("qjs:")),
        _ => false,
    }
}
