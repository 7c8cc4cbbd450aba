//! From the text of a JavaScript regular expression to its tree.
//!
//! The grammar is that of ECMAScript 2025: with `u` and `v` the strict one, else the lenient one of Annex B.
//! Invariant: it ends after one pass, no deeper than [`MAX_DEPTH`], and what it rejects as invalid is invalid. It
//! accepts a little more than an engine does, such as two groups of one name.

use rustc_hash::FxHashMap;

use super::charset::{CharSet, NEWLINES, units};
use super::flags::{Flags, Modes};
use super::syntax::{Assertion, MAX_DEPTH, Node, Pattern, Reject, Repeat};
use super::unicode;

/// How many ranges the sets of a pattern may have together, the same set counted as often as it occurs.
const MAX_RANGES: usize = 100_000;

/// How many groups may have the same name.
const MAX_NAMESAKES: usize = 16;

/// How many letters beyond ASCII have their other case looked up.
const MAX_FOLDED: u32 = 8_000;

/// A pattern that is being read.
#[derive(Debug)]
pub(super) struct Parser {
    /// Code points with `u` or `v`, else UTF-16 code units.
    units: Vec<u32>,
    at: usize,
    pub(super) modes: Modes,
    pub(super) flags: Flags,
    /// The groups of each name: several, if no two of them can take part in one match.
    names: FxHashMap<Vec<u32>, Vec<usize>>,
    groups: usize,
    opened: usize,
    depth: usize,
    sets: Vec<CharSet>,
    numbers: FxHashMap<CharSet, usize>,
    ranges_left: usize,
    folds_left: u32,
}

/// The tree of a pattern.
pub(super) fn parse(pattern: &str, flags: Flags) -> Result<Pattern, Reject> {
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
        folds_left: MAX_FOLDED,
    };
    parser.count_groups()?;
    let root = parser.choice()?;
    // Only a closing parenthesis can be left over.
    if parser.at < parser.units.len() {
        return Err(Reject::Invalid);
    }
    let Parser { groups, sets, .. } = parser;
    Ok(Pattern { root, sets, groups, unicode: flags.unicode, sticky: flags.sticky })
}

impl Parser {
    /// Numbers the groups ahead, because a backreference may stand before its group.
    fn count_groups(&mut self) -> Result<(), Reject> {
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
                        if groups.len() > MAX_NAMESAKES {
                            return Err(Reject::TooLarge);
                        }
                    }
                }
                _ => {}
            }
        }
        self.at = 0;
        Ok(())
    }

    /// The name of a group and the `>` after it.
    fn name(&mut self) -> Result<Vec<u32>, Reject> {
        let length = self.units[self.at..].iter().position(|unit| *unit == u32::from('>')).ok_or(Reject::Invalid)?;
        let name = self.units[self.at..self.at + length].to_vec();
        // A surrogate is half of a letter, and a backslash starts an escape: neither is looked into.
        let may_occur = |unit: &u32| {
            let written = char::from_u32(*unit);
            written.is_none_or(|c| c.is_alphanumeric() || "$_\\{}\u{200C}\u{200D}".contains(c) || !c.is_ascii())
        };
        let starts_well = name.first().is_some_and(|unit| !character(*unit).is_ascii_digit());
        if !starts_well || !name.iter().all(may_occur) {
            return Err(Reject::Invalid);
        }
        self.at += length + 1;
        Ok(name)
    }

    fn choice(&mut self) -> Result<Node, Reject> {
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

    fn sequence(&mut self) -> Result<Node, Reject> {
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

    fn term(&mut self) -> Result<Node, Reject> {
        let before = self.opened;
        let unquantifiable: &[&str] = &["^", "$", "\\b", "\\B", "(?<=", "(?<!", "(?=", "(?!"];
        // Annex B lets a lookahead have a quantifier.
        let count = if self.flags.unicode { 8 } else { 6 };
        let quantifiable = !unquantifiable.iter().take(count).any(|start| self.looking_at(start));
        let body = self.atom()?;
        let Some((min, max)) = self.quantifier()? else { return Ok(body) };
        if !quantifiable {
            return Err(Reject::Invalid);
        }
        let greedy = !self.eat("?");
        let groups = before + 1..self.opened + 1;
        let shape = body.shape();
        Ok(Node::Repeat(Box::new(Repeat { body, min, max, greedy, groups, shape })))
    }

    fn quantifier(&mut self) -> Result<Option<(u32, u32)>, Reject> {
        let counts = match self.peek() {
            Some('*') => (0, u32::MAX),
            Some('+') => (1, u32::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let Some(counts) = self.counts() else { return Ok(None) };
                return if counts.0 <= counts.1 { Ok(Some(counts)) } else { Err(Reject::Invalid) };
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(counts))
    }

    /// `{2}`, `{2,}` or `{2,3}`; without `u`, other braces are characters.
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

    fn atom(&mut self) -> Result<Node, Reject> {
        let multiline = self.modes.multiline;
        let assertion = |many, one| Ok(Node::Assertion(if multiline { many } else { one }));
        match self.next().map(character) {
            Some('^') => assertion(Assertion::LineStart, Assertion::TextStart),
            Some('$') => assertion(Assertion::LineEnd, Assertion::TextEnd),
            Some('(') => self.group(),
            Some('[') => self.class(),
            Some('\\') => self.escape(),
            Some('.') => {
                let none = if self.modes.dot_all { CharSet::default() } else { CharSet::of(NEWLINES) };
                self.set(none.complement(self.limit()))
            }
            Some('*' | '+' | '?') | None => Err(Reject::Invalid),
            Some('{') => {
                self.at -= 1;
                if self.flags.unicode || self.counts().is_some() {
                    return Err(Reject::Invalid);
                }
                self.at += 1;
                self.literal(u32::from('{'))
            }
            Some(']' | '}') if self.flags.unicode => Err(Reject::Invalid),
            Some(_) => self.literal(self.units[self.at - 1]),
        }
    }

    fn group(&mut self) -> Result<Node, Reject> {
        for (start, behind, negative) in
            [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)]
        {
            if self.eat(start) {
                return Ok(Node::Look { behind, negative, body: Box::new(self.inside()?) });
            }
        }
        if self.eat("?<") {
            self.name()?;
        } else if self.eat("?") {
            let before = self.modes;
            self.modifiers()?;
            let body = self.inside();
            self.modes = before;
            return body;
        }
        self.opened += 1;
        let index = self.opened;
        Ok(Node::Group { index, body: Box::new(self.inside()?) })
    }

    /// `i-s:` in `(?i-s:..)`, or only the colon.
    fn modifiers(&mut self) -> Result<(), Reject> {
        let mut on = true;
        loop {
            match self.next().map(character) {
                Some(':') => return Ok(()),
                Some('-') if on => on = false,
                Some(flag) => self.modes.set(flag, on)?,
                None => return Err(Reject::Invalid),
            }
        }
    }

    /// What is in a group, and its closing parenthesis.
    fn inside(&mut self) -> Result<Node, Reject> {
        self.enter()?;
        let body = self.choice()?;
        self.depth -= 1;
        if self.eat(")") { Ok(body) } else { Err(Reject::Invalid) }
    }

    /// One level deeper.
    pub(super) fn enter(&mut self) -> Result<(), Reject> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(Reject::TooLarge) } else { Ok(()) }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    fn escape(&mut self) -> Result<Node, Reject> {
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

    fn named_backreference(&mut self) -> Result<Node, Reject> {
        self.at += 1;
        if !self.eat("<") {
            return Err(Reject::Invalid);
        }
        let name = self.name()?;
        let groups = self.names.get(&name).ok_or(Reject::Invalid)?.clone();
        Ok(Node::Backreference { groups, ignore_case: self.modes.ignore_case })
    }

    /// Without `u`, a number that no group has is an octal escape or a plain digit.
    fn numbered_backreference(&mut self) -> Result<Node, Reject> {
        let start = self.at;
        let number = self.number().and_then(|number| usize::try_from(number).ok());
        match number.filter(|number| *number <= self.groups) {
            Some(group) => Ok(Node::Backreference { groups: vec![group], ignore_case: self.modes.ignore_case }),
            None if self.flags.unicode => Err(Reject::Invalid),
            None => {
                self.at = start;
                self.character_escape(false).and_then(|unit| self.literal(unit))
            }
        }
    }

    /// A node for one character of a set.
    pub(super) fn set(&mut self, set: CharSet) -> Result<Node, Reject> {
        self.ranges_left = self.ranges_left.checked_sub(set.ranges().len()).ok_or(Reject::TooLarge)?;
        if let Some(number) = self.numbers.get(&set) {
            return Ok(Node::Set(*number));
        }
        self.sets.push(set.clone());
        self.numbers.insert(set, self.sets.len() - 1);
        Ok(Node::Set(self.sets.len() - 1))
    }

    pub(super) fn literal(&mut self, unit: u32) -> Result<Node, Reject> {
        let set = self.cased(CharSet::one(unit));
        self.set(set)
    }

    /// With the other cases that the flag `i` adds.
    pub(super) fn cased(&mut self, set: CharSet) -> CharSet {
        if self.modes.ignore_case { set.with_both_cases(&mut self.folds_left) } else { set }
    }

    /// The largest character.
    pub(super) fn limit(&self) -> u32 {
        if self.flags.unicode { unicode::LAST } else { 0xFFFF }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.units.get(self.at).copied().map(character)
    }

    pub(super) fn next(&mut self) -> Option<u32> {
        let unit = self.units.get(self.at).copied();
        self.at += usize::from(unit.is_some());
        unit
    }

    pub(super) fn looking_at(&self, text: &str) -> bool {
        let rest = self.units.get(self.at..).unwrap_or_default();
        rest.len() >= text.len() && rest.iter().zip(text.chars()).all(|(unit, c)| *unit == u32::from(c))
    }

    /// Steps over a text in ASCII, if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.looking_at(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Steps back over a character.
    pub(super) fn back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }
}

/// A surrogate is a character that means nothing.
pub(super) fn character(unit: u32) -> char {
    char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
}
