//! How a mention is said: as a request, as a statement, as a thing.
//!
//! Invariant: only the words around a mention decide, by the grammar of the text's language.

use super::around::{AGENTS, FIGURES, LINKS, PROCESS, THINGS, TRADES, VERB_ENDS};
use super::{Role, Scene};
use crate::lexicon::{Hit, Inflection, Sense};
use crate::reading::Tongue;
use crate::trigger::Trigger;

/// How many words are looked at for the person or firm whose trade the work is.
const TRADE_WORDS: usize = 6;

impl Scene<'_> {
    /// How a hit is said.
    pub(super) fn role(&self, hit: Hit) -> Role {
        if self.is_bare_figure(hit) {
            return Role::Told;
        }
        match self.reading.tongue() {
            Tongue::Western => self.western_role(hit),
            Tongue::Japanese => self.japanese_role(hit),
            Tongue::Chinese => self.chinese_role(hit),
        }
    }

    /// Whether a figure is mentioned, in a language whose nouns look like verbs, and nothing in the sentence asks for it.
    fn is_bare_figure(&self, hit: Hit) -> bool {
        let behind = &self.reading.text()[hit.end..];
        let goes_on = ["する", "し", "を", "出", "求", "く"].iter().any(|verb| behind.starts_with(verb));
        if hit.sense != Sense::Act(Trigger::Aggregation) || self.reading.tongue() == Tongue::Western || goes_on {
            return false;
        }
        let word = &self.reading.text()[hit.start..];
        if !FIGURES.iter().any(|figure| word.starts_with(figure)) {
            return false;
        }
        // 一共 62 份, 上位50人 say how many there are.
        if behind.trim_start().starts_with(|next: char| next.is_ascii_digit()) {
            return true;
        }
        let sentence = self.sentence(hit);
        !self.hits.iter().any(|sign| {
            let asks = match sign.sense {
                Sense::Ask | Sense::Group | Sense::Seek | Sense::Instance | Sense::Again => true,
                Sense::Frame(kind) | Sense::Act(kind) => kind == Trigger::Aggregation && sign.start != hit.start,
                _ => false,
            };
            asks && self.sentence(*sign) == sentence
        })
    }

    /// By the word before it: a request begins its part, or follows `to`, `and`, `please`.
    fn western_role(&self, hit: Hit) -> Role {
        let tokens = self.reading.tokens();
        let part = self.part(hit);
        if matches!(self.reading.word(&tokens[hit.first]), "http" | "https") {
            return Role::Asked;
        }
        if self.reading.word(&tokens[hit.first]) == "the" {
            return if self.is_asked_for(hit) { Role::Asked } else { Role::Noun };
        }
        if self.reading.text()[hit.end..].starts_with('-') {
            return Role::Noun;
        }
        let mut at = hit.first;
        while at > 0 && tokens[at - 1].part == part && is_filler(self.reading.word(&tokens[at - 1])) {
            at -= 1;
        }
        if at == 0 || tokens[at - 1].part != part {
            return if hit.inflection == Inflection::Base { Role::Asked } else { Role::Told };
        }
        // `as CSV`, `via the API` say how it is to be done.
        let is_how = matches!(
            self.reading.word(&tokens[hit.first]),
            "as" | "to" | "into" | "in" | "via" | "through" | "over" | "with"
        );
        if is_how && hit.behind > hit.first + 1 {
            return Role::Asked;
        }
        let before = self.reading.word(&tokens[at - 1]);
        let word = self.reading.word(&tokens[hit.first]);
        if (word.ends_with("ion") || word.ends_with("sis")) && hit.behind == hit.first + 1 && !self.is_asked_for(hit) {
            return Role::Noun;
        }
        if before == "to" && self.is_told_to_others(at) {
            return Role::Told;
        }
        match before {
            "to" | "and" | "then" | "or" | "must" | "should" | "can" | "need" | "let's" | "lets" | "me" | "i'll"
            | "you" | "we"
                if hit.inflection == Inflection::Base =>
            {
                if matches!(before, "we") {
                    Role::Told
                } else {
                    Role::Asked
                }
            }
            "a" | "an" | "the" | "this" | "that" | "my" | "our" | "your" | "his" | "her" | "its" | "their" | "of"
            | "about" | "on" | "for" | "in" | "with" | "no" | "some" | "any" | "at" | "by" | "from" => {
                if self.is_asked_for(hit) { Role::Told } else { Role::Noun }
            }
            _ if matches!(hit.sense, Sense::Act(Trigger::Aggregation)) && self.is_asked_for(hit) => Role::Asked,
            _ => Role::Told,
        }
    }

    /// Whether the words before `to` say that others are to do it: `telling people to lint`.
    fn is_told_to_others(&self, at: usize) -> bool {
        let before = &self.reading.tokens()[at.saturating_sub(4)..at];
        before.iter().map(|token| self.reading.word(token)).any(|word| {
            matches!(
                word,
                "telling"
                    | "tells"
                    | "told"
                    | "asks"
                    | "asked"
                    | "people"
                    | "him"
                    | "her"
                    | "them"
                    | "us"
                    | "how"
                    | "refuses"
                    | "wants"
            )
        })
    }

    /// Whether a hit is work that is named by a noun.
    fn is_noun(&self, hit: Hit) -> bool {
        let word = &self.reading.text()[hit.start..hit.end];
        matches!(hit.sense, Sense::Act(_))
            && word.chars().all(|char| matches!(char, '\u{4e00}'..='\u{9fff}' | '\u{30a1}'..='\u{30ff}'))
    }

    /// Whether what is said as a thing is asked for: `do a conversion`, `give me the total`.
    fn is_asked_for(&self, hit: Hit) -> bool {
        let part = self.part(hit);
        let from = hit.first.saturating_sub(8);
        let before = self.reading.tokens()[from..hit.first].iter().filter(|token| token.part == part);
        before.map(|token| self.reading.word(token)).any(|word| {
            matches!(
                word,
                "do" | "run"
                    | "perform"
                    | "make"
                    | "give"
                    | "get"
                    | "show"
                    | "want"
                    | "need"
                    | "compute"
                    | "calculate"
                    | "work"
                    | "find"
                    | "produce"
                    | "report"
                    | "carry"
                    | "apply"
                    | "know"
                    | "tell"
                    | "what"
                    | "what's"
                    | "list"
                    | "print"
                    | "add"
                    | "determine"
            )
        })
    }

    /// By what follows: 変換の, 変換は speak of it, 変換して asks.
    fn japanese_role(&self, hit: Hit) -> Role {
        let text = self.reading.text();
        let behind = text.get(hit.end..).unwrap_or_default();
        let particle = ["の", "は", "が", "とは", "って", "に関", "につい", "という", "や", "なら", "なんて"];
        if behind.starts_with(is_thing)
            && !PROCESS.iter().any(|process| behind.starts_with(process))
            && self.is_noun(hit)
        {
            return Role::Noun;
        }
        let is_asked = ["のを", "の処理", "の実行", "の作業", "の方", "をお願", "もお願", "も頼", "もして"];
        if is_attributive(behind) && matches!(hit.sense, Sense::Act(_)) {
            return Role::Noun;
        }
        if particle.iter().any(|particle| behind.starts_with(particle))
            && !is_asked.iter().any(|asked| behind.starts_with(asked))
            && hit.end > hit.start + 3
        {
            return Role::Noun;
        }
        Role::Asked
    }

    /// Whether the work is the trade of a person or a firm: 変換を請け負う会社.
    pub(super) fn is_trade(&self, hit: Hit) -> bool {
        let part = self.part(hit);
        let behind = self.reading.tokens()[hit.behind..].iter().take(TRADE_WORDS);
        let words: Vec<&str> =
            behind.take_while(|token| token.part == part).map(|token| self.reading.word(token)).collect();
        matches!(hit.sense, Sense::Act(_))
            && words.first() == Some(&"を")
            && words.windows(2).skip(1).any(|pair| {
                VERB_ENDS.iter().any(|end| pair[0].ends_with(end)) && TRADES.iter().any(|who| pair[1].starts_with(who))
            })
    }

    /// Whether somebody else does it, or something that is named by it: 负责核对, 解析告警的软件.
    fn is_done_by_others(&self, hit: Hit) -> bool {
        let part = self.part(hit);
        let tokens = self.reading.tokens();
        let before = tokens[..hit.first].iter().rev().take(4).take_while(|token| token.part == part);
        let before: Vec<&str> = before.map(|token| self.reading.word(token)).collect();
        let is_charged = before.iter().any(|word| matches!(*word, "负责" | "負責")) && !before.contains(&"你");
        let behind = tokens[hit.first..].iter().take(10).take_while(|token| token.part == part).last();
        let behind = behind.map_or("", |token| self.reading.text().get(hit.end..token.end).unwrap_or_default());
        is_charged || behind.split('的').skip(1).any(|rest| THINGS.iter().any(|thing| rest.starts_with(thing)))
    }

    /// By what stands around: 的 makes a thing of it, 请 and 把 a request.
    fn chinese_role(&self, hit: Hit) -> Role {
        let text = self.reading.text();
        let behind = text.get(hit.end..).unwrap_or_default();
        let before = text.get(..hit.start).unwrap_or_default();
        if behind.starts_with(|next| AGENTS.contains(next)) && self.is_noun(hit) && !behind.starts_with("部门") {
            return Role::Noun;
        }
        if THINGS.iter().any(|thing| behind.starts_with(thing)) && self.is_noun(hit) {
            return Role::Noun;
        }
        if behind.starts_with('的') || before.ends_with('的') {
            return Role::Noun;
        }
        if self.is_done_by_others(hit) {
            return Role::Noun;
        }
        let part = self.part(hit);
        let tokens = self.reading.tokens()[..hit.first].iter().rev().take_while(|token| token.part == part);
        let is_told = tokens.map(|token| self.reading.word(token)).any(|word| {
            matches!(
                word,
                "他" | "她"
                    | "他们"
                    | "她们"
                    | "他們"
                    | "我们"
                    | "我們"
                    | "你们"
                    | "大家"
                    | "有人"
                    | "老板"
                    | "老闆"
                    | "公司"
                    | "同事"
                    | "他的"
                    | "谁"
                    | "誰"
                    | "人家"
                    | "咱们"
            )
        });
        if is_told { Role::Told } else { Role::Asked }
    }
}

/// Whether a Japanese verb goes on with what it is said of: 変換する装置, 抜き出した例文.
fn is_attributive(behind: &str) -> bool {
    let ended = VERB_ENDS.iter().find_map(|end| behind.strip_prefix(end));
    ended.is_some_and(|rest| {
        rest.starts_with(is_thing) && !PROCESS.iter().chain(LINKS).any(|link| rest.starts_with(link))
    })
}

/// Whether a word goes on with an ideograph or a katakana, and so is a part of the name of a thing.
fn is_thing(char: char) -> bool {
    matches!(char, '\u{4e00}'..='\u{9fff}' | '\u{30a1}'..='\u{30fa}')
}

/// Words that a request may begin with.
fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "please"
            | "pls"
            | "now"
            | "just"
            | "also"
            | "then"
            | "kindly"
            | "again"
            | "simply"
            | "first"
            | "finally"
            | "next"
            | "so"
            | "go"
            | "ok"
            | "okay"
            | "re"
            | "auto"
            | "cross"
            | "double"
            | "sanity"
            | "spot"
            | "de"
            | "pre"
            | "bulk"
            | "batch"
            | "hey"
            | "hi"
            | "and"
            | "carefully"
            | "quickly"
            | "automatically"
            | "once"
            | "today"
            | "here"
            | "same"
            | "do"
            | "better"
            | "help"
            | "all"
    )
}
