//! Matching of hooks to tools.
//!
//! Invariant: names that people would confuse match the same patterns. A tool called `Send_Mail`
//! cannot evade a hook for `send-mail`.

use super::HookError;

/// The patterns of the tools that a hook applies to. Without patterns it applies to every tool.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolMatcher(Vec<ToolPattern>);

#[derive(Debug, Clone)]
enum ToolPattern {
    Name(String),
    Prefix(String),
}

impl ToolMatcher {
    pub(super) fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, HookError> {
        texts.into_iter().map(|text| parse_pattern(text.as_ref())).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn matches(&self, tool_name: &str) -> bool {
        let name = case_folded(tool_name);
        self.0.is_empty()
            || self.0.iter().any(|pattern| match pattern {
                ToolPattern::Name(exact) => name == *exact,
                ToolPattern::Prefix(prefix) => name.starts_with(prefix.as_str()),
            })
    }
}

fn parse_pattern(text: &str) -> Result<ToolPattern, HookError> {
    let (stem, pattern): (_, fn(String) -> ToolPattern) = match text.strip_suffix('*') {
        Some(stem) => (stem, ToolPattern::Prefix),
        None => (text, ToolPattern::Name),
    };
    if text.is_empty() || stem.contains('*') {
        return Err(HookError::Pattern(text.to_owned()));
    }
    Ok(pattern(case_folded(stem)))
}

fn case_folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}
