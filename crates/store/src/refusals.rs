//! Refusals that the audit log tells of, for where the index cannot be read any more.
//!
//! Invariant: the log only ever restores refusals, which keep tools from running. An approval is never restored from it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::Value;
use toolcell_tool::ToolId;

use crate::audit::{Action, Audit, AuditConfig, Filter, Order};
use crate::directory::Directory;
use crate::error::Fault;

/// The decider of a refusal whose log line names none.
const UNKNOWN_DECIDER: &str = "the audit log";
/// The grants of a refusal whose grants are not known, which do not limit it.
const GRANTS: &str = "null";

/// The refusals that the audit log tells of.
pub(crate) struct Refusals {
    by_tool: BTreeMap<ToolId, Refusal>,
    /// Whether the log has no gaps. A refusal whose line still waited in the lost index to be appended is not in it.
    pub(crate) is_complete: bool,
}

struct Refusal {
    by: String,
    at: Timestamp,
}

impl Refusals {
    /// Reads the log of a store from its beginning: an approval or a revocation ends the refusals before it.
    ///
    /// # Errors
    /// `disk-failed`: a file of the log cannot be read, or is no file.
    pub(crate) fn read(directory: &Directory) -> Result<Self, Fault> {
        let audit = Audit::open(directory, AuditConfig::default())?;
        let verdict = audit.verify(None)?;
        let mut by_tool = BTreeMap::new();
        let mut lines = audit.query(Filter { success: Some(true), ..Filter::default() }, Order::OldestFirst)?;
        for line in &mut lines {
            let line = line?;
            let Some(tool) = line.tool else { continue };
            match line.action() {
                Some(Action::Refuse) => {
                    let by =
                        line.details.get("decidedBy").and_then(Value::as_str).unwrap_or(UNKNOWN_DECIDER).to_owned();
                    by_tool.insert(tool, Refusal { by, at: line.at });
                }
                Some(Action::Approve | Action::Revoke) => drop(by_tool.remove(&tool)),
                _ => {}
            }
        }
        // What is not chained may have been added or taken away.
        let is_complete = verdict.is_clean() && verdict.unchained == 0 && verdict.lines > 0 && lines.skipped() == 0;
        Ok(Self { by_tool, is_complete })
    }

    /// Adds them to those that an index has.
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

/// The number of tools that are refused.
pub(crate) fn count(index: &Connection) -> rusqlite::Result<u64> {
    index.query_row("SELECT count(DISTINCT tool) FROM approval WHERE granted = 0", [], |row| row.get(0))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the disk is damaged here, as no code of ours does it")]
mod tests {
    use std::fs;
    use std::path::Path;

    use serde_json::json;
    use toolcell_tool::{Draft, Notes, ToolName, ToolSpec};

    use crate::audit::{Action, Attempt, Failure};
    use crate::{Approval, Decision, Health, Mending, Registration, Scores, Settings, Store, WhenTaken, fsck};

    use super::*;

    const AT: Timestamp = Timestamp::UNIX_EPOCH;

    fn tool(number: u8) -> ToolId {
        ToolId::from_bytes([number; 32])
    }

    fn attempt(action: Action, number: u8) -> Attempt<'static> {
        Attempt { tool: Some(tool(number)), ..Attempt::new(action, AT) }
    }

    /// A store in which tool 1 is refused. Tool 2 was refused until that was taken back, tool 3 until it was approved. Refusing
    /// tool 4 failed, and tool 5 is only approved.
    fn store(path: &Path) -> Store {
        let store = Store::open(path, &Settings::default()).unwrap();
        // A store without objects has an index that is new.
        let draft = Draft::from_bytes("t.ts", b"const execute = () => 1").unwrap();
        let spec = ToolSpec::new(ToolName::parse("one").unwrap(), &draft, Value::Null, Value::Null).unwrap();
        let (notes, scores) = (Notes::new("One").unwrap(), Scores { safety: 1.0, quality: 1.0 });
        store.put(&Registration { spec: &spec, notes: &notes, scores, at: AT }, WhenTaken::Refuse).unwrap();
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
            store.change(attempt).decide(&approval).unwrap();
        }
        store.change(attempt(Action::Revoke, 2)).revoke(tool(2)).unwrap();
        for number in [3, 5] {
            store.log(&attempt(Action::Approve, number)).unwrap();
        }
        let result = Err(Failure { code: "tool-not-found", message: None });
        store.log(&Attempt { result, ..attempt(Action::Refuse, 4) }).unwrap();
        store
    }

    fn mended(path: &Path) -> String {
        let health: Health = fsck(path, Mending::Repair).unwrap();
        assert!(health.is_good());
        health.problems.into_iter().find_map(|problem| problem.mended).unwrap()
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
        (1..=5).map(|number| store.decision(tool(number), &json!(["files"])).unwrap()).collect()
    }

    #[test]
    fn refusals_outlast_an_index_that_cannot_be_read() {
        for damage in [remove_index, overwrite_head] {
            let folder = tempfile::tempdir().unwrap();
            drop(store(folder.path()));
            damage(folder.path());
            let mended = mended(folder.path());
            assert!(mended.ends_with("without approvals; 1 refusal was taken over"), "{mended}");
            assert_eq!(decisions(folder.path()), [Some(Decision::Refused), None, None, None, None]);
            let store = Store::open(folder.path(), &Settings::default()).unwrap();
            let said = store.approvals(tool(1)).unwrap();
            assert_eq!((said.len(), said[0].by.as_str()), (1, "a careful person"));
        }
    }

    #[test]
    fn a_repair_says_that_refusals_could_not_be_read() {
        let log = |path: &Path| path.join("logs/dynamic-tools-audit.jsonl");
        // The log is gone, or a line of it is broken.
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
            assert!(mended.contains("without approvals, and not all refusals could be read (0 "), "{mended}");
            assert!(mended.contains("toolcell approvals refuse"), "{mended}");
        }
    }
}
