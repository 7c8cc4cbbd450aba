//! What can stand in a policy file: the one place where its keys, types and ranges are said.
//!
//! Invariant: files are read with these structs, and the schema for editors is made of them.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use toml::Spanned;
use toolcell_host::Budget;

use crate::policy::approval::ApprovalMode;
use crate::policy::command::{GATE_TIMEOUT, GATE_TIMEOUT_MOST, When};
use crate::policy::duplicates::Duplicates;
use crate::policy::limits::{Limit, TOOLS, TOOLS_MOST};
use crate::policy::rule::RuleForm;

/// What Toolcell may do for the tools that agents write. A file of a project may only narrow what that of the user
/// allows.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "toolcell.toml")]
pub(super) struct Form {
    /// The language of messages. By default the environment decides.
    #[schemars(with = "LangForm")]
    pub(super) language: Option<Spanned<LangForm>>,
    /// What a call gets where its caller asks for nothing.
    #[schemars(transform = default_limits)]
    pub(super) limits: LimitsForm,
    /// What a caller may ask for at most.
    #[schemars(transform = default_ceilings)]
    pub(super) ceilings: LimitsForm,
    /// The store of the tools.
    pub(super) store: StoreForm,
    /// When a tool is said to be worth making.
    pub(super) reflection: ReflectionForm,
    /// The record of what was done.
    pub(super) audit: AuditForm,
    /// Who says yes to a tool before it runs.
    pub(super) approval: ApprovalForm,
    /// The names of tools.
    pub(super) names: NamesForm,
    /// What tools that ask for it are granted. Nothing by default. The rule of a tool goes before that of a tag, and
    /// that before the default; where rules of one kind differ, what all of them grant counts.
    #[schemars(with = "GrantsForm")]
    pub(super) grants: Option<Spanned<GrantsForm>>,
    /// Commands that are asked before or after a run.
    pub(super) gates: Vec<GateForm>,
}

/// A language of messages.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum LangForm {
    /// English
    En,
    /// Japanese
    Ja,
    /// Chinese, in simplified characters
    Zh,
}

/// Limits of a call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LimitsForm {
    /// Wasm instructions, about; the deterministic limit. A native image burns some 10 billion a second.
    #[schemars(with = "u64", range(min = Limit::Fuel.least(), max = Limit::Fuel.most()))]
    fuel: Option<Spanned<u64>>,
    /// Wall-clock time in milliseconds, operations of the host included.
    #[schemars(with = "u64", range(min = Limit::TimeoutMs.least(), max = Limit::TimeoutMs.most()))]
    timeout_ms: Option<Spanned<u64>>,
    /// Memory in MiB, the engine's own included (about 6 MiB).
    #[schemars(with = "u64", range(min = Limit::MemoryMb.least(), max = Limit::MemoryMb.most()))]
    memory_mb: Option<Spanned<u64>>,
    /// Bytes of the result's JSON text.
    #[schemars(with = "u64", range(min = Limit::OutputBytes.least(), max = Limit::OutputBytes.most()))]
    output_bytes: Option<Spanned<u64>>,
    /// Bytes of console text.
    #[schemars(with = "u64", range(min = Limit::ConsoleBytes.least(), max = Limit::ConsoleBytes.most()))]
    console_bytes: Option<Spanned<u64>>,
    /// Operations of the host that are pending at once.
    #[schemars(with = "u64", range(min = Limit::Operations.least(), max = Limit::Operations.most()))]
    operations: Option<Spanned<u64>>,
}

impl LimitsForm {
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
    set_defaults(schema, |limit| limit.of(&budget));
}

fn default_ceilings(schema: &mut Schema) {
    set_defaults(schema, Limit::most);
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
pub(super) struct StoreForm {
    /// How many tools may have a name.
    #[schemars(with = "u64", range(min = 0_u64, max = TOOLS_MOST), extend("default" = TOOLS))]
    pub(super) tools: Option<Spanned<u64>>,
    /// What becomes of a tool that does what another one does already.
    #[schemars(with = "Duplicates", extend("default" = "warn"))]
    pub(super) duplicates: Option<Spanned<Duplicates>>,
}

/// When a tool is said to be worth making.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ReflectionForm {
    /// After so many failed attempts.
    #[schemars(with = "u64", range(min = 1_u64, max = 1_000_u64), extend("default" = 2))]
    pub(super) failures: Option<Spanned<u64>>,
    /// Where the same operation was seen so often.
    #[schemars(with = "u64", range(min = 2_u64, max = 1_000_u64), extend("default" = 2))]
    pub(super) repetitions: Option<Spanned<u64>>,
}

/// The record of what was done.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AuditForm {
    /// What is recorded of parameters and results.
    #[schemars(with = "ContentsForm", extend("default" = "digests"))]
    pub(super) contents: Option<Spanned<ContentsForm>>,
    /// Whether a run that cannot be recorded does not start.
    #[schemars(with = "bool", extend("default" = true))]
    pub(super) required: Option<Spanned<bool>>,
}

/// What is recorded of parameters and results.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ContentsForm {
    /// Their hash and size.
    Digests,
    /// They themselves.
    Verbatim,
}

/// Who says yes to a tool before it runs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ApprovalForm {
    /// What a tool that nobody approved may do.
    #[schemars(with = "ApprovalMode", extend("default" = ApprovalMode::default().name()))]
    pub(super) mode: Option<Spanned<ApprovalMode>>,
}

/// The names of tools.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NamesForm {
    /// Names that tools must not take, such as those of the host's own tools.
    #[schemars(with = "Vec<String>")]
    pub(super) reserved: Vec<Spanned<String>>,
}

/// What tools that ask for it are granted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct GrantsForm {
    /// Granted to all tools.
    pub(super) default: RuleForm,
    /// Granted to the tools with a tag.
    #[schemars(with = "BTreeMap<String, RuleForm>")]
    pub(super) tags: BTreeMap<Spanned<String>, RuleForm>,
    /// Granted to a tool, by its name or by its identifier (`dt_` and 8 digits or more).
    #[schemars(with = "BTreeMap<String, RuleForm>")]
    pub(super) tools: BTreeMap<Spanned<String>, RuleForm>,
}

/// A command that is asked before or after a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GateForm {
    /// What messages call it; no two gates have one name.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// The program and its arguments, without a shell. A program with a `/` in it is looked for from the file's folder.
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) command: Spanned<Vec<String>>,
    /// When it is asked.
    #[serde(default = "before")]
    #[schemars(length(min = 1))]
    pub(super) when: Vec<When>,
    /// How long it may take in milliseconds. One that takes longer refuses.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1_u64, max = GATE_TIMEOUT_MOST), extend("default" = GATE_TIMEOUT))]
    pub(super) timeout_ms: Option<Spanned<u64>>,
    /// The tools it is asked about: names, or beginnings of names with a `*` behind them. All where nothing is said.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) tools: Option<Vec<Spanned<String>>>,
    /// Further environment variables that it gets, by name: it has `PATH`, `HOME`, `LANG`, `LANGUAGE`, `LC_*`, `TZ` and `TMPDIR`. None
    /// of them may hold a secret of a tool, or a token.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(min = 1))]
    pub(super) env: Option<Vec<Spanned<String>>>,
}

fn before() -> Vec<When> {
    vec![When::Before]
}
