//! Localized titles of the stable codes.
//!
//! Invariant: a code has the same title on every surface. The Japanese titles are those of the
//! contract, to the letter.

use toolcell_error::ErrorCode;

/// A language of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Japanese.
    Ja,
    /// Simplified Chinese.
    Zh,
}

impl Lang {
    /// All languages.
    pub const ALL: [Self; 3] = [Self::En, Self::Ja, Self::Zh];

    /// Returns the language of a locale name such as `ja`, `zh_CN.UTF-8` or `en`. Locales that are
    /// neither Japanese nor Chinese map to English.
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::Lang;
    ///
    /// assert_eq!(Lang::from_locale("ja_JP.UTF-8"), Lang::Ja);
    /// assert_eq!(Lang::from_locale("zh-Hans"), Lang::Zh);
    /// assert_eq!(Lang::from_locale("C"), Lang::En);
    /// ```
    #[must_use]
    pub fn from_locale(name: &str) -> Self {
        if name.starts_with("ja") {
            Self::Ja
        } else if name.starts_with("zh") {
            Self::Zh
        } else {
            Self::En
        }
    }

    /// Returns the language tag used in options and files (ISO 639-1).
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::Lang;
    ///
    /// assert_eq!(Lang::ALL.map(Lang::name), ["en", "ja", "zh"]);
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ja => "ja",
            Self::Zh => "zh",
        }
    }

    /// Returns the separator between a label and its text, with the space if there is one: Chinese
    /// uses a full-width colon without a space.
    ///
    /// # Examples
    /// ```
    /// use toolcell_tool::Lang;
    ///
    /// assert_eq!(format!("error{}no", Lang::En.colon()), "error: no");
    /// assert_eq!(format!("错误{}no", Lang::Zh.colon()), "错误：no");
    /// ```
    #[must_use]
    pub const fn colon(self) -> &'static str {
        match self {
            Self::En | Self::Ja => ": ",
            Self::Zh => "：",
        }
    }
}

/// Returns the title of a stable code, without the details of a single case.
///
/// # Examples
/// ```
/// use toolcell_error::ErrorCode;
/// use toolcell_tool::{Lang, title_of_code};
///
/// assert_eq!(title_of_code(ErrorCode::Timeout, Lang::Ja), Some("実行タイムアウト"));
/// assert_eq!(title_of_code(ErrorCode::Timeout, Lang::En), Some("execution timed out"));
/// assert_eq!(title_of_code(ErrorCode::Timeout, Lang::Zh), Some("执行超时"));
/// assert_eq!(title_of_code(ErrorCode::Usage, Lang::En), None);
/// ```
#[must_use]
pub fn title_of_code(code: ErrorCode, lang: Lang) -> Option<&'static str> {
    let (_, ja, en, zh) = CODE_TITLES.iter().find(|(known, ..)| *known == code)?;
    Some(match lang {
        Lang::Ja => ja,
        Lang::En => en,
        Lang::Zh => zh,
    })
}

/// Returns the title of `name-taken`, which contains the name.
///
/// # Examples
/// ```
/// use toolcell_tool::{Lang, name_taken_title};
///
/// assert_eq!(name_taken_title("average", Lang::Ja), "ツール名「average」は既に存在します");
/// ```
#[must_use]
pub fn name_taken_title(name: &str, lang: Lang) -> String {
    match lang {
        Lang::Ja => format!("ツール名「{name}」は既に存在します"),
        Lang::En => format!("the tool `{name}` exists already"),
        Lang::Zh => format!("工具名称「{name}」已存在"),
    }
}

/// The titles: code, Japanese, English, Chinese.
const CODE_TITLES: &[(ErrorCode, &str, &str, &str)] = &[
    (ErrorCode::NameRequired, "ツール名は必須です", "a name is required", "工具名称不能为空"),
    (
        ErrorCode::NameInvalid,
        "ツール名は英字で始まり、英数字、アンダースコア、ハイフンのみ使用できます",
        "invalid name",
        "工具名称必须以英文字母开头，且只能包含英文字母、数字、下划线和连字符",
    ),
    (ErrorCode::ToolLimitReached, "最大ツール数に達しています", "the limit of tools is reached", "工具数量已达上限"),
    (
        ErrorCode::CriticalRisk,
        "重大なセキュリティリスクが検出されました",
        "a critical security risk was found",
        "检测到严重的安全风险",
    ),
    (ErrorCode::ToolNotFound, "ツールが見つかりません", "tool not found", "未找到工具"),
    (ErrorCode::ParametersMissing, "必須パラメータが不足しています", "required parameters are missing", "缺少必填参数"),
    (ErrorCode::ParametersInvalid, "パラメータが不正です", "invalid parameters", "参数无效"),
    (ErrorCode::PermissionDenied, "実行が許可されていません", "permission denied", "不允许执行"),
    (ErrorCode::ResultWithheld, "結果は保留されました", "the result is withheld", "结果已被拦截"),
    (
        ErrorCode::ConfirmRequired,
        "削除を確認するには confirm: true を指定してください",
        "to delete, say confirm: true",
        "如需删除，请指定 confirm: true",
    ),
    (ErrorCode::Timeout, "実行タイムアウト", "execution timed out", "执行超时"),
    (ErrorCode::OutOfFuel, "実行量の上限に達しました", "out of fuel", "执行燃料已耗尽"),
    (ErrorCode::OutOfMemory, "メモリの上限に達しました", "out of memory", "内存用量已达上限"),
    (ErrorCode::OutputTooLarge, "出力の上限に達しました", "the output is too large", "输出大小超过上限"),
    (ErrorCode::Stalled, "完了しない Promise があります", "a promise never settles", "存在永远不会完成的 Promise"),
    (ErrorCode::Cancelled, "実行が中断されました", "execution was cancelled", "执行已取消"),
    (ErrorCode::ToolFailed, "ツール実行に失敗しました", "the tool failed", "工具执行失败"),
    (ErrorCode::SyntaxError, "構文エラー", "syntax error", "语法错误"),
    (ErrorCode::SyntaxUnsupported, "対応していない構文です", "unsupported syntax", "不支持的语法"),
    (ErrorCode::SafetyCheckFailed, "安全性チェック失敗", "safety check failed", "安全检查未通过"),
    (
        ErrorCode::Integrity,
        "保存された内容が識別子と一致しません",
        "the content does not match its identifier",
        "存储的内容与标识符不一致",
    ),
    (
        ErrorCode::ConsoleTooLarge,
        "コンソール出力の上限に達しました",
        "the console output is too large",
        "控制台输出大小超过上限",
    ),
    (ErrorCode::TooManyOperations, "同時操作数の上限に達しました", "too many operations at once", "并发操作数已达上限"),
    (ErrorCode::StackOverflow, "スタックの上限に達しました", "stack overflow", "栈溢出"),
    (ErrorCode::Crashed, "エンジンの内部エラーです", "internal engine error", "沙箱内的引擎发生内部错误"),
    (ErrorCode::WorkerDied, "実行プロセスが終了しました", "the worker died", "运行工具的进程已终止"),
    (ErrorCode::NoWorker, "隔離プロセスを起動できません", "the jail is unavailable", "无法启动隔离进程"),
];
