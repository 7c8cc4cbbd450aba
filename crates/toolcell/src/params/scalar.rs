//! Scalars of another type than was asked for, where nothing is lost.
//!
//! Invariant: what comes out says what went in, digit for digit, and is left alone when it comes again.
//!
//! Models write numbers as strings and strings as numbers. What only looks like a number (`0x10`, ` 5`, an empty
//! string), and what a double cannot hold, stays as it is and fails the validation with its own words.

use serde_json::{Number, Value};

use super::types::Types;

/// The largest integer up to which a double holds every one.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The same value in a type that is accepted, if its own is not and there is one.
pub(super) fn coerced(value: &Value, accepts: Types) -> Option<Value> {
    if Types::of(value).meets(accepts) {
        return None;
    }
    match value {
        Value::String(text) => number(text)
            .filter(|number| Types::of(number).meets(accepts))
            .or_else(|| text.parse().ok().map(Value::Bool).filter(|_| accepts.meets(Types::BOOLEAN))),
        Value::Number(number) if accepts.meets(Types::STRING) && !accepts.meets(Types::NUMBER) => {
            (number.is_i64() || number.is_u64()).then(|| Value::String(number.to_string()))
        }
        Value::Bool(bool) if accepts.meets(Types::STRING) => Some(Value::String(bool.to_string())),
        _ => None,
    }
}

/// The number that a text is, as RFC 8259 writes one, if a double holds it.
fn number(text: &str) -> Option<Value> {
    let first = text.strip_prefix('-').unwrap_or(text).as_bytes().first();
    if !first?.is_ascii_digit() || !text.ends_with(|last: char| last.is_ascii_digit()) {
        return None;
    }
    // The grammar is JSON's; Rust's own knows more.
    serde_json::from_str::<Number>(text).ok()?;
    let double: f64 = text.parse().ok().filter(|double: &f64| double.is_finite())?;
    // So few digits a double always holds.
    let short = text.len() <= 15 && !text.contains(['e', 'E']);
    if !short && Decimal::read(text)? != Decimal::read(&format!("{double:e}"))? {
        return None;
    }
    if double.fract() == 0.0 && double.abs() <= EXACT && !(double == 0.0 && double.is_sign_negative()) {
        return text.parse().ok().or_else(|| format!("{double:.0}").parse().ok()).map(|integer: i64| integer.into());
    }
    Number::from_f64(double).map(Value::Number)
}

/// What a number is, however it was written.
#[derive(PartialEq)]
struct Decimal {
    negative: bool,
    /// Without zeros at either end.
    digits: String,
    /// Of the first digit.
    exponent: i64,
}

impl Decimal {
    fn read(text: &str) -> Option<Self> {
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
        let actual = coerced(value, accepts);
        assert_eq!(actual.as_ref(), expect, "{value} as {accepts}");
        if let Some(actual) = actual {
            assert_eq!(coerced(&actual, accepts), None, "{value} as {accepts}, again");
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
