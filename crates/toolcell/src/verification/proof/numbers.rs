//! Generates numbers of a declared schema: boundary values and realistic ones.
//!
//! Invariant: each number is within the declared bounds.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Number, Value};

use super::strategies::{InputStyle, weighted_union};

/// Boundary values of number representations.
const EDGE_CASES: [f64; 22] = [
    0.0,
    1.0,
    -1.0,
    2.0,
    3.0,
    10.0,
    -7.0,
    100.0,
    0.5,
    -0.5,
    0.1,
    1.005,
    1e-7,
    255.0,
    256.0,
    1e6,
    2_147_483_647.0,
    -2_147_483_649.0,
    4_294_967_296.0,
    9_007_199_254_740_991.0,
    -9_007_199_254_740_991.0,
    1e21,
];

/// Realistic numbers.
const ORDINARY_NUMBERS: [f64; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 12.0, 30.0, 100.0, 1000.0, 0.5, 2.5, 19.99, -1.0];

/// Returns the strategy for numbers within the declared bounds.
pub(super) fn number_strategy(
    schema: &Value,
    seen: &[&Value],
    is_integer: bool,
    manner: InputStyle,
) -> BoxedStrategy<Value> {
    let bound = |key: &str| schema[key].as_f64();
    let step = if is_integer { 1.0 } else { 0.001 };
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound + step));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound - step));
    let fits = move |number: &f64| {
        least.is_none_or(|least| *number >= least)
            && most.is_none_or(|most| *number <= most)
            && (!is_integer || number.fract() == 0.0)
    };
    let middle = least.zip(most).map(|(least, most)| f64::midpoint(least, most).round());
    let near = [least, least.map(|it| it + 1.0), most, most.map(|it| it - 1.0), middle, least.map(|it| it + 0.5)];
    let known = if manner == InputStyle::Hostile { EDGE_CASES.as_slice() } else { ORDINARY_NUMBERS.as_slice() };
    let all = near.into_iter().flatten().chain(known.iter().copied());
    let mut borders: Vec<f64> = all.filter(|number| fits(number)).collect();
    borders.extend(seen.iter().filter_map(|value| value.as_f64()).filter(|number| fits(number)));
    let (low, high) = (least.unwrap_or(-1000.0).max(-1e15), most.unwrap_or(1000.0).min(1e15));
    let (low, high) = (low.min(high), high.max(low));
    let factor = schema["multipleOf"].as_f64();
    let rounded = move |number: f64| match factor {
        Some(factor) if factor > 0.0 => (number / factor).round() * factor,
        _ if is_integer => number.round(),
        _ => (number * 1000.0).round() / 1000.0,
    };
    let between = (0.0..=1.0_f64).prop_map(move |share| to_json_number(rounded(low + share * (high - low))));
    let whole = (0.0..=1.0_f64).prop_map(move |share| to_json_number((low + share * (high - low)).round()));
    let mut choices = vec![(2, whole.boxed()), (1, between.boxed())];
    if manner == InputStyle::Ordinary {
        // A small set of numbers, so that values are equal, adjacent or consecutive.
        let few: Vec<f64> = (0..=10).map(f64::from).filter(|few| fits(few)).collect();
        choices.extend((!few.is_empty()).then(|| (6, select(few).prop_map(to_json_number).boxed())));
    }
    if !borders.is_empty() && factor.is_none() {
        choices.insert(0, (3, select(borders).prop_map(to_json_number).boxed()));
    }
    weighted_union(choices)
}

/// Converts a number to JSON: integers without a decimal point.
fn to_json_number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and below 2^53")]
    if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_991.0 {
        return Value::from(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}
