//! Reads the labelled set and judges its cases.
//!
//! Shared with the example that draws the curve.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "the labelled set is part of the project")]

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolcell_reflection::{PastOperation, ReflectionInput, Thresholds, Trigger, reflect};

/// One labelled case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) lang: String,
    pub(crate) task: String,
    pub(crate) result: String,
    pub(crate) failed_attempts: u64,
    pub(crate) history: Vec<PastOperation>,
    pub(crate) recommend: bool,
    /// Triggers of which each is right; none where nothing is recommended.
    pub(crate) trigger: Vec<String>,
}

/// A half of the set.
#[derive(Debug)]
pub(crate) struct Half {
    pub(crate) name: &'static str,
    pub(crate) cases: Vec<Case>,
}

/// A case, and what the engine says of it.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) case: Case,
    pub(crate) recommends: bool,
    pub(crate) trigger: Option<Trigger>,
    pub(crate) score: f64,
}

/// The halves that are there.
pub(crate) fn halves() -> Vec<Half> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reflection");
    let half = |name: &'static str| {
        let folder = root.join(name);
        folder.is_dir().then(|| Half { name, cases: read(&folder) })
    };
    ["tuning", "checking"].into_iter().filter_map(half).collect()
}

fn read(folder: &Path) -> Vec<Case> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    paths.sort();
    let texts = paths.iter().map(|path| std::fs::read_to_string(path).unwrap());
    texts.flat_map(|text| text.lines().map(case).collect::<Vec<_>>()).collect()
}

fn case(line: &str) -> Case {
    let value: Value = serde_json::from_str(line).unwrap();
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let trigger = match &value["trigger"] {
        Value::String(one) => vec![one.clone()],
        Value::Array(some) => some.iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
        _ => Vec::new(),
    };
    Case {
        id: text("id"),
        lang: text("lang"),
        task: text("task_description"),
        result: text("last_tool_result"),
        failed_attempts: value["failed_attempts"].as_u64().unwrap_or_default(),
        history: serde_json::from_value(value.get("history").cloned().unwrap_or_else(|| Value::Array(Vec::new())))
            .unwrap(),
        recommend: value["recommend"].as_bool().unwrap(),
        trigger,
    }
}

impl Judged {
    /// What the engine says of a case.
    pub(crate) fn from_case(case: &Case) -> Self {
        let occasion = ReflectionInput {
            task: &case.task,
            last_result: &case.result,
            failed_attempts: case.failed_attempts,
            history: &case.history,
            existing_tools: &[],
        };
        let said = reflect(&occasion, &Thresholds::default());
        Self { case: case.clone(), recommends: said.is_recommended(), trigger: said.trigger, score: said.score }
    }

    /// 1 where a tool should be recommended.
    pub(crate) fn truth(&self) -> f64 {
        if self.case.recommend { 1.0 } else { 0.0 }
    }

    /// Whether the trigger is one of those that are right.
    pub(crate) fn is_trigger_right(&self) -> bool {
        self.trigger.is_some_and(|trigger| self.case.trigger.iter().any(|right| right == trigger.name()))
    }
}
