//! Which tools a gate is for.
//!
//! Invariant: names that people take for the same are the same here. A gate for `send-mail` cannot be evaded by a tool
//! called `Send_Mail`.

use super::GateError;

/// The tools that a gate is for; without any pattern, every tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns(Vec<Pattern>);

#[derive(Debug, Clone)]
enum Pattern {
    Name(String),
    Prefix(String),
}

impl Patterns {
    pub(super) fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, GateError> {
        texts.into_iter().map(|text| parse(text.as_ref())).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn fit(&self, tool_name: &str) -> bool {
        let name = folded(tool_name);
        self.0.is_empty()
            || self.0.iter().any(|pattern| match pattern {
                Pattern::Name(exact) => name == *exact,
                Pattern::Prefix(prefix) => name.starts_with(prefix.as_str()),
            })
    }
}

fn parse(text: &str) -> Result<Pattern, GateError> {
    let (stem, pattern): (_, fn(String) -> Pattern) = match text.strip_suffix('*') {
        Some(stem) => (stem, Pattern::Prefix),
        None => (text, Pattern::Name),
    };
    if text.is_empty() || stem.contains('*') {
        return Err(GateError::Pattern(text.to_owned()));
    }
    Ok(pattern(folded(stem)))
}

fn folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}
