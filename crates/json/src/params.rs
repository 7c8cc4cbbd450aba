//! The parameters of a call.

use crate::validate::Validator;
use crate::{Json, JsonError};

/// The maximum number of inexact numbers that are recorded.
const MAX_INEXACT: usize = 100;

/// The parameters of a call: a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    json: Json,
    inexact: Vec<(String, String)>,
}

impl Default for Params {
    /// `{}`
    fn default() -> Self {
        Self { json: Json(std::borrow::Cow::Borrowed("{}")), inexact: Vec::new() }
    }
}

impl Params {
    /// Validates a text and records the numbers that JavaScript cannot represent exactly.
    ///
    /// # Errors
    /// [`JsonError`] if the text is not JSON, not an object, or nested deeper than
    /// [`MAX_DEPTH`](toolcell_protocol::MAX_DEPTH) levels.
    ///
    /// # Examples
    /// ```
    /// use toolcell_json::Params;
    ///
    /// assert!(Params::parse(r#"{"numbers": [1, 2]}"#).is_ok());
    /// assert_eq!(Params::parse("[1]").unwrap_err().to_string(), "expected an object at line 1, column 1");
    /// ```
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        let text = text.into();
        let mut inexact = Vec::new();
        let mut reader = Validator::new(&text);
        reader.expect_object()?;
        reader.validate(&mut |number, path| {
            if inexact.len() < MAX_INEXACT
                && let Some(became) = inexact_as_double(number)
            {
                inexact
                    .push((path(), format!("{} became {became}: a JavaScript number cannot hold it", shorten(number))));
            }
        })?;
        Ok(Self { json: Json(text.into()), inexact })
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.json.as_str()
    }

    /// Returns the numbers that change on conversion: the path as a JSON Pointer, and a message.
    #[must_use]
    pub fn inexact(&self) -> &[(String, String)] {
        &self.inexact
    }
}

/// Returns the value of a number as a double, if it differs.
///
/// Rounding of fractions is expected; integers and overflow are reported because they go wrong
/// silently.
fn inexact_as_double(number: &str) -> Option<String> {
    let double: f64 = number.parse().ok()?;
    if double.is_infinite() {
        return Some(if double > 0.0 { "Infinity" } else { "-Infinity" }.to_owned());
    }
    let integer = !number.contains(['.', 'e', 'E']);
    // Only a number that is reported is formatted: this takes a microsecond per dozen digits.
    (integer && number.len() > 15 && !has_53_bits(number)).then(|| format!("{double:.0}"))
}

/// Returns whether an integer below the largest double spans at most 53 bits from its first to its
/// last 1, so that a double represents it exactly.
#[expect(clippy::cast_possible_truncation, reason = "a limb is the low 64 bits")]
fn has_53_bits(integer: &str) -> bool {
    /// The number of decimal digits that fit into a limb.
    const DIGITS: usize = 19;
    let digits = integer.trim_start_matches('-').as_bytes();
    // Base 2^64, least significant limb first. A double has at most 309 digits, so there are at
    // most 17 limbs.
    let mut limbs: Vec<u64> = Vec::new();
    for chunk in digits.chunks(DIGITS) {
        let (mut carry, mut base) = (0_u128, 1_u128);
        for digit in chunk {
            carry = carry * 10 + u128::from(digit - b'0');
            base *= 10;
        }
        for limb in &mut limbs {
            carry += u128::from(*limb) * base;
            *limb = carry as u64;
            carry >>= 64;
        }
        if carry > 0 {
            limbs.push(carry as u64);
        }
    }
    let (Some(first), Some(last)) = (limbs.iter().position(|limb| *limb != 0), limbs.last()) else { return true };
    let low = 64 * first + limbs[first].trailing_zeros() as usize;
    let high = 64 * limbs.len() - last.leading_zeros() as usize;
    high - low <= 53
}

/// Shortens a number for a message.
fn shorten(number: &str) -> String {
    if number.len() <= 40 { number.to_owned() } else { format!("{}… ({} digits)", &number[..40], number.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_a_double_cannot_hold_are_noted_with_their_path() {
        let params =
            Params::parse(r#"{"a": [0.1, 9007199254740993], "b/c": {"d": 1e400}, "e": 9007199254740992}"#).unwrap();
        let paths: Vec<&str> = params.inexact().iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["/a/1", "/b~1c/d"]);
        assert!(params.inexact()[0].1.contains("9007199254740992"));
        assert!(params.inexact()[1].1.contains("Infinity"));
    }

    #[test]
    fn an_integer_is_inexact_where_a_double_writes_it_differently() {
        let powers = [53, 64, 127, 128, 129, 500, 971, 1023].map(|power| format!("{:.0}", 2_f64.powi(power)));
        let zeros = (15..308).map(|zeros| format!("1{}", "0".repeat(zeros)));
        let some = ["123456789012345678", "9007199254740993", "9007199254740994", "18446744073709551615"];
        let largest = format!("{:.0}", f64::MAX);
        let all = powers.into_iter().chain(zeros).chain(some.map(str::to_owned)).chain([largest]);
        for integer in all.flat_map(|integer| [format!("-{integer}"), format!("1{}", &integer[1..]), integer]) {
            let written = format!("{:.0}", integer.parse::<f64>().unwrap());
            let expect = (written != integer).then_some(written);
            assert_eq!(inexact_as_double(&integer), expect, "{integer}");
        }
    }

    #[test]
    fn many_numbers_of_large_exponents_are_exact() {
        let largest = format!("{:.0}", f64::MAX);
        let (exact, wide) = (largest.as_str(), "1e308");
        for number in [exact, wide, "9e307", "-1e308", "5e-324"] {
            let text = format!(r#"{{"a":[{}0]}}"#, format!("{number},").repeat((8 << 20) / (number.len() + 1)));
            // When each number was expanded to its digits, 8 MiB of 1e308 took 40 s. `it::bounds`
            // tests the limit of CPU time.
            assert_eq!(Params::parse(text).unwrap().inexact(), [], "{number}");
        }
    }

    #[test]
    fn the_paths_of_notes_are_cut_where_they_are_made() {
        let text = format!(r#"{{"{}":[{}0]}}"#, "é/".repeat(1 << 20), "1e999,".repeat(1_000));
        let params = Params::parse(text).unwrap();
        assert_eq!(params.inexact().len(), MAX_INEXACT);
        for (path, _) in params.inexact() {
            assert!(path.chars().count() == 501 && path.starts_with("/é~1é~1") && path.ends_with('…'), "{path}");
        }
        let deep = format!(r#"{}{{"a":1e999}}{}"#, r#"{"a":"#.repeat(400), "}".repeat(400));
        assert_eq!(Params::parse(deep).unwrap().inexact()[0].0.chars().count(), 501);
        let short = format!(r#"{{"{}":1e999}}"#, "k".repeat(499));
        assert_eq!(Params::parse(short).unwrap().inexact()[0].0, format!("/{}", "k".repeat(499)));
    }
}
