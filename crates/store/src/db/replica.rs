//! A store that is the copy of a shared library: it appends to the library's history and follows it.
//!
//! ```text
//! follow: read a batch of entries, check them, get their objects → writer lock → apply them
//! change: writer lock → follow
//!   → transaction: the change, its line in the outbox → append it to the history → commit
//! ```
//!
//! Invariant: the index holds exactly the first `count` entries of the history. A change is committed only if it is the next entry. If
//! another node appended first, the change is undone, the entry of that node is applied, and the change is decided again. A transaction
//! that decided to change nothing is rolled back. Once the entry is in the history, the change is made: if the process dies before its
//! commit, or the commit fails, the entry is applied, with its audit line, when this copy follows the history next. So a change costs no
//! disk sync here: the history is what outlives a power failure, and the position is lost together with the changes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use blake3::Hash;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, message};

use crate::durability::Durability;
use crate::error::{Fault, MaybeFault};
use crate::file_lock::LOCK_TIMEOUT;
use crate::notice::{self, Notice};
use crate::replication::change::Change;
use crate::replication::entry::{Entry, EntryAudit, Position};
use crate::replication::{Appended, HistoryKey, Replication, SharedError};

use super::Db;
use super::index::{ExclusiveWriter, Index};
use super::sql::read_time;
use super::transaction::{CommitState, WriteError};

/// The maximum number of entries that are read and applied at once.
const BATCH: usize = 256;
/// The size of the decoded entries that are applied at once, in bytes. One entry may be larger.
const BATCH_BYTES: usize = 16 << 20;
/// How old the view of a copy is at least when it is brought up to date before the writer lock is taken for a change.
const CATCH_UP_AGE: Duration = Duration::from_secs(2);
/// How often a change is decided again because other nodes appended first.
const MAX_TRIES: u32 = 200;
/// The maximum pause between two tries.
const MAX_PAUSE: Duration = Duration::from_millis(20);

/// Applies a change to the index.
pub(crate) type ApplyChange = fn(&Db, &Connection, &Change) -> Result<(), Fault>;

/// Whether a store is the copy of a shared library.
pub(crate) enum Replica {
    /// It is a store of its own.
    None,
    /// It is a copy that was opened without its library: it can be read.
    Detached { library: String },
    /// It is a copy, and this process can append to the library's history.
    Node(Node),
}

/// A node of a shared library.
pub(crate) struct Node {
    pub(crate) replication: Replication,
    /// The identifier of this copy.
    id: String,
    apply: ApplyChange,
    view: Mutex<View>,
    /// Whether the secret was compared with that of the other nodes.
    is_secret_known: AtomicBool,
}

/// What this process knows of its copy.
#[derive(Default)]
struct View {
    /// When it last knew that it had applied all entries.
    confirmed: Option<Instant>,
    /// The code of the failure for which it does not know that now.
    problem: Option<ErrorCode>,
    /// Whether this process or an earlier one knew that once.
    is_seen: bool,
    /// How the library ended, if it has.
    ended: Option<LibraryEnd>,
}

/// The end of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LibraryEnd {
    /// The copy that became a store of its own.
    node: String,
    at: Timestamp,
}

/// Entries that were read and checked, and whose objects are there.
struct Batch {
    /// The place of the first.
    at: Position,
    /// The entries, each with the place after it.
    entries: Vec<(Entry, Position)>,
    /// Why the entry after them cannot be applied.
    failure: Option<Fault>,
    /// When they were asked for.
    asked: Instant,
}

impl Batch {
    /// Whether the history had no further entries.
    fn is_end(&self) -> bool {
        self.entries.is_empty() && self.failure.is_none()
    }
}

/// A view of a shared library that is old: others may have changed it since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldView {
    /// How long ago this process last knew that it had applied all changes; `None` if only an earlier process knew that.
    pub age: Option<Duration>,
}

/// How far a copy has followed the history of its library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicationStatus {
    /// The key of the library's history.
    pub library: String,
    /// The identifier of this copy.
    pub node: String,
    /// The number of entries that were applied.
    pub entries: u64,
    /// How long ago this process last knew that there were no further entries; `None` if it never did.
    pub confirmed: Option<Duration>,
    /// The code of the failure for which it does not know that now.
    pub problem: Option<ErrorCode>,
    /// Whether this process or an earlier one knew that once. If not, the copy may be empty although the library is not.
    pub is_seen: bool,
    /// Whether the library has ended: it was taken to a store of its own.
    pub has_ended: bool,
}

impl Replica {
    /// Finds out what a store is, and makes an empty store a copy if a library is given.
    pub(crate) fn open(index: &Index, replication: Option<&Replication>, apply: ApplyChange) -> Result<Self, Fault> {
        let known = index.read(|transaction| Ok::<_, Fault>(read_replica(transaction)?))?;
        let Some(replication) = replication else {
            let library = index.read(library_of)?;
            return Ok(library.map_or(Self::None, |library| Self::Detached { library }));
        };
        let known = match known {
            Some(known) => known,
            None => index.write(Durability::Synced, |transaction| create_replica(transaction, replication))?,
        };
        if !known.is_seen
            && known.is_empty
            && known.library == replication.library.as_str()
            && known.secret != *replication.fingerprint().as_bytes()
        {
            // It was made with a secret that was not the right one.
            let secret = *replication.fingerprint().as_bytes();
            index.write(Durability::Synced, |transaction| {
                Ok::<_, Fault>(
                    transaction.execute("UPDATE replica SET secret = ? WHERE count = 0", [secret]).map(drop)?,
                )
            })?;
        } else {
            known.check(replication)?;
        }
        let ended = index.read(read_end)?;
        let view = Mutex::new(View { is_seen: known.is_seen, ended, ..View::default() });
        Ok(Self::Node(Node {
            replication: replication.clone(),
            id: known.node,
            apply,
            view,
            is_secret_known: AtomicBool::new(false),
        }))
    }
}

impl Node {
    /// The entries after a place, at most [`BATCH`]. The entry before them is read too: it shows whether the history is still the one
    /// that was followed.
    fn entries_after(&self, at: Position) -> Result<Vec<Vec<u8>>, SharedError> {
        if !self.is_secret_known.load(Ordering::Relaxed) {
            self.replication.check_secret()?;
            self.is_secret_known.store(true, Ordering::Relaxed);
        }
        if at.count > 0 && at.last == Position::start().last {
            return Err(SharedError::Invalid {
                reason: message!("a repair could not restore all that this copy held: choose an empty directory"),
            });
        }
        let Replication { histories, library, .. } = &self.replication;
        let mut entries = histories.read(library, at.count.saturating_sub(1), BATCH + 1)?;
        if at.count == 0 {
            return Ok(entries);
        }
        if entries.first().is_none_or(|last| blake3::hash(last) != at.last) {
            return Err(SharedError::Invalid {
                reason: message!(
                    "the history does not have the {count} entries that this node followed: the database was restored from an older \
                     backup, or is another one",
                    count = at.count
                ),
            });
        }
        entries.remove(0);
        Ok(entries)
    }

    /// The identifier of this copy.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that all entries are applied that there were at a time.
    fn confirm(&self, at: Instant) -> FirstView {
        let mut view = self.view();
        (view.confirmed, view.problem) = (Some(at), None);
        if std::mem::replace(&mut view.is_seen, true) { FirstView::No } else { FirstView::Yes }
    }

    /// Whether the library has ended, and this copy is what became a store of its own.
    pub(crate) fn has_ended_library(&self) -> bool {
        self.view().ended.as_ref().is_some_and(|end| end.node == self.id)
    }

    /// Refuses if the library has ended.
    fn check_end(&self) -> Result<(), Fault> {
        self.view().ended.as_ref().map_or(Ok(()), |end| Err(SharedError::Ended { at: end.at }.into()))
    }

    /// Notes that the library has ended, if it has, and refuses.
    fn note_end(&self, index: &Index) -> Result<(), Fault> {
        if let Some(end) = index.read(read_end)? {
            self.view().ended = Some(end);
        }
        self.check_end()
    }

    /// How long ago this process last knew that it had applied all entries.
    fn age(&self) -> Option<Duration> {
        self.view().confirmed.map(|at| at.elapsed())
    }
}

impl Db {
    /// The key of the history of the library that this store is a copy of.
    pub(crate) fn library(&self) -> Option<HistoryKey> {
        match &self.replica {
            Replica::None => None,
            Replica::Detached { library } => HistoryKey::parse(library).ok(),
            Replica::Node(node) => Some(node.replication.library.clone()),
        }
    }

    /// Applies the entries that other nodes appended, and returns their number.
    pub(crate) fn follow(&self) -> Result<u64, Fault> {
        self.follow_within(LOCK_TIMEOUT)
    }

    /// The same, but waits for the writer lock only as long as `patience`.
    pub(crate) fn follow_within(&self, patience: Duration) -> Result<u64, Fault> {
        let Replica::Node(node) = &self.replica else { return Ok(0) };
        let followed = self.follow_as(node, patience);
        if let Err(fault) = &followed {
            node.view().problem = Some(fault.code());
        }
        followed
    }

    fn follow_as(&self, node: &Node, patience: Duration) -> Result<u64, Fault> {
        let mut applied = 0;
        loop {
            let batch = self.read_batch(node)?;
            if batch.is_end() {
                node.note_end(&self.index)?;
                if node.confirm(batch.asked) == FirstView::Yes {
                    note_seen(self.index.write_soon(Durability::Unsynced, write_seen));
                }
                return Ok(applied);
            }
            applied += self.index.with_exclusive_writer(patience, |turn| self.apply_batch(turn, node, batch))??;
        }
    }

    /// Notes that the history had this many entries at a time, and returns whether they are all applied. A copy that was never up to date
    /// has to be followed first.
    pub(crate) fn confirm_length(&self, length: u64, at: Instant) -> Result<bool, Fault> {
        let Replica::Node(node) = &self.replica else { return Ok(true) };
        let position = self.index.read(|transaction| Ok::<_, Fault>(read_position(transaction)?))?;
        let mut view = node.view();
        let is_confirmed = position.count == length && view.is_seen && view.problem.is_none() && view.ended.is_none();
        if is_confirmed {
            view.confirmed = Some(at);
        }
        Ok(is_confirmed)
    }

    /// Brings a copy up to date that is behind by more than a moment, so that a change does not hold the writer lock meanwhile.
    pub(crate) fn catch_up(&self, node: &Node) -> Result<(), Fault> {
        if node.age().is_some_and(|age| age < CATCH_UP_AGE) { Ok(()) } else { self.follow().map(drop) }
    }

    /// Refuses if the view of this copy is older than the library allows.
    pub(crate) fn check_view(&self) -> Result<(), Fault> {
        let node = match &self.replica {
            Replica::None => return Ok(()),
            Replica::Detached { library } => return Err(detached(library)),
            Replica::Node(node) => node,
        };
        node.check_end()?;
        let Some(limit) = node.replication.offline_limit else { return Ok(()) };
        if limit > Duration::ZERO && node.age().is_some_and(|age| age <= limit) {
            return Ok(());
        }
        self.follow().map(drop).map_err(|fault| match (fault, node.age()) {
            (Fault::Shared(SharedError::Unreachable { reason }), Some(age)) => SharedError::Unreachable {
                reason: message!(
                    "{reason}; what this node knows is {seconds} s old, and runs go on for {limit} s",
                    reason,
                    seconds = age.as_secs(),
                    limit = limit.as_secs()
                ),
            }
            .into(),
            (fault, _) => fault,
        })
    }

    /// How old the view of this copy is, if it is older than `limit`.
    pub(crate) fn old_view(&self, limit: Duration) -> Option<OldView> {
        let Replica::Node(node) = &self.replica else { return None };
        let age = node.age();
        age.is_none_or(|age| age > limit).then_some(OldView { age })
    }

    /// How far this copy has followed its library, if it is one and has the library.
    pub(crate) fn replication_status(&self) -> Result<Option<ReplicationStatus>, Fault> {
        let Replica::Node(node) = &self.replica else { return Ok(None) };
        let at = self.index.read(|transaction| Ok::<_, Fault>(read_position(transaction)?))?;
        let view = node.view();
        Ok(Some(ReplicationStatus {
            has_ended: view.ended.is_some(),
            library: node.replication.library.to_string(),
            node: node.id.clone(),
            entries: at.count,
            confirmed: view.confirmed.map(|at| at.elapsed()),
            problem: view.problem,
            is_seen: view.is_seen,
        }))
    }

    /// Makes a change that all nodes of a library agree on, in one transaction, without an audit line. `describe` returns the change
    /// that `work` made; `None` if it made none. In a copy, the durability is that of the history.
    pub(crate) fn replicate<T, E: MaybeFault>(
        &self,
        durability: Durability,
        work: impl Fn(&Connection) -> Result<T, E>,
        describe: impl Fn(&T) -> Option<Change>,
    ) -> Result<T, WriteError<E>> {
        match &self.replica {
            Replica::None => self.index.write_reporting(durability, |transaction| {
                refuse_copy(transaction)?;
                work(transaction)
            }),
            Replica::Detached { library } => Err(WriteError::not_written(detached(library))),
            Replica::Node(node) => {
                self.catch_up(node).map_err(WriteError::not_written)?;
                let made = self.index.with_exclusive_writer(LOCK_TIMEOUT, |turn| {
                    self.append(turn, node, |transaction| {
                        let value = work(transaction)?;
                        let change = describe(&value);
                        Ok((value, change.map(|change| (change, None))))
                    })
                });
                made.map_err(WriteError::not_written)?
            }
        }
    }

    /// Runs `work` in a transaction and appends the change that it made, with the line of the audit log. If other nodes appended
    /// meanwhile, their entries are applied and `work` runs again.
    pub(crate) fn append<T, E: MaybeFault>(
        &self,
        turn: &mut ExclusiveWriter<'_>,
        node: &Node,
        mut work: impl FnMut(&Connection) -> Result<(T, Option<(Change, Option<EntryAudit>)>), E>,
    ) -> Result<T, WriteError<E>> {
        for tried in 0..MAX_TRIES {
            pause(tried);
            self.follow_holding(turn, node).map_err(WriteError::not_written)?;
            let (mut value, mut reached) = (None, Reached::Nothing);
            let made: Result<(), WriteError<E>> = turn.write(Durability::Unsynced, |transaction| {
                let (decided, change) = work(transaction)?;
                value = Some(decided);
                let Some((change, audit)) = change else {
                    reached = Reached::Unchanged;
                    return Err(busy().into());
                };
                let at = read_position(transaction).map_err(Fault::from)?;
                let entry = Entry { node: node.id.clone(), audit, change };
                let bytes = node.replication.seal(&entry, at).map_err(Fault::from)?;
                let appended = node.replication.histories.append(&node.replication.library, at.count, &bytes);
                reached = Reached::Answer(appended.clone());
                match appended {
                    Ok(Appended::Done) => Ok(write_position(transaction, at.after(&bytes)).map_err(Fault::from)?),
                    Ok(Appended::Taken) => Err(busy().into()),
                    Err(error) => Err(Fault::from(error).into()),
                }
            });
            match (reached, value, made.err()) {
                (Reached::Unchanged, Some(value), _) => return Ok(value),
                (Reached::Answer(Ok(Appended::Done)), Some(value), failure) => {
                    if let Some(unwritten) = failure {
                        // All nodes make the change. This one makes it when it follows the history next.
                        let fault = unwritten.error.into_fault().ok();
                        tracing::error!(?fault, "a change of the shared library could not be committed here yet");
                    }
                    return Ok(value);
                }
                (Reached::Answer(Ok(Appended::Taken)), ..) => {}
                // The change may be an entry: it is applied when this copy follows the history next.
                (Reached::Answer(Err(SharedError::Unknown { .. })), _, Some(unwritten)) => {
                    return Err(WriteError { state: CommitState::Unknown, ..unwritten });
                }
                (_, _, failure) => return Err(failure.unwrap_or_else(|| WriteError::not_written(busy()))),
            }
        }
        Err(WriteError::not_written(busy()))
    }

    /// Applies the entries after the position of this copy, and returns their number.
    fn follow_holding(&self, turn: &mut ExclusiveWriter<'_>, node: &Node) -> Result<u64, Fault> {
        let mut applied = 0;
        loop {
            let batch = self.read_batch(node)?;
            if batch.is_end() {
                node.note_end(&self.index)?;
                if node.confirm(batch.asked) == FirstView::Yes {
                    note_seen(turn.write(Durability::Unsynced, write_seen).map_err(|unwritten| unwritten.error));
                }
                return Ok(applied);
            }
            applied += self.apply_batch(turn, node, batch)?;
        }
    }

    /// Reads the entries after the position of this copy, as many as are applied at once.
    fn read_batch(&self, node: &Node) -> Result<Batch, Fault> {
        let at = self.index.read(|transaction| Ok::<_, Fault>(read_position(transaction)?))?;
        let mut batch = Batch { at, entries: Vec::new(), failure: None, asked: Instant::now() };
        let (mut place, mut bytes) = (at, 0);
        for encoded in node.entries_after(at)? {
            if bytes >= BATCH_BYTES {
                break;
            }
            match self.open_entry(node, &encoded, place) {
                Ok((entry, size)) => {
                    (place, bytes) = (place.after(&encoded), bytes + size);
                    batch.entries.push((entry, place));
                }
                // The entries before this one are applied first.
                Err(fault) => {
                    batch.failure = Some(fault);
                    break;
                }
            }
        }
        Ok(batch)
    }

    /// Applies a batch, unless another thread or process applied entries meanwhile, and returns the number of entries.
    fn apply_batch(&self, turn: &mut ExclusiveWriter<'_>, node: &Node, batch: Batch) -> Result<u64, Fault> {
        if self.index.read(|transaction| Ok::<_, Fault>(read_position(transaction)?))? != batch.at {
            return Ok(0);
        }
        self.apply_entries(turn, node, &batch.entries)?;
        batch.failure.map_or(Ok(batch.entries.len() as u64), Err)
    }

    /// Decodes an entry, and gets the objects that it needs. Returns its decoded size in bytes, too.
    fn open_entry(&self, node: &Node, bytes: &[u8], at: Position) -> Result<(Entry, usize), Fault> {
        let (entry, size) = node.replication.open(bytes, at)?;
        for hash in entry.change.objects() {
            if !self.objects.exists(hash) {
                self.objects.write(hash, &node.replication.blob(hash)?)?;
            }
        }
        Ok((entry, size))
    }

    /// Applies entries in one transaction; each is with the place after it. Entries of this copy are changes that it appended and could
    /// not commit: they get their audit line now. If one cannot be applied, those before it are.
    fn apply_entries(
        &self,
        turn: &mut ExclusiveWriter<'_>,
        node: &Node,
        entries: &[(Entry, Position)],
    ) -> Result<(), Fault> {
        let Some((_, place)) = entries.last() else { return Ok(()) };
        let own = entries.iter().map(|(entry, _)| entry).filter(|entry| entry.node == node.id);
        let own = || own.clone().filter_map(|entry| entry.audit.as_ref());
        let mut applied = 0;
        let written = turn.write(Durability::Unsynced, |transaction| {
            for (entry, _) in entries {
                (node.apply)(self, transaction, &entry.change)?;
                applied += 1;
            }
            for audit in own() {
                super::outbox::restore_row(transaction, audit)?;
            }
            Ok::<_, Fault>(write_position(transaction, *place)?)
        });
        if let Err(unwritten) = written {
            if applied < entries.len() {
                self.apply_entries(turn, node, &entries[..applied])?;
            }
            return Err(unwritten.error);
        }
        if own().next().is_some()
            && let Err(fault) = self.append_restored(own().map(|audit| audit.id.clone()))
        {
            notice::emit_notice(&Notice::StillDelayed { why: &fault.localize() });
        }
        Ok(())
    }

    /// Appends that the library has ended with this copy.
    pub(crate) fn end_library(&self, node: &Node, at: Timestamp) -> Result<(), Fault> {
        let ended = self.replicate(
            Durability::Synced,
            |transaction| write_end(transaction, &node.id, at),
            |()| Some(Change::End { node: node.id.clone(), at }),
        );
        ended.map_err(|unwritten: WriteError<Fault>| unwritten.error)
    }

    /// Whether this store is a copy of a shared library: what nodes agree on is changed by the entries of its history alone.
    pub(crate) fn is_copy(&self) -> bool {
        !matches!(self.replica, Replica::None)
    }

    /// Whether this process can append to the history of a shared library.
    pub(crate) fn is_node(&self) -> bool {
        matches!(self.replica, Replica::Node(_))
    }

    /// Stores the objects of a change where other nodes find them.
    pub(crate) fn share_objects<'a>(&self, objects: impl Iterator<Item = (Hash, &'a [u8])>) -> Result<(), Fault> {
        let Replica::Node(node) = &self.replica else { return Ok(()) };
        for (hash, bytes) in objects {
            node.replication.put_blob(hash, bytes)?;
        }
        Ok(())
    }

    /// Returns an object as the other nodes have it; `None` if this store is no copy, or they lost it, too.
    ///
    /// # Errors
    /// `shared-unreachable`: they may have it.
    pub(crate) fn shared_object(&self, hash: Hash) -> Result<Option<Vec<u8>>, Fault> {
        let Replica::Node(node) = &self.replica else { return Ok(None) };
        match node.replication.blob(hash) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error @ SharedError::Invalid { .. }) => {
                tracing::warn!(%hash, %error, "an object cannot be restored");
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether no process had seen the whole library before.
#[derive(PartialEq, Eq)]
enum FirstView {
    Yes,
    No,
}

fn write_seen(transaction: &Connection) -> Result<(), Fault> {
    Ok(transaction.execute("UPDATE replica SET seen = 1", []).map(drop)?)
}

fn note_seen(written: Result<(), Fault>) {
    if let Err(fault) = written {
        // The next process that sees the library notes it.
        tracing::warn!(%fault, "it could not be noted that the shared library was seen");
    }
}

/// How far a try to append a change got.
enum Reached {
    /// It was not decided, or could not be encoded.
    Nothing,
    /// There is nothing to change. The transaction is rolled back: what it did on the way, such as to remove what has expired, is no
    /// entry.
    Unchanged,
    /// The engine answered.
    Answer(Result<Appended, SharedError>),
}

fn busy() -> Fault {
    Fault::Busy { what: message!("the shared library") }
}

/// What a change of a copy is refused with where its library was not given.
pub(crate) fn detached(library: &str) -> Fault {
    SharedError::Copy { library: library.to_owned() }.into()
}

fn invalid(reason: toolcell_i18n::Message) -> Fault {
    SharedError::Invalid { reason }.into()
}

/// Waits a random time that grows with the number of tries, so that nodes do not collide again.
fn pause(tried: u32) {
    if tried > 0 {
        let longest = Duration::from_micros(100 << tried.min(10)).min(MAX_PAUSE);
        std::thread::sleep(
            longest.mul_f64(f64::from(u32::try_from(random() >> 32).unwrap_or(0)) / f64::from(u32::MAX)),
        );
    }
}

/// A random number. The standard library seeds its hash maps with random numbers of the system.
fn random() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// The start of the names of marks: the library ended with a copy, and the store was moved to a library. The rest of the name says which.
const ENDED: &str = "ended ";
const MOVED: &str = "moved ";

/// Notes that the library has ended.
pub(crate) fn write_end(transaction: &Connection, node: &str, at: Timestamp) -> Result<(), Fault> {
    Ok(write_mark(transaction, ENDED, node, at)?)
}

fn read_end(transaction: &Connection) -> Result<Option<LibraryEnd>, Fault> {
    Ok(read_mark(transaction, ENDED)?.map(|(node, at)| LibraryEnd { node, at }))
}

/// Notes that a store was moved to a library: it can be read, and is not changed any more.
pub(crate) fn write_moved(transaction: &Connection, library: &HistoryKey, at: Timestamp) -> Result<(), Fault> {
    Ok(write_mark(transaction, MOVED, library.as_str(), at)?)
}

fn write_mark(transaction: &Connection, what: &str, of: &str, at: Timestamp) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO mark (what, at) VALUES (? || ?, ?)";
    transaction.execute(sql, (what, of, at.as_millisecond())).map(drop)
}

fn read_mark(transaction: &Connection, what: &str) -> rusqlite::Result<Option<(String, Timestamp)>> {
    let sql = "SELECT substr(what, length(?1) + 1), at FROM mark WHERE what GLOB ?1 || '*'";
    let mut statement = transaction.prepare_cached(sql)?;
    statement.query_row([what], |row| Ok((row.get(0)?, read_time(row, 1)?))).optional()
}

/// Makes a copy a store of its own.
pub(crate) fn detach(transaction: &Connection) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM replica", [])?;
    // That logs were cut remains known.
    let sql = "DELETE FROM mark WHERE what GLOB 'ended *' OR what GLOB 'head *'";
    transaction.execute(sql, []).map(drop)
}

/// Notes that a repair changed what a copy holds: it does not follow its library any more.
pub(crate) fn mark_diverged(transaction: &Connection) -> rusqlite::Result<()> {
    let start = Position::start();
    transaction.execute("UPDATE replica SET count = max(count, 1), last = ?", [start.last.as_bytes()]).map(|_| ())
}

/// Refuses a change of a store that was one of its own when this process opened it, and was made a copy or moved to a library since.
pub(crate) fn refuse_copy(transaction: &Connection) -> Result<(), Fault> {
    library_of(transaction)?.map_or(Ok(()), |library| Err(detached(&library)))
}

/// The library that a store is a copy of, or was moved to.
fn library_of(transaction: &Connection) -> Result<Option<String>, Fault> {
    match read_replica(transaction)? {
        Some(known) => Ok(Some(known.library)),
        None => Ok(read_mark(transaction, MOVED)?.map(|(library, _)| library)),
    }
}

/// Whether the index is the one of a copy of a shared library.
pub(crate) fn is_replica(transaction: &Connection) -> rusqlite::Result<bool> {
    Ok(read_replica(transaction)?.is_some())
}

/// The identifier of the copy that a store is.
pub(crate) fn node_of(transaction: &Connection) -> rusqlite::Result<Option<String>> {
    Ok(read_replica(transaction)?.map(|row| row.node))
}

/// The row that makes a store a copy.
#[derive(Debug, PartialEq, Eq)]
struct ReplicaRow {
    library: String,
    node: String,
    secret: [u8; 32],
    is_seen: bool,
    /// Whether no entry was applied yet.
    is_empty: bool,
}

impl ReplicaRow {
    /// Checks that the copy is one of this library, made with this secret: with another one, this node would append entries that no
    /// other node can read.
    fn check(&self, replication: &Replication) -> Result<(), Fault> {
        if self.library != replication.library.as_str() {
            return Err(invalid(message!(
                "the store is a copy of `{library}`, not of `{wanted}`: choose another directory",
                library = self.library.clone(),
                wanted = replication.library.to_string()
            )));
        }
        if Hash::from_bytes(self.secret) != replication.fingerprint() {
            return Err(invalid(message!("the secret is not the one that this copy was made with")));
        }
        Ok(())
    }
}

fn read_replica(transaction: &Connection) -> rusqlite::Result<Option<ReplicaRow>> {
    let mut statement = transaction.prepare_cached("SELECT library, node, secret, seen, count = 0 FROM replica")?;
    let row = statement.query_row([], |row| {
        Ok(ReplicaRow {
            library: row.get(0)?,
            node: row.get(1)?,
            secret: row.get(2)?,
            is_seen: row.get(3)?,
            is_empty: row.get(4)?,
        })
    });
    row.optional()
}

/// Makes an empty store the copy of a library.
fn create_replica(transaction: &Connection, replication: &Replication) -> Result<ReplicaRow, Fault> {
    if let Some(known) = read_replica(transaction)? {
        // Another process was faster.
        return Ok(known);
    }
    // What is in these tables is not in the history, so other nodes could not get it.
    for table in ["tool", "approval", "single_approval", "sleeping", "spent", "pair", "server_tool", "label"] {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table})");
        if transaction.prepare(&sql)?.query_row([], |row| row.get(0))? {
            return Err(invalid(message!(
                "the store has tools or decisions of its own: choose an empty directory, and import the tools from a bundle"
            )));
        }
    }
    // The versions of entries are counted from the start of the history on.
    transaction.execute("DELETE FROM mark WHERE what IN ('version', 'forgotten')", [])?;
    let node = format!("{:016x}{:016x}", random(), random());
    let start = Position::start();
    let (library, secret) = (replication.library.to_string(), *replication.fingerprint().as_bytes());
    let sql = "INSERT INTO replica (one, library, node, secret, seen, count, last) VALUES (1, ?, ?, ?, 0, ?, ?)";
    transaction.execute(sql, (&library, &node, secret, start.count, start.last.as_bytes()))?;
    Ok(ReplicaRow { library, node, secret, is_seen: false, is_empty: true })
}

fn read_position(transaction: &Connection) -> rusqlite::Result<Position> {
    let mut statement = transaction.prepare_cached("SELECT count, last FROM replica")?;
    statement.query_row([], |row| Ok(Position { count: row.get(0)?, last: Hash::from_bytes(row.get(1)?) }))
}

fn write_position(transaction: &Connection, position: Position) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached("UPDATE replica SET count = ?, last = ?")?;
    statement.execute((position.count, position.last.as_bytes())).map(|_| ())
}

#[cfg(test)]
mod tests;
