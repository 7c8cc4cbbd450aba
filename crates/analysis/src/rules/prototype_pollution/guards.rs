//! Guards against keys that lead to a prototype: comparisons, lists, patterns.
//!
//! Invariant: a dangerous name that is only written, or only used as a key, is not a guard.

use crate::rules::RuleContext;
use crate::semantics::dataflow::{DataFlow, MemberKey, NodeId, NodeKind};

const DANGEROUS_KEYS: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// Returns whether the source has a guard against the dangerous keys.
pub(super) fn has_guard(flow: &DataFlow<'_>, source: &RuleContext<'_>) -> bool {
    let forbidden =
        |at: NodeId| flow.nodes[at].value.as_text().is_some_and(|text| DANGEROUS_KEYS.contains(&text) || text == "__");
    if flow.comparisons.iter().any(|(left, right)| forbidden(*left) || forbidden(*right)) {
        return true;
    }
    if source.facts.regexes.iter().any(|(pattern, _, _)| pattern.contains("proto") || pattern.contains("__")) {
        return true;
    }
    let lists = flow.nodes.iter().any(|node| match &node.kind {
        NodeKind::List(elems) => elems.iter().any(|elem| forbidden(*elem)),
        NodeKind::Object(props) => {
            let named =
                |word: &str| props.iter().any(|(key, _)| matches!(key, MemberKey::Named(name) if &**name == word));
            named("constructor") && (named("prototype") || named("__proto__"))
        }
        _ => false,
    });
    flow.calls().any(|(_, call)| {
        let method = call.method.as_deref();
        // Tests of texts: `startsWith("__")`, `key.includes("__proto__")`.
        let told = matches!(method, Some("startsWith" | "includes" | "indexOf" | "has" | "add" | "equals" | "test"))
            && call.args.iter().any(|arg| forbidden(*arg) || flow.nodes[*arg].value.as_text() == Some("_"));
        let listed =
            lists && matches!(method, Some("has" | "includes" | "indexOf" | "some" | "every" | "test" | "find"));
        let frozen = flow.is_call_of_global(call, &["Object", "freeze"])
            && call
                .args
                .first()
                .and_then(|arg| flow.nodes[*arg].value.as_path())
                .is_some_and(super::is_shared_prototype);
        told || listed || frozen
    }) || has_case_guard(source)
}

/// Returns whether a `switch` has a case for a dangerous key.
fn has_case_guard(source: &RuleContext<'_>) -> bool {
    struct Cases(bool);
    impl swc_ecma_visit::Visit for Cases {
        fn visit_switch_case(&mut self, case: &swc_ecma_ast::SwitchCase) {
            self.0 |= matches!(case.test.as_deref(), Some(swc_ecma_ast::Expr::Lit(swc_ecma_ast::Lit::Str(text)))
                if DANGEROUS_KEYS.contains(&&*text.value.to_string_lossy()));
            swc_ecma_visit::VisitWith::visit_children_with(case, self);
        }
    }
    let mut cases = Cases(false);
    swc_ecma_visit::VisitWith::visit_with(source.program, &mut cases);
    cases.0
}
