use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER};

use super::*;

fn redactor(values: &[(&str, &str)]) -> Arc<Redactor> {
    let secrets: Vec<(&str, Secret)> =
        values.iter().map(|(name, value)| (*name, Secret::parse((*value).to_owned()).unwrap())).collect();
    Arc::new(Redactor::new(secrets.iter().map(|(name, secret)| (*name, secret))).unwrap())
}

/// Redacts the text as a whole, in chunks of each small size, and split in two at each position.
fn check(values: &[(&str, &str)], text: &[u8], expect: &str) {
    let redactor = redactor(values);
    let whole = String::from_utf8(redactor.redact_bytes(text)).unwrap();
    assert_eq!(whole, expect);
    let mut cuts: Vec<Vec<&[u8]>> = (1..8).map(|size| text.chunks(size).collect()).collect();
    cuts.extend((0..text.len()).map(|at| vec![&text[..at], &text[at..]]));
    for pieces in cuts {
        let mut redaction = StreamRedactor::new(redactor.clone());
        let mut out: Vec<u8> = pieces.iter().flat_map(|piece| redaction.push(piece)).collect();
        out.extend(redaction.finish());
        assert_eq!(
            String::from_utf8(out).unwrap(),
            expect,
            "{:?}",
            pieces.iter().map(|piece| piece.len()).collect::<Vec<_>>()
        );
    }
}

const VALUE: &str = "pa ss/w\"ö%<rd>+'~";

#[test]
fn a_value_is_found_however_it_is_written() {
    let json = serde_json::to_string(VALUE).unwrap();
    let hex = HEXLOWER.encode(VALUE.as_bytes());
    let component = "pa%20ss%2Fw%22%C3%B6%25%3Crd%3E%2B'~";
    for written in [
        VALUE.to_owned(),
        json.trim_matches('"').to_owned(),
        json.trim_matches('"').replace('/', "\\/"),
        "pa ss/w\\\"\\u00f6%<rd>+'~".to_owned(),
        "pa ss/w\\\"ö%\\u003crd\\u003e+'~".to_owned(),
        hex.to_uppercase(),
        hex,
        component.to_owned(),
        component.to_lowercase(),
        "pa%20ss%2fw%22%C3%b6%25%3Crd%3e%2B'~".to_owned(),
        component.replace('\'', "%27").replace('~', "%7E"),
        component.replace("%20", "+").replace('\'', "%27").replace('~', "%7E"),
        VALUE.bytes().fold(String::new(), |all, byte| all + &format!("%{byte:02X}")),
    ] {
        check(&[("A", VALUE)], format!("<{written}>{written}").as_bytes(), "<{{secret:A}}>{{secret:A}}");
    }
}

#[test]
fn a_value_is_found_across_white_space() {
    const LONG: &str = "wJalrXUt/K7MDENG+bPxRfiCY=";
    const WITH_BLANKS: &str = "correct horse battery staple";
    for value in [LONG, WITH_BLANKS] {
        let split = |by: &str| format!("{}{by}{}", &value[..12], &value[12..]);
        let spread: String = value.chars().flat_map(|char| [char, ' ']).collect();
        let percent = |text: String| text.replace('\n', "%0A").replace('/', "%2F").replace('=', "%3D");
        let numbers = |by: &str| value.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(by);
        for written in [
            split("\n"),
            split("\r\n    "),
            spread.trim_end().to_owned(),
            split("=\r\n"),
            split("=\n").replace("Y=", "Y=3D"),
            split("\\n"),
            percent(split("\n")),
            numbers(";"),
            numbers("; "),
            numbers("\n"),
            numbers(" "),
            numbers("\r\n"),
        ] {
            check(&[("A", value)], format!("<{written}>").as_bytes(), "<{{secret:A}}>");
        }
    }
    check(&[("A", "12345678")], b"<49;50;51;52;53;54;55;56>", "<{{secret:A}}>");
    check(&[("A", "abcd=efgh")], b"<abcd=3Def=\r\ngh>", "<{{secret:A}}>");
    // Short values could occur by chance.
    for text in ["<secret is>", "<se cr et is>", "<sec\nretis>"] {
        check(&[("A", "secretis")], text.as_bytes(), text);
    }
}

#[test]
fn a_value_is_found_in_base64_wherever_it_stands() {
    for value in ["12345678", "123456789", "1234567890", VALUE] {
        for (front, back) in [0, 1, 2, 3, 4].into_iter().flat_map(|front| [0, 1, 2, 3].map(|back| (front, back))) {
            let text = ["\u{7f}".repeat(front), value.to_owned(), "?".repeat(back)].concat();
            for encoding in [BASE64_NOPAD, BASE64URL_NOPAD] {
                let written = encoding.encode(text.as_bytes());
                let redacted = String::from_utf8(redactor(&[("A", value)]).redact_bytes(written.as_bytes())).unwrap();
                // Only whole groups of the surrounding bytes are left.
                let left = redacted.replace("{{secret:A}}", "");
                let around = (front * 4) / 3 + (back * 4).div_ceil(3);
                assert!(redacted.contains("{{secret:A}}") && left.len() <= around, "{text} {written} {redacted}");
                check(&[("A", value)], written.as_bytes(), &redacted);
            }
        }
    }
}

#[test]
fn values_that_share_something_are_covered_with_all_of_it() {
    let values = [("A", "aaaabbbb"), ("B", "bbbbcccc"), ("C", "abbbbc---")];
    check(&values, b"<aaaabbbbcccc>", "<{{secret:A}}>");
    check(&values, b"<aaaabbbbbbbbcccc>", "<{{secret:A}}{{secret:B}}>");
    check(&values, b"aaaabbb bbbcccc", "aaaabbb bbbcccc");
    check(&[("A", "aaaaaaaa")], "a".repeat(40).as_bytes(), "{{secret:A}}");
    check(&[("A", "aaaaaaaa")], "a".repeat(7).as_bytes(), "aaaaaaa");
    check(&[("A", "aaaaaaaa"), ("B", "aaaaaaaaaaaa")], "a".repeat(13).as_bytes(), "{{secret:A}}");
}

#[test]
fn text_without_values_stays_as_it_is() {
    for text in ["", "a", "nothing of it", "pa ss/w", "{{secret:A}}"] {
        check(&[("A", VALUE)], text.as_bytes(), text);
        check(&[], text.as_bytes(), text);
    }
}

#[test]
fn the_secrets_in_a_text_are_told() {
    let redactor = redactor(&[("A", "first-value"), ("B", "other value")]);
    assert_eq!(redactor.secrets_in(b"/x?k=other%20value"), BTreeSet::from([1]));
    assert_eq!(redactor.secrets_in(b"/x?k=Zmlyc3QtdmFsdWU"), BTreeSet::from([0]));
    assert!(redactor.secrets_in(b"/x").is_empty());
}
