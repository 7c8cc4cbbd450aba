//! Lowering of bindings: objects, assignments, functions, classes and patterns.
//!
//! Invariant: each name of a pattern is bound to a node for exactly the part that it takes.

use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    AssignExpr, AssignOp, AssignTarget, AssignTargetPat, Class, ClassMember, Expr, ForHead, Function, MemberExpr,
    ObjectPatProp, ParamOrTsParamProp, Pat, Prop, PropName, PropOrSpread, SimpleAssignTarget, TsParamPropParam, TsType,
    TsTypeAnn,
};
use swc_ecma_visit::VisitWith;

use super::lower::FlowLowering;
use super::{Assign, FlowFunction, MemberKey, Name, NodeId, NodeKind, Write};
use crate::bindings::peel_parens;

impl FlowLowering<'_> {
    pub(super) fn lower_prop(&mut self, prop: &PropOrSpread) -> (MemberKey, NodeId) {
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
    pub(super) fn getter_result(&mut self, function: NodeId) -> NodeId {
        let NodeKind::Function(index) = self.flow.nodes[function].kind else { return function };
        let returns = self.flow.functions[index].returns.clone();
        self.add_plain_node(NodeKind::OneOf(returns), self.flow.nodes[function].span)
    }

    pub(super) fn lower_prop_key(&mut self, name: &PropName) -> MemberKey {
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

    pub(super) fn lower_assign(&mut self, assign: &AssignExpr) -> NodeId {
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

    pub(super) fn lower_member_write(&mut self, member: &MemberExpr, value: NodeId, span: Span) -> NodeId {
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

    pub(super) fn add_function(&mut self, span: Span) -> (NodeId, usize) {
        self.flow.functions.push(FlowFunction::default());
        let function = self.flow.functions.len() - 1;
        (self.add_plain_node(NodeKind::Function(function), span), function)
    }

    pub(super) fn lower_params<'p>(&mut self, function: usize, params: impl Iterator<Item = &'p Pat>) {
        for pat in params {
            let param = self.add_plain_node(NodeKind::Param(function, Vec::new()), pat.span());
            self.flow.functions[function].params.push(param);
            self.lower_pattern(pat, param);
        }
    }

    pub(super) fn lower_function(&mut self, node: &Function) -> NodeId {
        let (at, function) = self.add_function(node.span);
        let outer = self.function.replace(function);
        self.lower_params(function, node.params.iter().map(|param| &param.pat));
        node.body.visit_with(self);
        self.function = outer;
        at
    }

    /// Lowers a class as the function that constructs its objects.
    pub(super) fn lower_class(&mut self, class: &Class) -> NodeId {
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
    pub(super) fn lower_pattern(&mut self, pat: &Pat, from: NodeId) {
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

    pub(super) fn lower_for_head(&mut self, head: &ForHead, from: NodeId) {
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

fn pattern_name(pat: &Pat) -> Option<Name> {
    match pat {
        Pat::Ident(ident) => Some(ident.sym.clone()),
        Pat::Assign(assign) => pattern_name(&assign.left),
        _ => None,
    }
}

/// Returns whether a type is a number, a list of lists, `keyof`, or a union of literals.
pub(super) fn is_number_or_list_type(ann: &TsTypeAnn) -> bool {
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
