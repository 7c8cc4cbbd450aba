//! How deep a tree is, and how much work its names are to resolve.
//!
//! The resolver looks for each name in the scopes around it, and for each declaration once more in every block around it
//! (Annex B hoists functions out of blocks). So the steps are added up before names are resolved.
//!
//! Invariant: only what recurses counts as depth, whatever its shape: brackets, arrows, `else if` chains, long sums,
//! types. Each count is made in one visit of the tree.

use swc_common::Span;
use swc_ecma_ast::{
    ArrowExpr, BindingIdent, BlockStmt, CatchClause, Class, ClassExpr, Constructor, Decorator, Expr, FnDecl, FnExpr,
    ForInStmt, ForOfStmt, ForStmt, Function, FunctionBody, Ident, ObjectLit, Pat, Program, Stmt, SwitchCase,
    SwitchStmt, TsEnumDecl, TsModuleBlock, TsModuleDecl, TsType, TsTypeElement, VarDecl, VarDeclKind,
};
use swc_ecma_visit::{Visit, VisitWith};

use crate::DEPTH;

/// The most work that names are resolved with, in expressions.
const MAX_WORK: u64 = 500_000;

/// The most steps that names are resolved with: scopes that a name is looked for in, and blocks that a statement is
/// looked at for.
const MAX_STEPS: u64 = 8_000_000;

/// Resolving the names of a source takes too long.
pub(crate) struct TooLong {
    /// What takes long, and what to write instead.
    pub(crate) message: &'static str,
    /// Where the limit is reached.
    pub(crate) at: Option<Span>,
}

/// The most expressions, statements, patterns and types inside each other.
///
/// # Errors
/// Resolving names takes too long. Beyond [`DEPTH`] no names are resolved.
pub(crate) fn depth(program: &Program) -> Result<usize, TooLong> {
    let mut depth = Depth::default();
    depth.list(|depth| program.visit_with(depth));
    // The resolver looks twice at what the `extends` of a class expression, and a decorator, are made of; within each
    // other, that is twice for each.
    if depth.work > MAX_WORK {
        let message = "nests classes in decorators, or in the `extends` of classes, deeper than any tool does";
        return Err(TooLong { message, at: None });
    }
    if depth.steps > MAX_STEPS && depth.most <= DEPTH {
        let message = "has more names, functions and statements in blocks within blocks than any tool does: move \
                       them out of the blocks";
        return Err(TooLong { message, at: depth.crossed });
    }
    Ok(depth.most)
}

#[derive(Default)]
struct Depth {
    now: usize,
    most: usize,
    doubled: u32,
    work: u64,
    /// The scopes around.
    scopes: u64,
    /// The lists of statements around, up to the function: what they declare is hoisted for each of them.
    lists: u64,
    /// How names in patterns are declared.
    declares: Declares,
    /// The `catch` clauses around, up to the function.
    catches: Vec<Catch>,
    steps: u64,
    /// Where the steps reach their limit.
    crossed: Option<Span>,
}

/// What declares a name.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Declares {
    /// `let`, `const` or a parameter.
    #[default]
    Here,
    /// `var`.
    Hoisted,
    /// The parameter of a `catch` clause.
    Caught,
}

/// A `catch` clause. The resolver copies the names of the clauses around for each clause, in each list of statements.
#[derive(Default)]
struct Catch {
    /// What it declares.
    names: u64,
    /// How often the clauses in it are looked at.
    visits: u64,
}

impl Depth {
    fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
        self.now += 1;
        self.most = self.most.max(self.now);
        visit(self);
        self.now -= 1;
    }

    fn twice(&mut self, visit: impl FnOnce(&mut Self)) {
        self.doubled += 1;
        visit(self);
        self.doubled -= 1;
    }

    fn scope(&mut self, visit: impl FnOnce(&mut Self)) {
        self.scopes += 1;
        visit(self);
        self.scopes -= 1;
    }

    /// Visits a list of statements.
    fn list(&mut self, visit: impl FnOnce(&mut Self)) {
        self.lists += 1;
        visit(self);
        self.lists -= 1;
    }

    /// Visits a node with a scope of its own that nothing is hoisted out of.
    fn function(&mut self, visit: impl FnOnce(&mut Self)) {
        let (lists, declares) = (std::mem::take(&mut self.lists), std::mem::take(&mut self.declares));
        let catches = std::mem::take(&mut self.catches);
        self.scope(visit);
        (self.lists, self.declares, self.catches) = (lists, declares, catches);
    }

    fn step(&mut self, steps: u64, span: Span) {
        self.steps = self.steps.saturating_add(steps.saturating_mul(1 << self.doubled.min(20)));
        if self.steps > MAX_STEPS {
            self.crossed.get_or_insert(span);
        }
    }
}

impl Visit for Depth {
    fn visit_class_expr(&mut self, node: &ClassExpr) {
        self.twice(|depth| node.class.super_class.visit_with(depth));
        self.function(|depth| {
            node.class.decorators.visit_with(depth);
            node.class.body.visit_with(depth);
        });
    }

    fn visit_class(&mut self, node: &Class) {
        self.function(|depth| node.visit_children_with(depth));
    }

    fn visit_decorator(&mut self, node: &Decorator) {
        self.twice(|depth| node.visit_children_with(depth));
    }

    fn visit_expr(&mut self, node: &Expr) {
        self.work = self.work.saturating_add(1 << self.doubled.min(32));
        self.inside(|depth| node.visit_children_with(depth));
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        self.step(self.lists, swc_common::Spanned::span(node));
        self.inside(|depth| node.visit_children_with(depth));
    }

    fn visit_pat(&mut self, node: &Pat) {
        self.inside(|depth| node.visit_children_with(depth));
    }

    fn visit_ts_type(&mut self, node: &TsType) {
        self.inside(|depth| depth.scope(|depth| node.visit_children_with(depth)));
    }

    fn visit_ts_type_element(&mut self, node: &TsTypeElement) {
        self.scope(|depth| node.visit_children_with(depth));
    }

    fn visit_ident(&mut self, node: &Ident) {
        self.step(self.scopes, node.span);
    }

    fn visit_binding_ident(&mut self, node: &BindingIdent) {
        self.step(self.scopes, node.id.span);
        if self.declares != Declares::Here {
            // In a `catch` clause, each list looks whether the scopes around it have the name.
            let is_looked_for = self.declares == Declares::Hoisted && !self.catches.is_empty();
            let scopes = if is_looked_for { self.scopes } else { 1 };
            self.step(self.lists * scopes, node.id.span);
            if let Some(catch) = self.catches.last_mut() {
                catch.names += 1;
            }
        }
        node.type_ann.visit_with(self);
    }

    fn visit_var_decl(&mut self, node: &VarDecl) {
        for declarator in &node.decls {
            let declares = if node.kind == VarDeclKind::Var { Declares::Hoisted } else { Declares::Here };
            let before = std::mem::replace(&mut self.declares, declares);
            declarator.name.visit_with(self);
            self.declares = before;
            declarator.init.visit_with(self);
        }
    }

    fn visit_fn_decl(&mut self, node: &FnDecl) {
        // Each list looks whether the scopes around it declare the name.
        self.step(self.lists * self.scopes, node.ident.span);
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
        self.list(|depth| node.visit_children_with(depth));
    }

    fn visit_block_stmt(&mut self, node: &BlockStmt) {
        self.scope(|depth| depth.list(|depth| node.visit_children_with(depth)));
    }

    fn visit_catch_clause(&mut self, node: &CatchClause) {
        self.catches.push(Catch::default());
        let before = std::mem::replace(&mut self.declares, Declares::Caught);
        self.scope(|depth| {
            node.param.visit_with(depth);
            depth.declares = Declares::Here;
            node.body.visit_with(depth);
        });
        self.declares = before;
        let Catch { names, visits } = self.catches.pop().unwrap_or_default();
        self.step(names.saturating_mul(visits), node.span);
        let lists = self.lists;
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
        self.list(|depth| node.visit_children_with(depth));
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
        self.function(|depth| depth.list(|depth| node.visit_children_with(depth)));
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
                assert!(refused.problems()[0].message.contains("in blocks within blocks"), "{refused}");
                assert!(refused.problems()[0].location.column > 100, "{refused}");
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
