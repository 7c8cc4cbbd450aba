//! How what a tool threw becomes a report.
//!
//! Invariant: reading an error never fails and never grows without bound, whatever its getters do: the prelude's
//! hook reads it with captured intrinsics, and texts are cut here.

use javy::quickjs::{Array, Ctx, Persistent, Value};
use toolcell_protocol::{Load, Thrown};

use crate::engine::{Hooks, PRELUDE_NAME};

/// The longest message of a report, in bytes.
const MESSAGE_BYTES: usize = 16 * 1024;

/// The longest stack of a report, in bytes.
const STACK_BYTES: usize = 16 * 1024;

/// The longest name of an error, in bytes; longer names are cut.
const NAME_BYTES: usize = 256;

/// The report of an error at this byte of a source that does not compile.
pub(crate) fn syntax_report<'js>(
    ctx: &Ctx<'js>,
    hooks: &Hooks,
    error: Value<'js>,
    request: &Load<'_>,
    offset: usize,
) -> Thrown {
    let mut thrown = report(ctx, hooks, error, request.name);
    let before = &request.source[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1) + 1;
    thrown.line = u32::try_from(line).ok();
    thrown.column = u32::try_from(column).ok();
    thrown.stack = format!("    at {}:{line}:{column}\n", request.name);
    thrown
}

/// The report of a value that was thrown while the script `name` ran.
pub(crate) fn report<'js>(ctx: &Ctx<'js>, hooks: &Hooks, value: Value<'js>, name: &str) -> Thrown {
    let [error, message, stack] = inspect(ctx, hooks, value);
    let stack = own_frames(&stack);
    let position = stack.lines().find_map(|frame| position_in(frame, name));
    Thrown {
        name: if error.len() > NAME_BYTES { "Error".to_owned() } else { error },
        message: cut(&message, MESSAGE_BYTES),
        line: position.map(|(line, _)| line),
        column: position.map(|(_, column)| column),
        stack: cut(&stack, STACK_BYTES),
    }
}

/// Name, message and stack, read by the prelude. A stack overflow while reading leaves what can be said without.
fn inspect<'js>(ctx: &Ctx<'js>, hooks: &Hooks, value: Value<'js>) -> [String; 3] {
    let unreadable = || ["Error".to_owned(), "what was thrown cannot be read".to_owned(), String::new()];
    let Ok(inspect) = Persistent::clone(&hooks.inspect).restore(ctx) else { return unreadable() };
    let Ok(texts) = inspect.call::<_, Array<'_>>((value,)) else {
        ctx.catch();
        return unreadable();
    };
    [0, 1, 2].map(|index| {
        texts.get::<String>(index).unwrap_or_else(|_| {
            ctx.catch();
            String::new()
        })
    })
}

/// The frames that are not the guest's own.
fn own_frames(stack: &str) -> String {
    let frames: Vec<&str> =
        stack.lines().map(str::trim).filter(|frame| !frame.is_empty() && !frame.contains(PRELUDE_NAME)).collect();
    let mut text = String::new();
    for frame in frames {
        text.push_str("    ");
        text.push_str(frame);
        text.push('\n');
    }
    text
}

/// Line and column of a frame of the script `name`: `at f (name:3:5)` or `at name:3:5`.
fn position_in(frame: &str, name: &str) -> Option<(u32, u32)> {
    let place = frame.trim().trim_end_matches(')');
    let (rest, column) = place.rsplit_once(':')?;
    let (rest, line) = rest.rsplit_once(':')?;
    rest.ends_with(name).then_some(())?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

/// At most `limit` bytes of a text, cut at a character, with a note of what is missing.
fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}… ({} bytes more)", &text[..end], text.len() - end)
}
