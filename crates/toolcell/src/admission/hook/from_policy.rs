//! The hooks that policy files define.
//!
//! Invariant: a command of a project's policy runs only if the user trusts exactly that file, and
//! only what was trusted runs. An untrusted hook denies every call that it applies to: skipping it
//! would fail open.

use std::fmt;

use toolcell_i18n::{Message, message};
use toolcell_policy::{self as policy, Layer, Origin, Policy};

use crate::admission::hook::command::{CommandHook, CommandTiming, TrustCheck};
use crate::admission::hook::{HookError, HookVerdict, Hooks};

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
    /// Adds the commands of a policy. `trusts` decides about the commands of a project's file.
    ///
    /// # Errors
    /// `gate-invalid`
    pub fn add_policy(
        &mut self,
        policy: &Policy,
        trusts: impl Fn(&policy::HookCommand) -> HookTrust,
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
            let (before, after) =
                (hook.when.contains(&policy::HookTiming::Before), hook.when.contains(&policy::HookTiming::After));
            let when = match (before, after) {
                (true, true) => CommandTiming::BeforeAndAfter,
                (false, true) => CommandTiming::After,
                (_, false) => CommandTiming::Before,
            };
            let command = CommandHook {
                name: hook.name.clone(),
                command: hook.command.clone(),
                when,
                timeout: hook.timeout,
                tools: tools.collect(),
                folder: hook.folder.clone(),
                env: hook.env.clone(),
            };
            self.add_command_if_trusted(command, trusted)?;
        }
        Ok(())
    }
}

/// Returns the reason for denying calls of an untrusted hook.
fn untrusted_reason(hook: &policy::HookCommand) -> Message {
    let file = if let Origin::File { path, .. } = &hook.origin { path.display().to_string() } else { String::new() };
    message!(
        "the hook `{hook}` ({origin}) does not run because its file is not trusted; an operator has to review it and \
         to trust it: toolcell config trust {file}",
        hook = hook.name,
        origin = hook.origin,
        file
    )
}
