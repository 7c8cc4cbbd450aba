//! `export` and `import`: takes tools elsewhere, and takes them in.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;
use toolcell::store::{
    self, BUNDLE_LIMIT, History, PublicKey, SecretKey, Settings, Signature, Store, ToolRef, WhenTaken,
};
use toolcell::{Bundle, export, now};

use crate::Streams;
use crate::args::{ExportArgs, ImportArgs, SandboxArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::read;
use crate::open;
use crate::output::{replaceable, unwritable};
use crate::progress::during;
use crate::rules::Rules;

/// The largest file of a key or a signature.
const KEY_LIMIT: u64 = 4096;

pub(crate) fn export_tools(
    args: &ExportArgs,
    dir: &Path,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    let store = Store::open_existing(dir, &Settings::default())?;
    let references: Vec<ToolRef> = args.tools.iter().map(|text| ToolRef::parse(text)).collect::<Result<_, _>>()?;
    let what = if references.is_empty() { Bundle::All } else { Bundle::Of(&references) };
    let history = if args.history { History::All } else { History::Last };
    let key = args.sign.as_deref().map(secret_key).transpose()?;
    let Some(path) = &args.output else {
        export(&store, what, history, streams.output, now())?;
        return Ok(Exit::Done);
    };
    let mut bundle = Vec::new();
    let count = during("exporting", streams, || export(&store, what, history, &mut bundle, now()))?;
    let signature = key.map(|key| key.sign(&bundle)).transpose()?;
    replace(path, &bundle)?;
    if let Some(signature) = &signature {
        replace(&beside(path), signature.to_string().as_bytes())?;
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
    rules: &Rules,
    dir: &Path,
    json: bool,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    // One byte more than allowed tells a bundle that is too large.
    let bytes = if args.file == "-" {
        read(&mut *streams.input, BUNDLE_LIMIT + 1)?
    } else {
        file(Path::new(&args.file), BUNDLE_LIMIT + 1)?
    };
    let toolbox = open::toolbox(dir, SandboxArgs::one_call(), rules)?;
    let store = toolbox.store().ok_or_else(|| store::Fault::ReadOnly { path: dir.display().to_string() })?;
    let mut trusted = store.trusted_keys()?;
    for path in &args.key {
        trusted.push(PublicKey::parse(&text(path)?)?);
    }
    let signature = match &args.file {
        file if file != "-" && beside(Path::new(file)).exists() => Some(text(&beside(Path::new(file)))?),
        _ => None,
    };
    if signature.is_none() && args.signed {
        return Err(Failure::NotSigned { path: args.file.clone() });
    }
    let signer = match signature {
        Some(text) => match Signature::parse(&text)?.signer(&bytes, &trusted) {
            Ok(signer) => Some(signer),
            // Nobody asked for a signature, and nothing is believed because of one.
            Err(error) if error.code() == "signature-untrusted" && !args.signed => {
                writeln!(streams.errors, "warning: {error}")?;
                None
            }
            Err(error) => return Err(error.into()),
        },
        None => None,
    };
    let when_taken = if args.replace { WhenTaken::Replace } else { WhenTaken::Refuse };
    let imported = during("importing", streams, || toolbox.import(&bytes, when_taken))?;
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
            .map_or_else(|| "nobody vouches for them".to_owned(), |signer| format!("signed with the key {signer}"));
        let (added, replaced) = (imported.added.len(), imported.replaced.len());
        writeln!(streams.output, "{added} added, {replaced} replaced, {} unchanged; {by}", imported.unchanged)?;
    }
    Ok(Exit::Done)
}

/// Where the signature of a bundle is.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".minisig");
    PathBuf::from(name)
}

fn secret_key(path: &Path) -> Result<SecretKey, Failure> {
    let password = std::env::var("TOOLCELL_KEY_PASSWORD").ok();
    Ok(SecretKey::parse(&text(path)?, password)?)
}

fn file(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    File::open(path).and_then(|file| read(file, most)).map_err(failed(path))
}

fn text(path: &Path) -> Result<String, Failure> {
    let bytes = file(path, KEY_LIMIT)?;
    String::from_utf8(bytes).map_err(|error| failed(path)(std::io::Error::other(error)))
}

/// Writes a file whole, or leaves what was there.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replaceable(path)?;
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = File::create(&part)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        // What could not be finished is of no use to anybody.
        let _ = fs::remove_file(&part);
        unwritable(path)(error)
    })
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Failure {
    let path = path.display().to_string();
    move |error| Failure::File { path: path.clone(), error }
}
