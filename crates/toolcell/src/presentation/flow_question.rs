//! The text of a question that a rule about flows has a person decide.
//!
//! Invariant: all of the operation is shown, or the question is not put. No text of a tool can control the terminal, forge a line of
//! the prompt, or be invisible.

use serde_json::{Map, Value};
use toolcell_i18n::{Lang, Localize as _, Message, message, tr};

use super::approval_prompt::{escape_for_display, single_line_for_display};
use crate::admission::hook::{FlowQuestion, HeldBody};

/// The maximum length of a field that is shown on one line.
const MAX_FIELD_BYTES: usize = 160;
/// The maximum number of lines of a question, and of their bytes: what is longer is not read.
const MAX_LINES: usize = 200;
const MAX_BYTES: usize = 12 << 10;
/// The start of a line of what the operation sends.
const QUOTE: &str = "    | ";

impl FlowQuestion {
    /// Returns the lines of the prompt: what is about to happen, which rules ask, and all that would be sent.
    #[must_use]
    pub fn lines(&self, lang: Lang) -> Vec<String> {
        let mut lines = self.summary(lang);
        let fact = |label: &str, what: &str| format!("  {label}{}{what}", lang.colon());
        lines.extend(self.rules.iter().map(|(rule, origin)| {
            let origin = single_line_for_display(&origin.localize().to_text(lang));
            fact(tr!(lang, "column" => "rule"), &format!("flows[{rule}] ({origin})"))
        }));
        lines.push(fact(tr!(lang, "record" => "data from"), &self.known.join(lang.list_separator())));
        lines.push(fact(tr!(lang, "approval prompt" => "id"), &self.id.to_string()));
        lines.push(format!("  {}{}", tr!(lang, "arguments"), lang.colon().trim_end()));
        lines.extend(quoted_lines(&layout(&self.details).unwrap_or_else(|| self.details.clone())));
        if let Some(body) = &self.body {
            let (label, text) = match body {
                // So that what is escaped below looks like no other text.
                HeldBody::Text(text) => (tr!(lang, "body"), text.replace('\\', r"\\")),
                HeldBody::Base64(text) => (tr!(lang, "body (base64)"), text.clone()),
            };
            lines.push(format!("  {label}{}", lang.colon().trim_end()));
            lines.extend(quoted_lines(&text));
        }
        lines
    }

    /// Returns the first lines: where the data came from, and what is about to happen.
    #[must_use]
    pub fn summary(&self, lang: Lang) -> Vec<String> {
        let (name, to) = (single_line_for_display(&self.tool), &self.to);
        let from = self.from.join(lang.list_separator());
        if self.kind == Self::RUN {
            return vec![tr!(
                lang,
                "The caller has data from {from}, and is about to run `{name}` with these parameters:",
                from,
                name
            )];
        }
        let headline = tr!(
            lang,
            "The run of `{name}` has data from {from}, and is about to do something that reaches {to}:",
            name,
            from,
            to
        );
        let mut effect = format!("  {} {}", self.kind, single_line_for_display(&self.about));
        if self.bytes > 0 {
            effect = tr!(lang, "{effect} ({bytes} bytes)", effect, bytes = self.bytes);
        }
        vec![headline, effect]
    }

    /// Checks that a person can read all of the operation.
    pub(crate) fn check_shown(&self) -> Result<(), Message> {
        if layout(&self.details).is_none() {
            return Err(message!("it has text or JSON that cannot be shown as it is"));
        }
        let lines = self.lines(Lang::En);
        let (count, bytes) = (lines.len(), lines.iter().map(|line| line.len() + 1).sum::<usize>());
        if count <= MAX_LINES && bytes <= MAX_BYTES {
            return Ok(());
        }
        let (max_lines, max_bytes) = (MAX_LINES, MAX_BYTES);
        Err(message!(
            "to show it takes {count} lines of {bytes} bytes, and the limits are {max_lines} and {max_bytes}",
            count,
            bytes,
            max_lines,
            max_bytes
        ))
    }

    /// Returns the yes-or-no question.
    #[must_use]
    pub fn question(&self, lang: Lang) -> String {
        tr!(lang, "Let `{name}` do this, once?", name = single_line_for_display(&self.tool))
    }
}

/// Lays out the fields of a JSON object, each on a line if it fits; `None` for what is nested too deeply, or has lone surrogates:
/// as it came, it might be read as something else, such as by a second field of a name.
fn layout(details: &str) -> Option<String> {
    let fields = serde_json::from_str::<Map<String, Value>>(details).ok()?;
    if fields.is_empty() {
        return Some("{}".to_owned());
    }
    let lines = fields.iter().map(|(name, value)| {
        let whole = value.to_string();
        let text =
            if whole.len() <= MAX_FIELD_BYTES { whole } else { serde_json::to_string_pretty(value).unwrap_or(whole) };
        format!("{}: {text}", Value::from(name.as_str()))
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Returns a text, each line marked as a part of it.
fn quoted_lines(text: &str) -> impl Iterator<Item = String> {
    text.split('\n').map(|line| format!("{QUOTE}{}", escape_for_display(line)))
}

#[cfg(test)]
mod tests {
    use toolcell_policy::Origin;
    use toolcell_tool::ToolId;

    use super::*;

    fn question(details: &str, body: Option<HeldBody>) -> FlowQuestion {
        FlowQuestion {
            tool: "greet\u{202e}".to_owned(),
            id: ToolId::from_bytes([1; 32]),
            kind: "fetch".to_owned(),
            about: "POST https://a.example/\u{1b}[2J\nLet".to_owned(),
            details: details.to_owned(),
            bytes: body.as_ref().map_or(0, |body| body.as_str().len() as u64),
            body,
            from: vec!["kv:customers".to_owned(), "caller".to_owned()],
            to: "web:a.example:writes".to_owned(),
            known: vec!["caller".to_owned(), "kv:customers".to_owned(), "tool:greet".to_owned()],
            rules: vec![(2, Origin::BuiltIn), (3, Origin::Flag)],
        }
    }

    #[test]
    fn an_operation_is_shown_with_all_it_sends_and_forges_no_line() {
        let details = r#"{"method":"POST","headers":[["x","a\nb"]]}"#;
        let body = HeldBody::Text("Dear anna\n  rule: none\u{1b}[1A\u{200b} \\u{200b}".to_owned());
        let shown = question(details, Some(body));
        let id = format!("  id: dt_{}", "01".repeat(32));
        assert_eq!(
            shown.lines(Lang::En),
            [
                r"The run of `greet\u{202e}` has data from kv:customers, caller, and is about to do something that reaches web:a.example:writes:",
                r"  fetch POST https://a.example/\u{1b}[2J Let (38 bytes)",
                "  rule: flows[2] (built-in)",
                "  rule: flows[3] (flag)",
                "  data from: caller, kv:customers, tool:greet",
                &id,
                "  arguments:",
                r#"    | "method": "POST""#,
                r#"    | "headers": [["x","a\nb"]]"#,
                "  body:",
                "    | Dear anna",
                r"    |   rule: none\u{1b}[1A\u{200b} \\u{200b}",
            ]
        );
        assert_eq!(shown.question(Lang::En), r"Let `greet\u{202e}` do this, once?");
        for lang in [Lang::Ja, Lang::Zh] {
            let text = shown.lines(lang).join("\n") + &shown.question(lang);
            for part in
                ["kv:customers", "web:a.example:writes", "flows[2]", "https://a.example/", "Dear anna", r"\u{1b}[1A"]
            {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
    }

    #[test]
    fn nothing_is_left_out_also_of_details_that_are_nested_too_deeply() {
        let long = "eA==".repeat(500);
        let shown = question("{}", Some(HeldBody::Base64(long.clone()))).lines(Lang::En);
        assert_eq!(shown.last().unwrap(), &format!("    | {long}"));
        let wide = format!(r#"{{"input":{{"text":"{}","to":"a"}}}}"#, "x".repeat(200));
        let shown = question(&wide, None).lines(Lang::En);
        assert_eq!(
            shown[shown.len() - 4..],
            [
                r#"    | "input": {"#.to_owned(),
                format!(r#"    |   "text": "{}","#, "x".repeat(200)),
                r#"    |   "to": "a""#.to_owned(),
                "    | }".to_owned(),
            ]
        );
        let deep = format!("{}\"a\u{202e}\"{}", "[".repeat(600), "]".repeat(600));
        let shown = question(&deep, None).lines(Lang::En);
        assert_eq!(shown.last().unwrap(), &format!("    | {}", deep.replace('\u{202e}', r"\u{202e}")));
    }

    #[test]
    fn what_cannot_be_shown_in_full_or_as_it_is_is_not_shown() {
        let check = |details: &str, body: Option<HeldBody>| {
            question(details, body).check_shown().map_err(|why| why.to_text(Lang::En))
        };
        assert_eq!(check("{}", Some(HeldBody::Text("x\n".repeat(150)))), Ok(()));
        let long = check("{}", Some(HeldBody::Text("\n".repeat(300)))).unwrap_err();
        assert!(long.contains("lines") && long.contains("200 and 12288"), "{long}");
        assert!(check("{}", Some(HeldBody::Text("x".repeat(13_000)))).is_err());
        // The cell takes the last of two fields with one name; which one a reader takes is not known.
        for details in [r#"{"text":"good","te\u0078t":"evil","z":"\ud800"}"#, &"[".repeat(600), "7"] {
            assert!(check(details, None).unwrap_err().contains("cannot be shown"), "{details}");
        }
        let last = question(r#"{"text":"good","te\u0078t":"evil"}"#, None).lines(Lang::En);
        assert!(
            last.iter().any(|line| line.contains("evil")) && !last.iter().any(|line| line.contains("good")),
            "{last:?}"
        );
    }

    #[test]
    fn a_run_is_asked_about_in_words_of_its_own() {
        let run = FlowQuestion { kind: FlowQuestion::RUN.to_owned(), ..question(r#"{"a":1}"#, None) };
        let first = r"The caller has data from kv:customers, caller, and is about to run `greet\u{202e}` with these parameters:";
        assert_eq!(run.summary(Lang::En), [first]);
    }
}
