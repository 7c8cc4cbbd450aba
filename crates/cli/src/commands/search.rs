//! `search`: finds tools by name, tags, description and parameters.

use serde_json::{Value, json};
use toolcell::{Hit, Lang, Toolbox};
use toolcell_i18n::tr;

use crate::args::{SandboxArgs, SearchArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::render::table::{Column, Fit, Overflow, Table};
use crate::render::tools::{entry_to_json, print_no_tools, status_text};

pub(crate) fn run(args: &SearchArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let dir = context.store_dir()?.to_owned();
    let mut found = Vec::new();
    if dir.exists() {
        let toolbox = context.open_existing_toolbox(SandboxArgs::single_call_config())?;
        for hit in toolbox.search(&args.words.join(" "), args.limit)? {
            found.push(FoundTool::from_hit(hit, &toolbox)?);
        }
    }
    let Context { ref mut streams, format, lang, .. } = *context;
    if format.is_json() {
        let tools: Vec<Value> = found.iter().map(FoundTool::to_json).collect();
        writeln!(streams.output, "{}", json!({ "tools": tools }))?;
    } else if found.is_empty() {
        print_no_tools(&dir, lang, streams)?;
    } else {
        let mut table = Table::new(columns(lang));
        for FoundTool { hit: Hit { entry, coverage: covered, .. }, successor } in &found {
            let covered = format!("{:.0}%", covered * 100.0);
            let status = status_text(entry, successor.as_ref(), lang);
            table.add_row([entry.name.to_string(), entry.id.short(), covered, status, entry.description.clone()]);
        }
        table.print(Overflow::Truncate, "toolcell search --json", lang, streams)?;
    }
    Ok(Exit::Done)
}

/// A search hit with the tool's successor.
struct FoundTool {
    hit: Hit,
    successor: Option<toolcell::ToolName>,
}

impl FoundTool {
    fn from_hit(hit: Hit, toolbox: &Toolbox) -> Result<Self, CliError> {
        let successor = toolbox.replacement_for(&hit.entry)?.map(|successor| successor.name);
        Ok(Self { hit, successor })
    }

    fn to_json(&self) -> Value {
        let mut fields = entry_to_json(&self.hit.entry, self.successor.as_ref());
        if let Value::Object(fields) = &mut fields {
            fields.insert("score".to_owned(), self.hit.score.into());
            fields.insert("covered".to_owned(), self.hit.coverage.into());
        }
        fields
    }
}

fn columns(lang: Lang) -> Vec<Column> {
    let titles = [
        tr!(lang, "column" => "name"),
        tr!(lang, "column" => "id"),
        tr!(lang, "column" => "covered"),
        tr!(lang, "column" => "status"),
        tr!(lang, "column" => "description"),
    ];
    let fits = [(Fit::Text(12), 0), (Fit::Whole, 0), (Fit::Number, 2), (Fit::Whole, 1), (Fit::Text(24), 0)];
    titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, drop_order: spare }).collect()
}
