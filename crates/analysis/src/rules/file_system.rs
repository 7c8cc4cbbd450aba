//! `file-system-delete`, `file-system-write`, `file-system-read`: files, by any road to the file system.

use super::quickjs::{self, Reach};
use super::{Findings, Rule, Source, shown};
use crate::facts::{Call, Role, Use};
use crate::finding::{RuleId, Severity};
use crate::value::{Root, Value};

pub(super) const DELETE: Rule = Rule {
    id: RuleId("file-system-delete"),
    worst: Severity::Critical,
    page: include_str!("file_system_delete.md"),
    check: |source, findings| check(source, findings, Access::Delete),
};

pub(super) const WRITE: Rule = Rule {
    id: RuleId("file-system-write"),
    worst: Severity::High,
    page: include_str!("file_system_write.md"),
    check: |source, findings| check(source, findings, Access::Write),
};

pub(super) const READ: Rule = Rule {
    id: RuleId("file-system-read"),
    worst: Severity::Medium,
    page: include_str!("file_system_read.md"),
    check: |source, findings| check(source, findings, Access::Read),
};

const SUGGESTION: &str = "take the content as a parameter and return the result: a cell has no files unless granted";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Delete,
    Write,
    Read,
}

const MODULES: [&str; 7] = ["fs", "fs/promises", "fs-extra", "rimraf", "graceful-fs", "memfs", "original-fs"];

/// Modules that do one thing.
const OF_ONE_USE: [(&str, Access); 12] = [
    ("rimraf", Access::Delete),
    ("del", Access::Delete),
    ("trash", Access::Delete),
    ("write-file-atomic", Access::Write),
    ("jsonfile", Access::Write),
    ("mkdirp", Access::Write),
    ("better-sqlite3", Access::Write),
    ("sqlite", Access::Write),
    ("glob", Access::Read),
    ("globby", Access::Read),
    ("fast-glob", Access::Read),
    ("chokidar", Access::Read),
];

fn check(source: &Source<'_>, findings: &mut Findings<'_>, access: Access) {
    for used in source.facts.uses.iter().chain(&source.facts.results) {
        if used.role != Role::AskedAbout {
            found_in_engine(used, findings, access);
        }
        let of_module = used.thing.module().is_some_and(|module| MODULES.contains(&module));
        let of_global = matches!(used.thing.root, Root::Global)
            && (used.thing.is_global_below(&["fs"])
                || used.thing.is_global_below(&["Deno"])
                || used.thing.is_global_below(&["Bun"]));
        if !(of_module || of_global) {
            continue;
        }
        let names: Vec<&str> = used.thing.path.iter().filter_map(|key| key.name()).collect();
        let whole = of_module
            && (used.thing.path.is_empty() && used.role == Role::Plain
                || used.thing.last().is_none() && !used.thing.path.is_empty());
        if whole {
            // What becomes of it, only running tells: all of it.
            findings.add(
                access.severity(),
                used.span,
                format!("hands files to whatever comes: `{}`", shown(used)),
                SUGGESTION,
            );
            continue;
        }
        let Some((found, severity)) = names.iter().rev().find_map(|name| kind(name)) else { continue };
        if found == access {
            findings.add(severity, used.span, format!("{}: `{}`", access.what(), shown(used)), SUGGESTION);
        }
    }
    for (module, span) in &source.facts.modules {
        let name = module.strip_prefix("node:").unwrap_or(module);
        if OF_ONE_USE.contains(&(name, access)) {
            findings.add(access.severity(), *span, format!("{}: `{module}`", access.what()), SUGGESTION);
        }
    }
    for call in &source.facts.calls {
        if access == Access::Write && opens_to_write(call) {
            findings.add(Severity::High, call.span, "opens a file to write to it".to_owned(), SUGGESTION);
        }
    }
}

/// The files of QuickJS (`std`, `os`), and the streams of Javy, which runs QuickJS in WebAssembly.
fn found_in_engine(used: &Use, findings: &mut Findings<'_>, access: Access) {
    let thing = &used.thing;
    let javy = thing.is_global_below(&["Javy"]);
    let whole = quickjs::is_whole(thing) || (javy && !matches!(thing.path.as_slice(), [_, _, _, ..]));
    let found = match quickjs::reach(thing) {
        // Where such a thing goes as a whole, only running tells.
        _ if whole && used.role != Role::Named => Some(Access::Read),
        Some(Reach::Read) => Some(Access::Read),
        Some(Reach::Write) => Some(Access::Write),
        Some(Reach::Delete) => Some(Access::Delete),
        _ if javy => thing.last().and_then(kind).map(|(access, _)| access),
        _ => None,
    };
    if found == Some(access) {
        findings.add(access.severity(), used.span, format!("{}: `{}`", access.what(), shown(used)), SUGGESTION);
    }
}

impl Access {
    fn severity(self) -> Severity {
        match self {
            Self::Delete => Severity::Critical,
            Self::Write => Severity::High,
            Self::Read => Severity::Medium,
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Delete => "deletes files",
            Self::Write => "writes files",
            Self::Read => "reads files",
        }
    }
}

/// `open(path, "w")`, `Deno.open(path, { write: true })` is told by what is done with the file.
fn opens_to_write(call: &Call) -> bool {
    let Some(thing) = call.callee.as_thing() else { return false };
    let opens = matches!(thing.last(), Some("open" | "openSync"))
        && (thing.module().is_some_and(|module| MODULES.contains(&module))
            || quickjs::reach(thing) == Some(Reach::Read));
    opens && call.args.get(1).and_then(Value::as_text).is_some_and(|flags| flags.contains(['w', 'a', '+']))
}

/// What a function of the file system does, with or without `Sync`.
fn kind(name: &str) -> Option<(Access, Severity)> {
    let name = name.strip_suffix("Sync").unwrap_or(name);
    Some(match name {
        "rm" | "rmdir" | "unlink" | "remove" | "emptyDir" | "delete" | "truncate" | "ftruncate" => {
            (Access::Delete, Severity::Critical)
        }
        "writeFile" | "appendFile" | "createWriteStream" | "rename" | "copyFile" | "cp" | "write" | "writev"
        | "symlink" | "link" | "chmod" | "chown" | "lchown" | "fchmod" | "utimes" | "outputFile" | "outputJson"
        | "writer" | "createFile" | "move" | "copy" | "writeTextFile" | "writeJson" | "create" | "toStdout" => {
            (Access::Write, Severity::High)
        }
        "mkdir" | "mkdtemp" | "ensureDir" | "makeTempDir" | "makeTempFile" => (Access::Write, Severity::Medium),
        "readFile" | "createReadStream" | "readdir" | "stat" | "lstat" | "open" | "opendir" | "access" | "exists"
        | "readlink" | "realpath" | "watch" | "watchFile" | "read" | "readTextFile" | "readDir" | "file"
        | "readJson" | "glob" | "readLines" | "openAsBlob" | "readv" | "statfs" | "fromStdin" => {
            (Access::Read, Severity::Medium)
        }
        _ => return None,
    })
}
