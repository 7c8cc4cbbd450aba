//! A reader of test files that collects problems.
//!
//! Invariant: each value is taken once, and a value that is never taken is an unknown key.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolcell_i18n::{Message, message};

use super::{ReadPurpose, json};
use crate::budget::FuelBudget;
use crate::problem::{FilePosition, PositionIndex, SuiteProblem};

/// The minimum similarity of a key for a suggestion, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.7;

/// A test file that is being read.
pub(super) struct Reader<'t> {
    pub(super) path: &'t Path,
    pub(super) text: &'t str,
    pub(super) purpose: ReadPurpose,
    positions: PositionIndex<'t>,
    problems: Vec<SuiteProblem>,
}

/// The remaining members of a table.
pub(super) struct Fields<'t> {
    what: &'static str,
    known: &'static [&'static str],
    pub(super) span: Range<usize>,
    remaining: Vec<(Spanned<Cow<'t, str>>, Spanned<DeValue<'t>>)>,
}

impl<'t> Fields<'t> {
    /// Removes and returns a member.
    pub(super) fn take(&mut self, key: &str) -> Option<Spanned<DeValue<'t>>> {
        debug_assert!(self.known.contains(&key), "{key}");
        let at = self.remaining.iter().position(|(name, _)| name.get_ref() == key)?;
        Some(self.remaining.swap_remove(at).1)
    }

    /// Returns the span of a member's key, if the member is present.
    pub(super) fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.remaining.iter().find(|(name, _)| name.get_ref() == key).map(|(name, _)| name.span())
    }
}

impl<'t> Reader<'t> {
    pub(super) fn new(path: &'t Path, text: &'t str, purpose: ReadPurpose) -> Self {
        Self { path, text, purpose, positions: PositionIndex::new(text), problems: Vec::new() }
    }

    /// Returns the problems in the order of the file.
    pub(super) fn into_problems(mut self) -> Vec<SuiteProblem> {
        self.problems.sort_by_key(|problem| problem.place);
        self.problems
    }

    pub(super) fn has_no_problems(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn position(&self, span: &Range<usize>) -> FilePosition {
        self.positions.position(span.start)
    }

    /// Resolves a path relative to the test file.
    pub(super) fn sibling_path(&self, name: &str) -> PathBuf {
        self.path.parent().map_or_else(|| PathBuf::from(name), |folder| folder.join(name))
    }

    pub(super) fn report(&mut self, code: &'static str, place: FilePosition, message: Message, hint: Message) {
        self.problems.push(SuiteProblem { code, path: self.path.into(), place, message, hint });
    }

    /// Reports that the file is malformed.
    pub(super) fn invalid(&mut self, span: &Range<usize>, message: Message, hint: Message) {
        let place = self.position(span);
        self.report("test-invalid", place, message, hint);
    }

    /// Reports an expectation that cannot be met.
    pub(super) fn impossible(&mut self, span: &Range<usize>, message: Message, hint: Message) {
        let place = self.position(span);
        self.report("test-impossible", place, message, hint);
    }

    /// Parses the file as a TOML table.
    pub(super) fn table(&mut self) -> Option<Fields<'t>> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in &errors {
            let span = error.span().unwrap_or_default();
            let message = Message::verbatim(error.message().replace('\n', ", "));
            self.invalid(&span, message, message!("correct the TOML at this place"));
        }
        // Errors that follow from broken syntax would be guesses.
        let known = &["tool", "budget", "case"];
        errors.is_empty().then(|| {
            let span = table.span();
            Fields { what: "file", known, span, remaining: table.into_inner().into_iter().collect() }
        })
    }

    /// Returns the members of a table.
    pub(super) fn fields(
        &mut self,
        value: Spanned<DeValue<'t>>,
        what: &'static str,
        known: &'static [&'static str],
    ) -> Option<Fields<'t>> {
        let span = value.span();
        if let DeValue::Table(table) = value.into_inner() {
            return Some(Fields { what, known, span, remaining: table.into_iter().collect() });
        }
        let message = message!("`{what}` must be a table", what);
        self.invalid(&span, message, message!("write it as a table: key = value"));
        None
    }

    /// Reports the remaining members as unknown keys.
    pub(super) fn reject_unknown(&mut self, fields: Fields<'_>) {
        for (key, _) in fields.remaining {
            let (word, what) = (key.get_ref(), fields.what);
            let alike = |known: &&&str| strsim::jaro_winkler(word, known);
            let best = fields.known.iter().max_by(|one, other| alike(one).total_cmp(&alike(other)));
            let meant = best.filter(|best| alike(best) >= MIN_SIMILARITY);
            let table = || table_name(what);
            let message = match meant {
                Some(meant) if meant == word => {
                    message!("`{word}` is not allowed in this {table}", word, table = bare_table_name(what))
                }
                Some(meant) => {
                    message!("{table} has no `{word}`, did you mean `{meant}`?", table = table(), word, meant)
                }
                None => message!("{table} has no `{word}`", table = table(), word),
            };
            let hint = message!("the keys are {keys}", keys = fields.known.join(", "));
            self.invalid(&key.span(), message, hint);
        }
    }

    /// Returns a string.
    pub(super) fn text(&mut self, value: Spanned<DeValue<'t>>, what: &str) -> Option<Spanned<String>> {
        let span = value.span();
        match value.into_inner() {
            DeValue::String(text) => Some(Spanned::new(span, text.into_owned())),
            other => {
                let message = message!("`{what}` must be a string, not {actual}", what, actual = other.type_str());
                self.invalid(&span, message, message!("write it in quotes"));
                None
            }
        }
    }

    /// Returns an unsigned integer.
    pub(super) fn unsigned(&mut self, value: &Spanned<DeValue<'t>>, what: &str) -> Option<u64> {
        let number = value.get_ref().as_integer();
        let number = number.and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
        if number.is_none() {
            let message = message!("`{what}` must be a whole number, 0 or more", what);
            self.invalid(&value.span(), message, message!("write it without a sign, a fraction or quotes"));
        }
        number
    }

    /// Returns a list of strings.
    pub(super) fn texts(&mut self, value: Spanned<DeValue<'t>>, what: &str) -> Option<Vec<Spanned<String>>> {
        let span = value.span();
        let DeValue::Array(items) = value.into_inner() else {
            let message = message!("`{what}` must be a list of strings", what);
            self.invalid(&span, message, message!("write it in brackets"));
            return None;
        };
        items.into_iter().map(|item| self.text(item, what)).collect()
    }

    /// Converts a value to JSON.
    pub(super) fn json(&mut self, value: &Spanned<DeValue<'t>>, what: &str) -> Option<Value> {
        json::json_from_toml(value.get_ref())
            .map_err(|reason| {
                let hint = message!("write it as JSON text: {what}_json = '…'", what);
                self.invalid(&value.span(), reason, hint);
            })
            .ok()
    }

    /// Parses JSON from a string.
    pub(super) fn json_text(&mut self, value: Spanned<DeValue<'t>>, what: &str) -> Option<Value> {
        let text = self.text(value, what)?;
        serde_json::from_str(text.get_ref())
            .map_err(|error| {
                let message = message!("`{what}` is not valid JSON: {error}", what, error);
                self.invalid(&text.span(), message, message!("write JSON in single quotes"));
            })
            .ok()
    }

    /// Parses a JSON value from a TOML value under the key `plain`, or from JSON text under the key
    /// `text`.
    pub(super) fn json_field(&mut self, fields: &mut Fields<'t>, plain: &str, text: &str) -> Option<Value> {
        let (value, in_text) = (fields.take(plain), fields.take(text));
        match (value, in_text) {
            (Some(value), _) => self.json(&value, plain),
            (None, Some(value)) => self.json_text(value, text),
            (None, None) => None,
        }
    }

    /// Returns a fuel budget: the limit, and the fuel that was measured when it was written.
    pub(super) fn budget(&mut self, fields: &mut Fields<'t>, limit: &str, measured: &str) -> Option<FuelBudget> {
        let (limited, then) = (fields.take(limit), fields.take(measured));
        let then = then.and_then(|value| self.unsigned(&value, measured).map(|number| (number, value.span())));
        let Some(value) = limited else {
            if let Some((_, span)) = then {
                let message = message!("`{measured}` belongs to a budget, but there is no `{limit}`", measured, limit);
                self.impossible(&span, message, message!("remove it, or add the budget"));
            }
            return None;
        };
        let number = self.unsigned(&value, limit)?;
        if number == 0 {
            let message = message!("`{limit}` is 0, which no call can meet", limit);
            self.impossible(&value.span(), message, message!("remove it, or set a limit"));
            return None;
        }
        if let Some((then, span)) = then.as_ref().filter(|(then, _)| *then > number) {
            let message =
                message!("`{measured}` is {then}, which is more than the budget of {number}", measured, then, number,);
            self.impossible(span, message, message!("set a budget of at least the measured value"));
        }
        Some(FuelBudget { limit: number, measured: then.map(|(then, _)| then), place: self.position(&value.span()) })
    }
}

/// The name of a table in a message, with an article.
fn table_name(what: &'static str) -> Message {
    match what {
        "file" => message!("a file"),
        "budget" => message!("a budget"),
        "case" => message!("a case"),
        "answer" => message!("an answer"),
        key => message!("a {key}", key),
    }
}

/// The name of a table in a message, without an article.
fn bare_table_name(what: &'static str) -> Message {
    match what {
        "file" => message!("file"),
        "budget" => message!("budget"),
        "case" => message!("case"),
        "answer" => message!("answer"),
        key => Message::verbatim(key.to_owned()),
    }
}
