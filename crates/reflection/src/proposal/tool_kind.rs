//! The five kinds of proposed tools.

use super::lexicon::{NameRole, NameToken};
use crate::trigger::Trigger;

/// A kind of tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    Transformation,
    Validation,
    Aggregation,
    Api,
    Repetition,
}

impl ToolKind {
    /// All kinds. If a text fits several equally well, the first one is chosen.
    pub(super) const ALL: [Self; 5] =
        [Self::Transformation, Self::Validation, Self::Aggregation, Self::Api, Self::Repetition];

    /// The kind for a trigger; for failures, the kind that the words of the task fit best.
    pub(super) fn for_trigger(trigger: Trigger, tokens: &[NameToken]) -> Self {
        match trigger {
            Trigger::Transformation => Self::Transformation,
            Trigger::Validation => Self::Validation,
            Trigger::Aggregation => Self::Aggregation,
            Trigger::Api => Self::Api,
            Trigger::Repetition => Self::Repetition,
            Trigger::Failures => Self::best_fit(tokens),
        }
    }

    fn best_fit(tokens: &[NameToken]) -> Self {
        let fit = |family: Self| tokens.iter().filter(|token| family.is_named_by(token)).count();
        Self::ALL.into_iter().rev().max_by_key(|family| fit(*family)).unwrap_or(Self::Transformation)
    }

    fn is_named_by(self, token: &NameToken) -> bool {
        match token.role {
            NameRole::Verb => self.verbs().contains(&token.word.as_str()),
            NameRole::Result => self == Self::Aggregation,
            _ => {
                self == Self::Api && matches!(token.word.as_str(), "api" | "endpoint" | "webhook" | "request" | "rest")
            }
        }
    }

    /// The verb for the name of a tool if the task has none.
    pub(super) const fn default_verb(self) -> &'static str {
        match self {
            Self::Transformation => "convert",
            Self::Validation => "validate",
            Self::Aggregation => "summarize",
            Self::Api => "request",
            Self::Repetition => "repeat",
        }
    }

    /// The verbs by which tasks ask for it.
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
}
