//! Usage errors in each language.
//!
//! clap reports an error as a kind with its context, from which the message is made here.
//!
//! Invariant: the English text is that of clap; a test compares the two.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use toolcell::{Lang, escape_control_chars};
use toolcell_i18n::{Message, message, msgid, tr};

use super::help;
use crate::error::CliError;
use crate::exit::Exit;
use crate::streams::Streams;

/// Indentation of what belongs to a message.
const INDENT: &str = "  ";
/// The suggestions of clap that it has only as texts.
const SUGGESTIONS: [&str; 3] = [
    msgid!("to pass '{value}' as a value, use '{usage}'"),
    msgid!("subcommand '{command}' exists; to use it, remove the '--' before it"),
    msgid!("'{option}' exists"),
];
/// The reasons of the standard library and of clap for which a value is not a number.
const NUMBER_REASONS: [&str; 8] = [
    msgid!("invalid digit found in string"),
    msgid!("number too large to fit in target type"),
    msgid!("number too small to fit in target type"),
    msgid!("number would be zero for non-zero type"),
    msgid!("cannot parse integer from empty string"),
    msgid!("invalid float literal"),
    msgid!("cannot parse float from empty string"),
    msgid!("{value} is not in {range}"),
];

/// The reason for which a value of an argument is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueError(pub(super) Message);

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ValueError {}

/// Prints a usage error to standard error, or `--help` and `--version` to standard output, and
/// returns the exit status.
pub(crate) fn print_usage_error(error: clap::Error, words: &[OsString], lang: Lang, streams: &mut Streams<'_>) -> Exit {
    // The help in an error is that of the command that was parsed.
    let error = match lang {
        Lang::En => error,
        Lang::Ja | Lang::Zh => super::command(lang).try_get_matches_from(words).err().unwrap_or(error),
    };
    let text = match lang {
        Lang::En => error.render().to_string(),
        Lang::Ja | Lang::Zh => render(&error, lang, help::columns(&error, streams)),
    };
    let text = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            help::group_commands(&text, lang)
        }
        _ => text,
    };
    // A failed write is still visible in the exit status.
    if error.use_stderr() {
        let _ = write!(streams.errors, "{text}");
        Exit::Usage
    } else {
        let _ = write!(streams.output, "{text}");
        Exit::Done
    }
}

/// Whether the words of a command that cannot be parsed ask for JSON.
pub(crate) fn asks_for_json(words: &[OsString]) -> bool {
    words.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--json")
}

/// Converts a usage error to an error with a code. Returns `None` for `--help` and `--version`.
pub(crate) fn to_cli_error(error: &clap::Error) -> Option<CliError> {
    if !error.use_stderr() {
        return None;
    }
    let Report { message, arguments, values } =
        report(error, Lang::En).unwrap_or_else(|| message!("a subcommand is required").into());
    let message = if arguments.is_empty() {
        message
    } else {
        Message::sequence([message, Message::verbatim(format!(" {}", arguments.join(", ")))])
    };
    let mut hints = tips(error);
    hints.extend(values.filter(|(_, values)| !values.is_empty()).map(|(label, values)| {
        let values = Message::list(values.into_iter().map(Message::verbatim));
        message!("{label}: {values}", label, values)
    }));
    hints.push(message!("for more information, try `--help`"));
    Some(CliError::usage(message, Message::list(hints)))
}

/// What an error says: its message, and what is listed below it.
struct Report {
    message: Message,
    /// Arguments, each on its line.
    arguments: Vec<String>,
    /// The label and the values of a list in brackets.
    values: Option<(&'static str, Vec<String>)>,
}

impl From<Message> for Report {
    fn from(message: Message) -> Self {
        Self { message, arguments: Vec::new(), values: None }
    }
}

/// Returns the text of an error, or of `--help` and `--version`, in a language.
fn render(error: &clap::Error, lang: Lang, columns: usize) -> String {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            help::render(&error.render().to_string(), lang, columns)
        }
        _ => match report(error, lang) {
            Some(report) => render_report(&report, error, lang),
            None => error.render().to_string(),
        },
    }
}

fn render_report(report: &Report, error: &clap::Error, lang: Lang) -> String {
    let colon = lang.colon();
    let mut lines = vec![format!("{}{colon}{}", tr!(lang, "error"), report.message.to_text(lang))];
    lines.extend(report.arguments.iter().map(|argument| format!("{INDENT}{argument}")));
    if let Some((label, values)) = &report.values
        && !values.is_empty()
    {
        lines.push(format!("{INDENT}[{label}{colon}{}]", values.join(", ")));
    }
    let tips = tips(error);
    if !tips.is_empty() {
        lines.push(String::new());
    }
    lines.extend(tips.iter().map(|text| format!("{INDENT}{}{colon}{}", tr!(lang, "tip"), text.to_text(lang))));
    if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
        lines.extend([String::new(), help::translate_usage(&usage.to_string(), lang)]);
    }
    lines.extend([String::new(), tr!(lang, "For more information, try '{option}'.", option = "--help"), String::new()]);
    lines.join("\n")
}

/// Returns what an error says, if its kind can occur.
fn report(error: &clap::Error, lang: Lang) -> Option<Report> {
    let argument = text(error, ContextKind::InvalidArg);
    let command = text(error, ContextKind::InvalidSubcommand);
    let value = text(error, ContextKind::InvalidValue);
    Some(match error.kind() {
        ErrorKind::ArgumentConflict => conflict(error, argument, command)?,
        ErrorKind::InvalidValue => {
            let (argument, value) = (argument?, value?);
            let message = if value.is_empty() {
                message!("a value is required for '{argument}' but none was supplied", argument)
            } else {
                message!("invalid value '{value}' for '{argument}'", value, argument)
            };
            let label = tr!(lang, "help" => "possible values");
            Report { values: Some((label, texts(error, ContextKind::ValidValue))), ..message.into() }
        }
        ErrorKind::ValueValidation => {
            let (argument, value) = (argument?, value?);
            match error.source() {
                Some(source) => {
                    let reason = reason(source);
                    message!("invalid value '{value}' for '{argument}': {reason}", value, argument, reason).into()
                }
                None => message!("invalid value '{value}' for '{argument}'", value, argument).into(),
            }
        }
        ErrorKind::TooManyValues => message!(
            "unexpected value '{value}' for '{argument}' found; no more were expected",
            value = value?,
            argument = argument?
        )
        .into(),
        ErrorKind::InvalidSubcommand => message!("unrecognized subcommand '{command}'", command = command?).into(),
        ErrorKind::UnknownArgument => message!("unexpected argument '{argument}' found", argument = argument?).into(),
        ErrorKind::MissingRequiredArgument => Report {
            arguments: texts(error, ContextKind::InvalidArg),
            ..message!("the following required arguments were not provided:").into()
        },
        ErrorKind::MissingSubcommand => {
            let message = message!("'{command}' requires a subcommand but one was not provided", command = command?);
            let label = tr!(lang, "help" => "subcommands");
            Report { values: Some((label, texts(error, ContextKind::ValidSubcommand))), ..message.into() }
        }
        ErrorKind::InvalidUtf8 => message!("invalid UTF-8 was detected in one or more arguments").into(),
        _ => return None,
    })
}

/// Returns what an error says about arguments that exclude each other.
fn conflict(error: &clap::Error, argument: Option<String>, command: Option<String>) -> Option<Report> {
    let others = texts(error, ContextKind::PriorArg);
    let other = text(error, ContextKind::PriorArg);
    let message = match (argument, command) {
        (Some(argument), _) if Some(&argument) == other.as_ref() => {
            message!("the argument '{argument}' cannot be used multiple times", argument)
        }
        (Some(argument), _) => match other {
            Some(other) => message!("the argument '{argument}' cannot be used with '{other}'", argument, other),
            None if !others.is_empty() => message!("the argument '{argument}' cannot be used with:", argument),
            None => message!(
                "the argument '{argument}' cannot be used with one or more of the other specified arguments",
                argument
            ),
        },
        (None, Some(command)) => match other {
            Some(other) => message!("the subcommand '{command}' cannot be used with '{other}'", command, other),
            None if !others.is_empty() => message!("the subcommand '{command}' cannot be used with:", command),
            None => message!(
                "the subcommand '{command}' cannot be used with one or more of the other specified arguments",
                command
            ),
        },
        (None, None) => return None,
    };
    Some(Report { arguments: others, ..message.into() })
}

/// Returns the suggestions of an error.
fn tips(error: &clap::Error) -> Vec<Message> {
    let mut tips = Vec::new();
    let commands = texts(error, ContextKind::SuggestedSubcommand);
    match &commands[..] {
        [] => {}
        [name] => tips.push(message!("a similar subcommand exists: '{name}'", name)),
        names => {
            let names = Message::list(names.iter().map(|name| message!("'{name}'", name)));
            tips.push(message!("some similar subcommands exist: {names}", names));
        }
    }
    if let Some(name) = text(error, ContextKind::SuggestedArg) {
        tips.push(message!("a similar argument exists: '{name}'", name));
    }
    if let Some(value) = text(error, ContextKind::SuggestedValue) {
        tips.push(message!("a similar value exists: '{value}'", value));
    }
    if let Some(ContextValue::StyledStrs(suggestions)) = error.get(ContextKind::Suggested) {
        tips.extend(suggestions.iter().map(|text| recognize(&SUGGESTIONS, &escape_control_chars(&text.to_string()))));
    }
    tips
}

/// Returns why a value is invalid.
fn reason(error: &(dyn Error + 'static)) -> Message {
    match error.downcast_ref() {
        Some(ValueError(message)) => message.clone(),
        None => recognize(&NUMBER_REASONS, &error.to_string()),
    }
}

/// Converts a text of a library to a message, if it is one of these.
fn recognize(known: &[&'static str], text: &str) -> Message {
    known.iter().find_map(|known| parse_as(known, text)).unwrap_or_else(|| Message::verbatim(text.to_owned()))
}

/// Finds the arguments of a message in its English text.
fn parse_as(message: &'static str, text: &str) -> Option<Message> {
    let mut parts = message.split('{');
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut arguments = Vec::new();
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let (name, after) = part.split_once('}')?;
        let value;
        (value, rest) = match parts.peek() {
            Some(_) => rest.split_once(after)?,
            None => (rest.strip_suffix(after)?, ""),
        };
        arguments.push((name, Message::verbatim(value.to_owned())));
    }
    rest.is_empty().then(|| Message::new(message, arguments))
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(escape_control_chars(text)),
        _ => None,
    }
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.iter().map(|text| escape_control_chars(text)).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;
    use crate::args::parse;

    fn error(words: &[&str]) -> clap::Error {
        let words: Vec<OsString> = ["toolcell"].iter().chain(words).map(OsString::from).collect();
        parse(&words).unwrap_err()
    }

    const WRONG: &[&[&str]] = &[
        &["--nonsense"],
        &["--jso", "list"],
        &["list", "--al"],
        &["exec", "--limits"],
        &["run", "average", "--quiet"],
        &["list", "--write"],
        &["rnu"],
        &["nonsense"],
        &["confi"],
        &["--json"],
        &["config", "--json"],
        &["list", "--all=yes"],
        &["list", "--json", "--json"],
        &["list", "--sort"],
        &["list", "--sort", "size"],
        &["list", "--sort", "nam"],
        &["list", "--lang", "fr"],
        &["list", "--min-safety", "much"],
        &["list", "--limit", "-1"],
        &["list", "--limit", "99999999999999999999"],
        &["list", "--limit", ""],
        &["list", "--unused", "long"],
        &["list", "--unused=-3d"],
        &["list", "--approval", "sometimes"],
        &["list", "--all", "--limit", "3"],
        &["list", "extra"],
        &["check"],
        &["exec"],
        &["rollback", "average"],
        &["fsck", "--adopt", "x"],
        &["verify"],
        &["verify", "average", "--all"],
        &["verify", "average", "--cases", "0"],
        &["run", "average", "--approve", "all"],
        &["run", "average", "--approve", "0a"],
        &["run", "average", "--text", "--explain", "--json"],
        &["retire", "--dry-run", "--confirm"],
        &["mcp", "--publish", "3", "config", "--client", "codex"],
        &["mcp", "--http", "8080", "--rate", "0"],
        &["mcp", "config", "--client", "emacs"],
        &["audit", "--since", "today"],
        &["audit", "--action", "dance"],
        &["audit", "--limit", "3", "verify"],
        &["audit", "verify", "--head", "x"],
        &["test", "tools", "--max-regression", "much"],
        &["test", "tools", "--max-regression", "5%", "--no-budgets"],
        &["completions", "csh"],
    ];

    #[test]
    fn the_english_text_is_that_of_clap() {
        for words in WRONG {
            let error = error(words);
            assert_eq!(render(&error, Lang::En, 100), error.render().to_string(), "{words:?}");
        }
    }

    #[test]
    fn the_arguments_of_a_message_are_found_in_its_text() {
        let ja = |text| recognize(&SUGGESTIONS, text).to_text(Lang::Ja);
        assert_eq!(ja("to pass '--x' as a value, use '-- --x'"), "`--x` を値として渡すには `-- --x` を使います");
        assert_eq!(ja("'mcp config --write' exists"), "`mcp config --write` があります");
        assert_eq!(ja("use 'x' instead"), "use 'x' instead");
        let zh = |text| recognize(&NUMBER_REASONS, text).to_text(Lang::Zh);
        assert_eq!(zh("0 is not in 1..=9"), "0 不在范围 1..=9 内");
        assert_eq!(zh("invalid digit found in string"), "包含非数字字符");
        assert_eq!(zh("invalid digit found in string, too"), "invalid digit found in string, too");
    }

    #[test]
    fn no_sentence_stays_english() {
        let english = ["error", "unexpected", "invalid", "expected", "Usage", "tip", " not ", "For more", "values: "];
        for words in WRONG {
            for lang in [Lang::Ja, Lang::Zh] {
                let text = render(&error(words), lang, 100);
                assert!(english.iter().all(|word| !text.contains(word)), "{words:?}: {text}");
            }
        }
    }

    #[test]
    fn a_word_that_is_not_utf_8_is_an_error() {
        let words = [OsString::from("toolcell"), "exec".into(), OsStr::from_bytes(b"\xff").to_owned()];
        let error = parse(&words).unwrap_err();
        assert_eq!(render(&error, Lang::En, 100), error.render().to_string());
    }

    #[test]
    fn a_value_is_shown_without_control_characters() {
        let text = render(&error(&["list", "--sort", "\u{1b}[2J"]), Lang::Ja, 100);
        assert!(text.contains("`\\u{1b}[2J`"), "{text}");
    }
}
