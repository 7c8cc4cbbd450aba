//! Scripts that were evaluated once.
//!
//! Invariant: a call that starts from a snapshot has the same state as one that evaluates the script
//! again.

use toolcell_json::Json;

use crate::context::ScriptSource;
use crate::instance::MemoryDelta;
use crate::outcome::Report;

/// A script that was evaluated once. Calls start from the state after its top level.
pub struct Prepared {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) state: PreparedState,
    pub(crate) load_fuel: u64,
    pub(crate) manifest: Json,
}

/// The state that a call starts from.
pub(crate) enum PreparedState {
    /// The changes that evaluating the script made to memory.
    Snapshot(MemoryDelta),
    /// The script is evaluated again in each call, because its top level read the clock or a random
    /// number, which belong to one run, or wrote to the console.
    Script,
}

impl Prepared {
    pub(crate) fn script(&self) -> ScriptSource<'_> {
        ScriptSource { name: &self.name, source: &self.source }
    }

    /// Wraps a script that is evaluated in each call, without loading it now. Its manifest is
    /// `null`.
    #[must_use]
    pub fn without_snapshot(script: &ScriptSource<'_>) -> Self {
        let (name, source) = (script.name.to_owned(), script.source.to_owned());
        Self { name, source, state: PreparedState::Script, load_fuel: 0, manifest: Json::NULL }
    }

    /// Returns the fuel that evaluating the script burned.
    #[must_use]
    pub fn load_fuel(&self) -> u64 {
        self.load_fuel
    }

    /// Returns the approximate heap size of this value in bytes.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let state = match &self.state {
            PreparedState::Snapshot(changes) => changes.held_bytes(),
            PreparedState::Script => 0,
        };
        size_of::<Self>() + self.name.len() + self.source.len() + state + self.manifest.as_str().len()
    }

    /// Returns whether calls start from a snapshot of the evaluated script instead of evaluating it
    /// again.
    #[must_use]
    pub fn is_snapshot(&self) -> bool {
        matches!(self.state, PreparedState::Snapshot(_))
    }

    /// Returns the script's description of its tools: `{"shape", "tools": [{"name", "label",
    /// "description", "parameters"}]}`.
    #[must_use]
    pub fn manifest(&self) -> &Json {
        &self.manifest
    }
}

/// The result of loading a script.
#[expect(clippy::large_enum_variant, reason = "the result is taken apart at once and never kept")]
pub enum PrepareResult<P = Prepared> {
    /// The script can be called.
    Ready(P),
    /// The script did not load: it has a syntax error, threw at the top level, hit a limit, or
    /// defines no tool.
    Failed(Report),
}

/// A script that a [`Backend`](crate::Backend) has evaluated once.
pub trait PreparedScript {
    /// Returns the approximate heap size of this value in bytes.
    fn held_bytes(&self) -> usize;

    /// Returns the fuel that evaluating the script burned.
    fn load_fuel(&self) -> u64;

    /// Returns the script's description of its tools, as
    /// [`Prepared::manifest`].
    fn manifest(&self) -> &Json;
}

impl PreparedScript for Prepared {
    fn held_bytes(&self) -> usize {
        self.held_bytes()
    }

    fn load_fuel(&self) -> u64 {
        self.load_fuel
    }

    fn manifest(&self) -> &Json {
        &self.manifest
    }
}
