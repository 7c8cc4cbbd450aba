//! Notes where each name comes from, and what the source makes.

use swc_ecma_ast::{
    ArrowExpr, AssignExpr, AssignOp, AssignTarget, AssignTargetPat, BindingIdent, CallExpr, Callee, Class, Decl,
    DefaultDecl, Expr, ExprOrSpread, ForHead, Function, Id, Ident, ImportDecl, ImportSpecifier, MemberExpr, MemberProp,
    ModuleDecl, ModuleExportName, ModuleItem, ObjectLit, Program, Prop, PropOrSpread, SimpleAssignTarget, Stmt,
    TsModuleRef, VarDecl,
};

use super::{Binding, Given, Lambda, Names, Origin, This, bare, entity, place};
use crate::value::{Key, Known, Literal, Path, Root, Value};
use crate::walk::{self, Walk};
use swc_common::Spanned;

/// Methods that hand the members of what they belong to, one after the other, to their first argument.
pub(super) const EACH: [&str; 10] =
    ["map", "forEach", "filter", "find", "findIndex", "findLast", "some", "every", "flatMap", "sort"];

/// Methods that change a list in place.
const CHANGING: [&str; 7] = ["unshift", "splice", "shift", "pop", "fill", "copyWithin", "sort"];

/// Notes a whole program.
pub(super) fn note<'a>(program: &'a Program, names: Names<'a>) -> Names<'a> {
    let mut noting = Noting { names, calls: Vec::new(), this: None, loops: 0, strict: is_strict(program) };
    walk::walk(program, &mut noting);
    let Noting { mut names, calls, .. } = noting;
    // Which function is called is known when all names are.
    let mut given = Vec::new();
    for (callee, args) in calls {
        if let Some(Known::Function(function)) = names.value(callee).as_known() {
            given.push((*function, args));
        }
    }
    for (function, args) in given {
        names.given.entry(function).or_default().push(args);
    }
    // What was asked on the way was asked before all names were known.
    names.known.get_mut().clear();
    names.settled.get_mut().clear();
    names
}

pub(super) struct Noting<'a> {
    pub(super) names: Names<'a>,
    /// What is called, and with what.
    calls: Vec<(&'a Expr, Given<'a>)>,
    this: Option<Known>,
    /// In how many loops and functions this is.
    loops: u32,
    /// Whether `this` is nothing in a function that is called by its name.
    strict: bool,
}

/// Whether all of a program is strict: a module is, and a script that says so.
fn is_strict(program: &Program) -> bool {
    match program {
        Program::Module(_) => true,
        Program::Script(script) => matches!(script.body.first(), Some(Stmt::Expr(first))
            if first.expr.as_lit().and_then(|lit| lit.as_str()).is_some_and(|text| text.value.as_str() == Some("use strict"))),
    }
}

impl<'a> Noting<'a> {
    pub(super) fn set(&mut self, id: Id, origin: Origin<'a>) {
        let loops = self.loops;
        let binding = self.names.bindings.entry(id).or_insert_with(|| Binding { depth: loops, ..Binding::default() });
        if binding.origin.is_some() {
            binding.writes += 1;
        }
        binding.origin = Some(origin);
    }

    pub(super) fn value(&mut self, ident: &Ident, value: Value) {
        self.set(ident.to_id(), Origin::Value(value));
    }

    pub(super) fn lambda(&mut self, at: usize, mut lambda: Lambda<'a>) -> u32 {
        if self.strict && lambda.this == This::Global {
            lambda.this = This::Nothing;
        }
        let number = u32::try_from(self.names.functions.len()).unwrap_or(u32::MAX);
        self.names.functions.push(lambda);
        self.names.numbers.insert(at, number);
        self.parameters(number);
        number
    }

    pub(super) fn within(&mut self, this: Option<Known>, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.this, this);
        self.loops += 1;
        walk(self);
        self.loops -= 1;
        self.this = before;
    }

    pub(super) fn method(&mut self, function: &'a Function, this: Option<Known>) {
        self.lambda(place(function), Lambda::of_function(function));
        self.within(this, |noting| walk::walk_function(noting, function));
    }

    fn import(&mut self, import: &'a ImportDecl) {
        let module = import.src.value.to_string_lossy();
        for specifier in &import.specifiers {
            let (local, path) = match specifier {
                ImportSpecifier::Named(named) => {
                    let name = match &named.imported {
                        Some(ModuleExportName::Ident(name)) => name.sym.to_string(),
                        Some(ModuleExportName::Str(name)) => name.value.to_string_lossy().into_owned(),
                        None => named.local.sym.to_string(),
                    };
                    (&named.local, Path::from_iter([Key::Name(name.into())]))
                }
                ImportSpecifier::Default(default) => (&default.local, Path::new()),
                ImportSpecifier::Namespace(all) => (&all.local, Path::new()),
            };
            self.value(local, Value::module(&module, path));
        }
    }

    fn assigned(&mut self, assign: &'a AssignExpr) {
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(BindingIdent { id, .. })) => match assign.op {
                AssignOp::Assign | AssignOp::NullishAssign | AssignOp::OrAssign => {
                    self.set(id.to_id(), Origin::Expr(&assign.right, Vec::new(), None));
                }
                AssignOp::AddAssign => {
                    let loops = self.loops;
                    let binding = self.names.bindings.entry(id.to_id()).or_default();
                    binding.writes += 1;
                    // In a loop, it is not known how often.
                    if binding.depth == loops {
                        binding.appended.push(&assign.right);
                    }
                }
                _ => self.value(id, Value::Unknown),
            },
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => self.member_written(member, &assign.right),
            AssignTarget::Pat(AssignTargetPat::Object(object)) => {
                self.taken_by_object(object, &[], &|keys, default| Origin::Expr(&assign.right, keys, default));
            }
            AssignTarget::Pat(AssignTargetPat::Array(array)) => {
                self.taken_by_array(array, &[], &|keys, default| Origin::Expr(&assign.right, keys, default));
            }
            AssignTarget::Simple(_) | AssignTarget::Pat(AssignTargetPat::Invalid(_)) => {}
        }
    }

    fn member_written(&mut self, member: &'a MemberExpr, value: &'a Expr) {
        match bare(&member.obj) {
            Expr::Ident(ident) => {
                self.names.bindings.entry(ident.to_id()).or_default().members.push((&member.prop, value));
            }
            Expr::This(_) => {
                if let Some(Known::Instance(class) | Known::Class(class)) = self.this {
                    self.names.fields.entry(class).or_default().push((&member.prop, value));
                }
            }
            _ => {}
        }
    }

    fn called(&mut self, callee: &'a Expr, args: &'a [ExprOrSpread]) {
        match bare(callee) {
            Expr::Ident(ident) if self.names.is_free(ident) => {}
            Expr::Ident(_) | Expr::Fn(_) | Expr::Arrow(_) => self.calls.push((callee, Given::Args(args))),
            Expr::Member(member) => self.method_called(member, args),
            _ => {}
        }
    }

    fn method_called(&mut self, member: &'a MemberExpr, args: &'a [ExprOrSpread]) {
        let MemberProp::Ident(name) = &member.prop else { return };
        let name = &*name.sym;
        let first = args.first().map(|arg| &*arg.expr);
        match (name, first) {
            ("call", _) if !args.is_empty() => self.calls.push((&member.obj, Given::Args(&args[1..]))),
            ("then", Some(callback)) => self.calls.push((callback, Given::One(0, &member.obj))),
            ("reduce" | "reduceRight", Some(callback)) => {
                if let Some(start) = args.get(1) {
                    self.calls.push((callback, Given::One(0, &start.expr)));
                }
                self.calls.push((callback, Given::Each(1, &member.obj)));
            }
            (name, Some(callback)) if EACH.contains(&name) => {
                self.calls.push((callback, Given::Each(0, &member.obj)));
            }
            _ => {}
        }
        if let Expr::Ident(ident) = bare(&member.obj)
            && !self.names.is_free(ident)
            && (name == "push" || CHANGING.contains(&name))
        {
            let loops = self.loops;
            let binding = self.names.bindings.entry(ident.to_id()).or_default();
            if name == "push" && loops == binding.depth && args.iter().all(|arg| arg.spread.is_none()) {
                binding.pushed.extend(args.iter().map(|arg| &*arg.expr));
            } else {
                binding.tangled = true;
            }
        }
    }
}

impl<'a> Walk<'a> for Noting<'a> {
    fn item(&mut self, item: &'a ModuleItem) {
        match item {
            ModuleItem::ModuleDecl(ModuleDecl::Import(import)) => self.import(import),
            ModuleItem::ModuleDecl(ModuleDecl::TsImportEquals(import)) => match &import.module_ref {
                TsModuleRef::TsExternalModuleRef(module) => {
                    let module = Value::module(&module.expr.value.to_string_lossy(), Path::new());
                    self.value(&import.id, module);
                }
                TsModuleRef::TsEntityName(name) => {
                    self.set(import.id.to_id(), Origin::Entity(Box::new(entity(name))));
                }
            },
            ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => {
                if let DefaultDecl::Fn(function) = &export.decl
                    && let Some(ident) = &function.ident
                {
                    self.value(ident, Value::root(Root::Literal(Literal::Function)));
                }
                walk::walk_item(self, item);
            }
            _ => walk::walk_item(self, item),
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        let looped = match stmt {
            Stmt::ForOf(looped) => {
                if let ForHead::VarDecl(variables) = &looped.left {
                    for declarator in &variables.decls {
                        self.taken(&declarator.name, &[], &|keys, _| Origin::Each(&looped.right, keys));
                    }
                }
                true
            }
            Stmt::With(with) => {
                self.names.withs.push((with.body.span(), &with.obj));
                false
            }
            Stmt::ForIn(_) | Stmt::For(_) | Stmt::While(_) | Stmt::DoWhile(_) => true,
            Stmt::Try(tried) => {
                if let Some(pat) = tried.handler.as_ref().and_then(|handler| handler.param.as_ref()) {
                    self.unknown(pat);
                }
                false
            }
            _ => false,
        };
        if let Stmt::ForOf(swc_ecma_ast::ForOfStmt { left, .. }) | Stmt::ForIn(swc_ecma_ast::ForInStmt { left, .. }) =
            stmt
        {
            match left {
                ForHead::Pat(pat) => self.unknown(pat),
                ForHead::VarDecl(variables) if matches!(stmt, Stmt::ForIn(_)) => {
                    variables.decls.iter().for_each(|declarator| self.unknown(&declarator.name));
                }
                _ => {}
            }
        }
        self.loops += u32::from(looped);
        walk::walk_stmt(self, stmt);
        self.loops -= u32::from(looped);
    }

    fn decl(&mut self, decl: &'a Decl) {
        match decl {
            // `declare const process` says that there is one; it makes none.
            Decl::Var(variables) if variables.declare => {
                for declarator in &variables.decls {
                    if let Some(ident) = declarator.name.as_ident() {
                        self.value(ident, Value::global(&ident.sym));
                    }
                }
            }
            Decl::Fn(function) if function.declare => {
                self.value(&function.ident, Value::global(&function.ident.sym));
            }
            Decl::Fn(function) => {
                walk::walk_decl(self, decl);
                if let Some(number) = self.names.number(&*function.function) {
                    self.value(&function.ident, Value::known(Literal::Function, Known::Function(number)));
                }
            }
            Decl::Class(class) => {
                walk::walk_decl(self, decl);
                if let Some(number) = self.names.number(&*class.class) {
                    self.value(&class.ident, Value::known(Literal::Class, Known::Class(number)));
                }
            }
            Decl::TsEnum(declaration) => {
                self.enumeration(declaration);
                walk::walk_decl(self, decl);
            }
            _ => walk::walk_decl(self, decl),
        }
    }

    fn variables(&mut self, variables: &'a VarDecl) {
        for declarator in &variables.decls {
            if let Some(init) = declarator.init.as_deref() {
                self.taken(&declarator.name, &[], &|keys, default| Origin::Expr(init, keys, default));
            }
        }
        walk::walk_variables(self, variables);
    }

    fn function(&mut self, function: &'a Function) {
        self.lambda(place(function), Lambda::of_function(function));
        self.within(None, |noting| walk::walk_function(noting, function));
    }

    fn arrow(&mut self, arrow: &'a ArrowExpr) {
        self.lambda(place(arrow), Lambda::of_arrow(arrow));
        let this = self.this.clone();
        self.within(this, |noting| walk::walk_arrow(noting, arrow));
    }

    fn class(&mut self, class: &'a Class) {
        let number = u32::try_from(self.names.classes.len()).unwrap_or(u32::MAX);
        self.names.classes.push(class);
        self.names.numbers.insert(place(class), number);
        class.decorators.iter().for_each(|decorator| self.expr(&decorator.expr));
        class.super_class.iter().for_each(|parent| self.expr(parent));
        let strict = std::mem::replace(&mut self.strict, true);
        for member in &class.body {
            self.member_of_class(member, number);
        }
        self.strict = strict;
    }

    fn object(&mut self, object: &'a ObjectLit) {
        let number = u32::try_from(self.names.objects.len()).unwrap_or(u32::MAX);
        self.names.objects.push(object);
        self.names.numbers.insert(place(object), number);
        for prop in &object.props {
            let PropOrSpread::Prop(prop) = prop else { continue };
            let function = match &**prop {
                Prop::Method(method) => &method.function,
                Prop::Getter(getter) => &getter.function,
                Prop::Setter(setter) => &setter.function,
                _ => continue,
            };
            self.method(function, Some(Known::Object(number)));
        }
        for prop in &object.props {
            match prop {
                PropOrSpread::Spread(spread) => self.expr(&spread.expr),
                PropOrSpread::Prop(prop) => match &**prop {
                    Prop::KeyValue(pair) => self.expr(&pair.value),
                    Prop::Assign(assign) => self.expr(&assign.value),
                    _ => {}
                },
            }
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Assign(assign) => self.assigned(assign),
            Expr::Update(update) => {
                if let Expr::Ident(ident) = bare(&update.arg) {
                    self.value(ident, Value::Unknown);
                }
            }
            Expr::Call(CallExpr { callee: Callee::Expr(callee), args, .. }) => self.called(callee, args),
            Expr::Fn(function) => {
                walk::walk_expr(self, expr);
                if let (Some(ident), Some(number)) = (&function.ident, self.names.number(&*function.function)) {
                    self.value(ident, Value::known(Literal::Function, Known::Function(number)));
                }
                return;
            }
            Expr::Class(class) => {
                walk::walk_expr(self, expr);
                if let (Some(ident), Some(number)) = (&class.ident, self.names.number(&*class.class)) {
                    self.value(ident, Value::known(Literal::Class, Known::Class(number)));
                }
                return;
            }
            Expr::This(this) => {
                if let Some(known) = &self.this {
                    self.names.this.insert(place(this), known.clone());
                }
            }
            _ => {}
        }
        walk::walk_expr(self, expr);
    }
}
