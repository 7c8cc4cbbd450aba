//! The parser of JavaScript regular expressions.
//!
//! The grammar is that of ECMAScript 2025: with `u` and `v` the strict one, else the lenient one of
//! Annex B. Invariant: it ends after one pass, no deeper than [`MAX_DEPTH`], and what it rejects as
//! invalid is invalid. It accepts a little more than an engine does, such as two groups of one
//! name.

use rustc_hash::FxHashMap;

use crate::charset::{CharSet, NEWLINES, units};
use crate::flags::{Flags, Modes};
use crate::syntax::{Assertion, MAX_DEPTH, Node, Pattern, PatternError, Repeat};
use crate::unicode;

/// The maximum number of ranges in the sets of a pattern; a repeated set counts each time.
const MAX_RANGES: usize = 100_000;

/// The maximum number of groups with the same name.
const MAX_GROUPS_PER_NAME: usize = 16;

/// The maximum number of letters beyond ASCII whose other case is looked up.
const MAX_CASE_FOLDS: u32 = 8_000;

/// The state of the parser.
#[derive(Debug)]
pub(crate) struct Parser {
    /// Code points with `u` or `v`, else UTF-16 code units.
    units: Vec<u32>,
    at: usize,
    pub(crate) modes: Modes,
    pub(crate) flags: Flags,
    /// The groups of each name: several, if no two of them can participate in one match.
    names: FxHashMap<Vec<u32>, Vec<usize>>,
    groups: usize,
    opened: usize,
    depth: usize,
    sets: Vec<CharSet>,
    numbers: FxHashMap<CharSet, usize>,
    ranges_left: usize,
    folds_left: u32,
}

/// Parses a pattern.
pub(crate) fn parse(pattern: &str, flags: Flags) -> Result<Pattern, PatternError> {
    let units = units(pattern, flags.unicode);
    let mut parser = Parser {
        units,
        at: 0,
        modes: flags.modes,
        flags,
        names: FxHashMap::default(),
        groups: 0,
        opened: 0,
        depth: 0,
        sets: Vec::new(),
        numbers: FxHashMap::default(),
        ranges_left: MAX_RANGES,
        folds_left: MAX_CASE_FOLDS,
    };
    parser.count_groups()?;
    let root = parser.choice()?;
    // Only a closing parenthesis can be left over.
    if parser.at < parser.units.len() {
        return Err(PatternError::Invalid);
    }
    let Parser { groups, sets, .. } = parser;
    Ok(Pattern { root, sets, groups, unicode: flags.unicode, sticky: flags.sticky })
}

impl Parser {
    /// Numbers the groups in advance, because a backreference may precede its group.
    fn count_groups(&mut self) -> Result<(), PatternError> {
        let mut in_class = false;
        while let Some(unit) = self.next() {
            match character(unit) {
                '\\' => _ = self.next(),
                '[' => in_class = true,
                ']' => in_class = false,
                '(' if !in_class => {
                    let named = self.looking_at("?<") && !self.looking_at("?<=") && !self.looking_at("?<!");
                    if named || !self.looking_at("?") {
                        self.groups += 1;
                    }
                    if named {
                        self.at += 2;
                        let name = self.name()?;
                        let groups = self.names.entry(name).or_default();
                        groups.push(self.groups);
                        if groups.len() > MAX_GROUPS_PER_NAME {
                            return Err(PatternError::TooLarge);
                        }
                    }
                }
                _ => {}
            }
        }
        self.at = 0;
        Ok(())
    }

    /// Parses the name of a group and the `>` after it.
    fn name(&mut self) -> Result<Vec<u32>, PatternError> {
        let length =
            self.units[self.at..].iter().position(|unit| *unit == u32::from('>')).ok_or(PatternError::Invalid)?;
        let name = self.units[self.at..self.at + length].to_vec();
        // A surrogate is half of a letter, and a backslash starts an escape: neither is inspected.
        let may_occur = |unit: &u32| {
            let written = char::from_u32(*unit);
            written.is_none_or(|c| c.is_alphanumeric() || "$_\\{}\u{200C}\u{200D}".contains(c) || !c.is_ascii())
        };
        let starts_well = name.first().is_some_and(|unit| !character(*unit).is_ascii_digit());
        if !starts_well || !name.iter().all(may_occur) {
            return Err(PatternError::Invalid);
        }
        self.at += length + 1;
        Ok(name)
    }

    fn choice(&mut self) -> Result<Node, PatternError> {
        let first = self.sequence()?;
        if !self.looking_at("|") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat("|") {
            parts.push(self.sequence()?);
        }
        Ok(Node::Choice(parts))
    }

    fn sequence(&mut self) -> Result<Node, PatternError> {
        let mut parts = Vec::new();
        while self.peek().is_some_and(|c| c != '|' && c != ')') {
            parts.push(self.term()?);
        }
        Ok(match parts.pop() {
            Some(only) if parts.is_empty() => only,
            Some(last) => {
                parts.push(last);
                Node::Sequence(parts)
            }
            None => Node::empty(),
        })
    }

    fn term(&mut self) -> Result<Node, PatternError> {
        let before = self.opened;
        let unquantifiable: &[&str] = &["^", "$", "\\b", "\\B", "(?<=", "(?<!", "(?=", "(?!"];
        // Annex B allows a quantifier after a lookahead.
        let count = if self.flags.unicode { 8 } else { 6 };
        let quantifiable = !unquantifiable.iter().take(count).any(|start| self.looking_at(start));
        let body = self.atom()?;
        let Some((min, max)) = self.quantifier()? else { return Ok(body) };
        if !quantifiable {
            return Err(PatternError::Invalid);
        }
        let greedy = !self.eat("?");
        let groups = before + 1..self.opened + 1;
        let shape = body.width();
        Ok(Node::Repeat(Box::new(Repeat { body, min, max, greedy, groups, width: shape })))
    }

    fn quantifier(&mut self) -> Result<Option<(u32, u32)>, PatternError> {
        let counts = match self.peek() {
            Some('*') => (0, u32::MAX),
            Some('+') => (1, u32::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let Some(counts) = self.counts() else { return Ok(None) };
                return if counts.0 <= counts.1 { Ok(Some(counts)) } else { Err(PatternError::Invalid) };
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(counts))
    }

    /// Parses `{2}`, `{2,}` or `{2,3}`; without `u`, other braces are characters.
    fn counts(&mut self) -> Option<(u32, u32)> {
        let start = self.at;
        let counts = self.braces();
        if counts.is_none() {
            self.at = start;
        }
        counts
    }

    fn braces(&mut self) -> Option<(u32, u32)> {
        self.at += 1;
        let min = self.number()?;
        let max = if self.eat(",") { if self.looking_at("}") { u32::MAX } else { self.number()? } } else { min };
        self.eat("}").then_some((min, max))
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            number = Some(number.unwrap_or(0_u32).saturating_mul(10).saturating_add(digit));
            self.at += 1;
        }
        number
    }

    fn atom(&mut self) -> Result<Node, PatternError> {
        let multiline = self.modes.multiline;
        let assertion = |many, one| Ok(Node::Assertion(if multiline { many } else { one }));
        match self.next().map(character) {
            Some('^') => assertion(Assertion::LineStart, Assertion::TextStart),
            Some('$') => assertion(Assertion::LineEnd, Assertion::TextEnd),
            Some('(') => self.group(),
            Some('[') => self.class(),
            Some('\\') => self.escape(),
            Some('.') => {
                let none = if self.modes.dot_all { CharSet::default() } else { CharSet::from_ranges(NEWLINES) };
                self.set(none.complement(self.last_character()))
            }
            Some('*' | '+' | '?') | None => Err(PatternError::Invalid),
            Some('{') => {
                self.at -= 1;
                if self.flags.unicode || self.counts().is_some() {
                    return Err(PatternError::Invalid);
                }
                self.at += 1;
                self.literal(u32::from('{'))
            }
            Some(']' | '}') if self.flags.unicode => Err(PatternError::Invalid),
            Some(_) => self.literal(self.units[self.at - 1]),
        }
    }

    fn group(&mut self) -> Result<Node, PatternError> {
        for (start, behind, negative) in
            [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)]
        {
            if self.eat(start) {
                return Ok(Node::Look { behind, negative, body: Box::new(self.group_body()?) });
            }
        }
        if self.eat("?<") {
            self.name()?;
        } else if self.eat("?") {
            let before = self.modes;
            self.modifiers()?;
            let body = self.group_body();
            self.modes = before;
            return body;
        }
        self.opened += 1;
        let index = self.opened;
        Ok(Node::Group { index, body: Box::new(self.group_body()?) })
    }

    /// Parses `i-s:` in `(?i-s:..)`, or only the colon.
    fn modifiers(&mut self) -> Result<(), PatternError> {
        let mut on = true;
        loop {
            match self.next().map(character) {
                Some(':') => return Ok(()),
                Some('-') if on => on = false,
                Some(flag) => self.modes.set(flag, on)?,
                None => return Err(PatternError::Invalid),
            }
        }
    }

    /// Parses the body of a group, and its closing parenthesis.
    fn group_body(&mut self) -> Result<Node, PatternError> {
        self.enter()?;
        let body = self.choice()?;
        self.depth -= 1;
        if self.eat(")") { Ok(body) } else { Err(PatternError::Invalid) }
    }

    /// Enters a nested group or class.
    pub(crate) fn enter(&mut self) -> Result<(), PatternError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(PatternError::TooLarge) } else { Ok(()) }
    }

    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    fn escape(&mut self) -> Result<Node, PatternError> {
        match self.peek() {
            Some(letter @ ('b' | 'B')) => {
                self.at += 1;
                Ok(Node::Assertion(if letter == 'b' { Assertion::WordBoundary } else { Assertion::NoWordBoundary }))
            }
            Some('k') if self.flags.unicode || !self.names.is_empty() => self.named_backreference(),
            Some('1'..='9') => self.numbered_backreference(),
            _ => match self.class_escape()? {
                Some(set) => self.set(set),
                None => self.character_escape(false).and_then(|unit| self.literal(unit)),
            },
        }
    }

    fn named_backreference(&mut self) -> Result<Node, PatternError> {
        self.at += 1;
        if !self.eat("<") {
            return Err(PatternError::Invalid);
        }
        let name = self.name()?;
        let groups = self.names.get(&name).ok_or(PatternError::Invalid)?.clone();
        Ok(Node::Backreference { groups, ignore_case: self.modes.ignore_case })
    }

    /// Parses a numbered backreference. Without `u`, a number without a group is an octal escape or
    /// a plain digit.
    fn numbered_backreference(&mut self) -> Result<Node, PatternError> {
        let start = self.at;
        let number = self.number().and_then(|number| usize::try_from(number).ok());
        match number.filter(|number| *number <= self.groups) {
            Some(group) => Ok(Node::Backreference { groups: vec![group], ignore_case: self.modes.ignore_case }),
            None if self.flags.unicode => Err(PatternError::Invalid),
            None => {
                self.at = start;
                self.character_escape(false).and_then(|unit| self.literal(unit))
            }
        }
    }

    /// Returns a node for one character of a set.
    pub(crate) fn set(&mut self, set: CharSet) -> Result<Node, PatternError> {
        self.ranges_left = self.ranges_left.checked_sub(set.ranges().len()).ok_or(PatternError::TooLarge)?;
        if let Some(number) = self.numbers.get(&set) {
            return Ok(Node::Set(*number));
        }
        self.sets.push(set.clone());
        self.numbers.insert(set, self.sets.len() - 1);
        Ok(Node::Set(self.sets.len() - 1))
    }

    pub(crate) fn literal(&mut self, unit: u32) -> Result<Node, PatternError> {
        let set = self.with_cases(CharSet::from_char(unit));
        self.set(set)
    }

    /// Adds the other cases, if the flag `i` is set.
    pub(crate) fn with_cases(&mut self, set: CharSet) -> CharSet {
        if self.modes.ignore_case { set.with_both_cases(&mut self.folds_left) } else { set }
    }

    /// Returns the largest character.
    pub(crate) fn last_character(&self) -> u32 {
        if self.flags.unicode { unicode::LAST } else { 0xFFFF }
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.units.get(self.at).copied().map(character)
    }

    pub(crate) fn next(&mut self) -> Option<u32> {
        let unit = self.units.get(self.at).copied();
        self.at += usize::from(unit.is_some());
        unit
    }

    pub(crate) fn looking_at(&self, text: &str) -> bool {
        let rest = self.units.get(self.at..).unwrap_or_default();
        rest.len() >= text.len() && rest.iter().zip(text.chars()).all(|(unit, c)| *unit == u32::from(c))
    }

    /// Steps over an ASCII text, if it comes next.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Steps back by one character.
    pub(crate) fn back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }
}

/// Converts a unit to a character; a surrogate becomes the replacement character.
pub(crate) fn character(unit: u32) -> char {
    char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
}
