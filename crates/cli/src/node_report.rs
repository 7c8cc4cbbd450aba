//! What a node tells of itself, for `toolcell node status` and for the logs of the other nodes.
//!
//! Invariant: a report that is shown was made by a node: it is authenticated with the secret of the library, for the identifier of that
//! node. Nothing that nodes agree on depends on reports.

use std::collections::HashMap;
use std::time::Duration;

use blake3::Hash;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use toolcell::store::{LIBRARY_SECRET_BYTES, SharedError};

/// How often a node tells what it does.
pub(crate) const PUBLISH_PERIOD: Duration = Duration::from_secs(2);
/// After this time without a report, a node is silent: it is gone, or does not reach the engine.
const SILENCE_LIMIT: Duration = Duration::from_secs(10);
/// The size of the authentication tag, in bytes.
const TAG_BYTES: usize = 32;
/// The maximum size of a report, in bytes.
const REPORT_LIMIT: usize = 4 << 10;
/// The context string of key derivation, for domain separation.
const CONTEXT: &str = "toolcell 2026-12 reports of nodes";

/// The reports of the nodes, in an engine that they share.
pub trait NodeReports: Send + Sync {
    /// Stores the report of a node, in place of its last one. The time of the engine is stored with it.
    ///
    /// # Errors
    /// [`SharedError::Unreachable`] and [`SharedError::Invalid`].
    fn publish(&self, node: &str, report: &[u8]) -> Result<(), SharedError>;

    /// Removes the report of a node.
    ///
    /// # Errors
    /// Those of [`publish`](Self::publish).
    fn remove(&self, node: &str) -> Result<(), SharedError>;

    /// Returns the reports that nodes have stored during the last day, in the order of their identifiers.
    ///
    /// # Errors
    /// Those of [`publish`](Self::publish).
    fn list(&self) -> Result<Vec<PublishedReport>, SharedError>;
}

/// The report of a node, as the engine has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedReport {
    /// The identifier of the node.
    pub node: String,
    /// How long ago the report was stored, by the clock of the engine.
    pub age: Duration,
    /// The report.
    pub report: Vec<u8>,
}

/// A report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeReport {
    /// The name of the machine.
    pub(crate) host: String,
    /// The address that it listens on.
    pub(crate) address: String,
    /// When it was started.
    pub(crate) started: Timestamp,
    pub(crate) state: NodeState,
    /// How long ago it last knew that it had followed all libraries, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) view_ms: Option<u64>,
    /// How many libraries it has open.
    pub(crate) libraries: usize,
    #[serde(flatten)]
    pub(crate) setup: NodeSetup,
}

/// What should be the same on all nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeSetup {
    /// The version of Toolcell.
    pub(crate) version: String,
    /// The hash of the guest.
    pub(crate) guest: String,
    /// The hash of the policy files.
    pub(crate) policy: String,
}

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NodeState {
    /// It follows all libraries.
    Ready,
    /// It does not follow a library.
    Behind,
    /// It is about to end.
    Draining,
}

/// A node, as the engine knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownNode {
    /// Its identifier.
    pub(crate) node: String,
    /// How long ago it told what it does.
    pub(crate) age: Duration,
    /// What it told; `None` if no node with this secret made the report, or one of a version that tells something else.
    pub(crate) report: Option<NodeReport>,
}

impl KnownNode {
    /// Whether it told nothing for so long that it is gone, or does not reach the engine.
    pub(crate) fn is_silent(&self) -> bool {
        self.age > SILENCE_LIMIT
    }
}

/// Makes and checks reports.
pub(crate) struct ReportSeal([u8; 32]);

impl ReportSeal {
    pub(crate) fn new(secret: &[u8; LIBRARY_SECRET_BYTES]) -> Self {
        Self(blake3::derive_key(CONTEXT, secret))
    }

    /// Encodes the report of a node.
    pub(crate) fn seal(&self, node: &str, report: &NodeReport) -> serde_json::Result<Vec<u8>> {
        let json = serde_json::to_vec(report)?;
        Ok([&self.tag(node, &json).as_bytes()[..], &json].concat())
    }

    /// Decodes the report of a node; `None` if no node of this library made it.
    pub(crate) fn open(&self, node: &str, bytes: &[u8]) -> Option<NodeReport> {
        let (tag, json) = bytes.split_first_chunk::<TAG_BYTES>().filter(|_| bytes.len() <= REPORT_LIMIT)?;
        // `blake3::Hash` compares in constant time.
        (Hash::from_bytes(*tag) == self.tag(node, json)).then(|| serde_json::from_slice(json).ok()).flatten()
    }

    fn tag(&self, node: &str, json: &[u8]) -> Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(node.len() as u64).to_le_bytes()).update(node.as_bytes()).update(json);
        hasher.finalize()
    }
}

/// Finds nodes that are not set up as this one is. Each difference is found once.
#[derive(Default)]
pub(crate) struct SetupComparison(HashMap<String, NodeSetup>);

/// A node that is set up otherwise.
pub(crate) struct OtherSetup<'n> {
    pub(crate) node: &'n str,
    pub(crate) report: &'n NodeReport,
    /// What differs, in English.
    pub(crate) what: &'static str,
}

impl SetupComparison {
    /// Returns the nodes that differ from `own` and did not when this was last asked. Silent nodes are left out.
    pub(crate) fn new_differences<'n>(&mut self, own: &NodeSetup, nodes: &'n [KnownNode]) -> Vec<OtherSetup<'n>> {
        let active = nodes.iter().filter(|node| !node.is_silent());
        let active = active.filter_map(|known| Some((&*known.node, known.report.as_ref()?)));
        let mut found = Vec::new();
        let mut now = HashMap::new();
        for (node, report) in active {
            if self.0.get(node) != Some(&report.setup)
                && let Some(what) = own.difference(&report.setup)
            {
                found.push(OtherSetup { node, report, what });
            }
            now.insert(node.to_owned(), report.setup.clone());
        }
        self.0 = now;
        found
    }
}

impl NodeSetup {
    /// The first thing that differs, in English.
    pub(crate) fn difference(&self, other: &Self) -> Option<&'static str> {
        [
            (self.version == other.version, "version"),
            (self.guest == other.guest, "guest"),
            (self.policy == other.policy, "policy"),
        ]
        .into_iter()
        .find_map(|(is_same, what)| (!is_same).then_some(what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(policy: &str) -> NodeReport {
        NodeReport {
            host: "a".to_owned(),
            address: "127.0.0.1:8080".to_owned(),
            started: Timestamp::UNIX_EPOCH,
            state: NodeState::Ready,
            view_ms: Some(3),
            libraries: 2,
            setup: NodeSetup { version: "1".to_owned(), guest: "g".to_owned(), policy: policy.to_owned() },
        }
    }

    #[test]
    fn a_report_is_accepted_only_from_its_node_and_with_the_secret() {
        let seal = ReportSeal::new(&[1; 32]);
        let sealed = seal.seal("n1", &report("p")).unwrap();
        assert_eq!(seal.open("n1", &sealed), Some(report("p")));
        assert_eq!(seal.open("n2", &sealed), None);
        assert_eq!(ReportSeal::new(&[2; 32]).open("n1", &sealed), None);
        for at in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[at] ^= 1;
            assert_eq!(seal.open("n1", &altered), None, "byte {at}");
            assert_eq!(seal.open("n1", &sealed[..at]), None, "{at} bytes");
        }
    }

    fn known(node: &str, policy: &str, seconds: u64) -> KnownNode {
        KnownNode { node: node.to_owned(), age: Duration::from_secs(seconds), report: Some(report(policy)) }
    }

    #[test]
    fn a_node_with_another_setup_is_found_once() {
        let mut comparison = SetupComparison::default();
        let own = report("p").setup;
        let mut compare = |nodes: &[KnownNode]| -> Vec<String> {
            let found = comparison.new_differences(&own, nodes);
            found.iter().map(|other| format!("{} {}", other.node, other.what)).collect()
        };
        let all = [known("same", "p", 0), known("other", "q", 10), known("silent", "q", 11)];
        assert_eq!(compare(&all), ["other policy"]);
        assert!(compare(&all).is_empty());
        // It was restarted with the right policy, and then again with another one.
        assert!(compare(&[known("other", "p", 0)]).is_empty());
        assert_eq!(compare(&all), ["other policy"]);
        // It was silent meanwhile.
        assert!(compare(&[known("other", "q", 11)]).is_empty());
        assert_eq!(compare(&all), ["other policy"]);
    }
}
