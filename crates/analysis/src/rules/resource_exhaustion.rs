//! `resource-exhaustion`: more memory or time than any tool needs, written into the source.
//!
//! Sizes are worked out bottom up ([`size`]), rounds of loops likewise, and what doubles in a loop counts by its rounds.
//! Loops that only wait are found by what ends them ([`waiting`]).
//!
//! Invariant: what comes from the caller counts as one; only what the source itself fixes is too much.

mod explosion;
mod growth;
mod size;
#[cfg(test)]
mod tests;
mod visit;
mod waiting;

use rustc_hash::FxHashSet;
use swc_common::Span;
use swc_ecma_ast::{BinaryOp, Callee, Expr, ExprOrSpread, Id, Lit};
use swc_ecma_visit::VisitWith;

use super::functions;
use super::quickjs::{self, Reach};
use super::uses::{Kind, Range, Uses};
use super::{Findings, Rule, Source, shown, unbounded_operation};
use crate::facts::Role;
use crate::finding::{RuleId, Severity};
use crate::names::{Names, bare};
use crate::value::{Literal, Root, Value};
use explosion::Shapes;
use growth::doubled;
use size::{Size, Sizes};

pub(super) const RULE: Rule = Rule {
    id: RuleId("resource-exhaustion"),
    worst: Severity::Medium,
    page: include_str!("resource_exhaustion.md"),
    check,
};

const SUGGESTION: &str = "work in pieces of a size that the input needs; a call has 64 MiB unless it is given more";
const WAIT: &str = "await a timer: `await sleep(ms)` or `await new Promise((done) => setTimeout(done, ms))`";

/// Functions that stop the only thread.
const BLOCKING: [&[&str]; 2] = [&["Atomics", "wait"], &["Bun", "sleepSync"]];

/// Bytes that fit into no cell, and members of a list, and letters.
const BYTES: f64 = 5e7;
const MEMBERS: f64 = 1e7;
const LETTERS: f64 = 2e7;

/// Milliseconds that no call lasts.
const LONG: f64 = 1e7;

/// Rounds of a loop, and of loops within loops, that no budget pays.
const ROUNDS: f64 = 1e10;
const NESTED: f64 = 1e9;

/// So many times doubled, a letter fits into no cell.
const DOUBLINGS: f64 = 25.0;

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    let sizes = Sizes::new(source.names);
    let (mut doubling, mut shapes) = (FxHashSet::default(), Shapes::new(&sizes));
    functions::each(source.program, |name, function| {
        if growth::is_doubling(function, source.names) {
            doubling.insert(name.to_id());
        }
        shapes.look_at(name, function);
    });
    let mut walk = Walk {
        source,
        names: source.names,
        uses: source.uses(),
        sizes: &sizes,
        doubling,
        found: shapes.found(source.program),
        loops: Vec::new(),
        inner: 1.0,
        depth: 0,
        breaks: false,
        returns: false,
    };
    source.program.visit_with(&mut walk);
    // `const wait = (ms) => new Promise((done) => setTimeout(done, ms))`, called with a constant.
    for call in &source.facts.calls {
        let waits = call.callee.as_thing().is_some_and(|thing| thing.is_global_below(&["setTimeout"]));
        if waits && call.args.get(1).and_then(Value::as_thing).is_some_and(|thing| thing.root == Root::Params) {
            for other in &source.facts.calls {
                let own = other.callee.as_thing().is_some_and(|thing| thing.root == Root::Literal(Literal::Function));
                if own && let Some(time) = other.args.first().and_then(Value::as_number).filter(|time| *time >= LONG) {
                    walk.found.push((other.span, format!("waits for {time:e} ms")));
                }
            }
        }
    }
    for (span, message) in walk.found {
        findings.add(Severity::Medium, span, message, SUGGESTION);
    }
    for (span, message) in waiting::loops(source.program, source.names, source.uses()) {
        findings.add(Severity::Medium, span, message.to_owned(), WAIT);
    }
    let globals = BLOCKING.iter().flat_map(|path| source.facts.globals(path));
    let of_engine = source.facts.uses.iter().filter(|used| quickjs::reach(&used.thing) == Some(Reach::Sleep));
    for used in globals.chain(of_engine).filter(|used| used.role != Role::AskedAbout) {
        let message = format!("blocks the thread that everything runs on: `{}`", shown(used));
        findings.add(Severity::Medium, used.span, message, WAIT);
    }
}

/// The value of an expression of `BigInt`s.
fn big(names: &Names, expr: &Expr, steps: u32) -> Option<f64> {
    match bare(expr) {
        Expr::Lit(Lit::BigInt(number)) => number.value.to_string().parse().ok(),
        Expr::Ident(ident) if steps > 0 => big(names, names.origin(ident)?, steps - 1),
        Expr::Bin(binary) => {
            let (left, right) = (big(names, &binary.left, steps)?, big(names, &binary.right, steps)?);
            match binary.op {
                BinaryOp::Exp => Some(left.powf(right)),
                BinaryOp::Mul => Some(left * right),
                BinaryOp::Add => Some(left + right),
                BinaryOp::Sub => Some(left - right),
                BinaryOp::LShift => Some(left * right.exp2()),
                _ => None,
            }
        }
        Expr::Member(member) if steps > 0 => {
            let (object, key) = (names.object(&member.obj)?, names.key(&member.prop).string()?);
            object.props.iter().find_map(|prop| {
                let swc_ecma_ast::PropOrSpread::Prop(prop) = prop else { return None };
                let swc_ecma_ast::Prop::KeyValue(pair) = &**prop else { return None };
                let own = pair.key.as_ident().is_some_and(|name| *name.sym == *key);
                if own { big(names, &pair.value, steps - 1) } else { None }
            })
        }
        // `BigInt(1e9)`
        Expr::Call(call) => {
            let Callee::Expr(callee) = &call.callee else { return None };
            let global = names.value(callee).as_thing().is_some_and(|thing| thing.is_global_below(&["BigInt"]));
            call.args.first().filter(|_| global).and_then(|arg| names.value(&arg.expr).number())
        }
        _ => None,
    }
}

struct Walk<'a, 's> {
    source: &'a Source<'s>,
    names: &'a Names<'a>,
    uses: &'a Uses,
    sizes: &'a Sizes<'a>,
    /// Functions that double what they are given.
    doubling: FxHashSet<Id>,
    found: Vec<(Span, String)>,
    /// How often each loop around runs, where that is known.
    loops: Vec<Option<f64>>,
    /// How often the loops within this one run.
    inner: f64,
    /// How many loops of known length this one holds, with itself.
    depth: u32,
    /// Whether something leaves the loop, and the loops around it.
    breaks: bool,
    returns: bool,
}

impl Walk<'_, '_> {
    fn call(&mut self, callee: &Expr, args: &[ExprOrSpread], new: bool, span: Span) {
        let value = self.names.value(callee);
        let Some(thing) = value.as_thing() else { return };
        let names = thing.names().unwrap_or_default();
        let number = |index: usize| self.names.args(args).get(index).and_then(Value::as_number).unwrap_or(0.0);
        let bytes = match names.as_slice() {
            ["Buffer", "alloc" | "allocUnsafe" | "allocUnsafeSlow"] => number(0),
            ["ArrayBuffer" | "SharedArrayBuffer"] if new => number(0),
            [kind] if new && width(kind) > 0.0 => number(0) * width(kind),
            _ => 0.0,
        };
        if bytes >= BYTES {
            self.found.push((span, format!("asks for {bytes:e} bytes at once")));
        }
        if let ["setTimeout" | "setInterval"] = names.as_slice() {
            let time = number(1);
            if time >= LONG {
                self.found.push((span, format!("waits for {time:e} ms")));
            }
        }
    }

    /// What is asked for with an object: `Uint8Array.from({ length })`, `new WebAssembly.Memory({ initial })`.
    fn described(&mut self, callee: &Expr, args: &[ExprOrSpread], span: Span) {
        let value = self.names.value(callee);
        let Some(names) = value.as_thing().and_then(crate::value::Thing::names) else { return };
        let Some(first) = args.first() else { return };
        let bytes = match names.as_slice() {
            [kind, "from"] if width(kind) > 0.0 => self.sizes.given(&first.expr).unwrap_or(0.0) * width(kind),
            ["WebAssembly", "Memory"] => self.sizes.field(&first.expr, "initial").unwrap_or(0.0) * 65536.0,
            _ => 0.0,
        };
        if bytes >= BYTES {
            self.found.push((span, format!("asks for {bytes:e} bytes at once")));
        }
        if matches!(names.as_slice(), ["Promise", "all" | "allSettled" | "race" | "any"])
            && self.sizes.of(&first.expr).count() >= 1e6
        {
            self.found.push((span, "waits for more promises than any cell holds".to_owned()));
        }
    }

    fn size(&mut self, expr: &Expr, span: Span) {
        match self.sizes.of(expr) {
            Size::Text(count) if count >= LETTERS => {
                self.found.push((span, format!("asks for {count:.0e} letters at once")));
            }
            Size::List(count) if count > MEMBERS => {
                self.found.push((span, format!("asks for {count:.0e} elements at once")));
            }
            Size::Other(count) if count > MEMBERS => {
                self.found.push((span, format!("makes an object of {count:.0e} members")));
            }
            _ => {}
        }
    }

    /// How often a loop with this condition runs.
    fn times(&self, test: &Expr) -> Option<f64> {
        let begun = |expr: &Expr| {
            let counter = match bare(expr) {
                Expr::Update(update) => bare(&update.arg),
                other => other,
            };
            let Expr::Ident(ident) = counter else { return None };
            self.uses.writes(&ident.to_id()).iter().take(64).find_map(|one| match one.kind {
                Kind::Begun(number) => Some(number),
                _ => None,
            })
        };
        let times = match bare(test) {
            Expr::Bin(binary) => match binary.op {
                BinaryOp::Lt | BinaryOp::LtEq | BinaryOp::NotEq | BinaryOp::NotEqEq => {
                    let limit = bare(&binary.right);
                    let grows = matches!(limit, Expr::Ident(ident) if self.uses.writes(&ident.to_id()).len() > 1);
                    let named = matches!(bare(&binary.left), Expr::Ident(_) | Expr::Update(_));
                    let step = match bare(&binary.left) {
                        Expr::Ident(ident) => {
                            self.uses.writes(&ident.to_id()).iter().take(64).try_fold(1.0, |step: f64, one| {
                                match one.kind {
                                    Kind::Begun(_) | Kind::Declared => Some(step),
                                    Kind::Step(by) => Some(step.max(by)),
                                    _ => None,
                                }
                            })
                        }
                        _ => Some(1.0),
                    };
                    let number = self.most(limit).filter(|_| named && !grows)?;
                    Some(number / step?)
                }
                BinaryOp::Gt | BinaryOp::GtEq => begun(&binary.left),
                _ => None,
            },
            counter @ Expr::Update(_) => begun(counter),
            _ => None,
        };
        times.filter(|times| times.is_finite() && *times > 0.0)
    }

    fn most(&self, limit: &Expr) -> Option<f64> {
        match limit {
            Expr::Member(member)
                if matches!(bare(&member.obj), Expr::Ident(ident) if self.names.is_free(ident) && &*ident.sym == "Number")
                    && self.names.key(&member.prop).as_text() == Some("MAX_SAFE_INTEGER") =>
            {
                Some(9_007_199_254_740_991.0)
            }
            _ => self.names.value(limit).as_number(),
        }
    }

    fn inside(&mut self, times: Option<f64>, span: Span, body: impl FnOnce(&mut Self)) {
        let (inner, depth) = (std::mem::replace(&mut self.inner, 1.0), std::mem::take(&mut self.depth));
        let (breaks, returns) = (std::mem::take(&mut self.breaks), std::mem::take(&mut self.returns));
        self.loops.push(times);
        body(self);
        self.loops.pop();
        let leaves = self.breaks || self.returns;
        let own = times.filter(|_| !leaves);
        let most = if self.depth > 0 { NESTED } else { ROUNDS };
        let total = own.unwrap_or(1.0) * self.inner;
        if total >= most && self.inner < NESTED {
            self.found.push((span, format!("takes {total:e} rounds in loops")));
        }
        self.inner = inner.max(total);
        self.depth = depth.max(self.depth + u32::from(own.is_some()));
        (self.breaks, self.returns) = (breaks, returns || self.returns);
    }

    /// Whether a loop around runs often enough for doubling to fill any memory.
    fn doubles_often(&mut self, span: Span) -> bool {
        self.loops.iter().any(|times| times.is_some_and(|times| times >= DOUBLINGS)) || self.for_ever(span).is_some()
    }

    /// The endless loop that something stands in.
    fn for_ever(&mut self, span: Span) -> Option<(u32, u32)> {
        if self.loops.is_empty() {
            return None;
        }
        let endless = unbounded_operation::endless_ranges(self.source);
        endless.iter().take(64).find(|(start, end)| (*start..*end).contains(&span.lo.0)).copied()
    }

    /// How often something is done in each call, where the loops around it say so.
    fn rounds(&self) -> f64 {
        self.loops.iter().flatten().product()
    }

    /// Whether something only grows in the loops around it, to more than any cell holds.
    fn fills(&mut self, id: &Id, span: Span) -> bool {
        let many = self.rounds() >= LETTERS && !self.loops.iter().any(Option::is_none);
        let (start, end) = match self.for_ever(span) {
            Some(range) => range,
            None if many => (0, u32::MAX),
            None => return false,
        };
        let range = Range { start, end, function: 0, round: 0 };
        let uses = self.uses.contents_in(id, range).unwrap_or_default();
        let here = uses.iter().any(|one| one.at == span.lo.0 && one.always);
        here && uses.iter().all(|one| !matches!(one.kind, Kind::Shrunk | Kind::Mutated))
            && self
                .uses
                .writes_in(id, range)
                .is_some_and(|writes| writes.iter().all(|one| many && one.kind == Kind::Declared))
    }
}

/// How many bytes a member of a typed array takes; 0 of anything else.
fn width(kind: &str) -> f64 {
    match kind {
        "Uint8Array" | "Int8Array" | "Uint8ClampedArray" => 1.0,
        "Uint16Array" | "Int16Array" | "Float16Array" => 2.0,
        "Uint32Array" | "Int32Array" | "Float32Array" => 4.0,
        "Float64Array" | "BigInt64Array" | "BigUint64Array" => 8.0,
        _ => 0.0,
    }
}

impl Walk<'_, '_> {
    /// A function in a loop is not run by the loop.
    fn apart(&mut self, visit: impl FnOnce(&mut Self)) {
        let (loops, inner) = (std::mem::take(&mut self.loops), std::mem::replace(&mut self.inner, 1.0));
        let (depth, breaks, returns) = (std::mem::take(&mut self.depth), self.breaks, self.returns);
        visit(self);
        (self.loops, self.inner, self.depth) = (loops, inner, depth);
        (self.breaks, self.returns) = (breaks, returns);
    }

    /// Whether a name begins as a `BigInt`.
    fn names_big(&self, id: &Id) -> bool {
        self.uses.writes(id).iter().take(64).any(|one| matches!(one.kind, Kind::Large))
    }

    /// For `while (text.length < 1e9)`: enough rounds of doubling to count.
    fn length_limit(&self, test: &Expr) -> Option<f64> {
        let Expr::Bin(binary) = bare(test) else { return None };
        let limit = self.names.value(&binary.right).as_number()?;
        (matches!(binary.op, BinaryOp::Lt | BinaryOp::LtEq) && limit >= LETTERS).then_some(30.0)
    }
}
