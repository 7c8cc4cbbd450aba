//! Explains what the rules about flows say of a tool, and forgets what a caller was told.
//!
//! Invariant: an explanation runs nothing. It is about what a tool may do with its grants, so it lists more than a run
//! does.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use toolcell_flows::{BoundedSchema, FlowAction, FlowRule, Label, Sink, SinkPattern, Source, SourcePattern, Target};
use toolcell_policy::{Grants, Origin};
use toolcell_store::audit::{Action, AuditEvent};
use toolcell_store::{Decision, Fault, LabelHolder};
use toolcell_tool::{Access, CallableTools, HostPattern, Method, ServerName, ServerToolName, ToolId, ToolName};

use super::lookup::find;
use super::run::RunError;
use crate::parts::Parts;

/// What the rules about flows say of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowExplanation {
    /// The identifier of the tool.
    pub tool: ToolId,
    /// The name of the tool.
    pub name: String,
    /// Where data may come from that a run is handed, by its grants.
    pub sources: Vec<String>,
    /// Where operations of a run may lead.
    pub sinks: Vec<String>,
    /// What a rule asks about or refuses.
    pub held: Vec<HeldFlow>,
    /// The rules by which the result of the tool loses sources, and whether they can.
    pub declassifies: Vec<DeclassificationState>,
}

/// A flow that a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldFlow {
    /// Where the data comes from.
    pub from: String,
    /// Where the operation leads.
    pub to: String,
    /// `ask` or `deny`.
    pub action: &'static str,
    /// The rule: `flows[0]`.
    pub rule: String,
    /// The position of the rule.
    #[serde(serialize_with = "as_text")]
    pub origin: Origin,
}

fn as_text<S: serde::Serializer>(origin: &Origin, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(origin)
}

/// A rule that lets the result of a tool lose sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeclassificationState {
    /// The sources.
    pub from: Vec<String>,
    /// The bits that all results in one run may carry.
    pub bits: u32,
    /// The bits that one result carries; `None` if the declared result has more than a few values.
    pub bits_per_result: Option<u32>,
    /// Whether a person approved the tool.
    pub is_approved: bool,
}

/// A source or a sink, as it is shown and as rules are asked about it.
struct Candidate<T> {
    shown: String,
    asked: T,
}

/// Explains what the rules say of a tool with the grants that the policy gives it.
pub(crate) fn explain_flows(parts: &Parts, reference: &str) -> Result<FlowExplanation, RunError> {
    let entry = find(parts, reference)?;
    let store = parts.require_store()?;
    let ready = parts.load_tool(&entry)?;
    let tool = ready.vetted.as_ref().map_err(|refusal| RunError::Unsafe(refusal.clone()))?;
    let metadata = store.catalog().metadata(&entry)?;
    let policy = parts.admission.policy();
    let grants = policy.grants_for(entry.id, &entry.name, metadata.tags(), tool.requested_capabilities());
    let (sources, sinks) = (sources(parts, entry.id, &grants)?, sinks(parts, &grants)?);
    let rules = policy.flows();
    let mut held = Vec::new();
    for source in &sources {
        for sink in &sinks {
            let Some(decision) = rules.rules().decide(&source.asked, None, &sink.asked) else { continue };
            held.push(HeldFlow {
                from: source.shown.clone(),
                to: sink.shown.clone(),
                action: decision.action.name(),
                rule: format!("flows[{}]", decision.rule),
                origin: rules.origin(decision.rule).clone(),
            });
        }
    }
    held.sort_by_key(|flow| flow.action != FlowAction::Deny.name());
    let is_approved =
        store.approvals().for_tool(entry.id)?.iter().any(|approval| approval.decision == Decision::Approved);
    let result = metadata.postconditions().returns.as_ref();
    let bits_per_result = result.and_then(BoundedSchema::from_schema).map(|schema| schema.bits());
    let declassifies = rules.declassifications().iter().filter(|rule| rule.covers(entry.id, entry.name.as_str()));
    let declassifies = declassifies.map(|rule| DeclassificationState {
        from: rule.from.iter().map(ToString::to_string).collect(),
        bits: rule.bits,
        bits_per_result,
        is_approved,
    });
    Ok(FlowExplanation {
        tool: entry.id,
        name: entry.name.to_string(),
        sources: sources.into_iter().map(|source| source.shown).collect(),
        sinks: sinks.into_iter().map(|sink| sink.shown).collect(),
        held,
        declassifies: declassifies.collect(),
    })
}

/// Returns where data may come from.
fn sources(parts: &Parts, tool: ToolId, grants: &Grants) -> Result<Vec<Candidate<Label>>, Fault> {
    let mut sources = vec![Source::Caller];
    sources.extend(grants.secrets.iter().map(|grant| Source::Secret(grant.name.clone())));
    sources.extend(grants.files.iter().map(|grant| Source::Files(grant.name.clone())));
    sources.extend(grants.kv.iter().map(|grant| Source::Kv(grant.space.clone())));
    sources.extend(callable(&grants.tools).cloned().map(Source::Tool));
    let labels = sources.into_iter().map(|source| Candidate { shown: source.to_string(), asked: Label::from(source) });
    let mut all: Vec<_> = labels.collect();
    let patterns = parts.admission.policy().flows();
    for host in hosts(grants, patterns.rules().as_slice()) {
        all.push(Candidate { shown: format!("web:{host}"), asked: Source::Web(representative(&host)).into() });
    }
    for server in grants.servers.names() {
        let tools = server_tools(parts, server, grants)?;
        if tools.is_empty() {
            // Of a server of which nothing is trusted yet, no tool is known.
            let unknown = ServerToolName::parse("unknown").map(|tool| Source::Server(server.clone(), tool));
            let shown = format!("server:{server}");
            all.extend(unknown.ok().map(|source| Candidate { shown, asked: source.into() }));
        }
        for tool in tools {
            let source = Source::Server(server.clone(), tool);
            all.push(Candidate { shown: source.to_string(), asked: source.into() });
        }
    }
    let store = parts.require_store()?;
    let mut holders = vec![LabelHolder::Tool(tool)];
    holders.extend(grants.kv.iter().map(|grant| LabelHolder::Space(grant.space.clone())));
    holders.extend(
        grants
            .files
            .iter()
            .map(|grant| LabelHolder::Folder(grant.path.canonicalize().unwrap_or_else(|_| grant.path.clone()))),
    );
    for text in store.labels().sources(&holders)? {
        if !all.iter().any(|known| known.shown == text) {
            all.push(Candidate { asked: Label::parse([text.as_str()]), shown: text });
        }
    }
    Ok(all)
}

/// Returns where operations may lead.
fn sinks(parts: &Parts, grants: &Grants) -> Result<Vec<Candidate<Sink>>, Fault> {
    let mut all = Vec::new();
    let mut add = |shown: String, target: Target, writes: bool| {
        let shown = if writes { format!("{shown}:writes") } else { shown };
        all.push(Candidate { shown, asked: Sink { target, writes } });
    };
    for grant in &grants.files {
        let name = format!("files:{}", grant.name);
        add(name, Target::Files(grant.name.clone()), grant.access != Access::Read);
    }
    if let Some(grant) = &grants.kv {
        add(format!("kv:{}", grant.space), Target::Kv(grant.space.clone()), grant.access != Access::Read);
    }
    for name in callable(&grants.tools) {
        add(format!("tool:{name}"), Target::Tool(name.clone()), true);
    }
    let rules = parts.admission.policy().flows();
    for host in hosts(grants, rules.rules().as_slice()) {
        let is_written = |method: &Method| !matches!(method, Method::Get | Method::Head | Method::Options);
        let covering = grants.net.iter().filter(|grant| grant.host.includes(&host));
        let writes = covering.flat_map(|grant| &grant.methods).any(is_written);
        add(format!("web:{host}"), Target::Web(representative(&host)), writes);
    }
    for server in grants.servers.names() {
        let tools = server_tools(parts, server, grants)?;
        if tools.is_empty() {
            add(format!("server:{server}"), Target::Server(server.clone(), None), true);
        }
        for tool in tools {
            let target = Target::Server(server.clone(), Some(tool.clone()));
            add(format!("server:{server}.{tool}"), target, true);
        }
    }
    Ok(all)
}

fn callable(tools: &CallableTools) -> impl Iterator<Item = &ToolName> {
    match tools {
        CallableTools::Named(names) => Some(names),
        CallableTools::Any => None,
    }
    .into_iter()
    .flatten()
}

/// Returns the granted hosts, and those parts of them of which rules speak.
fn hosts(grants: &Grants, rules: &[FlowRule]) -> BTreeSet<HostPattern> {
    let mut hosts: BTreeSet<HostPattern> = grants.net.iter().map(|grant| grant.host.clone()).collect();
    for rule in rules {
        let named =
            rule.from.iter().filter_map(SourcePattern::hosts).chain(rule.to.iter().filter_map(SinkPattern::hosts));
        let parts = named.flat_map(|named| grants.net.iter().filter_map(|grant| grant.host.intersect(named)));
        hosts.extend(parts);
    }
    hosts
}

/// Returns a host that a pattern covers, and that no narrower pattern does.
fn representative(host: &HostPattern) -> String {
    match host {
        HostPattern::Any => "any-host.invalid".to_owned(),
        host => host.to_string(),
    }
}

/// Returns the trusted tools of a server that are granted: no other one is called.
fn server_tools(parts: &Parts, server: &ServerName, grants: &Grants) -> Result<Vec<ServerToolName>, Fault> {
    let Some((_, tools)) = grants.servers.get(server.as_str()) else { return Ok(Vec::new()) };
    let trusted = parts.require_store()?.trusted_definitions().trusted(server)?;
    let names = trusted.iter().filter_map(|tool| ServerToolName::parse(&tool.tool).ok());
    Ok(names.filter(|name| tools.allows(name, false) || tools.allows(name, true)).collect())
}

/// Returns where the data came from that callers, spaces, folders and sources of tools hold, by their names, such as
/// `caller:cli` and `kv:notes`.
pub(crate) fn flow_labels(parts: &Parts) -> Result<BTreeMap<String, Vec<String>>, Fault> {
    let all = parts.require_store()?.labels().all()?;
    Ok(all.into_iter().map(|(holder, sources)| (holder.to_string(), sources)).collect())
}

/// Forgets what something holds.
pub(crate) fn clear_flow_label(parts: &Parts, holder: &str) -> Result<(), Fault> {
    let Some(holder) = LabelHolder::parse(holder) else { return Ok(()) };
    parts.require_store()?.with_audit(AuditEvent::new(Action::ClearContext, parts.now())).clear_label(&holder)
}
