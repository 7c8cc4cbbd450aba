//! The known prefix of a text whose end is unknown, such as the host of a URL.

use swc_ecma_ast::{BinaryOp, Callee, Expr};

use crate::semantics::bindings::Bindings;
use crate::syntax::expr::peel_parens;

/// Returns the text with which the value of an expression certainly starts.
pub(crate) fn known_prefix(names: &Bindings, expr: &Expr) -> String {
    known_prefix_within(names, expr, 8)
}

fn known_prefix_within(names: &Bindings, expr: &Expr, steps: u32) -> String {
    if let Some(text) = names.value(expr).to_js_string() {
        return text;
    }
    match peel_parens(expr) {
        Expr::Ident(ident) if steps > 0 => names
            .sole_initializer(ident)
            .map(|origin| known_prefix_within(names, origin, steps - 1))
            .unwrap_or_default(),
        Expr::Bin(binary) if binary.op == BinaryOp::Add => {
            let mut text = known_prefix_within(names, &binary.left, steps);
            if names.value(&binary.left).as_text().is_some() {
                text.push_str(&known_prefix_within(names, &binary.right, steps));
            }
            text
        }
        Expr::Tpl(template) => {
            let mut text = String::new();
            for (index, quasi) in template.quasis.iter().enumerate() {
                text.push_str(&quasi.cooked.as_ref().map(|cooked| cooked.to_string_lossy()).unwrap_or_default());
                let Some(expr) = template.exprs.get(index) else { break };
                let Some(part) = names.value(expr).to_js_string() else {
                    if text.is_empty() {
                        text.push_str(&known_prefix_within(names, expr, steps));
                    }
                    break;
                };
                text.push_str(&part);
            }
            text
        }
        Expr::New(new) => {
            new.args.iter().flatten().next().map(|arg| known_prefix_within(names, &arg.expr, steps)).unwrap_or_default()
        }
        Expr::Call(call) => match &call.callee {
            Callee::Expr(callee) => match peel_parens(callee) {
                Expr::Member(member) => known_prefix_within(names, &member.obj, steps),
                _ => String::new(),
            },
            _ => String::new(),
        },
        _ => String::new(),
    }
}
