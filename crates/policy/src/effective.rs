//! The effective settings of a policy for display: values, sources, and ignored values of projects.
//!
//! Invariant: the values shown here are those that [`Policy`]'s other functions use.

use std::path::PathBuf;

use serde_json::Value;
use toolcell_i18n::Lang;
use toolcell_tool::AuditContents;
use toolcell_tool::Capability;
use toolcell_tool::{FilesGrant, Grants, KvGrant, NetGrant, Scheme, SecretGrant};

use crate::command::HookAction;
use crate::grant_rules::Rule;
use crate::limits::Limit;
use crate::provenance::{Effective, Origin, Setting, toml_list, toml_string};
use crate::servers::ServerDefinition;
use crate::types::TypeCompiler;
use crate::{OnAuditFailure, Policy};

impl Policy {
    /// Returns all settings, in the order of a file. A language that was not set is left out: the
    /// environment decides on it.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        if self.language.value.is_some() {
            settings.push(setting("language", &self.language, |lang| toml_string(lang.map_or("", Lang::name))));
        }
        for limit in Limit::ALL {
            settings.push(setting(&format!("limits.{}", limit.name()), &self.limits.limit(limit), number));
        }
        for limit in Limit::ALL {
            settings.push(setting(&format!("ceilings.{}", limit.name()), self.limits.ceiling(limit), number));
        }
        settings.push(setting("store.tools", &self.tools, number));
        settings.push(setting("store.duplicates", &self.duplicates, |what| toml_string(what.name())));
        settings.push(setting("reflection.failures", &self.failures, number));
        settings.push(setting("reflection.repetitions", &self.repetitions, number));
        settings.push(setting("audit.contents", &self.contents, |contents| {
            toml_string(if contents == AuditContents::Verbatim { "verbatim" } else { "digests" })
        }));
        settings.push(setting("audit.receipts", &self.keeps_receipts, |keeps| keeps.to_string()));
        settings.push(setting("audit.required", &self.on_audit_failure, |when| {
            (when == OnAuditFailure::Refuse).to_string()
        }));
        settings.push(setting("approval.mode", &self.approval, |mode| toml_string(mode.name())));
        settings.extend(self.reserved_settings());
        settings.extend(self.grant_settings());
        settings.extend(self.hooks.iter().map(|hook| Setting {
            key: format!("hooks.{}", crate::provenance::toml_key(&hook.name)),
            value: match &hook.action {
                HookAction::Command(command) => toml_list(&command.command),
                HookAction::Tool(tool) => format!("{{ tool = {} }}", toml_string(tool)),
            },
            origin: hook.origin.clone(),
            ignored: Vec::new(),
        }));
        settings.extend(self.external_tools.settings());
        settings.extend(self.flows.settings());
        settings.extend(self.servers.iter().map(ServerDefinition::to_setting));
        settings.extend(self.ignored_servers.iter().map(|server| {
            let own = self.servers.iter().find(|own| own.name == server.name).map(ServerDefinition::to_setting);
            let Setting { key, value, origin, .. } = server.to_setting();
            let (used, place) = own.map_or_else(|| ("none".to_owned(), Origin::BuiltIn), |own| (own.value, own.origin));
            Setting { key, value: used, origin: place, ignored: vec![(value, origin)] }
        }));
        settings.extend(self.types_setting());
        settings
    }

    /// Returns the row of the compiler that checks types, if a file names one.
    fn types_setting(&self) -> Option<Setting> {
        let ignored: Vec<Setting> = self.ignored_types.iter().map(TypeCompiler::to_setting).collect();
        let none = |named: &Setting| Setting { value: "none".to_owned(), origin: Origin::BuiltIn, ..named.clone() };
        let used = self.types.as_ref().map(TypeCompiler::to_setting).or_else(|| ignored.first().map(none))?;
        Some(Setting { ignored: ignored.into_iter().map(|named| (named.value, named.origin)).collect(), ..used })
    }

    /// Returns one row per reserved name; one empty row if no name is reserved.
    fn reserved_settings(&self) -> Vec<Setting> {
        let row = |value: String, origin: &Origin| Setting {
            key: "names.reserved".to_owned(),
            value,
            origin: origin.clone(),
            ignored: Vec::new(),
        };
        if self.reserved.is_empty() {
            return vec![row("[]".to_owned(), &Origin::BuiltIn)];
        }
        self.reserved.iter().map(|reserved| row(toml_list([&reserved.value]), &reserved.origin)).collect()
    }

    /// Returns the effect of each rule on a minimal tool that the rule covers.
    fn grant_settings(&self) -> Vec<Setting> {
        let mut settings: Vec<Setting> = Vec::new();
        for (rule, capability) in self.grants.iter().flat_map(|rule| rule.grants.keys().map(move |said| (rule, *said)))
        {
            let key = format!("{}.{}", rule.key, capability.name());
            if !settings.iter().any(|setting| setting.key == key) {
                settings.push(self.grant_setting(key, rule, capability));
            }
        }
        for (rule, only) in self.grants.iter().filter_map(|rule| Some((rule, rule.only_tool.as_ref()?))) {
            let (key, value) = (format!("{}.id", rule.key), toml_string(&only.value.to_string()));
            settings.push(Setting { key, value, origin: only.origin.clone(), ignored: Vec::new() });
        }
        if settings.is_empty() {
            let (key, value) = ("grants.default.timers".to_owned(), "false".to_owned());
            settings.push(Setting { key, value, origin: Origin::BuiltIn, ignored: Vec::new() });
        }
        settings
    }

    fn grant_setting(&self, key: String, rule: &Rule, capability: Capability) -> Setting {
        let only = rule.only_tool.as_ref().map(|only| only.value);
        let ruling = rule.scope.with_example(only, |tool| self.grants.decide(tool, capability));
        let same = self.grants.iter().filter(|other| other.key == rule.key);
        let said = same.filter_map(|other| other.grants.get(&capability));
        let asked = said.filter(|said| said.origin.can_only_narrow() && !said.value.is_subset_of(&ruling.grants));
        let beyond = asked.map(|said| (grant_to_toml(&said.value, capability), said.origin.clone())).collect();
        Setting { key, value: grant_to_toml(&ruling.grants, capability), origin: ruling.origin, ignored: beyond }
    }
}

/// Formats the grants of a capability as TOML, without the fields that have their default value.
fn grant_to_toml(grants: &Grants, capability: Capability) -> String {
    let mut of = grants.for_capability(capability).to_value();
    let Some(value) = of.as_object_mut().and_then(|of| of.shift_remove(capability.name())) else {
        return "false".to_owned();
    };
    let unsaid = |index: usize| match capability {
        Capability::Net => {
            let grant = grants.net.get(index)?;
            serde_json::to_value(NetGrant { scheme: Scheme::Https, ..NetGrant::new(grant.host.clone(), grant.scheme) })
                .ok()
        }
        Capability::Kv => serde_json::to_value(KvGrant::new(grants.kv.as_ref()?.space.clone())).ok(),
        Capability::Files => {
            let grant = grants.files.get(index)?;
            serde_json::to_value(FilesGrant::new(grant.name.clone(), PathBuf::new())).ok()
        }
        Capability::Secrets => {
            let grant = grants.secrets.get(index)?;
            serde_json::to_value(SecretGrant::new(grant.name.clone(), Vec::new())).ok()
        }
        _ => None,
    };
    match value {
        Value::Array(items) => {
            let items = items.into_iter().enumerate().map(|(index, item)| to_inline_toml(item, unsaid(index).as_ref()));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        value => to_inline_toml(value, unsaid(0).as_ref()),
    }
}

/// The identifying keys of a grant, which are always shown.
const IDENTIFYING_KEYS: [&str; 4] = ["host", "space", "name", "path"];

/// Formats a value as inline TOML, without the fields that have their default value.
fn to_inline_toml(value: Value, unsaid: Option<&Value>) -> String {
    match value {
        Value::Object(fields) => {
            let is_said = |key: &str, value: &Value| {
                let same = unsaid.is_some_and(|unsaid| unsaid[key] == *value);
                !same || IDENTIFYING_KEYS.contains(&key) && !(key == "path" && *value == "/")
            };
            let fields = fields.into_iter().filter(|(key, value)| is_said(key, value));
            let fields = fields.map(|(key, value)| format!("{key} = {}", to_inline_toml(value, None)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.into_iter().map(|item| to_inline_toml(item, None)).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => toml_string(&text),
        other => other.to_string(),
    }
}

fn number(value: u64) -> String {
    value.to_string()
}

fn setting<T: Copy>(key: &str, held: &Effective<T>, shown: impl Fn(T) -> String) -> Setting {
    let beyond = held.ignored.iter().map(|asked| (shown(asked.value), asked.origin.clone()));
    Setting { key: key.to_owned(), value: shown(held.value), origin: held.origin.clone(), ignored: beyond.collect() }
}
