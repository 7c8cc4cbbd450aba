//! The hooks that policy files define.
//!
//! Invariant: a command of a project's policy runs only if the user trusts exactly that file, and
//! only what was trusted runs. An untrusted hook denies every call that it applies to: skipping it
//! would fail open.

use std::collections::BTreeSet;
use std::fmt;

use toolcell_i18n::{Message, message};
use toolcell_policy::{self as policy, HookAction, HookTiming, Layer, Origin, Policy};

use crate::admission::hook::command::{CommandHook, TrustCheck};
use crate::admission::hook::{HookError, HookPhase, HookVerdict, Hooks, ToolHook};

/// Whether a command of a project's policy runs.
#[derive(Clone)]
pub enum HookTrust {
    /// The file is not trusted as it is: the hook denies.
    Untrusted,
    /// The command runs, even if its files change.
    Trusted,
    /// The command runs while this check succeeds. It is called before each start; its error
    /// becomes part of the denial.
    TrustedWhile(TrustCheck),
}

impl fmt::Debug for HookTrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Untrusted => "No",
            Self::Trusted => "Yes",
            Self::TrustedWhile(_) => "AsLongAs(..)",
        })
    }
}

impl Hooks {
    /// Adds the hooks of a policy. `trusts` decides about the hooks of a project's file.
    ///
    /// # Errors
    /// `gate-invalid`
    pub fn add_policy(
        &mut self,
        policy: &Policy,
        trusts: impl Fn(&policy::HookDefinition) -> HookTrust,
    ) -> Result<(), HookError> {
        for hook in policy.hooks() {
            let tools = hook.tools.iter().map(ToString::to_string);
            let trusted = match hook.layer {
                Layer::User => HookTrust::Trusted,
                Layer::Project => trusts(hook),
            };
            let trusted = match trusted {
                HookTrust::Trusted => None,
                HookTrust::TrustedWhile(still) => Some(still),
                HookTrust::Untrusted => {
                    let reason = untrusted_reason(hook);
                    self.before(hook.name.as_str(), move |_| HookVerdict::deny_with(reason.clone()))
                        .restrict_to(tools)?;
                    continue;
                }
            };
            let (name, timeout, tools) = (hook.name.clone(), hook.timeout, tools.collect());
            let when = phase(&hook.when);
            match &hook.action {
                HookAction::Command(command) => {
                    let policy::HookCommand { command, protocol, folder, env } = command.clone();
                    let command = CommandHook { name, command, protocol, when, timeout, tools, folder, env };
                    self.add_command_if_trusted(command, trusted)?;
                }
                // Only an approved tool decides, in whichever file it is named.
                HookAction::Tool(tool) => {
                    self.add_tool(ToolHook { name, tool: tool.clone(), when, timeout, tools })?;
                }
            }
        }
        Ok(())
    }
}

fn phase(when: &BTreeSet<HookTiming>) -> HookPhase {
    match (when.contains(&HookTiming::Before), when.contains(&HookTiming::After)) {
        (true, true) => HookPhase::BeforeAndAfter,
        (false, true) => HookPhase::After,
        (_, false) => HookPhase::Before,
    }
}

/// Returns the reason for denying calls of an untrusted hook.
fn untrusted_reason(hook: &policy::HookDefinition) -> Message {
    let file = if let Origin::File { path, .. } = &hook.origin { path.display().to_string() } else { String::new() };
    message!(
        "the hook `{hook}` ({origin}) does not run because its file is not trusted; an operator has to review it and \
         to trust it: toolcell config trust {file}",
        hook = hook.name,
        origin = hook.origin,
        file
    )
}
