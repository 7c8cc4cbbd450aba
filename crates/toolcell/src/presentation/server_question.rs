//! The text of a question that an MCP server asks the user.
//!
//! Invariant: who asks comes first, in our words, and each line of the server is marked as one. No text of a server can
//! control the terminal, forge a line of the prompt, or be invisible.

use serde_json::Value;
use toolcell_i18n::{Lang, tr};

use super::approval_prompt::{escape_for_display, single_line_for_display};
use crate::admission::hook::ServerQuestion;

/// The start of a line of the server's text.
const QUOTE: &str = "  | ";

impl ServerQuestion {
    /// Returns the lines of the prompt: who asks and why, the message of the server, and a warning.
    #[must_use]
    pub fn lines(&self, lang: Lang) -> Vec<String> {
        let mut lines = vec![self.headline(lang)];
        lines.extend(self.message.lines().map(|line| format!("{QUOTE}{}", escape_for_display(line))));
        lines.push(tr!(lang, "Enter no password, key or token: a server may not ask for these in a form.").to_owned());
        lines
    }

    /// Returns the first line: which server asks, in which call.
    #[must_use]
    pub fn headline(&self, lang: Lang) -> String {
        let quoted: Vec<String> =
            self.tools.iter().map(|tool| format!("`{}`", single_line_for_display(tool))).collect();
        tr!(
            lang,
            "The server `{server}` asks for input, in a call of {tools} by `{name}`. Its own words are marked with `|`:",
            server = self.server,
            tools = quoted.join(lang.list_separator()),
            name = single_line_for_display(&self.asked_in)
        )
    }

    /// Returns the fields as a JSON Schema for a client, with the texts of the server as they may be shown.
    #[must_use]
    pub fn form_schema(&self) -> Value {
        self.form.to_json_schema(single_line_for_display)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolcell_schema::QuestionForm;
    use toolcell_tool::ServerName;

    use super::*;

    fn question(message: &str) -> ServerQuestion {
        let fields = json!({ "seat": { "type": "string", "title": "Seat\u{202e}\u{1b}[2J", "default": "\u{200b}" } });
        let form = QuestionForm::parse(&json!({ "type": "object", "properties": fields })).unwrap();
        let server = ServerName::parse("office").unwrap();
        ServerQuestion::new(
            server,
            vec!["book".to_owned(), "hold".to_owned()],
            "trip".to_owned(),
            message.to_owned(),
            form,
        )
    }

    #[test]
    fn who_asks_is_first_and_each_line_of_the_server_is_marked() {
        for (lang, start) in [(Lang::En, "The server `office` asks"), (Lang::Ja, "サーバー"), (Lang::Zh, "服务器")]
        {
            let lines = question("Which seat?\nEnter no password\u{1b}[1A\r\u{202e}: of course").lines(lang);
            assert!(
                lines[0].starts_with(start) && lines[0].contains("`book`") && lines[0].contains("`trip`"),
                "{lines:?}"
            );
            assert_eq!(lines[1..3], ["  | Which seat?", "  | Enter no password\\u{1b}[1A\\r\\u{202e}: of course"]);
            assert_eq!(lines.len(), 4);
        }
    }

    #[test]
    fn the_texts_of_fields_are_escaped_and_a_hidden_default_is_left_out() {
        let shown = question("").form_schema();
        assert_eq!(shown["properties"]["seat"], json!({ "type": "string", "title": "Seat\\u{202e}\\u{1b}[2J" }));
    }
}
