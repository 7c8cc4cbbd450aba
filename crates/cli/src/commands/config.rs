//! `config`: shows the effective policy, validates policy files, and manages the trust in their
//! hooks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolcell::hook::ProgramFiles;
use toolcell::policy::{HookAction, HookCommand, Layer, Origin, PolicyError, Setting};
use toolcell::{Policy, PolicyFile, escape_control_chars, escape_for_display};
use toolcell_error::ErrorCode;
use toolcell_i18n::{Lang, Localize as _, Message, message, tr};

use crate::args::{ConfigArgs, ConfigCommand};
use crate::context::Context;
use crate::error::CliError;
use crate::exit::Exit;
use crate::policy_files::{self, PolicyFiles};
use crate::streams::Streams;
use crate::trust_list::{TrustList, TrustedFile, TrustedProgram, stable_path};

pub(crate) fn run(args: &ConfigArgs, context: &mut Context<'_>) -> Result<Exit, CliError> {
    match &args.command {
        ConfigCommand::Show { origin } => {
            let rules = PolicyFiles::find(&context.policy_args)?;
            let Context { ref mut streams, format, lang, .. } = *context;
            if format.is_json() { show_json(&rules, streams) } else { show(&rules, *origin, lang, streams) }
        }
        ConfigCommand::Check { file } => check(file.as_deref(), context),
        ConfigCommand::Schema => {
            writeln!(context.streams.output, "{:#}", Policy::json_schema())?;
            Ok(Exit::Done)
        }
        ConfigCommand::Trust { file } => trust(file.as_deref(), context),
        ConfigCommand::Untrust { file } => untrust(file, context),
    }
}

/// Prints the effective values in the syntax of a policy file.
fn show(rules: &PolicyFiles, with_origin: bool, lang: Lang, streams: &mut Streams<'_>) -> Result<Exit, CliError> {
    let settings = rules.policy().settings();
    if with_origin {
        for file in [&rules.user, &rules.project].into_iter().flatten() {
            let layer = file.layer().localize().to_text(lang);
            writeln!(streams.output, "# {layer} {}", escape_control_chars(&file.path().display().to_string()))?;
        }
    }
    let assignment = |setting: &Setting| format!("{} = {}", setting.key, setting.value);
    let width = settings.iter().map(|setting| assignment(setting).chars().count()).max().unwrap_or_default().min(60);
    for setting in &settings {
        let line = escape_control_chars(&assignment(setting));
        if with_origin {
            writeln!(
                streams.output,
                "{line:width$}  # {}",
                escape_control_chars(&describe_origins(setting).to_text(lang))
            )?;
        } else {
            writeln!(streams.output, "{line}")?;
        }
    }
    if let (Some(file), Some(false)) = (&rules.project, rules.is_project_trusted()?) {
        let path = file.path().display();
        let text = message!("the hooks of {path} deny every call, because the file is not trusted", path);
        streams.print_warning(&text, lang)?;
        streams.print_hint(&message!("review it, then run: toolcell config trust {path}", path), lang)?;
    }
    if let Some(reason) = rules.trust_problem()? {
        streams.print_warning(&message!("no tool runs in this folder: {reason}", reason), lang)?;
    }
    Ok(Exit::Done)
}

/// Describes where a value comes from, and which values of the project were rejected.
fn describe_origins(setting: &Setting) -> Message {
    let in_effect = setting.origin.localize();
    setting
        .ignored
        .iter()
        .fold(in_effect, |text, (value, origin)| message!("{text}; {value} is ignored ({origin})", text, value, origin))
}

fn show_json(rules: &PolicyFiles, streams: &mut Streams<'_>) -> Result<Exit, CliError> {
    let trusted = rules.is_project_trusted()?;
    let file = |file: &PolicyFile| {
        let mut fields = file_to_json(file);
        fields["trusted"] = json!(if file.layer() == Layer::User { Some(true) } else { trusted });
        fields
    };
    let setting = |setting: &Setting| {
        let beyond = setting
            .ignored
            .iter()
            .map(|(asked, of)| json!({"value": value_to_json(asked), "origin": origin_to_json(of)}));
        json!({
            "key": setting.key,
            "value": value_to_json(&setting.value),
            "origin": origin_to_json(&setting.origin),
            "beyond": beyond.collect::<Vec<_>>(),
        })
    };
    let files: Vec<Value> = rules.user.iter().chain(&rules.project).map(file).collect();
    let settings: Vec<Value> = rules.policy().settings().iter().map(setting).collect();
    writeln!(streams.output, "{}", json!({ "files": files, "settings": settings }))?;
    Ok(Exit::Done)
}

fn file_to_json(file: &PolicyFile) -> Value {
    let hooks = file.hooks().iter().map(|hook| match &hook.action {
        HookAction::Command(command) => {
            json!({ "name": hook.name, "command": command.command, "protocol": command.protocol.name() })
        }
        HookAction::Tool(tool) => json!({ "name": hook.name, "tool": tool }),
    });
    let hooks: Vec<Value> = hooks.collect();
    json!({
        "layer": file.layer().to_string(),
        "path": file.path().display().to_string(),
        "hash": file.hash().to_string(),
        "hooks": hooks,
    })
}

/// Converts a TOML value to JSON. Numbers, strings and arrays of them have the same syntax in both.
fn value_to_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

fn origin_to_json(origin: &Origin) -> Value {
    match origin {
        Origin::File { layer, path, line } => {
            json!({ "from": layer.to_string(), "path": path.display().to_string(), "line": line })
        }
        other => json!({ "from": other.to_string() }),
    }
}

fn check(file: Option<&str>, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let files = read_files(file, context);
    let Context { ref mut streams, format, lang, .. } = *context;
    match files {
        Ok(files) if format.is_json() => {
            let files: Vec<Value> = files.iter().map(file_to_json).collect();
            writeln!(streams.output, "{}", json!({ "good": true, "files": files, "problems": [] }))?;
            Ok(Exit::Done)
        }
        Ok(files) => {
            for file in &files {
                let text = tr!(lang, "{path}: valid", path = file.path().display());
                writeln!(streams.output, "{}", escape_control_chars(&text))?;
            }
            if files.is_empty() {
                writeln!(streams.output, "{}", tr!(lang, "no policy file in effect; `toolcell init` creates one"))?;
            }
            Ok(Exit::Done)
        }
        Err(CliError::Policy(error)) if format.is_json() => {
            let problems: Vec<Value> = problems_to_json(&error).collect();
            writeln!(streams.output, "{}", json!({ "good": false, "files": [], "problems": problems }))?;
            Ok(CliError::Policy(error).exit())
        }
        Err(failure) => Err(failure),
    }
}

/// Reads the given file, or those in effect. Fails if one of them is invalid, alone or combined
/// with the other.
fn read_files(file: Option<&str>, context: &mut Context<'_>) -> Result<Vec<PolicyFile>, CliError> {
    match file {
        Some("-") => {
            Ok(vec![policy_files::read_from(Layer::Project, &mut *context.streams.input, Path::new("stdin"))?])
        }
        Some(path) => {
            let path = Path::new(path);
            let of_user = policy_files::user_path(&context.policy_args);
            let of_user = of_user.is_some_and(|user| policy_files::is_same_file(&user, path));
            Ok(vec![policy_files::read(if of_user { Layer::User } else { Layer::Project }, path)?])
        }
        None => {
            let rules = PolicyFiles::find(&context.policy_args)?;
            Ok(rules.user.into_iter().chain(rules.project).collect())
        }
    }
}

fn problems_to_json(error: &PolicyError) -> impl Iterator<Item = Value> {
    error.problems().iter().map(|problem| {
        json!({
            "path": problem.path.display().to_string(),
            "line": problem.line,
            "column": problem.column,
            "message": problem.message,
        })
    })
}

fn trust(file: Option<&Path>, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, ref policy_args, .. } = *context;
    let path: PathBuf = match file {
        Some(path) => stable_path(path)?,
        None => policy_files::project_path(policy_args)?.ok_or_else(|| {
            CliError::coded(
                ErrorCode::FileNotFound,
                message!("no project policy file found from this folder upwards"),
                message!("pass the file: toolcell config trust FILE"),
            )
        })?,
    };
    let file = policy_files::read(Layer::Project, &path)?;
    let mut programs: Vec<TrustedProgram> = Vec::new();
    for path in file.hooks().iter().filter_map(|hook| hook.command()).flat_map(|command| program_files(command).files) {
        // A missing program is not trusted: the hook denies until the file is trusted again.
        let now = TrustedProgram::from_file(&path).ok();
        programs.extend(now.filter(|now| !programs.contains(now)));
    }
    let (hash, listed) = (file.hash().to_string(), file.path().to_owned());
    TrustList::locate(policy_args).add(TrustedFile { hash, path: listed, programs: programs.clone() })?;
    if format.is_json() {
        let mut fields = file_to_json(&file);
        let covered = programs.iter().map(|one| json!({ "path": one.path.display().to_string(), "hash": one.hash }));
        fields["covers"] = covered.collect();
        writeln!(streams.output, "{fields}")?;
        return Ok(Exit::Done);
    }
    for line in trusted_lines(&path, &file, &programs, lang) {
        let rows = streams.wrap_for_output(&line);
        writeln!(streams.output, "{rows}")?;
    }
    Ok(Exit::Done)
}

fn program_files(command: &HookCommand) -> ProgramFiles {
    ProgramFiles::for_command(&command.command, &command.folder)
}

/// Describes the trust in a file: its hooks, and which of their files are covered.
fn trusted_lines(path: &Path, file: &PolicyFile, programs: &[TrustedProgram], lang: Lang) -> Vec<String> {
    let mut lines =
        vec![tr!(lang, "trusted {path} ({hash})", path = display_path(path), hash = short_hash(&file.hash().to_hex()))];
    for hook in file.hooks() {
        let name = quote_if_multiline(&hook.name);
        let command = match &hook.action {
            HookAction::Command(command) => command,
            HookAction::Tool(tool) => {
                lines.push(tr!(lang, "hook `{name}` runs the stored tool `{tool}`, if it is approved", name, tool));
                continue;
            }
        };
        let words: Vec<String> = command.command.iter().map(|word| quote_if_multiline(word)).collect();
        lines.push(tr!(lang, "hook `{name}` runs {command}", name, command = words.join(" ")));
        if !command.env.is_empty() {
            let names = quote_if_multiline(&command.env.join(", "));
            lines.push(indent(&tr!(lang, "environment variables passed to it: {names}", names)));
        }
        let ProgramFiles { files, folders } = program_files(command);
        for path in files {
            let shown = display_path(&path);
            let text = match programs.iter().find(|program| program.path == path) {
                Some(program) => tr!(lang, "covered: {path} ({hash})", path = shown, hash = short_hash(&program.hash)),
                None => tr!(lang, "not covered, it cannot be read: {path}", path = shown),
            };
            lines.push(indent(&text));
        }
        for path in &folders {
            lines.push(indent(&tr!(lang, "not covered, it is a folder: {path}", path = display_path(path))));
        }
    }
    lines.push(
        if file.hooks().is_empty() {
            tr!(lang, "no hooks; until `toolcell config untrust`, no tool runs if the file is changed or removed")
        } else {
            tr!(
                lang,
                "files that these files load are not covered; until `toolcell config untrust`, no tool runs if the \
                 file is changed or removed"
            )
        }
        .to_owned(),
    );
    lines
}

fn indent(line: &str) -> String {
    format!("  {line}")
}

fn display_path(path: &Path) -> String {
    quote_if_multiline(&path.display().to_string())
}

/// Returns the text for display: escaped, and quoted if it contains control characters.
fn quote_if_multiline(text: &str) -> String {
    if text.chars().any(char::is_control) {
        escape_for_display(&Value::from(text).to_string())
    } else {
        escape_for_display(text)
    }
}

/// Returns the first 16 hexadecimal digits of a hash.
fn short_hash(hash: &str) -> &str {
    hash.get(..16).unwrap_or(hash)
}

fn untrust(file: &Path, context: &mut Context<'_>) -> Result<Exit, CliError> {
    let Context { ref mut streams, format, lang, ref policy_args, .. } = *context;
    let path = stable_path(file)?;
    let shown = path.display().to_string();
    if !TrustList::locate(policy_args).remove(&path)? {
        return Err(CliError::coded(
            ErrorCode::NotTrusted,
            message!("{path} is not trusted", path = shown),
            message!("list the files in effect with `toolcell config show --origin`"),
        ));
    }
    if format.is_json() {
        writeln!(streams.output, "{}", json!({ "path": shown, "trusted": false }))?;
    } else {
        let text = tr!(lang, "{path} is no longer trusted", path = shown);
        writeln!(streams.output, "{}", escape_control_chars(&text))?;
    }
    Ok(Exit::Done)
}
