//! Publishes the heads of a node's audit logs in the histories of its libraries, and logs which logs were cut.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use toolcell::store::{HistoryKey, Store};

/// How often the head of a log is published by default, at most. With more than ten nodes of a library, each publishes less often, so that the
/// history grows by ten heads a minute at most.
const PERIOD: Duration = Duration::from_mins(1);
const PERIOD_PER_NODE: Duration = Duration::from_secs(6);
/// The time between two heads that a node publishes, however many libraries it has.
const INTERVAL: Duration = Duration::from_millis(500);
/// The number of logs that are looked at in one turn.
const MAX_LOOKS: usize = 32;
/// How long a node that ends publishes heads.
const FINAL_TIME: Duration = Duration::from_millis(300);

/// When the heads of logs were published, and which logs are known to be cut.
pub(super) struct AuditHeads {
    /// How often each head is published, if it was chosen.
    period: Option<Duration>,
    /// When each library is looked at again.
    due: HashMap<HistoryKey, Instant>,
    published: Option<Instant>,
    /// What was logged: the library, the node, and the number of the line.
    logged: HashSet<(HistoryKey, String, u64)>,
}

impl AuditHeads {
    pub(super) fn new(period: Option<Duration>) -> Self {
        Self { period, due: HashMap::new(), published: None, logged: HashSet::new() }
    }

    /// Publishes a head, if one is due.
    pub(super) fn publish_next(&mut self, stores: &[&Store]) {
        if self.published.is_some_and(|at| at.elapsed() < INTERVAL) {
            return;
        }
        let now = Instant::now();
        let mut due: Vec<(Instant, HistoryKey, &Store)> = Vec::new();
        for (key, store) in stores.iter().filter_map(|store| Some((store.library()?, *store))) {
            let at = *self.due.entry(key.clone()).or_insert_with(|| now + self.period.unwrap_or(PERIOD));
            if at <= now {
                due.push((at, key, store));
            }
        }
        due.sort_by_key(|(at, ..)| *at);
        for (_, key, store) in due.into_iter().take(MAX_LOOKS) {
            let published = self.publish(&key, store);
            let period = self.period.unwrap_or_else(|| default_period(store));
            self.due.insert(key, Instant::now() + period);
            if published {
                self.published = Some(Instant::now());
                return;
            }
        }
    }

    /// Publishes the heads of all logs before the node ends, as far as there is time.
    pub(super) fn publish_last(&mut self, stores: &[&Store]) {
        let began = Instant::now();
        for store in stores {
            if began.elapsed() > FINAL_TIME {
                return;
            }
            if let Some(key) = store.library() {
                self.publish(&key, store);
            }
        }
    }

    fn publish(&mut self, key: &HistoryKey, store: &Store) -> bool {
        // A library that has ended does not change any more.
        if store.replication_status().ok().flatten().is_none_or(|status| status.has_ended) {
            return false;
        }
        match store.publish_audit_head(toolcell::now()) {
            Ok(true) => {
                self.log_cut(key, store);
                true
            }
            Ok(false) => false,
            Err(fault) => {
                tracing::debug!(library = key.as_str(), %fault, "the head of the audit log is published later");
                false
            }
        }
    }

    /// Logs the audit logs that were cut, each once.
    pub(super) fn log_cut(&mut self, key: &HistoryKey, store: &Store) {
        for log in store.published_heads(toolcell::now()).map(|heads| heads.cut).unwrap_or_default() {
            if self.logged.insert((key.clone(), log.node.clone(), log.head.seq())) {
                tracing::error!(
                    library = key.as_str(),
                    node = log.node,
                    entry = log.head.seq(),
                    head = log.head.to_string(),
                    noticed = log.noticed_at.to_string(),
                    "the audit log of a node was cut off or rewritten: it does not lead back to an entry that the node told the others"
                );
            }
        }
    }
}

fn default_period(store: &Store) -> Duration {
    let nodes = store.published_heads(toolcell::now()).map_or(1, |heads| heads.nodes);
    PERIOD.max(PERIOD_PER_NODE.saturating_mul(nodes))
}
