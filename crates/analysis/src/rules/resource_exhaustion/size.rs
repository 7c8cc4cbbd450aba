//! Minimum sizes of values: characters of a text, elements of a list and of nested lists.
//!
//! Invariant: a size is a lower bound; it is 1 for unknown values and for numbers.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use swc_ecma_ast::{
    ArrowFunctionBody, BinaryOp, CallExpr, Callee, Expr, ExprOrSpread, Id, Lit, ObjectLit, Prop, PropOrSpread, Stmt,
};

use crate::semantics::bindings::Bindings;
use crate::semantics::mutation::static_key;
use crate::semantics::value::Value;
use crate::syntax::expr::peel_parens;

/// The maximum number of steps through names and calls.
const MAX_STEPS: u32 = 40;

/// Methods whose result has a known size.
const SIZED_METHODS: [&str; 24] = [
    "repeat",
    "padStart",
    "padEnd",
    "join",
    "split",
    "keys",
    "entries",
    "values",
    "fill",
    "reverse",
    "sort",
    "toSorted",
    "flat",
    "map",
    "flatMap",
    "concat",
    "toUpperCase",
    "toLowerCase",
    "toString",
    "from",
    "apply",
    "freeze",
    "toReversed",
    "slice",
];

/// The size of a value, by its kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Size {
    Text(f64),
    List(f64),
    Other(f64),
}

impl Size {
    pub(super) fn count(self) -> f64 {
        match self {
            Self::Text(count) | Self::List(count) | Self::Other(count) => count,
        }
    }
}

/// A cache of sizes.
pub(super) struct Sizes<'a> {
    pub(super) names: &'a Bindings<'a>,
    by_name: RefCell<FxHashMap<Id, Size>>,
    by_address: RefCell<FxHashMap<usize, Size>>,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(names: &'a Bindings) -> Self {
        Self { names, by_name: RefCell::default(), by_address: RefCell::default() }
    }

    /// Returns the size of an expression.
    pub(super) fn size_of(&self, expr: &Expr) -> Size {
        self.size_within(expr, MAX_STEPS)
    }

    fn size_within(&self, expr: &Expr, steps: u32) -> Size {
        let Some(steps) = steps.checked_sub(1) else { return Size::Other(1.0) };
        match peel_parens(expr) {
            Expr::Lit(Lit::Str(text)) => Size::Text(len_to_count(text.value.len())),
            Expr::Ident(ident) => {
                if let Some(known) = self.by_name.borrow().get(&ident.to_id()) {
                    return *known;
                }
                // A cyclic definition is unknown.
                self.by_name.borrow_mut().insert(ident.to_id(), Size::Other(1.0));
                let size = match self.names.sole_initializer(ident) {
                    Some(origin) => self.size_within(origin, steps),
                    None => Size::Other(1.0),
                };
                self.by_name.borrow_mut().insert(ident.to_id(), size);
                size
            }
            other @ (Expr::Call(_) | Expr::New(_) | Expr::Array(_) | Expr::Object(_) | Expr::Bin(_) | Expr::Tpl(_)) => {
                let place = std::ptr::from_ref(other).addr();
                if let Some(known) = self.by_address.borrow().get(&place) {
                    return *known;
                }
                let size = self.size_of_node(other, steps);
                self.by_address.borrow_mut().insert(place, size);
                size
            }
            Expr::Await(waits) => self.size_within(&waits.arg, steps),
            _ => Size::Other(1.0),
        }
    }

    fn size_of_node(&self, expr: &Expr, steps: u32) -> Size {
        match expr {
            Expr::Call(call) => self.size_of_call(call, steps),
            Expr::New(new) => self
                .array_constructor_size(&new.callee, new.args.as_deref().unwrap_or_default())
                .unwrap_or(Size::Other(1.0)),
            Expr::Array(list) => Size::List(
                list.elems
                    .iter()
                    .flatten()
                    .map(|elem| {
                        let size = self.size_within(&elem.expr, steps).count();
                        if elem.spread.is_some() { size } else { size.max(1.0) }
                    })
                    .sum(),
            ),
            Expr::Object(object) => Size::Other(self.object_size(object, steps)),
            Expr::Bin(binary) if binary.op == BinaryOp::Add => {
                match (self.size_within(&binary.left, steps), self.size_within(&binary.right, steps)) {
                    (Size::Text(a), b) => Size::Text(a + b.count()),
                    (a, Size::Text(b)) => Size::Text(a.count() + b),
                    _ => Size::Other(1.0),
                }
            }
            Expr::Tpl(template) => {
                let fixed: usize = template.quasis.iter().map(|quasi| quasi.raw.len()).sum();
                Size::Text(
                    len_to_count(fixed)
                        + template.exprs.iter().map(|part| self.size_within(part, steps).count()).sum::<f64>(),
                )
            }
            _ => Size::Other(1.0),
        }
    }

    fn object_size(&self, object: &ObjectLit, steps: u32) -> f64 {
        let sum: f64 = object
            .props
            .iter()
            .map(|prop| match prop {
                PropOrSpread::Spread(spread) => self.size_within(&spread.expr, steps).count(),
                PropOrSpread::Prop(prop) => match &**prop {
                    Prop::KeyValue(pair) => self.size_within(&pair.value, steps).count(),
                    Prop::Shorthand(name) => self.size_within(&Expr::Ident(name.clone()), steps).count(),
                    _ => 1.0,
                },
            })
            .sum();
        sum.max(1.0)
    }

    /// Returns the size of `Array(n)`.
    fn array_constructor_size(&self, callee: &Expr, args: &[ExprOrSpread]) -> Option<Size> {
        let value = self.names.value(callee);
        let array = value.as_path().is_some_and(|thing| thing.is_global_below(&["Array"]) && thing.keys.len() == 1);
        match args {
            [only] if array && only.spread.is_none() => Some(Size::List(self.number(&only.expr)?)),
            _ => None,
        }
    }

    pub(super) fn number(&self, expr: &Expr) -> Option<f64> {
        self.names.value(expr).as_number()
    }

    /// Returns the `length` of `{ length: n }`.
    pub(super) fn length_field(&self, expr: &Expr) -> Option<f64> {
        self.number_field(expr, "length")
    }

    /// Returns a numeric field of an object literal.
    pub(super) fn number_field(&self, expr: &Expr, key: &str) -> Option<f64> {
        let object = self.names.object_literal(expr)?;
        object.props.iter().find_map(|prop| {
            let PropOrSpread::Prop(prop) = prop else { return None };
            match &**prop {
                Prop::KeyValue(pair) if pair.key.as_ident().is_some_and(|name| *name.sym == *key) => {
                    self.number(&pair.value)
                }
                Prop::Shorthand(name) if *name.sym == *key => self.number(&Expr::Ident(name.clone())),
                _ => None,
            }
        })
    }

    /// Returns the size of a callback's result.
    fn callback_size(&self, callback: Option<&ExprOrSpread>, steps: u32) -> f64 {
        let Some(Expr::Arrow(arrow)) = callback.map(|arg| peel_parens(&arg.expr)) else { return 1.0 };
        match &*arrow.body {
            ArrowFunctionBody::Expr(expr) => self.size_within(expr, steps).count().max(1.0),
            ArrowFunctionBody::FunctionBody(body) => match body.stmts.as_slice() {
                [Stmt::Return(node)] => {
                    node.arg.as_deref().map_or(1.0, |arg| self.size_within(arg, steps).count().max(1.0))
                }
                _ => 1.0,
            },
        }
    }

    fn size_of_call(&self, call: &CallExpr, steps: u32) -> Size {
        let Callee::Expr(callee) = &call.callee else { return Size::Other(1.0) };
        if let Some(size) = self.array_constructor_size(callee, &call.args) {
            return size;
        }
        let Expr::Member(member) = peel_parens(callee) else { return Size::Other(1.0) };
        let Some(name) = self.names.key(&member.prop).into_text().or_else(|| static_key(&member.prop)) else {
            return Size::Other(1.0);
        };
        if !SIZED_METHODS.contains(&name.as_str()) {
            return Size::Other(1.0);
        }
        let value = self.names.value(callee);
        if let Some(names) = value
            .as_path()
            .filter(|thing| thing.is_global_below(&[]))
            .and_then(crate::semantics::value::AccessPath::names)
        {
            let first = call.args.first();
            let list = match (names.as_slice(), first) {
                (["Array", "from"], Some(first)) => {
                    let size =
                        self.length_field(&first.expr).unwrap_or_else(|| self.size_within(&first.expr, steps).count());
                    Some(size * self.callback_size(call.args.get(1), steps))
                }
                (["Array", "apply"], _) => call.args.get(1).map(|arg| {
                    self.length_field(&arg.expr).unwrap_or_else(|| self.size_within(&arg.expr, steps).count())
                }),
                (["Object", "keys" | "values" | "entries" | "freeze"], Some(first)) => {
                    Some(self.size_within(&first.expr, steps).count())
                }
                _ => None,
            };
            if let Some(size) = list {
                return Size::List(size);
            }
        }
        let object = self.size_within(&member.obj, steps);
        let argument = |index: usize| call.args.get(index).and_then(|arg| self.number(&arg.expr));
        match name.as_str() {
            "repeat" => Size::Text(self.text_size(&member.obj, object) * argument(0).unwrap_or(1.0).max(0.0)),
            "padStart" | "padEnd" => Size::Text(argument(0).unwrap_or(1.0).max(object.count())),
            "join" => {
                let between = call.args.first().map_or(1.0, |arg| self.size_within(&arg.expr, steps).count());
                Size::Text(object.count() * between.max(1.0))
            }
            "split" | "keys" | "entries" | "values" | "fill" | "reverse" | "sort" | "toSorted" | "flat" => {
                let inner = if name == "fill" { 1.0 } else { 0.0 };
                Size::List(object.count().max(inner))
            }
            "map" | "flatMap" => Size::List(object.count() * self.callback_size(call.args.first(), steps)),
            "concat" => {
                let more: f64 = call.args.iter().map(|arg| self.size_within(&arg.expr, steps).count()).sum();
                match object {
                    Size::Text(count) => Size::Text(count + more),
                    size => Size::List(size.count() + more),
                }
            }
            "toUpperCase" | "toLowerCase" | "toString" => object,
            _ => Size::Other(1.0),
        }
    }

    /// Returns the length of a known text, which may be 0; otherwise at least 1.
    fn text_size(&self, expr: &Expr, size: Size) -> f64 {
        match self.names.value(expr) {
            Value::Text(text) => len_to_count(text.len()),
            _ => size.count().max(1.0),
        }
    }
}

fn len_to_count(len: usize) -> f64 {
    f64::from(u32::try_from(len).unwrap_or(u32::MAX))
}
