//! What a tool was permitted over time: the decisions that stand about all versions of its name, and what each changed.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value;
use toolcell::policy::Grants;
use toolcell::store::{Approval, Decision, HistoryEntry, Store};
use toolcell_i18n::{Lang, Localize as _, tr};

use crate::markup::{line, text, time};
use crate::pages::stored_grants_text;
use crate::pages::words::decision_word;
use crate::source::PageError;

/// The maximum number of decisions.
const MAX_DECISIONS: usize = 50;

/// A decision about a version, and what it changed.
pub(super) struct PermissionChange {
    version: u64,
    approval: Approval,
    /// What is permitted that was not, and what is not permitted any more, compared with the decision before.
    added: Vec<String>,
    removed: Vec<String>,
}

/// Returns the decisions about versions of a name, newest first.
pub(super) fn load(store: &Store, versions: &[&HistoryEntry], lang: Lang) -> Result<Vec<PermissionChange>, PageError> {
    let mut seen = BTreeSet::new();
    let mut decisions = Vec::new();
    for version in versions {
        if seen.insert(version.id) {
            let approvals = store.approvals().for_tool(version.id)?;
            decisions.extend(approvals.into_iter().map(|approval| (version.number, approval)));
        }
    }
    decisions.sort_by_key(|(version, approval)| (approval.at, *version));
    let mut permitted = BTreeSet::new();
    let changes = decisions.into_iter().map(|(version, approval)| {
        let now = match approval.decision {
            Decision::Approved | Decision::ApprovedOnce => items(&approval.grants, lang),
            Decision::Refused => BTreeSet::new(),
        };
        let before = std::mem::replace(&mut permitted, now);
        let (added, removed) =
            (permitted.difference(&before).cloned().collect(), before.difference(&permitted).cloned().collect());
        PermissionChange { version, approval, added, removed }
    });
    let mut changes: Vec<_> = changes.collect();
    changes.reverse();
    changes.truncate(MAX_DECISIONS);
    Ok(changes)
}

/// Describes each part of stored grants: a host, a folder, a space.
fn items(grants: &Value, lang: Lang) -> BTreeSet<String> {
    let Value::Object(capabilities) = grants else { return BTreeSet::new() };
    let parts = capabilities.iter().flat_map(|(capability, granted)| match granted {
        Value::Array(each) => each.iter().map(|one| (capability, Value::Array(vec![one.clone()]))).collect(),
        whole => vec![(capability, whole.clone())],
    });
    let described = parts.map(|(capability, part)| {
        let alone = Value::Object([(capability.clone(), part)].into_iter().collect());
        match serde_json::from_value::<Grants>(alone.clone()) {
            Ok(grants) => grants.localize().to_text(lang),
            Err(_) => alone.to_string(),
        }
    });
    described.collect()
}

/// Shows the decisions.
pub(super) fn to_markup(changes: &[PermissionChange], lang: Lang) -> Markup {
    html! {
        section aria-labelledby="permissions" {
            h2 #permissions { (tr!(lang, "Permissions over time")) }
            div.scroll tabindex="0" role="region" aria-label=(tr!(lang, "permissions")) {
                table.permissions {
                    thead { tr {
                        th scope="col" { (tr!(lang, "when")) }
                        th scope="col" { (tr!(lang, "version")) }
                        th scope="col" { (tr!(lang, "decision")) }
                        th scope="col" { (tr!(lang, "change")) }
                        th scope="col" { (tr!(lang, "by")) }
                    } }
                    tbody {
                        @for PermissionChange { version, approval, added, removed } in changes {
                            tr {
                                td { (time(approval.at)) }
                                td { a href={ "tools/" (approval.tool) } { (version) } }
                                td {
                                    (decision_word(approval.decision, lang))
                                    @if approval.decision != Decision::Refused { " (" (text(&stored_grants_text(&approval.grants, lang))) ")" }
                                }
                                td {
                                    @if added.is_empty() && removed.is_empty() { (tr!(lang, "none")) }
                                    ul.changes {
                                        @for item in added { li.added { "+ " (text(item)) } }
                                        @for item in removed { li.removed { "− " (text(item)) } }
                                    }
                                }
                                td { (line(&approval.by)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_host_and_space_is_a_part() {
        let of = |grants: Value| items(&grants, Lang::En);
        assert_eq!(of(json!({})), BTreeSet::new());
        let two = of(json!({"timers": true, "net": [{"hosts": ["a.example"]}, {"hosts": ["b.example"]}]}));
        assert_eq!(two.len(), 3, "{two:?}");
        // Another version may have written what this one does not know.
        assert_eq!(of(json!({"lasers": 3})), BTreeSet::from([r#"{"lasers":3}"#.to_owned()]));
    }
}
