//! Functions that always call themselves, directly or through others.
//!
//! For each function that has a name, what it calls on every path through it is noted; a circle of such calls never
//! ends. Getters, setters, constructors, conversions such as `toString`, and what a function hands to a timer or to a
//! promise count as calls.
//!
//! Invariant: a call is certain only if no `return`, `throw` or condition can pass it by.

use std::collections::HashMap;

use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, BinExpr, BinaryOp, CallExpr, Callee, Class, ClassMember, CondExpr, Expr, Function,
    Id, MemberExpr, NewExpr, ObjectLit, Pat, Program, Prop, PropOrSpread, Stmt, Tpl, UnaryExpr, UnaryOp, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::super::uses::own_key;
use super::condition::Judge;
use super::loops::key_name;
use super::shrinking;
use crate::names::bare;

/// At most so many certain calls of one function are kept.
const CALLS: usize = 16;

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Name(Id),
    New(Id),
    /// A method of the class or object that begins here.
    Method(u32, String),
    Get(u32, String),
    Set(u32, String),
}

/// The functions that never come to an end, and their names.
pub(super) fn endless(program: &Program, judge: &Judge<'_>) -> Vec<(Span, String)> {
    let mut walk = Walk { judge, calls: HashMap::new(), order: Vec::new(), home: Home::default(), found: Vec::new() };
    program.visit_with(&mut walk);
    let mut found = walk.found;
    // 1 is being looked at, 2 is done.
    let mut marks: HashMap<&Key, u8> = HashMap::new();
    for key in &walk.order {
        let mut path: Vec<(&Key, usize)> = vec![(key, 0)];
        while let Some((at, next)) = path.pop() {
            let Some((_, calls)) = walk.calls.get(at) else {
                marks.insert(at, 2);
                continue;
            };
            if next == 0 && marks.contains_key(at) {
                continue;
            }
            marks.insert(at, 1);
            let Some(callee) = calls.get(next) else {
                marks.insert(at, 2);
                continue;
            };
            path.push((at, next + 1));
            match marks.get(callee) {
                Some(1) => {
                    if let Some((span, _)) = walk.calls.get(callee) {
                        found.push((*span, format!("{} always calls itself", shown(callee))));
                    }
                }
                Some(_) => {}
                None => path.push((callee, 0)),
            }
        }
    }
    found
}

fn shown(key: &Key) -> String {
    match key {
        Key::Name(id) => format!("`{}`", id.0),
        Key::New(id) => format!("the constructor of `{}`", id.0),
        Key::Method(_, name) => format!("`{name}`"),
        Key::Get(_, name) => format!("the getter `{name}`"),
        Key::Set(_, name) => format!("the setter `{name}`"),
    }
}

/// The class or object around.
#[derive(Clone, Default)]
struct Home {
    at: u32,
    name: Option<Id>,
}

struct Walk<'a> {
    judge: &'a Judge<'a>,
    calls: HashMap<Key, (Span, Vec<Key>)>,
    order: Vec<Key>,
    home: Home,
    found: Vec<(Span, String)>,
}

impl Walk<'_> {
    fn note(&mut self, key: Key, span: Span, calls: Vec<Key>) {
        if self.calls.insert(key.clone(), (span, calls)).is_none() {
            self.order.push(key);
        } else {
            // What is defined twice is not known.
            self.calls.insert(key, (span, Vec::new()));
        }
    }

    fn must(&self) -> Must<'_> {
        Must { judge: self.judge, home: &self.home, method: None, proxy: None, state: Some(Vec::new()), exits: None }
    }

    fn function(&mut self, key: Key, function: &Function) {
        if function.is_generator {
            return;
        }
        let stmts = function.body.as_ref().map(|body| body.stmts.as_slice()).unwrap_or_default();
        let mut must = self.must();
        for param in &function.params {
            must.default(&param.pat);
        }
        let calls = must.run(stmts);
        if let Key::Name(own) = &key {
            let params: Vec<&Pat> = function.params.iter().map(|param| &param.pat).collect();
            if !calls.contains(&key) && shrinking::never(own, &params, stmts, self.judge) {
                self.found.push((function.span, format!("`{}` calls itself with nothing smaller", own.0)));
            }
        }
        self.note(key, function.span, calls);
    }

    fn arrow(&mut self, key: Key, arrow: &ArrowExpr) {
        let mut must = self.must();
        for pat in &arrow.params {
            must.default(pat);
        }
        let calls = must.arrow(arrow);
        self.note(key, arrow.span, calls);
    }

    fn object(&mut self, name: Option<Id>, object: &ObjectLit) {
        let before = std::mem::replace(&mut self.home, Home { at: object.span.lo.0, name });
        let at = object.span.lo.0;
        for prop in &object.props {
            let PropOrSpread::Prop(prop) = prop else { continue };
            match &**prop {
                Prop::Method(method) => {
                    if let Some(name) = key_name(&method.key).filter(|_| !method.function.is_generator) {
                        let calls = self.function_body(&name, &method.function);
                        self.note(Key::Method(at, name), method.function.span, calls);
                    }
                }
                Prop::Getter(getter) => {
                    if let Some(name) = key_name(&getter.key) {
                        let calls = self.function_body(&name, &getter.function);
                        self.note(Key::Get(at, name), getter.span, calls);
                    }
                }
                Prop::Setter(setter) => {
                    if let Some(name) = key_name(&setter.key) {
                        let calls = self.function_body(&name, &setter.function);
                        self.note(Key::Set(at, name), setter.span, calls);
                    }
                }
                Prop::KeyValue(pair) => {
                    let Some(name) = key_name(&pair.key) else { continue };
                    match bare(&pair.value) {
                        Expr::Fn(function) if !function.function.is_generator => {
                            let calls = self.function_body(&name, &function.function);
                            self.note(Key::Method(at, name), pair.key.clone().span_of(), calls);
                        }
                        Expr::Arrow(arrow) => self.arrow(Key::Method(at, name), arrow),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        object.visit_children_with(self);
        self.home = before;
    }

    fn function_body(&self, name: &str, function: &Function) -> Vec<Key> {
        let mut must = self.must();
        must.method = Some(name);
        function.body.as_ref().map(|body| must.run(&body.stmts)).unwrap_or_default()
    }

    fn class(&mut self, name: Option<Id>, class: &Class) {
        let before = std::mem::replace(&mut self.home, Home { at: class.span.lo.0, name: name.clone() });
        let at = class.span.lo.0;
        let mut made = Vec::new();
        for member in &class.body {
            match member {
                ClassMember::Method(method) if !method.function.is_generator => {
                    let Some(name) = key_name(&method.key) else { continue };
                    let calls = self.function_body(&name, &method.function);
                    let key = match method.kind {
                        swc_ecma_ast::MethodKind::Method => Key::Method(at, name),
                        swc_ecma_ast::MethodKind::Getter => Key::Get(at, name),
                        swc_ecma_ast::MethodKind::Setter => Key::Set(at, name),
                    };
                    self.note(key, method.function.span, calls);
                }
                ClassMember::PrivateMethod(method) if !method.function.is_generator => {
                    let name = format!("#{}", method.key.name);
                    let calls = self.function_body(&name, &method.function);
                    let key = match method.kind {
                        swc_ecma_ast::MethodKind::Method => Key::Method(at, name),
                        swc_ecma_ast::MethodKind::Getter => Key::Get(at, name),
                        swc_ecma_ast::MethodKind::Setter => Key::Set(at, name),
                    };
                    self.note(key, method.function.span, calls);
                }
                ClassMember::Constructor(constructor) => {
                    if let Some(body) = &constructor.body {
                        made.extend(self.must().run(&body.stmts));
                    }
                }
                ClassMember::ClassProp(prop) if !prop.is_static => {
                    if let Some(value) = &prop.value {
                        let mut must = self.must();
                        value.visit_with(&mut must);
                        made.extend(must.state.unwrap_or_default());
                        if let (Some(name), Expr::Arrow(arrow)) = (key_name(&prop.key), bare(value)) {
                            self.arrow(Key::Method(at, name), arrow);
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some(name) = name {
            made.truncate(CALLS);
            self.note(Key::New(name), class.span, made);
        }
        class.visit_children_with(self);
        self.home = before;
    }
}

trait SpanOf {
    fn span_of(&self) -> Span;
}

impl SpanOf for swc_ecma_ast::PropName {
    fn span_of(&self) -> Span {
        swc_common::Spanned::span(self)
    }
}

impl Visit for Walk<'_> {
    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        self.function(Key::Name(decl.ident.to_id()), &decl.function);
        decl.function.visit_with(self);
    }

    fn visit_fn_expr(&mut self, node: &swc_ecma_ast::FnExpr) {
        if let Some(name) = &node.ident {
            self.function(Key::Name(name.to_id()), &node.function);
        }
        node.function.visit_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Some(name) = declarator.name.as_ident() {
            match declarator.init.as_deref().map(bare) {
                Some(Expr::Fn(function)) => self.function(Key::Name(name.id.to_id()), &function.function),
                Some(Expr::Arrow(arrow)) => self.arrow(Key::Name(name.id.to_id()), arrow),
                Some(Expr::Object(object)) => return self.object(Some(name.id.to_id()), object),
                Some(Expr::Class(class)) => return self.class(Some(name.id.to_id()), &class.class),
                // `const proxy = new Proxy(target, { get() { … } })`
                Some(Expr::New(new)) => self.proxy(&name.id.to_id(), new),
                _ => {}
            }
        }
        declarator.visit_children_with(self);
    }

    fn visit_class_decl(&mut self, decl: &swc_ecma_ast::ClassDecl) {
        self.class(Some(decl.ident.to_id()), &decl.class);
    }

    fn visit_class_expr(&mut self, node: &swc_ecma_ast::ClassExpr) {
        self.class(None, &node.class);
    }

    fn visit_object_lit(&mut self, object: &ObjectLit) {
        self.object(None, object);
    }

    fn visit_expr_stmt(&mut self, node: &swc_ecma_ast::ExprStmt) {
        if let Expr::Call(call) = bare(&node.expr)
            && let Callee::Expr(callee) = &call.callee
            && let Expr::Ident(ident) = bare(callee)
            && self.judge.names.is_free(ident)
            && &*ident.sym == "setInterval"
            && !self.judge.uses.clears
        {
            self.found.push((call.span, "starts an interval that nothing ever stops".to_owned()));
        }
        node.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        // `((f) => f(f))((f) => f(f))`
        if let (Callee::Expr(callee), Some(first)) = (&call.callee, call.args.first())
            && applies_itself(bare(callee))
            && applies_itself(bare(&first.expr))
        {
            self.found.push((call.span, "calls a function that calls itself".to_owned()));
        }
        call.visit_children_with(self);
    }
}

fn applies_itself(expr: &Expr) -> bool {
    let Expr::Arrow(arrow) = expr else { return false };
    let (ArrowFunctionBody::Expr(body), Some(Pat::Ident(param))) = (&*arrow.body, arrow.params.first()) else {
        return false;
    };
    let same = |expr: &Expr| matches!(bare(expr), Expr::Ident(ident) if ident.to_id() == param.id.to_id());
    matches!(bare(body), Expr::Call(call) if matches!(&call.callee, Callee::Expr(callee) if same(callee))
        && call.args.first().is_some_and(|arg| same(&arg.expr)))
}

impl Walk<'_> {
    /// A trap that looks up in the proxy what it stands for.
    fn proxy(&mut self, name: &Id, new: &NewExpr) {
        let proxy = matches!(bare(&new.callee), Expr::Ident(ident) if self.judge.names.is_free(ident) && &*ident.sym == "Proxy");
        let Some(handler) = new.args.as_deref().and_then(|args| args.get(1)).filter(|_| proxy) else { return };
        let Some(object) = self.judge.names.object(&handler.expr) else { return };
        for prop in &object.props {
            let PropOrSpread::Prop(prop) = prop else { continue };
            let Prop::Method(method) = &**prop else { continue };
            let params: Vec<Option<Id>> =
                method.function.params.iter().map(|param| param.pat.as_ident().map(|name| name.id.to_id())).collect();
            let trap = key_name(&method.key).unwrap_or_default();
            let receiver = match &*trap {
                "get" => params.get(2),
                "set" => params.get(3),
                _ => None,
            };
            let own: Vec<Id> = std::iter::once(name).chain(receiver.into_iter().flatten()).cloned().collect();
            if !matches!(&*trap, "get" | "has") {
                continue;
            }
            let mut must = self.must();
            must.proxy = Some((own, params.get(1).cloned().flatten()));
            let calls = method.function.body.as_ref().map(|body| must.run(&body.stmts)).unwrap_or_default();
            if calls.iter().any(|call| matches!(call, Key::Get(0, _))) {
                self.found.push((method.function.span, format!("the trap `{trap}` asks its own proxy")));
            }
        }
    }
}

/// What is certainly called.
struct Must<'a> {
    judge: &'a Judge<'a>,
    home: &'a Home,
    /// The method that is looked at.
    method: Option<&'a str>,
    /// The names of a proxy, and of the key that is asked for.
    proxy: Option<(Vec<Id>, Option<Id>)>,
    /// What was called on every path to here; `None` where no path leads.
    state: Option<Vec<Key>>,
    /// What was called on every path to a way out.
    exits: Option<Vec<Key>>,
}

impl Must<'_> {
    fn run(&mut self, stmts: &[Stmt]) -> Vec<Key> {
        for statement in stmts {
            self.stmt(statement);
        }
        self.exit();
        self.exits.take().unwrap_or_default()
    }

    fn default(&mut self, pat: &Pat) {
        if let Pat::Assign(assign) = pat
            && let Expr::Call(call) = bare(&assign.right)
            && call.args.is_empty()
        {
            assign.right.visit_with(self);
        }
    }

    fn arrow(&mut self, arrow: &ArrowExpr) -> Vec<Key> {
        match &*arrow.body {
            ArrowFunctionBody::FunctionBody(body) => self.run(&body.stmts),
            ArrowFunctionBody::Expr(expr) => {
                expr.visit_with(self);
                self.exit();
                self.exits.take().unwrap_or_default()
            }
        }
    }

    fn call(&mut self, key: Key) {
        if let Some(state) = &mut self.state
            && state.len() < CALLS
            && !state.contains(&key)
        {
            state.push(key);
        }
    }

    /// A way out of the function: only what was called on all of them is certain.
    fn exit(&mut self) {
        let state = self.state.take();
        self.exits = meet(self.exits.take(), state);
    }

    fn may_exit(&mut self) {
        let state = self.state.clone();
        self.exits = meet(self.exits.take(), state);
    }

    fn stmt(&mut self, statement: &Stmt) {
        if self.state.is_none() {
            return;
        }
        match statement {
            Stmt::Return(node) => {
                node.arg.visit_with(self);
                self.exit();
            }
            Stmt::Throw(node) => {
                node.arg.visit_with(self);
                self.exit();
            }
            // Where these lead to is not followed: what they leave may be anything that was called so far.
            Stmt::Break(_) | Stmt::Continue(_) => self.exit(),
            Stmt::Block(block) => block.stmts.iter().for_each(|statement| self.stmt(statement)),
            Stmt::If(node) => {
                node.test.visit_with(self);
                let truth = self.judge.truth(&node.test);
                let before = self.state.clone();
                if truth == Some(false) {
                    self.state = None;
                }
                self.stmt(&node.cons);
                let after = std::mem::replace(&mut self.state, before.filter(|_| truth != Some(true)));
                if let Some(alt) = &node.alt {
                    self.stmt(alt);
                }
                self.state = meet(self.state.take(), after);
            }
            Stmt::While(node) => {
                node.test.visit_with(self);
                self.aside(|must| must.stmt(&node.body));
            }
            Stmt::DoWhile(node) => self.aside(|must| must.stmt(&node.body)),
            Stmt::For(node) => {
                node.init.visit_with(self);
                node.test.visit_with(self);
                self.aside(|must| must.stmt(&node.body));
            }
            Stmt::ForOf(node) => {
                node.right.visit_with(self);
                self.aside(|must| must.stmt(&node.body));
            }
            Stmt::ForIn(node) => self.aside(|must| must.stmt(&node.body)),
            Stmt::Labeled(node) => self.aside(|must| must.stmt(&node.body)),
            Stmt::Switch(node) => {
                node.discriminant.visit_with(self);
                let before = self.state.clone();
                let (mut after, mut covered) = (None, false);
                for case in &node.cases {
                    covered |= case.test.is_none();
                    self.state.clone_from(&before);
                    let breaks = case.cons.iter().any(|one| matches!(one, Stmt::Break(_)));
                    case.cons.iter().filter(|one| !matches!(one, Stmt::Break(_))).for_each(|one| self.stmt(one));
                    if breaks || self.state.is_some() {
                        after = meet(after, Some(self.state.take().unwrap_or_default()));
                    }
                }
                self.state = if covered { after } else { meet(after, before) };
            }
            Stmt::Try(node) => {
                let before = self.state.clone();
                node.block.stmts.iter().for_each(|statement| self.stmt(statement));
                if let Some(handler) = &node.handler {
                    let after = std::mem::replace(&mut self.state, before);
                    handler.body.stmts.iter().for_each(|statement| self.stmt(statement));
                    self.state = meet(self.state.take(), after);
                }
                if let Some(last) = &node.finalizer {
                    last.stmts.iter().for_each(|statement| self.stmt(statement));
                }
            }
            Stmt::Decl(swc_ecma_ast::Decl::Var(node)) => node.visit_with(self),
            Stmt::Expr(node) => node.expr.visit_with(self),
            _ => {}
        }
    }

    /// What may be run, and may not.
    fn aside(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = self.state.clone();
        visit(self);
        self.state = before;
    }

    fn is_self(&self, object: &Expr) -> bool {
        match bare(object) {
            Expr::This(_) => self.home.at != 0,
            Expr::Ident(ident) => self.home.name.as_ref().is_some_and(|name| *name == ident.to_id()),
            _ => false,
        }
    }

    /// `this` is made a text or a number: by which method of the class, if it is the one that is looked at.
    fn converted(&mut self, expr: &Expr, by: &[&str]) {
        if matches!(bare(expr), Expr::This(_))
            && let Some(method) = self.method.filter(|method| by.contains(method))
        {
            self.call(Key::Method(self.home.at, method.to_owned()));
        }
    }

    fn later(&mut self, args: &[swc_ecma_ast::ExprOrSpread]) {
        let Some(first) = args.first() else { return };
        match bare(&first.expr) {
            Expr::Ident(ident) => self.call(Key::Name(ident.to_id())),
            Expr::Arrow(arrow) => {
                let mut inner = Must {
                    judge: self.judge,
                    home: self.home,
                    method: None,
                    proxy: None,
                    state: Some(Vec::new()),
                    exits: None,
                };
                for key in inner.arrow(arrow) {
                    self.call(key);
                }
            }
            _ => {}
        }
    }

    fn method(&mut self, member: &MemberExpr, call: &CallExpr) {
        let Some(name) = own_key(&member.prop) else { return };
        if self.is_self(&member.obj) {
            return self.call(Key::Method(self.home.at, name));
        }
        if let Expr::Ident(object) = bare(&member.obj) {
            if self.judge.names.is_free(object) {
                let first = call.args.first().map(|arg| &*arg.expr);
                if let (("JSON", "stringify"), Some(first)) = ((&*object.sym, name.as_str()), first) {
                    self.converted(first, &["toJSON"]);
                }
                if (&*object.sym, name.as_str()) == ("process", "nextTick") {
                    self.later(&call.args);
                }
            } else if matches!(name.as_str(), "call" | "apply") {
                self.call(Key::Name(object.to_id()));
            }
        }
        if matches!(name.as_str(), "then" | "finally") {
            self.later(&call.args);
        }
    }
}

/// What is called on both ways.
fn meet(one: Option<Vec<Key>>, other: Option<Vec<Key>>) -> Option<Vec<Key>> {
    match (one, other) {
        (None, other) => other,
        (one, None) => one,
        (Some(mut one), Some(other)) => {
            one.retain(|key| other.contains(key));
            Some(one)
        }
    }
}

impl Visit for Must<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        let Callee::Expr(callee) = &call.callee else { return call.args.visit_with(self) };
        match bare(callee) {
            Expr::Ident(ident) => {
                call.args.visit_with(self);
                if self.judge.names.is_free(ident) {
                    match &*ident.sym {
                        "setTimeout" if !self.judge.uses.clears => self.later(&call.args),
                        "queueMicrotask" | "setImmediate" | "requestAnimationFrame" => self.later(&call.args),
                        "String" => {
                            call.args.iter().for_each(|arg| self.converted(&arg.expr, &["toString", "@@toPrimitive"]))
                        }
                        "Number" => {
                            call.args.iter().for_each(|arg| self.converted(&arg.expr, &["valueOf", "@@toPrimitive"]))
                        }
                        _ => {}
                    }
                } else {
                    if self.judge.uses.throwing.contains(&*ident.sym) {
                        self.may_exit();
                    }
                    self.call(Key::Name(ident.to_id()));
                }
            }
            Expr::Member(member) => {
                member.obj.visit_with(self);
                call.args.visit_with(self);
                if own_key(&member.prop).is_some_and(|name| self.judge.uses.throwing.contains(&name)) {
                    self.may_exit();
                }
                self.method(member, call);
            }
            Expr::Arrow(arrow) if !arrow.is_generator => {
                call.args.visit_with(self);
                let mut inner = Must { proxy: None, state: Some(Vec::new()), exits: None, ..*self };
                for key in inner.arrow(arrow) {
                    self.call(key);
                }
            }
            _ => call.visit_children_with(self),
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        new.visit_children_with(self);
        if let Expr::Ident(ident) = bare(&new.callee) {
            self.call(Key::New(ident.to_id()));
        }
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        if let (Some((own, Some(key))), swc_ecma_ast::MemberProp::Computed(asked), Expr::Ident(object)) =
            (&self.proxy, &member.prop, bare(&member.obj))
            && own.contains(&object.to_id())
            && matches!(bare(&asked.expr), Expr::Ident(ident) if ident.to_id() == *key)
        {
            return self.call(Key::Get(0, String::new()));
        }
        if self.is_self(&member.obj)
            && let Some(name) = own_key(&member.prop)
        {
            return self.call(Key::Get(self.home.at, name));
        }
        member.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &swc_ecma_ast::AssignExpr) {
        assign.right.visit_with(self);
        if let swc_ecma_ast::AssignTarget::Simple(swc_ecma_ast::SimpleAssignTarget::Member(member)) = &assign.left
            && self.is_self(&member.obj)
            && let Some(name) = own_key(&member.prop)
        {
            self.call(Key::Set(self.home.at, name));
        }
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        binary.left.visit_with(self);
        match binary.op {
            BinaryOp::LogicalAnd | BinaryOp::LogicalOr | BinaryOp::NullishCoalescing => {}
            op => {
                binary.right.visit_with(self);
                for side in [&binary.left, &binary.right] {
                    if op == BinaryOp::Add {
                        let text = [&binary.left, &binary.right]
                            .iter()
                            .any(|side| matches!(bare(side), Expr::Lit(swc_ecma_ast::Lit::Str(_)) | Expr::Tpl(_)));
                        self.converted(
                            side,
                            if text {
                                &["toString", "valueOf", "@@toPrimitive"]
                            } else {
                                &["valueOf", "@@toPrimitive"]
                            },
                        );
                    } else if matches!(op, BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div) {
                        self.converted(side, &["valueOf", "@@toPrimitive"]);
                    }
                }
            }
        }
    }

    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        unary.arg.visit_with(self);
        if matches!(unary.op, UnaryOp::Plus | UnaryOp::Minus) {
            self.converted(&unary.arg, &["valueOf", "@@toPrimitive"]);
        }
    }

    fn visit_tpl(&mut self, template: &Tpl) {
        for expr in &template.exprs {
            expr.visit_with(self);
            self.converted(expr, &["toString", "@@toPrimitive"]);
        }
    }

    fn visit_cond_expr(&mut self, choice: &CondExpr) {
        choice.test.visit_with(self);
        let before = self.state.clone();
        choice.cons.visit_with(self);
        let after = std::mem::replace(&mut self.state, before);
        choice.alt.visit_with(self);
        self.state = meet(self.state.take(), after);
    }

    fn visit_spread_element(&mut self, node: &swc_ecma_ast::SpreadElement) {
        node.expr.visit_with(self);
    }

    fn visit_opt_chain_expr(&mut self, _: &swc_ecma_ast::OptChainExpr) {}
    fn visit_function(&mut self, _: &Function) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
    fn visit_class(&mut self, _: &Class) {}
    fn visit_object_lit(&mut self, object: &ObjectLit) {
        for prop in &object.props {
            match prop {
                PropOrSpread::Spread(spread) => spread.expr.visit_with(self),
                PropOrSpread::Prop(prop) => {
                    if let Prop::KeyValue(pair) = &**prop {
                        pair.value.visit_with(self);
                    }
                }
            }
        }
    }
}
