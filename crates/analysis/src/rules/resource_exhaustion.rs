//! `resource-exhaustion`: operations that are certain to take more memory or time than any tool
//! needs.
//!
//! Sizes are computed bottom up ([`size`]), and so are the rounds of loops; a doubling in a loop
//! counts by its rounds. Busy waits are found by their exit conditions ([`busy_wait`]).
//!
//! Invariant: values from the caller count as one; only amounts that the source itself fixes are
//! reported. A function inside of a loop is not run by the loop, unless the loop is a method that
//! calls it.

mod busy_wait;
mod exponential_recursion;
mod growth;
mod size;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashSet;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    AssignExpr, AssignOp, AssignTarget, BinExpr, BinaryOp, CallExpr, Callee, Expr, ExprOrSpread, ForOfStmt, ForStmt,
    Id, Lit, NewExpr, SimpleAssignTarget, Stmt,
};
use swc_ecma_visit::{Visit, VisitWith};
use toolcell_i18n::{Message, message, msgid};

use super::{Findings, Rule, RuleContext, display_path, unbounded_operation};
use crate::report::finding::{RuleId, Severity};
use crate::semantics::bindings::Bindings;
use crate::semantics::facts::UseKind;
use crate::semantics::mutation::{MutationKind, Mutations, SourceRange};
use crate::semantics::quickjs::{self, Reach};
use crate::semantics::value::{Literal, Root, Value};
use crate::syntax::expr::peel_parens;
use crate::syntax::named_functions;
use exponential_recursion::SelfCallPatterns;
use growth::doubled;
use size::{Size, Sizes};

pub(super) const RULE: Rule = Rule {
    id: RuleId("resource-exhaustion"),
    max_severity: Severity::Medium,
    docs: include_str!("resource_exhaustion.md"),
    check,
};

const SUGGESTION: &str = msgid!("work in chunks sized to the input; a call has 64 MiB unless it is given more");
const WAIT: &str = msgid!("await a timer: `await sleep(ms)` or `await new Promise((done) => setTimeout(done, ms))`");

/// Functions that block the only thread.
const BLOCKING: [&[&str]; 2] = [&["Atomics", "wait"], &["Bun", "sleepSync"]];

/// Sizes that exceed the memory of any cell: bytes, list elements, characters.
const EXCESSIVE_BYTES: f64 = 5e7;
const EXCESSIVE_ELEMENTS: f64 = 1e7;
const EXCESSIVE_TEXT: f64 = 2e7;

/// A waiting time, in milliseconds, that exceeds the duration of any call.
const EXCESSIVE_WAIT_MS: f64 = 1e7;

/// Numbers of rounds, of a loop and of nested loops, that exceed any fuel budget.
const EXCESSIVE_ROUNDS: f64 = 1e10;
const EXCESSIVE_NESTED_ROUNDS: f64 = 1e9;

/// A number of doublings after which one character exceeds the memory of any cell.
const EXCESSIVE_DOUBLINGS: f64 = 25.0;

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    let sizes = Sizes::new(source.names);
    let (mut doubling, mut shapes) = (FxHashSet::default(), SelfCallPatterns::new(&sizes));
    named_functions::for_each(source.program, |name, function| {
        if growth::is_doubling(function, source.names) {
            doubling.insert(name.to_id());
        }
        shapes.add_function(name, function);
    });
    let mut walk = ResourceVisitor {
        source,
        names: source.names,
        mutations: source.mutations(),
        sizes: &sizes,
        doubling_functions: doubling,
        found: shapes.find_calls(source.program),
        loop_rounds: Vec::new(),
        inner_rounds: 1.0,
        counted_depth: 0,
        has_break: false,
        has_return: false,
    };
    source.program.visit_with(&mut walk);
    // `const wait = (ms) => new Promise((done) => setTimeout(done, ms))`, called with a constant.
    for call in &source.facts.calls {
        let waits = call.callee.as_path().is_some_and(|thing| thing.is_global_below(&["setTimeout"]));
        if waits && call.args.get(1).and_then(Value::as_path).is_some_and(|thing| thing.root == Root::Params) {
            for other in &source.facts.calls {
                let own = other.callee.as_path().is_some_and(|thing| thing.root == Root::Literal(Literal::Function));
                if own
                    && let Some(time) =
                        other.args.first().and_then(Value::as_number).filter(|time| *time >= EXCESSIVE_WAIT_MS)
                {
                    walk.found.push((other.span, wait_message(time)));
                }
            }
        }
    }
    for (span, message) in walk.found {
        findings.add(Severity::Medium, span, message, SUGGESTION);
    }
    for (span, message) in busy_wait::find_busy_waits(source.program, source.names, source.mutations()) {
        findings.add(Severity::Medium, span, Message::from(message), WAIT);
    }
    let globals = BLOCKING.iter().flat_map(|path| source.facts.uses_of_global(path));
    let of_engine = source.facts.uses.iter().filter(|used| quickjs::reach_of(&used.path) == Some(Reach::Sleep));
    for used in globals.chain(of_engine).filter(|used| used.kind != UseKind::TypeTested) {
        let message = message!("blocks the only thread: `{path}`", path = display_path(used));
        findings.add(Severity::Medium, used.span, message, WAIT);
    }
}

fn wait_message(time: f64) -> Message {
    message!("waits for {time} ms", time = format_args!("{time:e}"))
}

fn allocation_message(bytes: f64) -> Message {
    message!("allocates {count} bytes at once", count = format_args!("{bytes:e}"))
}

/// Returns the value of a `BigInt` expression.
fn bigint_value(names: &Bindings, expr: &Expr, steps: u32) -> Option<f64> {
    match peel_parens(expr) {
        Expr::Lit(Lit::BigInt(number)) => number.value.to_string().parse().ok(),
        Expr::Ident(ident) if steps > 0 => bigint_value(names, names.sole_initializer(ident)?, steps - 1),
        Expr::Bin(binary) => {
            let (left, right) = (bigint_value(names, &binary.left, steps)?, bigint_value(names, &binary.right, steps)?);
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
            let (object, key) = (names.object_literal(&member.obj)?, names.key(&member.prop).to_js_string()?);
            object.props.iter().find_map(|prop| {
                let swc_ecma_ast::PropOrSpread::Prop(prop) = prop else { return None };
                let swc_ecma_ast::Prop::KeyValue(pair) = &**prop else { return None };
                let own = pair.key.as_ident().is_some_and(|name| *name.sym == *key);
                if own { bigint_value(names, &pair.value, steps - 1) } else { None }
            })
        }
        // `BigInt(1e9)`.
        Expr::Call(call) => {
            let Callee::Expr(callee) = &call.callee else { return None };
            let global = names.value(callee).as_path().is_some_and(|thing| thing.is_global_below(&["BigInt"]));
            call.args.first().filter(|_| global).and_then(|arg| names.value(&arg.expr).to_number())
        }
        _ => None,
    }
}

struct ResourceVisitor<'a, 's> {
    source: &'a RuleContext<'s>,
    names: &'a Bindings<'a>,
    mutations: &'a Mutations,
    sizes: &'a Sizes<'a>,
    /// Functions that double their argument.
    doubling_functions: FxHashSet<Id>,
    found: Vec<(Span, Message)>,
    /// The number of rounds of each enclosing loop, if known.
    loop_rounds: Vec<Option<f64>>,
    /// The number of rounds of the loops inside of the current one.
    inner_rounds: f64,
    /// The nesting depth of counted loops, including the current one.
    counted_depth: u32,
    /// Whether something leaves the current loop, or all enclosing ones.
    has_break: bool,
    has_return: bool,
}

impl ResourceVisitor<'_, '_> {
    fn check_call(&mut self, callee: &Expr, args: &[ExprOrSpread], new: bool, span: Span) {
        let value = self.names.value(callee);
        let Some(thing) = value.as_path() else { return };
        let names = thing.names().unwrap_or_default();
        let number = |index: usize| self.names.args(args).get(index).and_then(Value::as_number).unwrap_or(0.0);
        let bytes = match names.as_slice() {
            ["Buffer", "alloc" | "allocUnsafe" | "allocUnsafeSlow"] => number(0),
            ["ArrayBuffer" | "SharedArrayBuffer"] if new => number(0),
            [kind] if new && element_bytes(kind) > 0.0 => number(0) * element_bytes(kind),
            _ => 0.0,
        };
        if bytes >= EXCESSIVE_BYTES {
            self.found.push((span, allocation_message(bytes)));
        }
        if let ["setTimeout" | "setInterval"] = names.as_slice() {
            let time = number(1);
            if time >= EXCESSIVE_WAIT_MS {
                self.found.push((span, wait_message(time)));
            }
        }
    }

    /// Checks a call whose size is given by an object: `Uint8Array.from({ length })`,
    /// `new WebAssembly.Memory({ initial })`.
    fn check_described_call(&mut self, callee: &Expr, args: &[ExprOrSpread], span: Span) {
        let value = self.names.value(callee);
        let Some(names) = value.as_path().and_then(crate::semantics::value::AccessPath::names) else { return };
        let Some(first) = args.first() else { return };
        let bytes = match names.as_slice() {
            [kind, "from"] if element_bytes(kind) > 0.0 => {
                self.sizes.length_field(&first.expr).unwrap_or(0.0) * element_bytes(kind)
            }
            ["WebAssembly", "Memory"] => self.sizes.number_field(&first.expr, "initial").unwrap_or(0.0) * 65536.0,
            _ => 0.0,
        };
        if bytes >= EXCESSIVE_BYTES {
            self.found.push((span, allocation_message(bytes)));
        }
        if matches!(names.as_slice(), ["Promise", "all" | "allSettled" | "race" | "any"])
            && self.sizes.size_of(&first.expr).count() >= 1e6
        {
            self.found.push((span, message!("waits for more promises than a cell can hold")));
        }
    }

    fn check_size(&mut self, expr: &Expr, span: Span) {
        match self.sizes.size_of(expr) {
            Size::Text(count) if count >= EXCESSIVE_TEXT => {
                let count = format!("{count:.0e}");
                self.found.push((span, message!("allocates {count} characters at once", count)));
            }
            Size::List(count) if count > EXCESSIVE_ELEMENTS => {
                let count = format!("{count:.0e}");
                self.found.push((span, message!("allocates {count} elements at once", count)));
            }
            Size::Other(count) if count > EXCESSIVE_ELEMENTS => {
                let count = format!("{count:.0e}");
                self.found.push((span, message!("creates an object with {count} members", count)));
            }
            _ => {}
        }
    }

    /// Returns the number of rounds of a loop with this condition.
    fn rounds_of(&self, test: &Expr) -> Option<f64> {
        let begun = |expr: &Expr| {
            let counter = match peel_parens(expr) {
                Expr::Update(update) => peel_parens(&update.arg),
                other => other,
            };
            let Expr::Ident(ident) = counter else { return None };
            self.mutations.writes(&ident.to_id()).iter().take(64).find_map(|one| match one.kind {
                MutationKind::DeclaredNumber(number) => Some(number),
                _ => None,
            })
        };
        let times = match peel_parens(test) {
            Expr::Bin(binary) => match binary.op {
                BinaryOp::Lt | BinaryOp::LtEq | BinaryOp::NotEq | BinaryOp::NotEqEq => {
                    let limit = peel_parens(&binary.right);
                    let grows = matches!(limit, Expr::Ident(ident) if self.mutations.writes(&ident.to_id()).len() > 1);
                    let named = matches!(peel_parens(&binary.left), Expr::Ident(_) | Expr::Update(_));
                    let step = match peel_parens(&binary.left) {
                        Expr::Ident(ident) => {
                            self.mutations.writes(&ident.to_id()).iter().take(64).try_fold(1.0, |step: f64, one| {
                                match one.kind {
                                    MutationKind::DeclaredNumber(_) | MutationKind::Declared => Some(step),
                                    MutationKind::Step(by) => Some(step.max(by)),
                                    _ => None,
                                }
                            })
                        }
                        _ => Some(1.0),
                    };
                    let number = self.limit_value(limit).filter(|_| named && !grows)?;
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

    fn limit_value(&self, limit: &Expr) -> Option<f64> {
        match limit {
            Expr::Member(member)
                if matches!(peel_parens(&member.obj), Expr::Ident(ident) if self.names.is_free(ident) && &*ident.sym == "Number")
                    && self.names.key(&member.prop).as_text() == Some("MAX_SAFE_INTEGER") =>
            {
                Some(9_007_199_254_740_991.0)
            }
            _ => self.names.value(limit).as_number(),
        }
    }

    fn in_loop(&mut self, times: Option<f64>, span: Span, body: impl FnOnce(&mut Self)) {
        let (inner, depth) = (std::mem::replace(&mut self.inner_rounds, 1.0), std::mem::take(&mut self.counted_depth));
        let (breaks, returns) = (std::mem::take(&mut self.has_break), std::mem::take(&mut self.has_return));
        self.loop_rounds.push(times);
        body(self);
        self.loop_rounds.pop();
        let leaves = self.has_break || self.has_return;
        let own = times.filter(|_| !leaves);
        let most = if self.counted_depth > 0 { EXCESSIVE_NESTED_ROUNDS } else { EXCESSIVE_ROUNDS };
        let total = own.unwrap_or(1.0) * self.inner_rounds;
        if total >= most && self.inner_rounds < EXCESSIVE_NESTED_ROUNDS {
            self.found.push((span, message!("runs {count} loop iterations", count = format_args!("{total:e}"))));
        }
        self.inner_rounds = inner.max(total);
        self.counted_depth = depth.max(self.counted_depth + u32::from(own.is_some()));
        (self.has_break, self.has_return) = (breaks, returns || self.has_return);
    }

    /// Returns whether an enclosing loop runs often enough for a doubling to exhaust the memory.
    fn doubles_often(&mut self, span: Span) -> bool {
        self.loop_rounds.iter().any(|times| times.is_some_and(|times| times >= EXCESSIVE_DOUBLINGS))
            || self.enclosing_endless_loop(span).is_some()
    }

    /// Returns the endless loop around a span.
    fn enclosing_endless_loop(&mut self, span: Span) -> Option<(u32, u32)> {
        if self.loop_rounds.is_empty() {
            return None;
        }
        let endless = unbounded_operation::endless_ranges(self.source);
        endless.iter().take(64).find(|(start, end)| (*start..*end).contains(&span.lo.0)).copied()
    }

    /// Returns the number of times that the enclosing loops run the current node.
    fn total_rounds(&self) -> f64 {
        self.loop_rounds.iter().flatten().product()
    }

    /// Returns whether a list only grows in the enclosing loops, beyond the memory of any cell.
    fn fills_memory(&mut self, id: &Id, span: Span) -> bool {
        let many = self.total_rounds() >= EXCESSIVE_TEXT && !self.loop_rounds.iter().any(Option::is_none);
        let (start, end) = match self.enclosing_endless_loop(span) {
            Some(range) => range,
            None if many => (0, u32::MAX),
            None => return false,
        };
        let range = SourceRange { start, end, function: 0, loop_start: 0 };
        let uses = self.mutations.contents_in(id, range).unwrap_or_default();
        let here = uses.iter().any(|one| one.position == span.lo.0 && one.is_unconditional);
        here && uses.iter().all(|one| !matches!(one.kind, MutationKind::Shrunk | MutationKind::Mutated))
            && self
                .mutations
                .writes_in(id, range)
                .is_some_and(|writes| writes.iter().all(|one| many && one.kind == MutationKind::Declared))
    }

    /// Visits a function inside of a loop, which the loop does not run by itself.
    fn outside_loops(&mut self, visit: impl FnOnce(&mut Self)) {
        let (loops, inner) = (std::mem::take(&mut self.loop_rounds), std::mem::replace(&mut self.inner_rounds, 1.0));
        let (depth, breaks, returns) = (std::mem::take(&mut self.counted_depth), self.has_break, self.has_return);
        visit(self);
        (self.loop_rounds, self.inner_rounds, self.counted_depth) = (loops, inner, depth);
        (self.has_break, self.has_return) = (breaks, returns);
    }

    /// Returns whether a name is initialized with a `BigInt`.
    fn is_bigint(&self, id: &Id) -> bool {
        self.mutations.writes(id).iter().take(64).any(|one| matches!(one.kind, MutationKind::DeclaredBigInt))
    }

    /// Returns enough rounds for doubling in `while (text.length < 1e9)`.
    fn length_limit(&self, test: &Expr) -> Option<f64> {
        let Expr::Bin(binary) = peel_parens(test) else { return None };
        let limit = self.names.value(&binary.right).as_number()?;
        (matches!(binary.op, BinaryOp::Lt | BinaryOp::LtEq) && limit >= EXCESSIVE_TEXT).then_some(30.0)
    }
}

impl Visit for ResourceVisitor<'_, '_> {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Call(_) | Expr::New(_) | Expr::Array(_) | Expr::Object(_) => self.check_size(expr, expr.span()),
            Expr::Bin(binary) if binary.op == BinaryOp::Add => self.check_size(expr, binary.span),
            _ => {}
        }
        expr.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        let mut rounds = None;
        if let Callee::Expr(callee) = &call.callee {
            self.check_call(callee, &call.args, false, call.span);
            if !call.args.is_empty() && matches!(peel_parens(callee), Expr::Member(_)) {
                self.check_described_call(callee, &call.args, call.span);
            }
            if let Expr::Member(member) = peel_parens(callee) {
                let name = self.names.key(&member.prop);
                if let (Expr::Ident(list), Some("push" | "unshift" | "splice" | "add" | "set" | "append")) =
                    (peel_parens(&member.obj), name.as_text())
                {
                    let id = list.to_id();
                    // `list.push(...list)` doubles as well.
                    let same = |arg: &ExprOrSpread| {
                        arg.spread.is_some()
                            && matches!(peel_parens(&arg.expr), Expr::Ident(same) if same.to_id() == id)
                    };
                    if call.args.iter().any(same) && self.doubles_often(call.span) {
                        self.found.push((call.span, message!("doubles a list repeatedly")));
                    } else if self.fills_memory(&id, call.span) {
                        self.found.push((call.span, message!("fills a list endlessly")));
                    }
                }
                if matches!(name.as_text(), Some("forEach" | "map" | "reduce" | "flatMap" | "filter" | "reduceRight")) {
                    if let Size::List(count) = self.sizes.size_of(&member.obj) {
                        rounds = Some(count);
                    }
                    if rounds.is_some_and(|rounds| rounds >= EXCESSIVE_DOUBLINGS)
                        && call.args.first().is_some_and(|arg| growth::doubles_first(&arg.expr, self.names))
                        && name.as_text().is_some_and(|name| name.starts_with("reduce"))
                    {
                        self.found.push((call.span, message!("doubles a value repeatedly")));
                    }
                }
            }
        }
        let Some(rounds) = rounds else { return call.visit_children_with(self) };
        call.callee.visit_with(self);
        for arg in &call.args {
            match peel_parens(&arg.expr) {
                Expr::Arrow(arrow) => self.in_loop(Some(rounds), call.span, |walk| {
                    arrow.body.visit_with(walk);
                    // `return` ends only one round.
                    walk.has_return = false;
                }),
                _ => arg.visit_with(self),
            }
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        let args = new.args.as_deref().unwrap_or_default();
        self.check_call(&new.callee, args, true, new.span);
        self.check_described_call(&new.callee, args, new.span);
        new.visit_children_with(self);
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        let power = match binary.op {
            BinaryOp::Exp => Some(1e6),
            BinaryOp::LShift => Some(1e7),
            _ => None,
        };
        if let Some(power) = power
            && bigint_value(self.names, &binary.right, 8).is_some_and(|by| by >= power)
        {
            self.found.push((binary.span, message!("raises a BigInt to a power too large for a cell")));
        }
        binary.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(target)) if !self.loop_rounds.is_empty() => {
                let id = target.id.to_id();
                let counts = self
                    .mutations
                    .writes(&id)
                    .iter()
                    .take(64)
                    .any(|one| matches!(one.kind, MutationKind::DeclaredNumber(_)));
                let twice = growth::doubles(assign, &id, self.names, &self.doubling_functions);
                let squared = growth::squares(assign, &id) && self.is_bigint(&id);
                if ((twice && !counts) || squared) && self.doubles_often(assign.span) {
                    self.found.push((assign.span, message!("doubles a value repeatedly")));
                }
                if assign.op == AssignOp::AddAssign
                    && matches!(self.sizes.size_of(&assign.right), Size::Text(count) if count > 0.0)
                    && (self.enclosing_endless_loop(assign.span).is_some()
                        || (self.total_rounds() >= EXCESSIVE_TEXT && !self.loop_rounds.iter().any(Option::is_none)))
                {
                    let at =
                        SourceRange { start: assign.span.lo.0, end: assign.span.lo.0 + 1, function: 0, loop_start: 0 };
                    let once = self
                        .mutations
                        .writes(&id)
                        .iter()
                        .take(64)
                        .filter(|one| one.kind == MutationKind::Other)
                        .count()
                        <= 1;
                    let always = self
                        .mutations
                        .writes_in(&id, at)
                        .is_some_and(|writes| writes.iter().any(|one| one.is_unconditional));
                    if once && always {
                        self.found.push((assign.span, message!("appends to a string endlessly")));
                    }
                }
            }
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                // `list[4294967294] = 1`, `list.length = 4294967295`.
                let list = matches!(peel_parens(&member.obj), Expr::Ident(ident) if self.names.sole_initializer(ident).is_some_and(|origin| {
                    matches!(peel_parens(origin), Expr::Array(_)) || matches!(self.sizes.size_of(origin), Size::List(_))
                }));
                let place = match self.names.key(&member.prop) {
                    Value::Number(place) => Some(place),
                    Value::Text(name) if &*name == "length" => self.names.value(&assign.right).as_number(),
                    _ => None,
                };
                if list && place.is_some_and(|place| place > EXCESSIVE_ELEMENTS) {
                    self.found.push((assign.span, message!("creates a list longer than a cell can hold")));
                }
            }
            _ => {}
        }
        assign.visit_children_with(self);
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        let times = node.test.as_deref().and_then(|test| self.rounds_of(test));
        self.in_loop(times, node.span, |walk| node.visit_children_with(walk));
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        node.right.visit_with(self);
        let times = match self.sizes.size_of(&node.right) {
            Size::List(count) if count > 1.0 => Some(count),
            _ => None,
        };
        self.in_loop(times, node.span, |walk| node.body.visit_with(walk));
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        match node {
            Stmt::While(swc_ecma_ast::WhileStmt { test, .. })
            | Stmt::DoWhile(swc_ecma_ast::DoWhileStmt { test, .. }) => {
                let times = self.rounds_of(test).or_else(|| self.length_limit(test));
                self.in_loop(times, node.span(), |walk| node.visit_children_with(walk));
            }
            Stmt::Break(_) => self.has_break = true,
            Stmt::Return(_) | Stmt::Throw(_) => {
                self.has_return = true;
                node.visit_children_with(self);
            }
            Stmt::Switch(_) => {
                let breaks = self.has_break;
                node.visit_children_with(self);
                self.has_break = breaks;
            }
            _ => node.visit_children_with(self),
        }
    }

    fn visit_function(&mut self, function: &swc_ecma_ast::Function) {
        self.outside_loops(|walk| function.visit_children_with(walk));
    }

    fn visit_arrow_expr(&mut self, arrow: &swc_ecma_ast::ArrowExpr) {
        self.outside_loops(|walk| arrow.visit_children_with(walk));
    }
}

/// Returns the bytes of an element of a typed array; 0 for anything else.
fn element_bytes(kind: &str) -> f64 {
    match kind {
        "Uint8Array" | "Int8Array" | "Uint8ClampedArray" => 1.0,
        "Uint16Array" | "Int16Array" | "Float16Array" => 2.0,
        "Uint32Array" | "Int32Array" | "Float32Array" => 4.0,
        "Float64Array" | "BigInt64Array" | "BigUint64Array" => 8.0,
        _ => 0.0,
    }
}
