//! Evaluation of statements inside of a call.

use swc_ecma_ast::{
    AssignExpr, AssignTarget, BinaryOp, BlockStmt, Decl, Expr, ForHead, ForStmt, Id, MemberExpr, SimpleAssignTarget,
    Stmt, SwitchStmt, UpdateExpr, VarDecl, VarDeclOrExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::expr::logical_or;
use crate::semantics::bindings::Bindings;
use crate::semantics::fold;
use crate::semantics::value::Value;
use crate::syntax::expr::peel_parens;

/// The way in which a statement completes.
enum StatementEnd {
    Next,
    Return(Value),
    Break,
    Continue,
    /// The statements that follow are uncertain.
    Unknown,
}

impl Bindings<'_> {
    /// Evaluates a function body, and returns its result.
    pub(super) fn eval_body(&self, stmts: &[Stmt]) -> Value {
        let mut perhaps = Value::Unknown;
        match self.eval_statements(stmts, &mut perhaps) {
            StatementEnd::Return(value) => logical_or(perhaps.external_or_unknown(), || value),
            StatementEnd::Next => logical_or(perhaps, || Value::Undefined),
            StatementEnd::Break | StatementEnd::Continue | StatementEnd::Unknown => perhaps,
        }
    }

    fn eval_statements(&self, stmts: &[Stmt], perhaps: &mut Value) -> StatementEnd {
        for stmt in stmts {
            match self.eval_statement(stmt, perhaps) {
                StatementEnd::Next => {}
                flow => return flow,
            }
        }
        StatementEnd::Next
    }

    fn eval_statement(&self, stmt: &Stmt, perhaps: &mut Value) -> StatementEnd {
        if !self.take_step() {
            return StatementEnd::Unknown;
        }
        match stmt {
            Stmt::Return(returned) => {
                StatementEnd::Return(returned.arg.as_ref().map_or(Value::Undefined, |arg| self.value(arg)))
            }
            Stmt::Decl(Decl::Var(variables)) => {
                self.eval_declarations(variables);
                StatementEnd::Next
            }
            Stmt::Expr(node) => {
                self.value(&node.expr);
                StatementEnd::Next
            }
            Stmt::Block(BlockStmt { stmts, .. }) => self.eval_statements(stmts, perhaps),
            Stmt::If(choice) => match (self.value(&choice.test).to_boolean(), &choice.alt) {
                (Some(true), _) => self.eval_statement(&choice.cons, perhaps),
                (Some(false), Some(alt)) => self.eval_statement(alt, perhaps),
                (Some(false), None) => StatementEnd::Next,
                (None, alt) => {
                    let branches = std::iter::once(&choice.cons).chain(alt);
                    let mut all_return = alt.is_some();
                    for branch in branches {
                        match self.eval_statement(branch, perhaps) {
                            StatementEnd::Return(value) if !perhaps.is_known() => *perhaps = value,
                            StatementEnd::Return(_) => {}
                            _ => all_return = false,
                        }
                    }
                    if all_return { StatementEnd::Unknown } else { StatementEnd::Next }
                }
            },
            Stmt::For(looped) => self.eval_for(looped, perhaps),
            Stmt::While(looped) => self.eval_loop(&looped.test, None, &looped.body, perhaps),
            Stmt::DoWhile(looped) => match self.eval_statement(&looped.body, perhaps) {
                StatementEnd::Next | StatementEnd::Continue => {
                    self.eval_loop(&looped.test, None, &looped.body, perhaps)
                }
                StatementEnd::Break => StatementEnd::Next,
                flow => flow,
            },
            Stmt::ForOf(looped) => {
                let members = match self.value(&looped.right) {
                    Value::List(list) => list.to_vec(),
                    Value::Text(text) => text.chars().map(|letter| Value::text(&letter.to_string())).collect(),
                    _ => return self.skip_loop(&looped.body),
                };
                for member in members {
                    match &looped.left {
                        ForHead::VarDecl(variables) => match variables.decls.as_slice() {
                            [declarator] => self.bind(&declarator.name, member),
                            _ => return StatementEnd::Unknown,
                        },
                        ForHead::Pat(pat) => self.bind(pat, member),
                        ForHead::UsingDecl(_) => return StatementEnd::Unknown,
                    }
                    match self.eval_statement(&looped.body, perhaps) {
                        StatementEnd::Next | StatementEnd::Continue => {}
                        StatementEnd::Break => break,
                        flow => return flow,
                    }
                }
                StatementEnd::Next
            }
            Stmt::Switch(switch) => self.eval_switch(switch, perhaps),
            Stmt::Try(tried) => self.eval_statements(&tried.block.stmts, perhaps),
            Stmt::Labeled(labelled) => self.eval_statement(&labelled.body, perhaps),
            Stmt::Break(_) => StatementEnd::Break,
            Stmt::Continue(_) => StatementEnd::Continue,
            Stmt::ForIn(looped) => self.skip_loop(&looped.body),
            Stmt::Decl(_) | Stmt::Empty(_) | Stmt::Debugger(_) => StatementEnd::Next,
            Stmt::Throw(_) | Stmt::With(_) => StatementEnd::Unknown,
        }
    }

    /// Skips a loop that cannot be followed: the names that it writes to become unknown.
    fn skip_loop(&self, body: &Stmt) -> StatementEnd {
        let mut written = Vec::new();
        collect_written(body, &mut written);
        if let Some(frame) = self.frames.borrow_mut().last_mut() {
            for id in written {
                frame.names.insert(id, Value::Unknown);
            }
        }
        StatementEnd::Next
    }

    fn eval_for(&self, looped: &ForStmt, perhaps: &mut Value) -> StatementEnd {
        match &looped.init {
            Some(VarDeclOrExpr::VarDecl(variables)) => self.eval_declarations(variables),
            Some(VarDeclOrExpr::Expr(expr)) => drop(self.value(expr)),
            None => {}
        }
        match &looped.test {
            Some(test) => self.eval_loop(test, looped.update.as_deref(), &looped.body, perhaps),
            None => StatementEnd::Unknown,
        }
    }

    fn eval_loop(&self, test: &Expr, update: Option<&Expr>, body: &Stmt, perhaps: &mut Value) -> StatementEnd {
        loop {
            match self.value(test).to_boolean() {
                Some(true) => {}
                Some(false) => return StatementEnd::Next,
                None => return self.skip_loop(body),
            }
            match self.eval_statement(body, perhaps) {
                StatementEnd::Next | StatementEnd::Continue => {}
                StatementEnd::Break => return StatementEnd::Next,
                flow => return flow,
            }
            if let Some(update) = update {
                self.value(update);
            }
            if self.call_steps.get() == 0 {
                return StatementEnd::Unknown;
            }
        }
    }

    fn eval_switch(&self, switch: &SwitchStmt, perhaps: &mut Value) -> StatementEnd {
        let value = self.value(&switch.discriminant);
        let mut matched = false;
        for round in 0..2 {
            for case in &switch.cases {
                matched = matched
                    || match &case.test {
                        Some(test) if round == 0 => {
                            match fold::binary(BinaryOp::EqEqEq, &value, &self.value(test)).to_boolean() {
                                Some(same) => same,
                                None => return StatementEnd::Unknown,
                            }
                        }
                        Some(_) => false,
                        None => round == 1,
                    };
                if matched {
                    match self.eval_statements(&case.cons, perhaps) {
                        StatementEnd::Next => {}
                        StatementEnd::Break => return StatementEnd::Next,
                        flow => return flow,
                    }
                }
            }
            if matched {
                break;
            }
        }
        StatementEnd::Next
    }

    fn eval_declarations(&self, variables: &VarDecl) {
        for declarator in &variables.decls {
            let value = declarator.init.as_ref().map_or(Value::Undefined, |init| self.value(init));
            self.bind(&declarator.name, value);
        }
    }
}

/// Collects the names that the statements of a loop write to.
fn collect_written(stmt: &Stmt, written: &mut Vec<Id>) {
    struct Written<'b>(&'b mut Vec<Id>);
    impl Visit for Written<'_> {
        fn visit_assign_expr(&mut self, assign: &AssignExpr) {
            if let AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) = &assign.left {
                self.0.push(ident.to_id());
            }
            assign.visit_children_with(self);
        }
        fn visit_update_expr(&mut self, update: &UpdateExpr) {
            if let Expr::Ident(ident) = peel_parens(&update.arg) {
                self.0.push(ident.to_id());
            }
        }
        fn visit_member_expr(&mut self, member: &MemberExpr) {
            // A list that elements are pushed to.
            if let Expr::Ident(ident) = peel_parens(&member.obj)
                && member.prop.as_ident().is_some_and(|name| matches!(&*name.sym, "push" | "unshift" | "splice"))
            {
                self.0.push(ident.to_id());
            }
        }
    }
    stmt.visit_with(&mut Written(written));
}
