//! Decides whether a tool is worth making.
//!
//! Invariant: the task, the failures and the history decide. The last result is data and never
//! affects the score or the decision.

use serde::Serialize;

use crate::evidence::{self, Evidence};
use crate::existing_tools::{self, ExistingTool};
use crate::features::TaskFeatures;
use crate::operation::PastOperation;
use crate::recommendation::Recommendation;
use crate::repetition::find_repeated;
use crate::score;
use crate::templates::{Match, find_template};
use crate::tokenized::TokenizedTask;
use crate::trigger::Trigger;

/// The input of a reflection.
#[derive(Debug, Clone, Copy)]
pub struct ReflectionInput<'a> {
    /// The task, in any language.
    pub task: &'a str,
    /// The result of the last tool.
    pub last_result: &'a str,
    /// The number of failed attempts.
    pub failed_attempts: u64,
    /// The past operations, the oldest first.
    pub history: &'a [PastOperation],
    /// The stored tools that may do the task.
    pub existing_tools: &'a [ExistingTool],
}

/// The thresholds of a recommendation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// The failed attempts from which a tool is recommended; at least 1.
    pub failures: u64,
    /// The repetitions from which a tool is recommended; at least 2.
    pub repetitions: usize,
    /// The score of the task from which a tool is recommended.
    pub score: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { failures: 2, repetitions: 2, score: score::THRESHOLD }
    }
}

/// The result of a reflection.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Reflection {
    /// The recommendation.
    pub decision: Recommendation,
    /// The reason why a tool is worth making.
    pub trigger: Option<Trigger>,
    /// The probability that a tool is worth making, 0 to 1.
    pub score: f64,
    /// The evidence for and against it.
    pub evidence: Vec<Evidence>,
    /// Whether the last result looks like a success that could be repeated.
    pub reusable: bool,
}

impl Reflection {
    /// Whether a tool is recommended.
    #[must_use]
    pub fn is_recommended(&self) -> bool {
        self.decision != Recommendation::None
    }
}

/// Decides whether a tool is worth making for a task, and collects the evidence.
///
/// # Examples
/// ```
/// use toolcell_reflection::{Recommendation, ReflectionInput, Thresholds, Trigger, reflect};
///
/// let asked = |task| {
///     let occasion = ReflectionInput { task, last_result: "done", failed_attempts: 0, history: &[], existing_tools: &[] };
///     reflect(&occasion, &Thresholds::default())
/// };
/// assert_eq!(asked("Convert the three CSV files into JSON").trigger, Some(Trigger::Transformation));
/// assert_eq!(asked("No need to convert anything, just reply to Bob").decision, Recommendation::None);
/// ```
#[must_use]
pub fn reflect(occasion: &ReflectionInput<'_>, thresholds: &Thresholds) -> Reflection {
    let reading = TokenizedTask::new(occasion.task);
    let features = TaskFeatures::new(&reading);
    let most = find_repeated(occasion.history).into_iter().next();
    let most = most.filter(|group| group.count >= thresholds.repetitions.max(2));
    let fails = occasion.failed_attempts >= thresholds.failures.max(1);
    let proven = most.is_some() || fails;
    let score = if proven { score::PROVEN_SCORE } else { score::probability(&features.values) };
    let asked = if features.repeats { Some(Trigger::Repetition) } else { features.trigger };
    let ready = find_template(occasion.task);
    let asked = asked.or_else(|| ready.as_ref().map(Match::trigger));
    let recommends = proven || ready.is_some() || (score >= thresholds.score && asked.is_some());
    let trigger = match () {
        () if !recommends => None,
        () if most.is_some() => Some(Trigger::Repetition),
        () if fails => Some(Trigger::Failures),
        () => asked,
    };
    let decision = if recommends {
        existing_tools::decide(occasion.task, occasion.existing_tools)
    } else if features.values.negated_work == 0.0 {
        // A tool that is there costs nothing: it needs no other reason than that it does the task.
        existing_tools::find_for_whole_task(occasion.existing_tools).map_or(Recommendation::None, Recommendation::Reuse)
    } else {
        Recommendation::None
    };
    let mut evidence: Vec<Evidence> = Vec::new();
    evidence.extend(most.as_ref().map(Evidence::from_repetition));
    evidence.extend(fails.then(|| Evidence::from_failures(occasion.failed_attempts)));
    evidence.extend(evidence::task_evidence(occasion.task, &reading, &features));
    evidence.extend(existing_tools::existing_tool_evidence(occasion.existing_tools, &decision));
    Reflection { decision, trigger, score, evidence, reusable: looks_successful(occasion.last_result) }
}

/// The length of a result from which on it does not count as repeatable, in characters.
const MAX_RESULT_CHARS: usize = 1000;

/// Words that indicate success.
const SUCCESS_WORDS: [&str; 20] = [
    "成功",
    "完了",
    "結果",
    "完成",
    "结果",
    "結束",
    "已生成",
    "已保存",
    "สำเร็จ",
    "success",
    "succeeded",
    "successful",
    "successfully",
    "done",
    "completed",
    "complete",
    "finished",
    "result",
    "results",
    "ok",
];

/// Whether a result is short and contains a word of success.
fn looks_successful(result: &str) -> bool {
    if result.chars().nth(MAX_RESULT_CHARS - 1).is_some() {
        return false;
    }
    let result = result.to_lowercase();
    let mut words = result.split(|char: char| !char.is_ascii_alphanumeric());
    words.any(|word| SUCCESS_WORDS.contains(&word))
        || SUCCESS_WORDS.iter().any(|sign| !sign.is_ascii() && result.contains(sign))
}
