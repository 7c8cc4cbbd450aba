//! The coercion plan: the defaults and coercions of parameters before validation, computed once per
//! schema.
//!
//! Invariant: a plan is a state machine with one state for each visited value, so following it
//! takes time that grows only with the value, whatever the references. It never turns a valid value
//! into an invalid one.
//!
//! References and `allOf` are followed. A branch of `anyOf` or `oneOf` is followed only if no other
//! branch accepts the type of the value: anything else would be a guess. Under `if`, `not`,
//! `dependentSchemas` and `patternProperties`, no default is filled in and nothing is coerced.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use toolcell_i18n::message;

use super::error::SchemaError;
use super::subschemas::{Subschemas, escape_pointer_step};
use super::types::Types;

/// The maximum number of schemas visited for all states together.
const MAX_PLAN_WORK: usize = 200_000;

/// The state of one value.
#[derive(Debug, Default)]
pub(super) struct PlanState {
    /// The accepted types; `None` for all.
    pub(super) accepts: Option<Types>,
    /// The default value, with all its own defaults filled in.
    pub(super) default: Option<Value>,
    /// The size of the default in bytes of JSON.
    pub(super) default_size: usize,
    /// The states of the properties, by name, in the order declared.
    pub(super) fields: Vec<(String, usize)>,
    /// The index of each property in `fields`.
    pub(super) names: HashMap<String, usize>,
    /// The indices of the properties with a default.
    pub(super) defaulted: Vec<usize>,
    /// The state of undeclared properties.
    pub(super) additional: Option<usize>,
    /// The states of the prefix items.
    pub(super) prefix_items: Vec<usize>,
    /// The state of the other items.
    pub(super) items: Option<usize>,
}

/// The builder of a coercion plan.
pub(super) struct Planner<'s, 'a> {
    survey: &'s Subschemas<'a>,
    accepts: Vec<Option<Types>>,
    known: HashMap<Vec<usize>, usize>,
    sets: Vec<Vec<usize>>,
    states: Vec<PlanState>,
    work: usize,
}

impl<'s, 'a> Planner<'s, 'a> {
    pub(super) fn new(survey: &'s Subschemas<'a>) -> Self {
        let accepts = vec![None; survey.nodes.len()];
        Self { survey, accepts, known: HashMap::new(), sets: Vec::new(), states: Vec::new(), work: 0 }
    }

    /// Returns the state of a value that only this schema describes.
    pub(super) fn state(&mut self, id: usize) -> Result<usize, SchemaError> {
        let state = self.intern(vec![id]);
        self.complete_states()?;
        Ok(state)
    }

    /// Takes the states; afterwards none may be requested.
    pub(super) fn take_states(&mut self) -> Vec<PlanState> {
        std::mem::take(&mut self.states)
    }

    /// Returns the schemas that describe a value, the nearest first.
    pub(super) fn schemas_of(&mut self, state: usize) -> Vec<usize> {
        let set = self.sets[state].clone();
        self.closure(&set, Types::NONE)
    }

    /// Returns the types that a schema can accept, judged by its type and value keywords.
    pub(super) fn accepts(&mut self, id: usize) -> Types {
        if let Some(known) = self.accepts[id] {
            return known;
        }
        // For a recursive reference, which adds nothing.
        self.accepts[id] = Some(Types::ALL);
        let survey = self.survey;
        let schema = survey.nodes[id].schema;
        let mut accepts = match schema {
            Value::Bool(false) => Types::NONE,
            _ => Types::from_schema(schema) & types_of_values(schema),
        };
        if let Some(target) = survey.nodes[id].target {
            accepts = accepts & self.accepts(target);
        }
        for all in self.list_items(id, "allOf") {
            accepts = accepts & self.accepts(all);
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches = self.list_items(id, keyword);
            if !branches.is_empty() {
                accepts = accepts & branches.iter().fold(Types::NONE, |any, branch| any | self.accepts(*branch));
            }
        }
        self.accepts[id] = Some(accepts);
        accepts
    }

    /// Returns the schemas that certainly apply to a value of a type.
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
            next.extend(self.list_items(id, "allOf"));
            for keyword in ["anyOf", "oneOf"] {
                let mut fitting = self.list_items(id, keyword);
                fitting.retain(|branch| self.accepts(*branch).intersects(types));
                if let [only] = fitting[..] {
                    next.push(only);
                }
            }
            open.extend(next.into_iter().rev());
        }
        self.work += closure.len();
        closure
    }

    /// Returns the schemas in the array of a keyword.
    pub(super) fn list_items(&self, id: usize, keyword: &str) -> Vec<usize> {
        let count = self.survey.nodes[id].schema.get(keyword).and_then(Value::as_array).map_or(0, Vec::len);
        (0..count).filter_map(|at| self.survey.child_at(id, &format!("/{keyword}/{at}"))).collect()
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

    /// Computes the interned but incomplete states.
    fn complete_states(&mut self) -> Result<(), SchemaError> {
        while self.states.len() < self.sets.len() {
            let set = self.sets[self.states.len()].clone();
            let accepts = set.iter().fold(Types::ALL, |all, id| all & self.accepts(*id));
            let certain = self.closure(&set, Types::NONE);
            let default = certain.iter().find_map(|id| self.survey.nodes[*id].schema.get("default")).cloned();
            let accepts = Some(accepts).filter(|types| *types != Types::ALL);
            let mut state = PlanState { accepts, default, ..PlanState::default() };
            self.fields(&set, &mut state);
            self.items(&set, &mut state);
            self.states.push(state);
            if self.work > MAX_PLAN_WORK {
                let what = message!("its schemas overlap in too many ways");
                return Err(SchemaError::TooComplex { what });
            }
        }
        Ok(())
    }

    fn fields(&mut self, set: &[usize], state: &mut PlanState) {
        let survey = self.survey;
        let closure = self.closure(set, Types::OBJECT);
        let declared = |id: &usize| survey.nodes[*id].schema.get("properties").and_then(Value::as_object);
        for name in closure.iter().filter_map(declared).flat_map(|properties| properties.keys()) {
            if state.names.contains_key(name) {
                continue;
            }
            state.names.insert(name.clone(), state.fields.len());
            let path = format!("/properties/{}", escape_pointer_step(name));
            self.work += closure.len();
            if self.work > MAX_PLAN_WORK {
                return;
            }
            let field = closure
                .iter()
                .filter_map(|id| survey.child_at(*id, &path).or_else(|| additional_properties(survey, *id)));
            state.fields.push((name.clone(), self.intern(field.collect())));
        }
        let others: Vec<usize> = closure.iter().filter_map(|id| additional_properties(survey, *id)).collect();
        if !others.is_empty() {
            state.additional = Some(self.intern(others));
        }
    }

    fn items(&mut self, set: &[usize], state: &mut PlanState) {
        let survey = self.survey;
        let closure = self.closure(set, Types::ARRAY);
        let rest = |id: usize| {
            let listed = survey.nodes[id].schema.get("items").is_some_and(Value::is_array);
            survey.child_at(id, if listed { "/additionalItems" } else { "/items" })
        };
        // `prefixItems` was the array form of `items` before draft 2020-12.
        let listed = |id: usize, at: usize| {
            let at = [format!("/prefixItems/{at}"), format!("/items/{at}")];
            at.iter().find_map(|path| survey.child_at(id, path))
        };
        for at in 0.. {
            if !closure.iter().any(|id| listed(*id, at).is_some()) {
                break;
            }
            let item = closure.iter().filter_map(|id| listed(*id, at).or_else(|| rest(*id)));
            state.prefix_items.push(self.intern(item.collect()));
        }
        let items: Vec<usize> = closure.iter().filter_map(|id| rest(*id)).collect();
        if !items.is_empty() {
            state.items = Some(self.intern(items));
        }
    }
}

/// Returns the schema of undeclared properties, if there are no `patternProperties`.
fn additional_properties(survey: &Subschemas<'_>, id: usize) -> Option<usize> {
    let patterns = survey.nodes[id].schema.get("patternProperties").is_some();
    survey.child_at(id, "/additionalProperties").filter(|_| !patterns)
}

/// Returns the types of the values that a schema lists.
fn types_of_values(schema: &Value) -> Types {
    let each = |values: &[Value]| values.iter().fold(Types::NONE, |any, value| any | Types::from_value(value));
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => each(values),
        (_, Some(value)) => Types::from_value(value),
        _ => Types::ALL,
    }
}
