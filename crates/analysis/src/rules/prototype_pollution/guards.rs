//! Whether a source tells the keys that lead to a prototype apart: by comparing, listing or matching them.
//!
//! Invariant: a dangerous name that is only written, or only used as a key, guards nothing.

use crate::rules::Source;
use crate::rules::flow::{At, Flow, Key, Kind};

const FORBIDDEN: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// Whether the source tells the dangerous keys apart, in whatever way.
pub(super) fn guards(flow: &Flow<'_>, source: &Source<'_>) -> bool {
    let forbidden =
        |at: At| flow.nodes[at].value.as_text().is_some_and(|text| FORBIDDEN.contains(&text) || text == "__");
    if flow.compared.iter().any(|(left, right)| forbidden(*left) || forbidden(*right)) {
        return true;
    }
    if source.facts.patterns.iter().any(|(pattern, _, _)| pattern.contains("proto") || pattern.contains("__")) {
        return true;
    }
    let lists = flow.nodes.iter().any(|node| match &node.kind {
        Kind::List(elems) => elems.iter().any(|elem| forbidden(*elem)),
        Kind::Object(props) => {
            let named = |word: &str| props.iter().any(|(key, _)| matches!(key, Key::Named(name) if &**name == word));
            named("constructor") && (named("prototype") || named("__proto__"))
        }
        _ => false,
    });
    flow.calls().any(|(_, call)| {
        let method = call.method.as_deref();
        // A `case` and the like are seen as texts: `startsWith("__")`, `key.includes("__proto__")`.
        let told = matches!(method, Some("startsWith" | "includes" | "indexOf" | "has" | "add" | "equals" | "test"))
            && call.args.iter().any(|arg| forbidden(*arg) || flow.nodes[*arg].value.as_text() == Some("_"));
        let listed =
            lists && matches!(method, Some("has" | "includes" | "indexOf" | "some" | "every" | "test" | "find"));
        let frozen = flow.calls_global(call, &["Object", "freeze"])
            && call
                .args
                .first()
                .and_then(|arg| flow.nodes[*arg].value.as_thing())
                .is_some_and(super::is_shared_prototype);
        told || listed || frozen
    }) || cases(source)
}

/// Whether a `switch` has a case for a dangerous key.
fn cases(source: &Source<'_>) -> bool {
    struct Cases(bool);
    impl swc_ecma_visit::Visit for Cases {
        fn visit_switch_case(&mut self, case: &swc_ecma_ast::SwitchCase) {
            self.0 |= matches!(case.test.as_deref(), Some(swc_ecma_ast::Expr::Lit(swc_ecma_ast::Lit::Str(text)))
                if FORBIDDEN.contains(&&*text.value.to_string_lossy()));
            swc_ecma_visit::VisitWith::visit_children_with(case, self);
        }
    }
    let mut cases = Cases(false);
    swc_ecma_visit::VisitWith::visit_with(source.program, &mut cases);
    cases.0
}
