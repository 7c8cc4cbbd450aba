//! When a hook runs.

/// When a hook that is a command or a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookPhase {
    /// Before a run.
    Before,
    /// After a run.
    After,
    /// Before and after a run; `hookEventName` tells which.
    BeforeAndAfter,
}

impl HookPhase {
    pub(super) const fn is_before(self) -> bool {
        matches!(self, Self::Before | Self::BeforeAndAfter)
    }

    pub(super) const fn is_after(self) -> bool {
        matches!(self, Self::After | Self::BeforeAndAfter)
    }
}
