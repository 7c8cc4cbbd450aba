//! Dates and times of day in texts.
//!
//! Invariant: a shifted date stays valid, because equivalent tools may differ on a 30th of
//! February.

use super::rng::SplitMix64;

/// Returns whether a text starts with a date or a time of day.
pub(super) fn is_date_or_time(text: &str) -> bool {
    let is_date = text.get(..10).is_some_and(|date| date.parse::<jiff::civil::Date>().is_ok());
    let time = text.split_once(':').and_then(|(hour, rest)| Some((hour, rest.get(..2)?)));
    is_date
        || time.is_some_and(|(hour, minute)| {
            hour.len() < 3 && hour.parse::<u8>().is_ok_and(|it| it < 24) && minute.parse::<u8>().is_ok_and(|it| it < 60)
        })
}

/// Shifts a date or time slightly; returns the text unchanged if the result would be invalid.
pub(super) fn shift(text: &str, dice: &mut SplitMix64) -> String {
    let starts: Vec<usize> = text
        .char_indices()
        .filter(|(at, sign)| sign.is_ascii_digit() && !text[..*at].ends_with(|sign: char| sign.is_ascii_digit()))
        .map(|(at, _)| at)
        .collect();
    let Some(at) = dice.pick(&starts).copied() else { return text.to_owned() };
    let end = text[at..].find(|sign: char| !sign.is_ascii_digit()).map_or(text.len(), |len| at + len);
    let by = [1, -1, 7, -7, 15, -15][dice.below(6)];
    let number = text[at..end].parse::<i64>().unwrap_or_default() + by;
    let made = format!("{}{:0width$}{}", &text[..at], number.max(0), &text[end..], width = end - at);
    if is_date_or_time(&made) { made } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_told_from_other_texts() {
        for (text, expect) in [
            ("2024-02-29", true),
            ("2024-02-29T10:00:00Z", true),
            ("9:30", true),
            ("23:59", true),
            ("2023-02-29", false),
            ("24:00", false),
            ("1.2.3", false),
            ("a:30", false),
            ("", false),
        ] {
            assert_eq!(is_date_or_time(text), expect, "{text}");
        }
    }

    #[test]
    fn they_shift_to_others() {
        let mut dice = SplitMix64(1);
        for text in ["2024-02-29", "9:30", "2024-12-31T23:59:59Z"] {
            let made: Vec<String> = (0..50).map(|_| shift(text, &mut dice)).collect();
            assert!(made.iter().all(|made| is_date_or_time(made)) && made.iter().any(|made| made != text), "{made:?}");
        }
        assert_eq!(shift("", &mut dice), "");
    }
}
