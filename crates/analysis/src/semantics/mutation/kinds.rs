//! Kinds of mutations, and the calls without mutations.
//!
//! Invariant: an assignment has a specific kind only if it does the same in every round.

use swc_atoms::Atom;
use swc_ecma_ast::{AssignExpr, AssignOp, BinaryOp, Callee, Expr, ExprOrSpread, Id, MemberProp};

use crate::semantics::bindings::Bindings;
use crate::semantics::value::{Root, Value};
use crate::syntax::expr::peel_parens;

/// A mutation, or a mention, of a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mutation {
    pub(crate) position: u32,
    pub(crate) function: u32,
    /// Whether it happens in every round of the enclosing loop.
    pub(crate) is_unconditional: bool,
    /// The start of that loop.
    pub(crate) loop_start: u32,
    pub(crate) kind: MutationKind,
}

/// The kind of a mutation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum MutationKind {
    /// The declaration, with an initial value.
    Declared,
    /// The declaration, with this number as the initial value.
    DeclaredNumber(f64),
    /// The declaration, with a `BigInt` as the initial value.
    DeclaredBigInt,
    /// The assignment of a constant.
    SetTo(f64),
    /// The addition of a constant.
    Step(f64),
    /// The multiplication by a constant.
    Scaled(f64),
    /// The assignment of something below a constant.
    SetBelow(f64),
    /// Any other assignment.
    Other,
    /// The content grows by this many elements.
    Grown(u32),
    /// The content loses an element.
    Shrunk,
    /// The content changes in any other way.
    Mutated,
    /// An element is replaced.
    ElementSet,
    /// The value escapes: it is mentioned in a way that may share it.
    Escaped,
    /// The content is read.
    Read,
}

/// A range of the source, with the enclosing function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceRange {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) function: u32,
    /// The start of the loop.
    pub(crate) loop_start: u32,
}

impl SourceRange {
    pub(crate) fn contains(self, at: u32) -> bool {
        (self.start..self.end).contains(&at)
    }
}

/// Classifies an assignment to a name.
pub(crate) fn classify_assignment(assign: &AssignExpr, own: &Id, names: &Bindings) -> MutationKind {
    let same = |expr: &Expr| matches!(peel_parens(expr), Expr::Ident(ident) if ident.to_id() == *own);
    let number = |expr: &Expr| match peel_parens(expr) {
        // If a name is changed somewhere, its value is only valid for some time.
        Expr::Ident(ident) => names.sole_initializer(ident).and_then(|_| names.value(expr).as_number()),
        Expr::Unary(unary) if !matches!(peel_parens(&unary.arg), Expr::Lit(_)) => None,
        Expr::Lit(_) | Expr::Unary(_) => names.value(expr).as_number(),
        _ => None,
    };
    let right = &*assign.right;
    match assign.op {
        AssignOp::AddAssign => number(right).map_or(MutationKind::Other, MutationKind::Step),
        AssignOp::SubAssign => number(right).map_or(MutationKind::Other, |step| MutationKind::Step(-step)),
        AssignOp::MulAssign => number(right).map_or(MutationKind::Other, MutationKind::Scaled),
        AssignOp::DivAssign => number(right).map_or(MutationKind::Other, |by| MutationKind::Scaled(1.0 / by)),
        AssignOp::LShiftAssign => number(right).map_or(MutationKind::Other, |by| MutationKind::Scaled(by.exp2())),
        AssignOp::ModAssign => number(right).map_or(MutationKind::Other, MutationKind::SetBelow),
        AssignOp::Assign => match peel_parens(right) {
            Expr::Ident(_) if same(right) => MutationKind::Step(0.0),
            Expr::Update(update) if !update.prefix && same(&update.arg) => MutationKind::Step(0.0),
            Expr::Bin(binary) => {
                let (left, right) = (number(&binary.left), number(&binary.right));
                match (binary.op, left, right) {
                    (BinaryOp::Add, _, Some(step)) if same(&binary.left) => MutationKind::Step(step),
                    (BinaryOp::Add, Some(step), _) if same(&binary.right) => MutationKind::Step(step),
                    (BinaryOp::Sub, _, Some(step)) if same(&binary.left) => MutationKind::Step(-step),
                    (BinaryOp::Mul, _, Some(by)) if same(&binary.left) => MutationKind::Scaled(by),
                    (BinaryOp::Mul, Some(by), _) if same(&binary.right) => MutationKind::Scaled(by),
                    (BinaryOp::Mod, _, Some(limit)) => MutationKind::SetBelow(limit),
                    _ => MutationKind::Other,
                }
            }
            Expr::Call(call) => {
                let global = matches!(&call.callee, Callee::Expr(callee) if names.value(callee).as_path()
                    .is_some_and(|thing| thing.is_global_below(&["Math", "min"])));
                let least = names.args(&call.args).iter().filter_map(Value::as_number).reduce(f64::min);
                // A value of at most 9 is below the next larger number.
                least.filter(|_| global).map_or(MutationKind::Other, |least| MutationKind::SetBelow(least.next_up()))
            }
            Expr::Lit(_) | Expr::Unary(_) => number(right).map_or(MutationKind::Other, MutationKind::SetTo),
            _ => MutationKind::Other,
        },
        _ => MutationKind::Other,
    }
}

/// Classifies the effect of a method on the list, map or text that it is called on.
pub(crate) fn classify_method(name: &str, args: usize) -> MutationKind {
    match name {
        "push" | "unshift" => MutationKind::Grown(u32::try_from(args).unwrap_or(u32::MAX)),
        "add" | "set" | "append" => MutationKind::Grown(1),
        "pop" | "shift" => MutationKind::Shrunk,
        _ if is_nonmutating_method(name) => MutationKind::Read,
        _ => MutationKind::Mutated,
    }
}

/// Returns whether a method of lists, maps, texts and numbers mutates nothing.
pub(crate) fn is_nonmutating_method(name: &str) -> bool {
    is_callback_free_method(name)
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

/// Returns whether such a method calls no callback, whatever its arguments.
pub(crate) fn is_callback_free_method(name: &str) -> bool {
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

/// Returns whether a call runs only built-in code and the functions written in its arguments.
pub(crate) fn is_harmless_call(callee: &Expr, args: &[ExprOrSpread], names: &Bindings) -> bool {
    let given = |arg: &ExprOrSpread| matches!(peel_parens(&arg.expr), Expr::Ident(_) | Expr::Member(_));
    match peel_parens(callee) {
        Expr::Fn(_) | Expr::Arrow(_) => true,
        Expr::Member(member) => {
            let Some(name) = static_key(&member.prop) else { return false };
            let changing = matches!(&*name, "push" | "unshift" | "pop" | "shift" | "splice" | "add" | "set" | "delete");
            let this = matches!(peel_parens(&member.obj), Expr::This(_) | Expr::SuperProp(_));
            let callback = is_nonmutating_method(&name) && !args.iter().any(given);
            (!this && (changing || is_callback_free_method(&name) || callback))
                || is_callback_free_builtin(callee, names)
        }
        _ => is_callback_free_builtin(callee, names),
    }
}

/// Returns whether this is a built-in function that calls no callback.
pub(crate) fn is_callback_free_builtin(callee: &Expr, names: &Bindings) -> bool {
    let free = match peel_parens(callee) {
        Expr::Ident(ident) => names.is_free(ident),
        Expr::Member(member) => matches!(peel_parens(&member.obj), Expr::Ident(ident) if names.is_free(ident)),
        _ => false,
    };
    if !free {
        return false;
    }
    let value = names.value(callee);
    let Some(thing) = value.as_path().filter(|thing| thing.root == Root::Global) else { return false };
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

/// Returns the key of a member, if the source spells it out.
pub(crate) fn static_key(prop: &MemberProp) -> Option<Atom> {
    match prop {
        MemberProp::Ident(name) => Some(name.sym.clone()),
        MemberProp::PrivateName(name) => Some(format!("#{}", name.name).into()),
        MemberProp::Computed(key) => match peel_parens(&key.expr) {
            Expr::Lit(swc_ecma_ast::Lit::Str(text)) => Some(text.value.to_atom_lossy().into_owned()),
            _ => None,
        },
    }
}
