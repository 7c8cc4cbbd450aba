//! The texts that go with stable codes, in the languages that Toolcell speaks.
//!
//! Invariant: a code has the same texts on every surface. The Japanese ones are those of the contract, to the letter.

/// A language that messages are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Lang {
    /// English
    #[default]
    En,
    /// Japanese
    Ja,
}

impl Lang {
    /// The language of a name such as `ja`, `ja_JP.UTF-8` or `en`; anything that is not Japanese is English.
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::Lang;
    ///
    /// assert_eq!(Lang::of_locale("ja_JP.UTF-8"), Lang::Ja);
    /// assert_eq!(Lang::of_locale("C"), Lang::En);
    /// ```
    #[must_use]
    pub fn of_locale(name: &str) -> Self {
        if name.starts_with("ja") { Self::Ja } else { Self::En }
    }
}

/// What a code means, without the detail of one case.
///
/// # Examples
/// ```
/// use toolcell_tool::{Lang, headline};
///
/// assert_eq!(headline("timeout", Lang::Ja), Some("実行タイムアウト"));
/// assert_eq!(headline("timeout", Lang::En), Some("execution timed out"));
/// assert_eq!(headline("no such code", Lang::En), None);
/// ```
#[must_use]
pub fn headline(code: &str, lang: Lang) -> Option<&'static str> {
    let (_, ja, en) = HEADLINES.iter().find(|(known, _, _)| *known == code)?;
    Some(match lang {
        Lang::Ja => ja,
        Lang::En => en,
    })
}

/// What `name-taken` means, which has the name in it.
///
/// # Examples
/// ```
/// use toolcell_tool::{Lang, name_taken};
///
/// assert_eq!(name_taken("average", Lang::Ja), "ツール名「average」は既に存在します");
/// ```
#[must_use]
pub fn name_taken(name: &str, lang: Lang) -> String {
    match lang {
        Lang::Ja => format!("ツール名「{name}」は既に存在します"),
        Lang::En => format!("the tool `{name}` exists already"),
    }
}

/// Code, Japanese, English.
const HEADLINES: &[(&str, &str, &str)] = &[
    ("name-required", "ツール名は必須です", "a name is required"),
    ("name-invalid", "ツール名は英字で始まり、英数字、アンダースコア、ハイフンのみ使用できます", "invalid name"),
    ("tool-limit-reached", "最大ツール数に達しています", "the limit of tools is reached"),
    ("critical-risk", "重大なセキュリティリスクが検出されました", "a critical security risk was found"),
    ("tool-not-found", "ツールが見つかりません", "tool not found"),
    ("parameters-missing", "必須パラメータが不足しています", "required parameters are missing"),
    ("parameters-invalid", "パラメータが不正です", "invalid parameters"),
    ("permission-denied", "実行が許可されていません", "permission denied"),
    ("result-withheld", "結果は保留されました", "the result is withheld"),
    ("confirm-required", "削除を確認するには confirm: true を指定してください", "to delete, say confirm: true"),
    ("timeout", "実行タイムアウト", "execution timed out"),
    ("out-of-fuel", "実行量の上限に達しました", "out of fuel"),
    ("out-of-memory", "メモリの上限に達しました", "out of memory"),
    ("output-too-large", "出力の上限に達しました", "the output is too large"),
    ("stalled", "完了しない Promise があります", "a promise never settles"),
    ("cancelled", "実行が中断されました", "execution was cancelled"),
    ("tool-failed", "ツール実行に失敗しました", "the tool failed"),
    ("syntax-error", "構文エラー", "syntax error"),
    ("syntax-unsupported", "対応していない構文です", "syntax that does not run here"),
    ("safety-check-failed", "安全性チェック失敗", "safety check failed"),
    ("integrity", "保存された内容が識別子と一致しません", "the content does not match its identifier"),
    ("console-too-large", "コンソール出力の上限に達しました", "the console output is too large"),
    ("too-many-operations", "同時操作数の上限に達しました", "too many operations at once"),
    ("stack-overflow", "スタックの上限に達しました", "stack overflow"),
    ("crashed", "エンジンの内部エラーです", "the engine inside the cell failed"),
];
