//! How likely it is that a tool is worth making.
//!
//! A logistic model over ten numbers. It was fitted to the tuning half of the labelled set, and to about 900 tasks from
//! other fields that were written for it, with a pull of all weights to zero, and rounded; the checking half has no part
//! in it.

use crate::features::COUNT;

/// What each of the [features](crate::features) weighs, in their order.
const WEIGHTS: [f64; COUNT] = [3.6, 0.5, 0.4, 3.2, 2.3, 1.5, 1.9, -2.2, -1.2, -1.1];

/// The score, before the logistic, of a task that says nothing.
const BIAS: f64 = -1.9;

/// From which score on a tool is recommended.
pub(crate) const THRESHOLD: f64 = 0.48;

/// How likely it is where operations or failures prove it.
pub(crate) const PROVEN: f64 = 0.99;

/// The probability, 0 to 1.
pub(crate) fn probability(values: &[f64; COUNT]) -> f64 {
    let sum: f64 = values.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum();
    1.0 / (1.0 + (-(sum + BIAS)).exp())
}
