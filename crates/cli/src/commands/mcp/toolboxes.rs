//! The toolboxes of a server: one for each principal, in a store of its own. All share one sandbox.
//!
//! On a node, the stores are copies of shared libraries: one library for each principal.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use toolcell::store::{Fault, Order, Store};
use toolcell::{Toolbox, ToolboxConfig, ToolboxError};
use toolcell_error::ErrorCode;
use toolcell_mcp::Principal;

use super::audit_heads::{AuditHeads, recently_cut};
use super::presence::{Following, Presence};
use crate::library::NodeLibrary;

/// The folder of the principals' stores.
const PRINCIPALS_FOLDER: &str = "principals";
/// How long a node waits at most before it looks for changes of other nodes.
const FOLLOW_PERIOD: Duration = Duration::from_millis(250);
/// How often a node reads the end of each history, and not only its length: it shows whether it is still the one that was followed.
const CHECK_PERIOD: Duration = Duration::from_secs(30);
/// How old the view of a library may be while the node is ready.
const VIEW_LIMIT: Duration = Duration::from_secs(5);

/// How many tools of a library are loaded ahead of their first call, and how long tools are loaded before the next look for changes.
const LOADED_AHEAD: usize = 64;
const LOAD_TIME: Duration = Duration::from_millis(100);

/// How long the end of the process waits for the thread that follows.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Returns the folder of a principal's store, below the directory of the server; `None` if that is the store.
pub(super) fn folder_of(principal: &Principal) -> Option<PathBuf> {
    (!principal.is_local()).then(|| Path::new(PRINCIPALS_FOLDER).join(principal.as_str()))
}

/// The toolbox of a principal, once it was opened.
type Opened = Arc<Mutex<Option<Arc<Toolbox>>>>;

/// The toolboxes of a server.
pub(super) struct Toolboxes {
    local: Arc<Toolbox>,
    dir: PathBuf,
    config: ToolboxConfig,
    library: Option<NodeLibrary>,
    of_principals: Mutex<HashMap<Principal, Opened>>,
}

impl Toolboxes {
    /// Opens the store in the directory itself, which a local client uses.
    ///
    /// # Errors
    /// The errors of [`Toolbox::open`].
    pub(super) fn open_local(
        dir: &Path,
        config: ToolboxConfig,
        library: Option<NodeLibrary>,
    ) -> Result<Self, ToolboxError> {
        let store = open_store(dir, &config, library.as_ref(), &Principal::local())?;
        let local = Arc::new(Toolbox::with_store(store, config.clone())?);
        Ok(Self { local, dir: dir.to_owned(), config, library, of_principals: Mutex::default() })
    }

    /// Returns the toolbox of a principal, and opens it if necessary. A principal whose store opens slowly keeps no other one waiting.
    ///
    /// # Errors
    /// The errors of [`Toolbox::sibling`].
    pub(super) fn open(&self, principal: &Principal) -> Result<Arc<Toolbox>, ToolboxError> {
        let Some(folder) = folder_of(principal) else { return Ok(Arc::clone(&self.local)) };
        let opened = {
            let mut all = self.of_principals.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(principal.clone()).or_default())
        };
        let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(toolbox) = &*opened {
            return Ok(Arc::clone(toolbox));
        }
        let store = open_store(&self.dir.join(folder), &self.config, self.library.as_ref(), principal)?;
        let toolbox = Arc::new(self.local.sibling_with_store(store, self.config.clone())?);
        Ok(Arc::clone(opened.insert(toolbox)))
    }

    /// Starts to apply what other nodes change, and to tell them of this one, until the returned value is dropped; `None` if this is no
    /// node.
    pub(super) fn follow_library(self: &Arc<Self>, mut presence: Presence, heads: AuditHeads) -> Option<Follower> {
        self.library.as_ref()?;
        let (toolboxes, is_ended) = (Arc::clone(self), Arc::new(AtomicBool::new(false)));
        let ended = Arc::clone(&is_ended);
        let thread = std::thread::Builder::new().name("toolcell-follow".to_owned()).spawn(move || {
            let (mut problems, mut checked, mut ahead) = (HashMap::new(), Instant::now(), LoadQueue::default());
            while !ended.load(Ordering::Relaxed) {
                let Some(library) = &toolboxes.library else { return };
                library.wait(FOLLOW_PERIOD);
                let opened = toolboxes.all();
                let stores: Vec<&Store> = opened.iter().filter_map(|toolbox| toolbox.store()).collect();
                let (mut changed, mut opened_now) = (HashSet::new(), HashSet::new());
                let lengths = if checked.elapsed() < CHECK_PERIOD { ask_lengths(library, &stores) } else { None };
                checked = if lengths.is_some() { checked } else { Instant::now() };
                for (at, store) in stores.iter().copied().enumerate() {
                    let length = lengths.as_ref().and_then(|(lengths, asked)| Some((*lengths.get(at)?, *asked)));
                    let followed = follow(store, length);
                    if matches!(followed, Ok(1..)) {
                        changed.insert(at);
                    }
                    let fault = followed.err();
                    let code = fault.as_ref().map(Fault::code);
                    let library = store.library().map(|library| library.to_string()).unwrap_or_default();
                    // Each state of a library is logged once.
                    if problems.get(&library).copied().flatten() != code {
                        match fault {
                            Some(fault) => log_behind(store, &fault),
                            None => tracing::info!(library, "the changes of other nodes are applied again"),
                        }
                    }
                    if problems.insert(library, code).is_none() {
                        opened_now.insert(at);
                    }
                }
                if let Some(following) = toolboxes.following() {
                    presence.tell(&following, library);
                }
                for (at, toolbox) in opened.iter().enumerate() {
                    match (opened_now.contains(&at), changed.contains(&at)) {
                        (true, _) => ahead.add(toolbox, &[Order::LastUsed, Order::Updated]),
                        (false, true) => ahead.add(toolbox, &[Order::Updated]),
                        (false, false) => {}
                    }
                }
                ahead.load(LOAD_TIME);
            }
            if let (Some(library), Some(following)) = (&toolboxes.library, toolboxes.following()) {
                presence.leave(&following.node, library);
            }
        });
        let thread = thread.inspect_err(|error| tracing::error!(%error, "changes of other nodes are seen late")).ok();
        let (toolboxes, ended) = (Arc::clone(self), Arc::clone(&is_ended));
        let publisher = std::thread::Builder::new().name("toolcell-heads".to_owned());
        let publisher = publisher.spawn(move || heads.run(|| toolboxes.all(), &ended));
        let publisher = publisher
            .inspect_err(|error| tracing::error!(%error, "the other nodes are not told where the audit logs end"))
            .ok();
        Some(Follower { is_ended, threads: thread.into_iter().chain(publisher).collect() })
    }

    /// Checks that runs are possible: the libraries that are open are followed, or may be used for as long as they were not. One whose
    /// history is damaged concerns its principal alone, so the node goes on for the others. The text names no principal, because it is
    /// told to any caller.
    pub(super) fn check_libraries(&self) -> Result<(), String> {
        let limit = self.library.as_ref().map_or(Some(VIEW_LIMIT), NodeLibrary::offline_limit);
        self.find_behind(limit.map(|limit| limit.max(VIEW_LIMIT))).map_or(Ok(()), Err)
    }

    /// Describes what does not work although the node is ready.
    pub(super) fn describe_degraded(&self) -> Option<String> {
        let behind =
            self.find_behind(Some(VIEW_LIMIT)).map(|behind| format!("{behind}; runs go on, and changes are refused"));
        behind.or_else(|| {
            let is_cut_off = self.library.as_ref()?.is_wire_connected() == Some(false);
            is_cut_off.then(|| {
                "the server of messages (--wire) cannot be reached; the node looks for changes four times a second, and calls run where they arrive".to_owned()
            })
        })
    }

    /// Renders the metrics of the shared libraries in the Prometheus text format. They name no principal.
    pub(super) fn render_metrics(&self) -> String {
        let Some(library) = &self.library else { return String::new() };
        let wire = library.is_wire_connected().map_or_else(String::new, |is_connected| {
            format!(
                "# HELP toolcell_shared_wire_connected Whether the server of messages between nodes can be reached\n\
                 # TYPE toolcell_shared_wire_connected gauge\n\
                 toolcell_shared_wire_connected {}\n",
                u8::from(is_connected)
            )
        });
        let opened = self.all();
        let now = toolcell::now();
        let cut = opened.iter().filter_map(|toolbox| toolbox.store()?.published_heads(now).ok());
        let cut: usize = cut.map(|heads| recently_cut(&heads).count()).sum();
        let statuses = opened.iter().filter_map(|toolbox| toolbox.store()?.replication_status().ok()?);
        let statuses = statuses.filter(|status| !status.has_ended);
        let views: Vec<Option<Duration>> = statuses.map(|status| status.confirmed).collect();
        let followed = views.iter().filter(|view| view.is_some_and(|age| age <= VIEW_LIMIT)).count();
        let behind = views.len() - followed;
        let oldest = views.into_iter().flatten().max().unwrap_or_default().as_secs_f64();
        format!(
            "# HELP toolcell_shared_libraries Shared libraries that are open, by whether the changes of other nodes are applied\n\
             # TYPE toolcell_shared_libraries gauge\n\
             toolcell_shared_libraries{{state=\"followed\"}} {followed}\n\
             toolcell_shared_libraries{{state=\"behind\"}} {behind}\n\
             # HELP toolcell_shared_view_age_seconds Time since all changes of other nodes were known to be applied, of the library where that is longest ago\n\
             # TYPE toolcell_shared_view_age_seconds gauge\n\
             toolcell_shared_view_age_seconds {oldest:.3}\n\
             # HELP toolcell_shared_audit_logs_cut Audit logs of nodes that were cut off or rewritten, as was noticed during the last day\n\
             # TYPE toolcell_shared_audit_logs_cut gauge\n\
             toolcell_shared_audit_logs_cut {cut}\n\
             {wire}"
        )
    }

    /// Describes a library whose view is older than `limit`, if there is one.
    fn find_behind(&self, limit: Option<Duration>) -> Option<String> {
        for toolbox in self.all() {
            let status = match toolbox.store().map(Store::replication_status).transpose() {
                Ok(status) => status.flatten(),
                Err(fault) => return Some(format!("a store does not respond ({})", fault.code())),
            };
            let Some(status) = status.filter(|status| !status.has_ended) else { continue };
            let is_damaged = status.problem == Some(ErrorCode::SharedInvalid) && !Arc::ptr_eq(&toolbox, &self.local);
            let is_within = |age| limit.is_none_or(|limit| age <= limit);
            // Without a limit, a view may also be one of an earlier process.
            if is_damaged || status.confirmed.map_or(limit.is_none() && status.is_seen, is_within) {
                continue;
            }
            let code = status.problem.map_or_else(String::new, |code| format!(" ({code})"));
            let last =
                status.confirmed.map_or_else(String::new, |age| format!(", and last was {} s ago", age.as_secs()));
            return Some(format!("a shared library cannot be followed{code}{last}"));
        }
        None
    }

    /// How far this node has followed its libraries; `None` if this server is not a node, or its store does not respond.
    fn following(&self) -> Option<Following> {
        let node = self.local.store()?.replication_status().ok()??.node;
        let opened = self.all();
        let statuses = opened.iter().filter_map(|toolbox| toolbox.store()?.replication_status().ok()?);
        let views = statuses.filter(|status| !status.has_ended).map(|status| status.confirmed);
        // The oldest view. One that there never was is older than all.
        let view = views.max_by_key(|view| view.unwrap_or(Duration::MAX)).flatten();
        Some(Following { node, libraries: opened.len(), is_ready: self.find_behind(Some(VIEW_LIMIT)).is_none(), view })
    }

    /// The toolboxes that are open. One that is being opened follows by itself.
    fn all(&self) -> Vec<Arc<Toolbox>> {
        let all = self.of_principals.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = all.values().filter_map(|opened| opened.try_lock().ok()?.clone());
        std::iter::once(Arc::clone(&self.local)).chain(opened).collect()
    }
}

/// The libraries whose tools are to be loaded ahead of their first call.
#[derive(Default)]
struct LoadQueue(VecDeque<(Weak<Toolbox>, Order)>);

impl LoadQueue {
    fn add(&mut self, toolbox: &Arc<Toolbox>, orders: &[Order]) {
        for order in orders {
            let is_known = self.0.iter().any(|(known, by)| by == order && known.as_ptr() == Arc::as_ptr(toolbox));
            if !is_known {
                self.0.push_back((Arc::downgrade(toolbox), *order));
            }
        }
    }

    /// Loads tools for as long as `time`. The other libraries get their turn with the next call.
    fn load(&mut self, time: Duration) {
        let started = Instant::now();
        while let Some(left) = time.checked_sub(started.elapsed())
            && let Some((toolbox, order)) = self.0.pop_front()
        {
            let Some(toolbox) = toolbox.upgrade() else { continue };
            if let Err(error) = toolbox.load_ahead(order, LOADED_AHEAD, left) {
                tracing::debug!(%error, "tools are loaded when they are called");
            }
        }
    }
}

/// Opens the store of a principal. On a node it is the copy of a shared library, which is brought up to date.
fn open_store(
    dir: &Path,
    config: &ToolboxConfig,
    library: Option<&NodeLibrary>,
    principal: &Principal,
) -> Result<Store, ToolboxError> {
    let replication = library.map(|library| library.replication(principal).map_err(Fault::from)).transpose()?;
    let is_node = replication.is_some();
    let settings = toolcell::store::Settings { replication, ..config.store_settings() };
    let store = Store::open(dir, &settings)?;
    if is_node && let Err(fault) = store.follow() {
        log_behind(&store, &fault);
        // A copy that never had all entries would be shown as a library without tools.
        if store.replication_status()?.is_none_or(|status| !status.is_seen) {
            return Err(fault.into());
        }
    }
    Ok(store)
}

/// Asks for the lengths of the histories of stores, with one question for all; `None` if that fails. Returns when it was asked, too.
fn ask_lengths(library: &NodeLibrary, stores: &[&Store]) -> Option<(Vec<u64>, Instant)> {
    let asked = Instant::now();
    let keys: Vec<_> = stores.iter().filter_map(|store| store.library()).collect();
    let lengths = library.lengths(&keys).ok()?;
    (lengths.len() == stores.len()).then_some((lengths, asked))
}

/// Applies the changes of other nodes, unless the length of the history says that all are applied.
/// Returns the number of changes.
fn follow(store: &Store, length: Option<(u64, Instant)>) -> Result<u64, Fault> {
    match length {
        Some((length, asked)) if store.confirm_length(length, asked)? => Ok(0),
        // A library that has ended does not change any more.
        _ if store.replication_status()?.is_some_and(|status| status.has_ended) => Ok(0),
        _ => store.follow(),
    }
}

/// Logs that the changes of other nodes cannot be applied. `/readyz` tells how long that lasts.
fn log_behind(store: &Store, fault: &Fault) {
    let library = store.library().map(|library| library.to_string());
    tracing::warn!(code = fault.code().as_str(), library, "the changes of other nodes cannot be applied: {fault}");
}

/// The threads that apply what other nodes change, and tell them of this one.
pub(super) struct Follower {
    is_ended: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.is_ended.store(true, Ordering::Relaxed);
        // They usually end within a period. A database that does not answer does not keep the process.
        let deadline = Instant::now() + END_LIMIT;
        for thread in self.threads.drain(..) {
            while !thread.is_finished() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
            if thread.is_finished() {
                // Whether it panicked does not matter any more.
                drop(thread.join());
            }
        }
    }
}
