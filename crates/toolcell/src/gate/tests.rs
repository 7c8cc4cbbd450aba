mod answers;
mod commands;
mod functions;
mod order;
mod people;
mod reviews;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;

/// So long that no test waits for it.
const LONG: Duration = Duration::from_mins(1);
/// So short that a test can wait for it.
const SHORT: Duration = Duration::from_millis(80);

fn call() -> GateCall {
    with_args(json!({"n": 1}))
}

fn with_args(args: Value) -> GateCall {
    GateCall::new("send-mail", None, args, jiff::Timestamp::UNIX_EPOCH, "/srv/agent")
}

fn command(when: When, script: &str) -> GateCommand {
    GateCommand {
        name: "x".to_owned(),
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        when,
        timeout: LONG,
        tools: Vec::new(),
        folder: PathBuf::from("/"),
        env: Vec::new(),
    }
}

fn gates(command: GateCommand) -> Gates {
    let mut gates = Gates::default();
    gates.command(command).unwrap();
    gates
}

/// `allow`, or `deny: ` and the reason.
fn told(admission: &Admission) -> String {
    match admission.decision.reason() {
        Some(reason) => format!("{}: {reason}", admission.decision.name()),
        None => admission.decision.name().to_owned(),
    }
}
