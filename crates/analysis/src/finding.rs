//! What the analysis says of a source, one thing at a time.
//!
//! Invariant: names, severities and weights are those of the seed system (`safety.ts`), so that scores can be compared.

use serde::{Serialize, Serializer};

use crate::position::Location;

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look.
    Low,
    /// Lowers the score.
    Medium,
    /// Not safe.
    High,
    /// Never runs.
    Critical,
}

impl Severity {
    /// What it takes from the score of 1.0.
    #[must_use]
    pub const fn weight(self) -> f64 {
        match self {
            Self::Low => 0.05,
            Self::Medium => 0.1,
            Self::High => 0.25,
            Self::Critical => 0.5,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// A rule of the analysis, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub(crate) &'static str);

impl RuleId {
    /// The name: the `type` of an issue, and the page that explains it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

/// One thing that a rule has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which rule.
    pub rule: RuleId,
    /// How bad it is.
    pub severity: Severity,
    /// What the source does.
    pub message: String,
    /// What to write instead.
    pub suggestion: &'static str,
    /// Where.
    pub location: Location,
    /// The line of the source that it begins in; of a long one, what is around it.
    pub text: String,
}
