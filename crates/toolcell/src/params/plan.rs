//! What is done to parameters before they are validated, worked out once for a schema.
//!
//! Invariant: a plan is a machine with one state for each value that is looked at, so following it takes time that grows
//! with the value alone, whatever refers to what. It never changes what a validator would accept into what it would not.
//!
//! References and `allOf` are followed. Of `anyOf` and `oneOf`, a branch is followed only where no other accepts the type
//! of the value: anything else would be a guess. Under `if`, `not`, `dependentSchemas` and `patternProperties` nothing is
//! filled in and nothing is coerced.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::error::SchemaError;
use super::survey::{Survey, escaped};
use super::types::Types;

/// How many schemas are looked at for all states together.
const WORK_LIMIT: usize = 200_000;

/// What is done to one value.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The types that pass; none stands for all.
    pub(super) accepts: Option<Types>,
    /// What stands for it where it is absent, with everything that is filled into that.
    pub(super) default: Option<Value>,
    /// The size of that, in bytes of JSON.
    pub(super) default_size: usize,
    /// The states of its properties, by name, in the order declared.
    pub(super) fields: Vec<(String, usize)>,
    /// Where each property stands among them.
    pub(super) names: HashMap<String, usize>,
    /// Those of them that have a default.
    pub(super) defaulted: Vec<usize>,
    /// The state of the properties that are not declared.
    pub(super) others: Option<usize>,
    /// The states of its first items.
    pub(super) first: Vec<usize>,
    /// The state of its other items.
    pub(super) items: Option<usize>,
}

/// Makes the states of a schema.
pub(super) struct Planner<'s, 'a> {
    survey: &'s Survey<'a>,
    accepts: Vec<Option<Types>>,
    known: HashMap<Vec<usize>, usize>,
    sets: Vec<Vec<usize>>,
    states: Vec<State>,
    work: usize,
}

impl<'s, 'a> Planner<'s, 'a> {
    pub(super) fn new(survey: &'s Survey<'a>) -> Self {
        let accepts = vec![None; survey.nodes.len()];
        Self { survey, accepts, known: HashMap::new(), sets: Vec::new(), states: Vec::new(), work: 0 }
    }

    /// The state of a value that this schema alone has to do with.
    pub(super) fn state(&mut self, id: usize) -> Result<usize, SchemaError> {
        let state = self.intern(vec![id]);
        self.complete()?;
        Ok(state)
    }

    /// The states that were worked out; no more are asked for.
    pub(super) fn take_states(&mut self) -> Vec<State> {
        std::mem::take(&mut self.states)
    }

    /// The schemas that describe a value, the nearest first.
    pub(super) fn behind(&mut self, state: usize) -> Vec<usize> {
        let set = self.sets[state].clone();
        self.closure(&set, Types::NONE)
    }

    /// The types that can pass a schema, as far as its keywords for types and values say.
    pub(super) fn accepts(&mut self, id: usize) -> Types {
        if let Some(known) = self.accepts[id] {
            return known;
        }
        // For a schema that leads back here: it adds nothing.
        self.accepts[id] = Some(Types::ALL);
        let survey = self.survey;
        let schema = survey.nodes[id].schema;
        let mut accepts = match schema {
            Value::Bool(false) => Types::NONE,
            _ => Types::declared(schema) & of_values(schema),
        };
        if let Some(target) = survey.nodes[id].target {
            accepts = accepts & self.accepts(target);
        }
        for all in self.each(id, "allOf") {
            accepts = accepts & self.accepts(all);
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches = self.each(id, keyword);
            if !branches.is_empty() {
                accepts = accepts & branches.iter().fold(Types::NONE, |any, branch| any | self.accepts(*branch));
            }
        }
        self.accepts[id] = Some(accepts);
        accepts
    }

    /// The schemas that a value of a type has to do with for certain.
    pub(super) fn closure(&mut self, set: &[usize], types: Types) -> Vec<usize> {
        let mut closure: Vec<usize> = Vec::new();
        let mut open: Vec<usize> = set.iter().rev().copied().collect();
        let mut seen = HashSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            closure.push(id);
            let mut next: Vec<usize> = self.survey.nodes[id].target.into_iter().collect();
            next.extend(self.each(id, "allOf"));
            for keyword in ["anyOf", "oneOf"] {
                let mut fitting = self.each(id, keyword);
                fitting.retain(|branch| self.accepts(*branch).meets(types));
                if let [only] = fitting[..] {
                    next.push(only);
                }
            }
            open.extend(next.into_iter().rev());
        }
        self.work += closure.len();
        closure
    }

    /// The schemas in a list under a keyword.
    pub(super) fn each(&self, id: usize, keyword: &str) -> Vec<usize> {
        let count = self.survey.nodes[id].schema.get(keyword).and_then(Value::as_array).map_or(0, Vec::len);
        (0..count).filter_map(|at| self.survey.under(id, &format!("/{keyword}/{at}"))).collect()
    }

    fn intern(&mut self, set: Vec<usize>) -> usize {
        if let Some(known) = self.known.get(&set) {
            return *known;
        }
        let id = self.sets.len();
        self.known.insert(set.clone(), id);
        self.sets.push(set);
        id
    }

    /// Works out the states that are known by name only.
    fn complete(&mut self) -> Result<(), SchemaError> {
        while self.states.len() < self.sets.len() {
            let set = self.sets[self.states.len()].clone();
            let accepts = set.iter().fold(Types::ALL, |all, id| all & self.accepts(*id));
            let certain = self.closure(&set, Types::NONE);
            let default = certain.iter().find_map(|id| self.survey.nodes[*id].schema.get("default")).cloned();
            let accepts = Some(accepts).filter(|types| *types != Types::ALL);
            let mut state = State { accepts, default, ..State::default() };
            self.fields(&set, &mut state);
            self.items(&set, &mut state);
            self.states.push(state);
            if self.work > WORK_LIMIT {
                let what = "its schemas overlap in too many ways".to_owned();
                return Err(SchemaError::Entangled { what });
            }
        }
        Ok(())
    }

    fn fields(&mut self, set: &[usize], state: &mut State) {
        let survey = self.survey;
        let closure = self.closure(set, Types::OBJECT);
        let declared = |id: &usize| survey.nodes[*id].schema.get("properties").and_then(Value::as_object);
        for name in closure.iter().filter_map(declared).flat_map(|properties| properties.keys()) {
            if state.names.contains_key(name) {
                continue;
            }
            state.names.insert(name.clone(), state.fields.len());
            let path = format!("/properties/{}", escaped(name));
            self.work += closure.len();
            if self.work > WORK_LIMIT {
                return;
            }
            let field = closure.iter().filter_map(|id| survey.under(*id, &path).or_else(|| others(survey, *id)));
            state.fields.push((name.clone(), self.intern(field.collect())));
        }
        let others: Vec<usize> = closure.iter().filter_map(|id| others(survey, *id)).collect();
        if !others.is_empty() {
            state.others = Some(self.intern(others));
        }
    }

    fn items(&mut self, set: &[usize], state: &mut State) {
        let survey = self.survey;
        let closure = self.closure(set, Types::ARRAY);
        let rest = |id: usize| {
            let listed = survey.nodes[id].schema.get("items").is_some_and(Value::is_array);
            survey.under(id, if listed { "/additionalItems" } else { "/items" })
        };
        // `prefixItems` was the list form of `items` before draft 2020-12.
        let listed = |id: usize, at: usize| {
            let at = [format!("/prefixItems/{at}"), format!("/items/{at}")];
            at.iter().find_map(|path| survey.under(id, path))
        };
        for at in 0.. {
            if !closure.iter().any(|id| listed(*id, at).is_some()) {
                break;
            }
            let item = closure.iter().filter_map(|id| listed(*id, at).or_else(|| rest(*id)));
            state.first.push(self.intern(item.collect()));
        }
        let items: Vec<usize> = closure.iter().filter_map(|id| rest(*id)).collect();
        if !items.is_empty() {
            state.items = Some(self.intern(items));
        }
    }
}

/// The schema of the properties that a schema does not declare, if it says nothing by patterns.
fn others(survey: &Survey<'_>, id: usize) -> Option<usize> {
    let patterns = survey.nodes[id].schema.get("patternProperties").is_some();
    survey.under(id, "/additionalProperties").filter(|_| !patterns)
}

/// The types of the values that a schema lists.
fn of_values(schema: &Value) -> Types {
    let each = |values: &[Value]| values.iter().fold(Types::NONE, |any, value| any | Types::of(value));
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => each(values),
        (_, Some(value)) => Types::of(value),
        _ => Types::ALL,
    }
}
