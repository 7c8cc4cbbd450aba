//! Loops that wait for the clock, or for memory that another thread writes to: nothing else ends them, and they do nothing
//! meanwhile.
//!
//! In a cell such a loop spends fuel on nothing, and no other thread ever writes to its memory. What a loop does is noted in
//! one walk. How it ends is judged when all of it was seen, by its condition and by the conditions around each `break`,
//! `return` and `throw`.
//!
//! Invariants: what is not understood is work, or another way out, and then nothing is said; each loop takes a bounded
//! number of steps.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use swc_atoms::Atom;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrowExpr, AssignOp, AssignTarget, AwaitExpr, BinaryOp, Callee, Class, Expr, ExprOrSpread, Function, Ident, Lit,
    MemberExpr, NewExpr, OptChainBase, Pat, Program, SimpleAssignTarget, Stmt, UnaryOp, VarDecl, VarDeclOrExpr,
};

use super::super::uses::{Range, Uses, own_key, plain_method};
use crate::names::{Gives, Names, bare};
use crate::value::Root;
use crate::walk::{self, Walk};

const CLOCK: &str = "waits in a loop for the clock";
const MEMORY: &str = "waits in a loop for shared memory";

/// How many parts of a condition are looked at, those of the functions that it calls with them.
const PARTS: u32 = 64;
/// How many ways out of a loop are looked at, and how many conditions around each of them.
const EXITS: usize = 8;
const GUARDS: usize = 4;

/// The loops that wait, and for what.
pub(super) fn loops(program: &Program, names: &Names<'_>, uses: &Uses) -> Vec<(Span, &'static str)> {
    let mut waiting = Waiting {
        names,
        uses,
        assigned: FxHashMap::default(),
        frames: Vec::new(),
        guards: Vec::new(),
        labels: SmallVec::new(),
        found: Vec::new(),
    };
    walk::walk(program, &mut waiting);
    waiting.found
}

/// What the value of an expression depends on, within a loop that does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depends {
    /// Nothing that changes.
    Nothing,
    Clock,
    Memory,
    /// Something that the loop changes, or that is not understood.
    Other,
}

impl Depends {
    fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::Other => Self::Other,
            Self::Nothing => other(),
            own => match other() {
                Self::Other => Self::Other,
                _ => own,
            },
        }
    }
}

/// A condition, and how many loops and the like are around it.
type Guard<'a> = (usize, &'a Expr);

/// A jump, and the outermost frame that it leaves.
struct Exit<'a> {
    guards: SmallVec<[Guard<'a>; GUARDS]>,
    outermost: usize,
}

/// A loop, or another statement that `break` leaves.
struct Frame<'a> {
    is_loop: bool,
    /// Whether a `break` without a label leaves it.
    is_broken: bool,
    labels: SmallVec<[Atom; 1]>,
    exits: Vec<Exit<'a>>,
    /// Whether it does anything that may be seen, or ends in too many ways.
    works: bool,
}

/// What is written to a name.
#[derive(Clone, Copy)]
enum Assigned<'a> {
    Value(&'a Expr),
    /// Something that is added to what it was.
    Added(&'a Expr),
}

struct Waiting<'a, 'n> {
    names: &'n Names<'n>,
    uses: &'n Uses,
    /// What names are given, by the place in the source where they are.
    assigned: FxHashMap<u32, Assigned<'a>>,
    frames: Vec<Frame<'a>>,
    guards: Vec<Guard<'a>>,
    labels: SmallVec<[Atom; 1]>,
    found: Vec<(Span, &'static str)>,
}

impl<'a> Waiting<'a, '_> {
    fn works(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.works = true;
        }
    }

    fn exit(&mut self, outermost: usize) {
        let guards = self.guards.iter().rev().take(GUARDS).copied().collect();
        let Some(frame) = self.frames.last_mut() else { return };
        if frame.exits.len() < EXITS {
            frame.exits.push(Exit { guards, outermost });
        } else {
            frame.works = true;
        }
    }

    fn frame(&mut self, is_loop: bool, is_broken: bool, visit: impl FnOnce(&mut Self)) -> Option<Frame<'a>> {
        let labels = std::mem::take(&mut self.labels);
        self.frames.push(Frame { is_loop, is_broken, labels, exits: Vec::new(), works: false });
        visit(self);
        let frame = self.frames.pop()?;
        let depth = self.frames.len();
        // What leaves this frame and more of them leaves those around it too.
        if let Some(around) = self.frames.last_mut() {
            around.works |= frame.works;
        }
        for exit in &frame.exits {
            if exit.outermost < depth
                && let Some(around) = self.frames.last_mut()
            {
                if around.exits.len() < EXITS {
                    around.exits.push(Exit { guards: exit.guards.clone(), outermost: exit.outermost });
                } else {
                    around.works = true;
                }
            }
        }
        Some(frame)
    }

    fn looping(&mut self, span: Span, start: u32, test: Option<&'a Expr>, visit: impl FnOnce(&mut Self)) {
        let depth = self.frames.len();
        let Some(frame) = self.frame(true, true, visit) else { return };
        if frame.works {
            return;
        }
        let range = Range { start, end: span.hi.0, function: 0, round: span.lo.0 };
        let mut waits_for = Depends::Nothing;
        let mut exits = Vec::new();
        if let Some(test) = test {
            self.conjuncts(test, range, &mut PARTS.clone(), &mut exits);
        }
        for exit in frame.exits.iter().filter(|exit| exit.outermost <= depth) {
            exits.push(self.guarded(exit, depth, range));
        }
        for exit in exits {
            match exit {
                Depends::Other => return,
                Depends::Nothing => {}
                external => waits_for = external,
            }
        }
        match waits_for {
            Depends::Clock => self.found.push((span, CLOCK)),
            Depends::Memory => self.found.push((span, MEMORY)),
            Depends::Nothing | Depends::Other => {}
        }
    }

    /// What decides whether a jump is taken.
    fn guarded(&self, exit: &Exit<'a>, depth: usize, range: Range) -> Depends {
        let inside = exit.guards.iter().filter(|(at, _)| *at > depth);
        let each: SmallVec<[Depends; GUARDS]> =
            inside.map(|(_, guard)| self.depends(guard, range, &mut PARTS.clone())).collect();
        // All of them must hold, so that one that the clock decides is enough. What is always done is another way out.
        let external = each.iter().find(|one| matches!(one, Depends::Clock | Depends::Memory));
        match external {
            Some(external) => *external,
            None if each.is_empty() || each.contains(&Depends::Other) => Depends::Other,
            None => Depends::Nothing,
        }
    }

    /// What decides about each part of a condition that ends the loop by itself.
    fn conjuncts(&self, test: &Expr, range: Range, parts: &mut u32, exits: &mut Vec<Depends>) {
        match bare(test) {
            Expr::Bin(binary) if binary.op == BinaryOp::LogicalAnd && *parts > 0 => {
                *parts -= 1;
                self.conjuncts(&binary.left, range, parts, exits);
                self.conjuncts(&binary.right, range, parts, exits);
            }
            other => exits.push(self.depends(other, range, parts)),
        }
    }

    /// What the value of an expression depends on, if nothing is done in the range but what stands there.
    fn depends(&self, expr: &Expr, range: Range, parts: &mut u32) -> Depends {
        if *parts == 0 {
            return Depends::Other;
        }
        *parts -= 1;
        match bare(expr) {
            Expr::Lit(_) | Expr::This(_) => Depends::Nothing,
            Expr::Tpl(template) => self.all(template.exprs.iter().map(|expr| &**expr), range, parts),
            Expr::Ident(ident) => self.name(ident, range, parts),
            Expr::Unary(unary) if unary.op != UnaryOp::Delete => self.depends(&unary.arg, range, parts),
            Expr::Bin(binary) => self.all([&*binary.left, &*binary.right], range, parts),
            Expr::Cond(choice) => self.all([&*choice.test, &*choice.cons, &*choice.alt], range, parts),
            Expr::Assign(assign) if assign.op == AssignOp::Assign => self.depends(&assign.right, range, parts),
            Expr::Member(member) => self.member(member, range, parts),
            Expr::Call(call) => match &call.callee {
                Callee::Expr(callee) => self.call(callee, &call.args, range, parts),
                _ => Depends::Other,
            },
            Expr::New(new) => match new.args.as_deref().unwrap_or_default() {
                _ if !self.is_date(new) => Depends::Other,
                [] => Depends::Clock,
                args => self.args(args, range, parts),
            },
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => self.member(member, range, parts),
                OptChainBase::Call(call) => self.call(&call.callee, &call.args, range, parts),
            },
            _ => Depends::Other,
        }
    }

    fn all<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>, range: Range, parts: &mut u32) -> Depends {
        exprs.into_iter().fold(Depends::Nothing, |all, expr| all.and(|| self.depends(expr, range, parts)))
    }

    fn args(&self, args: &[ExprOrSpread], range: Range, parts: &mut u32) -> Depends {
        self.all(args.iter().map(|arg| &*arg.expr), range, parts)
    }

    /// A name that the loop does not write to stays what it is; one that it writes to is what it is given.
    fn name(&self, ident: &Ident, range: Range, parts: &mut u32) -> Depends {
        if self.names.is_free(ident) {
            let is_constant = matches!(&*ident.sym, "undefined" | "NaN" | "Infinity");
            return if is_constant { Depends::Nothing } else { Depends::Other };
        }
        let Some(writes) = self.uses.writes_in(&ident.to_id(), range) else { return Depends::Other };
        writes.iter().fold(Depends::Nothing, |all, write| {
            all.and(|| match self.assigned.get(&write.at) {
                Some(Assigned::Value(value)) => self.depends(value, range, parts),
                // What grows by a constant is a counter; what grows by the time that has passed is the time.
                Some(Assigned::Added(value)) => match self.depends(value, range, parts) {
                    Depends::Nothing => Depends::Other,
                    other => other,
                },
                None => Depends::Other,
            })
        })
    }

    fn member(&self, member: &MemberExpr, range: Range, parts: &mut u32) -> Depends {
        // A member of a built-in that is not called is a constant: `Number.MAX_SAFE_INTEGER`.
        if matches!(bare(&member.obj), Expr::Ident(ident) if self.names.is_free(ident)) {
            return Depends::Nothing;
        }
        let object = self.depends(&member.obj, range, parts);
        match &member.prop {
            swc_ecma_ast::MemberProp::Computed(key) => object.and(|| self.depends(&key.expr, range, parts)),
            _ => object,
        }
    }

    fn call(&self, callee: &Expr, args: &[ExprOrSpread], range: Range, parts: &mut u32) -> Depends {
        let value = self.names.value(callee);
        if let Some(thing) = value.as_thing().filter(|thing| thing.root == Root::Global) {
            return match thing.names().unwrap_or_default().as_slice() {
                ["Date"] => Depends::Clock,
                names if is_clock(names) => Depends::Clock,
                ["Atomics", "load"] => Depends::Memory,
                // With what was just read it is a step of an update, which succeeds or is tried again.
                ["Atomics", "compareExchange" | "exchange"] => match self.args(args, range, parts) {
                    Depends::Nothing => Depends::Memory,
                    _ => Depends::Other,
                },
                names if is_pure(names) => self.args(args, range, parts),
                _ => Depends::Other,
            };
        }
        if let Some(Gives::Expr(given)) = self.names.gives(callee) {
            return self.depends(given, range, parts).and(|| self.args(args, range, parts));
        }
        match bare(callee) {
            Expr::Member(member) if own_key(&member.prop).is_some_and(|name| is_reading(&name)) => {
                self.depends(&member.obj, range, parts).and(|| self.args(args, range, parts))
            }
            _ => Depends::Other,
        }
    }

    fn is_date(&self, new: &NewExpr) -> bool {
        let class = self.names.value(&new.callee);
        class.as_thing().is_some_and(|thing| thing.root == Root::Global && thing.names().as_deref() == Some(&["Date"]))
    }

    /// Whether a call does nothing that may be seen: what it gives is all there is.
    fn is_idle(&self, callee: &Expr, args: &[ExprOrSpread], parts: &mut u32) -> bool {
        if *parts == 0 {
            return false;
        }
        *parts -= 1;
        let value = self.names.value(callee);
        if let Some(thing) = value.as_thing().filter(|thing| thing.root == Root::Global) {
            let names = thing.names().unwrap_or_default();
            return matches!(names.as_slice(), ["Date"] | ["console" | "Math", _])
                || matches!(names.as_slice(), ["Atomics", "load" | "compareExchange" | "exchange"])
                || is_clock(&names)
                || is_pure(&names);
        }
        match self.names.gives(callee) {
            Some(Gives::Nothing) => return true,
            Some(Gives::Expr(given)) => return self.is_idle_expr(given, parts),
            None => {}
        }
        let no_callback = |arg: &ExprOrSpread| !matches!(bare(&arg.expr), Expr::Fn(_) | Expr::Arrow(_));
        matches!(bare(callee), Expr::Member(member)
            if own_key(&member.prop).is_some_and(|name| is_reading(&name)) && args.iter().all(no_callback))
    }

    fn is_idle_expr(&self, expr: &Expr, parts: &mut u32) -> bool {
        if *parts == 0 {
            return false;
        }
        *parts -= 1;
        match bare(expr) {
            Expr::Lit(_) | Expr::This(_) | Expr::Ident(_) => true,
            Expr::Unary(unary) => unary.op != UnaryOp::Delete && self.is_idle_expr(&unary.arg, parts),
            Expr::Bin(binary) => self.is_idle_expr(&binary.left, parts) && self.is_idle_expr(&binary.right, parts),
            Expr::Cond(choice) => {
                [&choice.test, &choice.cons, &choice.alt].into_iter().all(|expr| self.is_idle_expr(expr, parts))
            }
            Expr::Member(member) => self.is_idle_expr(&member.obj, parts) && !member.prop.is_computed(),
            Expr::Call(call) => match &call.callee {
                Callee::Expr(callee) => {
                    self.is_idle(callee, &call.args, parts)
                        && call.args.iter().all(|arg| self.is_idle_expr(&arg.expr, parts))
                }
                _ => false,
            },
            Expr::New(new) => {
                self.is_date(new) && new.args.iter().flatten().all(|arg| self.is_idle_expr(&arg.expr, parts))
            }
            _ => false,
        }
    }

    /// `await null` lets what is ready run, and goes on at once.
    fn is_idle_await(&self, waits: &AwaitExpr) -> bool {
        match bare(&waits.arg) {
            Expr::Lit(Lit::Null(_) | Lit::Num(_) | Lit::Bool(_) | Lit::Str(_)) => true,
            Expr::Ident(ident) => self.names.is_free(ident) && &*ident.sym == "undefined",
            Expr::Call(call) if call.args.is_empty() => match &call.callee {
                Callee::Expr(callee) => {
                    let callee = self.names.value(callee);
                    callee.as_thing().is_some_and(|thing| thing.is_global_below(&["Promise", "resolve"]))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// A function runs when it is called, whatever loop it is written in.
    fn apart(&mut self, visit: impl FnOnce(&mut Self)) {
        let frames = std::mem::take(&mut self.frames);
        let guards = std::mem::take(&mut self.guards);
        let labels = std::mem::take(&mut self.labels);
        visit(self);
        (self.frames, self.guards, self.labels) = (frames, guards, labels);
    }

    fn guard(&mut self, guard: &'a Expr, visit: impl FnOnce(&mut Self)) {
        self.guards.push((self.frames.len(), guard));
        visit(self);
        self.guards.pop();
    }
}

/// Functions that say what time it is.
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

/// Functions of the language whose value depends on their arguments alone.
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

/// Methods that only read what they belong to: those of dates, texts and numbers.
fn is_reading(name: &str) -> bool {
    plain_method(name)
        || matches!(name, "valueOf" | "toISOString" | "toJSON" | "toTimeString" | "since" | "until" | "total")
        || name.strip_prefix("get").is_some_and(|rest| {
            let rest = rest.strip_prefix("UTC").unwrap_or(rest);
            matches!(
                rest,
                "Time" | "FullYear" | "Month" | "Date" | "Day" | "Hours" | "Minutes" | "Seconds" | "Milliseconds"
            )
        })
}

impl<'a> Walk<'a> for Waiting<'a, '_> {
    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::While(looped) => self.looping(looped.span, looped.span.lo.0, Some(&looped.test), |waiting| {
                waiting.expr(&looped.test);
                waiting.stmt(&looped.body);
            }),
            Stmt::DoWhile(looped) => self.looping(looped.span, looped.span.lo.0, Some(&looped.test), |waiting| {
                waiting.stmt(&looped.body);
                waiting.expr(&looped.test);
            }),
            Stmt::For(looped) => {
                let labels = std::mem::take(&mut self.labels);
                match &looped.init {
                    Some(VarDeclOrExpr::VarDecl(variables)) => self.variables(variables),
                    Some(VarDeclOrExpr::Expr(expr)) => self.expr(expr),
                    None => {}
                }
                self.labels = labels;
                let start = looped.init.as_ref().map_or(looped.span.lo.0, |init| init.span().hi.0);
                self.looping(looped.span, start, looped.test.as_deref(), |waiting| {
                    looped.test.iter().chain(&looped.update).for_each(|expr| waiting.expr(expr));
                    waiting.stmt(&looped.body);
                });
            }
            Stmt::ForOf(_) | Stmt::ForIn(_) => {
                self.frame(true, true, |waiting| walk::walk_stmt(waiting, stmt));
                // What it goes through may be anything.
                self.works();
            }
            Stmt::Switch(switch) => {
                self.expr(&switch.discriminant);
                self.frame(false, true, |waiting| {
                    waiting.guard(&switch.discriminant, |waiting| {
                        for case in &switch.cases {
                            case.test.iter().for_each(|test| waiting.expr(test));
                            case.cons.iter().for_each(|stmt| waiting.stmt(stmt));
                        }
                    });
                });
            }
            Stmt::If(choice) => {
                self.expr(&choice.test);
                self.guard(&choice.test, |waiting| {
                    waiting.stmt(&choice.cons);
                    choice.alt.iter().for_each(|alt| waiting.stmt(alt));
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
                    self.stmt(&labelled.body);
                } else {
                    self.frame(false, false, |waiting| waiting.stmt(&labelled.body));
                }
                self.labels.clear();
            }
            Stmt::Break(jump) => {
                let target = match &jump.label {
                    None => self.frames.iter().rposition(|frame| frame.is_broken),
                    Some(label) => self.frames.iter().rposition(|frame| frame.labels.contains(&label.sym)),
                };
                self.exit(target.unwrap_or_default());
            }
            Stmt::Continue(jump) => {
                let target = match &jump.label {
                    None => self.frames.iter().rposition(|frame| frame.is_loop),
                    Some(label) => self.frames.iter().rposition(|frame| frame.labels.contains(&label.sym)),
                };
                self.exit(target.map_or(0, |target| target + 1));
            }
            Stmt::Return(_) | Stmt::Throw(_) => {
                walk::walk_stmt(self, stmt);
                self.exit(0);
            }
            _ => walk::walk_stmt(self, stmt),
        }
    }

    fn variables(&mut self, variables: &'a VarDecl) {
        for declarator in &variables.decls {
            if let (Pat::Ident(name), Some(init)) = (&declarator.name, declarator.init.as_deref()) {
                self.assigned.insert(name.id.span.lo.0, Assigned::Value(init));
            }
        }
        walk::walk_variables(self, variables);
    }

    fn expr(&mut self, expr: &'a Expr) {
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
            Expr::Update(update) => !matches!(bare(&update.arg), Expr::Ident(_)),
            Expr::Unary(unary) => unary.op == UnaryOp::Delete,
            Expr::Await(waits) if self.is_idle_await(waits) => return,
            Expr::Await(_) | Expr::Yield(_) | Expr::TaggedTpl(_) => true,
            Expr::New(new) => !self.is_date(new),
            Expr::Call(call) => match &call.callee {
                Callee::Expr(callee) => {
                    !self.frames.is_empty() && !self.is_idle(callee, &call.args, &mut PARTS.clone())
                }
                _ => true,
            },
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(_) => false,
                OptChainBase::Call(call) => !self.is_idle(&call.callee, &call.args, &mut PARTS.clone()),
            },
            _ => false,
        };
        if works {
            self.works();
        }
        walk::walk_expr(self, expr);
    }

    fn function(&mut self, function: &'a Function) {
        self.apart(|waiting| walk::walk_function(waiting, function));
    }

    fn arrow(&mut self, arrow: &'a ArrowExpr) {
        self.apart(|waiting| walk::walk_arrow(waiting, arrow));
    }

    fn class(&mut self, class: &'a Class) {
        self.apart(|waiting| walk::walk_class(waiting, class));
    }
}
