//! Kinds of realistic texts: dates, addresses, tables, logs, sentences.
//!
//! Invariant: each kind draws from a small set, so that values recur: a word in a text and in a
//! list, a name in two records. A hint is a word in the name or description of a parameter, in the
//! languages of those.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;

use super::strategies::weighted_union;

/// A kind of text, and the words that hint at it.
pub(super) struct TextKind {
    pub(super) hints: &'static [&'static str],
    generator: Generator,
}

/// The generator of a kind of text.
enum Generator {
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A text that matches this regular expression.
    Pattern(&'static str),
    /// Some of these texts, joined by a separator.
    Joined(&'static [&'static str], &'static str),
}

pub(super) const TEXT_KINDS: [TextKind; 30] = [
    TextKind { hints: &["currency", "通貨", "货币"], generator: Generator::OneOf(&["EUR", "USD", "JPY"]) },
    TextKind {
        hints: &["field", "column", "by", "sort", "property", "フィールド", "字段"],
        generator: Generator::Pattern("-?(a|b|id|name|age)"),
    },
    TextKind {
        hints: &["delimiter", "separator", "区切り", "分隔"],
        generator: Generator::OneOf(&[",", ";", "\t", "|", ".", "/", "-"]),
    },
    TextKind {
        hints: &["id", "manager", "parent", "key", "code", "node", "番号", "编号"],
        generator: Generator::OneOf(&["a", "b", "c", "d"]),
    },
    TextKind {
        hints: &["date", "day", "holiday", "日付", "日期", "期日"],
        generator: Generator::Pattern(
            "(2023|2024|2025)-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|2024-02-29|2024-12-31|2023-01-01|2021-01-03",
        ),
    },
    TextKind {
        hints: &["time", "start", "end", "from", "until", "clock", "shift", "meeting", "時刻", "时间", "開始", "終了"],
        generator: Generator::Pattern("(0[7-9]|1[0-9]):(00|10|15|29|30|45|52)"),
    },
    TextKind {
        hints: &["timestamp", "datetime", "iso", "日時"],
        generator: Generator::Pattern(
            "202[3-5]-(0[1-9]|1[0-2])-(0[1-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z",
        ),
    },
    TextKind {
        hints: &["hex", "colour", "color", "rgb", "色", "颜色"],
        generator: Generator::Pattern("#?([0-9a-fA-F]{6}|[0-9a-f]{3}|(00|80|ff){3})"),
    },
    TextKind {
        hints: &["mail", "address", "メール", "邮箱"],
        generator: Generator::OneOf(&[
            "anna@example.com",
            "Anna@Example.com",
            "bob.b@mail.example.org",
            "a@b",
            "no-at.example.com",
            "a@@b.com",
            " x@y.de ",
            "bob+tag@example.co.jp",
            ".a@b.com",
            "a..b@c.com",
            "a@b..com",
            "a@-b.com",
            "é@b.com",
        ]),
    },
    TextKind {
        hints: &["url", "uri", "link", "href", "base", "endpoint"],
        generator: Generator::Pattern(
            "https?://[a-c]{1,2}\\.example\\.(com|org)(:8080)?(/[a-c]{1,2}){0,2}(\\?[ab]=[1-3](&[bc]=[x-z])?)?(#[a-c])?",
        ),
    },
    TextKind { hints: &["query"], generator: Generator::Pattern("[abc]=[0-3](&[abc]=[0-3]){0,3}") },
    TextKind {
        hints: &["ip", "host", "cidr"],
        generator: Generator::Pattern("(10|192|256|0)\\.(0|168|255)\\.[0-9]{1,2}\\.(1|7|254)(/(8|24|32))?"),
    },
    TextKind {
        hints: &["isbn", "book", "図書", "书号"],
        generator: Generator::OneOf(&[
            "978-3-16-148410-0",
            "9780306406157",
            "0-306-40615-2",
            "080442957X",
            "0306406152",
            "9780306406158",
            "0306406153",
            "978 0 306 40615 7",
            "979-10-90636-07-1",
            "0-8044-2957-X",
            "X804429570",
            "12345",
            "978030640615",
        ]),
    },
    TextKind {
        hints: &["card", "luhn", "number", "digits", "ean", "checksum", "番号", "号码", "卡号"],
        generator: Generator::OneOf(&[
            "4111 1111 1111 1111",
            "4111-1111-1111-1112",
            "79927398713",
            "79927398710",
            "0",
            "18",
            "59",
            "4006381333931",
            "5500000000000004",
            "5500000000000005",
            "12345674",
            "00000000",
            "1234",
        ]),
    },
    TextKind {
        hints: &["iban", "account", "bank", "口座", "银行", "账号"],
        generator: Generator::OneOf(&[
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            "GB82WEST12345698765432",
            "GB82WEST12345698765431",
            "gb82west12345698765432",
            "FR1420041010050500013M02606",
            "XX00",
        ]),
    },
    TextKind {
        hints: &["version", "semver", "release", "バージョン", "版本"],
        generator: Generator::Pattern("v?[0-2]\\.(0|2|9|10)\\.[0-3](-(alpha|beta|rc)(\\.[1-9])?)?"),
    },
    TextKind {
        hints: &["csv", "table", "tsv", "表"],
        generator: Generator::Joined(
            &[
                "a,b,c",
                "1,2,3",
                "x,\"y, z\",2.5",
                "\"q\"\"q\",true,",
                "b;c;d",
                "1\t2",
                "",
                "Anna,3,false",
                "\"two\nlines\",1,2",
                " s , t,u ",
            ],
            "\n",
        ),
    },
    TextKind {
        hints: &["ini", "config", "settings", "properties", "env", "設定", "配置"],
        generator: Generator::Joined(
            &[
                "[main]",
                "[other part]",
                "a=1",
                "b = two words",
                "c=3 ; note",
                "# note",
                "; note",
                "",
                "a = \"x\"",
                "flag",
                "key=a=b",
                "[main]",
                "d=1 # note",
            ],
            "\n",
        ),
    },
    TextKind {
        hints: &["markdown", "heading", "document", "文書", "文档"],
        generator: Generator::Joined(
            &[
                "# Title",
                "## Part one",
                "## Part one",
                "### Deep & down",
                "text with **bold** and `code`",
                "```",
                "# no heading",
                "- item",
                "#### Deeper",
                "",
                "#Tight",
                "[link](https://example.com)",
                "> quote",
            ],
            "\n",
        ),
    },
    TextKind {
        hints: &["log", "line", "ログ", "日志"],
        generator: Generator::Joined(
            &[
                "2024-05-01T12:00:00Z ERROR db: connection lost",
                "2024-05-01T12:00:01Z INFO web: started",
                "2024-05-01 12:00:02 WARN web slow",
                "[INFO] web started",
                "[ERROR] db: timeout",
                "INFO db ok",
                "ERROR web failed",
                "GET /a 200 12",
                "no level here",
                "",
                "2024-05-02T08:30:00Z DEBUG web: x=1",
                "WARN db full",
            ],
            "\n",
        ),
    },
    TextKind {
        hints: &["json"],
        generator: Generator::OneOf(&[
            "{}",
            "[]",
            "{\"a\":1}",
            "{\"b\":2,\"a\":{\"c\":[1,2]}}",
            "[1,\"x\",null]",
            "[{\"a\":1},{\"a\":2}]",
            "{a:1}",
            "\"x\"",
            "12",
        ]),
    },
    TextKind {
        hints: &["text", "title", "sentence", "note", "message", "phrase", "文", "标题", "说明"],
        generator: Generator::Joined(
            &[
                "The", "the", "cat", "and", "Dog", "ran", "fast.", "Fast!", "to", "of", "Café", "don't", "e-mail", "a",
                "2024", "cat", "(old)", "x_y", "&", "über",
            ],
            " ",
        ),
    },
    TextKind {
        hints: &["日本", "japanese", "文", "かな", "漢字"],
        generator: Generator::Joined(
            &[
                "私",
                "は",
                "東京",
                "タワー",
                "へ",
                "行った",
                "。",
                "りんご",
                "を",
                "食べる",
                "日本語",
                "です",
                "3",
                "個",
                "ABC",
                "、",
                "カメラ",
                "買い",
                "ます",
            ],
            "",
        ),
    },
    TextKind {
        hints: &["中", "chinese", "词", "句"],
        generator: Generator::Joined(
            &[
                "中", "国", "人", "中国", "国人", "人民", "银行", "行长", "长城", "大", "大学", "学生", "生活", "，",
                "在", "3",
            ],
            "",
        ),
    },
    TextKind {
        hints: &["template", "pattern", "format", "雛形", "模板"],
        generator: Generator::Joined(
            &[
                "Hello {{name}}",
                "{{ a }}",
                "{{a.b}}",
                "{name}",
                "${name}",
                "{{missing}}",
                "{{",
                "}}",
                "%s",
                "text",
                "{{b}}{{a}}",
                "{0}",
            ],
            " ",
        ),
    },
    TextKind {
        hints: &["roman", "numeral"],
        generator: Generator::Pattern("M{0,2}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})"),
    },
    TextKind {
        hints: &["amount", "price", "money", "金額", "金额"],
        generator: Generator::OneOf(&[
            "1,234.56",
            "$12.50",
            "12.5 USD",
            "USD",
            "EUR",
            "JPY",
            "0.10",
            "-3",
            "1.234,56 €",
            "¥1,000",
        ]),
    },
    TextKind {
        hints: &["duration", "interval", "timeout", "期間"],
        generator: Generator::Pattern("([0-9]{1,2}h ?)?([0-9]{1,2}m ?)?([0-9]{1,2}s)?"),
    },
    TextKind {
        hints: &["path", "file", "パス", "路径"],
        generator: Generator::OneOf(&[
            "a/b.txt",
            "/a/b/../c.md",
            "./x",
            "C:\\a\\b.txt",
            "a//b",
            "archive.tar.gz",
            ".hidden",
            "no-ending",
            "/",
            "",
        ]),
    },
    TextKind {
        hints: &["list", "before", "after", "diff", "old", "new"],
        generator: Generator::Joined(&["a", "b", "c", "a", "d", "", "ab"], "\n"),
    },
];

impl TextKind {
    /// Returns the strategy for texts of this kind.
    pub(super) fn strategy(&self) -> Option<BoxedStrategy<String>> {
        Some(match self.generator {
            Generator::OneOf(texts) => select(texts).prop_map(str::to_owned).boxed(),
            Generator::Pattern(pattern) => string_regex(pattern).ok()?.boxed(),
            Generator::Joined(parts, between) => {
                let joined = move |parts: Vec<&str>| parts.join(between);
                let (few, many) = (vec(select(parts), 1..3), vec(select(parts), 0..8));
                weighted_union(vec![(2, few.prop_map(joined).boxed()), (3, many.prop_map(joined).boxed())])
            }
        })
    }
}
