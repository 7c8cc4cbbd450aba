//! The prompt that explains to a model when and how to make a tool. It costs no context until it is
//! requested.

use rmcp::model::{ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

const NAME: &str = "make-a-tool";
const TASK: &str = "task";

const TEXT: &str = "\
Create a tool when you repeat an operation, or when a task is a conversion, a validation or an aggregation that code \
does better than you do. Otherwise do the task directly.

1. `tool_reflection` with the task and the last result: it names an existing tool or proposes a new one.
2. `create_tool`: write a TypeScript function `execute(params)`, declare every parameter (type, description), give one \
or two `examples` with the expected result, and throw errors with a message that says what to do. Make each value that \
varies a parameter, and return plain JSON. The sandbox has no network, files, timers or imports; request what \
you need with `capabilities`.
3. `run_dynamic_tool` by name. An error says whether the parameters or the code are at fault; fix the code with \
`create_tool` and `replace: true`.
4. `list_dynamic_tools` before you create another tool, `delete_dynamic_tool` to remove a mistake.
";

/// The list of prompts.
pub(crate) fn list() -> Vec<Prompt> {
    let task = PromptArgument::new(TASK).with_description("the task to do").with_required(false);
    let prompt = Prompt::new(NAME, Some("When and how to create a tool"), Some(vec![task]));
    vec![prompt.with_title("Create a tool")]
}

/// Renders a prompt.
pub(crate) fn get(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    if name != NAME {
        let name: String = name.chars().take(64).flat_map(char::escape_debug).collect();
        return Err(ErrorData::invalid_params(
            format!("there is no prompt `{name}`; the only prompt is `{NAME}`"),
            None,
        ));
    }
    let task = match arguments.and_then(|arguments| arguments.get(TASK)) {
        None => None,
        Some(task) => match task.as_str() {
            Some(task) => Some(task),
            None => return Err(ErrorData::invalid_params(format!("`{TASK}` is not a string"), None)),
        },
    };
    let text = match task.filter(|task| !task.trim().is_empty()) {
        Some(task) => format!("{TEXT}\nThe task:\n{task}\n"),
        None => TEXT.to_owned(),
    };
    let messages = vec![PromptMessage::new_text(Role::User, text)];
    Ok(GetPromptResult::new(messages).with_description("When and how to create a tool"))
}
