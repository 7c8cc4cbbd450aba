//! Collection of class members, of `this` inside of them, and of `enum` members.

use swc_ecma_ast::{
    AutoAccessor, ClassMember, ClassMethod, ClassProp, Key, ParamOrTsParamProp, TsEnumDecl, TsEnumMemberId,
    TsParamPropParam,
};

use super::BindingCollector;
use crate::semantics::bindings::{Body, FunctionDef, ThisBinding, node_address};
use crate::semantics::value::{Allocation, Root, Value};
use crate::syntax::visit::{self, Visitor};

impl<'a> BindingCollector<'a> {
    pub(super) fn collect_class_member(&mut self, member: &'a ClassMember, class: u32) {
        let this =
            |is_static: bool| Some(if is_static { Allocation::Class(class) } else { Allocation::Instance(class) });
        for decorator in visit::decorators_of(member) {
            self.visit_expr(&decorator.expr);
        }
        match member {
            ClassMember::Method(ClassMethod { key, .. })
            | ClassMember::ClassProp(ClassProp { key, .. })
            | ClassMember::AutoAccessor(AutoAccessor { key: Key::Public(key), .. }) => visit::walk_prop_name(self, key),
            _ => {}
        }
        match member {
            ClassMember::Constructor(constructor) => {
                let mut params = Vec::new();
                for param in &constructor.params {
                    match param {
                        ParamOrTsParamProp::Param(param) => params.push(&param.pat),
                        ParamOrTsParamProp::TsParamProp(property) => {
                            if let TsParamPropParam::Ident(ident) = &property.param {
                                self.set_value(ident, Value::root(Root::Params));
                            }
                        }
                    }
                }
                let stmts = constructor.body.as_ref().map_or(&[][..], |body| &body.stmts);
                let lambda =
                    FunctionDef { params, body: Body::Block(stmts), is_evaluated: true, this: ThisBinding::Undefined };
                self.add_function(node_address(constructor), lambda);
                self.with_this(this(false), |noting| stmts.iter().for_each(|stmt| noting.visit_stmt(stmt)));
            }
            ClassMember::Method(method) => self.collect_method(&method.function, this(method.is_static)),
            ClassMember::PrivateMethod(method) => self.collect_method(&method.function, this(method.is_static)),
            ClassMember::ClassProp(property) => {
                self.with_this(this(property.is_static), |noting| {
                    property.value.iter().for_each(|value| noting.visit_expr(value));
                });
            }
            ClassMember::PrivateProp(property) => {
                self.with_this(this(property.is_static), |noting| {
                    property.value.iter().for_each(|value| noting.visit_expr(value));
                });
            }
            ClassMember::StaticBlock(block) => {
                self.with_this(this(true), |noting| block.body.stmts.iter().for_each(|stmt| noting.visit_stmt(stmt)));
            }
            ClassMember::AutoAccessor(accessor) => {
                self.with_this(this(accessor.is_static), |noting| {
                    accessor.value.iter().for_each(|value| noting.visit_expr(value));
                });
            }
            ClassMember::TsIndexSignature(_) | ClassMember::Empty(_) => {}
        }
    }

    pub(super) fn collect_enum(&mut self, declaration: &'a TsEnumDecl) {
        // A merged `enum` keeps the members of its earlier declarations.
        let mut members = self.names.enums.remove(&declaration.id.to_id()).unwrap_or_default();
        for member in &declaration.members {
            let name = match &member.id {
                TsEnumMemberId::Ident(name) => name.sym.to_string(),
                TsEnumMemberId::Str(name) => name.value.to_string_lossy().into_owned(),
            };
            let value = member.init.as_ref().map_or(Value::Unknown, |init| self.names.value(init));
            members.insert(name, value);
        }
        self.names.enums.insert(declaration.id.to_id(), members);
    }
}
