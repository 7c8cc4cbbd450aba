//! The answers as text, in Japanese to the letter of the contract, and in English of the same structure.
//!
//! Invariant: a text is a rendering of a value and says nothing that is not in it. Whoever prints it on a terminal makes
//! its control characters visible.

use std::fmt::Write as _;

use toolcell_host::Outcome;
use toolcell_store::{Entry, Step};
use toolcell_tool::{Lang, Status, headline, name_taken};

use crate::create::{CreateError, Created};
use crate::delete::DeleteError;
use crate::list::{ListToolsError, Listed};
use crate::run::{Failed, Ran, RunError};

/// The text of one of two.
fn either(lang: Lang, ja: &'static str, en: &'static str) -> &'static str {
    match lang {
        Lang::Ja => ja,
        Lang::En => en,
    }
}

/// What a failure is called, and what is known of it: `{headline}: {detail}`.
fn message(code: &str, detail: &str, lang: Lang) -> String {
    match headline(code, lang) {
        Some(headline) if detail.is_empty() => headline.to_owned(),
        Some(headline) => format!("{headline}: {detail}"),
        None => detail.to_owned(),
    }
}

/// The text of an operation that was refused.
fn refused(message: &str, lang: Lang) -> String {
    format!("{}: {message}", either(lang, "エラー", "error"))
}

/// Text, line by line, without the last line feed.
struct Lines(String);

impl Lines {
    fn say(&mut self, line: std::fmt::Arguments<'_>) -> &mut Self {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{line}");
        self
    }

    fn done(mut self) -> String {
        // Of a result that ends with line feeds, none is lost.
        self.0.pop();
        self.0
    }
}

impl Created {
    /// The answer of `create_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let Self { name, id, scores, description, .. } = self;
        let id = id.short();
        let verified = if self.status == Status::Passed { "verified" } else { "unverified" };
        let mut lines = Lines(String::new());
        match lang {
            Lang::Ja => lines.say(format_args!("ツール「{name}」を作成しました。\n\nツールID: {id}")),
            Lang::En => lines.say(format_args!("Created the tool `{name}`.\n\nTool ID: {id}")),
        };
        lines.say(format_args!("{}: {:.2}", either(lang, "安全性スコア", "Safety score"), scores.safety));
        lines.say(format_args!("{}: {:.2}", either(lang, "品質スコア", "Quality score"), scores.quality));
        lines.say(format_args!("{}: {verified}\n", either(lang, "検証状態", "Verification")));
        lines.say(format_args!("{}:\n{description}\n", either(lang, "説明", "Description")));
        if !self.parameters.is_empty() {
            lines.say(format_args!("{}:", either(lang, "パラメータ", "Parameters")));
            for parameter in &self.parameters {
                lines.say(format_args!("- {} ({}): {}", parameter.name, parameter.kind, parameter.description));
            }
            lines.say(format_args!(""));
        }
        lines.say(format_args!("{}:", either(lang, "使用方法", "Usage")));
        lines.say(format_args!("run_dynamic_tool({{ tool_id: \"{id}\", parameters: {{ /* ... */ }} }})"));
        lines.done()
    }
}

impl CreateError {
    /// The answer of `create_tool` where it fails.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        refused(&self.to_message(lang), lang)
    }

    /// What went wrong, in a line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        match self.taken() {
            Some(name) => format!("{}: {self}", name_taken(name, lang)),
            None => message(self.code(), &self.to_string(), lang),
        }
    }
}

impl Ran {
    /// The answer of `run_dynamic_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let name = &self.name;
        let took = format!("{}: {}ms", either(lang, "実行時間", "Time"), self.report.usage.duration.as_millis());
        let mut lines = Lines(String::new());
        match self.value() {
            Ok(_) => {
                match lang {
                    Lang::Ja => lines.say(format_args!("ツール「{name}」の実行が完了しました。\n\n{took}\n\n結果:")),
                    Lang::En => lines.say(format_args!("Ran the tool `{name}`.\n\n{took}\n\nResult:")),
                };
                let output = self.output(lang);
                lines.say(format_args!("{output}"));
            }
            Err(failed) => {
                match lang {
                    Lang::Ja => lines.say(format_args!("ツール「{name}」の実行に失敗しました。\n\n{took}")),
                    Lang::En => lines.say(format_args!("The tool `{name}` failed.\n\n{took}")),
                };
                lines.say(format_args!("{}", refused(&failed.to_message(lang), lang)));
            }
        }
        for context in &self.context {
            let gate = &context.gate;
            match lang {
                Lang::Ja => lines.say(format_args!("\n補足 (フック「{gate}」): {}", context.text)),
                Lang::En => lines.say(format_args!("\nNote (gate `{gate}`): {}", context.text)),
            };
        }
        lines.done()
    }

    /// What the tool returned, as text.
    fn output(&self, lang: Lang) -> String {
        match &self.report.outcome {
            _ if self.suppressed => {
                either(lang, "(出力はフックにより非表示です)", "(a gate keeps the output from being shown)").to_owned()
            }
            Outcome::Returned(Some(value)) => value.to_text(),
            _ => String::new(),
        }
    }
}

impl Failed {
    /// What went wrong, in a line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        message(self.code(), &self.to_string(), lang)
    }
}

impl RunError {
    /// The answer of `run_dynamic_tool` where the tool does not run.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        refused(&self.to_message(lang), lang)
    }

    /// What went wrong, in a line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        // What parameters are called that do not pass is said already.
        let detail = if let Self::Params(error) = self { error.detail() } else { self.to_string() };
        message(self.code(), &detail, lang)
    }
}

impl Listed {
    /// The answer of `list_dynamic_tools`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let mut lines = Lines(String::new());
        let count = self.tools.len();
        match lang {
            Lang::Ja => lines.say(format_args!("# 登録済み動的ツール ({count}件)")),
            Lang::En => lines.say(format_args!("# Registered dynamic tools ({count})")),
        };
        for entry in &self.tools {
            listed(entry, lang, &mut lines);
        }
        if let Some(next) = &self.next {
            let more = self.more;
            match lang {
                Lang::Ja => lines.say(format_args!("\n他に{more}件あります。続き: cursor: \"{next}\"")),
                Lang::En => lines.say(format_args!("\nThere are {more} more: cursor: \"{next}\"")),
            };
        }
        lines.done()
    }
}

fn listed(entry: &Entry, lang: Lang, lines: &mut Lines) {
    let none = either(lang, "なし", "none");
    let tags = if entry.tags.is_empty() { none.to_owned() } else { entry.tags.join(", ") };
    let used = entry.last_used_at.map_or_else(|| either(lang, "未使用", "never").to_owned(), |at| at.to_string());
    lines.say(format_args!("\n## {}\n- ID: {}", entry.name, entry.id.short()));
    // What a model wrote about a tool must not read as another tool.
    let description = entry.description.replace('\n', "\n  ");
    lines.say(format_args!("- {}: {description}", either(lang, "説明", "Description")));
    lines.say(format_args!("- {}: {:.2}", either(lang, "信頼度", "Confidence"), entry.confidence));
    match lang {
        Lang::Ja => lines.say(format_args!("- 使用回数: {}回 | 最終使用: {used}", entry.runs)),
        Lang::En => lines.say(format_args!("- Runs: {} | Last used: {used}", entry.runs)),
    };
    lines.say(format_args!("- {}: {}", either(lang, "検証状態", "Verification"), entry.status));
    lines.say(format_args!("- {}: {tags}", either(lang, "タグ", "Tags")));
}

impl ListToolsError {
    /// The answer of `list_dynamic_tools` where there is no list.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        refused(&message(self.code(), &self.to_string(), lang), lang)
    }
}

/// The answer of `delete_dynamic_tool`.
#[must_use]
pub fn deleted_text(step: &Step, lang: Lang) -> String {
    let (name, id) = (&step.name, step.id.short());
    match lang {
        Lang::Ja => format!("ツール「{name}」({id})を削除しました。"),
        Lang::En => format!("Deleted the tool `{name}` ({id})."),
    }
}

impl DeleteError {
    /// The answer of `delete_dynamic_tool` where nothing is deleted.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        refused(&self.to_message(lang), lang)
    }

    /// What went wrong, in a line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        // The documents print this one and nothing more.
        let detail = if matches!(self, Self::Unconfirmed { .. }) { String::new() } else { self.to_string() };
        message(self.code(), &detail, lang)
    }
}
