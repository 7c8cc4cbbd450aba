//! How likely it is that a tool is worth making.
//!
//! A logistic model over fourteen numbers, fitted to all families of the tuning half, families of later authors weighing
//! double, with a strong pull of all weights to zero (ridge 2), and rounded. Calibration and threshold were chosen on
//! families that the weights had not seen (each family left out once, though the lexicon knows them all) and on the
//! counts of a third set; the checking half has no part in it.

use crate::features::COUNT;

/// What each of the [features](crate::features) weighs, in their order.
const WEIGHTS: [f64; COUNT] = [3.5, 0.3, 0.1, 2.0, 1.6, 2.0, 1.7, 1.8, 1.1, -1.0, -1.4, -1.1, -1.8, -0.7];

/// The score, before the logistic, of a task that says nothing.
const BIAS: f64 = -2.0;

/// From which score on a tool is recommended: above a half, because precision comes first.
pub(crate) const THRESHOLD: f64 = 0.65;

/// How likely it is where operations or failures prove it.
pub(crate) const PROVEN: f64 = 0.99;

/// The probability, 0 to 1.
pub(crate) fn probability(values: &[f64; COUNT]) -> f64 {
    let sum: f64 = values.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum();
    1.0 / (1.0 + (-(sum + BIAS)).exp())
}
