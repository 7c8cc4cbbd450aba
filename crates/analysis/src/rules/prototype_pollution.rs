//! `prototype-pollution`: writes that reach the objects behind all others.

use swc_common::Span;
use swc_ecma_ast::{
    ArrowFunctionBody, AssignExpr, AssignOp, AssignTarget, CallExpr, Callee, Expr, Function, Ident, MemberProp, Pat,
    SimpleAssignTarget, Str, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::{Findings, Rule, Source};
use crate::finding::{RuleId, Severity};
use crate::names::{Names, bare};
use crate::value::{Key, Root, Thing, Value};

pub(super) const RULE: Rule = Rule {
    id: RuleId("prototype-pollution"),
    worst: Severity::High,
    page: include_str!("prototype_pollution.md"),
    check,
};

const SUGGESTION: &str =
    "skip the keys `__proto__`, `constructor` and `prototype`, or collect into a Map or `Object.create(null)`";

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    for write in &source.facts.writes {
        if let Some(thing) = write.target.as_thing()
            && reaches_prototype(thing)
        {
            let message = format!("writes to a prototype that others share: `{}`", thing.shown());
            findings.add(Severity::High, write.span, message, SUGGESTION);
        }
    }
    for call in &source.facts.calls {
        let Some(thing) = call.callee.as_thing() else { continue };
        let names = thing.names().unwrap_or_default();
        let writes = thing.root == Root::Global
            && matches!(
                names.as_slice(),
                ["Object", "defineProperty" | "defineProperties" | "assign" | "setPrototypeOf"]
                    | ["Reflect", "set" | "defineProperty" | "setPrototypeOf" | "deleteProperty"]
            );
        let shared = call.args.first().and_then(Value::as_thing).is_some_and(is_shared_prototype);
        let through_key = call.args.get(1).and_then(Value::as_text) == Some("__proto__");
        let own = matches!(names.last(), Some(&("__defineGetter__" | "__defineSetter__")));
        let object = Thing {
            root: thing.root.clone(),
            path: thing.path[..thing.path.len().saturating_sub(1)].to_vec(),
            known: None,
        };
        if writes && (shared || through_key) || own && (is_shared_prototype(&object) || through_first(&call.args)) {
            let message = format!("writes to a prototype that others share: `{}`", thing.shown());
            findings.add(Severity::High, call.span, message, SUGGESTION);
        } else if own {
            let message = format!("defines an accessor the old way: `{}`", thing.shown());
            findings.add(Severity::High, call.span, message, "write `get name() { … }` in the object");
        }
    }
    let mut merges = Merges { names: source.names, found: Vec::new() };
    source.program.visit_with(&mut merges);
    for (span, message) in merges.found {
        findings.add(Severity::High, span, message.to_owned(), SUGGESTION);
    }
}

fn through_first(args: &[Value]) -> bool {
    args.first().and_then(Value::as_text) == Some("__proto__")
}

/// Whether a written path leads to or through a prototype that others share.
fn reaches_prototype(thing: &Thing) -> bool {
    let Some((_, object)) = thing.path.split_last() else { return false };
    if thing.last() == Some("__proto__") {
        return true;
    }
    is_shared_prototype(&Thing { root: thing.root.clone(), path: object.to_vec(), known: None })
}

/// Whether an object is a prototype that others share.
fn is_shared_prototype(thing: &Thing) -> bool {
    let names: Vec<&str> = thing.path.iter().map(|key| key.name().unwrap_or("…")).collect();
    if names.contains(&"__proto__") {
        return true;
    }
    let Some(at) = names.iter().position(|name| *name == "prototype") else { return false };
    match &thing.root {
        // `Array.prototype`, but not that of a class of the source.
        Root::Global => at == 1 || names[..at].contains(&"constructor"),
        _ => names[..at].contains(&"constructor"),
    }
}

/// Finds merges and path setters that let a key lead to a prototype.
struct Merges<'a> {
    names: &'a Names<'a>,
    found: Vec<(Span, &'static str)>,
}

impl Merges<'_> {
    fn function(&mut self, name: Option<&Ident>, body: &dyn Fn(&mut Body<'_>), span: Span) {
        let mut seen = Body {
            names: self.names,
            own: name.cloned(),
            recursive: false,
            dynamic_write: false,
            nested_write: false,
            walks: false,
            guarded: false,
        };
        body(&mut seen);
        if seen.guarded {
            return;
        }
        if seen.recursive && seen.dynamic_write {
            self.found.push((span, "merges keys into an object without leaving out `__proto__`"));
        } else if seen.walks && seen.dynamic_write || seen.nested_write {
            self.found.push((span, "sets a value at a path of keys without leaving out `__proto__`"));
        }
    }
}

impl Visit for Merges<'_> {
    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        self.function(Some(&decl.ident), &|body| decl.function.body.visit_with(body), decl.function.span);
        decl.function.body.visit_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        let name = declarator.name.as_ident().map(|ident| &ident.id);
        match declarator.init.as_deref().map(bare) {
            Some(Expr::Fn(function)) => {
                self.function(name, &|body| function.function.body.visit_with(body), function.function.span);
                function.function.body.visit_with(self);
            }
            Some(Expr::Arrow(arrow)) => {
                self.function(name, &|body| arrow.body.visit_with(body), arrow.span);
                arrow.body.visit_with(self);
            }
            _ => declarator.visit_children_with(self),
        }
    }

    fn visit_function(&mut self, function: &Function) {
        self.function(None, &|body| function.body.visit_with(body), function.span);
        function.visit_children_with(self);
    }

    fn visit_arrow_expr(&mut self, arrow: &swc_ecma_ast::ArrowExpr) {
        if let ArrowFunctionBody::FunctionBody(_) = &*arrow.body {
            self.function(None, &|body| arrow.body.visit_with(body), arrow.span);
        }
        arrow.visit_children_with(self);
    }
}

/// What a function's body does with keys.
#[expect(clippy::struct_excessive_bools, reason = "each is seen or not, in any order")]
struct Body<'a> {
    names: &'a Names<'a>,
    own: Option<Ident>,
    recursive: bool,
    /// `object[key] = …`, where the key is not known.
    dynamic_write: bool,
    /// `object[key][key2] = …`.
    nested_write: bool,
    /// `object = object[key]`.
    walks: bool,
    guarded: bool,
}

impl Body<'_> {
    /// Whether a key is something that only running tells, and can be any text.
    fn is_open(&self, key: &MemberProp) -> bool {
        let MemberProp::Computed(computed) = key else { return false };
        if self.names.value(&computed.expr).string().is_some() {
            return false;
        }
        // An index, or a key with something in front, leads to no prototype.
        !matches!(bare(&computed.expr), Expr::Update(_) | Expr::Lit(_) | Expr::Tpl(_) | Expr::Unary(_))
            && !matches!(bare(&computed.expr), Expr::Bin(binary) if binary.op != swc_ecma_ast::BinaryOp::LogicalOr)
    }
}

impl Visit for Body<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee {
            let own = self.own.as_ref().map(Ident::to_id);
            // A step down: `merge(target[key], …)`.
            let down = call
                .args
                .iter()
                .any(|arg| matches!(bare(&arg.expr), Expr::Member(member) if self.is_open(&member.prop)));
            self.recursive |= down && matches!(bare(callee), Expr::Ident(ident) if Some(ident.to_id()) == own);
            let value = self.names.value(callee);
            if let Some(names) = value.as_thing().and_then(Thing::names) {
                self.guarded |= matches!(
                    names.as_slice(),
                    ["Object", "hasOwn"] | [.., "hasOwnProperty"] | [.., "hasOwnProperty", "call"]
                );
                let null = call.args.first().map(|arg| self.names.value(&arg.expr)) == Some(Value::Null);
                self.guarded |= names.as_slice() == ["Object", "create"] && null;
            }
            // `keys.reduce((at, key) => at[key] ??= {}, target)` walks as well.
            if let Expr::Member(member) = bare(callee)
                && matches!(&member.prop, MemberProp::Ident(name) if &*name.sym == "reduce")
                && let Some(Expr::Arrow(arrow)) = call.args.first().map(|arg| bare(&arg.expr))
                && let [Pat::Ident(first), Pat::Ident(second), ..] = arrow.params.as_slice()
            {
                let mut steps = Steps { at: first.id.clone(), key: second.id.clone(), written: false };
                arrow.body.visit_with(&mut steps);
                self.walks |= steps.written;
            }
        }
        call.visit_children_with(self);
    }

    fn visit_str(&mut self, text: &Str) {
        let text = text.value.to_string_lossy();
        self.guarded |= matches!(&*text, "__proto__" | "constructor" | "prototype");
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                // What is written into a Map's stand-in, an array or an object without prototype is harmless.
                let own = matches!(self.names.value(&member.obj), Value::List(_) | Value::Text(_));
                if self.is_open(&member.prop) && !own {
                    self.dynamic_write = true;
                    if let Expr::Member(outer) = bare(&member.obj)
                        && self.is_open(&outer.prop)
                    {
                        let plain = self.names.object(&outer.obj).is_some_and(|object| object.props.is_empty());
                        self.nested_write |= plain || from_parameters(self.names, &outer.prop);
                    }
                }
            }
            AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) if assign.op == AssignOp::Assign => {
                let mut taken = bare(&assign.right);
                while let Expr::Assign(inner) = taken {
                    if let AssignTarget::Simple(SimpleAssignTarget::Member(member)) = &inner.left {
                        self.walks |= self.steps(ident, &member.obj, &member.prop);
                    }
                    taken = bare(&inner.right);
                }
                if let Expr::Member(member) = taken {
                    self.walks |= self.steps(ident, &member.obj, &member.prop);
                }
                if let Expr::Bin(binary) = taken
                    && let Expr::Member(member) = bare(&binary.left)
                {
                    self.walks |= self.steps(ident, &member.obj, &member.prop);
                }
            }
            _ => {}
        }
        assign.visit_children_with(self);
    }
}

impl Body<'_> {
    /// Whether `name = object[key]` goes one step down from `name` itself.
    fn steps(&self, name: &Ident, object: &Expr, key: &MemberProp) -> bool {
        matches!(bare(object), Expr::Ident(ident) if ident.to_id() == name.to_id()) && self.is_open(key)
    }
}

/// Whether a key is a parameter, or a member of one.
fn from_parameters(names: &Names, key: &MemberProp) -> bool {
    let MemberProp::Computed(computed) = key else { return false };
    names
        .value(&computed.expr)
        .as_thing()
        .is_some_and(|thing| thing.root == Root::Params && thing.path.iter().all(|key| matches!(key, Key::Name(_))))
}

/// Whether a reducer writes `at[key]`.
struct Steps {
    at: Ident,
    key: Ident,
    written: bool,
}

impl Visit for Steps {
    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        if let AssignTarget::Simple(SimpleAssignTarget::Member(member)) = &assign.left
            && matches!(bare(&member.obj), Expr::Ident(ident) if ident.to_id() == self.at.to_id())
            && matches!(&member.prop, MemberProp::Computed(key)
                if matches!(bare(&key.expr), Expr::Ident(ident) if ident.to_id() == self.key.to_id()))
        {
            self.written = true;
        }
        assign.visit_children_with(self);
    }
}
