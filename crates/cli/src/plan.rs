//! `run --plan`, `run --sleep`, `resume`: what would change the world is held, and happens if somebody says so.
//!
//! Invariant: what nobody chose does not happen, and all that was held is listed, with what became of it. Each approval that is typed
//! is of one line that was listed before, and is used up by it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use inquire::list_option::ListOption;
use inquire::{InquireError, MultiSelect};
use serde::Serialize;
use toolcell::{CancelToken, Choice, Held, HeldBody, Lang, Planner, Toolbox, fact, unmasked};

use crate::Streams;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::screen::{self, About, Screen, look};

/// How many hexadecimal digits a digest has.
const DIGITS: usize = 64;
/// What stands before the digest of a whole plan.
const ALL: &str = "all:";
/// The most characters of details and of a body that are shown.
const MAX_CONTENT_CHARS: usize = 4_000;
/// The most operations that the list of a prompt shows at a time.
const MAX_OPTIONS: usize = 7;
/// The columns in the list besides an operation: `> [x] `, and one to spare.
const OPTION_COLUMNS: usize = 7;
/// The rows of the prompt besides its list: the question, with what is typed to filter the list, the keys, and what it says of an error.
const LIST_ROWS: usize = 4;

/// What is approved, as it is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approved {
    /// One line of a plan.
    Line(String),
    /// All lines of a plan.
    Plan(String),
}

impl Approved {
    /// Reads what is typed: the whole digest of a line, or `all:` and that of a plan.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let is_digest = |text: &str| text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let lower = text.to_ascii_lowercase();
        match lower.strip_prefix(ALL) {
            Some(plan) if is_digest(plan) => Ok(Self::Plan(plan.to_owned())),
            None if is_digest(&lower) => Ok(Self::Line(lower)),
            None if lower == "all" => {
                Err("`all` would approve what nobody was shown: list it with --plan, and then approve `all:DIGEST` with the \
                     digest that this prints"
                    .to_owned())
            }
            _ => Err(format!("it must be a digest that was listed, {DIGITS} hexadecimal digits, or `all:` and the digest of a plan")),
        }
    }
}

/// Whether the content of what is held is shown as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Its size.
    Sized,
    /// The details and the body, as far as they are not too long.
    Shown,
}

/// Chooses what happens, by what was typed or by asking whoever sits at the terminal.
pub(crate) struct Plan {
    /// How often each line was approved, and is not used up.
    approved: Mutex<BTreeMap<String, usize>>,
    person: Option<AtTerminal>,
    /// What becomes of what nobody chose.
    otherwise: Choice,
    content: Content,
    lines: Mutex<Vec<Line>>,
}

struct AtTerminal {
    lang: Lang,
    cancel: CancelToken,
    progress: Option<Arc<Progress>>,
    content: Content,
}

/// Something that was held, and what became of it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Line {
    #[serde(flatten)]
    held: Held,
    approved: bool,
}

/// What a plan is made of, besides where it is asked about.
pub(crate) struct PlanOptions<'a> {
    pub(crate) approved: &'a [Approved],
    /// What becomes of what nobody chose.
    pub(crate) otherwise: Choice,
    pub(crate) content: Content,
}

impl Plan {
    /// What was typed, or what somebody at the terminal says, where nothing was typed.
    pub(crate) fn new(
        options: &PlanOptions<'_>,
        toolbox: &Toolbox,
        lang: Lang,
        streams: &Streams<'_>,
        cancel: &CancelToken,
        progress: Option<&Arc<Progress>>,
    ) -> Result<Arc<Self>, Failure> {
        let &PlanOptions { approved, otherwise, content } = options;
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        for one in approved {
            let digests = match one {
                Approved::Line(digest) => vec![digest.clone()],
                Approved::Plan(digest) => toolbox.shown_plan(digest)?,
            };
            for digest in digests {
                *lines.entry(digest).or_default() += 1;
            }
        }
        let asks = approved.is_empty() && streams.somebody_is_there();
        let person = asks.then(|| AtTerminal { lang, cancel: cancel.clone(), progress: progress.cloned(), content });
        Ok(Arc::new(Self { approved: Mutex::new(lines), person, otherwise, content, lines: Mutex::default() }))
    }

    /// What was approved, and not asked for.
    fn unused(&self) -> Vec<String> {
        let approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        approved.iter().filter(|(_, count)| **count > 0).map(|(digest, _)| digest.clone()).collect()
    }

    /// Whether a line was approved; that is used up with it.
    fn takes(&self, held: &Held) -> bool {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(count) = approved.get_mut(&held.digest).filter(|count| **count > 0) else { return false };
        *count -= 1;
        true
    }

    /// All that was held, in order.
    pub(crate) fn lines(&self) -> Vec<Line> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the lines that nobody approved, so that all of them can be approved under one digest. Where they cannot be kept they are
    /// approved one by one: the run took place, and its result is not withheld for that.
    pub(crate) fn keep(&self, toolbox: &Toolbox) -> Option<String> {
        let left: Vec<Held> = self.lines().into_iter().filter(|line| !line.approved).map(|line| line.held).collect();
        let kept = toolbox.keep_plan(left.first()?.id, &left);
        kept.ok().flatten().map(|hash| hash.to_hex().to_string())
    }
}

impl Planner for Plan {
    fn choose(&self, held: &[Held]) -> Vec<Choice> {
        let chosen: Vec<bool> = match &self.person {
            Some(person) => person.choose(held),
            None => held.iter().map(|held| self.takes(held)).collect(),
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
            let screen = Screen::from_terminal(std::io::stderr());
            let numbered = |(at, held): (usize, &Held)| format!("{}. {}", at + 1, told(held));
            let lines = held.iter().enumerate().flat_map(|(at, held)| {
                let content = content_lines(held, self.content, self.lang);
                std::iter::once(numbered((at, held))).chain(content)
            });
            let lines: Vec<String> = lines.collect();
            // The list shows a row of each, which was shown whole above it.
            let options: Vec<String> =
                held.iter().enumerate().map(|held| screen.cut(&numbered(held), OPTION_COLUMNS)).collect();
            let shown = options.len().min(MAX_OPTIONS).min(screen.rows().saturating_sub(LIST_ROWS).max(1));
            let numbers = |chosen: &[ListOption<&String>]| {
                chosen.iter().map(|option| (option.index + 1).to_string()).collect::<Vec<_>>().join(", ")
            };
            screen::ask(About { lines: &lines, summary: &[] }, shown + LIST_ROWS, self.lang, || {
                let list = MultiSelect::new(question, options).with_page_size(shown).with_formatter(&numbers);
                list.with_render_config(look()).raw_prompt()
            })
        };
        let said = match &self.progress {
            Some(progress) => progress.quiet_while(asked),
            None => asked(),
        };
        if let Err(InquireError::OperationInterrupted) = said {
            self.cancel.cancel();
        }
        // Whoever says nothing has chosen nothing.
        let chosen = said.unwrap_or_default();
        (0..held.len()).map(|at| chosen.iter().any(|option| option.index == at)).collect()
    }
}

/// One line for a person.
fn told(held: &Held) -> String {
    let bytes = if held.bytes > 0 { format!(" ({} bytes)", held.bytes) } else { String::new() };
    format!("{}: {} {}{bytes}", fact(&held.tool), held.kind, fact(&held.about))
}

/// The details and the body of what is held, as they are shown below its line.
fn content_lines(held: &Held, content: Content, lang: Lang) -> Vec<String> {
    if content == Content::Sized {
        return Vec::new();
    }
    let labels = match lang {
        Lang::En => ["details", "body", "body, in base64"],
        Lang::Ja => ["詳細", "本文", "本文（base64）"],
        Lang::Zh => ["详细", "正文", "正文（base64）"],
    };
    let body = held.body.as_ref().map(|body| match body {
        HeldBody::Text(text) => (labels[1], text.as_str()),
        HeldBody::Base64(text) => (labels[2], text.as_str()),
    });
    let mut lines = Vec::new();
    for (label, text) in [(labels[0], held.details.as_str())].into_iter().chain(body) {
        let all = text.chars().count();
        let start: String = text.chars().take(MAX_CONTENT_CHARS).collect();
        let mark = if all <= MAX_CONTENT_CHARS {
            String::new()
        } else {
            match lang {
                Lang::En => format!("… ({MAX_CONTENT_CHARS} of {all} characters shown, --json has all)"),
                Lang::Ja => format!("…（{all}文字のうち{MAX_CONTENT_CHARS}文字を表示、全体は --json）"),
                Lang::Zh => format!("…（显示 {all} 个字符中的 {MAX_CONTENT_CHARS} 个，--json 可查看全部）"),
            }
        };
        // A line of a body begins with a mark, so that it is not taken for a line of ours.
        let text = unmasked(&start).replace('\n', "\n    | ");
        let shown = format!("    {label}{}{text}{mark}", lang.colon());
        lines.extend(shown.split('\n').map(str::to_owned));
    }
    lines
}

/// What was held, and how to have the rest of it happen.
pub(crate) fn print(plan: &Plan, all: Option<&str>, lang: Lang, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let [done, left, how, unused] = match lang {
        Lang::En => ["approved", "held", "to have it happen", "note: the run did not ask for"],
        Lang::Ja => ["承認", "保留", "実行するには", "補足: この実行では要求されませんでした"],
        Lang::Zh => ["已批准", "已搁置", "如需执行", "备注：本次运行没有请求"],
    };
    for digest in plan.unused() {
        writeln!(streams.errors, "{unused} {digest}")?;
    }
    let lines = plan.lines();
    for Line { held, approved } in &lines {
        let word = if *approved { done } else { left };
        let told = streams.error_rows(&format!("{word}{}{}", lang.colon(), told(held)));
        // The digest is not broken, so that it can be copied.
        let separator = if streams.errors_are_terminal { "\n    " } else { "; " };
        let next = || format!("{separator}{how}{}--approve {}", lang.colon(), held.digest);
        let next = if *approved { String::new() } else { next() };
        writeln!(streams.errors, "{told}{next}")?;
        for line in content_lines(held, plan.content, lang) {
            let rows = streams.error_rows(&line);
            writeln!(streams.errors, "{rows}")?;
        }
    }
    let count = lines.iter().filter(|line| !line.approved).count();
    if let Some(digest) = all {
        match lang {
            Lang::En => writeln!(streams.errors, "to have all {count} that are held happen: --approve all:{digest}")?,
            Lang::Ja => writeln!(streams.errors, "保留中の{count}件すべてを実行するには: --approve all:{digest}")?,
            Lang::Zh => writeln!(streams.errors, "如需执行全部 {count} 项：--approve all:{digest}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_a_whole_digest_or_that_of_a_plan() {
        let digest = "0a".repeat(32);
        assert_eq!(Approved::parse(&digest), Ok(Approved::Line(digest.clone())));
        assert_eq!(Approved::parse(&digest.to_uppercase()), Ok(Approved::Line(digest.clone())));
        assert_eq!(Approved::parse(&format!("all:{digest}")), Ok(Approved::Plan(digest.clone())));
        for wrong in
            [&digest[..63], &digest[..16], "", "all:", "all:0a", &format!("{digest}0"), &format!("any:{digest}")]
        {
            assert!(Approved::parse(wrong).unwrap_err().starts_with("it must be a digest"), "{wrong}");
        }
        assert!(Approved::parse("all").unwrap_err().contains("what nobody was shown"));
    }

    #[test]
    fn the_body_of_what_is_held_is_shown_and_imitates_no_line_of_ours() {
        let lines = |body: HeldBody, content: Content| {
            let held = Held {
                tool: "sender".to_owned(),
                id: toolcell::ToolId::from_bytes([1; 32]),
                position: 1,
                kind: "fetch".to_owned(),
                about: "POST https://a.example/".to_owned(),
                details: "{}".to_owned(),
                bytes: body.as_str().len() as u64,
                body: Some(body),
                digest: "0a".repeat(DIGITS / 2),
            };
            content_lines(&held, content, Lang::En)
        };
        let forged = || HeldBody::Text("a\n  approved: forged".to_owned());
        let expect = ["    details: {}", "    body: a", "    |   approved: forged"];
        assert_eq!(lines(forged(), Content::Shown), expect);
        assert!(lines(forged(), Content::Sized).is_empty());
        let base64 = lines(HeldBody::Base64("/wA=".to_owned()), Content::Shown);
        assert_eq!(base64, ["    details: {}", "    body, in base64: /wA="]);
        let long = lines(HeldBody::Text("x".repeat(5_000)), Content::Shown);
        let cut = format!("    body: {}… (4000 of 5000 characters shown, --json has all)", "x".repeat(4_000));
        assert_eq!(long[1..], [cut]);
    }
}
