//! Explains a reflection in the reader's language.
//!
//! Invariant: every statement is backed by the evidence. Words of the task are quoted, on one line.

use toolcell_i18n::Lang;

use crate::evidence::{Evidence, EvidenceKind};
use crate::recommendation::Recommendation;
use crate::reflect::Reflection;
use crate::trigger::Trigger;

/// The longest quotation, in characters.
const MAX_QUOTE_CHARS: usize = 40;

impl Reflection {
    /// The reason, in one or two short sentences.
    #[must_use]
    pub fn reason(&self, lang: Lang) -> String {
        let lang = Phrasebook(lang);
        if !self.is_recommended() {
            return self.reason_against(lang);
        }
        let mut said: Vec<String> = Vec::new();
        said.extend(self.first(EvidenceKind::Operations).map(|one| lang.operations(&one.text)));
        said.extend(self.first(EvidenceKind::Failures).map(|one| lang.failures(&one.text)));
        said.extend(self.asked().into_iter().map(|one| lang.asked(one)));
        let several = self.first(EvidenceKind::Several);
        if said.len() < 3 {
            said.extend(several.map(|one| lang.several(one)));
        }
        let mut reason = lang.joined(&said);
        reason.push_str(&lang.decided(&self.decision, &self.known()));
        reason
    }

    fn reason_against(&self, lang: Phrasebook) -> String {
        let against = self.evidence.iter().find(|one| one.weight < 0.0 && one.trigger.is_some());
        let mut reason = lang.unmet().to_owned();
        if let Some(one) = against {
            reason.push_str(&lang.against(one));
        }
        reason
    }

    fn first(&self, kind: EvidenceKind) -> Option<&Evidence> {
        self.evidence.iter().find(|one| one.kind == kind)
    }

    /// The strongest words for the trigger, and the strongest ones for another trigger.
    fn asked(&self) -> Vec<&Evidence> {
        let words = || self.evidence.iter().filter(|one| one.kind == EvidenceKind::Word && one.weight >= 0.25);
        let first = words().find(|one| one.trigger == self.trigger).or_else(|| words().next());
        let other = words().find(|one| one.weight >= 0.5 && first.is_some_and(|first| first.trigger != one.trigger));
        first.into_iter().chain(other).collect()
    }

    fn known(&self) -> Vec<&str> {
        self.evidence.iter().filter(|one| one.kind == EvidenceKind::KnownTool).map(|one| one.text.as_str()).collect()
    }
}

/// The phrases of a language.
#[derive(Debug, Clone, Copy)]
struct Phrasebook(Lang);

impl Phrasebook {
    const fn unmet(self) -> &'static str {
        match self.0 {
            Lang::Ja => "ツール生成の条件を満たしていません",
            Lang::En => "the conditions for creating a tool are not met",
            Lang::Zh => "不满足生成工具的条件",
        }
    }

    fn quoted(self, text: &str) -> String {
        let mut text: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
        if let Some((end, _)) = text.char_indices().nth(MAX_QUOTE_CHARS) {
            text.truncate(end);
            text.push('…');
        }
        match self.0 {
            Lang::Ja => format!("「{text}」"),
            Lang::En | Lang::Zh => format!("“{text}”"),
        }
    }

    fn asked(self, one: &Evidence) -> String {
        let words = self.quoted(&one.text);
        let trigger = one.trigger.unwrap_or(Trigger::Transformation);
        match self.0 {
            Lang::Ja => format!("{}タスクです（{words}）", work_ja(trigger)),
            Lang::En => format!("the task is to {} ({words})", work_en(trigger)),
            Lang::Zh => format!("任务是{}（{words}）", work_zh(trigger)),
        }
    }

    fn several(self, one: &Evidence) -> String {
        let words = self.quoted(&one.text);
        match (self.0, one.trigger) {
            (Lang::Ja, Some(_)) => format!("繰り返し行うと述べています（{words}）"),
            (Lang::En, Some(_)) => format!("it says that this is done again and again ({words})"),
            (Lang::Zh, Some(_)) => format!("说明这是反复进行的（{words}）"),
            (Lang::Ja, None) => format!("対象が複数あると述べています（{words}）"),
            (Lang::En, None) => format!("it says that there are several ({words})"),
            (Lang::Zh, None) => format!("说明对象不止一个（{words}）"),
        }
    }

    fn operations(self, text: &str) -> String {
        let words = self.quoted(text);
        match self.0 {
            Lang::Ja => format!("同じ操作が繰り返されています（{words}）"),
            Lang::En => format!("the same operation was done again ({words})"),
            Lang::Zh => format!("重复了相同的操作（{words}）"),
        }
    }

    fn failures(self, count: &str) -> String {
        match self.0 {
            Lang::Ja => format!("{count}回失敗しています"),
            Lang::En => format!("it failed {count} times"),
            Lang::Zh => format!("已经失败了 {count} 次"),
        }
    }

    /// Evidence that was found and does not count.
    fn against(self, one: &Evidence) -> String {
        let words = self.quoted(&one.text);
        match (self.0, one.kind) {
            (Lang::Ja, EvidenceKind::Negation) => format!("。{words}は不要とされています"),
            (Lang::Ja, EvidenceKind::Hypothetical) => format!("。{words}は仮定の話です"),
            (Lang::Ja, EvidenceKind::Past) => format!("。{words}は済んでいます"),
            (Lang::Ja, _) => format!("。{words}は話題にすぎません"),
            (Lang::En, EvidenceKind::Negation) => format!("; {words} is not to be done"),
            (Lang::En, EvidenceKind::Hypothetical) => format!("; {words} is a case that may come"),
            (Lang::En, EvidenceKind::Past) => format!("; {words} is done already"),
            (Lang::En, _) => format!("; {words} is only talked about"),
            (Lang::Zh, EvidenceKind::Negation) => format!("。{words}不需要做"),
            (Lang::Zh, EvidenceKind::Hypothetical) => format!("。{words}只是假设"),
            (Lang::Zh, EvidenceKind::Past) => format!("。{words}已经做过"),
            (Lang::Zh, _) => format!("。{words}只是话题"),
        }
    }

    fn decided(self, decision: &Recommendation, names: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let (list, and) = match self.0 {
            Lang::Ja => (names.join("と"), "。"),
            Lang::En => (names.join(" and "), "; "),
            Lang::Zh => (names.join("和"), "。"),
        };
        let said = match (self.0, decision) {
            (Lang::Ja, Recommendation::Reuse(_)) => format!("保存済みの{list}がそのまま使えます"),
            (Lang::En, Recommendation::Reuse(_)) => format!("the stored tool {list} does this"),
            (Lang::Zh, Recommendation::Reuse(_)) => format!("已有的工具{list}可以直接使用"),
            (Lang::Ja, Recommendation::Revise(_)) => {
                format!("保存済みの{list}がこの用途ですが失敗しているので、直してください")
            }
            (Lang::En, Recommendation::Revise(_)) => {
                format!("the stored tool {list} is for this, but fails: revise it")
            }
            (Lang::Zh, Recommendation::Revise(_)) => format!("已有的工具{list}用于此事但会失败，请修改它"),
            (Lang::Ja, Recommendation::Compose(_)) => format!("{list}を組み合わせればできます"),
            (Lang::En, Recommendation::Compose(_)) => format!("the stored tools {list} do it together"),
            (Lang::Zh, Recommendation::Compose(_)) => format!("组合{list}即可完成"),
            (_, Recommendation::Create | Recommendation::None) => return String::new(),
        };
        format!("{and}{said}")
    }

    fn joined(self, said: &[String]) -> String {
        match self.0 {
            Lang::Ja => said.join("。"),
            Lang::Zh => said.join("，"),
            Lang::En => match said {
                [_, .., last] => format!("{}, and {last}", said[..said.len() - 1].join(", ")),
                _ => said.concat(),
            },
        }
    }
}

const fn work_ja(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Transformation => "データを変換する",
        Trigger::Api => "外部を呼び出す",
        Trigger::Validation => "データを検証する",
        Trigger::Aggregation => "データを集計する",
        Trigger::Repetition | Trigger::Failures => "繰り返す",
    }
}

const fn work_en(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Transformation => "convert data",
        Trigger::Api => "call something outside",
        Trigger::Validation => "check data",
        Trigger::Aggregation => "sum up data",
        Trigger::Repetition | Trigger::Failures => "repeat something",
    }
}

const fn work_zh(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Transformation => "转换数据",
        Trigger::Api => "调用外部接口",
        Trigger::Validation => "校验数据",
        Trigger::Aggregation => "汇总数据",
        Trigger::Repetition | Trigger::Failures => "重复操作",
    }
}
