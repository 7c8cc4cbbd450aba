//! Which imports are left when the types are gone.
//!
//! As TypeScript has it (its handbook, "Import Elision"): what is used as a type alone is no import. Of what is left,
//! the sandbox serves one module, the builder of schemas; anything else is refused by name.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use swc_common::Spanned;
use swc_ecma_ast::{
    Ident, ImportDecl, ImportSpecifier, ModuleDecl, ModuleItem, NamedExport, Program, TsExprWithTypeArgs,
    TsInterfaceDecl, TsModuleDecl, TsType, TsTypeAliasDecl, TsTypeAnn, TsTypeParamDecl, TsTypeParamInstantiation,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::parse::{next_token, range};

/// The module that the sandbox serves, in the version that it bundles.
const SERVED: &str = "@sinclair/typebox";

/// What is left of the imports of a program.
pub(crate) struct Imports {
    /// The names that are used as values; `None` where everything that is imported counts as used.
    used: Option<FxHashSet<String>>,
}

/// A place in the source that is blanked out, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Blank {
    start: usize,
    end: usize,
    is_statement: bool,
}

impl Blank {
    /// A whole statement.
    pub(crate) fn statement((start, end): (usize, usize)) -> Self {
        Self { start, end, is_statement: true }
    }

    /// An item of a list, with the comma behind it, which the last one need not have.
    pub(crate) fn item(source: &str, (start, end): (usize, usize), next: Option<usize>) -> Self {
        let end = next.unwrap_or_else(|| {
            let token = next_token(source, end);
            if source[token..].starts_with(',') { token + 1 } else { end }
        });
        Self { start, end, is_statement: false }
    }
}

/// What becomes of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It imports types, and goes with them.
    Dropped,
    /// The sandbox has the module.
    Served,
    /// There is no such module here.
    Refused,
}

impl Imports {
    /// Looks at how what is imported is used. In JavaScript, each import is one.
    pub(crate) fn of(program: &Program, typescript: bool) -> Self {
        if !typescript || !imports(program).any(|import| !import.type_only) {
            return Self { used: None };
        }
        let mut used = Used(FxHashSet::default());
        program.visit_with(&mut used);
        Self { used: Some(used.0) }
    }

    /// What becomes of an import.
    pub(crate) fn fate(&self, import: &ImportDecl) -> Fate {
        let types = !import.specifiers.is_empty() && import.specifiers.iter().all(|specifier| self.is_type(specifier));
        if import.type_only || types {
            Fate::Dropped
        } else if import.src.value.as_str() == Some(SERVED) {
            Fate::Served
        } else {
            Fate::Refused
        }
    }

    fn is_type(&self, specifier: &ImportSpecifier) -> bool {
        if let ImportSpecifier::Named(named) = specifier
            && named.is_type_only
        {
            return true;
        }
        self.used.as_ref().is_some_and(|used| !used.contains(&*specifier.local().sym))
    }

    /// The source with the imports of types, and with what else is given, blanked out; no line and no column moves.
    pub(crate) fn blanked<'a>(&self, source: &'a str, program: &Program, exports: &[Blank]) -> Cow<'a, str> {
        let mut blanks = exports.to_vec();
        for import in imports(program).filter(|import| !import.type_only) {
            match self.fate(import) {
                Fate::Dropped => blanks.push(Blank::statement(range(import.span))),
                Fate::Served => blanks.extend(self.types_of(source, import)),
                Fate::Refused => {}
            }
        }
        if blanks.is_empty() {
            return Cow::Borrowed(source);
        }
        blanks.sort_unstable();
        let mut blanked = String::with_capacity(source.len());
        let mut done = 0;
        for Blank { start, end, is_statement } in blanks {
            blanked.push_str(&source[done..start]);
            // What is before a statement ends, and does not go on with what is behind it.
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

    /// The named types of an import that stays.
    fn types_of(&self, source: &str, import: &ImportDecl) -> Vec<Blank> {
        let named = |specifier: &ImportSpecifier| matches!(specifier, ImportSpecifier::Named(_));
        let mut blanks = Vec::new();
        for (index, specifier) in import.specifiers.iter().enumerate() {
            if named(specifier) && self.is_type(specifier) {
                let next = import.specifiers.get(index + 1).map(|next| range(next.span()).0);
                blanks.push(Blank::item(source, range(specifier.span()), next));
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

/// The names that are used as values.
struct Used(FxHashSet<String>);

impl Visit for Used {
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

    use crate::translate;

    fn code(source: &str) -> String {
        translate(source, Language::TypeScript).unwrap_or_else(|error| panic!("{source}: {error}")).code().to_owned()
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
            assert!(crate::parse::read(&code, crate::parse::syntax_of_javascript()).is_ok(), "{source}: {code}");
        }
    }

    #[test]
    fn an_import_of_types_that_goes_does_not_join_the_lines_around_it() {
        let source = "let b: any = [1]\nimport { Foo } from './foo'\n[0]\nlet z: Foo";
        assert_eq!(code(source), "let b      = [1]\n;                          \n[0]\nlet z     ");
    }
}
