//! Reads the inputs of commands.
//!
//! Invariant: every read has a limit.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::process::geteuid;
use toolcell::{Draft, Params, SOURCE_LIMIT};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Message, message, msgid};

use crate::error::CliError;
use crate::streams::Streams;

/// Maximum length of parameters, in bytes.
const MAX_PARAMS_BYTES: u64 = 64 << 20;

/// Reads a text file that has a secret. `code` is that of the error if other users can read it, too.
pub(crate) fn read_secret_file(path: &Path, most: u64, code: ErrorCode) -> Result<String, CliError> {
    let shown = path.display().to_string();
    let failed = |error| CliError::File { path: shown.clone(), error };
    let file = path.metadata().map_err(failed)?;
    if !is_private(file.mode(), file.uid(), geteuid().as_raw()) {
        let message = message!(
            "{path} is readable by other users (mode {mode})",
            path = shown,
            mode = format!("{:o}", file.mode() & 0o777)
        );
        return Err(CliError::coded(code, message, msgid!("restrict it to its owner: chmod 600")));
    }
    read_file(path, most)
}

/// Whether a file of a mode and an owner is private to a user. One of root may be readable by its group, as a file is that Kubernetes
/// gives to a user who is not root; others may neither read nor write it. The rule is that of PostgreSQL for `ssl_key_file`.
fn is_private(mode: u32, owner: u32, user: u32) -> bool {
    let allowed = if owner == 0 && user != 0 { 0o740 } else { 0o700 };
    mode & 0o777 & !allowed == 0
}

/// Reads a draft from a file, or from standard input for `-`.
pub(crate) fn read_draft(path: &str, streams: &mut Streams<'_>) -> Result<Draft, CliError> {
    let bytes = read_source(path, streams)?;
    let name = if path == "-" { "stdin" } else { path.rsplit('/').next().unwrap_or(path) };
    Ok(Draft::from_bytes(name, &bytes)?)
}

/// Reads the bytes of a source from a file, or from standard input for `-`.
pub(crate) fn read_source(path: &str, streams: &mut Streams<'_>) -> Result<Vec<u8>, CliError> {
    // Reading one byte past the limit detects a source that is too large.
    let most = SOURCE_LIMIT as u64 + 1;
    if path == "-" {
        return Ok(read_up_to(&mut *streams.input, most)?);
    }
    let failed = |error| CliError::File { path: path.to_owned(), error };
    File::open(path).and_then(|file| read_up_to(file, most)).map_err(failed)
}

/// Reads parameters: JSON text, `@FILE`, or `-` for standard input.
pub(crate) fn read_params(word: &str, streams: &mut Streams<'_>) -> Result<Params, CliError> {
    let bytes = if word == "-" {
        read_up_to(&mut *streams.input, MAX_PARAMS_BYTES + 1)?
    } else if let Some(path) = word.strip_prefix('@') {
        let failed = |error| CliError::File { path: path.to_owned(), error };
        read_up_to(File::open(path).map_err(failed)?, MAX_PARAMS_BYTES + 1).map_err(failed)?
    } else {
        word.as_bytes().to_vec()
    };
    // Up to one byte past the limit was read, which detects parameters that are too long.
    if bytes.len() as u64 > MAX_PARAMS_BYTES {
        return Err(CliError::ParamsTooLong { limit: MAX_PARAMS_BYTES });
    }
    let text = String::from_utf8(bytes).map_err(|_| CliError::ParamsNotUtf8)?;
    Ok(Params::parse(text)?)
}

/// Reads a text argument: the word itself, `@FILE`, or `-` for standard input. `most` is the limit
/// on files and standard input, in bytes.
pub(crate) fn read_text_argument(word: &str, most: u64, streams: &mut Streams<'_>) -> Result<String, CliError> {
    match word.strip_prefix('@') {
        _ if word == "-" => {
            decode_bounded(read_up_to(&mut *streams.input, most + 1)?, &message!("standard input"), most)
        }
        Some(path) => read_file(Path::new(path), most),
        None => Ok(word.to_owned()),
    }
}

/// Reads a UTF-8 file of at most `most` bytes.
pub(crate) fn read_file(path: &Path, most: u64) -> Result<String, CliError> {
    let name = path.display().to_string();
    let failed = |error| CliError::File { path: name.clone(), error };
    let bytes = File::open(path).and_then(|file| read_up_to(file, most + 1)).map_err(failed)?;
    decode_bounded(bytes, &Message::verbatim(name), most)
}

/// Decodes UTF-8; `from` names the source in the error.
pub(crate) fn decode_utf8(bytes: Vec<u8>, from: &str) -> Result<String, CliError> {
    decode(bytes, &Message::verbatim(from.to_owned()))
}

fn decode(bytes: Vec<u8>, from: &Message) -> Result<String, CliError> {
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to() + 1;
        CliError::usage(
            message!("{from} is not UTF-8: invalid byte at position {position}", from, position),
            msgid!("save it as UTF-8"),
        )
    })
}

/// Decodes UTF-8 of at most `most` bytes. The caller reads one byte past the limit to detect longer
/// input.
fn decode_bounded(bytes: Vec<u8>, from: &Message, most: u64) -> Result<String, CliError> {
    if bytes.len() as u64 > most {
        let message = message!("{from} is longer than {limit} bytes", from, limit = most);
        return Err(CliError::usage(message, msgid!("shorten the input to the relevant part")));
    }
    decode(bytes, from)
}

/// Reads at most `most` bytes.
pub(crate) fn read_up_to(from: impl Read, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the time since the Unix epoch, where a run's virtual clock starts.
pub(crate) fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_private_to_its_owner_and_one_of_root_also_to_its_group() {
        for (mode, owner, user) in [(0o600, 7, 7), (0o400, 7, 7), (0o100_600, 0, 0), (0o640, 0, 7), (0o440, 0, 7)] {
            assert!(is_private(mode, owner, user), "{mode:o} {owner} {user}");
        }
        for (mode, owner, user) in
            [(0o640, 7, 7), (0o440, 0, 0), (0o604, 7, 7), (0o644, 0, 7), (0o660, 0, 7), (0o440, 8, 7), (0o666, 0, 7)]
        {
            assert!(!is_private(mode, owner, user), "{mode:o} {owner} {user}");
        }
    }
}
