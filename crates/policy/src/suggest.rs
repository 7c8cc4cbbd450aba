//! Suggests the line of a policy that would grant a missing capability.
//!
//! Invariant: the line is for one tool, and grants exactly what that tool names; where the tool
//! names nothing, it contains a placeholder for the user to fill in.

use toolcell_i18n::{Message, message};
use toolcell_tool::{Capability, CapabilityNeed};
use toolcell_tool::{Endpoint, ToolName};

use crate::provenance::{toml_key, toml_list, toml_string};

/// Returns the line that would grant a capability to a tool, or one line for each host, folder or
/// secret that the tool names.
#[must_use]
pub fn suggest_grant(tool: &ToolName, capability: Capability, need: Option<&CapabilityNeed>) -> Message {
    let (key, name) = (format!("grants.tools.{}", toml_key(tool.as_str())), capability.name());
    let named: Vec<&str> = need.iter().flat_map(|need| &need.named).map(String::as_str).collect();
    let first = || toml_string(named.first().copied().unwrap_or("…"));
    let each = |said: &dyn Fn(&str) -> String| {
        let parts: &[&str] = if named.is_empty() { &["…"] } else { &named };
        let lines = parts.iter().enumerate().flat_map(|(at, part)| {
            let separator = (at > 0).then(|| message!(" and "));
            let line = format!("`[[{key}.{}]] {}`", capability.name(), said(part));
            separator.into_iter().chain([Message::verbatim(line)])
        });
        Message::sequence(lines)
    };
    let line = match capability {
        Capability::Timers | Capability::Clock | Capability::Random => format!("`[{key}] {name} = true`"),
        Capability::Net => return each(&suggest_host),
        Capability::Kv => format!("`[{key}.kv] space = {}`", first()),
        Capability::Files => return each(&|name| format!("name = {}, path = \"…\"", toml_string(name))),
        Capability::Secrets => return each(&|name| format!("name = {}, hosts = [\"…\"]", toml_string(name))),
        Capability::Tools if named.is_empty() => format!("`[{key}] tools = [\"…\"]`"),
        Capability::Tools => format!("`[{key}] tools = {}`", toml_list(&named)),
    };
    Message::verbatim(line)
}

fn suggest_host(named: &str) -> String {
    match Endpoint::parse(named) {
        Ok(Endpoint { host, port: Some(port) }) => {
            format!("host = {}, ports = [{port}]", toml_string(&host.to_string()))
        }
        Ok(Endpoint { host, port: None }) => format!("host = {}", toml_string(&host.to_string())),
        Err(_) => format!("host = {}", toml_string(named)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(capability: Capability, named: &[&str], expect: &str) {
        let need = CapabilityNeed { named: named.iter().map(ToString::to_string).collect(), unknown: false };
        assert_eq!(suggest_grant(&ToolName::parse("fetch-json").unwrap(), capability, Some(&need)), expect);
    }

    #[test]
    fn the_line_names_what_the_tool_names() {
        check(Capability::Timers, &[], "`[grants.tools.fetch-json] timers = true`");
        check(Capability::Net, &[], "`[[grants.tools.fetch-json.net]] host = \"…\"`");
        check(
            Capability::Net,
            &["a.example", "b.example:8443"],
            "`[[grants.tools.fetch-json.net]] host = \"a.example\"` and \
             `[[grants.tools.fetch-json.net]] host = \"b.example\", ports = [8443]`",
        );
        check(Capability::Kv, &["notes"], "`[grants.tools.fetch-json.kv] space = \"notes\"`");
        check(Capability::Files, &["in"], "`[[grants.tools.fetch-json.files]] name = \"in\", path = \"…\"`");
        check(Capability::Secrets, &["T"], "`[[grants.tools.fetch-json.secrets]] name = \"T\", hosts = [\"…\"]`");
        check(Capability::Tools, &["a", "b"], "`[grants.tools.fetch-json] tools = [\"a\", \"b\"]`");
        check(Capability::Tools, &[], "`[grants.tools.fetch-json] tools = [\"…\"]`");
        check(Capability::Net, &["x\"\n]"], "`[[grants.tools.fetch-json.net]] host = \"x\\\"\\n]\"`");
    }
}
