//! What the names of a source stand for, and through them every expression.
//!
//! Two steps: [`Names::of`] notes where each name comes from; [`Names::value`] works out what an expression stands for,
//! through aliases, destructuring, folding and calls whose result is certain.
//!
//! Invariant: each expression is worked out once, so the whole takes time in proportion to the source.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use swc_common::SyntaxContext;
use swc_ecma_ast::{
    ArrowExpr, AssignExpr, AssignOp, AssignTarget, BinaryOp, Callee, CatchClause, ClassDecl, Expr, ExprOrSpread,
    ExprStmt, FnDecl, ForInStmt, ForOfStmt, Function, Id, Ident, ImportDecl, ImportSpecifier, Lit, MemberExpr,
    MemberProp, ModuleExportName, ObjectPatProp, OptChainBase, Param, Pat, Program, Prop, PropName, PropOrSpread,
    SimpleAssignTarget, Stmt, TsEntityName, TsModuleRef, UnaryOp, UpdateExpr, VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::fold;
use crate::value::{Key, Literal, Root, Value};

/// The longest initialiser that is kept, in bytes: a longer one is no alias.
const KEPT: u32 = 16 << 10;

/// How many steps through names and members one value may take.
const STEPS: u32 = 60;

/// Where the names of a source come from.
pub(crate) struct Names {
    bindings: HashMap<Id, Binding>,
    /// The members of each `enum`.
    enums: HashMap<Id, HashMap<String, Value>>,
    unresolved: SyntaxContext,
    known: RefCell<HashMap<usize, Value>>,
    /// Names to which something is appended, which may be what they stand for themselves.
    appended: RefCell<HashMap<Id, Value>>,
    steps: Cell<u32>,
}

#[derive(Default)]
struct Binding {
    origin: Option<Origin>,
    writes: u32,
    /// What is appended to it with `+=`.
    appended: Vec<Expr>,
}

enum Origin {
    /// An expression, and the members that destructuring takes of it.
    Expr(Box<Expr>, Vec<Value>),
    Value(Value),
}

impl Names {
    /// Notes every name of a program.
    pub(crate) fn of(program: &Program, unresolved: SyntaxContext) -> Self {
        let mut names = Self {
            bindings: HashMap::new(),
            enums: HashMap::new(),
            unresolved,
            known: RefCell::default(),
            appended: RefCell::default(),
            steps: Cell::new(0),
        };
        program.visit_with(&mut Noting { names: &mut names });
        // What was asked on the way was asked before all names were known.
        names.known.borrow_mut().clear();
        names.appended.borrow_mut().clear();
        names
    }

    /// Whether nothing in the source declares this name.
    pub(crate) fn is_free(&self, ident: &Ident) -> bool {
        ident.ctxt == self.unresolved
    }

    /// What an expression stands for.
    pub(crate) fn value(&self, expr: &Expr) -> Value {
        // A name is looked up again each time, so that one that is asked about on the way need not stay where it is.
        if let Expr::Ident(ident) = expr {
            return self.step(|| self.ident(ident));
        }
        let place = std::ptr::from_ref(expr).addr();
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
        if self.steps.get() >= STEPS {
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
            Expr::This(_) => Value::thing(Root::This, Vec::new()),
            Expr::Paren(paren) => self.value(&paren.expr),
            Expr::Seq(seq) => seq.exprs.last().map_or(Value::Unknown, |last| self.value(last)),
            Expr::Assign(assign) if assign.op == AssignOp::Assign => self.value(&assign.right),
            Expr::Await(waits) => self.value(&waits.arg),
            Expr::TsAs(cast) => self.value(&cast.expr),
            Expr::TsSatisfies(cast) => self.value(&cast.expr),
            Expr::TsNonNull(cast) => self.value(&cast.expr),
            Expr::TsTypeAssertion(cast) => self.value(&cast.expr),
            Expr::TsConstAssertion(cast) => self.value(&cast.expr),
            Expr::Fn(_) | Expr::Arrow(_) => Value::thing(Root::Literal(Literal::Function), Vec::new()),
            Expr::Class(_) => Value::thing(Root::Literal(Literal::Class), Vec::new()),
            Expr::Object(_) => Value::thing(Root::Literal(Literal::Object), Vec::new()),
            Expr::Array(list) => self.list(&list.elems),
            Expr::Tpl(template) => self.template(template),
            Expr::Bin(binary) => {
                let left = self.value(&binary.left);
                match binary.op {
                    BinaryOp::LogicalOr | BinaryOp::NullishCoalescing => either(left, || self.value(&binary.right)),
                    BinaryOp::LogicalAnd => match left.truth() {
                        Some(false) => left,
                        Some(true) => self.value(&binary.right),
                        None => reached(self.value(&binary.right)),
                    },
                    _ => fold::binary(binary.op, &left, &self.value(&binary.right)),
                }
            }
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
            Expr::New(new) => {
                let args = new.args.as_deref().unwrap_or_default();
                if self.value(&new.callee) == Value::global("RegExp") {
                    return self.pattern(args);
                }
                Value::thing(Root::Somewhere, Vec::new())
            }
            _ => Value::Unknown,
        }
    }

    fn ident(&self, ident: &Ident) -> Value {
        if self.is_free(ident) {
            return Value::global(&ident.sym);
        }
        let Some(binding) = self.bindings.get(&ident.to_id()) else { return Value::Unknown };
        if !binding.appended.is_empty() {
            // `s += s; s += s` asks for itself twice each time.
            if let Some(known) = self.appended.borrow().get(&ident.to_id()) {
                return known.clone();
            }
            self.appended.borrow_mut().insert(ident.to_id(), Value::Unknown);
            let value = self.bound(binding);
            self.appended.borrow_mut().insert(ident.to_id(), value.clone());
            return value;
        }
        self.bound(binding)
    }

    /// What a binding stands for.
    fn bound(&self, binding: &Binding) -> Value {
        let first = match &binding.origin {
            Some(_) if binding.writes > 0 && binding.appended.len() != binding.writes as usize => {
                return Value::Unknown;
            }
            None => return Value::Unknown,
            Some(Origin::Value(value)) => value.clone(),
            Some(Origin::Expr(expr, keys)) => keys.iter().fold(self.value(expr), |value, key| value.member(key)),
        };
        binding.appended.iter().fold(first, |value, more| value.plus(&self.value(more)))
    }

    /// The expression that a name was given, if it was given one and no other.
    pub(crate) fn origin(&self, ident: &Ident) -> Option<&Expr> {
        match self.bindings.get(&ident.to_id())? {
            Binding { origin: Some(Origin::Expr(expr, keys)), writes: 0, .. } if keys.is_empty() => Some(expr),
            _ => None,
        }
    }

    /// The object literal that an expression is, or names.
    pub(crate) fn object<'a>(&'a self, expr: &'a Expr) -> Option<&'a swc_ecma_ast::ObjectLit> {
        match bare(expr) {
            Expr::Object(object) => Some(object),
            Expr::Ident(ident) => match bare(self.origin(ident)?) {
                Expr::Object(object) => Some(object),
                _ => None,
            },
            _ => None,
        }
    }

    fn member(&self, member: &MemberExpr) -> Value {
        let key = self.key(&member.prop);
        if let (Expr::Ident(ident), Some(name)) = (bare(&member.obj), key.as_text())
            && let Some(value) = self.enums.get(&ident.to_id()).and_then(|members| members.get(name))
        {
            return value.clone();
        }
        if let (Some(object), Some(name)) = (self.object(&member.obj), key.string())
            && let Some(value) = self.property(object, &name)
        {
            return value;
        }
        self.value(&member.obj).member(&key)
    }

    /// The value of a property of an object literal.
    fn property(&self, object: &swc_ecma_ast::ObjectLit, name: &str) -> Option<Value> {
        object.props.iter().rev().find_map(|prop| {
            let PropOrSpread::Prop(prop) = prop else { return None };
            match &**prop {
                Prop::KeyValue(pair) if self.prop_name(&pair.key).string().as_deref() == Some(name) => {
                    Some(self.value(&pair.value))
                }
                Prop::Shorthand(ident) if *ident.sym == *name => Some(self.ident(ident)),
                Prop::Method(method) if self.prop_name(&method.key).string().as_deref() == Some(name) => {
                    Some(Value::thing(Root::Literal(Literal::Function), Vec::new()))
                }
                _ => None,
            }
        })
    }

    /// The key of a member.
    pub(crate) fn key(&self, prop: &MemberProp) -> Value {
        match prop {
            MemberProp::Ident(name) => Value::text(&name.sym),
            MemberProp::PrivateName(name) => Value::text(&format!("#{}", name.name)),
            MemberProp::Computed(computed) => self.value(&computed.expr),
        }
    }

    fn prop_name(&self, name: &PropName) -> Value {
        match name {
            PropName::Ident(name) => Value::text(&name.sym),
            PropName::Str(text) => Value::text(&text.value.to_string_lossy()),
            PropName::Num(number) => Value::Number(number.value),
            PropName::Computed(computed) => self.value(&computed.expr),
            PropName::BigInt(_) => Value::Unknown,
        }
    }

    fn list(&self, elems: &[Option<ExprOrSpread>]) -> Value {
        // A long list is data.
        if elems.len() > 2000 {
            return Value::thing(Root::Literal(Literal::Other), Vec::new());
        }
        let mut values = Vec::with_capacity(elems.len());
        for elem in elems {
            match elem {
                None => values.push(Value::Undefined),
                Some(ExprOrSpread { spread: None, expr }) => values.push(self.value(expr)),
                Some(ExprOrSpread { spread: Some(_), expr }) => match self.value(expr) {
                    Value::List(list) => values.extend(list.iter().cloned()),
                    Value::Text(text) => values.extend(text.chars().map(|letter| Value::text(&letter.to_string()))),
                    _ => return Value::thing(Root::Literal(Literal::Other), Vec::new()),
                },
            }
        }
        Value::List(values.into())
    }

    fn template(&self, template: &swc_ecma_ast::Tpl) -> Value {
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

    /// The values of arguments, up to the first spread that is not known.
    pub(crate) fn args(&self, args: &[ExprOrSpread]) -> Vec<Value> {
        let mut values = Vec::new();
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
            return Value::thing(Root::Global, Vec::new());
        }
        if let Expr::Member(member) = bare(callee)
            && let Some(name) = self.key(&member.prop).as_text()
        {
            let object = self.value(&member.obj);
            if let Some(value) = fold::method(&object, name, &self.args(args)) {
                return value;
            }
        }
        let callee = self.value(callee);
        let Some(thing) = callee.as_thing() else { return Value::thing(Root::Somewhere, Vec::new()) };
        if thing.module() == Some("module") && thing.last() == Some("createRequire") {
            return Value::global("require");
        }
        if thing.root == Root::Global {
            let names = thing.names().unwrap_or_default();
            match names.as_slice() {
                ["require"] | ["module", "require"] => return self.module(args.first()),
                ["RegExp"] => return self.pattern(args),
                _ => {
                    if let Some(value) = fold::global_call(&names, &self.args(args)) {
                        return value;
                    }
                }
            }
        }
        Value::thing(Root::Somewhere, Vec::new())
    }

    fn module(&self, name: Option<&ExprOrSpread>) -> Value {
        let name = name.map_or(Value::Unknown, |name| self.value(&name.expr));
        Value::thing(Root::Module(name.string().unwrap_or_else(|| "…".to_owned()).into()), Vec::new())
    }

    fn pattern(&self, args: &[ExprOrSpread]) -> Value {
        match self.args(args).as_slice() {
            [Value::Text(pattern)] => Value::Pattern(Rc::clone(pattern), "".into()),
            [Value::Text(pattern), Value::Text(flags)] | [Value::Pattern(pattern, flags), ..] => {
                Value::Pattern(Rc::clone(pattern), Rc::clone(flags))
            }
            _ => Value::Unknown,
        }
    }
}

/// An expression without brackets and casts around it.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => bare(&paren.expr),
        Expr::Seq(seq) => seq.exprs.last().map_or(expr, |last| bare(last)),
        Expr::TsAs(cast) => bare(&cast.expr),
        Expr::TsNonNull(cast) => bare(&cast.expr),
        Expr::TsSatisfies(cast) => bare(&cast.expr),
        Expr::TsConstAssertion(cast) => bare(&cast.expr),
        Expr::TsTypeAssertion(cast) => bare(&cast.expr),
        Expr::OptChain(chain) => match &*chain.base {
            OptChainBase::Member(_) | OptChainBase::Call(_) => expr,
        },
        _ => expr,
    }
}

/// Whether this is `function () { return this }`: called, it gives the global object.
fn returns_this(expr: &Expr) -> bool {
    let Expr::Fn(function) = bare(expr) else { return false };
    let statements = function.function.body.as_ref().map(|body| body.stmts.as_slice()).unwrap_or_default();
    matches!(statements, [Stmt::Return(returned)]
        if returned.arg.as_deref().is_some_and(|arg| matches!(bare(arg), Expr::This(_))))
}

/// The first value where it is something, else the other one.
fn either(first: Value, second: impl FnOnce() -> Value) -> Value {
    match (&first, first.truth()) {
        (_, Some(false)) => second(),
        (Value::Unknown, _) => reached(second()),
        _ => first,
    }
}

/// Of a value that may be another one, what matters is whether it may be a global or a module.
fn reached(value: Value) -> Value {
    match value {
        Value::Thing(thing) if matches!(thing.root, Root::Global | Root::Module(_)) => Value::Thing(thing),
        _ => Value::Unknown,
    }
}

fn literal(lit: &Lit) -> Value {
    match lit {
        Lit::Str(text) => Value::text(&text.value.to_string_lossy()),
        Lit::Num(number) => Value::Number(number.value),
        Lit::Bool(value) => Value::Bool(value.value),
        Lit::Null(_) => Value::Null,
        Lit::Regex(regex) => Value::Pattern(regex.exp.as_str().into(), regex.flags.as_str().into()),
        _ => Value::Unknown,
    }
}

/// Notes where each name comes from.
struct Noting<'a> {
    names: &'a mut Names,
}

impl Noting<'_> {
    fn set(&mut self, id: Id, origin: Origin) {
        let binding = self.names.bindings.entry(id).or_default();
        if binding.origin.is_some() {
            binding.writes += 1;
        }
        binding.origin = Some(origin);
    }

    fn value(&mut self, ident: &Ident, value: Value) {
        self.set(ident.to_id(), Origin::Value(value));
    }

    /// Every name of a pattern, and what it takes of an expression.
    fn pattern(&mut self, pat: &Pat, from: &Expr, keys: &[Value]) {
        match pat {
            Pat::Ident(ident) => {
                let small = swc_common::Spanned::span(from);
                let origin = match from {
                    _ if small.hi.0.saturating_sub(small.lo.0) <= KEPT => {
                        Origin::Expr(Box::new(shallow(from)), keys.to_vec())
                    }
                    _ => Origin::Value(Value::Unknown),
                };
                self.set(ident.to_id(), origin);
            }
            Pat::Assign(assign) => self.pattern(&assign.left, from, keys),
            Pat::Object(object) => {
                for prop in &object.props {
                    match prop {
                        ObjectPatProp::KeyValue(pair) => {
                            let key = self.names.prop_name(&pair.key);
                            self.pattern(&pair.value, from, &[keys, &[key]].concat());
                        }
                        ObjectPatProp::Assign(short) => {
                            let keys = [keys, &[Value::text(&short.key.sym)]].concat();
                            self.pattern(&Pat::Ident(short.key.clone()), from, &keys);
                        }
                        ObjectPatProp::Rest(rest) => self.pattern(&rest.arg, from, keys),
                    }
                }
            }
            Pat::Array(array) => {
                for (index, elem) in array.elems.iter().enumerate() {
                    if let Some(elem) = elem {
                        let index = f64::from(u32::try_from(index).unwrap_or(u32::MAX));
                        self.pattern(elem, from, &[keys, &[Value::Number(index)]].concat());
                    }
                }
            }
            Pat::Rest(_) | Pat::Expr(_) | Pat::Invalid(_) => self.unknown(pat),
        }
    }

    /// Every name of a pattern whose value is not known.
    fn unknown(&mut self, pat: &Pat) {
        let mut idents = Idents(Vec::new());
        pat.visit_with(&mut idents);
        for ident in idents.0 {
            self.value(&ident, Value::Unknown);
        }
    }

    /// A parameter of a function: what is reached from it comes from the caller.
    fn parameter(&mut self, pat: &Pat, path: &[Key]) {
        match pat {
            Pat::Ident(ident) => self.value(ident, Value::thing(Root::Params, path.to_vec())),
            Pat::Assign(assign) => self.parameter(&assign.left, path),
            Pat::Object(object) => {
                for prop in &object.props {
                    let (key, pat) = match prop {
                        ObjectPatProp::KeyValue(pair) => (self.names.prop_name(&pair.key), &*pair.value),
                        ObjectPatProp::Assign(short) => {
                            let name = Key::Name((&*short.key.sym).into());
                            let value = Value::thing(Root::Params, [path, &[name]].concat());
                            self.value(&short.key, value);
                            continue;
                        }
                        ObjectPatProp::Rest(rest) => (Value::Unknown, &*rest.arg),
                    };
                    let key = key.string().map_or(Key::Dynamic, |name| Key::Name(name.into()));
                    self.parameter(pat, &[path, &[key]].concat());
                }
            }
            _ => self.unknown(pat),
        }
    }
}

impl Visit for Noting<'_> {
    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Some(init) = &declarator.init {
            self.pattern(&declarator.name, init, &[]);
        }
        declarator.visit_children_with(self);
    }

    fn visit_for_of_stmt(&mut self, loops: &ForOfStmt) {
        loops.visit_children_with(self);
        let mut idents = Idents(Vec::new());
        loops.left.visit_with(&mut idents);
        for ident in idents.0 {
            self.value(&ident, Value::Unknown);
        }
    }

    fn visit_for_in_stmt(&mut self, loops: &ForInStmt) {
        loops.visit_children_with(self);
        let mut idents = Idents(Vec::new());
        loops.left.visit_with(&mut idents);
        for ident in idents.0 {
            self.value(&ident, Value::Unknown);
        }
    }

    fn visit_var_decl(&mut self, declaration: &swc_ecma_ast::VarDecl) {
        if declaration.declare {
            // `declare const process` says that there is one; it makes none.
            for declarator in &declaration.decls {
                if let Some(ident) = declarator.name.as_ident() {
                    let value = Value::global(&ident.sym);
                    self.value(ident, value);
                }
            }
            return;
        }
        declaration.visit_children_with(self);
    }

    fn visit_ts_enum_decl(&mut self, declaration: &swc_ecma_ast::TsEnumDecl) {
        let mut members = HashMap::new();
        for member in &declaration.members {
            let name = match &member.id {
                swc_ecma_ast::TsEnumMemberId::Ident(name) => name.sym.to_string(),
                swc_ecma_ast::TsEnumMemberId::Str(name) => name.value.to_string_lossy().into_owned(),
            };
            let value = member.init.as_ref().map_or(Value::Unknown, |init| self.names.value(init));
            members.insert(name, value);
        }
        self.names.enums.insert(declaration.id.to_id(), members);
    }

    fn visit_ts_import_equals_decl(&mut self, import: &swc_ecma_ast::TsImportEqualsDecl) {
        match &import.module_ref {
            TsModuleRef::TsExternalModuleRef(module) => {
                let root = Root::Module(module.expr.value.to_string_lossy().as_ref().into());
                self.value(&import.id, Value::thing(root, Vec::new()));
            }
            TsModuleRef::TsEntityName(name) => {
                self.set(import.id.to_id(), Origin::Expr(Box::new(entity(name)), Vec::new()));
            }
        }
    }

    fn visit_fn_decl(&mut self, decl: &FnDecl) {
        if decl.declare {
            let value = Value::global(&decl.ident.sym);
            return self.value(&decl.ident, value);
        }
        self.value(&decl.ident, Value::thing(Root::Literal(Literal::Function), Vec::new()));
        decl.visit_children_with(self);
    }

    fn visit_class_decl(&mut self, decl: &ClassDecl) {
        self.value(&decl.ident, Value::thing(Root::Literal(Literal::Class), Vec::new()));
        decl.visit_children_with(self);
    }

    fn visit_function(&mut self, function: &Function) {
        for Param { pat, .. } in &function.params {
            self.parameter(pat, &[]);
        }
        function.visit_children_with(self);
    }

    fn visit_arrow_expr(&mut self, arrow: &ArrowExpr) {
        for pat in &arrow.params {
            self.parameter(pat, &[]);
        }
        arrow.visit_children_with(self);
    }

    fn visit_catch_clause(&mut self, clause: &CatchClause) {
        if let Some(pat) = &clause.param {
            self.unknown(pat);
        }
        clause.visit_children_with(self);
    }

    fn visit_import_decl(&mut self, import: &ImportDecl) {
        let module = Root::Module(import.src.value.to_string_lossy().as_ref().into());
        for specifier in &import.specifiers {
            let (local, path) = match specifier {
                ImportSpecifier::Named(named) => {
                    let name = match &named.imported {
                        Some(ModuleExportName::Ident(name)) => name.sym.to_string(),
                        Some(ModuleExportName::Str(name)) => name.value.to_string_lossy().into_owned(),
                        None => named.local.sym.to_string(),
                    };
                    (&named.local, vec![Key::Name(name.into())])
                }
                ImportSpecifier::Default(default) => (&default.local, Vec::new()),
                ImportSpecifier::Namespace(all) => (&all.local, Vec::new()),
            };
            self.value(local, Value::thing(module.clone(), path));
        }
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) => match assign.op {
                AssignOp::Assign => {
                    let pat = Pat::Ident(ident.clone());
                    self.pattern(&pat, &assign.right, &[]);
                }
                AssignOp::AddAssign => {
                    let binding = self.names.bindings.entry(ident.to_id()).or_default();
                    binding.writes += 1;
                    binding.appended.push(shallow(&assign.right));
                }
                _ => self.value(ident, Value::Unknown),
            },
            AssignTarget::Pat(pat) => {
                let mut idents = Idents(Vec::new());
                pat.visit_with(&mut idents);
                for ident in idents.0 {
                    self.value(&ident, Value::Unknown);
                }
            }
            AssignTarget::Simple(_) => {}
        }
        assign.visit_children_with(self);
    }

    fn visit_update_expr(&mut self, update: &UpdateExpr) {
        if let Expr::Ident(ident) = bare(&update.arg) {
            self.value(ident, Value::Unknown);
        }
        update.visit_children_with(self);
    }

    fn visit_expr_stmt(&mut self, statement: &ExprStmt) {
        statement.visit_children_with(self);
    }
}

/// What `import a = b.c` gives a name to.
pub(crate) fn entity(name: &TsEntityName) -> Expr {
    match name {
        TsEntityName::Ident(ident) => Expr::Ident(ident.clone()),
        TsEntityName::TsQualifiedName(name) => Expr::Member(MemberExpr {
            span: name.span,
            obj: Box::new(entity(&name.left)),
            prop: MemberProp::Ident(name.right.clone()),
        }),
    }
}

/// A copy of an expression; of a function, a name is enough, and what is inside of it is not copied.
fn shallow(expr: &Expr) -> Expr {
    match bare(expr) {
        Expr::Fn(function) if !returns_this(expr) => Expr::Fn(swc_ecma_ast::FnExpr {
            ident: None,
            function: Box::new(Function { span: function.function.span, ..Function::default() }),
        }),
        Expr::Arrow(arrow) => Expr::Arrow(ArrowExpr { span: arrow.span, ..ArrowExpr::default() }),
        Expr::Class(class) => Expr::Class(swc_ecma_ast::ClassExpr {
            ident: None,
            class: Box::new(swc_ecma_ast::Class { span: class.class.span, ..Default::default() }),
        }),
        _ => expr.clone(),
    }
}

/// All names of a pattern.
struct Idents(Vec<Ident>);

impl Visit for Idents {
    fn visit_binding_ident(&mut self, ident: &swc_ecma_ast::BindingIdent) {
        self.0.push(ident.id.clone());
    }

    fn visit_expr(&mut self, _: &Expr) {}
}
