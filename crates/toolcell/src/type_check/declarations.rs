//! The declarations of what a source sees.
//!
//! Invariant: what needs a capability that the source does not request is not declared, so its name cannot be found.

use toolcell_analysis::{Capabilities, Capability};

use crate::TYPE_DECLARATIONS;

/// The declaration that the tools of servers take the place of.
pub(crate) const ANY_SERVER: &str =
    "interface Servers {\n  [server: string]: { [tool: string]: (input?: object) => Promise<any> };\n}\n";
/// The packages that the cell has, whose types are not declared here.
const MODULES: [&str; 6] = ["zod", "typebox", "@sinclair/typebox", "arktype", "omptype", "@oh-my-pi/omptype"];

/// Returns the declarations for a source with these capabilities, with those of the tools of servers.
pub(super) fn narrow(capabilities: &Capabilities, servers: &str) -> String {
    let has = |capability| capabilities.has(capability);
    let mut kept = String::new();
    let mut is_section_kept = true;
    for block in TYPE_DECLARATIONS.split("\n\n") {
        is_section_kept = match block.lines().next().unwrap_or_default() {
            "// --- With the grant `timers` ---" => has(Capability::Timers) || has(Capability::Net),
            "// --- With the grant `net`: requests to the granted hosts ---" => has(Capability::Net),
            // Each of these is looked at by itself.
            heading if heading.starts_with("// ---") => true,
            _ => is_section_kept,
        };
        let needs = [
            ("declare const kv: ", Capability::Kv),
            ("declare const files: ", Capability::Files),
            ("declare function secret(", Capability::Secrets),
            ("declare const tools: ", Capability::Tools),
            ("declare const servers: ", Capability::Servers),
        ];
        if is_section_kept && needs.iter().all(|(declaration, needed)| !block.contains(declaration) || has(*needed)) {
            kept.push_str(block);
            kept.push_str("\n\n");
        }
    }
    if !servers.is_empty() {
        kept = kept.replacen(ANY_SERVER, servers, 1);
    }
    for module in MODULES {
        kept.push_str("declare module \"");
        kept.push_str(module);
        kept.push_str("\";\n");
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_requested_is_not_declared() {
        let names = [
            "function fetch(",
            "function setTimeout(",
            "const kv:",
            "const files:",
            "function secret(",
            "const tools:",
            "const servers:",
        ];
        let has = |text: &str| names.map(|name| text.contains(&format!("declare {name}")));
        assert_eq!(has(&narrow(&Capabilities::default(), "")), [false; 7]);
        let all = Capabilities::unscoped(Capability::ALL);
        assert_eq!(has(&narrow(&all, "")), [true; 7]);
        assert!(narrow(&all, "").contains(ANY_SERVER), "the declaration of servers has changed");
        assert!(narrow(&all, "interface Servers { a: 1 }\n").contains("interface Servers { a: 1 }"));
    }
}
