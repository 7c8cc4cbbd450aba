//! How a name is changed, and which calls change nothing.
//!
//! Invariant: an assignment is only given a kind of its own if that is what it does in every round.

use swc_atoms::Atom;
use swc_ecma_ast::{AssignExpr, AssignOp, BinaryOp, Callee, Expr, ExprOrSpread, Id, MemberProp};

use crate::names::{Names, bare};
use crate::value::{Root, Value};

/// One change, or one mention.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Use {
    pub(in super::super) at: u32,
    pub(in super::super) function: u32,
    /// Whether it is done in each round of the loop around it.
    pub(in super::super) always: bool,
    /// Where that loop begins.
    pub(in super::super) round: u32,
    pub(in super::super) kind: Kind,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) enum Kind {
    /// It is declared, and has its first value.
    Declared,
    /// The same, and the value is this number.
    Begun(f64),
    /// The same, and the value is a `BigInt`.
    Large,
    /// It is given a constant.
    To(f64),
    /// A constant is added.
    Step(f64),
    /// It is multiplied by a constant.
    Scaled(f64),
    /// It becomes something below a constant.
    Below(f64),
    /// It becomes something else.
    Other,
    /// Its content grows by so many members, shrinks, changes, or gets into other hands.
    Grown(u32),
    Shrunk,
    Mutated,
    /// One of its members is given a value.
    Placed,
    Plain,
    /// Its content is read.
    Read,
}

/// A part of the source, and the function around it.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Range {
    pub(in super::super) start: u32,
    pub(in super::super) end: u32,
    pub(in super::super) function: u32,
    /// Where the loop begins.
    pub(in super::super) round: u32,
}

impl Range {
    pub(in super::super) fn holds(self, at: u32) -> bool {
        (self.start..self.end).contains(&at)
    }
}

/// What an assignment does to the name on its left.
pub(in super::super) fn of(assign: &AssignExpr, own: &Id, names: &Names) -> Kind {
    let same = |expr: &Expr| matches!(bare(expr), Expr::Ident(ident) if ident.to_id() == *own);
    let number = |expr: &Expr| match bare(expr) {
        // Of a name that is changed somewhere, the value is that of one moment.
        Expr::Ident(ident) => names.origin(ident).and_then(|_| names.value(expr).as_number()),
        Expr::Unary(unary) if !matches!(bare(&unary.arg), Expr::Lit(_)) => None,
        Expr::Lit(_) | Expr::Unary(_) => names.value(expr).as_number(),
        _ => None,
    };
    let right = &*assign.right;
    match assign.op {
        AssignOp::AddAssign => number(right).map_or(Kind::Other, Kind::Step),
        AssignOp::SubAssign => number(right).map_or(Kind::Other, |step| Kind::Step(-step)),
        AssignOp::MulAssign => number(right).map_or(Kind::Other, Kind::Scaled),
        AssignOp::DivAssign => number(right).map_or(Kind::Other, |by| Kind::Scaled(1.0 / by)),
        AssignOp::LShiftAssign => number(right).map_or(Kind::Other, |by| Kind::Scaled(by.exp2())),
        AssignOp::ModAssign => number(right).map_or(Kind::Other, Kind::Below),
        AssignOp::Assign => match bare(right) {
            Expr::Ident(_) if same(right) => Kind::Step(0.0),
            Expr::Update(update) if !update.prefix && same(&update.arg) => Kind::Step(0.0),
            Expr::Bin(binary) => {
                let (left, right) = (number(&binary.left), number(&binary.right));
                match (binary.op, left, right) {
                    (BinaryOp::Add, _, Some(step)) if same(&binary.left) => Kind::Step(step),
                    (BinaryOp::Add, Some(step), _) if same(&binary.right) => Kind::Step(step),
                    (BinaryOp::Sub, _, Some(step)) if same(&binary.left) => Kind::Step(-step),
                    (BinaryOp::Mul, _, Some(by)) if same(&binary.left) => Kind::Scaled(by),
                    (BinaryOp::Mul, Some(by), _) if same(&binary.right) => Kind::Scaled(by),
                    (BinaryOp::Mod, _, Some(limit)) => Kind::Below(limit),
                    _ => Kind::Other,
                }
            }
            Expr::Call(call) => {
                let global = matches!(&call.callee, Callee::Expr(callee) if names.value(callee).as_thing()
                    .is_some_and(|thing| thing.is_global_below(&["Math", "min"])));
                let least = names.args(&call.args).iter().filter_map(Value::as_number).reduce(f64::min);
                // What is at most 9 is below the next number above 9.
                least.filter(|_| global).map_or(Kind::Other, |least| Kind::Below(least.next_up()))
            }
            Expr::Lit(_) | Expr::Unary(_) => number(right).map_or(Kind::Other, Kind::To),
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}

/// What a method of this name does to the list, map or text that it is called on.
pub(in super::super) fn method(name: &str, args: usize) -> Kind {
    match name {
        "push" | "unshift" => Kind::Grown(u32::try_from(args).unwrap_or(u32::MAX)),
        "add" | "set" | "append" => Kind::Grown(1),
        "pop" | "shift" => Kind::Shrunk,
        _ if harmless_method(name) => Kind::Read,
        _ => Kind::Mutated,
    }
}

/// Methods of lists, maps, texts and numbers that change nothing.
pub(in super::super) fn harmless_method(name: &str) -> bool {
    plain_method(name)
        || matches!(
            name,
            "trimStart"
                | "trimEnd"
                | "substr"
                | "keys"
                | "values"
                | "entries"
                | "map"
                | "filter"
                | "forEach"
                | "reduce"
                | "some"
                | "every"
                | "find"
                | "findIndex"
                | "flatMap"
                | "flat"
                | "replace"
                | "replaceAll"
                | "localeCompare"
                | "toSorted"
                | "toReversed"
                | "valueOf"
                | "normalize"
        )
}

/// Those of them that call nobody back, whatever they are given.
pub(in super::super) fn plain_method(name: &str) -> bool {
    matches!(
        name,
        "slice"
            | "charAt"
            | "charCodeAt"
            | "codePointAt"
            | "at"
            | "indexOf"
            | "lastIndexOf"
            | "includes"
            | "has"
            | "join"
            | "trim"
            | "startsWith"
            | "endsWith"
            | "substring"
            | "split"
            | "concat"
            | "toUpperCase"
            | "toLowerCase"
            | "padStart"
            | "padEnd"
            | "repeat"
            | "toString"
            | "toFixed"
    )
}

/// Whether a call runs nothing but the engine's own code and the functions that stand in its arguments.
pub(in super::super) fn is_harmless(callee: &Expr, args: &[ExprOrSpread], names: &Names) -> bool {
    let given = |arg: &ExprOrSpread| matches!(bare(&arg.expr), Expr::Ident(_) | Expr::Member(_));
    match bare(callee) {
        Expr::Fn(_) | Expr::Arrow(_) => true,
        Expr::Member(member) => {
            let Some(name) = own_key(&member.prop) else { return false };
            let changing = matches!(&*name, "push" | "unshift" | "pop" | "shift" | "splice" | "add" | "set" | "delete");
            let this = matches!(bare(&member.obj), Expr::This(_) | Expr::SuperProp(_));
            let callback = harmless_method(&name) && !args.iter().any(given);
            (!this && (changing || plain_method(&name) || callback)) || is_global(callee, names)
        }
        _ => is_global(callee, names),
    }
}

/// Whether this is a function of the language that calls nobody back.
pub(in super::super) fn is_global(callee: &Expr, names: &Names) -> bool {
    let free = match bare(callee) {
        Expr::Ident(ident) => names.is_free(ident),
        Expr::Member(member) => matches!(bare(&member.obj), Expr::Ident(ident) if names.is_free(ident)),
        _ => false,
    };
    if !free {
        return false;
    }
    let value = names.value(callee);
    let Some(thing) = value.as_thing().filter(|thing| thing.root == Root::Global) else { return false };
    matches!(
        thing.names().unwrap_or_default().as_slice(),
        ["Math" | "JSON" | "console" | "Number" | "performance" | "Date" | "Object" | "Array" | "String" | "BigInt", _]
            | ["Number"
                | "String"
                | "Boolean"
                | "BigInt"
                | "parseInt"
                | "parseFloat"
                | "isNaN"
                | "isFinite"
                | "Symbol"
                | "Map"
                | "Set"
                | "Array"
                | "Date"
                | "Error"
                | "Object"
                | "Uint8Array"
                | "structuredClone"
                | "setTimeout"
                | "setInterval"
                | "queueMicrotask"
                | "setImmediate"]
    )
}

/// The key of a member where it is written in the source.
pub(in super::super) fn own_key(prop: &MemberProp) -> Option<Atom> {
    match prop {
        MemberProp::Ident(name) => Some(name.sym.clone()),
        MemberProp::PrivateName(name) => Some(format!("#{}", name.name).into()),
        MemberProp::Computed(key) => match bare(&key.expr) {
            Expr::Lit(swc_ecma_ast::Lit::Str(text)) => Some(text.value.to_atom_lossy().into_owned()),
            _ => None,
        },
    }
}
