//! The answer of `tool_reflection` as text: in Japanese to the letter of the contract, in English and Chinese of the same
//! structure.
//!
//! Invariant: what the caller said is on one line, and cut.

use toolcell_reflection::Decision;
use toolcell_store::Entry;
use toolcell_tool::Lang;

use super::{ReflectError, Reflected};
use crate::text::refused_text;

/// How much of the task is told, in characters.
const TASK: usize = 100;

impl Reflected {
    /// The answer of `tool_reflection`.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let task: String = self.task.trim().chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
        let task: String = task.chars().take(TASK).collect();
        let count = self.failed_attempts;
        let (recommended, next) = (self.recommended(lang), self.next(lang));
        // The documents print one sentence where nothing is recommended; what speaks against it is in the value.
        let reason = match (&self.reflection.decision, lang) {
            (Decision::None, Lang::Ja) => "ツール生成の条件を満たしていません".to_owned(),
            (Decision::None, Lang::En) => "the conditions for making a tool are not met".to_owned(),
            (Decision::None, Lang::Zh) => "不满足生成工具的条件".to_owned(),
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

    /// Why, in a sentence or two.
    #[must_use]
    pub fn reason(&self, lang: Lang) -> String {
        self.reflection.reason(lang)
    }

    fn recommended(&self, lang: Lang) -> &'static str {
        match (&self.reflection.decision, lang) {
            (Decision::Create, Lang::Ja) => "ツール生成",
            (Decision::Create, Lang::En) => "make a tool",
            (Decision::Create, Lang::Zh) => "生成工具",
            (Decision::Reuse(_), Lang::Ja) => "既存ツールの利用",
            (Decision::Reuse(_), Lang::En) => "use a tool that there is",
            (Decision::Reuse(_), Lang::Zh) => "使用现有工具",
            (Decision::Revise(_), Lang::Ja) => "既存ツールの修正",
            (Decision::Revise(_), Lang::En) => "mend a tool that there is",
            (Decision::Revise(_), Lang::Zh) => "修改现有工具",
            (Decision::Compose(_), Lang::Ja) => "既存ツールの組み合わせ",
            (Decision::Compose(_), Lang::En) => "use tools that there are, one after the other",
            (Decision::Compose(_), Lang::Zh) => "组合现有工具",
            (Decision::None, Lang::Ja) => "直接実行を継続",
            (Decision::None, Lang::En) => "go on without a tool",
            (Decision::None, Lang::Zh) => "继续直接执行",
        }
    }

    /// What to do next.
    fn next(&self, lang: Lang) -> String {
        if self.reflection.decision == Decision::None {
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
            (Decision::Revise(_), Lang::Ja) => "次のツールを直し、replace: true を付けて作成し直してください:",
            (Decision::Revise(_), Lang::En) => "Mend this tool, and make it again with replace: true:",
            (Decision::Revise(_), Lang::Zh) => "请修改以下工具，并加上 replace: true 重新创建：",
            (Decision::Create, Lang::Ja) => "以下のコマンドでツールを生成してください:",
            (Decision::Create, Lang::En) => "Make the tool with this command:",
            (Decision::Create, Lang::Zh) => "请用以下命令生成工具：",
            (_, Lang::Ja) => "以下のコマンドで実行してください:",
            (_, Lang::En) => "Run this:",
            (_, Lang::Zh) => "请执行以下命令：",
        };
        format!("\n{next}\n{said}\n{}", self.call())
    }

    /// The command, in the words of the contract.
    fn call(&self) -> String {
        if let Some(proposal) = &self.proposal {
            return proposal.to_call();
        }
        let of = |entry: &Entry| match self.reflection.decision {
            Decision::Revise(_) => format!("create_tool({{ name: '{}', /* ... */ replace: true }})", entry.name),
            _ => format!("run_dynamic_tool({{ tool_id: \"{}\", parameters: {{ /* ... */ }} }})", entry.id.short()),
        };
        self.tools.iter().map(of).collect::<Vec<_>>().join("\n")
    }
}

impl ReflectError {
    /// The answer of `tool_reflection` where it fails.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        refused_text(self.code(), &self.to_string(), lang)
    }
}
