//! Tells the other nodes what this one does, and logs which of them are set up otherwise.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use toolcell_mcp::CallTracker;

use super::hand_over::NodeHandOver;
use crate::library::NodeLibrary;
use crate::node_report::{KnownNode, NodeReport, NodeSetup, NodeState, PUBLISH_PERIOD, SetupComparison};

/// How often the setups of the nodes are compared: soon after the start, when other nodes may start as well, and later.
const COMPARE_PERIODS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_mins(1));
/// How often the nodes are looked at that calls may go to, at least: the time by their number, because each of them looks at all.
const PLACE_PERIOD_PER_NODE: Duration = Duration::from_millis(20);
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
    hand_over: Option<Arc<NodeHandOver>>,
    /// When the nodes that calls may go to were looked at, and how long that holds.
    placed: Option<(Instant, Duration)>,
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
    pub(super) fn new(
        setup: NodeSetup,
        address: Arc<OnceLock<SocketAddr>>,
        calls: CallTracker,
        hand_over: Option<Arc<NodeHandOver>>,
    ) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let started = toolcell::now();
        let comparison = SetupComparison::default();
        Self {
            host,
            started,
            setup,
            address,
            calls,
            hand_over,
            placed: None,
            published: None,
            compared: None,
            comparisons: 0,
            comparison,
        }
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
        self.place(&following.node, library);
        let period = if self.comparisons < EARLY_COMPARISONS { COMPARE_PERIODS.0 } else { COMPARE_PERIODS.1 };
        if self.compared.is_none_or(|at| at.elapsed() >= period) {
            self.compare(&following.node, library);
        }
    }

    /// Looks at which nodes calls may go to.
    fn place(&mut self, own: &str, library: &NodeLibrary) {
        let Some(hand_over) = &self.hand_over else { return };
        if self.placed.is_some_and(|(at, period)| at.elapsed() < period) {
            return;
        }
        let Ok(nodes) = library.nodes() else { return };
        let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        self.placed = Some((Instant::now(), PUBLISH_PERIOD.max(PLACE_PERIOD_PER_NODE.saturating_mul(count))));
        let can_run = |node: &KnownNode| {
            let report = node.report.as_ref().filter(|_| !node.is_silent());
            report.is_some_and(|report| {
                report.state == NodeState::Ready && self.setup.difference(&report.setup).is_none()
            })
        };
        let instances = nodes
            .iter()
            .filter(|node| can_run(node))
            .filter_map(|node| node.report.as_ref().map(|report| instance_of(&node.node, report.started)));
        hand_over.set_nodes(&instance_of(own, self.started), instances);
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

/// What a process of a node is called in messages. A message to a process that has ended is not for the next one, nor for another process
/// on a copy of the same directory.
fn instance_of(node: &str, started: Timestamp) -> String {
    format!("{node}-{}", started.as_microsecond())
}
