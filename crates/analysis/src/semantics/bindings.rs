//! Name resolution and constant evaluation.
//!
//! [`Bindings::collect`] records the origin of each name, and the functions, objects and classes of
//! the source. [`Bindings::value`] evaluates an expression on demand.
//!
//! Invariant: outside of calls, each expression is evaluated once, so the whole takes time linear
//! in the source; calls share a step budget.

mod collect;
mod eval;

use std::cell::{Cell, RefCell};

use rustc_hash::{FxBuildHasher, FxHashMap};
use swc_atoms::Atom;
use swc_common::{Span, Spanned, SyntaxContext};
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, Class, Expr, ExprOrSpread, Function, Id, Ident, MemberProp, ObjectLit, Pat, Program,
    Stmt,
};

use crate::semantics::value::{Allocation, KeyPath, Value};

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

/// The local variables of a call.
#[derive(Default)]
struct Frame {
    names: FxHashMap<Id, Value>,
    this: Option<Value>,
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
}
