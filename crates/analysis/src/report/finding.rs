//! Findings: what the rules report about a source.
//!
//! Invariant: names, severities and weights are those of the seed system (`safety.ts`), so scores
//! are comparable.

use serde::{Serialize, Serializer};
use toolcell_i18n::{Localize, Message, message};

use crate::syntax::position::{Location, locate_word};

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look.
    Low,
    /// Lowers the score.
    Medium,
    /// Makes the source unsafe.
    High,
    /// Prevents the source from running.
    Critical,
}

impl Localize for Severity {
    fn localize(&self) -> Message {
        match self {
            Self::Low => message!("low"),
            Self::Medium => message!("medium"),
            Self::High => message!("high"),
            Self::Critical => message!("critical"),
        }
    }
}

impl Severity {
    /// Returns how much a finding subtracts from the score of 1.0.
    #[must_use]
    pub const fn weight(self) -> f64 {
        match self {
            Self::Low => 0.05,
            Self::Medium => 0.1,
            Self::High => 0.25,
            Self::Critical => 0.5,
        }
    }

    /// Returns the name in lower case.
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

/// The identifier of an analysis rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub(crate) &'static str);

impl RuleId {
    /// Returns the name of the rule: the `type` of an issue, and the key of its documentation.
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

/// An issue that a rule reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that reported it.
    pub rule: RuleId,
    /// The severity, which determines the weight in the score.
    pub severity: Severity,
    /// The issue, as a predicate of the source: "reads files".
    pub message: Message,
    /// The suggested replacement.
    pub suggestion: &'static str,
    /// The location of the issue.
    pub location: Location,
    /// The source line in which the issue starts; of a long line, the part around it.
    pub snippet: String,
}

/// The rule of what a type checker says about a source.
const TYPE_ERROR: RuleId = RuleId("type-error");

impl Finding {
    /// Returns the finding of a type checker: it does not count in a score.
    #[must_use]
    pub fn from_type_checker(
        source: &str,
        (line, column): (u32, u32),
        message: Message,
        suggestion: &'static str,
    ) -> Self {
        let (location, snippet) = locate_word(source, line, column);
        Self { rule: TYPE_ERROR, severity: Severity::Medium, message, suggestion, location, snippet }
    }
}
