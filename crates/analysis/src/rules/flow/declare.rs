//! Lowering of what gives names to values: objects, assignments, functions, classes and patterns.
//!
//! Invariant: each name of a pattern is bound to a node for the very part that the pattern takes.

use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    AssignExpr, AssignOp, AssignTarget, AssignTargetPat, Class, ClassMember, Expr, ForHead, Function, MemberExpr,
    ObjectPatProp, ParamOrTsParamProp, Pat, Prop, PropName, PropOrSpread, SimpleAssignTarget, TsParamPropParam, TsType,
    TsTypeAnn,
};
use swc_ecma_visit::VisitWith;

use super::lower::Lower;
use super::{At, Bind, Func, Key, Kind, Name, Write};
use crate::names::bare;

impl Lower<'_> {
    pub(super) fn prop(&mut self, prop: &PropOrSpread) -> (Key, At) {
        let prop = match prop {
            PropOrSpread::Spread(spread) => return (Key::Spread, self.expr(&spread.expr)),
            PropOrSpread::Prop(prop) => &**prop,
        };
        let (key, at) = match prop {
            Prop::Shorthand(ident) => (Key::Named(ident.sym.clone()), self.expr(&Expr::Ident(ident.clone()))),
            Prop::KeyValue(pair) => (self.prop_key(&pair.key), self.expr(&pair.value)),
            Prop::Method(method) => (self.prop_key(&method.key), self.function(&method.function)),
            Prop::Getter(getter) => {
                let key = self.prop_key(&getter.key);
                let at = self.function(&getter.function);
                (key, self.result(at))
            }
            Prop::Setter(setter) => (self.prop_key(&setter.key), self.function(&setter.function)),
            Prop::Assign(assign) => (Key::Spread, self.expr(&assign.value)),
        };
        if let Key::Named(name) = &key {
            let slot = self.field(name);
            self.bind(slot, at);
        }
        (key, at)
    }

    /// What a getter gives.
    pub(super) fn result(&mut self, function: At) -> At {
        let Kind::Function(index) = self.flow.nodes[function].kind else { return function };
        let returns = self.flow.functions[index].returns.clone();
        self.plain(Kind::Either(returns), self.flow.nodes[function].span)
    }

    pub(super) fn prop_key(&mut self, name: &PropName) -> Key {
        match name {
            PropName::Ident(name) => Key::Named(name.sym.clone()),
            PropName::Str(text) => Key::Named(text.value.to_string_lossy().as_ref().into()),
            PropName::Num(number) => Key::Named(number.value.to_string().into()),
            PropName::Computed(computed) => {
                let at = self.expr(&computed.expr);
                match self.flow.names.value(&computed.expr).string() {
                    Some(name) => Key::Named(name.into()),
                    None => Key::Computed(at),
                }
            }
            PropName::BigInt(_) => Key::Spread,
        }
    }

    pub(super) fn assign(&mut self, assign: &AssignExpr) -> At {
        let value = self.expr(&assign.right);
        let target = match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) => {
                let slot = self.slot(&ident.id);
                if assign.op == AssignOp::AddAssign {
                    self.flow.binds.push(Bind { to: slot, from: value, holds: true });
                } else {
                    self.bind(slot, value);
                }
                self.plain(Kind::Name(slot), ident.span)
            }
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => self.written(member, value, assign.span),
            AssignTarget::Simple(target) => {
                target.visit_children_with(self);
                return value;
            }
            AssignTarget::Pat(AssignTargetPat::Array(list)) => {
                self.pattern(&Pat::Array(list.clone()), value);
                return value;
            }
            AssignTarget::Pat(AssignTargetPat::Object(object)) => {
                self.pattern(&Pat::Object(object.clone()), value);
                return value;
            }
            AssignTarget::Pat(_) => return value,
        };
        match assign.op {
            AssignOp::Assign => value,
            AssignOp::AddAssign => self.plain(Kind::Joined(vec![target, value]), assign.span),
            AssignOp::OrAssign | AssignOp::NullishAssign | AssignOp::AndAssign => {
                self.plain(Kind::Either(vec![target, value]), assign.span)
            }
            _ => self.plain(Kind::Computed, assign.span),
        }
    }

    pub(super) fn written(&mut self, member: &MemberExpr, value: At, span: Span) -> At {
        let object = self.expr(&member.obj);
        let key = self.key(&member.prop);
        if let Key::Named(name) = &key {
            let slot = self.field(name);
            self.bind(slot, value);
        }
        self.hold(object, value);
        self.flow.writes.push(Write { object, key: key.clone(), value, span, inside: self.inside });
        self.plain(Kind::Member(object, key), member.span)
    }

    pub(super) fn open(&mut self, span: Span) -> (At, usize) {
        self.flow.functions.push(Func::default());
        let function = self.flow.functions.len() - 1;
        (self.plain(Kind::Function(function), span), function)
    }

    pub(super) fn params<'p>(&mut self, function: usize, params: impl Iterator<Item = &'p Pat>) {
        for pat in params {
            let param = self.plain(Kind::Param(function, Vec::new()), pat.span());
            self.flow.functions[function].params.push(param);
            self.pattern(pat, param);
        }
    }

    pub(super) fn function(&mut self, node: &Function) -> At {
        let (at, function) = self.open(node.span);
        let outer = self.inside.replace(function);
        self.params(function, node.params.iter().map(|param| &param.pat));
        node.body.visit_with(self);
        self.inside = outer;
        at
    }

    /// A class is the function that makes its objects.
    pub(super) fn class(&mut self, class: &Class) -> At {
        let (at, function) = self.open(class.span);
        if let Some(base) = &class.super_class {
            self.expr(base);
        }
        for member in &class.body {
            self.class_member(member, function);
        }
        at
    }

    fn class_member(&mut self, member: &ClassMember, function: usize) {
        let private = |name: &swc_ecma_ast::PrivateName| Key::Named(format!("#{}", name.name).into());
        let (key, at) = match member {
            ClassMember::Constructor(constructor) => {
                let outer = self.inside.replace(function);
                for param in &constructor.params {
                    match param {
                        ParamOrTsParamProp::Param(param) => self.params(function, std::iter::once(&param.pat)),
                        ParamOrTsParamProp::TsParamProp(prop) => {
                            let pat = match &prop.param {
                                TsParamPropParam::Ident(ident) => Pat::Ident(ident.clone()),
                                TsParamPropParam::Assign(assign) => Pat::Assign(assign.clone()),
                            };
                            self.params(function, std::iter::once(&pat));
                            if let (Some(name), Some(&param)) =
                                (names_of(&pat), self.flow.functions[function].params.last())
                            {
                                let slot = self.field(&name);
                                self.bind(slot, param);
                            }
                        }
                    }
                }
                constructor.body.visit_with(self);
                self.inside = outer;
                return;
            }
            ClassMember::Method(method) => {
                let key = self.prop_key(&method.key);
                let at = self.function(&method.function);
                let getter = method.kind == swc_ecma_ast::MethodKind::Getter;
                (key, if getter { self.result(at) } else { at })
            }
            ClassMember::PrivateMethod(method) => {
                let at = self.function(&method.function);
                let getter = method.kind == swc_ecma_ast::MethodKind::Getter;
                (private(&method.key), if getter { self.result(at) } else { at })
            }
            ClassMember::ClassProp(prop) => {
                let key = self.prop_key(&prop.key);
                let Some(value) = &prop.value else { return };
                (key, self.expr(value))
            }
            ClassMember::PrivateProp(prop) => {
                let Some(value) = &prop.value else { return };
                (private(&prop.key), self.expr(value))
            }
            _ => return member.visit_children_with(self),
        };
        if let Key::Named(name) = key {
            let slot = self.field(&name);
            self.bind(slot, at);
        }
    }

    /// Every name of a pattern gets what the pattern takes.
    pub(super) fn pattern(&mut self, pat: &Pat, from: At) {
        let span = pat.span();
        match pat {
            Pat::Ident(ident) => {
                if let Some(ann) = &ident.type_ann
                    && says_number_or_list(ann)
                {
                    self.flow.typed.insert(ident.sym.clone());
                }
                let slot = self.slot(&ident.id);
                self.bind(slot, from);
            }
            Pat::Assign(assign) => {
                let default = self.expr(&assign.right);
                let both = self.plain(Kind::Either(vec![from, default]), span);
                self.pattern(&assign.left, both);
            }
            Pat::Object(object) => {
                object.type_ann.visit_with(self);
                let mut taken = Vec::new();
                for prop in &object.props {
                    match prop {
                        ObjectPatProp::KeyValue(pair) => {
                            let key = self.prop_key(&pair.key);
                            if let Key::Named(name) = &key {
                                taken.push(Name::clone(name));
                            }
                            let taking = self.plain(Kind::Member(from, key), pair.span());
                            self.pattern(&pair.value, taking);
                        }
                        ObjectPatProp::Assign(short) => {
                            let name: Name = short.key.sym.clone();
                            taken.push(Name::clone(&name));
                            let mut taking = self.plain(Kind::Member(from, Key::Named(name)), short.span);
                            if let Some(default) = &short.value {
                                let default = self.expr(default);
                                taking = self.plain(Kind::Either(vec![taking, default]), short.span);
                            }
                            let slot = self.slot(&short.key.id);
                            self.bind(slot, taking);
                        }
                        ObjectPatProp::Rest(rest) => {
                            let taking = self.plain(Kind::Rest(from, taken.clone()), span);
                            self.pattern(&rest.arg, taking);
                        }
                    }
                }
            }
            Pat::Array(array) => {
                for (index, elem) in array.elems.iter().enumerate() {
                    let Some(elem) = elem else { continue };
                    if let Pat::Rest(rest) = elem {
                        let taking = self.plain(Kind::Rest(from, Vec::new()), span);
                        self.pattern(&rest.arg, taking);
                        continue;
                    }
                    let key = Key::Named(index.to_string().into());
                    let taking = self.plain(Kind::Member(from, key), span);
                    self.pattern(elem, taking);
                }
            }
            Pat::Rest(rest) => {
                let list = self.plain(Kind::List(vec![from]), span);
                self.pattern(&rest.arg, list);
            }
            Pat::Expr(target) => match bare(target) {
                Expr::Member(member) => {
                    self.written(member, from, span);
                }
                other => {
                    self.expr(other);
                }
            },
            Pat::Invalid(_) => {}
        }
    }

    pub(super) fn head(&mut self, head: &ForHead, from: At) {
        match head {
            ForHead::VarDecl(declaration) => {
                declaration.decls.iter().for_each(|declarator| self.pattern(&declarator.name, from));
            }
            ForHead::UsingDecl(declaration) => {
                declaration.decls.iter().for_each(|declarator| self.pattern(&declarator.name, from));
            }
            ForHead::Pat(pat) => self.pattern(pat, from),
        }
    }
}

fn names_of(pat: &Pat) -> Option<Name> {
    match pat {
        Pat::Ident(ident) => Some(ident.sym.clone()),
        Pat::Assign(assign) => names_of(&assign.left),
        _ => None,
    }
}

/// Whether a type is that of numbers, of lists of lists, or of a few known words.
pub(super) fn says_number_or_list(ann: &TsTypeAnn) -> bool {
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
