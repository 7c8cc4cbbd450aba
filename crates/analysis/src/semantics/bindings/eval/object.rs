//! Evaluation of objects, classes and instances of the source.

use swc_ecma_ast::{Class, ClassMember, Expr, Function, MethodKind, ObjectLit, Prop, PropName, PropOrSpread};

use crate::semantics::bindings::{Bindings, MAX_STEPS};
use crate::semantics::value::{AccessPath, Allocation, EvaluatedObject, KeyPath, Literal, Root, Value};
use crate::syntax::expr::peel_parens;

/// Members that only the global object has.
const GLOBAL_ONLY_MEMBERS: [&str; 16] = [
    "process",
    "eval",
    "Function",
    "require",
    "fetch",
    "globalThis",
    "window",
    "global",
    "self",
    "XMLHttpRequest",
    "WebSocket",
    "Deno",
    "Bun",
    "document",
    "localStorage",
    "navigator",
];

/// The maximum length of a followed class hierarchy.
const MAX_SUPERCLASSES: u32 = 8;

impl<'a> Bindings<'a> {
    /// Evaluates `object[key]`.
    pub(crate) fn get(&self, object: &Value, key: &Value) -> Value {
        if let Some(known) = object.as_allocation()
            && let Some(name) = key.to_js_string()
            && let Some(value) = self.property(known, &name, object)
        {
            return value;
        }
        // In a plain function call, `this` may be the global object.
        if let (Value::Path(thing), Some(name)) = (object, key.as_text())
            && thing.root == Root::This
            && thing.keys.is_empty()
            && thing.allocation.is_none()
            && GLOBAL_ONLY_MEMBERS.contains(&name)
        {
            return Value::global(name);
        }
        object.member(key)
    }

    /// Returns the object literal that an expression is, or refers to.
    pub(crate) fn object_literal<'b>(&'b self, expr: &'b Expr) -> Option<&'b ObjectLit> {
        match peel_parens(expr) {
            Expr::Object(object) => Some(object),
            Expr::Ident(ident) => match peel_parens(self.sole_initializer(ident)?) {
                Expr::Object(object) => Some(object),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the value of `this`.
    pub(super) fn this_value(&self, place: usize) -> Value {
        if let Some(value) = self.frames.borrow().iter().rev().find_map(|frame| frame.this.clone()) {
            return value;
        }
        let known = self.this.get(&place).cloned();
        Value::Path(std::rc::Rc::new(AccessPath { root: Root::This, keys: KeyPath::new(), allocation: known }))
    }

    /// Evaluates an object literal. Inside of a call, its properties are evaluated in that call.
    pub(super) fn eval_object(&self, object: &ObjectLit) -> Value {
        if self.frames.borrow().is_empty() {
            return match self.id_of(object) {
                Some(number) => Value::allocated(Literal::Object, Allocation::Object(number)),
                None => Value::root(Root::Literal(Literal::Object)),
            };
        }
        let mut props = Vec::new();
        for prop in object.props.iter().take(64) {
            match prop {
                PropOrSpread::Prop(prop) => {
                    let (key, value) = match &**prop {
                        Prop::KeyValue(pair) => (self.prop_name(&pair.key).to_js_string(), self.value(&pair.value)),
                        Prop::Shorthand(ident) => (Some(ident.sym.to_string()), self.ident_value(ident)),
                        Prop::Method(method) => {
                            (self.prop_name(&method.key).to_js_string(), self.function_value(&method.function))
                        }
                        _ => continue,
                    };
                    if let Some(key) = key {
                        props.push((key.into(), value));
                    }
                }
                PropOrSpread::Spread(spread) => {
                    props.extend(self.entries(&self.value(&spread.expr)).unwrap_or_default());
                }
            }
        }
        Value::from_props(props)
    }

    /// Returns the properties of an object of the source, in order.
    pub(super) fn entries(&self, object: &Value) -> Option<Vec<(swc_atoms::Atom, Value)>> {
        match object.as_allocation()? {
            Allocation::Object(number) => {
                let mut entries = Vec::new();
                for prop in &self.objects[*number as usize].props {
                    match prop {
                        PropOrSpread::Spread(spread) => {
                            entries.extend(self.with_spread_step(|| self.entries(&self.value(&spread.expr)))?);
                        }
                        PropOrSpread::Prop(prop) => {
                            let name = match &**prop {
                                Prop::KeyValue(pair) => self.prop_name(&pair.key).to_js_string()?,
                                Prop::Shorthand(ident) => ident.sym.to_string(),
                                Prop::Method(method) => self.prop_name(&method.key).to_js_string()?,
                                Prop::Getter(getter) => self.prop_name(&getter.key).to_js_string()?,
                                _ => continue,
                            };
                            let value = self.get(object, &Value::text(&name));
                            entries.push((name.into(), value));
                        }
                    }
                }
                Some(entries)
            }
            Allocation::Evaluated(made) => Some(made.props.borrow().clone()),
            _ => None,
        }
    }

    /// Returns a property of a function, object, class or instance of the source.
    fn property(&self, known: &Allocation, name: &str, this: &Value) -> Option<Value> {
        match known {
            Allocation::Object(number) => self.object_property(self.objects.get(*number as usize)?, name, this),
            // Instances have the members of the prototype.
            Allocation::Class(class) if name == "prototype" => {
                Some(Value::allocated(Literal::Object, Allocation::Instance(*class)))
            }
            Allocation::Class(class) => self.class_property(*class, name, true, this),
            Allocation::Instance(class) => self.class_property(*class, name, false, this),
            Allocation::Evaluated(made) => {
                let own =
                    made.props.borrow().iter().rev().find(|(key, _)| **key == *name).map(|(_, value)| value.clone());
                own.or_else(|| self.class_property(made.class?, name, false, this))
            }
            Allocation::Function(_) | Allocation::Builtin(_) => None,
        }
    }

    fn object_property(&self, object: &ObjectLit, name: &str, this: &Value) -> Option<Value> {
        let named = |key: &PropName| match key {
            PropName::Ident(key) => *key.sym == *name,
            key => self.prop_name(key).to_js_string().as_deref() == Some(name),
        };
        object.props.iter().rev().find_map(|prop| {
            let prop = match prop {
                PropOrSpread::Spread(spread) => {
                    let get = || Some(self.get(&self.value(&spread.expr), &Value::text(name)));
                    return self.with_spread_step(get).filter(Value::is_known);
                }
                PropOrSpread::Prop(prop) => prop,
            };
            match &**prop {
                Prop::KeyValue(pair) if named(&pair.key) => Some(self.value(&pair.value)),
                Prop::Shorthand(ident) if *ident.sym == *name => Some(self.ident_value(ident)),
                Prop::Method(method) if named(&method.key) => Some(self.function_value(&method.function)),
                Prop::Getter(getter) if named(&getter.key) => Some(self.getter_value(&getter.function, this)),
                _ => None,
            }
        })
    }

    /// Looks into a spread object. Spreads can be cyclic, or double in each step, so each counts as
    /// a step of the budget.
    fn with_spread_step<T>(&self, look: impl FnOnce() -> Option<T>) -> Option<T> {
        if self.steps.get() >= MAX_STEPS || !self.take_step() {
            return None;
        }
        self.steps.set(self.steps.get() + 1);
        let found = look();
        self.steps.set(self.steps.get() - 1);
        found
    }

    fn class_property(&self, class: u32, name: &str, of_class_itself: bool, this: &Value) -> Option<Value> {
        let mut class = class;
        for _ in 0..MAX_SUPERCLASSES {
            let found = self.classes.get(class as usize)?;
            if let Some(value) = self.own_class_member(found, name, of_class_itself, this) {
                return Some(value);
            }
            let written = self.fields.get(&class).map(Vec::as_slice).unwrap_or_default();
            if let Some(value) = self.written_member(written, name) {
                return Some(value);
            }
            let parent = self.value(found.super_class.as_deref()?);
            let Some(Allocation::Class(parent)) = parent.as_allocation() else { return None };
            class = *parent;
        }
        None
    }

    fn own_class_member(&self, class: &'a Class, name: &str, is_static: bool, this: &Value) -> Option<Value> {
        let named = |key: &PropName| match key {
            PropName::Ident(key) => *key.sym == *name,
            key => self.prop_name(key).to_js_string().as_deref() == Some(name),
        };
        let private = name.strip_prefix('#');
        class.body.iter().rev().find_map(|member| match member {
            ClassMember::Method(method) if method.is_static == is_static && named(&method.key) => {
                self.method_value(method.kind, &method.function, this)
            }
            ClassMember::PrivateMethod(method)
                if method.is_static == is_static && private.is_some_and(|name| *method.key.name == *name) =>
            {
                self.method_value(method.kind, &method.function, this)
            }
            ClassMember::ClassProp(property) if property.is_static == is_static && named(&property.key) => {
                property.value.as_ref().map(|value| self.value(value))
            }
            ClassMember::PrivateProp(property)
                if property.is_static == is_static && private.is_some_and(|name| *property.key.name == *name) =>
            {
                property.value.as_ref().map(|value| self.value(value))
            }
            _ => None,
        })
    }

    fn method_value(&self, kind: MethodKind, function: &Function, this: &Value) -> Option<Value> {
        match kind {
            MethodKind::Method => Some(self.function_value(function)),
            MethodKind::Getter => Some(self.getter_value(function, this)),
            MethodKind::Setter => None,
        }
    }

    pub(super) fn function_value(&self, function: &Function) -> Value {
        match self.id_of(function) {
            Some(number) => Value::allocated(Literal::Function, Allocation::Function(number)),
            None => Value::root(Root::Literal(Literal::Function)),
        }
    }

    /// Evaluates a getter.
    fn getter_value(&self, function: &Function, this: &Value) -> Value {
        self.id_of(function).map_or(Value::Unknown, |number| self.call(number, Some(this), &[]))
    }

    /// Evaluates `new` of a source class. The constructor is evaluated if an argument is known.
    pub(super) fn instantiate(&self, class: u32, args: &[Value]) -> Value {
        let constructor = self.classes[class as usize].body.iter().find_map(|member| match member {
            ClassMember::Constructor(constructor) => self.id_of(constructor),
            _ => None,
        });
        let Some(constructor) = constructor.filter(|_| args.iter().any(Value::is_known)) else {
            return Value::allocated(Literal::Object, Allocation::Instance(class));
        };
        let made = EvaluatedObject { class: Some(class), props: std::cell::RefCell::default() };
        let this = Value::allocated(Literal::Object, Allocation::Evaluated(std::rc::Rc::new(made)));
        self.call(constructor, Some(&this), args);
        this
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use toolcell_tool::Language;

    use crate::analyze;

    #[test]
    fn objects_that_are_spread_into_each_other_end_in_an_answer() {
        let mut twice = "const a0 = { x: 1 };".to_owned();
        for i in 1..200 {
            write!(twice, "const a{i} = {{ ...a{0}, ...a{0} }};", i - 1).unwrap();
        }
        for source in [
            "const a = { ...b }; const b = { ...a }; const execute = () => a.x",
            "const a = { ...b }; const b = { ...a }; const execute = () => Object.entries(a)",
            "const run = (o) => { o = { ...o }; return o.x }; const execute = () => run({ y: 1 })",
            &format!("{twice} const execute = () => [a199.y, Object.entries(a199)]"),
        ] {
            let analysis = analyze(source, Language::JavaScript, None).unwrap();
            assert!(analysis.entry_point.is_some(), "{source}");
        }
    }
}
