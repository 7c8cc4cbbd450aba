//! The text of a question that a rule about flows has a person decide.
//!
//! Invariant: the operation is shown with each of its keys. A long value is truncated on its own, with a mark that says by how much.
//! No text of a tool can control the terminal, forge a line of the prompt, or be invisible.

use serde_json::Value;
use toolcell_i18n::{Lang, Localize as _, tr};

use super::approval_prompt::{argument_lines, cut_mark, escape_for_display, single_line_for_display};
use crate::admission::hook::{FlowQuestion, HeldBody};

/// The maximum length of a shown body, and of details that cannot be parsed, in characters.
const MAX_TEXT_CHARS: usize = 1_000;
/// The start of a line of a body.
const QUOTE: &str = "    | ";

impl FlowQuestion {
    /// Returns the lines of the prompt: what is about to happen, which rule asks, and all that would be sent.
    #[must_use]
    pub fn lines(&self, lang: Lang) -> Vec<String> {
        let mut lines = self.summary(lang);
        let mut push =
            |label: &str, what: &str| lines.push(format!("  {label}{}{what}", lang.colon()).trim_end().to_owned());
        push(
            tr!(lang, "column" => "rule"),
            &format!("flows[{}] ({})", self.rule, single_line_for_display(&self.origin.localize().to_text(lang))),
        );
        push(tr!(lang, "approval prompt" => "id"), &self.id.to_string());
        push(tr!(lang, "arguments"), "");
        lines.extend(self.detail_lines(lang));
        if let Some(body) = &self.body {
            let label = match body {
                HeldBody::Text(_) => tr!(lang, "body"),
                HeldBody::Base64(_) => tr!(lang, "body (base64)"),
            };
            lines.push(format!("  {label}{}", lang.colon().trim_end()));
            lines.extend(quoted_lines(body.as_str(), lang));
        }
        lines
    }

    /// Returns the first lines: what is about to happen, and where the data came from.
    #[must_use]
    pub fn summary(&self, lang: Lang) -> Vec<String> {
        let (name, to) = (single_line_for_display(&self.tool), &self.to);
        let from = self.from.join(lang.list_separator());
        let headline =
            tr!(lang, "`{name}` has read data from {from}, and is about to do what leads to {to}:", name, from, to);
        let mut effect = format!("  {} {}", self.kind, single_line_for_display(&self.about));
        if self.bytes > 0 {
            effect = tr!(lang, "{effect} ({bytes} bytes)", effect, bytes = self.bytes);
        }
        vec![headline, effect]
    }

    /// Returns the yes-or-no question.
    #[must_use]
    pub fn question(&self, lang: Lang) -> String {
        tr!(lang, "Let `{name}` do this, once?", name = single_line_for_display(&self.tool))
    }

    fn detail_lines(&self, lang: Lang) -> Vec<String> {
        match serde_json::from_str::<Value>(&self.details) {
            Ok(details) => argument_lines(&details, lang),
            // Nested too deeply to be taken apart.
            Err(_) => quoted_lines(&self.details, lang),
        }
    }
}

/// Returns the start of a text, each line marked as a part of it, and the mark of what is left out.
fn quoted_lines(text: &str, lang: Lang) -> Vec<String> {
    let all = text.chars().count();
    let start: String = text.chars().take(MAX_TEXT_CHARS).collect();
    let mut lines: Vec<String> = start.split('\n').map(|line| format!("{QUOTE}{}", escape_for_display(line))).collect();
    if all > MAX_TEXT_CHARS {
        lines.push(format!("    {}", cut_mark(MAX_TEXT_CHARS, all, lang)));
    }
    lines
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
            rule: 2,
            origin: Origin::BuiltIn,
        }
    }

    #[test]
    fn an_operation_is_shown_with_all_it_sends_and_forges_no_line() {
        let details = r#"{"method":"POST","url":"https://a.example/","headers":[["x","a\nb"]]}"#;
        let body = HeldBody::Text("Dear anna\n  rule: none\u{1b}[1A\u{200b}".to_owned());
        let shown = question(details, Some(body));
        assert_eq!(
            shown.lines(Lang::En),
            [
                r"`greet\u{202e}` has read data from kv:customers, caller, and is about to do what leads to web:a.example:writes:",
                r"  fetch POST https://a.example/\u{1b}[2J Let (29 bytes)",
                "  rule: flows[2] (built-in)",
                "  id: dt_0101010101010101010101010101010101010101010101010101010101010101",
                "  arguments:",
                "    method: \"POST\"",
                "    url: \"https://a.example/\"",
                "    headers: [[\"x\",\"a\\nb\"]]",
                "  body:",
                "    | Dear anna",
                r"    |   rule: none\u{1b}[1A\u{200b}",
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
    fn what_is_left_out_is_said_also_of_details_that_are_nested_too_deeply() {
        let long = question("{}", Some(HeldBody::Base64("eA==".repeat(500)))).lines(Lang::En);
        assert_eq!(long.last().unwrap(), "    … (1000 of 2000 characters shown)");
        let deep = format!("{}\"a\u{202e}\"{}", "[".repeat(600), "]".repeat(600));
        let deep = question(&deep, None).lines(Lang::En);
        assert_eq!(deep.len(), 7);
        assert!(deep[5].starts_with("    | [[[") && deep[5].contains(r"\u{202e}"), "{deep:?}");
        assert_eq!(deep[6], "    … (1000 of 1204 characters shown)");
    }
}
