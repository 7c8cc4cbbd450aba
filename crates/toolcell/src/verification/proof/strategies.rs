//! What the strategies for numbers, texts and whole parameters share.
//!
//! Invariant: a weighted choice has at least one strategy.

use proptest::prelude::*;
use proptest::strategy::Union;

/// A strategy with its weight.
pub(super) type WeightedStrategy<T> = (u32, BoxedStrategy<T>);

/// The style of generated inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputStyle {
    /// Boundary values as well as ordinary ones, to break the tool.
    Hostile,
    /// Realistic values, to show what the tool does.
    Ordinary,
}

/// The name and the description of a value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hint<'h> {
    pub(super) name: &'h str,
    pub(super) description: &'h str,
    /// The description of the whole schema.
    pub(super) topic: &'h str,
    /// Selects the type of undeclared fields; 0 for any.
    pub(super) variant: u32,
}

/// Returns a weighted choice of strategies, of which there must be at least one.
pub(super) fn weighted_union<T: std::fmt::Debug + 'static>(choices: Vec<WeightedStrategy<T>>) -> BoxedStrategy<T> {
    Union::new_weighted(choices).boxed()
}
