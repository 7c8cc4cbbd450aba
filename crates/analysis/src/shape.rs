//! In which of the accepted shapes a source is a tool.
//!
//! Invariant: the shape is read off the tree; the sandbox finds the tool again by itself.

use swc_common::Span;
use swc_ecma_ast::{
    Decl, DefaultDecl, ExportDecl, ExportSpecifier, Expr, Function, ModuleDecl, ModuleExportName, ModuleItem,
    ObjectLit, Program, Prop, PropOrSpread, Stmt,
};

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
                    ModuleItem::ModuleDecl(declaration) => exported(declaration, &mut tools, &mut default),
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

fn exported(declaration: &ModuleDecl, tools: &mut Vec<(Shape, Span)>, default: &mut Option<Shape>) {
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
                        "default" => *default = Some(Shape::Default),
                        _ => {}
                    }
                }
            }
        }
        ModuleDecl::ExportDefaultDecl(export) => {
            if let DefaultDecl::Fn(function) = &export.decl
                && has_body(&function.function)
            {
                *default = Some(Shape::Default);
            }
        }
        ModuleDecl::ExportDefaultExpr(export) => {
            *default = match bare(&export.expr) {
                Expr::Object(object) => has_execute(object).then_some(Shape::Object),
                // A value that only running makes: the sandbox looks at it.
                Expr::Arrow(_) | Expr::Fn(_) | Expr::Ident(_) | Expr::Call(_) | Expr::New(_) => Some(Shape::Default),
                _ => None,
            };
        }
        _ => {}
    }
}

fn has_body(function: &Function) -> bool {
    function.body.is_some()
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
