//! A visitor of the code that runs in a program, without types, which may keep references to the
//! nodes.
//!
//! The visitor of the parser lends each node for the duration of a call. Here nodes live as long as
//! the tree, so bindings can refer to expressions without copying them.

#![expect(clippy::needless_for_each, reason = "one line for each part of a node")]

use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, AssignTarget, BlockStmt, Callee, Class, ClassMember, Decl, Decorator, DefaultDecl,
    Expr, ExprOrSpread, ForHead, Function, Key, MemberProp, ModuleDecl, ModuleItem, ObjectLit, ObjectPatProp,
    OptChainBase, ParamOrTsParamProp, Pat, Program, Prop, PropName, PropOrSpread, SimpleAssignTarget, Stmt, SuperProp,
    TsModuleDecl, TsNamespaceBody, TsParamPropParam, VarDecl, VarDeclOrExpr,
};

/// Implementors override the methods of interest, and continue with the `walk_` function of the
/// node.
pub(crate) trait Visitor<'a> {
    fn visit_item(&mut self, item: &'a ModuleItem) {
        walk_item(self, item);
    }
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        walk_stmt(self, stmt);
    }
    fn visit_decl(&mut self, decl: &'a Decl) {
        walk_decl(self, decl);
    }
    fn visit_variables(&mut self, variables: &'a VarDecl) {
        walk_variables(self, variables);
    }
    fn visit_expr(&mut self, expr: &'a Expr) {
        walk_expr(self, expr);
    }
    fn visit_pat(&mut self, pat: &'a Pat) {
        walk_pat(self, pat);
    }
    fn visit_function(&mut self, function: &'a Function) {
        walk_function(self, function);
    }
    fn visit_arrow(&mut self, arrow: &'a ArrowExpr) {
        walk_arrow(self, arrow);
    }
    fn visit_class(&mut self, class: &'a Class) {
        walk_class(self, class);
    }
    fn visit_object(&mut self, object: &'a ObjectLit) {
        walk_object(self, object);
    }
}

/// Visits a whole program.
pub(crate) fn walk_program<'a>(program: &'a Program, to: &mut impl Visitor<'a>) {
    match program {
        Program::Module(module) => module.body.iter().for_each(|item| to.visit_item(item)),
        Program::Script(script) => script.body.iter().for_each(|stmt| to.visit_stmt(stmt)),
    }
}

pub(crate) fn walk_item<'a>(to: &mut (impl Visitor<'a> + ?Sized), item: &'a ModuleItem) {
    match item {
        ModuleItem::Stmt(stmt) => to.visit_stmt(stmt),
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => to.visit_decl(&export.decl),
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(export)) => to.visit_expr(&export.expr),
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => match &export.decl {
            DefaultDecl::Class(class) => to.visit_class(&class.class),
            DefaultDecl::Fn(function) => to.visit_function(&function.function),
            DefaultDecl::TsInterfaceDecl(_) => {}
        },
        ModuleItem::ModuleDecl(ModuleDecl::TsExportAssignment(export)) => to.visit_expr(&export.expr),
        ModuleItem::ModuleDecl(_) => {}
    }
}

fn walk_block<'a>(to: &mut (impl Visitor<'a> + ?Sized), block: &'a BlockStmt) {
    block.stmts.iter().for_each(|stmt| to.visit_stmt(stmt));
}

pub(crate) fn walk_stmt<'a>(to: &mut (impl Visitor<'a> + ?Sized), stmt: &'a Stmt) {
    match stmt {
        Stmt::Block(block) => walk_block(to, block),
        Stmt::With(with) => {
            to.visit_expr(&with.obj);
            to.visit_stmt(&with.body);
        }
        Stmt::Return(returned) => returned.arg.iter().for_each(|arg| to.visit_expr(arg)),
        Stmt::Labeled(labelled) => to.visit_stmt(&labelled.body),
        Stmt::If(choice) => {
            to.visit_expr(&choice.test);
            to.visit_stmt(&choice.cons);
            choice.alt.iter().for_each(|alt| to.visit_stmt(alt));
        }
        Stmt::Switch(switch) => {
            to.visit_expr(&switch.discriminant);
            for case in &switch.cases {
                case.test.iter().for_each(|test| to.visit_expr(test));
                case.cons.iter().for_each(|stmt| to.visit_stmt(stmt));
            }
        }
        Stmt::Throw(throw) => to.visit_expr(&throw.arg),
        Stmt::Try(tried) => {
            walk_block(to, &tried.block);
            if let Some(handler) = &tried.handler {
                handler.param.iter().for_each(|pat| to.visit_pat(pat));
                walk_block(to, &handler.body);
            }
            tried.finalizer.iter().for_each(|block| walk_block(to, block));
        }
        Stmt::While(looped) => {
            to.visit_expr(&looped.test);
            to.visit_stmt(&looped.body);
        }
        Stmt::DoWhile(looped) => {
            to.visit_stmt(&looped.body);
            to.visit_expr(&looped.test);
        }
        Stmt::For(looped) => {
            match &looped.init {
                Some(VarDeclOrExpr::VarDecl(variables)) => to.visit_variables(variables),
                Some(VarDeclOrExpr::Expr(expr)) => to.visit_expr(expr),
                None => {}
            }
            looped.test.iter().chain(&looped.update).for_each(|expr| to.visit_expr(expr));
            to.visit_stmt(&looped.body);
        }
        Stmt::ForIn(looped) => {
            walk_for_head(to, &looped.left);
            to.visit_expr(&looped.right);
            to.visit_stmt(&looped.body);
        }
        Stmt::ForOf(looped) => {
            walk_for_head(to, &looped.left);
            to.visit_expr(&looped.right);
            to.visit_stmt(&looped.body);
        }
        Stmt::Decl(decl) => to.visit_decl(decl),
        Stmt::Expr(node) => to.visit_expr(&node.expr),
        Stmt::Empty(_) | Stmt::Debugger(_) | Stmt::Break(_) | Stmt::Continue(_) => {}
    }
}

fn walk_for_head<'a>(to: &mut (impl Visitor<'a> + ?Sized), head: &'a ForHead) {
    match head {
        ForHead::VarDecl(variables) => to.visit_variables(variables),
        ForHead::UsingDecl(using) => using.decls.iter().for_each(|declarator| to.visit_pat(&declarator.name)),
        ForHead::Pat(pat) => to.visit_pat(pat),
    }
}

pub(crate) fn walk_decl<'a>(to: &mut (impl Visitor<'a> + ?Sized), decl: &'a Decl) {
    match decl {
        Decl::Class(class) if !class.declare => to.visit_class(&class.class),
        Decl::Fn(function) if !function.declare => to.visit_function(&function.function),
        Decl::Var(variables) if !variables.declare => to.visit_variables(variables),
        Decl::Using(using) => {
            for declarator in &using.decls {
                to.visit_pat(&declarator.name);
                declarator.init.iter().for_each(|init| to.visit_expr(init));
            }
        }
        Decl::TsEnum(declaration) => {
            declaration.members.iter().filter_map(|member| member.init.as_ref()).for_each(|init| to.visit_expr(init));
        }
        Decl::TsModule(module) if !module.declare => walk_namespace(to, module),
        Decl::Class(_)
        | Decl::Fn(_)
        | Decl::Var(_)
        | Decl::TsModule(_)
        | Decl::TsInterface(_)
        | Decl::TsTypeAlias(_) => {}
    }
}

fn walk_namespace<'a>(to: &mut (impl Visitor<'a> + ?Sized), module: &'a TsModuleDecl) {
    let mut body = module.body.as_ref();
    while let Some(within) = body {
        match within {
            TsNamespaceBody::TsModuleBlock(block) => {
                block.body.iter().for_each(|item| to.visit_item(item));
                return;
            }
            TsNamespaceBody::TsNamespaceDecl(inner) => body = Some(&inner.body),
        }
    }
}

pub(crate) fn walk_variables<'a>(to: &mut (impl Visitor<'a> + ?Sized), variables: &'a VarDecl) {
    for declarator in &variables.decls {
        to.visit_pat(&declarator.name);
        declarator.init.iter().for_each(|init| to.visit_expr(init));
    }
}

pub(crate) fn walk_pat<'a>(to: &mut (impl Visitor<'a> + ?Sized), pat: &'a Pat) {
    match pat {
        Pat::Array(array) => array.elems.iter().flatten().for_each(|elem| to.visit_pat(elem)),
        Pat::Rest(rest) => to.visit_pat(&rest.arg),
        Pat::Object(object) => {
            for prop in &object.props {
                match prop {
                    ObjectPatProp::KeyValue(pair) => {
                        walk_prop_name(to, &pair.key);
                        to.visit_pat(&pair.value);
                    }
                    ObjectPatProp::Assign(short) => short.value.iter().for_each(|value| to.visit_expr(value)),
                    ObjectPatProp::Rest(rest) => to.visit_pat(&rest.arg),
                }
            }
        }
        Pat::Assign(assign) => {
            to.visit_pat(&assign.left);
            to.visit_expr(&assign.right);
        }
        Pat::Expr(expr) => to.visit_expr(expr),
        Pat::Ident(_) | Pat::Invalid(_) => {}
    }
}

pub(crate) fn walk_prop_name<'a>(to: &mut (impl Visitor<'a> + ?Sized), name: &'a PropName) {
    if let PropName::Computed(computed) = name {
        to.visit_expr(&computed.expr);
    }
}

fn walk_args<'a>(to: &mut (impl Visitor<'a> + ?Sized), args: &'a [ExprOrSpread]) {
    args.iter().for_each(|arg| to.visit_expr(&arg.expr));
}

fn walk_member_prop<'a>(to: &mut (impl Visitor<'a> + ?Sized), prop: &'a MemberProp) {
    if let MemberProp::Computed(computed) = prop {
        to.visit_expr(&computed.expr);
    }
}

pub(crate) fn walk_expr<'a>(to: &mut (impl Visitor<'a> + ?Sized), expr: &'a Expr) {
    match expr {
        Expr::Array(array) => array.elems.iter().flatten().for_each(|elem| to.visit_expr(&elem.expr)),
        Expr::Object(object) => to.visit_object(object),
        Expr::Fn(function) => to.visit_function(&function.function),
        Expr::Unary(unary) => to.visit_expr(&unary.arg),
        Expr::Update(update) => to.visit_expr(&update.arg),
        Expr::Bin(binary) => {
            to.visit_expr(&binary.left);
            to.visit_expr(&binary.right);
        }
        Expr::Assign(assign) => {
            walk_target(to, &assign.left);
            to.visit_expr(&assign.right);
        }
        Expr::Member(member) => {
            to.visit_expr(&member.obj);
            walk_member_prop(to, &member.prop);
        }
        Expr::SuperProp(member) => {
            if let SuperProp::Computed(computed) = &member.prop {
                to.visit_expr(&computed.expr);
            }
        }
        Expr::Cond(choice) => {
            to.visit_expr(&choice.test);
            to.visit_expr(&choice.cons);
            to.visit_expr(&choice.alt);
        }
        Expr::Call(call) => {
            if let Callee::Expr(callee) = &call.callee {
                to.visit_expr(callee);
            }
            walk_args(to, &call.args);
        }
        Expr::New(new) => {
            to.visit_expr(&new.callee);
            new.args.iter().for_each(|args| walk_args(to, args));
        }
        Expr::Seq(seq) => seq.exprs.iter().for_each(|expr| to.visit_expr(expr)),
        Expr::Tpl(template) => template.exprs.iter().for_each(|expr| to.visit_expr(expr)),
        Expr::TaggedTpl(tagged) => {
            to.visit_expr(&tagged.tag);
            tagged.tpl.exprs.iter().for_each(|expr| to.visit_expr(expr));
        }
        Expr::Arrow(arrow) => to.visit_arrow(arrow),
        Expr::Class(class) => to.visit_class(&class.class),
        Expr::Yield(yields) => yields.arg.iter().for_each(|arg| to.visit_expr(arg)),
        Expr::Await(waits) => to.visit_expr(&waits.arg),
        Expr::Paren(paren) => to.visit_expr(&paren.expr),
        Expr::TsTypeAssertion(cast) => to.visit_expr(&cast.expr),
        Expr::TsConstAssertion(cast) => to.visit_expr(&cast.expr),
        Expr::TsNonNull(cast) => to.visit_expr(&cast.expr),
        Expr::TsAs(cast) => to.visit_expr(&cast.expr),
        Expr::TsInstantiation(cast) => to.visit_expr(&cast.expr),
        Expr::TsSatisfies(cast) => to.visit_expr(&cast.expr),
        Expr::OptChain(chain) => match &*chain.base {
            OptChainBase::Member(member) => {
                to.visit_expr(&member.obj);
                walk_member_prop(to, &member.prop);
            }
            OptChainBase::Call(call) => {
                to.visit_expr(&call.callee);
                walk_args(to, &call.args);
            }
        },
        Expr::This(_)
        | Expr::Ident(_)
        | Expr::Lit(_)
        | Expr::MetaProp(_)
        | Expr::PrivateName(_)
        | Expr::JSXMember(_)
        | Expr::JSXNamespacedName(_)
        | Expr::JSXEmpty(_)
        | Expr::JSXElement(_)
        | Expr::JSXFragment(_)
        | Expr::Invalid(_) => {}
    }
}

fn walk_target<'a>(to: &mut (impl Visitor<'a> + ?Sized), target: &'a AssignTarget) {
    match target {
        AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
            to.visit_expr(&member.obj);
            walk_member_prop(to, &member.prop);
        }
        AssignTarget::Simple(SimpleAssignTarget::Paren(paren)) => to.visit_expr(&paren.expr),
        AssignTarget::Simple(SimpleAssignTarget::TsAs(cast)) => to.visit_expr(&cast.expr),
        AssignTarget::Simple(SimpleAssignTarget::TsNonNull(cast)) => to.visit_expr(&cast.expr),
        AssignTarget::Simple(_) | AssignTarget::Pat(_) => {}
    }
}

pub(crate) fn walk_object<'a>(to: &mut (impl Visitor<'a> + ?Sized), object: &'a ObjectLit) {
    for prop in &object.props {
        match prop {
            PropOrSpread::Spread(spread) => to.visit_expr(&spread.expr),
            PropOrSpread::Prop(prop) => match &**prop {
                Prop::Shorthand(_) => {}
                Prop::KeyValue(pair) => {
                    walk_prop_name(to, &pair.key);
                    to.visit_expr(&pair.value);
                }
                Prop::Assign(assign) => to.visit_expr(&assign.value),
                Prop::Getter(getter) => {
                    walk_prop_name(to, &getter.key);
                    to.visit_function(&getter.function);
                }
                Prop::Setter(setter) => {
                    walk_prop_name(to, &setter.key);
                    to.visit_function(&setter.function);
                }
                Prop::Method(method) => {
                    walk_prop_name(to, &method.key);
                    to.visit_function(&method.function);
                }
            },
        }
    }
}

pub(crate) fn walk_function<'a>(to: &mut (impl Visitor<'a> + ?Sized), function: &'a Function) {
    function.params.iter().for_each(|param| to.visit_pat(&param.pat));
    function.body.iter().flat_map(|body| &body.stmts).for_each(|stmt| to.visit_stmt(stmt));
}

pub(crate) fn walk_arrow<'a>(to: &mut (impl Visitor<'a> + ?Sized), arrow: &'a ArrowExpr) {
    arrow.params.iter().for_each(|pat| to.visit_pat(pat));
    match &*arrow.body {
        ArrowFunctionBody::FunctionBody(body) => body.stmts.iter().for_each(|stmt| to.visit_stmt(stmt)),
        ArrowFunctionBody::Expr(expr) => to.visit_expr(expr),
    }
}

pub(crate) fn walk_class<'a>(to: &mut (impl Visitor<'a> + ?Sized), class: &'a Class) {
    class.decorators.iter().for_each(|decorator| to.visit_expr(&decorator.expr));
    class.super_class.iter().for_each(|parent| to.visit_expr(parent));
    for member in &class.body {
        decorators_of(member).iter().for_each(|decorator| to.visit_expr(&decorator.expr));
        match member {
            ClassMember::Constructor(constructor) => {
                for param in &constructor.params {
                    match param {
                        ParamOrTsParamProp::Param(param) => to.visit_pat(&param.pat),
                        ParamOrTsParamProp::TsParamProp(property) => {
                            if let TsParamPropParam::Assign(assign) = &property.param {
                                to.visit_expr(&assign.right);
                            }
                        }
                    }
                }
                constructor.body.iter().flat_map(|body| &body.stmts).for_each(|stmt| to.visit_stmt(stmt));
            }
            ClassMember::Method(method) => {
                walk_prop_name(to, &method.key);
                to.visit_function(&method.function);
            }
            ClassMember::PrivateMethod(method) => to.visit_function(&method.function),
            ClassMember::ClassProp(property) => {
                walk_prop_name(to, &property.key);
                property.value.iter().for_each(|value| to.visit_expr(value));
            }
            ClassMember::PrivateProp(property) => property.value.iter().for_each(|value| to.visit_expr(value)),
            ClassMember::StaticBlock(block) => walk_block(to, &block.body),
            ClassMember::AutoAccessor(accessor) => {
                if let Key::Public(key) = &accessor.key {
                    walk_prop_name(to, key);
                }
                accessor.value.iter().for_each(|value| to.visit_expr(value));
            }
            ClassMember::TsIndexSignature(_) | ClassMember::Empty(_) => {}
        }
    }
}

/// Returns the decorators of a class member.
pub(crate) fn decorators_of(member: &ClassMember) -> &[Decorator] {
    match member {
        ClassMember::Method(method) => &method.function.decorators,
        ClassMember::PrivateMethod(method) => &method.function.decorators,
        ClassMember::ClassProp(property) => &property.decorators,
        ClassMember::PrivateProp(property) => &property.decorators,
        ClassMember::AutoAccessor(accessor) => &accessor.decorators,
        _ => &[],
    }
}

/// Returns the class that an item of a program declares.
pub(crate) fn class_of_item(item: &ModuleItem) -> Option<&Class> {
    let class = match item {
        ModuleItem::Stmt(stmt) => return class_of_statement(stmt),
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => &export.decl.as_class()?.class,
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => &export.decl.as_class()?.class,
        ModuleItem::ModuleDecl(_) => return None,
    };
    Some(class)
}

/// Returns the class that a statement declares.
pub(crate) fn class_of_statement(stmt: &Stmt) -> Option<&Class> {
    Some(&stmt.as_decl()?.as_class()?.class)
}
