//! Why a command did not run a tool, and how that is said.

use std::borrow::Cow;
use std::io::ErrorKind;

use toolcell::policy::PolicyError;
use toolcell::{DraftError, ExecError, JsonError, Lang, NameError, StartError, headline, store, visible};

use crate::Streams;
use crate::answer::{Answer, ErrorBody};
use crate::exit::Exit;
use crate::input::PARAMS_LIMIT;
use crate::operation::{Operation, exit_of};

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A file cannot be read.
    File { path: String, error: std::io::Error },
    /// The source is no draft.
    Draft(DraftError),
    /// A folder has no sources in it.
    NoSources { path: String },
    /// There is no such capability.
    UnknownCapability { name: String },
    /// The parameters cannot be used.
    Params(JsonError),
    /// The parameters are not even text.
    ParamsNotUtf8,
    /// The parameters are longer than can be handed on.
    ParamsTooLong,
    /// Two things are to be read from standard input.
    OneInput,
    /// The sandbox does not start.
    Start(StartError),
    /// The sandbox did not take the call.
    Exec(ExecError),
    /// There is nothing to find the store by.
    NoHome,
    /// A bundle was to be signed, and is not.
    NotSigned { path: String },
    /// A policy file is none.
    Policy(PolicyError),
    /// The store refuses, or fails.
    Store(StoreFailure),
    /// An operation on stored tools did not take place.
    Operation(Operation),
    /// What is typed cannot be meant so.
    Typed { message: String, hint: &'static str },
    /// The person at the terminal broke it off.
    Interrupted,
    /// Standard output cannot be written.
    Stream(std::io::Error),
}

/// What a store says of what it did not do.
#[derive(Debug)]
pub(crate) struct StoreFailure {
    code: &'static str,
    message: String,
    hint: Option<&'static str>,
}

impl Failure {
    /// A refusal of the command line's own.
    pub(crate) fn said(code: &'static str, message: String, hint: &'static str) -> Self {
        Self::Store(StoreFailure { code, message, hint: Some(hint) })
    }

    /// The exit status.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::File { error, .. } if error.kind() == ErrorKind::NotFound => Exit::NotFound,
            Self::NoSources { .. } => Exit::NotFound,
            Self::File { .. }
            | Self::Draft(_)
            | Self::UnknownCapability { .. }
            | Self::Params(_)
            | Self::ParamsNotUtf8
            | Self::ParamsTooLong
            | Self::OneInput
            | Self::Typed { .. }
            | Self::Policy(_)
            | Self::NoHome
            | Self::Exec(ExecError::Params(_)) => Exit::Usage,
            Self::NotSigned { .. }
            | Self::Exec(
                ExecError::Source(_) | ExecError::Refused(_) | ExecError::Denied(_) | ExecError::Withheld(_),
            ) => Exit::Refused,
            Self::Store(failure) => exit_of(failure.code),
            Self::Operation(operation) => operation.exit(),
            Self::Interrupted => Exit::Interrupted,
            Self::Start(error) if error.code() == "integrity" => Exit::Integrity,
            Self::Exec(error) if matches!(error.code(), "limit-invalid" | "profile-in-jail") => Exit::Usage,
            // Whoever reads our output has gone: nothing is wrong.
            Self::Stream(error) if error.kind() == ErrorKind::BrokenPipe => Exit::Done,
            // What the machine does not give; of streams a full disk, most of all.
            Self::Start(_) | Self::Exec(_) | Self::Stream(_) => Exit::Limit,
        }
    }

    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::File { error, .. } if error.kind() == ErrorKind::NotFound => "file-not-found",
            Self::File { .. } => "file-unreadable",
            Self::NoSources { .. } => "file-not-found",
            Self::Draft(error) => error.code(),
            Self::Params(error) => error.code(),
            Self::ParamsNotUtf8 | Self::ParamsTooLong => "parameters-invalid",
            Self::OneInput | Self::UnknownCapability { .. } | Self::Typed { .. } | Self::NoHome => "usage",
            Self::Start(error) => error.code(),
            Self::Exec(error) => error.code(),
            Self::NotSigned { .. } => "signature-missing",
            Self::Policy(error) => error.code(),
            Self::Store(failure) => failure.code,
            Self::Operation(operation) => operation.code(),
            Self::Interrupted => "cancelled",
            Self::Stream(_) => "stream",
        }
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::File { .. } => Some("name a file that can be read, or `-` for standard input".into()),
            Self::NoSources { .. } => Some("name a folder with files that end in .ts, .mts, .js or .mjs".into()),
            Self::UnknownCapability { .. } => {
                Some("there are net, timers, clock, random, kv, files, secrets, tools".into())
            }
            Self::Draft(error) => Some(error.hint().into()),
            Self::ParamsTooLong => Some("hand in less at a time".into()),
            Self::OneInput => Some("hand one of them in as a file: FILE, or @FILE for parameters".into()),
            Self::Params(_) | Self::ParamsNotUtf8 => {
                Some("parameters are a JSON object, such as '{\"numbers\": [1, 2]}', or @FILE, or -".into())
            }
            Self::Start(error) => Some(error.hint().into()),
            Self::Exec(error) => Some(error.hint()),
            Self::NoHome => Some("name a directory with --dir, or set HOME".into()),
            Self::NotSigned { .. } => Some("a signature is a file beside the bundle that ends in .minisig".into()),
            Self::Policy(error) => Some(error.hint().into()),
            Self::Store(failure) => failure.hint.map(Cow::Borrowed),
            Self::Operation(operation) => Some(operation.hint()),
            Self::Typed { hint, .. } => Some((*hint).into()),
            Self::Stream(_) => Some(
                "what the command did has happened, and only its answer is lost: send the output where there is room, and look \
                 (`toolcell list`, `toolcell audit`) before you do it again"
                    .into(),
            ),
            Self::Interrupted => None,
        }
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Self::File { path, error } => format!("{path}: {}", reason(error)),
            Self::NoSources { path } => format!("{path}: there is no source in this folder"),
            Self::UnknownCapability { name } => format!("there is no capability `{name}`"),
            Self::Draft(error) => error.to_string(),
            Self::Params(error) => error.to_string(),
            Self::ParamsNotUtf8 => "the parameters are not UTF-8".to_owned(),
            Self::ParamsTooLong => format!("the parameters are longer than {PARAMS_LIMIT} bytes"),
            Self::OneInput => "the tool and its parameters cannot both come from standard input".to_owned(),
            Self::Start(error) => error.to_string(),
            Self::Exec(error) => error.to_string(),
            Self::NoHome => "there is no home directory to find the store in".to_owned(),
            Self::NotSigned { path } => format!("{path} is not signed"),
            Self::Policy(error) => error.to_string(),
            Self::Store(failure) => failure.message.clone(),
            Self::Operation(operation) => operation.message(),
            Self::Typed { message, .. } => message.clone(),
            Self::Interrupted => "nothing was changed".to_owned(),
            Self::Stream(error) => format!("standard output cannot be written: {}", reason(error)),
        }
    }

    /// The same as part of an answer.
    pub(crate) fn body(&self) -> ErrorBody {
        let body = ErrorBody::refusal(self.code(), self.message(), self.hint().as_deref());
        match self {
            Self::Exec(error) => body.at(error.place()),
            Self::Operation(operation) => match operation.effects() {
                Some(effects) => body.at(operation.place()).with_effects(effects),
                None => body.at(operation.place()),
            },
            _ => body,
        }
    }

    /// Says it, and gives the exit status.
    pub(crate) fn print(&self, json: bool, lang: Lang, streams: &mut Streams<'_>) -> Exit {
        let exit = self.exit();
        if exit == Exit::Done {
            return exit;
        }
        // Where even this cannot be written, the exit status still says that something failed.
        let is_lost = matches!(self, Self::Stream(_));
        let _ = if json && !is_lost {
            writeln!(streams.output, "{}", Answer::refused(None, self.body()).to_json())
        } else {
            self.print_text(lang, streams)
        };
        exit
    }

    fn print_text(&self, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
        let (error, hint) = match lang {
            Lang::En => ("error", "hint"),
            Lang::Ja => ("エラー", "ヒント"),
            Lang::Zh => ("错误", "提示"),
        };
        let colon = lang.colon();
        if let Self::Operation(operation) = self
            && let Some(text) = operation.text(lang)
        {
            writeln!(streams.errors, "{}", visible(&text))?;
            return writeln!(streams.errors, "{hint}{colon}{}", visible(&operation.hint()));
        }
        let message = visible(&self.message());
        match headline(self.code(), lang) {
            Some(headline) => writeln!(streams.errors, "{error}{colon}{headline}{colon}{message}")?,
            None => writeln!(streams.errors, "{error}{colon}{message}")?,
        }
        self.hint().map_or(Ok(()), |text| writeln!(streams.errors, "{hint}{colon}{}", visible(&text)))
    }
}

/// What the system said, without its error number.
pub(crate) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "is a directory".to_owned(),
        ErrorKind::StorageFull => "no space is left".to_owned(),
        _ => error.to_string(),
    }
}

/// The errors of the store's verbs have all the same form.
macro_rules! from_store {
    ($($error:ty, |$it:ident| $hint:expr;)*) => {$(
        impl From<$error> for Failure {
            fn from($it: $error) -> Self {
                Self::Store(StoreFailure { code: $it.code(), message: $it.to_string(), hint: $hint })
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
    store::SignatureError, |error| Some(error.hint());
    NameError, |error| Some(error.hint());
    toolcell::ApprovalError, |error| Some(error.hint());
    toolcell::PlanError, |error| Some(error.hint());
    toolcell::DeprecateError, |error| Some(error.hint());
    toolcell::SearchError, |error| Some(error.hint());
    toolcell::ReceiptError, |error| Some(error.hint());
    toolcell::ReplayError, |error| Some(error.hint());
    toolcell::ProfileError, |error| Some(error.hint());
    toolcell::gate::GateError, |error| Some(error.hint());
}

impl From<DraftError> for Failure {
    fn from(error: DraftError) -> Self {
        Self::Draft(error)
    }
}

impl From<PolicyError> for Failure {
    fn from(error: PolicyError) -> Self {
        Self::Policy(error)
    }
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Self {
        Self::Params(error)
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl From<ExecError> for Failure {
    fn from(error: ExecError) -> Self {
        Self::Exec(error)
    }
}
