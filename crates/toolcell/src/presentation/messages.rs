//! The answers as text: in Japanese exactly as the contract words them, in English and Chinese with
//! the same structure.
//!
//! Invariant: a text renders a value and adds nothing to it. The code that prints it on a terminal
//! escapes its control characters.

use std::fmt::Write as _;

use toolcell_error::ErrorCode;
use toolcell_host::Outcome;
use toolcell_i18n::{Lang, tr};
use toolcell_schema::Parameter;
use toolcell_store::{Entry, VersionCommit};
use toolcell_tool::{Status, ToolName};

use crate::operations::create::{CreateError, CreateResult};
use crate::operations::delete::DeleteError;
use crate::operations::deprecate::DeprecateResult;
use crate::operations::list::{ListToolsError, ToolList};
use crate::operations::retire::{RetireError, RetireReason};
use crate::operations::run::{Deprecation, RunError, RunResult, ToolFailure};

/// Selects the text of a language.
pub(crate) fn localized(lang: Lang, ja: &'static str, en: &'static str, zh: &'static str) -> &'static str {
    match lang {
        Lang::Ja => ja,
        Lang::En => en,
        Lang::Zh => zh,
    }
}

/// Returns the message of a failure: `{headline}: {detail}`.
fn failure_message(code: ErrorCode, detail: &str, lang: Lang) -> String {
    match code.title(lang) {
        Some(headline) if detail.is_empty() => headline.to_owned(),
        Some(headline) => format!("{headline}{}{detail}", lang.colon()),
        None => detail.to_owned(),
    }
}

/// Returns the text of a failed operation.
fn error_text(message: &str, lang: Lang) -> String {
    format!("{}{}{message}", localized(lang, "エラー", "error", "错误"), lang.colon())
}

/// Returns the text of an operation that failed with this code.
pub(crate) fn error_text_for_code(code: ErrorCode, detail: &str, lang: Lang) -> String {
    error_text(&failure_message(code, detail, lang), lang)
}

/// A builder for text lines, without a final line feed.
struct Lines(String);

impl Lines {
    fn push_line(&mut self, line: std::fmt::Arguments<'_>) -> &mut Self {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{line}");
        self
    }

    fn finish(mut self) -> String {
        // The line feeds at the end of a result are kept.
        self.0.pop();
        self.0
    }
}

impl CreateResult {
    /// Returns the answer of `create_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let Self { name, id, scores, description, .. } = self;
        let (id, colon) = (id.short(), lang.colon());
        let verified = if self.status == Status::Passed { "verified" } else { "unverified" };
        let mut lines = Lines(String::new());
        match lang {
            Lang::Ja => lines.push_line(format_args!("ツール「{name}」を作成しました。\n\nツールID: {id}")),
            Lang::En => lines.push_line(format_args!("Created the tool `{name}`.\n\nTool ID: {id}")),
            Lang::Zh => lines.push_line(format_args!("已创建工具「{name}」。\n\n工具 ID：{id}")),
        };
        lines.push_line(format_args!(
            "{}{colon}{:.2}",
            localized(lang, "安全性スコア", "Safety score", "安全评分"),
            scores.safety
        ));
        lines.push_line(format_args!(
            "{}{colon}{:.2}",
            localized(lang, "品質スコア", "Quality score", "质量评分"),
            scores.quality
        ));
        lines.push_line(format_args!("{}{colon}{verified}\n", localized(lang, "検証状態", "Verification", "验证状态")));
        lines.push_line(format_args!("{}\n{description}\n", localized(lang, "説明:", "Description:", "描述：")));
        if !self.parameters.is_empty() {
            lines.push_line(format_args!("{}", localized(lang, "パラメータ:", "Parameters:", "参数：")));
            for Parameter { name, kind, description, .. } in &self.parameters {
                match lang {
                    Lang::Ja | Lang::En => lines.push_line(format_args!("- {name} ({kind}): {description}")),
                    Lang::Zh => lines.push_line(format_args!("- {name}（{kind}）：{description}")),
                };
            }
            lines.push_line(format_args!(""));
        }
        lines.push_line(format_args!("{}", localized(lang, "使用方法:", "Usage:", "用法：")));
        lines.push_line(format_args!("run_dynamic_tool({{ tool_id: \"{id}\", parameters: {{ /* ... */ }} }})"));
        for alike in &self.equivalent {
            let (name, id, count) = (&alike.entry.name, alike.entry.id.short(), alike.inputs);
            match lang {
                Lang::Ja => lines.push_line(format_args!(
                    "\n補足: 既存のツール「{name}」({id})が{count}件の入力に同じ結果を返します"
                )),
                Lang::En => lines.push_line(format_args!(
                    "\nNote: the tool `{name}` ({id}) gives the same answers to {count} inputs"
                )),
                Lang::Zh => {
                    lines.push_line(format_args!("\n备注：已有工具「{name}」（{id}）对 {count} 个输入给出相同的结果"))
                }
            };
        }
        lines.finish()
    }
}

impl CreateError {
    /// Returns the answer of a failed `create_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text(&self.to_message(lang), lang)
    }

    /// Returns the error message on one line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        match self.taken_name() {
            Some(name) => format!("{}{}{self}", tr!(lang, "the tool `{name}` exists already", name), lang.colon()),
            None => failure_message(self.code(), &self.to_string(), lang),
        }
    }
}

impl RunResult {
    /// Returns the answer of `run_dynamic_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let name = &self.name;
        let (label, ms) = (localized(lang, "実行時間", "Time", "耗时"), self.report.usage.duration.as_millis());
        let took = format!("{label}{}{ms}ms", lang.colon());
        let mut lines = Lines(String::new());
        match self.value() {
            Ok(_) => {
                match lang {
                    Lang::Ja => {
                        lines.push_line(format_args!("ツール「{name}」の実行が完了しました。\n\n{took}\n\n結果:"))
                    }
                    Lang::En => lines.push_line(format_args!("Ran the tool `{name}`.\n\n{took}\n\nResult:")),
                    Lang::Zh => lines.push_line(format_args!("工具「{name}」执行完成。\n\n{took}\n\n结果：")),
                };
                let output = self.output(lang);
                lines.push_line(format_args!("{output}"));
            }
            Err(failed) => {
                match lang {
                    Lang::Ja => lines.push_line(format_args!("ツール「{name}」の実行に失敗しました。\n\n{took}")),
                    Lang::En => lines.push_line(format_args!("The tool `{name}` failed.\n\n{took}")),
                    Lang::Zh => lines.push_line(format_args!("工具「{name}」执行失败。\n\n{took}")),
                };
                lines.push_line(format_args!("{}", error_text(&failed.to_message(lang), lang)));
            }
        }
        for context in &self.context {
            let hook = &context.hook;
            match lang {
                Lang::Ja => lines.push_line(format_args!("\n補足 (フック「{hook}」): {}", context.text)),
                Lang::En => lines.push_line(format_args!("\nNote (hook `{hook}`): {}", context.text)),
                Lang::Zh => lines.push_line(format_args!("\n备注（钩子「{hook}」）：{}", context.text)),
            };
        }
        if let Some(deprecation) = &self.deprecated {
            let (note, text) = (localized(lang, "補足", "Note", "备注"), deprecation.to_text(name, lang));
            lines.push_line(format_args!("\n{note}{}{text}", lang.colon()));
        }
        lines.finish()
    }

    /// Returns the tool's result as text.
    fn output(&self, lang: Lang) -> String {
        match &self.report.outcome {
            _ if self.output_suppressed => {
                localized(lang, "(出力はフックにより非表示です)", "(output hidden by a hook)", "（输出已被钩子隐藏）")
                    .to_owned()
            }
            Outcome::Returned(Some(value)) => value.to_text(),
            _ => String::new(),
        }
    }
}

impl Deprecation {
    /// Returns the deprecation notice for the tool with this name, with its successor.
    #[must_use]
    pub fn to_text(&self, name: &ToolName, lang: Lang) -> String {
        match (&self.successor, lang) {
            (Some(new), Lang::Ja) => {
                format!("ツール「{name}」は非推奨です。代わりに「{new}」を使用してください")
            }
            (Some(new), Lang::En) => format!("the tool `{name}` is deprecated; use `{new}` instead"),
            (None, Lang::Ja) => format!("ツール「{name}」は非推奨です"),
            (None, Lang::En) => format!("the tool `{name}` is deprecated"),
            (Some(new), Lang::Zh) => format!("工具「{name}」已弃用，请改用「{new}」"),
            (None, Lang::Zh) => format!("工具「{name}」已弃用"),
        }
    }
}

impl ToolFailure {
    /// Returns the error message on one line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        failure_message(self.code(), &self.to_string(), lang)
    }
}

impl RunError {
    /// Returns the answer of a refused `run_dynamic_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text(&self.to_message(lang), lang)
    }

    /// Returns the error message on one line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        // The headline already says that the parameters are invalid.
        let detail = if let Self::Params(error) = self { error.detail().to_text(lang) } else { self.to_string() };
        failure_message(self.code(), &detail, lang)
    }
}

impl ToolList {
    /// Returns the answer of `list_dynamic_tools`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let mut lines = Lines(String::new());
        let count = self.tools.len();
        match lang {
            Lang::Ja => lines.push_line(format_args!("# 登録済み動的ツール ({count}件)")),
            Lang::En => lines.push_line(format_args!("# Registered dynamic tools ({count})")),
            Lang::Zh => lines.push_line(format_args!("# 已注册的动态工具（{count} 个）")),
        };
        for entry in &self.tools {
            push_list_entry(entry, self.successors.get(&entry.id), lang, &mut lines);
        }
        if let Some(next) = &self.next_cursor {
            let more = self.remaining;
            match lang {
                Lang::Ja => lines.push_line(format_args!("\n他に{more}件あります。続き: cursor: \"{next}\"")),
                Lang::En => lines.push_line(format_args!("\nThere are {more} more: cursor: \"{next}\"")),
                Lang::Zh => lines.push_line(format_args!("\n还有 {more} 个工具。继续查看：cursor: \"{next}\"")),
            };
        }
        lines.finish()
    }
}

fn push_list_entry(entry: &Entry, successor: Option<&ToolName>, lang: Lang, lines: &mut Lines) {
    let colon = lang.colon();
    let none = localized(lang, "なし", "none", "无");
    let tags =
        if entry.tags.is_empty() { none.to_owned() } else { entry.tags.join(localized(lang, ", ", ", ", "、")) };
    let used =
        entry.last_used_at.map_or_else(|| localized(lang, "未使用", "never", "从未").to_owned(), |at| at.to_string());
    lines.push_line(format_args!("\n## {}\n- ID{colon}{}", entry.name, entry.id.short()));
    // A description must not look like another list entry.
    let description = entry.description.replace('\n', "\n  ");
    lines.push_line(format_args!("- {}{colon}{description}", localized(lang, "説明", "Description", "描述")));
    lines.push_line(format_args!(
        "- {}{colon}{:.2}",
        localized(lang, "信頼度", "Confidence", "置信度"),
        entry.confidence
    ));
    match lang {
        Lang::Ja => lines.push_line(format_args!("- 使用回数: {}回 | 最終使用: {used}", entry.runs)),
        Lang::En => lines.push_line(format_args!("- Runs: {} | Last used: {used}", entry.runs)),
        Lang::Zh => lines.push_line(format_args!("- 使用次数：{} | 上次使用：{used}", entry.runs)),
    };
    let instead = successor.map_or_else(String::new, |name| match lang {
        Lang::Ja => format!(" (代わりに「{name}」を使用)"),
        Lang::En => format!(" (use `{name}` instead)"),
        Lang::Zh => format!("（请改用「{name}」）"),
    });
    let status = localized(lang, "検証状態", "Verification", "验证状态");
    lines.push_line(format_args!("- {status}{colon}{}{instead}", entry.status));
    lines.push_line(format_args!("- {}{colon}{tags}", localized(lang, "タグ", "Tags", "标签")));
}

impl ListToolsError {
    /// Returns the answer of a failed `list_dynamic_tools`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text(&failure_message(self.code(), &self.to_string(), lang), lang)
    }
}

/// Returns the answer of `delete_dynamic_tool`.
#[must_use]
pub fn deleted_text(step: &VersionCommit, lang: Lang) -> String {
    let (name, id) = (&step.name, step.id.short());
    match lang {
        Lang::Ja => format!("ツール「{name}」({id})を削除しました。"),
        Lang::En => format!("Deleted the tool `{name}` ({id})."),
        Lang::Zh => format!("已删除工具「{name}」（{id}）。"),
    }
}

/// Returns the answer of a deprecation.
#[must_use]
pub fn deprecated_text(done: &DeprecateResult, lang: Lang) -> String {
    let (name, id) = (&done.name, done.tool.short());
    match (&done.successor, lang) {
        (Some(Entry { name: new, .. }), Lang::Ja) => {
            format!("ツール「{name}」({id})を非推奨にしました。代わりに「{new}」を使用します。")
        }
        (Some(Entry { name: new, .. }), Lang::En) => {
            format!("Deprecated the tool `{name}` ({id}) in favour of `{new}`.")
        }
        (None, Lang::Ja) => format!("ツール「{name}」({id})を非推奨にしました。"),
        (None, Lang::En) => format!("Deprecated the tool `{name}` ({id})."),
        (Some(Entry { name: new, .. }), Lang::Zh) => format!("已弃用工具「{name}」（{id}），改用「{new}」。"),
        (None, Lang::Zh) => format!("已弃用工具「{name}」（{id}）。"),
    }
}

impl RetireReason {
    /// Returns the reason as text.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        match (self, lang) {
            (Self::Failed, Lang::Ja) => "検証に失敗した".to_owned(),
            (Self::Failed, Lang::En) => "its verification failed".to_owned(),
            (Self::Failing { runs, failures }, Lang::Ja) => format!("{runs}回の実行のうち{failures}回失敗した"),
            (Self::Failing { runs, failures }, Lang::En) => format!("{failures} of {runs} runs failed"),
            (Self::Duplicate { of }, Lang::Ja) => format!("「{of}」と同じ動作をする"),
            (Self::Duplicate { of }, Lang::En) => format!("it duplicates `{of}`"),
            (Self::Superseded { by }, Lang::Ja) => format!("「{by}」に置き換えられた"),
            (Self::Superseded { by }, Lang::En) => format!("`{by}` superseded it"),
            (Self::Unused { since }, Lang::Ja) => format!("{}から使用されていない", since.strftime("%F")),
            (Self::Unused { since }, Lang::En) => format!("unused since {}", since.strftime("%F")),
            (Self::Failed, Lang::Zh) => "验证未通过".to_owned(),
            (Self::Failing { runs, failures }, Lang::Zh) => format!("{runs} 次运行中失败了 {failures} 次"),
            (Self::Duplicate { of }, Lang::Zh) => format!("与「{of}」的行为相同"),
            (Self::Superseded { by }, Lang::Zh) => format!("已被「{by}」取代"),
            (Self::Unused { since }, Lang::Zh) => format!("自 {} 起未被使用", since.strftime("%F")),
        }
    }
}

impl RetireError {
    /// Returns the answer of a failed retirement.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let said = match (self, lang) {
            // The contract's wording is for deletion.
            (Self::Unconfirmed { count }, Lang::Ja) => {
                format!("{count}件のツールを非推奨にするには confirm: true を指定してください")
            }
            (Self::Unconfirmed { count }, Lang::En) => format!("set confirm: true to retire {count} tools"),
            (Self::Unconfirmed { count }, Lang::Zh) => format!("要弃用 {count} 个工具，请指定 confirm: true"),
            _ => failure_message(self.code(), &self.to_string(), lang),
        };
        error_text(&said, lang)
    }
}

impl DeleteError {
    /// Returns the answer of a failed `delete_dynamic_tool`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text(&self.to_message(lang), lang)
    }

    /// Returns the error message on one line.
    #[must_use]
    pub fn to_message(&self, lang: Lang) -> String {
        // The contract prints only the headline for this error.
        let detail = if matches!(self, Self::Unconfirmed { .. }) { String::new() } else { self.to_string() };
        failure_message(self.code(), &detail, lang)
    }
}
