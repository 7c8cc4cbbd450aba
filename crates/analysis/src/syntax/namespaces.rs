//! Merging of namespaces and of `enum`s.
//!
//! TypeScript merges the declarations of a namespace (handbook, "Declaration Merging"): an export
//! of one is visible in all of them, unless it is shadowed. The compiler turns each declaration
//! (here: part) into a function that does not see the names of the others, so a name that another
//! part exports is rewritten to a member of the namespace first.
//!
//! The compiler rewrites the exports of the part itself, except on the right side of `import X = …`
//! and in declaration patterns; those are rewritten here.
//!
//! Invariant: a program without namespaces and without a merged `enum` is unchanged.

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
use toolcell_i18n::{Message, msgid};

use crate::syntax::exports::is_instantiated;

/// The maximum number of steps through merged namespaces that resolving the names of a source
/// takes.
const MAX_STEPS: u32 = 1_000_000;

/// The message for a source that exceeds [`MAX_STEPS`].
const TOO_MANY_STEPS: &str = msgid!("reopens namespaces at too many levels of nesting: write them side by side");

/// Rewrites names that another part of a namespace or of an `enum` exports to members of it.
/// Requires resolved names.
///
/// # Errors
/// Returns a message if [`MAX_STEPS`] is exceeded.
pub(crate) fn qualify_merged_names(program: &mut Program) -> Result<(), Message> {
    rewrite(program, RewriteMode::Members)
}

/// Resolves names that another part of a namespace exports to their declaration.
///
/// # Errors
/// As [`qualify_merged_names`].
pub(crate) fn resolve_merged_names(program: &mut Program) -> Result<(), Message> {
    rewrite(program, RewriteMode::Names)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RewriteMode {
    Members,
    Names,
}

fn rewrite(program: &mut Program, rewrite: RewriteMode) -> Result<(), Message> {
    let mut found = Declarations::default();
    program.visit_with(&mut found);
    let is_opened_again = found.has_reopened();
    if !is_opened_again && (rewrite == RewriteMode::Names || found.compiled_members.is_empty()) {
        return Ok(());
    }
    let mut join = NamespaceRewriter {
        declarations: found,
        rewrite,
        has_reopened: is_opened_again,
        is_skipped_by_compiler: false,
        enclosing: Vec::new(),
        parts: 0,
        enums: 0,
        current_enum: None,
        steps: 0,
    };
    program.visit_mut_with(&mut join);
    if join.steps > MAX_STEPS { Err(Message::from(TOO_MANY_STEPS)) } else { Ok(()) }
}

/// A namespace, with all of its parts.
#[derive(Default)]
struct Namespace {
    /// The values that it exports, with the syntax context of their declaration.
    exports: FxHashMap<Atom, SyntaxContext>,
    namespaces: FxHashMap<Atom, usize>,
    enums: FxHashMap<Atom, usize>,
    parts: u32,
}

/// The namespaces, `enum`s and declarations of a program.
#[derive(Default)]
struct Declarations {
    namespaces: Vec<Namespace>,
    /// Namespaces that no other namespace exports.
    top_level: FxHashMap<Id, usize>,
    /// The members of each `enum`, and its number of parts.
    enums: Vec<(FxHashSet<Atom>, u32)>,
    top_level_enums: FxHashMap<Id, usize>,
    /// The namespace of each part, in source order.
    parts: Vec<usize>,
    /// The `enum` of each part, in source order.
    enum_parts: Vec<usize>,
    /// The part in which each name is declared.
    declared: FxHashMap<Id, usize>,
    /// Names that the compiler rewrites to members of their namespace: exported variables, enums,
    /// namespaces and `import`s.
    compiled_members: FxHashSet<Id>,
    /// The enclosing parts, from the outside in.
    enclosing: Vec<usize>,
    is_ambient: bool,
    /// Whether names in patterns are assigned, not declared.
    is_assigned: bool,
}

impl Declarations {
    fn has_reopened(&self) -> bool {
        self.namespaces.iter().any(|space| space.parts > 1) || self.enums.iter().any(|(_, parts)| *parts > 1)
    }

    fn declare(&mut self, ident: &Ident) {
        if let Some(part) = self.enclosing.last() {
            self.declared.insert(ident.to_id(), *part);
        }
    }

    /// Returns the enclosing namespace, if it exports the declaration.
    fn exporting_namespace(&self, is_exported: bool) -> Option<usize> {
        self.enclosing.last().filter(|_| is_exported || self.is_ambient).map(|part| self.parts[*part])
    }

    fn module(&mut self, module: &TsModuleDecl, is_exported: bool) {
        let (Some(name), Some(body)) = (module.id.as_ident(), &module.body) else { return };
        let around = self.exporting_namespace(is_exported);
        self.declare(name);
        let was_ambient = self.is_ambient;
        self.is_ambient |= module.declare;
        self.part(name, around, body);
        self.is_ambient = was_ambient;
    }

    fn part(&mut self, name: &Ident, around: Option<usize>, body: &TsNamespaceBody) {
        let next = self.namespaces.len();
        let space = match around {
            Some(around) => *self.namespaces[around].namespaces.entry(name.sym.clone()).or_insert(next),
            None => *self.top_level.entry(name.to_id()).or_insert(next),
        };
        if space == next {
            self.namespaces.push(Namespace::default());
        }
        self.namespaces[space].parts += 1;
        self.enclosing.push(self.parts.len());
        self.parts.push(space);
        match body {
            TsNamespaceBody::TsModuleBlock(block) => {
                for item in &block.body {
                    self.note_exports(space, item);
                    item.visit_with(self);
                }
            }
            TsNamespaceBody::TsNamespaceDecl(inner) => {
                self.declare(&inner.id);
                self.namespaces[space].exports.insert(inner.id.sym.clone(), inner.id.ctxt);
                self.part(&inner.id, Some(space), &inner.body);
            }
        }
        self.enclosing.pop();
    }

    /// Records what an item of a namespace exports.
    fn note_exports(&mut self, space: usize, item: &ModuleItem) {
        let decl = match item {
            ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => &export.decl,
            ModuleItem::Stmt(Stmt::Decl(decl)) if self.is_ambient => decl,
            ModuleItem::ModuleDecl(ModuleDecl::TsImportEquals(import)) if import.is_export && !import.is_type_only => {
                self.namespaces[space].exports.insert(import.id.sym.clone(), import.id.ctxt);
                self.compiled_members.insert(import.id.to_id());
                return;
            }
            _ => return,
        };
        let mut names = ExportedNames(Vec::new());
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
            self.namespaces[space].exports.insert(name.0.clone(), name.1);
            if !is_declared_elsewhere && !self.is_ambient {
                self.compiled_members.insert(name);
            }
        }
    }

    fn enumeration(&mut self, declaration: &TsEnumDecl, is_exported: bool) {
        self.declare(&declaration.id);
        let next = self.enums.len();
        let number = match self.exporting_namespace(is_exported) {
            Some(space) => *self.namespaces[space].enums.entry(declaration.id.sym.clone()).or_insert(next),
            None => *self.top_level_enums.entry(declaration.id.to_id()).or_insert(next),
        };
        if number == next {
            self.enums.push((FxHashSet::default(), 0));
        }
        self.enum_parts.push(number);
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

/// Collects the names that an exported pattern declares.
struct ExportedNames(Vec<Id>);

impl ExportedNames {
    fn note(&mut self, ident: &Ident) {
        self.0.push(ident.to_id());
    }
}

impl Visit for ExportedNames {
    fn visit_binding_ident(&mut self, ident: &BindingIdent) {
        self.note(ident);
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        self.note(&prop.key);
    }

    fn visit_expr(&mut self, _: &Expr) {}
}

impl Visit for Declarations {
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

/// An enclosing part.
struct EnclosingPart {
    part: usize,
    namespace: usize,
    name: Ident,
}

/// The rewriter of merged names.
struct NamespaceRewriter {
    declarations: Declarations,
    rewrite: RewriteMode,
    has_reopened: bool,
    /// Whether the node is one that the compiler skips when it rewrites exports: a declaration
    /// pattern, or an import alias.
    is_skipped_by_compiler: bool,
    enclosing: Vec<EnclosingPart>,
    parts: usize,
    /// The number of `enum` parts visited so far.
    enums: usize,
    current_enum: Option<CurrentEnum>,
    steps: u32,
}

/// The enclosing `enum`.
struct CurrentEnum {
    name: Ident,
    /// The members of this part, which the compiler rewrites.
    own: FxHashSet<Atom>,
    /// The number of the `enum`, if it has other parts.
    number: Option<usize>,
}

impl NamespaceRewriter {
    /// Returns the namespace of a name, if its own part exports it and the compiler skips the name.
    fn owner_in_part(&self, ident: &Ident) -> Option<(Ident, SyntaxContext)> {
        let id = ident.to_id();
        let part = self.declarations.declared.get(&id).filter(|_| self.declarations.compiled_members.contains(&id))?;
        // Parts are numbered from the outside in.
        let at = self.enclosing.binary_search_by_key(part, |within| within.part).ok()?;
        Some((self.enclosing[at].name.clone(), ident.ctxt))
    }

    /// Returns the namespace or `enum` that a name is a member of, if another part exports it.
    fn owner(&mut self, ident: &Ident) -> Option<(Ident, SyntaxContext)> {
        if self.is_skipped_by_compiler
            && self.rewrite == RewriteMode::Members
            && let Some(owner) = self.owner_in_part(ident)
        {
            return Some(owner);
        }
        if !self.has_reopened {
            return None;
        }
        match &self.current_enum {
            Some(members) if members.own.contains(&ident.sym) => return None,
            Some(CurrentEnum { name, number: Some(number), .. })
                if self.declarations.enums[*number].0.contains(&ident.sym) =>
            {
                return Some((name.clone(), ident.ctxt));
            }
            _ => {}
        }
        if self.enclosing.is_empty() {
            return None;
        }
        let declared = self.declarations.declared.get(&ident.to_id()).copied();
        for within in self.enclosing.iter().rev() {
            self.steps += 1;
            if declared == Some(within.part) || self.steps > MAX_STEPS {
                return None;
            }
            if let Some(ctxt) = self.declarations.namespaces[within.namespace].exports.get(&ident.sym) {
                return Some((within.name.clone(), *ctxt));
            }
        }
        None
    }

    fn with_skipped_by_compiler(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_skipped_by_compiler, true);
        visit(self);
        self.is_skipped_by_compiler = before;
    }

    /// Returns the member expression that replaces a name. In mode [`RewriteMode::Names`], changes
    /// the syntax context of the name instead, and returns `None`.
    fn member(&mut self, ident: &mut Ident) -> Option<MemberExpr> {
        let (owner, ctxt) = self.owner(ident)?;
        match self.rewrite {
            RewriteMode::Members => Some(MemberExpr {
                span: ident.span,
                obj: Box::new(Expr::Ident(Ident { span: ident.span, ..owner })),
                prop: MemberProp::Ident(ident.clone().into()),
            }),
            RewriteMode::Names => {
                ident.ctxt = ctxt;
                None
            }
        }
    }

    fn part(&mut self, name: &Ident, body: &mut TsNamespaceBody) {
        let part = self.parts;
        self.parts += 1;
        self.enclosing.push(EnclosingPart { part, namespace: self.declarations.parts[part], name: name.clone() });
        match body {
            TsNamespaceBody::TsModuleBlock(block) => block.body.visit_mut_with(self),
            TsNamespaceBody::TsNamespaceDecl(inner) => {
                let name = inner.id.clone();
                self.part(&name, &mut inner.body);
            }
        }
        self.enclosing.pop();
    }

    fn rewrite_entity(&mut self, name: &mut TsEntityName) {
        match name {
            TsEntityName::TsQualifiedName(qualified) => self.rewrite_entity(&mut qualified.left),
            TsEntityName::Ident(ident) => {
                if let Some((owner, ctxt)) = self.owner(ident) {
                    match self.rewrite {
                        RewriteMode::Members => {
                            let owner = Ident { span: ident.span, ..owner };
                            let (span, right) = (ident.span, ident.clone().into());
                            let qualified = TsQualifiedName { span, left: TsEntityName::Ident(owner), right };
                            *name = TsEntityName::TsQualifiedName(Box::new(qualified));
                        }
                        RewriteMode::Names => ident.ctxt = ctxt,
                    }
                }
            }
        }
    }
}

impl VisitMut for NamespaceRewriter {
    fn visit_mut_ts_module_decl(&mut self, module: &mut TsModuleDecl) {
        let (Some(name), Some(body)) = (module.id.as_ident(), &mut module.body) else { return };
        let name = name.clone();
        self.part(&name, body);
    }

    fn visit_mut_ts_enum_decl(&mut self, declaration: &mut TsEnumDecl) {
        let number = self.declarations.enum_parts[self.enums];
        self.enums += 1;
        let number = Some(number).filter(|number| self.declarations.enums[*number].1 > 1);
        let own: FxHashSet<Atom> = declaration.members.iter().filter_map(|member| member_name(&member.id)).collect();
        let before = self.current_enum.replace(CurrentEnum { name: declaration.id.clone(), own, number });
        for init in declaration.members.iter_mut().filter_map(|member| member.init.as_mut()) {
            init.visit_mut_with(self);
        }
        self.current_enum = before;
    }

    fn visit_mut_ts_import_equals_decl(&mut self, import: &mut TsImportEqualsDecl) {
        if let TsModuleRef::TsEntityName(name) = &mut import.module_ref {
            self.with_skipped_by_compiler(|join| join.rewrite_entity(name));
        }
    }

    fn visit_mut_export_decl(&mut self, export: &mut ExportDecl) {
        match &mut export.decl {
            // The compiler turns exported variables into members, with the names in their patterns.
            Decl::Var(variables) => variables.decls.visit_mut_children_with(self),
            decl => decl.visit_mut_with(self),
        }
    }

    fn visit_mut_var_declarators(&mut self, declarators: &mut Vec<VarDeclarator>) {
        for declarator in declarators {
            self.with_skipped_by_compiler(|join| declarator.name.visit_mut_with(join));
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

    use crate::transpile;

    /// Compiles a source to one line.
    fn compiled(source: &str) -> String {
        let script = transpile(source, Language::TypeScript).unwrap();
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
        let refused = transpile(&source, Language::TypeScript).unwrap_err();
        assert!(refused.to_string().starts_with("reopens namespaces"), "{refused}");
    }
}
