//! What QuickJS has in its memory while it runs a tool: which functions are on its stack, and where in them it is.
//!
//! The offsets are those of the structures of QuickJS-ng, as they lie in the memory of this guest (32 bits, values boxed as
//! NaNs). A test names the functions and lines of a tool that it knows, and fails where one of them is wrong.
//!
//! Invariant: the memory is the guest's, so nothing in it is believed: each read is bounded, and so is each walk.

use std::ops::Range;

/// `JSContext.rt`.
const CONTEXT_RUNTIME: u32 = 8;
/// `JSRuntime.atom_array` and `.current_stack_frame`.
const RUNTIME_ATOMS: u32 = 568;
const RUNTIME_FRAME: u32 = 652;
/// `JSStackFrame.prev_frame`, `.cur_func` and `.cur_pc`.
const FRAME_PREVIOUS: u32 = 0;
const FRAME_FUNCTION: u32 = 8;
const FRAME_PLACE: u32 = 28;
/// `JSObject.class_id`, `.shape`, `.prop` and `.u.func.function_bytecode`.
const OBJECT_CLASS: u32 = 10;
const OBJECT_SHAPE: u32 = 12;
const OBJECT_VALUES: u32 = 16;
const OBJECT_CODE: u32 = 24;
/// `JSShape.prop_hash_mask`, `.prop_count` and `.hash_table`, behind whose words (one more than the mask says) are the
/// properties, of which each has its flags and its atom, four bytes each.
const SHAPE_MASK: u32 = 16;
const SHAPE_COUNT: u32 = 24;
const SHAPE_TABLE: u32 = 40;
/// `JSFunctionBytecode.byte_code_buf`, `.byte_code_len`, `.func_name`, `.filename`, `.line_num`, `.col_num`, `.pc2line_len` and
/// `.pc2line_buf`.
const CODE_BYTES: u32 = 12;
const CODE_LENGTH: u32 = 16;
const CODE_NAME: u32 = 20;
const CODE_FILE: u32 = 56;
const CODE_LINE: u32 = 60;
const CODE_COLUMN: u32 = 64;
const CODE_PLACES_LENGTH: u32 = 72;
const CODE_PLACES: u32 = 76;
/// `JSString`: the length with a bit for wide characters, the kind, and the characters behind it.
const STRING_LENGTH: u32 = 0;
const STRING_KIND: u32 = 4;
const STRING_CHARACTERS: u32 = 16;

/// The tags of an object and of a string in a boxed value.
const TAG_OBJECT: u32 = u32::MAX;
const TAG_STRING: u32 = u32::MAX - 6;
/// The classes of functions that have byte code: plain, generators, `async`, and both.
const CLASSES_WITH_CODE: [u16; 4] = [13, 17, 55, 59];
/// The atom `name`.
const ATOM_NAME: u32 = 58;
/// The bit of an atom that is a number, and the bits of a property's flags that a plain value does not have.
const ATOM_IS_NUMBER: u32 = 1 << 31;
const PROPERTY_IS_NO_VALUE: u32 = (3 << 4) << 26;

/// How the table of places is packed: the smallest step of a line, how many steps there are, and the first packed byte.
const LINE_LEAST: i32 = -1;
const LINE_STEPS: u8 = 5;
const PACKED_FIRST: u8 = 1;

/// The most of a name, of a function's properties and of a table of places that is read.
const NAME_MOST: u32 = 200;
const PROPERTIES_MOST: u32 = 64;
const PLACES_MOST: u32 = 1 << 20;

/// The most frames that are walked. The guest's stack has room for fewer.
pub(super) const FRAMES_MOST: usize = 1 << 16;

/// The memory of a guest that runs.
#[derive(Clone, Copy)]
pub(super) struct Engine<'a> {
    memory: &'a [u8],
    runtime: u32,
}

/// A function that is on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Callee {
    /// One of a script: where its byte code is described.
    Code(u32),
    /// One of the engine: where its object is.
    Native(u32),
}

/// A function of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) column: u32,
    /// Where its instructions are.
    pub(super) bytes: Range<u32>,
}

impl<'a> Engine<'a> {
    /// The engine whose context is there, if one is.
    pub(super) fn of(memory: &'a [u8], context: u32) -> Option<Self> {
        let engine = Self { memory, runtime: 0 };
        let runtime = engine.word(context.checked_add(CONTEXT_RUNTIME).filter(|_| context != 0)?)?;
        Some(Self { memory, runtime })
    }

    /// The frames that are on the stack, the innermost first.
    pub(super) fn frames(self, frames: &mut Vec<u32>) {
        frames.clear();
        let mut frame = self.at(self.runtime, RUNTIME_FRAME);
        while let Some(at) = frame.filter(|at| *at != 0 && frames.len() < FRAMES_MOST) {
            frames.push(at);
            frame = self.at(at, FRAME_PREVIOUS);
        }
    }

    /// The function of a frame.
    pub(super) fn callee(self, frame: u32) -> Option<Callee> {
        let function = self.object(frame.checked_add(FRAME_FUNCTION)?)?;
        let class = self.bytes(function.checked_add(OBJECT_CLASS)?, 2)?;
        if CLASSES_WITH_CODE.contains(&u16::from_le_bytes([class[0], class[1]])) {
            return self.at(function, OBJECT_CODE).map(Callee::Code);
        }
        Some(Callee::Native(function))
    }

    /// Where the instruction behind the one that a frame waits for is. A frame that has not called anything has none.
    pub(super) fn waits_before(self, frame: u32) -> Option<u32> {
        self.at(frame, FRAME_PLACE).filter(|place| *place != 0)
    }

    /// What is known of a function with byte code; its own name is that of the frame that it runs in.
    pub(super) fn describe(self, code: u32, frame: u32) -> Option<Described> {
        let (start, length) = (self.at(code, CODE_BYTES)?, self.at(code, CODE_LENGTH)?);
        let of_object = self.object(frame.checked_add(FRAME_FUNCTION)?).and_then(|function| self.name_of(function));
        let name = of_object.filter(|name| !name.is_empty()).or_else(|| self.atom(self.at(code, CODE_NAME)?));
        Some(Described {
            name: name.unwrap_or_default(),
            file: self.atom(self.at(code, CODE_FILE)?).unwrap_or_default(),
            line: self.at(code, CODE_LINE)?,
            column: self.at(code, CODE_COLUMN)?,
            bytes: start..start.checked_add(length)?,
        })
    }

    /// The `name` that a function has as a plain property of its own.
    pub(super) fn name_of(self, function: u32) -> Option<String> {
        let (shape, values) = (self.at(function, OBJECT_SHAPE)?, self.at(function, OBJECT_VALUES)?);
        let count = self.at(shape, SHAPE_COUNT)?.min(PROPERTIES_MOST);
        let table = self.at(shape, SHAPE_MASK)?.checked_add(1)?.checked_mul(4)?;
        let properties = shape.checked_add(SHAPE_TABLE)?.checked_add(table)?;
        let properties = self.bytes(properties, count.checked_mul(8)?)?;
        let property = properties.chunks_exact(8).position(|property| word_of(&property[4..]) == ATOM_NAME)?;
        if word_of(&properties[property * 8..]) & PROPERTY_IS_NO_VALUE != 0 {
            return None;
        }
        let value = values.checked_add(u32::try_from(property).ok()?.checked_mul(8)?)?;
        let (string, tag) = (self.word(value)?, self.at(value, 4)?);
        if tag == TAG_STRING { self.string(string) } else { None }
    }

    /// The line and the column of an instruction, so many bytes from the function's first one.
    pub(super) fn place(self, code: u32, offset: u32) -> Option<(u32, u32)> {
        let mut line = self.at(code, CODE_LINE)?.cast_signed();
        let mut column = self.at(code, CODE_COLUMN)?.cast_signed();
        let length = self.at(code, CODE_PLACES_LENGTH)?.min(PLACES_MOST);
        let table = self.at(code, CODE_PLACES).filter(|at| *at != 0);
        let mut table = Table(table.and_then(|at| self.bytes(at, length)).unwrap_or_default());
        let mut from = 0_u32;
        while let Some((step, lines, columns)) = table.entry() {
            from = from.saturating_add(step);
            if offset < from {
                break;
            }
            (line, column) = (line.saturating_add(lines), column.saturating_add(columns));
        }
        Some((line.max(1).cast_unsigned(), column.max(1).cast_unsigned()))
    }

    /// The text of an atom.
    fn atom(self, atom: u32) -> Option<String> {
        if atom & ATOM_IS_NUMBER != 0 {
            return Some((atom & !ATOM_IS_NUMBER).to_string());
        }
        let atoms = self.at(self.runtime, RUNTIME_ATOMS)?;
        let string = self.at(atoms, atom.checked_mul(4)?)?;
        if atom == 0 { None } else { self.string(string) }
    }

    /// The text of a string, or its beginning.
    fn string(self, string: u32) -> Option<String> {
        let (length, kind) = (self.at(string, STRING_LENGTH)?, self.at(string, STRING_KIND)?);
        if kind >> 28 & 3 != 0 {
            return None;
        }
        let (wide, length) = (length >> 31 != 0, (length & !(1 << 31)).min(NAME_MOST));
        let bytes = self.bytes(string.checked_add(STRING_CHARACTERS)?, if wide { length * 2 } else { length })?;
        if wide {
            let units: Vec<u16> = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
            return Some(String::from_utf16_lossy(&units));
        }
        // Characters of one byte are those of Latin-1.
        Some(bytes.iter().map(|byte| char::from(*byte)).collect())
    }

    /// The object that a boxed value is.
    fn object(self, value: u32) -> Option<u32> {
        let tag = self.at(value, 4)?;
        if tag == TAG_OBJECT { self.word(value) } else { None }
    }

    fn at(self, base: u32, offset: u32) -> Option<u32> {
        self.word(base.checked_add(offset)?)
    }

    fn word(self, at: u32) -> Option<u32> {
        self.bytes(at, 4).map(word_of)
    }

    fn bytes(self, at: u32, length: u32) -> Option<&'a [u8]> {
        self.memory.get(at as usize..)?.get(..length as usize)
    }
}

fn word_of(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// What is left of a table of places.
struct Table<'a>(&'a [u8]);

impl Table<'_> {
    /// How many bytes of instructions, lines and columns the next entry is further on.
    fn entry(&mut self) -> Option<(u32, i32, i32)> {
        let packed = self.byte()?;
        let (bytes, lines) = match packed.checked_sub(PACKED_FIRST) {
            Some(packed) => (u32::from(packed / LINE_STEPS), i32::from(packed % LINE_STEPS) + LINE_LEAST),
            None => (self.number()?, self.signed()?),
        };
        Some((bytes, lines, self.signed()?))
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A number in seven bits a byte, the lowest first.
    fn number(&mut self) -> Option<u32> {
        let mut number = 0;
        for at in 0..5 {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f).checked_shl(7 * at).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number whose lowest bit says whether it is below zero.
    fn signed(&mut self) -> Option<i32> {
        let number = self.number()?;
        Some(((number >> 1) ^ 0_u32.wrapping_sub(number & 1)).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_any_kind_is_walked_and_comes_to_an_end() {
        let mut frames = Vec::new();
        // A frame that is its own caller, in memory that is all ones, all zeros, and too short.
        let mut own_caller = vec![0; 4096];
        own_caller[100 + 8..][..4].copy_from_slice(&200_u32.to_le_bytes());
        own_caller[200 + 652..][..4].copy_from_slice(&400_u32.to_le_bytes());
        own_caller[400..][..4].copy_from_slice(&400_u32.to_le_bytes());
        for (memory, most) in [(own_caller, FRAMES_MOST), (vec![0xff; 4096], 0), (vec![0; 4096], 0), (vec![0; 90], 0)] {
            for context in [0, 1, 100, 4090, u32::MAX] {
                let Some(engine) = Engine::of(&memory, context) else { continue };
                engine.frames(&mut frames);
                assert!(frames.len() <= most, "{} of {most}", frames.len());
                for at in [0, 1, 400, 4095, u32::MAX - 3, u32::MAX] {
                    let _ = (engine.callee(at), engine.waits_before(at), engine.name_of(at), engine.place(at, at));
                    assert_eq!(engine.describe(u32::MAX, at), None);
                }
            }
        }
    }

    #[test]
    fn a_table_of_places_is_read_to_its_end() {
        // Three bytes and two lines on in one byte; then in the long form, a line back.
        let mut table = Table(&[1 + 3 * 5 + 3, 4, 0, 0x80, 0x01, 1, 9]);
        assert_eq!(table.entry(), Some((3, 2, 2)));
        assert_eq!(table.entry(), Some((128, -1, -5)));
        assert_eq!(table.entry(), None);
        assert_eq!(Table(&[0, 0xff, 0xff, 0xff, 0xff, 0xff]).entry(), None);
    }
}
