//! Text that a tool sends to the host while it runs: console lines and partial results.
//!
//! Invariant: every copy of guest bytes is bounded before it is made.

use toolcell_json::Json;
use toolcell_protocol::{IMPORT_MODULE, Level};
use wasmtime::{Caller, Extern, Linker, Result};

use crate::instance::{HostState, HostTrap};
use crate::outcome::{LogLine, Stop};

pub(super) fn add_to(linker: &mut Linker<HostState>) -> Result<()> {
    linker.func_wrap(IMPORT_MODULE, "log", log)?;
    linker.func_wrap(IMPORT_MODULE, "partial", partial)?;
    Ok(())
}

fn log(mut caller: Caller<'_, HostState>, level: u32, at: u32, len: u32) -> Result<()> {
    let inside = caller.data();
    let room = inside.console_limit - inside.console_bytes;
    let (text, whole) = read_text(&mut caller, at, len, room);
    let inside = caller.data_mut();
    inside.console_bytes += text.len().min(room);
    let line = LogLine { level: Level::from_number(level).unwrap_or(Level::Log), text };
    // A report stores each line with its level and its escapes, so empty lines count as well.
    inside.console_json_bytes += line.json_bytes();
    inside.logs.push(line);
    let fits = inside.console_json_bytes <= inside.console_limit.saturating_mul(LogLine::MAX_JSON_EXPANSION);
    if whole && fits && inside.console_bytes < inside.console_limit {
        inside.console_bytes += 1;
        return Ok(());
    }
    inside.stop = Some(Stop::ConsoleTooLarge { limit: inside.console_limit });
    Err(HostTrap.into())
}

fn partial(mut caller: Caller<'_, HostState>, at: u32, len: u32) -> Result<()> {
    let limit = caller.data().max_partial_bytes;
    let (json, whole) = read_text(&mut caller, at, len, limit);
    let inside = caller.data_mut();
    if !whole {
        inside.stop = Some(Stop::OutputTooLarge { limit });
        return Err(HostTrap.into());
    }
    let Some(sink) = &inside.partial_sink else { return Ok(()) };
    match Json::parse(json) {
        Ok(json) => {
            sink(json.as_str());
            Ok(())
        }
        Err(error) => {
            let detail = format!("a partial result of the guest is not valid JSON: {error}");
            inside.stop = Some(Stop::Crashed { detail });
            Err(HostTrap.into())
        }
    }
}

/// Reads at most `limit` bytes of text at `at`. Returns the text, and whether it is complete.
/// Invalid UTF-8 is replaced.
fn read_text(caller: &mut Caller<'_, HostState>, at: u32, len: u32, limit: usize) -> (String, bool) {
    let Some(Extern::Memory(memory)) = caller.get_export("memory") else { return (String::new(), false) };
    let len = len as usize;
    let start = at as usize;
    let bytes = memory.data(&caller).get(start..start + len.min(limit)).unwrap_or_default();
    (String::from_utf8_lossy(bytes).into_owned(), len <= limit)
}
