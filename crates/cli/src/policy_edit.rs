//! Adds grants to a tool's rule in the user's policy file.
//!
//! Invariant: all other settings and the comments of the file are kept. The rule then grants what
//! it granted before and the new grants, unless it was for another tool of the same name: then it
//! is replaced, because grants never carry over to changed code.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value as Json;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value};
use toolcell::hook::ToolApproval;
use toolcell::policy::{Grants, Layer};
use toolcell::{
    ApprovalError, ApprovalPrompt, CallableTools, Capabilities, Capability, FilesGrant, KvGrant, NetGrant, Policy,
    PolicyFile, SecretGrant, ServerName, ServerToolName, ServerTools, ToolId, ToolName, Toolbox, escape_control_chars,
};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize, Message, message, msgid};

use crate::args::{PolicyArgs, SandboxArgs};
use crate::edited_file::{EditRules, EditedFile};
use crate::error::CliError;
use crate::policy_files::{self, PolicyFiles};
use crate::toolbox;

/// The user's policy file.
const POLICY_FILE: EditRules = EditRules {
    limit: 256 << 10,
    changed: ErrorCode::PolicyFileChanged,
    too_long_hint: msgid!("shorten the policy file; nothing was changed"),
    unreadable_hint: msgid!("name another policy file with --config; nothing was changed"),
    unwritable_hint: msgid!("name another policy file with --config; nothing was granted"),
};

/// A change of the user's policy file that grants more to a tool. Nothing is written before it is
/// saved.
///
/// Invariant: the tool is granted what was shown and what is added, and nothing else. If the policy
/// changed since it was shown, there is no change.
pub(crate) struct GrantEdit {
    path: PathBuf,
    file: EditedFile<'static>,
    after: String,
    policy: PolicyFiles,
    toolbox: Toolbox,
    question: ApprovalPrompt,
    is_by_name: bool,
}

impl GrantEdit {
    /// Prepares the change. `shown` is what the tool requests and is granted, as it was shown.
    ///
    /// # Errors
    /// `grant-invalid` if the tool does not request a capability, or a grant has no effect;
    /// `policy-file-changed` if the tool is granted something else now; `policy-invalid` if the file
    /// is not a policy, before or after the change; the errors of reading it and of the store.
    pub(crate) fn prepare(
        places: &PolicyArgs,
        store_dir: &Path,
        name: &ToolName,
        shown: &ToolApproval,
        added: &Grants,
    ) -> Result<Self, CliError> {
        if let Some(capability) = added.capabilities().into_iter().find(|it| !shown.requested.has(*it)) {
            let capability = capability.name();
            return Err(CliError::coded(
                ErrorCode::GrantInvalid,
                message!(
                    "`{name}` does not request `{capability}`, so the grant would have no effect",
                    name,
                    capability
                ),
                message!("create the tool again with `{capability}` in its capabilities", capability),
            ));
        }
        let path = policy_files::user_path(places).ok_or(CliError::NoHome)?;
        let file = EditedFile::open(&path, &POLICY_FILE)?;
        let parse = |text: &str| PolicyFile::parse(Layer::User, text, &path);
        let user = if file.text().is_empty() { None } else { Some(parse(file.text())?) };
        let before = PolicyFiles::with_user_file(places, user.clone())?;
        let id = shown.tool.to_string();
        // A toolbox checks a policy as a whole: no granted folder may contain the store or a policy.
        let toolbox = toolbox::open_existing(store_dir, SandboxArgs::single_call_config(), &before)?;
        let now = toolbox.approval_prompt(&id)?;
        if now.tool_approval.as_ref().is_none_or(|now| now.grants != shown.grants) {
            let message = message!("the grants of `{name}` changed since they were shown", name);
            return Err(CliError::coded(
                ErrorCode::PolicyFileChanged,
                message,
                msgid!("run the command again; it changed nothing"),
            ));
        }
        // A project narrows what the user grants here, but not elsewhere.
        let tags = toolbox.find(&id).map_err(ApprovalError::from)?.tags;
        let inherited = Policy::from_layers(user)?.grants_for(shown.tool, name, &tags, &shown.requested);
        let tool = RuleSubject { name, id: shown.tool };
        let (after, is_by_name) = add_grants(file.text(), tool, &inherited, added).map_err(|reason| {
            CliError::coded(
                ErrorCode::PolicyInvalid,
                message!("{path}: {reason}", path = path.display(), reason),
                msgid!("check the file with `toolcell config check`; nothing was changed"),
            )
        })?;
        let policy = PolicyFiles::with_user_file(places, Some(parse(&after)?))?;
        let toolbox = toolbox::open_existing(store_dir, SandboxArgs::single_call_config(), &policy)?;
        let question = toolbox.approval_prompt(&id)?;
        let edit = Self { path, file, after, policy, toolbox, question, is_by_name };
        if let Some(after) = &edit.question.tool_approval {
            edit.check_effect(name, after, added)?;
            if !after.grants.is_subset_of(&union(&shown.grants, added)) {
                let grants = &after.grants;
                return Err(CliError::coded(
                    ErrorCode::GrantInvalid,
                    message!("`{name}` would be granted more than that: {grants}", name, grants),
                    msgid!("edit the policy file by hand, and approve the tool with `toolcell approvals grant`"),
                ));
            }
        }
        Ok(edit)
    }

    /// Approves the tool with the grants of the changed policy, which has to be saved. `by` names the approver.
    ///
    /// # Errors
    /// Those of an approval; the grants stay in the file.
    pub(crate) fn approve(&self, by: &str) -> Result<(), CliError> {
        self.toolbox.approve(&self.question, by).map(drop).map_err(|error| granted_only(&error, &self.path))
    }

    /// The question about the tool under the changed policy.
    pub(crate) fn question(&self) -> &ApprovalPrompt {
        &self.question
    }

    /// The changed policy.
    pub(crate) fn policy(&self) -> &Policy {
        self.policy.policy()
    }

    /// Whether the rule is for all tools of the name, because it was written without an `id`.
    pub(crate) fn is_by_name(&self) -> bool {
        self.is_by_name
    }

    /// Checks that each of the grants has an effect, and that nothing takes it back.
    ///
    /// # Errors
    /// `grant-invalid`, with the rule that decides.
    fn check_effect(&self, name: &ToolName, after: &ToolApproval, added: &Grants) -> Result<(), CliError> {
        for (capability, added) in single_grants(added) {
            if !added.intersect(&after.grants).is_empty() {
                continue;
            }
            let asked = after.requested.iter().filter(|(asked, _)| *asked == capability);
            let asked = Capabilities::scoped(asked.map(|(capability, need)| (capability, need.named.clone())));
            let ruling = self.policy.policy().grant_decisions(after.tool, name, &[], &asked);
            let ruling = ruling.first().map_or_else(|| message!("no rule grants it"), Localize::localize);
            return Err(CliError::coded(
                ErrorCode::GrantInvalid,
                message!("{grants} would have no effect: {ruling}", grants = added, ruling),
                msgid!("`toolcell show` prints what the tool requests, `toolcell config show --origin` the rules"),
            ));
        }
        Ok(())
    }

    /// The path of the policy file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the unified diff of the policy file, empty if it already grants everything.
    pub(crate) fn diff(&self) -> String {
        toolcell_testing::unified(&self.path.display().to_string(), self.file.text(), &self.after)
    }

    /// Saves the file, and returns whether it changed.
    pub(crate) fn save(&self) -> Result<bool, CliError> {
        // A policy may contain names of hosts and folders, so it is private.
        self.file.replace(&self.after, 0o600)
    }
}

/// Returns the error for a tool that was granted something and then could not be approved, such as one that was deleted
/// meanwhile.
fn granted_only(error: &ApprovalError, path: &Path) -> CliError {
    let message = message!(
        "the grants are in {path}, but the tool is not approved: {error}",
        path = escape_control_chars(&path.display().to_string()),
        error = error.localize()
    );
    CliError::coded(error.code(), message, msgid!("remove the grants from the file, or run the command again"))
}

/// Returns what was shown and what is added: a folder or a space that is named again is granted as it
/// is named last.
fn union(shown: &Grants, added: &Grants) -> Grants {
    let mut all = shown.clone();
    all.files.retain(|known| !added.files.iter().any(|file| file.name == known.name));
    let kv = shown.kv.clone().zip(added.kv.clone()).filter(|(shown, added)| shown.space == added.space);
    let mut added = added.clone();
    if let Some((shown, added_kv)) = kv {
        added.kv = Some(KvGrant { access: added_kv.access, ..shown });
    }
    for secret in &mut added.secrets {
        for known in all.secrets.iter().filter(|known| known.name == secret.name) {
            secret.hosts.extend(known.hosts.iter().cloned());
        }
    }
    all.secrets.retain(|known| !added.secrets.iter().any(|secret| secret.name == known.name));
    all.extend(added);
    all.canonicalize()
}

/// Splits grants into single ones: one host, space, folder, secret or tool each.
fn single_grants(grants: &Grants) -> Vec<(Capability, Grants)> {
    let none = Grants::default;
    let whole = [Capability::Timers, Capability::Clock, Capability::Random, Capability::Kv];
    let mut single: Vec<(Capability, Grants)> = whole.map(|it| (it, grants.for_capability(it))).into();
    single.extend(grants.net.iter().map(|net| (Capability::Net, Grants { net: vec![net.clone()], ..none() })));
    single.extend(grants.files.iter().map(|file| (Capability::Files, Grants { files: vec![file.clone()], ..none() })));
    single.extend(
        grants.secrets.iter().map(|secret| (Capability::Secrets, Grants { secrets: vec![secret.clone()], ..none() })),
    );
    match &grants.tools {
        CallableTools::Any => single.push((Capability::Tools, grants.for_capability(Capability::Tools))),
        CallableTools::Named(names) => single.extend(
            names
                .iter()
                .map(|name| (Capability::Tools, Grants { tools: CallableTools::from_names([name.clone()]), ..none() })),
        ),
    }
    single.extend(grants.servers.split().map(|servers| (Capability::Servers, Grants { servers, ..none() })));
    single.retain(|(_, grants)| !grants.is_empty());
    single
}

/// The tool that a rule is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleSubject<'a> {
    pub(crate) name: &'a ToolName,
    pub(crate) id: ToolId,
}

/// Returns the text of a policy file with the grants added to the rule of a tool, and whether that
/// rule is for all tools of the name. Where the rule does not name a capability yet, it starts with
/// `inherited`: what the tool is granted by a broader rule, which the new one overrides.
///
/// # Errors
/// The text is not TOML, or a part of it is not a table.
pub(crate) fn add_grants(
    text: &str,
    tool: RuleSubject<'_>,
    inherited: &Grants,
    added: &Grants,
) -> Result<(String, bool), Message> {
    // The library writes LF.
    let has_crlf = text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
    let newline = if has_crlf { "\r\n" } else { "\n" };
    let parse = |text: &str| {
        text.replace("\r\n", "\n")
            .parse::<DocumentMut>()
            .map_err(|error: toml_edit::TomlError| Message::verbatim(error.to_string()))
    };
    let render = |file: &DocumentMut| file.to_string().replace('\n', newline);
    let mut file = parse(text)?;
    let mut text = text.to_owned();
    let key = rule_key(&file, tool.name);
    let rule =
        |file: &DocumentMut| file.get("grants")?.as_table_like()?.get("tools")?.as_table_like()?.get(&key).cloned();
    let only = |rule: &Item| Some(rule.as_table_like()?.get("id")?.as_str()?.to_owned());
    let mut there = rule(&file);
    if there.as_ref().and_then(only).is_some_and(|only| only != tool.id.to_string()) {
        subtable(subtable(file.as_table_mut(), "grants")?, "tools")?.remove(&key);
        text = render(&file);
        there = None;
    }
    if there.is_none() {
        // A new rule goes to the end: what is there stays as it is, byte for byte.
        let mut block = DocumentMut::new();
        fill_rule(&mut block, &key, tool, inherited, added)?;
        let block = render(&block);
        let gap = match text.as_str() {
            "" => String::new(),
            text if text.ends_with('\n') => newline.to_owned(),
            _ => newline.repeat(2),
        };
        let appended = format!("{text}{gap}{block}");
        if parse(&appended).is_ok() {
            return Ok((appended, false));
        }
    }
    let is_by_name = there.is_some_and(|rule| only(&rule).is_none());
    fill_rule(&mut file, &key, tool, inherited, added)?;
    Ok((render(&file), is_by_name))
}

/// Returns the key of a tool's rule, as it is written in the file.
fn rule_key(file: &DocumentMut, tool: &ToolName) -> String {
    let is_rule = |key: &&str| ToolName::parse(key).is_ok_and(|name| name.case_folded() == tool.case_folded());
    let rules = file.get("grants").and_then(|grants| grants.as_table_like()?.get("tools")?.as_table_like());
    let found = rules.and_then(|rules| rules.iter().map(|(key, _)| key).find(is_rule));
    found.unwrap_or(tool.as_str()).to_owned()
}

/// Adds the grants to the rule with this key, which need not exist.
fn fill_rule(
    file: &mut DocumentMut,
    key: &str,
    tool: RuleSubject<'_>,
    inherited: &Grants,
    added: &Grants,
) -> Result<(), Message> {
    let rules = subtable(subtable(file.as_table_mut(), "grants")?, "tools")?;
    let is_new = !rules.contains_key(key);
    let rule = subtable(rules, key)?;
    if is_new {
        rule.set_implicit(false);
        rule.insert("id", toml_edit::value(tool.id.to_string()));
    }
    for capability in added.capabilities() {
        let inherited = if rule.contains_key(capability.name()) { Grants::default() } else { inherited.clone() };
        add_to_rule(rule, capability, &inherited, added)?;
    }
    Ok(())
}

/// Adds the grants of one capability.
fn add_to_rule(rule: &mut Table, capability: Capability, inherited: &Grants, added: &Grants) -> Result<(), Message> {
    match capability {
        Capability::Timers | Capability::Clock | Capability::Random => set(rule, capability.name(), true.into()),
        Capability::Kv => {
            let Some(kv) = &added.kv else { return Ok(()) };
            let there = rule.get_mut(capability.name()).and_then(Item::as_table_like_mut);
            match there.filter(|there| there.get("space").and_then(Item::as_str) == Some(kv.space.as_str())) {
                // The limits stay; without the key, the space may be written.
                Some(there) => drop(there.remove("access")),
                None => {
                    let table = to_table(kv, &KvGrant::new(kv.space.clone()), &["space"]);
                    rule.insert(capability.name(), Item::Table(table));
                }
            }
        }
        Capability::Net => {
            let tables = tables(rule, capability)?;
            for grant in inherited.net.iter().chain(&added.net) {
                let default = NetGrant::new(grant.host.clone(), grant.scheme);
                let table = to_table(
                    grant,
                    &default,
                    if default.scheme.default_port() == 443 { &["host"] } else { &["host", "scheme"] },
                );
                if !tables.iter().any(|there| is_same(there, &table)) {
                    tables.push(table);
                }
            }
        }
        Capability::Files => {
            let tables = tables(rule, capability)?;
            for grant in inherited.files.iter().chain(&added.files) {
                let default = FilesGrant::new(grant.name.clone(), grant.path.clone());
                replace_named(tables, to_table(grant, &default, &["name", "path"]));
            }
        }
        Capability::Secrets => {
            let tables = tables(rule, capability)?;
            for grant in inherited.secrets.iter().chain(&added.secrets) {
                let default = SecretGrant::new(grant.name.clone(), grant.hosts.clone());
                let mut table = to_table(grant, &default, &["name", "hosts"]);
                let parts = |table: &Table| Some(table.get("into")?.as_value()?.clone().decorated("", "").to_string());
                let there = tables.iter().find(|there| text_of(there, "name") == Some(grant.name.as_str()));
                if there.is_some_and(|there| {
                    parts(there).is_some_and(|into| Some(&into) != parts(&table).as_ref() && into != "[\"header\"]")
                }) {
                    return Err(message!(
                        "the secret `{name}` is granted for other parts of requests: add the host to its rule by hand",
                        name = grant.name
                    ));
                }
                // One rule for each secret: its hosts are put together.
                if let Some(hosts) = table.get_mut("hosts").and_then(Item::as_array_mut) {
                    let there = tables.iter().find(|there| text_of(there, "name") == Some(grant.name.as_str()));
                    for host in there.and_then(|there| there.get("hosts")?.as_array()).into_iter().flatten() {
                        if !hosts.iter().any(|known| known.as_str() == host.as_str()) {
                            hosts.push(host.as_str().unwrap_or_default());
                        }
                    }
                }
                replace_named(tables, table);
            }
        }
        Capability::Tools => {
            let there = rule.get(capability.name());
            let is_any = there.and_then(Item::as_str) == Some("any");
            let mut all = Grants::default();
            if let Some(names) = there.and_then(Item::as_array) {
                let names = names.iter().filter_map(|name| CallableTools::parse_name(name.as_str()?).ok());
                all.tools = CallableTools::from_names(names);
            }
            for grants in [inherited, added] {
                all.extend(grants.for_capability(Capability::Tools));
            }
            if let (false, Some(names)) = (is_any, to_json(&all.tools).as_ref().and_then(to_toml)) {
                set(rule, capability.name(), names);
            }
        }
        Capability::Servers => add_servers_to_rule(rule, inherited, added)?,
    }
    Ok(())
}

/// Adds the grants of tools of MCP servers.
fn add_servers_to_rule(rule: &mut Table, inherited: &Grants, added: &Grants) -> Result<(), Message> {
    const KEY: &str = Capability::Servers.name();
    if rule.get(KEY).is_some_and(|there| there.as_bool() == Some(false)) {
        rule.remove(KEY);
    }
    let there = subtable(rule, KEY)?;
    let mut all = Grants::default();
    for (server, tools) in there.iter() {
        let words = tools.as_str().and_then(ServerTools::from_word);
        let named = tools.as_array().map(|names| {
            let names = names.iter().filter_map(|name| ServerToolName::parse(name.as_str()?).ok());
            ServerTools::from_names(names)
        });
        if let (Ok(server), Some(tools)) = (ServerName::parse(server), words.or(named)) {
            all.servers.add(server, tools);
        }
    }
    for grants in [inherited, added] {
        all.extend(grants.for_capability(Capability::Servers));
    }
    let rules = all.servers.to_rules().map_err(|server| {
        message!(
            "`{server}` is granted by the names of tools or as `reading`, not both: change its rule by hand",
            server
        )
    })?;
    for (server, tools) in rules {
        if let Some(tools) = to_toml(&tools) {
            there.insert(server.as_str(), Item::Value(tools));
        }
    }
    Ok(())
}

/// Returns a table inside of another one. A missing one is added, and an inline one gets a header.
fn subtable<'t>(parent: &'t mut Table, key: &str) -> Result<&'t mut Table, Message> {
    let item = parent.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    if let Item::Value(Value::InlineTable(inline)) = item {
        *item = Item::Table(std::mem::take(inline).into_table());
    }
    item.as_table_mut().ok_or_else(|| message!("`{key}` is not a table", key))
}

/// Returns the tables of a capability. Missing ones, `false` and an inline list are replaced by
/// tables with headers.
fn tables(rule: &mut Table, capability: Capability) -> Result<&mut ArrayOfTables, Message> {
    let key = capability.name();
    let item = rule.entry(key).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let inline = match item {
        Item::Value(Value::Array(list)) => Some(std::mem::take(list)),
        Item::Value(Value::Boolean(_)) => Some(toml_edit::Array::new()),
        _ => None,
    };
    if let Some(inline) = inline {
        let mut tables = ArrayOfTables::new();
        for value in inline {
            let Value::InlineTable(table) = value else { return Err(message!("`{key}` is not a list of tables", key)) };
            tables.push(table.into_table());
        }
        *item = Item::ArrayOfTables(tables);
    }
    item.as_array_of_tables_mut().ok_or_else(|| message!("`{key}` is not a list of tables", key))
}

/// Adds a table, or replaces the one with the same name.
fn replace_named(tables: &mut ArrayOfTables, table: Table) {
    let name = text_of(&table, "name").map(str::to_owned);
    let place = tables.iter().position(|there| text_of(there, "name").map(str::to_owned) == name);
    let Some(there) = place.and_then(|at| tables.get_mut(at)) else {
        tables.push(table);
        return;
    };
    there.retain(|key, _| table.contains_key(key));
    for (key, item) in table {
        if let Ok(value) = item.into_value() {
            set(there, &key, value);
        }
    }
}

fn text_of<'t>(table: &'t Table, key: &str) -> Option<&'t str> {
    table.get(key)?.as_str()
}

/// Whether two tables have the same values, whatever their comments.
fn is_same(one: &Table, other: &Table) -> bool {
    let bare = |table: &Table| {
        let mut fields: Vec<(String, String)> = table
            .iter()
            .map(|(key, item)| {
                (
                    key.to_owned(),
                    item.as_value().map(|value| value.clone().decorated("", "").to_string()).unwrap_or_default(),
                )
            })
            .collect();
        fields.sort();
        fields
    };
    bare(one) == bare(other)
}

/// Sets a value, and keeps the comment beside the old one.
fn set(table: &mut Table, key: &str, mut value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(there) => {
            *value.decor_mut() = there.decor().clone();
            *there = value;
        }
        None => drop(table.insert(key, Item::Value(value))),
    }
}

/// Writes a grant as a table: the fields `always`, and those that differ from the default.
fn to_table<T: Serialize>(grant: &T, default: &T, always: &[&str]) -> Table {
    let mut table = Table::new();
    let default = to_json(default);
    if let Some(Json::Object(fields)) = to_json(grant) {
        let is_written = |key: &str, value: &Json| {
            always.contains(&key) || default.as_ref().and_then(|default| default.get(key)) != Some(value)
        };
        for (key, value) in fields.iter().filter(|(key, value)| is_written(key, value)) {
            if let Some(value) = to_toml(value) {
                table.insert(key, Item::Value(value));
            }
        }
    }
    table
}

fn to_json(value: &impl Serialize) -> Option<Json> {
    serde_json::to_value(value).ok()
}

fn to_toml(value: &Json) -> Option<Value> {
    match value {
        Json::String(text) => Some(text.as_str().into()),
        Json::Bool(flag) => Some((*flag).into()),
        Json::Number(number) => number.as_i64().map(Value::from),
        Json::Array(items) => Some(items.iter().filter_map(to_toml).collect()),
        Json::Null | Json::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(words: &[&str]) -> Grants {
        let mut all = Grants::default();
        for word in words {
            all.extend(Grants::parse_argument(word, Path::new("/srv")).unwrap());
        }
        all
    }

    fn id(digit: char) -> ToolId {
        format!("dt_{}", digit.to_string().repeat(64)).parse().unwrap()
    }

    /// Adds grants for the tool `fetch-json`, and returns the file and what it grants to the tool.
    #[track_caller]
    fn add(before: &str, words: &[&str], inherited: &[&str]) -> (String, Grants) {
        let name = ToolName::parse("fetch-json").unwrap();
        let tool = RuleSubject { name: &name, id: id('a') };
        let (after, _) = add_grants(before, tool, &grants(inherited), &grants(words)).unwrap();
        let granted = effective(&after);
        // A second time changes nothing.
        assert_eq!(add_grants(&after, tool, &grants(inherited), &grants(words)).unwrap().0, after);
        (after, granted)
    }

    #[track_caller]
    fn effective(text: &str) -> Grants {
        let file = PolicyFile::parse(Layer::User, text, Path::new("/srv/toolcell.toml"))
            .unwrap_or_else(|error| panic!("{error}:\n{text}"));
        let policy = Policy::from_layers([file]).unwrap();
        let all = Capabilities::unscoped(Capability::ALL);
        policy.grants_for(id('a'), &ToolName::parse("fetch-json").unwrap(), &["web".to_owned()], &all)
    }

    #[test]
    fn a_new_rule_is_for_this_tool_alone_and_grants_what_was_named() {
        let words = [
            "timers",
            "net=api.example.com",
            "net=http://10.0.0.1:8080",
            "kv=notes",
            "tools=sum",
            "secrets=T@a.example",
            "files=in:data:write",
        ];
        let (text, granted) = add("", &words, &[]);
        assert_eq!(granted, grants(&words).canonicalize());
        assert!(text.contains(&format!("[grants.tools.fetch-json]\nid = \"{}\"\ntimers = true\n", id('a'))), "{text}");
        let other = ToolName::parse("fetch-json").unwrap();
        let file = PolicyFile::parse(Layer::User, &text, Path::new("/srv/toolcell.toml")).unwrap();
        let asked = Capabilities::unscoped(Capability::ALL);
        assert!(Policy::from_layers([file]).unwrap().grants_for(id('b'), &other, &[], &asked).is_empty());
    }

    #[test]
    fn comments_and_other_settings_stay_as_they_are() {
        let before = "# mine\n[limits] # tight\nfuel = 1_000_000\n\n[grants.tools.Fetch-JSON] # by name\ntimers = false # too slow\n\n\
            [[grants.tools.Fetch-JSON.net]]\nhost = \"a.example\" # first\n\n[audit]\ncontents = \"digests\"\n";
        let (text, granted) = add(before, &["timers", "net=b.example"], &[]);
        for kept in [
            "# mine\n[limits] # tight\nfuel = 1_000_000\n",
            "# by name",
            "timers = true # too slow",
            "host = \"a.example\" # first",
            "[audit]\ncontents = \"digests\"\n",
        ] {
            assert!(text.contains(kept), "{kept}:\n{text}");
        }
        assert!(granted.timers && granted.net.len() == 2, "{granted:?}");
        assert!(!text.contains("id ="), "{text}");
        let windows = before.replace('\n', "\r\n");
        assert_eq!(add(&windows, &["timers", "net=b.example"], &[]).0, text.replace('\n', "\r\n"));
    }

    #[test]
    fn a_rule_keeps_what_a_broader_rule_granted() {
        let before = "[[grants.default.net]]\nhost = \"a.example\"\nmethods = [\"GET\"]\ncalls = 3\n";
        let inherited = effective(before);
        let (text, granted) = add(before, &["net=b.example"], &[]);
        assert_eq!(granted.net.len(), 1, "{text}");
        let name = ToolName::parse("fetch-json").unwrap();
        let (text, _) =
            add_grants(before, RuleSubject { name: &name, id: id('a') }, &inherited, &grants(&["net=b.example"]))
                .unwrap();
        assert_eq!(effective(&text).net.len(), 2, "{text}");
        assert!(effective(&text).net.contains(&inherited.net[0]), "{text}");
    }

    #[test]
    fn the_rule_of_an_earlier_tool_of_the_name_is_replaced() {
        let before = format!("[grants.tools.fetch-json]\nid = \"{}\"\nclock = true\n", id('b'));
        let (text, granted) = add(&before, &["timers"], &[]);
        assert!(granted.timers && !granted.clock, "{text}");
        assert_eq!(text.matches("id = ").count(), 1, "{text}");
    }

    #[test]
    fn every_form_of_a_rule_can_be_added_to() {
        for before in [
            "grants = { tools = { fetch-json = { clock = true, net = [{ host = \"a.example\" }] } } }\n",
            "[grants]\ntools.fetch-json.clock = true\ntools.fetch-json.net = [{ host = \"a.example\" }]\n",
            "grants.tools.fetch-json.clock = true\ngrants.tools.fetch-json.net = [{ host = \"a.example\" }]\n",
            "[grants.tools]\nfetch-json = { clock = true, net = [{ host = \"a.example\" }] }\n",
            "[grants.tools.fetch-json]\nclock = true\nnet = [\n  { host = \"a.example\" },\n]\n",
        ] {
            let (text, granted) = add(before, &["net=b.example", "timers"], &[]);
            assert!(granted.clock && granted.timers && granted.net.len() == 2, "{before}\n{text}");
        }
        let (_, granted) =
            add("[grants.tools.fetch-json]\nnet = false\ntools = \"any\"\n", &["net=b.example", "tools=x"], &[]);
        assert!(granted.net.len() == 1 && granted.tools == CallableTools::Any, "{granted:?}");
        let secret = "[[grants.tools.fetch-json.secrets]]\nname = \"T\"\nhosts = [\"a.example\"]\n";
        let (text, granted) = add(secret, &["secrets=T@b.example"], &[]);
        assert_eq!(granted.secrets[0].hosts.len(), 2, "{text}");
    }

    #[test]
    fn a_new_rule_goes_to_the_end_and_leaves_all_that_is_there() {
        let template = include_str!("commands/init/user.toml");
        for before in [
            template,
            "# only comments\n# language = \"ja\"\n",
            "\u{feff}[limits]\nfuel = 1_000_000",
            "[a]\r\n\n[hooks]\n",
        ] {
            let name = ToolName::parse("fetch-json").unwrap();
            let tool = RuleSubject { name: &name, id: id('a') };
            let (after, is_by_name) = add_grants(before, tool, &Grants::default(), &grants(&["timers"])).unwrap();
            assert!(
                after.starts_with(before) && after[before.len()..].contains("[grants.tools.fetch-json]"),
                "{after}"
            );
            assert!(!is_by_name);
        }
    }

    #[test]
    fn what_is_named_again_has_the_access_that_is_named_and_keeps_the_limits_of_a_space() {
        let before = "[[grants.tools.fetch-json.files]]\nname = \"in\"\npath = \"/a\"\naccess = \"write\"\nbytes = 1_000_000_000\n";
        let (text, granted) = add(before, &["files=in:/b"], &[]);
        assert_eq!(granted.files, grants(&["files=in:/b"]).files, "{text}");
        let before = "[grants.tools.fetch-json.kv]\nspace = \"notes\" # mine\naccess = \"read\"\nbytes = 1_000\n";
        let (text, granted) = add(before, &["kv=notes"], &[]);
        let kv = granted.kv.unwrap();
        assert_eq!((kv.bytes, kv.access), (1_000, toolcell::Access::Write), "{text}");
        assert!(text.contains("# mine"), "{text}");
        let (_, granted) = add(before, &["kv=other"], &[]);
        assert_eq!(granted.kv, grants(&["kv=other"]).kv);
    }

    #[test]
    fn a_secret_for_other_parts_of_requests_is_left_to_its_owner() {
        let before = "[[grants.tools.fetch-json.secrets]]\nname = \"T\"\nhosts = [\"a.example\"]\ninto = [\"query\"]\n";
        let name = ToolName::parse("fetch-json").unwrap();
        let tool = RuleSubject { name: &name, id: id('a') };
        assert!(add_grants(before, tool, &Grants::default(), &grants(&["secrets=T@b.example"])).is_err());
    }

    #[test]
    fn what_is_no_policy_is_an_error() {
        let name = ToolName::parse("x").unwrap();
        let add = |text: &str| {
            add_grants(text, RuleSubject { name: &name, id: id('a') }, &Grants::default(), &grants(&["timers"]))
        };
        assert!(add("grants = 1").is_err() && add("[grants").is_err() && add("[grants]\ntools = [1]").is_err());
    }
}
