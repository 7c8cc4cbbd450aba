//! Upper bounds for the size of constants that the TypeScript compiler folds.
//!
//! The compiler substitutes the values of `const` variables and of `enum` members into each other
//! without a limit: a few lines, each doubling the one before, become gigabytes. So the lengths are
//! summed first.
//!
//! Invariant: the length counted for a name is at least that of its value, whichever of several
//! declarations of the name is meant.

use rustc_hash::FxHashMap;
use swc_atoms::Atom;
use swc_ecma_ast::{Expr, Lit, MemberProp, Pat, Program, TsEnumDecl, VarDecl, VarDeclKind};
use swc_ecma_visit::{Visit, VisitWith};

/// The maximum length of one value, and of all values together, in bytes.
const MAX_VALUE_BYTES: u64 = 64 << 10;
const MAX_TOTAL_BYTES: u64 = 1 << 20;
/// The length assumed for a number, or for a value that is not folded, in bytes.
const OPAQUE_VALUE_BYTES: u64 = 24;
/// The maximum number of passes over the source: a name may be used above its definition.
const MAX_PASSES: usize = 3;

/// Returns whether folding exceeds the limits. The compiler folds constants even without an `enum`.
pub(crate) fn exceeds_limits(program: &Program) -> bool {
    let mut lengths = ConstantLengths::default();
    for _ in 0..MAX_PASSES {
        lengths.total = 0;
        program.visit_with(&mut lengths);
    }
    lengths.longest > MAX_VALUE_BYTES || lengths.total > MAX_TOTAL_BYTES
}

#[derive(Default)]
struct ConstantLengths {
    known: FxHashMap<Atom, u64>,
    /// The maximum of the known lengths.
    longest_known: u64,
    longest: u64,
    total: u64,
}

impl ConstantLengths {
    fn note(&mut self, name: Option<Atom>, value: Option<&Expr>) {
        let length = value.map_or(OPAQUE_VALUE_BYTES, |value| self.length_of(value));
        self.longest = self.longest.max(length);
        self.total = self.total.saturating_add(length);
        if let Some(name) = name {
            let known = self.known.entry(name).or_insert(0);
            *known = length.max(*known);
            self.longest_known = self.longest_known.max(length);
        }
    }

    fn length_of(&self, value: &Expr) -> u64 {
        let named = |name: &Atom| self.known.get(name).copied().unwrap_or(OPAQUE_VALUE_BYTES);
        match value {
            Expr::Lit(Lit::Str(text)) => text.value.len() as u64,
            Expr::Ident(name) => named(&name.sym),
            Expr::Paren(inner) => self.length_of(&inner.expr),
            Expr::Unary(inner) => OPAQUE_VALUE_BYTES.saturating_add(self.length_of(&inner.arg)),
            Expr::Bin(both) => self.length_of(&both.left).saturating_add(self.length_of(&both.right)),
            Expr::Tpl(template) => {
                let texts: u64 = template.quasis.iter().map(|quasi| quasi.raw.len() as u64).sum();
                template.exprs.iter().fold(texts, |sum, expr| sum.saturating_add(self.length_of(expr)))
            }
            Expr::Member(member) => match &member.prop {
                MemberProp::Ident(name) => named(&name.sym),
                MemberProp::Computed(computed) => match &*computed.expr {
                    Expr::Lit(Lit::Str(name)) => {
                        name.value.as_str().map_or(OPAQUE_VALUE_BYTES, |name| named(&Atom::from(name)))
                    }
                    _ => self.longest_known.max(OPAQUE_VALUE_BYTES),
                },
                MemberProp::PrivateName(_) => OPAQUE_VALUE_BYTES,
            },
            Expr::TsAs(cast) => self.length_of(&cast.expr),
            Expr::TsNonNull(cast) => self.length_of(&cast.expr),
            Expr::TsTypeAssertion(cast) => self.length_of(&cast.expr),
            Expr::TsConstAssertion(cast) => self.length_of(&cast.expr),
            Expr::TsInstantiation(cast) => self.length_of(&cast.expr),
            Expr::TsSatisfies(cast) => self.length_of(&cast.expr),
            _ => OPAQUE_VALUE_BYTES,
        }
    }
}

impl Visit for ConstantLengths {
    fn visit_ts_enum_decl(&mut self, declaration: &TsEnumDecl) {
        for member in &declaration.members {
            let name = match &member.id {
                swc_ecma_ast::TsEnumMemberId::Ident(name) => Some(name.sym.clone()),
                swc_ecma_ast::TsEnumMemberId::Str(name) => name.value.as_str().map(Atom::from),
            };
            self.note(name, member.init.as_deref());
        }
        // A function inside of a value may declare variables, too.
        declaration.visit_children_with(self);
    }

    fn visit_var_decl(&mut self, declaration: &VarDecl) {
        if declaration.kind == VarDeclKind::Const {
            for declarator in &declaration.decls {
                if let Pat::Ident(name) = &declarator.name {
                    self.note(Some(name.sym.clone()), declarator.init.as_deref());
                }
            }
        }
        declaration.visit_children_with(self);
    }
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use crate::transpile;

    #[test]
    fn constants_that_double_are_refused_in_an_enum_and_where_there_is_none() {
        let constants = (b'b'..b'j').fold(format!("const a = '{}';", "x".repeat(1_000)), |constants, at| {
            let before = char::from(at - 1).to_string();
            format!("{constants} const {} = {};", char::from(at), [before.as_str(); 10].join(" + "))
        });
        for source in [
            format!("enum A {{ x = (() => {{ {constants} return 1 }})() }}"),
            format!("namespace A {{ 1 }} {constants}"),
            format!("class A {{ constructor(public x) {{}} }} {constants}"),
        ] {
            let refused = transpile(&source, Language::TypeScript).unwrap_err();
            assert!(refused.to_string().starts_with("strings of an `enum` or a `const`"), "{refused}");
        }
        assert!(transpile(&constants, Language::TypeScript).is_ok(), "nothing is compiled");
    }
}
