//! What the members of a class make, and what `this` is in them; the members of an `enum`.

use swc_ecma_ast::{
    AutoAccessor, ClassMember, ClassMethod, ClassProp, Key, ParamOrTsParamProp, TsEnumDecl, TsEnumMemberId,
    TsParamPropParam,
};

use super::noting::Noting;
use super::{Body, Lambda, This, place};
use crate::value::{Known, Root, Value};
use crate::walk::{self, Walk};

impl<'a> Noting<'a> {
    pub(super) fn member_of_class(&mut self, member: &'a ClassMember, class: u32) {
        let this = |is_static: bool| Some(if is_static { Known::Class(class) } else { Known::Instance(class) });
        for decorator in walk::decorators_of(member) {
            self.expr(&decorator.expr);
        }
        match member {
            ClassMember::Method(ClassMethod { key, .. })
            | ClassMember::ClassProp(ClassProp { key, .. })
            | ClassMember::AutoAccessor(AutoAccessor { key: Key::Public(key), .. }) => walk::walk_name(self, key),
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
                                self.value(ident, Value::root(Root::Params));
                            }
                        }
                    }
                }
                let stmts = constructor.body.as_ref().map_or(&[][..], |body| &body.stmts);
                let lambda = Lambda { params, body: Body::Block(stmts), followed: true, this: This::Nothing };
                self.lambda(place(constructor), lambda);
                self.within(this(false), |noting| stmts.iter().for_each(|stmt| noting.stmt(stmt)));
            }
            ClassMember::Method(method) => self.method(&method.function, this(method.is_static)),
            ClassMember::PrivateMethod(method) => self.method(&method.function, this(method.is_static)),
            ClassMember::ClassProp(property) => {
                self.within(this(property.is_static), |noting| {
                    property.value.iter().for_each(|value| noting.expr(value));
                });
            }
            ClassMember::PrivateProp(property) => {
                self.within(this(property.is_static), |noting| {
                    property.value.iter().for_each(|value| noting.expr(value));
                });
            }
            ClassMember::StaticBlock(block) => {
                self.within(this(true), |noting| block.body.stmts.iter().for_each(|stmt| noting.stmt(stmt)));
            }
            ClassMember::AutoAccessor(accessor) => {
                self.within(this(accessor.is_static), |noting| {
                    accessor.value.iter().for_each(|value| noting.expr(value));
                });
            }
            ClassMember::TsIndexSignature(_) | ClassMember::Empty(_) => {}
        }
    }

    pub(super) fn enumeration(&mut self, declaration: &'a TsEnumDecl) {
        // An `enum` that is opened again keeps what it has.
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
