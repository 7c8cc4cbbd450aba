//! The lossless coercion of scalars to the expected type.
//!
//! Invariant: the result denotes the same value, digit for digit, and is not coerced again.
//!
//! Models write numbers as strings and strings as numbers. A text that only looks like a number
//! (`0x10`, ` 5`, an empty string), and a number that a double cannot hold, is left unchanged and
//! fails the validation.

use serde_json::{Number, Value};

use super::types::Types;

/// The largest integer up to which a double represents every integer: 2^53.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Returns the same value in an accepted type, if its own type is not accepted and such a value
/// exists.
pub(super) fn coerce(value: &Value, accepts: Types) -> Option<Value> {
    if Types::from_value(value).intersects(accepts) {
        return None;
    }
    match value {
        Value::String(text) => parse_number(text)
            .filter(|number| Types::from_value(number).intersects(accepts))
            .or_else(|| text.parse().ok().map(Value::Bool).filter(|_| accepts.intersects(Types::BOOLEAN))),
        Value::Number(number) if accepts.intersects(Types::STRING) && !accepts.intersects(Types::NUMBER) => {
            (number.is_i64() || number.is_u64()).then(|| Value::String(number.to_string()))
        }
        Value::Bool(bool) if accepts.intersects(Types::STRING) => Some(Value::String(bool.to_string())),
        _ => None,
    }
}

/// Parses a number in RFC 8259 syntax, if a double represents it exactly.
fn parse_number(text: &str) -> Option<Value> {
    let first = text.strip_prefix('-').unwrap_or(text).as_bytes().first();
    if !first?.is_ascii_digit() || !text.ends_with(|last: char| last.is_ascii_digit()) {
        return None;
    }
    // The grammar is JSON's; Rust's parser accepts more.
    serde_json::from_str::<Number>(text).ok()?;
    let double: f64 = text.parse().ok().filter(|double: &f64| double.is_finite())?;
    // A double always represents this few digits.
    let short = text.len() <= 15 && !text.contains(['e', 'E']);
    if !short && Decimal::parse(text)? != Decimal::parse(&format!("{double:e}"))? {
        return None;
    }
    if double.fract() == 0.0 && double.abs() <= MAX_EXACT_INTEGER && !(double == 0.0 && double.is_sign_negative()) {
        return text.parse().ok().or_else(|| format!("{double:.0}").parse().ok()).map(|integer: i64| integer.into());
    }
    Number::from_f64(double).map(Value::Number)
}

/// A number in a canonical decimal form.
#[derive(PartialEq)]
struct Decimal {
    negative: bool,
    /// The digits without leading and trailing zeros.
    digits: String,
    /// The exponent of the first digit.
    exponent: i64,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { negative, digits, exponent: 0 });
        }
        let leading = i64::try_from(all.len() - significant.len()).ok()?;
        let exponent = exponent.parse::<i64>().ok()?.checked_add(i64::try_from(whole.len()).ok()? - leading)?;
        Some(Self { negative, digits, exponent })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: &Value, accepts: Types, expect: Option<&Value>) {
        let actual = coerce(value, accepts);
        assert_eq!(actual.as_ref(), expect, "{value} as {accepts}");
        if let Some(actual) = actual {
            assert_eq!(coerce(&actual, accepts), None, "{value} as {accepts}, again");
        }
    }

    #[test]
    fn a_string_that_is_a_number_becomes_one() {
        for (text, expect) in [
            ("5", json!(5)),
            ("-5", json!(-5)),
            ("1e3", json!(1000)),
            ("1E+3", json!(1000)),
            ("0.1", json!(0.1)),
            ("0.10", json!(0.1)),
            ("5.0", json!(5)),
            ("100e-2", json!(1)),
            ("1.5e-7", json!(1.5e-7)),
            ("0", json!(0)),
            ("-0", json!(-0.0)),
            ("0e99999999999999999999", json!(0)),
            ("9007199254740992", json!(9_007_199_254_740_992_u64)),
            ("1e21", json!(1e21)),
            ("1.7976931348623157e308", json!(f64::MAX)),
        ] {
            check(&json!(text), Types::NUMBER, Some(&expect));
        }
        check(&json!("5"), Types::INTEGER, Some(&json!(5)));
        check(&json!("5.0"), Types::INTEGER | Types::NULL, Some(&json!(5)));
    }

    #[test]
    fn a_string_that_only_looks_like_a_number_stays() {
        for text in [
            "",
            " ",
            " 5",
            "5 ",
            "5\n",
            "0x10",
            "1_000",
            "1,5",
            "+5",
            ".5",
            "5.",
            "05",
            "NaN",
            "Infinity",
            "inf",
            "five",
            "５",
            "null",
            "true",
            "1e400",
            "1e-400",
            "9007199254740993",
            "0.1234567890123456789",
            "-",
            "1e",
            "--1",
            "[5]",
        ] {
            check(&json!(text), Types::NUMBER, None);
        }
        check(&json!("5.5"), Types::INTEGER, None);
    }

    #[test]
    fn booleans_and_integers_have_one_spelling() {
        check(&json!("true"), Types::BOOLEAN, Some(&json!(true)));
        check(&json!("false"), Types::BOOLEAN | Types::NUMBER, Some(&json!(false)));
        for text in ["True", "TRUE", "yes", "1", "0", ""] {
            check(&json!(text), Types::BOOLEAN, None);
        }
        check(&json!(5), Types::STRING, Some(&json!("5")));
        check(&json!(u64::MAX), Types::STRING, Some(&json!("18446744073709551615")));
        check(&json!(true), Types::STRING, Some(&json!("true")));
        check(&json!(0.1), Types::STRING, None);
        check(&json!(5.0), Types::STRING, None);
        check(&json!(1), Types::BOOLEAN, None);
        check(&json!(true), Types::NUMBER, None);
    }

    #[test]
    fn what_is_accepted_and_what_is_no_scalar_stays() {
        check(&json!("5"), Types::STRING | Types::NUMBER, None);
        check(&json!("5"), Types::ALL, None);
        check(&json!(5), Types::NUMBER | Types::STRING, None);
        check(&json!(null), Types::STRING, None);
        check(&json!("null"), Types::NULL, None);
        check(&json!([5]), Types::NUMBER, None);
        check(&json!(5), Types::ARRAY, None);
        check(&json!(1.5), Types::INTEGER | Types::STRING, None);
    }
}
