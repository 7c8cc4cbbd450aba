//! The capabilities that a source needs from its host: an upper bound of what it uses.
//!
//! Invariant: a name that is only known at run time makes the need `unknown`; it is never left out.

use std::collections::BTreeSet;

use swc_common::{Span, Spanned};
use swc_ecma_ast::{Decl, DefaultDecl, Expr, MemberExpr, Module, ModuleDecl, ModuleItem, Pat, Program, Stmt};
use swc_ecma_visit::{Visit, VisitWith};
use toolcell_tool::{Capabilities, Capability, ServerName, ServerToolName};

use crate::semantics::facts::{Facts, UseKind};
use crate::semantics::network::NETWORK_GLOBALS;
use crate::semantics::value::{AccessPath, Key, Root, Value};
use crate::syntax::position::{LineIndex, byte_range};

/// Collects the capabilities that a source can use.
pub(crate) fn capabilities_of(facts: &Facts) -> Capabilities {
    let mut found = Capabilities::default();
    for call in &facts.calls {
        let Some(thing) = call.callee.as_path() else { continue };
        let first = call.args.first().unwrap_or(&Value::Undefined);
        match capability_of_global(thing) {
            Some(Capability::Net) => {
                let host = call.prefixes.first().and_then(|prefix| host_of_url_prefix(prefix));
                add_need(&mut found, Capability::Net, host);
            }
            // The name is that of the function, not an argument.
            Some(Capability::Servers) => add_server_need(&mut found, thing),
            // Calls of these capabilities have no names.
            None | Some(Capability::Clock | Capability::Random | Capability::Timers) => {}
            Some(capability) => add_need(&mut found, capability, first.as_text().map(str::to_owned)),
        }
    }
    // `new Date(2024, 0, 1)` reads no clock.
    let reads_clock = facts.calls.iter().any(|call| {
        call.callee.as_path().is_some_and(is_date) && (!call.is_new || call.args.is_empty() && call.prefixes.is_empty())
    });
    for used_here in facts.uses.iter().filter(|used| used.kind != UseKind::TypeTested) {
        match capability_of_global(&used_here.path) {
            Some(Capability::Clock) if is_date(&used_here.path) => {
                if used_here.kind == UseKind::Plain || reads_clock {
                    found.insert(Capability::Clock);
                }
            }
            Some(capability @ (Capability::Clock | Capability::Random | Capability::Timers)) => {
                found.insert(capability);
            }
            // Used as a value: the names that it is called with later are not known.
            Some(capability) if used_here.kind == UseKind::Plain => found.insert_unknown(capability),
            Some(_) | None => {}
        }
    }
    found
}

/// Returns the lines on which a source uses a capability, counted from 1.
pub(crate) fn lines_using_capabilities(facts: &Facts, lent: &[(String, Span)], lines: &LineIndex<'_>) -> BTreeSet<u32> {
    let used = facts.uses.iter().filter(|used| used.kind != UseKind::TypeTested);
    let used = used.filter(|used| capability_of_global(&used.path).is_some()).map(|used| used.span);
    used.chain(lent.iter().map(|(_, span)| *span)).map(|span| lines.line_of_byte(byte_range(span).0)).collect()
}

/// Returns the functions of the host that a factory's tools use through `pi` and `ctx`, and where:
/// `pi.exec` is `pi_exec`, `ui.confirm` of either is `pi_ui_confirm`.
///
/// Names alone tell: a `pi` that the source passes around under other names is not followed. A use
/// that is overlooked fails for lack of a grant until the tool requests it.
pub(crate) fn lent_functions(program: &Program) -> Vec<(String, Span)> {
    let Program::Module(module) = program else { return Vec::new() };
    let mut uses = LentFunctions { parameters: first_parameters(module), found: Vec::new() };
    module.visit_with(&mut uses);
    uses.found
}

/// Returns the names of the first parameters of the functions at the top of a module.
fn first_parameters(module: &Module) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |pat: Option<&Pat>| names.extend(pat.and_then(Pat::as_ident).map(|ident| ident.sym.to_string()));
    let add_expr = |expr: &Expr, add: &mut dyn FnMut(Option<&Pat>)| match expr {
        Expr::Arrow(arrow) => add(arrow.params.first()),
        Expr::Fn(function) => add(function.function.params.first().map(|param| &param.pat)),
        _ => {}
    };
    for item in &module.body {
        let declaration = match item {
            ModuleItem::Stmt(Stmt::Decl(declaration)) => declaration,
            ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => &export.decl,
            ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(export)) => {
                add_expr(&export.expr, &mut add);
                continue;
            }
            ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => {
                if let DefaultDecl::Fn(function) = &export.decl {
                    add(function.function.params.first().map(|param| &param.pat));
                }
                continue;
            }
            _ => continue,
        };
        match declaration {
            Decl::Fn(function) => add(function.function.params.first().map(|param| &param.pat)),
            Decl::Var(variables) => {
                for init in variables.decls.iter().filter_map(|declarator| declarator.init.as_deref()) {
                    add_expr(init, &mut add);
                }
            }
            _ => {}
        }
    }
    names
}

struct LentFunctions {
    parameters: Vec<String>,
    found: Vec<(String, Span)>,
}

impl Visit for LentFunctions {
    fn visit_member_expr(&mut self, member: &MemberExpr) {
        member.visit_children_with(self);
        let Some(name) = member.prop.as_ident().map(|name| &*name.sym) else { return };
        let is_ui = match &*member.obj {
            Expr::Member(object) => object.prop.as_ident().is_some_and(|name| &*name.sym == "ui"),
            Expr::Ident(object) => &*object.sym == "ui",
            _ => false,
        };
        match (name, &*member.obj) {
            ("exec", Expr::Ident(object)) if self.parameters.iter().any(|known| *known == *object.sym) => {
                self.found.push(("pi_exec".to_owned(), member.span()));
            }
            ("select" | "confirm" | "input", _) if is_ui => {
                self.found.push((format!("pi_ui_{name}"), member.span()));
            }
            _ => {}
        }
    }
}

/// Adds a need for a capability; without a name, the names are only known at run time.
fn add_need(found: &mut Capabilities, capability: Capability, name: Option<String>) {
    match name {
        Some(name) => found.insert_name(capability, name),
        None => found.insert_unknown(capability),
    }
}

/// Adds the need for a function of `servers`: `github.create_issue`.
fn add_server_need(found: &mut Capabilities, function: &AccessPath) {
    match (function.keys.get(1).and_then(Key::name), function.keys.get(2).and_then(Key::name)) {
        // These tell of what is granted.
        (Some("$search" | "$describe"), _) => found.insert(Capability::Servers),
        (Some(server), Some(tool)) => match (ServerName::parse(server), ServerToolName::parse(tool)) {
            (Ok(server), Ok(tool)) => found.insert_name(Capability::Servers, format!("{server}.{tool}")),
            _ => found.insert(Capability::Servers),
        },
        _ => found.insert_unknown(Capability::Servers),
    }
}

/// Returns the capability that a global belongs to.
fn capability_of_global(thing: &AccessPath) -> Option<Capability> {
    if thing.root != Root::Global {
        return None;
    }
    if thing.is_global_below_any(&NETWORK_GLOBALS) {
        return Some(Capability::Net);
    }
    match (thing.keys.first()?.name()?, thing.keys.get(1).and_then(Key::name)) {
        ("setTimeout" | "setInterval" | "sleep", _) | ("AbortSignal", Some("timeout")) => Some(Capability::Timers),
        ("Date", Some("now")) => Some(Capability::Clock),
        ("Date", _) if is_date(thing) => Some(Capability::Clock),
        ("Math", Some("random")) => Some(Capability::Random),
        ("kv", _) => Some(Capability::Kv),
        ("files", _) => Some(Capability::Files),
        ("secret", _) => Some(Capability::Secrets),
        ("tools", _) => Some(Capability::Tools),
        ("servers", _) => Some(Capability::Servers),
        _ => None,
    }
}

fn is_date(thing: &AccessPath) -> bool {
    thing.is_global_below(&["Date"]) && thing.keys.len() == 1
}

/// Returns the host of a URL's known prefix, if the prefix contains all of the host.
fn host_of_url_prefix(prefix: &str) -> Option<String> {
    let (scheme, rest) = prefix.split_once("://")?;
    if !matches!(scheme, "http" | "https" | "ws" | "wss") {
        return None;
    }
    let end = rest.find(['/', '?', '#'])?;
    let authority = rest[..end].rsplit('@').next().unwrap_or_default();
    (!authority.is_empty()).then(|| authority.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_only_known_where_it_ends() {
        assert_eq!(host_of_url_prefix("https://api.example.com/v1/"), Some("api.example.com".to_owned()));
        assert_eq!(host_of_url_prefix("https://api.example.co"), None);
        assert_eq!(host_of_url_prefix("https://user:x@API.example.com:8443/"), Some("api.example.com:8443".to_owned()));
        assert_eq!(host_of_url_prefix("/v1"), None);
    }
}
