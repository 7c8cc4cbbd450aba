//! A backtracking engine that counts its steps.
//!
//! It proves attacks: a pattern is called slow only after it was measured to be. Invariant: a run
//! ends after at most the given number of steps, which also bounds its memory.

use crate::alphabet::{Alphabet, Letter};
use crate::charset::{NEWLINES, WORD, other_cases};
use crate::program::{Program, Step};
use crate::syntax::{Assertion, Direction};

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchOutcome {
    Match,
    NoMatch,
    /// The steps ran out.
    Exhausted,
}

/// The offsets at which a match may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    /// At one offset.
    At(usize),
    AtEnd,
    /// At any offset; they are tried in order.
    Everywhere,
}

/// The state of a run of a program on a text.
#[derive(Debug)]
pub(crate) struct Engine<'a> {
    program: &'a Program,
    alphabet: &'a Alphabet,
    text: Vec<u32>,
    letters: Vec<Letter>,
    registers: Vec<usize>,
    stack: Vec<Undo>,
    steps_left: u32,
}

/// An entry of the backtracking stack.
#[derive(Debug, Clone, Copy)]
enum Undo {
    /// Resumes elsewhere.
    Resume {
        step: usize,
        at: usize,
    },
    Restore {
        register: usize,
        value: usize,
    },
}

/// The number of registers that are cleared for one step.
const REGISTERS_PER_STEP: usize = 16;

/// The value of a register that holds no offset.
const UNSET: usize = usize::MAX;

impl<'a> Engine<'a> {
    pub(crate) fn new(program: &'a Program, alphabet: &'a Alphabet, text: Vec<u32>) -> Self {
        let letters = text.iter().map(|unit| alphabet.letter(*unit)).collect();
        let registers = vec![UNSET; program.registers];
        Self { program, alphabet, text, letters, registers, stack: Vec::new(), steps_left: 0 }
    }

    /// Searches for a match, and returns the number of steps that it took.
    pub(crate) fn run(mut self, search: Search, steps: u32) -> (MatchOutcome, u32) {
        self.steps_left = steps;
        let starts = match search {
            Search::At(place) => place..=place.min(self.text.len()),
            Search::AtEnd => self.text.len()..=self.text.len(),
            Search::Everywhere => 0..=self.text.len(),
        };
        let mut end = MatchOutcome::NoMatch;
        for start in starts {
            // A failed attempt undoes all of its changes.
            end = self.attempt(0, start);
            if end != MatchOutcome::NoMatch {
                break;
            }
        }
        (end, steps - self.steps_left)
    }

    /// Runs to the next `Done`. It recurses only for lookarounds, whose nesting is bounded by that
    /// of the tree.
    fn attempt(&mut self, first: usize, start: usize) -> MatchOutcome {
        let base = self.stack.len();
        let program = self.program;
        let (mut step, mut at) = (first, start);
        loop {
            if !self.spend(1) {
                return MatchOutcome::Exhausted;
            }
            let next = match &program.steps[step] {
                Step::Done => return MatchOutcome::Match,
                Step::Take { set, direction } => self.take(*set, *direction, at).map(|at| (step + 1, at)),
                Step::Assert(assertion) => self.assertion_holds(*assertion, at).then_some((step + 1, at)),
                Step::OrElse(other) => {
                    self.stack.push(Undo::Resume { step: *other, at });
                    Some((step + 1, at))
                }
                Step::Jump(target) => Some((*target, at)),
                Step::Save(register) => {
                    self.set(*register, at);
                    Some((step + 1, at))
                }
                Step::Enter(number) => {
                    self.set(program.counter(*number), 0);
                    Some((step + 1, at))
                }
                Step::Decide(number) => Some((self.decide(*number, at), at)),
                Step::BeginRound(number) => {
                    self.begin_round(*number, at);
                    Some((step + 1, at))
                }
                Step::EndRound(number) => self.end_round(*number, at).map(|step| (step, at)),
                Step::Backreference { groups, ignore_case, direction } => {
                    self.match_backreference(groups, *ignore_case, *direction, at).map(|at| (step + 1, at))
                }
                Step::Look { negative, after } => match self.look(step + 1, *negative, at) {
                    MatchOutcome::Exhausted => return MatchOutcome::Exhausted,
                    end => (end == MatchOutcome::Match).then_some((*after, at)),
                },
            };
            match next.or_else(|| self.resume(base)) {
                Some(next) => (step, at) = next,
                None => return MatchOutcome::NoMatch,
            }
        }
    }

    fn spend(&mut self, steps: usize) -> bool {
        let left = u32::try_from(steps).ok().and_then(|steps| self.steps_left.checked_sub(steps));
        self.steps_left = left.unwrap_or(0);
        left.is_some()
    }

    /// Backtracks to the latest choice above `base`.
    fn resume(&mut self, base: usize) -> Option<(usize, usize)> {
        while self.stack.len() > base {
            match self.stack.pop()? {
                Undo::Resume { step, at } => return Some((step, at)),
                Undo::Restore { register, value } => self.registers[register] = value,
            }
        }
        None
    }

    fn set(&mut self, register: usize, value: usize) {
        self.stack.push(Undo::Restore { register, value: self.registers[register] });
        self.registers[register] = value;
    }

    fn take(&self, set: usize, direction: Direction, at: usize) -> Option<usize> {
        let place = if direction == Direction::Forward { at } else { at.checked_sub(1)? };
        let taken = self.alphabet.set(set).contains(*self.letters.get(place)?);
        taken.then_some(if direction == Direction::Forward { at + 1 } else { place })
    }

    fn assertion_holds(&self, assertion: Assertion, at: usize) -> bool {
        let before = at.checked_sub(1).map(|at| self.text[at]);
        let after = self.text.get(at).copied();
        let is_of = |unit: Option<u32>, ranges: &[(u32, u32)]| {
            unit.is_some_and(|unit| ranges.iter().any(|(low, high)| (*low..=*high).contains(&unit)))
        };
        match assertion {
            Assertion::TextStart => before.is_none(),
            Assertion::LineStart => before.is_none() || is_of(before, NEWLINES),
            Assertion::TextEnd => after.is_none(),
            Assertion::LineEnd => after.is_none() || is_of(after, NEWLINES),
            Assertion::WordBoundary => is_of(before, WORD) != is_of(after, WORD),
            Assertion::NoWordBoundary => is_of(before, WORD) == is_of(after, WORD),
        }
    }

    fn decide(&mut self, number: usize, at: usize) -> usize {
        let rounds = &self.program.repetitions[number];
        let count = u32::try_from(self.registers[self.program.counter(number)]).unwrap_or(u32::MAX);
        let (round, after) = (rounds.decide + 1, rounds.after);
        if count < rounds.min {
            return round;
        }
        if count >= rounds.max {
            return after;
        }
        let (now, later) = if rounds.greedy { (round, after) } else { (after, round) };
        self.stack.push(Undo::Resume { step: later, at });
        now
    }

    fn begin_round(&mut self, number: usize, at: usize) {
        self.set(self.program.counter(number) + 1, at);
        let forgets = self.program.repetitions[number].cleared_registers.clone();
        // A round with many groups takes time that the steps would not show.
        self.spend(forgets.len() / REGISTERS_PER_STEP);
        for register in forgets {
            if self.registers[register] != UNSET {
                self.set(register, UNSET);
            }
        }
    }

    /// Ends a round. An optional round that matched nothing fails; otherwise a repetition of
    /// nothing would never end.
    fn end_round(&mut self, number: usize, at: usize) -> Option<usize> {
        let rounds = &self.program.repetitions[number];
        let counter = self.program.counter(number);
        let count = self.registers[counter];
        let needed = u32::try_from(count).is_ok_and(|count| count < rounds.min);
        if !needed && self.registers[counter + 1] == at {
            return None;
        }
        self.set(counter, count + 1);
        Some(rounds.decide)
    }

    fn look(&mut self, first: usize, negative: bool, at: usize) -> MatchOutcome {
        let base = self.stack.len();
        let end = self.attempt(first, at);
        if end == MatchOutcome::Exhausted {
            return end;
        }
        if !negative && end == MatchOutcome::Match {
            // Captures stay; alternatives are dropped.
            let mut undone = self.stack.split_off(base);
            if !self.spend(undone.len()) {
                return MatchOutcome::Exhausted;
            }
            undone.retain(|undo| matches!(undo, Undo::Restore { .. }));
            self.stack.append(&mut undone);
            return MatchOutcome::Match;
        }
        while self.stack.len() > base {
            self.resume(base);
        }
        if negative == (end == MatchOutcome::NoMatch) { MatchOutcome::Match } else { MatchOutcome::NoMatch }
    }

    fn match_backreference(
        &mut self,
        groups: &[usize],
        ignore_case: bool,
        direction: Direction,
        at: usize,
    ) -> Option<usize> {
        let captured = groups.iter().map(|group| (self.registers[2 * group], self.registers[2 * group + 1]));
        // A group that did not participate matches the empty text.
        let (start, end) =
            captured.into_iter().find(|(start, end)| *start != UNSET && *end != UNSET).unwrap_or((at, at));
        let length = end.saturating_sub(start);
        let place = if direction == Direction::Forward { at } else { at.checked_sub(length)? };
        let same = |a: u32, b: u32| a == b || ignore_case && other_case(a) == other_case(b);
        let text = self.text.get(place..place + length)?;
        let equal = self.text[start..start + length].iter().zip(text).take_while(|(a, b)| same(**a, **b)).count();
        self.spend(equal);
        (equal == length).then_some(if direction == Direction::Forward { at + length } else { place })
    }
}

/// Returns one case for both.
fn other_case(unit: u32) -> u32 {
    match char::from_u32(unit) {
        Some(c) if c.is_ascii() => u32::from(c.to_ascii_lowercase()),
        _ => other_cases(unit).next().unwrap_or(unit),
    }
}
