//! `multipleOf` in constant time for each number.
//!
//! Invariant: no number is expanded to its digits. The library divides fractions of big integers,
//! whose cost grows with the difference of the exponents: 100 µs for 1e308 and 5e-324.
//!
//! For an integer divisor, a 64-bit integer is compared exactly and any other value as its double;
//! for a fractional divisor, the shortest decimal of the double is compared, so that 0.3 is a
//! multiple of 0.1.

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Number, Value};
use toolcell_i18n::msgid;

/// The keyword that this replaces in the library.
pub(super) const KEYWORD: &str = "multipleOf";
/// The fault of a divisor: a clause whose subject is the divisor.
pub(super) const INVALID_DIVISOR: &str = msgid!("is not a number above 0");

struct MultipleOf {
    written: String,
    divisor: Divisor,
}

#[derive(Debug, Clone, Copy)]
enum Divisor {
    Whole(Scaled),
    Decimal(Scaled),
}

/// A positive number: an integer times a power of the base, where the base does not divide the
/// integer.
#[derive(Debug, Clone, Copy)]
struct Scaled {
    whole: u64,
    power: i32,
}

/// Creates the validator of `multipleOf`.
pub(super) fn keyword<'a>(
    _: &'a Map<String, Value>,
    value: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    let number = value.as_number().filter(|number| number.as_f64().is_some_and(|number| number > 0.0));
    let divisor = number.and_then(|number| {
        let is_whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
        if is_whole { binary(number).map(Divisor::Whole) } else { decimal(number).map(Divisor::Decimal) }
    });
    let divisor = divisor.ok_or_else(|| ValidationError::custom(INVALID_DIVISOR))?;
    Ok(Box::new(MultipleOf { written: value.to_string(), divisor }))
}

impl<'i> Keyword<'i> for MultipleOf {
    /// The message of the error is the divisor.
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        Err(ValidationError::custom(self.written.clone()))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        match (instance, self.divisor) {
            (Value::Number(number), Divisor::Whole(divisor)) => {
                // Both integers are odd, so only the powers of two are compared separately.
                binary(number)
                    .is_none_or(|number| number.power >= divisor.power && number.whole.is_multiple_of(divisor.whole))
            }
            (Value::Number(number), Divisor::Decimal(divisor)) => {
                decimal(number).is_none_or(|number| is_multiple(number, divisor))
            }
            _ => true,
        }
    }
}

/// Returns whether a decimal is an integer multiple of another.
fn is_multiple(number: Scaled, divisor: Scaled) -> bool {
    // A number with more decimal places than the divisor is not a multiple: its last digit is not
    // 0.
    let Ok(exponent) = u32::try_from(i64::from(number.power) - i64::from(divisor.power)) else { return false };
    let product = u128::from(number.whole) * u128::from(power_of_ten(exponent, divisor.whole));
    product.is_multiple_of(u128::from(divisor.whole))
}

/// Returns a power of ten modulo the divisor, by repeated squaring.
fn power_of_ten(mut exponent: u32, divisor: u64) -> u64 {
    let times = |one: u64, other: u64| {
        // The remainder is below the divisor.
        u64::try_from(u128::from(one) * u128::from(other) % u128::from(divisor)).unwrap_or_default()
    };
    let (mut power, mut base) = (1 % divisor, 10 % divisor);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = times(power, base);
        }
        base = times(base, base);
        exponent >>= 1;
    }
    power
}

/// Returns the absolute value as an odd number times a power of two; `None` for 0.
fn binary(number: &Number) -> Option<Scaled> {
    let (whole, power) = match whole(number) {
        Some(whole) => (whole, 0),
        None => {
            // IEEE 754 binary64: the leading bit is implicit, unless the exponent is 0.
            let bits = number.as_f64()?.abs().to_bits();
            let exponent = i32::try_from(bits >> 52).ok()?;
            let fraction = bits & ((1 << 52) - 1);
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
        }
    };
    let zeros = whole.trailing_zeros();
    (whole != 0).then(|| Scaled { whole: whole >> zeros, power: power + zeros.cast_signed() })
}

/// Returns the absolute value of a number as a decimal; `None` for 0.
fn decimal(number: &Number) -> Option<Scaled> {
    let (mut whole, mut power) = match whole(number) {
        Some(whole) => (whole, 0),
        None => {
            // The shortest digits that parse to the same double: at most 17.
            let written = format!("{:e}", number.as_f64()?.abs());
            let (digits, exponent) = written.split_once('e')?;
            let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
            let places = i32::try_from(after.len()).ok()?;
            (format!("{before}{after}").parse().ok()?, exponent.parse::<i32>().ok()? - places)
        }
    };
    if whole == 0 {
        return None;
    }
    while whole.is_multiple_of(10) {
        whole /= 10;
        power += 1;
    }
    Some(Scaled { whole, power })
}

/// Returns the absolute value of an integer of up to 64 bits.
fn whole(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn passes(divisor: &str, value: &str) -> bool {
        let (parent, divisor) = (Map::new(), serde_json::from_str(divisor).unwrap());
        let keyword = keyword(&parent, &divisor, Location::new()).unwrap_or_else(|error| panic!("{error}"));
        let value = serde_json::from_str(value).unwrap();
        assert_eq!(keyword.is_valid(&value), keyword.validate(&value).is_ok());
        keyword.is_valid(&value)
    }

    #[test]
    fn a_multiple_is_a_whole_number_of_times_the_divisor() {
        for (divisor, value) in [
            ("7", "0"),
            ("7", "-0.0"),
            ("7", "-49"),
            ("2", "1e308"),
            ("2", "6.0"),
            ("1e22", "3e22"),
            ("18446744073709551615", "18446744073709551615"),
            ("4096", "36893488147419103232"),
            ("0.1", "0.3"),
            ("0.01", "19.99"),
            ("0.01", "1070468.14"),
            ("0.5", "1e300"),
            ("2.5", "10"),
            ("1e-300", "1e308"),
            ("5e-324", "1e308"),
            ("5e-324", "1.5e-323"),
            ("0.3", "1.5"),
            ("0.07", "7e200"),
            ("3", "\"text\""),
        ] {
            assert!(passes(divisor, value), "{value} is a multiple of {divisor}");
        }
        for (divisor, value) in [
            ("7", "50"),
            ("2", "0.5"),
            ("2", "5e-324"),
            ("3", "1e22"),
            ("1e300", "1e299"),
            ("18446744073709551615", "1"),
            ("0.1", "0.35"),
            ("0.01", "19.999"),
            ("2.5", "11"),
            ("0.3", "1e308"),
            ("1.5e300", "1e300"),
            ("3.3e-5", "1e308"),
            ("2.5", "5e-324"),
        ] {
            assert!(!passes(divisor, value), "{value} is no multiple of {divisor}");
        }
        for wrong in [json!(0), json!(-1), json!("1"), json!(0.0), json!(null)] {
            assert!(keyword(&Map::new(), &wrong, Location::new()).is_err(), "{wrong}");
        }
    }
}
