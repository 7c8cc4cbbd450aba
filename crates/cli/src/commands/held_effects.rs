//! Held effects: `run --plan`, `run --suspend` and `resume`.
//!
//! Invariant: only approved effects are performed, and every held effect is listed with its
//! decision. Each digest given with `--approve` approves one effect of an earlier list, once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use inquire::list_option::ListOption;
use inquire::{InquireError, MultiSelect};
use serde::Serialize;
use toolcell::{CancelToken, EffectApprover, EffectDecision, HeldBody, HeldEffect, Toolbox, escape_for_display};
use toolcell_i18n::{Lang, message, tr};

use crate::args::ApprovedDigest;
use crate::context::Context;
use crate::error::CliError;
use crate::render::label::label;
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
        let lang = self.lang;
        let asked = || {
            let screen = Screen::from_terminal(std::io::stderr());
            let numbered = |(at, held): (usize, &HeldEffect)| format!("{}. {}", at + 1, held.to_line(lang));
            let lines = held.iter().enumerate().flat_map(|(at, held)| {
                let content = content_lines(held, self.content, lang);
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
            screen::ask_after_pages(PromptText { lines: &lines, summary: &[] }, shown + LIST_ROWS, lang, || {
                let list = MultiSelect::new(tr!(lang, "Apply which effects?"), options);
                let keys = tr!(lang, "↑↓ to move, space to select one, → to all, ← to none, type to filter");
                let list = list.with_page_size(shown).with_formatter(&numbers).with_help_message(keys);
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

/// Formats an effect's details and body, to be shown below its line.
fn content_lines(held: &HeldEffect, content: ContentDetail, lang: Lang) -> Vec<String> {
    if content == ContentDetail::SizeOnly {
        return Vec::new();
    }
    let body = held.body.as_ref().map(|body| match body {
        HeldBody::Text(text) => (tr!(lang, "body"), text.as_str()),
        HeldBody::Base64(text) => (tr!(lang, "body (base64)"), text.as_str()),
    });
    let mut lines = Vec::new();
    for (name, text) in [(tr!(lang, "details"), held.details.as_str())].into_iter().chain(body) {
        let all = text.chars().count();
        let start: String = text.chars().take(MAX_CONTENT_CHARS).collect();
        let mark = if all <= MAX_CONTENT_CHARS {
            String::new()
        } else {
            let shown = MAX_CONTENT_CHARS;
            tr!(lang, "… ({shown} of {all} characters shown, --json shows all)", shown, all)
        };
        // Each line of a body is marked, so that it cannot imitate Toolcell's own output.
        let text = escape_for_display(&start).replace('\n', "\n    | ");
        let shown = format!("    {}{mark}", label(name, &text, lang));
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
    for digest in plan.unused_approvals() {
        streams.print_note(&message!("the run did not request {digest}", digest), lang)?;
    }
    let lines = plan.lines();
    for PlanLine { held, approved } in &lines {
        let word = if *approved { tr!(lang, "effect" => "approved") } else { tr!(lang, "effect" => "held") };
        let rows = streams.wrap_for_errors(&label(word, &held.to_line(lang), lang));
        // The digest is not wrapped, so that it can be copied.
        let separator = if streams.errors_are_terminal { "\n    " } else { "; " };
        let next = tr!(lang, "to apply it: --approve {digest}", digest = held.digest);
        let next = if *approved { String::new() } else { format!("{separator}{next}") };
        writeln!(streams.errors, "{rows}{next}")?;
        for line in content_lines(held, plan.content, lang) {
            let rows = streams.wrap_for_errors(&line);
            writeln!(streams.errors, "{rows}")?;
        }
    }
    let count = lines.iter().filter(|line| !line.approved).count();
    if let Some(digest) = all {
        let text = tr!(lang, "to apply all {count} held effects: --approve all:{digest}", count, digest);
        writeln!(streams.errors, "{text}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(body: HeldBody) -> HeldEffect {
        HeldEffect {
            tool: "sender".to_owned(),
            id: toolcell::ToolId::from_bytes([1; 32]),
            position: 1,
            kind: "fetch".to_owned(),
            about: "POST https://a.example/".to_owned(),
            details: "{}".to_owned(),
            bytes: body.as_str().len() as u64,
            body: Some(body),
            from: Vec::new(),
            digest: "0a".repeat(32),
        }
    }

    #[test]
    fn the_body_of_what_is_held_is_shown_and_imitates_no_line_of_ours() {
        let lines = |body: HeldBody, content: ContentDetail| content_lines(&held(body), content, Lang::En);
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

    #[test]
    fn what_is_held_is_described_in_the_language_of_the_reader() {
        let held = held(HeldBody::Text("ok".to_owned()));
        let lines = |lang| {
            let content = content_lines(&held, ContentDetail::Full, lang);
            [vec![held.to_line(lang)], content].concat()
        };
        let expect = ["sender: fetch POST https://a.example/（2 バイト）", "    詳細: {}", "    本文: ok"];
        assert_eq!(lines(Lang::Ja), expect);
        let expect = ["sender：fetch POST https://a.example/（2 字节）", "    详细：{}", "    正文：ok"];
        assert_eq!(lines(Lang::Zh), expect);
    }
}
