//! Targets of calls in machine code of x86-64, absolute instead of relative: all calls of one function are the same bytes then,
//! and code is compressed to five sixths of what it was. It is the x86 filter of the xz format (section 5.3.2 of its
//! specification), with a simpler rule for what a call is. The build script and the process that unpacks share this file.
//!
//! Invariant: [`to_relative`] undoes [`to_absolute`] for any bytes, code or not.

/// The first byte of a call and of a jump, with a relative target of 32 bits.
const CALLS: [u8; 2] = [0xe8, 0xe9];
/// An instruction with such a target, in bytes.
const CALL_BYTES: usize = 5;
/// Targets are this near: half of what the converted bits can tell apart. What is farther is no call.
const REACH: i32 = 1 << 24;
/// What positions are taken modulo.
const POSITIONS: usize = 1 << 25;

/// Makes targets absolute: relative to the start of the bytes.
pub(crate) fn to_absolute(code: &mut [u8]) {
    convert(code, i32::wrapping_add);
}

/// Makes targets relative to the instruction after the call, as the machine reads them.
pub(crate) fn to_relative(code: &mut [u8]) {
    convert(code, i32::wrapping_sub);
}

fn convert(code: &mut [u8], converted: impl Fn(i32, i32) -> i32) {
    let mut from = 0;
    while let Some(found) = code[from..].iter().position(|byte| CALLS.contains(byte)) {
        let next = from + found + CALL_BYTES;
        let Some([_, target @ ..]) =
            code.get_mut(from + found..next).and_then(|call| call.first_chunk_mut::<CALL_BYTES>())
        else {
            return;
        };
        from = next;
        let given = i32::from_le_bytes(*target);
        if (-REACH..REACH).contains(&given) {
            let position = i32::try_from(next % POSITIONS).unwrap_or_default();
            *target = in_reach(converted(given, position)).to_le_bytes();
        }
    }
}

/// The number in reach that differs by a multiple of twice the reach.
const fn in_reach(target: i32) -> i32 {
    const UNUSED_BITS: u32 = REACH.leading_zeros();
    (target << UNUSED_BITS) >> UNUSED_BITS
}

#[cfg(test)]
mod tests {
    use super::{to_absolute, to_relative};

    #[test]
    fn calls_of_one_function_become_the_same_bytes() {
        // Two calls of what is at 16, and one of what is out of reach.
        let mut code = [0xe8, 11, 0, 0, 0, 0x90, 0xe8, 5, 0, 0, 0, 0xe9, 0, 0, 0, 0x7f];
        let before = code;
        to_absolute(&mut code);
        assert_eq!(code, [0xe8, 16, 0, 0, 0, 0x90, 0xe8, 16, 0, 0, 0, 0xe9, 0, 0, 0, 0x7f]);
        to_relative(&mut code);
        assert_eq!(code, before);
    }

    #[test]
    fn any_bytes_come_back() {
        let mut random = 1_u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Many calls, and targets within reach and out of it.
            match random.to_be_bytes() {
                [0..64, jump, ..] => 0xe8 + jump % 2,
                [_, byte, bits, ..] => byte >> (bits % 8),
            }
        };
        for length in (0..200).chain([200_000]) {
            let before: Vec<u8> = (0..length).map(|_| next()).collect();
            let mut bytes = before.clone();
            to_absolute(&mut bytes);
            assert!(length < 200_000 || bytes != before);
            to_relative(&mut bytes);
            assert_eq!(bytes, before);
        }
    }
}
