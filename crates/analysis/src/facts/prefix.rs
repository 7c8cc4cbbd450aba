//! What a text certainly begins with, also where its end is not known: the host of an address.

use swc_ecma_ast::{BinaryOp, Callee, Expr};

use crate::names::{Names, bare};

/// The text that the value of an expression certainly begins with.
pub(crate) fn prefix(names: &Names, expr: &Expr) -> String {
    prefix_within(names, expr, 8)
}

fn prefix_within(names: &Names, expr: &Expr, steps: u32) -> String {
    if let Some(text) = names.value(expr).string() {
        return text;
    }
    match bare(expr) {
        Expr::Ident(ident) if steps > 0 => {
            names.origin(ident).map(|origin| prefix_within(names, origin, steps - 1)).unwrap_or_default()
        }
        Expr::Bin(binary) if binary.op == BinaryOp::Add => {
            let mut text = prefix_within(names, &binary.left, steps);
            if names.value(&binary.left).as_text().is_some() {
                text.push_str(&prefix_within(names, &binary.right, steps));
            }
            text
        }
        Expr::Tpl(template) => {
            let mut text = String::new();
            for (index, quasi) in template.quasis.iter().enumerate() {
                text.push_str(&quasi.cooked.as_ref().map(|cooked| cooked.to_string_lossy()).unwrap_or_default());
                let Some(expr) = template.exprs.get(index) else { break };
                let Some(part) = names.value(expr).string() else {
                    if text.is_empty() {
                        text.push_str(&prefix_within(names, expr, steps));
                    }
                    break;
                };
                text.push_str(&part);
            }
            text
        }
        Expr::New(new) => {
            new.args.iter().flatten().next().map(|arg| prefix_within(names, &arg.expr, steps)).unwrap_or_default()
        }
        Expr::Call(call) => match &call.callee {
            Callee::Expr(callee) => match bare(callee) {
                Expr::Member(member) => prefix_within(names, &member.obj, steps),
                _ => String::new(),
            },
            _ => String::new(),
        },
        _ => String::new(),
    }
}
