//! Fills in defaults and coerces scalars, by a coercion plan.
//!
//! Invariant: the operation is idempotent.

use serde_json::Value;

use super::coerce;
use super::coercion_plan::PlanState;

/// The maximum size of filled-in defaults in bytes of JSON: every item of a long list may have a
/// default.
pub(super) const MAX_FILLED_BYTES: usize = 4 << 20;
/// The maximum nesting of defaults in defaults.
const MAX_DEFAULT_DEPTH: usize = 32;

/// The coercion mode of scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coercion {
    Lossless,
    /// For the schema's own defaults.
    None,
}

/// The filled-in defaults exceed the limit.
#[derive(Debug)]
pub(super) struct FillTooLarge;

/// The pass over one value.
pub(super) struct DefaultFiller<'p> {
    states: &'p [PlanState],
    coercion: Coercion,
    bytes_left: usize,
    depth: usize,
    changed: bool,
}

impl<'p> DefaultFiller<'p> {
    pub(super) fn new(states: &'p [PlanState], coercion: Coercion) -> Self {
        Self { states, coercion, bytes_left: MAX_FILLED_BYTES, depth: 0, changed: false }
    }

    /// Returns whether anything was changed.
    pub(super) fn has_changed(&self) -> bool {
        self.changed
    }

    /// Applies a state of the plan to a value.
    pub(super) fn fill_value(&mut self, value: &mut Value, state: usize) -> Result<(), FillTooLarge> {
        let state = &self.states[state];
        match value {
            Value::Object(_) | Value::Array(_) => self.fill_parts(value, state),
            scalar => {
                if let Some(accepts) = state.accepts
                    && self.coercion == Coercion::Lossless
                    && let Some(coerced) = coerce::coerce(scalar, accepts)
                {
                    *scalar = coerced;
                    self.changed = true;
                }
                Ok(())
            }
        }
    }

    fn fill_parts(&mut self, value: &mut Value, state: &'p PlanState) -> Result<(), FillTooLarge> {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields.iter_mut() {
                    let declared = state.names.get(name).map(|at| state.fields[*at].1);
                    if let Some(field) = declared.or(state.additional) {
                        self.fill_value(value, field)?;
                    }
                }
                for at in &state.defaulted {
                    let (name, field) = &state.fields[*at];
                    if !fields.contains_key(name)
                        && let Some(default) = self.fill_default(*field)?
                    {
                        // The name, two quotes, a colon and a comma.
                        self.bytes_left = self.bytes_left.checked_sub(name.len() + 4).ok_or(FillTooLarge)?;
                        fields.insert(name.clone(), default);
                    }
                }
            }
            Value::Array(items) => {
                let first = items.len().min(state.prefix_items.len());
                let (first, rest) = items.split_at_mut(first);
                first
                    .iter_mut()
                    .zip(&state.prefix_items)
                    .try_for_each(|(item, state)| self.fill_value(item, *state))?;
                if let Some(state) = state.items {
                    rest.iter_mut().try_for_each(|item| self.fill_value(item, state))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the default of an absent value, with its own defaults filled in.
    fn fill_default(&mut self, state: usize) -> Result<Option<Value>, FillTooLarge> {
        let Some(default) = &self.states[state].default else { return Ok(None) };
        self.bytes_left = self.bytes_left.checked_sub(self.states[state].default_size).ok_or(FillTooLarge)?;
        if self.depth == MAX_DEFAULT_DEPTH {
            return Err(FillTooLarge);
        }
        let mut default = default.clone();
        self.depth += 1;
        self.fill_value(&mut default, state)?;
        self.depth -= 1;
        self.changed = true;
        Ok(Some(default))
    }
}
