//! Busy waits: loops that end only by the clock, or by a write of another thread to shared memory,
//! and do nothing meanwhile.
//!
//! In a cell such a loop wastes fuel, and no other thread ever writes to its memory. The effects of
//! a loop are recorded in one visit. Afterwards its exits are checked: its condition, and the
//! conditions around each `break`, `return` and `throw`.
//!
//! Invariants: code that is not understood counts as work or as another exit, so the loop is not
//! reported; each loop takes a bounded number of steps.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use swc_atoms::Atom;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrowExpr, AssignOp, AssignTarget, AwaitExpr, BinaryOp, Callee, Class, Expr, ExprOrSpread, Function, Ident, Lit,
    MemberExpr, NewExpr, OptChainBase, Pat, Program, SimpleAssignTarget, Stmt, UnaryOp, VarDecl, VarDeclOrExpr,
};
use toolcell_i18n::msgid;

use crate::semantics::bindings::{Bindings, ReturnedExpr};
use crate::semantics::mutation::{Mutations, SourceRange, is_callback_free_method, static_key};
use crate::semantics::value::Root;
use crate::syntax::expr::peel_parens;
use crate::syntax::visit::{self, Visitor};

const CLOCK: &str = msgid!("busy-waits for the clock");
const MEMORY: &str = msgid!("busy-waits for shared memory");

/// The maximum number of inspected parts of a condition, including those of the functions that it
/// calls.
const MAX_PARTS: u32 = 64;
/// The maximum number of inspected exits of a loop, and of conditions around each of them.
const MAX_EXITS: usize = 8;
const MAX_GUARDS: usize = 4;

/// Finds the busy waits, with a message about what each waits for.
pub(super) fn find_busy_waits(program: &Program, names: &Bindings<'_>, uses: &Mutations) -> Vec<(Span, &'static str)> {
    let mut waiting = BusyWaitVisitor {
        names,
        mutations: uses,
        assigned: FxHashMap::default(),
        frames: Vec::new(),
        guards: Vec::new(),
        labels: SmallVec::new(),
        found: Vec::new(),
    };
    visit::walk_program(program, &mut waiting);
    waiting.found
}

/// The dependency of an expression's value, inside of a loop without effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dependency {
    /// Nothing that changes.
    Constant,
    Clock,
    Memory,
    /// Something that the loop changes, or that is not understood.
    Other,
}

impl Dependency {
    fn combine(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Other => Self::Other,
            Self::Constant => other(),
            own => match other() {
                Self::Other => Self::Other,
                _ => own,
            },
        }
    }
}

/// A condition, with its depth in enclosing frames.
type Guard<'a> = (usize, &'a Expr);

/// A jump, with the conditions around it and the outermost frame that it leaves.
struct Exit<'a> {
    guards: SmallVec<[Guard<'a>; MAX_GUARDS]>,
    outermost: usize,
}

/// A loop, or another statement that `break` can leave.
struct Frame<'a> {
    is_loop: bool,
    /// Whether a `break` without a label leaves it.
    is_break_target: bool,
    labels: SmallVec<[Atom; 1]>,
    exits: Vec<Exit<'a>>,
    /// Whether it has an observable effect, or too many exits.
    does_work: bool,
}

/// A value that is assigned to a name.
#[derive(Clone, Copy)]
enum Assigned<'a> {
    Value(&'a Expr),
    /// A value that is added to the previous one.
    Added(&'a Expr),
}

struct BusyWaitVisitor<'a, 'n> {
    names: &'n Bindings<'n>,
    mutations: &'n Mutations,
    /// The values assigned to names, by source position.
    assigned: FxHashMap<u32, Assigned<'a>>,
    frames: Vec<Frame<'a>>,
    guards: Vec<Guard<'a>>,
    labels: SmallVec<[Atom; 1]>,
    found: Vec<(Span, &'static str)>,
}

impl<'a> BusyWaitVisitor<'a, '_> {
    fn note_work(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.does_work = true;
        }
    }

    fn note_exit(&mut self, outermost: usize) {
        let guards = self.guards.iter().rev().take(MAX_GUARDS).copied().collect();
        let Some(frame) = self.frames.last_mut() else { return };
        if frame.exits.len() < MAX_EXITS {
            frame.exits.push(Exit { guards, outermost });
        } else {
            frame.does_work = true;
        }
    }

    fn in_frame(&mut self, is_loop: bool, is_broken: bool, visit: impl FnOnce(&mut Self)) -> Option<Frame<'a>> {
        let labels = std::mem::take(&mut self.labels);
        self.frames.push(Frame { is_loop, is_break_target: is_broken, labels, exits: Vec::new(), does_work: false });
        visit(self);
        let frame = self.frames.pop()?;
        let depth = self.frames.len();
        // An exit that leaves this frame and further ones is an exit of those, too.
        if let Some(around) = self.frames.last_mut() {
            around.does_work |= frame.does_work;
        }
        for exit in &frame.exits {
            if exit.outermost < depth
                && let Some(around) = self.frames.last_mut()
            {
                if around.exits.len() < MAX_EXITS {
                    around.exits.push(Exit { guards: exit.guards.clone(), outermost: exit.outermost });
                } else {
                    around.does_work = true;
                }
            }
        }
        Some(frame)
    }

    fn in_loop(&mut self, span: Span, start: u32, test: Option<&'a Expr>, visit: impl FnOnce(&mut Self)) {
        let depth = self.frames.len();
        let Some(frame) = self.in_frame(true, true, visit) else { return };
        if frame.does_work {
            return;
        }
        let range = SourceRange { start, end: span.hi.0, function: 0, loop_start: span.lo.0 };
        let mut waits_for = Dependency::Constant;
        let mut exits = Vec::new();
        if let Some(test) = test {
            self.conjuncts(test, range, &mut MAX_PARTS.clone(), &mut exits);
        }
        for exit in frame.exits.iter().filter(|exit| exit.outermost <= depth) {
            exits.push(self.exit_dependency(exit, depth, range));
        }
        for exit in exits {
            match exit {
                Dependency::Other => return,
                Dependency::Constant => {}
                external => waits_for = external,
            }
        }
        match waits_for {
            Dependency::Clock => self.found.push((span, CLOCK)),
            Dependency::Memory => self.found.push((span, MEMORY)),
            Dependency::Constant | Dependency::Other => {}
        }
    }

    /// Returns what decides whether a jump is taken.
    fn exit_dependency(&self, exit: &Exit<'a>, depth: usize, range: SourceRange) -> Dependency {
        let inside = exit.guards.iter().filter(|(at, _)| *at > depth);
        let each: SmallVec<[Dependency; MAX_GUARDS]> =
            inside.map(|(_, guard)| self.dependency(guard, range, &mut MAX_PARTS.clone())).collect();
        // All conditions must hold, so one that depends on the clock is enough. An unconditional
        // jump is another exit.
        let external = each.iter().find(|one| matches!(one, Dependency::Clock | Dependency::Memory));
        match external {
            Some(external) => *external,
            None if each.is_empty() || each.contains(&Dependency::Other) => Dependency::Other,
            None => Dependency::Constant,
        }
    }

    /// Collects what each part of a condition that can end the loop depends on.
    fn conjuncts(&self, test: &Expr, range: SourceRange, parts: &mut u32, exits: &mut Vec<Dependency>) {
        match peel_parens(test) {
            Expr::Bin(binary) if binary.op == BinaryOp::LogicalAnd && *parts > 0 => {
                *parts -= 1;
                self.conjuncts(&binary.left, range, parts, exits);
                self.conjuncts(&binary.right, range, parts, exits);
            }
            other => exits.push(self.dependency(other, range, parts)),
        }
    }

    /// Returns what the value of an expression depends on, if nothing else in the range has an
    /// effect.
    fn dependency(&self, expr: &Expr, range: SourceRange, parts: &mut u32) -> Dependency {
        if *parts == 0 {
            return Dependency::Other;
        }
        *parts -= 1;
        match peel_parens(expr) {
            Expr::Lit(_) | Expr::This(_) => Dependency::Constant,
            Expr::Tpl(template) => self.all_dependencies(template.exprs.iter().map(|expr| &**expr), range, parts),
            Expr::Ident(ident) => self.name_dependency(ident, range, parts),
            Expr::Unary(unary) if unary.op != UnaryOp::Delete => self.dependency(&unary.arg, range, parts),
            Expr::Bin(binary) => self.all_dependencies([&*binary.left, &*binary.right], range, parts),
            Expr::Cond(choice) => self.all_dependencies([&*choice.test, &*choice.cons, &*choice.alt], range, parts),
            Expr::Assign(assign) if assign.op == AssignOp::Assign => self.dependency(&assign.right, range, parts),
            Expr::Member(member) => self.member_dependency(member, range, parts),
            Expr::Call(call) => match &call.callee {
                Callee::Expr(callee) => self.call_dependency(callee, &call.args, range, parts),
                _ => Dependency::Other,
            },
            Expr::New(new) => match new.args.as_deref().unwrap_or_default() {
                _ if !self.is_date(new) => Dependency::Other,
                [] => Dependency::Clock,
                args => self.args_dependency(args, range, parts),
            },
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => self.member_dependency(member, range, parts),
                OptChainBase::Call(call) => self.call_dependency(&call.callee, &call.args, range, parts),
            },
            _ => Dependency::Other,
        }
    }

    fn all_dependencies<'e>(
        &self,
        exprs: impl IntoIterator<Item = &'e Expr>,
        range: SourceRange,
        parts: &mut u32,
    ) -> Dependency {
        exprs.into_iter().fold(Dependency::Constant, |all, expr| all.combine(|| self.dependency(expr, range, parts)))
    }

    fn args_dependency(&self, args: &[ExprOrSpread], range: SourceRange, parts: &mut u32) -> Dependency {
        self.all_dependencies(args.iter().map(|arg| &*arg.expr), range, parts)
    }

    /// Returns the dependency of a name: constant if the loop does not write to it, else that of
    /// the assigned values.
    fn name_dependency(&self, ident: &Ident, range: SourceRange, parts: &mut u32) -> Dependency {
        if self.names.is_free(ident) {
            let is_constant = matches!(&*ident.sym, "undefined" | "NaN" | "Infinity");
            return if is_constant { Dependency::Constant } else { Dependency::Other };
        }
        let Some(writes) = self.mutations.writes_in(&ident.to_id(), range) else { return Dependency::Other };
        writes.iter().fold(Dependency::Constant, |all, write| {
            all.combine(|| match self.assigned.get(&write.position) {
                Some(Assigned::Value(value)) => self.dependency(value, range, parts),
                // Adding a constant makes a counter; adding the elapsed time makes a clock.
                Some(Assigned::Added(value)) => match self.dependency(value, range, parts) {
                    Dependency::Constant => Dependency::Other,
                    other => other,
                },
                None => Dependency::Other,
            })
        })
    }

    fn member_dependency(&self, member: &MemberExpr, range: SourceRange, parts: &mut u32) -> Dependency {
        // A member of a built-in that is not called is a constant: `Number.MAX_SAFE_INTEGER`.
        if matches!(peel_parens(&member.obj), Expr::Ident(ident) if self.names.is_free(ident)) {
            return Dependency::Constant;
        }
        let object = self.dependency(&member.obj, range, parts);
        match &member.prop {
            swc_ecma_ast::MemberProp::Computed(key) => object.combine(|| self.dependency(&key.expr, range, parts)),
            _ => object,
        }
    }

    fn call_dependency(&self, callee: &Expr, args: &[ExprOrSpread], range: SourceRange, parts: &mut u32) -> Dependency {
        let value = self.names.value(callee);
        if let Some(thing) = value.as_path().filter(|thing| thing.root == Root::Global) {
            return match thing.names().unwrap_or_default().as_slice() {
                ["Date"] => Dependency::Clock,
                names if is_clock(names) => Dependency::Clock,
                ["Atomics", "load"] => Dependency::Memory,
                // With a value that was just read, this is a step of an update that is retried
                // until it succeeds.
                ["Atomics", "compareExchange" | "exchange"] => match self.args_dependency(args, range, parts) {
                    Dependency::Constant => Dependency::Memory,
                    _ => Dependency::Other,
                },
                names if is_pure(names) => self.args_dependency(args, range, parts),
                _ => Dependency::Other,
            };
        }
        if let Some(ReturnedExpr::Expr(given)) = self.names.returned_expr(callee) {
            return self.dependency(given, range, parts).combine(|| self.args_dependency(args, range, parts));
        }
        match peel_parens(callee) {
            Expr::Member(member) if static_key(&member.prop).is_some_and(|name| is_reading_method(&name)) => {
                self.dependency(&member.obj, range, parts).combine(|| self.args_dependency(args, range, parts))
            }
            _ => Dependency::Other,
        }
    }

    fn is_date(&self, new: &NewExpr) -> bool {
        let class = self.names.value(&new.callee);
        class.as_path().is_some_and(|thing| thing.root == Root::Global && thing.names().as_deref() == Some(&["Date"]))
    }

    /// Returns whether a call has no observable effect except its result.
    fn is_effect_free_call(&self, callee: &Expr, args: &[ExprOrSpread], parts: &mut u32) -> bool {
        if *parts == 0 {
            return false;
        }
        *parts -= 1;
        let value = self.names.value(callee);
        if let Some(thing) = value.as_path().filter(|thing| thing.root == Root::Global) {
            let names = thing.names().unwrap_or_default();
            return matches!(names.as_slice(), ["Date"] | ["console" | "Math", _])
                || matches!(names.as_slice(), ["Atomics", "load" | "compareExchange" | "exchange"])
                || is_clock(&names)
                || is_pure(&names);
        }
        match self.names.returned_expr(callee) {
            Some(ReturnedExpr::Nothing) => return true,
            Some(ReturnedExpr::Expr(given)) => return self.is_effect_free(given, parts),
            None => {}
        }
        let no_callback = |arg: &ExprOrSpread| !matches!(peel_parens(&arg.expr), Expr::Fn(_) | Expr::Arrow(_));
        matches!(peel_parens(callee), Expr::Member(member)
            if static_key(&member.prop).is_some_and(|name| is_reading_method(&name)) && args.iter().all(no_callback))
    }

    fn is_effect_free(&self, expr: &Expr, parts: &mut u32) -> bool {
        if *parts == 0 {
            return false;
        }
        *parts -= 1;
        match peel_parens(expr) {
            Expr::Lit(_) | Expr::This(_) | Expr::Ident(_) => true,
            Expr::Unary(unary) => unary.op != UnaryOp::Delete && self.is_effect_free(&unary.arg, parts),
            Expr::Bin(binary) => self.is_effect_free(&binary.left, parts) && self.is_effect_free(&binary.right, parts),
            Expr::Cond(choice) => {
                [&choice.test, &choice.cons, &choice.alt].into_iter().all(|expr| self.is_effect_free(expr, parts))
            }
            Expr::Member(member) => self.is_effect_free(&member.obj, parts) && !member.prop.is_computed(),
            Expr::Call(call) => match &call.callee {
                Callee::Expr(callee) => {
                    self.is_effect_free_call(callee, &call.args, parts)
                        && call.args.iter().all(|arg| self.is_effect_free(&arg.expr, parts))
                }
                _ => false,
            },
            Expr::New(new) => {
                self.is_date(new) && new.args.iter().flatten().all(|arg| self.is_effect_free(&arg.expr, parts))
            }
            _ => false,
        }
    }

    /// Returns whether an `await` continues at once: `await null` only lets pending jobs run.
    fn is_immediate_await(&self, waits: &AwaitExpr) -> bool {
        match peel_parens(&waits.arg) {
            Expr::Lit(Lit::Null(_) | Lit::Num(_) | Lit::Bool(_) | Lit::Str(_)) => true,
            Expr::Ident(ident) => self.names.is_free(ident) && &*ident.sym == "undefined",
            Expr::Call(call) if call.args.is_empty() => match &call.callee {
                Callee::Expr(callee) => {
                    let callee = self.names.value(callee);
                    callee.as_path().is_some_and(|thing| thing.is_global_below(&["Promise", "resolve"]))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Visits a function, which runs when it is called, not with the enclosing loop.
    fn outside_loops(&mut self, visit: impl FnOnce(&mut Self)) {
        let frames = std::mem::take(&mut self.frames);
        let guards = std::mem::take(&mut self.guards);
        let labels = std::mem::take(&mut self.labels);
        visit(self);
        (self.frames, self.guards, self.labels) = (frames, guards, labels);
    }

    fn with_guard(&mut self, guard: &'a Expr, visit: impl FnOnce(&mut Self)) {
        self.guards.push((self.frames.len(), guard));
        visit(self);
        self.guards.pop();
    }
}

/// Returns whether a function reads the clock.
fn is_clock(names: &[&str]) -> bool {
    matches!(
        names,
        ["Date" | "performance", "now"]
            | ["Temporal", "Now", ..]
            | ["process", "hrtime" | "uptime"]
            | ["process", "hrtime", "bigint"]
            | ["Bun", "nanoseconds"]
    )
}

/// Returns whether the result of a built-in function depends only on its arguments.
fn is_pure(names: &[&str]) -> bool {
    match names {
        ["Math", name] => *name != "random",
        ["Number" | "String" | "BigInt" | "Boolean" | "parseInt" | "parseFloat" | "isNaN" | "isFinite"]
        | ["Number" | "BigInt", _]
        | ["Date", "parse" | "UTC"]
        | ["String", "fromCharCode"] => true,
        _ => false,
    }
}

/// Returns whether a method only reads its object: those of dates, texts and numbers.
fn is_reading_method(name: &str) -> bool {
    is_callback_free_method(name)
        || matches!(name, "valueOf" | "toISOString" | "toJSON" | "toTimeString" | "since" | "until" | "total")
        || name.strip_prefix("get").is_some_and(|rest| {
            let rest = rest.strip_prefix("UTC").unwrap_or(rest);
            matches!(
                rest,
                "Time" | "FullYear" | "Month" | "Date" | "Day" | "Hours" | "Minutes" | "Seconds" | "Milliseconds"
            )
        })
}

impl<'a> Visitor<'a> for BusyWaitVisitor<'a, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::While(looped) => self.in_loop(looped.span, looped.span.lo.0, Some(&looped.test), |waiting| {
                waiting.visit_expr(&looped.test);
                waiting.visit_stmt(&looped.body);
            }),
            Stmt::DoWhile(looped) => self.in_loop(looped.span, looped.span.lo.0, Some(&looped.test), |waiting| {
                waiting.visit_stmt(&looped.body);
                waiting.visit_expr(&looped.test);
            }),
            Stmt::For(looped) => {
                let labels = std::mem::take(&mut self.labels);
                match &looped.init {
                    Some(VarDeclOrExpr::VarDecl(variables)) => self.visit_variables(variables),
                    Some(VarDeclOrExpr::Expr(expr)) => self.visit_expr(expr),
                    None => {}
                }
                self.labels = labels;
                let start = looped.init.as_ref().map_or(looped.span.lo.0, |init| init.span().hi.0);
                self.in_loop(looped.span, start, looped.test.as_deref(), |waiting| {
                    looped.test.iter().chain(&looped.update).for_each(|expr| waiting.visit_expr(expr));
                    waiting.visit_stmt(&looped.body);
                });
            }
            Stmt::ForOf(_) | Stmt::ForIn(_) => {
                self.in_frame(true, true, |waiting| visit::walk_stmt(waiting, stmt));
                // The iterated object may be anything.
                self.note_work();
            }
            Stmt::Switch(switch) => {
                self.visit_expr(&switch.discriminant);
                self.in_frame(false, true, |waiting| {
                    waiting.with_guard(&switch.discriminant, |waiting| {
                        for case in &switch.cases {
                            case.test.iter().for_each(|test| waiting.visit_expr(test));
                            case.cons.iter().for_each(|stmt| waiting.visit_stmt(stmt));
                        }
                    });
                });
            }
            Stmt::If(choice) => {
                self.visit_expr(&choice.test);
                self.with_guard(&choice.test, |waiting| {
                    waiting.visit_stmt(&choice.cons);
                    choice.alt.iter().for_each(|alt| waiting.visit_stmt(alt));
                });
            }
            Stmt::Labeled(labelled) => {
                self.labels.push(labelled.label.sym.clone());
                let is_target = matches!(
                    &*labelled.body,
                    Stmt::While(_)
                        | Stmt::DoWhile(_)
                        | Stmt::For(_)
                        | Stmt::ForOf(_)
                        | Stmt::ForIn(_)
                        | Stmt::Labeled(_)
                );
                if is_target {
                    self.visit_stmt(&labelled.body);
                } else {
                    self.in_frame(false, false, |waiting| waiting.visit_stmt(&labelled.body));
                }
                self.labels.clear();
            }
            Stmt::Break(jump) => {
                let target = match &jump.label {
                    None => self.frames.iter().rposition(|frame| frame.is_break_target),
                    Some(label) => self.frames.iter().rposition(|frame| frame.labels.contains(&label.sym)),
                };
                self.note_exit(target.unwrap_or_default());
            }
            Stmt::Continue(jump) => {
                let target = match &jump.label {
                    None => self.frames.iter().rposition(|frame| frame.is_loop),
                    Some(label) => self.frames.iter().rposition(|frame| frame.labels.contains(&label.sym)),
                };
                self.note_exit(target.map_or(0, |target| target + 1));
            }
            Stmt::Return(_) | Stmt::Throw(_) => {
                visit::walk_stmt(self, stmt);
                self.note_exit(0);
            }
            _ => visit::walk_stmt(self, stmt),
        }
    }

    fn visit_variables(&mut self, variables: &'a VarDecl) {
        for declarator in &variables.decls {
            if let (Pat::Ident(name), Some(init)) = (&declarator.name, declarator.init.as_deref()) {
                self.assigned.insert(name.id.span.lo.0, Assigned::Value(init));
            }
        }
        visit::walk_variables(self, variables);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let works = match expr {
            Expr::Assign(assign) => {
                let name = matches!(&assign.left, AssignTarget::Simple(SimpleAssignTarget::Ident(_)));
                let assigned = match assign.op {
                    AssignOp::Assign => Some(Assigned::Value(&assign.right)),
                    AssignOp::AddAssign | AssignOp::SubAssign => Some(Assigned::Added(&assign.right)),
                    _ => None,
                };
                if let Some(assigned) = assigned.filter(|_| name) {
                    self.assigned.insert(assign.span.lo.0, assigned);
                }
                !name
            }
            Expr::Update(update) => !matches!(peel_parens(&update.arg), Expr::Ident(_)),
            Expr::Unary(unary) => unary.op == UnaryOp::Delete,
            Expr::Await(waits) if self.is_immediate_await(waits) => return,
            Expr::Await(_) | Expr::Yield(_) | Expr::TaggedTpl(_) => true,
            Expr::New(new) => !self.is_date(new),
            Expr::Call(call) => match &call.callee {
                Callee::Expr(callee) => {
                    !self.frames.is_empty() && !self.is_effect_free_call(callee, &call.args, &mut MAX_PARTS.clone())
                }
                _ => true,
            },
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(_) => false,
                OptChainBase::Call(call) => !self.is_effect_free_call(&call.callee, &call.args, &mut MAX_PARTS.clone()),
            },
            _ => false,
        };
        if works {
            self.note_work();
        }
        visit::walk_expr(self, expr);
    }

    fn visit_function(&mut self, function: &'a Function) {
        self.outside_loops(|waiting| visit::walk_function(waiting, function));
    }

    fn visit_arrow(&mut self, arrow: &'a ArrowExpr) {
        self.outside_loops(|waiting| visit::walk_arrow(waiting, arrow));
    }

    fn visit_class(&mut self, class: &'a Class) {
        self.outside_loops(|waiting| visit::walk_class(waiting, class));
    }
}
