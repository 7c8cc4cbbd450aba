//! The sampler: takes one sample of a running guest after each slice of fuel.
//!
//! Invariant: every unit of fuel is charged exactly once. The sampling points depend on fuel alone,
//! so a profile is the same on every machine.

use std::collections::HashMap;
use std::sync::Arc;

use super::quickjs::{Callee, FunctionInfo, QuickJs};
use super::{CallProfile, Frame, FrameOrigin, ProfiledFunction, Stack};

/// The initial mean distance between samples, in units of fuel.
const MIN_PERIOD: u64 = 128;
/// The number of samples after which the distance doubles, at first: until a sample takes less time
/// than the guest's slice.
const INITIAL_SAMPLES_PER_DOUBLING: u64 = 32;
/// The number of doublings at that initial rate.
const INITIAL_DOUBLINGS: u64 = 6;
/// The number of samples after which the distance doubles from then on: the cost of a profile grows
/// with the logarithm of the run.
const SAMPLES_PER_DOUBLING: u64 = 2048;
/// The maximum mean distance between samples, in units of fuel. It also bounds the distance between
/// deadline checks.
const MAX_PERIOD: u64 = 1 << 20;
/// The minimum distance between deadline checks, in units of fuel: a check takes longer than a
/// short slice.
const DEADLINE_CHECK_PERIOD: u64 = MAX_PERIOD / 2;

/// The number of frames of a deep stack that are kept at the innermost and at the outermost end.
const INNERMOST_FRAMES: usize = 192;
const OUTERMOST_FRAMES: usize = 64;

/// The maximum number of distinct functions, frames and stacks. Any further ones are charged to a
/// placeholder, so that no tool can make its profile large.
const MAX_FUNCTIONS: usize = 4096;
const MAX_FRAMES: usize = 1 << 16;
const MAX_STACKS: usize = 1 << 14;
/// The name of the placeholder.
const OTHERS: &str = "(others)";

/// The size of the caches for recent frames and stacks: a power of two.
const RECENT_SLOTS: usize = 256;

/// The seed of the sequence that varies the distance between samples. Any non-zero number works.
const RNG_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The position that the instrumented guest recorded: the interpreter's context, and the address of
/// the current instruction.
#[derive(Clone, Copy)]
pub(crate) struct GuestPosition {
    pub(crate) context: u32,
    pub(crate) pc: u32,
}

/// The state of a profile in progress.
pub(crate) struct Sampler {
    /// The fuel that was left when fuel was last charged.
    fuel_left: u64,
    /// The fuel that was left at the last deadline check.
    fuel_at_last_check: u64,
    /// The current slice.
    slice: Slice,
    /// The length of the slice after the current one.
    next_length: u64,
    samples: u64,
    rng: u64,
    /// Fuel while no function was on the stack.
    engine_fuel: u64,
    /// Fuel that other tools burned on behalf of this one.
    other_tools_fuel: u64,
    functions_by_code: HashMap<u32, KnownFunction>,
    functions: Vec<ProfiledFunction>,
    function_ids: HashMap<ProfiledFunction, usize>,
    frames: Vec<Frame>,
    frame_ids: HashMap<Frame, u32>,
    /// Frame indices by the function's byte code and the instruction.
    frame_ids_by_pc: HashMap<(u32, u32), u32>,
    /// The distinct stacks, each with the fuel that was charged to it.
    stacks: Vec<(Arc<[u32]>, u64)>,
    stack_ids: HashMap<Arc<[u32]>, usize>,
    /// Caches: frame indices by instruction, and stack indices by frames.
    recent_frames: [RecentFrame; RECENT_SLOTS],
    recent_stacks: [usize; RECENT_SLOTS],
    script: String,
    frame_pointers: Vec<u32>,
    stack: Vec<u32>,
    /// The waiting callers at the last sample, by depth. Most of them are still waiting at the next
    /// sample.
    callers: Vec<CallerFrame>,
}

/// A slice of fuel.
#[derive(Clone, Copy)]
struct Slice {
    /// The fuel that was left at the start of the slice.
    start_fuel: u64,
    length: u64,
}

/// A function with byte code that waits for a call to return.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CallerFrame {
    code: u32,
    return_pc: u32,
    /// The index of its frame.
    frame_id: u32,
}

/// A cached frame index for an instruction.
#[derive(Clone, Copy, Default)]
struct RecentFrame {
    code: u32,
    pc: u32,
    frame_id: u32,
}

/// A function with byte code that was seen before.
struct KnownFunction {
    code_range: std::ops::Range<u32>,
    function: usize,
}

impl Sampler {
    /// Starts a profile of a call with `fuel` units of fuel. Functions of the file `script` belong
    /// to the tool.
    pub(crate) fn new(script: &str, fuel: u64) -> Self {
        Self {
            fuel_left: fuel,
            fuel_at_last_check: fuel,
            slice: Slice { start_fuel: fuel, length: MIN_PERIOD },
            next_length: MIN_PERIOD,
            samples: 0,
            rng: RNG_SEED,
            engine_fuel: 0,
            other_tools_fuel: 0,
            functions_by_code: HashMap::new(),
            functions: Vec::new(),
            function_ids: HashMap::new(),
            frames: Vec::new(),
            frame_ids: HashMap::new(),
            frame_ids_by_pc: HashMap::new(),
            stacks: Vec::new(),
            stack_ids: HashMap::new(),
            recent_frames: [RecentFrame::default(); RECENT_SLOTS],
            recent_stacks: [usize::MAX; RECENT_SLOTS],
            script: script.to_owned(),
            frame_pointers: Vec::new(),
            stack: Vec::new(),
            callers: Vec::new(),
        }
    }

    /// Returns the length of the next slice.
    pub(crate) fn next_length(&self) -> u64 {
        self.next_length
    }

    /// Returns whether the slice has ended, with `left` units of fuel left.
    pub(crate) fn is_due(&self, left: u64) -> bool {
        self.slice.start_fuel.saturating_sub(left) >= self.slice.length
    }

    /// Returns whether a deadline check is due with `left` units of fuel left, and notes the check.
    pub(crate) fn take_due_check(&mut self, left: u64) -> bool {
        let is_long_ago = self.fuel_at_last_check.saturating_sub(left) >= DEADLINE_CHECK_PERIOD;
        if is_long_ago {
            self.fuel_at_last_check = left;
        }
        is_long_ago
    }

    /// Charges the fuel since the last sample to the functions that are on the stack now.
    pub(crate) fn sample(&mut self, left: u64, memory: &[u8], marks: GuestPosition) {
        let burned = self.fuel_left.saturating_sub(left);
        self.fuel_left = left;
        self.slice = Slice { start_fuel: left, length: self.next_length };
        self.samples += 1;
        let mut walk = std::mem::take(&mut self.frame_pointers);
        let mut stack = std::mem::take(&mut self.stack);
        walk.clear();
        stack.clear();
        if let Some(engine) = QuickJs::new(memory, marks.context) {
            engine.frames(&mut walk);
            self.collect_stack(engine, &walk, marks.pc, &mut stack);
        }
        if stack.is_empty() {
            self.engine_fuel += burned;
        } else {
            let number = self.stack_id(&mut stack);
            self.stacks[number].1 += burned;
        }
        (self.frame_pointers, self.stack) = (walk, stack);
    }

    /// Chooses the length of the next slice at random, so that no loop stays in step with the
    /// sampler.
    pub(crate) fn choose_next_length(&mut self) -> u64 {
        let doubled = match self.samples.checked_sub(INITIAL_SAMPLES_PER_DOUBLING * INITIAL_DOUBLINGS) {
            Some(later) => INITIAL_DOUBLINGS + later / SAMPLES_PER_DOUBLING,
            None => self.samples / INITIAL_SAMPLES_PER_DOUBLING,
        };
        let mean = (MIN_PERIOD << doubled.min(32)).min(MAX_PERIOD);
        // xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
        self.rng ^= self.rng << 13;
        self.rng ^= self.rng >> 7;
        self.rng ^= self.rng << 17;
        self.next_length = mean / 2 + self.rng % mean;
        self.next_length
    }

    /// Charges `fuel` to another tool, when `left` units were left. A new slice starts after it.
    pub(crate) fn charge_other_tool(&mut self, left: u64, fuel: u64) {
        self.other_tools_fuel += fuel;
        self.fuel_left = self.fuel_left.saturating_sub(fuel);
        self.slice = Slice { start_fuel: left.saturating_sub(fuel), length: self.next_length };
    }

    /// Returns the profile of a call that ended with `left` units of fuel left.
    pub(crate) fn finish(self, left: u64) -> CallProfile {
        let mut stacks: Vec<Stack> = self
            .stacks
            .iter()
            .map(|(frames, fuel)| Stack {
                frames: frames.iter().filter_map(|frame| self.frames.get(*frame as usize)).copied().collect(),
                fuel: *fuel,
            })
            .collect();
        stacks.sort_by(|one, other| one.frames.cmp(&other.frames));
        let unattributed = self.fuel_left.saturating_sub(left);
        let attributed: u64 = stacks.iter().map(|stack| stack.fuel).sum();
        CallProfile {
            fuel: attributed + self.engine_fuel + self.other_tools_fuel + unattributed,
            engine: self.engine_fuel,
            other_tools: self.other_tools_fuel,
            unattributed,
            samples: self.samples,
            functions: self.functions,
            stacks,
        }
    }

    /// Returns the index of a stack.
    fn stack_id(&mut self, stack: &mut Vec<u32>) -> usize {
        let slot = recent_slot(stack.iter().copied());
        let number = self.recent_stacks[slot];
        if self.stacks.get(number).is_some_and(|(known, _)| **known == **stack) {
            return number;
        }
        if self.stacks.len() >= MAX_STACKS && !self.stack_ids.contains_key(&**stack) {
            stack.truncate(1);
            stack[0] = self.others_frame_id();
        }
        let number = self.stack_ids.get(&**stack).copied().unwrap_or_else(|| {
            let frames: Arc<[u32]> = stack.as_slice().into();
            self.stacks.push((Arc::clone(&frames), 0));
            self.stack_ids.insert(frames, self.stacks.len() - 1);
            self.stacks.len() - 1
        });
        self.recent_stacks[slot] = number;
        number
    }

    /// Collects the frame indices of the stack, the outermost first.
    fn collect_stack(&mut self, engine: QuickJs<'_>, walk: &[u32], place: u32, stack: &mut Vec<u32>) {
        // The recorded position belongs to the innermost function with byte code.
        let callees = walk.iter().map(|frame| engine.callee(*frame));
        let innermost = callees.take(INNERMOST_FRAMES).position(|callee| matches!(callee, Some(Callee::Code(_))));
        let left_out = if walk.len() > INNERMOST_FRAMES + OUTERMOST_FRAMES {
            INNERMOST_FRAMES..walk.len() - OUTERMOST_FRAMES
        } else {
            0..0
        };
        for (depth, frame) in walk.iter().enumerate().rev() {
            if left_out.contains(&depth) {
                if depth == left_out.start {
                    let left_out = self.function_id(ProfiledFunction::engine("(deeper calls)"));
                    stack.push(self.frame_id(Frame { function: left_out, line: 0, column: 0 }));
                }
                continue;
            }
            let number = match engine.callee(*frame) {
                Some(Callee::Code(code)) if Some(depth) == innermost => {
                    self.script_frame_id(engine, code, *frame, Some(place))
                }
                Some(Callee::Code(code)) => self.caller_frame_id(engine, code, *frame, stack.len()),
                Some(Callee::Native(object)) => {
                    let name = engine.function_name(object).filter(|name| !name.is_empty());
                    let function = self.function_id(ProfiledFunction::engine(name.as_deref().unwrap_or("(unnamed)")));
                    Some(self.frame_id(Frame { function, line: 0, column: 0 }))
                }
                None => None,
            };
            stack.extend(number);
        }
    }

    /// Returns the frame index of a function with byte code that waits for a call to return, at
    /// this depth of the stack.
    fn caller_frame_id(&mut self, engine: QuickJs<'_>, code: u32, frame: u32, depth: usize) -> Option<u32> {
        let before = engine.return_pc(frame).unwrap_or(0);
        if let Some(known) = self.callers.get(depth).filter(|known| (known.code, known.return_pc) == (code, before)) {
            return Some(known.frame_id);
        }
        let number = self.script_frame_id(engine, code, frame, None)?;
        // Deeper entries belong to other calls; the entry of a native function stays empty.
        self.callers.resize(depth + 1, CallerFrame { code: 0, return_pc: 0, frame_id: 0 });
        self.callers[depth] = CallerFrame { code, return_pc: before, frame_id: number };
        Some(number)
    }

    /// Returns the frame index of a function with byte code. The position is the recorded one if it
    /// lies in this function, or else that of its pending call.
    fn script_frame_id(&mut self, engine: QuickJs<'_>, code: u32, frame: u32, mark: Option<u32>) -> Option<u32> {
        let slot = recent_slot([code, mark.unwrap_or(0)]);
        let place = self.recent_frames[slot];
        if mark.is_some_and(|mark| (place.code, place.pc) == (code, mark)) {
            return Some(place.frame_id);
        }
        if !self.functions_by_code.contains_key(&code) {
            let FunctionInfo { name, file, line, column, code_range: bytes } = engine.function_info(code, frame)?;
            let home = if file == self.script { FrameOrigin::Tool } else { FrameOrigin::Library };
            let name = if name.is_empty() { "(anonymous)".to_owned() } else { name };
            let function = self.function_id(ProfiledFunction { name, origin: home, line, column });
            if self.functions_by_code.len() >= MAX_FRAMES {
                self.functions_by_code.clear();
            }
            self.functions_by_code.insert(code, KnownFunction { code_range: bytes, function });
        }
        let KnownFunction { code_range: bytes, function } = self.functions_by_code.get(&code)?;
        let waits = || engine.return_pc(frame)?.checked_sub(1);
        let at = mark.filter(|mark| bytes.contains(mark)).or_else(|| waits().filter(|at| bytes.contains(at)));
        let (start, function) = (bytes.start, *function);
        let at = at.unwrap_or(start);
        let number = match self.frame_ids_by_pc.get(&(code, at)) {
            Some(number) => *number,
            None => self.add_frame(engine, code, at, start, function)?,
        };
        if mark == Some(at) {
            self.recent_frames[slot] = RecentFrame { code, pc: at, frame_id: number };
        }
        Some(number)
    }

    /// Adds a new frame for an instruction of this function, whose code begins at `start`.
    fn add_frame(&mut self, engine: QuickJs<'_>, code: u32, at: u32, start: u32, function: usize) -> Option<u32> {
        let (line, column) = engine.line_and_column(code, at - start)?;
        let number = self.frame_id(Frame { function, line, column });
        if self.frame_ids_by_pc.len() >= MAX_FRAMES {
            self.frame_ids_by_pc.clear();
        }
        self.frame_ids_by_pc.insert((code, at), number);
        Some(number)
    }

    fn function_id(&mut self, function: ProfiledFunction) -> usize {
        if let Some(number) = self.function_ids.get(&function) {
            return *number;
        }
        let is_told = self.functions.len() < MAX_FUNCTIONS || function == ProfiledFunction::engine(OTHERS);
        if !is_told {
            return self.function_id(ProfiledFunction::engine(OTHERS));
        }
        let number = self.functions.len();
        self.functions.push(function.clone());
        self.function_ids.insert(function, number);
        number
    }

    fn frame_id(&mut self, frame: Frame) -> u32 {
        if self.frames.len() >= MAX_FRAMES && !self.frame_ids.contains_key(&frame) {
            return self.others_frame_id();
        }
        self.intern_frame(frame)
    }

    /// Returns the index of the placeholder frame.
    fn others_frame_id(&mut self) -> u32 {
        let function = self.function_id(ProfiledFunction::engine(OTHERS));
        self.intern_frame(Frame { function, line: 0, column: 0 })
    }

    fn intern_frame(&mut self, frame: Frame) -> u32 {
        let frames = &mut self.frames;
        *self.frame_ids.entry(frame).or_insert_with(|| {
            frames.push(frame);
            u32::try_from(frames.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

/// Returns whether there are no more functions and stacks, nor deeper ones, than a profile has.
pub(super) fn fits(functions: &[ProfiledFunction], stacks: &[Stack]) -> bool {
    let is_shallow = |stack: &Stack| stack.frames.len() <= INNERMOST_FRAMES + OUTERMOST_FRAMES + 1;
    // One more of each is the placeholder.
    functions.len() <= MAX_FUNCTIONS + 1 && stacks.len() <= MAX_STACKS + 1 && stacks.iter().all(is_shallow)
}

/// Returns the cache slot for these numbers.
fn recent_slot(numbers: impl IntoIterator<Item = u32>) -> usize {
    let mixed =
        numbers.into_iter().fold(0_u32, |mixed, number| (mixed.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b1));
    // The upper bits depend on all others.
    (mixed >> (u32::BITS - RECENT_SLOTS.ilog2())) as usize
}
