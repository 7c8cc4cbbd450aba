//! `data-exfiltration`: something sensitive that is sent to a place that the source names.

use std::collections::{HashMap, HashSet};

use swc_ecma_ast::{
    AssignExpr, AssignTarget, CallExpr, Callee, Expr, ExprOrSpread, Id, Ident, NewExpr, Pat, SimpleAssignTarget,
    VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::{Findings, Rule, Source};
use crate::facts::prefix;
use crate::finding::{RuleId, Severity};
use crate::names::{Names, bare};
use crate::value::{Root, Thing, Value};

pub(super) const RULE: Rule = Rule {
    id: RuleId("data-exfiltration"),
    worst: Severity::Critical,
    page: include_str!("data_exfiltration.md"),
    check,
};

const SUGGESTION: &str = "send secrets only where the caller says, through the capability `secrets`";

/// How often taint is carried on through names.
const ROUNDS: usize = 8;

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    let reaches_network = source
        .facts
        .uses
        .iter()
        .any(|used| super::network_access::GLOBALS.iter().any(|path| used.thing.is_global_below(path)))
        || source.facts.modules.iter().any(|(module, _)| super::network_access::is_network(module))
        || source.facts.uses.iter().any(|used| used.thing.module().is_some_and(super::network_access::is_network));
    if !reaches_network {
        return;
    }
    let mut taint =
        Taint { names: source.names, tainted: HashSet::new(), functions: HashMap::new(), senders: HashSet::new() };
    for _ in 0..ROUNDS {
        let before = taint.tainted.len() + taint.senders.len();
        source.program.visit_with(&mut taint);
        if taint.tainted.len() + taint.senders.len() == before {
            break;
        }
    }
    let mut sinks = Sinks { taint: &taint, found: Vec::new() };
    source.program.visit_with(&mut sinks);
    for (span, what) in sinks.found {
        let message = format!("sends something sensitive ({what}) to another machine");
        findings.add(Severity::Critical, span, message, SUGGESTION);
    }
}

/// The names that hold something sensitive.
struct Taint<'a> {
    names: &'a Names<'a>,
    tainted: HashSet<Id>,
    /// The parameters of each function that has a name.
    functions: HashMap<Id, Vec<Pat>>,
    /// Names of objects that send: an `XMLHttpRequest`, a `WebSocket`.
    senders: HashSet<Id>,
}

impl Taint<'_> {
    /// What is sensitive in an expression.
    fn source(&self, expr: &Expr) -> Option<String> {
        let mut search = Search { taint: self, found: None };
        expr.visit_with(&mut search);
        search.found
    }

    fn sends(&self, expr: &Expr) -> bool {
        let Expr::New(new) = bare(expr) else { return false };
        self.names.value(&new.callee).as_thing().is_some_and(|thing| {
            ["XMLHttpRequest", "WebSocket", "Image"].iter().any(|name| thing.is_global_below(&[name]))
                || thing.module() == Some("ws")
        })
    }
}

impl Visit for Taint<'_> {
    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Some(init) = &declarator.init {
            if let Some(name) = declarator.name.as_ident() {
                let params = match bare(init) {
                    Expr::Arrow(arrow) => Some(arrow.params.clone()),
                    Expr::Fn(function) => {
                        Some(function.function.params.iter().map(|param| param.pat.clone()).collect())
                    }
                    _ => None,
                };
                if let Some(params) = params {
                    self.functions.entry(name.id.to_id()).or_insert(params);
                }
            }
            if self.source(init).is_some() {
                let mut ids = Ids(Vec::new());
                declarator.name.visit_with(&mut ids);
                self.tainted.extend(ids.0);
            }
            if let Pat::Ident(ident) = &declarator.name
                && self.sends(init)
            {
                self.senders.insert(ident.id.to_id());
            }
        }
        declarator.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        if self.source(&assign.right).is_some() {
            match &assign.left {
                AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) => {
                    self.tainted.insert(ident.id.to_id());
                }
                AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                    if let Expr::Ident(ident) = bare(&member.obj)
                        && !self.names.is_free(ident)
                    {
                        self.tainted.insert(ident.to_id());
                    }
                }
                _ => {}
            }
        }
        assign.visit_children_with(self);
    }

    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        let params = || decl.function.params.iter().map(|param| param.pat.clone()).collect();
        self.functions.entry(decl.ident.to_id()).or_insert_with(params);
        decl.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        // What a function is called with, its parameter is.
        if let Callee::Expr(callee) = &call.callee
            && let Expr::Ident(name) = bare(callee)
            && self.functions.contains_key(&name.to_id())
        {
            let mut ids = Ids(Vec::new());
            for (param, arg) in self.functions[&name.to_id()].iter().zip(&call.args) {
                if self.source(&arg.expr).is_some() {
                    param.visit_with(&mut ids);
                }
            }
            self.tainted.extend(ids.0);
        }
        // What is pushed into a list, or set in a map, is in it.
        if let Callee::Expr(callee) = &call.callee
            && let Expr::Member(member) = bare(callee)
            && let Expr::Ident(ident) = bare(&member.obj)
            && matches!(self.names.key(&member.prop).as_text(), Some("push" | "set" | "append" | "add" | "unshift"))
            && !self.names.is_free(ident)
            && call.args.iter().any(|arg| self.source(&arg.expr).is_some())
        {
            self.tainted.insert(ident.to_id());
        }
        call.visit_children_with(self);
    }
}

/// Looks for something sensitive in an expression.
struct Search<'a> {
    taint: &'a Taint<'a>,
    found: Option<String>,
}

impl Visit for Search<'_> {
    fn visit_prop(&mut self, prop: &swc_ecma_ast::Prop) {
        match prop {
            swc_ecma_ast::Prop::Shorthand(ident) => self.visit_expr(&Expr::Ident(ident.clone())),
            prop => prop.visit_children_with(self),
        }
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if self.found.is_some() {
            return;
        }
        if let Value::Thing(thing) = self.taint.names.value(expr)
            && let Some(what) = sensitive(&thing)
        {
            self.found = Some(what);
            return;
        }
        if let Expr::Ident(ident) = expr
            && self.taint.tainted.contains(&ident.to_id())
        {
            self.found = Some(format!("`{}`", ident.sym));
            return;
        }
        // What a function does when it is called is not what it is.
        if matches!(expr, Expr::Fn(_) | Expr::Class(_)) {
            return;
        }
        if let Expr::Call(call) = expr
            && let Callee::Expr(callee) = &call.callee
        {
            // What reads a file gives its content.
            if let Some(thing) = self.taint.names.value(callee).as_thing()
                && (thing.module().is_some_and(|module| module.starts_with("fs")) || is_prompt(thing))
            {
                self.found = Some(format!("`{}`", thing.shown()));
                return;
            }
        }
        expr.visit_children_with(self);
    }
}

fn is_prompt(thing: &Thing) -> bool {
    ["Deno", "Bun"].iter().any(|runtime| {
        thing.is_global_below(&[runtime]) && thing.last().is_some_and(|last| last.starts_with("read") || last == "file")
    })
}

/// What is sensitive about a thing.
fn sensitive(thing: &Thing) -> Option<String> {
    let environment = [
        &["process", "env"] as &[&str],
        &["Deno", "env"],
        &["Bun", "env"],
        &["document", "cookie"],
        &["localStorage"],
        &["sessionStorage"],
    ];
    if environment.iter().any(|path| thing.is_global_below(path)) {
        return Some(format!("`{}`", thing.shown()));
    }
    if thing.root == Root::Params && thing.last().is_some_and(is_secret_name) {
        return Some(format!("`{}`", thing.shown()));
    }
    None
}

/// Whether a parameter's name says that it is secret.
fn is_secret_name(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    [
        "apikey",
        "password",
        "passwd",
        "secret",
        "privatekey",
        "accesstoken",
        "authtoken",
        "sessiontoken",
        "credential",
        "credentials",
        "creditcard",
        "cardnumber",
        "ssn",
        "pin",
        "passphrase",
        "secretkey",
        "cvv",
        "mnemonic",
        "seedphrase",
        "token",
    ]
    .iter()
    .any(|word| name == *word || (word.len() > 5 && name.ends_with(word)))
}

/// Looks for calls that send something sensitive.
struct Sinks<'a> {
    taint: &'a Taint<'a>,
    found: Vec<(swc_common::Span, String)>,
}

impl Sinks<'_> {
    fn call(&mut self, callee: &Expr, args: &[ExprOrSpread], span: swc_common::Span) {
        let names = self.taint.names;
        let value = names.value(callee);
        let to_network = value.as_thing().is_some_and(|thing| {
            super::network_access::GLOBALS.iter().any(|path| thing.is_global_below(path))
                || thing.module().is_some_and(super::network_access::is_network)
                || thing.is_global_below(&["Reflect", "apply"])
        });
        let by_sender = matches!(bare(callee), Expr::Member(member)
            if matches!(bare(&member.obj), Expr::Ident(ident) if self.taint.senders.contains(&ident.to_id())));
        if !(to_network || by_sender) {
            return;
        }
        // Where the caller says where to send it, it is the caller's to send.
        let place = args.first().map(|arg| prefix(names, &arg.expr)).unwrap_or_default();
        let fixed =
            by_sender || place.contains("://") || value.as_thing().is_some_and(|thing| thing.module().is_some());
        if !fixed {
            return;
        }
        if let Some(what) = args.iter().find_map(|arg| self.taint.source(&arg.expr)) {
            self.found.push((span, what));
        }
    }
}

impl Visit for Sinks<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee {
            self.call(callee, &call.args, call.span);
        }
        call.visit_children_with(self);
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        self.call(&new.callee, new.args.as_deref().unwrap_or_default(), new.span);
        new.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        // `new Image().src = "https://…" + secret`
        if let AssignTarget::Simple(SimpleAssignTarget::Member(member)) = &assign.left
            && self.taint.names.key(&member.prop).as_text() == Some("src")
            && prefix(self.taint.names, &assign.right).contains("://")
            && let Some(what) = self.taint.source(&assign.right)
        {
            self.found.push((assign.span, what));
        }
        assign.visit_children_with(self);
    }
}

/// The names in a pattern.
struct Ids(Vec<Id>);

impl Visit for Ids {
    fn visit_binding_ident(&mut self, ident: &swc_ecma_ast::BindingIdent) {
        self.0.push(Ident::to_id(&ident.id));
    }

    fn visit_assign_pat_prop(&mut self, prop: &swc_ecma_ast::AssignPatProp) {
        self.0.push(prop.key.id.to_id());
    }

    fn visit_expr(&mut self, _: &Expr) {}
}
