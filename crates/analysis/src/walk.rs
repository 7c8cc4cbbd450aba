//! A walk over what runs in a program, types left out, that may keep what it passes.
//!
//! The parser's own visitor lends each node for the time of a call; here a node lives as long as the tree, so names
//! can point at the expressions that they were given instead of copying them.

#![expect(clippy::needless_for_each, reason = "one line for each part of a node")]

use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, AssignTarget, BlockStmt, Callee, Class, ClassMember, Decl, Decorator, DefaultDecl,
    Expr, ExprOrSpread, ForHead, Function, Key, MemberProp, ModuleDecl, ModuleItem, ObjectLit, ObjectPatProp,
    OptChainBase, ParamOrTsParamProp, Pat, Program, Prop, PropName, PropOrSpread, SimpleAssignTarget, Stmt, SuperProp,
    TsModuleDecl, TsNamespaceBody, TsParamPropParam, VarDecl, VarDeclOrExpr,
};

/// Overrides what it is interested in, and goes on with the function of the same name.
pub(crate) trait Walk<'a> {
    fn item(&mut self, item: &'a ModuleItem) {
        walk_item(self, item);
    }
    fn stmt(&mut self, stmt: &'a Stmt) {
        walk_stmt(self, stmt);
    }
    fn decl(&mut self, decl: &'a Decl) {
        walk_decl(self, decl);
    }
    fn variables(&mut self, variables: &'a VarDecl) {
        walk_variables(self, variables);
    }
    fn expr(&mut self, expr: &'a Expr) {
        walk_expr(self, expr);
    }
    fn pat(&mut self, pat: &'a Pat) {
        walk_pat(self, pat);
    }
    fn function(&mut self, function: &'a Function) {
        walk_function(self, function);
    }
    fn arrow(&mut self, arrow: &'a ArrowExpr) {
        walk_arrow(self, arrow);
    }
    fn class(&mut self, class: &'a Class) {
        walk_class(self, class);
    }
    fn object(&mut self, object: &'a ObjectLit) {
        walk_object(self, object);
    }
}

/// Walks a whole program.
pub(crate) fn walk<'a>(program: &'a Program, to: &mut impl Walk<'a>) {
    match program {
        Program::Module(module) => module.body.iter().for_each(|item| to.item(item)),
        Program::Script(script) => script.body.iter().for_each(|stmt| to.stmt(stmt)),
    }
}

pub(crate) fn walk_item<'a>(to: &mut (impl Walk<'a> + ?Sized), item: &'a ModuleItem) {
    match item {
        ModuleItem::Stmt(stmt) => to.stmt(stmt),
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => to.decl(&export.decl),
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultExpr(export)) => to.expr(&export.expr),
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => match &export.decl {
            DefaultDecl::Class(class) => to.class(&class.class),
            DefaultDecl::Fn(function) => to.function(&function.function),
            DefaultDecl::TsInterfaceDecl(_) => {}
        },
        ModuleItem::ModuleDecl(ModuleDecl::TsExportAssignment(export)) => to.expr(&export.expr),
        ModuleItem::ModuleDecl(_) => {}
    }
}

fn walk_block<'a>(to: &mut (impl Walk<'a> + ?Sized), block: &'a BlockStmt) {
    block.stmts.iter().for_each(|stmt| to.stmt(stmt));
}

pub(crate) fn walk_stmt<'a>(to: &mut (impl Walk<'a> + ?Sized), stmt: &'a Stmt) {
    match stmt {
        Stmt::Block(block) => walk_block(to, block),
        Stmt::With(with) => {
            to.expr(&with.obj);
            to.stmt(&with.body);
        }
        Stmt::Return(returned) => returned.arg.iter().for_each(|arg| to.expr(arg)),
        Stmt::Labeled(labelled) => to.stmt(&labelled.body),
        Stmt::If(choice) => {
            to.expr(&choice.test);
            to.stmt(&choice.cons);
            choice.alt.iter().for_each(|alt| to.stmt(alt));
        }
        Stmt::Switch(switch) => {
            to.expr(&switch.discriminant);
            for case in &switch.cases {
                case.test.iter().for_each(|test| to.expr(test));
                case.cons.iter().for_each(|stmt| to.stmt(stmt));
            }
        }
        Stmt::Throw(throw) => to.expr(&throw.arg),
        Stmt::Try(tried) => {
            walk_block(to, &tried.block);
            if let Some(handler) = &tried.handler {
                handler.param.iter().for_each(|pat| to.pat(pat));
                walk_block(to, &handler.body);
            }
            tried.finalizer.iter().for_each(|block| walk_block(to, block));
        }
        Stmt::While(looped) => {
            to.expr(&looped.test);
            to.stmt(&looped.body);
        }
        Stmt::DoWhile(looped) => {
            to.stmt(&looped.body);
            to.expr(&looped.test);
        }
        Stmt::For(looped) => {
            match &looped.init {
                Some(VarDeclOrExpr::VarDecl(variables)) => to.variables(variables),
                Some(VarDeclOrExpr::Expr(expr)) => to.expr(expr),
                None => {}
            }
            looped.test.iter().chain(&looped.update).for_each(|expr| to.expr(expr));
            to.stmt(&looped.body);
        }
        Stmt::ForIn(looped) => {
            walk_head(to, &looped.left);
            to.expr(&looped.right);
            to.stmt(&looped.body);
        }
        Stmt::ForOf(looped) => {
            walk_head(to, &looped.left);
            to.expr(&looped.right);
            to.stmt(&looped.body);
        }
        Stmt::Decl(decl) => to.decl(decl),
        Stmt::Expr(node) => to.expr(&node.expr),
        Stmt::Empty(_) | Stmt::Debugger(_) | Stmt::Break(_) | Stmt::Continue(_) => {}
    }
}

fn walk_head<'a>(to: &mut (impl Walk<'a> + ?Sized), head: &'a ForHead) {
    match head {
        ForHead::VarDecl(variables) => to.variables(variables),
        ForHead::UsingDecl(using) => using.decls.iter().for_each(|declarator| to.pat(&declarator.name)),
        ForHead::Pat(pat) => to.pat(pat),
    }
}

pub(crate) fn walk_decl<'a>(to: &mut (impl Walk<'a> + ?Sized), decl: &'a Decl) {
    match decl {
        Decl::Class(class) if !class.declare => to.class(&class.class),
        Decl::Fn(function) if !function.declare => to.function(&function.function),
        Decl::Var(variables) if !variables.declare => to.variables(variables),
        Decl::Using(using) => {
            for declarator in &using.decls {
                to.pat(&declarator.name);
                declarator.init.iter().for_each(|init| to.expr(init));
            }
        }
        Decl::TsEnum(declaration) => {
            declaration.members.iter().filter_map(|member| member.init.as_ref()).for_each(|init| to.expr(init));
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

fn walk_namespace<'a>(to: &mut (impl Walk<'a> + ?Sized), module: &'a TsModuleDecl) {
    let mut body = module.body.as_ref();
    while let Some(within) = body {
        match within {
            TsNamespaceBody::TsModuleBlock(block) => {
                block.body.iter().for_each(|item| to.item(item));
                return;
            }
            TsNamespaceBody::TsNamespaceDecl(inner) => body = Some(&inner.body),
        }
    }
}

pub(crate) fn walk_variables<'a>(to: &mut (impl Walk<'a> + ?Sized), variables: &'a VarDecl) {
    for declarator in &variables.decls {
        to.pat(&declarator.name);
        declarator.init.iter().for_each(|init| to.expr(init));
    }
}

pub(crate) fn walk_pat<'a>(to: &mut (impl Walk<'a> + ?Sized), pat: &'a Pat) {
    match pat {
        Pat::Array(array) => array.elems.iter().flatten().for_each(|elem| to.pat(elem)),
        Pat::Rest(rest) => to.pat(&rest.arg),
        Pat::Object(object) => {
            for prop in &object.props {
                match prop {
                    ObjectPatProp::KeyValue(pair) => {
                        walk_name(to, &pair.key);
                        to.pat(&pair.value);
                    }
                    ObjectPatProp::Assign(short) => short.value.iter().for_each(|value| to.expr(value)),
                    ObjectPatProp::Rest(rest) => to.pat(&rest.arg),
                }
            }
        }
        Pat::Assign(assign) => {
            to.pat(&assign.left);
            to.expr(&assign.right);
        }
        Pat::Expr(expr) => to.expr(expr),
        Pat::Ident(_) | Pat::Invalid(_) => {}
    }
}

pub(crate) fn walk_name<'a>(to: &mut (impl Walk<'a> + ?Sized), name: &'a PropName) {
    if let PropName::Computed(computed) = name {
        to.expr(&computed.expr);
    }
}

fn walk_args<'a>(to: &mut (impl Walk<'a> + ?Sized), args: &'a [ExprOrSpread]) {
    args.iter().for_each(|arg| to.expr(&arg.expr));
}

fn walk_member_prop<'a>(to: &mut (impl Walk<'a> + ?Sized), prop: &'a MemberProp) {
    if let MemberProp::Computed(computed) = prop {
        to.expr(&computed.expr);
    }
}

pub(crate) fn walk_expr<'a>(to: &mut (impl Walk<'a> + ?Sized), expr: &'a Expr) {
    match expr {
        Expr::Array(array) => array.elems.iter().flatten().for_each(|elem| to.expr(&elem.expr)),
        Expr::Object(object) => to.object(object),
        Expr::Fn(function) => to.function(&function.function),
        Expr::Unary(unary) => to.expr(&unary.arg),
        Expr::Update(update) => to.expr(&update.arg),
        Expr::Bin(binary) => {
            to.expr(&binary.left);
            to.expr(&binary.right);
        }
        Expr::Assign(assign) => {
            walk_target(to, &assign.left);
            to.expr(&assign.right);
        }
        Expr::Member(member) => {
            to.expr(&member.obj);
            walk_member_prop(to, &member.prop);
        }
        Expr::SuperProp(member) => {
            if let SuperProp::Computed(computed) = &member.prop {
                to.expr(&computed.expr);
            }
        }
        Expr::Cond(choice) => {
            to.expr(&choice.test);
            to.expr(&choice.cons);
            to.expr(&choice.alt);
        }
        Expr::Call(call) => {
            if let Callee::Expr(callee) = &call.callee {
                to.expr(callee);
            }
            walk_args(to, &call.args);
        }
        Expr::New(new) => {
            to.expr(&new.callee);
            new.args.iter().for_each(|args| walk_args(to, args));
        }
        Expr::Seq(seq) => seq.exprs.iter().for_each(|expr| to.expr(expr)),
        Expr::Tpl(template) => template.exprs.iter().for_each(|expr| to.expr(expr)),
        Expr::TaggedTpl(tagged) => {
            to.expr(&tagged.tag);
            tagged.tpl.exprs.iter().for_each(|expr| to.expr(expr));
        }
        Expr::Arrow(arrow) => to.arrow(arrow),
        Expr::Class(class) => to.class(&class.class),
        Expr::Yield(yields) => yields.arg.iter().for_each(|arg| to.expr(arg)),
        Expr::Await(waits) => to.expr(&waits.arg),
        Expr::Paren(paren) => to.expr(&paren.expr),
        Expr::TsTypeAssertion(cast) => to.expr(&cast.expr),
        Expr::TsConstAssertion(cast) => to.expr(&cast.expr),
        Expr::TsNonNull(cast) => to.expr(&cast.expr),
        Expr::TsAs(cast) => to.expr(&cast.expr),
        Expr::TsInstantiation(cast) => to.expr(&cast.expr),
        Expr::TsSatisfies(cast) => to.expr(&cast.expr),
        Expr::OptChain(chain) => match &*chain.base {
            OptChainBase::Member(member) => {
                to.expr(&member.obj);
                walk_member_prop(to, &member.prop);
            }
            OptChainBase::Call(call) => {
                to.expr(&call.callee);
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

fn walk_target<'a>(to: &mut (impl Walk<'a> + ?Sized), target: &'a AssignTarget) {
    match target {
        AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
            to.expr(&member.obj);
            walk_member_prop(to, &member.prop);
        }
        AssignTarget::Simple(SimpleAssignTarget::Paren(paren)) => to.expr(&paren.expr),
        AssignTarget::Simple(SimpleAssignTarget::TsAs(cast)) => to.expr(&cast.expr),
        AssignTarget::Simple(SimpleAssignTarget::TsNonNull(cast)) => to.expr(&cast.expr),
        AssignTarget::Simple(_) | AssignTarget::Pat(_) => {}
    }
}

pub(crate) fn walk_object<'a>(to: &mut (impl Walk<'a> + ?Sized), object: &'a ObjectLit) {
    for prop in &object.props {
        match prop {
            PropOrSpread::Spread(spread) => to.expr(&spread.expr),
            PropOrSpread::Prop(prop) => match &**prop {
                Prop::Shorthand(_) => {}
                Prop::KeyValue(pair) => {
                    walk_name(to, &pair.key);
                    to.expr(&pair.value);
                }
                Prop::Assign(assign) => to.expr(&assign.value),
                Prop::Getter(getter) => {
                    walk_name(to, &getter.key);
                    to.function(&getter.function);
                }
                Prop::Setter(setter) => {
                    walk_name(to, &setter.key);
                    to.function(&setter.function);
                }
                Prop::Method(method) => {
                    walk_name(to, &method.key);
                    to.function(&method.function);
                }
            },
        }
    }
}

pub(crate) fn walk_function<'a>(to: &mut (impl Walk<'a> + ?Sized), function: &'a Function) {
    function.params.iter().for_each(|param| to.pat(&param.pat));
    function.body.iter().flat_map(|body| &body.stmts).for_each(|stmt| to.stmt(stmt));
}

pub(crate) fn walk_arrow<'a>(to: &mut (impl Walk<'a> + ?Sized), arrow: &'a ArrowExpr) {
    arrow.params.iter().for_each(|pat| to.pat(pat));
    match &*arrow.body {
        ArrowFunctionBody::FunctionBody(body) => body.stmts.iter().for_each(|stmt| to.stmt(stmt)),
        ArrowFunctionBody::Expr(expr) => to.expr(expr),
    }
}

pub(crate) fn walk_class<'a>(to: &mut (impl Walk<'a> + ?Sized), class: &'a Class) {
    class.decorators.iter().for_each(|decorator| to.expr(&decorator.expr));
    class.super_class.iter().for_each(|parent| to.expr(parent));
    for member in &class.body {
        decorators_of(member).iter().for_each(|decorator| to.expr(&decorator.expr));
        match member {
            ClassMember::Constructor(constructor) => {
                for param in &constructor.params {
                    match param {
                        ParamOrTsParamProp::Param(param) => to.pat(&param.pat),
                        ParamOrTsParamProp::TsParamProp(property) => {
                            if let TsParamPropParam::Assign(assign) = &property.param {
                                to.expr(&assign.right);
                            }
                        }
                    }
                }
                constructor.body.iter().flat_map(|body| &body.stmts).for_each(|stmt| to.stmt(stmt));
            }
            ClassMember::Method(method) => {
                walk_name(to, &method.key);
                to.function(&method.function);
            }
            ClassMember::PrivateMethod(method) => to.function(&method.function),
            ClassMember::ClassProp(property) => {
                walk_name(to, &property.key);
                property.value.iter().for_each(|value| to.expr(value));
            }
            ClassMember::PrivateProp(property) => property.value.iter().for_each(|value| to.expr(value)),
            ClassMember::StaticBlock(block) => walk_block(to, &block.body),
            ClassMember::AutoAccessor(accessor) => {
                if let Key::Public(key) = &accessor.key {
                    walk_name(to, key);
                }
                accessor.value.iter().for_each(|value| to.expr(value));
            }
            ClassMember::TsIndexSignature(_) | ClassMember::Empty(_) => {}
        }
    }
}

/// The decorators of a member.
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

/// The class that an item of a program declares.
pub(crate) fn class_of(item: &ModuleItem) -> Option<&Class> {
    let class = match item {
        ModuleItem::Stmt(stmt) => return class_of_statement(stmt),
        ModuleItem::ModuleDecl(ModuleDecl::ExportDecl(export)) => &export.decl.as_class()?.class,
        ModuleItem::ModuleDecl(ModuleDecl::ExportDefaultDecl(export)) => &export.decl.as_class()?.class,
        ModuleItem::ModuleDecl(_) => return None,
    };
    Some(class)
}

/// The class that a statement declares.
pub(crate) fn class_of_statement(stmt: &Stmt) -> Option<&Class> {
    Some(&stmt.as_decl()?.as_class()?.class)
}
