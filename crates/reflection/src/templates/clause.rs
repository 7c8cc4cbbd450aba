//! Splits a task into clauses, and finds those that ask for nothing: what the result is for, and conventions.
//!
//! Invariant: a clause is a purpose only if it names a place where results are shown or used, and nothing else. A clause is
//! a convention only if each of its words belongs to it; the template must keep the convention.

use std::ops::Range;

use super::token::quoted_end;

/// The longest task that is split, in bytes. A longer one is more than a request for one small tool.
const MAX_SPLIT_BYTES: usize = 4_000;

/// A list of words, separated by spaces.
#[derive(Clone, Copy)]
struct Words(&'static str);

impl Words {
    fn iter(self) -> impl Iterator<Item = &'static str> {
        self.0.split_whitespace()
    }

    fn contains(self, word: &str) -> bool {
        self.iter().any(|known| known == word)
    }
}

/// A task without the clauses that ask for nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The task without purposes.
    pub(super) text: String,
    /// The task without purposes and conventions, if it has a convention.
    pub(super) core: Option<String>,
    /// The conventions, which the template must keep.
    pub(super) conventions: Vec<Convention>,
}

/// A clause of a task.
struct Clause<'a> {
    words: &'a str,
    /// The mark behind it.
    mark: &'a str,
    /// The words in lower case.
    lower: String,
}

impl<'a> Clause<'a> {
    fn new(task: &'a str, words: &Range<usize>, end: usize) -> Self {
        let (mark, words) = (&task[words.end..end], &task[words.clone()]);
        Self { words, mark, lower: words.trim().to_lowercase() }
    }
}

/// A statement about how the task is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Convention {
    /// The result has one of these JSON types.
    Returns(&'static [&'static str]),
    /// The result has the order of the input.
    KeepsOrder,
    /// Dates are written as `YYYY-MM-DD`.
    IsoDates,
    /// A last part that is smaller than the others is part of the result.
    KeepsRemainder,
    /// What is not the subject of the task stays as it is.
    LeavesRest,
    /// It takes so many arguments.
    Takes(usize),
}

const BOOLEAN: Convention = Convention::Returns(&["boolean"]);
const ARRAY: Convention = Convention::Returns(&["array"]);
const OBJECT: Convention = Convention::Returns(&["object"]);
const STRING: Convention = Convention::Returns(&["string"]);
const NUMBER: Convention = Convention::Returns(&["number", "integer"]);

impl Request {
    /// Splits a task.
    pub(super) fn parse(task: &str) -> Self {
        if task.len() > MAX_SPLIT_BYTES {
            return Self { text: task.to_owned(), core: None, conventions: Vec::new() };
        }
        let (mut text, mut core, mut conventions) = (String::new(), String::new(), Vec::new());
        let all: Vec<Clause<'_>> =
            clauses(task).into_iter().map(|(words, end)| Clause::new(task, &words, end)).collect();
        let mut at = 0;
        while let Some(clause) = all.get(at) {
            let is_first = at.checked_sub(1).is_none_or(|before| all[before].mark.contains(['.', ';', '(', '\n']));
            if let Some((count, taken)) = is_first.then(|| arguments(&all[at..])).flatten() {
                for Clause { words, mark, .. } in &all[at..at + taken] {
                    text.extend([*words, mark]);
                    core.push_str(mark);
                }
                conventions.push(Convention::Takes(count));
                at += taken;
                continue;
            }
            at += 1;
            let Clause { words, mark, lower } = clause;
            if is_purpose(lower) {
                text.push_str(mark);
                core.push_str(mark);
                continue;
            }
            let rest = without_purpose(words);
            text.extend([rest, mark]);
            match convention(lower) {
                Some(convention) => conventions.push(convention),
                None => core.push_str(rest),
            }
            core.push_str(mark);
        }
        let core = (!conventions.is_empty()).then_some(core);
        Self { text, core, conventions }
    }
}

/// Returns the clauses of a text, each with the end of the mark behind it.
fn clauses(text: &str) -> Vec<(Range<usize>, usize)> {
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(char) = text[at..].chars().next() {
        let next = at + char.len_utf8();
        if let Some(len) = quoted_end(&text[at..], &text[..at]) {
            at += len;
            continue;
        }
        // `1.10`, `12:30` and `1,000` are no ends.
        let is_spaced = text[next..].chars().next().is_none_or(char::is_whitespace);
        let ends = match char {
            '.' | ',' | ':' | '!' | '?' => is_spaced,
            ';' | '(' | ')' | '\n' | '—' | '–' | '。' | '、' | '，' | '；' | '：' | '（' | '）' | '！' | '？' => {
                true
            }
            _ => false,
        };
        if ends {
            found.push((start..at, next));
            start = next;
        }
        at = next;
    }
    found.push((start..text.len(), text.len()));
    found
}

/// Words of the names of arguments. The set is closed: another word may ask for something.
const ARGUMENT_WORDS: Words = Words(
    "a an the of in list array numbers number values value text string word words record records object objects key keys \
     field name n k x size length width window separator delimiter low high min max minimum maximum lower upper bound bounds \
     date dates day days month months year years birth start end time seconds minutes hours principal rate percent amount \
     price weight weights height grades scores index position step shift offset base digits kg cm km cents euros whole annual \
     yearly template prefix suffix pattern",
);

/// Whether a text is the name of an argument.
fn is_argument(text: &str) -> bool {
    !text.is_empty() && text.split_whitespace().all(|word| ARGUMENT_WORDS.contains(word))
}

/// Returns the number of arguments that a sentence names, and the number of its clauses: `args: value, low, high`, or
/// `list first, then n`.
fn arguments(sentence: &[Clause<'_>]) -> Option<(usize, usize)> {
    let [first, others @ ..] = sentence else { return None };
    if ["args", "arguments"].contains(&first.lower.as_str()) && first.mark == ":" {
        let last = others.iter().position(|clause| clause.mark != ",")?;
        return others[..=last].iter().all(|clause| is_argument(&clause.lower)).then_some((last + 1, last + 2));
    }
    let name = first.lower.strip_suffix(" first").or_else(|| first.lower.strip_prefix("first the "))?;
    let next = others.first()?.lower.strip_prefix("then ")?;
    (first.mark == "," && is_argument(name) && is_argument(next)).then_some((2, 2))
}

/// Where results are shown or used, in English.
const PLACES_EN: Words = Words(
    "admin api app backend badge banner blog catalogue chart checkout ci cli console dashboard demo display \
     docs documentation export footer form frontend game graph header homepage invoice invoices label labels \
     leaderboard legend logs mockup newsletter overview page panel plot preview prototype readme receipt \
     report reports script shop sidebar site slide slides summary template ticket tooltip ui website widget",
);

/// Where results are shown or used, in Japanese.
const PLACES_JA: Words = Words(
    "画面 レポート 帳票 資料 表示 チェック 請求書 見積書 領収書 フォーム ページ サイト アプリ ダッシュボード \
     グラフ スライド ブログ ニュースレター ウィジェット 管理画面 集計表 一覧 バナー ラベル 発表 デモ",
);

/// Where results are shown or used, in Chinese.
const PLACES_ZH: Words = Words(
    "页面 报表 报告 表单 看板 界面 前端 后台 网站 图表 发票 账单 周报 月报 仪表盘 幻灯片 博客 公众号 小程序 \
     海报 标签 首页",
);

/// What follows a determiner in a purpose.
const DETERMINERS: Words = Words("a an his my our the their this");

/// What a purpose begins with if it is a sentence of its own.
const PURPOSE_STARTS_EN: &[&str] = &[
    "for",
    "it's for",
    "it is for",
    "this is for",
    "that's for",
    "that is for",
    "needed for",
    "used for",
    "used in",
    "i need it for",
    "i need this for",
    "i use it in",
    "it goes into",
    "goes into",
];

/// What a purpose ends with in Japanese.
const PURPOSE_ENDS_JA: &[&str] = &[
    "に使います",
    "で使います",
    "に使いたいです",
    "に使いたい",
    "に使うため",
    "に使うので",
    "に使う",
    "で使う",
    "に載せます",
    "に貼ります",
    "のためです",
    "のため",
    "用です",
    "用",
    "向けです",
    "向け",
];

/// What a purpose begins with in Chinese.
const PURPOSE_STARTS_ZH: &[&str] =
    &["用于", "用在", "用来做", "是给", "要给", "给", "为了", "放在", "放到", "显示在", "展示在", "做"];

/// Whether a clause, in lower case, says what the result is for, and nothing else.
fn is_purpose(clause: &str) -> bool {
    let english = PURPOSE_STARTS_EN
        .iter()
        .any(|start| clause.strip_prefix(start).and_then(|rest| rest.strip_prefix(' ')).is_some_and(is_place_en));
    english || is_purpose_ja(clause) || is_purpose_zh(clause)
}

/// Whether a text is a determiner, at most three words, and a place.
fn is_place_en(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [first, middle @ .., last] = words.as_slice() else { return false };
    let is_word = |word: &&str| word.chars().all(|char| char.is_alphabetic() || char == '-' || char == '\'');
    DETERMINERS.contains(first)
        && middle.len() <= 3
        && middle.iter().all(is_word)
        && !middle.iter().any(|word| ["of", "in", "with", "and", "or", "each", "every", "only", "to"].contains(word))
        && PLACES_EN.contains(last)
}

fn is_purpose_ja(clause: &str) -> bool {
    let Some(stem) = PURPOSE_ENDS_JA.iter().find_map(|end| clause.strip_suffix(end)) else { return false };
    // A verb, a particle of an object, or a condition says more.
    let says_more = ["を", "て", "し", "る", "た", "だけ", "のみ", "以外", "ごと", "別", "ない", "は"]
        .iter()
        .any(|part| stem.contains(part));
    stem.chars().count() <= 16 && !says_more && PLACES_JA.iter().any(|place| stem.ends_with(place))
}

fn is_purpose_zh(clause: &str) -> bool {
    let Some(rest) = PURPOSE_STARTS_ZH.iter().find_map(|start| clause.strip_prefix(start)) else { return false };
    let rest = ["里面", "上面", "中用", "上用", "用的", "上", "里", "中", "用"]
        .iter()
        .find_map(|end| rest.strip_suffix(end))
        .unwrap_or(rest);
    let says_more = ["只", "除", "不", "按", "每", "把", "将", "转", "算", "求", "去", "从", "排", "合", "统", "变"]
        .iter()
        .any(|part| rest.contains(part));
    rest.chars().count() <= 8 && !says_more && PLACES_ZH.iter().any(|place| rest.ends_with(place))
}

/// Returns a clause without the purpose at its end: `… for the marine forecast widget`.
fn without_purpose(clause: &str) -> &str {
    let lower = clause.to_ascii_lowercase();
    match lower.rfind(" for ") {
        Some(at) if is_place_en(lower[at + " for ".len()..].trim()) => &clause[..at],
        _ => clause,
    }
}

/// Returns the convention that a clause, in lower case, states.
fn convention(clause: &str) -> Option<Convention> {
    english_convention(clause).or_else(|| {
        let spaceless: String = clause.chars().filter(|char| !char.is_whitespace()).collect();
        unspaced_convention(&spaceless)
    })
}

/// Words that are in many statements about a result.
const RESULT_WORDS: Words = Words(
    "a an as back be either expect get give gives giving i is it just me need only or output outputs plain \
     result return returning returns should simply the want",
);

/// Words that are in statements about the order.
const ORDER_WORDS: Words = Words(
    "and appear appearance appeared as be came come first in input is it keep keeping keeps kept maintain \
     maintaining must occurrence of order original preserve preserved preserves preserving same should stay \
     stays that the them they",
);

/// Words of these that say which order it is.
const ORDER_OF_INPUT: Words = Words(
    "appear appearance appeared came input keep keeping keeps kept maintain maintaining original preserve \
     preserved preserves preserving",
);

/// Words that are in statements about a last part that is smaller.
const REMAINDER_WORDS: Words =
    Words("allowed batch be can chunk group incomplete is last may might one part piece shorter smaller the to");

/// Words that are in statements about what stays as it is.
const REST_WORDS: Words = Words(
    "all alone and anything are as case characters else everything is it keep keeping leave leaving other \
     rest same stay stays the they unchanged untouched",
);

/// Words that are in statements about the format of dates.
const DATE_WORDS: Words = Words(
    "a all are as both date dates form format formatted given in input inputs is iso string strings the \
     written",
);

fn english_convention(clause: &str) -> Option<Convention> {
    let words: Vec<&str> =
        clause.split(|char: char| char.is_whitespace() || char == '/').filter(|word| !word.is_empty()).collect();
    if words.is_empty() || words.len() > 12 {
        return None;
    }
    if words.contains(&"order") && words.iter().all(|word| ORDER_WORDS.contains(word)) {
        return words.iter().any(|word| ORDER_OF_INPUT.contains(word)).then_some(Convention::KeepsOrder);
    }
    if words.contains(&"yyyy-mm-dd") && words.iter().all(|word| *word == "yyyy-mm-dd" || DATE_WORDS.contains(word)) {
        return Some(Convention::IsoDates);
    }
    if words.contains(&"last") && words.iter().all(|word| REMAINDER_WORDS.contains(word)) {
        let is_smaller = words.iter().any(|word| ["shorter", "smaller", "incomplete"].contains(word));
        return is_smaller.then_some(Convention::KeepsRemainder);
    }
    if words.iter().all(|word| REST_WORDS.contains(word)) {
        let names_rest =
            words.windows(2).any(|two| matches!(two, ["everything" | "anything", "else"] | ["the", "rest"]))
                || words.windows(2).any(|two| matches!(two, ["other", "characters"]));
        let stays = ["leave", "leaving", "keep", "keeping", "stays", "stay", "unchanged", "untouched", "alone"];
        return (names_rest && words.iter().any(|word| stays.contains(word))).then_some(Convention::LeavesRest);
    }
    let said: Vec<&str> = words.iter().copied().filter(|word| !RESULT_WORDS.contains(word)).collect();
    // `text` alone is what something is about.
    let states_result = |word: &&str| {
        ["as", "give", "gives", "giving", "result", "expect"].contains(word)
            || word.starts_with("return")
            || word.starts_with("output")
    };
    match *said.as_slice() {
        ["boolean" | "bool"] | ["true", "false"] => Some(BOOLEAN),
        _ if !words.iter().any(states_result) => None,
        ["array" | "list"] => Some(ARRAY),
        ["object"] => Some(OBJECT),
        ["string" | "text"] => Some(STRING),
        ["number" | "integer"] => Some(NUMBER),
        _ => None,
    }
}

/// The parts of statements in Japanese and Chinese: of a statement about the result, the order, and the format of dates.
/// The longer ones come first.
const RESULT_PARTS: Words = Words(
    "返してください 返してほしい 返すこと 返します 返して 返す がほしい として 結果は 結果を を で に する \
     して です 返回 输出 给出 得到 结果 为 是 用 一个 即可 就行 就好 か または 或者 或",
);
const REST_PARTS: Words = Words(
    "ほかの文字 他の文字 その他の文字 それ以外の文字 それ以外 その他 ほか 他 は を 変えない 変えず 変更しない \
     そのまま まま 残す にする で です 其他字符 其他 其余 别的 都 不变 不动 保持 原样 保留 字符",
);
const ORDER_PARTS: Words = Words(
    "最初に 最初 出てきた 現れた 出現 元 入力 順番 順序 並び順 並び 順 は を の で に が そのまま まま 保つ \
     保って 保ち 保持 維持 する して 変えない 変えず こと ください ほしい です 按照 按 照 保留 维持 原来 原有 \
     原 首次 第一次 出现 输入 的 先后 顺序 次序 不变 即可 返回",
);
const DATE_PARTS: Words = Words(
    "yyyy-mm-dd 日付 すべて どちらも 両方 とも 形式 文字列 は の です で 渡す 日期 格式 都 均 是 为 的 形如 \
     形式 字符串 两个 输入 也 、 が",
);

fn unspaced_convention(clause: &str) -> Option<Convention> {
    let has = |parts: &[&str]| parts.iter().any(|part| clause.contains(part));
    if clause.is_empty()
        || clause.len() > 120
        || !has(&[
            "順",
            "顺序",
            "次序",
            "先后",
            "yyyy",
            "返",
            "输出",
            "真偽値",
            "布尔",
            "他",
            "ほか",
            "それ以外",
            "其",
            "别的",
        ])
    {
        return None;
    }
    let states_order = has(&[
        "保",
        "まま",
        "維持",
        "变",
        "変え",
        "元",
        "出てき",
        "現れ",
        "出現",
        "入力",
        "维持",
        "原",
        "出现",
        "输入",
    ]);
    if has(&["順", "顺序", "次序", "先后"]) && states_order && is_made_of(clause, ORDER_PARTS, &[]) {
        return Some(Convention::KeepsOrder);
    }
    if clause.contains("yyyy-mm-dd") && is_made_of(clause, DATE_PARTS, &[]) {
        return Some(Convention::IsoDates);
    }
    let names_rest = has(&["ほか", "他", "それ以外", "其余", "别的"]);
    if names_rest
        && has(&["変え", "変更", "まま", "残す", "不", "保持", "原样", "保留"])
        && is_made_of(clause, REST_PARTS, &[])
    {
        return Some(Convention::LeavesRest);
    }
    let kinds: [(&[&'static str], Convention); 5] = [
        (&["真偽値", "布尔值", "true", "false"], BOOLEAN),
        (&["配列", "リスト", "数组", "列表"], ARRAY),
        (&["オブジェクト", "对象"], OBJECT),
        (&["文字列", "字符串"], STRING),
        (&["数値", "数字", "整数", "数值"], NUMBER),
    ];
    kinds.into_iter().find(|(forms, _)| has(forms) && is_made_of(clause, RESULT_PARTS, forms)).map(|(_, it)| it)
}

/// Whether a text is made of these parts alone: of the longest first.
fn is_made_of(text: &str, parts: Words, forms: &[&'static str]) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let all = parts.iter().chain(forms.iter().copied());
        match all.filter(|part| rest.starts_with(part)).max_by_key(|part| part.len()) {
            Some(part) => rest = &rest[part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_left_out() {
        let check = |task: &str, expect: &str| assert_eq!(Request::parse(task).text.trim(), expect, "{task}");
        check("Convert knots to km/h for the marine forecast widget", "Convert knots to km/h");
        check("For the dashboard: sort these numbers", ": sort these numbers");
        check("Count the words. It's for our weekly report.", "Count the words..");
        check("文字数を数える。原稿の分量チェックに使います", "文字数を数える。");
        check("计算平均值，用于周报", "计算平均值，");
        check("算出平均值，放到页面上", "算出平均值，");
    }

    #[test]
    fn what_may_change_the_task_is_no_purpose() {
        for task in [
            "Sum the amounts for the customer",
            "Sum the amounts for each invoice",
            "Count the words for all but the first page",
            "Sort by age for the people with a badge",
            "Average the scores for the report of May",
            "重複を取り除き、CSVに変換してレポートに使います",
            "重複を取り除く。2行目以外はレポート用",
            "去重，给定一个列表",
            "求和，按页面统计后用于报表",
        ] {
            let request = Request::parse(task);
            assert_eq!((request.text.as_str(), request.core), (task, None), "{task}");
        }
    }

    #[test]
    fn a_convention_is_told_from_a_request() {
        let check = |task: &str, expect: &[Convention]| assert_eq!(Request::parse(task).conventions, expect, "{task}");
        check("Remove duplicates, keep the order", &[Convention::KeepsOrder]);
        check("Remove duplicates; the original order must be preserved.", &[Convention::KeepsOrder]);
        check("重複を取り除く。最初に出てきた順番は保つこと", &[Convention::KeepsOrder]);
        check("列表去重，保持原来的顺序", &[Convention::KeepsOrder]);
        check("Is it a leap year? Return true or false", &[BOOLEAN]);
        check("回文かどうかを調べて、真偽値を返す", &[BOOLEAN]);
        check("判断是不是闰年，返回 true 或 false", &[BOOLEAN]);
        check("Days between two dates, both in YYYY-MM-DD format, as a number", &[Convention::IsoDates, NUMBER]);
        check("两个日期相差几天，格式都是 YYYY-MM-DD", &[Convention::IsoDates]);
        check("Split into chunks of n, the last chunk may be shorter", &[Convention::KeepsRemainder]);
        check("ひらがなをカタカナに変換する。ほかの文字は変えない", &[Convention::LeavesRest]);
        check("平假名转片假名，其余不变", &[Convention::LeavesRest]);
        check("rot13 a text, leave everything else alone", &[Convention::LeavesRest]);
        for task in [
            "Split into chunks of n, drop the last one",
            "Upper case the first word, keep it",
            "Remove duplicates, sorted order",
            "Remove duplicates, reverse the order",
            "Remove duplicates, order by name",
            "重複を取り除く。逆の順番にする",
            "去重，按年龄的顺序",
            "Count the words, return the longest one",
            "Days between two dates in DD.MM.YYYY",
            "真偽値を数えて返す",
        ] {
            check(task, &[]);
        }
    }

    #[test]
    fn names_of_arguments_are_told_from_requests() {
        let check = |task: &str, expect: &[Convention]| assert_eq!(Request::parse(task).conventions, expect, "{task}");
        check("clamp a number. args: value, low, high", &[Convention::Takes(3)]);
        check("Split a list into chunks of n. List first, then n.", &[Convention::Takes(2)]);
        for task in [
            "Average the scores. Args: drop lowest, drop highest",
            "sort a list of numbers. args: numbers, skip zeros",
            "Reverse the text. Arguments: text, without spaces",
            "sort these, then sum them",
            "Join two lists. First the second list, then the first list",
            "Reverse the text. Sort ascending first, then the words",
            "add up the numbers in a list (1-3)",
        ] {
            check(task, &[]);
        }
    }

    #[test]
    fn quoted_text_and_numbers_are_not_split() {
        let task = "Split the text at \", \" and at 1.5 or 12:30";
        assert_eq!(clauses(task).len(), 1);
        assert_eq!(Request::parse(task), Request { text: task.to_owned(), core: None, conventions: Vec::new() });
        let long = "keep the order, ".repeat(10_000);
        assert_eq!(Request::parse(&long).core, None);
    }
}
