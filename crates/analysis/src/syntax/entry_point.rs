//! The entry point of a tool, in one of the accepted forms.
//!
//! Invariant: the form is read from the syntax tree alone; the sandbox looks for the tool again.

use swc_common::Span;
use swc_ecma_ast::{
    Decl, DefaultDecl, ExportDecl, ExportSpecifier, Expr, Function, Ident, IdentName, Module, ModuleDecl,
    ModuleExportName, ModuleItem, ObjectLit, Pat, Program, Prop, PropOrSpread, Stmt,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::syntax::expr::peel_parens;

/// The form in which a source defines its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryPoint {
    /// A script that declares `execute`.
    Script,
    /// A module that exports `execute`.
    Export,
    /// A module whose default export is a function.
    Default,
    /// A module whose default export is an object with an `execute` method.
    Object,
    /// A module whose default export is a factory, which takes a `pi` object and returns its tools,
    /// or registers them with it.
    Factory,
}

/// The result of the search for the entry point.
pub(crate) enum EntryPointSearch {
    Found(EntryPoint),
    Missing,
    /// A second definition of `execute`, at this span.
    Ambiguous(Span),
}

/// Finds the entry point of a program.
pub(crate) fn find_entry_point(program: &Program) -> EntryPointSearch {
    let mut tools: Vec<(EntryPoint, Span)> = Vec::new();
    let mut default = None;
    match program {
        Program::Script(script) => script.body.iter().for_each(|statement| collect_declared(statement, &mut tools)),
        Program::Module(module) => {
            for item in &module.body {
                match item {
                    ModuleItem::Stmt(statement) => collect_declared(statement, &mut tools),
                    ModuleItem::ModuleDecl(declaration) => {
                        collect_exported(declaration, module, &mut tools, &mut default);
                    }
                }
            }
        }
    }
    if let Some(shape) = default {
        return EntryPointSearch::Found(shape);
    }
    match tools.as_slice() {
        [] => EntryPointSearch::Missing,
        [(shape, _)] => EntryPointSearch::Found(*shape),
        [_, (_, span), ..] => EntryPointSearch::Ambiguous(*span),
    }
}

/// Collects `function execute` and `execute = …`.
fn collect_declared(statement: &Stmt, tools: &mut Vec<(EntryPoint, Span)>) {
    match statement {
        Stmt::Decl(declaration) => collect_from_declaration(declaration, EntryPoint::Script, tools),
        Stmt::Expr(node) => {
            if let Expr::Assign(assign) = peel_parens(&node.expr)
                && assign.left.as_ident().is_some_and(|ident| &*ident.sym == "execute")
            {
                tools.push((EntryPoint::Script, assign.span));
            }
        }
        _ => {}
    }
}

fn collect_from_declaration(declaration: &Decl, shape: EntryPoint, tools: &mut Vec<(EntryPoint, Span)>) {
    match declaration {
        // An overload has no body.
        Decl::Fn(function) if &*function.ident.sym == "execute" && function.function.body.is_some() => {
            tools.push((shape, function.ident.span));
        }
        Decl::Var(variables) => {
            for declarator in &variables.decls {
                if declarator.name.as_ident().is_some_and(|ident| &*ident.sym == "execute") && !variables.declare {
                    tools.push((shape, declarator.span));
                }
            }
        }
        _ => {}
    }
}

fn collect_exported(
    declaration: &ModuleDecl,
    module: &Module,
    tools: &mut Vec<(EntryPoint, Span)>,
    default: &mut Option<EntryPoint>,
) {
    match declaration {
        ModuleDecl::ExportDecl(ExportDecl { decl, .. }) => collect_from_declaration(decl, EntryPoint::Export, tools),
        ModuleDecl::ExportNamed(named) => {
            for specifier in &named.specifiers {
                if let ExportSpecifier::Named(named) = specifier {
                    let exported = named.exported.as_ref().unwrap_or(&named.orig);
                    let name = match exported {
                        ModuleExportName::Ident(name) => name.sym.to_string(),
                        ModuleExportName::Str(name) => name.value.to_string_lossy().into_owned(),
                    };
                    match name.as_str() {
                        "execute" if tools.is_empty() => tools.push((EntryPoint::Export, named.span)),
                        "default" => *default = entry_point_of_name(&named.orig, module),
                        _ => {}
                    }
                }
            }
        }
        ModuleDecl::ExportDefaultDecl(export) => {
            if let DefaultDecl::Fn(function) = &export.decl
                && function.function.body.is_some()
            {
                let named = function.ident.as_ref().is_some_and(|name| &*name.sym == "execute");
                *default = Some(if named { EntryPoint::Default } else { entry_point_of_function(&function.function) });
            }
        }
        ModuleDecl::ExportDefaultExpr(export) => *default = entry_point_of_expr(&export.expr, module, MAX_ALIAS_STEPS),
        _ => {}
    }
}

/// The maximum number of names through which a default export is followed.
const MAX_ALIAS_STEPS: u32 = 4;

/// Returns the form of a default-exported value.
fn entry_point_of_expr(expr: &Expr, module: &Module, steps: u32) -> Option<EntryPoint> {
    match peel_parens(expr) {
        Expr::Object(object) => has_execute(object).then_some(EntryPoint::Object),
        Expr::Arrow(arrow) => {
            let factory = arrow.params.first().is_some_and(is_pi) || mentions_tools(&arrow.body);
            Some(if factory { EntryPoint::Factory } else { EntryPoint::Default })
        }
        Expr::Fn(function) => Some(entry_point_of_function(&function.function)),
        Expr::Ident(ident) if steps > 0 => entry_point_of_declared(&ident.sym, module, steps - 1),
        // A value that is only known at run time: the sandbox inspects it.
        Expr::Ident(_) | Expr::Call(_) | Expr::New(_) | Expr::Await(_) => Some(EntryPoint::Default),
        _ => None,
    }
}

fn entry_point_of_name(name: &ModuleExportName, module: &Module) -> Option<EntryPoint> {
    match name {
        ModuleExportName::Ident(ident) => entry_point_of_declared(&ident.sym, module, MAX_ALIAS_STEPS),
        ModuleExportName::Str(_) => None,
    }
}

/// Returns the form of a declaration of the module, by its name.
fn entry_point_of_declared(name: &str, module: &Module, steps: u32) -> Option<EntryPoint> {
    let declarations = module.body.iter().filter_map(|item| match item {
        ModuleItem::Stmt(Stmt::Decl(declaration)) => Some(declaration),
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => Some(&export.decl),
        _ => None,
    });
    for declaration in declarations {
        match declaration {
            Decl::Fn(function) if &*function.ident.sym == name && function.function.body.is_some() => {
                return Some(if name == "execute" {
                    EntryPoint::Default
                } else {
                    entry_point_of_function(&function.function)
                });
            }
            Decl::Var(variables) => {
                let meant = variables.decls.iter().find(|one| one.name.as_ident().is_some_and(|id| &*id.sym == name));
                if let Some(init) = meant.and_then(|declarator| declarator.init.as_ref()) {
                    return match entry_point_of_expr(init, module, steps) {
                        Some(EntryPoint::Factory) if name == "execute" => Some(EntryPoint::Default),
                        shape => shape,
                    };
                }
            }
            _ => {}
        }
    }
    Some(EntryPoint::Default)
}

/// Returns the form of a function: a factory if its first parameter is `pi`, or if it mentions
/// `execute` or `registerTool`. The guest applies the same test.
fn entry_point_of_function(function: &Function) -> EntryPoint {
    let pi = function.params.first().is_some_and(|param| is_pi(&param.pat));
    let factory = pi || function.body.as_ref().is_some_and(mentions_tools);
    if factory { EntryPoint::Factory } else { EntryPoint::Default }
}

fn is_pi(pat: &Pat) -> bool {
    pat.as_ident().is_some_and(|ident| &*ident.sym == "pi")
}

/// Returns whether the code mentions the name `execute` or `registerTool`.
fn mentions_tools(code: &impl VisitWith<ToolMentions>) -> bool {
    let mut mentions = ToolMentions(false);
    code.visit_with(&mut mentions);
    mentions.0
}

struct ToolMentions(bool);

impl Visit for ToolMentions {
    fn visit_ident(&mut self, ident: &Ident) {
        self.0 |= matches!(&*ident.sym, "execute" | "registerTool");
    }

    fn visit_ident_name(&mut self, name: &IdentName) {
        self.0 |= matches!(&*name.sym, "execute" | "registerTool");
    }
}

fn has_execute(object: &ObjectLit) -> bool {
    object.props.iter().any(|prop| match prop {
        PropOrSpread::Spread(_) => true,
        PropOrSpread::Prop(prop) => match &**prop {
            Prop::KeyValue(pair) => pair.key.as_ident().is_some_and(|name| &*name.sym == "execute"),
            Prop::Method(method) => method.key.as_ident().is_some_and(|name| &*name.sym == "execute"),
            Prop::Shorthand(ident) => &*ident.sym == "execute",
            _ => false,
        },
    })
}
