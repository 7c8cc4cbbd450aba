//! What a store should say after some orders, worked out without one.
//!
//! Invariant: an acknowledged order has happened, one that was refused for its own sake has not, and one that the disk
//! broke off has happened wholly or not at all. Those are all the states that a store may be found in.

use clerk::{Answer, Order, Past, SCORE, Said, Sample, State, Tool, Verb};

/// What a success adds to the confidence in a tool, and what a failure takes, in ten-thousandths.
const UP: i64 = 200;
const DOWN: i64 = 500;

/// The state that an order leads to, or the code that refuses it.
pub(crate) fn after(state: &State, order: &Order) -> Result<State, &'static str> {
    let mut next = state.clone();
    let at = order.at;
    match &order.verb {
        Verb::Put(sample) => match head(state, &sample.name) {
            Some(head) if head.event != "deleted" => return Err("name-taken"),
            _ => put(&mut next, sample, "created", at),
        },
        Verb::Replace(sample) => match head(state, &sample.name) {
            Some(head) if head.event != "deleted" => put(&mut next, sample, "replaced", at),
            _ => put(&mut next, sample, "created", at),
        },
        Verb::Delete(name) => {
            let id = current(state, name)?;
            end_approvals(&mut next, name);
            step(&mut next, name, "deleted", &id, at);
        }
        Verb::Undelete(name) => match head(state, name) {
            None => return Err("tool-not-found"),
            Some(head) if head.event != "deleted" => return Err("not-deleted"),
            Some(head) => step(&mut next, name, "undeleted", &head.tool, at),
        },
        Verb::RollBack(name, number) => {
            let history = state.names.get(&folded(name)).ok_or("tool-not-found")?;
            let past = usize::try_from(*number).ok().and_then(|number| history.get(number.checked_sub(1)?));
            let past = past.filter(|past| past.event != "deleted").ok_or("version-not-found")?;
            step(&mut next, name, "rolled-back", &past.tool, at);
        }
        Verb::Use(name, failure) => {
            let tool = tool(&mut next, name)?;
            tool.runs += 1;
            tool.successes += u64::from(failure.is_none());
            let step = if failure.is_none() { UP } else { -DOWN };
            tool.confidence = (tool.confidence + step).clamp(1_000, 10_000);
            tool.last_used_at = tool.last_used_at.max(Some(at));
            if let Some(code) = failure {
                *tool.failures.entry(code.clone()).or_default() += 1;
            }
        }
        Verb::Become(name, status) => {
            let tool = tool(&mut next, name)?;
            if !tool.status.may_become(*status) {
                return Err("status-illegal");
            }
            tool.status = *status;
        }
        Verb::Approve(name, grants) => say(&mut next, name, grants, Said { approved: true, at })?,
        Verb::Refuse(name, grants) => say(&mut next, name, grants, Said { approved: false, at })?,
        Verb::Revoke(name) => tool(&mut next, name)?.approvals.clear(),
        Verb::Record(name, body) => tool(&mut next, name)?.records.insert(0, body.clone()),
        // What becomes of runs is in tests of their own.
        Verb::Begin(_) | Verb::End(..) | Verb::Close | Verb::Look(_) => {}
    }
    Ok(next)
}

/// The state that all of these orders lead to, none of which is refused.
pub(crate) fn after_all<'a>(state: &State, orders: impl IntoIterator<Item = &'a Order>) -> State {
    orders.into_iter().fold(state.clone(), |state, order| after(&state, order).unwrap())
}

/// The states that a store may be in after a clerk gave these answers, where the disk may have been at fault with one of
/// these codes. An order without an answer is one that the clerk did not outlive.
///
/// # Errors
/// The first answer that no such state allows.
pub(crate) fn possible(
    before: &State,
    orders: &[Order],
    answers: &[Answer],
    faults: &[&str],
) -> Result<Vec<State>, String> {
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
        states = states.iter().filter_map(|state| explained(state, order, answer)).collect();
        if states.is_empty() {
            return Err(format!("order {number}, {order:?}, was answered with {answer:?}"));
        }
    }
    Ok(states)
}

/// Which of the states that are possible a store was found in.
///
/// # Errors
/// How it differs from the likeliest of them.
pub(crate) fn which(possible: &[State], found: &State) -> Result<usize, String> {
    let index = possible.iter().position(|state| state == found);
    index.ok_or_else(|| possible.last().map(|state| found.differences(state)).unwrap_or_default())
}

fn add_next(states: &mut Vec<State>, order: &Order) {
    let next: Vec<State> = states.iter().filter_map(|state| after(state, order).ok()).collect();
    states.extend(next);
    states.dedup();
}

/// The next state, where the answer is the one that this state leads to.
fn explained(state: &State, order: &Order, answer: &Answer) -> Option<State> {
    match (after(state, order), answer) {
        (Ok(next), Answer::Done) => Some(next),
        (Ok(next), Answer::Seen { state, .. }) => (next == *state).then_some(next),
        (Err(code), Answer::Refused { code: actual, .. }) => (code == actual).then(|| state.clone()),
        _ => None,
    }
}

fn folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

fn head<'a>(state: &'a State, name: &str) -> Option<&'a Past> {
    state.names.get(&folded(name))?.last()
}

/// The identifier of the tool that a name leads to.
fn current(state: &State, name: &str) -> Result<String, &'static str> {
    let head = head(state, name).filter(|head| head.event != "deleted");
    head.map(|head| head.tool.clone()).ok_or("tool-not-found")
}

fn tool<'a>(state: &'a mut State, name: &str) -> Result<&'a mut Tool, &'static str> {
    let id = current(state, name)?;
    state.tools.get_mut(&id).ok_or("tool-not-found")
}

fn say(state: &mut State, name: &str, grants: &str, said: Said) -> Result<(), &'static str> {
    let approvals = &mut tool(state, name)?.approvals;
    // A refusal is of the tool, whatever it is granted; an approval takes it back.
    approvals.retain(|_, earlier| said.approved && earlier.approved);
    approvals.insert(format!("\"{grants}\""), said);
    Ok(())
}

/// Deleting a name ends the approvals of all tools that it led to; what was refused stays so.
fn end_approvals(state: &mut State, name: &str) {
    for tool in state.tools.values_mut().filter(|tool| folded(&tool.name) == folded(name)) {
        tool.approvals.retain(|_, said| !said.approved);
    }
}

fn put(state: &mut State, sample: &Sample, event: &str, at: i64) {
    let (spec, notes) = (sample.spec(), sample.notes());
    let new = Tool {
        name: sample.name.clone(),
        current: true,
        source: spec.source().to_owned(),
        description: notes.description().to_owned(),
        tags: notes.tags().to_vec(),
        status: toolcell_tool::Status::Unverified,
        confidence: SCORE,
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
    step(state, &sample.name, event, &id, at);
}

/// A step in the history of a name, which leads to a tool that is known.
fn step(state: &mut State, name: &str, event: &str, id: &str, at: i64) {
    let history = state.names.entry(folded(name)).or_default();
    history.push(Past { event: event.to_owned(), tool: id.to_owned(), at });
    for past in history.iter() {
        if let Some(tool) = state.tools.get_mut(&past.tool) {
            tool.current = event != "deleted" && past.tool == id;
        }
    }
    state.tools.get_mut(id).unwrap().updated_at = at;
    // The clock of orders goes forwards, so the order of arrival is that of time.
    let mut listed: Vec<(i64, String)> =
        state.tools.iter().filter(|(_, tool)| tool.current).map(|(id, tool)| (tool.created_at, id.clone())).collect();
    listed.sort_unstable_by(|one, other| other.cmp(one));
    state.listed = listed.into_iter().map(|(_, id)| id).collect();
}
