//! Hooks that are functions of another language.

use std::time::Duration;

use super::DEFAULT_TIMEOUT;
use super::phase::HookPhase;

/// The definition of a hook that reads and writes JSON.
#[derive(Debug, Clone)]
pub struct JsonHook {
    /// The name of the hook in messages and records.
    pub name: String,
    /// When the function is called.
    pub when: HookPhase,
    /// The timeout.
    pub timeout: Duration,
    /// The tools that the hook applies to: names, or `prefix*`. Empty for every tool.
    pub tools: Vec<String>,
}

impl Default for JsonHook {
    /// A hook without a name, before the calls of every tool, with the default timeout.
    fn default() -> Self {
        Self { name: String::new(), when: HookPhase::Before, timeout: DEFAULT_TIMEOUT, tools: Vec::new() }
    }
}
