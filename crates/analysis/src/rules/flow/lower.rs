//! Lowering: a program as the nodes of a [`Flow`].
//!
//! Invariant: an expression's node comes after the nodes of its parts, and every function body is lowered once.

use std::cell::{Cell, OnceCell};

use rustc_hash::{FxHashMap, FxHashSet};
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, BinaryOp, Callee, Class, Expr, ExprOrSpread, ForInStmt, ForOfStmt, Function, Ident,
    MemberExpr, MemberProp, OptChainBase, Program, ReturnStmt, Tpl, TsPropertySignature, UnaryOp, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::declare::says_number_or_list;
use super::readers::Lists;
use super::{At, Bind, Call, Flow, Key, Kind, Name, Node, Slot};
use crate::names::Names;
use crate::value::Value;

impl<'a> Flow<'a> {
    /// Lowers a program.
    pub(in crate::rules) fn of(program: &Program, names: &'a Names) -> Self {
        // About a node for each seven bytes; moving them to a larger place would cost more than making them.
        let bytes = program.span().hi.0.saturating_sub(program.span().lo.0) as usize;
        let flow = Self {
            names,
            nodes: Vec::with_capacity(bytes / 6),
            binds: Vec::new(),
            writes: Vec::new(),
            compared: Vec::new(),
            computed: Vec::new(),
            numeric: FxHashSet::default(),
            typed: FxHashSet::default(),
            deleted: FxHashSet::default(),
            functions: Vec::new(),
            slots: FxHashMap::default(),
            fields: FxHashMap::default(),
            symbols: Vec::new(),
            by_slot: Lists::default(),
            readers: OnceCell::new(),
            left: Cell::new(0),
        };
        let mut lower = Lower { flow, inside: None };
        program.visit_with(&mut lower);
        lower.flow.link();
        lower.flow
    }
}

pub(super) struct Lower<'a> {
    pub(super) flow: Flow<'a>,
    pub(super) inside: Option<usize>,
}

impl Lower<'_> {
    pub(super) fn node(&mut self, kind: Kind, value: Value, span: Span) -> At {
        self.flow.nodes.push(Node { kind, value, span, inside: self.inside });
        self.flow.nodes.len() - 1
    }

    pub(super) fn plain(&mut self, kind: Kind, span: Span) -> At {
        self.node(kind, Value::Unknown, span)
    }

    pub(super) fn slot(&mut self, ident: &Ident) -> Slot {
        let flow = &mut self.flow;
        let next = flow.symbols.len();
        let slot = *flow.slots.entry(Ident::to_id(ident)).or_insert(next);
        if slot == next {
            flow.symbols.push(ident.sym.clone());
        }
        slot
    }

    pub(super) fn field(&mut self, name: &Name) -> Slot {
        let next = self.flow.symbols.len();
        let slot = *self.flow.fields.entry(Name::clone(name)).or_insert(next);
        if slot == next {
            self.flow.symbols.push(Name::clone(name));
        }
        slot
    }

    pub(super) fn bind(&mut self, to: Slot, from: At) {
        self.flow.binds.push(Bind { to, from, holds: false });
    }

    /// Notes that whatever an object is reached from has something in it.
    pub(super) fn hold(&mut self, object: At, value: At) {
        let mut at = object;
        loop {
            match &self.flow.nodes[at].kind {
                Kind::Member(of, key) => {
                    let (of, key) = (*of, key.clone());
                    if let Key::Named(name) = &key {
                        let to = self.field(name);
                        self.flow.binds.push(Bind { to, from: value, holds: true });
                    }
                    at = of;
                }
                Kind::Name(slot) => {
                    let to = *slot;
                    return self.flow.binds.push(Bind { to, from: value, holds: true });
                }
                _ => return,
            }
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> At {
        let span = expr.span();
        match expr {
            Expr::Paren(paren) => self.expr(&paren.expr),
            Expr::TsAs(cast) => self.expr(&cast.expr),
            Expr::TsNonNull(cast) => self.expr(&cast.expr),
            Expr::TsSatisfies(cast) => self.expr(&cast.expr),
            Expr::TsConstAssertion(cast) => self.expr(&cast.expr),
            Expr::TsTypeAssertion(cast) => self.expr(&cast.expr),
            Expr::Await(waits) => self.expr(&waits.arg),
            Expr::Lit(_) => self.node(Kind::Opaque, self.flow.names.value(expr), span),
            Expr::Ident(ident) => {
                let slot = self.slot(ident);
                self.node(Kind::Name(slot), self.flow.names.value(expr), span)
            }
            Expr::This(_) => self.plain(Kind::This, span),
            Expr::Member(member) => self.member(member, expr),
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => self.member(member, expr),
                OptChainBase::Call(call) => self.call(&call.callee, &call.args, expr),
            },
            Expr::Call(call) => match &call.callee {
                Callee::Expr(callee) => self.call(callee, &call.args, expr),
                _ => self.others(expr),
            },
            Expr::New(new) => self.call(&new.callee, new.args.as_deref().unwrap_or_default(), expr),
            Expr::Tpl(template) => self.template(template, expr),
            Expr::TaggedTpl(tagged) => {
                let args = tagged.tpl.exprs.iter().map(|expr| ExprOrSpread { spread: None, expr: expr.clone() });
                self.call(&tagged.tag, &args.collect::<Vec<_>>(), expr)
            }
            Expr::Fn(function) => {
                let at = self.function(&function.function);
                if let Some(name) = &function.ident {
                    let slot = self.slot(name);
                    self.bind(slot, at);
                }
                at
            }
            Expr::Arrow(arrow) => self.arrow(arrow),
            Expr::Class(class) => self.class(&class.class),
            Expr::Object(object) => {
                let props: Vec<(Key, At)> = object.props.iter().map(|prop| self.prop(prop)).collect();
                self.plain(Kind::Object(props), span)
            }
            Expr::Array(list) => {
                let elems = list.elems.iter().flatten().map(|elem| self.expr(&elem.expr)).collect();
                let value = if list.elems.len() <= 64 { self.flow.names.value(expr) } else { Value::Unknown };
                self.node(Kind::List(elems), value, span)
            }
            Expr::Bin(binary) => {
                let (left, right) = (self.expr(&binary.left), self.expr(&binary.right));
                self.binary(binary.op, left, right, expr)
            }
            Expr::Cond(choice) => {
                self.expr(&choice.test);
                let of = vec![self.expr(&choice.cons), self.expr(&choice.alt)];
                self.plain(Kind::Either(of), span)
            }
            Expr::Seq(seq) => {
                let all: Vec<At> = seq.exprs.iter().map(|expr| self.expr(expr)).collect();
                self.plain(Kind::Either(all.last().copied().into_iter().collect()), span)
            }
            Expr::Assign(assign) => self.assign(assign),
            Expr::Unary(unary) => {
                let at = self.expr(&unary.arg);
                if let (UnaryOp::Delete, Kind::Member(object, _)) = (unary.op, &self.flow.nodes[at].kind)
                    && let Kind::Name(slot) = self.flow.nodes[*object].kind
                {
                    self.flow.deleted.insert(slot);
                }
                if matches!(unary.op, UnaryOp::Minus | UnaryOp::Plus | UnaryOp::Tilde) {
                    self.reckoned(at);
                }
                self.node(Kind::Computed, self.flow.names.value(expr), span)
            }
            Expr::Update(update) => {
                let at = self.expr(&update.arg);
                self.reckoned(at);
                self.plain(Kind::Computed, span)
            }
            Expr::Yield(yields) => match &yields.arg {
                Some(arg) => {
                    let value = self.expr(arg);
                    self.returned(value);
                    value
                }
                None => self.plain(Kind::Opaque, span),
            },
            _ => self.others(expr),
        }
    }

    fn arrow(&mut self, arrow: &ArrowExpr) -> At {
        let (at, function) = self.open(arrow.span);
        let outer = self.inside.replace(function);
        self.params(function, arrow.params.iter());
        match &*arrow.body {
            ArrowFunctionBody::FunctionBody(body) => body.visit_with(self),
            ArrowFunctionBody::Expr(body) => {
                let value = self.expr(body);
                self.flow.functions[function].returns.push(value);
            }
        }
        self.inside = outer;
        at
    }

    fn others(&mut self, expr: &Expr) -> At {
        expr.visit_children_with(self);
        self.plain(Kind::Opaque, expr.span())
    }

    fn returned(&mut self, value: At) {
        if let Some(function) = self.inside {
            self.flow.functions[function].returns.push(value);
        }
    }

    fn binary(&mut self, op: BinaryOp, left: At, right: At, expr: &Expr) -> At {
        let span = expr.span();
        match op {
            BinaryOp::LogicalOr | BinaryOp::NullishCoalescing => self.plain(Kind::Either(vec![left, right]), span),
            BinaryOp::LogicalAnd => self.plain(Kind::Either(vec![right]), span),
            BinaryOp::Add => {
                let number = |at: At| self.flow.nodes[at].value.as_number().is_some();
                let (first, second) = (number(left), number(right));
                if first || second {
                    self.reckoned(left);
                    self.reckoned(right);
                }
                self.node(Kind::Joined(vec![left, right]), self.flow.names.value(expr), span)
            }
            _ => {
                self.flow.compared.push((left, right));
                if !matches!(
                    op,
                    BinaryOp::EqEq
                        | BinaryOp::EqEqEq
                        | BinaryOp::NotEq
                        | BinaryOp::NotEqEq
                        | BinaryOp::In
                        | BinaryOp::InstanceOf
                ) {
                    self.reckoned(left);
                    self.reckoned(right);
                }
                self.plain(Kind::Computed, span)
            }
        }
    }

    /// Notes that a name is reckoned with.
    fn reckoned(&mut self, at: At) {
        match &self.flow.nodes[at].kind {
            Kind::Name(slot) => {
                self.flow.numeric.insert(*slot);
            }
            Kind::Member(_, Key::Named(name)) => {
                let name = Name::clone(name);
                self.flow.typed.insert(name);
            }
            _ => {}
        }
    }

    fn template(&mut self, template: &Tpl, expr: &Expr) -> At {
        let mut of = Vec::new();
        for (index, quasi) in template.quasis.iter().enumerate() {
            let text = quasi.cooked.as_ref().map(|cooked| cooked.to_string_lossy()).unwrap_or_default();
            if !text.is_empty() {
                of.push(self.node(Kind::Opaque, Value::text(&text), quasi.span));
            }
            if let Some(expr) = template.exprs.get(index) {
                of.push(self.expr(expr));
            }
        }
        // `${key}` is the key.
        let alone = of.len() == 1 && template.exprs.len() == 1;
        let kind = if alone { Kind::Either(of) } else { Kind::Joined(of) };
        self.node(kind, self.flow.names.value(expr), expr.span())
    }

    pub(super) fn key(&mut self, prop: &MemberProp) -> Key {
        match prop {
            MemberProp::Ident(name) => Key::Named(name.sym.clone()),
            MemberProp::PrivateName(name) => Key::Named(format!("#{}", name.name).into()),
            MemberProp::Computed(computed) => {
                let at = self.expr(&computed.expr);
                self.flow.computed.push(at);
                match self.flow.names.value(&computed.expr).string() {
                    Some(name) => Key::Named(name.into()),
                    None => Key::Computed(at),
                }
            }
        }
    }

    fn member(&mut self, member: &MemberExpr, whole: &Expr) -> At {
        let object = self.expr(&member.obj);
        let key = self.key(&member.prop);
        self.node(Kind::Member(object, key), self.flow.names.value(whole), member.span)
    }

    fn call(&mut self, callee: &Expr, args: &[ExprOrSpread], whole: &Expr) -> At {
        let callee = self.expr(callee);
        let args: Vec<At> = args.iter().map(|arg| self.expr(&arg.expr)).collect();
        let (receiver, method) = match &self.flow.nodes[callee].kind {
            Kind::Member(object, Key::Named(name)) => (Some(*object), Some(Name::clone(name))),
            Kind::Member(object, _) => (Some(*object), None),
            _ => (None, None),
        };
        if let (Some(receiver), Some("push" | "unshift" | "set" | "append" | "add" | "enqueue")) =
            (receiver, method.as_deref())
        {
            for arg in &args {
                self.hold(receiver, *arg);
            }
        }
        let new = matches!(whole, Expr::New(_));
        let (returns, callbacks, functions) = (Vec::new(), Vec::new(), Vec::new());
        let call = Box::new(Call { callee, receiver, method, args, new, returns, callbacks, functions });
        self.node(Kind::Call(call), self.flow.names.value(whole), whole.span())
    }
}

impl Visit for Lower<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        self.expr(expr);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        let from = match &declarator.init {
            Some(init) => self.expr(init),
            None => return,
        };
        self.pattern(&declarator.name, from);
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        let list = self.expr(&node.right);
        let from = self.plain(Kind::Element(list), node.span);
        self.head(&node.left, from);
        node.body.visit_with(self);
    }

    fn visit_for_in_stmt(&mut self, node: &ForInStmt) {
        let object = self.expr(&node.right);
        let from = self.plain(Kind::KeyOf(object), node.span);
        self.head(&node.left, from);
        node.body.visit_with(self);
    }

    fn visit_return_stmt(&mut self, node: &ReturnStmt) {
        if let Some(arg) = &node.arg {
            let value = self.expr(arg);
            self.returned(value);
        }
    }

    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        let at = self.function(&decl.function);
        let slot = self.slot(&decl.ident);
        self.bind(slot, at);
    }

    fn visit_function(&mut self, function: &Function) {
        self.function(function);
    }

    fn visit_class_decl(&mut self, decl: &swc_ecma_ast::ClassDecl) {
        let at = self.class(&decl.class);
        let slot = self.slot(&decl.ident);
        self.bind(slot, at);
    }

    fn visit_class(&mut self, class: &Class) {
        self.class(class);
    }

    fn visit_ts_property_signature(&mut self, property: &TsPropertySignature) {
        if let (Some(ann), Expr::Ident(name)) = (&property.type_ann, &*property.key)
            && says_number_or_list(ann)
        {
            self.flow.typed.insert(name.sym.clone());
        }
        property.type_ann.visit_with(self);
    }
}
