//! `replay`: re-executes a run from its receipt and compares.
//!
//! Invariant: the store is read only for its key, and the policy is ignored: a receipt replays the
//! same everywhere.

use std::path::Path;

use serde_json::json;
use toolcell::store::{Settings, Store};
use toolcell::{
    Lang, Outcome, Receipt, ReceiptKey, ReplayOptions, ReplayResult, Stop, Toolbox, VersionPolicy, escape_control_chars,
};
use toolcell_i18n::message;

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
    let mut replayed = toolbox.replay(&receipt, &options)?;
    if matches!(replayed.outcome, Outcome::Stopped(Stop::Cancelled)) {
        return Err(CliError::Interrupted);
    }
    let signer = receipt.signer();
    let store_key = store_key(context.optional_store_dir());
    let Context { ref mut streams, format, lang, .. } = *context;
    if store_key.as_ref() != Some(signer) {
        replayed.notes.push(message!("signed by {key}, which is not this store's key", key = signer));
    }
    if format.is_json() {
        print_json(&receipt, &replayed, streams)?;
    } else {
        print(signer, &replayed, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(if replayed.is_reproduced() { Exit::Done } else { Exit::ToolFailed })
}

/// Returns the key of the local store, if there is one.
fn store_key(dir: Option<&Path>) -> Option<ReceiptKey> {
    let store = Store::open_existing(dir?, &Settings::default()).ok()?;
    ReceiptKey::from_store(&store).ok()
}

fn print_json(receipt: &Receipt, replayed: &ReplayResult, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let ReplayResult { outcome, fuel, load_fuel, differences, notes } = replayed;
    let (outcome, value) = match outcome {
        Outcome::Returned(value) => ("returned", value.as_ref().map(ToString::to_string)),
        Outcome::Threw(_) => ("threw", None),
        Outcome::Stopped(_) => ("stopped", None),
    };
    let text = json!({
        "reproduced": replayed.is_reproduced(), "tool": receipt.tool(), "outcome": outcome, "value_json": value,
        "fuel": fuel, "load_fuel": load_fuel, "signed_by": receipt.signer().to_hex(), "differences": differences, "notes": notes,
    });
    writeln!(streams.output, "{text}")
}

/// Prints the verdict to standard output, and notes to standard error.
fn print(signer: &ReceiptKey, replayed: &ReplayResult, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let fuel = replayed.fuel;
    let same = replayed.is_reproduced();
    let (word, headline) = match (lang, same) {
        (Lang::En, true) => ("note", format!("reproduced: output and fuel ({fuel} units), signed by {signer}")),
        (Lang::En, false) => ("note", format!("not reproduced, signed by {signer}:")),
        (Lang::Ja, true) => ("補足", format!("再現しました: 出力と燃料（{fuel} 単位）、署名 {signer}")),
        (Lang::Ja, false) => ("補足", format!("再現しませんでした、署名 {signer}:")),
        (Lang::Zh, true) => ("备注", format!("已重现：输出与燃料（{fuel} 单位），签名 {signer}")),
        (Lang::Zh, false) => ("备注", format!("未能重现，签名 {signer}：")),
    };
    writeln!(streams.output, "{headline}")?;
    for difference in &replayed.differences {
        let line = format!("- {}: {}", difference.about, toolcell::single_line(&difference.says.to_text(lang)));
        writeln!(streams.output, "{}", streams.escape_for_output(&line))?;
    }
    for note in &replayed.notes {
        writeln!(streams.errors, "{word}{}{}", lang.colon(), escape_control_chars(&note.to_text(lang)))?;
    }
    Ok(())
}
