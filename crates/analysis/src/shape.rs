//! In which of the accepted shapes a source is a tool.
//!
//! Invariant: the shape is read off the tree; the sandbox finds the tool again by itself.

use swc_common::Span;
use swc_ecma_ast::{
    Decl, DefaultDecl, ExportDecl, ExportSpecifier, Expr, Function, Ident, IdentName, Module, ModuleDecl,
    ModuleExportName, ModuleItem, ObjectLit, Pat, Program, Prop, PropOrSpread, Stmt,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::names::bare;

/// How a tool is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A script that declares `execute`.
    Script,
    /// A module that exports `execute`.
    Export,
    /// A module whose default export is a function.
    Default,
    /// A module whose default export is an object with an `execute` method.
    Object,
    /// A module whose default export makes custom tools of a `pi`.
    Factory,
}

/// What was found: the shape, or why there is none.
pub(crate) enum Found {
    Tool(Shape),
    Missing,
    /// Where the second one is.
    Twice(Span),
}

/// Looks for the tool.
pub(crate) fn of(program: &Program) -> Found {
    let mut tools: Vec<(Shape, Span)> = Vec::new();
    let mut default = None;
    match program {
        Program::Script(script) => script.body.iter().for_each(|statement| declared(statement, &mut tools)),
        Program::Module(module) => {
            for item in &module.body {
                match item {
                    ModuleItem::Stmt(statement) => declared(statement, &mut tools),
                    ModuleItem::ModuleDecl(declaration) => exported(declaration, module, &mut tools, &mut default),
                }
            }
        }
    }
    if let Some(shape) = default {
        return Found::Tool(shape);
    }
    match tools.as_slice() {
        [] => Found::Missing,
        [(shape, _)] => Found::Tool(*shape),
        [_, (_, span), ..] => Found::Twice(*span),
    }
}

/// `function execute`, `const execute = …`.
fn declared(statement: &Stmt, tools: &mut Vec<(Shape, Span)>) {
    match statement {
        Stmt::Decl(declaration) => of_declaration(declaration, Shape::Script, tools),
        Stmt::Expr(node) => {
            if let Expr::Assign(assign) = bare(&node.expr)
                && assign.left.as_ident().is_some_and(|ident| &*ident.sym == "execute")
            {
                tools.push((Shape::Script, assign.span));
            }
        }
        _ => {}
    }
}

fn of_declaration(declaration: &Decl, shape: Shape, tools: &mut Vec<(Shape, Span)>) {
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

fn exported(declaration: &ModuleDecl, module: &Module, tools: &mut Vec<(Shape, Span)>, default: &mut Option<Shape>) {
    match declaration {
        ModuleDecl::ExportDecl(ExportDecl { decl, .. }) => of_declaration(decl, Shape::Export, tools),
        ModuleDecl::ExportNamed(named) => {
            for specifier in &named.specifiers {
                if let ExportSpecifier::Named(named) = specifier {
                    let exported = named.exported.as_ref().unwrap_or(&named.orig);
                    let name = match exported {
                        ModuleExportName::Ident(name) => name.sym.to_string(),
                        ModuleExportName::Str(name) => name.value.to_string_lossy().into_owned(),
                    };
                    match name.as_str() {
                        "execute" if tools.is_empty() => tools.push((Shape::Export, named.span)),
                        "default" => *default = of_name(&named.orig, module),
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
                *default = Some(if named { Shape::Default } else { of_function(&function.function) });
            }
        }
        ModuleDecl::ExportDefaultExpr(export) => *default = of_expr(&export.expr, module, STEPS),
        _ => {}
    }
}

/// How many names a default export is followed through.
const STEPS: u32 = 4;

/// The shape of a value that is exported by default.
fn of_expr(expr: &Expr, module: &Module, steps: u32) -> Option<Shape> {
    match bare(expr) {
        Expr::Object(object) => has_execute(object).then_some(Shape::Object),
        Expr::Arrow(arrow) => {
            let factory = arrow.params.first().is_some_and(is_pi) || makes_execute(&arrow.body);
            Some(if factory { Shape::Factory } else { Shape::Default })
        }
        Expr::Fn(function) => Some(of_function(&function.function)),
        Expr::Ident(ident) if steps > 0 => of_declared(&ident.sym, module, steps - 1),
        // A value that only running makes: the sandbox looks at it.
        Expr::Ident(_) | Expr::Call(_) | Expr::New(_) | Expr::Await(_) => Some(Shape::Default),
        _ => None,
    }
}

fn of_name(name: &ModuleExportName, module: &Module) -> Option<Shape> {
    match name {
        ModuleExportName::Ident(ident) => of_declared(&ident.sym, module, STEPS),
        ModuleExportName::Str(_) => None,
    }
}

/// The shape of what the module declares by a name.
fn of_declared(name: &str, module: &Module, steps: u32) -> Option<Shape> {
    let declarations = module.body.iter().filter_map(|item| match item {
        ModuleItem::Stmt(Stmt::Decl(declaration)) => Some(declaration),
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => Some(&export.decl),
        _ => None,
    });
    for declaration in declarations {
        match declaration {
            Decl::Fn(function) if &*function.ident.sym == name && function.function.body.is_some() => {
                return Some(if name == "execute" { Shape::Default } else { of_function(&function.function) });
            }
            Decl::Var(variables) => {
                let meant = variables.decls.iter().find(|one| one.name.as_ident().is_some_and(|id| &*id.sym == name));
                if let Some(init) = meant.and_then(|declarator| declarator.init.as_ref()) {
                    return match of_expr(init, module, steps) {
                        Some(Shape::Factory) if name == "execute" => Some(Shape::Default),
                        shape => shape,
                    };
                }
            }
            _ => {}
        }
    }
    Some(Shape::Default)
}

/// A function that takes `pi`, or makes something with an `execute`, is a factory; the guest asks the same.
fn of_function(function: &Function) -> Shape {
    let pi = function.params.first().is_some_and(|param| is_pi(&param.pat));
    let factory = pi || function.body.as_ref().is_some_and(makes_execute);
    if factory { Shape::Factory } else { Shape::Default }
}

fn is_pi(pat: &Pat) -> bool {
    pat.as_ident().is_some_and(|ident| &*ident.sym == "pi")
}

/// Whether the name `execute` is in it.
fn makes_execute(code: &impl VisitWith<Mentions>) -> bool {
    let mut mentions = Mentions(false);
    code.visit_with(&mut mentions);
    mentions.0
}

struct Mentions(bool);

impl Visit for Mentions {
    fn visit_ident(&mut self, ident: &Ident) {
        self.0 |= &*ident.sym == "execute";
    }

    fn visit_ident_name(&mut self, name: &IdentName) {
        self.0 |= &*name.sym == "execute";
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
