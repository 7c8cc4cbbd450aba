//! Approximate sets for `\p{..}`.
//!
//! Invariant: ASCII and Latin-1 are exact. Beyond them, whole blocks have the category of most of
//! their characters: the check only needs to know which sets can share a character, and attacks use
//! ASCII where they can.

use crate::charset::{CharSet, SPACE};

/// The largest code point.
pub(crate) const LAST: u32 = 0x0010_FFFF;

/// The general categories; `LC` marks blocks where upper and lower case alternate.
#[rustfmt::skip]
const CATEGORIES: &[(u32, u32, &str)] = &[
    (0x0, 0x1F, "Cc"), (0x20, 0x20, "Zs"), (0x21, 0x23, "Po"), (0x24, 0x24, "Sc"), (0x25, 0x27, "Po"),
    (0x28, 0x28, "Ps"), (0x29, 0x29, "Pe"), (0x2A, 0x2A, "Po"), (0x2B, 0x2B, "Sm"), (0x2C, 0x2C, "Po"),
    (0x2D, 0x2D, "Pd"), (0x2E, 0x2F, "Po"), (0x30, 0x39, "Nd"), (0x3A, 0x3B, "Po"), (0x3C, 0x3E, "Sm"),
    (0x3F, 0x40, "Po"), (0x41, 0x5A, "Lu"), (0x5B, 0x5B, "Ps"), (0x5C, 0x5C, "Po"), (0x5D, 0x5D, "Pe"),
    (0x5E, 0x5E, "Sk"), (0x5F, 0x5F, "Pc"), (0x60, 0x60, "Sk"), (0x61, 0x7A, "Ll"), (0x7B, 0x7B, "Ps"),
    (0x7C, 0x7C, "Sm"), (0x7D, 0x7D, "Pe"), (0x7E, 0x7E, "Sm"), (0x7F, 0x9F, "Cc"), (0xA0, 0xA0, "Zs"),
    (0xA1, 0xA1, "Po"), (0xA2, 0xA5, "Sc"), (0xA6, 0xA6, "So"), (0xA7, 0xA7, "Po"), (0xA8, 0xA8, "Sk"),
    (0xA9, 0xA9, "So"), (0xAA, 0xAA, "Lo"), (0xAB, 0xAB, "Pi"), (0xAC, 0xAC, "Sm"), (0xAD, 0xAD, "Cf"),
    (0xAE, 0xAE, "So"), (0xAF, 0xAF, "Sk"), (0xB0, 0xB0, "So"), (0xB1, 0xB1, "Sm"), (0xB2, 0xB3, "No"),
    (0xB4, 0xB4, "Sk"), (0xB5, 0xB5, "Ll"), (0xB6, 0xB7, "Po"), (0xB8, 0xB8, "Sk"), (0xB9, 0xB9, "No"),
    (0xBA, 0xBA, "Lo"), (0xBB, 0xBB, "Pf"), (0xBC, 0xBE, "No"), (0xBF, 0xBF, "Po"), (0xC0, 0xD6, "Lu"),
    (0xD7, 0xD7, "Sm"), (0xD8, 0xDE, "Lu"), (0xDF, 0xF6, "Ll"), (0xF7, 0xF7, "Sm"), (0xF8, 0xFF, "Ll"),
    (0x100, 0x24F, "LC"), (0x250, 0x2AF, "Ll"), (0x2B0, 0x2FF, "Lm"), (0x300, 0x36F, "Mn"), (0x370, 0x52F, "LC"),
    (0x531, 0x556, "Lu"), (0x560, 0x588, "Ll"), (0x591, 0x5BD, "Mn"), (0x5D0, 0x5EA, "Lo"), (0x620, 0x64A, "Lo"),
    (0x64B, 0x65F, "Mn"), (0x660, 0x669, "Nd"), (0x66E, 0x6D3, "Lo"), (0x6F0, 0x6F9, "Nd"), (0x700, 0x8FF, "Lo"),
    (0x900, 0x903, "Mn"), (0x904, 0x965, "Lo"), (0x966, 0x96F, "Nd"), (0x971, 0xDFF, "Lo"), (0xE01, 0xE30, "Lo"),
    (0xE50, 0xE59, "Nd"), (0xE81, 0x135A, "Lo"), (0x13A0, 0x13F5, "Lu"), (0x1401, 0x167F, "Lo"),
    (0x1680, 0x1680, "Zs"), (0x1681, 0x169A, "Lo"), (0x16A0, 0x1DBF, "Lo"), (0x1DC0, 0x1DFF, "Mn"),
    (0x1E00, 0x1FFC, "LC"), (0x2000, 0x200A, "Zs"), (0x200B, 0x200F, "Cf"), (0x2010, 0x2015, "Pd"),
    (0x2016, 0x2027, "Po"), (0x2028, 0x2028, "Zl"), (0x2029, 0x2029, "Zp"), (0x202A, 0x202E, "Cf"),
    (0x202F, 0x202F, "Zs"), (0x2030, 0x205E, "Po"), (0x205F, 0x205F, "Zs"), (0x2060, 0x206F, "Cf"),
    (0x2070, 0x2079, "No"), (0x207A, 0x207C, "Sm"), (0x2080, 0x2089, "No"), (0x20A0, 0x20C0, "Sc"),
    (0x20D0, 0x20F0, "Mn"), (0x2100, 0x214F, "So"), (0x2150, 0x218B, "No"), (0x2190, 0x22FF, "Sm"),
    (0x2300, 0x245F, "So"), (0x2460, 0x249B, "No"), (0x249C, 0x24E9, "So"), (0x24EA, 0x24FF, "No"),
    (0x2500, 0x2BFF, "So"), (0x2C00, 0x2DFF, "LC"), (0x2E00, 0x2E5D, "Po"), (0x2E80, 0x2FFF, "So"),
    (0x3000, 0x3000, "Zs"), (0x3001, 0x3003, "Po"), (0x3005, 0x3007, "Lo"), (0x3008, 0x301B, "Po"),
    (0x3021, 0x3029, "Nl"), (0x3041, 0x3096, "Lo"), (0x309D, 0x309F, "Lo"), (0x30A1, 0x30FA, "Lo"),
    (0x30FC, 0x318E, "Lo"), (0x31A0, 0x31FF, "Lo"), (0x3200, 0x33FF, "So"), (0x3400, 0x4DBF, "Lo"),
    (0x4DC0, 0x4DFF, "So"), (0x4E00, 0xA66D, "Lo"), (0xA680, 0xABFF, "LC"), (0xAC00, 0xD7A3, "Lo"),
    (0xD800, 0xDFFF, "Cs"), (0xE000, 0xF8FF, "Co"), (0xF900, 0xFAFF, "Lo"), (0xFB00, 0xFB06, "Ll"),
    (0xFB13, 0xFDFB, "Lo"), (0xFE00, 0xFE0F, "Mn"), (0xFE30, 0xFE6B, "Po"), (0xFE70, 0xFEFC, "Lo"),
    (0xFEFF, 0xFEFF, "Cf"), (0xFF01, 0xFF0F, "Po"), (0xFF10, 0xFF19, "Nd"), (0xFF1A, 0xFF20, "Po"),
    (0xFF21, 0xFF3A, "Lu"), (0xFF3B, 0xFF40, "Po"), (0xFF41, 0xFF5A, "Ll"), (0xFF5B, 0xFF65, "Po"),
    (0xFF66, 0xFFDC, "Lo"), (0xFFE0, 0xFFE6, "Sc"), (0xFFFC, 0xFFFD, "So"), (0x10000, 0x1D0FF, "Lo"),
    (0x1D100, 0x1D3FF, "So"), (0x1D400, 0x1D7CB, "LC"), (0x1D7CE, 0x1D7FF, "Nd"), (0x1E000, 0x1EFFF, "Lo"),
    (0x1F000, 0x1FAFF, "So"), (0x1FBF0, 0x1FBF9, "Nd"), (0x20000, 0x323AF, "Lo"), (0xE0100, 0xE01EF, "Mn"),
];

/// The scripts that patterns commonly name.
#[rustfmt::skip]
const SCRIPTS: &[(&str, &[(u32, u32)])] = &[
    ("Latin", &[(0x41, 0x5A), (0x61, 0x7A), (0xAA, 0xAA), (0xBA, 0xBA), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2B8), (0x1E00, 0x1EFF), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A)]),
    ("Greek", &[(0x370, 0x3FF), (0x1F00, 0x1FFE)]),
    ("Cyrillic", &[(0x400, 0x52F), (0x1C80, 0x1C8F), (0x2DE0, 0x2DFF), (0xA640, 0xA69F)]),
    ("Han", &[(0x2E80, 0x2FD5), (0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF)]),
    ("Hiragana", &[(0x3041, 0x309F)]),
    ("Katakana", &[(0x30A1, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9D)]),
    ("Hangul", &[(0x1100, 0x11FF), (0x3131, 0x318E), (0xAC00, 0xD7A3)]),
    ("Arabic", &[(0x600, 0x6FF), (0x750, 0x77F), (0xFB50, 0xFEFC)]),
    ("Hebrew", &[(0x591, 0x5F4)]),
    ("Thai", &[(0xE01, 0xE5B)]),
    ("Devanagari", &[(0x900, 0x97F)]),
];

/// The long names of the general categories.
const LONG_NAMES: &[(&str, &str)] = &[
    ("Letter", "L"),
    ("Cased_Letter", "LC"),
    ("Uppercase_Letter", "Lu"),
    ("Lowercase_Letter", "Ll"),
    ("Titlecase_Letter", "Lt"),
    ("Modifier_Letter", "Lm"),
    ("Other_Letter", "Lo"),
    ("Mark", "M"),
    ("Combining_Mark", "M"),
    ("Nonspacing_Mark", "Mn"),
    ("Number", "N"),
    ("Decimal_Number", "Nd"),
    ("digit", "Nd"),
    ("Letter_Number", "Nl"),
    ("Other_Number", "No"),
    ("Punctuation", "P"),
    ("punct", "P"),
    ("Connector_Punctuation", "Pc"),
    ("Dash_Punctuation", "Pd"),
    ("Open_Punctuation", "Ps"),
    ("Close_Punctuation", "Pe"),
    ("Other_Punctuation", "Po"),
    ("Symbol", "S"),
    ("Math_Symbol", "Sm"),
    ("Currency_Symbol", "Sc"),
    ("Other_Symbol", "So"),
    ("Separator", "Z"),
    ("Space_Separator", "Zs"),
    ("Other", "C"),
    ("Control", "Cc"),
    ("cntrl", "Cc"),
    ("Format", "Cf"),
];

/// Returns the characters of `\p{name}` or `\p{name=value}`.
pub(crate) fn property(name: &str, value: Option<&str>) -> CharSet {
    match (name, value) {
        ("Script" | "sc" | "Script_Extensions" | "scx", Some(script)) => of_script(script),
        ("General_Category" | "gc", Some(category)) => of_category(category).unwrap_or_else(beyond_ascii),
        (_, Some(_)) => beyond_ascii(),
        (name, None) => of_category(name).unwrap_or_else(|| binary(name)),
    }
}

fn of_script(name: &str) -> CharSet {
    let found = SCRIPTS.iter().find(|(known, _)| *known == name);
    found.map_or_else(beyond_ascii, |(_, ranges)| CharSet::from_ranges(ranges))
}

fn of_category(name: &str) -> Option<CharSet> {
    let short = LONG_NAMES.iter().find(|(long, _)| *long == name).map_or(name, |(_, short)| short);
    let matches = |category: &str| match short {
        "LC" => matches!(category, "Lu" | "Ll" | "LC"),
        "Lu" | "Ll" => category == short || category == "LC",
        _ => category.starts_with(short),
    };
    let known = matches!(short, "L" | "M" | "N" | "P" | "S" | "Z" | "C" | "LC") || short.len() == 2;
    if !known || name.is_empty() {
        return None;
    }
    let chosen = CATEGORIES.iter().filter(|(_, _, category)| matches(category));
    let set = CharSet::from_ranges(&chosen.map(|(low, high, _)| (*low, *high)).collect::<Vec<_>>());
    (!set.is_empty()).then_some(set)
}

fn binary(name: &str) -> CharSet {
    let categories = |names: &[&str]| {
        names.iter().filter_map(|name| of_category(name)).fold(CharSet::default(), |all, set| all.union(&set))
    };
    match name {
        "Any" | "Assigned" => CharSet::from_ranges(&[(0, LAST)]),
        "ASCII" => CharSet::from_ranges(&[(0, 0x7F)]),
        "ASCII_Hex_Digit" | "AHex" | "Hex_Digit" | "Hex" => {
            CharSet::from_ranges(&[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)])
        }
        "White_Space" | "space" => CharSet::from_ranges(SPACE),
        "Alphabetic" | "Alpha" | "ID_Start" | "IDS" | "XID_Start" | "XIDS" | "Cased" => categories(&["L"]),
        "ID_Continue" | "IDC" | "XID_Continue" | "XIDC" => categories(&["L", "M", "Nd", "Pc"]),
        "Lowercase" | "Lower" | "Changes_When_Uppercased" | "CWU" => categories(&["Ll"]),
        "Uppercase" | "Upper" | "Changes_When_Lowercased" | "CWL" => categories(&["Lu"]),
        "Emoji" => categories(&["So"]).union(&CharSet::from_ranges(&[(0x23, 0x23), (0x2A, 0x2A), (0x30, 0x39)])),
        "Ideographic" | "Ideo" => of_script("Han"),
        "Dash" => categories(&["Pd"]),
        _ => beyond_ascii(),
    }
}

/// Returns the set for an unlisted property: nearly all of them concern characters beyond ASCII.
fn beyond_ascii() -> CharSet {
    CharSet::from_ranges(&[(0x80, LAST)])
}
