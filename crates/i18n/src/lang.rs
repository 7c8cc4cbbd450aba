//! A language of messages.

use crate::catalog;

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
    /// use toolcell_i18n::Lang;
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
    /// use toolcell_i18n::Lang;
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
    /// use toolcell_i18n::Lang;
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

    /// Returns the separator of the items of a list.
    ///
    /// # Examples
    /// ```
    /// use toolcell_i18n::Lang;
    ///
    /// assert_eq!(["a", "b"].join(Lang::En.list_separator()), "a, b");
    /// ```
    #[must_use]
    pub const fn list_separator(self) -> &'static str {
        match self {
            Self::En => ", ",
            Self::Ja | Self::Zh => "、",
        }
    }

    /// Returns the translation of an English text, or the text itself if there is none.
    ///
    /// # Examples
    /// ```
    /// use toolcell_i18n::Lang;
    ///
    /// assert_eq!(Lang::Ja.translate("error"), "エラー");
    /// assert_eq!(Lang::En.translate("error"), "error");
    /// assert_eq!(Lang::Zh.translate("calculate_average"), "calculate_average");
    /// ```
    #[must_use]
    pub fn translate(self, text: &str) -> &str {
        self.find(text).unwrap_or(text)
    }

    /// Returns the translation of an English text in a context, or the text itself if there is none.
    ///
    /// # Examples
    /// ```
    /// use toolcell_i18n::Lang;
    ///
    /// assert_eq!(Lang::Ja.translate_in("title", "permission denied"), "実行が許可されていません");
    /// ```
    #[must_use]
    pub fn translate_in<'a>(self, context: &str, text: &'a str) -> &'a str {
        if self == Self::En {
            return text;
        }
        self.find(&format!("{context}\u{4}{text}")).unwrap_or(text)
    }

    /// Whether the catalogue of this language contains a text. That of English contains each one.
    #[must_use]
    pub fn has_translation(self, text: &str) -> bool {
        self == Self::En || self.find(text).is_some()
    }
    fn find(self, key: &str) -> Option<&'static str> {
        if self == Self::En {
            return None;
        }
        let (ja, zh) = catalog::find(key)?;
        Some(if self == Self::Ja { ja } else { zh }).filter(|text| !text.is_empty())
    }
}
