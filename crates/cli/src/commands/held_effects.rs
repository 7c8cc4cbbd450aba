//! Held effects: `run --plan`, `run --suspend` and `resume`.
//!
//! Invariant: only approved effects are performed, and every held effect is listed with its
//! decision. Each digest given with `--approve` approves one effect of an earlier list, once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use inquire::list_option::ListOption;
use inquire::{InquireError, MultiSelect};
use serde::Serialize;
use toolcell::{
    CancelToken, EffectApprover, EffectDecision, HeldBody, HeldEffect, Lang, Toolbox, escape_for_display,
    single_line_for_display,
};

use crate::args::ApprovedDigest;
use crate::context::Context;
use crate::error::CliError;
use crate::render::progress::Progress;
use crate::screen::{self, PromptText, Screen, render_config};
use crate::streams::Streams;

/// Maximum number of characters shown of an effect's details, and of its body.
const MAX_CONTENT_CHARS: usize = 4_000;
/// Maximum number of effects that a prompt shows at once.
const MAX_OPTIONS: usize = 7;
/// Columns of a list row beside the effect: `> [x] `, and one spare.
const OPTION_COLUMNS: usize = 7;
/// Rows of the prompt beside its list: the question with the typed filter, the keys, and an error.
const LIST_ROWS: usize = 4;

/// How much of a held effect is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentDetail {
    /// Only its size.
    SizeOnly,
    /// Its details and body, truncated to [`MAX_CONTENT_CHARS`] each.
    Full,
}

/// Decides on held effects, from the digests given or by prompting.
pub(crate) struct EffectPlan {
    /// Remaining approvals per digest.
    approved: Mutex<BTreeMap<String, usize>>,
    chooser: Option<TerminalChooser>,
    /// The decision for effects that are not approved.
    fallback: EffectDecision,
    content: ContentDetail,
    lines: Mutex<Vec<PlanLine>>,
}

struct TerminalChooser {
    lang: Lang,
    cancel: CancelToken,
    progress: Option<Arc<Progress>>,
    content: ContentDetail,
}

/// A held effect and its decision.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PlanLine {
    #[serde(flatten)]
    held: HeldEffect,
    approved: bool,
}

/// Options of an [`EffectPlan`].
pub(crate) struct PlanOptions<'a> {
    pub(crate) approved: &'a [ApprovedDigest],
    /// The decision for effects that are not approved.
    pub(crate) fallback: EffectDecision,
    pub(crate) content: ContentDetail,
}

impl EffectPlan {
    /// Creates a plan that approves the given digests. If none is given and the user can be
    /// prompted, it prompts instead.
    pub(crate) fn new(
        options: &PlanOptions<'_>,
        toolbox: &Toolbox,
        context: &Context<'_>,
        progress: Option<&Arc<Progress>>,
    ) -> Result<Arc<Self>, CliError> {
        let &PlanOptions { approved, fallback: otherwise, content } = options;
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        for one in approved {
            let digests = match one {
                ApprovedDigest::Line(digest) => vec![digest.clone()],
                ApprovedDigest::Plan(digest) => toolbox.plan_digests(digest)?,
            };
            for digest in digests {
                *lines.entry(digest).or_default() += 1;
            }
        }
        let asks = approved.is_empty() && context.streams.is_interactive();
        let person = asks.then(|| TerminalChooser {
            lang: context.lang,
            cancel: context.cancel.clone(),
            progress: progress.cloned(),
            content,
        });
        Ok(Arc::new(Self {
            approved: Mutex::new(lines),
            chooser: person,
            fallback: otherwise,
            content,
            lines: Mutex::default(),
        }))
    }

    /// Returns the approvals that no effect has used.
    fn unused_approvals(&self) -> Vec<String> {
        let approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        approved.iter().filter(|(_, count)| **count > 0).map(|(digest, _)| digest.clone()).collect()
    }

    /// Uses up one approval of an effect, and returns whether there was one.
    fn take_approval(&self, held: &HeldEffect) -> bool {
        let mut approved = self.approved.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(count) = approved.get_mut(&held.digest).filter(|count| **count > 0) else { return false };
        *count -= 1;
        true
    }

    /// Returns all held effects, in order.
    pub(crate) fn lines(&self) -> Vec<PlanLine> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores the list of effects that were not approved, and returns its digest. A failure is
    /// ignored: the run is done, its result must not be withheld, and each effect can still be
    /// approved by its own digest.
    pub(crate) fn store(&self, toolbox: &Toolbox) -> Option<String> {
        let left: Vec<HeldEffect> =
            self.lines().into_iter().filter(|line| !line.approved).map(|line| line.held).collect();
        let kept = toolbox.store_plan(left.first()?.id, &left);
        kept.ok().flatten().map(|hash| hash.to_hex().to_string())
    }
}

impl EffectApprover for EffectPlan {
    fn decide(&self, held: &[HeldEffect]) -> Vec<EffectDecision> {
        let chosen: Vec<bool> = match &self.chooser {
            Some(person) => person.choose(held),
            None => held.iter().map(|held| self.take_approval(held)).collect(),
        };
        let lines =
            held.iter().zip(&chosen).map(|(held, approved)| PlanLine { held: held.clone(), approved: *approved });
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).extend(lines);
        chosen.into_iter().map(|approved| if approved { EffectDecision::Perform } else { self.fallback }).collect()
    }
}

impl TerminalChooser {
    fn choose(&self, held: &[HeldEffect]) -> Vec<bool> {
        let question = match self.lang {
            Lang::En => "Apply which effects?",
            Lang::Ja => "どれを実行しますか？",
            Lang::Zh => "要执行哪些操作？",
        };
        let asked = || {
            let screen = Screen::from_terminal(std::io::stderr());
            let numbered = |(at, held): (usize, &HeldEffect)| format!("{}. {}", at + 1, describe_effect(held));
            let lines = held.iter().enumerate().flat_map(|(at, held)| {
                let content = content_lines(held, self.content, self.lang);
                std::iter::once(numbered((at, held))).chain(content)
            });
            let lines: Vec<String> = lines.collect();
            // The options are one row each; the full lines were shown above.
            let options: Vec<String> =
                held.iter().enumerate().map(|held| screen.truncate(&numbered(held), OPTION_COLUMNS)).collect();
            let shown = options.len().min(MAX_OPTIONS).min(screen.rows().saturating_sub(LIST_ROWS).max(1));
            let numbers = |chosen: &[ListOption<&String>]| {
                chosen.iter().map(|option| (option.index + 1).to_string()).collect::<Vec<_>>().join(", ")
            };
            screen::ask_after_pages(PromptText { lines: &lines, summary: &[] }, shown + LIST_ROWS, self.lang, || {
                let list = MultiSelect::new(question, options).with_page_size(shown).with_formatter(&numbers);
                list.with_render_config(render_config()).raw_prompt()
            })
        };
        let answer = match &self.progress {
            Some(progress) => progress.hide_while(asked),
            None => asked(),
        };
        if let Err(InquireError::OperationInterrupted) = answer {
            self.cancel.cancel();
        }
        // A cancelled prompt approves nothing.
        let chosen = answer.unwrap_or_default();
        (0..held.len()).map(|at| chosen.iter().any(|option| option.index == at)).collect()
    }
}

/// Formats a held effect as one line.
fn describe_effect(held: &HeldEffect) -> String {
    let bytes = if held.bytes > 0 { format!(" ({} bytes)", held.bytes) } else { String::new() };
    format!("{}: {} {}{bytes}", single_line_for_display(&held.tool), held.kind, single_line_for_display(&held.about))
}

/// Formats an effect's details and body, to be shown below its line.
fn content_lines(held: &HeldEffect, content: ContentDetail, lang: Lang) -> Vec<String> {
    if content == ContentDetail::SizeOnly {
        return Vec::new();
    }
    let labels = match lang {
        Lang::En => ["details", "body", "body (base64)"],
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
                Lang::En => format!("… ({MAX_CONTENT_CHARS} of {all} characters shown, --json shows all)"),
                Lang::Ja => format!("…（{all}文字のうち{MAX_CONTENT_CHARS}文字を表示、全体は --json）"),
                Lang::Zh => format!("…（显示 {all} 个字符中的 {MAX_CONTENT_CHARS} 个，--json 可查看全部）"),
            }
        };
        // Each line of a body is marked, so that it cannot imitate Toolcell's own output.
        let text = escape_for_display(&start).replace('\n', "\n    | ");
        let shown = format!("    {label}{}{text}{mark}", lang.colon());
        lines.extend(shown.split('\n').map(str::to_owned));
    }
    lines
}

/// Prints the held effects, and how to approve the remaining ones.
pub(crate) fn print(
    plan: &EffectPlan,
    all: Option<&str>,
    lang: Lang,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let [done, left, how, unused] = match lang {
        Lang::En => ["approved", "held", "to apply it", "note: the run did not request"],
        Lang::Ja => ["承認", "保留", "実行するには", "補足: この実行では要求されませんでした"],
        Lang::Zh => ["已批准", "已搁置", "如需执行", "备注：本次运行没有请求"],
    };
    for digest in plan.unused_approvals() {
        writeln!(streams.errors, "{unused} {digest}")?;
    }
    let lines = plan.lines();
    for PlanLine { held, approved } in &lines {
        let word = if *approved { done } else { left };
        let rows = streams.wrap_for_errors(&format!("{word}{}{}", lang.colon(), describe_effect(held)));
        // The digest is not wrapped, so that it can be copied.
        let separator = if streams.errors_are_terminal { "\n    " } else { "; " };
        let next = || format!("{separator}{how}{}--approve {}", lang.colon(), held.digest);
        let next = if *approved { String::new() } else { next() };
        writeln!(streams.errors, "{rows}{next}")?;
        for line in content_lines(held, plan.content, lang) {
            let rows = streams.wrap_for_errors(&line);
            writeln!(streams.errors, "{rows}")?;
        }
    }
    let count = lines.iter().filter(|line| !line.approved).count();
    if let Some(digest) = all {
        match lang {
            Lang::En => writeln!(streams.errors, "to apply all {count} held effects: --approve all:{digest}")?,
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
    fn the_body_of_what_is_held_is_shown_and_imitates_no_line_of_ours() {
        let lines = |body: HeldBody, content: ContentDetail| {
            let held = HeldEffect {
                tool: "sender".to_owned(),
                id: toolcell::ToolId::from_bytes([1; 32]),
                position: 1,
                kind: "fetch".to_owned(),
                about: "POST https://a.example/".to_owned(),
                details: "{}".to_owned(),
                bytes: body.as_str().len() as u64,
                body: Some(body),
                digest: "0a".repeat(32),
            };
            content_lines(&held, content, Lang::En)
        };
        let forged = || HeldBody::Text("a\n  approved: forged".to_owned());
        let expect = ["    details: {}", "    body: a", "    |   approved: forged"];
        assert_eq!(lines(forged(), ContentDetail::Full), expect);
        assert!(lines(forged(), ContentDetail::SizeOnly).is_empty());
        let base64 = lines(HeldBody::Base64("/wA=".to_owned()), ContentDetail::Full);
        assert_eq!(base64, ["    details: {}", "    body (base64): /wA="]);
        let long = lines(HeldBody::Text("x".repeat(5_000)), ContentDetail::Full);
        let cut = format!("    body: {}… (4000 of 5000 characters shown, --json shows all)", "x".repeat(4_000));
        assert_eq!(long[1..], [cut]);
    }
}
