//! Methods and functions of the language that call back, or whose object the source makes.

use std::rc::Rc;

use swc_ecma_ast::{Expr, ExprOrSpread, MemberExpr};

use super::{Names, bare};
use crate::fold;
use crate::value::{Key, Known, Root, Value, below};

/// How many members of a list are handed to a function.
const MEMBERS: usize = 2000;

impl Names<'_> {
    /// `object.name(args)`; `None` where nothing is known of it.
    pub(super) fn method(&self, member: &MemberExpr, name: &str, args: &[ExprOrSpread]) -> Option<Value> {
        let object = self.value(&member.obj);
        if let Some(known) = object.as_known() {
            match known {
                Known::Function(function) => match name {
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
                Known::Builtin(class) => {
                    if let Some(value) = builtin(class, name, &self.args(args)) {
                        return Some(value);
                    }
                }
                _ => {}
            }
            let method = self.get(&object, &Value::text(name));
            if let Some(Known::Function(function)) = method.as_known() {
                return Some(self.call(*function, Some(&object), &self.args(args)));
            }
            // What was made of a `Map` is asked for by its keys.
            if let (Known::Made(_), "get", [key]) = (known, name, self.args(args).as_slice()) {
                return Some(self.get(&object, key)).filter(Value::is_known);
            }
        }
        if name == "then" {
            // What a promise gives is what stands for the promise.
            let given = [object];
            let called = args.first().map(|arg| self.value(&arg.expr))?;
            let Some(Known::Function(function)) = called.as_known() else { return None };
            return Some(self.call(*function, None, &given));
        }
        let worth = match &object {
            Value::List(_) | Value::Text(_) | Value::Number(_) | Value::Pattern(..) => true,
            Value::Thing(thing) => thing.root == Root::Global || name == "bind",
            _ => false,
        };
        if !worth {
            return None;
        }
        let values = self.args(args);
        if let Value::List(list) = &object {
            if let Some(Known::Function(function)) = values.first().and_then(Value::as_known) {
                return self.called_back(list, name, *function, &values);
            }
            if let Some(value) = self.changed(member, list, name, &values) {
                return Some(value);
            }
        }
        if let (Value::Text(text), "replace" | "replaceAll", [Value::Pattern(pattern, flags), by]) =
            (&object, name, values.as_slice())
            && let Some(Known::Function(function)) = by.as_known()
        {
            return fold::replaced_by(text, pattern, flags, &mut |groups| self.call(*function, None, groups).string())
                .map(|text| Value::text(&text));
        }
        fold::method(&object, name, &values)
    }

    /// A list's method that hands its members to a function.
    fn called_back(&self, list: &Rc<[Value]>, name: &str, function: u32, args: &[Value]) -> Option<Value> {
        if list.len() > MEMBERS {
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
                    if each(index).truth()? {
                        kept.push(list[index].clone());
                    }
                }
                Value::List(kept.into())
            }
            "find" => {
                for index in indices {
                    match each(index).truth() {
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

    /// A list's method that changes it, in a call that is worked out.
    fn changed(&self, member: &MemberExpr, list: &Rc<[Value]>, name: &str, args: &[Value]) -> Option<Value> {
        let Expr::Ident(ident) = bare(&member.obj) else { return None };
        if self.frames.borrow().is_empty() || list.len() > MEMBERS {
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

    /// A call of a global function.
    pub(super) fn global_call(&self, names: &[&str], args: &[Value]) -> Option<Value> {
        match (names, args) {
            (["Array", "from"], [list, by]) => {
                let Some(Known::Function(function)) = by.as_known() else { return None };
                let list = match list {
                    Value::List(list) => Rc::clone(list),
                    Value::Text(text) => text.chars().map(|letter| Value::text(&letter.to_string())).collect(),
                    object => {
                        let length =
                            self.get(object, &Value::text("length")).as_number().and_then(crate::value::whole)?;
                        vec![Value::Undefined; Some(length).filter(|length| *length <= MEMBERS)?].into()
                    }
                };
                self.called_back(&list, "map", *function, args)
            }
            (["Object", "entries" | "keys" | "values"], [object]) => self.listed(names[1], object),
            (["Object", "assign"], [first, rest @ ..]) => {
                let Some(mut props) = self.entries(first) else { return Some(first.clone()) };
                for more in rest {
                    props.extend(self.entries(more).unwrap_or_default());
                }
                Some(Value::made(props))
            }
            (["Reflect", "get"], [object, key, ..]) => Some(self.get(object, key)),
            (["Object" | "Reflect", "getOwnPropertyDescriptor"], [object, key, ..]) => {
                Some(Value::made(vec![("value".into(), self.get(object, key))]))
            }
            (["Reflect", "apply"], [function, this, Value::List(list)]) => {
                let Some(Known::Function(function)) = function.as_known() else { return None };
                Some(self.call(*function, Some(this), list))
            }
            _ => fold::global_call(names, args),
        }
    }

    /// `Object.entries` and its like. Of the global object and of modules, each member may be any.
    fn listed(&self, name: &str, object: &Value) -> Option<Value> {
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
        let thing = object.as_thing()?;
        if !matches!(thing.root, Root::Global | Root::Module(_)) || name == "keys" {
            return None;
        }
        let any = Value::thing(thing.root.clone(), below(&thing.path, Key::Dynamic));
        Some(Value::List([if name == "values" { any } else { pair(Value::Unknown, any) }].into()))
    }
}

/// Methods of what the classes of the language make.
fn builtin(class: &str, name: &str, args: &[Value]) -> Option<Value> {
    match (class, name, args) {
        ("TextDecoder", "decode", [Value::List(bytes)]) => fold::utf8(bytes),
        ("TextEncoder", "encode", [Value::Text(text)]) => {
            Some(Value::List(text.bytes().map(|byte| Value::Number(f64::from(byte))).collect()))
        }
        _ => None,
    }
}
