//! Evaluation of built-in methods and functions that take callbacks, and of methods of the source's
//! own objects.

use std::rc::Rc;

use swc_ecma_ast::{Expr, ExprOrSpread, MemberExpr};

use crate::semantics::bindings::Bindings;
use crate::semantics::fold;
use crate::semantics::value::{Allocation, Key, Root, Value, append_key};
use crate::syntax::expr::peel_parens;

/// The maximum number of list elements that are passed to a callback.
const MAX_CALLBACK_ELEMENTS: usize = 2000;

impl Bindings<'_> {
    /// Evaluates `object.name(args)`; `None` if nothing is known of it.
    pub(super) fn eval_method_call(&self, member: &MemberExpr, name: &str, args: &[ExprOrSpread]) -> Option<Value> {
        let object = self.value(&member.obj);
        if let Some(known) = object.as_allocation() {
            match known {
                Allocation::Function(function) => match name {
                    "call" => {
                        let args = self.args(args);
                        return Some(self.call(*function, args.first(), args.get(1..).unwrap_or_default()));
                    }
                    "apply" => {
                        let args = self.args(args);
                        let Some(Value::List(list)) = args.get(1) else { return None };
                        return Some(self.call(*function, args.first(), list));
                    }
                    "bind" => return Some(object),
                    _ => {}
                },
                Allocation::Builtin(class) => {
                    if let Some(value) = eval_builtin_method(class, name, &self.args(args)) {
                        return Some(value);
                    }
                }
                _ => {}
            }
            let method = self.get(&object, &Value::text(name));
            if let Some(Allocation::Function(function)) = method.as_allocation() {
                return Some(self.call(*function, Some(&object), &self.args(args)));
            }
            // The entries of a `Map` are stored as properties.
            if let (Allocation::Evaluated(_), "get", [key]) = (known, name, self.args(args).as_slice()) {
                return Some(self.get(&object, key)).filter(Value::is_known);
            }
        }
        if name == "then" {
            // A promise has the value that it resolves to.
            let given = [object];
            let called = args.first().map(|arg| self.value(&arg.expr))?;
            let Some(Allocation::Function(function)) = called.as_allocation() else { return None };
            return Some(self.call(*function, None, &given));
        }
        let worth = match &object {
            Value::List(_) | Value::Text(_) | Value::Number(_) | Value::Pattern(..) => true,
            Value::Path(thing) => thing.root == Root::Global || name == "bind",
            _ => false,
        };
        if !worth {
            return None;
        }
        let values = self.args(args);
        if let Value::List(list) = &object {
            if let Some(Allocation::Function(function)) = values.first().and_then(Value::as_allocation) {
                return self.eval_callback_method(list, name, *function, &values);
            }
            if let Some(value) = self.eval_mutating_method(member, list, name, &values) {
                return Some(value);
            }
        }
        if let (Value::Text(text), "replace" | "replaceAll", [Value::Pattern(pattern, flags), by]) =
            (&object, name, values.as_slice())
            && let Some(Allocation::Function(function)) = by.as_allocation()
        {
            return fold::replace_with(text, pattern, flags, &mut |groups| {
                self.call(*function, None, groups).to_js_string()
            })
            .map(|text| Value::text(&text));
        }
        fold::method(&object, name, &values)
    }

    /// Evaluates a list method that calls back with its elements.
    fn eval_callback_method(&self, list: &Rc<[Value]>, name: &str, function: u32, args: &[Value]) -> Option<Value> {
        if list.len() > MAX_CALLBACK_ELEMENTS {
            return None;
        }
        let number = |index: usize| Value::Number(f64::from(u32::try_from(index).unwrap_or(u32::MAX)));
        let each = |index: usize| {
            self.call(function, None, &[list[index].clone(), number(index), Value::List(Rc::clone(list))])
        };
        let indices = 0..list.len();
        Some(match name {
            "map" => Value::List(indices.map(each).collect()),
            "flatMap" => {
                let mut flat = Vec::new();
                for index in indices {
                    match each(index) {
                        Value::List(more) => flat.extend(more.iter().cloned()),
                        value => flat.push(value),
                    }
                }
                Value::list(flat)
            }
            "forEach" => {
                indices.for_each(|index| drop(each(index)));
                Value::Undefined
            }
            "filter" => {
                let mut kept = Vec::new();
                for index in indices {
                    if each(index).to_boolean()? {
                        kept.push(list[index].clone());
                    }
                }
                Value::List(kept.into())
            }
            "find" => {
                for index in indices {
                    match each(index).to_boolean() {
                        Some(true) => return Some(list[index].clone()),
                        Some(false) => {}
                        None => return None,
                    }
                }
                Value::Undefined
            }
            "reduce" | "reduceRight" => {
                let mut order: Vec<usize> = indices.collect();
                if name == "reduceRight" {
                    order.reverse();
                }
                let mut order = order.into_iter();
                let first = match args.get(1) {
                    Some(first) => first.clone(),
                    None => list[order.next()?].clone(),
                };
                order
                    .fold(first, |value, index| self.call(function, None, &[value, list[index].clone(), number(index)]))
            }
            _ => return None,
        })
    }

    /// Evaluates a mutating list method inside of a call.
    fn eval_mutating_method(
        &self,
        member: &MemberExpr,
        list: &Rc<[Value]>,
        name: &str,
        args: &[Value],
    ) -> Option<Value> {
        let Expr::Ident(ident) = peel_parens(&member.obj) else { return None };
        if self.frames.borrow().is_empty() || list.len() > MAX_CALLBACK_ELEMENTS {
            return None;
        }
        let (changed, value) = match name {
            "push" => (list.iter().chain(args).cloned().collect::<Vec<_>>(), Value::Undefined),
            "unshift" => (args.iter().chain(&**list).cloned().collect(), Value::Undefined),
            "pop" => {
                let (popped, before) = list.split_last()?;
                (before.to_vec(), popped.clone())
            }
            "shift" => {
                let (first, behind) = list.split_first()?;
                (behind.to_vec(), first.clone())
            }
            "reverse" => {
                let reversed: Vec<Value> = list.iter().rev().cloned().collect();
                (reversed.clone(), Value::List(reversed.into()))
            }
            "splice" | "sort" | "fill" | "copyWithin" => {
                self.assign(&ident.to_id(), Value::Unknown);
                return Some(Value::Unknown);
            }
            _ => return None,
        };
        self.assign(&ident.to_id(), Value::list(changed));
        Some(value)
    }

    /// Evaluates a call of a global function.
    pub(super) fn eval_global_call(&self, names: &[&str], args: &[Value]) -> Option<Value> {
        match (names, args) {
            (["Array", "from"], [list, by]) => {
                let Some(Allocation::Function(function)) = by.as_allocation() else { return None };
                let list = match list {
                    Value::List(list) => Rc::clone(list),
                    Value::Text(text) => text.chars().map(|letter| Value::text(&letter.to_string())).collect(),
                    object => {
                        let length = self
                            .get(object, &Value::text("length"))
                            .as_number()
                            .and_then(crate::semantics::value::as_index)?;
                        vec![Value::Undefined; Some(length).filter(|length| *length <= MAX_CALLBACK_ELEMENTS)?].into()
                    }
                };
                self.eval_callback_method(&list, "map", *function, args)
            }
            (["Object", "entries" | "keys" | "values"], [object]) => self.eval_object_listing(names[1], object),
            (["Object", "assign"], [first, rest @ ..]) => {
                let Some(mut props) = self.entries(first) else { return Some(first.clone()) };
                for more in rest {
                    props.extend(self.entries(more).unwrap_or_default());
                }
                Some(Value::from_props(props))
            }
            (["Reflect", "get"], [object, key, ..]) => Some(self.get(object, key)),
            (["Object" | "Reflect", "getOwnPropertyDescriptor"], [object, key, ..]) => {
                Some(Value::from_props(vec![("value".into(), self.get(object, key))]))
            }
            (["Reflect", "apply"], [function, this, Value::List(list)]) => {
                let Some(Allocation::Function(function)) = function.as_allocation() else { return None };
                Some(self.call(*function, Some(this), list))
            }
            _ => fold::global_call(names, args),
        }
    }

    /// Evaluates `Object.entries`, `keys` and `values`. Of the global object and of modules, the
    /// result stands for any member.
    fn eval_object_listing(&self, name: &str, object: &Value) -> Option<Value> {
        let pair = |name: Value, value: Value| Value::List([name, value].into());
        if let Some(entries) = self.entries(object) {
            let list = entries.into_iter().map(|(key, value)| match name {
                "keys" => Value::text(&key),
                "values" => value,
                _ => pair(Value::text(&key), value),
            });
            return Some(Value::List(list.collect()));
        }
        if let Value::List(list) = object
            && name == "values"
        {
            return Some(Value::List(Rc::clone(list)));
        }
        let thing = object.as_path()?;
        if !matches!(thing.root, Root::Global | Root::Module(_)) || name == "keys" {
            return None;
        }
        let any = Value::path(thing.root.clone(), append_key(&thing.keys, Key::Dynamic));
        Some(Value::List([if name == "values" { any } else { pair(Value::Unknown, any) }].into()))
    }
}

/// Evaluates methods of built-in class instances.
fn eval_builtin_method(class: &str, name: &str, args: &[Value]) -> Option<Value> {
    match (class, name, args) {
        ("TextDecoder", "decode", [Value::List(bytes)]) => fold::utf8_to_text(bytes),
        ("TextEncoder", "encode", [Value::Text(text)]) => {
            Some(Value::List(text.bytes().map(|byte| Value::Number(f64::from(byte))).collect()))
        }
        _ => None,
    }
}
