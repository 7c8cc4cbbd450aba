//! Copies and fills memory in chunks, so that a call ends at its deadline in the middle of a large one.
//!
//! `memory.copy` and `memory.fill` are one operator however many bytes they move, and Wasmtime looks at a call's deadline at the entry
//! of a function and at the head of a loop alone. Each of them whose length is not a small constant becomes a call of a function that
//! is added here, which goes through the bytes in a loop, and moves few of them without a call of Wasmtime's runtime.
//!
//! Invariant: the memory is the same afterwards, also where the two ranges of a copy overlap. An access out of bounds traps, but part of
//! the bytes may be written before; a move of no bytes never traps. An instance that trapped ends.

use anyhow::{Context as _, Result, anyhow};
use wasm_encoder::reencode::{Error, Reencode, RoundtripReencoder, utils};
use wasm_encoder::{
    BlockType, CodeSection, Function, FunctionSection, InstructionSink, MemArg, Module, TypeSection, ValType,
};
use wasmparser::{CodeSectionReader, FunctionSectionReader, Operator, Parser, Payload, TypeRef, TypeSectionReader};

/// How many bytes are copied or filled before the deadline is looked at again: some 50 µs, where the pages were not touched before.
const CHUNK: i32 = 256 << 10;

/// The parameters of both functions, in their order: where to, where from (or the value of each byte), and how many bytes.
const TO: u32 = 0;
const FROM: u32 = 1;
const LEN: u32 = 2;

/// The module that does what `wasm` does, in chunks.
pub(crate) fn in_chunks(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut chunked = Chunked::of(wasm)?;
    let mut module = Module::new();
    chunked.parse_core_module(&mut module, Parser::new(0), wasm).map_err(|error| anyhow!("the guest: {error}"))?;
    Ok(module.finish())
}

struct Chunked {
    /// The type of the two functions, which is added after the others.
    added_type: u32,
    /// The number of the function that copies; the one that fills comes next.
    copy: u32,
    /// The constant that the operator before this one left, if it left one.
    constant: Option<i32>,
}

impl Chunked {
    fn of(wasm: &[u8]) -> Result<Self> {
        let (mut added_type, mut copy) = (0, 0);
        for payload in Parser::new(0).parse_all(wasm) {
            match payload.context("the guest is no module")? {
                Payload::TypeSection(section) => added_type = section.count(),
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        if matches!(import?.ty, TypeRef::Func(_)) {
                            copy += 1;
                        }
                    }
                }
                Payload::FunctionSection(section) => copy += section.count(),
                _ => {}
            }
        }
        Ok(Self { added_type, copy, constant: None })
    }
}

impl Reencode for Chunked {
    type Error = std::convert::Infallible;

    fn parse_type_section(
        &mut self,
        types: &mut TypeSection,
        section: TypeSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        utils::parse_type_section(self, types, section)?;
        types.ty().function([ValType::I32; 3], []);
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        utils::parse_function_section(self, functions, section)?;
        functions.function(self.added_type).function(self.added_type);
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        utils::parse_code_section(self, code, section)?;
        code.function(&copy()).function(&fill());
        Ok(())
    }

    fn instruction<'a>(&mut self, operator: Operator<'a>) -> Result<wasm_encoder::Instruction<'a>, Error<Self::Error>> {
        let constant = match operator {
            Operator::I32Const { value } => Some(value),
            _ => None,
        };
        // A length is unsigned: a negative constant is one of 2 GiB or more.
        let is_short = self.constant.is_some_and(|length| (0..=CHUNK).contains(&length));
        self.constant = constant;
        match operator {
            Operator::MemoryCopy { .. } if !is_short => Ok(wasm_encoder::Instruction::Call(self.copy)),
            Operator::MemoryFill { .. } if !is_short => Ok(wasm_encoder::Instruction::Call(self.copy + 1)),
            other => utils::instruction(&mut RoundtripReencoder, other).map_err(Into::into),
        }
    }
}

/// Copies bytes, wherever the two ranges lie.
fn copy() -> Function {
    let mut function = Function::new([]);
    let mut body = function.instructions();
    // All that is copied is read before any of it is written.
    few(&mut body, |body, part, at| {
        body.local_get(FROM);
        match at {
            At::Begin(offset) => part.load(body, offset),
            At::End(offset) => part.load(body.local_get(LEN).i32_add().i32_const(offset).i32_sub(), 0),
        }
    });
    chunks(&mut body, |body| {
        // Where the ranges overlap, what is not copied yet is not written either: the chunks go up, or down.
        body.local_get(TO).local_get(FROM).i32_lt_u().if_(BlockType::Empty).loop_(BlockType::Empty);
        body.local_get(TO).local_get(FROM).i32_const(CHUNK).memory_copy(0, 0);
        add_chunk(body, TO);
        add_chunk(body, FROM);
        body.local_get(LEN).i32_const(CHUNK).i32_sub().local_tee(LEN).i32_const(CHUNK).i32_gt_u().br_if(0).end();
        body.else_().loop_(BlockType::Empty);
        body.local_get(LEN).i32_const(CHUNK).i32_sub().local_set(LEN);
        body.local_get(TO).local_get(LEN).i32_add();
        body.local_get(FROM).local_get(LEN).i32_add();
        body.i32_const(CHUNK).memory_copy(0, 0);
        body.local_get(LEN).i32_const(CHUNK).i32_gt_u().br_if(0).end().end();
    });
    body.memory_copy(0, 0).end();
    function
}

/// Fills bytes with one value.
fn fill() -> Function {
    /// Eight times the value.
    const EIGHT: u32 = 3;
    let mut function = Function::new([(1, ValType::I64)]);
    let mut body = function.instructions();
    body.local_get(FROM).i32_const(0xff).i32_and().i64_extend_i32_u().i64_const(0x0101_0101_0101_0101).i64_mul();
    body.local_set(EIGHT);
    few(&mut body, |body, part, _| {
        body.local_get(EIGHT);
        if !matches!(part, Part::Eight) {
            body.i32_wrap_i64();
        }
    });
    chunks(&mut body, |body| {
        body.loop_(BlockType::Empty);
        body.local_get(TO).local_get(FROM).i32_const(CHUNK).memory_fill(0);
        add_chunk(body, TO);
        body.local_get(LEN).i32_const(CHUNK).i32_sub().local_tee(LEN).i32_const(CHUNK).i32_gt_u().br_if(0).end();
    });
    body.memory_fill(0).end();
    function
}

/// What is read or written at once.
#[derive(Clone, Copy)]
enum Part {
    One,
    Two,
    Four,
    Eight,
}

/// Where a part is: so many bytes after the beginning, or before the end.
#[derive(Clone, Copy)]
enum At {
    Begin(u64),
    End(i32),
}

impl Part {
    const fn bytes(self) -> i32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    fn load(self, body: &mut InstructionSink<'_>, offset: u64) {
        let place = MemArg { offset, align: 0, memory_index: 0 };
        match self {
            Self::One => body.i32_load8_u(place),
            Self::Two => body.i32_load16_u(place),
            Self::Four => body.i32_load(place),
            Self::Eight => body.i64_load(place),
        };
    }

    fn store(self, body: &mut InstructionSink<'_>, offset: u64) {
        let place = MemArg { offset, align: 0, memory_index: 0 };
        match self {
            Self::One => body.i32_store8(place),
            Self::Two => body.i32_store16(place),
            Self::Four => body.i32_store(place),
            Self::Eight => body.i64_store(place),
        };
    }
}

/// Moves at most 32 bytes by itself and returns: most moves are that short, and Wasmtime's runtime takes longer to be called than to move them.
/// The parts from the beginning and those from the end overlap where the length is no multiple of theirs.
fn few(body: &mut InstructionSink<'_>, value: impl Fn(&mut InstructionSink<'_>, Part, At)) {
    body.local_get(LEN).i32_const(32).i32_le_u().if_(BlockType::Empty);
    for (least, part, each) in
        [(16, Part::Eight, 2), (8, Part::Eight, 1), (4, Part::Four, 1), (2, Part::Two, 1), (1, Part::One, 1)]
    {
        body.local_get(LEN).i32_const(least).i32_ge_u().if_(BlockType::Empty);
        let begin = (0..each).map(|n| At::Begin((n * part.bytes()).cast_unsigned().into()));
        // A single byte is the first and the last.
        let end = (1..=each).map(|n| At::End(n * part.bytes())).filter(|_| least > 1);
        let places: Vec<At> = begin.chain(end).collect();
        for &at in &places {
            body.local_get(TO);
            if let At::End(offset) = at {
                body.local_get(LEN).i32_add().i32_const(offset).i32_sub();
            }
            value(body, part, at);
        }
        for &at in places.iter().rev() {
            part.store(body, if let At::Begin(offset) = at { offset } else { 0 });
        }
        body.return_().end();
    }
    body.return_().end();
}

/// Moves whole chunks while more than one is left, and puts what the operator for the rest takes on the stack.
fn chunks(body: &mut InstructionSink<'_>, whole: impl Fn(&mut InstructionSink<'_>)) {
    body.block(BlockType::Empty).local_get(LEN).i32_const(CHUNK).i32_le_u().br_if(0);
    whole(body);
    body.end().local_get(TO).local_get(FROM).local_get(LEN);
}

fn add_chunk(body: &mut InstructionSink<'_>, local: u32) {
    body.local_get(local).i32_const(CHUNK).i32_add().local_set(local);
}
