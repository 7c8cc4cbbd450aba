//! Kinds of texts as people have them: dates, addresses, tables, logs, sentences.
//!
//! Invariant: each kind is a small stock, so that things meet again: a word in a text and in a list, a name in two records. A hint
//! is a word in the name or the description of a parameter, in the languages that those are written in.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;

use super::inputs::any_of;

/// A kind of text, and the words that hint at it.
pub(super) struct Kind {
    pub(super) hints: &'static [&'static str],
    made: Made,
}

/// How texts of a kind are made.
enum Made {
    /// One of these.
    Listed(&'static [&'static str]),
    /// What matches this.
    Matching(&'static str),
    /// Some of these, one after the other, with this between them.
    Joined(&'static [&'static str], &'static str),
}

pub(super) const KINDS: [Kind; 30] = [
    Kind { hints: &["currency", "通貨", "货币"], made: Made::Listed(&["EUR", "USD", "JPY"]) },
    Kind {
        hints: &["field", "column", "by", "sort", "property", "フィールド", "字段"],
        made: Made::Matching("-?(a|b|id|name|age)"),
    },
    Kind {
        hints: &["delimiter", "separator", "区切り", "分隔"],
        made: Made::Listed(&[",", ";", "\t", "|", ".", "/", "-"]),
    },
    Kind {
        hints: &["id", "manager", "parent", "key", "code", "node", "番号", "编号"],
        made: Made::Listed(&["a", "b", "c", "d"]),
    },
    Kind {
        hints: &["date", "day", "holiday", "日付", "日期", "期日"],
        made: Made::Matching(
            "(2023|2024|2025)-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|2024-02-29|2024-12-31|2023-01-01|2021-01-03",
        ),
    },
    Kind {
        hints: &["time", "start", "end", "from", "until", "clock", "shift", "meeting", "時刻", "时间", "開始", "終了"],
        made: Made::Matching("(0[7-9]|1[0-9]):(00|10|15|29|30|45|52)"),
    },
    Kind {
        hints: &["timestamp", "datetime", "iso", "日時"],
        made: Made::Matching("202[3-5]-(0[1-9]|1[0-2])-(0[1-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"),
    },
    Kind {
        hints: &["hex", "colour", "color", "rgb", "色", "颜色"],
        made: Made::Matching("#?([0-9a-fA-F]{6}|[0-9a-f]{3}|(00|80|ff){3})"),
    },
    Kind {
        hints: &["mail", "address", "メール", "邮箱"],
        made: Made::Listed(&[
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
    Kind {
        hints: &["url", "uri", "link", "href", "base", "endpoint"],
        made: Made::Matching(
            "https?://[a-c]{1,2}\\.example\\.(com|org)(:8080)?(/[a-c]{1,2}){0,2}(\\?[ab]=[1-3](&[bc]=[x-z])?)?(#[a-c])?",
        ),
    },
    Kind { hints: &["query"], made: Made::Matching("[abc]=[0-3](&[abc]=[0-3]){0,3}") },
    Kind {
        hints: &["ip", "host", "cidr"],
        made: Made::Matching("(10|192|256|0)\\.(0|168|255)\\.[0-9]{1,2}\\.(1|7|254)(/(8|24|32))?"),
    },
    Kind {
        hints: &["isbn", "book", "図書", "书号"],
        made: Made::Listed(&[
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
    Kind {
        hints: &["card", "luhn", "number", "digits", "ean", "checksum", "番号", "号码", "卡号"],
        made: Made::Listed(&[
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
    Kind {
        hints: &["iban", "account", "bank", "口座", "银行", "账号"],
        made: Made::Listed(&[
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            "GB82WEST12345698765432",
            "GB82WEST12345698765431",
            "gb82west12345698765432",
            "FR1420041010050500013M02606",
            "XX00",
        ]),
    },
    Kind {
        hints: &["version", "semver", "release", "バージョン", "版本"],
        made: Made::Matching("v?[0-2]\\.(0|2|9|10)\\.[0-3](-(alpha|beta|rc)(\\.[1-9])?)?"),
    },
    Kind {
        hints: &["csv", "table", "tsv", "表"],
        made: Made::Joined(
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
    Kind {
        hints: &["ini", "config", "settings", "properties", "env", "設定", "配置"],
        made: Made::Joined(
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
    Kind {
        hints: &["markdown", "heading", "document", "文書", "文档"],
        made: Made::Joined(
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
    Kind {
        hints: &["log", "line", "ログ", "日志"],
        made: Made::Joined(
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
    Kind {
        hints: &["json"],
        made: Made::Listed(&[
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
    Kind {
        hints: &["text", "title", "sentence", "note", "message", "phrase", "文", "标题", "说明"],
        made: Made::Joined(
            &[
                "The", "the", "cat", "and", "Dog", "ran", "fast.", "Fast!", "to", "of", "Café", "don't", "e-mail", "a",
                "2024", "cat", "(old)", "x_y", "&", "über",
            ],
            " ",
        ),
    },
    Kind {
        hints: &["日本", "japanese", "文", "かな", "漢字"],
        made: Made::Joined(
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
    Kind {
        hints: &["中", "chinese", "词", "句"],
        made: Made::Joined(
            &[
                "中", "国", "人", "中国", "国人", "人民", "银行", "行长", "长城", "大", "大学", "学生", "生活", "，",
                "在", "3",
            ],
            "",
        ),
    },
    Kind {
        hints: &["template", "pattern", "format", "雛形", "模板"],
        made: Made::Joined(
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
    Kind {
        hints: &["roman", "numeral"],
        made: Made::Matching("M{0,2}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})"),
    },
    Kind {
        hints: &["amount", "price", "money", "金額", "金额"],
        made: Made::Listed(&[
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
    Kind {
        hints: &["duration", "interval", "timeout", "期間"],
        made: Made::Matching("([0-9]{1,2}h ?)?([0-9]{1,2}m ?)?([0-9]{1,2}s)?"),
    },
    Kind {
        hints: &["path", "file", "パス", "路径"],
        made: Made::Listed(&[
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
    Kind {
        hints: &["list", "before", "after", "diff", "old", "new"],
        made: Made::Joined(&["a", "b", "c", "a", "d", "", "ab"], "\n"),
    },
];

impl Kind {
    /// Texts of this kind.
    pub(super) fn texts(&self) -> Option<BoxedStrategy<String>> {
        Some(match self.made {
            Made::Listed(texts) => select(texts).prop_map(str::to_owned).boxed(),
            Made::Matching(pattern) => string_regex(pattern).ok()?.boxed(),
            Made::Joined(parts, between) => {
                let joined = move |parts: Vec<&str>| parts.join(between);
                let (few, many) = (vec(select(parts), 1..3), vec(select(parts), 0..8));
                any_of(vec![(2, few.prop_map(joined).boxed()), (3, many.prop_map(joined).boxed())])
            }
        })
    }
}
