//! The JSON text of plain data, for what a tool sends.
//!
//! Invariant: whatever JSON would change without a word gives no text at all, and the prelude says what is wrong with it.

use javy::quickjs::object::Filter;
use javy::quickjs::{Atom, Ctx, Object, Result, Value};

use crate::result::{name_of, quote, write_finite};

/// What is nested deeper is left to the prelude, which has JavaScript's own limit.
const MAX_DEPTH: usize = 64;

/// The JSON text of a value that is plain data: objects that inherit from `plain` or nothing, arrays, well-formed strings,
/// finite numbers, `true`, `false` and `null`.
pub(crate) fn json<'js>(ctx: Ctx<'js>, value: Value<'js>, plain: Object<'js>) -> Result<Option<String>> {
    let mut writer = Writer { plain, text: String::new() };
    let written = writer.write(&ctx, value, 0)?;
    Ok(written.then_some(writer.text))
}

struct Writer<'js> {
    plain: Object<'js>,
    text: String,
}

impl<'js> Writer<'js> {
    /// Whether the value is plain data, and was written.
    fn write(&mut self, ctx: &Ctx<'js>, value: Value<'js>, depth: usize) -> Result<bool> {
        if value.is_null() {
            self.text.push_str("null");
        } else if let Some(truth) = value.as_bool() {
            self.text.push_str(if truth { "true" } else { "false" });
        } else if let Some(integer) = value.as_int() {
            self.text.push_str(&integer.to_string());
        } else if let Some(number) = value.as_float() {
            if !number.is_finite() {
                return Ok(false);
            }
            write_finite(&mut self.text, number);
        } else if let Some(string) = value.as_string() {
            let Ok(string) = string.to_string() else { return Ok(false) };
            quote(&mut self.text, &string);
        } else if let Some(object) = value.as_object() {
            if depth == MAX_DEPTH || value.is_proxy() || value.is_function() {
                return Ok(false);
            }
            return if value.is_array() { self.array(ctx, object, depth) } else { self.object(ctx, object, depth) };
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn array(&mut self, ctx: &Ctx<'js>, array: &Object<'js>, depth: usize) -> Result<bool> {
        if has_to_json(array)? {
            return Ok(false);
        }
        let length: u32 = array.get("length")?;
        self.text.push('[');
        for index in 0..length {
            if index > 0 {
                self.text.push(',');
            }
            if !self.write(ctx, array.get(index)?, depth + 1)? {
                return Ok(false);
            }
        }
        self.text.push(']');
        Ok(true)
    }

    fn object(&mut self, ctx: &Ctx<'js>, object: &Object<'js>, depth: usize) -> Result<bool> {
        if object.get_prototype().is_some_and(|prototype| prototype != self.plain) || has_to_json(object)? {
            return Ok(false);
        }
        self.text.push('{');
        let mut is_first = true;
        for key in object.own_keys::<Atom<'js>>(Filter::new().string().enum_only()) {
            let key = key?;
            let Some(name) = name_of(&key) else { return Ok(false) };
            let member: Value<'js> = object.get(key)?;
            // A member that is undefined is left out, as everywhere.
            if member.is_undefined() {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                self.text.push(',');
            }
            quote(&mut self.text, &name);
            self.text.push(':');
            if !self.write(ctx, member, depth + 1)? {
                return Ok(false);
            }
        }
        self.text.push('}');
        Ok(true)
    }
}

fn has_to_json(object: &Object<'_>) -> Result<bool> {
    Ok(object.get::<_, Value<'_>>("toJSON")?.is_function())
}
