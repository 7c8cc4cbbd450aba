//! Members of what the source itself makes: objects, classes and what is made of them.

use swc_ecma_ast::{Class, ClassMember, Expr, Function, MethodKind, ObjectLit, Prop, PropName, PropOrSpread};

use super::{Names, STEPS, bare};
use crate::value::{Known, Literal, Made, Path, Root, Thing, Value};

/// Members that only the global object has.
const OF_GLOBAL_OBJECT: [&str; 16] = [
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

/// How many classes are followed from one to the one that it extends.
const PARENTS: u32 = 8;

impl<'a> Names<'a> {
    /// `object[key]`.
    pub(crate) fn get(&self, object: &Value, key: &Value) -> Value {
        if let Some(known) = object.as_known()
            && let Some(name) = key.string()
            && let Some(value) = self.property(known, &name, object)
        {
            return value;
        }
        // In a function that is called by its name, `this` may be the global object.
        if let (Value::Thing(thing), Some(name)) = (object, key.as_text())
            && thing.root == Root::This
            && thing.path.is_empty()
            && thing.known.is_none()
            && OF_GLOBAL_OBJECT.contains(&name)
        {
            return Value::global(name);
        }
        object.member(key)
    }

    /// The object literal that an expression is, or names.
    pub(crate) fn object<'b>(&'b self, expr: &'b Expr) -> Option<&'b ObjectLit> {
        match bare(expr) {
            Expr::Object(object) => Some(object),
            Expr::Ident(ident) => match bare(self.origin(ident)?) {
                Expr::Object(object) => Some(object),
                _ => None,
            },
            _ => None,
        }
    }

    /// What `this` is.
    pub(super) fn this(&self, place: usize) -> Value {
        if let Some(value) = self.frames.borrow().iter().rev().find_map(|frame| frame.this.clone()) {
            return value;
        }
        let known = self.this.get(&place).cloned();
        Value::Thing(std::rc::Rc::new(Thing { root: Root::This, path: Path::new(), known }))
    }

    /// An object literal. In a call that is worked out, its values are those of this call.
    pub(super) fn object_made(&self, object: &ObjectLit) -> Value {
        if self.frames.borrow().is_empty() {
            return match self.number(object) {
                Some(number) => Value::known(Literal::Object, Known::Object(number)),
                None => Value::root(Root::Literal(Literal::Object)),
            };
        }
        let mut props = Vec::new();
        for prop in object.props.iter().take(64) {
            match prop {
                PropOrSpread::Prop(prop) => {
                    let (key, value) = match &**prop {
                        Prop::KeyValue(pair) => (self.prop_name(&pair.key).string(), self.value(&pair.value)),
                        Prop::Shorthand(ident) => (Some(ident.sym.to_string()), self.ident(ident)),
                        Prop::Method(method) => (self.prop_name(&method.key).string(), self.function(&method.function)),
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
        Value::made(props)
    }

    /// The properties of what the source makes, in order.
    pub(super) fn entries(&self, object: &Value) -> Option<Vec<(swc_atoms::Atom, Value)>> {
        match object.as_known()? {
            Known::Object(number) => {
                let mut entries = Vec::new();
                for prop in &self.objects[*number as usize].props {
                    match prop {
                        PropOrSpread::Spread(spread) => {
                            entries.extend(self.spread(|| self.entries(&self.value(&spread.expr)))?);
                        }
                        PropOrSpread::Prop(prop) => {
                            let name = match &**prop {
                                Prop::KeyValue(pair) => self.prop_name(&pair.key).string()?,
                                Prop::Shorthand(ident) => ident.sym.to_string(),
                                Prop::Method(method) => self.prop_name(&method.key).string()?,
                                Prop::Getter(getter) => self.prop_name(&getter.key).string()?,
                                _ => continue,
                            };
                            let value = self.get(object, &Value::text(&name));
                            entries.push((name.into(), value));
                        }
                    }
                }
                Some(entries)
            }
            Known::Made(made) => Some(made.props.borrow().clone()),
            _ => None,
        }
    }

    /// A property of what the source makes.
    fn property(&self, known: &Known, name: &str, this: &Value) -> Option<Value> {
        match known {
            Known::Object(number) => self.of_object(self.objects.get(*number as usize)?, name, this),
            // What the prototype of a class has, its objects have.
            Known::Class(class) if name == "prototype" => Some(Value::known(Literal::Object, Known::Instance(*class))),
            Known::Class(class) => self.of_class(*class, name, true, this),
            Known::Instance(class) => self.of_class(*class, name, false, this),
            Known::Made(made) => {
                let own =
                    made.props.borrow().iter().rev().find(|(key, _)| **key == *name).map(|(_, value)| value.clone());
                own.or_else(|| self.of_class(made.class?, name, false, this))
            }
            Known::Function(_) | Known::Builtin(_) => None,
        }
    }

    fn of_object(&self, object: &ObjectLit, name: &str, this: &Value) -> Option<Value> {
        let named = |key: &PropName| match key {
            PropName::Ident(key) => *key.sym == *name,
            key => self.prop_name(key).string().as_deref() == Some(name),
        };
        object.props.iter().rev().find_map(|prop| {
            let prop = match prop {
                PropOrSpread::Spread(spread) => {
                    let get = || Some(self.get(&self.value(&spread.expr), &Value::text(name)));
                    return self.spread(get).filter(Value::is_known);
                }
                PropOrSpread::Prop(prop) => prop,
            };
            match &**prop {
                Prop::KeyValue(pair) if named(&pair.key) => Some(self.value(&pair.value)),
                Prop::Shorthand(ident) if *ident.sym == *name => Some(self.ident(ident)),
                Prop::Method(method) if named(&method.key) => Some(self.function(&method.function)),
                Prop::Getter(getter) if named(&getter.key) => Some(self.got(&getter.function, this)),
                _ => None,
            }
        })
    }

    /// Looks into an object that is spread into another one. Objects can be spread into each other in a circle, or twice
    /// at each step, so this is a step further, and one that costs.
    fn spread<T>(&self, look: impl FnOnce() -> Option<T>) -> Option<T> {
        if self.steps.get() >= STEPS || !self.spend() {
            return None;
        }
        self.steps.set(self.steps.get() + 1);
        let found = look();
        self.steps.set(self.steps.get() - 1);
        found
    }

    fn of_class(&self, class: u32, name: &str, of_class_itself: bool, this: &Value) -> Option<Value> {
        let mut class = class;
        for _ in 0..PARENTS {
            let found = self.classes.get(class as usize)?;
            if let Some(value) = self.member_of_class(found, name, of_class_itself, this) {
                return Some(value);
            }
            let written = self.fields.get(&class).map(Vec::as_slice).unwrap_or_default();
            if let Some(value) = self.written(written, name) {
                return Some(value);
            }
            let parent = self.value(found.super_class.as_deref()?);
            let Some(Known::Class(parent)) = parent.as_known() else { return None };
            class = *parent;
        }
        None
    }

    fn member_of_class(&self, class: &'a Class, name: &str, is_static: bool, this: &Value) -> Option<Value> {
        let named = |key: &PropName| match key {
            PropName::Ident(key) => *key.sym == *name,
            key => self.prop_name(key).string().as_deref() == Some(name),
        };
        let private = name.strip_prefix('#');
        class.body.iter().rev().find_map(|member| match member {
            ClassMember::Method(method) if method.is_static == is_static && named(&method.key) => {
                self.of_kind(method.kind, &method.function, this)
            }
            ClassMember::PrivateMethod(method)
                if method.is_static == is_static && private.is_some_and(|name| *method.key.name == *name) =>
            {
                self.of_kind(method.kind, &method.function, this)
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

    fn of_kind(&self, kind: MethodKind, function: &Function, this: &Value) -> Option<Value> {
        match kind {
            MethodKind::Method => Some(self.function(function)),
            MethodKind::Getter => Some(self.got(function, this)),
            MethodKind::Setter => None,
        }
    }

    pub(super) fn function(&self, function: &Function) -> Value {
        match self.number(function) {
            Some(number) => Value::known(Literal::Function, Known::Function(number)),
            None => Value::root(Root::Literal(Literal::Function)),
        }
    }

    /// What a getter gives.
    fn got(&self, function: &Function, this: &Value) -> Value {
        self.number(function).map_or(Value::Unknown, |number| self.call(number, Some(this), &[]))
    }

    /// What `new` makes of a class: its constructor is worked out where something is known of what it is given.
    pub(super) fn instance(&self, class: u32, args: &[Value]) -> Value {
        let constructor = self.classes[class as usize].body.iter().find_map(|member| match member {
            ClassMember::Constructor(constructor) => self.number(constructor),
            _ => None,
        });
        let Some(constructor) = constructor.filter(|_| args.iter().any(Value::is_known)) else {
            return Value::known(Literal::Object, Known::Instance(class));
        };
        let made = Made { class: Some(class), props: std::cell::RefCell::default() };
        let this = Value::known(Literal::Object, Known::Made(std::rc::Rc::new(made)));
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
            assert!(analysis.shape.is_some(), "{source}");
        }
    }
}
