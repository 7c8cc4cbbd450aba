//! Publishes the heads of a node's audit logs in the histories of its libraries, and logs which logs were cut.
//!
//! Invariant: a thread of its own does this, so that a log that is read slowly does not keep the node from following its libraries.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jiff::ToSpan as _;
use toolcell::Toolbox;
use toolcell::store::{CutLog, Fault, HistoryKey, PublishedHeads, Store};
use toolcell_error::ErrorCode;

/// How often the head of a log is published by default, at most. With more than ten nodes of a library, each publishes less often, so that
/// the history grows by two heads a minute at most.
const PERIOD: Duration = Duration::from_mins(5);
const PERIOD_PER_NODE: Duration = Duration::from_secs(30);
/// The time between two heads that a node publishes, however many libraries it has, and how often the end of the node is looked for.
const INTERVAL: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(25);
/// The number of logs that are looked at in one turn.
const MAX_LOOKS: usize = 32;
/// How long a node that ends publishes heads.
const FINAL_TIME: Duration = Duration::from_millis(300);
/// How long a cut is told of.
const TOLD_HOURS: i64 = 24;

/// When the heads of logs are published, and what was logged.
pub(super) struct AuditHeads {
    /// The name of this machine.
    host: String,
    /// How often each head is published, if it was chosen.
    period: Option<Duration>,
    /// When each library is looked at again.
    due: HashMap<HistoryKey, Instant>,
    /// The cuts that were logged: the library, the node, and the number of the line.
    logged: HashSet<(HistoryKey, String, u64)>,
    /// The last failure of each log.
    failures: HashMap<HistoryKey, ErrorCode>,
}

impl AuditHeads {
    pub(super) fn new(period: Option<Duration>) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { host, period, due: HashMap::new(), logged: HashSet::new(), failures: HashMap::new() }
    }

    /// Publishes the heads of the logs of toolboxes until the node has ended, and then the last ones.
    pub(super) fn run(mut self, toolboxes: impl Fn() -> Vec<Arc<Toolbox>>, is_ended: &AtomicBool) {
        let mut turn = Instant::now();
        while !is_ended.load(Ordering::Relaxed) {
            std::thread::sleep(STEP);
            if turn.elapsed() >= INTERVAL {
                let opened = toolboxes();
                self.publish_next(&stores_of(&opened));
                turn = Instant::now();
            }
        }
        let opened = toolboxes();
        self.publish_last(&stores_of(&opened));
    }

    /// Publishes a head, if one is due.
    fn publish_next(&mut self, stores: &[&Store]) {
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
            let heads = store.published_heads(toolcell::now()).unwrap_or_default();
            let period = self.period.unwrap_or_else(|| PERIOD.max(PERIOD_PER_NODE.saturating_mul(heads.nodes)));
            self.due.insert(key.clone(), Instant::now() + period);
            self.log_cut(&key, &heads);
            // One is enough for this turn; and if the library cannot be reached, the others cannot either.
            if !matches!(published, Ok(false)) {
                return;
            }
        }
    }

    /// Publishes the heads of all logs before the node ends, as far as there is time.
    fn publish_last(&mut self, stores: &[&Store]) {
        let began = Instant::now();
        for (at, store) in stores.iter().enumerate() {
            if began.elapsed() > FINAL_TIME {
                tracing::warn!(left = stores.len() - at, "the ends of audit logs were not told to the other nodes");
                return;
            }
            if let Some(key) = store.library()
                && self.publish(&key, store).is_err()
            {
                return;
            }
        }
    }

    /// Publishes the head of a log, unless its library has ended or cannot be reached.
    fn publish(&mut self, key: &HistoryKey, store: &Store) -> Result<bool, Fault> {
        let status = store.replication_status()?;
        if status.is_none_or(|status| status.has_ended || status.problem.is_some()) {
            return Ok(false);
        }
        let published = store.publish_audit_head(&self.host, toolcell::now());
        match published.as_ref().err().map(Fault::code) {
            None => drop(self.failures.remove(key)),
            // The thread that follows the library logs these.
            Some(ErrorCode::SharedUnreachable | ErrorCode::SharedUnknown | ErrorCode::SharedInvalid) => {}
            Some(code) => {
                if self.failures.insert(key.clone(), code) != Some(code)
                    && let Err(fault) = &published
                {
                    let library = key.as_str();
                    tracing::warn!(
                        code = code.as_str(),
                        library,
                        "the end of an audit log cannot be told to the other nodes: {fault}"
                    );
                }
            }
        }
        published
    }

    /// Logs the audit logs that were cut, each once.
    fn log_cut(&mut self, key: &HistoryKey, heads: &PublishedHeads) {
        for CutLog { node, host, head, noticed_at } in recently_cut(heads) {
            if self.logged.insert((key.clone(), node.clone(), head.seq())) {
                tracing::error!(
                    library = key.as_str(),
                    host,
                    node,
                    entry = head.seq(),
                    head = head.to_string(),
                    noticed = noticed_at.to_string(),
                    "the audit log of a node does not have an entry any more that the node told the others: it was cut off or rewritten, or \
                     its directory was restored or copied"
                );
            }
        }
    }
}

/// The logs that were cut during the last day.
pub(super) fn recently_cut(heads: &PublishedHeads) -> impl Iterator<Item = &CutLog> {
    let since = toolcell::now().saturating_sub(TOLD_HOURS.hours()).unwrap_or(jiff::Timestamp::MIN);
    heads.cut.iter().filter(move |log| log.noticed_at >= since)
}

fn stores_of(toolboxes: &[Arc<Toolbox>]) -> Vec<&Store> {
    toolboxes.iter().filter_map(|toolbox| toolbox.store()).collect()
}
