//! Import elision.
//!
//! As in TypeScript (handbook, "Import Elision"), an import that is used only as a type is elided.
//! Of the remaining ones, the sandbox provides the schema builders; any other is refused by name.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use swc_common::Spanned;
use swc_ecma_ast::{
    Ident, ImportDecl, ImportSpecifier, ModuleDecl, ModuleItem, NamedExport, Program, TsExprWithTypeArgs,
    TsInterfaceDecl, TsModuleDecl, TsType, TsTypeAliasDecl, TsTypeAnn, TsTypeParamDecl, TsTypeParamInstantiation,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::syntax::position::{byte_range, next_token};

/// The modules that the sandbox provides, in their bundled versions. The guest has the same list.
const BUILTIN_MODULES: [&str; 4] = ["@sinclair/typebox", "arktype", "typebox", "zod"];

/// The imports of a program.
pub(crate) struct Imports {
    /// The names that are used as values; `None` if every import counts as used.
    used_values: Option<FxHashSet<String>>,
}

/// A byte range of the source that is erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ErasedRange {
    start: usize,
    end: usize,
    is_statement: bool,
}

impl ErasedRange {
    /// Creates the range of a whole statement.
    pub(crate) fn statement((start, end): (usize, usize)) -> Self {
        Self { start, end, is_statement: true }
    }

    /// Creates the range of a list item, with the comma after it, if there is one.
    pub(crate) fn item(source: &str, (start, end): (usize, usize), next: Option<usize>) -> Self {
        let end = next.unwrap_or_else(|| {
            let token = next_token(source, end);
            if source[token..].starts_with(',') { token + 1 } else { end }
        });
        Self { start, end, is_statement: false }
    }
}

/// The kind of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImportKind {
    /// Imports only types, and is elided.
    TypeOnly,
    /// Imports a module that the sandbox provides.
    Builtin,
    /// Imports a module that does not exist here.
    Unsupported,
}

impl Imports {
    /// Collects how imports are used. In JavaScript, no import is elided.
    pub(crate) fn new(program: &Program, typescript: bool) -> Self {
        if !typescript || !imports(program).any(|import| !import.type_only) {
            return Self { used_values: None };
        }
        let mut used = UsedValues(FxHashSet::default());
        program.visit_with(&mut used);
        Self { used_values: Some(used.0) }
    }

    /// Returns the kind of an import.
    pub(crate) fn kind(&self, import: &ImportDecl) -> ImportKind {
        let types = !import.specifiers.is_empty() && import.specifiers.iter().all(|specifier| self.is_type(specifier));
        if import.type_only || types {
            ImportKind::TypeOnly
        } else if import.src.value.as_str().is_some_and(|name| BUILTIN_MODULES.contains(&name)) {
            ImportKind::Builtin
        } else {
            ImportKind::Unsupported
        }
    }

    fn is_type(&self, specifier: &ImportSpecifier) -> bool {
        if let ImportSpecifier::Named(named) = specifier
            && named.is_type_only
        {
            return true;
        }
        self.used_values.as_ref().is_some_and(|used| !used.contains(&*specifier.local().sym))
    }

    /// Erases the type imports and the given ranges of a source; no line and no column moves.
    pub(crate) fn erase_types<'a>(&self, source: &'a str, program: &Program, exports: &[ErasedRange]) -> Cow<'a, str> {
        let mut blanks = exports.to_vec();
        for import in imports(program).filter(|import| !import.type_only) {
            match self.kind(import) {
                ImportKind::TypeOnly => blanks.push(ErasedRange::statement(byte_range(import.span))),
                ImportKind::Builtin => blanks.extend(self.erased_specifiers(source, import)),
                ImportKind::Unsupported => {}
            }
        }
        if blanks.is_empty() {
            return Cow::Borrowed(source);
        }
        blanks.sort_unstable();
        let mut blanked = String::with_capacity(source.len());
        let mut done = 0;
        for ErasedRange { start, end, is_statement } in blanks {
            blanked.push_str(&source[done..start]);
            // The semicolon keeps the previous statement from continuing with the next one.
            let mut separator = is_statement.then_some(';');
            for letter in source[start..end].chars() {
                match letter {
                    '\n' | '\r' | '\u{2028}' | '\u{2029}' => blanked.push(letter),
                    letter => {
                        let blanks = std::iter::repeat_n(' ', letter.len_utf16());
                        blanked.extend(separator.take().into_iter().chain(blanks).take(letter.len_utf16()));
                    }
                }
            }
            done = end;
        }
        blanked.push_str(&source[done..]);
        Cow::Owned(blanked)
    }

    /// Returns the ranges of the type specifiers of an import that stays.
    fn erased_specifiers(&self, source: &str, import: &ImportDecl) -> Vec<ErasedRange> {
        let named = |specifier: &ImportSpecifier| matches!(specifier, ImportSpecifier::Named(_));
        let mut blanks = Vec::new();
        for (index, specifier) in import.specifiers.iter().enumerate() {
            if named(specifier) && self.is_type(specifier) {
                let next = import.specifiers.get(index + 1).map(|next| byte_range(next.span()).0);
                blanks.push(ErasedRange::item(source, byte_range(specifier.span()), next));
            }
        }
        blanks
    }
}

fn imports(program: &Program) -> impl Iterator<Item = &ImportDecl> {
    let items = match program {
        Program::Module(module) => module.body.as_slice(),
        Program::Script(_) => &[],
    };
    items.iter().filter_map(|item| match item {
        ModuleItem::ModuleDecl(ModuleDecl::Import(import)) => Some(import),
        _ => None,
    })
}

/// Collects the names that are used as values.
struct UsedValues(FxHashSet<String>);

impl Visit for UsedValues {
    fn visit_ident(&mut self, ident: &Ident) {
        self.0.insert(ident.sym.to_string());
    }

    fn visit_named_export(&mut self, export: &NamedExport) {
        if !export.type_only {
            export.visit_children_with(self);
        }
    }

    fn visit_ts_module_decl(&mut self, module: &TsModuleDecl) {
        if !module.declare {
            module.visit_children_with(self);
        }
    }

    fn visit_import_decl(&mut self, _: &ImportDecl) {}
    fn visit_ts_expr_with_type_args(&mut self, _: &TsExprWithTypeArgs) {}
    fn visit_ts_interface_decl(&mut self, _: &TsInterfaceDecl) {}
    fn visit_ts_type(&mut self, _: &TsType) {}
    fn visit_ts_type_alias_decl(&mut self, _: &TsTypeAliasDecl) {}
    fn visit_ts_type_ann(&mut self, _: &TsTypeAnn) {}
    fn visit_ts_type_param_decl(&mut self, _: &TsTypeParamDecl) {}
    fn visit_ts_type_param_instantiation(&mut self, _: &TsTypeParamInstantiation) {}
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use crate::transpile;

    fn code(source: &str) -> String {
        transpile(source, Language::TypeScript).unwrap_or_else(|error| panic!("{source}: {error}")).code().to_owned()
    }

    #[test]
    fn a_type_may_be_the_last_of_an_import_and_have_a_comma_behind_it() {
        for (list, left) in [
            ("{\n  Type,\n  Static,\n}", "{ Type, }"),
            ("{ Type, type Static, }", "{ Type, }"),
            ("{ Type, Static /* , */ // ,\n , }", "{ Type, }"),
            ("{ Type, type Static as S, TSchema }", "{ Type, }"),
            ("{ Static, Type, TSchema, }", "{ Type, }"),
        ] {
            let source = format!("import {list} from '@sinclair/typebox'\nlet s: Static | TSchema = Type");
            let code = code(&source);
            assert_eq!(code.len(), source.len(), "{source}");
            let said = code.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.starts_with(&format!("import {left} from")), "{source}: {code}");
            assert!(
                crate::syntax::parse::parse_as(&code, crate::syntax::parse::javascript_syntax()).is_ok(),
                "{source}: {code}"
            );
        }
    }

    #[test]
    fn an_import_of_types_that_goes_does_not_join_the_lines_around_it() {
        let source = "let b: any = [1]\nimport { Foo } from './foo'\n[0]\nlet z: Foo";
        assert_eq!(code(source), "let b      = [1]\n;                          \n[0]\nlet z     ");
    }
}
