//! `unbounded-operation`: work that cannot end by itself. Fuel ends it; that is a waste of fuel, and a tool that fails.

use std::collections::HashSet;

use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, AssignExpr, AssignOp, BinaryOp, BreakStmt, CallExpr, Callee, Class, CondExpr,
    ContinueStmt, DoWhileStmt, Expr, ForOfStmt, ForStmt, Function, FunctionBody, Id, Ident, LabeledStmt, ReturnStmt,
    SpreadElement, Stmt, SwitchStmt, ThrowStmt, UpdateExpr, UpdateOp, VarDeclarator, WhileStmt, YieldExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::{Findings, Rule, Source};
use crate::finding::{RuleId, Severity};
use crate::names::{Names, bare};

pub(super) const RULE: Rule = Rule {
    id: RuleId("unbounded-operation"),
    worst: Severity::High,
    page: include_str!("unbounded_operation.md"),
    check,
};

const LOOP: &str = "give the loop a way out: a condition that changes, `break`, `return`";
const RECURSION: &str = "return without calling itself where the input is small enough";
const GENERATOR: &str = "take a number of values: stop the loop with `break` or `return`";

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    let mut endless = EndlessGenerators { names: source.names, found: HashSet::new() };
    source.program.visit_with(&mut endless);
    let mut loops = Loops {
        names: source.names,
        generators: endless.found,
        found: Vec::new(),
        labels: Vec::new(),
        certain: Vec::new(),
    };
    source.program.visit_with(&mut loops);
    for (index, (name, calls, span)) in loops.certain.iter().enumerate() {
        let back =
            loops.certain[index + 1..].iter().any(|(other, back, _)| calls.contains(other) && back.contains(name));
        if back {
            let message = format!("`{}` and another function always call each other", name.0);
            loops.found.push((*span, message, RECURSION));
        }
    }
    for (span, message, suggestion) in loops.found {
        findings.add(Severity::High, span, message, suggestion);
    }
}

/// The generator functions that never stop by themselves.
struct EndlessGenerators<'a> {
    names: &'a Names<'a>,
    found: HashSet<Id>,
}

impl EndlessGenerators<'_> {
    fn note(&mut self, name: &Ident, function: &Function) {
        let Some(body) = function.body.as_ref().filter(|_| function.is_generator) else { return };
        let endless = body.stmts.iter().any(|statement| {
            let (test, inside): (Option<&Expr>, &Stmt) = match statement {
                Stmt::While(node) => (Some(&node.test), &node.body),
                Stmt::For(node) => (node.test.as_deref(), &node.body),
                Stmt::DoWhile(node) => (Some(&node.test), &node.body),
                _ => return false,
            };
            let always = test.is_none_or(|test| self.names.value(test).truth() == Some(true));
            let update = if let Stmt::For(node) = statement { node.update.as_deref() } else { None };
            let never = || test.is_some_and(|test| never_turns(self.names, test, update, inside).is_some());
            !Exits::of(inside, &[], false) && (always || never())
        });
        if endless {
            self.found.insert(name.to_id());
        }
    }
}

impl Visit for EndlessGenerators<'_> {
    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        self.note(&decl.ident, &decl.function);
        decl.visit_children_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Some(name) = declarator.name.as_ident() {
            match declarator.init.as_deref().map(bare) {
                Some(Expr::Fn(function)) => self.note(&name.id, &function.function),
                // `{ *[Symbol.iterator]() { … } }`
                Some(Expr::Object(object)) => {
                    for prop in &object.props {
                        if let swc_ecma_ast::PropOrSpread::Prop(prop) = prop
                            && let swc_ecma_ast::Prop::Method(method) = &**prop
                            && method.key.is_computed()
                        {
                            self.note(&name.id, &method.function);
                        }
                    }
                }
                _ => {}
            }
        }
        declarator.visit_children_with(self);
    }
}

struct Loops<'a> {
    names: &'a Names<'a>,
    generators: HashSet<Id>,
    found: Vec<(Span, String, &'static str)>,
    labels: Vec<String>,
    /// Functions, and those that they certainly call.
    certain: Vec<(Id, Vec<Id>, Span)>,
}

impl Loops<'_> {
    fn endless(&mut self, span: Span, message: &str) {
        self.found.push((span, message.to_owned(), LOOP));
    }

    fn own_labels(&mut self) -> Vec<String> {
        std::mem::take(&mut self.labels)
    }

    fn check(&mut self, span: Span, test: Option<&Expr>, update: Option<&Expr>, body: &Stmt) {
        let labels = self.own_labels();
        if Exits::of(body, &labels, true) {
            return;
        }
        match test {
            None => self.endless(span, "loops without end: nothing leaves the loop"),
            Some(test) if is_constant(test) && self.names.value(test).truth() == Some(true) => {
                self.endless(span, "loops without end: the condition is always true");
            }
            Some(test) => {
                if let Some(message) = never_turns(self.names, test, update, body) {
                    self.endless(span, message);
                }
            }
        }
    }
}

/// Whether a comparison of a counter with a constant can never become false.
fn never_turns(names: &Names, test: &Expr, update: Option<&Expr>, body: &Stmt) -> Option<&'static str> {
    let Expr::Bin(binary) = bare(test) else { return None };
    let Expr::Ident(counter) = bare(&binary.left) else { return None };
    let upwards = match binary.op {
        BinaryOp::Gt | BinaryOp::GtEq => true,
        BinaryOp::Lt | BinaryOp::LtEq => false,
        _ => return None,
    };
    let mut steps = Steps { counter: counter.to_id(), up: false, down: false, other: false };
    update.visit_with_opt(&mut steps);
    body.visit_with(&mut steps);
    test.visit_with(&mut steps);
    let limit = bare(&binary.right);
    let fixed = match limit {
        Expr::Lit(_) => true,
        Expr::Ident(ident) => {
            let mut of_limit = Steps { counter: ident.to_id(), up: false, down: false, other: false };
            body.visit_with(&mut of_limit);
            update.visit_with_opt(&mut of_limit);
            !(of_limit.up || of_limit.down || of_limit.other)
        }
        Expr::Member(member) => {
            // `items.length`, of items that the loop leaves alone.
            let Expr::Ident(ident) = bare(&member.obj) else { return None };
            let mut mentions = Mentions { id: ident.to_id(), found: false };
            body.visit_with(&mut mentions);
            !mentions.found || steps.down
        }
        _ => false,
    };
    if !fixed || steps.other {
        return None;
    }
    match (steps.up, steps.down, upwards) {
        (false, false, _) => {
            // Entered at all, it never ends; a counter that only others change is not seen here.
            let mut calls = Calls(false);
            body.visit_with(&mut calls);
            (!calls.0 && !names.is_free(counter)).then_some("loops without end: its counter never changes")
        }
        (true, false, true) | (false, true, false) => Some("loops without end: its counter moves away from the limit"),
        _ => None,
    }
}

impl Loops<'_> {
    fn recursion(&mut self, name: &Ident, body: &FunctionBody, span: Span) {
        if let [Stmt::Return(node)] = body.stmts.as_slice()
            && let Some(arg) = &node.arg
        {
            self.certain.push((name.to_id(), certain_calls(arg), span));
        }
        if certainly_calls(&body.stmts, &name.to_id()) {
            let message = format!("`{}` always calls itself", name.sym);
            self.found.push((span, message, RECURSION));
        }
    }

    fn drains(&mut self, expr: &Expr, span: Span) {
        if let Expr::Ident(ident) = bare(expr)
            && self.generators.contains(&ident.to_id())
        {
            let message = format!("takes all values of `{}`, which never ends", ident.sym);
            return self.found.push((span, message, GENERATOR));
        }
        if let Expr::Call(call) = bare(expr)
            && let Callee::Expr(callee) = &call.callee
            && let Expr::Ident(ident) = bare(callee)
            && self.generators.contains(&ident.to_id())
        {
            let message = format!("takes all values of `{}`, which never ends", ident.sym);
            self.found.push((span, message, GENERATOR));
        }
    }
}

/// Whether a condition has nothing in it that a loop's body can change behind its name.
fn is_constant(test: &Expr) -> bool {
    let mut changing = Changing(false);
    test.visit_with(&mut changing);
    !changing.0
}

struct Changing(bool);

impl Visit for Changing {
    fn visit_member_expr(&mut self, _: &swc_ecma_ast::MemberExpr) {
        self.0 = true;
    }

    fn visit_call_expr(&mut self, _: &CallExpr) {
        self.0 = true;
    }
}

/// `Option<&Expr>` as something that can be visited.
trait VisitWithOpt {
    fn visit_with_opt(&self, visitor: &mut impl Visit);
}

impl VisitWithOpt for Option<&Expr> {
    fn visit_with_opt(&self, visitor: &mut impl Visit) {
        if let Some(expr) = self {
            expr.visit_with(visitor);
        }
    }
}

impl Visit for Loops<'_> {
    fn visit_labeled_stmt(&mut self, labeled: &LabeledStmt) {
        self.labels.push(labeled.label.sym.to_string());
        labeled.body.visit_with(self);
        self.labels.clear();
    }

    fn visit_while_stmt(&mut self, node: &WhileStmt) {
        self.check(node.span, Some(&node.test), None, &node.body);
        node.visit_children_with(self);
    }

    fn visit_do_while_stmt(&mut self, node: &DoWhileStmt) {
        self.check(node.span, Some(&node.test), None, &node.body);
        node.visit_children_with(self);
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        self.check(node.span, node.test.as_deref(), node.update.as_deref(), &node.body);
        node.visit_children_with(self);
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        let labels = self.own_labels();
        if !Exits::of(&node.body, &labels, true) {
            self.drains(&node.right, node.span);
        }
        node.visit_children_with(self);
    }

    fn visit_spread_element(&mut self, spread: &SpreadElement) {
        self.drains(&spread.expr, spread.expr.span_of());
        spread.visit_children_with(self);
    }

    fn visit_expr_or_spread(&mut self, item: &swc_ecma_ast::ExprOrSpread) {
        if item.spread.is_some() {
            self.drains(&item.expr, item.expr.span_of());
        }
        item.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Some(thing) = self.names.value(callee).as_thing()
            && thing.is_global_below(&["Array", "from"])
            && let Some(first) = call.args.first()
        {
            self.drains(&first.expr, call.span);
        }
        call.visit_children_with(self);
    }

    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        if let Some(body) = decl.function.body.as_ref().filter(|_| !decl.function.is_generator) {
            self.recursion(&decl.ident, body, decl.function.span);
        }
        decl.visit_children_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Some(name) = declarator.name.as_ident() {
            match declarator.init.as_deref().map(bare) {
                Some(Expr::Fn(function)) if !function.function.is_generator => {
                    if let Some(body) = &function.function.body {
                        self.recursion(&name.id, body, function.function.span);
                    }
                }
                Some(Expr::Arrow(arrow)) => match &*arrow.body {
                    ArrowFunctionBody::FunctionBody(body) => self.recursion(&name.id, body, arrow.span),
                    ArrowFunctionBody::Expr(expr) => {
                        self.certain.push((name.id.to_id(), certain_calls(expr), arrow.span));
                        if certain(expr, &name.id.to_id()) {
                            let message = format!("`{}` always calls itself", name.id.sym);
                            self.found.push((arrow.span, message, RECURSION));
                        }
                    }
                },
                _ => {}
            }
        }
        declarator.visit_children_with(self);
    }
}

trait SpanOf {
    fn span_of(&self) -> Span;
}

impl SpanOf for Expr {
    fn span_of(&self) -> Span {
        swc_common::Spanned::span(self)
    }
}

/// Whether a function certainly calls itself, before anything that may end it.
fn certainly_calls(statements: &[Stmt], own: &Id) -> bool {
    for statement in statements {
        match statement {
            Stmt::Expr(node) if certain(&node.expr, own) => return true,
            Stmt::Return(node) => return node.arg.as_deref().is_some_and(|arg| certain(arg, own)),
            Stmt::Decl(swc_ecma_ast::Decl::Var(node))
                if node.decls.iter().filter_map(|decl| decl.init.as_deref()).any(|init| certain(init, own)) =>
            {
                return true;
            }
            Stmt::Block(block) if certainly_calls(&block.stmts, own) => return true,
            Stmt::Throw(_) | Stmt::Break(_) | Stmt::Continue(_) => return false,
            Stmt::Expr(_) | Stmt::Decl(_) | Stmt::Empty(_) | Stmt::Block(_) => {}
            other => {
                // It may leave the function before the call.
                let mut exits = Exits { returns: false, breaks: false, depth: 0, labels: &[] };
                other.visit_with(&mut exits);
                if exits.returns {
                    return false;
                }
            }
        }
    }
    false
}

/// Whether evaluating an expression certainly calls the function.
fn certain(expr: &Expr, own: &Id) -> bool {
    let mut search = Certain { own, found: false };
    expr.visit_with(&mut search);
    search.found
}

/// The functions that evaluating an expression certainly calls.
fn certain_calls(expr: &Expr) -> Vec<Id> {
    let mut callees = Callees(Vec::new());
    expr.visit_with(&mut callees);
    callees.0.retain(|id| certain(expr, id));
    callees.0
}

struct Callees(Vec<Id>);

impl Visit for Callees {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Expr::Ident(ident) = bare(callee)
            && self.0.len() < 16
        {
            self.0.push(ident.to_id());
        }
        call.visit_children_with(self);
    }
}

struct Certain<'a> {
    own: &'a Id,
    found: bool,
}

impl Visit for Certain<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && matches!(bare(callee), Expr::Ident(ident) if ident.to_id() == *self.own)
        {
            self.found = true;
        }
        call.visit_children_with(self);
    }

    fn visit_cond_expr(&mut self, choice: &CondExpr) {
        choice.test.visit_with(self);
    }

    fn visit_bin_expr(&mut self, binary: &swc_ecma_ast::BinExpr) {
        binary.left.visit_with(self);
        if !matches!(binary.op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::NullishCoalescing) {
            binary.right.visit_with(self);
        }
    }

    fn visit_opt_chain_expr(&mut self, _: &swc_ecma_ast::OptChainExpr) {}
    fn visit_function(&mut self, _: &Function) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
    fn visit_class(&mut self, _: &Class) {}
    fn visit_await_expr(&mut self, waits: &swc_ecma_ast::AwaitExpr) {
        waits.arg.visit_with(self);
    }
}

/// How a loop's body can be left.
struct Exits<'a> {
    returns: bool,
    breaks: bool,
    /// Loops and switches around what is looked at, inside of the loop.
    depth: usize,
    labels: &'a [String],
}

impl Exits<'_> {
    /// Whether something in the body can leave the loop; `yield` lets whoever takes the values leave it.
    fn of(body: &Stmt, labels: &[String], yields: bool) -> bool {
        let mut exits = Exits { returns: false, breaks: false, depth: 0, labels };
        body.visit_with(&mut exits);
        let mut yielding = Yields(false);
        if yields {
            body.visit_with(&mut yielding);
        }
        exits.returns || exits.breaks || yielding.0
    }

    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }
}

impl Visit for Exits<'_> {
    fn visit_return_stmt(&mut self, _: &ReturnStmt) {
        self.returns = true;
    }

    fn visit_throw_stmt(&mut self, _: &ThrowStmt) {
        self.returns = true;
    }

    fn visit_break_stmt(&mut self, node: &BreakStmt) {
        match &node.label {
            None => self.breaks |= self.depth == 0,
            Some(label) => self.breaks |= self.labels.iter().any(|own| **own == *label.sym) || self.depth == 0,
        }
        // A label that is not the loop's own stands outside of it, or inside: outside is likelier.
        self.breaks |= node.label.is_some();
    }

    fn visit_continue_stmt(&mut self, node: &ContinueStmt) {
        self.breaks |= node.label.as_ref().is_some_and(|label| !self.labels.iter().any(|own| **own == *label.sym))
            && self.depth == 0;
    }

    fn visit_while_stmt(&mut self, node: &WhileStmt) {
        self.inside(|exits| node.visit_children_with(exits));
    }

    fn visit_do_while_stmt(&mut self, node: &DoWhileStmt) {
        self.inside(|exits| node.visit_children_with(exits));
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        self.inside(|exits| node.visit_children_with(exits));
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        self.inside(|exits| node.visit_children_with(exits));
    }

    fn visit_for_in_stmt(&mut self, node: &swc_ecma_ast::ForInStmt) {
        self.inside(|exits| node.visit_children_with(exits));
    }

    fn visit_switch_stmt(&mut self, node: &SwitchStmt) {
        self.inside(|exits| node.visit_children_with(exits));
    }

    fn visit_function(&mut self, _: &Function) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
    fn visit_class(&mut self, _: &Class) {}
}

struct Yields(bool);

impl Visit for Yields {
    fn visit_yield_expr(&mut self, _: &YieldExpr) {
        self.0 = true;
    }

    fn visit_function(&mut self, _: &Function) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
}

/// How a counter is changed.
struct Steps {
    counter: Id,
    up: bool,
    down: bool,
    other: bool,
}

impl Visit for Steps {
    fn visit_update_expr(&mut self, update: &UpdateExpr) {
        if matches!(bare(&update.arg), Expr::Ident(ident) if ident.to_id() == self.counter) {
            match update.op {
                UpdateOp::PlusPlus => self.up = true,
                UpdateOp::MinusMinus => self.down = true,
            }
        }
        update.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        let mut ids = Targets(Vec::new());
        assign.left.visit_with(&mut ids);
        if ids.0.contains(&self.counter) {
            let positive =
                matches!(bare(&assign.right), Expr::Lit(swc_ecma_ast::Lit::Num(number)) if number.value > 0.0);
            match assign.op {
                AssignOp::AddAssign if positive => self.up = true,
                AssignOp::SubAssign if positive => self.down = true,
                _ => self.other = true,
            }
        }
        assign.visit_children_with(self);
    }
}

struct Targets(Vec<Id>);

impl Visit for Targets {
    fn visit_binding_ident(&mut self, ident: &swc_ecma_ast::BindingIdent) {
        self.0.push(ident.id.to_id());
    }

    fn visit_assign_pat_prop(&mut self, prop: &swc_ecma_ast::AssignPatProp) {
        self.0.push(prop.key.id.to_id());
    }
}

struct Mentions {
    id: Id,
    found: bool,
}

impl Visit for Mentions {
    fn visit_ident(&mut self, ident: &Ident) {
        self.found |= ident.to_id() == self.id;
    }
}

struct Calls(bool);

impl Visit for Calls {
    fn visit_call_expr(&mut self, _: &CallExpr) {
        self.0 = true;
    }
}
