//! Takes samples of a guest that runs, a sample after each slice of fuel.
//!
//! Invariant: every unit of fuel is charged exactly once, and what is sampled when depends on fuel alone, so that a profile is
//! the same on every machine.

use std::collections::HashMap;
use std::sync::Arc;

use super::engine::{Callee, Described, Engine};
use super::{Frame, Function, Home, Profile, Stack};

/// Fuel between two samples, on average, at the beginning of a run.
const FINEST: u64 = 128;
/// After so many samples they are taken half as often, at first: until a sample takes less time than the guest takes between two.
const SAMPLES_AT_FIRST: u64 = 32;
/// How often that is so.
const DOUBLED_AT_FIRST: u64 = 6;
/// From there on, after so many: what a profile costs grows with the logarithm of the run.
const SAMPLES_OF_A_KIND: u64 = 2048;
/// Fuel between two samples at most: a call looks as often whether it has to end.
const COARSEST: u64 = 1 << 20;
/// Fuel after which a call looks whether it has to end, if a sample is taken: looking takes longer than a short slice.
const UNTIL_LOOK: u64 = COARSEST / 2;

/// How much of a deep stack is kept: so many frames of the innermost, and so many of the outermost.
const INNER: usize = 192;
const OUTER: usize = 64;

/// The most functions, frames and stacks that are told apart. What a tool has more of is charged to one that stands for the
/// rest, so that no tool makes its profile large.
const FUNCTIONS_MOST: usize = 4096;
const FRAMES_MOST: usize = 1 << 16;
const STACKS_MOST: usize = 1 << 14;
/// What stands for them.
const REST: &str = "(others)";

/// How many places and stacks are found again without a search: a power of two.
const RECENT: usize = 256;

/// Begins the sequence that the distances of samples vary by. Any number does.
const CHANCE: u64 = 0x9e37_79b9_7f4a_7c15;

/// What the marks of the guest say: where the interpreter's context is, and which instruction it does.
#[derive(Clone, Copy)]
pub(crate) struct Marks {
    pub(crate) context: u32,
    pub(crate) place: u32,
}

/// What was sampled so far.
pub(crate) struct Sampler {
    /// The fuel that was left when some was last charged.
    left: u64,
    /// The fuel that was left when the call last looked whether it has to end.
    looked: u64,
    /// The slice that runs.
    slice: Slice,
    /// How long the one after it is.
    next: u64,
    samples: u64,
    chance: u64,
    /// Fuel while no function was on the stack.
    engine: u64,
    /// Fuel that other tools burned for this one.
    other_tools: u64,
    known: HashMap<u32, Known>,
    functions: Vec<Function>,
    numbers: HashMap<Function, usize>,
    frames: Vec<Frame>,
    frame_numbers: HashMap<Frame, u32>,
    /// Frames by the function's byte code and the instruction.
    places: HashMap<(u32, u32), u32>,
    /// What was on the stack, and the fuel that was charged to it.
    stacks: Vec<(Arc<[u32]>, u64)>,
    stack_numbers: HashMap<Arc<[u32]>, usize>,
    /// What was seen not long ago: places by the instruction, and the numbers of stacks by their frames.
    recent_places: [Place; RECENT],
    recent_stacks: [usize; RECENT],
    script: String,
    walk: Vec<u32>,
    stack: Vec<u32>,
    /// The functions that waited when the last sample was taken, by their depth: most of them wait still.
    waiting: Vec<Waiting>,
}

/// A slice of fuel.
#[derive(Clone, Copy)]
struct Slice {
    /// How much fuel was left when it began.
    from: u64,
    length: u64,
}

/// A function with byte code that waits for what it called.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Waiting {
    code: u32,
    before: u32,
    /// The number of its frame.
    number: u32,
}

/// The number of a frame that does this instruction.
#[derive(Clone, Copy, Default)]
struct Place {
    code: u32,
    at: u32,
    number: u32,
}

/// A function with byte code.
struct Known {
    bytes: std::ops::Range<u32>,
    function: usize,
}

impl Sampler {
    /// Samples a call of a script of this name, with so much fuel.
    pub(crate) fn new(script: &str, fuel: u64) -> Self {
        Self {
            left: fuel,
            looked: fuel,
            slice: Slice { from: fuel, length: FINEST },
            next: FINEST,
            samples: 0,
            chance: CHANCE,
            engine: 0,
            other_tools: 0,
            known: HashMap::new(),
            functions: Vec::new(),
            numbers: HashMap::new(),
            frames: Vec::new(),
            frame_numbers: HashMap::new(),
            places: HashMap::new(),
            stacks: Vec::new(),
            stack_numbers: HashMap::new(),
            recent_places: [Place::default(); RECENT],
            recent_stacks: [usize::MAX; RECENT],
            script: script.to_owned(),
            walk: Vec::new(),
            stack: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// How long the next slice is.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Whether the slice has ended, where so much fuel is left.
    pub(crate) fn is_due(&self, left: u64) -> bool {
        self.slice.from.saturating_sub(left) >= self.slice.length
    }

    /// Whether the call should look whether it has to end, where so much fuel is left.
    pub(crate) fn looks(&mut self, left: u64) -> bool {
        let is_long_ago = self.looked.saturating_sub(left) >= UNTIL_LOOK;
        if is_long_ago {
            self.looked = left;
        }
        is_long_ago
    }

    /// Charges what was burned since the last sample to the functions that are on the stack now.
    pub(crate) fn sample(&mut self, left: u64, memory: &[u8], marks: Marks) {
        let burned = self.left.saturating_sub(left);
        self.left = left;
        self.slice = Slice { from: left, length: self.next };
        self.samples += 1;
        let mut walk = std::mem::take(&mut self.walk);
        let mut stack = std::mem::take(&mut self.stack);
        walk.clear();
        stack.clear();
        if let Some(engine) = Engine::of(memory, marks.context) {
            engine.frames(&mut walk);
            self.stack_of(engine, &walk, marks.place, &mut stack);
        }
        if stack.is_empty() {
            self.engine += burned;
        } else {
            let number = self.stack_number(&mut stack);
            self.stacks[number].1 += burned;
        }
        (self.walk, self.stack) = (walk, stack);
    }

    /// Chooses how long the next slice is. It varies, so that no loop keeps step with it.
    pub(crate) fn choose(&mut self) -> u64 {
        let doubled = match self.samples.checked_sub(SAMPLES_AT_FIRST * DOUBLED_AT_FIRST) {
            Some(later) => DOUBLED_AT_FIRST + later / SAMPLES_OF_A_KIND,
            None => self.samples / SAMPLES_AT_FIRST,
        };
        let mean = (FINEST << doubled.min(32)).min(COARSEST);
        // xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        self.next = mean / 2 + self.chance % mean;
        self.next
    }

    /// Of the fuel that was left, so much was taken away for another tool. A slice begins there.
    pub(crate) fn spent(&mut self, left: u64, fuel: u64) {
        self.other_tools += fuel;
        self.left = self.left.saturating_sub(fuel);
        self.slice = Slice { from: left.saturating_sub(fuel), length: self.next };
    }

    /// The profile of a call that has ended with so much fuel left.
    pub(crate) fn finish(self, left: u64) -> Profile {
        let mut stacks: Vec<Stack> = self
            .stacks
            .iter()
            .map(|(frames, fuel)| Stack {
                frames: frames.iter().filter_map(|frame| self.frames.get(*frame as usize)).copied().collect(),
                fuel: *fuel,
            })
            .collect();
        stacks.sort_by(|one, other| one.frames.cmp(&other.frames));
        let unattributed = self.left.saturating_sub(left);
        let attributed: u64 = stacks.iter().map(|stack| stack.fuel).sum();
        Profile {
            fuel: attributed + self.engine + self.other_tools + unattributed,
            engine: self.engine,
            other_tools: self.other_tools,
            unattributed,
            samples: self.samples,
            functions: self.functions,
            stacks,
        }
    }

    /// The number of what is on the stack.
    fn stack_number(&mut self, stack: &mut Vec<u32>) -> usize {
        let slot = recent(stack.iter().copied());
        let number = self.recent_stacks[slot];
        if self.stacks.get(number).is_some_and(|(known, _)| **known == **stack) {
            return number;
        }
        if self.stacks.len() >= STACKS_MOST && !self.stack_numbers.contains_key(&**stack) {
            stack.truncate(1);
            stack[0] = self.rest();
        }
        let number = self.stack_numbers.get(&**stack).copied().unwrap_or_else(|| {
            let frames: Arc<[u32]> = stack.as_slice().into();
            self.stacks.push((Arc::clone(&frames), 0));
            self.stack_numbers.insert(frames, self.stacks.len() - 1);
            self.stacks.len() - 1
        });
        self.recent_stacks[slot] = number;
        number
    }

    /// The numbers of the frames on the stack, the outermost first.
    fn stack_of(&mut self, engine: Engine<'_>, walk: &[u32], place: u32, stack: &mut Vec<u32>) {
        // The mark is in the innermost function with byte code.
        let callees = walk.iter().map(|frame| engine.callee(*frame));
        let innermost = callees.take(INNER).position(|callee| matches!(callee, Some(Callee::Code(_))));
        let left_out = if walk.len() > INNER + OUTER { INNER..walk.len() - OUTER } else { 0..0 };
        for (depth, frame) in walk.iter().enumerate().rev() {
            if left_out.contains(&depth) {
                if depth == left_out.start {
                    let left_out = self.function(Function::engine("(deeper calls)"));
                    stack.push(self.frame(Frame { function: left_out, line: 0, column: 0 }));
                }
                continue;
            }
            let number = match engine.callee(*frame) {
                Some(Callee::Code(code)) if Some(depth) == innermost => {
                    self.of_script(engine, code, *frame, Some(place))
                }
                Some(Callee::Code(code)) => self.that_waits(engine, code, *frame, stack.len()),
                Some(Callee::Native(object)) => {
                    let name = engine.name_of(object).filter(|name| !name.is_empty());
                    let function = self.function(Function::engine(name.as_deref().unwrap_or("(unnamed)")));
                    Some(self.frame(Frame { function, line: 0, column: 0 }))
                }
                None => None,
            };
            stack.extend(number);
        }
    }

    /// The number of a frame of a function with byte code that waits for what it called, so deep on the stack.
    fn that_waits(&mut self, engine: Engine<'_>, code: u32, frame: u32, depth: usize) -> Option<u32> {
        let before = engine.waits_before(frame).unwrap_or(0);
        if let Some(known) = self.waiting.get(depth).filter(|known| (known.code, known.before) == (code, before)) {
            return Some(known.number);
        }
        let number = self.of_script(engine, code, frame, None)?;
        // What is deeper is another call's; a native function's place is left empty.
        self.waiting.resize(depth + 1, Waiting { code: 0, before: 0, number: 0 });
        self.waiting[depth] = Waiting { code, before, number };
        Some(number)
    }

    /// The number of a frame of a function with byte code: at the mark if that is in it, else where it waits for a call.
    fn of_script(&mut self, engine: Engine<'_>, code: u32, frame: u32, mark: Option<u32>) -> Option<u32> {
        let slot = recent([code, mark.unwrap_or(0)]);
        let place = self.recent_places[slot];
        if mark.is_some_and(|mark| (place.code, place.at) == (code, mark)) {
            return Some(place.number);
        }
        if !self.known.contains_key(&code) {
            let Described { name, file, line, column, bytes } = engine.describe(code, frame)?;
            let home = if file == self.script { Home::Tool } else { Home::Library };
            let name = if name.is_empty() { "(anonymous)".to_owned() } else { name };
            let function = self.function(Function { name, home, line, column });
            if self.known.len() >= FRAMES_MOST {
                self.known.clear();
            }
            self.known.insert(code, Known { bytes, function });
        }
        let Known { bytes, function } = self.known.get(&code)?;
        let waits = || engine.waits_before(frame)?.checked_sub(1);
        let at = mark.filter(|mark| bytes.contains(mark)).or_else(|| waits().filter(|at| bytes.contains(at)));
        let (start, function) = (bytes.start, *function);
        let at = at.unwrap_or(start);
        let number = match self.places.get(&(code, at)) {
            Some(number) => *number,
            None => self.place(engine, code, at, start, function)?,
        };
        if mark == Some(at) {
            self.recent_places[slot] = Place { code, at, number };
        }
        Some(number)
    }

    /// The number of a frame that was not seen yet: of this function, whose instructions begin at `start`.
    fn place(&mut self, engine: Engine<'_>, code: u32, at: u32, start: u32, function: usize) -> Option<u32> {
        let (line, column) = engine.place(code, at - start)?;
        let number = self.frame(Frame { function, line, column });
        if self.places.len() >= FRAMES_MOST {
            self.places.clear();
        }
        self.places.insert((code, at), number);
        Some(number)
    }

    fn function(&mut self, function: Function) -> usize {
        if let Some(number) = self.numbers.get(&function) {
            return *number;
        }
        let is_told = self.functions.len() < FUNCTIONS_MOST || function == Function::engine(REST);
        if !is_told {
            return self.function(Function::engine(REST));
        }
        let number = self.functions.len();
        self.functions.push(function.clone());
        self.numbers.insert(function, number);
        number
    }

    fn frame(&mut self, frame: Frame) -> u32 {
        if self.frames.len() >= FRAMES_MOST && !self.frame_numbers.contains_key(&frame) {
            return self.rest();
        }
        self.number_of(frame)
    }

    /// The frame that stands for what is not told apart.
    fn rest(&mut self) -> u32 {
        let function = self.function(Function::engine(REST));
        self.number_of(Frame { function, line: 0, column: 0 })
    }

    fn number_of(&mut self, frame: Frame) -> u32 {
        let frames = &mut self.frames;
        *self.frame_numbers.entry(frame).or_insert_with(|| {
            frames.push(frame);
            u32::try_from(frames.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

/// Where something that these numbers tell is looked for first.
fn recent(numbers: impl IntoIterator<Item = u32>) -> usize {
    let mixed =
        numbers.into_iter().fold(0_u32, |mixed, number| (mixed.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b1));
    // The upper bits are those that depend on all others.
    (mixed >> (u32::BITS - RECENT.ilog2())) as usize
}
