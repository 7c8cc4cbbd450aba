//! The error type of all commands, with its rendering.

mod command;

use std::io::ErrorKind;
use std::rc::Rc;

use toolcell::policy::PolicyError;
use toolcell::{
    DraftError, ExecError, JsonError, Lang, NameError, StartError, escape_control_chars, escape_for_display, store,
};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, Message, message, tr};

use crate::exit::Exit;
use crate::response::{CommandResponse, ErrorResponse};
use crate::streams::{OutputFormat, Streams};

pub(crate) use command::{CommandError, exit_for_code};

/// Maximum number of characters of a source line in an error.
const MAX_LINE_CHARS: usize = 160;

/// An error of a command.
#[derive(Debug)]
pub(crate) enum CliError {
    /// A file cannot be read.
    File { path: String, error: std::io::Error },
    /// The source is not a valid draft.
    Draft(DraftError),
    /// A folder contains no sources.
    NoSources { path: String },
    /// A capability name is unknown.
    UnknownCapability { name: String },
    /// The parameters are not valid JSON.
    Params(JsonError),
    /// The parameters are not UTF-8.
    ParamsNotUtf8,
    /// The parameters are too long; `limit` is in bytes.
    ParamsTooLong { limit: u64 },
    /// Two inputs were to be read from standard input.
    StdinUsedTwice,
    /// The sandbox did not start.
    Start(StartError),
    /// The sandbox rejected the call.
    Exec(ExecError),
    /// There is no home directory to locate the store in.
    NoHome,
    /// A signature was required, and the bundle has none.
    Unsigned { path: String },
    /// A policy file is invalid.
    Policy(PolicyError),
    /// An error with a stable code, of the store or of the command line itself.
    Coded(CodedError),
    /// An operation on stored tools failed.
    Command(CommandError),
    /// The arguments are invalid.
    Usage { message: Message, hint: Message },
    /// The user interrupted a prompt.
    Interrupted,
    /// Standard output cannot be written.
    Stream(std::io::Error),
    /// An error of a source that was read from a file.
    InSource(Box<SourceError>),
    /// An error that was found before the command needed what it is about.
    Shared(Rc<CliError>),
}

/// An error that is known only by its code, message and hint.
#[derive(Debug)]
pub(crate) struct CodedError {
    code: ErrorCode,
    message: Message,
    hint: Option<Message>,
}

/// An error, and the source that it is about.
#[derive(Debug)]
pub(crate) struct SourceError {
    path: String,
    source: String,
    error: CliError,
}

impl SourceError {
    /// Returns the source line of the error, with its number.
    fn line(&self) -> Option<String> {
        let (line, _) = self.error.position()?;
        let text = self.source.lines().nth((line as usize).checked_sub(1)?)?;
        let all = text.chars().count();
        let start: String = text.chars().take(MAX_LINE_CHARS).collect();
        Some(format!("{line:>5} | {}{}", escape_for_display(&start), if all > MAX_LINE_CHARS { "…" } else { "" }))
    }
}

impl CliError {
    /// Returns the error with the source that it is about, if it has a position in it.
    pub(crate) fn in_source(self, path: &str, source: &str) -> Self {
        if self.position().is_none() {
            return self;
        }
        let path = if path == "-" { "stdin" } else { path };
        Self::InSource(Box::new(SourceError { path: path.to_owned(), source: source.to_owned(), error: self }))
    }

    /// Returns the line and the column in the source, if the error is about a place in it.
    fn position(&self) -> Option<(u32, u32)> {
        match self {
            Self::Exec(error) => error.position(),
            Self::Command(operation) => operation.position(),
            Self::InSource(located) => located.error.position(),
            Self::Shared(error) => error.position(),
            _ => None,
        }
    }

    /// Creates an error of the command line itself.
    pub(crate) fn coded(code: ErrorCode, message: impl Into<Message>, hint: impl Into<Message>) -> Self {
        Self::Coded(CodedError { code, message: message.into(), hint: Some(hint.into()) })
    }

    /// Creates an error of the arguments.
    pub(crate) fn usage(message: impl Into<Message>, hint: impl Into<Message>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }

    /// Returns the exit status.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::File { error, .. } if error.kind() == ErrorKind::NotFound => Exit::NotFound,
            Self::NoSources { .. } => Exit::NotFound,
            Self::File { .. }
            | Self::Draft(_)
            | Self::UnknownCapability { .. }
            | Self::Params(_)
            | Self::ParamsNotUtf8
            | Self::ParamsTooLong { .. }
            | Self::StdinUsedTwice
            | Self::Usage { .. }
            | Self::Policy(_)
            | Self::NoHome
            | Self::Exec(ExecError::Params(_)) => Exit::Usage,
            Self::Unsigned { .. }
            | Self::Exec(
                ExecError::Source(_) | ExecError::Refused(_) | ExecError::Denied(_) | ExecError::Withheld(_),
            ) => Exit::Refused,
            Self::Coded(failure) => exit_for_code(failure.code),
            Self::Command(operation) => operation.exit(),
            Self::Interrupted => Exit::Interrupted,
            Self::InSource(located) => located.error.exit(),
            Self::Shared(error) => error.exit(),
            Self::Start(error) if error.code() == ErrorCode::Integrity => Exit::Integrity,
            Self::Exec(error) if error.code() == ErrorCode::LimitInvalid => Exit::Usage,
            Self::Exec(error) if error.code() == ErrorCode::Bug => Exit::Bug,
            // The reader closed the pipe: not an error.
            Self::Stream(error) if error.kind() == ErrorKind::BrokenPipe => Exit::Done,
            // A resource of the machine is exhausted; for a stream this is usually a full disk.
            Self::Start(_) | Self::Exec(_) | Self::Stream(_) => Exit::Limit,
        }
    }

    /// Returns the stable code.
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::File { error, .. } if error.kind() == ErrorKind::NotFound => ErrorCode::FileNotFound,
            Self::File { .. } => ErrorCode::FileUnreadable,
            Self::NoSources { .. } => ErrorCode::FileNotFound,
            Self::Draft(error) => error.code(),
            Self::Params(error) => error.code(),
            Self::ParamsNotUtf8 | Self::ParamsTooLong { .. } => ErrorCode::ParametersInvalid,
            Self::StdinUsedTwice | Self::UnknownCapability { .. } | Self::Usage { .. } | Self::NoHome => {
                ErrorCode::Usage
            }
            Self::Start(error) => error.code(),
            Self::Exec(error) => error.code(),
            Self::Unsigned { .. } => ErrorCode::SignatureMissing,
            Self::Policy(error) => error.code(),
            Self::Coded(failure) => failure.code,
            Self::Command(operation) => operation.code(),
            Self::Interrupted => ErrorCode::Cancelled,
            Self::Stream(_) => ErrorCode::Stream,
            Self::InSource(located) => located.error.code(),
            Self::Shared(error) => error.code(),
        }
    }

    pub(crate) fn hint(&self) -> Option<Message> {
        match self {
            Self::File { .. } => Some(message!("use a readable file, or `-` for standard input")),
            Self::NoSources { .. } => Some(message!("use a folder that contains .ts, .mts, .js or .mjs files")),
            Self::UnknownCapability { .. } => {
                Some(message!("use one of net, timers, clock, random, kv, files, secrets, tools, servers"))
            }
            Self::Draft(error) => Some(error.hint().into()),
            Self::ParamsTooLong { .. } => Some(message!("pass less data per call")),
            Self::StdinUsedTwice => Some(message!("pass one of them as a file: FILE, or @FILE for parameters")),
            Self::Params(_) | Self::ParamsNotUtf8 => {
                Some(message!("pass a JSON object such as '{\"numbers\": [1, 2]}', @FILE, or - for standard input"))
            }
            Self::Start(error) => Some(error.hint().into()),
            Self::Exec(error) => Some(error.hint()),
            Self::NoHome => Some(message!("pass a directory with --dir, or set HOME")),
            Self::Unsigned { .. } => Some(message!("put the signature beside the bundle, with the suffix .minisig")),
            Self::Policy(error) => Some(error.hint().into()),
            Self::Coded(failure) => failure.hint.clone(),
            Self::Command(operation) => Some(operation.hint()),
            Self::Usage { hint, .. } => Some(hint.clone()),
            Self::Stream(_) => Some(message!(
                "the command was executed, only its output is lost: before you retry, check `toolcell list` or \
                 `toolcell audit`, and redirect the output to a writable place"
            )),
            Self::Interrupted => None,
            Self::InSource(located) => located.error.hint(),
            Self::Shared(error) => error.hint(),
        }
    }

    pub(crate) fn message(&self) -> Message {
        match self {
            Self::File { path, error } => message!("{path}: {reason}", path, reason = io_reason(error)),
            Self::NoSources { path } => message!("{path}: the folder contains no sources", path),
            Self::UnknownCapability { name } => message!("unknown capability `{name}`", name),
            Self::Draft(error) => error.localize(),
            Self::Params(error) => error.localize(),
            Self::ParamsNotUtf8 => message!("the parameters are not UTF-8"),
            Self::ParamsTooLong { limit } => message!("the parameters are longer than {limit} bytes", limit),
            Self::StdinUsedTwice => message!("the tool and its parameters cannot both come from standard input"),
            Self::Start(error) => error.localize(),
            Self::Exec(error) => error.localize(),
            Self::NoHome => message!("the store directory is unknown: no home directory found"),
            Self::Unsigned { path } => message!("{path} is not signed", path),
            Self::Policy(error) => error.localize(),
            Self::Coded(failure) => failure.message.clone(),
            Self::Command(operation) => operation.message(),
            Self::Usage { message, .. } => message.clone(),
            Self::Interrupted => message!("nothing was changed"),
            Self::Stream(error) => message!("standard output cannot be written: {reason}", reason = io_reason(error)),
            Self::InSource(located) => {
                message!("{path}: {reason}", path = located.path, reason = located.error.message())
            }
            Self::Shared(error) => error.message(),
        }
    }

    /// Converts the error to its JSON form.
    pub(crate) fn to_response(&self) -> ErrorResponse {
        let body = ErrorResponse::new(self.code(), &self.message(), self.hint());
        match self {
            Self::Command(operation) => match operation.effects() {
                Some(effects) => body.with_position(operation.position()).with_effects(effects),
                None => body.with_position(operation.position()),
            },
            Self::Shared(error) => error.to_response(),
            _ => body.with_position(self.position()),
        }
    }

    /// Prints the error and returns the exit status.
    pub(crate) fn print(&self, format: OutputFormat, lang: Lang, streams: &mut Streams<'_>) -> Exit {
        if let Self::Shared(error) = self {
            return error.print(format, lang, streams);
        }
        let exit = self.exit();
        if exit == Exit::Done {
            return exit;
        }
        // If this write fails, the exit status still reports the error.
        let is_lost = matches!(self, Self::Stream(_));
        let _ = if format.is_json() && !is_lost {
            writeln!(streams.output, "{}", CommandResponse::for_error(None, self.to_response()).to_json())
        } else {
            self.print_text(lang, streams)
        };
        exit
    }

    fn print_text(&self, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
        let (error, colon) = (tr!(lang, "error"), lang.colon());
        let text = match self {
            Self::Command(operation) => operation.text(lang),
            _ => None,
        };
        let text = text.unwrap_or_else(|| {
            let message = self.message().to_text(lang);
            match self.code().title(lang) {
                Some(title) => format!("{error}{colon}{title}{colon}{message}"),
                None => format!("{error}{colon}{message}"),
            }
        });
        writeln!(streams.errors, "{}", escape_control_chars(&text))?;
        if let Self::InSource(located) = self
            && let Some(line) = located.line()
        {
            writeln!(streams.errors, "{line}")?;
        }
        let Some(hint) = self.hint() else { return Ok(()) };
        writeln!(streams.errors, "{}{colon}{}", tr!(lang, "hint"), escape_control_chars(&hint.to_text(lang)))
    }
}

/// Returns the reason of an I/O error without its error number.
pub(crate) fn io_reason(error: &std::io::Error) -> Message {
    match error.kind() {
        ErrorKind::NotFound => message!("no such file"),
        ErrorKind::PermissionDenied => message!("permission denied"),
        ErrorKind::IsADirectory => message!("is a directory"),
        ErrorKind::NotADirectory => message!("a part of the path is not a folder"),
        ErrorKind::ReadOnlyFilesystem => message!("the file system is read-only"),
        ErrorKind::StorageFull => message!("no space left on device"),
        _ => Message::verbatim(error.to_string()),
    }
}

/// Implements conversions from the store's errors, which all have a code and a message.
macro_rules! from_store {
    ($($error:ty, |$it:ident| $hint:expr;)*) => {$(
        impl From<$error> for CliError {
            fn from($it: $error) -> Self {
                Self::Coded(CodedError { code: $it.code(), message: $it.localize(), hint: $hint.map(Into::into) })
            }
        }
    )*};
}

from_store! {
    store::OpenError, |error| Some(error.hint());
    store::Fault, |error| Some(error.hint());
    toolcell::ToolboxError, |error| Some(error.hint());
    store::ExportError, |error| error.hint();
    store::ImportError, |error| Some(error.hint());
    store::MigrationError, |error| Some(error.hint());
    store::SignatureError, |error| Some(error.hint());
    NameError, |error| Some(error.hint());
    toolcell::ApprovalError, |error| Some(error.hint());
    toolcell::PlanError, |error| Some(error.hint());
    toolcell::DeprecateError, |error| Some(error.hint());
    toolcell::SearchError, |error| Some(error.hint());
    toolcell::ReceiptError, |error| Some(error.hint());
    toolcell::ReplayError, |error| Some(error.hint());
    toolcell::ProfileError, |error| Some(error.hint());
    toolcell::AdoptError, |error| Some(error.hint());
    toolcell::hook::HookError, |error| Some(error.hint());
    toolcell::hook::EventProblem, |error| Some(error.hint());
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::Stream(error)
    }
}

impl From<DraftError> for CliError {
    fn from(error: DraftError) -> Self {
        Self::Draft(error)
    }
}

impl From<PolicyError> for CliError {
    fn from(error: PolicyError) -> Self {
        Self::Policy(error)
    }
}

impl From<JsonError> for CliError {
    fn from(error: JsonError) -> Self {
        Self::Params(error)
    }
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl From<ExecError> for CliError {
    fn from(error: ExecError) -> Self {
        Self::Exec(error)
    }
}

#[cfg(test)]
mod tests {
    use toolcell::CallError;

    use super::*;

    #[test]
    fn a_bug_has_another_status_than_an_exhausted_resource() {
        let exit = |error: CallError| CliError::Exec(ExecError::Call(error)).exit();
        assert_eq!(exit(CallError::bug("x")), Exit::Bug);
        assert_eq!(exit(CallError::NoInstance(Message::verbatim("x".to_owned()))), Exit::Limit);
    }
}
