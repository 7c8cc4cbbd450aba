//! The probability that a tool is worth making.
//!
//! A logistic model over fourteen features, fitted to all families of the tuning half with ridge
//! regularisation (strength 2), and rounded. Families of later authors have double weight.
//! Calibration and threshold were chosen on families that the weights had not seen
//! (leave-one-family-out, though the lexicon knows them all) and on the counts of a third set. The
//! checking half was not used.

use crate::features::FEATURE_COUNT;

/// The weights of the [features](crate::features), in their order.
const WEIGHTS: [f64; FEATURE_COUNT] = [3.5, 0.3, 0.1, 2.0, 1.6, 2.0, 1.7, 1.8, 1.1, -1.0, -1.4, -1.1, -1.8, -0.7];

/// The logit of a task without any features.
const BIAS: f64 = -2.0;

/// The score from which a tool is recommended. It is above one half because precision matters more
/// than recall.
pub(crate) const THRESHOLD: f64 = 0.65;

/// The score if operations or failures are proof enough.
pub(crate) const PROVEN_SCORE: f64 = 0.99;

/// The probability, 0 to 1.
pub(crate) fn probability(values: &[f64; FEATURE_COUNT]) -> f64 {
    let sum: f64 = values.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum();
    1.0 / (1.0 + (-(sum + BIAS)).exp())
}
