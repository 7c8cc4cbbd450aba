//! Compilation of the tree to a program for a backtracking engine.
//!
//! Invariant: the program behaves as the standard says, including lookarounds, captures and counted
//! repetitions, without optimizations: a pattern that is slow here is slow in an engine.

use std::ops::Range;

use crate::syntax::{Assertion, Direction, Node, Pattern, Repeat};

/// A compiled pattern; it starts with the first step.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) repetitions: Vec<Repetition>,
    /// The number of registers: two for each group, then two for each repetition.
    pub(crate) registers: usize,
    groups: usize,
}

/// An instruction of the program.
#[derive(Debug)]
pub(crate) enum Step {
    /// Consumes a character of a set.
    Take {
        set: usize,
        direction: Direction,
    },
    Assert(Assertion),
    /// Continues with the next step, and with this one if that fails.
    OrElse(usize),
    Jump(usize),
    /// Saves the offset in a register.
    Save(usize),
    /// Resets the round counter of a repetition.
    Enter(usize),
    /// Decides whether there is another round.
    Decide(usize),
    /// Starts a round.
    BeginRound(usize),
    /// Ends a round.
    EndRound(usize),
    Backreference {
        groups: Vec<usize>,
        ignore_case: bool,
        direction: Direction,
    },
    /// Runs the steps that follow, up to `Done`, as a lookaround.
    Look {
        negative: bool,
        after: usize,
    },
    Done,
}

/// A repetition with its bounds and registers.
#[derive(Debug)]
pub(crate) struct Repetition {
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) greedy: bool,
    /// The registers of the groups that each round clears.
    pub(crate) cleared_registers: Range<usize>,
    /// The deciding step; the next one starts a round.
    pub(crate) decide: usize,
    pub(crate) after: usize,
}

impl Program {
    pub(crate) fn compile(pattern: &Pattern) -> Self {
        let mut program = Self { steps: Vec::new(), repetitions: Vec::new(), registers: 0, groups: pattern.groups + 1 };
        program.part(&pattern.root, Direction::Forward);
        program.steps.push(Step::Done);
        program.registers = program.counter(program.repetitions.len());
        program
    }

    /// Returns the register that counts the rounds of a repetition; the next one holds the offset
    /// at which a round started.
    pub(crate) fn counter(&self, repetition: usize) -> usize {
        2 * (self.groups + repetition)
    }

    fn part(&mut self, node: &Node, direction: Direction) {
        match node {
            Node::Set(set) => self.steps.push(Step::Take { set: *set, direction }),
            Node::Assertion(assertion) => self.steps.push(Step::Assert(*assertion)),
            Node::Sequence(parts) => match direction {
                Direction::Forward => parts.iter().for_each(|part| self.part(part, direction)),
                Direction::Backward => parts.iter().rev().for_each(|part| self.part(part, direction)),
            },
            Node::Choice(parts) => self.choice(parts, direction),
            Node::Repeat(repeat) => self.repeat(repeat, direction),
            Node::Group { index, body } => {
                let (start, end) = (2 * index, 2 * index + 1);
                let (first, second) = if direction == Direction::Forward { (start, end) } else { (end, start) };
                self.steps.push(Step::Save(first));
                self.part(body, direction);
                self.steps.push(Step::Save(second));
            }
            Node::Look { behind, negative, body } => {
                let look = self.reserve();
                self.part(body, if *behind { Direction::Backward } else { Direction::Forward });
                self.steps.push(Step::Done);
                self.steps[look] = Step::Look { negative: *negative, after: self.steps.len() };
            }
            Node::Backreference { groups, ignore_case } => {
                let (groups, ignore_case) = (groups.clone(), *ignore_case);
                self.steps.push(Step::Backreference { groups, ignore_case, direction });
            }
        }
    }

    fn choice(&mut self, parts: &[Node], direction: Direction) {
        let mut ends = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            if number + 1 == parts.len() {
                self.part(part, direction);
                continue;
            }
            let split = self.reserve();
            self.part(part, direction);
            ends.push(self.reserve());
            self.steps[split] = Step::OrElse(self.steps.len());
        }
        for end in ends {
            self.steps[end] = Step::Jump(self.steps.len());
        }
    }

    fn repeat(&mut self, repeat: &Repeat, direction: Direction) {
        let number = self.repetitions.len();
        self.steps.push(Step::Enter(number));
        self.repetitions.push(Repetition {
            min: repeat.min,
            max: repeat.max,
            greedy: repeat.greedy,
            cleared_registers: 2 * repeat.groups.start..2 * repeat.groups.end,
            decide: self.steps.len(),
            after: 0,
        });
        self.steps.push(Step::Decide(number));
        self.steps.push(Step::BeginRound(number));
        self.part(&repeat.body, direction);
        self.steps.push(Step::EndRound(number));
        self.repetitions[number].after = self.steps.len();
    }

    /// Reserves a step that is filled in later.
    fn reserve(&mut self) -> usize {
        self.steps.push(Step::Done);
        self.steps.len() - 1
    }
}
