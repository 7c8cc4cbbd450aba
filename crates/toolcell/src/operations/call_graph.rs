//! Who calls a tool, and which tools it calls, as its latest runs did.
//!
//! Invariant: a bounded number of records is read. A record that is damaged is left out.

use std::collections::BTreeMap;

use toolcell_store::Fault;
use toolcell_tool::ToolId;

use super::runs::{ListRuns, ListedRun, list};
use crate::parts::Parts;

/// The number of runs that are looked at.
const MAX_RUNS: usize = 500;
/// The kind of the host call that calls another tool.
const TOOL_CALL: &str = "tools.call";
/// What stands before the name of a tool that is the caller of a run.
const TOOL_CALLER: &str = "tool ";

/// Who called a tool, and which tools it called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallGraph {
    /// The number of runs that were looked at, the latest ones.
    pub runs: usize,
    /// The callers, with the number of their runs, the most frequent first.
    pub callers: Vec<(GraphCaller, u64)>,
    /// The names of the tools that the tool called, with the number of calls, the most frequent first.
    pub callees: Vec<(String, u64)>,
}

/// A caller of a tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum GraphCaller {
    /// Another tool, by its name.
    Tool(String),
    /// A host, as it names its caller.
    Host(String),
}

/// Returns who called a tool, and which tools it called, in its latest runs.
pub(crate) fn call_graph(parts: &Parts, tool: ToolId) -> Result<CallGraph, Fault> {
    let listed = list(parts, &ListRuns { tool: Some(tool), end: None, before: None, limit: MAX_RUNS })?;
    let (mut callers, mut callees) = (BTreeMap::new(), BTreeMap::new());
    for ListedRun { record, .. } in &listed.runs {
        let Ok(record) = record else { continue };
        let caller = match record.caller.strip_prefix(TOOL_CALLER) {
            Some(name) => GraphCaller::Tool(name.to_owned()),
            None => GraphCaller::Host(record.caller.clone()),
        };
        *callers.entry(caller).or_insert(0_u64) += 1;
        let effects = record.done.iter().flat_map(|log| &log.effects);
        for call in effects.filter(|effect| effect.kind == TOOL_CALL) {
            *callees.entry(call.about.clone()).or_insert(0_u64) += 1;
        }
    }
    Ok(CallGraph { runs: listed.runs.len(), callers: by_count(callers), callees: by_count(callees) })
}

fn by_count<T>(counts: BTreeMap<T, u64>) -> Vec<(T, u64)> {
    let mut counts: Vec<(T, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}
