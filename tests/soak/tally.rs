//! Counts replies by request, and collects unexpected ones.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// Number of unexpected replies that are printed.
const SHOWN: usize = 5;

/// How often each request got each code.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    outcomes: BTreeMap<(&'static str, String), u64>,
    unexpected: u64,
    shown: Vec<String>,
}

impl Tally {
    /// Counts a reply, which must have one of these codes.
    pub(crate) fn count(&mut self, what: &'static str, expected: &[&str], answer: &str) {
        let code = code(answer);
        if !expected.contains(&code.as_str()) {
            self.unexpected += 1;
            if self.shown.len() < SHOWN {
                let answer: String = answer.chars().take(400).collect();
                self.shown.push(format!("{what}: `{code}` in place of {expected:?}: {answer}"));
            }
        }
        *self.outcomes.entry((what, code)).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (key, count) in &other.outcomes {
            *self.outcomes.entry(key.clone()).or_default() += count;
        }
        self.unexpected += other.unexpected;
        let room = SHOWN.saturating_sub(self.shown.len());
        self.shown.extend(other.shown.iter().take(room).cloned());
    }

    pub(crate) fn is_expected(&self) -> bool {
        self.unexpected == 0
    }
}

/// Returns the code of a reply: `ok`, an operation's error code, or a protocol error code.
pub(crate) fn code(answer: &str) -> String {
    if answer.is_empty() {
        return "nothing".to_owned();
    }
    let Ok(message) = serde_json::from_str::<Value>(answer) else { return "no JSON".to_owned() };
    let failure = &message["result"]["_meta"]["toolcell/error"]["code"];
    // An HTTP error has a code of its own, and may contain a protocol message with another one.
    let known = [failure, &message["code"], &message["error"]["data"]["code"]].into_iter().find_map(Value::as_str);
    match known {
        Some(code) => code.to_owned(),
        None if message["error"].is_object() => message["error"]["code"].to_string(),
        None => "ok".to_owned(),
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((what, code), count) in &self.outcomes {
            writeln!(f, "{count:>9}  {what:32} {code}")?;
        }
        if self.unexpected > 0 {
            writeln!(f, "\n{} answers were not expected, among them:", self.unexpected)?;
        }
        self.shown.iter().try_for_each(|shown| writeln!(f, "  {shown}"))
    }
}
