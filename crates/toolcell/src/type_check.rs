//! Type checks of sources, by a worker process (`toolcell-types`) or by the compiler of TypeScript 7 (`tsc`).
//!
//! ```text
//! source, declarations of what the cell has with the requested capabilities, contract of `execute`
//!     → worker or compiler → TypeScript's diagnostics → findings
//! ```
//!
//! A type error is a finding, and not a wall: the tool is created and runs all the same. Without a program nothing is
//! checked, and nothing else changes.
//!
//! Invariant: the program is trusted with nothing that a source could make it do. It is killed when it does not answer in
//! time, its answers are bounded, and what they say is text.

mod compiler;
mod contract;
mod declarations;
mod limiter;
mod worker;

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;
use toolcell_analysis::{Capabilities, EntryPoint, Finding, has_types};
use toolcell_i18n::{Message, message, msgid};
use toolcell_policy::TypeCompiler;
use toolcell_types::{TypeDiagnostic, TypedFile};

#[cfg(feature = "servers")]
pub(crate) use declarations::ANY_SERVER;

use compiler::Compiler;
use limiter::Limiter;
use worker::Workers;

/// The checks that run at once. A check may take two seconds of a processor and half a GiB, and a model's session hands over
/// one source after the other; a second one keeps a source that is too complex from holding up those of other sessions.
const MAX_CHECKS: usize = 2;
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

/// A program that checks types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeCheckerProgram {
    /// `toolcell-types`, at this path.
    Worker(PathBuf),
    /// The compiler of TypeScript 7, which is started for each check.
    Compiler {
        /// The program and its first arguments. No shell interprets them.
        command: Vec<String>,
        /// The folder that a program path with `/` is relative to. A name is looked up in `PATH`.
        folder: PathBuf,
    },
}

impl From<&TypeCompiler> for TypeCheckerProgram {
    fn from(named: &TypeCompiler) -> Self {
        Self::Compiler { command: named.command.clone(), folder: named.folder.clone() }
    }
}

impl fmt::Display for TypeCheckerProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worker(path) => path.display().fmt(f),
            Self::Compiler { command, .. } => f.write_str(&command.join(" ")),
        }
    }
}

/// Checks the types of sources with a program, which it starts when it is needed.
#[derive(Debug)]
pub struct TypeChecker {
    backend: Backend,
    limiter: Limiter,
}

#[derive(Debug)]
enum Backend {
    Workers(Workers),
    Compiler(Compiler),
}

/// What came of a check.
enum Answer {
    Checked(Vec<TypeDiagnostic>),
    /// It took too long, or too much memory.
    TooComplex,
    /// The program cannot be run, or is not the right one.
    Failed(Message),
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
    pub fn new(program: TypeCheckerProgram) -> Self {
        let backend = match program {
            TypeCheckerProgram::Worker(path) => Backend::Workers(Workers::new(path)),
            TypeCheckerProgram::Compiler { command, folder } => Backend::Compiler(Compiler::new(command, folder)),
        };
        Self { backend, limiter: Limiter::new(MAX_CHECKS) }
    }

    /// Finds out whether the program checks types. Returns the version of TypeScript, if the program tells it.
    ///
    /// # Errors
    /// Why it does not.
    pub fn probe(&self) -> Result<Option<String>, Message> {
        let found = self.check(&TypeCheckRequest {
            source: "const a: string = 1",
            entry_point: None,
            capabilities: &Capabilities::default(),
            parameters: None,
            returns: None,
            servers: "",
        })?;
        if found.len() != 1 {
            return Err(message!("it does not find a type error that is there"));
        }
        match &self.backend {
            Backend::Workers(_) => Ok(None),
            Backend::Compiler(compiler) => compiler.version().map(|version| Some(version.to_owned())),
        }
    }

    /// Checks a source. Returns what is wrong, or that it cannot be checked; nothing if it has no type errors.
    ///
    /// # Errors
    /// Why types are not checked: the program is missing, fails, or is not the right one.
    pub fn check(&self, request: &TypeCheckRequest<'_>) -> Result<Vec<Finding>, Message> {
        let (answer, line) = self.ask(request);
        match answer {
            Answer::Checked(diagnostics) => {
                let is_typed = has_types(request.source);
                let told = diagnostics.iter().filter(|diagnostic| is_told(diagnostic, request.source, is_typed));
                Ok(told.filter_map(|diagnostic| to_finding(request, diagnostic, line)).collect())
            }
            Answer::TooComplex => {
                let message = message!("has types that are too complex to be checked");
                Ok(vec![Finding::from_type_checker(request.source, (1, 1), message, msgid!("simplify the types"))])
            }
            Answer::Failed(why) => Err(why),
        }
    }

    /// Asks the program; returns its answer, and the line of `execute`.
    fn ask(&self, request: &TypeCheckRequest<'_>) -> (Answer, u32) {
        let file = |name: &str, text: String| TypedFile { name: name.to_owned(), text };
        let contract = contract::write(request);
        let mut files = vec![
            file(SOURCE, contract.source),
            file("toolcell.d.ts", declarations::narrow(request.capabilities, request.servers)),
        ];
        files.extend(contract.text.map(|text| file(CONTRACT, text)));
        let _permit = self.limiter.acquire();
        let answer = match &self.backend {
            Backend::Workers(workers) => workers.ask(&files),
            Backend::Compiler(compiler) => compiler.ask(&files),
        };
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
