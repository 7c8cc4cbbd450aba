//! The speech act of a mention: request, statement or nominal.
//!
//! Invariant: only the words around a mention decide, by the grammar of the text's language.

use super::context_words::{
    AGENT_SUFFIXES, ARTIFACT_NOUNS, FIGURES, LINKING_WORDS, PROCESS_NOUNS, TRADES, VERB_ENDINGS,
};
use super::{MentionContext, SpeechAct};
use crate::lexicon::{Inflection, LexiconMatch, Sense};
use crate::tokenized::GrammarFamily;
use crate::trigger::Trigger;

/// The words that are searched for the person or company whose trade the work is.
const MAX_TRADE_WORDS: usize = 6;

impl MentionContext<'_> {
    /// Determines the speech act of a match.
    pub(super) fn speech_act(&self, hit: LexiconMatch) -> SpeechAct {
        if self.is_bare_figure(hit) {
            return SpeechAct::Statement;
        }
        match self.reading.grammar() {
            GrammarFamily::Western => self.western_speech_act(hit),
            GrammarFamily::Japanese => self.japanese_speech_act(hit),
            GrammarFamily::Chinese => self.chinese_speech_act(hit),
        }
    }

    /// Whether a figure is only mentioned, in a language whose nouns look like verbs: nothing in
    /// its sentence asks for it.
    fn is_bare_figure(&self, hit: LexiconMatch) -> bool {
        let behind = &self.reading.text()[hit.end..];
        let goes_on = ["する", "し", "を", "出", "求", "く"].iter().any(|verb| behind.starts_with(verb));
        if hit.sense != Sense::Work(Trigger::Aggregation) || self.reading.grammar() == GrammarFamily::Western || goes_on
        {
            return false;
        }
        let word = &self.reading.text()[hit.start..];
        if !FIGURES.iter().any(|figure| word.starts_with(figure)) {
            return false;
        }
        // 一共 62 份 and 上位50人 state a number of items.
        if behind.trim_start().starts_with(|next: char| next.is_ascii_digit()) {
            return true;
        }
        let sentence = self.sentence(hit);
        !self.matches.iter().any(|sign| {
            let asks = match sign.sense {
                Sense::Request | Sense::Grouping | Sense::Search | Sense::Instance | Sense::Repetition => true,
                Sense::WorkFrame(kind) | Sense::Work(kind) => kind == Trigger::Aggregation && sign.start != hit.start,
                _ => false,
            };
            asks && self.sentence(*sign) == sentence
        })
    }

    /// Decides by the preceding word: a request begins its clause, or follows `to`, `and`,
    /// `please`.
    fn western_speech_act(&self, hit: LexiconMatch) -> SpeechAct {
        let tokens = self.reading.tokens();
        let part = self.clause(hit);
        if matches!(self.reading.word(&tokens[hit.first_token]), "http" | "https") {
            return SpeechAct::Request;
        }
        if self.reading.word(&tokens[hit.first_token]) == "the" {
            return if self.is_asked_for(hit) { SpeechAct::Request } else { SpeechAct::Nominal };
        }
        if self.reading.text()[hit.end..].starts_with('-') {
            return SpeechAct::Nominal;
        }
        let mut at = hit.first_token;
        while at > 0 && tokens[at - 1].clause == part && is_filler(self.reading.word(&tokens[at - 1])) {
            at -= 1;
        }
        if at == 0 || tokens[at - 1].clause != part {
            return if hit.inflection == Inflection::Base { SpeechAct::Request } else { SpeechAct::Statement };
        }
        // `as CSV` and `via the API` say how the work is to be done.
        let is_how = matches!(
            self.reading.word(&tokens[hit.first_token]),
            "as" | "to" | "into" | "in" | "via" | "through" | "over" | "with"
        );
        if is_how && hit.end_token > hit.first_token + 1 {
            return SpeechAct::Request;
        }
        let before = self.reading.word(&tokens[at - 1]);
        let word = self.reading.word(&tokens[hit.first_token]);
        if (word.ends_with("ion") || word.ends_with("sis"))
            && hit.end_token == hit.first_token + 1
            && !self.is_asked_for(hit)
        {
            return SpeechAct::Nominal;
        }
        if before == "to" && self.is_addressed_to_others(at) {
            return SpeechAct::Statement;
        }
        match before {
            "to" | "and" | "then" | "or" | "must" | "should" | "can" | "need" | "let's" | "lets" | "me" | "i'll"
            | "you" | "we"
                if hit.inflection == Inflection::Base =>
            {
                if matches!(before, "we") {
                    SpeechAct::Statement
                } else {
                    SpeechAct::Request
                }
            }
            "a" | "an" | "the" | "this" | "that" | "my" | "our" | "your" | "his" | "her" | "its" | "their" | "of"
            | "about" | "on" | "for" | "in" | "with" | "no" | "some" | "any" | "at" | "by" | "from" => {
                if self.is_asked_for(hit) { SpeechAct::Statement } else { SpeechAct::Nominal }
            }
            _ if matches!(hit.sense, Sense::Work(Trigger::Aggregation)) && self.is_asked_for(hit) => SpeechAct::Request,
            _ => SpeechAct::Statement,
        }
    }

    /// Whether the words before `to` address other persons: `telling people to lint`.
    fn is_addressed_to_others(&self, at: usize) -> bool {
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

    /// Whether a match is work that is named by a noun.
    fn is_noun(&self, hit: LexiconMatch) -> bool {
        let word = &self.reading.text()[hit.start..hit.end];
        matches!(hit.sense, Sense::Work(_))
            && word.chars().all(|char| matches!(char, '\u{4e00}'..='\u{9fff}' | '\u{30a1}'..='\u{30ff}'))
    }

    /// Whether a noun is requested: `do a conversion`, `give me the total`.
    fn is_asked_for(&self, hit: LexiconMatch) -> bool {
        let part = self.clause(hit);
        let from = hit.first_token.saturating_sub(8);
        let before = self.reading.tokens()[from..hit.first_token].iter().filter(|token| token.clause == part);
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

    /// Decides by the following text: 変換の and 変換は are nominal, 変換して is a request.
    fn japanese_speech_act(&self, hit: LexiconMatch) -> SpeechAct {
        let text = self.reading.text();
        let behind = text.get(hit.end..).unwrap_or_default();
        let particle = ["の", "は", "が", "とは", "って", "に関", "につい", "という", "や", "なら", "なんて"];
        if behind.starts_with(continues_noun)
            && !PROCESS_NOUNS.iter().any(|process| behind.starts_with(process))
            && self.is_noun(hit)
        {
            return SpeechAct::Nominal;
        }
        let is_asked = ["のを", "の処理", "の実行", "の作業", "の方", "をお願", "もお願", "も頼", "もして"];
        if is_attributive(behind) && matches!(hit.sense, Sense::Work(_)) {
            return SpeechAct::Nominal;
        }
        if particle.iter().any(|particle| behind.starts_with(particle))
            && !is_asked.iter().any(|asked| behind.starts_with(asked))
            && hit.end > hit.start + 3
        {
            return SpeechAct::Nominal;
        }
        SpeechAct::Request
    }

    /// Whether the work is the trade of a person or a company: 変換を請け負う会社.
    pub(super) fn is_trade(&self, hit: LexiconMatch) -> bool {
        let part = self.clause(hit);
        let behind = self.reading.tokens()[hit.end_token..].iter().take(MAX_TRADE_WORDS);
        let words: Vec<&str> =
            behind.take_while(|token| token.clause == part).map(|token| self.reading.word(token)).collect();
        matches!(hit.sense, Sense::Work(_))
            && words.first() == Some(&"を")
            && words.windows(2).skip(1).any(|pair| {
                VERB_ENDINGS.iter().any(|end| pair[0].ends_with(end))
                    && TRADES.iter().any(|who| pair[1].starts_with(who))
            })
    }

    /// Whether the work is done by another person or by a thing: 负责核对, 解析告警的软件.
    fn is_done_by_others(&self, hit: LexiconMatch) -> bool {
        let part = self.clause(hit);
        let tokens = self.reading.tokens();
        let before = tokens[..hit.first_token].iter().rev().take(4).take_while(|token| token.clause == part);
        let before: Vec<&str> = before.map(|token| self.reading.word(token)).collect();
        let is_charged = before.iter().any(|word| matches!(*word, "负责" | "負責")) && !before.contains(&"你");
        let behind = tokens[hit.first_token..].iter().take(10).take_while(|token| token.clause == part).last();
        let behind = behind.map_or("", |token| self.reading.text().get(hit.end..token.end).unwrap_or_default());
        is_charged || behind.split('的').skip(1).any(|rest| ARTIFACT_NOUNS.iter().any(|thing| rest.starts_with(thing)))
    }

    /// Decides by the context: 的 makes it nominal, 请 and 把 make it a request.
    fn chinese_speech_act(&self, hit: LexiconMatch) -> SpeechAct {
        let text = self.reading.text();
        let behind = text.get(hit.end..).unwrap_or_default();
        let before = text.get(..hit.start).unwrap_or_default();
        if behind.starts_with(|next| AGENT_SUFFIXES.contains(next)) && self.is_noun(hit) && !behind.starts_with("部门")
        {
            return SpeechAct::Nominal;
        }
        if ARTIFACT_NOUNS.iter().any(|thing| behind.starts_with(thing)) && self.is_noun(hit) {
            return SpeechAct::Nominal;
        }
        if behind.starts_with('的') || before.ends_with('的') {
            return SpeechAct::Nominal;
        }
        if self.is_done_by_others(hit) {
            return SpeechAct::Nominal;
        }
        let part = self.clause(hit);
        let tokens = self.reading.tokens()[..hit.first_token].iter().rev().take_while(|token| token.clause == part);
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
        if is_told { SpeechAct::Statement } else { SpeechAct::Request }
    }
}

/// Whether a Japanese verb modifies a noun: 変換する装置, 抜き出した例文.
fn is_attributive(behind: &str) -> bool {
    let ended = VERB_ENDINGS.iter().find_map(|end| behind.strip_prefix(end));
    ended.is_some_and(|rest| {
        rest.starts_with(continues_noun)
            && !PROCESS_NOUNS.iter().chain(LINKING_WORDS).any(|link| rest.starts_with(link))
    })
}

/// Whether a noun continues with an ideograph or katakana, and so names a thing.
fn continues_noun(char: char) -> bool {
    matches!(char, '\u{4e00}'..='\u{9fff}' | '\u{30a1}'..='\u{30fa}')
}

/// Words that may precede the verb of a request.
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
