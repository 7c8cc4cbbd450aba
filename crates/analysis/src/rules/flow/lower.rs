//! Lowering: a program as the nodes of a [`Flow`].
//!
//! Invariant: an expression's node comes after the nodes of its parts, and every function body is lowered once.

use std::collections::{HashMap, HashSet};

use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrowFunctionBody, AssignExpr, AssignOp, AssignTarget, AssignTargetPat, BinaryOp, Callee, Class, ClassMember, Expr,
    ExprOrSpread, ForHead, ForInStmt, ForOfStmt, Function, Ident, MemberExpr, MemberProp, ObjectPatProp, OptChainBase,
    ParamOrTsParamProp, Pat, Program, Prop, PropName, PropOrSpread, ReturnStmt, SimpleAssignTarget, Tpl,
    TsParamPropParam, TsPropertySignature, TsType, TsTypeAnn, UnaryOp, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::{At, Bind, Call, Flow, Func, Key, Kind, Name, Node, Slot, Write};
use crate::names::{Names, bare};
use crate::value::Value;

impl<'a> Flow<'a> {
    /// Lowers a program.
    pub(in crate::rules) fn of(program: &Program, names: &'a Names) -> Self {
        let flow = Self {
            names,
            nodes: Vec::new(),
            binds: Vec::new(),
            writes: Vec::new(),
            compared: Vec::new(),
            computed: Vec::new(),
            numeric: HashSet::new(),
            typed: HashSet::new(),
            deleted: HashSet::new(),
            functions: Vec::new(),
            slots: HashMap::new(),
            fields: HashMap::new(),
            symbols: Vec::new(),
            by_slot: HashMap::new(),
        };
        let mut lower = Lower { flow, inside: None };
        program.visit_with(&mut lower);
        lower.flow.link();
        lower.flow
    }
}

struct Lower<'a> {
    flow: Flow<'a>,
    inside: Option<usize>,
}

impl Lower<'_> {
    fn node(&mut self, kind: Kind, value: Value, span: Span) -> At {
        self.flow.nodes.push(Node { kind, value, span, inside: self.inside });
        self.flow.nodes.len() - 1
    }

    fn plain(&mut self, kind: Kind, span: Span) -> At {
        self.node(kind, Value::Unknown, span)
    }

    fn slot(&mut self, ident: &Ident) -> Slot {
        let flow = &mut self.flow;
        let next = flow.symbols.len();
        let slot = *flow.slots.entry(Ident::to_id(ident)).or_insert(next);
        if slot == next {
            flow.symbols.push(ident.sym.as_str().into());
        }
        slot
    }

    fn field(&mut self, name: &Name) -> Slot {
        let next = self.flow.symbols.len();
        let slot = *self.flow.fields.entry(Name::clone(name)).or_insert(next);
        if slot == next {
            self.flow.symbols.push(Name::clone(name));
        }
        slot
    }

    fn bind(&mut self, to: Slot, from: At) {
        self.flow.binds.push(Bind { to, from, holds: false });
    }

    /// Notes that whatever an object is reached from has something in it.
    fn hold(&mut self, object: At, value: At) {
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

    fn expr(&mut self, expr: &Expr) -> At {
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
            Expr::Arrow(arrow) => {
                let (at, function) = self.open(span);
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
                use BinaryOp::{BitAnd, BitOr, BitXor, Div, Gt, GtEq, LShift, Lt, LtEq, Mod, Mul, RShift, Sub};
                if matches!(
                    op,
                    Sub | Mul | Div | Mod | Lt | LtEq | Gt | GtEq | BitAnd | BitOr | BitXor | LShift | RShift
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

    fn key(&mut self, prop: &MemberProp) -> Key {
        match prop {
            MemberProp::Ident(name) => Key::Named(name.sym.as_str().into()),
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

    fn prop_key(&mut self, name: &PropName) -> Key {
        match name {
            PropName::Ident(name) => Key::Named(name.sym.as_str().into()),
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
            args.iter().for_each(|arg| self.hold(receiver, *arg));
        }
        let new = matches!(whole, Expr::New(_));
        let (returns, callbacks, functions) = (Vec::new(), Vec::new(), Vec::new());
        let call = Call { callee, receiver, method, args, new, returns, callbacks, functions };
        self.node(Kind::Call(call), self.flow.names.value(whole), whole.span())
    }

    fn prop(&mut self, prop: &PropOrSpread) -> (Key, At) {
        let prop = match prop {
            PropOrSpread::Spread(spread) => return (Key::Spread, self.expr(&spread.expr)),
            PropOrSpread::Prop(prop) => &**prop,
        };
        let (key, at) = match prop {
            Prop::Shorthand(ident) => (Key::Named(ident.sym.as_str().into()), self.expr(&Expr::Ident(ident.clone()))),
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
    fn result(&mut self, function: At) -> At {
        let Kind::Function(index) = self.flow.nodes[function].kind else { return function };
        let returns = self.flow.functions[index].returns.clone();
        self.plain(Kind::Either(returns), self.flow.nodes[function].span)
    }

    fn assign(&mut self, assign: &AssignExpr) -> At {
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

    fn written(&mut self, member: &MemberExpr, value: At, span: Span) -> At {
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

    fn open(&mut self, span: Span) -> (At, usize) {
        self.flow.functions.push(Func::default());
        let function = self.flow.functions.len() - 1;
        (self.plain(Kind::Function(function), span), function)
    }

    fn params<'p>(&mut self, function: usize, params: impl Iterator<Item = &'p Pat>) {
        for pat in params {
            let param = self.plain(Kind::Param(function, Vec::new()), pat.span());
            self.flow.functions[function].params.push(param);
            self.pattern(pat, param);
        }
    }

    fn function(&mut self, node: &Function) -> At {
        let (at, function) = self.open(node.span);
        let outer = self.inside.replace(function);
        self.params(function, node.params.iter().map(|param| &param.pat));
        node.body.visit_with(self);
        self.inside = outer;
        at
    }

    /// A class is the function that makes its objects.
    fn class(&mut self, class: &Class) -> At {
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
    fn pattern(&mut self, pat: &Pat, from: At) {
        let span = pat.span();
        match pat {
            Pat::Ident(ident) => {
                if let Some(ann) = &ident.type_ann
                    && says_number_or_list(ann)
                {
                    self.flow.typed.insert(ident.sym.as_str().into());
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
                            let part = self.plain(Kind::Member(from, key), pair.span());
                            self.pattern(&pair.value, part);
                        }
                        ObjectPatProp::Assign(short) => {
                            let name: Name = short.key.sym.as_str().into();
                            taken.push(Name::clone(&name));
                            let mut part = self.plain(Kind::Member(from, Key::Named(name)), short.span);
                            if let Some(default) = &short.value {
                                let default = self.expr(default);
                                part = self.plain(Kind::Either(vec![part, default]), short.span);
                            }
                            let slot = self.slot(&short.key.id);
                            self.bind(slot, part);
                        }
                        ObjectPatProp::Rest(rest) => {
                            let part = self.plain(Kind::Rest(from, taken.clone()), span);
                            self.pattern(&rest.arg, part);
                        }
                    }
                }
            }
            Pat::Array(array) => {
                for (index, elem) in array.elems.iter().enumerate() {
                    let Some(elem) = elem else { continue };
                    if let Pat::Rest(rest) = elem {
                        let part = self.plain(Kind::Rest(from, Vec::new()), span);
                        self.pattern(&rest.arg, part);
                        continue;
                    }
                    let key = Key::Named(index.to_string().into());
                    let part = self.plain(Kind::Member(from, key), span);
                    self.pattern(elem, part);
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

    fn head(&mut self, head: &ForHead, from: At) {
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
        Pat::Ident(ident) => Some(ident.sym.as_str().into()),
        Pat::Assign(assign) => names_of(&assign.left),
        _ => None,
    }
}

/// Whether a type is that of numbers, of lists of lists, or of a few known words.
fn says_number_or_list(ann: &TsTypeAnn) -> bool {
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
            self.flow.typed.insert(name.sym.as_str().into());
        }
        property.type_ann.visit_with(self);
    }
}
