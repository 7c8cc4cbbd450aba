//! What stands between a call and its run, and between its end and its caller: host code, and commands.
//!
//! Invariant: a gate that gives no answer that counts denies before a run, and withholds the result after one. Nothing
//! that a gate does takes the host down or holds it longer than the gate's time.
//!
//! To suppress an output means one thing here: the model does not get to read it. The documents also use the word for
//! keeping it out of logs; the record always has it.

mod admission;
mod apart;
mod call;
mod command;
mod end;
mod failure;
mod of_policy;
mod program;
mod runtime;
mod tools;
mod verdict;
mod wire;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use admission::{Admission, Context, RESULT_WITHHELD, ReviewStep, Reviewed, Step, Touched};
pub use call::{Answer, Approving, Asking, GateCall, Person, Question, Waiting};
pub use command::{GateCommand, StillTrusted, When};
pub use end::{Ending, GateEnd};
pub use failure::{Cause, GateFailure};
pub use of_policy::Trust;
pub use program::{ProgramFiles, open_regular_file};
pub use verdict::{Change, Decision, Revision, Says, Verdict};

use apart::{Hanging, Terms};
use call::PutsOff;
use command::Program;
use failure::Fault;
use runtime::Own;
use tools::Patterns;

pub(crate) use program::{refused_variable, search_path};

/// How long a gate may take that was given no other time.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// A gate is not one that could work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// There is no program to start.
    #[error("the command of the gate `{0}` is empty")]
    Empty(String),
    /// It would never answer in time.
    #[error("the gate `{0}` has a time of 0 ms")]
    NoTime(String),
    /// It is for no tool that could be.
    #[error("`{0}` is no pattern of tool names: it may be a name, or the beginning of one and then `*`")]
    Pattern(String),
    /// It does not get such a variable.
    #[error("the gate `{gate}` does not get the environment variable `{name}`: {why}")]
    Variable {
        /// The gate.
        gate: String,
        /// The variable.
        name: String,
        /// Why not.
        why: &'static str,
    },
}

impl GateError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "gate-invalid"
    }

    /// What to do next.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Empty(_) => "name the program, and then its arguments, each a string of its own",
            Self::NoTime(_) => "give it some milliseconds, or leave the time out: it is 5000 ms then",
            Self::Pattern(_) => "write `send-mail` or `send-*`; for every tool, leave the patterns out",
            Self::Variable { .. } => "name other variables in `env`, or none",
        }
    }
}

type AskBefore = dyn Fn(&Terms<'_>, &GateCall) -> Result<Verdict, Fault> + Send + Sync;
type AskAfter = dyn Fn(&Terms<'_>, &GateCall, &GateEnd) -> Result<Revision, Fault> + Send + Sync;

#[derive(Clone)]
enum Act {
    Before(Arc<AskBefore>),
    After(Arc<AskAfter>),
}

/// One gate.
#[derive(Clone)]
pub struct Gate {
    name: Arc<str>,
    timeout: Duration,
    tools: Patterns,
    hanging: Hanging,
    act: Act,
    /// What is started, where it is a command.
    program: Option<Arc<Program>>,
}

impl Gate {
    /// Gives the gate another time than [`DEFAULT_TIMEOUT`]. The time that a person takes does not count.
    pub const fn within(&mut self, timeout: Duration) -> &mut Self {
        self.timeout = timeout;
        self
    }

    /// Makes it a gate for these tools: a name, or `prefix*`; without any, every tool. Case, and `-` for `_`, are not
    /// told apart.
    ///
    /// # Errors
    /// `gate-invalid`
    pub fn only<T: AsRef<str>>(&mut self, tools: impl IntoIterator<Item = T>) -> Result<&mut Self, GateError> {
        self.tools = Patterns::parse(tools)?;
        Ok(self)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if matches!(self.act, Act::Before(_)) { When::Before } else { When::After };
        f.debug_struct("Gate").field("name", &self.name).field("when", &when).finish_non_exhaustive()
    }
}

/// The gates of a host, in order. A copy is cheap.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell::gate::{Decision, GateCall, Gates, Verdict};
///
/// let mut gates = Gates::default();
/// gates.before("house-rules", |call: &GateCall| match call.args.get("to") {
///     Some(to) if to == "everybody" => Verdict::deny("mail to everybody is not sent from here"),
///     _ => Verdict::no_objection(),
/// });
///
/// let call = GateCall::new("send-mail", None, json!({"to": "everybody"}), jiff::Timestamp::UNIX_EPOCH, "/srv");
/// let admission = gates.admit(call, None);
/// assert_eq!(admission.decision, Decision::Deny { reason: "mail to everybody is not sent from here".into() });
/// assert_eq!(admission.decided_by.as_deref(), Some("house-rules"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Gates(Arc<Vec<Gate>>);

impl Gates {
    /// Adds a function that is asked before runs. It runs on a thread of its own.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use toolcell::gate::{GateCall, Gates, Verdict};
    ///
    /// let mut gates = Gates::default();
    /// let gate = gates.before("at-most-100", |call: &GateCall| match call.args["count"].as_u64() {
    ///     Some(count) if count <= 100 => Ok(Verdict::allow()),
    ///     Some(_) => Ok(Verdict::ask("more than 100 at once")),
    ///     None => Err("there is no count"),
    /// });
    /// gate.within(Duration::from_millis(50)).only(["batch-*"])?;
    /// # Ok::<(), toolcell::gate::GateError>(())
    /// ```
    pub fn before<R>(
        &mut self,
        name: impl Into<Arc<str>>,
        gate: impl Fn(&GateCall) -> R + Send + Sync + 'static,
    ) -> &mut Gate
    where
        R: Says<Verdict>,
    {
        let gate = Arc::new(gate);
        self.add_before(name, move |terms, call| {
            let gate = Arc::clone(&gate);
            Ok(apart::run(terms, call, move |call| gate(&call).said())?)
        })
    }

    /// Adds an asynchronous function that is asked before runs. It is polled on a thread of its own: in the caller's
    /// runtime, where that one has other workers than the caller's thread, else in one that the gate keeps. A future that
    /// takes too long is dropped.
    ///
    /// # Examples
    /// ```
    /// use toolcell::gate::{GateCall, Gates, Verdict};
    ///
    /// let mut gates = Gates::default();
    /// gates.before_async("directory", |call: GateCall| async move {
    ///     if call.cwd.starts_with("/srv/") { Verdict::allow() } else { Verdict::ask("it is called from elsewhere") }
    /// });
    /// ```
    pub fn before_async<F>(
        &mut self,
        name: impl Into<Arc<str>>,
        gate: impl Fn(GateCall) -> F + Send + Sync + 'static,
    ) -> &mut Gate
    where
        F: Future<Output: Says<Verdict>>,
    {
        let (gate, own) = (Arc::new(gate), Own::default());
        self.add_before(name, move |terms, call| {
            let gate = Arc::clone(&gate);
            Ok(runtime::run(&own, terms, call, move |call| async move { gate(call).await.said() })?)
        })
    }

    /// Adds a function that is asked after runs, however they ended. It runs on a thread of its own.
    ///
    /// # Examples
    /// ```
    /// use toolcell::gate::{Ending, GateCall, GateEnd, Gates, Revision};
    ///
    /// let mut gates = Gates::default();
    /// gates.after("no-mail-addresses", |_: &GateCall, end: &GateEnd| match &end.result {
    ///     Some(result) if result.as_str().contains('@') => Revision::fail("the result has a mail address in it"),
    ///     _ => Revision::keep(),
    /// });
    /// ```
    pub fn after<R>(
        &mut self,
        name: impl Into<Arc<str>>,
        gate: impl Fn(&GateCall, &GateEnd) -> R + Send + Sync + 'static,
    ) -> &mut Gate
    where
        R: Says<Revision>,
    {
        let gate = Arc::new(gate);
        self.add_after(name, move |terms, call, end| {
            let (gate, end) = (Arc::clone(&gate), end.clone());
            Ok(apart::run(terms, call, move |call| gate(&call, &end).said())?)
        })
    }

    /// Adds an asynchronous function that is asked after runs. It is polled like one [before](Self::before_async).
    pub fn after_async<F>(
        &mut self,
        name: impl Into<Arc<str>>,
        gate: impl Fn(GateCall, GateEnd) -> F + Send + Sync + 'static,
    ) -> &mut Gate
    where
        F: Future<Output: Says<Revision>>,
    {
        let (gate, own) = (Arc::new(gate), Own::default());
        self.add_after(name, move |terms, call, end| {
            let (gate, end) = (Arc::clone(&gate), end.clone());
            Ok(runtime::run(&own, terms, call, move |call| async move { gate(call, end).await.said() })?)
        })
    }

    /// Adds a command.
    ///
    /// It reads one JSON object, `{"hookEventName", "toolName", "toolId"?, "toolArgs", "timestamp", "cwd"}` with the time
    /// in milliseconds since 1970, and after a run also `"toolResult": {"resultType", "textResultForLlm", "result"?,
    /// "error"?, "code"?, "durationMs"}`. Before a run (`preToolUse`) it prints an object with any of
    /// `permissionDecision` (`allow`, `deny`, `ask`), `permissionDecisionReason`, `modifiedArgs`, `additionalContext`,
    /// `suppressOutput`; after it (`postToolUse`) any of `modifiedResult` or `error`, `additionalContext`,
    /// `suppressOutput`. `{}` and `null` are no objection. What it leaves running in its process group when it ends is killed.
    ///
    /// Of the environment it gets `PATH`, `HOME`, `LANG`, `LANGUAGE`, `LC_*`, `TZ`, `TMPDIR` and the variables that the command names,
    /// and never a secret of a tool.
    ///
    /// # Errors
    /// `gate-invalid`
    pub fn command(&mut self, command: GateCommand) -> Result<(), GateError> {
        self.command_if(command, None)
    }

    /// Adds a command that is started only as long as it is trusted.
    fn command_if(&mut self, command: GateCommand, trusted: Option<StillTrusted>) -> Result<(), GateError> {
        let GateCommand { name, command, when, timeout, tools, folder, env } = command;
        if timeout.is_zero() {
            return Err(GateError::NoTime(name));
        }
        if let Some((variable, why)) = env.iter().find_map(|name| Some((name, refused_variable(name)?))) {
            return Err(GateError::Variable { gate: name, name: variable.clone(), why });
        }
        let tools = Patterns::parse(tools)?;
        let program = Program::new(&command, &folder, env, trusted);
        let program = Arc::new(program.ok_or_else(|| GateError::Empty(name.clone()))?);
        let name: Arc<str> = name.into();
        let started = Arc::clone(&program);
        if matches!(when, When::Before | When::BeforeAndAfter) {
            let (program, gate) = (Arc::clone(&program), Arc::clone(&name));
            let ask = move |terms: &Terms<'_>, call: &GateCall| {
                Ok(wire::verdict(&gate, &program.answer(terms, wire::before(call)?)?)?)
            };
            let gate = self.add_before(Arc::clone(&name), ask);
            gate.within(timeout).tools = tools.clone();
            gate.program = Some(Arc::clone(&started));
        }
        if matches!(when, When::After | When::BeforeAndAfter) {
            let ask = move |terms: &Terms<'_>, call: &GateCall, end: &GateEnd| {
                Ok(wire::revision(&program.answer(terms, wire::after(call, end)?)?)?)
            };
            let gate = self.add_after(name, ask);
            gate.within(timeout).tools = tools;
            gate.program = Some(started);
        }
        Ok(())
    }

    /// The files of all commands, with the name of the gate and the folder that the command was named in.
    pub(crate) fn programs(&self) -> impl Iterator<Item = (&str, ProgramFiles, &Path)> {
        self.0.iter().filter_map(|gate| {
            let (files, folder) = gate.program.as_ref()?.files();
            Some((&*gate.name, files, folder))
        })
    }

    /// Whether nobody is asked before a run.
    pub(crate) fn admits_all(&self) -> bool {
        !self.0.iter().any(|gate| matches!(gate.act, Act::Before(_)))
    }

    /// Whether nobody is shown how a run ended.
    pub(crate) fn reviews_none(&self) -> bool {
        !self.0.iter().any(|gate| matches!(gate.act, Act::After(_)))
    }

    fn add_before(
        &mut self,
        name: impl Into<Arc<str>>,
        ask: impl Fn(&Terms<'_>, &GateCall) -> Result<Verdict, Fault> + Send + Sync + 'static,
    ) -> &mut Gate {
        self.add(name.into(), Act::Before(Arc::new(ask)))
    }

    fn add_after(
        &mut self,
        name: impl Into<Arc<str>>,
        ask: impl Fn(&Terms<'_>, &GateCall, &GateEnd) -> Result<Revision, Fault> + Send + Sync + 'static,
    ) -> &mut Gate {
        self.add(name.into(), Act::After(Arc::new(ask)))
    }

    fn add(&mut self, name: Arc<str>, act: Act) -> &mut Gate {
        let (tools, hanging) = (Patterns::default(), Hanging::default());
        Arc::make_mut(&mut self.0).push_mut(Gate { name, timeout: DEFAULT_TIMEOUT, tools, hanging, act, program: None })
    }

    /// Asks the gates before a run, in order, until one denies. Each sees the arguments as those before it changed them.
    /// The person is for gates that ask by themselves, through [`GateCall::person`]; an ask as the decision of all is left
    /// to [`Admission::settle`].
    pub fn admit(&self, mut call: GateCall, person: Option<&dyn Person>) -> Admission {
        let mut admission = Admission::default();
        for gate in &*self.0 {
            let Some(Act::Before(ask)) = gate.act(&call) else { continue };
            let (began, asked) = (Instant::now(), person.map(PutsOff::new));
            let person = asked.as_ref().map(|person| person as &dyn Person);
            let said = gate.ask(&call, person, |terms| ask(terms, &call));
            admission.take(&gate.name, said, began.elapsed(), &mut call);
            if asked.is_some_and(|person| person.has_put_off()) {
                admission.take_put_off();
            }
            if matches!(admission.decision, Decision::Deny { .. }) {
                break;
            }
        }
        admission
    }

    /// Shows the end of a run to the gates after it, in order. Each sees it as those before it changed it. Nobody can be
    /// asked here. A gate that fails withholds the result: the end is `refused` then, with the code `result-withheld`.
    pub fn review(&self, call: &GateCall, end: GateEnd) -> Reviewed {
        let mut reviewed = Reviewed::unseen(end);
        for gate in &*self.0 {
            let Some(Act::After(ask)) = gate.act(call) else { continue };
            let began = Instant::now();
            let said = gate.ask(call, None, |terms| ask(terms, call, &reviewed.end));
            reviewed.take(&gate.name, said, began.elapsed());
        }
        reviewed
    }
}

impl Gate {
    /// What it does, where it is for this tool.
    fn act(&self, call: &GateCall) -> Option<&Act> {
        self.tools.fit(&call.tool_name).then_some(&self.act)
    }

    fn ask<T>(
        &self,
        call: &GateCall,
        person: Option<&dyn Person>,
        ask: impl FnOnce(&Terms<'_>) -> Result<T, Fault>,
    ) -> Result<T, GateFailure> {
        let question =
            |text| Question { gate: self.name.as_ref().to_owned(), text, call: call.clone(), approving: None };
        let put = |text| Some(person?.ask(&question(text)));
        let terms = Terms { timeout: self.timeout, hanging: &self.hanging, ask: &put };
        ask(&terms).map_err(|fault| GateFailure::new(&self.name, fault))
    }
}
