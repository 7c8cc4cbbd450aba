//! Refusals from the audit log, for an index that can no longer be read.
//!
//! Invariant: only refusals, which keep tools from running, are restored from the log. An approval
//! never is.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::Value;
use toolcell_tool::ToolId;

use crate::audit::{Action, Audit, AuditConfig, AuditFilter, AuditOrder};
use crate::directory::Directory;
use crate::error::Fault;

/// The decider of a refusal whose audit line names none.
const UNKNOWN_DECIDER: &str = "the audit log";
/// The grants of a refusal whose grants are unknown; they do not limit it.
const GRANTS: &str = "null";

/// The refusals in the audit log.
pub(crate) struct Refusals {
    by_tool: BTreeMap<ToolId, Refusal>,
    /// Whether the log has no gaps. A refusal whose line was still in the outbox of the lost index
    /// is missing even then.
    pub(crate) is_complete: bool,
}

struct Refusal {
    by: String,
    at: Timestamp,
}

impl Refusals {
    /// Reads the log from its start: an approval or a revocation ends earlier refusals of its tool.
    ///
    /// # Errors
    /// `disk-failed`: a file of the log cannot be read, or is not a regular file.
    pub(crate) fn read(directory: &Directory) -> Result<Self, Fault> {
        let audit = Audit::open(directory, AuditConfig::default())?;
        let verdict = audit.verify(None)?;
        let mut by_tool = BTreeMap::new();
        let mut lines =
            audit.query(AuditFilter { success: Some(true), ..AuditFilter::default() }, AuditOrder::OldestFirst)?;
        for line in &mut lines {
            let line = line?;
            let Some(tool) = line.tool else { continue };
            match line.action() {
                Some(Action::Refuse) => {
                    let by =
                        line.details.get("decidedBy").and_then(Value::as_str).unwrap_or(UNKNOWN_DECIDER).to_owned();
                    by_tool.insert(tool, Refusal { by, at: line.at });
                }
                Some(Action::Approve | Action::ApproveOnce | Action::Revoke) => drop(by_tool.remove(&tool)),
                _ => {}
            }
        }
        // Lines outside of the chain may have been added or removed.
        let is_complete = verdict.is_clean() && verdict.unchained == 0 && verdict.lines > 0 && lines.skipped() == 0;
        Ok(Self { by_tool, is_complete })
    }

    /// Adds them to the refusals of an index.
    pub(crate) fn add_to(&self, index: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO approval (tool, grants, form, granted, by, at) SELECT ?1, ?2, ?3, 0, ?4, ?5 \
                   WHERE NOT EXISTS (SELECT 1 FROM approval WHERE tool = ?1 AND granted = 0)";
        let mut statement = index.prepare(sql)?;
        let grants = blake3::hash(GRANTS.as_bytes());
        for (tool, refusal) in &self.by_tool {
            let at = refusal.at.as_millisecond().max(0);
            statement.execute((tool.as_bytes(), grants.as_bytes(), GRANTS, &refusal.by, at))?;
        }
        Ok(())
    }
}

/// The number of refused tools.
pub(crate) fn count(index: &Connection) -> rusqlite::Result<u64> {
    index.query_row("SELECT count(DISTINCT tool) FROM approval WHERE granted = 0", [], |row| row.get(0))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the disk is damaged here, as no code of ours does it")]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::json;
    use toolcell_tool::{Draft, ToolMetadata, ToolName, ToolSpec};

    use crate::audit::{Action, AuditEvent, EventFailure};
    use crate::{Approval, Decision, FsckReport, NewTool, OnConflict, RepairMode, Scores, Settings, Store, fsck};

    use super::*;

    const AT: Timestamp = Timestamp::UNIX_EPOCH;

    fn tool(number: u8) -> ToolId {
        ToolId::from_bytes([number; 32])
    }

    fn attempt(action: Action, number: u8) -> AuditEvent<'static> {
        AuditEvent { tool: Some(tool(number)), ..AuditEvent::new(action, AT) }
    }

    /// A store in which tool 1 is refused. The refusals of tools 2 and 3 were ended by a revocation
    /// and an approval. Refusing tool 4 failed, and tool 5 was only approved.
    fn store(path: &Path) -> Store {
        let store = Store::open(path, &Settings::default()).unwrap();
        // Without objects, a missing index would count as new.
        let draft = Draft::from_bytes("t.ts", b"const execute = () => 1").unwrap();
        let spec = ToolSpec::new(ToolName::parse("one").unwrap(), &draft, Value::Null, Value::Null).unwrap();
        let (notes, scores) = (ToolMetadata::new("One").unwrap(), Scores { safety: 1.0, quality: 1.0 });
        store.catalog().insert(&NewTool { spec: &spec, metadata: &notes, scores, at: AT }, OnConflict::Refuse).unwrap();
        for number in [1, 2, 3] {
            let approval = Approval {
                tool: tool(number),
                grants: json!(["net"]),
                decision: Decision::Refused,
                by: "a careful person".to_owned(),
                at: AT,
            };
            let mut attempt = attempt(Action::Refuse, number);
            attempt.details.decided_by = Some(approval.by.clone());
            store.with_audit(attempt).set_decision(&approval).unwrap();
        }
        store.with_audit(attempt(Action::Revoke, 2)).revoke(tool(2)).unwrap();
        for number in [3, 5] {
            store.log(&attempt(Action::Approve, number)).unwrap();
        }
        let result = Err(EventFailure { code: toolcell_error::ErrorCode::ToolNotFound, message: None });
        store.log(&AuditEvent { result, ..attempt(Action::Refuse, 4) }).unwrap();
        store
    }

    fn mended(path: &Path) -> String {
        let health: FsckReport = fsck(path, RepairMode::Repair).unwrap();
        assert!(health.is_healthy());
        health.problems.into_iter().find_map(|problem| problem.mended).unwrap().to_string()
    }

    fn remove_index(path: &Path) {
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(path.join(format!("index.sqlite{ending}")));
        }
    }

    fn overwrite_head(path: &Path) {
        let path = path.join("index.sqlite");
        let mut bytes = fs::read(&path).unwrap();
        bytes[..32].fill(0);
        fs::write(path, bytes).unwrap();
    }

    fn decisions(path: &Path) -> Vec<Option<Decision>> {
        let store = Store::open(path, &Settings::default()).unwrap();
        (1..=5).map(|number| store.approvals().decision(tool(number), &json!(["files"])).unwrap()).collect()
    }

    #[test]
    fn refusals_outlast_an_index_that_cannot_be_read() {
        for damage in [remove_index, overwrite_head] {
            let folder = tempfile::tempdir().unwrap();
            drop(store(folder.path()));
            damage(folder.path());
            let mended = mended(folder.path());
            assert!(mended.ends_with("without approvals; 1 refusal was kept"), "{mended}");
            assert_eq!(decisions(folder.path()), [Some(Decision::Refused), None, None, None, None]);
            let store = Store::open(folder.path(), &Settings::default()).unwrap();
            let said = store.approvals().for_tool(tool(1)).unwrap();
            assert_eq!((said.len(), said[0].by.as_str()), (1, "a careful person"));
        }
    }

    #[test]
    fn a_repair_says_that_refusals_could_not_be_read() {
        let log = |path: &Path| path.join("logs/dynamic-tools-audit.jsonl");
        // Either a line of the log is broken, or the log is gone.
        for broken in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            drop(store(folder.path()));
            remove_index(folder.path());
            let text = fs::read_to_string(log(folder.path())).unwrap();
            if broken {
                let (first, rest) = text.split_once('\n').unwrap();
                fs::write(log(folder.path()), format!("{}\n{rest}", &first[..first.len() / 2])).unwrap();
            } else {
                fs::remove_dir_all(folder.path().join("logs")).unwrap();
            }
            let mended = mended(folder.path());
            assert!(mended.contains("not all refusals could be read (0 "), "{mended}");
            assert!(mended.contains("toolcell approvals refuse"), "{mended}");
        }
    }
}
