//! How a tool's value becomes JSON text.
//!
//! The walk is `SerializeJSONProperty` of ECMA-262 25.5.2 with three differences: it keeps its own stack, so depth
//! costs no machine stack; it stops as soon as the text is longer than the call allows; and what JSON cannot hold is
//! converted with a warning that names its path, or refused with it, never silently changed.
//!
//! Invariant: getters, `toJSON` and proxy traps run inside the call's budget, and no function that a tool could have
//! replaced is used.

use javy::quickjs::object::Filter;
use javy::quickjs::{Array, Atom, Ctx, Exception, Function, Object, Result, Value};
use toolcell_protocol::{LimitExceeded, MAX_DEPTH, Reply, Warning};

use crate::abi;
use crate::engine::Hooks;

/// The most warnings of one result; the last one counts the rest.
const MAX_WARNINGS: usize = 100;

/// The reply that carries a value, or says that it is too long.
///
/// # Errors
/// What a getter, a `toJSON` or a proxy threw, a cycle (`TypeError`), or nesting beyond [`MAX_DEPTH`] (`RangeError`).
pub(crate) fn reply<'js>(ctx: &Ctx<'js>, hooks: &Hooks, value: Value<'js>, limit: usize) -> Result<Reply> {
    let mut writer = Writer {
        ctx,
        hooks,
        plain: hooks.object_prototype.clone().restore(ctx)?,
        limit,
        text: String::new(),
        frames: Vec::new(),
        warnings: Vec::new(),
        unnamed_warnings: 0,
    };
    let written = writer.write(value)?;
    Ok(match written {
        Written::TooLong => Reply::Exceeded(LimitExceeded::ResultBytes),
        Written::Nothing => Reply::Done { value: None, warnings: writer.all_warnings() },
        Written::Value => {
            let warnings = writer.all_warnings();
            Reply::Done { value: Some(writer.text), warnings }
        }
    })
}

/// What became of one value.
#[derive(PartialEq, Eq)]
enum Written {
    Value,
    Nothing,
    TooLong,
}

/// An array or object that is being written.
enum Frame<'js> {
    Array { object: Object<'js>, length: u64, next: u64 },
    Object { object: Object<'js>, keys: Vec<Atom<'js>>, next: usize, empty: bool },
}

impl<'js> Frame<'js> {
    fn object(&self) -> &Object<'js> {
        match self {
            Self::Array { object, .. } | Self::Object { object, .. } => object,
        }
    }

    /// The name under which the member that is being written stands.
    fn key(&self) -> String {
        match self {
            Self::Array { next, .. } => next.saturating_sub(1).to_string(),
            Self::Object { keys, next, .. } => match next.checked_sub(1).and_then(|index| keys.get(index)) {
                Some(atom) => name_of(atom).unwrap_or_else(|| "\u{fffd}".to_owned()),
                None => String::new(),
            },
        }
    }
}

/// The text so far and the way down to where it is being written.
struct Writer<'a, 'js> {
    ctx: &'a Ctx<'js>,
    hooks: &'a Hooks,
    plain: Object<'js>,
    limit: usize,
    text: String,
    frames: Vec<Frame<'js>>,
    warnings: Vec<Warning>,
    unnamed_warnings: usize,
}

impl<'js> Writer<'_, 'js> {
    /// Writes a whole value.
    fn write(&mut self, value: Value<'js>) -> Result<Written> {
        let written = self.enter(value)?;
        if written != Written::Value {
            return Ok(written);
        }
        while !self.frames.is_empty() {
            if self.text.len() > self.limit {
                return Ok(Written::TooLong);
            }
            if self.step()? == Written::TooLong {
                return Ok(Written::TooLong);
            }
        }
        Ok(if self.text.len() > self.limit { Written::TooLong } else { Written::Value })
    }

    /// Writes the next member of the innermost array or object, or closes it.
    fn step(&mut self) -> Result<Written> {
        let Some(frame) = self.frames.last_mut() else { return Ok(Written::Nothing) };
        match frame {
            Frame::Array { length, next, .. } if next == length => {
                self.text.push(']');
                self.frames.pop();
                Ok(Written::Value)
            }
            Frame::Array { object, next, .. } => {
                let index = *next;
                *next += 1;
                let member: Value<'js> = match u32::try_from(index) {
                    Ok(index) => object.get(index)?,
                    Err(_) => object.get(index.to_string())?,
                };
                if index > 0 {
                    self.text.push(',');
                }
                let written = self.enter(member)?;
                if written == Written::Nothing {
                    self.text.push_str("null");
                }
                Ok(written)
            }
            Frame::Object { keys, next, .. } if *next == keys.len() => {
                self.text.push('}');
                self.frames.pop();
                Ok(Written::Value)
            }
            Frame::Object { object, keys, next, empty } => {
                let key = keys[*next].clone();
                *next += 1;
                let member: Value<'js> = object.get(key.clone())?;
                let (before, was_empty) = (self.text.len(), *empty);
                *empty = false;
                if !was_empty {
                    self.text.push(',');
                }
                self.write_key(&key)?;
                let depth = self.frames.len();
                let written = self.enter(member)?;
                if written == Written::Nothing {
                    self.text.truncate(before);
                    if let Some(Frame::Object { empty, .. }) = self.frames.get_mut(depth - 1) {
                        *empty = was_empty;
                    }
                }
                Ok(written)
            }
        }
    }

    /// Writes a scalar, or the opening of an array or object whose members [`Self::step`] writes.
    fn enter(&mut self, mut value: Value<'js>) -> Result<Written> {
        let mut asked_to_json = false;
        loop {
            if value.is_undefined() {
                if matches!(self.frames.last(), Some(Frame::Array { .. })) {
                    self.warn("undefined became null");
                }
                return Ok(Written::Nothing);
            }
            if value.is_null() {
                self.text.push_str("null");
            } else if let Some(truth) = value.as_bool() {
                self.text.push_str(if truth { "true" } else { "false" });
            } else if let Some(integer) = value.as_int() {
                self.text.push_str(&integer.to_string());
            } else if let Some(number) = value.as_float() {
                self.write_float(number);
            } else if value.is_string() {
                return self.write_string(&value);
            } else {
                if !asked_to_json && let Some(object) = value.as_object() {
                    asked_to_json = true;
                    let to_json: Value<'js> = object.get("toJSON")?;
                    if let Some(to_json) = to_json.as_function() {
                        let key = self.frames.last().map(Frame::key).unwrap_or_default();
                        value = to_json.call((javy::quickjs::function::This(value.clone()), key))?;
                        continue;
                    }
                }
                if let Some(object) = value.as_object().filter(|_| !value.is_function()) {
                    if value.is_array() {
                        return self.open_array(object.clone());
                    }
                    if object.get_prototype().is_none_or(|prototype| prototype == self.plain) && !value.is_proxy() {
                        return self.open_object(object.clone());
                    }
                }
                match self.classify(&value)? {
                    Some((nothing, _)) if nothing.is_undefined() => return Ok(Written::Nothing),
                    Some((replacement, length)) => match (replacement.as_object(), length) {
                        (Some(object), Some(length)) => return self.open_indexed(object.clone(), length),
                        _ => {
                            value = replacement;
                            asked_to_json = true;
                            continue;
                        }
                    },
                    None => match value.into_object() {
                        Some(object) => return self.open_object(object),
                        None => return Ok(Written::Nothing),
                    },
                }
            }
            return Ok(Written::Value);
        }
    }

    /// What a value that is no plain data becomes, with a length where it is written element by element; `None` leaves
    /// it to be written property by property.
    fn classify(&mut self, value: &Value<'js>) -> Result<Option<(Value<'js>, Option<f64>)>> {
        let classify: Function<'js> = self.hooks.classify.clone().restore(self.ctx)?;
        let Some(verdict) = classify.call::<_, Option<Array<'js>>>((value.clone(),))? else { return Ok(None) };
        let replacement: Value<'js> = verdict.get(0)?;
        if let Some(mut message) = verdict.get::<Option<String>>(1)? {
            if replacement.is_undefined() {
                let in_array = matches!(self.frames.last(), Some(Frame::Array { .. }));
                message.push_str(if in_array { " became null" } else { " was left out" });
            }
            self.warn(&message);
        }
        Ok(Some((replacement, verdict.get::<Option<f64>>(2)?)))
    }

    fn open_array(&mut self, object: Object<'js>) -> Result<Written> {
        let length: f64 = object.get("length")?;
        self.open_indexed(object, length)
    }

    fn open_indexed(&mut self, object: Object<'js>, length: f64) -> Result<Written> {
        self.refuse_bad_nesting(&object)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped as ToLength does")]
        let length = length.clamp(0.0, 9_007_199_254_740_991.0) as u64;
        self.text.push('[');
        self.frames.push(Frame::Array { object, length, next: 0 });
        Ok(Written::Value)
    }

    fn open_object(&mut self, object: Object<'js>) -> Result<Written> {
        self.refuse_bad_nesting(&object)?;
        let keys = object.own_keys::<Atom<'js>>(Filter::new().string().enum_only()).collect::<Result<Vec<_>>>()?;
        self.text.push('{');
        self.frames.push(Frame::Object { object, keys, next: 0, empty: true });
        Ok(Written::Value)
    }

    /// Refuses an object that contains itself, and nesting that readers of the result could not follow.
    fn refuse_bad_nesting(&self, object: &Object<'js>) -> Result<()> {
        if let Some(level) = self.frames.iter().position(|frame| frame.object() == object) {
            let from = self.path();
            let to = self.path_of(level);
            let message = format!("the result contains a cycle: {} is {}", named(&from), named(&to));
            return Err(Exception::throw_type(self.ctx, &message));
        }
        if self.frames.len() >= MAX_DEPTH {
            let message = format!("the result is nested deeper than {MAX_DEPTH} levels");
            return Err(Exception::throw_range(self.ctx, &message));
        }
        Ok(())
    }

    fn write_key(&mut self, key: &Atom<'js>) -> Result<()> {
        match name_of(key) {
            Some(name) => quote(&mut self.text, &name),
            None => self.quote_ill_formed(key.to_value()?)?,
        }
        self.text.push(':');
        Ok(())
    }

    fn write_string(&mut self, value: &Value<'js>) -> Result<Written> {
        // The copy below would cost memory; a string that is too long is not worth it.
        if abi::string_length(value) > self.limit {
            return Ok(Written::TooLong);
        }
        match value.as_string().map(javy::quickjs::String::to_string) {
            Some(Ok(string)) => quote(&mut self.text, &string),
            _ => self.quote_ill_formed(value.clone())?,
        }
        Ok(Written::Value)
    }

    /// A string with a lone surrogate, which JSON holds as an escape.
    fn quote_ill_formed(&mut self, value: Value<'js>) -> Result<()> {
        let quote: Function<'js> = self.hooks.quote.clone().restore(self.ctx)?;
        let text: String = quote.call((value,))?;
        self.text.push_str(&text);
        Ok(())
    }

    fn write_float(&mut self, number: f64) {
        if number.is_finite() {
            write_finite(&mut self.text, number);
        } else {
            let name = if number.is_nan() {
                "NaN"
            } else if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            self.warn(&format!("{name} became null"));
            self.text.push_str("null");
        }
    }

    fn warn(&mut self, message: &str) {
        if self.warnings.len() + 1 < MAX_WARNINGS {
            self.warnings.push(Warning { path: self.path(), message: message.to_owned() });
        } else {
            self.unnamed_warnings += 1;
        }
    }

    fn all_warnings(&mut self) -> Vec<Warning> {
        let mut warnings = std::mem::take(&mut self.warnings);
        if self.unnamed_warnings > 0 {
            let message = format!("{} more values were converted", self.unnamed_warnings);
            warnings.push(Warning { path: String::new(), message });
        }
        warnings
    }

    /// Where the value that is being written stands, as a JSON Pointer (RFC 6901).
    fn path(&self) -> String {
        self.path_of(self.frames.len())
    }

    fn path_of(&self, level: usize) -> String {
        let mut path = String::new();
        for frame in self.frames.iter().take(level) {
            path.push('/');
            path.push_str(&frame.key().replace('~', "~0").replace('/', "~1"));
        }
        path
    }
}

/// The text of a key, if it is well-formed Unicode. (`Atom::to_string` would neither check that nor pass a NUL.)
pub(crate) fn name_of(key: &Atom<'_>) -> Option<String> {
    key.to_js_string().ok()?.to_string().ok()
}

/// A path as a message shows it.
fn named(path: &str) -> &str {
    if path.is_empty() { "the result itself" } else { path }
}

/// Appends a number that is finite; `-0` stays what it is.
pub(crate) fn write_finite(out: &mut String, number: f64) {
    if number == 0.0 && number.is_sign_negative() {
        out.push_str("-0");
    } else {
        out.push_str(ryu_js::Buffer::new().format_finite(number));
    }
}

/// Appends `text` as a JSON string, escaped as `QuoteJSONString` of ECMA-262 does.
pub(crate) fn quote(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut plain = 0;
    for (index, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain..index]);
        plain = index + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => {
                out.push_str("\\u00");
                for digit in [control >> 4, control & 15] {
                    out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
                }
            }
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}
