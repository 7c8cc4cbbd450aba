//! The statements of a call that is worked out.

use swc_ecma_ast::{
    AssignExpr, AssignTarget, BinaryOp, BlockStmt, Decl, Expr, ForHead, ForStmt, Id, MemberExpr, SimpleAssignTarget,
    Stmt, SwitchStmt, UpdateExpr, VarDecl, VarDeclOrExpr,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::evaluate::either;
use super::{Names, bare};
use crate::fold;
use crate::value::Value;

/// How a statement ends.
enum Flow {
    Next,
    Return(Value),
    Break,
    Continue,
    /// What comes is not certain.
    Lost,
}

impl Names<'_> {
    /// The value of a function's body.
    pub(super) fn block(&self, stmts: &[Stmt]) -> Value {
        let mut perhaps = Value::Unknown;
        match self.run(stmts, &mut perhaps) {
            Flow::Return(value) => either(perhaps.reached(), || value),
            Flow::Next => either(perhaps, || Value::Undefined),
            Flow::Break | Flow::Continue | Flow::Lost => perhaps,
        }
    }

    fn run(&self, stmts: &[Stmt], perhaps: &mut Value) -> Flow {
        for stmt in stmts {
            match self.statement(stmt, perhaps) {
                Flow::Next => {}
                flow => return flow,
            }
        }
        Flow::Next
    }

    fn statement(&self, stmt: &Stmt, perhaps: &mut Value) -> Flow {
        if !self.spend() {
            return Flow::Lost;
        }
        match stmt {
            Stmt::Return(returned) => {
                Flow::Return(returned.arg.as_ref().map_or(Value::Undefined, |arg| self.value(arg)))
            }
            Stmt::Decl(Decl::Var(variables)) => {
                self.declare(variables);
                Flow::Next
            }
            Stmt::Expr(node) => {
                self.value(&node.expr);
                Flow::Next
            }
            Stmt::Block(BlockStmt { stmts, .. }) => self.run(stmts, perhaps),
            Stmt::If(choice) => match (self.value(&choice.test).truth(), &choice.alt) {
                (Some(true), _) => self.statement(&choice.cons, perhaps),
                (Some(false), Some(alt)) => self.statement(alt, perhaps),
                (Some(false), None) => Flow::Next,
                (None, alt) => {
                    let branches = std::iter::once(&choice.cons).chain(alt);
                    let mut all_return = alt.is_some();
                    for branch in branches {
                        match self.statement(branch, perhaps) {
                            Flow::Return(value) if !perhaps.is_known() => *perhaps = value,
                            Flow::Return(_) => {}
                            _ => all_return = false,
                        }
                    }
                    if all_return { Flow::Lost } else { Flow::Next }
                }
            },
            Stmt::For(looped) => self.counted(looped, perhaps),
            Stmt::While(looped) => self.repeated(&looped.test, None, &looped.body, perhaps),
            Stmt::DoWhile(looped) => match self.statement(&looped.body, perhaps) {
                Flow::Next | Flow::Continue => self.repeated(&looped.test, None, &looped.body, perhaps),
                Flow::Break => Flow::Next,
                flow => flow,
            },
            Stmt::ForOf(looped) => {
                let members = match self.value(&looped.right) {
                    Value::List(list) => list.to_vec(),
                    Value::Text(text) => text.chars().map(|letter| Value::text(&letter.to_string())).collect(),
                    _ => return self.lost(&looped.body),
                };
                for member in members {
                    match &looped.left {
                        ForHead::VarDecl(variables) => match variables.decls.as_slice() {
                            [declarator] => self.bind(&declarator.name, member),
                            _ => return Flow::Lost,
                        },
                        ForHead::Pat(pat) => self.bind(pat, member),
                        ForHead::UsingDecl(_) => return Flow::Lost,
                    }
                    match self.statement(&looped.body, perhaps) {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => break,
                        flow => return flow,
                    }
                }
                Flow::Next
            }
            Stmt::Switch(switch) => self.switch(switch, perhaps),
            Stmt::Try(tried) => self.run(&tried.block.stmts, perhaps),
            Stmt::Labeled(labelled) => self.statement(&labelled.body, perhaps),
            Stmt::Break(_) => Flow::Break,
            Stmt::Continue(_) => Flow::Continue,
            Stmt::ForIn(looped) => self.lost(&looped.body),
            Stmt::Decl(_) | Stmt::Empty(_) | Stmt::Debugger(_) => Flow::Next,
            Stmt::Throw(_) | Stmt::With(_) => Flow::Lost,
        }
    }

    /// A loop that is not followed: what it writes to is not known any more.
    fn lost(&self, body: &Stmt) -> Flow {
        let mut written = Vec::new();
        written_in(body, &mut written);
        if let Some(frame) = self.frames.borrow_mut().last_mut() {
            for id in written {
                frame.names.insert(id, Value::Unknown);
            }
        }
        Flow::Next
    }

    fn counted(&self, looped: &ForStmt, perhaps: &mut Value) -> Flow {
        match &looped.init {
            Some(VarDeclOrExpr::VarDecl(variables)) => self.declare(variables),
            Some(VarDeclOrExpr::Expr(expr)) => drop(self.value(expr)),
            None => {}
        }
        match &looped.test {
            Some(test) => self.repeated(test, looped.update.as_deref(), &looped.body, perhaps),
            None => Flow::Lost,
        }
    }

    fn repeated(&self, test: &Expr, update: Option<&Expr>, body: &Stmt, perhaps: &mut Value) -> Flow {
        loop {
            match self.value(test).truth() {
                Some(true) => {}
                Some(false) => return Flow::Next,
                None => return self.lost(body),
            }
            match self.statement(body, perhaps) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Flow::Next,
                flow => return flow,
            }
            if let Some(update) = update {
                self.value(update);
            }
            if self.budget.get() == 0 {
                return Flow::Lost;
            }
        }
    }

    fn switch(&self, switch: &SwitchStmt, perhaps: &mut Value) -> Flow {
        let value = self.value(&switch.discriminant);
        let mut matched = false;
        for round in 0..2 {
            for case in &switch.cases {
                matched = matched
                    || match &case.test {
                        Some(test) if round == 0 => {
                            match fold::binary(BinaryOp::EqEqEq, &value, &self.value(test)).truth() {
                                Some(same) => same,
                                None => return Flow::Lost,
                            }
                        }
                        Some(_) => false,
                        None => round == 1,
                    };
                if matched {
                    match self.run(&case.cons, perhaps) {
                        Flow::Next => {}
                        Flow::Break => return Flow::Next,
                        flow => return flow,
                    }
                }
            }
            if matched {
                break;
            }
        }
        Flow::Next
    }

    fn declare(&self, variables: &VarDecl) {
        for declarator in &variables.decls {
            let value = declarator.init.as_ref().map_or(Value::Undefined, |init| self.value(init));
            self.bind(&declarator.name, value);
        }
    }
}

/// The names that the statements of a loop write to.
fn written_in(stmt: &Stmt, written: &mut Vec<Id>) {
    struct Written<'b>(&'b mut Vec<Id>);
    impl Visit for Written<'_> {
        fn visit_assign_expr(&mut self, assign: &AssignExpr) {
            if let AssignTarget::Simple(SimpleAssignTarget::Ident(ident)) = &assign.left {
                self.0.push(ident.to_id());
            }
            assign.visit_children_with(self);
        }
        fn visit_update_expr(&mut self, update: &UpdateExpr) {
            if let Expr::Ident(ident) = bare(&update.arg) {
                self.0.push(ident.to_id());
            }
        }
        fn visit_member_expr(&mut self, member: &MemberExpr) {
            // A list that something is pushed to.
            if let Expr::Ident(ident) = bare(&member.obj)
                && member.prop.as_ident().is_some_and(|name| matches!(&*name.sym, "push" | "unshift" | "splice"))
            {
                self.0.push(ident.to_id());
            }
        }
    }
    stmt.visit_with(&mut Written(written));
}
