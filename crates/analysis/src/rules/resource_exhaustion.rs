//! `resource-exhaustion`: more memory or time than any tool needs, written into the source.

use swc_common::{Span, Spanned};
use swc_ecma_ast::{
    AssignExpr, AssignOp, AssignTarget, BinExpr, BinaryOp, CallExpr, Callee, Expr, ExprOrSpread, ForStmt, Lit, NewExpr,
    SimpleAssignTarget, Stmt,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::{Findings, Rule, Source};
use crate::finding::{RuleId, Severity};
use crate::names::{Names, bare};
use crate::value::{Literal, Root, Value};

pub(super) const RULE: Rule = Rule {
    id: RuleId("resource-exhaustion"),
    worst: Severity::Medium,
    page: include_str!("resource_exhaustion.md"),
    check,
};

const SUGGESTION: &str = "work in pieces of a size that the input needs; a call has 64 MiB unless it is given more";

/// Elements or bytes that fit into no cell.
const MANY: f64 = 5e7;

/// Milliseconds that no call lasts.
const LONG: f64 = 1e7;

/// Steps of nested loops that no budget pays.
const STEPS: f64 = 5e10;

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    let mut walk = Walk { names: source.names, found: Vec::new(), loops: Vec::new(), steps: 1.0 };
    source.program.visit_with(&mut walk);
    // `const wait = (ms) => new Promise((done) => setTimeout(done, ms))`, called with a constant.
    for call in &source.facts.calls {
        let waits = call.callee.as_thing().is_some_and(|thing| thing.is_global_below(&["setTimeout"]));
        if waits && call.args.get(1).and_then(Value::as_thing).is_some_and(|thing| thing.root == Root::Params) {
            for other in &source.facts.calls {
                let own = other.callee.as_thing().is_some_and(|thing| thing.root == Root::Literal(Literal::Function));
                if own && let Some(time) = other.args.first().and_then(Value::as_number).filter(|time| *time >= LONG) {
                    walk.found.push((other.span, format!("waits for {time:e} ms")));
                }
            }
        }
    }
    for (span, message) in walk.found {
        findings.add(Severity::Medium, span, message, SUGGESTION);
    }
}

/// The value of an expression of `BigInt`s.
fn big(names: &Names, expr: &Expr, steps: u32) -> Option<f64> {
    match bare(expr) {
        Expr::Lit(Lit::BigInt(number)) => number.value.to_string().parse().ok(),
        Expr::Ident(ident) if steps > 0 => big(names, names.origin(ident)?, steps - 1),
        Expr::Bin(binary) => {
            let (left, right) = (big(names, &binary.left, steps)?, big(names, &binary.right, steps)?);
            match binary.op {
                BinaryOp::Exp => Some(left.powf(right)),
                BinaryOp::Mul => Some(left * right),
                BinaryOp::Add => Some(left + right),
                BinaryOp::LShift => Some(left * right.exp2()),
                _ => None,
            }
        }
        _ => None,
    }
}

struct Walk<'a> {
    names: &'a Names<'a>,
    found: Vec<(Span, String)>,
    /// How often each loop around runs, where that is known.
    loops: Vec<Option<f64>>,
    /// Their product.
    steps: f64,
}

impl Walk<'_> {
    fn call(&mut self, callee: &Expr, args: &[ExprOrSpread], new: bool, span: Span) {
        let value = self.names.value(callee);
        let args = self.names.args(args);
        let number = |index: usize| args.get(index).and_then(Value::as_number).unwrap_or(0.0);
        let method = match bare(callee) {
            Expr::Member(member) => self.names.key(&member.prop).string(),
            _ => None,
        };
        let many = |what: &str| format!("asks for {what} at once");
        match method.as_deref() {
            Some("repeat" | "padStart" | "padEnd") if number(0) >= MANY => {
                self.found.push((span, many(&format!("{:e} letters", number(0)))));
            }
            _ => {}
        }
        let Some(thing) = value.as_thing() else { return };
        let names = thing.names().unwrap_or_default();
        match names.as_slice() {
            ["Array"] if number(0) >= MANY => self.found.push((span, many(&format!("{:e} elements", number(0))))),
            ["Buffer", "alloc" | "allocUnsafe" | "allocUnsafeSlow"] if number(0) >= MANY => {
                self.found.push((span, many(&format!("{:e} bytes", number(0)))));
            }
            [
                "ArrayBuffer" | "SharedArrayBuffer" | "Uint8Array" | "Int8Array" | "Uint8ClampedArray" | "Uint16Array"
                | "Int16Array" | "Uint32Array" | "Int32Array" | "Float32Array" | "Float64Array" | "BigInt64Array"
                | "BigUint64Array",
            ] if new && number(0) >= MANY => {
                self.found.push((span, many(&format!("{:e} elements", number(0)))));
            }
            ["setTimeout" | "setInterval"] if number(1) >= LONG => {
                self.found.push((span, format!("waits for {:e} ms", number(1))));
            }
            _ => {}
        }
    }

    fn array_from(&mut self, call: &CallExpr, callee: &Expr) {
        let value = self.names.value(callee);
        if value.as_thing().is_some_and(|thing| thing.is_global_below(&["Array", "from"]))
            && let Some(first) = call.args.first()
            && let Some(object) = self.names.object(&first.expr)
        {
            let length = object.props.iter().find_map(|prop| match prop {
                swc_ecma_ast::PropOrSpread::Prop(prop) => match &**prop {
                    swc_ecma_ast::Prop::KeyValue(pair)
                        if pair.key.as_ident().is_some_and(|name| &*name.sym == "length") =>
                    {
                        self.names.value(&pair.value).as_number()
                    }
                    _ => None,
                },
                swc_ecma_ast::PropOrSpread::Spread(_) => None,
            });
            if length.is_some_and(|length| length >= MANY) {
                self.found.push((call.span, "asks for a list that fits into no cell".to_owned()));
            }
        }
    }

    /// How often a counting loop runs.
    fn times(&self, node: &ForStmt) -> Option<f64> {
        let Some(Expr::Bin(test)) = node.test.as_deref().map(bare) else { return None };
        if !matches!(test.op, BinaryOp::Lt | BinaryOp::LtEq | BinaryOp::NotEq | BinaryOp::NotEqEq) {
            return None;
        }
        self.names.value(&test.right).as_number().filter(|times| times.is_finite() && *times > 0.0)
    }

    fn inside(&mut self, times: Option<f64>, span: Span, body: impl FnOnce(&mut Self)) {
        let before = self.steps;
        self.steps *= times.unwrap_or(1.0);
        if self.steps >= STEPS && before < STEPS {
            self.found.push((span, format!("takes {:e} steps in loops", self.steps)));
        }
        self.loops.push(times);
        body(self);
        self.loops.pop();
        self.steps = before;
    }

    /// Whether a loop around runs often enough for doubling to fill any memory.
    fn doubles_often(&self) -> bool {
        self.loops.iter().any(|times| times.is_some_and(|times| times >= 25.0))
    }
}

impl Visit for Walk<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee {
            self.call(callee, &call.args, false, call.span);
            self.array_from(call, callee);
            // `list.push(...list)` doubles as well.
            if let Expr::Member(member) = bare(callee)
                && let Expr::Ident(list) = bare(&member.obj)
                && self.names.key(&member.prop).as_text() == Some("push")
                && call.args.iter().any(|arg| {
                    arg.spread.is_some() && matches!(bare(&arg.expr), Expr::Ident(same) if same.to_id() == list.to_id())
                })
                && self.doubles_often()
            {
                self.found.push((call.span, "doubles a list again and again".to_owned()));
            }
        }
        call.visit_children_with(self);
    }

    fn visit_new_expr(&mut self, new: &NewExpr) {
        self.call(&new.callee, new.args.as_deref().unwrap_or_default(), true, new.span);
        new.visit_children_with(self);
    }

    fn visit_bin_expr(&mut self, binary: &BinExpr) {
        if binary.op == BinaryOp::Exp && big(self.names, &binary.right, 8).is_some_and(|power| power >= 1e6) {
            self.found.push((binary.span, "raises a BigInt to a power that fits into no cell".to_owned()));
        }
        binary.visit_children_with(self);
    }

    fn visit_assign_expr(&mut self, assign: &AssignExpr) {
        if let AssignTarget::Simple(SimpleAssignTarget::Ident(target)) = &assign.left
            && self.doubles_often()
        {
            let same = |expr: &Expr| matches!(bare(expr), Expr::Ident(ident) if ident.to_id() == target.id.to_id());
            let twice = match (assign.op, bare(&assign.right)) {
                (AssignOp::AddAssign, right) => same(right),
                (AssignOp::Assign, Expr::Bin(binary)) => {
                    binary.op == BinaryOp::Add && same(&binary.left) && same(&binary.right)
                }
                (AssignOp::Assign, Expr::Call(call)) => {
                    matches!(&call.callee, Callee::Expr(callee) if matches!(bare(callee), Expr::Member(member)
                        if same(&member.obj) && self.names.key(&member.prop).as_text() == Some("concat")))
                        && call.args.iter().any(|arg| same(&arg.expr))
                }
                (AssignOp::Assign, Expr::Array(list)) => {
                    list.elems.iter().flatten().filter(|elem| elem.spread.is_some() && same(&elem.expr)).count() >= 2
                }
                (AssignOp::Assign, Expr::Tpl(template)) => template.exprs.iter().filter(|expr| same(expr)).count() >= 2,
                _ => false,
            };
            if twice {
                self.found.push((assign.span, "doubles a value again and again".to_owned()));
            }
        }
        assign.visit_children_with(self);
    }

    fn visit_for_stmt(&mut self, node: &ForStmt) {
        let times = self.times(node);
        self.inside(times, node.span, |walk| node.visit_children_with(walk));
    }

    fn visit_stmt(&mut self, node: &Stmt) {
        if let Stmt::While(_) | Stmt::DoWhile(_) = node {
            // How often is not known; doubling until a length is reached is the length's matter.
            let times = match node {
                Stmt::While(node) => self.length_limit(&node.test),
                Stmt::DoWhile(node) => self.length_limit(&node.test),
                _ => None,
            };
            self.inside(times, node.span(), |walk| node.visit_children_with(walk));
        } else {
            node.visit_children_with(self);
        }
    }

    fn visit_function(&mut self, function: &swc_ecma_ast::Function) {
        // A function in a loop is not run by the loop.
        let (loops, steps) = (std::mem::take(&mut self.loops), std::mem::replace(&mut self.steps, 1.0));
        function.visit_children_with(self);
        (self.loops, self.steps) = (loops, steps);
    }
}

impl Walk<'_> {
    /// For `while (text.length < 1e9)`: enough rounds of doubling to count.
    fn length_limit(&self, test: &Expr) -> Option<f64> {
        let Expr::Bin(binary) = bare(test) else { return None };
        let limit = self.names.value(&binary.right).as_number()?;
        (matches!(binary.op, BinaryOp::Lt | BinaryOp::LtEq) && limit >= MANY).then_some(30.0)
    }
}
