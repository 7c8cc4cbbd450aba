//! The errors of declarations and of parameters.
//!
//! Invariant: each message names the position and the actual value, and is one line of bounded
//! length per fault.

use toolcell_i18n::{Message, message, msgid};

use super::display;

/// The error of a refused declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[code(ParametersInvalid)]
pub enum SchemaError {
    /// The declaration is not an object.
    #[error("the parameters are declared as {is}, expected an object")]
    #[hint(
        "declare each parameter as `name: { type, description, default?, enum?, minimum?, maximum?, required? }`, \
                 or all of them as a JSON Schema with `type: \"object\"` and `properties`"
    )]
    NotAnObject {
        /// The declaration, truncated.
        is: String,
    },
    /// A definition is malformed.
    #[error("{at} {what}")]
    #[hint(
        "declare each parameter as `name: { type, description, default?, enum?, minimum?, maximum?, required? }`, \
                 or all of them as a JSON Schema with `type: \"object\"` and `properties`"
    )]
    Definition {
        /// The parameter, in backticks, or `the declaration`.
        at: Message,
        /// The fault.
        what: Message,
    },
    /// A definition that no value satisfies, or not its own default.
    #[error("{at} contradicts itself: {what}")]
    #[hint("change one of the two, so that some values are valid")]
    Contradiction {
        /// The parameter, in backticks, or `the declaration`.
        at: Message,
        /// The contradiction.
        what: Message,
    },
    /// A reference that leads out of the declaration or nowhere.
    #[error("{at} refers to {reference}, which is not a schema in the declaration")]
    #[hint("copy the referenced schema into `$defs`, and refer to it as `#/$defs/name`")]
    Reference {
        /// The parameter, in backticks, or `the declaration`.
        at: Message,
        /// The reference, in backticks.
        reference: String,
    },
    /// A pattern that is invalid or cannot be matched in bounded time.
    #[error("{at} has the pattern {pattern}, which {what}")]
    #[hint("write it without look-around and back-references, or omit it and check the value in `execute`")]
    Pattern {
        /// The parameter, in backticks, or `the declaration`.
        at: Message,
        /// The pattern, in backticks, truncated.
        pattern: String,
        /// The fault, and what to write instead.
        what: Message,
    },
    /// The declaration is too large.
    #[error("the declaration {what}")]
    #[hint("declare less, and check the rest in `execute`")]
    TooLarge {
        /// The exceeded size and its limit.
        what: Message,
    },
    /// The declaration is too complex: checking parameters against it could take too long.
    #[error("the declaration is too complex: {what}")]
    #[hint("inline the references, or declare less")]
    TooComplex {
        /// The exceeded measure and its limit.
        what: Message,
    },
}

/// One fault of the parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamProblem {
    /// The position as a JSON Pointer (RFC 6901); empty for the parameters as a whole. A long
    /// pointer is truncated and ends with `…`.
    pub path: String,
    /// The fault: a clause whose subject is the position, such as `is 11, the maximum is 10`.
    pub message: Message,
}

/// The error of refused parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
pub enum ParamsError {
    /// Required parameters are missing, and nothing else is wrong.
    #[error("required parameters are missing: {}", self.detail())]
    #[code(ParametersMissing)]
    #[hint("call the tool again with these parameters added")]
    Missing {
        /// The missing names; a JSON Pointer for a nested one.
        names: Vec<String>,
    },
    /// Checking the parameters takes more steps than a call may use.
    #[error("the parameters are invalid: {}", self.detail())]
    #[code(ParametersInvalid)]
    #[hint("send less data, or declare the parameters with fewer alternatives and simpler patterns")]
    TooMuchWork {
        /// The maximum number of steps; a step evaluates one schema on one value.
        limit: u64,
    },
    /// The parameters do not match the declaration.
    #[error("the parameters are invalid: {}", self.detail())]
    #[code(ParametersInvalid)]
    #[hint("correct these parameters, and call the tool again")]
    Invalid {
        /// The faults, at most 20.
        problems: Vec<ParamProblem>,
        /// The number of further faults. For parameters with more than 100,000 values, only the
        /// first fault is determined.
        more: usize,
    },
}

impl ParamProblem {
    fn to_message(&self) -> Message {
        let place = match &*self.path {
            "" => Message::from(msgid!("the value")),
            path => Message::verbatim(display::path(path)),
        };
        message!("{place} {fault}", place, fault = self.message)
    }
}

impl ParamsError {
    /// Creates an error with a single fault.
    pub(super) fn single(path: impl Into<String>, message: impl Into<Message>) -> Self {
        Self::Invalid { problems: vec![ParamProblem { path: path.into(), message: message.into() }], more: 0 }
    }

    /// Returns the message after its first words: the names, or each fault with its position.
    #[must_use]
    pub fn detail(&self) -> Message {
        match self {
            Self::Missing { names } => display::names(names.iter().map(String::as_str)),
            Self::TooMuchWork { limit } => {
                message!("checking them against the schema takes more than {limit} steps", limit)
            }
            Self::Invalid { problems, more } => {
                let rest = (*more > 0).then(|| message!("and {more} more", more));
                let faults = problems.iter().map(ParamProblem::to_message).chain(rest).enumerate();
                Message::sequence(
                    faults
                        .flat_map(|(at, fault)| [Message::verbatim(if at == 0 { "" } else { "; " }.to_owned()), fault]),
                )
            }
        }
    }
}
