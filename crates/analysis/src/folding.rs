//! How long the values get that the compiler of TypeScript works out.
//!
//! The compiler puts the values of `const` variables and of the members of an `enum` into each other, without a limit: of
//! a few lines that each double the one before it makes gigabytes. So their lengths are added up first.
//!
//! Invariant: what is counted for a name is no less than the length of its value, whichever of several names is meant.

use rustc_hash::FxHashMap;
use swc_atoms::Atom;
use swc_ecma_ast::{Expr, Lit, MemberProp, Pat, Program, TsEnumDecl, VarDecl, VarDeclKind};
use swc_ecma_visit::{Visit, VisitWith};

/// The longest value that is compiled, and all of them together, in bytes.
const LONGEST: u64 = 64 << 10;
const ALL: u64 = 1 << 20;
/// What stands for a value that is not worked out, or a number.
const OTHER: u64 = 24;
/// How often the source is gone through: names may be used above the place where they get their values.
const PASSES: usize = 3;

/// Whether compiling makes more of a source than may be. It works constants out also where there is no `enum`.
pub(crate) fn is_too_long(program: &Program) -> bool {
    let mut lengths = Lengths::default();
    for _ in 0..PASSES {
        lengths.all = 0;
        program.visit_with(&mut lengths);
    }
    lengths.longest > LONGEST || lengths.all > ALL
}

#[derive(Default)]
struct Lengths {
    known: FxHashMap<Atom, u64>,
    /// The longest of them.
    longest_known: u64,
    longest: u64,
    all: u64,
}

impl Lengths {
    fn note(&mut self, name: Option<Atom>, value: Option<&Expr>) {
        let length = value.map_or(OTHER, |value| self.of(value));
        self.longest = self.longest.max(length);
        self.all = self.all.saturating_add(length);
        if let Some(name) = name {
            let known = self.known.entry(name).or_insert(0);
            *known = length.max(*known);
            self.longest_known = self.longest_known.max(length);
        }
    }

    fn of(&self, value: &Expr) -> u64 {
        let named = |name: &Atom| self.known.get(name).copied().unwrap_or(OTHER);
        match value {
            Expr::Lit(Lit::Str(text)) => text.value.len() as u64,
            Expr::Ident(name) => named(&name.sym),
            Expr::Paren(inner) => self.of(&inner.expr),
            Expr::Unary(inner) => OTHER.saturating_add(self.of(&inner.arg)),
            Expr::Bin(both) => self.of(&both.left).saturating_add(self.of(&both.right)),
            Expr::Tpl(template) => {
                let texts: u64 = template.quasis.iter().map(|quasi| quasi.raw.len() as u64).sum();
                template.exprs.iter().fold(texts, |sum, expr| sum.saturating_add(self.of(expr)))
            }
            Expr::Member(member) => match &member.prop {
                MemberProp::Ident(name) => named(&name.sym),
                MemberProp::Computed(computed) => match &*computed.expr {
                    Expr::Lit(Lit::Str(name)) => name.value.as_str().map_or(OTHER, |name| named(&Atom::from(name))),
                    _ => self.longest_known.max(OTHER),
                },
                MemberProp::PrivateName(_) => OTHER,
            },
            Expr::TsAs(cast) => self.of(&cast.expr),
            Expr::TsNonNull(cast) => self.of(&cast.expr),
            Expr::TsTypeAssertion(cast) => self.of(&cast.expr),
            Expr::TsConstAssertion(cast) => self.of(&cast.expr),
            Expr::TsInstantiation(cast) => self.of(&cast.expr),
            Expr::TsSatisfies(cast) => self.of(&cast.expr),
            _ => OTHER,
        }
    }
}

impl Visit for Lengths {
    fn visit_ts_enum_decl(&mut self, declaration: &TsEnumDecl) {
        for member in &declaration.members {
            let name = match &member.id {
                swc_ecma_ast::TsEnumMemberId::Ident(name) => Some(name.sym.clone()),
                swc_ecma_ast::TsEnumMemberId::Str(name) => name.value.as_str().map(Atom::from),
            };
            self.note(name, member.init.as_deref());
        }
        // A function in a value declares variables, too.
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

    use crate::translate;

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
            let refused = translate(&source, Language::TypeScript).unwrap_err();
            assert!(refused.to_string().starts_with("texts of an `enum` or a `const`"), "{refused}");
        }
        assert!(translate(&constants, Language::TypeScript).is_ok(), "nothing is compiled");
    }
}
