//! Evaluation of calls of the source's own functions with known arguments.
//!
//! `decode("ZXZhbA", 3)` evaluates to its result, whatever loop decodes it. Only certain results
//! are followed; if a condition is unknown, what matters is whether a global or a module may come
//! out.
//!
//! Invariant: all calls of a source share one budget of steps, so even an endless function ends the
//! analysis soon.

use rustc_hash::FxHashMap;
use swc_ecma_ast::{
    AssignExpr, AssignOp, AssignTarget, BinaryOp, Expr, Id, MemberExpr, ObjectPatProp, Pat, SimpleAssignTarget,
    UpdateExpr, UpdateOp,
};

use super::expr::logical_or;
use crate::semantics::bindings::{Bindings, Body, Frame, ThisBinding};
use crate::semantics::fold;
use crate::semantics::value::{Allocation, Root, Value, as_index};
use crate::syntax::expr::peel_parens;

/// The maximum depth of nested calls.
const MAX_CALL_DEPTH: usize = 12;

/// The maximum length of a list that a call builds.
const MAX_LIST_LEN: usize = 4096;

impl Bindings<'_> {
    /// Returns the result of a function for some arguments.
    pub(super) fn call(&self, function: u32, this: Option<&Value>, args: &[Value]) -> Value {
        let somewhere = || Value::root(Root::Unknown);
        let lambda = &self.functions[function as usize];
        if !lambda.is_evaluated || self.frames.borrow().len() >= MAX_CALL_DEPTH || self.call_steps.get() == 0 {
            return somewhere();
        }
        let known = args.iter().any(Value::is_known) || this.is_some();
        if !known && let Some(returned) = self.return_values.borrow().get(&function) {
            return returned.clone();
        }
        if !known {
            // A recursive call returns an unknown value.
            self.return_values.borrow_mut().insert(function, somewhere());
        }
        let this = match (this, lambda.this) {
            (_, ThisBinding::Lexical) => None,
            (Some(this), _) => Some(this.clone()),
            (None, ThisBinding::Global) => Some(Value::root(Root::Global)),
            (None, ThisBinding::Undefined) => Some(Value::Undefined),
        };
        self.frames.borrow_mut().push(Frame { names: FxHashMap::default(), this });
        for (index, pat) in lambda.params.iter().enumerate() {
            match pat {
                Pat::Rest(rest) => self.bind(&rest.arg, Value::List(args.get(index..).unwrap_or_default().into())),
                pat => self.bind(pat, args.get(index).cloned().unwrap_or(Value::Undefined)),
            }
        }
        let value = match lambda.body {
            Body::Expr(expr) => self.value(expr),
            Body::Block(stmts) => self.eval_body(stmts),
        };
        self.frames.borrow_mut().pop();
        let value = match value {
            Value::Unknown => somewhere(),
            value if !known && !matches!(value, Value::Text(_) | Value::List(_)) && !value.is_known() => somewhere(),
            value => value,
        };
        if !known {
            self.return_values.borrow_mut().insert(function, value.clone());
        }
        value
    }

    /// Takes a step of the budget; returns false if none is left.
    pub(super) fn take_step(&self) -> bool {
        let left = self.call_steps.get();
        self.call_steps.set(left.saturating_sub(1));
        left > 0
    }

    /// Binds the names of a pattern in the current call.
    pub(super) fn bind(&self, pat: &Pat, value: Value) {
        match pat {
            Pat::Ident(ident) => self.set(ident.to_id(), value),
            Pat::Assign(assign) => {
                let value = if value == Value::Undefined { self.value(&assign.right) } else { value };
                self.bind(&assign.left, value);
            }
            Pat::Array(array) => {
                for (index, elem) in array.elems.iter().enumerate() {
                    match elem {
                        Some(Pat::Rest(rest)) => {
                            let rest_of = match &value {
                                Value::List(list) => Value::List(list.get(index..).unwrap_or_default().into()),
                                _ => Value::Unknown,
                            };
                            self.bind(&rest.arg, rest_of);
                        }
                        Some(elem) => {
                            let index = f64::from(u32::try_from(index).unwrap_or(u32::MAX));
                            self.bind(elem, self.get(&value, &Value::Number(index)));
                        }
                        None => {}
                    }
                }
            }
            Pat::Object(object) => {
                for prop in &object.props {
                    match prop {
                        ObjectPatProp::KeyValue(pair) => {
                            let key = self.prop_name(&pair.key);
                            self.bind(&pair.value, self.get(&value, &key));
                        }
                        ObjectPatProp::Assign(short) => {
                            let taken = self.get(&value, &Value::name(&short.key.sym));
                            let taken = match &short.value {
                                Some(default) if matches!(taken, Value::Undefined | Value::Unknown) => {
                                    self.value(default)
                                }
                                _ => taken,
                            };
                            self.set(short.key.to_id(), taken);
                        }
                        ObjectPatProp::Rest(rest) => self.bind(&rest.arg, Value::Unknown),
                    }
                }
            }
            Pat::Rest(_) | Pat::Expr(_) | Pat::Invalid(_) => {}
        }
    }

    fn set(&self, id: Id, value: Value) {
        if let Some(frame) = self.frames.borrow_mut().last_mut() {
            frame.names.insert(id, value);
        }
    }

    /// Assigns to a local variable of the current calls; other names stay unchanged.
    pub(super) fn assign(&self, id: &Id, value: Value) {
        let mut frames = self.frames.borrow_mut();
        if let Some(known) = frames.iter_mut().rev().find_map(|frame| frame.names.get_mut(id)) {
            *known = value;
        }
    }

    /// Evaluates `target = value` inside of a call.
    pub(super) fn assign_target(&self, target: &AssignTarget, value: &Value) {
        match target {
            AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) => self.assign(&ident.to_id(), value.clone()),
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => self.assign_member(member, value),
            AssignTarget::Simple(_) => {}
            AssignTarget::Pat(pat) => {
                let pat: Pat = pat.clone().into();
                self.bind(&pat, value.clone());
            }
        }
    }

    fn assign_member(&self, member: &MemberExpr, value: &Value) {
        let key = self.key(&member.prop);
        match self.value(&member.obj) {
            Value::List(list) => {
                let Expr::Ident(ident) = peel_parens(&member.obj) else { return };
                let changed = match key.as_number().and_then(as_index) {
                    Some(index) if index <= list.len() && index < MAX_LIST_LEN => {
                        let mut list = list.to_vec();
                        if index == list.len() {
                            list.push(value.clone());
                        } else {
                            list[index] = value.clone();
                        }
                        Value::List(list.into())
                    }
                    _ => Value::Unknown,
                };
                self.assign(&ident.to_id(), changed);
            }
            object => {
                if let (Some(Allocation::Evaluated(made)), Some(name)) = (object.as_allocation(), key.to_js_string()) {
                    let mut props = made.props.borrow_mut();
                    if props.len() < MAX_LIST_LEN {
                        props.push((name.into(), value.clone()));
                    }
                }
            }
        }
    }

    /// Evaluates a compound assignment such as `target += value` inside of a call.
    pub(super) fn compound_assign(&self, assign: &AssignExpr) -> Value {
        let before = match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) => self.ident_value(ident),
            AssignTarget::Simple(SimpleAssignTarget::Member(member)) => {
                self.get(&self.value(&member.obj), &self.key(&member.prop))
            }
            _ => Value::Unknown,
        };
        let right = self.value(&assign.right);
        let value = match assign.op {
            AssignOp::AddAssign => before.plus(&right),
            AssignOp::SubAssign => fold::binary(BinaryOp::Sub, &before, &right),
            AssignOp::MulAssign => fold::binary(BinaryOp::Mul, &before, &right),
            AssignOp::DivAssign => fold::binary(BinaryOp::Div, &before, &right),
            AssignOp::ModAssign => fold::binary(BinaryOp::Mod, &before, &right),
            AssignOp::BitXorAssign => fold::binary(BinaryOp::BitXor, &before, &right),
            AssignOp::BitOrAssign => fold::binary(BinaryOp::BitOr, &before, &right),
            AssignOp::BitAndAssign => fold::binary(BinaryOp::BitAnd, &before, &right),
            AssignOp::LShiftAssign => fold::binary(BinaryOp::LShift, &before, &right),
            AssignOp::RShiftAssign => fold::binary(BinaryOp::RShift, &before, &right),
            AssignOp::ZeroFillRShiftAssign => fold::binary(BinaryOp::ZeroFillRShift, &before, &right),
            AssignOp::OrAssign | AssignOp::NullishAssign => logical_or(before, || right),
            _ => Value::Unknown,
        };
        self.assign_target(&assign.left, &value);
        value
    }

    /// Evaluates `name++` and `name--`.
    pub(super) fn update(&self, update: &UpdateExpr) -> Value {
        let Expr::Ident(ident) = peel_parens(&update.arg) else { return Value::Unknown };
        if self.frames.borrow().is_empty() {
            return Value::Unknown;
        }
        let Some(before) = self.ident_value(ident).to_number() else {
            self.assign(&ident.to_id(), Value::Unknown);
            return Value::Unknown;
        };
        let after = if update.op == UpdateOp::PlusPlus { before + 1.0 } else { before - 1.0 };
        self.assign(&ident.to_id(), Value::Number(after));
        Value::Number(if update.prefix { after } else { before })
    }
}
