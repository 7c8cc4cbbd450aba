//! `node migrate`: moves the library of a principal between a store of its own and the nodes.

use serde_json::json;
use toolcell::store::{Fault, Migrated, Settings, Store};
use toolcell::{copy_to_library, now, take_from_library};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, message, msgid, tr};
use toolcell_mcp::Principal;

use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::library::NodeLibrary;
use crate::render::progress::with_progress;

/// Copies the store in the directory to the library of a principal.
pub(crate) fn up(library: &NodeLibrary, principal: &str, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let replication = library.replication(&parse(principal)?).map_err(Fault::from)?;
    let store = Store::open_existing(context.store_dir()?, &Settings::default())?;
    let Context { ref mut streams, lang, .. } = *context;
    let migrated = with_progress(tr!(lang, "copying"), streams, || copy_to_library(&store, &replication, now()))?;
    print(&migrated, context)?;
    let text = message!("use the nodes from now on: the store can only be read, and has its records and its audit log");
    print_note(&text, context)
}

/// Takes the library of a principal to a store of its own in the directory.
pub(crate) fn down(library: &NodeLibrary, principal: &str, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let replication = library.replication(&parse(principal)?).map_err(Fault::from)?;
    let dir = context.store_dir()?;
    let known = if dir.join("index.sqlite").exists() {
        Store::open_existing(dir, &Settings::default())?.library().map(Some)
    } else {
        Some(None)
    };
    if known.is_none_or(|known| known.is_some_and(|known| known != replication.library)) {
        return Err(CliError::usage(
            message!(
                "{path} is a store, and not a copy of the library of `{principal}`",
                path = dir.display().to_string(),
                principal
            ),
            msgid!("give an empty directory, or the one of the principal on a node that was stopped"),
        ));
    }
    let store = Store::open(dir, &Settings { replication: Some(replication), ..Settings::default() })?;
    let Context { ref mut streams, lang, .. } = *context;
    let migrated = with_progress(tr!(lang, "copying"), streams, || take_from_library(store, now()))?;
    print(&migrated, context)?;
    let text = message!("the library has ended on the nodes: remove `{principal}` from their tokens", principal);
    print_note(&text, context)
}

fn parse(principal: &str) -> Result<Principal, CliError> {
    Principal::parse(principal).map_err(|error| {
        CliError::coded(
            ErrorCode::RequestInvalid,
            error.localize(),
            msgid!("give the name that the tokens of the nodes have"),
        )
    })
}

fn print(migrated: &Migrated, context: &mut Context<'_>) -> Result<(), CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    let Migrated { entries, known, tools, suspended } = *migrated;
    if format.is_json() {
        let text = json!({ "tools": tools, "suspended": suspended, "changes": entries, "knownBefore": known });
        writeln!(streams.output, "{text}")?;
    } else {
        let text = tr!(
            lang,
            "moved {tools} tools and {suspended} suspended runs, as {entries} changes",
            tools,
            suspended,
            entries
        );
        writeln!(streams.output, "{text}")?;
        if known > 0 {
            streams.print_note(&message!("{known} changes were there already", known), lang)?;
        }
    }
    Ok(())
}

fn print_note(text: &toolcell_i18n::Message, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, .. } = *context;
    if !format.is_json() {
        streams.print_note(text, lang)?;
    }
    Ok(Exit::Done)
}
