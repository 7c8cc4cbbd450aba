//! Lowering of a program to the nodes of a [`DataFlow`].
//!
//! Invariant: an expression's node comes after the nodes of its parts, every function body is
//! lowered once, and each name of a pattern is bound to a node for exactly the part that it takes.

use std::cell::{Cell, OnceCell};

use rustc_hash::{FxHashMap, FxHashSet};
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrowExpr, ArrowFunctionBody, AssignExpr, AssignOp, AssignTarget, AssignTargetPat, BinaryOp, Callee, Class,
    ClassMember, Expr, ExprOrSpread, ForHead, ForInStmt, ForOfStmt, Function, Ident, MemberExpr, MemberProp,
    ObjectPatProp, OptChainBase, ParamOrTsParamProp, Pat, Program, Prop, PropName, PropOrSpread, ReturnStmt,
    SimpleAssignTarget, Tpl, TsParamPropParam, TsPropertySignature, TsType, TsTypeAnn, UnaryOp, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::def_use::IndexLists;
use super::{Assign, Call, DataFlow, FlowFunction, MemberKey, Name, Node, NodeId, NodeKind, VarId, Write};
use crate::semantics::bindings::Bindings;
use crate::semantics::value::Value;
use crate::syntax::expr::peel_parens;

impl<'a> DataFlow<'a> {
    /// Lowers a program.
    pub(crate) fn lower(program: &Program, names: &'a Bindings) -> Self {
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

struct FlowLowering<'a> {
    flow: DataFlow<'a>,
    function: Option<usize>,
}

impl FlowLowering<'_> {
    fn add_node(&mut self, kind: NodeKind, value: Value, span: Span) -> NodeId {
        self.flow.nodes.push(Node { kind, value, span, function: self.function });
        self.flow.nodes.len() - 1
    }

    fn add_plain_node(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.add_node(kind, Value::Unknown, span)
    }

    fn var(&mut self, ident: &Ident) -> VarId {
        let flow = &mut self.flow;
        let next = flow.var_names.len();
        let slot = *flow.vars.entry(Ident::to_id(ident)).or_insert(next);
        if slot == next {
            flow.var_names.push(ident.sym.clone());
        }
        slot
    }

    fn field_var(&mut self, name: &Name) -> VarId {
        let next = self.flow.var_names.len();
        let slot = *self.flow.fields.entry(Name::clone(name)).or_insert(next);
        if slot == next {
            self.flow.var_names.push(Name::clone(name));
        }
        slot
    }

    fn add_assign(&mut self, to: VarId, from: NodeId) {
        self.flow.assigns.push(Assign { to, from, is_contained: false });
    }

    /// Records that an object, and each variable that it was reached from, contains a value.
    fn add_containment(&mut self, object: NodeId, value: NodeId) {
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

    fn lower_expr(&mut self, expr: &Expr) -> NodeId {
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

    fn lower_key(&mut self, prop: &MemberProp) -> MemberKey {
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

    fn lower_prop(&mut self, prop: &PropOrSpread) -> (MemberKey, NodeId) {
        let prop = match prop {
            PropOrSpread::Spread(spread) => return (MemberKey::Spread, self.lower_expr(&spread.expr)),
            PropOrSpread::Prop(prop) => &**prop,
        };
        let (key, at) = match prop {
            Prop::Shorthand(ident) => {
                (MemberKey::Named(ident.sym.clone()), self.lower_expr(&Expr::Ident(ident.clone())))
            }
            Prop::KeyValue(pair) => (self.lower_prop_key(&pair.key), self.lower_expr(&pair.value)),
            Prop::Method(method) => (self.lower_prop_key(&method.key), self.lower_function(&method.function)),
            Prop::Getter(getter) => {
                let key = self.lower_prop_key(&getter.key);
                let at = self.lower_function(&getter.function);
                (key, self.getter_result(at))
            }
            Prop::Setter(setter) => (self.lower_prop_key(&setter.key), self.lower_function(&setter.function)),
            Prop::Assign(assign) => (MemberKey::Spread, self.lower_expr(&assign.value)),
        };
        if let MemberKey::Named(name) = &key {
            let slot = self.field_var(name);
            self.add_assign(slot, at);
        }
        (key, at)
    }

    /// Returns the result of a getter.
    fn getter_result(&mut self, function: NodeId) -> NodeId {
        let NodeKind::Function(index) = self.flow.nodes[function].kind else { return function };
        let returns = self.flow.functions[index].returns.clone();
        self.add_plain_node(NodeKind::OneOf(returns), self.flow.nodes[function].span)
    }

    fn lower_prop_key(&mut self, name: &PropName) -> MemberKey {
        match name {
            PropName::Ident(name) => MemberKey::Named(name.sym.clone()),
            PropName::Str(text) => MemberKey::Named(text.value.to_string_lossy().as_ref().into()),
            PropName::Num(number) => MemberKey::Named(number.value.to_string().into()),
            PropName::Computed(computed) => {
                let at = self.lower_expr(&computed.expr);
                match self.flow.names.value(&computed.expr).to_js_string() {
                    Some(name) => MemberKey::Named(name.into()),
                    None => MemberKey::Computed(at),
                }
            }
            PropName::BigInt(_) => MemberKey::Spread,
        }
    }

    fn lower_assign(&mut self, assign: &AssignExpr) -> NodeId {
        let value = self.lower_expr(&assign.right);
        let target = match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) => {
                let slot = self.var(&ident.id);
                if assign.op == AssignOp::AddAssign {
                    self.flow.assigns.push(Assign { to: slot, from: value, is_contained: true });
                } else {
                    self.add_assign(slot, value);
                }
                self.add_plain_node(NodeKind::Name(slot), ident.span)
            }
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                self.lower_member_write(member, value, assign.span)
            }
            AssignTarget::Simple(target) => {
                target.visit_children_with(self);
                return value;
            }
            AssignTarget::Pat(AssignTargetPat::Array(list)) => {
                self.lower_pattern(&Pat::Array(list.clone()), value);
                return value;
            }
            AssignTarget::Pat(AssignTargetPat::Object(object)) => {
                self.lower_pattern(&Pat::Object(object.clone()), value);
                return value;
            }
            AssignTarget::Pat(_) => return value,
        };
        match assign.op {
            AssignOp::Assign => value,
            AssignOp::AddAssign => self.add_plain_node(NodeKind::Concat(vec![target, value]), assign.span),
            AssignOp::OrAssign | AssignOp::NullishAssign | AssignOp::AndAssign => {
                self.add_plain_node(NodeKind::OneOf(vec![target, value]), assign.span)
            }
            _ => self.add_plain_node(NodeKind::Computed, assign.span),
        }
    }

    fn lower_member_write(&mut self, member: &MemberExpr, value: NodeId, span: Span) -> NodeId {
        let object = self.lower_expr(&member.obj);
        let key = self.lower_key(&member.prop);
        if let MemberKey::Named(name) = &key {
            let slot = self.field_var(name);
            self.add_assign(slot, value);
        }
        self.add_containment(object, value);
        self.flow.writes.push(Write { object, key: key.clone(), value, span, function: self.function });
        self.add_plain_node(NodeKind::Member(object, key), member.span)
    }

    fn add_function(&mut self, span: Span) -> (NodeId, usize) {
        self.flow.functions.push(FlowFunction::default());
        let function = self.flow.functions.len() - 1;
        (self.add_plain_node(NodeKind::Function(function), span), function)
    }

    fn lower_params<'p>(&mut self, function: usize, params: impl Iterator<Item = &'p Pat>) {
        for pat in params {
            let param = self.add_plain_node(NodeKind::Param(function, Vec::new()), pat.span());
            self.flow.functions[function].params.push(param);
            self.lower_pattern(pat, param);
        }
    }

    fn lower_function(&mut self, node: &Function) -> NodeId {
        let (at, function) = self.add_function(node.span);
        let outer = self.function.replace(function);
        self.lower_params(function, node.params.iter().map(|param| &param.pat));
        node.body.visit_with(self);
        self.function = outer;
        at
    }

    /// Lowers a class as the function that constructs its objects.
    fn lower_class(&mut self, class: &Class) -> NodeId {
        let (at, function) = self.add_function(class.span);
        if let Some(base) = &class.super_class {
            self.lower_expr(base);
        }
        for member in &class.body {
            self.lower_class_member(member, function);
        }
        at
    }

    fn lower_class_member(&mut self, member: &ClassMember, function: usize) {
        let private = |name: &swc_ecma_ast::PrivateName| MemberKey::Named(format!("#{}", name.name).into());
        let (key, at) = match member {
            ClassMember::Constructor(constructor) => {
                let outer = self.function.replace(function);
                for param in &constructor.params {
                    match param {
                        ParamOrTsParamProp::Param(param) => self.lower_params(function, std::iter::once(&param.pat)),
                        ParamOrTsParamProp::TsParamProp(prop) => {
                            let pat = match &prop.param {
                                TsParamPropParam::Ident(ident) => Pat::Ident(ident.clone()),
                                TsParamPropParam::Assign(assign) => Pat::Assign(assign.clone()),
                            };
                            self.lower_params(function, std::iter::once(&pat));
                            if let (Some(name), Some(&param)) =
                                (pattern_name(&pat), self.flow.functions[function].params.last())
                            {
                                let slot = self.field_var(&name);
                                self.add_assign(slot, param);
                            }
                        }
                    }
                }
                constructor.body.visit_with(self);
                self.function = outer;
                return;
            }
            ClassMember::Method(method) => {
                let key = self.lower_prop_key(&method.key);
                let at = self.lower_function(&method.function);
                let getter = method.kind == swc_ecma_ast::MethodKind::Getter;
                (key, if getter { self.getter_result(at) } else { at })
            }
            ClassMember::PrivateMethod(method) => {
                let at = self.lower_function(&method.function);
                let getter = method.kind == swc_ecma_ast::MethodKind::Getter;
                (private(&method.key), if getter { self.getter_result(at) } else { at })
            }
            ClassMember::ClassProp(prop) => {
                let key = self.lower_prop_key(&prop.key);
                let Some(value) = &prop.value else { return };
                (key, self.lower_expr(value))
            }
            ClassMember::PrivateProp(prop) => {
                let Some(value) = &prop.value else { return };
                (private(&prop.key), self.lower_expr(value))
            }
            _ => return member.visit_children_with(self),
        };
        if let MemberKey::Named(name) = key {
            let slot = self.field_var(&name);
            self.add_assign(slot, at);
        }
    }

    /// Binds every name of a pattern to the part that it takes.
    fn lower_pattern(&mut self, pat: &Pat, from: NodeId) {
        let span = pat.span();
        match pat {
            Pat::Ident(ident) => {
                if let Some(ann) = &ident.type_ann
                    && is_number_or_list_type(ann)
                {
                    self.flow.typed_names.insert(ident.sym.clone());
                }
                let slot = self.var(&ident.id);
                self.add_assign(slot, from);
            }
            Pat::Assign(assign) => {
                let default = self.lower_expr(&assign.right);
                let both = self.add_plain_node(NodeKind::OneOf(vec![from, default]), span);
                self.lower_pattern(&assign.left, both);
            }
            Pat::Object(object) => {
                object.type_ann.visit_with(self);
                let mut taken = Vec::new();
                for prop in &object.props {
                    match prop {
                        ObjectPatProp::KeyValue(pair) => {
                            let key = self.lower_prop_key(&pair.key);
                            if let MemberKey::Named(name) = &key {
                                taken.push(Name::clone(name));
                            }
                            let taking = self.add_plain_node(NodeKind::Member(from, key), pair.span());
                            self.lower_pattern(&pair.value, taking);
                        }
                        ObjectPatProp::Assign(short) => {
                            let name: Name = short.key.sym.clone();
                            taken.push(Name::clone(&name));
                            let mut taking =
                                self.add_plain_node(NodeKind::Member(from, MemberKey::Named(name)), short.span);
                            if let Some(default) = &short.value {
                                let default = self.lower_expr(default);
                                taking = self.add_plain_node(NodeKind::OneOf(vec![taking, default]), short.span);
                            }
                            let slot = self.var(&short.key.id);
                            self.add_assign(slot, taking);
                        }
                        ObjectPatProp::Rest(rest) => {
                            let taking = self.add_plain_node(NodeKind::Rest(from, taken.clone()), span);
                            self.lower_pattern(&rest.arg, taking);
                        }
                    }
                }
            }
            Pat::Array(array) => {
                for (index, elem) in array.elems.iter().enumerate() {
                    let Some(elem) = elem else { continue };
                    if let Pat::Rest(rest) = elem {
                        let taking = self.add_plain_node(NodeKind::Rest(from, Vec::new()), span);
                        self.lower_pattern(&rest.arg, taking);
                        continue;
                    }
                    let key = MemberKey::Named(index.to_string().into());
                    let taking = self.add_plain_node(NodeKind::Member(from, key), span);
                    self.lower_pattern(elem, taking);
                }
            }
            Pat::Rest(rest) => {
                let list = self.add_plain_node(NodeKind::List(vec![from]), span);
                self.lower_pattern(&rest.arg, list);
            }
            Pat::Expr(target) => match peel_parens(target) {
                Expr::Member(member) => {
                    self.lower_member_write(member, from, span);
                }
                other => {
                    self.lower_expr(other);
                }
            },
            Pat::Invalid(_) => {}
        }
    }

    fn lower_for_head(&mut self, head: &ForHead, from: NodeId) {
        match head {
            ForHead::VarDecl(declaration) => {
                declaration.decls.iter().for_each(|declarator| self.lower_pattern(&declarator.name, from));
            }
            ForHead::UsingDecl(declaration) => {
                declaration.decls.iter().for_each(|declarator| self.lower_pattern(&declarator.name, from));
            }
            ForHead::Pat(pat) => self.lower_pattern(pat, from),
        }
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

fn pattern_name(pat: &Pat) -> Option<Name> {
    match pat {
        Pat::Ident(ident) => Some(ident.sym.clone()),
        Pat::Assign(assign) => pattern_name(&assign.left),
        _ => None,
    }
}

/// Returns whether a type is a number, a list of lists, `keyof`, or a union of literals.
fn is_number_or_list_type(ann: &TsTypeAnn) -> bool {
    match &*ann.type_ann {
        TsType::TsKeywordType(keyword) => keyword.kind == swc_ecma_ast::TsKeywordTypeKind::TsNumberKeyword,
        TsType::TsArrayType(list) => matches!(&*list.elem_type, TsType::TsArrayType(_) | TsType::TsTupleType(_)),
        TsType::TsTypeOperator(operator) => operator.op == swc_ecma_ast::TsTypeOperatorOp::KeyOf,
        TsType::TsUnionOrIntersectionType(swc_ecma_ast::TsUnionOrIntersectionType::TsUnionType(union)) => {
            union.types.iter().all(|kind| matches!(&**kind, TsType::TsLitType(_)))
        }
        _ => false,
    }
}
