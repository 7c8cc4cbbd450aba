//! `node status`: shows the nodes of a shared library.

use std::time::Duration;

use serde_json::{Value, json};
use toolcell_i18n::{Lang, Localize as _, message, tr};

use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::library::NodeLibrary;
use crate::node_report::{KnownNode, NodeState};
use crate::render::table::{Column, Fit, Overflow, Table};

/// How many characters of an identifier or a hash are shown.
const SHORT_CHARS: usize = 8;

pub(crate) fn run(library: &NodeLibrary, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let nodes = library.nodes().map_err(|error| CliError::coded(error.code(), error.localize(), error.hint()))?;
    let difference = find_difference(&nodes);
    let are_well = nodes.iter().all(is_well) && difference.is_none();
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let nodes: Vec<Value> = nodes.iter().map(node_to_json).collect();
        writeln!(streams.output, "{}", json!({ "nodes": nodes }))?;
    } else if nodes.is_empty() {
        streams.print_note(&message!("no node has told of itself during the last day"), lang)?;
    } else {
        let mut table = Table::new(columns(lang));
        for node in &nodes {
            table.add_row(cells(node, lang));
        }
        table.print(Overflow::Truncate, "toolcell node status --json", lang, streams)?;
        if let Some(what) = difference {
            let text = match what {
                "version" => message!("the nodes have several versions of Toolcell"),
                "guest" => {
                    message!(
                        "the nodes have several guests: a suspended run can be resumed only on a node with its guest"
                    )
                }
                _ => {
                    message!("the nodes have several policies: the same call may be refused on one and not on another")
                }
            };
            streams.print_warning(&text, lang)?;
        }
    }
    Ok(if are_well { Exit::Done } else { Exit::ToolFailed })
}

/// Whether a node does what it should.
fn is_well(node: &KnownNode) -> bool {
    let state = node.report.as_ref().map(|report| report.state);
    !node.is_silent() && matches!(state, Some(NodeState::Ready | NodeState::Draining))
}

/// The first thing in which two nodes that are not silent differ.
fn find_difference(nodes: &[KnownNode]) -> Option<&'static str> {
    let active = nodes.iter().filter(|node| !node.is_silent());
    let mut setups = active.filter_map(|node| node.report.as_ref()).map(|report| &report.setup);
    let first = setups.next()?;
    setups.find_map(|other| first.difference(other))
}

/// The name of what a node does.
fn state_name(node: &KnownNode) -> &'static str {
    match &node.report {
        _ if node.is_silent() => "silent",
        None => "unknown",
        Some(report) => match report.state {
            NodeState::Ready => "ready",
            NodeState::Behind => "behind",
            NodeState::Draining => "draining",
        },
    }
}

fn cells(known: &KnownNode, lang: Lang) -> [String; 9] {
    let (seen, state) = (format_age(known.age), state_name(known).to_owned());
    let Some(report) = &known.report else {
        let not_ours = tr!(lang, "(made with another secret, or by another version)").to_owned();
        let dash = || "-".to_owned();
        return [not_ours, dash(), state, seen, dash(), dash(), dash(), dash(), short(&known.node)];
    };
    let view = report.view_ms.map_or_else(|| "-".to_owned(), |ms| format_age(Duration::from_millis(ms)));
    let (version, guest, policy) = (&report.setup.version, short(&report.setup.guest), short(&report.setup.policy));
    let (host, address) = (report.host.clone(), report.address.clone());
    [host, address, state, seen, view, version.clone(), guest, policy, short(&known.node)]
}

fn node_to_json(known: &KnownNode) -> Value {
    let age = u64::try_from(known.age.as_millis()).unwrap_or(u64::MAX);
    let mut fields = json!({ "node": known.node, "state": state_name(known), "seenMs": age });
    if let (Some(report), Some(fields)) = (&known.report, fields.as_object_mut()) {
        let (setup, started) = (&report.setup, report.started.to_string());
        let more = [
            ("host", report.host.clone().into()),
            ("address", report.address.clone().into()),
            ("startedAt", started.into()),
            ("viewMs", report.view_ms.into()),
            ("libraries", report.libraries.into()),
            ("version", setup.version.clone().into()),
            ("guest", setup.guest.clone().into()),
            ("policy", setup.policy.clone().into()),
        ];
        fields.extend(more.map(|(name, value): (_, Value)| (name.to_owned(), value)));
    }
    fields
}

fn short(text: &str) -> String {
    text.chars().take(SHORT_CHARS).collect()
}

/// Formats an age in the largest unit that fits.
fn format_age(age: Duration) -> String {
    match age.as_secs() {
        0 => format!("{}ms", age.as_millis()),
        seconds @ 1..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m", seconds / 60),
        seconds => format!("{}h", seconds / 3_600),
    }
}

fn columns(lang: Lang) -> Vec<Column> {
    let titles = [
        tr!(lang, "column" => "host"),
        tr!(lang, "column" => "address"),
        tr!(lang, "column" => "state"),
        tr!(lang, "column" => "seen"),
        tr!(lang, "column" => "view"),
        tr!(lang, "column" => "version"),
        tr!(lang, "column" => "guest"),
        tr!(lang, "column" => "policy"),
        tr!(lang, "column" => "node"),
    ];
    let fits = [
        (Fit::Text(8), 0),
        (Fit::Whole, 0),
        (Fit::Whole, 0),
        (Fit::Number, 0),
        (Fit::Number, 5),
        (Fit::Whole, 4),
        (Fit::Whole, 3),
        (Fit::Whole, 2),
        (Fit::Whole, 1),
    ];
    titles.into_iter().zip(fits).map(|(title, (fit, drop_order))| Column { title, fit, drop_order }).collect()
}
