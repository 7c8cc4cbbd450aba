//! Pre-run and post-run hooks: host functions, commands and stored tools that decide whether a call runs and what
//! its caller sees.
//!
//! Invariant: hooks fail closed. A hook without a valid answer denies the call before a run, and
//! withholds the result after one. No hook can crash the host or block it for longer than the
//! hook's timeout.
//!
//! To suppress an output means that the model does not get to read it. It does not mean keeping it
//! out of logs: the record always contains it.

mod command;
mod error;
mod event;
mod external;
mod from_policy;
mod json;
mod json_hook;
mod matcher;
mod merge;
mod phase;
mod post_run;
mod program;
mod question;
mod runtime;
mod tool;
mod verdict;
mod worker;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolcell_i18n::Message;
use toolcell_policy::variable_refusal;

pub use command::{CommandHook, TrustCheck};
pub use error::{FailureCause, HookFailure};
pub use event::{
    ApprovalAnswer, ApprovalDuration, ApprovalPrompt, Approver, AwaitedAnswer, CallerClaims, HookEvent, PromptHandle,
    ToolApproval,
};
pub use external::{EventProblem, ExternalCall, ExternalDecision};
pub use from_policy::HookTrust;
pub use json::{decision_json, parse_call};
pub use json_hook::JsonHook;
pub use merge::{Admission, HookContext, HookReview, HookStep, Modification, ReviewStep};
pub use phase::HookPhase;
pub use post_run::{EndKind, PostRunEvent};
pub use program::{ProgramFiles, open_regular_file};
pub use question::{FlowAnswer, FlowQuestion, HeldBody, QuestionAnswer, QuestionOutcome, ServerQuestion};
pub use tool::ToolHook;
pub use verdict::{HookDecision, HookVerdict, IntoHookResult, ResultChange, Revision};

use command::HookProgram;
use error::HookFault;
use event::DeferringApprover;
use matcher::ToolMatcher;
use runtime::HookRuntime;
use tool::NoHookTools;
use worker::{InvocationContext, LeakedThreads};

pub(crate) use program::{resolve_program, search_path};
pub(crate) use tool::HookTools;

/// The timeout of a hook for which none was set.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// An invalid hook definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, toolcell_i18n::Localize, toolcell_error::Coded)]
#[non_exhaustive]
#[code(GateInvalid)]
pub enum HookError {
    /// The command has no program.
    #[error("the command of the hook `{0}` is empty")]
    #[hint("list the program and its arguments, each as a separate string")]
    EmptyCommand(String),
    /// The timeout is zero.
    #[error("the hook `{0}` has a timeout of 0 ms")]
    #[hint("set a timeout of at least 1 ms, or leave it out for the default of 5000 ms")]
    ZeroTimeout(String),
    /// A tool pattern is malformed.
    #[error("`{0}` is not a tool name pattern: use a name, or a prefix followed by `*`")]
    #[hint("write `send-mail` or `send-*`; leave out the patterns to match every tool")]
    Pattern(String),
    /// The hook names an environment variable that it must not get.
    #[error("the hook `{hook}` cannot have the environment variable `{name}`: {reason}")]
    #[hint("remove the variable from `env`")]
    Variable {
        /// The name of the hook.
        hook: String,
        /// The name of the variable.
        name: String,
        /// Why the variable is refused.
        reason: Message,
    },
}

type PreHookFn = dyn Fn(&InvocationContext<'_>, &HookEvent) -> Result<HookVerdict, HookFault> + Send + Sync;
type PostHookFn =
    dyn Fn(&InvocationContext<'_>, &HookEvent, &PostRunEvent) -> Result<Revision, HookFault> + Send + Sync;

#[derive(Clone)]
enum HookHandler {
    Before(Arc<PreHookFn>),
    After(Arc<PostHookFn>),
}

/// A hook.
#[derive(Clone)]
pub struct Hook {
    name: Arc<str>,
    timeout: Duration,
    matcher: ToolMatcher,
    leaked: LeakedThreads,
    handler: HookHandler,
    /// The program to start, if the hook is a command.
    program: Option<Arc<HookProgram>>,
}

impl Hook {
    /// Replaces the timeout, which is [`DEFAULT_TIMEOUT`] by default. The time that a person takes
    /// to answer a prompt does not count.
    pub const fn set_timeout(&mut self, timeout: Duration) -> &mut Self {
        self.timeout = timeout;
        self
    }

    /// Restricts the hook to tools that match one of the patterns: a name, or `prefix*`. Without
    /// patterns it applies to every tool. Matching ignores case and treats `-` and `_` as equal.
    ///
    /// # Errors
    /// `gate-invalid`
    pub fn restrict_to<T: AsRef<str>>(&mut self, tools: impl IntoIterator<Item = T>) -> Result<&mut Self, HookError> {
        self.matcher = ToolMatcher::parse(tools)?;
        Ok(self)
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if matches!(self.handler, HookHandler::Before(_)) { HookPhase::Before } else { HookPhase::After };
        f.debug_struct("Hook").field("name", &self.name).field("when", &when).finish_non_exhaustive()
    }
}

/// What the hooks of a call may use.
pub(crate) struct HookEnvironment<'a> {
    /// Who answers the prompts of hooks.
    pub(crate) approver: Option<&'a dyn Approver>,
    /// Runs the hooks that are stored tools.
    pub(crate) tools: &'a dyn HookTools,
    /// When all hooks must have answered, whatever their timeouts.
    pub(crate) deadline: Option<Instant>,
}

/// The hooks of a host, in order. Cloning is cheap.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell::hook::{HookEvent, Hooks, HookVerdict};
///
/// let mut hooks = Hooks::default();
/// hooks.before("house-rules", |call: &HookEvent| match call.args.get("to") {
///     Some(to) if to == "everybody" => HookVerdict::deny("mail to everybody is not sent from here"),
///     _ => HookVerdict::no_objection(),
/// });
///
/// let call = HookEvent::new("send-mail", None, json!({"to": "everybody"}), jiff::Timestamp::UNIX_EPOCH, "/srv");
/// let admission = hooks.admit(call, None);
/// assert_eq!(admission.decision, HookVerdict::deny("mail to everybody is not sent from here").decision);
/// assert_eq!(admission.decided_by.as_deref(), Some("house-rules"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Hooks(Arc<Vec<Hook>>);

impl Hooks {
    /// Adds a function as a pre-run hook. It runs on a thread of its own.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use toolcell::hook::{HookEvent, Hooks, HookVerdict};
    ///
    /// let mut hooks = Hooks::default();
    /// let hook = hooks.before("at-most-100", |call: &HookEvent| match call.args["count"].as_u64() {
    ///     Some(count) if count <= 100 => Ok(HookVerdict::allow()),
    ///     Some(_) => Ok(HookVerdict::ask("more than 100 at once")),
    ///     None => Err("there is no count"),
    /// });
    /// hook.set_timeout(Duration::from_millis(50)).restrict_to(["batch-*"])?;
    /// # Ok::<(), toolcell::hook::HookError>(())
    /// ```
    pub fn before<R>(
        &mut self,
        name: impl Into<Arc<str>>,
        hook: impl Fn(&HookEvent) -> R + Send + Sync + 'static,
    ) -> &mut Hook
    where
        R: IntoHookResult<HookVerdict>,
    {
        let hook = Arc::new(hook);
        self.add_pre(name, move |terms, call| {
            let hook = Arc::clone(&hook);
            Ok(worker::run_on_thread(terms, call, move |call| hook(&call).into_hook_result())?)
        })
    }

    /// Adds an asynchronous function as a pre-run hook. It is polled on a thread of its own: in the
    /// caller's runtime if that has other workers than the caller's thread, otherwise in a runtime
    /// that the hook owns. A future that exceeds the timeout is dropped.
    ///
    /// # Examples
    /// ```
    /// use toolcell::hook::{HookEvent, Hooks, HookVerdict};
    ///
    /// let mut hooks = Hooks::default();
    /// hooks.before_async("directory", |call: HookEvent| async move {
    ///     if call.cwd.starts_with("/srv/") { HookVerdict::allow() } else { HookVerdict::ask("it is called from elsewhere") }
    /// });
    /// ```
    pub fn before_async<F>(
        &mut self,
        name: impl Into<Arc<str>>,
        hook: impl Fn(HookEvent) -> F + Send + Sync + 'static,
    ) -> &mut Hook
    where
        F: Future<Output: IntoHookResult<HookVerdict>>,
    {
        let (hook, own) = (Arc::new(hook), HookRuntime::default());
        self.add_pre(name, move |terms, call| {
            let hook = Arc::clone(&hook);
            Ok(runtime::run_async(&own, terms, call, move |call| async move { hook(call).await.into_hook_result() })?)
        })
    }

    /// Adds a function as a post-run hook, which sees every outcome. It runs on a thread of its
    /// own.
    ///
    /// # Examples
    /// ```
    /// use toolcell::hook::{EndKind, HookEvent, PostRunEvent, Hooks, Revision};
    ///
    /// let mut hooks = Hooks::default();
    /// hooks.after("no-mail-addresses", |_: &HookEvent, end: &PostRunEvent| match &end.result {
    ///     Some(result) if result.as_str().contains('@') => Revision::fail("the result has a mail address in it"),
    ///     _ => Revision::unchanged(),
    /// });
    /// ```
    pub fn after<R>(
        &mut self,
        name: impl Into<Arc<str>>,
        hook: impl Fn(&HookEvent, &PostRunEvent) -> R + Send + Sync + 'static,
    ) -> &mut Hook
    where
        R: IntoHookResult<Revision>,
    {
        let hook = Arc::new(hook);
        self.add_post(name, move |terms, call, end| {
            let (hook, end) = (Arc::clone(&hook), end.clone());
            Ok(worker::run_on_thread(terms, call, move |call| hook(&call, &end).into_hook_result())?)
        })
    }

    /// Adds an asynchronous function as a post-run hook. It is polled as in
    /// [`before_async`](Self::before_async).
    pub fn after_async<F>(
        &mut self,
        name: impl Into<Arc<str>>,
        hook: impl Fn(HookEvent, PostRunEvent) -> F + Send + Sync + 'static,
    ) -> &mut Hook
    where
        F: Future<Output: IntoHookResult<Revision>>,
    {
        let (hook, own) = (Arc::new(hook), HookRuntime::default());
        self.add_post(name, move |terms, call, end| {
            let (hook, end) = (Arc::clone(&hook), end.clone());
            Ok(runtime::run_async(
                &own,
                terms,
                call,
                move |call| async move { hook(call, end).await.into_hook_result() },
            )?)
        })
    }

    /// Adds a command as a hook.
    ///
    /// In the [protocol](toolcell_policy::HookProtocol) of Toolcell the command reads one JSON object,
    /// `{"hookEventName", "toolName", "toolId"?, "toolArgs", "timestamp", "cwd", "external"?,
    /// "sessionId"?, "agentId"?, "toolCallId"?}`, with the time in milliseconds since 1970. After a
    /// run the object also has `"toolResult": {"resultType", "textResultForLlm", "result"?,
    /// "error"?, "code"?, "durationMs"}`. Before a run (`preToolUse`) the command prints an object
    /// with any of `permissionDecision` (`allow`, `deny`, `ask`), `permissionDecisionReason`,
    /// `modifiedArgs`, `additionalContext`, `suppressOutput`; after it (`postToolUse`) with any of
    /// `modifiedResult` or `error`, `additionalContext`, `suppressOutput`. `{}` and `null` mean no
    /// objection. Processes that the command leaves in its process group are killed when it ends.
    ///
    /// The environment of the command consists of `PATH`, `HOME`, `LANG`, `LANGUAGE`, `LC_*`, `TZ`,
    /// `TMPDIR`, the variables that the command names, and the folder of the call in
    /// `COPILOT_PROJECT_DIR` or `CLAUDE_PROJECT_DIR` in the protocols of these hosts. It never
    /// contains a secret of a tool.
    ///
    /// # Errors
    /// `gate-invalid`
    pub fn add_command(&mut self, command: CommandHook) -> Result<(), HookError> {
        self.add_command_if_trusted(command, None)
    }

    /// Adds a command that is started only while `trusted` returns `Ok`.
    fn add_command_if_trusted(&mut self, command: CommandHook, trusted: Option<TrustCheck>) -> Result<(), HookError> {
        let CommandHook { name, command, protocol, when, timeout, tools, folder, env } = command;
        if let Some((variable, why)) = env.iter().find_map(|name| Some((name, variable_refusal(name)?))) {
            return Err(HookError::Variable { hook: name, name: variable.clone(), reason: why.into() });
        }
        let program = HookProgram::new(command, protocol, folder, env, trusted);
        let program = Arc::new(program.ok_or_else(|| HookError::EmptyCommand(name.clone()))?);
        let (protocol, hook) = (program.protocol(), name.clone());
        let (before, after) = (Arc::clone(&program), Arc::clone(&program));
        let added = self.add_both(
            name,
            (when, timeout, tools),
            move |terms, call| {
                let answer = before.run(terms, &call.cwd, json::write_event(protocol, call, None)?)?;
                Ok(json::parse_verdict(protocol, &hook, answer)?)
            },
            move |terms, call, end| {
                let answer = after.run(terms, &call.cwd, json::write_event(protocol, call, Some(end))?)?;
                Ok(json::parse_revision(protocol, answer)?)
            },
        )?;
        for hook in added {
            hook.program = Some(Arc::clone(&program));
        }
        Ok(())
    }

    /// Adds a stored tool as a hook. It gets the object that a command reads as its parameters, and
    /// returns what a command prints. It runs without grants, so its answer depends on the event
    /// alone; its limits are those of the policy and the timeout of the hook. Only a
    /// [`Toolbox`](crate::Toolbox) runs such a hook, and only if a person approved the tool.
    ///
    /// # Errors
    /// `gate-invalid`
    pub fn add_tool(&mut self, hook: ToolHook) -> Result<(), HookError> {
        let ToolHook { name, tool, when, timeout, tools } = hook;
        let (before, after) = (Arc::<str>::from(tool.as_str()), tool);
        let hook = name.clone();
        self.add_both(
            name,
            (when, timeout, tools),
            move |terms, call| {
                let result = terms.tools.run(&before, json::tool_event(call, None)?, terms.timeout)?;
                Ok(json::tool_verdict(&hook, result.as_ref())?)
            },
            move |terms, call, end| {
                let result = terms.tools.run(&after, json::tool_event(call, Some(end))?, terms.timeout)?;
                Ok(json::tool_revision(result.as_ref())?)
            },
        )?;
        Ok(())
    }

    /// Adds a function that reads and writes the JSON of a command in the protocol of Toolcell, such
    /// as a function in another language. It runs on a thread of its own.
    ///
    /// # Errors
    /// `gate-invalid`
    ///
    /// # Examples
    /// ```
    /// use serde_json::json;
    /// use toolcell::hook::{HookEvent, HookPhase, Hooks, JsonHook};
    ///
    /// let mut hooks = Hooks::default();
    /// let hook = JsonHook { name: "no-shell".to_owned(), when: HookPhase::Before, ..JsonHook::default() };
    /// hooks.add_json(hook, |event: &str| match event.contains(r#""toolName":"shell""#) {
    ///     true => Ok(r#"{"permissionDecision": "deny", "permissionDecisionReason": "no shell"}"#.to_owned()),
    ///     false => Ok("null".to_owned()),
    /// })?;
    /// let call = HookEvent::new("shell", None, json!({}), jiff::Timestamp::UNIX_EPOCH, "/srv");
    /// assert_eq!(hooks.admit(call, None).decided_by.as_deref(), Some("no-shell"));
    /// # Ok::<(), toolcell::hook::HookError>(())
    /// ```
    pub fn add_json(
        &mut self,
        hook: JsonHook,
        answer: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static,
    ) -> Result<(), HookError> {
        let JsonHook { name, when, timeout, tools } = hook;
        let before = Arc::new(answer);
        let (after, hook) = (Arc::clone(&before), name.clone());
        self.add_both(
            name,
            (when, timeout, tools),
            move |terms, call| {
                let (answer, event) = (Arc::clone(&before), json::tool_event(call, None)?.to_string());
                let text = worker::run_on_thread(terms, call, move |_| answer(&event))?;
                Ok(json::json_verdict(&hook, &text)?)
            },
            move |terms, call, end| {
                let (answer, event) = (Arc::clone(&after), json::tool_event(call, Some(end))?.to_string());
                let text = worker::run_on_thread(terms, call, move |_| answer(&event))?;
                Ok(json::json_revision(&text)?)
            },
        )?;
        Ok(())
    }

    /// Adds a hook for the phases that it is for, and returns what was added.
    fn add_both(
        &mut self,
        name: String,
        (when, timeout, tools): (HookPhase, Duration, Vec<String>),
        before: impl Fn(&InvocationContext<'_>, &HookEvent) -> Result<HookVerdict, HookFault> + Send + Sync + 'static,
        after: impl Fn(&InvocationContext<'_>, &HookEvent, &PostRunEvent) -> Result<Revision, HookFault>
        + Send
        + Sync
        + 'static,
    ) -> Result<&mut [Hook], HookError> {
        if timeout.is_zero() {
            return Err(HookError::ZeroTimeout(name));
        }
        let (tools, name, first) = (ToolMatcher::parse(tools)?, Arc::<str>::from(name), self.0.len());
        if when.is_before() {
            self.add_pre(Arc::clone(&name), before).set_timeout(timeout).matcher = tools.clone();
        }
        if when.is_after() {
            self.add_post(name, after).set_timeout(timeout).matcher = tools;
        }
        Ok(&mut Arc::make_mut(&mut self.0)[first..])
    }

    /// Returns the files of all commands, each with the name of the hook and the folder of the
    /// command.
    pub(crate) fn programs(&self) -> impl Iterator<Item = (&str, ProgramFiles, &Path)> {
        self.0.iter().filter_map(|hook| {
            let (files, folder) = hook.program.as_ref()?.files();
            Some((&*hook.name, files, folder))
        })
    }

    /// Whether there is no pre-run hook.
    pub(crate) fn has_no_pre_hooks(&self) -> bool {
        !self.0.iter().any(|hook| matches!(hook.handler, HookHandler::Before(_)))
    }

    /// Whether there is no post-run hook.
    pub(crate) fn has_no_post_hooks(&self) -> bool {
        !self.0.iter().any(|hook| matches!(hook.handler, HookHandler::After(_)))
    }

    fn add_pre(
        &mut self,
        name: impl Into<Arc<str>>,
        ask: impl Fn(&InvocationContext<'_>, &HookEvent) -> Result<HookVerdict, HookFault> + Send + Sync + 'static,
    ) -> &mut Hook {
        self.add(name.into(), HookHandler::Before(Arc::new(ask)))
    }

    fn add_post(
        &mut self,
        name: impl Into<Arc<str>>,
        ask: impl Fn(&InvocationContext<'_>, &HookEvent, &PostRunEvent) -> Result<Revision, HookFault>
        + Send
        + Sync
        + 'static,
    ) -> &mut Hook {
        self.add(name.into(), HookHandler::After(Arc::new(ask)))
    }

    fn add(&mut self, name: Arc<str>, act: HookHandler) -> &mut Hook {
        let (tools, hanging) = (ToolMatcher::default(), LeakedThreads::default());
        Arc::make_mut(&mut self.0).push_mut(Hook {
            name,
            timeout: DEFAULT_TIMEOUT,
            matcher: tools,
            leaked: hanging,
            handler: act,
            program: None,
        })
    }

    /// Runs the pre-run hooks in order until one denies. Each hook sees the arguments as modified
    /// by the hooks before it. `person` answers the hooks that prompt by themselves, through
    /// [`HookEvent::approver`]; a combined decision of `ask` is left to [`Admission::resolve_ask`].
    pub fn admit(&self, call: HookEvent, person: Option<&dyn Approver>) -> Admission {
        let environment = HookEnvironment { approver: person, tools: &NoHookTools, deadline: None };
        self.admit_with(Admission::default(), call, &environment)
    }

    /// Runs the pre-run hooks on a call about which something was decided before.
    pub(crate) fn admit_with(
        &self,
        mut admission: Admission,
        mut call: HookEvent,
        environment: &HookEnvironment<'_>,
    ) -> Admission {
        for hook in &*self.0 {
            if matches!(admission.decision, HookDecision::Deny { .. }) {
                break;
            }
            let Some(HookHandler::Before(ask)) = hook.handler_for(&call) else { continue };
            let (began, asked) = (Instant::now(), environment.approver.map(DeferringApprover::new));
            let approver = asked.as_ref().map(|person| person as &dyn Approver);
            let said = hook.invoke(&call, &HookEnvironment { approver, ..*environment }, |terms| ask(terms, &call));
            admission.merge_verdict(&hook.name, said, began.elapsed(), &mut call);
            if asked.is_some_and(|person| person.has_deferred()) {
                admission.merge_deferral();
            }
        }
        admission
    }

    /// Runs the post-run hooks in order. Each hook sees the outcome as modified by the hooks before
    /// it. Hooks cannot prompt here. A hook that fails withholds the result: the outcome becomes
    /// `refused` with the code `result-withheld`.
    pub fn review(&self, call: &HookEvent, end: PostRunEvent) -> HookReview {
        self.review_with(call, end, &NoHookTools)
    }

    /// Runs the post-run hooks. `tools` runs the hooks that are stored tools.
    pub(crate) fn review_with(&self, call: &HookEvent, end: PostRunEvent, tools: &dyn HookTools) -> HookReview {
        let environment = HookEnvironment { approver: None, tools, deadline: None };
        let mut reviewed = HookReview::new(end);
        for hook in &*self.0 {
            let Some(HookHandler::After(ask)) = hook.handler_for(call) else { continue };
            let began = Instant::now();
            let said = hook.invoke(call, &environment, |terms| ask(terms, call, &reviewed.end));
            reviewed.merge_revision(&hook.name, said, began.elapsed());
        }
        reviewed
    }
}

impl Hook {
    /// Returns the handler if the hook applies to the tool of this event.
    fn handler_for(&self, call: &HookEvent) -> Option<&HookHandler> {
        self.matcher.matches(&call.tool_name).then_some(&self.handler)
    }

    fn invoke<T>(
        &self,
        call: &HookEvent,
        environment: &HookEnvironment<'_>,
        ask: impl FnOnce(&InvocationContext<'_>) -> Result<T, HookFault>,
    ) -> Result<T, HookFailure> {
        let question = |text| ApprovalPrompt {
            asked_by: self.name.as_ref().to_owned(),
            text: Message::verbatim(text),
            call: call.clone(),
            tool_approval: None,
        };
        let put = |text| Some(environment.approver?.ask(&question(text)));
        let left = environment.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = left.map_or(self.timeout, |left| left.min(self.timeout));
        let (leaked, tools) = (&self.leaked, environment.tools);
        let is_cancelled = || call.is_cancelled();
        let terms = InvocationContext { timeout, leaked, tools, prompt: &put, is_cancelled: &is_cancelled };
        ask(&terms).map_err(|fault| HookFailure::new(&self.name, fault))
    }
}
