//! The comparison of two tools' outcomes, up to the names of fields.
//!
//! Invariant: a field may have another name only if it has that name in every result. Names that
//! come from the input, as in a grouping, are part of the outcome.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolcell_tool::canonical_json;

use super::plausible::{has_content, is_plain};

/// The outcome of a tool on an input.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ObservedOutcome {
    /// It returned this value.
    Returned(Value),
    /// It threw an error.
    Threw,
}

/// The outcomes of two tools on the same input.
#[derive(Debug, Clone)]
pub(super) struct OutcomePair {
    pub(super) left: ObservedOutcome,
    pub(super) right: ObservedOutcome,
    /// Whether the input is unremarkable, see [`is_plain`].
    pub(super) is_plain: bool,
    /// Whether the lists and maps of the input are not empty.
    pub(super) has_content: bool,
}

impl OutcomePair {
    pub(super) fn new(input: &Value, one: ObservedOutcome, other: ObservedOutcome) -> Self {
        Self { left: one, right: other, is_plain: is_plain(input), has_content: has_content(input) }
    }

    /// Swaps the tools.
    pub(super) fn swapped(self) -> Self {
        Self { left: self.right, right: self.left, ..self }
    }

    fn results(&self) -> Option<(&Value, &Value)> {
        match (&self.left, &self.right) {
            (ObservedOutcome::Returned(one), ObservedOutcome::Returned(other)) => Some((one, other)),
            _ => None,
        }
    }
}

/// The maximum percentage of inputs that one tool accepts and the other rejects: equivalent tools
/// may differ on implausible inputs.
const MAX_REFUSED_PERCENT: usize = 3;
/// One in this many inputs may have a different result, if the input is not plain.
const INPUTS_PER_ODD_RESULT: usize = 60;

/// Returns whether the outcomes agree: all results of plain inputs, nearly all of other inputs, and
/// all but a few rejections.
pub(super) fn outcomes_agree(pairs: &[OutcomePair]) -> bool {
    let refused = pairs
        .iter()
        .filter(|pair| matches!(pair.left, ObservedOutcome::Threw) != matches!(pair.right, ObservedOutcome::Threw))
        .count();
    if refused * 100 > pairs.len() * MAX_REFUSED_PERCENT {
        return false;
    }
    let results = |is_plain: bool| {
        pairs.iter().filter(move |pair| pair.is_plain == is_plain).filter_map(OutcomePair::results).collect::<Vec<_>>()
    };
    let mut agreed = results(true);
    pairs_equal(&agreed) && count_odd(&mut agreed, &results(false), pairs.len() / INPUTS_PER_ODD_RESULT).is_some()
}

/// Returns how many of these differ from the agreed pairs, if no more than `most`.
fn count_odd<'v>(
    agreed: &mut Vec<(&'v Value, &'v Value)>,
    rest: &[(&'v Value, &'v Value)],
    most: usize,
) -> Option<usize> {
    let known = agreed.len();
    agreed.extend(rest);
    if pairs_equal(agreed) {
        return Some(0);
    }
    agreed.truncate(known);
    if rest.len() < 2 {
        return (most > 0).then_some(1);
    }
    let (first, then) = rest.split_at(rest.len() / 2);
    let found = count_odd(agreed, first, most)?;
    Some(found + count_odd(agreed, then, most - found)?)
}

fn pairs_equal(pairs: &[(&Value, &Value)]) -> bool {
    let (ones, others): (Vec<&Value>, Vec<&Value>) = pairs.iter().copied().unzip();
    columns_equal(&ones, &others)
}

/// Returns whether two columns of values are equal, up to the names of fields.
fn columns_equal(ones: &[&Value], others: &[&Value]) -> bool {
    let (mut lists, mut objects) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for (one, other) in ones.iter().zip(others) {
        match (one, other) {
            (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
                lists.0.extend(one);
                lists.1.extend(other);
            }
            (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
                objects.0.push(one);
                objects.1.push(other);
            }
            (one, other) if canonical_json(one) == canonical_json(other) => {}
            _ => return false,
        }
    }
    (lists.0.is_empty() || columns_equal(&lists.0, &lists.1))
        && (objects.0.is_empty() || objects_equal(&objects.0, &objects.1))
}

fn objects_equal(ones: &[&Map<String, Value>], others: &[&Map<String, Value>]) -> bool {
    let (fixed, called) = (common_fields(ones), common_fields(others));
    // Fields that are always present under the same name, and fields that are sometimes absent,
    // have to be equal by name.
    let mut renamed: Vec<&String> = fixed.difference(&called).copied().collect();
    let mut free: Vec<&String> = called.difference(&fixed).copied().collect();
    let is_renamed = |name: &String| renamed.contains(&name) || free.contains(&name);
    let mut names: BTreeSet<&String> = ones.iter().chain(others).flat_map(|object| object.keys()).collect();
    names.retain(|name| !is_renamed(name));
    for name in names {
        let (mut column, mut other) = (Vec::new(), Vec::new());
        for (one, said) in ones.iter().zip(others) {
            match (one.get(name), said.get(name)) {
                (Some(one), Some(said)) => {
                    column.push(one);
                    other.push(said);
                }
                (None, None) => {}
                _ => return false,
            }
        }
        if !columns_equal(&column, &other) {
            return false;
        }
    }
    while let Some(name) = renamed.pop() {
        let column: Vec<&Value> = ones.iter().filter_map(|object| object.get(name)).collect();
        let fits = |called: &&String| {
            let other: Vec<&Value> = others.iter().filter_map(|object| object.get(*called)).collect();
            columns_equal(&column, &other)
        };
        let Some(at) = free.iter().position(fits) else { return false };
        free.swap_remove(at);
    }
    free.is_empty()
}

/// Returns the names of fields that all objects have.
fn common_fields<'a>(objects: &[&'a Map<String, Value>]) -> BTreeSet<&'a String> {
    let mut names: BTreeSet<&String> = objects.first().into_iter().flat_map(|object| object.keys()).collect();
    names.retain(|name| objects.iter().all(|object| object.contains_key(*name)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pairs(ones: &Value, others: &Value) -> Vec<OutcomePair> {
        let answer = |value: &Value| {
            if *value == json!("!") { ObservedOutcome::Threw } else { ObservedOutcome::Returned(value.clone()) }
        };
        let pair = |(one, other)| OutcomePair::new(&json!(1), answer(one), answer(other));
        ones.as_array().unwrap().iter().zip(others.as_array().unwrap()).map(pair).collect()
    }

    fn check(ones: &Value, others: &Value, expect: bool) {
        assert_eq!(outcomes_agree(&pairs(ones, others)), expect);
    }

    #[test]
    fn names_of_fields_that_are_always_there_do_not_count() {
        check(
            &json!([{"sum": 1, "n": 2}, {"sum": 3, "n": 1}]),
            &json!([{"total": 1, "n": 2}, {"total": 3, "n": 1}]),
            true,
        );
        check(&json!([{"sum": 1, "n": 2}, {"sum": 3, "n": 1}]), &json!([{"a": 2, "b": 1}, {"a": 1, "b": 3}]), true);
        check(&json!([{"sum": 1, "n": 2}, {"sum": 3, "n": 1}]), &json!([{"a": 2, "b": 1}, {"a": 3, "b": 1}]), false);
        check(&json!([[{"k": 1}, {"k": 2}]]), &json!([[{"key": 1}, {"key": 2}]]), true);
    }

    #[test]
    fn names_that_come_and_go_do() {
        check(&json!([{"a": 1}, {"b": 1}]), &json!([{"a": 1}, {"b": 1}]), true);
        check(&json!([{"a": 1}, {"b": 1}]), &json!([{"A": 1}, {"B": 1}]), false);
    }

    #[test]
    fn who_throws_and_who_returns_are_not_the_same() {
        check(&json!(["!", 1]), &json!(["!", 1.0]), true);
        check(&json!(["!", 1]), &json!([null, 1]), false);
        check(&json!([[1, 2]]), &json!([[2, 1]]), false);
        check(&json!([1]), &json!(["1"]), false);
    }

    /// 60 equal results for each of the `odd` different ones, of inputs that are plain or not.
    fn check_odd(is_plain: bool, odd: usize, expect: bool) {
        let mut pairs = pairs(&json!(vec![1; 120]), &json!(vec![1; 120]));
        for pair in &mut pairs[..odd] {
            *pair = OutcomePair { right: ObservedOutcome::Returned(json!(2)), is_plain, ..pair.clone() };
        }
        assert_eq!(outcomes_agree(&pairs), expect);
    }

    #[test]
    fn few_results_may_differ_and_none_of_what_is_plain() {
        check_odd(false, 2, true);
        check_odd(false, 3, false);
        check_odd(true, 1, false);
    }
}
