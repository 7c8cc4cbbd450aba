//! What the parts of one namespace, and of one `enum`, see of each other.
//!
//! TypeScript merges the parts (its handbook, "Declaration Merging"): what one of them exports is a name in all of them,
//! unless something that stands nearer has the name. The compiler makes a function of each part, in which the names of the
//! others are not known; so a name that another part exports becomes a member of the namespace first.
//!
//! The compiler does the same for what the part itself exports, but for the right side of `import X = …` and for the
//! patterns of declarations; there it is done here.
//!
//! Invariant: a program without namespaces, in which no `enum` is opened again, is left as it is.

use rustc_hash::{FxHashMap, FxHashSet};
use swc_atoms::Atom;
use swc_common::{Span, SyntaxContext};
use swc_ecma_ast::{
    AssignExpr, AssignPatProp, BindingIdent, ClassDecl, ClassExpr, Decl, ExportDecl, Expr, FnDecl, FnExpr, ForHead, Id,
    Ident, KeyValuePatProp, KeyValueProp, MemberExpr, MemberProp, ModuleDecl, ModuleItem, ObjectPatProp, Pat, Program,
    Prop, PropName, SimpleAssignTarget, Stmt, TsEntityName, TsEnumDecl, TsEnumMemberId, TsImportEqualsDecl,
    TsModuleDecl, TsModuleRef, TsNamespaceBody, TsQualifiedName, TsType, TsTypeAnn, TsTypeParamDecl,
    TsTypeParamInstantiation, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitMut, VisitMutWith, VisitWith};

use crate::exports::is_instantiated;

/// How many steps through namespaces that are opened again the names of a source may take.
const STEPS: u32 = 1_000_000;

/// What is said where that is not enough.
const TOO_MANY: &str = "opens namespaces again within so many others that it is not compiled: write them side by side";

/// Makes names that another part of a namespace or of an `enum` exports members of it. Names have to be resolved.
///
/// # Errors
/// A message where that takes more steps than it may.
pub(crate) fn join(program: &mut Program) -> Result<(), String> {
    rewrite(program, Rewrite::Members)
}

/// Makes names that another part of a namespace exports the names that are declared there.
///
/// # Errors
/// As [`join`].
pub(crate) fn link(program: &mut Program) -> Result<(), String> {
    rewrite(program, Rewrite::Names)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rewrite {
    Members,
    Names,
}

fn rewrite(program: &mut Program, rewrite: Rewrite) -> Result<(), String> {
    let mut found = Found::default();
    program.visit_with(&mut found);
    let is_opened_again = found.is_opened_again();
    if !is_opened_again && (rewrite == Rewrite::Names || found.members.is_empty()) {
        return Ok(());
    }
    let mut join = Join {
        found,
        rewrite,
        is_opened_again,
        is_left_out: false,
        within: Vec::new(),
        parts: 0,
        enums: 0,
        members: None,
        steps: 0,
    };
    program.visit_mut_with(&mut join);
    if join.steps > STEPS { Err(TOO_MANY.to_owned()) } else { Ok(()) }
}

/// A namespace, of as many parts as it has.
#[derive(Default)]
struct Space {
    /// The values that it exports, as they are declared.
    exports: FxHashMap<Atom, SyntaxContext>,
    namespaces: FxHashMap<Atom, usize>,
    enums: FxHashMap<Atom, usize>,
    parts: u32,
}

/// All that is declared.
#[derive(Default)]
struct Found {
    spaces: Vec<Space>,
    /// Namespaces that none exports.
    outer: FxHashMap<Id, usize>,
    /// The members of each `enum`, and in how many parts.
    enums: Vec<(FxHashSet<Atom>, u32)>,
    outer_enums: FxHashMap<Id, usize>,
    /// The namespace of each part, in the order of the source.
    parts: Vec<usize>,
    /// The `enum` of each part, in the order of the source.
    parts_of_enums: Vec<usize>,
    /// In which part each name is declared.
    declared: FxHashMap<Id, usize>,
    /// What the compiler makes a member of its namespace: exported variables, enums, namespaces and `import`s.
    members: FxHashSet<Id>,
    /// The parts that this is in, from the outside in.
    within: Vec<usize>,
    is_ambient: bool,
    /// Whether names in patterns are given values, not declared.
    is_assigned: bool,
}

impl Found {
    fn is_opened_again(&self) -> bool {
        self.spaces.iter().any(|space| space.parts > 1) || self.enums.iter().any(|(_, parts)| *parts > 1)
    }

    fn declare(&mut self, ident: &Ident) {
        if let Some(part) = self.within.last() {
            self.declared.insert(ident.to_id(), *part);
        }
    }

    /// The namespace around, where it exports.
    fn around(&self, is_exported: bool) -> Option<usize> {
        self.within.last().filter(|_| is_exported || self.is_ambient).map(|part| self.parts[*part])
    }

    fn module(&mut self, module: &TsModuleDecl, is_exported: bool) {
        let (Some(name), Some(body)) = (module.id.as_ident(), &module.body) else { return };
        let around = self.around(is_exported);
        self.declare(name);
        let was_ambient = self.is_ambient;
        self.is_ambient |= module.declare;
        self.part(name, around, body);
        self.is_ambient = was_ambient;
    }

    fn part(&mut self, name: &Ident, around: Option<usize>, body: &TsNamespaceBody) {
        let next = self.spaces.len();
        let space = match around {
            Some(around) => *self.spaces[around].namespaces.entry(name.sym.clone()).or_insert(next),
            None => *self.outer.entry(name.to_id()).or_insert(next),
        };
        if space == next {
            self.spaces.push(Space::default());
        }
        self.spaces[space].parts += 1;
        self.within.push(self.parts.len());
        self.parts.push(space);
        match body {
            TsNamespaceBody::TsModuleBlock(block) => {
                for item in &block.body {
                    self.exported(space, item);
                    item.visit_with(self);
                }
            }
            TsNamespaceBody::TsNamespaceDecl(inner) => {
                self.declare(&inner.id);
                self.spaces[space].exports.insert(inner.id.sym.clone(), inner.id.ctxt);
                self.part(&inner.id, Some(space), &inner.body);
            }
        }
        self.within.pop();
    }

    /// Notes what an item of a namespace exports.
    fn exported(&mut self, space: usize, item: &ModuleItem) {
        let decl = match item {
            ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => &export.decl,
            ModuleItem::Stmt(Stmt::Decl(decl)) if self.is_ambient => decl,
            ModuleItem::ModuleDecl(ModuleDecl::TsImportEquals(import)) if import.is_export && !import.is_type_only => {
                self.spaces[space].exports.insert(import.id.sym.clone(), import.id.ctxt);
                self.members.insert(import.id.to_id());
                return;
            }
            _ => return,
        };
        let mut names = Exported(Vec::new());
        let is_declared_elsewhere = match decl {
            Decl::Class(class) => {
                names.note(&class.ident);
                true
            }
            Decl::Fn(function) => {
                names.note(&function.ident);
                true
            }
            Decl::TsEnum(declaration) => {
                names.note(&declaration.id);
                declaration.declare
            }
            Decl::Var(variables) => {
                variables.decls.iter().for_each(|one| one.name.visit_with(&mut names));
                variables.declare
            }
            Decl::Using(using) => {
                using.decls.iter().for_each(|one| one.name.visit_with(&mut names));
                true
            }
            Decl::TsModule(module) if is_instantiated(module) => {
                if let Some(name) = module.id.as_ident() {
                    names.note(name);
                }
                module.declare
            }
            Decl::TsModule(_) | Decl::TsInterface(_) | Decl::TsTypeAlias(_) => return,
        };
        for name in names.0 {
            self.spaces[space].exports.insert(name.0.clone(), name.1);
            if !is_declared_elsewhere && !self.is_ambient {
                self.members.insert(name);
            }
        }
    }

    fn enumeration(&mut self, declaration: &TsEnumDecl, is_exported: bool) {
        self.declare(&declaration.id);
        let next = self.enums.len();
        let number = match self.around(is_exported) {
            Some(space) => *self.spaces[space].enums.entry(declaration.id.sym.clone()).or_insert(next),
            None => *self.outer_enums.entry(declaration.id.to_id()).or_insert(next),
        };
        if number == next {
            self.enums.push((FxHashSet::default(), 0));
        }
        self.parts_of_enums.push(number);
        let (members, parts) = &mut self.enums[number];
        *parts += 1;
        members.extend(declaration.members.iter().filter_map(|member| member_name(&member.id)));
        for init in declaration.members.iter().filter_map(|member| member.init.as_ref()) {
            init.visit_with(self);
        }
    }

    fn with_assigned(&mut self, is_assigned: bool, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_assigned, is_assigned);
        visit(self);
        self.is_assigned = before;
    }
}

fn member_name(id: &TsEnumMemberId) -> Option<Atom> {
    match id {
        TsEnumMemberId::Ident(name) => Some(name.sym.clone()),
        TsEnumMemberId::Str(name) => name.value.as_str().map(Atom::from),
    }
}

/// The names that a pattern of an export declares.
struct Exported(Vec<Id>);

impl Exported {
    fn note(&mut self, ident: &Ident) {
        self.0.push(ident.to_id());
    }
}

impl Visit for Exported {
    fn visit_binding_ident(&mut self, ident: &BindingIdent) {
        self.note(ident);
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        self.note(&prop.key);
    }

    fn visit_expr(&mut self, _: &Expr) {}
}

impl Visit for Found {
    fn visit_export_decl(&mut self, export: &ExportDecl) {
        match &export.decl {
            Decl::TsModule(module) => self.module(module, true),
            Decl::TsEnum(declaration) => self.enumeration(declaration, true),
            decl => decl.visit_with(self),
        }
    }

    fn visit_ts_module_decl(&mut self, module: &TsModuleDecl) {
        self.module(module, false);
    }

    fn visit_ts_enum_decl(&mut self, declaration: &TsEnumDecl) {
        self.enumeration(declaration, false);
    }

    fn visit_ts_import_equals_decl(&mut self, import: &TsImportEqualsDecl) {
        self.declare(&import.id);
    }

    fn visit_fn_decl(&mut self, function: &FnDecl) {
        self.declare(&function.ident);
        function.function.visit_with(self);
    }

    fn visit_class_decl(&mut self, class: &ClassDecl) {
        self.declare(&class.ident);
        class.class.visit_with(self);
    }

    fn visit_fn_expr(&mut self, function: &FnExpr) {
        function.ident.iter().for_each(|ident| self.declare(ident));
        function.function.visit_with(self);
    }

    fn visit_class_expr(&mut self, class: &ClassExpr) {
        class.ident.iter().for_each(|ident| self.declare(ident));
        class.class.visit_with(self);
    }

    fn visit_binding_ident(&mut self, ident: &BindingIdent) {
        if !self.is_assigned {
            self.declare(ident);
        }
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        if !self.is_assigned {
            self.declare(&prop.key);
        }
        prop.value.visit_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        self.with_assigned(true, |found| assign.left.visit_with(found));
        assign.right.visit_with(self);
    }

    fn visit_for_head(&mut self, head: &ForHead) {
        self.with_assigned(matches!(head, ForHead::Pat(_)), |found| head.visit_children_with(found));
    }

    fn visit_expr(&mut self, expr: &Expr) {
        self.with_assigned(false, |found| expr.visit_children_with(found));
    }

    fn visit_ts_type(&mut self, _: &TsType) {}
    fn visit_ts_type_ann(&mut self, _: &TsTypeAnn) {}
    fn visit_ts_type_param_decl(&mut self, _: &TsTypeParamDecl) {}
    fn visit_ts_type_param_instantiation(&mut self, _: &TsTypeParamInstantiation) {}
}

/// A part that this is in.
struct Within {
    part: usize,
    space: usize,
    name: Ident,
}

/// Rewrites the names.
struct Join {
    found: Found,
    rewrite: Rewrite,
    is_opened_again: bool,
    /// Whether this is in what the compiler leaves out when it makes names members: the patterns of declarations.
    is_left_out: bool,
    within: Vec<Within>,
    parts: usize,
    /// How many parts of an `enum` were there.
    enums: usize,
    members: Option<Members>,
    steps: u32,
}

/// The `enum` that this is in.
struct Members {
    name: Ident,
    /// The members of this part, which are the compiler's matter.
    own: FxHashSet<Atom>,
    /// Which one it is, if it has other parts.
    number: Option<usize>,
}

impl Join {
    /// What a name is a member of that the part that declares it exports.
    fn owner_in_part(&self, ident: &Ident) -> Option<(Ident, SyntaxContext)> {
        let id = ident.to_id();
        let part = self.found.declared.get(&id).filter(|_| self.found.members.contains(&id))?;
        // Parts are numbered from the outside in.
        let at = self.within.binary_search_by_key(part, |within| within.part).ok()?;
        Some((self.within[at].name.clone(), ident.ctxt))
    }

    /// What a name is a member of, if another part exports it.
    fn owner(&mut self, ident: &Ident) -> Option<(Ident, SyntaxContext)> {
        if self.is_left_out
            && self.rewrite == Rewrite::Members
            && let Some(owner) = self.owner_in_part(ident)
        {
            return Some(owner);
        }
        if !self.is_opened_again {
            return None;
        }
        match &self.members {
            Some(members) if members.own.contains(&ident.sym) => return None,
            Some(Members { name, number: Some(number), .. }) if self.found.enums[*number].0.contains(&ident.sym) => {
                return Some((name.clone(), ident.ctxt));
            }
            _ => {}
        }
        if self.within.is_empty() {
            return None;
        }
        let declared = self.found.declared.get(&ident.to_id()).copied();
        for within in self.within.iter().rev() {
            self.steps += 1;
            if declared == Some(within.part) || self.steps > STEPS {
                return None;
            }
            if let Some(ctxt) = self.found.spaces[within.space].exports.get(&ident.sym) {
                return Some((within.name.clone(), *ctxt));
            }
        }
        None
    }

    fn left_out(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_left_out, true);
        visit(self);
        self.is_left_out = before;
    }

    /// The member that a name becomes; nothing where it stays, which it does with another context for [`Rewrite::Names`].
    fn member(&mut self, ident: &mut Ident) -> Option<MemberExpr> {
        let (owner, ctxt) = self.owner(ident)?;
        match self.rewrite {
            Rewrite::Members => Some(MemberExpr {
                span: ident.span,
                obj: Box::new(Expr::Ident(Ident { span: ident.span, ..owner })),
                prop: MemberProp::Ident(ident.clone().into()),
            }),
            Rewrite::Names => {
                ident.ctxt = ctxt;
                None
            }
        }
    }

    fn part(&mut self, name: &Ident, body: &mut TsNamespaceBody) {
        let part = self.parts;
        self.parts += 1;
        self.within.push(Within { part, space: self.found.parts[part], name: name.clone() });
        match body {
            TsNamespaceBody::TsModuleBlock(block) => block.body.visit_mut_with(self),
            TsNamespaceBody::TsNamespaceDecl(inner) => {
                let name = inner.id.clone();
                self.part(&name, &mut inner.body);
            }
        }
        self.within.pop();
    }

    fn entity(&mut self, name: &mut TsEntityName) {
        match name {
            TsEntityName::TsQualifiedName(qualified) => self.entity(&mut qualified.left),
            TsEntityName::Ident(ident) => {
                if let Some((owner, ctxt)) = self.owner(ident) {
                    match self.rewrite {
                        Rewrite::Members => {
                            let owner = Ident { span: ident.span, ..owner };
                            let (span, right) = (ident.span, ident.clone().into());
                            let qualified = TsQualifiedName { span, left: TsEntityName::Ident(owner), right };
                            *name = TsEntityName::TsQualifiedName(Box::new(qualified));
                        }
                        Rewrite::Names => ident.ctxt = ctxt,
                    }
                }
            }
        }
    }
}

impl VisitMut for Join {
    fn visit_mut_ts_module_decl(&mut self, module: &mut TsModuleDecl) {
        let (Some(name), Some(body)) = (module.id.as_ident(), &mut module.body) else { return };
        let name = name.clone();
        self.part(&name, body);
    }

    fn visit_mut_ts_enum_decl(&mut self, declaration: &mut TsEnumDecl) {
        let number = self.found.parts_of_enums[self.enums];
        self.enums += 1;
        let number = Some(number).filter(|number| self.found.enums[*number].1 > 1);
        let own: FxHashSet<Atom> = declaration.members.iter().filter_map(|member| member_name(&member.id)).collect();
        let before = self.members.replace(Members { name: declaration.id.clone(), own, number });
        for init in declaration.members.iter_mut().filter_map(|member| member.init.as_mut()) {
            init.visit_mut_with(self);
        }
        self.members = before;
    }

    fn visit_mut_ts_import_equals_decl(&mut self, import: &mut TsImportEqualsDecl) {
        if let TsModuleRef::TsEntityName(name) = &mut import.module_ref {
            self.left_out(|join| join.entity(name));
        }
    }

    fn visit_mut_export_decl(&mut self, export: &mut ExportDecl) {
        match &mut export.decl {
            // What is exported becomes members, and so do the names in its patterns.
            Decl::Var(variables) => variables.decls.visit_mut_children_with(self),
            decl => decl.visit_mut_with(self),
        }
    }

    fn visit_mut_var_declarators(&mut self, declarators: &mut Vec<VarDeclarator>) {
        for declarator in declarators {
            self.left_out(|join| declarator.name.visit_mut_with(join));
            declarator.init.visit_mut_with(self);
        }
    }

    fn visit_mut_expr(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Ident(ident) => {
                if let Some(member) = self.member(ident) {
                    *expr = Expr::Member(member);
                }
            }
            _ => expr.visit_mut_children_with(self),
        }
    }

    fn visit_mut_simple_assign_target(&mut self, target: &mut SimpleAssignTarget) {
        match target {
            SimpleAssignTarget::Ident(ident) => {
                if let Some(member) = self.member(&mut ident.id) {
                    *target = SimpleAssignTarget::Member(member);
                }
            }
            _ => target.visit_mut_children_with(self),
        }
    }

    fn visit_mut_pat(&mut self, pat: &mut Pat) {
        match pat {
            Pat::Ident(ident) => {
                if let Some(member) = self.member(&mut ident.id) {
                    *pat = Pat::Expr(Box::new(Expr::Member(member)));
                }
            }
            _ => pat.visit_mut_children_with(self),
        }
    }

    fn visit_mut_object_pat_prop(&mut self, prop: &mut ObjectPatProp) {
        prop.visit_mut_children_with(self);
        if let ObjectPatProp::Assign(short) = prop
            && let Some(member) = self.member(&mut short.key.id)
        {
            let key = PropName::Ident(short.key.id.clone().into());
            let target = Box::new(Pat::Expr(Box::new(Expr::Member(member))));
            let value = match short.value.take() {
                None => target,
                Some(right) => Box::new(Pat::Assign(swc_ecma_ast::AssignPat { span: short.span, left: target, right })),
            };
            *prop = ObjectPatProp::KeyValue(KeyValuePatProp { key, value });
        }
    }

    fn visit_mut_prop(&mut self, prop: &mut Prop) {
        match prop {
            Prop::Shorthand(ident) => {
                if let Some(member) = self.member(ident) {
                    let key = PropName::Ident(ident.clone().into());
                    *prop = Prop::KeyValue(KeyValueProp { key, value: Box::new(Expr::Member(member)) });
                }
            }
            _ => prop.visit_mut_children_with(self),
        }
    }

    fn visit_mut_span(&mut self, _: &mut Span) {}
    fn visit_mut_ts_type(&mut self, _: &mut TsType) {}
    fn visit_mut_ts_type_ann(&mut self, _: &mut TsTypeAnn) {}
    fn visit_mut_ts_type_param_decl(&mut self, _: &mut TsTypeParamDecl) {}
    fn visit_mut_ts_type_param_instantiation(&mut self, _: &mut TsTypeParamInstantiation) {}
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use crate::translate;

    /// The JavaScript of a source, in one line.
    fn compiled(source: &str) -> String {
        let script = translate(source, Language::TypeScript).unwrap();
        script.code().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_part_of_a_namespace_sees_what_other_parts_export() {
        for (source, says) in [
            (
                "namespace A.B.C { export const v = 42 } namespace A { export namespace D { export const w = B.C.v + 1 } }",
                "D.w = A.B.C.v + 1",
            ),
            (
                "namespace A { export let v = 1 } namespace A { v = 2; v++; [v] = [3]; ({ v } = { v }) }",
                "A.v = 2; A.v++; [A.v] = [ 3 ]; ({ v: A.v } = { v: A.v });",
            ),
            (
                "namespace A { export function f() { return g() } } namespace A { export function g() { return 1 } }",
                "return A.g();",
            ),
            (
                "namespace A { export enum E { X } export class C {} } namespace A { export class D extends C { e = E.X } }",
                "extends A.C { e = A.E.X;",
            ),
            (
                "namespace A { export namespace B { export const x = 1 } } namespace A { export import y = B.x }",
                "A.y = A.B.x",
            ),
            ("function A() {} namespace A { export const x = 1 } namespace A { export const y = x }", "A.y = A.x"),
            ("class A {} namespace A { export const x = 1 } namespace A { export const y = x }", "A.y = A.x"),
            ("enum A { P } namespace A { export const x = 1 } namespace A { export const y = x }", "A.y = A.x"),
            ("const v = 1; namespace A { export const v = 2 } namespace A { export const w = v }", "A.w = A.v"),
            ("namespace A { export const v = 2 } namespace A { const v = 3; export const w = v }", "A.w = v;"),
            ("namespace A { export const v = 2 } namespace A { export const w = (v: number) => v }", "A.w = (v)=>v;"),
            (
                "namespace A { export const v = 2 } namespace A { export const w = (A: number) => v }",
                "A.w = (A1)=>A.v;",
            ),
            ("namespace A { export type v = 1 } namespace A { export const w = v }", "A.w = v;"),
            ("namespace A { const v = 2; v } namespace A { export const w = v }", "A.w = v;"),
            ("enum E { X = 1 } enum E { Y = X + 1 }", "E[E[\"Y\"] = 2] = \"Y\""),
        ] {
            let code = compiled(source);
            assert!(code.contains(says), "{source}: {code}");
        }
    }

    #[test]
    fn an_import_within_a_namespace_may_be_of_what_its_own_part_exports() {
        for (source, says) in [
            (
                "namespace A { export namespace B { export const x = 1 } import P = B; export const q = P.x }",
                "P = A.B;",
            ),
            ("namespace A { export namespace B { export const x = 1 } export import P = B }", "A.P = A.B;"),
            ("namespace A { export namespace B { export const x = 1 } import y = B.x; y }", "y = A.B.x;"),
            ("namespace A { export enum E { X } import P = E; P }", "P = A.E;"),
            ("namespace A { export let v = 1; import w = v; w }", "w = A.v;"),
            ("namespace A { export let v = 1; export namespace B { import w = v; w } }", "w = A.v;"),
            ("namespace A.B { export let v = 1; import w = v; w }", "w = B.v;"),
            ("namespace A { export import P = B; import Q = P; Q } namespace B { export const x = 1 }", "Q = A.P;"),
            ("namespace A { export function f() {} import g = f; g }", "g = f;"),
            ("namespace A { namespace B { export const x = 1 } import P = B; P }", "P = B;"),
        ] {
            let code = compiled(source);
            assert!(code.contains(says), "{source}: {code}");
        }
    }

    #[test]
    fn defaults_in_the_patterns_of_declarations_see_what_their_namespace_exports() {
        for (pattern, says) in [
            ("const { x = d } = p; x", "{ x = A.d } = p"),
            ("const { a: x = d } = p; x", "{ a: x = A.d } = p"),
            ("const { a: { x = d } } = p; x", "{ a: { x = A.d } } = p"),
            ("const [{ x = d }] = p; x", "{ x = A.d }"),
            ("let { x = d, ...r } = p; x", "x = A.d, ...r"),
            ("for (const { x = d } of p) x", "{ x = A.d } of p"),
            ("for (const { x = { d } } of p) x", "d: A.d"),
            (
                "for (const { [d]: x = () => { let { y = d } = p; return d++ } } of p) x",
                "[A.d]: x = ()=>{ let { y = A.d } = p; return A.d++;",
            ),
            ("const { x = (d: any) => d } = p; x", "x = (d)=>d"),
        ] {
            for (open, close) in [("", ""), ("export namespace B {", "}")] {
                let source = format!(
                    "namespace A {{ export let d = 5; {open} export function f(p: any) {{ {pattern} }} {close} }}"
                );
                let code = compiled(&source);
                assert!(code.contains(says), "{source}: {code}");
            }
        }
        let code = compiled("namespace A { export const d = 5, { x = d } = { x: 1 } as any; export const y = x }");
        assert!(code.contains("A.x = A.d") && code.contains("A.y = A.x"), "{code}");
    }

    #[test]
    fn a_namespace_that_is_opened_once_keeps_its_text() {
        let code =
            compiled("const v = 1; namespace A { export const w = v; export namespace B { export const x = w } }");
        assert!(code.contains("A.w = v;") && code.contains("B.x = A.w;"), "{code}");
    }

    #[test]
    fn a_namespace_that_is_opened_again_too_often_within_others_is_refused_by_name() {
        let source = format!(
            "namespace A {{ export const x = 1 }} {}{}{}",
            "namespace A {".repeat(150),
            "y;".repeat(14_000),
            "}".repeat(150)
        );
        let refused = translate(&source, Language::TypeScript).unwrap_err();
        assert!(refused.to_string().starts_with("opens namespaces again"), "{refused}");
    }
}
