//! The results of the analysis, in the formats of the contract.

pub(crate) mod capability_diff;
pub(crate) mod finding;
pub(crate) mod quality;
pub(crate) mod safety;
