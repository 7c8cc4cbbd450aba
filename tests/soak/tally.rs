//! What was asked, what came of it, and what should not have.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

/// How many answers are shown that should not have come.
const SHOWN: usize = 5;

/// How often each thing came of each thing that was asked.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    came: BTreeMap<(&'static str, String), u64>,
    unexpected: u64,
    shown: Vec<String>,
}

impl Tally {
    /// Counts an answer, which should have one of these codes.
    pub(crate) fn count(&mut self, what: &'static str, expected: &[&str], answer: &str) {
        let code = code(answer);
        if !expected.contains(&code.as_str()) {
            self.unexpected += 1;
            if self.shown.len() < SHOWN {
                let answer: String = answer.chars().take(400).collect();
                self.shown.push(format!("{what}: `{code}` in place of {expected:?}: {answer}"));
            }
        }
        *self.came.entry((what, code)).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (key, count) in &other.came {
            *self.came.entry(key.clone()).or_default() += count;
        }
        self.unexpected += other.unexpected;
        let room = SHOWN.saturating_sub(self.shown.len());
        self.shown.extend(other.shown.iter().take(room).cloned());
    }

    pub(crate) fn is_expected(&self) -> bool {
        self.unexpected == 0
    }
}

/// The code of what came: `ok`, that of a failure, or what the protocol says.
pub(crate) fn code(answer: &str) -> String {
    if answer.is_empty() {
        return "nothing".to_owned();
    }
    let Ok(message) = serde_json::from_str::<Value>(answer) else { return "no JSON".to_owned() };
    let failure = &message["result"]["_meta"]["toolcell/error"]["code"];
    // A refusal over HTTP has a code of its own, and may hold a message of the protocol, which has another.
    let known = [failure, &message["code"], &message["error"]["data"]["code"]].into_iter().find_map(Value::as_str);
    match known {
        Some(code) => code.to_owned(),
        None if message["error"].is_object() => message["error"]["code"].to_string(),
        None => "ok".to_owned(),
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((what, code), count) in &self.came {
            writeln!(f, "{count:>9}  {what:32} {code}")?;
        }
        if self.unexpected > 0 {
            writeln!(f, "\n{} answers were not expected, among them:", self.unexpected)?;
        }
        self.shown.iter().try_for_each(|shown| writeln!(f, "  {shown}"))
    }
}
