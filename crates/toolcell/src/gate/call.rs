//! A call that is about to run, and the person who may be asked about it.
//!
//! Invariant: whoever asks a person does it through the thread that waits for the gate. So the gate's clock stands
//! still meanwhile, and a gate that was given up reaches nobody.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use jiff::Timestamp;
use serde_json::Value;
use toolcell_analysis::{Capabilities, Finding};
use toolcell_tool::ToolId;

use crate::policy::Grants;
use crate::vet::VettedTool;

/// A call that is about to run. A copy is cheap: the arguments are shared.
///
/// # Examples
/// ```
/// use serde_json::json;
/// use toolcell::gate::GateCall;
///
/// let call = GateCall::new("average", None, json!({"xs": [1, 2]}), jiff::Timestamp::UNIX_EPOCH, "/srv");
/// assert_eq!(call.args["xs"][1], 2);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GateCall {
    /// The name of the tool.
    pub tool_name: String,
    /// Which tool it is; none where the code was never stored.
    pub tool: Option<ToolId>,
    /// What it is called with, as the gates before this one changed it.
    pub args: Arc<Value>,
    /// When.
    pub at: Timestamp,
    /// The working directory of whoever calls.
    pub cwd: String,
    /// Who calls, as the record of the run names them; none where nobody said so.
    pub caller: Option<String>,
    person: Asking,
}

impl GateCall {
    /// A call, and nobody yet who may be asked about it.
    #[must_use]
    pub fn new(
        tool_name: impl Into<String>,
        tool: Option<ToolId>,
        args: impl Into<Arc<Value>>,
        at: Timestamp,
        cwd: impl Into<String>,
    ) -> Self {
        let (tool_name, args, cwd) = (tool_name.into(), args.into(), cwd.into());
        Self { tool_name, tool, args, at, cwd, caller: None, person: Asking::default() }
    }

    /// The same call, made by this caller.
    #[must_use]
    pub fn with_caller(self, caller: impl Into<String>) -> Self {
        Self { caller: Some(caller.into()), ..self }
    }

    /// The person who may be asked. While the gate waits for an answer, its time does not run.
    #[must_use]
    pub const fn person(&self) -> &Asking {
        &self.person
    }

    pub(super) fn asking(&self, person: Asking) -> Self {
        Self { person, ..self.clone() }
    }
}

/// A way to ask the person behind a call.
#[derive(Clone, Default)]
pub struct Asking(Option<Sender<Event>>);

impl Asking {
    pub(super) const fn through(events: Sender<Event>) -> Self {
        Self(Some(events))
    }

    /// Asks, and waits for the answer; none where nobody is there. It blocks the thread, also in an async gate, which
    /// has a thread of its own.
    #[must_use]
    pub fn ask(&self, text: impl Into<String>) -> Option<Answer> {
        let (reply, answer) = channel();
        self.0.as_ref()?.send(Event::Asks { text: text.into(), reply }).ok()?;
        answer.recv().ok()?
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Asking(through the waiting thread)" } else { "Asking(nobody)" })
    }
}

/// What a gate tells the thread that waits for it.
pub(super) enum Event {
    /// It wants to know something of the person.
    Asks { text: String, reply: Sender<Option<Answer>> },
    /// Its answer was laid down.
    Done,
}

/// Somebody who can be asked.
pub trait Person: Send + Sync {
    /// Waits for the answer, however long it takes.
    fn ask(&self, question: &Question) -> Answer;
}

/// What a person is asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Question {
    /// The gate that asks.
    pub gate: String,
    /// What it asks.
    pub text: String,
    /// The call that it is about, with the arguments that it would run with.
    pub call: GateCall,
    /// What is known of the tool, where it is the tool that is to be approved, and not this call alone.
    pub approving: Option<Arc<Approving>>,
}

/// What a person should know who approves a tool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Approving {
    /// The tool.
    pub tool: ToolId,
    /// What it asks for.
    pub asked: Capabilities,
    /// What it would be granted.
    pub grants: Grants,
    /// What the analysis found, in the order of the source.
    pub findings: Vec<Finding>,
    /// The source.
    pub source: String,
}

impl Question {
    /// Whether a tool may run from now on.
    pub(crate) fn about_tool(tool: &VettedTool, grants: &Grants, call: GateCall, why: &str) -> Self {
        let approving = Approving {
            tool: tool.spec().id(),
            asked: tool.asked().clone(),
            grants: grants.clone(),
            findings: tool.findings().to_vec(),
            source: tool.spec().source().to_owned(),
        };
        Self { gate: "approval".to_owned(), text: why.to_owned(), call, approving: Some(Arc::new(approving)) }
    }
}

impl Approving {
    /// A hash over what an approval is bound to, the tool and its grants: 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        let grants = self.grants.to_value().to_string();
        let mut hasher = blake3::Hasher::new_derive_key("toolcell 2026-11 approval");
        hasher.update(self.tool.as_bytes()).update(grants.as_bytes());
        hasher.finalize().to_hex().to_string()
    }
}

/// What a person says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// No.
    No {
        /// What the caller should do instead.
        feedback: Option<String>,
    },
    /// Not now: the question was passed on, and the same call will come again with the answer. This one is denied.
    Later,
    /// Nobody was asked, because the question cannot be shown whole. The call is denied.
    NotShown {
        /// Why.
        reason: String,
    },
}

/// What a call that is denied waits for: if somebody says yes to it, the same call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Waiting {
    /// That somebody approves the tool. It is among what people are asked.
    Approval(ToolId),
    /// That somebody answers a gate, which asks about this call alone.
    Question,
}

/// Somebody who is asked, and whether they answer later.
pub(super) struct PutsOff<'a> {
    person: &'a dyn Person,
    later: AtomicBool,
}

impl<'a> PutsOff<'a> {
    pub(super) const fn new(person: &'a dyn Person) -> Self {
        Self { person, later: AtomicBool::new(false) }
    }

    /// Whether they were asked, and answer later.
    pub(super) fn has_put_off(&self) -> bool {
        self.later.load(Ordering::Relaxed)
    }
}

impl Person for PutsOff<'_> {
    fn ask(&self, question: &Question) -> Answer {
        let answer = self.person.ask(question);
        if answer == Answer::Later {
            self.later.store(true, Ordering::Relaxed);
        }
        answer
    }
}
