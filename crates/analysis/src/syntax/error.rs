//! Errors of sources that can be neither analysed nor transpiled.
//!
//! Invariant: issues of a source that parses and runs here are [`Finding`](crate::Finding)s, not
//! errors.

use toolcell_i18n::{Message, message};

use crate::syntax::position::Location;

/// An error at a location of the source, which its author has to correct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The error, and what to write instead.
    pub message: Message,
    /// The location of the error.
    pub location: Location,
    /// The source line in which the error starts; of a long line, the part around the error.
    pub snippet: String,
}

/// The reason why a source cannot be analysed or transpiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The source does not parse.
    #[error("{}", summarize(.0))]
    #[code(SyntaxError)]
    #[hint("correct the source at this place")]
    Syntax(Vec<Diagnostic>),
    /// The source parses, but uses unsupported syntax.
    #[error("{}", summarize(.0))]
    #[code(SyntaxUnsupported)]
    #[hint("write it as the message says")]
    Unsupported(Vec<Diagnostic>),
    /// The source is nested too deeply to be parsed safely.
    #[error("{}", summarize(.0))]
    #[code(SourceTooDeep)]
    #[hint("replace the nesting by lists, functions and separate statements")]
    TooDeep(Vec<Diagnostic>),
    /// The machine has too little address space to analyse a source of this size safely.
    #[error("this machine has too little stack to analyse a source of more than {limit} bytes")]
    #[code(SourceTooLarge)]
    #[hint("raise the limit on address space (`ulimit -v`), or split the tool")]
    InsufficientAddressSpace {
        /// The maximum size of a source that can be tried, in bytes.
        limit: usize,
    },
    /// The machine cannot start a thread for the analysis.
    #[error("no thread can be started to analyse the source: {cause}")]
    #[code(NoThreads)]
    #[hint(
        "raise the limit on processes and threads (`ulimit -u`, `pids.max` of the control group), or end other processes"
    )]
    NoThread {
        /// The error of the operating system.
        cause: String,
    },
}

impl AnalysisError {
    /// Returns the diagnostics of the source; empty if the machine is at fault.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Syntax(problems) | Self::Unsupported(problems) | Self::TooDeep(problems) => problems,
            Self::InsufficientAddressSpace { .. } | Self::NoThread { .. } => &[],
        }
    }
}

fn summarize(problems: &[Diagnostic]) -> Message {
    let [Diagnostic { message, location: Location { line, column, .. }, .. }, others @ ..] = problems else {
        return message!("the source does not parse");
    };
    if others.is_empty() {
        message!("{message} at {line}:{column}", message, line, column)
    } else {
        let more = others.len();
        message!("{message} at {line}:{column} (and {more} more)", message, line, column, more)
    }
}
