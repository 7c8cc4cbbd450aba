//! Lowering of a program to the nodes of a [`DataFlow`].
//!
//! Invariant: an expression's node comes after the nodes of its parts, and every function body is
//! lowered once.

use std::cell::{Cell, OnceCell};

use rustc_hash::{FxHashMap, FxHashSet};
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, BinaryOp, Callee, Class, Expr, ExprOrSpread, ForInStmt, ForOfStmt, Function, Ident,
    MemberExpr, MemberProp, OptChainBase, Program, ReturnStmt, Tpl, TsPropertySignature, UnaryOp, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::declare::is_number_or_list_type;
use super::def_use::IndexLists;
use super::{Assign, Call, DataFlow, MemberKey, Name, Node, NodeId, NodeKind, VarId};
use crate::bindings::Bindings;
use crate::value::Value;

impl<'a> DataFlow<'a> {
    /// Lowers a program.
    pub(in crate::rules) fn lower(program: &Program, names: &'a Bindings) -> Self {
        // A source has about one node for each seven bytes; reallocating the list would cost more
        // than filling it.
        let bytes = program.span().hi.0.saturating_sub(program.span().lo.0) as usize;
        let flow = Self {
            names,
            nodes: Vec::with_capacity(bytes / 6),
            assigns: Vec::new(),
            writes: Vec::new(),
            comparisons: Vec::new(),
            computed_keys: Vec::new(),
            numeric_vars: FxHashSet::default(),
            typed_names: FxHashSet::default(),
            deleted_vars: FxHashSet::default(),
            functions: Vec::new(),
            vars: FxHashMap::default(),
            fields: FxHashMap::default(),
            var_names: Vec::new(),
            values_by_var: IndexLists::default(),
            def_use: OnceCell::new(),
            query_steps: Cell::new(0),
        };
        let mut lower = FlowLowering { flow, function: None };
        program.visit_with(&mut lower);
        lower.flow.link_calls();
        lower.flow
    }
}

pub(super) struct FlowLowering<'a> {
    pub(super) flow: DataFlow<'a>,
    pub(super) function: Option<usize>,
}

impl FlowLowering<'_> {
    pub(super) fn add_node(&mut self, kind: NodeKind, value: Value, span: Span) -> NodeId {
        self.flow.nodes.push(Node { kind, value, span, function: self.function });
        self.flow.nodes.len() - 1
    }

    pub(super) fn add_plain_node(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.add_node(kind, Value::Unknown, span)
    }

    pub(super) fn var(&mut self, ident: &Ident) -> VarId {
        let flow = &mut self.flow;
        let next = flow.var_names.len();
        let slot = *flow.vars.entry(Ident::to_id(ident)).or_insert(next);
        if slot == next {
            flow.var_names.push(ident.sym.clone());
        }
        slot
    }

    pub(super) fn field_var(&mut self, name: &Name) -> VarId {
        let next = self.flow.var_names.len();
        let slot = *self.flow.fields.entry(Name::clone(name)).or_insert(next);
        if slot == next {
            self.flow.var_names.push(Name::clone(name));
        }
        slot
    }

    pub(super) fn add_assign(&mut self, to: VarId, from: NodeId) {
        self.flow.assigns.push(Assign { to, from, is_contained: false });
    }

    /// Records that an object, and each variable that it was reached from, contains a value.
    pub(super) fn add_containment(&mut self, object: NodeId, value: NodeId) {
        let mut at = object;
        loop {
            match &self.flow.nodes[at].kind {
                NodeKind::Member(of, key) => {
                    let (of, key) = (*of, key.clone());
                    if let MemberKey::Named(name) = &key {
                        let to = self.field_var(name);
                        self.flow.assigns.push(Assign { to, from: value, is_contained: true });
                    }
                    at = of;
                }
                NodeKind::Name(slot) => {
                    let to = *slot;
                    return self.flow.assigns.push(Assign { to, from: value, is_contained: true });
                }
                _ => return,
            }
        }
    }

    pub(super) fn lower_expr(&mut self, expr: &Expr) -> NodeId {
        let span = expr.span();
        match expr {
            Expr::Paren(paren) => self.lower_expr(&paren.expr),
            Expr::TsAs(cast) => self.lower_expr(&cast.expr),
            Expr::TsNonNull(cast) => self.lower_expr(&cast.expr),
            Expr::TsSatisfies(cast) => self.lower_expr(&cast.expr),
            Expr::TsConstAssertion(cast) => self.lower_expr(&cast.expr),
            Expr::TsTypeAssertion(cast) => self.lower_expr(&cast.expr),
            Expr::Await(waits) => self.lower_expr(&waits.arg),
            Expr::Lit(_) => self.add_node(NodeKind::Opaque, self.flow.names.value(expr), span),
            Expr::Ident(ident) => {
                let slot = self.var(ident);
                self.add_node(NodeKind::Name(slot), self.flow.names.value(expr), span)
            }
            Expr::This(_) => self.add_plain_node(NodeKind::This, span),
            Expr::Member(member) => self.lower_member(member, expr),
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => self.lower_member(member, expr),
                OptChainBase::Call(call) => self.lower_call(&call.callee, &call.args, expr),
            },
            Expr::Call(call) => match &call.callee {
                Callee::Expr(callee) => self.lower_call(callee, &call.args, expr),
                _ => self.lower_other(expr),
            },
            Expr::New(new) => self.lower_call(&new.callee, new.args.as_deref().unwrap_or_default(), expr),
            Expr::Tpl(template) => self.lower_template(template, expr),
            Expr::TaggedTpl(tagged) => {
                let args = tagged.tpl.exprs.iter().map(|expr| ExprOrSpread { spread: None, expr: expr.clone() });
                self.lower_call(&tagged.tag, &args.collect::<Vec<_>>(), expr)
            }
            Expr::Fn(function) => {
                let at = self.lower_function(&function.function);
                if let Some(name) = &function.ident {
                    let slot = self.var(name);
                    self.add_assign(slot, at);
                }
                at
            }
            Expr::Arrow(arrow) => self.lower_arrow(arrow),
            Expr::Class(class) => self.lower_class(&class.class),
            Expr::Object(object) => {
                let props: Vec<(MemberKey, NodeId)> = object.props.iter().map(|prop| self.lower_prop(prop)).collect();
                self.add_plain_node(NodeKind::Object(props), span)
            }
            Expr::Array(list) => {
                let elems = list.elems.iter().flatten().map(|elem| self.lower_expr(&elem.expr)).collect();
                let value = if list.elems.len() <= 64 { self.flow.names.value(expr) } else { Value::Unknown };
                self.add_node(NodeKind::List(elems), value, span)
            }
            Expr::Bin(binary) => {
                let (left, right) = (self.lower_expr(&binary.left), self.lower_expr(&binary.right));
                self.lower_binary(binary.op, left, right, expr)
            }
            Expr::Cond(choice) => {
                self.lower_expr(&choice.test);
                let of = vec![self.lower_expr(&choice.cons), self.lower_expr(&choice.alt)];
                self.add_plain_node(NodeKind::OneOf(of), span)
            }
            Expr::Seq(seq) => {
                let all: Vec<NodeId> = seq.exprs.iter().map(|expr| self.lower_expr(expr)).collect();
                self.add_plain_node(NodeKind::OneOf(all.last().copied().into_iter().collect()), span)
            }
            Expr::Assign(assign) => self.lower_assign(assign),
            Expr::Unary(unary) => {
                let at = self.lower_expr(&unary.arg);
                if let (UnaryOp::Delete, NodeKind::Member(object, _)) = (unary.op, &self.flow.nodes[at].kind)
                    && let NodeKind::Name(slot) = self.flow.nodes[*object].kind
                {
                    self.flow.deleted_vars.insert(slot);
                }
                if matches!(unary.op, UnaryOp::Minus | UnaryOp::Plus | UnaryOp::Tilde) {
                    self.mark_numeric(at);
                }
                self.add_node(NodeKind::Computed, self.flow.names.value(expr), span)
            }
            Expr::Update(update) => {
                let at = self.lower_expr(&update.arg);
                self.mark_numeric(at);
                self.add_plain_node(NodeKind::Computed, span)
            }
            Expr::Yield(yields) => match &yields.arg {
                Some(arg) => {
                    let value = self.lower_expr(arg);
                    self.add_return(value);
                    value
                }
                None => self.add_plain_node(NodeKind::Opaque, span),
            },
            _ => self.lower_other(expr),
        }
    }

    fn lower_arrow(&mut self, arrow: &ArrowExpr) -> NodeId {
        let (at, function) = self.add_function(arrow.span);
        let outer = self.function.replace(function);
        self.lower_params(function, arrow.params.iter());
        match &*arrow.body {
            ArrowFunctionBody::FunctionBody(body) => body.visit_with(self),
            ArrowFunctionBody::Expr(body) => {
                let value = self.lower_expr(body);
                self.flow.functions[function].returns.push(value);
            }
        }
        self.function = outer;
        at
    }

    fn lower_other(&mut self, expr: &Expr) -> NodeId {
        expr.visit_children_with(self);
        self.add_plain_node(NodeKind::Opaque, expr.span())
    }

    fn add_return(&mut self, value: NodeId) {
        if let Some(function) = self.function {
            self.flow.functions[function].returns.push(value);
        }
    }

    fn lower_binary(&mut self, op: BinaryOp, left: NodeId, right: NodeId, expr: &Expr) -> NodeId {
        let span = expr.span();
        match op {
            BinaryOp::LogicalOr | BinaryOp::NullishCoalescing => {
                self.add_plain_node(NodeKind::OneOf(vec![left, right]), span)
            }
            BinaryOp::LogicalAnd => self.add_plain_node(NodeKind::OneOf(vec![right]), span),
            BinaryOp::Add => {
                let number = |at: NodeId| self.flow.nodes[at].value.as_number().is_some();
                let (first, second) = (number(left), number(right));
                if first || second {
                    self.mark_numeric(left);
                    self.mark_numeric(right);
                }
                self.add_node(NodeKind::Concat(vec![left, right]), self.flow.names.value(expr), span)
            }
            _ => {
                self.flow.comparisons.push((left, right));
                if !matches!(
                    op,
                    BinaryOp::EqEq
                        | BinaryOp::EqEqEq
                        | BinaryOp::NotEq
                        | BinaryOp::NotEqEq
                        | BinaryOp::In
                        | BinaryOp::InstanceOf
                ) {
                    self.mark_numeric(left);
                    self.mark_numeric(right);
                }
                self.add_plain_node(NodeKind::Computed, span)
            }
        }
    }

    /// Marks a name as an operand of arithmetic.
    fn mark_numeric(&mut self, at: NodeId) {
        match &self.flow.nodes[at].kind {
            NodeKind::Name(slot) => {
                self.flow.numeric_vars.insert(*slot);
            }
            NodeKind::Member(_, MemberKey::Named(name)) => {
                let name = Name::clone(name);
                self.flow.typed_names.insert(name);
            }
            _ => {}
        }
    }

    fn lower_template(&mut self, template: &Tpl, expr: &Expr) -> NodeId {
        let mut of = Vec::new();
        for (index, quasi) in template.quasis.iter().enumerate() {
            let text = quasi.cooked.as_ref().map(|cooked| cooked.to_string_lossy()).unwrap_or_default();
            if !text.is_empty() {
                of.push(self.add_node(NodeKind::Opaque, Value::text(&text), quasi.span));
            }
            if let Some(expr) = template.exprs.get(index) {
                of.push(self.lower_expr(expr));
            }
        }
        // `${key}` is the key itself.
        let alone = of.len() == 1 && template.exprs.len() == 1;
        let kind = if alone { NodeKind::OneOf(of) } else { NodeKind::Concat(of) };
        self.add_node(kind, self.flow.names.value(expr), expr.span())
    }

    pub(super) fn lower_key(&mut self, prop: &MemberProp) -> MemberKey {
        match prop {
            MemberProp::Ident(name) => MemberKey::Named(name.sym.clone()),
            MemberProp::PrivateName(name) => MemberKey::Named(format!("#{}", name.name).into()),
            MemberProp::Computed(computed) => {
                let at = self.lower_expr(&computed.expr);
                self.flow.computed_keys.push(at);
                match self.flow.names.value(&computed.expr).to_js_string() {
                    Some(name) => MemberKey::Named(name.into()),
                    None => MemberKey::Computed(at),
                }
            }
        }
    }

    fn lower_member(&mut self, member: &MemberExpr, whole: &Expr) -> NodeId {
        let object = self.lower_expr(&member.obj);
        let key = self.lower_key(&member.prop);
        self.add_node(NodeKind::Member(object, key), self.flow.names.value(whole), member.span)
    }

    fn lower_call(&mut self, callee: &Expr, args: &[ExprOrSpread], whole: &Expr) -> NodeId {
        let callee = self.lower_expr(callee);
        let args: Vec<NodeId> = args.iter().map(|arg| self.lower_expr(&arg.expr)).collect();
        let (receiver, method) = match &self.flow.nodes[callee].kind {
            NodeKind::Member(object, MemberKey::Named(name)) => (Some(*object), Some(Name::clone(name))),
            NodeKind::Member(object, _) => (Some(*object), None),
            _ => (None, None),
        };
        if let (Some(receiver), Some("push" | "unshift" | "set" | "append" | "add" | "enqueue")) =
            (receiver, method.as_deref())
        {
            for arg in &args {
                self.add_containment(receiver, *arg);
            }
        }
        let new = matches!(whole, Expr::New(_));
        let (returns, callbacks, functions) = (Vec::new(), Vec::new(), Vec::new());
        let call = Box::new(Call { callee, receiver, method, args, is_new: new, returns, callbacks, functions });
        self.add_node(NodeKind::Call(call), self.flow.names.value(whole), whole.span())
    }
}

impl Visit for FlowLowering<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        self.lower_expr(expr);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        let from = match &declarator.init {
            Some(init) => self.lower_expr(init),
            None => return,
        };
        self.lower_pattern(&declarator.name, from);
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        let list = self.lower_expr(&node.right);
        let from = self.add_plain_node(NodeKind::Element(list), node.span);
        self.lower_for_head(&node.left, from);
        node.body.visit_with(self);
    }

    fn visit_for_in_stmt(&mut self, node: &ForInStmt) {
        let object = self.lower_expr(&node.right);
        let from = self.add_plain_node(NodeKind::KeyOf(object), node.span);
        self.lower_for_head(&node.left, from);
        node.body.visit_with(self);
    }

    fn visit_return_stmt(&mut self, node: &ReturnStmt) {
        if let Some(arg) = &node.arg {
            let value = self.lower_expr(arg);
            self.add_return(value);
        }
    }

    fn visit_fn_decl(&mut self, decl: &swc_ecma_ast::FnDecl) {
        let at = self.lower_function(&decl.function);
        let slot = self.var(&decl.ident);
        self.add_assign(slot, at);
    }

    fn visit_function(&mut self, function: &Function) {
        self.lower_function(function);
    }

    fn visit_class_decl(&mut self, decl: &swc_ecma_ast::ClassDecl) {
        let at = self.lower_class(&decl.class);
        let slot = self.var(&decl.ident);
        self.add_assign(slot, at);
    }

    fn visit_class(&mut self, class: &Class) {
        self.lower_class(class);
    }

    fn visit_ts_property_signature(&mut self, property: &TsPropertySignature) {
        if let (Some(ann), Expr::Ident(name)) = (&property.type_ann, &*property.key)
            && is_number_or_list_type(ann)
        {
            self.flow.typed_names.insert(name.sym.clone());
        }
        property.type_ann.visit_with(self);
    }
}
