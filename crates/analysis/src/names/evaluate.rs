//! What an expression stands for.

use swc_ecma_ast::{
    AssignOp, BinaryOp, Callee, Expr, ExprOrSpread, Lit, MemberExpr, MemberProp, NewExpr, OptChainBase, PropName,
    TaggedTpl, Tpl, UnaryOp,
};

use super::{Names, STEPS, bare, returns_this};
use crate::fold;
use crate::value::{Key, Known, Literal, Path, Root, Thing, Value};

impl Names<'_> {
    /// What an expression stands for.
    pub(crate) fn value(&self, expr: &Expr) -> Value {
        // A name is looked up again each time, so that one that is asked about on the way need not stay where it is.
        if let Expr::Ident(ident) = expr {
            return self.step(|| self.ident(ident));
        }
        if !self.frames.borrow().is_empty() {
            return self.step(|| self.work_out(expr));
        }
        let place = super::place(expr);
        if let Some(known) = self.known.borrow().get(&place) {
            return known.clone();
        }
        // A name that is worked out through itself is not known.
        self.known.borrow_mut().insert(place, Value::Unknown);
        let value = self.step(|| self.work_out(expr));
        self.known.borrow_mut().insert(place, value.clone());
        value
    }

    /// One step further, if there were not too many.
    fn step(&self, work: impl FnOnce() -> Value) -> Value {
        if self.steps.get() >= STEPS || (!self.frames.borrow().is_empty() && !self.spend()) {
            return Value::Unknown;
        }
        self.steps.set(self.steps.get() + 1);
        let value = work();
        self.steps.set(self.steps.get() - 1);
        value
    }

    fn work_out(&self, expr: &Expr) -> Value {
        match expr {
            Expr::Lit(lit) => literal(lit),
            Expr::Ident(ident) => self.ident(ident),
            Expr::This(this) => self.this(super::place(this)),
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
            Expr::Assign(assign) => self.assigned(assign),
            Expr::Update(update) => self.updated(update),
            Expr::Await(waits) => self.value(&waits.arg),
            Expr::TsAs(cast) => self.value(&cast.expr),
            Expr::TsSatisfies(cast) => self.value(&cast.expr),
            Expr::TsNonNull(cast) => self.value(&cast.expr),
            Expr::TsTypeAssertion(cast) => self.value(&cast.expr),
            Expr::TsConstAssertion(cast) => self.value(&cast.expr),
            Expr::TsInstantiation(cast) => self.value(&cast.expr),
            Expr::Fn(function) => self.made(Literal::Function, self.number(&*function.function).map(Known::Function)),
            Expr::Arrow(arrow) => self.made(Literal::Function, self.number(arrow).map(Known::Function)),
            Expr::Class(class) => self.made(Literal::Class, self.number(&*class.class).map(Known::Class)),
            Expr::Object(object) => self.object_made(object),
            Expr::Array(list) => self.list(&list.elems),
            Expr::Tpl(template) => self.template(template),
            Expr::TaggedTpl(tagged) => self.tagged(tagged),
            Expr::Bin(binary) => self.binary(binary.op, &binary.left, &binary.right),
            Expr::Unary(unary) => match unary.op {
                UnaryOp::Void => Value::Undefined,
                op => fold::unary(op, &self.value(&unary.arg)),
            },
            Expr::Cond(choice) => match self.value(&choice.test).truth() {
                Some(true) => self.value(&choice.cons),
                Some(false) => self.value(&choice.alt),
                None => either(self.value(&choice.cons), || self.value(&choice.alt)),
            },
            Expr::Member(member) => self.member(member),
            Expr::OptChain(chain) => match &*chain.base {
                OptChainBase::Member(member) => self.member(member),
                OptChainBase::Call(call) => self.called(&call.callee, &call.args),
            },
            Expr::Call(call) => match &call.callee {
                Callee::Expr(callee) => self.called(callee, &call.args),
                Callee::Import(_) => self.module(call.args.first()),
                Callee::Super(_) => Value::Unknown,
            },
            Expr::New(new) => self.constructed(new),
            _ => Value::Unknown,
        }
    }

    #[expect(clippy::unused_self, reason = "reads as what the names say of it")]
    fn made(&self, literal: Literal, known: Option<Known>) -> Value {
        known.map_or_else(|| Value::root(Root::Literal(literal)), |known| Value::known(literal, known))
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Value {
        let left = self.value(left);
        match op {
            BinaryOp::LogicalOr | BinaryOp::NullishCoalescing => either(left, || self.value(right)),
            BinaryOp::LogicalAnd => match left.truth() {
                Some(false) => left,
                Some(true) => self.value(right),
                None => self.value(right).reached(),
            },
            _ => fold::binary(op, &left, &self.value(right)),
        }
    }

    fn member(&self, member: &MemberExpr) -> Value {
        let key = self.key(&member.prop);
        if let (Expr::Ident(ident), Some(name)) = (bare(&member.obj), key.as_text()) {
            let id = ident.to_id();
            if !self.enums.is_empty()
                && let Some(value) = self.enums.get(&id).and_then(|members| members.get(name))
            {
                return value.clone();
            }
            let written = self.bindings.get(&id).map(|binding| binding.members.as_slice()).unwrap_or_default();
            if let Some(value) = self.written(written, name) {
                return value;
            }
        }
        self.get(&self.value(&member.obj), &key)
    }

    /// What is written to a member of this name, where it is a thing or a text.
    pub(super) fn written(&self, written: &[(&MemberProp, &Expr)], name: &str) -> Option<Value> {
        written.iter().rev().take(8).find_map(|(prop, value)| {
            (self.key(prop).as_text() == Some(name)).then(|| self.value(value)).filter(|value| {
                matches!(value, Value::Text(_) | Value::List(_)) || (value.is_known() && value.as_thing().is_some())
            })
        })
    }

    /// The key of a member.
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
                let Some(part) = self.value(expr).string() else { return Value::Unknown };
                text.push_str(&part);
            }
        }
        Value::text(&text)
    }

    /// A tagged template: `String.raw` and tags of the source.
    fn tagged(&self, tagged: &TaggedTpl) -> Value {
        let tag = self.value(&tagged.tag);
        if tag == Value::global("String").member(&Value::text("raw")) {
            let mut text = String::new();
            for (index, quasi) in tagged.tpl.quasis.iter().enumerate() {
                text.push_str(&quasi.raw);
                if let Some(expr) = tagged.tpl.exprs.get(index) {
                    let Some(part) = self.value(expr).string() else { return Value::Unknown };
                    text.push_str(&part);
                }
            }
            return Value::text(&text);
        }
        let Some(Known::Function(function)) = tag.as_known() else {
            return Value::root(Root::Somewhere);
        };
        let quasis = tagged.tpl.quasis.iter().map(|quasi| {
            quasi.cooked.as_ref().map_or(Value::Undefined, |cooked| Value::text(&cooked.to_string_lossy()))
        });
        let mut args = vec![Value::List(quasis.collect())];
        args.extend(tagged.tpl.exprs.iter().map(|expr| self.value(expr)));
        self.call(*function, None, &args)
    }

    /// The values of arguments, up to the first spread that is not known.
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

    /// What a call gives.
    fn called(&self, callee: &Expr, args: &[ExprOrSpread]) -> Value {
        if returns_this(callee) {
            return Value::root(Root::Global);
        }
        if let Expr::Member(member) = bare(callee)
            && let Some(name) = self.key(&member.prop).as_text()
            && let Some(value) = self.method(member, name, args)
        {
            return value;
        }
        let callee = self.value(callee);
        let Some(thing) = callee.as_thing() else { return Value::root(Root::Somewhere) };
        if let Some(Known::Function(function)) = callee.as_known() {
            return self.call(*function, None, &self.args(args));
        }
        if thing.module() == Some("module") && thing.last() == Some("createRequire") {
            return Value::global("require");
        }
        if thing.module() == Some("util") && thing.last() == Some("promisify") {
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
                ["RegExp"] => return self.pattern(args),
                _ => {
                    let args = self.args(args);
                    if let Some(value) = self.global_call(&names, &args) {
                        return value;
                    }
                }
            }
        }
        if has_results(thing) { callee.result() } else { Value::root(Root::Somewhere) }
    }

    fn module(&self, name: Option<&ExprOrSpread>) -> Value {
        let name = name.map_or(Value::Unknown, |name| self.value(&name.expr));
        Value::module(&name.string().unwrap_or_else(|| "…".to_owned()), Path::new())
    }

    fn constructed(&self, new: &NewExpr) -> Value {
        let args = new.args.as_deref().unwrap_or_default();
        let class = self.value(&new.callee);
        if let Some(Known::Class(class)) = class.as_known() {
            return self.instance(*class, &self.args(args));
        }
        if class.as_thing().is_some_and(has_results) {
            return class.result();
        }
        let Some(names) = class.as_thing().filter(|thing| thing.root == Root::Global).and_then(Thing::names) else {
            return Value::root(Root::Somewhere);
        };
        match names.as_slice() {
            ["RegExp"] => self.pattern(args),
            ["Proxy"] => args.first().map_or(Value::Unknown, |arg| self.value(&arg.expr)),
            [name] => fold::constructed(name, &self.args(args)),
            _ => Value::root(Root::Somewhere),
        }
    }

    fn pattern(&self, args: &[ExprOrSpread]) -> Value {
        match self.args(args).as_slice() {
            [Value::Text(pattern)] => Value::Pattern(pattern.clone(), "".into()),
            [Value::Text(pattern), Value::Text(flags)] | [Value::Pattern(pattern, flags), ..] => {
                Value::Pattern(pattern.clone(), flags.clone())
            }
            _ => Value::Unknown,
        }
    }

    fn assigned(&self, assign: &swc_ecma_ast::AssignExpr) -> Value {
        let in_call = !self.frames.borrow().is_empty();
        match assign.op {
            AssignOp::Assign => {
                let value = self.value(&assign.right);
                if in_call {
                    self.put(&assign.left, &value);
                }
                value
            }
            _ if in_call => self.put_more(assign),
            _ => Value::Unknown,
        }
    }
}

/// Whether what a call of this gives is worth to be followed: a file, a connection, an element.
fn has_results(thing: &Thing) -> bool {
    match &thing.root {
        Root::Module(_) => !thing.path.is_empty(),
        Root::Global => {
            matches!(thing.path.first().and_then(Key::name), Some("Bun" | "Deno" | "document" | "navigator"))
                && thing.path.len() > 1
        }
        _ => false,
    }
}

/// The first value where it is something, else the other one.
pub(super) fn either(first: Value, second: impl FnOnce() -> Value) -> Value {
    match (&first, first.truth()) {
        (_, Some(false)) => second(),
        (Value::Unknown, _) => second().reached(),
        // What the caller gives may be nothing, and then it is the other one.
        (Value::Thing(thing), None) if thing.root == Root::Params => match second().reached() {
            Value::Unknown => first,
            reached => reached,
        },
        _ => first,
    }
}

fn literal(lit: &Lit) -> Value {
    match lit {
        Lit::Str(text) => Value::name(&text.value.to_atom_lossy()),
        Lit::Num(number) => Value::Number(number.value),
        Lit::Bool(value) => Value::Bool(value.value),
        Lit::Null(_) => Value::Null,
        Lit::Regex(regex) => Value::Pattern(regex.exp.clone(), regex.flags.clone()),
        _ => Value::Unknown,
    }
}
