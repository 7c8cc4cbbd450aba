//! The serde input structs of a policy file: the one place that defines its keys, types and ranges.
//!
//! Invariant: policy files are deserialized into these structs, and the JSON Schema for editors is
//! generated from them.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use toml::Spanned;
use toolcell_protocol::Budget;

use crate::approval::ApprovalMode;
use crate::command::{DEFAULT_HOOK_TIMEOUT_MS, HookProtocol, HookTiming, MAX_HOOK_TIMEOUT_MS};
use crate::duplicates::Duplicates;
use crate::external_tools::CallDecision;
use crate::flows::{RawDeclassification, RawFlow};
use crate::limits::{DEFAULT_MAX_TOOLS, Limit, MAX_TOOLS_LIMIT};
use crate::raw_grants::RawRule;
use crate::servers::RawServer;
use crate::types::RawTypes;

/// The rights and limits of the tools that agents write. A project's file can only narrow what the
/// user's file allows.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "toolcell.toml")]
pub(super) struct RawPolicy {
    /// The language of messages. By default the environment decides.
    #[schemars(with = "RawLang")]
    pub(super) language: Option<Spanned<RawLang>>,
    /// The limits of a call whose caller requests none.
    #[schemars(transform = default_limits)]
    pub(super) limits: RawLimits,
    /// The highest limits that a caller can request.
    #[schemars(transform = default_ceilings)]
    pub(super) ceilings: RawLimits,
    /// The store of the tools.
    pub(super) store: RawStore,
    /// When a tool is reported as worth creating.
    pub(super) reflection: RawReflection,
    /// The audit log and the run records.
    pub(super) audit: RawAudit,
    /// The approval of tools before they run.
    pub(super) approval: RawApproval,
    /// The names of tools.
    pub(super) names: RawNames,
    /// The capabilities granted to tools that request them. Nothing by default. A rule for a tool
    /// overrides rules for a tag, which override the default; where several rules apply equally,
    /// their intersection counts.
    #[schemars(with = "RawGrantRules")]
    pub(super) grants: Option<Spanned<RawGrantRules>>,
    /// Hooks that run before or after a call.
    pub(super) hooks: Vec<RawHook>,
    /// The calls of tools that Toolcell does not run, such as the shell tool of an agent, for
    /// which a program asks `toolcell decide`.
    pub(super) external_tools: RawExternalTools,
    /// Rules about the flow of data. The strictest of those that apply to an operation decides: deny,
    /// then ask. An operation that no rule speaks of is performed. A project's file adds rules.
    pub(super) flows: Vec<RawFlow>,
    /// Tools whose answers tell little enough to be used freely. Only the user's file declassifies.
    pub(super) declassify: Vec<RawDeclassification>,
    /// The MCP servers whose tools code may call, by the name under which it calls them. Only the
    /// user's file defines servers.
    #[schemars(with = "BTreeMap<String, RawServer>")]
    pub(super) servers: BTreeMap<Spanned<String>, RawServer>,
    /// How the types of sources are checked. Only the user's file names a program for that.
    pub(super) types: RawTypes,
}

/// A language of messages.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawLang {
    /// English
    En,
    /// Japanese
    Ja,
    /// Chinese, in simplified characters
    Zh,
}

/// The limits of one call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawLimits {
    /// Fuel, about one unit per Wasm instruction; the deterministic limit. A native image burns
    /// about 10 billion units a second.
    #[schemars(with = "u64", range(min = Limit::Fuel.min_value(), max = Limit::Fuel.max_value()))]
    fuel: Option<Spanned<u64>>,
    /// Wall-clock time in milliseconds, host calls included.
    #[schemars(with = "u64", range(min = Limit::TimeoutMs.min_value(), max = Limit::TimeoutMs.max_value()))]
    timeout_ms: Option<Spanned<u64>>,
    /// Memory in MiB, including about 6 MiB for the engine.
    #[schemars(with = "u64", range(min = Limit::MemoryMb.min_value(), max = Limit::MemoryMb.max_value()))]
    memory_mb: Option<Spanned<u64>>,
    /// The size of the result's JSON text in bytes.
    #[schemars(with = "u64", range(min = Limit::OutputBytes.min_value(), max = Limit::OutputBytes.max_value()))]
    output_bytes: Option<Spanned<u64>>,
    /// The size of the console text in bytes.
    #[schemars(with = "u64", range(min = Limit::ConsoleBytes.min_value(), max = Limit::ConsoleBytes.max_value()))]
    console_bytes: Option<Spanned<u64>>,
    /// The number of host calls that may be pending at once.
    #[schemars(with = "u64", range(min = Limit::Operations.min_value(), max = Limit::Operations.max_value()))]
    operations: Option<Spanned<u64>>,
}

impl RawLimits {
    pub(super) fn get(&self, limit: Limit) -> Option<&Spanned<u64>> {
        match limit {
            Limit::Fuel => &self.fuel,
            Limit::TimeoutMs => &self.timeout_ms,
            Limit::MemoryMb => &self.memory_mb,
            Limit::OutputBytes => &self.output_bytes,
            Limit::ConsoleBytes => &self.console_bytes,
            Limit::Operations => &self.operations,
        }
        .as_ref()
    }
}

fn default_limits(schema: &mut Schema) {
    let budget = Budget::default();
    set_defaults(schema, |limit| limit.value_in(&budget));
}

fn default_ceilings(schema: &mut Schema) {
    set_defaults(schema, Limit::max_value);
}

fn set_defaults(schema: &mut Schema, default: impl Fn(Limit) -> u64) {
    for limit in Limit::ALL {
        if let Some(property) = schema.pointer_mut(&format!("/properties/{}", limit.name())) {
            property["default"] = default(limit).into();
        }
    }
}

/// The store of the tools.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawStore {
    /// The maximum number of named tools.
    #[schemars(with = "u64", range(min = 0_u64, max = MAX_TOOLS_LIMIT), extend("default" = DEFAULT_MAX_TOOLS))]
    pub(super) tools: Option<Spanned<u64>>,
    /// The handling of new tools that are equivalent to existing ones.
    #[schemars(with = "Duplicates", extend("default" = "warn"))]
    pub(super) duplicates: Option<Spanned<Duplicates>>,
}

/// When a tool is reported as worth creating.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawReflection {
    /// The number of failed attempts.
    #[schemars(with = "u64", range(min = 1_u64, max = 1_000_u64), extend("default" = 2))]
    pub(super) failures: Option<Spanned<u64>>,
    /// The number of times the same operation was repeated.
    #[schemars(with = "u64", range(min = 2_u64, max = 1_000_u64), extend("default" = 2))]
    pub(super) repetitions: Option<Spanned<u64>>,
}

/// The audit log and the run records.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawAudit {
    /// The recorded form of parameters and results.
    #[schemars(with = "RawContents", extend("default" = "digests"))]
    pub(super) contents: Option<Spanned<RawContents>>,
    /// Whether the store keeps a receipt of each run: all that the tool was given and returned.
    #[schemars(with = "bool", extend("default" = false))]
    pub(super) receipts: Option<Spanned<bool>>,
    /// Whether a run is refused if it cannot be recorded.
    #[schemars(with = "bool", extend("default" = true))]
    pub(super) required: Option<Spanned<bool>>,
}

/// The recorded form of parameters and results.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawContents {
    /// Record the hash and the size.
    Digests,
    /// Record the full text.
    Verbatim,
}

/// The approval of tools before they run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawApproval {
    /// The handling of calls to unapproved tools.
    #[schemars(with = "ApprovalMode", extend("default" = ApprovalMode::default().name()))]
    pub(super) mode: Option<Spanned<ApprovalMode>>,
}

/// The names of tools.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawNames {
    /// Names that tools cannot use, such as those of the host's own tools.
    #[schemars(with = "Vec<String>")]
    pub(super) reserved: Vec<Spanned<String>>,
}

/// The capabilities granted to tools that request them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawGrantRules {
    /// Granted to all stored tools.
    pub(super) default: RawRule,
    /// Granted to code that is not stored: to the drafts of `exec` and `batch`, and to what a model
    /// runs with `run_code`. It need not request what it gets, and it is not approved.
    pub(super) drafts: RawRule,
    /// Granted to the tools that have a tag.
    #[schemars(with = "BTreeMap<String, RawRule>")]
    pub(super) tags: BTreeMap<Spanned<String>, RawRule>,
    /// Granted to one tool, by its name or its identifier (`dt_` and at least 8 digits).
    #[schemars(with = "BTreeMap<String, RawRule>")]
    pub(super) tools: BTreeMap<Spanned<String>, RawRule>,
}

/// A hook that runs before or after a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [{ "required": ["command"] }, { "required": ["tool"] }]))]
pub(super) struct RawHook {
    /// The name of the hook in messages. Names are unique.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// The program and its arguments; no shell is used. A program path that contains `/` is
    /// relative to the policy file's folder. A hook has either a `command` or a `tool`.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) command: Option<Spanned<Vec<String>>>,
    /// The stored tool that decides, by its name or its identifier. It runs without grants, and
    /// has to be approved.
    #[serde(default)]
    #[schemars(with = "String")]
    pub(super) tool: Option<Spanned<String>>,
    /// The protocol of the command: what it reads and prints, and what its exit status means.
    #[serde(default)]
    #[schemars(with = "HookProtocol", extend("default" = "toolcell"))]
    pub(super) protocol: Option<Spanned<HookProtocol>>,
    /// When the hook runs.
    #[serde(default = "before")]
    #[schemars(length(min = 1))]
    pub(super) when: Vec<HookTiming>,
    /// The timeout in milliseconds. A hook that exceeds it refuses the call.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1_u64, max = MAX_HOOK_TIMEOUT_MS), extend("default" = DEFAULT_HOOK_TIMEOUT_MS))]
    pub(super) timeout_ms: Option<Spanned<u64>>,
    /// The tools that the hook applies to: names, or name prefixes followed by `*`. All tools if
    /// this is left out.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) tools: Option<Vec<Spanned<String>>>,
    /// Additional environment variables for the hook, by name. It always has `PATH`, `HOME`,
    /// `LANG`, `LANGUAGE`, `LC_*`, `TZ` and `TMPDIR`. None of them may hold a tool's secret or a
    /// token.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) env: Option<Vec<Spanned<String>>>,
}

/// The calls of tools that Toolcell does not run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawExternalTools {
    /// The decision about a call that no rule matches. Without it, such a call is left to the
    /// hooks, and to the program that asks.
    #[schemars(with = "CallDecision")]
    pub(super) default: Option<Spanned<CallDecision>>,
    /// The rules. The strictest of those that match a call decides: deny, then ask, then allow.
    pub(super) rules: Vec<RawExternalRule>,
}

/// A rule about calls of tools that Toolcell does not run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExternalRule {
    /// The names of the tools, in which `*` stands for any text.
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) tools: Vec<Spanned<String>>,
    /// The patterns of arguments, by the name of the argument; a dot leads into an object. The rule
    /// matches if each of these arguments matches one of its patterns. `*` stands for any text; in
    /// a rule that allows, for text without `;`, `&`, `|`, `<`, `>`, `$`, `(`, `)`, backquotes and
    /// line breaks.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<String>>")]
    pub(super) args: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
    /// The decision.
    #[schemars(with = "CallDecision")]
    pub(super) decision: Spanned<CallDecision>,
    /// Why, for the person or the model that reads the decision.
    #[serde(default)]
    pub(super) reason: Option<String>,
}

fn before() -> Vec<HookTiming> {
    vec![HookTiming::Before]
}
