//! `file-system-delete`, `file-system-write`, `file-system-read`: access to the file system, in any
//! form.

use toolcell_i18n::{Message, message, msgid};

use super::{Findings, Rule, RuleContext, display_path};
use crate::report::finding::{RuleId, Severity};
use crate::semantics::facts::{Call, Use, UseKind};
use crate::semantics::quickjs::{self, Reach};
use crate::semantics::value::{Root, Value};

pub(super) const DELETE: Rule = Rule {
    id: RuleId("file-system-delete"),
    max_severity: Severity::Critical,
    docs: include_str!("file_system_delete.md"),
    check: |source, findings| check(source, findings, FileAccess::Delete),
};

pub(super) const WRITE: Rule = Rule {
    id: RuleId("file-system-write"),
    max_severity: Severity::High,
    docs: include_str!("file_system_write.md"),
    check: |source, findings| check(source, findings, FileAccess::Write),
};

pub(super) const READ: Rule = Rule {
    id: RuleId("file-system-read"),
    max_severity: Severity::Medium,
    docs: include_str!("file_system_read.md"),
    check: |source, findings| check(source, findings, FileAccess::Read),
};

const SUGGESTION: &str =
    msgid!("take the content as a parameter and return the result: a cell has no files unless granted");

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileAccess {
    Delete,
    Write,
    Read,
}

const MODULES: [&str; 7] = ["fs", "fs/promises", "fs-extra", "rimraf", "graceful-fs", "memfs", "original-fs"];

/// Modules with a single purpose.
const SINGLE_PURPOSE_MODULES: [(&str, FileAccess); 12] = [
    ("rimraf", FileAccess::Delete),
    ("del", FileAccess::Delete),
    ("trash", FileAccess::Delete),
    ("write-file-atomic", FileAccess::Write),
    ("jsonfile", FileAccess::Write),
    ("mkdirp", FileAccess::Write),
    ("better-sqlite3", FileAccess::Write),
    ("sqlite", FileAccess::Write),
    ("glob", FileAccess::Read),
    ("globby", FileAccess::Read),
    ("fast-glob", FileAccess::Read),
    ("chokidar", FileAccess::Read),
];

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>, access: FileAccess) {
    for used in source.facts.uses.iter().chain(&source.facts.result_uses) {
        if used.kind != UseKind::TypeTested {
            check_engine_files(used, findings, access);
        }
        let of_module = used.path.module_name().is_some_and(|module| MODULES.contains(&module));
        let of_global = matches!(used.path.root, Root::Global)
            && (used.path.is_global_below(&["fs"])
                || used.path.is_global_below(&["Deno"])
                || used.path.is_global_below(&["Bun"]));
        if !(of_module || of_global) {
            continue;
        }
        let names: Vec<&str> = used.path.keys.iter().filter_map(|key| key.name()).collect();
        let whole = of_module
            && (used.path.keys.is_empty() && used.kind == UseKind::Plain
                || used.path.last_name().is_none() && !used.path.keys.is_empty());
        if whole {
            // The module escapes as a whole, so every operation is possible.
            findings.add(
                access.severity(),
                used.span,
                message!("passes on access to files: `{path}`", path = display_path(used)),
                SUGGESTION,
            );
            continue;
        }
        let Some((found, severity)) = names.iter().rev().find_map(|name| classify_function(name)) else { continue };
        if found == access {
            findings.add(severity, used.span, access.describe(&display_path(used)), SUGGESTION);
        }
    }
    for (module, span) in &source.facts.modules {
        let name = module.strip_prefix("node:").unwrap_or(module);
        if SINGLE_PURPOSE_MODULES.contains(&(name, access)) {
            findings.add(access.severity(), *span, access.describe(module), SUGGESTION);
        }
    }
    for call in &source.facts.calls {
        if access == FileAccess::Write && opens_to_write(call) {
            findings.add(Severity::High, call.span, message!("opens a file to write to it"), SUGGESTION);
        }
    }
}

/// Reports the files of QuickJS (`std`, `os`), and the streams of Javy, which runs QuickJS in
/// WebAssembly.
fn check_engine_files(used: &Use, findings: &mut Findings<'_>, access: FileAccess) {
    let thing = &used.path;
    let javy = thing.is_global_below(&["Javy"]);
    let whole = quickjs::is_whole_module(thing) || (javy && !matches!(thing.keys.as_slice(), [_, _, _, ..]));
    let found = match quickjs::reach_of(thing) {
        // The module escapes as a whole, so its use is only known at run time.
        _ if whole && used.kind != UseKind::Aliased => Some(FileAccess::Read),
        Some(Reach::Read) => Some(FileAccess::Read),
        Some(Reach::Write) => Some(FileAccess::Write),
        Some(Reach::Delete) => Some(FileAccess::Delete),
        _ if javy => thing.last_name().and_then(classify_function).map(|(access, _)| access),
        _ => None,
    };
    if found == Some(access) {
        findings.add(access.severity(), used.span, access.describe(&display_path(used)), SUGGESTION);
    }
}

impl FileAccess {
    fn severity(self) -> Severity {
        match self {
            Self::Delete => Severity::Critical,
            Self::Write => Severity::High,
            Self::Read => Severity::Medium,
        }
    }

    fn describe(self, name: &str) -> Message {
        match self {
            Self::Delete => message!("deletes files: `{name}`", name),
            Self::Write => message!("writes files: `{name}`", name),
            Self::Read => message!("reads files: `{name}`", name),
        }
    }
}

/// Returns whether a call opens a file for writing: `open(path, "w")`. Files of
/// `Deno.open(path, { write: true })` are judged by how they are used.
fn opens_to_write(call: &Call) -> bool {
    let Some(thing) = call.callee.as_path() else { return false };
    let opens = matches!(thing.last_name(), Some("open" | "openSync"))
        && (thing.module_name().is_some_and(|module| MODULES.contains(&module))
            || quickjs::reach_of(thing) == Some(Reach::Read));
    opens && call.args.get(1).and_then(Value::as_text).is_some_and(|flags| flags.contains(['w', 'a', '+']))
}

/// Returns the access of a file-system function, with or without `Sync`.
fn classify_function(name: &str) -> Option<(FileAccess, Severity)> {
    let name = name.strip_suffix("Sync").unwrap_or(name);
    Some(match name {
        "rm" | "rmdir" | "unlink" | "remove" | "emptyDir" | "delete" | "truncate" | "ftruncate" => {
            (FileAccess::Delete, Severity::Critical)
        }
        "writeFile" | "appendFile" | "createWriteStream" | "rename" | "copyFile" | "cp" | "write" | "writev"
        | "symlink" | "link" | "chmod" | "chown" | "lchown" | "fchmod" | "utimes" | "outputFile" | "outputJson"
        | "writer" | "createFile" | "move" | "copy" | "writeTextFile" | "writeJson" | "create" | "toStdout" => {
            (FileAccess::Write, Severity::High)
        }
        "mkdir" | "mkdtemp" | "ensureDir" | "makeTempDir" | "makeTempFile" => (FileAccess::Write, Severity::Medium),
        "readFile" | "createReadStream" | "readdir" | "stat" | "lstat" | "open" | "opendir" | "access" | "exists"
        | "readlink" | "realpath" | "watch" | "watchFile" | "read" | "readTextFile" | "readDir" | "file"
        | "readJson" | "glob" | "readLines" | "openAsBlob" | "readv" | "statfs" | "fromStdin" => {
            (FileAccess::Read, Severity::Medium)
        }
        _ => return None,
    })
}
