//! Functions that always call themselves, directly or through others.
//!
//! For each named function, the calls on every path through it are recorded; a cycle of such calls
//! never ends. Getters, setters, constructors, conversions such as `toString`, and callbacks of
//! timers and promises count as calls.
//!
//! Invariant: a call is certain only if no `return`, `throw` or condition can bypass it.

mod must_call;

use rustc_hash::FxHashMap;
use swc_atoms::Atom;
use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, CallExpr, Callee, Class, ClassMember, Expr, Function, Id, MethodKind, NewExpr,
    ObjectLit, Pat, Program, Prop, PropOrSpread, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};
use toolcell_i18n::{Message, message};

use super::condition::ConditionAnalyzer;
use super::loops::key_name;
use super::termination;
use crate::syntax::expr::peel_parens;
use must_call::MustCalls;

/// The maximum number of certain calls that are recorded of one function.
const MAX_CALLS: usize = 16;

/// The target of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum CallTarget {
    Name(Id),
    New(Id),
    /// A method of the class or object that starts at this position.
    Method(u32, Atom),
    Get(u32, Atom),
    Set(u32, Atom),
}

impl CallTarget {
    /// Creates the target for a method, getter or setter.
    fn from_method(kind: MethodKind, at: u32, name: Atom) -> Self {
        match kind {
            MethodKind::Method => Self::Method(at, name),
            MethodKind::Getter => Self::Get(at, name),
            MethodKind::Setter => Self::Set(at, name),
        }
    }
}

/// Returns the functions that never return, with messages.
pub(super) fn find_endless(program: &Program, judge: &ConditionAnalyzer<'_>) -> Vec<(Span, Message)> {
    let mut walk = RecursionVisitor {
        conditions: judge,
        calls: FxHashMap::default(),
        order: Vec::new(),
        enclosing: EnclosingType::default(),
        found: Vec::new(),
    };
    program.visit_with(&mut walk);
    let mut found = walk.found;
    // Marks: 1 while a function is visited, 2 when it is done.
    let mut marks: FxHashMap<&CallTarget, u8> = FxHashMap::default();
    for key in &walk.order {
        let mut path: Vec<(&CallTarget, usize)> = vec![(key, 0)];
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
                        found.push((*span, always_calls_itself(callee)));
                    }
                }
                Some(_) => {}
                None => path.push((callee, 0)),
            }
        }
    }
    found
}

fn always_calls_itself(key: &CallTarget) -> Message {
    match key {
        CallTarget::Name((name, _)) | CallTarget::Method(_, name) => message!("`{name}` always calls itself", name),
        CallTarget::New((name, _)) => message!("the constructor of `{name}` always calls itself", name),
        CallTarget::Get(_, name) => message!("the getter `{name}` always calls itself", name),
        CallTarget::Set(_, name) => message!("the setter `{name}` always calls itself", name),
    }
}

/// The enclosing class or object.
#[derive(Clone, Default)]
struct EnclosingType {
    start: u32,
    name: Option<Id>,
}

struct RecursionVisitor<'a> {
    conditions: &'a ConditionAnalyzer<'a>,
    calls: FxHashMap<CallTarget, (Span, Vec<CallTarget>)>,
    order: Vec<CallTarget>,
    enclosing: EnclosingType,
    found: Vec<(Span, Message)>,
}

impl RecursionVisitor<'_> {
    fn note(&mut self, key: CallTarget, span: Span, calls: Vec<CallTarget>) {
        if self.calls.insert(key.clone(), (span, calls)).is_none() {
            self.order.push(key);
        } else {
            // A function that is defined twice is unknown.
            self.calls.insert(key, (span, Vec::new()));
        }
    }

    fn must_calls(&self) -> MustCalls<'_> {
        MustCalls {
            conditions: self.conditions,
            enclosing: &self.enclosing,
            method: None,
            proxy: None,
            state: Some(Vec::new()),
            exits: None,
        }
    }

    fn note_function(&mut self, key: CallTarget, function: &Function) {
        if function.is_generator {
            return;
        }
        let stmts = function.body.as_ref().map(|body| body.stmts.as_slice()).unwrap_or_default();
        let mut must = self.must_calls();
        for param in &function.params {
            must.visit_default(&param.pat);
        }
        let calls = must.visit_body(stmts);
        if let CallTarget::Name(own) = &key {
            let params: Vec<&Pat> = function.params.iter().map(|param| &param.pat).collect();
            if !calls.contains(&key) && termination::never_terminates(own, &params, stmts, self.conditions) {
                let message = message!("`{name}` calls itself without a smaller argument", name = own.0);
                self.found.push((function.span, message));
            }
        }
        self.note(key, function.span, calls);
    }

    fn note_arrow(&mut self, key: CallTarget, arrow: &ArrowExpr) {
        let mut must = self.must_calls();
        for pat in &arrow.params {
            must.visit_default(pat);
        }
        let calls = must.calls_of_arrow(arrow);
        self.note(key, arrow.span, calls);
    }

    fn note_object(&mut self, name: Option<Id>, object: &ObjectLit) {
        let before = std::mem::replace(&mut self.enclosing, EnclosingType { start: object.span.lo.0, name });
        let at = object.span.lo.0;
        for prop in &object.props {
            let PropOrSpread::Prop(prop) = prop else { continue };
            match &**prop {
                Prop::Method(method) => {
                    if let Some(name) = key_name(&method.key).filter(|_| !method.function.is_generator) {
                        let calls = self.calls_of_body(&name, &method.function);
                        self.note(CallTarget::Method(at, name), method.function.span, calls);
                    }
                }
                Prop::Getter(getter) => {
                    if let Some(name) = key_name(&getter.key) {
                        let calls = self.calls_of_body(&name, &getter.function);
                        self.note(CallTarget::Get(at, name), getter.span, calls);
                    }
                }
                Prop::Setter(setter) => {
                    if let Some(name) = key_name(&setter.key) {
                        let calls = self.calls_of_body(&name, &setter.function);
                        self.note(CallTarget::Set(at, name), setter.span, calls);
                    }
                }
                Prop::KeyValue(pair) => {
                    let Some(name) = key_name(&pair.key) else { continue };
                    match peel_parens(&pair.value) {
                        Expr::Fn(function) if !function.function.is_generator => {
                            let calls = self.calls_of_body(&name, &function.function);
                            self.note(CallTarget::Method(at, name), pair.key.clone().span_of(), calls);
                        }
                        Expr::Arrow(arrow) => self.note_arrow(CallTarget::Method(at, name), arrow),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        object.visit_children_with(self);
        self.enclosing = before;
    }

    fn calls_of_body(&self, name: &str, function: &Function) -> Vec<CallTarget> {
        let mut must = self.must_calls();
        must.method = Some(name);
        function.body.as_ref().map(|body| must.visit_body(&body.stmts)).unwrap_or_default()
    }

    fn note_class(&mut self, name: Option<Id>, class: &Class) {
        let before =
            std::mem::replace(&mut self.enclosing, EnclosingType { start: class.span.lo.0, name: name.clone() });
        let at = class.span.lo.0;
        let mut made = Vec::new();
        for member in &class.body {
            match member {
                ClassMember::Method(method) if !method.function.is_generator => {
                    let Some(name) = key_name(&method.key) else { continue };
                    let calls = self.calls_of_body(&name, &method.function);
                    self.note(CallTarget::from_method(method.kind, at, name), method.function.span, calls);
                }
                ClassMember::PrivateMethod(method) if !method.function.is_generator => {
                    let name = Atom::from(format!("#{}", method.key.name));
                    let calls = self.calls_of_body(&name, &method.function);
                    self.note(CallTarget::from_method(method.kind, at, name), method.function.span, calls);
                }
                ClassMember::Constructor(constructor) => {
                    if let Some(body) = &constructor.body {
                        made.extend(self.must_calls().visit_body(&body.stmts));
                    }
                }
                ClassMember::ClassProp(prop) if !prop.is_static => {
                    if let Some(value) = &prop.value {
                        let mut must = self.must_calls();
                        value.visit_with(&mut must);
                        made.extend(must.state.unwrap_or_default());
                        if let (Some(name), Expr::Arrow(arrow)) = (key_name(&prop.key), peel_parens(value)) {
                            self.note_arrow(CallTarget::Method(at, name), arrow);
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some(name) = name {
            made.truncate(MAX_CALLS);
            self.note(CallTarget::New(name), class.span, made);
        }
        class.visit_children_with(self);
        self.enclosing = before;
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

impl Visit for RecursionVisitor<'_> {
    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        self.note_function(CallTarget::Name(decl.ident.to_id()), &decl.function);
        decl.function.visit_with(self);
    }

    fn visit_fn_expr(&mut self, node: &swc_ecma_ast::FnExpr) {
        if let Some(name) = &node.ident {
            self.note_function(CallTarget::Name(name.to_id()), &node.function);
        }
        node.function.visit_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Some(name) = declarator.name.as_ident() {
            match declarator.init.as_deref().map(peel_parens) {
                Some(Expr::Fn(function)) => self.note_function(CallTarget::Name(name.id.to_id()), &function.function),
                Some(Expr::Arrow(arrow)) => self.note_arrow(CallTarget::Name(name.id.to_id()), arrow),
                Some(Expr::Object(object)) => return self.note_object(Some(name.id.to_id()), object),
                Some(Expr::Class(class)) => return self.note_class(Some(name.id.to_id()), &class.class),
                // `const proxy = new Proxy(target, { get() { … } })`.
                Some(Expr::New(new)) => self.check_proxy(&name.id.to_id(), new),
                _ => {}
            }
        }
        declarator.visit_children_with(self);
    }

    fn visit_class_decl(&mut self, decl: &swc_ecma_ast::ClassDecl) {
        self.note_class(Some(decl.ident.to_id()), &decl.class);
    }

    fn visit_class_expr(&mut self, node: &swc_ecma_ast::ClassExpr) {
        self.note_class(None, &node.class);
    }

    fn visit_object_lit(&mut self, object: &ObjectLit) {
        self.note_object(None, object);
    }

    fn visit_expr_stmt(&mut self, node: &swc_ecma_ast::ExprStmt) {
        if let Expr::Call(call) = peel_parens(&node.expr)
            && let Callee::Expr(callee) = &call.callee
            && let Expr::Ident(ident) = peel_parens(callee)
            && self.conditions.names.is_free(ident)
            && &*ident.sym == "setInterval"
            && !self.conditions.mutations.clears_timers
        {
            self.found.push((call.span, message!("starts an interval that is never cleared")));
        }
        node.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        // `((f) => f(f))((f) => f(f))`.
        if let (Callee::Expr(callee), Some(first)) = (&call.callee, call.args.first())
            && applies_itself(peel_parens(callee))
            && applies_itself(peel_parens(&first.expr))
        {
            self.found.push((call.span, message!("calls a function that calls itself")));
        }
        call.visit_children_with(self);
    }
}

fn applies_itself(expr: &Expr) -> bool {
    let Expr::Arrow(arrow) = expr else { return false };
    let (ArrowFunctionBody::Expr(body), Some(Pat::Ident(param))) = (&*arrow.body, arrow.params.first()) else {
        return false;
    };
    let same = |expr: &Expr| matches!(peel_parens(expr), Expr::Ident(ident) if ident.to_id() == param.id.to_id());
    matches!(peel_parens(body), Expr::Call(call) if matches!(&call.callee, Callee::Expr(callee) if same(callee))
        && call.args.first().is_some_and(|arg| same(&arg.expr)))
}

impl RecursionVisitor<'_> {
    /// Checks for a proxy trap that reads from its own proxy.
    fn check_proxy(&mut self, name: &Id, new: &NewExpr) {
        let proxy = matches!(peel_parens(&new.callee), Expr::Ident(ident) if self.conditions.names.is_free(ident) && &*ident.sym == "Proxy");
        let Some(handler) = new.args.as_deref().and_then(|args| args.get(1)).filter(|_| proxy) else { return };
        let Some(object) = self.conditions.names.object_literal(&handler.expr) else { return };
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
            let mut must = self.must_calls();
            must.proxy = Some((own, params.get(1).cloned().flatten()));
            let calls = method.function.body.as_ref().map(|body| must.visit_body(&body.stmts)).unwrap_or_default();
            if calls.iter().any(|call| matches!(call, CallTarget::Get(0, _))) {
                self.found
                    .push((method.function.span, message!("the trap `{name}` accesses its own proxy", name = trap)));
            }
        }
    }
}
