//! Matches a task with what a template does.
//!
//! Invariant: a task matches only if each of its words is accounted for, so that no template is proposed for a task
//! that says more than the template does.

use serde::Deserialize;
use serde_json::{Map, Number, Value};

use super::token::{Token, TokenKind};

/// Words that are in each request.
const FILLER: &str = "FILLER";

/// One way to ask for a template.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ask {
    /// The concepts that must be there; `A|B` means one of them.
    need: Vec<String>,
    /// The concepts that may be there.
    #[serde(default)]
    allow: Vec<String>,
    /// The number of unknown words that may be there.
    #[serde(default)]
    unknown: usize,
    /// The parameters that the task sets.
    #[serde(default)]
    set: Slots,
    /// The parameters that this way of asking sets.
    #[serde(default)]
    fix: Map<String, Value>,
}

/// The parameters that the task sets, in the order of the file: numbers and quoted texts are bound in this order.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
struct Slots(Vec<(String, Slot)>);

impl TryFrom<Map<String, Value>> for Slots {
    type Error = serde_json::Error;

    fn try_from(slots: Map<String, Value>) -> Result<Self, Self::Error> {
        slots
            .into_iter()
            .map(|(name, slot)| Ok((name, serde_json::from_value(slot)?)))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// A parameter that the task sets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Slot {
    bind: Binding,
    concept: Option<String>,
    /// Whether the parameter keeps its default if the task does not say it.
    #[serde(default)]
    optional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Binding {
    /// A number.
    Number,
    /// A number that is followed by a percent sign.
    Percent,
    /// A quoted text.
    Quoted,
    /// The name of a field.
    Field,
    /// The value of a concept that has values.
    Value,
    /// The source of a conversion.
    From,
    /// The target of a conversion.
    To,
}

impl Ask {
    /// The number of needed concepts: a more specific way of asking goes first.
    pub(super) const fn specificity(&self) -> usize {
        self.need.len()
    }

    #[cfg(test)]
    pub(super) fn concepts(&self) -> impl Iterator<Item = &str> {
        let slots = self.set.0.iter().filter_map(|(_, slot)| slot.concept.as_deref());
        self.need.iter().flat_map(|it| it.split('|')).chain(self.allow.iter().map(String::as_str)).chain(slots)
    }

    #[cfg(test)]
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.set.0.iter().map(|(name, _)| name).chain(self.fix.keys()).map(String::as_str)
    }

    /// Returns the parameters that the task sets; `None` if the task does not match.
    pub(super) fn matches(&self, tokens: &[Token], takes_one_text: bool) -> Option<Map<String, Value>> {
        if takes_one_text && tokens.iter().any(is_several_texts) {
            return None;
        }
        let is_there =
            |need: &String| need.split('|').any(|concept| tokens.iter().any(|token| token.satisfies(concept)));
        if !self.need.iter().all(is_there) {
            return None;
        }
        let mut bound = self.fix.clone();
        let mut used: Vec<bool> = tokens.iter().map(|token| token.is_sample).collect();
        self.bind(tokens, &mut used, &mut bound)?;
        let mut unknown = 0;
        for (at, token) in tokens.iter().enumerate() {
            if used[at] || self.is_allowed(token) {
                continue;
            }
            unknown += 1;
            if unknown > self.unknown || !may_name_data(tokens, at) {
                return None;
            }
        }
        Some(bound)
    }

    fn is_allowed(&self, token: &Token) -> bool {
        token.is(FILLER)
            || self.need.iter().flat_map(|need| need.split('|')).any(|concept| token.is(concept))
            || self.allow.iter().any(|concept| token.is(concept))
    }

    fn bind(&self, tokens: &[Token], used: &mut [bool], bound: &mut Map<String, Value>) -> Option<()> {
        let positions = |is: &dyn Fn(&Token) -> bool| -> Vec<usize> {
            tokens.iter().enumerate().filter(|(_, token)| !token.is_sample && is(token)).map(|(at, _)| at).collect()
        };
        let mut numbers = positions(&|token| matches!(token.kind, TokenKind::Number(_))).into_iter();
        let mut quotations = positions(&|token| matches!(token.kind, TokenKind::Quoted)).into_iter();
        for (name, slot) in &self.set.0 {
            let concept = slot.concept.as_deref().unwrap_or_default();
            let found = match slot.bind {
                Binding::Number => numbers.next().and_then(|at| Some((at, number(&tokens[at])?))),
                Binding::Percent => numbers
                    .next()
                    .filter(|at| tokens.get(at + 1).is_some_and(|next| next.is("PERCENT")))
                    .and_then(|at| Some((at, number(&tokens[at])?))),
                Binding::Quoted => quotations.next().map(|at| (at, Value::from(tokens[at].text.clone()))),
                Binding::Field => field(tokens).map(|at| (at, Value::from(tokens[at].text.clone()))),
                Binding::Value => {
                    let all = positions(&|token| token.value_in(concept).is_some());
                    let first = all.first().and_then(|at| Some((*at, tokens[*at].value_in(concept)?)));
                    if first.is_some_and(|(_, value)| all.iter().any(|at| tokens[*at].value_in(concept) != Some(value)))
                    {
                        return None;
                    }
                    for at in all {
                        used[at] = true;
                    }
                    first.map(|(at, value)| (at, Value::from(value)))
                }
                Binding::From | Binding::To => {
                    let all = positions(&|token| token.value_in(concept).is_some());
                    let ends = direction(tokens, &all);
                    let at = ends.map(|(from, to)| if slot.bind == Binding::From { from } else { to });
                    at.and_then(|at| Some((at, Value::from(tokens[at].value_in(concept)?))))
                }
            };
            match found {
                Some((at, value)) => {
                    used[at] = true;
                    bound.insert(name.clone(), value);
                }
                None if slot.optional => {}
                None => return None,
            }
        }
        Some(())
    }
}

/// Whether a word means several texts: what is done to one is not done to a list of them.
fn is_several_texts(token: &Token) -> bool {
    const TEXTS: [&str; 9] =
        ["strings", "texts", "messages", "titles", "headlines", "comments", "paragraphs", "phrases", "names"];
    TEXTS.contains(&token.text.to_lowercase().as_str())
}

fn number(token: &Token) -> Option<Value> {
    let TokenKind::Number(number) = token.kind else { return None };
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and in the range of exact integers")]
    let number = if number.fract() == 0.0 && number.abs() < 9e15 {
        Some(Number::from(number as i64))
    } else {
        Number::from_f64(number)
    };
    number.map(Value::Number)
}

/// Whether an unknown word can be the name of what the data is of: a noun that neither begins the task nor
/// follows a word after which an action is expected.
fn may_name_data(tokens: &[Token], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &tokens[before]) else { return !tokens[at].text.is_ascii() };
    let is_action =
        ["to", "and", "then", "please", "let's", "can", "could", "will", "must", "should", "me", "you", "we", "i"]
            .contains(&before.text.to_lowercase().as_str());
    tokens[at].is_noun_like() && !(is_action && tokens[at].text.is_ascii())
}

/// The place of the name of a field: a quoted text if there is one, else the word after "by", or the only Latin word in
/// a text of another script.
fn field(tokens: &[Token]) -> Option<usize> {
    let mut quoted = tokens.iter().enumerate().filter(|(_, token)| matches!(token.kind, TokenKind::Quoted));
    if let Some((at, _)) = quoted.next() {
        return quoted.next().is_none().then_some(at);
    }
    if tokens.iter().any(|token| token.text.contains(super::vocabulary::is_unspaced)) {
        let mut latin = tokens.iter().enumerate().filter(|(_, token)| {
            matches!(token.kind, TokenKind::Unknown) && token.text.is_ascii() && is_field_name(&token.text)
        });
        let (at, _) = latin.next()?;
        return latin.next().is_none().then_some(at);
    }
    let by = tokens.iter().position(|token| token.is("BY"))?;
    let at = (by + 1..tokens.len()).find(|at| {
        !["the", "a", "an", "their", "its", "each", "field"].contains(&tokens[*at].text.to_lowercase().as_str())
    })?;
    let is_end = tokens.get(at + 1).is_none_or(|next| {
        (next.is("ORDER") || next.is(FILLER) || next.is("AND") || next.is("BY") || next.is("FIELD"))
            && !["of", "that", "which"].contains(&next.text.to_lowercase().as_str())
    });
    let is_name =
        matches!(tokens[at].kind, TokenKind::Unknown | TokenKind::Known(_)) && is_field_name(&tokens[at].text);
    (is_end && is_name && !tokens[at].is("ORDER")).then_some(at)
}

fn is_field_name(text: &str) -> bool {
    text.starts_with(|char: char| char.is_ascii_alphabetic())
        && text.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// The places of source and target of a conversion, in this order, of two tokens with values.
fn direction(tokens: &[Token], all: &[usize]) -> Option<(usize, usize)> {
    let [first, second] = *all else { return None };
    let before = |at: usize| at.checked_sub(1).map(|before| tokens[before].text.to_lowercase()).unwrap_or_default();
    let after = |at: usize| tokens.get(at + 1).map(|after| after.text.to_lowercase()).unwrap_or_default();
    let is_target = |at: usize| {
        [
            "to",
            "into",
            "as",
            "in",
            "成",
            "为",
            "到",
            "转换成",
            "转换为",
            "换算成",
            "换算为",
            "转为",
            "转成",
            "变成",
            "转",
        ]
        .contains(&before(at).as_str())
            || ["に", "へ"].contains(&after(at).as_str())
    };
    let is_source = |at: usize| {
        ["from", "of", "把", "将", "从"].contains(&before(at).as_str()) || ["から", "を"].contains(&after(at).as_str())
    };
    match () {
        () if is_target(first) && (is_source(second) || !is_target(second)) => Some((second, first)),
        () if is_target(second) || is_source(first) => Some((first, second)),
        () => None,
    }
}
