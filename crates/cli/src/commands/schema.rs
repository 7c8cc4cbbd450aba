//! `schema`: prints the JSON Schema of what a command prints with `--json`.
//!
//! Invariant: the schemas are generated from what the commands print; a test compares the two.

use std::collections::BTreeMap;

use serde_json::Value;
use toolcell_i18n::message;

use crate::args::SchemaArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;

/// A JSON Schema for each command, and `error` for a command that could not do its work.
const SCHEMAS: &str = include_str!("schema/answers.json");

pub(crate) fn run(args: &SchemaArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let schemas: BTreeMap<&str, Value> = serde_json::from_str(SCHEMAS).map_err(std::io::Error::from)?;
    let output = &mut context.streams.output;
    if args.command.is_empty() {
        if context.format.is_json() {
            writeln!(output, "{}", SCHEMAS.trim_end())?;
        } else {
            for name in schemas.keys() {
                writeln!(output, "{name}")?;
            }
        }
        return Ok(Exit::Done);
    }
    let name = args.command.join(" ");
    let Some(schema) = schemas.get(name.as_str()) else {
        let known: Vec<&str> = schemas.keys().copied().collect();
        return Err(CliError::usage(
            message!("there is no schema `{name}`", name),
            message!("the schemas are {names}", names = known.join(", ")),
        ));
    };
    writeln!(output, "{}", serde_json::to_string_pretty(schema).map_err(std::io::Error::from)?)?;
    Ok(Exit::Done)
}
