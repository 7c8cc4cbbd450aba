//! `decide`: decides about a call of a tool that Toolcell does not run, as the hook of another host.
//!
//! Invariant: whatever goes wrong is a denial, printed as the host expects it, with exit status 0:
//! hosts let a call pass whose hook exits with most other statuses, or is late. Only a decision that
//! cannot be printed exits with status 2, which denies.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use toolcell::hook::{ExternalCall, ExternalDecision, decision_json, parse_call};
use toolcell::policy::{HookProtocol, OnAuditFailure};
use toolcell::{DecideOptions, Message, SandboxConfig, Toolbox, ToolboxConfig};
use toolcell_error::ErrorCode;
use toolcell_i18n::{message, msgid};

use crate::args::DecideArgs;
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::streams::OutputFormat;
use crate::toolbox;

/// The action in the audit log.
const ACTION: &str = "decide";
/// The maximum size of a call in bytes.
const MAX_CALL_BYTES: u64 = 4 << 20;
/// The time beyond the limit of the hooks after which the decision is a denial.
const GRACE: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &DecideArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    if context.streams.input_is_terminal {
        return Err(CliError::usage(
            message!("the call is read from standard input, which is a terminal"),
            msgid!("pipe the JSON of the call: echo '{\"toolName\": \"bash\", \"toolArgs\": {}}' | toolcell decide"),
        ));
    }
    let protocol = args.protocol();
    let decision = decide(args, protocol, context).unwrap_or_else(|error| {
        // The reason is for the model; the whole error is for the log of the host.
        let reason = error.message();
        error.print(OutputFormat::Text, context.lang, &mut context.streams);
        ExternalDecision::failed(&reason)
    });
    let text = decision_json(protocol, &decision, context.lang).to_string();
    let printed = writeln!(context.streams.output, "{text}").and_then(|()| context.streams.output.flush());
    if printed.is_err() {
        return Ok(Exit::Usage);
    }
    Ok(Exit::Done)
}

/// Reads the call and decides about it on a thread, so that neither a panic nor a wait without end
/// keeps the denial from the host. A failure is in the audit log as well, where there is a store, also if the policy is invalid.
fn decide(args: &DecideArgs, protocol: HookProtocol, context: &mut Context<'_>) -> Result<ExternalDecision, CliError> {
    let (sandbox, timeout, caller) = (args.sandbox.config()?, args.timeout(), args.caller.clone());
    let toolbox = match open(sandbox, context) {
        Ok(toolbox) => Arc::new(toolbox),
        Err(error) => {
            record_unopened(&error, protocol, context);
            return Err(error);
        }
    };
    let record = |tool: Option<&str>, code: ErrorCode, reason: &Message| {
        // The call is denied either way.
        let _ = toolbox.record_rejected(Some(ACTION), tool, code, reason.to_string());
    };
    let call = read_call(protocol, context).inspect_err(|error| record(None, error.code(), &error.message()))?;
    let (sender, decided) = channel();
    let (name, decider) = (call.tool_name.clone(), Arc::clone(&toolbox));
    let work = move || {
        let options = DecideOptions { caller: &caller, approver: None, timeout };
        // After the timeout the receiver is gone.
        let _ = sender.send(decider.decide(&call, &options));
    };
    thread::Builder::new().name("toolcell-decide".to_owned()).spawn(work)?;
    Ok(decided.recv_timeout(timeout.saturating_add(GRACE)).unwrap_or_else(|error| {
        let (code, reason) = match error {
            RecvTimeoutError::Timeout => {
                (ErrorCode::GateTimeout, message!("there was no decision within {ms} ms", ms = timeout.as_millis()))
            }
            RecvTimeoutError::Disconnected => {
                (ErrorCode::Bug, message!("the decision failed, which is a bug in Toolcell"))
            }
        };
        record(Some(&name), code, &reason);
        ExternalDecision::failed(&reason)
    }))
}

/// Records a denial because the policy cannot be read, in the store that is there. The built-in policy says how.
fn record_unopened(error: &CliError, protocol: HookProtocol, context: &mut Context<'_>) {
    let Some(dir) = context.optional_store_dir() else { return };
    // Without a store, or with one that cannot be opened, there is no log.
    let Ok(toolbox) = Toolbox::open_existing(dir, ToolboxConfig::default()) else { return };
    let call = read_call(protocol, context).ok();
    let _ = toolbox.record_rejected(
        Some(ACTION),
        call.as_ref().map(|call| call.tool_name.as_str()),
        error.code(),
        error.message().to_string(),
    );
}

fn read_call(protocol: HookProtocol, context: &mut Context<'_>) -> Result<ExternalCall, CliError> {
    let bytes = input::read_up_to(&mut context.streams.input, MAX_CALL_BYTES + 1)?;
    if bytes.len() as u64 > MAX_CALL_BYTES {
        return Err(CliError::coded(
            ErrorCode::RequestInvalid,
            message!("the call is longer than {limit} bytes", limit = MAX_CALL_BYTES),
            msgid!("a person has to decide about a call of this size"),
        ));
    }
    let text = input::decode_utf8(bytes, "-")?;
    Ok(parse_call(protocol, &text)?)
}

/// Opens the toolbox; without a store where the policy permits decisions that are not recorded.
fn open(sandbox: SandboxConfig, context: &Context<'_>) -> Result<Toolbox, CliError> {
    let rules = context.policy()?;
    match context.open_toolbox(sandbox.clone()) {
        Err(error) if rules.policy().on_audit_failure() == OnAuditFailure::Run => {
            toolcell::store::emit_notice(&toolcell::store::Notice::Unrecorded { why: &error.message() });
            Ok(Toolbox::without_store(toolbox::build_config(sandbox, rules)?)?)
        }
        opened => opened,
    }
}
