//! Evaluation of names, parameters and list elements.
//!
//! Invariant: a name with several values is unknown, unless all but the first are appended to it.

use swc_atoms::Atom;
use swc_ecma_ast::{Expr, ExprOrSpread, Id, Ident};

use crate::semantics::bindings::{Binding, Bindings, CallSite, MAX_CALL_SITES, MAX_WITH_STATEMENTS, Origin, Param};
use crate::semantics::value::{Key, Root, Value};

impl<'a> Bindings<'a> {
    /// Returns the value of a name.
    pub(super) fn ident_value(&self, ident: &Ident) -> Value {
        if self.is_free(ident) {
            let before = self.with_scopes.partition_point(|(span, _)| span.lo <= ident.span.lo);
            let within = self.with_scopes[..before]
                .iter()
                .rev()
                .take(MAX_WITH_STATEMENTS)
                .find(|(span, _)| span.contains(ident.span));
            return match within.map(|(_, object)| self.value(object)) {
                Some(object) if object.is_known() => self.get(&object, &Value::name(&ident.sym)),
                _ => self.global(&ident.sym),
            };
        }
        let id = ident.to_id();
        if let Some(value) = self.frames.borrow().iter().rev().find_map(|frame| frame.names.get(&id)) {
            return value.clone();
        }
        let Some(binding) = self.by_id.get(&id) else { return Value::Unknown };
        if binding.writes > 0 && binding.appended.len() != binding.writes as usize {
            return Value::Unknown;
        }
        if (binding.appended.is_empty() && binding.pushed.is_empty()) || !self.frames.borrow().is_empty() {
            return self.binding_value(&id, binding);
        }
        // `s += s; s += s` evaluates itself twice in each step.
        if let Some(known) = self.resolved.borrow().get(&id) {
            return known.clone();
        }
        self.resolved.borrow_mut().insert(id.clone(), Value::Unknown);
        let value = self.binding_value(&id, binding);
        self.resolved.borrow_mut().insert(id, value.clone());
        value
    }

    /// Returns the value of a global, allocated once for each name.
    fn global(&self, name: &Atom) -> Value {
        if let Some(known) = self.globals.borrow().get(name) {
            return known.clone();
        }
        let value = Value::global(name);
        self.globals.borrow_mut().insert(name.clone(), value.clone());
        value
    }

    /// Returns the value of a declared name.
    fn binding_value(&self, id: &Id, binding: &Binding<'a>) -> Value {
        let first = match &binding.origin {
            None => return Value::Unknown,
            Some(Origin::Value(value)) => value.clone(),
            Some(Origin::Entity(expr)) => self.value(expr),
            Some(Origin::Param(param)) => self.param_value(id, param),
            Some(Origin::Element(list, keys)) => {
                keys.iter().fold(self.element_value(list), |value, key| self.get(&value, key))
            }
            Some(Origin::Expr(expr, keys, default)) => {
                let value = keys.iter().fold(self.value(expr), |value, key| self.get(&value, key));
                match default {
                    None => value,
                    Some(default) if value == Value::Undefined => self.value(default),
                    Some(default) => match self.value(default).external_or_unknown() {
                        Value::Unknown => value,
                        reached => reached,
                    },
                }
            }
        };
        let first = match first {
            Value::List(_) if binding.is_mutated => Value::Unknown,
            Value::List(list) if !binding.pushed.is_empty() => {
                Value::list(list.iter().cloned().chain(binding.pushed.iter().map(|more| self.value(more))).collect())
            }
            first => first,
        };
        binding.appended.iter().fold(first, |value, more| value.plus(&self.value(more)))
    }

    /// Returns the value of a parameter: the caller's value, unless the source determines it.
    fn param_value(&self, id: &Id, param: &Param<'a>) -> Value {
        let in_call = !self.frames.borrow().is_empty();
        if !in_call && let Some(known) = self.resolved.borrow().get(id) {
            return known.clone();
        }
        let from_caller = Value::path(Root::Params, param.path.clone());
        if in_call {
            return from_caller;
        }
        // While it is evaluated, it is the caller's value.
        self.resolved.borrow_mut().insert(id.clone(), from_caller.clone());
        let value = self.argument_value(param).unwrap_or(from_caller);
        self.resolved.borrow_mut().insert(id.clone(), value.clone());
        value
    }

    fn argument_value(&self, param: &Param<'a>) -> Option<Value> {
        if let Some(default) = param.default
            && let value @ Value::Path(_) = self.value(default).external_or_unknown()
        {
            return Some(value);
        }
        let given = self.call_sites.get(&param.function)?;
        for one in given.iter().take(MAX_CALL_SITES) {
            let value = match *one {
                CallSite::Args(args) => match args.get(param.index) {
                    Some(ExprOrSpread { spread: None, expr }) => self.value(expr),
                    _ => continue,
                },
                CallSite::Single(index, expr) if index == param.index => self.value(expr),
                CallSite::Element(index, list) if index == param.index => self.element_value(list),
                CallSite::Single(..) | CallSite::Element(..) => continue,
            };
            let value = param.path.iter().fold(value, |value, key| match key {
                Key::Name(name) => self.get(&value, &Value::name(name)),
                Key::Dynamic => Value::Unknown,
            });
            match &value {
                Value::Path(thing) if value.is_known() && thing.root != Root::Params => return Some(value),
                Value::Text(_) | Value::List(_) if given.len() == 1 => return Some(value),
                _ => {}
            }
        }
        None
    }

    /// Returns the value that stands for all elements of a list: its only element, or the first
    /// known one that is a global or a module.
    pub(super) fn element_value(&self, list: &Expr) -> Value {
        match self.value(list) {
            Value::List(list) => match &*list {
                [one] => one.clone(),
                list => list
                    .iter()
                    .map(|value| value.clone().external_or_unknown())
                    .find(Value::is_known)
                    .unwrap_or(Value::Unknown),
            },
            _ => Value::Unknown,
        }
    }
}
