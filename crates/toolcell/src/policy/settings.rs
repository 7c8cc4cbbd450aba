//! The values of a policy for people: each that counts, where it comes from, and what a project asked for in vain.
//!
//! Invariant: what stands here is what [`Policy`]'s other functions go by.

use toolcell_analysis::Capability;
use toolcell_store::audit::Contents;
use toolcell_tool::Lang;

use crate::policy::grants::{Rule, Verdict};
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
        if settings.is_empty() {
            let (key, value) = ("grants.default.timers".to_owned(), "false".to_owned());
            settings.push(Setting { key, value, origin: Origin::BuiltIn, beyond: Vec::new() });
        }
        settings
    }

    fn grant_setting(&self, key: String, rule: &Rule, capability: Capability) -> Setting {
        let ruling = rule.scope.with_example(|tool| self.grants.ruling(tool, capability));
        let granted = ruling.verdict == Verdict::Granted;
        let same = self.grants.iter().filter(|other| other.key == rule.key);
        let said = same.filter_map(|other| other.says.get(&capability));
        let asked = said.filter(|said| said.value && !granted && said.origin.narrows_only());
        let beyond = asked.map(|said| (said.value.to_string(), said.origin.clone())).collect();
        Setting { key, value: granted.to_string(), origin: ruling.origin, beyond }
    }
}

fn number(value: u64) -> String {
    value.to_string()
}

fn setting<T: Copy>(key: &str, held: &Held<T>, shown: impl Fn(T) -> String) -> Setting {
    let beyond = held.beyond.iter().map(|asked| (shown(asked.value), asked.origin.clone()));
    Setting { key: key.to_owned(), value: shown(held.value), origin: held.origin.clone(), beyond: beyond.collect() }
}
