//! Marks for profiles: a guest that says where in a tool it is, and is otherwise the same.
//!
//! Two globals are added. At its entry the interpreter puts its context into the first, and at each instruction of a tool the
//! instruction's address into the second. What a profile makes of them is in `src/profile/engine.rs`.
//!
//! Invariant: the marked guest computes what the guest computes and burns as much fuel. Of Wasm's operators, the marks are
//! reads and writes of globals alone; those are free in an image with marks (`tunables::marked`), and each that was there
//! before is followed by a `nop`, which costs there what they cost elsewhere.

use std::ops::Range;

use wasmparser::{BinaryReader, FunctionBody, KnownCustom, Name, Operator, Parser, Payload, TypeRef};

use crate::engine_config::{CONTEXT_GLOBAL, PC_GLOBAL};

/// The function of QuickJS that interprets.
const INTERPRETER: &str = "JS_CallInternal";

/// The interpreter chooses among more instructions than any other table of the guest has entries.
const INSTRUCTIONS: u32 = 200;

/// Numbers of the sections that change.
const GLOBALS: u8 = 6;
const EXPORTS: u8 = 7;
const CODE: u8 = 10;

const NOP: u8 = 0x01;
const GLOBAL_GET: u8 = 0x23;
const GLOBAL_SET: u8 = 0x24;
/// A mutable `i32` that begins as 0.
const GLOBAL: [u8; 5] = [0x7f, 0x01, 0x41, 0x00, 0x0b];

/// The guest with marks.
pub(crate) fn marked(guest: &[u8]) -> Vec<u8> {
    let outline = Outline::parse(guest);
    let mut marked = guest[..8].to_vec();
    let (mut code, mut left, mut index) = (Vec::new(), 0, outline.imported);
    for payload in Parser::new(0).parse_all(guest) {
        match payload.expect("the guest is valid") {
            Payload::CodeSectionStart { count, .. } => {
                left = count;
                number(&mut code, count);
            }
            Payload::CodeSectionEntry(body) => {
                let body = outline.body(guest, &body, index);
                number(&mut code, size(&body));
                code.extend(body);
                (left, index) = (left - 1, index + 1);
                if left == 0 {
                    section(&mut marked, CODE, &code);
                }
            }
            other => {
                let Some((id, range)) = other.as_section() else { continue };
                let content = &guest[range];
                match id {
                    GLOBALS => section(&mut marked, id, &with_two_more(content, &[GLOBAL, GLOBAL].concat())),
                    EXPORTS => section(&mut marked, id, &with_two_more(content, &outline.exports())),
                    _ => section(&mut marked, id, content),
                }
            }
        }
    }
    marked
}

/// What has to be known of a guest before it is changed.
struct Outline {
    /// How many functions it imports; its own are counted from there.
    imported: u32,
    /// Which function interprets.
    interpreter: u32,
    /// How many globals it has.
    globals: u32,
}

impl Outline {
    fn parse(guest: &[u8]) -> Self {
        let mut outline = Self { imported: 0, interpreter: u32::MAX, globals: 0 };
        for payload in Parser::new(0).parse_all(guest) {
            match payload.expect("the guest is valid") {
                Payload::ImportSection(imports) => {
                    let imports = imports.into_imports().map(|import| import.expect("the guest is valid"));
                    outline.imported = size(imports.filter(|import| matches!(import.ty, TypeRef::Func(_))));
                }
                Payload::GlobalSection(globals) => outline.globals = globals.count(),
                Payload::CustomSection(custom) => {
                    let KnownCustom::Name(names) = custom.as_known() else { continue };
                    let functions = names.filter_map(|names| match names {
                        Ok(Name::Function(functions)) => Some(functions),
                        _ => None,
                    });
                    let mut functions = functions.flatten().filter_map(Result::ok);
                    if let Some(interpreter) = functions.find(|function| function.name == INTERPRETER) {
                        outline.interpreter = interpreter.index;
                    }
                }
                _ => {}
            }
        }
        assert_ne!(outline.interpreter, u32::MAX, "no function of the guest is called {INTERPRETER}");
        outline
    }

    /// The export section's entries for the two globals.
    fn exports(&self) -> Vec<u8> {
        let mut exports = Vec::new();
        for (name, global) in [(CONTEXT_GLOBAL, self.globals), (PC_GLOBAL, self.globals + 1)] {
            number(&mut exports, size(name.bytes()));
            exports.extend(name.bytes());
            exports.push(0x03);
            number(&mut exports, global);
        }
        exports
    }

    /// The body of a function, with the marks that belong into it.
    fn body(&self, guest: &[u8], body: &FunctionBody<'_>, index: u32) -> Vec<u8> {
        let Range { start, end } = body.range();
        let operators = body.get_operators_reader().expect("the guest is valid").into_iter_with_offsets();
        let operators: Vec<_> = operators.map(|operator| operator.expect("the guest is valid")).collect();
        let marks = if index == self.interpreter { places(&operators) } else { [usize::MAX; 2] };
        let first = operators.first().map_or(end, |(_, at)| *at);
        let mut marked = guest[start..first].to_vec();
        for (at, (operator, from)) in operators.iter().enumerate() {
            let until = operators.get(at + 1).map_or(end, |(_, next)| *next);
            match operator {
                // It costs nothing, and would cost something in an image with marks.
                Operator::Nop => continue,
                Operator::GlobalGet { .. } | Operator::GlobalSet { .. } => {
                    marked.extend(&guest[*from..until]);
                    marked.push(NOP);
                }
                _ => marked.extend(&guest[*from..until]),
            }
            // The value that is on the stack is kept in the global, and taken from there again.
            for (mark, global) in marks.iter().zip(self.globals..) {
                if *mark == at {
                    for operator in [GLOBAL_SET, GLOBAL_GET] {
                        marked.push(operator);
                        number(&mut marked, global);
                    }
                }
            }
        }
        marked
    }
}

/// After which operators of the interpreter its context, and the address of an instruction, are on the stack.
fn places(operators: &[(Operator<'_>, usize)]) -> [usize; 2] {
    let context = operators.iter().position(|(operator, _)| matches!(operator, Operator::LocalGet { local_index: 0 }));
    let chosen = operators
        .iter()
        .position(|(operator, _)| matches!(operator, Operator::BrTable { targets } if targets.len() >= INSTRUCTIONS));
    let chosen = chosen.expect("the interpreter chooses by a table");
    // The byte at the address says which instruction it is.
    let read = |at: &usize| {
        matches!(operators[*at].0, Operator::LocalGet { .. })
            && matches!(operators[at + 1].0, Operator::I32Load8U { memarg } if memarg.offset == 0)
    };
    let place = (0..chosen).rev().take(8).find(read);
    [
        context.expect("the interpreter reads its context"),
        place.expect("the interpreter reads an instruction before it chooses"),
    ]
}

/// A section's content with two more entries.
fn with_two_more(content: &[u8], entries: &[u8]) -> Vec<u8> {
    let mut reader = BinaryReader::new(content, 0);
    let count = reader.read_var_u32().expect("the guest is valid");
    let mut longer = Vec::new();
    number(&mut longer, count + 2);
    longer.extend(&content[reader.current_position()..]);
    longer.extend(entries);
    longer
}

/// Adds a section to a module.
pub(crate) fn section(module: &mut Vec<u8>, id: u8, content: &[u8]) {
    module.push(id);
    number(module, size(content));
    module.extend(content);
}

fn size<T>(items: impl IntoIterator<Item = T>) -> u32 {
    u32::try_from(items.into_iter().count()).expect("the guest is small")
}

/// A number as Wasm writes it (LEB128).
fn number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}
