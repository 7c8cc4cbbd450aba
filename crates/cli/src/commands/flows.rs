//! `flows`: the flow rules, what they allow a tool, and the sources that callers have received.
//!
//! Invariant: the context of a caller is cleared only when a person asks for it.

use serde_json::{Value, json};
use toolcell::policy::Setting;
use toolcell::{FlowExplanation, Lang, Toolbox, single_line};
use toolcell_i18n::{message, tr};

use crate::args::{FlowsArgs, FlowsCommand, SandboxArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::prompt;
use crate::render::table::{Column, Fit, Overflow, Table};

pub(crate) fn run(args: &FlowsArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let toolbox = context.open_toolbox(SandboxArgs::single_call_config())?;
    match args.command.as_ref().unwrap_or(&FlowsCommand::List) {
        FlowsCommand::List => list(&toolbox, context),
        FlowsCommand::Explain { tool } => explain(&toolbox.explain_flows(tool)?, context),
        FlowsCommand::Clear { holder, yes, .. } => clear(&toolbox, holder.as_deref(), *yes, context),
    }
}

fn list(toolbox: &Toolbox, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let (flows, told) = (toolbox.policy().flows(), toolbox.flow_labels()?);
    let rules: Vec<Setting> = toolbox.policy().settings();
    let is_of_flows = |setting: &&Setting| setting.key.starts_with("flows[") || setting.key.starts_with("declassify[");
    let rules: Vec<&Setting> = rules.iter().filter(is_of_flows).collect();
    if format.is_json() {
        let rules: Vec<Value> = flows
            .rules()
            .as_slice()
            .iter()
            .enumerate()
            .map(|(index, rule)| {
                let texts = |patterns: &mut dyn Iterator<Item = String>| patterns.collect::<Vec<_>>();
                json!({
                    "rule": format!("flows[{index}]"),
                    "action": rule.action.name(),
                    "from": texts(&mut rule.from.iter().map(ToString::to_string)),
                    "to": texts(&mut rule.to.iter().map(ToString::to_string)),
                    "except": rule.except.iter().map(|pair| json!({ "from": pair.from.to_string(), "to": pair.to.to_string() })).collect::<Vec<_>>(),
                    "origin": flows.origin(index).to_string(),
                })
            })
            .collect();
        let declassify: Vec<Value> = flows
            .declassifications()
            .iter()
            .map(|rule| {
                let from: Vec<String> = rule.from.iter().map(ToString::to_string).collect();
                json!({ "tool": rule.tool(), "from": from, "bits": rule.bits, "origin": rule.origin.to_string() })
            })
            .collect();
        writeln!(streams.output, "{}", json!({ "rules": rules, "declassify": declassify, "told": told }))?;
        return Ok(Exit::Done);
    }
    if rules.is_empty() {
        streams.print_note(&message!("the policy has no rule about flows of data"), lang)?;
        streams.print_hint(&message!("add `[[flows]]` to a policy file; see `toolcell init`"), lang)?;
    } else {
        for rule in rules {
            writeln!(streams.output, "{} = {}  # {}", rule.key, single_line(&rule.value), rule.origin)?;
        }
    }
    for (holder, sources) in told {
        writeln!(streams.output, "{}", held_line(&holder, &sources, lang))?;
    }
    Ok(Exit::Done)
}

fn explain(flows: &FlowExplanation, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let json = serde_json::to_value(flows).unwrap_or_default();
        writeln!(streams.output, "{json}")?;
        return Ok(Exit::Done);
    }
    let none = || tr!(lang, "nothing").to_owned();
    let list = |texts: &[String]| if texts.is_empty() { none() } else { texts.join(", ") };
    let (name, id) = (&flows.name, flows.tool.short());
    writeln!(streams.output, "{name} ({id})")?;
    writeln!(streams.output, "{}", tr!(lang, "may be handed data from: {sources}", sources = list(&flows.sources)))?;
    writeln!(streams.output, "{}", tr!(lang, "may lead to: {sinks}", sinks = list(&flows.sinks)))?;
    if flows.held.is_empty() {
        writeln!(streams.output, "{}", tr!(lang, "no rule asks about or refuses any of that"))?;
    } else {
        let titles = [
            tr!(lang, "column" => "action"),
            tr!(lang, "column" => "data from"),
            tr!(lang, "column" => "leads to"),
            tr!(lang, "column" => "rule"),
        ];
        let fits = [Fit::Whole, Fit::Text(16), Fit::Text(16), Fit::Text(16)];
        let columns = titles.into_iter().zip(fits).map(|(title, fit)| Column { title, fit, drop_order: 0 });
        let mut table = Table::new(columns.collect());
        for flow in &flows.held {
            let rule = format!("{} ({})", flow.rule, flow.origin);
            table.add_row([flow.action.to_owned(), flow.from.clone(), flow.to.clone(), rule]);
        }
        table.print(Overflow::Truncate, "toolcell flows explain --json", lang, streams)?;
    }
    for rule in &flows.declassifies {
        let (from, bits) = (list(&rule.from), rule.bits);
        let said = match (rule.bits_per_result, rule.is_approved) {
            (None, _) => {
                tr!(lang, "its result keeps {from}: `returns` has to have few values, such as `boolean`", from)
            }
            (Some(_), false) => tr!(lang, "its result keeps {from}: a person has to approve the tool", from),
            (Some(each), true) if each > bits => {
                tr!(
                    lang,
                    "its result keeps {from}: it carries {each} bits, and the rule allows {bits}",
                    from,
                    each,
                    bits
                )
            }
            (Some(each), true) => {
                tr!(lang, "its result loses {from}: {each} bits each, at most {bits} in a run", from, each, bits)
            }
        };
        writeln!(streams.output, "{said}")?;
    }
    Ok(Exit::Done)
}

/// Returns what something holds, as one line.
fn held_line(holder: &str, sources: &[String], lang: Lang) -> String {
    let (holder, sources) = (single_line(holder), single_line(&sources.join(", ")));
    if let Some(caller) = holder.strip_prefix("caller:") {
        return tr!(lang, "`{caller}` was told: {sources}", caller, sources);
    }
    tr!(lang, "`{holder}` holds: {sources}", holder, sources)
}

fn clear(toolbox: &Toolbox, holder: Option<&str>, yes: bool, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let mut told = toolbox.flow_labels()?;
    let is_named = |known: &str| {
        holder.is_none_or(|holder| known == holder || known.strip_prefix("caller:").is_some_and(|name| name == holder))
    };
    told.retain(|known, _| is_named(known));
    if !yes && !told.is_empty() {
        if !streams.is_interactive() {
            let message = message!("there is no terminal to ask whether they are to be trusted again");
            let hint = message!("read what they hold with `toolcell flows`, then pass --yes");
            return Err(CliError::usage(message, hint));
        }
        let lines: Vec<String> = told.iter().map(|(holder, sources)| held_line(holder, sources, lang)).collect();
        if !prompt::confirm(&lines, tr!(lang, "Forget that?"), lang)? {
            streams.print_note(&message!("nothing was forgotten"), lang)?;
            return Ok(Exit::Refused);
        }
    }
    for holder in told.keys() {
        toolbox.clear_flow_label(holder)?;
    }
    if format.is_json() {
        writeln!(streams.output, "{}", json!({ "cleared": told.keys().collect::<Vec<_>>() }))?;
    } else if told.is_empty() {
        streams.print_note(&message!("there is nothing to clear: `toolcell flows` shows what has sources"), lang)?;
    } else {
        let holders = told.keys().map(|holder| format!("`{}`", single_line(holder))).collect::<Vec<_>>().join(", ");
        writeln!(streams.output, "{}", tr!(lang, "forgotten: {holders}", holders))?;
    }
    Ok(Exit::Done)
}
