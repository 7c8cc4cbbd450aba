//! Suggests what would grant a missing capability: the line of a policy, or the arguments of
//! `toolcell grant`.
//!
//! Invariant: a suggestion is for one tool, and grants exactly what that tool names; where the tool
//! names nothing, it contains a placeholder for the user to fill in. An argument can be pasted into
//! a shell, whatever the tool names.

use std::collections::BTreeMap;
use std::path::Path;
use toolcell_i18n::{Message, message};

use toolcell_tool::{
    CallableTools, Capability, CapabilityNeed, Endpoint, FolderName, Grants, HostPattern, SecretName, ToolName,
};

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
        Capability::Servers => {
            let by_server = tools_by_server(&named);
            let each = by_server.iter().map(|(server, tools)| format!("{} = {tools}", toml_key(server)));
            let each =
                if named.is_empty() { "… = [\"…\"]".to_owned() } else { each.collect::<Vec<_>>().join(", ") };
            format!("`[{key}] servers = {{ {each} }}`")
        }
    };
    Message::verbatim(line)
}

/// Returns the tools that parts such as `github.create_issue` name, as TOML, by server.
fn tools_by_server<'n>(named: &[&'n str]) -> BTreeMap<&'n str, String> {
    let mut tools: BTreeMap<&str, Option<Vec<&str>>> = BTreeMap::new();
    for part in named {
        let (server, tool) = part.split_once('.').map_or((*part, None), |(server, tool)| (server, Some(tool)));
        let known = tools.entry(server).or_insert_with(|| Some(Vec::new()));
        *known = known.take().zip(tool).map(|(mut known, tool)| {
            known.push(tool);
            known
        });
    }
    let to_toml = |tools: Option<Vec<&str>>| tools.map_or_else(|| toml_string("any"), toml_list);
    tools.into_iter().map(|(server, tools)| (server, to_toml(tools))).collect()
}

/// The maximum number of names of one capability in a suggestion. A tool that names more gets a
/// placeholder.
const MAX_NAMES: usize = 16;

/// An argument of `toolcell grant`, such as `net=api.example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedArgument {
    /// The capability that it grants.
    pub capability: Capability,
    /// The argument, quoted for a shell where that is necessary.
    pub text: String,
    /// The grants; `None` if the argument contains a placeholder, such as `HOST`.
    pub grants: Option<Grants>,
}

/// Returns the arguments that would grant a capability to a tool, one for each host, folder, secret
/// or tool that it names.
#[must_use]
pub fn suggest_arguments(capability: Capability, need: Option<&CapabilityNeed>) -> Vec<SuggestedArgument> {
    let name = capability.name();
    let placeholder = match capability {
        Capability::Timers | Capability::Clock | Capability::Random => name.to_owned(),
        Capability::Net => "net=HOST".to_owned(),
        Capability::Kv => "kv=SPACE".to_owned(),
        Capability::Files => "files=NAME:PATH".to_owned(),
        Capability::Secrets => "secrets=NAME@HOST".to_owned(),
        Capability::Tools => "tools=NAME".to_owned(),
        Capability::Servers => "servers=NAME.TOOL".to_owned(),
    };
    let named = need.iter().filter(|need| need.named.len() <= MAX_NAMES).flat_map(|need| &need.named);
    let named: Vec<&str> = named.map(String::as_str).collect();
    let texts: Vec<String> = match capability {
        Capability::Files => {
            let folders = named.iter().filter(|folder| FolderName::parse(folder).is_ok());
            folders.map(|folder| format!("files={folder}:PATH")).collect()
        }
        Capability::Secrets => {
            let secrets = named.iter().filter(|secret| SecretName::parse(secret).is_ok());
            secrets.map(|secret| format!("secrets={secret}@HOST")).collect()
        }
        Capability::Timers | Capability::Clock | Capability::Random => Vec::new(),
        Capability::Kv => named.first().map(|space| format!("kv={space}")).into_iter().collect(),
        Capability::Net | Capability::Tools | Capability::Servers => {
            named.iter().map(|part| format!("{name}={part}")).collect()
        }
    };
    let texts = if texts.is_empty() { vec![placeholder.clone()] } else { texts };
    let has_placeholder = |text: &str| {
        matches!(capability, Capability::Files | Capability::Secrets) || named.is_empty() && text.contains('=')
    };
    let mut arguments: Vec<SuggestedArgument> = Vec::new();
    for text in texts {
        // What a tool names is text of its author.
        let parsed = Grants::parse_argument(&text, Path::new("/")).ok();
        let text = parsed.as_ref().and_then(|_| shell_word(&text)).unwrap_or_else(|| placeholder.clone());
        let names_anything = parsed.as_ref().is_some_and(is_wide);
        let text = if names_anything { placeholder.clone() } else { text };
        // A private address is named by the tool, but a person has to type it.
        let is_private = parsed.as_ref().is_some_and(|grants| grants.net.iter().any(|net| !net.addresses.is_empty()));
        let is_whole = !is_private && (!has_placeholder(&text) && text != placeholder || !placeholder.contains('='));
        let argument = SuggestedArgument { capability, text, grants: parsed.filter(|_| is_whole) };
        if !arguments.contains(&argument) {
            arguments.push(argument);
        }
    }
    arguments
}

/// Whether something is granted for any host, or for any tool. The word `any` of the grants may come
/// from a tool, as the host of a URL.
fn is_wide(grants: &Grants) -> bool {
    grants.net.iter().any(|net| net.host == HostPattern::Any) || grants.tools == CallableTools::Any
}

/// Returns a text as one word of a shell, quoted if it must be; `None` if it has characters that no
/// grant needs.
fn shell_word(text: &str) -> Option<String> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "=.:-_/@,".contains(char);
    if text.chars().all(is_plain) {
        return Some(text.to_owned());
    }
    let can_be_quoted = text.chars().all(|char| is_plain(char) || "*[]".contains(char));
    can_be_quoted.then(|| format!("'{text}'"))
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
        check(
            Capability::Servers,
            &["a.x", "a.y", "b"],
            "`[grants.tools.fetch-json] servers = { a = [\"x\", \"y\"], b = \"any\" }`",
        );
        check(Capability::Servers, &[], "`[grants.tools.fetch-json] servers = { … = [\"…\"] }`");
        check(Capability::Net, &["x\"\n]"], "`[[grants.tools.fetch-json.net]] host = \"x\\\"\\n]\"`");
    }

    fn suggested_count(hosts: &[&str]) -> usize {
        let named = hosts.iter().map(ToString::to_string).collect();
        suggest_arguments(Capability::Net, Some(&CapabilityNeed { named, unknown: false })).len()
    }

    #[track_caller]
    fn check_arguments(capability: Capability, named: &[&str], expect: &[(&str, bool)]) {
        let need = CapabilityNeed { named: named.iter().map(ToString::to_string).collect(), unknown: false };
        let suggested = suggest_arguments(capability, Some(&need));
        let told: Vec<(&str, bool)> = suggested.iter().map(|one| (one.text.as_str(), one.grants.is_some())).collect();
        assert_eq!(told, expect);
    }

    #[test]
    fn the_arguments_name_what_the_tool_names_and_are_words_of_a_shell() {
        check_arguments(Capability::Timers, &[], &[("timers", true)]);
        check_arguments(Capability::Net, &[], &[("net=HOST", false)]);
        check_arguments(
            Capability::Net,
            &["a.example", "b.example:8443"],
            &[("net=a.example", true), ("net=b.example:8443", true)],
        );
        check_arguments(Capability::Net, &["*.a.example"], &[("'net=*.a.example'", true)]);
        check_arguments(Capability::Net, &["$(rm -r .)", "a;b", "a.example\nb"], &[("net=HOST", false)]);
        let many: Vec<String> = (0..=MAX_NAMES).map(|at| format!("h{at}.example")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        check_arguments(Capability::Net, &many, &[("net=HOST", false)]);
        assert_eq!(suggested_count(&many[1..]), MAX_NAMES);
        check_arguments(Capability::Kv, &["notes"], &[("kv=notes", true)]);
        check_arguments(Capability::Kv, &["`id`"], &[("kv=SPACE", false)]);
        check_arguments(Capability::Net, &["any", "any:443"], &[("net=HOST", false)]);
        check_arguments(Capability::Net, &["169.254.169.254"], &[("net=169.254.169.254", false)]);
        check_arguments(Capability::Tools, &["any"], &[("tools=NAME", false)]);
        check_arguments(Capability::Files, &["in:/etc:write/x", "in/x"], &[("files=NAME:PATH", false)]);
        check_arguments(Capability::Files, &["in"], &[("files=in:PATH", false)]);
        check_arguments(Capability::Files, &[], &[("files=NAME:PATH", false)]);
        check_arguments(Capability::Secrets, &["T"], &[("secrets=T@HOST", false)]);
        check_arguments(Capability::Servers, &["a.x", "b"], &[("servers=a.x", true), ("servers=b", true)]);
        check_arguments(Capability::Tools, &["one", "two"], &[("tools=one", true), ("tools=two", true)]);
    }
}
