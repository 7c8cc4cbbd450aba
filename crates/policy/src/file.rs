//! The parser of policy files: first their structure, then their meaning.
//!
//! Invariant: a [`PolicyFile`] contains no contradiction, and every value records its line.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use blake3::Hash;
use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};
use toolcell_flows::FlowRule;
use toolcell_i18n::{Lang, Message, message, msgid};
use toolcell_tool::AuditContents;
use toolcell_tool::{IdPrefix, TAG_LIMIT, ToolName};

use crate::OnAuditFailure;
use crate::approval::ApprovalMode;
use crate::command::variable_refusal;
use crate::command::{DEFAULT_HOOK_TIMEOUT_MS, HookAction, HookCommand, HookDefinition, NamePattern};
use crate::duplicates::Duplicates;
use crate::external_tools::{CallDecision, ExternalRule};
use crate::flows::Declassification;
use crate::grant_rules::{FileRules, Scope};
use crate::limits::{Limit, PerLimit};
use crate::problem::{GrantedFolder, PolicyError, PolicyParser, escape_for_display};
use crate::provenance::{Layer, Sourced, toml_key};
use crate::raw::{RawContents, RawExternalRule, RawGrantRules, RawHook, RawLang, RawLimits, RawPolicy};
use crate::schema::SCHEMA;
use crate::servers::ServerDefinition;
use crate::types::TypeCompiler;

/// The maximum size of a file in bytes. A project's file is untrusted.
const MAX_FILE_BYTES: usize = 256 * 1024;
/// The maximum length of a hook's name in characters.
const MAX_HOOK_NAME_CHARS: usize = 64;

/// A parsed policy file.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use toolcell_policy::{Layer, PolicyFile};
///
/// let path = Path::new("toolcell.toml");
/// assert!(PolicyFile::parse(Layer::User, "[limits]\nfuel = 50_000", path).is_ok());
/// let error = PolicyFile::parse(Layer::User, "[limits]\nfule = 50_000", path).unwrap_err();
/// assert_eq!(error.code(), "policy-invalid");
/// assert!(error.to_string().starts_with("toolcell.toml:2:1: `limits` has no `fule`, did you mean `fuel`?"));
/// ```
#[derive(Debug, Clone)]
pub struct PolicyFile {
    pub(super) layer: Layer,
    pub(super) path: Arc<Path>,
    pub(super) hash: Hash,
    pub(super) language: Option<Sourced<Lang>>,
    pub(super) limits: PerLimit<Option<Sourced<u64>>>,
    pub(super) ceilings: PerLimit<Option<Sourced<u64>>>,
    pub(super) tools: Option<Sourced<u64>>,
    pub(super) duplicates: Option<Sourced<Duplicates>>,
    pub(super) failures: Option<Sourced<u64>>,
    pub(super) repetitions: Option<Sourced<u64>>,
    pub(super) contents: Option<Sourced<AuditContents>>,
    pub(super) keeps_receipts: Option<Sourced<bool>>,
    pub(super) on_audit_failure: Option<Sourced<OnAuditFailure>>,
    pub(super) approval: Option<Sourced<ApprovalMode>>,
    pub(super) reserved: Vec<Sourced<ToolName>>,
    pub(super) grants: Option<FileRules>,
    pub(super) folders: Vec<GrantedFolder>,
    pub(super) hooks: Vec<HookDefinition>,
    pub(super) external_default: Option<Sourced<CallDecision>>,
    pub(super) external_rules: Vec<ExternalRule>,
    pub(super) flows: Vec<Sourced<FlowRule>>,
    pub(super) declassifications: Vec<Declassification>,
    pub(super) servers: Vec<ServerDefinition>,
    pub(super) types: Option<TypeCompiler>,
}

impl PolicyFile {
    /// Parses the text of a policy file. The path is used in messages, and its folder for the
    /// commands of hooks.
    ///
    /// # Errors
    /// `policy-invalid`, with every problem.
    pub fn parse(layer: Layer, text: &str, path: &Path) -> Result<Self, PolicyError> {
        let mut reading = PolicyParser::new(layer, text, path);
        let form = reading.parse_raw()?;
        let file = reading.build_file(form);
        reading.finish()?;
        Ok(file)
    }

    /// Returns the layer of the file.
    #[must_use]
    pub const fn layer(&self) -> Layer {
        self.layer
    }

    /// Returns the path that was passed to [`parse`](Self::parse).
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the blake3 hash of the text. A user who lets the file's hooks run trusts this hash.
    #[must_use]
    pub const fn hash(&self) -> Hash {
        self.hash
    }

    /// Returns the hooks of the file.
    #[must_use]
    pub fn hooks(&self) -> &[HookDefinition] {
        &self.hooks
    }
}

impl PolicyParser<'_> {
    /// Parses the file, and reports and removes the values that no policy file may have.
    fn parse_raw(&mut self) -> Result<RawPolicy, PolicyError> {
        if self.text.len() > MAX_FILE_BYTES {
            let (bytes, limit) = (self.text.len(), MAX_FILE_BYTES);
            self.report(&(0..0), message!("the file has {bytes} bytes, the limit is {limit}", bytes, limit));
            self.finish()?;
        }
        let (mut table, errors) = DeTable::parse_recoverable(self.text);
        for error in errors {
            let message = Message::verbatim(error.message().replace('\n', ", "));
            self.report(&error.span().unwrap_or_default(), message);
        }
        // A problem after a syntax error would be a guess.
        self.finish()?;
        let span = table.span();
        self.prune("", &span, table.get_mut(), &SCHEMA);
        RawPolicy::deserialize(Deserializer::from(table)).or_else(|error| {
            self.report(&error.span().unwrap_or_default(), Message::verbatim(error.message().to_owned()));
            self.finish().map(|()| RawPolicy::default())
        })
    }

    fn build_file(&mut self, form: RawPolicy) -> PolicyFile {
        let hash = blake3::hash(self.text.as_bytes());
        self.check_limits_below_ceilings(&form.limits, &form.ceilings);
        PolicyFile {
            layer: self.layer,
            path: Arc::clone(&self.path),
            hash,
            language: self.sourced(form.language.as_ref(), |lang| match lang {
                RawLang::En => Lang::En,
                RawLang::Ja => Lang::Ja,
                RawLang::Zh => Lang::Zh,
            }),
            limits: self.parse_limits(&form.limits),
            ceilings: self.parse_limits(&form.ceilings),
            tools: self.sourced(form.store.tools.as_ref(), |tools| tools),
            duplicates: self.sourced(form.store.duplicates.as_ref(), |what| what),
            failures: self.sourced(form.reflection.failures.as_ref(), |many| many),
            repetitions: self.sourced(form.reflection.repetitions.as_ref(), |many| many),
            contents: self.sourced(form.audit.contents.as_ref(), |contents| match contents {
                RawContents::Digests => AuditContents::Digests,
                RawContents::Verbatim => AuditContents::Verbatim,
            }),
            keeps_receipts: self.sourced(form.audit.receipts.as_ref(), |keeps| keeps),
            on_audit_failure: self.sourced(form.audit.required.as_ref(), |required| {
                if required { OnAuditFailure::Refuse } else { OnAuditFailure::Run }
            }),
            approval: self.sourced(form.approval.mode.as_ref(), |mode| mode),
            reserved: self.parse_reserved(&form.names.reserved),
            grants: form.grants.as_ref().map(|grants| self.parse_rules(grants)),
            folders: self.take_folders(),
            hooks: self.parse_hooks(form.hooks, hash),
            external_default: self.sourced(form.external_tools.default.as_ref(), |decision| decision),
            external_rules: self.parse_external_rules(form.external_tools.rules),
            flows: self.parse_flows(form.flows),
            declassifications: self.parse_declassifications(form.declassify),
            servers: self.parse_servers(form.servers),
            types: self.parse_types(form.types),
        }
    }

    fn sourced<T: Copy, U>(&self, value: Option<&Spanned<T>>, meaning: impl Fn(T) -> U) -> Option<Sourced<U>> {
        value.map(|value| Sourced { value: meaning(*value.get_ref()), origin: self.origin(&value.span()) })
    }

    fn parse_limits(&self, form: &RawLimits) -> PerLimit<Option<Sourced<u64>>> {
        PerLimit::from_fn(|limit| self.sourced(form.get(limit), |value| value))
    }

    fn check_limits_below_ceilings(&mut self, limits: &RawLimits, ceilings: &RawLimits) {
        for which in Limit::ALL {
            let (Some(limit), Some(ceiling)) = (limits.get(which), ceilings.get(which)) else { continue };
            if limit.get_ref() > ceiling.get_ref() {
                let (name, line) = (which.name(), self.line(ceiling.span().start));
                let message = message!(
                    "`limits.{name}` is {limit}, and its ceiling in line {line} is {ceiling}",
                    name,
                    limit = limit.get_ref(),
                    line,
                    ceiling = ceiling.get_ref(),
                );
                self.report(&limit.span(), message);
            }
        }
    }

    fn parse_reserved(&mut self, names: &[Spanned<String>]) -> Vec<Sourced<ToolName>> {
        let mut reserved = Vec::new();
        for name in names {
            match ToolName::parse(name.get_ref()) {
                Ok(value) => reserved.push(Sourced { value, origin: self.origin(&name.span()) }),
                Err(error) => self.report(&name.span(), message!("`names.reserved`: {error}", error)),
            }
        }
        reserved
    }

    fn parse_rules(&mut self, grants: &Spanned<RawGrantRules>) -> FileRules {
        let form = grants.get_ref();
        let mut rules = vec![self.parse_rule("grants.default".to_owned(), Scope::Default, &form.default)];
        rules.push(self.parse_rule("grants.drafts".to_owned(), Scope::Drafts, &form.drafts));
        for (tag, rule) in &form.tags {
            if let Some(scope) = self.parse_tag(tag) {
                rules.push(self.parse_rule(format!("grants.tags.{}", toml_key(tag.get_ref())), scope, rule));
            }
        }
        let mut of_tools = Vec::new();
        for (tool, rule) in &form.tools {
            if let Some(scope) = self.parse_tool_scope(tool) {
                let rule = self.parse_rule(format!("grants.tools.{}", toml_key(tool.get_ref())), scope, rule);
                of_tools.push((tool.span(), rule));
            }
        }
        of_tools.sort_by_key(|(span, _)| span.start);
        self.check_rule_conflicts(&of_tools);
        rules.extend(of_tools.into_iter().map(|(_, rule)| rule));
        FileRules { origin: self.origin(&grants.span()), rules }
    }

    fn parse_tag(&mut self, tag: &Spanned<String>) -> Option<Scope> {
        let text = tag.get_ref();
        if text.trim().is_empty() {
            self.report(&tag.span(), msgid!("a tag is empty"));
        } else if text.trim() != text || text.chars().any(char::is_control) || text.len() > TAG_LIMIT {
            let message = message!(
                "invalid tag: a tag has no surrounding spaces, no control characters, and at most {limit} bytes",
                limit = TAG_LIMIT,
            );
            self.report(&tag.span(), message);
        } else {
            return Some(Scope::Tag(text.clone()));
        }
        None
    }

    fn parse_tool_scope(&mut self, tool: &Spanned<String>) -> Option<Scope> {
        if let Ok(prefix) = IdPrefix::parse(tool.get_ref()) {
            return Some(Scope::for_id_prefix(&prefix));
        }
        match ToolName::parse(tool.get_ref()) {
            Ok(name) => Some(Scope::for_name(&name)),
            Err(error) => {
                self.report(&tool.span(), message!("not a tool name or identifier: {error}", error));
                None
            }
        }
    }

    fn parse_hooks(&mut self, forms: Vec<RawHook>, hash: Hash) -> Vec<HookDefinition> {
        let mut lines = BTreeMap::new();
        let mut hooks = Vec::new();
        for form in forms {
            let span = form.name.span();
            self.check_hook_name(form.name.get_ref(), &span);
            let line = self.line(span.start);
            match lines.entry(form.name.get_ref().clone()) {
                Entry::Vacant(free) => {
                    free.insert(line);
                }
                Entry::Occupied(taken) => {
                    let (line, name) = (taken.get(), escape_for_display(taken.key()));
                    self.report(&span, message!("the hook in line {line} is already named `{name}`", line, name));
                }
            }
            hooks.push(self.parse_hook(form, hash));
        }
        hooks
    }

    fn check_hook_name(&mut self, name: &str, span: &Range<usize>) {
        let length = name.chars().count();
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            self.report(span, msgid!("a hook name must not be empty or contain control characters"));
        } else if length > MAX_HOOK_NAME_CHARS {
            let limit = MAX_HOOK_NAME_CHARS;
            self.report(span, message!("the hook name has {length} characters, the limit is {limit}", length, limit));
        }
    }

    fn parse_hook(&mut self, form: RawHook, file_hash: Hash) -> HookDefinition {
        let env: Vec<String> = form.env.iter().flatten().filter_map(|name| self.parse_env_name(name)).collect();
        let name = form.name.span();
        let action = match (form.command, form.tool) {
            (Some(command), None) => {
                self.check_command(&command);
                let protocol = form.protocol.map(Spanned::into_inner).unwrap_or_default();
                let folder = self.path.parent().map_or_else(PathBuf::new, Path::to_owned);
                HookAction::Command(HookCommand { command: command.into_inner(), protocol, folder, env })
            }
            (None, Some(tool)) => {
                if let Some(protocol) = form.protocol {
                    self.report(&protocol.span(), msgid!("only a hook with a `command` has a `protocol`"));
                }
                if let Some(env) = form.env.iter().flatten().next() {
                    self.report(
                        &env.span(),
                        msgid!("only a hook with a `command` has an `env`: a tool sees no environment"),
                    );
                }
                self.check_hook_tool(&tool);
                HookAction::Tool(tool.into_inner())
            }
            // The structure of the file is checked before: a hook has one of them.
            (None, None) => HookAction::Tool(String::new()),
            (Some(_), Some(tool)) => {
                self.report(&tool.span(), msgid!("the hook has both a `command` and a `tool`: remove one of them"));
                HookAction::Tool(String::new())
            }
        };
        let tools = form.tools.iter().flatten().filter_map(|text| self.parse_pattern(text)).collect();
        HookDefinition {
            origin: self.origin(&name),
            name: form.name.into_inner(),
            action,
            when: form.when.into_iter().collect(),
            timeout: Duration::from_millis(form.timeout_ms.map_or(DEFAULT_HOOK_TIMEOUT_MS, Spanned::into_inner)),
            tools,
            layer: self.layer,
            file_hash,
        }
    }

    fn check_command(&mut self, command: &Spanned<Vec<String>>) {
        if command.get_ref().first().is_none_or(String::is_empty) {
            self.report(&command.span(), msgid!("the command of a hook must start with a program"));
        } else if command.get_ref().iter().any(|word| word.contains('\0')) {
            self.report(&command.span(), msgid!("the command of a hook must not contain U+0000"));
        }
    }

    fn check_hook_tool(&mut self, tool: &Spanned<String>) {
        if IdPrefix::parse(tool.get_ref()).is_ok() {
            return;
        }
        if let Err(error) = ToolName::parse(tool.get_ref()) {
            self.report(&tool.span(), message!("not a tool name or identifier: {error}", error));
        }
    }

    fn parse_external_rules(&mut self, rules: Vec<RawExternalRule>) -> Vec<ExternalRule> {
        rules.into_iter().map(|rule| self.parse_external_rule(rule)).collect()
    }

    fn parse_external_rule(&mut self, rule: RawExternalRule) -> ExternalRule {
        for tool in rule.tools.iter().filter(|tool| tool.get_ref().trim().is_empty()) {
            self.report(&tool.span(), msgid!("the name of a tool is empty; `*` stands for every tool"));
        }
        for (name, _) in rule.args.iter().filter(|(_, patterns)| patterns.is_empty()) {
            let shown = escape_for_display(name.get_ref());
            let message = message!("the argument `{name}` has no pattern; `*` stands for any text", name = shown);
            self.report(&name.span(), message);
        }
        let tools: Vec<String> = rule.tools.into_iter().map(Spanned::into_inner).collect();
        let texts = |patterns: Vec<Spanned<String>>| patterns.into_iter().map(Spanned::into_inner).collect();
        let args = rule.args.into_iter().map(|(name, patterns)| (name.into_inner(), texts(patterns))).collect();
        let origin = self.origin(&rule.decision.span());
        ExternalRule::new(&tools, args, rule.decision.into_inner(), rule.reason, origin)
    }

    /// Parses the name of an environment variable for a hook.
    fn parse_env_name(&mut self, name: &Spanned<String>) -> Option<String> {
        if let Some(why) = variable_refusal(name.get_ref()) {
            let shown = escape_for_display(name.get_ref());
            let why = Message::from(why);
            self.report(&name.span(), message!("`hooks.env` must not contain `{name}`: {why}", name = shown, why));
            return None;
        }
        Some(name.get_ref().clone())
    }

    fn parse_pattern(&mut self, text: &Spanned<String>) -> Option<NamePattern> {
        let pattern = NamePattern::parse(text.get_ref());
        if pattern.is_none() {
            let shown = escape_for_display(text.get_ref());
            let message =
                message!("`{text}` is not a tool name pattern: use a name, or a prefix followed by `*`", text = shown,);
            self.report(&text.span(), message);
        }
        pattern
    }
}
