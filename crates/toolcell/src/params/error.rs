//! Why a declaration is none, and why parameters do not pass.
//!
//! Invariant: each message names the place and the actual value, and is one line of bounded length for each fault.

use std::fmt::Write as _;

use super::shown;

/// Why parameters cannot be declared so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A declaration is an object, or nothing at all.
    #[error("the parameters are declared as {is}, expected an object")]
    NotAnObject {
        /// What it is, cut where it is long.
        is: String,
    },
    /// A definition is not what a definition is.
    #[error("{at} {what}")]
    Definition {
        /// The parameter, in backticks, or `the declaration`.
        at: String,
        /// What is wrong with it.
        what: String,
    },
    /// A definition that no value, or not its own default, could meet.
    #[error("{at} contradicts itself: {what}")]
    Contradiction {
        /// The parameter, in backticks, or `the declaration`.
        at: String,
        /// What contradicts what.
        what: String,
    },
    /// A reference that leads out of the declaration, or nowhere.
    #[error("{at} refers to {reference}, which is no schema inside of the declaration")]
    Reference {
        /// The parameter, in backticks, or `the declaration`.
        at: String,
        /// The reference, in backticks.
        reference: String,
    },
    /// A pattern that cannot be matched in bounded time, or is none.
    #[error("{at} has the pattern {pattern}, which {what}")]
    Pattern {
        /// The parameter, in backticks, or `the declaration`.
        at: String,
        /// The pattern, in backticks, cut where it is long.
        pattern: String,
        /// What is wrong with it, and what to write in its place.
        what: String,
    },
    /// It is larger than a declaration may be.
    #[error("the declaration {what}")]
    TooLarge {
        /// What there is too much of, and the limit.
        what: String,
    },
    /// Checking parameters against it could take longer than anybody waits.
    #[error("the declaration is too entangled: {what}")]
    Entangled {
        /// What there is too much of, and the limit.
        what: String,
    },
}

impl SchemaError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "parameters-invalid"
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NotAnObject { .. } | Self::Definition { .. } => {
                "declare each parameter as `name: { type, description, default?, enum?, minimum?, maximum?, required? }`, \
                 or all of them as a JSON Schema with `type: \"object\"` and `properties`"
            }
            Self::Contradiction { .. } => "change one of the two, so that there are values that pass",
            Self::Reference { .. } => "copy what it refers to into `$defs`, and refer to it as `#/$defs/name`",
            Self::Pattern { .. } => {
                "write it without look-around and back-references, or leave it out and check the value in `execute`"
            }
            Self::TooLarge { .. } => "declare less: what a schema does not say, `execute` can check",
            Self::Entangled { .. } => "write out what is referred to, or declare less",
        }
    }
}

/// One fault of the parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamProblem {
    /// Where, as a JSON Pointer (RFC 6901); empty for the parameters as a whole. A long one is cut, and ends with `…`.
    pub path: String,
    /// What is wrong there: a clause whose subject is the place, such as `is 11, the maximum is 10`.
    pub message: String,
}

/// Why parameters do not pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// Required ones are missing, and nothing else is wrong.
    #[error("required parameters are missing: {}", self.detail())]
    Missing {
        /// Their names; a JSON Pointer for what is missing deeper inside.
        names: Vec<String>,
    },
    /// Checking them against what the tool declares takes more work than a call is given.
    #[error("the parameters are invalid: {}", self.detail())]
    TooMuchWork {
        /// How many steps a check may take; a step looks at one value with one schema.
        limit: u64,
    },
    /// They are not what the tool declares.
    #[error("the parameters are invalid: {}", self.detail())]
    Invalid {
        /// What is wrong, at most 20 of it.
        problems: Vec<ParamProblem>,
        /// How much more is wrong. Of parameters of more than 100,000 values only the first fault is looked for.
        more: usize,
    },
}

impl ParamsError {
    /// One fault and no other.
    pub(super) fn one(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { problems: vec![ParamProblem { path: path.into(), message: message.into() }], more: 0 }
    }

    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "parameters-missing",
            Self::TooMuchWork { .. } | Self::Invalid { .. } => "parameters-invalid",
        }
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "call the tool again with these as well",
            Self::TooMuchWork { .. } => {
                "send less at once, or declare the parameters with fewer alternatives and simpler patterns"
            }
            Self::Invalid { .. } => "change what is named, and call the tool again",
        }
    }

    /// What the message says after its first words: the names, or each fault with its place.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Missing { names } => shown::names(names.iter().map(String::as_str)),
            Self::TooMuchWork { limit } => {
                format!("checking them against what is declared takes more than {limit} steps")
            }
            Self::Invalid { problems, more } => {
                let mut detail = String::new();
                for (at, ParamProblem { path, message }) in problems.iter().enumerate() {
                    let separator = if at == 0 { "" } else { "; " };
                    let place = if path.is_empty() { "the whole".to_owned() } else { shown::path(path) };
                    let _ = write!(detail, "{separator}{place} {message}");
                }
                if *more > 0 {
                    let _ = write!(detail, "; and {more} more");
                }
                detail
            }
        }
    }
}
