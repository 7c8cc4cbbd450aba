//! A model of the store: computes the expected state after some orders.
//!
//! Invariant: an acknowledged order has happened, a rejected one has not, and one that a disk fault
//! interrupted has happened completely or not at all. A store is in no other state.

use store_worker::{
    HistoryStep, INITIAL_CONFIDENCE, RecordedDecision, SampleTool, StoreAction, StoreOrder, StoreReply, StoreState,
    ToolState,
};

/// The gain in a tool's confidence from a success, and the loss from a failure, in ten-thousandths.
const SUCCESS_GAIN: i64 = 200;
const FAILURE_LOSS: i64 = 500;

/// Returns the state after an order, or the code that rejects it.
pub(crate) fn apply(state: &StoreState, order: &StoreOrder) -> Result<StoreState, &'static str> {
    let mut next = state.clone();
    let at = order.at;
    match &order.verb {
        StoreAction::Put(sample) => match latest(state, &sample.name) {
            Some(head) if head.event != "deleted" => return Err("name-taken"),
            _ => insert_tool(&mut next, sample, "created", at),
        },
        StoreAction::Replace(sample) => match latest(state, &sample.name) {
            Some(head) if head.event != "deleted" => insert_tool(&mut next, sample, "replaced", at),
            _ => insert_tool(&mut next, sample, "created", at),
        },
        StoreAction::Delete(name) => {
            let id = current_id(state, name)?;
            end_approvals(&mut next, name);
            append_history(&mut next, name, "deleted", &id, at);
        }
        StoreAction::Undelete(name) => match latest(state, name) {
            None => return Err("tool-not-found"),
            Some(head) if head.event != "deleted" => return Err("not-deleted"),
            Some(head) => append_history(&mut next, name, "undeleted", &head.tool, at),
        },
        StoreAction::RollBack(name, number) => {
            let history = state.names.get(&case_folded(name)).ok_or("tool-not-found")?;
            let past = usize::try_from(*number).ok().and_then(|number| history.get(number.checked_sub(1)?));
            let past = past.filter(|past| past.event != "deleted").ok_or("version-not-found")?;
            append_history(&mut next, name, "rolled-back", &past.tool, at);
        }
        StoreAction::Use(name, failure) => {
            let tool = current_tool(&mut next, name)?;
            tool.runs += 1;
            tool.successes += u64::from(failure.is_none());
            let step = if failure.is_none() { SUCCESS_GAIN } else { -FAILURE_LOSS };
            tool.confidence = (tool.confidence + step).clamp(1_000, 10_000);
            tool.last_used_at = tool.last_used_at.max(Some(at));
            if let Some(code) = failure {
                *tool.failures.entry(code.clone()).or_default() += 1;
            }
        }
        StoreAction::Become(name, status) => {
            let tool = current_tool(&mut next, name)?;
            if !tool.status.can_transition_to(*status) {
                return Err("status-illegal");
            }
            tool.status = *status;
        }
        StoreAction::Approve(name, grants) => {
            set_approval(&mut next, name, grants, RecordedDecision { approved: true, at })?;
        }
        StoreAction::Refuse(name, grants) => {
            set_approval(&mut next, name, grants, RecordedDecision { approved: false, at })?;
        }
        StoreAction::Revoke(name) => current_tool(&mut next, name)?.approvals.clear(),
        StoreAction::Record(name, body) => current_tool(&mut next, name)?.records.insert(0, body.clone()),
        // Other tests cover the journal of runs.
        StoreAction::Begin(_) | StoreAction::End(..) | StoreAction::Close | StoreAction::Look(_) => {}
    }
    Ok(next)
}

/// Returns the state after these orders, none of which is rejected.
pub(crate) fn apply_all<'a>(state: &StoreState, orders: impl IntoIterator<Item = &'a StoreOrder>) -> StoreState {
    orders.into_iter().fold(state.clone(), |state, order| apply(&state, order).unwrap())
}

/// Returns the possible states of a store after a worker gave these replies, if disk faults are
/// reported with one of these codes. An order without a reply is one during which the worker was
/// killed.
///
/// # Errors
/// The first reply that no possible state allows.
pub(crate) fn possible_states(
    before: &StoreState,
    orders: &[StoreOrder],
    answers: &[StoreReply],
    faults: &[&str],
) -> Result<Vec<StoreState>, String> {
    let mut states = vec![before.clone()];
    for (number, order) in orders.iter().enumerate() {
        let Some(answer) = answers.get(number) else {
            add_next(&mut states, order);
            break;
        };
        if answer.code().is_some_and(|code| faults.contains(&code)) {
            add_next(&mut states, order);
            continue;
        }
        states = states.iter().filter_map(|state| next_if_matches(state, order, answer)).collect();
        if states.is_empty() {
            return Err(format!("order {number}, {order:?}, was answered with {answer:?}"));
        }
    }
    Ok(states)
}

/// Returns the index of the possible state that equals the one found.
///
/// # Errors
/// How it differs from the most likely one.
pub(crate) fn matching_state(possible: &[StoreState], found: &StoreState) -> Result<usize, String> {
    let index = possible.iter().position(|state| state == found);
    index.ok_or_else(|| possible.last().map(|state| found.differences(state)).unwrap_or_default())
}

fn add_next(states: &mut Vec<StoreState>, order: &StoreOrder) {
    let next: Vec<StoreState> = states.iter().filter_map(|state| apply(state, order).ok()).collect();
    states.extend(next);
    states.dedup();
}

/// Returns the next state, if the reply is the one that this state leads to.
fn next_if_matches(state: &StoreState, order: &StoreOrder, answer: &StoreReply) -> Option<StoreState> {
    match (apply(state, order), answer) {
        (Ok(next), StoreReply::Done) => Some(next),
        (Ok(next), StoreReply::Seen { state, .. }) => (next == *state).then_some(next),
        (Err(code), StoreReply::Refused { code: actual, .. }) => (code == actual).then(|| state.clone()),
        _ => None,
    }
}

fn case_folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

fn latest<'a>(state: &'a StoreState, name: &str) -> Option<&'a HistoryStep> {
    state.names.get(&case_folded(name))?.last()
}

/// Returns the identifier of the tool that a name resolves to.
fn current_id(state: &StoreState, name: &str) -> Result<String, &'static str> {
    let head = latest(state, name).filter(|head| head.event != "deleted");
    head.map(|head| head.tool.clone()).ok_or("tool-not-found")
}

fn current_tool<'a>(state: &'a mut StoreState, name: &str) -> Result<&'a mut ToolState, &'static str> {
    let id = current_id(state, name)?;
    state.tools.get_mut(&id).ok_or("tool-not-found")
}

fn set_approval(
    state: &mut StoreState,
    name: &str,
    grants: &str,
    decision: RecordedDecision,
) -> Result<(), &'static str> {
    let approvals = &mut current_tool(state, name)?.approvals;
    // A refusal covers the tool with any grants; an approval revokes it.
    approvals.retain(|_, earlier| decision.approved && earlier.approved);
    approvals.insert(format!("\"{grants}\""), decision);
    Ok(())
}

/// Removes the approvals of all tools that a deleted name ever resolved to; refusals stay.
fn end_approvals(state: &mut StoreState, name: &str) {
    for tool in state.tools.values_mut().filter(|tool| case_folded(&tool.name) == case_folded(name)) {
        tool.approvals.retain(|_, decision| !decision.approved);
    }
}

fn insert_tool(state: &mut StoreState, sample: &SampleTool, event: &str, at: i64) {
    let (spec, notes) = (sample.spec(), sample.notes());
    let new = ToolState {
        name: sample.name.clone(),
        current: true,
        source: spec.source().to_owned(),
        description: notes.description().to_owned(),
        tags: notes.tags().to_vec(),
        status: toolcell_tool::Status::Unverified,
        confidence: INITIAL_CONFIDENCE,
        created_at: at,
        updated_at: at,
        runs: 0,
        successes: 0,
        failures: std::collections::BTreeMap::default(),
        last_used_at: None,
        approvals: std::collections::BTreeMap::default(),
        records: Vec::new(),
    };
    let id = spec.id().to_string();
    state.tools.entry(id.clone()).or_insert(new);
    append_history(state, &sample.name, event, &id, at);
}

/// Appends a step with a known tool to the history of a name.
fn append_history(state: &mut StoreState, name: &str, event: &str, id: &str, at: i64) {
    let history = state.names.entry(case_folded(name)).or_default();
    history.push(HistoryStep { event: event.to_owned(), tool: id.to_owned(), at });
    for past in history.iter() {
        if let Some(tool) = state.tools.get_mut(&past.tool) {
            tool.current = event != "deleted" && past.tool == id;
        }
    }
    state.tools.get_mut(id).unwrap().updated_at = at;
    // The clock of orders is monotonic, so the order of arrival is that of time.
    let mut listed: Vec<(i64, String)> =
        state.tools.iter().filter(|(_, tool)| tool.current).map(|(id, tool)| (tool.created_at, id.clone())).collect();
    listed.sort_unstable_by(|one, other| other.cmp(one));
    state.listed = listed.into_iter().map(|(_, id)| id).collect();
}
