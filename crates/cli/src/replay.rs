//! `replay`: does a run again, from its receipt.
//!
//! Invariant: the store is looked at for its key alone, and nothing of the policy counts: a receipt says the same everywhere.

use std::path::Path;

use serde_json::json;
use toolcell::store::{Settings, Store};
use toolcell::{
    CancelToken, Lang, OtherVersion, Outcome, Receipt, ReceiptKey, ReplayOptions, Replayed, Stop, Toolbox, visible,
};

use crate::Streams;
use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;

/// The longest receipt, in bytes.
const LIMIT: u64 = 256 << 20;

pub(crate) fn run(
    args: &ReplayArgs,
    dir: Option<&Path>,
    json: bool,
    lang: Lang,
    streams: &mut Streams<'_>,
    cancel: &CancelToken,
) -> Result<Exit, Failure> {
    let word = if args.file == "-" { "-".to_owned() } else { format!("@{}", args.file) };
    let receipt = Receipt::parse(&input::said(&word, LIMIT, streams)?)?;
    let toolbox = Toolbox::new(&args.sandbox.config())?;
    let other_version = if args.anyway { OtherVersion::Note } else { OtherVersion::Refuse };
    let options = ReplayOptions { other_version, cancel: Some(cancel.clone()) };
    let mut replayed = toolbox.replay(&receipt, &options)?;
    if matches!(replayed.outcome, Outcome::Stopped(Stop::Cancelled)) {
        return Err(Failure::Interrupted);
    }
    let signer = receipt.signer();
    if key_of(dir).as_ref() != Some(signer) {
        replayed.notes.push(match lang {
            Lang::En => format!("signed by {signer}, which is not this store's key"),
            Lang::Ja => format!("署名の鍵 {signer} は、このストアの鍵ではありません"),
            Lang::Zh => format!("签名密钥 {signer} 不是此存储库的密钥"),
        });
    }
    if json {
        print_json(&receipt, &replayed, streams)?;
    } else {
        print(signer, &replayed, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(if replayed.is_reproduced() { Exit::Done } else { Exit::ToolFailed })
}

/// The key of the store that is here, if one is.
fn key_of(dir: Option<&Path>) -> Option<ReceiptKey> {
    let store = Store::open_existing(dir?, &Settings::default()).ok()?;
    ReceiptKey::of(&store).ok()
}

fn print_json(receipt: &Receipt, replayed: &Replayed, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let Replayed { outcome, fuel, load_fuel, differences, notes } = replayed;
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

/// What came of it on standard output, what is to be known besides on standard error.
fn print(signer: &ReceiptKey, replayed: &Replayed, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
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
        let line = format!("- {}: {}", difference.about, toolcell::line(&difference.says));
        writeln!(streams.output, "{}", streams.shown(&line))?;
    }
    for note in &replayed.notes {
        writeln!(streams.errors, "{word}{}{}", lang.colon(), visible(note))?;
    }
    Ok(())
}
