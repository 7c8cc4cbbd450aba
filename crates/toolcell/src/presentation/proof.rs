//! The rendering of a proof as text.

use std::fmt::Write as _;

use toolcell_i18n::Lang;

use crate::presentation::messages::localized;
use crate::verification::proof::{Check, CheckKind, CheckStatus, Counterexample, Proof, ProofStatus};

impl Proof {
    /// Returns the checks and their results as text.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let (name, verdict) = (&self.name, status_text(self.verdict, lang));
        let mut text = match lang {
            Lang::Ja => format!("ツール「{name}」の検証: {verdict}\n"),
            Lang::En => format!("Verification of the tool `{name}`: {verdict}\n"),
            Lang::Zh => format!("工具「{name}」的验证：{verdict}\n"),
        };
        for check in &self.checks {
            // Writing to a string does not fail.
            let _ = write!(text, "\n- {}", check_text(check, lang));
        }
        if let Some(found) = &self.counterexample {
            text.push_str("\n\n");
            text.push_str(&found.to_text(lang));
        }
        if self.verdict == ProofStatus::Unproven {
            text.push_str("\n\n");
            text.push_str(localized(
                lang,
                "期待される結果を examples に書いて、もう一度検証してください",
                "add expected results to `examples`, and verify it again",
                "请在 examples 中写明期望的结果，然后重新验证",
            ));
        }
        text
    }
}

impl Counterexample {
    /// Returns the input and its fault as text.
    #[must_use]
    pub fn to_text(&self, lang: Lang) -> String {
        let colon = lang.colon();
        let place = self.place.map(|(line, column)| format!(" ({line}:{column})")).unwrap_or_default();
        let mut text = format!(
            "{}{colon}{}{place}\n{}{colon}{}",
            localized(lang, "反例", "counterexample", "反例"),
            self.message,
            localized(lang, "パラメータ", "parameters", "参数"),
            self.parameters
        );
        if let Some(with) = &self.found_with {
            let found = localized(lang, "最小化前", "before shrinking", "缩小前");
            let _ = write!(text, "\n{found}{colon}{}", crate::verification::proof::truncated_json(with));
        }
        text
    }
}

fn status_text(verdict: ProofStatus, lang: Lang) -> &'static str {
    match verdict {
        ProofStatus::Passed => localized(lang, "合格", "passed", "通过"),
        ProofStatus::Failed => localized(lang, "不合格", "failed", "未通过"),
        ProofStatus::Unproven => localized(lang, "証拠不足", "unproven", "证据不足"),
    }
}

fn check_text(check: &Check, lang: Lang) -> String {
    let name = match check.check {
        CheckKind::Examples => localized(lang, "使用例", "examples", "示例"),
        CheckKind::Determinism => localized(lang, "決定性", "determinism", "确定性"),
        CheckKind::Headroom => localized(lang, "余裕", "headroom", "余量"),
        CheckKind::Parameters => localized(lang, "パラメータ", "parameters", "参数"),
        CheckKind::Challenger => localized(lang, "挑戦者", "challenger", "挑战者"),
    };
    let ended = match check.verdict {
        CheckStatus::Passed => localized(lang, "合格", "passed", "通过"),
        CheckStatus::Failed => localized(lang, "不合格", "failed", "未通过"),
        CheckStatus::Skipped => localized(lang, "未実施", "skipped", "已跳过"),
    };
    format!("{name}{}{ended} ({})", lang.colon(), check.says)
}
