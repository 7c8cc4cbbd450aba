mod answers;
mod approvers;
mod commands;
mod functions;
mod order;
mod protocols;
mod reviews;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use toolcell_policy::HookProtocol;

use super::*;

/// A timeout that no test reaches.
const LONG: Duration = Duration::from_mins(1);
/// A timeout that a test can wait for.
const SHORT: Duration = Duration::from_millis(80);

fn event() -> HookEvent {
    event_with_args(json!({"n": 1}))
}

fn event_with_args(args: Value) -> HookEvent {
    HookEvent::new("send-mail", None, args, jiff::Timestamp::UNIX_EPOCH, "/srv/agent")
}

fn command(when: HookPhase, script: &str) -> CommandHook {
    CommandHook {
        name: "x".to_owned(),
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        protocol: HookProtocol::Toolcell,
        when,
        timeout: LONG,
        tools: Vec::new(),
        folder: PathBuf::from("/"),
        env: Vec::new(),
    }
}

fn hooks(command: CommandHook) -> Hooks {
    let mut hooks = Hooks::default();
    hooks.add_command(command).unwrap();
    hooks
}

/// Formats a decision: `allow`, or `deny: ` and the reason.
fn decision_text(admission: &Admission) -> String {
    match admission.decision.reason() {
        Some(reason) => format!("{}: {reason}", admission.decision.name()),
        None => admission.decision.name().to_owned(),
    }
}
