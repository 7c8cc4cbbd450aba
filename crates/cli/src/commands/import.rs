//! `import`: reads tools from a bundle file, and verifies its signature.

use std::path::Path;

use serde_json::json;
use toolcell::store::{BUNDLE_LIMIT, Fault, OnConflict, PublicKey, Signature};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Localize as _, Message, message, tr};

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
    let Context { ref mut streams, format, lang, .. } = *context;
    let signer = match signature {
        Some(text) => match Signature::parse(&text)?.verify(&bytes, &trusted) {
            Ok(signer) => Some(signer),
            // No signature was required, and an untrusted one grants nothing.
            Err(error) if error.code() == ErrorCode::SignatureUntrusted && !args.signed => {
                streams.print_warning(&error.localize(), lang)?;
                None
            }
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    let when_taken = if args.replace { OnConflict::Replace } else { OnConflict::Refuse };
    let imported = with_progress(tr!(lang, "importing"), streams, || toolbox.import(&bytes, when_taken))?;
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
        for (name, id) in &imported.added {
            writeln!(streams.output, "{}", tr!(lang, "added {name} ({id})", name, id = id.short()))?;
        }
        for (name, id) in &imported.replaced {
            writeln!(streams.output, "{}", tr!(lang, "replaced {name} ({id})", name, id = id.short()))?;
        }
        let signed = match signer {
            Some(signer) => message!("signed with the key {signer}", signer),
            None => message!("not signed by a trusted key"),
        };
        let (added, replaced) = (imported.added.len(), imported.replaced.len());
        let unchanged = imported.unchanged;
        let text = tr!(
            lang,
            "{added} added, {replaced} replaced, {unchanged} unchanged; {signed}",
            added,
            replaced,
            unchanged,
            signed
        );
        writeln!(streams.output, "{text}")?;
    }
    Ok(Exit::Done)
}
