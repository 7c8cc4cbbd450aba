//! Asks what an MCP server wants to know from the user, on the terminal.
//!
//! Invariant: nothing goes to the server that the user did not see before it is sent, and it is not sent without a yes.

use inquire::InquireError;
use serde_json::{Map, Value};
use toolcell::{FieldKind, FormField, FormOption, Lang, QuestionAnswer, ServerQuestion, single_line_for_display};
use toolcell_i18n::{message, tr};

use crate::screen::{self, PromptText};

/// Shows a question, and asks for the value of each field.
pub(crate) fn ask(question: &ServerQuestion, lang: Lang) -> Result<QuestionAnswer, InquireError> {
    let (lines, summary) = (question.lines(lang), vec![question.headline(lang)]);
    let options = [
        tr!(lang, "Decline").to_owned(),
        tr!(lang, "Answer").to_owned(),
        tr!(lang, "Dismiss without an answer").to_owned(),
    ];
    let text = PromptText { lines: &lines, summary: &summary };
    match screen::choose(text, tr!(lang, "What do you tell the server?"), &options, lang)? {
        1 => {}
        2 => return Ok(QuestionAnswer::Cancel),
        _ => return Ok(QuestionAnswer::Decline),
    }
    let mut content = Map::new();
    for field in question.form.fields() {
        if let Some(value) = ask_field(field, lang)? {
            content.insert(field.name.clone(), value);
        }
    }
    let mut lines = vec![tr!(lang, "This goes to the server `{server}`:", server = question.server)];
    lines.extend(content.iter().map(|(name, value)| format!("  | {name}{}{}", lang.colon(), shown(value))));
    let send = tr!(lang, "Send it?");
    if !screen::confirm(PromptText { lines: &lines, summary: &[] }, send, lang)? {
        return Ok(QuestionAnswer::Decline);
    }
    Ok(match question.form.check(Value::Object(content)) {
        Ok(content) => QuestionAnswer::Accept(content),
        // What does not match is not repeated: it is not for the server or the code.
        Err(_) => QuestionAnswer::Unanswered { reason: message!("the answer does not match the form") },
    })
}

/// Asks for the value of a field; `None` if it is left out.
fn ask_field(field: &FormField, lang: Lang) -> Result<Option<Value>, InquireError> {
    match &field.kind {
        FieldKind::Text => ask_text(field, lang, |text| Some(text.into())),
        FieldKind::Number => ask_text(field, lang, |text| text.parse::<f64>().ok().map(Value::from)),
        FieldKind::Integer => ask_text(field, lang, |text| text.parse::<i64>().ok().map(Value::from)),
        FieldKind::Boolean => {
            let options = [(false, tr!(lang, "No")), (true, tr!(lang, "Yes"))];
            let texts = options.map(|(_, text)| text.to_owned());
            let chosen = choose(field, &texts, lang)?;
            Ok(chosen.and_then(|at| options.get(at)).map(|(value, _)| (*value).into()))
        }
        FieldKind::Choice(options) => {
            let chosen = choose(field, &titles(options), lang)?;
            Ok(chosen.and_then(|at| options.get(at)).map(|option| option.value.as_str().into()))
        }
        FieldKind::Choices(options) => ask_choices(field, options, lang),
    }
}

/// Asks for a line, which has to be a value of the field. An empty line stands for the default, or leaves the field out.
fn ask_text(
    field: &FormField,
    lang: Lang,
    parse: impl Fn(&str) -> Option<Value> + Clone + 'static,
) -> Result<Option<Value>, InquireError> {
    let default = field.default.as_ref().filter(|value| shown(value) == plain(value)).cloned();
    let mut lines = field_lines(field, lang);
    match &default {
        Some(value) => lines.push(format!("  {}", tr!(lang, "Enter alone stands for {value}", value = shown(value)))),
        None if !field.is_required => lines.push(format!("  {}", tr!(lang, "Enter alone leaves it out"))),
        None => {}
    }
    let is_optional = default.is_some() || !field.is_required;
    let text = ask_line(field, &lines, is_optional, tr!(lang, "That is not a number"), parse.clone(), lang)?;
    Ok(if text.is_empty() && is_optional { default } else { parse(&text) })
}

/// Asks for a line until `parse` gives a value of the field, or it is empty and that is allowed. `wrong` is shown if `parse` gives
/// none.
fn ask_line(
    field: &FormField,
    lines: &[String],
    is_optional: bool,
    wrong: &'static str,
    parse: impl Fn(&str) -> Option<Value> + Clone + 'static,
    lang: Lang,
) -> Result<String, InquireError> {
    let checked = field.clone();
    let check = move |text: &str| {
        if text.is_empty() && is_optional {
            return Ok(());
        }
        let value = parse(text).ok_or_else(|| wrong.to_owned())?;
        checked.check(&value).map_err(|error| error.detail().to_text(lang))
    };
    // The name of a field is the server's, and could be a question of our own.
    let prompt = format!("{}{}", tr!(lang, "Value"), lang.colon().trim_end());
    screen::ask_after_pages(PromptText { lines, summary: &[] }, screen::CONFIRM_ROWS, lang, || {
        screen::ask_line(&prompt, check)
    })
}

/// Asks to choose one of several options, or none for a field that may be left out.
fn choose(field: &FormField, options: &[String], lang: Lang) -> Result<Option<usize>, InquireError> {
    let mut all = options.to_vec();
    if !field.is_required {
        all.push(tr!(lang, "(leave it out)").to_owned());
    }
    let mut lines = field_lines(field, lang);
    if let Some(value) = &field.default {
        lines.push(format!("  {}", tr!(lang, "The server proposes {value}", value = shown(value))));
    }
    let chosen = screen::choose(PromptText { lines: &lines, summary: &[] }, tr!(lang, "Which value?"), &all, lang)?;
    Ok((chosen < options.len()).then_some(chosen))
}

/// Asks for the numbers of some options.
fn ask_choices(field: &FormField, options: &[FormOption], lang: Lang) -> Result<Option<Value>, InquireError> {
    let mut lines = field_lines(field, lang);
    lines.extend(titles(options).iter().enumerate().map(|(at, title)| format!("  {}. {title}", at + 1)));
    lines.push(format!("  {}", tr!(lang, "Numbers separated by blanks; Enter alone for none")));
    let values: Vec<String> = options.iter().map(|option| option.value.clone()).collect();
    let parse = move |text: &str| -> Option<Value> {
        let numbers = text.split_whitespace().map(|word| word.parse::<usize>().ok()?.checked_sub(1));
        numbers.map(|at| values.get(at?).cloned().map(Value::from)).collect()
    };
    let is_optional = !field.is_required;
    let text =
        ask_line(field, &lines, is_optional, tr!(lang, "Those are not numbers of options"), parse.clone(), lang)?;
    Ok(if text.is_empty() && is_optional { None } else { parse(&text) })
}

/// Returns what the server says about a field: its name, title and description.
fn field_lines(field: &FormField, lang: Lang) -> Vec<String> {
    let label = if field.is_required { tr!(lang, "A required field:") } else { tr!(lang, "An optional field:") };
    let mut lines = vec![label.to_owned(), format!("  | {}", single_line_for_display(&field.name))];
    let texts = [&field.title, &field.description].into_iter().flatten();
    lines.extend(texts.map(|text| format!("  | {}", single_line_for_display(text))));
    lines
}

fn titles(options: &[FormOption]) -> Vec<String> {
    options.iter().map(|option| single_line_for_display(&option.title)).collect()
}

/// Returns a value on one line, as it may be shown.
fn shown(value: &Value) -> String {
    single_line_for_display(&plain(value))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
