//! The five kinds of tools that are proposed.

use super::lexicon::{Role, Token};
use crate::trigger::Trigger;

/// A kind of tool, for which there is code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Transformation,
    Validation,
    Aggregation,
    Api,
    Repetition,
}

impl Family {
    /// All of them; where a text says as much for one as for the other, the first.
    pub(super) const ALL: [Self; 5] =
        [Self::Transformation, Self::Validation, Self::Aggregation, Self::Api, Self::Repetition];

    /// The family of a trigger; of failures, the one that the words of the task fit best.
    pub(super) fn of(trigger: Trigger, tokens: &[Token]) -> Self {
        match trigger {
            Trigger::Transformation => Self::Transformation,
            Trigger::Validation => Self::Validation,
            Trigger::Aggregation => Self::Aggregation,
            Trigger::Api => Self::Api,
            Trigger::Repetition => Self::Repetition,
            Trigger::Failures => Self::fitting(tokens),
        }
    }

    fn fitting(tokens: &[Token]) -> Self {
        let fit = |family: Self| tokens.iter().filter(|token| family.has(token)).count();
        Self::ALL.into_iter().rev().max_by_key(|family| fit(*family)).unwrap_or(Self::Transformation)
    }

    fn has(self, token: &Token) -> bool {
        match token.role {
            Role::Action => self.verbs().contains(&token.word.as_str()),
            Role::Ending => self == Self::Aggregation,
            _ => {
                self == Self::Api && matches!(token.word.as_str(), "api" | "endpoint" | "webhook" | "request" | "rest")
            }
        }
    }

    /// Its name, which is a tag as well.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Transformation => "transformation",
            Self::Validation => "validation",
            Self::Aggregation => "aggregation",
            Self::Api => "api",
            Self::Repetition => "repetition",
        }
    }

    /// What it does, for a name, where the task has no word for it.
    pub(super) const fn verb(self) -> &'static str {
        match self {
            Self::Transformation => "convert",
            Self::Validation => "validate",
            Self::Aggregation => "summarize",
            Self::Api => "request",
            Self::Repetition => "repeat",
        }
    }

    /// What it does, as tasks say it.
    pub(super) const fn verbs(self) -> &'static [&'static str] {
        match self {
            Self::Transformation => &[
                "convert",
                "transform",
                "format",
                "reformat",
                "parse",
                "extract",
                "normalize",
                "normalise",
                "turn",
                "clean",
                "split",
                "translate",
                "encode",
                "decode",
                "merge",
                "flatten",
                "rewrite",
                "strip",
                "replace",
            ],
            Self::Validation => {
                &["validate", "check", "verify", "audit", "inspect", "ensure", "test", "lint", "detect"]
            }
            Self::Aggregation => &[
                "aggregate",
                "sum",
                "count",
                "average",
                "total",
                "tally",
                "summarize",
                "summarise",
                "group",
                "rank",
                "calculate",
                "compute",
                "analyze",
                "analyse",
                "tabulate",
            ],
            Self::Api => &[
                "fetch", "call", "query", "send", "post", "request", "download", "upload", "push", "pull", "invoke",
                "sync", "notify", "poll", "ping", "submit", "publish", "retrieve", "lookup",
            ],
            Self::Repetition => &[],
        }
    }

    /// The code of such a tool.
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Transformation => include_str!("../../skeletons/transformation.ts"),
            Self::Validation => include_str!("../../skeletons/validation.ts"),
            Self::Aggregation => include_str!("../../skeletons/aggregation.ts"),
            Self::Api => include_str!("../../skeletons/api.ts"),
            Self::Repetition => include_str!("../../skeletons/repetition.ts"),
        }
    }
}
