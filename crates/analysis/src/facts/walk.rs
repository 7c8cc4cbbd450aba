//! The walk that notes what a source does.

use swc_atoms::Atom;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    AssignExpr, AssignPatProp, AssignTarget, AutoAccessor, BinExpr, BinaryOp, CallExpr, Callee, ExportAll, ExportDecl,
    ExportSpecifier, Expr, ExprOrSpread, Ident, ImportDecl, MemberExpr, MemberProp, MetaPropExpr, MetaPropKind,
    ModuleExportName, NamedExport, NewExpr, OptCall, OptChainBase, Pat, Regex, SimpleAssignTarget, Str, TaggedTpl,
    TplElement, TsEnumMember, TsInterfaceDecl, TsModuleRef, TsTypeAliasDecl, TsTypeAnn, TsTypeParamDecl,
    TsTypeParamInstantiation, UnaryExpr, UnaryOp, UpdateExpr, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::direct::direct;
use super::{Assembled, Call, Facts, Role, Text, Use, Write, prefix};
use crate::imports::{Fate, Imports};
use crate::names::{Names, bare, entity};
use crate::value::{Key, Path, Root, Value};

pub(super) struct Walk<'a> {
    names: &'a Names<'a>,
    imports: &'a Imports,
    pub(super) facts: Facts,
    role: Role,
    /// Whether the expression that comes is the object of a member that was noted.
    chain: bool,
    /// The name that the next literal becomes the value of.
    name: Option<Atom>,
    in_namespace: bool,
    /// Whether the variables that come are members of a namespace, which others use by another name.
    is_exported: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(names: &'a Names<'a>, imports: &'a Imports) -> Self {
        Self {
            names,
            imports,
            facts: Facts::default(),
            role: Role::Plain,
            chain: false,
            name: None,
            in_namespace: false,
            is_exported: false,
        }
    }
}

impl Walk<'_> {
    fn note(&mut self, expr: &Expr, span: Span) {
        self.note_value(self.names.value(expr), span);
    }

    fn note_value(&mut self, value: Value, span: Span) {
        if let Value::Thing(thing) = value
            && !(thing.path.is_empty() && matches!(thing.root, Root::Literal(_) | Root::Somewhere | Root::Params))
        {
            let used = Use { thing, role: self.role, span };
            if used.thing.is_result() { self.facts.results.push(used) } else { self.facts.uses.push(used) }
        }
    }

    fn with_role(&mut self, role: Role, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.role, role);
        visit(self);
        self.role = before;
    }

    fn with_name(&mut self, name: Option<Atom>, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.name, name);
        visit(self);
        self.name = before;
    }

    fn call(&mut self, callee: &Expr, args: &[ExprOrSpread], span: Span, new: bool) {
        let callee = self.names.value(callee);
        // Only of what reaches out it matters.
        let out = callee.as_thing().is_some_and(|thing| matches!(thing.root, Root::Global | Root::Module(_)));
        // The first argument is asked about, which is the second one of `call`.
        let first = &args[..if out { args.len().min(2) } else { 0 }];
        let prefixes = first.iter().map(|arg| prefix(self.names, &arg.expr)).collect();
        let call = Call { callee, args: self.names.args(args), prefixes, new, span };
        let call = direct(call);
        if let Some(thing) = call.callee.as_thing()
            && thing.root == Root::Global
            && matches!(
                thing.names().unwrap_or_default().as_slice(),
                ["require"]
                    | ["module" | "process" | "require", "require" | "getBuiltinModule" | "resolve"]
                    | ["process" | "require", "mainModule" | "main", "require"]
                    | ["System", "import"]
            )
        {
            let name = call.args.first().and_then(Value::as_text).unwrap_or("…");
            self.facts.modules.push((name.to_owned(), span));
        }
        if let Some(thing) = call.callee.as_thing() {
            let path = (&thing.root, thing.names().unwrap_or_default());
            let pattern = match (path.0, path.1.as_slice()) {
                (Root::Global, ["RegExp"]) => match call.args.as_slice() {
                    [Value::Text(pattern), rest @ ..] => {
                        let flags = rest.first().and_then(Value::as_text).unwrap_or_default();
                        Some((pattern.clone(), flags.into()))
                    }
                    _ => None,
                },
                (_, [.., "match" | "matchAll" | "search"]) => match call.args.as_slice() {
                    [Value::Text(pattern)] => Some((pattern.clone(), Atom::default())),
                    _ => None,
                },
                _ => None,
            };
            if let Some((pattern, flags)) = pattern {
                self.facts.patterns.push((pattern, flags, span));
            }
        }
        self.facts.calls.push(call);
    }

    /// Whether a call does nothing but take a member of something.
    fn takes_member(&self, call: &CallExpr) -> bool {
        let Callee::Expr(callee) = &call.callee else { return false };
        self.names.value(callee).as_thing().is_some_and(|thing| {
            thing.root == Root::Global && matches!(thing.names().as_deref(), Some(["Reflect", "get"]))
        })
    }

    /// A member that is written to.
    fn write(&mut self, member: &MemberExpr, span: Span) {
        let target = self.names.value(&member.obj).member(&self.names.key(&member.prop));
        self.facts.writes.push(Write { target, span });
    }

    /// A name that is written to: a global, if the source does not declare it.
    fn write_name(&mut self, ident: &Ident, span: Span) {
        if self.names.is_free(ident) {
            self.facts.writes.push(Write { target: Value::global(&ident.sym), span });
        }
    }

    /// What is exported from another module is loaded, and handed on: of `None`, all of it.
    fn reexported(&mut self, module: &Str, name: Option<&ModuleExportName>, span: Span) {
        let name = name.map(|name| match name {
            ModuleExportName::Ident(name) => name.sym.clone(),
            ModuleExportName::Str(name) => name.value.to_atom_lossy().into_owned(),
        });
        let path = name.filter(|name| *name != "default").map(Key::Name).into_iter().collect::<Path>();
        self.note_value(Value::module(&module.value.to_string_lossy(), path), span);
    }

    fn children_of_call(&mut self, callee: &Expr, args: &[ExprOrSpread]) {
        self.with_role(Role::Called, |walk| callee.visit_with(walk));
        self.with_role(Role::Plain, |walk| walk.with_name(None, |walk| args.visit_with(walk)));
    }

    fn member(&mut self, member: &MemberExpr, whole: &Expr) {
        if !std::mem::take(&mut self.chain) {
            self.note(whole, member.span);
        }
        if let MemberProp::Computed(computed) = &member.prop {
            if !matches!(bare(&computed.expr), Expr::Lit(_))
                && self.names.value(&member.obj) == Value::root(Root::Global)
            {
                self.facts.global_lookups.push(member.span);
            }
            if put_together(&computed.expr)
                && let Some(name) = self.names.value(&computed.expr).as_text()
                && name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_' || first == '$')
            {
                self.facts.assembled.push(Assembled { name: name.to_owned(), span: computed.span });
            }
            self.with_role(Role::Plain, |walk| computed.expr.visit_with(walk));
        }
        self.chain = matches!(bare(&member.obj), Expr::Ident(_) | Expr::Member(_) | Expr::This(_) | Expr::OptChain(_));
        member.obj.visit_with(self);
        self.chain = false;
    }
}

/// Whether a name is put together from parts, rather than written.
fn put_together(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Bin(binary) => binary.op == BinaryOp::Add,
        Expr::Call(_) => true,
        Expr::Tpl(template) => !template.exprs.is_empty(),
        _ => false,
    }
}

impl Visit for Walk<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Ident(ident) => {
                self.facts.idents.push((ident.sym.clone(), ident.span));
                if !std::mem::take(&mut self.chain) {
                    self.note(expr, ident.span);
                }
            }
            Expr::This(this) => {
                if !std::mem::take(&mut self.chain) {
                    self.note(expr, this.span);
                }
            }
            Expr::Member(member) => self.member(member, expr),
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => self.member(member, expr),
                OptChainBase::Call(OptCall { callee, args, span, .. }) => {
                    self.chain = false;
                    self.call(callee, args, *span, false);
                    self.children_of_call(callee, args);
                }
            },
            Expr::Paren(_) | Expr::TsAs(_) | Expr::TsNonNull(_) => expr.visit_children_with(self),
            _ => {
                self.chain = false;
                if put_together(expr)
                    && let Some(text) = self.names.value(expr).as_text()
                {
                    let (text, span) = (text.into(), expr.span());
                    self.facts.texts.push(Text { value: text, raw: Atom::default(), name: self.name.clone(), span });
                }
                if let Expr::Call(call) = expr
                    && self.takes_member(call)
                {
                    self.note(expr, call.span);
                }
                let role = std::mem::replace(&mut self.role, Role::Plain);
                expr.visit_children_with(self);
                self.role = role;
            }
        }
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        match &call.callee {
            Callee::Expr(callee) => {
                self.call(callee, &call.args, call.span, false);
                self.children_of_call(callee, &call.args);
            }
            Callee::Import(_) => {
                let name = call.args.first().map(|arg| prefix(self.names, &arg.expr)).filter(|name| !name.is_empty());
                self.facts.modules.push((name.unwrap_or_else(|| "…".to_owned()), call.span));
                call.args.visit_with(self);
            }
            Callee::Super(_) => call.args.visit_with(self),
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        let args = new.args.as_deref().unwrap_or_default();
        self.call(&new.callee, args, new.span, true);
        self.children_of_call(&new.callee, args);
    }

    fn visit_tagged_tpl(&mut self, tagged: &TaggedTpl) {
        let args = tagged.tpl.quasis.iter().map(|quasi| {
            Value::text(&quasi.cooked.as_ref().map(|cooked| cooked.to_string_lossy()).unwrap_or_default())
        });
        let call = Call {
            callee: self.names.value(&tagged.tag),
            args: args.collect(),
            prefixes: Vec::new(),
            new: false,
            span: tagged.span,
        };
        self.facts.calls.push(direct(call));
        self.with_role(Role::Called, |walk| tagged.tag.visit_with(walk));
        tagged.tpl.visit_with(self);
    }

    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        match unary.op {
            UnaryOp::TypeOf => self.with_role(Role::AskedAbout, |walk| walk.chained(&unary.arg)),
            UnaryOp::Delete => {
                self.facts.writes.push(Write { target: self.names.value(&unary.arg), span: unary.span });
                unary.visit_children_with(self);
            }
            _ => unary.visit_children_with(self),
        }
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        binary.left.visit_with(self);
        if binary.op == BinaryOp::InstanceOf {
            self.with_role(Role::AskedAbout, |walk| walk.chained(&binary.right));
        } else {
            binary.right.visit_with(self);
        }
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        let mut name = None;
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                name = self.names.key(&member.prop).string().map(Atom::from);
                self.write(member, assign.span);
                member.visit_children_with(self);
            }
            AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) => {
                name = Some(ident.sym.clone());
                self.write_name(ident, assign.span);
            }
            left => left.visit_with(self),
        }
        self.with_name(name, |walk| assign.right.visit_with(walk));
    }

    fn visit_update_expr(&mut self, update: &UpdateExpr) {
        match bare(&update.arg) {
            Expr::Member(member) => self.write(member, update.span),
            Expr::Ident(ident) => self.write_name(ident, update.span),
            _ => {}
        }
        update.visit_children_with(self);
    }

    /// A pattern: of an assignment, its parts are written to. The names that a declaration makes are not free.
    fn visit_pat(&mut self, pat: &Pat) {
        match pat {
            Pat::Expr(expr) => {
                if let Expr::Member(member) = bare(expr) {
                    self.write(member, member.span);
                }
            }
            Pat::Ident(ident) => self.write_name(ident, ident.span),
            _ => {}
        }
        pat.visit_children_with(self);
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        self.write_name(&prop.key, prop.span);
        prop.visit_children_with(self);
    }

    fn visit_named_export(&mut self, export: &NamedExport) {
        let is_type =
            |specifier: &ExportSpecifier| matches!(specifier, ExportSpecifier::Named(named) if named.is_type_only);
        if let Some(module) = &export.src
            && !export.type_only
            && (export.specifiers.is_empty() || !export.specifiers.iter().all(is_type))
        {
            self.facts.modules.push((module.value.to_string_lossy().into_owned(), export.span));
            for specifier in export.specifiers.iter().filter(|specifier| !is_type(specifier)) {
                match specifier {
                    ExportSpecifier::Named(named) => self.reexported(module, Some(&named.orig), named.span),
                    ExportSpecifier::Namespace(all) => self.reexported(module, None, all.span),
                    ExportSpecifier::Default(default) => self.reexported(module, None, default.exported.span),
                }
            }
        }
        export.visit_children_with(self);
    }

    fn visit_export_all(&mut self, export: &ExportAll) {
        if !export.type_only {
            self.facts.modules.push((export.src.value.to_string_lossy().into_owned(), export.span));
            self.reexported(&export.src, None, export.span);
        }
        export.visit_children_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        declarator.name.visit_with(self);
        let name = declarator.name.as_ident().map(|ident| ident.sym.clone());
        let alias =
            declarator.init.as_deref().is_some_and(|init| matches!(bare(init), Expr::Ident(_) | Expr::Member(_)));
        let is_exported = std::mem::take(&mut self.is_exported);
        let role = if alias && !is_exported { Role::Named } else { Role::Plain };
        self.with_role(role, |walk| walk.with_name(name, |walk| declarator.init.visit_with(walk)));
        self.is_exported = is_exported;
        // What destructuring takes is used as much as if it were written out.
        if let (None, Some(_)) = (declarator.name.as_ident(), &declarator.init) {
            let mut idents = Taken(Vec::new());
            declarator.name.visit_with(&mut idents);
            for ident in idents.0 {
                let span = ident.span;
                self.note(&Expr::Ident(ident), span);
            }
        }
    }

    fn visit_key_value_prop(&mut self, pair: &swc_ecma_ast::KeyValueProp) {
        pair.key.visit_with(self);
        let name = match &pair.key {
            swc_ecma_ast::PropName::Ident(name) => Some(name.sym.clone()),
            swc_ecma_ast::PropName::Str(name) => Some(name.value.to_atom_lossy().into_owned()),
            _ => None,
        };
        self.with_name(name, |walk| pair.value.visit_with(walk));
    }

    fn visit_prop(&mut self, prop: &swc_ecma_ast::Prop) {
        if let swc_ecma_ast::Prop::Shorthand(ident) = prop {
            self.note(&Expr::Ident(ident.clone()), ident.span);
        }
        prop.visit_children_with(self);
    }

    fn visit_class_prop(&mut self, prop: &swc_ecma_ast::ClassProp) {
        prop.decorators.visit_with(self);
        prop.key.visit_with(self);
        let name = prop.key.as_ident().map(|name| name.sym.clone());
        self.with_name(name, |walk| prop.value.visit_with(walk));
    }

    fn visit_auto_accessor(&mut self, accessor: &AutoAccessor) {
        accessor.decorators.visit_with(self);
        accessor.key.visit_with(self);
        let name = match &accessor.key {
            swc_ecma_ast::Key::Public(key) => key.as_ident().map(|name| name.sym.clone()),
            swc_ecma_ast::Key::Private(name) => Some(name.name.clone()),
        };
        self.with_name(name, |walk| accessor.value.visit_with(walk));
    }

    fn visit_export_decl(&mut self, export: &ExportDecl) {
        let before = std::mem::replace(&mut self.is_exported, self.in_namespace && export.decl.is_var());
        export.visit_children_with(self);
        self.is_exported = before;
    }

    fn visit_str(&mut self, text: &Str) {
        let raw = text.raw.clone().unwrap_or_default();
        let (text, span) = (text.value.to_atom_lossy().into_owned(), text.span);
        self.facts.texts.push(Text { value: text, raw, name: self.name.clone(), span });
    }

    fn visit_tpl_element(&mut self, part: &TplElement) {
        let text = part.cooked.as_ref().map(|cooked| cooked.to_atom_lossy().into_owned()).unwrap_or_default();
        let raw = part.raw.clone();
        self.facts.texts.push(Text { value: text, raw, name: self.name.clone(), span: part.span });
    }

    fn visit_regex(&mut self, regex: &Regex) {
        self.facts.patterns.push((regex.exp.clone(), regex.flags.clone(), regex.span));
    }

    fn visit_meta_prop_expr(&mut self, meta: &MetaPropExpr) {
        if meta.kind == MetaPropKind::ImportMeta {
            self.facts.import_meta.push(meta.span);
        }
    }

    fn visit_import_decl(&mut self, import: &ImportDecl) {
        if self.imports.fate(import) == Fate::Refused {
            self.facts.modules.push((import.src.value.to_string_lossy().into_owned(), import.span));
        }
    }

    fn visit_ts_import_equals_decl(&mut self, import: &swc_ecma_ast::TsImportEqualsDecl) {
        match &import.module_ref {
            _ if import.is_type_only => {}
            TsModuleRef::TsExternalModuleRef(module) => {
                self.facts.modules.push((module.expr.value.to_string_lossy().into_owned(), import.span));
            }
            TsModuleRef::TsEntityName(name) => self.note(&entity(name), import.span),
        }
    }

    fn visit_with_stmt(&mut self, statement: &swc_ecma_ast::WithStmt) {
        self.facts.with_statements.push(statement.span());
        statement.visit_children_with(self);
    }

    fn visit_ident(&mut self, ident: &Ident) {
        self.facts.idents.push((ident.sym.clone(), ident.span));
    }

    // Types do nothing.
    fn visit_ts_type_ann(&mut self, _: &TsTypeAnn) {}
    fn visit_ts_interface_decl(&mut self, _: &TsInterfaceDecl) {}
    fn visit_ts_type_alias_decl(&mut self, _: &TsTypeAliasDecl) {}
    fn visit_ts_type_param_decl(&mut self, _: &TsTypeParamDecl) {}
    fn visit_ts_type_param_instantiation(&mut self, _: &TsTypeParamInstantiation) {}
    fn visit_ts_type(&mut self, _: &swc_ecma_ast::TsType) {}
    fn visit_ts_expr_with_type_args(&mut self, _: &swc_ecma_ast::TsExprWithTypeArgs) {}
    fn visit_ts_enum_member(&mut self, member: &TsEnumMember) {
        member.init.visit_with(self);
    }
    fn visit_ts_module_decl(&mut self, module: &swc_ecma_ast::TsModuleDecl) {
        if !module.declare {
            let before = std::mem::replace(&mut self.in_namespace, true);
            module.visit_children_with(self);
            self.in_namespace = before;
        }
    }
}

impl Walk<'_> {
    /// Visits an operand without losing the role that it was given.
    fn chained(&mut self, expr: &Expr) {
        match bare(expr) {
            Expr::Ident(ident) => {
                self.facts.idents.push((ident.sym.clone(), ident.span));
                self.note(expr, ident.span);
            }
            Expr::Member(member) => self.note(expr, member.span),
            other => other.visit_with(self),
        }
    }
}

/// The names that a pattern declares.
struct Taken(Vec<Ident>);

impl Visit for Taken {
    fn visit_binding_ident(&mut self, ident: &swc_ecma_ast::BindingIdent) {
        self.0.push(ident.id.clone());
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        self.0.push(prop.key.id.clone());
    }

    fn visit_expr(&mut self, _: &Expr) {}
}
