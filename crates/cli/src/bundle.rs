//! `export` and `import`: writes tools to a bundle file, and reads them from one.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use toolcell::store::{
    self, BUNDLE_LIMIT, HistoryScope, OnConflict, PublicKey, SecretKey, Settings, Signature, Store, ToolRef,
};
use toolcell::{ExportSelection, export, now};

use crate::Streams;
use crate::args::{ExportArgs, ImportArgs, SandboxArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::fs::{check_replaceable, write_error};
use crate::input::read_up_to;
use crate::policy_files::PolicyFiles;
use crate::progress::with_progress;
use crate::toolbox;

/// Maximum size of a key file or signature file, in bytes.
const MAX_KEY_BYTES: u64 = 4096;

pub(crate) fn export_tools(
    args: &ExportArgs,
    dir: &Path,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    let store = Store::open_existing(dir, &Settings::default())?;
    let references: Vec<ToolRef> = args.tools.iter().map(|text| ToolRef::parse(text)).collect::<Result<_, _>>()?;
    let what = if references.is_empty() { ExportSelection::All } else { ExportSelection::Only(&references) };
    let history = if args.history { HistoryScope::All } else { HistoryScope::Latest };
    let key = args.sign.as_deref().map(read_secret_key).transpose()?;
    let Some(path) = &args.output else {
        export(&store, what, history, streams.output, now())?;
        return Ok(Exit::Done);
    };
    let mut bundle = Vec::new();
    let count = with_progress("exporting", streams, || export(&store, what, history, &mut bundle, now()))?;
    let signature = key.map(|key| key.sign(&bundle)).transpose()?;
    replace_file(path, &bundle)?;
    if let Some(signature) = &signature {
        replace_file(&signature_path(path), signature.to_string().as_bytes())?;
    }
    if json {
        let text = json!({"tools": count, "bytes": bundle.len(), "file": path.display().to_string(), "signed": signature.is_some()});
        writeln!(streams.output, "{text}")?;
    } else {
        let signed = if signature.is_some() { ", signed" } else { "" };
        writeln!(streams.output, "{count} tools in {}{signed}", path.display())?;
    }
    Ok(Exit::Done)
}

pub(crate) fn import_tools(
    args: &ImportArgs,
    rules: &PolicyFiles,
    dir: &Path,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, CliError> {
    // Reading one byte past the limit detects a bundle that is too large.
    let bytes = if args.file == "-" {
        read_up_to(&mut *streams.input, BUNDLE_LIMIT + 1)?
    } else {
        read_file(Path::new(&args.file), BUNDLE_LIMIT + 1)?
    };
    let toolbox = toolbox::open(dir, SandboxArgs::config_from_environment()?, rules)?;
    let store = toolbox.store().ok_or_else(|| store::Fault::ReadOnly { path: dir.display().to_string() })?;
    let mut trusted = store.trusted_keys()?;
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
    let signer = match signature {
        Some(text) => match Signature::parse(&text)?.verify(&bytes, &trusted) {
            Ok(signer) => Some(signer),
            // No signature was required, and an untrusted one grants nothing.
            Err(error) if error.code() == "signature-untrusted" && !args.signed => {
                writeln!(streams.errors, "warning: {error}")?;
                None
            }
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    let when_taken = if args.replace { OnConflict::Replace } else { OnConflict::Refuse };
    let imported = with_progress("importing", streams, || toolbox.import(&bytes, when_taken))?;
    if json {
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

/// Returns the path of a bundle's signature file.
fn signature_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".minisig");
    PathBuf::from(name)
}

fn read_secret_key(path: &Path) -> Result<SecretKey, CliError> {
    let password = std::env::var("TOOLCELL_KEY_PASSWORD").ok();
    Ok(SecretKey::parse(&read_text(path)?, password)?)
}

fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, CliError> {
    File::open(path).and_then(|file| read_up_to(file, most)).map_err(file_error(path))
}

fn read_text(path: &Path) -> Result<String, CliError> {
    let bytes = read_file(path, MAX_KEY_BYTES)?;
    String::from_utf8(bytes).map_err(|error| file_error(path)(std::io::Error::other(error)))
}

/// Replaces a file atomically, or leaves the old one.
fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    check_replaceable(path)?;
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = File::create(&part)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        // An unfinished file is of no use.
        let _ = fs::remove_file(&part);
        write_error(path)(error)
    })
}

fn file_error(path: &Path) -> impl Fn(std::io::Error) -> CliError {
    let path = path.display().to_string();
    move |error| CliError::File { path: path.clone(), error }
}
