//! The verification status of a tool.
//!
//! ```text
//! unverified → pending → passed | failed → pending …
//! passed → unverified, if it starts to fail or its declared behaviour changes
//! any status → deprecated → unverified
//! any status → quarantined → unverified
//! ```

use std::fmt;

use toolcell_i18n::{Localize, Message, message};

/// The verification status of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The tool was never verified, or its last verification no longer counts.
    Unverified,
    /// Verification is in progress.
    Pending,
    /// Verification succeeded.
    Passed,
    /// Verification failed.
    Failed,
    /// The tool works, but a successor should be used.
    Deprecated,
    /// The tool must not run: its stored content is corrupt, or a user quarantined it.
    Quarantined,
}

impl Status {
    /// All statuses, in declaration order.
    pub const ALL: [Self; 6] =
        [Self::Unverified, Self::Pending, Self::Passed, Self::Failed, Self::Deprecated, Self::Quarantined];

    /// Returns the name used in JSON and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Pending => "pending",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Deprecated => "deprecated",
            Self::Quarantined => "quarantined",
        }
    }

    /// Returns the status with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Returns whether the transition from this status to `next` is allowed.
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::Status;
    ///
    /// assert!(Status::Pending.can_transition_to(Status::Passed));
    /// assert!(!Status::Unverified.can_transition_to(Status::Passed));
    /// ```
    #[must_use]
    pub const fn can_transition_to(self, next: Self) -> bool {
        match next {
            Self::Pending => matches!(self, Self::Unverified | Self::Passed | Self::Failed),
            Self::Passed | Self::Failed => matches!(self, Self::Pending),
            // An aborted verification, a demotion, or a status that was lifted.
            Self::Unverified => matches!(self, Self::Pending | Self::Passed | Self::Deprecated | Self::Quarantined),
            Self::Deprecated => !matches!(self, Self::Deprecated | Self::Quarantined),
            Self::Quarantined => !matches!(self, Self::Quarantined),
        }
    }
}

impl Localize for Status {
    fn localize(&self) -> Message {
        match self {
            Self::Unverified => message!("unverified"),
            Self::Pending => message!("pending"),
            Self::Passed => message!("passed"),
            Self::Failed => message!("failed"),
            Self::Deprecated => message!("deprecated"),
            Self::Quarantined => message!("quarantined"),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_english_word_is_the_name() {
        for status in Status::ALL {
            assert_eq!(status.localize().to_string(), status.name());
        }
        assert_eq!(Status::Deprecated.localize().to_text(toolcell_i18n::Lang::Ja), "非推奨");
    }

    #[test]
    fn the_legal_ways_are_these() {
        let mut ways = Vec::new();
        for from in Status::ALL {
            let to: Vec<&str> =
                Status::ALL.into_iter().filter(|to| from.can_transition_to(*to)).map(Status::name).collect();
            ways.push(format!("{from}: {}", to.join(" ")));
        }
        assert_eq!(
            ways,
            [
                "unverified: pending deprecated quarantined",
                "pending: unverified passed failed deprecated quarantined",
                "passed: unverified pending deprecated quarantined",
                "failed: pending deprecated quarantined",
                "deprecated: unverified quarantined",
                "quarantined: unverified",
            ]
        );
    }
}
