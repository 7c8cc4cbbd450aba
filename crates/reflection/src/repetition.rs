//! Operations of a history that were repeated.
//!
//! Invariant: two operations are the same if their names and the shapes of their arguments are: the
//! same keys with values of the same kinds. Lines of text are parsed first
//! ([`history_line`](crate::history_line)). Toolcell's own operations are never counted; otherwise
//! one reflection would trigger the next.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use serde_json::Value;
use toolcell_tool::BUILTIN_TOOLS;

use crate::history_line::normalize_history;
use crate::operation::PastOperation;

/// The depth to which arguments are inspected.
const MAX_DEPTH: usize = 4;

/// An operation that was repeated.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RepeatedOperation {
    /// The name of the operation.
    pub name: String,
    /// The shape of its arguments, such as `{path: string}`.
    pub shape: String,
    /// The number of repetitions.
    pub count: usize,
    /// The number of failures.
    pub failed: usize,
    /// The mean number of tokens, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The first few positions in the history, from 0.
    pub at: Vec<usize>,
}

/// The most positions that are reported.
const MAX_POSITIONS: usize = 8;

/// Finds the operations that were performed more than once, the most frequent first.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell_reflection::{PastOperation, find_repeated};
///
/// let called = |path: &str| PastOperation { name: "read".into(), arguments: json!({"path": path}), ..PastOperation::default() };
/// let found = find_repeated(&[called("a.csv"), called("b.csv")]);
/// assert_eq!((found[0].count, found[0].shape.as_str()), (2, "{path: string}"));
/// ```
#[must_use]
pub fn find_repeated(history: &[PastOperation]) -> Vec<RepeatedOperation> {
    let history = normalize_history(history);
    let mut groups: HashMap<(&str, String), Vec<usize>> = HashMap::new();
    for (at, operation) in history.iter().enumerate().filter(|(_, operation)| !is_builtin(&operation.name)) {
        groups.entry((operation.name.trim(), shape(&operation.arguments, 0))).or_default().push(at);
    }
    let mut found: Vec<RepeatedOperation> = groups
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|((name, shape), places)| {
            let of = || places.iter().map(|at| &history[*at]);
            let known: Vec<u64> = of().filter_map(|operation| operation.tokens).collect();
            let sum: u128 = known.iter().map(|tokens| u128::from(*tokens)).sum();
            let tokens = sum.checked_div(known.len() as u128).and_then(|mean| u64::try_from(mean).ok());
            let failed = of().filter(|operation| operation.has_failed()).count();
            let at = places.iter().copied().take(MAX_POSITIONS).collect();
            RepeatedOperation { name: name.to_owned(), shape, count: places.len(), failed, tokens, at }
        })
        .collect();
    found.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.at.cmp(&other.at)));
    found
}

/// Whether a name is one of Toolcell's own operations, with any prefix.
fn is_builtin(name: &str) -> bool {
    let last = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
    let last = last.rsplit("__").next().unwrap_or(last).trim();
    BUILTIN_TOOLS.contains(&last)
}

/// The shape of a value: `{path: string, lines: [number]}`.
fn shape(value: &Value, depth: usize) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "boolean".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) | Value::Object(_) if depth == MAX_DEPTH => "…".to_owned(),
        Value::Array(items) => {
            let kinds: BTreeSet<String> = items.iter().take(16).map(|item| shape(item, depth + 1)).collect();
            format!("[{}]", kinds.into_iter().collect::<Vec<_>>().join(" | "))
        }
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            let fields = sorted.into_iter().map(|(key, value)| format!("{key}: {}", shape(value, depth + 1)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn done(name: &str, arguments: Value) -> PastOperation {
        PastOperation { name: name.to_owned(), arguments, ..PastOperation::default() }
    }

    #[test]
    fn the_same_is_counted_whatever_the_values_and_the_order_of_keys() {
        let history = [
            done("convert", json!({"from": "a.csv", "width": 1})),
            done("read", json!({"path": "a"})),
            done("convert", json!({"width": 2.5, "from": "b.csv"})),
            done("convert", json!({"from": "b.csv", "width": "2"})),
            done("convert", json!({"from": "c.csv", "width": 3})),
        ];
        let found = find_repeated(&history);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].count, found[0].at.as_slice()), (3, [0, 2, 4].as_slice()));
        assert_eq!(found[0].shape, "{from: string, width: number}");
    }

    #[test]
    fn our_own_operations_are_never_counted() {
        for name in ["run_dynamic_tool", "mcp__toolcell__run_dynamic_tool", "toolcell.tool_reflection"] {
            assert_eq!(find_repeated(&[done(name, json!({})), done(name, json!({}))]), []);
        }
    }

    #[test]
    fn tokens_of_any_size_have_a_mean() {
        let one = PastOperation { tokens: Some(u64::MAX), ..done("a", json!(null)) };
        assert_eq!(find_repeated(&[one.clone(), one])[0].tokens, Some(u64::MAX));
    }
}
