//! Whether lists of answers are the same, but for what fields are called.
//!
//! Invariant: a field may have another name only if it has that name in every result. Names that come from the input, as where
//! things are grouped, are part of the answer.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolcell_tool::canonical;

use super::sense::{is_full, is_plain};

/// What a tool did with an input.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// It returned this.
    Returned(Value),
    /// It threw something.
    Threw,
}

/// What two tools did with the same input.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) one: Answer,
    pub(super) other: Answer,
    /// Whether nobody would wonder about the input.
    pub(super) is_plain: bool,
    /// Whether the tools had something to do.
    pub(super) is_full: bool,
}

impl Pair {
    pub(super) fn new(input: &Value, one: Answer, other: Answer) -> Self {
        Self { one, other, is_plain: is_plain(input), is_full: is_full(input) }
    }

    /// What the second tool did, and the first.
    pub(super) fn turned(self) -> Self {
        Self { one: self.other, other: self.one, ..self }
    }

    fn results(&self) -> Option<(&Value, &Value)> {
        match (&self.one, &self.other) {
            (Answer::Returned(one), Answer::Returned(other)) => Some((one, other)),
            _ => None,
        }
    }
}

/// So many of a hundred inputs may be taken by one tool and refused by the other: of what makes no sense, two tools that do
/// the same need not say the same.
const REFUSED: usize = 3;
/// One of so many inputs may have another result, if somebody would wonder about the input.
const ODD: usize = 60;

/// Whether the answers are the same: all results of plain inputs, nearly all of other ones, and all but a few refusals.
pub(super) fn agree(pairs: &[Pair]) -> bool {
    let refused =
        pairs.iter().filter(|pair| matches!(pair.one, Answer::Threw) != matches!(pair.other, Answer::Threw)).count();
    if refused * 100 > pairs.len() * REFUSED {
        return false;
    }
    let results = |is_plain: bool| {
        pairs.iter().filter(move |pair| pair.is_plain == is_plain).filter_map(Pair::results).collect::<Vec<_>>()
    };
    let mut agreed = results(true);
    same_pairs(&agreed) && odd(&mut agreed, &results(false), pairs.len() / ODD).is_some()
}

/// How many of these are unlike what was agreed on before, if no more than `most`.
fn odd<'v>(agreed: &mut Vec<(&'v Value, &'v Value)>, rest: &[(&'v Value, &'v Value)], most: usize) -> Option<usize> {
    let known = agreed.len();
    agreed.extend(rest);
    if same_pairs(agreed) {
        return Some(0);
    }
    agreed.truncate(known);
    if rest.len() < 2 {
        return (most > 0).then_some(1);
    }
    let (first, then) = rest.split_at(rest.len() / 2);
    let found = odd(agreed, first, most)?;
    Some(found + odd(agreed, then, most - found)?)
}

fn same_pairs(pairs: &[(&Value, &Value)]) -> bool {
    let (ones, others): (Vec<&Value>, Vec<&Value>) = pairs.iter().copied().unzip();
    same(&ones, &others)
}

/// Whether two columns of values are the same.
fn same(ones: &[&Value], others: &[&Value]) -> bool {
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
            (one, other) if canonical(one) == canonical(other) => {}
            _ => return false,
        }
    }
    (lists.0.is_empty() || same(&lists.0, &lists.1)) && (objects.0.is_empty() || same_objects(&objects.0, &objects.1))
}

fn same_objects(ones: &[&Map<String, Value>], others: &[&Map<String, Value>]) -> bool {
    let (fixed, called) = (always(ones), always(others));
    // Fields that are always there and have the same name, and those that come and go, have to be the same by name.
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
        if !same(&column, &other) {
            return false;
        }
    }
    while let Some(name) = renamed.pop() {
        let column: Vec<&Value> = ones.iter().filter_map(|object| object.get(name)).collect();
        let fits = |called: &&String| {
            let other: Vec<&Value> = others.iter().filter_map(|object| object.get(*called)).collect();
            same(&column, &other)
        };
        let Some(at) = free.iter().position(fits) else { return false };
        free.swap_remove(at);
    }
    free.is_empty()
}

/// The names of fields that every one of these has.
fn always<'a>(objects: &[&'a Map<String, Value>]) -> BTreeSet<&'a String> {
    let mut names: BTreeSet<&String> = objects.first().into_iter().flat_map(|object| object.keys()).collect();
    names.retain(|name| objects.iter().all(|object| object.contains_key(*name)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pairs(ones: &Value, others: &Value) -> Vec<Pair> {
        let answer = |value: &Value| if *value == json!("!") { Answer::Threw } else { Answer::Returned(value.clone()) };
        let pair = |(one, other)| Pair::new(&json!(1), answer(one), answer(other));
        ones.as_array().unwrap().iter().zip(others.as_array().unwrap()).map(pair).collect()
    }

    fn check(ones: &Value, others: &Value, expect: bool) {
        assert_eq!(agree(&pairs(ones, others)), expect);
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

    /// 60 results that are the same for each `odd` one that is not, of inputs that are plain or not.
    fn check_odd(is_plain: bool, odd: usize, expect: bool) {
        let mut pairs = pairs(&json!(vec![1; 120]), &json!(vec![1; 120]));
        for pair in &mut pairs[..odd] {
            *pair = Pair { other: Answer::Returned(json!(2)), is_plain, ..pair.clone() };
        }
        assert_eq!(agree(&pairs), expect);
    }

    #[test]
    fn few_results_may_differ_and_none_of_what_is_plain() {
        check_odd(false, 2, true);
        check_odd(false, 3, false);
        check_odd(true, 1, false);
    }
}
