//! Name resolution and constant evaluation.
//!
//! [`Bindings::collect`] records the origin of each name, and the functions, objects and classes of
//! the source. [`Bindings::value`] evaluates an expression on demand.
//!
//! Invariant: outside of calls, each expression is evaluated once, so the whole takes time linear
//! in the source; calls share a step budget.

mod call;
mod class;
mod collect;
mod expr;
mod method;
mod object;
mod pattern;
mod statement;
mod syntax;

use std::cell::{Cell, RefCell};

use rustc_hash::{FxBuildHasher, FxHashMap};
use swc_atoms::Atom;
use swc_common::{Span, Spanned, SyntaxContext};
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, Class, Expr, ExprOrSpread, Function, Id, Ident, MemberProp, ObjectLit, Pat, Program,
    Stmt,
};

use crate::value::{Allocation, Key, KeyPath, Root, Value};
use call::Frame;
pub(crate) use syntax::{entity_expr, peel_parens};
use syntax::{pattern_ids, returns_this};

/// The maximum number of steps through names and members that one value takes.
const MAX_STEPS: u32 = 60;

/// The maximum number of steps that all evaluated calls of a source take together.
const MAX_CALL_STEPS: u32 = 20_000;

/// The maximum length of a function that is evaluated, in bytes.
const MAX_FUNCTION_BYTES: u32 = 1000;

/// The maximum number of `with` statements that are searched for the meaning of a name.
const MAX_WITH_STATEMENTS: usize = 16;

/// The maximum number of call sites that are inspected for the value of a parameter.
const MAX_CALL_SITES: usize = 8;

/// The bindings of a source.
pub(crate) struct Bindings<'a> {
    unresolved: SyntaxContext,
    by_id: FxHashMap<Id, Binding<'a>>,
    /// The members of each `enum`.
    enums: FxHashMap<Id, FxHashMap<String, Value>>,
    functions: Vec<FunctionDef<'a>>,
    objects: Vec<&'a ObjectLit>,
    classes: Vec<&'a Class>,
    /// The numbers of functions, objects and classes, by node address.
    ids: FxHashMap<usize, u32>,
    /// The values of `this` expressions, by node address, if a class or an object determines them.
    this: FxHashMap<usize, Allocation>,
    /// The values assigned to members of `this`, by class.
    fields: FxHashMap<u32, Vec<(&'a MemberProp, &'a Expr)>>,
    /// The `with` statements: the span of the body, and the object whose members are names there.
    with_scopes: Vec<(Span, &'a Expr)>,
    /// The call sites of each function.
    call_sites: FxHashMap<u32, Vec<CallSite<'a>>>,
    cache: RefCell<FxHashMap<usize, Value>>,
    /// The values of parameters, and of names that are appended to, which may refer to themselves.
    resolved: RefCell<FxHashMap<Id, Value>>,
    /// The return values of functions, for unknown arguments.
    return_values: RefCell<FxHashMap<u32, Value>>,
    globals: RefCell<FxHashMap<Atom, Value>>,
    frames: RefCell<Vec<Frame>>,
    steps: Cell<u32>,
    call_steps: Cell<u32>,
}

#[derive(Default)]
struct Binding<'a> {
    origin: Option<Origin<'a>>,
    /// The number of loops and functions around the declaration.
    loop_depth: u32,
    writes: u32,
    /// The values appended with `+=`.
    appended: Vec<&'a Expr>,
    /// The values appended with `push`, in order.
    pushed: Vec<&'a Expr>,
    /// Whether it is mutated in a way that is not followed.
    is_mutated: bool,
    /// The values assigned to its members.
    members: Vec<(&'a MemberProp, &'a Expr)>,
}

enum Origin<'a> {
    /// An expression, the keys that destructuring reads from it, and the default value.
    Expr(&'a Expr, Vec<Value>, Option<&'a Expr>),
    /// The elements of a list in turn, and the keys that are read from each.
    Element(&'a Expr, Vec<Value>),
    /// The target of `import a = b.c`.
    Entity(Box<Expr>),
    Param(Param<'a>),
    Value(Value),
}

/// A parameter, or a part that destructuring takes from it.
struct Param<'a> {
    function: u32,
    index: usize,
    path: KeyPath,
    default: Option<&'a Expr>,
}

/// The arguments at a call site.
#[derive(Clone, Copy)]
enum CallSite<'a> {
    Args(&'a [ExprOrSpread]),
    /// One argument, at this index.
    Single(usize, &'a Expr),
    /// The elements of a list in turn, as the argument at this index.
    Element(usize, &'a Expr),
}

/// A function in any form.
struct FunctionDef<'a> {
    params: Vec<&'a Pat>,
    body: Body<'a>,
    /// Whether calls of it are evaluated: it is short, as decoders are, and not a generator.
    is_evaluated: bool,
    this: ThisBinding,
}

/// The value of `this` in a plain call of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ThisBinding {
    /// That of the enclosing function.
    Lexical,
    /// The global object, in sloppy mode.
    Global,
    Undefined,
}

#[derive(Clone, Copy)]
enum Body<'a> {
    Expr(&'a Expr),
    Block(&'a [Stmt]),
}

/// The value returned by a function whose body is only a `return`.
#[derive(Clone, Copy)]
pub(crate) enum ReturnedExpr<'a> {
    Nothing,
    Expr(&'a Expr),
}

impl<'a> FunctionDef<'a> {
    fn from_function(function: &'a Function) -> Self {
        let stmts = function.body.as_ref().map_or(&[][..], |body| &body.stmts);
        let params = function.params.iter().map(|param| &param.pat).collect();
        Self {
            params,
            body: Body::Block(stmts),
            is_evaluated: is_short(function.span) && !function.is_generator,
            this: ThisBinding::Global,
        }
    }

    fn from_arrow(arrow: &'a ArrowExpr) -> Self {
        let body = match &*arrow.body {
            ArrowFunctionBody::Expr(expr) => Body::Expr(expr),
            ArrowFunctionBody::FunctionBody(body) => Body::Block(&body.stmts),
        };
        Self {
            params: arrow.params.iter().collect(),
            body,
            is_evaluated: is_short(arrow.span),
            this: ThisBinding::Lexical,
        }
    }
}

fn is_short(span: Span) -> bool {
    span.hi.0.saturating_sub(span.lo.0) <= MAX_FUNCTION_BYTES
}

/// Returns the address of a node, which identifies it.
fn node_address<T>(node: &T) -> usize {
    std::ptr::from_ref(node).addr()
}

impl<'a> Bindings<'a> {
    /// Collects the bindings of a program.
    pub(crate) fn collect(program: &'a Program, unresolved: SyntaxContext) -> Self {
        // An estimate of the number of expressions that are evaluated.
        let bytes = program.span().hi.0.saturating_sub(program.span().lo.0) as usize;
        let empty = Self {
            unresolved,
            by_id: FxHashMap::default(),
            enums: FxHashMap::default(),
            functions: Vec::new(),
            objects: Vec::new(),
            classes: Vec::new(),
            ids: FxHashMap::default(),
            this: FxHashMap::default(),
            fields: FxHashMap::default(),
            with_scopes: Vec::new(),
            call_sites: FxHashMap::default(),
            cache: RefCell::new(FxHashMap::with_capacity_and_hasher(bytes / 12, FxBuildHasher)),
            resolved: RefCell::default(),
            return_values: RefCell::default(),
            globals: RefCell::default(),
            frames: RefCell::default(),
            steps: Cell::new(0),
            call_steps: Cell::new(MAX_CALL_STEPS),
        };
        collect::collect(program, empty)
    }

    /// Returns whether a name is free: the source does not declare it.
    pub(crate) fn is_free(&self, ident: &Ident) -> bool {
        ident.ctxt == self.unresolved
    }

    /// Returns the expression that a name is bound to, if it has no other value.
    pub(crate) fn sole_initializer(&self, ident: &Ident) -> Option<&'a Expr> {
        match self.by_id.get(&ident.to_id())? {
            Binding { origin: Some(Origin::Expr(expr, keys, _)), writes: 0, .. } if keys.is_empty() => Some(expr),
            _ => None,
        }
    }

    /// Returns what a call of a source function returns, if its body is only a `return`.
    pub(crate) fn returned_expr(&self, callee: &Expr) -> Option<ReturnedExpr<'a>> {
        let callee = self.value(callee);
        let Allocation::Function(function) = callee.as_allocation()? else { return None };
        match self.functions.get(*function as usize)?.body {
            Body::Expr(expr) => Some(ReturnedExpr::Expr(expr)),
            Body::Block([]) => Some(ReturnedExpr::Nothing),
            Body::Block([Stmt::Return(returned)]) => {
                Some(returned.arg.as_deref().map_or(ReturnedExpr::Nothing, ReturnedExpr::Expr))
            }
            Body::Block(_) => None,
        }
    }

    fn id_of<T>(&self, node: &T) -> Option<u32> {
        self.ids.get(&node_address(node)).copied()
    }

    /// Returns the value of a name.
    fn ident_value(&self, ident: &Ident) -> Value {
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
    fn element_value(&self, list: &Expr) -> Value {
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
