//! From the tree to the program of a backtracking engine.
//!
//! Invariant: the program does what the standard says, lookarounds, captures and counted repetitions included, and no
//! optimization makes it faster: what is slow for it is slow for an engine.

use std::ops::Range;

use super::syntax::{Assertion, Direction, Node, Pattern, Repeat};

/// A compiled pattern; it starts with the first step.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) rounds: Vec<Rounds>,
    /// How many registers it needs: two for each group, and then two for each repetition.
    pub(super) registers: usize,
    groups: usize,
}

/// One step.
#[derive(Debug)]
pub(super) enum Step {
    /// Takes a character of a set.
    Take {
        set: usize,
        direction: Direction,
    },
    Assert(Assertion),
    /// Goes on with the next step, and with the other one if that fails.
    OrElse(usize),
    Jump(usize),
    /// Notes the place in a register.
    Note(usize),
    /// Starts to count the rounds of a repetition.
    Enter(usize),
    /// Decides whether there is another round.
    Decide(usize),
    /// Begins a round.
    Round(usize),
    /// Ends a round.
    Again(usize),
    Backreference {
        groups: Vec<usize>,
        ignore_case: bool,
        direction: Direction,
    },
    /// What follows, up to `Done`, is what is looked for.
    Look {
        negative: bool,
        after: usize,
    },
    Done,
}

/// A repetition.
#[derive(Debug)]
pub(super) struct Rounds {
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) greedy: bool,
    /// The registers of the groups that each round forgets.
    pub(super) forgets: Range<usize>,
    /// The step that decides; the next one begins a round.
    pub(super) decide: usize,
    pub(super) after: usize,
}

impl Program {
    pub(super) fn of(pattern: &Pattern) -> Self {
        let mut program = Self { steps: Vec::new(), rounds: Vec::new(), registers: 0, groups: pattern.groups + 1 };
        program.part(&pattern.root, Direction::Forward);
        program.steps.push(Step::Done);
        program.registers = program.counter(program.rounds.len());
        program
    }

    /// The register that counts the rounds of a repetition; the next one has the place where a round began.
    pub(super) fn counter(&self, repetition: usize) -> usize {
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
                self.steps.push(Step::Note(first));
                self.part(body, direction);
                self.steps.push(Step::Note(second));
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
        let number = self.rounds.len();
        self.steps.push(Step::Enter(number));
        self.rounds.push(Rounds {
            min: repeat.min,
            max: repeat.max,
            greedy: repeat.greedy,
            forgets: 2 * repeat.groups.start..2 * repeat.groups.end,
            decide: self.steps.len(),
            after: 0,
        });
        self.steps.push(Step::Decide(number));
        self.steps.push(Step::Round(number));
        self.part(&repeat.body, direction);
        self.steps.push(Step::Again(number));
        self.rounds[number].after = self.steps.len();
    }

    /// Room for a step that is not known yet.
    fn reserve(&mut self) -> usize {
        self.steps.push(Step::Done);
        self.steps.len() - 1
    }
}
