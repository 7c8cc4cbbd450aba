//! `file-system-delete`, `file-system-write`, `file-system-read`: files, by any road to the file system.

use super::{Findings, Rule, Source, shown};
use crate::facts::Role;
use crate::finding::{RuleId, Severity};
use crate::value::Root;

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

const MODULES: [&str; 5] = ["fs", "fs/promises", "fs-extra", "rimraf", "graceful-fs"];

fn check(source: &Source<'_>, findings: &mut Findings<'_>, access: Access) {
    for used in &source.facts.uses {
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
            let severity = match access {
                Access::Delete => Severity::Critical,
                Access::Write => Severity::High,
                Access::Read => Severity::Medium,
            };
            findings.add(severity, used.span, format!("hands files to whatever comes: `{}`", shown(used)), SUGGESTION);
            continue;
        }
        let Some((found, severity)) = names.iter().rev().find_map(|name| kind(name)) else { continue };
        if found == access {
            let what = match access {
                Access::Delete => "deletes files",
                Access::Write => "writes files",
                Access::Read => "reads files",
            };
            findings.add(severity, used.span, format!("{what}: `{}`", shown(used)), SUGGESTION);
        }
    }
    // A module that does one thing.
    for (module, span) in &source.facts.modules {
        if access == Access::Delete && module == "rimraf" {
            findings.add(Severity::Critical, *span, "deletes files: `rimraf`".to_owned(), SUGGESTION);
        }
    }
}

/// What a function of the file system does, with or without `Sync`.
fn kind(name: &str) -> Option<(Access, Severity)> {
    let name = name.strip_suffix("Sync").unwrap_or(name);
    Some(match name {
        "rm" | "rmdir" | "unlink" | "remove" | "emptyDir" | "truncate" | "ftruncate" => {
            (Access::Delete, Severity::Critical)
        }
        "writeFile" | "appendFile" | "createWriteStream" | "rename" | "copyFile" | "cp" | "write" | "writev"
        | "symlink" | "link" | "chmod" | "chown" | "lchown" | "fchmod" | "utimes" | "outputFile" | "move" | "copy"
        | "writeTextFile" | "writeJson" | "create" => (Access::Write, Severity::High),
        "mkdir" | "mkdtemp" | "ensureDir" | "makeTempDir" | "makeTempFile" => (Access::Write, Severity::Medium),
        "readFile" | "createReadStream" | "readdir" | "stat" | "lstat" | "open" | "opendir" | "access" | "exists"
        | "readlink" | "realpath" | "watch" | "watchFile" | "read" | "readTextFile" | "readDir" | "file"
        | "readJson" | "glob" => (Access::Read, Severity::Medium),
        _ => return None,
    })
}
