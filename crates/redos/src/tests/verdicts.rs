//! Patterns with a known verdict, grouped by its cause.

use super::Is::{Exponential, Polynomial, Safe, SlowToFind};
use super::expect;

#[test]
fn harmless_patterns_are_safe() {
    expect(
        Safe,
        "",
        &[
            r"^\d{4}-\d{2}-\d{2}$",
            r"^[a-z]+(-[a-z]+)*$",
            r"(?:ab+c)+",
            r"^(\d{1,3}\.){3}\d{1,3}$",
            r"(\d{1,3}\.){3}",
            r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?",
            r#""(?:[^"\\]|\\.)*""#,
            r"^#?([0-9a-f]{3}|[0-9a-f]{6})$",
            r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/",
            r"[^,]+",
            r"\b\w+\b",
            r"<[^>]+>",
            r"^https?:\/\/[^\s/$.?#].[^\s]*$",
            r"([A-Z])",
            r"^\s*#",
            r",\s*",
            r"(\d)(?=(\d{3})+$)",
            r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{8,}$",
            r"^[\w.+-]{1,64}@[a-z\d-]{1,63}\.[a-z]{2,24}$",
            r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
            r"^[0-9a-f]{32}[0-9a-f]{32}$",
            r"^(?:[a-z]{1,10}\.){1,5}[a-z]{2,10}$",
            r"^([a-z]{1,4}){1,4}$",
            r"^(?:(?!-->).)*$",
            r"(['`])(?:(?!\1)[^\\]|\\.)*\1",
            r"^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)$",
            r"^(?:a|b|ab)?c$",
            r"^(?:foo|bar|baz)(?:,(?:foo|bar|baz))*$",
            r"^(?:[01]\d|2[0-3]):[0-5]\d$",
            r"^[^\s@]+@[^\s@]+$",
            r"(?<=\$)\d+(?:\.\d\d)?",
            r"(?<year>\d{4})-\k<year>",
            r"^(?:\b\w+\b\s*|\w)*;",
            "",
            "a|b|",
            "^$",
            r"[^\\]",
        ],
    );
    expect(Safe, "g", &[r"\s+"]);
    expect(Safe, "u", &[r"[^\p{L}\p{N}]+", r"^\p{Lu}\p{Ll}*(?:\s\p{Lu}\p{Ll}*)*$", r"\u{1F600}+"]);
    expect(Safe, "v", &[r"[\p{L}--[a-z]]+", r"[[a-z]&&[aeiou]]+", r"^[\q{abc|d}x]$"]);
    expect(Safe, "i", &["^[a-z]+(?:_[A-Z]+)*$"]);
    expect(Safe, "y", &[r"\s+$", "[a-z]+@"]);
}

#[test]
fn a_match_that_cannot_fail_is_not_slow() {
    expect(
        Safe,
        "",
        &["(a+)+", "(a|a)*", "(?:a|aa)+b?", "(.*)*", "(?:a|(a+)+b)", r"\s*(\w*\s*)*", "^(?:(a+)+|b)", "(x+x+)+y?"],
    );
    // The rest matches anything, even newlines.
    expect(Safe, "s", &["^(a+)+.*$"]);
}

#[test]
fn two_ways_around_a_loop_are_exponential() {
    expect(
        Exponential,
        "",
        &[
            "(a+)+$",
            "(a|aa)+$",
            "(a|a)*b",
            r"(\w+\s?)*$",
            "^(([a-z])+.)+[A-Z]([a-z])+$",
            "(.*)*x",
            "([a-zA-Z0-9_.-]+)*@",
            r"\s*(\w*\s*)*;",
            "(x+x+)+y",
            r"^(\d+)*$",
            r"^(?:\w|\d)+!",
            r"^(?:[^b]|a)*[ab]b$",
            "^(a*)*?$",
            "^(?:a?b?)*c",
            "^((a|b)*(a|c)*)*d",
            r"^(?:.*,)*\d$",
            "^(?:(?:a+)+|b+)+c",
            "^(?:a|b|ab)*c$",
            "(a+){10,}b",
            r"(?:(\d+)[,.]?)*$",
            r"^([a-z]*)*\1!",
            "a(?:b|b)*c(?:d|d)*e",
            "^x{3}(?:y+)*z$",
        ],
    );
    expect(Exponential, "i", &["^(?:a|A)+$", "^(?:[é]|É)+!"]);
    expect(Exponential, "s", &["^(?:.|\\n)+$\\b"]);
    expect(Exponential, "m", &["^(?:a+)+$"]);
    expect(Exponential, "u", &[r"^(?:\p{L}|\w)+$", r"^(?:😀|\u{1F600})+$"]);
    expect(Exponential, "v", &[r"^(?:[\p{L}--[x]]|a)+$"]);
    expect(Exponential, "y", &["(a+)+$"]);
}

#[test]
fn bounds_that_are_high_do_not_help() {
    expect(
        Exponential,
        "",
        &[
            "^(a?){50}a{50}$",
            "^(a?){30}$",
            "^(a{0,100}){0,100}$",
            "^(a{0,20}){0,20}$",
            "^(?:a|a){30}b",
            r"^(?:\w{1,10}){1,20}$",
            "^(?:a{1,5}){10,40}b",
        ],
    );
    expect(Polynomial(3), "", &["^(a+){4}$", "^(?:a{0,100}){0,4}$"]);
    expect(Safe, "", &[r"^\d{1,30}\d{1,30}$", r"^\s*.{1,200}!", r"^\w{0,50}\w{0,50}\w{0,50}$"]);
}

#[test]
fn what_is_in_lookarounds_counts() {
    expect(
        Exponential,
        "",
        &[
            "(?=(a+)+b)",
            "^(?!(?:a|a)*b)",
            "(?<=^(a+)+b)c",
            "(?<!x(?:a|a)*)b",
            "^a*(?=(?:b+)+c)",
            "^(?:(a+)+b|.)*$",
            "(?:(a+)+b)?",
            "(?:(a+)+b|a)",
        ],
    );
    expect(Polynomial(2), "", &["^(?:(?!.*foo).)*$", "^a*(?=a*b)"]);
}

#[test]
fn loops_one_after_the_other_are_polynomial() {
    expect(
        Polynomial(2),
        "",
        &[
            r"^\d+\d+$",
            r"^\s*\w*\s*\w*$",
            r"^(a+)\1$",
            r"^(.*?),(.*?),(.*?)!$",
            r"^@.+:.*$",
            "^a*b?a*$",
            "^(?:ab)*(?:ab)*c",
            "(`+)(?:.|\\n)*?\\1",
            "(\\.\\d+?)0+(?=e|$)",
        ],
    );
    expect(Polynomial(3), "", &[".*.*=.*", r"^\d*\d*\d*$", "^a*a*a*a*$", r"(.+)\[([^\]]+)\]\.?(.*)$"]);
}

#[test]
fn a_loop_in_a_loop_is_safe_where_each_text_has_one_reading() {
    expect(
        Safe,
        "",
        &[
            r"^(?:\([^()]*\)|[^()])*$",
            r"^(?:\w+,)*\w+$",
            r"^((\w+)=(\w+);)*$",
            r"^(?:(?:\d+,)+\n)*$",
            "^(?:a+b+)+$",
            "^(?:a{2}){2,}$",
            "^(?:a{3}|b{3})+$",
            r"^(?:\w{3}\s?)+$",
            r"^(\w+\s)+\w+@",
            "^(?:[^<]|<(?!br>))*$",
            r#"^(?:[^"]*"[^"]*")*[^"]*!"#,
            "^(?:.+\\n)+$",
            r"^(?:[^,]*?,){30}x",
            "^(?:ab?){20}$",
        ],
    );
    expect(
        Exponential,
        "",
        &[
            "^(?:a+b*)+$",
            "^(?:a*b+)+$",
            "^(?:a*b*)+$",
            "^(?:a+|b+)*$",
            "^(?:a+|b+|ab)*$",
            "^(?:a{2,3}){2,}$",
            "^(?:a{2}|a{3})+$",
            r"^(?:\w{3,}\s?)+$",
            r"^\w{1,9}(?:\w{1,9}){0,9}$",
            r"^(?:.*?,){30}x",
        ],
    );
    expect(Polynomial(2), "", &["^(?:aaa)+(?:aaaaa)+$", "^a{5,}a{5,}$"]);
    expect(Safe, "", &["^a{1,64}a{1,64}$", r"^(?:\d{1,2}){5}$", "^[01]{8}(?: [01]{8})*$"]);
}

#[test]
fn lazy_loops_are_no_better_than_greedy_ones() {
    expect(Exponential, "", &["^(?:a+?)+?$", "^(?:a*?)*?b", "^(.*?)*?x", r"^(?:\w+?\s??)+?$"]);
    expect(Polynomial(2), "", &["^a*?a*?$", r"^\s*?(\S.*?)\s*?$"]);
    expect(Safe, "", &[r#"^".*?"$"#, "^<!--[^]*?-->", "<b>.*?</b>", "^(?:a+?)+?"]);
}

#[test]
fn anchors_and_word_boundaries_save_a_pattern_or_do_not() {
    expect(
        Safe,
        "",
        &[
            r"^(?:\b\w+\b)+!",
            r"^(?:\b\w+)+!",
            r"^(?:\w+\b)+!",
            r"^(?:\w\B)+!",
            r"^(?:\b[a-z]+\b[-']?)+$",
            r"^(?:a+\b)+$",
            "^(?:a+$)+b",
            "^(?:^a+)+$",
            "(?:^a+)+$",
        ],
    );
    expect(Safe, "m", &["(?:^a+\\n)+$", "^(?:.+$)+!", "^(?:.+$\\n?)+!"]);
    expect(Exponential, "", &[r"^(?:\w+\B)+!", r"^(?:\b|a+)+!", r"\b(?:\w+)+\b!"]);
    // A newline is white space, and starts a line.
    expect(Exponential, "m", &[r"^(?:^\s*)+x", r"(?:^\s*$)+x"]);
}

#[test]
fn backreferences_are_read_as_often_as_their_group() {
    expect(
        Exponential,
        "",
        &[
            r"^(a+)+\1$",
            r"^(\w)(?:\1+)+$",
            r"^(?:(a)\1?)+$",
            r"^(?:(\w*)\1)*!",
            r#"^(?<q>["'])(?:\\.|(?!\k<q>).)*\k<q>$"#,
        ],
    );
    expect(Polynomial(2), "", &[r"^(.*)\1$", r"^(a*)a*\1b"]);
    expect(
        Safe,
        "",
        &[r"^(?:(a|b)\1)+c", r"^(?:(\w+)-\1)+$", r"^(?<word>\w+)(?:\s\k<word>)+$", r"^(?=(\w+))\1(?:,(?=(\w+))\2)*$"],
    );
    // A lookahead is not backtracked into, which is how JavaScript writes an atomic group.
    expect(Safe, "", &[r"^(?:(?=(a+))\1)+b"]);
}

#[test]
fn named_groups_are_groups() {
    expect(Exponential, "", &["^(?<all>(?<one>a+)+)$", r"^(?<name>(?<part>\w+)-?)*$"]);
    expect(Polynomial(2), "", &[r"^(?<a>\d+)(?<b>\d+)$"]);
    expect(Safe, "", &[r"^(?<y>\d+)-(?<m>\d+)$", "^(?:(?<a>x)|(?<a>y))+$"]);
}

#[test]
fn lookarounds_have_to_hold_for_an_attack() {
    // If the lookahead holds, there is a match.
    expect(Safe, "", &[r"^(?=\w+$)(?:\w+)+$"]);
    // A text of twelve letters is too short to be slow.
    expect(Safe, "", &["^(?=.{1,12}$)(?:a+)+$"]);
    expect(
        Exponential,
        "",
        &[
            "^(?=[^!]*$)(?:\\w+)+$",
            r"^(?=.*\d)(\w+)+$",
            r"^(?=.*[A-Z])(?=.*\d)(\w+)+!",
            r"(?<!\w)(?:\w+)+(?!\w|$)",
            r"(?<=\s)(?:\d+)+x",
            r"(?<=\$|EUR)(?:\d+)+x",
            "(?<=^.{3})(?:a+)+$",
        ],
    );
    expect(Polynomial(2), "", &[r"(?<=\s)\d+\d+x"]);
    expect(Polynomial(3), "", &["(?<=^a*a*)b"]);
    // A lookbehind that takes a while at each offset is slow by search.
    expect(SlowToFind, "", &["(?<=^a*)b", "(?<=(?:a|a)*)b", r"(?<!\/\/.*)foo"]);
}

#[test]
fn flags_decide_what_overlaps() {
    expect(Safe, "", &["^(?:a|A)+$", "^(?:.|\\n)+$", r"^(?:[😀😁])+$", r"^[^\ud800-\udfff]+$", "(?i:a|b)*"]);
    expect(Exponential, "i", &["^(?:a|A)+$", "^(?:ä|Ä)+$"]);
    expect(Exponential, "", &["^(?i:a|A)+$", "^(?s:.|\\n)+$\\b", "^(?:😀|😀)+$"]);
    expect(Safe, "i", &["^(?-i:a|A)+$"]);
    expect(Exponential, "s", &["^(?:.+\\n)+$", r"^(?:.\s?)+!"]);
    expect(Exponential, "g", &["(?:a+)+b"]);
    expect(Exponential, "dgimsuy", &["(?:a|a)*b"]);
    // Without `u`, the escape is a counted letter.
    expect(Exponential, "u", &[r"^(?:\u{61}|\x61)+$"]);
    expect(Safe, "", &[r"^(?:\u{61}|\x61)+!?"]);
}

#[test]
fn unicode_classes_overlap_or_do_not() {
    expect(
        Exponential,
        "u",
        &[r"^(?:\p{L}+\p{M}*)+$", r"^(?:\p{L}+|\p{N}+)+$", r"^(?:\p{Script=Greek}|\p{L})+$", r"^(?:\P{L}|\s)+$"],
    );
    expect(
        Safe,
        "u",
        &[
            r"^(?:\p{L}\p{M}*)+$",
            r"^(?:\p{L}|\p{N})+$",
            r"^(?:\p{Script=Greek}|\p{Script=Latin})+$",
            r"^(?:\P{L}|\p{L})+$",
        ],
    );
    expect(Exponential, "v", &[r"^(?:[\p{L}--\p{Lu}]|[a-z])+$", r"^(?:[\w&&\d]|\d)+$", r"^(?:[\q{ab|a}]|b)+$"]);
    expect(Safe, "v", &[r"^(?:[\w--\d]|\d)+$", r"^[\p{L}&&\p{ASCII}]+(?:-[\w--_]+)*$"]);
}

#[test]
fn a_search_that_begins_with_a_loop_is_marked() {
    expect(SlowToFind, "", &[r"\s+$", "[a-z]+@", r"(\w+)\s*=\s*(\d+)", r"\d+(?=px)", "(?:ab)+c", "=+$", "a*b"]);
    expect(SlowToFind, "m", &[r"^\s*#"]);
}
