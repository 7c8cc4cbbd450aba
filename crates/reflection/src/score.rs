//! The probability that a tool is worth making.
//!
//! A logistic model over fourteen features, fitted to all families of the tuning half with ridge
//! regularisation (strength 2), and rounded. Families of later authors have double weight.
//! Calibration and threshold were chosen on families that the weights had not seen
//! (leave-one-family-out, though the lexicon knows them all) and on the counts of a third set. The
//! checking half was not used.

use crate::features::Features;

/// The weights of the [features](Features), in log-odds for a feature of 1.
struct Weights {
    request: f64,
    statement: f64,
    nominal: f64,
    framed: f64,
    clearly_framed: f64,
    data: f64,
    plural: f64,
    repetition: f64,
    repetition_words: f64,
    other_work: f64,
    local_edits: f64,
    negated_work: f64,
    ends_with_other_work: f64,
    inquiry: f64,
}

const WEIGHTS: Weights = Weights {
    request: 3.5,
    statement: 0.3,
    nominal: 0.1,
    framed: 2.0,
    clearly_framed: 1.6,
    data: 2.0,
    plural: 1.7,
    repetition: 1.8,
    repetition_words: 1.1,
    other_work: -1.0,
    local_edits: -1.4,
    negated_work: -1.1,
    ends_with_other_work: -1.8,
    inquiry: -0.7,
};

/// The logit of a task without any features.
const BIAS: f64 = -2.0;

/// The score from which a tool is recommended. It is above one half because precision matters more
/// than recall.
pub(crate) const THRESHOLD: f64 = 0.65;

/// The score if operations or failures are proof enough.
pub(crate) const PROVEN_SCORE: f64 = 0.99;

/// The probability, 0 to 1. The terms are added in the order of the fields, so that a score is the
/// same to the bit on every machine.
pub(crate) fn probability(features: &Features) -> f64 {
    let sum = features.request * WEIGHTS.request
        + features.statement * WEIGHTS.statement
        + features.nominal * WEIGHTS.nominal
        + features.framed * WEIGHTS.framed
        + features.clearly_framed * WEIGHTS.clearly_framed
        + features.data * WEIGHTS.data
        + features.plural * WEIGHTS.plural
        + features.repetition * WEIGHTS.repetition
        + features.repetition_words * WEIGHTS.repetition_words
        + features.other_work * WEIGHTS.other_work
        + features.local_edits * WEIGHTS.local_edits
        + features.negated_work * WEIGHTS.negated_work
        + features.ends_with_other_work * WEIGHTS.ends_with_other_work
        + features.inquiry * WEIGHTS.inquiry;
    1.0 / (1.0 + (-(sum + BIAS)).exp())
}
