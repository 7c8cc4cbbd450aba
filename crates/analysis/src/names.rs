//! What the names of a source stand for.
//!
//! [`Names::of`] notes where each name comes from and what the source makes: functions, objects, classes. What an
//! expression stands for is worked out when it is asked for, by [`Names::value`].
//!
//! Invariant: what is asked outside of a call that is being worked out is worked out once, so the whole takes time in
//! proportion to the source; calls share a budget.

mod call;
mod evaluate;
mod forms;
mod known;
mod members;
mod methods;
mod noting;
mod patterns;
mod statements;

use std::cell::{Cell, RefCell};

use rustc_hash::{FxBuildHasher, FxHashMap};
use swc_atoms::Atom;
use swc_common::{Span, Spanned, SyntaxContext};
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, Class, Expr, ExprOrSpread, Function, Id, Ident, MemberProp, ObjectLit, Pat, Program,
    Stmt,
};

use crate::value::{Key, Known, Path, Root, Value};
use call::Frame;
pub(crate) use forms::{bare, entity};
use forms::{ids, returns_this};

/// How many steps through names and members one value may take.
const STEPS: u32 = 60;

/// How many steps all calls of a source may take that are worked out.
const BUDGET: u32 = 20_000;

/// The longest function that is worked out, in bytes.
const SHORT: u32 = 1000;

/// How many statements `with` are looked at for what a name in them means.
const WITHS: usize = 16;

/// How many calls of a function are looked at for what its parameters are.
const CALLS: usize = 8;

/// Where the names of a source come from.
pub(crate) struct Names<'a> {
    unresolved: SyntaxContext,
    bindings: FxHashMap<Id, Binding<'a>>,
    /// The members of each `enum`.
    enums: FxHashMap<Id, FxHashMap<String, Value>>,
    functions: Vec<Lambda<'a>>,
    objects: Vec<&'a ObjectLit>,
    classes: Vec<&'a Class>,
    /// The numbers of functions, objects and classes, by their place in memory.
    numbers: FxHashMap<usize, u32>,
    /// What `this` is, where a class or an object says it.
    this: FxHashMap<usize, Known>,
    /// What is written to members of `this` in a class.
    fields: FxHashMap<u32, Vec<(&'a MemberProp, &'a Expr)>>,
    /// The statements `with`: what is within, and the object whose members are names there.
    withs: Vec<(Span, &'a Expr)>,
    /// What functions are called with.
    given: FxHashMap<u32, Vec<Given<'a>>>,
    known: RefCell<FxHashMap<usize, Value>>,
    /// Parameters, and names that something is appended to, which may stand for themselves.
    settled: RefCell<FxHashMap<Id, Value>>,
    /// What a function gives whatever it is called with.
    returned: RefCell<FxHashMap<u32, Value>>,
    globals: RefCell<FxHashMap<Atom, Value>>,
    frames: RefCell<Vec<Frame>>,
    steps: Cell<u32>,
    budget: Cell<u32>,
}

#[derive(Default)]
struct Binding<'a> {
    origin: Option<Origin<'a>>,
    /// In how many loops and functions it is declared.
    depth: u32,
    writes: u32,
    /// What is appended to it with `+=`.
    appended: Vec<&'a Expr>,
    /// What is pushed to it, in order.
    pushed: Vec<&'a Expr>,
    /// Whether it is changed in place in a way that is not followed.
    tangled: bool,
    /// What is written to its members.
    members: Vec<(&'a MemberProp, &'a Expr)>,
}

enum Origin<'a> {
    /// An expression, the members that destructuring takes of it, and what stands in for nothing.
    Expr(&'a Expr, Vec<Value>, Option<&'a Expr>),
    /// The members of a list, one after the other, and what is taken of each.
    Each(&'a Expr, Vec<Value>),
    /// What `import a = b.c` gives a name to.
    Entity(Box<Expr>),
    Param(Param<'a>),
    Value(Value),
}

/// A parameter, or what destructuring takes of it.
struct Param<'a> {
    function: u32,
    index: usize,
    path: Path,
    default: Option<&'a Expr>,
}

/// What a function is called with.
#[derive(Clone, Copy)]
enum Given<'a> {
    Args(&'a [ExprOrSpread]),
    /// One argument, at this place.
    One(usize, &'a Expr),
    /// The members of a list, one after the other, at this place.
    Each(usize, &'a Expr),
}

/// A function, however it is written.
struct Lambda<'a> {
    params: Vec<&'a Pat>,
    body: Body<'a>,
    /// Whether calls of it are worked out: it is short, as what decodes something is, and no generator.
    followed: bool,
    this: This,
}

/// What `this` is in a function that is called by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum This {
    /// What it is around the function.
    Around,
    /// The global object, where the source is not strict.
    Global,
    Nothing,
}

#[derive(Clone, Copy)]
enum Body<'a> {
    Expr(&'a Expr),
    Block(&'a [Stmt]),
}

/// What a function gives that does nothing but return.
#[derive(Clone, Copy)]
pub(crate) enum Gives<'a> {
    Nothing,
    Expr(&'a Expr),
}

impl<'a> Lambda<'a> {
    fn of_function(function: &'a Function) -> Self {
        let stmts = function.body.as_ref().map_or(&[][..], |body| &body.stmts);
        let params = function.params.iter().map(|param| &param.pat).collect();
        Self {
            params,
            body: Body::Block(stmts),
            followed: is_short(function.span) && !function.is_generator,
            this: This::Global,
        }
    }

    fn of_arrow(arrow: &'a ArrowExpr) -> Self {
        let body = match &*arrow.body {
            ArrowFunctionBody::Expr(expr) => Body::Expr(expr),
            ArrowFunctionBody::FunctionBody(body) => Body::Block(&body.stmts),
        };
        Self { params: arrow.params.iter().collect(), body, followed: is_short(arrow.span), this: This::Around }
    }
}

fn is_short(span: Span) -> bool {
    span.hi.0.saturating_sub(span.lo.0) <= SHORT
}

/// Where a node is, which tells it from all others of its kind.
fn place<T>(node: &T) -> usize {
    std::ptr::from_ref(node).addr()
}

impl<'a> Names<'a> {
    /// Notes every name of a program.
    pub(crate) fn of(program: &'a Program, unresolved: SyntaxContext) -> Self {
        // At most about so many expressions are asked about.
        let bytes = program.span().hi.0.saturating_sub(program.span().lo.0) as usize;
        let empty = Self {
            unresolved,
            bindings: FxHashMap::default(),
            enums: FxHashMap::default(),
            functions: Vec::new(),
            objects: Vec::new(),
            classes: Vec::new(),
            numbers: FxHashMap::default(),
            this: FxHashMap::default(),
            fields: FxHashMap::default(),
            withs: Vec::new(),
            given: FxHashMap::default(),
            known: RefCell::new(FxHashMap::with_capacity_and_hasher(bytes / 12, FxBuildHasher)),
            settled: RefCell::default(),
            returned: RefCell::default(),
            globals: RefCell::default(),
            frames: RefCell::default(),
            steps: Cell::new(0),
            budget: Cell::new(BUDGET),
        };
        noting::note(program, empty)
    }

    /// Whether nothing in the source declares this name.
    pub(crate) fn is_free(&self, ident: &Ident) -> bool {
        ident.ctxt == self.unresolved
    }

    /// The expression that a name was given, if it was given one and no other.
    pub(crate) fn origin(&self, ident: &Ident) -> Option<&'a Expr> {
        match self.bindings.get(&ident.to_id())? {
            Binding { origin: Some(Origin::Expr(expr, keys, _)), writes: 0, .. } if keys.is_empty() => Some(expr),
            _ => None,
        }
    }

    /// What a call of a function of the source gives, where it does nothing but return an expression.
    pub(crate) fn gives(&self, callee: &Expr) -> Option<Gives<'a>> {
        let callee = self.value(callee);
        let Known::Function(function) = callee.as_known()? else { return None };
        match self.functions.get(*function as usize)?.body {
            Body::Expr(expr) => Some(Gives::Expr(expr)),
            Body::Block([]) => Some(Gives::Nothing),
            Body::Block([Stmt::Return(returned)]) => Some(returned.arg.as_deref().map_or(Gives::Nothing, Gives::Expr)),
            Body::Block(_) => None,
        }
    }

    fn number<T>(&self, node: &T) -> Option<u32> {
        self.numbers.get(&place(node)).copied()
    }

    /// What a name stands for.
    fn ident(&self, ident: &Ident) -> Value {
        if self.is_free(ident) {
            let before = self.withs.partition_point(|(span, _)| span.lo <= ident.span.lo);
            let within = self.withs[..before].iter().rev().take(WITHS).find(|(span, _)| span.contains(ident.span));
            return match within.map(|(_, object)| self.value(object)) {
                Some(object) if object.is_known() => self.get(&object, &Value::name(&ident.sym)),
                _ => self.global(&ident.sym),
            };
        }
        let id = ident.to_id();
        if let Some(value) = self.frames.borrow().iter().rev().find_map(|frame| frame.names.get(&id)) {
            return value.clone();
        }
        let Some(binding) = self.bindings.get(&id) else { return Value::Unknown };
        if binding.writes > 0 && binding.appended.len() != binding.writes as usize {
            return Value::Unknown;
        }
        if (binding.appended.is_empty() && binding.pushed.is_empty()) || !self.frames.borrow().is_empty() {
            return self.bound(&id, binding);
        }
        // `s += s; s += s` asks for itself twice each time.
        if let Some(known) = self.settled.borrow().get(&id) {
            return known.clone();
        }
        self.settled.borrow_mut().insert(id.clone(), Value::Unknown);
        let value = self.bound(&id, binding);
        self.settled.borrow_mut().insert(id, value.clone());
        value
    }

    /// A global, made once for each name.
    fn global(&self, name: &Atom) -> Value {
        if let Some(known) = self.globals.borrow().get(name) {
            return known.clone();
        }
        let value = Value::global(name);
        self.globals.borrow_mut().insert(name.clone(), value.clone());
        value
    }

    /// What a name of the source stands for.
    fn bound(&self, id: &Id, binding: &Binding<'a>) -> Value {
        let first = match &binding.origin {
            None => return Value::Unknown,
            Some(Origin::Value(value)) => value.clone(),
            Some(Origin::Entity(expr)) => self.value(expr),
            Some(Origin::Param(param)) => self.param(id, param),
            Some(Origin::Each(list, keys)) => keys.iter().fold(self.each(list), |value, key| self.get(&value, key)),
            Some(Origin::Expr(expr, keys, default)) => {
                let value = keys.iter().fold(self.value(expr), |value, key| self.get(&value, key));
                match default {
                    None => value,
                    Some(default) if value == Value::Undefined => self.value(default),
                    Some(default) => match self.value(default).reached() {
                        Value::Unknown => value,
                        reached => reached,
                    },
                }
            }
        };
        let first = match first {
            Value::List(_) if binding.tangled => Value::Unknown,
            Value::List(list) if !binding.pushed.is_empty() => {
                Value::list(list.iter().cloned().chain(binding.pushed.iter().map(|more| self.value(more))).collect())
            }
            first => first,
        };
        binding.appended.iter().fold(first, |value, more| value.plus(&self.value(more)))
    }

    /// What a parameter stands for: what the caller gives, unless the source itself says what that is.
    fn param(&self, id: &Id, param: &Param<'a>) -> Value {
        let in_call = !self.frames.borrow().is_empty();
        if !in_call && let Some(known) = self.settled.borrow().get(id) {
            return known.clone();
        }
        let from_caller = Value::thing(Root::Params, param.path.clone());
        if in_call {
            return from_caller;
        }
        // While it is worked out, it is what the caller gives.
        self.settled.borrow_mut().insert(id.clone(), from_caller.clone());
        let value = self.given_to(param).unwrap_or(from_caller);
        self.settled.borrow_mut().insert(id.clone(), value.clone());
        value
    }

    fn given_to(&self, param: &Param<'a>) -> Option<Value> {
        if let Some(default) = param.default
            && let value @ Value::Thing(_) = self.value(default).reached()
        {
            return Some(value);
        }
        let given = self.given.get(&param.function)?;
        for one in given.iter().take(CALLS) {
            let value = match *one {
                Given::Args(args) => match args.get(param.index) {
                    Some(ExprOrSpread { spread: None, expr }) => self.value(expr),
                    _ => continue,
                },
                Given::One(index, expr) if index == param.index => self.value(expr),
                Given::Each(index, list) if index == param.index => self.each(list),
                Given::One(..) | Given::Each(..) => continue,
            };
            let value = param.path.iter().fold(value, |value, key| match key {
                Key::Name(name) => self.get(&value, &Value::name(name)),
                Key::Dynamic => Value::Unknown,
            });
            match &value {
                Value::Thing(thing) if value.is_known() && thing.root != Root::Params => return Some(value),
                Value::Text(_) | Value::List(_) if given.len() == 1 => return Some(value),
                _ => {}
            }
        }
        None
    }

    /// What stands for each member of a list: its only one, or the one that matters.
    fn each(&self, list: &Expr) -> Value {
        match self.value(list) {
            Value::List(list) => match &*list {
                [one] => one.clone(),
                list => {
                    list.iter().map(|value| value.clone().reached()).find(Value::is_known).unwrap_or(Value::Unknown)
                }
            },
            _ => Value::Unknown,
        }
    }
}
