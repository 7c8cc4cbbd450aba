//! A reader of QuickJS's data structures in guest memory: which functions are on the stack, and
//! where in them execution is.
//!
//! The offsets are those of QuickJS-ng's structures in this guest (32 bits, NaN-boxed values). A
//! test profiles a known tool and fails if a function or a line is wrong.
//!
//! Invariant: guest memory is untrusted, so every read is bounds-checked and every walk is bounded.

use std::ops::Range;

/// `JSContext.rt`.
const CONTEXT_RUNTIME: u32 = 8;
/// `JSRuntime.atom_array` and `.current_stack_frame`.
const RUNTIME_ATOMS: u32 = 568;
const RUNTIME_FRAME: u32 = 652;
/// `JSStackFrame.prev_frame`, `.cur_func` and `.cur_pc`.
const FRAME_PREVIOUS: u32 = 0;
const FRAME_FUNCTION: u32 = 8;
const FRAME_PC: u32 = 28;
/// `JSObject.class_id`, `.shape`, `.prop` and `.u.func.function_bytecode`.
const OBJECT_CLASS: u32 = 10;
const OBJECT_SHAPE: u32 = 12;
const OBJECT_PROPERTIES: u32 = 16;
const OBJECT_CODE: u32 = 24;
/// `JSShape.prop_hash_mask`, `.prop_count` and `.hash_table`. The table has one word more than the
/// mask says; the properties follow it, each with its flags and its atom, four bytes each.
const SHAPE_MASK: u32 = 16;
const SHAPE_COUNT: u32 = 24;
const SHAPE_TABLE: u32 = 40;
/// `JSFunctionBytecode.byte_code_buf`, `.byte_code_len`, `.func_name`, `.filename`, `.line_num`,
/// `.col_num`, `.pc2line_len` and `.pc2line_buf`.
const CODE_BYTES: u32 = 12;
const CODE_LENGTH: u32 = 16;
const CODE_NAME: u32 = 20;
const CODE_FILE: u32 = 56;
const CODE_LINE: u32 = 60;
const CODE_COLUMN: u32 = 64;
const CODE_PC2LINE_LENGTH: u32 = 72;
const CODE_PC2LINE: u32 = 76;
/// `JSString`: the length with a bit for wide characters, the kind, and the characters after it.
const STRING_LENGTH: u32 = 0;
const STRING_KIND: u32 = 4;
const STRING_CHARACTERS: u32 = 16;

/// The tags of an object and of a string in a NaN-boxed value.
const TAG_OBJECT: u32 = u32::MAX;
const TAG_STRING: u32 = u32::MAX - 6;
/// The classes of functions with byte code: plain, generators, `async`, and async generators.
const CLASSES_WITH_CODE: [u16; 4] = [13, 17, 55, 59];
/// The atom `name`.
const ATOM_NAME: u32 = 58;
/// The bit that marks an integer atom, and the flag bits that a plain data property does not have.
const ATOM_IS_NUMBER: u32 = 1 << 31;
const PROPERTY_NOT_PLAIN: u32 = (3 << 4) << 26;

/// The encoding of the pc2line table: the smallest line step, the number of line steps, and the
/// first packed byte.
const MIN_LINE_DELTA: i32 = -1;
const LINE_DELTA_RANGE: u8 = 5;
const FIRST_PACKED_BYTE: u8 = 1;

/// The maximum length of a name that is read, and the maximum number of properties and of bytes of
/// a pc2line table.
const MAX_NAME_CHARS: u32 = 200;
const MAX_PROPERTIES: u32 = 64;
const MAX_PC2LINE_BYTES: u32 = 1 << 20;

/// The maximum number of frames in a walk. The guest's stack has room for fewer.
pub(super) const MAX_FRAMES: usize = 1 << 16;

/// A view of QuickJS in the memory of a running guest.
#[derive(Clone, Copy)]
pub(super) struct QuickJs<'a> {
    memory: &'a [u8],
    runtime: u32,
}

/// The function of a stack frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Callee {
    /// A script function: the address of its byte code structure.
    Code(u32),
    /// A native function: the address of its object.
    Native(u32),
}

/// The description of a script function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FunctionInfo {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) column: u32,
    /// The address range of its instructions.
    pub(super) code_range: Range<u32>,
}

impl<'a> QuickJs<'a> {
    /// Locates the runtime through a context. Returns `None` if there is no context.
    pub(super) fn new(memory: &'a [u8], context: u32) -> Option<Self> {
        let engine = Self { memory, runtime: 0 };
        let runtime = engine.read_u32(context.checked_add(CONTEXT_RUNTIME).filter(|_| context != 0)?)?;
        Some(Self { memory, runtime })
    }

    /// Collects the addresses of the stack frames, the innermost first.
    pub(super) fn frames(self, frames: &mut Vec<u32>) {
        frames.clear();
        let mut frame = self.field(self.runtime, RUNTIME_FRAME);
        while let Some(at) = frame.filter(|at| *at != 0 && frames.len() < MAX_FRAMES) {
            frames.push(at);
            frame = self.field(at, FRAME_PREVIOUS);
        }
    }

    /// Returns the function of a frame.
    pub(super) fn callee(self, frame: u32) -> Option<Callee> {
        let function = self.object(frame.checked_add(FRAME_FUNCTION)?)?;
        let class = self.read_bytes(function.checked_add(OBJECT_CLASS)?, 2)?;
        if CLASSES_WITH_CODE.contains(&u16::from_le_bytes([class[0], class[1]])) {
            return self.field(function, OBJECT_CODE).map(Callee::Code);
        }
        Some(Callee::Native(function))
    }

    /// Returns the address of the instruction after the call that a frame waits for. Returns `None`
    /// for a frame that has not called anything.
    pub(super) fn return_pc(self, frame: u32) -> Option<u32> {
        self.field(frame, FRAME_PC).filter(|place| *place != 0)
    }

    /// Returns the description of a function with byte code. The name comes from the function
    /// object of the frame, or else from the byte code.
    pub(super) fn function_info(self, code: u32, frame: u32) -> Option<FunctionInfo> {
        let (start, length) = (self.field(code, CODE_BYTES)?, self.field(code, CODE_LENGTH)?);
        let of_object =
            self.object(frame.checked_add(FRAME_FUNCTION)?).and_then(|function| self.function_name(function));
        let name = of_object.filter(|name| !name.is_empty()).or_else(|| self.atom(self.field(code, CODE_NAME)?));
        Some(FunctionInfo {
            name: name.unwrap_or_default(),
            file: self.atom(self.field(code, CODE_FILE)?).unwrap_or_default(),
            line: self.field(code, CODE_LINE)?,
            column: self.field(code, CODE_COLUMN)?,
            code_range: start..start.checked_add(length)?,
        })
    }

    /// Returns the `name` of a function, if it is an own data property.
    pub(super) fn function_name(self, function: u32) -> Option<String> {
        let (shape, values) = (self.field(function, OBJECT_SHAPE)?, self.field(function, OBJECT_PROPERTIES)?);
        let count = self.field(shape, SHAPE_COUNT)?.min(MAX_PROPERTIES);
        let table = self.field(shape, SHAPE_MASK)?.checked_add(1)?.checked_mul(4)?;
        let properties = shape.checked_add(SHAPE_TABLE)?.checked_add(table)?;
        let properties = self.read_bytes(properties, count.checked_mul(8)?)?;
        let property = properties.chunks_exact(8).position(|property| u32_from_le(&property[4..]) == ATOM_NAME)?;
        if u32_from_le(&properties[property * 8..]) & PROPERTY_NOT_PLAIN != 0 {
            return None;
        }
        let value = values.checked_add(u32::try_from(property).ok()?.checked_mul(8)?)?;
        let (string, tag) = (self.read_u32(value)?, self.field(value, 4)?);
        if tag == TAG_STRING { self.string(string) } else { None }
    }

    /// Returns the line and the column of the instruction at `offset` bytes from the function's
    /// first one.
    pub(super) fn line_and_column(self, code: u32, offset: u32) -> Option<(u32, u32)> {
        let mut line = self.field(code, CODE_LINE)?.cast_signed();
        let mut column = self.field(code, CODE_COLUMN)?.cast_signed();
        let length = self.field(code, CODE_PC2LINE_LENGTH)?.min(MAX_PC2LINE_BYTES);
        let table = self.field(code, CODE_PC2LINE).filter(|at| *at != 0);
        let mut table = Pc2Line(table.and_then(|at| self.read_bytes(at, length)).unwrap_or_default());
        let mut from = 0_u32;
        while let Some((step, lines, columns)) = table.next_entry() {
            from = from.saturating_add(step);
            if offset < from {
                break;
            }
            (line, column) = (line.saturating_add(lines), column.saturating_add(columns));
        }
        Some((line.max(1).cast_unsigned(), column.max(1).cast_unsigned()))
    }

    /// Returns the text of an atom.
    fn atom(self, atom: u32) -> Option<String> {
        if atom & ATOM_IS_NUMBER != 0 {
            return Some((atom & !ATOM_IS_NUMBER).to_string());
        }
        let atoms = self.field(self.runtime, RUNTIME_ATOMS)?;
        let string = self.field(atoms, atom.checked_mul(4)?)?;
        if atom == 0 { None } else { self.string(string) }
    }

    /// Returns the text of a string, up to the maximum length.
    fn string(self, string: u32) -> Option<String> {
        let (length, kind) = (self.field(string, STRING_LENGTH)?, self.field(string, STRING_KIND)?);
        if kind >> 28 & 3 != 0 {
            return None;
        }
        let (wide, length) = (length >> 31 != 0, (length & !(1 << 31)).min(MAX_NAME_CHARS));
        let bytes = self.read_bytes(string.checked_add(STRING_CHARACTERS)?, if wide { length * 2 } else { length })?;
        if wide {
            let units: Vec<u16> = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
            return Some(String::from_utf16_lossy(&units));
        }
        // One-byte characters are Latin-1.
        Some(bytes.iter().map(|byte| char::from(*byte)).collect())
    }

    /// Returns the address of the object in a boxed value.
    fn object(self, value: u32) -> Option<u32> {
        let tag = self.field(value, 4)?;
        if tag == TAG_OBJECT { self.read_u32(value) } else { None }
    }

    fn field(self, base: u32, offset: u32) -> Option<u32> {
        self.read_u32(base.checked_add(offset)?)
    }

    fn read_u32(self, at: u32) -> Option<u32> {
        self.read_bytes(at, 4).map(u32_from_le)
    }

    fn read_bytes(self, at: u32, length: u32) -> Option<&'a [u8]> {
        self.memory.get(at as usize..)?.get(..length as usize)
    }
}

fn u32_from_le(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The unread rest of a pc2line table.
struct Pc2Line<'a>(&'a [u8]);

impl Pc2Line<'_> {
    /// Returns the steps to the next entry in bytes of code, lines and columns.
    fn next_entry(&mut self) -> Option<(u32, i32, i32)> {
        let packed = self.next_byte()?;
        let (bytes, lines) = match packed.checked_sub(FIRST_PACKED_BYTE) {
            Some(packed) => {
                (u32::from(packed / LINE_DELTA_RANGE), i32::from(packed % LINE_DELTA_RANGE) + MIN_LINE_DELTA)
            }
            None => (self.next_leb128()?, self.next_zigzag()?),
        };
        Some((bytes, lines, self.next_zigzag()?))
    }

    fn next_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads an unsigned LEB128 number.
    fn next_leb128(&mut self) -> Option<u32> {
        let mut number = 0;
        for at in 0..5 {
            let byte = self.next_byte()?;
            number |= u32::from(byte & 0x7f).checked_shl(7 * at).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a zigzag-encoded number, whose lowest bit is the sign.
    fn next_zigzag(&mut self) -> Option<i32> {
        let number = self.next_leb128()?;
        Some(((number >> 1) ^ 0_u32.wrapping_sub(number & 1)).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_any_kind_is_walked_and_comes_to_an_end() {
        let mut frames = Vec::new();
        // A frame that is its own caller, then memory of all ones, of all zeros, and one that is
        // too short.
        let mut own_caller = vec![0; 4096];
        own_caller[100 + 8..][..4].copy_from_slice(&200_u32.to_le_bytes());
        own_caller[200 + 652..][..4].copy_from_slice(&400_u32.to_le_bytes());
        own_caller[400..][..4].copy_from_slice(&400_u32.to_le_bytes());
        for (memory, most) in [(own_caller, MAX_FRAMES), (vec![0xff; 4096], 0), (vec![0; 4096], 0), (vec![0; 90], 0)] {
            for context in [0, 1, 100, 4090, u32::MAX] {
                let Some(engine) = QuickJs::new(&memory, context) else { continue };
                engine.frames(&mut frames);
                assert!(frames.len() <= most, "{} of {most}", frames.len());
                for at in [0, 1, 400, 4095, u32::MAX - 3, u32::MAX] {
                    let _ = (
                        engine.callee(at),
                        engine.return_pc(at),
                        engine.function_name(at),
                        engine.line_and_column(at, at),
                    );
                    assert_eq!(engine.function_info(u32::MAX, at), None);
                }
            }
        }
    }

    #[test]
    fn a_table_of_places_is_read_to_its_end() {
        // An entry of three bytes and two lines in packed form, then one line back in long form.
        let mut table = Pc2Line(&[1 + 3 * 5 + 3, 4, 0, 0x80, 0x01, 1, 9]);
        assert_eq!(table.next_entry(), Some((3, 2, 2)));
        assert_eq!(table.next_entry(), Some((128, -1, -5)));
        assert_eq!(table.next_entry(), None);
        assert_eq!(Pc2Line(&[0, 0xff, 0xff, 0xff, 0xff, 0xff]).next_entry(), None);
    }
}
