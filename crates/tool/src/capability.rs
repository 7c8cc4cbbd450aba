//! Capabilities: the kinds of resource that a host can grant to a tool.
//!
//! Invariant: a capability is a name only. [`Grants`](crate::Grants) says what exactly is granted.

use serde::Serialize;
use toolcell_i18n::msgid;

/// A kind of resource that a host can grant to a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    /// HTTP requests to other machines.
    Net,
    /// Timers: `setTimeout`, `setInterval`.
    Timers,
    /// The wall clock. Without it, a virtual clock starts at the time of the run and advances with
    /// the fuel used.
    Clock,
    /// The operating system's random numbers. Without it, random numbers are derived from the run's
    /// seed.
    Random,
    /// A named key-value space.
    Kv,
    /// A directory on disk.
    Files,
    /// Secrets that the host substitutes into requests.
    Secrets,
    /// Calls of other tools.
    Tools,
    /// Calls of tools of MCP servers.
    Servers,
}

impl Capability {
    /// All capabilities, in declaration order.
    pub const ALL: [Self; 9] = [
        Self::Net,
        Self::Timers,
        Self::Clock,
        Self::Random,
        Self::Kv,
        Self::Files,
        Self::Secrets,
        Self::Tools,
        Self::Servers,
    ];

    /// Returns the name used in policies, JSON and messages.
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
            Self::Servers => "servers",
        }
    }

    /// Returns the capability with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.name() == name)
    }

    /// Returns whether the host has a deterministic substitute, so that a tool also works without
    /// this capability.
    #[must_use]
    pub const fn has_deterministic_fallback(self) -> bool {
        matches!(self, Self::Clock | Self::Random)
    }

    /// Returns the noun for the parts that a grant of this capability names, such as hosts or
    /// folders, as a text of the catalogues. `None` for capabilities that are granted as a whole.
    #[must_use]
    pub const fn scope_noun(self) -> Option<&'static str> {
        match self {
            Self::Timers | Self::Clock | Self::Random => None,
            Self::Net => Some(msgid!("hosts")),
            Self::Kv => Some(msgid!("spaces")),
            Self::Files => Some(msgid!("folders")),
            Self::Secrets => Some(msgid!("secret names")),
            Self::Tools => Some(msgid!("tool names")),
            Self::Servers => Some(msgid!("servers and their tools")),
        }
    }
}
