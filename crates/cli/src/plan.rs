//! `run --plan`, `run --sleep`, `resume`: what would change the world is held, and happens if somebody says so.
//!
//! Invariant: what nobody chose does not happen, and all that was held is listed, with what became of it.

use std::sync::{Arc, Mutex, PoisonError};

use inquire::{InquireError, MultiSelect};
use serde::Serialize;
use toolcell::{CancelToken, Choice, Held, Lang, Planner, line};

use crate::Streams;
use crate::person::look;
use crate::progress::Progress;

/// The word for everything.
const ALL: &str = "all";

/// Chooses what happens, by what was typed or by asking whoever sits at the terminal.
pub(crate) struct Plan {
    approved: Vec<String>,
    person: Option<AtTerminal>,
    /// What becomes of what nobody chose.
    otherwise: Choice,
    lines: Mutex<Vec<Line>>,
}

struct AtTerminal {
    lang: Lang,
    cancel: CancelToken,
    progress: Option<Arc<Progress>>,
}

/// Something that was held, and what became of it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    #[serde(flatten)]
    held: Held,
    approved: bool,
}

impl Plan {
    /// What was typed, or what somebody at the terminal says, where nothing was typed.
    pub(crate) fn new(
        approved: &[String],
        otherwise: Choice,
        lang: Lang,
        streams: &Streams<'_>,
        cancel: &CancelToken,
        progress: Option<&Arc<Progress>>,
    ) -> Arc<Self> {
        let asks = approved.is_empty() && streams.somebody_is_there();
        let person = asks.then(|| AtTerminal { lang, cancel: cancel.clone(), progress: progress.cloned() });
        Arc::new(Self { approved: approved.to_vec(), person, otherwise, lines: Mutex::default() })
    }

    /// What was to be approved, and was not asked for.
    pub(crate) fn unasked(&self) -> Vec<String> {
        let lines = self.lines();
        let is_known = |word: &String| word == ALL || lines.iter().any(|line| line.held.digest == *word);
        self.approved.iter().filter(|word| !is_known(word)).cloned().collect()
    }

    /// All that was held, in order.
    pub(crate) fn lines(&self) -> Vec<Line> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Planner for Plan {
    fn choose(&self, held: &[Held]) -> Vec<Choice> {
        let typed = |held: &Held| self.approved.iter().any(|word| word == ALL || *word == held.digest);
        let chosen: Vec<bool> = match &self.person {
            Some(person) => person.choose(held),
            None => held.iter().map(typed).collect(),
        };
        let lines = held.iter().zip(&chosen).map(|(held, approved)| Line { held: held.clone(), approved: *approved });
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).extend(lines);
        chosen.into_iter().map(|approved| if approved { Choice::Do } else { self.otherwise }).collect()
    }
}

impl AtTerminal {
    fn choose(&self, held: &[Held]) -> Vec<bool> {
        let question = match self.lang {
            Lang::En => "Which of these shall happen?",
            Lang::Ja => "どれを実行しますか？",
            Lang::Zh => "要执行哪些操作？",
        };
        let asked = || {
            let options: Vec<String> = held.iter().map(told).collect();
            MultiSelect::new(question, options).with_render_config(look()).raw_prompt()
        };
        let said = match &self.progress {
            Some(progress) => progress.quiet_while(asked),
            None => asked(),
        };
        if let Err(InquireError::OperationInterrupted) = said {
            self.cancel.cancel();
        }
        let chosen = said.unwrap_or_default();
        (0..held.len()).map(|at| chosen.iter().any(|option| option.index == at)).collect()
    }
}

/// One line for a person.
fn told(held: &Held) -> String {
    let bytes = if held.bytes > 0 { format!(" ({} bytes)", held.bytes) } else { String::new() };
    format!("{}: {} {}{bytes}", line(&held.tool), held.kind, line(&held.about))
}

/// What was held, and how to have the rest of it happen.
pub(crate) fn print(plan: &Plan, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let [done, left, how, unasked] = match lang {
        Lang::En => ["approved", "held", "to have it happen", "note: the run did not ask for"],
        Lang::Ja => ["承認", "保留", "実行するには", "補足: この実行では要求されませんでした"],
        Lang::Zh => ["已批准", "已搁置", "如需执行", "备注：本次运行没有请求"],
    };
    for word in plan.unasked() {
        writeln!(streams.errors, "{unasked} {}", line(&word))?;
    }
    for Line { held, approved } in &plan.lines() {
        let told = told(held);
        if *approved {
            writeln!(streams.errors, "{done}{}{told}", lang.colon())?;
        } else {
            writeln!(streams.errors, "{left}{}{told}; {how}{}--approve {}", lang.colon(), lang.colon(), held.digest)?;
        }
    }
    Ok(())
}
