//! Fills in what is absent and coerces what is of another type, by a plan.
//!
//! Invariant: what is filled in and coerced once is left alone the next time.

use serde_json::Value;

use super::plan::State;
use super::scalar;

/// How much is filled in at most, in bytes of JSON: a default may stand in each item of a long list.
pub(super) const FILL_LIMIT: usize = 4 << 20;
/// How deep defaults are filled into defaults.
const DEPTH_LIMIT: usize = 32;

/// Whether scalars become what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coercion {
    Lossless,
    /// For what the author of a schema wrote.
    None,
}

/// There is more to fill in than is filled in.
#[derive(Debug)]
pub(super) struct TooMuch;

/// The way through one value.
pub(super) struct Fill<'p> {
    states: &'p [State],
    coercion: Coercion,
    room: usize,
    depth: usize,
    changed: bool,
}

impl<'p> Fill<'p> {
    pub(super) fn new(states: &'p [State], coercion: Coercion) -> Self {
        Self { states, coercion, room: FILL_LIMIT, depth: 0, changed: false }
    }

    /// Whether anything is another than it was.
    pub(super) fn changed(&self) -> bool {
        self.changed
    }

    /// Makes of a value what its state says.
    pub(super) fn value(&mut self, value: &mut Value, state: usize) -> Result<(), TooMuch> {
        let state = &self.states[state];
        match value {
            Value::Object(_) | Value::Array(_) => self.parts(value, state),
            scalar => {
                if let Some(accepts) = state.accepts
                    && self.coercion == Coercion::Lossless
                    && let Some(coerced) = scalar::coerced(scalar, accepts)
                {
                    *scalar = coerced;
                    self.changed = true;
                }
                Ok(())
            }
        }
    }

    fn parts(&mut self, value: &mut Value, state: &'p State) -> Result<(), TooMuch> {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    let declared = state.names.get(name).map(|at| state.fields[*at].1);
                    if let Some(field) = declared.or(state.others) {
                        self.value(value, field)?;
                    }
                }
                for at in &state.defaulted {
                    let (name, field) = &state.fields[*at];
                    if !fields.contains_key(name)
                        && let Some(default) = self.default(*field)?
                    {
                        // With its name, quotes, a colon and a comma.
                        self.room = self.room.checked_sub(name.len() + 4).ok_or(TooMuch)?;
                        fields.insert(name.clone(), default);
                    }
                }
            }
            Value::Array(items) => {
                let first = items.len().min(state.first.len());
                let (first, rest) = items.split_at_mut(first);
                first.iter_mut().zip(&state.first).try_for_each(|(item, state)| self.value(item, *state))?;
                if let Some(state) = state.items {
                    rest.iter_mut().try_for_each(|item| self.value(item, state))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What stands for an absent value, with what is filled into it.
    fn default(&mut self, state: usize) -> Result<Option<Value>, TooMuch> {
        let Some(default) = &self.states[state].default else { return Ok(None) };
        self.room = self.room.checked_sub(self.states[state].default_size).ok_or(TooMuch)?;
        if self.depth == DEPTH_LIMIT {
            return Err(TooMuch);
        }
        let mut default = default.clone();
        self.depth += 1;
        self.value(&mut default, state)?;
        self.depth -= 1;
        self.changed = true;
        Ok(Some(default))
    }
}
