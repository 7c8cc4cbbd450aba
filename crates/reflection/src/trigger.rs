//! What makes a tool worth making.

use serde::{Deserialize, Serialize};

/// What makes a tool worth making.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trigger {
    /// The same is done again and again.
    Repetition,
    /// Data becomes other data: converted, formatted, parsed.
    Transformation,
    /// Something outside is called.
    Api,
    /// Data is held against rules.
    Validation,
    /// Many become few: sums, counts, statistics.
    Aggregation,
    /// It failed too often.
    Failures,
}

impl Trigger {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Repetition, Self::Transformation, Self::Api, Self::Validation, Self::Aggregation, Self::Failures];

    /// Its name in JSON.
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
