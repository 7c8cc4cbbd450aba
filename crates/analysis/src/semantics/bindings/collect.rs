//! Collection of the bindings of a source, and of its functions, objects and classes.

mod class;
mod pattern;

use swc_ecma_ast::{
    ArrowExpr, AssignExpr, AssignOp, AssignTarget, AssignTargetPat, BindingIdent, CallExpr, Callee, Class, Decl,
    DefaultDecl, Expr, ExprOrSpread, ForHead, Function, Id, Ident, ImportDecl, ImportSpecifier, MemberExpr, MemberProp,
    ModuleDecl, ModuleExportName, ModuleItem, ObjectLit, Program, Prop, PropOrSpread, SimpleAssignTarget, Stmt,
    TsModuleRef, VarDecl,
};

use crate::semantics::bindings::{Binding, Bindings, CallSite, FunctionDef, Origin, ThisBinding, node_address};
use crate::semantics::value::{Allocation, Key, KeyPath, Literal, Root, Value};
use crate::syntax::expr::{entity_expr, peel_parens};
use crate::syntax::visit::{self, Visitor};
use swc_common::Spanned;

/// Methods that pass the elements of their object, in turn, to their first argument.
pub(super) const CALLBACK_METHODS: [&str; 10] =
    ["map", "forEach", "filter", "find", "findIndex", "findLast", "some", "every", "flatMap", "sort"];

/// Methods that change a list in place.
const MUTATING_METHODS: [&str; 7] = ["unshift", "splice", "shift", "pop", "fill", "copyWithin", "sort"];

/// Collects the bindings of a program.
pub(super) fn collect<'a>(program: &'a Program, names: Bindings<'a>) -> Bindings<'a> {
    let mut noting =
        BindingCollector { names, calls: Vec::new(), this: None, loop_depth: 0, is_strict: is_strict(program) };
    visit::walk_program(program, &mut noting);
    let BindingCollector { mut names, calls, .. } = noting;
    // A callee can be resolved only when all bindings are known.
    let mut given = Vec::new();
    for (callee, args) in calls {
        if let Some(Allocation::Function(function)) = names.value(callee).as_allocation() {
            given.push((*function, args));
        }
    }
    for (function, args) in given {
        names.call_sites.entry(function).or_default().push(args);
    }
    // Values that were evaluated before all bindings were known are discarded.
    names.cache.get_mut().clear();
    names.resolved.get_mut().clear();
    names
}

pub(super) struct BindingCollector<'a> {
    pub(super) names: Bindings<'a>,
    /// The call sites: the callee and its arguments.
    calls: Vec<(&'a Expr, CallSite<'a>)>,
    this: Option<Allocation>,
    /// The number of loops and functions around the current node.
    loop_depth: u32,
    /// Whether the code is strict: `this` is `undefined` in a plain function call.
    is_strict: bool,
}

/// Returns whether a whole program is strict: a module, or a script with the directive.
fn is_strict(program: &Program) -> bool {
    match program {
        Program::Module(_) => true,
        Program::Script(script) => matches!(script.body.first(), Some(Stmt::Expr(first))
            if first.expr.as_lit().and_then(|lit| lit.as_str()).is_some_and(|text| text.value.as_str() == Some("use strict"))),
    }
}

impl<'a> BindingCollector<'a> {
    pub(super) fn add_origin(&mut self, id: Id, origin: Origin<'a>) {
        let loops = self.loop_depth;
        let binding = self.names.by_id.entry(id).or_insert_with(|| Binding { loop_depth: loops, ..Binding::default() });
        if binding.origin.is_some() {
            binding.writes += 1;
        }
        binding.origin = Some(origin);
    }

    pub(super) fn set_value(&mut self, ident: &Ident, value: Value) {
        self.add_origin(ident.to_id(), Origin::Value(value));
    }

    pub(super) fn add_function(&mut self, at: usize, mut lambda: FunctionDef<'a>) -> u32 {
        if self.is_strict && lambda.this == ThisBinding::Global {
            lambda.this = ThisBinding::Undefined;
        }
        let number = u32::try_from(self.names.functions.len()).unwrap_or(u32::MAX);
        self.names.functions.push(lambda);
        self.names.ids.insert(at, number);
        self.collect_params(number);
        number
    }

    pub(super) fn with_this(&mut self, this: Option<Allocation>, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.this, this);
        self.loop_depth += 1;
        walk(self);
        self.loop_depth -= 1;
        self.this = before;
    }

    pub(super) fn collect_method(&mut self, function: &'a Function, this: Option<Allocation>) {
        self.add_function(node_address(function), FunctionDef::from_function(function));
        self.with_this(this, |noting| visit::walk_function(noting, function));
    }

    fn collect_import(&mut self, import: &'a ImportDecl) {
        let module = import.src.value.to_string_lossy();
        for specifier in &import.specifiers {
            let (local, path) = match specifier {
                ImportSpecifier::Named(named) => {
                    let name = match &named.imported {
                        Some(ModuleExportName::Ident(name)) => name.sym.to_string(),
                        Some(ModuleExportName::Str(name)) => name.value.to_string_lossy().into_owned(),
                        None => named.local.sym.to_string(),
                    };
                    (&named.local, KeyPath::from_iter([Key::Name(name.into())]))
                }
                ImportSpecifier::Default(default) => (&default.local, KeyPath::new()),
                ImportSpecifier::Namespace(all) => (&all.local, KeyPath::new()),
            };
            self.set_value(local, Value::module(&module, path));
        }
    }

    fn collect_assignment(&mut self, assign: &'a AssignExpr) {
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(BindingIdent { id, .. })) => match assign.op {
                AssignOp::Assign | AssignOp::NullishAssign | AssignOp::OrAssign => {
                    self.add_origin(id.to_id(), Origin::Expr(&assign.right, Vec::new(), None));
                }
                AssignOp::AddAssign => {
                    let loops = self.loop_depth;
                    let binding = self.names.by_id.entry(id.to_id()).or_default();
                    binding.writes += 1;
                    // In a loop, the number of repetitions is unknown.
                    if binding.loop_depth == loops {
                        binding.appended.push(&assign.right);
                    }
                }
                _ => self.set_value(id, Value::Unknown),
            },
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                self.collect_member_write(member, &assign.right);
            }
            AssignTarget::Pat(AssignTargetPat::Object(object)) => {
                self.destructure_object(object, &[], &|keys, default| Origin::Expr(&assign.right, keys, default));
            }
            AssignTarget::Pat(AssignTargetPat::Array(array)) => {
                self.destructure_array(array, &[], &|keys, default| Origin::Expr(&assign.right, keys, default));
            }
            AssignTarget::Simple(_) | AssignTarget::Pat(AssignTargetPat::Invalid(_)) => {}
        }
    }

    fn collect_member_write(&mut self, member: &'a MemberExpr, value: &'a Expr) {
        match peel_parens(&member.obj) {
            Expr::Ident(ident) => {
                self.names.by_id.entry(ident.to_id()).or_default().members.push((&member.prop, value));
            }
            Expr::This(_) => {
                if let Some(Allocation::Instance(class) | Allocation::Class(class)) = self.this {
                    self.names.fields.entry(class).or_default().push((&member.prop, value));
                }
            }
            _ => {}
        }
    }

    fn collect_call(&mut self, callee: &'a Expr, args: &'a [ExprOrSpread]) {
        match peel_parens(callee) {
            Expr::Ident(ident) if self.names.is_free(ident) => {}
            Expr::Ident(_) | Expr::Fn(_) | Expr::Arrow(_) => self.calls.push((callee, CallSite::Args(args))),
            Expr::Member(member) => self.collect_method_call(member, args),
            _ => {}
        }
    }

    fn collect_method_call(&mut self, member: &'a MemberExpr, args: &'a [ExprOrSpread]) {
        let MemberProp::Ident(name) = &member.prop else { return };
        let name = &*name.sym;
        let first = args.first().map(|arg| &*arg.expr);
        match (name, first) {
            ("call", _) if !args.is_empty() => self.calls.push((&member.obj, CallSite::Args(&args[1..]))),
            ("then", Some(callback)) => self.calls.push((callback, CallSite::Single(0, &member.obj))),
            ("reduce" | "reduceRight", Some(callback)) => {
                if let Some(start) = args.get(1) {
                    self.calls.push((callback, CallSite::Single(0, &start.expr)));
                }
                self.calls.push((callback, CallSite::Element(1, &member.obj)));
            }
            (name, Some(callback)) if CALLBACK_METHODS.contains(&name) => {
                self.calls.push((callback, CallSite::Element(0, &member.obj)));
            }
            _ => {}
        }
        if let Expr::Ident(ident) = peel_parens(&member.obj)
            && !self.names.is_free(ident)
            && (name == "push" || MUTATING_METHODS.contains(&name))
        {
            let loops = self.loop_depth;
            let binding = self.names.by_id.entry(ident.to_id()).or_default();
            if name == "push" && loops == binding.loop_depth && args.iter().all(|arg| arg.spread.is_none()) {
                binding.pushed.extend(args.iter().map(|arg| &*arg.expr));
            } else {
                binding.is_mutated = true;
            }
        }
    }
}

impl<'a> Visitor<'a> for BindingCollector<'a> {
    fn visit_item(&mut self, item: &'a ModuleItem) {
        match item {
            ModuleItem::ModuleDecl(ModuleDecl::Import(import)) => self.collect_import(import),
            ModuleItem::ModuleDecl(ModuleDecl::TsImportEquals(import)) => match &import.module_ref {
                TsModuleRef::TsExternalModuleRef(module) => {
                    let module = Value::module(&module.expr.value.to_string_lossy(), KeyPath::new());
                    self.set_value(&import.id, module);
                }
                TsModuleRef::TsEntityName(name) => {
                    self.add_origin(import.id.to_id(), Origin::Entity(Box::new(entity_expr(name))));
                }
            },
            ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => {
                if let DefaultDecl::Fn(function) = &export.decl
                    && let Some(ident) = &function.ident
                {
                    self.set_value(ident, Value::root(Root::Literal(Literal::Function)));
                }
                visit::walk_item(self, item);
            }
            _ => visit::walk_item(self, item),
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let looped = match stmt {
            Stmt::ForOf(looped) => {
                if let ForHead::VarDecl(variables) = &looped.left {
                    for declarator in &variables.decls {
                        self.destructure(&declarator.name, &[], &|keys, _| Origin::Element(&looped.right, keys));
                    }
                }
                true
            }
            Stmt::With(with) => {
                self.names.with_scopes.push((with.body.span(), &with.obj));
                false
            }
            Stmt::ForIn(_) | Stmt::For(_) | Stmt::While(_) | Stmt::DoWhile(_) => true,
            Stmt::Try(tried) => {
                if let Some(pat) = tried.handler.as_ref().and_then(|handler| handler.param.as_ref()) {
                    self.set_unknown(pat);
                }
                false
            }
            _ => false,
        };
        if let Stmt::ForOf(swc_ecma_ast::ForOfStmt { left, .. }) | Stmt::ForIn(swc_ecma_ast::ForInStmt { left, .. }) =
            stmt
        {
            match left {
                ForHead::Pat(pat) => self.set_unknown(pat),
                ForHead::VarDecl(variables) if matches!(stmt, Stmt::ForIn(_)) => {
                    variables.decls.iter().for_each(|declarator| self.set_unknown(&declarator.name));
                }
                _ => {}
            }
        }
        self.loop_depth += u32::from(looped);
        visit::walk_stmt(self, stmt);
        self.loop_depth -= u32::from(looped);
    }

    fn visit_decl(&mut self, decl: &'a Decl) {
        match decl {
            // `declare const process` declares an existing global.
            Decl::Var(variables) if variables.declare => {
                for declarator in &variables.decls {
                    if let Some(ident) = declarator.name.as_ident() {
                        self.set_value(ident, Value::global(&ident.sym));
                    }
                }
            }
            Decl::Fn(function) if function.declare => {
                self.set_value(&function.ident, Value::global(&function.ident.sym));
            }
            Decl::Fn(function) => {
                visit::walk_decl(self, decl);
                if let Some(number) = self.names.id_of(&*function.function) {
                    self.set_value(&function.ident, Value::allocated(Literal::Function, Allocation::Function(number)));
                }
            }
            Decl::Class(class) => {
                visit::walk_decl(self, decl);
                if let Some(number) = self.names.id_of(&*class.class) {
                    self.set_value(&class.ident, Value::allocated(Literal::Class, Allocation::Class(number)));
                }
            }
            Decl::TsEnum(declaration) => {
                self.collect_enum(declaration);
                visit::walk_decl(self, decl);
            }
            _ => visit::walk_decl(self, decl),
        }
    }

    fn visit_variables(&mut self, variables: &'a VarDecl) {
        for declarator in &variables.decls {
            if let Some(init) = declarator.init.as_deref() {
                self.destructure(&declarator.name, &[], &|keys, default| Origin::Expr(init, keys, default));
            }
        }
        visit::walk_variables(self, variables);
    }

    fn visit_function(&mut self, function: &'a Function) {
        self.add_function(node_address(function), FunctionDef::from_function(function));
        self.with_this(None, |noting| visit::walk_function(noting, function));
    }

    fn visit_arrow(&mut self, arrow: &'a ArrowExpr) {
        self.add_function(node_address(arrow), FunctionDef::from_arrow(arrow));
        let this = self.this.clone();
        self.with_this(this, |noting| visit::walk_arrow(noting, arrow));
    }

    fn visit_class(&mut self, class: &'a Class) {
        let number = u32::try_from(self.names.classes.len()).unwrap_or(u32::MAX);
        self.names.classes.push(class);
        self.names.ids.insert(node_address(class), number);
        class.decorators.iter().for_each(|decorator| self.visit_expr(&decorator.expr));
        class.super_class.iter().for_each(|parent| self.visit_expr(parent));
        let strict = std::mem::replace(&mut self.is_strict, true);
        for member in &class.body {
            self.collect_class_member(member, number);
        }
        self.is_strict = strict;
    }

    fn visit_object(&mut self, object: &'a ObjectLit) {
        let number = u32::try_from(self.names.objects.len()).unwrap_or(u32::MAX);
        self.names.objects.push(object);
        self.names.ids.insert(node_address(object), number);
        for prop in &object.props {
            let PropOrSpread::Prop(prop) = prop else { continue };
            let function = match &**prop {
                Prop::Method(method) => &method.function,
                Prop::Getter(getter) => &getter.function,
                Prop::Setter(setter) => &setter.function,
                _ => continue,
            };
            self.collect_method(function, Some(Allocation::Object(number)));
        }
        for prop in &object.props {
            match prop {
                PropOrSpread::Spread(spread) => self.visit_expr(&spread.expr),
                PropOrSpread::Prop(prop) => match &**prop {
                    Prop::KeyValue(pair) => self.visit_expr(&pair.value),
                    Prop::Assign(assign) => self.visit_expr(&assign.value),
                    _ => {}
                },
            }
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Assign(assign) => self.collect_assignment(assign),
            Expr::Update(update) => {
                if let Expr::Ident(ident) = peel_parens(&update.arg) {
                    self.set_value(ident, Value::Unknown);
                }
            }
            Expr::Call(CallExpr { callee: Callee::Expr(callee), args, .. }) => self.collect_call(callee, args),
            Expr::Fn(function) => {
                visit::walk_expr(self, expr);
                if let (Some(ident), Some(number)) = (&function.ident, self.names.id_of(&*function.function)) {
                    self.set_value(ident, Value::allocated(Literal::Function, Allocation::Function(number)));
                }
                return;
            }
            Expr::Class(class) => {
                visit::walk_expr(self, expr);
                if let (Some(ident), Some(number)) = (&class.ident, self.names.id_of(&*class.class)) {
                    self.set_value(ident, Value::allocated(Literal::Class, Allocation::Class(number)));
                }
                return;
            }
            Expr::This(this) => {
                if let Some(known) = &self.this {
                    self.names.this.insert(node_address(this), known.clone());
                }
            }
            _ => {}
        }
        visit::walk_expr(self, expr);
    }
}
