//! How much a value takes at least: letters of a text, members of a list and of the lists in it.
//!
//! Invariant: a size is a lower bound; of what is not known it is 1, and of a number 1.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use swc_ecma_ast::{
    ArrowFunctionBody, BinaryOp, CallExpr, Callee, Expr, ExprOrSpread, Id, Lit, ObjectLit, Prop, PropOrSpread, Stmt,
};

use super::super::uses::own_key;
use crate::names::{Names, bare};
use crate::value::Value;

/// How many steps through names and calls are taken.
const STEPS: u32 = 40;

/// Methods whose result has a size that is known.
const MAKING: [&str; 24] = [
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

/// What a value is made of.
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

/// Sizes, each worked out once.
pub(super) struct Sizes<'a> {
    pub(super) names: &'a Names<'a>,
    known: RefCell<FxHashMap<Id, Size>>,
    places: RefCell<FxHashMap<usize, Size>>,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(names: &'a Names) -> Self {
        Self { names, known: RefCell::default(), places: RefCell::default() }
    }

    /// The size of what an expression gives.
    pub(super) fn of(&self, expr: &Expr) -> Size {
        self.at(expr, STEPS)
    }

    fn at(&self, expr: &Expr, steps: u32) -> Size {
        let Some(steps) = steps.checked_sub(1) else { return Size::Other(1.0) };
        match bare(expr) {
            Expr::Lit(Lit::Str(text)) => Size::Text(length(text.value.len())),
            Expr::Ident(ident) => {
                if let Some(known) = self.known.borrow().get(&ident.to_id()) {
                    return *known;
                }
                // A name that is made of itself is not known.
                self.known.borrow_mut().insert(ident.to_id(), Size::Other(1.0));
                let size = match self.names.origin(ident) {
                    Some(origin) => self.at(origin, steps),
                    None => Size::Other(1.0),
                };
                self.known.borrow_mut().insert(ident.to_id(), size);
                size
            }
            other @ (Expr::Call(_) | Expr::New(_) | Expr::Array(_) | Expr::Object(_) | Expr::Bin(_) | Expr::Tpl(_)) => {
                let place = std::ptr::from_ref(other).addr();
                if let Some(known) = self.places.borrow().get(&place) {
                    return *known;
                }
                let size = self.made(other, steps);
                self.places.borrow_mut().insert(place, size);
                size
            }
            Expr::Await(waits) => self.at(&waits.arg, steps),
            _ => Size::Other(1.0),
        }
    }

    fn made(&self, expr: &Expr, steps: u32) -> Size {
        match expr {
            Expr::Call(call) => self.called(call, steps),
            Expr::New(new) => {
                self.listed(&new.callee, new.args.as_deref().unwrap_or_default()).unwrap_or(Size::Other(1.0))
            }
            Expr::Array(list) => Size::List(
                list.elems
                    .iter()
                    .flatten()
                    .map(|elem| {
                        let size = self.at(&elem.expr, steps).count();
                        if elem.spread.is_some() { size } else { size.max(1.0) }
                    })
                    .sum(),
            ),
            Expr::Object(object) => Size::Other(self.fields(object, steps)),
            Expr::Bin(binary) if binary.op == BinaryOp::Add => {
                match (self.at(&binary.left, steps), self.at(&binary.right, steps)) {
                    (Size::Text(a), b) => Size::Text(a + b.count()),
                    (a, Size::Text(b)) => Size::Text(a.count() + b),
                    _ => Size::Other(1.0),
                }
            }
            Expr::Tpl(template) => {
                let fixed: usize = template.quasis.iter().map(|quasi| quasi.raw.len()).sum();
                Size::Text(length(fixed) + template.exprs.iter().map(|part| self.at(part, steps).count()).sum::<f64>())
            }
            _ => Size::Other(1.0),
        }
    }

    fn fields(&self, object: &ObjectLit, steps: u32) -> f64 {
        let sum: f64 = object
            .props
            .iter()
            .map(|prop| match prop {
                PropOrSpread::Spread(spread) => self.at(&spread.expr, steps).count(),
                PropOrSpread::Prop(prop) => match &**prop {
                    Prop::KeyValue(pair) => self.at(&pair.value, steps).count(),
                    Prop::Shorthand(name) => self.at(&Expr::Ident(name.clone()), steps).count(),
                    _ => 1.0,
                },
            })
            .sum();
        sum.max(1.0)
    }

    /// `Array(n)`.
    fn listed(&self, callee: &Expr, args: &[ExprOrSpread]) -> Option<Size> {
        let value = self.names.value(callee);
        let array = value.as_thing().is_some_and(|thing| thing.is_global_below(&["Array"]) && thing.path.len() == 1);
        match args {
            [only] if array && only.spread.is_none() => Some(Size::List(self.number(&only.expr)?)),
            _ => None,
        }
    }

    pub(super) fn number(&self, expr: &Expr) -> Option<f64> {
        self.names.value(expr).as_number()
    }

    /// The `length` of `{ length: n }`.
    pub(super) fn given(&self, expr: &Expr) -> Option<f64> {
        self.field(expr, "length")
    }

    /// A number of an object.
    pub(super) fn field(&self, expr: &Expr, key: &str) -> Option<f64> {
        let object = self.names.object(expr)?;
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

    /// What a callback gives each time.
    fn given_back(&self, callback: Option<&ExprOrSpread>, steps: u32) -> f64 {
        let Some(Expr::Arrow(arrow)) = callback.map(|arg| bare(&arg.expr)) else { return 1.0 };
        match &*arrow.body {
            ArrowFunctionBody::Expr(expr) => self.at(expr, steps).count().max(1.0),
            ArrowFunctionBody::FunctionBody(body) => match body.stmts.as_slice() {
                [Stmt::Return(node)] => node.arg.as_deref().map_or(1.0, |arg| self.at(arg, steps).count().max(1.0)),
                _ => 1.0,
            },
        }
    }

    fn called(&self, call: &CallExpr, steps: u32) -> Size {
        let Callee::Expr(callee) = &call.callee else { return Size::Other(1.0) };
        if let Some(size) = self.listed(callee, &call.args) {
            return size;
        }
        let Expr::Member(member) = bare(callee) else { return Size::Other(1.0) };
        let Some(name) = self.names.key(&member.prop).into_text().or_else(|| own_key(&member.prop)) else {
            return Size::Other(1.0);
        };
        if !MAKING.contains(&name.as_str()) {
            return Size::Other(1.0);
        }
        let value = self.names.value(callee);
        if let Some(names) =
            value.as_thing().filter(|thing| thing.is_global_below(&[])).and_then(crate::value::Thing::names)
        {
            let first = call.args.first();
            let list = match (names.as_slice(), first) {
                (["Array", "from"], Some(first)) => {
                    let size = self.given(&first.expr).unwrap_or_else(|| self.at(&first.expr, steps).count());
                    Some(size * self.given_back(call.args.get(1), steps))
                }
                (["Array", "apply"], _) => call
                    .args
                    .get(1)
                    .map(|arg| self.given(&arg.expr).unwrap_or_else(|| self.at(&arg.expr, steps).count())),
                (["Object", "keys" | "values" | "entries" | "freeze"], Some(first)) => {
                    Some(self.at(&first.expr, steps).count())
                }
                _ => None,
            };
            if let Some(size) = list {
                return Size::List(size);
            }
        }
        let object = self.at(&member.obj, steps);
        let argument = |index: usize| call.args.get(index).and_then(|arg| self.number(&arg.expr));
        match name.as_str() {
            "repeat" => Size::Text(self.text(&member.obj, object) * argument(0).unwrap_or(1.0).max(0.0)),
            "padStart" | "padEnd" => Size::Text(argument(0).unwrap_or(1.0).max(object.count())),
            "join" => {
                let between = call.args.first().map_or(1.0, |arg| self.at(&arg.expr, steps).count());
                Size::Text(object.count() * between.max(1.0))
            }
            "split" | "keys" | "entries" | "values" | "fill" | "reverse" | "sort" | "toSorted" | "flat" => {
                let inner = if name == "fill" { 1.0 } else { 0.0 };
                Size::List(object.count().max(inner))
            }
            "map" | "flatMap" => Size::List(object.count() * self.given_back(call.args.first(), steps)),
            "concat" => {
                let more: f64 = call.args.iter().map(|arg| self.at(&arg.expr, steps).count()).sum();
                match object {
                    Size::Text(count) => Size::Text(count + more),
                    size => Size::List(size.count() + more),
                }
            }
            "toUpperCase" | "toLowerCase" | "toString" => object,
            _ => Size::Other(1.0),
        }
    }

    /// Of a text that is known to be empty, any number is nothing.
    fn text(&self, expr: &Expr, size: Size) -> f64 {
        match self.names.value(expr) {
            Value::Text(text) => length(text.len()),
            _ => size.count().max(1.0),
        }
    }
}

fn length(len: usize) -> f64 {
    f64::from(u32::try_from(len).unwrap_or(u32::MAX))
}
