//! `hidden-text`: characters that make a source read differently from how it runs ("Trojan Source",
//! CVE-2021-42574).

use rustc_hash::{FxHashMap, FxHashSet};
use toolcell_i18n::{Message, message, msgid};

use super::{Findings, Rule, RuleContext};
use crate::report::finding::{RuleId, Severity};

pub(super) const RULE: Rule =
    Rule { id: RuleId("hidden-text"), max_severity: Severity::High, docs: include_str!("hidden_text.md"), check };

const SUGGESTION: &str = msgid!("remove the character, or write it as an escape such as `\\u202e`");
const LOOKALIKE_SUGGESTION: &str = msgid!("write names in one script");

fn check(source: &RuleContext<'_>, findings: &mut Findings<'_>) {
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        // None of the characters is ASCII, and most lines are entirely ASCII.
        let letters = if line.is_ascii() { "" } else { line };
        for (at, letter) in letters.char_indices() {
            if let Some(message) = describe_hidden_char(letter) {
                let place = (start + at, start + at + letter.len_utf8());
                findings.add_at(Severity::High, place, message, SUGGESTION);
            }
        }
        start += line.len();
    }
    // Names that look alike but differ. Purely ASCII names are not compared with each other.
    if source.facts.idents.iter().all(|(name, _)| name.is_ascii()) {
        return;
    }
    let mut known: FxHashSet<&str> = FxHashSet::default();
    let mut looks: FxHashMap<String, &str> = FxHashMap::default();
    for (name, span) in &source.facts.idents {
        if !known.insert(name) {
            continue;
        }
        let look: String = unicode_security::skeleton(name).collect();
        match looks.get(&look) {
            Some(other) if *other != name && !name.is_ascii() | !other.is_ascii() => {
                let message = message!("has two names that look the same: `{name}`", name);
                findings.add(Severity::High, *span, message, LOOKALIKE_SUGGESTION);
            }
            Some(_) => {}
            None => {
                looks.insert(look, name);
            }
        }
    }
}

/// Returns a description of an invisible character.
fn describe_hidden_char(letter: char) -> Option<Message> {
    let code = u32::from(letter);
    Some(match letter {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            message!(
                "contains a character that changes the text direction (U+{code})",
                code = format_args!("{code:04X}")
            )
        }
        '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{180e}' | '\u{00ad}' | '\u{115f}' | '\u{1160}' | '\u{3164}' => {
            message!("contains an invisible character (U+{code})", code = format_args!("{code:04X}"))
        }
        '\u{e0000}'..='\u{e007f}' => {
            message!("contains an invisible tag character (U+{code})", code = format_args!("{code:04X}"))
        }
        _ => return None,
    })
}
