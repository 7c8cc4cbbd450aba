//! Applies the changes of a shared library that other nodes made.
//!
//! Invariant: the index after a change is the same as on the node that made it. That node made the same change, after its checks.

use data_encoding::BASE64;
use rusqlite::Connection;
use toolcell_i18n::{Message, message};
use toolcell_tool::{SpaceName, ToolId};

use crate::approvals::{apply_decision, apply_taken, delete_decisions};
use crate::audit_heads;
use crate::catalog::commit::{apply_version, latest_version};
use crate::catalog::deprecate::write_deprecation;
use crate::catalog::status::{demote, write_status};
use crate::db::Db;
use crate::db::replica::write_end;
use crate::entry::by_id;
use crate::error::Fault;
use crate::kv;
use crate::labels::{self, LabelHolder};
use crate::maintenance::gc::delete_name;
use crate::nonces;
use crate::replication::SharedError;
use crate::replication::change::{Change, NewVersion};
use crate::suspended::{SuspendedRow, delete_expired, delete_suspended, insert_suspended};
use crate::trusted_definitions::{TrustedDefinition, replace_definitions};
use crate::version::read_version;

/// Applies a change. The objects that it needs are there.
pub(crate) fn apply_change(db: &Db, transaction: &Connection, change: &Change) -> Result<(), Fault> {
    match change {
        Change::Versions { versions } => {
            versions.iter().try_for_each(|version| add_version(db, transaction, version))?;
        }
        Change::Decide { tool, grants, decision, by, at } => {
            apply_decision(transaction, *tool, grants, *decision, by, *at)?;
        }
        Change::Revoke { tool } => drop(delete_decisions(transaction, *tool)?),
        Change::TakeApproval { tool, grants } => apply_taken(transaction, *tool, grants)?,
        Change::SetStatus { tool, status } => write_status(transaction, row_number(transaction, *tool)?, *status)?,
        Change::Deprecate { tool, successor } => {
            write_deprecation(transaction, row_number(transaction, *tool)?, *successor)?;
        }
        Change::Trust { server, tools, by, at } => {
            let known = |tool: &crate::replication::change::SharedDefinition| TrustedDefinition {
                tool: tool.tool.clone(),
                digest: tool.digest.0,
                form: tool.form.clone(),
            };
            replace_definitions(transaction, server, &tools.iter().map(known).collect::<Vec<_>>(), by, *at)?;
        }
        Change::Suspend { run, tool, caller, at, binding, state } => {
            let run = SuspendedRow {
                run: parse(run)?,
                tool: *tool,
                caller: caller.clone(),
                suspended_at: *at,
                binding: binding.clone(),
                blob: BASE64
                    .decode(state.as_bytes())
                    .map_err(|error| unreadable(&Message::verbatim(error.to_string())))?,
            };
            insert_suspended(transaction, &run)?;
        }
        Change::TakeSuspended { run } => delete_suspended(transaction, parse(run)?)?,
        Change::Spend { token, until, now } => drop(nonces::spend(transaction, token.0, *until, *now)?),
        Change::Write { space, writes, now } => {
            kv::apply_writes(transaction, &parse_space(space)?, writes.clone(), *now)?;
        }
        Change::ClearSpace { space } => drop(kv::clear(transaction, space)?),
        Change::Label { holders, sources } => {
            let holders = holders.iter().map(|holder| parse_holder(holder)).collect::<Result<Vec<_>, _>>()?;
            labels::join(transaction, &holders, sources)?;
        }
        Change::ClearLabel { holder } => labels::clear(transaction, &parse_holder(holder)?)?,
        Change::Collect { names, suspended_before, now } => {
            names.iter().try_for_each(|folded| delete_name(transaction, folded))?;
            delete_expired(transaction, *suspended_before)?;
            kv::delete_expired(transaction, *now)?;
        }
        Change::AuditHead { node, host, previous, head, at } => {
            audit_heads::apply(transaction, (node, host), previous.as_deref(), head, *at)?;
        }
        Change::End { node, at } => write_end(transaction, node, *at)?,
    }
    Ok(())
}

/// Adds a version to the history of its name.
fn add_version(db: &Db, transaction: &Connection, added: &NewVersion) -> Result<(), Fault> {
    let hash = added.version.0;
    let version = read_version(db, hash)?;
    let before = latest_version(transaction, &added.folded)?;
    let previous = version.previous_hash().map_err(|reason| Fault::object(hash, reason))?;
    let number = before.as_ref().map_or(1, |head| head.number + 1);
    if previous != before.map(|head| head.hash) || number != added.number {
        return Err(unreadable(&message!("a version does not follow the one before it")));
    }
    if added.demotes {
        demote(transaction, version.tool)?;
    }
    Ok(apply_version(transaction, &added.folded, added.number, hash, &version)?)
}

fn row_number(transaction: &Connection, tool: ToolId) -> Result<i64, Fault> {
    let known = by_id(transaction, tool)?;
    known.map(|entry| entry.num).ok_or_else(|| unreadable(&message!("it is about a tool that this node does not have")))
}

fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, Fault> {
    text.parse().map_err(|error: T::Err| unreadable(&Message::verbatim(error.to_string())))
}

fn parse_space(text: &str) -> Result<SpaceName, Fault> {
    SpaceName::parse(text).map_err(|error| unreadable(&Message::verbatim(error.to_string())))
}

fn parse_holder(text: &str) -> Result<LabelHolder, Fault> {
    LabelHolder::parse(text).ok_or_else(|| unreadable(&message!("it is about a label of an unknown kind")))
}

/// A change that cannot be made here: the index of this node is damaged, or another version made the change.
fn unreadable(reason: &Message) -> Fault {
    SharedError::Invalid {
        reason: message!("a change of another node cannot be applied: {reason}", reason = reason.clone()),
    }
    .into()
}
