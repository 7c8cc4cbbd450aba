//! The help in each language.
//!
//! The doc comments of the arguments are the English help, and its keys in the catalogues. An
//! indented line of `after_help` is code, which is the same in each language.
//!
//! Invariant: English help is exactly what clap renders.

use std::collections::BTreeSet;
use std::io::{stderr, stdout};

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory as _};
use toolcell::Lang;
use toolcell_i18n::{msgid, tr};
use unicode_width::UnicodeWidthChar as _;

use super::Args;
use crate::screen::{Screen, text_width};
use crate::streams::Streams;

/// Maximum number of columns of help.
pub(super) const MAX_COLUMNS: usize = 100;
/// Indentation of help on a line of its own.
const HELP_INDENT: usize = 10;
/// The label of clap for the usage.
const USAGE: &str = "Usage: ";
/// Characters that start no row.
const NEVER_FIRST: &str = "、。，．：；？！・ー々〉》」』】）〕ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.:;?!)]}%…";
/// Characters that end no row.
const NEVER_LAST: &str = "〈《「『【（〔([{";

/// The commands in the order and the groups of the help.
const GROUPS: [(&str, &[&str]); 6] = [
    (msgid!("Make and run"), &["create", "adopt", "run", "exec", "reflect", "list", "search", "show"]),
    (msgid!("Prove and test"), &["verify", "test", "check", "profile", "budget", "replay"]),
    (
        msgid!("Grant and approve"),
        &["approvals", "grant", "servers", "flows", "decide", "config", "init", "suspended", "resume"],
    ),
    (
        msgid!("Keep and clean up"),
        &["delete", "undelete", "rollback", "deprecate", "retire", "ledger", "export", "import", "audit", "fsck", "gc"],
    ),
    (msgid!("Serve"), &["mcp", "node", "ui", "adapter", "batch"]),
    (msgid!("This program"), &["doctor", "types", "schema", "completions", "man", "help"]),
];

/// Groups the list of commands in the help of the program. The help of a command is not changed.
pub(super) fn group_commands(help: &str, lang: Lang) -> String {
    let heading = format!("{}{}\n", tr!(lang, "Commands"), lang.colon().trim_end());
    let Some((before, rest)) = help.split_once(&heading) else { return help.to_owned() };
    let (list, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
    // The lines of each command; a line that starts with more blanks continues the one before.
    let mut entries: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in list.lines() {
        let name =
            line.strip_prefix("  ").filter(|line| !line.starts_with(' ')).and_then(|line| line.split(' ').next());
        match (name, entries.last_mut()) {
            (Some(name), _) => entries.push((name, vec![line])),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => return help.to_owned(),
        }
    }
    let known = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    if !entries.iter().all(|(name, _)| known(name)) || !entries.iter().any(|(name, _)| *name == "create") {
        return help.to_owned();
    }
    let groups = GROUPS.iter().map(|(heading, names)| {
        let lines = names.iter().flat_map(|name| entries.iter().filter(move |(entry, _)| entry == name));
        let lines: Vec<&str> = lines.flat_map(|(_, lines)| lines.iter().copied()).collect();
        format!("{}{}\n{}", lang.translate(heading), lang.colon().trim_end(), lines.join("\n"))
    });
    let groups: Vec<String> = groups.collect();
    format!("{before}{}\n\n{after}", groups.join("\n\n"))
}

/// Returns all texts of the help: keys of the catalogues.
#[must_use]
pub fn help_texts() -> Vec<String> {
    let mut command = Args::command();
    command.build();
    let mut texts = BTreeSet::new();
    let _ = map_texts(command, &mut |text| {
        texts.insert(text.to_owned());
        text.to_owned()
    });
    texts.into_iter().collect()
}

/// Translates the help of a command and of its subcommands. The result is for help and errors: its
/// matches have other types.
pub(super) fn localize(command: Command, lang: Lang) -> Command {
    if lang == Lang::En {
        return command;
    }
    // `render` wraps the text: clap breaks lines only at spaces.
    let mut command = command.term_width(0);
    // Adds the options and the command that are built in.
    command.build();
    map_texts(command, &mut |text| lang.translate(text).to_owned())
}

/// Replaces all texts of a command and of its subcommands.
fn map_texts(mut command: Command, map: &mut impl FnMut(&str) -> String) -> Command {
    if let Some(text) = command.get_about().map(ToString::to_string) {
        command = command.about(map(&text));
    }
    if let Some(text) = command.get_long_about().map(ToString::to_string) {
        command = command.long_about(map(&text));
    }
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(map_paragraphs(&text, map));
    }
    command.mut_args(|arg| map_arg(arg, map)).mut_subcommands(|command| map_texts(command, map))
}

fn map_arg(mut arg: Arg, map: &mut impl FnMut(&str) -> String) -> Arg {
    if let Some(text) = arg.get_help().map(ToString::to_string) {
        arg = arg.help(map(&text));
    }
    if let Some(text) = arg.get_long_help().map(ToString::to_string) {
        arg = arg.long_help(map(&text));
    }
    if let Some(text) = arg.get_help_heading().map(ToOwned::to_owned) {
        arg = arg.help_heading(map(&text));
    }
    let values = arg.get_possible_values();
    if values.iter().all(|value| value.get_help().is_none()) {
        return arg;
    }
    let values = values.into_iter().map(|value| match value.get_help().map(ToString::to_string) {
        Some(text) => value.help(map(&text)),
        None => value,
    });
    arg.value_parser(PossibleValuesParser::new(values))
}

/// Replaces the paragraphs of a text. An indented line is code.
fn map_paragraphs(text: &str, map: &mut impl FnMut(&str) -> String) -> String {
    let is_text = |line: &&str| !line.is_empty() && !line.starts_with(' ');
    let mut mapped = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if is_text(&line) {
            let mut paragraph = line.to_owned();
            while let Some(line) = lines.next_if(is_text) {
                paragraph.push('\n');
                paragraph.push_str(line);
            }
            mapped.push(map(&paragraph));
        } else {
            mapped.push(line.to_owned());
        }
    }
    mapped.join("\n")
}

/// Returns the number of columns for the help in an error.
pub(super) fn columns(error: &clap::Error, streams: &Streams<'_>) -> usize {
    let screen = if error.use_stderr() {
        streams.errors_are_terminal.then(|| Screen::from_terminal(stderr()))
    } else {
        streams.output_is_terminal.then(|| Screen::from_terminal(stdout()))
    };
    let from_environment = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns = screen.map(|screen| usize::from(screen.columns())).or_else(from_environment);
    columns.unwrap_or(MAX_COLUMNS).min(MAX_COLUMNS)
}

/// Translates the labels of rendered help, which clap does not let a command replace, and wraps its
/// lines.
pub(super) fn render(text: &str, lang: Lang, columns: usize) -> String {
    let labels = |line: &str| {
        spec_labels(Lang::En).into_iter().zip(spec_labels(lang)).fold(line.to_owned(), |line, (english, label)| {
            line.replace(&format!("[{english}: "), &format!("[{label}{}", lang.colon()))
        })
    };
    let mut rendered = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with(USAGE) {
            let mut usage = line.to_owned();
            while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
                usage.push('\n');
                usage.push_str(line);
            }
            rendered.push_str(&translate_usage(&usage, lang));
        } else if let Some(heading) = translate_heading(line, lang) {
            rendered.push_str(&heading);
        } else {
            rendered.push_str(&wrap(&labels(line), columns));
        }
        rendered.push('\n');
    }
    rendered
}

/// Translates the label of a usage. Its other lines are aligned with the first.
pub(super) fn translate_usage(text: &str, lang: Lang) -> String {
    let Some(usage) = text.strip_prefix(USAGE) else { return text.to_owned() };
    let label = format!("{}{}", tr!(lang, "Usage"), lang.colon());
    let indent = " ".repeat(text_width(&label));
    let mut lines = usage.lines();
    let first = format!("{label}{}", lines.next().unwrap_or_default());
    lines.fold(first, |usage, line| format!("{usage}\n{indent}{}", line.trim_start()))
}

/// Translates the heading of a list, if the line is one.
fn translate_heading(line: &str, lang: Lang) -> Option<String> {
    let label = line.trim_start();
    let name = label.strip_suffix(':')?;
    let heading = match headings(Lang::En).into_iter().position(|heading| heading == name) {
        Some(index) => headings(lang)[index],
        // A heading of `next_help_heading`, which is translated; only its colon is of clap.
        None if !line.starts_with(' ') && !name.contains(char::is_whitespace) => name,
        None => return None,
    };
    let indent = &line[..line.len() - label.len()];
    Some(format!("{indent}{heading}{}", lang.colon().trim_end()))
}

/// Returns the headings of clap.
fn headings(lang: Lang) -> [&'static str; 4] {
    [tr!(lang, "Commands"), tr!(lang, "Arguments"), tr!(lang, "Options"), tr!(lang, "Possible values")]
}

/// Returns the labels of what clap says about an argument in brackets.
fn spec_labels(lang: Lang) -> [&'static str; 4] {
    [
        tr!(lang, "help" => "default"),
        tr!(lang, "help" => "possible values"),
        tr!(lang, "help" => "alias"),
        tr!(lang, "help" => "aliases"),
    ]
}

/// Breaks a line of help into rows that are aligned with its text. Code is not broken.
fn wrap(line: &str, columns: usize) -> String {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    if text_width(line) <= columns {
        return line.to_owned();
    }
    match text.split_once("  ") {
        // An option or a command, and its help.
        Some((name, help)) if (1..HELP_INDENT).contains(&indent) => {
            let help = help.trim_start_matches(' ');
            let column = text_width(&line[..line.len() - help.len()]);
            // With less room than that, clap puts the help below the option, too.
            if column * 5 > columns * 2 {
                let rows = rows(help, columns.saturating_sub(HELP_INDENT));
                format!("{:indent$}{name}\n{:HELP_INDENT$}{}", "", "", join(&rows, HELP_INDENT))
            } else {
                format!("{}{}", &line[..line.len() - help.len()], join(&rows(help, columns - column), column))
            }
        }
        _ if (1..HELP_INDENT).contains(&indent) => line.to_owned(),
        _ => {
            let (mark, text) = text.split_at(if text.starts_with("- ") { 2 } else { 0 });
            let column = indent + mark.len();
            format!("{:indent$}{mark}{}", "", join(&rows(text, columns.saturating_sub(column)), column))
        }
    }
}

fn join(rows: &[String], indent: usize) -> String {
    rows.join(&format!("\n{:indent$}", ""))
}

/// Breaks text into rows of at most so many columns. A row ends at a space, or beside a wide
/// character (Unicode Standard Annex 14, and JIS X 4051 for what starts or ends no row).
fn rows(text: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    for piece in pieces(text) {
        if !row.is_empty() && text_width(&row) + text_width(piece.trim_end()) > columns {
            rows.push(row.trim_end().to_owned());
            row.clear();
        }
        row.push_str(piece);
    }
    rows.push(row.trim_end().to_owned());
    rows
}

/// Returns the parts of a text between which a row may end.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, after) in text.char_indices() {
        if is_break(&text[..at], after) {
            pieces.push(&text[start..at]);
            start = at;
        }
    }
    pieces.push(&text[start..]);
    pieces
}

/// Whether a row may end between a text and the character after it. A number stays with the wide
/// character that it belongs to, and a word of katakana stays whole.
fn is_break(text: &str, after: char) -> bool {
    let is_wide = |char: char| char.width() == Some(2);
    let is_katakana = |char: char| matches!(char, 'ァ'..='ヺ' | 'ー');
    let mut before = text.chars().rev();
    match before.next() {
        None => false,
        Some(_) if after == ' ' => false,
        Some(' ') => !(is_wide(after) && before.next().is_some_and(|char| char.is_ascii_digit())),
        Some(before) => {
            (is_wide(before) || is_wide(after))
                && !(is_katakana(before) && is_katakana(after))
                && !NEVER_LAST.contains(before)
                && !NEVER_FIRST.contains(after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a function with the long help of a command and of its subcommands.
    fn visit(command: &mut Command, check: &mut impl FnMut(&str)) {
        check(&command.render_long_help().to_string());
        for below in command.get_subcommands_mut() {
            visit(below, check);
        }
    }

    #[test]
    fn every_text_of_the_help_is_translated() {
        let texts = help_texts();
        assert!(texts.len() > 250 && texts.contains(&"Run a stored tool".to_owned()), "{} texts", texts.len());
        for lang in [Lang::Ja, Lang::Zh] {
            let missing: Vec<&String> = texts.iter().filter(|text| !lang.has_translation(text)).collect();
            assert!(missing.is_empty(), "{lang:?}: {missing:#?}");
        }
    }

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let mut command = Args::command();
        command.build();
        let mut names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        names.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(names, grouped);
        let help = Args::command().render_help().to_string();
        let text = group_commands(&help, Lang::En);
        assert!(text.contains("\n\nProve and test:\n  verify ") && !text.contains("Commands:"), "{text}");
        let lines = |text: &str| {
            let mut lines: Vec<String> =
                text.lines().filter(|line| line.starts_with("  ")).map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(lines(&text), lines(&help));
        let below = "Usage: x\n\nCommands:\n  show  Show\n\nOptions:\n";
        assert_eq!(group_commands(below, Lang::En), below);
    }

    #[test]
    fn rendering_changes_no_english_help() {
        let mut command = Args::command().term_width(MAX_COLUMNS);
        command.build();
        visit(&mut command, &mut |text| assert_eq!(render(text, Lang::En, usize::MAX), text));
    }

    #[test]
    fn no_label_stays_english_and_no_line_is_too_long() {
        for lang in [Lang::Ja, Lang::Zh] {
            let mut command = localize(Args::command(), lang);
            visit(&mut command, &mut |text| {
                let text = render(text, lang, 60);
                for heading in ["Usage", "Commands", "Arguments", "Options", "Possible values", "Limits", "Policy"] {
                    assert!(!text.contains(&format!("{heading}{}", lang.colon().trim_end())), "{text}");
                }
                for label in ["[default", "[possible values", "[alias"] {
                    assert!(!text.contains(label), "{text}");
                }
                // The usage, the names of options, and code are not broken.
                let indent = " ".repeat(HELP_INDENT);
                for line in text.lines().filter(|line| line.starts_with(&indent)) {
                    assert!(text_width(line) <= 60, "{line}");
                }
            });
        }
    }

    #[test]
    fn rows_end_at_spaces_and_beside_wide_characters() {
        let check = |text: &str, columns: usize, expect: &[&str]| assert_eq!(rows(text, columns), expect, "{text}");
        check("one two three", 8, &["one two", "three"]);
        check("ツールを実行します", 8, &["ツールを", "実行しま", "す"]);
        check("値は、「偽」です", 6, &["値は、", "「偽」", "です"]);
        check("名前 `run` を指定", 10, &["名前 `run`", "を指定"]);
        check("--extraordinary", 4, &["--extraordinary"]);
        check("現在のフォルダー", 10, &["現在の", "フォルダー"]);
        check("済み、12 失敗", 9, &["済み、", "12 失敗"]);
    }

    #[test]
    fn a_row_that_continues_is_aligned_with_the_help() {
        let check = |line: &str, columns: usize, expect: &str| assert_eq!(wrap(line, columns), expect, "{line}");
        check("  run   ツールを実行します", 20, "  run   ツールを実行\n        します");
        check("      --json  一つの行に書く", 20, "      --json\n          一つの行に\n          書く");
        check("          - text: 読みやすい", 20, "          - text: 読\n            みやすい");
        check("  toolcell exec a.js b c d", 20, "  toolcell exec a.js b c d");
    }

    #[test]
    fn only_paragraphs_of_text_are_replaced() {
        let text = "Examples:\n  toolcell list\n\nOne\ntwo\n\n  [[case]]";
        let mapped = map_paragraphs(text, &mut |paragraph| format!("<{paragraph}>"));
        assert_eq!(mapped, "<Examples:>\n  toolcell list\n\n<One\ntwo>\n\n  [[case]]");
    }
}
