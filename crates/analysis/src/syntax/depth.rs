//! The nesting depth of a tree, and the cost of resolving its names.
//!
//! The resolver looks for each name in the enclosing scopes, and for each declaration once more in
//! every enclosing block (Annex B hoists functions out of blocks). So the steps are counted before
//! names are resolved.
//!
//! Invariant: everything that recurses counts as depth: parentheses, arrows, `else if` chains, long
//! sums, types. All counts are made in one visit of the tree.

use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, BindingIdent, BlockStmt, CatchClause, Class, ClassExpr, Constructor, Decorator, Expr, FnDecl, FnExpr,
    ForInStmt, ForOfStmt, ForStmt, Function, FunctionBody, Ident, ObjectLit, Pat, Program, Stmt, SwitchCase,
    SwitchStmt, TsEnumDecl, TsModuleBlock, TsModuleDecl, TsType, TsTypeElement, VarDecl, VarDeclKind,
};
use swc_ecma_visit::{Visit, VisitWith};
use toolcell_i18n::{Message, message};

/// The maximum nesting depth of a source that is analysed. A deeper source gets one finding, about
/// its depth.
pub(crate) const MAX_DEPTH: usize = 400;

/// The maximum work of resolving names, in visited expressions.
const MAX_WORK: u64 = 500_000;

/// The maximum number of resolver steps: scopes searched for a name, and blocks searched for a
/// statement.
const MAX_STEPS: u64 = 8_000_000;

/// An error: resolving the names of a source takes too long.
pub(crate) struct ResolutionTooCostly {
    /// The cause, and what to write instead.
    pub(crate) message: Message,
    /// The span at which the limit is exceeded.
    pub(crate) at: Option<Span>,
}

/// Returns the maximum nesting depth of expressions, statements, patterns and types.
///
/// # Errors
/// Resolving the names takes too long. Beyond [`MAX_DEPTH`] no names are
/// resolved, so their cost does not matter.
pub(crate) fn nesting_depth(program: &Program) -> Result<usize, ResolutionTooCostly> {
    let mut depth = DepthVisitor::default();
    depth.statement_list(|depth| program.visit_with(depth));
    // The resolver visits the `extends` of a class expression, and a decorator, twice; nested ones
    // double the visits again.
    if depth.work > MAX_WORK {
        let message = message!("nests classes in decorators, or in the `extends` of classes, too deeply");
        return Err(ResolutionTooCostly { message, at: None });
    }
    if depth.steps > MAX_STEPS && depth.max <= MAX_DEPTH {
        let message =
            message!("has too many names, functions and statements in nested blocks: move them out of the blocks");
        return Err(ResolutionTooCostly { message, at: depth.exceeded_at });
    }
    Ok(depth.max)
}

#[derive(Default)]
struct DepthVisitor {
    current: usize,
    max: usize,
    doublings: u32,
    work: u64,
    /// The number of enclosing scopes.
    scopes: u64,
    /// The number of enclosing statement lists, up to the function: declarations are hoisted
    /// through each of them.
    statement_lists: u64,
    /// The kind of binding that names in patterns declare.
    binding_kind: BindingKind,
    /// The enclosing `catch` clauses, up to the function.
    catches: Vec<CatchScope>,
    steps: u64,
    /// The span at which the steps exceed their limit.
    exceeded_at: Option<Span>,
}

/// The kind of a binding.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum BindingKind {
    /// `let`, `const` or a parameter.
    #[default]
    Lexical,
    /// `var`.
    Hoisted,
    /// The parameter of a `catch` clause.
    CatchParameter,
}

/// The cost of a `catch` clause. For each clause, the resolver copies the names of the enclosing
/// clauses into each list of statements.
#[derive(Default)]
struct CatchScope {
    /// The number of names that it declares.
    names: u64,
    /// The number of visits of nested clauses.
    visits: u64,
}

impl DepthVisitor {
    fn nested(&mut self, visit: impl FnOnce(&mut Self)) {
        self.current += 1;
        self.max = self.max.max(self.current);
        visit(self);
        self.current -= 1;
    }

    fn visited_twice(&mut self, visit: impl FnOnce(&mut Self)) {
        self.doublings += 1;
        visit(self);
        self.doublings -= 1;
    }

    fn scope(&mut self, visit: impl FnOnce(&mut Self)) {
        self.scopes += 1;
        visit(self);
        self.scopes -= 1;
    }

    /// Visits a list of statements.
    fn statement_list(&mut self, visit: impl FnOnce(&mut Self)) {
        self.statement_lists += 1;
        visit(self);
        self.statement_lists -= 1;
    }

    /// Visits a node with a scope of its own, out of which nothing is hoisted.
    fn function(&mut self, visit: impl FnOnce(&mut Self)) {
        let (lists, declares) = (std::mem::take(&mut self.statement_lists), std::mem::take(&mut self.binding_kind));
        let catches = std::mem::take(&mut self.catches);
        self.scope(visit);
        (self.statement_lists, self.binding_kind, self.catches) = (lists, declares, catches);
    }

    fn step(&mut self, steps: u64, span: Span) {
        self.steps = self.steps.saturating_add(steps.saturating_mul(1 << self.doublings.min(20)));
        if self.steps > MAX_STEPS {
            self.exceeded_at.get_or_insert(span);
        }
    }
}

impl Visit for DepthVisitor {
    fn visit_class_expr(&mut self, node: &ClassExpr) {
        self.visited_twice(|depth| node.class.super_class.visit_with(depth));
        self.function(|depth| {
            node.class.decorators.visit_with(depth);
            node.class.body.visit_with(depth);
        });
    }

    fn visit_class(&mut self, node: &Class) {
        self.function(|depth| node.visit_children_with(depth));
    }

    fn visit_decorator(&mut self, node: &Decorator) {
        self.visited_twice(|depth| node.visit_children_with(depth));
    }

    fn visit_expr(&mut self, node: &Expr) {
        self.work = self.work.saturating_add(1 << self.doublings.min(32));
        self.nested(|depth| node.visit_children_with(depth));
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        self.step(self.statement_lists, swc_common::Spanned::span(node));
        self.nested(|depth| node.visit_children_with(depth));
    }

    fn visit_pat(&mut self, node: &Pat) {
        self.nested(|depth| node.visit_children_with(depth));
    }

    fn visit_ts_type(&mut self, node: &TsType) {
        self.nested(|depth| depth.scope(|depth| node.visit_children_with(depth)));
    }

    fn visit_ts_type_element(&mut self, node: &TsTypeElement) {
        self.scope(|depth| node.visit_children_with(depth));
    }

    fn visit_ident(&mut self, node: &Ident) {
        self.step(self.scopes, node.span);
    }

    fn visit_binding_ident(&mut self, node: &BindingIdent) {
        self.step(self.scopes, node.id.span);
        if self.binding_kind != BindingKind::Lexical {
            // In a `catch` clause, each list checks whether the enclosing scopes have the name.
            let is_looked_for = self.binding_kind == BindingKind::Hoisted && !self.catches.is_empty();
            let scopes = if is_looked_for { self.scopes } else { 1 };
            self.step(self.statement_lists * scopes, node.id.span);
            if let Some(catch) = self.catches.last_mut() {
                catch.names += 1;
            }
        }
        node.type_ann.visit_with(self);
    }

    fn visit_var_decl(&mut self, node: &VarDecl) {
        for declarator in &node.decls {
            let declares = if node.kind == VarDeclKind::Var { BindingKind::Hoisted } else { BindingKind::Lexical };
            let before = std::mem::replace(&mut self.binding_kind, declares);
            declarator.name.visit_with(self);
            self.binding_kind = before;
            declarator.init.visit_with(self);
        }
    }

    fn visit_fn_decl(&mut self, node: &FnDecl) {
        // Each list checks whether the enclosing scopes declare the name.
        self.step(self.statement_lists * self.scopes, node.ident.span);
        self.visit_ident(&node.ident);
        node.function.visit_with(self);
    }

    fn visit_fn_expr(&mut self, node: &FnExpr) {
        self.scope(|depth| node.visit_children_with(depth));
    }

    fn visit_function(&mut self, node: &Function) {
        self.function(|depth| node.visit_children_with(depth));
    }

    fn visit_constructor(&mut self, node: &Constructor) {
        self.function(|depth| node.visit_children_with(depth));
    }

    fn visit_arrow_expr(&mut self, node: &ArrowExpr) {
        self.function(|depth| node.visit_children_with(depth));
    }

    fn visit_function_body(&mut self, node: &FunctionBody) {
        self.statement_list(|depth| node.visit_children_with(depth));
    }

    fn visit_block_stmt(&mut self, node: &BlockStmt) {
        self.scope(|depth| depth.statement_list(|depth| node.visit_children_with(depth)));
    }

    fn visit_catch_clause(&mut self, node: &CatchClause) {
        self.catches.push(CatchScope::default());
        let before = std::mem::replace(&mut self.binding_kind, BindingKind::CatchParameter);
        self.scope(|depth| {
            node.param.visit_with(depth);
            depth.binding_kind = BindingKind::Lexical;
            node.body.visit_with(depth);
        });
        self.binding_kind = before;
        let CatchScope { names, visits } = self.catches.pop().unwrap_or_default();
        self.step(names.saturating_mul(visits), node.span);
        let lists = self.statement_lists;
        if let Some(around) = self.catches.last_mut() {
            around.visits = around.visits.saturating_add(visits).saturating_add(lists);
        }
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        self.scope(|depth| depth.scope(|depth| node.visit_children_with(depth)));
    }

    fn visit_for_in_stmt(&mut self, node: &ForInStmt) {
        self.scope(|depth| depth.scope(|depth| node.visit_children_with(depth)));
    }

    fn visit_for_of_stmt(&mut self, node: &ForOfStmt) {
        self.scope(|depth| depth.scope(|depth| node.visit_children_with(depth)));
    }

    fn visit_switch_stmt(&mut self, node: &SwitchStmt) {
        self.scope(|depth| node.visit_children_with(depth));
    }

    fn visit_switch_case(&mut self, node: &SwitchCase) {
        self.statement_list(|depth| node.visit_children_with(depth));
    }

    fn visit_object_lit(&mut self, node: &ObjectLit) {
        self.scope(|depth| node.visit_children_with(depth));
    }

    fn visit_ts_enum_decl(&mut self, node: &TsEnumDecl) {
        self.scope(|depth| node.visit_children_with(depth));
    }

    fn visit_ts_module_decl(&mut self, node: &TsModuleDecl) {
        self.scope(|depth| node.visit_children_with(depth));
    }

    fn visit_ts_module_block(&mut self, node: &TsModuleBlock) {
        self.function(|depth| depth.statement_list(|depth| node.visit_children_with(depth)));
    }
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use crate::{analyze, quick_check};

    #[test]
    fn names_in_blocks_within_blocks_are_refused_before_they_take_long_to_resolve() {
        let nested =
            |open: &str, times: usize, inner: String| format!("{}{inner}{}", open.repeat(times), "}".repeat(times));
        let names = (0..6_000).fold(String::new(), |names, at| names + "_" + &at.to_string() + ",");
        for source in [
            nested("{class b{}", 388, "function a(){}".repeat(4_000)),
            nested("{", 388, "a;".repeat(30_000)),
            nested("{", 388, format!("try{{}}catch{{var {}a}}", "a,".repeat(30_000))),
            nested("{", 100, format!("try{{}}catch({{{names}}}){{{}}}", "try{}catch{}".repeat(2_200))),
            nested("{", 100, format!("try{{}}catch{{var {names}a;{}}}", "try{}catch{}".repeat(2_200))),
        ] {
            for language in [Language::JavaScript, Language::TypeScript] {
                let refused = analyze(&source, language, None).map(|_| ()).unwrap_err();
                assert_eq!(refused.code(), "source-too-deep");
                assert!(refused.diagnostics()[0].message.to_string().contains("in nested blocks"), "{refused}");
                assert!(refused.diagnostics()[0].location.column > 100, "{refused}");
                assert!(quick_check(&source, language).is_err());
            }
        }
    }

    #[test]
    fn a_long_source_with_blocks_within_blocks_is_resolved() {
        let statement =
            "try { if (a.b[c]) { for (const d of e) { f(d, g) } } } catch (h) { var i = h; function j() {} }\n";
        let inner = statement.repeat(580);
        let source = format!("function execute() {{ {}{inner}{} }}", "if (x) {".repeat(12), "}".repeat(12));
        assert!(source.len() > 50_000, "{}", source.len());
        assert!(analyze(&source, Language::JavaScript, None).is_ok());
    }
}
