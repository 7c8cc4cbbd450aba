//! The text answer of `tool_reflection`: in Japanese exactly as the contract words it, in English
//! and Chinese with the same structure.
//!
//! Invariant: text from the caller is on one line and truncated.

use toolcell_i18n::Lang;
use toolcell_reflection::Recommendation;
use toolcell_store::Entry;

use crate::operations::reflect::{ReflectError, ReflectResult};
use crate::presentation::messages::error_text_for_code;

/// The maximum length of the quoted task in characters.
const MAX_TASK_CHARS: usize = 100;

impl ReflectResult {
    /// Returns the answer of `tool_reflection`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let task: String = self.task.trim().chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
        let task: String = task.chars().take(MAX_TASK_CHARS).collect();
        let count = self.failed_attempts;
        let (recommended, next) = (self.recommended(lang), self.next_step(lang));
        // The contract prints one fixed sentence if nothing is recommended; the value contains the
        // evidence.
        let reason = match (&self.reflection.decision, lang) {
            (Recommendation::None, Lang::Ja) => "ツール生成の条件を満たしていません".to_owned(),
            (Recommendation::None, Lang::En) => "the conditions for creating a tool are not met".to_owned(),
            (Recommendation::None, Lang::Zh) => "不满足生成工具的条件".to_owned(),
            _ => self.reason(lang),
        };
        let head = match lang {
            Lang::Ja => format!(
                "# ツール生成反省\n\n## タスク分析\n- 説明: {task}...\n- 失敗回数: {count}\n\n## 推奨: {recommended}\n- 理由: {reason}"
            ),
            Lang::En => format!(
                "# Tool reflection\n\n## Task analysis\n- Description: {task}...\n- Failed attempts: {count}\n\n\
                 ## Recommended: {recommended}\n- Reason: {reason}"
            ),
            Lang::Zh => format!(
                "# 工具生成反思\n\n## 任务分析\n- 描述：{task}...\n- 失败次数：{count}\n\n## 建议：{recommended}\n- 理由：{reason}"
            ),
        };
        format!("{head}\n{next}")
    }

    /// Returns the reason in one or two sentences.
    #[must_use]
    pub fn reason(&self, lang: Lang) -> String {
        self.reflection.reason(lang)
    }

    fn recommended(&self, lang: Lang) -> &'static str {
        match (&self.reflection.decision, lang) {
            (Recommendation::Create, Lang::Ja) => "ツール生成",
            (Recommendation::Create, Lang::En) => "create a tool",
            (Recommendation::Create, Lang::Zh) => "生成工具",
            (Recommendation::Reuse(_), Lang::Ja) => "既存ツールの利用",
            (Recommendation::Reuse(_), Lang::En) => "use an existing tool",
            (Recommendation::Reuse(_), Lang::Zh) => "使用现有工具",
            (Recommendation::Revise(_), Lang::Ja) => "既存ツールの修正",
            (Recommendation::Revise(_), Lang::En) => "fix an existing tool",
            (Recommendation::Revise(_), Lang::Zh) => "修改现有工具",
            (Recommendation::Compose(_), Lang::Ja) => "既存ツールの組み合わせ",
            (Recommendation::Compose(_), Lang::En) => "combine existing tools",
            (Recommendation::Compose(_), Lang::Zh) => "组合现有工具",
            (Recommendation::None, Lang::Ja) => "直接実行を継続",
            (Recommendation::None, Lang::En) => "continue without a tool",
            (Recommendation::None, Lang::Zh) => "继续直接执行",
        }
    }

    /// Returns the next step.
    fn next_step(&self, lang: Lang) -> String {
        if self.reflection.decision == Recommendation::None {
            return match (lang, self.reflection.reusable) {
                (Lang::Ja, true) => "- 再利用可能性: あり",
                (Lang::Ja, false) => "- 再利用可能性: なし",
                (Lang::En, true) => "- Reusable: yes",
                (Lang::En, false) => "- Reusable: no",
                (Lang::Zh, true) => "- 可复用性：有",
                (Lang::Zh, false) => "- 可复用性：无",
            }
            .to_owned();
        }
        let next = match lang {
            Lang::Ja => "## 次のステップ",
            Lang::En => "## Next step",
            Lang::Zh => "## 下一步",
        };
        let said = match (&self.reflection.decision, lang) {
            (Recommendation::Revise(_), Lang::Ja) => "次のツールを直し、replace: true を付けて作成し直してください:",
            (Recommendation::Revise(_), Lang::En) => "Fix this tool, and create it again with replace: true:",
            (Recommendation::Revise(_), Lang::Zh) => "请修改以下工具，并加上 replace: true 重新创建：",
            (Recommendation::Create, Lang::Ja) => "以下のコマンドでツールを生成してください:",
            (Recommendation::Create, Lang::En) => "Create the tool with this command:",
            (Recommendation::Create, Lang::Zh) => "请用以下命令生成工具：",
            (_, Lang::Ja) => "以下のコマンドで実行してください:",
            (_, Lang::En) => "Run this:",
            (_, Lang::Zh) => "请执行以下命令：",
        };
        format!("\n{next}\n{said}\n{}", self.next_call())
    }

    /// Returns the next call, in the contract's wording.
    fn next_call(&self) -> String {
        if let Some(proposal) = &self.proposal {
            return proposal.to_call();
        }
        let of = |entry: &Entry| match self.reflection.decision {
            Recommendation::Revise(_) => format!("create_tool({{ name: '{}', /* ... */ replace: true }})", entry.name),
            _ => format!("run_dynamic_tool({{ tool_id: \"{}\", parameters: {{ /* ... */ }} }})", entry.id.short()),
        };
        self.tools.iter().map(of).collect::<Vec<_>>().join("\n")
    }
}

impl ReflectError {
    /// Returns the answer of a failed `tool_reflection`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        error_text_for_code(self.code(), &self.to_string(), lang)
    }
}
