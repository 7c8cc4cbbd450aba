//! The reasons why a tool is worth making.

use serde::{Deserialize, Serialize};

/// The reason why a tool is worth making.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// The same work is repeated.
    Repetition,
    /// Data is converted, formatted or parsed.
    Transformation,
    /// An external service is called.
    Api,
    /// Data is checked against rules.
    Validation,
    /// Data is aggregated: sums, counts, statistics.
    Aggregation,
    /// The task failed too often.
    Failures,
}

impl Trigger {
    /// All triggers.
    pub const ALL: [Self; 6] =
        [Self::Repetition, Self::Transformation, Self::Api, Self::Validation, Self::Aggregation, Self::Failures];

    /// The name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repetition => "repetition",
            Self::Transformation => "transformation",
            Self::Api => "api",
            Self::Validation => "validation",
            Self::Aggregation => "aggregation",
            Self::Failures => "failures",
        }
    }
}
