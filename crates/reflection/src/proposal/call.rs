//! Prints a proposal as a JavaScript call, as the contract shows it.
//!
//! Invariant: for all input texts the output is one expression with the same values, and contains
//! no invisible or bidirectional control character.

use std::fmt::Write as _;

use serde_json::Value;

use super::Proposal;

/// The longest line of a value, in characters.
const MAX_LINE_CHARS: usize = 100;

impl Proposal {
    /// Returns the call that creates this tool: `create_tool({ name: '…', description: '…', code:
    /// …, parameters: { … }, … })`.
    ///
    /// # Examples
    /// ```
    /// use toolcell_reflection::{Trigger, propose};
    ///
    /// let call = propose("it's `${x}`", Trigger::Transformation, &[]).to_call();
    /// assert!(call.starts_with("create_tool({\n  name: 'convert_"));
    /// assert!(call.contains(r"description: 'it\'s `${x}`'"));
    /// ```
    #[must_use]
    pub fn to_call(&self) -> String {
        let mut fields = vec![
            format!("name: {}", quoted_text(&self.name)),
            format!("description: {}", quoted_text(&self.description)),
            format!("code: {}", template_literal(&self.code)),
            format!("parameters: {}", block(&self.parameters, 2)),
        ];
        if !self.tags.is_empty() {
            fields.push(format!("tags: {}", inline(&Value::from(self.tags.clone()))));
        }
        if !self.examples.is_empty() {
            fields.push(format!("examples: {}", block(&Value::from(self.examples.clone()), 2)));
        }
        fields.extend(self.returns.as_ref().map(|returns| format!("returns: {}", block(returns, 2))));
        fields.extend(self.generated_from.as_ref().map(|task| format!("generated_from: {}", quoted_text(task))));
        format!("create_tool({{\n  {}\n}})", fields.join(",\n  "))
    }
}

/// Prints a value, on several lines if it is too long for one.
fn block(value: &Value, indent: usize) -> String {
    let short = inline(value);
    if short.chars().count() + indent <= MAX_LINE_CHARS {
        return short;
    }
    let (open, close, members): (_, _, Vec<String>) = match value {
        Value::Array(items) => ('[', ']', items.iter().map(|item| block(item, indent + 2)).collect()),
        Value::Object(fields) => {
            let field =
                |(name, value): (&String, &Value)| format!("{}: {}", property_key(name), block(value, indent + 2));
            ('{', '}', fields.iter().map(field).collect())
        }
        _ => return short,
    };
    let blanks = " ".repeat(indent);
    format!("{open}\n{blanks}  {}\n{blanks}{close}", members.join(&format!(",\n{blanks}  ")))
}

/// Prints a value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::String(string) => quoted_text(string),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{}: {}", property_key(name), inline(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Prints a property name. `__proto__` is computed; otherwise it would set the prototype.
fn property_key(name: &str) -> String {
    let is_first = |letter: char| letter.is_ascii_alphabetic() || matches!(letter, '_' | '$');
    let is_plain = name.starts_with(is_first) && name.chars().all(|letter| is_first(letter) || letter.is_ascii_digit());
    match name {
        "__proto__" => "['__proto__']".to_owned(),
        _ if is_plain => name.to_owned(),
        _ => quoted_text(name),
    }
}

/// Prints a string between single quotes.
fn quoted_text(string: &str) -> String {
    let mut out = String::with_capacity(string.len() + 2);
    out.push('\'');
    escape(string, '\'', &mut out);
    out.push('\'');
    // Escapes the end of a comment, in case the call is put into one.
    out.replace("*/", r"*\/")
}

/// Prints a string between backticks.
fn template_literal(string: &str) -> String {
    let mut out = String::with_capacity(string.len() + 64);
    out.push('`');
    let mut lines = string.split('\n');
    escape(lines.next().unwrap_or_default(), '`', &mut out);
    for line in lines {
        out.push('\n');
        escape(line, '`', &mut out);
    }
    out.push('`');
    out.replace("${", r"\${")
}

fn escape(string: &str, quote: char, out: &mut String) {
    for letter in string.chars() {
        match letter {
            '\\' => out.push_str(r"\\"),
            '\n' => out.push_str(r"\n"),
            '\r' => out.push_str(r"\r"),
            '\t' => out.push_str(r"\t"),
            letter if letter == quote => out.extend(['\\', letter]),
            letter if is_invisible(letter) => {
                let mut units = [0; 2];
                // Writing to a `String` cannot fail.
                letter.encode_utf16(&mut units).iter().for_each(|unit| _ = write!(out, r"\u{unit:04x}"));
            }
            letter => out.push(letter),
        }
    }
}

/// Whether a character is invisible, ends a line, or changes how others are displayed.
pub(super) fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_escaped() {
        let check = |string: &str, expect: &str| assert_eq!(quoted_text(string), expect);
        check("it's", r"'it\'s'");
        check("a\\", r"'a\\'");
        check("\\'", r"'\\\''");
        check("`${x}` */ //", r"'`${x}` *\/ //'");
        check("a\r\nb\u{2028}c\u{2029}d\u{0}1", r"'a\r\nb\u2028c\u2029d\u00001'");
        check("a\u{202e}b\u{e0041}", r"'a\u202eb\udb40\udc41'");
        check("日本語 ok", "'日本語 ok'");
    }

    #[test]
    fn code_is_escaped() {
        let check = |string: &str, expect: &str| assert_eq!(template_literal(string), expect);
        check("a\n\"\\n\"", "`a\n\"\\\\n\"`");
        check("`${a}` $\\{", r"`\`\${a}\` $\\{`");
        check("\r\n", "`\\r\n`");
        check("$", "`$`");
    }

    #[test]
    fn values_are_literals() {
        let value = json!({"__proto__": null, "a-b": [1, -2.5, true, {}], "a": "x'", "": 1, "1": 2});
        assert_eq!(inline(&value), r"{ ['__proto__']: null, 'a-b': [1, -2.5, true, {}], a: 'x\'', '': 1, '1': 2 }");
        let long = json!({"a": "x".repeat(60), "b": ["y".repeat(60)]});
        assert_eq!(block(&long, 2), format!("{{\n    a: '{}',\n    b: ['{}']\n  }}", "x".repeat(60), "y".repeat(60)));
    }
}
