//! Taking in tools from a bundle.
//!
//! Invariant: everything is checked before anything is stored, and nothing that a bundle says is believed: what a tool
//! is follows from its content, what it does is for the analysis to say, and it comes in unverified and unapproved. All of it
//! is taken in, in one transaction, or nothing.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use rusqlite::Connection;
use toolcell_tool::{Notes, ToolId, ToolName, ToolSpec};

use crate::audit::Attempt;
use crate::bundle::{BUNDLE_LIMIT, Header, KIND, Line};
use crate::error::Fault;
use crate::find::{FindError, ToolRef};
use crate::names::{IsLost, NameStepError, Registration, WhenTaken, registered};
use crate::step::{Files, head};
use crate::store::Store;
use crate::version::Scores;

/// The longest line, in bytes: a tool with all that may be said about it, and a long history.
const LINE_LIMIT: usize = 16 << 20;

/// A bundle that was read and checked: tools that are what they say they are, each name once.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    newcomers: Vec<Newcomer>,
}

/// A tool in a bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct Newcomer {
    /// What decides how it behaves.
    pub spec: ToolSpec,
    /// What is said about it.
    pub notes: Notes,
    /// What its name led to before, the first one first.
    pub earlier: Vec<(ToolSpec, Notes)>,
}

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Imported {
    /// Tools whose names were free.
    pub added: Vec<(ToolName, ToolId)>,
    /// Tools whose names led to another one.
    pub replaced: Vec<(ToolName, ToolId)>,
    /// Tools that were there already.
    pub unchanged: u64,
}

/// Why nothing is taken in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file is no bundle.
    #[error("this is no bundle: {0}")]
    NoBundle(String),
    /// A newer version wrote it.
    #[error("the bundle is `{0}`, and this version reads `{KIND}`")]
    Newer(String),
    /// A line is not what it should be.
    #[error("line {line}: {reason}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// It has more tools than it says, or fewer.
    #[error("the bundle says that it has {says} tools, and has {has}")]
    Count {
        /// What its first line says.
        says: u64,
        /// What it has.
        has: u64,
    },
    /// Names lead to other tools.
    #[error("{}", taken(.0))]
    Taken(Vec<(ToolName, ToolId)>),
    /// The rules of the host refuse a tool.
    #[error("`{name}` is refused: {reason}")]
    Unwelcome {
        /// Its name.
        name: ToolName,
        /// The stable code.
        code: &'static str,
        /// Why.
        reason: String,
    },
    /// The analysis refuses a tool.
    #[error("`{name}` is refused: {reason}")]
    Refused {
        /// Its name.
        name: ToolName,
        /// Why.
        reason: String,
    },
    /// A tool cannot be stored.
    #[error(transparent)]
    Store(#[from] NameStepError),
    /// The disk or the index fails.
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn taken(names: &[(ToolName, ToolId)]) -> String {
    let told: Vec<String> =
        names.iter().take(10).map(|(name, id)| format!("`{name}` leads to {}", id.short())).collect();
    let more = if names.len() > told.len() { format!(" and {} more", names.len() - told.len()) } else { String::new() };
    format!("names are taken by other tools: {}{more}", told.join(", "))
}

impl ImportError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoBundle(_) | Self::Newer(_) => "bundle-unknown",
            Self::Line { .. } | Self::Count { .. } => "bundle-invalid",
            Self::Taken(_) => "name-taken",
            Self::Unwelcome { code, .. } => code,
            Self::Refused { .. } => "critical-risk",
            Self::Store(error) => error.code(),
            Self::Fault(fault) => fault.code(),
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoBundle(_) => "a bundle is what `toolcell export` writes",
            Self::Newer(_) => "use the version that wrote it, or a newer one",
            Self::Line { .. } | Self::Count { .. } => "get the bundle again; nothing of it was taken in",
            Self::Taken(_) => "--replace makes them new versions; nothing was taken in",
            Self::Unwelcome { .. } => "`toolcell config show` says which rules hold here; nothing was taken in",
            Self::Refused { .. } => "`toolcell check` says what is wrong with it; nothing was taken in",
            Self::Store(error) => error.hint(),
            Self::Fault(fault) => fault.hint(),
        }
    }
}

impl Import {
    /// Reads a bundle and checks all that can be checked of it.
    ///
    /// # Errors
    /// `bundle-unknown`, `bundle-invalid`
    pub fn read(bundle: &[u8]) -> Result<Self, ImportError> {
        if bundle.len() as u64 > BUNDLE_LIMIT {
            let reason = format!("it is {} bytes, the limit is {BUNDLE_LIMIT}", bundle.len());
            return Err(ImportError::NoBundle(reason));
        }
        let mut lines = (1..).zip(bundle.split_inclusive(|byte| *byte == b'\n'));
        let says = header(lines.next().map(|(_, line)| line).unwrap_or_default())?;
        let mut newcomers = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (number, line) in lines {
            let wrong = |reason: String| ImportError::Line { line: number, reason };
            // Whatever the first line says, no more is read than it says.
            if newcomers.len() as u64 == says {
                return Err(wrong(format!("there is more than the {says} tools that the first line tells of")));
            }
            let newcomer = newcomer(line).map_err(wrong)?;
            if let Some(first) = seen.insert(newcomer.spec.name().folded(), number) {
                return Err(wrong(format!("`{}` is in line {first} already", newcomer.spec.name())));
            }
            newcomers.push(newcomer);
        }
        let has = newcomers.len() as u64;
        if has == says { Ok(Self { newcomers }) } else { Err(ImportError::Count { says, has }) }
    }

    /// The tools.
    #[must_use]
    pub fn newcomers(&self) -> &[Newcomer] {
        &self.newcomers
    }
}

fn header(line: &[u8]) -> Result<u64, ImportError> {
    #[derive(serde::Deserialize)]
    struct Kind {
        #[serde(rename = "type")]
        kind: String,
    }
    let start = &line[..line.len().min(1024)];
    let kind: Kind = serde_json::from_slice(start)
        .map_err(|_| ImportError::NoBundle(format!("its first line does not say `{KIND}`")))?;
    if kind.kind != KIND {
        let newer = kind.kind.starts_with("toolcell.bundle.");
        return Err(if newer {
            ImportError::Newer(kind.kind)
        } else {
            ImportError::NoBundle(format!("it is `{}`", kind.kind))
        });
    }
    let header: Header =
        serde_json::from_slice(start).map_err(|error| ImportError::NoBundle(format!("its first line: {error}")))?;
    Ok(header.tools)
}

fn newcomer(line: &[u8]) -> Result<Newcomer, String> {
    if line.len() > LINE_LIMIT {
        return Err(format!("it is {} bytes, the limit is {LINE_LIMIT}", line.len()));
    }
    if !line.ends_with(b"\n") {
        return Err("it is cut off".to_owned());
    }
    let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let name = ToolName::parse(&line.name).map_err(|error| error.to_string())?;
    let (spec, notes) = line.tool.read(&name)?;
    let mut seen = HashSet::from([spec.id()]);
    let mut earlier = Vec::new();
    for before in line.earlier {
        let written = ToolName::parse(&before.name).map_err(|error| error.to_string())?;
        if written.folded() != name.folded() {
            return Err(format!("`{written}` is another name than `{name}`"));
        }
        if !seen.insert(before.tool.id) {
            return Err(format!("`{name}` has {} twice", before.tool.id));
        }
        earlier.push(before.tool.read(&written)?);
    }
    Ok(Newcomer { spec, notes, earlier })
}

impl Store {
    /// Takes in the tools of a bundle, all of them or none. `judge` is the analysis: how well a tool does, or why it is refused.
    ///
    /// # Errors
    /// `name-taken` with all names that are, `critical-risk`, `tool-limit-reached`, and those of the disk.
    pub fn import(
        &self,
        import: &Import,
        judge: &dyn Fn(&ToolSpec) -> Result<Scores, String>,
        when_taken: WhenTaken,
        at: Timestamp,
    ) -> Result<Imported, ImportError> {
        self.import_noted(import, judge, when_taken, at, None)
    }

    pub(crate) fn import_noted(
        &self,
        import: &Import,
        judge: &dyn Fn(&ToolSpec) -> Result<Scores, String>,
        when_taken: WhenTaken,
        at: Timestamp,
        attempt: Option<Attempt<'_>>,
    ) -> Result<Imported, ImportError> {
        let mut taken = Vec::new();
        let mut judged = Vec::new();
        let mut imported = Imported::default();
        for newcomer in &import.newcomers {
            let name = newcomer.spec.name();
            let current = match self.find(&ToolRef::Name(name.clone())) {
                Ok(entry) => Some(entry),
                Err(FindError::Fault(fault)) => return Err(fault.into()),
                Err(_) => None,
            };
            let same = current.as_ref().is_some_and(|entry| entry.id == newcomer.spec.id());
            if same && self.lost(newcomer.spec.id())?.is_none() {
                imported.unchanged += 1;
                continue;
            }
            // A name can be rolled back to what it led to before, so that is judged as well.
            let all = newcomer.earlier.iter().filter(|_| current.is_none()).map(|(spec, notes)| (spec, notes));
            let steps = all.chain([(&newcomer.spec, &newcomer.notes)]).map(|(spec, notes)| match judge(spec) {
                Ok(scores) => Ok(Registration { spec, notes, scores, at }),
                Err(reason) => Err(ImportError::Refused { name: name.clone(), reason }),
            });
            let steps = steps.collect::<Result<Vec<_>, _>>()?;
            taken.extend(current.as_ref().filter(|_| !same).map(|entry| (entry.name.clone(), entry.id)));
            judged.push((steps, current.is_some()));
        }
        if when_taken == WhenTaken::Refuse && !taken.is_empty() {
            return Err(ImportError::Taken(taken));
        }
        let chapters: Vec<Chapter<'_>> =
            judged.into_iter().map(|(steps, replaces)| Chapter { steps, replaces }).collect();
        for chapter in &chapters {
            let list = if chapter.replaces { &mut imported.replaced } else { &mut imported.added };
            list.extend(chapter.steps.last().map(|step| (step.spec.name().clone(), step.spec.id())));
        }
        self.take_in(&chapters, when_taken, attempt)?;
        Ok(imported)
    }

    /// Takes in all of it, or nothing.
    fn take_in(
        &self,
        chapters: &[Chapter<'_>],
        when_taken: WhenTaken,
        attempt: Option<Attempt<'_>>,
    ) -> Result<(), ImportError> {
        self.directory.must_be_writable()?;
        for step in chapters.iter().flat_map(|chapter| &chapter.steps) {
            self.make_way(step.spec.id())?;
            let source = step.spec.source().as_bytes();
            self.keep_object(blake3::hash(source), source)?;
        }
        let files = RefCell::new(Files::default());
        let work = |transaction: &Connection, attempt: &mut Attempt<'_>| {
            for Chapter { steps, replaces } in chapters {
                for (number, step) in steps.iter().enumerate() {
                    // Only the first step of a name that was free can find it taken, by somebody who was faster.
                    let when_taken = if *replaces || number > 0 { WhenTaken::Replace } else { when_taken };
                    Self::distrust_within(transaction, step.spec.id())?;
                    let before = head(transaction, &step.spec.name().folded()).map_err(Fault::from)?;
                    let version = registered(step, before.as_ref(), when_taken, IsLost::No)?;
                    let source = step.spec.source().as_bytes();
                    let source = Some((blake3::hash(source), source));
                    self.take(
                        transaction,
                        step.spec.name(),
                        before.as_ref(),
                        &version,
                        source,
                        &mut files.borrow_mut(),
                    )?;
                }
            }
            attempt.details.count = Some(chapters.len() as u64);
            Ok::<_, ImportError>(Some(()))
        };
        self.make(attempt, work, |turn, taken| self.settle_files(turn, &files.borrow(), taken))?;
        self.sync_objects_if_many();
        Ok(())
    }
}

/// What becomes of a name.
struct Chapter<'a> {
    steps: Vec<Registration<'a>>,
    /// Whether the name leads somewhere already.
    replaces: bool,
}
