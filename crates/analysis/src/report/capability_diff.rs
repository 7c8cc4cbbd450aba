//! The difference between the capabilities that a source uses and those that it declares.

use serde::Serialize;
use toolcell_tool::{Capabilities, Capability};

/// The difference between the capabilities that a source uses and those that it declares.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityDiff {
    /// Capabilities that are used but not declared.
    pub missing: Vec<Capability>,
    /// Capabilities that are declared but not used.
    pub unused: Vec<Capability>,
    /// Capabilities that are declared with more names than the source uses.
    pub too_wide: Vec<Capability>,
}

impl CapabilityDiff {
    /// Compares the capabilities that a source uses with those that it declares.
    pub(crate) fn between(used: &Capabilities, declared: &Capabilities) -> Self {
        Self {
            missing: used.missing_from(declared),
            unused: used.unused_in(declared),
            too_wide: used.over_broad(declared),
        }
    }
}
