//! Where which text is put in between.

use std::panic::catch_unwind;

use rustc_hash::FxHashSet;
use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    ArrowExpr, AssignExpr, AssignPat, AssignPatProp, AssignTarget, AutoAccessor, AwaitExpr, Class, ClassDecl,
    ClassExpr, ClassMember, ClassMethod, ClassProp, Constructor, Decl, Decorator, DefaultDecl, ExportDecl,
    ExportDefaultDecl, ExportDefaultExpr, Expr, Function, Ident, Key, KeyValueProp, Lit, MemberExpr, MemberProp,
    MethodKind, ModuleItem, Number, Pat, PrivateMethod, PrivateProp, Program, PropName, SimpleAssignTarget,
    StaticBlock, Stmt, VarDeclarator, YieldExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::edits::{Edits, Misplaced};
use super::{Lowered, Lowering};
use crate::names::bare;
use crate::parse::{Read, next_token, problem, range, read, syntax_of_javascript};
use crate::position::Lines;
use crate::walk::{class_of, class_of_statement, decorators_of};

/// What compiled decorators call.
const HELPER: &str = include_str!("helper.js");

/// What is put before a source that uses `Symbol.metadata`, which the engine does not have.
const METADATA: &str = "Symbol.metadata??Object.defineProperty(Symbol,'metadata',{value:Symbol.for('Symbol.metadata'),writable:true,configurable:true});";

/// Compiles the decorators and `accessor` fields of JavaScript.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn lower(source: &str, printed: Printed) -> Lowering {
    // As with the passes of the compiler: whatever is wrong in here, a source does not end the process.
    catch_unwind(|| lower_unguarded(source, printed))
        .unwrap_or_else(|_| Err(vec![problem(&Lines::of(source), (0, 0), NOT_COMPILED.to_owned())]))
}

fn lower_unguarded(source: &str, printed: Printed) -> Lowering {
    let tree = read(source, syntax_of_javascript())?;
    let mut lower = Lower {
        source,
        prefix: prefix(source),
        edits: Edits::default(),
        states: 0,
        name: None,
        uses_metadata: false,
        refused: None,
        printed,
    };
    let Read { program, .. } = tree;
    program.visit_with(&mut lower);
    if let Some(span) = lower.refused {
        let message = "a decorator that yields is not supported: yield before the class, into a variable".to_owned();
        return Err(vec![problem(&Lines::of(source), range(span), message)]);
    }
    if lower.uses_metadata {
        lower.edits.insert_first(first(&program).unwrap_or(source.len()), METADATA);
    }
    let prefix = lower.prefix;
    let applied = lower.edits.apply(source);
    let (mut code, shifts) =
        applied.map_err(|Misplaced { at }| vec![problem(&Lines::of(source), (at, at), NOT_COMPILED.to_owned())])?;
    let helper: Vec<&str> = HELPER.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).collect();
    let helper = helper.join("\n").replace("$D", &prefix).replace("$B", &format!("{prefix}B"));
    code.push('\n');
    code.push_str(&helper);
    Ok(Lowered { code, shifts })
}

/// What is said of decorators that the compiler of decorators cannot place.
const NOT_COMPILED: &str =
    "has decorators in a form that is not compiled: declare each class in a statement of its own";

/// A name that nothing in a source begins with.
fn prefix(source: &str) -> String {
    if !source.contains("$d") {
        return "$d".to_owned();
    }
    let number = |rest: &str| rest.split('_').next().and_then(|digits| digits.parse::<usize>().ok());
    let taken: FxHashSet<usize> =
        source.split("$d").skip(1).map(|rest| &rest[..rest.floor_char_boundary(8)]).filter_map(number).collect();
    let free = (0..=taken.len()).find(|number| !taken.contains(number)).unwrap_or_default();
    format!("$d{free}_")
}

/// Where a program begins, after its directives. The span of a class need not have its decorators in it.
fn first(program: &Program) -> Option<usize> {
    let is_directive = |stmt: &Stmt| matches!(stmt, Stmt::Expr(stmt) if matches!(&*stmt.expr, Expr::Lit(Lit::Str(_))));
    let (span, class) = match program {
        Program::Script(script) => {
            let stmt = script.body.iter().find(|stmt| !is_directive(stmt))?;
            (stmt.span(), class_of_statement(stmt))
        }
        Program::Module(module) => {
            let directive = |item: &&ModuleItem| !matches!(item, ModuleItem::Stmt(stmt) if is_directive(stmt));
            let item = module.body.iter().find(directive)?;
            (item.span(), class_of(item))
        }
    };
    let decorators = class.into_iter().flat_map(|class| &class.decorators).map(|decorator| range(decorator.span).0);
    decorators.chain([range(span).0]).min()
}

/// A text as a literal.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// How a class declaration is exported.
#[derive(Clone, Copy)]
struct Exported {
    /// Where the statement begins.
    start: usize,
    is_default: bool,
}

struct Lower<'a> {
    source: &'a str,
    prefix: String,
    edits: Edits,
    states: usize,
    /// The name that a class expression gets from what it becomes the value of.
    name: Option<String>,
    uses_metadata: bool,
    /// Where a decorator yields.
    refused: Option<Span>,
    printed: Printed,
}

/// Who wrote the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Printed {
    ByAuthor,
    /// With this before the names of private methods that have decorators, which the printer leaves out. No other key
    /// begins with it.
    ByCompiler(String),
}

/// Where a class stands.
#[derive(Clone, Copy)]
enum Role {
    Declaration(Option<Exported>),
    Expression,
}

/// What is decorated of a class.
struct Shape {
    /// Something of it is decorated, or has a key to keep: it has a state.
    has_state: bool,
    is_decorated: bool,
    has_accessor: bool,
}

impl Shape {
    fn new(class: &Class) -> Self {
        let is_decorated = !class.decorators.is_empty();
        let mut shape = Self { has_state: is_decorated, is_decorated, has_accessor: false };
        for member in &class.body {
            shape.has_state |= !decorators_of(member).is_empty();
            if let ClassMember::AutoAccessor(accessor) = member {
                shape.has_accessor = true;
                shape.has_state |= matches!(&accessor.key, Key::Public(PropName::Computed(_)));
            }
        }
        shape
    }
}

/// A class that is compiled.
struct Head<'a> {
    /// The variable that has its state.
    state: &'a str,
    /// What it is called.
    name: &'a str,
    ident: Option<&'a Ident>,
    role: Role,
    waits: bool,
}

/// The kinds of decorated members, as the helper counts them.
const FIELD: u8 = 0;
const ACCESSOR: u8 = 1;

fn kind_of(kind: MethodKind) -> u8 {
    match kind {
        MethodKind::Method => 2,
        MethodKind::Getter => 3,
        MethodKind::Setter => 4,
    }
}

/// The name of a private method, and the place of its key.
fn private<'a>(member: &'a ClassMember, printed: &Printed) -> Option<(&'a str, Span)> {
    match member {
        ClassMember::PrivateMethod(method) => Some((&method.key.name, method.key.span)),
        ClassMember::Method(method) => match (&method.key, printed) {
            (PropName::Str(key), Printed::ByCompiler(marker)) => {
                Some((key.value.as_str()?.strip_prefix(marker.as_str())?, key.span))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether a member is static and private: it is one of its class alone, and not of one that takes its place.
fn is_private_static(member: &ClassMember, printed: &Printed) -> bool {
    match member {
        ClassMember::PrivateProp(prop) => prop.is_static,
        ClassMember::PrivateMethod(method) => method.is_static,
        ClassMember::Method(method) => method.is_static && private(member, printed).is_some(),
        ClassMember::AutoAccessor(accessor) => accessor.is_static && matches!(accessor.key, Key::Private(_)),
        _ => false,
    }
}

/// What the helper is told of a member: its kind, whether it is static, and how it is reached.
fn element(member: &ClassMember, printed: &Printed) -> Option<String> {
    let (kind, is_static, key) = match member {
        ClassMember::Method(method) => {
            let key = private(member, printed).map_or(Ok(&method.key), |(name, _)| Err(name));
            (kind_of(method.kind), method.is_static, key)
        }
        ClassMember::PrivateMethod(method) => (kind_of(method.kind), method.is_static, Err(&*method.key.name)),
        ClassMember::ClassProp(prop) => (FIELD, prop.is_static, Ok(&prop.key)),
        ClassMember::PrivateProp(prop) => (FIELD, prop.is_static, Err(&*prop.key.name)),
        ClassMember::AutoAccessor(accessor) => match &accessor.key {
            Key::Public(key) => (ACCESSOR, accessor.is_static, Ok(key)),
            Key::Private(name) => (ACCESSOR, accessor.is_static, Err(&*name.name)),
        },
        _ => return None,
    };
    if decorators_of(member).is_empty()
        && !matches!((member, key), (ClassMember::AutoAccessor(_), Ok(PropName::Computed(_))))
    {
        return None;
    }
    let name = match key {
        Ok(key) => literal(key).unwrap_or_else(|| "void 0".to_owned()),
        Err(name) => {
            let get = if kind == 4 { "void 0".to_owned() } else { format!("o=>o.#{name}") };
            let set = if matches!(kind, 2 | 3) { String::new() } else { format!(",(o,v)=>{{o.#{name}=v}}") };
            format!("{},o=>#{name} in o,{get}{set}", quoted(&format!("#{name}")))
        }
    };
    Some(format!("[{kind},{is_static},{name}]"))
}

/// A key that is not computed, as a literal.
fn literal(key: &PropName) -> Option<String> {
    match key {
        PropName::Ident(name) => Some(quoted(&name.sym)),
        PropName::Str(text) => Some(quoted(&text.value.to_string_lossy())),
        // `String` gives the key of a number.
        PropName::Num(number) => Some(format!("String({})", number.value)),
        PropName::BigInt(number) => Some(quoted(&number.value.to_string())),
        PropName::Computed(_) => None,
    }
}

/// Whether a number is written alike here and in JavaScript.
fn is_plain(number: &Number) -> bool {
    number.value.fract() == 0.0 && number.value.abs() < 1e15 && !number.value.is_sign_negative()
}

impl Lower<'_> {
    /// Where the next token is.
    fn token(&self, from: usize) -> usize {
        next_token(self.source, from)
    }

    /// Where a word ends, if it is the next token.
    fn behind(&self, from: usize, word: &str) -> Option<usize> {
        let start = self.token(from);
        self.source[start..].starts_with(word).then_some(start + word.len())
    }

    /// Takes `export` and `default` away.
    fn unexport(&mut self, mut from: usize) {
        for word in ["export", "default"] {
            if let Some(end) = self.behind(from, word) {
                self.edits.replace(end - word.len(), word.len(), "");
                from = end;
            }
        }
    }

    fn class(&mut self, class: &Class, ident: Option<&Ident>, role: Role) {
        let shape = Shape::new(class);
        let given = self.name.take();
        if !shape.has_state && !shape.has_accessor {
            class.visit_children_with(self);
            return;
        }
        let is_default = matches!(role, Role::Declaration(Some(Exported { is_default: true, .. })));
        let name = ident.map(|ident| ident.sym.to_string()).or(given);
        let name = name.unwrap_or_else(|| if is_default { "default".to_owned() } else { String::new() });
        let state = if shape.has_state {
            self.states += 1;
            format!("{}{}", self.prefix, self.states)
        } else {
            String::new()
        };
        let waits = Waits::new(class);
        let is_wrapped = shape.is_decorated || matches!(role, Role::Expression);
        if shape.has_state
            && is_wrapped
            && let Some(span) = waits.yields
        {
            self.refused.get_or_insert(span);
        }
        let behind = if shape.has_state {
            self.open(class, &Head { state: &state, name: &name, ident, role, waits: waits.awaits })
        } else {
            String::new()
        };
        for decorator in &class.decorators {
            decorator.expr.visit_with(self);
        }
        let mut head = class.decorators.last().map_or(range(class.span).0, |last| range(last.span).1);
        for word in ["export", "default", "class"] {
            head = self.behind(head, word).unwrap_or(head);
        }
        if let Some(ident) = ident {
            let (start, end) = range(ident.span);
            if shape.is_decorated {
                self.edits.replace(start, end - start, "");
            }
            head = end;
        }
        if let Some(parent) = &class.super_class {
            parent.visit_with(self);
            head = range(parent.span()).1;
        }
        let (start, end) = (self.token(head) + 1, range(class.span).1 - 1);
        let elements: Vec<Option<String>> = class.body.iter().map(|member| element(member, &self.printed)).collect();
        if shape.has_state {
            let variable = if shape.is_decorated { format!("{}=", variable(ident, &state)) } else { String::new() };
            let (list, name) = (elements.iter().flatten().cloned().collect::<Vec<_>>().join(","), quoted(&name));
            let is_fixed =
                shape.is_decorated && class.body.iter().any(|member| is_private_static(member, &self.printed));
            let fixed = if is_fixed { ",true" } else { "" };
            self.edits.insert(start, format!("static{{{variable}{state}.apply(this,[{list}],{name}{fixed})}}"));
            if class.body.iter().any(runs_before) {
                self.edits.insert(start, format!("#{state}B={state}.before(this);"));
            }
        }
        let mut index = 0;
        for (nth, (member, element)) in class.body.iter().zip(&elements).enumerate() {
            let place_index = element.as_ref().map(|_| index);
            self.member(member, &Place { state: &state, nth, index: place_index, is_decorated: shape.is_decorated });
            index += usize::from(element.is_some());
        }
        if shape.is_decorated {
            self.edits.insert(end, format!(";static{{{state}.last()}}"));
        }
        self.edits.insert(end + 1, behind);
    }

    /// Puts in what is before a class, and gives what is behind it.
    fn open(&mut self, class: &Class, head: &Head<'_>) -> String {
        let Head { state, name, ident, role, waits } = *head;
        let (waited, asynchronous) = if waits { ("await ", "async ") } else { ("", "") };
        let (prefix, key, start) = (self.prefix.clone(), quoted(name), range(class.span).0);
        let Some((first, last)) = class.decorators.first().zip(class.decorators.last()) else {
            return match role {
                Role::Declaration(exported) => {
                    let start = exported.map_or(start, |exported| exported.start);
                    self.edits.insert(start, format!("const {state}={prefix}();"));
                    String::new()
                }
                Role::Expression if ident.is_some() => {
                    self.edits.insert(start, format!("({waited}{prefix}([],{asynchronous}{state}=>"));
                    "))".to_owned()
                }
                Role::Expression => {
                    self.edits.insert(start, format!("({waited}{prefix}([],{asynchronous}{state}=>({{[{key}]:"));
                    format!("}})[{key}]))")
                }
            };
        };
        let (from, to) = (range(first.span).0, range(last.span).1);
        let exported = if let Role::Declaration(exported) = role { exported } else { None };
        let is_default = exported.is_some_and(|exported| exported.is_default);
        // `export @a class`, not `@a export class`.
        let before =
            exported.filter(|exported| exported.start < from && self.source[exported.start..].starts_with("export"));
        let begin = match (role, ident) {
            (Role::Expression, _) => "(".to_owned(),
            (_, Some(ident)) if exported.is_some() && !is_default && before.is_none() => {
                format!("export let {}=", ident.sym)
            }
            (_, Some(ident)) => format!("let {}=", ident.sym),
            (_, None) if before.is_some() => String::new(),
            (_, None) => "export default ".to_owned(),
        };
        match before {
            Some(before) if is_default && ident.is_some() => self.unexport(before.start),
            None if exported.is_some() => self.unexport(to),
            _ => {}
        }
        self.edits.insert(from, format!("{begin}{waited}{prefix}("));
        self.decorators(&class.decorators, "[", "]");
        let variable = variable(ident, state);
        self.edits.insert(to, format!(",{asynchronous}({state},{variable})=>({{[{key}]:"));
        let end = format!("}},{variable}))");
        match (role, ident) {
            (Role::Expression, _) => format!("{end})"),
            (_, Some(ident)) if is_default => format!("{end};export{{{} as default}};", ident.sym),
            _ => format!("{end};"),
        }
    }

    /// Makes a list of decorators. What they are made of is looked at afterwards.
    fn decorators(&mut self, decorators: &[Decorator], before: &str, behind: &str) {
        for (index, decorator) in decorators.iter().enumerate() {
            let (start, end) = range(decorator.span);
            self.edits.replace(start, 1, if index == 0 { format!("{before}(") } else { ",(".to_owned() });
            if let Expr::Member(MemberExpr { obj, .. }) = &*decorator.expr {
                // What it is a member of is its `this`. Brackets around both stay where they are.
                let prefix = &self.prefix;
                let (object, member) = (range(obj.span()), range(decorator.expr.span()));
                self.edits.insert(object.0, format!("{prefix}B({prefix}B.o="));
                self.edits.insert(object.1, format!(",{prefix}B.o"));
                self.edits.insert(member.1, ")");
            }
            self.edits.insert(end, ")");
        }
        if let Some(last) = decorators.last() {
            self.edits.insert(range(last.span).1, behind);
        }
    }

    fn member(&mut self, member: &ClassMember, place: &Place<'_>) {
        let Some(index) = place.index else {
            match member {
                ClassMember::AutoAccessor(accessor) => self.accessor(accessor, place),
                _ => member.visit_with(self),
            }
            return;
        };
        let state = place.state;
        let own = decorators_of(member);
        self.decorators(own, &format!(";static[{state}.list({index},["), "])](){}");
        for decorator in own {
            decorator.expr.visit_with(self);
        }
        let end = range(member.span()).1;
        match member {
            ClassMember::Method(ClassMethod { function, kind, is_static, key, .. }) => {
                let private = private(member, &self.printed);
                if private.is_none() {
                    self.key(key, place);
                }
                self.method(function, private.map(|found| (found, *kind, *is_static)), end, place);
            }
            ClassMember::PrivateMethod(PrivateMethod { function, kind, is_static, .. }) => {
                let private = private(member, &self.printed);
                self.method(function, private.map(|found| (found, *kind, *is_static)), end, place);
            }
            ClassMember::ClassProp(prop) => {
                self.key(&prop.key, place);
                let name = literal(&prop.key).unwrap_or_else(|| format!("{state}.same({index})"));
                self.value(prop.value.as_deref(), range(prop.key.span()).1, &name, Some(place));
                self.extra(end, prop.is_static, place);
            }
            ClassMember::PrivateProp(prop) => {
                let name = quoted(&format!("#{}", prop.key.name));
                self.value(prop.value.as_deref(), range(prop.key.span).1, &name, Some(place));
                self.extra(end, prop.is_static, place);
            }
            ClassMember::AutoAccessor(accessor) => self.accessor(accessor, place),
            _ => member.visit_with(self),
        }
    }

    /// Makes a private method a public one, of a name that none else has, and a getter of what is made of it.
    fn method(
        &mut self,
        function: &Function,
        private: Option<((&str, Span), MethodKind, bool)>,
        end: usize,
        place: &Place<'_>,
    ) {
        let Place { state, index, .. } = *place;
        let index = index.unwrap_or_default();
        if let Some(((_, key), ..)) = private {
            let (start, stop) = range(key);
            self.edits.replace(start, stop - start, format!("[{state}.hidden({index})]"));
        }
        function.params.visit_with(self);
        function.body.visit_with(self);
        if let Some(((name, _), kind, is_static)) = private {
            let scope = scope(is_static);
            self.edits.insert(
                end,
                match kind {
                    MethodKind::Method => format!("{scope}get #{name}(){{return {state}.value({index})}}"),
                    MethodKind::Getter => format!("{scope}get #{name}(){{return {state}.get({index},this)}}"),
                    MethodKind::Setter => format!("{scope}set #{name}(v){{{state}.set({index},this,v)}}"),
                },
            );
        }
    }

    /// Keeps a key that is computed.
    fn key(&mut self, key: &PropName, place: &Place<'_>) {
        let PropName::Computed(computed) = key else { return };
        let (start, end) = range(computed.expr.span());
        if let Some(index) = place.index {
            self.edits.insert(start, format!("{}.key({index},", place.state));
        }
        computed.expr.visit_with(self);
        if place.index.is_some() {
            self.edits.insert(end, ")");
        }
    }

    /// Hands the first value of a field to its decorators, and gives it the name that it has without them.
    fn value(&mut self, value: Option<&Expr>, behind: usize, name: &str, decorated: Option<&Place<'_>>) {
        let call = decorated.and_then(|place| Some(format!("{}.init({},this", place.state, place.index?)));
        let Some(value) = value else {
            if let Some(call) = call {
                self.edits.insert(behind, format!("={call})"));
            }
            return;
        };
        let (start, end) = range(value.span());
        let is_class = matches!(bare(value), Expr::Class(class) if class.ident.is_none());
        let is_nameless = is_class
            || match bare(value) {
                Expr::Arrow(_) => true,
                Expr::Fn(function) => function.ident.is_none(),
                _ => false,
            };
        if let Some(call) = &call {
            self.edits.insert(start, format!("{call},"));
        }
        if is_nameless {
            self.edits.insert(start, format!("({{[{name}]:"));
        }
        if is_class {
            self.name = serde_json::from_str(name).ok();
        }
        value.visit_with(self);
        self.name = None;
        if is_nameless {
            self.edits.insert(end, format!("}})[{name}]"));
        }
        if call.is_some() {
            self.edits.insert(end, ")");
        }
    }

    /// Runs what decorators of a field add to it, behind it.
    fn extra(&mut self, end: usize, is_static: bool, place: &Place<'_>) {
        let Place { state, nth, index: Some(index), .. } = *place else { return };
        self.edits.insert(
            end,
            if is_static {
                format!(";static{{{state}.extra({index},this)}}")
            } else {
                format!(";#{state}X{nth}={state}.extra({index},this);")
            },
        );
    }

    /// Makes a getter, a setter and a private field.
    fn accessor(&mut self, accessor: &AutoAccessor, at: &Place<'_>) {
        let Place { state, nth, index, is_decorated: may_move } = *at;
        let is_decorated = !accessor.decorators.is_empty();
        let mut from = accessor.decorators.last().map_or(range(accessor.span).0, |last| range(last.span).1);
        from = self.behind(from, "static").unwrap_or(from);
        if let Some(end) = self.behind(from, "accessor") {
            self.edits.replace(end - "accessor".len(), "accessor".len(), "get");
        }
        let (start, end) = match &accessor.key {
            Key::Public(key) => range(key.span()),
            Key::Private(name) => range(name.span),
        };
        let index = index.unwrap_or_default();
        let (scope, store) = (scope(accessor.is_static), format!("#{}A{nth}", self.prefix));
        let mut private = String::new();
        let (key, name) = match &accessor.key {
            Key::Public(key) => {
                self.key(key, at);
                let same = format!("{state}.same({index})");
                match literal(key) {
                    Some(name) => (self.source[start..end].to_owned(), name),
                    None => (format!("[{same}]"), same),
                }
            }
            Key::Private(name) => {
                let quoted = quoted(&format!("#{}", name.name));
                if is_decorated {
                    self.edits.replace(start, end - start, format!("[{state}.hidden({index})]"));
                    private = format!(
                        "{scope}get #{0}(){{return {state}.get({index},this)}}{scope}set #{0}(v){{{state}.set({index},this,v)}}",
                        name.name
                    );
                    (format!("[{state}.same({index})]"), quoted)
                } else {
                    (format!("#{}", name.name), quoted)
                }
            }
        };
        // A private field stays where it is when a decorator makes another class of this one.
        let is_moved = accessor.is_static && may_move && matches!(accessor.key, Key::Public(_));
        let (get, set) = if is_moved {
            (format!("{state}.load({nth},this)"), format!("{state}.store({nth},this,v)"))
        } else {
            (format!("this.{store}"), format!("this.{store}=v"))
        };
        self.edits.insert(end, format!("(){{return {get}}}{scope}set {key}(v){{{set}}}{private}{scope}{store}"));
        let decorated = is_decorated.then_some(at);
        match accessor.value.as_deref() {
            Some(value) if is_moved => {
                let (start, end) = range(value.span());
                self.edits.insert(start, format!("{state}.keep({nth},"));
                self.value(Some(value), end, &name, decorated);
                self.edits.insert(end, ")");
            }
            None if is_moved => {
                let first = if is_decorated { format!("{state}.init({index},this)") } else { "void 0".to_owned() };
                self.edits.insert(end, format!("={state}.keep({nth},{first})"));
            }
            value => self.value(value, end, &name, decorated),
        }
        if is_decorated {
            self.extra(range(accessor.span).1, accessor.is_static, at);
        }
    }

    /// Visits a value that gives its name to a class.
    fn named(&mut self, name: &str, value: &Expr) {
        self.name = matches!(bare(value), Expr::Class(class) if class.ident.is_none()).then(|| name.to_owned());
        value.visit_with(self);
        self.name = None;
    }
}

/// A member of a class.
#[derive(Clone, Copy)]
struct Place<'a> {
    state: &'a str,
    /// Which member it is.
    nth: usize,
    /// Which of those that the helper is told of.
    index: Option<usize>,
    /// Its class is decorated, and may become another one.
    is_decorated: bool,
}

fn scope(is_static: bool) -> &'static str {
    if is_static { "static " } else { "" }
}

/// Whether what a decorator adds to a member runs before the fields of an instance.
fn runs_before(member: &ClassMember) -> bool {
    let is_static = match member {
        ClassMember::Method(method) => method.is_static,
        ClassMember::PrivateMethod(method) => method.is_static,
        _ => true,
    };
    !is_static && !decorators_of(member).is_empty()
}

/// What the names of a class with decorators stand for while it is made, and afterwards.
fn variable(ident: Option<&Ident>, state: &str) -> String {
    ident.map_or_else(|| format!("{state}C"), |ident| ident.sym.to_string())
}

impl Visit for Lower<'_> {
    fn visit_export_decl(&mut self, export: &ExportDecl) {
        match &export.decl {
            Decl::Class(class) => {
                let exported = Exported { start: range(export.span).0, is_default: false };
                self.class(&class.class, Some(&class.ident), Role::Declaration(Some(exported)));
            }
            decl => decl.visit_with(self),
        }
    }

    fn visit_export_default_decl(&mut self, export: &ExportDefaultDecl) {
        match &export.decl {
            DefaultDecl::Class(class) => {
                let exported = Exported { start: range(export.span).0, is_default: true };
                self.class(&class.class, class.ident.as_ref(), Role::Declaration(Some(exported)));
            }
            decl => decl.visit_with(self),
        }
    }

    fn visit_class_decl(&mut self, class: &ClassDecl) {
        self.class(&class.class, Some(&class.ident), Role::Declaration(None));
    }

    fn visit_class_expr(&mut self, class: &ClassExpr) {
        self.class(&class.class, class.ident.as_ref(), Role::Expression);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        declarator.name.visit_with(self);
        match (&declarator.name, &declarator.init) {
            (Pat::Ident(name), Some(init)) => self.named(&name.sym, init),
            (_, init) => init.visit_with(self),
        }
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        assign.left.visit_with(self);
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(name)) => self.named(&name.sym, &assign.right),
            _ => assign.right.visit_with(self),
        }
    }

    fn visit_assign_pat(&mut self, assign: &AssignPat) {
        assign.left.visit_with(self);
        match &*assign.left {
            Pat::Ident(name) => self.named(&name.sym, &assign.right),
            _ => assign.right.visit_with(self),
        }
    }

    fn visit_key_value_prop(&mut self, pair: &KeyValueProp) {
        pair.key.visit_with(self);
        match &pair.key {
            PropName::Ident(name) => self.named(&name.sym, &pair.value),
            PropName::Str(name) => self.named(&name.value.to_string_lossy(), &pair.value),
            PropName::Num(name) if is_plain(name) => self.named(&name.value.to_string(), &pair.value),
            _ => pair.value.visit_with(self),
        }
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        if let Some(value) = &prop.value {
            self.named(&prop.key.sym, value);
        }
    }

    fn visit_export_default_expr(&mut self, export: &ExportDefaultExpr) {
        self.named("default", &export.expr);
    }

    fn visit_private_prop(&mut self, prop: &PrivateProp) {
        if let Some(value) = &prop.value {
            self.named(&format!("#{}", prop.key.name), value);
        }
    }

    fn visit_class_prop(&mut self, prop: &ClassProp) {
        prop.key.visit_with(self);
        match (&prop.key, &prop.value) {
            (PropName::Ident(name), Some(value)) => self.named(&name.sym, value),
            (PropName::Str(name), Some(value)) => self.named(&name.value.to_string_lossy(), value),
            (PropName::Num(name), Some(value)) if is_plain(name) => self.named(&name.value.to_string(), value),
            (_, value) => value.visit_with(self),
        }
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        let is_metadata = matches!(&member.prop, MemberProp::Ident(name) if &*name.sym == "metadata");
        self.uses_metadata |=
            is_metadata && matches!(bare(&member.obj), Expr::Ident(object) if &*object.sym == "Symbol");
        member.visit_children_with(self);
    }
}

/// Whether a class awaits or yields where it is made.
#[derive(Default)]
struct Waits {
    awaits: bool,
    yields: Option<Span>,
}

impl Waits {
    fn new(class: &Class) -> Self {
        let mut waits = Self::default();
        class.visit_children_with(&mut waits);
        waits
    }
}

impl Visit for Waits {
    fn visit_await_expr(&mut self, awaits: &AwaitExpr) {
        self.awaits = true;
        awaits.visit_children_with(self);
    }

    fn visit_yield_expr(&mut self, yields: &YieldExpr) {
        self.yields.get_or_insert(yields.span);
    }

    fn visit_class_prop(&mut self, prop: &ClassProp) {
        prop.key.visit_with(self);
        prop.decorators.visit_with(self);
    }

    fn visit_private_prop(&mut self, prop: &PrivateProp) {
        prop.decorators.visit_with(self);
    }

    fn visit_auto_accessor(&mut self, accessor: &AutoAccessor) {
        accessor.key.visit_with(self);
        accessor.decorators.visit_with(self);
    }

    fn visit_function(&mut self, function: &Function) {
        function.decorators.visit_with(self);
    }

    fn visit_constructor(&mut self, _: &Constructor) {}
    fn visit_static_block(&mut self, _: &StaticBlock) {}
    fn visit_arrow_expr(&mut self, _: &ArrowExpr) {}
}
