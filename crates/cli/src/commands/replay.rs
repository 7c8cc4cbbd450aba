//! `replay`: re-executes a run from its receipt and compares.
//!
//! Invariant: the store is read only for its key, and the policy is ignored: a receipt replays the
//! same everywhere.

use std::path::Path;

use serde_json::json;
use toolcell::store::{Settings, Store};
use toolcell::{Lang, Outcome, Receipt, ReceiptKey, ReplayOptions, ReplayResult, Stop, Toolbox, VersionPolicy};
use toolcell_i18n::{Message, message};

use crate::args::ReplayArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::streams::Streams;

/// Maximum size of a receipt, in bytes.
const MAX_RECEIPT_BYTES: u64 = 256 << 20;

pub(crate) fn run(args: &ReplayArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let word = if args.file == "-" { "-".to_owned() } else { format!("@{}", args.file) };
    let receipt = Receipt::parse(&input::read_text_argument(&word, MAX_RECEIPT_BYTES, &mut context.streams)?)?;
    let toolbox = Toolbox::new(&args.sandbox.config()?)?;
    let other_version = if args.anyway { VersionPolicy::Note } else { VersionPolicy::Refuse };
    let options = ReplayOptions { version_policy: other_version, cancel: Some(context.cancel.clone()) };
    let replayed = toolbox.replay(&receipt, &options)?;
    if matches!(replayed.outcome, Outcome::Stopped(Stop::Cancelled)) {
        return Err(CliError::Interrupted);
    }
    let signer = receipt.signer();
    let store_key = store_key(context.optional_store_dir());
    let Context { ref mut streams, format, lang, .. } = *context;
    let mut notes: Vec<Message> = replayed.notes.clone();
    if store_key.as_ref() != Some(signer) {
        notes.push(message!("signed by {key}, which is not this store's key", key = signer));
    }
    if format.is_json() {
        print_json(&receipt, &replayed, &notes, streams)?;
    } else {
        print(signer, &replayed, &notes, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(if replayed.is_reproduced() { Exit::Done } else { Exit::ToolFailed })
}

/// Returns the key of the local store, if there is one.
fn store_key(dir: Option<&Path>) -> Option<ReceiptKey> {
    let store = Store::open_existing(dir?, &Settings::default()).ok()?;
    ReceiptKey::from_store(&store).ok()
}

fn print_json(
    receipt: &Receipt,
    replayed: &ReplayResult,
    notes: &[Message],
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let ReplayResult { outcome, fuel, load_fuel, differences, .. } = replayed;
    let (outcome, value) = match outcome {
        Outcome::Returned(value) => ("returned", value.as_ref().map(ToString::to_string)),
        Outcome::Threw(_) => ("threw", None),
        Outcome::Stopped(_) => ("stopped", None),
    };
    let text = json!({
        "reproduced": replayed.is_reproduced(), "tool": receipt.tool(), "outcome": outcome, "valueJson": value,
        "fuel": fuel, "loadFuel": load_fuel, "signedBy": receipt.signer().to_hex(), "differences": differences, "notes": notes,
    });
    writeln!(streams.output, "{text}")
}

/// Prints the verdict to standard output, and notes to standard error.
fn print(
    signer: &ReceiptKey,
    replayed: &ReplayResult,
    notes: &[Message],
    lang: Lang,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    for line in replayed.to_text(signer, lang).split('\n') {
        writeln!(streams.output, "{}", streams.escape_for_output(line))?;
    }
    for note in notes {
        streams.print_note(note, lang)?;
    }
    Ok(())
}
