//! Removal of type exports.
//!
//! As in TypeScript, a name in an export list is removed if it is only a type, and so is a type
//! that is exported by default. Everything else stays: an export of an undeclared name remains, and
//! fails at run time.

use rustc_hash::FxHashSet;
use swc_atoms::Atom;
use swc_common::Spanned;
use swc_ecma_ast::{
    Decl, DefaultDecl, ExportSpecifier, Expr, Ident, ImportDecl, ImportSpecifier, Module, ModuleDecl, ModuleExportName,
    ModuleItem, NamedExport, Pat, Program, Stmt, TsEntityName, TsModuleDecl, TsModuleRef, TsNamespaceBody,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::syntax::expr::peel_parens;
use crate::syntax::imports::ErasedRange;
use crate::syntax::position::byte_range;

/// Removes the exported types of a program, and returns their ranges.
pub(crate) fn remove_type_exports(source: &str, program: &mut Program) -> Vec<ErasedRange> {
    let Program::Module(module) = program else { return Vec::new() };
    if !module.body.iter().any(may_export_a_type) {
        return Vec::new();
    }
    let types = type_only_names(module);
    if types.is_empty() {
        return Vec::new();
    }
    let mut places = Vec::new();
    module.body.retain_mut(|item| match item {
        ModuleItem::ModuleDecl(ModuleDecl::ExportNamed(export)) if export.src.is_none() && !export.type_only => {
            let is_kept = remove_from_list(source, export, &types, &mut places);
            if !is_kept {
                places.push(ErasedRange::statement(byte_range(export.span)));
            }
            is_kept
        }
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(export)) => {
            let is_type = peel_parens(&export.expr).as_ident().is_some_and(|ident| types.contains(&ident.sym));
            if is_type {
                places.push(ErasedRange::statement(byte_range(export.span)));
            }
            !is_type
        }
        _ => true,
    });
    places
}

fn may_export_a_type(item: &ModuleItem) -> bool {
    match item {
        ModuleItem::ModuleDecl(ModuleDecl::ExportNamed(export)) => export.src.is_none() && !export.type_only,
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(export)) => peel_parens(&export.expr).is_ident(),
        _ => false,
    }
}

/// Removes the types from one list; returns false if the list has only types.
fn remove_from_list(
    source: &str,
    export: &mut NamedExport,
    types: &FxHashSet<Atom>,
    places: &mut Vec<ErasedRange>,
) -> bool {
    let is_type = |specifier: &ExportSpecifier| match specifier {
        ExportSpecifier::Named(named) => {
            matches!(&named.orig, ModuleExportName::Ident(name) if !named.is_type_only && types.contains(&name.sym))
        }
        _ => false,
    };
    let count = export.specifiers.iter().filter(|specifier| is_type(specifier)).count();
    if count > 0 && count == export.specifiers.len() {
        return false;
    }
    for (index, specifier) in export.specifiers.iter().enumerate() {
        if is_type(specifier) {
            let next = export.specifiers.get(index + 1).map(|next| byte_range(next.span()).0);
            places.push(ErasedRange::item(source, byte_range(specifier.span()), next));
        }
    }
    export.specifiers.retain(|specifier| !is_type(specifier));
    true
}

/// Returns the names of a module that are types and not values.
fn type_only_names(module: &Module) -> FxHashSet<Atom> {
    let mut names = DeclaredNames::default();
    for item in &module.body {
        match item {
            ModuleItem::Stmt(Stmt::Decl(decl)) => names.add_declaration(decl),
            ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => names.add_declaration(&export.decl),
            ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => match &export.decl {
                DefaultDecl::Class(class) => names.values.extend(class.ident.iter().map(|name| name.sym.clone())),
                DefaultDecl::Fn(function) => names.values.extend(function.ident.iter().map(|name| name.sym.clone())),
                DefaultDecl::TsInterfaceDecl(declaration) => {
                    names.types.insert(declaration.id.sym.clone());
                }
            },
            ModuleItem::ModuleDecl(ModuleDecl::Import(import)) => names.add_import(import),
            ModuleItem::ModuleDecl(ModuleDecl::TsImportEquals(import)) => {
                let is_type = import.is_type_only;
                let to = if is_type { &mut names.types } else { &mut names.values };
                to.insert(import.id.sym.clone());
            }
            _ => {}
        }
    }
    if !names.imported.is_empty() {
        let mut used = NameUses::default();
        module.visit_with(&mut used);
        // An import that is used only as a type is elided, and with it its export. An export under
        // a name of the tool's entry point counts as a value.
        let DeclaredNames { types, imported, .. } = &mut names;
        let is_type =
            |name: &Atom| used.types.contains(name) && !used.values.contains(name) && !used.tool_exports.contains(name);
        types.extend(imported.drain().filter(is_type));
    }
    let DeclaredNames { mut types, values, .. } = names;
    types.retain(|name| !values.contains(name));
    types
}

#[derive(Default)]
struct DeclaredNames {
    types: FxHashSet<Atom>,
    values: FxHashSet<Atom>,
    /// Names that are imported without `type`.
    imported: FxHashSet<Atom>,
}

impl DeclaredNames {
    fn add_declaration(&mut self, decl: &Decl) {
        match decl {
            Decl::TsInterface(declaration) => {
                self.types.insert(declaration.id.sym.clone());
            }
            Decl::TsTypeAlias(alias) => {
                self.types.insert(alias.id.sym.clone());
            }
            Decl::TsModule(module) => {
                if let Some(name) = module.id.as_ident() {
                    let to = if is_instantiated(module) { &mut self.values } else { &mut self.types };
                    to.insert(name.sym.clone());
                }
            }
            Decl::Class(class) => {
                self.values.insert(class.ident.sym.clone());
            }
            Decl::Fn(function) => {
                self.values.insert(function.ident.sym.clone());
            }
            Decl::TsEnum(declaration) => {
                self.values.insert(declaration.id.sym.clone());
            }
            Decl::Var(variables) => {
                for declarator in &variables.decls {
                    self.add_pattern(&declarator.name);
                }
            }
            Decl::Using(using) => {
                for declarator in &using.decls {
                    self.add_pattern(&declarator.name);
                }
            }
        }
    }

    fn add_pattern(&mut self, pat: &Pat) {
        let mut bound = PatternNames(&mut self.values);
        pat.visit_with(&mut bound);
    }

    fn add_import(&mut self, import: &ImportDecl) {
        for specifier in &import.specifiers {
            let name = specifier.local().sym.clone();
            let is_type = import.type_only || matches!(specifier, ImportSpecifier::Named(named) if named.is_type_only);
            if is_type {
                self.types.insert(name);
            } else {
                self.imported.insert(name);
            }
        }
    }
}

/// Returns whether a namespace is an object at run time.
pub(crate) fn is_instantiated(module: &TsModuleDecl) -> bool {
    let mut body = module.body.as_ref();
    while let Some(within) = body {
        match within {
            TsNamespaceBody::TsModuleBlock(block) => return block.body.iter().any(declares_value),
            TsNamespaceBody::TsNamespaceDecl(inner) => body = Some(&inner.body),
        }
    }
    false
}

fn declares_value(item: &ModuleItem) -> bool {
    let decl = match item {
        ModuleItem::Stmt(Stmt::Decl(decl)) => decl,
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => &export.decl,
        ModuleItem::ModuleDecl(ModuleDecl::TsImportEquals(import)) => {
            return import.is_export
                && !import.is_type_only
                && matches!(import.module_ref, TsModuleRef::TsEntityName(_));
        }
        ModuleItem::Stmt(Stmt::Empty(_)) | ModuleItem::ModuleDecl(_) => return false,
        ModuleItem::Stmt(_) => return true,
    };
    match decl {
        Decl::TsInterface(_) | Decl::TsTypeAlias(_) => false,
        Decl::TsModule(module) => is_instantiated(module),
        _ => true,
    }
}

/// Collects the names that a pattern declares.
struct PatternNames<'a>(&'a mut FxHashSet<Atom>);

impl Visit for PatternNames<'_> {
    fn visit_binding_ident(&mut self, ident: &swc_ecma_ast::BindingIdent) {
        self.0.insert(ident.sym.clone());
    }

    fn visit_assign_pat_prop(&mut self, prop: &swc_ecma_ast::AssignPatProp) {
        self.0.insert(prop.key.sym.clone());
    }

    fn visit_expr(&mut self, _: &Expr) {}
}

/// The uses of names outside of imports and of export lists.
#[derive(Default)]
struct NameUses {
    types: FxHashSet<Atom>,
    values: FxHashSet<Atom>,
    /// Names that are exported as `execute` or `default`.
    tool_exports: FxHashSet<Atom>,
}

impl Visit for NameUses {
    fn visit_ident(&mut self, ident: &Ident) {
        self.values.insert(ident.sym.clone());
    }

    fn visit_import_decl(&mut self, _: &ImportDecl) {}

    fn visit_named_export(&mut self, export: &NamedExport) {
        for specifier in &export.specifiers {
            if let ExportSpecifier::Named(named) = specifier
                && let ModuleExportName::Ident(name) = &named.orig
                && matches!(&**named.exported.as_ref().unwrap_or(&named.orig).atom(), "execute" | "default")
            {
                self.tool_exports.insert(name.sym.clone());
            }
        }
    }

    fn visit_ts_entity_name(&mut self, name: &TsEntityName) {
        match name {
            TsEntityName::Ident(ident) => {
                self.types.insert(ident.sym.clone());
            }
            TsEntityName::TsQualifiedName(qualified) => qualified.left.visit_with(self),
        }
    }

    fn visit_ts_import_equals_decl(&mut self, import: &swc_ecma_ast::TsImportEqualsDecl) {
        if let TsModuleRef::TsEntityName(name) = &import.module_ref {
            let mut first = name;
            while let TsEntityName::TsQualifiedName(qualified) = first {
                first = &qualified.left;
            }
            if let TsEntityName::Ident(ident) = first {
                self.values.insert(ident.sym.clone());
            }
        }
    }

    fn visit_ts_expr_with_type_args(&mut self, heritage: &swc_ecma_ast::TsExprWithTypeArgs) {
        if let Expr::Ident(ident) = peel_parens(&heritage.expr) {
            self.types.insert(ident.sym.clone());
        }
        heritage.type_args.visit_with(self);
    }
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use crate::{EntryPoint, analyze, transpile};

    #[test]
    fn a_type_in_an_export_list_is_left_out() {
        for (source, code) in [
            ("interface P {} function execute() {} export { execute, P }", "function execute() {} export { execute, }"),
            ("type P = 1; function execute() {} export { P, execute };", "function execute() {} export { execute };"),
            (
                "import type { P } from './p'; function execute() {} export { execute, P as Q };",
                "function execute() {} export { execute, };",
            ),
            (
                "import { type P } from './p'; function execute() {} export { P, execute };",
                "function execute() {} export { execute };",
            ),
            (
                "import { P } from './p'; function execute(p: P) {} export { P, execute };",
                "function execute(p ) {} export { execute };",
            ),
            (
                "namespace N { export type T = 1 } function execute() {} export { execute, N };",
                "function execute() {} export { execute, };",
            ),
            (
                "interface P {} function execute() {} export {\n execute,\n P,\n}",
                "function execute() {} export { execute, }",
            ),
            ("type P = 1; function execute() {} export { P /* , */ , }", "function execute() {} ;"),
            ("type P = 1; function execute() {} export { execute, P , }", "function execute() {} export { execute, }"),
            ("type P = 1; function execute() {}\nexport { P }", "function execute() {} ;"),
            ("type P = 1; function execute() {}\nexport default P", "function execute() {} ;"),
            (
                "interface P {} const P = 1; function execute() {} export { execute, P }",
                "const P = 1; function execute() {} export { execute, P }",
            ),
        ] {
            let script = transpile(source, Language::TypeScript).unwrap_or_else(|error| panic!("{source}: {error}"));
            let said = script.code().split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(said.trim_start_matches("; "), code, "{source}");
            assert_eq!(script.code().len(), source.len(), "{source}");
        }
        let analysis =
            analyze("type P = 1; function execute() {} export { P as default, execute }", Language::TypeScript, None);
        assert_eq!(analysis.unwrap().entry_point, Some(EntryPoint::Script));
    }

    #[test]
    fn what_a_tool_is_made_of_is_no_type() {
        let refused =
            transpile("import { execute } from './x'; let f: execute; export { execute }", Language::TypeScript);
        assert!(refused.unwrap_err().to_string().contains("cannot be imported"));
    }
}
