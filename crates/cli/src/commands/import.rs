//! `import`: reads tools from a bundle file, and verifies its signature.

use std::path::Path;

use serde_json::json;
use toolcell::store::{BUNDLE_LIMIT, Fault, OnConflict, PublicKey, Signature};
use toolcell_error::ErrorCode;
use toolcell_i18n::Message;

use super::signature_file::{read_file, read_text, signature_path};
use crate::args::{ImportArgs, SandboxArgs};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input::read_up_to;
use crate::render::progress::with_progress;

pub(crate) fn run(args: &ImportArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    // Reading one byte past the limit detects a bundle that is too large.
    let bytes = if args.file == "-" {
        read_up_to(&mut *context.streams.input, BUNDLE_LIMIT + 1)?
    } else {
        read_file(Path::new(&args.file), BUNDLE_LIMIT + 1)?
    };
    let toolbox = context.open_toolbox(SandboxArgs::config_from_environment()?)?;
    let dir = context.store_dir()?;
    let store =
        toolbox.store().ok_or_else(|| Fault::ReadOnly { path: Message::verbatim(dir.display().to_string()) })?;
    let mut trusted = store.bundles().trusted_keys()?;
    for path in &args.key {
        trusted.push(PublicKey::parse(&read_text(path)?)?);
    }
    let signature = match &args.file {
        file if file != "-" && signature_path(Path::new(file)).exists() => {
            Some(read_text(&signature_path(Path::new(file)))?)
        }
        _ => None,
    };
    if signature.is_none() && args.signed {
        return Err(CliError::Unsigned { path: args.file.clone() });
    }
    let Context { ref mut streams, format, .. } = *context;
    let signer = match signature {
        Some(text) => match Signature::parse(&text)?.verify(&bytes, &trusted) {
            Ok(signer) => Some(signer),
            // No signature was required, and an untrusted one grants nothing.
            Err(error) if error.code() == ErrorCode::SignatureUntrusted && !args.signed => {
                writeln!(streams.errors, "warning: {error}")?;
                None
            }
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    let when_taken = if args.replace { OnConflict::Replace } else { OnConflict::Refuse };
    let imported = with_progress("importing", streams, || toolbox.import(&bytes, when_taken))?;
    if format.is_json() {
        let tools = |tools: &[(toolcell::ToolName, toolcell::ToolId)]| -> Vec<serde_json::Value> {
            tools.iter().map(|(name, id)| json!({"name": name.as_str(), "id": id.to_string()})).collect()
        };
        let text = json!({
            "added": tools(&imported.added), "replaced": tools(&imported.replaced), "unchanged": imported.unchanged,
            "signer": signer.map(|signer| signer.to_string()),
        });
        writeln!(streams.output, "{text}")?;
    } else {
        for (word, tools) in [("added", &imported.added), ("replaced", &imported.replaced)] {
            for (name, id) in tools {
                writeln!(streams.output, "{word} {name} ({})", id.short())?;
            }
        }
        let by = signer
            .map_or_else(|| "not signed by a trusted key".to_owned(), |signer| format!("signed with the key {signer}"));
        let (added, replaced) = (imported.added.len(), imported.replaced.len());
        writeln!(streams.output, "{added} added, {replaced} replaced, {} unchanged; {by}", imported.unchanged)?;
    }
    Ok(Exit::Done)
}
