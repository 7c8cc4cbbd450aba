//! Decides whether a tool is worth making.
//!
//! Invariant: the task, the failures and the history decide. The last result is data: it never moves score or decision.

use serde::Serialize;
use toolcell_tool::ToolId;

use crate::evidence::{self, Evidence};
use crate::features::Features;
use crate::known::{self, Known};
use crate::operation::{Operation, repeated};
use crate::reading::Reading;
use crate::score;
use crate::trigger::Trigger;

/// What is reflected on.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// The task, in whatever language.
    pub task: &'a str,
    /// What the last tool gave.
    pub result: &'a str,
    /// How often it failed.
    pub failed_attempts: u64,
    /// What was done before, the oldest first.
    pub history: &'a [Operation],
    /// Stored tools that may do it already.
    pub known: &'a [Known],
}

/// From where on something counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Failures.
    pub failures: u64,
    /// Operations that were the same.
    pub repetitions: usize,
    /// The score of the task.
    pub score: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { failures: 2, repetitions: 2, score: score::THRESHOLD }
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// Make a tool.
    Create,
    /// Use a stored one.
    Reuse(ToolId),
    /// Mend a stored one.
    Revise(ToolId),
    /// Make a tool out of stored ones.
    Compose(Vec<ToolId>),
    /// Go on without.
    None,
}

/// What a reflection says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Reflection {
    /// What to do.
    pub decision: Decision,
    /// What makes a tool worth making.
    pub trigger: Option<Trigger>,
    /// How likely it is that one is, 0 to 1.
    pub score: f64,
    /// What speaks for it, and what against it.
    pub evidence: Vec<Evidence>,
    /// Whether the last result reads as a success that may be had again.
    pub reusable: bool,
}

impl Reflection {
    /// Whether a tool is recommended.
    #[must_use]
    pub fn recommends(&self) -> bool {
        self.decision != Decision::None
    }
}

/// Says whether a tool is worth making, and why.
///
/// # Examples
/// ```
/// use toolcell_reflection::{Decision, Occasion, Thresholds, Trigger, reflect};
///
/// let asked = |task| {
///     let occasion = Occasion { task, result: "done", failed_attempts: 0, history: &[], known: &[] };
///     reflect(&occasion, &Thresholds::default())
/// };
/// assert_eq!(asked("Convert the three CSV files into JSON").trigger, Some(Trigger::Transformation));
/// assert_eq!(asked("No need to convert anything, just reply to Bob").decision, Decision::None);
/// ```
#[must_use]
pub fn reflect(occasion: &Occasion<'_>, thresholds: &Thresholds) -> Reflection {
    let reading = Reading::new(occasion.task);
    let features = Features::of(&reading);
    let most = repeated(occasion.history).into_iter().next();
    let most = most.filter(|group| group.count >= thresholds.repetitions.max(2));
    let fails = occasion.failed_attempts >= thresholds.failures.max(1);
    let proven = most.is_some() || fails;
    let score = if proven { score::PROVEN } else { score::probability(&features.values) };
    let asked = if features.repeats { Some(Trigger::Repetition) } else { features.trigger };
    let recommends = proven || (score >= thresholds.score && asked.is_some());
    let trigger = match () {
        () if !recommends => None,
        () if most.is_some() => Some(Trigger::Repetition),
        () if fails => Some(Trigger::Failures),
        () => asked,
    };
    let decision = if recommends { known::decide(occasion.task, occasion.known) } else { Decision::None };
    let mut evidence: Vec<Evidence> = Vec::new();
    evidence.extend(most.as_ref().map(Evidence::of_operations));
    evidence.extend(fails.then(|| Evidence::of_failures(occasion.failed_attempts)));
    evidence.extend(evidence::of_task(occasion.task, &reading, &features));
    evidence.extend(known::evidence(occasion.known, &decision));
    Reflection { decision, trigger, score, evidence, reusable: reads_as_success(occasion.result) }
}

/// How long a result is that may be had again, in characters.
const RESULT_LIMIT: usize = 1000;

/// Words of success.
const SUCCESS: [&str; 20] = [
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

/// Whether a result is short and says that it went well.
fn reads_as_success(result: &str) -> bool {
    if result.chars().nth(RESULT_LIMIT - 1).is_some() {
        return false;
    }
    let result = result.to_lowercase();
    let mut words = result.split(|char: char| !char.is_ascii_alphanumeric());
    words.any(|word| SUCCESS.contains(&word)) || SUCCESS.iter().any(|sign| !sign.is_ascii() && result.contains(sign))
}
