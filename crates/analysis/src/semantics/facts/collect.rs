//! The visitor that collects the facts of a source.

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

use super::desugar_call::desugar_call;
use super::{Call, ComputedName, Facts, Text, Use, UseKind, Write, known_prefix};
use crate::semantics::bindings::Bindings;
use crate::semantics::value::{Key, KeyPath, Root, Value};
use crate::syntax::expr::{entity_expr, peel_parens};
use crate::syntax::imports::{ImportKind, Imports};

pub(super) struct FactCollector<'a> {
    names: &'a Bindings<'a>,
    imports: &'a Imports,
    pub(super) facts: Facts,
    kind: UseKind,
    /// Whether the next expression is the object of a member that was recorded.
    in_chain: bool,
    /// The name that the next literal is assigned to.
    target_name: Option<Atom>,
    in_namespace: bool,
    /// Whether the next variables are members of a namespace, which is used under another name.
    is_exported: bool,
}

impl<'a> FactCollector<'a> {
    pub(super) fn new(names: &'a Bindings<'a>, imports: &'a Imports) -> Self {
        Self {
            names,
            imports,
            facts: Facts::default(),
            kind: UseKind::Plain,
            in_chain: false,
            target_name: None,
            in_namespace: false,
            is_exported: false,
        }
    }
}

impl FactCollector<'_> {
    fn note(&mut self, expr: &Expr, span: Span) {
        self.note_value(self.names.value(expr), span);
    }

    fn note_value(&mut self, value: Value, span: Span) {
        if let Value::Path(thing) = value
            && !(thing.keys.is_empty() && matches!(thing.root, Root::Literal(_) | Root::Unknown | Root::Params))
        {
            let used = Use { path: thing, kind: self.kind, span };
            if used.path.is_result() { self.facts.result_uses.push(used) } else { self.facts.uses.push(used) }
        }
    }

    fn with_kind(&mut self, role: UseKind, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.kind, role);
        visit(self);
        self.kind = before;
    }

    fn with_name(&mut self, name: Option<Atom>, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.target_name, name);
        visit(self);
        self.target_name = before;
    }

    fn note_call(&mut self, callee: &Expr, args: &[ExprOrSpread], span: Span, new: bool) {
        let callee = self.names.value(callee);
        // Prefixes matter only for calls of globals and modules.
        let out = callee.as_path().is_some_and(|thing| matches!(thing.root, Root::Global | Root::Module(_)));
        // Rules need the prefix of the first argument, which is the second one of `call`.
        let first = &args[..if out { args.len().min(2) } else { 0 }];
        let prefixes = first.iter().map(|arg| known_prefix(self.names, &arg.expr)).collect();
        let call = Call { callee, args: self.names.args(args), prefixes, is_new: new, span };
        let call = desugar_call(call);
        if let Some(thing) = call.callee.as_path()
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
        if let Some(thing) = call.callee.as_path() {
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
                self.facts.regexes.push((pattern, flags, span));
            }
        }
        self.facts.calls.push(call);
    }

    /// Returns whether a call only reads a member: `Reflect.get`.
    fn is_member_read(&self, call: &CallExpr) -> bool {
        let Callee::Expr(callee) = &call.callee else { return false };
        self.names.value(callee).as_path().is_some_and(|thing| {
            thing.root == Root::Global && matches!(thing.names().as_deref(), Some(["Reflect", "get"]))
        })
    }

    /// Records a write to a member.
    fn note_write(&mut self, member: &MemberExpr, span: Span) {
        let target = self.names.value(&member.obj).member(&self.names.key(&member.prop));
        self.facts.writes.push(Write { target, span });
    }

    /// Records a write to a name, if the source does not declare it: it is a global.
    fn note_name_write(&mut self, ident: &Ident, span: Span) {
        if self.names.is_free(ident) {
            self.facts.writes.push(Write { target: Value::global(&ident.sym), span });
        }
    }

    /// Records a re-export as a use of the module, or of all of the module if `name` is `None`.
    fn note_reexport(&mut self, module: &Str, name: Option<&ModuleExportName>, span: Span) {
        let name = name.map(|name| match name {
            ModuleExportName::Ident(name) => name.sym.clone(),
            ModuleExportName::Str(name) => name.value.to_atom_lossy().into_owned(),
        });
        let path = name.filter(|name| *name != "default").map(Key::Name).into_iter().collect::<KeyPath>();
        self.note_value(Value::module(&module.value.to_string_lossy(), path), span);
    }

    fn visit_call_children(&mut self, callee: &Expr, args: &[ExprOrSpread]) {
        self.with_kind(UseKind::Called, |walk| callee.visit_with(walk));
        self.with_kind(UseKind::Plain, |walk| walk.with_name(None, |walk| args.visit_with(walk)));
    }

    fn note_member(&mut self, member: &MemberExpr, whole: &Expr) {
        if !std::mem::take(&mut self.in_chain) {
            self.note(whole, member.span);
        }
        if let MemberProp::Computed(computed) = &member.prop {
            if !matches!(peel_parens(&computed.expr), Expr::Lit(_))
                && self.names.value(&member.obj) == Value::root(Root::Global)
            {
                self.facts.global_lookups.push(member.span);
            }
            if is_assembled_text(&computed.expr)
                && let Some(name) = self.names.value(&computed.expr).as_text()
                && name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_' || first == '$')
            {
                self.facts.computed_names.push(ComputedName { name: name.to_owned(), span: computed.span });
            }
            self.with_kind(UseKind::Plain, |walk| computed.expr.visit_with(walk));
        }
        self.in_chain =
            matches!(peel_parens(&member.obj), Expr::Ident(_) | Expr::Member(_) | Expr::This(_) | Expr::OptChain(_));
        member.obj.visit_with(self);
        self.in_chain = false;
    }
}

/// Returns whether a text is assembled from parts, not written out.
fn is_assembled_text(expr: &Expr) -> bool {
    match peel_parens(expr) {
        Expr::Bin(binary) => binary.op == BinaryOp::Add,
        Expr::Call(_) => true,
        Expr::Tpl(template) => !template.exprs.is_empty(),
        _ => false,
    }
}

impl Visit for FactCollector<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Ident(ident) => {
                self.facts.idents.push((ident.sym.clone(), ident.span));
                if !std::mem::take(&mut self.in_chain) {
                    self.note(expr, ident.span);
                }
            }
            Expr::This(this) => {
                if !std::mem::take(&mut self.in_chain) {
                    self.note(expr, this.span);
                }
            }
            Expr::Member(member) => self.note_member(member, expr),
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => self.note_member(member, expr),
                OptChainBase::Call(OptCall { callee, args, span, .. }) => {
                    self.in_chain = false;
                    self.note_call(callee, args, *span, false);
                    self.visit_call_children(callee, args);
                }
            },
            Expr::Paren(_) | Expr::TsAs(_) | Expr::TsNonNull(_) => expr.visit_children_with(self),
            _ => {
                self.in_chain = false;
                if is_assembled_text(expr)
                    && let Some(text) = self.names.value(expr).as_text()
                {
                    let (text, span) = (text.into(), expr.span());
                    self.facts.texts.push(Text {
                        value: text,
                        raw: Atom::default(),
                        name: self.target_name.clone(),
                        span,
                    });
                }
                if let Expr::Call(call) = expr
                    && self.is_member_read(call)
                {
                    self.note(expr, call.span);
                }
                let role = std::mem::replace(&mut self.kind, UseKind::Plain);
                expr.visit_children_with(self);
                self.kind = role;
            }
        }
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        match &call.callee {
            Callee::Expr(callee) => {
                self.note_call(callee, &call.args, call.span, false);
                self.visit_call_children(callee, &call.args);
            }
            Callee::Import(_) => {
                let name =
                    call.args.first().map(|arg| known_prefix(self.names, &arg.expr)).filter(|name| !name.is_empty());
                self.facts.modules.push((name.unwrap_or_else(|| "…".to_owned()), call.span));
                call.args.visit_with(self);
            }
            Callee::Super(_) => call.args.visit_with(self),
        }
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        let args = new.args.as_deref().unwrap_or_default();
        self.note_call(&new.callee, args, new.span, true);
        self.visit_call_children(&new.callee, args);
    }

    fn visit_tagged_tpl(&mut self, tagged: &TaggedTpl) {
        let args = tagged.tpl.quasis.iter().map(|quasi| {
            Value::text(&quasi.cooked.as_ref().map(|cooked| cooked.to_string_lossy()).unwrap_or_default())
        });
        let call = Call {
            callee: self.names.value(&tagged.tag),
            args: args.collect(),
            prefixes: Vec::new(),
            is_new: false,
            span: tagged.span,
        };
        self.facts.calls.push(desugar_call(call));
        self.with_kind(UseKind::Called, |walk| tagged.tag.visit_with(walk));
        tagged.tpl.visit_with(self);
    }

    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        match unary.op {
            UnaryOp::TypeOf => self.with_kind(UseKind::TypeTested, |walk| walk.visit_operand(&unary.arg)),
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
            self.with_kind(UseKind::TypeTested, |walk| walk.visit_operand(&binary.right));
        } else {
            binary.right.visit_with(self);
        }
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        let mut name = None;
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                name = self.names.key(&member.prop).to_js_string().map(Atom::from);
                self.note_write(member, assign.span);
                member.visit_children_with(self);
            }
            AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) => {
                name = Some(ident.sym.clone());
                self.note_name_write(ident, assign.span);
            }
            left => left.visit_with(self),
        }
        self.with_name(name, |walk| assign.right.visit_with(walk));
    }

    fn visit_update_expr(&mut self, update: &UpdateExpr) {
        match peel_parens(&update.arg) {
            Expr::Member(member) => self.note_write(member, update.span),
            Expr::Ident(ident) => self.note_name_write(ident, update.span),
            _ => {}
        }
        update.visit_children_with(self);
    }

    /// Records the targets of an assignment pattern as writes. Names that a declaration binds are
    /// not free, so they are not recorded.
    fn visit_pat(&mut self, pat: &Pat) {
        match pat {
            Pat::Expr(expr) => {
                if let Expr::Member(member) = peel_parens(expr) {
                    self.note_write(member, member.span);
                }
            }
            Pat::Ident(ident) => self.note_name_write(ident, ident.span),
            _ => {}
        }
        pat.visit_children_with(self);
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        self.note_name_write(&prop.key, prop.span);
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
                    ExportSpecifier::Named(named) => self.note_reexport(module, Some(&named.orig), named.span),
                    ExportSpecifier::Namespace(all) => self.note_reexport(module, None, all.span),
                    ExportSpecifier::Default(default) => self.note_reexport(module, None, default.exported.span),
                }
            }
        }
        export.visit_children_with(self);
    }

    fn visit_export_all(&mut self, export: &ExportAll) {
        if !export.type_only {
            self.facts.modules.push((export.src.value.to_string_lossy().into_owned(), export.span));
            self.note_reexport(&export.src, None, export.span);
        }
        export.visit_children_with(self);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        declarator.name.visit_with(self);
        let name = declarator.name.as_ident().map(|ident| ident.sym.clone());
        let alias = declarator
            .init
            .as_deref()
            .is_some_and(|init| matches!(peel_parens(init), Expr::Ident(_) | Expr::Member(_)));
        let is_exported = std::mem::take(&mut self.is_exported);
        let role = if alias && !is_exported { UseKind::Aliased } else { UseKind::Plain };
        self.with_kind(role, |walk| walk.with_name(name, |walk| declarator.init.visit_with(walk)));
        self.is_exported = is_exported;
        // Destructuring uses a member as much as a member expression does.
        if let (None, Some(_)) = (declarator.name.as_ident(), &declarator.init) {
            let mut idents = BoundIdents(Vec::new());
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
        self.facts.texts.push(Text { value: text, raw, name: self.target_name.clone(), span });
    }

    fn visit_tpl_element(&mut self, part: &TplElement) {
        let text = part.cooked.as_ref().map(|cooked| cooked.to_atom_lossy().into_owned()).unwrap_or_default();
        let raw = part.raw.clone();
        self.facts.texts.push(Text { value: text, raw, name: self.target_name.clone(), span: part.span });
    }

    fn visit_regex(&mut self, regex: &Regex) {
        self.facts.regexes.push((regex.exp.clone(), regex.flags.clone(), regex.span));
    }

    fn visit_meta_prop_expr(&mut self, meta: &MetaPropExpr) {
        if meta.kind == MetaPropKind::ImportMeta {
            self.facts.import_meta.push(meta.span);
        }
    }

    fn visit_import_decl(&mut self, import: &ImportDecl) {
        if self.imports.kind(import) == ImportKind::Unsupported {
            self.facts.modules.push((import.src.value.to_string_lossy().into_owned(), import.span));
        }
    }

    fn visit_ts_import_equals_decl(&mut self, import: &swc_ecma_ast::TsImportEqualsDecl) {
        match &import.module_ref {
            _ if import.is_type_only => {}
            TsModuleRef::TsExternalModuleRef(module) => {
                self.facts.modules.push((module.expr.value.to_string_lossy().into_owned(), import.span));
            }
            TsModuleRef::TsEntityName(name) => self.note(&entity_expr(name), import.span),
        }
    }

    fn visit_with_stmt(&mut self, statement: &swc_ecma_ast::WithStmt) {
        self.facts.with_statements.push(statement.span());
        statement.visit_children_with(self);
    }

    fn visit_ident(&mut self, ident: &Ident) {
        self.facts.idents.push((ident.sym.clone(), ident.span));
    }

    // Types have no effect.
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

impl FactCollector<'_> {
    /// Visits an operand under the current kind of use.
    fn visit_operand(&mut self, expr: &Expr) {
        match peel_parens(expr) {
            Expr::Ident(ident) => {
                self.facts.idents.push((ident.sym.clone(), ident.span));
                self.note(expr, ident.span);
            }
            Expr::Member(member) => self.note(expr, member.span),
            other => other.visit_with(self),
        }
    }
}

/// Collects the names that a pattern declares.
struct BoundIdents(Vec<Ident>);

impl Visit for BoundIdents {
    fn visit_binding_ident(&mut self, ident: &swc_ecma_ast::BindingIdent) {
        self.0.push(ident.id.clone());
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        self.0.push(prop.key.id.clone());
    }

    fn visit_expr(&mut self, _: &Expr) {}
}
