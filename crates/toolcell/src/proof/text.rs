//! A proof as text, for people and models.

use std::fmt::Write as _;

use toolcell_tool::Lang;

use super::{Check, Counterexample, Ended, Proof, Trying, Verdict};
use crate::text::words;

impl Proof {
    /// What was tried and what came of it.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let (name, verdict) = (&self.name, said_verdict(self.verdict, lang));
        let mut text = match lang {
            Lang::Ja => format!("ツール「{name}」の検証: {verdict}\n"),
            Lang::En => format!("Verification of the tool `{name}`: {verdict}\n"),
            Lang::Zh => format!("工具「{name}」的验证：{verdict}\n"),
        };
        for check in &self.checks {
            // Writing to a string does not fail.
            let _ = write!(text, "\n- {}", said_check(check, lang));
        }
        if let Some(found) = &self.counterexample {
            text.push_str("\n\n");
            text.push_str(&found.to_text(lang));
        }
        if self.verdict == Verdict::Unproven {
            text.push_str("\n\n");
            text.push_str(words(
                lang,
                "期待される結果を examples に書いて、もう一度検証してください",
                "say in `examples` what it should do, and verify it again",
                "请在 examples 中写明期望的结果，然后重新验证",
            ));
        }
        text
    }
}

impl Counterexample {
    /// The input, and what is wrong with what the tool does with it.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let colon = lang.colon();
        let place = self.place.map(|(line, column)| format!(" ({line}:{column})")).unwrap_or_default();
        let mut text = format!(
            "{}{colon}{}{place}\n{}{colon}{}",
            words(lang, "反例", "counterexample", "反例"),
            self.message,
            words(lang, "パラメータ", "parameters", "参数"),
            self.parameters
        );
        if let Some(with) = &self.found_with {
            let found = words(lang, "最小化前", "found with", "缩小前");
            let _ = write!(text, "\n{found}{colon}{}", super::challenge::short(with));
        }
        text
    }
}

fn said_verdict(verdict: Verdict, lang: Lang) -> &'static str {
    match verdict {
        Verdict::Passed => words(lang, "合格", "passed", "通过"),
        Verdict::Failed => words(lang, "不合格", "failed", "未通过"),
        Verdict::Unproven => words(lang, "証拠不足", "unproven", "证据不足"),
    }
}

fn said_check(check: &Check, lang: Lang) -> String {
    let name = match check.check {
        Trying::Examples => words(lang, "使用例", "examples", "示例"),
        Trying::Determinism => words(lang, "決定性", "determinism", "确定性"),
        Trying::Headroom => words(lang, "余裕", "headroom", "余量"),
        Trying::Parameters => words(lang, "パラメータ", "parameters", "参数"),
        Trying::Challenger => words(lang, "挑戦者", "challenger", "挑战者"),
    };
    let ended = match check.verdict {
        Ended::Passed => words(lang, "合格", "passed", "通过"),
        Ended::Failed => words(lang, "不合格", "failed", "未通过"),
        Ended::Skipped => words(lang, "未実施", "skipped", "已跳过"),
    };
    format!("{name}{}{ended} ({})", lang.colon(), check.says)
}
