//! `export`: writes tools to a bundle file.

use std::path::Path;

use serde_json::json;
use toolcell::store::{HistoryScope, SecretKey, Settings, Store, ToolRef};
use toolcell::{ExportSelection, export, now};
use toolcell_i18n::tr;

use super::signature_file::{read_text, signature_path};
use crate::args::ExportArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::fs::replace_file;
use crate::render::progress::with_progress;

pub(crate) fn run(args: &ExportArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let store = Store::open_existing(context.store_dir()?, &Settings::default())?;
    let references: Vec<ToolRef> = args.tools.iter().map(|text| ToolRef::parse(text)).collect::<Result<_, _>>()?;
    let what = if references.is_empty() { ExportSelection::All } else { ExportSelection::Only(&references) };
    let history = if args.history { HistoryScope::All } else { HistoryScope::Latest };
    let key = args.sign.as_deref().map(read_secret_key).transpose()?;
    let Context { ref mut streams, format, lang, .. } = *context;
    let Some(path) = &args.output else {
        export(&store, what, history, streams.output, now())?;
        return Ok(Exit::Done);
    };
    let mut bundle = Vec::new();
    let count = with_progress(tr!(lang, "exporting"), streams, || export(&store, what, history, &mut bundle, now()))?;
    let signature = key.map(|key| key.sign(&bundle)).transpose()?;
    replace_file(path, &bundle)?;
    if let Some(signature) = &signature {
        replace_file(&signature_path(path), signature.to_string().as_bytes())?;
    }
    if format.is_json() {
        let text = json!({"tools": count, "bytes": bundle.len(), "file": path.display().to_string(), "signed": signature.is_some()});
        writeln!(streams.output, "{text}")?;
    } else {
        let path = path.display();
        let text = match (count, signature) {
            (1, Some(_)) => tr!(lang, "1 tool in {path}, signed", path),
            (1, None) => tr!(lang, "1 tool in {path}", path),
            (_, Some(_)) => tr!(lang, "{count} tools in {path}, signed", count, path),
            (_, None) => tr!(lang, "{count} tools in {path}", count, path),
        };
        writeln!(streams.output, "{text}")?;
    }
    Ok(Exit::Done)
}

fn read_secret_key(path: &Path) -> Result<SecretKey, CliError> {
    let password = std::env::var("TOOLCELL_KEY_PASSWORD").ok();
    Ok(SecretKey::parse(&read_text(path)?, password)?)
}
