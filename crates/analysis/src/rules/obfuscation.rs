//! `obfuscation`: code that is written to hide what it does.

mod decoded;

use rustc_hash::FxHashSet;
use swc_common::Span;
use swc_ecma_ast::{ArrayLit, BinaryOp, CallExpr, Callee, Expr, MemberExpr, MemberProp, UnaryExpr, UnaryOp};
use swc_ecma_visit::{Visit, VisitWith};
use toolcell_i18n::{Message, message, msgid};

use super::{Findings, Rule, RuleContext};
use crate::report::finding::{RuleId, Severity};
use crate::semantics::bindings::Bindings;
use crate::semantics::value::Value;
use crate::syntax::expr::peel_parens;
use crate::syntax::position::byte_range;

pub(super) const RULE: Rule =
    Rule { id: RuleId("obfuscation"), max_severity: Severity::Medium, docs: include_str!("obfuscation.md"), check };

const SUGGESTION: &str = msgid!("write names and strings as they are");

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    for member in &source.facts.computed_names {
        let message = message!("assembles the name of a member: `{name}`", name = member.name);
        findings.add(Severity::Medium, member.span, message, SUGGESTION);
    }
    for text in &source.facts.texts {
        if has_escaped_letters(&text.raw) {
            let message = message!("writes plain letters as escape sequences");
            findings.add(Severity::Medium, text.span, message, SUGGESTION);
        }
    }
    let names: FxHashSet<&str> = source.facts.idents.iter().map(|(name, _)| name.as_str()).collect();
    if names.into_iter().filter(|name| is_mangled(name)).count() >= 3
        && let Some((_, span)) = source.facts.idents.iter().find(|(name, _)| is_mangled(name))
    {
        findings.add(Severity::Medium, *span, message!("has names that were mangled by a tool"), SUGGESTION);
    }
    let (uses, given) = decoded::find_uses(source);
    for (span, message) in uses {
        findings.add(Severity::Medium, span, Message::from(message), SUGGESTION);
    }
    let escapes = source.text.contains("\\u");
    for (name, span) in source.facts.idents.iter().filter(|_| escapes) {
        let (start, end) = byte_range(*span);
        if name.is_ascii() && source.text.get(start..end).is_some_and(|written| written.contains("\\u")) {
            findings.add(
                Severity::Medium,
                *span,
                message!("writes the letters of a name as escape sequences"),
                SUGGESTION,
            );
        }
    }
    let mut walk = ObfuscationVisitor {
        names: source.names,
        param_operands: given,
        found: Vec::new(),
        tricks: 0,
        first_trick: None,
    };
    source.program.visit_with(&mut walk);
    for (span, message) in walk.found {
        findings.add(Severity::Medium, span, Message::from(message), SUGGESTION);
    }
    if walk.tricks >= 8
        && let Some(span) = walk.first_trick
    {
        let message = message!("encodes letters as arithmetic on brackets");
        findings.add(Severity::Medium, span, message, SUGGESTION);
    }
}

/// Returns whether a name looks machine-mangled: `_0x3f2a`, `O0OO0O`, `lIIlIl`.
fn is_mangled(name: &str) -> bool {
    let hex = |rest: &str| rest.len() >= 2 && rest.chars().all(|digit| digit.is_ascii_hexdigit());
    // `O0OO0O` and `lIIlIl` use characters that are easily confused.
    let alike = |letters: &str| {
        name.len() >= 5
            && name.chars().all(|letter| letters.contains(letter) || letter == '_')
            && letters.chars().filter(|letter| name.contains(*letter)).count() >= 2
    };
    name.strip_prefix("_0x").is_some_and(hex) || alike("O0Q") || alike("lI1")
}

/// Returns whether a literal escapes four or more plain letters or digits.
fn has_escaped_letters(raw: &str) -> bool {
    let mut hidden = 0;
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        rest = &rest[at + 1..];
        let digits = match rest.as_bytes().first() {
            Some(b'x') => rest.get(1..3),
            Some(b'u') if rest.as_bytes().get(1) == Some(&b'{') => {
                rest.get(2..).and_then(|rest| rest.split('}').next())
            }
            Some(b'u') => rest.get(1..5),
            _ => None,
        };
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if code.and_then(char::from_u32).is_some_and(|letter| letter.is_ascii_alphanumeric()) {
            hidden += 1;
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    hidden >= 4
}

struct ObfuscationVisitor<'a> {
    names: &'a Bindings<'a>,
    /// Operands that come from parameters, which a tool may transform freely.
    param_operands: Vec<Span>,
    found: Vec<(Span, &'static str)>,
    /// The number of expressions such as `![]`, `+[]`, `[]+[]`: letters and numbers made of
    /// brackets.
    tricks: usize,
    first_trick: Option<Span>,
}

impl ObfuscationVisitor<'_> {
    fn note_trick(&mut self, span: Span) {
        self.tricks += 1;
        self.first_trick.get_or_insert(span);
    }

    /// Returns whether an expression decodes something.
    fn decodes(&self, expr: &Expr) -> bool {
        let mut search = DecodeSearch { names: self.names, found: false };
        expr.visit_with(&mut search);
        search.found
    }
}

impl Visit for ObfuscationVisitor<'_> {
    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        let of_brackets = matches!(peel_parens(&unary.arg), Expr::Array(ArrayLit { elems, .. }) if elems.is_empty())
            || matches!(peel_parens(&unary.arg), Expr::Unary(_)) && unary.op != UnaryOp::Minus;
        if of_brackets && matches!(unary.op, UnaryOp::Bang | UnaryOp::Plus) {
            self.note_trick(unary.span);
        }
        unary.visit_children_with(self);
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        if let MemberProp::Computed(computed) = &member.prop
            && self.decodes(&computed.expr)
        {
            self.found.push((computed.span, msgid!("accesses a member by a decoded name")));
        }
        member.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Value::Path(thing) = self.names.value(callee)
            && (thing.is_global_below(&["String", "fromCharCode"])
                || thing.is_global_below(&["String", "fromCodePoint"]))
        {
            let numbers = self.names.args(&call.args).iter().filter(|value| value.as_number().is_some()).count();
            if numbers >= 5 {
                self.found.push((call.span, msgid!("writes a string as a list of numbers")));
            }
            let mut xor = XorSearch(false);
            call.args.visit_with(&mut xor);
            if xor.0 && !self.param_operands.iter().any(|given| call.span.contains(*given)) {
                self.found.push((call.span, msgid!("decodes a hidden string")));
            }
        }
        call.visit_children_with(self);
    }
}

/// Looks for decoding calls: `atob`, `unescape`, several character codes.
struct DecodeSearch<'a> {
    names: &'a Bindings<'a>,
    found: bool,
}

impl Visit for DecodeSearch<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Value::Path(thing) = self.names.value(callee)
        {
            // `counts[String.fromCharCode(97 + index)]` is a single letter, not a name.
            let letter = matches!(call.args.as_slice(), [arg] if arg.spread.is_none());
            self.found |= thing.is_global_below(&["atob"])
                || thing.is_global_below(&["String", "fromCharCode"]) && !letter
                || thing.is_global_below(&["unescape"]);
        }
        call.visit_children_with(self);
    }
}

/// Looks for `a ^ b`.
struct XorSearch(bool);

impl Visit for XorSearch {
    fn visit_bin_expr(&mut self, binary: &swc_ecma_ast::BinExpr) {
        self.0 |= binary.op == BinaryOp::BitXor;
        binary.visit_children_with(self);
    }
}
