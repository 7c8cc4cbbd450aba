//! The edits that lower decorators and `accessor` fields.

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
use toolcell_i18n::{Message, message, msgid};

use super::edits::{EditConflict, Edits};
use super::{LoweredSource, LoweringResult};
use crate::syntax::expr::peel_parens;
use crate::syntax::parse::{SyntaxTree, diagnostic, javascript_syntax, parse_as};
use crate::syntax::position::{LineIndex, byte_range, next_token};
use crate::syntax::visit::{class_of_item, class_of_statement, decorators_of};

/// The run-time helper that lowered code calls.
const HELPER: &str = include_str!("helper.js");

/// The polyfill for `Symbol.metadata`, which the engine does not have, for sources that use it.
const METADATA_POLYFILL: &str = "Symbol.metadata??Object.defineProperty(Symbol,'metadata',{value:Symbol.for('Symbol.metadata'),writable:true,configurable:true});";

/// Lowers the decorators and `accessor` fields of JavaScript.
///
/// # Errors
/// Returns the diagnostics of the source.
pub(crate) fn lower(source: &str, printed: Provenance) -> LoweringResult {
    // As with the passes of the compiler: a panic in here does not end the process.
    catch_unwind(|| lower_unguarded(source, printed))
        .unwrap_or_else(|_| Err(vec![diagnostic(&LineIndex::new(source), (0, 0), Message::from(NOT_COMPILED))]))
}

fn lower_unguarded(source: &str, printed: Provenance) -> LoweringResult {
    let tree = parse_as(source, javascript_syntax())?;
    let mut lower = DecoratorLowering {
        source,
        prefix: unused_prefix(source),
        edits: Edits::default(),
        state_count: 0,
        inferred_name: None,
        uses_metadata: false,
        yielding_decorator: None,
        provenance: printed,
    };
    let SyntaxTree { program, .. } = tree;
    program.visit_with(&mut lower);
    if let Some(span) = lower.yielding_decorator {
        let message = message!("a decorator that yields is not supported: yield before the class, into a variable");
        return Err(vec![diagnostic(&LineIndex::new(source), byte_range(span), message)]);
    }
    if lower.uses_metadata {
        lower.edits.insert_first(program_start(&program).unwrap_or(source.len()), METADATA_POLYFILL);
    }
    let prefix = lower.prefix;
    let applied = lower.edits.apply(source);
    let (mut code, shifts) = applied.map_err(|EditConflict { at }| {
        vec![diagnostic(&LineIndex::new(source), (at, at), Message::from(NOT_COMPILED))]
    })?;
    let helper: Vec<&str> = HELPER.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).collect();
    let helper = helper.join("\n").replace("$D", &prefix).replace("$B", &format!("{prefix}B"));
    code.push('\n');
    code.push_str(&helper);
    Ok(LoweredSource { code, column_map: shifts })
}

/// The message for decorators that cannot be lowered.
const NOT_COMPILED: &str = msgid!("has decorators in an unsupported form: declare each class in its own statement");

/// Returns a prefix that no name of the source has.
fn unused_prefix(source: &str) -> String {
    if !source.contains("$d") {
        return "$d".to_owned();
    }
    let number = |rest: &str| rest.split('_').next().and_then(|digits| digits.parse::<usize>().ok());
    let taken: FxHashSet<usize> =
        source.split("$d").skip(1).map(|rest| &rest[..rest.floor_char_boundary(8)]).filter_map(number).collect();
    let free = (0..=taken.len()).find(|number| !taken.contains(number)).unwrap_or_default();
    format!("$d{free}_")
}

/// Returns the offset at which a program starts, after its directives. The span of a class need not
/// contain its decorators.
fn program_start(program: &Program) -> Option<usize> {
    let is_directive = |stmt: &Stmt| matches!(stmt, Stmt::Expr(stmt) if matches!(&*stmt.expr, Expr::Lit(Lit::Str(_))));
    let (span, class) = match program {
        Program::Script(script) => {
            let stmt = script.body.iter().find(|stmt| !is_directive(stmt))?;
            (stmt.span(), class_of_statement(stmt))
        }
        Program::Module(module) => {
            let directive = |item: &&ModuleItem| !matches!(item, ModuleItem::Stmt(stmt) if is_directive(stmt));
            let item = module.body.iter().find(directive)?;
            (item.span(), class_of_item(item))
        }
    };
    let decorators =
        class.into_iter().flat_map(|class| &class.decorators).map(|decorator| byte_range(decorator.span).0);
    decorators.chain([byte_range(span).0]).min()
}

/// Returns a text as a JavaScript string literal.
fn js_string_literal(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// The export of a class declaration.
#[derive(Clone, Copy)]
struct ExportPosition {
    /// The offset of the statement.
    start: usize,
    is_default: bool,
}

struct DecoratorLowering<'a> {
    source: &'a str,
    prefix: String,
    edits: Edits,
    state_count: usize,
    /// The name that an anonymous class expression infers from its assignment.
    inferred_name: Option<String>,
    uses_metadata: bool,
    /// The span of a decorator that yields, which is unsupported.
    yielding_decorator: Option<Span>,
    provenance: Provenance,
}

/// The origin of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Provenance {
    Author,
    /// Printed by the compiler, which omits the decorators of private methods: their names have
    /// this prefix. No other key has it.
    Compiler(String),
}

/// The syntactic position of a class.
#[derive(Clone, Copy)]
enum ClassPosition {
    Declaration(Option<ExportPosition>),
    Expression,
}

/// The decorations of a class.
struct ClassDecorations {
    /// Whether the class needs run-time state: it or a member is decorated, or an `accessor` has a
    /// computed key.
    has_state: bool,
    is_decorated: bool,
    has_accessor: bool,
}

impl ClassDecorations {
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

/// The head of a class that is lowered.
struct ClassHead<'a> {
    /// The variable that holds the run-time state.
    state: &'a str,
    /// The name of the class.
    name: &'a str,
    ident: Option<&'a Ident>,
    position: ClassPosition,
    awaits: bool,
}

/// The kinds of decorated members, as numbered by the helper.
const FIELD: u8 = 0;
const ACCESSOR: u8 = 1;

fn kind_of(kind: MethodKind) -> u8 {
    match kind {
        MethodKind::Method => 2,
        MethodKind::Getter => 3,
        MethodKind::Setter => 4,
    }
}

/// Returns the name of a private method, and the span of its key.
fn private_name<'a>(member: &'a ClassMember, printed: &Provenance) -> Option<(&'a str, Span)> {
    match member {
        ClassMember::PrivateMethod(method) => Some((&method.key.name, method.key.span)),
        ClassMember::Method(method) => match (&method.key, printed) {
            (PropName::Str(key), Provenance::Compiler(marker)) => {
                Some((key.value.as_str()?.strip_prefix(marker.as_str())?, key.span))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether a member is static and private: it belongs to this class, even if a decorator
/// replaces the class.
fn is_private_static(member: &ClassMember, printed: &Provenance) -> bool {
    match member {
        ClassMember::PrivateProp(prop) => prop.is_static,
        ClassMember::PrivateMethod(method) => method.is_static,
        ClassMember::Method(method) => method.is_static && private_name(member, printed).is_some(),
        ClassMember::AutoAccessor(accessor) => accessor.is_static && matches!(accessor.key, Key::Private(_)),
        _ => false,
    }
}

/// Returns the descriptor of a member for the helper: its kind, whether it is static, and how to
/// access it.
fn element_descriptor(member: &ClassMember, printed: &Provenance) -> Option<String> {
    let (kind, is_static, key) = match member {
        ClassMember::Method(method) => {
            let key = private_name(member, printed).map_or(Ok(&method.key), |(name, _)| Err(name));
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
        Ok(key) => key_literal(key).unwrap_or_else(|| "void 0".to_owned()),
        Err(name) => {
            let get = if kind == 4 { "void 0".to_owned() } else { format!("o=>o.#{name}") };
            let set = if matches!(kind, 2 | 3) { String::new() } else { format!(",(o,v)=>{{o.#{name}=v}}") };
            format!("{},o=>#{name} in o,{get}{set}", js_string_literal(&format!("#{name}")))
        }
    };
    Some(format!("[{kind},{is_static},{name}]"))
}

/// Returns a key that is not computed, as a literal.
fn key_literal(key: &PropName) -> Option<String> {
    match key {
        PropName::Ident(name) => Some(js_string_literal(&name.sym)),
        PropName::Str(text) => Some(js_string_literal(&text.value.to_string_lossy())),
        // `String` converts a number to its key.
        PropName::Num(number) => Some(format!("String({})", number.value)),
        PropName::BigInt(number) => Some(js_string_literal(&number.value.to_string())),
        PropName::Computed(_) => None,
    }
}

/// Returns whether Rust and JavaScript print a number alike.
fn is_plain_integer(number: &Number) -> bool {
    number.value.fract() == 0.0 && number.value.abs() < 1e15 && !number.value.is_sign_negative()
}

impl DecoratorLowering<'_> {
    /// Returns the offset of the next token.
    fn token_start(&self, from: usize) -> usize {
        next_token(self.source, from)
    }

    /// Returns the end of a word, if it is the next token.
    fn end_of_word(&self, from: usize, word: &str) -> Option<usize> {
        let start = self.token_start(from);
        self.source[start..].starts_with(word).then_some(start + word.len())
    }

    /// Removes `export` and `default`.
    fn remove_export(&mut self, mut from: usize) {
        for word in ["export", "default"] {
            if let Some(end) = self.end_of_word(from, word) {
                self.edits.replace(end - word.len(), word.len(), "");
                from = end;
            }
        }
    }

    fn lower_class(&mut self, class: &Class, ident: Option<&Ident>, role: ClassPosition) {
        let shape = ClassDecorations::new(class);
        let given = self.inferred_name.take();
        if !shape.has_state && !shape.has_accessor {
            class.visit_children_with(self);
            return;
        }
        let is_default = matches!(role, ClassPosition::Declaration(Some(ExportPosition { is_default: true, .. })));
        let name = ident.map(|ident| ident.sym.to_string()).or(given);
        let name = name.unwrap_or_else(|| if is_default { "default".to_owned() } else { String::new() });
        let state = if shape.has_state {
            self.state_count += 1;
            format!("{}{}", self.prefix, self.state_count)
        } else {
            String::new()
        };
        let waits = SuspensionPoints::new(class);
        let is_wrapped = shape.is_decorated || matches!(role, ClassPosition::Expression);
        if shape.has_state
            && is_wrapped
            && let Some(span) = waits.yields
        {
            self.yielding_decorator.get_or_insert(span);
        }
        let behind = if shape.has_state {
            self.wrap_class(
                class,
                &ClassHead { state: &state, name: &name, ident, position: role, awaits: waits.awaits },
            )
        } else {
            String::new()
        };
        for decorator in &class.decorators {
            decorator.expr.visit_with(self);
        }
        let mut head = class.decorators.last().map_or(byte_range(class.span).0, |last| byte_range(last.span).1);
        for word in ["export", "default", "class"] {
            head = self.end_of_word(head, word).unwrap_or(head);
        }
        if let Some(ident) = ident {
            let (start, end) = byte_range(ident.span);
            if shape.is_decorated {
                self.edits.replace(start, end - start, "");
            }
            head = end;
        }
        if let Some(parent) = &class.super_class {
            parent.visit_with(self);
            head = byte_range(parent.span()).1;
        }
        let (start, end) = (self.token_start(head) + 1, byte_range(class.span).1 - 1);
        let elements: Vec<Option<String>> =
            class.body.iter().map(|member| element_descriptor(member, &self.provenance)).collect();
        if shape.has_state {
            let variable =
                if shape.is_decorated { format!("{}=", class_variable(ident, &state)) } else { String::new() };
            let (list, name) =
                (elements.iter().flatten().cloned().collect::<Vec<_>>().join(","), js_string_literal(&name));
            let is_fixed =
                shape.is_decorated && class.body.iter().any(|member| is_private_static(member, &self.provenance));
            let fixed = if is_fixed { ",true" } else { "" };
            self.edits.insert(start, format!("static{{{variable}{state}.apply(this,[{list}],{name}{fixed})}}"));
            if class.body.iter().any(has_instance_initializers) {
                self.edits.insert(start, format!("#{state}B={state}.before(this);"));
            }
        }
        let mut index = 0;
        for (nth, (member, element)) in class.body.iter().zip(&elements).enumerate() {
            let place_index = element.as_ref().map(|_| index);
            self.lower_member(
                member,
                &MemberPosition {
                    state: &state,
                    member_index: nth,
                    element_index: place_index,
                    is_decorated: shape.is_decorated,
                },
            );
            index += usize::from(element.is_some());
        }
        if shape.is_decorated {
            self.edits.insert(end, format!(";static{{{state}.last()}}"));
        }
        self.edits.insert(end + 1, behind);
    }

    /// Inserts the code before a class, and returns the code after it.
    fn wrap_class(&mut self, class: &Class, head: &ClassHead<'_>) -> String {
        let ClassHead { state, name, ident, position: role, awaits: waits } = *head;
        let (waited, asynchronous) = if waits { ("await ", "async ") } else { ("", "") };
        let (prefix, key, start) = (self.prefix.clone(), js_string_literal(name), byte_range(class.span).0);
        let Some((first, last)) = class.decorators.first().zip(class.decorators.last()) else {
            return match role {
                ClassPosition::Declaration(exported) => {
                    let start = exported.map_or(start, |exported| exported.start);
                    self.edits.insert(start, format!("const {state}={prefix}();"));
                    String::new()
                }
                ClassPosition::Expression if ident.is_some() => {
                    self.edits.insert(start, format!("({waited}{prefix}([],{asynchronous}{state}=>"));
                    "))".to_owned()
                }
                ClassPosition::Expression => {
                    self.edits.insert(start, format!("({waited}{prefix}([],{asynchronous}{state}=>({{[{key}]:"));
                    format!("}})[{key}]))")
                }
            };
        };
        let (from, to) = (byte_range(first.span).0, byte_range(last.span).1);
        let exported = if let ClassPosition::Declaration(exported) = role { exported } else { None };
        let is_default = exported.is_some_and(|exported| exported.is_default);
        // `export @a class`, not `@a export class`.
        let before =
            exported.filter(|exported| exported.start < from && self.source[exported.start..].starts_with("export"));
        let begin = match (role, ident) {
            (ClassPosition::Expression, _) => "(".to_owned(),
            (_, Some(ident)) if exported.is_some() && !is_default && before.is_none() => {
                format!("export let {}=", ident.sym)
            }
            (_, Some(ident)) => format!("let {}=", ident.sym),
            (_, None) if before.is_some() => String::new(),
            (_, None) => "export default ".to_owned(),
        };
        match before {
            Some(before) if is_default && ident.is_some() => self.remove_export(before.start),
            None if exported.is_some() => self.remove_export(to),
            _ => {}
        }
        self.edits.insert(from, format!("{begin}{waited}{prefix}("));
        self.lower_decorators(&class.decorators, "[", "]");
        let variable = class_variable(ident, state);
        self.edits.insert(to, format!(",{asynchronous}({state},{variable})=>({{[{key}]:"));
        let end = format!("}},{variable}))");
        match (role, ident) {
            (ClassPosition::Expression, _) => format!("{end})"),
            (_, Some(ident)) if is_default => format!("{end};export{{{} as default}};", ident.sym),
            _ => format!("{end};"),
        }
    }

    /// Turns decorators into a list. The expressions in them are visited afterwards.
    fn lower_decorators(&mut self, decorators: &[Decorator], before: &str, behind: &str) {
        for (index, decorator) in decorators.iter().enumerate() {
            let (start, end) = byte_range(decorator.span);
            self.edits.replace(start, 1, if index == 0 { format!("{before}(") } else { ",(".to_owned() });
            if let Expr::Member(MemberExpr { obj, .. }) = &*decorator.expr {
                // The object of the member becomes the decorator's `this`. Parentheses around both
                // stay in place.
                let prefix = &self.prefix;
                let (object, member) = (byte_range(obj.span()), byte_range(decorator.expr.span()));
                self.edits.insert(object.0, format!("{prefix}B({prefix}B.o="));
                self.edits.insert(object.1, format!(",{prefix}B.o"));
                self.edits.insert(member.1, ")");
            }
            self.edits.insert(end, ")");
        }
        if let Some(last) = decorators.last() {
            self.edits.insert(byte_range(last.span).1, behind);
        }
    }

    fn lower_member(&mut self, member: &ClassMember, place: &MemberPosition<'_>) {
        let Some(index) = place.element_index else {
            match member {
                ClassMember::AutoAccessor(accessor) => self.lower_accessor(accessor, place),
                _ => member.visit_with(self),
            }
            return;
        };
        let state = place.state;
        let own = decorators_of(member);
        self.lower_decorators(own, &format!(";static[{state}.list({index},["), "])](){}");
        for decorator in own {
            decorator.expr.visit_with(self);
        }
        let end = byte_range(member.span()).1;
        match member {
            ClassMember::Method(ClassMethod { function, kind, is_static, key, .. }) => {
                let private = private_name(member, &self.provenance);
                if private.is_none() {
                    self.store_computed_key(key, place);
                }
                self.lower_private_method(function, private.map(|found| (found, *kind, *is_static)), end, place);
            }
            ClassMember::PrivateMethod(PrivateMethod { function, kind, is_static, .. }) => {
                let private = private_name(member, &self.provenance);
                self.lower_private_method(function, private.map(|found| (found, *kind, *is_static)), end, place);
            }
            ClassMember::ClassProp(prop) => {
                self.store_computed_key(&prop.key, place);
                let name = key_literal(&prop.key).unwrap_or_else(|| format!("{state}.same({index})"));
                self.insert_initializer(prop.value.as_deref(), byte_range(prop.key.span()).1, &name, Some(place));
                self.insert_extra_initializers(end, prop.is_static, place);
            }
            ClassMember::PrivateProp(prop) => {
                let name = js_string_literal(&format!("#{}", prop.key.name));
                self.insert_initializer(prop.value.as_deref(), byte_range(prop.key.span).1, &name, Some(place));
                self.insert_extra_initializers(end, prop.is_static, place);
            }
            ClassMember::AutoAccessor(accessor) => self.lower_accessor(accessor, place),
            _ => member.visit_with(self),
        }
    }

    /// Turns a private method into a public one with a unique key, and a private getter for the
    /// decorated method.
    fn lower_private_method(
        &mut self,
        function: &Function,
        private: Option<((&str, Span), MethodKind, bool)>,
        end: usize,
        place: &MemberPosition<'_>,
    ) {
        let MemberPosition { state, element_index: index, .. } = *place;
        let index = index.unwrap_or_default();
        if let Some(((_, key), ..)) = private {
            let (start, stop) = byte_range(key);
            self.edits.replace(start, stop - start, format!("[{state}.hidden({index})]"));
        }
        function.params.visit_with(self);
        function.body.visit_with(self);
        if let Some(((name, _), kind, is_static)) = private {
            let scope = static_prefix(is_static);
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

    /// Stores the value of a computed key.
    fn store_computed_key(&mut self, key: &PropName, place: &MemberPosition<'_>) {
        let PropName::Computed(computed) = key else { return };
        let (start, end) = byte_range(computed.expr.span());
        if let Some(index) = place.element_index {
            self.edits.insert(start, format!("{}.key({index},", place.state));
        }
        computed.expr.visit_with(self);
        if place.element_index.is_some() {
            self.edits.insert(end, ")");
        }
    }

    /// Passes the initial value of a field to its decorators, and keeps the name that an anonymous
    /// function or class infers.
    fn insert_initializer(
        &mut self,
        value: Option<&Expr>,
        behind: usize,
        name: &str,
        decorated: Option<&MemberPosition<'_>>,
    ) {
        let call = decorated.and_then(|place| Some(format!("{}.init({},this", place.state, place.element_index?)));
        let Some(value) = value else {
            if let Some(call) = call {
                self.edits.insert(behind, format!("={call})"));
            }
            return;
        };
        let (start, end) = byte_range(value.span());
        let is_class = matches!(peel_parens(value), Expr::Class(class) if class.ident.is_none());
        let is_nameless = is_class
            || match peel_parens(value) {
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
            self.inferred_name = serde_json::from_str(name).ok();
        }
        value.visit_with(self);
        self.inferred_name = None;
        if is_nameless {
            self.edits.insert(end, format!("}})[{name}]"));
        }
        if call.is_some() {
            self.edits.insert(end, ")");
        }
    }

    /// Inserts the extra initializers of a decorated field after it.
    fn insert_extra_initializers(&mut self, end: usize, is_static: bool, place: &MemberPosition<'_>) {
        let MemberPosition { state, member_index: nth, element_index: Some(index), .. } = *place else { return };
        self.edits.insert(
            end,
            if is_static {
                format!(";static{{{state}.extra({index},this)}}")
            } else {
                format!(";#{state}X{nth}={state}.extra({index},this);")
            },
        );
    }

    /// Turns an `accessor` field into a getter, a setter and a private field.
    fn lower_accessor(&mut self, accessor: &AutoAccessor, at: &MemberPosition<'_>) {
        let MemberPosition { state, member_index: nth, element_index: index, is_decorated: may_move } = *at;
        let is_decorated = !accessor.decorators.is_empty();
        let mut from = accessor.decorators.last().map_or(byte_range(accessor.span).0, |last| byte_range(last.span).1);
        from = self.end_of_word(from, "static").unwrap_or(from);
        if let Some(end) = self.end_of_word(from, "accessor") {
            self.edits.replace(end - "accessor".len(), "accessor".len(), "get");
        }
        let (start, end) = match &accessor.key {
            Key::Public(key) => byte_range(key.span()),
            Key::Private(name) => byte_range(name.span),
        };
        let index = index.unwrap_or_default();
        let (scope, store) = (static_prefix(accessor.is_static), format!("#{}A{nth}", self.prefix));
        let mut private = String::new();
        let (key, name) = match &accessor.key {
            Key::Public(key) => {
                self.store_computed_key(key, at);
                let same = format!("{state}.same({index})");
                match key_literal(key) {
                    Some(name) => (self.source[start..end].to_owned(), name),
                    None => (format!("[{same}]"), same),
                }
            }
            Key::Private(name) => {
                let quoted = js_string_literal(&format!("#{}", name.name));
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
        // A private field stays in place when a decorator replaces the class.
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
                let (start, end) = byte_range(value.span());
                self.edits.insert(start, format!("{state}.keep({nth},"));
                self.insert_initializer(Some(value), end, &name, decorated);
                self.edits.insert(end, ")");
            }
            None if is_moved => {
                let first = if is_decorated { format!("{state}.init({index},this)") } else { "void 0".to_owned() };
                self.edits.insert(end, format!("={state}.keep({nth},{first})"));
            }
            value => self.insert_initializer(value, end, &name, decorated),
        }
        if is_decorated {
            self.insert_extra_initializers(byte_range(accessor.span).1, accessor.is_static, at);
        }
    }

    /// Visits a value from whose target an anonymous class infers its name.
    fn visit_named_value(&mut self, name: &str, value: &Expr) {
        self.inferred_name =
            matches!(peel_parens(value), Expr::Class(class) if class.ident.is_none()).then(|| name.to_owned());
        value.visit_with(self);
        self.inferred_name = None;
    }
}

/// The position of a member in its class.
#[derive(Clone, Copy)]
struct MemberPosition<'a> {
    state: &'a str,
    /// The index of the member in the class body.
    member_index: usize,
    /// The index of the member among those that the helper knows.
    element_index: Option<usize>,
    /// Whether the class is decorated, so that a decorator may replace it.
    is_decorated: bool,
}

fn static_prefix(is_static: bool) -> &'static str {
    if is_static { "static " } else { "" }
}

/// Returns whether the extra initializers of a member run before the fields of an instance.
fn has_instance_initializers(member: &ClassMember) -> bool {
    let is_static = match member {
        ClassMember::Method(method) => method.is_static,
        ClassMember::PrivateMethod(method) => method.is_static,
        _ => true,
    };
    !is_static && !decorators_of(member).is_empty()
}

/// Returns the variable that a decorated class is bound to while it is defined, and afterwards.
fn class_variable(ident: Option<&Ident>, state: &str) -> String {
    ident.map_or_else(|| format!("{state}C"), |ident| ident.sym.to_string())
}

impl Visit for DecoratorLowering<'_> {
    fn visit_export_decl(&mut self, export: &ExportDecl) {
        match &export.decl {
            Decl::Class(class) => {
                let exported = ExportPosition { start: byte_range(export.span).0, is_default: false };
                self.lower_class(&class.class, Some(&class.ident), ClassPosition::Declaration(Some(exported)));
            }
            decl => decl.visit_with(self),
        }
    }

    fn visit_export_default_decl(&mut self, export: &ExportDefaultDecl) {
        match &export.decl {
            DefaultDecl::Class(class) => {
                let exported = ExportPosition { start: byte_range(export.span).0, is_default: true };
                self.lower_class(&class.class, class.ident.as_ref(), ClassPosition::Declaration(Some(exported)));
            }
            decl => decl.visit_with(self),
        }
    }

    fn visit_class_decl(&mut self, class: &ClassDecl) {
        self.lower_class(&class.class, Some(&class.ident), ClassPosition::Declaration(None));
    }

    fn visit_class_expr(&mut self, class: &ClassExpr) {
        self.lower_class(&class.class, class.ident.as_ref(), ClassPosition::Expression);
    }

    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        declarator.name.visit_with(self);
        match (&declarator.name, &declarator.init) {
            (Pat::Ident(name), Some(init)) => self.visit_named_value(&name.sym, init),
            (_, init) => init.visit_with(self),
        }
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        assign.left.visit_with(self);
        match &assign.left {
            AssignTarget::Simple(SimpleAssignTarget::Ident(name)) => self.visit_named_value(&name.sym, &assign.right),
            _ => assign.right.visit_with(self),
        }
    }

    fn visit_assign_pat(&mut self, assign: &AssignPat) {
        assign.left.visit_with(self);
        match &*assign.left {
            Pat::Ident(name) => self.visit_named_value(&name.sym, &assign.right),
            _ => assign.right.visit_with(self),
        }
    }

    fn visit_key_value_prop(&mut self, pair: &KeyValueProp) {
        pair.key.visit_with(self);
        match &pair.key {
            PropName::Ident(name) => self.visit_named_value(&name.sym, &pair.value),
            PropName::Str(name) => self.visit_named_value(&name.value.to_string_lossy(), &pair.value),
            PropName::Num(name) if is_plain_integer(name) => {
                self.visit_named_value(&name.value.to_string(), &pair.value);
            }
            _ => pair.value.visit_with(self),
        }
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        if let Some(value) = &prop.value {
            self.visit_named_value(&prop.key.sym, value);
        }
    }

    fn visit_export_default_expr(&mut self, export: &ExportDefaultExpr) {
        self.visit_named_value("default", &export.expr);
    }

    fn visit_private_prop(&mut self, prop: &PrivateProp) {
        if let Some(value) = &prop.value {
            self.visit_named_value(&format!("#{}", prop.key.name), value);
        }
    }

    fn visit_class_prop(&mut self, prop: &ClassProp) {
        prop.key.visit_with(self);
        match (&prop.key, &prop.value) {
            (PropName::Ident(name), Some(value)) => self.visit_named_value(&name.sym, value),
            (PropName::Str(name), Some(value)) => self.visit_named_value(&name.value.to_string_lossy(), value),
            (PropName::Num(name), Some(value)) if is_plain_integer(name) => {
                self.visit_named_value(&name.value.to_string(), value);
            }
            (_, value) => value.visit_with(self),
        }
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        let is_metadata = matches!(&member.prop, MemberProp::Ident(name) if &*name.sym == "metadata");
        self.uses_metadata |=
            is_metadata && matches!(peel_parens(&member.obj), Expr::Ident(object) if &*object.sym == "Symbol");
        member.visit_children_with(self);
    }
}

/// Looks for `await` and `yield` in the parts of a class that run when it is defined.
#[derive(Default)]
struct SuspensionPoints {
    awaits: bool,
    yields: Option<Span>,
}

impl SuspensionPoints {
    fn new(class: &Class) -> Self {
        let mut waits = Self::default();
        class.visit_children_with(&mut waits);
        waits
    }
}

impl Visit for SuspensionPoints {
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
