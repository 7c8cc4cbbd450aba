//! Tells the other nodes what this one does, and logs which of them are set up otherwise.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use toolcell_mcp::CallTracker;

use crate::library::NodeLibrary;
use crate::node_report::{NodeReport, NodeSetup, NodeState, PUBLISH_PERIOD, SetupComparison};

/// How often the setups of the nodes are compared: soon after the start, when other nodes may start as well, and later.
const COMPARE_PERIODS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(1));
/// The number of comparisons that are made soon after the start.
const EARLY_COMPARISONS: u32 = 3;

/// What this node tells, and what it knows of the others.
pub(super) struct Presence {
    host: String,
    started: Timestamp,
    setup: NodeSetup,
    /// The address that the server listens on, once it does.
    address: Arc<OnceLock<SocketAddr>>,
    calls: CallTracker,
    published: Option<(NodeState, Instant)>,
    compared: Option<Instant>,
    comparisons: u32,
    comparison: SetupComparison,
}

/// How far a node has followed its libraries.
pub(super) struct Following {
    /// The identifier of the node.
    pub(super) node: String,
    /// How many libraries are open.
    pub(super) libraries: usize,
    /// Whether all of them are followed.
    pub(super) is_ready: bool,
    /// How long ago it was last known that all of them were, if ever.
    pub(super) view: Option<Duration>,
}

impl Presence {
    pub(super) fn new(setup: NodeSetup, address: Arc<OnceLock<SocketAddr>>, calls: CallTracker) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let started = toolcell::now();
        let comparison = SetupComparison::default();
        Self { host, started, setup, address, calls, published: None, compared: None, comparisons: 0, comparison }
    }

    /// Publishes a report if it is time, or the state is another one. Nothing depends on it, so a failure is not reported here: the same
    /// one keeps the node from following.
    pub(super) fn tell(&mut self, following: &Following, library: &NodeLibrary) {
        let Some(address) = self.address.get() else { return };
        let state = match following.is_ready {
            _ if self.calls.draining().is_cancelled() => NodeState::Draining,
            true => NodeState::Ready,
            false => NodeState::Behind,
        };
        if self.published.is_some_and(|(told, at)| told == state && at.elapsed() < PUBLISH_PERIOD) {
            return;
        }
        let report = NodeReport {
            host: self.host.clone(),
            address: address.to_string(),
            started: self.started,
            state,
            view_ms: following.view.map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX)),
            libraries: following.libraries,
            setup: self.setup.clone(),
        };
        if let Err(error) = library.publish(&following.node, &report) {
            tracing::debug!(%error, "the other nodes are not told what this one does");
            return;
        }
        self.published = Some((state, Instant::now()));
        let period = if self.comparisons < EARLY_COMPARISONS { COMPARE_PERIODS.0 } else { COMPARE_PERIODS.1 };
        if self.compared.is_none_or(|at| at.elapsed() >= period) {
            self.compare(&following.node, library);
        }
    }

    /// Logs which nodes are set up otherwise.
    fn compare(&mut self, own: &str, library: &NodeLibrary) {
        let Ok(nodes) = library.nodes() else { return };
        (self.compared, self.comparisons) = (Some(Instant::now()), self.comparisons.saturating_add(1));
        for other in self.comparison.new_differences(&self.setup, &nodes) {
            tracing::warn!(
                node = other.node,
                host = other.report.host,
                what = other.what,
                "another node is set up otherwise: the same call may end otherwise there"
            );
        }
        tracing::debug!(node = own, nodes = nodes.len(), "the setups of the nodes were compared");
    }

    /// Tells the other nodes that this one has ended.
    pub(super) fn leave(&self, node: &str, library: &NodeLibrary) {
        if self.published.is_some()
            && let Err(error) = library.leave(node)
        {
            tracing::debug!(%error, "the other nodes are not told that this one has ended");
        }
    }
}
