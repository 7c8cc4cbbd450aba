//! `profile diff`: compares two profiles.

use toolcell::{Profile, ProfileError};
use toolcell_i18n::{message, msgid};

use crate::args::ProfileDiffArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::render::profile::print_difference;

/// Maximum size of a profile, in bytes.
const MAX_PROFILE_BYTES: u64 = 64 << 20;

pub(crate) fn run(args: &ProfileDiffArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    if args.before == "-" && args.after == "-" {
        return Err(CliError::usage(
            msgid!("two profiles cannot both come from standard input"),
            msgid!("pass a file for one of them"),
        ));
    }
    let Context { ref mut streams, format, lang, .. } = *context;
    let mut read = |file: &str| {
        let word = if file == "-" { "-".to_owned() } else { format!("@{file}") };
        let text = input::read_text_argument(&word, MAX_PROFILE_BYTES, streams)?;
        let named = |error: ProfileError| {
            CliError::coded(error.code(), message!("{path}: {reason}", path = file, reason = error), error.hint())
        };
        Profile::parse(&text).map_err(named)
    };
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let difference = before.compare(&after)?;
    if format.is_json() {
        // Serialization cannot fail: the fields are text and numbers.
        let text = serde_json::to_string(&difference).unwrap_or_default();
        writeln!(streams.output, "{text}")?;
    } else {
        print_difference(&difference, lang, streams)?;
    }
    streams.output.flush()?;
    Ok(Exit::Done)
}
