//! `missing-global`: globals of browsers and Node.js that a tool does not have.
//!
//! Invariant: no name of this list exists in a cell, with any grant.

use toolcell_i18n::{message, msgid};

use super::{Findings, Rule, RuleContext, display_path};
use crate::report::finding::{RuleId, Severity};

pub(super) const RULE: Rule =
    Rule { id: RuleId("missing-global"), max_severity: Severity::Low, docs: include_str!("missing_global.md"), check };

/// The missing globals, and what to write instead.
const MISSING: [(&[&str], &str); 13] = [
    (&["Intl"], msgid!("format the text yourself, or take the formatted text as a parameter")),
    (&["Temporal"], msgid!("use `Date`")),
    (&["performance"], msgid!("use `Date.now()`, which needs the grant `clock` for the real time")),
    (&["crypto"], msgid!("use `Math.random()`, or take the value as a parameter")),
    (&["Blob", "File", "FileReader", "FormData"], msgid!("use a text, or a `Uint8Array`")),
    (&["WebSocket", "EventSource"], msgid!("use `fetch`, which needs the grant `net`")),
    (&["XMLHttpRequest"], msgid!("use `fetch`, which needs the grant `net`")),
    (
        &["setImmediate", "clearImmediate", "requestAnimationFrame"],
        msgid!("use `queueMicrotask`, or `setTimeout` with the grant `timers`"),
    ),
    (
        &["Worker", "SharedArrayBuffer", "Atomics", "MessageChannel", "BroadcastChannel"],
        msgid!("do the work in this function: a call has one thread"),
    ),
    (&["WebAssembly"], msgid!("write it in JavaScript or TypeScript")),
    (
        &[
            "CompressionStream",
            "DecompressionStream",
            "TransformStream",
            "WritableStream",
            "TextDecoderStream",
            "TextEncoderStream",
        ],
        msgid!("process the whole text or the bytes at once"),
    ),
    (
        &["document", "alert", "prompt", "confirm", "customElements", "DOMParser"],
        msgid!("return data, and let the caller show it"),
    ),
    (&["caches", "reportError", "importScripts"], msgid!("leave it out: a tool has no browser")),
];

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    for (names, suggestion) in MISSING {
        for name in names {
            for used in source.facts.uses_of_global(&[name]) {
                let message = message!("uses a global that tools do not have: `{name}`", name = display_path(used));
                findings.add(Severity::Low, used.span, message, suggestion);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use toolcell_tool::Language;

    use super::*;

    /// Returns the names that this rule finds.
    fn find(source: &str) -> Vec<String> {
        let analysis = crate::analyze(source, Language::TypeScript, None).unwrap();
        let found = analysis.findings.iter().filter(|finding| finding.rule == RULE.id);
        found.map(|finding| finding.message.to_string()).collect()
    }

    #[test]
    fn a_global_that_does_not_exist_is_found_where_it_is_used() {
        for (names, _) in MISSING {
            for name in names {
                let found = find(&format!("const execute = () => {name}.x"));
                assert_eq!(found, [format!("uses a global that tools do not have: `{name}.x`")], "{name}");
            }
        }
    }

    #[test]
    fn a_local_name_and_a_test_for_the_type_are_not_found() {
        assert!(find("const Blob = { x: 1 }; const execute = () => Blob.x").is_empty());
        assert!(find("const execute = () => typeof Intl").is_empty());
        assert!(find("const execute = ({ performance }) => performance.now").is_empty());
    }
}
