//! Loops without an exit, and endless generators.
//!
//! One visit of the statements, in execution order: code after a `break` is unreachable, and a
//! `break` counts for the statement that it leaves, not for the one around it.
//!
//! Invariant: a loop is only called endless if no reachable `break`, `return` or `throw` leaves it;
//! a function starts reachable, whatever surrounds it.

use rustc_hash::{FxHashMap, FxHashSet};
use swc_atoms::Atom;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrowExpr, BlockStmt, CallExpr, Callee, Class, Constructor, Expr, ForOfStmt, Function, Id, Program, Stmt,
    SwitchStmt, TryStmt, VarDeclarator, YieldExpr,
};
use swc_ecma_visit::{Visit, VisitWith};
use toolcell_i18n::msgid;

use super::condition::{ALWAYS, ConditionAnalyzer};
use crate::semantics::mutation::{MutationKind, SourceRange, static_key};
use crate::syntax::expr::peel_parens;

const NOTHING: &str = msgid!("loops without end: nothing leaves the loop");
const STUCK: &str = msgid!("loops without end: an iteration that changes nothing repeats forever");
const FILLS: &str = msgid!("loops without end: each iteration appends to what the loop iterates over");

/// The loops and generators of a program.
#[derive(Default)]
pub(in crate::rules) struct LoopReport {
    /// Endless loops, with the reason.
    pub(in crate::rules) endless: Vec<(Span, &'static str)>,
    /// The start and end of the endless loops.
    pub(in crate::rules) ranges: Vec<(u32, u32)>,
    /// Endless generator functions.
    pub(super) generators: FxHashSet<Id>,
    /// Generator methods by name, and whether all of them are endless. They include iterators of
    /// classes.
    pub(super) methods: FxHashMap<Atom, bool>,
    /// Generators, with those that they delegate to.
    pub(super) delegates: Vec<(Id, Id)>,
    /// `for … of` loops without an exit.
    pub(super) drains: Vec<(Box<Expr>, Span)>,
}

/// Analyses the loops of a program.
pub(in crate::rules) fn analyze_loops(program: &Program, judge: &ConditionAnalyzer<'_>) -> LoopReport {
    let mut walk = LoopVisitor {
        conditions: judge,
        report: LoopReport::default(),
        frames: Vec::new(),
        barriers: Vec::new(),
        is_reachable: true,
        labels: Vec::new(),
        generator: None,
    };
    walk.in_function(Span::default(), None, |walk| program.visit_children_with(walk));
    walk.report
}

/// The name of a generator.
#[derive(Clone)]
enum GeneratorName {
    Name(Id),
    Method(Atom),
}

#[derive(PartialEq, Clone, Copy)]
enum FrameKind {
    Function,
    Loop,
    Switch,
    Block,
    Try,
}

struct Frame {
    kind: FrameKind,
    labels: Vec<Atom>,
    has_break: bool,
    yields: bool,
    /// The outermost frame that something inside of this one jumps to.
    outermost_exit: usize,
    function: u32,
}

struct LoopVisitor<'a> {
    conditions: &'a ConditionAnalyzer<'a>,
    report: LoopReport,
    frames: Vec<Frame>,
    /// Frames whose `finally` overrides every exit.
    barriers: Vec<usize>,
    /// Whether the next statement is reachable.
    is_reachable: bool,
    labels: Vec<Atom>,
    generator: Option<GeneratorName>,
}

impl LoopVisitor<'_> {
    fn in_frame(&mut self, what: FrameKind, visit: impl FnOnce(&mut Self)) -> Frame {
        let labels = std::mem::take(&mut self.labels);
        let function = self.frames.last().map_or(0, |frame| frame.function);
        self.frames.push(Frame {
            kind: what,
            labels,
            has_break: false,
            yields: false,
            outermost_exit: usize::MAX,
            function,
        });
        visit(self);
        let frame = self.frames.pop();
        let Some(frame) = frame else {
            return Frame {
                kind: what,
                labels: Vec::new(),
                has_break: true,
                yields: false,
                outermost_exit: 0,
                function,
            };
        };
        if what != FrameKind::Function
            && let Some(around) = self.frames.last_mut()
        {
            around.outermost_exit = around.outermost_exit.min(frame.outermost_exit);
            around.yields |= frame.yields;
        }
        frame
    }

    /// Returns whether something inside of a just closed frame leaves it.
    fn has_exit(&self, frame: &Frame) -> bool {
        frame.has_break || frame.outermost_exit < self.frames.len()
    }

    fn find_target(&self, check: impl Fn(&Frame) -> bool) -> Option<usize> {
        let inside = self.frames.iter().rposition(|frame| frame.kind == FrameKind::Function).unwrap_or(0);
        self.frames.iter().rposition(check).filter(|found| *found >= inside).or(Some(inside))
    }

    fn jump(&mut self, target: Option<usize>, breaks: bool) {
        let Some(target) = target.filter(|_| self.is_reachable) else { return };
        if self.barriers.last().is_some_and(|barrier| target < *barrier) {
            return;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.outermost_exit = frame.outermost_exit.min(target);
        }
        if breaks && let Some(frame) = self.frames.get_mut(target) {
            frame.has_break = true;
        }
    }

    fn note_throw(&mut self) {
        let target = self.find_target(|frame| matches!(frame.kind, FrameKind::Function | FrameKind::Try));
        self.jump(target, false);
    }

    fn in_function(&mut self, span: Span, owner: Option<GeneratorName>, visit: impl FnOnce(&mut Self)) {
        let (reach, barriers) = (std::mem::replace(&mut self.is_reachable, true), std::mem::take(&mut self.barriers));
        let labels = std::mem::take(&mut self.labels);
        let mut falls = true;
        let before = self.generator.take();
        let depth = self.frames.len();
        self.frames.push(Frame {
            kind: FrameKind::Function,
            labels: Vec::new(),
            has_break: false,
            yields: false,
            outermost_exit: usize::MAX,
            function: span.lo.0,
        });
        self.generator.clone_from(&owner);
        visit(self);
        falls &= self.is_reachable;
        let frame = self.frames.pop();
        let endless = !falls && frame.is_some_and(|frame| frame.outermost_exit > depth && !frame.has_break);
        match owner {
            Some(GeneratorName::Name(id)) if endless => {
                self.report.generators.insert(id);
            }
            Some(GeneratorName::Method(name)) => {
                let known = self.report.methods.entry(name).or_insert(true);
                *known &= endless;
            }
            _ => {}
        }
        (self.is_reachable, self.barriers, self.labels, self.generator) = (reach, barriers, labels, before);
    }

    fn loop_range(&self, span: Span, start: u32) -> SourceRange {
        let function = self.frames.last().map_or(0, |frame| frame.function);
        SourceRange { start, end: span.hi.0, function, loop_start: span.lo.0 }
    }

    /// Visits a loop with an optional condition.
    fn visit_loop(&mut self, span: Span, start: u32, test: Option<&Expr>, body: &Stmt, rest: impl FnOnce(&mut Self)) {
        let truth = test.map_or(Some(true), |test| self.conditions.truth(test));
        let first = matches!(body, Stmt::Block(_)) && start == body.span().lo.0;
        let reach = self.is_reachable;
        let frame = self.in_frame(FrameKind::Loop, |walk| {
            walk.is_reachable &= truth != Some(false) || first;
            body.visit_with(walk);
            walk.is_reachable = reach;
            rest(walk);
        });
        self.is_reachable = reach;
        if self.has_exit(&frame) || !reach {
            return;
        }
        let range = self.loop_range(span, start);
        let why = match test {
            None => Some(NOTHING),
            Some(test) => match truth {
                Some(true) => Some(ALWAYS),
                Some(false) => None,
                None => self
                    .conditions
                    .why_always_true(test, range)
                    .or_else(|| self.conditions.has_stuck_path(test, body, range).then_some(STUCK)),
            },
        };
        if let Some(why) = why {
            // A loop that may not be entered does not stop what follows.
            self.is_reachable = truth != Some(true);
            if frame.yields {
                self.is_reachable = false;
            } else {
                self.report.ranges.push((span.lo.0, span.hi.0));
                self.report.endless.push((span, why));
            }
        }
    }

    fn visit_switch(&mut self, node: &SwitchStmt) {
        node.discriminant.visit_with(self);
        let reach = self.is_reachable;
        let mut covered = false;
        let frame = self.in_frame(FrameKind::Switch, |walk| {
            walk.is_reachable = false;
            for case in &node.cases {
                covered |= case.test.is_none();
                case.test.visit_with(walk);
                walk.is_reachable = reach;
                case.cons.visit_with(walk);
            }
        });
        self.is_reachable = reach && (self.is_reachable || frame.has_break || !covered);
    }

    fn visit_try(&mut self, node: &TryStmt) {
        let reach = self.is_reachable;
        let mut undoes = false;
        if let Some(last) = &node.finalizer {
            // The `finally` block runs however the others end, and may override their exit.
            last.visit_with(self);
            undoes = !self.is_reachable;
            self.is_reachable = reach;
        }
        if undoes {
            self.barriers.push(self.frames.len());
        }
        let mut falls = false;
        if node.handler.is_some() {
            self.in_frame(FrameKind::Try, |walk| node.block.visit_with(walk));
        } else {
            node.block.visit_with(self);
        }
        falls |= self.is_reachable;
        if let Some(handler) = &node.handler {
            self.is_reachable = reach;
            handler.body.visit_with(self);
            falls |= self.is_reachable;
        }
        if undoes {
            self.barriers.pop();
        }
        self.is_reachable = falls && !undoes;
    }

    fn visit_labeled(&mut self, node: &swc_ecma_ast::LabeledStmt) {
        self.labels.push(node.label.sym.clone());
        match &*node.body {
            Stmt::While(_) | Stmt::DoWhile(_) | Stmt::For(_) | Stmt::ForOf(_) | Stmt::ForIn(_) | Stmt::Labeled(_) => {
                node.body.visit_with(self);
            }
            _ => {
                let reach = self.is_reachable;
                let frame = self.in_frame(FrameKind::Block, |walk| node.body.visit_with(walk));
                self.is_reachable = reach && (self.is_reachable || frame.has_break);
            }
        }
        self.labels.clear();
    }

    fn visit_for_of(&mut self, node: &ForOfStmt) {
        node.right.visit_with(self);
        let reach = self.is_reachable;
        let frame = self.in_frame(FrameKind::Loop, |walk| node.body.visit_with(walk));
        self.is_reachable = reach;
        if self.has_exit(&frame) || !reach {
            return;
        }
        let range = self.loop_range(node.span, node.body.span().lo.0);
        if !frame.yields && self.appends_each_round(node, range) {
            self.report.endless.push((node.span, FILLS));
        }
        if !frame.yields
            && matches!(peel_parens(&node.right), Expr::Call(_) | Expr::Ident(_) | Expr::New(_) | Expr::This(_))
        {
            self.report.drains.push((node.right.clone(), node.span));
        }
    }

    /// Returns whether each round of `for (… of list)` appends to the list.
    fn appends_each_round(&self, node: &ForOfStmt, range: SourceRange) -> bool {
        let Expr::Ident(list) = peel_parens(&node.right) else { return false };
        let Some((grown, 0)) = self.conditions.net_growth(&list.to_id(), range) else { return false };
        let front = find_append(&node.body, &list.to_id(), &mut Vec::new());
        let loop_name = match &node.left {
            swc_ecma_ast::ForHead::VarDecl(decl) => decl.decls.first().and_then(|decl| decl.name.as_ident()),
            _ => None,
        };
        // Adding an existing member to a set does not extend it.
        let new = front.is_some_and(|(name, first)| match name.as_str() {
            "push" => true,
            "add" => !matches!(peel_parens(&first), Expr::Ident(same) if loop_name.is_some_and(|own| own.id.to_id() == same.to_id()) || self.conditions.mutations.writes_in(&same.to_id(), range).is_none_or(<[_]>::is_empty))
                && !matches!(peel_parens(&first), Expr::Lit(_)),
            _ => false,
        });
        grown > 0
            && new
            && self
                .conditions
                .mutations
                .contents_in(&list.to_id(), range)
                .is_some_and(|uses| uses.iter().all(|one| matches!(one.kind, MutationKind::Grown(_))))
    }
}

impl Visit for LoopVisitor<'_> {
    fn visit_stmt(&mut self, node: &Stmt) {
        match node {
            Stmt::Return(node) => {
                node.arg.visit_with(self);
                let target = self.find_target(|frame| frame.kind == FrameKind::Function);
                self.jump(target, false);
                self.is_reachable = false;
            }
            Stmt::Throw(node) => {
                node.arg.visit_with(self);
                self.note_throw();
                self.is_reachable = false;
            }
            Stmt::Break(node) => {
                let target = match &node.label {
                    None => self.find_target(|frame| matches!(frame.kind, FrameKind::Loop | FrameKind::Switch)),
                    Some(label) => self.find_target(|frame| frame.labels.contains(&label.sym)),
                };
                self.jump(target, true);
                self.is_reachable = false;
            }
            Stmt::Continue(node) => {
                let target = match &node.label {
                    None => self.find_target(|frame| frame.kind == FrameKind::Loop),
                    Some(label) => self.find_target(|frame| frame.labels.contains(&label.sym)),
                };
                self.jump(target, false);
                self.is_reachable = false;
            }
            Stmt::If(node) => {
                node.test.visit_with(self);
                let truth = self.conditions.truth(&node.test);
                let reach = self.is_reachable;
                self.is_reachable = reach && truth != Some(false);
                node.cons.visit_with(self);
                let falls = self.is_reachable;
                self.is_reachable = reach && truth != Some(true);
                node.alt.visit_with(self);
                self.is_reachable |= falls;
            }
            Stmt::While(node) => {
                self.visit_loop(node.span, node.span.lo.0, Some(&node.test), &node.body, |walk| {
                    node.test.visit_with(walk);
                });
            }
            Stmt::DoWhile(node) => {
                let start = node.body.span().lo.0;
                self.visit_loop(node.span, start, Some(&node.test), &node.body, |walk| node.test.visit_with(walk));
            }
            Stmt::For(node) => {
                let labels = std::mem::take(&mut self.labels);
                node.init.visit_with(self);
                self.labels = labels;
                let start = node.init.as_ref().map_or(node.span.lo.0, |init| init.span().hi.0);
                self.visit_loop(node.span, start, node.test.as_deref(), &node.body, |walk| {
                    node.test.visit_with(walk);
                    node.update.visit_with(walk);
                });
            }
            Stmt::ForOf(node) => self.visit_for_of(node),
            Stmt::ForIn(node) => {
                let reach = self.is_reachable;
                self.in_frame(FrameKind::Loop, |walk| node.body.visit_with(walk));
                self.is_reachable = reach;
            }
            Stmt::Switch(node) => self.visit_switch(node),
            Stmt::Try(node) => self.visit_try(node),
            Stmt::Labeled(node) => self.visit_labeled(node),
            _ => node.visit_children_with(self),
        }
    }

    fn visit_block_stmt(&mut self, block: &BlockStmt) {
        block.stmts.visit_with(self);
    }

    fn visit_yield_expr(&mut self, node: &YieldExpr) {
        node.arg.visit_with(self);
        if let Some(frame) = self.frames.last_mut() {
            frame.yields = true;
        }
        if node.delegate
            && let Some(GeneratorName::Name(own)) = &self.generator
            && let Some(Expr::Call(call)) = node.arg.as_deref().map(peel_parens)
            && let Callee::Expr(callee) = &call.callee
            && let Expr::Ident(callee) = peel_parens(callee)
            && self
                .frames
                .last()
                .is_some_and(|frame| frame.kind == FrameKind::Function && frame.outermost_exit == usize::MAX)
        {
            self.report.delegates.push((own.clone(), callee.to_id()));
        }
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        call.visit_children_with(self);
        let Callee::Expr(callee) = &call.callee else { return };
        let ends = match peel_parens(callee) {
            Expr::Ident(name) => self.conditions.mutations.throwing_functions.contains(&name.sym),
            Expr::Member(member) => static_key(&member.prop).is_some_and(|name| {
                self.conditions.mutations.throwing_functions.contains(&name)
                    || matches!(&*name, "throwIfAborted" | "exit" | "assert")
            }),
            _ => false,
        };
        if ends {
            self.note_throw();
        }
    }

    fn visit_if_stmt(&mut self, node: &swc_ecma_ast::IfStmt) {
        node.visit_children_with(self);
    }

    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        let owner = decl.function.is_generator.then(|| GeneratorName::Name(decl.ident.to_id()));
        self.in_function(decl.function.span, owner, |walk| decl.function.visit_children_with(walk));
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let (Some(name), Some(Expr::Fn(function))) =
            (declarator.name.as_ident(), declarator.init.as_deref().map(peel_parens))
        {
            let owner = function.function.is_generator.then(|| GeneratorName::Name(name.id.to_id()));
            self.in_function(function.function.span, owner, |walk| function.function.visit_children_with(walk));
        } else {
            declarator.visit_children_with(self);
        }
    }

    fn visit_method_prop(&mut self, method: &swc_ecma_ast::MethodProp) {
        let owner = key_name(&method.key).filter(|_| method.function.is_generator).map(GeneratorName::Method);
        self.in_function(method.function.span, owner, |walk| method.function.visit_children_with(walk));
    }

    fn visit_class_method(&mut self, method: &swc_ecma_ast::ClassMethod) {
        let owner = key_name(&method.key).filter(|_| method.function.is_generator).map(GeneratorName::Method);
        self.in_function(method.function.span, owner, |walk| method.function.visit_children_with(walk));
    }

    fn visit_class(&mut self, class: &Class) {
        let reach = self.is_reachable;
        class.visit_children_with(self);
        self.is_reachable = reach;
    }

    fn visit_function(&mut self, function: &Function) {
        self.in_function(function.span, None, |walk| function.visit_children_with(walk));
    }

    fn visit_arrow_expr(&mut self, arrow: &ArrowExpr) {
        self.in_function(arrow.span, None, |walk| arrow.visit_children_with(walk));
    }

    fn visit_constructor(&mut self, node: &Constructor) {
        self.in_function(node.span, None, |walk| node.visit_children_with(walk));
    }

    fn visit_ts_type(&mut self, _: &swc_ecma_ast::TsType) {}
}

/// Returns the call that appends to a list, among the statements of a body.
fn find_append(body: &Stmt, list: &Id, path: &mut Vec<()>) -> Option<(Atom, Expr)> {
    match body {
        Stmt::Block(block) if path.len() < 4 => {
            path.push(());
            block.stmts.iter().find_map(|statement| find_append(statement, list, path))
        }
        Stmt::Expr(node) => {
            let Expr::Call(call) = peel_parens(&node.expr) else { return None };
            let Callee::Expr(callee) = &call.callee else { return None };
            let Expr::Member(member) = peel_parens(callee) else { return None };
            let own = matches!(peel_parens(&member.obj), Expr::Ident(ident) if ident.to_id() == *list);
            let first = call.args.first().filter(|arg| own && arg.spread.is_none())?;
            Some((static_key(&member.prop)?, (*first.expr).clone()))
        }
        _ => None,
    }
}

/// Returns the name of a method; `@@iterator` for the iterator method.
pub(super) fn key_name(key: &swc_ecma_ast::PropName) -> Option<Atom> {
    match key {
        swc_ecma_ast::PropName::Ident(name) => Some(name.sym.clone()),
        swc_ecma_ast::PropName::Str(text) => Some(text.value.to_atom_lossy().into_owned()),
        swc_ecma_ast::PropName::Computed(computed) => match peel_parens(&computed.expr) {
            Expr::Member(member) if matches!(peel_parens(&member.obj), Expr::Ident(symbol) if &*symbol.sym == "Symbol") => {
                static_key(&member.prop).map(|name| format!("@@{name}").into())
            }
            _ => None,
        },
        _ => None,
    }
}
