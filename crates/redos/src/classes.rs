//! Parsing of escapes and of character classes.
//!
//! Invariant: with the flag `i`, a set gets both cases of its letters before it is complemented, as
//! in the standard.

use rustc_hash::FxHashSet;

use crate::charset::{CharSet, DIGITS, SPACE, WORD};
use crate::parser::{Parser, character};
use crate::syntax::{Node, PatternError};
use crate::unicode;

/// The members of a class with the flag `v`: characters, and strings.
#[derive(Debug, Default)]
struct Members {
    set: CharSet,
    strings: Vec<Vec<u32>>,
}

/// The maximum number of `&&` and `--` operands in one class.
const MAX_OPERANDS: usize = 100;

impl Parser {
    /// Parses the rest of a class, after `[`.
    pub(crate) fn class(&mut self) -> Result<Node, PatternError> {
        if !self.flags.set_notation {
            let set = self.plain_class()?;
            return self.set(set);
        }
        let Members { set, strings } = self.nested_class()?;
        let set = self.set(set)?;
        if strings.is_empty() {
            return Ok(set);
        }
        let mut parts = Vec::with_capacity(strings.len() + 1);
        for string in strings {
            let units: Result<Vec<Node>, PatternError> = string.into_iter().map(|unit| self.literal(unit)).collect();
            parts.push(Node::Sequence(units?));
        }
        parts.push(set);
        Ok(Node::Choice(parts))
    }

    fn plain_class(&mut self) -> Result<CharSet, PatternError> {
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        while !self.eat("]") {
            let low = self.class_atom()?;
            if !self.looking_at("-") || self.looking_at("-]") {
                ranges.extend_from_slice(low.ranges());
                continue;
            }
            self.eat("-");
            let high = self.class_atom()?;
            match (single(&low), single(&high)) {
                (Some(low), Some(high)) if low <= high => ranges.push((low, high)),
                (Some(_), Some(_)) => return Err(PatternError::Invalid),
                _ if self.flags.unicode => return Err(PatternError::Invalid),
                _ => {
                    ranges.extend(low.ranges().iter().chain(high.ranges()));
                    ranges.push((u32::from('-'), u32::from('-')));
                }
            }
        }
        Ok(self.finish_class(CharSet::from_ranges(&ranges), negated))
    }

    /// Adds the cases for the flag `i`, and complements the set if the class starts with `^`.
    fn finish_class(&mut self, set: CharSet, negated: bool) -> CharSet {
        let set = self.with_cases(set);
        if negated { set.complement(self.last_character()) } else { set }
    }

    fn class_atom(&mut self) -> Result<CharSet, PatternError> {
        let unit = self.next().ok_or(PatternError::Invalid)?;
        if character(unit) != '\\' {
            return Ok(CharSet::from_char(unit));
        }
        match self.class_escape()? {
            Some(set) => Ok(set),
            None => self.character_escape(true).map(CharSet::from_char),
        }
    }

    /// Parses `\d` and the like, after the backslash.
    pub(crate) fn class_escape(&mut self) -> Result<Option<CharSet>, PatternError> {
        let (set, negated) = match self.peek() {
            Some(letter @ ('d' | 'D')) => (CharSet::from_ranges(DIGITS), letter == 'D'),
            Some(letter @ ('w' | 'W')) => (CharSet::from_ranges(WORD), letter == 'W'),
            Some(letter @ ('s' | 'S')) => (CharSet::from_ranges(SPACE), letter == 'S'),
            Some(letter @ ('p' | 'P')) if self.flags.unicode => {
                self.next();
                let set = self.property()?;
                // With `u`, the complement is extended to both cases; with `v`, the set is extended
                // before the complement.
                if letter == 'P' && !self.flags.set_notation {
                    return Ok(Some(self.with_cases(set.complement(self.last_character()))));
                }
                return Ok(Some(self.finish_class(set, letter == 'P')));
            }
            _ => return Ok(None),
        };
        self.next();
        Ok(Some(if negated { set.complement(self.last_character()) } else { set }))
    }

    /// Parses `{Name}` or `{Name=Value}`.
    fn property(&mut self) -> Result<CharSet, PatternError> {
        if !self.eat("{") {
            return Err(PatternError::Invalid);
        }
        let mut text = String::new();
        loop {
            match self.next().map(character) {
                Some('}') => break,
                Some(c) if c.is_ascii_alphanumeric() || c == '_' || c == '=' => text.push(c),
                _ => return Err(PatternError::Invalid),
            }
        }
        let (name, value) = text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
        if name.is_empty() { Err(PatternError::Invalid) } else { Ok(unicode::property(name, value)) }
    }

    /// Parses a character escape, after the backslash.
    pub(crate) fn character_escape(&mut self, in_class: bool) -> Result<u32, PatternError> {
        let unit = self.next().ok_or(PatternError::Invalid)?;
        let strict = self.flags.unicode;
        let value = match character(unit) {
            'f' => Some(0x0C),
            'n' => Some(0x0A),
            'r' => Some(0x0D),
            't' => Some(0x09),
            'v' => Some(0x0B),
            'b' if in_class => Some(0x08),
            'c' => return self.control(in_class),
            'x' => self.hex(2),
            'u' => self.code(),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => Some(0),
            '0'..='7' if !strict => Some(self.octal(unit - u32::from('0'))),
            _ => None,
        };
        let may_be_itself = !strict
            || "^$\\.*+?()[]{}|/".contains(character(unit))
            || in_class && unit == u32::from('-')
            || in_class && self.flags.set_notation && "&!#%,:;<=>@`~".contains(character(unit));
        match value {
            Some(value) => Ok(value),
            None if may_be_itself => Ok(unit),
            None => Err(PatternError::Invalid),
        }
    }

    /// Parses `\cA`. Without `u`, a backslash before another `c` stands for itself.
    fn control(&mut self, in_class: bool) -> Result<u32, PatternError> {
        let lenient = |c: char| !self.flags.unicode && in_class && (c.is_ascii_digit() || c == '_');
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() || lenient(c) => {
                self.next();
                Ok(u32::from(c) % 32)
            }
            _ if self.flags.unicode => Err(PatternError::Invalid),
            _ => {
                self.back();
                Ok(u32::from('\\'))
            }
        }
    }

    /// Parses the rest of `\u`; consumes nothing if it is not an escape.
    fn code(&mut self) -> Option<u32> {
        if self.flags.unicode && self.eat("{") {
            let mut value = None;
            while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) {
                self.next();
                value = Some(value.unwrap_or(0_u32).saturating_mul(16).saturating_add(digit));
            }
            return value.filter(|value| self.eat("}") && *value <= unicode::LAST);
        }
        let first = self.hex(4)?;
        if self.flags.unicode && (0xD800..0xDC00).contains(&first) && self.eat("\\u") {
            match self.hex(4) {
                Some(second) if (0xDC00..0xE000).contains(&second) => {
                    return Some(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00));
                }
                other => (0..if other.is_some() { 6 } else { 2 }).for_each(|_| self.back()),
            }
        }
        Some(first)
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let mut value = 0;
        for read in 0..digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) else {
                (0..read).for_each(|_| self.back());
                return None;
            };
            self.next();
            value = value * 16 + digit;
        }
        Some(value)
    }

    fn octal(&mut self, first: u32) -> u32 {
        let mut value = first;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(8)).filter(|digit| value * 8 + digit <= 0o377) {
            self.next();
            value = value * 8 + digit;
        }
        value
    }

    /// Parses a class of the flag `v`, after its bracket.
    fn nested_class(&mut self) -> Result<Members, PatternError> {
        self.enter()?;
        let negated = self.eat("^");
        let mut members = Members::default();
        let mut ranges = Vec::new();
        while !self.looking_at("]") && !self.looking_at("&&") && !self.looking_at("--") {
            let operand = self.operand()?;
            ranges.extend_from_slice(operand.set.ranges());
            members.strings.extend(operand.strings);
        }
        members.set = CharSet::from_ranges(&ranges);
        self.combine(&mut members)?;
        self.leave();
        if negated && !members.strings.is_empty() {
            return Err(PatternError::Invalid);
        }
        members.set = self.finish_class(members.set, negated);
        Ok(members)
    }

    /// Parses the rest of a class: `&&` or `--` with their operands.
    fn combine(&mut self, members: &mut Members) -> Result<(), PatternError> {
        for _ in 0..MAX_OPERANDS {
            if self.eat("]") {
                return Ok(());
            }
            let common = self.eat("&&");
            if !common && !self.eat("--") {
                return Err(PatternError::Invalid);
            }
            let operand = self.operand()?;
            let strings: FxHashSet<Vec<u32>> = operand.strings.into_iter().collect();
            members.strings.retain(|string| strings.contains(string) == common);
            members.set = if common {
                members.set.intersection(&operand.set)
            } else {
                members.set.intersection(&operand.set.complement(self.last_character()))
            };
        }
        Err(PatternError::TooLarge)
    }

    fn operand(&mut self) -> Result<Members, PatternError> {
        if self.eat("[") {
            return self.nested_class();
        }
        if self.eat("\\q{") {
            return self.strings();
        }
        let low = self.set_character()?;
        if !self.looking_at("-") || self.looking_at("--") {
            return Ok(Members { set: low, strings: Vec::new() });
        }
        self.eat("-");
        let high = self.set_character()?;
        match (single(&low), single(&high)) {
            (Some(low), Some(high)) if low <= high => {
                Ok(Members { set: CharSet::from_ranges(&[(low, high)]), strings: Vec::new() })
            }
            _ => Err(PatternError::Invalid),
        }
    }

    /// Parses a character or an escape; separators of operands have to be escaped.
    fn set_character(&mut self) -> Result<CharSet, PatternError> {
        match self.peek() {
            Some(c) if !"()[]{}/-|".contains(c) => self.class_atom(),
            _ => Err(PatternError::Invalid),
        }
    }

    /// Parses `abc|d}`, after `\q{`.
    fn strings(&mut self) -> Result<Members, PatternError> {
        let (mut ranges, mut strings, mut string) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            let ends = self.eat("}");
            if ends || self.eat("|") {
                match *string {
                    [unit] => ranges.push((unit, unit)),
                    _ => strings.push(std::mem::take(&mut string)),
                }
                string.clear();
                if ends {
                    return Ok(Members { set: CharSet::from_ranges(&ranges), strings });
                }
                continue;
            }
            let atom = self.set_character()?;
            string.push(single(&atom).ok_or(PatternError::Invalid)?);
        }
    }
}

/// Returns the character of a set with exactly one.
fn single(set: &CharSet) -> Option<u32> {
    match set.ranges() {
        [(low, high)] if low == high => Some(*low),
        _ => None,
    }
}
