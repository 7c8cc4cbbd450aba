//! The values of a policy for people: each that counts, where it comes from, and what a project asked for in vain.
//!
//! Invariant: what stands here is what [`Policy`]'s other functions go by.

use std::path::PathBuf;

use serde_json::Value;
use toolcell_analysis::Capability;
use toolcell_store::audit::Contents;
use toolcell_tool::{FilesGrant, Grants, KvGrant, Lang, NetGrant, Scheme, SecretGrant};

use crate::policy::grants::Rule;
use crate::policy::limits::Limit;
use crate::policy::origin::{Held, Origin, Setting, listed, quoted};
use crate::policy::{Policy, WhenUnrecorded};

impl Policy {
    /// All values, in the order of a file. A language that nobody chose is left out: the environment decides on it.
    #[must_use]
    pub fn origins(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        if self.language.value.is_some() {
            settings.push(setting("language", &self.language, |lang| quoted(lang.map_or("", Lang::name))));
        }
        for limit in Limit::ALL {
            settings.push(setting(&format!("limits.{}", limit.name()), &self.limits.limit(limit), number));
        }
        for limit in Limit::ALL {
            settings.push(setting(&format!("ceilings.{}", limit.name()), self.limits.ceiling(limit), number));
        }
        settings.push(setting("store.tools", &self.tools, number));
        settings.push(setting("store.duplicates", &self.duplicates, |what| quoted(what.name())));
        settings.push(setting("reflection.failures", &self.failures, number));
        settings.push(setting("reflection.repetitions", &self.repetitions, number));
        settings.push(setting("audit.contents", &self.contents, |contents| {
            quoted(if contents == Contents::Verbatim { "verbatim" } else { "digests" })
        }));
        settings.push(setting("audit.required", &self.when_unrecorded, |when| {
            (when == WhenUnrecorded::Refuse).to_string()
        }));
        settings.push(setting("approval.mode", &self.approval, |mode| quoted(mode.name())));
        settings.extend(self.reserved_settings());
        settings.extend(self.grant_settings());
        settings.extend(self.gates.iter().map(|gate| Setting {
            key: format!("gates.{}", crate::policy::origin::keyed(&gate.name)),
            value: listed(&gate.command),
            origin: gate.origin.clone(),
            beyond: Vec::new(),
        }));
        settings
    }

    /// One row for each name; one where there is none.
    fn reserved_settings(&self) -> Vec<Setting> {
        let row = |value: String, origin: &Origin| Setting {
            key: "names.reserved".to_owned(),
            value,
            origin: origin.clone(),
            beyond: Vec::new(),
        };
        if self.reserved.is_empty() {
            return vec![row("[]".to_owned(), &Origin::BuiltIn)];
        }
        self.reserved.iter().map(|reserved| row(listed([&reserved.value]), &reserved.origin)).collect()
    }

    /// What each rule comes to for a tool that is nothing but what the rule is about.
    fn grant_settings(&self) -> Vec<Setting> {
        let mut settings: Vec<Setting> = Vec::new();
        for (rule, capability) in self.grants.iter().flat_map(|rule| rule.says.keys().map(move |said| (rule, *said))) {
            let key = format!("{}.{}", rule.key, capability.name());
            if !settings.iter().any(|setting| setting.key == key) {
                settings.push(self.grant_setting(key, rule, capability));
            }
        }
        for (rule, only) in self.grants.iter().filter_map(|rule| Some((rule, rule.only.as_ref()?))) {
            let (key, value) = (format!("{}.id", rule.key), quoted(&only.value.to_string()));
            settings.push(Setting { key, value, origin: only.origin.clone(), beyond: Vec::new() });
        }
        if settings.is_empty() {
            let (key, value) = ("grants.default.timers".to_owned(), "false".to_owned());
            settings.push(Setting { key, value, origin: Origin::BuiltIn, beyond: Vec::new() });
        }
        settings
    }

    fn grant_setting(&self, key: String, rule: &Rule, capability: Capability) -> Setting {
        let only = rule.only.as_ref().map(|only| only.value);
        let ruling = rule.scope.with_example(only, |tool| self.grants.ruling(tool, capability));
        let same = self.grants.iter().filter(|other| other.key == rule.key);
        let said = same.filter_map(|other| other.says.get(&capability));
        let asked = said.filter(|said| said.origin.narrows_only() && !said.value.is_within(&ruling.grants));
        let beyond = asked.map(|said| (stated(&said.value, capability), said.origin.clone())).collect();
        Setting { key, value: stated(&ruling.grants, capability), origin: ruling.origin, beyond }
    }
}

/// What is granted of a capability as a file would state it, without what holds where nothing is said.
fn stated(grants: &Grants, capability: Capability) -> String {
    let mut of = grants.of(capability).to_value();
    let Some(value) = of.as_object_mut().and_then(|of| of.shift_remove(capability.name())) else {
        return "false".to_owned();
    };
    let unsaid = |index: usize| match capability {
        Capability::Net => {
            let grant = grants.net.get(index)?;
            serde_json::to_value(NetGrant { scheme: Scheme::Https, ..NetGrant::to(grant.host.clone(), grant.scheme) })
                .ok()
        }
        Capability::Kv => serde_json::to_value(KvGrant::to(grants.kv.as_ref()?.space.clone())).ok(),
        Capability::Files => {
            let grant = grants.files.get(index)?;
            serde_json::to_value(FilesGrant::to(grant.name.clone(), PathBuf::new())).ok()
        }
        Capability::Secrets => {
            let grant = grants.secrets.get(index)?;
            serde_json::to_value(SecretGrant::to(grant.name.clone(), Vec::new())).ok()
        }
        _ => None,
    };
    match value {
        Value::Array(items) => {
            let items = items.into_iter().enumerate().map(|(index, item)| in_toml(item, unsaid(index).as_ref()));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        value => in_toml(value, unsaid(0).as_ref()),
    }
}

/// The keys by which a grant is told from others: they are always shown.
const TELLING: [&str; 4] = ["host", "space", "name", "path"];

/// A value as TOML has it in a line, without the fields that are as they are where nothing is said.
fn in_toml(value: Value, unsaid: Option<&Value>) -> String {
    match value {
        Value::Object(fields) => {
            let is_said = |key: &str, value: &Value| {
                let same = unsaid.is_some_and(|unsaid| unsaid[key] == *value);
                !same || TELLING.contains(&key) && !(key == "path" && *value == "/")
            };
            let fields = fields.into_iter().filter(|(key, value)| is_said(key, value));
            let fields = fields.map(|(key, value)| format!("{key} = {}", in_toml(value, None)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.into_iter().map(|item| in_toml(item, None)).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => quoted(&text),
        other => other.to_string(),
    }
}

fn number(value: u64) -> String {
    value.to_string()
}

fn setting<T: Copy>(key: &str, held: &Held<T>, shown: impl Fn(T) -> String) -> Setting {
    let beyond = held.beyond.iter().map(|asked| (shown(asked.value), asked.origin.clone()));
    Setting { key: key.to_owned(), value: shown(held.value), origin: held.origin.clone(), beyond: beyond.collect() }
}
