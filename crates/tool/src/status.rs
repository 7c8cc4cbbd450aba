//! How far a tool is trusted.
//!
//! ```text
//! unverified → pending → passed | failed → pending …
//! passed → unverified, where it starts failing, or what is expected of it changes
//! each of them → deprecated → unverified
//! each of them → quarantined → unverified
//! ```

use std::fmt;

/// How far a tool is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Nobody has tried it.
    Unverified,
    /// It is being tried.
    Pending,
    /// It did what was expected.
    Passed,
    /// It did not.
    Failed,
    /// It works, and something else is to be used.
    Deprecated,
    /// It must not run: what is stored is not what was stored, or somebody said so.
    Quarantined,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Unverified, Self::Pending, Self::Passed, Self::Failed, Self::Deprecated, Self::Quarantined];

    /// Its name in JSON and on the command line.
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

    /// The status of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether a tool may go from this status to another.
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::Status;
    ///
    /// assert!(Status::Pending.may_become(Status::Passed));
    /// assert!(!Status::Unverified.may_become(Status::Passed));
    /// ```
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        match next {
            Self::Pending => matches!(self, Self::Unverified | Self::Passed | Self::Failed),
            Self::Passed | Self::Failed => matches!(self, Self::Pending),
            // A trial that was broken off, one whose subject changed, or a second chance.
            Self::Unverified => matches!(self, Self::Pending | Self::Passed | Self::Deprecated | Self::Quarantined),
            Self::Deprecated => !matches!(self, Self::Deprecated | Self::Quarantined),
            Self::Quarantined => !matches!(self, Self::Quarantined),
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
    fn the_legal_ways_are_these() {
        let mut ways = Vec::new();
        for from in Status::ALL {
            let to: Vec<&str> = Status::ALL.into_iter().filter(|to| from.may_become(*to)).map(Status::name).collect();
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
