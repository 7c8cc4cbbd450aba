//! The names of what a host can hand to a tool.
//!
//! Invariant: a capability is a name alone. What exactly is handed over is in [`Grants`](crate::Grants).

use serde::Serialize;

/// One kind of thing that a host can hand to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    /// Requests to other machines.
    Net,
    /// Waiting: `setTimeout`, `setInterval`.
    Timers,
    /// The real time. Without it a clock runs that starts at the run's time and moves on with fuel.
    Clock,
    /// Real random numbers. Without it they come from the run's seed.
    Random,
    /// A named space of keys and values.
    Kv,
    /// A directory.
    Files,
    /// Secrets that the host puts into requests.
    Secrets,
    /// Calls of other tools.
    Tools,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Net, Self::Timers, Self::Clock, Self::Random, Self::Kv, Self::Files, Self::Secrets, Self::Tools];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Net => "net",
            Self::Timers => "timers",
            Self::Clock => "clock",
            Self::Random => "random",
            Self::Kv => "kv",
            Self::Files => "files",
            Self::Secrets => "secrets",
            Self::Tools => "tools",
        }
    }

    /// The capability of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.name() == name)
    }

    /// Whether a tool works without it, in a way that can be repeated.
    #[must_use]
    pub const fn has_stand_in(self) -> bool {
        matches!(self, Self::Clock | Self::Random)
    }

    /// What is named of it where it is granted: hosts, spaces, folders. Nothing of what is granted as a whole.
    #[must_use]
    pub const fn parts(self) -> Option<&'static str> {
        match self {
            Self::Timers | Self::Clock | Self::Random => None,
            Self::Net => Some("hosts"),
            Self::Kv => Some("spaces"),
            Self::Files => Some("folders"),
            Self::Secrets => Some("names of secrets"),
            Self::Tools => Some("names of tools"),
        }
    }
}
