//! Functions that always call themselves, directly or through others.
//!
//! For each function that has a name, what it calls on every path through it is noted; a circle of such calls never
//! ends. Getters, setters, constructors, conversions such as `toString`, and what a function hands to a timer or to a
//! promise count as calls.
//!
//! Invariant: a call is certain only if no `return`, `throw` or condition can pass it by.

mod must;

use rustc_hash::FxHashMap;
use swc_atoms::Atom;
use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, CallExpr, Callee, Class, ClassMember, Expr, Function, Id, MethodKind, NewExpr,
    ObjectLit, Pat, Program, Prop, PropOrSpread, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::condition::Judge;
use super::loops::key_name;
use super::shrinking;
use crate::names::bare;
use must::Must;

/// At most so many certain calls of one function are kept.
const CALLS: usize = 16;

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Name(Id),
    New(Id),
    /// A method of the class or object that begins here.
    Method(u32, Atom),
    Get(u32, Atom),
    Set(u32, Atom),
}

impl Key {
    /// A method, getter or setter of this name.
    fn of(kind: MethodKind, at: u32, name: Atom) -> Self {
        match kind {
            MethodKind::Method => Self::Method(at, name),
            MethodKind::Getter => Self::Get(at, name),
            MethodKind::Setter => Self::Set(at, name),
        }
    }
}

/// The functions that never come to an end, and their names.
pub(super) fn endless(program: &Program, judge: &Judge<'_>) -> Vec<(Span, String)> {
    let mut walk =
        Walk { judge, calls: FxHashMap::default(), order: Vec::new(), home: Home::default(), found: Vec::new() };
    program.visit_with(&mut walk);
    let mut found = walk.found;
    // 1 is being looked at, 2 is done.
    let mut marks: FxHashMap<&Key, u8> = FxHashMap::default();
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
    calls: FxHashMap<Key, (Span, Vec<Key>)>,
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
                    self.note(Key::of(method.kind, at, name), method.function.span, calls);
                }
                ClassMember::PrivateMethod(method) if !method.function.is_generator => {
                    let name = Atom::from(format!("#{}", method.key.name));
                    let calls = self.function_body(&name, &method.function);
                    self.note(Key::of(method.kind, at, name), method.function.span, calls);
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
