//! Import of tools from a bundle.
//!
//! Invariant: everything is checked before anything is stored, and no claim of a bundle is trusted.
//! A tool's identifier follows from its content, its scores come from the analysis, and it is
//! stored unverified and unapproved. An import is one transaction: all tools or none.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use rusqlite::Connection;
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize, Message, message, msgid};
use toolcell_tool::{ToolId, ToolMetadata, ToolName, ToolSpec};

use crate::audit::AuditEvent;
use crate::catalog::commit::{VersionFiles, latest_version};
use crate::catalog::history::{IsLost, new_tool_version};
use crate::catalog::status::demote;
use crate::catalog::{FindError, HistoryError, NewTool, OnConflict, ToolRef};
use crate::error::{Fault, impl_maybe_fault};
use crate::replication::change::Change;
use crate::version::Scores;

use super::Bundles;
use super::format::{BUNDLE_LIMIT, BundleLine, Header, KIND};

/// The maximum length of a line, in bytes: a tool with all its metadata and a long history.
const LINE_LIMIT: usize = 16 << 20;
/// The maximum number of taken names that an error lists.
const MAX_LISTED_CONFLICTS: usize = 10;

/// A bundle that was read and checked: every tool matches its identifier, and no name occurs twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    tools: Vec<ImportedTool>,
}

/// A tool in a bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTool {
    /// The specification of the tool.
    pub spec: ToolSpec,
    /// The metadata of the tool.
    pub metadata: ToolMetadata,
    /// The earlier tools of its name, oldest first.
    pub earlier: Vec<(ToolSpec, ToolMetadata)>,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Tools whose names were free.
    pub added: Vec<(ToolName, ToolId)>,
    /// Tools whose names resolved to another tool.
    pub replaced: Vec<(ToolName, ToolId)>,
    /// The number of tools that were already there.
    pub unchanged: u64,
}

/// An import that failed.
#[derive(Debug, thiserror::Error, toolcell_i18n::Localize)]
#[non_exhaustive]
pub enum ImportError {
    /// The file is not a bundle.
    #[error("this is not a bundle: {0}")]
    NotABundle(Message),
    /// A newer version wrote the bundle.
    #[error("the bundle has the type `{0}`, this version reads `{KIND}`")]
    Newer(String),
    /// A line is invalid.
    #[error("line {line}: {reason}")]
    Line {
        /// The line number, from 1.
        line: usize,
        /// Why the line is invalid.
        reason: Message,
    },
    /// The bundle has more or fewer tools than its header says.
    #[error("the header of the bundle announces {says} tools, but the bundle has {has}")]
    Count {
        /// The number of tools in the header.
        says: u64,
        /// The actual number of tools.
        has: u64,
    },
    /// Names already resolve to other tools.
    #[error("{}", describe_conflicts(.0))]
    Taken(Vec<(ToolName, ToolId)>),
    /// The policy of the host refuses a tool.
    #[error("`{name}` is refused: {reason}")]
    Disallowed {
        /// The name of the tool.
        name: ToolName,
        /// The stable code.
        code: ErrorCode,
        /// The reason.
        reason: Message,
    },
    /// The analysis rejects a tool.
    #[error("`{name}` is refused: {reason}")]
    Refused {
        /// The name of the tool.
        name: ToolName,
        /// The reason.
        reason: Message,
    },
    /// A tool cannot be stored.
    #[error(transparent)]
    Store(#[from] HistoryError),
    /// The disk or the index failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl_maybe_fault!(ImportError);

fn describe_conflicts(names: &[(ToolName, ToolId)]) -> Message {
    let listed = names.iter().take(MAX_LISTED_CONFLICTS);
    let conflicts = Message::list(listed.map(|(name, id)| message!("`{name}` refers to {id}", name, id = id.short())));
    match names.len().saturating_sub(MAX_LISTED_CONFLICTS) {
        0 => message!("names are taken by other tools: {conflicts}", conflicts),
        more => message!("names are taken by other tools: {conflicts} and {more} more", conflicts, more),
    }
}

impl ImportError {
    /// The stable code of this error.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotABundle(_) | Self::Newer(_) => ErrorCode::BundleUnknown,
            Self::Line { .. } | Self::Count { .. } => ErrorCode::BundleInvalid,
            Self::Taken(_) => ErrorCode::NameTaken,
            Self::Disallowed { code, .. } => *code,
            Self::Refused { .. } => ErrorCode::CriticalRisk,
            Self::Store(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What the user can do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotABundle(_) => msgid!("use a file that `toolcell export` wrote"),
            Self::Newer(_) => msgid!("use the version that wrote it, or a newer one"),
            Self::Line { .. } | Self::Count { .. } => msgid!("get the bundle again; nothing was imported"),
            Self::Taken(_) => msgid!("nothing was imported; --replace imports them as new versions"),
            Self::Disallowed { .. } => msgid!("nothing was imported; `toolcell config show` shows the policy in force"),
            Self::Refused { .. } => msgid!("nothing was imported; `toolcell check` shows the findings"),
            Self::Store(error) => error.hint(),
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl Import {
    /// Reads a bundle and makes all checks that need no store.
    ///
    /// # Errors
    /// `bundle-unknown`, `bundle-invalid`
    pub fn read(bundle: &[u8]) -> Result<Self, ImportError> {
        if bundle.len() as u64 > BUNDLE_LIMIT {
            let reason = message!("it is {len} bytes, the limit is {limit}", len = bundle.len(), limit = BUNDLE_LIMIT);
            return Err(ImportError::NotABundle(reason));
        }
        let mut lines = (1..).zip(bundle.split_inclusive(|byte| *byte == b'\n'));
        let says = parse_header(lines.next().map(|(_, line)| line).unwrap_or_default())?;
        let mut newcomers = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (number, line) in lines {
            let wrong = |reason: Message| ImportError::Line { line: number, reason };
            // Reads no more lines than the header announces.
            if newcomers.len() as u64 == says {
                return Err(wrong(message!(
                    "the bundle has more than the {says} tools that its header announces",
                    says
                )));
            }
            let newcomer = parse_tool(line).map_err(wrong)?;
            if let Some(first) = seen.insert(newcomer.spec.name().case_folded(), number) {
                let name = newcomer.spec.name();
                return Err(wrong(message!("`{name}` is already in line {first}", name, first)));
            }
            newcomers.push(newcomer);
        }
        let has = newcomers.len() as u64;
        if has == says { Ok(Self { tools: newcomers }) } else { Err(ImportError::Count { says, has }) }
    }

    /// The tools of the bundle.
    #[must_use]
    pub fn tools(&self) -> &[ImportedTool] {
        &self.tools
    }
}

fn parse_header(line: &[u8]) -> Result<u64, ImportError> {
    #[derive(serde::Deserialize)]
    struct Kind {
        #[serde(rename = "type")]
        kind: String,
    }
    let start = &line[..line.len().min(1024)];
    let kind: Kind = serde_json::from_slice(start)
        .map_err(|_| ImportError::NotABundle(message!("the type in its first line is not `{kind}`", kind = KIND)))?;
    if kind.kind != KIND {
        let newer = kind.kind.starts_with("toolcell.bundle.");
        return Err(if newer {
            ImportError::Newer(kind.kind)
        } else {
            ImportError::NotABundle(message!("its type is `{kind}`", kind = kind.kind))
        });
    }
    let header: Header = serde_json::from_slice(start)
        .map_err(|error| ImportError::NotABundle(message!("its first line is invalid: {error}", error)))?;
    Ok(header.tools)
}

fn parse_tool(line: &[u8]) -> Result<ImportedTool, Message> {
    if line.len() > LINE_LIMIT {
        return Err(message!("it is {len} bytes, the limit is {limit}", len = line.len(), limit = LINE_LIMIT));
    }
    if !line.ends_with(b"\n") {
        return Err(message!("it is truncated"));
    }
    let line: BundleLine = serde_json::from_slice(line).map_err(|error| Message::verbatim(error.to_string()))?;
    let name = ToolName::parse(&line.name).map_err(|error| error.localize())?;
    let (spec, notes) = line.tool.verify(&name)?;
    let mut seen = HashSet::from([spec.id()]);
    let mut earlier = Vec::new();
    for before in line.earlier {
        let written = ToolName::parse(&before.name).map_err(|error| error.localize())?;
        if written.case_folded() != name.case_folded() {
            return Err(message!("`{written}` is not the same name as `{name}`", written, name));
        }
        if !seen.insert(before.tool.id) {
            return Err(message!("`{name}` contains {id} twice", name, id = before.tool.id));
        }
        earlier.push(before.tool.verify(&written)?);
    }
    Ok(ImportedTool { spec, metadata: notes, earlier })
}

impl Bundles<'_> {
    /// Imports the tools of a bundle, all or none. `judge` is the analysis: it returns the scores
    /// of a tool, or why it is rejected.
    ///
    /// # Errors
    /// `name-taken` with all such names, `critical-risk`, `tool-limit-reached`, or another
    /// [`Fault`].
    pub fn import(
        &self,
        import: &Import,
        judge: &dyn Fn(&ToolSpec) -> Result<Scores, Message>,
        when_taken: OnConflict,
        at: Timestamp,
    ) -> Result<ImportReport, ImportError> {
        self.import_audited(import, judge, when_taken, at, None)
    }

    pub(crate) fn import_audited(
        &self,
        import: &Import,
        judge: &dyn Fn(&ToolSpec) -> Result<Scores, Message>,
        when_taken: OnConflict,
        at: Timestamp,
        attempt: Option<AuditEvent<'_>>,
    ) -> Result<ImportReport, ImportError> {
        // What other nodes did to the names decides, too.
        self.db.follow()?;
        let mut taken = Vec::new();
        let mut judged = Vec::new();
        let mut imported = ImportReport::default();
        for newcomer in &import.tools {
            let name = newcomer.spec.name();
            let current = match self.catalog.find(&ToolRef::Name(name.clone())) {
                Ok(entry) => Some(entry),
                Err(FindError::Fault(fault)) => return Err(fault.into()),
                Err(_) => None,
            };
            let same = current.as_ref().is_some_and(|entry| entry.id == newcomer.spec.id());
            if same && self.catalog.find_lost(newcomer.spec.id())?.is_none() {
                imported.unchanged += 1;
                continue;
            }
            // A name can be rolled back to its earlier tools, so these are analysed as well.
            let all = newcomer.earlier.iter().filter(|_| current.is_none()).map(|(spec, notes)| (spec, notes));
            let steps = all.chain([(&newcomer.spec, &newcomer.metadata)]).map(|(spec, notes)| match judge(spec) {
                Ok(scores) => Ok(NewTool { spec, metadata: notes, scores, at }),
                Err(reason) => Err(ImportError::Refused { name: name.clone(), reason }),
            });
            let steps = steps.collect::<Result<Vec<_>, _>>()?;
            taken.extend(current.as_ref().filter(|_| !same).map(|entry| (entry.name.clone(), entry.id)));
            judged.push((steps, current.is_some()));
        }
        if when_taken == OnConflict::Refuse && !taken.is_empty() {
            return Err(ImportError::Taken(taken));
        }
        let chapters: Vec<NameImport<'_>> =
            judged.into_iter().map(|(steps, replaces)| NameImport { steps, is_replacement: replaces }).collect();
        for chapter in &chapters {
            let list = if chapter.is_replacement { &mut imported.replaced } else { &mut imported.added };
            list.extend(chapter.steps.last().map(|step| (step.spec.name().clone(), step.spec.id())));
        }
        self.write_import(&chapters, when_taken, attempt)?;
        Ok(imported)
    }

    /// Commits all changes in one transaction.
    fn write_import(
        &self,
        chapters: &[NameImport<'_>],
        when_taken: OnConflict,
        attempt: Option<AuditEvent<'_>>,
    ) -> Result<(), ImportError> {
        self.db.directory.check_writable()?;
        let sent = RefCell::new(HashSet::new());
        for step in chapters.iter().flat_map(|chapter| &chapter.steps) {
            self.catalog.release_lost_tool(step.spec.id())?;
            let source = step.spec.source().as_bytes();
            let hash = blake3::hash(source);
            self.db.ensure_object(hash, source)?;
            self.db.share_objects([(hash, source)].into_iter())?;
            sent.borrow_mut().insert(hash);
        }
        let files = RefCell::new(VersionFiles::default());
        let shared = RefCell::new(Vec::new());
        let work = |transaction: &Connection, attempt: &mut AuditEvent<'_>| {
            *files.borrow_mut() = VersionFiles::default();
            shared.borrow_mut().clear();
            for NameImport { steps, is_replacement: replaces } in chapters {
                for (number, step) in steps.iter().enumerate() {
                    // Only the first version of a name that was free can conflict, with a
                    // concurrent commit.
                    let when_taken = if *replaces || number > 0 { OnConflict::Replace } else { when_taken };
                    demote(transaction, step.spec.id())?;
                    let before = latest_version(transaction, &step.spec.name().case_folded()).map_err(Fault::from)?;
                    let version = new_tool_version(step, before.as_ref(), when_taken, IsLost::No)?;
                    let source = step.spec.source().as_bytes();
                    let source = Some((blake3::hash(source), source));
                    let commit = self.catalog.write_version(
                        transaction,
                        step.spec.name(),
                        before.as_ref(),
                        &version,
                        source,
                        &mut files.borrow_mut(),
                    )?;
                    shared.borrow_mut().push(self.catalog.share_imported(
                        &commit,
                        &version,
                        source,
                        &mut sent.borrow_mut(),
                    )?);
                }
            }
            attempt.details.count = Some(chapters.len() as u64);
            Ok::<_, ImportError>(Some(()))
        };
        let describe = |(): &()| Change::Versions { versions: shared.borrow().iter().flatten().cloned().collect() };
        self.db.commit_change(attempt, work, describe, |turn, taken| {
            self.catalog.finish_version_files(turn, &files.borrow(), taken);
        })?;
        self.db.sync_objects_if_many();
        Ok(())
    }
}

/// The versions to commit for one name.
struct NameImport<'a> {
    steps: Vec<NewTool<'a>>,
    /// Whether the name already resolves to a tool.
    is_replacement: bool,
}
