//! `search`: the tools that are about what somebody says.

use std::path::Path;

use serde_json::{Value, json};
use toolcell::{Hit, Lang, Toolbox};

use crate::args::{SandboxArgs, SearchArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::list::{entry, say_that_there_is_none, status};
use crate::rules::Rules;
use crate::table::{Column, Fit, Table, TooLong};
use crate::{Streams, open};

pub(crate) fn run(
    args: &SearchArgs,
    rules: &Rules,
    dir: &Path,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let mut found = Vec::new();
    if dir.exists() {
        let toolbox = open::existing(dir, SandboxArgs::one_call(), rules)?;
        for hit in toolbox.search(&args.words.join(" "), args.limit)? {
            found.push(Shown::of(hit, &toolbox)?);
        }
    }
    if json {
        let tools: Vec<Value> = found.iter().map(Shown::to_json).collect();
        writeln!(streams.output, "{}", json!({ "tools": tools }))?;
    } else if found.is_empty() {
        say_that_there_is_none(dir, streams)?;
    } else {
        let mut table = Table::new(columns(lang));
        for Shown { hit: Hit { entry, covered, .. }, successor } in &found {
            let covered = format!("{:.0}%", covered * 100.0);
            let status = status(entry, successor.as_ref());
            table.row([entry.name.to_string(), entry.id.short(), covered, status, entry.description.clone()]);
        }
        table.print(TooLong::Cut, "toolcell search --json", streams)?;
    }
    Ok(Exit::Done)
}

/// A hit, with what is to be used in its place.
struct Shown {
    hit: Hit,
    successor: Option<toolcell::ToolName>,
}

impl Shown {
    fn of(hit: Hit, toolbox: &Toolbox) -> Result<Self, Failure> {
        let successor = toolbox.in_place_of(&hit.entry)?.map(|successor| successor.name);
        Ok(Self { hit, successor })
    }

    fn to_json(&self) -> Value {
        let mut fields = entry(&self.hit.entry, self.successor.as_ref());
        if let Value::Object(fields) = &mut fields {
            fields.insert("score".to_owned(), self.hit.score.into());
            fields.insert("covered".to_owned(), self.hit.covered.into());
        }
        fields
    }
}

fn columns(lang: Lang) -> Vec<Column> {
    let titles = match lang {
        Lang::En => ["name", "id", "covered", "status", "description"],
        Lang::Ja => ["名前", "ID", "一致度", "検証状態", "説明"],
        Lang::Zh => ["名称", "ID", "匹配度", "状态", "描述"],
    };
    let fits = [(Fit::Text(12), 0), (Fit::Whole, 0), (Fit::Number, 2), (Fit::Whole, 1), (Fit::Text(24), 0)];
    titles.into_iter().zip(fits).map(|(title, (fit, spare))| Column { title, fit, spare }).collect()
}
