//! Type checks of sources, in a worker process (`toolcell-types`).
//!
//! ```text
//! source, declarations of what the cell has with the requested capabilities, contract of `execute`
//!     → worker → TypeScript's diagnostics → findings
//! ```
//!
//! A type error is a finding, and not a wall: the tool is created and runs all the same. Without a worker nothing is
//! checked, and nothing else changes.
//!
//! Invariant: the worker is trusted with nothing. It is killed when it does not answer in time, its answers are bounded,
//! and what they say is text.

mod contract;
mod declarations;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use toolcell_analysis::{Capabilities, EntryPoint, Finding, has_types};
use toolcell_i18n::{Message, message, msgid};
use toolcell_types::{TypeDiagnostic, TypedFile};

#[cfg(feature = "servers")]
pub(crate) use declarations::ANY_SERVER;

use worker::{Answer, Worker};

/// The name of a source in a request.
const SOURCE: &str = "tool.ts";
/// The name of the contract in a request.
const CONTRACT: &str = "contract.ts";
/// Implicit `any`: a tool need not declare the types of its parameters.
const IMPLICIT_ANY: std::ops::RangeInclusive<i32> = 7_005..=7_053;
/// Types of the packages that are not declared here: a name in one of them, and one of them as a type.
const IN_PACKAGES: [i32; 3] = [2_503, 2_694, 2_709];
/// The name cannot be found, perhaps with a suggestion. That is all that is told of plain JavaScript.
const UNKNOWN_NAMES: [i32; 5] = [2_304, 2_552, 2_580, 2_584, 2_591];

/// Checks the types of sources with the program `toolcell-types`, which it starts when it is needed.
#[derive(Debug)]
pub struct TypeChecker {
    program: PathBuf,
    /// The worker that has answered last; its libraries are parsed.
    worker: Mutex<Option<Worker>>,
}

/// A source to check, and what is known of it.
#[derive(Debug, Clone, Copy)]
pub struct TypeCheckRequest<'a> {
    /// The source. Of one without types, only names that there are not are told.
    pub source: &'a str,
    /// How it defines its tool, if that is known.
    pub entry_point: Option<EntryPoint>,
    /// The capabilities that it requests: what others offer does not exist for it.
    pub capabilities: &'a Capabilities,
    /// The JSON Schema of the parameters, if it declares one.
    pub parameters: Option<&'a Value>,
    /// The JSON Schema of the result, if it declares one.
    pub returns: Option<&'a Value>,
    /// The declarations of the tools of servers, as [`Toolbox::declare_servers`](crate::Toolbox::declare_servers) writes
    /// them; empty if none is known.
    pub servers: &'a str,
}

impl TypeChecker {
    /// Creates a checker that runs this program.
    #[must_use]
    pub const fn new(program: PathBuf) -> Self {
        Self { program, worker: Mutex::new(None) }
    }

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Whether the program is there, and checks types.
    #[must_use]
    pub fn works(&self) -> bool {
        let (source, capabilities) = ("const a: string = 1", &Capabilities::default());
        let (answer, _) = self.ask(&TypeCheckRequest {
            source,
            entry_point: None,
            capabilities,
            parameters: None,
            returns: None,
            servers: "",
        });
        matches!(answer, Answer::Checked(diagnostics) if diagnostics.len() == 1)
    }

    /// Checks a source. Returns what is wrong, or that it cannot be checked; nothing if it has no type errors.
    #[must_use]
    pub fn check(&self, request: &TypeCheckRequest<'_>) -> Vec<Finding> {
        let (answer, line) = self.ask(request);
        match answer {
            Answer::Checked(diagnostics) => {
                let is_typed = has_types(request.source);
                let told = diagnostics.iter().filter(|diagnostic| is_told(diagnostic, request.source, is_typed));
                told.filter_map(|diagnostic| to_finding(request, diagnostic, line)).collect()
            }
            Answer::TooComplex => {
                let message = message!("has types that are too complex to be checked");
                vec![Finding::from_type_checker(request.source, (1, 1), message, msgid!("simplify the types"))]
            }
            Answer::Failed(why) => {
                tracing::warn!(program = %self.program.display(), why, "types are not checked");
                Vec::new()
            }
        }
    }

    /// Asks the worker; returns its answer, and the line of `execute`.
    fn ask(&self, request: &TypeCheckRequest<'_>) -> (Answer, u32) {
        let file = |name: &str, text: String| TypedFile { name: name.to_owned(), text };
        let contract = contract::write(request);
        let mut files = vec![
            file(SOURCE, contract.source),
            file("toolcell.d.ts", declarations::narrow(request.capabilities, request.servers)),
        ];
        files.extend(contract.text.map(|text| file(CONTRACT, text)));
        let mut kept = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        // A worker that was kept may have died meanwhile: another one is tried once.
        let is_kept = kept.is_some();
        let mut answer = Worker::ask(&mut kept, &self.program, &files);
        if is_kept && matches!(answer, Answer::Failed(_)) {
            answer = Worker::ask(&mut kept, &self.program, &files);
        }
        (answer, contract.line)
    }
}

/// Whether a diagnostic is told.
fn is_told(diagnostic: &TypeDiagnostic, source: &str, is_typed: bool) -> bool {
    if !is_typed {
        return UNKNOWN_NAMES.contains(&diagnostic.code);
    }
    // An import of types alone is removed before the source runs.
    let line = source.lines().nth((diagnostic.line as usize).saturating_sub(1)).unwrap_or_default();
    let is_elided = diagnostic.code == 2_307 && line.split_whitespace().take(2).eq(["import", "type"]);
    !IMPLICIT_ANY.contains(&diagnostic.code) && !IN_PACKAGES.contains(&diagnostic.code) && !is_elided
}

/// Returns the finding of a diagnostic; one of the contract is about `execute`.
fn to_finding(request: &TypeCheckRequest<'_>, diagnostic: &TypeDiagnostic, execute: u32) -> Option<Finding> {
    let place = match diagnostic.file.as_deref() {
        Some(SOURCE) => (diagnostic.line, diagnostic.column),
        Some(CONTRACT) => (execute, 1),
        _ => return None,
    };
    let lines: Vec<&str> = diagnostic.message.lines().map(str::trim).collect();
    let text = format!("TS{}: {}", diagnostic.code, lines.join(" "));
    Some(Finding::from_type_checker(request.source, place, Message::verbatim(text), suggestion(diagnostic)))
}

/// Returns what to do about a diagnostic.
fn suggestion(diagnostic: &TypeDiagnostic) -> &'static str {
    if diagnostic.file.as_deref() == Some(CONTRACT) {
        return msgid!("make `execute` take the declared parameters, and return what `returns` declares");
    }
    if !UNKNOWN_NAMES.contains(&diagnostic.code) {
        return msgid!("correct the types: as it is, the call may fail, or give something else");
    }
    let name = diagnostic.message.split('\'').nth(1).unwrap_or_default();
    match name {
        "fetch" | "Request" | "Response" | "Headers" => {
            msgid!("it needs the capability `net`: request it")
        }
        "kv" => msgid!("it needs the capability `kv`: request it"),
        "files" => msgid!("it needs the capability `files`: request it"),
        "secret" => msgid!("it needs the capability `secrets`: request it"),
        "tools" => msgid!("it needs the capability `tools`: request it"),
        "servers" => msgid!("it needs the capability `servers`: request it"),
        "setTimeout" | "setInterval" | "clearTimeout" | "clearInterval" | "sleep" => {
            msgid!("it needs the capability `timers`: request it")
        }
        _ => msgid!("a cell is neither a browser nor Node: `toolcell types` prints what it has"),
    }
}
