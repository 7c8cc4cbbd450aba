//! The inputs of a call besides its parameters and its budget.
//!
//! Invariant: everything that decides the result of a call beyond its script and parameters is a
//! field here. The default grants nothing.

use std::sync::Arc;
use std::time::Duration;

use crate::host_calls::{HostCalls, NoHostCalls};
use crate::limits::{CancelToken, FuelScope, OnOverload};
use crate::profile::ProfileSlot;

/// A callback for partial results while a tool runs.
pub type PartialResultSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A source of the real time, as time since 1970.
pub type WallClock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// JavaScript source with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptSource<'a> {
    /// The name in stack traces, usually a file name.
    pub name: &'a str,
    /// The source of a script or a module that defines a tool.
    pub source: &'a str,
}

/// The inputs of one call besides its parameters and its budget.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// The name of the tool, if a factory made several.
    pub tool: Option<&'a str>,
    /// The `toolCallId` that a factory's tool receives.
    pub call_id: &'a str,
    /// The seed of `Math.random()`.
    pub seed: u64,
    /// The start of the virtual clock, as time since 1970. The clock advances with the fuel that is
    /// burned.
    pub started_at: Duration,
    /// A wall clock that replaces the virtual clock. Its readings are recorded in the [`Report`](crate::Report).
    pub wall_clock: Option<&'a WallClock>,
    /// The implementation of the host calls, which also decides on the grants.
    pub host_calls: &'a dyn HostCalls,
    /// Cancels the call from another thread.
    pub cancel: Option<&'a CancelToken>,
    /// Receives partial results as JSON text while the tool runs.
    pub partial_sink: Option<&'a PartialResultSink>,
    /// The behaviour when all slots are in use.
    pub on_overload: OnOverload,
    /// Receives a fuel profile of the call. Suspendable calls are not profiled.
    pub profile: Option<&'a ProfileSlot>,
    /// A time limit that is shorter than the budget's, for a call that started elsewhere.
    pub time_limit: Option<Duration>,
    /// The work that the fuel limit covers.
    pub fuel_scope: FuelScope,
}

impl Default for CallContext<'_> {
    /// Grants nothing, with seed 0 and the clock at the start of 1970: the same result every time.
    fn default() -> Self {
        Self {
            tool: None,
            call_id: "1",
            seed: 0,
            started_at: Duration::ZERO,
            wall_clock: None,
            host_calls: &NoHostCalls,
            cancel: None,
            partial_sink: None,
            on_overload: OnOverload::Wait,
            profile: None,
            time_limit: None,
            fuel_scope: FuelScope::Call,
        }
    }
}
