//! Bounds the work and memory of the TypeScript compiler before it runs.
//!
//! Some passes take more than linear time: hygiene compares all variables of one name with each
//! other and keeps the names of each scope, each `enum` declaration is compared with the members of
//! all `enum`s, and constants and field initializers are copied (for each operator, for each
//! `super()` call). The steps are counted first.
//!
//! Invariant: all counts are made in one visit of the tree, and each is at least a fixed fraction
//! of the real work.

use rustc_hash::FxHashMap;
use swc_atoms::Atom;
use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, AssignPatProp, AssignTarget, BindingIdent, BlockStmt, Callee, CatchClause, Class, ClassDecl, ClassExpr,
    ClassProp, Constructor, Expr, FnDecl, FnExpr, ForHead, ForInStmt, ForOfStmt, ForStmt, Function, Ident,
    ImportDefaultSpecifier, ImportNamedSpecifier, ImportStarAsSpecifier, Pat, PrivateProp, Program, TsEnumDecl,
    TsEnumMember, TsImportEqualsDecl, TsInterfaceDecl, TsModuleDecl, TsNamespaceDecl, TsParamProp, TsType,
    TsTypeAliasDecl, TsTypeAnn, TsTypeParamDecl, TsTypeParamInstantiation, VarDecl, VarDeclKind,
};
use swc_ecma_visit::{Visit, VisitWith};
use toolcell_i18n::{Message, message, msgid};

/// The maximum number of names, summed over all scopes, each with the names of the scopes in it.
/// The compiler keeps some 30 bytes for each.
const MAX_SCOPE_NAMES: u64 = 500_000;

/// The maximum number of comparisons between variables of the same name.
const MAX_RENAME_COMPARISONS: u64 = 8_000_000;

/// The cost of trying a name such as `a1`, in comparisons.
const COMPARISONS_PER_CANDIDATE: u64 = 12;

/// The maximum length of a numeric suffix that is tried, in digits: a source has no more names than
/// bytes.
const MAX_SUFFIX_DIGITS: usize = 6;

/// The maximum number of comparisons between `enum` declarations and members of any `enum`.
const MAX_MEMBER_COMPARISONS: u64 = 10_000_000;

/// The cost of copying a member of the same `enum`, in comparisons.
const COMPARISONS_PER_MEMBER_COPY: u64 = 6;

/// The maximum number of copied nodes. Each takes some hundred bytes.
const MAX_COPIED_NODES: u64 = 250_000;

/// The number of nodes that assign a field its value, beside the value.
const NODES_PER_FIELD: u64 = 6;

/// The maximum number of characters that the source map walks to find the columns of values that
/// the compiler moved.
const MAX_COLUMN_STEPS: u64 = 50_000_000;

/// The hint that ends each message.
const FALLBACK_HINT: &str = msgid!(
    "or write plain objects instead of `enum`s, `namespace`s and parameter properties, so that nothing is compiled"
);

/// A message about what takes too long and what to write instead, with its location.
pub(crate) type Excess = (Message, Span);

/// Checks that a source is within the limits of the compiler. The tree must be no deeper than the
/// compiler accepts.
///
/// # Errors
/// Returns the first limit that is exceeded.
pub(crate) fn check(source: &str, program: &Program) -> Result<(), Excess> {
    let mut budget = Budget::default();
    budget.scope(|budget| program.visit_with(budget));
    match budget.excess.take() {
        Some(excess) => Err(excess),
        None => budget.renames().or_else(|| budget.members()).or_else(|| budget.columns(source)).map_or(Ok(()), Err),
    }
}

/// The variables of one name.
#[derive(Default)]
struct Variables {
    /// The number of scopes that declare the name.
    scopes: u64,
    /// The last scope that declared it.
    declared: u32,
    /// The clock at its last occurrence.
    seen: u32,
    /// The number of reads of its members.
    reads: u64,
    /// The number of `enum` declarations with this name, and of their members.
    parts: u64,
    members: u64,
    span: Span,
}

/// The costs of a class.
#[derive(Default)]
struct Fields {
    has_parameters: bool,
    /// The size of the fields that its constructor initializes, in nodes.
    values: u64,
    /// The number of `super` calls.
    supers: u64,
}

#[derive(Default)]
struct Budget {
    /// A clock that counts scopes and names, in source order.
    clock: u32,
    /// The clock values at which the enclosing scopes were entered.
    scopes: Vec<u32>,
    /// The clock value at which the enclosing function was entered.
    function: u32,
    is_var: bool,
    /// Whether names in patterns are assigned, not declared.
    is_assigned: bool,
    variables: FxHashMap<Atom, Variables>,
    names: u64,
    classes: Vec<Fields>,
    /// Whether the expression is part of a value that the compiler folds.
    is_folded: bool,
    /// The number of nodes so far, with their copies.
    nodes: u64,
    copies: u64,
    parts: u64,
    members: u64,
    last_part: Span,
    /// The number of values that the compiler moves away from their place in the source.
    moved_values: u64,
    enum_values: u32,
    excess: Option<Excess>,
}

impl Budget {
    fn tick(&mut self) -> u32 {
        self.clock += 1;
        self.clock
    }

    fn scope(&mut self, visit: impl FnOnce(&mut Self)) {
        let entered = self.tick();
        self.scopes.push(entered);
        visit(self);
        self.scopes.pop();
    }

    fn function(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = (self.function, self.is_var, self.is_assigned);
        (self.function, self.is_var, self.is_assigned) = (self.clock + 1, false, false);
        self.scope(visit);
        (self.function, self.is_var, self.is_assigned) = before;
    }

    fn exceed(&mut self, span: Span, message: impl FnOnce() -> Message) {
        if self.excess.is_none() {
            self.excess = Some((message(), span));
        }
    }

    fn add_names(&mut self, names: usize, span: Span) {
        self.names += names as u64;
        if self.names > MAX_SCOPE_NAMES {
            self.exceed(span, || {
                message!(
                    "has more than {limit} names in nested scopes, which takes too long to compile: nest functions \
                     and blocks less, {alternative}",
                    limit = MAX_SCOPE_NAMES,
                    alternative = Message::from(FALLBACK_HINT)
                )
            });
        }
    }

    /// Records a use of a name. It is new in the scopes that were entered since its last
    /// occurrence.
    fn reference(&mut self, name: &Ident) {
        let now = self.tick();
        let seen = std::mem::replace(&mut self.variables.entry(name.sym.clone()).or_default().seen, now);
        let known = self.scopes.partition_point(|entered| *entered <= seen);
        self.add_names(self.scopes.len() - known, name.span);
        if self.enum_values > 0 {
            self.moved_values += 1;
        }
    }

    /// Records a declaration. Each has a variable of its own, which is new in all enclosing scopes.
    fn declare(&mut self, name: &Ident) {
        let now = self.tick();
        let scope = if self.is_var { self.function } else { self.scopes.last().copied().unwrap_or(0) };
        let variables = self.variables.entry(name.sym.clone()).or_default();
        if std::mem::replace(&mut variables.declared, scope) != scope {
            variables.scopes += 1;
        }
        variables.seen = now;
        variables.span = name.span;
        self.add_names(self.scopes.len(), name.span);
    }

    /// Records that a part of the tree is copied `times` times.
    fn copy(&mut self, nodes: u64, times: u64, span: Span, message: &'static str) {
        self.copies = self.copies.saturating_add(nodes.saturating_mul(times));
        if self.copies > MAX_COPIED_NODES {
            self.exceed(span, || {
                message!(
                    "{problem}, {alternative}",
                    problem = Message::from(message),
                    alternative = Message::from(FALLBACK_HINT)
                )
            });
        }
    }

    /// Returns an error if renaming takes too long: all variables of a name are compared with each
    /// other, and names such as `a1` that the source has are tried for `a`. The error names the
    /// most expensive variable.
    fn renames(&self) -> Option<Excess> {
        let mut others: FxHashMap<&str, (u64, u64)> = FxHashMap::default();
        for (name, variables) in &self.variables {
            let digits = name.bytes().rev().take(MAX_SUFFIX_DIGITS).take_while(u8::is_ascii_digit).count();
            for at in name.len() - digits..name.len() {
                // Numbers without leading zeros are tried.
                if at > 0 && !name[at..].starts_with('0') {
                    let (names, scopes) = others.entry(&name[..at]).or_default();
                    *names += 1;
                    *scopes += variables.scopes;
                }
            }
        }
        let mut all = 0_u64;
        let mut worst: Option<(u64, &str, &Variables, u64)> = None;
        for (name, variables) in &self.variables {
            let (names, scopes) = others.get(&**name).copied().unwrap_or_default();
            let steps = variables.scopes * (variables.scopes / 2 + scopes + COMPARISONS_PER_CANDIDATE * names);
            all = all.saturating_add(steps);
            if worst.is_none_or(|(most, ..)| most < steps) {
                worst = Some((steps, name, variables, names));
            }
        }
        let (_, name, Variables { scopes, span, .. }, names) = worst.filter(|_| all > MAX_RENAME_COMPARISONS)?;
        let name: String = name.chars().take(40).collect();
        let alternative = Message::from(FALLBACK_HINT);
        let message = if names > 0 {
            message!(
                "declares `{name}` in {scopes} scopes, and has {names} names such as `{name}1`, which takes too long \
                 to compile: give variables unique names, {alternative}",
                name,
                scopes,
                names,
                alternative
            )
        } else {
            message!(
                "declares `{name}` in {scopes} scopes, which takes too long to compile: give variables unique names, \
                 {alternative}",
                name,
                scopes,
                alternative
            )
        };
        Some((message, *span))
    }

    /// Returns an error if there are too many `enum` declarations: each is compared with the
    /// members of all.
    fn members(&self) -> Option<Excess> {
        let own = self.variables.values().map(|one| one.parts * one.members).fold(0, u64::saturating_add);
        let steps = (self.parts * self.members).saturating_add(COMPARISONS_PER_MEMBER_COPY.saturating_mul(own));
        let Self { parts, members, .. } = self;
        (steps > MAX_MEMBER_COMPARISONS).then(|| {
            let message = message!(
                "has {parts} `enum` declarations with {members} members, which takes too long to compile: join the \
                 declarations, or write plain objects",
                parts,
                members
            );
            (message, self.last_part)
        })
    }

    /// Returns an error if too many values are moved in a source with multi-byte characters.
    fn columns(&self, source: &str) -> Option<Excess> {
        let reads = self.variables.values().filter(|one| one.parts > 0).map(|one| one.reads).sum::<u64>();
        let values = reads + self.moved_values;
        let wide = source.chars().filter(|character| !character.is_ascii()).count();
        (values.saturating_mul(wide as u64) > MAX_COLUMN_STEPS).then(|| {
            let message = message!(
                "reads members of `enum`s {values} times beside {wide} characters outside of ASCII, which takes too \
                 long to compile: read them once and keep them in variables, {alternative}",
                values,
                wide,
                alternative = Message::from(FALLBACK_HINT)
            );
            (message, self.last_part)
        })
    }

    fn field(&mut self, is_static: bool, value: Option<&Expr>) {
        let before = self.nodes;
        if let Some(value) = value {
            value.visit_with(self);
        }
        let size = self.nodes - before;
        if let Some(fields) = self.classes.last_mut().filter(|_| !is_static && value.is_some()) {
            fields.values += size + NODES_PER_FIELD;
        }
    }
}

impl Visit for Budget {
    fn visit_span(&mut self, _: &Span) {
        self.nodes += 1;
    }

    fn visit_ident(&mut self, name: &Ident) {
        self.nodes += 1;
        self.reference(name);
    }

    fn visit_binding_ident(&mut self, name: &BindingIdent) {
        self.nodes += 1;
        if self.is_assigned {
            self.reference(name);
        } else {
            self.declare(name);
        }
    }

    fn visit_assign_pat_prop(&mut self, prop: &AssignPatProp) {
        self.visit_binding_ident(&prop.key);
        prop.value.visit_with(self);
    }

    fn visit_assign_target(&mut self, target: &AssignTarget) {
        let before = std::mem::replace(&mut self.is_assigned, true);
        target.visit_children_with(self);
        self.is_assigned = before;
    }

    fn visit_for_head(&mut self, head: &ForHead) {
        let before = std::mem::replace(&mut self.is_assigned, matches!(head, ForHead::Pat(_)));
        head.visit_children_with(self);
        self.is_assigned = before;
    }

    fn visit_var_decl(&mut self, declaration: &VarDecl) {
        for declarator in &declaration.decls {
            self.nodes += 1;
            let before = (self.is_var, self.is_folded);
            (self.is_var, self.is_folded) = (declaration.kind == VarDeclKind::Var, false);
            declarator.name.visit_with(self);
            self.is_var = before.0;
            self.is_folded = declaration.kind == VarDeclKind::Const
                && matches!(&declarator.name, Pat::Ident(name) if name.type_ann.is_none());
            declarator.init.visit_with(self);
            self.is_folded = before.1;
        }
    }

    fn visit_expr(&mut self, expr: &Expr) {
        let before = (self.is_folded, self.is_assigned, self.nodes);
        self.is_assigned = false;
        self.is_folded &= matches!(
            expr,
            Expr::Paren(_)
                | Expr::Unary(_)
                | Expr::Bin(_)
                | Expr::Tpl(_)
                | Expr::TsAs(_)
                | Expr::TsNonNull(_)
                | Expr::TsTypeAssertion(_)
                | Expr::TsConstAssertion(_)
                | Expr::TsInstantiation(_)
                | Expr::TsSatisfies(_)
        );
        expr.visit_children_with(self);
        let nodes;
        (self.is_folded, self.is_assigned, nodes) = before;
        match expr {
            Expr::Bin(_) | Expr::Tpl(_) | Expr::Member(_) | Expr::OptChain(_) if self.is_folded => {
                let message = msgid!(
                    "computes too large a value for a constant or a member of an `enum`, which takes too long to \
                     compile: compute it in a function"
                );
                self.copy(self.nodes - nodes, 1, swc_common::Spanned::span(expr), message);
            }
            _ => {}
        }
        match expr {
            Expr::Member(member) => {
                if let Expr::Ident(object) = &*member.obj {
                    self.variables.entry(object.sym.clone()).or_default().reads += 1;
                }
            }
            Expr::Call(call) if matches!(call.callee, Callee::Super(_)) => {
                if let Some(fields) = self.classes.last_mut() {
                    fields.supers += 1;
                }
            }
            _ => {}
        }
    }

    fn visit_fn_decl(&mut self, function: &FnDecl) {
        // Functions in blocks are hoisted like `var`, but each has a variable of its own.
        self.declare(&function.ident);
        function.function.visit_with(self);
    }

    fn visit_fn_expr(&mut self, function: &FnExpr) {
        match &function.ident {
            Some(name) => self.function(|budget| {
                budget.declare(name);
                function.function.visit_with(budget);
            }),
            None => function.function.visit_with(self),
        }
    }

    fn visit_function(&mut self, function: &Function) {
        self.function(|budget| function.visit_children_with(budget));
    }

    fn visit_arrow_expr(&mut self, function: &ArrowExpr) {
        self.function(|budget| function.visit_children_with(budget));
    }

    fn visit_constructor(&mut self, constructor: &Constructor) {
        self.function(|budget| constructor.visit_children_with(budget));
    }

    fn visit_ts_param_prop(&mut self, property: &TsParamProp) {
        if let Some(fields) = self.classes.last_mut() {
            fields.has_parameters = true;
            fields.values += NODES_PER_FIELD;
        }
        property.visit_children_with(self);
    }

    fn visit_class_prop(&mut self, field: &ClassProp) {
        let before = self.nodes;
        field.key.visit_with(self);
        field.decorators.visit_with(self);
        let key = self.nodes - before;
        if let Some(fields) = self.classes.last_mut() {
            fields.values += key;
        }
        field.type_ann.visit_with(self);
        self.field(field.is_static, field.value.as_deref());
    }

    fn visit_private_prop(&mut self, field: &PrivateProp) {
        field.decorators.visit_with(self);
        field.type_ann.visit_with(self);
        self.field(field.is_static, field.value.as_deref());
    }

    fn visit_class(&mut self, class: &Class) {
        self.classes.push(Fields::default());
        class.visit_children_with(self);
        let Fields { has_parameters, values, supers } = self.classes.pop().unwrap_or_default();
        if has_parameters && supers > 0 {
            let message = msgid!(
                "calls `super` so often in a class with parameter properties that it takes too long to compile: call \
                 it once"
            );
            let before = self.copies;
            self.copy(values, supers, class.span, message);
            // An enclosing class copies the copies as well.
            self.nodes = self.nodes.saturating_add(self.copies - before);
            self.moved_values += supers;
        }
        if let Some(around) = self.classes.last_mut() {
            around.supers += supers;
        }
    }

    fn visit_class_decl(&mut self, class: &ClassDecl) {
        self.declare(&class.ident);
        class.class.visit_with(self);
    }

    fn visit_class_expr(&mut self, class: &ClassExpr) {
        self.scope(|budget| {
            class.ident.iter().for_each(|name| budget.declare(name));
            class.class.visit_with(budget);
        });
    }

    fn visit_block_stmt(&mut self, block: &BlockStmt) {
        self.scope(|budget| block.visit_children_with(budget));
    }

    fn visit_catch_clause(&mut self, clause: &CatchClause) {
        self.scope(|budget| clause.visit_children_with(budget));
    }

    fn visit_for_stmt(&mut self, statement: &ForStmt) {
        self.scope(|budget| budget.scope(|budget| statement.visit_children_with(budget)));
    }

    fn visit_for_in_stmt(&mut self, statement: &ForInStmt) {
        self.scope(|budget| budget.scope(|budget| statement.visit_children_with(budget)));
    }

    fn visit_for_of_stmt(&mut self, statement: &ForOfStmt) {
        self.scope(|budget| budget.scope(|budget| statement.visit_children_with(budget)));
    }

    fn visit_import_default_specifier(&mut self, import: &ImportDefaultSpecifier) {
        self.declare(&import.local);
    }

    fn visit_import_named_specifier(&mut self, import: &ImportNamedSpecifier) {
        self.declare(&import.local);
    }

    fn visit_import_star_as_specifier(&mut self, import: &ImportStarAsSpecifier) {
        self.declare(&import.local);
    }

    fn visit_ts_import_equals_decl(&mut self, import: &TsImportEqualsDecl) {
        self.declare(&import.id);
        import.module_ref.visit_with(self);
    }

    fn visit_ts_enum_decl(&mut self, declaration: &TsEnumDecl) {
        self.declare(&declaration.id);
        let members = declaration.members.len() as u64;
        let variables = self.variables.entry(declaration.id.sym.clone()).or_default();
        variables.parts += 1;
        variables.members += members;
        self.parts += 1;
        self.members += members;
        self.last_part = declaration.span;
        // The `enum` becomes a function with the `enum` as its parameter.
        self.function(|budget| {
            budget.reference(&declaration.id);
            declaration.members.visit_with(budget);
        });
    }

    fn visit_ts_enum_member(&mut self, member: &TsEnumMember) {
        self.nodes += 1;
        let before = std::mem::replace(&mut self.is_folded, true);
        self.enum_values += 1;
        member.init.visit_with(self);
        self.enum_values -= 1;
        self.is_folded = before;
    }

    fn visit_ts_module_decl(&mut self, module: &TsModuleDecl) {
        if let Some(name) = module.id.as_ident() {
            self.declare(name);
        }
        self.function(|budget| {
            if let Some(name) = module.id.as_ident() {
                budget.reference(name);
            }
            module.body.visit_with(budget);
        });
    }

    fn visit_ts_namespace_decl(&mut self, module: &TsNamespaceDecl) {
        self.function(|budget| {
            budget.declare(&module.id);
            module.body.visit_with(budget);
        });
    }

    // Types have no variables, but they are copied with the nodes around them.
    fn visit_ts_type(&mut self, node: &TsType) {
        self.nodes += 1;
        Size(self).visit_ts_type(node);
    }

    fn visit_ts_type_ann(&mut self, node: &TsTypeAnn) {
        Size(self).visit_ts_type_ann(node);
    }

    fn visit_ts_type_param_decl(&mut self, node: &TsTypeParamDecl) {
        Size(self).visit_ts_type_param_decl(node);
    }

    fn visit_ts_type_param_instantiation(&mut self, node: &TsTypeParamInstantiation) {
        Size(self).visit_ts_type_param_instantiation(node);
    }

    fn visit_ts_interface_decl(&mut self, node: &TsInterfaceDecl) {
        Size(self).visit_ts_interface_decl(node);
    }

    fn visit_ts_type_alias_decl(&mut self, node: &TsTypeAliasDecl) {
        Size(self).visit_ts_type_alias_decl(node);
    }
}

/// Counts the nodes of types.
struct Size<'a>(&'a mut Budget);

impl Visit for Size<'_> {
    fn visit_span(&mut self, _: &Span) {
        self.0.nodes += 1;
    }
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use crate::transpile;

    fn numbered(count: usize, one: impl Fn(usize) -> String) -> String {
        (0..count).map(one).collect()
    }

    #[test]
    fn what_takes_more_than_linear_time_to_compile_is_refused_by_its_cause_and_place() {
        let names = numbered(9_000, |at| format!("_{at:04x},"));
        let ones = "1,".repeat(20_000);
        for (source, says) in [
            (
                format!("enum A {{ x }} {}", "a => 1;".repeat(5_000)),
                "declares `a` in 5000 scopes, which takes too long",
            ),
            (
                format!("enum A {{ x }} a; {} {}", numbered(3_000, |at| format!("a{at};")), "a => 1;".repeat(3_000)),
                "declares `a` in 3000 scopes, and has 2999 names such as `a1`",
            ),
            (format!("enum A {{ x }} {}[{names}]", "() => ".repeat(190)), "has more than 500000 names"),
            (
                format!("enum A {{ x }} {}", format!("{}1;", "a => ".repeat(180)).repeat(60)),
                "has more than 500000 names in nested scopes",
            ),
            (
                format!("{}[{names}]{}", "namespace A {".repeat(190), "}".repeat(190)),
                "has more than 500000 names in nested scopes",
            ),
            (
                format!("namespace A{} {{ export let a = 1 }}", ".A".repeat(1_100)),
                "has more than 500000 names in nested scopes",
            ),
            (
                format!("enum A {{ {names} }} {}", "enum A { a }".repeat(800)),
                "has 801 `enum` declarations with 9800 members",
            ),
            (
                format!("enum A {{ {names} }} {}", "enum B {}".repeat(1_200)),
                "has 1201 `enum` declarations with 9000 members",
            ),
            (format!("enum A {{ x = [{ones}]{} }}", "+ a".repeat(190)), "computes too large a value"),
            (format!("enum A {{ x }} const y = [{ones}]{};", "+ a".repeat(190)), "computes too large a value"),
            (
                format!("enum A {{ x = {}[{ones}]{} }}", "`${".repeat(150), "}`".repeat(150)),
                "computes too large a value",
            ),
            (
                format!(
                    "class A extends B {{ constructor(public a) {{ {} }} x = [{}] }}",
                    "super();".repeat(600),
                    "1,".repeat(500)
                ),
                "calls `super` so often",
            ),
            (
                // Nested copies.
                format!(
                    "{0} {0} x = [{1}] }} }}",
                    format!("x = class extends B {{ constructor(public a) {{ {} }}", "super();".repeat(60)),
                    "1,".repeat(100)
                ),
                "calls `super` so often",
            ),
            (
                format!("enum E {{ a = 1 }} /* {} */ {}", "é".repeat(15_000), "f(E.a);".repeat(4_000)),
                "reads members of `enum`s 4000 times beside 15000 characters",
            ),
        ] {
            let refused = transpile(&source, Language::TypeScript).unwrap_err();
            assert_eq!(refused.code(), "syntax-unsupported");
            assert!(refused.to_string().starts_with(says), "{says}: {refused}");
            assert!(refused.to_string().contains("write plain objects"), "{refused}");
        }
    }

    #[test]
    fn the_place_of_what_is_refused_is_where_it_is_declared() {
        let source = format!("enum A {{ x }}\n{}\nfunction execute() {{}}", "a => 1;".repeat(5_000));
        let refused = transpile(&source, Language::TypeScript).unwrap_err();
        let location = refused.diagnostics()[0].location;
        assert_eq!((location.line, location.column), (2, 34_994), "{refused}");
    }

    #[test]
    fn a_long_source_with_enums_namespaces_and_parameter_properties_is_compiled() {
        let enums = numbered(150, |at| {
            let members = numbered(6, |member| format!("Member{member} = 1 << {member},\n"));
            format!("export enum Kind{at} {{\n{members}}}\n")
        });
        let namespaces = numbered(60, |at| {
            format!("namespace Area {{ export const x{at} = (a: number) => [a].map((x) => x + Kind1.Member1) }}\n")
        });
        let arrows = "list.filter((x) => x.id).map((x, i) => ({ x, i: i + a1 }));\n".repeat(300);
        let text = format!("const text = 'a'{};\n", " +\n  'a line of a long text'".repeat(120));
        let fields = numbered(20, |at| format!("private field{at}: string = 'ü',\n"));
        let class = format!("class A extends Object {{ constructor({fields}) {{ super(); }} y = [1, 2]; }}\n");
        let source = format!("let a1 = 1, list: any[] = [];\n{enums}{namespaces}{arrows}{text}{class}");
        assert!(source.len() > 45_000 && source.len() < 65_536, "{}", source.len());
        let script = transpile(&source, Language::TypeScript).map_err(|refused| refused.to_string()).unwrap();
        assert!(script.has_position_map());
    }
}
