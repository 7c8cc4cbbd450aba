//! Where each name of a source is changed, and how, for the rules that ask whether a loop can ever end.
//!
//! One pass over the tree. Everything is kept in the order of the source, so that what happens inside of a loop is a
//! range, and asking for it is a binary search.
//!
//! Invariant: a change that is not understood is [`Kind::Other`] or [`Kind::Mutated`], never left out.

mod kinds;

use std::collections::{HashMap, HashSet};

use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrowExpr, AssignExpr, AssignTarget, AwaitExpr, BinExpr, BindingIdent, BlockStmt, CallExpr, Callee, CondExpr,
    Constructor, ContinueStmt, Expr, ExprOrSpread, ForOfStmt, ForStmt, Function, GetterProp, Id, Ident, IfStmt,
    LabeledStmt, MemberExpr, MemberProp, NewExpr, Pat, Program, Prop, SimpleAssignTarget, Stmt, SwitchCase, ThrowStmt,
    UnaryExpr, UnaryOp, UpdateExpr, UpdateOp, VarDeclarator, YieldExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::names::{Names, bare};
pub(super) use kinds::{Kind, Range, Use, harmless_method, own_key};

/// Every use of every name.
pub(super) struct Uses {
    writes: HashMap<Id, Vec<Use>>,
    contents: HashMap<Id, Vec<Use>>,
    /// Writes to members, by the key.
    keys: HashMap<String, Vec<Use>>,
    /// Writes to members whose key is not known, and all that change some content.
    dynamic: Vec<u32>,
    changing: Vec<u32>,
    /// Where something else may run: calls of what is not known to be harmless, `await`, `yield`.
    effects: Vec<u32>,
    /// In which function each name is declared, and whether with a value that nobody else has.
    declared: HashMap<Id, (u32, bool)>,
    pub(super) getters: HashSet<String>,
    /// Functions that may end with an error of their own, by their name.
    pub(super) throwing: HashSet<String>,
    /// Names that are called or mentioned at all, of those that stop timers.
    pub(super) clears: bool,
}

impl Uses {
    pub(super) fn of(program: &Program, names: &Names) -> Self {
        let uses = Self {
            writes: HashMap::new(),
            contents: HashMap::new(),
            keys: HashMap::new(),
            dynamic: Vec::new(),
            changing: Vec::new(),
            effects: Vec::new(),
            declared: HashMap::new(),
            getters: HashSet::new(),
            throwing: HashSet::new(),
            clears: false,
        };
        let mut noting = Noting {
            uses,
            names,
            function: 0,
            constructor: false,
            tool: false,
            maybe: 0,
            skips: false,
            round: 0,
            called: None,
        };
        program.visit_with(&mut noting);
        let mut uses = noting.uses;
        // Children are seen after what is around them here and there.
        uses.writes.values_mut().chain(uses.contents.values_mut()).for_each(|list| list.sort_by_key(|one| one.at));
        uses.keys.values_mut().for_each(|list| list.sort_by_key(|one| one.at));
        for list in [&mut uses.dynamic, &mut uses.changing, &mut uses.effects] {
            list.sort_unstable();
        }
        uses
    }

    /// The changes of a name within a range; `None` where there are too many to look at.
    pub(super) fn writes_in(&self, id: &Id, range: Range) -> Option<&[Use]> {
        within(self.writes.get(id), range)
    }

    /// What happens within a range to what a name stands for.
    pub(super) fn contents_in(&self, id: &Id, range: Range) -> Option<&[Use]> {
        within(self.contents.get(id), range)
    }

    /// All changes of a name.
    pub(super) fn writes(&self, id: &Id) -> &[Use] {
        self.writes.get(id).map_or(&[], Vec::as_slice)
    }

    /// Whether something that is not seen may run within a range.
    pub(super) fn others_run(&self, range: Range) -> bool {
        any(&self.effects, range)
    }

    /// Whether a name can be changed within the range only by what stands there.
    pub(super) fn is_own(&self, id: &Id, range: Range) -> bool {
        let Some((home, _)) = self.declared.get(id) else { return false };
        if !self.others_run(range) {
            return true;
        }
        let foreign = |one: &Use| one.function != range.function || *home != range.function;
        self.writes(id).iter().all(|one| {
            matches!(one.kind, Kind::Declared | Kind::Begun(_) | Kind::Large) || range.holds(one.at) || !foreign(one)
        })
    }

    /// Whether a name keeps its value within the range.
    pub(super) fn is_fixed(&self, id: &Id, range: Range) -> bool {
        self.writes_in(id, range).is_some_and(<[Use]>::is_empty) && self.is_own(id, range)
    }

    /// Whether a list, map or text keeps its content within the range.
    pub(super) fn is_content_fixed(&self, id: &Id, range: Range) -> bool {
        if !self.is_fixed(id, range) || !self.contents_in(id, range).is_some_and(<[Use]>::is_empty) {
            return false;
        }
        let fresh = self.declared.get(id).is_some_and(|(_, fresh)| *fresh);
        let everywhere = self.contents.get(id).map_or(&[][..], Vec::as_slice);
        let alone = fresh && !everywhere.iter().any(|one| one.kind == Kind::Plain);
        if self.others_run(range) {
            return alone && everywhere.iter().all(|one| one.function == range.function);
        }
        alone || !any(&self.changing, range)
    }

    /// Whether no member of this name is changed within the range, of whatever object.
    pub(super) fn is_key_fixed(&self, key: &str, range: Range) -> bool {
        let writes = self.keys.get(key).map_or(&[][..], Vec::as_slice);
        let inside = |at: u32| range.holds(at);
        if self.getters.contains(key) || any(&self.dynamic, range) || writes.iter().take(64).any(|one| inside(one.at)) {
            return false;
        }
        !self.others_run(range) || (writes.iter().all(|one| one.kind == Kind::Declared) && self.dynamic.is_empty())
    }

    /// Whether nobody outside of the source holds what this name stands for.
    pub(super) fn is_fresh(&self, id: &Id) -> bool {
        self.declared.get(id).is_some_and(|(_, fresh)| *fresh)
    }
}

fn within(list: Option<&Vec<Use>>, range: Range) -> Option<&[Use]> {
    let list = list.map_or(&[][..], Vec::as_slice);
    let start = list.partition_point(|one| one.at < range.start);
    let end = list.partition_point(|one| one.at < range.end);
    list.get(start..end).filter(|found| found.len() <= 64)
}

fn any(list: &[u32], range: Range) -> bool {
    list.get(list.partition_point(|at| *at < range.start)).is_some_and(|at| *at < range.end)
}

struct Noting<'a> {
    uses: Uses,
    names: &'a Names,
    /// The function around, by where it begins.
    function: u32,
    constructor: bool,
    /// Whether the next function is the tool itself.
    tool: bool,
    /// How many conditions stand around, within the loop or function.
    maybe: u32,
    /// Whether a `continue` may skip what follows.
    skips: bool,
    /// Where the loop around begins.
    round: u32,
    /// The name of the function around.
    called: Option<String>,
}

impl Noting<'_> {
    fn one(&self, span: Span, kind: Kind) -> Use {
        Use { at: span.lo.0, function: self.function, always: self.maybe == 0 && !self.skips, round: self.round, kind }
    }

    fn write(&mut self, id: Id, span: Span, kind: Kind) {
        let one = self.one(span, kind);
        self.uses.writes.entry(id).or_default().push(one);
    }

    fn content(&mut self, id: Id, span: Span, kind: Kind) {
        let one = self.one(span, kind);
        if kind != Kind::Plain {
            self.uses.changing.push(one.at);
        }
        self.uses.contents.entry(id).or_default().push(one);
    }

    fn effect(&mut self, span: Span) {
        self.uses.effects.push(span.lo.0);
    }

    /// A write to a member: `object.key = …`.
    fn member(&mut self, member: &MemberExpr) {
        let key = own_key(&member.prop);
        let kind = if self.constructor { Kind::Declared } else { Kind::Mutated };
        let one = self.one(member.span, kind);
        self.uses.changing.push(one.at);
        match &key {
            Some(key) => self.uses.keys.entry(key.clone()).or_default().push(one),
            // `list[i] = x` changes no member that has a name.
            None if matches!(&member.prop, MemberProp::Computed(key) if matches!(bare(&key.expr), Expr::Ident(_) | Expr::Lit(_) | Expr::Bin(_) | Expr::Update(_) if index_like(&key.expr))) =>
                {}
            None => self.uses.dynamic.push(one.at),
        }
        if let Some(id) = root(&member.obj) {
            let index = matches!(&member.prop, MemberProp::Computed(key) if matches!(bare(&key.expr), Expr::Ident(_) | Expr::Lit(_)));
            let kind = if key.is_none() && index { Kind::Placed } else { Kind::Mutated };
            self.content(id, member.span, kind);
        }
        match bare(&member.obj) {
            Expr::Ident(_) => {}
            other => other.visit_with(self),
        }
        member.prop.visit_with(self);
    }

    /// Runs with one more condition around.
    fn maybe(&mut self, visit: impl FnOnce(&mut Self)) {
        self.maybe += 1;
        visit(self);
        self.maybe -= 1;
    }

    /// Runs within a loop: what stands in it is done in each round, or not.
    fn round(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        let (maybe, skips) = (std::mem::take(&mut self.maybe), std::mem::take(&mut self.skips));
        let round = std::mem::replace(&mut self.round, span.lo.0);
        visit(self);
        (self.maybe, self.skips, self.round) = (maybe, skips, round);
    }

    fn function(&mut self, span: Span, visit: impl FnOnce(&mut Self)) {
        let function = std::mem::replace(&mut self.function, span.lo.0);
        let called = self.called.clone();
        let tool = self.tool;
        self.round(span, visit);
        self.function = function;
        self.called = called;
        self.tool = tool;
    }

    fn parameter(&mut self, pat: &Pat) {
        if let Pat::Ident(ident) = pat {
            let fresh = self.tool;
            self.uses.declared.insert(ident.id.to_id(), (self.function, fresh));
        } else {
            pat.visit_with(self);
        }
    }

    /// An operand that is only looked at.
    fn operand(&mut self, expr: &Expr) {
        if !matches!(bare(expr), Expr::Ident(_)) {
            expr.visit_with(self);
        }
    }
}

/// Whether a computed key is a place in a list rather than a name.
fn index_like(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Ident(name) => name.sym.len() <= 2 || matches!(&*name.sym, "index" | "idx" | "pos" | "row" | "col"),
        Expr::Lit(lit) => matches!(lit, swc_ecma_ast::Lit::Num(_)),
        Expr::Bin(_) | Expr::Update(_) => true,
        _ => false,
    }
}

/// The name at which a chain of members begins.
pub(super) fn root(expr: &Expr) -> Option<Id> {
    let mut at = bare(expr);
    loop {
        match at {
            Expr::Ident(ident) => return Some(ident.to_id()),
            Expr::Member(member) => at = bare(&member.obj),
            _ => return None,
        }
    }
}

impl Visit for Noting<'_> {
    fn visit_ident(&mut self, ident: &Ident) {
        if self.names.is_free(ident) {
            self.uses.clears |= matches!(&*ident.sym, "clearInterval" | "clearTimeout" | "clearImmediate");
            return;
        }
        self.content(ident.to_id(), ident.span, Kind::Plain);
    }

    fn visit_binding_ident(&mut self, ident: &BindingIdent) {
        self.uses.declared.entry(ident.id.to_id()).or_insert((self.function, false));
        self.write(ident.id.to_id(), ident.id.span, Kind::Other);
    }

    fn visit_assign_pat_prop(&mut self, prop: &swc_ecma_ast::AssignPatProp) {
        self.visit_binding_ident(&prop.key);
        prop.value.visit_with(self);
    }

    fn visit_labeled_stmt(&mut self, labeled: &LabeledStmt) {
        labeled.body.visit_with(self);
    }

    fn visit_break_stmt(&mut self, _: &swc_ecma_ast::BreakStmt) {}

    fn visit_continue_stmt(&mut self, _: &ContinueStmt) {
        self.skips = true;
    }

    fn visit_throw_stmt(&mut self, node: &ThrowStmt) {
        if let Some(name) = &self.called {
            self.uses.throwing.insert(name.clone());
        }
        node.visit_children_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Pat::Ident(ident) = &declarator.name {
            let init = declarator.init.as_deref().map(bare);
            let fresh = matches!(init, Some(Expr::Array(_) | Expr::Object(_) | Expr::New(_) | Expr::Lit(_)));
            self.uses.declared.insert(ident.id.to_id(), (self.function, fresh));
            let kind = match init {
                Some(Expr::Lit(swc_ecma_ast::Lit::Num(number))) => Kind::Begun(number.value),
                Some(Expr::Lit(swc_ecma_ast::Lit::BigInt(_))) => Kind::Large,
                _ => Kind::Declared,
            };
            self.write(ident.id.to_id(), ident.id.span, kind);
            let called = self.called.clone();
            if let Some(Expr::Fn(_) | Expr::Arrow(_)) = init {
                self.called = Some(ident.id.sym.to_string());
                self.tool = &*ident.id.sym == "execute";
            }
            declarator.init.visit_with(self);
            self.called = called;
            self.tool = false;
        } else {
            declarator.visit_children_with(self);
        }
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(target)) => {
                let kind = kinds::of(assign, &target.id.to_id(), self.names);
                self.write(target.id.to_id(), assign.span, kind);
                // `i = i++` leaves it as it was.
                if kind != Kind::Step(0.0) {
                    assign.right.visit_with(self);
                }
            }
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                self.member(member);
                assign.right.visit_with(self);
            }
            _ => assign.visit_children_with(self),
        }
    }

    fn visit_simple_assign_target(&mut self, target: &SimpleAssignTarget) {
        if let SimpleAssignTarget::Member(member) = target {
            self.member(member)
        } else {
            target.visit_children_with(self)
        }
    }

    fn visit_pat(&mut self, pat: &Pat) {
        match pat {
            Pat::Expr(expr) => match bare(expr) {
                Expr::Member(member) => self.member(member),
                other => other.visit_with(self),
            },
            _ => pat.visit_children_with(self),
        }
    }

    fn visit_update_expr(&mut self, update: &UpdateExpr) {
        match bare(&update.arg) {
            Expr::Ident(ident) => {
                let step = if update.op == UpdateOp::PlusPlus { 1.0 } else { -1.0 };
                self.write(ident.to_id(), update.span, Kind::Step(step));
            }
            Expr::Member(member) => self.member(member),
            other => other.visit_with(self),
        }
    }

    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        match (unary.op, bare(&unary.arg)) {
            (UnaryOp::Delete, Expr::Member(member)) => self.member(member),
            _ => self.operand(&unary.arg),
        }
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        use swc_ecma_ast::BinaryOp::{LogicalAnd, LogicalOr, NullishCoalescing};
        if matches!(binary.op, LogicalAnd | LogicalOr | NullishCoalescing) {
            binary.left.visit_with(self);
            self.maybe(|noting| binary.right.visit_with(noting));
        } else {
            self.operand(&binary.left);
            self.operand(&binary.right);
        }
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        self.operand(&member.obj);
        if let MemberProp::Computed(key) = &member.prop {
            self.operand(&key.expr);
        }
    }

    fn visit_expr_or_spread(&mut self, item: &ExprOrSpread) {
        if item.spread.is_some() { self.operand(&item.expr) } else { item.expr.visit_with(self) }
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee {
            match bare(callee) {
                Expr::Member(member) => {
                    let name = own_key(&member.prop).unwrap_or_default();
                    let kind = kinds::method(&name, call.args.len());
                    if kind != Kind::Read
                        && let Some(id) = root(&member.obj)
                    {
                        self.content(id, call.span, kind);
                    }
                    self.uses.clears |= matches!(&*name, "unref" | "clearInterval" | "clearTimeout");
                }
                Expr::Ident(_) | Expr::Fn(_) | Expr::Arrow(_) => {}
                _ => self.effect(call.span),
            }
            if !kinds::is_harmless(callee, &call.args, self.names) {
                self.effect(call.span);
            }
            callee.visit_with(self);
        } else {
            self.effect(call.span);
        }
        let inspects = matches!(&call.callee, Callee::Expr(callee) if kinds::is_global(callee, self.names));
        for arg in &call.args {
            if inspects { self.operand(&arg.expr) } else { arg.visit_with(self) }
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        if !kinds::is_global(&new.callee, self.names) {
            self.effect(new.span);
        }
        new.visit_children_with(self);
    }

    fn visit_tagged_tpl(&mut self, tagged: &swc_ecma_ast::TaggedTpl) {
        self.effect(tagged.span);
        tagged.visit_children_with(self);
    }

    fn visit_await_expr(&mut self, waits: &AwaitExpr) {
        self.effect(waits.span);
        waits.visit_children_with(self);
    }

    fn visit_yield_expr(&mut self, yields: &YieldExpr) {
        self.effect(yields.span);
        yields.visit_children_with(self);
    }

    fn visit_if_stmt(&mut self, node: &IfStmt) {
        self.operand(&node.test);
        self.maybe(|noting| {
            node.cons.visit_with(noting);
            node.alt.visit_with(noting);
        });
    }

    fn visit_cond_expr(&mut self, node: &CondExpr) {
        self.operand(&node.test);
        self.maybe(|noting| {
            node.cons.visit_with(noting);
            node.alt.visit_with(noting);
        });
    }

    fn visit_switch_case(&mut self, node: &SwitchCase) {
        self.maybe(|noting| node.visit_children_with(noting));
    }

    fn visit_try_stmt(&mut self, node: &swc_ecma_ast::TryStmt) {
        self.maybe(|noting| node.visit_children_with(noting));
    }

    fn visit_opt_chain_expr(&mut self, node: &swc_ecma_ast::OptChainExpr) {
        self.effect(node.span);
        self.maybe(|noting| node.visit_children_with(noting));
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        node.init.visit_with(self);
        self.round(node.span, |noting| {
            node.test.visit_with(noting);
            node.body.visit_with(noting);
            noting.skips = false;
            node.update.visit_with(noting);
        });
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        if node.is_await {
            self.effect(node.span);
        }
        self.operand(&node.right);
        self.round(node.span, |noting| {
            node.left.visit_with(noting);
            node.body.visit_with(noting);
        });
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        match node {
            Stmt::While(_) | Stmt::DoWhile(_) | Stmt::ForIn(_) => {
                self.round(node.span(), |noting| node.visit_children_with(noting))
            }
            _ => node.visit_children_with(self),
        }
    }

    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        let called = self.called.replace(decl.ident.sym.to_string());
        self.uses.declared.insert(decl.ident.to_id(), (self.function, false));
        self.tool = &*decl.ident.sym == "execute";
        decl.function.visit_with(self);
        self.tool = false;
        self.called = called;
    }

    fn visit_fn_expr(&mut self, node: &swc_ecma_ast::FnExpr) {
        self.tool |= node.ident.as_ref().is_some_and(|name| &*name.sym == "execute");
        node.function.visit_with(self);
        self.tool = false;
    }

    fn visit_class_decl(&mut self, decl: &swc_ecma_ast::ClassDecl) {
        decl.class.visit_with(self);
    }

    fn visit_function(&mut self, function: &Function) {
        self.function(function.span, |noting| {
            function.params.iter().for_each(|param| noting.parameter(&param.pat));
            noting.tool = false;
            function.body.visit_with(noting);
        });
    }

    fn visit_arrow_expr(&mut self, arrow: &ArrowExpr) {
        self.function(arrow.span, |noting| {
            arrow.params.iter().for_each(|pat| noting.parameter(pat));
            noting.tool = false;
            arrow.body.visit_with(noting);
        });
    }

    fn visit_constructor(&mut self, node: &Constructor) {
        let constructor = std::mem::replace(&mut self.constructor, true);
        self.function(node.span, |noting| node.visit_children_with(noting));
        self.constructor = constructor;
    }

    fn visit_class_method(&mut self, node: &swc_ecma_ast::ClassMethod) {
        let called = std::mem::take(&mut self.called);
        if let Some(name) = node.key.as_ident() {
            if node.kind == swc_ecma_ast::MethodKind::Getter {
                self.uses.getters.insert(name.sym.to_string());
            }
            self.called = Some(name.sym.to_string());
        }
        node.visit_children_with(self);
        self.called = called;
    }

    fn visit_private_method(&mut self, node: &swc_ecma_ast::PrivateMethod) {
        let called = self.called.replace(format!("#{}", node.key.name));
        if node.kind == swc_ecma_ast::MethodKind::Getter {
            self.uses.getters.insert(format!("#{}", node.key.name));
        }
        node.visit_children_with(self);
        self.called = called;
    }

    fn visit_getter_prop(&mut self, node: &GetterProp) {
        if let Some(name) = node.key.as_ident() {
            self.uses.getters.insert(name.sym.to_string());
        }
        node.function.visit_with(self);
    }

    fn visit_prop(&mut self, prop: &Prop) {
        let called = self.called.clone();
        if let Prop::Method(method) = prop {
            self.called = method.key.as_ident().map(|name| name.sym.to_string());
        }
        prop.visit_children_with(self);
        self.called = called;
    }

    fn visit_block_stmt(&mut self, block: &BlockStmt) {
        block.stmts.visit_with(self);
    }

    fn visit_ts_type(&mut self, _: &swc_ecma_ast::TsType) {}
    fn visit_ts_type_ann(&mut self, _: &swc_ecma_ast::TsTypeAnn) {}

    fn visit_expr(&mut self, expr: &Expr) {
        // Brackets and casts around a name are nothing.
        match expr {
            Expr::Call(call) => self.visit_call_expr(call),
            _ => expr.visit_children_with(self),
        }
        debug_assert!(expr.span().lo <= expr.span().hi);
    }
}
