//! Reading what a command is given.
//!
//! Invariant: nothing is read without a limit.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use toolcell::{Draft, Params, SOURCE_LIMIT};

use crate::Streams;
use crate::failure::Failure;

/// The longest parameters, in bytes.
pub(crate) const PARAMS_LIMIT: u64 = 64 << 20;

/// The draft in a file, or in standard input for `-`.
pub(crate) fn draft(path: &str, streams: &mut Streams<'_>) -> Result<Draft, Failure> {
    let bytes = source(path, streams)?;
    let name = if path == "-" { "stdin" } else { path.rsplit('/').next().unwrap_or(path) };
    Ok(Draft::from_bytes(name, &bytes)?)
}

/// The bytes of a source: of a file, or of standard input for `-`.
pub(crate) fn source(path: &str, streams: &mut Streams<'_>) -> Result<Vec<u8>, Failure> {
    // One byte more than allowed tells a draft that is too large; of what it is more, nothing is read.
    let most = SOURCE_LIMIT as u64 + 1;
    if path == "-" {
        return Ok(read(&mut *streams.input, most)?);
    }
    let failed = |error| Failure::File { path: path.to_owned(), error };
    File::open(path).and_then(|file| read(file, most)).map_err(failed)
}

/// The parameters: JSON text, `@FILE`, or `-` for standard input.
pub(crate) fn params(word: &str, streams: &mut Streams<'_>) -> Result<Params, Failure> {
    let bytes = if word == "-" {
        read(&mut *streams.input, PARAMS_LIMIT + 1)?
    } else if let Some(path) = word.strip_prefix('@') {
        let failed = |error| Failure::File { path: path.to_owned(), error };
        read(File::open(path).map_err(failed)?, PARAMS_LIMIT + 1).map_err(failed)?
    } else {
        word.as_bytes().to_vec()
    };
    // One byte more than allowed tells parameters that are too long; of what they are more, nothing is read.
    if bytes.len() as u64 > PARAMS_LIMIT {
        return Err(Failure::ParamsTooLong);
    }
    let text = String::from_utf8(bytes).map_err(|_| Failure::ParamsNotUtf8)?;
    Ok(Params::parse(text)?)
}

/// The text that a word stands for: itself, `@FILE`, or `-` for standard input; no longer than `most` bytes.
pub(crate) fn said(word: &str, most: u64, streams: &mut Streams<'_>) -> Result<String, Failure> {
    match word.strip_prefix('@') {
        _ if word == "-" => bounded(read(&mut *streams.input, most + 1)?, "standard input", most),
        Some(path) => file(Path::new(path), most),
        None => Ok(word.to_owned()),
    }
}

/// The text of a file, no longer than `most` bytes.
pub(crate) fn file(path: &Path, most: u64) -> Result<String, Failure> {
    let name = path.display().to_string();
    let failed = |error| Failure::File { path: name.clone(), error };
    let bytes = File::open(path).and_then(|file| read(file, most + 1)).map_err(failed)?;
    bounded(bytes, &name, most)
}

/// The text that bytes are; `from` is where they come from.
pub(crate) fn text(bytes: Vec<u8>, from: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| Failure::Typed {
        message: format!("{from} is not UTF-8: byte {} is no character", error.utf8_error().valid_up_to() + 1),
        hint: "write it in UTF-8",
    })
}

/// One byte more than allowed tells what is too long; of what it is more, nothing is read.
fn bounded(bytes: Vec<u8>, from: &str, most: u64) -> Result<String, Failure> {
    if bytes.len() as u64 > most {
        let message = format!("{from} is longer than {most} bytes");
        return Err(Failure::Typed { message, hint: "hand in less: what it is about is enough" });
    }
    text(bytes, from)
}

/// At most `most` bytes.
pub(crate) fn read(from: impl Read, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The time since 1970, where the virtual clock of a run starts.
pub(crate) fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
