//! The rules about the flow of data, and the tools that declassify.
//!
//! Invariant: the rules of all files count, so a project's file can only add to what is asked or refused. Only the
//! user's file declassifies.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use toolcell_flows::{FlowAction, FlowException, FlowRule, FlowRules, PatternError, SinkPattern, SourcePattern};
use toolcell_i18n::{Localize as _, message, msgid};
use toolcell_tool::{IdPrefix, ToolId, ToolName};

use crate::problem::PolicyParser;
use crate::provenance::{Layer, Origin, Setting, Sourced, toml_list, toml_string};

/// The maximum number of rules, and of patterns in one of them.
const MAX_RULES: usize = 256;
/// The maximum number of bits that one run gets from a tool that declassifies.
const MAX_BITS: u32 = 1_000;

/// The rules about the flow of data.
#[derive(Debug, Clone, Default)]
pub struct FlowPolicy {
    rules: Arc<FlowRules>,
    origins: Vec<Origin>,
    declassifications: Vec<Declassification>,
}

/// A tool whose answer tells little enough to be used freely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declassification {
    tool: DeclassifyingTool,
    /// The sources that its answer loses.
    pub from: Vec<SourcePattern>,
    /// How many bits all its answers in one run may carry.
    pub bits: u32,
    /// The position of the rule.
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum DeclassifyingTool {
    Name(ToolName),
    Id(IdPrefix),
}

impl fmt::Display for DeclassifyingTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => name.fmt(f),
            Self::Id(prefix) => prefix.fmt(f),
        }
    }
}

impl Declassification {
    /// Returns the tool as the policy names it.
    #[must_use]
    pub fn tool(&self) -> String {
        self.tool.to_string()
    }

    /// Whether the rule speaks of this tool.
    #[must_use]
    pub fn covers(&self, id: ToolId, name: &str) -> bool {
        match &self.tool {
            DeclassifyingTool::Name(known) => {
                ToolName::parse(name).is_ok_and(|name| name.case_folded() == known.case_folded())
            }
            DeclassifyingTool::Id(prefix) => {
                let (least, greatest) = prefix.range();
                (least..=greatest).contains(&id)
            }
        }
    }
}

impl FlowPolicy {
    /// Returns the rules.
    #[must_use]
    pub const fn rules(&self) -> &Arc<FlowRules> {
        &self.rules
    }

    /// Returns the position of a rule.
    #[must_use]
    pub fn origin(&self, rule: usize) -> &Origin {
        self.origins.get(rule).unwrap_or(&Origin::BuiltIn)
    }

    /// Returns the tools that declassify, as the user's file lists them.
    #[must_use]
    pub fn declassifications(&self) -> &[Declassification] {
        &self.declassifications
    }

    /// Adds those of a file.
    pub(super) fn apply(&mut self, rules: Vec<Sourced<FlowRule>>, declassifications: Vec<Declassification>) {
        let mut all = self.rules.as_slice().to_vec();
        for Sourced { value, origin } in rules {
            all.push(value);
            self.origins.push(origin);
        }
        self.rules = Arc::new(FlowRules::new(all));
        self.declassifications.extend(declassifications);
    }

    /// Returns the rules for display.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let row = |key: String, value: String, origin: &Origin| Setting {
            key,
            value,
            origin: origin.clone(),
            ignored: Vec::new(),
        };
        let rules = self.rules.as_slice().iter().zip(&self.origins).enumerate();
        let rules = rules.map(|(index, (rule, origin))| row(format!("flows[{index}]"), rule_to_toml(rule), origin));
        let declassify = self.declassifications.iter().enumerate().map(|(index, rule)| {
            let value = format!(
                "{{ tool = {}, from = {}, bits = {} }}",
                toml_string(&rule.tool.to_string()),
                toml_list(texts(&rule.from)),
                rule.bits,
            );
            row(format!("declassify[{index}]"), value, &rule.origin)
        });
        rules.chain(declassify).collect()
    }
}

fn texts<T: fmt::Display>(patterns: &[T]) -> Vec<String> {
    patterns.iter().map(ToString::to_string).collect()
}

fn rule_to_toml(rule: &FlowRule) -> String {
    let except = rule.except.iter().map(|FlowException { from, to }| {
        format!("{{ from = {}, to = {} }}", toml_string(&from.to_string()), toml_string(&to.to_string()))
    });
    let except = except.collect::<Vec<_>>().join(", ");
    let except = if except.is_empty() { except } else { format!(", except = [{except}]") };
    let (from, to) = (toml_list(texts(&rule.from)), toml_list(texts(&rule.to)));
    format!("{{ from = {from}, to = {to}{except}, do = {} }}", toml_string(rule.action.name()))
}

/// A rule about operations that lead to one place and depend on data from another.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFlow {
    /// The sources of data: `files:FOLDER`, `kv:SPACE`, `secret:NAME` (the answers to requests that
    /// carried it), `server:NAME`, `server:NAME.TOOL`, `tool:NAME`, `web:HOST`, in which `*` stands
    /// for any name and `*.example.com` for all hosts below; `caller`, that is the parameters; or
    /// `*` for all.
    #[schemars(with = "Vec<String>", length(min = 1))]
    from: Vec<Spanned<String>>,
    /// Where operations lead: `files:FOLDER`, `kv:SPACE`, `server:NAME`, `server:NAME.TOOL`,
    /// `tool:NAME`, `web:HOST`, or `*`. Operations that only read are among them, because an
    /// address and a query are data; with `:writes` behind it, only those that write are.
    #[schemars(with = "Vec<String>", length(min = 1))]
    to: Vec<Spanned<String>>,
    /// Pairs that the rule leaves out.
    #[serde(default)]
    except: Vec<RawFlowException>,
    /// What happens to such an operation: a person is asked, or it is refused.
    #[serde(rename = "do")]
    #[schemars(with = "RawFlowAction")]
    action: Spanned<RawFlowAction>,
}

/// A pair of source and sink that a rule leaves out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFlowException {
    /// The source.
    #[schemars(with = "String")]
    from: Spanned<String>,
    /// The sink.
    #[schemars(with = "String")]
    to: Spanned<String>,
}

/// What a rule says about an operation.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawFlowAction {
    /// A person decides about the operation.
    Ask,
    /// The operation is refused.
    Deny,
}

/// A tool whose answer tells little enough to be used freely.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDeclassification {
    /// The tool, by its name or its identifier. It has to be approved, and the result that it
    /// declares has to be of few values: `boolean`, `null`, `integer` with `minimum` and `maximum`,
    /// `const` or `enum`.
    #[schemars(with = "String")]
    tool: Spanned<String>,
    /// The sources that its answer loses.
    #[schemars(with = "Vec<String>", length(min = 1))]
    from: Vec<Spanned<String>>,
    /// How many bits all its answers in one run may carry. An answer of `n` values counts as log2
    /// of `n + 1` bits, rounded up: that the tool failed tells something, too.
    #[schemars(with = "u32", range(min = 1_u32, max = MAX_BITS))]
    bits: Spanned<u32>,
}

impl PolicyParser<'_> {
    /// Converts the rules about the flow of data.
    pub(super) fn parse_flows(&mut self, forms: Vec<RawFlow>) -> Vec<Sourced<FlowRule>> {
        if let Some(form) = forms.get(MAX_RULES) {
            let (count, limit) = (forms.len(), MAX_RULES);
            let span = form.action.span();
            self.report(&span, message!("there are {count} rules about flows, the limit is {limit}", count, limit));
            return Vec::new();
        }
        let rule = |form: RawFlow| {
            let from = self.parse_patterns(&form.from, SourcePattern::parse);
            let to = self.parse_patterns(&form.to, SinkPattern::parse);
            let except = form.except.iter().filter_map(|pair| {
                let from = self.parse_flow_pattern(&pair.from, SourcePattern::parse);
                let to = self.parse_flow_pattern(&pair.to, SinkPattern::parse);
                let (from, to) = from.zip(to)?;
                Some(FlowException { from, to })
            });
            let except = except.collect();
            let action = match form.action.get_ref() {
                RawFlowAction::Ask => FlowAction::Ask,
                RawFlowAction::Deny => FlowAction::Deny,
            };
            Sourced { value: FlowRule { from, to, except, action }, origin: self.origin(&form.action.span()) }
        };
        forms.into_iter().map(rule).collect()
    }

    /// Converts the tools that declassify.
    pub(super) fn parse_declassifications(&mut self, forms: Vec<RawDeclassification>) -> Vec<Declassification> {
        let mut rules = Vec::new();
        for form in forms {
            if self.layer == Layer::Project {
                let message = msgid!("only the user's file declassifies: a project's file can only narrow");
                self.report(&form.tool.span(), message);
                continue;
            }
            let from = self.parse_patterns(&form.from, SourcePattern::parse);
            let tool = match (IdPrefix::parse(form.tool.get_ref()), ToolName::parse(form.tool.get_ref())) {
                (Ok(prefix), _) => DeclassifyingTool::Id(prefix),
                (_, Ok(name)) => DeclassifyingTool::Name(name),
                (_, Err(error)) => {
                    self.report(&form.tool.span(), message!("not a tool name or identifier: {error}", error));
                    continue;
                }
            };
            let (bits, origin) = (*form.bits.get_ref(), self.origin(&form.tool.span()));
            rules.push(Declassification { tool, from, bits, origin });
        }
        rules
    }

    fn parse_patterns<T>(&mut self, texts: &[Spanned<String>], parse: fn(&str) -> Result<T, PatternError>) -> Vec<T> {
        if let Some(text) = texts.get(MAX_RULES) {
            let (count, limit) = (texts.len(), MAX_RULES);
            self.report(&text.span(), message!("the rule has {count} patterns, the limit is {limit}", count, limit));
            return Vec::new();
        }
        texts.iter().filter_map(|text| self.parse_flow_pattern(text, parse)).collect()
    }

    fn parse_flow_pattern<T>(
        &mut self,
        text: &Spanned<String>,
        parse: fn(&str) -> Result<T, PatternError>,
    ) -> Option<T> {
        match parse(text.get_ref()) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.report(&text.span(), error.localize());
                None
            }
        }
    }
}
