//! Evaluation of expressions.

use swc_ecma_ast::{
    AssignOp, BinaryOp, Callee, Expr, ExprOrSpread, Lit, MemberExpr, MemberProp, NewExpr, OptChainBase, PropName,
    TaggedTpl, Tpl, UnaryOp,
};

use crate::semantics::bindings::{Bindings, MAX_STEPS, node_address};
use crate::semantics::fold;
use crate::semantics::value::{AccessPath, Allocation, Key, KeyPath, Literal, Root, Value};
use crate::syntax::expr::{peel_parens, returns_this};

impl Bindings<'_> {
    /// Returns the value of an expression.
    pub(crate) fn value(&self, expr: &Expr) -> Value {
        // A name is looked up each time: caching it while it is being resolved would store an
        // intermediate value.
        if let Expr::Ident(ident) = expr {
            return self.with_step(|| self.ident_value(ident));
        }
        if !self.frames.borrow().is_empty() {
            return self.with_step(|| self.evaluate(expr));
        }
        let place = node_address(expr);
        if let Some(known) = self.cache.borrow().get(&place) {
            return known.clone();
        }
        // A cyclic definition is unknown.
        self.cache.borrow_mut().insert(place, Value::Unknown);
        let value = self.with_step(|| self.evaluate(expr));
        self.cache.borrow_mut().insert(place, value.clone());
        value
    }

    /// Runs `work` one step deeper, unless the step limit is reached.
    fn with_step(&self, work: impl FnOnce() -> Value) -> Value {
        if self.steps.get() >= MAX_STEPS || (!self.frames.borrow().is_empty() && !self.take_step()) {
            return Value::Unknown;
        }
        self.steps.set(self.steps.get() + 1);
        let value = work();
        self.steps.set(self.steps.get() - 1);
        value
    }

    fn evaluate(&self, expr: &Expr) -> Value {
        match expr {
            Expr::Lit(lit) => literal_value(lit),
            Expr::Ident(ident) => self.ident_value(ident),
            Expr::This(this) => self.this_value(node_address(this)),
            Expr::Paren(paren) => self.value(&paren.expr),
            Expr::Seq(seq) => match seq.exprs.split_last() {
                Some((last, before)) => {
                    if !self.frames.borrow().is_empty() {
                        for expr in before {
                            self.value(expr);
                        }
                    }
                    self.value(last)
                }
                None => Value::Unknown,
            },
            Expr::Assign(assign) => self.eval_assign(assign),
            Expr::Update(update) => self.update(update),
            Expr::Await(waits) => self.value(&waits.arg),
            Expr::TsAs(cast) => self.value(&cast.expr),
            Expr::TsSatisfies(cast) => self.value(&cast.expr),
            Expr::TsNonNull(cast) => self.value(&cast.expr),
            Expr::TsTypeAssertion(cast) => self.value(&cast.expr),
            Expr::TsConstAssertion(cast) => self.value(&cast.expr),
            Expr::TsInstantiation(cast) => self.value(&cast.expr),
            Expr::Fn(function) => {
                self.allocation_or_literal(Literal::Function, self.id_of(&*function.function).map(Allocation::Function))
            }
            Expr::Arrow(arrow) => {
                self.allocation_or_literal(Literal::Function, self.id_of(arrow).map(Allocation::Function))
            }
            Expr::Class(class) => {
                self.allocation_or_literal(Literal::Class, self.id_of(&*class.class).map(Allocation::Class))
            }
            Expr::Object(object) => self.eval_object(object),
            Expr::Array(list) => self.list(&list.elems),
            Expr::Tpl(template) => self.template(template),
            Expr::TaggedTpl(tagged) => self.tagged_template(tagged),
            Expr::Bin(binary) => self.binary(binary.op, &binary.left, &binary.right),
            Expr::Unary(unary) => match unary.op {
                UnaryOp::Void => Value::Undefined,
                op => fold::unary(op, &self.value(&unary.arg)),
            },
            Expr::Cond(choice) => match self.value(&choice.test).to_boolean() {
                Some(true) => self.value(&choice.cons),
                Some(false) => self.value(&choice.alt),
                None => logical_or(self.value(&choice.cons), || self.value(&choice.alt)),
            },
            Expr::Member(member) => self.member(member),
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => self.member(member),
                OptChainBase::Call(call) => self.eval_call(&call.callee, &call.args),
            },
            Expr::Call(call) => match &call.callee {
                Callee::Expr(callee) => self.eval_call(callee, &call.args),
                Callee::Import(_) => self.module(call.args.first()),
                Callee::Super(_) => Value::Unknown,
            },
            Expr::New(new) => self.eval_new(new),
            _ => Value::Unknown,
        }
    }

    #[expect(clippy::unused_self, reason = "reads as what the names say of it")]
    fn allocation_or_literal(&self, literal: Literal, known: Option<Allocation>) -> Value {
        known.map_or_else(|| Value::root(Root::Literal(literal)), |known| Value::allocated(literal, known))
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Value {
        let left = self.value(left);
        match op {
            BinaryOp::LogicalOr | BinaryOp::NullishCoalescing => logical_or(left, || self.value(right)),
            BinaryOp::LogicalAnd => match left.to_boolean() {
                Some(false) => left,
                Some(true) => self.value(right),
                None => self.value(right).external_or_unknown(),
            },
            _ => fold::binary(op, &left, &self.value(right)),
        }
    }

    fn member(&self, member: &MemberExpr) -> Value {
        let key = self.key(&member.prop);
        if let (Expr::Ident(ident), Some(name)) = (peel_parens(&member.obj), key.as_text()) {
            let id = ident.to_id();
            if !self.enums.is_empty()
                && let Some(value) = self.enums.get(&id).and_then(|members| members.get(name))
            {
                return value.clone();
            }
            let written = self.by_id.get(&id).map(|binding| binding.members.as_slice()).unwrap_or_default();
            if let Some(value) = self.written_member(written, name) {
                return value;
            }
        }
        self.get(&self.value(&member.obj), &key)
    }

    /// Returns the value last assigned to a member of this name, if it is an access path or a text.
    pub(super) fn written_member(&self, written: &[(&MemberProp, &Expr)], name: &str) -> Option<Value> {
        written.iter().rev().take(8).find_map(|(prop, value)| {
            (self.key(prop).as_text() == Some(name)).then(|| self.value(value)).filter(|value| {
                matches!(value, Value::Text(_) | Value::List(_)) || (value.is_known() && value.as_path().is_some())
            })
        })
    }

    /// Returns the key of a member.
    pub(crate) fn key(&self, prop: &MemberProp) -> Value {
        match prop {
            MemberProp::Ident(name) => Value::name(&name.sym),
            MemberProp::PrivateName(name) => Value::text(&format!("#{}", name.name)),
            MemberProp::Computed(computed) => self.value(&computed.expr),
        }
    }

    pub(crate) fn prop_name(&self, name: &PropName) -> Value {
        match name {
            PropName::Ident(name) => Value::name(&name.sym),
            PropName::Str(text) => Value::name(&text.value.to_atom_lossy()),
            PropName::Num(number) => Value::Number(number.value),
            PropName::Computed(computed) => self.value(&computed.expr),
            PropName::BigInt(_) => Value::Unknown,
        }
    }

    fn list(&self, elems: &[Option<ExprOrSpread>]) -> Value {
        let mut values = Vec::with_capacity(elems.len());
        for elem in elems {
            match elem {
                None => values.push(Value::Undefined),
                Some(ExprOrSpread { spread: None, expr }) => values.push(self.value(expr)),
                Some(ExprOrSpread { spread: Some(_), expr }) => match self.value(expr) {
                    Value::List(list) => values.extend(list.iter().cloned()),
                    Value::Text(text) => values.extend(text.chars().map(|letter| Value::text(&letter.to_string()))),
                    _ => return Value::root(Root::Literal(Literal::Other)),
                },
            }
        }
        Value::list(values)
    }

    fn template(&self, template: &Tpl) -> Value {
        let mut text = String::new();
        for (index, quasi) in template.quasis.iter().enumerate() {
            let Some(cooked) = &quasi.cooked else { return Value::Unknown };
            text.push_str(&cooked.to_string_lossy());
            if let Some(expr) = template.exprs.get(index) {
                let Some(part) = self.value(expr).to_js_string() else { return Value::Unknown };
                text.push_str(&part);
            }
        }
        Value::text(&text)
    }

    /// Evaluates a tagged template: `String.raw`, or a tag function of the source.
    fn tagged_template(&self, tagged: &TaggedTpl) -> Value {
        let tag = self.value(&tagged.tag);
        if tag == Value::global("String").member(&Value::text("raw")) {
            let mut text = String::new();
            for (index, quasi) in tagged.tpl.quasis.iter().enumerate() {
                text.push_str(&quasi.raw);
                if let Some(expr) = tagged.tpl.exprs.get(index) {
                    let Some(part) = self.value(expr).to_js_string() else { return Value::Unknown };
                    text.push_str(&part);
                }
            }
            return Value::text(&text);
        }
        let Some(Allocation::Function(function)) = tag.as_allocation() else {
            return Value::root(Root::Unknown);
        };
        let quasis = tagged.tpl.quasis.iter().map(|quasi| {
            quasi.cooked.as_ref().map_or(Value::Undefined, |cooked| Value::text(&cooked.to_string_lossy()))
        });
        let mut args = vec![Value::List(quasis.collect())];
        args.extend(tagged.tpl.exprs.iter().map(|expr| self.value(expr)));
        self.call(*function, None, &args)
    }

    /// Returns the values of arguments, up to the first unknown spread.
    pub(crate) fn args(&self, args: &[ExprOrSpread]) -> Vec<Value> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let value = self.value(&arg.expr);
            match (arg.spread, value) {
                (None, value) => values.push(value),
                (Some(_), Value::List(list)) => values.extend(list.iter().cloned()),
                (Some(_), _) => break,
            }
        }
        values
    }

    /// Evaluates a call.
    fn eval_call(&self, callee: &Expr, args: &[ExprOrSpread]) -> Value {
        if returns_this(callee) {
            return Value::root(Root::Global);
        }
        if let Expr::Member(member) = peel_parens(callee)
            && let Some(name) = self.key(&member.prop).as_text()
            && let Some(value) = self.eval_method_call(member, name, args)
        {
            return value;
        }
        let callee = self.value(callee);
        let Some(thing) = callee.as_path() else { return Value::root(Root::Unknown) };
        if let Some(Allocation::Function(function)) = callee.as_allocation() {
            return self.call(*function, None, &self.args(args));
        }
        if thing.module_name() == Some("module") && thing.last_name() == Some("createRequire") {
            return Value::global("require");
        }
        if thing.module_name() == Some("util") && thing.last_name() == Some("promisify") {
            return args.first().map_or(Value::Unknown, |arg| self.value(&arg.expr));
        }
        if thing.root == Root::Global {
            let names = thing.names().unwrap_or_default();
            match names.as_slice() {
                ["require"]
                | ["module" | "process", "require"]
                | ["process", "getBuiltinModule"]
                | ["process" | "require", "mainModule" | "main", "require"] => {
                    return self.module(args.first());
                }
                ["RegExp"] => return self.eval_regexp(args),
                _ => {
                    let args = self.args(args);
                    if let Some(value) = self.eval_global_call(&names, &args) {
                        return value;
                    }
                }
            }
        }
        if tracks_result(thing) { callee.call_result() } else { Value::root(Root::Unknown) }
    }

    fn module(&self, name: Option<&ExprOrSpread>) -> Value {
        let name = name.map_or(Value::Unknown, |name| self.value(&name.expr));
        Value::module(&name.to_js_string().unwrap_or_else(|| "…".to_owned()), KeyPath::new())
    }

    fn eval_new(&self, new: &NewExpr) -> Value {
        let args = new.args.as_deref().unwrap_or_default();
        let class = self.value(&new.callee);
        if let Some(Allocation::Class(class)) = class.as_allocation() {
            return self.instantiate(*class, &self.args(args));
        }
        if class.as_path().is_some_and(tracks_result) {
            return class.call_result();
        }
        let Some(names) = class.as_path().filter(|thing| thing.root == Root::Global).and_then(AccessPath::names) else {
            return Value::root(Root::Unknown);
        };
        match names.as_slice() {
            ["RegExp"] => self.eval_regexp(args),
            ["Proxy"] => args.first().map_or(Value::Unknown, |arg| self.value(&arg.expr)),
            [name] => fold::construct(name, &self.args(args)),
            _ => Value::root(Root::Unknown),
        }
    }

    fn eval_regexp(&self, args: &[ExprOrSpread]) -> Value {
        match self.args(args).as_slice() {
            [Value::Text(pattern)] => Value::Pattern(pattern.clone(), "".into()),
            [Value::Text(pattern), Value::Text(flags)] | [Value::Pattern(pattern, flags), ..] => {
                Value::Pattern(pattern.clone(), flags.clone())
            }
            _ => Value::Unknown,
        }
    }

    fn eval_assign(&self, assign: &swc_ecma_ast::AssignExpr) -> Value {
        let in_call = !self.frames.borrow().is_empty();
        match assign.op {
            AssignOp::Assign => {
                let value = self.value(&assign.right);
                if in_call {
                    self.assign_target(&assign.left, &value);
                }
                value
            }
            _ if in_call => self.compound_assign(assign),
            _ => Value::Unknown,
        }
    }
}

/// Returns whether the result of a call is tracked: a file, a connection, an element.
fn tracks_result(thing: &AccessPath) -> bool {
    match &thing.root {
        Root::Module(_) => !thing.keys.is_empty(),
        Root::Global => {
            matches!(thing.keys.first().and_then(Key::name), Some("Bun" | "Deno" | "document" | "navigator"))
                && thing.keys.len() > 1
        }
        _ => false,
    }
}

/// Evaluates `first || second` and `first ?? second`.
pub(super) fn logical_or(first: Value, second: impl FnOnce() -> Value) -> Value {
    match (&first, first.to_boolean()) {
        (_, Some(false)) => second(),
        (Value::Unknown, _) => second().external_or_unknown(),
        // A parameter may be missing at run time; the default then applies.
        (Value::Path(thing), None) if thing.root == Root::Params => match second().external_or_unknown() {
            Value::Unknown => first,
            reached => reached,
        },
        _ => first,
    }
}

fn literal_value(lit: &Lit) -> Value {
    match lit {
        Lit::Str(text) => Value::name(&text.value.to_atom_lossy()),
        Lit::Num(number) => Value::Number(number.value),
        Lit::Bool(value) => Value::Bool(value.value),
        Lit::Null(_) => Value::Null,
        Lit::Regex(regex) => Value::Pattern(regex.exp.clone(), regex.flags.clone()),
        _ => Value::Unknown,
    }
}
