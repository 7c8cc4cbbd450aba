//! Commit of a change with its audit line, in a store of its own and in the copy of a shared library.
//!
//! Invariant: the change and its line are committed together, or neither is; see [the outbox](super::outbox). In a copy, both are part of
//! an entry of the library's history first; see [`replica`](super::replica).

use rusqlite::Connection;

use crate::audit::AuditEvent;
use crate::error::{Fault, MaybeFault};
use crate::file_lock::LOCK_TIMEOUT;
use crate::replication::change::Change;

use super::Db;
use super::index::ExclusiveWriter;
use super::outbox::{OutboxRow, with_default};
use super::replica::{Node, Replica, detached, refuse_copy};
use super::transaction::WriteError;

impl Db {
    /// Commits a change and appends its audit line. If `work` returns `None`, nothing is to be
    /// changed, and no line is written.
    ///
    /// In the copy of a shared library, the change becomes an entry of the library's history first,
    /// as `describe` puts it, and `work` runs again after the entries of other nodes.
    pub(crate) fn commit_change<T, E: MaybeFault>(
        &self,
        attempt: Option<AuditEvent<'_>>,
        work: impl Fn(&Connection, &mut AuditEvent<'_>) -> Result<Option<T>, E>,
        describe: impl Fn(&T) -> Change,
        then: impl FnOnce(&mut ExclusiveWriter<'_>, &Result<Option<T>, WriteError<E>>),
    ) -> Result<Option<T>, E> {
        match &self.replica {
            Replica::None => {}
            Replica::Detached { library } => return Err(detached(library).into()),
            Replica::Node(node) => return self.commit_replicated(node, attempt, work, describe, then),
        }
        let (is_recorded, mut attempt) = with_default(attempt);
        let mut own = None;
        let made = self.index.with_exclusive_writer(LOCK_TIMEOUT, |turn| {
            let made = turn.write(self.settings.durability, |transaction| {
                refuse_copy(transaction)?;
                let value = work(transaction, &mut attempt)?;
                if is_recorded && value.is_some() {
                    own = Some(self.insert_outbox_row(transaction, &attempt)?);
                }
                self.save_head(transaction).map_err(Fault::from)?;
                Ok(value)
            });
            then(turn, &made);
            if made.is_ok()
                && let Some(own) = own.take()
            {
                self.append_committed(turn, own, attempt.action.name());
            }
            made
        });
        made?.map_err(|unwritten| unwritten.error)
    }

    /// Commits a change of this node and appends it with its audit line. See [`Db::commit_change`].
    fn commit_replicated<T, E: MaybeFault>(
        &self,
        node: &Node,
        attempt: Option<AuditEvent<'_>>,
        work: impl Fn(&Connection, &mut AuditEvent<'_>) -> Result<Option<T>, E>,
        describe: impl Fn(&T) -> Change,
        then: impl FnOnce(&mut ExclusiveWriter<'_>, &Result<Option<T>, WriteError<E>>),
    ) -> Result<Option<T>, E> {
        let (is_recorded, mut attempt) = with_default(attempt);
        let mut own = None;
        self.catch_up(node)?;
        let made = self.index.with_exclusive_writer(LOCK_TIMEOUT, |turn| {
            let made = self.append(turn, node, |transaction| {
                own = None;
                let Some(value) = work(transaction, &mut attempt)? else { return Ok((None, None)) };
                let change = describe(&value);
                if is_recorded {
                    own = Some(self.insert_outbox_row(transaction, &attempt)?);
                }
                self.save_head(transaction).map_err(Fault::from)?;
                let audit = own.as_ref().map(OutboxRow::to_entry);
                Ok((Some(value), Some((change, audit))))
            });
            then(turn, &made);
            if made.is_ok()
                && let Some(own) = own.take()
            {
                self.append_committed(turn, own, attempt.action.name());
            }
            made
        });
        made?.map_err(|unwritten| unwritten.error)
    }
}
