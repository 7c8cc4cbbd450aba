//! `obfuscation`: code that is written so that nobody can read what it does.

mod decoded;

use rustc_hash::FxHashSet;
use swc_common::Span;
use swc_ecma_ast::{ArrayLit, BinaryOp, CallExpr, Callee, Expr, MemberExpr, MemberProp, UnaryExpr, UnaryOp};
use swc_ecma_visit::{Visit, VisitWith};

use super::{Findings, Rule, Source};
use crate::finding::{RuleId, Severity};
use crate::names::{Names, bare};
use crate::parse::range;
use crate::value::Value;

pub(super) const RULE: Rule =
    Rule { id: RuleId("obfuscation"), worst: Severity::Medium, page: include_str!("obfuscation.md"), check };

const SUGGESTION: &str = "write names and texts as they are";

fn check(source: &Source<'_>, findings: &mut Findings<'_>) {
    for member in &source.facts.assembled {
        let message = format!("puts the name of a member together: `{}`", member.name);
        findings.add(Severity::Medium, member.span, message, SUGGESTION);
    }
    for text in &source.facts.texts {
        if hides_letters(&text.raw) {
            let message = "writes plain letters as escapes".to_owned();
            findings.add(Severity::Medium, text.span, message, SUGGESTION);
        }
    }
    let names: FxHashSet<&str> = source.facts.idents.iter().map(|(name, _)| name.as_str()).collect();
    if names.into_iter().filter(|name| is_mangled(name)).count() >= 3
        && let Some((_, span)) = source.facts.idents.iter().find(|(name, _)| is_mangled(name))
    {
        findings.add(Severity::Medium, *span, "has names that were mangled by a program".to_owned(), SUGGESTION);
    }
    let (uses, given) = decoded::uses(source);
    for (span, message) in uses {
        findings.add(Severity::Medium, span, message.to_owned(), SUGGESTION);
    }
    let escapes = source.text.contains("\\u");
    for (name, span) in source.facts.idents.iter().filter(|_| escapes) {
        let (start, end) = range(*span);
        if name.is_ascii() && source.text.get(start..end).is_some_and(|written| written.contains("\\u")) {
            findings.add(Severity::Medium, *span, "writes the letters of a name as escapes".to_owned(), SUGGESTION);
        }
    }
    let mut walk = Walk { names: source.names, given, found: Vec::new(), tricks: 0, first: None };
    source.program.visit_with(&mut walk);
    for (span, message) in walk.found {
        findings.add(Severity::Medium, span, message.to_owned(), SUGGESTION);
    }
    if walk.tricks >= 8
        && let Some(span) = walk.first
    {
        let message = "writes letters as arithmetic on brackets".to_owned();
        findings.add(Severity::Medium, span, message, SUGGESTION);
    }
}

/// `_0x3f2a` and the like.
fn is_mangled(name: &str) -> bool {
    let hex = |rest: &str| rest.len() >= 2 && rest.chars().all(|digit| digit.is_ascii_hexdigit());
    // `O0OO0O` and `lIIlIl` are made to be mistaken for each other.
    let alike = |letters: &str| {
        name.len() >= 5
            && name.chars().all(|letter| letters.contains(letter) || letter == '_')
            && letters.chars().filter(|letter| name.contains(*letter)).count() >= 2
    };
    name.strip_prefix("_0x").is_some_and(hex) || alike("O0Q") || alike("lI1")
}

/// Whether a literal has many escapes that stand for plain letters.
fn hides_letters(raw: &str) -> bool {
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

struct Walk<'a> {
    names: &'a Names<'a>,
    /// What parameters give to operators: a tool may do with it what it wants.
    given: Vec<Span>,
    found: Vec<(Span, &'static str)>,
    /// `![]`, `+[]`, `[]+[]`: letters and numbers made of brackets.
    tricks: usize,
    first: Option<Span>,
}

impl Walk<'_> {
    fn trick(&mut self, span: Span) {
        self.tricks += 1;
        self.first.get_or_insert(span);
    }

    /// Whether an expression decodes something.
    fn decodes(&self, expr: &Expr) -> bool {
        let mut search = Decodes { names: self.names, found: false };
        expr.visit_with(&mut search);
        search.found
    }
}

impl Visit for Walk<'_> {
    fn visit_unary_expr(&mut self, unary: &UnaryExpr) {
        let of_brackets = matches!(bare(&unary.arg), Expr::Array(ArrayLit { elems, .. }) if elems.is_empty())
            || matches!(bare(&unary.arg), Expr::Unary(_)) && unary.op != UnaryOp::Minus;
        if of_brackets && matches!(unary.op, UnaryOp::Bang | UnaryOp::Plus) {
            self.trick(unary.span);
        }
        unary.visit_children_with(self);
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        if let MemberProp::Computed(computed) = &member.prop
            && self.decodes(&computed.expr)
        {
            self.found.push((computed.span, "takes a member by a decoded name"));
        }
        member.visit_children_with(self);
    }

    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Value::Thing(thing) = self.names.value(callee)
            && (thing.is_global_below(&["String", "fromCharCode"])
                || thing.is_global_below(&["String", "fromCodePoint"]))
        {
            let numbers = self.names.args(&call.args).iter().filter(|value| value.as_number().is_some()).count();
            if numbers >= 5 {
                self.found.push((call.span, "writes a text as a list of numbers"));
            }
            let mut xor = Xor(false);
            call.args.visit_with(&mut xor);
            if xor.0 && !self.given.iter().any(|given| call.span.contains(*given)) {
                self.found.push((call.span, "decodes a hidden text"));
            }
        }
        call.visit_children_with(self);
    }
}

/// Looks for what decodes: `atob`, character codes, reversed letters.
struct Decodes<'a> {
    names: &'a Names<'a>,
    found: bool,
}

impl Visit for Decodes<'_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Expr(callee) = &call.callee
            && let Value::Thing(thing) = self.names.value(callee)
        {
            // `counts[String.fromCharCode(97 + index)]` is a letter, not a name.
            let letter = matches!(call.args.as_slice(), [arg] if arg.spread.is_none());
            self.found |= thing.is_global_below(&["atob"])
                || thing.is_global_below(&["String", "fromCharCode"]) && !letter
                || thing.is_global_below(&["unescape"]);
        }
        call.visit_children_with(self);
    }
}

/// Looks for `a ^ b`.
struct Xor(bool);

impl Visit for Xor {
    fn visit_bin_expr(&mut self, binary: &swc_ecma_ast::BinExpr) {
        self.0 |= binary.op == BinaryOp::BitXor;
        binary.visit_children_with(self);
    }
}
