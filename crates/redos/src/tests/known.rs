//! Patterns modelled on reported vulnerabilities and outages.

use super::Is::{Exponential, Polynomial, Safe, SlowToFind};
use super::expect;

#[test]
fn patterns_in_the_shape_of_known_ones_are_risky() {
    expect(
        Exponential,
        "i",
        &[
            // The formats of months in moment, `em` in marked, and an address as OWASP gave it.
            r"^D[oD]?(\[[^\[\]]*\]|\s+)+MMMM?$",
            r"^_((?:__|[\s\S])+?)_\b",
            r"^([a-z0-9])(([\-.]|[_]+)?([a-z0-9]+))*(@){1}[a-z0-9]+[.]{1}([a-z]{2,3})$",
            // CVE-2021-27290 (ssri), CVE-2021-28092 (is-svg).
            r"^([^-]+)-([a-z0-9+/=]{44,88})(\?[\x21-\x7E]*)*$",
            r"^\s*(?:<!doctype svg[^>]*\s*(?:\[?(?:\s*<![^>]*>\s*)*\]?)*[^>]*>\s*)?<svg[^>]*>[^]*</svg>\s*$",
        ],
    );
    expect(
        Polynomial(2),
        "i",
        &[
            // CVE-2017-20162 (ms), CVE-2017-18214 (moment), CVE-2022-25883 (semver), CVE-2020-7733 (ua-parser-js).
            r"^((?:\d+)?\.?\d+) *(?:ms|secs?|minutes?|hours?|d)?$",
            r"^-?(?:(\d*)[. ]?)?(\d+):(\d+)(?::(\d+)\.?(\d{3})?)?$",
            r"^\s*[<>]?=?\s*v?\s*\d+$",
            r"android.+(hm[\s\-_]*note?[\s_]*(?:\d\w)?)\s+build",
            // Code spans in marked, CVE-2021-3807 (ansi-regex), CVE-2021-29060 (color-string).
            r"^(`+)([\s\S]*?[^`])\1(?!`)",
            r"\x1B[[\]()#;?]*(?:(?:(?:[a-z\d]*(?:;[-a-z\d/#&.:=?%@~_]*)*)?\x07)|(?:(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZ]))",
            r"^hwb\(\s*([+-]?\d*[.]?\d+)(?:deg)?\s*,",
            // CVE-2021-23343 (path-parse), CVE-2021-33502 (normalize-url), CVE-2021-23382 (postcss).
            r"^(/?|)([\s\S]*?)((?:\.{1,2}|[^/]+?|)(\.[^./]*|))(?:[/]*)$",
            r"^data:(.*?),(.*?)(?:#(.*))?$",
            r"/\*\s*# sourceMappingURL=(.*)\s*\*/",
            // CVE-2020-28469 (glob-parent), CVE-2021-3803 (nth-check), CVE-2017-15010 (tough-cookie).
            r"[{[].*[/]*.*[}\]]$",
            r"^([+-]?\d*n)?\s*(?:([+-]?)\s*(\d+))?$",
            r"^([^=;]+)\s*=\s*([^;]*)$",
            // CVE-2017-16098 (charset).
            r#"(?:charset|encoding)\s*=\s*['"]? *([\w-]+)"#,
        ],
    );
    // The outage of Cloudflare in 2019.
    expect(Polynomial(3), "", &[".*(?:.*=.*)", r"(?:\d|(?:nan|true|false))+[)]*;?((?:\s|-|~|!|\+)*.*(?:.*=.*))"]);
    // CVE-2020-7753 (trim), CVE-2017-16119 (fresh), and the outage of Stack Overflow in 2016.
    expect(SlowToFind, "", &[r"\s*$", " *, *", r"[\s\u200c]+$"]);
    // The fixed versions.
    expect(Safe, "", &[r"^last\s+(\d+)\s+major\s+versions?$", r"^[\],:{}\s]*$", "&([^;]{1,10});"]);
}
